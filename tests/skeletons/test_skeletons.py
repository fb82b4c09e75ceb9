"""The skeletons that contributors copy work."""

import itertools
import math

import likelihood as likelihood_skeleton
import numpy as np
import prior as prior_skeleton
import pytest
from helpers.compiled_code import run_as_python
from helpers.sentences import without_warnings

import thali as th
from thali._aspects import kernel_operations
from thali._aspects.likelihoods.custom_term_checks import (
    build_state,
    compare_changes,
    sample_states,
)
from thali._aspects.weight_priors import EXPONENTIAL
from thali._testing import exact
from thali.errors import DataError

DATA = likelihood_skeleton.RatingData(np.array([0.5, 2.0, 1.0]), ("tea", "coffee", "milk"))


def naive(features, weights):
    """The log-likelihood once more, slow and obvious."""
    return float(-0.5 * np.sum((DATA.rating - features @ weights) ** 2))


def test_changes_of_the_likelihood_are_differences_of_the_naive_one():
    rng = np.random.default_rng(1)
    states = sample_states(th.priors.IndianBuffet(), 3, EXPONENTIAL, rng, 6)
    rated, make_cache = likelihood_skeleton.Ratings().compiled(DATA)
    found = compare_changes(rated, make_cache, naive, states, DATA.labels, rng, 60)
    assert found.count >= 60 and found.is_rounding, found.words


def test_moves_leave_the_posterior_of_the_likelihood_invariant():
    rng = np.random.default_rng(2)
    states = sample_states(th.priors.IndianBuffet(), 3, EXPONENTIAL, rng, 6)
    rated, make_cache = likelihood_skeleton.Ratings().compiled(DATA)
    errors = exact.compute_move_errors(rated, make_cache, naive, states, 3, EXPONENTIAL, rng)
    assert len(errors) == 3 and max(errors.values()) < 1e-10, errors


def test_probabilities_of_the_prior_sum_to_one_and_are_those_that_samplers_read():
    prior = prior_skeleton.CoinFlips(2, share=0.3)
    matrices = [np.array(bits).reshape(2, 2) for bits in itertools.product([0, 1], repeat=4)]
    assert sum(math.exp(prior.log_prob(matrix, 1.0)) for matrix in matrices) == pytest.approx(1.0)
    compiled = prior.compiled(2)
    for matrix in matrices:
        state = build_state(matrix.astype(float), np.ones(2))
        rates = [
            kernel_operations.log_rate(compiled, state, k, int(matrix[:, k].sum()))
            for k in range(2)
        ]
        assert sum(rates) == pytest.approx(prior.log_prob(matrix, 1.0))


def test_samples_of_the_prior_have_its_probabilities():
    prior, rng = prior_skeleton.CoinFlips(3, share=0.3), np.random.default_rng(3)
    share = np.mean([prior.sample(4, 1.0, rng) for _ in range(1000)])
    assert abs(share - 0.3) < 5 * math.sqrt(0.3 * 0.7 / 12_000)


def fit_of_both():
    model = th.LatentFeatureModel(prior_skeleton.CoinFlips(2), likelihood_skeleton.Ratings())
    with without_warnings():
        model.fit(DATA, draws=20, tune=20, thin=2, chains=1, random_seed=1, progressbar=False)
    return model.posterior_["posterior"]


@pytest.mark.fit
def test_a_model_of_both_is_fitted(uncompiled):
    assert np.isfinite(fit_of_both()["log_likelihood"]).all()


@pytest.mark.long
def test_a_model_of_both_is_compiled():
    compiled = fit_of_both()
    with pytest.MonkeyPatch.context() as patch:
        run_as_python(patch)
        np.testing.assert_allclose(
            compiled["log_likelihood"], fit_of_both()["log_likelihood"], rtol=1e-9
        )


@pytest.mark.parametrize("rating", [[1.0, 2.0], [1.0, np.nan, 2.0]])
def test_data_of_the_likelihood_are_checked(rating):
    data = likelihood_skeleton.RatingData(np.array(rating), DATA.labels)
    with pytest.raises(DataError, match="rating"):
        likelihood_skeleton.Ratings().check(th.priors.IndianBuffet(), data)
