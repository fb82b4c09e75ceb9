"""The posterior density of worths seen by judges, in time, with ties and covariates, and its
derivatives."""

import math
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered
from thali._inference.numerics.davidson import (
    compute_derivatives,
    compute_log_likelihoods,
    compute_tie_ratio,
    split_probabilities,
)

MIDDLE, WIDTH = math.log(1.3), 1.0  # mean and standard deviation of the log of the spread of worths
SPREAD = 0.5  # scale of the half-normal priors of all other standard deviations
TIE_SD = 2.0  # standard deviation of log nu
_LOG_2PI = math.log(2.0 * math.pi)
_SUREST = 700.0  # log odds of a prediction, beyond which probabilities are 0
_DENSE = 1 << 18  # rows times coordinates up to which matrices are arrays
# rows times points whose terms are computed at a time, so that they stay near the processor
_TOGETHER = 1 << 14


class ComparisonRows(NamedTuple):
    """Comparisons that differ in the options, the period, the judge or the covariates; counts may
    be rows by points."""

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
        """Number of comparisons in each row."""
        return self.wins + self.losses + self.tied


class Spreads(NamedTuple):
    """Standard deviations, numbers or one per point; NaN where the density has none."""

    worths: np.ndarray  # of log worths of options that enter
    judges: np.ndarray  # tau, of log discriminations
    drift: np.ndarray  # of the change of a log worth in one period
    bias: np.ndarray  # of judges' coefficients about the common ones


WORTHS, JUDGES, DRIFT, BIAS = range(4)  # places in `Spreads`
_PARTS = "log_worth", "discrimination", "drift", "bias"  # of points that they spread


class Predicted(NamedTuple):
    """Log probabilities of the answers of each row, which may be many, and their number (rows,)."""

    score: np.ndarray  # of the observed answers
    expected: np.ndarray  # mean over answers with these probabilities
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do
    total: np.ndarray


class Expanded(NamedTuple):
    """The log-likelihood near a point, without coefficients."""

    value: float
    gradient: np.ndarray  # (size, 1)
    curvature: Bordered  # minus its second derivatives, or less what makes them indefinite


class RowBlock(NamedTuple):
    """Some rows, with the matrices that map points to them: arrays where these are small, otherwise
    sparse."""

    at: slice
    rows: ComparisonRows
    along: Any  # (rows, periods times options): 1 for the first option, -1 for the second
    judged: Any  # (rows, judges): 1 for the judge
    biased: Any  # (rows, judges times covariates): the covariates of the judge


class ComparisonsAtPoints(NamedTuple):
    """Comparisons as they are seen from points (rows, points)."""

    difference: np.ndarray  # of log worths
    sharpness: np.ndarray  # d of the judge
    q: np.ndarray
    rest: np.ndarray
    log_nu: np.ndarray  # (0 or 1, points)


class Density:
    r"""The density of log worths :math:`L`, of the log of nu, of coefficients :math:`\beta` and of
    judges' g, given standard deviations.

    .. math::
        \eta_r = d_j (L_{ti} - L_{tk}) + x_r' \beta, \qquad \log d_j = g_j - \bar g, \qquad
        g_j \sim \mathrm{Normal}(0, \tau^2), \qquad
        L_i \sim \mathrm{Normal}(0, s^2) \text{ when i enters}, \qquad
        L_{ti} \sim \mathrm{Normal}(L_{t'i}, (t - t') \delta^2)

    The probability of a choice is :math:`\tilde p = (1 - \varepsilon) \sigma(\eta) + \varepsilon /
    2`, ties are those of `davidson`, log nu is Normal(0, 4) and coefficients are Normal(0, 1). With
    `has_bias` judge j has the coefficients :math:`\beta + b_j`, :math:`b_j \sim \mathrm{Normal}(0,
    v^2)`. The likelihood contains neither the common level of log worths nor that of g, so that
    their priors integrate out; because the mean of log d is 0, both the spread s and
    discriminations are identified.

    A point contains L by period, log nu if there are ties, beta, g, and b judge by judge; several
    points are columns. Log worths before an option enters are 0.

    Parameters
    ----------
    rows : ComparisonRows
    n_options : int
    n_judges : int
        0: all judges are equal.
    steps : (periods - 1,)
        Number of steps between a period and the next.
    entry : (options,)
        The period in which each option enters.
    has_bias : bool
        Whether each judge has individual coefficients of covariates.
    has_prior : bool
        False: the likelihood, with log worths whose mean is 0.
    """

    rows: Any  # `ComparisonRows`, or what replaces them
    _COUNTS: ClassVar[tuple[str, ...]] = ("wins", "losses", "tied")  # fields of rows

    def __init__(
        self,
        rows: Any,
        n_options: int,
        n_judges: int = 0,
        steps: np.ndarray | None = None,
        entry: np.ndarray | None = None,
        has_bias: bool = False,
        has_prior: bool = True,
    ) -> None:
        self.rows, self.n_options, self.n_judges, self.has_prior = (
            rows,
            n_options,
            n_judges,
            has_prior,
        )
        self.steps = np.zeros(0) if steps is None else steps
        self.entry = np.zeros(n_options, np.int64) if entry is None else entry
        self.n_periods = len(self.steps) + 1
        self.present = np.arange(self.n_periods)[:, None] >= self.entry  # (periods, options)
        worths, after = self.n_periods * n_options, self.n_periods * n_options + rows.has_ties
        self.n_bias = n_judges * rows.x.shape[1] if has_bias else 0
        of_judges = after + rows.x.shape[1]
        self.size = of_judges + n_judges + self.n_bias
        self.worths, self.nu = slice(0, worths), slice(worths, after)
        self.beta, self.judges = slice(after, of_judges), slice(of_judges, of_judges + n_judges)
        self.bias = slice(self.judges.stop, self.size)
        self.is_free = np.append(self.present.ravel(), np.ones(self.size - worths, bool))
        exists = has_prior, has_prior and n_judges > 0, len(self.steps) > 0, self.n_bias > 0
        self.spread_kinds = tuple(k for k, there in enumerate(exists) if there)
        self._blocks: dict[int, list[RowBlock]] = {}

    @property
    def n_rows(self) -> int:
        """Number of different comparisons, or answers."""
        return len(self.rows.judge)

    @property
    def n_terms(self) -> int:
        """Number of rows that would take as long as these do."""
        return self.n_rows

    def with_rows(self, rows: Any) -> "Density":
        """Return the same density of other counts, which may be rows by points."""
        other = copy(self)
        other.rows, other._blocks = rows, {}
        return other

    def some(self, which: Any) -> "Density":
        """Return the density of some rows."""
        places = ComparisonRows._fields[:8]
        return self.with_rows(
            self.rows._replace(**{name: getattr(self.rows, name)[which] for name in places})
        )

    @property
    def counts(self) -> list[np.ndarray]:
        """The counts of each answer that a row can have."""
        return [getattr(self.rows, name) for name in self._COUNTS]

    def with_counts(self, *counts: np.ndarray) -> "Density":
        """Return the density of other counts of each answer."""
        return self.with_rows(self.rows._replace(**dict(zip(self._COUNTS, counts, strict=True))))

    def halves(self, rng: np.random.Generator) -> "tuple[Density, Density]":
        """Return the densities of random halves of the answers."""
        first = [half(rng, each) for each in self.counts]
        return self.with_counts(*first), self.with_counts(*map(np.subtract, self.counts, first))

    def raised(self, power: Any) -> "Density":
        """Return the density whose likelihood is raised to a power, or each row's to one of
        several."""
        return self.with_counts(*(power * each for each in self.counts))

    # The likelihood -------------------------------------------------------------------------------

    def blocks(self, points: int) -> list[RowBlock]:
        """Return the rows in blocks whose terms of that many points stay near the processor."""
        step = max(1, _TOGETHER // max(points, 1))
        if step not in self._blocks:
            is_dense = points == 1 and self.n_rows * self.size <= _DENSE
            starts = range(0, max(self.n_rows, 1), step)
            self._blocks[step] = [self._block(slice(at, at + step), is_dense) for at in starts]
        return self._blocks[step]

    def _block(self, at: slice, is_dense: bool) -> RowBlock:
        """Return rows with their matrices."""
        first, second, period, judge, x = (each[at] for each in self.rows[:5])
        wins, losses, tied = (as_column(each[at]) for each in self.counts)
        rows = ComparisonRows(
            first, second, period, judge, x, wins, losses, tied, self.rows.lapse, self.rows.has_ties
        )
        sides = (period * self.n_options)[:, None] + np.column_stack([first, second])
        judges, covariates = int(self.n_judges > 0), x.shape[1] if self.n_bias else 0
        matrices = (
            _place_values(np.tile([1.0, -1.0], (len(first), 1)), sides, self.worths.stop),
            _place_values(np.ones((len(first), judges)), judge[:, None], self.n_judges),
            _place_values(
                x[:, :covariates], judge[:, None] * covariates + np.arange(covariates), self.n_bias
            ),
        )
        return RowBlock(at, rows, *(_dense(each) if is_dense else each for each in matrices))

    def log_discriminations(self, points: np.ndarray) -> np.ndarray:
        """Return log d of judges, whose mean is 0, shape (judges, points)."""
        logs = points[self.judges]
        return logs - logs.mean(axis=0) if self.n_judges else logs

    def seen(self, block: RowBlock, points: np.ndarray) -> ComparisonsAtPoints:
        """Return comparisons as they are seen from points (size, points)."""
        difference = block.along @ points[self.worths]
        sharpness = np.ones((1, 1))
        if self.n_judges:
            sharpness = np.exp(self.log_discriminations(points))[block.rows.judge]
        log_odds = sharpness * difference + block.rows.x @ points[self.beta]
        if self.n_bias:
            log_odds = log_odds + block.biased @ points[self.bias]
        q, rest = split_probabilities(log_odds)
        return ComparisonsAtPoints(difference, sharpness, q, rest, points[self.nu])

    def _terms(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the log-likelihood of some rows at each point, without coefficients."""
        for block in self.blocks(points.shape[1]):
            seen = self.seen(block, points)
            yield block.at, compute_log_likelihoods(block.rows, seen.q, seen.rest, seen.log_nu)

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """Return the log-likelihood at each point, without coefficients."""
        return sum((each.sum(axis=0) for _, each in self._terms(points)), np.zeros(points.shape[1]))

    def by_row(self, points: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each row at each point, without coefficients (rows,
        points)."""
        found = np.empty((self.n_rows, points.shape[1]))
        for at, of_some in self._terms(points):
            found[at] = of_some
        return found

    @property
    def throughout(self) -> np.ndarray:
        """The options that are present in all periods; all options if none is."""
        there = self.entry == 0
        return there if there.any() else np.ones(self.n_options, bool)

    def centred(self, worths: np.ndarray) -> np.ndarray:
        """Subtract from log worths (periods times options, ...) the mean of options present in all
        periods."""
        by_period = worths.reshape(self.n_periods, self.n_options, *worths.shape[1:])
        weight = (self.present & self.throughout) / (self.present & self.throughout).sum(
            axis=1, keepdims=True
        )
        return (by_period - np.einsum("ti,ti...->t...", weight, by_period)[:, None]).reshape(
            worths.shape
        )

    def centred_by_period(self, points: np.ndarray) -> np.ndarray:
        """Return centred log worths, shape (periods, options, points)."""
        return self.centred(points[self.worths]).reshape(self.n_periods, self.n_options, -1)

    # With the prior -------------------------------------------------------------------------------

    def squares(self, points: np.ndarray, k: int) -> np.ndarray:
        """Return the sum of squares of what the standard deviation k spreads, one per point."""
        if k == DRIFT:
            return (self.increments(points) ** 2 / self.steps[:, None, None]).sum(axis=(0, 1))
        own = (
            self.entering(points)
            if k == WORTHS
            else points[self.judges if k == JUDGES else self.bias]
        )
        return (own**2).sum(axis=0)

    def n_spread(self, k: int) -> int:
        """Return the number of coordinates that the standard deviation k spreads."""
        return (self.n_options, self.n_judges, int(self.present[:-1].sum()), self.n_bias)[k]

    def scaled(self, points: np.ndarray, k: int, factor: np.ndarray) -> np.ndarray:
        """Return points in which what the standard deviation k spreads is multiplied by a
        factor."""
        points = points.copy()
        if k in (JUDGES, BIAS):
            points[self.judges if k == JUDGES else self.bias] *= factor
            return points
        entering, worths = self.entering(points), self.by_period(points)
        more = entering if k == WORTHS else worths - entering
        worths += np.where(self.present[..., None], (factor - 1.0) * more, 0.0)
        return points

    def by_period(self, points: np.ndarray) -> np.ndarray:
        """Return a view of log worths, shape (periods, options, points)."""
        return points[self.worths].reshape(self.n_periods, self.n_options, -1)

    def entering(self, points: np.ndarray) -> np.ndarray:
        """Return the log worths of options in the period in which they enter, shape (options,
        points)."""
        return self.by_period(points)[self.entry, np.arange(self.n_options)]

    def increments(self, points: np.ndarray) -> np.ndarray:
        """Return changes of log worths from each period to the next, shape (periods - 1, options,
        points)."""
        return np.where(self.present[:-1, :, None], np.diff(self.by_period(points), axis=0), 0.0)

    def log_priors(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """Return the log prior density at each point."""
        if not self.has_prior:
            return -0.5 * points[self.worths].sum(axis=0) ** 2 / self.n_options
        steps = 0.5 * np.where(self.present[:-1], np.log(self.steps)[:, None], 0.0).sum()
        return sum(self.log_prior_parts(points, spreads).values()) - steps

    def log_prior_parts(self, points: np.ndarray, spreads: Spreads) -> dict[str, np.ndarray]:
        """Return the log prior density of each part of points, without what the length of steps
        adds."""
        log_nu, beta = points[self.nu] / TIE_SD, points[self.beta]
        found = {
            "tie": -0.5 * (log_nu**2 + _LOG_2PI + 2.0 * math.log(TIE_SD)).sum(axis=0),
            "covariate": -0.5 * (beta**2 + _LOG_2PI).sum(axis=0),
        }
        for k in self.spread_kinds:
            each = np.log(spreads[k]) + 0.5 * _LOG_2PI
            found[_PARTS[k]] = (
                -0.5 * self.squares(points, k) / spreads[k] ** 2 - self.n_spread(k) * each
            )
        return found

    def log_spread_prior(self, k: int, log_spread: np.ndarray) -> np.ndarray:
        """Return the log prior density of the logarithm of the standard deviation k."""
        if k == WORTHS:
            return -0.5 * (((log_spread - MIDDLE) / WIDTH) ** 2 + _LOG_2PI) - math.log(WIDTH)
        scaled = np.exp(log_spread) / SPREAD
        return 0.5 * (math.log(2.0 / math.pi) - scaled**2) - math.log(SPREAD) + log_spread

    def log_spread_given(self, points: np.ndarray, k: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the log density of the logarithm of the standard deviation k given points, up to a
        constant."""
        squares, count = self.squares(points, k), self.n_spread(k)
        return lambda log: (
            self.log_spread_prior(k, log) - 0.5 * squares * np.exp(-2.0 * log) - count * log
        )

    def values(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """Return the log density at each point, without the coefficients of the likelihood."""
        return self.log_likelihoods(points) + self.log_priors(points, spreads)

    def gradients(self, points: np.ndarray, spreads: Spreads) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density at each point, and its slopes (size, points)."""
        gradient = np.zeros_like(points)
        value = self._add_likelihood(self.log_priors(points, spreads), gradient, points)
        self._centre(gradient, self.judges)
        self.add_prior_slope(gradient, points, spreads)
        return value, gradient

    def _centre(self, by_judge: np.ndarray, judges: slice) -> None:
        """Turn slopes by log d into slopes by g, along the first axis."""
        if self.n_judges:
            by_judge[judges] -= by_judge[judges].mean(axis=0)

    def _add_likelihood(
        self, value: np.ndarray, gradient: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Return a value with the log-likelihood, whose slopes by L, log d and others are added to
        a gradient."""
        for block in self.blocks(points.shape[1]):
            seen = self.seen(block, points)
            value = value + compute_log_likelihoods(block.rows, seen.q, seen.rest, seen.log_nu).sum(
                axis=0
            )
            by_row = compute_derivatives(block.rows, seen.q, seen.rest, seen.log_nu)
            self._add_slope(gradient, block, seen, by_row.slope, by_row.of_nu)
        return value

    def _add_slope(
        self,
        gradient: np.ndarray,
        block: RowBlock,
        seen: ComparisonsAtPoints,
        slope: np.ndarray,
        of_nu: np.ndarray,
    ) -> None:
        """Add the slopes of the log-likelihood of rows."""
        pull = slope * seen.sharpness
        gradient[self.worths] += block.along.T @ pull
        if self.rows.has_ties:
            gradient[self.nu] += of_nu.sum(axis=0)
        gradient[self.beta] += block.rows.x.T @ slope
        if self.n_judges:
            gradient[self.judges] += block.judged.T @ (pull * seen.difference)
        if self.n_bias:
            gradient[self.bias] += block.biased.T @ slope

    def add_prior_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the slope of the log prior to that of the log-likelihood."""
        if not self.has_prior:
            gradient[self.worths] -= points[self.worths].sum(axis=0) / self.n_options
            return
        self._add_worths_slope(gradient, points, spreads)
        gradient[self.nu] -= points[self.nu] / TIE_SD**2
        gradient[self.beta] -= points[self.beta]
        if self.n_judges:
            gradient[self.judges] -= points[self.judges] / spreads.judges**2
        if self.n_bias:
            gradient[self.bias] -= points[self.bias] / spreads.bias**2

    def _add_worths_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the slope of the log prior of log worths."""
        of_worths, entry = self.by_period(gradient), (self.entry, np.arange(self.n_options))
        of_worths[entry] -= self.entering(points) / spreads.worths**2
        if len(self.steps):
            pull = self.increments(points) / (self.steps[:, None, None] * spreads.drift**2)
            of_worths[:-1] += pull
            of_worths[1:] -= pull

    def scores_of_rows(self, point: np.ndarray) -> Any:
        """Return the slopes of the log-likelihood of each row by log worths, log d and others,
        sparse (rows, size)."""
        from scipy.sparse import vstack

        found = []
        for block in self.blocks(1):
            own = self._by_row(block, point)
            slope = own.slope[:, None]
            of_nu = own.of_nu if self.rows.has_ties else own.of_nu[:, :0]
            judged = block.judged * (slope * own.reach[:, None])
            others = block.rows.x * slope, judged, block.biased * slope
            found.append(
                _join_columns([block.along * (slope * own.sharpness[:, None]), of_nu, *others])
            )
        return vstack([_sparse(each) for each in found])

    def scores_of_judges(self, point: np.ndarray) -> np.ndarray:
        """Return the slope of the log-likelihood of each judge's comparisons (size, judges)."""
        given = _place_values(np.ones((self.n_rows, 1)), self.rows.judge[:, None], self.n_judges)
        scores = (self.scores_of_rows(point).T @ given).toarray()
        self._centre(scores, self.judges)
        return scores

    def predicted(self, others: np.ndarray) -> Predicted:
        """Return how points (size, judges), one per judge, predict the judge's answers with d =
        1."""
        rows = self.rows
        at = rows.period * self.n_options
        worths, beta = others[self.worths], others[self.beta]
        difference = worths[at + rows.first, rows.judge] - worths[at + rows.second, rows.judge]
        log_nu = others[self.nu][:, rows.judge]  # (1 or 0, rows)
        q, rest = split_probabilities(
            (difference + (rows.x * beta[:, rows.judge].T).sum(axis=1)).clip(-_SUREST, _SUREST)
        )
        half = np.full(len(q), 0.5)
        expected = _as_expected(rows, q, rest, log_nu)
        ways = (rows, q, rest), (expected, q, rest), (rows, half, half)
        given, average, chance = (compute_log_likelihoods(*each, log_nu).ravel() for each in ways)
        return Predicted(given, average, chance, rows.total)

    # Its curvature --------------------------------------------------------------------------------

    def prior_curvature(self, spreads: Spreads) -> Bordered:
        """Return minus the second derivatives of the log prior."""
        periods, n, outside = self.n_periods, self.n_options, self.size - self.worths.stop
        border = np.zeros((periods * n, outside))
        if not self.has_prior:
            return Bordered(
                np.full((1, n, n), 1.0 / n), np.zeros((0, n)), border, np.zeros((outside, outside))
            )
        diagonal = np.where(self.present, 0.0, 1.0)
        diagonal[self.entry, np.arange(n)] += 1.0 / spreads.worths**2
        coupling = np.where(self.present[:-1], 1.0 / (self.steps[:, None] * spreads.drift**2), 0.0)
        diagonal[:-1] += coupling
        diagonal[1:] += coupling
        return Bordered(diagonals(diagonal), coupling, border, np.diag(self._corner(spreads)))

    def _corner(self, spreads: Spreads) -> np.ndarray:
        """Return the precisions of log nu, of coefficients, of judges and of biases."""
        precisions = [np.full(int(self.rows.has_ties), TIE_SD**-2.0), np.ones(self.rows.x.shape[1])]
        precisions.append(np.full(self.n_judges, 1.0 / spreads.judges**2))
        return np.concatenate([*precisions, np.full(self.n_bias, 1.0 / spreads.bias**2)])

    def curvature(self, point: np.ndarray, is_convex: bool = False) -> Bordered:
        """Return minus the second derivatives of the log-likelihood; `is_convex`: less what makes
        them indefinite."""
        return self.expanded(point, is_convex).curvature

    def expanded(self, point: np.ndarray, is_convex: bool = False) -> Expanded:
        """Return the log-likelihood, its slope and its `curvature`, in one pass over the
        comparisons."""
        value, gradient, (blocks, coupling, border, corner) = self._expanded(point, is_convex)
        judges = slice(self.judges.start - self.worths.stop, self.judges.stop - self.worths.stop)
        for by_judge, place in (
            (gradient, self.judges),
            (border.T, judges),
            (corner, judges),
            (corner.T, judges),
        ):
            self._centre(by_judge, place)
        return Expanded(value, gradient, Bordered(blocks, coupling, border, corner))

    def _by_row(
        self, block: RowBlock, point: np.ndarray, is_convex: bool = False
    ) -> "_RowsAtPoint":
        """Return the derivatives of rows, and those of their log odds."""
        seen = self.seen(block, point[:, None])
        found = compute_derivatives(block.rows, seen.q, seen.rest, seen.log_nu)
        value = float(compute_log_likelihoods(block.rows, seen.q, seen.rest, seen.log_nu).sum())
        slope, weight, mixed, spread = (
            each[:, 0] for each in (found.slope, -found.bend, found.mixed, found.spread)
        )
        if is_convex:
            weight = np.maximum(weight, mixed**2 / np.maximum(spread, 1e-300))
        sharpness = np.broadcast_to(seen.sharpness[:, 0], len(slope))
        reach = sharpness * seen.difference[:, 0]
        return _RowsAtPoint(
            seen, value, slope, found.of_nu, weight, mixed, spread, sharpness, reach
        )

    def _sum_by_judge(self, matrix: Any, rows: ComparisonRows, values: np.ndarray) -> np.ndarray:
        """Return the sums over rows of a matrix (k, rows) times values, a column for each judge."""
        return _dense(matrix @ _place_values(values[:, None], rows.judge[:, None], self.n_judges))

    def _expanded(self, point: np.ndarray, is_convex: bool) -> Expanded:
        """Return the same with derivatives by log d."""
        value, stop = 0.0, self.worths.stop
        periods, n = self.n_periods, self.n_options
        gradient, blocks = np.zeros((self.size, 1)), np.zeros((periods, n, n))
        border, corner = np.zeros((stop, self.size - stop)), np.zeros((self.size - stop,) * 2)
        outside = self.nu, self.beta, self.judges, self.bias
        nu, beta, judges, bias = (slice(each.start - stop, each.stop - stop) for each in outside)
        linear = np.r_[beta, bias]
        for block in self.blocks(1):
            own, rows, along = self._by_row(block, point, is_convex), block.rows, block.along.T
            value += own.value
            self._add_slope(gradient, block, own.seen, own.slope[:, None], own.of_nu)
            steep, others = own.weight * own.sharpness, _join_columns([rows.x, block.biased])
            place = (rows.period * n + rows.first) * n + rows.second
            np.subtract.at(blocks.reshape(-1), place, steep * own.sharpness)
            border[:, linear] += _dense(along @ (others * steep[:, None]))
            corner[np.ix_(linear, linear)] += _dense(others.T @ (others * own.weight[:, None]))
            if self.n_judges:
                bent = own.slope * (not is_convex)  # what bends log odds themselves
                border[:, judges] += self._sum_by_judge(
                    along, rows, steep * own.reach - own.sharpness * bent
                )
                corner[judges, judges] += np.diag(
                    block.judged.T @ (own.reach * (own.weight * own.reach - bent))
                )
                mixed = self._sum_by_judge(others.T, rows, own.weight * own.reach)
                corner[linear, judges] += mixed
                corner[judges, linear] += mixed.T
            if self.rows.has_ties:
                border[:, nu] += (along @ (own.sharpness * own.mixed))[:, None]
                corner[nu, nu] += own.spread.sum()
                corner[nu, linear] += others.T @ own.mixed
                corner[nu, judges] += block.judged.T @ (own.mixed * own.reach)
        blocks += blocks.swapaxes(1, 2)
        blocks[:, np.arange(n), np.arange(n)] = -blocks.sum(axis=2)
        corner = np.triu(corner) + np.triu(corner, 1).T
        return Expanded(
            value, gradient, Bordered(blocks, np.zeros((periods - 1, n)), border, corner)
        )


class _RowsAtPoint(NamedTuple):
    """Derivatives of the log-likelihood of rows."""

    seen: ComparisonsAtPoints
    value: float
    slope: np.ndarray  # by the log odds
    of_nu: np.ndarray  # by log nu (rows, 1)
    weight: np.ndarray  # minus the second derivatives: by the log odds
    mixed: np.ndarray  # by both
    spread: np.ndarray  # by log nu
    sharpness: np.ndarray
    reach: np.ndarray  # d times the difference of log worths


def half(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Return a random half of each count; fractions fall in either half."""
    whole = np.floor(counts)
    return rng.binomial(whole.astype(np.int64), 0.5) + (counts - whole) * rng.integers(
        0, 2, counts.shape
    )


def _as_expected(
    rows: ComparisonRows, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray
) -> ComparisonRows:
    """Return the same number of comparisons with the outcomes that their probabilities expect."""
    p = (1.0 - rows.lapse) * q + rows.lapse / 2.0
    ratio = compute_tie_ratio(rows, q, rest, log_nu).ravel() if rows.has_ties else np.zeros_like(q)
    decided = rows.total / (1.0 + ratio)
    return rows._replace(wins=decided * p, losses=decided * (1.0 - p), tied=rows.total - decided)


def diagonals(values: np.ndarray) -> np.ndarray:
    """Return diagonal blocks (blocks, n, n)."""
    blocks = np.zeros((*values.shape, values.shape[1]))
    blocks[:, np.arange(values.shape[1]), np.arange(values.shape[1])] = values
    return blocks


def added(one: Bordered, other: Bordered) -> Bordered:
    """Return the sum of two such matrices."""
    return Bordered(*(a + b for a, b in zip(one, other, strict=True)))


def _place_values(values: np.ndarray, columns: np.ndarray, width: int) -> Any:
    """Return a sparse matrix with these values of each row in these columns, of which there may be
    more than values."""
    from scipy.sparse import csr_array

    rows, count = values.shape
    places = columns[:, :count].ravel()
    return csr_array((values.ravel(), places, np.arange(rows + 1) * count), shape=(rows, width))


def _sparse(matrix: Any) -> Any:
    """Return a matrix as a sparse one."""
    from scipy.sparse import csr_array

    return csr_array(matrix)


def _join_columns(matrices: list[Any]) -> Any:
    """Return matrices as one, sparse if one of them is."""
    matrices = [each for each in matrices if each.shape[1]] or matrices[:1]
    if len(matrices) == 1:
        return matrices[0]
    if all(isinstance(each, np.ndarray) for each in matrices):
        return np.hstack(matrices)
    from scipy.sparse import hstack

    return hstack([_sparse(each) for each in matrices]).tocsr()


def _dense(matrix: Any) -> np.ndarray:
    """Return a matrix as an array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def as_column(counts: np.ndarray) -> np.ndarray:
    """Return counts as a column, unless they differ between points."""
    return counts if counts.ndim == 2 else counts[:, None]
