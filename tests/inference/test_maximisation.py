"""The loops that climb: a table of targets whose maxima are known, and how each loop ends."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

from thali._inference.maximisation import (
    Concave,
    Slope,
    Target,
    iterate_squarem,
    maximise_bfgs,
    maximise_newton,
)

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + RNG.logistic(size=60) > 0).astype(float)


def bend(x):
    """A ridge that turns (Rosenbrock's function), whose curvature is negative in places."""
    a, b = 1.0 - x[0], x[1] - x[0] ** 2
    hessian = np.array(
        [[2.0 + 120.0 * x[0] ** 2 - 40.0 * x[1], -40.0 * x[0]], [-40.0 * x[0], 20.0]]
    )
    return -(a**2) - 10.0 * b**2, np.array([2.0 * a + 40.0 * x[0] * b, -20.0 * b]), hessian


def logit(x):
    """A log-likelihood with a ridge."""
    linear = X @ x
    p = 1.0 / (1.0 + np.exp(-linear))
    value = Y @ linear - np.logaddexp(0.0, linear).sum() - 0.5 * x @ x
    return value, X.T @ (Y - p) - x, (X.T * (p * (1.0 - p))) @ X + np.eye(4)


def steep(x):
    """Flat far away, where Newton's step leads beyond the maximum and down."""
    return -np.logaddexp(x, -x).sum(), -np.tanh(x), np.diag(1.0 / np.cosh(x) ** 2)


def far(x):
    """Exponential on one side, linear on the other."""
    return (x - np.exp(x)).sum(), 1.0 - np.exp(x), np.diag(np.exp(x))


TARGETS = {
    "bend": (bend, np.array([-1.2, 1.0])),
    "logit": (logit, np.zeros(4)),
    "steep": (steep, np.array([2.0, -0.5])),
    "far": (far, np.array([-4.0, 3.0])),
}
CONCAVE = ("logit", "steep", "far")


class Place(NamedTuple):
    where: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: np.ndarray


class Plain(Target[Place]):
    """A function of the table, which counts how often it is looked at."""

    def __init__(self, function, most=10_000):
        self.function, self.most, self.looks = function, most, 0

    def look(self, where):
        self.looks += 1
        return Place(where, *self.function(where))

    def move_point(self, here, change):
        return self.look(here.where + change)

    def slope(self, here):
        return Slope(here.gradient, here.curvature, np.abs(np.diag(here.curvature)) + 1e-8)

    def is_spent(self):
        return self.looks >= self.most


def climbed(name, way, most=10_000):
    function, start = TARGETS[name]
    target = Plain(function, most)
    if way == "halved":
        concave = Concave(function)
        return maximise_newton(concave, concave.evaluate(start), 1e-12, take_last=True), target
    if way == "gradient":
        return maximise_bfgs(target, target.look(start), 1e-9, 10.0), target
    return maximise_newton(
        target, target.look(start), 1e-12, take_last=True, damping=1e-3, max_change=2.0
    ), target


WAYS = [(name, "damped") for name in TARGETS]
WAYS += [(name, "gradient") for name in TARGETS] + [(name, "halved") for name in CONCAVE]


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_every_loop_finds_the_maximum_of_every_target(name, way):
    function, start = TARGETS[name]
    (point, steps, converged), _ = climbed(name, way)
    best = minimize(lambda x: -function(x)[0], start, jac=lambda x: -function(x)[1], tol=1e-12)
    assert converged and 0 < steps < 60
    np.testing.assert_allclose(point.where, best.x, atol=1e-6)
    # the last step doubles the digits of a gain of 1e-12
    assert np.abs(point.gradient).max() < 1e-8


@pytest.mark.parametrize("way", ["damped", "gradient"])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_loop_ends_when_its_target_is_spent(way, most):
    (_, _, converged), target = climbed("bend", way, most)
    assert not converged and target.looks == most


def test_rounding_of_the_value_does_not_keep_the_gradient_from_a_maximum():
    """Near it the values differ by less than rounding, and the slope alone says which way is up."""
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def rounded(x, rng=rng):
            value, *rest = logit(x)
            return value * (1.0 + 8.0 * np.finfo(float).eps * rng.uniform(-1.0, 1.0)), *rest

        target = Plain(rounded)
        assert maximise_bfgs(target, target.look(np.zeros(4)), 1e-9, 10.0).converged


def test_a_loop_of_few_steps_says_that_it_has_not_converged():
    target = Plain(bend)
    assert maximise_newton(
        target, target.look(np.array([-1.2, 1.0])), 1e-12, damping=1e-3, max_steps=3
    )[1:] == (3, False)


def test_the_last_step_is_taken_or_not():
    target = Plain(logit)
    start = climbed("logit", "damped")[0].point.where + 1e-4
    stays, steps, _ = maximise_newton(target, target.look(start), 1e-3, damping=1e-3)
    assert steps == 0 and np.array_equal(stays.where, start)
    taken, steps, _ = maximise_newton(
        target, target.look(start), 1e-3, take_last=True, damping=1e-3
    )
    assert steps == 1 and np.abs(taken.gradient).max() < 1e-2 * np.abs(stays.gradient).max()


def test_no_step_is_longer_than_the_longest():
    target, wheres = Plain(far), []
    look = target.look
    target.look = lambda where: wheres.append(where) or look(where)
    maximise_newton(
        target, target.look(np.array([-8.0, -8.0])), 1e-12, damping=1e-3, max_change=0.5
    )
    assert np.abs(np.diff(wheres, axis=0)).max() == pytest.approx(0.5)


@pytest.mark.parametrize("damping", [None, 1e-3])
def test_where_no_step_rises_nothing_has_converged(damping):
    """The gradient points downhill."""

    class Wrong(Plain):
        def slope(self, here):
            return Slope(-here.gradient, here.curvature, np.ones(4))

    target = Wrong(logit)
    start = np.full(4, 5.0)
    point, steps, converged = maximise_newton(target, target.look(start), 1e-12, damping=damping)
    assert not converged and steps == 0 and np.array_equal(point.where, start)


def test_gains_that_rounding_hides_are_no_reason_to_stay():
    """A constant of 1e9 leaves seven digits after the point: steps that promise less are taken
    unseen."""
    target = Concave(lambda x: (1e9 + logit(x)[0], *logit(x)[1:]), rounding=1e-4)
    point, _, converged = maximise_newton(
        target, target.evaluate(np.zeros(4)), 1e-12, take_last=True
    )
    assert converged and np.abs(point.gradient).max() < 1e-8


def test_squarem_finds_a_fixed_point_in_few_passes():
    found = iterate_squarem(
        lambda x: (0.9 * x + 0.1, -float((x[0] - 1.0) ** 2)), np.array([5.0]), 100, 1e-12
    )
    assert found.theta[0] == pytest.approx(1.0, abs=1e-6)
    assert found.converged and found.n_passes < 10
