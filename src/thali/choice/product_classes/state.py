"""The state of one particle in arrays that are allocated once, and the work space of a thread."""

from typing import Any, NamedTuple

import numpy as np

from thali.inference.numerics.gamma import QUANTILES

from .problem import Problem

A, SIGMA, CONCENTRATION = range(3)  # in State.real
START = (2.0, 0.6)  # a and σ where they are not drawn from their prior
# In State.whole: classes; slots ever used; head of the list of free slots; free slots below the top; people present;
# sweeps done; people visited in this sweep; classes to be proposed for the next person, -1 = not drawn yet.
CLASSES, TOP, FREE, HOLES, PRESENT, SWEEPS, VISITED, PENDING = range(8)
POLARITY, OWNERS, NEGATIVE, ACTIVE, ORDERED, FIRST = range(6)  # columns of State.classes
# Columns of Features.slots; SPLIT is the number of tasks that the class separates, MUTE leaves the feature out of sums.
CLASS, PERSON, SIGN, NEXT_OWNER, LAST_OWNER, NEXT_OWNED, LAST_OWNED, MUTE, SPLIT = range(9)
MOVES = ("switch", "singletons", "values", "classes", "shapes", "transport")
SWITCH, SINGLETONS, VALUES, CLASS_MOVE, SHAPES, TRANSPORT = range(len(MOVES))  # rows of State.counts


class Features(NamedTuple):
    """A feature is a slot with one class and one owner, each of which has a list of its slots.

    ε exists only where the class separates products of the task: elsewhere it has no effect and is integrated out.
    Values are stored as logarithms, and θ and θ + ε also as numbers, 0 where these leave the range of floats.
    """

    people: np.ndarray  # (N, 2) first slot, number of features
    slots: np.ndarray  # (slots, 9)
    log_theta: np.ndarray  # (slots,)
    theta: np.ndarray  # (slots,)
    log_eps: np.ndarray  # (slots, T)
    value: np.ndarray  # (slots, T) θ + ε
    separates: np.ndarray  # (slots, T) int8, whether the class separates products of the task
    difference: np.ndarray  # (slots, C) int8, chosen product in the class minus the other in the class


class State(NamedTuple):
    """Classes, the features that people own, and the parameters of their values."""

    real: np.ndarray  # (3,) a, sigma, alpha
    whole: np.ndarray  # (8,)
    bits: np.ndarray  # (classes, words)
    classes: np.ndarray  # (classes, 6)
    features: Features
    lapsed: np.ndarray  # (tasks,) int8
    counts: np.ndarray  # (moves, 2) tried, accepted


class Sums(NamedTuple):
    """Differences of utility: row 0 with all features of a person, row 1 without some; row 2 + j of the j-th owner of a
    class, or of the features that follow the j-th of a person."""

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
    sums: Sums
    bounds: Bounds
    difference: np.ndarray  # (N + 1, C) int8; row 0 of a class not owned, row 1 + j of the j-th owner
    separates: np.ndarray  # (N + 1, T) int8
    log_eps: np.ndarray  # (N + 1, T)
    fit: np.ndarray  # (N,) of the owners
    hit: np.ndarray  # (T,) likelihood of a task
    quantiles: np.ndarray  # (8, QUANTILES + 1)
    kept: Backup


def empty_state(problem: Problem, classes: int = 32, slots: int | None = None) -> State:
    """Nobody owns anything; a and sigma are 2 and .6, alpha as given or 1."""
    people, tasks, comparisons = sizes(problem)
    slots = 8 * people + 2 * classes if slots is None else slots
    alpha = problem.prior[0]
    return State(
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


def workspace(problem: Problem, state: State) -> Work:
    """Work space for one thread; states with more classes or slots than this one need a larger one."""
    people, tasks, comparisons = sizes(problem)
    classes = len(state.classes)
    values, rows = state.features.log_eps, max(people, classes) + 2
    return Work(
        order=np.zeros(classes, np.int64),
        mine=np.zeros(classes, np.int64),
        owned=np.zeros(classes, np.int64),
        bits=np.zeros((1, problem.tasks.rows.shape[1]), np.int64),
        sums=Sums(np.zeros((rows, comparisons)), np.zeros((rows, comparisons), np.int64)),
        bounds=Bounds(np.zeros(tasks, np.int64), np.zeros(tasks), np.zeros(tasks), np.zeros(tasks, np.int64)),
        difference=np.zeros((people + 1, comparisons), np.int8),
        separates=np.zeros((people + 1, tasks), np.int8),
        log_eps=np.zeros((people + 1, tasks)),
        fit=np.zeros(people),
        hit=np.zeros(tasks),
        quantiles=np.zeros((8, QUANTILES + 1)),
        kept=Backup(np.zeros(len(values)), np.zeros(len(values)), np.zeros_like(values), np.zeros_like(values)),
    )


def sizes(problem: Problem) -> tuple[int, int, int]:
    """People, most tasks of a person, most comparisons of a person."""
    tasks = np.diff(problem.tasks.first_task)
    rows = np.diff(problem.tasks.first_row[problem.tasks.first_task])
    return len(tasks), int(tasks.max(initial=1)), int((rows - tasks).max(initial=1))


def grown(state: State) -> State:
    """The same state with twice the room."""

    def twice(array: Any) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array)])

    features = Features(state.features.people, *map(twice, state.features[1:]))
    features.slots[len(state.features.slots) :] = -1
    return state._replace(bits=twice(state.bits), classes=twice(state.classes), features=features)


def copy_state(source: State, into: State | None = None) -> State:
    """Write one state over another that has at least as much room, and return it; else return a new copy."""
    if into is None or any(len(new) < len(old) for old, new in zip(_flat(source), _flat(into), strict=True)):
        return source._replace(
            **{name: getattr(source, name).copy() for name in State._fields if name != "features"},
            features=Features(*(array.copy() for array in source.features)),
        )
    classes, top = source.whole[CLASSES], source.whole[TOP]
    used = [len(source.real), len(source.whole), classes, classes, len(source.features.people)]
    used += [top] * (len(Features._fields) - 1) + [len(source.lapsed), len(source.counts)]
    for end, old, new in zip(used, _flat(source), _flat(into), strict=True):
        new[:end] = old[:end]
    return into


def _flat(state: State) -> list[np.ndarray]:
    return [*state[:4], *state.features, *state[5:]]
