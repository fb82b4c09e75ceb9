"""The log evidence of several groups of people agrees with quadrature."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.group_problems import pair
from helpers.log_evidences import log_evidence
from scipy.special import gammaln, roots_jacobi
from scipy.stats import gamma as gamma_distribution
from scipy.stats import logistic

import thali as th
from thali._aspects.populations.several_groups import (
    GroupPriorLadder,
    build_group_constant,
    run_ladders,
    sample_base,
)
from thali._posterior.summary_table import compute_diagnostics

ERRORS = 4.0
RUN = {"cores": 1, "random_seed": 1, "progressbar": False}
SHORT, LONG = {"draws": 120, "tune": 60, "chains": 6}, {"draws": 2000}
# By quadrature, without the binomial coefficients, and the error of these numbers themselves.
PAIRS = {
    "alpha learned": ([(8, 2), (2, 8)], {}, -12.53939308, 0.0),
    "similar": (
        [(8, 2), (2, 8)],
        {"alpha": 1.0, "people": th.people.Groups("similar")},
        -14.2854,
        7e-4,
    ),
    "common": (
        [(8, 2), (2, 8)],
        {"alpha": 1.0, "people": th.people.Groups("common")},
        -15.12242494,
        0.0,
    ),
    "3:1 and 1:3": ([(3, 1), (1, 3)], {"alpha": 1.0}, -6.02168699, 0.0),
    "8:2 and 2:8": ([(8, 2), (2, 8)], {"alpha": 1.0}, -12.57413999, 0.0),
    "three groups": ([(20, 0), (5, 5), (0, 0)], {"alpha": 2.0}, -11.34568790, 0.0),
}
OBJECTS = {
    (0.35, 0.05): 0.656421,
    (0.35,): -0.335980,
    (0.35, 0.30): 0.011145,
    (0.6, 0.5, 0.0): -3.358361,
}


def runs(cases, number):
    """Short runs of the first ones, and long ones of all in long tests."""
    short = [pytest.param(*each, SHORT, id=f"{name}, short") for name, each in cases[:number]]
    return short + [
        pytest.param(*each, LONG, id=f"{name}, long", marks=pytest.mark.long)
        for name, each in cases
    ]


def coefficients(data):
    """Logarithms of the binomial coefficients."""
    return sum(gammaln(a + b + 1) - gammaln(a + 1) - gammaln(b + 1) for a, b in data)


def assert_near(found, expected, run, error=0.0):
    assert found.usable and found.standard_error <= (0.1 if run is SHORT else 0.02)
    assert abs(found.value - expected) < ERRORS * math.hypot(found.standard_error, error)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("data", "settings", "expected", "error", "run"), runs([*PAIRS.items()], 2)
)
def test_evidence_of_comparisons(data, settings, expected, error, run):
    groups = {str(g): pair(*each) for g, each in enumerate(data)}
    found = log_evidence(
        th.EliminationByAspects(**{"people": th.people.Groups(), **settings}), groups, **run
    )
    assert_near(found, expected + coefficients(data), run, error)


@pytest.mark.long
def test_evidence_of_similar_groups_of_known_likeness():
    """kappa = 2."""
    data = [(8, 2), (2, 8)]
    groups = {str(g): pair(*each) for g, each in enumerate(data)}
    model = th.EliminationByAspects(alpha=1.0, people=th.people.Groups("similar"), tempering=False)
    how = SimpleNamespace(draws=1000, tune=200, chains=12, thin=5, **RUN, sensitivity=False)
    task = model.prepare(groups, how.draws, how.tune, how.thin).task
    task = replace(task, model=task.model._replace(kappa=2.0))
    constant = build_group_constant(th.likelihoods.Elimination(), list(groups.values()))
    found = run_ladders(task, constant, how, GroupPriorLadder)[0]
    assert_near(found, -13.1136 + coefficients(data), LONG, 4e-4)


@pytest.mark.long  # compiles groups of similarities
@pytest.mark.parametrize(
    ("similar", "expected", "run"),
    runs([(each, (each, value)) for each, value in OBJECTS.items()], 1),
)
@pytest.mark.filterwarnings("ignore::thali.errors.DataWarning")
def test_evidence_of_similarities(similar, expected, run):
    groups = {str(g): th.Similarities([[1, s], [s, 1]]) for g, s in enumerate(similar)}
    found = log_evidence(
        th.AdditiveClustering(
            sigma=0.05, alpha=1.0, weight_prior=(1, 10), people=th.people.Groups()
        ),
        groups,
        **run,
    )
    assert_near(found, expected, run)


def test_what_the_weights_vary_about_is_drawn_from_its_prior():
    model = th.EliminationByAspects(people=th.people.Groups("similar"))
    task = model.prepare({"a": pair(1, 1), "b": pair(1, 1)}, 1, 0, 1).task
    rng = np.random.default_rng(1)
    drawn = [sample_base(rng, task, 5) for _ in range(4_000)]
    v, kappa = (
        np.concatenate([base.v for base in drawn]),
        np.array([base.real[0] for base in drawn]),
    )
    for values, mean, variance in ((v, 1.0, 1.0), (kappa, 20.0, 200.0)):
        assert abs(values.mean() - mean) < 4.5 * math.sqrt(variance / values.size)
        assert values.var() == pytest.approx(variance, rel=0.2)


def people_by_quadrature(counts, x, lapse=0.01):
    """Two options that share nothing, of people of whom x is known: log Z without coefficients, and
    the mean of the difference of the slopes.

    With L the difference of the logarithms of the common weights (logistic), d that of the slopes
    (normal) and kappa, a person's share of the first option over that by L + x d has the odds of a
    Beta(kappa, kappa) variable.
    """
    middles = np.linspace(-14.0, 14.0, 561)
    kappas = gamma_distribution.ppf((np.arange(120) + 0.5) / 120, 2.0, scale=10.0)
    steps, of_slope = np.polynomial.hermite_e.hermegauss(50)
    slopes, of_slope = math.sqrt(2.0) * 0.5 * steps, of_slope / of_slope.sum()
    levels = np.linspace(-12.0, 12.0, 1201)
    of_level = logistic.pdf(levels) * (levels[1] - levels[0])
    total, mean = 0.0, 0.0
    for kappa in kappas:
        t, weight = roots_jacobi(60, kappa - 1.0, kappa - 1.0)
        odds = (1.0 + t) / (1.0 - t)
        p = 1.0 / (1.0 + np.exp(-middles[:, None]) / odds)
        p = (1.0 - lapse) * p + lapse / 2.0
        logs = [np.log((p**a * (1.0 - p) ** b) @ weight / weight.sum()) for a, b in counts]
        for slope, share in zip(slopes, of_slope, strict=True):
            each = sum(
                np.interp(levels + of * slope, middles, own)
                for of, own in zip(x, logs, strict=True)
            )
            part = share * float(of_level @ np.exp(each)) / len(kappas)
            total, mean = total + part, mean + slope * part
    return math.log(total), mean / total


@pytest.mark.long  # compiles groups with given aspects
def test_people_of_whom_something_is_known_by_quadrature():
    counts, x = [(8, 2), (7, 3), (2, 8), (3, 7)], np.array([-1.0, -1.0, 1.0, 1.0])
    expected, slope = people_by_quadrature(counts, x)
    rows = [
        (f"p{n}", "1", "2", c, x[n])
        for n, each in enumerate(counts)
        for c, k in zip("12", each, strict=True)
        for _ in range(k)
    ]
    frame = pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen", "age"])
    data = th.PairedComparisons.from_trials(frame, respondent="respondent")
    model = th.EliminationByAspects([[1], [1]], people=th.people.Individuals(by=["age"]))
    pooled = [tuple(np.sum(counts, axis=0))]
    assert_near(log_evidence(model, data, **LONG), expected + coefficients(pooled), LONG, 1e-3)
    model.fit(data, draws=20_000, tune=1_000, thin=5, chains=2, random_seed=1, progressbar=False)
    drawn = model.posterior_["posterior"]["unique_slopes"].values[:, :, 0]
    found = drawn[..., 0] - drawn[..., 1]
    error = found.std() / math.sqrt(compute_diagnostics(found[None])[0][0])
    assert abs(found.mean() - slope) < 4.5 * error + 1e-3
