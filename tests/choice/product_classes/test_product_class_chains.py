"""Chains of product classes: what they keep, where they start, and what is left of those that are
stopped."""

import numpy as np
import pytest
from helpers.product_class_answers import Plan, Silent, binary, run_plan
from helpers.product_class_cases import TP1

from thali._choice.product_classes.ragged_draws import MAX_CHAIN_DRAWS, choose_spacing
from thali._choice.product_classes.samplers.mcmc import (
    build_chains,
    build_engine_result,
    format_lapse_messages,
    list_kept_draws,
)
from thali._choice.product_classes.state import build_class_problem
from thali._inference.threads_and_processes import run_in_threads


def test_chains_keep_evenly_spaced_draws():
    """Every draw, or of many every other one, every fourth, ..."""
    problem = build_class_problem(TP1)
    for draws, kept in ((3, 3), (401, 200)):
        fit = run_plan(problem, Plan("mcmc", groups=2, tune=2, thin=1, draws=draws), random_seed=1)
        assert (
            fit.particles.n_draws == 2 * kept == 2 * len(list_kept_draws(draws))
            and fit.draws == draws
        )
        assert np.isfinite(fit.particles.log_likelihood).all() and not fit.interrupted


def test_a_longer_run_has_the_draws_of_a_shorter_one():
    """Those that both keep have the same numbers, and there are never more than so many."""
    for draws in [*range(1, 40), 399, 400, 401, 801, 4003, 10**6]:
        step = choose_spacing(draws)
        assert step & (step - 1) == 0 and draws // step <= MAX_CHAIN_DRAWS
        assert step == 1 or draws // (step // 2) > MAX_CHAIN_DRAWS
        assert (list_kept_draws(draws) % step == 0).all() and list_kept_draws(draws)[
            -1
        ] > draws - step


@pytest.mark.parametrize("tune", [0, 1, 100])
def test_the_lapse_falls_in_the_first_half_of_tuning(tune):
    """Chains start at a = 2 and sigma = 0.6, where they stay until it has fallen."""
    run = Plan("mcmc", groups=3, tune=tune, thin=2).run
    for chain in build_chains(build_class_problem(TP1), 0.05, run, 10, np.random.SeedSequence(1)):
        lapses, shapes = [], []
        for sweep in range(1, 2 * tune + 1):
            chain.run_until(sweep)
            lapses.append(chain.target.delta[0])
            shapes.append(tuple(chain.state.real[:2]))
        assert lapses == sorted(lapses, reverse=True)
        np.testing.assert_allclose(lapses[tune:], 0.05)
        assert not tune or lapses[0] == pytest.approx(0.05 if tune == 1 else 1 / 1.02)
        assert set(shapes[:tune]) <= {(2.0, 0.6)} and (tune < 100 or len(set(shapes[tune:])) > 10)
        chain.run_until(chain.total)
        assert chain.recorded == 10 and chain.target.delta[0] == pytest.approx(0.05)


def test_the_last_lapse_stays_where_choices_are_not_satisfied():
    """Without lapse in the model, whoever's choices the chain satisfies loses it, and the others
    once they are."""
    data = binary(12, 2, 2, worse=(1, 2, 4, 7))
    problem = build_class_problem(data, {"x0": "increasing"}, 2.0, 1.0)
    (chain,) = build_chains(
        problem, 0.0, Plan("mcmc", groups=1, tune=2, thin=400).run, 1, np.random.SeedSequence(4)
    )
    chain.target.delta[:] = 1e-5
    chain.remove_needless_lapses()
    satisfied = (chain.hits.reshape(12, 2) > 0.0).all(axis=1)
    assert 0 < satisfied.sum() < 12
    np.testing.assert_array_equal(
        chain.target.delta.reshape(12, 2) == 0.0, np.tile(satisfied[:, None], 2)
    )
    np.testing.assert_array_equal(chain.respondents_with_lapse(), np.flatnonzero(~satisfied))
    chain.run_until(chain.total)
    assert not chain.target.delta.any() and np.isfinite(chain.draw().log_likelihood).all()
    assert (
        "respondents number 3 and 5; these keep a lapse rate of 1e-05"
        in format_lapse_messages([2, 4])[0]
    )


@pytest.mark.long
def test_stopped_chains_have_the_draws_that_all_recorded():
    """The draws are those of an unbroken run."""
    problem, plan = (
        build_class_problem(TP1, {}, 2.0, 1.0),
        Plan("mcmc", groups=3, tune=10, draws=10**5),
    )
    chains = build_chains(problem, 0.0, plan.run, plan.draws, np.random.SeedSequence(1))
    with pytest.raises(KeyboardInterrupt):
        run_in_threads(chains, None, Silent(chains, 1000))
    fit = build_engine_result(chains)
    assert (
        fit.interrupted
        and fit.particles.lapse == 0.0
        and np.isfinite(fit.particles.log_likelihood).all()
    )
    whole = run_plan(problem, plan._replace(draws=fit.draws), random_seed=np.random.SeedSequence(1))
    unbroken = [set(each) for each in whole.particles.log_likelihood.reshape(3, -1)]
    for chain in range(fit.particles.group.max() + 1):  # one that was far behind is left out
        drawn = set(fit.particles.log_likelihood[fit.particles.group == chain])
        assert drawn and any(drawn <= each for each in unbroken)
