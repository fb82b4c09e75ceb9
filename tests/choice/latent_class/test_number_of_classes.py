"""The bootstrap test of the number of classes: its table, its replicates, its jobs, its size and
power."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import of_segments
from helpers.sentences import refused

import thali as th
from thali._choice.latent_class.maximum_likelihood import evaluate_parameters, simulate_choices
from thali.errors import ArgumentError, DataError


@cache
def answered():
    return th.ChoiceExperiment.from_frame(of_segments(30, 8, 3)[0])


@cache
def fitted(classes=2):
    return th.LatentClassLogit(classes, "price", starts=4).fit(
        answered(), random_seed=1, progressbar=False
    )


def test(model, replicates=4, **how):
    return model.bootstrap_test(replicates, starts=1, progressbar=False, **how)


test.__test__ = False


@pytest.mark.long
def test_the_table_has_both_neighbours():
    model = fitted()
    table = test(model)
    assert table.index.tolist() == [1, 2] and table["against"].tolist() == [2, 3]
    assert table["log_likelihood_against"].iloc[0] == pytest.approx(model.log_likelihood_)
    assert table["log_likelihood"].iloc[1] == pytest.approx(model.log_likelihood_)
    plain = th.MultinomialLogit("price").fit(answered())
    assert table["log_likelihood"].iloc[0] == pytest.approx(plain.log_likelihood_)
    for classes, row in table.iterrows():
        drawn = np.array(table.attrs["statistics"][classes])
        assert len(drawn) == 4 and (drawn >= 0).all()
        assert row["p_value"] == pytest.approx((1 + (drawn >= row["statistic"]).sum()) / 5)
    assert test(fitted(1)).index.tolist() == [1]


def test_choices_are_drawn_by_class():
    """Over many draws the frequencies are those of the model, person by person: four standard
    errors."""
    model = fitted()
    panel, known = model._build_fitted_panel()
    assert known.value == pytest.approx(model.log_likelihood_)
    where = evaluate_parameters(
        panel, known.classes._replace(sizes=np.array([0.7, 0.3])), known.tastes
    )
    rng, rows = np.random.default_rng(0), np.zeros(len(panel.tasks.matrix))
    for _ in range(400):
        rows[simulate_choices(panel, where, rng).tasks.chosen_row] += 1
    p = np.stack([each.probability for each in where.local_likelihoods], axis=1) @ [0.7, 0.3]
    assert np.abs((rows / 400 - p) / np.sqrt(p * (1 - p) / 400)).max() < 5  # of 720 rows
    assert rows.sum() == 400 * len(panel.tasks.chosen_row)


@pytest.mark.fit  # for its time
def test_a_job_goes_on_with_more_replicates(tmp_path):
    model, job = fitted(), tmp_path / "job"
    first = test(model, 2, job=job, random_seed=3)
    more = test(model, 4, job=job, random_seed=3)
    pd.testing.assert_frame_equal(more, test(model, 4, random_seed=3))
    assert more.attrs["statistics"][1][:2] == first.attrs["statistics"][1]
    with refused(DataError, "job"):
        test(fitted(1), 2, job=job, random_seed=3)


def test_bad_numbers_are_refused():
    for how in ({"replicates": 0}, {"replicates": 2.5}, {"starts": 0}):
        with refused(ArgumentError, "be an integer"):
            fitted().bootstrap_test(**how)


@pytest.mark.long
def test_the_bootstrap_test_has_its_size_and_power():
    """One class is rejected wherever there are three; where there is one, p is even: at most .05 in
    few of 40."""
    assert test(fitted(), 39)["p_value"].iloc[0] == 1 / 40
    data, rng, p = answered(), np.random.default_rng(5), []
    chances = fitted(1).predict_proba(data)
    for _ in range(40):
        utility = np.log(chances) + rng.gumbel(size=len(chances))
        chosen = [np.argmax(utility[a:b]) for a, b in pairwise(data.first_row)]
        model = th.LatentClassLogit(1, "price").fit(
            data.with_fields(chosen=np.array(chosen)), progressbar=False
        )
        p.append(test(model, 19)["p_value"].iloc[0])
    assert (
        np.mean(np.array(p) <= 0.05) < 0.05 + 3.7 * np.sqrt(0.05 / 40) and 0.3 < np.mean(p) < 0.75
    )
