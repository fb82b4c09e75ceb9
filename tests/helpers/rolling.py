"""A small kernel that several processes compile."""

import numpy as np

from thali._compile.jit import kernel
from thali._inference.numerics.discrete_draws import draw_index
from thali.priors import Given

MODEL = Given(np.ones((1, 3))).compiled(1)
RIGHT = int(np.random.default_rng(1).random() * 10)


def roll(rng, model):
    return draw_index(rng, 10)


def rolled():
    """What a kernel does that this process has not used yet, and how often it was loaded instead of
    compiled."""
    fresh = kernel(roll)
    return fresh(np.random.default_rng(1), MODEL), sum(
        fresh.dispatcher(MODEL).stats.cache_hits.values()
    )
