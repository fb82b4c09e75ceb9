"""The state of one particle in arrays that are made once, and the room that a thread works in."""

from typing import NamedTuple

import numpy as np

from thali.product_classes.problem import Problem

A, SIGMA, CONCENTRATION = range(3)  # in State.real
# In State.whole: classes; slots ever used; head of the list of free slots; free slots below the top; people present;
# sweeps done; people visited in this sweep; classes that are to be proposed for the next, -1 = not drawn yet.
CLASSES, TOP, FREE, HOLES, PRESENT, SWEEPS, VISITED, PENDING = range(8)
POLARITY, OWNERS, NEGATIVE, ACTIVE, ORDERED, FIRST = range(6)  # columns of State.classes
# Columns of State.slots; SPLIT is the number of tasks that the class separates, MUTE leaves the feature out of sums.
CLASS, PERSON, SIGN, NEXT_OWNER, LAST_OWNER, NEXT_OWNED, LAST_OWNED, MUTE, SPLIT = range(9)
MOVES = ("switch", "singletons", "values", "classes", "shapes", "transport", "power")
SWITCH, SINGLETONS, VALUES, CLASS_MOVE, SHAPES, TRANSPORT, POWER = range(len(MOVES))  # rows of State.counts


class State(NamedTuple):
    """Classes, the features that people own, and the parameters of their values.

    A feature is a slot: one class, one owner. Both keep lists of their slots. ε exists only where the class separates
    products of the task: elsewhere it touches nothing, and is integrated out. Values are kept as logarithms; beside
    them stand θ and θ + ε as numbers, 0 where these leave the range of floats.
    """

    real: np.ndarray  # (3,) a, sigma, alpha
    whole: np.ndarray  # (8,)
    bits: np.ndarray  # (classes, words)
    classes: np.ndarray  # (classes, 6)
    people: np.ndarray  # (N, 2) first slot, number of features
    slots: np.ndarray  # (slots, 9)
    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T) θ + ε
    separates: np.ndarray  # (slots, T) int8, whether the class separates products of the task
    difference: np.ndarray  # (slots, C) int8, chosen product in the class minus the other in the class
    lapsed: np.ndarray  # (tasks,) int8
    counts: np.ndarray  # (moves, 2) tried, accepted


class Work(NamedTuple):
    """Room to work in: nothing here outlives a call."""

    order: np.ndarray  # (classes,)
    mine: np.ndarray  # (classes,)
    owned: np.ndarray  # (classes,)
    bits: np.ndarray  # (1, words)
    sums: np.ndarray  # (N + 2, C) differences of utility; row 0 with all features, row 1 without some, then one an owner
    apart: np.ndarray  # (N + 2, C) how many features separate the two
    difference: np.ndarray  # (N + 1, C) int8
    separates: np.ndarray  # (N + 1, T) int8
    log_eps: np.ndarray  # (N + 1, T)
    fit: np.ndarray  # (N + 1,)
    kind: np.ndarray  # (T,) how the value is bounded in a task
    low: np.ndarray  # (T,)
    high: np.ndarray  # (T,)
    bound: np.ndarray  # (T,) tasks where it is bounded
    hit: np.ndarray  # (T,) likelihood of a task
    knots: np.ndarray  # (4, knots)
    log_theta: np.ndarray  # (slots,) what is put back when a move of all values is rejected
    theta: np.ndarray  # (slots,)
    all_log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T)


def empty_state(problem: Problem, classes: int = 32, slots: int | None = None) -> State:
    """Nobody owns anything; a and sigma are 2 and .6, alpha as given or 1."""
    people, tasks, comparisons = sizes(problem)
    slots = 8 * people + 2 * classes if slots is None else slots
    alpha = problem.prior[0]
    return State(
        real=np.array([2.0, 0.6, 1.0 if np.isnan(alpha) else alpha]),
        whole=np.array([0, 0, -1, 0, 0, 0, 0, -1], np.int64),
        bits=np.zeros((classes, problem.rows.shape[1]), np.int64),
        classes=np.full((classes, 6), -1, np.int64),
        people=np.tile(np.array([-1, 0], np.int64), (people, 1)),
        slots=np.full((slots, 9), -1, np.int64),
        log_theta=np.zeros(slots),
        theta=np.zeros(slots),
        log_eps=np.zeros((slots, tasks)),
        value=np.zeros((slots, tasks)),
        separates=np.zeros((slots, tasks), np.int8),
        difference=np.zeros((slots, comparisons), np.int8),
        lapsed=np.zeros(len(problem.first_row) - 1, np.int8),
        counts=np.zeros((len(MOVES), 2), np.int64),
    )


def workspace(problem: Problem, state: State) -> Work:
    """Room for one thread; states that were made to hold more classes need a larger one."""
    from thali.product_classes.knots import KNOTS

    people, tasks, comparisons = sizes(problem)
    classes = len(state.classes)
    return Work(
        order=np.zeros(classes, np.int64),
        mine=np.zeros(classes, np.int64),
        owned=np.zeros(classes, np.int64),
        bits=np.zeros((1, problem.rows.shape[1]), np.int64),
        sums=np.zeros((people + 2, comparisons)),
        apart=np.zeros((people + 2, comparisons), np.int64),
        difference=np.zeros((people + 1, comparisons), np.int8),
        separates=np.zeros((people + 1, tasks), np.int8),
        log_eps=np.zeros((people + 1, tasks)),
        fit=np.zeros(people + 1),
        kind=np.zeros(tasks, np.int64),
        low=np.zeros(tasks),
        high=np.zeros(tasks),
        bound=np.zeros(tasks, np.int64),
        hit=np.zeros(tasks),
        knots=np.zeros((4, KNOTS)),
        log_theta=np.zeros_like(state.log_theta),
        theta=np.zeros_like(state.theta),
        all_log_eps=np.zeros_like(state.log_eps),
        value=np.zeros_like(state.value),
    )


def sizes(problem: Problem) -> tuple[int, int, int]:
    """People, most tasks of a person, most comparisons of a person."""
    tasks = np.diff(problem.first_task)
    rows = np.diff(problem.first_row[problem.first_task])
    return len(tasks), int(tasks.max(initial=1)), int((rows - tasks).max(initial=1))


def grown(state: State) -> State:
    """The same state with twice the room."""
    classes, slots = len(state.classes), len(state.slots)

    def larger(name: str, array: np.ndarray) -> np.ndarray:
        if name in ("bits", "classes"):
            extra = classes
        elif name in ("slots", "log_theta", "theta", "log_eps", "value", "separates", "difference"):
            extra = slots
        else:
            return array
        return np.concatenate([array, np.zeros((extra, *array.shape[1:]), array.dtype)])

    return State(*(larger(name, array) for name, array in zip(State._fields, state, strict=True)))


def copy_state(source: State, into: State) -> State:
    """Write one state over another that has at least as much room, and return it; else return a new copy."""
    if len(into.classes) < len(source.classes) or len(into.slots) < len(source.slots):
        return State(*(array.copy() for array in source))
    used = {"bits": source.whole[CLASSES], "classes": source.whole[CLASSES]}
    top = source.whole[TOP]
    for name in ("slots", "log_theta", "theta", "log_eps", "value", "separates", "difference"):
        used[name] = top
    for name, old, new in zip(State._fields, source, into, strict=True):
        end = used.get(name, len(old))
        new[:end] = old[:end]
    return into
