"""The work of a sweep of the recommended samplers, forecast from the size of the data.

A sweep looks at every column of every replica: so many times at each number that is stored of the data, and at each
option. How long that takes was measured by `benchmarks/forecast.py`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..likelihoods.pair_blocks import Pairs
from ..likelihoods.pair_covariates import PairsWithCovariates
from ..likelihoods.pair_sets import PairSets
from ..likelihoods.sets import Sets
from ..state import NO_UNIQUE
from . import recommended

if TYPE_CHECKING:
    from .chains import Task


class Cost(NamedTuple):
    """Nanoseconds that a sweep takes for each column of each replica."""

    number: float  # for each number stored of the data
    option: float  # for each option, of each group of people
    person: float = 0.0  # for each person, and kind that the person may be of
    column: float = 0.0  # besides


OF_PAIRS, OF_SETS, OF_TRIPLETS = Cost(1.7, 170.0), Cost(6.0, 200.0), Cost(3.4, 800.0)
ONLY_UNIQUE, WITHOUT_UNIQUE = Cost(4.0, 100.0), Cost(0.57, 82.0)
CONJUGATE, TOGETHER = Cost(0.4, 0.0, column=400.0), Cost(0.2, 80.0)
OF_GROUPS = Cost(2.0, 140.0, 85.0)
OF_PERSONS, OF_PERSONS_WITH_SETS = Cost(15.0, 250.0), Cost(80.0, 250.0)  # groups of one person
OF_KINDS = 16_000.0  # nanoseconds of a sweep of kinds besides, in which people move
FEWER = 0.6  # columns beside unique weights
# Levels for each object, and at most, of a ladder that is lengthened while similarities are tuned: 10 of 16 objects, 22
# of 36, 31 of 60; of simulated ones 15 of 20, 18 of 26, 32 of 38, 21 of 40, 23 of 100 (benchmarks/mixing.py).
LEVELS_AN_OBJECT, MOST_LEVELS = 0.7, 30.0


def seconds_of_sweep(task: "Task") -> float:
    """Seconds of the processor that a sweep of all replicas of a chain is expected to take."""
    return seconds(task, columns_of(task))


def seconds(task: "Task", columns: float) -> float:
    """The same for states of so many columns."""
    cost, numbers = _cost(task), numbers_in(task.model.likelihood)
    each = cost.number * numbers + cost.option * task.n_options + cost.column
    return levels(task) * (columns + 1.0) * each / 1e9


def levels(task: "Task") -> float:
    """How many temperatures a chain is expected to have after tuning."""
    given = float(len(task.temperatures))
    if task.lengthens and task.kernel in (recommended.conjugate, recommended.conjugate_together):
        return max(given, min(LEVELS_AN_OBJECT * task.n_options, MOST_LEVELS))
    return given


def seconds_in_groups(task: Any, groups: int, people: int = 0) -> float:
    """Seconds of a sweep of all groups, or of all kinds and the people who may be of them."""
    columns, numbers = task.prior.usual_columns(task.n_options), numbers_in(task.model.likelihood)
    cost = OF_GROUPS
    if task.model.persons:
        cost = OF_PERSONS_WITH_SETS if isinstance(task.model.likelihood, Sets) else OF_PERSONS
    each = cost.number * numbers + groups * (cost.option * task.n_options + cost.person * people)
    return (len(task.temperatures) * (columns + 1.0) * each + OF_KINDS * (people > 0)) / 1e9


def columns_of(task: "Task") -> float:
    """How many columns a state is expected to have, before there are data to tell.

    Beside unique weights fewer aspects are found; without them, where an option has to have something of its own, a
    column for each option besides.
    """
    n, model = task.n_options, task.model
    found = float(task.prior.usual_columns(n))
    if not task.prior.is_infinite:
        return found
    if model.unique != NO_UNIQUE:
        return FEWER * found
    return found + n if model.lo == 1 else found


def numbers_in(stored: Any) -> int:
    """How many numbers there are in the arrays of nested tuples."""
    if isinstance(stored, tuple):
        return sum(numbers_in(part) for part in stored)
    return stored.size if isinstance(stored, np.ndarray) else 0


def _cost(task: "Task") -> Cost:
    """What the kernel of a task takes with its likelihood."""
    by_kernel = {
        recommended.conjugate: CONJUGATE,
        recommended.conjugate_together: TOGETHER,
        recommended.unique_alone: ONLY_UNIQUE,
    }
    if task.kernel in by_kernel:
        return by_kernel[task.kernel]
    if isinstance(task.model.likelihood, PairSets):
        return OF_TRIPLETS
    if not isinstance(task.model.likelihood, Pairs | PairsWithCovariates):
        return OF_SETS
    return WITHOUT_UNIQUE if task.model.unique == NO_UNIQUE else OF_PAIRS
