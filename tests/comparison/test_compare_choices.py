"""`thali.compare` on choices from sets: what is left out, scores and their errors."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned
from helpers.short_comparisons import sentences

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning

QUIET = {"progressbar": False, "cores": 1, "random_seed": 1}
OPTIONS = list("abcde")


def frame(people=10, each=6, messages=True):
    rng = np.random.default_rng(3)
    rows = []
    for person in range(people):
        for task in range(each):
            offered = sorted(rng.permutation(OPTIONS)[: rng.integers(2, 5)])
            winner = rng.choice(
                len(offered), p=np.arange(len(offered), 0, -1) / np.arange(len(offered) + 1).sum()
            )
            rows += [(person, task, name, int(k == winner)) for k, name in enumerate(offered)]
    table = pd.DataFrame(rows, columns=["id", "task", "alt", "choice"])
    if messages:
        return table
    return table.assign(task=100 * table["id"] + table["task"]).drop(columns="id")


class Shares:
    """Gives the first member of every set p, and shares the rest."""

    def __init__(self, p=0.5):
        self.p = p

    def fit(self, data, random_seed=None):
        assert isinstance(data, th.Choices)
        self.seen = data
        return self

    def predict_proba(self, new):
        return [
            np.array([self.p, *([(1 - self.p) / (len(each) - 1)] * (len(each) - 1))])
            for each in new.sets
        ]


@pytest.mark.parametrize("messages", [True, False])
def test_scores_are_those_of_the_choices_left_out(messages):
    data = th.Choices(frame(messages=messages), labels=OPTIONS)
    table = th.compare({"half": Shares(), "most": Shares(0.9)}, data, folds=4, **QUIET)
    tasks = [
        rows
        for _, rows in frame(messages=messages).groupby(
            ["id", "task"] if messages else "task", sort=False
        )
    ]
    sizes = np.array([len(rows) for rows in tasks])
    is_first = np.array([rows["choice"].iloc[0] == 1 for rows in tasks])
    people = [rows["id"].iloc[0] if messages else k for k, rows in enumerate(tasks)]
    wanted = {"BASE": -np.log(sizes)}
    for name, p in (("half", 0.5), ("most", 0.9)):
        wanted[name] = np.log(np.where(is_first, p, (1 - p) / (sizes - 1)))
    for name, values in wanted.items():
        off = np.bincount(np.unique(people, return_inverse=True)[1], values - values.mean())
        error = np.sqrt(len(off) / (len(off) - 1) * np.square(off).sum()) / len(values)
        assert table.loc[name, "log_score"] == pytest.approx(values.mean(), rel=1e-12)
        assert table.loc[name, "log_score_se"] == pytest.approx(error, rel=1e-12)
    assert (
        table["tasks"].tolist() == [60] * 3
        and table["respondents"].tolist() == [10 if messages else 60] * 3
    )
    unit = "10 respondents" if messages else "60 choices"
    assert "Held-out choices" in sentences(table)[0] and unit in sentences(table)[1]


def test_a_fifth_is_left_out_unless_said():
    data = th.Choices(frame(), labels=OPTIONS)
    assert th.compare({"half": Shares()}, data, **QUIET)["tasks"].tolist() == [12] * 2
    assert th.compare({"half": Shares()}, data, hold_out=7, **QUIET)["tasks"].tolist() == [7] * 2
    table = th.compare({"half": Shares()}, data, leave_out="respondent", **QUIET)
    assert (
        table["respondents"].tolist() == [2] * 2
        and "choices of new respondents" in sentences(table)[0]
    )


def test_choices_that_cannot_be_held_out_are_refused():
    data = th.Choices(frame(messages=False), labels=OPTIONS)
    with refused(DataError, "carry no respondent identifiers"):
        th.compare({"half": Shares()}, data, leave_out="respondent", **QUIET)
    with refused(ArgumentError, "leave_out"):
        th.compare({"half": Shares()}, data, leave_out="task", **QUIET)
    with refused(ArgumentError, "hold_out=60", "60 choices"):
        th.compare({"half": Shares()}, data, hold_out=60, **QUIET)
    halves = th.Choices(frame(messages=False).assign(count=0.5), labels=OPTIONS, weights=True)
    with pytest.raises(DataError, match="fractional weights"):
        th.compare({"half": Shares()}, halves, **QUIET)


def judged(ties=0, **settings):
    rng = np.random.default_rng(4)
    rows = [(who, a, b) for who in range(12) for k, a in enumerate("abc") for b in "abc"[k + 1 :]]
    table = pd.DataFrame(rows, columns=["respondent", "first", "second"])
    table["chosen"] = np.where(rng.random(len(table)) < 0.7, "first", "second")
    table.loc[: ties - 1, "chosen"] = "tie"
    return th.PairedComparisons.from_trials(table, respondent="respondent", **settings)


def test_people_are_left_out_of_comparisons_as_of_choices():
    models = {"BTL": th.EliminationByAspects("unique", method="maximum-likelihood")}
    found = th.compare(models, judged(), leave_out="respondent", folds=4, **QUIET)
    as_choices = th.Choices.from_comparisons(judged())
    pd.testing.assert_frame_equal(
        found.drop(columns="seconds"),
        th.compare(models, as_choices, leave_out="respondent", folds=4, **QUIET).drop(
            columns="seconds"
        ),
    )
    assert found.loc["BTL", "respondents"] == 12 and found.loc["BTL", "tasks"] == 36


def test_only_covariates_of_options_count_where_people_are_left_out():
    data = judged(covariates=["order"]).with_option_covariates(
        pd.DataFrame({"price": [1.0, 2.0, 4.0]}, index=list("abc"))
    )
    ml = th.BradleyTerryLuce("maximum-likelihood")
    run = {"leave_out": "respondent", "folds": 2, **QUIET}
    with warned(DataWarning, "'order'"):
        found = th.compare({"mine": ml}, data, **run)
    priced = th.Choices.from_comparisons(data)
    assert priced.covariate_names == ("price",)
    assert (
        found.loc["mine", "log_score"]
        == th.compare({"mine": ml}, priced, **run).loc["mine", "log_score"]
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (th.PairedComparisons([[0, 2], [1, 0]]), ("carry no respondent identifiers",)),
        (judged(ties=2), ("2", "without_ties")),
    ],
)
def test_comparisons_of_which_no_people_can_be_left_out(data, sentence):
    with refused(DataError, *sentence):
        th.compare(
            {"BTL": th.EliminationByAspects("unique")}, data, leave_out="respondent", **QUIET
        )
