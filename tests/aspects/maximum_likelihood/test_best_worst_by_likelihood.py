"""Maximum likelihood of best-worst choices."""

import numpy as np
import pytest
from helpers.best_worst_data import RULES, best_worst, random_answers
from helpers.naive.latent_features import best_worst_probability
from helpers.sentences import refused, warned

import thali as th
from thali.errors import DataError, EstimateWarning


def maximised(data, **settings):
    return th.EliminationByAspects("unique", method="maximum-likelihood", **settings).fit(data)


@pytest.mark.fit
def test_best_and_worst_of_three_have_the_estimates_of_rankings():
    data = random_answers(5, (2, 3), 20, 3, most=5)
    found, expected = maximised(data, lapse=0.03), maximised(data.as_rankings(), lapse=0.03)
    assert found.weights_.equals(expected.weights_) and found.log_likelihood_ == expected.log_likelihood_


@pytest.mark.fit
@pytest.mark.parametrize("rule", RULES)
def test_an_option_that_is_always_the_worst_has_no_weight(rule):
    rows = [("abcd", "a", "d"), ("abcd", "b", "d"), ("abcd", "c", "d"), ("abc", "a", "b"), ("abc", "b", "c")]
    data = best_worst([*rows, ("abc", "c", "a"), ("abc", "a", "c")], "abcd")
    model = maximised(data, best_worst=rule)
    assert model.weights_["d"] == 0.0 and np.isnan(model.standard_errors_["d"])
    (p,) = model.predict_proba(best_worst([("abcd", "a", "d")], "abcd"))
    assert p.sum() == pytest.approx(1.0) and p.reshape(4, 3)[:3, 2].sum() == pytest.approx(1.0)
    # two such options are told apart by nothing but how fast they vanish
    data = best_worst([("abcd", "a", "d"), ("abc", "a", "c"), ("bcd", "b", "d"), ("abd", "a", "d")], "abcd")
    with warned(EstimateWarning, "keeps increasing"):
        maximised(data, best_worst=rule)


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.usefixtures("pictures", "few_replicates")
@pytest.mark.parametrize("rule", RULES)
def test_predictions_tables_and_files(rule, tmp_path):
    data = random_answers(5, (4, 5), 3, 5, most=9)
    model = maximised(data, best_worst=rule)
    w = model.weights_.to_numpy()
    for members, p in zip(data.sets, model.predict_proba(data), strict=True):
        places = [data.labels.index(label) for label in members]
        pairs = [(b, x) for b in places for x in places if b != x]
        np.testing.assert_allclose(p, [best_worst_probability(b, x, places, w, 0.0, rule) for b, x in pairs])
    table = model.residuals("pearson")
    assert (table["residual"] ** 2).sum() == pytest.approx(model.pearson_)
    assert list(table.columns) == ["best", "worst", "offered", "n", "observed", "predicted", "residual"]
    assert model.df_ == (data.sizes * (data.sizes - 1) - 1).sum() - 4
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.summary().equals(model.summary()) and again.residuals().equals(model.residuals("deviance"))
    assert len(model.plot("predictions").collections[-1].get_offsets()) == 10
    if rule == "reversed":
        model.report(tmp_path / "report.html")
        assert "predicted worst" in (tmp_path / "report.html").read_text()
    with refused(DataError, "leave_one_out"):
        model.leave_one_out()


def test_the_work_of_a_fit_counts_the_rankings():
    """Answers times rankings times the square of the members, by which the bootstrap chooses its samples."""
    data = random_answers(4, (3, 4), 2, 1)
    found = [maximised(data, best_worst=rule).estimates_.pose.work for rule in RULES]
    assert found == [100 * (2 * 9 + 2 * 2 * 16), 100 * (2 * 9 + 2 * 16)]
