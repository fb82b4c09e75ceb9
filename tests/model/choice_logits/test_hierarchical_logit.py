"""The hierarchical logit: every conditional against a naive joint density, quadrature, a joint test, predictions."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from experiment_data import camera, simulated
from real_data import needs_data

import thali as th
from thali.errors import ArgumentError, ConvergenceWarning, DataError, NotFittedError
from thali.inference.chains import run_chains
from thali.inference.seeds import streams
from thali.model.choice_logits.hierarchical_chain import Chain, Prior, problem_of
from thali.model.choice_logits.hierarchical_draws import NEW_PEOPLE, mean_probabilities, new_people
from thali.model.choice_logits.logit import Tasks, probabilities

SILENT = SimpleNamespace(note=lambda text: None, update=lambda done: None)
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")


def test_a_tiny_problem_against_quadrature():
    """Two people, one coefficient: E[mu], E[ln sigma^2] and both tastes within 4 Monte Carlo standard errors."""
    x = np.array([0.0, 1.0] * 5)
    tasks = Tasks(x[:, None], np.arange(6) * 2, np.array([1, 3, 5, 6, 9]))  # chosen: 1 1 1 | 0 1
    first_task, df, scale, sd = np.array([0, 3, 5]), 5.0, 0.6, 1.2
    problem, pooled = problem_of(tasks, first_task, Prior(df, scale, sd))
    mu, log_variance = np.linspace(-7, 7, 101)[:, None, None], np.linspace(-5, 5.5, 101)[None, :, None]
    b = np.linspace(-14, 14, 281)[None, None, :]
    variance = np.exp(log_variance)
    density = np.exp(-0.5 * (b - mu) ** 2 / variance) / np.sqrt(variance)
    p = 1 / (1 + np.exp(-b))
    inner = [density * p**3, density * p * (1 - p)]
    population = np.exp(-0.5 * (mu / sd) ** 2 - 0.5 * df * log_variance - 0.5 * df * scale / variance)[..., 0]
    likelihood = [each.sum(axis=2) for each in inner]
    weight = population * likelihood[0] * likelihood[1]
    total = weight.sum()
    wanted = {
        "mean": (weight * mu[..., 0]).sum() / total,
        "log variance": (weight * log_variance[..., 0]).sum() / total,
        "first": (population * likelihood[1] * (inner[0] * b).sum(axis=2)).sum() / total,
        "second": (population * likelihood[0] * (inner[1] * b).sum(axis=2)).sum() / total,
    }
    chains = [Chain(problem, pooled, rng, 2500, 200, 10) for rng in streams(3, 4)]
    run_chains(chains, 2, SILENT)
    found = {
        "mean": [c.record.mean[:, 0] for c in chains],
        "log variance": [np.log(c.record.covariance[:, 0, 0]) for c in chains],
        "first": [c.record.beta[:, 0, 0] for c in chains],
        "second": [c.record.beta[:, 1, 0] for c in chains],
    }
    for name, draws in found.items():
        draws = np.array(draws)
        error = float(array_stats.mcse(draws[None], method="mean")[0])
        assert error < 0.05
        assert abs(draws.mean() - wanted[name]) < 4 * error, (name, draws.mean(), wanted[name], error)


@pytest.fixture(scope="module")
def fitted():
    train, test = th.ChoiceExperiment.from_frame(simulated(people=80, tasks=12, sd=2.0)).split(tasks=3)
    model = th.HierarchicalLogit().fit(train, draws=60, tune=60, thin=10, random_seed=1, progressbar=False)
    return model, train, test


def test_people_are_predicted_better_by_their_own_tastes(fitted):
    model, train, test = fitted
    chosen = test.first_row[:-1] + test.chosen
    scores = np.log(model.predict_proba(test)[chosen]) - np.log(
        th.MultinomialLogit().fit(train).predict_proba(test)[chosen]
    )
    by_person = scores.reshape(80, 3).mean(axis=1)
    assert by_person.mean() > 4 * by_person.std() / np.sqrt(80)


def test_predictions_are_averages_over_draws(fitted):
    model, train, test = fitted
    beta = model.posterior_["posterior"].dataset["beta"].values.reshape(-1, 80, 5)
    assert list(model.coef_.index) == ["price[15]", "price[25]", "brand[B]", "brand[C]", "zoom[yes]"]
    assert model.individual_.to_numpy() == pytest.approx(beta.mean(axis=0))
    rows = test.to_frame()
    p = model.predict_proba(rows)
    first = rows["id"] == "p7"
    codes = test.products[test.row_product][first]
    x = np.column_stack([codes[:, 0] == 1, codes[:, 0] == 2, codes[:, 1] == 1, codes[:, 1] == 2, codes[:, 2] == 1])
    by_hand = probabilities(x @ beta[:, 7].T, np.repeat([0, 1, 2], 3)).mean(axis=1)
    assert p[first] == pytest.approx(by_hand, rel=1e-12)
    order = np.random.default_rng(0).permutation(len(rows))
    assert model.predict_proba(rows.iloc[order]) == pytest.approx(p[order], rel=1e-12)
    assert np.array_equal(model.predict_proba(test), model.predict_proba(test))


def test_new_people_are_drawn_from_the_population(fitted):
    """Of one draw 20,000 times over: mean and covariance of the tastes, and the probability, within 4 errors."""
    means = np.tile([1.0, -0.5], (1, 20_000, 1))
    covariances = np.tile([[2.0, -0.6], [-0.6, 0.5]], (1, 20_000, 1, 1))
    tastes = new_people(means, covariances, 3)
    n = 20_000 * NEW_PEOPLE
    assert tastes.shape == (n, 2)
    assert np.abs(tastes.mean(axis=0) - [1.0, -0.5]).max() < 4 * np.sqrt(2.0 / n)
    assert np.abs(np.cov(tastes.T) - covariances[0, 0]).max() < 4 * np.sqrt(2.0 * 2.0**2 / n)
    model, _, test = fitted
    strangers = model.predict_proba(test.to_frame().assign(id=lambda f: "new " + f["id"].astype(str)))
    assert np.add.reduceat(strangers, test.first_row[:-1]) == pytest.approx(1.0)
    assert not np.allclose(strangers, model.predict_proba(test), atol=0.05)
    posterior = model.posterior_
    x = np.array([[1.0, 0, 0, 0, 0], [0, 0, 1.0, 0, 1]])
    nobody, zeros = np.array([-1, -1]), np.zeros(2, int)
    once, again = (mean_probabilities(posterior, x, zeros, nobody, seed) for seed in (1, 2))
    assert once == pytest.approx(again, abs=0.1) and not np.array_equal(once, again)


def test_same_seed_same_draws_on_any_number_of_cores(fitted):
    _, train, _ = fitted
    budget = {"draws": 6, "tune": 3, "thin": 2, "random_seed": 5, "progressbar": False}
    one, two = (th.HierarchicalLogit().fit(train, cores=cores, **budget) for cores in (1, 2))
    assert one.posterior_["posterior"].dataset.equals(two.posterior_["posterior"].dataset)
    assert np.array_equal(one.predict_proba(train), two.predict_proba(train))


def test_units_of_a_number_do_not_matter(fitted):
    rows = simulated(people=10)
    budget = {"draws": 20, "tune": 10, "random_seed": 5, "progressbar": False}
    data = th.ChoiceExperiment.from_frame(rows)
    cents = th.ChoiceExperiment.from_frame(rows.assign(price=100 * rows["price"]))
    one, two = (th.HierarchicalLogit("price").fit(each, **budget) for each in (data, cents))
    assert one.coef_["price"] == pytest.approx(100 * two.coef_["price"], rel=1e-6)
    assert one.predict_proba(data) == pytest.approx(two.predict_proba(cents), rel=1e-6)


def test_summary_and_its_verdict(fitted):
    model, train, _ = fitted
    rows = list(model.summary().index)
    assert rows[:2] == ["share[price=15]", "share[price=25]"] and rows[5] == "effect[price: 15 over 5]"
    assert len(rows) == 10 and list(model.population().index)[:2] == ["mean[price[15]]", "mean[price[25]]"]
    p, level = model.predict_proba(train), train.products[train.row_product, 0]
    np.testing.assert_allclose(model.summary()["mean"].iloc[0], p[level == 1].sum() / train.n_tasks, rtol=1e-9)
    beta = model.posterior_["posterior"]["beta"].values[..., 0]
    np.testing.assert_allclose(model.summary()["mean"].iloc[5], (1 / (1 + np.exp(-beta))).mean(), rtol=1e-9)
    assert 0.2 < float(model.posterior_["sample_stats"].dataset["acceptance_rate"].mean()) < 0.4
    with pytest.warns(ConvergenceWarning, match="chains") as messages:
        th.HierarchicalLogit().fit(train, draws=8, tune=2, thin=1, random_seed=1, progressbar=False)
    assert messages[0].filename == __file__


BAD = [
    ({"mean_sd": 0}, {}, "mean_sd is the prior standard deviation of a mean taste and must be a finite number above 0"),
    ({"scale": -1}, {}, "scale is the prior size of a variance among people and must be a finite number above 0"),
    ({"df": 6}, {}, "df must be 7 or more for 5 coefficients; got 6."),
    ({}, {"draws": 0}, "draws must be a whole number of 1 or more; got 0."),
    ({}, {"chains": 0}, "chains must be a whole number of 1 or more; got 0."),
    ({}, {"random_seed": -1}, "random_seed must be a whole number of 0 or more; got -1."),
]


@pytest.mark.parametrize(("arguments", "settings", "sentence"), BAD)
def test_bad_arguments(arguments, settings, sentence, fitted):
    with pytest.raises(ArgumentError) as caught:
        th.HierarchicalLogit(**arguments).fit(fitted[1], **settings)
    assert str(caught.value).startswith(sentence)


def test_bad_data():
    with pytest.raises(DataError, match="needs a ChoiceExperiment; got list"):
        th.HierarchicalLogit().fit([])
    with pytest.raises(NotFittedError, match="not been fitted yet"):
        th.HierarchicalLogit().predict_proba(simulated())


@needs_data
@pytest.mark.long
def test_camera_within_its_budget():
    """100 people and 12 tasks; on another draw of them the specification has -.774, multinomial -1.243."""
    _, people = camera().split(respondents=100, random_seed=1)
    train, test = people.split(tasks=4)
    th.HierarchicalLogit().fit(train, draws=1, tune=1, thin=1)  # compiled
    began = time.process_time()
    model = th.HierarchicalLogit().fit(train, random_seed=1, progressbar=False)
    assert time.process_time() - began < 15
    chosen = test.first_row[:-1] + test.chosen
    assert np.log(model.predict_proba(test)[chosen]).mean() == pytest.approx(-0.774, abs=0.1)
    plain = th.MultinomialLogit().fit(train).predict_proba(test)
    assert np.log(plain[chosen]).mean() == pytest.approx(-1.243, abs=0.1)
