r"""The answers of each respondent, and tests of fit over respondents.

Where the answers of a respondent depend on each other, G² is distributed as a sum of chi-square
variables, each times a design effect (Rao & Scott 1984): with the standardised residuals
:math:`z_{so} = (n_{so} - n_s p_o) / \sqrt{n p_o}` of each person's outcomes, and the projection P
on what one model has more than another, the effects are the eigenvalues of :math:`P (\sum_s z_s
z_s^T) P`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

BLOCK = 2**21  # entries of an array


class Clusters(NamedTuple):
    """How often each of S people gave each answer."""

    tally: Any  # sparse (S, outcomes): outcomes as those of a pose

    @property
    def number(self) -> int:
        """People with an answer."""
        return self.tally.shape[0]

    @property
    def answers(self) -> np.ndarray:
        """How many each person gave, shape (S,)."""
        return np.asarray(self.tally.sum(axis=1)).ravel()

    def residuals(self, pose: Any, p: np.ndarray) -> Iterator[np.ndarray]:
        """z for fitted probabilities p, shape (people, outcomes), some people at a time."""
        starts = np.cumsum(pose.sizes) - pose.sizes
        expected = np.repeat(pose.totals, pose.sizes) * p
        step = max(1, BLOCK // len(p))
        for first in range(0, self.number, step):
            counts = self.tally[first : first + step].toarray()
            asked = np.repeat(np.add.reduceat(counts, starts, axis=1), pose.sizes, axis=1)
            off = counts - asked * p
            yield np.divide(off, np.sqrt(expected), out=np.zeros_like(off), where=expected > 0.0)


class DesignEffect(NamedTuple):
    """The distribution of a likelihood ratio over people: about `mean` times chi-square, or with
    two moments."""

    people: int
    mean: float  # of the effects
    scale: float  # a of a times chi-square with `df` degrees of freedom
    df: float

    def p_value(self, statistic: float) -> float:
        """P(a times chi-square >= statistic)."""
        from scipy.special import chdtrc

        return float(chdtrc(self.df, max(statistic, 0.0) / self.scale)) if self.scale > 0.0 else 1.0


def design_effect(
    residuals: Iterable[np.ndarray],
    people: int,
    larger: np.ndarray | None,
    smaller: np.ndarray,
    df: int,
) -> DesignEffect:
    """Of the ratio between two models; columns of the models span what they change. None: the
    saturated model."""
    small, large = orthonormal_basis(smaller), None if larger is None else orthonormal_basis(larger)

    def beyond(block: np.ndarray) -> np.ndarray:
        if large is not None:
            block = (block @ large) @ large.T
        return block - (block @ small) @ small.T

    if people > len(smaller):
        gram = sum(
            (rest.T @ rest for rest in map(beyond, residuals)),
            np.zeros((len(smaller), len(smaller))),
        )
    else:
        every = np.concatenate(list(map(beyond, residuals)))
        gram = every @ every.T
    gram *= people / (people - 1.0)
    first, second = float(np.trace(gram)), float((gram**2).sum())
    if first <= 0.0:
        return DesignEffect(people, 0.0, 0.0, 1.0)
    return DesignEffect(people, first / df, second / first, first**2 / second)


def clusters_of(data: Any, ties: bool) -> Clusters | None:
    """The answers of the people of the data; None where fewer than two people are known."""
    asked = data.questions(ties)
    if asked is None:  # similarities, which are measured: every judgement is an outcome
        if (judged := data.answers) is None:
            return None
        who, width = judged.respondent, len(judged.values)
        column, times = np.arange(width), np.ones(width)
    else:
        if asked.given is None:
            return None
        _, who, column, times = asked.given
        width = len(asked.counts)
    names, row = np.unique(who, return_inverse=True)
    if len(names) < 2:
        return None
    from scipy.sparse import csr_array  # slow to load, and most data do not tell people apart

    return Clusters(csr_array((times.astype(float), (row, column)), shape=(len(names), width)))


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Return orthonormal columns with the same span."""
    u, values, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, values > 1e-9 * values.max(initial=0.0)]
