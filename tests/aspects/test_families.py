"""Chains that stay in different families of features: which families, what is common, and what they are judged by."""

import numpy as np
import pytest
from additive_fits import made_up
from kind_problems import random_ratings

import thali as th
from thali.aspects.answers import data_answers, quantities
from thali.aspects.answers.families import _agreeing, in_words
from thali.errors import ArgumentError

APART = {0: (0, 1, 2), 1: (0, 1, 2), 2: (2, 3), 3: (2, 3)}  # of each chain a feature that it never lacks


@pytest.fixture(scope="module")
def apart():
    return made_up(5, draws=60, beside=0.0, kept_by=APART)


def test_chains_are_of_a_family_if_any_two_agree():
    assert _agreeing(np.array([[0.0, 0.4, 0.8], [1.0, 1.0, 1.0]])) == [[0, 1], [2]]
    assert _agreeing(np.array([[0.0, 0.8, 0.4]])) == [[0, 2], [1]]
    assert _agreeing(np.zeros((0, 3))) == [[0, 1, 2]]


def test_families_of_chains_what_they_share_and_how_probable_each_is(apart):
    found = apart.families()
    assert found.chains == ((0, 1), (2, 3))
    assert found.common == [("0", "1"), ("1", "2")] or found.common == [("1", "2"), ("0", "1")]
    assert found.of_one(1) == [("0", "1", "2")] and found.of_one(2) == [("2", "3")]
    row = found.features.set_index("members").loc[[("2", "3")]].iloc[0]
    assert (row["family 1"], row["family 2"]) == (0.0, 1.0) and not row["common"]
    weights = apart.stacked().weights
    np.testing.assert_allclose(found.table["weight"], [weights[:2].sum(), weights[2:].sum()])
    similarity = apart.posterior_["posterior"]["similarity"].values.mean(axis=1)
    one, other = similarity[:2].mean(axis=0), similarity[2:].mean(axis=0)
    assert found.correlation == pytest.approx(np.corrcoef(one, other)[0, 1])
    assert "2 families of features (chains 0 and 1; chains 2 and 3); 2 features are common to all" in str(found)


def test_the_verdict_and_a_finding_say_so(apart):
    verdict = apart.verdict()
    assert verdict.facts["disagree"] and str(verdict).endswith("See families().")
    assert "2 features are common to all" in str(verdict) and not verdict.agrees
    found = apart.findings()["families"]
    assert found.verdict is False and "See families()" not in str(found)
    assert any("by stacking (Yao, Vehtari & Gelman, 2022)" in str(note) for note in found.notes)
    assert "Family 2 (chains 2 and 3), weight" in str(found) and "besides what is common it has 2 and 3." in str(found)


def test_chains_that_agree_or_are_too_few_have_none():
    agreed = made_up(5, draws=400, common=())
    assert agreed.verdict().families is None or len(agreed.families().chains) == 1
    assert "families" not in agreed.findings()
    for few in ({"draws": 20}, {"chains": 1}):
        with pytest.raises(ArgumentError, match="Families are of two chains or more"):
            made_up(4, **few).families()


def several():
    """Short chains, which are far apart, of groups of people."""
    data, run = random_ratings(4, 4, 6, seed=3), {"draws": 25, "tune": 5, "thin": 1, "chains": 3}
    given = {name: data.by_subject()[name] for name in data.subjects[:2]}
    return th.AdditiveClustering(tempering=False).fit(given, random_seed=1, progressbar=False, **run)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_groups_have_families_in_common(uncompiled):
    model = several()
    parts = list(map(model.of_group, model.groups_))
    found = model.families()
    assert len(found.chains) > 1 and str(found.message) in str(model.verdict())
    for part in parts:
        own = part.families()
        assert own.chains == found.chains and own.features.equals(found.features)
    by_chain = np.hstack([part.posterior_["posterior"]["similarity"].values.mean(axis=1) for part in parts])
    by_family = [by_chain[list(each)].mean(axis=0) for each in found.chains]
    assert found.correlation == pytest.approx(np.corrcoef(by_family).min())
    weights = model.stacked().weights
    np.testing.assert_allclose(found.table["weight"], [weights[list(each)].sum() for each in found.chains])
    assert str(found.message) in str(model.findings()["families"].sentence)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_everybodys_own_weights_have_none(uncompiled):
    run = {"draws": 25, "tune": 0, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
    model = th.AdditiveClustering(people="random", tempering=False).fit(random_ratings(3, 3, 3, seed=3), **run)
    with pytest.raises(ArgumentError, match="and not of everybody's own weights; fit again with more, or with people="):
        model.families()


def test_more_features_than_a_sentence_names_are_counted():
    assert in_words([("a", "b"), ("c",), ("d", "e", "f"), ("g",)]) == "a and b; c; d, e and f; 1 more"


def test_chains_are_judged_by_pairs_and_of_many_objects_not_by_exact_owners(apart):
    rows = apart._judged_rows()
    assert {"similarity[2, 3]", "shared_features[2, 3]", "presence[2, 3]", "n_shared_features"} <= set(rows.index)
    assert rows.loc["shared_features[2, 3]", "r_hat"] > 1.5
    similarity = apart.posterior_["posterior"]["similarity"].isel(pair=0).values
    assert rows.loc["similarity[0, 1]", "mean"] == pytest.approx(similarity.mean())
    many = made_up(31, draws=30, kept_by=APART)
    names = many._judged_rows().index
    assert any(name.startswith("presence") for name in many.summary().index)
    assert not any(name.startswith("presence") for name in names) and many.verdict().facts["disagree"]
    assert sum(name.startswith("similarity") for name in names) == quantities.JUDGED_PAIRS[1]


def test_densities_of_triplets_that_are_not_stored_are_those_that_would_be(monkeypatch, uncompiled):
    data = th.datasets.triplets(4, 30, random_seed=1).data
    model = th.AdditiveClustering().fit(data, draws=5, tune=1, thin=1, chains=2, random_seed=1, progressbar=False)
    stored = model._log_likelihood()
    assert stored.shape == (2, 5, data.n_sets)
    monkeypatch.setattr(data_answers, "pointwise", lambda tree: None)
    np.testing.assert_allclose(model._log_likelihood(), stored)
    monkeypatch.setattr(data_answers, "MAX_OBSERVED", 3)
    monkeypatch.setattr(data_answers, "MAX_OBSERVED_DRAWS", 4)
    sets, draws = quantities.spread(data.n_sets, 3), quantities.spread(5, 4)
    np.testing.assert_allclose(model._log_likelihood(), stored[:, draws][:, :, sets])
