"""Best-worst choices as data: tables, rows, rankings of three, and what is refused."""

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from helpers.best_worst_data import best_worst, random_answers
from helpers.sentences import refused, said

import thali as th
from thali.errors import DataError

pytestmark = pytest.mark.unit

ROWS = [("abcd", "a", "d", 2), ("abcd", "a", "c", 1), ("abc", "c", "a", 4), ("bd", "d", "b", 3)]


def test_sets_with_their_best_and_worst():
    data = best_worst(ROWS, "abcd")
    said(data, "4 options", "3 sets", "10 answers (a best and a worst option each)")
    assert data.sets == [("b", "d"), ("a", "b", "c"), ("a", "b", "c", "d")]
    assert data.answers.tolist() == [2, 6, 12]
    assert data.counts.tolist() == [0, 3, 0, 0, 4, 3, 0, 0, 0]
    best, worst = (
        [data.labels[data.members[place]] for place in places]
        for places in (data.choice, data.worst)
    )
    found = set(zip(best, worst, data.times.tolist(), strict=True))
    assert found == {("d", "b", 3), ("c", "a", 4), ("a", "c", 1), ("a", "d", 2)}
    said(data.example(), "'c'", "'a'", "'b'", "4 times")
    assert data == best_worst(ROWS[::-1], "abcd") and data != best_worst(ROWS[:3], "abcd")


def test_answers_are_numbered_by_the_best_and_then_the_worst():
    data = random_answers(6, (2, 4, 6), 5, 3, most=4)
    answers = [
        each for start, end in pairwise(data.start) for each in permutations(range(start, end), 2)
    ]
    wanted = dict.fromkeys(answers, 0)
    for best, worst, times in zip(data.choice, data.worst, data.times, strict=True):
        wanted[best, worst] += times
    np.testing.assert_array_equal(data.questions().counts, list(wanted.values()))
    np.testing.assert_array_equal(data.questions().sizes, data.answers)


def test_a_rounded_probability_above_one_is_simulated():
    questions = best_worst(ROWS, "abcd").questions()
    p = np.zeros(len(questions.counts))
    p[questions.start[:-1]] = np.nextafter(1.0, 2.0)
    drawn = questions.simulate_counts(p, np.random.default_rng(1))
    np.testing.assert_array_equal(drawn[questions.start[:-1]], questions.totals)


def test_rankings_of_three():
    data = best_worst(ROWS[2:], "abcd")
    rows = [
        (1, "c", 1, 4),
        (1, "a", 0, 4),
        (1, "b", 0, 4),
        (2, "b", 1, 4),
        (2, "a", 0, 4),
        (3, "d", 1, 3),
        (3, "b", 0, 3),
    ]
    frame = pd.DataFrame(rows, columns=["choice_id", "alternative", "chosen", "count"])
    assert data.as_rankings() == th.Choices(frame, labels="abcd")
    with refused(DataError, "4 options"):
        best_worst(ROWS, "abcd").as_rankings()
    with refused(DataError, "best-worst choices"):
        data.as_rankings().as_rankings()


def test_columns_that_are_numbered_from_zero():
    names = ["item0", "item1", "item2", "item3", "best", "worst"]
    for best, worst in (("a", "d"), ("item0", "item3"), ("0", "3")):
        data = th.Choices.from_best_worst(pd.DataFrame([(*"abcd", best, worst)], columns=names))
        said(data.example(), "'a'", "'d'", "'b'", "'c'")


BAD = [
    ([("abcd", "a", "x")], None, ("'x'", "row 0", "column 'worst'", "'a'")),
    ([("abcd", "a", "")], None, ("row 0", "column 'worst'")),
    ([("abcd", "a", "a")], None, ("'a'", "row 0")),
    ([("abca", "b", "c")], None, ("'a'", "row 0")),
    ([("abcd", "a", "d")], "abc", ("'d'", "row 0", "`labels`")),
    ([("abcd", "a", "d", 0)], None, ("no choices",)),
    ([("abcd", "a", "d", -1)], None, ("-1",)),
]


@pytest.mark.parametrize(("rows", "labels", "facts"), BAD)
def test_bad_best_worst_tables_are_refused(rows, labels, facts):
    with refused(DataError, *facts):
        best_worst(rows, labels)


def test_numbers_that_are_no_items_of_some_set_are_positions_in_all():
    """Items have numbers, too, and 3 is an item of the first set."""
    rows = [("p", 7, 3, 9, 2, 3), ("q", 1, 5, 8, 3, 1)]
    frame = pd.DataFrame(rows, columns=["who", "item1", "item2", "item3", "best", "worst"])
    data = th.Choices.from_best_worst(frame, respondent="who")
    table = data.to_frame()
    best, worst = (
        table[table[name] == 1].set_index("respondent")["alternative"] for name in ("best", "worst")
    )
    assert [best["p"], worst["p"], best["q"], worst["q"]] == ["3", "9", "8", "1"]
