"""Where a chain begins: a draw from the prior, or close to one."""

import numpy as np

from thali._jit import scalar
from thali.mcmc.bag import ALPHA, COLUMNS, NO_UNIQUE, ROOM, TOTAL_UNIQUE, Bag, Model, empty_bag
from thali.mcmc.unique import refresh_unique
from thali.mcmc.verbs import log_rate, set_alpha

MOST_OWN = 500  # up to this many options, each begins with columns of its own if it has no unique aspect


def prior_draw(rng: np.random.Generator, model: Model, prior, n: int, alpha: float) -> Bag:
    """A bag drawn from the prior (`prior` is the public object that `model.prior` was compiled from)."""
    matrix = prior.sample(n, alpha, rng)
    if model.unique == NO_UNIQUE and model.lo == 1 and n <= MOST_OWN:
        # A prior draw leaves most pairs undecided, and from there chains need very long to find any structure. With a
        # single column for each option one chain in four still got stuck on real data, with three none of 48.
        matrix = np.hstack([matrix, np.tile(np.eye(n, dtype=bool), 3)])
    weights = rng.gamma(model.shape, 1.0 / model.rate, matrix.shape[1])
    owners = matrix.sum(0)
    kept = np.flatnonzero((owners >= model.lo) & (owners <= model.hi))
    bag = empty_bag(n, 4 * kept.size + 2 * ROOM)
    bag.Z[: kept.size, :n] = matrix[:, kept].T
    bag.w[: kept.size] = weights[kept]
    bag.m[: kept.size] = owners[kept]
    bag.whole[COLUMNS] = kept.size
    bag.real[ALPHA] = alpha
    if model.unique != NO_UNIQUE:
        bag.s[:n] = rng.gamma(model.shape, 1.0 / model.rate, n)
    if model.unique == TOTAL_UNIQUE:
        alone = owners == 1
        bag.s[:n] += matrix[:, alone] @ weights[alone]
    return bag


@scalar
def prepare(model, b):
    """Everything in the bag that follows from the columns, their weights and alpha."""
    set_alpha(model.prior, b, b.real[ALPHA])
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])
    refresh_unique(model, b)
