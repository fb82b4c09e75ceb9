"""Kinds of people who name the odd one out: what the model answers, held against slow and obvious versions."""

import numpy as np
import pytest
from kind_problems import kinds_in, random_triplets
from scipy.special import gammaln, logsumexp

import thali as th
from thali.compile import jit
from thali.errors import ArgumentError, DataError
from thali.testing import naive

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
RUN = {"draws": 6, "tune": 4, "thin": 5, "chains": 2, "random_seed": 1, "progressbar": False}
SETTINGS = {"kinds": 2, "weights": "similar", "tempering": False}


@pytest.fixture(scope="module")
def data():
    return random_triplets(5, 4, 4, seed=3)


@pytest.fixture(scope="module", params=["exp", "ratio"])
def model(request, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_is_disabled", lambda: True)
        return th.AdditiveClustering(link=request.param, **SETTINGS).fit(data, **RUN)


def draws_of(model):
    """Of each draw who is of which kind, the share of each, and owners, weights and constants by kind."""
    if model.link == "ratio":
        return kinds_in(model, "kind_constant")
    return ((*draw, np.zeros(2)) for draw in kinds_in(model))


def test_a_new_person_is_a_mixture_of_kinds(model):
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean(
        [
            sum(
                share[g] * np.array(naive.similar_pair_probabilities(pairs, owners, w[g], model.link, c[g], 0.01))
                for g in range(2)
            )
            for _, share, owners, w, c in draws_of(model)
        ],
        axis=0,
    )
    (found,), (errors,) = model.predict_proba([("a", "b", "c")], return_se=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (errors >= 0.0).all()


def test_chains_are_judged_by_who_owns_what_and_not_by_kinds_without_names(model):
    names = model._judged_rows().index
    assert any(name.startswith("shared_features[") for name in names)
    assert not any(name.startswith("similarity[") for name in names)


def test_the_likelihood_of_draws_is_that_of_the_definition(model, data):
    """That of the answers, with the coefficients of everybody's; and that of each person given the kinds of others."""
    posterior, each = model.posterior_["posterior"].dataset, data.by_subject()
    totals = posterior["log_likelihood"].values.ravel()
    terms = model.posterior_["log_likelihood"]["answers"].values.reshape(len(totals), -1)
    for draw, (of, _, owners, w, c) in enumerate(draws_of(model)):
        known, expected = 0.0, []
        for person, own in enumerate(each.values()):
            counts = np.add.reduceat(own.counts, own.start[:-1])
            coefficient = gammaln(counts + 1).sum() - gammaln(own.counts + 1).sum()
            logs = [
                naive.triplet_log_likelihood(own, owners, w[g], model.link, c[g], 0.01) + coefficient for g in range(2)
            ]
            others = np.bincount(np.delete(of, person), minlength=2)
            expected.append(logsumexp(np.array(logs) + np.log((others + 1.0) / (others.sum() + 2.0))))
            known += logs[of[person]]
        assert totals[draw] == pytest.approx(known, rel=1e-9)
        np.testing.assert_allclose(terms[draw], expected, rtol=1e-9)


def test_the_model_of_one_kind_has_the_answers_of_its_members(model, data):
    likely = model.assignment()["kind"]
    for kind in (1, 2):
        members = [name for name in data.subjects if likely[name] == kind]
        tree = model.of_kind(kind).posterior_
        assert tree["observed_data"]["chosen"].values.sum() == 4 * len(members)
        (found,) = model.of_kind(kind).predict_proba([("a", "b", "c")])
        assert found.sum() == pytest.approx(1.0)
        assert len(model.of_kind(kind).pair_ranks()) == 6


@pytest.mark.usefixtures("pictures")
def test_findings_and_the_check_of_all_people(model, data):
    found = {finding.key: finding for finding in model.findings()}
    assert {"kinds", "features", "check", "same_kind", "assignment", "methods"} <= found.keys()
    assert not any("could not be computed" in str(finding.sentence) for finding in found.values())
    table = model.check(1)
    assert table["n"].sum() == 3 * data.counts.sum() and len(table) == 6
    with pytest.raises(ArgumentError, match="The check is of all people together"):
        model.of_kind(1).check()


def test_from_a_file_and_on(model, tmp_path, uncompiled):
    model.save(tmp_path / "kinds.nc")
    again = th.load(tmp_path / "kinds.nc")
    assert again.summary().equals(model.summary())
    again.continue_fit(2, progressbar=False)
    assert again.posterior_["posterior"].sizes["draw"] == 8


def test_what_is_refused(data):
    two = th.AdditiveClustering(kinds=2)
    with pytest.raises(DataError, match="kinds of people need answers that say who gave them"):
        two.fit(th.Triplets([(0, 1, 2)]), **RUN)
    with pytest.raises(ArgumentError, match="is for one group of people"):
        th.AdditiveClustering(kinds=2, method="map").fit(data, random_seed=1, progressbar=False)
