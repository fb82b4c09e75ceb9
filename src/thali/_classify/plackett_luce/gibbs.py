"""Draws from the posterior of Plackett–Luce regression: chains in threads, each with its own random
stream."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import positive, refuse_endless
from thali._arguments import whole as integer  # which no kernel takes for `state.whole`
from thali._compile.jit import compiled, scalar, vectorised
from thali._inference.chains import RowChain
from thali._inference.numerics.decisions import draw_index
from thali._inference.seeds import spawn_generators
from thali.errors import Argument, ArgumentError

from .state import (
    ACCEPTED,
    FLOOR,
    KEPT,
    LOG_A,
    LOG_LIKELIHOOD,
    LOG_MASS,
    STEP,
    SWEEPS,
    TRIED,
    ClassRows,
    WeightPrior,
    WeightState,
    block_dots,
    class_rows,
    empty_draws,
    keep_if_due,
    log_probability,
    normalise,
    state_from,
)
from .sweep import recommended

# Hamiltonian Monte Carlo on ln λ, for a fixed shape a ---------------------------------------------
#
# U(x) = −a Σ x_kj + b Σ e^{x_kj} − log-likelihood, x = ln λ, ∂U/∂x_kj = −a + λ_kj (b − R_kj + s_j)
#
# The number of leapfrog steps is drawn afresh each time, the step comes from dual averaging
# (Hoffman & Gelman 2014) and the diagonal mass from the variances during tuning.


# leapfrog steps of a trajectory; with 6, 10 or 20 there were fewer effective draws a second
LONGEST = 15
# shares of tuning after which the mass is set from the draws since the last
_WINDOWS = (0.1, 0.2, 0.35, 0.6, 0.9)
_TARGET = 0.65  # target acceptance probability
_TIME, _AVERAGE, _CENTRE, _ERROR, _SEEN, ACCEPTANCE = range(6)  # in Motion.real


class WeightMotion(NamedTuple):
    """Position, momentum and adaptation; all arrays but the first are (K, p)."""

    # (6,) of dual averaging: time, averaged ln step, centre, mean error; draws in mean and spread;
    real: np.ndarray
    # sum of acceptance probabilities since tuning ended
    at: np.ndarray  # ln λ
    force: np.ndarray  # −∂U/∂x
    new: np.ndarray
    new_force: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray  # the inverse mass
    mean: np.ndarray
    spread: np.ndarray
    R: np.ndarray
    s: np.ndarray  # (p,)


def motion_from(state: WeightState) -> WeightMotion:
    shape = state.log_weights.shape
    at = state.log_weights + state.real[LOG_MASS]
    motion = WeightMotion(
        real=np.zeros(6),
        at=at,
        force=np.zeros(shape),
        new=np.zeros(shape),
        new_force=np.zeros(shape),
        momentum=np.zeros(shape),
        variance=np.ones(shape),
        mean=np.zeros(shape),
        spread=np.zeros(shape),
        R=np.zeros(shape),
        s=np.zeros(shape[1]),
    )
    state.real[STEP] = 0.1
    _restart(motion, state.real)
    return motion


@scalar
def _restart(motion: Any, real: Any) -> None:
    motion.real[_TIME] = motion.real[_ERROR] = 0.0
    motion.real[_AVERAGE] = math.log(real[STEP])
    motion.real[_CENTRE] = math.log(10.0 * real[STEP])


@vectorised
def _add_sums(
    W: Any, b: Any, k: Any, size: Any, of_class: Any, of_all: Any, R: Any, s: Any
) -> None:
    """Add W / T and W / S of the rows of a block, given 1 / T and 1 / S."""
    for j in range(W.shape[1]):
        own = 0.0
        every = 0.0
        for r in range(size):
            own += W[b, j, r] * of_class[b, r]
            every += W[b, j, r] * of_all[b, r]
        R[k, j] += own
        s[j] += every


@scalar
def _potential(rows: Any, prior: Any, a: Any, at: Any, force: Any, state: Any, motion: Any) -> Any:
    """U and the log-likelihood at a position, and the force there; weights and sums of the state
    are overwritten."""
    classes, p = at.shape
    total = 0.0
    for k in range(classes):
        for j in range(p):
            state.log_weights[k, j] = at[k, j]
            motion.R[k, j] = 0.0
            total -= a * at[k, j]
    for j in range(p):
        motion.s[j] = 0.0
    log_mass = normalise(state.log_weights, state.weights, state.totals)
    log_likelihood = 0.0
    for b in range(rows.sizes.shape[0]):
        k, size = rows.of_class[b], rows.sizes[b]
        block_dots(rows.W, state.weights, state.totals, b, k, size, state.of_class, state.of_all)
        log_likelihood += log_probability(state.of_class, state.of_all, b, size)
        for r in range(size):
            state.of_class[b, r] = 1.0 / max(state.of_class[b, r], FLOOR)
            state.of_all[b, r] = 1.0 / max(state.of_all[b, r], FLOOR)
        _add_sums(rows.W, b, k, size, state.of_class, state.of_all, motion.R, motion.s)
    rate = math.exp(prior.log_b + log_mass)
    for k in range(classes):
        for j in range(p):
            force[k, j] = a - state.weights[k, j] * (rate + motion.s[j] - motion.R[k, j])
    return total + rate - log_likelihood, log_likelihood


@scalar
def _trajectory(
    rng: np.random.Generator, rows: Any, prior: Any, a: Any, state: Any, motion: Any, potential: Any
) -> Any:
    """One proposal and the decision about it; returns the potential, and the probability of
    accepting."""
    classes, p = motion.at.shape
    step = state.real[STEP]
    energy = potential
    for k in range(classes):
        for j in range(p):
            z = rng.standard_normal()
            energy += 0.5 * z * z
            motion.momentum[k, j] = z / math.sqrt(motion.variance[k, j])
            motion.new[k, j] = motion.at[k, j]
            motion.new_force[k, j] = motion.force[k, j]
    new_energy = found = log_likelihood = math.nan
    for _ in range(1 + draw_index(rng, LONGEST)):
        for k in range(classes):
            for j in range(p):
                motion.momentum[k, j] += 0.5 * step * motion.new_force[k, j]
                motion.new[k, j] += step * motion.variance[k, j] * motion.momentum[k, j]
        found, log_likelihood = _potential(
            rows, prior, a, motion.new, motion.new_force, state, motion
        )
        new_energy = found
        for k in range(classes):
            for j in range(p):
                motion.momentum[k, j] += 0.5 * step * motion.new_force[k, j]
                new_energy += (
                    0.5 * motion.variance[k, j] * motion.momentum[k, j] * motion.momentum[k, j]
                )
        if not new_energy < math.inf:  # the reverse trajectory would not pass here either
            return potential, 0.0
    probability = math.exp(min(energy - new_energy, 0.0))
    if rng.random() < probability:
        for k in range(classes):
            for j in range(p):
                motion.at[k, j] = motion.new[k, j]
                motion.force[k, j] = motion.new_force[k, j]
        state.real[LOG_LIKELIHOOD] = log_likelihood
        return found, probability
    return potential, probability


@scalar
def _adapt(state: Any, motion: Any, probability: Any, tune: int) -> None:
    """Dual averaging of the step; the mass is set at the end of a window, after which the step
    adapts again."""
    real, note = state.real, motion.real
    note[_TIME] += 1.0
    note[_ERROR] += (_TARGET - probability - note[_ERROR]) / (note[_TIME] + 10.0)
    log_step = note[_CENTRE] - note[_ERROR] * math.sqrt(note[_TIME]) / 0.05
    share = note[_TIME] ** -0.75
    note[_AVERAGE] = share * log_step + (1.0 - share) * note[_AVERAGE]
    real[STEP] = math.exp(log_step)
    sweep = state.whole[SWEEPS]
    if sweep == tune:
        real[STEP] = math.exp(note[_AVERAGE])
        return
    note[_SEEN] += 1.0
    ends = False
    for share in _WINDOWS:
        ends = ends or sweep == int(share * tune)
    for k in range(motion.at.shape[0]):
        for j in range(motion.at.shape[1]):
            off = motion.at[k, j] - motion.mean[k, j]
            motion.mean[k, j] += off / note[_SEEN]
            motion.spread[k, j] += off * (motion.at[k, j] - motion.mean[k, j])
            if ends:
                weight = note[_SEEN] / (note[_SEEN] + 5.0)  # a short window is unreliable
                motion.variance[k, j] = weight * motion.spread[k, j] / max(
                    note[_SEEN] - 1.0, 1.0
                ) + (1.0 - weight)
                motion.mean[k, j] = motion.spread[k, j] = 0.0
    if ends:
        note[_SEEN] = 0.0
        real[STEP] = math.exp(note[_AVERAGE])
        _restart(motion, real)


@compiled
def hamiltonian(
    rng: np.random.Generator,
    rows: Any,
    prior: Any,
    state: Any,
    motion: Any,
    kept: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Trajectories with the prior's shape fixed."""
    a = math.exp(state.real[LOG_A])
    potential, log_likelihood = _potential(rows, prior, a, motion.at, motion.force, state, motion)
    state.real[LOG_LIKELIHOOD] = log_likelihood
    while state.whole[SWEEPS] < until:
        potential, probability = _trajectory(rng, rows, prior, a, state, motion, potential)
        state.whole[SWEEPS] += 1
        if state.whole[SWEEPS] <= tune:
            _adapt(state, motion, probability, tune)
        else:
            state.whole[TRIED] += 1
            motion.real[ACCEPTANCE] += probability
        for k in range(motion.at.shape[0]):
            for j in range(motion.at.shape[1]):
                state.log_weights[k, j] = motion.at[k, j]
        state.real[LOG_MASS] = normalise(state.log_weights, state.weights, state.totals)
        keep_if_due(state, kept, tune, thin)


MIN_A, MAX_A = 1e-6, 1e6
_UNIMODAL = 0.5  # fixed a from which the weights are sampled by Hamiltonian Monte Carlo
# sweeps a draw for small data; entries of W from which a draw is one sweep
_THIN, _LARGE = 10, 1_000_000
_STARTS = (0.01, 1.0)  # limits of the starting values of chains, where the prior allows them


@dataclass(frozen=True)
class GibbsSettings:
    """The settings of a run: the prior, the sampler ("exchange" or "hamiltonian") and its
    length."""

    prior: WeightPrior
    sampler: str
    draws: int
    tune: int
    chains: int
    thin: int
    sweep: Any = recommended  # of a sampler that follows no trajectories


class WeightChain(RowChain):
    """One chain: its state, its record, and how far it is."""

    _PARTS = ("state", "motion")

    rows: "ClassRows"
    settings: "GibbsSettings"
    rng: np.random.Generator
    state: WeightState
    motion: "WeightMotion | tuple[()]"
    record: Any
    total: int

    def __init__(
        self, settings: GibbsSettings, rows: ClassRows, n_classes: int, rng: np.random.Generator
    ) -> None:
        self.settings, self.rows, self.rng = settings, rows, rng
        self.total = (settings.tune + settings.draws) * settings.thin
        low, high = (
            min(max(math.log(start), settings.prior.low), settings.prior.high) for start in _STARTS
        )
        log_weights = np.log(
            np.maximum(rng.standard_exponential((n_classes, rows.mean.size)), 1e-300)
        )
        self.state = state_from(log_weights, low + (high - low) * rng.random(), rows)
        self.motion = motion_from(self.state) if settings.sampler == "hamiltonian" else ()
        self.record = empty_draws(settings.draws, n_classes, rows.mean.size)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.state.whole[SWEEPS])

    @property
    def recorded(self) -> int:
        return int(self.state.whole[KEPT])

    @property
    def stats(self) -> dict[str, float]:
        whole = self.state.whole
        tried = max(int(whole[TRIED]), 1)
        if self.motion:
            return {"acceptance": self.motion.real[ACCEPTANCE] / tried}
        return {"acceptance_exchange": whole[ACCEPTED] / tried}

    def run_until(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        settings = self.settings
        rest = (self.record, until, settings.tune * settings.thin, settings.thin)
        if self.motion:
            hamiltonian(self.rng, self.rows, settings.prior, self.state, self.motion, *rest)
        else:
            settings.sweep(self.rng, self.rows, settings.prior, self.state, *rest)


def chains_of(
    settings: GibbsSettings, W: np.ndarray, codes: np.ndarray, n_classes: int, random_seed: Any
) -> list[WeightChain]:
    r"""Chains that draw from the posterior of the weights and, if it is learned, of their shape.

    .. math::

        P(Y_i = k) = W_i^T\lambda_k / \sum_l W_i^T\lambda_l, \quad
        \lambda_{kj} \sim \mathrm{Gamma}(a, b), \quad
              p(a) \propto 1/a \text{ on } a\_range
    """
    rows = class_rows(W, codes, n_classes)
    return [
        WeightChain(settings, rows, n_classes, rng)
        for rng in spawn_generators(random_seed, settings.chains)
    ]


def settings_of(
    size: int, a: Any, a_range: Any, b: Any, draws: int, tune: int, chains: int, thin: Any
) -> GibbsSettings:
    """The settings of a run, checked and with their defaults, for W of so many entries."""
    prior = prior_of(a, a_range, b)
    sampler = "hamiltonian" if a is not None and a >= _UNIMODAL else "exchange"
    if thin is None:
        thin = 1 if sampler == "hamiltonian" or size > _LARGE else _THIN
    draws, tune, chains = (
        integer("draws", draws, 1),
        integer("tune", tune, 0),
        integer("chains", chains, 1),
    )
    thin = integer("thin", thin, 1)
    refuse_endless(draws, tune, chains, thin)
    return GibbsSettings(prior, sampler, draws, tune, chains, thin)


def prior_of(a: float | None, a_range: Any, b: float) -> WeightPrior:
    """The prior, after a check of its parameters."""
    log_b = math.log(positive("b", b, "the rate of the prior on weights"))
    if a is not None:
        return WeightPrior(log_b, _log_shape("a", a), _log_shape("a", a), False)
    try:
        low, high = a_range
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("a_range"),
            f" must be a pair (low, high), the range of the prior of a; got {a_range!r}.",
        ) from None
    low, high = (
        _log_shape("The lower end of a_range", low),
        _log_shape("The upper end of a_range", high),
    )
    if not low < high:
        raise ArgumentError(Argument("a_range"), f" must have low < high; got {a_range!r}.")
    return WeightPrior(log_b, low, high, True)


def _log_shape(name: str, value: Any) -> float:
    value = positive(name, value, "the shape of the prior on weights")
    if not MIN_A <= value <= MAX_A:
        raise ArgumentError(
            Argument(name), f" must be between {MIN_A:g} and {MAX_A:g}; got {value:g}."
        )
    return math.log(value)
