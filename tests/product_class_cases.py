"""Small choice experiments with known answers, and what stands in for a data object in tests of the sampler."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Experiment:
    """What `problem_of` reads of a ChoiceExperiment; products are rows of level codes, -1 = missing."""

    n_levels: list[int]
    people: list[list[tuple[list[tuple[int, ...]], int]]]  # of each person, of each task: products and the chosen one
    attributes: tuple[str, ...] = ()
    levels: dict = field(default_factory=dict)

    def __post_init__(self):
        self.attributes = tuple(f"x{i}" for i in range(len(self.n_levels)))
        self.levels = {a: tuple(map(str, range(n))) for a, n in zip(self.attributes, self.n_levels, strict=True)}
        tasks = [task for person in self.people for task in person]
        self.first_task = np.concatenate([[0], np.cumsum([len(p) for p in self.people])])
        self.first_row = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in tasks])])
        self.chosen = np.array([chosen for _, chosen in tasks])
        rows = np.array([row for products, _ in tasks for row in products], np.int64)
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
    [
        [([(2, 0), (0, 1)], 0), ([(1, 1), NONE], 1)],
        [([(1, 0), (2, 0)], 0), ([(2, 1), (0, 0)], 0)],
    ],
)
