"""The problem of a fit, the state of one particle in arrays that are allocated once, and the slots
of its features."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.indexing import part_bounds
from thali._inference.numerics.gamma import QUANTILES, quantile_table

from ..logit import DIRECTIONS

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment


# The constants of a fit: tasks with the chosen product first, the constants of the prior, the
# target posterior


ALPHA, BETA = range(2)  # in Problem.prior
EDITS, EXCHANGES = range(2)  # in Problem.proposals
# from here on classes have many owners, who seldom accept a change: more proposals pay
MANY_PEOPLE = 30
FEW_PROPOSALS, MANY_PROPOSALS = (3, 0), (6, 6)


class ComparedProducts(NamedTuple):
    """The products of every task, the chosen one first; a comparison is one of the others."""

    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    rows: np.ndarray  # (rows, words) bits of the products
    # (rows - tasks,) task of a comparison, counted from the first of the person
    of_comparison: np.ndarray


class ClassProblem(NamedTuple):
    """Inside, levels of an attribute with an order run from worst to best.

    Every attribute has one bit a level and one more, set in products that lack it and in classes
    where it is inactive: a product belongs to a class if all its bits are set in the class.
    """

    tasks: ComparedProducts
    n_levels: np.ndarray  # (L,)
    first_bit: np.ndarray  # (L + 1,)
    # (L,) 0 free, 1 increasing, -1 decreasing in the natural order of the data
    direction: np.ndarray
    log_choose: np.ndarray  # (L + 1,) ln C(L, c)
    log_sets: np.ndarray  # (L, most levels + 1) ln C(L_i, l)
    prior: np.ndarray  # (2,) alpha, or NaN where it is learned; beta
    harmonic: np.ndarray  # (N + 1,) Σ_{i < n} β / (β + i)
    quantiles: np.ndarray  # of the transport of values, see inference/numerics/gamma_quantiles.py
    lacking: np.ndarray  # (L,) bool, whether some product lacks the attribute
    # (2,) for every class in a sweep: edits of one attribute, exchanges of two
    proposals: np.ndarray

    @property
    def n_people(self) -> int:
        return len(self.tasks.first_task) - 1

    @property
    def n_tasks(self) -> int:
        return len(self.tasks.first_row) - 1


class PosteriorTarget(NamedTuple):
    """Which posterior: every task with its own share of choices made at random."""

    delta: np.ndarray  # (tasks,) lapse in [0, 1]; 1 = the task is not in the model yet
    held: np.ndarray  # (1,) whether a and σ stay as they are


def problem_of(
    data: "ChoiceExperiment | Any",
    monotone: Mapping[str, str] | None = None,
    alpha: float | None = None,
    beta: float = 1.0,
) -> ClassProblem:
    """The arrays that the sampler reads."""
    n_levels = np.array([len(data.levels[name]) for name in data.attributes], np.int64)
    words = monotone or {}
    direction = np.array(
        [DIRECTIONS.get(words.get(name, ""), 0) for name in data.attributes], np.int8
    )
    # Arrays of their own: those of the data are read-only, for which the kernels would be compiled
    # again.
    first_row = np.array(data.first_row, np.int64)
    first_bit = part_bounds(n_levels + 1)
    n_tasks, size = len(first_row) - 1, len(n_levels)
    n_people = len(data.first_task) - 1
    order = _chosen_first(first_row, np.asarray(data.chosen), n_tasks)
    first_task = np.array(data.first_task, np.int64)
    of_person = np.arange(n_tasks) - np.repeat(first_task[:-1], np.diff(first_task))
    bits = product_bits(np.asarray(data.products), n_levels, direction)
    return ClassProblem(
        tasks=ComparedProducts(
            first_task=first_task,
            first_row=first_row,
            rows=np.ascontiguousarray(bits[np.asarray(data.row_product)[order]]),
            of_comparison=np.repeat(of_person, np.diff(first_row) - 1),
        ),
        n_levels=n_levels,
        first_bit=first_bit,
        direction=direction,
        log_choose=np.array([math.log(math.comb(size, c)) for c in range(size + 1)]),
        log_sets=np.array(
            [
                [math.log(max(1, math.comb(n, c))) for c in range(int(n_levels.max()) + 1)]
                for n in n_levels.tolist()
            ]
        ),
        prior=np.array([math.nan if alpha is None else alpha, beta], float),
        harmonic=np.concatenate([[0.0], np.cumsum(beta / (beta + np.arange(n_people)))]),
        quantiles=quantile_table(),
        lacking=np.asarray((np.asarray(data.products) < 0).any(axis=0)),
        proposals=np.array(MANY_PROPOSALS if n_people >= MANY_PEOPLE else FEW_PROPOSALS, np.int64),
    )


def target_of(problem: ClassProblem, delta: Any = 0.0) -> PosteriorTarget:
    """A target with the same lapse in all tasks, or with those given task by task."""
    return PosteriorTarget(
        np.array(np.broadcast_to(delta, problem.n_tasks), float), np.zeros(1, np.bool_)
    )


def product_bits(products: np.ndarray, n_levels: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Bits of products given by natural level codes, -1 = the attribute is missing; shape
    (products, words)."""
    first = part_bounds(n_levels + 1)
    codes = np.where(direction < 0, n_levels - 1 - products, products)
    places = first[:-1] + np.where(products < 0, n_levels, codes)
    words = np.zeros((len(products), int(-(-first[-1] // 64))), np.int64)
    rows = np.arange(len(products))
    for place in places.T:
        np.bitwise_or.at(words, (rows, place >> 6), np.int64(1) << (place & 63))
    return words


def _chosen_first(first_row: np.ndarray, chosen: np.ndarray, n_tasks: int) -> np.ndarray:
    """Row numbers, task by task, the chosen one first and the others in their order."""
    task = np.repeat(np.arange(n_tasks), np.diff(first_row))
    rows = np.arange(first_row[-1])
    is_chosen = rows == (first_row[:-1] + chosen)[task]
    return np.lexsort((rows, ~is_chosen, task))


A, SIGMA, CONCENTRATION = range(3)  # in State.real
START = (2.0, 0.6)  # a and σ where they are not drawn from their prior
# In State.whole: classes; slots ever used; head of the list of free slots; free slots below the
# top; people present; sweeps done; people visited in this sweep; classes to be proposed for the
# next person, -1 = not drawn yet.
CLASSES, TOP, FREE, HOLES, PRESENT, SWEEPS, VISITED, PENDING = range(8)
POLARITY, OWNERS, NEGATIVE, ACTIVE, ORDERED, FIRST = range(6)  # columns of State.classes
# Columns of Features.slots; SPLIT is the number of tasks that the class separates, MUTE leaves the
# feature out of sums.
CLASS, PERSON, SIGN, NEXT_OWNER, LAST_OWNER, NEXT_OWNED, LAST_OWNED, MUTE, SPLIT = range(9)
MOVES = ("switch", "singletons", "values", "classes", "shapes", "transport")
# rows of State.counts
SWITCH, SINGLETONS, VALUES, CLASS_MOVE, SHAPES, TRANSPORT = range(len(MOVES))


class Features(NamedTuple):
    """A feature is a slot with one class and one owner, each of which has a list of its slots.

    ε exists only where the class separates products of the task: elsewhere it has no effect and is
    integrated out. Values are stored as logarithms, and θ and θ + ε also as numbers, 0 where these
    leave the range of floats.
    """

    people: np.ndarray  # (N, 2) first slot, number of features
    slots: np.ndarray  # (slots, 9)
    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T) θ + ε
    separates: np.ndarray  # (slots, T) int8, whether the class separates products of the task
    # (slots, C) int8, chosen product in the class minus the other in the class
    difference: np.ndarray


class ClassState(NamedTuple):
    """Classes, the features that people own, and the parameters of their values."""

    real: np.ndarray  # (3,) a, sigma, alpha
    whole: np.ndarray  # (8,)
    bits: np.ndarray  # (classes, words)
    classes: np.ndarray  # (classes, 6)
    features: Features
    lapsed: np.ndarray  # (tasks,) int8
    counts: np.ndarray  # (moves, 2) tried, accepted


class UtilitySums(NamedTuple):
    """Differences of utility: row 0 with all features of a person, row 1 without some; row 2 + j of
    the j-th owner of a class, or of the features that follow the j-th of a person."""

    total: np.ndarray  # (rows, C)
    apart: np.ndarray  # (rows, C) how many features separate the two products


class Bounds(NamedTuple):
    """How the value of one feature is bounded in each task of its owner."""

    kind: np.ndarray  # (T,)
    low: np.ndarray  # (T,)
    high: np.ndarray  # (T,)
    bound: np.ndarray  # (T,) tasks where it is bounded


class Backup(NamedTuple):
    """The values restored when a move of all values is rejected."""

    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T)


class Work(NamedTuple):
    """Work space: nothing here outlives a call."""

    order: np.ndarray  # (classes,)
    mine: np.ndarray  # (classes,)
    owned: np.ndarray  # (classes,)
    bits: np.ndarray  # (1, words)
    sums: UtilitySums
    bounds: Bounds
    # (N + 1, C) int8; row 0 of a class not owned, row 1 + j of the j-th owner
    difference: np.ndarray
    separates: np.ndarray  # (N + 1, T) int8
    fit: np.ndarray  # (N,) of the owners
    hit: np.ndarray  # (T,) likelihood of a task
    quantiles: np.ndarray  # (8, QUANTILES + 1)
    kept: Backup


def empty_state(problem: ClassProblem, classes: int = 32, slots: int | None = None) -> ClassState:
    """Nobody owns anything; a and sigma are 2 and .6, alpha as given or 1."""
    people, tasks, comparisons = sizes(problem)
    slots = 8 * people + 2 * classes if slots is None else slots
    alpha = problem.prior[0]
    return ClassState(
        real=np.array([*START, 1.0 if np.isnan(alpha) else alpha]),
        whole=np.array([0, 0, -1, 0, 0, 0, 0, -1], np.int64),
        bits=np.zeros((classes, problem.tasks.rows.shape[1]), np.int64),
        classes=np.full((classes, 6), -1, np.int64),
        features=Features(
            people=np.tile(np.array([-1, 0], np.int64), (people, 1)),
            slots=np.full((slots, 9), -1, np.int64),
            log_theta=np.zeros(slots),
            theta=np.zeros(slots),
            log_eps=np.zeros((slots, tasks)),
            value=np.zeros((slots, tasks)),
            separates=np.zeros((slots, tasks), np.int8),
            difference=np.zeros((slots, comparisons), np.int8),
        ),
        lapsed=np.zeros(problem.n_tasks, np.int8),
        counts=np.zeros((len(MOVES), 2), np.int64),
    )


def workspace(problem: ClassProblem, state: ClassState) -> Work:
    """Work space for one thread; states with more classes or slots than this one need a larger
    one."""
    people, tasks, comparisons = sizes(problem)
    classes = len(state.classes)
    values, rows = state.features.log_eps, max(people, classes) + 2
    return Work(
        order=np.zeros(classes, np.int64),
        mine=np.zeros(classes, np.int64),
        owned=np.zeros(classes, np.int64),
        bits=np.zeros((1, problem.tasks.rows.shape[1]), np.int64),
        sums=UtilitySums(np.zeros((rows, comparisons)), np.zeros((rows, comparisons), np.int64)),
        bounds=Bounds(
            np.zeros(tasks, np.int64), np.zeros(tasks), np.zeros(tasks), np.zeros(tasks, np.int64)
        ),
        difference=np.zeros((people + 1, comparisons), np.int8),
        separates=np.zeros((people + 1, tasks), np.int8),
        fit=np.zeros(people),
        hit=np.zeros(tasks),
        quantiles=np.zeros((8, QUANTILES + 1)),
        kept=Backup(
            np.zeros(len(values)),
            np.zeros(len(values)),
            np.zeros_like(values),
            np.zeros_like(values),
        ),
    )


def sizes(problem: ClassProblem) -> tuple[int, int, int]:
    """People, most tasks of a person, most comparisons of a person."""
    tasks = np.diff(problem.tasks.first_task)
    rows = np.diff(problem.tasks.first_row[problem.tasks.first_task])
    return len(tasks), int(tasks.max(initial=1)), int((rows - tasks).max(initial=1))


def grown(state: ClassState) -> ClassState:
    """The same state with twice the room."""

    def twice(array: Any) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array)])

    features = Features(state.features.people, *map(twice, state.features[1:]))
    features.slots[len(state.features.slots) :] = -1
    return state._replace(bits=twice(state.bits), classes=twice(state.classes), features=features)


def copy_state(state: ClassState) -> ClassState:
    """Return a copy that shares nothing with the state."""
    arrays = {
        name: getattr(state, name).copy() for name in ClassState._fields if name != "features"
    }
    return ClassState(features=Features(*(array.copy() for array in state.features)), **arrays)


# Allocation of features: slots are taken and freed, in the lists of their class and of their owner


@scalar
def has_room(state: Any, n: Any, new: Any) -> Any:
    """Whether there is room for person n to own all classes and this many new ones."""
    classes = state.whole[CLASSES]
    free = state.features.slots.shape[0] - state.whole[TOP] + state.whole[HOLES]
    return classes + new <= state.classes.shape[0] and classes + new <= free


@scalar
def take(state: Any, n: Any, k: Any, sign: Any) -> Any:
    """A slot in which person n owns class k."""
    whole, slots = state.whole, state.features.slots
    f = whole[FREE]
    if f >= 0:
        whole[FREE] = slots[f, NEXT_OWNER]
        whole[HOLES] -= 1
    else:
        f = whole[TOP]
        whole[TOP] += 1
    slots[f, CLASS], slots[f, PERSON], slots[f, SIGN], slots[f, MUTE] = k, n, sign, 0
    link(state, f)
    return f


@scalar
def link(state: Any, f: Any) -> None:
    """Put slot f at the head of both of its lists."""
    slots = state.features.slots
    k, n = slots[f, CLASS], slots[f, PERSON]
    first = state.classes[k, FIRST]
    slots[f, NEXT_OWNER], slots[f, LAST_OWNER] = first, -1
    if first >= 0:
        slots[first, LAST_OWNER] = f
    state.classes[k, FIRST] = f
    first = state.features.people[n, 0]
    slots[f, NEXT_OWNED], slots[f, LAST_OWNED] = first, -1
    if first >= 0:
        slots[first, LAST_OWNED] = f
    state.features.people[n, 0] = f
    state.features.people[n, 1] += 1
    state.classes[k, OWNERS] += 1
    state.classes[k, NEGATIVE] += slots[f, SIGN]


@scalar
def give_back(state: Any, f: Any) -> None:
    """Remove the feature in slot f from its owner; the class stays, even without owners."""
    slots, whole = state.features.slots, state.whole
    k, n = slots[f, CLASS], slots[f, PERSON]
    before, after = slots[f, LAST_OWNER], slots[f, NEXT_OWNER]
    if before >= 0:
        slots[before, NEXT_OWNER] = after
    else:
        state.classes[k, FIRST] = after
    if after >= 0:
        slots[after, LAST_OWNER] = before
    before, after = slots[f, LAST_OWNED], slots[f, NEXT_OWNED]
    if before >= 0:
        slots[before, NEXT_OWNED] = after
    else:
        state.features.people[n, 0] = after
    if after >= 0:
        slots[after, LAST_OWNED] = before
    state.features.people[n, 1] -= 1
    state.classes[k, OWNERS] -= 1
    state.classes[k, NEGATIVE] -= slots[f, SIGN]
    slots[f, PERSON] = -1
    slots[f, NEXT_OWNER] = whole[FREE]
    whole[FREE] = f
    whole[HOLES] += 1


@scalar
def new_class(state: Any, polarity: Any, active: Any, ordered: Any) -> Any:
    """Number of a new class without owners; the caller sets its bits."""
    k = state.whole[CLASSES]
    state.whole[CLASSES] += 1
    row = state.classes
    row[k, POLARITY], row[k, ACTIVE], row[k, ORDERED] = polarity, active, ordered
    row[k, OWNERS], row[k, NEGATIVE], row[k, FIRST] = 0, 0, -1
    return k


@scalar
def drop_class(state: Any, k: Any) -> None:
    """Remove a class without owners; the last class takes its number."""
    last = state.whole[CLASSES] - 1
    state.whole[CLASSES] = last
    if k == last:
        return
    for w in range(state.bits.shape[1]):
        state.bits[k, w] = state.bits[last, w]
    for i in range(state.classes.shape[1]):
        state.classes[k, i] = state.classes[last, i]
    f = state.classes[k, FIRST]
    while f >= 0:
        state.features.slots[f, CLASS] = k
        f = state.features.slots[f, NEXT_OWNER]


@scalar
def gather(state: Any, work: Any, n: Any) -> Any:
    """The slots of person n into work.owned; returns how many."""
    count = 0
    f = state.features.people[n, 0]
    while f >= 0:
        work.owned[count] = f
        count += 1
        f = state.features.slots[f, NEXT_OWNED]
    return count
