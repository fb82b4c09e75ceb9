"""Laplace's approximation of the density of worths: its mode, the marginal of standard deviations, and draws."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered, BorderedFactor
from thali._inference.optimise import Step, Target, newton
from thali.errors import DataError

from .density import SPREAD, Density, Spreads, added

# The mode where standard deviations are known -------------------------------------------------------------------------


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

    def __init__(self, density: Density, spreads: Spreads, tilt: float, is_convex: bool = False) -> None:
        self._density, self._spreads, self._tilt, self._is_convex = density, spreads, tilt, is_convex

    def look(self, where: np.ndarray) -> DensityPlace:
        """The density there, of no value where it has no slope."""
        density, spreads, point = self._density, self._spreads, where[:, None]
        value, gradient, curvature = density.expanded(where, self._is_convex)
        value += float(density.log_priors(point, spreads)[0])
        density.add_prior_slope(gradient, point, spreads)
        if self._tilt:
            value -= self._tilt * float(where[density.judges].mean())
            gradient[density.judges] -= self._tilt / density.n_judges
        value = value if np.isfinite(gradient).all() else -np.inf
        return DensityPlace(where, value, gradient[:, 0], added(curvature, density.prior_curvature(where, spreads)))

    def moved(self, here: DensityPlace, change: np.ndarray) -> DensityPlace:
        return self.look(here.where + change)

    def slope(self, here: DensityPlace) -> _Sloped:
        return _Sloped(here.gradient, here.curvature, here.curvature.diagonal.clip(1e-3))

    def solve(self, slope: _Sloped, damping: float) -> Step | None:
        try:
            factor = BorderedFactor(slope.curvature.with_more(damping * slope.metric))
        except np.linalg.LinAlgError:
            return None
        change = factor.solve(slope.gradient)
        return Step(change, float(change @ slope.gradient))

    def rises(self, here: DensityPlace, ahead: DensityPlace, promised: float) -> bool:
        return ahead.value > here.value or promised < _ROUNDING * abs(here.value) + 1e-9


def curvature_at(density: Density, point: np.ndarray, spreads: Spreads, is_convex: bool = False) -> Bordered:
    """Minus the second derivatives of the density."""
    return added(density.curvature(point, is_convex), density.prior_curvature(point, spreads))


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


def highest(density: Density, spreads: Spreads, start: np.ndarray | None = None, tilt: float = 0.0) -> Mode:
    """The mode of the density, by damped Newton steps from a point, or from equal worths and judges.

    `tilt`: so many times the mean of log discriminations is taken from the log of the density first.
    """
    climb = _Climb(density, spreads, tilt)

    def climbed(begin: np.ndarray) -> DensityPlace:
        return newton(climb, climb.look(begin), _GAIN, last=True, damping=1e-6, longest=_LONGEST).point

    if start is None:  # from afar by steps that are never those towards a saddle
        afar = _Climb(density, spreads, tilt, is_convex=True)
        start = newton(afar, afar.look(np.zeros(density.size)), _NEAR, damping=1e-6, longest=_LONGEST).point.where
    end = climbed(start)
    factor = _factor(end.curvature)
    if factor is None:  # a saddle, such as that of two judges who contradict each other
        end = climbed(end.where + _ASIDE * np.where(density.is_free, np.cos(np.arange(density.size)), 0.0))
        factor = _factor(end.curvature)
    value = end.value + (tilt * float(end.where[density.judges].mean()) if tilt else 0.0)
    return _about(density, end.where, value, spreads, factor)


def _about(density: Density, point: np.ndarray, value: float, spreads: Spreads, factor: BorderedFactor | None) -> Mode:
    """The normal distribution about a mode; without a factor that of the convex part of the density."""
    if factor is None:
        curvature = curvature_at(density, point, spreads, is_convex=True)
        damped = (_factor(curvature.with_more(damping * np.abs(curvature.diagonal))) for damping in _DAMPINGS)
        factor = next((each for each in damped if each is not None), None)
    if factor is None:
        raise DataError(
            "The scales of the covariates differ too much; divide each covariate by its standard deviation."
        )
    free = int(density.is_free.sum())
    return Mode(point, factor, value + 0.5 * (free * math.log(2.0 * math.pi) - factor.log_determinant))


# Their marginal, on a lattice of their logarithms ---------------------------------------------------------------------


_START, _WIDEST, _FARTHEST = math.log(0.3), 0.5, 12  # of the lattice: see `Marginal`
_DROPS = (0.0, 6.0, 4.0, 3.0)  # of log weights, by the number of standard deviations, below which points do not count
_STEEPEST = 1.0  # fall of the log density at the neighbours of the top that is fine enough
_MOST_TURNED, _TOGETHER = 20_000, 1 << 21  # rows up to which deviations are turned; rows times points at a time
_MOST_FINER = 12  # times that the lattice is made finer


def _key(logs: np.ndarray) -> tuple[float, ...]:
    """A point of a lattice, whichever sums of steps have led to it."""
    return tuple(np.round(logs, 12).tolist())


class Marginal:
    r"""The density with standard deviations that are learned, as a mixture over a lattice of their logarithms.

    The weight of a point of the lattice is the HalfNormal(.5) density times Laplace's approximation of the integral of
    the density there. The lattice begins with steps of .5, moves to where it is highest, and becomes finer until the
    weights of neighbours fall by about half a unit of their logarithm; points are added in all directions until they
    fall by 6, or by 4 where two of them are learned. Of equal steps the sums are as exact as integrals of a
    smooth function can be.

    With judges the approximation is that in other coordinates, because a common factor of discriminations and
    differences of worths, which comparisons do not see, makes the density skew. With c the mean of log discriminations,
    :math:`\hat c` that of the mode, and m the mean of the n log worths, M stands in place of L:

    .. math:: L = m + e^{\hat c - c} (M - m), \qquad
        \log p(M, g) = \log p(L, g) - (n - 1) (c - \hat c)

    At the mode of that the second derivatives are those of :math:`\log p(L, g)`, up to a linear map of determinant 1.

    Parameters
    ----------
    density : Density
    judges, drift : float or None
        Standard deviations that are known; None: learned, if there are judges, or periods.

    References
    ----------
    Rue, Martino & Chopin (2009), Approximate Bayesian inference for latent Gaussian models by using integrated nested
    Laplace approximations.
    """

    def __init__(self, density: Density, judges: float | None = None, drift: float | None = None) -> None:
        self.density = density
        known = (judges if density.n_judges else math.nan, drift if len(density.steps) else math.nan)
        known += (None if density.n_bias else math.nan,)
        self._known = known
        self.learned = tuple(k for k, each in enumerate(known) if each is None)
        centre, step = np.full(len(self.learned), _START), np.full(len(self.learned), _WIDEST)
        self._worths = np.flatnonzero(density.present.ravel())
        self._tilt = float(len(self._worths) - 1) if density.n_judges else 0.0
        self._found: dict[
            tuple[float, ...], tuple[float, np.ndarray]
        ] = {}  # factors of many judges and periods are large
        self._last: Mode | None = None
        if self.learned == (0,):
            centre, step = self._of_judges(centre, step)
        for _ in range(_MOST_FINER if self.learned else 0):
            centre, finer = self._better(centre, step)
            if np.all(finer == step):
                break
            step = finer
        self._fill(centre, step)

    @property
    def best(self) -> tuple[Spreads, Mode]:
        """The point of the lattice with the greatest weight."""
        k = int(self.weights.argmax())
        return self.spreads[k], self._mode(k)

    def without(self, judge: int, spreads: Spreads, start: np.ndarray) -> np.ndarray:
        """The mode that the answers of all other judges leave; `start`: that of all."""
        return highest(self.density.without_judge(judge), spreads, start, self._tilt).point

    def _mode(self, k: int) -> Mode:
        """The mode at a point of the lattice."""
        point, spreads = self._points[k], self.spreads[k]
        here = _Climb(self.density, spreads, 0.0).look(point)
        return _about(self.density, point, here.value, spreads, _factor(here.curvature))

    def _of_judges(self, centre: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A lattice of log tau near the top of its marginal, as fine as that is narrow, where steps of .5 are wide."""
        # With g and v the means and variances of log discriminations given tau, the slope of the log marginal by log
        # tau is sum_j((g_j^2 + v_j) / tau^2 - 1) + 1 - tau^2 / .5^2 (Fisher's identity), and the information that
        # normal means with known errors have of their variance 2 sum_j(1 - v_j / tau^2)^2 + 2 tau^2 / .5^2.
        at = self.density.judges
        for _ in range(_MOST_FINER):
            self._value(centre)
            assert self._last is not None
            mode, squared = self._last, math.exp(2.0 * centre[0])
            variances = mode.factor.variances_of_corner[at.start - self.density.worths.stop :][: self.density.n_judges]
            of_prior = squared / SPREAD**2
            slope = float(((mode.point[at] ** 2 + variances) / squared - 1.0).sum()) + 1.0 - of_prior
            width = (2.0 * float(((1.0 - variances / squared) ** 2).sum()) + 2.0 * of_prior) ** -0.5
            if width > 0.5 * _WIDEST:
                return np.full(1, _START), step
            change = 0.5 * math.log1p(max(2.0 * slope * width**2, -0.9))  # one step where errors are small
            if abs(change) < 0.5 * width:
                return centre, np.full(1, width)
            centre = centre + change
        return centre, step

    def _better(self, centre: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lattice moved to its highest point near by, with steps that fit the fall there."""
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
        """The log of the marginal a step before a point, there, and a step behind it."""
        return self._value(centre - unit), self._value(centre), self._value(centre + unit)

    def _fill(self, centre: np.ndarray, step: np.ndarray) -> None:
        """The points of the lattice that count."""
        place, drop = (0,) * len(step), _DROPS[len(step)]
        seen, edge = {place: self._value(centre)}, [place]
        ways = [tuple(np.eye(len(step), dtype=int)[k] * sign) for k in range(len(step)) for sign in (-1, 1)]
        while edge:
            near = {tuple(np.add(each, way).tolist()) for each, way in itertools.product(edge, ways)} - set(seen)
            edge = []
            for each in sorted(near, key=lambda far: np.abs(far).sum()):
                if max(map(abs, each)) > 2 * _FARTHEST:
                    continue
                seen[each] = self._value(centre + np.array(each) * step)
                if seen[each] > max(seen.values()) - drop:
                    edge.append(each)
        top = max(seen.values())
        kept = [each for each in sorted(seen) if seen[each] >= top - drop]
        points = [centre + np.array(each) * step for each in kept]
        self.spreads = [self._spreads(each) for each in points]
        self._points = [self._found[_key(each)][1] for each in points]
        weights = np.exp(np.array([seen[each] for each in kept]) - top)
        self.evidence = top + math.log(weights.sum()) + float(np.log(step).sum())
        self.weights = weights / weights.sum()
        self.step = step

    def _spreads(self, logs: np.ndarray) -> Spreads:
        found = list(self._known)
        for k, value in zip(self.learned, logs, strict=True):
            found[k] = math.exp(value)
        return Spreads(*map(np.asarray, found))

    def _value(self, logs: np.ndarray) -> float:
        """The log of the marginal there; modes of neighbours are near."""
        key = _key(logs)
        if key not in self._found:
            nearest = min(self._found, key=lambda other: math.dist(other, key), default=None)
            start = None if nearest is None else self._found[nearest][1]
            mode = self._last = highest(self.density, self._spreads(logs), start, self._tilt)
            of_spreads = [self.density.log_spread_prior(k, log) for k, log in zip(self.learned, logs, strict=True)]
            self._found[key] = mode.evidence + float(sum(of_spreads)), mode.point
        return self._found[key][0]

    # Draws -----------------------------------------------------------------------------------------------------------

    def draws(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, Spreads]:
        """So many points (size, draws), and the standard deviations of each.

        A deviation from the mode is normal, and kept or turned into its opposite by the density itself, which gives the
        draws its skewness to first order, as in `bradley_terry.NormalWorths`; of more than 20,000 rows it is normal.
        """
        order = rng.permutation(count)
        chosen = np.searchsorted(np.cumsum(self.weights), (np.arange(count) + rng.random()) / count * (1.0 - 1e-12))
        points, spreads = np.zeros((self.density.size, count)), np.zeros((len(self._known), count))
        for k in np.unique(chosen):
            own = np.flatnonzero(chosen == k)
            mode, here = self._mode(k), self.spreads[k]
            away = mode.factor.draw(rng.standard_normal((self.density.size, len(own))))
            away[~self.density.is_free] = 0.0
            if len(self.density.rows.judge) <= _MOST_TURNED:
                with np.errstate(over="ignore", invalid="ignore"):  # of points without any density
                    ahead, behind = (self._values(mode, sign * away, here) for sign in (1, -1))
                    away[:, rng.random(len(own)) * (1.0 + np.exp(behind - ahead)) > 1.0] *= -1.0
            points[:, order[own]] = self._moved(mode, away)
            logs = np.log(np.array(here)[:, None]) * np.ones(len(own))
            for j, step in zip(self.learned, self.step, strict=True):
                logs[j] += step * (rng.random(len(own)) - 0.5)  # within the cell of the lattice
            spreads[:, order[own]] = np.exp(logs)
        return points, Spreads(*spreads)

    def _moved(self, mode: Mode, away: np.ndarray) -> np.ndarray:
        """The points of deviations from the mode, which are those of L and g to first order."""
        points = mode.point[:, None] + away
        if self.density.n_judges:
            c, at = away[self.density.judges].mean(axis=0), mode.point[self._worths]
            worths = points[self._worths] + (at - at.mean())[:, None] * c
            mean = worths.mean(axis=0)
            points[self._worths] = mean + np.exp(-c) * (worths - mean)
        return points

    def _values(self, mode: Mode, away: np.ndarray, spreads: Spreads) -> np.ndarray:
        """The log density of many deviations, some at a time."""
        some = max(1, _TOGETHER // len(self.density.rows.judge))
        blocks = [away[:, begin : begin + some] for begin in range(0, away.shape[1], some)]
        values = np.concatenate([self.density.values(self._moved(mode, block), spreads) for block in blocks])
        return values - self._tilt * away[self.density.judges].mean(axis=0) if self._tilt else values
