"""What `BradleyTerryLuce` says of latent classes and of groups, against the draws of its
posterior."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.special import expit, logsumexp

import thali as th
from thali.errors import ArgumentError, DataError

RUN = {"draws": 60, "tune": 60, "chains": 2, "random_seed": 1, "progressbar": False}
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def compare(n_people=9, n_answers=20, ties=0, seed=3, **covariates):
    """Comparisons of three options by respondents, of whom every third prefers the last one."""
    rng, rows = np.random.default_rng(seed), []
    for person in range(n_people):
        worth = np.array([0.0, 1.0, 3.0]) * (1.0 if person % 3 == 0 else -1.0)
        for k in range(n_answers):
            i, j = rng.choice(3, 2, replace=False)
            winner = "abc"[i if rng.random() < expit(worth[i] - worth[j]) else j]
            sex = "mf"[person % 2]
            rows.append((f"p{person}", sex, "abc"[i], "abc"[j], "tie" if k < ties else winner))
    columns = ["who", "sex", "one", "other", "winner"]
    table = pd.DataFrame(rows, columns=columns)
    return th.PairedComparisons.from_trials(
        table, "one", "other", "winner", respondent="who", **covariates
    )


@pytest.fixture(scope="module", params=["free", "similar"])
def model(request):
    people = th.people.LatentClasses(2, request.param)
    return th.BradleyTerryLuce(people=people).fit(compare(), **RUN)


@pytest.fixture(scope="module", params=["free", "similar"])
def grouped(request):
    people = th.people.Groups(request.param)
    return th.BradleyTerryLuce(people=people).fit(compare().by_group("sex"), **RUN)


def stacked(values):
    return values.stack(sample=("chain", "draw")).transpose("sample", ...).values


def draws_of_classes(model):
    """Classes of respondents and log worths of classes, by the numbers of each draw, and the
    probability of a new respondent to be in each."""
    latent = model.posterior_["latent_features"].dataset
    class_of, worths = stacked(latent["kind"]).astype(int), stacked(latent["kind_log_worth"])
    sizes = (class_of[:, :, None] == np.arange(worths.shape[1])).sum(axis=1)
    return class_of, worths, (sizes + 1.0) / (sizes + 1.0).sum(axis=1, keepdims=True)


def test_results_of_the_population_are_means_over_classes(model):
    _, worths, shares = draws_of_classes(model)
    expected = (shares[:, :, None] * worths).sum(axis=1).mean(axis=0)
    found = model.worths()["log_worth"]
    labels = model.posterior_["posterior"]["option"].values
    assert found[labels].to_numpy() == pytest.approx(expected)
    p = expit(worths[:, :, 0] - worths[:, :, 1])
    (chosen,) = model.predict_proba([tuple(labels[:2])])
    assert chosen == pytest.approx((shares * p).sum(axis=1).mean(), abs=2e-3)


def test_the_log_predictive_is_that_of_the_mixture(model):
    new = th.Choices.from_comparisons(compare(2, 3, seed=5))
    _, worths, shares = draws_of_classes(model)
    labels = model.posterior_["posterior"]["option"].values.tolist()
    logs = []
    for own in new.by_respondent().values():
        total = np.zeros(worths.shape[:2])
        for members, counts in zip(own.sets, np.split(own.counts, own.start[1:-1]), strict=True):
            places = [labels.index(label) for label in members]
            of_set = worths[:, :, places]
            total += (counts * (of_set - logsumexp(of_set, axis=2, keepdims=True))).sum(axis=2)
        logs.append(logsumexp(total + np.log(shares)) - np.log(len(total)))
    assert model.log_predictive(new).to_numpy() == pytest.approx(np.array(logs))


def test_classes_are_found_and_have_models_of_their_own(model):
    sizes = model.respondents.classes()
    assert sizes.loc[2, "respondents"] == ("p0", "p3", "p6")
    shares = sizes["sample_share"]
    assert (sizes["sample_share_low"] <= shares).all() and (
        shares <= sizes["sample_share_high"]
    ).all()
    assert (
        model.respondents.same_class().loc["p0", "p3"]
        > 0.9
        > 0.1
        > model.respondents.same_class().loc["p0", "p1"]
    )
    assert (
        model.respondents.of_class(1).ranks().index[0] == "a"
        and model.respondents.of_class(2).ranks().index[0] == "c"
    )
    part = model.respondents.of_class(2)
    observed = part.posterior_["observed_data"]["wins"].values.sum()
    losses = part.posterior_["constant_data"]["losses"].values.sum()
    assert observed + losses == 60.0
    assert len(part.check(1)) == 3
    with refused(ArgumentError, "class 3"):
        model.respondents.of_class(3)
    with refused(ArgumentError, "fit a model to its data"):
        part.log_evidence()
    with refused(ArgumentError, "LatentClasses"):
        model.log_evidence()


def test_the_log_likelihood_of_draws_is_that_of_the_classes(model):
    data = compare()
    class_of, worths, _ = draws_of_classes(model)
    labels = model.posterior_["posterior"]["option"].values.tolist()
    assert labels == list(data.labels)
    answers = data.answers
    first, second = data.first[answers.pair], data.second[answers.pair]
    own = np.take_along_axis(worths, class_of[:, :, None], axis=1)[:, answers.respondent]
    rows = np.arange(len(first))
    log_odds = own[:, rows, first] - own[:, rows, second]
    logs = answers.wins * np.log(expit(log_odds)) + answers.losses * np.log(expit(-log_odds))
    found = model.posterior_["posterior"]["log_likelihood"].values.ravel()
    coefficients = found - logs.sum(axis=1)
    assert coefficients == pytest.approx(np.full(len(found), coefficients[0]))


def test_checks_and_prior_draws_of_classes(model):
    assert model.check(1)["n"].sum() == model.predictions()["n"].sum() == 180.0
    assert model.sample_prior(compare(), draws=3, random_seed=1)["prior"]["n_classes"].size == 3


def test_ties_and_a_single_class():
    made = th.BradleyTerryLuce(people=th.people.LatentClasses(1)).fit(compare(ties=2), **RUN)
    assert "tie" in made.summary().index and "n_classes" not in made.summary().index
    assert made.respondents.membership()["probability"].eq(1.0).all()
    assert len(made.predict_outcomes([("a", "b")])) == 1


@pytest.mark.first(1)
def test_groups_have_models_of_their_own(grouped):
    assert "log_worth[f, a]" in grouped.summary().index
    worths = stacked(grouped.posterior_["posterior"]["group_log_worth"])
    labels = grouped.posterior_["posterior"]["option"].values.tolist()
    for g, name in enumerate(("m", "f")):
        found = grouped.of_group(name).worths()["log_worth"]
        assert found[labels].to_numpy() == pytest.approx(worths[:, g].mean(axis=0))
    table = grouped.group_differences()
    difference = worths[:, 0, 1] - worths[:, 1, 1]
    row = table.loc["m", "f", labels[1]]
    assert row["mean"] == pytest.approx(difference.mean())
    assert row["above_0"] == pytest.approx((difference > 0.0).mean())
    whole = sum(grouped.of_group(name).posterior_["posterior"]["log_likelihood"] for name in "fm")
    np.testing.assert_allclose(whole, grouped.posterior_["posterior"]["log_likelihood"], rtol=1e-5)
    assert set(grouped.check(1)["group"]) == set(grouped.predictions()["group"]) == {"f", "m"}
    assert {"ranks", "worths", "group_differences"} <= set(grouped.findings().keys())


def test_common_worths_are_those_of_the_pooled_data():
    data = compare().by_group("sex")
    run = RUN | {"tune": None}
    together = th.BradleyTerryLuce(people=th.people.Groups("common")).fit(data, **run)
    pooled = data["f"].together([data["m"]], data["f"].labels)
    of_all = th.BradleyTerryLuce(people="independent").fit(pooled, **run)
    assert together.of_group("f").worths().equals(together.worths())
    ranks = together.ranks()["rank"] - of_all.ranks()["rank"]
    assert ranks.abs().max() < 1.0


@pytest.mark.parametrize(
    ("ask", "facts"),
    [
        (lambda model: model.worths(), ("of_group('m')",)),
        (lambda model: model.predict_proba([("a", "b")]), ("of_group('m')",)),
        (lambda model: model.of_group("x"), ("'x'", "f")),
        (lambda model: model.sample_prior(compare().by_group("sex")), ("one group",)),
        (lambda model: model.respondents.classes(), ("LatentClasses(classes=2)",)),
    ],
)
def test_groups_refuse_results_of_one_population(grouped, ask, facts):
    with refused(ArgumentError, *facts):
        ask(grouped)


CLASSES, GROUPS = th.people.LatentClasses(2), th.people.Groups()
ORDERED = compare(covariates=["order"])
TIED = th.Choices.from_rankings(
    pd.DataFrame({"who": list("pppqqq"), "item": list("abcabc"), "rank": [1, 1, 3, 1, 2, 3]}),
    respondent="who",
)


@pytest.mark.parametrize(
    ("people", "make", "facts"),
    [
        (th.people.LatentClasses(9), lambda: compare(4), ("more classes", "4")),
        (CLASSES, lambda: th.PairedComparisons([[0, 1], [2, 0]]), ("respondent",)),
        (CLASSES, lambda: ORDERED, ("covariates", "order")),
        (CLASSES, lambda: TIED, ("ties in rankings",)),
        (CLASSES, lambda: compare().by_group("sex"), ("2 groups",)),
        (GROUPS, compare, ("divided into groups",)),
        (GROUPS, lambda: ORDERED.by_group("sex"), ("covariates", "order")),
        (th.people.Individuals(), lambda: compare().by_group("sex"), ("2 groups",)),
    ],
)
def test_data_that_classes_and_groups_refuse(people, make, facts):
    with refused((ArgumentError, DataError), *facts):
        th.BradleyTerryLuce(people=people).fit(make(), **RUN)


def test_a_class_that_nobody_is_likely_in_has_no_model():
    made = th.BradleyTerryLuce(people=th.people.LatentClasses(4))
    choices = th.Choices.from_comparisons(compare())
    model = made.fit(choices, **RUN)
    sizes = model.respondents.classes()
    empty = sizes.index[sizes["respondents"].map(len) == 0]
    assert len(empty) and set(model.findings()["ranks"].table.index) == {1, 2}
    with refused(ArgumentError, "Class 4"):
        model.respondents.of_class(4)
