"""The hierarchical logit: every conditional against a naive joint density, quadrature, a joint test, predictions."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from experiment_data import camera, simulated
from real_data import needs_data
from scipy import stats

import thali as th
from thali.errors import ArgumentError, ConvergenceWarning, DataError, NotFittedError
from thali.inference.chains import run_chains
from thali.inference.seeds import streams
from thali.model.choice_logits.hierarchical_chain import Chain, Prior, problem_of, start_of
from thali.model.choice_logits.hierarchical_draws import NEW_PEOPLE, mean_probabilities, new_people
from thali.model.choice_logits.hierarchical_sweep import (
    Draws,
    draw_covariance,
    draw_mean,
    log_density,
    log_likelihood_of,
    run,
)
from thali.model.choice_logits.logit import Tasks, probabilities
from thali.testing.naive_choice_models import hierarchical_log_joint

SILENT = SimpleNamespace(note=lambda text: None, update=lambda done: None)
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")


def design(people=3, tasks=2, alternatives=3, p=2, seed=5):
    rng = np.random.default_rng(seed)
    n = people * tasks
    first_row = np.arange(n + 1) * alternatives
    chosen = first_row[:-1] + rng.integers(alternatives, size=n)
    return Tasks(rng.normal(size=(n * alternatives, p)), first_row, chosen), np.arange(people + 1) * tasks


def naive_tasks(problem):
    def task(t):
        first, last = problem.first_row[t], problem.first_row[t + 1]
        return problem.matrix[first:last], problem.chosen_row[t] - first

    spans = zip(problem.first_task, problem.first_task[1:], strict=False)
    return [[task(t) for t in range(first, last)] for first, last in spans]


@pytest.fixture(scope="module")
def small():
    """A problem, a state away from its start, and the naive joint density of changes of it."""
    problem, pooled = problem_of(*design(), Prior(7.0, 0.8, 1.5))
    state = start_of(problem, pooled, np.random.default_rng(1))
    state.covariance[:] = [[1.3, 0.4], [0.4, 0.7]]
    state.precision[:] = np.linalg.inv(state.covariance)

    def joint(beta=state.beta, mean=state.mean, covariance=state.covariance):
        return hierarchical_log_joint(naive_tasks(problem), beta, mean, covariance, 7.0, 7.0 * 0.8, 1.5)

    return problem, state, joint


class Normals:
    """A stream of normals that are all 0 but for one of them."""

    def __init__(self, one=None):
        self.one, self.drawn = one, -1

    def standard_normal(self):
        self.drawn += 1
        return float(self.drawn == self.one)


def test_proposals_are_weighed_by_the_joint_density(small):
    problem, state, joint = small
    beta = state.beta.copy()
    beta[1] += [0.7, -1.1]
    before = log_likelihood_of(problem, state.beta[1], 1) + log_density(state, state.beta[1])
    after = log_likelihood_of(problem, beta[1], 1) + log_density(state, beta[1])
    assert after - before == pytest.approx(joint(beta=beta) - joint(), rel=1e-12)
    assert log_likelihood_of(problem, state.beta[2], 2) == pytest.approx(state.log_likelihood[2], rel=1e-12)


def test_large_utilities_neither_overflow_nor_vanish(small):
    problem, *_ = small
    far = np.array([3000.0, -2000.0])
    value = log_likelihood_of(problem, far, 0)
    u = (problem.matrix @ far)[: problem.first_row[2]].reshape(2, 3)
    own = (problem.matrix @ far)[problem.chosen_row[:2]]
    assert np.isfinite(value) and value == pytest.approx((own - u.max(axis=1)).sum(), rel=1e-9)


def test_the_mean_is_drawn_from_its_conditional(small):
    """A normal: where the noise is 0 the joint density is flat, and its curvature is that of the noise's square."""
    problem, state, joint = small
    was = state.mean.copy()
    draw_mean(Normals(), problem, state)
    centre = state.mean.copy()
    noise = []
    for one in range(2):
        draw_mean(Normals(one), problem, state)
        noise.append(state.mean - centre)
    state.mean[:] = was
    precision = np.linalg.inv(np.array(noise).T @ np.array(noise))
    for change in ([0.3, 0.0], [-0.2, 0.5], [1.0, 1.0]):
        drop = joint(mean=centre) - joint(mean=centre + change)
        assert drop == pytest.approx(0.5 * np.array(change) @ precision @ change, rel=1e-9)


def test_the_covariance_is_drawn_from_its_conditional(small):
    """An inverse Wishart: the naive joint density names its scale, scipy the mean and variance of each entry."""
    problem, state, joint = small
    off = state.beta - state.mean
    scale, df = problem.scale * np.eye(2) + off.T @ off, 7.0 + 3
    other = np.array([[0.9, -0.3], [-0.3, 2.0]])
    prior = stats.invwishart(df, scale)
    assert joint(covariance=other) - joint() == pytest.approx(prior.logpdf(other) - prior.logpdf(state.covariance))
    was = state.covariance.copy(), state.precision.copy()
    rng, draws = np.random.default_rng(2), []
    for _ in range(20_000):
        draw_covariance(rng, problem, state)
        draws.append(state.covariance[np.tril_indices(2)])
    assert state.precision @ state.covariance == pytest.approx(np.eye(2), abs=1e-9)
    state.covariance[:], state.precision[:] = was
    mean, variance = prior.mean()[np.tril_indices(2)], prior.var()[np.tril_indices(2)]
    draws = np.array(draws)
    assert np.abs((draws.mean(axis=0) - mean) / np.sqrt(variance / len(draws))).max() < 4
    # E[ln |Sigma|] = ln |scale| - sum of digamma((df - i)/2) - p ln 2
    from scipy.special import digamma, polygamma

    logs = np.log(draws[:, 0] * draws[:, 2] - draws[:, 1] ** 2)
    halves = (df - np.arange(2)) / 2
    wanted = np.log(np.linalg.det(scale)) - digamma(halves).sum() - 2 * np.log(2)
    assert abs(logs.mean() - wanted) < 4 * np.sqrt(polygamma(1, halves).sum() / len(logs))


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


def test_joint_distribution():
    """Sweeps and new choices in turn leave the prior (Geweke): no score beyond 4.5, a false alarm in 1e4."""
    df, scale, sd, p = 9.0, 0.7, 1.2, 2
    problem, pooled = problem_of(*design(), Prior(df, scale, sd))
    state = start_of(problem, pooled, np.random.default_rng(3))
    rng = np.random.default_rng(4)
    kept = Draws(np.empty((1, p)), np.empty((1, p, p)), np.empty((1, 3, p)), np.empty(1))
    starts, found = problem.first_row[:-1], []
    task_of_row = np.repeat(np.arange(6), 3)
    for _ in range(20_000):
        run(rng, problem, state, kept, 0, 2, 0, 10)
        utilities = (problem.matrix * state.beta[task_of_row // 2]).sum(axis=1)
        u = (utilities + rng.gumbel(size=len(utilities))).reshape(-1, 3)
        problem.chosen_row[:] = starts + u.argmax(axis=1)
        logs = np.log(probabilities(utilities, task_of_row))[problem.chosen_row]
        state.log_likelihood[:] = logs.reshape(3, 2).sum(axis=1)
        (a, c), (_, b) = state.covariance
        mean, beta = state.mean, state.beta
        found.append(
            [*mean, *mean**2, mean[0] * mean[1], a, b, c, np.log(a * b - c * c), *np.diag(state.precision)]
            + [*beta.mean(axis=0), *(beta**2).mean(axis=0), (beta[0] * beta[1])[0], (beta[:, 0] * beta[:, 1]).mean()]
        )
    from scipy.special import digamma

    v = df * scale / (df - p - 1)
    log_det = p * np.log(df * scale) - digamma((df - np.arange(p)) / 2).sum() - p * np.log(2)
    wanted = [0, 0, sd**2, sd**2, 0, v, v, 0, log_det, 1 / scale, 1 / scale]
    wanted += [0, 0, sd**2 + v, sd**2 + v, sd**2, 0]
    draws = np.array(found)
    errors = [float(array_stats.mcse(column[None, None], method="mean")[0]) for column in draws.T]
    scores = (draws.mean(axis=0) - wanted) / errors
    assert np.abs(scores).max() < 4.5, scores.round(1)


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
