"""The constants of a fit: tasks with the chosen product first, the constants of the prior, the target posterior."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import ArgumentError
from thali.inference.numerics.gamma import quantile_table

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

DIRECTIONS = {"increasing": 1, "decreasing": -1, 1: 1, -1: -1}
ALPHA, BETA = range(2)  # in Problem.prior


class Tasks(NamedTuple):
    """The products of every task, the chosen one first; a comparison is one of the others."""

    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    rows: np.ndarray  # (rows, words) bits of the products
    of_comparison: np.ndarray  # (rows - tasks,) task of a comparison, counted from the first of the person


class Problem(NamedTuple):
    """Inside, levels of an attribute with an order run from worst to best.

    Every attribute has one bit a level and one more, set in products that lack it and in classes where it is inactive:
    a product belongs to a class if all its bits are set in the class.
    """

    tasks: Tasks
    n_levels: np.ndarray  # (L,)
    first_bit: np.ndarray  # (L + 1,)
    direction: np.ndarray  # (L,) 0 free, 1 increasing, -1 decreasing in the natural order of the data
    log_choose: np.ndarray  # (L + 1,) ln C(L, c)
    log_sets: np.ndarray  # (L, most levels + 1) ln C(L_i, l)
    prior: np.ndarray  # (2,) alpha, or NaN where it is learned; beta
    harmonic: np.ndarray  # (N + 1,) Σ_{i < n} β / (β + i)
    quantiles: np.ndarray  # of the transport of values, see inference/numerics/gamma_quantiles.py

    @property
    def n_people(self) -> int:
        return len(self.tasks.first_task) - 1

    @property
    def n_tasks(self) -> int:
        return len(self.tasks.first_row) - 1


class Target(NamedTuple):
    """Which posterior: every task hard or a logit, with its own share of choices made at random."""

    delta: np.ndarray  # (tasks,) lapse in [0, 1]; 1 = the task is not in the model yet
    sharpness: np.ndarray  # (tasks,) of the logit; infinite = the best product wins, ties are split evenly
    held: np.ndarray  # (1,) whether a and σ stay as they are


def problem_of(
    data: "ChoiceExperiment | Any",
    monotone: Mapping[str, Any] | None = None,
    alpha: float | None = None,
    beta: float = 1.0,
) -> Problem:
    """The arrays that the sampler reads."""
    n_levels = np.array([len(data.levels[name]) for name in data.attributes], np.int64)
    direction = _directions(tuple(data.attributes), monotone or {})
    for name, value in (("alpha", alpha), ("beta", beta)):
        if value is not None and not 0.0 < value < math.inf:
            raise ArgumentError(f"`{name}` must be a positive number; got {value!r}.")
    # Arrays of their own: those of the data are read-only, for which the kernels would be compiled again.
    first_row = np.array(data.first_row, np.int64)
    first_bit = np.concatenate([[0], np.cumsum(n_levels + 1)]).astype(np.int64)
    n_tasks, size = len(first_row) - 1, len(n_levels)
    n_people = len(data.first_task) - 1
    order = _chosen_first(first_row, np.asarray(data.chosen), n_tasks)
    first_task = np.array(data.first_task, np.int64)
    of_person = np.arange(n_tasks) - np.repeat(first_task[:-1], np.diff(first_task))
    bits = product_bits(np.asarray(data.products), n_levels, direction)
    return Problem(
        tasks=Tasks(
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
            [[math.log(max(1, math.comb(n, c))) for c in range(int(n_levels.max()) + 1)] for n in n_levels.tolist()]
        ),
        prior=np.array([math.nan if alpha is None else alpha, beta], float),
        harmonic=np.concatenate([[0.0], np.cumsum(beta / (beta + np.arange(n_people)))]),
        quantiles=quantile_table(),
    )


def target_of(problem: Problem, delta: float = 0.0, sharpness: Any = math.inf) -> Target:
    """A target with the same lapse and sharpness in all tasks, or with those given task by task."""
    tasks = problem.n_tasks
    return Target(
        np.ascontiguousarray(np.broadcast_to(np.asarray(delta, float), tasks)).copy(),
        np.ascontiguousarray(np.broadcast_to(np.asarray(sharpness, float), tasks)).copy(),
        np.zeros(1, np.bool_),
    )


def product_bits(products: np.ndarray, n_levels: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Bits of products given by natural level codes, -1 = the attribute is missing; shape (products, words)."""
    first = np.concatenate([[0], np.cumsum(n_levels + 1)])
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


def _directions(attributes: tuple[str, ...], monotone: Mapping[str, Any]) -> np.ndarray:
    direction = np.zeros(len(attributes), np.int8)
    for name, word in monotone.items():
        if name not in attributes:
            raise ArgumentError(f"`monotone` names {name!r}, which is not an attribute; there are {list(attributes)}.")
        if word not in DIRECTIONS:
            raise ArgumentError(f"`monotone[{name!r}]` must be 'increasing' or 'decreasing'; got {word!r}.")
        direction[attributes.index(name)] = DIRECTIONS[word]
    return direction
