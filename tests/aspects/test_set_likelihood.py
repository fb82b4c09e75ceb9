"""The likelihood of choices from sets: every change and every move, against naive evaluations."""

import numpy as np
import pytest
from helpers.likelihood_rows import started
from helpers.naive import latent_features as naive
from helpers.posterior_cases import tree_of, written
from helpers.problems import NO_UNIQUE, build, make_state, random_comparisons
from helpers.sentences import refused
from helpers.set_problems import choices_of, random_choices

from thali import Choices
from thali._aspects import kernel_operations
from thali.errors import DataError
from thali.likelihoods import Elimination, Gamma


def test_options_that_no_aspect_tells_apart_are_chosen_equally_often():
    data = choices_of({("0", "1", "2"): (3, 1, 2), ("1", "2", "3"): (0, 2, 5)}, list("0123"))
    model, make = build(data, unique=NO_UNIQUE)
    matrix = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], bool)
    state, cache = make_state(model, make, matrix, [0.7, 1.1], np.zeros(4))
    expected = naive.log_likelihood(data, matrix, [0.7, 1.1], np.zeros(4), 0.01)
    assert kernel_operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(
        expected, rel=1e-13
    )
    for k, i in [(0, 0), (0, 1), (1, 2)]:
        kernel_operations.apply_member(model.likelihood, cache, state, k, i, -state.w[k])
        state.Z[k, i] = 0.0
    nobody = (6 + 7) * np.log(1 / 3)
    assert kernel_operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(
        nobody, rel=1e-13
    )


@pytest.mark.parametrize("lapse", [0.0, 0.01])
def test_pairs_as_sets_have_exactly_the_likelihood_of_pairs(lapse):
    pairs = random_comparisons(7, seed=2, missing=0.3)
    model, make = build(pairs, lapse=lapse)
    state, cache = started(model, make, 7, 5)
    # of light weights sums lose digits
    sets, make_sets = Elimination(lapse).compiled(pairs, Gamma(0.01, 1.0))
    cache_of_sets = make_sets(sets)
    kernel_operations.rebuild_cache(sets, cache_of_sets, state)
    own = kernel_operations.log_likelihood(sets, cache_of_sets, state)
    assert own == pytest.approx(
        kernel_operations.log_likelihood(model.likelihood, cache, state), rel=1e-13
    )
    # and choices out of nothing but pairs are handed to the likelihood of pairs
    as_pairs, _ = Elimination(lapse).compiled(Choices.from_comparisons(pairs))
    assert all(np.array_equal(a, b) for a, b in zip(as_pairs, model.likelihood, strict=True))


@pytest.mark.fit
def test_elimination_that_needs_too_much_room_is_refused():
    n = 20
    data = choices_of({tuple(map(str, range(n))): [1] * n}, [str(k) for k in range(n)])
    # each eliminates one option alone
    aspects = [(np.delete(np.arange(n), k), 1.0) for k in range(n)]
    with refused(DataError, "65,536", "20 options"):
        tree_of([written(np.zeros((1, n)), [aspects])], data)


@pytest.mark.fit
def test_probabilities_of_draws_agree_with_the_recursion():
    rng = np.random.default_rng(8)
    data = random_choices(12, (3, 12), 3, kept=0.1)
    draws, n = 5, 12
    matrix = [rng.random((n, k)) < 0.4 for k in (0, 3, 5, 1, 2)]
    matrix = [m[:, m.any(0)] for m in matrix]
    weights = [rng.gamma(1.0, size=m.shape[1]) for m in matrix]
    unique = rng.gamma(1.0, size=(draws, n))
    aspects = [
        [(np.flatnonzero(owners), w) for owners, w in zip(m.T, own, strict=True)]
        for m, own in zip(matrix, weights, strict=True)
    ]
    found = tree_of([written(unique, aspects)], data, lapse=0.05)["posterior"][
        "set_probability"
    ].values[0]
    for d in range(draws):
        for v in range(data.n_sets):
            places = slice(data.start[v], data.start[v + 1])
            expected = naive.set_probabilities(
                data.members[places].tolist(), matrix[d], weights[d], unique[d], 0.05
            )
            assert found[d, places] == pytest.approx(expected, abs=1e-13)
