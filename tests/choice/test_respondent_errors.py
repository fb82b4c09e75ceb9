"""Errors of logits over respondents, against dense matrices, respondent by respondent."""

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.naive import respondent_scores as naive
from helpers.sentences import refused, said
from scipy.stats import t as student

import thali as th
from thali.errors import ArgumentError, DataError


def unequal(frame, tasks=(1, 2, 8)):
    """The experiment, of which respondents answered unequally many tasks."""
    number = pd.factorize(frame["id"])[0]
    place = frame.groupby("id")["task"].transform(lambda one: pd.factorize(one)[0])
    return frame[place < np.array(tasks)[number % len(tasks)]]


@pytest.fixture(scope="module")
def data():
    frame = unequal(simulate_experiment(n_respondents=14, n_tasks=8, seed=3))
    return th.ChoiceExperiment.from_frame(frame)


def naive_parts(data, model):
    """Gradient and expected information of each respondent, task by task."""
    x = model._coding_.encode_codes(data.products)[data.row_product]
    beta = model.coef_.to_numpy()
    p = len(beta)
    gradients, informations = (
        np.zeros((data.n_respondents, p)),
        np.zeros((data.n_respondents, p, p)),
    )
    for task in range(data.n_tasks):
        rows = x[data.first_row[task] : data.first_row[task + 1]]
        q = np.exp(rows @ beta) / np.exp(rows @ beta).sum()
        who = data.respondent_of_task[task]
        gradients[who] += rows[data.chosen[task]] - q @ rows
        informations[who] += rows.T @ (np.diag(q) - np.outer(q, q)) @ rows
    return gradients, informations


def test_a_multinomial_logit_has_the_sandwich_of_a_loop_over_respondents(data):
    """CR2 of dense matrices, and degrees of freedom of each coefficient from all pairs of
    scores."""
    model = th.MultinomialLogit(linear="price").fit(data)
    gradients, informations = naive_parts(data, model)
    curvature = informations.sum(axis=0)
    expected = naive.sandwich(curvature, informations, gradients)
    np.testing.assert_allclose(model.covariance_, expected, rtol=2e-3, atol=1e-6)  # a series
    degrees = naive.degrees_of_freedom(curvature, informations, gradients, np.eye(len(curvature)))
    np.testing.assert_allclose(model._degrees_, degrees, rtol=1e-4)  # a series
    assert min(degrees) < 6.0 < data.n_respondents - 1
    table = model.summary(ci=0.9)
    half = student.ppf(0.95, model._degrees_) * table["std_error"]
    np.testing.assert_allclose(table["high"] - table["coef"], half, rtol=1e-6)
    np.testing.assert_allclose(
        table["p_value"], 2 * student.sf(np.abs(table["z"]), model._degrees_), rtol=1e-6
    )
    independent = th.MultinomialLogit(linear="price", people="independent").fit(data)
    np.testing.assert_allclose(independent.covariance_, np.linalg.inv(curvature), rtol=1e-6)
    assert independent.coef_.equals(model.coef_) and np.isinf(independent._degrees_).all()
    effect = np.trace(np.linalg.inv(independent.covariance_) @ model.covariance_) / len(curvature)
    assert model._people_.effect == pytest.approx(effect, rel=1e-6)
    assert independent._people_.effect == pytest.approx(effect, rel=1e-6)


def test_amounts_have_degrees_of_freedom_of_their_own(data):
    model = th.MultinomialLogit(linear="price", space="willingness-to-pay").fit(data)
    plain = th.MultinomialLogit(linear="price").fit(data)
    gradients, informations = naive_parts(data, plain)
    beta, names = plain.coef_, list(plain.coef_.index)
    for name in names[1:]:
        contrast = np.zeros(len(beta))
        contrast[names.index(name)] = -1 / beta["price"]
        contrast[names.index("price")] = beta[name] / beta["price"] ** 2
        expected = naive.degrees_of_freedom(
            informations.sum(axis=0), informations, gradients, [contrast]
        )
        assert model._degrees_[names.index(name)] == pytest.approx(expected[0], rel=1e-4)


@pytest.mark.fit
def test_latent_classes_have_the_sandwich_of_numerical_scores():
    """Scores of persons by central differences of the log-likelihood of their choices."""
    frame = unequal(simulate_experiment(n_respondents=60, n_tasks=8, seed=5), (3, 8))
    data = th.ChoiceExperiment.from_frame(frame, attributes=["price", "zoom"])
    model = th.LatentClassLogit(2, linear="price").fit(data, random_seed=1, progressbar=False)
    x = model._coding_.encode_codes(data.products)[data.row_product]
    theta = np.append(np.log(model._sizes_[2] / model._sizes_[1]), model.coef_.to_numpy().ravel())

    def log_likelihoods(theta):
        """Of each person, by hand."""
        sizes = np.array([1.0, np.exp(theta[0])]) / (1.0 + np.exp(theta[0]))
        joint = np.ones((data.n_respondents, 2)) * sizes
        for k, beta in enumerate(theta[1:].reshape(2, -1)):
            for task in range(data.n_tasks):
                rows = x[data.first_row[task] : data.first_row[task + 1]]
                u = np.exp(rows @ beta)
                joint[data.respondent_of_task[task], k] *= u[data.chosen[task]] / u.sum()
        return np.log(joint.sum(axis=1))

    step = 1e-4 * np.array([1.0, 0.1, 1.0, 0.1, 1.0])
    h = np.diag(step)
    scores = np.stack([(log_likelihoods(theta + a) - log_likelihoods(theta - a)) for a in h])
    scores = (scores / (2 * step[:, None])).T
    informations = np.zeros((data.n_respondents, len(h), len(h)))
    for i, a in enumerate(h):
        for j, b in enumerate(h):
            informations[:, i, j] = -(
                log_likelihoods(theta + a + b)
                - log_likelihoods(theta + a - b)
                - log_likelihoods(theta - a + b)
                + log_likelihoods(theta - a - b)
            ) / (4 * step[i] * step[j])
    curvature = informations.sum(axis=0)
    half, back = naive.power(curvature, -0.5), naive.power(curvature, 0.5)
    shares = np.array([naive.power(half @ one @ half, 1.0) for one in informations])
    scale = naive.power(shares.sum(axis=0), -0.5)
    positive = [back @ scale @ one @ scale @ back for one in shares]
    expected = naive.sandwich(curvature, positive, scores)
    np.testing.assert_allclose(np.diag(model.covariance_), np.diag(expected), rtol=3e-3)
    degrees = naive.degrees_of_freedom(curvature, positive, scores, np.eye(len(h)))
    np.testing.assert_allclose(model._degrees_, degrees, rtol=1e-3)
    independent = th.LatentClassLogit(2, linear="price", people="independent").fit(
        data, random_seed=1, progressbar=False
    )
    np.testing.assert_allclose(
        np.diag(independent.covariance_), np.diag(np.linalg.inv(curvature)), rtol=1e-3
    )
    spread = model._build_chooser().tastes[1:].std(axis=0) / independent._build_chooser().tastes[
        1:
    ].std(axis=0)
    wide = np.sqrt(np.diag(model.covariance_) / np.diag(independent.covariance_))[1:].reshape(2, -1)
    np.testing.assert_allclose(spread, wide, rtol=0.25)
    said(model.findings()["independence"].sentence, "330 answers", "60 respondents")


@pytest.mark.parametrize("model", [th.MultinomialLogit, th.LatentClassLogit])
def test_what_people_cannot_be(model, data):
    with refused(ArgumentError, "people", "'individual'"):
        model(people="individual").fit(data)
    with refused(ArgumentError, "people", "Individuals()"):
        model(people=th.people.Individuals()).fit(data)
    one = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=1, n_tasks=8, seed=3))
    with refused(DataError, "people='adjusted'", "one"):
        th.MultinomialLogit(people="adjusted").fit(one)


def test_one_respondent_and_one_task_each_are_said():
    frame = simulate_experiment(n_respondents=1, n_tasks=20, seed=4)
    one = th.MultinomialLogit(linear="price").fit(th.ChoiceExperiment.from_frame(frame))
    said(one.findings()["independence"].sentence, "All 20 answers", "this respondent only")
    frame = frame.assign(id=frame["task"])
    each = th.MultinomialLogit(linear="price").fit(th.ChoiceExperiment.from_frame(frame))
    said(each.findings()["independence"].sentence, "answered once")
    pd.testing.assert_frame_equal(one.summary(), each.summary())


def test_what_is_derived_uses_the_covariance_over_respondents(data):
    market = pd.DataFrame({"price": [10, 20], "brand": ["A", "B"], "zoom": ["no", "yes"]})
    adjusted, independent = (
        th.MultinomialLogit(linear="price", people=people).fit(data)
        for people in ("adjusted", "independent")
    )
    wider = np.sqrt(np.diag(adjusted.covariance_) / np.diag(independent.covariance_)).mean()
    for table in (
        lambda model: model.market_shares(market).filter(["share_low", "share_high"]),
        lambda model: model.level_effects()[["low", "high"]],
        lambda model: model.willingness_to_pay("price")[["wtp_low", "wtp_high"]].iloc[:1],
    ):
        widths = [np.ptp(table(model).to_numpy(), axis=1) for model in (adjusted, independent)]
        assert 0.8 < np.mean(widths[0] / widths[1]) / wider < 2.0  # Student's t with few degrees
        assert not np.allclose(*widths, rtol=0.01)


def test_an_estimate_that_diverges_keeps_its_error():
    """Scores of an attribute that decides every choice are 0, and so would its error be."""
    rng = np.random.default_rng(0)
    lamp = rng.integers(2, size=(96, 3))
    lamp[lamp.sum(axis=1) == 0, 0] = 1
    price = rng.integers(1, 4, size=(96, 3))
    chosen = (50.0 * lamp - 0.4 * price + rng.gumbel(size=(96, 3))).argmax(axis=1)
    task, alternative = (index.ravel() for index in np.indices((96, 3)))
    frame = pd.DataFrame({"respondent": task // 8, "task": task % 8, "lamp": lamp.ravel()})
    frame = frame.assign(price=price.ravel(), choice=(alternative == chosen[task]).astype(int))
    data = th.ChoiceExperiment.from_frame(frame.astype({"lamp": str}))
    with pytest.warns(th.errors.EstimateWarning, match="no finite maximum"):
        summary = th.MultinomialLogit(linear="price").fit(data).summary()
    assert summary.loc["lamp[1]", "std_error"] > 1e3
    assert summary.loc["price", "std_error"] < 1.0
