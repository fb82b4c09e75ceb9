"""Every number that is shown with an R-hat is in the convergence check, for all models and
arguments."""

import copy
import warnings
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.digests import MORE
from helpers.experiment_data import simulate_experiment

import thali as th
from thali._testing import small_models
from thali._testing.small_models import SMALL_MODELS, SmallModelCase

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def _experiment_by_age():
    frame = simulate_experiment(12, 4, seed=4)
    frame["age"] = 20 + 5 * frame["id"].astype("category").cat.codes
    return (th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand"]),)


def _many_objects():
    matrix = np.random.default_rng(5).random((32, 32))
    return (th.Similarities((matrix + matrix.T) / 2, labels=[f"o{k}" for k in range(32)]),)


def _wide_rows():
    rng = np.random.default_rng(6)
    return pd.DataFrame(rng.normal(size=(40, 130))), rng.integers(2, size=40)


_OPTIONS = {"a": ["sweet"], "b": ["sweet", "red"], "c": ["red"]}
_OBJECTS = {"a": ["big"], "b": ["big", "wild"], "c": ["wild"], "d": ["big", "wild"]}
_ADDED = {
    "elimination-by-aspects, named": (
        partial(th.EliminationByAspects, aspects=_OPTIONS),
        small_models.build_pairs,
    ),
    "elimination-by-aspects, no unique aspects": (
        partial(th.EliminationByAspects, unique=False),
        small_models.build_pairs,
    ),
    "additive-clustering, named": (
        partial(th.AdditiveClustering, features=_OBJECTS),
        small_models.build_similarities,
    ),
    "additive-clustering, many objects": (th.AdditiveClustering, _many_objects),
    "hierarchical-logit, by age": (partial(th.HierarchicalLogit, by=["age"]), _experiment_by_age),
    "sparse-logit, many columns": (
        partial(th.SparseMultinomialLogit, method="polya-gamma"),
        _wide_rows,
    ),
}
CASES = (
    SMALL_MODELS
    | MORE
    | {
        name: SmallModelCase(make, data, lambda model: None)
        for name, (make, data) in _ADDED.items()
    }
)


@cache
def fit_case(name: str) -> Any:
    """The model of a row after its short fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name].build_fitted()


def list_tables(model):
    """The tables of all findings, with every one of their columns, by key."""
    tables = {}
    for finding in th.findings(model):
        for table in (finding.table, finding.shown):
            if isinstance(table, pd.DataFrame) and "r_hat" in table:
                tables[finding.key, len(table)] = table
    return tables


def is_among(numbers, checked):
    """Whether each finite number is one of those that are checked."""
    numbers = np.asarray(numbers, float)
    numbers = numbers[np.isfinite(numbers)]
    return np.isclose(numbers[:, None], checked.to_numpy(float), rtol=1e-9).any(axis=1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in MORE))
        for name, case in CASES.items()
        if case.make()._engine.draws
    ],
)
def test_what_a_table_shows_with_an_r_hat_is_checked(name):
    model = fit_case(name)
    checked, tables = model._select_convergence_rows(), list_tables(model)
    for key, table in tables.items():
        assert is_among(table["r_hat"], checked["r_hat"]).all(), key
        for column in {"ess_bulk", "ess_tail"} & set(table):
            # the diagnostics of constant quantities say nothing
            assert is_among(table.loc[table["r_hat"].notna(), column], checked[column]).all(), key
    facts = model.convergence().facts
    shown = [table["r_hat"].max() for table in tables.values()]
    assert np.nanmax([facts.get("r_hat", np.inf), *shown]) == facts.get("r_hat", np.inf)


@pytest.mark.parametrize(
    "name", [name for name in CASES if name.endswith(("given", "given, choices", "named"))]
)
def test_weights_of_given_features_have_an_r_hat(name):
    model = fit_case(name)
    table = model.features()
    assert table["r_hat"].notna().all() and table["ess"].notna().all()


def test_chains_that_differ_in_a_weight_do_not_agree():
    """The weights of given aspects are the result: chains that differ in them alone disagree."""
    model = th.EliminationByAspects(_OPTIONS).fit(
        *small_models.build_pairs(), draws=1000, random_seed=1, progressbar=False
    )
    weights = model.posterior_["latent_features"]["weights"]
    weights.values[0] *= 10.0
    checked = copy.copy(model)  # without what it has computed from other draws
    assert model.convergence().agrees and not checked.convergence().agrees
    assert checked.convergence().facts["r_hat_of"].startswith("weight[")


def test_chains_that_differ_in_the_population_do_not_agree():
    model = fit_case("hierarchical-logit, by age")
    rows = model._select_convergence_rows().index
    assert set(model.population().index) <= set(rows)
    assert any(" per age" in name for name in rows)
