"""A default fit of product classes keeps within a number of sweeps, chains and particles that follow from its data."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from product_class_fits import MONOTONE, experiment

import thali
from thali.choice.product_classes.arguments import (
    SHARE,
    Run,
    expected_visits,
    forecast_of_particles,
    seconds_of_sweep,
    seconds_with_draws,
    settings_of,
    within_budget,
)
from thali.choice.product_classes.engines import smc
from thali.choice.product_classes.state import problem_of
from thali.inference.chains import checked_run
from thali.inference.threads import Silent
from thali.model import bound
from thali.model.bound import BUDGET, MIN_DRAWS


def of_size(people, tasks=12, alternatives=4) -> Any:
    """As much of a choice experiment as a forecast looks at."""
    number = people * tasks
    rows = np.empty(number * alternatives, bool)
    first_row = np.arange(number + 1) * alternatives
    levels = {"price": range(9), "zoom": range(3), "wifi": range(2)}
    return SimpleNamespace(row_product=rows, n_tasks=number, n_respondents=people, first_row=first_row, levels=levels)


def cut(method, people, **asked):
    run = Run(**asked)
    return within_budget(settings_of(thali.ProductClasses(method=method), run), run, of_size(people))


@pytest.mark.unit
def test_chains_of_most_data_are_as_many_as_ever():
    assert cut("annealed", 300).groups == 16
    many, most = cut("annealed", 5_000).groups, cut("annealed", 10**6).groups
    assert 4 == most < many < 16
    assert 2 * MIN_DRAWS * many * seconds_of_sweep(of_size(5_000)) <= SHARE * BUDGET
    assert cut("annealed", 10**6, chains=8).groups == 8


@pytest.mark.unit
@pytest.mark.parametrize("people", [10, 30, 100, 300, 1_000])
def test_particles_then_sweeps_then_islands(people):
    found = cut("smc", people)
    forecast = forecast_of_particles(found, of_size(people)).least
    assert forecast <= BUDGET or (found.particles, found.sweeps_per_step, found.groups) == (16, 2, 4)
    if people <= 30:
        assert (found.particles, found.sweeps_per_step, found.groups) == (None, 10, 8)
    if found.sweeps_per_step < 10:
        assert found.particles == 16
    asked = cut("smc", people, islands=6, particles=50, sweeps_per_step=3)
    assert (asked.groups, asked.particles, asked.sweeps_per_step) == (6, 50, 3)


@pytest.mark.unit
def test_sweeps_of_a_study_with_many_people(monkeypatch):
    """The sweeps of all chains, those of annealing included, take a share of the budget."""
    data, model = experiment(), thali.ProductClasses(MONOTONE)
    run = checked_run(None, 400, 16, None, None, 1, False)
    free = model._sampling(data, run)
    assert (free.allowed(), free.least_draws, free.run.tune) == (4_000, 500, 400)
    monkeypatch.setattr(bound, "BUDGET", 16 * 1_500.5 * seconds_with_draws(data) / SHARE)
    half = model._sampling(data, run)
    assert (half.allowed(), half.least_draws, half.run.tune) == (1_100, 500, 400)
    assert half.forecast is not None and half.forecast.most == pytest.approx(16 * 1_500 * seconds_with_draws(data))
    monkeypatch.setattr(bound, "BUDGET", 16 * 450.5 * seconds_with_draws(data) / SHARE)
    short = model._sampling(data, run)
    assert (short.allowed(), short.least_draws, short.run.tune) == (250, 250, 200)
    assert model._sampling(data, run._replace(draws=700)).allowed() == 700


@pytest.mark.fit
def test_a_bounded_fit_says_what_does_not_agree_and_goes_on(monkeypatch, tmp_path):
    data, model = experiment(), thali.ProductClasses(MONOTONE)
    usual = {"random_seed": 1, "progressbar": False, "chains": 2}
    monkeypatch.setattr(bound, "BUDGET", 2 * 240.5 * seconds_with_draws(data) / SHARE)
    with pytest.warns(thali.errors.ConvergenceWarning, match="do not agree"):
        short = model.fit(data, job=tmp_path / "job", **usual)
    assert short.posterior_.attrs["sweeps"] == 134 and "R-hat of" in str(short.verdict())
    again = thali.ProductClasses(MONOTONE).fit(data, job=tmp_path / "job", **usual)
    np.testing.assert_array_equal(again._draws_.log_likelihood, short._draws_.log_likelihood)
    longer = again.continue_fit(20, progressbar=False)
    assert longer.posterior_.attrs["sweeps"] == 154


@pytest.mark.unit
def test_visits_are_forecast_by_what_the_choices_say():
    one, four = (expected_visits("all", 10, np.full(n, 3)) for n in (100, 1_600))
    assert four / one == pytest.approx(16.0**0.58)
    assert expected_visits("observation", 10, np.full(50, 3)) == 10 * 0.6 * 50


@pytest.mark.long
@pytest.mark.parametrize("people", [4, 8, 16, 32])
def test_visits_are_as_many_as_was_forecast(people):
    """By sequential Monte Carlo, to within a factor of two."""
    made = thali.datasets.product_choices(people, 10, random_seed=1)
    problem = problem_of(made.data, made.monotone)
    asked = Run(islands=2, particles=32, sweeps_per_step=2, sweeps=0)
    run = smc.Run(
        problem, settings_of(thali.ProductClasses(method="smc"), asked), "lapse", None, 1, np.random.SeedSequence(1)
    )
    while not run.has_evidence:
        run.advance(Silent())
    assert 0.5 < run.visits / 2 / expected_visits("all", people, run.others) < 2.0
