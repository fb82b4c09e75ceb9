"""The celebrities on trees: long runs against converged reference values."""

import numpy as np
import pytest
from elimination_cases import scores

import thali as th

PROFESSIONS = {"politicians": ["LBJ", "HW", "CDG"], "athletes": ["JU", "CY", "AJF"], "stars": ["BB", "ET", "SL"]}
# Mean and its Monte Carlo error, from an independent sampler of two million sweeps.
REFERENCE = {
    0.1: {"log_likelihood": (-121.439, 0.016), "n_features": (6.669, 0.010), "alpha": (2.565, 0.004)},
    0.5: {"log_likelihood": (-119.916, 0.011), "n_features": (13.107, 0.033), "alpha": (4.093, 0.010)},
}


def draws_of(model, name):
    return model.posterior_["posterior"][name].values.astype(float)


@pytest.mark.long
@pytest.mark.parametrize("leaf_length", [0.1, 0.5])
def test_two_million_sweeps(leaf_length):
    tree = th.Tree.from_groups(PROFESSIONS, leaf_length)
    model = th.EliminationByAspects(tree)
    model.fit(th.datasets.celebrities(), draws=25_000, tune=500, thin=20, random_seed=2008, progressbar=False)
    for name, (value, error) in REFERENCE[leaf_length].items():
        z, own = scores(draws_of(model, name), value, error)
        assert abs(z) < 4.0, (name, z)
        assert own < 0.005 * abs(value)


@pytest.mark.long
def test_the_star_and_the_indian_buffet_have_the_same_posterior():
    data, budget = th.datasets.celebrities(), {"draws": 8_000, "tune": 500, "thin": 20, "progressbar": False}
    star = th.EliminationByAspects(th.Tree.star(data.labels)).fit(data, random_seed=1, **budget).summary()
    buffet = th.EliminationByAspects().fit(data, random_seed=2, **budget).summary()
    z = (star["mean"] - buffet["mean"]) / np.hypot(star["mcse_mean"], buffet["mcse_mean"])
    assert list(star.index) == list(buffet.index)
    assert z.abs().max() < 4.5  # of 39


def test_a_tree_is_saved_with_its_model(tmp_path):
    tree = th.Tree.from_groups(PROFESSIONS, 0.1)
    model = th.EliminationByAspects(tree).fit(
        th.datasets.celebrities(), draws=300, tune=200, random_seed=1, progressbar=False
    )
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.aspects == tree
    assert again.features().equals(model.features())
    places = dict(zip(model.features(0.0)["members"], model.features(0.0)["place"], strict=True))
    assert places[("LBJ", "HW", "CDG")] == "clade politicians"
    assert places[("JU", "CY", "AJF", "BB", "ET", "SL")] == "across"
    assert places[("LBJ",)] == "leaf" and places[th.datasets.celebrities().labels] == "root"
