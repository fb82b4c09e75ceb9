"""Counts of pairs that come to a chain's cache and leave it: the answers of people whose kind changes."""

from typing import Any

import numpy as np

from thali.compile.jit import scalar
from thali.inference.numerics.logarithm import fast_log

from .pair_blocks import LOGLIK, LOSSES, OTHER, OWN, WIDTH, WINS, first_side, second_side


@scalar
def log_answers(pairs: Any, c: Any, slot: Any) -> Any:
    """log p and log (1 - p) of the pair in that slot, of pairs without ties."""
    v, t = slot // WIDTH, slot % WIDTH
    own = first_side(pairs, c, v, t, c.block[v, OWN + t])
    other = second_side(pairs, c.block[v, OTHER + t])
    share = pairs.scale / (own + other)
    return fast_log(own * share + pairs.base), fast_log(other * share + pairs.base)


@scalar
def add_answers(pairs: Any, c: Any, slot: Any, wins: Any, losses: Any, log_p: Any, log_q: Any) -> None:
    """Add choices of either option of the pair in that slot, with their log probabilities, to both of its copies."""
    v, t = slot // WIDTH, slot % WIDTH
    there = pairs.transposed[v, t]
    block, lane = there // np.uint64(WIDTH), there % np.uint64(WIDTH)
    gain = wins * log_p + losses * log_q
    c.block[v, WINS + t] += wins
    c.block[v, LOSSES + t] += losses
    c.block[v, LOGLIK + t] += gain
    c.block[block, np.uint64(WINS) + lane] += losses
    c.block[block, np.uint64(LOSSES) + lane] += wins
    c.block[block, np.uint64(LOGLIK) + lane] += gain


@scalar
def forget_answers(pairs: Any, c: Any) -> None:
    """Set all counts to 0."""
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            c.block[v, WINS + t] = 0.0
            c.block[v, LOSSES + t] = 0.0
            c.block[v, LOGLIK + t] = 0.0
