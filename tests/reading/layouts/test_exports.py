"""Exports of experiment software: what they add to a table, and what they leave empty."""

import pytest
from helpers.sentences import refused

import thali._data.kinds as kinds
from thali._reading.layout_recognition import read_data
from thali.errors import DataError


@pytest.mark.parametrize("model", [(), (kinds.EXPERIMENTS,)])
def test_loops_of_qualtrics_are_nothing_without_their_design(tmp_path, model):
    (tmp_path / "answers.csv").write_text("ResponseId,1_chosen,2_chosen\nR_1,A,B\nR_2,B,B\n")
    with refused(DataError, "'1_chosen'", "'2_chosen'"):
        read_data(tmp_path / "answers.csv", *model)
