"""The shape of similarities in a square: how sure it is, and what it makes."""

import pytest

from thali._source import Source
from thali.data.similarities import Similarities
from thali.reading.shapes.similarities.similarity_square import match
from thali.reading.table import load


def matched(text, **options):
    return match(load(Source("x.csv", text.encode())), **options)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        (",A,B\nA,1,.3\nB,.3,1\n", True),
        (",A,B\nA\nB,.3\n", True),  # a triangle whose rows end
        ("1,.3\n.3,1\n", True),
        (",A,B\nA,0,3\nB,3,0\n", False),  # perhaps counts
        (",A,B\nA,1,.3\nB,.2,1\n", False),  # its sides differ
        (",A,B\nX,1,.3\nY,.3,1\n", False),  # square but for its labels
    ],
)
def test_what_matches(text, sure):
    assert matched(text).sure == sure


def test_what_does_not():
    for text in ("x,y,z\n1,2,3\n4,5,6\n", "a,b,similarity\n1,2,.3\n1,3,.4\n2,3,.5\n"):
        assert matched(text) is None


def test_what_it_makes():
    text = ",A,B\nA,1,.5\nB,.25,1\n"
    assert matched(text, symmetrize="mean").build() == (
        Similarities([[1, 0.375], [0.375, 1]], "AB"),
        "2 objects, 1 similarity, square table, the mean of its two sides; the diagonal was not read",
    )
    with pytest.raises(ValueError, match="x.csv: Similarities must be symmetric"):
        matched(text).build()
