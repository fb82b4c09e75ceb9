"""Temperatures of similarities: placed by the shares of rejected swaps, and reached from a common
high one."""

import math
from dataclasses import replace

import numpy as np
import pytest

import thali as th
import thali._aspects.samplers.default_sweeps as recommended
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import MIN_ANNEALED
from thali._aspects.samplers.tempering import (
    MAX_TEMPERATURES,
    MIN_ATTEMPTS,
    build_ladder,
    equalize_rejections,
    space_temperatures,
)
from thali.errors import ConvergenceWarning

TRIED = 1000.0


def measured(beta, barrier):
    """A ladder whose gaps reject swaps by how far the barrier, a function of log beta, rises over
    them."""
    steps = build_ladder(1.0 / beta)
    rejected = np.clip(-np.diff(barrier(np.log(beta))), 0.0, 1.0)
    return steps._replace(tried=np.full(beta.size - 1, TRIED), accepted=TRIED * (1.0 - rejected))


def linear(log_beta):
    return 6.0 * log_beta / math.log(10.0)


def steep_in_the_middle(log_beta):
    return 3.0 / (1.0 + np.exp(-4.0 * (log_beta + 1.2)))


@pytest.mark.parametrize("barrier", [linear, steep_in_the_middle])
def test_all_gaps_of_temperatures_come_to_equal_rejection_rates(barrier):
    beta = 1.0 / np.array(space_temperatures(8, 10.0))
    for _ in range(12):
        _, beta = equalize_rejections(measured(beta, barrier))
    rejected = 1.0 - measured(beta, barrier).accepted / TRIED
    total = float(barrier(0.0) - barrier(-math.log(10.0)))
    assert beta[0] == 1.0
    assert beta[-1] == pytest.approx(0.1)
    assert (np.diff(beta) < 0.0).all()
    assert beta.size == max(8, math.ceil(2.0 * total) + 1)
    assert rejected == pytest.approx(np.full(rejected.size, rejected.mean()), abs=0.03)


def test_a_level_is_added_where_most_is_rejected():
    steps = build_ladder((1.0, 2.0, 4.0))._replace(
        tried=np.full(2, TRIED), accepted=np.array([0.3, 0.9]) * TRIED
    )
    gaps, beta = equalize_rejections(steps)
    assert gaps.size == 0  # 2 x .8 gaps are enough
    assert beta[1] > 0.5  # the first gap narrows
    gaps, beta = equalize_rejections(steps._replace(accepted=np.array([0.0, 0.4]) * TRIED))
    assert gaps.tolist() == [0, 1]
    assert beta.size == 5


def test_levels_stay_where_too_few_swaps_were_tried():
    steps = build_ladder((1.0, 2.0, 4.0))
    gaps, beta = equalize_rejections(steps._replace(tried=np.array([TRIED, MIN_ATTEMPTS - 1.0])))
    assert gaps.size == 0
    assert np.array_equal(beta, steps.beta)


def test_there_are_never_more_levels_than_the_most():
    beta = 1.0 / np.array(space_temperatures(60, 10.0))
    gaps, longer = equalize_rejections(
        measured(beta, lambda log_beta: 59.0 * log_beta / math.log(10.0))
    )
    assert longer.size == beta.size + gaps.size == MAX_TEMPERATURES


def short_task(tune=12):
    data = th.Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]], sigma=0.2)
    task = th.AdditiveClustering(tempering=3).prepare(data, 2, tune, 10).task
    return replace(task, kernel=task.kernel.python, anneals=True)


def test_levels_fall_from_a_common_temperature_to_their_own():
    chain = FeatureChain(short_task(), np.random.default_rng(1))
    chain.run_until(1)
    assert chain.ladder.beta == pytest.approx(np.full(3, 1.0 / 50.0))
    chain.run_until(25)
    assert chain.ladder.beta == pytest.approx(
        np.maximum(1.0 / 50.0, np.minimum([1, 10**-0.5, 0.1], 50 ** (20 / 30 - 1)))
    )
    chain.run_until(30)
    assert chain.ladder.beta == pytest.approx([1.0, 10**-0.5, 0.1])


@pytest.mark.fit
def test_slices_of_an_annealed_start_do_not_matter():
    whole, sliced = (FeatureChain(short_task(), np.random.default_rng(3)) for _ in range(2))
    whole.run_until(whole.total)
    for until in range(0, sliced.total, 7):
        sliced.run_until(until)
    sliced.run_until(sliced.total)
    assert np.array_equal(whole.ladder.beta, sliced.ladder.beta)
    assert np.array_equal(whole.draws.log_likelihood, sliced.draws.log_likelihood)


@pytest.mark.fit
def test_replicas_that_rarely_swap_are_warned_of(uncompiled):
    data = th.PairedComparisons([[0, 900, 20], [70, 0, 800], [950, 30, 0]])
    model = th.EliminationByAspects(tempering=[1.0, 1e6])
    with pytest.warns(ConvergenceWarning, match="temperatures 1 and 1e.06 swap in"):
        model.fit(data, 60, tune=20, thin=1, chains=1, random_seed=1, progressbar=False)


def test_temperatures_of_the_user_stay_and_so_do_those_of_other_models():
    few, many = (
        th.datasets.additive(n, n_features=2, random_seed=1).data
        for n in (MIN_ANNEALED - 1, MIN_ANNEALED)
    )
    assert th.AdditiveClustering(sigma=0.1).prepare(many, 1, 1, 1).task.anneals
    assert not th.AdditiveClustering(sigma=0.1).prepare(few, 1, 1, 1).task.anneals
    assert not th.AdditiveClustering(sigma=0.1, tempering=False).prepare(many, 1, 1, 1).task.anneals
    assert (
        not th.AdditiveClustering(sigma=0.1, tempering=(1, 2, 4))
        .prepare(many, 1, 1, 1)
        .task.anneals
    )
    assert (
        not th.EliminationByAspects(unique=False)
        .prepare(th.datasets.celebrities(), 1, 1, 1)
        .task.anneals
    )


def test_memberships_are_drawn_together_of_many_objects_alone():
    for n, tempering, kernel in (
        (MIN_ANNEALED - 1, None, recommended.sweep_conjugate),
        (MIN_ANNEALED, None, recommended.sweep_conjugate_jointly),
        (MIN_ANNEALED, False, recommended.sweep_conjugate),
    ):
        data = th.datasets.additive(n, n_features=2, random_seed=1).data
        assert (
            th.AdditiveClustering(sigma=0.1, tempering=tempering).prepare(data, 1, 1, 1).task.kernel
            is kernel
        )
