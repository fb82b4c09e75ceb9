"""Draws of two people's worths against integrals."""

import numpy as np
import pytest
from helpers.naive.worths_of_people import compute_log_likelihood
from people_chains import run_chains
from people_problems import Study, build_study, list_answers
from people_quadrature import integrate_two_people
from scipy.special import expit

from thali._posterior.summary_table import compute_mean_mcse

pytestmark = pytest.mark.fit

LIMIT = 4.8  # of 13 scores: a false alarm in 50,000 runs


@pytest.mark.parametrize(
    ("counts", "lapse", "has_ties"),
    [
        (((9, 1, 0), (2, 8, 0)), 0.0, False),
        (((6, 1, 3), (1, 2, 3)), 0.05, True),
        pytest.param(((3, 1, 0), (1, 3, 0)), 0.0, False, marks=pytest.mark.long),
    ],
    ids=["pairs", "ties and lapse", "few pairs"],
)
def test_two_people_and_two_options(counts, lapse, has_ties):
    """Draws have the means that integrals have."""
    expected = integrate_two_people(counts, lapse, has_ties)
    totals = np.array(counts)
    orders = [
        row
        for won, lost, tied in counts
        for row in [(0, 1)] * won + [(1, 0)] * lost + [(0, 1)] * tied
    ]
    is_tie = np.concatenate(
        [np.repeat([False, True], [won + lost, tied]) for won, lost, tied in counts]
    )
    person = np.repeat([0, 1], totals.sum(axis=1))
    study = Study(
        "order",
        2,
        person,
        np.array(orders),
        np.zeros((2, 0)),
        1,
        lapse,
        is_tie if has_ties else None,
    )
    draws = run_chains(study, seed=3, draws=2000, tune=200, thin=2)
    choice = expit(draws.population[:, :, 0, 0] - draws.population[:, :, 0, 1])
    found = {
        "choice": choice,
        "choice^2": choice**2,
        "log sigma": draws.log_sigma,
        "sigma": np.exp(draws.log_sigma),
        "log s": draws.log_s,
        "person": expit(draws.worths[:, :, 0, 0] - draws.worths[:, :, 0, 1]),
    }
    if has_ties:
        found["log nu"] = draws.log_tie
    for name, values in found.items():
        score = (values.mean() - expected[name]) / compute_mean_mcse(values[None])[0]
        assert abs(score) < LIMIT, name


def test_recorded_log_likelihood():
    """It is that of all answers at the recorded log worths, where pairs may tie and choices may
    lapse."""
    study = build_study(np.random.default_rng(1), "order", 3, 5, 4, 2, lapse=0.05, has_ties=True)
    study.is_tie[::3] = True
    draws = run_chains(study, seed=1, draws=3, tune=10, n_chains=1)
    for worths, log_tie, found in zip(
        draws.worths[0], draws.log_tie[0], draws.log_likelihood[0], strict=True
    ):
        expected = compute_log_likelihood(
            list_answers(study), worths, study.rule, study.lapse, np.exp(log_tie)
        )
        assert found == pytest.approx(expected, abs=1e-4)  # worths are recorded in single precision
