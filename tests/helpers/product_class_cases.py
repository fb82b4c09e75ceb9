"""Small choice experiments with known answers, and what stands in for a data object in tests of the
sampler."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from helpers.product_class_joint import average
from thali._choice.product_classes.likelihood import log_likelihood
from thali._choice.product_classes.state import build_target, build_workspace
from thali._choice.product_classes.sweep import draw_state


@dataclass
class Experiment:
    """What `build_class_problem` reads of a ChoiceExperiment; products are rows of level codes, -1 =
    missing."""

    n_levels: list[int]
    # of each person, of each task: products and the chosen one
    people: list[list[tuple[list[tuple[int, ...]], int]]]
    attributes: tuple[str, ...] = ()
    levels: dict = field(default_factory=dict)

    def __post_init__(self):
        self.attributes = tuple(f"x{i}" for i in range(len(self.n_levels)))
        self.levels = {
            a: tuple(map(str, range(n)))
            for a, n in zip(self.attributes, self.n_levels, strict=True)
        }
        tasks = [task for person in self.people for task in person]
        self.first_task = np.concatenate([[0], np.cumsum([len(p) for p in self.people])])
        self.first_row = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in tasks])])
        self.chosen = np.array([chosen for _, chosen in tasks])
        rows = np.array([row for products, _ in tasks for row in products], np.int64)
        for array in (self.first_task, self.first_row):
            # as those of a ChoiceExperiment, so that no kernel is compiled twice
            array.flags.writeable = False
        self.products, inverse = np.unique(rows, axis=0, return_inverse=True)
        self.row_product = inverse.ravel()


NONE = (-1, -1)
TP1 = Experiment(
    [2, 3],
    [
        [([(0, 0), (1, 1), (0, 2)], 0), ([(1, 0), (0, 1), (1, 2)], 0)],
        [([(0, 1), (1, 0), (1, 2)], 0), ([(0, 0), (0, 1), (1, 2)], 0)],
    ],
)
TP2 = Experiment([3], [[([(0,), (1,)], 0)], [([(0,), (1,), (2,)], 1)]])
TP3 = Experiment(
    [3, 2],
    [[([(2, 0), (0, 1)], 0), ([(1, 1), NONE], 1)], [([(1, 0), (2, 0)], 0), ([(2, 1), (0, 0)], 0)]],
)


def random_experiment(
    seed: int, n_levels, tasks_of_people, n_products=3, *, missing: Any = 0.0
) -> Experiment:
    """Random products, the first of every task chosen; `missing`: the share that lacks an
    attribute, or all shares."""
    rng = np.random.default_rng(seed)

    shares = np.broadcast_to(missing, len(n_levels))

    def product():
        return tuple(
            -1 if rng.random() < s else int(rng.integers(n))
            for n, s in zip(n_levels, shares, strict=True)
        )

    return Experiment(
        list(n_levels),
        [
            [([product() for _ in range(n_products)], 0) for _ in range(tasks)]
            for tasks in tasks_of_people
        ],
    )


def unpacked(problem, state):
    """The classes and the features of every person, as the naive model has them; ε that does not
    exist is NaN."""
    from helpers.naive.product_classes import Feature, Lambda
    from thali._choice.product_classes.state import (
        CLASS,
        CLASSES,
        NEXT_OWNED,
        POLARITY,
        PRESENT,
        SIGN,
    )

    def levels(k, i):
        places = range(problem.first_bit[i], problem.first_bit[i + 1])
        *inside, inactive = ((int(state.bits[k, b >> 6]) >> (b & 63)) & 1 for b in places)
        return None if inactive else frozenset(level for level, x in enumerate(inside) if x)

    classes = [
        Lambda(
            tuple(levels(k, i) for i in range(len(problem.n_levels))),
            int(state.classes[k, POLARITY]),
        )
        for k in range(state.whole[CLASSES])
    ]
    people, features = [], state.features
    for n in range(state.whole[PRESENT]):
        own, f = [], features.respondents[n, 0]
        tasks = problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]
        while f >= 0:
            eps = np.where(features.separates[f, :tasks] != 0, features.log_eps[f, :tasks], np.nan)
            own.append(
                Feature(
                    int(features.slots[f, CLASS]),
                    int(features.slots[f, SIGN]),
                    features.log_theta[f],
                    list(eps),
                )
            )
            f = features.slots[f, NEXT_OWNED]
        people.append(own)
    return classes, people


def worst_to_best(problem, products):
    """Level codes as the sampler orders them."""
    codes = np.where(problem.direction < 0, problem.n_levels - 1 - np.asarray(products), products)
    return np.where(np.asarray(products) < 0, -1, codes)


def possible_state(rng, problem, target, people):
    """A state under which every choice is possible, found by sweeps with a lapse that rises and
    falls."""
    state = draw_state(rng, problem, n_people=people, shapes_from_prior=True)
    for lapse in [0.3, 0.05, 0.01] * 1000:
        if math.isfinite(log_likelihood(problem, target, state, build_workspace(problem, state))):
            return state
        eased = build_target(problem, np.maximum(target.delta, lapse))
        state = average(rng, problem, eased, state, iterations=5)[1]
    raise AssertionError("no state found under which every choice is possible")
