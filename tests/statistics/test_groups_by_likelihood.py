"""Groups of every likelihood that is not in `test_group_posteriors`: one table, and the same tests
of each row."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.group_problems import (
    columns_owned_by,
    contents,
    drawn,
    geweke,
    in_each_group,
    key,
    mean_and_error,
    means,
    small_chain,
    task,
)
from helpers.joint_distribution import simulate_pairs, simulate_triplets
from helpers.joint_means import LIMIT
from helpers.likelihood_rows import with_values
from helpers.naive import latent_features as naive
from helpers.problems import random_comparisons, with_ties
from helpers.triplet_problems import three_objects

import thali as th
import thali._aspects.moves.group_owners as group_owners
from thali._aspects.chain_state import replica
from thali._aspects.group_state import KAPPA, select_group_likelihood
from thali._aspects.kernel_operations import log_likelihood, rebuild_cache, select_cache
from thali._aspects.likelihoods.pair_blocks import TIE
from thali._aspects.likelihoods.pair_covariates import FIRST_COEFFICIENT
from thali._aspects.populations.group_chains import GroupChain
from thali._aspects.populations.several_groups import (
    GroupPriorLadder,
    build_group_constant,
    run_ladders,
)
from thali._testing import exact
from thali.likelihoods import Elimination, MostSimilarPair

ERRORS = 4.5  # Monte Carlo errors that a mean may be off
LAPSE = 0.05


class Row(NamedTuple):
    """A likelihood of groups: data of each, the log-likelihood once more, simulated data, and prior
    means."""

    data: list[Any]
    likelihood: Any
    # of the data of a group, features, weights, unique weights and the parameters in its cache
    naive: Callable
    simulate: Callable  # new data, of rng, likelihood, state and cache of a group
    expected: Callable  # prior means, of whether groups are similar
    more: Callable = lambda chain: {}  # what else is looked at in a chain

    def task(self, **more):
        return task(self.data, self.likelihood, **more)


# Triplets, of another number of sets in each group ------------------------------------------------


def asked(groups, n=4):
    every = list(itertools.combinations(range(n), 3))
    labels = [str(k) for k in range(n)]
    return [
        th.Triplets([[*map(str, three)] for three in every[: len(every) - g]], labels)
        for g in range(groups)
    ]


def triplets(link, groups=2):
    def whole(data, features, weights, unique, real):
        return naive.triplet_log_likelihood(data, features, weights, link, real[0], LAPSE)

    def simulate(rng, sets, b, c):
        simulate_triplets(rng, sets, b, float(c.real[0]))

    def expected(similar):
        own = {"constant": 1.0, "constant^2": 2.0} if link == "ratio" else {}
        return means(4, similar, unique=False) | own

    def more(chain):
        return {"constant": chain.cache.real[-1, 0], "constant^2": chain.cache.real[0, 0] ** 2}

    return Row(asked(groups), MostSimilarPair(link, LAPSE), whole, simulate, expected, more)


# Comparisons with covariates, whose coefficients groups have in common ----------------------------


def compared(groups, tied, seed=0):
    found = []
    for g in range(groups):
        pairs = random_comparisons(3 if g else 4, seed=seed + g, most=2, missing=0.2 * bool(g))
        pairs = with_ties(pairs, 1) if tied else pairs
        labels = [str(k) for k in range(4)]
        found.append(with_values(pairs if g == 0 else pairs.together([], tuple(labels)), 2, seed=g))
    return found


def covariates(tied, groups=2):
    data = compared(groups, tied)

    def whole(data, features, weights, unique, real):
        tie = real[TIE] if tied else None
        return naive.log_likelihood(
            data, features, weights, unique, LAPSE, tie, beta=real[FIRST_COEFFICIENT:]
        )

    def expected(similar):
        own = {"coefficient": 0.0, "coefficient^2": 1.0, "other": 0.0}
        return means(4, similar) | own | ({"tie": 1.0, "tie^2": 2.0} if tied else {})

    def more(chain):
        first, last = chain.cache.real[0], chain.cache.real[-1]
        assert np.array_equal(first[FIRST_COEFFICIENT:], last[FIRST_COEFFICIENT:])
        own = {
            "coefficient": first[FIRST_COEFFICIENT],
            "coefficient^2": first[FIRST_COEFFICIENT] ** 2,
        }
        return own | {
            "other": last[FIRST_COEFFICIENT + 1],
            "tie": last[TIE],
            "tie^2": first[TIE] ** 2,
        }

    likelihood = Elimination(LAPSE, ties=tied, covariates=data[0].covariate_names)
    return Row(
        data,
        likelihood,
        whole,
        lambda rng, pairs, b, c: simulate_pairs(rng, pairs, c),
        expected,
        more,
    )


ROWS = {
    "triplets, exp": partial(triplets, "exp"),
    "triplets, ratio": partial(triplets, "ratio"),
    "covariates": partial(covariates, False),
    "ties and covariates": partial(covariates, True),
}
HAS_PARAMETERS = ("triplets, ratio", "covariates", "ties and covariates")
of_rows = pytest.mark.parametrize("name", ROWS)


@pytest.mark.parametrize(
    "weights", ["free", pytest.param("similar", marks=pytest.mark.long), "of persons"]
)
@of_rows
def test_changes_that_are_kept_are_those_of_the_definition(name, weights, uncompiled):
    """After some sweeps the stored log-likelihoods are those of the columns, weights and
    parameters, in every group."""
    row = ROWS[name](groups=3)
    of_task = joined(row, weights, draws=5, alpha=1.5)
    chain = GroupChain(of_task, np.random.default_rng(3))
    chain.run_until(5)
    Z, w, s = contents(chain.state)
    for g, each in enumerate(row.data):
        likelihood = select_group_likelihood(of_task.model.likelihood, g)
        c = select_cache(likelihood, chain.cache, g)
        found = log_likelihood(likelihood, c, replica(chain.state, g))
        real = c.real if name in HAS_PARAMETERS else [0.0]
        expected = row.naive(each, Z[g].T.astype(bool), w[g], s[g], real)
        assert found == pytest.approx(expected, rel=1e-9)


def joined(row, weights, **more):
    """The task of a row with free or similar weights, or those "of persons"."""
    of_task = row.task(weights="free" if weights == "free" else "similar", **more)
    of_task.model = of_task.model._replace(persons=weights == "of persons")
    return of_task


def steps(move, model):
    """What a move does."""

    def step(rng, parts):
        states, caches, base = parts
        if move == "flips":
            group_owners.propose_group_flip(rng, model, caches, states, 0, 2)
            group_owners.propose_group_flip(rng, model, caches, states, 1, 0)
        elif move == "transfer":
            group_owners.propose_group_split_or_join(rng, model, caches, states, base)
        else:
            group_owners.propose_compensated_group_flip(rng, model, caches, states, base, 1.0)

    return step


@pytest.mark.parametrize(
    ("name", "move", "weights"),
    [
        ("triplets, exp", "flips", "free"),
        ("triplets, exp", "transfer", "similar"),
        ("triplets, ratio", "transfer", "free"),
        ("covariates", "flips", "similar"),
        ("covariates", "compensated", "free"),
    ],
)
def test_moves_of_owners_leave_the_posterior_invariant(name, move, weights):
    row = ROWS[name]()
    of_task = row.task(alpha=1.5, weights=weights, kappa=2.0 if weights == "similar" else math.nan)
    unique = np.array([[0.8, 1.0, 1.2, 0.9]] * 2) if of_task.model.unique else np.zeros((2, 4))
    matrix = (
        [[1, 1], [1, 0], [0, 0], [0, 0]] if move == "transfer" else [[1, 0], [1, 1], [0, 1], [0, 0]]
    )
    chain = small_chain(of_task, matrix, [[0.7, 1.3], [0.4, 0.5]], unique)
    for g in range(2) if name in HAS_PARAMETERS else ():
        likelihood = select_group_likelihood(of_task.model.likelihood, g)
        c = select_cache(likelihood, chain.cache, g)
        c.real[-1] = 0.4
        rebuild_cache(likelihood, c, replica(chain.state, g))
    base = type(chain.bases)(*(array[0] for array in chain.bases))
    base.v[:2] = [0.6, 0.9] if weights == "similar" else [1.0, 1.0]
    prior = th.priors.IndianBuffet()

    def log_target(parts):
        (Z, w, s), caches = contents(parts[0]), parts[1]
        v, own, kappa = parts[2].v[: Z.shape[1]], parts[2].unique, parts[2].real[KAPPA]
        total = prior.log_prob(Z[0].T.astype(bool), 1.5)
        for g, each in enumerate(row.data):
            total += row.naive(each, Z[g].T.astype(bool), w[g], s[g], caches.real[g])
            total += np.sum((kappa - 1.0) * np.log(w[g]) - kappa * np.log(v) - kappa * w[g] / v)
            if of_task.model.unique:
                total += np.sum(
                    (kappa - 1.0) * np.log(s[g]) - kappa * np.log(own) - kappa * s[g] / own
                )
        return total - (v.sum() + own.sum() if weights == "similar" else 0.0)

    step = steps(move, of_task.model)
    assert exact.invariance_error(step, (chain.state, chain.cache, base), key, log_target) < 1e-12


@pytest.mark.long
@pytest.mark.parametrize(("groups", "weights"), [(2, "free"), (3, "similar"), (3, "of persons")])
@of_rows
def test_joint_distribution(name, groups, weights):
    """Prior means, where sweeps and simulations of everybody's answers alternate."""
    row = ROWS[name](groups=groups)
    chain = GroupChain(joined(row, weights), np.random.default_rng(77))
    scores = geweke(
        chain, row.expected(weights != "free"), 40_000, in_each_group(row.simulate), row.more
    )
    assert max(abs(z) for z in scores.values()) < LIMIT, scores


# Posteriors that are known: of triplets by weighing draws from the prior, of covariates by
# quadrature

ANSWERS = (6, 2, 1), (0, 1, 5)  # of two groups: which pair of three objects is the most similar
LONG = {"draws": 100_000, "tune": 500, "thin": 5}


def weighed(link, kappa, n=1_000_000, lapse=0.01, most=7):
    """log Z; E p of the first pair by group, P(a column {0, 1}), E columns of two owners or more;
    and their errors.

    Columns of each pattern are a Poisson process of rate 1 / 6 (two owners) or 1 / 3 (all three).
    """
    rng = np.random.default_rng(3)
    number = rng.poisson([1 / 6, 1 / 6, 1 / 6, 1 / 3], (n, 4))
    assert number.max() <= most
    there = np.arange(most) < number[:, :, None]
    v = rng.standard_exponential(there.shape) if kappa else np.ones(there.shape)
    likelihood, p = np.ones(n), []
    for answers in ANSWERS:
        weight = (rng.standard_gamma(kappa or 1.0, there.shape) * v / (kappa or 1.0) * there).sum(
            axis=2
        )
        shared = weight[:, :3] + weight[:, 3:]
        value = np.exp(shared) if link == "exp" else shared + rng.standard_exponential((n, 1))
        p.append((1 - lapse) * value / value.sum(1, keepdims=True) + lapse / 3)
        likelihood *= np.exp(np.log(p[-1]) @ answers)
    found = []
    for each in (p[0][:, 0], p[1][:, 0], number[:, 0] > 0, number.sum(1)):
        mean = (each * likelihood).mean() / likelihood.mean()
        found.append((mean, (likelihood * (each - mean)).std() / likelihood.mean() / math.sqrt(n)))
    return (math.log(likelihood.mean()), likelihood.std() / likelihood.mean() / math.sqrt(n)), found


def near(draws, known):
    """Whether the mean of draws is the known one, both with their errors."""
    (mean, error), (expected, other) = mean_and_error(draws), known
    return abs(mean - expected) < ERRORS * math.hypot(error, other) + 1e-4


def evidence_of(groups, likelihood, weights, kappa=math.nan):
    """Their log evidence without coefficients, by chains to the prior."""
    run = {"draws": 2000, "tune": 200, "chains": 12, "thin": 5}
    how = SimpleNamespace(**run, cores=1, random_seed=1, progressbar=False, sensitivity=False)
    of_task = task(
        groups,
        likelihood,
        alpha=1.0,
        weights=weights,
        kappa=kappa,
        draws=how.draws,
        tune=how.tune,
        thin=5,
    )
    constant = build_group_constant(likelihood, groups)
    found, ladders = run_ladders(of_task, constant, how, GroupPriorLadder)
    return found, found.value - constant(ladders[0])


@pytest.mark.long
@pytest.mark.parametrize(("weights", "kappa"), [("free", None), ("similar", 2.0)])
@pytest.mark.parametrize("link", ["exp", "ratio"])
def test_posterior_and_evidence_of_triplets(link, weights, kappa):
    log_z, known = weighed(link, kappa)
    data, likelihood = [three_objects(*each) for each in ANSWERS], MostSimilarPair(link)
    fixed = {"weights": weights, "kappa": kappa or math.nan}
    found = drawn(task(data, likelihood, alpha=1.0, **fixed, **LONG))
    patterns = (0, 1), (0, 2), (1, 2), (0, 1, 2)
    number, weight = zip(*(columns_owned_by(found, owners) for owners in patterns), strict=True)
    for g in range(2):
        shared = np.stack([weight[pair][:, g] + weight[3][:, g] for pair in range(3)], axis=1)
        value = np.exp(shared) if link == "exp" else shared + found.extra[f"constant {g}"][:, None]
        assert near(0.99 * value[:, 0] / value.sum(1) + 0.01 / 3, known[g])
    assert near(number[0] > 0, known[2]) and near(np.sum(number, axis=0), known[3])
    evidence, value = evidence_of(data, likelihood, **fixed)
    assert evidence.usable and abs(value - log_z[0]) < ERRORS * math.hypot(
        evidence.standard_error, log_z[1]
    )


# How often the first and the second of two were chosen where the first stood first, and where it
# stood second.
ONE_GROUP = [((6, 2, 3, 5),), ((9, 1, 4, 6),)]
EXACT = [(-11.88975184, 0.56243424, 0.68536092, 0.71567623, 1.55785248)]
EXACT += [(-12.60780402, 0.66798822, 1.04879695, 1.35172700, 1.53748456)]
TWO_GROUPS = (6, 2, 3, 5), (2, 5, 4, 1)


def by_quadrature(groups, lapse=0.01, most=25):
    """log Z, E p by group without covariates, E beta, E beta squared and E columns, with one
    coefficient for all.

    Given the numbers of columns of single options, p is Beta in each group, as weights are
    independent and exponential.
    """
    x, at = np.polynomial.legendre.leggauss(100)
    p, of_p = (1 + x) / 2, at / 2
    beta, of_beta = np.polynomial.hermite_e.hermegauss(80)
    of_beta = of_beta / of_beta.sum()
    lift = np.exp(beta)[:, None]
    first, second = p * lift / (p * lift + 1 - p), p / (p + (1 - p) * lift)  # (beta, p)
    terms, lapsed = [], (1 - lapse) * p + lapse / 2
    for a, b, c, d in groups:
        one, other = ((1 - lapse) * each + lapse / 2 for each in (first, second))
        terms.append(one**a * (1 - one) ** b * other**c * (1 - other) ** d)
    number = [math.exp(-0.5) * 0.5**k / math.factorial(k) for k in range(most)]
    total, columns = 0.0, 0.0
    means, of_coefficient = np.zeros(len(groups)), np.zeros(2)
    for i, j in itertools.product(range(most), repeat=2):
        density = (
            of_p
            * p**i
            * (1 - p) ** j
            * math.gamma(i + j + 2)
            / (math.gamma(i + 1) * math.gamma(j + 1))
        )
        each = [term @ density for term in terms]  # (beta,)
        part = number[i] * number[j] * of_beta * np.prod(each, axis=0)
        total += part.sum()
        columns += (i + j) * part.sum()
        of_coefficient += [(part * beta).sum(), (part * beta**2).sum()]
        means += [
            (part * (term @ (density * lapsed)) / one).sum()
            for term, one in zip(terms, each, strict=True)
        ]
    return math.log(total), means / total, *(of_coefficient / total), columns / total + 0.5


@pytest.mark.parametrize(("groups", "known"), [*zip(ONE_GROUP, EXACT, strict=True)])
def test_the_quadrature_gives_the_known_values_of_one_group(groups, known):
    log_z, (p,), *others = by_quadrature(groups)
    assert [log_z, p, *others] == pytest.approx(known, abs=1e-7)


def in_order(a, b, c, d):
    """So often tea and milk were chosen where tea stood first, and where it stood second."""
    tea, milk = labels = ["tea", "milk"]
    rows = [(tea, milk, tea, a), (tea, milk, milk, b), (milk, tea, tea, c), (milk, tea, milk, d)]
    frame = pd.DataFrame(rows, columns=["left", "right", "chosen", "n"])
    return th.PairedComparisons.from_trials(frame, count="n", covariates=["order"], labels=labels)


@pytest.mark.long
@pytest.mark.parametrize("groups", [ONE_GROUP[0], TWO_GROUPS])
def test_posterior_and_evidence_with_a_common_coefficient(groups):
    log_z, p, *known = by_quadrature(groups)
    data, likelihood = (
        [in_order(*each) for each in groups],
        Elimination(0.01, covariates=("order",)),
    )
    found = drawn(task(data, likelihood, alpha=1.0, **LONG))
    alone = [columns_owned_by(found, (i,)) for i in range(2)]
    total = [found.unique_weights[:, :, i] + alone[i][1] for i in range(2)]
    for g, expected in enumerate(p):
        assert near(0.99 * total[0][:, g] / (total[0] + total[1])[:, g] + 0.005, (expected, 0.0))
    beta = found.extra["covariate[order] 0"]
    for draws, expected in zip((beta, beta**2, found.n_features), known, strict=True):
        assert near(draws, (expected, 0.0))
    evidence, value = evidence_of(data, likelihood, "free")
    assert evidence.usable and abs(value - log_z) < ERRORS * evidence.standard_error
