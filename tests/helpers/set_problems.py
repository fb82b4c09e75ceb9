"""Choices out of sets that several tests share."""

from itertools import combinations

import numpy as np
import pandas as pd

from thali import Choices


def choices_of(sets: dict, labels) -> Choices:
    """Choices from {members: counts}, as a long table."""
    rows = []
    for members, counts in sets.items():
        for winner, times in zip(members, counts, strict=True):
            if times:
                occasion = f"{members}{winner}"
                rows += [(occasion, x, int(x == winner), times) for x in members]
    frame = pd.DataFrame(rows, columns=["choice_id", "alternative", "chosen", "count"])
    return Choices(frame, labels=labels)


def random_choices(n: int, sizes, seed: int, most: int = 4, kept: float = 1.0) -> Choices:
    """Random counts for a share of all sets of these sizes."""
    rng = np.random.default_rng(seed)
    labels = [str(k) for k in range(n)]
    sets = {}
    for size in sizes:
        for members in combinations(labels, size):
            counts = rng.integers(0, most + 1, size)
            if rng.random() < kept and counts.any():
                sets[members] = counts
    return choices_of(sets, labels)


TRIPLE = {("1", "2", "3"): (3, 1, 2), ("1", "2"): (2, 1), ("1", "3"): (1, 2), ("2", "3"): (2, 0)}
