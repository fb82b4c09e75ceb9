"""Sequential Monte Carlo of product classes: its parts, and runs that are stopped."""

import math

import numpy as np
import pytest
from helpers import limits
from helpers.product_class_answers import Plan, binary, run_plan
from helpers.product_class_cases import TP1

import thali._choice.product_classes.samplers.smc as smc
from thali._choice.product_classes.samplers.smc import (
    LapsePath,
    find_next_point,
    format_evidence_messages,
    lapse_odds,
    log_mean_exp,
)
from thali._choice.product_classes.state import build_class_problem, build_target

# parts --------------------------------------------------------------------------------------------


def test_the_next_point_leaves_half_of_the_weights():
    rng = np.random.default_rng(1)
    hits = rng.choice([0.0, 1.0, 0.5, 1 / 3], size=(400, 30))
    path = LapsePath(0.02, np.full(30, 3), hits)
    u, end = 0.0, lapse_odds(0.02)
    while u < end:
        now = path.log_likelihood(u)
        point = find_next_point(lambda x, now=now: path.log_likelihood(x) - now, u, end, 4)
        weights = np.exp(path.log_likelihood(point) - now)
        share = weights.sum() ** 2 / (400 * weights @ weights)
        assert point > u and share == pytest.approx(0.5, abs=1e-4) if point < end else share >= 0.5
        u = point
    target = build_target(build_class_problem(TP1), 1.0)
    path.write_target(target, slice(1, 3), u)
    assert target.delta.tolist() == [1.0, 0.02, 0.02, 1.0]


def test_likelihoods_along_the_path():
    """By the definition, tasks of different sizes included."""
    hits = np.array([[1.0, 0.5, 0.0], [1 / 3, 0.0, 0.5]])
    sizes = np.array([3, 2, 2])
    path = LapsePath(0.0, sizes, hits)
    for u in (0.0, 0.7, 1e5):
        delta = 1 / (1 + u)
        expected = np.log((1 - delta) * hits + delta / sizes).sum(axis=1)
        np.testing.assert_allclose(path.log_likelihood(u), expected, rtol=1e-12)
    assert path.log_likelihood(math.inf).tolist() == [-math.inf, -math.inf]


def test_log_mean_exp_by_hand():
    values = np.array([[0.0, math.log(3.0)], [-math.inf, -math.inf], [-2000.0, -math.inf]])
    np.testing.assert_allclose(
        log_mean_exp(values), [math.log(2.0), -math.inf, -2000.0 - math.log(2.0)]
    )


def test_a_group_that_nobody_survives(monkeypatch):
    """The step is refused and tried again after more moves; in the end respondents are satisfied
    one by one."""
    limits.lower_in(smc, monkeypatch, MAX_RETRIES=2)
    tries = []
    temper = smc.TemperedParticles.temper
    monkeypatch.setattr(
        smc.TemperedParticles, "temper", lambda self: tries.append(self.retries) or temper(self)
    )
    monkeypatch.setattr(smc, "find_next_point", lambda weights, u, end, groups: end)
    problem = build_class_problem(binary(25, 4, 4, worse=(1, 2)), {"x0": "increasing"}, 3.0, 1.0)
    fit = run_plan(problem, Plan(groups=2, particles=2, sweeps_per_step=1), random_seed=2)
    assert tries == [0, 1, 2] and np.isfinite(fit.trace["log_evidence"]).all()
    kept = [line for line in fit.messages if line.startswith("No utility")]
    assert np.isfinite(fit.particles.log_likelihood).all() and len(kept) <= 1


def test_words_on_the_evidence():
    rng = np.random.default_rng(1)
    assert len(format_evidence_messages(-100 + 0.3 * rng.normal(size=8), 20, 64)) == 1
    for sd, advice in ((1.5, "more draws"), (3.0, "more sweeps per step")):
        values = -100 + sd * np.array([-1.0, 1.0] * 4) * math.sqrt(7 / 8)
        first, second = format_evidence_messages(values, 64, 64)
        assert (
            f"standard deviation {sd:.2f}; with perfect mixing" in first and "about 1.00" in first
        )
        assert second.startswith("The evidence is not usable") and advice in second


# stopped early ------------------------------------------------------------------------------------


def stopped(monkeypatch, is_time, **plan):
    """A fit that Ctrl-C stops as soon as something holds of it."""
    update = smc._ProgressWatch.update

    def interrupt(self, done):
        update(self, done)
        if is_time(self.ascent):
            raise KeyboardInterrupt

    monkeypatch.setattr(smc._ProgressWatch, "update", interrupt)
    return run_plan(
        build_class_problem(TP1, {}, 2.0, 1.0), Plan(groups=2, particles=16, **plan), random_seed=1
    )


def test_stopped_on_the_way(monkeypatch):
    """The particles as they are belong to a model with the lapse of that moment."""
    fit = stopped(monkeypatch, lambda ascent: len(ascent.rows) == 1, lapse=0.01)
    assert fit.interrupted and fit.particles.n_draws == 32 and math.isnan(fit.log_evidence)
    assert 0.01 < fit.particles.lapse == fit.trace["lapse"][0] < 1.0
    assert "Stopped while the lapse" in fit.messages[0]


def test_stopped_at_the_end(monkeypatch):
    fit = stopped(monkeypatch, lambda ascent: ascent.is_done)
    assert fit.interrupted and fit.particles.n_draws == 2 * 16 and math.isfinite(fit.log_evidence)


def test_a_run_stopped_before_any_step_raises(monkeypatch):
    """There is nothing to keep."""
    with pytest.raises(KeyboardInterrupt):
        stopped(monkeypatch, lambda ascent: True)
