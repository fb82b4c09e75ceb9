"""Data, state and scratch arrays of the sampler of product classes."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.index_arithmetic import part_bounds, part_indices
from thali._inference.numerics.gamma_distribution import QUANTILES, quantile_table

from ..logit_likelihood import encode_directions

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment


# The constants of a fit: tasks with the chosen product first, the constants of the prior, the
# target posterior


ALPHA, BETA = range(2)  # in Problem.prior
EDITS, EXCHANGES = range(2)  # in Problem.proposals
# with this many respondents classes have many owners, who seldom accept a change: propose more
MANY_RESPONDENTS = 30
FEW_PROPOSALS = (3, 0)
MANY_PROPOSALS = (6, 6)


class ComparedProducts(NamedTuple):
    """Products of every task as bits, the chosen one first."""

    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    rows: np.ndarray  # (rows, words) bits of the products


class ClassProblem(NamedTuple):
    """Data and prior of a fit of product classes as kernels read them.

    Every attribute has one bit per level and one more, which is set in products that lack the
    attribute and in classes where it is inactive. A product belongs to a class if all its bits are
    set in the class.
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
    quantiles: np.ndarray  # of the transport of values, see `numerics/gamma_distribution.py`
    lacking: np.ndarray  # (L,) bool, whether some product lacks the attribute
    # (2,) per class and sweep: edits of one attribute, exchanges of two
    proposals: np.ndarray

    @property
    def n_people(self) -> int:
        """Number of respondents N."""
        return len(self.tasks.first_task) - 1

    @property
    def n_tasks(self) -> int:
        """Number of tasks of all respondents."""
        return len(self.tasks.first_row) - 1


class PosteriorTarget(NamedTuple):
    """A tempered posterior, given by the lapse rate of every task."""

    delta: np.ndarray  # (tasks,) lapse in [0, 1]; 1 = the task is not in the model yet
    fixes_shapes: np.ndarray  # (1,) bool, whether a and σ are fixed


def build_class_problem(
    data: "ChoiceExperiment | Any",
    monotone: Mapping[str, str] | None = None,
    alpha: float | None = None,
    beta: float = 1.0,
) -> ClassProblem:
    """Return data and prior as the arrays that kernels read."""
    n_levels = np.array([len(data.levels[name]) for name in data.attributes], np.int64)
    direction = encode_directions(monotone or {}, data.attributes)
    if alpha is None:
        alpha = math.nan
    # Copies, because kernels would be compiled again for the read-only arrays of the data.
    first_row = np.array(data.first_row, np.int64)
    first_bit = part_bounds(n_levels + 1)
    n_tasks = len(first_row) - 1
    n_attributes = len(n_levels)
    n_people = len(data.first_task) - 1
    row_order = _order_rows(first_row, np.asarray(data.chosen), n_tasks)
    first_task = np.array(data.first_task, np.int64)
    product_bits = encode_product_bits(np.asarray(data.products), n_levels, direction)
    n_proposals = FEW_PROPOSALS
    if n_people >= MANY_RESPONDENTS:
        n_proposals = MANY_PROPOSALS
    return ClassProblem(
        tasks=ComparedProducts(
            first_task=first_task,
            first_row=first_row,
            rows=np.ascontiguousarray(product_bits[np.asarray(data.row_product)[row_order]]),
        ),
        n_levels=n_levels,
        first_bit=first_bit,
        direction=direction,
        log_choose=np.array(
            [math.log(math.comb(n_attributes, c)) for c in range(n_attributes + 1)]
        ),
        log_sets=np.array(
            [
                [math.log(max(1, math.comb(n, c))) for c in range(int(n_levels.max()) + 1)]
                for n in n_levels.tolist()
            ]
        ),
        prior=np.array([alpha, beta], float),
        harmonic=np.concatenate([[0.0], np.cumsum(beta / (beta + np.arange(n_people)))]),
        quantiles=quantile_table(),
        lacking=np.asarray((np.asarray(data.products) < 0).any(axis=0)),
        proposals=np.array(n_proposals, np.int64),
    )


def build_target(problem: ClassProblem, delta: np.ndarray | float = 0.0) -> PosteriorTarget:
    """Return the posterior with this lapse rate, or one per task."""
    return PosteriorTarget(
        np.array(np.broadcast_to(delta, problem.n_tasks), float), np.zeros(1, np.bool_)
    )


def encode_product_bits(
    products: np.ndarray, n_levels: np.ndarray, direction: np.ndarray
) -> np.ndarray:
    """Return the levels of products as bits, shape (products, words).

    Level codes have the natural order of the data; -1 marks a missing attribute.
    """
    first_bit = part_bounds(n_levels + 1)
    ordered_levels = np.where(direction < 0, n_levels - 1 - products, products)
    bit_of_level = first_bit[:-1] + np.where(products < 0, n_levels, ordered_levels)
    bit_words = np.zeros((len(products), int(-(-first_bit[-1] // 64))), np.int64)
    product_indices = np.arange(len(products))
    for attribute_bits in bit_of_level.T:
        np.bitwise_or.at(
            bit_words, (product_indices, attribute_bits >> 6), np.int64(1) << (attribute_bits & 63)
        )
    return bit_words


def _order_rows(first_row: np.ndarray, chosen: np.ndarray, n_tasks: int) -> np.ndarray:
    """Return row indices task by task, the chosen row first in each."""
    task_of_row = part_indices(first_row)
    row_indices = np.arange(first_row[-1])
    is_chosen = row_indices == (first_row[:-1] + chosen)[task_of_row]
    return np.lexsort((row_indices, ~is_chosen, task_of_row))


A, SIGMA, CONCENTRATION = range(3)  # in ClassState.real
DEFAULT_SHAPES = (2.0, 0.6)  # a and σ unless they are drawn from their prior
# In ClassState.whole: classes; slots ever used; head of the list of free slots; free slots below
# the top; respondents present; sweeps done; respondents updated in this sweep; new classes to
# propose for the next respondent, -1 = not drawn yet.
CLASSES, TOP, FREE, HOLES, PRESENT, SWEEPS, VISITED, PENDING = range(8)
POLARITY, OWNERS, NEGATIVE, ACTIVE, ORDERED, FIRST = range(6)  # columns of ClassState.classes
# Columns of OwnedFeatures.slots; SPLIT is the number of tasks that the class separates, MUTE
# excludes the feature from sums.
CLASS, PERSON, SIGN, NEXT_OWNER, LAST_OWNER, NEXT_OWNED, LAST_OWNED, MUTE, SPLIT = range(9)
MOVES = ("switch", "singletons", "values", "classes", "shapes", "transport")
# rows of ClassState.counts
SWITCH, SINGLETONS, VALUES, CLASS_MOVE, SHAPES, TRANSPORT = range(len(MOVES))


class OwnedFeatures(NamedTuple):
    """Features, each a class owned by one respondent with its values, in linked lists.

    ε exists only where the class separates products of the task: elsewhere it has no effect and is
    integrated out. Values are stored as logarithms, and θ and θ + ε also as numbers, 0 where these
    leave the range of floats.
    """

    respondents: np.ndarray  # (N, 2) first slot, number of features
    slots: np.ndarray  # (slots, 9)
    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T) θ + ε
    separates: np.ndarray  # (slots, T) int8, whether the class separates products of the task
    # (slots, C) int8, chosen product in the class minus the other in the class
    difference: np.ndarray


class ClassState(NamedTuple):
    """State of a chain or particle: classes, owners, values and parameters."""

    real: np.ndarray  # (3,) a, sigma, alpha
    whole: np.ndarray  # (8,)
    bits: np.ndarray  # (classes, words)
    classes: np.ndarray  # (classes, 6)
    features: OwnedFeatures
    lapsed: np.ndarray  # (tasks,) int8
    counts: np.ndarray  # (moves, 2) tried, accepted


class UtilitySums(NamedTuple):
    """Utility differences between the chosen product and the others, for one person.

    Row 0 sums all features of a respondent, and row 1 all but some. Row 2 + j belongs to the j-th
    owner of a class, or sums the features after the j-th feature of a respondent.
    """

    total: np.ndarray  # (rows, C)
    apart: np.ndarray  # (rows, C) how many features separate the two products


class ValueBounds(NamedTuple):
    """Bounds on a feature's value in each task of its owner."""

    kind: np.ndarray  # (T,)
    low: np.ndarray  # (T,)
    high: np.ndarray  # (T,)
    bound: np.ndarray  # (T,) tasks where it is bounded


class ValueBackup(NamedTuple):
    """Copies of all values, restored if a move is rejected."""

    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T)


class ClassWorkspace(NamedTuple):
    """Scratch arrays that one thread reuses for all of its particles."""

    order: np.ndarray  # (classes,)
    class_slots: np.ndarray  # (classes,) slot of the respondent for each class, or -1
    owned: np.ndarray  # (classes,) slots of the respondent
    bits: np.ndarray  # (1, words)
    sums: UtilitySums
    bounds: ValueBounds
    # (N + 1, C) int8; row 0 of a class not owned, row 1 + j of the j-th owner
    difference: np.ndarray
    separates: np.ndarray  # (N + 1, T) int8
    fit: np.ndarray  # (N,) log-likelihoods of the owners
    hit: np.ndarray  # (T,) likelihood of a task
    quantiles: np.ndarray  # (8, QUANTILES + 1)
    kept: ValueBackup


def build_empty_state(
    problem: ClassProblem, n_classes: int = 32, n_slots: int | None = None
) -> ClassState:
    """Return a state without respondents, with a = 2 and sigma = 0.6."""
    n_people, n_tasks, n_comparisons = compute_sizes(problem)
    n_slots = n_slots or 8 * n_people + 2 * n_classes
    alpha = np.nan_to_num(problem.prior[ALPHA], nan=1.0)
    return ClassState(
        real=np.array([*DEFAULT_SHAPES, alpha]),
        whole=np.array([0, 0, -1, 0, 0, 0, 0, -1], np.int64),
        bits=np.zeros((n_classes, problem.tasks.rows.shape[1]), np.int64),
        classes=np.full((n_classes, 6), -1, np.int64),
        features=OwnedFeatures(
            respondents=np.tile(np.array([-1, 0], np.int64), (n_people, 1)),
            slots=np.full((n_slots, 9), -1, np.int64),
            log_theta=np.zeros(n_slots),
            theta=np.zeros(n_slots),
            log_eps=np.zeros((n_slots, n_tasks)),
            value=np.zeros((n_slots, n_tasks)),
            separates=np.zeros((n_slots, n_tasks), np.int8),
            difference=np.zeros((n_slots, n_comparisons), np.int8),
        ),
        lapsed=np.zeros(problem.n_tasks, np.int8),
        counts=np.zeros((len(MOVES), 2), np.int64),
    )


def build_workspace(problem: ClassProblem, state: ClassState) -> ClassWorkspace:
    """Allocate scratch arrays for states up to this size."""
    n_people, n_tasks, n_comparisons = compute_sizes(problem)
    n_classes = len(state.classes)
    log_eps = state.features.log_eps
    n_rows = max(n_people, n_classes) + 2
    return ClassWorkspace(
        order=np.zeros(n_classes, np.int64),
        class_slots=np.zeros(n_classes, np.int64),
        owned=np.zeros(n_classes, np.int64),
        bits=np.zeros((1, problem.tasks.rows.shape[1]), np.int64),
        sums=UtilitySums(
            np.zeros((n_rows, n_comparisons)), np.zeros((n_rows, n_comparisons), np.int64)
        ),
        bounds=ValueBounds(
            np.zeros(n_tasks, np.int64),
            np.zeros(n_tasks),
            np.zeros(n_tasks),
            np.zeros(n_tasks, np.int64),
        ),
        difference=np.zeros((n_people + 1, n_comparisons), np.int8),
        separates=np.zeros((n_people + 1, n_tasks), np.int8),
        fit=np.zeros(n_people),
        hit=np.zeros(n_tasks),
        quantiles=np.zeros((8, QUANTILES + 1)),
        kept=ValueBackup(
            np.zeros(len(log_eps)),
            np.zeros(len(log_eps)),
            np.zeros_like(log_eps),
            np.zeros_like(log_eps),
        ),
    )


def compute_sizes(problem: ClassProblem) -> tuple[int, int, int]:
    """Return numbers of respondents, and most tasks and comparisons of one."""
    task_counts = np.diff(problem.tasks.first_task)
    row_counts = np.diff(problem.tasks.first_row[problem.tasks.first_task])
    return (
        len(task_counts),
        int(task_counts.max(initial=1)),
        int((row_counts - task_counts).max(initial=1)),
    )


def double_capacity(state: ClassState) -> ClassState:
    """Return the state with twice the room for classes and features."""

    def double_length(array: np.ndarray) -> np.ndarray:
        """Return the array with twice the length."""
        return np.concatenate([array, np.zeros_like(array)])

    features = OwnedFeatures(state.features.respondents, *map(double_length, state.features[1:]))
    features.slots[len(state.features.slots) :] = -1
    return state._replace(
        bits=double_length(state.bits), classes=double_length(state.classes), features=features
    )


def copy_state(state: ClassState) -> ClassState:
    """Return a copy that shares no array with the state."""
    copied_arrays = {
        name: getattr(state, name).copy() for name in ClassState._fields if name != "features"
    }
    return ClassState(
        features=OwnedFeatures(*(array.copy() for array in state.features)), **copied_arrays
    )


# Allocation of features: slots in the lists of their class and of their owner ---------------------


@scalar
def has_room(state: Any, new: Any) -> Any:
    """Return whether a respondent can own all classes and `new` more."""
    classes = state.whole[CLASSES]
    free = state.features.slots.shape[0] - state.whole[TOP] + state.whole[HOLES]
    return classes + new <= state.classes.shape[0] and classes + new <= free


@scalar
def allocate_feature(state: Any, n: Any, k: Any, sign: Any) -> Any:
    """Make respondent n an owner of class k; return the new feature's slot."""
    integers, slots = state.whole, state.features.slots
    f = integers[FREE]
    if f >= 0:
        integers[FREE] = slots[f, NEXT_OWNER]
        integers[HOLES] -= 1
    else:
        f = integers[TOP]
        integers[TOP] += 1
    slots[f, CLASS], slots[f, PERSON], slots[f, SIGN], slots[f, MUTE] = k, n, sign, 0
    link_feature(state, f)
    return f


@scalar
def link_feature(state: Any, f: Any) -> None:
    """Insert slot f at the head of its owner's and its class's list."""
    slots = state.features.slots
    k, n = slots[f, CLASS], slots[f, PERSON]
    old_head = state.classes[k, FIRST]
    slots[f, NEXT_OWNER], slots[f, LAST_OWNER] = old_head, -1
    if old_head >= 0:
        slots[old_head, LAST_OWNER] = f
    state.classes[k, FIRST] = f
    old_head = state.features.respondents[n, 0]
    slots[f, NEXT_OWNED], slots[f, LAST_OWNED] = old_head, -1
    if old_head >= 0:
        slots[old_head, LAST_OWNED] = f
    state.features.respondents[n, 0] = f
    state.features.respondents[n, 1] += 1
    state.classes[k, OWNERS] += 1
    state.classes[k, NEGATIVE] += slots[f, SIGN]


@scalar
def free_feature(state: Any, f: Any) -> None:
    """Remove feature f from its owner and its class; the class remains."""
    slots, integers = state.features.slots, state.whole
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
        state.features.respondents[n, 0] = after
    if after >= 0:
        slots[after, LAST_OWNED] = before
    state.features.respondents[n, 1] -= 1
    state.classes[k, OWNERS] -= 1
    state.classes[k, NEGATIVE] -= slots[f, SIGN]
    slots[f, PERSON] = -1
    slots[f, NEXT_OWNER] = integers[FREE]
    integers[FREE] = f
    integers[HOLES] += 1


@scalar
def append_class(state: Any, polarity: Any, active: Any, ordered: Any) -> Any:
    """Append a class without owners and return its index."""
    k = state.whole[CLASSES]
    state.whole[CLASSES] += 1
    row = state.classes
    row[k, POLARITY], row[k, ACTIVE], row[k, ORDERED] = polarity, active, ordered
    row[k, OWNERS], row[k, NEGATIVE], row[k, FIRST] = 0, 0, -1
    return k


@scalar
def remove_class(state: Any, k: Any) -> None:
    """Remove class k, which has no owners; the last class takes its index."""
    last_class = state.whole[CLASSES] - 1
    state.whole[CLASSES] = last_class
    if k == last_class:
        return
    for w in range(state.bits.shape[1]):
        state.bits[k, w] = state.bits[last_class, w]
    for i in range(state.classes.shape[1]):
        state.classes[k, i] = state.classes[last_class, i]
    f = state.classes[k, FIRST]
    while f >= 0:
        state.features.slots[f, CLASS] = k
        f = state.features.slots[f, NEXT_OWNER]


@scalar
def collect_owned_slots(state: Any, work: Any, n: Any) -> Any:
    """List the feature slots of respondent n; return their number."""
    count = 0
    f = state.features.respondents[n, 0]
    while f >= 0:
        work.owned[count] = f
        count += 1
        f = state.features.slots[f, NEXT_OWNED]
    return count
