"""Every change of the additive likelihood that a move evaluates equals the difference of two naive evaluations."""

import math
from typing import Any

import numpy as np
import pytest
from problems import build_additive, contents, random_similarities, state, unequal

from thali._jit import kernel, scalar
from thali.likelihoods import residuals
from thali.likelihoods.residuals import CONSTANT, VARIANCE
from thali.mcmc import verbs
from thali.mcmc.bag import clear_row
from thali.testing import naive

OWN, MEMBER, WEIGHT, CARVE, POOL, MIXED, SCALE = range(7)


@scalar
def change(rng, model, c, b, which, i, k, d, commit):
    """Evaluate one change and, if asked to, make it in the cache; returns its delta."""
    likelihood, m = model.likelihood, b.m[k]
    delta = 0.0
    if which == OWN:
        delta = verbs.delta_own(likelihood, c, b, i, d, 0.0)
        if commit:
            verbs.apply_own(likelihood, c, b, i, d, 0.0)
    elif which == MEMBER:
        delta = verbs.delta_member(likelihood, c, b, k, i, d)
        if commit:
            verbs.apply_member(likelihood, c, b, k, i, d)
    elif which == WEIGHT:
        delta = verbs.delta_weight(likelihood, c, b, k, m, d)
        if commit:
            verbs.apply_weight(likelihood, c, b, k, m, d)
    elif which == CARVE:
        delta = verbs.delta_carve(likelihood, c, b, k, m, d)
        if commit:
            verbs.apply_carve(likelihood, c, b, k, m, d)
    elif which == SCALE:
        verbs.apply_scale(likelihood, c, b, d)
    else:
        delta = verbs.delta_pool(likelihood, c, b, i, k, d)
        if commit:
            verbs.apply_pool(likelihood, c, b, i, k, d)
    return delta


@scalar
def walk_open(rng, model, c, b, k, visits, gains):
    """Toggle these objects of column k in turn, as a flip pass does; what each toggle gains goes into `gains`."""
    verbs.open_members(model.likelihood, c, b, k)
    for t in range(visits.shape[0]):
        i = visits[t]
        d = b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]
        gains[t] = verbs.delta_joined(model.likelihood, c, b, k, i, d)
        if t % 3 != 2:  # every third is rejected
            verbs.apply_joined(model.likelihood, c, b, k, i, d)
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
    bag, cache = state(model, make, rng.random((n, COLUMNS)) < 0.5, rng.gamma(2.0, 0.1, COLUMNS), np.zeros(n))
    cache.real[:] = 0.2, 0.05
    verbs.rebuild(model.likelihood, cache, bag)
    return data, model, make, bag, cache, rng


def log_likelihood(data, matrix, weights, cache):
    constant, variance = (float(x) for x in cache.real)
    return naive.additive_log_likelihood(data, matrix, weights, constant, math.sqrt(variance))


def check_caches(data, model, make, bag, cache):
    """They equal those of a rebuild, and the log-likelihood is the naive one but for its constant."""
    fresh = make(model.likelihood)
    fresh.real[:] = cache.real
    verbs.rebuild(model.likelihood, fresh, bag)
    assert np.abs(cache.residual - fresh.residual).max() <= 1e-10
    unmeasured = model.likelihood.measured == 0.0
    assert not cache.residual[unmeasured].any()
    left_out = -0.5 * data.values.size * math.log(2.0 * math.pi * model.likelihood.variance)
    left_out += 0.5 * np.log(data.judgements).sum()
    total = verbs.log_likelihood(model.likelihood, cache, bag) + left_out
    matrix, weights, _ = contents(bag)
    assert total == pytest.approx(log_likelihood(data, matrix, weights, cache), rel=1e-10)


@pytest.mark.parametrize("call", [change, compiled_change], ids=["python", "compiled"])
@problems
def test_changes(call, n, missing, judged):
    data, model, make, bag, cache, rng = problem(n, missing, judged)
    mixed = bag.Z.shape[0] - 1
    for step in range(60):
        which, i, k = step % 7, int(rng.integers(n)), int(rng.integers(COLUMNS))
        matrix, weights, _ = contents(bag)
        before = log_likelihood(data, matrix, weights, cache)
        toward = -1.0 if matrix[i, k] else 1.0
        d = toward * weights[k]
        if which in (MEMBER, POOL):
            matrix[i, k] = not matrix[i, k]
        elif which in (WEIGHT, CARVE):
            d = (rng.random() - 0.5) * weights[k]
            weights[k] += d
        elif which == MIXED:  # i joins or leaves several columns at once, whose signed sum stands in the scratch row
            chosen = rng.random(COLUMNS) < 0.6
            signs = np.where(matrix[i], -weights, weights) * chosen
            clear_row(bag, mixed)
            bag.Z[mixed, :n] = matrix @ signs
            matrix[i] ^= chosen
            k, d = mixed, 1.0
        expected = log_likelihood(data, matrix, weights, cache) - before
        assert call(None, model, cache, bag, which, i, k, d, True) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        bag.Z[:COLUMNS, :n], bag.w[:COLUMNS], bag.m[:COLUMNS] = matrix.T, weights, matrix.sum(0)
    check_caches(data, model, make, bag, cache)


@pytest.mark.parametrize("call", [walk_open, compiled_walk], ids=["python", "compiled"])
@problems
def test_toggles_of_an_open_column(call, n, missing, judged):
    data, model, make, bag, cache, rng = problem(n, missing, judged)
    for k in range(COLUMNS):
        matrix, weights, _ = contents(bag)
        visits, gains = rng.integers(0, n, 30), np.zeros(30)
        call(None, model, cache, bag, k, visits, gains)
        for t, i in enumerate(visits):
            after = matrix.copy()
            after[i, k] = not after[i, k]
            expected = log_likelihood(data, after, weights, cache) - log_likelihood(data, matrix, weights, cache)
            assert gains[t] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            if t % 3 != 2:
                matrix = after
        assert np.array_equal(contents(bag)[0], matrix)
        judgements: Any = model.likelihood
        owners = matrix[:, k].astype(float)
        assert np.abs(cache.pull - cache.residual @ owners).max() <= 1e-10
        assert np.array_equal(cache.ties, judgements.measured @ owners)
    check_caches(data, model, make, bag, cache)


@problems
def test_the_constant_and_the_variance(n, missing, judged):
    """What draw_constant and draw_variance keep: residuals after a shift, and the sum of their squares."""
    data, model, make, bag, cache, _ = problem(n, missing, judged)
    residuals.outer_shift(model.likelihood, cache, 0.07)
    cache.real[CONSTANT] += 0.07
    cache.real[VARIANCE] = 0.011
    check_caches(data, model, make, bag, cache)
    assert residuals.outer_sum(cache.residual) == pytest.approx(cache.residual[np.triu_indices(n, 1)].sum())
