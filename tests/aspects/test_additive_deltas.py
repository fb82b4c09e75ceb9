"""Every change of the additive likelihood that a move evaluates equals the difference of two naive evaluations."""

import math
from typing import Any

import numpy as np
import pytest
from problems import build_additive, contents, make_state, random_similarities, unequal

from thali.aspects import operations
from thali.aspects.likelihoods import residuals
from thali.aspects.likelihoods.residuals import CONSTANT, VARIANCE
from thali.aspects.state import clear_row
from thali.compile.jit import kernel, scalar
from thali.testing import naive

pytestmark = pytest.mark.fit

OWN, MEMBER, WEIGHT, COMPENSATED_WEIGHT, COMPENSATED_MEMBER, MIXED, SCALE = range(7)


@scalar
def change(rng, model, c, b, which, i, k, d, commit):
    """Evaluate one change and, if asked to, make it in the cache; returns its delta."""
    likelihood, m = model.likelihood, b.m[k]
    delta = 0.0
    if which == OWN:
        delta = operations.delta_own(likelihood, c, b, i, d, 0.0)
        if commit:
            operations.apply_own(likelihood, c, b, i, d, 0.0)
    elif which == MEMBER:
        delta = operations.delta_member(likelihood, c, b, k, i, d)
        if commit:
            operations.apply_member(likelihood, c, b, k, i, d)
    elif which == WEIGHT:
        delta = operations.delta_weight(likelihood, c, b, k, m, d)
        if commit:
            operations.apply_weight(likelihood, c, b, k, m, d)
    elif which == COMPENSATED_WEIGHT:
        delta = operations.delta_compensated_weight(likelihood, c, b, k, m, d)
        if commit:
            operations.apply_compensated_weight(likelihood, c, b, k, m, d)
    elif which == SCALE:
        operations.apply_scale(likelihood, c, b, d)
    else:
        delta = operations.delta_compensated_member(likelihood, c, b, i, k, d)
        if commit:
            operations.apply_compensated_member(likelihood, c, b, i, k, d)
    return delta


@scalar
def walk_open(rng, model, c, b, k, visits, gains):
    """Toggle these objects of column k in turn, as a flip pass does; what each toggle gains goes into `gains`."""
    operations.open_members(model.likelihood, c, b, k)
    for t in range(visits.shape[0]):
        i = visits[t]
        d = b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]
        gains[t] = operations.delta_joined(model.likelihood, c, b, k, i, d)
        if t % 3 != 2:  # every third is rejected
            operations.apply_joined(model.likelihood, c, b, k, i, d)
            b.m[k] += 1 if d > 0.0 else -1
            b.Z[k, i] = 1.0 - b.Z[k, i]


@kernel
def compiled_change(rng, model, c, b, which, i, k, d, commit):
    return change(rng, model, c, b, which, i, k, d, commit)


@kernel
def compiled_walk(rng, model, c, b, k, visits, gains):
    walk_open(rng, model, c, b, k, visits, gains)


PROBLEMS = [(2, 0.0, False), (5, 0.3, False), (9, 0.0, False), (9, 0.4, False), (21, 0.2, False)]
PROBLEMS += [(5, 0.0, True), (9, 0.4, True)]  # means of unequal numbers of judgements
problems = pytest.mark.parametrize("n, missing, judged", PROBLEMS)
COLUMNS = 4


def problem(n, missing, judged):
    """Data, a state of four random columns, and random numbers."""
    rng = np.random.default_rng(n)
    data = random_similarities(n, n, missing, unequal(n) if judged else None)
    assert bool(missing) == (2 * data.values.size < n * (n - 1))
    model, make = build_additive(data, sigma=0.3)
    state, cache = make_state(model, make, rng.random((n, COLUMNS)) < 0.5, rng.gamma(2.0, 0.1, COLUMNS), np.zeros(n))
    cache.real[:] = 0.2, 0.05
    operations.rebuild(model.likelihood, cache, state)
    return data, model, make, state, cache, rng


def log_likelihood(data, matrix, weights, cache):
    constant, variance = (float(x) for x in cache.real)
    return naive.additive_log_likelihood(data, matrix, weights, constant, math.sqrt(variance))


def check_caches(data, model, make, state, cache):
    """They equal those of a rebuild, and the log-likelihood is the naive one but for its constant."""
    fresh = make(model.likelihood)
    fresh.real[:] = cache.real
    operations.rebuild(model.likelihood, fresh, state)
    assert np.abs(cache.residual - fresh.residual).max() <= 1e-10
    unmeasured = model.likelihood.measured == 0.0
    assert not cache.residual[unmeasured].any()
    left_out = -0.5 * data.values.size * math.log(2.0 * math.pi * model.likelihood.variance)
    left_out += 0.5 * np.log(data.judgements).sum()
    total = operations.log_likelihood(model.likelihood, cache, state) + left_out
    matrix, weights, _ = contents(state)
    assert total == pytest.approx(log_likelihood(data, matrix, weights, cache), rel=1e-10)


@pytest.mark.parametrize("call", [change, compiled_change], ids=["python", "compiled"])
@problems
def test_changes(call, n, missing, judged):
    data, model, make, state, cache, rng = problem(n, missing, judged)
    mixed = state.Z.shape[0] - 1
    for step in range(60):
        which, i, k = step % 7, int(rng.integers(n)), int(rng.integers(COLUMNS))
        matrix, weights, _ = contents(state)
        before = log_likelihood(data, matrix, weights, cache)
        toward = -1.0 if matrix[i, k] else 1.0
        d = toward * weights[k]
        if which in (MEMBER, COMPENSATED_MEMBER):
            matrix[i, k] = not matrix[i, k]
        elif which in (WEIGHT, COMPENSATED_WEIGHT):
            d = (rng.random() - 0.5) * weights[k]
            weights[k] += d
        elif which == MIXED:  # i joins or leaves several columns at once, whose signed sum stands in the scratch row
            chosen = rng.random(COLUMNS) < 0.6
            signs = np.where(matrix[i], -weights, weights) * chosen
            clear_row(state, mixed)
            state.Z[mixed, :n] = matrix @ signs
            matrix[i] ^= chosen
            k, d = mixed, 1.0
        expected = log_likelihood(data, matrix, weights, cache) - before
        assert call(None, model, cache, state, which, i, k, d, True) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        state.Z[:COLUMNS, :n], state.w[:COLUMNS], state.m[:COLUMNS] = matrix.T, weights, matrix.sum(0)
    check_caches(data, model, make, state, cache)


@pytest.mark.parametrize("call", [walk_open, compiled_walk], ids=["python", "compiled"])
@problems
def test_toggles_of_an_open_column(call, n, missing, judged):
    data, model, make, state, cache, rng = problem(n, missing, judged)
    for k in range(COLUMNS):
        matrix, weights, _ = contents(state)
        visits, gains = rng.integers(0, n, 30), np.zeros(30)
        call(None, model, cache, state, k, visits, gains)
        for t, i in enumerate(visits):
            after = matrix.copy()
            after[i, k] = not after[i, k]
            expected = log_likelihood(data, after, weights, cache) - log_likelihood(data, matrix, weights, cache)
            assert gains[t] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            if t % 3 != 2:
                matrix = after
        assert np.array_equal(contents(state)[0], matrix)
        judgements: Any = model.likelihood
        owners = matrix[:, k].astype(float)
        assert np.abs(cache.pull - cache.residual @ owners).max() <= 1e-10
        assert np.array_equal(cache.ties, judgements.measured @ owners)
    check_caches(data, model, make, state, cache)


@problems
def test_the_constant_and_the_variance(n, missing, judged):
    """What draw_constant and draw_variance keep: residuals after a shift, and the sum of their squares."""
    data, model, make, state, cache, _ = problem(n, missing, judged)
    residuals.outer_shift(model.likelihood, cache, 0.07)
    cache.real[CONSTANT] += 0.07
    cache.real[VARIANCE] = 0.011
    check_caches(data, model, make, state, cache)
    assert residuals.outer_sum(cache.residual) == pytest.approx(cache.residual[np.triu_indices(n, 1)].sum())
