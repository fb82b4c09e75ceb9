"""The skeleton of a shape works as soon as it stands in the tuple of shapes."""

import importlib.util
from pathlib import Path

import pytest
from helpers.sentences import refused, said

from thali import PairedComparisons
from thali._data.kinds import PAIRS
from thali._input_files import Source
from thali._reading.layout_recognition import RecognitionError, recognise
from thali._reading.layouts import SHAPES
from thali._reading.table_files import load_table
from thali.errors import DataError

TABLE = load_table(
    Source("cups.csv", b"one,other,verdict\ntea,milk,one\ntea,milk,other\ncoffee,tea,one\n")
)


@pytest.fixture
def skeleton():
    path = Path(__file__).parents[1] / "skeletons" / "shape.py"
    spec = importlib.util.spec_from_file_location("shape_skeleton", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_added_shape_is_recognised(skeleton):
    reading = recognise(TABLE, shapes=(*SHAPES, skeleton.SHAPE))
    assert (reading.kind, reading.shape) == (PAIRS, "table of decisions")
    data, sentence = reading.build()
    assert data == PairedComparisons([[0, 1, 0], [1, 0, 0], [1, 0, 0]], ["tea", "milk", "coffee"])
    said(sentence, "3 options", "2 pairs", "3 comparisons")


def test_bad_cells_are_refused_and_unused_columns_named(skeleton):
    def build(text):
        return recognise(
            load_table(Source("cups.csv", text)), shapes=(*SHAPES, skeleton.SHAPE)
        ).build()

    said(build(b"one,other,verdict,hour\ntea,milk,one,9\n")[1], "'hour'")
    for row, facts in (
        (b"tea,milk,maybe", ("cups.csv", "'verdict'", "'maybe'", "row 2")),
        (b"tea,milk,", ("cups.csv", "'verdict'", "row 2")),
        (b"tea,,one", ("cups.csv", "row 2")),
    ):
        with refused(DataError, *facts):
            build(b"one,other,verdict\n" + row + b"\n")


def test_without_it_the_table_is_unknown_and_with_it_the_error_names_it(skeleton):
    with refused(RecognitionError, "'one'", "'other'", "'verdict'"):
        recognise(TABLE, PAIRS)
    unlike = load_table(Source("x.csv", b"x,y\n1,2\n3,4\n5,6\n"))
    with refused(RecognitionError, "'one'", "'other'", "'verdict'"):
        recognise(unlike, PAIRS, shapes=(skeleton.SHAPE,))
