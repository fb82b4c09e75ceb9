"""Every change of a likelihood that a move evaluates equals the difference of two naive
evaluations: a row each."""

import numpy as np
import pytest
from helpers.likelihood_rows import (
    COMPILED,
    LIKELIHOODS,
    MEMBER,
    SETS,
    SEVERAL,
    SIMILARITIES,
    TRIPLETS,
    change,
    changed,
    random_change,
    signs,
    write_back,
)
from helpers.naive import latent_features as naive
from helpers.problems import NO_UNIQUE, build, contents, make_state, random_comparisons
from scipy.special import i0e

import thali as th
import thali._aspects.likelihoods.similarity_residuals as residuals
from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS, clear_row
from thali._aspects.likelihoods.custom_term_checks import compare_changes, sample_states
from thali._aspects.likelihoods.similarity_residuals import CONSTANT, VARIANCE
from thali._aspects.moves.unique_weights import log_i0
from thali._aspects.weight_priors import EXPONENTIAL
from thali._compile.jit import kernel, scalar

pytestmark = pytest.mark.exact


@kernel
def compiled_change(rng, model, c, b, which, i, k, d, commit):
    return change(rng, model, c, b, which, i, k, d, commit)


def check_caches(row):
    """They equal those of a rebuild, and the log-likelihood is the naive one but for its
    constant."""
    kept = [array.copy() for array in row.kept(row.cache)]
    kernel_operations.rebuild_cache(row.model.likelihood, row.cache, row.state)
    for before, after in zip(kept, row.kept(row.cache), strict=True):
        np.testing.assert_allclose(before, after, rtol=row.error, atol=row.error)
    total = (
        kernel_operations.log_likelihood(row.model.likelihood, row.cache, row.state) + row.left_out
    )
    assert total == pytest.approx(row.log_likelihood(*contents(row.state)), rel=1e-10)


def check_changes(call, row, steps=60):
    """Random changes, one after the other, each of which stays."""
    model, state, cache, n = row.model, row.state, row.cache, row.data.n_options
    rng, columns = np.random.default_rng(n), int(row.state.whole[COLUMNS])
    before, seen = contents(state), set()
    value = row.log_likelihood(*before)
    for _ in range(steps):
        assert kernel_operations.log_likelihood(
            model.likelihood, cache, state
        ) + row.left_out == pytest.approx(value, rel=1e-10)
        which, i, k = (
            int(rng.choice(row.kinds)),
            int(rng.integers(n)),
            int(rng.integers(max(columns, 1))),
        )
        d, chosen = random_change(rng, which, *before, i, k, row.spread), rng.random(columns) < 0.6
        after = changed(which, *before, i, k, d, chosen)
        if model.unique != NO_UNIQUE and after[2].min() <= 0.0:
            continue
        if which == SEVERAL:  # the signed sum of the columns stands in the last row
            k = state.Z.shape[0] - 1
            clear_row(state, k)
            state.Z[k, :n] = before[0] @ signs(*before[:2], i, chosen)
        delta = call(None, model, cache, state, which, i, k, d, True)
        now = row.log_likelihood(*after)
        assert delta == pytest.approx(now - value, rel=row.error, abs=row.error)
        # a change is taken back, to the last bit
        for mine, theirs in zip(contents(state), before, strict=True):
            assert (mine == theirs).all()
        write_back(state, *after)
        seen.add(which)
        before, value = after, now
    assert seen == set(row.kinds)
    check_caches(row)


@pytest.mark.filterwarnings("ignore:overflow")  # of a product, which is then not relied on
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_changes_are_differences_of_naive_evaluations(name, uncompiled):
    check_changes(change, LIKELIHOODS[name](), 15 if "of 12" in name or "of 13" in name else 60)


@pytest.mark.parametrize(
    "name", [*COMPILED, *(pytest.param(name, marks=pytest.mark.long) for name in SETS)]
)
def test_compiled_changes_are_differences_of_naive_evaluations(name):
    """Of sets they are watched in chains, too: see test_cache_drift.py."""
    check_changes(compiled_change, (COMPILED | SETS)[name]())


@pytest.mark.first(5)
@pytest.mark.parametrize("name", TRIPLETS)
def test_columns_of_triplets_come_and_go_and_exchange_owners(name):
    rng, row = np.random.default_rng(1), TRIPLETS[name]()
    states = sample_states(th.priors.IndianBuffet(), row.data.n_options, EXPONENTIAL, rng, 5)
    likelihood, whole = row.model.likelihood, row.log_likelihood
    found = compare_changes(likelihood, row.make, whole, states, row.data.labels, rng, 25)
    assert found.count >= 60 and found.is_rounding, found.words


@pytest.mark.parametrize("name", [name for name in COMPILED | SETS if "of 2," not in name])
def test_births_and_deaths_change_the_likelihood_by_their_delta(name, uncompiled):
    row = LIKELIHOODS[name]()
    (matrix, weights, unique), likelihood = contents(row.state), row.model.likelihood
    before, new = row.log_likelihood(matrix, weights, unique), np.arange(len(unique)) % 3 != 2
    row.state.Z[4, :-1] = new
    for operation, share in (
        (kernel_operations.delta_weight, 0.0),
        (kernel_operations.delta_compensated_weight, 1.0),
    ):
        born = operation(likelihood, row.cache, row.state, 4, int(new.sum()), 0.8)
        more = np.column_stack([matrix, new]), np.append(weights, 0.8), unique - 0.8 * share * new
        assert born == pytest.approx(row.log_likelihood(*more) - before, rel=1e-9, abs=1e-9)
        dies = operation(likelihood, row.cache, row.state, 1, int(matrix[:, 1].sum()), -weights[1])
        fewer = (
            np.delete(matrix, 1, 1),
            np.delete(weights, 1),
            unique + weights[1] * share * matrix[:, 1],
        )
        assert dies == pytest.approx(row.log_likelihood(*fewer) - before, rel=1e-9, abs=1e-9)
    assert row.state.whole[COLUMNS] == 4


@scalar
def walk_open(rng, model, c, b, k, visits, gains):
    """Toggle these objects of column k in turn, as a flip pass does; what each toggle gains goes
    into `gains`."""
    kernel_operations.open_members(model.likelihood, c, b, k)
    for t in range(visits.shape[0]):
        i = visits[t]
        d = b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]
        gains[t] = kernel_operations.delta_open_member(model.likelihood, c, b, k, i, d)
        if t % 3 != 2:  # every third is rejected
            kernel_operations.apply_open_member(model.likelihood, c, b, k, i, d)
            b.m[k] += 1 if d > 0.0 else -1
            b.Z[k, i] = 1.0 - b.Z[k, i]


@kernel
def compiled_walk(rng, model, c, b, k, visits, gains):
    walk_open(rng, model, c, b, k, visits, gains)


def check_toggles(call, row):
    """Of each column in turn."""
    rng, cache = np.random.default_rng(1), row.cache
    for k in range(int(row.state.whole[COLUMNS])):
        (matrix, weights, unique), n = contents(row.state), row.state.Z.shape[1] - 1
        visits, gains = rng.integers(0, n, 30), np.zeros(30)
        call(None, row.model, cache, row.state, k, visits, gains)
        for t, i in enumerate(visits):
            after = matrix.copy()
            after[i, k] = not after[i, k]
            expected = row.log_likelihood(after, weights, unique) - row.log_likelihood(
                matrix, weights, unique
            )
            assert gains[t] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            if t % 3 != 2:
                matrix = after
        assert np.array_equal(contents(row.state)[0], matrix)
        if isinstance(cache, residuals.Residuals):
            owners = matrix[:, k].astype(float)
            assert np.abs(cache.pull - cache.residual @ owners).max() <= 1e-10
            assert np.array_equal(cache.ties, row.model.likelihood.measured @ owners)
    check_caches(row)


@pytest.mark.first(12)
@pytest.mark.parametrize(
    "name", [name for name in COMPILED | SETS | TRIPLETS if "sets of 12" not in name]
)
def test_toggles_of_an_open_column(name, uncompiled):
    check_toggles(walk_open, LIKELIHOODS[name]())


@pytest.mark.parametrize("name", SIMILARITIES)
def test_compiled_toggles_of_an_open_column(name):
    check_toggles(compiled_walk, SIMILARITIES[name]())


@pytest.mark.parametrize("name", SIMILARITIES)
def test_draws_of_constant_and_variance_keep_the_residuals(name):
    """What draw_constant and draw_variance keep: residuals after a shift, and the sum of their
    squares."""
    row = SIMILARITIES[name]()
    residual = row.cache.residual
    residuals.shift_all(row.model.likelihood, row.cache, 0.07)
    row.cache.real[CONSTANT] += 0.07
    row.cache.real[VARIANCE] = 0.011
    check_caches(row)
    assert residuals.sum_all(residual) == pytest.approx(
        residual[np.triu_indices(len(residual), 1)].sum()
    )


def test_without_unique_aspects_two_empty_sides_are_chosen_equally_often():
    data = random_comparisons(4, 4)
    model, make = build(data, unique=NO_UNIQUE)
    matrix = np.array([[1, 0], [1, 0], [0, 0], [0, 0]], bool)
    state, cache = make_state(model, make, matrix, [0.7, 1.1], np.zeros(4))
    for k, i in [(1, 2), (1, 3), (0, 0), (0, 1), (1, 2), (1, 3)]:  # in the end nobody owns anything
        before = contents(state)
        d = state.w[k] if state.Z[k, i] == 0.0 else -state.w[k]
        after = changed(MEMBER, *before, i, k, d, None)
        expected = naive.log_likelihood(data, *after, 0.01) - naive.log_likelihood(
            data, *before, 0.01
        )
        found = change(None, model, cache, state, MEMBER, i, k, d, True)
        assert found == pytest.approx(expected, abs=1e-5)  # counts times 1e-9 / weight / lapse
        write_back(state, *after)
    assert not state.Z.any()
    total = kernel_operations.log_likelihood(model.likelihood, cache, state)
    assert total == pytest.approx(data.n_comparisons * np.log(0.5), rel=1e-12)


def test_log_bessel_is_accurate():
    v = np.concatenate([[0.0], np.geomspace(1e-12, 1e8, 4001)])
    x = 2.0 * np.sqrt(v)
    exact = np.log(i0e(x)) + x
    # 1.9e-7 on values of at least 0.3989
    assert np.abs(np.array([log_i0(u) for u in v]) - exact).max() < 5e-7
