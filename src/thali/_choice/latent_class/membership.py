"""Prior probabilities of classes, and their terms of the derivatives of the likelihood.

The coordinates are the log odds of all classes except the first, class by class.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_MIN_SIZE = 1e-300  # of an empty class


class Membership(NamedTuple):
    r"""Class probabilities that depend on columns of people.

    With the column of ones alone, they are the sizes of the classes.

    .. math:: \pi_{nk} = e^{z_n^T \gamma_k} \Big/ \sum_l e^{z_n^T \gamma_l}, \qquad \gamma_1 = 0
    """

    odds: np.ndarray  # (K, q)
    people: np.ndarray  # (people, q) covariates, the first 1

    @property
    def n_coordinates(self) -> int:
        """The number of coordinates."""
        return self.odds[1:].size

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each class, (people, K)."""
        logs = self.people @ self.odds.T
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    @property
    def sizes(self) -> np.ndarray:
        """The share of these people in each class."""
        return self.probabilities.mean(axis=0)

    def with_covariates(self, covariates: np.ndarray) -> "Membership":
        """Return the same classes for people with other covariates."""
        return self._replace(people=covariates)

    def move_point(self, change: np.ndarray) -> "Membership":
        """Return classes after a change of the coordinates."""
        odds = self.odds.copy()
        odds[1:] += change.reshape(odds[1:].shape)
        return self._replace(odds=odds)

    def reorder(self, order: np.ndarray) -> "Membership":
        """Return the same classes in another order."""
        return self._replace(odds=self.odds[order] - self.odds[order[0]])

    def propose_step(self, membership: np.ndarray) -> Callable[[float], "Membership"]:
        """Return a function from step length to the classes after a step of maximisation.

        It is Newton's step, or, with the column of ones alone, the maximum for every length.
        """
        if self.people.shape[1] == 1:
            best = self._replace(odds=compute_log_odds(membership.mean(axis=0)))
            return lambda length: best
        information = self._complete_information()
        step = np.linalg.lstsq(information, self.scores(membership).sum(axis=0), rcond=1e-10)[0]
        return lambda length: self.move_point(length * step)

    def scores(self, membership: np.ndarray) -> np.ndarray:
        """Return gradients of the log-likelihood of each person, (people, coordinates)."""
        return self._multiply_by_covariates(membership[:, 1:] - self.probabilities[:, 1:])

    def add_information(self, information: np.ndarray, membership: np.ndarray) -> None:
        """Add the terms of Louis' formula without the products of mean scores."""
        information += self._complete_information()
        for k in range(len(self.odds)):
            scores = self._class_scores(k)
            information -= (scores * membership[:, [k]]).T @ scores

    def cross_product(self, k: int, scores: np.ndarray) -> np.ndarray:
        """Sum products of the scores of class k with scores of choices (people, p)."""
        return self._class_scores(k).T @ scores

    def _class_scores(self, k: int) -> np.ndarray:
        """Return the scores of class k, (people, coordinates)."""
        return self._multiply_by_covariates(
            np.eye(len(self.odds))[k, 1:] - self.probabilities[:, 1:]
        )

    def _multiply_by_covariates(self, values: np.ndarray) -> np.ndarray:
        """Multiply values (people, K - 1) by covariates, class by class."""
        return (values[:, :, None] * self.people[:, None]).reshape(len(values), -1)

    def _complete_information(self) -> np.ndarray:
        """Return the information if the classes of people were observed."""
        probabilities, q = self.probabilities[:, 1:], self.people.shape[1]
        scores = self._multiply_by_covariates(probabilities)
        information = -scores.T @ scores
        for k in range(probabilities.shape[1]):
            block = slice(k * q, (k + 1) * q)
            information[block, block] += (self.people * probabilities[:, [k]]).T @ self.people
        return information


def compute_log_odds(sizes: np.ndarray) -> np.ndarray:
    """Return log odds of sizes against the first class, (K, 1); an empty class has finite ones."""
    logs = np.log(np.maximum(sizes, _MIN_SIZE))
    return (logs - logs[0])[:, None]
