"""Every discrete update leaves the posterior invariant: pi P = pi, over all outcomes of the real code."""

import math
from collections import Counter

import numpy as np
import pytest
from elimination_moves import key, on, own_log_likelihood, state_key, target
from problems import (
    FIXED_UNIQUE,
    NO_UNIQUE,
    TOTAL_UNIQUE,
    build,
    contents,
    make_state,
    random_comparisons,
    three_options,
)

from thali.aspects.moves import births, flips, mass_transfer, split_join
from thali.aspects.priors import phylogenetic
from thali.aspects.priors.finite import FiniteFeatures
from thali.aspects.priors.ibp import IndianBuffet
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.aspects.samplers import paper
from thali.data.pairs import PairedComparisons
from thali.testing import naive
from thali.testing.exact import invariance_error
from thali.trees.tree import Tree

EXACT = 1e-12


DATA = three_options()
MATRIX = [[1, 0], [1, 1], [0, 1]]


PAIR = PairedComparisons([[0, 3], [1, 0]])


def flip_one(model, k, i):
    return lambda rng, pair: flips.try_flip(rng, model, pair[1], pair[0], k, i)


def test_whole_flip_pass_of_the_buffet():
    # within the pass columns may have any number of owners from 1 to n
    model, make = build(PAIR, unique=FIXED_UNIQUE, lo=1, hi=2)
    start = make_state(model, make, [[1, 0], [0, 1]], [0.7, 1.3], [0.5, 1.0])
    assert invariance_error(on(flips.flip_columns, model), start, key, target(model, PAIR, IndianBuffet())) < EXACT


@pytest.mark.first(1)
@pytest.mark.parametrize("unique", [FIXED_UNIQUE, NO_UNIQUE])
def test_whole_flip_pass_of_the_finite_prior(unique):
    prior = FiniteFeatures(2)
    model, make = build(PAIR, prior, unique=unique, lo=0, hi=2)
    start = make_state(model, make, [[1, 0], [0, 1]], [0.7, 1.3], [0.5, 1.0] if unique else [0.0, 0.0])
    assert invariance_error(on(flips.flip_columns, model), start, key, target(model, PAIR, prior)) < EXACT


@pytest.mark.parametrize("k", [0, 1])
def test_random_flips_with_geometric_skipping(k):
    # what the buffet uses for more than twelve options
    model, make = build(DATA, unique=FIXED_UNIQUE, lo=1, hi=3)
    start = make_state(model, make, MATRIX, [0.7, 1.3], [0.5, 1.0, 0.8])

    def step(rng, pair):
        flips.flip_at_random(rng, model, pair[1], pair[0], k)

    assert invariance_error(step, start, key, target(model, DATA, IndianBuffet())) < EXACT


@pytest.mark.parametrize("prior, lo", [(IndianBuffet(), 1), (FiniteFeatures(2), 0)])
@pytest.mark.parametrize("k, i", [(0, 0), (0, 2), (1, 1)])
def test_each_flip(prior, lo, k, i):
    model, make = build(DATA, prior, unique=FIXED_UNIQUE, lo=lo, hi=3)
    start = make_state(model, make, MATRIX, [0.7, 1.3], [0.5, 1.0, 0.8])
    assert invariance_error(flip_one(model, k, i), start, key, target(model, DATA, prior)) < EXACT


@pytest.mark.parametrize("unique", [FIXED_UNIQUE, TOTAL_UNIQUE])
def test_compensated_flip(unique):
    data = random_comparisons(4, seed=3)
    lo, hi = (2, 3) if unique == TOTAL_UNIQUE else (1, 3)
    model, make = build(data, unique=unique, lo=lo, hi=hi)
    start = make_state(model, make, [[1, 0], [1, 1], [0, 1], [0, 0]], [0.3, 0.4], [0.5, 1.0, 0.8, 0.9])
    assert (
        invariance_error(on(mass_transfer.compensated_flip, model), start, key, target(model, data, IndianBuffet()))
        < EXACT
    )


def test_compensated_flip_of_the_finite_prior():
    prior = FiniteFeatures(2)
    model, make = build(DATA, prior, unique=FIXED_UNIQUE, lo=0, hi=3)
    start = make_state(model, make, MATRIX, [0.3, 0.4], [0.5, 1.0, 0.8])
    assert invariance_error(on(mass_transfer.compensated_flip, model), start, key, target(model, DATA, prior)) < EXACT


def test_row_block():
    data = random_comparisons(4, seed=5)
    model, make = build(data)
    # small unique weights keep the number of states that can be reached small
    matrix = [[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1]]
    start = make_state(model, make, matrix, [0.31, 0.43, 0.27], [0.05, 0.052, 0.06, 0.03])
    assert invariance_error(on(mass_transfer.row_block, model), start, key, target(model, data, IndianBuffet())) < EXACT


@pytest.mark.parametrize("lo", [1, 2])
def test_transfer(lo):
    data = random_comparisons(5, seed=7)
    model, make = build(data, unique=TOTAL_UNIQUE if lo == 2 else NO_UNIQUE, lo=lo)
    matrix = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
    start = make_state(model, make, matrix, [0.3, 0.9, 0.5], [0.5, 1.0, 0.8, 0.2, 0.1] if lo == 2 else np.zeros(5))
    assert invariance_error(on(split_join.transfer, model), start, key, target(model, data, IndianBuffet())) < EXACT


def test_transfer_of_the_finite_prior():
    # columns may give up all of their owners and take over those of another
    prior = FiniteFeatures(3)
    data = random_comparisons(4, seed=7)
    model, make = build(data, prior, unique=FIXED_UNIQUE, lo=0, hi=4)
    matrix = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]
    start = make_state(model, make, matrix, [0.31, 0.93, 0.52], [0.5, 1.0, 0.8, 0.2])
    assert invariance_error(on(split_join.transfer, model), start, key, target(model, data, prior)) < EXACT


def test_row_block_of_the_finite_prior():
    prior = FiniteFeatures(3)
    data = random_comparisons(3, seed=5)
    model, make = build(data, prior, unique=FIXED_UNIQUE, lo=0, hi=3)
    matrix = [[1, 0, 0], [1, 0, 1], [0, 0, 1]]
    start = make_state(model, make, matrix, [0.31, 0.43, 0.27], [0.05, 0.052, 0.03])
    assert invariance_error(on(mass_transfer.row_block, model), start, key, target(model, data, prior)) < EXACT


TREE = Tree.from_newick("((1:.3,2:.3):.7,3:1);")


@pytest.fixture(params=[16, 0], ids=["tabled", "pattern by pattern"])
def tree_prior(request, monkeypatch):
    monkeypatch.setattr(phylogenetic, "MAX_TABLED", request.param)
    return PhylogeneticBuffet(TREE)


def test_flips_on_a_tree(tree_prior):
    model, make = build(DATA, tree_prior, unique=FIXED_UNIQUE, lo=1, hi=3)
    start = make_state(model, make, [[1], [1], [0]], [0.7], [0.5, 1.0, 0.8])
    assert invariance_error(on(flips.flip_columns, model), start, key, target(model, DATA, tree_prior)) < EXACT


@pytest.mark.first(1)
def test_compensated_moves_on_a_tree(tree_prior):
    model, make = build(DATA, tree_prior, unique=FIXED_UNIQUE, lo=1, hi=3)
    starts = {
        mass_transfer.compensated_flip: MATRIX,
        mass_transfer.row_block: MATRIX,
        split_join.transfer: [[1, 1], [1, 0], [1, 0]],
    }
    for move, matrix in starts.items():
        start = make_state(model, make, matrix, [0.3, 0.4], [0.5, 1.0, 0.8])
        assert invariance_error(on(move, model), start, key, target(model, DATA, tree_prior)) < EXACT


@pytest.mark.parametrize("lo, unique, rows", [(2, TOTAL_UNIQUE, 4), (1, NO_UNIQUE, 3)])
def test_birth_and_death(lo, unique, rows):
    # every weight is 1; births beyond the room for columns are rejected, which restricts the posterior to that room
    data = DATA
    model, make = build(data, unique=unique, lo=lo)
    alpha = 1.5
    start = make_state(model, make, np.zeros((3, 0)), [], [0.5, 1.0, 0.8] if unique else np.zeros(3), alpha, rows)
    table = IndianBuffet().compiled(3)
    rate = table.harmonic[2] - table.harmonic[lo - 1]

    def step(rng, pair):
        births.birth_or_death(rng, model, pair[1], pair[0], rate)

    def log_target(pair):
        state, _ = pair
        matrix, _, _ = contents(state)
        copies = Counter(state_key(pair)).values()
        total = (
            own_log_likelihood(model, state)
            if unique == NO_UNIQUE
            else naive.log_likelihood(data, *contents(state), 0.01)
        )
        total += sum(math.log(alpha) + table.log_rate[m] for m in matrix.sum(0))
        return total - sum(math.lgamma(c + 1) for c in copies)

    assert invariance_error(step, start, state_key, log_target, number=1.0) < EXACT


def test_row_of_the_published_sampler():
    model, make = build(DATA, unique=FIXED_UNIQUE, lo=1, hi=3)
    start = make_state(model, make, MATRIX, [0.7, 1.3], [0.5, 1.0, 0.8])

    def step(rng, pair):
        paper.update_row(rng, model, pair[1], pair[0], 1, True)

    assert invariance_error(step, start, key, target(model, DATA, IndianBuffet())) < EXACT


def test_a_planted_error_is_seen():
    """The check can fail: columns of a single owner come a third too often."""
    model, make = build(DATA, unique=FIXED_UNIQUE, lo=1, hi=3)
    table = model.prior.log_rate + np.array([0.0, 0.3, 0.0, 0.0])
    wrong = model._replace(prior=model.prior._replace(log_rate=table))
    start = make_state(wrong, make, MATRIX, [0.7, 1.3], [0.5, 1.0, 0.8])
    assert invariance_error(flip_one(wrong, 0, 0), start, key, target(model, DATA, IndianBuffet())) > 1e-3
