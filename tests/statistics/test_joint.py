"""Joint-distribution tests of whole compiled sweeps, for each likelihood, prior and sampler: one
table."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from helpers.additive_runs import by_general_moves
from helpers.joint_distribution import joint_distribution_test
from helpers.joint_means import (
    HEAVY,
    LIMIT,
    OF_ALPHA,
    buffet_means,
    finite_rates,
    means_of_columns,
    means_of_parameters,
    means_of_similarities,
    over_alpha,
    tree_means,
)
from helpers.likelihood_rows import with_values
from helpers.problems import alternating_similarities, random_comparisons, unequal, with_ties
from helpers.set_problems import random_choices
from scipy import stats

import thali as th
from thali.likelihoods import Additive, Elimination, MostSimilarPair
from thali.priors import FiniteFeatures, Given, IndianBuffet, PhylogeneticBuffet

BUFFET = IndianBuffet()
LIGHT = -np.expm1(-0.5)
GIVEN = Given([[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]])
GIVEN_MEANS = {
    "shared weight": 3.0,
    "heavy": 3.0 * HEAVY,
    "unique weight": 4.0,
    "light unique": LIGHT,
}
TREES = {
    4: "((0:.2,1:.2):.8,(2:.5,3:.5):.5);",
    5: "((0:.2,1:.2):.8,((2:.3,3:.3):.3,4:.6):.4);",
    18: "(((0:.1,1:.1,2:.1,3:.1):.3,(4:.4,5:.4):0):.6,(6:.2,7:.2,8:.2):.8,((9:.3,10:.3):.4,11:.7,12:.7):.3,13:1,14:1,(15:.6,16:.6,17:.6):.4);",
}


class Problem(NamedTuple):
    """What the joint-distribution test needs."""

    prior: object
    likelihood: object
    data: object
    expected: dict
    settings: dict = {}

    def scores(self, rounds, **more):
        parts = self.prior, self.likelihood, self.data, self.expected
        return joint_distribution_test(*parts, rounds, **{"random_seed": 77} | self.settings | more)


def on_tree(n):
    return PhylogeneticBuffet(th.Tree.from_newick(TREES[n]).for_labels([str(k) for k in range(n)]))


def pairs(n=4, missing=0.0, prior=BUFFET, expected=None, unique=True, **settings):
    """The unique weight holds the columns of single options: n + 1 in all."""
    expected = expected or buffet_means(n, unique * (n + 1.0))
    data = random_comparisons(n, seed=n, most=2, missing=missing)
    return Problem(prior, Elimination(0.05, unique=unique), data, expected, settings)


def pairs_on_tree(n, missing):
    return pairs(n, missing, on_tree(n), tree_means(on_tree(n), n))


def pairs_of_other_weights(shape, rate):
    """With exponential weights the unique weights again hold the columns of single options."""
    prior = stats.gamma(shape, scale=1.0 / rate)
    expected = buffet_means(
        4, (5.0 if shape == 1.0 else 4.0) * prior.mean(), prior.mean(), prior.sf(1.0)
    )
    return pairs(expected=expected, weight_prior=(shape, rate))


def of_finite(n, columns, weight_prior):
    """Means of columns of the finite prior."""
    pairs_of_columns = columns * (columns - 1.0)
    return over_alpha(
        lambda a: means_of_columns(
            finite_rates(n, columns, a), n, weight_prior, columns, pairs_of_columns
        )
    )


def pairs_of_finite(unique):
    found = of_finite(4, 3, (1.0, 1.0))
    seen = "columns", "single", "pairs", "owned by 0", "shared weight", "heavy"
    expected = OF_ALPHA | {name: found[name] for name in seen}
    expected |= {"unique weight": 4.0, "light unique": LIGHT} if unique else {}
    return pairs(prior=FiniteFeatures(3), expected=expected, unique=unique)


def ties(unique):
    expected = buffet_means(4, 5.0 * unique) | {"tie": 1.0, "tie^2": 2.0, "small tie": LIGHT}
    likelihood = Elimination(0.05, unique=unique, ties=True)
    return Problem(BUFFET, likelihood, random_comparisons(4, seed=4, most=2), expected)


COEFFICIENT = {"coefficient": 0.0, "coefficient^2": 1.0, "positive coefficient": 0.5}


def covariates(unique, tied):
    expected = buffet_means(4, 5.0 * unique) | COEFFICIENT
    expected |= {"tie": 1.0, "tie^2": 2.0, "small tie": LIGHT} if tied else {}
    data = random_comparisons(4, seed=4, most=2)
    data = with_values(with_ties(data, 1) if tied else data, 2, seed=2)
    likelihood = Elimination(0.05, unique=unique, ties=tied, covariates=data.covariates.names)
    return Problem(BUFFET, likelihood, data, expected)


def sets(prior=BUFFET, expected=None, unique=True, kept=1.0, **settings):
    data = random_choices(4, (2, 3, 4), seed=4, most=1, kept=kept)
    expected = expected or buffet_means(4, 5.0 * unique)
    return Problem(prior, Elimination(0.05, unique=unique), data, expected, settings)


def sets_on_tree():
    expected = tree_means(on_tree(4), 4)
    names = "columns", "single", "shared weight", "owned by 0", "unique weight", "alpha"
    return sets(on_tree(4), {name: expected[name] for name in names})


# two columns, alpha 2: each is owned with a uniform probability, hence m of 4 owners with
# probability 1/5
TWO_COLUMNS = {
    "columns": 1.6,
    "single": 0.4,
    "pairs": 0.4,
    "shared weight": 1.2,
    "heavy": 1.2 * HEAVY,
}
TWO_COLUMNS |= {"unique weight": 4.0}


def similarities(
    n=5, weight_prior=(1.0, 1.0), prior=BUFFET, variance=100.0, missing=False, tilt=0.0, **more
):
    data = alternating_similarities(n, variance, missing, more.pop("judgements", None))
    if isinstance(prior, FiniteFeatures):
        expected = (
            OF_ALPHA | of_finite(n, 3, weight_prior) | means_of_parameters(data, weight_prior)
        )
    else:
        expected = means_of_similarities(prior, data, weight_prior, tilt * data.values.size)
    return Problem(prior, Additive(), data, expected, {"weight_prior": weight_prior} | more)


def tempered(n, weight_prior):
    """Replicas at an infinite temperature do not see the data, so that the joint distribution stays
    known."""
    return similarities(n, weight_prior, temperatures=(1.0, math.inf, math.inf), sweeps=2)


def triplets(link, weight_prior=(1.0, 1.0)):
    shape, rate = weight_prior
    tail = stats.gamma(shape, scale=1.0 / rate).sf(1.0)
    expected = buffet_means(5, 0.0, shape / rate, tail)
    if link == "ratio":  # which sees columns that all own
        expected["shared weight"] += shape / rate / 5
        expected["heavy"] += tail / 5
        expected |= {"constant": shape / rate, "constant^2": shape * (shape + 1.0) / rate**2}
    data = th.Triplets([(i, j, k) for i in range(5) for j in range(i) for k in range(j)])
    return Problem(
        BUFFET, MostSimilarPair(link, 0.05), data, expected, {"weight_prior": weight_prior}
    )


TABLE = {  # rounds by default, if any, and of long runs
    "pairs": (pairs, 1_500, 400_000),
    "pairs of 14": (partial(pairs, 14, 0.5), None, 400_000),
    "pairs on a tree": (partial(pairs_on_tree, 4, 0.0), 1_500, 400_000),
    # rates computed pattern by pattern
    "pairs on a tree of 18": (partial(pairs_on_tree, 18, 0.6), None, 15_000),
    "pairs, none unique": (partial(pairs, unique=False), None, 40_000),
    # few: the chain must mix
    "pairs of 14, none unique": (partial(pairs, 14, 0.8, unique=False), None, 40_000),
    "pairs, weights of shape 2.5": (partial(pairs_of_other_weights, 2.5, 1.0), None, 40_000),
    "pairs, weights of shape 0.7": (partial(pairs_of_other_weights, 0.7, 2.0), None, 40_000),
    "pairs, weights of rate 3": (partial(pairs_of_other_weights, 1.0, 3.0), None, 40_000),
    "pairs, finite": (partial(pairs_of_finite, True), 1_500, None),
    "pairs, finite, none unique": (partial(pairs_of_finite, False), None, 4_000),
    "pairs, given": (partial(pairs, prior=GIVEN, expected=GIVEN_MEANS), 1_500, None),
    "ties": (partial(ties, True), 1_500, None),
    "ties, none unique": (partial(ties, False), None, 4_000),
    "covariates": (partial(covariates, True, False), 2_500, 250_000),
    "covariates, none unique": (partial(covariates, False, False), None, 150_000),
    "ties and covariates": (partial(covariates, True, True), None, 150_000),
    "ties and covariates, none unique": (partial(covariates, False, True), None, 150_000),
    "sets": (partial(sets, kept=0.5), None, 200_000),
    "sets, none unique": (partial(sets, unique=False, kept=0.5), None, 100_000),
    "sets, finite": (
        partial(sets, FiniteFeatures(2), TWO_COLUMNS, kept=0.5, alpha=2.0),
        None,
        100_000,
    ),
    "sets, given": (partial(sets, GIVEN, GIVEN_MEANS), None, 100_000),
    "sets on a tree": (sets_on_tree, None, 100_000),
    "similarities": (partial(similarities, missing=True), 3_000, 200_000),
    "similarities of 9": (partial(similarities, 9, (2.0, 3.0)), None, 200_000),
    "similarities, judged": (
        partial(similarities, missing=True, judgements=unequal(5)),
        None,
        200_000,
    ),
    "similarities, tempered": (partial(tempered, 5, (2.0, 3.0)), 3_000, 200_000),
    "similarities of 9, tempered": (partial(tempered, 9, (1.0, 1.0)), None, 200_000),
    # given the rest, data under the likelihood's power 1/2 are Normal(mu, 2 sigma^2), and sigma^2
    # gains sigma^(P/2)
    "similarities, hot": (
        partial(similarities, 4, missing=True, tilt=0.25, temperatures=(2.0,)),
        None,
        200_000,
    ),
    "similarities on a tree": (lambda: similarities(prior=on_tree(5)), None, 200_000),
    "similarities, finite": (
        partial(similarities, 5, (2.0, 3.0), FiniteFeatures(3)),
        None,
        200_000,
    ),
    "triplets, exp": (partial(triplets, "exp"), 1_200, 100_000),
    "triplets, ratio": (partial(triplets, "ratio"), 1_200, 100_000),
    "triplets, exp, shape 2": (partial(triplets, "exp", (2.0, 3.0)), None, 40_000),
    "triplets, ratio, shape 2": (partial(triplets, "ratio", (2.0, 3.0)), None, 40_000),
}
ROWS = [pytest.param(make, rounds, id=name) for name, (make, rounds, _) in TABLE.items() if rounds]
ROWS += [
    pytest.param(make, rounds, id=f"{name}, long", marks=pytest.mark.long)
    for name, (make, _, rounds) in TABLE.items()
    if rounds
]


@pytest.mark.first(7)
@pytest.mark.parametrize("make, rounds", ROWS)
def test_parameters_keep_their_prior(make, rounds):
    found = make().scores(rounds)
    assert max(abs(z) for z in found.values()) < LIMIT, found


@pytest.mark.long
@pytest.mark.parametrize("weight_prior", [(1.0, 1.0), (2.0, 3.0)])
def test_the_general_sampler_of_similarities(weight_prior):
    with by_general_moves():
        found = similarities(5, weight_prior, missing=True).scores(400_000)
    assert max(abs(z) for z in found.values()) < LIMIT, found


class SlightlyWrong(IndianBuffet):
    """Samples as it should, but tells the samplers that columns of two owners are more frequent."""

    factor = 1.05

    def compiled(self, n):
        right = super().compiled(n)
        table = right.log_rate.copy()
        table[2] += math.log(self.factor)
        return right._replace(log_rate=table)


class Wrong(SlightlyWrong):
    factor = 1.2


@pytest.mark.long
@pytest.mark.parametrize(
    "test, prior, rounds",
    [
        pytest.param(pairs, SlightlyWrong(), 800_000, marks=pytest.mark.study),
        (similarities, SlightlyWrong(), 400_000),
        (partial(triplets, "exp"), Wrong(), 60_000),
    ],
)
def test_a_planted_error_is_seen(test, prior, rounds):
    found = test()._replace(prior=prior).scores(rounds)
    assert max(abs(z) for z in found.values()) > LIMIT
