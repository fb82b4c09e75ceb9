"""States of product classes as arrays, and back, to the last bit."""

import numpy as np
from helpers.product_class_cases import TP3

from thali._choice.product_classes.samplers.stored_draws import pack_states, unpack_states
from thali._choice.product_classes.state import (
    ClassState,
    build_class_problem,
    build_empty_state,
    build_target,
    build_workspace,
)
from thali._choice.product_classes.sweep import draw_state, sweep_state
from thali._inference.array_dict_encoding import pack_generators, unpack_generators


def test_states_and_streams_are_kept_to_the_last_bit():
    """A state that is written down and read goes on as if nothing had happened, in whatever
    room."""
    problem = build_class_problem(TP3, {"x0": "increasing"})
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    for rng in rngs[:2]:
        rng.integers(5, dtype=np.int32)  # leaves half of a word behind
    target = build_target(problem, 0.3)
    states = [draw_state(rng, problem) for rng in rngs]
    states = [
        sweep_state(r, problem, target, s, build_workspace(problem, s), 30)[0]
        for r, s in zip(rngs, states, strict=True)
    ]
    twins, twin_rngs = (
        unpack_states(pack_states(states), build_empty_state(problem)),
        pack_generators(rngs),
    )
    small = unpack_states(pack_states(states), build_empty_state(problem, n_classes=1, n_slots=2))
    for i, (state, rng) in enumerate(zip(states, rngs, strict=True)):
        ends = []
        for twin, stream in (
            (state, rng),
            *((t[i], unpack_generators(twin_rngs)[i]) for t in (twins, small)),
        ):
            end, _ = sweep_state(stream, problem, target, twin, build_workspace(problem, twin), 20)
            ends.append(pack_states([end]) | {"stream": pack_generators([stream])})
        for end in ends[1:]:
            for name in ends[0]:
                # of which more is kept than is read
                if name not in ("state_slots", "state_log_eps", "state_value"):
                    np.testing.assert_array_equal(ends[0][name], end[name], err_msg=name)
    assert isinstance(states[0], ClassState)
