"""Posterior density of worths given choices from sets, with judges of unequal discrimination."""

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.bordered_block_matrix import BorderedBlocks
from thali._model.answer_probability_derivatives import (
    ANSWER_DERIVATIVES,
    CHOICE,
    AnswerDerivatives,
    choice_derivatives,
    diagonal_matrix,
    outer_product,
)
from thali._model.best_worst_probabilities import (
    RANKING,
    answer_probabilities,
    choice_probabilities,
)
from thali.errors import DataError, Setting

from .density import Density, JudgePredictions, LikelihoodExpansion, to_column

if TYPE_CHECKING:
    from thali._data.choices import Choices

# array entries of a block: rows times points times squared members of a set, or of subsets
_BLOCK_ENTRIES = 1 << 20
MAX_TIED_WITH_LAPSES = 12  # tied options, whose subsets are all summed over
N_NODES = 100  # nodes that a few tied options need
# fall of the log integrand at the ends, for 12 digits and for 6
EXACT_DROP, ROUGH_DROP = 37.0, 16.0
_PRODUCT_SIZE = 8  # options whose r are multiplied without underflow
_MAX_Z, _TINY = 100.0, 1e-300  # z beyond which e^-z is 0; replaces products of r that are 0


class SetAnswersBySize(NamedTuple):
    """Counts of distinct answers to sets, ordered by size of set."""

    # for each size (rows, m) options: first the chosen ones, or the best and the worst
    members: tuple[np.ndarray, ...]
    judge: np.ndarray  # (rows,); all 0 without judges
    counts: np.ndarray
    rule: str  # of answers
    lapse: float
    # for each size, the number of options that are chosen together; 1 if not listed
    n_tied: tuple[int, ...] = ()
    has_ties = False  # neither of two options chosen

    def _iterate_sizes(self) -> Any:
        """Yield members (rows, m) and number of tied options, by size of set."""
        return zip_longest(self.members, self.n_tied, fillvalue=1)

    @property
    def x(self) -> np.ndarray:
        """Covariates of each row: none, shape (rows, 0)."""
        return np.zeros((len(self.judge), 0))

    @property
    def total(self) -> np.ndarray:
        """Number of answers counted in each row."""
        return self.counts

    def iterate_blocks(self, n_points: int) -> "Iterator[tuple[slice, SetAnswersBySize]]":
        """Yield (rows, slice) of blocks with equal set size that fit the cache."""
        first_row = 0
        for members, tied in self._iterate_sizes():
            entries = max(members.shape[1] ** 2, N_NODES * (tied - 1))
            row_size = max(n_points, 1) * entries
            for block in iterate_slices(len(members), row_size, _BLOCK_ENTRIES):
                row_slice = slice(first_row + block.start, first_row + block.stop)
                yield (
                    row_slice,
                    self._replace(
                        members=(members[block],),
                        judge=self.judge[row_slice],
                        counts=self.counts[row_slice],
                        n_tied=(tied,),
                    ),
                )
            first_row += len(members)


def count_distinct_answers(data: "Choices", lapse: float, with_judges: bool) -> SetAnswersBySize:
    """Count the distinct answers of each judge, or of all respondents together."""
    set_indices = data.set_of[data.choice]
    if lapse and (most_tied := data.n_tied[set_indices].max()) > MAX_TIED_WITH_LAPSES:
        raise DataError(
            f"{most_tied} options tie in a ranking, but with a lapse ties are limited to"
            f" {MAX_TIED_WITH_LAPSES} options; set ",
            Setting("lapse", 0),
            ".",
        )
    members, judge_blocks, counts, n_tied = [], [], [], []
    for rows, ordered_members, tied in iterate_answers_by_size(
        data, set_indices, data.choice, data.worst
    ):
        judges = np.zeros(len(rows), np.int64)
        if with_judges:
            judges = data.respondent[rows]
        distinct, distinct_index = np.unique(
            np.column_stack([judges, ordered_members]), axis=0, return_inverse=True
        )
        members.append(distinct[:, 1:])
        judge_blocks.append(distinct[:, 0])
        counts.append(np.bincount(distinct_index.ravel(), data.times[rows], len(distinct)))
        n_tied.append(tied)
    rule = RANKING
    if data.worst is None:
        rule = CHOICE
    all_counts = np.concatenate(counts)
    return SetAnswersBySize(
        tuple(members), np.concatenate(judge_blocks), all_counts, rule, float(lapse), tuple(n_tied)
    )


class AnswersOfSize(NamedTuple):
    """Answers to sets of one size."""

    rows: np.ndarray  # row indices of the answers
    members: np.ndarray  # (rows, m) options: first the chosen ones, or the best and the worst
    n_tied: int


def iterate_answers_by_size(
    data: "Choices", set_indices: np.ndarray, best: np.ndarray, worst: np.ndarray | None
) -> Iterator[AnswersOfSize]:
    """Yield the answers to sets of each size and number of tied options.

    `best` and `worst` are positions among the members of all sets.
    """
    size = np.stack([data.sizes, data.n_tied])[:, set_indices]
    for m, tied in np.unique(size, axis=1).T.tolist():
        rows = np.flatnonzero((size[0] == m) & (size[1] == tied))
        positions = data.start[set_indices[rows], None] + np.arange(m)
        rank = np.where(positions == best[rows, None], 0, 2)
        if worst is not None:
            rank = np.where(positions == worst[rows, None], 1, rank)
        order = np.argsort(rank, axis=1, kind="stable")
        yield AnswersOfSize(rows, data.members[np.take_along_axis(positions, order, axis=1)], tied)


class ChoiceSetDensity(Density):
    r"""The density of log worths L and log discriminations d of judges, given choices from sets.

    .. math::
        P(i \mid S, j) = (1 - \varepsilon) \frac{e^{d_j L_i}}{\sum_{k \in S} e^{d_j L_k}}
        + \frac{\varepsilon}{|S|}

    A ranking consists of such choices in turn, each of the best remaining option (Plackett 1975) or
    of several that tie (`differentiate_tied_answers`). Best and worst choices follow
    `best_worst_probabilities` with the weights :math:`e^{d_j L_i}`. Priors are as in `Density`,
    without periods, ties of two options, and covariates.

    Parameters
    ----------
    rows : SetAnswersBySize
    n_options, n_judges : int
        Without judges: 0.
    """

    rows: SetAnswersBySize
    _COUNTS: ClassVar[tuple[str, ...]] = ("counts",)

    @property
    def n_terms(self) -> int:
        """Number of rows of paired comparisons that would take the same time."""
        n_terms = 0
        for members, tied in self.rows._iterate_sizes():
            n_rows = len(members)
            if tied > 1:
                n_rows *= _TIED_TERMS
                if self.rows.lapse:
                    n_rows *= 2**tied
            n_terms += n_rows
        return n_terms

    # The likelihood -------------------------------------------------------------------------------

    def _log_weights(
        self, rows: SetAnswersBySize, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return discriminations (rows, points, 1) and log weights (rows, points, m)."""
        # Log weights are relative to the largest one.
        worths = points[rows.members[0]].swapaxes(1, 2)
        discrimination = np.ones((1, 1, 1))
        if self.n_judges:
            discrimination = np.exp(self.log_discriminations(points))[rows.judge, :, None]
        logs = discrimination * worths
        return discrimination, np.maximum(logs - logs.max(axis=2, keepdims=True), MIN_LOG_WEIGHT)

    def _iterate_log_likelihoods(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield a slice of rows and their log-likelihoods, (rows, points)."""
        for row_slice, rows in self.rows.iterate_blocks(points.shape[1]):
            _, logs = self._log_weights(rows, points)
            weights = np.exp(logs).reshape(-1, logs.shape[2])
            if rows.n_tied == (1,):
                # far away points make answers impossible
                with np.errstate(divide="ignore"):
                    log_p = np.log(_answer_probabilities(rows, weights)[:, 0])
            else:
                log_p = _differentiate_answers(rows, logs, False, points.shape[1]).log_p
            yield row_slice, to_column(rows.counts) * log_p.reshape(logs.shape[:2])

    def _add_likelihood(
        self, value: np.ndarray, gradient: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Return `value` plus the log-likelihood; add its gradient to `gradient`."""
        for _, rows in self.rows.iterate_blocks(points.shape[1]):
            discrimination, logs = self._log_weights(rows, points)
            answer, counts = (
                _differentiate_answers(rows, logs, False, points.shape[1]),
                to_column(rows.counts),
            )
            value = value + (counts * answer.log_p.reshape(logs.shape[:2])).sum(axis=0)
            pull = counts[..., None] * self._coordinate_slopes(
                discrimination, logs, answer.gradient.reshape(logs.shape)
            )
            coordinates = self._row_coordinates(rows).ravel()
            for k in range(points.shape[1]):
                gradient[:, k] += np.bincount(coordinates, pull[:, k].ravel(), self.size)
        return value

    def _row_coordinates(self, rows: SetAnswersBySize) -> np.ndarray:
        """Return indices of the parameters that each row depends on: options, judge."""
        # These are the members, and the judge if there is one.
        (members,) = rows.members
        if not self.n_judges:
            return members
        return np.column_stack([members, self.judges.start + rows.judge])

    def _coordinate_slopes(
        self, discrimination: np.ndarray, logs: np.ndarray, slope: np.ndarray
    ) -> np.ndarray:
        """Convert slopes by log weights to slopes by the parameters of each row."""
        # All are (rows, points, ...).
        if not self.n_judges:
            return slope
        # the slopes of a row sum to 0, so subtracting the largest log weight changes nothing
        return np.concatenate(
            [discrimination * slope, (slope * logs).sum(axis=2, keepdims=True)], axis=2
        )

    def row_scores(self, point: np.ndarray) -> Any:
        """Return gradients of each row's log-likelihood, sparse (n_rows, size)."""
        from scipy.sparse import csr_array

        slopes, coordinates, row_indices = [], [], []
        for row_slice, rows in self.rows.iterate_blocks(1):
            discrimination, logs = self._log_weights(rows, point[:, None])
            slope = self._coordinate_slopes(
                discrimination, logs, _differentiate_answers(rows, logs, False).gradient[:, None]
            )[:, 0]
            slopes.append((rows.counts[:, None] * slope).ravel())
            coordinates.append(self._row_coordinates(rows).ravel())
            row_indices.append(
                np.repeat(np.arange(row_slice.start, row_slice.stop), slope.shape[1])
            )
        row_slice = np.concatenate(row_indices), np.concatenate(coordinates)
        return csr_array((np.concatenate(slopes), row_slice), shape=(self.n_rows, self.size))

    # Its curvature --------------------------------------------------------------------------------

    def _expand_by_log_discrimination(
        self, point: np.ndarray, is_convex: bool
    ) -> LikelihoodExpansion:
        """Return value, gradient and curvature by centred log discriminations."""
        # An answer's expected curvature is the mean of this product, which is never below 0.
        n, size, value = self.n_options, self.size, 0.0
        gradient, curvature = np.zeros((size, 1)), np.zeros(size * size)
        for _, rows in self.rows.iterate_blocks(1):
            discrimination, logs = self._log_weights(rows, point[:, None])
            answer = _differentiate_answers(rows, logs, not is_convex)
            coordinates, count = self._row_coordinates(rows), rows.counts[:, None]
            slope = self._coordinate_slopes(discrimination, logs, answer.gradient[:, None])[:, 0]
            if is_convex:
                bend = outer_product(slope, slope)
            else:
                bend = -self._coordinate_curvature(discrimination[:, 0], logs[:, 0], answer, slope)
            value += float(rows.counts @ answer.log_p)
            gradient[:, 0] += np.bincount(coordinates.ravel(), (count * slope).ravel(), size)
            entry = size * coordinates[:, :, None] + coordinates[:, None, :]
            curvature += np.bincount(entry.ravel(), (count[..., None] * bend).ravel(), size * size)
        curvature = curvature.reshape(size, size)
        blocks, border, corner = curvature[None, :n, :n], curvature[:n, n:], curvature[n:, n:]
        return LikelihoodExpansion(
            value, gradient, BorderedBlocks(blocks, np.zeros((0, n)), border, corner)
        )

    def _coordinate_curvature(
        self,
        discrimination: np.ndarray,
        logs: np.ndarray,
        answer: AnswerDerivatives,
        slope: np.ndarray,
    ) -> np.ndarray:
        """Return second derivatives by the parameters of each row, (rows, k, k)."""
        if not self.n_judges:
            return answer.hessian
        # derivatives of log weights
        jacobian = np.concatenate(
            [diagonal_matrix(discrimination + 0.0 * logs), logs[:, :, None]], axis=2
        )
        hessian = jacobian.swapaxes(1, 2) @ answer.hessian @ jacobian
        hessian[:, -1] += slope
        hessian[:, :-1, -1] += slope[:, :-1]
        return hessian

    def predict_judges(self, points: np.ndarray) -> JudgePredictions:
        """Predict each judge's answers from parameters estimated without that judge."""
        log_probabilities, total = np.empty((3, len(self.rows.judge))), self.rows.counts.copy()
        for row_slice, rows in self.rows.iterate_blocks(1):
            (members,) = rows.members
            if rows.n_tied != (1,):
                log_probabilities[:, row_slice] = 0.0
                total[row_slice] = 0.0
                continue
            logs = points[members, rows.judge[:, None]]
            weights = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), MIN_LOG_WEIGHT))
            p = _answer_probabilities(rows, weights)
            logs = np.log(np.maximum(p, 1e-300))
            log_probabilities[0, row_slice] = logs[:, 0]
            log_probabilities[1, row_slice] = (p * logs).sum(axis=1)
            log_probabilities[2, row_slice] = -np.log(p.shape[1])
        score, expected, chance = total * log_probabilities
        return JudgePredictions(score, expected, chance, total)


MIN_LOG_WEIGHT = -600.0  # log of a weight relative to the largest one of a set
_MAX_EXACT_POINTS = 8
# rows that take the time of a row with a tie; a lapse doubles it for each tied option
_TIED_TERMS = 64


def _differentiate_answers(
    rows: SetAnswersBySize, logs: np.ndarray, with_hessian: bool, n_points: int = 1
) -> AnswerDerivatives:
    """Return log probabilities of answers, with derivatives by log weights."""
    weights = np.exp(logs).reshape(-1, logs.shape[-1])
    if rows.n_tied == (1,):
        return ANSWER_DERIVATIVES[rows.rule](weights, rows.lapse, with_hessian)
    # many points are draws, with sampling error
    drop = EXACT_DROP
    if n_points > _MAX_EXACT_POINTS:
        drop = ROUGH_DROP
    (tied,) = rows.n_tied
    return differentiate_tied_answers(weights, tied, rows.lapse, with_hessian, drop)


def _answer_probabilities(rows: SetAnswersBySize, weights: np.ndarray) -> np.ndarray:
    """Return probabilities of all possible answers, the observed answer first."""
    if rows.rule == CHOICE:
        return choice_probabilities(weights, rows.lapse)
    m = weights.shape[1]
    return answer_probabilities(weights, np.array([0, m]), np.arange(m), rows.lapse, rows.rule)


# Tied options -------------------------------------------------------------------------------------


def differentiate_tied_answers(
    weights: np.ndarray, n_tied: int, lapse: float, with_hessian: bool, drop: float = EXACT_DROP
) -> AnswerDerivatives:
    r"""Return log probability that the first n_tied options come first, with slopes.

    `weights` is (rows, m); derivatives are by log weights.

    Without lapses options come in the order of exponential clocks, so that with the weights
    :math:`v_i` of a tied group T and the sum W of the others, and with :math:`x = \log W t`,

    .. math::
        P(T) = \int_0^\infty W e^{-W t} \prod_{i \in T} (1 - e^{-v_i t}) dt
             = \int e^{x - e^x} \prod_{i \in T} (1 - e^{-v_i e^x / W}) dx

    The integrand is log-concave in x, and analytic. Its logarithm has a slope of at least
    :math:`1 - e^x`, to which options with :math:`v_i e^x < W` add more than 0.58 each, and it rises
    by less than :math:`(1 + |T|) x - e^x + 1` from 0. The trapezoidal rule between where these are
    falls of 37 is exact to 1e-12, if its step is not above 0.25 and 0.8 standard deviations of the
    top. Moving a node by log 2 turns :math:`r = 1 - e^{-v_i e^x / W}` into :math:`r (2 - r)`. With
    lapses the orders of T are summed, subset by subset.
    """
    rest_weight, options = weights[:, n_tied:].sum(axis=1, keepdims=True), weights.shape[1]
    # the probability depends on a alone
    a = np.log(weights[:, :n_tied]) - np.log(rest_weight)
    if lapse:
        blocks = iterate_slices(len(a), n_tied**2 << n_tied, _BLOCK_ENTRIES)
        parts = [_sum_over_orders(a[block], options, lapse) for block in blocks]
        answer = AnswerDerivatives(*map(np.concatenate, zip(*parts, strict=True)))
    else:
        answer = _integrate_by_nodes(a, with_hessian, drop)
    share = np.concatenate([0.0 * a, weights[:, n_tied:] / rest_weight], axis=1)
    slopes = np.eye(options)[:n_tied] - share[:, None]  # of a by log weights (rows, tied, m)
    gradient = (answer.gradient[:, None] @ slopes)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(answer.log_p, gradient, np.zeros(()))
    curvature = answer.gradient.sum(axis=1)[:, None, None] * (
        outer_product(share, share) - diagonal_matrix(share)
    )
    return AnswerDerivatives(
        answer.log_p, gradient, slopes.swapaxes(1, 2) @ answer.hessian @ slopes + curvature
    )


def _integrate_by_nodes(a: np.ndarray, with_hessian: bool, drop: float) -> AnswerDerivatives:
    """Return the log probability by the trapezoidal rule, with derivatives by a."""
    n_tied, weights = a.shape[1], np.exp(a)[:, None]
    start = min(drop + 1.0, max(a.max(), 0.0) + (drop + 1.0) / (1.0 + 0.58 * n_tied))
    end = math.log(1.0 + drop) + 1.5 * math.log(1.0 + n_tied)
    n_parts = math.ceil(
        math.log(2.0) / min(9.87 / (drop + 3.0), 0.8 / math.sqrt(1.0 + 1.3 * n_tied))
    )
    n_doublings = math.ceil((end + start) / math.log(2.0))
    step = math.log(2.0) / n_parts
    x = step * np.arange(n_parts * n_doublings) - start
    rate = np.exp(x)[:, None]
    r_blocks = [-np.expm1(-rate[:n_parts] * weights)]
    for _ in range(n_doublings - 1):
        r_blocks.append(r_blocks[-1] * (2.0 - r_blocks[-1]))
    r = np.concatenate(r_blocks, axis=1)  # (rows, nodes, tied)
    products = np.multiply.reduceat(r, np.arange(0, n_tied, _PRODUCT_SIZE), axis=2)
    heights = x - rate[:, 0] + np.log(np.maximum(products, _TINY)).sum(axis=2)
    top = heights.max(axis=1, keepdims=True)
    mass = np.exp(heights - top)
    total = mass.sum(axis=1, keepdims=True)
    log_p, mass = top[:, 0] + np.log(step * total[:, 0]), mass / total
    z = np.minimum(rate * weights, _MAX_Z)
    ratio = z * (1.0 - r) / r  # z / (e^z - 1)
    gradient = (mass[:, None] @ ratio)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(log_p, gradient, np.zeros(()))
    curve = (mass[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    squares = (mass[..., None] * ratio).swapaxes(1, 2) @ ratio
    return AnswerDerivatives(
        log_p, gradient, diagonal_matrix(curve) + squares - outer_product(gradient, gradient)
    )


def _sum_over_orders(a: np.ndarray, n_options: int, lapse: float) -> AnswerDerivatives:
    """Return the log probability as a sum over all orders, with derivatives by a."""
    # For each subset, P, P g and P (H + g g') are blocks of a matrix M, which a choice with the
    # slope s and the bend B turns into p (A M A' + P B), where A adds s times the first row to the
    # others.
    n_tied, identity = a.shape[1], np.eye(1 + a.shape[1])
    weights, subset = np.exp(a)[:, None], np.arange(1 << n_tied)
    is_left = 1.0 - (subset[:, None] >> np.arange(n_tied) & 1)
    matrices = np.zeros((len(a), len(subset), *identity.shape))
    matrices[:, 0, 0, 0] = 1.0
    for size in range(n_tied):
        for option in range(n_tied):
            subsets = np.flatnonzero(
                (is_left.sum(axis=1) == n_tied - size) & (is_left[:, option] > 0.0)
            )
            remaining_weights = weights * is_left[subsets]
            share = remaining_weights / (1.0 + remaining_weights.sum(axis=2, keepdims=True))
            p, slope, bend = choice_derivatives(
                share, np.eye(n_tied)[option], n_options - size, lapse, True
            )
            A = identity + 0.0 * p[..., None]
            A[..., 1:, 0] = slope
            terms = A @ matrices[:, subsets] @ A.swapaxes(2, 3)
            terms[..., 1:, 1:] += matrices[:, subsets, :1, :1] * bend
            matrices[:, subsets + (1 << option)] += p[..., None] * terms
    p = matrices[:, -1, 0, 0]
    gradient = matrices[:, -1, 0, 1:] / p[:, None]
    return AnswerDerivatives(
        np.log(p),
        gradient,
        matrices[:, -1, 1:, 1:] / p[:, None, None] - outer_product(gradient, gradient),
    )
