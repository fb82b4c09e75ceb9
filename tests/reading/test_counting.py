"""Large tables of comparisons: read in batches, they give what they give when read at once."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.sentences import refused, said, warned

import thali as th
import thali._reading.large_tables as large_tables
from thali._data.kinds import PAIRS
from thali._reading.layout_recognition import read_data
from thali.errors import DataError, DataWarning

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:Column 'judge' says who answered")
WORDS = ["model_a", "model_b", "tie", "tie (bothbad)"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Every file counts as large, and its batches are small."""
    limits.lower(monkeypatch, bytes_read_at_once=1, rows_of_a_batch=64, bytes_of_a_batch=2000)
    limits.lower(monkeypatch, rows_of_a_head=20, bytes_of_a_head=400)


def read_counts(path, where=None, **options):
    return large_tables.read_rows(path, (), False, where, options).build()


def battles(rows=500, seed=1):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, (2, rows))
    b = np.where(a == b, (b + 1) % 6, b)
    names = np.array([f"m{k}" for k in range(6)], dtype=object)
    columns = dict(
        id=np.arange(rows), model_a=names[a], model_b=names[b], judge=rng.integers(0, 99, rows)
    )
    return pd.DataFrame(columns | {"winner": rng.choice(np.array(WORDS, dtype=object), rows)})


def same(one, other):
    order = [one.labels.index(label) for label in other.labels]
    np.testing.assert_array_equal(one.counts[np.ix_(order, order)], other.counts)
    if other.ties is not None:
        np.testing.assert_array_equal(one.ties[np.ix_(order, order)], other.ties)


def written(frame, folder, kind):
    path = folder / f"table.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep=";" if kind == "txt" else ",")
    return path


@pytest.mark.first(16)
@pytest.mark.parametrize(
    "shape", ["battles", "missing", "category", "numbers", "counted", "list", "both ways", "games"]
)
@pytest.mark.parametrize("kind", ["parquet", "csv", "txt"])
def test_batches_give_the_same_counts(tmp_path, kind, shape):
    frame = battles()
    if shape == "missing":
        frame.loc[::7, "winner"] = None
    elif shape == "category":
        frame = frame.astype({"model_a": "category", "winner": "category"})
    elif shape == "numbers":
        frame["winner"] = np.where(frame["winner"] == "model_a", 1, 2)
    elif shape == "counted":
        frame["count"] = np.arange(len(frame)) % 3
    elif shape == "list":
        frame = frame.rename(columns={"model_a": "winner", "model_b": "loser", "winner": "how"})
    elif shape == "both ways":
        wins = dict(wins_a=np.arange(500) % 5, wins_b=np.arange(500) % 3, ties=np.arange(500) % 2)
        frame = (
            frame.rename(columns={"model_a": "a", "model_b": "b"})
            .drop(columns="winner")
            .assign(**wins)
        )
    elif shape == "games":
        result = frame["winner"].map(dict(zip(WORDS, "HAXX", strict=True)))
        frame = (
            frame.rename(columns={"model_a": "home", "model_b": "away"})
            .assign(result=result)
            .drop(columns="winner")
        )
    path = written(frame, tmp_path, kind)
    found, sentence = read_counts(path)
    same(found, read_data(path, PAIRS)[0])
    assert (
        found.answers is None and "identical rows" in sentence or shape in ("counted", "both ways")
    )
    if shape == "missing":
        said(sentence, "comparisons without", len(frame.iloc[::7]))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_faults_are_named_with_their_first_row(tmp_path, kind):
    frame = battles()
    frame.loc[[301, 302, 303], ["model_a", "model_b", "winner"]] = ["m0", "m1", "modle_a"]
    line = 302 + (kind == "csv")  # lines of a text file count the header
    with refused(DataError, f"'modle_a' in row {line}", "2 more", "'model_a'?"):
        read_counts(written(frame, tmp_path, kind))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_comparisons_of_an_option_with_itself_are_left_out_and_counted(tmp_path, kind):
    frame = battles()
    rows = [410, 411]
    frame.loc[rows, "model_b"] = frame.loc[rows, "model_a"]
    data, sentence = read_counts(written(frame, tmp_path, kind))
    same(data, read_counts(written(frame.drop(index=rows), tmp_path, kind))[0])
    said(sentence, "2 comparisons of an option with itself")


def test_rows_of_instructions_are_left_out_and_counted(tmp_path):
    frame = battles()
    rows = [410, 411]
    frame.loc[rows, ["model_a", "model_b", "winner"]] = [None, None, "ok"]
    data, sentence = read_counts(written(frame, tmp_path, "csv"))
    same(data, read_counts(written(frame.drop(index=rows), tmp_path, "csv"))[0])
    assert "2 comparisons without options dropped" in sentence


def test_counts_that_are_none_are_refused_though_their_multiples_are_some(tmp_path):
    frame = battles(40)
    frame["count"] = 0.5
    with refused(DataError, "0.5"):
        read_counts(written(pd.concat([frame, frame]), tmp_path, "csv"))


def test_other_shapes_and_small_files_are_read_as_ever(tmp_path, monkeypatch):
    square = pd.DataFrame([[0, 3, 4], [1, 0, 5], [2, 1, 0]], index=list("abc"), columns=list("abc"))
    square.to_csv(tmp_path / "square.csv")
    assert read_counts(tmp_path / "square.csv")[0].n_comparisons == 16
    path = written(battles(), tmp_path, "csv")
    limits.lower(monkeypatch, bytes_read_at_once=1 << 24)
    assert read_counts(path)[1] == read_data(path, PAIRS)[1]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_empty_dates_are_counted_in_all_batches(tmp_path, kind):
    frame = battles().assign(day="2024-05-31")
    frame.loc[[150, 151, 400], "day"] = None
    with refused(DataError, "'day'", "3 rows", "row 151"):
        read_counts(written(frame, tmp_path, kind), date="day")
    assert (
        read_counts(written(frame, tmp_path, kind), date="day", where="day is not missing")[
            0
        ].n_comparisons
        > 0
    )


def test_who_answered_is_read_if_it_is_named(tmp_path):
    path = written(battles(), tmp_path, "csv")
    with warned(DataWarning, "'judge'"):
        assert not read_counts(path)[0].respondents
    rows = large_tables.read_rows(path, ["judge"], False, None, {"respondent": "judge"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data, _ = rows.build()
    assert len(data.respondents) == 99 and data.answers.wins.sum() == data.wins.sum()


def test_named_columns_are_counted_in_batches(tmp_path):
    frame = battles().rename(columns={"model_a": "x", "model_b": "y", "winner": "z"})
    coding = dict(zip(WORDS, ("first", "second", "tie", "tie"), strict=True))
    found, _ = read_counts(
        written(frame, tmp_path, "csv"), first="x", second="y", chosen="z", coding=coding
    )
    same(found, read_counts(written(battles(), tmp_path, "parquet"))[0])


@pytest.mark.first(3)
@pytest.mark.parametrize(
    "where",
    [
        "judge < 50",
        "id >= 450 and judge != 7",
        "winner in (model_a, model_b)",
        "model_a != m0 and model_b != 'm0'",
        "block == 1",
        "block != 2",
        "block is missing",
        "block is not missing and score > 0.5",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "txt"])
def test_conditions_hold_in_every_batch(tmp_path, kind, where):
    frame = battles()
    # numbers, but for the middle
    blocks = [*["1", "1.0"] * 175, *["2", "main", None] * 20, *["2", "2.0"] * 45]
    frame["block"] = np.array(blocks, dtype=object)
    # batches without a number
    frame["score"] = np.where(frame["id"] % 70 < 65, np.nan, frame["id"] / 500)
    path = written(frame, tmp_path, kind)
    found, sentence = read_counts(path, where=where)
    whole, message = read_data(path, PAIRS, where=where)
    same(found, whole)
    left_out = message[message.rindex("; ") :]
    assert sentence.endswith(left_out)
    said(left_out.removeprefix("; "), "500 rows")
    assert whole.n_comparisons < 500


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_conditions_that_do_not_fit_are_refused_before_anything_is_counted(tmp_path, kind):
    path = written(battles().assign(winner="nobody"), tmp_path, kind)  # which read_rows refuses
    for where, facts in (
        ("juge < 3", ("no column 'juge'", "'judge'?")),
        ("winner < 3", ("column 'winner'", "'nobody'")),
        ("judge > 1000", ("none of the 500 rows",)),
    ):
        with refused(DataError, f"{path.name}: `where` ({where})", *facts):
            read_counts(path, where=where)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_practice_is_counted_in_the_whole_file(tmp_path, kind):
    frame = battles().drop(columns="judge")
    frame["block"] = np.where(frame["id"] % 100 < 10, "practice", "main")
    path = written(frame, tmp_path, kind)
    with warned(DataWarning, "50 rows", "'block'"):
        read_counts(path)
    with warned(DataWarning, "40 rows") as messages:
        read_counts(
            written(frame.assign(part=frame["block"].replace("main", "demo")), tmp_path, kind),
            where="id > 99",
        )
    assert len(messages) == 1, "a file that is all practice is what it is"


@pytest.mark.long
@pytest.mark.fit
def test_columns_of_text_stay_text_in_batches(tmp_path):
    """Those that stand for categories keep their order, missing ones their column, counts in text
    their size."""
    frame = battles().drop(columns="judge")
    frame = frame.assign(
        lang=np.where(np.arange(500) % 3, "de", None),
        length=np.where(np.arange(500) % 2, "2", "10"),
    )
    path = written(frame, tmp_path, "parquet")
    found, other = (
        th.leaderboard(each, by="lang", covariates=["length"], progressbar=False)
        for each in (path, frame)
    )
    pd.testing.assert_frame_equal(found.table, other.table)
    pd.testing.assert_frame_equal(found.boards["de"].table, other.boards["de"].table)
    counted = frame[["model_a", "model_b", "winner"]].iloc[:90].assign(n="2")
    same(
        read_counts(written(counted, tmp_path, "parquet"), count="n")[0],
        read_data(written(counted, tmp_path, "csv"), PAIRS, count="n")[0],
    )
