"""Rows that were used and rows that were left out, as the sentence counts them, are the rows of the
file."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.field_tables import TABLES, count_answers
from helpers.layout_tables import (
    a_column_a_pair,
    best,
    best_worst,
    choices,
    counted,
    experiment,
    games,
    rankings,
    similarities,
    trials,
    triplets,
    wide,
)
from helpers.sentences import without_warnings

import thali as th
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

LEFT_OUT = re.compile(r"([\d,]+) (rows?|rankings?|comparisons?|sets?)\b[^;]*? dropped")
KEPT = re.compile(r"([\d,]+) of ([\d,]+) rows kept")


def some(rng, number, size):
    return list(rng.choice(number, size, replace=False))


USED = {  # rows that the data have
    trials: lambda data: data.n_comparisons,
    games: lambda data: data.n_comparisons,
    counted: None,
    a_column_a_pair: lambda data: sum(
        each.n_comparisons > 0 for each in data.by_respondent().values()
    ),
    rankings: lambda data: data.to_frame()["respondent"].nunique(),
    best_worst: lambda data: data.n_answers,
    best: lambda data: data.n_answers,
    triplets: lambda data: data.n_answers,
    similarities: lambda data: int(data.judgements.sum()),
    choices: lambda data: 3 * data.n_choices,
    experiment: lambda data: data.n_alternatives,
    wide: lambda data: data.n_tasks,
}


def omitted(said, size=1):
    """Rows that were left out; rankings and sets have `size` rows."""
    dropped = 0
    for number, what in LEFT_OUT.findall(said):
        rows = size if what.startswith(("ranking", "set")) else 1
        dropped += rows * int(number.replace(",", ""))
    return dropped + sum(
        int(rows.replace(",", "")) - int(kept.replace(",", "")) for kept, rows in KEPT.findall(said)
    )


@pytest.mark.first(60)
@pytest.mark.parametrize("shape", USED, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("seed", range(12))
def test_used_and_left_out_are_all(shape, seed):
    rng = np.random.default_rng(seed)
    rows, n_blank = int(rng.integers(8, 40)), int(rng.integers(0, 5))
    blank = some(rng, rows, n_blank)
    text = list(shape(rng, rows, blank))
    header, lines = text[0], text[1:]
    sizes = len(lines) // rows
    conditions = {}
    if not seed % 2:  # a row without a cell is none
        header, lines = f"note,{header}", [f"s,{line}" for line in lines]
    if seed % 2:  # some are left out by a condition, too
        header, lines = (
            f"block,{header}",
            [f"{k // sizes % 3},{line}" for k, line in enumerate(lines)],
        )
        conditions = {"where": "block != 2"}
    kinds = [EXPERIMENTS] if shape is experiment else []
    data, said = read_data(
        Source("table.csv", "\n".join([header, *lines]).encode()), *kinds, **conditions
    )
    if shape is counted:
        totals = [
            sum(map(int, filter(None, line.split(",")[-2:])))
            for line in lines
            if "2" != line[0] or not seed % 2
        ]
        assert data.n_comparisons == sum(totals)
        used = sum(total > 0 for total in totals)
    else:
        used = USED[shape](data)
    assert used + omitted(said) == len(lines), said


COUNTED = [name for name, make in TABLES.items() if make().choices]


def count_rows(table, blank=(), waves=False, **options):
    with without_warnings():
        data = th.read(table.source(blank, waves), **(table.options[0] | options))
    left_out = omitted(data.read_as, table.size)
    assert left_out > 0
    return count_answers(data) / table.choices * table.size + left_out


@pytest.mark.parametrize("name", COUNTED)
def test_used_and_left_out_are_all_of_a_table_of_the_field(name):
    table = TABLES[name]()
    where = ["wave != 2", *filter(None, [table.options[0].get("where")])]
    assert count_rows(table, waves=True, where=where) == len(table.rows)


def test_rows_of_classes_are_used_as_a_whole():
    frame = pd.DataFrame({"x": range(12), "z": [k % 5 for k in range(12)], "kind": ["a", "b"] * 6})
    assert len(th.read(frame, target="kind").labels) == 12
    with pytest.raises(DataError, match="Line 4.*'kind'"):
        th.read(frame.assign(kind=frame["kind"].where(frame.index != 4)), target="kind")


@pytest.mark.parametrize("nobody_ranked", ["D", "gin"])
def test_an_option_that_nobody_ranked_is_worse_or_named_as_unused(nobody_ranked):
    ranks = {"race": [1, 2, 3, 4], "A": [1, 2, 1, 2], "B": [2, 1, 3, 1], "C": [None, 3, 2, None]}
    frame = pd.DataFrame(ranks | {nobody_ranked: [None] * 4})
    worse = th.read(frame, unranked="worse")
    assert worse.labels == ("A", "B", "C", nobody_ranked)
    assert (worse.to_frame()["alternative"] == nobody_ranked).any()
    absent = th.read(frame)
    assert (
        absent.labels == ("A", "B", "C")
        and f"columns not used: '{nobody_ranked}'" in absent.read_as
    )
