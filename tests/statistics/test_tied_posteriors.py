"""Elimination by aspects with ties, against posteriors that are known by quadrature and against its own simulations."""

import math

import numpy as np
import pytest
from elimination_cases import mean_and_error
from scipy.stats import beta, poisson

import thali as th
from thali.aspects.draws.counts import outcomes

# Two options, alpha 1, lapse .01: choices of either, ties; E p, E nu, E P(tie), E K.
# ln of the evidence of each, without the multinomial coefficient.
EVIDENCE = [-13.89223954, -6.91448042, -4.66221649]
KNOWN = [
    ((6, 2, 4), (0.69153520, 1.18268673, 0.31810944, 1.52317589)),
    ((6, 2, 0), (0.71141156, 0.26833500, 0.09145813, 1.51437582)),
    ((0, 0, 5), (0.5, 3.21660796, 0.55667841, 1.53256830)),
]


@pytest.mark.parametrize(("row", "evidence"), zip(KNOWN, EVIDENCE, strict=True))
def test_the_known_values_are_those_of_quadrature(row, evidence):
    """Each option has 1 + Poisson(1/2) exponential weights alone, so that p is Beta given their numbers; E of the
    third pattern, which does not touch the choices, is 1/2."""
    counts, expected = row
    x, at = np.polynomial.legendre.leggauss(400)
    p, of_p = (1 + x) / 2, at / 2
    nu, of_nu = (1 + x) / (1 - x), 2 * at / (1 - x) ** 2 * np.exp(-(1 + x) / (1 - x))
    i, j = np.ogrid[:25, :25]
    parts = poisson.pmf(i, 0.5) * poisson.pmf(j, 0.5) * beta.pdf(p[:, None, None], 1 + i, 1 + j)
    density, number = parts.sum(axis=(1, 2)), (parts * (i + j)).sum(axis=(1, 2))
    lapsed = 0.99 * p + 0.005
    found = outcomes(lapsed[:, None], 1 - lapsed[:, None], nu)
    first, second, ties = counts
    likelihood = found[..., 0] ** first * found[..., 1] ** ties * found[..., 2] ** second
    weight = likelihood * (of_p * density)[:, None] * of_nu
    assert math.log(weight.sum()) == pytest.approx(evidence, abs=1e-7)
    per_weight = number / density
    means = [(weight * each).sum() / weight.sum() for each in (lapsed[:, None], nu, found[..., 1], per_weight[:, None])]
    assert [*means[:3], means[3] + 0.5] == pytest.approx(expected, abs=1e-7)


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize(("counts", "expected"), KNOWN)
def test_posterior_means(counts, expected):
    first, second, ties = counts
    data = th.PairedComparisons([[0, first], [second, 0]], ties=[[0, ties], [ties, 0]])
    model = th.EliminationByAspects(alpha=1.0, ties="davidson")
    model.fit(data, draws=10_000, tune=500, thin=5, random_seed=7, progressbar=False)
    posterior = model.posterior_["posterior"].dataset
    p, tie = posterior["choice_probability"].values[..., 0], posterior["tie"].values
    r = tie * np.sqrt(p * (1.0 - p))
    for draws, mean in zip((p, tie, r / (1.0 + r), posterior["n_features"].values), expected, strict=True):
        found, error = mean_and_error(draws)
        assert error < 0.03 * mean and abs(found - mean) < 4.5 * error


@pytest.mark.long
def test_many_comparisons_agree_with_maximum_likelihood():
    """A hundred thousand comparisons leave the prior no say (Davidson 1970)."""
    rng, n = np.random.default_rng(8), 5
    worth, counts, ties = rng.exponential(size=n), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            p = worth[i] / (worth[i] + worth[j])
            r = 0.6 * math.sqrt(p * (1 - p))
            counts[i, j], counts[j, i], ties[i, j] = rng.multinomial(10_000, np.array([p, 1 - p, r]) / (1 + r))
    data = th.PairedComparisons(counts, ties=ties)
    model = th.EliminationByAspects("unique", lapse=0.0).fit(data, draws=2000, random_seed=1, progressbar=False)
    found = th.paired.davidson(data)
    np.testing.assert_allclose(model.unique_weights()["share"], found.weights, atol=0.01)
    assert float(model.posterior_["posterior"]["tie"].mean()) == pytest.approx(found.tie, abs=0.01)
