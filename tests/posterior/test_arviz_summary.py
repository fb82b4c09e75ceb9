"""ArviZ summarises the posterior of every kind of model, as it is and as it comes back from a file."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr
from helpers.additive_fits import made_up
from helpers.posterior_cases import chain, comparisons, tree_of
from helpers.product_class_fits import fitted

import thali as th
from thali._aspects.draws.tree import to_datatree
from thali._data.observed import Observed
from thali._posterior import store


class Ratings(NamedTuple):
    rating: np.ndarray
    labels: list


def log_likelihood(data, features, weights):
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


ROWS: dict = {"draws": 20, "tune": 20, "chains": 2, "random_state": 1}
SHORT: dict = {"draws": 20, "tune": 20, "random_seed": 1, "progressbar": False}
X = np.random.default_rng(1).normal(size=(30, 2))
Y = (X[:, 0] > 0.1).astype(int)


def elimination():
    return tree_of([chain(4, draws=20, seed=seed) for seed in (1, 2)], comparisons(4))


def sets():
    choices = th.Choices.from_comparisons(comparisons(3))
    return tree_of([chain(3, draws=20, seed=seed) for seed in (1, 2)], choices)


def own():
    data, likelihood = Ratings(np.array([0.5, 1.0, 2.0]), ["a", "b", "c"]), th.likelihoods.Custom(log_likelihood)
    drawn = [chain(3, draws=20, seed=seed, unique=False) for seed in (1, 2)]
    return to_datatree(drawn, Observed(data), likelihood, learned_alpha=True)


def people():
    import pandas as pd

    rows = {"id": [1] * 4 + [2] * 4, "task": [1, 1, 2, 2] * 2, "choice": [1, 0, 1, 0, 0, 1, 0, 1]}
    data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows | {"price": [100, 150] * 4}))
    return th.HierarchicalLogit().fit(data, chains=2, **SHORT).posterior_


MODELS = {
    "elimination": elimination,
    "elimination of sets": sets,
    "additive": lambda: made_up(draws=20).posterior_,
    "own": own,
    "product classes": lambda: fitted().posterior_,
    "hierarchical logit": people,
    "sparse logit": lambda: th.SparseMultinomialLogit(**ROWS).fit(X, Y, progressbar=False).posterior_,
    "Plackett-Luce": lambda: th.PlackettLuceRegression(**ROWS).fit(X, Y, progressbar=False).posterior_,
}


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("kind", MODELS)
def test_every_model(kind, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = MODELS[kind]()
        store.save(tree, tmp_path / "posterior.nc")
        with xr.open_datatree(tmp_path / "posterior.nc", engine="h5netcdf") as opened:
            stored = opened.load()
        for each in (tree, stored):
            groups = each.children.values()
            assert not [name for group in groups for name, values in group.data_vars.items() if values.dtype == bool]
        pytest.importorskip("xarray_einstats", reason="ArviZ's summary needs arviz-stats[xarray]")
        from arviz_stats import summary

        table, again = summary(tree), summary(stored)
    assert len(table) and table.index.tolist() == again.index.tolist()


@pytest.mark.fit  # for its time
def test_files_of_before_hold_booleans(tmp_path):
    tree = elimination()
    old = tree.copy(deep=True)
    latent = old["latent_features"].to_dataset()
    old["latent_features"] = latent.assign(features=latent["features"].astype(bool))
    store.save(old, tmp_path / "old.nc")
    again = store.load(tmp_path / "old.nc")
    xr.testing.assert_identical(again["latent_features"].to_dataset(), tree["latent_features"].to_dataset())
    store.save(again, tmp_path / "new.nc")
    assert store.load(tmp_path / "new.nc")["latent_features"]["features"].dtype == np.int8
