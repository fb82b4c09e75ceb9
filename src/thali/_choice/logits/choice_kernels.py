"""Kernels of choice probabilities: of one person's tasks, and of all people at all draws.

Rows are the alternatives of a person's tasks, one task after the other. The model matrix is
transposed, so that loops over rows become vector instructions.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, scalar, vectorised
from thali._inference.numerics.array_parts import part_ends, part_range
from thali._inference.numerics.fast_exponential import fast_exp

MAX_PRODUCT = 1e200  # far from overflow: each factor is at most the number of alternatives


class TaskColumns(NamedTuple):
    """Tasks of all people as the kernels of draws read them."""

    columns: np.ndarray  # (p, rows) the model matrix, transposed
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)


def allocate_utilities(problem: Any) -> np.ndarray:
    """Return a scratch array of as many utilities as a person has rows at most."""
    person_starts = problem.first_row[problem.first_task]
    return np.zeros(np.diff(person_starts).max(initial=1))


@compiled
def write_log_probabilities(
    problem: Any, utility: Any, tastes: Any, log_probabilities: Any
) -> None:
    """Write log probabilities of all choices (tasks,) at tastes (N, p)."""
    for n in range(len(tastes)):
        first, stop = person_rows(problem, n)
        write_utilities(problem, tastes[n], utility, n)
        for t in part_range(problem.first_task, n):
            log_probabilities[t] = utility[problem.chosen_row[t] - first]
        exponentiate(utility, stop - first)
        for t in part_range(problem.first_task, n):
            total = 0.0
            for k in range(problem.first_row[t] - first, problem.first_row[t + 1] - first):
                total += utility[k]
            log_probabilities[t] -= math.log(total)


@compiled
def add_product_probabilities(
    problem: Any, utility: Any, tastes: Any, row_product: Any, totals: Any
) -> None:
    """Add probabilities of rows at tastes (draws, N, p) to those of products (draws, products)."""
    for draw in range(len(tastes)):
        for n in range(tastes.shape[1]):
            write_probabilities(problem, tastes[draw, n], utility, n)
            first, stop = person_rows(problem, n)
            for k in range(stop - first):
                totals[draw, row_product[first + k]] += utility[k]


@scalar
def person_rows(problem: Any, n: Any) -> Any:
    """Return the first row of person n's tasks, and the row after the last."""
    first_task, stop_task = part_ends(problem.first_task, n)
    return problem.first_row[first_task], problem.first_row[stop_task]


@scalar
def write_probabilities(problem: Any, taste: Any, utility: Any, n: Any) -> Any:
    """Write choice probabilities of person n's rows; return the log probability of all choices.

    The probabilities are written into `utility`.
    """
    first, stop = person_rows(problem, n)
    log_likelihood = write_utilities(problem, taste, utility, n)
    exponentiate(utility, stop - first)
    product = 1.0  # of the sums of several tasks: one logarithm serves them all
    for t in part_range(problem.first_task, n):
        begin, end = problem.first_row[t] - first, problem.first_row[t + 1] - first
        total = 0.0
        for k in range(begin, end):
            total += utility[k]
        product *= total
        if product > MAX_PRODUCT:
            log_likelihood -= math.log(product)
            product = 1.0
        scale = 1.0 / total
        for k in range(begin, end):
            utility[k] *= scale
    return log_likelihood - math.log(product)


@scalar
def write_utilities(problem: Any, taste: Any, utility: Any, n: Any) -> Any:
    """Write utilities of person n's rows minus the largest of the task; sum those of choices."""
    first, stop = person_rows(problem, n)
    for k in range(stop - first):
        utility[k] = 0.0
    for i in range(taste.size):
        add_column(utility, problem.columns[i, first:stop], taste[i])
    total = 0.0
    for t in part_range(problem.first_task, n):
        begin, end = problem.first_row[t] - first, problem.first_row[t + 1] - first
        top = utility[begin]
        for k in range(begin + 1, end):
            top = max(top, utility[k])
        for k in range(begin, end):
            utility[k] -= top
        total += utility[problem.chosen_row[t] - first]
    return total


@vectorised
def add_column(utility: Any, column: Any, taste: Any) -> None:
    """Add a taste times a column to the utilities."""
    for k in range(column.size):
        utility[k] += column[k] * taste


@vectorised
def exponentiate(utility: Any, n_rows: Any) -> None:
    """Replace utilities, each 0 or less, by their exponentials."""
    for k in range(n_rows):
        utility[k] = fast_exp(utility[k])
