"""The likelihood of choices out of sets: every change and every move, against naive evaluations."""

import math
from collections import Counter

import numpy as np
import pytest
from elimination_moves import key, on, state_key, target
from likelihood_rows import started
from problems import FIXED_UNIQUE, NO_UNIQUE, TOTAL_UNIQUE, build, contents, make_state, random_comparisons
from set_problems import choices_of, random_choices

from thali.aspects import operations
from thali.aspects.draws.columns import Columns
from thali.aspects.likelihoods.elimination import Elimination
from thali.aspects.likelihoods.elimination_sets import compiled_sets
from thali.aspects.likelihoods.set_draws import set_probability_draws
from thali.aspects.moves import births, flips, mass_transfer, split_join
from thali.aspects.priors.finite import FiniteFeatures
from thali.aspects.priors.ibp import IndianBuffet
from thali.data.choices import Choices
from thali.errors import DataError
from thali.testing import naive
from thali.testing.exact import invariance_error

EXACT = 1e-12


def test_options_that_no_aspect_tells_apart_are_chosen_equally_often():
    data = choices_of({("0", "1", "2"): (3, 1, 2), ("1", "2", "3"): (0, 2, 5)}, list("0123"))
    model, make = build(data, unique=NO_UNIQUE)
    matrix = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], bool)
    state, cache = make_state(model, make, matrix, [0.7, 1.1], np.zeros(4))
    expected = naive.log_likelihood(data, matrix, [0.7, 1.1], np.zeros(4), 0.01)
    assert operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(expected, rel=1e-13)
    for k, i in [(0, 0), (0, 1), (1, 2)]:
        operations.apply_member(model.likelihood, cache, state, k, i, -state.w[k])
        state.Z[k, i] = 0.0
    nobody = (6 + 7) * np.log(1 / 3)
    assert operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(nobody, rel=1e-13)


@pytest.mark.parametrize("lapse", [0.0, 0.01])
def test_pairs_as_sets_have_exactly_the_likelihood_of_pairs(lapse):
    pairs = random_comparisons(7, seed=2, missing=0.3)
    model, make = build(pairs, lapse=lapse)
    state, cache = started(model, make, 7, 5)
    sets, make_sets = compiled_sets(Choices.from_comparisons(pairs), lapse)
    cache_of_sets = make_sets(sets)
    operations.rebuild(sets, cache_of_sets, state)
    own = operations.log_likelihood(sets, cache_of_sets, state)
    assert own == pytest.approx(operations.log_likelihood(model.likelihood, cache, state), rel=1e-13)
    # and choices out of nothing but pairs are handed to the likelihood of pairs
    as_pairs, _ = Elimination(lapse).compiled(Choices.from_comparisons(pairs))
    assert all(np.array_equal(a, b) for a, b in zip(as_pairs, model.likelihood, strict=True))


DATA = choices_of({("0", "1", "2"): (3, 1, 2), ("0", "1"): (2, 1), ("1", "2"): (1, 4)}, list("012"))
FOUR = random_choices(4, (2, 3, 4), 4, most=2)
MATRIX = [[1, 0], [1, 1], [0, 1]]
PLACED = [[1, 0], [1, 1], [0, 1], [0, 0]]


@pytest.mark.parametrize("prior, lo", [(IndianBuffet(), 1), (FiniteFeatures(2), 0)])
def test_a_pass_of_flips_leaves_the_posterior_invariant(prior, lo):
    data = choices_of({("0", "1", "2"): (3, 1, 2), ("0", "2"): (2, 1)}, list("012"))
    model, make = build(data, prior, unique=FIXED_UNIQUE, lo=lo, hi=3)
    start = make_state(model, make, [[1], [0], [1]], [0.7], [0.5, 1.0, 0.8])
    assert invariance_error(on(flips.flip_columns, model), start, key, target(model, data, prior)) < EXACT


@pytest.mark.parametrize("unique", [FIXED_UNIQUE, TOTAL_UNIQUE])
@pytest.mark.exact
def test_compensated_flips_leave_it_invariant(unique):
    model, make = build(FOUR, unique=unique, lo=1 + (unique == TOTAL_UNIQUE), hi=3)
    start = make_state(model, make, PLACED, [0.3, 0.4], [0.5, 1.0, 0.8, 0.9])
    step = on(mass_transfer.compensated_flip, model)
    assert invariance_error(step, start, key, target(model, FOUR, IndianBuffet())) < EXACT


def test_row_blocks_leave_it_invariant():
    model, make = build(FOUR)
    matrix = [[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1]]
    start = make_state(model, make, matrix, [0.31, 0.43, 0.27], [0.05, 0.052, 0.06, 0.03])
    assert invariance_error(on(mass_transfer.row_block, model), start, key, target(model, FOUR, IndianBuffet())) < EXACT


@pytest.mark.parametrize("lo", [1, 2])
def test_transfers_leave_it_invariant(lo):
    data = random_choices(5, (2, 3, 4, 5), 7, most=2, kept=0.5)
    model, make = build(data, unique=TOTAL_UNIQUE if lo == 2 else FIXED_UNIQUE, lo=lo)
    matrix = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
    start = make_state(model, make, matrix, [0.3, 0.9, 0.5], [0.5, 1.0, 0.8, 0.2, 0.1])
    assert invariance_error(on(split_join.transfer, model), start, key, target(model, data, IndianBuffet())) < EXACT


def test_births_and_deaths_leave_it_invariant():
    # every weight is 1, and births beyond the room for columns are rejected, which restricts the posterior to that room
    model, make = build(DATA)
    start = make_state(model, make, np.zeros((3, 0)), [], [0.5, 1.0, 0.8], 1.5, 4)
    table = IndianBuffet().compiled(3)
    rate = table.harmonic[2] - table.harmonic[1]

    def step(rng, pair):
        births.birth_or_death(rng, model, pair[1], pair[0], rate)

    def log_target(pair):
        matrix, weights, unique = contents(pair[0])
        total = naive.log_likelihood(DATA, matrix, weights, unique, 0.01)
        total += sum(math.log(1.5) + table.log_rate[m] for m in matrix.sum(0))
        return total - sum(math.lgamma(c + 1) for c in Counter(state_key(pair)).values())

    assert invariance_error(step, start, state_key, log_target, number=1.0) < EXACT


@pytest.mark.fit
def test_elimination_that_needs_too_much_room_is_refused():
    n = 20
    data = choices_of({tuple(map(str, range(n))): [1] * n}, [str(k) for k in range(n)])
    owners = np.concatenate([np.delete(np.arange(n), k) for k in range(n)])  # every aspect eliminates one option alone
    columns = Columns(np.array([n]), np.ones(n), np.full(n, n - 1), owners, np.zeros((1, n)))
    with pytest.raises(DataError, match="65,536, .* The largest set has 20 options"):
        set_probability_draws(columns, data.start, data.members, 0.0)


@pytest.mark.fit
def test_probabilities_of_draws():
    rng = np.random.default_rng(8)
    data = random_choices(12, (3, 12), 3, kept=0.1)
    draws, n = 5, 12
    matrix = [rng.random((n, k)) < 0.4 for k in (0, 3, 5, 1, 2)]
    matrix = [m[:, m.any(0)] for m in matrix]
    weights = [rng.gamma(1.0, size=m.shape[1]) for m in matrix]
    unique = rng.gamma(1.0, size=(draws, n))
    columns = Columns(
        np.array([m.shape[1] for m in matrix]),
        np.concatenate(weights),
        np.concatenate([m.sum(0) for m in matrix]),
        np.concatenate([np.nonzero(m.T)[1] for m in matrix]),
        unique,
    )
    found = set_probability_draws(columns, data.start, data.members, 0.05)
    for d in range(draws):
        for v in range(data.n_sets):
            places = slice(data.start[v], data.start[v + 1])
            expected = naive.set_probabilities(data.members[places].tolist(), matrix[d], weights[d], unique[d], 0.05)
            assert found[d, places] == pytest.approx(expected, abs=1e-13)
    part = set_probability_draws(columns, data.start, data.members, 0.05, slice(2, 4))
    assert np.array_equal(part, found[2:4])
