"""Simulation-based calibration finds what is wrong, and its p-values are exact."""

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.calibration import calibrate, fix_prior
from scipy import stats

import thali as th
from thali.likelihoods import Additive, Elimination

PAIR = th.PairedComparisons([[0, 5], [5, 0]], labels=["tea", "coffee"])
QUICK = {"draws": 50, "tune": 20, "chains": 1, "random_seed": 1}


def deviations(samples):
    """Of each row the smallest two-sided tail probability of its empirical distribution function,
    written out."""
    n, points = samples.shape[1], np.arange(1, 50) / 50
    counts = (samples[:, None, :] <= points[:, None]).sum(2)
    return 2 * np.minimum(
        stats.binom.cdf(counts, n, points), stats.binom.sf(counts - 1, n, points)
    ).min(1)


def p_values(samples):
    """Of each row the share of uniform samples that deviate more, and its standard error."""
    simulated = deviations(np.random.default_rng(1).random((4000, samples.shape[1])))
    shares = (simulated <= deviations(samples)[:, None] * (1 + 1e-9)).mean(axis=1)
    return shares, np.sqrt(0.25 / 4000)


def test_a_correct_model_is_calibrated():
    """The number of features as well, which is often the same; of draws that depend on one another
    few count."""
    found = calibrate(th.EliminationByAspects(alpha=0.2), PAIR, 40, **QUICK)
    assert found.ok and "calibrated" in str(found)
    assert {"unique_weights[tea]", "unique_weights[coffee]"} <= set(found.table.index)
    assert found.ranks.shape == (40, len(found.table))
    assert (
        found.ranks["log_likelihood"].between(0.0, 1.0).all()
        and found.ranks["n_features"].nunique() == 40
    )
    assert found.table["ess"].between(1, 50).all()
    shares, error = p_values(found.ranks.to_numpy().T)
    np.testing.assert_allclose(found.table["p_value"], shares, atol=4.5 * error)


class FourTimes(Elimination):
    """It counts every choice four times."""

    def compiled(self, data, *weight_prior):
        return super().compiled(data.with_counts(4 * data.wins, 4 * data.losses), *weight_prior)


def test_a_likelihood_that_counts_every_choice_four_times_is_not_calibrated():
    found = calibrate(
        th.LatentFeatureModel(th.priors.Given(np.zeros((2, 0))), FourTimes()), PAIR, 40, **QUICK
    )
    assert not found.ok and "NOT CALIBRATED" in str(found)
    # posteriors are too narrow
    assert found.table.loc["choice_probability[tea, coffee]", "z_spread"] > 3.0


@dataclass(frozen=True)
class WithPairs(Additive):
    """Its conditional of sigma counts so many times as many pairs."""

    factor: float = 1.0

    def compiled(self, data, *weight_prior):
        judgements, make_cache = super().compiled(data, *weight_prior)
        return judgements._replace(pairs=self.factor * judgements.pairs), make_cache


@pytest.mark.parametrize("factor", [1.0, 1.05])
@pytest.mark.study
def test_five_per_cent_in_the_conditional_of_sigma_are_found(factor):
    design = th.Similarities(th.datasets.numbers().matrix)
    owners = np.random.default_rng(1).integers(0, 2, (10, 3))
    weight_prior = 1.0, 10.0 / np.abs(design.values).max()  # that of additive clustering
    model = th.LatentFeatureModel(
        th.priors.Given(owners), WithPairs(factor=factor), weight_prior, tempering=False
    )
    found = calibrate(model, design, 3000, **QUICK | {"draws": 100})
    assert found.ok == (factor == 1.0), found
    assert (found.table.loc["sigma", "p_value"] < 1e-6) == (factor != 1.0)


def test_the_prior_of_sigma_is_held_at_that_of_the_design():
    small, large = (th.Similarities(scale * th.datasets.numbers().matrix) for scale in (1.0, 3.0))
    held = fix_prior(Additive("learned", constant=False), small)
    assert (
        held.first_variance(large)
        == Additive().first_variance(small)
        != Additive().first_variance(large)
    )
    assert not held.constant
    assert fix_prior(Additive(0.1), small) == Additive(0.1)
    design = th.Similarities(th.datasets.numbers().matrix)
    assert calibrate(th.AdditiveClustering(2), design, 2, **QUICK).ranks.shape[0] == 2


def test_a_classifier_is_fitted_to_data_with_all_classes():
    X = np.arange(6)[:, None] / 6
    found = calibrate(th.SparseMultinomialLogit(eta=1.0), (X, list("ababab")), 3, **QUICK)
    assert found.ranks.shape == (3, len(found.table)) and found.ranks.notna().all(axis=None)
    with pytest.raises(AssertionError, match="all classes"):
        few = np.array([[0.0], [1.0], [2.0]])
        calibrate(th.SparseMultinomialLogit(), (few, list("abc")), 200, **QUICK)
