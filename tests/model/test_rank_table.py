"""Ranks of options in draws of utilities, draw by draw."""

import numpy as np
import pytest

from thali._inference import index_arithmetic
from thali._model.column_headings import HEADINGS
from thali._model.rank_table import tabulate_ranks

LABELS = list("abcd")


def ranks_by_loops(utility):
    """The mean rank of each option in each draw, and its probabilities of all ranks."""
    means, p = np.zeros(utility.shape), np.zeros((utility.shape[1],) * 2)
    for d, row in enumerate(utility):
        for i, value in enumerate(row):
            above, equal = int((row > value).sum()), int((row == value).sum())
            means[d, i] = above + (equal + 1) / 2
            p[i, above : above + equal] += 1.0 / equal / len(utility)
    return means, p


@pytest.mark.parametrize("block", [2**21, 12, 1])
@pytest.mark.parametrize("n_levels", [2, 3, 10**9])
def test_ranks_are_those_of_loops_over_draws(n_levels, block, monkeypatch):
    monkeypatch.setattr(index_arithmetic, "BLOCK", block)
    utility = np.random.default_rng(n_levels).integers(n_levels, size=(31, 4)).astype(float)
    utility[:, 2] += 0.3 * n_levels
    means, p = ranks_by_loops(utility)
    table = tabulate_ranks(utility, LABELS, True, 0.5)
    assert table.index.name == "option" and table["rank"].is_monotonic_increasing
    table = table.loc[LABELS]
    np.testing.assert_allclose(table["rank"], means.mean(axis=0), rtol=1e-12)
    names = ["p_1", "p_2", "p_3", "p_4"]
    np.testing.assert_allclose(table[names], p, atol=1e-12)
    assert (table[names].to_numpy() >= 0.0).all() and (table[names].to_numpy() <= 1.0).all()
    ends = np.quantile(means, (0.25, 0.75), axis=0, method="inverted_cdf")
    assert table[["rank_low", "rank_high"]].to_numpy().T.tolist() == ends.tolist()


def test_headings_name_the_ranks_beyond_the_first():
    utility = np.array([[1.0, 2.0, 3.0, 0.0]])
    table = tabulate_ranks(utility, LABELS, True, 0.89)
    assert table.index.tolist() == ["c", "b", "a", "d"]
    expected = {"p_2": "P(rank 2)", "p_3": "P(rank 3)", "p_4": "P(rank 4)"}
    assert table.attrs == {"interval": 0.89, HEADINGS: expected}
    table = tabulate_ranks(utility, LABELS, False, 0.89)
    assert table.columns.tolist() == ["rank", "rank_low", "rank_high", "p_1"]
    assert table.attrs == {"interval": 0.89, HEADINGS: {}}
