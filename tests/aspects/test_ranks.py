"""Posterior ranks of the options, and their picture."""

import numpy as np
import pytest
from helpers.additive_fits import made_up
from helpers.posterior_cases import model_of, tree_of, written
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

DATA = th.PairedComparisons([[0, 2, 1], [1, 0, 1], [1, 1, 0]], labels=["tea", "coffee", "milk"])


def ranks_of(unique, sets=None, **how):
    """The ranks of these draws."""
    return model_of(tree_of([written(unique, sets)], DATA, learned_alpha=False)).ranks(**how)


def test_ranks_equal_those_by_hand():
    # utilities: (3, 2, 1), (1, 2 + 5, 3), (4, 1, 2), (4, 1, 2)
    table = ranks_of(
        [[3, 2, 1], [1, 2, 3], [4, 1, 2], [4, 1, 2]], [[], [([1], 5.0)], [], []], every_rank=True
    )
    assert table.index.tolist() == ["tea", "coffee", "milk"]
    assert table["rank"].tolist() == [1.5, 2.25, 2.25]
    assert table[["p_1", "p_2", "p_3"]].to_numpy().tolist() == [
        [0.75, 0.0, 0.25],
        [0.25, 0.25, 0.5],
        [0.0, 0.75, 0.25],
    ]
    assert table["rank_low"].tolist() == [1.0, 1.0, 2.0]
    assert table["rank_high"].tolist() == [3.0, 3.0, 3.0]


def test_a_table_of_ranks_is_as_wide_for_any_number_of_options():
    draws = [[3, 2, 1], [1, 2, 3]]
    table = ranks_of(draws)
    assert table.columns.tolist() == ["rank", "rank_low", "rank_high", "p_1"]
    assert table.equals(ranks_of(draws, every_rank=True)[table.columns])


def test_options_that_are_not_told_apart_share_their_ranks():
    table = ranks_of([[1, 1, 0], [2, 2, 2]], every_rank=True)
    assert table["rank"].to_dict() == {"tea": 1.75, "coffee": 1.75, "milk": 2.5}
    assert table.loc["tea", ["p_1", "p_2", "p_3"]].tolist() == pytest.approx(
        [5 / 12, 5 / 12, 1 / 6]
    )
    assert table.loc["milk", ["p_1", "p_2", "p_3"]].tolist() == pytest.approx([1 / 6, 1 / 6, 2 / 3])


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("n", [3, 9, 40])
def test_the_picture_has_a_row_for_each_option(n):
    from matplotlib import pyplot

    rng = np.random.default_rng(n)
    labels = [f"a rather long name of option $ {k}" for k in range(n)]
    data = th.PairedComparisons(np.ones((n, n)) - np.eye(n), labels=labels)
    utility = np.linspace(3, 1, n) + 0.3 * rng.random((200, n))
    model = model_of(tree_of([written(utility)], data, learned_alpha=False))
    ax = th.plots.ranks(model.ranks(every_rank=True))
    assert len(ax.get_yticklabels()) == n
    assert ax.images[0].get_array().shape == (n, n)
    assert ax.get_ylim() == (n - 0.5, -0.5)
    dots = ax.collections[-1].get_offsets()
    assert dots[:, 0].tolist() == pytest.approx(model.ranks()["rank"].tolist())
    ax.figure.canvas.draw()
    pyplot.close(ax.figure)


def test_similarities_have_no_ranks():
    with refused(ArgumentError, "'ranks'", "features"):
        made_up(4, draws=5).plot("ranks")
