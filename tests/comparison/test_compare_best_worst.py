"""Models of best-worst choices, compared by answers left out."""

import numpy as np
import pytest
from helpers.best_worst_data import ranked_answers
from helpers.naive import latent_features as naive
from helpers.sentences import refused

import thali as th
from thali._comparison.choices import ScoredOccasions
from thali._model.best_worst import answer_probabilities

RULES = ("ranking", "reversed")
WORTH = np.array([4.0, 2.0, 1.0, 0.5, 0.25])


class Known:
    """A model that knows the worths."""

    def __init__(self, rule):
        self.rule = rule

    def fit(self, data):
        return self

    def predict_proba(self, data):
        p = answer_probabilities(WORTH[None], data.start, data.members, 0.0, self.rule)[0]
        return np.split(p, np.cumsum(data.answers)[:-1])


@pytest.mark.unit
def test_answers_are_taken_apart_and_put_together():
    data = ranked_answers(WORTH, (3, 4), 20, 1)
    tasks = ScoredOccasions(data)
    assert tasks.n_tasks == 40 and tasks.choices == data
    kept = np.arange(40) % 3 == 0
    some = tasks.take(kept).choices
    assert some.worst is not None and some.n_choices == kept.sum()
    p = tasks.by_alternative(Known("ranking").predict_proba(tasks.choices))
    assert len(p) == tasks.n_alternatives == 20 * 6 + 20 * 12
    row = 11
    best, worst = (int(data.members[place[row]]) for place in data.places_of(tasks.answer))
    members = data.members[data.start[tasks.set[row]] : data.start[tasks.set[row] + 1]].tolist()
    expected = naive.best_worst_probability(best, worst, members, WORTH, 0.0)
    assert p[tasks.first_row[row] + tasks.chosen[row]] == pytest.approx(expected)


@pytest.mark.unit
def test_the_rule_by_which_people_chose_predicts_best():
    data = ranked_answers(WORTH, (4, 5), 200, 1)
    models = {rule: th.EliminationByAspects("unique", method="maximum-likelihood", best_worst=rule) for rule in RULES}
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
    with refused(th.errors.DataError, "best and worst"):
        model.predict_proba(ranked_answers(WORTH, (4,), 2, 1))
