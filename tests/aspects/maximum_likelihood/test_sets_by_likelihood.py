"""Maximum likelihood of choices from sets, such as rankings, with unique aspects alone."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned
from helpers.set_problems import random_choices

import thali as th
from thali.errors import ArgumentError, DataError, EstimateWarning

# Three rankings of four, and the estimates of choix 0.4.1 (mm_rankings, tol=1e-12), exponentiated, sum 1.
RANKINGS = [[0, 1, 2, 3], [1, 0, 3, 2], [3, 1, 0, 2], [2, 0, 1, 3], [1, 3, 2, 0], [0, 2, 3, 1]]
CHOIX = [0.3249469214, 0.3249469214, 0.1750530786, 0.1750530786]


def maximised(data, **settings):
    return th.EliminationByAspects("unique", method="maximum-likelihood", **settings).fit(data)


def ranked(rankings=RANKINGS, n=4):
    return th.Choices.from_rankings(rankings, labels=[str(k) for k in range(n)])


def test_rankings_have_the_estimates_of_choix():
    model = maximised(ranked())
    np.testing.assert_allclose(model.weights_.loc[list("0123")], CHOIX, atol=1e-8)
    assert model.lapse_ == 0.0 and model.df_ == len(model.estimates_.data.members) - model.estimates_.data.n_sets - 3
    assert "including multinomial coefficients" in str(model)


def test_choices_out_of_pairs_are_pairs():
    data = th.datasets.celebrities()
    table = pd.concat([th.Choices.from_comparisons(data).to_frame().astype({"alternative": str})])
    third = pd.DataFrame({"choice_id": 10_000, "alternative": ["LBJ", "HW", "CDG"], "chosen": [1, 0, 0], "count": 1})
    both = th.Choices(pd.concat([table, third]), labels=data.labels)
    assert not both.is_paired
    np.testing.assert_allclose(maximised(both).weights_, maximised(data).weights_, atol=2e-3)
    np.testing.assert_allclose(maximised(th.Choices.from_comparisons(data)).weights_, maximised(data).weights_)


def test_options_never_or_always_chosen_are_answered_as_for_pairs():
    last = maximised(ranked([[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [1, 2, 0, 3]]))
    assert (
        last.weights_["3"] == 0.0 and np.isnan(last.standard_errors_["3"]) and last.weights_.sum() == pytest.approx(1)
    )
    with warned(EstimateWarning, "'1'", "'2'", "'3'"):
        first = maximised(ranked([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 2, 1]]))
    assert first.weights_["0"] == 1.0
    (p,) = first.predict_proba([["1", "2", "3"]])
    others = th.Choices.from_rankings([["1", "2", "3"], ["2", "1", "3"], ["3", "2", "1"]])
    np.testing.assert_allclose(p, maximised(others).predict_proba([["1", "2", "3"]])[0], atol=1e-4)


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_tables_and_files(tmp_path):
    data = random_choices(4, (3, 4), 5, most=9)
    data = data.with_answers(100.0 * data.counts)  # enough for chi-square
    model = maximised(data)
    for kind, whole in (("deviance", model.deviance_), ("pearson", model.pearson_)):
        table = model.residuals(kind)
        assert (table["residual"] ** 2).sum() == pytest.approx(whole)
    assert list(table.columns) == ["alternative", "offered", "n", "observed", "predicted", "residual"]
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.summary().equals(model.summary()) and str(again) == str(model)
    assert again.residuals().equals(model.residuals())
    with refused(DataError, "leave_one_out"):
        model.leave_one_out()
    for ask in (th.paired.parametric_bootstrap, th.paired.simulate):
        with refused(ArgumentError, "larger sets"):
            ask(model)


def test_what_cannot_be_told_is_refused():
    apart = ranked([[0, 1], [2, 3], [1, 0]])
    assert apart.is_paired
    labels = [str(k) for k in range(6)]
    with refused(DataError, "2 groups"):
        maximised(th.Choices.from_rankings([["0", "1", "2"], ["3", "4", "5"], ["1", "2", "0"]], labels=labels))
