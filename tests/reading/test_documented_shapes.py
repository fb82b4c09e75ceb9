"""The table of shapes in the documentation: each row is read, and by the constructor that it names
to the same data."""

import re
import warnings

import pandas as pd
import pytest
from helpers.places import PROJECT

import thali as th
from thali._data.column_roles import NO_ANSWERS, UNKNOWN_WORDS, simplify_name
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._model.command_line_options import EXPERIMENT, OBJECT_OPTIONS, TABLE_OPTIONS
from thali._reading.layout_recognition import read_data
from thali._reading.table_files import read_table
from thali.errors import DataWarning


def shapes():
    """Header, rows, options and constructor of every row of the table."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| a row is | header |") :]
    for line in table[: table.index("\n\n")].splitlines()[2:]:
        what, header, rows, options, constructor = (
            cell.strip() for cell in line.strip("|").split("|")
        )
        cells = header.strip("`"), re.findall(r"`(.*?)`", rows), constructor.strip("`")
        yield pytest.param(*cells, re.findall("--([a-z]+)", options), id=what)


def files():
    """Header, rows and options of every row of the table of files of programs."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| from | header |") :]
    for line in table[: table.index("\n\n")].splitlines()[2:]:
        program, header, rows, options, described = (
            cell.strip() for cell in line.strip("|").split("|")
        )
        assert "](http" in described or described == "the same"
        name = "study.cho" if ".cho" in program else "table.csv"
        said = dict(re.findall(r"--([a-z]+) (\S+)", options.strip("`")))
        yield pytest.param(name, header.strip("`"), re.findall(r"`(.*?)`", rows), said, id=program)


BESIDE = {  # what the files hold that options name
    "codes.csv": "attribute,code,label\nbrand,1,Sony\nbrand,2,Canon\nprice,1,99\nprice,2,149\n"
    "price,3,199\n",
    "design.csv": "version,task,alternative,brand,price\n"
    + "".join(
        f"{version},{task},{place},{brand},{99 + 50 * ((task + place + version) % 3)}\n"
        for version in (1, 2)
        for task in (1, 2)
        for place, brand in enumerate(("Sony", "Canon"), start=1)
    ),
}


@pytest.mark.parametrize(("name", "header", "rows", "said"), [*files()])
def test_every_file_of_a_program_is_read(name, header, rows, said, tmp_path):
    for file, text in BESIDE.items():
        (tmp_path / file).write_text(text)
    options = {
        word: tmp_path / value
        if value in BESIDE
        else value.split(",")
        if word == "attributes"
        else value
        for word, value in said.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data, _ = read_data(
            Source(name, "\n".join([header, *rows]).encode()), EXPERIMENTS, **options
        )
    assert type(data).__name__ == "ChoiceExperiment" and data.n_tasks >= 1
    if said.keys() & {"codes", "design"}:
        assert data.has_none and set(data.levels["brand"]) == {"Sony", "Canon"}
        assert set(data.levels["price"]) <= {"99", "149", "199"}


@pytest.mark.parametrize(("header", "rows", "constructor", "options"), [*shapes()])
def test_every_shape_is_read_as_its_constructor_reads_it(header, rows, constructor, options):
    assert {*options} <= {
        "model",
        *(option.typed or option.name for option in (*TABLE_OPTIONS, *OBJECT_OPTIONS, *EXPERIMENT)),
    }
    source = Source("table.csv", "\n".join([header, *rows]).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data, _ = read_data(source, *([EXPERIMENTS] if "model" in options else []))
        assert type(data).__name__ == re.match("[A-Za-z]+", constructor)[0]
        if "(" in constructor:
            return
        name, _, method = constructor.partition(".")
        make = getattr(getattr(th, name), method) if method else getattr(th, name)
        assert make(read_table(source)) == data


def words_for_no_answer():
    """The words of the table in the documentation that count as an empty cell."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| language | no answer |") :]
    rows = [line.strip("|").split("|") for line in table[: table.index("\n\n")].splitlines()[2:]]
    return [word.strip() for _, words in rows for word in words.split(",")]


def test_the_words_for_no_answer_are_those_of_the_source():
    words, apostrophes = words_for_no_answer(), str.maketrans("", "", "'’")
    assert {
        simplify_name(word).translate(apostrophes) for word in words if word not in NO_ANSWERS
    } == {word.translate(apostrophes) for word in UNKNOWN_WORDS}
    assert {*NO_ANSWERS} <= {*words}


@pytest.mark.parametrize("word", words_for_no_answer())
def test_a_word_for_no_answer_leaves_the_comparison_out_unless_it_is_coded(word):
    frame = pd.DataFrame(
        {"left": ["tea"] * 3, "right": ["milk"] * 3, "chosen": ["left", "right", word]}
    )
    data = th.PairedComparisons.from_trials(frame)
    assert (data.n_answers, data.n_ties) == (2, 0)
    if word not in NO_ANSWERS:
        data = th.PairedComparisons.from_trials(frame, coding={word: "tie"})
        assert (data.n_answers, data.n_ties) == (3, 1)
