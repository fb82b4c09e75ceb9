"""Kinds of people who judge how similar objects are: what the model answers, held against slow and obvious versions."""

import numpy as np
import pytest
from kind_problems import kinds_in, random_ratings
from scipy.special import logsumexp
from scipy.stats import norm

import thali as th
from thali.compile import jit
from thali.errors import ArgumentError, DataError
from thali.testing import naive

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
RUN = {"draws": 6, "tune": 4, "thin": 5, "chains": 2, "random_seed": 1, "progressbar": False}
SETTINGS = {"kinds": 2, "weights": "similar", "tempering": False}


@pytest.fixture(scope="module")
def data():
    return random_ratings(5, 4, 4, seed=3)


@pytest.fixture(scope="module", params=[None, 0.4])
def model(request, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_is_disabled", lambda: True)
        return th.AdditiveClustering(sigma=request.param, **SETTINGS).fit(data, **RUN)


def draws_of(model):
    """Of each draw who is of which kind, the share of each, and owners, weights, constants and sigmas by kind."""
    return kinds_in(model, "kind_constant", "kind_sigma")


def similarities(owners, weights, constant):
    """Of all pairs."""
    n = len(owners)
    return np.array(
        [naive.additive_similarity(owners, weights, constant)[i, j] for i in range(n) for j in range(i + 1, n)]
    )


def test_a_new_person_is_a_mixture_of_kinds(model):
    expected, sigmas = [], []
    for _, share, owners, w, c, sigma in draws_of(model):
        expected.append(sum(share[g] * similarities(owners, w[g], c[g]) for g in range(2)))
        sigmas.append(share @ sigma)
    posterior = model.posterior_["posterior"].dataset
    np.testing.assert_allclose(posterior["similarity"].values.reshape(12, -1), expected, rtol=1e-9)
    assert model.sigma_ == pytest.approx(np.mean(sigmas))
    assert ("sigma" in model.summary().index) == (model.sigma is None)


@pytest.mark.parametrize("tempering", [False, 3])
def test_the_likelihood_of_draws_is_that_of_the_definition(model, data, tempering, uncompiled):
    """That of all judgements; and that of each person given the kinds of others; where replicas trade places, too."""
    if tempering:
        run = RUN | {"draws": 20, "thin": 1}
        model = th.AdditiveClustering(**SETTINGS | {"tempering": tempering, "sigma": model.sigma}).fit(data, **run)
    posterior, each = model.posterior_["posterior"].dataset, data.by_subject()
    totals = posterior["log_likelihood"].values.ravel()
    terms = model.posterior_["log_likelihood"]["answers"].values.reshape(len(totals), -1)
    for draw, (of, _, owners, w, c, sigma) in enumerate(draws_of(model)):
        known, expected = 0.0, []
        for person, own in enumerate(each.values()):
            logs = [naive.additive_log_likelihood(own, owners, w[g], c[g], sigma[g]) for g in range(2)]
            others = np.bincount(np.delete(of, person), minlength=2)
            expected.append(logsumexp(np.array(logs) + np.log((others + 1.0) / (others.sum() + 2.0))))
            known += logs[of[person]]
        assert totals[draw] == pytest.approx(known, rel=1e-9)
        np.testing.assert_allclose(terms[draw], expected, rtol=1e-9)


def means_by_kind(model, data):
    """Of each measured pair and draw mean and variance of the mean of those who judged it."""
    known, found = data.answers, []
    for of, _, owners, w, c, sigma in draws_of(model):
        mu = np.array([naive.additive_similarity(owners, w[g], c[g]) for g in range(2)])
        rows = []
        for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
            who = of[known.subject[known.pair == pair]]
            rows.append((mu[who, i, j].mean(), (sigma[who] ** 2).sum() / len(who) ** 2))
        found.append(rows)
    return np.moveaxis(np.array(found), 2, 0)


def test_the_check_is_of_those_who_judged_a_pair(model, data):
    mean, variance = means_by_kind(model, data)
    table = model.check(1).set_index(["object", "other"])
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        row = table.loc[(data.labels[i], data.labels[j])]
        assert row["n"] == data.judgements[pair] and row["observed"] == pytest.approx(data.values[pair])
        assert row["predicted"] == pytest.approx(mean[:, pair].mean())
        below = norm.cdf(data.values[pair], mean[:, pair], np.sqrt(variance[:, pair])).mean()
        assert row["p_value"] == pytest.approx(2.0 * min(below, 1.0 - below))


def test_pairs_left_out_are_predicted_for_those_who_judged_them(model, data):
    mean, deviation = model.predict_left_out(data.take(np.arange(data.n_pairs) == 2))
    expected = means_by_kind(model, data)
    np.testing.assert_allclose(mean.ravel(), expected[0][:, 2], rtol=1e-9)
    np.testing.assert_allclose(deviation.ravel() ** 2, expected[1][:, 2], rtol=1e-9)
    with pytest.raises(DataError, match="that the people of the fit judged"):
        model.predict_left_out(th.Similarities(data.to_frame()))


def test_the_model_of_one_kind_has_the_judgements_of_its_members(model, data):
    likely = model.assignment()["kind"]
    each = data.by_subject()
    for kind in (1, 2):
        members = [each[name] for name in data.subjects if likely[name] == kind]
        one = model.of_kind(kind)
        tree = one.posterior_
        assert tree["constant_data"]["judgements"].values.sum() == sum(own.n_pairs for own in members)
        total = tree["constant_data"]["judgements"].values @ tree["observed_data"]["similarity"].values
        assert total == pytest.approx(sum(own.values.sum() for own in members))
        assert not members or one.estimate().similarity.shape == (4, 4)
        assert "constant" in one.summary().index


def test_what_kinds_do_not_use_of_the_data_is_not_shown(model, data):
    """A sigma of the data is of means of judgements; each kind has one of single judgements."""
    without = str(data).removesuffix(f", sigma {data.sigma:.3g}")
    assert without != str(data) and f" {without}\n" in str(model)
    assert th.AdditiveClustering()._in_words(data) == str(data)


def test_the_estimate_of_a_kind_that_nobody_is_of_is_refused(model):
    nobody, tree = model.of_kind(1), model.of_kind(1).posterior_
    nobody.posterior_ = tree.isel(measured_pair=slice(0), missing_dims="ignore")
    with pytest.raises(ArgumentError, match="estimate is of what people judged, and nobody is most probably of this"):
        nobody.estimate()


@pytest.mark.usefixtures("pictures")
def test_findings(model):
    found = {finding.key: finding for finding in model.findings()}
    assert {"kinds", "features", "check", "same_kind", "assignment", "methods"} <= found.keys()
    assert not any("could not be computed" in str(finding.sentence) for finding in found.values())
    assert "most alike are" in str(found["kinds"].notes[0])
    assert ("were those of each kind; the deviation was learned" in str(found["methods"])) == (model.sigma is None)


def test_from_a_file_and_on(model, tmp_path, uncompiled):
    model.save(tmp_path / "kinds.nc")
    again = th.load(tmp_path / "kinds.nc")
    assert again.summary().equals(model.summary())
    again.continue_fit(2, progressbar=False)
    assert again.posterior_["posterior"].sizes["draw"] == 8


def test_what_is_refused(model, data):
    two = th.AdditiveClustering(kinds=2)
    with pytest.raises(DataError, match="kinds of people need similarities that say who judged"):
        two.fit(th.datasets.numbers(), **RUN)
    with pytest.raises(ArgumentError, match="predict_proba is for models of triplets"):
        model.predict_proba([("a", "b", "c")])
    with pytest.raises(ArgumentError, match="is for one group of people"):
        th.AdditiveClustering(kinds=2, method="map").fit(data, random_seed=1, progressbar=False)
    with pytest.raises(ArgumentError, match="The check is of all people together"):
        model.of_kind(1).check()
