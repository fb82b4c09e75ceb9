"""Sequential Monte Carlo of product classes: against known answers for all schedules and paths, and its parts."""

import math

import numpy as np
import pytest
from product_class_answers import (
    binary,
    problem_and_settings,
    settings,
)
from product_class_cases import TP1

from thali.choice.product_classes.arguments import particles_for
from thali.choice.product_classes.engines import smc
from thali.choice.product_classes.engines import smc as smc_run
from thali.choice.product_classes.engines.path import (
    LapsePath,
    LogitPath,
    log_mean,
    next_point,
    particle_messages,
    relative_size,
)
from thali.choice.product_classes.engines.population import systematic
from thali.choice.product_classes.engines.smc import run_smc
from thali.choice.product_classes.state import problem_of, target_of


@pytest.mark.parametrize(
    ("final", "particles", "draws"), [(0, 5, 5), (2, 5, 5), (7, 5, 10), (30, 5, 50), (60, 128, 512)]
)
def test_what_is_kept(final, particles, draws):
    """Every third of the final sweeps; of many particles a part each time, so that each is kept alike."""
    problem = problem_of(binary(2, 1, 2))
    fit = run_smc(
        problem, settings(groups=2, particles=particles, sweeps_per_step=1, final_sweeps=final), random_seed=1
    )
    assert fit.particles.n_draws == 2 * draws
    np.testing.assert_array_equal(fit.particles.group, np.repeat([0, 1], draws))


# parts ----------------------------------------------------------------------------------------------------


def test_systematic_resampling():
    """Every index is drawn ⌊P w⌋ or ⌈P w⌉ times, and P w times on the average."""
    w = np.array([0.05, 0.0, 0.4, 0.25, 0.3, 0.0])
    counts = np.array([np.bincount(systematic(7 * w, u), minlength=6) for u in (np.arange(1000) + 0.5) / 1000])
    assert (counts >= np.floor(6 * w)).all() and (counts <= np.ceil(6 * w)).all()
    np.testing.assert_allclose(counts.mean(axis=0), 6 * w, atol=2e-3)
    assert systematic(np.array([0.0, 1.0, 0.0]), 1.0 - 1e-16).max() == 1


@pytest.mark.parametrize("gentle", [True, False])
def test_the_next_point_leaves_half_of_the_weights(gentle):
    rng = np.random.default_rng(1)
    hits = rng.choice([0.0, 1.0, 0.5, 1 / 3], size=(400, 30))
    walk = LapsePath(0.02, np.full(30, 2))
    walk.see(hits, np.empty((400, 0)))
    u = 0.0
    while u < walk.end:
        now = walk.log_likelihood(u)
        point = next_point(lambda x, now=now: walk.log_likelihood(x) - now, u, walk.end, walk.cap, 4, gentle)
        share = relative_size(walk.log_likelihood(point) - now)
        assert point > u and share == pytest.approx(0.5, abs=1e-4) if point < walk.end else share >= 0.5
        u = point
    target = target_of(problem_of(TP1), 1.0)
    walk.set(target, slice(1, 3), u)
    assert target.delta.tolist() == [1.0, 0.02, 0.02, 1.0]


def test_likelihoods_along_the_paths():
    """By the definitions, tasks of different sizes included."""
    hits = np.array([[1.0, 0.5, 0.0], [1 / 3, 0.0, 0.5]])
    others = np.array([2, 1, 1])
    walk = LapsePath(0.0, others)
    walk.see(hits, np.empty((2, 0)))
    for u in (0.0, 0.7, 1e5):
        delta = 1 / (1 + u)
        expected = np.log((1 - delta) * hits + delta / (others + 1)).sum(axis=1)
        np.testing.assert_allclose(walk.log_likelihood(u), expected, rtol=1e-12)
    assert walk.log_likelihood(math.inf).tolist() == [-math.inf, -math.inf]
    differences = np.array([[0.5, -1.0, 0.0, 3.0], [1.0, 1.0, 2.0, -0.1]])
    soft = LogitPath(0.1, others)
    soft.see(hits, differences)
    for b in (0.0, 1.3):
        e = np.exp(-b * differences)
        logit = np.stack([1 / (1 + e[:, 0] + e[:, 1]), 1 / (1 + e[:, 2]), 1 / (1 + e[:, 3])], axis=1)
        np.testing.assert_allclose(soft.log_likelihood(b), np.log(0.9 * logit + 0.1 / (others + 1)).sum(axis=1))
    expected = np.log(0.9 * hits + 0.1 / (others + 1)).sum(axis=1)
    np.testing.assert_allclose(soft.log_likelihood(math.inf), expected)


def test_log_mean():
    values = np.array([[0.0, math.log(3.0)], [-math.inf, -math.inf], [-2000.0, -math.inf]])
    np.testing.assert_allclose(log_mean(values), [math.log(2.0), -math.inf, -2000.0 - math.log(2.0)])


def test_a_group_that_nobody_survives(monkeypatch):
    """The step is refused and tried again after more moves; in the end people are satisfied one by one."""
    monkeypatch.setattr(smc_run, "RETRIES", 2)
    seen = []
    point = smc_run.Run._next_point
    monkeypatch.setattr(
        smc_run.Run, "_next_point", lambda self, weights: seen.append(self.retries) or point(self, weights)
    )
    problem, how = problem_and_settings(
        binary(25, 4, 4, worse=(1, 2)), {"x0": "increasing"}, 3.0, 1.0, groups=2, particles=2, sweeps_per_step=1
    )
    given = [[1e5]]
    fit = run_smc(problem, how, random_seed=2, schedule_of_u=given)
    assert seen[0] == 0 and np.isfinite(fit.log_evidence) and np.isfinite(fit.particles.log_likelihood).all()
    fit = run_smc(problem, how, random_seed=2, schedule_of_u=[[math.inf]])
    assert max(seen) == 2 and np.isfinite(fit.trace["log_evidence"]).all()
    kept = [line for line in fit.messages if line.startswith("No utility")]
    assert np.isfinite(fit.particles.log_likelihood).all() and len(kept) <= 1


def test_words_on_the_evidence():
    rng = np.random.default_rng(1)
    assert len(particle_messages(-100 + 0.3 * rng.normal(size=8), 20, 64)) == 1
    for sd, advice in ((1.5, "more particles"), (3.0, "more sweeps at each step"), (30.0, "different sets of classes")):
        values = -100 + sd * np.array([-1.0, 1.0] * 4) * math.sqrt(7 / 8)
        first, second = particle_messages(values, 64, 64)
        assert f"standard deviation of {sd:.2f}, {sd:.1f} times" in first
        assert second.startswith("Evidence not usable") and advice in second


def test_fewer_particles_for_more_people():
    assert [particles_for(n) for n in (1, 100, 200, 332, 5000)] == [64, 64, 32, 19, 16]


# stopped early --------------------------------------------------------------------------------------------


def stopped(monkeypatch, is_time, **stamp):
    """A fit that Ctrl-C stops as soon as something holds of it."""
    update = smc._Watch.update

    def interrupt(self, done):
        update(self, done)
        if is_time(self.run):
            raise KeyboardInterrupt

    monkeypatch.setattr(smc._Watch, "update", interrupt)
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, groups=2, particles=16, **stamp)
    return run_smc(problem, how, random_seed=1)


def test_stopped_on_the_way(monkeypatch):
    """The particles as they are belong to a model with the lapse of that moment."""
    fit = stopped(monkeypatch, lambda run: len(run.rows) == 1, lapse=0.01)
    assert fit.interrupted and fit.particles.n_draws == 32 and math.isnan(fit.log_evidence)
    assert fit.particles.lapse == pytest.approx(1 / (1 + fit.trace["u"][0]))
    assert "Stopped while the lapse" in fit.messages[0]


def test_stopped_before_everybody_had_come(monkeypatch):
    fit = stopped(monkeypatch, lambda run: len(run.rows) == 1, schedule="observation")
    assert fit.interrupted and fit.particles.n_respondents == 2 and "before all choices" in fit.messages[0]


def test_stopped_in_the_final_sweeps(monkeypatch):
    fit = stopped(monkeypatch, lambda run: run.recorded == 2)
    assert fit.interrupted and fit.particles.n_draws == 2 * 2 * 16 and math.isfinite(fit.log_evidence)


def test_stopped_before_the_final_sweeps(monkeypatch):
    fit = stopped(monkeypatch, lambda run: run.has_evidence)
    assert fit.interrupted and fit.particles.n_draws == 2 * 16 and math.isfinite(fit.log_evidence)
    assert "Stopped before the final sweeps" in fit.messages[0]


def test_stopped_before_anything(monkeypatch):
    """There is nothing to keep."""
    with pytest.raises(KeyboardInterrupt):
        stopped(monkeypatch, lambda run: True)
