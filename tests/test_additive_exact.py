"""Every sampler of additive clustering finds the posteriors that are known by quadrature."""

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from additive_cases import CASES, _mean_and_error, case_named, expected_by_name, far_off, found_by_name
from additive_quadrature import given_features_unknown_sigma, three_objects, two_columns, two_objects_unknown_sigma

import thali as th
from thali.errors import ThaliWarning
from thali.mcmc import recommended
from thali.priors.phylogenetic import PhylogeneticBuffet

LEARNED = [case["name"] for case in CASES if "features" not in case["model"]]
GIVEN = [case["name"] for case in CASES if "features" in case["model"]]
SAMPLERS = {"tempered": {}, "untempered": {"tempering": False}, "published": {"sampler": "paper"}}
GENERAL = {"general": {"tempering": False}}
THIN = {"tempered": 4, "untempered": 8, "published": 25, "general": 4}


def fit(case, thin, draws=12_000, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        model = th.AdditiveClustering(**case["model"], **settings)
        data = th.Similarities(case["similarities"])
        model.fit(data, draws=draws, tune=400, thin=thin, random_seed=31, progressbar=False)
    return model.posterior_


def check(tree, case):
    """All within four errors, which are at most .003 for a probability and a hundredth of a deviation otherwise."""
    assert far_off(tree, case) == {}
    expected = expected_by_name(case)
    for name, draws in found_by_name(tree, case).items():
        _, error, size = _mean_and_error(draws, expected[name])
        if draws.dtype == bool:
            assert error <= 0.003, (name, error)
        else:
            assert size >= 10_000, (name, size)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", LEARNED)
def test_known_posteriors(name, sampler):
    case = case_named(name)
    check(fit(case, THIN[sampler], **SAMPLERS[sampler]), case)


@pytest.mark.parametrize("name", LEARNED)
def test_known_posteriors_by_the_general_moves(name, monkeypatch):
    monkeypatch.setattr(recommended, "conjugate", recommended.infinite)
    case = case_named(name)
    check(fit(case, THIN["general"], tempering=False), case)


@pytest.mark.parametrize("name", GIVEN)
def test_weights_of_given_features(name):
    case = case_named(name)
    check(fit(case, 2), case)
    check(fit(case, 2, tempering=3), case)


SIMILARITIES = case_named("E3a")["similarities"]
WITHOUT = [[1.0, 0.8, math.nan], [0.8, 1.0, 0.45], [math.nan, 0.45, 1.0]]
BUFFET = {(0, 1): 1 / 6, (0, 2): 1 / 6, (1, 2): 1 / 6, (0, 1, 2): 1 / 3}


@pytest.mark.parametrize("name", ["E3a", "E3b", "E3c"])
def test_the_quadrature_agrees_with_that_of_the_cases(name):
    case = case_named(name)
    found = three_objects(case["similarities"], 0.1, 1.0, case["model"]["weight_prior"], BUFFET)
    assert len(found.keys() & case["expected"].keys()) == 11
    for quantity in found.keys() & case["expected"].keys():
        value = found[quantity]
        assert value == pytest.approx(case["expected"][quantity], abs=1e-6), quantity


@pytest.mark.parametrize("sampler", ["tempered", "published"])
@pytest.mark.parametrize("weight_prior", [(1.0, 10.0), (2.0, 4.0)])
def test_a_pair_that_was_not_measured(weight_prior, sampler):
    expected = three_objects(WITHOUT, 0.1, 1.0, weight_prior, BUFFET)
    case = {"similarities": WITHOUT, "model": {"sigma": 0.1, "alpha": 1.0, "weight_prior": weight_prior}}
    check(fit(case, THIN[sampler], **SAMPLERS[sampler]), case | {"expected": expected})


@pytest.mark.parametrize("sampler", ["tempered", "published"])
def test_no_constant(sampler):
    expected = three_objects(SIMILARITIES, 0.1, 2.0, (1.0, 4.0), BUFFET, constant=False)
    settings = {"sigma": 0.1, "alpha": 2.0, "weight_prior": (1.0, 4.0), "constant": False}
    case = {"similarities": SIMILARITIES, "model": settings, "expected": expected}
    tree = fit(case, THIN[sampler], **SAMPLERS[sampler])
    check(tree, case)
    assert not tree["posterior"]["constant"].values.any()


@pytest.mark.parametrize("similarities", [SIMILARITIES, WITHOUT], ids=["complete", "gap"])
def test_tree(similarities):
    tree = th.Tree.from_newick("((0:.2,1:.2):.8,2:1);")
    prior = PhylogeneticBuffet(tree)
    nothing = prior.log_prob(np.zeros((3, 0)), 1.0)
    rates = {
        h: math.exp(prior.log_prob(np.isin(range(3), h)[:, None], 1.0) - nothing)
        for size in (2, 3)
        for h in combinations(range(3), size)
    }
    settings = {"sigma": 0.1, "alpha": 1.5, "weight_prior": (1.0, 5.0), "features": tree}
    expected = three_objects(similarities, 0.1, 1.5, (1.0, 5.0), rates)
    case = {"similarities": similarities, "model": settings, "expected": expected}
    check(fit(case, 4), case)


@pytest.mark.parametrize("weight_prior", [(1.0, 1.0), (2.0, 4.0)])
def test_two_columns(weight_prior):
    a = 1.5 / 2
    chance = {
        h: a * math.gamma(len(h) + a) * math.gamma(4 - len(h)) / math.gamma(4 + a)
        for size in range(4)
        for h in combinations(range(3), size)
    }
    assert sum(chance.values()) == pytest.approx(1.0)
    expected = two_columns(SIMILARITIES, 0.1, weight_prior, chance)
    settings = {"sigma": 0.1, "alpha": 1.5, "weight_prior": weight_prior, "features": 2}
    case = {"similarities": SIMILARITIES, "model": settings, "expected": expected}
    check(fit(case, 6), case)


@pytest.mark.parametrize("sampler", ["tempered", "published"])
def test_two_objects_whose_sigma_is_learned(sampler):
    expected = two_objects_unknown_sigma(0.6, 1.0, (1.0, 4.0), 0.02 * 0.6**2)
    similarities = [[1.0, 0.6], [0.6, 1.0]]
    case = {"similarities": similarities, "model": {"alpha": 1.0, "weight_prior": (1.0, 4.0)}, "expected": expected}
    check(fit(case, THIN[sampler], **SAMPLERS[sampler]), case)


@pytest.mark.parametrize("tempering", [None, 3])
def test_given_features_whose_sigma_is_learned(tempering):
    scale = 0.02 * np.var([0.8, 0.3, 0.45])
    expected = given_features_unknown_sigma(SIMILARITIES, (2.0, 4.0), scale)
    features = [[1, 1], [1, 1], [0, 1]]
    case = {"similarities": SIMILARITIES, "model": {"weight_prior": (2.0, 4.0), "features": features}}
    check(fit(case, 6, tempering=tempering), case | {"expected": expected})
