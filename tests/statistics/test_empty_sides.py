"""Without unique aspects a side of a comparison may be empty: posteriors that are known by sums and
quadrature.

Two options: n_i ~ Poisson(alpha / 2) aspects set i apart, and given both numbers p is Beta(a n_1, a
n_2), where a is the shape of the weights' prior; 0 or 1 if one of the numbers is 0, and 1/2 if both
are. With unique aspects it is Beta(a (n_1 + 1), a (n_2 + 1)). Three options: the sums of the
weights of the six patterns on a grid of their logarithms, and 0 besides.
"""

import numpy as np
import pytest
from helpers.elimination_cases import mean_and_error, quantity
from scipy.special import roots_jacobi
from scipy.stats import poisson

import thali as th

LAPSE = 0.01
THREE = {"n_features": 3.3655338, "p[0,1]": 0.5894912, "p[0,2]": 0.5247071, "p[1,2]": 0.4712695}


def of_beta(a, b):
    """Nodes and weights for the mean of a polynomial under Beta(a, b)."""
    if a == 0.0 or b == 0.0:
        return np.array([0.5 if a == b else float(a > 0.0)]), np.ones(1)
    with np.errstate(all="ignore"):
        nodes, weights = roots_jacobi(30, b - 1.0, a - 1.0)
    return (1.0 + nodes) / 2.0, weights / weights.sum()


def exact(wins, losses, alpha, shape, unique):
    """E p, and E of the number of aspects."""
    decisions = poisson.pmf(np.arange(40), alpha / 2.0)
    total = np.zeros(3)
    for m, n in np.ndindex(40, 40):
        p, weights = of_beta(shape * (m + unique), shape * (n + unique))
        p = (1.0 - LAPSE) * p + LAPSE / 2.0
        weights = weights * decisions[m] * decisions[n] * p**wins * (1.0 - p) ** losses
        total += np.array([weights.sum(), weights @ p, weights.sum() * (m + n)])
    return {"p[0,1]": total[1] / total[0], "n_features": total[2] / total[0] + alpha / 2.0}


def agrees(counts, expected, error, alpha, shape=1.0, unique=False, draws=10_000, **more):
    """Every mean is within four Monte Carlo errors of what is expected, and these are no larger
    than `error`."""
    likelihood = th.likelihoods.Elimination(LAPSE, unique=unique)
    model = th.LatentFeatureModel(
        th.priors.IndianBuffet(),
        likelihood,
        weight_prior=(shape, 1.0),
        alpha=alpha,
        tempering=more.pop("tempering", 3),
    )
    data = th.PairedComparisons(counts)
    model.fit(
        data, draws=draws, tune=200, random_seed=11, progressbar=False, **({"thin": 10} | more)
    )
    for name, value in expected.items():
        mean, mistake = mean_and_error(quantity(model, name))
        assert mistake <= error * abs(value), name
        assert abs(mean - value) <= 4.0 * mistake + 1e-6, (name, mean, value, mistake)


@pytest.mark.first(1)
@pytest.mark.parametrize("wins, losses", [(20, 0), (1, 5)])
def test_two_options(wins, losses):
    counts = [[0, wins], [losses, 0]]
    agrees(
        counts,
        exact(wins, losses, 1.0, 1.0, False),
        0.02,
        alpha=1.0,
        draws=4_000,
        thin=15,
        tempering=False,
    )


@pytest.mark.long
@pytest.mark.parametrize("unique", [False, pytest.param(True, marks=pytest.mark.long)])
def test_weights_most_of_which_are_tiny(unique):
    expected = exact(20, 0, 1.0, 0.1, unique)
    agrees([[0, 20], [0, 0]], expected, 0.01, alpha=1.0, shape=0.1, unique=unique, tempering=False)


def test_weights_of_shape_one_half():
    agrees(
        [[0, 20], [0, 0]],
        exact(20, 0, 1.0, 0.5, False),
        0.02,
        alpha=1.0,
        shape=0.5,
        draws=4_000,
        tempering=False,
    )


@pytest.mark.parametrize(
    "draws, error", [(1_200, 0.03), pytest.param(10_000, 0.01, marks=pytest.mark.long)]
)
def test_three_options(draws, error):
    agrees([[0, 6, 2], [1, 0, 3], [4, 1, 0]], THREE, error, alpha=2.0, draws=draws)
