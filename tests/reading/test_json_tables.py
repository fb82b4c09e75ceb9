"""Tables as JSON: an object a line, or an array of objects."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.sentences import refused, said

import thali as th
import thali._data.kinds as kinds
from thali._reading.layout_recognition import read_data
from thali._reading.table_files import Source, load_table, read_table
from thali.errors import DataError

BATTLES = [
    dict(battle=0, model_a="lumen", model_b="pico", winner="tie", language="fr", tokens=12.5),
    dict(
        battle=1, model_a="sable", model_b="lumen, 7b", winner="model_a", language=None, tokens=None
    ),
    dict(battle=2, model_a="pico", model_b="sable", winner="model_b", language="de", tokens=3.0),
]


def in_lines(records):
    return "\n".join(map(json.dumps, records)) + "\n"


FORMS = {
    "an object a line": ("log.jsonl", in_lines(BATTLES)),
    "without a line end": ("log.ndjson", in_lines(BATTLES).rstrip()),
    "Windows": ("log.jsonl", in_lines(BATTLES).replace("\n", "\r\n")),
    "blank lines": ("log.jsonl", "\n" + in_lines(BATTLES).replace("\n", "\n\n  \n")),
    "an array": ("log.json", json.dumps(BATTLES)),
    "an array on many lines": ("log.json", json.dumps(BATTLES, indent=2)),
    "lines, called an array": ("log.json", in_lines(BATTLES)),
    "an array, called lines": ("log.jsonl", json.dumps(BATTLES)),
    "byte order mark": ("log.jsonl", "\ufeff" + in_lines(BATTLES)),
    "UTF-16": ("log.jsonl", in_lines(BATTLES).encode("utf-16")),
    "another ending": ("log.txt", in_lines(BATTLES)),
    "byte order mark and another ending": ("log.csv", "\ufeff" + in_lines(BATTLES)),
    "an array with another ending": ("standard input", json.dumps(BATTLES, indent=2)),
}


def source(text, name="log.jsonl"):
    return Source(name, text if isinstance(text, bytes) else text.encode())


@pytest.mark.unit
@pytest.mark.parametrize(("name", "text"), FORMS.values(), ids=FORMS.keys())
def test_the_same_table_as_from_csv(name, text, tmp_path):
    pd.DataFrame(BATTLES).to_csv(tmp_path / "log.csv", index=False)
    pd.testing.assert_frame_equal(read_table(source(text, name)), read_table(tmp_path / "log.csv"))


@pytest.mark.unit
def test_what_is_quoted_is_text_and_what_is_not_is_a_number():
    records = [
        dict(id="0012", price="1.10", n=3, share=0.1, gap=1, sure=True, mixed="x", NA="NA"),
        dict(id="13", price="2", n=-4, share=1e-7, gap="NA", sure=False, mixed=7, NA="b"),
        dict(id="14", price="", n=10**16 + 1, share=2, late="y", mixed=1.5, sure=None),
    ]
    frame = read_table(source(in_lines(records)))
    assert frame["id"].tolist() == ["0012", "13", "14"]
    assert frame["price"].tolist()[:2] == ["1.10", "2"] and pd.isna(frame["price"][2])
    assert frame["n"].dtype == np.int64 and frame["n"].tolist() == [3, -4, 10**16 + 1]
    assert frame["share"].tolist() == [0.1, 1e-7, 2.0]
    assert frame["gap"].dtype == np.float64 and frame["gap"].isna().tolist() == [False, True, True]
    assert frame["sure"].tolist()[:2] == ["true", "false"] and pd.isna(frame["sure"][2])
    assert frame["mixed"].tolist() == ["x", "7", "1.5"]
    assert frame["NA"].tolist()[:2] == ["NA", "b"] and pd.isna(frame["NA"][2])
    assert frame["late"].isna().tolist() == [True, True, False] and frame.columns[-1] == "late"


@pytest.mark.unit
def test_lists_and_objects_are_left_out_and_named():
    records = [
        each | {"turns": [{"role": "user"}], "meta": {"a": 1} if k else None}
        for k, each in enumerate(BATTLES)
    ]
    table = load_table(source(in_lines(records)))
    assert table.names == list(BATTLES[0])
    said(table.note, "'turns'", "'meta'")
    assert "'turns' and 'meta'" in read_data(source(in_lines(records)), kinds.PAIRS)[1]


OBJECT = '{"winner": "tea", "loser": "milk"}'
DAMAGED = {
    "cut line": (f"{OBJECT}\n\n{OBJECT[:-3]}\n{OBJECT}\n", ("Line 3",)),
    "two on a line": (f"{OBJECT}\n{OBJECT}{OBJECT}\n", ("Line 2", "character 35")),
    "a number": (f"{OBJECT}\n7\n", ("Line 2",)),
    "one object of all": ('{\n"rows": []\n}\n', ("Line 1",)),
    "cut array": (f"[{OBJECT},\n{OBJECT}", ("complete JSON",)),
    "array of arrays": ('[["tea", "milk"]]', ("JSON object",)),
    "columns, not rows": ('{"winner": {"0": "tea"}, "loser": {"0": "milk"}}', ("1 object",)),
    "nothing": ("[]", ("0 objects",)),
    "a csv": ("winner,loser\ntea,milk\n", ("Line 1",)),
    "depth": ("[" * 100_000, ("complete JSON",)),
    "twice": ('{"a": 1, " a": 2}', ("both called 'a'",)),
}


@pytest.mark.unit
@pytest.mark.parametrize(("text", "facts"), DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_json_files_are_refused(text, facts):
    # whose words are in part those of `json`
    with pytest.raises(DataError, match="^log.jsonl: ") as error:
        read_table(source(text))
    assert all(fact in str(error.value) for fact in facts)


@pytest.mark.unit
def test_keys_that_differ_from_row_to_row_do_not_fill_the_memory(monkeypatch):
    limits.lower(monkeypatch, cells_of_a_text=10)
    assert read_table(source(in_lines([{"a": 1, "b": 2}] * 30 + [{"a": 1}] * 30))).shape == (60, 2)
    with refused(DataError, "almost all of them empty"):
        read_table(source("".join(f'{{"{k}":1}}\n' for k in range(100))))


@pytest.mark.unit
def test_tables_of_text_whose_names_look_a_little_like_json_stay_text():
    assert read_table(source("[a],{b}\n1,2\n", "t.csv")).columns.tolist() == ["[a]", "{b}"]
    assert read_table(source('"{""a"": 1}",b\n1,2\n', "t.csv")).columns.tolist() == [
        '{"a": 1}',
        "b",
    ]


@pytest.mark.unit
def test_rows_of_an_error_are_lines_of_the_file():
    text = "\n" + in_lines(
        [{"winner": "tea", "loser": "milk", "n": 3}, {"winner": "tea", "loser": "milk", "n": -1}]
    )
    with refused(DataError, "row 3"):
        read_data(source(text), kinds.PAIRS)


@pytest.mark.fit
def test_a_leaderboard_of_a_log_is_that_of_the_same_csv(tmp_path, few_draws):
    frame = pd.DataFrame(BATTLES * 4)
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_json(tmp_path / "log.jsonl", orient="records", lines=True)
    boards = [
        th.leaderboard(tmp_path / name, by="language", progressbar=False)
        for name in ("log.jsonl", "log.csv")
    ]
    pd.testing.assert_frame_equal(*(board.table for board in boards))
    assert list(boards[0].boards) == ["de", "fr"]


@pytest.mark.unit
@pytest.mark.parametrize("other", [{}, {"version": 2}])
def test_rows_below_a_key_are_not_read(other):
    with refused(DataError, "'votes'", "an array of objects"):
        read_table(source(json.dumps({"votes": BATTLES, **other})))
