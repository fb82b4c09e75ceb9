"""Laplace approximation of worths: modes, grid over prior sds, and draws from the mixture."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.maximisation import Step, Target, maximise_newton
from thali._inference.numerics.bordered_block_matrix import BorderedBlocks, BorderedFactor
from thali._inference.numerics.log_densities import LOG_2PI
from thali._inference.numerics.weight_shares import compute_shares
from thali.errors import DataError

from .posterior_density import (
    BIAS,
    JUDGES,
    WORTHS,
    Density,
    Spreads,
    add_bordered,
)
from .spread_prior import LOG_SPREAD_MEAN, differentiate_sd, differentiate_spread

# The mode given standard deviations ------- -----------------------------------------------------


_LAST_GAIN = 1e-9  # a step that promises a smaller gain of the log density is the last one
_CONVEX_GAIN = 1.0  # the same for the first steps, which climb a convex problem
_RELATIVE_ROUNDING = 1e-14  # share of the log density below which rounding hides gains
_SADDLE_STEP = 0.3  # distance between a saddle and the start of another climb
_DAMPINGS = (0.0, 1e-13, 1e-10, 1e-7, 1e-4)  # for curvatures that rounding makes indefinite
_MAX_CHANGE = 3.0  # largest change of a coordinate in one step


class DensityPoint(NamedTuple):
    """Parameters with the log posterior density and its derivatives there."""

    point: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: BorderedBlocks


class _ClimbSlope(NamedTuple):
    """Gradient and curvature of the log density at a point."""

    gradient: np.ndarray
    curvature: BorderedBlocks
    metric: np.ndarray


@dataclass
class _DensityClimb(Target[DensityPoint]):
    """Log density at fixed prior sds as a function to maximise by Newton steps."""

    density: Density
    spreads: Spreads
    is_convex: bool = False

    def evaluate(self, coordinates: np.ndarray) -> DensityPoint:
        """Return log density and derivatives; -inf without a finite gradient."""
        density = self.density
        spreads = self.spreads
        point_column = coordinates[:, None]
        log_density, gradient, curvature = density.expand(coordinates, self.is_convex)
        log_density += float(density.log_priors(point_column, spreads)[0])
        density.add_prior_slope(gradient, point_column, spreads)
        if not np.isfinite(gradient).all():
            log_density = -np.inf
        return DensityPoint(
            coordinates,
            log_density,
            gradient[:, 0],
            add_bordered(curvature, density.prior_curvature(spreads)),
        )

    def move_point(self, point: DensityPoint, change: np.ndarray) -> DensityPoint:
        """Return the density at these parameters plus `change`."""
        return self.evaluate(point.point + change)

    def slope(self, point: DensityPoint) -> _ClimbSlope:
        """Return gradient and curvature of the log density at a point."""
        return _ClimbSlope(point.gradient, point.curvature, point.curvature.diagonal.clip(1e-3))

    def solve(self, slope: _ClimbSlope, damping: float) -> Step | None:
        """Return the Newton step with `damping` added to the curvature, or None."""
        factor = _factorise(slope.curvature.add_diagonal(damping * slope.metric))
        if factor is None:
            return None
        newton_step = factor.solve(slope.gradient)
        return Step(newton_step, float(newton_step @ slope.gradient))

    def accepts_step(self, point: DensityPoint, ahead: DensityPoint, promised: float) -> bool:
        """Return whether a step raises the log density enough."""
        return ahead.value > point.value or promised < _RELATIVE_ROUNDING * abs(point.value) + 1e-9


class Mode(NamedTuple):
    """Mode at fixed prior sds, with the normal approximation around it."""

    point: np.ndarray
    factor: BorderedFactor  # of minus the second derivatives
    evidence: float  # log integral of the density, by Laplace's approximation


def _factorise(curvature: BorderedBlocks) -> BorderedFactor | None:
    """Return the factor of a negative Hessian; None unless positive definite."""
    try:
        return BorderedFactor(curvature)
    except np.linalg.LinAlgError:
        return None


def _factorise_damped(curvature: BorderedBlocks) -> BorderedFactor:
    """Return the factor of a negative Hessian, damped if rounding requires it."""
    for damping in _DAMPINGS:
        factor = _factorise(curvature.add_diagonal(damping * np.abs(curvature.diagonal)))
        if factor is not None:
            return factor
    raise DataError(
        "The scales of the covariates differ too much; divide each covariate by its standard"
        " deviation."
    )


def find_mode(
    density: Density, spreads: Spreads, start_parameters: np.ndarray | None = None
) -> Mode:
    """Return the mode of the density at fixed prior sds, by damped Newton steps.

    `start_parameters`: None starts from equal worths and judges.
    """
    climb = _DensityClimb(density, spreads)

    def climb_from(coordinates: np.ndarray) -> DensityPoint:
        """Return the end of the Newton climb from these parameters."""
        return maximise_newton(
            climb,
            climb.evaluate(coordinates),
            _LAST_GAIN,
            take_last=True,
            damping=1e-6,
            max_change=_MAX_CHANGE,
        ).point

    if start_parameters is None:  # convex steps never lead to a saddle
        convex_climb = _DensityClimb(density, spreads, is_convex=True)
        start_parameters = maximise_newton(
            convex_climb,
            convex_climb.evaluate(np.zeros(density.size)),
            _CONVEX_GAIN,
            damping=1e-6,
            max_change=_MAX_CHANGE,
        ).point.point
    climb_end = climb_from(start_parameters)
    factor = _factorise(climb_end.curvature)
    if factor is None:  # a saddle, such as that of two judges who contradict each other
        climb_end = climb_from(
            climb_end.point
            + _SADDLE_STEP * np.where(density.is_free, np.cos(np.arange(density.size)), 0.0)
        )
        factor = _factorise(climb_end.curvature)
    return _build_mode(density, climb_end.point, climb_end.value, spreads, factor)


def _build_mode(
    density: Density,
    point: np.ndarray,
    log_density: float,
    spreads: Spreads,
    factor: BorderedFactor | None,
) -> Mode:
    """Return the `Mode` at a point, with normal approximation and log integral."""
    # Without a factor, the convex component of the density provides one.
    if factor is None:
        convex_curvature = add_bordered(
            density.curvature(point, is_convex=True), density.prior_curvature(spreads)
        )
        factor = _factorise_damped(convex_curvature)
    n_free = int(density.is_free.sum())
    return Mode(
        point,
        factor,
        log_density + 0.5 * (n_free * LOG_2PI - factor.log_determinant),
    )


# The marginal of standard deviations, on a lattice of their logarithms ----------------------------


# first centre of the lattice, by standard deviation
_CENTRES = LOG_SPREAD_MEAN, math.log(0.3), math.log(0.3), math.log(0.3)
_FIRST_STEP, _MAX_STEPS = 0.5, 12  # first steps, and most steps in one direction
# largest drop of log weights of points, by the number of standard deviations
_DROPS = 0.0, 6.0, 4.0
_MAX_FALL = 1.0  # largest fall of the log density between neighbours of a fine lattice
_MAX_REFINEMENTS = 12  # refinements of the lattice
# with more rows, deviations are not mirrored, and two standard deviations have no grid
_MAX_MIRRORED_ROWS = 20_000
_MAX_LATTICE_JUDGES = 50  # with more, whose standard deviation is known well, neither
_BLOCK_TERMS = 1 << 21  # rows times points of a block
# deviations that measure asymmetry, and their limit times rows
_PILOT_DEVIATIONS = 200
_PILOT_TERMS = 1 << 22


def _build_key(log_sds: np.ndarray) -> tuple[float, ...]:
    """Return log sds rounded to a hashable key of a grid point."""
    return tuple(np.round(log_sds, 12).tolist())


class Marginal:
    r"""The density with learned standard deviations, as a mixture over points of their logarithms.

    The weight of a point is the prior density of the logarithms times Laplace's approximation of
    the integral of the density there. With one or two standard deviations the points are a lattice,
    which begins with steps of 0.5, moves to where it is highest, and becomes finer until the
    weights of neighbours fall by about half a unit of their logarithm; points are added until these
    fall by 6, or by 4 with two. With equal steps, sums are as exact as integrals of a smooth
    function can be. With three or more, or two and many rows, the points are the mode c of the
    marginal and, along each of the K logarithms with a standard deviation of :math:`\sigma_k` by
    the curvature there,

    .. math::

        c \pm \sqrt{3} \sigma_k e_k, \quad \text{of weight } 1/6, \qquad c, \quad
        \text{of weight } 1 - K/3

    (:math:`c \pm \sqrt{K} \sigma_k e_k` with equal weights from K = 3), whose means and variances
    are those of a normal distribution.

    Parameters
    ----------
    density : Density
    worths, judges, drift : float or None
        Fixed standard deviations; None: learned, if the density has them.

    References
    ----------
    Rue, Martino & Chopin (2009), Approximate Bayesian inference for latent Gaussian models by using
    integrated nested Laplace approximations.
    """

    def __init__(
        self,
        density: Density,
        worths: float | None = None,
        judges: float | None = None,
        drift: float | None = None,
    ) -> None:
        """Choose points of unknown standard deviations around the mode of their marginal."""
        self.density = density
        self._known: list[float | None] = [math.nan] * 4
        for k in density.spread_kinds:
            self._known[k] = (worths, judges, drift, None)[k]
        self.learned = tuple(k for k, spread in enumerate(self._known) if spread is None)
        # log marginal and mode by point; modes without factors, which are large
        self._cache: dict[tuple[float, ...], tuple[float, np.ndarray]] = {}
        self._last: Mode | None = None
        centre = np.array([_CENTRES[k] for k in self.learned])
        step_sizes = np.full(len(self.learned), _FIRST_STEP)
        is_large = density.n_rows > _MAX_MIRRORED_ROWS or density.n_judges > _MAX_LATTICE_JUDGES
        uses_axes = len(step_sizes) > 2 or (len(step_sizes) == 2 and is_large)
        starts_by_slopes = {WORTHS, JUDGES, BIAS}.issuperset(
            self.learned
        ) and density.n_periods == 1
        if starts_by_slopes:
            centre, step_sizes = self._start_by_slopes(centre, step_sizes)
        if uses_axes and starts_by_slopes:
            self._build_axes(centre, step_sizes)
            return
        for _ in range(_MAX_REFINEMENTS * len(step_sizes)):
            centre, finer_step = self._refine_lattice(centre, step_sizes)
            if np.all(finer_step == step_sizes):
                break
            step_sizes = finer_step
        if uses_axes:
            self._build_axes(centre, self._estimate_widths(centre, step_sizes))
        else:
            self._build_lattice(centre, step_sizes)

    @property
    def best(self) -> tuple[Spreads, Mode]:
        """The prior sds of largest marginal density, and the mode there."""
        k = int(np.argmax([self._log_marginal(log_spreads) for log_spreads in self._logs]))
        return self.spreads[k], self.build_mode(k)

    @property
    def mean_mode(self) -> np.ndarray:
        """Mean of the modes over the grid of prior sds, shape (size,)."""
        return self.weights @ np.array(self._points)

    def contrast_precision(self, contrasts: np.ndarray) -> Callable[[float], np.ndarray]:
        """Return a function that gives the precision of contrasts with n times the data.

        Precision is evaluated at the best mode and includes the prior.
        """
        spreads, mode = self.best
        prior_curvature = self.density.prior_curvature(spreads)
        likelihood_curvature = self.density.curvature(mode.point, is_convex=True)

        def compute_precision(n_repetitions: float) -> np.ndarray:
            """Return the contrasts' precision with n times the data."""
            factor = _factorise_damped(
                add_bordered(
                    prior_curvature,
                    BorderedBlocks(*(n_repetitions * matrix for matrix in likelihood_curvature)),
                )
            )
            return np.linalg.pinv(contrasts.T @ factor.solve(contrasts), hermitian=True)

        return compute_precision

    def build_mode(self, k: int) -> Mode:
        """Return the mode at grid point k."""
        point = self._points[k]
        spreads = self.spreads[k]
        density_at_point = _DensityClimb(self.density, spreads).evaluate(point)
        return _build_mode(
            self.density,
            point,
            density_at_point.value,
            spreads,
            _factorise(density_at_point.curvature),
        )

    def _start_by_slopes(
        self, centre: np.ndarray, max_widths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a start near the maximum of the marginal, and step widths."""
        # Steps are as fine as the marginal is narrow where 0.5 is too wide.
        # With g and v the means and variances, given their standard deviation tau, of what it
        # spreads, the slope of the log marginal by log tau is sum_j((g_j^2 + v_j) / tau^2 - 1) and
        # that of the log prior (Fisher's identity), and the information that normal means with
        # known errors have of it 2 sum_j(1 - v_j / tau^2)^2.
        slices = {WORTHS: self.density.worths, JUDGES: self.density.judges, BIAS: self.density.bias}
        for _ in range(_MAX_REFINEMENTS):
            self._log_marginal(centre)
            assert self._last is not None
            variances = self._last.factor.variances
            centre_change = np.zeros_like(centre)
            widths = np.zeros_like(centre)
            for i, k in enumerate(self.learned):
                variance_prior = math.exp(2.0 * centre[i])
                v = variances[slices[k]]
                slope, prior_curvature = differentiate_sd(centre[i])
                if k == WORTHS:
                    slope, prior_curvature = differentiate_spread(centre[i])
                slope += float(
                    ((self._last.point[slices[k]] ** 2 + v) / variance_prior - 1.0).sum()
                )
                widths[i] = (
                    2.0 * float(((1.0 - v / variance_prior) ** 2).sum()) + prior_curvature
                ) ** -0.5
                centre_change[i] = 0.5 * math.log1p(max(2.0 * slope * widths[i] ** 2, -0.9))
            if (np.abs(centre_change) < 0.5 * widths).all():
                return centre, np.minimum(widths, max_widths)
            centre = centre + np.clip(centre_change, -1.0, 1.0)
        return centre, max_widths

    def _refine_lattice(
        self, centre: np.ndarray, step_sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Move the grid to the marginal's maximum; adapt its steps to the curvature there."""
        step_sizes = step_sizes.copy()
        for k in range(len(step_sizes)):
            step_along_axis = np.where(np.arange(len(step_sizes)) == k, step_sizes, 0.0)
            lower_value, log_marginal, upper_value = self._marginal_neighbours(
                centre, step_along_axis
            )
            for _ in range(_MAX_STEPS):
                if max(lower_value, upper_value) <= log_marginal:
                    break
                if upper_value > lower_value:
                    centre = centre + step_along_axis
                else:
                    centre = centre - step_along_axis
                lower_value, log_marginal, upper_value = self._marginal_neighbours(
                    centre, step_along_axis
                )
            curvature = 2.0 * log_marginal - lower_value - upper_value
            if curvature > 2.0 * _MAX_FALL:
                centre = centre + 0.5 * (upper_value - lower_value) / curvature * step_along_axis
                step_sizes[k] *= math.sqrt(1.0 / curvature)
        return centre, step_sizes

    def _marginal_neighbours(
        self, centre: np.ndarray, step_along_axis: np.ndarray
    ) -> tuple[float, float, float]:
        """Return the log marginal at a grid point and one step to both sides."""
        return (
            self._log_marginal(centre - step_along_axis),
            self._log_marginal(centre),
            self._log_marginal(centre + step_along_axis),
        )

    def _build_lattice(self, centre: np.ndarray, step_sizes: np.ndarray) -> None:
        """Fill the grid with all points of sufficient weight."""
        origin = (0,) * len(step_sizes)
        max_drop = _DROPS[len(step_sizes)]
        log_weights = {origin: self._log_marginal(centre)}
        edge_points = [origin]
        unit_vectors = np.eye(len(step_sizes), dtype=int)
        directions = [*unit_vectors, *-unit_vectors]
        while edge_points:
            neighbours = {
                tuple((grid_index + direction).tolist())
                for grid_index, direction in itertools.product(edge_points, directions)
            } - set(log_weights)
            edge_points = []
            for grid_index in sorted(neighbours, key=lambda grid_index: np.abs(grid_index).sum()):
                if max(map(abs, grid_index)) > 2 * _MAX_STEPS:
                    continue
                log_weights[grid_index] = self._log_marginal(
                    centre + np.array(grid_index) * step_sizes
                )
                if log_weights[grid_index] > max(log_weights.values()) - max_drop:
                    edge_points.append(grid_index)
        largest_log_weight = max(log_weights.values())
        retained_indices = [
            grid_index
            for grid_index in sorted(log_weights)
            if log_weights[grid_index] >= largest_log_weight - max_drop
        ]
        weights = np.exp(
            np.array([log_weights[grid_index] for grid_index in retained_indices])
            - largest_log_weight
        )
        self.evidence = (
            largest_log_weight + math.log(weights.sum()) + float(np.log(step_sizes).sum())
        )
        log_sds = [centre + np.array(grid_index) * step_sizes for grid_index in retained_indices]
        self._store_points(log_sds, compute_shares(weights), step_sizes)

    def _estimate_widths(self, centre: np.ndarray, step_sizes: np.ndarray) -> np.ndarray:
        """Return the marginal's sd along each axis, from its fall after one step."""
        lower_values, centre_values, upper_values = zip(
            *(self._marginal_neighbours(centre, unit) for unit in np.diag(step_sizes)), strict=True
        )
        curvatures = 2.0 * np.array(centre_values) - np.array(lower_values) - np.array(upper_values)
        return step_sizes / np.sqrt(np.maximum(curvatures, 0.25))

    def _build_axes(self, centre: np.ndarray, axis_sds: np.ndarray) -> None:
        """Place grid points along the axes, as for a normal marginal."""
        K = len(axis_sds)
        n_sds = math.sqrt(max(3.0, K))
        axis_points = [
            centre + sign * n_sds * unit for unit in np.diag(axis_sds) for sign in (-1.0, 1.0)
        ]
        weights = np.full(2 * K + 1, 0.5 / max(3.0, K))
        weights[0] = 1.0 - 2 * K * weights[1]
        self.evidence = (
            self._log_marginal(centre) + float(np.log(axis_sds).sum()) + 0.5 * K * LOG_2PI
        )
        self._store_points([centre, *axis_points], weights.clip(0.0), np.zeros(K))

    def _store_points(
        self, log_sds: list[np.ndarray], weights: np.ndarray, cell_widths: np.ndarray
    ) -> None:
        """Evaluate the marginal at grid points (log sds); store points, weights, cells."""
        for point_log_sds in log_sds:
            self._log_marginal(point_log_sds)
        self._logs = log_sds
        self.weights = weights
        self._cell_widths = cell_widths
        self.spreads = [self._build_spreads(point_log_sds) for point_log_sds in log_sds]
        self._points = [self._cache[_build_key(point_log_sds)][1] for point_log_sds in log_sds]

    def _build_spreads(self, log_sds: np.ndarray) -> Spreads:
        """Return all prior sds, given the logs of the learned ones."""
        spreads = list(self._known)
        for k, log_sd in zip(self.learned, log_sds, strict=True):
            spreads[k] = math.exp(log_sd)
        return Spreads(*map(np.asarray, spreads))

    def _log_marginal(self, log_sds: np.ndarray) -> float:
        """Return the log marginal density of learned log sds, by Laplace at the mode."""
        grid_key = _build_key(log_sds)
        if grid_key not in self._cache:
            start_parameters = None
            if self._cache:
                nearest_key = min(
                    self._cache, key=lambda cached_key: math.dist(cached_key, grid_key)
                )
                start_parameters = self._cache[nearest_key][1]
            mode = self._last = find_mode(
                self.density, self._build_spreads(log_sds), start_parameters
            )
            log_priors = [
                self.density.log_spread_prior(k, log_sd)
                for k, log_sd in zip(self.learned, log_sds, strict=True)
            ]
            self._cache[grid_key] = mode.evidence + float(sum(log_priors)), mode.point
        return self._cache[grid_key][0]

    # Draws ----------------------------------------------------------------------------------------

    def measure_asymmetry(self, rng: np.random.Generator) -> float:
        """Return the skewness of the density: how much opposite deviations differ."""
        spreads, mode = self.best
        n_deviations = int(np.clip(_PILOT_TERMS // self.density.n_rows, 10, _PILOT_DEVIATIONS))
        log_density_ahead, log_density_behind = self._mirrored_log_densities(
            mode, self.draw_deviations(mode, rng, n_deviations), spreads
        )
        return float(np.sqrt(np.mean((log_density_ahead - log_density_behind) ** 2)))

    def draw_deviations(
        self, mode: Mode, rng: np.random.Generator, n_deviations: int
    ) -> np.ndarray:
        """Draw deviations from the normal approximation at a mode, (size, count)."""
        deviations = mode.factor.draw(rng.standard_normal((self.density.size, n_deviations)))
        deviations[~self.density.is_free] = 0.0
        return deviations

    def covariance_roots(self) -> tuple[np.ndarray, np.ndarray]:
        """Return covariance roots W of all grid points, with their modes.

        :math:`W W'` is the covariance; shapes (points, size, size) and (points, size).
        """
        modes = [self.build_mode(k) for k in range(len(self.weights))]
        identity = np.eye(self.density.size)
        roots = np.array([mode.factor.draw(identity) for mode in modes])
        return roots, np.array([mode.point for mode in modes])

    def nearest_points(self, log_sds: np.ndarray) -> np.ndarray:
        """Return the nearest grid point to each column of log sds (4, n_draws)."""
        learned_rows = list(self.learned)
        grid_points = np.array(self._logs)
        grid_ranges = np.maximum(np.ptp(grid_points, axis=0), 1e-9)
        scaled_differences = (log_sds[learned_rows].T[:, None] - grid_points) / grid_ranges
        return (scaled_differences**2).sum(axis=2).argmin(axis=1)

    def draw_cells(self, rng: np.random.Generator, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw a grid point and log sds (4, count) for each draw."""
        random_order = rng.permutation(n_draws)
        quantiles = (np.arange(n_draws) + rng.random()) / n_draws * (1.0 - 1e-12)
        point_indices = np.empty(n_draws, np.int64)
        point_indices[random_order] = np.searchsorted(np.cumsum(self.weights), quantiles)
        log_sds = np.log(np.array(self.spreads))[point_indices].T
        for j, cell_width in zip(self.learned, self._cell_widths, strict=True):
            log_sds[j] += cell_width * (rng.random(n_draws) - 0.5)
        return point_indices, log_sds

    def draw_points(self, rng: np.random.Generator, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw parameters (size, count) and log sds (4, count) from the mixture.

        A deviation from the mode is normal, and kept or turned into its opposite by the density
        itself, which gives the draws its skewness to first order (Pozza, Durante & Szabo 2024,
        Skew-symmetric approximations of posterior distributions); of more than 20,000 rows it is
        normal.
        """
        point_indices, log_sds = self.draw_cells(rng, n_draws)
        points = np.zeros((self.density.size, n_draws))
        for k in np.unique(point_indices):
            draw_indices = np.flatnonzero(point_indices == k)
            mode = self.build_mode(k)
            spreads = self.spreads[k]
            deviations = self.draw_deviations(mode, rng, len(draw_indices))
            if self.density.n_terms <= _MAX_MIRRORED_ROWS:
                log_density_ahead, log_density_behind = self._mirrored_log_densities(
                    mode, deviations, spreads
                )
                with np.errstate(over="ignore", invalid="ignore"):  # of points without any density
                    deviations[
                        :,
                        rng.random(len(draw_indices))
                        * (1.0 + np.exp(log_density_behind - log_density_ahead))
                        > 1.0,
                    ] *= -1.0
            points[:, draw_indices] = mode.point[:, None] + deviations
        return points, log_sds

    def _mirrored_log_densities(
        self, mode: Mode, deviations: np.ndarray, spreads: Spreads
    ) -> list[np.ndarray]:
        """Return log densities at mode plus and mode minus each deviation."""
        slices = iterate_slices(deviations.shape[1], self.density.n_rows, _BLOCK_TERMS)
        blocks = [deviations[:, block] for block in slices]
        log_densities = []
        with np.errstate(over="ignore", invalid="ignore"):
            for sign in (1.0, -1.0):
                points = [mode.point[:, None] + sign * block for block in blocks]
                log_densities.append(
                    np.concatenate([self.density.log_densities(x, spreads) for x in points])
                )
        return log_densities
