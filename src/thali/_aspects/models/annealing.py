"""The `annealing` method: the most probable features, the best of several annealed runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._inference.index_arithmetic import repeat_indices
from thali._inference.markov_chains import Run
from thali._inference.random_seeds import spawn_generators
from thali._model.answers_by_respondent import AnswersByRespondent
from thali._model.cluster_robust_variance import ScoreVariance, compute_score_variance
from thali._model.fitting_methods import refuse_chain_argument
from thali._people.people_argument import INDEPENDENT, chains_required_error
from thali.errors import ArgumentError, Setting

from ..chain_state import ALPHA, COLUMNS
from ..draws.feature_columns import FeatureColumns, concatenate_chain_columns
from ..draws.posterior_tree import build_datatree, compute_log_priors
from ..kernel_operations import is_exchangeable, keeps_empty
from ..likelihoods.similarity_residuals import CONSTANT, VARIANCE, arrange_squares
from ..maximum_likelihood.feature_likelihoods import (
    NO_COEFFICIENTS,
    build_feature_problem,
    find_weight_mode,
)
from ..priors.given_features import Given
from ..results.feature_set_search import (
    BestFeatureSet,
    FeatureSearchProblem,
    FeatureSets,
    compute_evidence,
    find_feature_sets,
    log_feature_gain,
    search_best_set,
)
from ..results.saved_posterior_layout import POINT, REACHED, RESTARTS, TEMPERED_LATER
from ..samplers.chains import AnnealedChain, FeatureChain
from ..samplers.default_sweeps import sweep_conjugate_jointly
from ..samplers.draw_record import RecordedDraws
from ..samplers.sampling_task import Likelihood, build_task, build_weight_prior
from .feature_fit import FeatureFit
from .sampling_engine import FeatureSamplingEngine

if TYPE_CHECKING:
    import xarray

    from ..samplers.chains import SamplingTask


RUNS_PER_CHAIN = 5  # annealed runs for each chain that `fit` would run
RUN_SWEEPS = 2000  # sweeps of each run
REACHED_NATS = 1.0  # a run that ends within this distance of the best one has reached it


class AnnealedFit(FeatureFit):
    """Fit by method "map": annealed runs, whose best state is the only draw."""

    first_draws = 1
    max_draws = 1

    def prepare(self, run: Run) -> None:
        """Plan the annealed runs for this kind of data."""
        self.run = run
        self._read_arguments(run)
        people = self.model.get_params()["people"]
        if people not in (None, INDEPENDENT):
            raise chains_required_error(people, self.model.method)
        fit_task = build_task(data=self.source, draws=1, tune=0, thin=1, **self.task_arguments)
        if self.task_arguments["tempering"] is not None:
            refuse_chain_argument("tempering")
        plan_runs, self.find_best = _SEARCHES[self.source.kind]
        self.task, self.chain_class, self.n_runs = plan_runs(fit_task, run.chains)
        self.is_compiled = self.task.kernel.is_compiled(self.task.model)

    def temper(self, n_sweeps: int) -> bool:
        """Return False: annealed runs end at temperature 1."""
        return False

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> list[FeatureChain]:
        """Return the annealed runs; their length does not depend on `draws`."""
        return [self.chain_class(self.task, rng) for rng in spawn_generators(seed, self.n_runs)]

    def build_tree(self, chains: Sequence[FeatureChain]) -> "xarray.DataTree":
        """Return the posterior tree whose only draw is the best state of all runs."""
        best_draw, n_reached = self.find_best(chains, self.source, self.task_arguments, self.task)
        attrs = {
            "thin": 1,
            "tuning_steps": self.task.tune,
            TEMPERED_LATER: 0,
            POINT: 1,
            RESTARTS: len(chains),
            REACHED: n_reached,
        }
        return build_datatree(
            [best_draw],
            self.source,
            self.task_arguments["likelihood"],
            is_alpha_learned=self.task.model.learn_alpha,
            attrs=attrs,
            task=self.task,
        )


class AnnealingEngine(FeatureSamplingEngine):
    """Engine that finds the most probable features by annealing: a posterior of one draw."""

    is_point = True
    fit_class = AnnealedFit

    def check_continuable(self) -> None:
        """Raise ArgumentError: annealed chains cannot be continued by `continue_fit`."""
        raise ArgumentError(
            "A fit with ", Setting("method", "map"), " has no draws to continue; fit again."
        )


def plan_similarity_runs(
    task: "SamplingTask", n_chains: int
) -> tuple["SamplingTask", type[FeatureChain], int]:
    """Return task, chain class and number of annealed runs for similarities."""
    task = replace(task.shorten(1, RUN_SWEEPS), kernel=sweep_conjugate_jointly)
    return task, AnnealedChain, RUNS_PER_CHAIN * n_chains


def find_best_end(
    chains: Sequence[FeatureChain], data: Any, task_arguments: dict[str, Any], task: "SamplingTask"
) -> tuple[RecordedDraws, int]:
    """Return the most probable end of all runs after hill climbing, and how many reached it."""
    finished_chains = [chain for chain in chains if chain.recorded]
    sigma2 = float(np.mean([chain.cache.real[VARIANCE] for chain in finished_chains]))
    alpha = float(np.mean([chain.state.real[ALPHA] for chain in finished_chains]))
    constants = np.array([chain.cache.real[CONSTANT] for chain in finished_chains])
    shape, rate = task_arguments["weight_prior"]
    features_by_run = [_read_shared_features(chain) for chain in finished_chains]
    if is_exchangeable(task.model.prior):
        similarity_matrix, judgement_matrix, _ = arrange_squares(data)
        first_state = finished_chains[0].state
        log_rate_by_size = first_state.by_size.copy()
        keeps_empty_features = bool(keeps_empty(task.model.prior))
        log_alpha = 0.0
        if not keeps_empty_features:
            log_alpha = float(np.log(alpha))
        climb_problem = ClimbProblem(
            similarity_matrix,
            judgement_matrix,
            log_rate_by_size,
            log_alpha,
            sigma2,
            float(shape),
            float(rate),
            keeps_empty_features,
        )
        features_by_run = [
            climb_features(owners, weights, float(w0), climb_problem)
            for (owners, weights), w0 in zip(features_by_run, constants, strict=True)
        ]
    feature_columns = _stack_columns(features_by_run, data.n_options)
    likelihood = task_arguments["likelihood"]
    search_problem = FeatureSearchProblem(
        first=data.first,
        second=data.second,
        values=data.values,
        judgements=data.judgements,
        n=data.n_options,
        sigma2=sigma2,
        alpha=alpha,
        prior=task.prior,
        shape=float(shape),
        rate=float(rate),
        constant=constants,
        with_constant=bool(likelihood.constant),
    )
    feature_sets = find_feature_sets(feature_columns, data.n_options)
    best_set = search_best_set("map-features", feature_sets, search_problem)
    n_reached = _count_reached(best_set, feature_sets, search_problem)
    return _build_best_draw(
        best_set, feature_sets.patterns, data, alpha, sigma2, likelihood.first_variance(data)
    ), n_reached


def _count_reached(
    best_set: BestFeatureSet, feature_sets: FeatureSets, search_problem: FeatureSearchProblem
) -> int:
    """Return how many runs reached the best feature set."""
    evidence_by_set = compute_evidence(
        feature_sets, search_problem, np.arange(len(feature_sets.counts))
    )
    return int(
        sum(
            evidence_by_set[int(number)] > evidence_by_set[best_set.number] - REACHED_NATS
            for number in feature_sets.of_draw
        )
    )


def _read_shared_features(chain: FeatureChain) -> tuple[np.ndarray, np.ndarray]:
    """Return owners and weights of the features with at least two owners."""
    b = chain.state
    n_columns = int(b.whole[COLUMNS])
    is_shared = b.m[:n_columns] >= 2
    return b.Z[:n_columns, :-1][is_shared].astype(bool), b.w[:n_columns][is_shared].copy()


def _stack_columns(
    features_by_run: list[tuple[np.ndarray, np.ndarray]], n_options: int
) -> FeatureColumns:
    """Return the features of all runs as draws, one draw per run."""
    owners = np.concatenate([owners for owners, _ in features_by_run])
    return FeatureColumns(
        n_features=np.array([len(weights) for _, weights in features_by_run]),
        weights=np.concatenate([weights for _, weights in features_by_run]),
        sizes=owners.sum(axis=1),
        owners=np.nonzero(owners)[1],
        unique_weights=np.zeros((len(features_by_run), n_options)),
    )


def _build_best_draw(
    best_set: BestFeatureSet,
    patterns: np.ndarray,
    data: Any,
    alpha: float,
    sigma2: float,
    first_variance: float,
) -> RecordedDraws:
    """Return the best feature set as the only draw of a chain."""
    owners = np.repeat(patterns[best_set.patterns], best_set.copies, axis=0)
    weights = np.repeat(best_set.weights / best_set.copies, best_set.copies)
    owns_both = (owners[:, data.first] & owners[:, data.second]).astype(float)
    residuals = data.values - best_set.constant - weights @ owns_both
    squared_residuals = float(data.judgements @ residuals**2)
    return RecordedDraws(
        alpha=np.array([alpha]),
        log_likelihood=np.array(
            [-0.5 * (squared_residuals / sigma2 + data.n_pairs * np.log(sigma2 / first_variance))]
        ),
        unique_weights=np.zeros((1, data.n_options)),
        n_features=np.array([len(owners)]),
        weights=weights,
        sizes=owners.sum(1).astype(np.int64),
        owners=np.nonzero(owners)[1].astype(np.int32),
        extra={"constant": np.array([best_set.constant]), "sigma": np.array([np.sqrt(sigma2)])},
    )


# The most probable features of triplets among the states of several runs --------------------------


TRIPLET_RUNS_PER_CHAIN = 2  # annealed runs for each chain that `fit` would run
# sweeps of each run, and the states at its end among which the best is chosen
TRIPLET_SWEEPS = 500
TRIPLET_DRAWS = 50
# the same for a run that begins near features of many objects; one run per chain
STARTED_SWEEPS = 40
STARTED_DRAWS = 20


def plan_triplet_runs(
    task: "SamplingTask", n_chains: int
) -> tuple["SamplingTask", type[FeatureChain], int]:
    """Return task, chain class and number of annealed runs for triplets."""
    n_sweeps = TRIPLET_SWEEPS
    n_draws = TRIPLET_DRAWS
    has_start = task.sample_start is not None
    if has_start:
        n_sweeps = STARTED_SWEEPS
        n_draws = STARTED_DRAWS
    task = task.shorten(n_draws, n_sweeps - n_draws)
    if has_start:
        return task, FeatureChain, n_chains
    return task, AnnealedChain, TRIPLET_RUNS_PER_CHAIN * n_chains


def find_best_state(
    chains: Sequence[FeatureChain], data: Any, task_arguments: dict[str, Any], task: "SamplingTask"
) -> tuple[RecordedDraws, int]:
    """Return the state of largest joint density in all runs, and how many reached it."""
    best_states = [
        _find_best_draw(chain.draws, data, task_arguments["likelihood"], task)
        for chain in chains
        if chain.recorded
    ]
    best_state = max(best_states, key=lambda state: state[0])[1]
    owners = _list_shared_owners(best_state)
    return best_state, sum(_list_shared_owners(draw) == owners for _, draw in best_states)


def _find_best_draw(
    draws: RecordedDraws, data: Any, likelihood: Likelihood, task: "SamplingTask"
) -> tuple[float, RecordedDraws]:
    """Return the largest log joint density of a run's states, and that state."""
    feature_columns = concatenate_chain_columns([draws], len(draws.alpha))
    log_priors = compute_log_priors(
        task, likelihood, data, feature_columns, draws.alpha, draws.extra
    )
    log_joint = draws.log_likelihood + np.sum(
        [np.broadcast_to(part, draws.alpha.shape) for part in log_priors.values()], axis=0
    )
    draw_index = int(np.argmax(log_joint))
    return float(log_joint[draw_index]), _select_only_draw(
        draws, feature_columns.select_draw(draw_index), draw_index
    )


def _select_only_draw(
    draws: RecordedDraws, feature_columns: FeatureColumns, draw_index: int
) -> RecordedDraws:
    """Return one draw of a chain as a chain of one draw."""
    return RecordedDraws(
        alpha=draws.alpha[draw_index : draw_index + 1],
        log_likelihood=draws.log_likelihood[draw_index : draw_index + 1],
        unique_weights=feature_columns.unique_weights,
        n_features=feature_columns.n_features,
        weights=feature_columns.weights,
        sizes=feature_columns.sizes,
        owners=feature_columns.owners,
        extra={name: array[draw_index : draw_index + 1] for name, array in draws.extra.items()},
    )


def _list_shared_owners(draw: RecordedDraws) -> list[tuple[int, ...]]:
    """Return the owners of every feature with several owners, sorted."""
    owners_by_feature = np.split(draw.owners, np.cumsum(draw.sizes)[:-1])
    return sorted(tuple(members.tolist()) for members in owners_by_feature if len(members) > 1)


# Hill climbing to the nearest mode: flips of single owners, and deaths, that raise the probability
#
# Weights are integrated out one at a time: a feature of A judgements with unexplained sum B raises
# the log-likelihood by `log_feature_gain`, so that a feature stays if log alpha, its log rate and
# this gain add up to more than 0.


MAX_PASSES = 50  # over all features; a dozen suffice usually


@dataclass(frozen=True)
class ClimbProblem:
    """Similarities, constant prior and parameters of a hill climb over owners and weights."""

    value: np.ndarray  # (n, n) similarities, 0 if not measured
    measured: np.ndarray  # (n, n) judgements
    log_rate: np.ndarray  # (n + 1,) of the prior, by number of owners
    log_alpha: float
    sigma2: float
    shape: float
    rate: float
    keeps: bool  # whether the number of features is fixed

    def gain(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return a feature's log likelihood ratio, its weight integrated out, from A and B."""
        return log_feature_gain(A, B, self.sigma2, self.shape, self.rate)

    def weight(self, A: float, B: float) -> float:
        """Return the most probable weight of a feature, from its sums A and B."""
        linear_term = B - self.rate * self.sigma2
        log_term = (self.shape - 1.0) * self.sigma2
        if linear_term <= 0.0:
            return 0.0
        return max(
            0.0,
            float(linear_term + np.sqrt(max(linear_term * linear_term + 4.0 * A * log_term, 0.0)))
            / (2.0 * A),
        )


def climb_features(
    owners: np.ndarray, weights: np.ndarray, constant: float, climb_problem: ClimbProblem
) -> tuple[np.ndarray, np.ndarray]:
    """Improve features and weights by hill climbing; return owners (K, n) and weights."""
    z = owners.astype(float)
    w = weights.astype(float)
    residuals = (climb_problem.value - constant - (z.T * w) @ z) * climb_problem.measured
    for _ in range(MAX_PASSES):
        has_changed = False
        has_owners = np.ones(len(z), bool)
        for k in np.argsort(w, kind="stable"):
            residuals += w[k] * np.outer(z[k], z[k]) * climb_problem.measured
            has_changed |= _flip_best_owners(z[k], residuals, climb_problem)
            A = 0.5 * z[k] @ climb_problem.measured @ z[k]
            B = 0.5 * z[k] @ residuals @ z[k]
            n_owners = int(z[k].sum())
            if (
                not climb_problem.keeps
                and climb_problem.log_alpha
                + climb_problem.log_rate[n_owners]
                + climb_problem.gain(A, B)
                < 0.0
            ):
                has_owners[k] = False
                has_changed = True
                w[k] = 0.0
                continue
            w[k] = climb_problem.weight(float(A), float(B))
            residuals -= w[k] * np.outer(z[k], z[k]) * climb_problem.measured
        z = z[has_owners]
        w = w[has_owners]
        if not has_changed:
            break
    return z.astype(bool), w


def _flip_best_owners(z: np.ndarray, residuals: np.ndarray, climb_problem: ClimbProblem) -> bool:
    """Flip owners of one feature, best first, while density rises; return whether any."""
    # `residuals` exclude the feature. Return whether an owner was flipped.
    has_flipped = False
    residual_sums = residuals @ z
    judgement_sums = climb_problem.measured @ z
    while True:
        A = 0.5 * z @ judgement_sums
        B = 0.5 * z @ residual_sums
        n_owners = int(z.sum())
        toggle_sign = 1.0 - 2.0 * z
        new_n_owners = n_owners + toggle_sign.astype(int)
        gains = climb_problem.gain(
            A + toggle_sign * judgement_sums, B + toggle_sign * residual_sums
        ) - climb_problem.gain(np.array(A), np.array(B))
        gains += climb_problem.log_rate[new_n_owners] - climb_problem.log_rate[n_owners]
        gains[new_n_owners < 2] = -np.inf
        best_option = int(np.argmax(gains))
        if not gains[best_option] > 1e-9:
            return has_flipped
        z[best_option] += toggle_sign[best_option]
        residual_sums += toggle_sign[best_option] * residuals[best_option]
        judgement_sums += toggle_sign[best_option] * climb_problem.measured[best_option]
        has_flipped = True


# The features for which the design effect is estimated --------------------------------------------


def find_probable_features(data: Any, task_arguments: dict[str, Any]) -> np.ndarray:
    """Return given features, or the most probable ones of annealed runs, (K, n).

    The random stream is fixed, so that the design effect is a function of data and prior.
    """
    if isinstance(prior := task_arguments["prior"], Given):
        return prior.matrix.T.astype(bool)
    task_arguments = task_arguments | {"tempering": False}
    plan_runs, find_best = _SEARCHES[data.kind]
    fit_task = build_task(data=data, draws=1, tune=0, thin=1, **task_arguments)
    task, chain_class, n_runs = plan_runs(fit_task, 1)
    task = replace(task, kernel=fit_task.kernel)  # the kernel of the fit, which is already compiled
    chains = [chain_class(task, rng) for rng in spawn_generators(0, n_runs)]
    for chain in chains:
        chain.run_until(task.tune + task.draws)
    best_draw, _ = find_best(chains, data, task_arguments, task)
    owners = np.zeros((len(best_draw.sizes), data.n_options), bool)
    owners[repeat_indices(best_draw.sizes), best_draw.owners] = True
    return owners


def estimate_score_variance(
    data: Any, task_arguments: dict[str, Any], clusters: AnswersByRespondent
) -> ScoreVariance | None:
    """Return the variance of respondents' scores at the weights' mode; None if none repeat."""
    # without repeated answers, the search for features would be wasted
    if clusters.n_answers.max() < 2.0:
        return None
    likelihood = task_arguments["likelihood"]
    owners = find_probable_features(data, task_arguments)
    weight_likelihood = build_feature_problem(data, owners, likelihood)
    prior = build_weight_prior(task_arguments["weight_prior"], likelihood)
    return compute_score_variance(
        weight_likelihood,
        clusters,
        find_weight_mode(weight_likelihood, prior.shape, prior.rate),
        NO_COEFFICIENTS,
    )


# For each data kind: the plan of annealed runs, and the search for the best end
_SEARCHES = {
    SIMILARITIES: (plan_similarity_runs, find_best_end),
    TRIPLETS: (plan_triplet_runs, find_best_state),
}

ANNEALING = AnnealingEngine()
