"""Weights of either sign, with a normal prior, in a likelihood of one's own."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.sentences import refused

import thali as th
from thali._aspects.samplers.sampling_task import build_weight_prior
from thali._aspects.weight_priors import GammaWeights, NormalWeights
from thali.errors import ArgumentError

ALPHA, SD, NOISE = 1.3, 1.5, 0.6


class Measured(NamedTuple):
    """One number of each object."""

    value: np.ndarray
    labels: tuple


def of_object(data, i, own):
    return -0.5 * ((data.value[i] - own) / NOISE) ** 2


def of_all(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        total += of_object(data, i, np.sum(features[i] * weights))
    return total


def draw(data, features, weights, rng):
    return data._replace(value=features @ weights + NOISE * rng.normal(size=len(data.value)))


DATA = Measured(np.array([1.4, -1.1]), ("a", "b"))
OWN = th.likelihoods.Custom(of_all, of_option=of_object, simulate=draw)
PRIOR = th.likelihoods.Normal(0.0, SD)


def exact(data):
    """Posterior means of the numbers of features of the first, the second and both of two objects,
    and of their sums.

    Their numbers are independent Poisson variables, and given these the two measurements are
    normal.
    """
    total, means = 0.0, np.zeros(5)
    for alone, other, both in itertools.product(range(25), repeat=3):
        prior = np.prod([(ALPHA / 2.0) ** k / math.factorial(k) for k in (alone, other, both)])
        spread = SD**2 * np.array([[alone + both, both], [both, other + both]])
        noisy = spread + NOISE**2 * np.eye(2)
        density = math.exp(-0.5 * data.value @ np.linalg.solve(noisy, data.value)) / math.sqrt(
            np.linalg.det(noisy)
        )
        total += prior * density
        means += (
            prior
            * density
            * np.array([alone, other, both, *(spread @ np.linalg.solve(noisy, data.value))])
        )
    return means / total


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("likelihood", [OWN, th.likelihoods.Custom(of_all)], ids=["terms", "whole"])
def test_every_move_leaves_the_posterior_as_it_is(likelihood, capsys):
    without = th.likelihoods.Custom(likelihood.log_likelihood, of_option=likelihood.of_option)
    found = th.testing.check(without, DATA, weight_prior=PRIOR)
    assert {line.result for line in found.checks if line.check != "joint"} == {"right"}


@pytest.mark.long  # the moves are tested above, as Python
def test_the_posterior_of_two_objects_is_the_exact_one():
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), OWN, weight_prior=PRIOR, alpha=ALPHA)
    model.fit(DATA, draws=4_000, tune=500, thin=10, random_seed=5, progressbar=False)
    posterior = all_drawn(model.posterior_)
    features, weights = posterior["features"].values.astype(float), posterior["weights"].values
    owners = [(1, 0), (0, 1), (1, 1)]
    counts = [np.all(features == owner, axis=-1).sum(-1) for owner in owners]
    sums = np.moveaxis((features * weights[..., None]).sum(2), -1, 0)
    found = np.array([*counts, *sums], float)
    from arviz_stats.base.array import array_stats

    error = np.array([one.std() / math.sqrt(array_stats.ess(one, method="mean")) for one in found])
    assert np.abs((found.mean((1, 2)) - exact(DATA)) / error).max() < 4.5
    assert (weights < 0.0).any() and (weights > 0.0).any()


@pytest.mark.long
@pytest.mark.parametrize("mean", [0.0, 0.7])
def test_signed_weights_pass_the_joint_distribution_test(mean, capsys):
    prior = th.likelihoods.Normal(mean, SD)
    assert th.testing.check(OWN, DATA, weight_prior=prior, rounds=100_000).ok


def test_weight_densities_equal_those_of_scipy():
    from scipy.stats import gamma, norm

    at = np.array([0.2, 1.0, 3.0])
    assert NormalWeights(0.5, 2.0).log_density(at) == pytest.approx(
        norm(0.5, 2.0).logpdf(at), rel=1e-12
    )
    assert GammaWeights(0.5, 2.0).log_density(at) == pytest.approx(
        gamma(0.5, scale=0.5).logpdf(at), rel=1e-12
    )


@pytest.mark.fit
def test_a_model_is_saved_with_its_prior(tmp_path, uncompiled):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), OWN, weight_prior=PRIOR)
    model.fit(DATA, draws=5, tune=5, thin=1, random_seed=1, progressbar=False).save(
        tmp_path / "model.nc"
    )
    assert th.load(tmp_path / "model.nc").weight_prior == PRIOR


def test_only_likelihoods_of_ones_own_take_a_normal_prior():
    model = th.LatentFeatureModel(
        th.priors.IndianBuffet(), th.likelihoods.Elimination(), weight_prior=PRIOR
    )
    with refused(ArgumentError, "Elimination", "normal prior"):
        model.fit(th.PairedComparisons([[0, 1], [1, 0]]))


def test_a_gamma_prior_may_be_given_by_its_name():
    assert (
        build_weight_prior(th.likelihoods.Gamma(1, 2), OWN)
        == build_weight_prior((1, 2), OWN)
        == GammaWeights(1.0, 2.0)
    )
