"""Data of several groups of people."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned

import thali as th
from thali._data.grouped_data import GroupedData
from thali.errors import DataError, DataWarning

WOMEN = th.PairedComparisons([[0, 7, 2], [3, 0, 5], [4, 1, 0]], labels=["tea", "milk", "beer"])
MEN = th.PairedComparisons([[0, 2], [4, 0]], labels=["coffee", "tea"])


def test_options_are_put_into_one_order():
    groups = GroupedData({"women": WOMEN, "men": MEN})
    assert groups.labels == ("tea", "milk", "beer", "coffee")
    assert list(groups) == ["women", "men"] and len(groups) == 2
    assert groups["men"].counts[0, 3] == 4 and groups["men"].counts[3, 0] == 2
    np.testing.assert_array_equal(groups["women"].counts[:3, :3], WOMEN.counts)
    assert groups.missing == {"women": ("coffee",), "men": ("milk", "beer")}
    with warned(DataWarning, "'women'", "'coffee'", "'men'", "'milk'"):
        groups.warn_if_unusual()


def test_pooled_comparisons_are_counted_together():
    pooled = GroupedData({"a": WOMEN, "b": WOMEN}).pooled()
    np.testing.assert_array_equal(pooled.counts, 2 * WOMEN.counts)


@pytest.mark.parametrize(("last", "sentence"), [("p1", "2 names occur"), ("p2", "1 name occurs")])
def test_people_in_several_groups_are_told(last, sentence):
    rows = pd.DataFrame({"a": "tea", "b": "milk", "chosen": "tea", "respondent": ["p0", "p1"]})
    first, second = (
        th.PairedComparisons.from_trials(table, "a", "b", "chosen", respondent="respondent")
        for table in (rows, rows.assign(respondent=["p0", last]))
    )
    with warned(DataWarning, "'p0'", sentence):
        GroupedData({"x": first, "y": second}).warn_if_unusual()


def test_groups_of_different_people_are_not_warned_of():
    rows = pd.DataFrame(
        {"a": "tea", "b": "milk", "chosen": ["tea", "milk"] * 2, "respondent": list("ppqq")}
    )
    rows["sex"] = list("ffmm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GroupedData(
            th.PairedComparisons.from_trials(rows, respondent="respondent").by_group("sex")
        ).warn_if_unusual()


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        ([WOMEN], ("must be a mapping",)),
        ({}, ("The mapping of groups is empty",)),
        ({"a": None}, ("Group 'a'", "PairedComparisons", "got NoneType")),
        (
            {"a": WOMEN, "b": th.Triplets([list("abc"), list("abd")])},
            ("'a' has PairedComparisons, and 'b' has Triplets",),
        ),
        ({"a": th.datasets.numbers()}, ("Group 'a'", "got Similarities")),
        ({1: WOMEN, "1": WOMEN}, ("unique",)),
        ({"": WOMEN}, ("non-empty",)),
    ],
)
def test_other_objects_than_groups_are_refused(data, facts):
    with refused(DataError, *facts):
        GroupedData(data)


def test_an_unknown_group_is_named():
    with refused(KeyError, "group 'x'", "'women'"):
        GroupedData({"women": WOMEN})["x"]


def test_groups_are_shown_with_their_sizes():
    groups = GroupedData({"women": WOMEN, "men": MEN})
    said(repr(groups), "2 groups", "22 comparisons", "6 comparisons", "4 options")


def test_many_of_the_same_size_are_not_listed():
    data = th.PairedComparisons([[0, 2], [1, 0]], ["a", "b"])
    alike = GroupedData({str(k): data for k in range(7)})
    said(alike, "7 groups", "3 comparisons", "2 options")
    other = GroupedData({**alike, "x": th.PairedComparisons([[0, 2], [2, 0]], ["a", "b"])})
    assert str(other).startswith(
        "8 groups (0: 3 comparisons, 1: 3 comparisons, "
    ) and "3 more), 2" in str(other)


def _answers(kind):
    """Answers of four people of two groups; those of the second group know other options, too."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(60):
        person = f"p{number % 4}"
        names = rng.permutation(list("abcd") if number % 2 else list("cdbe"))[:3]
        rows.append([*names, names[0], person, "f" if number % 2 else "m"])
    frame = pd.DataFrame(rows, columns=["object1", "object2", "object3", "odd", "person", "sex"])
    if kind == "triplets":
        return th.Triplets.from_frame(frame)
    if kind == "pairs":
        one = frame.rename(columns={"object1": "option1", "object2": "option2"}).assign(
            choice=rng.integers(1, 3, 60)
        )
        return th.PairedComparisons.from_trials(
            one[["option1", "option2", "choice", "person", "sex"]]
        )
    long = [
        {"task": n, "person": r.person, "sex": r.sex, "item": x, "chosen": int(x == r.odd)}
        for n, r in enumerate(frame.itertuples())
        for x in (r.object1, r.object2, r.object3)
    ]
    return th.Choices(pd.DataFrame(long))


@pytest.mark.parametrize("kind", ["pairs", "choices", "triplets"])
def test_pooled_groups_know_who_answered(kind):
    data = _answers(kind)
    parts = data.by_group("sex")
    parts["f"] = parts["f"].together([], data.labels[::-1])  # the same in another order
    groups = GroupedData(parts)
    pooled = groups.pooled()
    assert set(pooled.respondents) == set(data.respondents) and pooled.n_answers == data.n_answers
    assert pooled.people.loc[list(data.respondents)].equals(data.people)
    for name, own in data.by_respondent().items():
        assert pooled.by_respondent()[name].together([], data.labels) == own
    unknown = GroupedData(
        {
            "f": parts["f"],
            "m": next(iter(parts["m"].by_respondent().values())).together([], data.labels),
        }
    )
    assert unknown.pooled().n_answers > parts["f"].n_answers
    if kind != "triplets":  # of which one person's answers say whose they are
        assert unknown.pooled().respondents == ()


def test_pooled_triplets_are_those_of_a_table():
    data = _answers("triplets")
    pooled = GroupedData(data.by_group("sex")).pooled()
    assert pooled.labels == data.labels and (pooled.counts == data.counts).all()
    assert (pooled.first == data.first).all() and (pooled.second == data.second).all()
