"""A likelihood of the user's own: what is refused, that its moves are right, and what a fitted
model answers."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from helpers.cache_drift import compare_sums
from helpers.sentences import refused

import thali as th
import thali._aspects.moves.owner_flips as flips
from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS
from thali._aspects.likelihoods.custom_term_checks import bound_rounding
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task
from thali.errors import ArgumentError, DataError
from thali.testing import check

pytestmark = pytest.mark.fit

LABELS = ("tea", "coffee", "milk", "juice", "cola")


class Tastes(NamedTuple):
    """Ratings of drinks, and how alike two of them taste."""

    rating: np.ndarray
    alike: np.ndarray
    labels: tuple = LABELS


def tastes(n=5, seed=1):
    rng = np.random.default_rng(seed)
    alike = rng.random((n, n))
    return Tastes(2.0 * rng.random(n), alike + alike.T, LABELS[:n])


def squared(x):
    return x * x


def log_likelihood(data, features, weights):
    total = 3.0  # a constant, which terms may leave out
    own = np.zeros(len(features))
    for i in range(len(features)):
        for k in range(len(weights)):
            own[i] += weights[k] * features[i, k]
        total -= 0.5 * squared(data.rating[i] - own[i])
        for j in range(i):
            shared = 0.0
            for k in range(len(weights)):
                shared += weights[k] * features[i, k] * features[j, k]
            total -= squared(data.alike[i, j] - shared / (0.1 + own[i] + own[j]) - 0.1 * own[j] * j)
    return total


def of_option(data, i, own):
    return -0.5 * squared(data.rating[i] - own)


def of_pair(data, i, j, shared, own_i, own_j):  # not symmetric: i < j
    return -squared(data.alike[i, j] - shared / (0.1 + own_i + own_j) - 0.1 * own_i * i)


Custom = th.likelihoods.Custom
TASTE = Custom(log_likelihood, of_pair=of_pair, of_option=of_option)
WHOLE = Custom(log_likelihood)


def shared_only(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        for j in range(i):
            shared = 0.0
            for k in range(len(weights)):
                shared += weights[k] * features[i, k] * features[j, k]
            total -= squared(data.alike[i, j] - shared)
    return total


ALIKE = Custom(shared_only, of_pair=lambda data, i, j, shared: -squared(data.alike[i, j] - shared))


def python_chain(likelihood, prior=None, sweeps=40, weight_prior=(1.0, 1.0)):
    """A chain whose kernel runs as Python."""
    settings = {"weight_prior": weight_prior, "alpha": None, "draws": 1, "tune": 0, "thin": 10**9}
    task = build_task(
        prior or th.priors.IndianBuffet(), likelihood, likelihood.wrap_data(tastes()), **settings
    )
    task.kernel = task.kernel.python
    chain = FeatureChain(task, np.random.default_rng(4))
    chain.run_until(sweeps)
    return chain


@pytest.mark.long
@pytest.mark.parametrize(
    "prior", [th.priors.IndianBuffet(), th.priors.FiniteFeatures(3)], ids=["buffet", "finite"]
)
@pytest.mark.parametrize(
    "likelihood", [TASTE, ALIKE, WHOLE], ids=["all sums", "shared sums", "whole"]
)
def test_what_a_chain_keeps_is_what_its_features_say(likelihood, prior):
    chain = python_chain(likelihood, prior, sweeps=5)
    for sweep in range(5, 31, 5):  # fewer than those after which the cache is refilled
        chain.run_until(sweep)
        if likelihood.terms:
            compare_sums(chain.cache, chain.state, likelihood is TASTE)
    kept = chain.cache
    model = chain.task.model.likelihood
    fresh = chain.task.make_cache(model)
    kernel_operations.rebuild_cache(model, fresh, chain.state)
    assert chain.state.whole[COLUMNS] > 0
    # where nobody sees features of one option, these come and go without a note in the sums of
    # single options
    names = {TASTE: ("own_sum", "option", "shared", "pair"), ALIKE: ("shared", "pair"), WHOLE: ()}[
        likelihood
    ]
    for name in names:
        np.testing.assert_allclose(
            getattr(kept, name), getattr(fresh, name), rtol=0.0, atol=1e-10, err_msg=name
        )
    if not likelihood.terms:
        assert kept.real[0] == pytest.approx(fresh.real[0], abs=1e-12)


def test_toggles_of_an_open_column_follow_its_owners():
    chain = python_chain(ALIKE, th.priors.FiniteFeatures(3), sweeps=5)
    model, state, cache = chain.task.model, chain.state, chain.cache
    k, likelihood = 1, model.likelihood
    kernel_operations.open_members(likelihood, cache, state, k)
    for i in (0, 3, 0, 1, 4, 3, 2, 1, 0, 2, 4):
        for j in range(5):
            d = state.w[k] if state.Z[k, j] == 0.0 else -state.w[k]
            one, other = (
                f(likelihood, cache, state, k, j, d)
                for f in (kernel_operations.delta_open_member, kernel_operations.delta_member)
            )
            assert one == pytest.approx(other, abs=1e-12)
        joins = state.Z[k, i] == 0.0
        flips.flip_member(
            model,
            cache,
            state,
            k,
            i,
            state.w[k] if joins else -state.w[k],
            state.m[k] + (1 if joins else -1),
            0.0,
        )
        assert sorted(cache.owner[: cache.owners[0]]) == np.flatnonzero(state.Z[k, :5]).tolist()


def test_features_of_one_option_matter_to_option_terms_only():
    observed = TASTE.wrap_data(tastes())
    sees = [
        bool(kernel_operations.sees_single(x.build_uncompiled(observed)[0]))
        for x in (TASTE, ALIKE, WHOLE)
    ]
    assert sees == [True, False, True]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "likelihood", [TASTE, ALIKE, WHOLE], ids=["all sums", "shared sums", "whole"]
)
def test_checks_of_right_likelihoods(likelihood, capsys):
    found = check(likelihood, tastes(3))
    assert not found.ok and not found  # nothing is wrong, but not everything was checked
    naive = 2 if likelihood.terms else 1
    assert [c.check for c in found.checks] == ["naive"] * naive + ["exact"] * 3 + ["joint"]
    assert [c.result for c in found.checks] == ["right"] * (naive + 3) + ["not run"]
    printed = capsys.readouterr().out
    assert printed.startswith("Check of a likelihood") and "births and deaths" in printed
    assert "joint: give Custom a function" in printed


def wrong_pair(data, i, j, shared, own_i, own_j):
    return of_pair(data, i, j, shared, own_i, own_j) + 0.01 * shared


def test_a_wrong_term_is_found_by_two_checks_and_by_fit(capsys):
    wrong = Custom(log_likelihood, of_pair=wrong_pair, of_option=of_option)
    found = check(wrong, tastes(3))
    assert not found.ok
    by_name = {c.check: c for c in found.checks if c.result == "WRONG"}
    assert set(by_name) == {"naive", "exact"}
    assert "log_likelihood differs from of_pair and of_option" in by_name["naive"].words
    assert float(by_name["naive"].error) > 1e-3 and float(by_name["exact"].error) > 1e-6
    assert by_name["exact"].words.endswith("but should be 0.")
    assert by_name["naive"].words in capsys.readouterr().out
    with refused(ArgumentError, "testing.check"):
        fit(wrong)


@pytest.mark.long
def test_a_small_error_is_found_where_other_states_have_a_log_likelihood_far_below():
    """They have no share of the posterior, and what rounding does to theirs excuses nothing."""

    def precise(data, features, weights):
        return -0.5 * np.sum(((data.rating - features @ weights) / 0.1) ** 2)

    def of_option(data, i, own):
        return -0.5 * ((data.rating[i] - own) / 0.1) ** 2 + 0.1 * own

    found = check(Custom(precise, of_option=of_option), tastes(3))
    wrong = [c for c in found.checks if c.result == "WRONG"]
    assert [c.check for c in wrong] == ["naive", "exact", "exact"] and float(wrong[1].error) < 1e-5


class Repeated(NamedTuple):
    """Pairs that were each looked at so many times, with the same outcome every time."""

    outcome: np.ndarray
    times: int
    labels: list


def all_looks(data, features, weights):
    """One term after the other, as a long sum of equal terms: rounding pulls it to one side."""
    shared = (features * weights) @ features.T
    total = 0.0
    for i in range(len(features)):
        for j in range(i + 1, len(features)):
            for _ in range(data.times):
                total += data.outcome[i, j] * shared[i, j] - np.log1p(np.exp(shared[i, j]))
    return total


def looks_at_pair(data, i, j, shared):
    return data.times * (data.outcome[i, j] * shared - np.log1p(np.exp(shared)))


def looks_with_a_fault(data, i, j, shared):
    return looks_at_pair(data, i, j, shared) + (1e-3 * shared if i == 0 and j == 1 else 0.0)


@pytest.mark.long
def test_the_rounding_of_long_sums_is_no_disagreement():
    """Half a million terms, as many as 1,000 objects have: the whole errs by 1e-11 of it, and is
    right."""
    outcome = np.triu(np.arange(16.0).reshape(4, 4) % 2, 1)
    data = Repeated(outcome, 80_000, ["a", "b", "c", "d"])
    Custom(all_looks, of_pair=looks_at_pair).compiled(data)
    with refused(ArgumentError, "of_pair", "log_likelihood"):
        Custom(all_looks, of_pair=looks_with_a_fault).compiled(data)


@pytest.mark.long
def test_a_likelihood_that_depends_on_the_order_of_the_features_is_found():
    def ordered(data, features, weights):
        return -0.5 * np.sum(
            (data.rating - np.dot(features, weights / np.arange(1, len(weights) + 1))) ** 2
        )

    found = check(Custom(ordered), tastes(3))
    wrong = [c for c in found.checks if c.result == "WRONG"]
    assert wrong[0].check == "naive" and "order of the features" in wrong[0].words
    assert bound_rounding(None, 10.0) < 1e-7 < float(wrong[0].error)


# -------------------------------------------------------------------------------------------------
# what is refused


def fit(likelihood, data=None, **settings):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood, **settings)
    return model.fit(
        tastes() if data is None else data, draws=10, tune=10, progressbar=False, random_seed=1
    )


@pytest.mark.parametrize(
    "functions, message",
    [
        ({"log_likelihood": lambda data, features: 0.0}, ("log_likelihood", "(data, feat")),
        ({"log_likelihood": 3.0}, ("log_likelihood", "got 3.0")),
        ({"log_likelihood": None}, ("log_likelihood",)),
        ({"log_likelihood": lambda *a: 0.0}, ("<lambda>(*a)",)),
        (
            {"log_likelihood": log_likelihood, "of_pair": lambda data, i, j, s, o: 0.0},
            ("i, j, shared)",),
        ),
        ({"log_likelihood": log_likelihood, "of_option": lambda i, own: 0.0}, ("of_option",)),
        (
            {"log_likelihood": log_likelihood, "simulate": lambda data: data},
            ("simulate", "weights, rng)"),
        ),
    ],
)
def test_functions_of_a_wrong_signature_are_refused(functions, message):
    with refused(ArgumentError, *message):
        Custom(**functions)


def writes(data, features, weights):
    weights[:] = 1.0
    return 0.0


def writes_to_data(data, features, weights):
    data.rating[0] = 7.0
    return 0.0


def hits(data, features, weights):
    return math.log(float(len(weights)))


@pytest.mark.first(
    4,
    "hits-message6",
    "writes-message8",
    "<lambda>-message5",
    "<lambda>-message10",
    "<lambda>-message11",
)
@pytest.mark.parametrize(
    "function, message",
    [
        (lambda data, features, weights: None, ("log_likelihood", "5 options")),
        (lambda data, features, weights: weights, ("returned array",)),
        (lambda data, features, weights: len(weights) > 0, ("returned False",)),
        (lambda data, features, weights: math.nan, ("returned nan for", "a finite number")),
        (lambda data, features, weights: math.inf, ("returned inf for", "a finite number")),
        (lambda data, features, weights: -math.inf, ("returned -inf", "with a lapse rate")),
        (hits, ("ValueError", "5 options", "0 features")),
        (lambda data, features, weights: data.absent, ("AttributeError", "absent")),
        (writes, ("must not modify its arguments",)),
        (writes_to_data, ("data.rating",)),
        (lambda data, features, weights: len({1: 2, "a": 3}) * 1.0, ("compile",)),
        (lambda data, features, weights: 1.0 * len(features) ** 60, ("when compiled", "in Python")),
    ],
)
def test_a_function_that_cannot_be_used(function, message):
    with refused(ArgumentError, *message):
        fit(Custom(function))


def zero(data, features, weights):
    return 0.0


def test_terms_that_cannot_be_used():
    with refused(ArgumentError, "of_option", "nan for i=0"):
        fit(Custom(zero, of_option=lambda data, i, own: math.nan))
    with refused(ArgumentError, "of_pair", "'x' for i="):
        fit(Custom(zero, of_pair=lambda data, i, j, shared: "x"))


class Nameless(NamedTuple):
    rating: np.ndarray


@pytest.mark.parametrize(
    "data, message",
    [
        (np.zeros(3), ("NamedTuple", "got ndarray")),
        (th.PairedComparisons([[0, 1], [1, 0]]), ("NamedTuple", "got PairedComparisons")),
        (Nameless(np.zeros(3)), ("`labels`",)),
        (Tastes(np.zeros(2), np.zeros((2, 2)), ("tea", "tea")), ("least one",)),
        (Tastes("x", np.zeros((2, 2)), ("tea", "milk")), ("got str",)),
        (Tastes([[1.0], [1.0, 2.0]], np.zeros((2, 2)), ("tea", "milk")), ("or an array",)),
    ],
)
def test_data_that_cannot_be_used(data, message):
    for use in (fit, check):
        with refused(DataError, *message):
            use(TASTE, data)


def test_what_is_not_for_a_likelihood_of_ones_own():
    with refused(ArgumentError, "check", "got Elimination"):
        check(th.likelihoods.Elimination(), tastes())
    with refused(ArgumentError, "two options"):
        check(TASTE, Tastes(np.zeros(1), np.zeros((1, 1)), ("tea",)))
