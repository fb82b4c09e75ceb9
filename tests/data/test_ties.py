"""Ties in paired comparisons: what is kept of them, what becomes of them, and who refuses them."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali._model.model_files import compute_digest
from thali.errors import ArgumentError, DataError

COUNTS = [[0, 3, 0], [1, 0, 0], [0, 0, 0]]
TIES = [[0, 1, 2], [1, 0, 0], [2, 0, 0]]
LABELS = ("tea", "milk", "water")
UNKNOWN = (
    "3 of 7 comparisons are ties, but ties are not supported here; count every tie as half a"
    " choice for each option with data.without_ties('half'), or drop all ties with"
    " data.without_ties('drop')."
)


@pytest.fixture
def data():
    return th.PairedComparisons(COUNTS, LABELS, TIES)


def test_wins_losses_and_ties_are_stored_by_pair(data):
    # a pair with ties alone is compared
    assert (data.first.tolist(), data.second.tolist()) == ([0, 0], [1, 2])
    assert (data.wins.tolist(), data.losses.tolist(), data.tied.tolist()) == (
        [3, 0],
        [1, 0],
        [1, 2],
    )
    assert data.counts.tolist() == COUNTS and data.ties is not None and data.ties.tolist() == TIES
    assert (data.n_pairs, data.n_comparisons, data.n_ties) == (2, 7, 3) and data.never_judged == []
    said(repr(data), "PairedComparisons", "3 options", "2 pairs", "7 comparisons")
    said(data.example(), "'tea'", "'milk'", "3 of 5 times")
    assert th.PairedComparisons(COUNTS).ties is None
    for same in (
        np.triu(TIES),
        np.tril(TIES),
        pd.DataFrame(TIES, LABELS, LABELS).iloc[::-1, [1, 0, 2]],
    ):
        assert th.PairedComparisons(COUNTS, LABELS, same) == data


def test_ties_belong_to_equality_and_digest(data):
    others = [
        th.PairedComparisons(COUNTS, LABELS),
        th.PairedComparisons(COUNTS, LABELS, np.multiply(TIES, 2)),
    ]
    assert len({compute_digest(each) for each in (data, *others)}) == 3
    assert data not in others


def test_ties_survive_the_way_to_a_table_and_back(data):
    frame = data.to_frame()
    assert frame["ties"].tolist() == [1, 0, 2] and frame["count"].tolist() == [3, 1, 0]
    assert th.PairedComparisons.from_frame(frame) == data
    assert "ties" not in th.PairedComparisons(COUNTS).to_frame()
    assert data.proportions()["ties"].tolist() == [0.2, 1.0] and data.proportions()[
        "n"
    ].tolist() == [5, 2]
    rows = pd.DataFrame(
        {"x": ["tea", "tea", "milk"], "y": ["milk", "milk", "tea"], "even": [0, 1, 0]}
    )
    # a row is a choice or a tie
    one_each = th.PairedComparisons.from_frame(rows, "x", "y", ties="even")
    assert (one_each.wins.tolist(), one_each.losses.tolist(), one_each.tied.tolist()) == (
        [1],
        [1],
        [1],
    )


def test_subsets_keep_their_ties(data):
    assert data.subset(["water", "tea"]).tied.tolist() == [2]
    assert data.subset(["milk", "tea"]) == th.PairedComparisons(
        [[0, 1], [3, 0]], ["milk", "tea"], [[0, 1], [0, 0]]
    )
    assert data.without_pair("tea", "milk").tied.tolist() == [2]
    assert data.with_counts(data.wins, data.losses).n_ties == 0


def test_without_ties_halves_or_drops_them(data):
    half, drop = data.without_ties("half"), data.without_ties("drop")
    assert half.counts.tolist() == [[0, 3.5, 1], [1.5, 0, 0], [1, 0, 0]] and half.n_ties == 0
    assert drop == th.PairedComparisons(COUNTS, LABELS)
    with refused(ArgumentError, "how", "'half'", "'drop'", "got 'davidson'"):
        data.without_ties("davidson")
    with refused(DataError, "2 comparisons"):
        data.subset(["tea", "water"]).without_ties("drop")


@pytest.mark.parametrize(
    "refuses",
    [
        lambda data: th.paired.transitivity(data),
        lambda data: th.paired.circular_triads(data),
        lambda data: th.paired.bootstrap([data, data]),
        th.Choices.from_comparisons,
    ],
)
def test_who_knows_choices_alone_says_so(data, refuses):
    with pytest.raises(DataError) as caught:
        refuses(data)
    assert str(caught.value) == UNKNOWN


@pytest.mark.fit
@pytest.mark.usefixtures("few_replicates")
def test_davidson_takes_the_ties_of_the_data():
    wins, ties = [[0, 5, 6], [2, 0, 4], [1, 3, 0]], [[0, 3, 2], [3, 0, 3], [2, 3, 0]]
    data = th.PairedComparisons(wins, ties=ties)
    assert str(th.paired.davidson(data)) == str(th.paired.davidson(wins, ties))
    assert th.paired.half_wins(data) == th.paired.half_wins(wins, ties) == data.without_ties("half")
    with refused(DataError, "8 ties", "`ties`"):
        th.paired.davidson(data, ties)
    with refused(DataError, "There are no ties"):
        th.paired.davidson(wins)


@pytest.mark.parametrize(
    ("ties", "facts"),
    [
        ([[0, 1], [1, 0]], ("3 x 3", "3 options", "(2, 2)")),
        (
            [[0, 1, 0], [2, 0, 0], [0, 0, 0]],
            ("'tea' and 'milk'", "1 in one triangle", "2 in the other"),
        ),
        ([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]], ("row 'tea'", "column 'milk'", "0.5")),
        (np.eye(3), ("counts", "empty diagonal")),
        (-np.ones((3, 3)), ("counts", "counts >= 0")),
        ("many", ("per option",)),
    ],
)
def test_bad_ties_are_refused(ties, facts):
    with refused(DataError, *facts):
        th.PairedComparisons(COUNTS, LABELS, ties)


@pytest.mark.parametrize(
    "header",
    [
        "a,b,wins_a,wins_b,ties",
        "a,b,votes_a,votes_b,votes_tie",
        "item_i,item_j,n_i,n_j,n_tie",
        "left,right,left_count,right_count,tie_count",
        "A,B,Anzahl A,Anzahl B,Anzahl unentschieden",
    ],
)
def test_ties_are_counted_in_the_words_of_the_wins(header):
    rows = [("tea", "milk", 3, 1, 2), ("milk", "rum", 2, 4, 0), ("tea", "rum", 2, 2, 1)]
    data = th.read(pd.DataFrame(rows, columns=header.split(",")))
    assert data.ties.sum() == 6 and data.counts.sum() == 14
    assert f"ties in {header.split(',')[-1]!r}" in data.read_as


def test_bad_column_of_ties():
    frame = pd.DataFrame({"chosen": ["a", "b"], "rejected": ["b", "a"], "ties": [0, 4]})
    with refused(DataError, "Column 'ties'", "row 1", "`count`"):
        th.PairedComparisons.from_frame(frame)


@pytest.mark.fit
def test_a_table_with_ties_at_the_command_line(run, tmp_path, few_replicates):
    path = tmp_path / "cups.csv"
    path.write_text("a,b,wins_a,wins_b,ties\ntea,milk,3,1,2\nmilk,water,2,4,0\ntea,water,2,2,1\n")
    fit, test = ("fit", path, "--method", "maximum-likelihood"), ("test", "transitivity", path)
    done = run(*test)
    assert done.code == 2
    said(done.err, "17 comparisons")
    said(done.err, "--ties")
    for more in ((), ("--ties", "davidson")):
        done = run(*fit, *more, "--print", "all")
        assert done.code == 0 and "Tie parameter nu: " in done.out and "Pair outcomes" in done.out
    for command in (fit, test):
        done = run(*command, "--ties", "drop")
        assert done.code == 0 and "; 3 ties dropped" in done.err and "ties in 'ties'" in done.err
    said(run(*test, "--ties", "davidson").err, "--ties", "got 'davidson'")
    said(run(*fit, "--ties", "win").err, "--ties", "got 'win'")
    said(run(*fit, "--ties", "half").err, "3 ties")
