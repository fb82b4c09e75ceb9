"""The log evidence agrees with quadrature, and the state at infinite temperature is a draw from the
prior."""

import numpy as np
import pandas as pd
import pytest
from helpers.log_evidences import log_evidence
from helpers.naive import latent_features as naive
from scipy import stats

import thali as th
from thali._aspects.samplers.evidence_chains import build_ladders, place_first_levels, place_levels

E, A = th.EliminationByAspects, th.AdditiveClustering
TREE = th.Tree.from_newick("((1:.3,2:.3):.7,3:1);")
LEAST = 1e-5  # probability that a test fails by chance


def pairs(counts, ties=None):
    labels = [str(1 + k) for k in range(len(counts))]
    return th.PairedComparisons(
        counts, labels=labels, ties=ties if ties is None else [[0, ties], [ties, 0]]
    )


def similarities(n, values):
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = values
    return th.Similarities(matrix + matrix.T)


def triplets(first, second, third):
    return th.Triplets([[0, 1, 2]] * first + [[0, 2, 1]] * second + [[1, 2, 0]] * third)


def in_order(forward, backward):
    """Choices of either of two options, the first one shown first and second."""
    sides = (("1", "2"), ("2", "1"))
    rows = [
        (*side, chosen)
        for side, counts in zip(sides, (forward, backward), strict=True)
        for chosen, times in zip(("1", "2"), counts, strict=True)
        for _ in range(times)
    ]
    frame = pd.DataFrame(rows, columns=["left", "right", "chosen"]).replace(
        {"1": "tea", "2": "milk"}
    )
    return th.PairedComparisons.from_trials(frame, covariates=["order"])


THREE = pairs([[0, 6, 2], [1, 0, 3], [4, 1, 0]])
EASY, EVEN, SHARP = (
    pairs(counts) for counts in ([[0, 3], [1, 0]], [[0, 30], [30, 0]], [[0, 20], [0, 0]])
)
# By quadrature, of choices and triplets without the binomial and multinomial coefficients.
CASES = {
    "three options": (E(), THREE, -13.007447),
    "three objects": (
        A(sigma=0.1, alpha=1.0, weight_prior=(2, 4)),
        similarities(3, [0.8, 0.3, 0.45]),
        -1.400834,
    ),
    "20:0": (E(alpha=1.0), SHARP, -3.21006903),
    "one aspect": (E(1, alpha=1.0, lapse=0.0), EASY, np.log(1 / 20)),
    "ties": (E(alpha=1.0), pairs([[0, 6], [2, 0]], 4), -13.89223954),
    "triplets": (A(link="ratio"), triplets(6, 2, 1), -9.7315),
    "three options, alpha 2": (E(alpha=2.0), THREE, -12.877595),
    "three options, tree": (E(TREE, alpha=2.0), THREE, -12.654423),
    "3:1, alpha 1": (E(alpha=1.0), EASY, -2.97366757),
    "3:1, alpha 5": (E(alpha=5.0), EASY, -2.88270183),
    "3:1, lapse 0": (E(alpha=1.0, lapse=0.0), EASY, -2.98284566),
    "3:1, no unique": (E(alpha=3.0, unique=False), EASY, -3.3480585),
    "30:30": (E(alpha=5.0), EVEN, -43.05217),
    "5 ties": (E(alpha=1.0), pairs([[0, 0], [0, 0]], 5), -4.66221649),
    "two objects": (
        A(sigma=0.1, alpha=4.0, weight_prior=(1, 10)),
        similarities(2, [0.6]),
        -0.5548398,
    ),
    "four objects": (
        A(sigma=0.2, alpha=2.0, weight_prior=(2, 4)),
        similarities(4, [0.9, 0.55, 0.15, 0.7, 0.1, 0.4]),
        -2.403529,
    ),
    "covariates": (E(alpha=1.0), in_order((6, 2), (3, 5)), -11.88975184),
    "triplets, exp": (A(link="exp", alpha=1.0), triplets(6, 2, 1), -9.6914),
}


def hold_against(case, most, **run):
    model, data, exact = CASES[case]
    if isinstance(data, th.Triplets):
        exact += naive.log_coefficients_of_sets(data)
    if isinstance(data, th.PairedComparisons):
        exact += naive.log_coefficients_of_outcomes(data)
    found = log_evidence(model, data, **run)
    low, high = found.interval(1.0 - LEAST)
    assert found.usable
    assert low < exact < high
    assert found.standard_error < most
    assert found.thermodynamic.agrees


@pytest.mark.first(1)
@pytest.mark.parametrize("case", CASES)
def test_exact_values(case):
    hold_against(case, 0.08, draws=150, tune=50)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_exact_values_by_default(case):
    hold_against(case, 0.02)


def at_the_prior(model, data, draws=1500):
    """The draws of a chain so hot that every swap with independent draws from the prior is
    accepted."""
    task = model.set_params(tempering=False).prepare(data, draws, tune=2, thin=2).task
    (chain,) = build_ladders(task, np.array([1e-12, 0.0]), 1, 1)
    chain.run_until(chain.total)
    return chain.draws


def test_features_at_infinite_temperature_are_those_of_the_prior():
    """Of three options with alpha 2 a draw has Poisson(2 (1 + 1/2 + 1/3)) features, 2 of a single
    option."""
    drawn = at_the_prior(E(alpha=2.0), THREE)
    mean = 2.0 * (1.0 + 1 / 2 + 1 / 3)
    apart = (drawn.n_features.mean() - mean) / np.sqrt(mean / len(drawn.n_features))
    singles = (drawn.sizes == 1).sum() / len(drawn.n_features)
    assert abs(apart) < stats.norm.isf(LEAST)
    assert abs(singles - 2.0) / np.sqrt(2.0 / len(drawn.n_features)) < stats.norm.isf(LEAST)
    assert stats.kstest(drawn.unique_weights.ravel(), "expon").pvalue > LEAST


def test_alpha_and_weights_of_similarities_at_infinite_temperature_are_those_of_the_prior():
    drawn = at_the_prior(A(sigma="learned", weight_prior=(2, 4)), similarities(3, [0.8, 0.3, 0.45]))
    assert stats.kstest(drawn.alpha, "expon").pvalue > LEAST
    assert stats.kstest(drawn.weights, stats.gamma(2, scale=1 / 4).cdf).pvalue > LEAST
    assert stats.kstest(drawn.extra["constant"], stats.gamma(2, scale=1 / 4).cdf).pvalue > LEAST
    mean = 0.02 * np.var([0.8, 0.3, 0.45])
    assert stats.kstest(mean / drawn.extra["sigma"] ** 2, stats.gamma(2).cdf).pvalue > LEAST


def test_temperatures_are_placed_by_the_spread_of_the_log_likelihood():
    """For a log-likelihood -x^2 / 2c of the prior Normal(0, 1) that spread is known at every
    temperature."""
    rng, c = np.random.default_rng(0), 1e-3

    def draws(beta, number):
        return (
            -0.5 / c * (rng.standard_normal((4, number, beta.size)) / np.sqrt(1.0 + beta / c)) ** 2
        )

    first = place_first_levels(draws(np.zeros(1), 200)[0, :, 0])
    beta = place_levels(first, draws(first, 200))
    spread = 1.0 / (np.sqrt(2.0) * (c + 0.5 * (beta[1:] + beta[:-1])))
    steps = -np.diff(beta) * spread
    assert beta[0] == 1.0
    assert beta[-1] == 0.0
    assert (steps > 0.5).all()
    assert (steps < 1.6).all()


def test_data_that_the_prior_explains_need_no_temperatures_between():
    assert place_first_levels(np.zeros(50)).tolist() == [1.0, 0.0]
