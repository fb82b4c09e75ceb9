"""Chains of worths, judges and drift: Hamiltonian trajectories given standard deviations, and moves
of scales."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.bordered import BorderedFactor
from thali._inference.progress import Progress
from thali._inference.seeds import spawn_generators
from thali._inference.warn import warn
from thali._posterior.convergence import ESS_PER_CHAIN, HIGHEST_R_HAT
from thali._posterior.interval import INTERVAL
from thali._posterior.summary import bulk_and_r_hat, tail_ess

from .density import Density, Spreads, add_bordered
from .laplace import Marginal
from .scales import ScaleState, draw_spread, scale_with_spread

# draws of a chain while tuning, of a block, at most
CHAINS, TUNE, BLOCK, LONGEST = 4, 400, 500, 20_000
# at which chains end: what the convergence check asks
R_HAT, ESS = HIGHEST_R_HAT, float(CHAINS * ESS_PER_CHAIN)

# The sampler --------------------------------------------------------------------------------------


_LATTICE = 0.5  # of log standard deviations, for each point of which there is a factor
_FACTORS = 64  # that are kept
_ANGLE = 1.5  # length of a trajectory
_MOST_STEPS = 64
_GOAL = 0.8  # acceptance


class Sampler:
    r"""A sweep draws log worths, log nu, coefficients and log discriminations by a trajectory given
    the standard deviations; then each of these given all else; then each with all that it spreads.

    The trajectories are whitened by the curvature at the mode, whose prior part has the standard
    deviations of the nearest point of a lattice: a function of what they leave fixed. The moves
    along scales add c to a log standard deviation and multiply what it spreads by :math:`e^c`, and
    take a normal c, whose standard deviation is drawn first, by Metropolis' rule from the density
    along them times :math:`e^{kc}`, k the number of coordinates that grow, which leaves the
    posterior invariant (Liu & Sabatti 2000, Generalised Gibbs sampler).
    """

    def __init__(self, marginal: Marginal):
        self.density = density = marginal.density
        self.spreads, self.mode = marginal.best
        self.learned = marginal.learned
        self._curvature = density.curvature(self.mode.point, is_convex=True)
        self._factor = lru_cache(_FACTORS)(self._factor_at)
        self.step = 0.5

    def start(self, rng: np.random.Generator, chains: int) -> ScaleState:
        """Return points about the mode, more widely than the posterior."""
        normal = rng.standard_normal((self.density.size, chains))
        away = self.mode.factor.draw(normal)
        away[~self.density.is_free] = 0.0
        logs = np.log(np.array(self.spreads))[:, None] + np.zeros((1, chains))
        logs[list(self.learned)] += 0.3 * rng.standard_normal((len(self.learned), chains))
        return ScaleState.at(self.density, self.mode.point[:, None] + away, logs)

    def sweep(self, rng: np.random.Generator, state: ScaleState) -> tuple[ScaleState, np.ndarray]:
        """Make all moves once, and return how likely each trajectory was to be accepted."""
        # of trajectories that go astray
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            state, accepted = self._trajectory(rng, state)
        for k in self.learned:
            state = scale_with_spread(
                rng, self.density, draw_spread(rng, self.density, state, k), k
            )
        return state, accepted

    # Trajectories ---------------------------------------------------------------------------------

    def _factor_at(self, place: tuple[int, ...]) -> BorderedFactor:
        logs = np.log(np.array(self.spreads))
        logs[list(self.learned)] = _LATTICE * np.array(place)
        return BorderedFactor(
            add_bordered(self._curvature, self.density.prior_curvature(Spreads(*np.exp(logs))))
        )

    def _trajectory(
        self, rng: np.random.Generator, state: ScaleState
    ) -> tuple[ScaleState, np.ndarray]:
        """A Hamiltonian trajectory of each chain; velocities v have covariance H⁻¹."""
        density, spreads = self.density, state.spreads
        places = np.round(state.logs[list(self.learned)] / _LATTICE).astype(int).T
        different, own = np.unique(places, axis=0, return_inverse=True)
        groups = [
            (self._factor(tuple(place.tolist())), np.flatnonzero(own == k))
            for k, place in enumerate(different)
        ]

        def each(method: str, vectors: np.ndarray) -> np.ndarray:
            found = np.empty_like(vectors)
            for factor, columns in groups:
                found[:, columns] = getattr(factor, method)(vectors[:, columns])
            return found

        points, free = state.points, density.is_free[:, None]
        began, gradient = density.gradients(points, spreads)
        value, pull, pushed = began, each("solve", gradient), np.zeros_like(points)
        first = velocity = each("draw", rng.standard_normal(points.shape) * free)
        step = self.step * (0.8 + 0.4 * rng.random())
        for _ in range(min(_MOST_STEPS, math.ceil(_ANGLE * (0.5 + rng.random()) / step))):
            velocity, pushed = velocity + 0.5 * step * pull, pushed + 0.5 * step * gradient
            points = points + step * velocity
            value, gradient = density.gradients(points, spreads)
            pull = each("solve", gradient)
            velocity, pushed = velocity + 0.5 * step * pull, pushed + 0.5 * step * gradient
        # v'Hv - v0'Hv0 = (v + v0)' G, because v = v0 + H^-1 G, the sum of all pushes
        rise = value - began - 0.5 * ((velocity + first) * pushed).sum(axis=0)
        rise = np.where(np.isfinite(rise), rise, -np.inf)
        taken = -rng.standard_exponential(rise.shape) < rise
        ahead = ScaleState(points, state.logs, value - density.log_priors(points, spreads))
        return state.moved_where(taken, ahead), np.exp(np.minimum(rise, 0.0))


# A run of them ------------------------------------------------------------------------------------


class WorthDraws(NamedTuple):
    """The draws of all chains."""

    points: np.ndarray  # (size, draws)
    spreads: Spreads
    reported: np.ndarray  # (quantities, chains, draws): see `reported`


def run(
    marginal: Marginal, random_seed: object, progressbar: bool = False, chains: int = CHAINS
) -> WorthDraws:
    """Draws of chains, which go on until all that is reported has R-hat up to 1.01 and effective
    sample sizes of 400.

    Warns
    -----
    DataWarning
        If after 20,000 draws of each chain it has not.
    """
    from thali.errors import DataWarning

    sampler, density = Sampler(marginal), marginal.density
    (rng,) = spawn_generators(random_seed, 1)
    state = sampler.start(rng, chains)
    found: list[ScaleState] = []
    with Progress(progressbar, "drawing", LONGEST + TUNE, "draws") as progress:
        state = tuned(sampler, rng, state, TUNE)
        while True:
            for _ in range(BLOCK):
                state, _ = sampler.sweep(rng, state)
                found.append(state)
            progress.update(TUNE + len(found))
            # (.., draws, chains)
            points, logs, _ = (np.stack(each, axis=-2) for each in zip(*found, strict=True))
            told = reported(density, points, logs[list(sampler.learned)])
            worst, least = _agreement(told)
            if worst <= R_HAT and least >= ESS:
                break
            if len(found) >= LONGEST:
                warn(
                    DataWarning(
                        f"After {LONGEST:,} draws of each of {chains} chains, R-hat is {worst:.2f}"
                        f" and the effective sample size {least:.0f}; results may change by more"
                        " than the digits shown."
                    )
                )
                break
    return WorthDraws(
        points.reshape(len(points), -1), Spreads(*np.exp(logs.reshape(len(logs), -1))), told
    )


def tuned(sampler: Sampler, rng: np.random.Generator, state: ScaleState, sweeps: int) -> ScaleState:
    """The state after so many sweeps, in which the step is found (Hoffman & Gelman 2014, dual
    averaging)."""
    goal, total, mean = math.log(10.0 * sampler.step), 0.0, math.log(sampler.step)
    for k in range(1, sweeps + 1):
        state, accepted = sampler.sweep(rng, state)
        total += (_GOAL - float(accepted.mean()) - total) / (k + 10.0)
        log_step = min(goal - math.sqrt(k) / 0.05 * total, math.log(1.5))
        mean += k**-0.75 * (log_step - mean)
        sampler.step = math.exp(log_step)
    sampler.step = math.exp(mean)
    return state


def _agreement(told: np.ndarray) -> tuple[float, float]:
    """The largest R-hat, and the smallest effective sample size; that of tails only where others
    suffice."""
    ess, r_hat = bulk_and_r_hat(told)
    worst, least = float(r_hat.max()), float(ess.min())
    if worst <= R_HAT and least >= ESS:
        least = min(least, float(tail_ess(told, INTERVAL).min()))
    return worst, least


def reported(density: Density, points: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return what is reported, by which chains are judged: log worths of options that are present,
    all else of a point, and the logarithms of the standard deviations that are learned; each a row
    of (chains, draws)."""
    worths, others = (
        density.centre_worths(points[density.worths]),
        points[density.worths.stop :].copy(),
    )
    judges = slice(
        density.judges.start - density.worths.stop, density.judges.stop - density.worths.stop
    )
    others[judges] = density.log_discriminations(points)
    return np.concatenate([worths[density.present.ravel()], others, logs]).swapaxes(1, 2)


def adapted(step: float, accepted: np.ndarray) -> float:
    """Return a step nearer to the one whose trajectories are accepted four times out of five."""
    return min(step * math.exp(0.3 * (float(accepted.mean()) - _GOAL)), 1.5)
