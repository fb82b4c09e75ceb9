"""How many sweeps lie between two draws: as many as nearby states remember, seen in the first sweeps of tuning."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from thali.posterior.summary import convergence

from ..state import ALPHA, COLUMNS, FULL, NO_UNIQUE

SWEEPS = 400  # of a pilot
DROPPED = 100  # of these, at the start, which come from the prior
MAX_PAIRS = 32  # of options that are looked at


def pairs_of(n: int) -> np.ndarray:
    """Neighbouring options, evenly spread, shape (2, pairs)."""
    first = np.unique(np.linspace(0, n - 1, min(n, MAX_PAIRS)).astype(int))
    return np.array([first, (first + 1) % n])


def looked_at(model: Any, b: Any, pairs: np.ndarray) -> np.ndarray:
    """What is seen of a state: number of features, ln alpha, and of each pair its choice probability or overlap."""
    columns, (i, j) = int(b.whole[COLUMNS]), pairs
    Z, w = b.Z[:columns], b.w[:columns]
    shared = w @ (Z[:, i] * Z[:, j])
    if model.unique != NO_UNIQUE:
        own_i, own_j = w @ Z[:, i] + b.s[i] - shared, w @ Z[:, j] + b.s[j] - shared
        shared = own_i / (own_i + own_j)
    number = columns + b.whole[FULL] + b.singles.sum()
    return np.array([number, math.log(b.real[ALPHA]) if b.real[ALPHA] > 0 else 0.0, *shared])


def thin_for(seen: Sequence[np.ndarray], most: int) -> int:
    """Sweeps after which the slowest of what was seen is nearly forgotten: its integrated autocorrelation time.

    Parameters
    ----------
    seen : arrays (sweeps, quantities)
        Of each chain.
    most : int
        The largest answer.
    """
    draws = np.moveaxis(np.stack([each[DROPPED:] for each in seen]), 2, 0)
    ess = convergence(draws)[0]
    times = draws[0].size / ess[np.isfinite(ess)]
    return int(np.clip(math.ceil(times.max()), 1, most)) if times.size else most
