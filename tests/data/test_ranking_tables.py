"""Columns of rankings, ranks and labels in their cells, and the choices of which rankings consist."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._data.choices import rankings as module
from thali._data.choices.rankings import (
    ABSENT,
    LONG,
    OPTIONS,
    RANKS,
    TEXT,
    WORSE,
    RankingColumns,
    convert_rankings,
    describe_layout,
    describe_rankings,
    find_rank_block,
    find_ranking_columns,
    is_ranking,
    mark_empty,
    read_ranking_frame,
    read_ranking_list,
    require_ranking_columns,
    spread_ranked_cells,
)
from thali.errors import DataError

NOTHING = dict.fromkeys(("option", "rank", "respondent", "count"))


def found_in(frame, unranked=ABSENT, **names):
    """The columns of rankings in a table."""
    return find_ranking_columns(frame, NOTHING | names, unranked)


# What columns are --------------------------------------------------------------------------------


TABLES = {
    RANKS: pd.DataFrame({"respondent": ["x", "y"], "rank1": ["a", "b"], "rank2": ["b", "a"]}),
    OPTIONS: pd.DataFrame({"a": [1, 2, 3, 1], "b": [2, 1, 2, 3], "c": [3, 3, 1, 2]}),
    LONG: pd.DataFrame({"respondent": [1, 1, 2, 2], "item": ["a", "b"] * 2, "rank": [1, 2, 2, 1]}),
    TEXT: pd.DataFrame({"order": ["a > b = c", "c > a > b"]}),
}


@pytest.mark.parametrize(("layout", "asked"), product(TABLES, [None, *TABLES]))
def test_a_given_layout_is_the_one_that_is_read(layout, asked):
    frame = TABLES[layout]
    if asked in (LONG, TEXT) and asked != layout:
        with refused(DataError, "No rankings were found"):
            require_ranking_columns(frame, asked, NOTHING, ABSENT)
        return
    found = require_ranking_columns(frame, asked, NOTHING, ABSENT)
    assert found.shape == (asked or layout)
    if asked in (RANKS, OPTIONS) and asked != layout:  # all columns, as was asked
        assert found.columns == tuple(frame.columns)
        assert (found.respondent, found.group, found.count) == (None, None, None)


def test_columns_of_a_given_layout_are_those_without_another_role():
    frame = TABLES[OPTIONS].assign(respondent=list("wxyz"), n=[2, 1, 1, 3])
    found = require_ranking_columns(
        frame, RANKS, NOTHING | {"respondent": "respondent", "count": "n"}, ABSENT
    )
    assert found == RankingColumns(RANKS, ("a", "b", "c"), "respondent", None, "n")
    with refused(DataError, "'a'", "'b'", "No rankings were found"):
        require_ranking_columns(pd.DataFrame({"a": ["x"], "b": ["y"]}), None, NOTHING, ABSENT)


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["rank1", "rank2", "rank3"], (0, 1, 2)),
        (["rank2", "rank1", "rank3"], (1, 0, 2)),
        (["rank1", "rank3", "rank4"], (0,)),  # numbers count from 1
        (["1st", "2nd", "3rd", "note"], (0, 1, 2)),
        (["second", "first", "third"], (1, 0, 2)),
        (["first", "second"], ()),  # two sides
        (["best", "secondbest"], ()),
        (["erste Wahl", "zweite Wahl"], (0, 1)),
        (["Rank the toppings [1]", "Rank the toppings [2]", "Age"], (0, 1)),
        (["Q [Rank 1]", "Q [Rank 2]", "R [Rank 1]", "R [Rank 2]", "R [Rank 3]"], (2, 3, 4)),
        (["x1", "x2", "x3"], ()),
    ],
)
def test_columns_named_by_rank(names, columns):
    cells = [["a", "b", "c", "d", "e"], ["b", "c", "a", "e", "d"], ["c", "a", "b", "d", "e"]]
    frame = pd.DataFrame([row[: len(names)] for row in cells], columns=names)
    found = found_in(frame)
    if len(columns) < 2:
        assert found is None or found.shape != RANKS
        return
    assert found.shape == RANKS and found.columns == tuple(names[k] for k in columns)


def test_numbers_in_brackets_are_ranks_only_with_labels_that_come_once_a_row():
    names = ["Q [1]", "Q [2]", "Q [3]"]
    repeated = pd.DataFrame([["a", "b", "a"], ["b", "a", "c"]], columns=names)
    apart = pd.DataFrame([["a", "b", "c"], ["d", "e", "f"]], columns=names)
    assert found_in(repeated) is None and found_in(apart) is None
    shared = pd.DataFrame([["a", "b", "c"], ["d", "e", "a"]], columns=names)
    assert found_in(shared).columns == tuple(names)


def test_a_column_that_numbers_rows_or_varies_within_rankings_is_no_count():
    long = TABLES[LONG]
    assert found_in(long.assign(count=[3, 3, 1, 1])).count == "count"
    assert found_in(long.assign(count=[3, 2, 1, 1])).count == "count"  # a mistake in a row
    assert found_in(long.assign(votes=[3, 2, 1, 1])).count is None
    assert found_in(long.assign(votes=[3, 3, 1, 1])).count == "votes"
    assert found_in(long.assign(count=[3, 2, 1, 4])).count is None  # describes the options
    ranks = pd.DataFrame({"rank1": list("abca"), "rank2": list("bcab")})
    assert found_in(ranks.assign(number=[5, 2, 3, 4])).count == "number"
    assert found_in(ranks.assign(number=[1, 2, 3, 4])).count is None
    assert found_in(ranks.assign(n=[1, 2, 3, 4]), count="n").count == "n"


def test_options_of_a_long_table_are_identifiers_or_the_only_texts():
    rows = {"race": [1, 1, 2, 2], "rank": [1, 2, 2, 1], "horse_id": [7, 8, 7, 8]}
    frame = pd.DataFrame(rows | {"colour": ["red", "blue", "red", "green"]})
    assert found_in(frame) == RankingColumns(LONG, ("horse_id", "rank"), None, "race", None)
    frame = frame.drop(columns="horse_id")
    assert found_in(frame).columns == ("colour", "rank")
    assert found_in(frame.assign(owner=["x", "y", "x", "y"])) is None
    assert found_in(frame.assign(colour=list("wxyz"))) is None  # once each
    assert found_in(frame.assign(colour=["x", "x", "y", "z"])) is None  # twice in a race


def test_places_rank_all_groups_or_are_no_ranks():
    frame = pd.DataFrame(
        {
            "race": ["x"] * 3 + ["y"] * 3,
            "finish": [1, 2, 2, 3, 1, 2],
            "horse": list("abc") + list("bca"),
            "draw": [1, 2, 3, 3, 1, 2],
        }
    )
    assert found_in(frame) == RankingColumns(LONG, ("horse", "finish"), None, "race", None)
    assert found_in(frame.assign(finish=[1, 2, 2, 4, 1, 2])) is None  # not the places of the group
    assert found_in(frame.drop(columns="finish")) is None  # before the contest
    single = frame.assign(race=list("uvwxyz"), finish=1)
    assert found_in(single) is None


@pytest.mark.parametrize(
    ("name", "cells", "separator"),
    [
        ("x", ["a > b = c", "c > a > b"], ">"),
        ("x", ["a > b", "c"], ""),
        ("x", ["a, b, c", "c, b, a"], ","),
        ("x", ["a;b;c;", "c;b;a;"], ";"),  # a form ends each label with the separator
        ("x", ["a, b", "b, a"], ""),  # two labels of an unnamed column
        ("order", ["a, b", "b, a"], ","),
        ("order", ["a, b, c", "c, b"], ","),
        ("x", ["a, b, c", "c, b"], ""),
        ("order", ["a, b, a", "b, c, a"], ""),  # twice
        ("order", ["a, b, c"], ""),
        ("order", ["a b c", "c b a"], " "),
        ("order", ["a b c", "c b"], ""),  # words of a text
        ("order", ["a, b", "c, d"], ""),  # no option in two lists
        ("order", ["a, b", "c, d", "a, d"], ","),
        ("order", [1, 2], ""),
    ],
)
def test_separators_of_rankings_in_texts(name, cells, separator):
    assert module._find_text_separator(name, pd.Series(cells)) == separator


def test_rankings_in_which_all_options_tie_are_no_answers():
    names = ["oats", "rye", "maize", "wheat"]
    ranks = pd.DataFrame([[1, 1, 3, 4], [1, 1, 1, 1], [4, 2, 2, 1], [1, 2, 3, 3]], columns=names)
    texts = ["oats = rye > maize > wheat", " = ".join(names), "wheat > rye = maize > oats"]
    texts.append("oats > rye > maize = wheat")
    for frame in (ranks, pd.DataFrame({"ranking": texts})):
        data = th.read(frame)
        assert (data.n_choices, data.n_ties) == (6, 2)
        assert set(data.labels) == set(names)


def test_cells_that_name_the_ranked_options_get_a_column_each():
    frame = pd.DataFrame(
        dict(respondent=["x", "y"], s1Id=["a", "b"], s1rank=[1, 2], s2Id=["b", "c"], s2rank=[2, 1])
    )
    spread = spread_ranked_cells(frame)
    assert spread.columns.tolist() == ["respondent", "a", "b", "c"]
    assert spread.fillna(0).to_numpy().tolist() == [["x", 1, 2, 0], ["y", 0, 2, 1]]
    for unchanged in (
        frame.rename(columns={"s1rank": "s1mark", "s2rank": "s2mark"}),
        frame.drop(columns=["s2Id", "s2rank"]),
        frame.assign(s2Id=["a", "c"]),  # the same option twice
        frame.assign(s1Id=[1, 2], s2Id=[2, 3]),
        frame.assign(s1Name=["A", "B"], s2Name=["B", "C"]),  # which of them?
    ):
        assert spread_ranked_cells(unchanged) is unchanged


# Ranks in cells -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "strict", "tied"),
    [
        ([1, 2, 3], True, True),
        ([3, 1, 2], True, True),
        ([0, 2, 1], True, True),
        ([0, 1, 0], False, False),  # one option alone
        ([0, 0, 0], False, False),
        ([1, 1, 1], False, False),
        ([1, 2, 2], False, True),
        ([2, 1, 2], False, True),
        ([1, 1, 3], False, True),
        ([1, 1, 2], False, False),
        ([0, 1, 1], False, False),
        ([2, 2, 3], False, False),
        ([1, 3, 0], False, False),
    ],
)
def test_rows_that_are_rankings(ranks, strict, tied):
    assert is_ranking(np.array([ranks])).tolist() == [strict]
    assert is_ranking(np.array([ranks]), True).tolist() == [tied]


@pytest.mark.parametrize(
    ("ranks", "are_mean"),
    [
        ([1, 2.5, 2.5], True),
        ([2, 2, 2], True),
        ([1, 2, 3], True),
        ([1, 2, 2], False),
        ([1.5, 1.5, 3], True),
        ([0, 3, 3], False),
        ([1.2, 1.8, 3], False),
    ],
)
def test_ranks_that_are_means_of_tied_ranks(ranks, are_mean):
    assert module._are_mean_ranks(np.array([[3.0, 2.0, 1.0], ranks])) == are_mean


def test_few_rankings_among_ratings_may_be_chance():
    """Of n ratings of three options by numbers from 1 to 3, k differ with the probability below."""
    for n_rows, n_rankings, may_be in (
        (4, 4, True),
        (5, 5, False),
        (8, 5, True),
        (9, 6, True),
        (9, 7, False),
    ):
        chance = (
            np.prod([(n_rows - k) / (k + 1) for k in range(n_rankings)]) * (6 / 27) ** n_rankings
        )
        assert (chance > 1e-3) == may_be
        is_row = np.arange(n_rows) < n_rankings
        assert module._may_be_chance(is_row) == may_be


def test_the_longest_run_of_columns_with_ranks():
    rng = np.random.default_rng(0)
    ranks = np.array([rng.permutation(4) + 1 for _ in range(12)])
    frame = pd.DataFrame(ranks, columns=list("abcd")).assign(age=40, e=np.nan)
    assert find_rank_block(frame, [*"abcd", "age"]) == (list("abcd"), [])
    assert find_rank_block(frame, ["age", *"abcd", "e"]) == (list("abcd"), [])
    assert find_rank_block(frame, [*"abcd", "e"], True) == ([*"abcde"], [])
    assert find_rank_block(frame, list("ab")) == ([], [])
    assert find_rank_block(frame[:0], list("abcd")) == ([], [])
    assert find_rank_block(frame - 2, list("abcd")) == ([], [])  # below 0
    assert find_rank_block(frame.assign(d=9), list("abcd")) == ([], [])
    # most rows rank, of some ratings
    mixed = frame.copy()
    mixed.loc[:4, list("abcd")] = [1, 1, 2, 4]
    assert find_rank_block(mixed, list("abcd")) == (list("abcd"), [])
    mixed.loc[:5, list("abcd")] = [1, 1, 2, 4]
    assert find_rank_block(mixed, list("abcd")) == ([], [])
    few = pd.DataFrame([[1, 2, 3, 2], [2, 1, 3, 3], [3, 1, 2, 1]], columns=list("abcd"))
    assert find_rank_block(few, list("abcd")) == (list("abc"), ["d"])
    words = pd.DataFrame([["1st", "2nd", "3rd"], ["3rd", "1st", "2nd"]], columns=list("abc"))
    assert find_rank_block(words, list("abc"))[0] == list("abc")
    assert find_rank_block(words.assign(b="x"), list("abc")) == ([], [])


@pytest.mark.parametrize(
    ("cell", "rank"),
    [
        ("1st", 1),
        ("2nd choice", 2),
        ("third", 3),
        ("secondbest", 2),
        ("Erste Wahl", 1),
        ("rank 12", 12),
        ("7", 7),
        ("T2", 2),
        ("3=", 3),
        ("DNF", 10**9),
        ("rank 1234", "rank 1234"),
        ("x1", "x1"),
        ("", ""),
        ("rank", "rank"),
        (4, 4),
    ],
)
def test_ranks_in_words(cell, rank):
    assert module._parse_rank(cell) == rank


def test_zeros_after_the_last_choice_are_empty():
    def read(*rows):
        frame = pd.DataFrame(rows, columns=["rank1", "rank2", "rank3"])
        return module._read_ranked_labels(frame, tuple(frame.columns)).tolist()

    assert read(["a", "b", "c"], ["b", "0", "0"]) == [["a", "b", "c"], ["b", "", ""]]
    assert read(["a", "0", "c"], ["b", "0", "0"]) == [["a", "0", "c"], ["b", "0", "0"]]  # an option
    assert read(["0", "0", "0"]) == [["0", "0", "0"]]
    assert read(["a", "b", ""]) == [["a", "b", ""]]


# Rankings and choices -----------------------------------------------------------------------------


def read(frame, unranked=ABSENT, labels=None, weights=False):
    return read_ranking_frame(frame, found_in(frame, unranked), labels, weights, unranked)


def groups_of(rankings):
    """Each ranking as lists of options with equal ranks."""
    ends = np.cumsum(rankings.sizes)[:-1]
    return [
        [sorted(rankings.labels[k] for k in order[ranks == rank]) for rank in np.unique(ranks)]
        for order, ranks in zip(
            np.split(rankings.options, ends), np.split(rankings.ranks, ends), strict=True
        )
    ]


def test_rankings_of_every_layout():
    expected = [[["b"], ["a", "c"]], [["c"], ["b"], ["a"]]]
    options = pd.DataFrame([[2, 1, 2], [3, 2, 1]], columns=list("abc"))
    long = pd.DataFrame(
        [
            (who, item, rank)
            for who, row in enumerate(options.to_numpy())
            for item, rank in zip("abc", row, strict=True)
        ],
        columns=["respondent", "item", "rank"],
    )
    lists = read_ranking_list([["b", ["a", "c"]], "c > b > a"], list("abc"))
    for found in (
        lists,
        read(long.sample(frac=1.0, random_state=1)),
        read(pd.DataFrame({"order": ["b > a = c", "c > b > a"]}), labels=list("abc")),
    ):
        assert groups_of(found) == expected and sorted(found.labels) == list("abc")
    assert lists.respondents.names == ("ranking 1", "ranking 2") and lists.count.tolist() == [
        1.0,
        1.0,
    ]


def test_counts_and_respondents_stay_with_their_rankings():
    frame = pd.DataFrame({"rank1": list("abc"), "rank2": list("bca"), "count": [2, 0, 3]})
    found = read(frame)
    assert found.labels == ("a", "b", "c") and found.count.tolist() == [2.0, 3.0]
    assert groups_of(found) == [[["a"], ["b"]], [["c"], ["a"]]] and found.respondents.names == ()
    assert found.respondents.number.tolist() == [-1, -1]
    found = read(frame.drop(columns="count").assign(respondent=list("xyx")))
    assert found.respondents.names == ("x", "y") and found.respondents.number.tolist() == [0, 1, 0]
    found = read(frame.drop(columns="count"))
    assert found.respondents.names == ("ranking 1", "ranking 2", "ranking 3")
    # a ranking of each of two tasks of each of two respondents
    rows = [
        (who, task, item, 1 + (k + task) % 2)
        for who in "yx"
        for task in (1, 2)
        for k, item in enumerate("ab")
    ]
    long = pd.DataFrame(rows, columns=["respondent", "task", "item", "rank"])
    found = read(long)
    names = [found.respondents.names[k] for k in found.respondents.number]
    assert sorted(names) == ["x", "x", "y", "y"]
    for name, groups in zip(names, groups_of(found), strict=True):
        assert groups in ([["a"], ["b"]], [["b"], ["a"]]), name


@pytest.mark.parametrize(
    ("frame", "facts"),
    [
        (
            pd.DataFrame({"respondent": [1, 1], "item": ["a", "b"], "rank": [1, 1.5]}),
            ("'b' has rank 1.5", "respondent '1'"),
        ),
        (
            pd.DataFrame({"respondent": [1, 1], "item": ["a", "b"], "rank": [1, -2]}),
            ("'b' has rank -2",),
        ),
    ],
)
def test_rankings_that_are_refused(frame, facts):
    with refused(DataError, *facts):
        read(frame)


def test_labels_are_those_that_are_given():
    with refused(DataError, "'c' in ranking 2", "'a' and 'b'"):
        read_ranking_list([["a", "b"], ["c", "a"]], ["a", "b"])
    for wrong, facts in (("tea", ("ranking 1", "'tea'")), (7, ("ranking 1", "7"))):
        with refused(DataError, *facts):
            read_ranking_list([wrong], None)
    with refused(DataError, "empty"):
        read_ranking_list([], None)


ORDERS = ["a > b > c > d", "a = b > c", ["c"], "a = b = c = d", "d > a = c", "b = c"]


def choices_by_loops(rankings, unranked):
    """Each choice: its ranking, the options offered and those chosen."""
    found = []
    for k, groups in enumerate(groups_of(rankings)):
        named = [label for group in groups for label in group]
        missing = [label for label in rankings.labels if label not in named]
        left = [*named, *(missing if unranked == WORSE else [])]
        for group in groups:
            if len(left) > len(group):
                found.append((k, frozenset(left), frozenset(group)))
            left = [label for label in left if label not in group]
    return found


@pytest.mark.parametrize("unranked", [ABSENT, WORSE])
def test_choices_are_the_best_of_all_and_then_of_the_rest(unranked):
    rankings = read_ranking_list(ORDERS, list("abcd"))
    rankings = rankings._replace(count=np.array([1.0, 2.0, 3.0, 4.0, 0.0, 5.0]))
    raw = convert_rankings(rankings, unranked)
    found = []
    for occasion in range(raw.occasion.max() + 1):
        rows = np.flatnonzero(raw.occasion == occasion)
        names = [raw.labels[k] for k in raw.alternative[rows]]
        chosen = [name for name, mark in zip(names, raw.chosen[rows], strict=True) if mark]
        (k,) = set(raw.respondents.number[rows].tolist())
        assert (raw.count[rows] == rankings.count[k]).all()
        found.append((k, frozenset(names), frozenset(chosen)))
    assert found == [each for each in choices_by_loops(rankings, unranked) if each[0] != 4]
    assert mark_empty(rankings, unranked).sum() == (3 if unranked == ABSENT else 1)


def test_rankings_without_an_order_have_no_choices():
    for orders in (["a = b", "b = a"], [["a"], ["b"]]):
        rankings = read_ranking_list(orders, list("ab"))
        with refused(DataError, "2 rankings", "at least two"):
            convert_rankings(rankings, ABSENT)


@pytest.mark.parametrize(
    ("unranked", "n_rows"), [(ABSENT, 6 + 3 + 1), (WORSE, 6 + 3 + 1 + 2 * 1 + 1 * 2)]
)
def test_choices_that_do_not_fit_into_memory_are_refused(unranked, n_rows, monkeypatch):
    """A ranking of m of n options takes m (m + 1) / 2 rows, and m (n - m) of the others."""
    rankings = read_ranking_list(["a > b > c", "b > a", ["c"]], list("abc"))
    monkeypatch.setattr(module, "MAX_SHOWN", n_rows)
    convert_rankings(rankings, unranked)
    monkeypatch.setattr(module, "MAX_SHOWN", n_rows - 1)
    with refused(DataError, "3 options", f"{n_rows} rows"):
        convert_rankings(rankings, unranked)


def test_sentences_name_columns_incomplete_rankings_and_ties():
    frame = pd.DataFrame({"order": ["a > b = c", "c > a", "b > c > a"]})
    rankings, columns = read(frame), found_in(frame)
    text = describe_rankings(rankings, columns, ABSENT)
    for fact in (
        "as text in 'order'",
        "3 rankings of 3 options",
        "1 incomplete ranking",
        "were not offered",
        "1 ranking with ties",
    ):
        assert fact in text
    assert "rank below all others" in describe_rankings(rankings, columns, WORSE)
    for layout, words in (
        (RANKS, "one column per rank ('x' to 'y')"),
        (OPTIONS, "one column of ranks per option ('x' to 'y')"),
        (LONG, "option in 'x', rank in 'y'"),
    ):
        assert words in describe_layout(RankingColumns(layout, ("x", "y"), None, None, None))
    full = read_ranking_list(["b > a"], list("ab"))._replace(count=np.array([2.0]))
    text = describe_rankings(full, columns, ABSENT)
    assert "2 rankings of 2 options" in text and "incomplete" not in text and "ties" not in text


def test_the_rank_is_a_column_whose_name_ends_so_whatever_else_ranks_the_rows():
    """An option column is believed, though places of runners would be a ranking, too."""
    frame = pd.DataFrame(
        {
            "respondent": [1, 1, 1, 2, 2, 2],
            "option": list("abcabc"),
            "final_rank": [1, 2, 3, 3, 1, 2],
            "runner": list("uvwuvw"),
            "place": [2, 1, 3, 1, 2, 3],
        }
    )
    found = found_in(frame)
    assert (found.shape, found.columns, found.respondent) == (
        LONG,
        ("option", "final_rank"),
        "respondent",
    )


def test_the_first_cell_without_which_columns_are_ranks():
    frame = pd.DataFrame(
        {"a": [1, 2, 3, 2], "b": [2, 1, 99, 1], "c": [99, 99, 2, 99], "d": [3, 3, 1, 3]}
    )
    assert module.find_missing_rank(frame, list("abcd")) == ("b", 99)
    assert module.find_missing_rank(frame.replace(99, 4), list("abcd")) is None


def test_a_refusal_names_twelve_columns():
    frame = pd.DataFrame({f"column{k}": ["x", "y"] for k in range(13)})
    with pytest.raises(DataError, match="'column11' and 1 more"):
        require_ranking_columns(frame, None, NOTHING, ABSENT)
