"""The shape of similarities in a list: how sure it is, and what it makes."""

import pytest

from thali._source import Source
from thali.reading.shapes.similarities.similarity_list import match
from thali.reading.table import load


def matched(text, **options):
    return match(load(Source("x.csv", text.encode())), **options)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("a,b,similarity\nA,B,.3\n", True),
        ("i,j,sim\nA,B,.3\n", True),
        ("a,b,rating\nA,B,3\n", True),
        ("i,j,rating\nA,B,3\n", False),  # i may have been chosen over j
        ("a,b,wins,losses,sim\nA,B,1,2,.5\n", False),
        ("a,b,similarity\n1,2,.3\n1,3,.4\n2,3,.5\n", True),  # as many rows as columns of numbers
    ],
)
def test_what_matches(text, sure):
    assert matched(text).sure == sure


def test_what_does_not():
    for text in ("x,y,z\n1,2,3\n4,5,6\n", "a,b,distance\nA,B,2\n", ",a,b,s\na,1,.3,.2\nb,.3,1,.1\ns,.2,.1,1\n"):
        assert matched(text) is None


def test_what_it_makes():
    data, sentence = matched("judge,item1,item2,rating\nx,A,B,3\ny,B,A,4\n").build()
    assert data.values.tolist() == [3.5] and sentence.endswith("; columns not used: 'judge'")


def test_what_is_wrong_with_a_list_that_surely_is_one():
    for text, said in (
        ("a,b,distance\nA,B,2\n", "Column 'distance' holds dissimilarities"),
        ("a,b,sim,similarity\nA,B,2,3\n", "could each tell the similarity"),
    ):
        with pytest.raises(ValueError, match=said):
            matched(text, known=True).build()
