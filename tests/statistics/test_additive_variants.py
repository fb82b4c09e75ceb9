"""Gaps, no constant, a learned sigma, and other priors than the Indian buffet: posteriors known by
quadrature."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from helpers.additive_cases import case_named
from helpers.additive_quadrature import (
    given_features_unknown_sigma,
    three_objects,
    two_columns,
    two_objects_unknown_sigma,
)
from helpers.additive_runs import SAMPLERS, check, fit

import thali as th
from thali.priors import PhylogeneticBuffet

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


JUDGEMENTS = [[0.0, 6.0, 1.0], [6.0, 0.0, 0.5], [1.0, 0.5, 0.0]]
GIVEN = [[1, 1], [1, 1], [0, 1]]


def gap(weight_prior):
    """A pair that was not measured."""
    expected = three_objects(WITHOUT, 0.1, 1.0, weight_prior, BUFFET)
    return {
        "similarities": WITHOUT,
        "model": {"sigma": 0.1, "alpha": 1.0, "weight_prior": weight_prior},
    }, expected


def judged(similarities):
    """Means of unequal numbers of judgements."""
    expected = three_objects(similarities, 0.2, 1.0, (2.0, 4.0), BUFFET, judgements=JUDGEMENTS)
    equal = three_objects(similarities, 0.2, 1.0, (2.0, 4.0), BUFFET)
    assert max(abs(expected[name] - equal[name]) for name in equal) > 0.05  # it matters
    settings = {"sigma": 0.2, "alpha": 1.0, "weight_prior": (2.0, 4.0)}
    return {"similarities": similarities, "judgements": JUDGEMENTS, "model": settings}, expected


def no_constant():
    expected = three_objects(SIMILARITIES, 0.1, 2.0, (1.0, 4.0), BUFFET, constant=False)
    settings = {"sigma": 0.1, "alpha": 2.0, "weight_prior": (1.0, 4.0), "constant": False}
    return {"similarities": SIMILARITIES, "model": settings}, expected


def on_tree(similarities):
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
    return {"similarities": similarities, "model": settings}, expected


def of_two_columns(weight_prior):
    a = 1.5 / 2
    decisions = {
        h: a * math.gamma(len(h) + a) * math.gamma(4 - len(h)) / math.gamma(4 + a)
        for size in range(4)
        for h in combinations(range(3), size)
    }
    assert sum(decisions.values()) == pytest.approx(1.0)
    settings = {"sigma": 0.1, "alpha": 1.5, "weight_prior": weight_prior, "features": 2}
    return {"similarities": SIMILARITIES, "model": settings}, two_columns(
        SIMILARITIES, 0.1, weight_prior, decisions
    )


def learned_of_two():
    """Two objects whose sigma is learned."""
    expected = two_objects_unknown_sigma(0.6, 1.0, (1.0, 4.0), 0.02 * 0.6**2)
    return {
        "similarities": [[1.0, 0.6], [0.6, 1.0]],
        "model": {"alpha": 1.0, "weight_prior": (1.0, 4.0)},
    }, expected


def learned_of_given(*judgements):
    """Given features whose sigma is learned, perhaps of means of unequal numbers of judgements."""
    scale = 0.02 * np.var([0.8, 0.3, 0.45]) / (np.mean([1 / 6, 1.0, 2.0]) if judgements else 1.0)
    case = {"similarities": SIMILARITIES, "model": {"weight_prior": (2.0, 4.0), "features": GIVEN}}
    case |= {"judgements": judgements[0]} if judgements else {}
    return case, given_features_unknown_sigma(SIMILARITIES, (2.0, 4.0), scale, *judgements)


TEMPERED = SAMPLERS["tempered"]
BY_DEFAULT = {
    "means, gap": (partial(judged, WITHOUT), 6, TEMPERED),
    "no constant": (no_constant, 6, TEMPERED),
    "sigma of two": (learned_of_two, 6, TEMPERED),
    "sigma of given features": (learned_of_given, 6, {"tempering": None}),
}
LONG = {  # some of these priors with this likelihood need kernels of their own
    "gap, shape 1": (partial(gap, (1.0, 10.0)), 6, TEMPERED),
    "gap, shape 2": (partial(gap, (2.0, 4.0)), 6, TEMPERED),
    "means": (partial(judged, SIMILARITIES), 6, TEMPERED),
    "tree": (partial(on_tree, SIMILARITIES), 4, {}),
    "tree, gap": (partial(on_tree, WITHOUT), 4, {}),
    "two columns, shape 1": (partial(of_two_columns, (1.0, 1.0)), 6, {}),
    "two columns, shape 2": (partial(of_two_columns, (2.0, 4.0)), 6, {}),
    "sigma of given features, tempered": (learned_of_given, 6, {"tempering": 3}),
    "sigma of given features, means": (partial(learned_of_given, JUDGEMENTS), 10, {}),
}


@pytest.mark.parametrize(
    "name", [*BY_DEFAULT, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)
def test_posteriors_known_by_quadrature(name):
    make, thin, settings = (BY_DEFAULT | LONG)[name]
    case, expected = make()
    brief = name in BY_DEFAULT
    tree = fit(case, thin, draws=2_000 if brief else 8_000, **settings)
    check(tree, case | {"expected": expected}, brief)
    assert case["model"].get("constant", True) or not tree["posterior"]["constant"].values.any()
