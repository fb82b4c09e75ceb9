"""How probable all choices of a person together are, against sums over the draws; and in
comparisons of models."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from helpers.set_problems import random_choices

import thali as th
from thali._inference.progress_display import Progress
from thali.errors import ArgumentError, DataError

RUN = {"draws": 6, "tune": 2, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.fit,  # probabilities out of sets are compiled
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


def answered(rows, labels=None):
    """Comparisons from rows of person, first, second, and which of the two was chosen."""
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
    return th.PairedComparisons.from_trials(
        frame, "first", "second", "chosen", respondent="person", labels=labels
    )


def random_answers(people, n, choices, seed):
    """People who answer at random."""
    rng, rows, labels = np.random.default_rng(seed), [], list("abcdefghij"[:n])
    for person in range(people):
        for _ in range(choices):
            pair = rng.choice(labels, 2, replace=False)
            rows.append((f"p{person}", *pair, rng.choice(pair)))
    return answered(rows, labels)


def of_one(*answers):
    """Comparisons as choices, in which these rows (person, a, b, chosen) are everything."""
    return th.Choices.from_comparisons(answered(list(answers), list("abc")))


NEW = of_one(("n", "a", "b", "a"), ("n", "b", "c", "c"), ("n", "b", "c", "c"), ("m", "a", "c", "c"))


def by_hand(p):
    """ln of what `n` and `m` chose from draws (..., pairs) of the probabilities of the first of ab,
    ac, bc."""
    n = p[..., 0] * (1 - p[..., 2]) ** 2
    return {"n": n, "m": 1 - p[..., 1]}


def test_log_predictive_of_equal_respondents_is_the_log_mean():
    model = th.EliminationByAspects().fit(random_answers(4, 3, 5, seed=2), **RUN)
    p = model.posterior_["posterior"]["choice_probability"].values.reshape(-1, 3)
    found = model.log_predictive(NEW)
    assert found.name == "log_predictive" and found.index.name == "respondent"
    assert found.to_dict() == pytest.approx(
        {who: np.log(each.mean()) for who, each in by_hand(p).items()}
    )


OCCASIONS = [("p", 1, "abc", "a"), ("p", 2, "abd", "d"), ("q", 3, "cd", "c"), ("p", 4, "abcd", "a")]


def test_choices_out_of_sets():
    rows = [
        (who, task, x, int(x == chosen))
        for who, task, offered, chosen in OCCASIONS
        for x in offered
    ]
    data = th.Choices(
        pd.DataFrame(rows, columns=["who", "task", "item", "chosen"]), "task", respondent="who"
    )
    model = th.EliminationByAspects("unique").fit(random_answers(3, 4, 5, seed=1), **RUN)
    u = model.posterior_["posterior"]["unique_weights"].values.reshape(-1, 4)
    weight = dict(zip(data.labels, u.T, strict=True))
    found = model.log_predictive(data)
    for person in "pq":
        p = [
            0.99 * weight[chosen] / sum(weight[x] for x in offered) + 0.01 / len(offered)
            for who, _, offered, chosen in OCCASIONS
            if who == person
        ]
        assert found[person] == pytest.approx(np.log(np.prod(p, axis=0).mean()))


def test_one_best_worst_choice_is_as_probable_as_predicted():
    rows = [
        ("p", "a", "b", "c", "a", "c"),
        ("q", "a", "b", "c", "c", "b"),
        ("r", "b", "c", "d", "b", "d"),
    ]
    frame = pd.DataFrame(rows, columns=["who", "option1", "option2", "option3", "best", "worst"])
    data = th.Choices.from_best_worst(frame, respondent="who")
    model = th.EliminationByAspects().fit(data, **RUN)
    # pairs (best, worst): ab ac ba bc ca cb, then of bcd
    p = np.concatenate(model.predict_proba(data))
    expected = dict(zip("pqr", np.log(p[[1, 5, 6 + 1]]), strict=True))
    assert model.log_predictive(data).to_dict() == pytest.approx(expected)


def test_log_predictive_of_estimates_multiplies_probabilities():
    data = random_answers(6, 3, 5, seed=1)
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    ab, ac, bc = model.predict_proba([("a", "b"), ("a", "c"), ("b", "c")])
    expected = {who: np.log(each) for who, each in by_hand(np.array([ab, ac, bc])).items()}
    assert model.log_predictive(NEW).to_dict() == pytest.approx(expected)


def test_impossible_choices_have_log_probability_minus_infinity():
    data = of_one(*[("p", "a", "b", "a")] * 2)
    model = th.EliminationByAspects([[1, 1, 0], [0, 1, 0], [0, 0, 1]], unique=False, lapse=0.0).fit(
        data, **RUN
    )
    assert model.log_predictive(of_one(("x", "a", "b", "b"), ("y", "a", "b", "a"))).tolist() == [
        -np.inf,
        0.0,
    ]


def test_bad_input_is_refused():
    model = th.EliminationByAspects("unique").fit(random_answers(3, 3, 4, seed=1), **RUN)
    with refused(ArgumentError, "got list", "from_comparisons"):
        model.log_predictive([("a", "b")])
    with refused(DataError, "respondent column"):
        model.log_predictive(random_choices(3, (2,), 1))
    with refused(ArgumentError, "options in the data"):
        model.log_predictive(th.Choices.from_comparisons(answered([("p", "a", "z", "z")])))


class Guess:
    """A model of somebody else."""

    def fit(self, data):
        return self

    def predict_proba(self, sets):
        return [np.full(2, 0.5)] * len(sets.sets)


def test_people_left_out_are_scored_by_all_that_they_chose(tmp_path):
    data = random_answers(6, 3, 5, seed=1)
    models = {
        "individuals": th.BradleyTerryLuce(people=th.people.Individuals()),
        "guess": Guess(),
        "one": th.EliminationByAspects("unique"),
    }
    settings = RUN | {"cores": 1}
    table = th.compare(
        models, data, leave_out="respondent", folds=2, job=tmp_path / "job", **settings
    )
    tasks, together = table.attrs["tasks"], table.attrs["together"]
    assert together["BASE"].equals(tasks["BASE"]) and table.loc[
        "BASE", "together"
    ] == pytest.approx(-np.log(2))
    of_people = together.groupby("respondent", sort=False).sum()
    assert table["together"].to_numpy() == pytest.approx(of_people.sum().to_numpy() / len(tasks))
    assert together["guess"].to_numpy() == pytest.approx(tasks["guess"].to_numpy())
    assert not np.allclose(together["individuals"], tasks["individuals"])
    assert table["together_difference"].max() == 0.0
    notes = [str(note) for each in th.findings(table) for note in each.notes]
    assert "The choices of a respondent are jointly predicted best by" in " ".join(notes)
    again = th.compare(
        models, data, leave_out="respondent", folds=2, job=tmp_path / "job", **settings
    )
    assert again.equals(table)


def test_the_score_of_an_adjusted_fit_is_of_the_likelihood_itself():
    model = th.EliminationByAspects("unique", people="adjusted").fit(
        random_answers(8, 3, 5, seed=1), **RUN
    )
    assert model.posterior_.attrs["people_effect"] > 1.0
    p = model.posterior_["posterior"]["choice_probability"].values.reshape(-1, 3)
    expected = {who: np.log(each.mean()) for who, each in by_hand(p).items()}
    assert model.log_predictive(NEW).to_dict() == pytest.approx(expected)


def test_chains_are_compiled_ahead(monkeypatch):
    """Before the first fits of a comparison, where nothing is compiled."""
    prepared = th.EliminationByAspects().prepare(random_answers(4, 3, 5, seed=1))
    monkeypatch.setattr(type(prepared.task.kernel), "is_compiled", lambda kernel, model: False)
    prepared.compile(Progress(False, "", 1, ""))
