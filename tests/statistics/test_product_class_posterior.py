"""Chains against posteriors that are known: by brute force, and in closed form."""

import json
import math

import numpy as np
import pytest
from helpers.places import PUBLISHED
from helpers.product_class_answers import binary, closed_form
from helpers.product_class_cases import NONE, TP1, TP2, TP3, Experiment, possible_state
from helpers.product_class_joint import NAMES, average

from thali._choice.product_classes.state import (
    FEW_PROPOSALS,
    MANY_PROPOSALS,
    build_class_problem,
    build_target,
)

# Experiment, monotone attributes, alpha, beta, prediction set.
PROBLEMS = {
    "TP1": (TP1, {"x0": "increasing"}, 2.0, 1.0, [(1, 0), (1, 1), (0, 2)]),
    "TP2": (TP2, {}, 1.5, 0.5, [(0,), (1,), (2,)]),
    "TP3": (TP3, {"x0": "increasing", "x1": "increasing"}, 2.0, 2.0, [(2, 0), (0, 1), NONE]),
}
KNOWN = json.loads((PUBLISHED / "product_classes.json").read_text())


def chains(problem, target, n_chains, iterations, people, seed):
    """Mean of every chain, of the quantities of NAMES about the first people and of L of every
    task."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n_chains):
        state = possible_state(rng, problem, target, people)
        run = average(
            rng, problem, target, state, iterations=iterations, drop=iterations // 20, people=people
        )
        rows.append(run[0][0])
    rows = np.array(rows)
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / math.sqrt(n_chains)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_posterior_means_are_those_of_brute_force(name):
    compare_with_brute_force(name, 40, 5000)


@pytest.mark.long  # that they leave the joint distribution alone is tested by default
@pytest.mark.parametrize("name", ["TP1", "TP3"])
def test_posterior_means_by_exchanges_are_those_of_brute_force(name):
    """Of two attributes: TP2 has one, so that there is nothing to exchange."""
    compare_with_brute_force(name, 40, 5000, MANY_PROPOSALS)


def compare_with_brute_force(name, n_chains, iterations, proposals=FEW_PROPOSALS):
    """Within four standard errors + 3e-4, as the values of the table are known.

    Predictions are the likelihoods of tasks that are not in the model: three for the first person,
    and three for a third, who has no others.
    """
    data, monotone, alpha, beta, products = PROBLEMS[name]
    asked = [(products, j) for j in range(3)]
    people = [[*data.people[0], *asked], data.people[1], asked]
    problem = build_class_problem(Experiment(data.n_levels, people), monotone, alpha, beta)
    problem = problem._replace(proposals=np.array(proposals))
    old, new = len(data.people[0]), problem.n_tasks - 3
    delta = np.zeros(problem.n_tasks)
    delta[old : old + 3] = delta[new:] = 1.0
    target = build_target(problem, delta)
    rng, rows = np.random.default_rng(21), []
    for _ in range(n_chains):
        state = possible_state(rng, problem, target, 3)
        run = average(
            rng, problem, target, state, iterations=iterations, drop=iterations // 20, people=2
        )
        rows.append(run[0][0])
    mean, error = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / math.sqrt(n_chains)
    first = len(NAMES)
    place = {quantity: NAMES.index(quantity) for quantity in NAMES}
    for j in range(3):
        place[f"p(x{j + 1}) person 1"], place[f"p(x{j + 1}) new person"] = (
            first + old + j,
            first + new + j,
        )
    for quantity, (value, known_to) in KNOWN[name].items():
        i = place[quantity]
        allowed = 4.0 * math.hypot(error[i], known_to) + 3e-4
        assert abs(mean[i] - value) < allowed, (
            f"{quantity}: {mean[i]:.5f} ({error[i]:.5f}), known {value}"
        )


@pytest.mark.first(3)
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((5, 3, 2, 2.0, 1.0, 0.0, ()), marks=pytest.mark.long),
        (5, 3, 2, 2.0, 1.0, 0.0, (0,)),
        pytest.param((5, 3, 3, 2.0, 1.0, 0.0, (1,)), marks=pytest.mark.long),
        (5, 3, 2, 2.0, 1.0, 0.1, (0,)),
        pytest.param((20, 8, 2, 1.5, 2.0, 0.0, (0,)), marks=pytest.mark.long),
        (50, 8, 2, 3.0, 1.0, 0.0, ()),
    ],
)
def test_posteriors_with_a_closed_form(arguments):
    """The number of classes, and who owns none; two further people have not come yet."""
    n, tasks, products, alpha, beta, lapse, wrong = arguments
    problem = build_class_problem(
        binary(n, tasks, products, wrong, extra=2), {"x0": "increasing"}, alpha, beta
    )
    iterations = 6_000 // n
    mean, error = chains(problem, build_target(problem, lapse), 20, iterations, n, 22)
    _, n_classes, empty = closed_form(*arguments)
    quantities = {"n_1 = 0": empty[0]}
    if lapse == 0.0:
        quantities["K"] = n_classes
    for quantity, value in quantities.items():
        i = NAMES.index(quantity)
        # Twenty chains: Student's t with 19 degrees of freedom exceeds 5.5 once in 40,000 times. A
        # rare event that may not happen at all has the error of a count.
        rare = math.sqrt(value * (1.0 - min(value, 1.0)) / (20 * iterations / 50))
        assert abs(mean[i] - value) < 5.5 * max(error[i], rare) + 1e-12, (
            quantity,
            mean[i],
            error[i],
            value,
        )
