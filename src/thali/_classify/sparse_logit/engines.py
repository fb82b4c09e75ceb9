"""The engines of the sparse logit: draws of chains or of a normal law, the maximum, and the choice
by size."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Facts
from thali._inference.chains import Run
from thali._inference.progress import format_duration
from thali._inference.seeds import spawn_generators
from thali._inference.warn import warn
from thali._model.base import Job
from thali._model.engine import ChainEngine, Engine, Forecast, refuse_chain_argument
from thali._model.run_budget import limit_run
from thali._model.sampling import Sampling
from thali._posterior.convergence import Advice
from thali._posterior.view import PosteriorTree
from thali.errors import ConvergenceWarning, LongRunWarning, Setting, ThaliWarning

from ..input import is_sparse, varying_names
from .approximation import NormalChain, NormalPosterior, check_size, normal_posterior
from .arguments import (
    A_DRAWN,
    MAX_SECONDS,
    MIN_ROWS_EACH,
    prior_of,
    seconds_of_climb,
    seconds_of_sweep,
    sparse_columns,
    trajectories_of,
    usual_thin,
)
from .chain import CoefficientChain, problem_of
from .draws import means, to_datatree
from .sweep import CoefficientProblem

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._posterior.convergence import ConvergenceCheck

    from .model import SparseMultinomialLogit

_APPROXIMATE = (
    " Draws come from a normal approximation of the posterior, which is reliable with at least "
    f"{MIN_ROWS_EACH} rows per coefficient. To sample the posterior itself, set "
)
ADVICE = Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "polya-gamma"), "."))


def check(model: "SparseMultinomialLogit", run: Run, rows: float) -> None:
    """Refuse what belongs to chains, and data of a size that the approximation is not for."""
    if run.thin is not None and model.method != "auto":
        refuse_chain_argument(
            "thin", "polya-gamma", ", because draws from the chosen method are already independent"
        )
    columns = int(model._standard_.varies.sum()) + prior_of(model).intercept
    check_size((len(model.classes_) - 1) * columns, rows)


class OfDraws(ChainEngine):
    """A method whose fit leaves draws; this one runs chains."""

    takes_sparse = False
    law = ""  # what independent draws come from

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """What the fit runs."""
        prior, reference, standard = (
            prior_of(model),
            model._position_of_reference(),
            model._standard_,
        )
        names, classes = varying_names(model), len(model.classes_)
        columns = len(names) + prior.intercept
        moves = trajectories_of(len(source.codes), columns, classes)
        asked = run.thin or usual_thin(len(source.codes), columns, classes, prior.name)
        bound = limit_run(run, asked, seconds_of_sweep(len(source.codes), columns, classes))
        run, thin = bound.run._replace(thin=bound.thin), bound.thin

        @cache
        def problem() -> Any:
            rows = source.matrix, source.codes, classes, reference
            return problem_of(*rows, prior, counts=source.counts, trajectories=moves)

        def chains(draws: int, seed: np.random.SeedSequence) -> list[CoefficientChain]:
            return [
                CoefficientChain(problem(), prior.eta, rng, draws, run.tune, thin)
                for rng in spawn_generators(seed, run.chains)
            ]

        def tree(chains: Sequence[CoefficientChain]) -> "xarray.DataTree":
            attrs = {"method": model.method_, "thin": thin, "tuning_steps": run.tune}
            return to_datatree(chains, source, model.classes_, names, prior.intercept, attrs)

        def found(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
            return {
                "_reference_": model.classes_[reference],
                **means(PosteriorTree(tree), standard),
            }

        return Sampling(
            source,
            run,
            chains,
            tree,
            found,
            settings=bound.settings | {"thin": asked},
            first_draws=bound.first_draws,
            faster=Setting("method", "variational") if prior.name == "laplace" else None,
            data_max_draws=bound.max_draws,
            forecast=bound.forecast,
        )

    def job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """The fit."""
        matrix = data.matrix if is_sparse(data.matrix) else model._standard_.varying(data.matrix)
        source = data._replace(matrix=matrix)
        return model._build_job(model._build_sampling(source, run), model._size(len(data.row)))

    def advice(self, model: Any) -> Advice:
        """What helps draws that disagree."""
        return Advice()

    def check_chains(self, model: Any) -> "ConvergenceCheck":
        from thali._posterior.convergence import check_convergence
        from thali._posterior.summary import summary_table

        from .draws import MAX_COEFFICIENTS, quantities_of

        return check_convergence(
            summary_table(quantities_of(model._view, MAX_COEFFICIENTS)), model._get_advice()
        )

    def probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """Averaged over the draws."""
        from .draws import mean_probabilities

        return mean_probabilities(model._view, matrix, model._standard_, model._position())


class NormalEngine(OfDraws):
    """Independent draws of a normal law."""

    takes_sparse = True
    law: str
    has_bound: bool

    def __init__(self, law: str, has_bound: bool) -> None:
        self.law, self.has_bound = law, has_bound  # `lower_bound_`

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        """What the fit runs; a model of rows in blocks knows its approximation."""
        check(model, run, float(source.counts.sum()))
        prior, reference, standard = (
            prior_of(model),
            model._position_of_reference(),
            model._standard_,
        )
        known = vars(model).get("_normal_")
        columns = int(standard.varies.sum()) + prior.intercept
        seconds = seconds_of_climb(len(source.codes), columns, len(model.classes_))
        if run.progressbar and known is None and seconds > MAX_SECONDS:
            long, quicker = (
                f"This fit takes about {format_duration(seconds)}. ",
                Setting("method", "map"),
            )
            warn(LongRunWarning(long, quicker, " is faster, but gives no intervals."))

        @cache
        def found() -> tuple[CoefficientProblem, NormalPosterior]:
            matrix, rows = source.matrix, source.matrix.shape[0]
            if is_sparse(matrix):
                matrix = sparse_columns(matrix, standard, prior.intercept).by_rows()
            data = matrix, source.codes[:rows], len(model.classes_), reference
            problem = problem_of(*data, prior, False, source.counts[:rows])
            return problem, known or normal_posterior(problem, prior.eta, model._used.has_bound)

        def chains(draws: int, seed: np.random.SeedSequence) -> list[NormalChain]:
            return [NormalChain(*found(), draws, rng) for rng in spawn_generators(seed, run.chains)]

        def tree(chains: Sequence[NormalChain]) -> "xarray.DataTree":
            attrs = {"method": model.method_, "thin": 1, "tuning_steps": 0}
            names, has_rows = varying_names(model), known is None
            return to_datatree(
                chains, source, model.classes_, names, prior.intercept, attrs, has_rows
            )

        def attributes(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
            normal = found()[1]
            settled = {"_reference_": model.classes_[reference], "converged_": normal.converged}
            bound = {"lower_bound_": normal.lower_bound} if model._used.has_bound else {}
            kept = {} if known is None else {"_normal_": known}
            return {**settled, **bound, **kept, **means(PosteriorTree(tree), standard)}

        drawn = A_DRAWN * run.chains * run.min_draws * columns * (len(model.classes_) - 1)
        forecast = None if known is not None else Forecast(seconds + drawn, seconds + drawn)
        return Sampling(source, run, chains, tree, attributes, is_compiled=True, forecast=forecast)

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        yield from super().list_warnings(model, job)
        if not model.converged_:
            yield ConvergenceWarning(
                "The normal approximation has not converged; use ",
                Setting("method", "polya-gamma"),
                ".",
            )

    def advice(self, model: Any) -> Advice:
        return ADVICE


class Auto(OfDraws):
    """The method that suits the size of the data, `method_`."""

    takes_sparse = True

    def sampling(self, model: Any, source: Any, run: Any) -> Any:
        return model._used.sampling(model, source, run)

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        yield from model._used.list_warnings(model, job)

    def advice(self, model: Any) -> Advice:
        return model._used.advice(model)

    def facts(self, model: Any) -> Facts:
        (name, draws), *others = super().facts(model)
        return (name, f"{draws} ({model.method_}, chosen by the size of the data)"), *others


class PenalizedMaximumEngine(Engine):
    """The maximum of the posterior for a fixed eta."""

    has_prior = True
    takes_sparse = True

    def job(self, model: Any, data: Any, prior: Any, run: Any) -> Job:
        """The fit."""
        from .maximum import by_map

        return by_map(model, model._for_maximum(data, prior), prior.eta, model._size(len(data.row)))

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        if not model.converged_:
            yield ConvergenceWarning(
                f"The coefficients have not converged after {model.n_iter_} steps (slope"
                f" {model.slope_:.1e} per row); standardise the covariates or choose a larger eta."
            )

    def facts(self, model: Any) -> Facts:
        count = f"{np.count_nonzero(model.scaled_coef_):,} of {model.scaled_coef_.size:,} are not 0"
        return ("coefficients", count), (
            "log-likelihood",
            f"{model.log_likelihood_:,.2f} (all rows)",
        )

    def summary(self, model: Any, ci: float) -> "pandas.DataFrame":
        """The coefficients that are not 0, the largest first."""
        from .maximum import summary_of_maximum

        return summary_of_maximum(model)

    def probabilities(self, model: Any, matrix: np.ndarray) -> np.ndarray:
        """At the maximum."""
        from .maximum import probabilities_at_maximum

        return probabilities_at_maximum(model, matrix)


ENGINES: dict[str, Any] = {
    "auto": Auto(),
    "polya-gamma": OfDraws(),
    "laplace": NormalEngine("normal", False),
    "variational": NormalEngine("variational normal", True),
    "map": PenalizedMaximumEngine(),
}
