"""Posterior of one population's worths: density, Laplace grid, chains and tree of draws."""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._inference.index_arithmetic import count_pairs
from thali._inference.markov_chains import FixedChain, IndependentDraws
from thali._model.stored_choices import (
    MAX_PAIRS,
    StoredData,
    all_pair_coordinates,
    member_coordinates,
    set_size_variables,
    store_pairs,
    store_sets,
)
from thali._people.people_argument import ADJUSTED
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_tree import COVARIATE

from .density_from_data import build_density, convert_for_likelihood, keep_single_choices
from .hamiltonian_chains import HamiltonianSampler
from .laplace_approximation import Marginal
from .posterior_density import WORTHS, Density, Spreads
from .posterior_sample import sample_posterior
from .prior_sd_moves import ScaleState
from .respondent_sandwich import RespondentAdjustment, build_adjustment, widen_points
from .worth_draws import WorthDraws

if TYPE_CHECKING:
    import xarray

_TARGET_ACCEPTANCE = 0.8  # of trajectories
_NOTES = {
    "log_worth": "the log worths of all options",
    "spread": "the logarithm of the standard deviation of log worths",
    "tie": "the logarithm of nu",
    "covariate": "the coefficients of covariates",
}
FULL_LIKELIHOOD = Variable(
    "full data set, natural logarithm, including constants such as binomial coefficients"
)
TIE = Variable("nu, the tie parameter")
_VARIABLES = {
    "log_worth": Variable(
        "log worth of an option, with a mean of 0 over options; includes effects of option"
        " covariates",
        ("option",),
    ),
    "spread": Variable("standard deviation of log worths"),
    "log_likelihood": FULL_LIKELIHOOD,
    "tie": TIE,
    "covariate": Variable("covariate coefficients: change in the log odds per unit", (COVARIATE,)),
    "choice_probability": Variable(
        "probability that the first of a pair is chosen, given that one is, including lapses",
        ("pair",),
    ),
    "set_probability": Variable(
        "probability that the alternative is chosen out of those offered, including lapses",
        ("place",),
    ),
}


@dataclass
class WorthProblem:
    """Data and settings of a fit, with density and Laplace grid, computed when needed."""

    variables: ClassVar[Mapping[str, Variable]] = _VARIABLES  # of the draws

    data: Any
    lapse: float
    has_ties: bool
    rule: str
    spread: float | None = None
    people: Any = None
    default_adjustment: str = ADJUSTED
    has_prior: bool = True

    def __post_init__(self) -> None:
        """Convert the data for the likelihood and build the density of the worths."""
        self.converted_data = convert_for_likelihood(self.data, self.rule)
        self.single_data = keep_single_choices(self.data)
        self.density: Density = build_density(
            self.converted_data, self.lapse, self.has_ties, self.rule, self.has_prior
        )

    @cached_property
    def marginal(self) -> Marginal:
        """Laplace approximations of the density on a grid of prior sds."""
        return Marginal(self.density, self.spread)

    @cached_property
    def respondents(self) -> RespondentAdjustment:
        """Correction for repeated answers of the same respondents, from their scores."""
        return build_adjustment(
            self.converted_data, self.marginal, self.people, self.default_adjustment
        )

    @cached_property
    def power_marginal(self) -> Marginal:
        """Laplace grid with the likelihood raised to the respondents' power."""
        dependence = self.respondents.power_dependence
        if dependence is None or dependence.power == 1.0:
            return self.marginal
        return Marginal(self.density.raise_to_power(dependence.power), self.spread)

    # Draws as a tree ------------------------------------------------------------------------------

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates of comparisons and of options."""
        return self.data.covariate_names

    @property
    def option_covariates(self) -> np.ndarray:
        """Covariates of options, (n_options, n_covariates); 0 for others."""
        return self.density.option_values

    def build_draws(self, points: np.ndarray, chains: int) -> WorthDraws:
        """Convert parameter vectors (size, n_draws) to named draws by chain, `WorthDraws`."""
        density = self.density
        beta = points[density.beta].T
        worths = points[density.worths] + self.option_covariates @ beta.T
        worths = worths - worths.mean(axis=0)
        nu = None
        if density.rows.has_ties:
            nu = np.exp(points[density.nu])[0]
        return WorthDraws(
            list(self.data.labels),
            worths.T,
            nu,
            beta,
            self.covariates,
            self.option_covariates,
            self.lapse,
            self.rule,
            chains,
        )

    def build_data_groups(self) -> StoredData:
        """Return the data as datasets of a posterior tree, by group name."""
        if not isinstance(self.single_data, Choices):
            return store_pairs(self.single_data, self.lapse, self.has_ties)
        stored_sets = store_sets(self.single_data, self.lapse)
        return stored_sets._replace(
            constants=stored_sets.constants | set_size_variables(self.single_data, self.rule)
        )

    def build_tree(
        self, points: np.ndarray, log_sds: np.ndarray, attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Build the posterior tree from parameter vectors and log prior sds.

        `points` is (chains, draws, size), `log_sds` (chains, draws, 4).
        """
        from thali._posterior.deferred_arrays import defer

        shape = points.shape[:2]
        density = self.density
        point_columns = points.reshape(-1, points.shape[2]).T
        spreads = Spreads(*np.exp(log_sds.reshape(-1, 4).T))
        draws = self.build_draws(point_columns, shape[0])
        stored_data = self.build_data_groups()
        option_labels = np.asarray(self.single_data.labels, dtype=str)
        log_likelihood = density.log_likelihoods(point_columns) + stored_data.log_constant
        arrays = {
            "log_worth": draws.log_worths,
            "spread": spreads.worths,
            "log_likelihood": log_likelihood,
        }
        coordinates: dict[str, Any] = {"option": option_labels}
        if draws.nu is not None:
            arrays["tie"] = draws.nu
        if self.covariates:
            arrays["covariate"] = draws.beta
            coordinates[COVARIATE] = np.asarray(self.covariates, dtype=str)
        arrays = {name: array.reshape(*shape, *array.shape[1:]) for name, array in arrays.items()}
        derived = _DerivedDraws(draws, self.single_data, self.has_ties, shape)
        n_pairs = count_pairs(self.single_data.n_options)
        if n_pairs <= MAX_PAIRS:
            arrays["choice_probability"] = defer((*shape, n_pairs), derived.compute_pairs)
            coordinates |= all_pair_coordinates(option_labels)
        has_questions = len(self.single_data.questions(self.has_ties).counts) <= MAX_PAIRS
        is_choice_of_one = isinstance(self.single_data, Choices) and self.single_data.worst is None
        if has_questions and is_choice_of_one:
            n_places = len(self.single_data.members)
            arrays["set_probability"] = defer((*shape, n_places), derived.compute_answers)
            coordinates |= member_coordinates(self.single_data)
        writer = self._write_draws(arrays, coordinates, stored_data)
        if has_questions:
            self._write_log_likelihoods(writer, derived, stored_data)
        writer.write_log_prior(self._log_priors(point_columns, spreads, shape), _NOTES)
        return writer.build(attributes)

    def _write_draws(
        self, arrays: dict[str, np.ndarray], coordinates: dict[str, Any], stored_data: StoredData
    ) -> DrawsWriter:
        """Begin a tree with draws (chain, draw, ...) and the data."""
        writer = DrawsWriter(build_dataset(arrays, self.variables, coordinates))
        writer.write_statistics({})
        writer.write_observed(stored_data.observed, stored_data.coordinates)
        constants = {"kind": stored_data.kind, **stored_data.constants}
        writer.write_constants(constants, stored_data.coordinates)
        return writer

    def _write_log_likelihoods(
        self, writer: DrawsWriter, derived: "_DerivedDraws", stored_data: StoredData
    ) -> None:
        """Write the pointwise log-likelihoods of the observed variable."""
        from thali._posterior.deferred_arrays import defer

        variable_name, last_dimension = next(
            (str(variable_name), values[0])
            for variable_name, values in stored_data.observed.items()
        )
        if isinstance(self.single_data, Choices):
            last_dimension = "set"
            n_observations = self.single_data.n_sets
        else:
            n_observations = self.single_data.n_pairs
        log_likelihoods = defer(
            (*derived.shape, n_observations),
            partial(derived.compute_log_likelihoods, stored_data.coefficients),
        )
        writer.write_log_likelihood(
            variable_name, (last_dimension,), log_likelihoods, stored_data.coordinates
        )

    def _log_priors(
        self, point_columns: np.ndarray, spreads: Spreads, shape: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """Return log prior densities (chains, draws) by variable name."""
        density = self.density
        log_prior_by_variable = density.log_prior_parts(point_columns, spreads)
        log_priors = {"log_worth": log_prior_by_variable["log_worth"]}
        if self.spread is None:
            log_priors["spread"] = density.log_spread_prior(WORTHS, np.log(spreads.worths))
        if self.covariates:
            log_priors["covariate"] = log_prior_by_variable["covariate"]
        if self.has_ties:
            log_priors["tie"] = log_prior_by_variable["tie"]
        return {
            name: np.asarray(densities).reshape(shape) for name, densities in log_priors.items()
        }


class _DerivedDraws(NamedTuple):
    """What follows from draws of worths, computed when it is read."""

    draws: WorthDraws
    data: Any  # with one choice in each answer
    has_ties: bool
    shape: tuple[int, ...]  # (chains, draws)

    def compute_pairs(self) -> np.ndarray:
        """Return the probability that the first of each pair is chosen, (chain, draw, pair)."""
        pairs = np.triu_indices(self.data.n_options, k=1)
        return self.draws.pair_probabilities(*pairs).reshape(*self.shape, -1)

    def compute_answers(self) -> np.ndarray:
        """Return probabilities of all answers to all questions, (chain, draw, answer)."""
        questions = slice(0, len(self.data.questions(self.has_ties).sizes))
        probabilities = self.draws.question_probabilities(self.data, self.has_ties)(questions)
        return probabilities.reshape(*self.shape, -1)

    def compute_log_likelihoods(self, coefficients: Any) -> np.ndarray:
        """Return log-likelihoods of sets, or of pairs with these `coefficients`."""
        questions = self.data.questions(self.has_ties)
        answers = self.compute_answers()
        log_likelihoods = questions.log_likelihoods(answers.reshape(-1, answers.shape[2]))
        if not isinstance(self.data, Choices):
            # a pair has a question for each distinct row of covariates
            question_pairs = self.data.cells.pair
            starts = np.searchsorted(question_pairs, np.arange(self.data.n_pairs))
            cell_coefficients = np.bincount(question_pairs, questions.log_coefficients())
            log_likelihoods = np.add.reduceat(log_likelihoods, starts, axis=1)
            log_likelihoods = log_likelihoods - cell_coefficients + coefficients
        return log_likelihoods.reshape(*self.shape, -1)


# Draws as chains, so that fits run, are stored and continue like all others ----------------------


class PointRecord(NamedTuple):
    """Recorded draws of parameter vectors and log prior sds, one row per draw."""

    points: np.ndarray  # (draws, size)
    logs: np.ndarray  # (draws, 4) log standard deviations

    @classmethod
    def empty(cls, draws: int, size: int) -> "PointRecord":
        """Return an empty record for `draws` parameter vectors."""
        return cls(np.zeros((draws, size)), np.zeros((draws, 4)))


class LatticeChain(IndependentDraws):
    """Independent draws from the Laplace grid, corrected for skewness."""

    block_size: ClassVar[int] = 1000
    record: PointRecord

    def __init__(self, problem: WorthProblem, draws: int, rng: np.random.Generator) -> None:
        self.problem = problem
        super().__init__(draws, rng)
        self.record = PointRecord.empty(draws, problem.density.size)

    def _draw_block(self, rng: np.random.Generator) -> PointRecord:
        """Draw a block of parameters and log sds, widened for dependent answers."""
        points, spreads = sample_posterior(self.problem.marginal, rng, self.block_size)
        # sweeps return another number of draws
        draw_indices = np.arange(self.block_size) * points.shape[1] // self.block_size
        points = points[:, draw_indices]
        marginal = self.problem.marginal
        score_variance = self.problem.respondents.adjusted_variance
        if score_variance is not None:
            points = widen_points(rng, marginal, score_variance, points, marginal.mean_mode).wide
        return PointRecord(points.T, np.log(np.array(spreads))[:, draw_indices].T)


class TrajectoryChain(FixedChain):
    """One Hamiltonian chain of parameters and prior sds."""

    _PARTS = ("state", "leap", "sweeps")

    state: ScaleState
    record: PointRecord

    def __init__(
        self,
        sampler: HamiltonianSampler,
        draws: int,
        tune: int,
        thin: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw the starting state and allocate the record."""
        super().__init__(draws, tune, thin)
        self.sampler = copy.copy(sampler)
        self.rng = rng
        self.state = sampler.draw_start(rng, 1)
        self.leap = np.array(sampler.step)
        self.record = PointRecord.empty(draws, sampler.density.size)

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        while self.sweeps < until:
            self.sampler.step = float(self.leap)
            self.state, acceptance = self.sampler.sweep(self.rng, self.state)
            self.sweeps += 1
            if self.sweeps <= self.tune:
                log_step_change = (float(acceptance[0]) - _TARGET_ACCEPTANCE) / math.sqrt(
                    self.sweeps + 10.0
                )
                self.leap = np.array(min(float(self.leap) * math.exp(log_step_change), 1.5))
            elif (self.sweeps - self.tune) % self.thin == 0:
                record_row = self.recorded - 1
                self.record.points[record_row] = self.state.points[:, 0]
                self.record.logs[record_row] = self.state.logs[:, 0]
