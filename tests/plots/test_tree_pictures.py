"""Pictures of trees, in characters and in matplotlib: edges as long as they are, names where there
is room."""

import matplotlib
import numpy as np
import pytest
from helpers.drawn_pictures import assert_apart, assert_readable, drawn_texts
from helpers.sentences import said
from helpers.tree_cases import CELEBRITIES, caterpillar, random_linkage
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

import thali as th


def build_mixed_tree():
    text = (
        "(((a:.34,b:.34)a_name_that_is_too_long:.19,(c:.53,e:.53):0)x:.47,(d:.001,'two\n"
        "lines':.001):.999);"
    )
    tree = th.Tree.from_newick(text)
    return tree.for_labels(["a", "b", "c", "d", "e", "two\nlines"])


def test_a_tree_repr_states_its_size():
    said(repr(th.Tree.from_groups(CELEBRITIES)), "9 leaves", "3 clades", "3.6")
    said(repr(th.Tree.from_newick("((a:1,b:1):1);")), "2 leaves", "1 clade", "1.5")


NAMES = ("ab", "$_{5", "a b c d", "efghi", "g h")


def build_named_tree():
    return th.Tree.from_newick(
        "(((a:.1,b:.1)ab:.2,(c:.2,d:.2)$_{5:.1)'a b c d':.7,((e:.3,f:.3)'a name much too long for"
        " its edge':.3,(g:.5,h:.5,i:.5)'g\nh':.1)efghi:.4);"
    )


GAP = {"one": "a", "upper": "ab", "lower": "ab"}
CASES = {
    "four": lambda: th.Tree.from_groups(
        {"Paris": ["P", "P+"], "Rome": ["R", "$_{5 now and $10 later"]}
    ),
    "nine": lambda: th.Tree.from_groups(CELEBRITIES),
    "forty": lambda: random_linkage(40),
    "forty long names": lambda: random_linkage(
        40, "a rather long name, that of option {}, and it goes on"
    ),
    "two hundred": lambda: random_linkage(200),
    "two": lambda: th.Tree.from_newick("((a:1,b:1)both:3);"),
    "named": build_named_tree,
    "mixed": build_mixed_tree,
    "names that nearly fit": lambda: th.Tree.from_groups(
        {
            f"{k} {'x' * length}": [f"{k} {member} {'y' * 28}" for member in range(2)]
            for k, length in enumerate(range(26, 42))
        },
        0.5,
    ),
    "two names for one gap": lambda: th.Tree.from_groups(
        {
            f"{name} {k}": [f"{k}{name}{member}" for member in members]
            for k in range(54)
            for name, members in GAP.items()
        }
    ),
    "crowded names": lambda: th.Tree.from_groups(
        {f"group {k}": [2 * k, 2 * k + 1] for k in range(100)}
    ),
    "caterpillar": lambda: th.Tree.from_newick(caterpillar(200)),
    "large caterpillar": lambda: th.Tree.from_newick(caterpillar(800)),
}


def read_lines(ax):
    (collection,) = (each for each in ax.collections if isinstance(each, LineCollection))
    return np.array([path.vertices for path in collection.get_paths()])


@pytest.mark.filterwarnings("error")
@pytest.mark.first(1)
@pytest.mark.parametrize("case", CASES)
def test_texts_are_inside_the_figure_and_touch_neither_each_other_nor_a_line(case, monkeypatch):
    ax = th.plots.tree(CASES[case]())
    assert_readable(ax, monkeypatch, smallest=6)
    check_no_line_crosses_text(ax, monkeypatch)


@pytest.mark.long
def test_names_and_labels_without_room_are_omitted_on_small_axes(monkeypatch):
    _, ax = plt.subplots(figsize=(5, 3))
    groups = {
        f"group {k}": [f"{k}.{member}" for member in range(30 if k == 5 else 2)] for k in range(12)
    }
    th.plots.tree(th.Tree.from_groups(groups, 0.3), ax)
    assert "group 5" in {text.get_text() for text in ax.texts}
    assert 10 < len(ax.get_yticklabels()) < 30
    assert_apart(drawn_texts(ax.figure, monkeypatch))
    check_no_line_crosses_text(ax, monkeypatch)


def check_no_line_crosses_text(ax, monkeypatch):
    boxes = [box for _, box in drawn_texts(ax.figure, monkeypatch)]
    low, high = np.array([box.min for box in boxes]), np.array([box.max for box in boxes])
    ends = ax.transData.transform(read_lines(ax).reshape(-1, 2)).reshape(-1, 2, 2)
    # the axis is drawn, too
    ends = np.concatenate([ends, [[ax.bbox.min, [ax.bbox.x1, ax.bbox.y0]]]])
    crossed = (ends.min(axis=1)[:, None] < high) & (low < ends.max(axis=1)[:, None])
    assert not crossed.all(axis=-1).any()


@pytest.mark.first(4)
@pytest.mark.parametrize("case", [case for case in CASES if "caterpillar" not in case])
def test_lines_are_the_edges(case):
    tree = CASES[case]()
    ax = th.plots.tree(tree)
    lines = read_lines(ax)
    edges = lines[: len(tree.parents) - 1]
    np.testing.assert_array_equal(edges[:, 0, 0], tree.depths[tree.parents[:-1]])
    np.testing.assert_array_equal(edges[:, 1, 0], tree.depths[:-1])
    np.testing.assert_array_equal(edges[:, 0, 1], edges[:, 1, 1])
    assert sorted(edges[: tree.n_leaves, 0, 1]) == list(range(tree.n_leaves))
    # each fork spans its children, and its own edge starts from between them
    rows = np.append(edges[:, 0, 1], np.nan)
    for node in range(tree.n_leaves, len(tree.parents)):
        children = rows[:-1][tree.parents[:-1] == node]
        if len(children) > 1:
            assert [
                [tree.depths[node], children.min()],
                [tree.depths[node], children.max()],
            ] in lines.tolist()
            assert np.isnan(rows[node]) or children.min() < rows[node] < children.max()
    labels = {
        round(place): tick.get_text()
        for place, tick in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    }
    if max(map(len, tree.labels)) <= 32:
        shown = [" ".join(label.split()) for label in tree.labels]
        assert labels.items() <= {
            (round(row), label) for row, label in zip(rows, shown, strict=False)
        }
        assert len(labels) == tree.n_leaves or tree.n_leaves > 200
    assert ax.yaxis_inverted()  # the first leaf is at the top, as it is printed


def test_names_are_placed_where_there_is_room():
    ax = th.plots.tree(build_named_tree())
    # without the one that is longer than its edge
    assert {text.get_text() for text in ax.texts} == {*NAMES}
    assert not any(text.get_parse_math() for text in (*ax.texts, *ax.get_yticklabels()))
    assert {text.get_text() for text in th.plots.tree(th.Tree.from_groups(CELEBRITIES)).texts} == {
        *CELEBRITIES
    }


@pytest.mark.long
def test_very_many_leaves_have_some_labels_in_their_rows():
    ax = th.plots.tree(CASES["large caterpillar"]())
    rows = ax.get_yticks().astype(int)
    assert 100 < len(rows) < 400
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"x{row}" for row in rows]


def test_given_axes_are_drawn_on_and_nothing_else_is_touched():
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 2)
    tree = th.Tree.from_groups(CELEBRITIES)
    assert tree.plot(axes[1]) is axes[1]
    assert not axes[0].has_data()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
    assert tree.plot().figure is not figure
