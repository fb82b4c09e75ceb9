"""Methods that fit the sparse logit: Gibbs sampling, normal approximations and the mode."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import TrainingData
from thali._inference.markov_chains import Run
from thali._inference.progress_display import format_duration
from thali._inference.random_seeds import spawn_generators
from thali._inference.user_warnings import warn
from thali._model.base import Job
from thali._model.chain_runs import ChainFit
from thali._model.fitting_methods import ChainEngine, Engine, Forecast, refuse_chain_argument
from thali._object_descriptions import Facts
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import ConvergenceWarning, LongRunWarning, Setting, ThaliWarning

from ..covariates_and_labels import is_sparse
from .arguments import CoefficientPrior, LogitDesign, read_prior
from .covariate_columns import build_sparse_columns
from .gibbs_sweep import CoefficientProblem
from .markov_chain import CoefficientChain, build_coefficient_problem
from .normal_approximation import (
    NormalChain,
    NormalPosterior,
    check_approximation_size,
    fit_normal_approximation,
)
from .posterior_draws import build_posterior_tree, compute_posterior_means
from .time_forecast import (
    DRAW_SECONDS,
    MAX_SAMPLING_SECONDS,
    MIN_ROWS_PER_COEFFICIENT,
    choose_logit_thin,
    count_trajectories,
    estimate_approximation_seconds,
    estimate_logit_sweep_seconds,
)

if TYPE_CHECKING:
    import pandas
    import xarray

    from .model import SparseMultinomialLogit

_APPROXIMATE = (
    " Draws come from a normal approximation of the posterior, which is reliable with at least "
    f"{MIN_ROWS_PER_COEFFICIENT} rows per coefficient. To sample the posterior itself, set "
)


class CoefficientFit(ChainFit[Any]):
    """Base of the fits that draw coefficients: the posterior tree and its means."""

    model: "SparseMultinomialLogit"
    source: TrainingData

    def prepare(self, run: Run) -> None:
        """Read prior, classes and columns."""
        self.prior = read_prior(self.model)
        self.design: LogitDesign = self.inputs
        self.classes = self.design.classes
        self.columns = self.design.columns
        self.n_columns = len(self.columns) + self.prior.intercept

    def build_attributes(self, tree: "xarray.DataTree", chains: Sequence[Any]) -> dict[str, Any]:
        """Return the posterior means, in units of X."""
        return compute_posterior_means(PosteriorTree(tree), self.design.standardization)


class GibbsFit(CoefficientFit):
    """Fit by method "polya-gamma": Gibbs chains of standardised coefficients."""

    def prepare(self, run: Run) -> None:
        """Limit the lengths of the run to what the size of the data allows."""
        super().prepare(run)
        n_rows = len(self.source.codes)
        n_classes = len(self.classes)
        self.n_trajectories = count_trajectories(n_rows, self.n_columns, n_classes)
        thin = run.thin or choose_logit_thin(n_rows, self.n_columns, n_classes)
        self.job_settings = run.lengths | {"thin": thin}
        sweep_seconds = estimate_logit_sweep_seconds(n_rows, self.n_columns, n_classes)
        self.thin = self.set_lengths(run, thin, sweep_seconds).thin
        self.run = self.run._replace(thin=self.thin)
        self.faster = Setting("method", "variational")

    @cached_property
    def problem(self) -> CoefficientProblem:
        """Data and prior as the kernels read them."""
        return build_coefficient_problem(
            self.source.matrix,
            self.source.codes,
            len(self.classes),
            self.design.reference_index,
            self.prior,
            None,
            self.source.counts,
            self.n_trajectories,
        )

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[CoefficientChain]:
        """Return new Gibbs chains of this many draws."""
        return [
            CoefficientChain(self.problem, self.prior.eta, rng, draws, self.run.tune, self.thin)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def build_tree(self, chains: Sequence[CoefficientChain]) -> "xarray.DataTree":
        """Return the posterior tree of the chains."""
        attrs = {"method": self.model.method_, "thin": self.thin, "tuning_steps": self.run.tune}
        return build_posterior_tree(
            chains, self.source, self.classes, self.columns, self.prior.intercept, attrs
        )


class NormalApproximationFit(CoefficientFit):
    """Fit by method "laplace": draws from a normal approximation."""

    is_compiled = True
    has_bound = False  # whether the fit has `lower_bound_`

    def prepare(self, run: Run) -> None:
        """Check the size of the problem; forecast the run time, and warn if it is long."""
        super().prepare(run)
        if run.thin is not None and self.model.method != "auto":
            refuse_chain_argument(
                "thin",
                "polya-gamma",
                ", because draws from the chosen method are already independent",
            )
        n_coefficients = (len(self.classes) - 1) * self.n_columns
        check_approximation_size(n_coefficients, float(self.source.counts.sum()))
        self.forecast = self._forecast_approximation(run)

    def _forecast_approximation(self, run: Run) -> Forecast:
        """Return a forecast of the approximation's CPU time; warn if it is long."""
        n_classes = len(self.classes)
        seconds = estimate_approximation_seconds(len(self.source.codes), self.n_columns, n_classes)
        if run.progressbar and seconds > MAX_SAMPLING_SECONDS:
            warn(
                LongRunWarning(
                    f"This fit takes about {format_duration(seconds)}. ",
                    Setting("method", "map"),
                    " is faster, but gives no intervals.",
                )
            )
        n_coefficients = self.n_columns * (n_classes - 1)
        seconds += DRAW_SECONDS * run.chains * run.requested_or_first_draws * n_coefficients
        return Forecast(seconds, seconds)

    @cached_property
    def problem(self) -> CoefficientProblem:
        """Data and prior as the approximation reads them."""
        matrix = self.source.matrix
        if is_sparse(matrix):
            matrix = build_sparse_columns(
                matrix, self.design.standardization, self.prior.intercept
            ).store_by_rows()
        return build_coefficient_problem(
            matrix,
            self.source.codes,
            len(self.classes),
            self.design.reference_index,
            self.prior,
            False,
            self.source.counts,
        )

    @cached_property
    def normal_posterior(self) -> NormalPosterior:
        """The normal approximation of the posterior."""
        return fit_normal_approximation(self.problem, self.prior.eta, self.has_bound)

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[NormalChain]:
        """Return chains of independent draws from the approximation."""
        return [
            NormalChain(self.problem, self.normal_posterior, draws, rng)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def build_tree(self, chains: Sequence[NormalChain]) -> "xarray.DataTree":
        """Return the posterior tree of the draws."""
        attrs = {"method": self.model.method_, "thin": 1, "tuning_steps": 0}
        return build_posterior_tree(
            chains,
            self.source,
            self.classes,
            self.columns,
            self.prior.intercept,
            attrs,
        )

    def build_attributes(self, tree: "xarray.DataTree", chains: Sequence[Any]) -> dict[str, Any]:
        """Return means, convergence and lower bound."""
        attributes: dict[str, Any] = {"converged_": self.normal_posterior.converged}
        if self.has_bound:
            attributes["lower_bound_"] = self.normal_posterior.lower_bound
        return attributes | super().build_attributes(tree, chains)


class VariationalFit(NormalApproximationFit):
    """Fit by method "variational", with a lower bound of the log evidence."""

    has_bound = True


class CoefficientSamplingEngine(ChainEngine):
    """Method "polya-gamma" (Gibbs sampling), and base of methods that make draws."""

    takes_sparse = False
    approximation = ""  # distribution of independent draws
    advice = Advice()  # for chains that have not converged
    fit_class: type[CoefficientFit] = GibbsFit

    def build_job(
        self,
        model: "SparseMultinomialLogit",
        design: LogitDesign,
        data: TrainingData,
        prior: CoefficientPrior,
        run: Run,
    ) -> Job:
        """Return the job of a fit by this method."""
        standardised_data = data
        if not is_sparse(data.matrix):
            standardised_data = data._replace(matrix=design.standardization.varying(data.matrix))
        return model._build_fit(standardised_data, run).build_job("")

    def iterate_probabilities(
        self, model: "SparseMultinomialLogit", predictor: LogitDesign, matrix: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and class probabilities (rows, draws, K)."""
        from .posterior_draws import iterate_logit_probabilities

        return iterate_logit_probabilities(PosteriorTree(model.posterior_), matrix, predictor)


class NormalApproximationEngine(CoefficientSamplingEngine):
    """Methods "laplace" and "variational": draws from a normal approximation."""

    takes_sparse = True
    advice = Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "polya-gamma"), "."))

    def __init__(self, approximation: str, fit_class: type[NormalApproximationFit]) -> None:
        self.approximation = approximation
        self.fit_class = fit_class

    def list_warnings(self, model: "SparseMultinomialLogit", job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings after a fit, also if it has not converged."""
        if not model.converged_:
            yield ConvergenceWarning(
                "The normal approximation has not converged; use ",
                Setting("method", "polya-gamma"),
                ".",
            )


class AutomaticEngine(CoefficientSamplingEngine):
    """Method "auto": the method that suits the size of the data."""

    takes_sparse = True

    def list_warnings(self, model: "SparseMultinomialLogit", job: Job) -> Iterator[ThaliWarning]:
        """Yield the warnings of the method that was chosen."""
        yield from ENGINES[model.method_].list_warnings(model, job)


class PenalizedMaximumEngine(Engine):
    """Method "map": posterior mode for a fixed eta."""

    has_prior = True
    takes_sparse = True

    def build_job(
        self,
        model: "SparseMultinomialLogit",
        design: LogitDesign,
        data: TrainingData,
        prior: CoefficientPrior,
        run: Run,
    ) -> Job:
        """Return the job of a fit of the posterior mode."""
        from .posterior_mode import build_maximum_job, build_observed_rows

        observed = build_observed_rows(design, data, prior)
        return build_maximum_job(design.standardization, observed, prior)

    def list_warnings(self, model: "SparseMultinomialLogit", job: Job) -> Iterator[ThaliWarning]:
        """Yield a warning if the coefficients have not converged."""
        if not model.converged_:
            yield ConvergenceWarning(
                f"The coefficients have not converged after {model.n_iter_} steps (slope"
                f" {model.slope_:.1e} per row); standardise the covariates or choose a larger eta."
            )

    def list_facts(self, model: "SparseMultinomialLogit") -> Facts:
        """Return (name, text) facts: nonzero coefficients and log-likelihood."""
        count_text = (
            f"{np.count_nonzero(model.scaled_coef_):,} of {model.scaled_coef_.size:,} are nonzero"
        )
        return ("coefficients", count_text), (
            "log-likelihood",
            f"{model.log_likelihood_:,.2f} (all rows)",
        )

    def summary(self, model: "SparseMultinomialLogit", ci: float) -> "pandas.DataFrame":
        """Return a table of nonzero coefficients, largest first."""
        from .posterior_mode import build_maximum_summary

        return build_maximum_summary(model.scaled_coef_, model._predictor)

    def compute_probabilities(
        self, model: "SparseMultinomialLogit", predictor: LogitDesign, matrix: np.ndarray
    ) -> np.ndarray:
        """Return class probabilities at the posterior mode, (n, K)."""
        from .posterior_mode import predict_at_maximum

        return predict_at_maximum(model, predictor, matrix)


ENGINES: dict[str, Any] = {
    "auto": AutomaticEngine(),
    "polya-gamma": CoefficientSamplingEngine(),
    "laplace": NormalApproximationEngine("Laplace approximation", NormalApproximationFit),
    "variational": NormalApproximationEngine("variational inference", VariationalFit),
    "map": PenalizedMaximumEngine(),
}
