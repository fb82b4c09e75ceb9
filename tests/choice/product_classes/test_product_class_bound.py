"""A default fit of product classes keeps within a number of sweeps that follows from its data."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import limits
from helpers.product_class_fits import MONOTONE, experiment
from helpers.watched_runs import forecast_of, run_of

import thali
import thali._choice.product_classes.samplers.smc as smc
import thali._model.chain_runs as bound
from thali._choice.product_classes.ragged_draws import MAX_CHAIN_DRAWS, choose_spacing
from thali._choice.product_classes.state import build_class_problem
from thali._inference.markov_chains import Run
from thali._inference.threads_and_processes import NoProgress
from thali._model.chain_runs import BUDGET


def build_sampling(data, **asked):
    return run_of(thali.ProductClasses(MONOTONE), data, tune=250, **asked)


def count_affordable_chains(data, sweeps):
    """How many chains the half of the budget that is not for looks holds, each of so many
    sweeps."""
    return int(0.5 * BUDGET / ((sweeps + 0.5) * build_sampling(data).forecast.sweep))


@pytest.mark.unit
def list_lengths(sampling):
    """Return allowed draws, draws at the first check, warm-up and thinning."""
    run = sampling.run
    return [sampling.count_allowed_draws(), sampling.draws_at_first_check, run.tune, run.thin]


def test_looks_count_in_the_budget_and_max_time_takes_its_place():
    data = experiment()
    free = build_sampling(data)
    assert list_lengths(free) == [8_000, 125, 250, 16]
    chains = count_affordable_chains(data, 16 * 1_500)
    half = build_sampling(data, chains=chains)
    assert list_lengths(half) == [1_250, 125, 250, 16]
    assert half.forecast is not None and half.forecast.most == pytest.approx(0.5 * BUDGET, rel=0.01)
    assert build_sampling(data, chains=chains, max_time=5.0).count_allowed_draws() == 8_000
    assert build_sampling(data, chains=chains, draws=700).count_allowed_draws() == 700


@pytest.mark.unit
def test_sweeps_of_a_study_with_many_people_are_fewer():
    """First those between two draws, then draws and tuning; many chains take as long as many
    people."""
    data = experiment(people=40)
    chains = count_affordable_chains(data, 4 * 375)
    short = build_sampling(data, chains=chains)
    assert list_lengths(short) == [125, 125, 250, 4]
    assert build_sampling(data, chains=chains, thin=16).run.thin == 16
    least = build_sampling(data, chains=count_affordable_chains(data, 150))
    assert list_lengths(least) == [100, 100, 100, 1]


@pytest.mark.unit
def test_draws_of_many_classes_are_fewer():
    """A sweep of 46 classes costs twice one of 10, of which the forecast knows."""
    data = experiment()
    short = build_sampling(data, chains=count_affordable_chains(data, 16 * 1_250))
    usual, many = (
        [SimpleNamespace(kept_draws=[(1, SimpleNamespace(n_owners=range(n)))])] for n in (10, 46)
    )
    assert (
        short.count_allowed_draws()
        == short.count_allowed_draws(usual)
        == short.count_allowed_draws([SimpleNamespace(kept_draws=[])])
    )
    assert (short.count_allowed_draws(), short.count_allowed_draws(many)) == pytest.approx(
        (1_000, 375), abs=3
    )


@pytest.mark.unit
@pytest.mark.parametrize("longer", [1.0, 1.6, 3.0, 8.0, 50.0])
@pytest.mark.parametrize("draws", [125, 1_000, 1_300])
def test_the_next_look_is_where_the_check_says(draws, longer):
    """Half as many draws more at least, eight times as many at most, and so that more than half of
    all are kept."""
    found = build_sampling(experiment(people=2)).choose_next_check(
        draws, SimpleNamespace(facts={"longer": longer})
    )
    wanted = draws * min(max(longer, 1.5), 8.0)
    assert wanted <= found <= max(250, 1.25 * wanted + choose_spacing(found))
    assert MAX_CHAIN_DRAWS / 2 < found // choose_spacing(found) <= MAX_CHAIN_DRAWS


@pytest.mark.fit
def test_a_fit_looks_where_the_check_says_and_knows_what_it_found(monkeypatch):
    """The draws are those of one run."""
    data, run = (
        experiment(),
        {"tune": 4, "thin": 1, "chains": 2, "cores": 1, "random_seed": 1, "progressbar": False},
    )
    sweep = build_sampling(data).forecast.sweep
    limits.lower_in(bound, monkeypatch, BUDGET=2.0 * 610.0 * sweep)  # of two chains
    with pytest.warns(thali.errors.ConvergenceWarning):
        whole = thali.ProductClasses(MONOTONE).fit(data, **run)
    draws = whole.posterior_.attrs["draws"]
    assert (
        550 < draws < 610
        and whole.posterior_["posterior"].sizes["draw"] == draws // choose_spacing(draws) < draws
    )
    with pytest.warns(thali.errors.ConvergenceWarning):
        once = thali.ProductClasses(MONOTONE).fit(data, draws=draws, **run)
    for name, values in once.posterior_["posterior"].data_vars.items():
        np.testing.assert_array_equal(
            whole.posterior_["posterior"][name], values, err_msg=str(name)
        )


@pytest.mark.fit
def test_a_bounded_fit_says_what_does_not_agree_and_goes_on(monkeypatch, tmp_path):
    data = experiment()
    usual = {"random_seed": 1, "progressbar": False, "chains": 2}
    limits.lower_in(bound, monkeypatch, BUDGET=1e-9)
    with pytest.warns(thali.errors.ConvergenceWarning, match="do not agree"):
        short = thali.ProductClasses(MONOTONE).fit(data, job=tmp_path / "job", **usual)
    assert short.posterior_.attrs["draws"] == 100 and "R-hat of" in str(short.convergence())
    again = thali.ProductClasses(MONOTONE).fit(data, job=tmp_path / "job", **usual)
    one, other = (fit.posterior_["posterior"]["log_likelihood"] for fit in (again, short))
    np.testing.assert_array_equal(one, other)
    longer = again.continue_fit(20, progressbar=False)
    assert longer.posterior_.attrs["draws"] == 120
    np.testing.assert_array_equal(
        longer.posterior_["posterior"]["alpha"][:, :100], short.posterior_["posterior"]["alpha"]
    )


@pytest.mark.long
@pytest.mark.parametrize("people", [4, 8, 16, 32])
def test_steps_are_as_many_as_was_forecast(people):
    """By sequential Monte Carlo, to within a factor of two."""
    made = thali.datasets.product_choices(people, 10, random_seed=1)
    once, twice = (
        forecast_of(
            thali.ProductClasses(made.monotone, method="smc"),
            made.data,
            2,
            chains=2,
            sweeps_per_step=sweeps,
        )
        for sweeps in (1, 2)
    )
    steps = (twice.least - once.least) / (4 * once.sweep)
    problem = build_class_problem(made.data, made.monotone)
    ascent = smc.TemperedParticles(
        problem, 0.02, Run(32, 0, 2, None, 1, None, False), 2, np.random.SeedSequence(1)
    )
    while not ascent.is_done:
        ascent.take_step(NoProgress())
    assert 0.5 < len(ascent.rows) / steps < 2.0
