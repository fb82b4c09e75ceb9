"""Trajectories of the sparse logit's coefficients: energy, slopes, curvature, and that they can be
followed back."""

import numpy as np
import pytest
from helpers.sparse_logit_runs import (
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
    three_classes,
)

from thali._classify.sparse_logit.hamiltonian_moves import (
    compute_coefficient_potential,
    run_leapfrog,
    update_curvature,
)
from thali._classify.sparse_logit.normal_approximation import expand_log_likelihood
from thali._compile.jit import compiled

CASES = {"two classes": (2, 0), "reference last": (2, 1), "three classes": (3, 1)}


@compiled
def compute_energy(problem, state, motion):
    return compute_coefficient_potential(problem, state, motion)


@compiled
def follow_trajectory(problem, state, motion, step, count):
    return run_leapfrog(problem, state, motion, step, count)


@pytest.fixture(params=CASES)
def chain(request):
    classes, reference = CASES[request.param]
    X, y = three_classes()
    rng = np.random.default_rng(3)
    prior, counts = CoefficientPrior(None, 1, 1, True), rng.integers(1, 4, len(y)).astype(float)
    problem = build_coefficient_problem(
        X, y % classes, classes, reference, prior, False, counts, n_trajectories=2
    )
    made = CoefficientChain(problem, None, rng, 1, 20, 1)
    made.run_until(20)
    made.motion.coef[:] = rng.normal(size=made.motion.coef.size)
    return made


def mask_free_classes(problem):
    return np.arange(problem.classes) != problem.reference


def test_the_energy_slopes_agree_with_differences(chain):
    problem, motion = chain.problem, chain.motion

    def naive(coef):
        linear = np.zeros((problem.classes, len(problem.codes)))
        linear[mask_free_classes(problem)] = (
            coef.reshape(problem.classes - 1, -1) @ problem.covariates
        )
        own = linear[problem.codes, np.arange(len(problem.codes))]
        fit = problem.counts @ (own - np.logaddexp.reduce(linear, axis=0))
        return (
            0.5 * (coef**2 / chain.state.variance[mask_free_classes(problem)].ravel()).sum() - fit
        )

    coef = motion.coef.copy()
    assert compute_energy(problem, chain.state, motion) == pytest.approx(naive(coef), rel=1e-12)
    for place in range(len(coef)):
        step = np.zeros(len(coef))
        step[place] = 1e-5
        assert motion.slope[place] == pytest.approx(
            (naive(coef + step) - naive(coef - step)) / 2e-5, rel=1e-6, abs=1e-6
        )


def test_a_trajectory_can_be_followed_back_and_keeps_its_energy(chain):
    problem, state, motion = chain.problem, chain.state, chain.motion
    start = motion.coef.copy()
    motion.root[:] = np.sqrt(state.variance[mask_free_classes(problem)].ravel())
    D = len(start)
    inside = np.tril(motion.curvature) + np.tril(motion.curvature, -1).T
    motion.factor[:] = np.linalg.cholesky(np.eye(D) + motion.root[:, None] * inside * motion.root)
    motion.momentum[:] = momentum = np.random.default_rng(4).normal(size=D)
    before = compute_energy(problem, state, motion) + 0.5 * momentum @ momentum
    after = (
        follow_trajectory(problem, state, motion, 0.01, 30)
        + 0.5 * motion.momentum @ motion.momentum
    )
    assert after == pytest.approx(before, abs=2e-3) and np.abs(motion.coef - start).max() > 0.1
    motion.momentum[:] = -motion.momentum
    follow_trajectory(problem, state, motion, 0.01, 30)
    assert np.allclose(motion.coef, start, atol=1e-11) and np.allclose(
        motion.momentum, -momentum, atol=1e-11
    )


def test_the_curvature_is_that_of_the_likelihood(chain):
    problem, motion = chain.problem, chain.motion
    motion.real[:] = 0.0
    update_curvature(problem, chain.state, motion)
    expected = expand_log_likelihood(
        problem, chain.state.coef[mask_free_classes(problem)]
    ).curvature
    assert np.allclose(np.tril(motion.curvature), np.tril(expected))
