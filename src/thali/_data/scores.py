"""How well choices were predicted: the probability of what was chosen, hits, means with their
errors over people."""

import math
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

TIED = 1e-12  # difference of probabilities that are the same but for rounding


class ChosenAlternatives(Protocol):
    """Tasks, one after another, and what was chosen in each."""

    @property
    def first_row(self) -> np.ndarray:
        """The first alternative of each task, and one past the last, (tasks + 1,)."""
        ...

    @property
    def chosen(self) -> np.ndarray:
        """Which alternative of its task was chosen, counted from 0, (tasks,)."""
        ...


def scores(p: np.ndarray, test: ChosenAlternatives) -> tuple[np.ndarray, np.ndarray]:
    r"""Of every task the probability of what was chosen, and whether it is a hit.

    A hit is a choice of the most probable alternative; of m that are equally probable, 1/m of a
    hit.
    """
    starts = test.first_row[:-1]
    chosen = p[starts + test.chosen]
    top = np.maximum.reduceat(p, starts)
    tied = np.add.reduceat(
        (p >= np.repeat(top, np.diff(test.first_row)) - TIED).astype(float), starts
    )
    return chosen, (chosen >= top - TIED) / tied


def mean_and_error(values: np.ndarray, groups: Iterable[Any] | None = None) -> tuple[float, float]:
    r"""Mean, and its standard error; values of one group may depend on each other.

    .. math::
        m = \sum_n S_n \Big/ \sum_n T_n, \qquad
        \text{se}^2 = \frac{N}{N - 1} \sum_n (S_n - m T_n)^2 \Big/ \Big(\sum_n T_n\Big)^2

    with S_n the sum over the T_n values of group n, such as the tasks of a respondent.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 1.0, 0.0, 0.0]), ["a", "a", "b", "b"])
    (0.5, 0.5)
    """
    if not len(values):
        return math.nan, math.nan
    mean = float(values.mean())
    if groups is None:
        error = (
            values.std(ddof=1) / math.sqrt(len(values))
            if len(values) > 1 and math.isfinite(mean)
            else math.nan
        )
        return mean, float(error)
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    n = int(number.max()) + 1
    if n < 2 or not math.isfinite(mean):
        return mean, math.nan
    off = np.bincount(number, values - mean)
    return mean, float(math.sqrt(n / (n - 1) * (off**2).sum()) / len(values))
