"""The table of shapes in the documentation: each row is read, and by the constructor that it names to the same data."""

import re
import warnings

import pytest
from places import PROJECT

import thali as th
from thali._source import Source
from thali.data.kinds import EXPERIMENTS
from thali.errors import DataWarning
from thali.model.options import EXPERIMENT, OF_TABLES
from thali.reading.recognise import read
from thali.reading.table import read_table


def shapes():
    """Header, rows, options and constructor of every row of the table."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| a row is | header |") :]
    for line in table[: table.index("\n\n")].splitlines()[2:]:
        what, header, rows, options, constructor = (cell.strip() for cell in line.strip("|").split("|"))
        cells = header.strip("`"), re.findall(r"`(.*?)`", rows), constructor.strip("`")
        yield pytest.param(*cells, re.findall("--([a-z]+)", options), id=what)


@pytest.mark.parametrize(("header", "rows", "constructor", "options"), [*shapes()])
def test_every_shape_is_read_as_its_constructor_reads_it(header, rows, constructor, options):
    assert {*options} <= {"model", *(option.typed or option.name for option in (*OF_TABLES, *EXPERIMENT))}
    source = Source("table.csv", "\n".join([header, *rows]).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data, _ = read(source, *([EXPERIMENTS] if "model" in options else []))
        assert type(data).__name__ == re.match("[A-Za-z]+", constructor)[0]
        if "(" in constructor:
            return
        name, _, method = constructor.partition(".")
        make = getattr(getattr(th, name), method) if method else getattr(th, name)
        assert make(read_table(source)) == data
