"""Pictures of fits by maximum likelihood: what stands where."""

import numpy as np
import pytest
from helpers.paired_cases import TREE, maximised
from helpers.sentences import refused
from matplotlib import pyplot as plt

import thali as th
from thali import plots
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
    with refused(ArgumentError, "'trace'", "utility_scale", "preference_tree"):
        tree.plot("trace")


def test_utility_scale_draws_every_option(tree):
    table = tree.findings(ci=0.95)["utility_scale"].table
    ax = plots.utility_scale(table)
    assert (
        "95 % interval" in ax.get_xlabel()
        and "89 % interval" in tree.plot("utility_scale").get_xlabel()
    )
    bars = ax.containers[0]
    order = tree.maximum_likelihood.utility_scale().sort_values(ascending=False)
    np.testing.assert_allclose(bars[0].get_xdata(), order)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(order.index)
    spans = [segment[:, 0] for segment in bars[2][0].get_segments()]
    np.testing.assert_allclose(spans, table.loc[order.index, ["low", "high"]])
    assert ax.get_xscale() == "log" and "quasi-variances" in ax.get_xlabel()
    unsorted = plots.utility_scale(table, sort=False)
    assert [tick.get_text() for tick in unsorted.get_yticklabels()] == list(
        tree.maximum_likelihood.utility_scale().index
    )


def test_an_option_of_utility_0_is_at_the_left_end():
    lost = th.PairedComparisons([[0, 5, 9, 9], [5, 0, 9, 9], [1, 1, 0, 9], [0, 0, 0, 0]], "abcd")
    ax = maximised(data=lost).plot("utility_scale")
    assert len(ax.containers[0][0].get_xdata()) == 3
    (triangle,) = (line for line in ax.lines if line.get_marker() == "<")
    assert triangle.get_ydata().tolist() == [3] and ax.get_yticklabels()[3].get_text() == "d"


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
    with refused(ArgumentError, "'preference_tree'", "utility_scale"):
        maximised(crossing).plot("preference_tree")


@pytest.mark.parametrize("n", [4, 40])
def test_many_options_with_long_names_are_drawn(n):
    decisions = np.random.default_rng(1)
    labels = [f"a rather long name, that of option ${number}" for number in range(n)]
    counts = decisions.integers(5, 20, (n, n))
    np.fill_diagonal(counts, 0)
    model = maximised(data=th.PairedComparisons(counts, labels))
    model.plot("utility_scale").figure.draw_without_rendering()
