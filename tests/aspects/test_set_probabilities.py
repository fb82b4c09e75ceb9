"""Elimination by aspects out of sets, as a plain function, against the specification and all orders
of elimination."""

from itertools import permutations

import numpy as np
import pytest
from helpers.naive import latent_features as naive
from helpers.sentences import refused

from thali.errors import ArgumentError
from thali.likelihoods import elimination_probabilities

FOUR = {"a": ["ab", "a"], "b": ["ab", "bc"], "c": ["cd", "bc"], "d": ["cd", "d"]}
WEIGHTS = {"ab": 2.0, "cd": 1.0, "a": 0.5, "bc": 0.75, "d": 1.5}


@pytest.mark.parametrize(
    "members, expected",
    [
        ("abcd", [26 / 115, 34 / 115, 7 / 69, 26 / 69]),
        ("abc", [26 / 85, 2 / 5, 5 / 17]),
        ("abd", [26 / 115, 39 / 115, 10 / 23]),
        ("acd", [10 / 23, 13 / 69, 26 / 69]),
        ("bcd", [10 / 21, 1 / 9, 26 / 63]),
        ("ab", [2 / 5, 3 / 5]),
        ("ac", [10 / 17, 7 / 17]),
        ("ad", [1 / 2, 1 / 2]),
        ("bc", [2 / 3, 1 / 3]),
        ("bd", [11 / 21, 10 / 21]),
        ("cd", [1 / 3, 2 / 3]),
        ("a", [1.0]),
    ],
)
def test_the_four_options_of_the_specification(members, expected):
    assert elimination_probabilities(list(members), FOUR, WEIGHTS) == pytest.approx(
        expected, abs=1e-14
    )
    lapsing = elimination_probabilities(list(members), FOUR, WEIGHTS, lapse=0.1)
    assert lapsing == pytest.approx(0.9 * np.array(expected) + 0.1 / len(members), abs=1e-14)


def over_all_orders(options, aspects, weights):
    """Aspects in every order in which they can be drawn, in proportion to their weights, without
    replacement."""
    total = np.zeros(len(options))
    for order in permutations(weights):
        probability, rest, left = 1.0, sum(weights.values()), list(options)
        for name in order:
            probability *= weights[name] / rest
            rest -= weights[name]
            left = [x for x in left if name in aspects[x]] or left
        for x in left:
            total[options.index(x)] += probability / len(left)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_probabilities_sum_over_all_orders_of_elimination(seed):
    rng = np.random.default_rng(seed)
    options = list(range(2 + seed % 4))
    names = [f"k{k}" for k in range(6)]
    aspects = {x: [name for name in names if rng.random() < 0.5] for x in options}
    weights = {name: float(rng.gamma(1.0)) for name in names}
    ours = elimination_probabilities(options, aspects, weights)
    assert np.abs(ours - over_all_orders(options, aspects, weights)).max() < 1e-12
    features = [[name in aspects[x] for name in names] for x in options]
    printed = naive.set_probabilities(
        options, features, list(weights.values()), np.zeros(len(options)), 0.0
    )
    assert np.abs(ours - printed).max() < 1e-14


@pytest.mark.long
def test_thirty_options_are_no_trouble_and_a_full_lattice_is_refused():
    rng = np.random.default_rng(1)
    aspects = {x: [f"u{x}", *(k for k in range(5) if rng.random() < 0.3)] for x in range(30)}
    weights = {name: 1.0 for names in aspects.values() for name in names}
    assert elimination_probabilities(range(30), aspects, weights).sum() == pytest.approx(
        1.0, abs=1e-13
    )
    lacking = {x: [k for k in range(25) if k != x] for x in range(25)}
    with refused(ArgumentError, "1,000,000 sets", "25 options"):
        elimination_probabilities(range(25), lacking, {k: 1.0 for k in range(25)})


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: elimination_probabilities(["a", "a"], FOUR, WEIGHTS), ("'a'",)),
        (lambda: elimination_probabilities(["a", "z"], FOUR, WEIGHTS), ("'z'",)),
        (lambda: elimination_probabilities(["a", "b"], FOUR, {"ab": 1.0, "a": 1.0}), ("'bc'",)),
        (
            lambda: elimination_probabilities(["a", "b"], FOUR, {**WEIGHTS, "a": -1.0}),
            ("got -1.0",),
        ),
        (lambda: elimination_probabilities(["a", "b"], FOUR, WEIGHTS, lapse=2.0), ("lapse",)),
        (lambda: elimination_probabilities([], FOUR, WEIGHTS), ("at least one",)),
    ],
)
def test_bad_arguments_are_refused(call, sentence):
    with refused(ArgumentError, *sentence):
        call()
