"""Who answered: kept beside the counts, in parts of the data, in files."""

import numpy as np
import pandas as pd
import pytest
from helpers.pages import notebook
from helpers.sentences import refused, said

import thali as th
from thali._model.model_files import compute_digest
from thali.errors import DataError

ROWS = [
    ("ann", "tea", "milk", 30),
    ("ann", "water", "milk", 30),
    ("bob", "milk", "tea", 40),
    ("ann", "tea", "milk", 30),
    ("bob", "water", "tea", 40),
]


@pytest.fixture
def data():
    return th.PairedComparisons.from_frame(
        pd.DataFrame(ROWS, columns=["judge", "winner", "loser", "age"])
    )


def test_the_counts_of_everybody_add_up(data):
    assert data.respondents == ("ann", "bob") and data.people.to_dict("index") == {
        "ann": {"age": 30},
        "bob": {"age": 40},
    }
    said(repr(data), "PairedComparisons", "3 options", "3 pairs", "5 comparisons")
    assert data.with_counts(data.wins, data.losses).respondents == ()
    each = data.by_respondent()
    assert sum(one.counts for one in each.values()).tolist() == data.counts.tolist()
    assert each["ann"].counts.tolist() == [[0, 2, 0], [0, 0, 0], [0, 1, 0]]
    assert th.paired.bootstrap(list(each.values()), samples=2, random_seed=1).table is not None


def test_ties_of_all_respondents_are_kept():
    frame = pd.DataFrame(
        dict(rater=[1, 1, 2], a=["x", "x", "y"], b=["y", "y", "z"], choice=["x", "tie", "tie"])
    )
    data = th.PairedComparisons.from_trials(frame)
    assert data.by_respondent()["1"].tied.tolist() == [1]
    assert data.without_ties("half").by_respondent()["2"].wins.tolist() == [0.5]
    dropped = data.without_ties("drop")
    assert (
        dropped.n_pairs == 1
        and list(dropped.by_respondent()) == ["1"]
        and dropped.respondents == ("1", "2")
    )


def test_respondents_belong_to_equality_and_digest(data):
    bare = th.PairedComparisons(data.counts, data.labels)
    assert data != bare and compute_digest(data) != compute_digest(bare)
    with refused(ValueError, "respondent column"):
        bare.by_respondent()


def test_choices_have_people_too():
    frame = pd.DataFrame(
        {"id": [1, 1, 1, 1, 2, 2], "task": [1, 1, 2, 2, 1, 1], "alt": list("abacab")}
    )
    frame = frame.assign(chosen=[1, 0, 0, 1, 1, 0], sex=list("ffffmm"), price=range(6))
    data = th.Choices(frame)
    assert data.respondents == ("1", "2") and data.people.to_dict("list") == {"sex": ["f", "m"]}
    assert "respondent columns" in notebook(data)
    assert np.array_equal(th.Choices(frame.drop(columns="sex")).counts, data.counts)


def test_people_of_trials_are_the_columns_that_describe_them():
    rows = dict(who=["a", "a", "b"], left=["tea", "milk", "tea"], right=["milk", "tea", "milk"])
    frame = pd.DataFrame(
        rows | {"choice": ["left", "left", "right"], "age": [30, 30, 40], "sex": list("ffm")}
    )
    read = th.PairedComparisons.from_trials
    assert list(read(frame, respondent="who").people.columns) == ["age", "sex"]
    assert read(frame, respondent="who", people=["sex"]).people.to_dict() == {
        "sex": {"a": "f", "b": "m"}
    }
    for people, respondent, wrong in (
        (["left"], "who", "must be constant within each respondent; remove 'left'"),
        (["minute"], "who", "There is no column 'minute'"),
        (["age"], None, "no column identifies them; give its name with `respondent`"),
    ):
        with pytest.raises(DataError, match=wrong):
            read(frame, respondent=respondent, people=people)


def test_columns_that_are_the_same_for_all_people_do_not_tell_them_apart():
    rows = dict(who=["a", "a", "b"], left=["tea", "milk", "tea"], right=["milk", "tea", "milk"])
    frame = pd.DataFrame(
        rows | {"choice": ["left", "left", "right"], "age": [30, 30, None], "study": list("xxx")}
    )
    data = th.PairedComparisons.from_trials(frame, respondent="who")
    assert list(data.people.columns) == ["age", "study"]
    assert "age" in notebook(data) and "study" not in notebook(data)
