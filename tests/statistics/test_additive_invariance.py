"""Every discrete update of additive clustering leaves its posterior invariant: pi P = pi, over all outcomes."""

import copy
import math
from collections import Counter

import numpy as np
import pytest
from problems import build_additive, contents, make_state, random_similarities

import thali as th
from thali.aspects.likelihoods.residuals import VARIANCE
from thali.aspects.moves import births, flips, joint_rows, split_join
from thali.aspects.operations import cache_at, open_members, rebuild
from thali.aspects.priors.finite import FiniteFeatures
from thali.aspects.priors.ibp import IndianBuffet
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.aspects.samplers import paper
from thali.aspects.samplers.loop import on_level
from thali.aspects.samplers.tempering import ladder, swap
from thali.aspects.state import ALPHA, BETA, SWEEPS, replica, stack
from thali.testing import naive
from thali.testing.exact import invariance_error

EXACT = 1e-12
MATRIX = [[1, 0], [1, 1], [0, 1]]
WEIGHTS = [0.31, 0.17]
COMPLETE = th.Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]])
GAP = th.Similarities([[1, 0.8, np.nan], [0.8, 1, 0.45], [np.nan, 0.45, 1]])
JUDGED = th.Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]], judgements=[[0, 5, 1], [5, 0, 2], [1, 2, 0]])
DATA = pytest.mark.parametrize("data", [COMPLETE, GAP, JUDGED], ids=["complete", "gap", "judged"])


def key(pair):
    matrix, weights, _ = contents(pair[0])
    return matrix.tobytes(), matrix.shape, tuple(np.round(weights, 9))


def log_likelihood(data, state, cache):
    matrix, weights, _ = contents(state)
    constant, variance = cache.real
    return naive.additive_log_likelihood(data, matrix, weights, float(constant), math.sqrt(variance))


def target(data, prior, shape=1.0, rate=1.0):
    """Log posterior of a state whose number of columns is fixed."""

    def log_target(pair):
        state, cache = pair
        matrix, weights, _ = contents(state)
        weighing = ((shape - 1.0) * np.log(weights) - rate * weights).sum()
        likelihood = state.real[BETA] * log_likelihood(data, state, cache)
        return likelihood + prior.log_prob(matrix, float(state.real[ALPHA])) + weighing

    return log_target


def start(data, matrix=MATRIX, weights=WEIGHTS, prior=None, rows=4, **settings):
    """A model, and a state of it whose arrays are short: it is copied for every outcome."""
    model, make = build_additive(data, prior, **settings)
    state, cache = make_state(model, make, matrix, weights, np.zeros(data.n_options), rows=rows)
    return model, (state, cache)


def on(move, model, *more):
    return lambda rng, pair: move(rng, model, pair[1], pair[0], *more)


@DATA
def test_one_column_passed_through(data):
    model, first = start(data, [[1], [1], [0]], [0.31])
    assert invariance_error(on(flips.flip_columns, model), first, key, target(data, IndianBuffet())) < EXACT


def test_a_whole_pass_of_two_columns():
    model, first = start(GAP)
    assert invariance_error(on(flips.flip_columns, model), first, key, target(GAP, IndianBuffet())) < EXACT


def test_a_whole_pass_of_two_columns_that_may_be_empty():
    data = th.Similarities([[1, 0.6], [0.6, 1]])
    prior = FiniteFeatures(2)
    model, first = start(data, [[1, 1], [1, 0]], prior=prior, lo=0)
    assert invariance_error(on(flips.flip_columns, model), first, key, target(data, prior)) < EXACT


def test_a_pass_on_a_tree():
    prior = PhylogeneticBuffet(th.Tree.from_newick("((0:.3,1:.3):.7,2:1);"))
    model, first = start(GAP, [[1], [1], [0]], [0.31], prior)
    assert invariance_error(on(flips.flip_columns, model), first, key, target(GAP, prior)) < EXACT


@DATA
@pytest.mark.parametrize("row", [0, 1])
def test_row_of_the_published_sampler(data, row):
    model, first = start(data)
    assert invariance_error(on(paper.update_row, model, row, True), first, key, target(data, IndianBuffet())) < EXACT


@DATA
@pytest.mark.parametrize("beta", [1.0, 0.2])
@pytest.mark.parametrize("shape, rate", [(1.0, 10.0), (2.0, 4.0)])
def test_transfer(data, beta, shape, rate):
    model, first = start(data, [[1, 1], [1, 1], [1, 0]], [0.13, 0.38], shape=shape, rate=rate)
    first[0].real[BETA] = beta
    log_target = target(data, IndianBuffet(), shape, rate)
    assert invariance_error(on(split_join.transfer, model), first, key, log_target) < EXACT


def test_transfer_of_three_columns_of_five_objects():
    data = random_similarities(5, seed=7, missing=0.3)
    matrix = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
    model, first = start(data, matrix, [0.31, 0.93, 0.52], lo=2)
    assert invariance_error(on(split_join.transfer, model), first, key, target(data, IndianBuffet())) < EXACT


def test_transfer_of_the_finite_prior():
    prior = FiniteFeatures(2)
    model, first = start(GAP, [[1, 1], [1, 0], [0, 0]], prior=prior, lo=0)
    assert invariance_error(on(split_join.transfer, model), first, key, target(GAP, prior)) < EXACT


def state_key(pair):
    """Columns as an unordered multiset."""
    matrix, _, _ = contents(pair[0])
    return tuple(sorted(tuple(column) for column in matrix.T.astype(int)))


@DATA
@pytest.mark.parametrize("lo", [1, 2])
def test_birth_and_death(data, lo):
    # every new weight is .5; births beyond the room for columns are rejected, which restricts the posterior to it
    rate = 2.0
    model, first = start(data, np.zeros((3, 0)), [], lo=lo, rate=rate, rows=3)
    table = IndianBuffet().compiled(3)
    total = table.harmonic[3] - table.harmonic[lo - 1]

    def log_target(pair):
        state, cache = pair
        matrix, _, _ = contents(state)
        prior = sum(math.log(state.real[ALPHA]) + table.log_rate[m] for m in matrix.sum(0))
        copies = Counter(state_key(pair)).values()
        return log_likelihood(data, state, cache) + prior - sum(math.lgamma(c + 1) for c in copies)

    step = on(births.birth_or_death, model, total)
    assert invariance_error(step, first, state_key, log_target, number=1.0) < EXACT


def two_levels(data, sweeps, betas):
    """Replicas of one column each, in different states, as (states, caches, ladder)."""
    columns = ([[1], [0]], [[1], [1]], [[0], [1]])[: len(betas)]
    made = []
    for t, matrix in enumerate(columns):
        model, (state, cache) = start(data, matrix, [0.3 + 0.2 * t], sigma=None)
        cache.real[:] = 0.1 + 0.05 * t, 0.02 + 0.01 * t  # each has its own constant and variance
        rebuild(model.likelihood, cache, state)
        state.whole[SWEEPS] = sweeps
        made.append((state, cache))
    steps = ladder(1.0 / np.array(betas))
    return model, (stack([b for b, _ in made]), stack([c for _, c in made]), steps)


def level_key(point):
    states, _, steps = point
    return tuple((int(at), states.Z[at, 0].tobytes()) for at in steps.at)


def flip_or_swap(model):
    """A random replica flips, at the temperature of its level, or neighbours are swapped."""

    def step(rng, point):
        states, caches, steps = point
        if rng.random() < 0.5:
            t = int(rng.random() * len(steps.beta))
            b, c = on_level(states, steps, t), cache_at(model.likelihood, caches, steps.at[t])
            open_members(model.likelihood, c, b, 0)
            flips.try_flip(rng, model, c, b, 0, int(rng.random() * 2))
        else:
            swap(rng, model, caches, states, steps)

    return step


def product_of_posteriors(model, data, betas):
    def log_target(point):
        states, caches, steps = point
        total = 0.0
        for beta, at in zip(betas, steps.at, strict=True):
            state = replica(states, at)
            total += beta * log_likelihood(data, state, cache_at(model.likelihood, caches, at))
            total += IndianBuffet().log_prob(contents(state)[0], float(state.real[ALPHA]))
        return total

    return log_target


TWO = th.Similarities([[1, 0.6], [0.6, 1]])


@pytest.mark.parametrize("sweeps, betas", [(0, (1.0, 0.3)), (1, (1.0, 0.6, 0.2)), (0, (1.0, 0.6, 0.2))])
def test_trades_between_replicas(sweeps, betas):
    model, first = two_levels(TWO, sweeps, betas)
    log_target = product_of_posteriors(model, TWO, betas)
    assert invariance_error(flip_or_swap(model), first, level_key, log_target) < EXACT


def test_planted_errors_are_seen():
    """The checks can fail: pairs that count twice, a beta that flips forget, one that swaps forget."""
    model, first = start(COMPLETE, [[1], [1], [0]], [0.31])
    twice = copy.deepcopy(first)
    twice[1].real[VARIANCE] /= 2.0
    right = target(COMPLETE, IndianBuffet())

    def log_target(pair):  # the variance of the data is that of `first`
        pair[1].real[VARIANCE] *= 2.0
        value = right(pair)
        pair[1].real[VARIANCE] /= 2.0
        return value

    assert invariance_error(on(flips.flip_columns, model), twice, key, log_target) > 1e-3

    def heated(pair):
        return right(pair) - 0.5 * log_likelihood(COMPLETE, *pair)

    assert invariance_error(on(flips.flip_columns, model), first, key, heated) > 1e-3

    model, first = two_levels(TWO, 0, (1.0, 0.3))
    product = product_of_posteriors(model, TWO, (1.0, 0.5))
    assert invariance_error(flip_or_swap(model), first, level_key, product) > 1e-3


THREE = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]


def together(model, i, but=None):
    """The memberships of object i in columns that are chosen by the owners but one, i itself unless told otherwise."""

    def step(rng, pair):
        state, cache = pair
        size = joint_rows.choose_overlapping(rng, state, i if but is None else but)
        if size > 1:
            joint_rows.draw_memberships(rng, model, cache, state, i, size)

    return step


@pytest.fixture
def in_pairs(monkeypatch):
    """Two columns at a time, so that three leave a choice."""
    monkeypatch.setattr(joint_rows, "BLOCK", 2)
    monkeypatch.setattr(joint_rows, "FIRST", 4)


@DATA
def test_memberships_of_an_object_drawn_together(data, in_pairs):
    model, first = start(data, THREE, [0.31, 0.17, 0.4], rows=5)
    first[0].real[BETA] = 0.3
    assert invariance_error(together(model, 1), first, key, target(data, IndianBuffet())) < EXACT


def test_memberships_drawn_together_on_a_tree():
    prior = PhylogeneticBuffet(th.Tree.from_newick("((0:.3,1:.3):.7,2:1);"))
    model, first = start(GAP, MATRIX, prior=prior)
    assert invariance_error(together(model, 1), first, key, target(GAP, prior)) < EXACT


def test_a_choice_of_columns_that_looks_at_what_is_drawn_is_seen(in_pairs):
    """Planted: the object itself counts among the owners by which columns are chosen."""
    model, first = start(COMPLETE, [[1, 0, 1], [1, 1, 0], [0, 1, 1]], [0.3, 0.2, 0.4], rows=5)
    right = target(COMPLETE, IndianBuffet())
    assert invariance_error(together(model, 0), first, key, right) < EXACT
    assert invariance_error(together(model, 0, but=2), first, key, right) > 1e-6
