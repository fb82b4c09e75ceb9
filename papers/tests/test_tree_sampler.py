"""The published sampler on a tree: its moves are exact, and its truncation biases it by as much as
was found before."""

import math
from typing import Any

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.naive import latent_features as naive
from helpers.phylogenetic_trees import random_tree
from helpers.problems import (
    FIXED_UNIQUE,
    build,
    contents,
    make_state,
    random_comparisons,
    three_options,
)
from scipy import integrate, stats

import thali as th
from papers.samplers import elimination_2006, phylogenetic_2008, use_published_sampler
from thali._aspects.chain_state import COLUMNS, remove_column, resize_state
from thali._aspects.priors import PhylogeneticBuffet
from thali._aspects.priors.phylogenetic import TreeRates
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task
from thali._testing.exact import invariance_error, outcomes

pytestmark = pytest.mark.fit

CHERRY = "((1:.3,2:.3):.7,3:1);"


def at_random(seed, columns, n=7):
    """A tree, its prior as the samplers read it, and a state of random columns with their
    probabilities."""
    rng, tree = np.random.default_rng(seed), random_tree(n, seed)
    matrix = rng.random((n, columns)) < rng.choice([0.3, 0.8], columns)
    matrix[rng.integers(n), matrix.sum(axis=0) == 0] = True
    model, make = build(
        random_comparisons(n, seed), PhylogeneticBuffet(tree), unique=FIXED_UNIQUE, lo=1, hi=n
    )
    weights = rng.exponential(size=columns)
    state, _ = make_state(model, make, matrix, weights, rng.exponential(size=n))
    state.pi[:columns] = rng.random(columns)
    phylogenetic_2008.begin(model.prior, state)
    return tree, model, state


def log_probability(tree, owners, pi):
    """log P(h | pi) by sums over the inner nodes, leaves to root, in probabilities: slow and
    obvious."""
    gamma, count = -math.log1p(-pi), len(tree.parents)
    # probability of the leaves below, whether the node has it or not
    lacking, having = np.ones(count), np.ones(count)
    for v in range(count - 1):
        if v < tree.n_leaves:
            lacking[v], having[v] = not owners[v], owners[v]
        stays = math.exp(-gamma * tree.lengths[v])
        lacking[tree.parents[v]] *= stays * lacking[v] + (1.0 - stays) * having[v]
        having[tree.parents[v]] *= having[v]
    return math.log(lacking[-1])


def mean_and_error(draws):
    draws = np.asarray(draws, float)
    return draws.mean(), draws.std() / math.sqrt(
        array_stats.ess(draws[None] if draws.ndim == 1 else draws, method="mean")
    )


@pytest.mark.parametrize("seed", range(4))
def test_probability_of_a_column_and_of_each_toggle(seed):
    tree, model, state = at_random(seed, columns=12)
    for k in range(12):
        owners, pi = state.Z[k, :7].astype(bool), state.pi[k]
        expected = log_probability(tree, owners, pi)
        assert phylogenetic_2008.log_probability(model.prior, state, k, k, pi) == pytest.approx(
            expected, abs=1e-11
        )
        for i in range(7):
            with_i, without_i = owners.copy(), owners.copy()
            with_i[i], without_i[i] = True, False
            expected = log_probability(tree, with_i, pi) - log_probability(tree, without_i, pi)
            assert phylogenetic_2008.log_odds_of_owning(model.prior, state, k, i) == pytest.approx(
                expected, abs=1e-11
            )


@pytest.mark.parametrize("i", [0, 2])
def test_row_pass_given_the_probabilities(i):
    data, tree = three_options(), th.Tree.from_newick(CHERRY)
    model, make = build(data, PhylogeneticBuffet(tree), unique=FIXED_UNIQUE, lo=1, hi=3)
    start = make_state(
        model, make, [[1, 0, 1], [1, 1, 0], [0, 1, 0]], [0.7, 1.3, 0.4], [0.5, 1.0, 0.8]
    )
    start[0].pi[:3] = [0.15, 0.6, 0.9]
    phylogenetic_2008.begin(model.prior, start[0])

    def key(pair):
        matrix, weights, _ = contents(pair[0])
        return matrix.tobytes(), tuple(weights), tuple(pair[0].pi[:3])

    def log_target(pair):
        matrix, weights, unique = contents(pair[0])
        total = naive.log_likelihood(data, matrix, weights, unique, 0.01)
        return total + sum(map(log_probability, [tree] * 3, matrix.T, pair[0].pi))

    def step(rng, pair):
        phylogenetic_2008.update_row(rng, model, pair[1], pair[0], i)

    assert invariance_error(step, start, key, log_target) < 1e-12


@pytest.mark.first(1)
@pytest.mark.parametrize("owners", [[0], [0, 1], [1, 2], [0, 1, 2]])
def test_walk_of_a_probability(owners):
    tree, rng = th.Tree.from_newick(CHERRY), np.random.default_rng(4)
    model, make = build(three_options(), PhylogeneticBuffet(tree), unique=FIXED_UNIQUE, lo=1, hi=3)
    column = np.isin(np.arange(3), owners)
    state, _ = make_state(model, make, column[:, None], [1.0], [1.0, 1.0, 1.0])
    phylogenetic_2008.begin(model.prior, state)
    drawn = np.empty(50_000)
    for t in range(drawn.size):
        phylogenetic_2008.update_probability(rng, model.prior, state, 0)
        drawn[t] = state.pi[0]
    kinship = TreeRates.from_tree(tree, 400)
    density = np.exp(kinship.base + kinship.sum_gains(column, tree.parents))
    for power in (0.5, 1, 2):
        expected = (density * (-np.expm1(-kinship.gamma)) ** power).sum() / density.sum()
        mean, error = mean_and_error(drawn**power)
        assert error < 0.03 * expected
        assert abs(mean - expected) < 4 * error


class Proposing:
    """A random generator whose normal draw is given and whose exponential draws have both outcomes
    followed."""

    def __init__(self, rng, normal):
        self.standard_exponential, self.normal = rng.standard_exponential, normal

    def standard_normal(self):
        return self.normal


@pytest.mark.parametrize("pi, new", [(0.02, 0.4), (0.3, 0.9), (0.5, 0.999)])
def test_walk_is_in_detailed_balance(pi, new):
    """The proposal's variance hardly changes, so that a long run would not see that its ratio is
    missing."""
    tree, model, state = at_random(5, columns=1)

    def flow(pi, new):
        spread = math.sqrt(0.06 * pi * (1.0 - pi) + 0.08)
        state.pi[0] = pi
        phylogenetic_2008.begin(model.prior, state)

        def step(rng, after):
            phylogenetic_2008.update_probability(
                Proposing(rng, (new - pi) / spread), model.prior, after, 0
            )

        found: list[tuple[float, Any]] = outcomes(step, state)
        accepted = sum(share for share, after in found if after.pi[0] != pi)
        density = math.exp(log_probability(tree, state.Z[0, :7].astype(bool), pi)) / pi
        return density * stats.norm.pdf(new, pi, spread) * accepted

    assert flow(pi, new) > 0.0
    assert flow(pi, new) == pytest.approx(flow(new, pi), rel=1e-9)


@pytest.mark.parametrize("leaf_length", [0.3, 1e-3, 1.0])
def test_probability_of_a_new_column(leaf_length):
    tree, rng = (
        th.Tree.from_groups({"a": ["1", "2"], "b": ["3"]}, leaf_length),
        np.random.default_rng(9),
    )
    prior = PhylogeneticBuffet(tree).compiled(3)
    drawn = [phylogenetic_2008.draw_probability_alone(rng, prior, 0) for _ in range(4_000)]
    rest = tree.total_length - leaf_length

    def density(pi):  # eq. 8
        return (1.0 - (1.0 - pi) ** leaf_length) * (1.0 - pi) ** rest / pi

    ends = np.linspace(1e-12, 1.0, 400)
    pieces = [integrate.quad(density, a, b)[0] for a, b in zip(ends[:-1], ends[1:], strict=True)]
    rising = np.concatenate([[0.0], np.cumsum(pieces)]) / np.sum(pieces)
    # linear interpolation on 400 pieces is off by far less than the test can see, 1 / sqrt(4000)
    assert stats.kstest(drawn, lambda pi: np.interp(pi, ends, rising)).pvalue > 1e-4


@pytest.mark.long
def test_a_column_keeps_its_probability_and_its_nodes(uncompiled):
    """Through sweeps in which columns come, go and move, and when the bag grows."""
    tree = random_tree(6, 2)
    data = th.PairedComparisons(random_comparisons(6, 3).counts, tree.labels)
    settings = {"weight_prior": (1.0, 1.0), "alpha": 3.0, "draws": 1, "tune": 0, "thin": 10**9}
    task = build_task(
        PhylogeneticBuffet(tree),
        th.likelihoods.Elimination(),
        data,
        sweep=phylogenetic_2008.published,
        **settings,
    )
    chain = FeatureChain(task, np.random.default_rng(1))
    for until in range(1, 60):
        chain.run_until(until)
        state = resize_state(chain.state, 100) if until % 2 else chain.state
        for k in range(state.whole[COLUMNS]):
            assert 0.0 < state.pi[k] < 1.0
            owners = state.Z[k, :6].astype(bool)
            found = phylogenetic_2008.log_probability(task.model.prior, state, k, k, state.pi[k])
            assert found == pytest.approx(log_probability(tree, owners, state.pi[k]), abs=1e-9)


def test_a_probability_moves_with_its_column():
    _, _, state = at_random(0, columns=4)
    last, weight = state.pi[3], state.w[3]
    remove_column(state, 1)
    assert (state.pi[1], state.w[1]) == (last, weight)
    state.m[0] = 0
    kept = list(zip(state.w[1:3], state.pi[1:3], strict=True))
    elimination_2006.drop_empty(state)
    assert list(zip(state.w[:2], state.pi[:2], strict=True)) == kept


def fit(tree, alpha, draws):
    model = use_published_sampler(th.EliminationByAspects(aspects=tree, alpha=alpha))
    model.fit(three_options(), draws=draws, tune=300, thin=10, random_seed=2008, progressbar=False)
    return model.posterior_["posterior"]


@pytest.mark.long
def test_its_truncation_biases_it_on_a_tree():
    """Three options, alpha = 2: 3.600 features and .6952 for options 1 and 2; K* = 5 finds 3.27 and
    .6923(6)."""
    posterior = fit(th.Tree.from_newick(CHERRY), 2.0, 20_000)
    mean, error = mean_and_error(posterior["choice_probability"].values[..., 0])
    assert abs(mean - 0.6923) < 4 * math.hypot(error, 0.0006)
    mean, error = mean_and_error(posterior["n_features"].values)
    # the errors of both are as a dozen to one of those of the probability; 3.27 is rounded
    assert abs(mean - 3.27) < 4 * math.hypot(error, 12 * 0.0006) + 0.005


@pytest.mark.long
def test_on_a_star_it_is_biased_as_that_of_the_indian_buffet():
    """alpha learned: 2.213 features and 1.134, of which the other published sampler finds 1.667(9)
    and .941(4)."""
    posterior = fit(th.Tree.star(["1", "2", "3"]), None, 20_000)
    for name, expected, its_error in (("n_features", 1.667, 0.009), ("alpha", 0.941, 0.004)):
        mean, error = mean_and_error(posterior[name].values)
        assert abs(mean - expected) < 4 * math.hypot(error, its_error)
