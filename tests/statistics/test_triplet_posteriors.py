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
# Link, answers, alpha; then these means, E alpha, and the errors of all in units of the last digit.
FIELDS = "link", "answers", "alpha", "expected", "of_alpha", "errors"
KNOWN = [
    (
        "exp",
        (6, 2, 1),
        1.0,
        (0.44402, 0.28028, 0.4433, 0.0588, 0.9655),
        None,
        (6e-5, 4e-5, 2e-4, 1e-4, 2e-4),
    ),
    (
        "ratio",
        (6, 2, 1),
        1.0,
        (0.42747, 0.28885, 0.4259, 0.0637, 0.9543),
        None,
        (4e-5, 2e-5, 1e-4, 1e-4, 2e-4),
    ),
    (
        "exp",
        (6, 2, 1),
        None,
        (0.43178, 0.28692, 0.3889, 0.0683, 0.9953),
        1.0884,
        (8e-5, 4e-5, 2e-4, 1e-4, 4e-4),
    ),
    (
        "ratio",
        (6, 2, 1),
        None,
        (0.41071, 0.29738, 0.3705, 0.0759, 0.9914),
        1.0860,
        (3e-5, 2e-5, 1e-4, 1e-4, 4e-4),
    ),
    (
        "exp",
        (10, 0, 0),
        2.0,
        (0.90772, 0.04614, 0.99957, 0.1951, 2.6279),
        None,
        (7e-5, 4e-5, 1e-5, 5e-4, 15e-4),
    ),
    (
        "ratio",
        (10, 0, 0),
        2.0,
        (0.87493, 0.06255, 0.99866, 0.0706, 1.5916),
        None,
        (8e-5, 4e-5, 1e-5, 2e-4, 13e-4),
    ),
]


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.first(2)
@pytest.mark.parametrize(FIELDS, KNOWN)
def test_known_posteriors(link, answers, alpha, expected, of_alpha, errors):
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
