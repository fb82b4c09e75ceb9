"""Methods that fit Bradley-Terry-Luce worths: Laplace grid, chains, and maximum likelihood."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import PAIRS
from thali._inference.markov_chains import Run, cut_records
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.best_worst_probabilities import RANKING
from thali._model.chain_runs import ChainFit
from thali._model.covariate_effects import coefficient_name, tabulate_effects
from thali._model.fitting_methods import (
    ChainEngine,
    Engine,
    check_method_arguments,
    refuse_chain_argument,
)
from thali._model.option_scores import ScoreDraws, ScoreScale, score_draws, tabulate_scores
from thali._model.simulated_data import PriorSample
from thali._object_descriptions import Facts
from thali._people.people_argument import INDEPENDENT, individuals_required_error
from thali._people.respondent_columns import no_covariates_error
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_interval import INTERVAL, interval_tails
from thali._posterior.posterior_tree import Posterior
from thali._posterior.respondent_dependence import Dependence
from thali.errors import Argument, ArgumentError, Setting

from .density_from_data import check_estimable
from .hamiltonian_chains import HamiltonianSampler
from .population_posterior import LatticeChain, TrajectoryChain, WorthProblem
from .simulation import sample_worths_prior, simulate_replicates
from .spec import BRADLEY_TERRY_LUCE
from .worth_draws import Quantities, WorthDraws, tabulate_worths

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons

    from .model import BradleyTerryLuce


_N_DRAWS, _SEED = 1_000, 0  # draws of the sampling distribution, each with its opposite
_APPROXIMATION_NOTE = (
    " Draws were taken from a corrected Laplace approximation; to sample the posterior itself, set "
)


class WorthResults:
    """Results of a fit of worths that are computed from its draws."""

    def __init__(self, posterior: "Posterior") -> None:
        self.posterior = posterior

    @cached_property
    def draws(self) -> WorthDraws:
        """Draws of log worths and other parameters."""
        return read_worth_draws(self.posterior)

    @cached_property
    def prediction_draws(self) -> WorthDraws:
        """Draws over which predictions are averaged."""
        return self.draws

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of log worths around effects of covariates, (draws,)."""
        return self.posterior.draws["spread"].values.ravel()

    def draw_new_respondents(self, respondent: Mapping[str, Any]) -> WorthDraws:
        """Draw worths of new respondents with the given covariates."""
        raise no_covariates_error()

    def get_quantities(self) -> Quantities:
        """Return draws of named quantities for the convergence check, each (chains, draws).

        The spread and the log-likelihood are judged separately.
        """
        compared_pairs = None
        if self.posterior.data_kind == PAIRS:
            compared_pairs = self.posterior.pairs
        return self.draws.get_quantities(compared_pairs)

    def build_scores_table(
        self, scale: ScoreScale, by: Any, random_seed: RandomSeed, ci: float
    ) -> "pandas.DataFrame":
        """Return a table of MaxDiff scores of the options."""
        if by is not None:
            raise individuals_required_error()
        return tabulate_scores({"": self.compute_scores(scale)}, self.draws.labels, scale, None, ci)

    def compute_scores(self, scale: ScoreScale) -> ScoreDraws:
        """Return the MaxDiff scores of the options, with their draws."""
        return score_draws(self.draws.weights, scale)

    def tabulate_worths(self, ci: float) -> "pandas.DataFrame":
        """Return a table of log worths and shares of the total worth."""
        return tabulate_worths(self.draws, ci)

    def tabulate_effects(self, ci: float) -> "pandas.DataFrame":
        """Return a table of effects of covariates."""
        return tabulate_effects(self.draws.covariates, self.draws.beta, ci)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return the log probability of each respondent's choices together."""
        return self.prediction_draws.log_predictive(choices)

    def check_replicates(
        self, data: "PairedComparisons | Choices", random_seed: RandomSeed, ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed answers against posterior replicates."""
        return self.draws.check_replicates(data, random_seed, ci)

    def tabulate_predictions(
        self, data: "PairedComparisons | Choices", ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed and predicted proportions."""
        return self.draws.tabulate_predictions(data, ci)

    def simulate_data(self, problem: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Simulate data at every draw of a fit, arrays (chain, draw, ...) by variable."""
        return simulate_replicates(problem, self.draws, self.posterior.shape, rng)


class WorthsEngine(Engine):
    """Base of the methods that fit worths; a subclass has `read_results(model)`."""

    default_tune = 1000  # draws of each chain that are discarded
    problem_class: type[WorthProblem] = WorthProblem  # data and settings of a fit
    fit_settings: Mapping[str, Any] = {}  # arguments of the problem that only a fit has

    def check_problem(self, problem: WorthProblem) -> None:
        """Raise for a problem that the method cannot fit."""

    def sample_prior(self, problem: Any, rngs: Sequence[np.random.Generator]) -> PriorSample:
        """Sample worths from the prior and data given them, once per generator."""
        return sample_worths_prior(problem, rngs)


class WorthFit(ChainFit[Any]):
    """Base of the fits of worths by chains."""

    model: "BradleyTerryLuce"
    is_compiled = True

    def prepare(self, run: Run) -> None:
        """Check the data, and keep them as a problem of the method."""
        self.run = run
        self.problem: Any = self.inputs

    def describe_run(self) -> dict[str, Any]:
        """Return the attributes of a posterior tree that describe the run."""
        return {"thin": self.run.thin or 1, "tuning_steps": self.run.tune}


class LaplaceFit(WorthFit):
    """Fit by method "laplace": independent draws from a corrected Laplace approximation."""

    def prepare(self, run: Run) -> None:
        """Refuse `thin`, which independent draws do not have."""
        if run.thin is not None:
            refuse_chain_argument(
                "thin", reason=", because draws from the chosen method are already independent"
            )
        super().prepare(run)

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[Any]:
        """Return chains of independent draws."""
        assert self.problem.respondents is not None  # computed once, before threads need it
        return [
            LatticeChain(self.problem, draws, rng)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def get_dependence(self) -> Dependence | None:
        """Return how the draws account for several answers of a respondent."""
        return self.problem.respondents.score_dependence

    def build_tree(self, chains: Sequence[Any]) -> "xarray.DataTree":
        """Return the posterior tree of one population."""
        attributes = self.describe_run()
        dependence = self.get_dependence()
        if dependence is not None:
            attributes |= dependence.attributes
        records = cut_records(chains)[1]
        parameter_vectors = np.stack([record["points"] for record in records])
        log_sds = np.stack([record["logs"] for record in records])
        return self.problem.build_tree(parameter_vectors, log_sds, attributes)


class TrajectoryFit(LaplaceFit):
    """Fit by method "mcmc": Hamiltonian chains of worths and their prior sds."""

    def prepare(self, run: Run) -> None:
        """Keep the problem; unlike independent draws, chains can be thinned."""
        WorthFit.prepare(self, run)

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[Any]:
        """Return Hamiltonian chains."""
        sampler = HamiltonianSampler(self.problem.power_marginal)
        return [
            TrajectoryChain(sampler, draws, self.run.tune, self.run.thin or 1, rng)
            for rng in spawn_generators(seed, self.run.chains)
        ]

    def get_dependence(self) -> Dependence | None:
        """Return how the draws account for several answers of a respondent."""
        return self.problem.respondents.power_dependence


class LaplaceEngine(WorthsEngine, ChainEngine):
    """Method "laplace": independent draws from Laplace approximations on a grid of sds."""

    has_evidence = True
    fit_class: type[WorthFit] = LaplaceFit
    results_class: type[Any] = WorthResults  # reads a posterior
    advice = Advice(tunes=False, note=(_APPROXIMATION_NOTE, Setting("method", "mcmc"), "."))

    def read_results(self, model: "BradleyTerryLuce") -> WorthResults:
        """Return the results of the draws of a fit."""
        return self.results_class(Posterior(model.posterior_))


def read_worth_draws(view: "Posterior") -> WorthDraws:
    """Read draws of log worths and other parameters from a posterior."""
    log_worths = view.draws["log_worth"].values.reshape(view.n_draws, -1)
    rule = view.best_worst or RANKING
    option_covariates = np.zeros((view.n_options, 0))
    if view.covariates:
        option_covariates = view.fixed["option_values"].values
    return WorthDraws(
        view.labels,
        log_worths,
        view.tie,
        view.coefficients,
        view.covariates,
        option_covariates,
        view.lapse,
        rule,
        view.shape[0],
    )


class TrajectoryEngine(LaplaceEngine):
    """Method "mcmc": Hamiltonian chains of worths and their prior sds."""

    advice = Advice()
    fit_class = TrajectoryFit
    # respondents who answer repeatedly are treated as independent
    fit_settings = {"default_adjustment": INDEPENDENT}


# Maximum likelihood -------------------------------------------------------------------------------


class EstimatedWorths(NamedTuple):
    """Maximum-likelihood estimates of worths with their covariance."""

    data: Any
    point: np.ndarray  # of the density
    covariance: np.ndarray  # over respondents if results are adjusted for them
    # (size,) of Student's t for each parameter; infinite for the normal distribution
    degrees: np.ndarray
    log_likelihood: float  # of all data, coefficients included
    n_parameters: int
    lapse: float
    has_ties: bool
    rule: str
    people: Dependence | None

    @property
    def aic(self) -> float:
        """Akaike information criterion."""
        return 2.0 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Bayesian information criterion, n being the number of answers."""
        return math.log(self.data.n_answers) * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def problem(self) -> WorthProblem:
        """Data and settings of the estimates, without a prior."""
        return WorthProblem(self.data, self.lapse, self.has_ties, self.rule, has_prior=False)


class EstimateResults(WorthResults):
    """Results of a fit by maximum likelihood that are computed from its estimates."""

    def __init__(self, estimates: EstimatedWorths) -> None:
        self.estimates = estimates

    @cached_property
    def draws(self) -> WorthDraws:
        """Draws of worths from the normal approximation around the estimates."""
        from scipy.special import chdtri

        estimates = self.estimates
        rng = np.random.default_rng(_SEED)
        eigenvalues, eigenvectors = np.linalg.eigh(estimates.covariance)
        deviations = (eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ rng.standard_normal(
            (len(eigenvalues), _N_DRAWS)
        )
        if np.isfinite(estimates.degrees).all():
            degrees = estimates.degrees[:, None]
            deviations *= np.sqrt(degrees / chdtri(degrees, rng.random(_N_DRAWS)))
        return estimates.problem.build_draws(
            estimates.point[:, None] + np.hstack([deviations, -deviations]), 1
        )

    @cached_property
    def prediction_draws(self) -> WorthDraws:
        """The estimate as the only draw, for predictions."""
        return self.estimates.problem.build_draws(self.estimates.point[:, None], 1)

    @property
    def spread(self) -> np.ndarray:
        """0: worths of new options are those that their covariates predict."""
        return np.zeros(1)

    def compute_scores(self, scale: ScoreScale) -> ScoreDraws:
        """Return the MaxDiff scores at the estimate, with draws for their intervals."""
        mean_scores = scale.compute_scores(self.prediction_draws.weights)[0]
        return super().compute_scores(scale)._replace(mean=mean_scores)

    def tabulate_worths(self, ci: float) -> "pandas.DataFrame":
        """Return a table of log worths and shares at the maximum, with errors of `summary`."""
        return self._copy_errors(tabulate_worths(self.prediction_draws, ci), "log_worth[{}]", ci)

    def tabulate_effects(self, ci: float) -> "pandas.DataFrame":
        """Return a table of effects of covariates, with errors of `summary`."""
        from scipy.special import stdtr

        estimates = self.estimates
        table = tabulate_effects(self.prediction_draws.covariates, self.prediction_draws.beta, ci)
        table = self._copy_errors(table, coefficient_name("{}"), ci)
        degrees = estimates.degrees[estimates.problem.density.beta]
        table["above_0"] = stdtr(degrees, table["mean"] / table["sd"])
        return table

    def _copy_errors(
        self, table: "pandas.DataFrame", row_name: str, ci: float
    ) -> "pandas.DataFrame":
        """Return the table with standard errors and intervals of rows of `summary`."""
        row_names = [row_name.format(name) for name in table.index]
        rows = tabulate_estimates(self.estimates, ci).loc[row_names]
        errors = rows[["std_error", "low", "high"]].to_numpy().T
        return table.assign(**dict(zip(("sd", "low", "high"), errors, strict=True)))


class WorthMaximumEngine(WorthsEngine):
    """Method "maximum-likelihood": worths without a prior, with standard errors."""

    default_tune = 0  # there are no chains
    fit_settings = {"has_prior": False}

    def check_problem(self, problem: WorthProblem) -> None:
        """Raise if the model has a prior, or the data have no finite estimates."""
        if problem.spread is not None:
            raise ArgumentError(
                Argument("spread"),
                " requires a prior; set ",
                Setting("method", "laplace"),
                " or 'mcmc'.",
            )
        check_estimable(problem.converted_data, problem.density)

    def list_facts(self, model: Any) -> Facts:
        """Return (name, text) facts about the fit for reports."""
        estimates = get_worth_estimates(model)
        log_likelihood = f"{estimates.log_likelihood:,.2f} (all comparisons, including constants)"
        facts = (("log-likelihood", log_likelihood),)
        if estimates.people is None or np.isinf(estimates.degrees).all():
            return facts
        error_description = f"clustered by respondent ({estimates.people.number:,})"
        return (("standard errors", error_description), *facts)

    def summary(self, model: "BradleyTerryLuce", ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a table of estimates with standard errors and intervals."""
        return tabulate_estimates(get_worth_estimates(model), ci)

    def read_results(self, model: "BradleyTerryLuce") -> "EstimateResults":
        """Return the results of the estimates."""
        return EstimateResults(get_worth_estimates(model))


def get_worth_estimates(model: "BradleyTerryLuce") -> EstimatedWorths:
    """Return the maximum-likelihood estimates of a fit; raise before `fit`."""
    model._require_fitted()
    return model._estimates_


def estimate_worths(problem: WorthProblem) -> EstimatedWorths:
    """Return maximum-likelihood estimates, the mode of a density without prior."""
    density = problem.density
    _, mode = problem.marginal.best
    covariance_root = mode.factor.draw(np.eye(density.size))
    variance = problem.respondents.adjusted_variance
    degrees = np.full(density.size, np.inf)
    if variance is not None:
        covariance_root = variance.matrix() @ covariance_root
        degrees = variance.expand_degrees(density.n_options, density.size)
    covariance_root = density.is_free[:, None] * covariance_root
    log_likelihood = (
        float(density.log_likelihoods(mode.point[:, None])[0])
        + problem.build_data_groups().log_constant
    )
    return EstimatedWorths(
        problem.data,
        mode.point,
        covariance_root @ covariance_root.T,
        degrees,
        log_likelihood,
        density.n_identified,
        problem.lapse,
        problem.has_ties,
        problem.rule,
        problem.respondents.score_dependence,
    )


def refuse_run_settings(run: Run) -> None:
    """Raise ArgumentError for arguments of `fit` that only sampling uses."""
    default_run = Run(draws=None, tune=WorthMaximumEngine.default_tune)
    check_method_arguments(
        BRADLEY_TERRY_LUCE, "maximum-likelihood", run._asdict(), default_run._asdict()
    )
    for argument_name in ("job", "max_time"):
        if getattr(run, argument_name) is not None:
            refuse_chain_argument(argument_name)


def tabulate_estimates(estimates: EstimatedWorths, ci: float) -> "pandas.DataFrame":
    """Return a table of estimates with std_error and interval, options first."""
    import pandas as pd
    from scipy.special import stdtrit

    from thali._exportable_table import Table

    problem = estimates.problem
    density = problem.density
    n = estimates.data.n_options
    parameters = [*range(n), *range(density.nu.start, density.beta.stop)]
    contrast_matrix = np.eye(density.size)[parameters]
    contrast_matrix[:n] = density.option_contrasts
    estimate_values = contrast_matrix @ estimates.point
    std_errors = np.sqrt(
        np.einsum("ij,jk,ik->i", contrast_matrix, estimates.covariance, contrast_matrix)
    )
    multiplier = stdtrit(estimates.degrees[parameters], interval_tails(ci)[1])
    quantity_names = [f"log_worth[{label}]" for label in estimates.data.labels]
    if estimates.has_ties:
        quantity_names.append("log_tie")
    quantity_names += [coefficient_name(statistic_name) for statistic_name in problem.covariates]
    estimate_columns = {
        "estimate": estimate_values,
        "std_error": std_errors,
        "low": estimate_values - multiplier * std_errors,
        "high": estimate_values + multiplier * std_errors,
    }
    table = Table(estimate_columns, index=pd.Index(quantity_names, name="quantity"))
    table.attrs["interval"] = ci
    for statistic_name in ("log_likelihood", "aic", "bic"):
        table.attrs[statistic_name] = getattr(estimates, statistic_name)
    return table
