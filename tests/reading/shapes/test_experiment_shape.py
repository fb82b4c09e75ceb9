"""The shape of choice experiments: which tables it is sure of, and what it makes."""

import pytest

from thali._source import Source
from thali.data.experiments import ChoiceExperiment
from thali.reading.shapes.experiments.experiment import match
from thali.reading.table import load

TEXT = "id,task,alt,choice,price\n1,1,a,1,2\n1,1,b,0,3\n1,2,a,0,3\n1,2,b,1,2\n"


def table(text):
    return load(Source("x.csv", text.encode()))


def test_what_matches():
    assert match(table(TEXT)).how.endswith("described by 'price'")
    assert match(table(TEXT.replace(",3", ",2").replace(",2\n", ",7\n"))) is None  # nothing differs within a task
    assert match(table("x,y,z\n1,2,3\n4,5,6\n")) is None
    assert match(table("x,y,z\n1,2,3\n4,5,6\n"), known=True) is not None  # so that the error is about what is wrong


def test_what_it_makes():
    data, sentence = match(table(TEXT), known=True, attributes=["price"]).build()
    assert data == ChoiceExperiment.from_frame(table(TEXT).frame) and sentence == str(data)
    with pytest.raises(ValueError, match="x.csv: No column says which task of the respondent a row belongs to"):
        match(table(TEXT.replace("task", "round")), known=True).build()
