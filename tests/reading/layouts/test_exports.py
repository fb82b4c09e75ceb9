"""Exports of experiment software: what they add to a table, and what they leave empty."""

import pytest
from helpers.sentences import refused, said
from helpers.typed_tables import made

import thali._data.kinds as kinds
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

QUALTRICS = """ResponseId,Q1,Q2,Q3,Sex
Response ID,Which do you prefer? - tea or milk,"tea, water",milk or water,Sex
"{""ImportId"":""_recordId""}","{""ImportId"":""Q1""}","{""ImportId"":""Q2""}","{""ImportId"":""Q3""}","{""ImportId"":""Q4""}"
R_1,tea,tea,milk,f
R_2,milk,water,water,m
R_3,tea,water,water,f
"""
PSYCHOPY = """trials.thisN,left_img,right_img,key_resp.keys,key_resp.rt,participant,date
0,a.png,b.png,left,0.4,p1,2026-01-01
1,b.png,c.png,right,0.5,p1,2026-01-01
2,c.png,a.png,None,,p1,2026-01-01
,,,,,p1,2026-01-01
"""


def test_an_export_of_qualtrics_is_read():
    data, sentence = made(QUALTRICS)
    assert data.subset(["tea", "milk", "water"]).counts.tolist() == [
        [0, 2, 1],
        [1, 0, 1],
        [2, 2, 0],
    ]
    assert data.respondents == ("R_1", "R_2", "R_3") and data.people["Sex"].tolist() == [
        "f",
        "m",
        "f",
    ]
    said(sentence, "; Qualtrics header lines")


def test_an_export_of_psychopy_is_read():
    data, sentence = made(PSYCHOPY)
    assert data.labels == ("a", "b", "c") and data.counts.tolist() == [
        [0, 1, 0],
        [0, 0, 0],
        [0, 1, 0],
    ]
    assert data.respondents == ("p1",)
    said(sentence, "2 rows", "'None'")


def test_scores_in_one_column():
    data, _ = made("home,away,result\nHull,Stoke,3:1\nStoke,Hull,0 - 2\nHull,Stoke,1:1\n")
    assert (data.wins.tolist(), data.losses.tolist(), data.tied.tolist()) == ([2], [0], [1])


@pytest.mark.parametrize("model", [(), (kinds.EXPERIMENTS,)])
def test_loops_of_qualtrics_are_nothing_without_their_design(tmp_path, model):
    (tmp_path / "answers.csv").write_text("ResponseId,1_chosen,2_chosen\nR_1,A,B\nR_2,B,B\n")
    with refused(DataError, "'1_chosen'", "'2_chosen'"):
        read_data(tmp_path / "answers.csv", *model)
