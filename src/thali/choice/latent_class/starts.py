"""The best maximum of many starts, and how often it was found."""

from typing import Any, NamedTuple

import numpy as np

from thali.inference.seeds import streams

from ..logit import ascend
from .climb import Summit, by_size, climb
from .panel import Panel

SAME = 0.01  # log-likelihoods closer than this are one maximum
ENOUGH = 3  # times that the best maximum is to be found
_FEWEST, MOST = 4, 40  # starts for each class at least, and in all at most, where their number is not given
_RIDGE = 1.0  # precision of the tastes of the one person at whom a class begins


class Best(NamedTuple):
    """The best maximum."""

    summit: Summit
    starts: int
    times_found: int


def best_of_starts(panel: Panel, number: int, starts: int | None, random_seed: Any) -> Best:
    """The best maximum with so many classes; where `starts` is None, start until it was found three times."""
    if number == 1:
        return Best(climb(panel, np.zeros((1, panel.tasks.matrix.shape[1]))), 1, 1)
    best, values = None, []
    for rng in streams(random_seed, MOST if starts is None else starts):
        found = climb(panel, _start(panel, number, rng))
        values.append(found.where.value)
        if best is None or found.where.value > best.where.value:
            best = found
        if starts is None and len(values) >= _FEWEST * number and _times_found(values) >= ENOUGH:
            break
    assert best is not None
    return Best(by_size(panel, best), len(values), _times_found(values))


def _times_found(values: list[float]) -> int:
    return int((np.array(values) > max(values) - SAME).sum())


def _start(panel: Panel, number: int, rng: np.random.Generator) -> np.ndarray:
    """The tastes of as many random people, shape (K, p)."""
    chosen = rng.choice(panel.people, number, replace=False)
    return np.stack([ascend(panel.of(np.arange(panel.people) == person).tasks, _RIDGE).beta for person in chosen])
