"""What the speed rests on. These tests would notice its loss on any machine: they compare, they do
not time."""

import math
import platform
import re

import numpy as np
import pytest
from helpers.cpu_time import time_ratio
from helpers.problems import build, make_state, random_comparisons
from numba import config, njit

import thali as th
import thali._aspects.samplers.default_sweeps as recommended
from thali._aspects import kernel_operations
from thali._aspects.likelihoods.pair_blocks import (
    LOGLIK,
    LOSSES,
    MIN_WEIGHT,
    WEIGHT_I,
    WEIGHT_J,
    WIDTH,
    WINS,
)
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task
from thali._compile.jit import kernel, vectorised


@vectorised
def plain_row_delta(pairs, c, b, i, d):
    """`row_delta` for a change of the own side, with the mathematical library's logarithm."""
    total = 0.0
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(WIDTH):
            own = max(c.block[v, WEIGHT_I + t] + d, MIN_WEIGHT)
            other = max(c.block[v, WEIGHT_J + t], MIN_WEIGHT)
            share = pairs.scale / (own + other)
            term = c.block[v, WINS + t] * math.log(own * share + pairs.base)
            term += c.block[v, LOSSES + t] * math.log(other * share + pairs.base)
            total += term - c.block[v, LOGLIK + t]
    return total


@kernel
def all_rows(rng, model, c, b, rounds):
    total = 0.0
    for r in range(rounds):
        for i in range(b.Z.shape[1] - 1):
            total += kernel_operations.delta_unique(model.likelihood, c, b, i, 1e-3 * (r % 7))
    return total


@kernel
def all_rows_plain(rng, model, c, b, rounds):
    total = 0.0
    for r in range(rounds):
        for i in range(b.Z.shape[1] - 1):
            total += plain_row_delta(model.likelihood, c, b, i, 1e-3 * (r % 7))
    return total


@pytest.mark.first(1)
@pytest.mark.skipif(
    config.CPU_NAME == "generic", reason="the logarithm is fast where several are taken at once"
)
@pytest.mark.parametrize("n", [9, 105])
def test_a_likelihood_term_takes_less_than_half_of_what_it_takes_with_the_library_logarithm(n):
    model, make = build(random_comparisons(n, 1, most=50))
    state, cache = make_state(model, make, np.ones((n, 1)), [1.0], np.ones(n))
    rounds = 400_000 // (n * n)
    fast = all_rows(None, model, cache, state, rounds)
    assert fast == pytest.approx(all_rows_plain(None, model, cache, state, rounds), rel=1e-9)
    ratio = time_ratio(
        lambda: all_rows(None, model, cache, state, rounds),
        lambda: all_rows_plain(None, model, cache, state, rounds),
    )
    assert ratio <= 0.5


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="knows the instruction of x86-64 only"
)
@pytest.mark.long
def test_the_compiled_sweep_counts_no_references():
    data = random_comparisons(3, 1)
    settings = {"weight_prior": (1.0, 1.0), "alpha": None, "draws": 1, "tune": 1, "thin": 1}
    task = build_task(th.priors.IndianBuffet(), th.likelihoods.Elimination(), data, **settings)
    FeatureChain(task, np.random.default_rng(1)).run_until(1)
    used = recommended.sweep_infinite.dispatcher(task.model)
    assert used.targetoptions.get("_nrt") is False
    # code that was loaded from disk cannot be inspected, so it is compiled once more
    options = {name: value for name, value in used.targetoptions.items() if name != "nopython"}
    fresh = njit(**options)(recommended.sweep_infinite.python)
    fresh.compile(used.signatures[0])
    code = "".join(fresh.inspect_asm().values())
    assert code.count("\n") > 10_000
    assert not re.search(r"^\s+lock\b", code, re.MULTILINE)
