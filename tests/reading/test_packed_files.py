"""Compressed files, archives of one file, and Stata's files."""

import gzip
import io
import zipfile

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._input_files import Source
from thali.errors import DataError

CHOICES = "winner,loser\ntea,milk\nmilk,rum\ntea,rum\n"


def pack(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("votes.csv.gz", gzip.compress(CHOICES.encode())),
        ("votes.zip", pack({"study/votes.csv": CHOICES, "__MACOSX/._votes.csv": "x"})),
        ("export.zip", pack({"votes.jsonl": '{"winner":"tea","loser":"milk"}\n' * 3})),
    ],
    ids=["gz", "zip", "zip of JSON"],
)
def test_a_packed_table_is_read_as_the_table(name, content):
    assert th.read(Source(name, content)).n_comparisons == 3


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("two.zip", pack({"a.csv": CHOICES, "b.csv": CHOICES}), ["two.zip", "2 files"]),
        ("cut.csv.gz", gzip.compress(CHOICES.encode())[:-12], ["cut.csv.gz", "not a readable"]),
        ("cut.zip", pack({"a.csv": CHOICES})[:-9], ["cut.zip", "not a readable"]),
        ("bomb.csv.gz", gzip.compress(bytes(1 << 26)), ["bomb.csv.gz", "too much for a table"]),
        ("bomb.zip", pack({"a.csv": bytes(1 << 26)}), ["bomb.zip", "too much for a table"]),
    ],
    ids=["two files", "cut gz", "cut zip", "large gz", "large zip"],
)
def test_a_packed_file_that_cannot_be_read_is_refused(name, content, facts):
    with refused(DataError, *facts):
        th.read(Source(name, content))


def test_what_is_no_stata_file_is_refused():
    with pytest.raises(DataError, match=r"^votes\.dta: .*Stata"):  # the rest is pandas' sentence
        th.read(Source("votes.dta", b"no data"))


def test_labels_of_codes_are_read_from_a_stata_file(tmp_path):
    rows = [(1, "car", "yes", 9.5), (1, "bus", "no", 7), (2, "car", "no", 8), (2, "bus", "yes", 6)]
    frame = pd.DataFrame(rows, columns=["id", "mode", "choice", "cost"])
    frame.astype({"mode": "category", "choice": "category"}).to_stata(
        tmp_path / "modes.dta", write_index=False
    )
    data = th.read(tmp_path / "modes.dta")
    assert (data.n_respondents, data.n_tasks, data.attributes) == (2, 2, ("mode", "cost"))
