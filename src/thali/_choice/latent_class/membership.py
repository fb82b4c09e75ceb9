"""Of which class people are, before anything is known of their choices: sizes of classes, or odds
by columns of people.

Either says how probable the classes are, what a change of its coordinates makes of it, and its part
of the derivatives of the likelihood. The coordinates are the log odds of all classes but the first,
class by class.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Sizes(NamedTuple):
    """Classes of some sizes, whoever somebody is."""

    sizes: np.ndarray  # (K,)

    @property
    def coordinates(self) -> int:
        """Their number."""
        return len(self.sizes) - 1

    @property
    def odds(self) -> np.ndarray:
        """Logarithms of the odds against the first class, (K, 1)."""
        with np.errstate(divide="ignore"):
            return (np.log(self.sizes) - np.log(self.sizes[0]))[:, None]

    @property
    def expected(self) -> np.ndarray:
        """Probability of each class, (1, K): of everybody."""
        return self.sizes[None]

    def of(self, wanted: np.ndarray) -> "Sizes":
        """The same for other people, by their covariates."""
        return self

    def move_point(self, change: np.ndarray) -> "Sizes":
        """After a change of the coordinates."""
        odds = self.sizes * np.exp(np.concatenate([[0.0], change]))
        return Sizes(odds / odds.sum())

    def in_order(self, order: np.ndarray) -> "Sizes":
        """The same classes in another order."""
        return Sizes(self.sizes[order])

    def towards(self, membership: np.ndarray) -> Callable[[float], "Sizes"]:
        """The sizes that maximise the expected likelihood, whatever the length of a step of the
        tastes is."""
        best = Sizes(membership.mean(axis=0))
        return lambda length: best

    def scores(self, membership: np.ndarray) -> np.ndarray:
        """Gradient of the log-likelihood of each person, (people, coordinates)."""
        return membership[:, 1:] - self.sizes[1:]

    def add_information(self, curve: np.ndarray, membership: np.ndarray) -> None:
        """Add to the block of the coordinates what Louis' formula has beside the products of
        scores."""
        own = self.sizes[1:]
        curve += len(membership) * (np.diag(own) - np.outer(own, own))
        for k, odds in enumerate(np.eye(len(self.sizes))[:, 1:] - own):
            curve -= membership[:, k].sum() * np.outer(odds, odds)

    def cross(self, k: int, scores: np.ndarray) -> np.ndarray:
        """The sum of products of the score of being of class k with the scores (people, p) of its
        choices."""
        return np.outer(np.eye(len(self.sizes))[k, 1:] - self.sizes[1:], scores.sum(axis=0))


class ByColumns(NamedTuple):
    r"""Classes whose odds depend on columns of people.

    .. math:: \pi_{nk} = e^{z_n^T \gamma_k} \Big/ \sum_l e^{z_n^T \gamma_l}, \qquad \gamma_1 = 0
    """

    odds: np.ndarray  # (K, q)
    people: np.ndarray  # (people, q) covariates, the first 1

    @property
    def coordinates(self) -> int:
        """Their number."""
        return self.odds[1:].size

    @property
    def expected(self) -> np.ndarray:
        """Probability of each class, (people, K)."""
        logs = self.people @ self.odds.T
        found = np.exp(logs - logs.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)

    @property
    def sizes(self) -> np.ndarray:
        """The share of these people in each class."""
        return self.expected.mean(axis=0)

    def of(self, wanted: np.ndarray) -> "ByColumns":
        """The same for other people, by their covariates."""
        return self._replace(people=wanted)

    def move_point(self, change: np.ndarray) -> "ByColumns":
        """After a change of the coordinates."""
        odds = self.odds.copy()
        odds[1:] += change.reshape(odds[1:].shape)
        return self._replace(odds=odds)

    def in_order(self, order: np.ndarray) -> "ByColumns":
        """The same classes in another order."""
        return self._replace(odds=self.odds[order] - self.odds[order[0]])

    def towards(self, membership: np.ndarray) -> Callable[[float], "ByColumns"]:
        """Newton's step of the expected likelihood, of some length."""
        curve = self._known_information()
        step = np.linalg.lstsq(curve, self.scores(membership).sum(axis=0), rcond=1e-10)[0]
        return lambda length: self.move_point(length * step)

    def scores(self, membership: np.ndarray) -> np.ndarray:
        """Gradient of the log-likelihood of each person, (people, coordinates)."""
        return self._by_class(membership[:, 1:] - self.expected[:, 1:])

    def add_information(self, curve: np.ndarray, membership: np.ndarray) -> None:
        """Add to the block of the coordinates what Louis' formula has beside the products of
        scores."""
        curve += self._known_information()
        for k in range(len(self.odds)):
            own = self._of_class(k)
            curve -= (own * membership[:, [k]]).T @ own

    def cross(self, k: int, scores: np.ndarray) -> np.ndarray:
        """The sum of products of the score of being of class k with the scores (people, p) of its
        choices."""
        return self._of_class(k).T @ scores

    def _of_class(self, k: int) -> np.ndarray:
        """The score of being of class k, (people, coordinates)."""
        return self._by_class(np.eye(len(self.odds))[k, 1:] - self.expected[:, 1:])

    def _by_class(self, values: np.ndarray) -> np.ndarray:
        """Products of values (people, K - 1) with covariates, class by class."""
        return (values[:, :, None] * self.people[:, None]).reshape(len(values), -1)

    def _known_information(self) -> np.ndarray:
        """That of the classes of these people, if they were known."""
        expected, q = self.expected[:, 1:], self.people.shape[1]
        own = self._by_class(expected)
        found = -own.T @ own
        for k in range(expected.shape[1]):
            block = slice(k * q, (k + 1) * q)
            found[block, block] += (self.people * expected[:, [k]]).T @ self.people
        return found


Membership = Sizes | ByColumns


def alike(number: int, people: np.ndarray) -> Membership:
    """Classes of equal size, by covariates (people, q) if there are any but the constant."""
    if people.shape[1] == 1:
        return Sizes(np.full(number, 1.0 / number))
    return ByColumns(np.zeros((number, people.shape[1])), people)
