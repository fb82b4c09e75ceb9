"""The posterior density of worths that judges of unequal discrimination see in choices from
sets."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered
from thali._model.answer_slopes import CHOICE, OF_ANSWER, OfAnswer, diagonal, outer
from thali._model.best_worst import RANKING, answer_probabilities, shares_of
from thali.errors import DataError, Setting

from .density import Density, JudgePredictions, LikelihoodExpansion, to_column
from .ties import EXACT, MOST_WITH_LAPSES, NODES, ROUGH, tied_answers

if TYPE_CHECKING:
    from thali._data.choices import Choices

_ENTRIES = 1 << 20  # rows times points times members of a set, twice: of the largest array


class SetAnswersBySize(NamedTuple):
    """Answers to sets, of one size after the other; counts may be rows by points."""

    # of each size (rows, m) options: those chosen, or the best and the worst, first
    members: tuple[np.ndarray, ...]
    judge: np.ndarray  # (rows,); all 0 without judges
    counts: np.ndarray
    rule: str  # by which they are given
    lapse: float
    # of each size how many are chosen together; 1 where it is not listed
    n_tied: tuple[int, ...] = ()
    has_ties = False  # of two options of which neither was chosen

    @property
    def x(self) -> np.ndarray:
        """There are no covariates."""
        return np.zeros((len(self.judge), 0))

    @property
    def total(self) -> np.ndarray:
        """How many answers each row stands for."""
        return self.counts

    def some(self, points: int) -> "Iterator[tuple[slice, SetAnswersBySize]]":
        """Yield some rows at a time, all of one size."""
        begin = 0
        kinds: Any = zip_longest(self.members, self.n_tied, fillvalue=1)
        for members, tied in kinds:
            entries = max(members.shape[1] ** 2, NODES * (tied - 1))
            step = max(1, _ENTRIES // (max(points, 1) * entries))
            for first in range(0, len(members), step):
                own = members[first : first + step]
                at = slice(begin + first, begin + first + len(own))
                yield (
                    at,
                    self._replace(
                        members=(own,), judge=self.judge[at], counts=self.counts[at], n_tied=(tied,)
                    ),
                )
            begin += len(members)


def group_answers(data: "Choices", lapse: float, with_judges: bool) -> SetAnswersBySize:
    """The different answers of each judge, or of all together."""
    which = data.set_of[data.choice]
    if lapse and (most := data.n_tied[which].max()) > MOST_WITH_LAPSES:
        raise DataError(
            f"{most} options tie in a ranking, but with a lapse ties are limited to"
            f" {MOST_WITH_LAPSES} options; set ",
            Setting("lapse", 0),
            ".",
        )
    members, judge, counts, n_tied = [], [], [], []
    for rows, ordered, tied in members_by_size(data, which, data.choice, data.worst):
        own = data.respondent[rows] if with_judges else np.zeros(len(rows), np.int64)
        different, place = np.unique(np.column_stack([own, ordered]), axis=0, return_inverse=True)
        members.append(different[:, 1:])
        judge.append(different[:, 0])
        counts.append(np.bincount(place.ravel(), data.times[rows], len(different)))
        n_tied.append(tied)
    rule = CHOICE if data.worst is None else RANKING
    all_counts = np.concatenate(counts)
    return SetAnswersBySize(
        tuple(members), np.concatenate(judge), all_counts, rule, float(lapse), tuple(n_tied)
    )


class AnswersOfSize(NamedTuple):
    """Answers to sets of one size."""

    rows: np.ndarray  # their numbers
    members: np.ndarray  # (rows, m) options: those chosen, or the best and the worst, first
    n_tied: int


def members_by_size(
    data: "Choices", which: np.ndarray, best: np.ndarray, worst: np.ndarray | None
) -> Iterator[AnswersOfSize]:
    """Yield answers to sets, `best` and `worst` the places of members, by the size of sets and of
    what ties."""
    size = np.stack([data.sizes, data.n_tied])[:, which]
    for m, tied in np.unique(size, axis=1).T.tolist():
        rows = np.flatnonzero((size[0] == m) & (size[1] == tied))
        places = data.start[which[rows], None] + np.arange(m)
        rank = np.where(places == best[rows, None], 0, 2)
        if worst is not None:
            rank = np.where(places == worst[rows, None], 1, rank)
        order = np.argsort(rank, axis=1, kind="stable")
        yield AnswersOfSize(rows, data.members[np.take_along_axis(places, order, axis=1)], tied)


class ChoiceSetDensity(Density):
    r"""The density of log worths L, and of the log of judges' discriminations d, given choices from
    sets.

    .. math::
        P(i \mid S, j) = (1 - \varepsilon) \frac{e^{d_j L_i}}{\sum_{k \in S} e^{d_j L_k}}
        + \frac{\varepsilon}{|S|}

    A ranking is such choices one after another, of the best of those that are left (Plackett 1975),
    or of several that tie (`ties`); best and worst are those of `best_worst` with the weights
    :math:`e^{d_j L_i}`. Priors are those of `Density`, without periods, ties of two options, and
    covariates.

    Parameters
    ----------
    rows : Answers
    n_options, n_judges : int
        Without judges: 0.
    """

    rows: SetAnswersBySize
    _COUNTS: ClassVar[tuple[str, ...]] = ("counts",)

    @property
    def n_terms(self) -> int:
        kinds: Any = zip_longest(self.rows.members, self.rows.n_tied, fillvalue=1)
        more = 1 if self.rows.lapse else 0
        return sum(
            len(members) << (tied > 1) * (_TIED_TERMS + more * tied) for members, tied in kinds
        )

    # The likelihood -------------------------------------------------------------------------------

    def _logs(self, rows: SetAnswersBySize, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Discrimination of each row (rows, points, 1), and log weights less the largest (rows,
        points, m)."""
        own = points[rows.members[0]].swapaxes(1, 2)
        sharpness = np.ones((1, 1, 1))
        if self.n_judges:
            sharpness = np.exp(self.log_discriminations(points))[rows.judge, :, None]
        return sharpness, np.maximum(
            (logs := sharpness * own) - logs.max(axis=2, keepdims=True), LEAST
        )

    def _iterate_log_likelihoods(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for at, rows in self.rows.some(points.shape[1]):
            _, logs = self._logs(rows, points)
            weights = np.exp(logs).reshape(-1, logs.shape[2])
            if rows.n_tied == (1,):
                # of points so far away that an answer is impossible
                with np.errstate(divide="ignore"):
                    log_p = np.log(_probabilities(rows, weights)[:, 0])
            else:
                log_p = _of_answer(rows, logs, False, points.shape[1]).log_p
            yield at, to_column(rows.counts) * log_p.reshape(logs.shape[:2])

    def _add_likelihood(
        self, value: np.ndarray, gradient: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        for _, rows in self.rows.some(points.shape[1]):
            sharpness, logs = self._logs(rows, points)
            answer, counts = _of_answer(rows, logs, False, points.shape[1]), to_column(rows.counts)
            value = value + (counts * answer.log_p.reshape(logs.shape[:2])).sum(axis=0)
            pull = counts[..., None] * self._slopes(
                sharpness, logs, answer.gradient.reshape(logs.shape)
            )
            at = self._coordinates(rows).ravel()
            for k in range(points.shape[1]):
                gradient[:, k] += np.bincount(at, pull[:, k].ravel(), self.size)
        return value

    def _coordinates(self, rows: SetAnswersBySize) -> np.ndarray:
        """Return the coordinates on which log weights of rows depend: the members, and the judge if
        there is one."""
        (members,) = rows.members
        return (
            np.column_stack([members, self.judges.start + rows.judge]) if self.n_judges else members
        )

    def _slopes(self, sharpness: np.ndarray, logs: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return slopes by `_coordinates`, given those by the log weights of members, all (rows,
        points, ...)."""
        if not self.n_judges:
            return slope
        # the slopes of a row have a sum of 0, so that the largest log weight may be taken off
        return np.concatenate(
            [sharpness * slope, (slope * logs).sum(axis=2, keepdims=True)], axis=2
        )

    def row_scores(self, point: np.ndarray) -> Any:
        from scipy.sparse import csr_array

        found, places, rows_of = [], [], []
        for at, rows in self.rows.some(1):
            sharpness, logs = self._logs(rows, point[:, None])
            slope = self._slopes(sharpness, logs, _of_answer(rows, logs, False).gradient[:, None])[
                :, 0
            ]
            found.append((rows.counts[:, None] * slope).ravel())
            places.append(self._coordinates(rows).ravel())
            rows_of.append(np.repeat(np.arange(at.start, at.stop), slope.shape[1]))
        at = np.concatenate(rows_of), np.concatenate(places)
        return csr_array((np.concatenate(found), at), shape=(self.n_rows, self.size))

    # Its curvature --------------------------------------------------------------------------------

    def _expand_by_log_discrimination(
        self, point: np.ndarray, is_convex: bool
    ) -> LikelihoodExpansion:
        """As in `Density`; `is_convex`: the square of an answer's slopes, its mean curvature, never
        below 0."""
        n, size, value = self.n_options, self.size, 0.0
        gradient, curvature = np.zeros((size, 1)), np.zeros(size * size)
        for _, rows in self.rows.some(1):
            sharpness, logs = self._logs(rows, point[:, None])
            answer = _of_answer(rows, logs, not is_convex)
            at, count = self._coordinates(rows), rows.counts[:, None]
            slope = self._slopes(sharpness, logs, answer.gradient[:, None])[:, 0]
            bend = (
                outer(slope, slope)
                if is_convex
                else -self._bends(sharpness[:, 0], logs[:, 0], answer, slope)
            )
            value += float(rows.counts @ answer.log_p)
            gradient[:, 0] += np.bincount(at.ravel(), (count * slope).ravel(), size)
            place = size * at[:, :, None] + at[:, None, :]
            curvature += np.bincount(place.ravel(), (count[..., None] * bend).ravel(), size * size)
        curvature = curvature.reshape(size, size)
        blocks, border, corner = curvature[None, :n, :n], curvature[:n, n:], curvature[n:, n:]
        return LikelihoodExpansion(
            value, gradient, Bordered(blocks, np.zeros((0, n)), border, corner)
        )

    def _bends(
        self, sharpness: np.ndarray, logs: np.ndarray, answer: OfAnswer, slope: np.ndarray
    ) -> np.ndarray:
        """Return second derivatives by `_coordinates` (rows, k, k); `slope`: the first ones."""
        if not self.n_judges:
            return answer.hessian
        # of log weights
        own = np.concatenate([diagonal(sharpness + 0.0 * logs), logs[:, :, None]], axis=2)
        found = own.swapaxes(1, 2) @ answer.hessian @ own
        found[:, -1] += slope
        found[:, :-1, -1] += slope[:, :-1]
        return found

    def predict_judges(self, others: np.ndarray) -> JudgePredictions:
        found, total = np.empty((3, len(self.rows.judge))), self.rows.counts.copy()
        for at, rows in self.rows.some(1):
            (members,) = rows.members
            if rows.n_tied != (1,):
                found[:, at] = 0.0
                total[at] = 0.0
                continue
            logs = others[members, rows.judge[:, None]]
            weights = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), LEAST))
            p = _probabilities(rows, weights)
            logs = np.log(np.maximum(p, 1e-300))
            found[0, at], found[1, at], found[2, at] = (
                logs[:, 0],
                (p * logs).sum(axis=1),
                -np.log(p.shape[1]),
            )
        score, expected, chance = total * found
        return JudgePredictions(score, expected, chance, total)


LEAST = -600.0  # log of a weight beside the largest one of a set
_FEW_POINTS = 8
# log 2 of the rows that a row with a tie takes as long as; with a lapse more for each option that
# ties
_TIED_TERMS = 6


def _of_answer(rows: SetAnswersBySize, logs: np.ndarray, bends: bool, points: int = 1) -> OfAnswer:
    """The answers of rows times points, of which there are these log weights (..., m)."""
    weights = np.exp(logs).reshape(-1, logs.shape[-1])
    if rows.n_tied == (1,):
        return OF_ANSWER[rows.rule](weights, rows.lapse, bends)
    far = ROUGH if points > _FEW_POINTS else EXACT  # between many points chance decides
    (tied,) = rows.n_tied
    return tied_answers(weights, tied, rows.lapse, bends, far)


def _probabilities(rows: SetAnswersBySize, weights: np.ndarray) -> np.ndarray:
    """The probability of every possible answer to sets with such weights (sets, m); of the one of a
    row first."""
    if rows.rule == CHOICE:
        return shares_of(weights, rows.lapse)
    m = weights.shape[1]
    return answer_probabilities(weights, np.array([0, m]), np.arange(m), rows.lapse, rows.rule)
