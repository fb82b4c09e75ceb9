"""The posterior density of worths that judges of unequal discrimination see in choices from sets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.bordered import Bordered
from thali._model.answer_slopes import CHOICE, OF_ANSWER, OfAnswer
from thali._model.best_worst import RANKING, answer_probabilities, shares_of

from .density import Density, Expanded, Predicted, half

if TYPE_CHECKING:
    from thali._data.choices import Choices

_ENTRIES = 1 << 20  # rows times points times members of a set, twice: of the largest array


class SetAnswersBySize(NamedTuple):
    """Answers to sets, of one size after the other; counts may be rows by points."""

    members: tuple[np.ndarray, ...]  # of each size (rows, m) options: the chosen one, or the best and the worst, first
    judge: np.ndarray  # (rows,); all 0 without judges
    counts: np.ndarray
    rule: str  # by which they are given
    lapse: float
    has_ties = False

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
        for members in self.members:
            step = max(1, _ENTRIES // (max(points, 1) * members.shape[1] ** 2))
            for first in range(0, len(members), step):
                own = members[first : first + step]
                at = slice(begin + first, begin + first + len(own))
                yield at, self._replace(members=(own,), judge=self.judge[at], counts=self.counts[at])
            begin += len(members)


def answers_of(data: "Choices", lapse: float, with_judges: bool) -> SetAnswersBySize:
    """The different answers of each judge, or of all together."""
    which = data.set_of[data.choice]
    size = data.sizes[which]
    members, judge, counts = [], [], []
    for m in np.unique(size).tolist():
        rows = np.flatnonzero(size == m)
        places = data.start[which[rows], None] + np.arange(m)
        rank = np.where(places == data.choice[rows, None], 0, 2)
        if data.worst is not None:
            rank = np.where(places == data.worst[rows, None], 1, rank)
        ordered = data.members[np.take_along_axis(places, np.argsort(rank, axis=1, kind="stable"), axis=1)]
        own = data.respondent[rows] if with_judges else np.zeros(len(rows), np.int64)
        different, place = np.unique(np.column_stack([own, ordered]), axis=0, return_inverse=True)
        members.append(different[:, 1:])
        judge.append(different[:, 0])
        counts.append(np.bincount(place.ravel(), data.times[rows], len(different)))
    rule = CHOICE if data.worst is None else RANKING
    return SetAnswersBySize(tuple(members), np.concatenate(judge), np.concatenate(counts), rule, float(lapse))


class ChoiceSetDensity(Density):
    r"""The density of log worths L, and of the log of judges' discriminations d, given choices from sets.

    .. math::
        P(i \mid S, j) = (1 - \varepsilon) \frac{e^{d_j L_i}}{\sum_{k \in S} e^{d_j L_k}} + \frac{\varepsilon}{|S|}

    A ranking is such choices one after another, of the best of those that are left (Plackett 1975); best and worst are
    those of `best_worst` with the weights :math:`e^{d_j L_i}`. Priors are those of `Density`, without
    periods, ties and covariates.

    Parameters
    ----------
    rows : Answers
    n_options, n_judges : int
        Without judges: 0.
    """

    rows: SetAnswersBySize

    def with_answers(self, counts: np.ndarray) -> Density:
        """Return the density of other counts."""
        return self.with_rows(self.rows._replace(counts=counts))

    def halves(self, rng: np.random.Generator) -> tuple[Density, Density]:
        first = half(rng, self.rows.counts)
        return self.with_answers(first), self.with_answers(self.rows.counts - first)

    def raised(self, power: Any) -> Density:
        return self.with_answers(power * self.rows.counts)

    def without_judge(self, judge: int) -> Density:
        return self.with_answers((self.rows.judge != judge) * self.rows.counts)

    # The likelihood --------------------------------------------------------------------------------------------------

    def _logs(self, rows: SetAnswersBySize, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Discrimination of each row (rows, points, 1), and log weights less the largest (rows, points, m)."""
        own = points[rows.members[0]].swapaxes(1, 2)
        sharpness = np.ones((1, 1, 1))
        if self.n_judges:
            sharpness = np.exp(self.log_discriminations(points))[rows.judge, :, None]
        return sharpness, np.maximum((logs := sharpness * own) - logs.max(axis=2, keepdims=True), LEAST)

    def _terms(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for at, rows in self.rows.some(points.shape[1]):
            _, logs = self._logs(rows, points)
            weights = np.exp(logs).reshape(-1, logs.shape[2])
            yield at, _column(rows.counts) * np.log(_probabilities(rows, weights)[:, 0]).reshape(logs.shape[:2])

    def _add_likelihood(self, value: np.ndarray, gradient: np.ndarray, points: np.ndarray) -> np.ndarray:
        for _, rows in self.rows.some(points.shape[1]):
            sharpness, logs = self._logs(rows, points)
            answer, counts = _of_answer(rows, logs, False), _column(rows.counts)
            value = value + (counts * np.log(answer.p).reshape(logs.shape[:2])).sum(axis=0)
            self._add_member_slopes(gradient, rows, counts, sharpness, logs, answer.gradient.reshape(logs.shape))
        return value

    def _add_member_slopes(
        self,
        gradient: np.ndarray,
        rows: SetAnswersBySize,
        counts: np.ndarray,
        sharpness: np.ndarray,
        logs: np.ndarray,
        slope: np.ndarray,
    ) -> None:
        """Add the slopes of rows, given those by the log weights of members (rows, points, m)."""
        (members,) = rows.members
        pull = counts[..., None] * slope
        for k in range(logs.shape[1]):
            gradient[self.worths, k] += np.bincount(members.ravel(), (sharpness * pull)[:, k].ravel(), self.n_options)
            if self.n_judges:  # the slopes of a row have a sum of 0, so that the largest log weight may be taken off
                along = (pull[:, k] * logs[:, k]).sum(axis=1)
                gradient[self.judges, k] += np.bincount(rows.judge, along, self.n_judges)

    def _scores_of_judges(self, point: np.ndarray) -> np.ndarray:
        scores = np.zeros((self.size, self.n_judges))
        for _, rows in self.rows.some(1):
            sharpness, logs = self._logs(rows, point[:, None])
            (members,), judge = rows.members, rows.judge
            pull = rows.counts[:, None] * _of_answer(rows, logs, False).gradient
            place = members * self.n_judges + judge[:, None]
            np.add.at(scores.ravel(), place.ravel(), (sharpness[:, 0] * pull).ravel())
            own = (self.judges.start + judge) * self.n_judges + judge
            np.add.at(scores.ravel(), own, (pull * logs[:, 0]).sum(axis=1))
        return scores

    # Its curvature ---------------------------------------------------------------------------------------------------

    def _expanded(self, point: np.ndarray, is_convex: bool) -> Expanded:
        """As in `Density`; `is_convex`: the square of an answer's slopes, its mean curvature, never below 0."""
        n, judges, value = self.n_options, self.n_judges, 0.0
        gradient, blocks = np.zeros((self.size, 1)), np.zeros((n, n))
        border, corner = np.zeros((n, judges)), np.zeros(judges)
        for _, rows in self.rows.some(1):
            sharpness, logs = self._logs(rows, point[:, None])
            answer = _of_answer(rows, logs, not is_convex)
            value += float(rows.counts @ np.log(answer.p))
            sharpness, own = np.broadcast_to(sharpness[:, 0], (len(rows.judge), 1)), logs[:, 0]
            (members,), judge, count, slope = rows.members, rows.judge, rows.counts[:, None], answer.gradient
            self._add_member_slopes(gradient, rows, count, sharpness[:, None], logs, slope[:, None])
            bend, more = (slope[:, :, None] * slope[:, None, :], 0.0) if is_convex else (-answer.hessian, -slope)
            at = (n * members[:, :, None] + members[:, None, :]).ravel()
            weighted = (count * sharpness**2)[..., None] * bend
            blocks += np.bincount(at, weighted.ravel(), n * n).reshape(n, n)
            if judges:
                reach = (bend * own[:, None, :]).sum(axis=2)
                across = (members * judges + judge[:, None]).ravel()
                border += np.bincount(across, (count * sharpness * (reach + more)).ravel(), n * judges).reshape(n, -1)
                corner += np.bincount(judge, (count * own * (reach + more)).sum(axis=1), judges)
        return Expanded(value, gradient, Bordered(blocks[None], np.zeros((0, n)), border, np.diag(corner)))

    def predicted(self, others: np.ndarray) -> Predicted:
        found = np.empty((3, len(self.rows.judge)))
        for at, rows in self.rows.some(1):
            (members,) = rows.members
            logs = others[members, rows.judge[:, None]]
            weights = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), LEAST))
            p = _probabilities(rows, weights)
            logs = np.log(np.maximum(p, 1e-300))
            found[0, at], found[1, at], found[2, at] = logs[:, 0], (p * logs).sum(axis=1), -np.log(p.shape[1])
        score, expected, chance = self.rows.counts * found
        return Predicted(score, expected, chance, self.rows.counts)


LEAST = -600.0  # log of a weight beside the largest one of a set


def slopes_of_answers(rows: SetAnswersBySize, log_weights: np.ndarray, bends: bool) -> OfAnswer:
    """Return the derivatives of answers to sets of these log weights (rows, m)."""
    logs = np.maximum(log_weights - log_weights.max(axis=1, keepdims=True), LEAST)
    return OF_ANSWER[rows.rule](np.exp(logs), rows.lapse, bends)


def _of_answer(rows: SetAnswersBySize, logs: np.ndarray, bends: bool) -> OfAnswer:
    """The answers of rows times points, of which there are these log weights (rows, points, m)."""
    return OF_ANSWER[rows.rule](np.exp(logs).reshape(-1, logs.shape[2]), rows.lapse, bends)


def _probabilities(rows: SetAnswersBySize, weights: np.ndarray) -> np.ndarray:
    """The probability of every possible answer to sets with such weights (sets, m); of the one of a row first."""
    if rows.rule == CHOICE:
        return shares_of(weights, rows.lapse)
    m = weights.shape[1]
    return answer_probabilities(weights, np.array([0, m]), np.arange(m), rows.lapse, rows.rule)


def _column(counts: np.ndarray) -> np.ndarray:
    """Counts as a column, unless they differ between points."""
    return counts if counts.ndim == 2 else counts[:, None]
