"""What holds for tables of every layout: orders of rows and columns and names of options change
nothing but themselves, and a table that was written is read back."""

import re
from collections import Counter

import numpy as np
import pytest
from helpers import layout_tables as layouts
from helpers.sentences import without_warnings

import thali as th
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data

LAYOUTS = [
    layouts.trials,
    layouts.games,
    layouts.counted,
    layouts.a_column_a_pair,
    layouts.square,
    layouts.rankings,
    layouts.ranks_of_options,
    layouts.rankings_in_words,
    layouts.ranks_by_row,
    layouts.best_worst,
    layouts.best,
    layouts.marks,
    layouts.choices,
    layouts.triplets,
    layouts.similarities,
    layouts.square_of_similarities,
    layouts.ratings,
    layouts.piles,
    layouts.experiment,
    layouts.wide,
]
# the columns of a square are in the order of its rows
IN_ORDER = {layouts.square, layouts.square_of_similarities}
RENAMED = {"tea": "vino", "milk": "ale", "rum": "cola", "gin": "water"}
SEEDS = [1, pytest.param(0, marks=pytest.mark.long)]


def write(layout, seed):
    """Return header and lines of a table, with two blank answers if the seed is odd."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(9, 16))
    blank = set(rng.choice(rows, 2 if seed % 2 else 0, replace=False).tolist())
    header, *lines = layout(rng, rows, blank)
    return header, lines


def read(layout, header, lines):
    kinds = [EXPERIMENTS] if layout is layouts.experiment else []
    text = "\n".join([header, *lines])
    with without_warnings():
        return read_data(Source("table.csv", text.encode()), *kinds)


def answers(data):
    """Return the answers of data as a multiset, whatever the order of options and respondents."""
    if isinstance(data, th.PairedComparisons):
        found = Counter()
        counts = data.first, data.second, data.wins, data.losses, data.tied
        for i, j, *outcomes in zip(*(each.tolist() for each in counts), strict=True):
            a, b = data.labels[i], data.labels[j]
            keys = (a, b), (b, a), frozenset((a, b))
            found.update(dict(zip(keys, outcomes, strict=True)))
        return +found
    if isinstance(data, th.Similarities):
        pairs = zip(data.first, data.second, data.values, data.judgements, strict=True)
        return {
            frozenset((data.labels[i], data.labels[j])): (round(value, 9), n)
            for i, j, value, n in pairs
        }
    frame = data.to_frame()
    if isinstance(data, th.Triplets):
        objects = frame.groupby("set", observed=True)[["a", "b"]].agg(set)
        sets = [frozenset(row.a | row.b) for row in objects.itertuples()]
        keys = [(sets[row.set], frozenset((str(row.a), str(row.b)))) for row in frame.itertuples()]
        return +Counter(dict.fromkeys(keys, 0) | dict(zip(keys, frame["count"], strict=True)))
    if isinstance(data, th.Choices):
        marks = ["chosen"] if data.worst is None else ["best", "worst"]
        found = Counter()
        for _, rows in frame.groupby("choice_id"):
            offered = frozenset(rows["alternative"].astype(str))
            named = [
                frozenset(rows.loc[rows[mark] == 1, "alternative"].astype(str)) for mark in marks
            ]
            found[offered, *named] += rows["count"].iloc[0]
        return found
    tasks = [data.scheme.respondent, data.scheme.task]
    columns = [name for name in frame if name not in tasks]
    found = Counter()
    for _, rows in frame.groupby(tasks, observed=True):
        found[frozenset(Counter(map(tuple, rows[columns].astype(str).to_numpy())).items())] += 1
    return found


def by_respondent(data):
    """Return the answers of each known respondent."""
    if isinstance(data, th.Similarities | th.Triplets | th.ChoiceExperiment):
        return {}
    return {name: answers(each) for name, each in data.by_respondent().items()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_the_order_of_rows_and_of_columns_changes_nothing(layout, seed):
    header, lines = write(layout, seed)
    data, said = read(layout, header, lines)
    rng = np.random.default_rng(seed + 100)
    if layout not in IN_ORDER:
        lines = rng.permutation(lines).tolist()
        order = rng.permutation(header.count(",") + 1)
        header, *lines = (",".join(np.array(line.split(","))[order]) for line in (header, *lines))
    else:  # with its rows and columns in another order
        order = rng.permutation(len(lines))
        cells = np.array([line.split(",") for line in (header, *lines)])
        where = [0, *(1 + order)]
        header, *lines = (",".join(row) for row in cells[np.ix_(where, where)])
    again, said_again = read(layout, header, lines)
    assert answers(again) == answers(data), (said, said_again)
    assert sorted(again.labels) == sorted(data.labels) if hasattr(data, "labels") else True
    if len(getattr(data, "respondents", ())) and "p1" in data.respondents:
        assert by_respondent(again) == by_respondent(data)


def rename(answers_of_data):
    """Return answers with the new names of their options."""

    def new(key):
        if isinstance(key, str):
            return RENAMED[key]
        return type(key)(map(new, key))

    return {new(key): value for key, value in answers_of_data.items()}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "layout",
    [each for each in LAYOUTS if each not in (layouts.experiment, layouts.wide)],
    ids=lambda layout: layout.__name__,
)
def test_other_names_of_options_rename_the_answers_and_nothing_else(layout, seed):
    header, lines = write(layout, seed)
    data, said = read(layout, header, lines)
    words = re.compile("|".join(rf"\b{name}\b" for name in RENAMED))
    new = [words.sub(lambda found: RENAMED[found[0]], line) for line in (header, *lines)]
    again, said_again = read(layout, new[0], new[1:])
    assert answers(again) == rename(answers(data))
    assert words.sub(lambda found: RENAMED[found[0]], said) == said_again


READERS = {
    th.PairedComparisons: lambda data: th.PairedComparisons.from_frame(data.to_frame()),
    th.Similarities: lambda data: th.Similarities.from_frame(data.to_frame(long=True)),
    th.ChoiceExperiment: lambda data: th.ChoiceExperiment.from_frame(data.to_frame()),
    th.Choices: lambda data: (
        th.Choices(data.to_frame(), labels=data.labels)
        if data.worst is None
        else th.Choices.from_best_worst(data.to_frame(), labels=data.labels)
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(  # the table of triplets has a row per pair, for other programs
    "layout",
    [each for each in LAYOUTS if each is not layouts.triplets],
    ids=lambda layout: layout.__name__,
)
def test_a_table_that_was_written_is_read_back(layout, seed):
    data, _ = read(layout, *write(layout, seed))
    with without_warnings():
        again = READERS[type(data)](data)
    assert answers(again) == answers(data)
    if hasattr(data, "labels"):
        assert again.labels == data.labels
