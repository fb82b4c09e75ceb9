"""Without unique aspects chains hardly ever change between families of aspects: they are tempered
by default.

Expected values: importance sampling with draws from a simulated prior, of which nothing is thali's.
"""

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import copies, mean_and_error
from helpers.sentences import refused
from helpers.set_problems import choices_of

import thali as th
from thali.errors import ArgumentError

TREE = "(((a:.1,b:.1):.3,c:.4):.6,d:1);"
SETS = {
    tuple("abcd"): (3, 1, 1, 2),
    tuple("abc"): (2, 0, 1),
    tuple("bcd"): (1, 3, 0),
    tuple("ab"): (1, 2),
    tuple("cd"): (2, 1),
}
EXACT = {  # mean and its error
    "an aspect is d's alone": (0.04601, 0.00017),
    "aspects": (0.36004, 0.00064),
    "d out of all": (0.246385, 0.000011),
}


def stuck_model(**more):
    likelihood = th.likelihoods.Elimination(0.1, unique=False)
    return th.LatentFeatureModel(
        th.Tree.from_newick(TREE), likelihood, weight_prior=(0.5, 1.0), **more
    )


def compare_with_the_answer(seed, **budget):
    model = stuck_model().fit(
        choices_of(SETS, list("abcd")), random_seed=seed, progressbar=False, **budget
    )
    posterior = all_drawn(model.posterior_)
    found = {
        "an aspect is d's alone": copies(posterior, [3]) > 0,
        "aspects": posterior["n_features"].values,
        "d out of all": posterior["set_probability"].sel(place="d | a, b, c, d").values,
    }
    for name, draws in found.items():
        mean, mistake = mean_and_error(draws)
        expected, error = EXACT[name]
        assert abs(mean - expected) <= 4.0 * np.hypot(mistake, error), (
            seed,
            name,
            mean,
            expected,
            mistake,
        )
    return model


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_defaults_find_a_posterior_of_two_families_whatever_the_seed(seed):
    model = compare_with_the_answer(seed)
    assert model.convergence().agrees


def temperatures(data, **settings):
    """Return how many temperatures chains of these settings begin with."""
    return len(th.EliminationByAspects(**settings).prepare(data, draws=1, tune=1).task.temperatures)


@pytest.mark.parametrize("tempering", [None, "auto"])
def test_what_is_tempered_by_default(tempering):
    data = th.PairedComparisons([[0, 3, 1], [1, 0, 2], [4, 1, 0]], labels=list("abc"))
    tree = th.Tree.from_newick("((a:.5,b:.5):.5,c:1);")
    for unique in (True, False):
        for aspects, learned in (
            ("ibp", True),
            (3, True),
            (tree, True),
            ({"a": ["x"], "b": ["x", "y"], "c": []}, False),
        ):
            expected = 8 if learned and not unique else 1
            assert (
                temperatures(data, aspects=aspects, unique=unique, tempering=tempering) == expected
            )
    for off in (False, "off", 1):
        assert temperatures(data, unique=False, tempering=off) == 1


def test_another_word_is_refused():
    with refused(ArgumentError, "'auto'", "'off'", "got 'hot'"):
        temperatures(th.PairedComparisons([[0, 3], [1, 0]]), tempering="hot")
