"""Gaps, no constant, a learned sigma, and other priors than the Indian buffet: posteriors known by quadrature."""

import math
from itertools import combinations

import numpy as np
import pytest
from additive_cases import case_named
from additive_quadrature import given_features_unknown_sigma, three_objects, two_columns, two_objects_unknown_sigma
from additive_runs import SAMPLERS, check, fit

import thali as th
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet

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


ALSO_PUBLISHED = pytest.mark.parametrize("sampler", ["tempered", pytest.param("published", marks=pytest.mark.long)])


@pytest.mark.long
@pytest.mark.first(1)
@ALSO_PUBLISHED
@pytest.mark.parametrize("weight_prior", [(1.0, 10.0), (2.0, 4.0)])
def test_a_pair_that_was_not_measured(weight_prior, sampler):
    expected = three_objects(WITHOUT, 0.1, 1.0, weight_prior, BUFFET)
    case = {"similarities": WITHOUT, "model": {"sigma": 0.1, "alpha": 1.0, "weight_prior": weight_prior}}
    check(fit(case, 6 if sampler == "tempered" else 80, **SAMPLERS[sampler]), case | {"expected": expected})


JUDGEMENTS = [[0.0, 6.0, 1.0], [6.0, 0.0, 0.5], [1.0, 0.5, 0.0]]


@pytest.mark.first(1)
@ALSO_PUBLISHED
@pytest.mark.parametrize("similarities", [WITHOUT, SIMILARITIES], ids=["gap", "complete"])
def test_means_of_unequal_numbers_of_judgements(similarities, sampler):
    expected = three_objects(similarities, 0.2, 1.0, (2.0, 4.0), BUFFET, judgements=JUDGEMENTS)
    equal = three_objects(similarities, 0.2, 1.0, (2.0, 4.0), BUFFET)
    assert max(abs(expected[name] - equal[name]) for name in equal) > 0.05  # it matters
    settings = {"sigma": 0.2, "alpha": 1.0, "weight_prior": (2.0, 4.0)}
    case = {"similarities": similarities, "judgements": JUDGEMENTS, "model": settings, "expected": expected}
    check(fit(case, 6 if sampler == "tempered" else 240, **SAMPLERS[sampler]), case)


@ALSO_PUBLISHED
def test_no_constant(sampler):
    expected = three_objects(SIMILARITIES, 0.1, 2.0, (1.0, 4.0), BUFFET, constant=False)
    settings = {"sigma": 0.1, "alpha": 2.0, "weight_prior": (1.0, 4.0), "constant": False}
    case = {"similarities": SIMILARITIES, "model": settings, "expected": expected}
    tree = fit(case, 6 if sampler == "tempered" else 80, **SAMPLERS[sampler])
    check(tree, case)
    assert not tree["posterior"]["constant"].values.any()


@pytest.mark.long  # this prior with this likelihood needs a kernel of its own
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


@pytest.mark.long  # this prior with this likelihood needs a kernel of its own
@pytest.mark.parametrize("weight_prior", [(1.0, 1.0), (2.0, 4.0)])
def test_two_columns(weight_prior):
    a = 1.5 / 2
    decisions = {
        h: a * math.gamma(len(h) + a) * math.gamma(4 - len(h)) / math.gamma(4 + a)
        for size in range(4)
        for h in combinations(range(3), size)
    }
    assert sum(decisions.values()) == pytest.approx(1.0)
    expected = two_columns(SIMILARITIES, 0.1, weight_prior, decisions)
    settings = {"sigma": 0.1, "alpha": 1.5, "weight_prior": weight_prior, "features": 2}
    case = {"similarities": SIMILARITIES, "model": settings, "expected": expected}
    check(fit(case, 6), case)


@pytest.mark.first(1)
@pytest.mark.parametrize("sampler", ["tempered", "published"])
def test_two_objects_whose_sigma_is_learned(sampler):
    expected = two_objects_unknown_sigma(0.6, 1.0, (1.0, 4.0), 0.02 * 0.6**2)
    similarities = [[1.0, 0.6], [0.6, 1.0]]
    case = {"similarities": similarities, "model": {"alpha": 1.0, "weight_prior": (1.0, 4.0)}, "expected": expected}
    check(fit(case, 6 if sampler == "tempered" else 200, **SAMPLERS[sampler]), case)


@pytest.mark.first(1)
@pytest.mark.parametrize("tempering", [None, 3])
def test_given_features_whose_sigma_is_learned(tempering):
    scale = 0.02 * np.var([0.8, 0.3, 0.45])
    expected = given_features_unknown_sigma(SIMILARITIES, (2.0, 4.0), scale)
    features = [[1, 1], [1, 1], [0, 1]]
    case = {"similarities": SIMILARITIES, "model": {"weight_prior": (2.0, 4.0), "features": features}}
    check(fit(case, 6, tempering=tempering), case | {"expected": expected})


@pytest.mark.long
def test_a_learned_sigma_of_unequal_numbers_of_judgements():
    scale = 0.02 * np.var([0.8, 0.3, 0.45]) / np.mean([1 / 6, 1.0, 2.0])
    expected = given_features_unknown_sigma(SIMILARITIES, (2.0, 4.0), scale, JUDGEMENTS)
    features = [[1, 1], [1, 1], [0, 1]]
    case = {"similarities": SIMILARITIES, "judgements": JUDGEMENTS}
    case["model"] = {"weight_prior": (2.0, 4.0), "features": features}
    check(fit(case, 10), case | {"expected": expected})
