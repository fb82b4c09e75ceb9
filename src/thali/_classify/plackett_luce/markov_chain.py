"""Markov chains of Plackett-Luce regression: settings, chains and Hamiltonian moves."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thali._argument_checks import check_positive, check_run_length
from thali._compile.jit import compiled, scalar, vectorised
from thali._inference.markov_chains import RowChain
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali.errors import Argument, ArgumentError

from .chain_state import (
    ACCEPTED,
    LOG_A,
    LOG_LIKELIHOOD,
    LOG_MASS,
    MIN_PROBABILITY,
    RECORDED,
    STEP,
    SWEEPS,
    TRIED,
    ClassRows,
    WeightPrior,
    WeightState,
    allocate_weight_draws,
    build_weight_state,
    compute_block_scores,
    normalise_weights,
    record_if_due,
    sort_rows_by_class,
    sum_block_log_likelihood,
)
from .gibbs_sweep import run_recommended_sweeps

# Hamiltonian Monte Carlo on ln λ, for a fixed shape a ---------------------------------------------
#
# U(x) = −a Σ x_kj + b Σ e^{x_kj} − log-likelihood, x = ln λ, ∂U/∂x_kj = −a + λ_kj (b − R_kj + s_j)
#
# The number of leapfrog steps is drawn for each trajectory. Dual averaging adapts the step (Hoffman
# & Gelman 2014), and the diagonal mass is set from the variances during tuning.


# per trajectory; 6, 10 or 20 gave fewer effective draws per second
MAX_LEAPFROG_STEPS = 15
# ends of windows, as shares of tuning; the mass is set from the draws of a window
_WINDOWS = (0.1, 0.2, 0.35, 0.6, 0.9)
_TARGET = 0.65  # target acceptance probability
_TIME, _AVERAGE, _CENTRE, _ERROR, _N_DRAWS, ACCEPTANCE = range(6)  # in WeightMotion.real


class WeightMotion(NamedTuple):
    """Position, momentum and step adaptation of Hamiltonian moves of the log weights."""

    # (6,) dual averaging: time, averaged ln step, centre, mean error; draws in mean and spread; sum
    # of acceptance probabilities since tuning ended
    real: np.ndarray
    position: np.ndarray  # ln λ
    force: np.ndarray  # −∂U/∂x
    proposal: np.ndarray
    new_force: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray  # the inverse mass
    mean: np.ndarray
    spread: np.ndarray
    R: np.ndarray  # (K, p)
    s: np.ndarray  # (p,)


def start_motion(state: WeightState) -> WeightMotion:
    """Return Hamiltonian moves that start at the weights of a state."""
    n_weights = state.log_weights.size
    motion = WeightMotion(
        real=np.zeros(6),
        position=(state.log_weights + state.real[LOG_MASS]).ravel(),
        force=np.zeros(n_weights),
        proposal=np.zeros(n_weights),
        new_force=np.zeros(n_weights),
        momentum=np.zeros(n_weights),
        variance=np.ones(n_weights),
        mean=np.zeros(n_weights),
        spread=np.zeros(n_weights),
        R=np.zeros(state.log_weights.shape),
        s=np.zeros(state.totals.size),
    )
    state.real[STEP] = 0.1
    _restart_step_adaptation(motion, state.real)
    return motion


@scalar
def _restart_step_adaptation(motion: Any, real: Any) -> None:
    """Reset the dual averaging of the step size."""
    motion.real[_TIME] = motion.real[_ERROR] = 0.0
    motion.real[_AVERAGE] = math.log(real[STEP])
    motion.real[_CENTRE] = math.log(10.0 * real[STEP])


@vectorised
def _add_block_sums(
    W: Any, b: Any, k: Any, size: Any, inverse_T: Any, inverse_S: Any, R: Any, s: Any
) -> None:
    """Add the sums over block b (class k) of W / T to R[k], and of W / S to s."""
    for j in range(W.shape[1]):
        class_sum = 0.0
        total_sum = 0.0
        for r in range(size):
            class_sum += W[b, j, r] * inverse_T[b, r]
            total_sum += W[b, j, r] * inverse_S[b, r]
        R[k, j] += class_sum
        s[j] += total_sum


@scalar
def _set_weights(state: Any, position: Any) -> Any:
    """Set the weights to exp(position), normalised; return the log of their sum."""
    p = state.totals.size
    for i in range(position.size):
        state.log_weights[i // p, i % p] = position[i]
    return normalise_weights(state)


@scalar
def compute_weight_potential(
    rows: Any, prior: Any, a: Any, position: Any, force: Any, state: Any, motion: Any
) -> Any:
    """Compute minus log posterior U, log-likelihood and force at a position.

    Weights and sums of the state are overwritten.
    """
    p = state.totals.size
    log_mass = _set_weights(state, position)
    motion.R[:], motion.s[:], total = 0.0, 0.0, 0.0
    for i in range(position.size):
        total -= a * position[i]
    log_likelihood = 0.0
    for b in range(rows.sizes.size):
        k, size = rows.class_of_block[b], rows.sizes[b]
        compute_block_scores(
            rows.W, state.weights, state.totals, b, k, size, state.class_scores, state.total_scores
        )
        log_likelihood += sum_block_log_likelihood(state.class_scores, state.total_scores, b, size)
        for r in range(size):
            state.class_scores[b, r] = 1.0 / max(state.class_scores[b, r], MIN_PROBABILITY)
            state.total_scores[b, r] = 1.0 / max(state.total_scores[b, r], MIN_PROBABILITY)
        _add_block_sums(
            rows.W, b, k, size, state.class_scores, state.total_scores, motion.R, motion.s
        )
    rate = math.exp(prior.log_b + log_mass)
    for i in range(position.size):
        k, j = i // p, i % p
        force[i] = a - state.weights[k, j] * (rate + motion.s[j] - motion.R[k, j])
    return total + rate - log_likelihood, log_likelihood


@scalar
def _move_along_trajectory(
    rng: np.random.Generator, rows: Any, prior: Any, a: Any, state: Any, motion: Any, potential: Any
) -> Any:
    """Propose a trajectory, accept or reject it; return U and acceptance."""
    step, size = state.real[STEP], motion.position.size
    energy = potential
    for i in range(size):
        z = rng.standard_normal()
        energy += 0.5 * z * z
        motion.momentum[i] = z / math.sqrt(motion.variance[i])
        motion.proposal[i] = motion.position[i]
        motion.new_force[i] = motion.force[i]
    new_energy = new_potential = log_likelihood = math.nan
    for _ in range(1 + draw_index(rng, MAX_LEAPFROG_STEPS)):
        for i in range(size):
            motion.momentum[i] += 0.5 * step * motion.new_force[i]
            motion.proposal[i] += step * motion.variance[i] * motion.momentum[i]
        new_potential, log_likelihood = compute_weight_potential(
            rows, prior, a, motion.proposal, motion.new_force, state, motion
        )
        new_energy = new_potential
        for i in range(size):
            motion.momentum[i] += 0.5 * step * motion.new_force[i]
            new_energy += 0.5 * motion.variance[i] * motion.momentum[i] * motion.momentum[i]
        if not new_energy < math.inf:  # the reverse trajectory would be aborted here, too
            return potential, 0.0
    probability = math.exp(min(energy - new_energy, 0.0))
    if rng.random() < probability:
        for i in range(size):
            motion.position[i] = motion.proposal[i]
            motion.force[i] = motion.new_force[i]
        state.real[LOG_LIKELIHOOD] = log_likelihood
        return new_potential, probability
    return potential, probability


@scalar
def _adapt_step_and_mass(state: Any, motion: Any, probability: Any, tune: int) -> None:
    """Adapt the step by dual averaging, and the mass after each window."""
    real, adaptation = state.real, motion.real
    adaptation[_TIME] += 1.0
    adaptation[_ERROR] += (_TARGET - probability - adaptation[_ERROR]) / (adaptation[_TIME] + 10.0)
    log_step = adaptation[_CENTRE] - adaptation[_ERROR] * math.sqrt(adaptation[_TIME]) / 0.05
    share = adaptation[_TIME] ** -0.75
    adaptation[_AVERAGE] = share * log_step + (1.0 - share) * adaptation[_AVERAGE]
    real[STEP] = math.exp(log_step)
    sweep = state.counters[SWEEPS]
    if sweep == tune:
        real[STEP] = math.exp(adaptation[_AVERAGE])
        return
    adaptation[_N_DRAWS] += 1.0
    ends_window = False
    for share in _WINDOWS:
        ends_window = ends_window or sweep == int(share * tune)
    n_draws = adaptation[_N_DRAWS]
    for i in range(motion.position.size):
        deviation = motion.position[i] - motion.mean[i]
        motion.mean[i] += deviation / n_draws
        motion.spread[i] += deviation * (motion.position[i] - motion.mean[i])
        if ends_window:
            shrinkage = n_draws / (n_draws + 5.0)  # a short window is unreliable
            motion.variance[i] = shrinkage * motion.spread[i] / max(n_draws - 1.0, 1.0) + (
                1.0 - shrinkage
            )
            motion.mean[i] = motion.spread[i] = 0.0
    if ends_window:
        adaptation[_N_DRAWS] = 0.0
        real[STEP] = math.exp(adaptation[_AVERAGE])
        _restart_step_adaptation(motion, real)


@compiled
def run_hamiltonian_sweeps(
    rng: np.random.Generator,
    rows: Any,
    prior: Any,
    state: Any,
    motion: Any,
    record: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Run Hamiltonian trajectories of the weights for a fixed prior shape a."""
    a = math.exp(state.real[LOG_A])
    potential, log_likelihood = compute_weight_potential(
        rows, prior, a, motion.position, motion.force, state, motion
    )
    state.real[LOG_LIKELIHOOD] = log_likelihood
    while state.counters[SWEEPS] < until:
        potential, probability = _move_along_trajectory(
            rng, rows, prior, a, state, motion, potential
        )
        state.counters[SWEEPS] += 1
        if state.counters[SWEEPS] <= tune:
            _adapt_step_and_mass(state, motion, probability, tune)
        else:
            state.counters[TRIED] += 1
            motion.real[ACCEPTANCE] += probability
        state.real[LOG_MASS] = _set_weights(state, motion.position)
        record_if_due(state, record, tune, thin)


MIN_A = 1e-6
MAX_A = 1e6
_MIN_HAMILTONIAN_A = 0.5  # smallest fixed a for Hamiltonian Monte Carlo
# sweeps per draw for small data; largest number of entries of W for which they are used
_THIN_SMALL = 10
_MAX_THINNED_ENTRIES = 1_000_000
_STARTS = (0.01, 1.0)  # range of starting values of a, where the prior allows it


@dataclass(frozen=True)
class GibbsSettings:
    """Prior, sampler and run length of the Markov chains of a fit.

    The sampler is "exchange" or "hamiltonian".
    """

    prior: WeightPrior
    sampler: str
    draws: int
    tune: int
    chains: int
    thin: int
    sweep: Any = run_recommended_sweeps  # for the sampler without trajectories


class WeightChain(RowChain):
    """One Markov chain of the weights with its recorded draws."""

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
        """Draw starting weights and allocate the record."""
        self.settings = settings
        self.rows = rows
        self.rng = rng
        self.total = (settings.tune + settings.draws) * settings.thin
        low_log_a, high_log_a = (
            min(max(math.log(start), settings.prior.low), settings.prior.high) for start in _STARTS
        )
        log_weights = np.log(
            np.maximum(rng.standard_exponential((n_classes, rows.mean.size)), 1e-300)
        )
        self.state = build_weight_state(
            log_weights, low_log_a + (high_log_a - low_log_a) * rng.random(), rows
        )
        self.motion = ()
        if settings.sampler == "hamiltonian":
            self.motion = start_motion(self.state)
        self.record = allocate_weight_draws(settings.draws, n_classes, rows.mean.size)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        """Number of sweeps done."""
        return int(self.state.counters[SWEEPS])

    @property
    def recorded(self) -> int:
        """Number of recorded draws."""
        return int(self.state.counters[RECORDED])

    @property
    def stats(self) -> dict[str, float]:
        """Acceptance rates of moves since tuning ended, by name."""
        counters = self.state.counters
        n_tried = max(int(counters[TRIED]), 1)
        if self.motion:
            return {"acceptance": self.motion.real[ACCEPTANCE] / n_tried}
        return {"acceptance_exchange": counters[ACCEPTED] / n_tried}

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        settings = self.settings
        n_tuning = settings.tune * settings.thin
        if self.motion:
            run_hamiltonian_sweeps(
                self.rng,
                self.rows,
                settings.prior,
                self.state,
                self.motion,
                self.record,
                until,
                n_tuning,
                settings.thin,
            )
        else:
            settings.sweep(
                self.rng,
                self.rows,
                settings.prior,
                self.state,
                self.record,
                until,
                n_tuning,
                settings.thin,
            )


def build_weight_chains(
    settings: GibbsSettings,
    W: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    random_seed: RandomSeed,
) -> list[WeightChain]:
    r"""Build chains that sample the weights and, if learned, the prior shape.

    .. math::

        P(Y_i = k) = W_i^T\lambda_k / \sum_l W_i^T\lambda_l, \quad
        \lambda_{kj} \sim \mathrm{Gamma}(a, b), \quad
              p(a) \propto 1/a \text{ on } a\_range
    """
    rows = sort_rows_by_class(W, codes, n_classes)
    return [
        WeightChain(settings, rows, n_classes, rng)
        for rng in spawn_generators(random_seed, settings.chains)
    ]


def build_gibbs_settings(
    n_entries: int,
    a: float | None,
    a_range: tuple[float, float],
    b: float,
    draws: int,
    tune: int,
    chains: int,
    thin: int | None,
) -> GibbsSettings:
    """Return prior, sampler and run length of a fit; raise if too long.

    W has `n_entries` entries.
    """
    prior = build_plackett_luce_prior(a, a_range, b)
    sampler = "exchange"
    default_thin = _THIN_SMALL
    if n_entries > _MAX_THINNED_ENTRIES:
        default_thin = 1
    if a is not None and a >= _MIN_HAMILTONIAN_A:
        sampler = "hamiltonian"
        default_thin = 1
    thin = thin or default_thin
    check_run_length(draws, tune, chains, thin)
    return GibbsSettings(prior, sampler, draws, tune, chains, thin)


def build_plackett_luce_prior(
    a: float | None, a_range: tuple[float, float], b: float
) -> WeightPrior:
    """Return the prior of the weights; raise ArgumentError if invalid."""
    log_b = math.log(check_positive("b", b, "the rate of the prior on weights"))
    if a is not None:
        log_a = _check_log_shape("a", a)
        return WeightPrior(log_b, log_a, log_a, False)
    try:
        low, high = a_range
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("a_range"),
            f" must be a pair (low, high), the range of the prior of a; got {a_range!r}.",
        ) from None
    low = _check_log_shape("The lower end of a_range", low)
    high = _check_log_shape("The upper end of a_range", high)
    if not low < high:
        raise ArgumentError(Argument("a_range"), f" must have low < high; got {a_range!r}.")
    return WeightPrior(log_b, low, high, True)


def _check_log_shape(name: str, shape: float) -> float:
    """Return the log of a prior shape; raise ArgumentError if out of range."""
    shape = check_positive(name, shape, "the shape of the prior on weights")
    if not MIN_A <= shape <= MAX_A:
        raise ArgumentError(
            Argument(name), f" must be between {MIN_A:g} and {MAX_A:g}; got {shape:g}."
        )
    return math.log(shape)
