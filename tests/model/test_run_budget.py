"""A run of unknown length keeps within a number of sweeps that follows from its data, and long runs
are announced."""

import numpy as np
import pytest
from helpers.sentences import warned
from helpers.watched_runs import show_times

import thali as th
from thali._inference import progress_display
from thali._inference.markov_chains import Run
from thali._inference.progress_display import (
    DurationForecast,
    Progress,
    build_duration_warning,
    format_duration,
)
from thali._model import chain_runs
from thali._model.chain_runs import BUDGET, MAX_DRAWS, MIN_DRAWS, limit_run
from thali.errors import LongRunWarning

SWEEP = BUDGET / 4  # seconds of one chain of four


def run(draws=None, tune=1000, thin=None):
    return Run(draws, tune, 4, thin, None, 1, False)


@pytest.mark.parametrize(
    # sweeps of a chain that the budget holds; thin, tune, first draws, most draws
    ("asked", "sweeps", "wanted"),
    [
        (run(), 10**9, (25, 1000, 1000, MAX_DRAWS)),
        (run(), 100_000, (25, 1000, 1000, 3000)),
        (run(), 50_000, (25, 1000, 1000, 1000)),
        (run(), 20_000, (10, 1000, 1000, 1000)),
        (run(), 1_000, (1, 500, 500, 500)),
        (run(), 10, (1, MIN_DRAWS, MIN_DRAWS, MIN_DRAWS)),
        (run(tune=50), 10, (1, 50, MIN_DRAWS, MIN_DRAWS)),
        (run(tune=5000), 1_000, (1, 5000, 500, 500)),
        (run(draws=5000, tune=10**7), 100_000, (25, 10**7, 5000, 5000)),
        (run(thin=30), 6_000, (30, 100, 100, 100)),
        (run(draws=5000), 20_000, (10, 1000, 5000, 5000)),
        (run(draws=5000, thin=25), 20_000, (25, 1000, 5000, 5000)),
    ],
)
def test_a_run_above_the_budget_has_fewer_sweeps_or_draws(asked, sweeps, wanted):
    found = limit_run(asked, asked.thin or 25, SWEEP / (sweeps + 0.5))
    assert (found.thin, found.run.tune, found.first_draws, found.max_draws) == wanted
    assert found.settings == dict(draws=asked.draws, tune=asked.tune, chains=4, thin=asked.thin)
    if asked.draws is None and sweeps > 1_000 and asked.tune == 1000:
        assert (
            found.run.tune + found.max_draws
        ) * found.thin <= sweeps or found.max_draws == MAX_DRAWS


@pytest.mark.fit
def test_a_bounded_fit_goes_on_as_a_longer_one(monkeypatch, tmp_path):
    data = th.datasets.celebrities()
    usual = {"random_seed": 3, "progressbar": False, "chains": 2, "tune": 400}
    sweep = (
        th.EliminationByAspects("unique").prepare(data, 1, 0, None).task.forecast_sweep_seconds()
    )
    monkeypatch.setattr(
        chain_runs, "BUDGET", sweep * 2 * 500.5
    )  # five hundred sweeps of two chains
    with pytest.warns(th.errors.ConvergenceWarning):
        short = th.EliminationByAspects("unique").fit(data, job=tmp_path / "job", **usual)
    tree = short.posterior_
    assert tree["posterior"].sizes["draw"] == 358
    assert (tree.attrs["thin"], tree.attrs["tuning_steps"]) == (1, 142)
    again = th.EliminationByAspects("unique").fit(data, job=tmp_path / "job", **usual)
    np.testing.assert_array_equal(
        again.posterior_["posterior"]["log_likelihood"], tree["posterior"]["log_likelihood"]
    )
    with pytest.warns(th.errors.ConvergenceWarning):
        longer = short.continue_fit(42, progressbar=False)
        whole = th.EliminationByAspects("unique").fit(data, 400, **usual | {"tune": 142, "thin": 1})
    np.testing.assert_array_equal(
        longer.posterior_["posterior"]["log_likelihood"],
        whole.posterior_["posterior"]["log_likelihood"],
    )


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test sets."""
    now = [0.0]
    show_times(monkeypatch, iter(lambda: now[0], None))
    return now


@pytest.mark.unit
@pytest.mark.parametrize(("rate", "said"), [(10.0, [100.0]), (50.0, [])])
def test_a_long_run_is_announced_once(clock, rate, said):
    heard: list[float] = []
    outlook = DurationForecast(heard.append)
    for clock[0] in np.arange(0.0, 20.0, 0.5):
        outlook.observe(int(clock[0] * rate), 1000)
        assert not heard or clock[0] >= progress_display.EARLY
    assert heard == said


def time_steps(rng):
    """When each step of a run ends: steps are uneven, the first are slow, and warm-up differs."""
    n_steps = int(rng.integers(100, 20_000))
    cost = rng.lognormal(0.0, 1.0, n_steps)
    cost[: rng.integers(1, 1 + max(1, n_steps // 250))] *= 10.0
    cost[: n_steps // 2] *= rng.uniform(0.7, 1.5)
    return rng.uniform(100.0, 10_000.0) * np.cumsum(cost) / cost.sum()


@pytest.mark.unit
def test_a_forecast_is_within_a_factor_of_two(clock):
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ends, heard = time_steps(rng), []
        outlook = DurationForecast(heard.append)
        clock[0] = 0.0
        while not heard and clock[0] < ends[-1]:
            done = int(np.searchsorted(ends, clock[0], side="right"))
            outlook.observe(done, len(ends))
            clock[0] += 0.5
        assert clock[0] > 10.0 and done >= 0.01 * len(ends)
        ratios.append(heard[0] / ends[-1])
    assert np.mean((np.array(ratios) > 0.5) & (np.array(ratios) < 2.0)) >= 0.9


@pytest.mark.unit
def test_the_first_steps_of_thousands_tell_nothing(clock):
    """Two of 4,000 steps took five seconds, with compilation; the rest took nine."""
    heard: list[float] = []
    outlook = DurationForecast(heard.append)
    for clock[0], done in ((0.0, 0), (5.0, 1), (5.5, 2), (14.0, 4000)):
        outlook.observe(done, 4000)
    assert heard == []


@pytest.mark.unit
def test_a_display_of_lines_counts_only_what_moves(clock, capsys):
    with Progress(True, "drawing", 1, "draws") as shown:
        shown._timer.cancel()
        shown._open_display()
        for clock[0] in (70.0, 135.0):
            shown.update(0)
    assert capsys.readouterr().err.splitlines() == [
        "drawing ...",
        "drawing: 70 s",
        "drawing: 135 s",
        "drawing: 135 s",
    ]


@pytest.mark.fit
def test_a_long_fit_says_what_is_quicker(monkeypatch):
    for limit in ("EARLY", "LONG"):
        monkeypatch.setattr(progress_display, limit, 1e-9)
    data = th.Similarities(np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))))
    with warned(LongRunWarning, "method='map'"):
        th.AdditiveClustering(sigma=0.1).fit(data, draws=200, tune=200, random_seed=1)


@pytest.mark.unit
def test_durations_are_formatted_in_minutes_and_hours():
    words = ["a minute", "2 minutes", "50 minutes", "2.0 hours"]
    assert [format_duration(seconds) for seconds in (61, 100, 3000, 7200)] == words


@pytest.mark.unit
@pytest.mark.parametrize("enabled", [True, False])
def test_a_long_run_of_any_kind_says_what_is_quicker(clock, enabled, recwarn):
    with Progress(
        enabled,
        "leaving out",
        100,
        "fits",
        build_duration_warning("This comparison", "fewer draws"),
    ) as shown:
        for done in range(12):
            clock[0] = float(done)
            shown.update(done)
    said = [str(each.message) for each in recwarn]
    assert said == ["This comparison takes about 2 minutes. Faster options: fewer draws."] * enabled
