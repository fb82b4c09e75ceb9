"""One seed, one independent random stream a chain."""

import numpy as np

from thali.errors import ArgumentError


def root(random_seed) -> np.random.SeedSequence:
    """The sequence behind a seed: None, a whole number of 0 or more, a SeedSequence or a Generator."""
    if isinstance(random_seed, np.random.Generator):
        return random_seed.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    if isinstance(random_seed, np.random.SeedSequence):
        # spawning changes a sequence; a fresh copy gives the same streams every time
        return np.random.SeedSequence(random_seed.entropy, spawn_key=random_seed.spawn_key)
    if random_seed is None or (isinstance(random_seed, int | np.integer) and random_seed >= 0):
        return np.random.SeedSequence(None if random_seed is None else int(random_seed))
    raise ArgumentError(f"random_seed must be a whole number of 0 or more; got {random_seed!r}.")


def streams(random_seed, count: int) -> list[np.random.Generator]:
    """`count` independent generators from one seed.

    The streams depend on the seed and their position alone, not on how many cores run them.
    """
    return [np.random.Generator(np.random.PCG64(seed)) for seed in root(random_seed).spawn(count)]
