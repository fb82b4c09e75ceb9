"""States of product classes as arrays, and back, to the last bit."""

import numpy as np
from helpers.product_class_cases import TP3

from thali._choice.product_classes.engines.fit import packed_states, unpacked_states
from thali._choice.product_classes.state import (
    ClassState,
    empty_state,
    problem_of,
    target_of,
    workspace,
)
from thali._choice.product_classes.sweep import draw_state, sweep
from thali._inference.arrays import pack_generators, unpack_generators


def test_states_and_streams_are_kept_to_the_last_bit():
    """A state that is written down and read goes on as if nothing had happened, in whatever
    room."""
    problem = problem_of(TP3, {"x0": "increasing"})
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    for rng in rngs[:2]:
        rng.integers(5, dtype=np.int32)  # leaves half of a word behind
    target = target_of(problem, 0.3)
    states = [draw_state(rng, problem) for rng in rngs]
    states = [
        sweep(r, problem, target, s, workspace(problem, s), 30)[0]
        for r, s in zip(rngs, states, strict=True)
    ]
    twins, twin_rngs = (
        unpacked_states(packed_states(states), empty_state(problem)),
        pack_generators(rngs),
    )
    small = unpacked_states(packed_states(states), empty_state(problem, classes=1, slots=2))
    for i, (state, rng) in enumerate(zip(states, rngs, strict=True)):
        ends = []
        for twin, stream in (
            (state, rng),
            *((t[i], unpack_generators(twin_rngs)[i]) for t in (twins, small)),
        ):
            end, _ = sweep(stream, problem, target, twin, workspace(problem, twin), 20)
            ends.append(packed_states([end]) | {"stream": pack_generators([stream])})
        for end in ends[1:]:
            for name in ends[0]:
                # of which more is kept than is read
                if name not in ("state_slots", "state_log_eps", "state_value"):
                    np.testing.assert_array_equal(ends[0][name], end[name], err_msg=name)
    assert isinstance(states[0], ClassState)
