"""The forecasts by which default fits are bounded, beside the time that sweeps take and beside
counted work."""

from importlib import import_module

import numpy as np
import pytest
from helpers.places import PROJECT

import thali as th
import thali._choice.latent_class.maximum_likelihood as fit

# Microseconds of a sweep that `benchmarks/run_time_forecast.py` measured, of the four sizes of each problem.
MEASURED = {
    "sparse logit, polya-gamma": (32, 296, 75, 3_903),
    "hierarchical logit, people": (255, 806, 2_835, 8_801),
    "product classes, people": (156, 677, 1_382, 5_075),
    "Plackett-Luce, rows and covariates": (9.4, 26, 131, 275),
}


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return import_module


@pytest.mark.unit
@pytest.mark.parametrize("name", MEASURED)
def test_a_sweep_was_forecast_to_within_a_factor_of_two(benchmark, name):
    defaults = benchmark("default_fits")
    problem = defaults.PROBLEMS[name]
    for size, taken in zip(problem.sizes, MEASURED[name], strict=True):
        forecast = defaults.forecast_of(problem.make(), problem.data(size)).sweep
        assert 0.5 < 1e6 * forecast / taken < 2.0, size


@pytest.mark.fit
def test_no_default_of_the_table_is_expected_to_take_longer_than_the_budget(benchmark):
    """Of the smallest data; that every model has a forecast."""
    defaults = benchmark("default_fits")
    for name, problem in defaults.PROBLEMS.items():
        found = defaults.forecast_of(problem.make(), problem.data(problem.sizes[0]))
        assert found is not None and 0.0 < found.least <= found.most <= 605.0, name


@pytest.mark.long
def test_a_sweep_takes_what_was_forecast(benchmark):
    """To within a factor of two, once the speed of the machine is left out: that of the median."""
    forecast = benchmark("run_time_forecast")
    found = {
        (name, k): forecast.measured(name, k, 1.0).ratio
        for name in forecast.names()
        for k in range(4)
    }
    machine = float(np.median(list(found.values())))
    assert {
        key: ratio / machine for key, ratio in found.items() if not 0.5 < ratio / machine < 2.0
    } == {}


@pytest.mark.long
@pytest.mark.parametrize("people", [30, 60, 100, 300])
def test_a_climb_looks_at_as_many_points_as_was_forecast(benchmark, monkeypatch, people):
    counted, looked = [0], fit.evaluate_parameters

    def counting(*where):
        counted[0] += 1
        return looked(*where)

    monkeypatch.setattr(fit, "evaluate_parameters", counting)
    data = benchmark("default_fits").cameras(people)
    th.LatentClassLogit(2, starts=8).fit(data, random_seed=1, progressbar=False)
    assert 0.5 < (counted[0] - fit.N_DRAWS) / 8 / fit.N_CLIMB_POINTS < 2.0


def cut_starts(monkeypatch, budget, least=fit.MIN_STARTS_IN_BUDGET):
    """Starts may take so many seconds, unless they are fewer than `least`."""
    for name, value in {"BUDGET": budget, "MIN_STARTS_IN_BUDGET": least}.items():
        monkeypatch.setattr(fit, name, value)


@pytest.mark.unit
def test_starts_keep_within_the_budget(monkeypatch):
    tasks = fit.EncodedTasks(np.zeros((4_000, 10)), np.arange(0, 4_001, 4), np.arange(0, 4_000, 4))
    panel = fit.ChoicePanel(tasks, np.arange(101), np.ones((100, 1)))
    free = fit.limit_starts(panel, (2, 3), fit.BIC, None)
    assert (
        free.n_starts,
        free.limit,
        free.min_starts(1),
        free.min_starts(3),
        free.min_starts(20),
    ) == (None, 40, 1, 12, 40)
    a_start = fit.N_CLIMB_POINTS * fit.SECONDS_PER_CELL * 5 * 40_000  # of two classes and of three
    cut_starts(monkeypatch, 10.5 * a_start)
    cut = fit.limit_starts(panel, (2, 3), fit.BIC, None)
    assert (cut.limit, cut.min_starts(2), cut.min_starts(3)) == (10, 8, 10)
    assert fit.limit_starts(panel, (2, 3), fit.HELD_OUT, None).limit == fit.MIN_STARTS_IN_BUDGET
    assert fit.limit_starts(panel, (2, 3), fit.BIC, 50).min_starts(2) == 50
    found = fit.forecast_fits(panel, (2, 3), fit.BIC, cut)
    drawn = fit.N_DRAWS * fit.SECONDS_PER_CELL * 3 * 40_000
    assert found.most == pytest.approx(10 * a_start + drawn) and found.least < found.most


@pytest.mark.fit
def test_a_cut_fit_of_latent_classes_makes_as_many_starts_as_it_may(benchmark, monkeypatch):
    data = benchmark("default_fits").cameras(30)
    cut_starts(monkeypatch, 1e-9, least=3)
    model = th.LatentClassLogit(2).fit(data, random_seed=1, progressbar=False)
    assert model.choice_.loc[2, "starts"] == 3
