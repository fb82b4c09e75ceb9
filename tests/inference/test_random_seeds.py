"""Streams of one seed, and of the sequences that it spawns."""

import numpy as np

from thali._inference.random_seeds import spawn_generators


def test_spawned_sequences_have_streams_of_their_own_each_time_the_same():
    first, second = np.random.SeedSequence(7).spawn(2)
    drawn = [
        [rng.random() for rng in spawn_generators(seed, 2)] for seed in (7, first, second, first)
    ]
    assert len({*drawn[0], *drawn[1], *drawn[2]}) == 6 and drawn[3] == drawn[1]
