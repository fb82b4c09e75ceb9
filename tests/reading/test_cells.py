"""Texts that are split at once hold the same cells as those that are read line by line."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali._reading.text_cells as cells
from thali._input_files import Source
from thali._reading.table_files import load_table

ODD = [
    "",
    " ",
    "NA",
    "-",
    "01",
    "1e3",
    "True",
    "1,5",
    " x ",
    "\u00a0y",
    "a b",
    "'",
    "nan",
    "inf",
    "60%",
    "é",
]
ODD += ["1_000", "x\x0cy"]
ODD += ["\x85", "\u2028", "1" * 30, "-0", "+3", ".5", "7.", "0x1F", "٣"]


def quoted(text):
    """The text with its first name between quotes, so that it is read line by line."""
    return re.sub(r"^(\ufeff|sep=;\n)?(\w+)", r'\1"\2"', text)


def same_both_ways(text):
    quick, slow = (load_table(Source("x.csv", each.encode())) for each in (text, quoted(text)))
    pd.testing.assert_frame_equal(quick.frame, slow.frame, check_index_type=False)
    assert (quick.named, quick.note) == (slow.named, slow.note)


@pytest.mark.first(2)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_cells_of_all_kinds(separator, ending):
    rng = np.random.default_rng(4)
    split = 0
    for _ in range(60):
        texts = [text for text in ODD if separator not in text]
        rows = [
            ["k", "a", "b"],
            *([str(k), *rng.choice(texts, 2)] for k in range(rng.integers(1, 6))),
        ]
        rows = [row[:1] + [str(cell) for cell in row[1:]] for row in rows]
        text = ending.join(separator.join(row) for row in rows) + ending * int(rng.integers(2))
        split += cells.split_even_text(text, separator) is not None
        same_both_ways(text)
    assert split > 50


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n"x,y",1\nz,2\n',
        'a,b\n"x",1\n"y",2\n',
        "a,b\nx,1\n\ny,2\n",
        "a,b\nx,1\n,\ny,2\n",
        "a,b\nx,1\n , \ny,2\n",
        "a,b,\nx,1,\ny,2,\n",
        "a,,b\nx,,1\ny,,2\n",
        "a,b\rx,1\ry,2\r",
        "a,b\r\nx,1\ry,2\n",
        "sep=;\na;b\nx;1\ny;2\n",
        "\ufeffa,b\nx,1\n",
        "1,2\n3,4\n",
        "a,b\nx,1\n\n\n",
        "a b\nx 1\ny 2\n",
    ],
)
def test_shapes_of_all_kinds(text):
    same_both_ways(text)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nx,1\ny\n",
        "a,b\nx,1\ny,2,3\n",
        "a,b\n",
        "a,b\nx\n1,2,3\n",
        "a,a\n1,2\n",
        "a,b,\nx,1,5\n",
        "a,b\nx,1,2\n",
    ],
)
def test_both_readers_report_the_same_error(text):
    faults = []
    for each in (text, quoted(text)):
        try:
            faults.append(load_table(Source("x.csv", each.encode())).note)
        except ValueError as error:
            faults.append(str(error))
    assert faults[0] == faults[1] != ""


def test_a_cell_that_is_too_long_is_refused_both_ways():
    content = b"a,b\n" + b"z,1\n" * 60 + b"x," + b"y" * 200_000 + b"\n"
    with refused(ValueError, "Line 62", "131,072 characters"):
        load_table(Source("x.csv", content))
