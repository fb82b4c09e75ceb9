"""The engines of Plackett–Luce regression: draws, the maximum of the posterior, the variational
posterior."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.rows import TrainingData
from thali._described import Facts
from thali._model.base import Job
from thali._model.engine import ChainEngine, Engine
from thali._model.run_budget import limit_run
from thali._model.sampling import Sampling
from thali._posterior.convergence import Advice
from thali._posterior.interval import interval_columns, tails_of
from thali._posterior.view import PosteriorTree, flat
from thali.errors import Argument, ArgumentError, ConvergenceWarning, Setting, ThaliWarning

from ..weights import refuse_fractions

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._inference.chains import Run

    from .model import PlackettLuceRegression

_STUCK = (
    "the chains stay in different sets of non-zero weights, so more draws will rarely help; use"
    " more chains, or ",
    "fix ",
    Argument("a"),
    " at a larger value",
)
ADVICE = Advice(stuck=_STUCK)
_STEP = 4096  # rows predicted at a time


class Gibbs(ChainEngine):
    """Draws: `posterior_`, and their means as `weights_`, `a_` and `log_likelihood_`."""

    def check(self, model: "PlackettLuceRegression") -> None:
        """Refuse arguments that this method cannot take."""

    def rows(self, data: TrainingData, classes: int, run: "Run") -> Any:
        """The rows in the form that the fit reads."""
        return data

    def job(self, model: "PlackettLuceRegression", data: Any, run: "Run") -> Job:
        """The fit."""
        if not isinstance(data, TrainingData):
            raise ArgumentError(
                Setting("method", "gibbs"),
                " requires all rows in memory; pass arrays, or choose ",
                Setting("method", "variational"),
                " or ",
                Setting("method", "map"),
                " for a Dask array.",
            )
        refuse_fractions(data.counts, ("map", "variational"))
        return model._build_job(model._build_sampling(data, run), "")

    def probabilities(self, model: "PlackettLuceRegression", matrix: np.ndarray) -> np.ndarray:
        """Averaged over the draws."""
        from .draws import mean_probabilities

        return mean_probabilities(*_of_draws(model, matrix))


class AscentEngine(Engine):
    """A method that climbs, and leaves `weights_` without draws."""

    has_prior = True

    def check(self, model: "PlackettLuceRegression") -> None:
        """Refuse arguments that this method cannot take."""

    def rows(self, data: TrainingData, classes: int, run: "Run") -> Any:
        """The rows in the form that the fit reads: equal ones are one."""
        from .row_sums import CovariateRows, distinct_rows

        distinct, codes, counts = distinct_rows(data.matrix, data.codes, data.counts)
        return CovariateRows(distinct, codes, classes, counts, run.cores)

    def facts(self, model: "PlackettLuceRegression") -> Facts:
        return ("a", f"{model.a_:.4g}"), (
            "log-likelihood",
            f"{model.log_likelihood_:,.2f} (full data)",
        )

    def summary(self, model: "PlackettLuceRegression", ci: float) -> "pandas.DataFrame":
        """A row for each weight that is not zero, the largest first."""
        from thali._tables import Table

        weights = np.asarray(model.weights_)
        order = np.argsort(-weights, axis=None, kind="stable")
        kept = [
            divmod(int(place), weights.shape[1]) for place in order if weights.flat[place] > 0.0
        ]
        names = [f"weight[{model.classes_[k]}, {model._columns_[j]}]" for k, j in kept]
        mean = np.array([weights[place] for place in kept])
        return Table({"mean": mean} | self.spreads(model, kept, ci), index=names)

    def spreads(
        self, model: "PlackettLuceRegression", kept: list[tuple[int, int]], ci: float
    ) -> dict[str, np.ndarray]:
        """Columns of the summary of how sure these weights are."""
        return {}

    def random_weights(self, model: "PlackettLuceRegression", draws: int) -> np.ndarray:
        """Relative weights (draw, weight) of the law that the fit found; none of a maximum."""
        return np.empty((0, model.weights_.size))


class MaximumEngine(AscentEngine):
    """The maximum of the posterior for a fixed a."""

    def check(self, model: "PlackettLuceRegression") -> None:
        if model.a is None:
            raise ArgumentError(
                Setting("method", "map"),
                " requires a number for ",
                Argument("a"),
                "; choose ",
                Setting("a", 1.1),
                " to keep all weights positive, or ",
                Setting("a", 1.0),
                " for the maximum of the likelihood, where most weights are exactly zero.",
            )

    def job(self, model: "PlackettLuceRegression", data: Any, run: "Run") -> Job:
        """The fit."""
        from .map_estimate import maximise

        def work() -> dict[str, Any]:
            import pandas

            fit = maximise(data, float(model.a), float(model.b))
            of_class, column = np.nonzero(fit.support)
            table = {
                "class": model.classes_[of_class],
                "column": [model._columns_[j] for j in column],
                "weight": fit.weights[fit.support],
            }
            support = pandas.DataFrame(table).sort_values(
                "weight", ascending=False, kind="stable", ignore_index=True
            )
            return {
                "weights_": model._labelled(fit.weights, model._columns_),
                "a_": fit.a,
                "objective_": fit.objective,
                "log_likelihood_": fit.log_likelihood,
                "_n_passes_": fit.n_passes,
                "n_iter_": fit.n_iter,
                "support_": support,
                "converged_": fit.converged,
                "slope_": fit.slope,
            }

        return Job(work)

    def list_warnings(self, model: "PlackettLuceRegression", job: Job) -> Iterator[ThaliWarning]:
        if not model.converged_:
            small = model.a_ < 1.0
            mend = (
                "choose a = 1, where a maximum exists"
                if small
                else "standardise the covariates or choose a larger a"
            )
            yield ConvergenceWarning(
                f"The weights have not converged after {model._n_passes_} sweeps over the data"
                f" (gradient {model.slope_:.1e} per row); {mend}."
            )

    def probabilities(self, model: "PlackettLuceRegression", matrix: np.ndarray) -> np.ndarray:
        """At the maximum."""
        from .draws import NOTHING, scores_from_logs

        weights = np.asarray(model.weights_)
        result = np.empty((len(matrix), len(model.classes_)))
        for start in range(0, len(matrix), _STEP):
            part = matrix[start : start + _STEP]
            scores = model._design_.apply(part) @ weights.T
            lost = scores.sum(axis=1) < NOTHING
            if lost.any():
                logs = model._design_.logs(part[lost])
                scores[lost] = scores_from_logs(logs, weights, model._class_count_)
            result[start : start + _STEP] = scores / scores.sum(axis=1, keepdims=True)
        return result


class Variational(AscentEngine):
    """The variational posterior: `shapes_`, `rates_`, its bound, and its means as `weights_`."""

    is_point = False

    def job(self, model: "PlackettLuceRegression", data: Any, run: "Run") -> Job:
        """The fit."""
        from .gibbs import prior_of
        from .variational import fit_variational

        prior_of(model.a, model.a_range, model.b)

        def work() -> dict[str, Any]:
            fit = fit_variational(data, a=model.a, a_range=model.a_range, b=float(model.b))
            means = fit.shapes / fit.rates
            return {
                "shapes_": model._labelled(fit.shapes, model._columns_),
                "rates_": fit.rates,
                "weights_": model._labelled(means / means.sum(), model._columns_),
                "a_": fit.a,
                "lower_bound_": fit.lower_bound,
                "log_likelihood_": fit.log_likelihood,
                "_n_passes_": fit.n_passes,
                "collapsed_": fit.collapsed,
                "converged_": fit.converged,
            }

        return Job(work)

    def list_warnings(self, model: "PlackettLuceRegression", job: Job) -> Iterator[ThaliWarning]:
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

    def spreads(
        self, model: "PlackettLuceRegression", kept: list[tuple[int, int]], ci: float
    ) -> dict[str, np.ndarray]:
        from scipy.stats import gamma

        shapes = np.asarray(model.shapes_, float)
        rates = np.broadcast_to(model.rates_, shapes.shape)
        total = (shapes / rates).sum()
        of = gamma(
            [shapes[place] for place in kept],
            scale=[1.0 / (rates[place] * total) for place in kept],
        )
        return {
            "sd": of.std(),
            **dict(zip(interval_columns(ci), map(of.ppf, tails_of(ci)), strict=True)),
        }

    def random_weights(self, model: "PlackettLuceRegression", draws: int) -> np.ndarray:
        gamma = np.random.default_rng(0).gamma(
            np.asarray(model.shapes_), size=(draws, *model.weights_.shape)
        )
        found = (gamma / np.asarray(model.rates_)).reshape(draws, -1)
        return found / found.sum(axis=1, keepdims=True)

    def probabilities(self, model: "PlackettLuceRegression", matrix: np.ndarray) -> np.ndarray:
        """Averaged over the variational posterior, by the exact integral."""
        from .variational import expected_from_logs

        shapes = np.asarray(model.shapes_, float)
        parts = (slice(start, start + _STEP) for start in range(0, len(matrix), _STEP))
        return np.concatenate(
            [
                expected_from_logs(model._design_.logs(matrix[part]), shapes, model.rates_)
                for part in parts
            ]
        )


# seconds of a sweep for each number of the design and class: `benchmarks/forecast.py`
A_CELL = 3e-9
ENGINES: dict[str, Gibbs | MaximumEngine | Variational] = {
    "gibbs": Gibbs(),
    "map": MaximumEngine(),
    "variational": Variational(),
}


def sampling_of(
    model: "PlackettLuceRegression", source: TrainingData, run: "Run", sweep: Any = None
) -> Sampling[Any]:
    """What a fit by draws runs; a kernel `sweep` replaces the sweeps that suit the prior."""
    from .draws import to_datatree
    from .gibbs import WeightChain, chains_of, settings_of
    from .state import copies_of

    m, n_classes = model, len(model.classes_)
    W, codes = copies_of(source)
    usual = settings_of(W.size, m.a, m.a_range, m.b, run.min_draws, run.tune, run.chains, run.thin)
    bound = limit_run(run, usual.thin, A_CELL * W.size * n_classes)
    run = bound.run._replace(thin=bound.thin)
    settings = replace(usual, draws=bound.first_draws, tune=run.tune, thin=bound.thin)
    if sweep is not None:
        settings = replace(settings, sweep=sweep)

    def chains(draws: int, seed: np.random.SeedSequence) -> list[WeightChain]:
        return chains_of(replace(settings, draws=draws), W, codes, n_classes, seed)

    def tree(chains: Sequence[WeightChain]) -> "xarray.DataTree":
        return to_datatree(chains, settings, source, m.classes_, m._columns_)

    def found(tree: "xarray.DataTree", chains: Sequence[WeightChain], seed: Any) -> dict[str, Any]:
        drawn = PosteriorTree(tree).draws
        return {
            "weights_": m._labelled(drawn["weights"].values.mean(axis=(0, 1)), m._columns_),
            "a_": float(np.exp(np.log(drawn["a"].values).mean())) if m.a is None else float(m.a),
            "log_likelihood_": float(drawn["log_likelihood"].values.mean()),
            "_n_passes_": sum(chain.sweeps for chain in chains),
        }

    return Sampling(
        source,
        run,
        chains,
        tree,
        found,
        settings=bound.settings | {"thin": usual.thin},
        first_draws=bound.first_draws,
        faster=Setting("method", "variational"),
        data_max_draws=bound.max_draws,
        forecast=bound.forecast,
    )


def blocks_of_draws(
    model: "PlackettLuceRegression", matrix: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and their class probabilities (rows, draws, K)."""
    from .draws import probability_blocks

    return probability_blocks(*_of_draws(model, matrix))


def _of_draws(model: "PlackettLuceRegression", matrix: np.ndarray) -> tuple[Any, ...]:
    """The draws and the rows in the form that predictions read."""
    weights, design = model._view.draws["weights"].values, model._design_
    return (
        flat(weights),
        len(matrix),
        lambda part: design.apply(matrix[part]),
        lambda part: design.logs(matrix[part]),
        model._class_count_,
    )
