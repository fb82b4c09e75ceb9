"""Methods that fit Plackett-Luce regression: Gibbs sampling, maximum, variational."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import TrainingData
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import compute_shares
from thali._model.base import Job
from thali._model.chain_runs import ChainFit
from thali._model.fitting_methods import ChainEngine, Engine
from thali._object_descriptions import Facts
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_interval import interval_tails
from thali._posterior.posterior_tree import PosteriorTree, flatten_chains
from thali.errors import Argument, ConvergenceWarning, Setting, ThaliWarning

from ..posterior_datasets import list_nonzero_cells
from ..row_weights import refuse_fractional_weights

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._inference.markov_chains import Run

    from .markov_chain import WeightChain
    from .model import PlackettLuceRegression
    from .posterior_draws import WeightPredictor

_STUCK = (
    "the chains stay in different sets of non-zero weights, so more draws will rarely help; use"
    " more chains, or ",
    "fix ",
    Argument("a"),
    " at a larger value",
)
ADVICE = Advice(stuck=_STUCK)
_BLOCK_ROWS = 4096  # rows predicted at a time


# CPU seconds of a sweep per entry of W and class, measured by `benchmarks/run_time_forecast.py`
CELL_SECONDS = 3e-9


def _label_weights(model: "PlackettLuceRegression", columns: list[str], weights: np.ndarray) -> Any:
    """Return weights labelled by class and column, if the data had names."""
    if "feature_names_in_" not in vars(model):
        return weights
    import pandas

    classes = pandas.Index(model.classes_, name="class")
    return pandas.DataFrame(weights, index=classes, columns=columns)


class WeightFit(ChainFit["WeightChain"]):
    """Fit by method "gibbs": Markov chains of the weights and the prior's shape a."""

    model: "PlackettLuceRegression"
    source: TrainingData
    faster = Setting("method", "variational")

    def prepare(self, run: "Run") -> None:
        """Repeat the rows by their weights; limit the lengths to what their number allows."""
        from .chain_state import repeat_rows
        from .markov_chain import build_gibbs_settings

        model = self.model
        self.columns: list[str] = self.inputs
        self.n_classes = len(model.classes_)
        self.W, self.class_codes = repeat_rows(self.source)
        default_settings = build_gibbs_settings(
            self.W.size,
            model.a,
            model.a_range,
            model.b,
            run.requested_or_first_draws,
            run.tune,
            run.chains,
            run.thin,
        )
        self.job_settings = run.lengths | {"thin": default_settings.thin}
        sweep_seconds = CELL_SECONDS * self.W.size * self.n_classes
        thin = self.set_lengths(run, default_settings.thin, sweep_seconds).thin
        self.run = self.run._replace(thin=thin)
        self.settings = replace(
            default_settings, draws=self.draws_at_first_check, tune=self.run.tune, thin=thin
        )

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> "list[WeightChain]":
        """Return new chains of this many draws."""
        from .markov_chain import build_weight_chains

        return build_weight_chains(
            replace(self.settings, draws=draws), self.W, self.class_codes, self.n_classes, seed
        )

    def build_tree(self, chains: "Sequence[WeightChain]") -> "xarray.DataTree":
        """Return the posterior tree of the chains."""
        from .posterior_draws import build_weight_tree

        return build_weight_tree(
            chains, self.settings, self.source, self.model.classes_, self.columns
        )

    def build_attributes(
        self, tree: "xarray.DataTree", chains: "Sequence[WeightChain]"
    ) -> dict[str, Any]:
        """Return the posterior means, and the number of sweeps."""
        draws = PosteriorTree(tree).draws
        a = self.model.a
        if a is None:
            a = np.exp(np.log(draws["a"].values).mean())
        mean_weights = draws["weights"].values.mean(axis=(0, 1))
        return {
            "weights_": _label_weights(self.model, self.columns, mean_weights),
            "a_": float(a),
            "log_likelihood_": float(draws["log_likelihood"].values.mean()),
            "_n_passes_": sum(chain.sweeps for chain in chains),
        }


class GibbsEngine(ChainEngine):
    """Method "gibbs": Markov chains; fitted attributes are posterior means."""

    takes_sparse = False
    requires_shape = False  # whether the argument a must be a number

    def prepare_rows(self, data: TrainingData, n_classes: int, run: "Run") -> Any:
        """Return the training rows unchanged; chains repeat them by weight."""
        return data

    def build_job(
        self, model: "PlackettLuceRegression", columns: list[str], data: Any, run: "Run"
    ) -> Job:
        """Return the job of a fit by Gibbs sampling."""
        refuse_fractional_weights(data.counts, ("map", "variational"))
        return model._build_fit(data, run).build_job("")

    def iterate_probabilities(
        self, model: "PlackettLuceRegression", predictor: "WeightPredictor", matrix: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and class probabilities (rows, draws, K)."""
        from .posterior_draws import iterate_weight_probabilities

        weights = flatten_chains(PosteriorTree(model.posterior_).draws["weights"].values)
        return iterate_weight_probabilities(weights, matrix, predictor)


class AscentEngine(Engine):
    """Base of methods that maximise an objective and leave no draws."""

    has_prior = True
    takes_sparse = False
    requires_shape = False

    def prepare_rows(self, data: TrainingData, n_classes: int, run: "Run") -> Any:
        """Return the training rows, whose sums are computed in threads."""
        from .row_sums import CovariateRows

        return CovariateRows(data.matrix, data.codes, n_classes, data.counts, run.cores)

    def list_facts(self, model: "PlackettLuceRegression") -> Facts:
        """Return (name, text) facts: prior shape a and log-likelihood."""
        return ("a", f"{model.a_:.4g}"), (
            "log-likelihood",
            f"{model.log_likelihood_:,.2f} (full data)",
        )

    def summary(self, model: "PlackettLuceRegression", ci: float) -> "pandas.DataFrame":
        """Return a table with one row per positive weight, largest first."""
        from thali._exportable_table import Table

        weights = np.asarray(model.weights_)
        positive_cells = list_nonzero_cells(weights)
        row_names = [
            f"weight[{model.classes_[k]}, {model._columns_[j]}]" for k, j in positive_cells
        ]
        mean_weights = np.array([weights[cell] for cell in positive_cells])
        return Table(
            {"mean": mean_weights} | self.build_spread_columns(model, positive_cells, ci),
            index=row_names,
        )

    def build_spread_columns(
        self, model: "PlackettLuceRegression", positive_cells: list[tuple[int, int]], ci: float
    ) -> dict[str, np.ndarray]:
        """Return columns of uncertainty for the weights table; {} by default."""
        return {}

    def sample_relative_weights(self, model: "PlackettLuceRegression", draws: int) -> np.ndarray:
        """Sample relative weights (draws, weights); 0 draws for a point estimate."""
        return np.empty((0, model.weights_.size))


class WeightMaximumEngine(AscentEngine):
    """Method "map": posterior mode of the weights for a fixed a."""

    requires_shape = True

    def build_job(
        self, model: "PlackettLuceRegression", columns: list[str], data: Any, run: "Run"
    ) -> Job:
        """Return the job of a fit of the posterior mode."""
        from .posterior_mode import maximise_class_weights

        def fit_attributes() -> dict[str, Any]:
            """Maximise the posterior; return the fitted attributes."""
            import pandas

            map_fit = maximise_class_weights(data, float(model.a))
            class_indices, column_indices = np.nonzero(map_fit.support)
            columns_by_name = {
                "class": model.classes_[class_indices],
                "column": [columns[j] for j in column_indices],
                "weight": map_fit.weights[map_fit.support],
            }
            support_table = pandas.DataFrame(columns_by_name).sort_values(
                "weight", ascending=False, kind="stable", ignore_index=True
            )
            return {
                "weights_": _label_weights(model, columns, map_fit.weights),
                "a_": float(model.a),
                "objective_": map_fit.objective,
                "log_likelihood_": map_fit.log_likelihood,
                "_n_passes_": map_fit.n_passes,
                "n_iter_": map_fit.n_iter,
                "support_": support_table,
                "converged_": map_fit.converged,
                "slope_": map_fit.slope,
            }

        return Job(fit_attributes)

    def list_warnings(self, model: "PlackettLuceRegression", job: Job) -> Iterator[ThaliWarning]:
        """Yield a warning if the weights have not converged."""
        if not model.converged_:
            advice = "standardise the covariates or choose a larger a"
            if model.a_ < 1.0:
                advice = "choose a = 1, where a maximum exists"
            yield ConvergenceWarning(
                f"The weights have not converged after {model._n_passes_} sweeps over the data"
                f" (gradient {model.slope_:.1e} per row); {advice}."
            )

    def compute_probabilities(
        self, model: "PlackettLuceRegression", predictor: "WeightPredictor", matrix: np.ndarray
    ) -> np.ndarray:
        """Return class probabilities at the posterior mode, (n, K)."""
        from .posterior_draws import MIN_SCORE, compute_scores_from_logs

        weights = np.asarray(model.weights_)
        probabilities = np.empty((len(matrix), len(model.classes_)))
        for block in iterate_slices(len(matrix), 1, _BLOCK_ROWS):
            block_rows = matrix[block]
            scores = predictor.design.apply(block_rows) @ weights.T
            has_underflow = scores.sum(axis=1) < MIN_SCORE
            if has_underflow.any():
                log_W = predictor.design.compute_logs(block_rows[has_underflow])
                scores[has_underflow] = compute_scores_from_logs(
                    log_W, weights, predictor.class_count
                )
            probabilities[block] = compute_shares(scores)
        return probabilities


class VariationalEngine(AscentEngine):
    """Method "variational": independent Gamma posteriors of the weights."""

    is_point = False

    def build_job(
        self, model: "PlackettLuceRegression", columns: list[str], data: Any, run: "Run"
    ) -> Job:
        """Return the job of a variational fit."""
        from .variational_inference import fit_variational

        def fit_attributes() -> dict[str, Any]:
            """Fit the variational posterior; return the fitted attributes."""
            variational_fit = fit_variational(
                data, a=model.a, a_range=model.a_range, b=float(model.b)
            )
            mean_weights = variational_fit.shapes / variational_fit.rates
            return {
                "shapes_": _label_weights(model, columns, variational_fit.shapes),
                "rates_": variational_fit.rates,
                "weights_": _label_weights(model, columns, mean_weights / mean_weights.sum()),
                "a_": variational_fit.a,
                "lower_bound_": variational_fit.lower_bound,
                "log_likelihood_": variational_fit.log_likelihood,
                "_n_passes_": variational_fit.n_passes,
                "collapsed_": variational_fit.collapsed,
                "converged_": variational_fit.converged,
            }

        return Job(fit_attributes)

    def list_warnings(self, model: "PlackettLuceRegression", job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings if the bound has not converged or classes are equal."""
        if not model.converged_:
            yield ConvergenceWarning(
                f"The lower bound is still increasing after {model._n_passes_} sweeps over the"
                " data; standardise the covariates or fix a at a larger value."
            )
        if model.collapsed_:
            yield ConvergenceWarning(
                f"The best fit, at a = {model.a_:.3g}, gives almost equal probabilities to all"
                " classes; ",
                "set ",
                Setting("a", 0.05),
                " or another small value, or choose ",
                Setting("method", "gibbs"),
                ".",
            )

    def build_spread_columns(
        self, model: "PlackettLuceRegression", positive_cells: list[tuple[int, int]], ci: float
    ) -> dict[str, np.ndarray]:
        """Return sd and interval columns of relative weights for the table."""
        from scipy.stats import gamma

        shapes = np.asarray(model.shapes_, float)
        rates = np.broadcast_to(model.rates_, shapes.shape)
        total_mean = (shapes / rates).sum()
        distribution = gamma(
            [shapes[cell] for cell in positive_cells],
            scale=[1.0 / (rates[cell] * total_mean) for cell in positive_cells],
        )
        return {
            "sd": distribution.std(),
            **dict(zip(("low", "high"), map(distribution.ppf, interval_tails(ci)), strict=True)),
        }

    def sample_relative_weights(self, model: "PlackettLuceRegression", draws: int) -> np.ndarray:
        """Sample relative weights (draw, weight) from the variational posterior."""
        gamma_draws = np.random.default_rng(0).gamma(
            np.asarray(model.shapes_), size=(draws, *model.weights_.shape)
        )
        weights = (gamma_draws / np.asarray(model.rates_)).reshape(draws, -1)
        return compute_shares(weights)

    def compute_probabilities(
        self, model: "PlackettLuceRegression", predictor: "WeightPredictor", matrix: np.ndarray
    ) -> np.ndarray:
        """Return expected class probabilities under the variational posterior, exact."""
        from .variational_inference import compute_expected_probabilities

        shapes = np.asarray(model.shapes_, float)
        return np.concatenate(
            [
                compute_expected_probabilities(
                    predictor.design.compute_logs(matrix[block]), shapes, model.rates_
                )
                for block in iterate_slices(len(matrix), 1, _BLOCK_ROWS)
            ]
        )


ENGINES: dict[str, GibbsEngine | WeightMaximumEngine | VariationalEngine] = {
    "gibbs": GibbsEngine(),
    "map": WeightMaximumEngine(),
    "variational": VariationalEngine(),
}
