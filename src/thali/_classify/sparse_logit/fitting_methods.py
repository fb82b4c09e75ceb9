"""Methods that fit the sparse logit: Gibbs sampling, normal approximations and the mode."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import Run
from thali._inference.progress_display import format_duration
from thali._inference.random_seeds import spawn_generators
from thali._inference.user_warnings import warn
from thali._model.base import Job
from thali._model.chain_runs import Sampling, limit_run
from thali._model.fitting_methods import ChainEngine, Engine, Forecast, refuse_chain_argument
from thali._object_descriptions import Facts
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import ConvergenceWarning, LongRunWarning, Setting, ThaliWarning

from ..covariates_and_labels import is_sparse, list_varying_columns
from ..posterior_datasets import average_probabilities
from .arguments import read_prior
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


def check_normal_run(model: "SparseMultinomialLogit", run: Run, n_rows: float) -> None:
    """Raise ArgumentError for chain arguments, or too many coefficients."""
    if run.thin is not None and model.method != "auto":
        refuse_chain_argument(
            "thin", "polya-gamma", ", because draws from the chosen method are already independent"
        )
    n_columns = int(model._standard_.varies.sum()) + read_prior(model).intercept
    check_approximation_size((len(model.classes_) - 1) * n_columns, n_rows)


def forecast_approximation(model: "SparseMultinomialLogit", source: Any, run: Run) -> Forecast:
    """Return a forecast of the approximation's CPU time; warn if it is long."""
    n_columns = int(model._standard_.varies.sum()) + read_prior(model).intercept
    n_classes = len(model.classes_)
    seconds = estimate_approximation_seconds(len(source.codes), n_columns, n_classes)
    if run.progressbar and seconds > MAX_SAMPLING_SECONDS:
        warn(
            LongRunWarning(
                f"This fit takes about {format_duration(seconds)}. ",
                Setting("method", "map"),
                " is faster, but gives no intervals.",
            )
        )
    seconds += DRAW_SECONDS * run.chains * run.min_draws * n_columns * (n_classes - 1)
    return Forecast(seconds, seconds)


class CoefficientSamplingEngine(ChainEngine):
    """Method "polya-gamma" (Gibbs sampling), and base of methods that make draws."""

    takes_sparse = False
    approximation = ""  # distribution of independent draws
    advice = Advice()  # for chains that have not converged

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """Return the prepared Gibbs chains of a fit."""
        prior, reference_index = read_prior(model), model._reference_index()
        standardization = model._standard_
        names, classes = list_varying_columns(model), model.classes_
        data_sizes = len(source.codes), len(names) + prior.intercept, len(classes)
        thin = run.thin or choose_logit_thin(*data_sizes, prior.name)
        limited_run = limit_run(run, thin, estimate_logit_sweep_seconds(*data_sizes))
        run = limited_run.run._replace(thin=limited_run.thin)
        faster_method = None
        if prior.name == "laplace":
            faster_method = Setting("method", "variational")

        @cache
        def build_problem() -> Any:
            """Return data and prior of the chains, built once."""
            row_arguments = source.matrix, source.codes, len(classes), reference_index
            n_trajectories = count_trajectories(*data_sizes)
            return build_coefficient_problem(
                *row_arguments, prior, None, source.counts, n_trajectories
            )

        def start_chains(draws: int, seed: np.random.SeedSequence) -> list[CoefficientChain]:
            """Return new chains of this many draws, from this seed."""
            return [
                CoefficientChain(build_problem(), prior.eta, rng, draws, run.tune, limited_run.thin)
                for rng in spawn_generators(seed, run.chains)
            ]

        def build_tree(chains: Sequence[CoefficientChain]) -> "xarray.DataTree":
            """Return the posterior tree of the chains."""
            attrs = {"method": model.method_, "thin": limited_run.thin, "tuning_steps": run.tune}
            return build_posterior_tree(chains, source, classes, names, prior.intercept, attrs)

        return Sampling(
            source,
            run,
            start_chains,
            build_tree,
            lambda tree, chains, seed: compute_posterior_means(
                PosteriorTree(tree), standardization
            ),
            settings=limited_run.settings | {"thin": thin},
            first_draws=limited_run.first_draws,
            faster=faster_method,
            data_max_draws=limited_run.max_draws,
            forecast=limited_run.forecast,
        )

    def build_job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """Return the job of a fit by this method."""
        standardised_data = data
        if not is_sparse(data.matrix):
            standardised_data = data._replace(matrix=model._standard_.varying(data.matrix))
        return model._build_job(
            model._build_sampling(standardised_data, run), model._describe_size(len(data.row))
        )

    def compute_probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """Return class probabilities averaged over the draws, (n, K)."""
        blocks = self.iterate_probabilities(model, matrix)
        return average_probabilities(blocks, matrix.shape[0], len(model.classes_))

    def iterate_probabilities(
        self, model: Any, matrix: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and class probabilities (rows, draws, K)."""
        from .posterior_draws import iterate_logit_probabilities

        return iterate_logit_probabilities(
            model._view, matrix, model._standard_, model._reference_index()
        )


class NormalApproximationEngine(CoefficientSamplingEngine):
    """Methods "laplace" and "variational": draws from a normal approximation."""

    takes_sparse = True
    advice = Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "polya-gamma"), "."))
    approximation: str
    has_bound: bool

    def __init__(self, approximation: str, has_bound: bool) -> None:
        self.approximation, self.has_bound = approximation, has_bound  # `lower_bound_`

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """Return the prepared draws from the normal approximation.

        A fit to a Dask array has computed its approximation already.
        """
        check_normal_run(model, run, float(source.counts.sum()))
        prior, reference_index = read_prior(model), model._reference_index()
        standardization = model._standard_
        dask_posterior, time_forecast = vars(model).get("_normal_"), None
        if dask_posterior is None:
            time_forecast = forecast_approximation(model, source, run)

        @cache
        def fit_posterior() -> tuple[CoefficientProblem, NormalPosterior]:
            """Return the normal approximation with its data, fitted once."""
            matrix, n_rows = source.matrix, source.matrix.shape[0]
            if is_sparse(matrix):
                matrix = build_sparse_columns(
                    matrix, standardization, prior.intercept
                ).store_by_rows()
            row_arguments = matrix, source.codes[:n_rows], len(model.classes_), reference_index
            problem = build_coefficient_problem(
                *row_arguments, prior, False, source.counts[:n_rows]
            )
            has_bound = model._used_engine.has_bound
            return problem, dask_posterior or fit_normal_approximation(
                problem, prior.eta, has_bound
            )

        def start_chains(draws: int, seed: np.random.SeedSequence) -> list[NormalChain]:
            """Return chains of independent draws, from this seed."""
            return [
                NormalChain(*fit_posterior(), draws, rng)
                for rng in spawn_generators(seed, run.chains)
            ]

        def build_tree(chains: Sequence[NormalChain]) -> "xarray.DataTree":
            """Return the posterior tree of the draws."""
            attrs = {"method": model.method_, "thin": 1, "tuning_steps": 0}
            names, has_rows = list_varying_columns(model), dask_posterior is None
            return build_posterior_tree(
                chains, source, model.classes_, names, prior.intercept, attrs, has_rows
            )

        def build_attributes(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
            """Return fitted attributes: means, convergence and bound."""
            normal_posterior = fit_posterior()[1]
            fitted_attributes: dict[str, Any] = {"converged_": normal_posterior.converged}
            if model._used_engine.has_bound:
                fitted_attributes["lower_bound_"] = normal_posterior.lower_bound
            if dask_posterior is not None:
                fitted_attributes["_normal_"] = dask_posterior
            return fitted_attributes | compute_posterior_means(PosteriorTree(tree), standardization)

        return Sampling(
            source,
            run,
            start_chains,
            build_tree,
            build_attributes,
            is_compiled=True,
            forecast=time_forecast,
        )

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings after a fit, also if it has not converged."""
        yield from super().list_warnings(model, job)
        if not model.converged_:
            yield ConvergenceWarning(
                "The normal approximation has not converged; use ",
                Setting("method", "polya-gamma"),
                ".",
            )


class AutomaticEngine(CoefficientSamplingEngine):
    """Method "auto": the method that suits the size of the data."""

    takes_sparse = True

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """Return the prepared chains of the method chosen for these data."""
        return model._used_engine.sampling(model, source, run)

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Yield the warnings of the method that was chosen."""
        yield from model._used_engine.list_warnings(model, job)

    def list_facts(self, model: Any) -> Facts:
        """Return (name, text) facts, including the chosen method."""
        (name, draws), *other_facts = super().list_facts(model)
        return (name, f"{draws} ({model.method_}, chosen by the size of the data)"), *other_facts


class PenalizedMaximumEngine(Engine):
    """Method "map": posterior mode for a fixed eta."""

    has_prior = True
    takes_sparse = True

    def build_job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """Return the job of a fit of the posterior mode."""
        from .posterior_mode import build_maximum_job, build_observed_rows

        return build_maximum_job(
            model,
            build_observed_rows(model, data, prior),
            prior.eta,
            model._describe_size(len(data.row)),
        )

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Yield a warning if the coefficients have not converged."""
        if not model.converged_:
            yield ConvergenceWarning(
                f"The coefficients have not converged after {model.n_iter_} steps (slope"
                f" {model.slope_:.1e} per row); standardise the covariates or choose a larger eta."
            )

    def list_facts(self, model: Any) -> Facts:
        """Return (name, text) facts: nonzero coefficients and log-likelihood."""
        count_text = (
            f"{np.count_nonzero(model.scaled_coef_):,} of {model.scaled_coef_.size:,} are not 0"
        )
        return ("coefficients", count_text), (
            "log-likelihood",
            f"{model.log_likelihood_:,.2f} (all rows)",
        )

    def summary(self, model: Any, ci: float) -> "pandas.DataFrame":
        """Return a table of nonzero coefficients, largest first."""
        from .posterior_mode import build_maximum_summary

        return build_maximum_summary(model)

    def compute_probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """Return class probabilities at the posterior mode, (n, K)."""
        from .posterior_mode import predict_at_maximum

        return predict_at_maximum(model, matrix)


ENGINES: dict[str, Any] = {
    "auto": AutomaticEngine(),
    "polya-gamma": CoefficientSamplingEngine(),
    "laplace": NormalApproximationEngine("normal", False),
    "variational": NormalApproximationEngine("variational normal", True),
    "map": PenalizedMaximumEngine(),
}
