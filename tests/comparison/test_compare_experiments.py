"""`thali.compare` on choice experiments: which tasks are left out, scores and their errors, what
goes wrong."""

import numpy as np
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused, says, warned
from helpers.short_comparisons import sentences

import thali as th
from thali.errors import ArgumentError, DataError, IncompleteWarning

QUIET = {"progressbar": False, "cores": 1, "random_seed": 1}


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=12, n_tasks=8))


def left_out(data, **how):
    """What is left out of each fit."""
    seen = []

    class Watching(Constant):
        def predict_proba(self, new):
            seen.append(new)
            return super().predict_proba(new)

    table = th.compare({"m": Watching()}, data, **how, **QUIET)
    return seen, table.attrs["tasks"].index


class Constant:
    """Gives the product at one place of every task probability p, and shares the rest among the
    others."""

    def __init__(self, p=0.5, place=0, error=None):
        self.p, self.place, self.error = p, place, error

    def fit(self, data, random_seed=None):
        if self.error:
            raise self.error
        self._fitted_to_ = data
        return self

    def predict_proba(self, new):
        within = np.arange(new.n_alternatives) - np.repeat(
            new.first_row[:-1], np.diff(new.first_row)
        )
        others = np.repeat(np.diff(new.first_row), np.diff(new.first_row)) - 1
        return np.where(within == self.place, self.p, (1 - self.p) / others)


def test_scores_are_those_of_the_tasks_left_out(data):
    table = th.compare({"half": Constant(), "third": Constant(1 / 3)}, data, hold_out=2, **QUIET)
    last = np.tile([False] * 6 + [True] * 2, 12)
    first = data.chosen[last] == 0
    wanted = np.where(first, np.log(0.5), np.log(0.25))
    assert table.loc["half", "log_score"] == pytest.approx(wanted.mean(), rel=1e-12)
    assert table.loc["half", "hit_rate"] == pytest.approx(first.mean(), rel=1e-12)
    assert table.loc[["BASE", "third"], "log_score"].to_numpy() == pytest.approx(
        -np.log(3), rel=1e-12
    )
    assert table.loc[["BASE", "third"], "hit_rate"].to_numpy() == pytest.approx(1 / 3, rel=1e-12)
    people = wanted.reshape(12, 2).mean(axis=1)
    assert table.loc["half", "log_score_se"] == pytest.approx(
        people.std(ddof=1) / np.sqrt(12), rel=1e-9
    )
    best = table.loc[["half", "third"], "log_score"].idxmax()
    assert table.loc[best, "difference"] == 0
    other = "half" if best != "half" else "third"
    paired = (wanted + np.log(3)).reshape(12, 2).mean(axis=1)
    assert abs(table.loc[other, "difference"]) == pytest.approx(abs(paired.mean()), rel=1e-9)
    assert table.loc[other, "difference_se"] == pytest.approx(
        paired.std(ddof=1) / np.sqrt(12), rel=1e-9
    )
    assert table["tasks"].tolist() == [24] * 3 and table["respondents"].tolist() == [12] * 3
    assert table.attrs["tasks"]["half"].to_numpy() == pytest.approx(wanted)
    assert table.attrs["tasks"].index[:2].tolist() == [("p0", "7"), ("p0", "8")]


def test_errors_are_over_respondents():
    """Of whom some answered more tasks than others; of one respondent there is none."""
    frame = simulate_experiment(n_respondents=4, n_tasks=8)
    frame = frame[(frame["id"] != "p0") | (frame["task"].astype(int) <= 3)]
    data = th.ChoiceExperiment.from_frame(frame)
    table = th.compare({"half": Constant()}, data, leave_out="respondent", folds=4, **QUIET)
    logs = np.where(data.chosen == 0, np.log(0.5), np.log(0.25))
    off = [(logs - logs.mean())[data.respondent_of_task == k].sum() for k in range(4)]
    assert table.loc["half", "log_score"] == pytest.approx(logs.mean(), rel=1e-12)
    assert table.loc["half", "log_score_se"] == pytest.approx(
        np.sqrt(4 / 3 * np.square(off).sum()) / len(logs)
    )
    alone = th.ChoiceExperiment.from_frame(frame[frame["id"] == "p1"])
    assert np.isnan(
        th.compare({"half": Constant()}, alone, hold_out=2, **QUIET).loc["half", "log_score_se"]
    )


class Tied(Constant):
    """Two products of each task are as probable."""

    def predict_proba(self, new):
        return np.tile([0.4, 0.4, 0.2], new.n_alternatives // 3)


def test_ties_share_a_hit(data):
    table = th.compare({"tied": Tied()}, data, leave_out="respondent", folds=3, **QUIET)
    assert table.loc["tied", "hit_rate"] == pytest.approx(
        np.where(data.chosen == 2, 0.0, 0.5).mean()
    )


@pytest.mark.parametrize("leave_out", ["task", "respondent"])
def test_folds_leave_out_everything_once(data, leave_out):
    held, tasks = left_out(data, leave_out=leave_out, folds=3)
    assert len(tasks) == len(set(tasks)) == data.n_tasks == sum(part.n_tasks for part in held)
    counts = [np.diff(part.first_task) for part in held]
    if leave_out == "task":
        assert all(len(each) == 12 and each.min() >= 2 and each.max() <= 3 for each in counts)
    else:
        assert all(each.tolist() == [8] * 4 for each in counts)


def test_what_is_left_out_by_default(data):
    _, tasks = left_out(data)
    assert tasks.tolist() == [(f"p{k}", task) for k in range(12) for task in ("7", "8")]
    ((held,), _) = left_out(data, leave_out="respondent")
    assert len(held.respondents) == 2
    ((held,), _) = left_out(data, leave_out="respondent", hold_out=5)
    assert len(held.respondents) == 5 and held.n_tasks == 40


def test_models_do_not_see_what_they_predict(data):
    seen = []

    class Watching(Constant):
        def fit(self, data, random_seed=None):
            seen.append(data)
            return super().fit(data)

        def predict_proba(self, new):
            seen.append(new)
            return super().predict_proba(new)

    model = Watching()
    th.compare({"m": model}, data, folds=4, **QUIET)
    assert not hasattr(model, "_fitted_to_")
    assert len(seen) == 8
    for train, test in zip(seen[::2], seen[1::2], strict=True):
        both = [set(zip(d.respondent_of_task, d.task_labels, strict=True)) for d in (train, test)]
        assert not both[0] & both[1] and len(both[0] | both[1]) == data.n_tasks
    seen.clear()
    th.compare({"m": model}, data, "respondent", folds=4, **QUIET)
    assert not set(seen[0].respondents) & set(seen[1].respondents)


def test_sentences_name_the_best_model_and_the_differences(data):
    sure, wrong = Constant(0.98, 0), Constant(1.0, 0)
    table = th.compare({"half": Constant(), "sure": sure, "wrong": wrong}, data, folds=2, **QUIET)
    sentence = sentences(table)
    says(sentence[0], "predicts better than 'sure'", "difference", "SE")
    says(sentence[1], "12 respondents")
    says(sentence[2], "0", "'half' and 'wrong'")
    says(sentence[3], "-1.1", "'half' predicts the")
    zeros = int((data.chosen != 0).sum())
    assert sentence[-1] == f"'wrong' assigned probability 0 to {zeros} of the 96 observed choices."
    assert table.loc["wrong", "log_score"] == -np.inf and np.isnan(
        table.loc["wrong", "log_score_se"]
    )
    new = th.compare({"half": Constant()}, data, "respondent", **QUIET)
    says(sentences(new)[0], "'half' predicts the")


def test_a_failure_is_told_and_costs_nothing_else(data):
    models = {"good": Constant(), "bad": Constant(error=DataError("no"))}
    with warned(IncompleteWarning, "1", "2 fits", "DataError") as messages:
        table = th.compare(models, data, **QUIET)
    assert messages[0].filename == __file__
    assert np.isfinite(table.loc["good", "log_score"]) and np.isnan(table.loc["bad", "log_score"])
    assert table.attrs["missing"]["why"].tolist() == ["DataError: no"]
    with refused(ArgumentError, "DataError"):
        th.compare({"bad": models["bad"]}, data, **QUIET)


class Wrong(Constant):
    def predict_proba(self, new):
        return (
            super().predict_proba(new)[: self.place]
            if self.place
            else 2 * super().predict_proba(new)
        )


@pytest.mark.parametrize(("place", "sentence"), [(0, ("1",)), (7, ("72 numbers", "got shape"))])
def test_predictions_must_be_probabilities(data, place, sentence):
    with refused(ArgumentError, *sentence):
        th.compare({"wrong": Wrong(place=place)}, data, **QUIET)


ONE = {"m": Constant()}
BAD = [
    (ONE, {"leave_out": "pair"}, "`leave_out` must be 'task' or 'respondent'; got 'pair'."),
    (ONE, {"hold_out": 2, "folds": 2}, "Both `hold_out` and `folds` are given; remove one."),
    (ONE, {"folds": 1}, "`folds` must be an integer >= 2; got 1."),
    (ONE, {"folds": 9}, "`folds=9` exceeds the number of tasks of a respondent; use at most 8."),
    (
        ONE,
        {"leave_out": "respondent", "folds": 13},
        "`folds=13` exceeds the number of respondents; use at most 12.",
    ),
    (
        ONE,
        {"leave_out": "respondent", "hold_out": 12},
        "`hold_out=12` leaves none of 12 respondents to fit; hold out fewer respondents.",
    ),
    (ONE, {"draws": 0}, "`draws` must be an integer >= 1; got 0."),
    (
        {"BASE": Constant()},
        {},
        "'BASE' is the name of a reference row of the table; rename the model.",
    ),
    (
        {"m": Constant},
        {},
        "'m' must be a thali model for choice experiments, such as HierarchicalLogit(), or have"
        " fit and",
    ),
    ({}, {}, "`models` is empty"),
]


@pytest.mark.parametrize(("models", "changed", "sentence"), BAD)
def test_bad_arguments_for_experiments_are_refused(data, models, changed, sentence):
    with pytest.raises(ArgumentError) as caught:
        th.compare(models, data, **(QUIET | changed))
    assert str(caught.value).startswith(sentence)


def test_experiments_with_too_few_tasks_are_refused(data):
    with pytest.raises(DataError, match="Respondent 'p0' has only one task"):
        th.compare(ONE, data.take([0]), **QUIET)
    with pytest.raises(DataError, match="There is only one respondent"):
        th.compare(ONE, data.take([0, 1]), "respondent", **QUIET)
    with refused(DataError, "'p0'", "8 tasks"):
        th.compare(ONE, data, hold_out=8, **QUIET)
    with refused(ArgumentError, "folds", "36"):
        th.compare({"BTL": th.EliminationByAspects("unique")}, th.datasets.celebrities(), folds=37)
