"""Quasi-variances: those of a slow minimisation, which R finds too, are what the intervals of
utilities are made of."""

import numpy as np
import pytest
from helpers.paired_cases import maximised
from scipy.optimize import least_squares

import thali as th

V = np.array(
    [
        [0.10, 0.03, 0.02, 0.01],
        [0.03, 0.20, 0.05, 0.02],
        [0.02, 0.05, 0.15, 0.04],
        [0.01, 0.02, 0.04, 0.30],
    ]
)
NORMAL = 1.959963984540054  # of an interval of 95 %


def of_differences(covariance):
    own = np.diag(covariance)
    return own[:, None] + own - 2 * covariance


def slow(covariance):
    """Variances whose sums are nearest, in logarithms, to those of the differences (Firth & de
    Menezes 2004)."""
    i, j = np.triu_indices(len(covariance), 1)
    wanted = np.log(of_differences(covariance)[i, j])
    start = np.full(len(covariance), np.exp(wanted).mean() / 2)
    return least_squares(
        lambda q: np.log(q[i] + q[j]) - wanted, start, xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x


def of_fit(data=None):
    """The variances that the intervals of a fit are made of, and the covariance of the logarithms
    of utilities."""
    model = maximised(data=data)
    table = model.findings(ci=0.95)["utility_scale"].table
    np.testing.assert_allclose(table["high"] / table["utility"], table["utility"] / table["low"])
    scale = model.maximum_likelihood.utility_scale()
    found = (np.log(table["high"] / table["utility"]) / NORMAL) ** 2
    return (
        found.to_numpy(),
        (model.maximum_likelihood.utility_covariance() / np.outer(scale, scale)).to_numpy(),
        table.attrs["errors"],
    )


def test_r_finds_what_is_found_slowly():
    # library(qvcalc)  # 1.0-2; qvcalc(V)$qvframe$quasiVar; its glm stops at a relative change of
    # 1e-8
    expected = [0.0997656289098, 0.1476049363282, 0.1040046025314, 0.2839719031205]
    np.testing.assert_allclose(slow(V), expected, rtol=1e-6)


@pytest.mark.fit
def test_those_of_a_fit_are_found_slowly():
    found, covariance, errors = of_fit()
    np.testing.assert_allclose(found, slow(covariance), rtol=1e-6)
    assert errors == "quasi-variances"


@pytest.mark.parametrize("options", [2, 3])
def test_of_few_differences_they_are_exact(options):
    counts = np.array([[0, 7, 5], [3, 0, 6], [4, 2, 0]])[:options, :options]
    found, covariance, _ = of_fit(th.PairedComparisons(counts))
    i, j = np.triu_indices(options, 1)
    np.testing.assert_allclose(found[i] + found[j], of_differences(covariance)[i, j], rtol=1e-8)
    assert options == 3 or found[0] == found[1]
