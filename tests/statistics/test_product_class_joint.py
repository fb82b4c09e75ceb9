"""Parameters keep their prior when data are drawn and swept over in turn (Geweke 2004)."""

import math

import numpy as np
import pytest
from helpers.product_class_cases import random_experiment
from helpers.product_class_joint import NAMES, PRIOR, SIMULATED, average

from thali._choice.product_classes.state import (
    FEW_PROPOSALS,
    MANY_PROPOSALS,
    build_class_problem,
    build_target,
)
from thali._choice.product_classes.sweep import draw_state

DATA = random_experiment(5, [3, 3, 2], [3, 3, 2])
LAPSES = (0.0, 0.2)


def z_scores(lapse, chains, iterations, seed, proposals):
    """Differences between chain means of both arms, in standard errors; alpha is learned when there
    is a lapse."""
    rng = np.random.default_rng(seed)
    problem = build_class_problem(
        DATA, {"x0": "increasing"}, alpha=None if lapse else 2.0, beta=1.3
    )
    problem = problem._replace(proposals=np.array(proposals))
    target = build_target(problem, lapse)
    swept, prior = np.zeros((2, chains, len(NAMES)))
    for c in range(chains):
        state, drop = draw_state(rng, problem, shapes_from_prior=True), iterations // 10
        means, state = average(
            rng, problem, target, state, SIMULATED, iterations=iterations - drop, drop=drop
        )
        swept[c] = means[0, : len(NAMES)]
        prior[c] = average(rng, problem, target, state, PRIOR, iterations=iterations)[0][
            0, : len(NAMES)
        ]
    error = np.sqrt((swept.var(axis=0, ddof=1) + prior.var(axis=0, ddof=1)) / chains)
    moves = error > 0
    assert moves.sum() >= len(NAMES) - 1  # alpha may be fixed
    return (swept.mean(axis=0) - prior.mean(axis=0))[moves] / error[moves]


def check(lapse, chains, iterations, proposals=FEW_PROPOSALS):
    """A row that fails is repeated with four times the iterations: an error grows, chance does
    not."""
    for attempt in range(2):
        z = z_scores(lapse, chains, iterations * 4**attempt, 100 + attempt, proposals)
        worst, spread = np.abs(z).max(), math.sqrt((z**2).mean())
        if spread <= 2.0 and worst <= 4.0:
            return
    raise AssertionError(
        f"rms z {spread:.2f}, largest {worst:.2f}: {dict(zip(NAMES, z.round(1), strict=False))}"
    )


@pytest.mark.first(4)
@pytest.mark.parametrize("lapse", LAPSES)
def test_sweeps_leave_the_joint_distribution_alone(lapse):
    check(lapse, chains=120, iterations=100)


@pytest.mark.first(1)
@pytest.mark.parametrize("lapse", LAPSES)
def test_sweeps_with_exchanges_leave_the_joint_distribution_alone(lapse):
    check(lapse, chains=120, iterations=100, proposals=MANY_PROPOSALS)


@pytest.mark.long
@pytest.mark.parametrize("lapse", LAPSES)
def test_long_runs_with_exchanges_leave_the_joint_distribution_alone(lapse):
    check(lapse, chains=400, iterations=400, proposals=MANY_PROPOSALS)


@pytest.mark.long
@pytest.mark.parametrize("lapse", LAPSES)
def test_long_runs_leave_the_joint_distribution_alone(lapse):
    check(lapse, chains=400, iterations=400)
