"""Worths alone: the posterior of Bradley-Terry-Luce models near its mode, with ties and covariates, and draws of it."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled
from thali._data.pairs import PairedComparisons
from thali._inference.chains import BLOCK, IndependentDraws, Run, recorded_of
from thali._inference.numerics.davidson import shares, slopes, terms
from thali._inference.numerics.exponential import fast_exp
from thali._inference.numerics.logarithm import fast_log
from thali._inference.optimise import Slope, Target, newton
from thali._inference.seeds import streams
from thali._model.covariates import parameter
from thali._model.engine import Forecast, refuse_of_chains
from thali._model.sampling import Sampling
from thali._posterior.dependence import ADJUSTED, Dependence
from thali.errors import ArgumentError, DataError, Setting

from .answers.stored_layout import APPROXIMATE, TEMPERED_LATER
from .draws.covariates import FARTHEST
from .likelihoods.elimination import as_pairs
from .priors.given import Given
from .samplers.record import ChainDraws

if TYPE_CHECKING:
    import xarray

    from .samplers.chains import SamplingTask


# The posterior density of log worths and of the parameter of ties, with its first and second derivatives -------------


class BradleyTerryDensity(NamedTuple):
    r"""The density of log worths :math:`u`, of which only differences count, of the log :math:`\tau` of nu, and of
    the coefficients :math:`\beta` of covariates x.

    .. math::
        \tilde p = (1 - \varepsilon) \frac{1}{1 + e^{u_j - u_i - x' \beta}} + \frac{\varepsilon}{2}, \qquad
        r = e^\tau \sqrt{\tilde p (1 - \tilde p)}, \qquad
        P(i), P(\text{tie}), P(j) = \frac{\tilde p, r, 1 - \tilde p}{1 + r}

    Gamma(1, 1) priors of all worths, whose sum tells nothing, leave a flat prior of their shares; each coefficient of a
    covariate has a Normal(0, 1) prior:

    .. math:: \log p(u, \tau, \beta) = \sum_i u_i - n \log \sum_i e^{u_i} + \tau - e^\tau - \beta' \beta / 2

    A point holds u, tau if there are ties, and beta; several points are rows.
    """

    first: np.ndarray  # (pairs,), or a place for each pair and different covariates
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    x: np.ndarray  # (pairs, covariates): what they add to the log odds of the first, per unit of a coefficient
    n_options: int
    lapse: float
    has_ties: bool
    has_prior: bool  # False: the likelihood alone
    power: float = 1.0  # to which the likelihood is raised: the counts are so many times those of the data

    @property
    def size(self) -> int:
        """Coordinates of a point."""
        return self.n_options + self.has_ties + self.x.shape[1]

    def parts_of(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log worths, the log of nu and the coefficients in points, along the last axis."""
        n, after = self.n_options, self.n_options + self.has_ties
        return points[..., :n], points[..., n:after], points[..., after:]

    @property
    def rows(self) -> int:
        """Pairs, or different covariates of them."""
        return len(self.first)

    @property
    def covariates(self) -> int:
        """Number of covariates."""
        return self.x.shape[1]

    def raised(self, power: float) -> "BradleyTerryDensity":
        """The density whose likelihood is raised to a power."""
        counts = {name: power * getattr(self, name) for name in ("wins", "losses", "tied")}
        return self._replace(**counts, power=power * self.power)

    def simpler(self) -> "BradleyTerryDensity | None":
        """The density whose highest point is near; None: equal worths are near enough."""
        if self.lapse > 0.0:
            return self._replace(lapse=0.0)
        return _without_covariates(self) if self.covariates else None  # few steps over all rows are left from there

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihood at each row, without coefficients."""
        u, log_nu, beta = (np.ascontiguousarray(part.T) for part in self.parts_of(points))
        half, lapse = self.tied / 2.0, self.lapse
        found = log_nu.sum(axis=0) * self.tied.sum()
        if lapse == 0.0:
            own = _along(self.wins + half, self.first, self.second, self.n_options, 0.0)
            own += np.bincount(self.second, self.losses + half, self.n_options)
            found = found + own @ u
        nu = np.exp(log_nu[0]) if self.has_ties else np.zeros(u.shape[1])
        sides = self.first, self.second, self.wins + half, self.losses + half
        add_pairs(*sides, lapse, np.exp(u / 2.0), nu, self.x, beta, np.ones_like(nu), np.empty_like(nu), found)
        return found

    def likelihood_at(self, point: np.ndarray) -> "LocalDensity":
        """The log-likelihood near a point."""
        n, i, j, x = self.n_options, self.first, self.second, self.x
        u, log_nu, beta = self.parts_of(point)
        after = self.size - len(beta)
        q, rest = shares(u[i] - u[j] + x @ beta)
        value = float(terms(self, q, rest, log_nu).sum())
        slope, bend, of_nu, spread, mixed = slopes(self, q, rest, log_nu)
        gradient, curvature = np.zeros(len(point)), np.zeros((len(point), len(point)))
        if self.has_ties:
            gradient[n], curvature[n, n] = of_nu.sum(), spread.sum()
            curvature[n, :n] = curvature[:n, n] = _along(mixed, i, j, n)
            curvature[n, after:] = curvature[after:, n] = mixed @ x
        gradient[:n], gradient[after:] = _along(slope, i, j, n), slope @ x
        size = len(point)
        curvature += np.bincount(i * size + j, bend, size * size).reshape(size, size)
        curvature[:n, :n] += curvature[:n, :n].T
        curvature[np.arange(n), np.arange(n)] = -_along(bend, i, j, n, 1.0)
        curvature[after:, after:] = -(x.T * bend) @ x
        for m, values in enumerate(x.T, after):
            curvature[m, :n] = curvature[:n, m] = -_along(bend * values, i, j, n)
        return LocalDensity(point, value, gradient, curvature)


class LocalDensity(NamedTuple):
    """The density at a point."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: np.ndarray  # minus the second derivatives; 0 along a common change of all log worths


def density_of(data: PairedComparisons, lapse: float, has_ties: bool, has_prior: bool = True) -> BradleyTerryDensity:
    """The density that comparisons leave, pairs with as many in a row; ties count only if `has_ties`."""
    cells = data.cells
    tied = cells.tied if has_ties else np.zeros(len(cells.first))
    order = np.argsort(cells.wins + cells.losses + tied, kind="stable")
    first, second, wins, losses, tied, x = (
        each[order] for each in (cells.first, cells.second, cells.wins, cells.losses, tied, cells.x)
    )
    return BradleyTerryDensity(first, second, wins, losses, tied, x, data.n_options, float(lapse), has_ties, has_prior)


def log_densities(density: BradleyTerryDensity, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log of the density with its prior at each row, and the log-likelihood in it, without coefficients."""
    u, log_nu, beta = density.parts_of(points)
    found = density.log_likelihoods(points)
    top = u.max(axis=1)
    whole = top + np.log(np.exp(u - top[:, None]).sum(axis=1))
    of_worths = u.sum(axis=1) - density.n_options * whole
    return found + of_worths + (log_nu - np.exp(log_nu)).sum(axis=1) - 0.5 * (beta**2).sum(axis=1), found


def local(density: BradleyTerryDensity, point: np.ndarray) -> LocalDensity:
    """Value, gradient and curvature at a point."""
    found = density.likelihood_at(point)
    return _with_prior(density, found) if density.has_prior else found


def _with_prior(density: BradleyTerryDensity, likelihood: LocalDensity) -> LocalDensity:
    """The density where the likelihood alone is that."""
    from scipy.special import logsumexp

    n, (point, value, gradient, curvature) = density.n_options, likelihood
    u, log_nu, beta = density.parts_of(point)
    after = density.size - len(beta)
    whole = logsumexp(u)
    share = np.exp(u - whole)
    value += float(u.sum() - n * whole)
    gradient[:n] += 1.0 - n * share
    curvature[:n, :n] += n * (np.diag(share) - np.outer(share, share))
    if density.has_ties:
        nu = np.exp(log_nu[0])
        value += float(log_nu[0] - nu)
        gradient[n] += 1.0 - nu
        curvature[n, n] += nu
    value -= float(beta @ beta) / 2.0
    gradient[after:] -= beta
    curvature[np.arange(after, density.size), np.arange(after, density.size)] += 1.0
    return LocalDensity(point, value, gradient, curvature)


def _along(of_pairs: np.ndarray, i: np.ndarray, j: np.ndarray, n: int, sign: float = -1.0) -> np.ndarray:
    """The sum over the pairs of each option, those in which it stands second with that sign."""
    return np.bincount(i, of_pairs, n) + sign * np.bincount(j, of_pairs, n)


# The sum over pairs in it, at many points at once --------------------------------------------------------------------


TOGETHER = 4  # pairs of one logarithm


@compiled
def add_pairs(
    first: Any,
    second: Any,
    for_first: Any,
    for_second: Any,
    lapse: float,
    root: Any,
    nu: Any,
    x: Any,
    beta: Any,
    lift: Any,
    product: Any,
    found: Any,
) -> None:
    r"""Add the log-likelihood of all pairs to `found`, (points,).

    With :math:`v = w_i e^{x' \beta}`, :math:`a = (1 - \varepsilon / 2) v + w_j \varepsilon / 2`, b alike, and g and h
    the wins of either with half of the ties, a pair has

    .. math:: g \ln a + h \ln b - (g + h) \ln (a + b + \nu \sqrt{a b})

    of which the logarithms of worths are left out where there is no lapse: they then are sums over options. `root`
    (options, points) holds the square roots of the worths, `nu` (points,) is 0 without ties, `x` (pairs, covariates)
    and `beta` (covariates, points) may be empty. Neighbours with as many comparisons share a logarithm, unless they
    have covariates; `product` (points,) is room for what it is taken of, `lift` (points,), of ones, for
    :math:`e^{x' \beta / 2}`.
    """
    pairs, points, covariates = first.shape[0], found.shape[0], x.shape[1]
    most, least = 1.0 - lapse / 2.0, lapse / 2.0
    share = 1 if covariates > 0 else TOGETHER
    together = 0
    for pair in range(pairs):
        i, j, g, h = first[pair], second[pair], for_first[pair], for_second[pair]
        if covariates > 0:
            lift[:] = 0.0
            for m in range(covariates):
                for d in range(points):
                    lift[d] += x[pair, m] * beta[m, d]
            for d in range(points):
                eta = min(max(lift[d], -FARTHEST), FARTHEST)
                found[d] += g * eta if lapse == 0.0 else 0.0
                lift[d] = fast_exp(0.5 * eta)
        if lapse > 0.0:
            for d in range(points):
                v, w = root[i, d] * lift[d], root[j, d]
                v, w = v * v, w * w
                a, b = most * v + least * w, most * w + least * v
                found[d] += g * fast_log(a) + h * fast_log(b) - (g + h) * fast_log(a + b + nu[d] * math.sqrt(a * b))
            continue
        if together == 0:
            for d in range(points):
                a, b = root[i, d] * lift[d], root[j, d]
                product[d] = a * (a + nu[d] * b) + b * b
        else:
            for d in range(points):
                a, b = root[i, d] * lift[d], root[j, d]
                product[d] *= a * (a + nu[d] * b) + b * b
        together += 1
        if together == share or pair == pairs - 1 or for_first[pair + 1] + for_second[pair + 1] != g + h:
            for d in range(points):
                found[d] -= (g + h) * fast_log(product[d])
            together = 0


# Its highest point ---------------------------------------------------------------------------------------------------


_LONGEST = 3.0  # change of a coordinate in one step
_GAIN = 1e-12  # of the log density: no step that promises less is taken
_ROUNDING = 1e-14  # of the log density: gains below that share of it cannot be seen


class _Worths(Target[LocalDensity]):
    """A density."""

    def __init__(self, density: BradleyTerryDensity) -> None:
        self._density = density

    def moved(self, here: LocalDensity, change: np.ndarray) -> LocalDensity:
        n, there = self._density.n_options, here.where + change
        there[:n] -= there[:n].mean()
        return local(self._density, there)

    def slope(self, here: LocalDensity) -> Slope:
        curve = fixed_scale(here.curvature, self._density.n_options)
        return Slope(here.gradient, curve, np.diag(curve).clip(1e-9))

    def rises(self, here: LocalDensity, ahead: LocalDensity, promised: float) -> bool:
        return ahead.value > here.value or promised < _ROUNDING * abs(here.value) + 1e-9


def highest(density: BradleyTerryDensity) -> LocalDensity:
    """The density where it is highest, its log worths with a mean of 0, by damped Newton steps."""
    from scipy.linalg.lapack import dpotrf  # pyright: ignore[reportAttributeAccessIssue]

    simpler, start = density.simpler(), np.zeros(density.size)
    if simpler is not None:
        start[: simpler.size] = highest(simpler).where

    def climbed(begin: np.ndarray) -> LocalDensity:
        return newton(_Worths(density), local(density, begin), _GAIN, damping=1e-6, longest=_LONGEST).point

    end = climbed(start)
    if density.lapse > 0.0 and dpotrf(fixed_scale(end.curvature, density.n_options))[1]:  # a saddle
        aside = np.cos(np.arange(density.size)) / np.sqrt(_sizes(end.curvature))
        end = max(climbed(end.where + aside), climbed(end.where - aside), key=lambda there: there.value)
    return end


def _sizes(curvature: np.ndarray) -> np.ndarray:
    """Compute the absolute curvature along each coordinate, but for 0."""
    return np.abs(np.diag(curvature)).clip(1e-9)


def _without_covariates(density: BradleyTerryDensity) -> BradleyTerryDensity:
    """The density of the same comparisons, a row a pair, without control for covariates."""
    n = density.n_options
    pairs, place = np.unique(density.first * n + density.second, return_inverse=True)
    wins, losses, tied = (np.bincount(place, each) for each in (density.wins, density.losses, density.tied))
    sides = {"first": pairs // n, "second": pairs % n, "wins": wins, "losses": losses, "tied": tied}
    return density._replace(**sides, x=np.zeros((len(pairs), 0)))


def fixed_scale(curvature: np.ndarray, n: int) -> np.ndarray:
    """The curvature with some along a common change of the first n coordinates, which leaves other directions alone."""
    whole = curvature.copy()
    whole[:n, :n] += max(np.trace(curvature[:n, :n]) / n, 1e-9) / n
    return whole


# Draws of log worths: Laplace's approximation of their density, corrected where it is not near enough ----------------


SYMMETRIC = 0.5  # standard deviation of the log odds up to which turning alone corrects rank probabilities to .01
STEPS, MAX_STEPS, LENGTH = 10, 20, 0.7  # of the corrections elsewhere: so many for each unit of that, at most, how long
MAX_CORRECTED = 20  # coordinates, and pairs for each; of so few the corrections are as many as can be: they are quick
_PILOT = 200  # draws by which that is decided


class NormalWorths:
    r"""Draws from a density p of log worths, of the log of nu if there are ties, and of coefficients of covariates.

    A deviation from the highest point m of the density is normal with minus the second derivatives there as precision
    H. Each is kept or turned into its opposite by the density itself,

    .. math:: h \sim \mathrm{Normal}(0, H^{-1}), \qquad
        P(m + h) = \frac{p(m + h)}{p(m + h) + p(m - h)} = 1 - P(m - h),

    which gives the draws the skewness of p to first order. Where :math:`\ln p(m + h) - \ln p(m - h)` has a standard
    deviation s above .5, min(10 s, 20) Metropolis steps of each draw follow, which leave p invariant, and 20 of them
    wherever there are 20 coordinates or fewer and no more than 400 pairs:

    .. math:: h' = \sqrt{1 - \beta^2} h + \beta \xi, \qquad \xi \sim \mathrm{Normal}(0, H^{-1}), \qquad \beta = .7

    Without a prior the density is a likelihood, and only `mode` and `deviations` mean something: the estimate and its
    errors in large samples, Normal(0, H⁻¹).

    References
    ----------
    Pozza, Durante & Szabo (2024), Skew-symmetric approximations of posterior distributions. Cotter, Roberts, Stuart &
    White (2013), MCMC methods for functions.
    """

    mode: np.ndarray
    steps: int

    def __init__(self, density: BradleyTerryDensity) -> None:
        from scipy.linalg.lapack import dpotrf  # pyright: ignore[reportAttributeAccessIssue]

        self.density = density
        found = highest(density)
        self.mode = found.where
        precision = fixed_scale(found.curvature, density.n_options)
        self._root, is_saddle = dpotrf(precision)  # upper: H = R'R
        while is_saddle:  # that no step leaves
            precision += 0.1 * np.diag(_sizes(precision))
            self._root, is_saddle = dpotrf(precision)
        if density.has_prior:
            away = self.deviations(np.random.default_rng(0), _PILOT)
            odds = log_densities(density, self.mode + away)[0] - log_densities(density, self.mode - away)[0]
            asymmetry = float(np.sqrt(np.mean(odds**2)))
            wanted = round(STEPS * asymmetry) if asymmetry > SYMMETRIC else 0
            is_small = density.size <= MAX_CORRECTED and density.rows <= MAX_CORRECTED**2
            self.steps = MAX_STEPS if is_small else min(MAX_STEPS, wanted)

    def draws(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """So many points, the log worths of each with a sum of 0, and their log-likelihoods without coefficients.

        These are of the data, whatever the power of the likelihood.
        """
        size, both = self.density.size, self._whitened(rng, count)
        here, white = both[:, :size], both[:, size:]
        value, likelihood = log_densities(self.density, self.mode + here)
        there, mirrored = log_densities(self.density, self.mode - here)
        with np.errstate(over="ignore"):
            turned = rng.random(count) * (1.0 + np.exp(there - value)) > 1.0
        both[turned], value[turned], likelihood[turned] = -both[turned], there[turned], mirrored[turned]
        value += _distance(white)
        for _ in range(self.steps):
            new = np.sqrt(1.0 - LENGTH**2) * both + LENGTH * self._whitened(rng, count)
            there, of_new = log_densities(self.density, self.mode + new[:, :size])
            there += _distance(new[:, size:])
            taken = -rng.standard_exponential(count) < there - value
            both[taken], value[taken], likelihood[taken] = new[taken], there[taken], of_new[taken]
        return self.mode + here, likelihood / self.density.power

    def deviations(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Normal deviations from the mode (draws, coordinates)."""
        return self._whitened(rng, count)[:, : self.density.size]

    def _whitened(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw deviations, each followed by the root of the precision times it."""
        from scipy.linalg import solve_triangular

        n, white = self.density.n_options, rng.standard_normal((count, self.density.size))
        away = solve_triangular(self._root, white.T, check_finite=False).T
        white -= away[:, :n].mean(axis=1, keepdims=True) * self._root[:, :n].sum(axis=1)
        return np.hstack([self._centred(away), white])

    @property
    def inverse_root(self) -> np.ndarray:
        """L, with L L' the covariance of deviations."""
        from scipy.linalg import solve_triangular

        return solve_triangular(self._root, np.eye(len(self._root)), check_finite=False)

    def spread(self, variance: np.ndarray, df: float) -> "SpreadWorths":
        """Return the same with the covariance L W L', W the variance of respondents' scores, known to `df` degrees."""
        return SpreadWorths(self, spreading(self._root, variance), df)

    def _centred(self, away: np.ndarray) -> np.ndarray:
        """Deviations whose log worths have a sum of 0."""
        n = self.density.n_options
        away[:, :n] -= away[:, :n].mean(axis=1, keepdims=True)
        return away


def _distance(white: np.ndarray) -> np.ndarray:
    """Compute minus the log of a standard normal density, without its constant."""
    return 0.5 * np.square(white).sum(axis=1)


# The same, spread: people's answers say less than as many independent ones --------------------------------------------


class SpreadWorths:
    """Draws whose deviations x from the mode are those of `normal`, spread: the matrix of `spreading` times x.

    Their covariance is known to `df` degrees of freedom, so that draws are those of Student's t about the mode.
    """

    def __init__(self, normal: NormalWorths, matrix: np.ndarray, df: float) -> None:
        self.normal, self.matrix, self.df = normal, matrix, df

    @property
    def density(self) -> BradleyTerryDensity:
        """That of the draws before they are spread."""
        return self.normal.density

    @property
    def mode(self) -> np.ndarray:
        """Where it is highest."""
        return self.normal.mode

    def draws(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """As `NormalWorths.draws`."""
        points = self.widened(rng, self.mode + self._spread(self.normal.draws(rng, count)[0] - self.mode))
        return points, self.density.log_likelihoods(points)

    def widened(self, rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
        """Return points as uncertain as their covariance makes them."""
        factor = (self.df / rng.chisquare(self.df, len(points)))[:, None]
        more = np.sqrt(np.clip(factor - 1.0, 0.0, None)) * self.deviations(rng, len(points))
        more *= np.minimum(1.0, FARTHEST / np.maximum(np.abs(more).max(axis=1, keepdims=True), 1e-300))
        return self.mode + np.sqrt(np.minimum(factor, 1.0)) * (points - self.mode) + more

    def deviations(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """As `NormalWorths.deviations`."""
        return self._spread(self.normal.deviations(rng, count))

    def _spread(self, away: np.ndarray) -> np.ndarray:
        return self.normal._centred(away @ self.matrix.T)


Worths = NormalWorths | SpreadWorths


def spreading(root: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return the matrix C that spreads deviations of covariance :math:`H^{-1}` to that of :math:`R^{-1} W R^{-T}`.

    .. math:: H = R^T R, \qquad C = R^{-1} W^{1/2} R

    of all such matrices the one that does not turn them, whatever the root R (`root`, upper triangular).
    """
    from scipy.linalg import solve_triangular

    values, vectors = np.linalg.eigh(variance)
    square_root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return solve_triangular(root, square_root @ root, check_finite=False)


# Draws of worths as a chain, so that a fit by them runs, is stored and goes on like any other ------------------------


class WorthRecord(NamedTuple):
    """The draws so far, a row each."""

    unique_weights: np.ndarray  # (draws, options)
    tie: np.ndarray  # (draws,) nu; NaN without ties
    log_likelihood: np.ndarray  # (draws,)


class RecordWithCovariates(NamedTuple):
    """The same with the coefficients of covariates."""

    unique_weights: np.ndarray
    tie: np.ndarray
    log_likelihood: np.ndarray
    coefficients: np.ndarray  # (draws, covariates)


def _record(weights: np.ndarray, nu: np.ndarray, likelihood: np.ndarray, beta: np.ndarray) -> Any:
    """A record, with coefficients if there are any."""
    return (
        RecordWithCovariates(weights, nu, likelihood, beta) if beta.shape[1] else WorthRecord(weights, nu, likelihood)
    )


class WorthChain(IndependentDraws):
    """Independent draws of worths, whose sum is that of Gamma(1, 1) variables, of nu, and of coefficients."""

    record: WorthRecord | RecordWithCovariates

    def __init__(self, worths: Worths, draws: int, rng: np.random.Generator, covariates: tuple[str, ...] = ()) -> None:
        self.worths, self.covariates = worths, covariates
        super().__init__(draws, rng)
        widths = worths.density.n_options, worths.density.covariates
        own, beta = (np.zeros((draws, width)) for width in widths)
        self.record = _record(own, np.zeros(draws), np.zeros(draws), beta)

    def _block(self, rng: np.random.Generator) -> WorthRecord | RecordWithCovariates:
        """The draws of a block, whose stream begins there."""
        density = self.worths.density
        points, likelihood = self.worths.draws(rng, BLOCK)
        u, log_nu, beta = density.parts_of(points)
        weights = np.exp(u - u.max(axis=1, keepdims=True))
        weights *= rng.standard_gamma(density.n_options, (BLOCK, 1)) / weights.sum(axis=1, keepdims=True)
        nu = np.exp(log_nu[:, 0]) if density.has_ties else np.full(BLOCK, np.nan)
        return _record(weights, nu, likelihood, beta)

    def draws_before(self, last: int) -> ChainDraws:
        """The draws of the record before number `last`, as those of a chain of the samplers."""
        drawn, none, count = self.drawn(self.first, last), np.zeros(0), last - self.first
        own: dict[str, Any] = {"tie": drawn["tie"]} if self.worths.density.has_ties else {}
        if self.covariates:
            own |= dict(zip(map(parameter, self.covariates), drawn["coefficients"].T, strict=True))
        return ChainDraws(
            alpha=np.full(count, np.nan),
            log_likelihood=drawn["log_likelihood"],
            unique_weights=drawn["unique_weights"],
            n_features=np.zeros(count, np.int64),
            weights=none,
            sizes=none.astype(np.int64),
            owners=none.astype(np.int32),
            extra=own,
        )


# The fit of worths by Laplace's approximation: a run of chains whose draws are independent ---------------------------


ATTRIBUTES = {"thin": 1, "tuning_steps": 0, TEMPERED_LATER: 0, APPROXIMATE: 1}  # of the posterior


def checked_pairs(source: Any, parts: dict[str, Any]) -> PairedComparisons:
    """The data, if they and the parts of the model leave nothing but worths to learn."""
    prior, by_mcmc = parts["prior"], Setting("method", "mcmc")
    if not isinstance(prior, Given) or prior.matrix.any() or not parts["likelihood"].unique:
        raise ArgumentError(
            Setting("method", "laplace"), " requires ", Setting("aspects", "unique"), "; set ", by_mcmc, "."
        )
    if parts["tempering"] is not None:
        refuse_of_chains("tempering")
    data = as_pairs(source, parts["likelihood"].best_worst)
    if not isinstance(data, PairedComparisons):
        raise DataError(
            "The Laplace approximation requires paired comparisons, but these are choices from larger sets; set ",
            by_mcmc,
            ".",
        )
    return data


def sampling_of_worths(
    source: Any,
    run: Run,
    parts: dict[str, Any],
    task: "SamplingTask",
    worths_of: Callable[[PairedComparisons, BradleyTerryDensity], tuple[Worths, Dependence | None]],
) -> Sampling[WorthChain]:
    """The run for these data.

    `parts` are those of the model, `task` what its chains would run by MCMC; `worths_of` makes the draws of data and
    their density, and says what it makes of the answers of the same people.
    """
    data, likelihood = checked_pairs(source, parts), parts["likelihood"]
    if run.thin is not None:
        refuse_of_chains("thin", because=", because draws from this method are already independent")
    worths, dependence = worths_of(data, density_of(data, likelihood.lapse, likelihood.ties))
    attrs = ATTRIBUTES | ({} if dependence is None else dependence.attributes)
    settings = {name: getattr(run, name) for name in ("draws", "tune", "chains", "thin")}
    if dependence is not None and dependence.model == ADJUSTED:  # a job of a time without people goes on without
        settings["people"] = ADJUSTED

    def tree(chains: Sequence[WorthChain]) -> "xarray.DataTree":
        from .draws.tree import to_datatree

        numbers, count = recorded_of(chains)
        draws = [chains[number].draws_before(chains[number].first + count) for number in numbers]
        return to_datatree(draws, source, likelihood, learned_alpha=False, attrs=attrs, task=task)

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: [
            WorthChain(worths, draws, rng, likelihood.covariates) for rng in streams(seed, run.chains)
        ],
        tree=tree,
        found=lambda tree, chains, seed: {},
        is_compiled=True,
        settings=settings,
        forecast=forecast_of(data.n_options, run.chains * run.least_draws),
    )


A_WORTH = 5e-6  # seconds of a worth in a draw, and as much again for every thousand options: `benchmarks/defaults.py`


def forecast_of(options: int, draws: int) -> Forecast:
    """How long so many draws of worths are expected to take, with the mode and the summary of them."""
    seconds = A_WORTH * options * draws * (1.0 + options / 1000.0)
    return Forecast(seconds, seconds)
