"""Laplace's approximation of the density of worths: its mode, the marginal of standard deviations,
and draws."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered, BorderedFactor
from thali._inference.optimise import Step, Target, maximise_newton
from thali.errors import DataError

from .density import (
    BIAS,
    HALF_NORMAL_SCALE,
    JUDGES,
    LOG_SPREAD_MEAN,
    LOG_SPREAD_SD,
    WORTHS,
    Density,
    Spreads,
    add_bordered,
)

# The mode where standard deviations are known -----------------------------------------------------


_GAIN = 1e-9  # of the log density: the step that promises less is the last
_NEAR = 1.0  # the same of the first steps, which are those of a convex problem
_ROUNDING = 1e-14  # of the log density: gains below that share of it cannot be seen
_ASIDE = 0.3  # how far from a saddle another climb begins
_DAMPINGS = (0.0, 1e-13, 1e-10, 1e-7, 1e-4)  # of curvatures that rounding leaves not quite positive
_LONGEST = 3.0  # change of a coordinate in one step


class DensityPlace(NamedTuple):
    """The density at a point, with what a step from there is made of."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: Bordered


class _Sloped(NamedTuple):
    gradient: np.ndarray
    curvature: Bordered
    metric: np.ndarray


class _Climb(Target[DensityPlace]):
    """The density given standard deviations, whose steps are solved along the blocks of time."""

    def __init__(self, density: Density, spreads: Spreads, is_convex: bool = False) -> None:
        self._density, self._spreads, self._is_convex = density, spreads, is_convex

    def look(self, where: np.ndarray) -> DensityPlace:
        """The density there, of no value where it has no slope."""
        density, spreads, point = self._density, self._spreads, where[:, None]
        value, gradient, curvature = density.expand(where, self._is_convex)
        value += float(density.log_priors(point, spreads)[0])
        density.add_prior_slope(gradient, point, spreads)
        value = value if np.isfinite(gradient).all() else -np.inf
        return DensityPlace(
            where, value, gradient[:, 0], add_bordered(curvature, density.prior_curvature(spreads))
        )

    def move_point(self, here: DensityPlace, change: np.ndarray) -> DensityPlace:
        return self.look(here.where + change)

    def slope(self, here: DensityPlace) -> _Sloped:
        return _Sloped(here.gradient, here.curvature, here.curvature.diagonal.clip(1e-3))

    def solve(self, slope: _Sloped, damping: float) -> Step | None:
        factor = _factor(slope.curvature.add_diagonal(damping * slope.metric))
        if factor is None:
            return None
        change = factor.solve(slope.gradient)
        return Step(change, float(change @ slope.gradient))

    def accepts_step(self, here: DensityPlace, ahead: DensityPlace, promised: float) -> bool:
        return ahead.value > here.value or promised < _ROUNDING * abs(here.value) + 1e-9


class Mode(NamedTuple):
    """The highest point given standard deviations, and the normal distribution about it."""

    point: np.ndarray
    factor: BorderedFactor  # of minus the second derivatives
    evidence: float  # the log of the integral of the density, approximately


def _factor(curvature: Bordered) -> BorderedFactor | None:
    """The factor of minus the second derivatives; None where they are not those of a maximum."""
    try:
        return BorderedFactor(curvature)
    except np.linalg.LinAlgError:
        return None


def _damped_factor(curvature: Bordered) -> BorderedFactor:
    """The factor of curvatures that rounding may leave not quite positive."""
    damped = (
        _factor(curvature.add_diagonal(damping * np.abs(curvature.diagonal)))
        for damping in _DAMPINGS
    )
    factor = next((each for each in damped if each is not None), None)
    if factor is None:
        raise DataError(
            "The scales of the covariates differ too much; divide each covariate by its standard"
            " deviation."
        )
    return factor


def highest(density: Density, spreads: Spreads, start: np.ndarray | None = None) -> Mode:
    """Return the mode of the density, by damped Newton steps from a point, or from equal worths and
    judges."""
    climb = _Climb(density, spreads)

    def climbed(begin: np.ndarray) -> DensityPlace:
        return maximise_newton(
            climb, climb.look(begin), _GAIN, take_last=True, damping=1e-6, max_change=_LONGEST
        ).point

    if start is None:  # from afar by steps that are never those towards a saddle
        afar = _Climb(density, spreads, is_convex=True)
        start = maximise_newton(
            afar, afar.look(np.zeros(density.size)), _NEAR, damping=1e-6, max_change=_LONGEST
        ).point.where
    end = climbed(start)
    factor = _factor(end.curvature)
    if factor is None:  # a saddle, such as that of two judges who contradict each other
        end = climbed(
            end.where + _ASIDE * np.where(density.is_free, np.cos(np.arange(density.size)), 0.0)
        )
        factor = _factor(end.curvature)
    return _about(density, end.where, end.value, spreads, factor)


def _about(
    density: Density,
    point: np.ndarray,
    value: float,
    spreads: Spreads,
    factor: BorderedFactor | None,
) -> Mode:
    """The normal distribution about a mode; without a factor that of the convex part of the
    density."""
    if factor is None:
        convex = add_bordered(
            density.curvature(point, is_convex=True), density.prior_curvature(spreads)
        )
        factor = _damped_factor(convex)
    free = int(density.is_free.sum())
    return Mode(
        point, factor, value + 0.5 * (free * math.log(2.0 * math.pi) - factor.log_determinant)
    )


# Their marginal, on a lattice of their logarithms -------------------------------------------------


# of the lattice, by standard deviation
_STARTS = LOG_SPREAD_MEAN, math.log(0.3), math.log(0.3), math.log(0.3)
_WIDEST, _FARTHEST = 0.5, 12  # first steps, and most steps in one direction
# of log weights, by the number of standard deviations, below which points do not count
_DROPS = 0.0, 6.0, 4.0
_STEEPEST = 1.0  # fall of the log density at the neighbours of the top that is fine enough
_MOST_FINER = 12  # times that the lattice is made finer
# above which deviations are not mirrored, and two standard deviations have no grid
_MANY_ROWS = 20_000
_TOGETHER = 1 << 21  # rows times points at a time
# deviations by which asymmetry is measured, and rows times them at most
_PILOT, _PILOT_TERMS = 200, 1 << 22


def _key(logs: np.ndarray) -> tuple[float, ...]:
    """A point of a lattice, whichever sums of steps have led to it."""
    return tuple(np.round(logs, 12).tolist())


class Marginal:
    r"""The density with standard deviations that are learned, as a mixture over points of their
    logarithms.

    The weight of a point is the prior density of the logarithms times Laplace's approximation of
    the integral of the density there. With one or two standard deviations the points are a lattice,
    which begins with steps of 0.5, moves to where it is highest, and becomes finer until the
    weights of neighbours fall by about half a unit of their logarithm; points are added until these
    fall by 6, or by 4 with two. Of equal steps the sums are as exact as integrals of a smooth
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
        Standard deviations that are known; None: learned, if the density has them.

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
        self.density = density
        known = enumerate((worths, judges, drift, None))
        self._known = tuple(each if k in density.spread_kinds else math.nan for k, each in known)
        self.learned = tuple(k for k, each in enumerate(self._known) if each is None)
        # factors of many options are large
        self._found: dict[tuple[float, ...], tuple[float, np.ndarray]] = {}
        self._last: Mode | None = None
        centre, step = (
            np.array([_STARTS[k] for k in self.learned]),
            np.full(len(self.learned), _WIDEST),
        )
        by_axes = len(step) > 2 or (len(step) == 2 and density.n_rows > _MANY_ROWS)
        by_slopes = {WORTHS, JUDGES, BIAS}.issuperset(self.learned) and density.n_periods == 1
        if by_slopes:
            centre, step = self._by_slopes(centre, step)
        for _ in range(0 if by_axes and by_slopes else _MOST_FINER * len(step)):
            centre, finer = self._better(centre, step)
            if np.all(finer == step):
                break
            step = finer
        if by_axes:
            self._fill_axes(centre, step if by_slopes else self._widths(centre, step))
        else:
            self._fill(centre, step)

    @property
    def best(self) -> tuple[Spreads, Mode]:
        """The point with the greatest density of logarithms."""
        k = int(np.argmax([self._value(each) for each in self._logs]))
        return self.spreads[k], self.mode(k)

    @property
    def middle(self) -> np.ndarray:
        """The mean of the modes."""
        return self.weights @ np.array(self._points)

    def precision(self, contrasts: np.ndarray) -> Callable[[float], np.ndarray]:
        """Return the precision of contrasts (size, k) at the best mode by how often each answer is
        there, the prior's included."""
        spreads, mode = self.best
        prior = self.density.prior_curvature(spreads)
        once = self.density.curvature(mode.point, is_convex=True)

        def at(times: float) -> np.ndarray:
            factor = _damped_factor(add_bordered(prior, Bordered(*(times * part for part in once))))
            return np.linalg.pinv(contrasts.T @ factor.solve(contrasts), hermitian=True)

        return at

    def mode(self, k: int) -> Mode:
        """Return the mode at a point of the lattice."""
        point, spreads = self._points[k], self.spreads[k]
        here = _Climb(self.density, spreads).look(point)
        return _about(self.density, point, here.value, spreads, _factor(here.curvature))

    def _by_slopes(self, centre: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a centre near the top of the marginal and steps as fine as it is narrow, where 0.5
        is wide."""
        # With g and v the means and variances, given their standard deviation tau, of what it
        # spreads, the slope of the log marginal by log tau is sum_j((g_j^2 + v_j) / tau^2 - 1) and
        # that of the log prior (Fisher's identity), and the information that normal means with
        # known errors have of it 2 sum_j(1 - v_j / tau^2)^2.
        places = {WORTHS: self.density.worths, JUDGES: self.density.judges, BIAS: self.density.bias}
        for _ in range(_MOST_FINER):
            self._value(centre)
            assert self._last is not None
            variances, change, width = (
                self._last.factor.variances,
                np.zeros_like(centre),
                np.zeros_like(centre),
            )
            for number, k in enumerate(self.learned):
                squared, own = math.exp(2.0 * centre[number]), variances[places[k]]
                slope, bend = _log_prior_slope(k, centre[number])
                slope += float(((self._last.point[places[k]] ** 2 + own) / squared - 1.0).sum())
                width[number] = (2.0 * float(((1.0 - own / squared) ** 2).sum()) + bend) ** -0.5
                change[number] = 0.5 * math.log1p(max(2.0 * slope * width[number] ** 2, -0.9))
            if (np.abs(change) < 0.5 * width).all():
                return centre, np.minimum(width, step)
            centre = centre + np.clip(change, -1.0, 1.0)
        return centre, step

    def _better(self, centre: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lattice moved to its highest point nearby, with steps that fit the fall
        there."""
        step = step.copy()
        for k in range(len(step)):
            unit = np.where(np.arange(len(step)) == k, step, 0.0)
            down, here, up = self._around(centre, unit)
            for _ in range(_FARTHEST):
                if max(down, up) <= here:
                    break
                centre = centre + (unit if up > down else -unit)
                down, here, up = self._around(centre, unit)
            bend = 2.0 * here - down - up
            if bend > 2.0 * _STEEPEST:
                centre = centre + 0.5 * (up - down) / bend * unit
                step[k] *= math.sqrt(1.0 / bend)
        return centre, step

    def _around(self, centre: np.ndarray, unit: np.ndarray) -> tuple[float, float, float]:
        """Return the log of the marginal a step before a point, there, and a step behind it."""
        return self._value(centre - unit), self._value(centre), self._value(centre + unit)

    def _fill(self, centre: np.ndarray, step: np.ndarray) -> None:
        """Fill the lattice with the points that count."""
        place, drop = (0,) * len(step), _DROPS[len(step)]
        seen, edge = {place: self._value(centre)}, [place]
        ways = [
            tuple(np.eye(len(step), dtype=int)[k] * sign)
            for k in range(len(step))
            for sign in (-1, 1)
        ]
        while edge:
            near = {
                tuple(np.add(each, way).tolist()) for each, way in itertools.product(edge, ways)
            } - set(seen)
            edge = []
            for each in sorted(near, key=lambda far: np.abs(far).sum()):
                if max(map(abs, each)) > 2 * _FARTHEST:
                    continue
                seen[each] = self._value(centre + np.array(each) * step)
                if seen[each] > max(seen.values()) - drop:
                    edge.append(each)
        top = max(seen.values())
        kept = [each for each in sorted(seen) if seen[each] >= top - drop]
        weights = np.exp(np.array([seen[each] for each in kept]) - top)
        self.evidence = top + math.log(weights.sum()) + float(np.log(step).sum())
        self._keep([centre + np.array(each) * step for each in kept], weights / weights.sum(), step)

    def _widths(self, centre: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return the standard deviations of a normal marginal by its fall a step aside."""
        down, here, up = zip(*(self._around(centre, unit) for unit in np.diag(step)), strict=True)
        bends = 2.0 * np.array(here) - np.array(down) - np.array(up)
        return step / np.sqrt(np.maximum(bends, 0.25))

    def _fill_axes(self, centre: np.ndarray, step: np.ndarray) -> None:
        """Take the points along axes of a normal marginal; steps are its standard deviations."""
        count = len(step)
        far = math.sqrt(max(3.0, count))
        ends = [centre + sign * far * unit for unit in np.diag(step) for sign in (-1.0, 1.0)]
        weights = np.full(2 * count + 1, 0.5 / max(3.0, count))
        weights[0] = 1.0 - 2 * count * weights[1]
        self.evidence = (
            self._value(centre) + float(np.log(step).sum()) + 0.5 * count * math.log(2.0 * math.pi)
        )
        self._keep([centre, *ends], weights.clip(0.0), np.zeros(count))

    def _keep(self, logs: list[np.ndarray], weights: np.ndarray, cell: np.ndarray) -> None:
        """Keep points of the marginal with their weights and the widths of the cells about them."""
        for each in logs:
            self._value(each)
        self._logs, self.weights, self._cell = logs, weights, cell
        self.spreads = [self._spreads(each) for each in logs]
        self._points = [self._found[_key(each)][1] for each in logs]

    def _spreads(self, logs: np.ndarray) -> Spreads:
        """Return the standard deviations at a point."""
        found = list(self._known)
        for k, value in zip(self.learned, logs, strict=True):
            found[k] = math.exp(value)
        return Spreads(*map(np.asarray, found))

    def _value(self, logs: np.ndarray) -> float:
        """Return the log of the marginal at a point; modes of neighbours are near."""
        key = _key(logs)
        if key not in self._found:
            nearest = min(self._found, key=lambda other: math.dist(other, key), default=None)
            start = None if nearest is None else self._found[nearest][1]
            mode = self._last = highest(self.density, self._spreads(logs), start)
            of_spreads = [
                self.density.log_spread_prior(k, log)
                for k, log in zip(self.learned, logs, strict=True)
            ]
            self._found[key] = mode.evidence + float(sum(of_spreads)), mode.point
        return self._found[key][0]

    # Draws ----------------------------------------------------------------------------------------

    def asymmetry(self, rng: np.random.Generator) -> float:
        """Return the standard deviation of the log odds of deviations from the best mode and their
        opposites."""
        spreads, mode = self.best
        count = int(np.clip(_PILOT_TERMS // self.density.n_rows, 10, _PILOT))
        ahead, behind = self._mirrored(mode, self.deviations(mode, rng, count), spreads)
        return float(np.sqrt(np.mean((ahead - behind) ** 2)))

    def deviations(self, mode: Mode, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return normal deviations from a mode (size, draws)."""
        away = mode.factor.draw(rng.standard_normal((self.density.size, count)))
        away[~self.density.is_free] = 0.0
        return away

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """Return W with W W' the covariance at each point of the lattice (points, size, size), and
        the modes."""
        modes = [self.mode(k) for k in range(len(self.weights))]
        one = np.eye(self.density.size)
        return np.array([mode.factor.draw(one) for mode in modes]), np.array(
            [mode.point for mode in modes]
        )

    def nearest(self, logs: np.ndarray) -> np.ndarray:
        """Return the point of the lattice that is nearest to logarithms of standard deviations (4,
        draws)."""
        learned, places = list(self.learned), np.array(self._logs)
        widths = np.maximum(np.ptp(places, axis=0), 1e-9)
        away = (logs[learned].T[:, None] - places) / widths
        return (away**2).sum(axis=2).argmin(axis=1)

    def cells(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a point of the lattice for each draw, and the logarithms of standard deviations
        (4, draws)."""
        order = rng.permutation(count)
        shares = (np.arange(count) + rng.random()) / count * (1.0 - 1e-12)
        chosen = np.empty(count, np.int64)
        chosen[order] = np.searchsorted(np.cumsum(self.weights), shares)
        logs = np.log(np.array(self.spreads))[chosen].T
        for j, cell in zip(self.learned, self._cell, strict=True):
            logs[j] += cell * (rng.random(count) - 0.5)
        return chosen, logs

    def draws(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return points (size, draws), and the logarithms of their standard deviations (4, draws).

        A deviation from the mode is normal, and kept or turned into its opposite by the density
        itself, which gives the draws its skewness to first order (Pozza, Durante & Szabo 2024,
        Skew-symmetric approximations of posterior distributions); of more than 20,000 rows it is
        normal.
        """
        chosen, logs = self.cells(rng, count)
        points = np.zeros((self.density.size, count))
        for k in np.unique(chosen):
            own = np.flatnonzero(chosen == k)
            mode, here = self.mode(k), self.spreads[k]
            away = self.deviations(mode, rng, len(own))
            if self.density.n_terms <= _MANY_ROWS:
                ahead, behind = self._mirrored(mode, away, here)
                with np.errstate(over="ignore", invalid="ignore"):  # of points without any density
                    away[:, rng.random(len(own)) * (1.0 + np.exp(behind - ahead)) > 1.0] *= -1.0
            points[:, own] = mode.point[:, None] + away
        return points, logs

    def _mirrored(self, mode: Mode, away: np.ndarray, spreads: Spreads) -> list[np.ndarray]:
        """Return the log density of many deviations, and of their opposites, some at a time."""
        some = max(1, _TOGETHER // self.density.n_rows)
        blocks = [away[:, begin : begin + some] for begin in range(0, away.shape[1], some)]
        with np.errstate(over="ignore", invalid="ignore"):
            return [
                np.concatenate(
                    [
                        self.density.log_densities(mode.point[:, None] + sign * each, spreads)
                        for each in blocks
                    ]
                )
                for sign in (1.0, -1.0)
            ]


def _log_prior_slope(k: int, log_spread: float) -> tuple[float, float]:
    """Return the slope of the log prior of a log standard deviation, and minus its curvature."""
    if k == WORTHS:
        return (LOG_SPREAD_MEAN - log_spread) / LOG_SPREAD_SD**2, LOG_SPREAD_SD**-2.0
    scaled = math.exp(2.0 * log_spread) / HALF_NORMAL_SCALE**2
    return 1.0 - scaled, 2.0 * scaled
