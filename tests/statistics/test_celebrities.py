"""The celebrities, without and with a tree, and Paris-Rome: long runs against converged reference
values."""

import math
from functools import partial

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import scores

import thali as th

# Mean and its Monte Carlo error, from independent samplers of two million sweeps.
CELEBRITIES = {
    "log_likelihood": (-121.562, 0.014),
    "n_features": (10.736, 0.027),
    "alpha": (3.067, 0.007),
    ("LBJ", "HW"): (0.6570, 0.00015),
    ("LBJ", "SL"): (0.6184, 0.00015),
}
COPIES = {
    ("BB", "ET", "SL"): (0.515, 0.002),
    ("JU", "CY"): (0.495, 0.002),
    ("LBJ", "HW", "CDG"): (0.353, 0.001),
    ("LBJ", "HW"): (0.257, 0.001),
    ("JU", "CY", "AJF", "BB", "ET", "SL"): (0.136, 0.002),
}
# Without binomial coefficients.
PARIS_ROME = {
    "log_likelihood": (-282.698, 0.003),
    "n_features": (3.276, 0.003),
    "alpha": (1.387, 0.001),
    ("P+", "P"): (0.9848, 0.00007),
    ("P+", "R"): (0.5603, 0.00007),
    ("P+", "R+"): (0.5000, 0.00007),
    ("P", "R"): (0.5000, 0.00007),
    ("R", "R+"): (0.0151, 0.00007),
}
# Of trees of the professions, by the length of their leaves.
PROFESSIONS = dict(
    politicians=["LBJ", "HW", "CDG"], athletes=["JU", "CY", "AJF"], stars=["BB", "ET", "SL"]
)
ON_TREES = {
    0.1: dict(log_likelihood=(-121.439, 0.016), n_features=(6.669, 0.010), alpha=(2.565, 0.004)),
    0.5: dict(log_likelihood=(-119.916, 0.011), n_features=(13.107, 0.033), alpha=(4.093, 0.010)),
}
PARIS_ROME_COPIES = {
    ("P+", "P"): (1.150, 0.001),
    ("R", "R+"): (1.150, 0.001),
    ("P+", "R+"): (0.062, 0.001),
}


def draws_of(model, name):
    posterior = all_drawn(model.posterior_)
    if isinstance(name, str):
        return posterior[name].values.astype(float)
    a, b = name
    return posterior["choice_probability"].sel(pair=f"{a}, {b}").values


def copies_of(model, members):
    posterior = all_drawn(model.posterior_)
    wanted = np.isin(posterior["option"].values, members)
    return (posterior["features"].values == wanted).all(-1).sum(-1).astype(float)


def check(model, expected, copies, shift=0.0):
    for name, (value, error) in expected.items():
        z, _ = scores(
            draws_of(model, name) + (shift if name == "log_likelihood" else 0.0), value, error
        )
        assert abs(z) < 4.0, (name, z)
    for members, (value, error) in copies.items():
        z, _ = scores(copies_of(model, members), value, error)
        assert abs(z) < 4.0, (members, z)


def fit(data, draws, thin, aspects="ibp"):
    run = {"draws": draws, "tune": 500, "thin": thin, "random_seed": 2006, "progressbar": False}
    return th.EliminationByAspects(aspects).fit(data, **run)


@pytest.mark.long
@pytest.mark.parametrize("leaf_length", [None, *ON_TREES])
def test_two_million_sweeps(leaf_length):
    aspects = th.Tree.from_groups(PROFESSIONS, leaf_length) if leaf_length else "ibp"
    expected = ON_TREES[leaf_length] if leaf_length else CELEBRITIES
    model = fit(th.datasets.celebrities(), 25_000, 20, aspects)
    check(model, expected, {} if leaf_length else COPIES)
    for name, (value, _) in expected.items():
        assert scores(draws_of(model, name), value, 0.0)[1] <= 0.005 * abs(value)


def test_paris_rome():
    model = fit(th.datasets.paris_rome(expected=True), 3_000, 5)
    constant = float(model.posterior_["constant_data"]["log_binomial_coefficient"].sum())
    check(model, PARIS_ROME, PARIS_ROME_COPIES, -constant)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("data", "expected", "seed"),
    [(partial(th.datasets.paris_rome, expected=True), PARIS_ROME, 1)]
    + [(th.datasets.celebrities, CELEBRITIES, seed) for seed in (1, 2, 3)],
)
def test_the_default_budget_converges_and_is_honest(data, expected, seed):
    model = th.EliminationByAspects().fit(data(), random_seed=seed, progressbar=False)
    summary = model.summary()
    assert summary["r_hat"].max() <= 1.01
    constant = float(model.posterior_["constant_data"]["log_binomial_coefficient"].sum())
    for name in ("log_likelihood", "n_features", "alpha"):
        value, error = expected[name]
        shift = constant if name == "log_likelihood" and expected is PARIS_ROME else 0.0
        row = summary.loc[name]
        assert abs(row["mean"] - shift - value) < 4.0 * np.hypot(row["mcse_mean"], error)
    assert len(summary) == 3 + math.comb(len(data().labels), 2)


@pytest.mark.long
def test_a_tree_is_saved_with_its_model(tmp_path):
    tree = th.Tree.from_groups(PROFESSIONS, 0.1)
    model = th.EliminationByAspects(tree).fit(
        th.datasets.celebrities(), draws=100, tune=100, chains=2, random_seed=1, progressbar=False
    )
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.aspects == tree
    assert again.features().equals(model.features())
    places = dict(zip(model.features(0.0)["members"], model.features(0.0)["place"], strict=True))
    assert places[("LBJ", "HW", "CDG")] == "clade politicians"
    assert places[("JU", "CY", "AJF", "BB", "ET", "SL")] == "across"
    assert places[("LBJ",)] == "leaf" and places[th.datasets.celebrities().labels] == "root"
