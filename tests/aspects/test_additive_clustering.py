"""What a user of AdditiveClustering meets: warnings, refusals, names, what is saved."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataWarning

pytestmark = pytest.mark.fit

DRINKS = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.2], [0.3, 0.2, 1.0]])
SHORT = {"draws": 30, "tune": 30, "random_seed": 1, "progressbar": False}


def fit(table=DRINKS, sigma=0.1, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return th.AdditiveClustering(sigma=sigma, **settings).fit(th.Similarities(table), **SHORT)


def data_warnings(table, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        th.AdditiveClustering(**settings).fit(th.Similarities(table), **SHORT)
    caught = [w for w in caught if w.category is DataWarning]
    assert all(w.filename == __file__ for w in caught)
    return " ".join(str(w.message) for w in caught)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("table", "settings", "messages"),
    [
        (
            4 * DRINKS,
            {"sigma": 0.5, "weight_prior": (1.0, 10.0)},
            ("similarity is 3.2", "weight_prior=(1.0, 3.1)"),
        ),
        (4 * DRINKS, {"sigma": 0.5}, None),
        # prior means of a twentieth: broad, but fit for the data
        (DRINKS / 20, {"sigma": 0.01}, None),
        (4 * DRINKS, {"sigma": 0.5, "weight_prior": (1.0, 2.5)}, None),
        (100 * DRINKS, {"sigma": 5.0, "weight_prior": (1.0, 0.1)}, None),
        (DRINKS, {"sigma": 0.001}, ("sigma=0.001", "less than 0.02 times")),
        (DRINKS, {"sigma": 0.1}, None),
    ],
)
def test_odd_scales_of_similarities_are_warned_of(table, settings, messages):
    found = data_warnings(table, **settings)
    assert all(fact in found for fact in messages) if messages else not found


def test_a_learned_sigma_that_explains_all_is_told():
    messages = data_warnings(
        th.datasets.numbers().matrix, sigma="learned", weight_prior=(1.0, 10.0)
    )
    assert "The features explain little" in messages and "Set sigma" in messages


@pytest.mark.first(2)
@pytest.mark.parametrize("level", [0.1, 0.3, 0.5, 0.0])
def test_a_constant_matrix_is_legal(level):
    """Its variance is rounding error, or 0."""
    model = fit(np.full((4, 4), level), sigma=None)
    sigma = model.posterior_["posterior"]["sigma"].values.mean()
    assert 0.01 * max(level, 0.1) < sigma < max(level, 10.0)


def test_a_target_in_a_frame_is_matched_by_label():
    estimate = fit().estimate()
    of_itself = estimate.variance_accounted_for()
    swapped = [2, 0, 1]
    # labels 0, 1, 2
    assert estimate.variance_accounted_for(pd.DataFrame(DRINKS)) == pytest.approx(of_itself)
    frame = pd.DataFrame(DRINKS[np.ix_(swapped, swapped)], swapped, swapped)
    assert estimate.variance_accounted_for(frame) == pytest.approx(of_itself)
    with refused(ArgumentError, "`target`", "'b'", "not a number"):
        estimate.variance_accounted_for([["a", "b", "c"]] * 3)


@pytest.mark.long
def test_names_of_features_survive_a_file(tmp_path):
    owned = pd.DataFrame([[1, 0], [1, 1], [0, 1]], columns=["hot", "cold"])
    model = fit(features=owned)
    model.save(tmp_path / "drinks.nc")
    again = th.load(tmp_path / "drinks.nc")
    assert (
        again.features()["feature"].tolist()
        == model.features()["feature"].tolist()
        == ["hot", "cold"]
    )
    assert str(again.estimate("map-features")) == str(model.estimate("map-features"))


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        ({"features": "unique"}, ("features", "'ibp'")),
        ({"features": pd.DataFrame(np.ones((3, 2)), columns=["hot", "hot"])}, ("'hot'",)),
        ({"features": np.ones((2, 2))}, ("2 rows", "have 3")),
        ({"sigma": 1e300}, ("sigma", "1e-100", "1e+100")),
        ({"weight_prior": (0.7, 1.0)}, ("weight_prior", "1 for")),
        ({"weight_prior": (1.0, 0.0)}, ("rate", "weight_prior")),
        ({"tempering": ("a", "b")}, ("tempering",)),
        ({"tempering": (2.0, 3.0)}, ("tempering",)),
        ({"tempering": 1000}, ("tempering", "at most 64")),
    ],
)
def test_bad_arguments_are_refused(settings, messages):
    with refused(ArgumentError, *messages):
        th.AdditiveClustering(**({"sigma": 0.1} | settings)).fit(th.Similarities(DRINKS), **SHORT)


def test_one_chain_settles_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.AdditiveClustering(sigma=0.1, alpha=2.0).fit(
            th.Similarities(DRINKS), **(SHORT | {"chains": 1})
        )
    assert not model.features()["converged"].any()
