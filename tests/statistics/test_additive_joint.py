"""Joint-distribution tests of additive clustering: every sampler and prior, learned alpha and learned sigma."""

import math
from itertools import combinations

import numpy as np
import pytest
from problems import alternating_similarities, unequal
from scipy import integrate, special, stats

import thali as th
from thali.aspects.likelihoods.additive import VARIANCE_SHAPE, VARIANCE_SHARE, Additive
from thali.aspects.priors.finite import FiniteFeatures
from thali.aspects.priors.ibp import Buffet, IndianBuffet
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.aspects.samplers import recommended
from thali.testing.joint import joint_distribution_test

# Some 130 scores in all: |z| < 5.4 in every one has a false alarm below 1e-5.
LIMIT = 5.4


def scores(prior, data, expected, rounds, weight_prior, **settings):
    return joint_distribution_test(prior, Additive(), data, expected, rounds, weight_prior=weight_prior, **settings)


def check(*arguments, **settings):
    found = scores(*arguments, **settings)
    assert max(abs(z) for z in found.values()) < LIMIT, found


def means_of_parameters(data, weight_prior, tilt=0.0):
    """Of the constant, the variance and the residuals; sigma^2 has the density of its prior times sigma^(2 tilt)."""
    shape, rate = weight_prior
    scale = VARIANCE_SHARE * np.var(data.values) * (VARIANCE_SHAPE - 1.0) / np.mean(1.0 / data.judgements)
    precision = VARIANCE_SHAPE - tilt, scale
    return {
        "constant": shape / rate,
        "constant^2": shape * (shape + 1.0) / rate**2,
        "precision": precision[0] / precision[1],
        "log variance": math.log(precision[1]) - special.digamma(precision[0]),
        "error": float(data.values.size),
    }


def means_of_columns(rates, n, weight_prior, alpha, alpha2):
    """Columns whose owners h arrive at rate alpha rates[h]; alpha2 is the mean of alpha^2."""
    shape, rate = weight_prior
    mean, square = shape / rate, shape * (shape + 1.0) / rate**2

    def total(chosen):
        return sum(r for h, r in rates.items() if chosen(h))

    shared = total(lambda h: len(h) > 1)
    pair, other = total(lambda h: {0, 1} <= h), total(lambda h: {0, 2} <= h)
    return {
        "columns": alpha * total(lambda h: True),
        "single": alpha * total(lambda h: len(h) == 1),
        "pairs": alpha * total(lambda h: len(h) == 2),
        "owned by 0": alpha * total(lambda h: 0 in h),
        "shared": alpha * shared,
        "shared^2": alpha * shared + alpha2 * shared**2,
        "full": alpha * rates[frozenset(range(n))],
        "owned pairs": alpha * sum(r * math.comb(len(h), 2) for h, r in rates.items()),
        "shared weight": alpha * shared * mean,
        "heavy": alpha * shared * stats.gamma(shape, scale=1.0 / rate).sf(1.0),
        "weight 01": alpha * pair * mean,
        "weight 01^2": alpha * pair * square + alpha2 * (pair * mean) ** 2,
        "weight 01 * weight 02": alpha * total(lambda h: {0, 1, 2} <= h) * square + alpha2 * pair * other * mean**2,
    }


def means(prior, data, weight_prior, tilt=0.0):
    """Prior means of everything under an infinite prior with alpha ~ Gamma(1, 1)."""
    n = data.n_options
    nothing = prior.log_prob(np.zeros((n, 0)), 1.0)
    rates = {}
    for size in range(1, n + 1):
        for owners in combinations(range(n), size):
            column = np.isin(np.arange(n), owners)[:, None]
            rates[frozenset(owners)] = math.exp(prior.log_prob(column, 1.0) - nothing)
    expected = {"alpha": 1.0, "1 / (1 + alpha)": 0.596347362323194}
    expected |= means_of_columns(rates, n, weight_prior, 1.0, 2.0) | means_of_parameters(data, weight_prior, tilt)
    if weight_prior[1] > 5.0:
        del expected["heavy"]  # next to none
    return expected


LONG = [
    (8_000, 77),
    pytest.param(200_000, 1, marks=pytest.mark.long),
]


@pytest.mark.first(1)
@pytest.mark.parametrize("rounds, seed", LONG)
@pytest.mark.parametrize("n, weight_prior", [(5, (1.0, 1.0)), (9, (2.0, 3.0))])
def test_recommended_sampler(n, weight_prior, rounds, seed):
    data = alternating_similarities(n, variance=100.0, missing=n == 5)
    check(IndianBuffet(), data, means(IndianBuffet(), data, weight_prior), rounds, weight_prior, random_seed=seed)


@pytest.mark.long
@pytest.mark.parametrize("rounds, seed", LONG)
def test_means_of_unequal_numbers_of_judgements(rounds, seed):
    data = alternating_similarities(5, variance=100.0, missing=True, judgements=unequal(5))
    expected = means(IndianBuffet(), data, (1.0, 1.0))
    check(IndianBuffet(), data, expected, rounds, (1.0, 1.0), random_seed=seed)


@pytest.mark.parametrize("rounds, seed", LONG)
@pytest.mark.parametrize("n, weight_prior", [(5, (2.0, 3.0)), pytest.param(9, (1.0, 1.0), marks=pytest.mark.long)])
def test_three_temperatures(n, weight_prior, rounds, seed):
    # replicas at an infinite temperature do not see the data, so that the joint distribution stays known
    data = alternating_similarities(n, variance=100.0)
    expected = means(IndianBuffet(), data, weight_prior)
    settings = {"temperatures": (1.0, math.inf, math.inf), "sweeps": 2, "random_seed": seed}
    check(IndianBuffet(), data, expected, rounds, weight_prior, **settings)


@pytest.mark.long
@pytest.mark.parametrize("rounds, seed", LONG)
def test_a_replica_at_another_temperature(rounds, seed):
    # given the rest, data under the likelihood's power 1/2 are Normal(mu, 2 sigma^2), and sigma^2 gains sigma^(P/2)
    data = alternating_similarities(4, variance=100.0, missing=True)
    tilt = 0.25 * data.values.size
    expected = means(IndianBuffet(), data, (1.0, 1.0), tilt)
    check(IndianBuffet(), data, expected, rounds, (1.0, 1.0), temperatures=(2.0,), random_seed=seed)


@pytest.mark.long
@pytest.mark.parametrize("rounds, seed", LONG)
@pytest.mark.parametrize("n, weight_prior", [(9, (1.0, 20.0)), pytest.param(5, (2.0, 30.0), marks=pytest.mark.long)])
def test_published_sampler(n, weight_prior, rounds, seed):
    # its steps of .05 want weights of that size; precise data would hold the constant where it is
    data = alternating_similarities(n, variance=5.0, missing=n == 5)
    settings = {"sampler": "paper", "random_seed": seed}
    check(IndianBuffet(), data, means(IndianBuffet(), data, weight_prior), rounds, weight_prior, **settings)


TREE = "((0:.2,1:.2):.8,((2:.3,3:.3):.3,4:.6):.4);"


@pytest.mark.long  # this prior with this likelihood needs a kernel of its own
@pytest.mark.parametrize("rounds, seed", LONG)
def test_tree(rounds, seed):
    prior = PhylogeneticBuffet(th.Tree.from_newick(TREE).for_labels("01234"))
    data = alternating_similarities(5, variance=100.0)
    check(prior, data, means(prior, data, (1.0, 1.0)), rounds, (1.0, 1.0), random_seed=seed)


@pytest.mark.long  # this prior with this likelihood needs a kernel of its own
@pytest.mark.parametrize("rounds, seed", LONG)
def test_finite_prior(rounds, seed):
    n, columns, weight_prior = 5, 3, (2.0, 3.0)
    data = alternating_similarities(n, variance=100.0)

    def given(alpha):
        a = alpha / columns
        by_size = np.zeros(n + 1)
        for m in range(n + 1):
            by_size[m] = math.exp(
                math.log(a) + special.gammaln(m + a) + math.lgamma(n - m + 1) - math.lgamma(n + 1 + a)
            )
        rates = {frozenset(h): by_size[len(h)] for size in range(1, n + 1) for h in combinations(range(n), size)}
        expected = means_of_columns(rates, n, weight_prior, columns, columns * (columns - 1.0))
        return np.exp(-alpha) * np.array(list(expected.values())), expected.keys()

    values = integrate.quad_vec(lambda alpha: given(alpha)[0], 1e-12, 40.0, epsabs=1e-9)[0]
    expected = dict(zip(given(1.0)[1], values.tolist(), strict=True))
    expected |= {"alpha": 1.0, "1 / (1 + alpha)": 0.596347362323194} | means_of_parameters(data, weight_prior)
    check(FiniteFeatures(columns), data, expected, rounds, weight_prior, random_seed=seed)


@pytest.mark.long
@pytest.mark.parametrize("weight_prior", [(1.0, 1.0), (2.0, 3.0)])
def test_general_sampler(weight_prior, monkeypatch):
    monkeypatch.setattr(recommended, "conjugate", recommended.infinite)
    data = alternating_similarities(5, variance=100.0, missing=True)
    check(IndianBuffet(), data, means(IndianBuffet(), data, weight_prior), 400_000, weight_prior)


class SlightlyWrong(IndianBuffet):
    """Samples as it should, but tells the samplers that columns of two owners are 5 % more frequent."""

    def compiled(self, n):
        right = super().compiled(n)
        table = right.log_rate.copy()
        table[2] += 0.05
        return Buffet(table, right.harmonic)


@pytest.mark.long
def test_a_planted_error_of_five_percent_is_seen():
    data = alternating_similarities(5, variance=100.0)
    found = scores(SlightlyWrong(), data, means(IndianBuffet(), data, (1.0, 1.0)), 400_000, (1.0, 1.0))
    assert max(abs(z) for z in found.values()) > LIMIT
