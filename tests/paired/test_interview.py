"""Interviews whose questions depend on the answers, and models that follow new answers."""

import itertools

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.errors import ArgumentError, DataError, NotFittedError

HEAD = "choice_id,alternative,chosen"  # of the log of an interview of three at a time
OPTIONS = ["tea", "milk", "beer", "wine"]
WORTH = {"tea": 4, "milk": 3, "beer": 2, "wine": 1}
FEW = th.PairedComparisons([[0, 9, 5], [1, 0, 2], [5, 3, 0]], labels=["tea", "milk", "beer"])
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def best_of(a, b):
    return max(a, b, key=WORTH.get)


@pytest.mark.first(1)
@pytest.mark.parametrize("model", ["unique", "ibp", "laplace"])
def test_an_updated_model_is_one_of_all_the_data(model):
    aspects, how = {"laplace": ("unique", {"method": "laplace"})}.get(model, (model, {}))
    new = th.PairedComparisons.from_pairs([("beer", "milk")] * 4 + [("milk", "tea")], labels=["milk", "beer", "tea"])
    whole = th.PairedComparisons([[0, 9, 5], [2, 0, 2], [5, 7, 0]], labels=["tea", "milk", "beer"])
    run = {"draws": 1500, "tune": 200, "thin": 5, "progressbar": False}
    first = th.EliminationByAspects(aspects, **how).fit(
        FEW, **run | ({"thin": None} if model == "laplace" else {}), random_seed=1
    )
    assert first.update(new) is first
    assert first.fitted_to_ == str(whole)
    second = th.EliminationByAspects(aspects, **how).fit(
        whole, **run | ({"thin": None} if model == "laplace" else {}), random_seed=2
    )
    pairs = list(itertools.combinations(whole.labels, 2))
    (one, error), (other, of_other) = (each.predict_proba(pairs, return_se=True) for each in (first, second))
    assert np.abs(one - other).max() < 5 * np.hypot(error, of_other).max()
    assert first.verdict().agrees


def test_updates_go_on_and_are_the_same_again():
    def made():
        model = th.EliminationByAspects("unique").fit(FEW, draws=50, tune=50, random_seed=1, progressbar=False)
        for winner, loser in (("tea", "milk"), ("beer", "tea")):
            model.update(th.PairedComparisons.from_pairs([(winner, loser)]), draws=40)
        return model

    model = made()
    assert model.fitted_to_ == "3 options, 3 pairs, 27 comparisons"
    assert model.posterior_["posterior"].sizes["draw"] == 40
    assert model.posterior_["posterior"].equals(made().posterior_["posterior"])
    model.continue_fit(30, progressbar=False)
    assert model.posterior_["posterior"].sizes["draw"] == 70


def test_ties_may_come_with_an_update():
    model = th.EliminationByAspects("unique").fit(FEW, draws=30, tune=30, random_seed=1, progressbar=False)
    model.update(th.PairedComparisons([[0, 0], [0, 0]], labels=["tea", "milk"], ties=[[0, 2], [2, 0]]))
    assert "tie" in model.posterior_["posterior"]


@pytest.mark.parametrize(
    "new",
    [
        th.Choices.from_comparisons(FEW),
        th.PairedComparisons([[0, 1], [0, 0]], labels=["tea", "gin"]),
        th.PairedComparisons.from_trials(
            pd.DataFrame({"first": ["tea", "milk"], "second": ["milk", "tea"], "chosen": ["tea", "tea"]}),
            covariates=["order"],
        ),
    ],
)
def test_what_cannot_be_updated_is_refused(new, uncompiled):
    with pytest.raises(NotFittedError):
        th.EliminationByAspects("unique").update(new)
    run = {"draws": 5, "tune": 5, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
    model = th.EliminationByAspects("unique").fit(FEW, **run)
    sentence = "to be updated by Choices" if isinstance(new, th.Choices) else "does not know, 'gin'"
    sentence = "with covariates cannot be updated" if getattr(new, "covariates", None) is not None else sentence
    with pytest.raises(DataError, match=sentence):
        model.update(new)
    assert model.fitted_to_ == str(FEW)


@pytest.mark.first(2)
@pytest.mark.parametrize("goal", ["best", "ranks", "everything"])
def test_an_interview_finds_what_it_asks_for(goal, tmp_path):
    log = tmp_path / "log.csv"
    found = th.paired.adaptive(best_of, OPTIONS, goal=goal, questions=12, sure=0.9, log=log, random_seed=1)
    standing = found.standing()
    assert standing.best == "tea" and standing.sentence.startswith(f"After {standing.asked} answers 'tea' is the best")
    assert (standing.asked == 12) or standing.certainty >= 0.9
    if goal == "best":
        named = ["tea" in answer.shown for answer in found.answers]
        assert sum(named) >= 0.5 * len(named)
    rows = log.read_text().splitlines()
    assert rows[0] == "first,second,chosen" and len(rows) == standing.asked + 1
    data = th.PairedComparisons.from_trials(log_table(log))
    assert data.n_comparisons == standing.asked


def test_an_interview_of_three_at_a_time(tmp_path):
    """Its log is a long table of choices, from which it goes on."""
    log, run = tmp_path / "log.csv", {"goal": "best", "random_seed": 1, "shown": 3}
    found = th.paired.adaptive(lambda *shown: max(shown, key=WORTH.get), OPTIONS, questions=8, sure=0.9, log=log, **run)
    assert found.standing().best == "tea"
    assert all(len(set(answer.shown)) == 3 and answer.chosen in answer.shown for answer in found.answers)
    assert len({answer.shown.index(answer.chosen) for answer in found.answers}) > 1
    table = log_table(log)
    assert len(table) == 3 * len(found.answers) and th.Choices(table).n_choices == len(found.answers)
    again = th.paired.Interview(OPTIONS, log=log, **run)
    assert again.answers == found.answers and len(again.question) == 3
    with pytest.raises(ArgumentError, match=r"An answer is '.*', '.*' or '.*'; got 'tie'"):
        again.answer("tie")
    assert again.undo() and len(log.read_text().splitlines()) == 1 + 3 * (len(found.answers) - 1)


def test_updates_by_sets():
    """A model of sets that was updated is one of all sets together."""
    old, new = (
        th.Choices(pd.DataFrame({"choice_id": 1, "alternative": three, "chosen": [1, 0, 0]}), labels=OPTIONS)
        for three in (["tea", "milk", "beer"], ["beer", "wine", "milk"])
    )
    model = th.EliminationByAspects("unique").fit(old, draws=30, tune=30, random_seed=1, progressbar=False).update(new)
    assert model.fitted_to_ == "4 options, 2 sets of 3, 2 choices"
    assert len(model.next_sets(3, 1)) == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            ["first,second,chosen", "tea,milk,tea"],
            "shows two options at a time, and this one shows three; give shown=2",
        ),
        (["first,second", "tea,milk"], "whose first line is 'choice_id,alternative,chosen'"),
        ([HEAD, "1,tea,1", "1,milk,0"], "Line 2 of the log .* is damaged, '1,tea,1'"),
        ([HEAD, "1,tea,1", "1,milk,1", "1,beer,0"], "damaged"),
        ([HEAD, "1,tea,1", "1,tea,0", "1,beer,0"], "damaged"),
        ([HEAD, "2,tea,1", "2,milk,0", "2,beer,0"], "damaged"),
        ([HEAD, "1,tea,1", "1,gin,0", "1,beer,0"], "names 'gin'"),
    ],
)
def test_a_damaged_log_of_three_at_a_time(tmp_path, rows, said):
    (log := tmp_path / "log.csv").write_text("".join(f"{row}\n" for row in rows))
    with pytest.raises(DataError, match=said):
        th.paired.Interview(OPTIONS, log=log, shown=3)


@pytest.mark.parametrize(
    ("options", "shown", "said"),
    [
        (["tea", "milk"], 3, "compares three options or more; got 2"),
        (OPTIONS, 4, "shown must be one of"),
    ],
)
def test_what_cannot_be_shown_at_once(options, shown, said):
    with pytest.raises(ArgumentError, match=said):
        th.paired.Interview(options, shown=shown)


def log_table(path):
    import pandas as pd

    return pd.read_csv(path)


def test_an_interview_goes_on_from_its_log(tmp_path):
    log = tmp_path / "log.csv"
    answers = iter(["first", "undo", "first", "tie", "quit"])

    def ask(a, b):
        said = next(answers)
        return a if said == "first" else said

    begun = th.paired.adaptive(ask, OPTIONS, log=log, random_seed=1)
    assert [answer.chosen for answer in begun.answers][1:] == ["tie"] and len(begun.answers) == 2
    again = th.paired.Interview(OPTIONS, log=log, random_seed=1)
    assert again.answers == begun.answers
    again.answer(again.question[1])
    assert len(log.read_text().splitlines()) == 4
    assert again.undo() and again.undo() and again.undo() and not again.undo()
    assert log.read_text() == "first,second,chosen\n"
    assert again.standing().sentence == "Nothing has been asked yet."


def test_few_answers_may_look_like_a_table_of_sums(tmp_path):
    """Whoever wins against all others has the sums of their rows and columns in a square of counts."""
    (log := tmp_path / "log.csv").write_text("first,second,chosen\ntea,milk,tea\ntea,beer,tea\ntea,wine,tea\n")
    assert th.paired.Interview(OPTIONS, log=log, random_seed=1).standing().best == "tea"


def test_sides_change(tmp_path):
    found = th.paired.adaptive(best_of, OPTIONS, goal="everything", questions=12, random_seed=2)
    assert 0 < sum(answer.shown[0] == answer.chosen for answer in found.answers) < 12


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "is no log of an interview, whose first line is 'first,second,chosen'"),
        ("a,b\n", "is no log of an interview"),
        ("first,second,chosen\ntea,milk,beer\n", "Line 2 of the log .* is damaged, 'tea,milk,beer'"),
        ("first,second,chosen\ntea,milk,tea\ntea,mi", "Line 3 of the log .* is damaged, 'tea,mi'"),
        ("first,second,chosen\ntea,tea,tea\n", "is damaged"),
        ("first,second,chosen\ntea,gin,tea\n", "names 'gin', which is not among the options"),
    ],
)
def test_damaged_logs_are_refused_and_left_as_they_are(text, sentence, tmp_path):
    (log := tmp_path / "log.csv").write_text(text)
    with pytest.raises(DataError, match=sentence):
        th.paired.Interview(OPTIONS, log=log)
    assert log.read_text() == text


@pytest.mark.parametrize(
    "options, how, sentence",
    [
        (["tea"], {}, "An interview compares two options or more; got 1"),
        (["tea", "tea"], {}, "both 'tea'"),
        (["tea", "undo"], {}, "An option cannot be called 'undo', which is an answer; rename it."),
        ("tea", {}, "options must be a list of labels; got the text 'tea'"),
        (OPTIONS, {"goal": "worst"}, "goal must be one of"),
        (OPTIONS, {"model": th.AdditiveClustering()}, "model must be a model of choices .*; got AdditiveClustering()"),
        (OPTIONS, {"model": th.EliminationByAspects("unique", method="ML")}, "that draws from the posterior"),
        (OPTIONS, {"ask": "tea"}, "ask must be a function that shows the options and returns the answer; got 'tea'"),
        (OPTIONS, {"log": "absent/log.csv"}, "Cannot write 'absent/log.csv': there is no folder 'absent'; make it"),
        (OPTIONS, {"log": "."}, "Cannot write '.': it is a folder; give the name of a file"),
        (OPTIONS, {"sure": 1.5}, "sure is the probability at which the interview ends"),
        (OPTIONS, {"questions": 0}, "questions must be a whole number"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, how, sentence):
    with pytest.raises((ArgumentError, DataError), match=sentence):
        th.paired.adaptive(**{"ask": best_of, "options": options, **how})


def test_an_answer_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="An answer is '.*', '.*' or 'tie'; got 'gin'"):
        th.paired.adaptive(lambda a, b: "gin", OPTIONS, random_seed=1)
