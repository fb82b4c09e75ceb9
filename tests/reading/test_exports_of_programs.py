"""Files as programs export them, of the page of shapes: each is read as it says."""

import re
import warnings

import pytest
from helpers.places import PROJECT
from helpers.sentences import said

from thali._reading.layout_recognition import read_data
from thali.errors import DataWarning


def taken(tmp_path, name, text, design=None, *kinds):
    (tmp_path / name).write_text(text, encoding="utf-8")
    options = {}
    if design is not None:
        (tmp_path / "sets.csv").write_text(design)
        options["design"] = tmp_path / "sets.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return read_data(tmp_path / name, *kinds, **options)


def page():
    """Name, text, program and kind of each row of the table of other programs."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| from | file | such as | read as |") :]
    for line in table[: table.index("\n\n")].splitlines()[2:]:
        program, file, rows, kind = (cell.strip() for cell in line.strip("|").split("|"))
        yield pytest.param(
            file.strip("`"), "\n".join(re.findall(r"`(.*?)`", rows)), program, kind, id=program
        )


@pytest.mark.parametrize(("name", "text", "program", "kind"), page())
def test_an_export_of_the_page_is_read(name, text, program, kind, tmp_path):
    design = "option1,option2,option3\ntea,milk,water\n" if "--design" in program else None
    data, sentence = taken(tmp_path, name, text, design)
    assert type(data).__name__ == kind
    if design is not None:
        said(sentence, "sets.csv")
