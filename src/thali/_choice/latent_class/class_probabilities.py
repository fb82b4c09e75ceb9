"""Prior probabilities of latent classes: equal for all, or by respondents' columns.

Both classes give probabilities, the effect of a change of their coordinates, and their terms of the
derivatives of the likelihood. The coordinates are the log odds of all classes except the first,
class by class.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import compute_shares, softmax


class ClassSizes(NamedTuple):
    """Class probabilities that are the same for all respondents."""

    sizes: np.ndarray  # (K,)

    @property
    def n_coordinates(self) -> int:
        """Number of free parameters (log odds), K - 1."""
        return len(self.sizes) - 1

    @property
    def probabilities(self) -> np.ndarray:
        """Prior probability of each class, shape (1, K)."""
        return self.sizes[None]

    def with_covariates(self, covariates: np.ndarray) -> "ClassSizes":
        """Return the same class probabilities for other respondents."""
        return self

    def move_point(self, change: np.ndarray) -> "ClassSizes":
        """Return class probabilities after adding `change` to the log odds."""
        odds = self.sizes * np.exp(np.concatenate([[0.0], change]))
        return ClassSizes(compute_shares(odds))

    def reorder(self, order: np.ndarray) -> "ClassSizes":
        """Return the same probabilities with classes in another order."""
        return ClassSizes(self.sizes[order])

    def propose_step(self, membership: np.ndarray) -> Callable[[float], "ClassSizes"]:
        """Return a function from a step length to the sizes after an EM step.

        The sizes maximise the expected likelihood for every length.
        """
        new_sizes = ClassSizes(membership.mean(axis=0))
        return lambda length: new_sizes

    def scores(self, membership: np.ndarray) -> np.ndarray:
        """Return each respondent's gradient by the log odds, (people, K - 1)."""
        return membership[:, 1:] - self.sizes[1:]

    def add_information(self, information: np.ndarray, membership: np.ndarray) -> None:
        """Add Louis' information terms of the log odds to the matrix in place."""
        other_sizes = self.sizes[1:]
        information += len(membership) * (np.diag(other_sizes) - np.outer(other_sizes, other_sizes))
        for k, class_scores in enumerate(np.eye(len(self.sizes))[:, 1:] - other_sizes):
            information -= membership[:, k].sum() * np.outer(class_scores, class_scores)

    def cross_product(self, k: int, scores: np.ndarray) -> np.ndarray:
        """Return the sum over people of class k's scores times choice scores (people, p)."""
        return np.outer(np.eye(len(self.sizes))[k, 1:] - self.sizes[1:], scores.sum(axis=0))


class ClassesByColumns(NamedTuple):
    r"""Class probabilities by multinomial logit of respondents' columns.

    .. math:: \pi_{nk} = e^{z_n^T \gamma_k} \Big/ \sum_l e^{z_n^T \gamma_l}, \qquad \gamma_1 = 0
    """

    odds: np.ndarray  # (K, q)
    covariates: np.ndarray  # (people, q) covariates, the first 1

    @property
    def n_coordinates(self) -> int:
        """Number of free coefficients, (K - 1) times the number of columns."""
        return self.odds[1:].size

    @property
    def probabilities(self) -> np.ndarray:
        """Prior probability of each class by respondent, shape (people, K)."""
        log_odds = self.covariates @ self.odds.T
        return softmax(log_odds)

    @property
    def sizes(self) -> np.ndarray:
        """Mean probability of each class over these respondents, shape (K,)."""
        return self.probabilities.mean(axis=0)

    def with_covariates(self, covariates: np.ndarray) -> "ClassesByColumns":
        """Return the same coefficients for respondents with other columns."""
        return self._replace(covariates=covariates)

    def move_point(self, change: np.ndarray) -> "ClassesByColumns":
        """Return class probabilities after adding `change` to the coefficients."""
        odds = self.odds.copy()
        odds[1:] += change.reshape(odds[1:].shape)
        return self._replace(odds=odds)

    def reorder(self, order: np.ndarray) -> "ClassesByColumns":
        """Return the same probabilities with classes in another order."""
        return self._replace(odds=self.odds[order] - self.odds[order[0]])

    def propose_step(self, membership: np.ndarray) -> Callable[[float], "ClassesByColumns"]:
        """Return a function from a step length to classes after a Newton step."""
        information = self._complete_information()
        newton_step = np.linalg.lstsq(
            information, self.scores(membership).sum(axis=0), rcond=1e-10
        )[0]
        return lambda length: self.move_point(length * newton_step)

    def scores(self, membership: np.ndarray) -> np.ndarray:
        """Return each respondent's gradient by the coefficients, (people, coefficients)."""
        return self._multiply_by_covariates(membership[:, 1:] - self.probabilities[:, 1:])

    def add_information(self, information: np.ndarray, membership: np.ndarray) -> None:
        """Add Louis' information terms of the coefficients to the matrix in place."""
        information += self._complete_information()
        for k in range(len(self.odds)):
            class_scores = self._class_scores(k)
            information -= (class_scores * membership[:, [k]]).T @ class_scores

    def cross_product(self, k: int, scores: np.ndarray) -> np.ndarray:
        """Return the sum over people of class k's scores times choice scores (people, p)."""
        return self._class_scores(k).T @ scores

    def _class_scores(self, k: int) -> np.ndarray:
        """Return class k's gradient by the coefficients, (people, coefficients)."""
        return self._multiply_by_covariates(
            np.eye(len(self.odds))[k, 1:] - self.probabilities[:, 1:]
        )

    def _multiply_by_covariates(self, values: np.ndarray) -> np.ndarray:
        """Return values (people, K - 1) times the columns, class by class."""
        return (values[:, :, None] * self.covariates[:, None]).reshape(len(values), -1)

    def _complete_information(self) -> np.ndarray:
        """Return the information matrix as if classes were observed."""
        probabilities = self.probabilities[:, 1:]
        q = self.covariates.shape[1]
        weighted_covariates = self._multiply_by_covariates(probabilities)
        information = -weighted_covariates.T @ weighted_covariates
        for k in range(probabilities.shape[1]):
            class_block = slice(k * q, (k + 1) * q)
            information[class_block, class_block] += (
                self.covariates * probabilities[:, [k]]
            ).T @ self.covariates
        return information


Membership = ClassSizes | ClassesByColumns


def build_equal_classes(n_classes: int, covariates: np.ndarray) -> Membership:
    """Return equal class probabilities, with coefficients 0 if there are covariates."""
    if covariates.shape[1] == 1:
        return ClassSizes(np.full(n_classes, 1.0 / n_classes))
    return ClassesByColumns(np.zeros((n_classes, covariates.shape[1])), covariates)
