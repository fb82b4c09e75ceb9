"""Models of best-worst choices, compared by answers left out."""

import numpy as np
import pytest
from helpers.best_worst_data import RULES, ranked_answers
from helpers.naive import latent_features as naive
from helpers.sentences import refused

import thali as th

WORTH = np.array([4.0, 2.0, 1.0, 0.5, 0.25])


class Known:
    """A model that knows the worths."""

    def __init__(self, rule):
        self.rule = rule

    def fit(self, data):
        return self

    def predict_proba(self, data):
        p = naive.answer_probabilities(data, WORTH[None], 0.0, self.rule)[0]
        return np.split(p, np.cumsum(data.answers)[:-1])


@pytest.mark.unit
def test_scores_are_those_of_each_answer():
    data = ranked_answers(WORTH, (3, 4), 20, 1)
    table = th.compare(
        {"known": Known("ranking")}, data, folds=2, random_seed=1, cores=1, progressbar=False
    )
    logs = []
    for _, rows in data.to_frame().groupby("choice_id"):
        members = rows["alternative"].astype(int).tolist()
        best, worst = (members[int(np.argmax(rows[name]))] for name in ("best", "worst"))
        probability = naive.best_worst_probability(best, worst, members, WORTH, 0.0)
        logs += [np.log(probability)] * int(rows["count"].iloc[0])
    assert len(logs) == table.loc["known", "tasks"] == 40
    assert table.loc["known", "log_score"] == pytest.approx(np.mean(logs), rel=1e-12)


@pytest.mark.unit
def test_the_rule_by_which_people_chose_predicts_best():
    data = ranked_answers(WORTH, (4, 5), 200, 1)
    models = {rule: th.BradleyTerryLuce("maximum-likelihood", best_worst=rule) for rule in RULES}
    table = th.compare(models, data, folds=2, cores=1, random_seed=1, progressbar=False)
    assert table["log_score"].idxmax() == "ranking" and table.loc["ranking", "tasks"] == 400
    assert table.loc["BASE", "log_score"] == pytest.approx(-(np.log(12) + np.log(20)) / 2)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_shared_aspects_predict_best_and_worst_of_three(uncompiled):
    """The best out of all, times the one in between over the worst."""
    data = ranked_answers(WORTH, (2, 3), 2, 1)
    run = {"draws": 1, "tune": 2, "chains": 1, "thin": 1, "random_seed": 1, "progressbar": False}
    model = th.EliminationByAspects(2).fit(data, **run)
    members = next(each for each in data.sets if len(each) == 3)
    whole, rest = model.predict_proba([list(members), [members[1], members[2]]])
    found = model.predict_proba(data)
    np.testing.assert_allclose(found[data.sets.index(members)][:2], whole[0] * rest[::-1])
    assert all(p.sum() == pytest.approx(1.0) for p in found)
    with refused(th.errors.DataError, "three options", "got 4"):
        model.predict_proba(ranked_answers(WORTH, (4,), 2, 1))
