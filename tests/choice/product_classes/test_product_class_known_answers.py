"""Both engines of product classes against known answers, for all schedules and paths, and whatever the cores."""

import math
from itertools import product

import numpy as np
import pytest
from product_class_answers import (
    ANSWERS,
    binary,
    closed_form,
    evidence_score,
    functionals,
    of_group,
    predicted,
    problem_and_settings,
    run_annealed,
    scores,
    settings,
    z_scores,
)
from product_class_cases import TP1, Experiment

from thali.choice.product_classes.engines.smc import run_smc
from thali.choice.product_classes.state import problem_of

SCHEDULES, PATHS = ("all", "individual", "observation"), ("lapse", "logit")


def run(problem, how, path="lapse", given=None, **more):
    """The fit by the engine that the plan names."""
    if how.method == "annealed":
        return run_annealed(problem, how, **more)
    return run_smc(problem, how, path=path, schedule_of_u=given, **more)


def held_against(name, method="smc", path="lapse", given=None, seed=3, **stamp):
    """The fit of a tiny problem, after its evidence and means have been compared with the table of brute force: weights
    of chains from the prior, within four combined standard errors."""
    (data, monotone, alpha, beta, _, evidence), answers = ANSWERS[name]
    problem, how = problem_and_settings(data, monotone, alpha, beta, method, **stamp)
    fit = run(problem, how, path, given, cores=2, random_seed=seed)
    assert evidence_score(fit.log_evidence, fit.log_evidence_se, *evidence) < 4
    independent = how.groups * (how.particles if method == "smc" else how.final_sweeps // 8)
    assert scores(fit, answers, independent).max() < 4
    return fit


# Every problem, path and schedule of sequential Monte Carlo, but not every combination.
BRIEF = {("TP1", path, schedule) for path in PATHS for schedule in SCHEDULES}
BRIEF |= {(name, path, "individual") for name in ANSWERS for path in PATHS}


@pytest.mark.first(4)
@pytest.mark.parametrize(
    "schedule, path, name",
    [
        pytest.param(*each, marks=[] if each[::-1] in BRIEF else pytest.mark.long)
        for each in product(SCHEDULES, PATHS, ANSWERS)
    ],
)
def test_evidence_and_means_of_tiny_problems(name, path, schedule):
    held_against(name, path=path, schedule=schedule)


@pytest.mark.parametrize(
    "method, name",
    [
        pytest.param(method, name, marks=[] if name == next(iter(ANSWERS)) else pytest.mark.long)
        for method, name in product(("smc", "annealed"), ANSWERS)
    ],
)
def test_predictions_of_tiny_problems(method, name):
    fit = held_against(name, method, seed=4 if method == "smc" else 3, groups=24 if method == "smc" else 32)
    data, answers = ANSWERS[name][0], ANSWERS[name][1][-6:]
    groups = range(24) if method == "smc" else range(0, 32, 2)
    found = np.stack([predicted(of_group(fit.particles, group), data[4], group) for group in groups], axis=1)
    assert z_scores(found, answers, np.zeros(6)).max() < 4


LONG = {"groups": 32, "particles": 256, "sweeps_per_step": 10, "final_sweeps": 60}
CLOSE = [(name, {"path": path, "schedule": schedule} | LONG) for name, path, schedule in sorted(BRIEF)]
CLOSE += [(name, {"schedule": "individual", "sampler": "paper"} | LONG) for name in ANSWERS]
CHAINS = {"method": "annealed", "groups": 64, "sweeps_per_step": 25, "final_sweeps": 8000}
CLOSE += [(name, CHAINS | {"sampler": sampler}) for sampler in ("recommended", "paper") for name in ANSWERS]


@pytest.mark.long
@pytest.mark.parametrize(("name", "stamp"), CLOSE)
def test_evidence_and_means_of_tiny_problems_closely(name, stamp):
    held_against(name, **stamp)


def test_a_second_pass_over_stored_points():
    """Groups that share nothing: the points of an earlier run, other random numbers."""
    first = held_against("TP1")
    second = held_against("TP1", seed=5, given=first.schedule_of_u)
    assert second.schedule_of_u == first.schedule_of_u
    assert not np.array_equal(second.particles.a, first.particles.a)


FIVE, LAPSING, TWENTY = (5, 3, 2, 2.0, 1.0, 0.0), (5, 3, 2, 2.0, 1.0, 0.1), (20, 8, 2, 1.5, 2.0, 0.0)
CLOSED = [
    ("smc", FIVE, (), "individual"),
    ("smc", FIVE, (0,), "all"),
    ("annealed", FIVE, (), "all"),
    *(
        pytest.param(*each, marks=pytest.mark.long)
        for each in [
            ("smc", (5, 3, 3, 2.0, 1.0, 0.0), (), "observation"),
            ("smc", LAPSING, (0,), "all"),
            ("smc", TWENTY, (0,), "individual"),
            ("smc", (50, 8, 2, 3.0, 1.0, 0.0), (), "all"),
            ("annealed", LAPSING, (0,), "all"),
            ("annealed", TWENTY, (), "all"),
        ]
    ),
]


@pytest.mark.parametrize(("method", "case", "worse", "schedule"), CLOSED)
def test_closed_forms(method, case, worse, schedule):
    """One attribute of two levels, any number of people: the evidence is a sum."""
    people, tasks, alternatives, alpha, beta, lapse = case
    log_evidence, _, (owns_nothing, *_) = closed_form(*case, worse)
    if method == "smc":
        groups, particles = {5: (16, 64), 20: (16, 24), 50: (8, 24)}[people]
        stamp = {"groups": groups, "particles": particles, "sweeps_per_step": 3, "final_sweeps": 3}
        independent = groups * particles
    else:
        stamp, independent = {"final_sweeps": 200}, 24 * 200 / 8
    stamp |= {"schedule": schedule, "lapse": lapse}
    data = binary(people, tasks, alternatives, worse)
    problem, how = problem_and_settings(data, {"x0": "increasing"}, alpha, beta, method, **stamp)
    fit = run(problem, how, cores=2, random_seed=6 if method == "smc" else 5)
    assert evidence_score(fit.log_evidence, fit.log_evidence_se, log_evidence) < 4
    by_group = functionals(fit.particles)[2].reshape(1, how.groups, -1).mean(axis=2)
    floor = math.sqrt(owns_nothing * (1 - owns_nothing) / independent)
    assert z_scores(by_group, [(owns_nothing, 0.0)], np.array([floor])) < 4


@pytest.mark.parametrize("method, path", [("smc", "lapse"), ("smc", "logit"), ("annealed", "")])
def test_identical_products_tell_nothing(method, path):
    """The evidence is Π 1 / J exactly, whatever chains do; no weights differ, and nothing is resampled."""
    products = [(1, 0)] * 3
    data = Experiment([2, 3], [[(products, 0), (products[:2], 1)], [(products, 2)]])
    size = {"groups": 2, "particles": 4, "final_sweeps": 0} if path else {"groups": 4, "final_sweeps": 8}
    fit = run(problem_of(data), settings(method, **size), path, random_seed=1)
    if path:
        np.testing.assert_allclose(fit.trace["log_evidence"], -math.log(3 * 2 * 3), atol=1e-12)
        assert fit.trace["u"].tolist() == [math.inf] and fit.trace["share"].tolist() == pytest.approx([1.0])
    else:
        assert fit.log_evidence == pytest.approx(-math.log(3 * 2 * 3), abs=1e-9)
        assert fit.evidence_sd == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "method, size",
    [
        ("smc", {"groups": 2, "particles": 12, "schedule": "individual"}),
        ("annealed", {"groups": 5, "final_sweeps": 60}),
    ],
)
def test_cores_have_no_influence(method, size):
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, method, **size)
    one, two = (run(problem, how, cores=cores, random_seed=8) for cores in (1, 2))
    for name in one.particles._fields:
        np.testing.assert_array_equal(getattr(one.particles, name), getattr(two.particles, name), err_msg=name)
    assert one.log_evidence == two.log_evidence
    if method == "smc":
        assert one.schedule_of_u == two.schedule_of_u
    else:
        np.testing.assert_array_equal(one.trace["log_likelihood"], two.trace["log_likelihood"])
