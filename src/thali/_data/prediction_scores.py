"""Prediction scores of choices: probability of the choice made, and hit or miss."""

import math
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from thali.errors import DataError

TIE_TOLERANCE = 1e-12  # difference of probabilities that are the same but for rounding


class ChosenAlternatives(Protocol):
    """Protocol of data with tasks and the alternative chosen in each."""

    @property
    def first_row(self) -> np.ndarray:
        """Index of the first alternative of each task, and the total, shape (tasks + 1,)."""
        ...

    @property
    def chosen(self) -> np.ndarray:
        """Chosen alternative within its task, counted from 0, shape (tasks,)."""
        ...


def find_chosen_rows(tasks: ChosenAlternatives) -> np.ndarray:
    """Return the index of the chosen alternative of each task among all alternatives."""
    if (tasks.chosen < 0).any():
        raise DataError(
            "These data contain ratings and no choices; read a table with a column of choices, or"
            " analyse the ratings with thali.amce."
        )
    return tasks.first_row[:-1] + tasks.chosen


def score_choices(p: np.ndarray, test: ChosenAlternatives) -> tuple[np.ndarray, np.ndarray]:
    r"""Return each task's probability of the choice made, and its hit score, (tasks,).

    A choice of the most probable alternative scores 1; where m alternatives are equally probable,
    it scores 1/m.
    """
    first_rows = test.first_row[:-1]
    chosen_probability = p[first_rows + test.chosen]
    highest_probability = np.maximum.reduceat(p, first_rows)
    n_tied = np.add.reduceat(
        (p >= np.repeat(highest_probability, np.diff(test.first_row)) - TIE_TOLERANCE).astype(
            float
        ),
        first_rows,
    )
    return chosen_probability, (chosen_probability >= highest_probability - TIE_TOLERANCE) / n_tied


def mean_and_error(values: np.ndarray, groups: Iterable[Any] | None) -> tuple[float, float]:
    r"""Return the mean of `values` and its standard error, clustered by `groups`.

    Values of the same group may be dependent. None: all values are independent.

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
    if groups is None:
        groups = range(len(values))
    mean = float(values.mean())
    _, group_index = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = int(group_index.max()) + 1
    if n_groups < 2 or not math.isfinite(mean):
        return mean, math.nan
    group_deviations = np.bincount(group_index, values - mean)
    return mean, float(
        math.sqrt(n_groups / (n_groups - 1) * (group_deviations**2).sum()) / len(values)
    )
