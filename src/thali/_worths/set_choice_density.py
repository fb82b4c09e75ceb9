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

from .posterior_density import Density, JudgePredictions, LikelihoodExpansion, to_column

if TYPE_CHECKING:
    from thali._data.choices import Choices

# array entries of a block: rows times points times squared members of a set, or of subsets
_BLOCK_ENTRIES = 1 << 20
_PLAIN_POINTS = 256  # points at once, so that the weights of options stay in the cache
MAX_TIED_WITH_LAPSES = 12  # tied options, whose subsets are all summed over
N_NODES = 100  # nodes that a few tied options need
# fall of the log integrand at the ends, for 12 digits and for 6
EXACT_DROP = 37.0
ROUGH_DROP = 16.0
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
        """Yield (slice, rows) of blocks with equal set size that fit the cache."""
        first_row = 0
        for members, n_tied in self._iterate_sizes():
            entries_per_row = max(members.shape[1] ** 2, N_NODES * (n_tied - 1))
            row_size = max(n_points, 1) * entries_per_row
            for block in iterate_slices(len(members), row_size, _BLOCK_ENTRIES):
                row_slice = slice(first_row + block.start, first_row + block.stop)
                yield (
                    row_slice,
                    self._replace(
                        members=(members[block],),
                        judge=self.judge[row_slice],
                        counts=self.counts[row_slice],
                        n_tied=(n_tied,),
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
    member_blocks = []
    judge_blocks = []
    count_blocks = []
    n_tied = []
    for answer_indices, ordered_members, tied_options in iterate_answers_by_size(
        data, set_indices, data.choice, data.worst
    ):
        judges = np.zeros(len(answer_indices), np.int64)
        if with_judges:
            judges = data.respondent[answer_indices]
        distinct_answers, index_of_distinct = np.unique(
            np.column_stack([judges, ordered_members]), axis=0, return_inverse=True
        )
        member_blocks.append(distinct_answers[:, 1:])
        judge_blocks.append(distinct_answers[:, 0])
        count_blocks.append(
            np.bincount(
                index_of_distinct.ravel(), data.times[answer_indices], len(distinct_answers)
            )
        )
        n_tied.append(tied_options)
    rule = RANKING
    if data.worst is None:
        rule = CHOICE
    all_counts = np.concatenate(count_blocks)
    return SetAnswersBySize(
        tuple(member_blocks),
        np.concatenate(judge_blocks),
        all_counts,
        rule,
        float(lapse),
        tuple(n_tied),
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
    sizes_and_ties = np.stack([data.sizes, data.n_tied])[:, set_indices]
    for m, n_tied in np.unique(sizes_and_ties, axis=1).T.tolist():
        answer_indices = np.flatnonzero((sizes_and_ties[0] == m) & (sizes_and_ties[1] == n_tied))
        positions = data.start[set_indices[answer_indices], None] + np.arange(m)
        sort_keys = np.where(positions == best[answer_indices, None], 0, 2)
        if worst is not None:
            sort_keys = np.where(positions == worst[answer_indices, None], 1, sort_keys)
        member_order = np.argsort(sort_keys, axis=1, kind="stable")
        yield AnswersOfSize(
            answer_indices,
            data.members[np.take_along_axis(positions, member_order, axis=1)],
            n_tied,
        )


class _PlainChoices(NamedTuple):
    """Choices of one option from sets, as products of matrices need them."""

    times_chosen: np.ndarray  # (n_options,)
    blocks: list[tuple[Any, np.ndarray]]  # sparse memberships (rows, n_options), counts (rows,)


def _gather_plain_choices(rows: SetAnswersBySize, n_options: int) -> _PlainChoices:
    """Return how often options are chosen, and out of which sets."""
    chosen = np.concatenate([members[:, 0] for members in rows.members])
    blocks = []
    for _, row_block in rows.iterate_blocks(_PLAIN_POINTS):
        (members,) = row_block.members
        membership = _arrange_by_option(np.ones(members.shape), members, n_options)
        blocks.append((membership, row_block.counts))
    return _PlainChoices(np.bincount(chosen, rows.counts, n_options), blocks)


def _arrange_by_option(values: np.ndarray, members: np.ndarray, n_options: int) -> Any:
    """Return values of members of sets (rows, m) as a sparse matrix (rows, n_options)."""
    from scipy.sparse import csr_array

    starts = np.arange(0, members.size + 1, members.shape[1])
    return csr_array((values.ravel(), members.ravel(), starts), (len(members), n_options))


class ChoiceSetDensity(Density):
    r"""The density of log worths L and log discriminations d of judges, given choices from sets.

    .. math::
        P(i \mid S, j) = (1 - \varepsilon) \frac{e^{d_j L_i}}{\sum_{k \in S} e^{d_j L_k}}
        + \frac{\varepsilon}{|S|}

    A ranking consists of such choices in turn, each of the best remaining option (Plackett 1975) or
    of several that tie (`differentiate_tied_answers`). Best and worst choices follow
    `best_worst_probabilities` with the weights :math:`e^{d_j L_i}`. With covariates x of options
    :math:`L_i = x_i' \beta + u_i`, and a point contains the deviations u. Priors are as in
    `Density`, without periods, ties of two options, and covariates of comparisons.

    Parameters
    ----------
    rows : SetAnswersBySize
    n_options, n_judges : int
        Without judges: 0.
    """

    rows: SetAnswersBySize
    _COUNTS: ClassVar[tuple[str, ...]] = ("counts",)
    _plain_choices: "_PlainChoices | None" = None  # of the rows, once they are needed

    @property
    def n_terms(self) -> int:
        """Number of rows of paired comparisons that would take the same time."""
        n_terms = 0
        for members, n_tied in self.rows._iterate_sizes():
            n_rows = len(members)
            if n_tied > 1:
                n_rows *= _TIED_TERMS
                if self.rows.lapse:
                    n_rows *= 2**n_tied
            n_terms += n_rows
        return n_terms

    # The likelihood -------------------------------------------------------------------------------

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """Return the log-likelihood at each point, shape (n_points,)."""
        log_worths = self._log_worths(points)
        is_near = np.ptp(log_worths, axis=0) <= -MIN_LOG_WEIGHT
        if not self._has_plain_choices() or not is_near.all():
            return super().log_likelihoods(points)
        largest = log_worths.max(axis=0)
        if self._plain_choices is None:
            self._plain_choices = _gather_plain_choices(self.rows, self.n_options)
        times_chosen, blocks = self._plain_choices
        weights = np.exp(log_worths - largest)
        log_likelihoods = times_chosen @ log_worths - times_chosen.sum() * largest
        for point_slice in iterate_slices(points.shape[1], 1, _PLAIN_POINTS):
            point_weights = np.ascontiguousarray(weights[:, point_slice])
            for membership, counts in blocks:
                log_likelihoods[point_slice] -= counts @ np.log(membership @ point_weights)
        return log_likelihoods

    def _has_plain_choices(self) -> bool:
        """Return whether all answers are choices of one option by judges alike, without lapses."""
        rows = self.rows
        has_ties = any(n_tied > 1 for n_tied in rows.n_tied)
        return rows.rule == CHOICE and not (rows.lapse or self.n_judges or has_ties)

    def with_rows(self, rows: Any) -> "ChoiceSetDensity":
        """Return the same density for other counts of answers."""
        density = super().with_rows(rows)
        density._plain_choices = None
        return density

    def _log_worths(self, points: np.ndarray) -> np.ndarray:
        """Return log worths of options at each point, shape (n_options, n_points)."""
        log_worths = points[self.worths]
        if self.option_values.shape[1]:
            log_worths = log_worths + self.option_values @ points[self.beta]
        return log_worths

    def _log_weights(
        self, rows: SetAnswersBySize, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return discriminations (rows, points, 1) and log weights (rows, points, m)."""
        # Log weights are relative to the largest one.
        worths = self._log_worths(points)[rows.members[0]].swapaxes(1, 2)
        discrimination = np.ones((1, 1, 1))
        if self.n_judges:
            discrimination = np.exp(self.log_discriminations(points))[rows.judge, :, None]
        log_weights = discrimination * worths
        return discrimination, np.maximum(
            log_weights - log_weights.max(axis=2, keepdims=True), MIN_LOG_WEIGHT
        )

    def _iterate_log_likelihoods(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield a slice of rows and their log-likelihoods, (rows, points)."""
        for row_slice, rows in self.rows.iterate_blocks(points.shape[1]):
            _, log_weights = self._log_weights(rows, points)
            weights = np.exp(log_weights).reshape(-1, log_weights.shape[2])
            if rows.n_tied == (1,):
                # far away points make answers impossible
                with np.errstate(divide="ignore"):
                    log_p = np.log(_compute_answer_probabilities(rows, weights)[:, 0])
            else:
                log_p = _differentiate_answers(rows, log_weights, False, points.shape[1]).log_p
            yield row_slice, to_column(rows.counts) * log_p.reshape(log_weights.shape[:2])

    def _add_likelihood(
        self, log_density: np.ndarray, gradient: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Return `log_density` plus the log-likelihood; add its gradient to `gradient`."""
        for _, rows in self.rows.iterate_blocks(points.shape[1]):
            discrimination, log_weights = self._log_weights(rows, points)
            answer_derivatives = _differentiate_answers(rows, log_weights, False, points.shape[1])
            counts = to_column(rows.counts)
            log_density = log_density + (
                counts * answer_derivatives.log_p.reshape(log_weights.shape[:2])
            ).sum(axis=0)
            parameter_slopes = counts[..., None] * self._coordinate_slopes(
                discrimination, log_weights, answer_derivatives.gradient.reshape(log_weights.shape)
            )
            coordinates = self._row_coordinates(rows).ravel()
            for k in range(points.shape[1]):
                gradient[:, k] += np.bincount(
                    coordinates, parameter_slopes[:, k].ravel(), self.size
                )
        gradient[self.beta] += self.option_values.T @ gradient[self.worths]
        return log_density

    def _row_coordinates(self, rows: SetAnswersBySize) -> np.ndarray:
        """Return indices of the parameters that each row depends on: options, judge."""
        # These are the members, and the judge if there is one.
        (members,) = rows.members
        if not self.n_judges:
            return members
        return np.column_stack([members, self.judges.start + rows.judge])

    def _coordinate_slopes(
        self, discrimination: np.ndarray, log_weights: np.ndarray, weight_slopes: np.ndarray
    ) -> np.ndarray:
        """Convert slopes by log weights to slopes by the parameters of each row."""
        # All are (rows, points, ...).
        if not self.n_judges:
            return weight_slopes
        # the slopes of a row sum to 0, so subtracting the largest log weight changes nothing
        return np.concatenate(
            [
                discrimination * weight_slopes,
                (weight_slopes * log_weights).sum(axis=2, keepdims=True),
            ],
            axis=2,
        )

    def row_scores(self, point: np.ndarray) -> Any:
        """Return gradients of each row's log-likelihood, sparse (n_rows, size)."""
        from scipy.sparse import csr_array

        slopes = []
        coordinates = []
        row_indices = []
        for row_slice, rows in self.rows.iterate_blocks(1):
            discrimination, log_weights = self._log_weights(rows, point[:, None])
            parameter_slopes = self._coordinate_slopes(
                discrimination,
                log_weights,
                _differentiate_answers(rows, log_weights, False).gradient[:, None],
            )[:, 0]
            slopes.append((rows.counts[:, None] * parameter_slopes).ravel())
            coordinates.append(self._row_coordinates(rows).ravel())
            row_indices.append(
                np.repeat(np.arange(row_slice.start, row_slice.stop), parameter_slopes.shape[1])
            )
        row_slice = np.concatenate(row_indices), np.concatenate(coordinates)
        scores = csr_array((np.concatenate(slopes), row_slice), shape=(self.n_rows, self.size))
        if not self.option_values.shape[1]:
            return scores
        by_parameter = np.eye(self.size)
        by_parameter[self.worths, self.beta] = self.option_values
        return scores @ csr_array(by_parameter)

    # Its curvature --------------------------------------------------------------------------------

    def _expand_by_log_discrimination(
        self, point: np.ndarray, is_convex: bool
    ) -> LikelihoodExpansion:
        """Return log-likelihood, gradient and curvature by centred log discriminations."""
        if self._has_plain_choices() and np.ptp(self._log_worths(point)) <= -MIN_LOG_WEIGHT:
            log_likelihood, gradient, curvature = self._expand_plain_choices(point)
        else:
            log_likelihood, gradient, curvature = self._expand_row_by_row(point, is_convex)
        n = self.n_options
        gradient[self.beta] = self.option_values.T @ gradient[self.worths]
        curvature[self.beta] = self.option_values.T @ curvature[self.worths]
        curvature[:, self.beta] = curvature[:, self.worths] @ self.option_values
        blocks = curvature[None, :n, :n]
        border = curvature[:n, n:]
        corner = curvature[n:, n:]
        return LikelihoodExpansion(
            log_likelihood, gradient, BorderedBlocks(blocks, np.zeros((0, n)), border, corner)
        )

    def _expand_plain_choices(self, point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return log-likelihood, gradient and curvature by worths; rows are multiplied at once."""
        n = self.n_options
        log_worths = self._log_worths(point)
        weights = np.exp(log_worths - log_worths.max())
        log_likelihood = 0.0
        gradient = np.zeros((self.size, 1))
        curvature = np.zeros((self.size, self.size))
        row_ends = np.cumsum([len(members) for members in self.rows.members])
        for members, counts in zip(
            self.rows.members, np.split(self.rows.counts, row_ends[:-1]), strict=True
        ):
            p = weights[members]
            totals = p.sum(axis=1, keepdims=True)
            p /= totals
            log_likelihood += float(counts @ np.log(p[:, 0]))
            expected_times = counts[:, None] * p
            times_expected = np.bincount(members.ravel(), expected_times.ravel(), n)
            gradient[:n, 0] += np.bincount(members[:, 0], counts, n) - times_expected
            by_row = _arrange_by_option(p, members, n)
            times_by_row = _arrange_by_option(expected_times, members, n)
            curvature[:n, :n] += np.diag(times_expected) - (times_by_row.T @ by_row).toarray()
        return log_likelihood, gradient, curvature

    def _expand_row_by_row(
        self, point: np.ndarray, is_convex: bool
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return log-likelihood, gradient and curvature of any answers."""
        # An answer's expected curvature is the mean of this product, which is never below 0.
        n_parameters = self.size
        log_likelihood = 0.0
        gradient = np.zeros((n_parameters, 1))
        curvature = np.zeros(n_parameters * n_parameters)
        for _, rows in self.rows.iterate_blocks(1):
            discrimination, log_weights = self._log_weights(rows, point[:, None])
            answer_derivatives = _differentiate_answers(rows, log_weights, not is_convex)
            coordinates = self._row_coordinates(rows)
            answer_counts = rows.counts[:, None]
            parameter_slopes = self._coordinate_slopes(
                discrimination, log_weights, answer_derivatives.gradient[:, None]
            )[:, 0]
            if is_convex:
                row_curvature = outer_product(parameter_slopes, parameter_slopes)
            else:
                row_curvature = -self._coordinate_curvature(
                    discrimination[:, 0], log_weights[:, 0], answer_derivatives, parameter_slopes
                )
            log_likelihood += float(rows.counts @ answer_derivatives.log_p)
            gradient[:, 0] += np.bincount(
                coordinates.ravel(), (answer_counts * parameter_slopes).ravel(), n_parameters
            )
            entry_index = n_parameters * coordinates[:, :, None] + coordinates[:, None, :]
            curvature += np.bincount(
                entry_index.ravel(),
                (answer_counts[..., None] * row_curvature).ravel(),
                n_parameters * n_parameters,
            )
        return log_likelihood, gradient, curvature.reshape(n_parameters, n_parameters)

    def _coordinate_curvature(
        self,
        discrimination: np.ndarray,
        log_weights: np.ndarray,
        answer_derivatives: AnswerDerivatives,
        parameter_slopes: np.ndarray,
    ) -> np.ndarray:
        """Return second derivatives by the parameters of each row, (rows, k, k)."""
        if not self.n_judges:
            return answer_derivatives.hessian
        # derivatives of log weights
        jacobian = np.concatenate(
            [diagonal_matrix(discrimination + 0.0 * log_weights), log_weights[:, :, None]], axis=2
        )
        hessian = jacobian.swapaxes(1, 2) @ answer_derivatives.hessian @ jacobian
        hessian[:, -1] += parameter_slopes
        hessian[:, :-1, -1] += parameter_slopes[:, :-1]
        return hessian

    def predict_judges(self, points: np.ndarray) -> JudgePredictions:
        """Predict each judge's answers from parameters estimated without that judge."""
        log_probabilities = np.empty((3, len(self.rows.judge)))
        n_answers = self.rows.counts.copy()
        for row_slice, rows in self.rows.iterate_blocks(1):
            (members,) = rows.members
            if rows.n_tied != (1,):
                log_probabilities[:, row_slice] = 0.0
                n_answers[row_slice] = 0.0
                continue
            logs = points[members, rows.judge[:, None]]
            weights = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), MIN_LOG_WEIGHT))
            p = _compute_answer_probabilities(rows, weights)
            logs = np.log(np.maximum(p, 1e-300))
            log_probabilities[0, row_slice] = logs[:, 0]
            log_probabilities[1, row_slice] = (p * logs).sum(axis=1)
            log_probabilities[2, row_slice] = -np.log(p.shape[1])
        observed_log_p, expected_log_p, chance_log_p = n_answers * log_probabilities
        return JudgePredictions(observed_log_p, expected_log_p, chance_log_p, n_answers)


MIN_LOG_WEIGHT = -600.0  # log of a weight relative to the largest one of a set
_MAX_EXACT_POINTS = 8
# rows that take the time of a row with a tie; a lapse doubles it for each tied option
_TIED_TERMS = 64


def _differentiate_answers(
    rows: SetAnswersBySize, log_weights: np.ndarray, with_hessian: bool, n_points: int = 1
) -> AnswerDerivatives:
    """Return log probabilities of answers, with derivatives by log weights."""
    weights = np.exp(log_weights).reshape(-1, log_weights.shape[-1])
    if rows.n_tied == (1,):
        return ANSWER_DERIVATIVES[rows.rule](weights, rows.lapse, with_hessian)
    # many points are draws, with sampling error
    log_drop = EXACT_DROP
    if n_points > _MAX_EXACT_POINTS:
        log_drop = ROUGH_DROP
    (n_tied,) = rows.n_tied
    return differentiate_tied_answers(weights, n_tied, rows.lapse, with_hessian, log_drop)


def _compute_answer_probabilities(rows: SetAnswersBySize, weights: np.ndarray) -> np.ndarray:
    """Return probabilities of all possible answers, the observed answer first."""
    if rows.rule == CHOICE:
        return choice_probabilities(weights, rows.lapse)
    m = weights.shape[1]
    return answer_probabilities(weights, np.array([0, m]), np.arange(m), rows.lapse, rows.rule)


# Tied options -------------------------------------------------------------------------------------


def differentiate_tied_answers(
    weights: np.ndarray, n_tied: int, lapse: float, with_hessian: bool, log_drop: float = EXACT_DROP
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
    other_weights = weights[:, n_tied:].sum(axis=1, keepdims=True)
    n_options = weights.shape[1]
    # the probability depends on a alone
    a = np.log(weights[:, :n_tied]) - np.log(other_weights)
    if lapse:
        blocks = iterate_slices(len(a), n_tied**2 << n_tied, _BLOCK_ENTRIES)
        derivative_blocks = [_sum_over_orders(a[block], n_options, lapse) for block in blocks]
        derivatives_by_a = AnswerDerivatives(
            *map(np.concatenate, zip(*derivative_blocks, strict=True))
        )
    else:
        derivatives_by_a = _integrate_by_nodes(a, with_hessian, log_drop)
    other_shares = np.concatenate([0.0 * a, weights[:, n_tied:] / other_weights], axis=1)
    # of a by log weights (rows, tied, m)
    slopes = np.eye(n_options)[:n_tied] - other_shares[:, None]
    gradient = (derivatives_by_a.gradient[:, None] @ slopes)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(derivatives_by_a.log_p, gradient, np.zeros(()))
    curvature = derivatives_by_a.gradient.sum(axis=1)[:, None, None] * (
        outer_product(other_shares, other_shares) - diagonal_matrix(other_shares)
    )
    return AnswerDerivatives(
        derivatives_by_a.log_p,
        gradient,
        slopes.swapaxes(1, 2) @ derivatives_by_a.hessian @ slopes + curvature,
    )


def _integrate_by_nodes(a: np.ndarray, with_hessian: bool, log_drop: float) -> AnswerDerivatives:
    """Return the log probability by the trapezoidal rule, with derivatives by a."""
    n_tied = a.shape[1]
    weights = np.exp(a)[:, None]
    left_width = min(log_drop + 1.0, max(a.max(), 0.0) + (log_drop + 1.0) / (1.0 + 0.58 * n_tied))
    right_end = math.log(1.0 + log_drop) + 1.5 * math.log(1.0 + n_tied)
    nodes_per_doubling = math.ceil(
        math.log(2.0) / min(9.87 / (log_drop + 3.0), 0.8 / math.sqrt(1.0 + 1.3 * n_tied))
    )
    n_doublings = math.ceil((right_end + left_width) / math.log(2.0))
    node_spacing = math.log(2.0) / nodes_per_doubling
    x = node_spacing * np.arange(nodes_per_doubling * n_doublings) - left_width
    clock_rates = np.exp(x)[:, None]
    r_blocks = [-np.expm1(-clock_rates[:nodes_per_doubling] * weights)]
    for _ in range(n_doublings - 1):
        r_blocks.append(r_blocks[-1] * (2.0 - r_blocks[-1]))
    r = np.concatenate(r_blocks, axis=1)  # (rows, nodes, tied)
    product_blocks = np.multiply.reduceat(r, np.arange(0, n_tied, _PRODUCT_SIZE), axis=2)
    log_integrand = x - clock_rates[:, 0] + np.log(np.maximum(product_blocks, _TINY)).sum(axis=2)
    largest_height = log_integrand.max(axis=1, keepdims=True)
    node_weights = np.exp(log_integrand - largest_height)
    total_weight = node_weights.sum(axis=1, keepdims=True)
    log_p = largest_height[:, 0] + np.log(node_spacing * total_weight[:, 0])
    node_weights = node_weights / total_weight
    z = np.minimum(clock_rates * weights, _MAX_Z)
    ratio = z * (1.0 - r) / r  # z / (e^z - 1)
    gradient = (node_weights[:, None] @ ratio)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(log_p, gradient, np.zeros(()))
    diagonal_curvature = (node_weights[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    mean_squares = (node_weights[..., None] * ratio).swapaxes(1, 2) @ ratio
    return AnswerDerivatives(
        log_p,
        gradient,
        diagonal_matrix(diagonal_curvature) + mean_squares - outer_product(gradient, gradient),
    )


def _sum_over_orders(a: np.ndarray, n_options: int, lapse: float) -> AnswerDerivatives:
    """Return the log probability as a sum over all orders, with derivatives by a."""
    # For each subset, P, P g and P (H + g g') are blocks of a matrix M, which a choice with the
    # slope s and the bend B turns into p (A M A' + P B), where A adds s times the first row to the
    # others.
    n_tied = a.shape[1]
    identity = np.eye(1 + a.shape[1])
    weights = np.exp(a)[:, None]
    subset_codes = np.arange(1 << n_tied)
    is_remaining = 1.0 - (subset_codes[:, None] >> np.arange(n_tied) & 1)
    matrices = np.zeros((len(a), len(subset_codes), *identity.shape))
    matrices[:, 0, 0, 0] = 1.0
    for n_chosen in range(n_tied):
        for option in range(n_tied):
            subsets = np.flatnonzero(
                (is_remaining.sum(axis=1) == n_tied - n_chosen) & (is_remaining[:, option] > 0.0)
            )
            remaining_weights = weights * is_remaining[subsets]
            choice_shares = remaining_weights / (1.0 + remaining_weights.sum(axis=2, keepdims=True))
            p, slope, bend = choice_derivatives(
                choice_shares, np.eye(n_tied)[option], n_options - n_chosen, lapse, True
            )
            A = identity + 0.0 * p[..., None]
            A[..., 1:, 0] = slope
            new_matrices = A @ matrices[:, subsets] @ A.swapaxes(2, 3)
            new_matrices[..., 1:, 1:] += matrices[:, subsets, :1, :1] * bend
            matrices[:, subsets + (1 << option)] += p[..., None] * new_matrices
    p = matrices[:, -1, 0, 0]
    gradient = matrices[:, -1, 0, 1:] / p[:, None]
    return AnswerDerivatives(
        np.log(p),
        gradient,
        matrices[:, -1, 1:, 1:] / p[:, None, None] - outer_product(gradient, gradient),
    )
