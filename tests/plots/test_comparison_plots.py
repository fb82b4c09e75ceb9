"""The picture of left-out scores: what it shows, and that nothing written overlaps."""

import itertools

import matplotlib
import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import CELEBRITIES, assert_readable
from helpers.sentences import refused, said
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import thali as th
from thali.errors import ArgumentError

# Two dollar signs on a line would start a formula, here one that cannot be read.
LONG = [f"${number}_{{ to $9: option with a name of some sixty characters" for number in range(40)]
MODELS = ["BTL", "tEBA", "iEBA", "pEBA", "EBA12"]
LONG_MODELS = [
    "a $_{model$ whose name is long and goes on",
    "another $_{model$ of which the name is long",
]


def build_comparison(labels, models, seed=0, spread=0.5, **scores):
    """Build a table as `compare` returns it, with simulated or given scores."""
    rng = np.random.default_rng(seed)
    pairs = pd.MultiIndex.from_tuples(itertools.combinations(labels, 2), names=["a", "b"])
    common = rng.gamma(2.0, 2.0, size=len(pairs)) + 2.0
    columns = {name: common * np.exp(spread * rng.normal(size=len(pairs))) for name in models}
    held = pd.DataFrame(
        {"BASE": common * 4, **columns, **scores, "EMP": np.full(len(pairs), 2.0)}, index=pairs
    )
    table = pd.DataFrame({"nll": held.mean()})
    table.attrs["pairs"] = held
    return table


def inflate_score(table, factor=100.0):
    table.attrs["pairs"].iloc[0, 1] *= factor
    return table


CASES = {
    "four options": lambda: th.plots.comparison(build_comparison("abcd", MODELS[:3])),
    "nine": lambda: th.plots.comparison(build_comparison(CELEBRITIES, MODELS[:3])),
    "nine, five models": lambda: th.plots.comparison(build_comparison(CELEBRITIES, MODELS[:5])),
    "nine, one model": lambda: th.plots.comparison(build_comparison(CELEBRITIES, MODELS[:1])),
    "nine, one pair far off": lambda: th.plots.comparison(
        inflate_score(build_comparison(CELEBRITIES, MODELS[:2]))
    ),
    "forty": lambda: th.plots.comparison(
        build_comparison([f"o{number}" for number in range(40)], MODELS[:2])
    ),
    "forty long names": lambda: th.plots.comparison(build_comparison(LONG, LONG_MODELS)),
    "one pair": lambda: th.plots.comparison(build_comparison("ab", MODELS[:2])),
}


def read_marked_points(ax):
    """Return legend names of marked points, with their data coordinates."""
    return {
        line.get_label(): tuple(line.get_xydata()[0])
        for line in ax.lines
        if line.get_marker() in "osD^v"
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_and_none_overlaps(case, monkeypatch):
    assert_readable(CASES[case]()[0], monkeypatch, least=3, smallest=6)


def test_points_are_the_scores_and_the_title_counts_them():
    table = build_comparison(CELEBRITIES, MODELS[:2])
    (ax,) = th.plots.comparison(table)
    held = table.attrs["pairs"]
    better = held["tEBA"] < held["BTL"]
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == [
        f"tEBA better for {better.sum()} of 36 pairs",
        f"BTL better for {36 - better.sum()}",
    ]
    assert 0 < better.sum() < 36
    for dots, expected, colour in zip(
        ax.collections, (held[better], held[~better]), (1, 0), strict=True
    ):
        np.testing.assert_array_equal(dots.get_offsets(), expected[["BTL", "tEBA"]])
        assert to_hex(dots.get_facecolor()).upper() == ("#0072B2", "#D55E00")[colour]
    assert ax.get_xlabel().startswith("BTL") and ax.get_ylabel().startswith("tEBA")
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_aspect() == 1
    line = ax.lines[0].get_xydata()
    np.testing.assert_array_equal(line[:, 0], line[:, 1])


def test_pairs_without_scores_are_omitted_and_equal_pairs_are_counted():
    scores = {"one": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0], "two": [1.5, 2.0, 3.0, np.nan, 4.5, 6.5]}
    (ax,) = th.plots.comparison(build_comparison("abcd", [], **scores))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["two better for 1 of 4 pairs", "one better for 2", "equal for 1"]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 4


def test_no_pair_in_common_leaves_an_empty_panel():
    (ax,) = th.plots.comparison(
        build_comparison("abc", [], one=[1.0, np.nan, np.nan], two=[np.nan, 2.0, np.nan])
    )
    said(ax.get_legend().get_texts()[0].get_text(), "0 of", "0 pairs")
    assert not read_marked_points(ax)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_up_to_four_models_are_compared_in_pairs_and_more_with_the_best(count):
    models = MODELS[:count]
    table = build_comparison("abc", models)
    table.loc[models, "nll"] = np.arange(count, 0, -1.0)
    if count > 1:
        table.loc[models[1], "nll"] = 0.5
    expected = [("BASE", models[0])] if count == 1 else list(itertools.combinations(models, 2))
    if count > 4:
        expected = [(model, models[1]) for model in models if model != models[1]]
    axes = th.plots.comparison(table)
    drawn = [(ax.get_xlabel().split(":")[0], ax.get_ylabel().split(":")[0]) for ax in axes]
    assert drawn == expected
    assert axes[0].figure.axes == axes
    if count == 3:
        assert len(th.plots.comparison(table, max_models=2)) == 2


def test_the_pairs_furthest_from_the_diagonal_and_the_worst_are_named():
    # In the fourth pair the scores differ by the largest factor, but by little.
    across = np.array([3.0, 3.1, 9.0, 0.2, 20.0, 5.0])
    up = np.array([3.1, 6.1, 3.5, 1.0, 20.1, 6.5])
    (ax,) = th.plots.comparison(build_comparison("abcd", [], one=across, two=up))
    assert read_marked_points(ax) == {
        "a – d": (9.0, 3.5),
        "a – c": (3.1, 6.1),
        "c – d": (5.0, 6.5),
        "b – d": (20.0, 20.1),
    }
    up[4] = 40.0
    (ax,) = th.plots.comparison(build_comparison("abcd", [], one=across, two=up))
    assert set(read_marked_points(ax)) == {"a – d", "a – c", "b – d"}
    (ax,) = th.plots.comparison(build_comparison("abcd", [], one=across, two=across))
    assert set(read_marked_points(ax)) == {"b – d"}


@pytest.mark.parametrize("largest, scale", [(120.0, "linear"), (120.01, "symlog")])
def test_the_scale_is_linear_up_to_thirty_medians(largest, scale):
    across = np.array([4.0, 4.0, 4.0, 2.0, 3.0, largest])
    (ax,) = th.plots.comparison(build_comparison("abcd", [], one=across, two=np.full(6, 4.0)))
    assert ax.get_xscale() == ax.get_yscale() == scale
    low, high = ax.get_xlim()
    assert ax.get_xlim() == ax.get_ylim()
    assert low < 2.0 and high > largest
    ticks = ax.get_xticks()
    inside = ticks[(low <= ticks) & (ticks <= high)]
    assert len(inside) >= 3
    if scale == "symlog":
        # The bulk has room: what lies up to twice the median takes a quarter of the axis at least.
        left, bulk, right = ax.transData.transform([(low, low), (8.0, low), (high, low)])[:, 0]
        assert bulk - left > (right - left) / 4


def test_infinite_scores_are_crosses_at_the_end():
    scores = {
        "one": [1.0, np.inf, 3.0, 4.0, 5.0, np.inf],
        "two": [1.5, 2.0, np.inf, 3.5, 4.5, np.inf],
    }
    (ax,) = th.plots.comparison(build_comparison("abcd", [], **scores))
    end = ax.get_xlim()[1]
    assert np.isfinite(end)
    offsets = np.concatenate(
        [dots.get_offsets() for dots in ax.collections if not dots.get_clip_on()]
    )
    assert sorted(map(tuple, offsets)) == sorted([(end, 2.0), (3.0, end), (end, end)])
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["two better for 3 of 6 pairs", "one better for 2", "equal for 1"]


def test_tables_that_cannot_be_drawn():
    table = build_comparison("abc", MODELS[:3])
    with pytest.raises(ArgumentError, match=r"`ax` must have .*3.*; got 2"):
        th.plots.comparison(table, plt.subplots(2)[1])
    with refused(ArgumentError, "must have at least one row of a model"):
        th.plots.comparison(table.loc[["BASE", "EMP"]])
    table.attrs.clear()
    with refused(ArgumentError, "attrs['pairs']"):
        th.plots.comparison(table)


def test_given_axes_are_drawn_on_and_nothing_else_is_touched():
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(2, 2)
    flat = list(axes.flat)
    assert th.plots.comparison(build_comparison("abcd", MODELS[:3]), flat[:3]) == flat[:3]
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_the_pairs_of_several_groups_are_named():
    rows = [
        (group, *pair) for group in ("women", "men") for pair in (("tea", "milk"), ("tea", "ale"))
    ]
    index = pd.MultiIndex.from_tuples(rows, names=["group", "a", "b"])
    scores = pd.DataFrame(
        {"common": [9.0, 2.0, 3.0, 1.0], "free": [2.0, 2.5, 3.1, 8.0]}, index=index
    )
    table = pd.DataFrame({"nll": scores.mean()})
    table.attrs["pairs"] = scores
    (ax,) = th.plots.comparison(table)
    assert {"tea – milk (women)", "tea – ale (men)"} <= set(read_marked_points(ax))
