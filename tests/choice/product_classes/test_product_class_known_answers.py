"""Both engines of product classes against known answers, whatever the cores."""

import math
from itertools import product

import numpy as np
import pytest
from helpers.product_class_answers import (
    ANSWERS,
    Plan,
    binary,
    closed_form,
    evidence_score,
    functionals,
    of_group,
    predicted,
    problem_of_case,
    run_plan,
    scores,
    z_scores,
)
from helpers.product_class_cases import TP1, Experiment
from scipy import stats

from thali._choice.product_classes.state import build_class_problem


def compare(name, plan, seed=3):
    """The fit of a tiny problem, after its means and evidence have been compared with the table of
    brute force, within four combined standard errors."""
    (*_, evidence), answers = ANSWERS[name]
    fit = run_plan(problem_of_case(name), plan, cores=2, random_seed=seed)
    if plan.method == "smc":
        assert evidence_score(fit.log_evidence, fit.log_evidence_se, *evidence) < 4
    independent = plan.groups * (plan.particles if plan.method == "smc" else plan.draws)
    assert scores(fit, answers, independent).max() < 4
    return fit


@pytest.mark.first(0, "TP2")  # that of predictions has TP1
@pytest.mark.parametrize("name", ANSWERS)
def test_evidence_and_means_of_tiny_problems(name):
    compare(name, Plan())


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "method, name",
    [
        pytest.param(method, name, marks=[] if name == next(iter(ANSWERS)) else pytest.mark.long)
        for method, name in product(("smc", "mcmc"), ANSWERS)
    ],
)
def test_predictions_of_tiny_problems(method, name):
    groups = 24 if method == "smc" else 32
    fit = compare(name, Plan(method, groups=groups), seed=4 if method == "smc" else 3)
    data, answers = ANSWERS[name][0], ANSWERS[name][1][-6:]
    each = range(groups) if method == "smc" else range(0, groups, 2)
    found = np.stack(
        [predicted(of_group(fit.particles, group), data[4], group) for group in each], axis=1
    )
    limit = stats.t.isf(1e-6, found.shape[1] - 1)
    assert z_scores(found, answers, np.zeros(6)).max() < limit


LONG = Plan(groups=32, particles=256, sweeps_per_step=10)
CHAINS = Plan("mcmc", groups=64, draws=2000, tune=250)


@pytest.mark.long
@pytest.mark.parametrize("plan", [LONG, CHAINS], ids=["smc", "mcmc"])
@pytest.mark.parametrize("name", ANSWERS)
def test_evidence_and_means_of_tiny_problems_closely(name, plan):
    compare(name, plan)


FIVE, LAPSING, TWENTY = (
    (5, 3, 2, 2.0, 1.0, 0.0),
    (5, 3, 2, 2.0, 1.0, 0.1),
    (20, 8, 2, 1.5, 2.0, 0.0),
)
CLOSED = [
    ("smc", FIVE, ()),
    ("smc", FIVE, (0,)),
    ("mcmc", FIVE, ()),
    *(
        pytest.param(*each, marks=pytest.mark.long)
        for each in [
            ("smc", (5, 3, 3, 2.0, 1.0, 0.0), ()),
            ("smc", LAPSING, (0,)),
            ("smc", TWENTY, ()),
            ("smc", (50, 8, 2, 3.0, 1.0, 0.0), ()),
            ("mcmc", LAPSING, (0,)),
            ("mcmc", TWENTY, ()),
        ]
    ),
]


@pytest.mark.first(2)
@pytest.mark.parametrize(("method", "case", "worse"), CLOSED)
def test_evidence_and_ownership_equal_closed_forms(method, case, worse):
    """One attribute of two levels, any number of people: the evidence is a sum."""
    people, tasks, alternatives, alpha, beta, lapse = case
    log_evidence, _, (owns_nothing, *_) = closed_form(*case, worse)
    groups, particles = {5: (16, 64), 20: (16, 24), 50: (8, 24)}[people]
    plan = Plan(method, lapse, groups, particles, sweeps_per_step=3)
    problem = build_class_problem(
        binary(people, tasks, alternatives, worse), {"x0": "increasing"}, alpha, beta
    )
    fit = run_plan(problem, plan, cores=2, random_seed=6 if method == "smc" else 5)
    if method == "smc":
        assert evidence_score(fit.log_evidence, fit.log_evidence_se, log_evidence) < 4
    by_group = functionals(fit.particles)[2].reshape(1, groups, -1).mean(axis=2)
    independent = groups * (particles if method == "smc" else plan.draws)
    floor = math.sqrt(owns_nothing * (1 - owns_nothing) / independent)
    assert z_scores(by_group, [(owns_nothing, 0.0)], np.array([floor])) < 4


def test_identical_products_tell_nothing():
    """The evidence is Π 1 / J exactly, whatever particles do; no weights differ, and nothing is
    resampled."""
    products = [(1, 0)] * 3
    data = Experiment([2, 3], [[(products, 0), (products[:2], 1)], [(products, 2)]])
    fit = run_plan(build_class_problem(data), Plan(groups=2, particles=4), random_seed=1)
    np.testing.assert_allclose(fit.trace["log_evidence"], -math.log(3 * 2 * 3), atol=1e-12)
    assert fit.trace["lapse"].tolist() == [0.0]


@pytest.mark.parametrize(
    "plan", [Plan(groups=2, particles=12), Plan("mcmc", groups=5, draws=15)], ids=["smc", "mcmc"]
)
def test_cores_have_no_influence(plan):
    problem = build_class_problem(TP1, {}, 2.0, 1.0)
    one, two = (run_plan(problem, plan, cores=cores, random_seed=8) for cores in (1, 2))
    for field in one.particles._fields:
        np.testing.assert_array_equal(
            getattr(one.particles, field), getattr(two.particles, field), err_msg=field
        )
    for field in one.trace:
        np.testing.assert_array_equal(one.trace[field], two.trace[field])
