"""Kinds of people who choose out of sets: what the model answers, held against slow and obvious
versions."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.kind_problems import kinds_in, of_new_person, random_choices
from helpers.naive import latent_features as naive
from helpers.plain_python import run_as_python
from scipy.special import gammaln, logsumexp

import thali as th

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
RUN = {"draws": 4, "tune": 2, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def data():
    return random_choices(5, 4, 4, seed=3)


@pytest.fixture(scope="module")
def model(data):
    with run_as_python():
        return th.EliminationByAspects(people=th.people.LatentClasses(2, "similar")).fit(
            data, **RUN
        )


@pytest.mark.long
def test_a_new_person_is_a_mixture_of_kinds(model, data):
    stored = model.posterior_["posterior"]["set_probability"].mean(["chain", "draw"]).values
    for start, members, found in zip(
        data.start, data.sets, model.predict_proba(data), strict=False
    ):
        np.testing.assert_allclose(found, of_new_person(model, members), rtol=1e-9)
        np.testing.assert_allclose(found, stored[start : start + len(members)], rtol=1e-9)


def test_the_likelihood_of_draws_is_that_of_the_definition(model, data):
    """That of the answers, with the coefficients of everybody's; and that of each person given the
    kinds of others."""
    posterior, each = model.posterior_["posterior"].dataset, data.by_respondent()
    totals = posterior["log_likelihood"].values.ravel()
    terms = model.posterior_["log_likelihood"]["answers"].values.reshape(len(totals), -1)
    for draw, (of, _, owners, w, s) in enumerate(kinds_in(model, "kind_unique_weights")):
        known, expected = 0.0, []
        for person, own in enumerate(each.values()):
            counts = np.add.reduceat(own.counts, own.start[:-1])
            coefficient = gammaln(counts + 1).sum() - gammaln(own.counts + 1).sum()
            logs = [
                naive.log_likelihood(own, owners, w[g], s[g], 0.01) + coefficient for g in range(2)
            ]
            others = np.bincount(np.delete(of, person), minlength=2)
            expected.append(
                logsumexp(np.array(logs) + np.log((others + 1.0) / (others.sum() + 2.0)))
            )
            known += logs[of[person]]
        assert totals[draw] == pytest.approx(known, rel=1e-9)
        np.testing.assert_allclose(terms[draw], expected, rtol=1e-9)


def test_all_choices_of_a_person_together(model, data):
    found, each = model.log_predictive(data), data.by_respondent()
    for name, own in each.items():
        logs = [
            logsumexp(
                [
                    math.log(share[g]) + naive.log_likelihood(own, owners, w[g], s[g], 0.01)
                    for g in range(2)
                ]
            )
            for _, share, owners, w, s in kinds_in(model, "kind_unique_weights")
        ]
        assert found[name] == pytest.approx(logsumexp(logs) - math.log(len(logs)), rel=1e-9)


def test_the_model_of_one_kind_has_the_choices_of_its_members(model, data):
    likely, number = model.respondents.membership()["latent_class"], 0
    for kind in (1, 2):
        members = [name for name in data.respondents if likely[name] == kind]
        tree = model.respondents.of_class(kind).posterior_
        chosen = tree["observed_data"]["chosen"].values
        assert chosen.sum() == 4 * len(members)
        assert (
            tree["posterior"].sizes["place"]
            == len(chosen)
            == tree["constant_data"]["set_size"].values.sum()
        )
        if members:
            place = tree["posterior"]["set_probability"].mean(["chain", "draw"]).values
            labels = tree["observed_data"]["set"].values
            asked = [label.split(", ") for label in labels]
            np.testing.assert_allclose(
                np.concatenate(model.respondents.of_class(kind).predict_proba(asked)),
                place,
                rtol=1e-9,
            )
        number += len(members)
    assert number == 5


def test_the_check_is_of_all_people_together(model, data):
    table = model.check(1)
    assert (
        len(table) == len(data.members)
        and table["n"].sum() == (data.sizes * np.add.reduceat(data.counts, data.start[:-1])).sum()
    )
    observed = table.set_index(["alternative", "offered"])["observed"]
    for start, members in zip(data.start[:-1], data.sets, strict=True):
        counts = data.counts[start : start + len(members)]
        for label, count in zip(members, counts, strict=True):
            assert observed[label, ", ".join(members)] == pytest.approx(count / counts.sum())


def test_people_are_left_out_together(data, uncompiled):
    models = {
        "kinds": th.EliminationByAspects(people=th.people.LatentClasses(2)),
        "alike": th.EliminationByAspects(),
    }
    run = RUN | {"draws": 4, "tune": 2, "thin": 1}
    table = th.compare(models, data, leave_out="respondent", folds=2, cores=1, **run)
    assert np.isfinite(table.loc[["kinds", "alike"], "together"]).all()


def test_from_a_table_with_rankings():
    frame = pd.DataFrame(
        [list("abcd"), list("bacd"), list("dabc")], columns=["1st", "2nd", "3rd", "4th"]
    )
    data = th.Choices.from_rankings(frame.assign(person=list("xyz")))
    task = (
        th.EliminationByAspects(people=th.people.LatentClasses(2))
        .prepare(data, draws=1, tune=0)
        .task
    )
    assert task.people.start.tolist() == [0, 3, 6, 9]
