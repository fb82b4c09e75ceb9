"""The shape of covariates and classes: it is known by the column that was named."""

import pytest

from thali._source import Source
from thali.errors import ArgumentError
from thali.reading.shapes.covariates import match
from thali.reading.table import load

TABLE = load(Source("x.csv", b"height,kind\n1.5,moss\n30,fern\n2,moss\n"))


def test_what_matches():
    assert match(TABLE) is None
    assert match(TABLE, target="kind") is not None


def test_what_it_makes():
    data, sentence = match(TABLE, target="kind").build()
    assert data.covariates["height"].tolist() == [1.5, 30.0, 2.0] and data.classes == {"fern": 1, "moss": 2}
    assert sentence == str(data) == "3 rows, 1 covariate; 2 classes in 'kind': fern 1, moss 2"


def test_what_is_wrong():
    with pytest.raises(ArgumentError, match=r"target must name the column of classes; x.csv has 'height', 'kind'"):
        match(TABLE, known=True).build()
    with pytest.raises(ArgumentError, match="got 'kin'. Did you mean 'kind'"):
        match(TABLE, target="kin").build()
    with pytest.raises(ValueError, match="x.csv: the column 'kind' is not made of numbers"):
        match(TABLE, target="height").build()
