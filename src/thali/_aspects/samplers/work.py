"""The work of a sweep of the recommended samplers, forecast from the size of the data.

A sweep looks at every column of every replica: so many times at each number that is stored of the
data, and at each option. How long that takes was measured by `benchmarks/forecast.py`. How many
columns there are is counted once chains are tuned: real tables of sixty objects have five times as
many as simulated ones of that size. Of similarities of many objects they are counted before, in a
short run.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.progress import Progress

from ..likelihoods.pair_blocks import PairBlocks
from ..likelihoods.pair_covariates import PairsWithCovariates
from ..likelihoods.pair_sets import AnsweredPairSets
from ..likelihoods.residuals import Judgements
from ..likelihoods.sets import OfferedSets
from ..state import COLUMNS, NO_UNIQUE
from . import recommended
from .tempering import MAX_TEMPERATURES

if TYPE_CHECKING:
    from .chains import FeatureChain, SamplingTask


class Cost(NamedTuple):
    """Nanoseconds that a sweep takes for each column of each replica."""

    number: float  # for each number stored of the data
    option: float  # for each option, of each group of people
    person: float = 0.0  # for each person, and kind that the person may be of
    column: float = 0.0  # besides


OF_PAIRS, OF_SETS = Cost(1.7, 170.0), Cost(6.0, 200.0)
OF_LIKELIHOODS = {
    PairBlocks: OF_PAIRS,
    PairsWithCovariates: OF_PAIRS,
    AnsweredPairSets: Cost(3.4, 800.0),
}
ONLY_UNIQUE, WITHOUT_UNIQUE = Cost(4.0, 100.0), Cost(0.57, 82.0)
CONJUGATE, TOGETHER = Cost(0.4, 0.0, column=400.0), Cost(0.2, 80.0)
OF_SIMILARITIES = {recommended.conjugate: CONJUGATE, recommended.conjugate_together: TOGETHER}
OF_GROUPS = Cost(1.1, 45.0, 85.0)
OF_PERSONS = {  # groups of one person
    PairBlocks: Cost(8.0, 130.0),
    PairsWithCovariates: Cost(8.0, 130.0),
    AnsweredPairSets: Cost(8.0, 130.0),
    Judgements: Cost(2.0, 20.0),
    OfferedSets: Cost(80.0, 250.0),
}
OF_OTHER_PERSONS = Cost(15.0, 250.0)
OF_KINDS = 16_000.0  # nanoseconds of a sweep of kinds besides, in which people move
FEWER = 0.6  # columns beside unique weights
# Levels for each object, and at most, of a ladder that is lengthened during tuning where features
# are what two objects or more have: of real similarities 9 to 12 of 16 objects, 17 of 36, 31 of 60,
# of simulated ones 8 to 12 of any number; of triplets 12 of 20 objects, 15 of 30, 16 of 38.
LEVELS_AN_OBJECT, MOST_LEVELS = 0.4, 20.0
# Levels for the root of the product of groups and options, at least those of the beginning: with 12
# options 8, 8, 14, 16, 22 of 2, 4, 8, 16, 30 groups, with 30 options 11 and 22 of 2 and 8. Columns
# grow with the root of the number of groups: with 12 options 6, 14, 17, 34, 37, a mean over the
# levels, where a group alone is expected to have 5.
LEVELS_OF_GROUPS = 1.3
# Columns of similarities, a mean over the levels: cold ones of real tables have many, hot ones few
# (at temperature 1, at the hottest, on average: numbers 21, 8, 14; druguse 14, 8, 11; phonemes 14,
# 2, 8; countries 17, 1, 10; morse 30, 3, 16; faces 21, 7, 12), while simulated ones of 8 to 60
# objects have 5 to 8 on all.
COLUMNS_OF_SIMILARITIES = 10.0
# Of many objects neither their number nor the noise tells how many: features melt within the
# ladder, which then gets many levels, or do not. A short run tells: of faces, morse, and simulated
# tables of 24 to 60 objects with 6 and 10 features and sigma .1, .3, .8 it has .9 to 1.6 times the
# columns of a long one (2.7 times of a single one).
FEWEST = 24  # objects
# sweeps, as many as it needs, and seconds that it is forecast to take at most
SHORT, LEAST, LONGEST = 1_100, 400, 6.0
DRAWN = 11  # the last of so many parts of a short run counts, and all others are tuning
EVERY = 10  # sweeps
# Objects of triplets from which on the prior expects too few features: of 300 objects 12, where
# chains that begin with 29 and 24 have 31 and 27; of 100 objects 10, where they have 13 to 15.
MANY = 150


class WorkCounts(NamedTuple):
    """What a short run had at its end, or chains have at their beginning."""

    levels: float
    columns: float  # of a state, on average over the levels


def with_short_run(task: "SamplingTask", progressbar: bool) -> "SamplingTask":
    """The task with what a short run tells of its levels and columns, where their forecast tells
    little of them.

    Where chains begin with what an annealed run found, that is such a run. It has a fixed stream,
    so that what it tells follows from the data.
    """
    if task.begins is not None and task.n_options >= MANY:
        begun = task.begins(np.random.default_rng(0), task)
        return replace(task, counted=WorkCounts(levels(task), float(begun.whole[COLUMNS])))
    if not task.lengthens or task.kernel not in OF_SIMILARITIES or task.n_options < FEWEST:
        return task
    sweeps = min(SHORT, int(LONGEST / seconds_of_sweep(task)))
    if sweeps < LEAST:
        return task
    drawn = sweeps // DRAWN
    short = replace(task, draws=drawn, tune=sweeps - drawn, thin=1, pilot=0)
    chain, columns = short.chain(np.random.default_rng(0)), []
    with Progress(progressbar, "counting features", sweeps) as progress:
        if not task.kernel.is_compiled(task.model):
            progress.note("compiling, once")
        for sweep in range(short.tune + EVERY, sweeps + 1, EVERY):
            chain.run_until(sweep)
            columns.append(chain.states.whole[:, COLUMNS].mean())
    return replace(task, counted=WorkCounts(float(chain.ladder.beta.size), float(np.mean(columns))))


def seconds_of_sweep(task: "SamplingTask") -> float:
    """Seconds of the processor that a sweep of all replicas of a chain is expected to take."""
    return seconds(task, columns_of(task))


def seconds(task: "SamplingTask", columns: float) -> float:
    """The same for states of so many columns."""
    cost, numbers = _cost(task), numbers_in(task.model.likelihood)
    each = cost.number * numbers + cost.option * task.n_options + cost.column
    return levels(task) * (columns + 1.0) * each / 1e9


def times_heavier(task: Any, chains: Sequence["FeatureChain"]) -> float:
    """How many times as many columns the replicas of tuned chains have as was forecast; 1 while
    there are no draws."""
    if any(chain.recorded == 0 for chain in chains):
        return 1.0
    # of each level, and each of its groups
    columns = [chain.states.whole[..., COLUMNS] + 1.0 for chain in chains]
    counted = sum(each.mean(axis=tuple(range(1, each.ndim))).sum() for each in columns) / len(
        chains
    )
    return float(counted) / (task.levels() * (task.columns() + 1.0))


def levels(task: "SamplingTask") -> float:
    """How many temperatures a chain is expected to have after tuning."""
    if task.counted is not None:
        return task.counted.levels
    given = float(len(task.temperatures))
    if task.lengthens and task.model.lo == 2:
        return max(given, min(LEVELS_AN_OBJECT * task.n_options, MOST_LEVELS))
    return given


def levels_of_groups(task: Any) -> float:
    """The same for a chain of groups."""
    given = float(len(task.temperatures))
    if not task.lengthens:
        return given
    return min(
        max(given, LEVELS_OF_GROUPS * math.sqrt(task.n_groups * task.n_options)),
        float(MAX_TEMPERATURES),
    )


def columns_of_groups(task: Any) -> float:
    """How many columns the state of a chain of groups is expected to have."""
    found = float(task.prior.usual_columns(task.n_options))
    return (
        found * math.sqrt(task.n_groups)
        if task.prior.is_infinite and not task.model.persons
        else found
    )


def seconds_in_groups(task: Any, people: int = 0) -> float:
    """Seconds of a sweep of all groups, or of all kinds and the people who may be of them."""
    groups, numbers, cost = task.n_groups, numbers_in(task.model.likelihood), OF_GROUPS
    if task.model.persons:
        cost = OF_PERSONS.get(type(task.model.likelihood), OF_OTHER_PERSONS)
    moving, persons = OF_KINDS * (people > 0), cost.person * people
    each = cost.number * numbers + groups * (cost.option * task.n_options + persons)
    return (task.levels() * (task.columns() + 1.0) * each + moving) / 1e9


def columns_of(task: "SamplingTask") -> float:
    """How many columns a state is expected to have, before there are data to tell; a mean over a
    ladder's levels.

    Beside unique weights fewer aspects are found; without them, where an option has to have
    something of its own, a column for each option besides.
    """
    if task.counted is not None:
        return task.counted.columns
    n, model = task.n_options, task.model
    found = float(task.prior.usual_columns(n))
    if not task.prior.is_infinite:
        return found
    if task.kernel in OF_SIMILARITIES:
        return COLUMNS_OF_SIMILARITIES
    if model.unique != NO_UNIQUE:
        return FEWER * found
    return found + n if model.lo == 1 else found


def numbers_in(stored: Any) -> int:
    """How many numbers there are in the arrays of nested tuples."""
    if isinstance(stored, tuple):
        return sum(numbers_in(part) for part in stored)
    return stored.size if isinstance(stored, np.ndarray) else 0


def _cost(task: "SamplingTask") -> Cost:
    """What the kernel of a task takes with its likelihood."""
    by_kernel = OF_SIMILARITIES | {recommended.unique_alone: ONLY_UNIQUE}
    if task.kernel in by_kernel:
        return by_kernel[task.kernel]
    classes = type(task.model.likelihood).__mro__
    cost = next((OF_LIKELIHOODS[each] for each in classes if each in OF_LIKELIHOODS), OF_SETS)
    return WITHOUT_UNIQUE if cost is OF_PAIRS and task.model.unique == NO_UNIQUE else cost
