"""Hamiltonian chains of worths, judges and drift, with moves of their prior standard deviations."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.bordered_block_matrix import BorderedFactor
from thali._inference.progress_display import Progress
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.user_warnings import warn
from thali._posterior.convergence_check import ESS_PER_CHAIN, HIGHEST_R_HAT
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.summary_table import compute_ess_and_r_hat, compute_tail_ess

from .laplace_approximation import Marginal
from .posterior_density import Density, Spreads, add_bordered
from .prior_sd_moves import ScaleState, move_spreads

# chains; draws of each while tuning, of a block, and at most
N_CHAINS = 4
N_TUNE = 400
BLOCK_DRAWS = 500
MAX_DRAWS = 20_000
# chains end when these limits of the convergence check are met
MAX_R_HAT = HIGHEST_R_HAT
MIN_ESS = float(N_CHAINS * ESS_PER_CHAIN)

# The sampler --------------------------------------------------------------------------------------


_FACTOR_SPACING = 0.5  # spacing of log standard deviations between factors
_MAX_FACTORS = 64  # factors in the cache
_TRAJECTORY_LENGTH = 1.5  # length of a trajectory
_MAX_STEPS = 64
_TARGET_ACCEPTANCE = 0.8


class HamiltonianSampler:
    r"""Sampler of parameters by Hamiltonian trajectories, and of prior sds by slices.

    A sweep samples log worths, log nu, coefficients and log discriminations by a trajectory given
    the standard deviations; then each standard deviation given all else; then each with the
    coordinates that it spreads.

    The trajectories are whitened by the curvature at the mode, whose prior part has the standard
    deviations of the nearest point of a lattice, which a trajectory does not change. The moves
    along scales add c to a log standard deviation and multiply its coordinates by :math:`e^c`, and
    take a normal c, whose standard deviation is drawn first, by Metropolis' rule from the density
    along them times :math:`e^{kc}`, k the number of coordinates that grow, which leaves the
    posterior invariant (Liu & Sabatti 2000, Generalised Gibbs sampler).
    """

    def __init__(self, marginal: Marginal):
        """Prepare the metric of trajectories from the curvature at the mode."""
        self.density = density = marginal.density
        self.spreads, self.mode = marginal.best
        self.learned = marginal.learned
        self._curvature = density.curvature(self.mode.point, is_convex=True)
        self._factor = lru_cache(_MAX_FACTORS)(self._factorise_curvature)
        self.step = 0.5

    def draw_start(self, rng: np.random.Generator, n_chains: int) -> ScaleState:
        """Draw starting parameters around the mode, more dispersed than the posterior."""
        standard_normals = rng.standard_normal((self.density.size, n_chains))
        deviations = self.mode.factor.draw(standard_normals)
        deviations[~self.density.is_free] = 0.0
        log_sds = np.log(np.array(self.spreads))[:, None] + np.zeros((1, n_chains))
        log_sds[list(self.learned)] += 0.3 * rng.standard_normal((len(self.learned), n_chains))
        return ScaleState.from_points(self.density, self.mode.point[:, None] + deviations, log_sds)

    def sweep(self, rng: np.random.Generator, state: ScaleState) -> tuple[ScaleState, np.ndarray]:
        """Update parameters and prior sds once; return state and acceptance, (n_chains,)."""
        # trajectories may diverge
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            state, acceptance = self._run_trajectory(rng, state)
        return move_spreads(rng, self.density, state, self.learned), acceptance

    # Trajectories ---------------------------------------------------------------------------------

    def _factorise_curvature(self, lattice_point: tuple[int, ...]) -> BorderedFactor:
        """Return the factor of the curvature at the prior sds of one grid point."""
        log_sds = np.log(np.array(self.spreads))
        log_sds[list(self.learned)] = _FACTOR_SPACING * np.array(lattice_point)
        return BorderedFactor(
            add_bordered(self._curvature, self.density.prior_curvature(Spreads(*np.exp(log_sds))))
        )

    def _run_trajectory(
        self, rng: np.random.Generator, state: ScaleState
    ) -> tuple[ScaleState, np.ndarray]:
        """Update each chain by a Hamiltonian trajectory; return the state and acceptance."""
        density = self.density
        spreads = state.spreads
        lattice_points = np.round(state.logs[list(self.learned)] / _FACTOR_SPACING).astype(int).T
        unique_points, group_of_chain = np.unique(lattice_points, axis=0, return_inverse=True)
        factor_groups = [
            (self._factor(tuple(lattice_point.tolist())), np.flatnonzero(group_of_chain == k))
            for k, lattice_point in enumerate(unique_points)
        ]

        def apply_factors(method: str, vectors: np.ndarray) -> np.ndarray:
            """Apply each chain's curvature factor to its column of vectors."""
            products = np.empty_like(vectors)
            for factor, chain_indices in factor_groups:
                products[:, chain_indices] = getattr(factor, method)(vectors[:, chain_indices])
            return products

        points = state.points
        is_free = density.is_free[:, None]
        first_log_density, gradient = density.gradients(points, spreads)
        log_density = first_log_density
        acceleration = apply_factors("solve", gradient)
        total_impulse = np.zeros_like(points)
        first_velocity = velocity = apply_factors(
            "draw", rng.standard_normal(points.shape) * is_free
        )
        step_size = self.step * (0.8 + 0.4 * rng.random())
        for _ in range(
            min(_MAX_STEPS, math.ceil(_TRAJECTORY_LENGTH * (0.5 + rng.random()) / step_size))
        ):
            velocity = velocity + 0.5 * step_size * acceleration
            total_impulse = total_impulse + 0.5 * step_size * gradient
            points = points + step_size * velocity
            log_density, gradient = density.gradients(points, spreads)
            acceleration = apply_factors("solve", gradient)
            velocity = velocity + 0.5 * step_size * acceleration
            total_impulse = total_impulse + 0.5 * step_size * gradient
        # v'Hv - v0'Hv0 = (v + v0)' G, because v = v0 + H^-1 G, the sum of all pushes
        log_ratio = (
            log_density
            - first_log_density
            - 0.5 * ((velocity + first_velocity) * total_impulse).sum(axis=0)
        )
        log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
        is_accepted = -rng.standard_exponential(log_ratio.shape) < log_ratio
        proposal = ScaleState(points, state.logs, log_density - density.log_priors(points, spreads))
        return state.accept_where(is_accepted, proposal), np.exp(np.minimum(log_ratio, 0.0))


# A run of chains ----------------------------------------------------------------------------------


class ChainDraws(NamedTuple):
    """Draws of all chains: parameters, prior sds and reported quantities."""

    points: np.ndarray  # (size, draws)
    spreads: Spreads
    reported: np.ndarray  # (quantities, chains, draws): see `reported_quantities`


def run_chains(
    marginal: Marginal, random_seed: RandomSeed, progressbar: bool = False, n_chains: int = N_CHAINS
) -> ChainDraws:
    """Draw until the reported quantities have R-hat <= 1.01 and ESS >= 400.

    Warns
    -----
    DataWarning
        If 20,000 draws of each chain do not suffice.
    """
    from thali.errors import DataWarning

    sampler = HamiltonianSampler(marginal)
    density = marginal.density
    (rng,) = spawn_generators(random_seed, 1)
    state = sampler.draw_start(rng, n_chains)
    states: list[ScaleState] = []
    with Progress(progressbar, "drawing", MAX_DRAWS + N_TUNE, "draws") as progress:
        state = tune_step(sampler, rng, state, N_TUNE)
        while True:
            for _ in range(BLOCK_DRAWS):
                state, _ = sampler.sweep(rng, state)
                states.append(state)
            progress.update(N_TUNE + len(states))
            # (.., draws, chains)
            points, log_sds, _ = (np.stack(arrays, axis=-2) for arrays in zip(*states, strict=True))
            quantity_draws = compute_reported_quantities(
                density, points, log_sds[list(sampler.learned)]
            )
            largest_r_hat, smallest_ess = _compute_diagnostics(quantity_draws)
            if largest_r_hat <= MAX_R_HAT and smallest_ess >= MIN_ESS:
                break
            if len(states) >= MAX_DRAWS:
                warn(
                    DataWarning(
                        f"After {MAX_DRAWS:,} draws of each of {n_chains} chains, R-hat is"
                        f" {largest_r_hat:.2f} and the effective sample size {smallest_ess:.0f};"
                        " results may change by more than the digits shown."
                    )
                )
                break
    return ChainDraws(
        points.reshape(len(points), -1),
        Spreads(*np.exp(log_sds.reshape(len(log_sds), -1))),
        quantity_draws,
    )


def tune_step(
    sampler: HamiltonianSampler, rng: np.random.Generator, state: ScaleState, n_sweeps: int
) -> ScaleState:
    """Find the step size by dual averaging (Hoffman & Gelman 2014); return the state."""
    shrinkage_point = math.log(10.0 * sampler.step)
    mean_error = 0.0
    mean_log_step = math.log(sampler.step)
    for k in range(1, n_sweeps + 1):
        state, acceptance = sampler.sweep(rng, state)
        mean_error += (_TARGET_ACCEPTANCE - float(acceptance.mean()) - mean_error) / (k + 10.0)
        log_step = min(shrinkage_point - math.sqrt(k) / 0.05 * mean_error, math.log(1.5))
        mean_log_step += k**-0.75 * (log_step - mean_log_step)
        sampler.step = math.exp(log_step)
    sampler.step = math.exp(mean_log_step)
    return state


def _compute_diagnostics(quantity_draws: np.ndarray) -> tuple[float, float]:
    """Return the largest R-hat and the smallest effective sample size of the quantities."""
    # Effective sample sizes of tails count only where the other limits are met.
    ess, r_hat = compute_ess_and_r_hat(quantity_draws)
    largest_r_hat = float(r_hat.max())
    smallest_ess = float(ess.min())
    if largest_r_hat <= MAX_R_HAT and smallest_ess >= MIN_ESS:
        smallest_ess = min(smallest_ess, float(compute_tail_ess(quantity_draws, INTERVAL).min()))
    return largest_r_hat, smallest_ess


def compute_reported_quantities(
    density: Density, points: np.ndarray, log_sds: np.ndarray
) -> np.ndarray:
    """Return the quantities by which convergence is checked, (quantities, chains, draws).

    These are log worths of options that are present, the other coordinates of a point, and the
    logarithms of the learned standard deviations.
    """
    worths = density.centre_worths(points[density.worths])
    other_coordinates = points[density.worths.stop :].copy()
    judge_rows = density.offset_by_worths(density.judges)
    other_coordinates[judge_rows] = density.report_judges(points)
    return np.concatenate([worths[density.present.ravel()], other_coordinates, log_sds]).swapaxes(
        1, 2
    )


def adapt_step(step: float, acceptance: np.ndarray) -> float:
    """Return a step size nearer to one with an acceptance rate of 0.8."""
    return min(step * math.exp(0.3 * (float(acceptance.mean()) - _TARGET_ACCEPTANCE)), 1.5)
