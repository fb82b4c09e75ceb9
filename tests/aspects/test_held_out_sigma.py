"""The standard deviation of similarities that predicts similarities left out."""

import warnings

import numpy as np
import pytest
from helpers.sentences import refused
from helpers.short_slices import a_second_a_look

import thali as th
from thali.errors import ArgumentError

RUN = {"draws": 20, "tune": 20, "chains": 2, "thin": 2, "random_seed": 1, "progressbar": False}
MADE = th.datasets.additive(10, n_features=3, sigma=0.2, random_seed=4).data
TABLE = th.Similarities(MADE.matrix)  # without a sigma of its own


def fitted(data=TABLE, run=RUN, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return th.AdditiveClustering(**settings).fit(data, **run)


def shortly(data, **settings):
    """A fit of two sweeps."""
    return fitted(data, {**RUN, "draws": 1, "tune": 0, "thin": 2}, **settings)


def is_learned(model):
    """Whether sigma has a posterior."""
    return "sigma" in model.summary().index and not hasattr(model, "sigma_scores_")


@pytest.mark.long
@pytest.mark.fit
def test_the_noise_of_made_data_is_found_and_the_choice_is_kept(tmp_path):
    model = fitted()
    scores = model.sigma_scores_
    assert 0.1 <= model.sigma_ <= 0.4 and model.sigma_ == scores.idxmax()
    assert scores.index.is_monotonic_decreasing
    assert "sigma" not in model.summary().index
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    for each in (model, again):
        each.continue_fit(5, progressbar=False)
        assert each.sigma_ == model.sigma_ and each.sigma_scores_.equals(scores)
    assert model.posterior_["latent_features"]["weights"].equals(
        again.posterior_["latent_features"]["weights"]
    )
    assert model.estimate().sigma == pytest.approx(model.sigma_)
    # other parameters are another choice
    other = model.set_params(weight_prior=(1.0, 3.0)).fit(TABLE, **RUN)
    assert not other.sigma_scores_.equals(scores)


@pytest.mark.fit
def test_the_score_of_a_chain_without_features():
    """With weights near 0 the score is that of the constant alone, which the other similarities
    determine."""
    held_out = shortly(TABLE, alpha=1e-9, weight_prior=(1.0, 1.0)).sigma_scores_
    part = np.random.default_rng(0).permutation(TABLE.n_pairs) % 10
    sigma = float(np.std(TABLE.values))
    expected = 0.0
    for k in range(10):
        rest, left = TABLE.values[part != k], TABLE.values[part == k]
        mean, sd = rest.mean() - sigma**2 / len(rest), sigma * np.sqrt(1 + 1 / len(rest))
        expected += (-0.5 * ((left - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)).sum()
    assert held_out.index[0] == sigma
    # averaged with the next, which is a better one or worse
    assert held_out.iloc[0] > expected / TABLE.n_pairs - 0.3


@pytest.mark.fit
def test_too_few_or_equal_similarities_are_not_left_out(uncompiled):
    assert is_learned(
        shortly(th.Similarities(th.datasets.additive(4, sigma=0.2, random_seed=1).data.matrix))
    )
    assert is_learned(shortly(th.Similarities(np.full((6, 6), 0.5))))
    # where owners are known no feature explains the noise
    assert is_learned(shortly(TABLE, features=np.eye(10, 3)))


@pytest.mark.fit
def test_what_the_data_or_the_user_say_is_taken(uncompiled):
    for sigma, data, expected in ((0.3, TABLE, 0.3), (None, MADE, 0.2), (0.3, MADE, 0.3)):
        model = shortly(data, sigma=sigma)
        assert not is_learned(model) and model.sigma_ == pytest.approx(expected, rel=1e-12)
    assert is_learned(shortly(MADE, sigma="learned"))
    with refused(ArgumentError, "sigma", "'learned'", "got 'guess'"):
        th.AdditiveClustering(sigma="guess").fit(TABLE)


@pytest.mark.fit
def test_the_prior_of_the_weights_follows_the_scale(uncompiled):
    assert shortly(TABLE, sigma=0.1).weight_prior_ == pytest.approx(
        (1.0, 10.0 / np.abs(TABLE.values).max())
    )
    assert shortly(TABLE, sigma=0.1, weight_prior=(2.0, 3.0)).weight_prior_ == (2.0, 3.0)
    assert shortly(th.Similarities(np.zeros((4, 4))), sigma=1.0).weight_prior_ == (1.0, 10.0)


@pytest.mark.fit
def test_time_that_is_over_while_sigma_is_chosen():
    with a_second_a_look() as looks, refused(ArgumentError, "max_time=2.5", "or give `sigma`"):
        th.AdditiveClustering().fit(TABLE, max_time=2.5, **RUN)
    assert len(looks) < 10  # it did not choose to the end
