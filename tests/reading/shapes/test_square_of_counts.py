"""The shape of counts in a square: when it matches, how surely, and what it makes."""

import pytest

from thali._source import Source
from thali.data.kinds import SIMILARITIES
from thali.data.pairs import PairedComparisons
from thali.errors import DataError, DataWarning
from thali.reading.shapes.pairs.square_of_counts import match
from thali.reading.table import load


def matched(text, **options):
    return match(load(Source("x.csv", text.encode())), **options)


@pytest.mark.parametrize(
    ("text", "sure", "could_be"),
    [
        (",A,B\nA,0,3\nB,1,0\n", True, ""),
        ("0,3\n1,0\n", True, ""),
        ("A,B\n0,3\n1,0\n", True, ""),
        (",A,B\nA,0,3\nB,3,0\n", True, SIMILARITIES),  # symmetric
        (",A,B\nA,0,.3\nB,.1,0\n", True, SIMILARITIES),  # no counts
        ("A,B\n5,3\n1,5\n", False, ""),  # a diagonal: perhaps a list
        (",A,B\nA,0,one\nB,1,0\n", True, ""),
        (",A,B\nX,0,1\nY,1,0\n", False, ""),  # square but for its labels
    ],
)
def test_what_matches(text, sure, could_be):
    reading = matched(text)
    assert (reading.sure, reading.could_be) == (sure, could_be)


def test_what_does_not():
    for text in ("x,y,z\n1,2,3\n4,5,6\n", "winner,loser\nA,B\nB,C\nC,A\n", ",A,B\nA,1,.3\nB,.3,1\n"):
        assert matched(text) is None
    assert matched(",A,B\nA,0,.3\nB,.3,0\n", weights=True) is not None  # fractional counts are meant


def test_what_it_makes():
    data, sentence = matched(",A,B\nA,0,3\nB,1,0\n").build()
    assert data == PairedComparisons([[0, 3], [1, 0]], "AB")
    assert sentence == "square count matrix, row over column: 2 options, 1 pair, 4 comparisons"
    with pytest.raises(ValueError, match="x.csv: Rows and columns must bear the same labels; only rows have 'X'"):
        matched(",A,B\nX,0,1\nB,1,0\n").build()


def test_a_filled_diagonal_is_left_out_with_a_warning_where_the_square_is_sure():
    with pytest.warns(DataWarning, match=r"The diagonal \(714 for 'Biometrika'\) counts an option and itself"):
        data, _ = matched(",Comm,Biometrika\nComm,0,3\nBiometrika,1,714\n").build()
    assert data == PairedComparisons([[0, 3], [1, 0]], ["Comm", "Biometrika"])
    for unsure in ("A,B\n5,3\n1,5\n", ",A,B\nA,5,3\nB,3,5\n"):  # perhaps a list; perhaps similarities
        with pytest.raises(DataError, match="diagonal is 5 .* set the diagonal to 0"):
            matched(unsure).build()
