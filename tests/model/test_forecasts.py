"""The forecasts by which default fits are bounded, beside the time that sweeps take and beside counted work."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.places import PROJECT

import thali as th
from thali._choice.latent_class import fit
from thali._choice.logits.hierarchical_fit import seconds_of_sweep as of_tastes
from thali._choice.product_classes.arguments import seconds_of_sweep as of_classes
from thali._classify.plackett_luce.engines import A_CELL
from thali._classify.sparse_logit.arguments import seconds_of_sweep as of_coefficients


def study_of(unchosen):
    """What tells how many products were not chosen."""
    return SimpleNamespace(row_product=range(unchosen), n_tasks=0)


# Microseconds of a sweep that `benchmarks/forecast.py` measured.
MEASURED = [
    *((of_coefficients, size, taken) for size, taken in {
        (100, 6, 2): 32, (300, 21, 3): 296, (60, 201, 2): 75, (5_000, 11, 3): 3_903, (60, 21, 2): 47,
        (150, 51, 2): 159, (60, 501, 2): 204, (2_000, 21, 3): 1_986,
    }.items()),
    *((of_tastes, size, taken) for size, taken in {
        (30, 1_440, 16): 255, (100, 4_800, 16): 806, (300, 14_400, 16): 2_835, (1_000, 48_000, 16): 8_801,
    }.items()),
    *((lambda unchosen, classes: of_classes(study_of(unchosen), classes), size, taken) for size, taken in {
        (360, 10): 156, (1_080, 10): 677, (3_600, 10): 1_382, (10_800, 10): 5_075, (4_800, 50): 4_500,
    }.items()),
    *((lambda cells: A_CELL * cells, (size,), taken) for size, taken in {
        2_700: 9.4, 9_450: 26, 36_600: 131, 126_000: 275,
    }.items()),
]  # fmt: skip


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return import_module


@pytest.mark.unit
@pytest.mark.parametrize(("forecast", "size", "taken"), MEASURED)
def test_a_sweep_was_forecast_to_within_a_factor_of_two(forecast, size, taken):
    assert 0.5 < 1e6 * forecast(*size) / taken < 2.0


@pytest.mark.fit
def test_no_default_of_the_table_is_expected_to_take_longer_than_the_budget(benchmark):
    """Of the smallest data; that every model has a forecast."""
    defaults = benchmark("defaults")
    for name, problem in defaults.PROBLEMS.items():
        found = defaults.forecast_of(problem.make(), problem.data(problem.sizes[0]))
        assert found is not None and 0.0 < found.least <= found.most <= 605.0, name


@pytest.mark.long
def test_a_sweep_takes_what_was_forecast(benchmark):
    """To within a factor of two, once the speed of the machine is left out: that of the median."""
    forecast = benchmark("forecast")
    found = {(name, k): forecast.measured(name, k, 1.0).ratio for name in forecast.names() for k in range(4)}
    machine = float(np.median(list(found.values())))
    assert {key: ratio / machine for key, ratio in found.items() if not 0.5 < ratio / machine < 2.0} == {}


@pytest.mark.long
@pytest.mark.parametrize("people", [30, 60, 100, 300])
def test_a_climb_looks_at_as_many_points_as_was_forecast(benchmark, monkeypatch, people):
    counted, looked = [0], fit.point

    def counting(*where):
        counted[0] += 1
        return looked(*where)

    monkeypatch.setattr(fit, "point", counting)
    data = benchmark("defaults").cameras(people)
    th.LatentClassLogit(2, starts=8).fit(data, random_seed=1, progressbar=False)
    assert 0.5 < (counted[0] - fit.DRAWS) / 8 / fit.POINTS < 2.0


def cut_starts(monkeypatch, budget, least=fit.LEAST_STARTS):
    """Starts may take so many seconds, unless they are fewer than `least`."""
    for name, value in {"BUDGET": budget, "LEAST_STARTS": least}.items():
        monkeypatch.setattr(fit, name, value)


@pytest.mark.unit
def test_starts_keep_within_the_budget(monkeypatch):
    tasks = fit.Tasks(np.zeros((4_000, 10)), np.arange(0, 4_001, 4), np.arange(0, 4_000, 4))
    panel = fit.Panel(tasks, np.arange(101), np.ones((100, 1)))
    free = fit.starts_within_budget(panel, (2, 3), fit.BIC, None)
    assert (free.asked, free.most, free.least(1), free.least(3), free.least(20)) == (None, 40, 1, 12, 40)
    a_start = fit.POINTS * fit.A_CELL * 5 * 40_000  # of two classes and of three
    cut_starts(monkeypatch, 10.5 * a_start)
    cut = fit.starts_within_budget(panel, (2, 3), fit.BIC, None)
    assert (cut.most, cut.least(2), cut.least(3)) == (10, 8, 10)
    assert fit.starts_within_budget(panel, (2, 3), fit.HELD_OUT, None).most == fit.LEAST_STARTS
    assert fit.starts_within_budget(panel, (2, 3), fit.BIC, 50).least(2) == 50
    found = fit.forecast_of(panel, (2, 3), fit.BIC, cut)
    drawn = fit.DRAWS * fit.A_CELL * 3 * 40_000
    assert found.most == pytest.approx(10 * a_start + drawn) and found.least < found.most


@pytest.mark.fit
def test_a_cut_fit_of_latent_classes_makes_as_many_starts_as_it_may(benchmark, monkeypatch):
    data = benchmark("defaults").cameras(30)
    cut_starts(monkeypatch, 1e-9, least=3)
    model = th.LatentClassLogit(2).fit(data, random_seed=1, progressbar=False)
    assert model.choice_.loc[2, "starts"] == 3
