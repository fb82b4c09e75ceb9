"""The published samplers of latent features: exact moves, known posteriors, the bias of their
truncation."""

import json
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.additive_cases import CASES as ADDITIVE
from helpers.additive_cases import case_named
from helpers.additive_runs import check, fit
from helpers.additive_runs import task as of_similarities
from helpers.cache_drift import watched
from helpers.digests import digests_of, is_same
from helpers.elimination_cases import CASES, mean_and_error, quantity
from helpers.elimination_moves import key, start, target
from helpers.joint_distribution import joint_distribution_test
from helpers.joint_means import LIMIT, means_of_similarities
from helpers.problems import (
    FIXED_UNIQUE,
    alternating_similarities,
    random_comparisons,
    random_similarities,
    three_options,
)
from helpers.same_draws import same

import thali as th
from papers.samplers import published_sweep, use_published_sampler
from papers.samplers.elimination_2006 import (
    algorithm_1,
    algorithm_1_as_printed,
    published,
    update_row,
)
from thali._aspects.samplers.chains import FeatureChain, run_feature_chains
from thali._aspects.samplers.sampling_task import build_task
from thali._testing import small_models
from thali._testing.exact import invariance_error
from thali._testing.small_models import SmallModelCase
from thali.errors import ThaliWarning
from thali.likelihoods import Additive, Elimination
from thali.priors import IndianBuffet


class Silent:
    def note(self, text): ...

    def update(self, done): ...


def of_pairs(data, alpha=None, draws=50, tune=20, thin=3):
    settings = {"weight_prior": (1.0, 1.0), "alpha": alpha, "sweep": algorithm_1}
    return build_task(
        IndianBuffet(), Elimination(), data, draws=draws, tune=tune, thin=thin, **settings
    )


def similar(missing=0.0, sigma=0.05, n=6, **settings):
    return of_similarities(
        random_similarities(n, n, missing), sigma, tempering=None, sweep=published, **settings
    )


TASKS = {"pairs": lambda: of_pairs(random_comparisons(5, 5)), "similarities": similar}


# moves and chains ---------------------------------------------------------------------------------

ROWS = {
    "pairs": (
        {"data": three_options(), "matrix": [[1, 0], [1, 1], [0, 1]], "unique": [0.5, 1.0, 0.8]}
        | {"kind": FIXED_UNIQUE, "hi": 3},
        1,
    )
}
for _name, _square in {"complete": 0.3, "gap": np.nan}.items():
    for _i in (0, 1):
        _data = th.Similarities([[1, 0.8, _square], [0.8, 1, 0.45], [_square, 0.45, 1]])
        ROWS[f"similarities, {_name}, {_i}"] = (
            {"data": _data, "matrix": [[1, 0], [1, 1], [0, 1]], "weights": [0.31, 0.17]},
            _i,
        )


@pytest.mark.parametrize("name", ROWS)
def test_rows_leave_the_posterior_invariant(name):
    case, i = ROWS[name]
    begun = start(**case)

    def step(rng, pair):
        update_row(rng, begun.model, pair[1], pair[0], i, True)

    assert invariance_error(step, begun.pair, key, target(begun)) < 1e-12


@pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
def test_same_seed_same_draws_for_any_number_of_cores_and_slices(make):
    one, other = (run_feature_chains(make(), 3, cores, 42, Silent())[0] for cores in (1, 3))
    assert all(same(a, b) for a, b in zip(one, other, strict=True)) and not same(one[0], one[1])
    whole, sliced = (FeatureChain(make(), np.random.default_rng(3)) for _ in range(2))
    whole.run_until(whole.total)
    for until in range(0, sliced.total + 1, 7):
        sliced.run_until(until)
    sliced.run_until(sliced.total)
    assert same(whole.draws, sliced.draws)


@pytest.mark.long
@pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
def test_the_cache_stays_with_the_state(make):
    watched(make())


DIGESTS = json.loads((Path(__file__).parent / "digests.json").read_text("utf-8"))
SMALLEST = {
    "elimination-by-aspects": SmallModelCase(
        lambda: use_published_sampler(th.EliminationByAspects()),
        *(small_models.build_pairs, small_models.predict_first_pair),
    ),
    "additive-clustering": SmallModelCase(
        lambda: use_published_sampler(th.AdditiveClustering()),
        *(small_models.build_similarities, small_models.estimate_similarity),
    ),
}
SHORT = {"draws": 3, "tune": 1, "thin": 1, "chains": 2, "cores": 1}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", SMALLEST)
def test_same_seed_same_draws_as_ever(name):
    row = SMALLEST[name]
    row = replace(row, run={word: SHORT.get(word, value) for word, value in row.run.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = row.build_fitted()
    found, kept = digests_of(model, row), DIGESTS[name]
    assert found.keys() == kept.keys() and all(is_same(found[key], kept[key]) for key in kept)


# posteriors ---------------------------------------------------------------------------------------

THIN = {2: 150, 3: 80, 4: 40}  # slow where few similarities tell a weight from the constant
LEARNED = [case["name"] for case in ADDITIVE if "features" not in case["model"]]
SOME = ["two objects, similarity 0.6, alpha 1, Gamma(2, 4)", "E3c"]


@pytest.mark.first(1)
@pytest.mark.parametrize("name", sorted(LEARNED, key=lambda name: name not in SOME))
def test_known_posteriors_of_similarities(name):
    case = case_named(name)
    check(fit(case, THIN[len(case["similarities"])], change=use_published_sampler), case)


@pytest.mark.long
def test_its_truncation_biases_it():
    """Three options, alpha learned: 2.21 features, of which K* = 5 finds 1.67."""
    case = next(c for c in CASES if c["name"] == "three options, alpha learned")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        model = use_published_sampler(th.EliminationByAspects(**case["model"]))
        model.fit(
            th.PairedComparisons(case["counts"]),
            40_000,
            tune=500,
            random_seed=20061,
            progressbar=False,
        )
    mean, _ = mean_and_error(quantity(model, "n_features"))
    assert 1.60 < mean < 1.73
    mean, _ = mean_and_error(quantity(model, "alpha"))
    assert 0.92 < mean < 0.96


def shared_columns(task):
    """Mean number of columns that both options own, and its error."""
    chains, _ = run_feature_chains(task, 4, None, 5, Silent())
    draws = []
    for found in chains:
        draw = np.repeat(np.arange(found.alpha.size), found.n_features)
        draws.append(np.bincount(draw[found.sizes == 2], minlength=found.alpha.size))
    return mean_and_error(np.array(draws, float))


@pytest.mark.long
def test_scan_order_as_printed():
    """The published scan, in the order of storage, does not leave its own target invariant: it
    finds more such columns than the same sampler with a valid scan, by far more than ten standard
    errors."""
    valid = of_pairs(
        th.PairedComparisons([[0, 30], [30, 0]]), alpha=5.0, draws=10_000, tune=200, thin=10
    )
    mean, error = shared_columns(valid)
    valid.kernel = algorithm_1_as_printed
    printed, printed_error = shared_columns(valid)
    assert printed - mean > 10.0 * np.hypot(error, printed_error)


LIGHT = -np.expm1(-0.5)


def joint_of_pairs(rounds):
    # its truncation biases the columns, but not the prior of the fixed unique weights
    expected = {"unique weight": 4.0, "light unique": LIGHT}
    data = random_comparisons(4, seed=4, most=2)
    return joint_distribution_test(
        IndianBuffet(), Elimination(0.05), data, expected, rounds, sweep=algorithm_1
    )


def joint_of_similarities(n, weight_prior, missing, rounds):
    # its steps of .05 want weights of that size; precise data would hold the constant where it is
    data, prior = alternating_similarities(n, 5.0, missing, None), IndianBuffet()
    expected = means_of_similarities(prior, data, weight_prior, 0.0)
    sweep = published_sweep(prior, Additive())
    return joint_distribution_test(
        prior, Additive(), data, expected, rounds, weight_prior=weight_prior, sweep=sweep
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "scores",
    [
        partial(joint_of_pairs, 40_000),
        partial(joint_of_similarities, 9, (1.0, 20.0), False, 200_000),
        partial(joint_of_similarities, 5, (2.0, 30.0), True, 200_000),
    ],
    ids=["pairs", "similarities of 9", "similarities"],
)
def test_parameters_keep_their_prior(scores):
    found = scores()
    assert max(abs(z) for z in found.values()) < LIMIT, found
