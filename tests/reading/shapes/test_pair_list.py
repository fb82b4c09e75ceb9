"""The shape of comparisons in a list: which columns it takes, and what it makes."""

import pytest

from thali._source import Source
from thali.data.pairs import PairedComparisons
from thali.data.pairs.columns import choice_columns
from thali.reading.shapes.pairs.pair_list import lacks, match
from thali.reading.table import load


def table(text):
    return load(Source("x.csv", text.encode()))


@pytest.mark.parametrize(
    ("names", "how"),
    [
        ("winner loser", ["long table, 'winner' chosen over 'loser', one comparison a row"]),
        ("i j n", ["long table, 'i' chosen over 'j', counted by 'n'"]),
        ("a b wins_a wins_b", ["table of pairs, 'a' over 'b' counted by 'wins_a', the reverse by 'wins_b'"]),
        ("winner winner2", []),
        ("x y", []),
    ],
)
def test_columns(names, how):
    assert [str(columns) for columns in choice_columns(names.split())] == how


def test_what_does_not_match():
    assert match(table("i,j,similarity\nA,B,1\n")) is None  # the column says what it is
    assert match(table(",I,J\nI,0,3\nJ,1,0\n")) is None  # options called I and J
    assert match(table("I,J\n0,3\n1,0\n")) is None
    assert match(table("winner,loser,n\n1,2,3\n2,1,4\n3,1,5\n")) is not None  # as many rows as columns of numbers


def test_what_it_makes():
    data, sentence = match(table("a,b,a_over_b,b_over_a,room\nA,B,3,1,x\n")).build()
    assert data == PairedComparisons([[0, 3], [1, 0]], "AB") and sentence.endswith("; columns not used: 'room'")
    data, _ = match(table("won,lost,weight\nA,B,1.5\nB,A,1\n")).build()
    assert data.wins.tolist() == [1.5]
    data, sentence = match(table("a,b,a_over_b,b_over_a,tie\nA,B,3,1,2\nB,A,1,0,1\n")).build()
    assert (data.wins.tolist(), data.losses.tolist(), data.tied.tolist()) == ([3], [2], [3])
    assert "the reverse by 'b_over_a', ties by 'tie': 2 options" in sentence
    data, _ = match(table("winner,loser,draw\nA,B,0\nB,A,1\n")).build()
    assert (data.wins.tolist(), data.losses.tolist(), data.tied.tolist()) == ([1], [0], [1])
    for text, said in (
        ("winner,loser,n,count\nA,B,1,2\n", "The columns can be read in several ways"),
        ("winner,loser,tie\nA,B,2\n", "Column 'tie' is 2 in row 2, and no column counts the choices"),
    ):
        with pytest.raises(ValueError, match=f"x.csv: {said}"):
            match(table(text)).build()


def test_covariates_of_pairs_that_say_which_was_first():
    text = "home.team,away.team,home.wins,away.wins,ties,far\nA,B,3,1,1,5\nB,A,4,2,0,1\nA,C,1,2,0,2\n"
    data, sentence = match(table(text), covariates=["order", "far"]).build()
    assert data.covariates.names == ("order", "far") and "not used" not in sentence
    assert data.covariates.wins.sum() + data.covariates.losses.sum() == 13 and data.covariates.tied.sum() == 1
    cells = zip(*data.covariates.values.T, data.covariates.wins, data.covariates.losses, strict=True)
    assert sorted(cells) == [(-1, -1, 2, 4), (1, 2, 1, 2), (1, 5, 3, 1)]  # of A over B, and of A over C
    by_order = match(table(text)).build()[0].with_order()
    assert match(table(text), covariates=["order"]).build()[0] == by_order
    assert match(table("a,b,a_over_b,b_over_a\nA,B,3,1\n"), covariates=["order"]) is None
    assert match(table("winner,loser\nA,B\n"), covariates=["order"]) is None
    with pytest.raises(ValueError, match="Column 'home.wins' says what was compared"):
        match(table(text), covariates=["home.wins"]).build()


def test_what_is_lacking():
    assert lacks(table("Winner,year\nA,1\nB,2\nC,3\n")) == ("a column 'loser' beside 'Winner'", "rejected", 1)
    assert lacks(table("i,year\nA,1\nB,2\nC,3\n")) is lacks(table("winner,loser\nA,B\n")) is None
