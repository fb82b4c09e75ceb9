"""The shape of choices, a row for each alternative: which columns it takes, and what it makes."""

import pytest

from thali._source import Source
from thali.data.choices import Choices
from thali.reading.shapes.choices.long_choices import lacks, match
from thali.reading.table import load

TEXT = "obsID,alt,choice,price\n1,tea,1,2\n1,milk,0,1\n2,tea,0,2\n2,milk,1,1\n"


def table(text):
    return load(Source("x.csv", text.encode()))


def test_what_matches():
    assert match(table(TEXT)).sure
    assert not match(table(TEXT.replace("milk,0", "milk,maybe"))).sure  # the names say so, but not the cells
    assert match(table(TEXT.replace("alt", "drink"))) is None
    assert match(table(TEXT.replace("alt", "drink")), alternative="drink").sure  # it was named
    assert match(table("winner,loser\na,b\n")) is None


def test_what_it_makes():
    data, sentence = match(table(TEXT)).build()
    assert data == Choices(table(TEXT).frame)
    assert sentence == (
        "long table, 'alt' chosen if 'choice', occasions 'obsID': 2 options, 1 set of 2, 2 choices; not read: 'price'"
    )
    with pytest.raises(ValueError, match=r"x.csv: Column 'choice' must hold 1 .* row 3 holds 'maybe'"):
        match(table(TEXT.replace("milk,0", "milk,maybe"))).build()
    with pytest.raises(ValueError, match="x.csv: No column looks like alternative; name it by alternative;"):
        match(table(TEXT.replace("alt", "drink")), choice_id="obsID").build()


def test_what_is_lacking():
    assert lacks(table(TEXT.replace("alt", "drink"))) == ("a column of alternatives", "alternative", 2)
    assert lacks(table(TEXT)) is lacks(table("x,y,z\n1,2,3\n4,5,6\n")) is None
