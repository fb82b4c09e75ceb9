"""How many sweeps lie between two draws, where nobody said."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import random_comparisons
from helpers.sentences import warned
from helpers.short_slices import short_slices, stopped_after
from helpers.watched_runs import run_of

import thali as th
from thali._aspects.samplers.chains import (
    EFFECTIVE_SHARE,
    MIN_TEMPERED,
    PILOT_STEP,
    PILOT_SWEEPS,
    choose_thin,
    compute_draw_spacing,
    compute_pilot_statistics,
    count_pilot_sweeps,
    select_neighbour_pairs,
)
from thali._aspects.samplers.sampling_task import FIRST_LEVELS
from thali._inference.markov_chains import TimeIsUp
from thali._model import chain_runs as fits
from thali.errors import InterruptedWarning

QUICK = {"draws": 30, "chains": 3, "random_seed": 2, "progressbar": False}


@pytest.mark.unit
@pytest.mark.parametrize("time", [0.5, 1.0, 1.5, 2.0, 3.0, 9.0, 19.0, 50.0])
def test_with_the_fewest_sweeps_half_of_the_draws_are_effective(time):
    memory, distance = max(0.0, (time - 1.0) / (time + 1.0)), compute_draw_spacing(time)
    if memory == 0.0:
        assert distance == 0.0
    else:
        assert (1.0 - memory**distance) / (1.0 + memory**distance) == pytest.approx(EFFECTIVE_SHARE)


@pytest.mark.parametrize(
    ("memory", "wanted"), [(0.0, (1, 3)), (0.6, (2, 4)), (0.9, (8, 14)), (0.999, (40, 40))]
)
def test_thin_suits_the_slowest_statistic(memory, wanted):
    """Of an autoregressive process half of the draws t apart are effective where memory**t is a
    third."""
    rng = np.random.default_rng(1)
    seen = np.zeros((4, PILOT_STEP * 1300, 2))
    seen[..., 0] = rng.normal(size=seen.shape[:2])
    for t in range(1, seen.shape[1]):
        seen[:, t, 1] = memory * seen[:, t - 1, 1] + rng.normal(size=4)
    looks = list(seen[:, ::PILOT_STEP])
    assert wanted[0] <= choose_thin(looks, 1, 40) <= wanted[1]
    assert choose_thin(looks, 38, 40) >= 38


def test_constant_statistics_do_not_decide_thin():
    assert choose_thin([np.ones((500, 3))] * 2, 1, 25) == 25
    seen = np.ones((2, 500, 2))
    seen[..., 1] = np.random.default_rng(1).normal(size=(2, 500))
    assert choose_thin(list(seen), 1, 25) <= 3


def test_chains_that_are_apart_take_as_many_as_before():
    seen = np.random.default_rng(1).normal(size=(4, 500, 1)) + 10 * np.arange(4)[:, None, None]
    assert choose_thin(list(seen), 1, 25) == 25


def test_pairs_are_neighbours_evenly_spread():
    assert select_neighbour_pairs(3).tolist() == [[0, 1, 2], [1, 2, 0]]
    assert select_neighbour_pairs(1000).shape == (2, 32)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_what_is_seen_is_the_choice_probability():
    """Of the last draw, when every sweep is one."""
    from thali._aspects.samplers.chains import FeatureChain
    from thali._inference.random_seeds import spawn_generators

    data, model = random_comparisons(6, 9), th.EliminationByAspects(lapse=0.0)
    chain = FeatureChain(model.prepare(data, 20, 10, 1).task, spawn_generators(1, 1)[0])
    chain.run_until(30)
    seen = compute_pilot_statistics(chain.task.model, chain.state, chain.pairs)
    draws = chain.draws
    assert seen[0] == draws.n_features[-1] and seen[1] == pytest.approx(np.log(draws.alpha[-1]))
    fitted = th.EliminationByAspects(lapse=0.0).fit(
        data, draws=20, tune=10, thin=1, chains=1, random_seed=1, progressbar=False
    )
    p = fitted.posterior_["posterior"]["choice_probability"].values[0, -1]
    assert seen[2] == pytest.approx(p[0], rel=1e-9)  # of options 0 and 1


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_thin_is_chosen_while_tuning_on_any_number_of_cores():
    """The same on any number of cores; tuning is as long as the pilot, and where it is too short
    there is none."""
    data, model = random_comparisons(8, 3), th.EliminationByAspects("unique")
    one, two = (model.fit(data, tune=400, cores=cores, **QUICK).posterior_ for cores in (1, 3))
    assert one.attrs["thin"] == two.attrs["thin"] < 25
    np.testing.assert_array_equal(
        *(tree["posterior"]["unique_weights"].values for tree in (one, two))
    )
    few = -(-PILOT_SWEEPS // 25)
    assert PILOT_SWEEPS / few <= model.fit(data, tune=few, **QUICK).posterior_.attrs["thin"] <= 25
    assert model.fit(data, tune=few - 1, **QUICK).posterior_.attrs["thin"] == 25
    chosen = model.fit(data, tune=PILOT_SWEEPS // 2, **QUICK).posterior_
    assert 2 <= chosen.attrs["thin"] < 10 and chosen["posterior"].sizes["draw"] == QUICK["draws"]
    assert model.fit(data, tune=400, thin=7, **QUICK).posterior_.attrs["thin"] == 7


@pytest.mark.fit
def test_a_ladder_that_changes_in_the_pilot_hides_nothing_from_it():
    """What is seen, and so the choice, does not depend on the slices in which chains run."""
    # the ladder is counted anew after 200 of 400 sweeps
    run = {"tune": 16, "chains": 2, "random_seed": 2}
    seen = []
    for slices in (1, 25):
        sampling = run_of(
            th.EliminationByAspects(lapse=0.0, tempering=2), random_comparisons(6, 9), **run
        )
        (chain,) = sampling.build_chains(10, np.random.SeedSequence(2))[:1]
        assert chain.in_pilot and chain.schedule[0][0] < PILOT_SWEEPS
        for end in range(1, slices + 1):
            chain.run_until(end * PILOT_SWEEPS // slices)
        seen.append(chain.pilot_statistics)
    assert seen[0].any(axis=1).all()
    np.testing.assert_array_equal(*seen)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_it_is_kept_in_a_job_and_by_a_continued_fit(tmp_path):
    data, model = random_comparisons(8, 3), th.EliminationByAspects("unique")
    whole = model.fit(data, tune=400, **QUICK).posterior_["posterior"]["unique_weights"].values
    shorter = model.fit(data, tune=400, **{**QUICK, "draws": 10}).continue_fit(
        20, progressbar=False
    )
    np.testing.assert_array_equal(shorter.posterior_["posterior"]["unique_weights"].values, whole)
    for moment in (1, 2, 4):
        job = tmp_path / str(moment)
        with short_slices(), stopped_after(moment), suppress(KeyboardInterrupt):
            model.fit(data, tune=400, job=job, **QUICK)
        again = model.fit(data, tune=400, job=job, **QUICK)
        np.testing.assert_array_equal(again.posterior_["posterior"]["unique_weights"].values, whole)


@pytest.mark.fit
def test_a_run_that_chose_fewer_sweeps_may_have_more_draws():
    """As many sweeps as its size allows."""
    sampling = run_of(
        th.EliminationByAspects("unique"), random_comparisons(8, 3), tune=400, chains=3
    )
    sampling.data_max_draws = 2_000
    chains = sampling.build_chains(10, np.random.SeedSequence(2))
    assert (
        chains[0].in_pilot
        and chains[0].total == PILOT_SWEEPS
        and sampling.count_allowed_draws(chains) == 2_000
    )
    for chain in chains:
        chain.run_until(PILOT_SWEEPS)
        assert np.abs(chain.pilot_statistics).sum(axis=1).all()  # a row a look
    sampling.end_pilot(chains)
    thin = chains[0].thin
    assert thin < 25 and chains[0].total == 410 * thin
    assert sampling.count_allowed_draws(chains) == int(2_400 * 25 / thin) - 400


@pytest.mark.unit
def test_tempered_chains_have_a_pilot_where_their_draws_decide_how_long_they_run(uncompiled):
    """The ladder then grows at eighths of the tuning that there is, in a chain that is restored,
    too."""
    data = random_comparisons(4, 3)

    def chains_of(draws, **how):
        sampling = run_of(
            th.EliminationByAspects(tempering=2, **how), data, draws=draws, tune=40, chains=2
        )
        return sampling, sampling.build_chains(10, np.random.SeedSequence(2))

    assert not chains_of(100)[1][0].in_pilot
    sampling, chains = chains_of(None)
    assert sampling.draws_at_first_check == 500 and chains[0].in_pilot
    for number, chain in enumerate(chains):
        # as if draws were independent
        chain.pilot_statistics[:] = np.random.default_rng(number).normal(
            size=chain.pilot_statistics.shape
        )
        chain.run_until(4)
    sampling.end_pilot(chains)
    assert chains[0].thin == MIN_TEMPERED
    assert [sweep for sweep, _ in chains[0].schedule] == [100, 150, 200, 250, 300, 400]
    restored = chains_of(None)[1][0]
    restored.restore_state(chains[0].pack_state())
    assert restored.schedule == chains[0].schedule and not restored.in_pilot
    task = replace(chains[0].task, anneals=True)
    assert (
        count_pilot_sweeps(task, False) == 0
        and count_pilot_sweeps(replace(task, anneals=False), False) == PILOT_SWEEPS
    )


@pytest.mark.unit
def test_chains_that_begin_again_with_tempering_have_what_is_left_of_the_budget():
    """Less than half of it is not enough to begin again."""
    data = random_comparisons(8, 3)
    sampling = run_of(th.EliminationByAspects(), data)
    assert sampling.forecast is not None
    sweep = sampling.forecast.sweep
    assert not sampling.temper(int(0.6 * fits.BUDGET / sweep))
    assert sampling.temper(int(0.4 * fits.BUDGET / sweep))
    assert sampling.forecast.most <= 0.6 * fits.BUDGET and not sampling.temper(0)
    assert len(sampling.build_chains(10, np.random.SeedSequence(1))[0].ladder.beta) == FIRST_LEVELS
    at_once = run_of(th.EliminationByAspects(), data)
    assert at_once.temper(0) and at_once.forecast.most <= fits.BUDGET


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("error", [TimeIsUp, KeyboardInterrupt])
def test_a_stop_before_the_first_tempered_draw_keeps_the_draws_before(monkeypatch, error):
    run_chains = fits.run_chains

    def stop_tempered(chains, *arguments):
        if len(chains[0].ladder.beta) > 1:
            raise error
        return run_chains(chains, *arguments)

    monkeypatch.setattr(fits, "run_chains", stop_tempered)
    monkeypatch.setattr(fits, "_is_stuck", lambda convergence: True)
    monkeypatch.setattr(fits.ChainFit, "_is_settled", lambda work, found: False)
    data = random_comparisons(4, 3)
    run = {"tune": 20, "chains": 2, "random_seed": 2, "progressbar": False}
    with warned(InterruptedWarning, "draws per chain were kept"):
        model = th.EliminationByAspects().fit(data, **run)
    assert not model.posterior_.attrs.get("tempered", 0)
    n_draws = model.posterior_["posterior"].sizes["draw"]
    longer = model.continue_fit(draws=5, progressbar=False)
    assert longer.posterior_["posterior"].sizes["draw"] == n_draws + 5
