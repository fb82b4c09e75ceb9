"""Triplets: known posteriors of three objects, invariance of every move, and joint
distributions."""

import math

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import mean_and_error
from helpers.triplet_problems import three_objects

import thali as th

NAMES = (
    "E p of the first pair",
    "of the second",
    "P(a column {0, 1})",
    "P({1, 2})",
    "E columns of two owners or more",
)
# Link, answers, alpha; then these means, E alpha, and the errors of all in units of the last digit;
# log Z.
FIELDS = "link", "answers", "alpha", "expected", "of_alpha", "errors", "evidence"
KNOWN = [
    (
        "exp",
        (6, 2, 1),
        1.0,
        (0.44402, 0.28028, 0.4433, 0.0588, 0.9655),
        None,
        (6e-5, 4e-5, 2e-4, 1e-4, 2e-4),
        -9.6914,
    ),
    (
        "ratio",
        (6, 2, 1),
        1.0,
        (0.42747, 0.28885, 0.4259, 0.0637, 0.9543),
        None,
        (4e-5, 2e-5, 1e-4, 1e-4, 2e-4),
        -9.7004,
    ),
    (
        "exp",
        (6, 2, 1),
        None,
        (0.43178, 0.28692, 0.3889, 0.0683, 0.9953),
        1.0884,
        (8e-5, 4e-5, 2e-4, 1e-4, 4e-4),
        -9.7242,
    ),
    (
        "ratio",
        (6, 2, 1),
        None,
        (0.41071, 0.29738, 0.3705, 0.0759, 0.9914),
        1.0860,
        (3e-5, 2e-5, 1e-4, 1e-4, 4e-4),
        -9.7315,
    ),
    (
        "exp",
        (10, 0, 0),
        2.0,
        (0.90772, 0.04614, 0.99957, 0.1951, 2.6279),
        None,
        (7e-5, 4e-5, 1e-5, 5e-4, 15e-4),
        -4.0824,
    ),
    (
        "ratio",
        (10, 0, 0),
        2.0,
        (0.87493, 0.06255, 0.99866, 0.0706, 1.5916),
        None,
        (8e-5, 4e-5, 1e-5, 2e-4, 13e-4),
        -5.1649,
    ),
]


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.first(2)
@pytest.mark.parametrize(FIELDS, KNOWN)
def test_known_posteriors(link, answers, alpha, expected, of_alpha, errors, evidence):
    data = three_objects(*answers)
    model = th.AdditiveClustering(link=link, alpha=alpha)
    model.fit(data, draws=2_500, tune=300, thin=4, random_seed=11, progressbar=False)
    posterior = all_drawn(model.posterior_)
    features = posterior["features"].values.astype(bool)
    probability = _probabilities(model, data)

    def has(*owners):
        return (features == np.isin(range(3), owners)).all(-1).any(-1)

    draws = [
        probability[..., 0],
        probability[..., 1],
        has(0, 1),
        has(1, 2),
        (features.sum(-1) > 1).sum(-1),
    ]
    for name, each, mean, known in zip(NAMES, draws, expected, errors, strict=True):
        found, error = mean_and_error(each.astype(float))
        # few events are not Normal: Bernstein's inequality has the last term besides
        assert abs(found - mean) < 4.5 * (math.hypot(error, known)) + 5e-4, name
    if of_alpha:
        found, error = mean_and_error(posterior["alpha"].values)
        assert abs(found - of_alpha) < 4.5 * math.hypot(error, 4e-4)


def _probabilities(model, data):
    """Of the pairs of the only set, (chain, draw, 3)."""
    posterior = all_drawn(model.posterior_)
    features, weights = (
        posterior["features"].values.astype(bool),
        posterior["weights"].fillna(0.0).values,
    )
    both = features[..., data.first] & features[..., data.second]  # (chain, draw, feature, pair)
    shared = (weights[..., None] * both).sum(axis=2)
    value = (
        np.exp(shared) if model.link == "exp" else shared + posterior["constant"].values[..., None]
    )
    return 0.99 * value / value.sum(axis=-1, keepdims=True) + 0.01 / 3


@pytest.mark.first(3)
@pytest.mark.parametrize(FIELDS, KNOWN)
def test_the_known_values_are_those_of_draws_from_the_prior(
    link, answers, alpha, expected, of_alpha, errors, evidence
):
    """Columns of each pattern are a Poisson process of rate alpha / 6 (two owners) or alpha / 3
    (all three)."""
    rng, n = np.random.default_rng(3), 400_000
    a = rng.standard_exponential((n, 1)) if alpha is None else np.full((n, 1), alpha)
    number = rng.poisson(a * [1 / 6, 1 / 6, 1 / 6, 1 / 3])  # {0, 1}, {0, 2}, {1, 2}, all
    weight = rng.standard_gamma(number)
    shared = weight[:, :3] + weight[:, 3:]
    value = np.exp(shared) if link == "exp" else shared + rng.standard_exponential((n, 1))
    p = 0.99 * value / value.sum(1, keepdims=True) + 0.01 / 3
    likelihood = np.exp(np.log(p) @ answers)
    z, spread = likelihood.mean(), likelihood.std() / likelihood.mean() / math.sqrt(n)
    assert math.log(z) == pytest.approx(evidence, abs=5 * spread + 1e-3)
    means = [p[:, 0], p[:, 1], number[:, 0] > 0, number[:, 2] > 0, number.sum(1)]
    for each, mean, known in zip(means, expected, errors, strict=True):
        ratio = (each * likelihood).mean() / z
        error = (likelihood * (each - ratio)).std() / z / math.sqrt(n)
        assert abs(ratio - mean) < 5 * math.hypot(error, known)
    if of_alpha:
        assert (a[:, 0] * likelihood).mean() / z == pytest.approx(of_alpha, abs=0.01)
