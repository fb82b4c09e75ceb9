"""Random seeds, and an independent random stream for each chain."""

import json
from typing import Any

import numpy as np

from thali._argument_checks import check_seed

# what users may pass: see `build_seed_sequence`
RandomSeed = int | np.random.SeedSequence | np.random.Generator | None
_LARGEST_POOL = 1 << 10  # words; the default of NumPy is 4


def build_seed_sequence(random_seed: RandomSeed) -> np.random.SeedSequence:
    """Convert `random_seed` (None, int, SeedSequence or Generator) to a SeedSequence."""
    if isinstance(random_seed, np.random.Generator):
        return random_seed.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    if isinstance(random_seed, np.random.SeedSequence):
        # spawning changes a sequence; a fresh copy gives the same streams every time
        return np.random.SeedSequence(random_seed.entropy, spawn_key=random_seed.spawn_key)
    if random_seed is not None:
        random_seed = check_seed("random_seed", random_seed)
    return np.random.SeedSequence(random_seed)


def spawn_generators(random_seed: RandomSeed, n_generators: int) -> list[np.random.Generator]:
    """Return n independent numpy generators derived from one seed.

    The streams depend only on the seed and their position, not on the number of cores.
    """
    return [
        np.random.Generator(np.random.PCG64(seed))
        for seed in build_seed_sequence(random_seed).spawn(n_generators)
    ]


def build_generator(random_seed: RandomSeed) -> np.random.Generator:
    """Return the numpy generator for a seed."""
    return spawn_generators(random_seed, 1)[0]


def encode_seed(seed: np.random.SeedSequence) -> list[Any]:
    """Encode a seed sequence as JSON types."""
    return [
        str(seed.entropy),
        list(map(int, seed.spawn_key)),
        seed.pool_size,
        seed.n_children_spawned,
    ]


def decode_seed(encoded_seed: list[Any]) -> np.random.SeedSequence:
    """Decode a seed sequence from the JSON types of `encode_seed`."""
    entropy, spawn_key, pool_size, n_spawned = encoded_seed
    if pool_size > _LARGEST_POOL:
        raise ValueError("a pool that fills the memory")
    return np.random.SeedSequence(
        json.loads(entropy), spawn_key=spawn_key, pool_size=pool_size, n_children_spawned=n_spawned
    )


def format_seed_setting(seed: RandomSeed) -> dict[str, int]:
    """Return {"random_seed": integer} of a seed sequence; {} if no integer gives it."""
    sequence = build_seed_sequence(seed)
    if isinstance(sequence.entropy, int) and not sequence.spawn_key:
        return {"random_seed": sequence.entropy}
    return {}
