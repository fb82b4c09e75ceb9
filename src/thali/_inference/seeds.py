"""One seed, and an independent random stream for each chain."""

import json
from typing import Any

import numpy as np

from thali._arguments import seed_number

_LARGEST_POOL = 1 << 10  # words; NumPy's are of 4


def root(random_seed: Any) -> np.random.SeedSequence:
    """The sequence behind a seed: None, a whole number of 0 or more, a SeedSequence or a
    Generator."""
    if isinstance(random_seed, np.random.Generator):
        return random_seed.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    if isinstance(random_seed, np.random.SeedSequence):
        # spawning changes a sequence; a fresh copy gives the same streams every time
        return np.random.SeedSequence(random_seed.entropy, spawn_key=random_seed.spawn_key)
    return np.random.SeedSequence(
        None if random_seed is None else seed_number("random_seed", random_seed)
    )


def streams(random_seed: Any, count: int) -> list[np.random.Generator]:
    """`count` independent generators from one seed.

    The streams depend only on the seed and their position, not on the number of cores.
    """
    return [np.random.Generator(np.random.PCG64(seed)) for seed in root(random_seed).spawn(count)]


def seed_as_json(seed: np.random.SeedSequence) -> list[Any]:
    """A sequence as JSON can hold it."""
    return [
        str(seed.entropy),
        list(map(int, seed.spawn_key)),
        seed.pool_size,
        seed.n_children_spawned,
    ]


def seed_of_json(held: list[Any]) -> np.random.SeedSequence:
    """The sequence that `seed_as_json` was given."""
    entropy, key, size, spawned = held
    if size > _LARGEST_POOL:
        raise ValueError("a pool that fills the memory")
    entropy = int(entropy) if entropy.isdigit() else json.loads(entropy)
    return np.random.SeedSequence(
        entropy, spawn_key=key, pool_size=size, n_children_spawned=spawned
    )


def seed_setting(seed: Any) -> dict[str, int]:
    """The argument that gives this sequence again, if a number does."""
    sequence = root(seed)
    return (
        {"random_seed": sequence.entropy}
        if isinstance(sequence.entropy, int) and not sequence.spawn_key
        else {}
    )
