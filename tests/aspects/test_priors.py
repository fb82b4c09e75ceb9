"""The priors by themselves."""

import itertools
import math

import numpy as np
import pytest
from helpers.sentences import refused
from scipy import stats

from thali._aspects import kernel_operations
from thali._aspects.chain_state import make_empty_state
from thali._inference.numerics.discrete_draws import draw_bessel_count, draw_poisson
from thali.errors import ArgumentError
from thali.priors import FiniteFeatures, Given, IndianBuffet


def patterns(n):
    return [p for p in itertools.product([0, 1], repeat=n) if any(p)]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rates_of_the_buffet(n):
    prior = IndianBuffet().compiled(n)
    rates = {p: math.exp(prior.log_rate[sum(p)]) for p in patterns(n)}
    assert sum(rates.values()) == pytest.approx(sum(1 / m for m in range(1, n + 1)))
    assert sum(r for p, r in rates.items() if p[0]) == pytest.approx(1.0)
    assert kernel_operations.rate_single(prior, 0) == pytest.approx(rates[(1,) + (0,) * (n - 1)])
    assert kernel_operations.rate_by_size_range(prior, 2, n) == pytest.approx(
        sum(r for p, r in rates.items() if sum(p) >= 2)
    )


@pytest.mark.fit
def test_samples_of_the_buffet():
    rng = np.random.default_rng(4)
    matrices = [IndianBuffet().sample(5, 2.0, rng) for _ in range(1000)]
    columns = np.array([m.shape[1] for m in matrices])
    owned = np.array([m[3].sum() for m in matrices])
    h = 2.0 * sum(1 / m for m in range(1, 6))
    assert abs(columns.mean() - h) < 5 * math.sqrt(h / 1000)
    assert abs(columns.var() - h) < 5 * h * math.sqrt(2 / 1000)
    assert abs(owned.mean() - 2.0) < 5 * math.sqrt(2.0 / 1000)
    assert all(m.any(0).all() for m in matrices)


def test_log_density_of_the_buffet_by_hand():
    # N = 2: rates 1/2 each for {0}, {1} and both
    matrix = [[1, 0, 1], [0, 1, 1]]
    assert IndianBuffet().log_prob(matrix, 3.0) == pytest.approx(3 * math.log(1.5) - 4.5)


@pytest.mark.fit
def test_patterns_are_drawn_in_proportion_to_their_rate():
    n, rng = 4, np.random.default_rng(8)
    prior, state = IndianBuffet().compiled(n), make_empty_state(n, 4)
    wanted = [p for p in patterns(n) if 2 <= sum(p) <= 3]
    counts = dict.fromkeys(wanted, 0)
    for _ in range(20_000):
        m = kernel_operations.draw_pattern(prior, rng, state, 2, 2, 3)
        drawn = tuple(state.Z[2, :n].astype(int))
        assert sum(drawn) == m
        counts[drawn] += 1
    rates = np.array([math.exp(prior.log_rate[sum(p)]) for p in wanted])
    assert stats.chisquare(list(counts.values()), 20_000 * rates / rates.sum()).pvalue > 1e-4


def test_finite_prior_sums_to_one_and_matches_its_conditional():
    prior, n, alpha = FiniteFeatures(1), 3, 1.7
    columns = list(itertools.product([0, 1], repeat=n))
    logs = {c: prior.log_prob(np.array(c)[:, None], alpha) for c in columns}
    assert sum(math.exp(v) for v in logs.values()) == pytest.approx(1.0)
    odds = math.exp(logs[(1, 1, 0)] - logs[(0, 1, 0)])
    p = (1 + alpha) / (n + alpha)  # Griffiths & Ghahramani: (m + alpha/K) / (N + alpha/K)
    assert odds == pytest.approx(p / (1 - p))


def test_samples_of_the_finite_prior_have_its_mean():
    rng = np.random.default_rng(4)
    total = np.mean([FiniteFeatures(3).sample(4, 1.5, rng).mean() for _ in range(4000)])
    assert total == pytest.approx(0.5 / 1.5, abs=0.02)


def test_the_given_matrix_alone_has_probability_one():
    given = Given([[1, 0], [1, 1]])
    assert given.log_prob([[1, 0], [1, 1]], 1.0) == 0.0
    assert given.log_prob([[1, 1], [1, 1]], 1.0) == -np.inf
    with refused(ArgumentError, "be a 0/1", "(2, 2)"):
        Given([[1, 2], [0, 1]])
    with refused(ArgumentError, "(2,)"):
        Given([1, 0])


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("x", [0.0, 0.4, 6.0, 250.0])
def test_bessel_counts_have_their_distribution(x, shift):
    rng = np.random.default_rng(3)
    draws = np.array([draw_bessel_count(rng, x, shift) for _ in range(20_000)])
    n = np.arange(80)
    logs = n * math.log(x) if x else np.where(n == 0, 0.0, -np.inf)
    logs = logs - np.array([math.lgamma(k + 1) + math.lgamma(k + shift + 1) for k in n])
    p = np.exp(logs - logs.max())
    p /= p.sum()
    keep = p * 20_000 > 5
    observed = np.array([(draws == k).sum() for k in n])
    pooled = np.append(observed[keep], observed[~keep].sum())
    expected = np.append(20_000 * p[keep], 20_000 * p[~keep].sum())
    if expected[-1] < 1e-3:
        assert pooled[-1] == 0
        pooled, expected = pooled[:-1], expected[:-1]
    if pooled.size > 1:
        assert stats.chisquare(pooled, expected * pooled.sum() / expected.sum()).pvalue > 1e-4


def test_bessel_counts_stay_finite_for_huge_arguments():
    rng = np.random.default_rng(3)
    draws = [draw_bessel_count(rng, 1e10, 0) for _ in range(5)]
    assert draws == pytest.approx([1e5] * 5, rel=0.02)  # mean sqrt(x), sd x^(1/4) / sqrt(2)


def test_poisson_counts_have_their_moments():
    rng = np.random.default_rng(3)
    draws = np.array([draw_poisson(rng, 2.5) for _ in range(20_000)])
    assert abs(draws.mean() - 2.5) < 5 * math.sqrt(2.5 / 20_000)
    assert abs(draws.var() - 2.5) < 5 * 2.5 * math.sqrt(2.4 / 20_000)
    assert draw_poisson(rng, 0.0) == 0


def test_large_tables_stay_finite():
    prior = IndianBuffet().compiled(10_000)
    assert np.isfinite(prior.log_rate[1:]).all()
    assert prior.log_rate[1] == pytest.approx(-math.log(10_000))
