"""The posterior density of worths in time, seen by judges of unequal discrimination, with its derivatives."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.inference.numerics.bordered import Bordered

from ..outcomes import Slopes, shares, slopes, terms

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SPREAD = 0.5  # scale of the HalfNormal priors of the judges' tau and of the drift s
_LOG_2PI = math.log(2.0 * math.pi)


class Rows(NamedTuple):
    """Comparisons that differ in the options, the period, the judge or the covariates; counts may be rows by points."""

    first: np.ndarray
    second: np.ndarray
    period: np.ndarray
    judge: np.ndarray  # all 0 without judges
    x: np.ndarray  # (rows, covariates)
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    lapse: float
    has_ties: bool


class Spreads(NamedTuple):
    """The standard deviations, numbers or one a point; NaN for what there is not."""

    judges: np.ndarray  # tau, of log discriminations
    drift: np.ndarray  # s, of a step of a log worth
    bias: np.ndarray  # of judges' own coefficients about the common ones

    @classmethod
    def of(cls, judges: float | None, drift: float | None, bias: float | None = None) -> "Spreads":
        """Those of numbers."""
        return cls(*(np.asarray(np.nan if each is None else each) for each in (judges, drift, bias)))


class Seen(NamedTuple):
    """Comparisons as they are seen from points (rows, points)."""

    difference: np.ndarray  # of log worths
    sharpness: np.ndarray  # d of the judge
    q: np.ndarray
    rest: np.ndarray
    log_nu: np.ndarray  # (0 or 1, points)


def log_half_normal(log_spreads: np.ndarray) -> np.ndarray:
    """The log density of the logarithms of standard deviations, HalfNormal(.5) themselves."""
    scaled = np.exp(log_spreads) / SPREAD
    return 0.5 * (math.log(2.0 / math.pi) - scaled**2) - math.log(SPREAD) + log_spreads


class Density:
    r"""The density of log worths :math:`L`, of the log of nu, of coefficients :math:`\beta` and of the log g of judges'
    discriminations d, given their standard deviations.

    .. math::
        \eta_r = d_j (L_{ti} - L_{tk}) + x_r' \beta, \qquad \log d_j = g_j \sim \mathrm{Normal}(0, \tau^2), \qquad
        e^{L_i} \sim \mathrm{Gamma}(1, 1) \text{ when i enters}, \qquad
        L_{ti} \sim \mathrm{Normal}(L_{t'i}, (t - t') s^2)

    The probability of a choice is :math:`\tilde p = (1 - \varepsilon) \sigma(\eta) + \varepsilon / 2`, ties are those
    of `bradley_terry.Density`, nu is Gamma(1, 1) and coefficients are Normal(0, 1). With `has_bias` judge j has the
    coefficients :math:`\beta + b_j`, :math:`b_j \sim \mathrm{Normal}(0, v^2)`. A point holds L by period, log nu if
    there are ties, beta, g, and b judge by judge; several points are columns. Log worths before an option enters stand
    at 0 and touch nothing.

    Parameters
    ----------
    rows : Rows
    n_options : int
    n_judges : int
        0: all see the worths alike.
    steps : (periods - 1,)
        How many steps lie between a period and the next.
    entry : (options,)
        The period in which each option enters.
    has_bias : bool
        Whether each judge has coefficients of covariates of their own.
    """

    is_normal = True  # whether what tau and s spread is normal, and so can be stretched with them

    def __init__(
        self, rows: Rows, n_options: int, n_judges: int, steps: np.ndarray, entry: np.ndarray, has_bias: bool = False
    ) -> None:
        self.rows, self.n_options, self.n_judges, self.steps, self.entry = rows, n_options, n_judges, steps, entry
        self.n_periods = len(steps) + 1
        self.present = np.arange(self.n_periods)[:, None] >= entry  # (periods, options)
        worths, after = self.n_periods * n_options, self.n_periods * n_options + rows.has_ties
        self.n_bias = n_judges * rows.x.shape[1] if has_bias else 0
        of_judges = after + rows.x.shape[1]
        self.size = of_judges + n_judges + self.n_bias
        self.worths, self.nu = slice(0, worths), slice(worths, after)
        self.beta, self.judges = slice(after, of_judges), slice(of_judges, of_judges + n_judges)
        self.bias = slice(self.judges.stop, self.size)
        self.is_free = np.append(self.present.ravel(), np.ones(self.size - worths, bool))

    def with_counts(self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray) -> "Density":
        """The density that other counts leave; they may be rows by points."""
        rows = self.rows._replace(wins=wins, losses=losses, tied=tied)
        return Density(rows, self.n_options, self.n_judges, self.steps, self.entry, self.n_bias > 0)

    # The likelihood --------------------------------------------------------------------------------------------------

    @cached_property
    def _differences(self) -> "csr_matrix":
        """Rows by log worths: 1 for the first, -1 for the second."""
        rows, count = self.rows, len(self.rows.first)
        at = rows.period * self.n_options
        return _sparse(count, self.worths.stop, ((at + rows.first, 1.0), (at + rows.second, -1.0)))

    @cached_property
    def _of_judges(self) -> "csr_matrix":
        """Rows by judges."""
        return _sparse(len(self.rows.judge), self.n_judges, ((self.rows.judge, 1.0),))

    @cached_property
    def _biased(self) -> "csr_matrix":
        """Rows by the covariates of each judge."""
        from scipy.sparse import csr_matrix

        count, covariates = self.rows.x.shape
        place = (self.rows.judge[:, None] * covariates + np.arange(covariates)).ravel()
        ends = np.arange(0, count * covariates + 1, covariates)
        return csr_matrix((self.rows.x.ravel(), place, ends), (count, self.n_bias))

    @cached_property
    def _into_worths(self) -> "csr_matrix":
        """Log worths by rows."""
        return self._differences.T.tocsr()

    @cached_property
    def _into_judges(self) -> "csr_matrix":
        """Judges by rows."""
        return self._of_judges.T.tocsr()

    def seen(self, points: np.ndarray) -> Seen:
        """The comparisons from points (size, points)."""
        difference = self._differences @ points[self.worths]
        sharpness = np.exp(points[self.judges])[self.rows.judge] if self.n_judges else np.ones((1, 1))
        lean = self.rows.x @ points[self.beta]
        if self.n_bias:
            lean = lean + self._biased @ points[self.bias]
        q, rest = shares(sharpness * difference + lean)
        return Seen(difference, sharpness, q, rest, points[self.nu])

    def _counted(self) -> Rows:
        """The rows, whose counts have points beside them."""
        rows = self.rows
        return rows._replace(**{name: _column(getattr(rows, name)) for name in ("wins", "losses", "tied")})

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihood at each point, without coefficients."""
        seen = self.seen(points)
        return terms(self._counted(), seen.q, seen.rest, seen.log_nu).sum(axis=0)

    def by_row(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihood of each row at each point, without coefficients (rows, points)."""
        seen = self.seen(points)
        return terms(self._counted(), seen.q, seen.rest, seen.log_nu)

    @property
    def throughout(self) -> np.ndarray:
        """The options that are there in all periods; all, if none is."""
        there = self.entry == 0
        return there if there.any() else np.ones(self.n_options, bool)

    def centred(self, worths: np.ndarray) -> np.ndarray:
        """Log worths (periods times options, ...), in each period less the mean of those that are there in all."""
        by_period = worths.reshape(self.n_periods, self.n_options, *worths.shape[1:])
        weight = (self.present & self.throughout) / (self.present & self.throughout).sum(axis=1, keepdims=True)
        return (by_period - np.einsum("ti,ti...->t...", weight, by_period)[:, None]).reshape(worths.shape)

    # With the prior --------------------------------------------------------------------------------------------------

    def log_priors(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """The log of the prior density at each point."""
        worths = points[self.worths].reshape(self.n_periods, self.n_options, -1)
        entering = worths[self.entry, np.arange(self.n_options)]
        found = (entering - np.exp(entering)).sum(axis=0) + self._of_others(points, spreads)
        if len(self.steps):
            moved, steps = self.increments(worths), self.steps[:, None]
            known = np.where(self.present[:-1], _LOG_2PI + np.log(steps), 0.0).sum()
            found = found - 0.5 * ((moved**2 / steps[..., None]).sum(axis=(0, 1)) / spreads.drift**2 + known)
            found = found - self.n_increments * np.log(spreads.drift)
        return found

    def _of_others(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """The log prior of nu, of coefficients and of judges."""
        log_nu, beta, judges = points[self.nu], points[self.beta], points[self.judges]
        found = (log_nu - np.exp(log_nu)).sum(axis=0) - 0.5 * (beta**2 + _LOG_2PI).sum(axis=0)
        if self.n_judges:
            found = found - 0.5 * ((judges / spreads.judges) ** 2 + _LOG_2PI).sum(axis=0)
            found = found - self.n_judges * np.log(spreads.judges)
        if self.n_bias:
            found = found - 0.5 * ((points[self.bias] / spreads.bias) ** 2 + _LOG_2PI).sum(axis=0)
            found = found - self.n_bias * np.log(spreads.bias)
        return found

    def log_spread_prior(self, k: int, log_spread: np.ndarray) -> np.ndarray:
        """The log prior density of the logarithm of tau (0), s (1) or v (2)."""
        return log_half_normal(log_spread)

    def log_spread_given(self, points: np.ndarray, k: int) -> Callable[[np.ndarray], np.ndarray]:
        """The log density of the logarithm of tau (0), s (1) or v (2) given points, up to a constant."""
        if k != 1:
            own = points[self.judges if k == 0 else self.bias]
            squares, count = (own**2).sum(axis=0), len(own)
        else:
            worths = points[self.worths].reshape(self.n_periods, self.n_options, -1)
            squares = (self.increments(worths) ** 2 / self.steps[:, None, None]).sum(axis=(0, 1))
            count = self.n_increments
        return lambda log: self.log_spread_prior(k, log) - 0.5 * squares * np.exp(-2.0 * log) - count * log

    @property
    def n_increments(self) -> int:
        """How many steps options make."""
        return int(self.present[:-1].sum())

    def increments(self, worths: np.ndarray) -> np.ndarray:
        """The changes of log worths (periods - 1, options, points) from each period to the next."""
        return np.where(self.present[:-1, :, None], np.diff(worths, axis=0), 0.0)

    def values(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """The log of the density at each point, without the coefficients of the likelihood."""
        return self.log_likelihoods(points) + self.log_priors(points, spreads)

    def gradients(self, points: np.ndarray, spreads: Spreads) -> tuple[np.ndarray, np.ndarray]:
        """The same, and its slopes (size, points)."""
        seen, rows = self.seen(points), self._counted()
        found = slopes(rows, seen.q, seen.rest, seen.log_nu)
        value = terms(rows, seen.q, seen.rest, seen.log_nu).sum(axis=0) + self.log_priors(points, spreads)
        return value, self._slope(points, spreads, seen, found)

    def _slope(self, points: np.ndarray, spreads: Spreads, seen: Seen, found: Slopes) -> np.ndarray:
        """The slopes of the density."""
        gradient = np.zeros_like(points)
        gradient[self.worths] = self._into_worths @ (found.slope * seen.sharpness)
        if self.rows.has_ties:
            gradient[self.nu] = found.of_nu.sum(axis=0)
        gradient[self.beta] = self.rows.x.T @ found.slope
        if self.n_judges:
            gradient[self.judges] = self._into_judges @ (found.slope * seen.sharpness * seen.difference)
        if self.n_bias:
            gradient[self.bias] = self._biased.T @ found.slope
        self.add_prior_slope(gradient, points, spreads)
        return gradient

    def add_prior_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the slope of the log prior to that of the log-likelihood."""
        worths = points[self.worths].reshape(self.n_periods, self.n_options, -1)
        of_worths, entry = gradient[self.worths].reshape(worths.shape), (self.entry, np.arange(self.n_options))
        of_worths[entry] += 1.0 - np.exp(worths[entry])
        if len(self.steps):
            pull = self.increments(worths) / (self.steps[:, None, None] * spreads.drift**2)
            of_worths[:-1] += pull
            of_worths[1:] -= pull
        self._add_other_slopes(gradient, points, spreads)

    def _add_other_slopes(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the slopes of the priors of nu, of coefficients and of judges."""
        gradient[self.nu] += 1.0
        gradient[self.nu] -= np.exp(points[self.nu])
        gradient[self.beta] -= points[self.beta]
        if self.n_judges:
            gradient[self.judges] -= points[self.judges] / spreads.judges**2
        if self.n_bias:
            gradient[self.bias] -= points[self.bias] / spreads.bias**2

    def scores_of_judges(self, point: np.ndarray) -> np.ndarray:
        """The slope of the log-likelihood of each judge's comparisons (size, judges)."""
        seen, rows, x = self.seen(point[:, None]), self._counted(), self.rows.x
        found = slopes(rows, seen.q, seen.rest, seen.log_nu)
        pull, scores = found.slope * seen.sharpness, np.zeros((self.size, self.n_judges))
        of_worths: Any = self._into_judges @ self._differences.multiply(pull)
        scores[self.worths] = of_worths.toarray().T
        scores[self.nu] = (self._into_judges @ found.of_nu).T if self.rows.has_ties else 0.0
        scores[self.beta] = (self._into_judges @ (found.slope * x)).T
        own = np.arange(self.n_judges)
        scores[self.judges.start + own, own] = (self._into_judges @ (pull * seen.difference))[:, 0]
        if self.n_bias:
            mine = np.arange(self.n_bias).reshape(self.n_judges, -1)
            scores[self.bias.start + mine, own[:, None]] = self._into_judges @ (found.slope * x)
        return scores

    # Its curvature ---------------------------------------------------------------------------------------------------

    def prior_curvature(self, point: np.ndarray, spreads: Spreads) -> Bordered:
        """Minus the second derivatives of the log prior at a point."""
        periods, n = self.n_periods, self.n_options
        diagonal, entry = np.where(self.present, 0.0, 1.0), (self.entry, np.arange(n))
        diagonal[entry] += np.exp(point[self.worths].reshape(periods, n)[entry])
        coupling = np.where(self.present[:-1], 1.0 / (self.steps[:, None] * spreads.drift**2), 0.0)
        diagonal[:-1] += coupling
        diagonal[1:] += coupling
        border = np.zeros((periods * n, self.size - self.worths.stop))
        return Bordered(diagonals(diagonal), coupling, border, np.diag(self._corner(point, spreads)))

    def _corner(self, point: np.ndarray, spreads: Spreads) -> np.ndarray:
        """The same of nu, of coefficients and of judges, of which each stands alone."""
        of_judges = np.full(self.n_judges, 1.0 / spreads.judges**2)
        of_bias = np.full(self.n_bias, 1.0 / spreads.bias**2)
        return np.concatenate([np.exp(point[self.nu]), np.ones(self.rows.x.shape[1]), of_judges, of_bias])

    def curvature(self, point: np.ndarray, is_convex: bool = False) -> Bordered:
        """Minus the second derivatives of the log-likelihood; `is_convex`: less what makes them indefinite."""
        seen, rows, x = self.seen(point[:, None]), self._counted(), self.rows.x
        found = slopes(rows, seen.q, seen.rest, seen.log_nu)
        slope, weight, mixed, spread = (each[:, 0] for each in (found.slope, -found.bend, found.mixed, found.spread))
        if is_convex:
            slope = np.zeros_like(slope)
            weight = np.maximum(weight, mixed**2 / np.maximum(spread, 1e-300))
        difference, sharpness = seen.difference[:, 0], np.broadcast_to(seen.sharpness[:, 0], len(slope))
        periods, n, worths = self.n_periods, self.n_options, self.worths.stop
        i, k, t = rows.first, rows.second, rows.period
        pulled = weight * sharpness**2
        blocks = -np.bincount((t * n + i) * n + k, pulled, periods * n * n).reshape(periods, n, n)
        blocks += blocks.swapaxes(1, 2)
        blocks[:, np.arange(n), np.arange(n)] = -blocks.sum(axis=2)
        border, corner = np.zeros((worths, self.size - worths)), np.zeros((self.size - worths,) * 2)
        nu, beta, judges, bias = (
            slice(each.start - worths, each.stop - worths) for each in (self.nu, self.beta, self.judges, self.bias)
        )
        along = self._into_worths
        border[:, beta] = along @ ((weight * sharpness)[:, None] * x)
        corner[beta, beta] = (x.T * weight) @ x
        if rows.has_ties:
            border[:, nu] = (along @ (mixed * sharpness))[:, None]
            corner[nu, nu] = spread.sum()
            corner[nu, beta] = mixed @ x
        if self.n_judges:
            reach, of_judges = sharpness * difference, self._into_judges
            by_judge = _scaled(self._of_judges, weight * sharpness * reach - slope * sharpness)
            into: Any = along @ by_judge
            border[:, judges] = into.toarray()
            corner[beta, judges] = (of_judges @ ((weight * reach)[:, None] * x)).T
            corner[judges, judges] = np.diag(of_judges @ (weight * reach**2 - slope * reach))
            if rows.has_ties:
                corner[nu, judges] = of_judges @ (mixed * reach)
            if self.n_bias:
                weighted = _scaled_rows(self._biased, weight)
                into_bias: Any = along @ _scaled_rows(weighted, sharpness)
                of_own: Any = self._biased.T @ weighted
                of_reach: Any = self._into_judges @ _scaled_rows(weighted, reach)
                border[:, bias], corner[bias, bias] = into_bias.toarray(), of_own.toarray()
                corner[beta, bias], corner[judges, bias] = (weighted.T @ x).T, of_reach.toarray()
                if rows.has_ties:
                    corner[nu, bias] = self._biased.T @ mixed
        corner = np.triu(corner) + np.triu(corner, 1).T
        return Bordered(blocks, np.zeros((periods - 1, n)), border, corner)


def diagonals(values: np.ndarray) -> np.ndarray:
    """Diagonal blocks (blocks, n, n)."""
    blocks = np.zeros((*values.shape, values.shape[1]))
    blocks[:, np.arange(values.shape[1]), np.arange(values.shape[1])] = values
    return blocks


def added(one: Bordered, other: Bordered) -> Bordered:
    """The sum of two such matrices."""
    return Bordered(*(a + b for a, b in zip(one, other, strict=True)))


def _column(counts: np.ndarray) -> np.ndarray:
    """Counts as a column, unless they differ between points."""
    return counts if counts.ndim == 2 else counts[:, None]


def _sparse(rows: int, columns: int, entries: tuple[tuple[np.ndarray, float], ...]) -> "csr_matrix":
    """A matrix with the same number of entries in each row."""
    from scipy.sparse import csr_matrix

    place = np.stack([at for at, _ in entries], axis=1).ravel()
    values = np.tile([value for _, value in entries], rows)
    return csr_matrix((values, place, np.arange(0, len(place) + 1, len(entries))), (rows, columns))


def _scaled_rows(matrix: "csr_matrix", factors: np.ndarray) -> "csr_matrix":
    """The rows of a matrix, multiplied."""
    return matrix.multiply(factors[:, None]).tocsr()


def _scaled(matrix: "csr_matrix", factors: np.ndarray) -> "csr_matrix":
    """The rows of a matrix that has one entry in each, multiplied."""
    scaled = matrix.copy()
    scaled.data = scaled.data * factors
    return scaled
