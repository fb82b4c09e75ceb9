"""One seed, one independent random stream a chain."""

import numpy as np

from thali.errors import ArgumentError


def streams(random_seed, count: int) -> list[np.random.Generator]:
    """`count` independent generators from one seed (None, a whole number, a SeedSequence or a Generator).

    The streams depend on the seed and their position alone, not on how many cores run them.
    """
    if isinstance(random_seed, np.random.Generator):
        return list(random_seed.spawn(count))
    if isinstance(random_seed, np.random.SeedSequence):
        # spawning changes a sequence; a fresh copy gives the same streams every time
        source = np.random.SeedSequence(random_seed.entropy, spawn_key=random_seed.spawn_key)
    elif random_seed is None or (isinstance(random_seed, int | np.integer) and random_seed >= 0):
        source = np.random.SeedSequence(random_seed)
    else:
        raise ArgumentError(f"random_seed must be a whole number of 0 or more; got {random_seed!r}.")
    return [np.random.Generator(np.random.PCG64(child)) for child in source.spawn(count)]
