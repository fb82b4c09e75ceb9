"""Pictures of fits by maximum likelihood: what stands where."""

import numpy as np
import pytest
from helpers.paired_cases import TREE, maximised
from helpers.sentences import refused
from matplotlib import pyplot as plt

import thali as th
from thali.errors import ArgumentError


@pytest.fixture(scope="module")
def tree():
    return maximised(TREE)


def test_choice_probabilities_of_a_fit_without_draws(tree):
    ax = tree.plot("predictions")
    table = tree.maximum_likelihood.residuals()
    points = np.asarray(ax.collections[-1].get_offsets())
    np.testing.assert_allclose(points, table[["predicted", "observed"]])
    assert ax.get_xlabel() == "predicted probability (maximum likelihood)"


def test_a_fit_without_draws_names_its_pictures(tree):
    with refused(ArgumentError, "'ranks'", "predictions", "preference_tree"):
        tree.plot("ranks")


def test_preference_tree_draws_branches_of_aspect_weights(tree):
    ax = tree.plot("preference_tree")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(TREE)
    # Nodes: nine leaves, then three aspects; an edge each, as long as the weight.
    edges = np.array(ax.collections[0].get_segments()[:12])
    np.testing.assert_allclose(
        edges[:, 1, 0] - edges[:, 0, 0], tree.maximum_likelihood.weights(), atol=1e-12
    )
    sums = [
        tree.maximum_likelihood.weights()[who] + tree.maximum_likelihood.weights()[TREE[who][0]]
        for who in TREE
    ]
    np.testing.assert_allclose(edges[:9, 1, 0], sums, atol=1e-12)
    assert ax.get_xlim()[1] >= max(sums)
    drawn = {text.get_text() for text in ax.texts}
    assert drawn == {"politician", "athlete", "star"}


def test_nested_aspects_and_options_without_any(tree):
    aspects = dict(
        LBJ=["men", "politician"], HW=["men", "politician"], CDG=["men"], BB=[], ET=[], SL=[]
    )
    model = maximised(aspects, th.datasets.celebrities().subset(aspects))
    ax = model.plot("preference_tree", plt.figure().add_subplot())
    edges = np.array(ax.collections[0].get_segments()[:8])
    w = model.maximum_likelihood.weights()
    np.testing.assert_allclose(edges[0, 1, 0], w["LBJ"] + w["politician"] + w["men"], atol=1e-12)
    np.testing.assert_allclose(edges[2, 1, 0], w["CDG"] + w["men"], atol=1e-12)
    np.testing.assert_allclose(edges[3, :, 0], [0, w["BB"]], atol=1e-12)


def test_aspects_that_do_not_form_a_tree_are_not_drawn():
    crossing = {who: TREE[who] for who in TREE} | {
        "LBJ": ["politician", "x"],
        "JU": ["athlete", "x"],
    }
    with refused(ArgumentError, "'preference_tree'", "predictions"):
        maximised(crossing).plot("preference_tree")
