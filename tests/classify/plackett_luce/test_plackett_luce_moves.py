"""Every move of the sampler of Plackett–Luce regression leaves its target invariant."""

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plackett_luce_cases import exponential, scaled, tiny
from scipy import special, stats

from thali._classify.plackett_luce.chain_state import (
    LOG_A,
    LOG_LIKELIHOOD,
    LOG_MASS,
    WeightPrior,
    build_weight_state,
    compute_scores,
    find_opposite_columns,
    normalise_weights,
    sort_rows_by_class,
)
from thali._classify.plackett_luce.latent_variable_draws import (
    draw_latent_variables,
    draw_shape_given_latent,
    draw_shape_given_weights,
    propose_mirror_move,
    redraw_columns,
)
from thali._classify.plackett_luce.markov_chain import compute_weight_potential, start_motion
from thali._classify.plackett_luce.weight_proposals import (
    GAIN,
    GAIN_OTHER,
    NEW,
    NEW_OTHER,
    evaluate_trial,
    exchange_columns,
    find_smallest_score,
    redraw_weight,
)
from thali._compile.jit import compiled
from thali._inference.numerics.gamma_distribution import draw_log_gamma
from thali._testing import exact


def log_likelihood(W, codes, weights):
    scores = W @ weights.T
    return float(np.log(scores[np.arange(len(codes)), codes] / scores.sum(axis=1)).sum())


def start_state(W, codes, n_classes, seed=0, spread=1.0):
    rows = sort_rows_by_class(W, codes, n_classes)
    logs = spread * np.random.default_rng(seed).standard_normal((n_classes, W.shape[1]))
    state = build_weight_state(logs, math.log(0.3), rows)
    state.real[LOG_LIKELIHOOD] = compute_scores(
        rows, state.weights, state.totals, state.class_scores, state.total_scores
    )
    return rows, state


def build_small_problem():
    """Build a problem of few rows, so that no trial is rejected with certainty."""
    return scaled(exponential([-1.4, -0.1, 0.9])), np.array([0, 1, 1])


def weights_key(state):
    return tuple(np.round(state.log_weights, 8).ravel())


def check_scores(rows, state):
    T, S = np.zeros_like(state.class_scores), np.zeros_like(state.total_scores)
    log_likelihood = compute_scores(rows, state.weights, state.weights.sum(axis=0), T, S)
    assert state.real[LOG_LIKELIHOOD] == pytest.approx(log_likelihood, rel=1e-9)
    assert state.class_scores == pytest.approx(T, rel=1e-9)
    assert state.total_scores == pytest.approx(S, rel=1e-9)
    assert state.weights == pytest.approx(np.exp(state.log_weights), rel=1e-9)
    assert state.weights.sum() == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("a", [0.05, 0.3, 2.0])
def test_exchange_is_exact(a):
    """The products λ c of a class are permuted: 36 states, all with their exact probabilities."""
    W, codes = build_small_problem()
    rows, state = start_state(W, codes, 2)

    state.real[LOG_A] = math.log(a)

    def step(rng, s):
        exchange_columns(rng, rows, s)

    def target(s):
        check_scores(rows, s)
        weights = np.exp(s.log_weights)
        return log_likelihood(W, codes, weights) + 6 * a * math.log(
            float((weights * rows.mean).sum())
        )

    assert exact.invariance_error(step, state, weights_key, target) < 1e-12


def test_mirror_is_exact():
    W, codes = build_small_problem()
    rows, state = start_state(W, codes, 2)
    assert rows.opposite.tolist() == [1, 0, 2]

    def step(rng, s):
        propose_mirror_move(rng, rows, s)

    def target(s):
        check_scores(rows, s)
        return log_likelihood(W, codes, np.exp(s.log_weights))

    assert exact.invariance_error(step, state, weights_key, target) < 1e-12


def test_scan_of_columns_is_exact():
    """All 81 divisions of four rows among three columns."""
    W = scaled(exponential([-1.4, -0.1, 0.9, 0.2]))
    codes, a = np.array([0, 1, 1, 0]), 0.3
    rows, state = start_state(W, codes, 2)
    of_row = {}  # place in the blocks -> row
    for k in range(2):
        for place, row in enumerate(np.flatnonzero(codes == k)):
            of_row[k, place] = row
            state.counts[k, state.columns[k, place]] += 1
    state.log_rate[:] = [0.7, -0.2, 0.4]
    state.real[LOG_A] = math.log(a)
    small_state = SimpleNamespace(columns=state.columns, counts=state.counts)

    def step(rng, s):
        redraw_columns(rng, rows, state._replace(columns=s.columns, counts=s.counts))

    def key(s):
        return tuple(int(s.columns[place]) for place in of_row)

    def target(s):
        total = 0.0
        counts = np.zeros((2, 3))
        for place, row in of_row.items():
            total += math.log(W[row, s.columns[place]])
            counts[place[0], s.columns[place]] += 1
        assert (counts == s.counts).all()
        return total + float((special.gammaln(a + counts) - (a + counts) * state.log_rate).sum())

    assert exact.invariance_error(step, small_state, key, target) < 1e-12


@compiled
def _draw_latent_variables(rng, rows, state, repeats, chosen, times):
    for i in range(repeats):
        draw_latent_variables(rng, rows, state)
        chosen[i] = state.columns[1, 2]
        times[i] = state.times[1, 2]


def test_latent_variables_have_their_distribution():
    W, codes, K = tiny()
    rows, state = start_state(W, codes, K)
    repeats = 20_000
    chosen, times = np.zeros(repeats, np.int64), np.zeros(repeats)
    _draw_latent_variables(np.random.default_rng(1), rows, state, repeats, chosen, times)
    row = np.flatnonzero(codes == 1)[2]
    pull = W[row] * state.weights[1]
    assert (
        stats.chisquare(np.bincount(chosen, minlength=3), repeats * pull / pull.sum()).pvalue > 1e-4
    )
    assert stats.kstest(times, "expon", args=(0, 1 / (W[row] @ state.totals))).pvalue > 1e-4
    counts, s = np.zeros((2, 3)), np.zeros(3)
    for k, place in product(range(2), range(3)):
        counts[k, state.columns[k, place]] += 1
        s += state.times[k, place] * W[np.flatnonzero(codes == k)[place]]
    assert (state.counts == counts).all()
    assert state.s == pytest.approx(s, rel=1e-12)


# The moves of a, against the distribution function on a fine grid

LOW, HIGH = math.log(1e-3), math.log(1e2)
COUNTS = np.array([[3, 0, 1], [0, 0, 12]])
LOG_RATE = np.array([0.3, 1.2, 2.5])
LOG_WEIGHTS = np.array([[-30.0, -1.2, -5.0], [-0.5, -14.0, -2.4]])


@compiled
def _draw_shapes(rng, kind, starts, prior, state, out):
    for i in range(starts.size):
        state.real[LOG_A] = starts[i]
        if kind == 0:
            draw_shape_given_latent(rng, prior, state)
        else:
            draw_shape_given_weights(rng, prior, state)
        out[i] = state.real[LOG_A]


def _log_target(kind, x):
    """ln of the density of ln a."""
    a, size = np.exp(x), COUNTS.size
    if kind == 0:
        cells = special.gammaln(a[:, None] + COUNTS.ravel()) - special.gammaln(a[:, None])
        return cells.sum(axis=1) + a * 2 * (0.1 - LOG_RATE).sum()
    return special.gammaln(size * a) - size * special.gammaln(a) + a * LOG_WEIGHTS.sum()


@pytest.mark.long
@pytest.mark.parametrize("kind", [0, 1])
def test_moves_of_the_shape(kind):
    """Exact draws of a, moved once, are exact draws still; and they have moved."""
    grid = np.linspace(LOW, HIGH, 400_001)
    density = np.exp(_log_target(kind, grid) - _log_target(kind, grid).max())
    cdf = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    cdf /= cdf[-1]
    rng = np.random.default_rng(4)
    starts = np.interp(rng.random(200_000), cdf, grid)
    out = np.empty_like(starts)
    _, state = start_state(scaled(np.ones((2, 3))), np.array([0, 1]), 2)
    state = state._replace(counts=COUNTS, log_rate=LOG_RATE, log_weights=LOG_WEIGHTS)
    _draw_shapes(rng, kind, starts, WeightPrior(0.1, LOW, HIGH, True), state, out)
    assert stats.kstest(np.interp(out, grid, cdf), "uniform").pvalue > 1e-4
    assert (out != starts).mean() > 0.2
    forward, back = (
        np.mean((starts < np.median(starts)) & (out > np.median(starts) + 0.1)),
        np.mean((out < np.median(starts)) & (starts > np.median(starts) + 0.1)),
    )
    assert forward == pytest.approx(back, abs=5 * math.sqrt(forward / starts.size))  # reversible


# Numbers


@compiled
def _draw_log_gammas(rng, shape, out):
    for i in range(out.size):
        out[i] = draw_log_gamma(rng, shape)


@pytest.mark.parametrize("shape", [1e-3, 0.4, 1.0, 6.5])
def test_log_gamma_draws_have_their_distribution(shape):
    logs = np.empty(100_000)
    _draw_log_gammas(np.random.default_rng(2), shape, logs)
    assert np.isfinite(logs).all()
    # E ln Gamma = psi, var = trigamma, without a number ever leaving the range of floats
    assert logs.mean() == pytest.approx(
        special.digamma(shape), abs=4.4 * math.sqrt(special.polygamma(1, shape) / 1e5)
    )
    if shape >= 0.4:
        assert stats.kstest(np.exp(logs), "gamma", args=(shape,)).pvalue > 1e-4


@pytest.mark.parametrize("removed", [1.0, 1 - 1e-3, 1 - 1e-9, 1 - 1e-14])
def test_a_trial_keeps_its_digits(removed):
    """A weight that carries nearly all of every sum is taken away: what is left must not be
    noise."""
    W = scaled(exponential(np.linspace(-2, 2, 150)))
    codes = np.arange(150) % 3
    rows, state = start_state(W, codes, 3)
    state.log_weights[:] = -40.0
    state.log_weights[1, 2] = 0.0
    state = build_weight_state(state.log_weights, 0.0, rows)
    state.real[LOG_LIKELIHOOD] = compute_scores(
        rows, state.weights, state.totals, state.class_scores, state.total_scores
    )
    change = state.scratch.change
    new = state.weights.copy()
    new[1, 2] *= 1 - removed
    for k in range(3):
        change[k] = 0.0, 0.0, new[k, 2], 0.0
    change[1, GAIN] = new[1, 2] - state.weights[1, 2]
    change[3] = change[1, GAIN], 0.0, new[:, 2].sum(), 0.0
    assert (GAIN, GAIN_OTHER, NEW, NEW_OTHER) == (0, 1, 2, 3)
    found = evaluate_trial(rows, state, 2, 2, 1, -math.inf)
    assert found == pytest.approx(log_likelihood(W, codes, new), rel=1e-7)


def test_the_hamiltonian_gradient_agrees_with_differences():
    W, codes, K = tiny()
    rows, state = start_state(W, codes, K)
    motion, prior, a = start_motion(state), WeightPrior(math.log(1.7), 0.0, 0.0, False), 0.8
    at = state.log_weights + 0.4
    force, nothing = np.zeros(at.size), np.zeros(at.size)
    value, found = compute_weight_potential(rows, prior, a, at.ravel(), force, state, motion)
    assert found == pytest.approx(log_likelihood(W, codes, np.exp(at)), rel=1e-12)
    naive = -a * at.sum() + 1.7 * np.exp(at).sum() - log_likelihood(W, codes, np.exp(at))
    assert value == pytest.approx(naive, rel=1e-12)
    for place in product(range(K), range(3)):
        step = np.zeros_like(at)
        step[place] = 1e-5
        up, down = (
            compute_weight_potential(
                rows, prior, a, (at + sign * step).ravel(), nothing, state, motion
            )[0]
            for sign in (1, -1)
        )
        assert -force.reshape(at.shape)[place] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_opposite_columns_are_found():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 3))
    W = scaled(np.exp(np.hstack([x, -x, np.zeros((30, 1))])))
    assert find_opposite_columns(W).tolist() == [3, 4, 5, 0, 1, 2, 6]
    # rows no longer balance
    assert find_opposite_columns(np.hstack([W, rng.random((30, 1))])).tolist() == [-1] * 8
    assert (find_opposite_columns(np.abs(x)) == -1).all()
    assert (find_opposite_columns(np.where(W == W.min(), 0.0, W)) == -1).all()


def test_redraws_leave_the_totals_of_their_columns():
    """Where all weights of a column are tiny, the difference of two has no correct digit."""
    W, codes, K = tiny()
    rows, state = start_state(W, codes, K)
    state.log_weights[:, 1] -= 80.0
    normalise_weights(state)
    state.real[LOG_A], prior = math.log(0.01), WeightPrior(0.0, 0.0, 0.0, False)
    state.real[LOG_LIKELIHOOD] = compute_scores(
        rows, state.weights, state.totals, state.class_scores, state.total_scores
    )
    rng, smallest, fast = np.random.default_rng(0), find_smallest_score(rows, state), 0
    for _ in range(300):
        before = state.weights[:, 1].copy()
        state.real[LOG_MASS] = 0.0
        smallest = redraw_weight(rng, rows, prior, state, smallest)
        fast += bool((state.weights[:, 1] != before).any() and state.weights[:, 1].max() < 1e-18)
        assert (state.totals > 0.0).all()
        assert state.totals == pytest.approx(state.weights.sum(axis=0), rel=1e-9, abs=0.0)
    assert fast > 20
