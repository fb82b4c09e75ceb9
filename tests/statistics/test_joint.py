"""Joint-distribution tests of the whole compiled sweep, for each prior and sampler."""

import math

import numpy as np
import pytest
from joint_means import HEAVY, LIMIT, buffet_means
from problems import random_comparisons
from scipy import integrate, special, stats

from thali.aspects import operations
from thali.aspects.likelihoods.elimination import Elimination
from thali.aspects.priors.finite import FiniteFeatures
from thali.aspects.priors.given import Given
from thali.aspects.priors.ibp import Buffet, IndianBuffet
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.aspects.state import empty_state
from thali.testing.joint import joint_distribution_test
from thali.trees.tree import Tree


def scores(prior, n, expected, rounds, unique=True, missing=0.0, **settings):
    data = random_comparisons(n, seed=n, most=2, missing=missing)
    return joint_distribution_test(prior, Elimination(0.05, unique=unique), data, expected, rounds, **settings)


def check(*arguments, **settings):
    found = scores(*arguments, **settings)
    assert max(abs(z) for z in found.values()) < LIMIT, found


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "n, missing, rounds",
    [
        (4, 0.0, 4_000),
        (14, 0.5, 20_000),
        pytest.param(4, 0.0, 400_000, marks=pytest.mark.long),
        pytest.param(14, 0.5, 400_000, marks=pytest.mark.long),
    ],
)
def test_buffet_with_unique_aspects(n, missing, rounds):
    # the unique weight holds the columns of single options: n + 1 in all
    check(IndianBuffet(), n, buffet_means(n, n + 1.0), rounds, missing=missing)


TREES = {
    4: "((0:.2,1:.2):.8,(2:.5,3:.5):.5);",
    18: "(((0:.1,1:.1,2:.1,3:.1):.3,(4:.4,5:.4):0):.6,(6:.2,7:.2,8:.2):.8,((9:.3,10:.3):.4,11:.7,12:.7):.3,"
    "13:1,14:1,(15:.6,16:.6,17:.6):.4);",
}


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "n, missing, rounds",
    [
        (4, 0.0, 4_000),
        (18, 0.6, 15_000),  # whose rates are computed pattern by pattern
        pytest.param(4, 0.0, 400_000, marks=pytest.mark.long),
    ],
)
def test_tree_with_unique_aspects(n, missing, rounds):
    tree = Tree.from_newick(TREES[n]).for_labels([str(k) for k in range(n)])
    prior = PhylogeneticBuffet(tree)
    compiled, state = prior.compiled(n), empty_state(n, 4)
    single, middle, full = compiled.totals

    def pair(i, j):
        state.Z[2, :n] = 0.0
        state.Z[2, [i, j]] = 1.0
        return math.exp(operations.log_rate(compiled, state, 2, 2))

    expected = {
        "alpha": 1.0,
        "1 / (1 + alpha)": 0.596347362323194,
        "columns": single + middle + full,
        "single": single,
        "pairs": sum(pair(i, j) for i in range(n) for j in range(i)),
        "owned by 0": 1.0,
        "shared weight": middle,
        "heavy": HEAVY * middle,
        "unique weight": n + single,
    }
    check(prior, n, expected, rounds, missing=missing)


@pytest.mark.long
@pytest.mark.parametrize(  # few comparisons: the chain must mix
    "n, missing", [(4, 0.0), pytest.param(14, 0.8, marks=pytest.mark.long)]
)
def test_buffet_without_unique_aspects(n, missing):
    expected = buffet_means(n, 0.0)
    del expected["unique weight"]
    check(IndianBuffet(), n, expected, 40_000, unique=False, missing=missing)


@pytest.mark.long
@pytest.mark.parametrize(
    "shape, rate",
    [(2.5, 1.0), pytest.param(0.7, 2.0, marks=pytest.mark.long), pytest.param(1.0, 3.0, marks=pytest.mark.long)],
)
def test_buffet_with_other_weight_priors(shape, rate):
    prior = stats.gamma(shape, scale=1.0 / rate)
    # with exponential weights the unique weights again hold the columns of single options
    unique = (5.0 if shape == 1.0 else 4.0) * prior.mean()
    expected = buffet_means(4, unique, prior.mean(), prior.sf(1.0))
    check(IndianBuffet(), 4, expected, 40_000, weight_prior=(shape, rate))


@pytest.mark.parametrize("unique", [True, pytest.param(False, marks=pytest.mark.long)])
def test_finite_prior(unique):
    n, columns = 4, 3

    def mean_count(least, most):
        """Expected number of columns with `least` to `most` owners."""

        def integrand(alpha):
            m = np.arange(least, most + 1)
            a = alpha / columns
            log_p = np.log(a) + special.gammaln(m + a) + special.gammaln(n - m + 1) - special.gammaln(n + 1 + a)
            return np.exp(-alpha) * columns * np.sum(special.comb(n, m) * np.exp(log_p))

        return integrate.quad(integrand, 0.0, np.inf)[0]

    expected = {
        "alpha": 1.0,
        "1 / (1 + alpha)": 0.596347362323194,
        "columns": mean_count(1, n),
        "single": mean_count(1, 1),
        "pairs": mean_count(2, 2),
        "shared weight": mean_count(2, n),
        "heavy": HEAVY * mean_count(2, n),
    }
    if unique:
        expected |= {"unique weight": float(n), "light unique": -np.expm1(-0.5)}
    check(FiniteFeatures(columns), n, expected, 4_000, unique=unique)


def test_given_aspects():
    matrix = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]])
    expected = {
        "shared weight": 3.0,
        "heavy": 3.0 * HEAVY,
        "unique weight": 4.0,
        "light unique": -np.expm1(-0.5),
    }
    check(Given(matrix), 4, expected, 4_000)


@pytest.mark.long
def test_weights_of_the_published_sampler():
    # its truncation biases the columns, but not the prior of the fixed unique weights
    expected = {"unique weight": 4.0, "light unique": -np.expm1(-0.5)}
    check(IndianBuffet(), 4, expected, 40_000, sampler="paper")


class SlightlyWrong(IndianBuffet):
    """Samples as it should, but tells the samplers that columns of two owners are 5 % more frequent."""

    def compiled(self, n):
        right = super().compiled(n)
        table = right.log_rate.copy()
        table[2] += 0.05
        return Buffet(table, right.harmonic)


@pytest.mark.long
def test_a_planted_error_of_five_percent_is_seen():
    found = scores(SlightlyWrong(), 4, buffet_means(4, 5.0), 800_000)
    assert max(abs(z) for z in found.values()) > LIMIT
