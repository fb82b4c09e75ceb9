"""Annealed chains of product classes: against known answers, whatever the cores, stopped early."""

import math

import numpy as np
import pytest
from product_class_answers import (
    Silent,
    binary,
    problem_and_settings,
    run_annealed,
    settings,
)
from product_class_cases import TP1

from thali.choice.product_classes.engines.annealed import (
    Chain,
    Schedule,
    annealed_chains,
    every,
    fit_of,
    recorded_sweeps,
)
from thali.choice.product_classes.engines.fit import Keeper
from thali.choice.product_classes.engines.path import lapse_messages
from thali.choice.product_classes.state import SWEEPS, problem_of
from thali.inference.threads import run_in_threads


def test_what_is_kept():
    """The first eighth of the final phase goes, every fourth sweep stays, or fewer, so that there are at most 500."""
    problem = problem_of(TP1)
    for sweeps, draws in ((80, 18), (8, 2), (2, 2), (3000, 329)):
        fit = run_annealed(
            problem, settings("annealed", groups=2, sweeps_per_step=1, final_sweeps=sweeps), random_seed=1
        )
        assert fit.particles.n_draws == 2 * draws == 2 * len(recorded_sweeps(sweeps)) and fit.sweeps == sweeps
        assert np.isfinite(fit.particles.log_likelihood).all()
    assert fit.trace["log_evidence"].shape == (2, 40) and fit.trace["lapse"].shape == (40,)


def test_a_longer_run_has_the_draws_of_a_shorter_one():
    """Those that both keep are at the same sweeps, and no more than 500 are ever recorded."""
    for sweeps in [*range(1, 40), 1999, 2000, 2003, 2004, 4003, 4004, 10**6]:
        apart = every(sweeps)
        assert apart == 1 if sweeps < 4 else apart % 4 == 0 and apart & (apart - 1) == 0
        assert sweeps // apart <= 500 and (apart <= 4 or sweeps // (apart // 2) > 500)
        assert (recorded_sweeps(sweeps) % apart == 0).all() and recorded_sweeps(sweeps)[0] > sweeps // 8
        assert recorded_sweeps(sweeps)[-1] > sweeps - apart


def test_a_fixed_start_has_no_evidence():
    problem, how = problem_and_settings(TP1, {}, None, 1.0, "annealed", start="fixed", groups=2, final_sweeps=8)
    fit = run_annealed(problem, how, random_seed=1)
    assert math.isnan(fit.log_evidence) and math.isnan(fit.evidence_sd)
    assert "log_evidence" not in fit.trace and "only chains with start='prior'" in fit.messages[0]


@pytest.mark.parametrize("start", ["fixed", "prior"])
def test_where_chains_start(start):
    """At a = 2 and σ = .6; or, where weights must have the evidence as their mean, anywhere in the prior."""
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, "annealed", start=start)
    rngs = np.random.default_rng(1).spawn(200)
    chains = [Chain(problem, how, Schedule(problem, how), rng, 0, Keeper(problem, 1.0), 800) for rng in rngs]
    a, sigma, _ = np.array([chain.state.real for chain in chains]).T
    if start == "fixed":
        assert set(a) == {2.0} and set(sigma) == {0.6}
    else:
        assert abs(a.mean() - 1.0) < 4 / math.sqrt(200) and abs(sigma.mean() - 0.5) < 4 / math.sqrt(12 * 200)
        assert all(chain.log_weight == pytest.approx(-4 * math.log(3.0)) for chain in chains)


def test_a_single_chain_has_no_error():
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, "annealed", groups=1, final_sweeps=8)
    fit = run_annealed(problem, how, random_seed=1)
    assert math.isfinite(fit.log_evidence) and math.isnan(fit.log_evidence_se)
    assert "unknown error" in fit.messages[0] and len(fit.messages) == 1


def test_the_last_lapse_stays_where_choices_are_not_satisfied():
    """Without lapse in the model, whoever's choices the chain satisfies loses it, and the others once they are."""
    data = binary(12, 2, 2, worse=(1, 2, 4, 7))
    problem, how = problem_and_settings(data, {"x0": "increasing"}, 2.0, 1.0, "annealed", sweeps_per_step=1)
    chain = Chain(problem, how, Schedule(problem, how), np.random.default_rng(4), 0, Keeper(problem, 1.0), 800)
    chain.target.delta[:] = 1e-5
    chain._harden(True)
    hits = chain._hits().reshape(12, 2)
    satisfied = (hits > 0.0).all(axis=1)
    assert 0 < satisfied.sum() < 12
    np.testing.assert_array_equal(chain.target.delta.reshape(12, 2) == 0.0, np.tile(satisfied[:, None], 2))
    np.testing.assert_array_equal(chain.people_with_lapse(), np.flatnonzero(~satisfied))
    assert chain.log_weight == -math.inf
    chain.state.whole[SWEEPS] = chain.schedule.annealing
    chain.run_to(chain.schedule.annealing + 400)
    assert not chain.target.delta.any() and (chain._hits() > 0.0).all()
    assert "respondents number 3, 5; a lapse of 1e-05" in lapse_messages([2, 4], 1e-5)[0]


def stopped(after, **stamp):
    """A fit that Ctrl-C stops once every chain has done so many sweeps."""
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, "annealed", groups=3, **stamp)
    chains = annealed_chains(problem, how, how.final_sweeps, 1)
    with pytest.raises(KeyboardInterrupt):
        run_in_threads(chains, None, Silent(chains, after))
    return fit_of(chains, how)


def test_stopped_in_the_final_phase():
    fit = stopped(1000, final_sweeps=10**7)
    assert fit.interrupted and math.isfinite(fit.log_evidence)
    assert fit.particles.n_draws % 3 == 0 and fit.particles.lapse == 0.0


def test_stopped_while_annealing():
    """The states as they are become the draws of a model with the lapse of that moment."""
    fit = stopped(3, sweeps_per_step=10**6)
    assert fit.interrupted and fit.particles.n_draws == 3 and fit.sweeps == 0
    assert 0.5 < fit.particles.lapse < 1.0 and math.isnan(fit.log_evidence)
    assert any("Stopped while the lapse" in line for line in fit.messages)
