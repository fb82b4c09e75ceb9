"""The methods of Bradley-Terry-Luce worths: the lattice, chains, and maximum likelihood."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import PAIRS
from thali._described import Facts
from thali._inference.chains import Run, build_run
from thali._inference.seeds import spawn_generators
from thali._inference.warn import is_quiet
from thali._model.base import Job
from thali._model.best_worst import RANKING
from thali._model.engine import (
    Engine,
    PreparedFit,
    RespondentChainEngine,
    check_method_arguments,
    refuse_chain_argument,
)
from thali._model.option_scores import ScoreScale, score_draws, tabulate_scores
from thali._model.prior_sample import PriorSample
from thali._model.sampling import Sampling
from thali._people.columns import no_covariates
from thali._people.populations import INDEPENDENT, individuals_required
from thali._posterior.convergence import Advice
from thali._posterior.dependence import Dependence
from thali._posterior.interval import INTERVAL, tails_of
from thali.errors import Argument, ArgumentError, Setting

from .chains import Sampler
from .of_data import check_estimable
from .posterior import LatticeChain, TrajectoryChain, WorthProblem, tree_of_chains
from .predictions import Quantities, WorthDraws
from .simulation import replicates, sample_prior
from .spec import BRADLEY_TERRY_LUCE

if TYPE_CHECKING:
    import pandas


_DRAWS, _SEED = 1_000, 0  # of the sampling distribution of estimates, each with its opposite
_APPROXIMATE = (
    " Draws come from a corrected Laplace approximation; to sample the posterior itself, set "
)


class WorthsEngine(Engine):
    """A method of worths; what follows from draws is that of one population unless a subclass says
    otherwise."""

    usual_tune = 1000  # draws of each chain that are discarded

    def draws_of(self, model: Any) -> WorthDraws:
        """Return the draws of worths."""
        raise NotImplementedError

    def means_of(self, model: Any, respondent: Any = None) -> WorthDraws:
        """Return what predictions are means over."""
        if respondent is not None:
            raise no_covariates()
        return self.draws_of(model)

    def quantities(self, model: Any) -> Quantities:
        """Return what chains are judged by besides the spread and the log-likelihood, arrays
        (chain, draw)."""
        view = model._view
        return model._draws.quantities(view.pairs if view.data_kind == PAIRS else None)

    def scores(
        self, model: Any, scale: ScoreScale, by: Any, random_seed: Any, ci: float
    ) -> "pandas.DataFrame":
        """Return the scores of the options."""
        if by is not None:
            raise individuals_required("by")
        draws = model._draws
        return tabulate_scores(
            {"": score_draws(draws.weights, scale)}, draws.labels, scale, None, ci
        )

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        """Return how probable all choices of each respondent together are."""
        return model._means.log_predictive(choices)

    def check(self, model: Any, data: Any, random_seed: Any, ci: float) -> "pandas.DataFrame":
        """Return what was observed against replicates."""
        return model._draws.check(data, random_seed, ci)

    def predictions(self, model: Any, data: Any, ci: float) -> "pandas.DataFrame":
        """Return the proportions that were observed, and what is predicted of them."""
        return model._draws.predictions(data, ci)

    def sample_prior(self, problem: Any, rngs: Any) -> PriorSample:
        """Return a draw from the prior for each generator, and data of the same design at it."""
        return sample_prior(problem, rngs)

    def replicates(self, model: Any, problem: Any, rng: Any) -> dict[str, np.ndarray]:
        """Return new data at every draw of a fit, arrays (chain, draw, ...) under their names in
        `observed_data`."""
        return replicates(problem, model._draws, model._view.shape, rng)


class LaplaceEngine(WorthsEngine, RespondentChainEngine):
    """Independent draws from the lattice of Laplace's approximations."""

    has_evidence = True
    advice = Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "mcmc"), "."))

    def job(self, model: Any, data: Any, asked: Mapping[str, Any]) -> Job:
        """The fit, checked; `asked` are the arguments of `fit`."""
        data = model._convert_data(data)
        tune = self.usual_tune if asked["tune"] is None else asked["tune"]
        sampling = self.sampling(model, data, build_run(**{**asked, "tune": tune}))
        if not is_quiet():
            data.warn_if_unusual()
        return model._build_job(sampling, str(data))

    def prepare(self, model: Any, data: Any, asked: Mapping[str, Any]) -> PreparedFit:
        """What `fit` would run, after every check that it makes; nothing is drawn."""
        return PreparedFit(model._problem(model._convert_data(data)).lapse)

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        """What a fit to these data runs."""
        if run.thin is not None:
            refuse_chain_argument(
                "thin", reason=", because draws from the chosen method are already independent"
            )
        problem = model._problem(source)

        def chains(draws: int, seed: Any) -> list[LatticeChain]:
            assert problem.respondents is not None  # made once, before threads need it
            return [LatticeChain(problem, draws, rng) for rng in spawn_generators(seed, run.chains)]

        return _sampling_of(problem, source, run, chains, lambda: problem.respondents.by_scores)

    def draws_of(self, model: Any) -> WorthDraws:
        """Return the draws of worths."""
        return read_draws(model._view)


def read_draws(view: Any) -> WorthDraws:
    """Read the draws of worths of a posterior."""
    log_worths = view.draws["log_worth"].values.reshape(view.n_draws, -1)
    rule = view.best_worst or RANKING
    options = (
        view.fixed["option_values"].values if view.covariates else np.zeros((view.n_options, 0))
    )
    known = view.covariates, options, view.lapse, rule
    return WorthDraws(view.labels, log_worths, view.tie, view.coefficients, *known, view.shape[0])


def _sampling_of(
    problem: WorthProblem, source: Any, run: Run, chains: Any, dependence: Any
) -> Sampling[Any]:
    """Return the run of chains of one population."""

    def tree(found: Any) -> Any:
        made = dependence()
        attributes = describe_run(run)
        return tree_of_chains(
            problem, found, attributes | ({} if made is None else made.attributes)
        )

    return sampling_of_chains(source, run, chains, tree)


def describe_run(run: Run) -> dict[str, Any]:
    """Return what a posterior notes of the run."""
    return {"thin": run.thin or 1, "tuning_steps": run.tune}


def keep_tree(tree: Any) -> Any:
    """Return a tree that needs nothing more once all draws are made."""
    return tree


def sampling_of_chains(
    source: Any,
    run: Run,
    chains: Any,
    tree: Any,
    first_draws: int | None = None,
    completed: Any = keep_tree,
) -> Sampling[Any]:
    """Return the run of chains whose draws make a tree."""
    settings = {name: getattr(run, name) for name in ("draws", "tune", "chains", "thin")}
    return Sampling(
        source,
        run,
        chains,
        tree,
        lambda tree, chains, seed: {},
        is_compiled=True,
        settings=settings,
        first_draws=first_draws,
        complete_tree=completed,
    )


class TrajectoryEngine(LaplaceEngine):
    """Chains of trajectories given the spread, and of moves of scales."""

    advice = Advice()

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        problem = model._problem(source, usual=INDEPENDENT)

        def chains(draws: int, seed: Any) -> list[TrajectoryChain]:
            sampler = Sampler(problem.powered)
            rngs = spawn_generators(seed, run.chains)
            return [TrajectoryChain(sampler, draws, run.tune, run.thin or 1, rng) for rng in rngs]

        return _sampling_of(problem, source, run, chains, lambda: problem.respondents.by_power)


# Maximum likelihood -------------------------------------------------------------------------------


class EstimatedWorths(NamedTuple):
    """The highest point of the likelihood, with the covariance of its errors in large samples."""

    data: Any
    point: np.ndarray  # of the density
    covariance: np.ndarray  # over respondents where these are adjusted for
    df: float  # of Student's t; infinite of the normal distribution
    log_likelihood: float  # of all data, coefficients included
    n_parameters: int
    lapse: float
    has_ties: bool
    rule: str
    people: Dependence | None

    @property
    def aic(self) -> float:
        return 2.0 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """With the number of answers for n."""
        return math.log(self.data.n_answers) * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def problem(self) -> WorthProblem:
        """The density without a prior."""
        return WorthProblem(self.data, self.lapse, self.has_ties, self.rule, has_prior=False)


class MaximumEngine(WorthsEngine):
    """The worths with the highest likelihood, without a prior."""

    findings = "thali._worths.findings"

    def job(self, model: Any, data: Any, asked: Mapping[str, Any]) -> Job:
        """The fit, checked; `asked` are the arguments of `fit`."""
        data = model._convert_data(data)
        problem = self._problem(model, data, asked)
        return Job(lambda: {"_estimates_": estimate(problem)}, data=str(data))

    def prepare(self, model: Any, data: Any, asked: Mapping[str, Any]) -> PreparedFit:
        """What `fit` would run, after every check that it makes."""
        return PreparedFit(self._problem(model, model._convert_data(data), {}).lapse)

    def _problem(self, model: Any, data: Any, asked: Mapping[str, Any]) -> WorthProblem:
        refuse_run(model, asked)
        problem = model._problem(data, has_prior=False)
        check_estimable(problem.in_form, problem.density)
        return problem

    def data_of_fit(self, model: Any) -> Any:
        return model._estimates_.data

    def facts(self, model: Any) -> Facts:
        found = model._estimates_
        errors = ()
        if math.isfinite(found.df):
            errors = (("standard errors", f"clustered by respondent ({found.people.number:,})"),)
        return (
            *errors,
            (
                "log-likelihood",
                f"{found.log_likelihood:,.2f} (all comparisons, including constants)",
            ),
        )

    def summary(self, model: Any, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The estimates with their errors and intervals."""
        model._require_fitted()
        return estimates_table(model._estimates_, ci)

    def draws_of(self, model: Any) -> WorthDraws:
        """Return draws of the distribution of the estimates in large samples."""
        found = model._estimates_
        rng = np.random.default_rng(_SEED)
        values, vectors = np.linalg.eigh(found.covariance)
        normal = (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.standard_normal(
            (len(values), _DRAWS)
        )
        if math.isfinite(found.df):
            normal *= np.sqrt(found.df / rng.chisquare(found.df, _DRAWS))
        return self._draws(found, found.point[:, None] + np.hstack([normal, -normal]))

    def means_of(self, model: Any, respondent: Any = None) -> WorthDraws:
        if respondent is not None:
            raise no_covariates()
        return self._draws(model._estimates_, model._estimates_.point[:, None])

    def _draws(self, found: EstimatedWorths, points: np.ndarray) -> WorthDraws:
        return found.problem.draws_of(points, 1)


def estimate(problem: WorthProblem) -> EstimatedWorths:
    """Return the estimates of a density without a prior."""
    density = problem.density
    _, mode = problem.marginal.best
    root = mode.factor.draw(np.eye(density.size))
    variance, df = problem.respondents.adjusted, math.inf
    if variance is not None:
        root, df = variance.matrix() @ root, variance.df
    value = float(density.log_likelihoods(mode.point[:, None])[0]) + problem.groups().log_constant
    settings = problem.lapse, problem.has_ties, problem.rule, problem.respondents.by_scores
    return EstimatedWorths(
        problem.data, mode.point, root @ root.T, df, value, density.size - 1, *settings
    )


def refuse_run(model: Any, asked: Mapping[str, Any]) -> None:
    """Refuse arguments of draws and of priors."""
    import inspect

    usual = {
        name: each.default
        for name, each in inspect.signature(model.fit).parameters.items()
        if name != "data"
    }
    check_method_arguments(BRADLEY_TERRY_LUCE, "maximum-likelihood", asked, usual)
    for name in ("job", "max_time"):
        if asked.get(name) is not None:
            refuse_chain_argument(name)
    if model.spread is not None:
        raise ArgumentError(
            Argument("spread"),
            " requires a prior; set ",
            Setting("method", "laplace"),
            ", or mcmc.",
        )


def estimates_table(found: EstimatedWorths, ci: float) -> "pandas.DataFrame":
    """Return a row an option, covariate and parameter of ties: estimate, std_error, low and
    high."""
    import pandas as pd
    from scipy.special import ndtri, stdtrit

    from thali._model.covariates import coefficient_name
    from thali._tables import Table

    problem = found.problem
    density, n = problem.density, found.data.n_options
    rows = np.eye(density.size)[[*range(n), *range(density.nu.start, density.beta.stop)]]
    rows[:n, density.beta] = problem.options
    rows[:n] -= rows[:n].mean(axis=0)
    value, error = (
        rows @ found.point,
        np.sqrt(np.einsum("ij,jk,ik->i", rows, found.covariance, rows)),
    )
    tail = tails_of(ci)[1]
    reach = float(stdtrit(found.df, tail)) if math.isfinite(found.df) else float(ndtri(tail))
    names = [
        *(f"log_worth[{label}]" for label in found.data.labels),
        *(["log_tie"] * found.has_ties),
    ]
    names += [coefficient_name(name) for name in problem.covariates]
    columns = {
        "estimate": value,
        "std_error": error,
        "low": value - reach * error,
        "high": value + reach * error,
    }
    table = Table(columns, index=pd.Index(names, name="quantity"))
    table.attrs["interval"] = ci
    for name in ("log_likelihood", "aic", "bic"):
        table.attrs[name] = getattr(found, name)
    return table
