"""Draws of worths against integrals: few options, with ties, judges and periods, the spread known
and learned."""

import numpy as np
import pytest
from quadrature import BLUR, posterior, summarise_log_odds
from scipy.special import expit
from worth_problems import judges, periods, run_short_chains

from thali._posterior.summary_table import compute_mean_mcse
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_density import Density, DistinctComparisons
from thali._worths.posterior_sample import sample_posterior

pytestmark = pytest.mark.exact


def of_pairs(n, counts, lapse=0.0):
    """The density of {(i, j): (wins, losses, ties)}."""
    first, second = np.array(list(counts)).T
    wins, losses, tied = np.array(list(counts.values()), float).T
    zero = 0 * first
    x = np.zeros((len(first), 0))
    return Density(
        DistinctComparisons(
            first, second, zero, zero, x, wins, losses, tied, lapse, bool(tied.any())
        ),
        n,
    )


PAIRS = {
    "one": of_pairs(2, {(0, 1): (1, 0, 0)}),
    "nine of ten": of_pairs(2, {(0, 1): (9, 1, 0)}),
    "all of ten": of_pairs(2, {(0, 1): (10, 0, 0)}),
    "with ties": of_pairs(2, {(0, 1): (3, 1, 4)}),
    "three": of_pairs(3, {(0, 1): (3, 1, 0), (1, 2): (4, 0, 0), (0, 2): (2, 1, 0)}),
    "three once": of_pairs(3, {(0, 1): (1, 0, 0), (1, 2): (1, 0, 0)}),
    "three with ties": of_pairs(3, {(0, 1): (3, 1, 2), (1, 2): (2, 0, 1)}),
}


def quantities(density):
    """Log odds of the first option over each other, and of a tie of two equal ones."""

    def quantity(points, spreads):
        found = [points[0] - points[k] for k in range(1, density.n_options)]
        return np.array([*found, *(points[density.nu] - np.log(2.0))])

    return quantity


CASES = [(name, spread) for name in PAIRS for spread in (None, 3.0)]
CASES.remove(("three with ties", None))  # of which a grid is large


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize(("name", "spread"), CASES)
def test_probabilities_and_ends_of_intervals(name, spread):
    density = PAIRS[name]
    quantity = quantities(density)
    evidence, values, weights = posterior(density, quantity, (spread, None, None))
    expected = summarise_log_odds(values, weights)
    marginal = Marginal(density, spread)
    drawn = sample_posterior(marginal, np.random.default_rng(1), 120_000)
    own = quantity(drawn.points, None)
    blurred = expit(own + BLUR * np.random.default_rng(2).normal(size=own.shape))
    means, *ends = expected.T
    np.testing.assert_allclose(expit(own).mean(axis=1), means, atol=0.005)
    # of 120,000 draws, the share beyond an end has a standard deviation of 0.0007
    shares = [np.mean(blurred < end[:, None], axis=1) for end in ends]
    np.testing.assert_allclose(shares, [[0.055] * len(means), [0.945] * len(means)], atol=0.004)
    assert marginal.evidence == pytest.approx(evidence, abs=0.2)


@pytest.mark.parametrize("name", ["three", pytest.param("with ties", marks=pytest.mark.long)])
def test_chains_draw_from_the_posterior(name):
    density = PAIRS[name]
    quantity = quantities(density)
    _, values, weights = posterior(density, quantity, (None, None, None))
    states = run_short_chains(Marginal(density), 5)
    found = np.array([expit(quantity(state.points, None)) for state in states]).transpose(1, 2, 0)
    assert (
        np.abs((found.mean(axis=(1, 2)) - expit(values) @ weights) / compute_mean_mcse(found)).max()
        < 4.5
    )


PROBLEMS = {"judges": judges(0.01), "periods": periods(0.01)}


def seen(density):
    def quantity(points, spreads):
        worths = points[density.worths].reshape(density.n_periods, 2, -1)
        sd = spreads.judges if density.n_judges else spreads.drift
        sds = np.broadcast_to(sd, worths.shape[-1:])
        return np.array(
            [*expit(worths[:, 0] - worths[:, 1]), *density.log_discriminations(points), sds]
        )

    return quantity


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize("known", [(1.5, None, None), (1.5, 0.5, 0.5)], ids=["learned", "known"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_draws_with_judges_and_periods_agree_with_quadrature(name, known):
    density = PROBLEMS[name]
    quantity = seen(density)
    _, values, weights = posterior(density, quantity, known)
    expected = values @ weights
    marginal = Marginal(density, *known)
    drawn = sample_posterior(marginal, np.random.default_rng(1), 20_000)
    own = quantity(drawn.points, drawn.spreads)
    np.testing.assert_allclose(own.mean(axis=1), expected, atol=0.012)
    states = run_short_chains(marginal, 5)
    found = np.array([quantity(state.points, state.spreads) for state in states]).transpose(1, 2, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (found.mean(axis=(1, 2)) - expected) / compute_mean_mcse(found)
    assert np.nanmax(np.abs(scores[: None if known[1] is None else -1])) < 4.5


# Data sets of the study behind the prior ----------------------------------------------------------
