"""Models of groups of people compared by choices or people that are left out of their groups."""

import numpy as np
import pandas as pd
import pytest
from helpers.problems import random_comparisons
from helpers.sentences import refused
from helpers.set_problems import random_choices
from helpers.short_comparisons import sentences

import thali as th
from thali._comparison.pair_holdouts import PairSplitter
from thali._comparison.splitter import GroupSplitter
from thali._data.grouped_data import GroupedData
from thali.errors import ArgumentError, DataError

RUN = dict(draws=8, tune=4, chains=2, thin=1, cores=1, random_seed=1, progressbar=False)
COMMON = th.people.Groups("common")
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")


def answered(people=8, seed=1):
    """Comparisons of drinks by people of either sex."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(people):
        for first, second in (("tea", "milk"), ("tea", "beer"), ("milk", "beer")):
            rows.append(
                (f"p{person}", "fm"[person % 2], first, second, (first, second)[rng.integers(2)])
            )
    frame = pd.DataFrame(rows, columns=["person", "sex", "left", "right", "chosen"])
    return th.PairedComparisons.from_trials(
        frame, "left", "right", "chosen", respondent="person"
    ).by_group("sex")


@pytest.fixture
def choices():
    return GroupedData({"a": random_choices(4, (2, 3), 1), "b": random_choices(3, (2, 3), 2)})


class Guess:
    """A model of somebody else; of women it says that the first option is chosen."""

    def __init__(self, p=0.5):
        self.p = p

    def fit(self, data, random_seed=None):
        return self

    def of_group(self, name):
        return Guess(0.9 if name == "f" else 0.5)

    def predict_proba(self, choices):
        others = [len(each) - 1 for each in choices.sets]
        return [np.array([self.p, *[(1.0 - self.p) / n] * n]) for n in others]


def watched(data, **how):
    """The data of every fit, and what is left out of them, one after the other."""
    fitted = []

    class Watching(Guess):
        def fit(self, data, random_seed=None):
            fitted.append(data)
            return self

    table = th.compare(
        {"guess": Watching()}, data, cores=1, random_seed=1, progressbar=False, **how
    )
    return fitted, table.attrs["tasks"].index


@pytest.mark.parametrize("settings", [{}, {"hold_out": 9}, {"folds": 4}])
def test_every_choice_is_left_out_of_its_group(choices, settings):
    fitted, tasks = watched(dict(choices), **settings)
    of_all = sum(each.n_choices for each in choices.data)
    assert len(tasks) == len(set(tasks)) and ("folds" not in settings or len(tasks) == of_all)
    assert len(fitted) == settings.get("folds", 1)
    held = [of_all - sum(each.n_choices for each in rest.data) for rest in fitted]
    assert sum(held) == len(tasks)
    for rest in fitted:
        assert all(0 < each.n_choices <= choices[name].n_choices for name, each in rest.items())


def test_people_are_left_out_of_their_group():
    fitted, tasks = watched(answered(), leave_out="respondent", folds=4)
    assert len(tasks) == len(set(tasks)) == 24 and len(fitted) == 4
    for rest in fitted:  # one of four people of either sex is left out
        assert [each.n_choices for each in rest.data] == [9, 9]
    assert tasks.get_level_values("respondent").value_counts().tolist() == [3] * 8


def test_random_parts_are_those_of_earlier_versions():
    sizes = {"x": 4, "y": 4, "z": 3}
    groups = GroupedData({name: random_comparisons(n, 1) for name, n in sizes.items()})
    splitter = GroupSplitter(PairSplitter, groups)

    def left_out(hold_out, folds):
        parts = splitter.list_parts(np.random.SeedSequence(1), hold_out, folds)
        return [splitter.list_units(part).tolist() for part in parts]

    assert left_out(5, None) == [[0, 1, 4, 9, 7]]
    assert left_out(None, 4) == [[0, 3, 7, 13], [1, 5, 10, 8], [4, 6, 12, 14], [2, 9, 11]]
    labels = splitter.build_unit_index(np.array([13, 0]))
    assert labels.names == ["group", "a", "b"] and labels.tolist() == [
        ("z", "0", "2"),
        ("x", "0", "1"),
    ]
    _, tasks = watched(answered(), leave_out="respondent", hold_out=3)
    assert sorted(set(tasks.get_level_values("respondent"))) == ["f: p2", "m: p3", "m: p7"]


def test_a_model_of_somebody_else_gives_the_model_of_each_group():
    table = th.compare({"guess": Guess()}, answered(), leave_out="respondent", folds=2, **RUN)
    scores = table.attrs["tasks"]["guess"]
    of_women = scores.index.get_level_values("respondent").str.startswith("f: ")
    assert set(np.exp(scores[of_women]).round(6)) == {0.1, 0.9} and set(
        np.exp(scores[~of_women]).round(6)
    ) == {0.5}
    assert table.attrs["scorer"] == "GroupPeopleScorer" and len(th.findings(table)) > 0


@pytest.mark.parametrize(
    ("data", "settings", "said"),
    [
        ({"a": random_choices(3, (2, 3), 1)}, {"leave_out": "respondent"}, ("'a'",)),
        (answered(3), {"leave_out": "respondent"}, ("'m'",)),
        (answered(4), {"leave_out": "respondent", "hold_out": 3}, ("leaves a group",)),
        (
            {"a": random_comparisons(3, 1), "b": random_comparisons(3, 2)},
            {"leave_out": "task"},
            ("pair",),
        ),
    ],
)
def test_parts_that_cannot_be_held_out_of_groups_are_refused(data, settings, said):
    model = th.EliminationByAspects(people=COMMON)
    with refused((ArgumentError, DataError), *said):
        th.compare({"x": model}, data, **settings, **RUN)


@pytest.mark.long
def test_models_predict_the_people_of_each_group(uncompiled):
    models = {
        "common": th.EliminationByAspects([[1], [1], [0]], people=COMMON),
        **{
            name: th.BradleyTerryLuce(people=th.people.Groups(name)) for name in ("free", "similar")
        },
    }
    table = th.compare(models, answered(), leave_out="respondent", folds=2, **RUN)
    assert table["tasks"].eq(24).all() and table["respondents"].eq(8).all()
    assert table.loc["BASE", "log_score"] == pytest.approx(-np.log(2))
    assert "choices of new respondents" in " ".join(sentences(table))


def test_models_predict_choices_out_of_sets(choices, uncompiled):
    models = {
        "common": th.EliminationByAspects([[1], [1], [0], [0]], people=COMMON),
        "similar": th.BradleyTerryLuce(people=th.people.Groups("similar")),
    }
    table = th.compare(models, choices, hold_out=8, **RUN)
    assert table.loc["similar", "tasks"] == 8 and np.isfinite(table["log_score"]).all()
