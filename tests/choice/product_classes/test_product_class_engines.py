"""ProductClasses from data to predictions by both engines."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.experiment_data import simulate_experiment

import thali as th
from thali.errors import ConvergenceWarning

SHORT = {
    "mcmc": {"chains": 4, "tune": 40, "draws": 40, "thin": 4},
    "smc": {"chains": 4, "draws": 30, "sweeps_per_step": 5},
}
VERY_SHORT = {name: run | {"chains": 2, "draws": 10} for name, run in SHORT.items()}
MONOTONE = {"price": "decreasing", "zoom": "increasing"}


@pytest.fixture(scope="module")
def data():
    frame = simulate_experiment(n_respondents=25, n_tasks=10, seed=4)
    return th.ChoiceExperiment.from_frame(frame, levels={"zoom": ["no", "yes"]}).split(tasks=3)


def fitted(data, method, lapse=0.02, **run):
    settings = {"random_seed": 2, "progressbar": False, "cores": 2} | SHORT[method] | run
    return th.ProductClasses(monotone=MONOTONE, method=method, lapse=lapse).fit(data, **settings)


@pytest.mark.first(1)
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
@pytest.mark.parametrize("method", SHORT)
def test_from_data_to_predictions(data, method, tmp_path):
    """People who trade price against a feature are predicted better than by tastes that all
    share."""
    train, test = data
    model = fitted(train, method)
    p = model.predict_proba(test)
    np.testing.assert_allclose(np.add.reduceat(p, test.first_row[:-1]), 1.0, rtol=1e-9)
    chosen = test.first_row[:-1] + test.chosen
    shared = th.MultinomialLogit().fit(train).predict_proba(test)
    assert np.log(p[chosen]).mean() > np.log(shared[chosen]).mean() > -math.log(3)
    assert bool(model._messages_) == (method == "smc")
    if method == "smc":
        found = model.log_evidence()
        assert math.isfinite(found.value) and found.standard_error > 0 and found.df == 3.0
        assert len(found.estimates) == 4 and str(found)
        assert found.usable == (np.std(found.estimates, ddof=1) <= 1.0)
    assert set(model.posterior_["posterior"].data_vars) >= {
        "n_classes",
        "value_shape",
        "stability",
        "log_likelihood",
    }
    model.save(tmp_path / "fit.nc")
    np.testing.assert_array_equal(th.load(tmp_path / "fit.nc").predict_proba(test), p)
    assert 0.5 < model.level_effects()["effect"].max() <= 1.0
    assert len(model.classes()) and len(model.summary()) == 10


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_lapse_zero_satisfies_every_choice(data):
    """Without lapse every draw gives all choices some probability."""
    people = data[0].split(respondents=list(data[0].respondents[:6]))[1]
    for method in SHORT:
        model = fitted(people, method, lapse=0.0)
        assert np.isfinite(model.posterior_["posterior"]["log_likelihood"]).all()


def test_progress_tells_the_lapse_and_the_time(data, monkeypatch, capsys):
    """The minute line says how far the run is."""
    import thali._inference.progress_display as progress

    limits.lower_in(progress, monkeypatch, _PATIENCE=0.0)
    limits.lower_in(progress, monkeypatch, _SILENCE=0.0)
    for method in SHORT:
        with pytest.warns(ConvergenceWarning):
            th.ProductClasses(monotone=MONOTONE, method=method, lapse=0.05).fit(
                data[0], random_seed=1, **VERY_SHORT[method]
            )
    said = capsys.readouterr().err
    assert "particles" in said and "sampling" in said
    assert "lapse 0." in said and "accepted" in said and "log evidence -" in said


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_a_fit_of_which_no_quantity_varies_is_shown_and_loaded(tmp_path):
    """Choices by chance, of which no draw of so short a run makes a class."""
    rows = [
        (who, task, f"{k}", item, int(k == task % 2))
        for who in (0, 1)
        for task in range(8)
        for k, item in enumerate("ab")
    ]
    frame = pd.DataFrame(rows, columns=["respondent", "task", "alt", "item", "chosen"])
    data = th.ChoiceExperiment.from_frame(frame)
    run = VERY_SHORT["smc"] | {"draws": 4, "sweeps_per_step": 1, "cores": 1}
    model = th.ProductClasses(method="smc").fit(data, random_seed=1, progressbar=False, **run)
    assert not model.summary()["sd"].any()
    model.save(tmp_path / "fit.nc")
    assert str(th.load(tmp_path / "fit.nc")) == str(model)
