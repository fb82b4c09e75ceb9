"""The most probable features, as the best of several annealed runs: one answer in seconds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.groups import GroupedData
from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._inference.chains import Run
from thali._inference.seeds import spawn_generators
from thali._model.clusters import AnswersByRespondent
from thali._model.engine import refuse_chain_argument
from thali._model.respondent_scores import ScoreVariance, compute_score_variance
from thali._model.sampling import Sampling
from thali._people.populations import INDEPENDENT, chains_required
from thali.errors import ArgumentError, Setting

from ..answers.set_search import (
    BestFeatureSet,
    FeatureSearchProblem,
    compute_evidence,
    find_feature_sets,
    log_feature_gain,
    search_best_set,
)
from ..answers.stored_layout import POINT, REACHED, RESTARTS, TEMPERED_LATER
from ..draws.columns import FeatureColumns, columns_of_chains
from ..draws.tree import log_prior_of
from ..likelihoods.residuals import CONSTANT, VARIANCE, arrange_squares
from ..maximum_likelihood.feature_problems import NO_COEFFICIENTS, feature_problem, weights_at_mode
from ..operations import is_exchangeable, keeps_empty
from ..priors.given import Given
from ..samplers.chains import AnnealedChain, FeatureChain
from ..samplers.draw_record import ChainDraws
from ..samplers.recommended import sweep_conjugate_jointly
from ..samplers.task import build_task, build_weight_prior
from ..state import ALPHA, COLUMNS
from .engines import ByChains

if TYPE_CHECKING:
    import xarray

    from thali._posterior.convergence import ConvergenceCheck

    from ..samplers.chains import SamplingTask


FOR_EACH_CHAIN = 5  # annealed runs for each chain that `fit` would run
SWEEPS = 2000  # of each
NEAR = 1.0  # nats below the best answer: a run that ends there has reached it


class AnnealingEngine(ByChains):
    """The most probable features, of several annealed runs: a posterior of a single draw."""

    is_point = True

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        parts = model._parts(source)
        if model.people not in (None, INDEPENDENT):
            raise chains_required(model.people, model.method)
        return sampling_of_point(
            source, run, parts, build_task(data=source, draws=1, tune=0, thin=1, **parts)
        )

    def check_continuable(self) -> None:
        """Refuse further draws."""
        raise ArgumentError(
            Setting("method", "map"), " has no draws, so it cannot be continued; fit again."
        )

    def convergence(self, model: Any) -> "ConvergenceCheck":
        from ..answers.fit_quality import build_point_check

        return build_point_check(model._view)


def sampling_of_point(
    source: Any, run: Run, parts: dict[str, Any], task: "SamplingTask"
) -> Sampling[FeatureChain]:
    """The annealed runs for these data, and their best end as a posterior of a single draw."""
    if parts["tempering"] is not None:
        refuse_chain_argument("tempering")
    runs_of, best = _OF_KIND[source.kind]
    task, kind, runs = runs_of(task, run.chains)

    def tree(chains: Sequence[FeatureChain]) -> "xarray.DataTree":
        from ..draws.tree import to_datatree

        draw, reached = best(chains, source, parts, task)
        attrs = {"thin": 1, "tuning_steps": task.tune, TEMPERED_LATER: 0, POINT: 1}
        attrs |= {RESTARTS: len(chains), REACHED: reached}
        learned = task.model.learn_alpha
        return to_datatree(
            [draw], source, parts["likelihood"], learned_alpha=learned, attrs=attrs, task=task
        )

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: [kind(task, rng) for rng in spawn_generators(seed, runs)],
        tree=tree,
        build_attributes=lambda tree, chains, seed: {},
        is_compiled=task.kernel.is_compiled(task.model),
        max_draws=1,
        first_draws=1,
    )


def _runs_of(task: "SamplingTask", chains: int) -> tuple["SamplingTask", type[FeatureChain], int]:
    """What an annealed run of similarities carries out, its kind, and how many there are."""
    task = replace(task, kernel=sweep_conjugate_jointly, draws=1, tune=SWEEPS, thin=1, pilot=0)
    task = replace(task, temperatures=(1.0,), lengthens=False, anneals=False)
    return task, AnnealedChain, FOR_EACH_CHAIN * chains


def best_end(
    chains: Sequence[FeatureChain], data: Any, parts: dict[str, Any], task: "SamplingTask"
) -> tuple[ChainDraws, int]:
    """The most probable features in which a chain ended, after a quick climb, and how many ended as
    well."""
    ended = [chain for chain in chains if chain.recorded]
    sigma2 = float(np.mean([chain.cache.real[VARIANCE] for chain in ended]))
    alpha = float(np.mean([chain.state.real[ALPHA] for chain in ended]))
    constant = np.array([chain.cache.real[CONSTANT] for chain in ended])
    shape, rate = parts["weight_prior"]
    found = [_end(chain) for chain in ended]
    if is_exchangeable(task.model.prior):
        value, measured, _ = arrange_squares(data)
        state = ended[0].state
        log_rate, keeps = state.by_size.copy(), bool(keeps_empty(task.model.prior))
        log_alpha = 0.0 if keeps else float(np.log(alpha))
        at = Landscape(
            value, measured, log_rate, log_alpha, sigma2, float(shape), float(rate), keeps
        )
        found = [climbed(*each, float(w0), at) for each, w0 in zip(found, constant, strict=True)]
    columns = _columns(found, data.n_options)
    likelihood = parts["likelihood"]
    problem = FeatureSearchProblem(
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
        constant=constant,
        with_constant=bool(likelihood.constant),
    )
    sets = find_feature_sets(columns, data.n_options)
    best = search_best_set("map-features", sets, problem)
    evidence = compute_evidence(sets, problem, np.arange(len(sets.counts)))
    reached = int(
        sum(evidence[int(number)] > evidence[best.number] - NEAR for number in sets.of_draw)
    )
    return _draw(best, sets.patterns, data, alpha, sigma2, likelihood.first_variance(data)), reached


def _end(chain: FeatureChain) -> tuple[np.ndarray, np.ndarray]:
    """Owners and weights of the features that two objects or more own."""
    b = chain.state
    count = int(b.whole[COLUMNS])
    shared = b.m[:count] >= 2
    return b.Z[:count, :-1][shared].astype(bool), b.w[:count][shared].copy()


def _columns(found: list[tuple[np.ndarray, np.ndarray]], n: int) -> FeatureColumns:
    """The features of every run as those of draws."""
    ends = [
        ChainDraws(
            alpha=np.ones(1),
            log_likelihood=np.zeros(1),
            unique_weights=np.zeros((1, n)),
            n_features=np.array([len(owners)]),
            weights=weights,
            sizes=owners.sum(1).astype(np.int64),
            owners=np.nonzero(owners)[1].astype(np.int32),
        )
        for owners, weights in found
    ]
    return columns_of_chains(ends, 1)


def _draw(
    best: BestFeatureSet,
    patterns: np.ndarray,
    data: Any,
    alpha: float,
    sigma2: float,
    first_variance: float,
) -> ChainDraws:
    """The answer as the only draw of a chain; copies of a feature share its weight."""
    owners = np.repeat(patterns[best.patterns], best.copies, axis=0)
    weights = np.repeat(best.weights / best.copies, best.copies)
    inside = (owners[:, data.first] & owners[:, data.second]).astype(float)
    rest = data.values - best.constant - weights @ inside
    squares = float(data.judgements @ rest**2)
    return ChainDraws(
        alpha=np.array([alpha]),
        log_likelihood=np.array(
            [-0.5 * (squares / sigma2 + data.n_pairs * np.log(sigma2 / first_variance))]
        ),
        unique_weights=np.zeros((1, data.n_options)),
        n_features=np.array([len(owners)]),
        weights=weights,
        sizes=owners.sum(1).astype(np.int64),
        owners=np.nonzero(owners)[1].astype(np.int32),
        extra={"constant": np.array([best.constant]), "sigma": np.array([np.sqrt(sigma2)])},
    )


# The most probable features of triplets that several runs passed through --------------------------


RUNS_OF_TRIPLETS = 2  # annealed runs for each chain that `fit` would run
# of each run; of these the last ones, among which the best is taken
SWEEPS_OF_TRIPLETS, LOOKED_AT = 500, 50
# of a run that begins near features of many objects: one for each chain
SWEEPS_NEAR, LOOKED_AT_NEAR = 40, 20


def runs_of_triplets(
    task: "SamplingTask", chains: int
) -> tuple["SamplingTask", type[FeatureChain], int]:
    """What a run carries out, its kind, and how many there are where `fit` would run that many
    chains."""
    near = task.sample_start is not None
    sweeps, draws = (SWEEPS_NEAR, LOOKED_AT_NEAR) if near else (SWEEPS_OF_TRIPLETS, LOOKED_AT)
    task = replace(
        task,
        draws=draws,
        tune=sweeps - draws,
        thin=1,
        temperatures=(1.0,),
        lengthens=False,
        pilot=0,
    )
    return (
        (task, FeatureChain, chains) if near else (task, AnnealedChain, RUNS_OF_TRIPLETS * chains)
    )


def best_state(
    chains: Sequence[FeatureChain], data: Any, parts: dict[str, Any], task: "SamplingTask"
) -> tuple[ChainDraws, int]:
    """The state of the largest joint density, and how many runs have the same features in their own
    best state."""
    found = [
        _best(chain.draws, data, parts["likelihood"], task) for chain in chains if chain.recorded
    ]
    best = max(found, key=lambda each: each[0])[1]
    wanted = _shared(best)
    return best, sum(_shared(draw) == wanted for _, draw in found)


def _best(
    draws: ChainDraws, data: Any, likelihood: Any, task: "SamplingTask"
) -> tuple[float, ChainDraws]:
    """The log joint density of the best state of a run, and the state as the only draw of a
    chain."""
    columns = columns_of_chains([draws], len(draws.alpha))
    prior = log_prior_of(task, likelihood, data, columns, draws.alpha, draws.extra)
    joint = draws.log_likelihood + np.sum(
        [np.broadcast_to(part, draws.alpha.shape) for part in prior.values()], axis=0
    )
    at = int(np.argmax(joint))
    return float(joint[at]), _alone(draws, columns.at(at), at)


def _alone(draws: ChainDraws, columns: FeatureColumns, at: int) -> ChainDraws:
    """One draw of a chain as its only one."""
    return ChainDraws(
        alpha=draws.alpha[at : at + 1],
        log_likelihood=draws.log_likelihood[at : at + 1],
        unique_weights=columns.unique_weights,
        n_features=columns.n_features,
        weights=columns.weights,
        sizes=columns.sizes,
        owners=columns.owners,
        extra={name: values[at : at + 1] for name, values in draws.extra.items()},
    )


def _shared(draw: ChainDraws) -> list[tuple[int, ...]]:
    """The owners of every feature that two objects or more own, in a fixed order."""
    owners = np.split(draw.owners, np.cumsum(draw.sizes)[:-1])
    return sorted(tuple(each.tolist()) for each in owners if len(each) > 1)


# The nearest most probable set of features: toggles of single owners, and deaths, that raise its
# probability
#
# Weights are integrated out one at a time: a feature of A judgements with unexplained sum B raises
# the likelihood by `feature_gain`, so that a feature is kept where the logarithms of alpha, its
# rate and that gain add up to more than 0.


MAX_PASSES = 50  # over all features; a dozen are usual


@dataclass(frozen=True)
class Landscape:
    """Data and prior of a climb, with everything held fixed but owners and weights."""

    value: np.ndarray  # (n, n) similarities, 0 where there is none
    measured: np.ndarray  # (n, n) judgements
    log_rate: np.ndarray  # (n + 1,) of the prior, by number of owners
    log_alpha: float
    sigma2: float
    shape: float
    rate: float
    keeps: bool  # whether the number of features is fixed

    def gain(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return log_feature_gain(A, B, self.sigma2, self.shape, self.rate)

    def weight(self, A: float, B: float) -> float:
        """The most probable weight of a feature."""
        g, p = B - self.rate * self.sigma2, (self.shape - 1.0) * self.sigma2
        return (
            max(0.0, float(g + np.sqrt(max(g * g + 4.0 * A * p, 0.0))) / (2.0 * A))
            if g > 0.0
            else 0.0
        )


def climbed(
    owners: np.ndarray, weights: np.ndarray, constant: float, at: Landscape
) -> tuple[np.ndarray, np.ndarray]:
    """Owners bool (features, n) and weights after the climb."""
    z, w = owners.astype(float), weights.astype(float)
    rest = (at.value - constant - (z.T * w) @ z) * at.measured
    for _ in range(MAX_PASSES):
        changed, kept = False, np.ones(len(z), bool)
        for k in np.argsort(w, kind="stable"):
            rest += w[k] * np.outer(z[k], z[k]) * at.measured
            changed |= _toggle_while_better(z[k], rest, at)
            A, B = 0.5 * z[k] @ at.measured @ z[k], 0.5 * z[k] @ rest @ z[k]
            size = int(z[k].sum())
            if not at.keeps and at.log_alpha + at.log_rate[size] + at.gain(A, B) < 0.0:
                kept[k], changed, w[k] = False, True, 0.0
                continue
            w[k] = at.weight(float(A), float(B))
            rest -= w[k] * np.outer(z[k], z[k]) * at.measured
        z, w = z[kept], w[kept]
        if not changed:
            break
    return z.astype(bool), w


def _toggle_while_better(z: np.ndarray, rest: np.ndarray, at: Landscape) -> bool:
    """Toggle the best owner of a feature, time and again, while that raises the probability; `rest`
    is without it."""
    toggled = False
    pull, ties = rest @ z, at.measured @ z
    while True:
        A, B, size = 0.5 * z @ ties, 0.5 * z @ pull, int(z.sum())
        sign = 1.0 - 2.0 * z
        after = size + sign.astype(int)
        better = at.gain(A + sign * ties, B + sign * pull) - at.gain(np.array(A), np.array(B))
        better += at.log_rate[after] - at.log_rate[size]
        better[after < 2] = -np.inf
        best = int(np.argmax(better))
        if not better[best] > 1e-9:
            return toggled
        z[best] += sign[best]
        pull += sign[best] * rest[best]
        ties += sign[best] * at.measured[best]
        toggled = True


# The features of which the design effect of people's answers is meant -----------------------------


def probable_features(data: Any, parts: dict[str, Any]) -> np.ndarray:
    """Those that are given, or the most probable ones that annealed runs as of one chain find
    (features, objects).

    The stream is fixed: what is made of people is a function of data and prior.
    """
    if isinstance(prior := parts["prior"], Given):
        return prior.matrix.T.astype(bool)
    # those of every group; equal ones count once
    if isinstance(data, GroupedData) and not data.add_up:
        return np.concatenate([probable_features(part, parts) for part in data.data])
    told = data.pooled() if isinstance(data, GroupedData) else data
    parts = parts | {"tempering": False}
    runs_of, best = _OF_KIND[told.kind]
    own = build_task(data=told, draws=1, tune=0, thin=1, **parts)
    task, kind, runs = runs_of(own, 1)
    task = replace(task, kernel=own.kernel)  # that of the fit, so that no other is compiled
    chains = [kind(task, rng) for rng in spawn_generators(0, runs)]
    for chain in chains:
        chain.run_until(task.tune + task.draws)
    draw, _ = best(chains, told, parts, task)
    owners = np.zeros((len(draw.sizes), told.n_options), bool)
    owners[np.repeat(np.arange(len(draw.sizes)), draw.sizes), draw.owners] = True
    return owners


def feature_scores(
    data: Any, parts: dict[str, Any], known: list[tuple[Any, AnswersByRespondent]]
) -> list[ScoreVariance]:
    """Variances of respondents' scores for the data of each group; none where nobody answered
    twice."""
    if (
        max(clusters.n_answers.max() for _, clusters in known) < 2.0
    ):  # features take a while to find
        return []
    owners = probable_features(data, parts)
    return [scores_of_features(part, clusters, parts, owners) for part, clusters in known]


def scores_of_features(
    data: Any, clusters: AnswersByRespondent, parts: dict[str, Any], owners: np.ndarray
) -> ScoreVariance:
    """Return the variance of respondents' scores at the mode of the weights of features."""
    likelihood = parts["likelihood"]
    pose, prior = (
        feature_problem(data, owners, likelihood),
        build_weight_prior(parts["weight_prior"], likelihood),
    )
    return compute_score_variance(
        pose, clusters, weights_at_mode(pose, prior.shape, prior.rate), NO_COEFFICIENTS
    )


# Of each kind of data what an annealed run carries out, and how the best end is found.
_OF_KIND = {
    SIMILARITIES: (_runs_of, best_end),
    TRIPLETS: (runs_of_triplets, best_state),
}

ANNEALING = AnnealingEngine()
