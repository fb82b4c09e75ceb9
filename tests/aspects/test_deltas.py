"""Every change of the likelihood that a move evaluates equals the difference of two naive evaluations."""

import numpy as np
import pytest
from elimination_changes import (
    COMPENSATED_MEMBER,
    COMPENSATED_WEIGHT,
    MEMBER,
    OWN,
    SCALE,
    WEIGHT,
    change,
    changed,
    write_back,
)
from problems import FIXED_UNIQUE, NO_UNIQUE, build, contents, make_state, random_comparisons, with_ties
from scipy.special import i0e

from thali.aspects import operations
from thali.aspects.likelihoods.pair_blocks import LOGLIK, TIE
from thali.aspects.likelihoods.pair_blocks import OTHER as OTHER_SIDE
from thali.aspects.likelihoods.pair_blocks import OWN as OWN_SIDE
from thali.aspects.moves.unique_weights import log_i0
from thali.compile.jit import kernel
from thali.inference.numerics.logarithm import fast_log
from thali.testing import naive


@kernel
def compiled_change(rng, model, c, b, which, i, k, d, commit):
    return change(rng, model, c, b, which, i, k, d, commit)


@pytest.mark.fit
@pytest.mark.parametrize("call", [change, compiled_change], ids=["python", "compiled"])
@pytest.mark.parametrize("n, missing", [(2, 0.0), (5, 0.3), (9, 0.0), (21, 0.2)])
@pytest.mark.parametrize("lapse", [0.0, 0.01])
def test_changes_of_elimination(call, n, missing, lapse):
    rng = np.random.default_rng(n)
    data = random_comparisons(n, n, missing=missing)
    model, make = build(data, lapse=lapse, unique=FIXED_UNIQUE)
    columns = 4
    matrix = rng.random((n, columns)) < 0.5
    state, cache = make_state(model, make, matrix, rng.gamma(2.0, size=columns), 3.0 + rng.random(n))
    for _ in range(60):
        which, i, k = int(rng.integers(6)), int(rng.integers(n)), int(rng.integers(columns))
        before = contents(state)
        matrix, weights, unique = before
        toward = -1.0 if matrix[i, k] else 1.0
        d = {
            OWN: (rng.random() - 0.5) * unique[i],
            MEMBER: toward * weights[k],
            WEIGHT: (rng.random() - 0.5) * weights[k],
            COMPENSATED_MEMBER: toward * weights[k],
            COMPENSATED_WEIGHT: (rng.random() - 0.5) * min(weights[k], 1.0),
            SCALE: 0.8 + 0.4 * rng.random(),
        }[which]
        after = changed(which, *before, i, k, d)
        if after[2].min() <= 0.0:
            continue
        expected = naive.log_likelihood(data, *after, lapse) - naive.log_likelihood(data, *before, lapse)
        assert call(None, model, cache, state, which, i, k, d, True) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        write_back(state, *after)
    fresh = make(model.likelihood)
    operations.rebuild(model.likelihood, fresh, state)
    real = model.likelihood.neighbour.ravel() < n
    for field in (OWN_SIDE, OTHER_SIDE, LOGLIK):
        kept = cache.block[:, field : field + 8].ravel()[real]
        assert kept == pytest.approx(fresh.block[:, field : field + 8].ravel()[real], rel=1e-9, abs=1e-9)
    total = operations.log_likelihood(model.likelihood, cache, state)
    assert total == pytest.approx(naive.log_likelihood(data, *contents(state), lapse), rel=1e-10)


@pytest.mark.parametrize("unique", [FIXED_UNIQUE, NO_UNIQUE])
def test_changes_of_elimination_with_ties(unique):
    rng, lapse, n, columns = np.random.default_rng(3), 0.02, 5, 4
    data = with_ties(random_comparisons(n, n), 7)
    model, make = build(data, lapse=lapse, unique=unique)
    own = np.zeros(n) if unique == NO_UNIQUE else 3.0 + rng.random(n)
    state, cache = make_state(model, make, rng.random((n, columns)) < 0.5, rng.gamma(2.0, size=columns), own)
    cache.real[TIE] = tie = 0.7
    operations.rebuild(model.likelihood, cache, state)
    for _ in range(40):
        which, i, k = int(rng.choice([MEMBER, WEIGHT, SCALE])), int(rng.integers(n)), int(rng.integers(columns))
        before = contents(state)
        move = (rng.random() - 0.5) * state.w[k]
        d = {MEMBER: -state.w[k] if state.Z[k, i] else state.w[k], WEIGHT: move, SCALE: 0.8 + 0.4 * rng.random()}[which]
        after = changed(which, *before, i, k, d)
        expected = naive.log_likelihood(data, *after, lapse, tie) - naive.log_likelihood(data, *before, lapse, tie)
        assert change(None, model, cache, state, which, i, k, d, True) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        write_back(state, *after)
    total = operations.log_likelihood(model.likelihood, cache, state)
    assert total == pytest.approx(naive.log_likelihood(data, *contents(state), lapse, tie), rel=1e-10)


def test_without_unique_aspects_two_empty_sides_are_chosen_equally_often():
    data = random_comparisons(4, 4)
    model, make = build(data, unique=NO_UNIQUE)
    matrix = np.array([[1, 0], [1, 0], [0, 0], [0, 0]], bool)
    state, cache = make_state(model, make, matrix, [0.7, 1.1], np.zeros(4))
    for k, i in [(1, 2), (1, 3), (0, 0), (0, 1), (1, 2), (1, 3)]:  # in the end nobody owns anything
        before = contents(state)
        d = state.w[k] if state.Z[k, i] == 0.0 else -state.w[k]
        after = changed(MEMBER, *before, i, k, d)
        expected = naive.log_likelihood(data, *after, 0.01) - naive.log_likelihood(data, *before, 0.01)
        assert change(None, model, cache, state, MEMBER, i, k, d, True) == pytest.approx(
            expected, abs=1e-5
        )  # counts times 1e-9 / weight / lapse
        write_back(state, *after)
    assert not state.Z.any()
    total = operations.log_likelihood(model.likelihood, cache, state)
    assert total == pytest.approx(data.n_comparisons * np.log(0.5), rel=1e-12)


def test_a_real_valued_row_pools_several_columns():
    n = 6
    rng = np.random.default_rng(1)
    data = random_comparisons(n, 1)
    model, make = build(data)
    matrix = rng.random((n, 3)) < 0.5
    matrix[2] = False
    state, cache = make_state(model, make, matrix, [0.5, 0.7, 0.2], 3.0 + rng.random(n))
    before = contents(state)
    after = before[0].copy(), before[1], before[2].copy()
    after[0][2, :2] = True
    after[2][2] -= 1.2
    state.Z[-1, :-1] = matrix[:, :2] @ [0.5, 0.7]
    expected = naive.log_likelihood(data, *after, 0.01) - naive.log_likelihood(data, *before, 0.01)
    assert operations.delta_compensated_member(
        model.likelihood, cache, state, 2, state.Z.shape[0] - 1, 1.0
    ) == pytest.approx(expected, rel=1e-9)


def test_fast_logarithm():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 2001), 1.0 + np.linspace(-0.3, 0.5, 2001), [1.0, 0.5, 2.0]])
    ours = np.array([fast_log(v) for v in x])
    assert np.abs(ours - np.log(x)).max() <= 2e-13  # at |log x| = 690 a float is 1.1e-13 from the next
    near = np.abs(np.log(x)) < 1
    assert np.abs(ours - np.log(x))[near].max() <= 2e-14


def test_log_bessel():
    v = np.concatenate([[0.0], np.geomspace(1e-12, 1e8, 4001)])
    x = 2.0 * np.sqrt(v)
    exact = np.log(i0e(x)) + x
    assert np.abs(np.array([log_i0(u) for u in v]) - exact).max() < 5e-7  # 1.9e-7 on values of at least 0.3989
