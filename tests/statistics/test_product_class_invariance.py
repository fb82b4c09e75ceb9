"""The evidence of product classes does not depend on how the data are written down."""

import math

import numpy as np
import pytest
from helpers.product_class_answers import Plan, run_plan
from helpers.product_class_cases import Experiment

from thali._choice.product_classes.state import build_class_problem

LEVELS = [3, 2, 3]
MONOTONE = {"x0": "increasing"}
NONE = (-1, -1, -1)


def people():
    """Three people with two or three tasks of two to four alternatives, who mostly choose the
    highest level of x0."""
    rng = np.random.default_rng(5)
    found = []
    for count in (3, 2, 3):
        tasks = []
        for _ in range(count):
            size = int(rng.integers(2, 4))
            products = [tuple(int(rng.integers(n)) for n in LEVELS) for _ in range(size)]
            chosen = (
                max(range(size), key=lambda j: products[j][0])
                if rng.random() < 0.8
                else int(rng.integers(size))
            )
            tasks.append(([*products, NONE] if rng.random() < 0.3 else products, chosen))
        found.append(tasks)
    return found


def mapped(change):
    """The same data with every product changed."""
    return [
        [([change(x) for x in products], chosen) for products, chosen in tasks]
        for tasks in people()
    ]


def alternatives_reversed():
    return [
        [(products[::-1], len(products) - 1 - chosen) for products, chosen in tasks]
        for tasks in people()
    ], {}


def tasks_rotated():
    return [tasks[1:] + tasks[:1] for tasks in people()], {}


def people_reversed():
    return people()[::-1], {}


def labels_of_free_levels():
    return mapped(lambda x: x if x == NONE else (x[0], 1 - x[1], (2, 0, 1)[x[2]])), {}


def attributes_rotated():
    return mapped(lambda x: (x[2], x[0], x[1])), {
        "levels": [3, 3, 2],
        "monotone": {"x1": "increasing"},
    }


def monotone_attribute_turned_round():
    return mapped(lambda x: x if x == NONE else (2 - x[0], x[1], x[2])), {
        "monotone": {"x0": "decreasing"}
    }


def log_evidence(data, seed, levels=LEVELS, monotone=MONOTONE):
    plan = Plan(groups=8, particles=64, sweeps_per_step=4)
    fit = run_plan(
        build_class_problem(Experiment(levels, data), monotone, 2.0, 1.3),
        plan,
        cores=2,
        random_seed=seed,
    )
    return fit.log_evidence, fit.log_evidence_se


@pytest.fixture(scope="module")
def as_it_is():
    return log_evidence(people(), 1)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "written",
    [
        alternatives_reversed,
        tasks_rotated,
        people_reversed,
        labels_of_free_levels,
        attributes_rotated,
        monotone_attribute_turned_round,
    ],
)
def test_written_otherwise(as_it_is, written):
    """Within four combined standard errors."""
    data, how = written()
    other = log_evidence(data, 2, **how)
    assert abs(other[0] - as_it_is[0]) < 4 * math.hypot(other[1], as_it_is[1])


@pytest.mark.long
def test_another_direction_is_another_model(as_it_is):
    """Turning an attribute round in the data alone is told from the errors that the tests above
    allow."""
    other = log_evidence(monotone_attribute_turned_round()[0], 2)
    assert abs(other[0] - as_it_is[0]) > 4 * math.hypot(other[1], as_it_is[1])


@pytest.mark.long
def test_turned_round_twice_is_the_same_problem():
    """Inside, the levels of a monotone attribute run from worst to best: nothing differs, to the
    last bit."""
    data, how = monotone_attribute_turned_round()
    assert log_evidence(data, 1, **how) == log_evidence(people(), 1)
