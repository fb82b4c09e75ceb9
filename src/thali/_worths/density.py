"""The posterior density of worths in time, seen by judges of unequal discrimination, with its derivatives."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered
from thali._inference.numerics.davidson import shares, slopes, terms, tie_ratio

SPREAD = 0.5  # scale of the HalfNormal priors of the judges' tau and of the drift s
_LOG_2PI = math.log(2.0 * math.pi)
_SUREST = 700.0  # log odds of a prediction, beyond which probabilities are 0
_TOGETHER = 1 << 16  # rows times points whose terms are computed at a time, so that they stay near the processor


class ComparisonRows(NamedTuple):
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

    @property
    def total(self) -> np.ndarray:
        """How many comparisons each row stands for."""
        return self.wins + self.losses + self.tied

    def some(self, points: int) -> "Iterator[tuple[slice, ComparisonRows]]":
        """The rows some at a time, with counts that have points beside them."""
        step = max(1, _TOGETHER // max(points, 1))
        for begin in range(0, max(len(self.first), 1), step):
            at = slice(begin, begin + step)
            first, second, period, judge, x = (each[at] for each in self[:5])
            wins, losses, tied = (_column(each[at]) for each in (self.wins, self.losses, self.tied))
            yield at, ComparisonRows(first, second, period, judge, x, wins, losses, tied, self.lapse, self.has_ties)


class Spreads(NamedTuple):
    """The standard deviations, numbers or one a point; NaN for what there is not."""

    judges: np.ndarray  # tau, of log discriminations
    drift: np.ndarray  # s, of a step of a log worth
    bias: np.ndarray  # of judges' own coefficients about the common ones

    @classmethod
    def of(cls, judges: float | None, drift: float | None, bias: float | None = None) -> "Spreads":
        """Those of numbers."""
        return cls(*(np.asarray(np.nan if each is None else each) for each in (judges, drift, bias)))


class Predicted(NamedTuple):
    """Log probabilities of the answers of each row, which may be many, and how many these are (rows,)."""

    score: np.ndarray  # as they were given
    expected: np.ndarray  # on average over answers that have these probabilities
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do
    total: np.ndarray


class Expanded(NamedTuple):
    """The log-likelihood near a point, without coefficients."""

    value: float
    gradient: np.ndarray  # (size, 1)
    curvature: Bordered  # minus its second derivatives, or less what makes them indefinite


class ComparisonsAtPoints(NamedTuple):
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

    rows: Any  # `Rows`, or what stands in their place

    def __init__(
        self, rows: Any, n_options: int, n_judges: int, steps: np.ndarray, entry: np.ndarray, has_bias: bool = False
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

    def without_judge(self, judge: int) -> "Density":
        """The density that the answers of all other judges leave."""
        others = self.rows.judge != judge
        return self.with_counts(*(others * each for each in (self.rows.wins, self.rows.losses, self.rows.tied)))

    # The likelihood --------------------------------------------------------------------------------------------------

    def places(self, rows: ComparisonRows) -> tuple[np.ndarray, np.ndarray]:
        """Where the log worths of the first and of the second option stand in a point."""
        at = rows.period * self.n_options
        return at + rows.first, at + rows.second

    def seen(self, rows: ComparisonRows, points: np.ndarray) -> ComparisonsAtPoints:
        """Comparisons from points (size, points)."""
        one, other = self.places(rows)
        difference = points[one] - points[other]
        sharpness = np.exp(points[self.judges])[rows.judge] if self.n_judges else np.ones((1, 1))
        lean = rows.x @ points[self.beta]
        if self.n_bias:
            own = points[self.bias].reshape(self.n_judges, -1, points.shape[1])[rows.judge]
            lean = lean + np.einsum("rc,rcp->rp", rows.x, own)
        q, rest = shares(sharpness * difference + lean)
        return ComparisonsAtPoints(difference, sharpness, q, rest, points[self.nu])

    def _terms(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """The log-likelihood of some rows at each point, without coefficients."""
        for at, rows in self.rows.some(points.shape[1]):
            seen = self.seen(rows, points)
            yield at, terms(rows, seen.q, seen.rest, seen.log_nu)

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihood at each point, without coefficients."""
        return sum((found.sum(axis=0) for _, found in self._terms(points)), np.zeros(points.shape[1]))

    def by_row(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihood of each row at each point, without coefficients (rows, points)."""
        found = np.empty((len(self.rows.judge), points.shape[1]))
        for at, of_some in self._terms(points):
            found[at] = of_some
        return found

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
        gradient = np.zeros_like(points)
        value = self._add_likelihood(self.log_priors(points, spreads), gradient, points)
        self.add_prior_slope(gradient, points, spreads)
        return value, gradient

    def _add_likelihood(self, value: np.ndarray, gradient: np.ndarray, points: np.ndarray) -> np.ndarray:
        """A value with the log-likelihood, whose slopes are added to a gradient."""
        for _, rows in self.rows.some(points.shape[1]):
            seen = self.seen(rows, points)
            value = value + terms(rows, seen.q, seen.rest, seen.log_nu).sum(axis=0)
            found = slopes(rows, seen.q, seen.rest, seen.log_nu)
            self._add_slope(gradient, rows, seen, found.slope, found.of_nu)
        return value

    def _add_slope(
        self,
        gradient: np.ndarray,
        rows: ComparisonRows,
        seen: ComparisonsAtPoints,
        slope: np.ndarray,
        of_nu: np.ndarray,
    ) -> None:
        """Add the slopes of the log-likelihood of rows."""
        pull = slope * seen.sharpness
        one, other = self.places(rows)
        _add(gradient, one, pull)
        _add(gradient, other, -pull)
        if self.rows.has_ties:
            gradient[self.nu] += of_nu.sum(axis=0)
        gradient[self.beta] += rows.x.T @ slope
        if self.n_judges:
            _add(gradient, self.judges.start + rows.judge, pull * seen.difference)
        for place, x in self._own(rows):
            _add(gradient, place, slope * x[:, None])

    def _own(self, rows: ComparisonRows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Where the judge's own coefficient of each covariate stands in a point, and the covariate."""
        covariates = rows.x.shape[1] if self.n_bias else 0
        for k in range(covariates):
            yield self.bias.start + rows.judge * covariates + k, rows.x[:, k]

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
        scores = np.zeros((self.size, self.n_judges))
        for _, rows in self.rows.some(1):
            seen = self.seen(rows, point[:, None])
            found = slopes(rows, seen.q, seen.rest, seen.log_nu)
            slope, judge = found.slope[:, 0], rows.judge
            pull = slope * seen.sharpness[:, 0]
            one, other = self.places(rows)
            ways = [(one, pull), (other, -pull), (self.judges.start + judge, pull * seen.difference[:, 0])]
            if rows.has_ties:
                ways.append((np.full(len(judge), self.nu.start), found.of_nu[:, 0]))
            for k in range(rows.x.shape[1]):
                ways.append((np.full(len(judge), self.beta.start + k), slope * rows.x[:, k]))
            ways += [(place, slope * x) for place, x in self._own(rows)]
            for place, score in ways:
                np.add.at(scores.ravel(), place * self.n_judges + judge, score)
        return scores

    def predicted(self, others: np.ndarray) -> Predicted:
        """The answers of each judge as points predict them (size, judges), one a judge, who then has d = 1."""
        rows = self.rows
        one, other = self.places(rows)
        worths, beta = others[self.worths], others[self.beta]
        difference = worths[one, rows.judge] - worths[other, rows.judge]
        log_nu = others[self.nu][:, rows.judge]  # (1 or 0, rows)
        q, rest = shares((difference + (rows.x * beta[:, rows.judge].T).sum(axis=1)).clip(-_SUREST, _SUREST))
        half = np.full(len(q), 0.5)
        expected = _as_expected(rows, q, rest, log_nu)
        ways = (rows, q, rest), (expected, q, rest), (rows, half, half)
        given, average, chance = (terms(*each, log_nu).ravel() for each in ways)
        return Predicted(given, average, chance, rows.total)

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
        return self.expanded(point, is_convex).curvature

    def expanded(self, point: np.ndarray, is_convex: bool = False) -> Expanded:
        """The log-likelihood, its slope and its `curvature`, in one pass over the comparisons."""
        value = 0.0
        periods, n, worths = self.n_periods, self.n_options, self.worths.stop
        gradient, blocks = np.zeros((self.size, 1)), np.zeros((periods, n, n))
        border, corner = np.zeros((worths, self.size - worths)), np.zeros((self.size - worths,) * 2)
        for _, rows in self.rows.some(1):
            seen = self.seen(rows, point[:, None])
            value += float(terms(rows, seen.q, seen.rest, seen.log_nu).sum())
            found = slopes(rows, seen.q, seen.rest, seen.log_nu)
            self._add_slope(gradient, rows, seen, found.slope, found.of_nu)
            slope, weight, mixed, spread = (
                each[:, 0] for each in (found.slope, -found.bend, found.mixed, found.spread)
            )
            if is_convex:
                slope, weight = np.zeros_like(slope), np.maximum(weight, mixed**2 / np.maximum(spread, 1e-300))
            self._add_curvature(blocks, border, corner, rows, seen, slope, weight, mixed, spread)
        blocks += blocks.swapaxes(1, 2)
        blocks[:, np.arange(n), np.arange(n)] = -blocks.sum(axis=2)
        corner = np.triu(corner) + np.triu(corner, 1).T
        return Expanded(value, gradient, Bordered(blocks, np.zeros((periods - 1, n)), border, corner))

    def _add_curvature(
        self,
        blocks: np.ndarray,
        border: np.ndarray,
        corner: np.ndarray,
        rows: ComparisonRows,
        seen: ComparisonsAtPoints,
        slope: np.ndarray,
        weight: np.ndarray,
        mixed: np.ndarray,
        spread: np.ndarray,
    ) -> None:
        """Add what rows have of it: of the blocks minus what lies above the diagonal, of the corner what does."""
        difference, sharpness = seen.difference[:, 0], np.broadcast_to(seen.sharpness[:, 0], len(slope))
        (one, other), x, start, width = self.places(rows), rows.x, self.worths.stop, border.shape[1]
        np.add.at(blocks.ravel(), one * self.n_options + rows.second, -weight * sharpness**2)
        beta = slice(self.beta.start - start, self.beta.stop - start)

        def add_along(column: np.ndarray | int, values: np.ndarray) -> None:
            """Add to a column of the border, or one a row, what the first option has and the second lacks."""
            np.add.at(border.ravel(), one * width + column, values)
            np.add.at(border.ravel(), other * width + column, -values)

        def add_own(row: np.ndarray, column: np.ndarray | int, values: np.ndarray) -> None:
            np.add.at(corner.ravel(), row * width + column, values)

        for k in range(x.shape[1]):
            add_along(beta.start + k, weight * sharpness * x[:, k])
        corner[beta, beta] += (x.T * weight) @ x
        if rows.has_ties:
            nu = self.nu.start - start
            add_along(nu, mixed * sharpness)
            corner[nu, nu] += spread.sum()
            corner[nu, beta] += mixed @ x
        if not self.n_judges:
            return
        judge, reach = self.judges.start - start + rows.judge, sharpness * difference
        add_along(judge, weight * sharpness * reach - slope * sharpness)
        add_own(judge, judge, weight * reach**2 - slope * reach)
        for k in range(x.shape[1]):
            add_own((beta.start + k) * np.ones_like(judge), judge, weight * reach * x[:, k])
        if rows.has_ties:
            add_own((self.nu.start - start) * np.ones_like(judge), judge, mixed * reach)
        own = [(place - start, each) for place, each in self._own(rows)]
        for place, each in own:
            weighted = weight * each
            add_along(place, weighted * sharpness)
            add_own(judge, place, weighted * reach)
            for k in range(x.shape[1]):
                add_own((beta.start + k) * np.ones_like(judge), place, weighted * x[:, k])
            for second, another in own:
                add_own(place, second, weighted * another)
            if rows.has_ties:
                add_own((self.nu.start - start) * np.ones_like(judge), place, mixed * each)


def _as_expected(rows: ComparisonRows, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray) -> ComparisonRows:
    """As many comparisons with the outcomes that their probabilities expect."""
    p = (1.0 - rows.lapse) * q + rows.lapse / 2.0
    ratio = tie_ratio(rows, q, rest, log_nu).ravel() if rows.has_ties else np.zeros_like(q)
    decided = rows.total / (1.0 + ratio)
    return rows._replace(wins=decided * p, losses=decided * (1.0 - p), tied=rows.total - decided)


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


def _add(sums: np.ndarray, place: np.ndarray, values: np.ndarray) -> None:
    """Add values (rows, points) to the places of sums (size, points)."""
    for k in range(values.shape[1]):
        np.add.at(sums[:, k], place, values[:, k])
