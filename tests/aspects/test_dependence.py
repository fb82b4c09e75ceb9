"""People who answer more than once: scores and design effect by loops over people, and what draws make of them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import thali as th
from thali.aspects.answers.population import Population, mean_of_new
from thali.aspects.bradley_terry import NormalWorths, density_of, fixed_scale, local, spreading
from thali.aspects.dependence import (
    FEW,
    _judged_by,
    _problem_of,
    _scores_of,
    dependence_of_chains,
    dependence_of_everybody,
    effect_of,
    effect_of_data,
    worths_of,
)
from thali.aspects.draws.columns import Columns
from thali.aspects.likelihoods.elimination import Elimination
from thali.aspects.maximum_likelihood.clusters import clusters_of
from thali.aspects.maximum_likelihood.estimates import covariate_sizes
from thali.aspects.maximum_likelihood.maximum import mode_of
from thali.aspects.priors.given import Given
from thali.aspects.state import COLUMNS
from thali.errors import ArgumentError, DataError, Setting
from thali.posterior.dependence import ADJUSTED, INDEPENDENT, POWER, RANDOM, SCORES, dependence_in
from thali.posterior.view import Posterior
from thali.testing import naive

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
OPTIONS = list("abcd")
QUICK = {"draws": 40, "tune": 0, "chains": 2, "random_seed": 1, "progressbar": False}


def answers(people=20, spread=0.8, seed=0, times=2, ties=False, options=4, numbers=False):
    """A row an answer: the log worths of every person vary about common ones."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(options, 1)
    worth = np.linspace(-0.6, 0.6, options) + spread * rng.normal(size=(people, options))
    p = 1.0 / (1.0 + np.exp(worth[:, second] - worth[:, first]))
    won = np.where(rng.random((times, *p.shape)) < p, "first", "second")
    if ties:
        won[rng.random(won.shape) < 0.2] = "tie"
    _, who, pair = (part.ravel() for part in np.indices(won.shape))
    names = np.array([chr(97 + k) for k in range(options)])
    who = 7 * who + 3 if numbers else np.char.add("p", who.astype(str))
    rows = {"subject": who, "first": names[first][pair], "second": names[second][pair], "chosen": won.ravel()}
    return pd.DataFrame(rows)


def comparisons(**settings):
    return th.PairedComparisons.from_trials(answers(**settings), subject="subject")


def sets(best_worst=False):
    rng, rows = np.random.default_rng(1), []
    for person in range(9):
        lean = rng.normal(size=4)
        for number in range(3):
            order = [OPTIONS[k] for k in np.argsort(lean + rng.gumbel(size=4))]
            named = {f"item{k + 1}": option for k, option in enumerate(OPTIONS)}
            rows.append(named | {"best": order[0], "worst": order[-1], "respondent": f"p{person}", "task": number})
    frame = pd.DataFrame(rows)
    if best_worst:
        return th.Choices.from_best_worst(frame, respondent="respondent")
    long = frame.melt(["best", "respondent", "task"], ["item1", "item2", "item3", "item4"], value_name="alternative")
    long["chosen"] = long["best"] == long["alternative"]
    long["choice_id"] = long["respondent"] + "-" + long["task"].astype(str)
    return th.Choices(long, "choice_id", "alternative", "chosen", respondent="respondent")


# scores, mode and design effect -------------------------------------------------------------------------------------


SHARED = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
CASES = {  # data, shared aspects, likelihood
    "pairs": (comparisons, None, Elimination(0.0)),
    "lapse": (comparisons, None, Elimination(0.05)),
    "ties": (lambda: comparisons(ties=True), None, Elimination(0.02, ties=True)),
    "known aspects": (comparisons, SHARED, Elimination(0.02)),
    "sets": (sets, None, Elimination(0.03)),
    "best and worst": (lambda: sets(True), None, Elimination(0.02)),
    "best and worst, reversed": (lambda: sets(True), None, Elimination(0.02, best_worst="reversed")),
}


def by_hand(data, shared, likelihood):
    """The log-likelihood of some data at a point: log unique weights, log shared ones, log nu."""
    matrix = np.zeros((4, 0)) if shared is None else shared

    def value(point):
        weights = np.exp(point[: 4 + matrix.shape[1]])
        tie = np.exp(point[-1]) if likelihood.ties else None
        known = matrix, weights[4:], weights[:4], likelihood.lapse
        return naive.log_likelihood(data, *known, tie=tie, best_worst=likelihood.best_worst)

    return value


def gradient(of, point, step=1e-4):
    steps = step * np.eye(len(point))
    return np.array([(of(point + each) - of(point - each)) / (2 * step) for each in steps])


@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", CASES)
def test_the_design_effect_is_that_of_a_loop_over_people(name):
    make, shared, likelihood = CASES[name]
    data = make()
    size = 4 + (0 if shared is None else shared.shape[1]) + likelihood.ties
    clusters = clusters_of(data, likelihood.ties)
    prior = None if shared is None else Given(shared.astype(bool))
    found = _scores_of(data, clusters, likelihood, prior)
    weights = size - likelihood.ties
    whole = by_hand(data, shared, likelihood)

    def log_posterior(point):  # flat shares of all weights, Gamma(1, 1) nu
        own = point[:weights]
        tie = point[-1] - np.exp(point[-1]) if likelihood.ties else 0.0
        return whole(point) + own.sum() - weights * logsumexp(own) + tie

    place = mode_of(_problem_of(data, likelihood, prior), covariate_sizes(data))
    point = np.concatenate([place.logs, place.beta])
    assert np.abs(gradient(log_posterior, point)).max() < 1e-5
    each = np.array([gradient(by_hand(part, shared, likelihood), point) for part in data.by_subject().values()])
    information = -np.array([gradient(lambda z, k=k: gradient(whole, z)[k], point) for k in range(size)])
    variance = np.zeros((size, size))
    for score in each:
        variance += np.outer(score - each.mean(axis=0), score - each.mean(axis=0))
    variance *= len(each) / (len(each) - 1)
    np.testing.assert_allclose(found.information, information, atol=2e-4)
    np.testing.assert_allclose(found.variance, variance, atol=2e-4)
    inverse = np.linalg.pinv(information, rcond=1e-6, hermitian=True)
    assert effect_of([found]) == pytest.approx(np.trace(inverse @ variance) / (size - 1), rel=1e-4)


def test_independent_answers_have_a_design_effect_near_one():
    found = [effect_of_data(comparisons(people=60, spread=0.0, seed=seed)) for seed in range(20)]
    # the mean of (options - 1) ratios of a variance over 60 people: its variance is at most about 2 / 59 / 3
    assert abs(np.mean(found) - 1.0) < 5 * np.sqrt(2 / 59 / 3 / 20)
    assert np.mean([effect_of_data(comparisons(people=60, times=6, seed=seed)) for seed in range(5)]) > 2.0


def test_the_effect_of_groups_is_that_of_all_their_weights():
    data = {"A": comparisons(seed=1), "B": comparisons(seed=2, spread=0.1)}
    traces = [_scores_of(d, clusters_of(d, False), Elimination(0.01), None).traces() for d in data.values()]
    groups = th.Groups(data)
    found = dependence_of_chains(None, groups, {"likelihood": Elimination(0.01), "prior": None})
    assert found.effect == pytest.approx(sum(t for t, _ in traces) / 6) and found.number == 40


# draws that are spread ----------------------------------------------------------------------------------------------


def whitened(size=5, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, size))
    curvature = half.T @ half
    curvature -= (
        curvature.mean(axis=0) + curvature.mean(axis=1)[:, None] - curvature.mean()
    )  # none along a common change
    scores = rng.normal(size=(12, size))
    scores -= scores.mean(axis=1, keepdims=True)
    return fixed_scale(curvature, size), scores.T @ scores


def test_spreading_gives_the_naive_sandwich():
    curvature, variance = whitened()
    matrix = spreading(np.linalg.cholesky(curvature).T, variance, np.zeros(5, bool))
    inverse = np.linalg.inv(curvature)
    np.testing.assert_allclose(matrix @ inverse @ matrix.T, inverse @ variance @ inverse, atol=1e-10)
    # whatever the root: an upper triangular one after a change of sign
    signs = np.diag([1.0, -1.0, 1.0, -1.0, -1.0])
    other = spreading(signs @ np.linalg.cholesky(curvature).T, variance, np.zeros(5, bool))
    np.testing.assert_allclose(other, matrix, atol=1e-10)
    same = spreading(np.linalg.cholesky(curvature).T, curvature, np.zeros(5, bool))
    np.testing.assert_allclose(same, np.eye(5), atol=1e-10)


def test_what_few_judged_is_never_narrower():
    curvature, variance = whitened()
    inverse, root, few = (
        np.linalg.inv(curvature),
        np.linalg.cholesky(curvature).T,
        np.array([True, False, True, False, False]),
    )
    centred = np.eye(5) - 0.2
    plain = spreading(root, 0.005 * variance, np.zeros(5, bool))
    wide = spreading(root, 0.005 * variance, few)
    covariances = [m @ inverse @ m.T for m in (plain, wide)]
    narrow, kept = (np.diag(centred @ each @ centred) for each in covariances)
    usual = np.diag(centred @ inverse @ centred)
    assert (narrow < usual).any()
    assert (kept[few] >= usual[few] - 1e-10).all()
    rare = centred[:, few] @ np.array([1.0, -0.7])  # a contrast among them
    assert rare @ covariances[1] @ rare >= rare @ inverse @ rare - 1e-10
    assert np.linalg.eigvalsh(covariances[1] - covariances[0]).min() > -1e-10


@pytest.mark.fit
@pytest.mark.parametrize("ties", [False, True])
def test_draws_have_the_covariance_of_the_sandwich(ties):
    """Of normal deviations; those of the density keep its skewness."""
    data = comparisons(people=30, times=4, ties=ties)
    density = density_of(data, 0.01, ties)
    worths, made = worths_of(None, data, density)
    assert (made.model, made.by) == (ADJUSTED, SCORES)
    mode = NormalWorths(density).mode
    np.testing.assert_array_equal(worths.mode, mode)
    hessian = local(density, mode).curvature
    each = []
    for part in data.by_subject().values():  # scores by hand: numeric slopes of each person's likelihood
        alone = density_of(part, 0.01, ties, has_prior=False)
        each.append(local(alone, mode).gradient)
    variance = np.cov(np.array(each).T) * len(each)
    centre = np.eye(len(mode))
    centre[:4, :4] -= 0.25
    inverse = np.linalg.pinv(centre @ hessian @ centre, hermitian=True)
    expected = inverse @ variance @ inverse
    drawn = worths.deviations(np.random.default_rng(1), 40_000)
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(np.cov(drawn.T) - expected) < 5 * np.sqrt(2 / 40_000) * spread).all()
    points, likelihood = worths.draws(np.random.default_rng(2), 4_000)
    assert (np.abs(points.std(axis=0) / np.sqrt(np.diag(expected)) - 1.0) < 0.1).all()
    known = np.zeros((4, 0)), np.zeros(0), np.exp(points[0, :4]), 0.01
    assert likelihood[0] == pytest.approx(
        naive.log_likelihood(data, *known, tie=np.exp(points[0, 4]) if ties else None)
    )


@pytest.mark.fit
@pytest.mark.parametrize("ties", [False, True])
def test_coefficients_of_covariates_are_spread_too(ties):
    """As the standard errors over people of maximum likelihood, whose sandwich is computed in other coordinates."""
    frame = answers(people=40, times=2, ties=ties)
    frame["length"] = np.random.default_rng(5).normal(size=len(frame)) * 30.0
    data = th.PairedComparisons.from_trials(frame, subject="subject", covariates=["length"])
    worths, made = worths_of(None, data, density_of(data, 0.0, ties, has_prior=False))
    assert made.by == SCORES
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    drawn = worths.deviations(np.random.default_rng(1), 20_000)
    error = model.covariate_effects()["std_error"].iloc[0]
    assert drawn[:, -1].std() == pytest.approx(error, rel=5 / np.sqrt(2 * 20_000))
    if ties:
        assert drawn[:, 4].std() == pytest.approx(model.tie_std_error_ / model.tie_, rel=5 / np.sqrt(2 * 20_000))
    worths, _ = worths_of(None, data, density_of(data, 0.0, ties))
    points, likelihood = worths.draws(np.random.default_rng(2), 3)
    known = np.zeros((4, 0)), np.zeros(0), np.exp(points[0, :4]), 0.0
    tie = np.exp(points[0, 4]) if ties else None
    assert likelihood[0] == pytest.approx(naive.log_likelihood(data, *known, tie=tie, beta=points[0, -1:]))


@pytest.mark.fit
def test_few_people_take_a_power_whose_posterior_is_that_of_fewer_answers():
    data = comparisons(people=6, times=6)
    density = density_of(data, 0.0, False)
    worths, made = worths_of(None, data, density)
    assert made.by == POWER and made.power == pytest.approx(1 / made.effect) and made.effect > 1.0
    fewer = density._replace(wins=made.power * density.wins, losses=made.power * density.losses)
    np.testing.assert_allclose(worths.mode, NormalWorths(fewer).mode, atol=1e-9)
    points, likelihood = worths.draws(np.random.default_rng(1), 50)
    np.testing.assert_array_equal(points, NormalWorths(fewer).draws(np.random.default_rng(1), 50)[0])
    known = np.zeros((4, 0)), np.zeros(0), np.exp(points[0]), 0.0
    assert likelihood[0] == pytest.approx(naive.log_likelihood(data, *known))  # of the data


def test_people_who_judged_an_option_are_counted_once():
    frame = answers(people=12, times=3)
    rare = (frame["first"] == "a") | (frame["second"] == "a")
    frame = frame[~rare | frame["subject"].isin(["p1", "p4"])]
    data = th.PairedComparisons.from_trials(frame, subject="subject")
    counts = dict(zip(data.labels, _judged_by(data).tolist(), strict=True))
    assert counts == {"a": 2, "b": 12, "c": 12, "d": 12} and counts["a"] < FEW < counts["b"]


@pytest.mark.fit
def test_chains_with_a_power_have_the_posterior_of_quadrature():
    frame = pd.DataFrame(
        [(f"p{k}", "a", "b", "first" if k < 6 else "second") for k in range(8) for _ in range(3)],
        columns=["subject", "first", "second", "chosen"],
    )
    data = th.PairedComparisons.from_trials(frame, subject="subject")
    model = th.EliminationByAspects("unique", people="adjusted", tempering=False)
    model.fit(data, draws=4000, tune=500, chains=4, random_seed=1, progressbar=False)
    found = Posterior(model.posterior_).dependence
    assert found.by == POWER and 2.0 < found.effect < 4.0  # three answers that are one
    share = (np.arange(20_000) + 0.5) / 20_000  # of Gamma(1, 1) worths
    p = 0.99 * share + 0.005
    density = np.exp(found.power * (18 * np.log(p) + 6 * np.log(1 - p)))
    mean = (density * p).sum() / density.sum()
    sd = np.sqrt((density * p**2).sum() / density.sum() - mean**2)
    row = model.summary().loc["choice_probability[a, b]"]
    assert abs(row["mean"] - mean) < 4 * row["mcse_mean"] and row["sd"] == pytest.approx(sd, rel=0.05)
    logs = model.posterior_["posterior"]["log_likelihood"].values.ravel()
    drawn = model.posterior_["posterior"]["choice_probability"].values.ravel()
    base = logs - 18 * np.log(drawn) - 6 * np.log(1 - drawn)
    assert np.ptp(base) < 1e-5  # the log-likelihood is that of the data, whatever the power


# what is made of people, by default and as asked for -----------------------------------------------------------------


def once(people=10):
    return th.PairedComparisons.from_trials(
        answers(people=people, times=1).groupby("subject").head(1), subject="subject"
    )


def mostly_once():
    frame = answers(people=30, times=1)
    frame = frame.groupby("subject").head(1)
    return th.PairedComparisons.from_trials(pd.concat([frame, frame.head(5)]), subject="subject")


def unknown():
    return th.PairedComparisons.from_trials(answers().drop(columns="subject"))


MADE = {  # data, what is asked for, method: what is made of people, by what
    "known": (comparisons, None, "laplace", (ADJUSTED, SCORES)),
    "asked": (comparisons, "independent", "laplace", (INDEPENDENT, "")),
    "few people": (lambda: comparisons(people=5), None, "laplace", (ADJUSTED, POWER)),
    "chains": (comparisons, None, "mcmc", (INDEPENDENT, "")),
    "chains, asked": (comparisons, "adjusted", "mcmc", (ADJUSTED, POWER)),
    "one person": (lambda: comparisons(people=1), None, "laplace", (INDEPENDENT, "")),
    "one answer each": (once, None, "laplace", (INDEPENDENT, "")),
    "one answer each, asked": (once, "adjusted", "laplace", (INDEPENDENT, "")),
    "few answered twice": (mostly_once, None, "laplace", (INDEPENDENT, "")),
    "few answered twice, asked": (mostly_once, "adjusted", "laplace", (ADJUSTED, SCORES)),
    "numbers with gaps": (lambda: comparisons(numbers=True), None, "laplace", (ADJUSTED, SCORES)),
    "ties": (lambda: comparisons(ties=True), None, "laplace", (ADJUSTED, SCORES)),
    "nobody known": (unknown, None, "laplace", None),
}


def made_of(data, people, method):
    model = th.EliminationByAspects("unique", method=method, people=people)
    source = model._as_data(data)
    parts = model._parts(source)
    if method == "mcmc":
        return model._dependence(source, parts)
    return worths_of(people, source, density_of(source, 0.01, parts["likelihood"].ties))[1]


@pytest.mark.fit
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_people(name):
    make, people, method, expected = MADE[name]
    found = made_of(make(), people, method)
    assert (None if found is None else (found.model, found.by)) == expected


@pytest.mark.fit
def test_groups_take_the_power_of_all_their_people():
    model = th.EliminationByAspects("unique", people="adjusted", tempering=False)
    source = model._as_data({"A": comparisons(seed=1, times=4), "B": comparisons(seed=2, times=4)})
    parts = model._parts(source)
    made = model._dependence(source, parts)
    assert (made.by, made.number) == (POWER, 40) and made.power < 0.8
    task = model._population(source).task(source, 10, 10, 1, parts | {"power": made.power})
    assert task.temperatures == pytest.approx((1.0 / made.power,))


@pytest.mark.fit
def test_a_person_with_all_ties_counts_where_ties_do():
    frame = answers(people=12)
    frame.loc[frame["subject"] == "p3", "chosen"] = "tie"
    data = th.PairedComparisons.from_trials(frame, subject="subject")
    assert made_of(data, None, "laplace").number == 12
    assert made_of(data.without_ties("drop"), None, "laplace").number == 11


SAID = {
    "one answer each": (once, "Each of 10 people answered once: there is nothing to adjust."),
    "one person": (
        lambda: comparisons(people=1),
        "All 12 answers are of one person, of whom alone the intervals speak.",
    ),
}


@pytest.mark.fit
@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_adjusted_is_said(name):
    make, sentence = SAID[name]
    found = made_of(make(), None, "laplace")
    assert str(found.sentence) == sentence and found.warning is None and found.is_good is None


def test_one_answer_each_hardly_tells_how_alike_people_are():
    said = [str(dependence_of_everybody(th.Groups(of.by_subject())).sentence) for of in (once(), comparisons())]
    assert ["hardly tell how alike people are" in sentence for sentence in said] == [True, False]


REFUSED = {
    "another word": (comparisons, {"people": "clustered"}, "people must be one of None, 'independent', 'adjusted'"),
    "nobody known": (unknown, {"people": "adjusted"}, "do not say of every answer who gave it, and people='adjusted'"),
    "one person": (
        lambda: comparisons(people=1),
        {"people": "adjusted"},
        "All answers are of one person, and people='adjusted'",
    ),
    "nobody known, random": (unknown, {"people": "random"}, "do not say who"),
    "one person, random": (lambda: comparisons(people=1), {"people": "random"}, "All answers are of one person"),
    "groups, random": (
        lambda: {"A": comparisons(), "B": comparisons(seed=1)},
        {"people": "random"},
        "are of several; give those of one.",
    ),
    "other weights": (comparisons, {"people": "random", "weights": "free"}, "means weights='similar' of people"),
    "kinds": (comparisons, {"people": "random", "kinds": 2}, "kinds are a model of people"),
    "kinds, adjusted": (comparisons, {"people": "adjusted", "kinds": 2}, "kinds are a model of people"),
    "published sampler": (
        comparisons,
        {"people": "adjusted", "sampler": "paper", "aspects": "ibp"},
        "knows no power of the likelihood",
    ),
    "laplace, random": (
        comparisons,
        {"people": "random", "method": "laplace"},
        "people='random' has draws by method='mcmc' alone; set it, or people='adjusted'",
    ),
    "estimates": (
        comparisons,
        {"people": "adjusted", "method": "maximum-likelihood"},
        "people belongs to method='mcmc'",
    ),
}


@pytest.mark.fit
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_sentence(name):
    make, settings, match = REFUSED[name]
    model = th.EliminationByAspects(**{"aspects": "unique", **settings})
    with pytest.raises((ArgumentError, DataError), match=match):
        model.fit(make(), **({} if settings.get("method") == "maximum-likelihood" else QUICK))


@pytest.mark.fit
def test_covariates_and_random_are_refused():
    frame = answers().assign(length=np.linspace(-1, 1, 240))
    data = th.PairedComparisons.from_trials(frame, subject="subject", covariates=["length"])
    with pytest.raises(ArgumentError, match="people='random' is not modelled for comparisons with covariates"):
        th.EliminationByAspects("unique", people="random").fit(data, **QUICK)
    assert made_of(data, "adjusted", "mcmc").by == POWER


# fits ---------------------------------------------------------------------------------------------------------------


def laplace(data, **settings):
    return th.EliminationByAspects("unique", method="laplace", **settings).fit(data, **{**QUICK, "tune": 1000})


@pytest.mark.fit
def test_the_verdict_says_how_many_times_too_narrow(tmp_path):
    data = comparisons(people=30, times=4)
    model = laplace(data, people="independent")
    found, verdict = Posterior(model.posterior_).dependence, model.verdict()
    times = np.sqrt(found.effect)
    assert not verdict.good and f"Intervals are about {times:.2g} times too narrow for statements about people" in str(
        verdict
    )
    assert str(verdict).endswith("set people='adjusted', or people='random'.")
    assert model.findings()["independence"].verdict is False and model.findings()["verdict"].verdict == verdict.agrees
    adjusted = laplace(data)
    assert adjusted.verdict().people is None and adjusted.findings()["independence"].verdict is True
    assert "H⁻¹VH⁻¹" in " ".join(map(str, adjusted.findings()["methods"].notes))
    model.save(tmp_path / "fit.nc")
    assert Posterior(th.load(tmp_path / "fit.nc").posterior_).dependence == found


@pytest.mark.fit
def test_nothing_is_said_of_a_small_effect():
    found = made_of(comparisons(people=60, spread=0.0, times=4, seed=3), "independent", "laplace")
    assert found.effect < 1.1 and found.warning is None and found.sentence is None and found.is_good is None


@pytest.mark.fit
def test_a_fit_of_a_time_without_people_stays_what_it_was(tmp_path, monkeypatch):
    data = comparisons(people=30)
    before = laplace(data, people="independent")
    monkeypatch.setattr(type(before), "get_params", lambda self, deep=True: {"aspects": "unique", "method": "laplace"})
    before.save(tmp_path / "old.nc")
    monkeypatch.undo()
    loaded = th.load(tmp_path / "old.nc")
    assert loaded.people == "independent"
    longer = th.EliminationByAspects("unique", method="laplace", people="independent")
    longer.fit(data, **{**QUICK, "tune": 1000, "draws": 60})
    went_on = loaded.continue_fit(20, progressbar=False).posterior_["posterior"]["unique_weights"].values
    np.testing.assert_array_equal(went_on, longer.posterior_["posterior"]["unique_weights"].values)
    assert dependence_in({}) is None


@pytest.mark.fit
def test_an_adjusted_fit_goes_on_as_a_longer_one():
    data = comparisons(people=30)
    whole = laplace(data, people="adjusted").continue_fit(20, progressbar=False)
    longer = th.EliminationByAspects("unique", method="laplace").fit(data, **{**QUICK, "tune": 1000, "draws": 60})
    for name in ("unique_weights", "log_likelihood"):
        np.testing.assert_array_equal(*(m.posterior_["posterior"][name].values for m in (whole, longer)))


@pytest.mark.fit
def test_a_job_of_a_time_without_people_is_not_mixed(tmp_path, monkeypatch):
    data = comparisons(people=30)
    from thali.aspects import bradley_terry

    monkeypatch.setattr(bradley_terry, "ADJUSTED", "nothing")  # so that the job does not note it
    settings = {**QUICK, "tune": 1000, "job": tmp_path / "job"}
    th.EliminationByAspects("unique", method="laplace").fit(data, **settings)
    monkeypatch.undo()
    with pytest.raises(DataError, match="was begun with people=None, and this fit has people='adjusted'"):
        th.EliminationByAspects("unique", method="laplace").fit(data, **settings)


@pytest.mark.fit
def test_evidence_and_the_prior_know_no_power():
    model = th.EliminationByAspects("unique", people="adjusted")
    assert "power" not in model._evidence_parts(comparisons()) and "power" not in model._parts(comparisons())


# people of whom each has weights of their own ------------------------------------------------------------------------


@pytest.mark.fit
def test_what_weights_vary_about_is_recorded(uncompiled):
    """The last record of a chain that has just made it."""
    model = th.EliminationByAspects(people="random")
    source = model._as_data(comparisons(people=3, options=3))
    task = model._population(source).task(source, 4, 2, 1, model._parts(source))
    chain = task.chain(np.random.default_rng(3))
    chain.run_to(chain.total)
    drawn, last = chain.draws, chain.ladder.at[0]
    columns = int(drawn.n_features[-1])
    np.testing.assert_array_equal(drawn.unique_weights[-1, 3], chain.bases.own[last])
    owned = chain.state.m[0][: int(chain.state.whole[0, COLUMNS])] > 0
    np.testing.assert_array_equal(
        drawn.weights[len(drawn.weights) - columns :, 3], chain.bases.v[last][: len(owned)][owned]
    )
    np.testing.assert_array_equal(drawn.unique_weights[-1, 1], chain.state.s[1][:3])


def test_choice_probabilities_of_new_people_are_means_over_them():
    """Of two draws with a shared aspect, against people that are simulated one by one."""
    own = np.array([[1.0, 0.5, 2.0], [0.3, 0.3, 1.0]])
    columns = Columns(np.array([1, 2]), np.array([1.5, 0.7, 0.4]), np.array([2, 2, 1]), np.array([0, 1, 1, 2, 0]), own)
    features = [np.array([[1], [1], [0]]), np.array([[0, 1], [1, 0], [1, 0]])]
    shared, kappa = [np.array([1.5]), np.array([0.7, 0.4])], np.array([1.5, 6.0])
    found = mean_of_new(Population(columns, kappa), 0.02)
    rng = np.random.default_rng(1)
    for draw in range(2):
        people = rng.gamma(kappa[draw], 1 / kappa[draw], (3000, 3 + len(shared[draw])))
        own_of, shared_of = people[:, :3] * own[draw], people[:, 3:] * shared[draw]
        for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            each = [
                naive.pair_probability(i, j, features[draw], w, u, 0.02) for w, u in zip(shared_of, own_of, strict=True)
            ]
            error = np.std(each) * (1 / np.sqrt(3000) + 0.1 / np.sqrt(64))  # a hypercube has little of its own
            assert abs(found[draw, pair] - np.mean(each)) < 5 * error


@pytest.mark.fit
def test_everybody_has_weights_of_their_own(uncompiled, tmp_path):
    data = comparisons(people=4)
    run = {"draws": 4, "tune": 1, "thin": 1, "chains": 1, "random_seed": 1, "progressbar": False}
    model = th.EliminationByAspects("unique", people="random").fit(data, **run)
    assert model.groups_ == tuple(data.subjects) and Posterior(model.posterior_).dependence.model == RANDOM
    similar = th.EliminationByAspects("unique", weights="similar")
    of_people, of_groups = (
        each._task(each._as_data(given), 1, 0, 1).model._replace(prior=None)
        for each, given in ((model, data), (similar, data.by_subject()))
    )
    assert of_people.persons and not of_groups.persons and np.isnan(of_people.kappa)
    for one, other in zip(of_people.likelihood, of_groups.likelihood, strict=True):
        np.testing.assert_array_equal(one, other)
    nothing = {"likelihood": None, "persons": None, "kappa": None, "known": None}
    assert of_people._replace(**nothing) == of_groups._replace(**nothing)
    posterior = model.posterior_["posterior"]
    rows = ["n_features", "log_likelihood", "kappa"]
    rows += [f"choice_probability[{a}, {b}]" for a, b in combinations(data.labels, 2)]
    assert model.summary().index.tolist() == rows
    np.testing.assert_allclose(posterior["common_worth"].sum("option"), 1.0)
    best = posterior["common_worth"].mean(("chain", "draw")).idxmax().item()
    assert model.ranks().index[0] == best or model.ranks()["rank"].iloc[0] <= 2.5
    assert "Each of 4 people had weights of their own" in " ".join(map(str, model.findings()["methods"].notes))
    assert model.findings()["ranks"].question == "Which options do people prefer?"
    assert model._quicker(data) == Setting("people", "adjusted")  # named where thousands of people take long
    model.save(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(th.load(tmp_path / "fit.nc").ranks(), model.ranks())
    shorter = th.EliminationByAspects("unique", people="random").fit(data, **{**run, "draws": 2})
    shorter.continue_fit(2, progressbar=False)
    for name in ("common_worth", "population_probability"):
        np.testing.assert_array_equal(shorter.posterior_["posterior"][name], posterior[name])
    with pytest.raises(ArgumentError, match="people='random' needs method='mcmc'"):
        th.leaderboard(data, people="random", progressbar=False)
    with pytest.raises(ArgumentError, match="which with people='random' depends on who answered so far"):
        model.update(data)


@pytest.mark.fit
def test_an_adjusted_fit_is_not_updated():
    model = laplace(comparisons(people=30))
    with pytest.raises(ArgumentError, match="which with people='adjusted' depends on who answered so far"):
        model.update(th.PairedComparisons.from_pairs([("a", "b")]))
