"""The log prior density of every recorded draw, against densities written apart from the code that
computes them."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.classifier_runs import fit_rows
from helpers.experiment_data import simulate_experiment
from helpers.naive import latent_features as naive
from helpers.posterior_cases import chain
from scipy import stats

import thali as th
from thali._aspects.draws.posterior_tree import build_datatree

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

RUN: dict = {"draws": 20, "tune": 20, "chains": 2, "random_seed": 3, "progressbar": False}
ROWS_RUN: dict = {"draws": 20, "tune": 20, "chains": 2, "random_state": 3, "progressbar": False}
PAIRS = th.PairedComparisons(
    [[0, 4, 1, 0], [2, 0, 3, 4], [5, 3, 0, 0], [0, 1, 6, 0]], labels="abcd"
)
TREE = th.Tree.from_groups({"x": ["d", "b"], "y": ["a", "c"]})


def groups_of(tree):
    """The groups posterior and log_prior, and lp, with chains one after the other."""
    parts = [all_drawn(tree), *(tree[name].to_dataset() for name in ("log_prior", "sample_stats"))]
    flat = [part.stack(sample=("chain", "draw")).transpose("sample", ...) for part in parts]
    return flat[0], flat[1], flat[2]["lp"].values


def made_up(model, data, extra=None):
    """The tree of draws that no sampler made, as a fit of the model would leave it."""
    data, likelihood = model._convert_data(data), model._build_task_arguments(data)["likelihood"]
    drawn = [
        chain(len(data.labels), draws=20, seed=seed, unique=likelihood.unique) for seed in (1, 2)
    ]
    if extra:
        drawn = [
            replace(each, extra=extra(np.random.default_rng(7 + k))) for k, each in enumerate(drawn)
        ]
    task = model.prepare(data, 20, 0, None).task
    return build_datatree(
        drawn, data, likelihood, is_alpha_learned=task.model.learn_alpha, task=task
    )


def names(*always, **sometimes):
    """A set of names: those given, and those whose condition holds."""
    return {*always, *(name for name, holds in sometimes.items() if holds)}


LATENT = {
    "buffet": (th.priors.IndianBuffet(), th.likelihoods.Elimination(), (1.0, 1.0), None),
    "buffet, fixed alpha, other weights": (
        th.priors.IndianBuffet(),
        th.likelihoods.Elimination(unique=False, lapse=0.05),
        (2.0, 3.0),
        0.7,
    ),
    "unique weights with a shape": (
        th.priors.IndianBuffet(),
        th.likelihoods.Elimination(),
        (2.0, 0.5),
        None,
    ),
    "finite": (th.priors.FiniteFeatures(9), th.likelihoods.Elimination(), (1.0, 1.0), None),
    "tree": (th.priors.PhylogeneticBuffet(TREE), th.likelihoods.Elimination(), (1.0, 1.0), None),
    "given": (
        th.priors.Given([[1, 0], [1, 1], [0, 1], [0, 0]]),
        th.likelihoods.Elimination(),
        (1.0, 1.0),
        None,
    ),
}


@pytest.mark.parametrize("name", LATENT)
def test_log_prior_of_choices_is_the_density(name):
    prior, likelihood, (shape, rate), alpha = LATENT[name]
    model = th.LatentFeatureModel(prior, likelihood, weight_prior=(shape, rate), alpha=alpha)
    posterior, log_prior, lp = groups_of(made_up(model, PAIRS))
    learned = alpha is None and prior.learns_alpha
    parts = names("features", "weights", unique_weights=likelihood.unique, alpha=learned)
    assert set(log_prior.data_vars) == parts
    assert posterior["n_features"].values.max() > 1
    of_labels = prior.for_labels(PAIRS.labels) if name == "tree" else prior
    for draw in range(40):
        one = posterior.isel(sample=draw)
        owned = one["features"].values[one["features"].values.any(axis=1)].T
        own, weights, unique = (
            float(one["alpha"]),
            one["weights"].values,
            one["unique_weights"].values,
        )
        weights = weights[weights > 0]
        empty = getattr(prior, "n_features", len(weights)) - len(weights)
        assert empty >= 0
        state = (
            np.hstack([owned, np.zeros((4, empty))]),
            [*weights, *np.zeros(empty)],
            unique,
            likelihood.lapse,
        )
        found = sum(float(log_prior[part][draw]) for part in parts)
        expected = -own if learned else 0.0
        if name == "given":
            density = stats.gamma(shape, scale=1.0 / rate)
            expected += density.logpdf(weights).sum() + density.logpdf(unique).sum()
        else:
            expected += naive.log_joint(PAIRS, *state, of_labels, own, shape, rate)
            expected -= naive.log_likelihood(PAIRS, *state)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert lp[draw] == pytest.approx(found + float(one["log_likelihood"]), rel=1e-12, abs=1e-9)


def test_log_prior_of_similarities_is_the_density():
    data = th.Similarities(th.datasets.numbers().matrix[:5, :5])
    parts = {"weight_prior": (1.5, 8.0), "tempering": False}
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive(), **parts)
    tree = made_up(
        model,
        data,
        lambda rng: {"constant": rng.gamma(1.5, size=20), "sigma": rng.gamma(2.0, size=20)},
    )
    posterior, log_prior, lp = groups_of(tree)
    assert set(log_prior.data_vars) == {"alpha", "features", "weights", "constant", "sigma"}
    sigma = posterior["sigma"].values
    # sigma^2 ~ InverseGamma(2, 0.02 times the variance), and |d sigma^2 / d sigma| = 2 sigma
    expected = stats.invgamma.logpdf(sigma**2, 2.0, scale=0.02 * data.values.var()) + np.log(
        2.0 * sigma
    )
    np.testing.assert_allclose(log_prior["sigma"], expected, rtol=1e-9)
    gamma = stats.gamma(1.5, scale=1.0 / 8.0)
    np.testing.assert_allclose(
        log_prior["constant"], gamma.logpdf(posterior["constant"].values), rtol=1e-9
    )
    weights = posterior["weights"].values
    expected = [gamma.logpdf(each[each > 0]).sum() for each in weights]
    np.testing.assert_allclose(log_prior["weights"], expected, rtol=1e-9, atol=1e-12)
    total = sum(log_prior[name].values for name in log_prior.data_vars)
    np.testing.assert_allclose(lp, posterior["log_likelihood"].values + total, rtol=1e-12)
    fixed = th.LatentFeatureModel(
        th.priors.IndianBuffet(), th.likelihoods.Additive(0.1, constant=False), **parts
    )
    tree = made_up(fixed, data, lambda rng: {"constant": np.zeros(20), "sigma": np.full(20, 0.1)})
    assert set(tree["log_prior"].data_vars) == {"alpha", "features", "weights"}


X = np.random.default_rng(1).normal(size=(30, 2))
Y = np.array(["no", "yes", "so"])[np.random.default_rng(2).integers(3, size=30)]


@pytest.mark.parametrize("eta", [None, 2.0])
def test_log_prior_of_the_sparse_logit_is_the_density(eta):
    model = fit_rows(th.SparseMultinomialLogit, X, Y, eta=eta, shape=2.0, rate=3.0, **ROWS_RUN)
    posterior, log_prior, lp = groups_of(model.posterior_)
    assert set(log_prior.data_vars) == names("coef", "intercept", eta=eta is None)
    drawn = posterior["eta"].values
    expected = stats.laplace.logpdf(
        posterior["coef"].values, scale=drawn[:, None, None] ** -0.5
    ).sum(axis=(1, 2))
    np.testing.assert_allclose(log_prior["coef"], expected, rtol=1e-9)
    expected = stats.norm.logpdf(posterior["intercept"].values, scale=10.0).sum(axis=1)
    np.testing.assert_allclose(log_prior["intercept"], expected, rtol=1e-9)
    if eta is None:
        np.testing.assert_allclose(
            log_prior["eta"], stats.gamma.logpdf(drawn, 2.0, scale=1.0 / 3.0), rtol=1e-9
        )
    total = sum(log_prior[name].values for name in log_prior.data_vars)
    np.testing.assert_allclose(lp, posterior["log_likelihood"].values + total, rtol=1e-12)


@pytest.mark.parametrize("a", [None, 1.3, pytest.param(0.4, marks=pytest.mark.long)])
def test_log_prior_of_plackett_luce_regression_is_the_density(a):
    model = fit_rows(th.PlackettLuceRegression, X, Y, a=a, a_range=(0.2, 5.0), **ROWS_RUN)
    posterior, log_prior, _ = groups_of(model.posterior_)
    assert set(log_prior.data_vars) == names("weights", a=a is None)
    shapes, weights = posterior["a"].values, posterior["weights"].values.reshape(40, -1)
    expected = [
        stats.dirichlet.logpdf(w / w.sum(), np.full(w.size, s))
        for s, w in zip(shapes, weights, strict=True)
    ]
    np.testing.assert_allclose(log_prior["weights"], expected, rtol=1e-7)
    if a is None:
        np.testing.assert_allclose(
            log_prior["a"], stats.loguniform.logpdf(shapes, 0.2, 5.0), rtol=1e-9, atol=1e-12
        )


def test_log_prior_of_plackett_luce_regression_is_finite_where_weights_vanish():
    model = fit_rows(th.PlackettLuceRegression, X, Y, a=0.003, **ROWS_RUN)
    posterior, log_prior, _ = groups_of(model.posterior_)
    assert (posterior["weights"].values == 0.0).any()
    assert np.isfinite(log_prior["weights"]).all()


def test_log_prior_of_the_hierarchical_logit_is_the_density():
    import pandas as pd

    data = th.ChoiceExperiment.from_frame(
        pd.DataFrame(simulate_experiment(n_respondents=4, n_tasks=3))
    )
    model = th.HierarchicalLogit(
        linear="price", priors={"mean_sd": 3.0, "df": 8.0, "scale": 0.7}
    ).fit(data, **RUN)
    posterior, log_prior, _ = groups_of(model.posterior_)
    scale = model._coding_.scale
    assert (scale != 1.0).any()
    p = len(scale)
    for draw in range(40):
        mean, beta = posterior["mean"].values[draw] * scale, posterior["beta"].values[draw] * scale
        covariance = posterior["covariance"].values[draw] * np.outer(scale, scale)
        covariance = (covariance + covariance.T) / 2
        expected = {
            "mean": stats.norm.logpdf(mean, scale=3.0).sum(),
            "covariance": stats.invwishart.logpdf(covariance, 8.0, 8.0 * 0.7 * np.eye(p)),
            "beta": stats.multivariate_normal.logpdf(beta, mean, covariance).sum(),
        }
        assert set(log_prior.data_vars) == set(expected)
        for name, value in expected.items():
            assert float(log_prior[name][draw]) == pytest.approx(value, rel=1e-8)
