"""The probability of the features with several owners, whatever the others are: its sum over all
multisets."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import thali as th
from thali.priors import FiniteFeatures, Given, IndianBuffet, PhylogeneticBuffet

N = 3
SHARED = [(1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)]
TREE = th.Tree.from_groups({"near": ["a", "b"], "far": ["c"]}, leaf_length=0.3)


def multisets(size):
    for columns in itertools.combinations_with_replacement(SHARED, size):
        yield np.array(columns).reshape(-1, N).T


def mass(prior, alpha, size):
    return sum(math.exp(prior.log_prob_shared(matrix, alpha)) for matrix in multisets(size))


@pytest.mark.parametrize("alpha", [0.4, 2.0])
def test_the_buffet_has_a_poisson_number(alpha):
    rate = alpha * (1 / 2 + 1 / 3)
    for size in range(6):
        assert mass(IndianBuffet(), alpha, size) == pytest.approx(
            stats.poisson.pmf(size, rate), rel=1e-12
        )


@pytest.mark.parametrize("alpha", [0.4, 2.0])
def test_the_tree_has_a_poisson_number(alpha):
    prior = PhylogeneticBuffet(TREE)
    rates = np.exp(prior.compiled(N).table)
    rate = alpha * sum(rates[sum(1 << i for i in range(N) if column[i])] for column in SHARED)
    for size in range(6):
        # the total is in closed form, the rates by a quadrature good to 1e-8
        assert mass(prior, alpha, size) == pytest.approx(stats.poisson.pmf(size, rate), rel=1e-7)


@pytest.mark.parametrize("k", [1, 3])
def test_the_finite_prior_sums_to_one(k):
    assert sum(mass(FiniteFeatures(k), 1.7, size) for size in range(k + 1)) == pytest.approx(
        1.0, rel=1e-12
    )
    assert FiniteFeatures(k).log_prob_shared(np.ones((N, k + 1)), 1.7) == -math.inf


def test_the_finite_prior_adds_up_its_ordered_matrices():
    prior, alpha, k = FiniteFeatures(2), 0.8, 2
    wanted = np.array([[1], [1], [0]])
    total = 0.0
    for columns in itertools.product(itertools.product([0, 1], repeat=N), repeat=k):
        matrix = np.array(columns).T
        if sorted(map(tuple, matrix.T[matrix.sum(0) >= 2])) == [(1, 1, 0)]:
            total += math.exp(prior.log_prob(matrix, alpha))
    assert math.exp(prior.log_prob_shared(wanted, alpha)) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("prior", [IndianBuffet(), FiniteFeatures(6), PhylogeneticBuffet(TREE)])
def test_order_and_lone_owners_do_not_matter(prior):
    matrix = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0]])
    found = prior.log_prob_shared(matrix, 1.3)
    more = np.concatenate(
        [matrix[:, [2, 0, 1]], np.eye(N, dtype=int), np.zeros((N, 2), int)], axis=1
    )
    assert prior.log_prob_shared(more, 1.3) == pytest.approx(found, rel=1e-14)


def test_shared_given_features_alone_have_probability_one():
    prior = Given([[1, 0, 1], [1, 0, 1], [0, 1, 1]])
    assert prior.log_prob_shared([[1, 1], [1, 1], [1, 0]], 1.0) == 0.0
    assert prior.log_prob_shared([[1, 1], [1, 1], [0, 0]], 1.0) == -math.inf
    assert prior.log_prob_shared([[1], [1], [1]], 1.0) == -math.inf
    assert prior.log_prob_shared(np.zeros((3, 0)), 1.0) == -math.inf
    assert Given(np.eye(3)).log_prob_shared(np.zeros((3, 0)), 1.0) == 0.0


def test_the_buffet_is_that_of_the_poisson_process():
    # as `log_prob`, which counts the lone owners in and no copies
    matrix, alpha = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 1]]), 0.7
    expected = IndianBuffet().log_prob(matrix, alpha) + alpha - math.log(2)
    assert IndianBuffet().log_prob_shared(matrix, alpha) == pytest.approx(expected, rel=1e-13)
