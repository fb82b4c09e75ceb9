"""Regions of two covariates: what the picture shows, and that it can be read."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import assert_readable

import thali as th
from papers.plots.decision_regions import decision
from thali.errors import ArgumentError, DataError, NotFittedError

pytestmark = pytest.mark.usefixtures("pictures")

LONG = ["a rather long name of $class_0", "another rather long name, of class number one", "short"]


def clouds(n=90, classes=3, names=None, spread=0.6, scale=(1.0, 1.0), seed=2):
    """Points around the corners of a polygon."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    angles = 2 * np.pi * codes / classes
    X = 2 * np.column_stack([np.cos(angles), np.sin(angles)]) + spread * rng.normal(size=(n, 2))
    names = [f"c{k}" for k in range(classes)] if names is None else names
    return X * scale, np.array(names)[codes]


def pl(**arguments):
    return th.PlackettLuceRegression(**({"method": "map", "a": 1.1} | arguments))


@pytest.mark.first(2)
@pytest.mark.parametrize("transform", ["exponential", "exponential-pairs"])
@pytest.mark.parametrize("scale", [(1.0, 1.0), (1e5, 1e-4)])
def test_colours_are_those_of_the_most_probable_class(transform, scale):
    X, y = clouds(scale=scale)
    model = pl(transform=transform).fit(X, y)
    ax = decision(model, X, y)
    (image,) = ax.images
    pixels = image.get_array()
    assert image.origin == "lower"
    left, right, bottom, top = image.get_extent()
    points = {
        c.get_label(): c.get_facecolor()[0][:3]
        for c in ax.collections
        if str(c.get_label()).startswith("c")
    }
    rng = np.random.default_rng(1)
    checked = 0
    for across, up in rng.random((300, 2)):
        place = [[left + across * (right - left), bottom + up * (top - bottom)]]
        probabilities = np.sort(model.predict_proba(place)[0])
        if probabilities[-1] - probabilities[-2] < 0.05:
            continue  # a pixel away it may be another class
        colour = pixels[round(up * (pixels.shape[0] - 1)), round(across * (pixels.shape[1] - 1))]
        ink = 1 - colour
        for name, wanted in points.items():
            same = np.allclose(ink / ink.max(), (1 - wanted) / (1 - wanted).max(), atol=0.02)
            assert same == (name == model.predict(place)[0])
        checked += 1
    assert checked > 200


def test_names_stand_in_their_regions_and_boundaries_between_classes():
    X, y = clouds()
    model = th.SparseMultinomialLogit(draws=20, tune=20, chains=2, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, cores=1)
    ax = decision(model, X, y)
    assert {text.get_text() for text in ax.texts} == {"c0", "c1", "c2"}
    for text in ax.texts:
        assert model.predict([text.get_position()])[0] == text.get_text()
    edges = np.vstack(
        [
            path.vertices
            for c in ax.collections
            if not c.get_label()[0] == "c"
            for path in c.get_paths()
        ]
    )
    top = np.sort(model.predict_proba(edges), axis=1)
    assert len(edges) > 100 and np.all(top[:, -1] - top[:, -2] < 0.05)


def test_points_are_those_of_the_data():
    X, y = clouds()
    frame = pd.DataFrame(X, columns=["width of a leaf", "$height_"])
    ax = decision(pl().fit(frame, y), frame, y)
    for collection in ax.collections:
        if collection.get_label() in ("c0", "c1", "c2"):
            np.testing.assert_allclose(collection.get_offsets(), X[y == collection.get_label()])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width of a leaf", "$height_")
    assert not decision(pl().fit(frame, y), frame).get_legend()
    many, labels = clouds(n=6000)
    ax = decision(pl().fit(many, labels), many, labels)
    drawn = [len(c.get_offsets()) for c in ax.collections if str(c.get_label()).startswith("c")]
    assert sum(drawn) == 2000


def test_what_cannot_be_drawn():
    X, y = clouds()
    with pytest.raises(NotFittedError):
        decision(pl(), X, y)
    three = np.column_stack([X, X[:, 0] ** 2])
    with pytest.raises(ArgumentError, match="fitted to 3; fit one to two columns"):
        decision(pl().fit(three, y), three, y)
    with pytest.raises(DataError, match="90 rows and y has 89"):
        decision(pl().fit(X, y), X, y[:-1])
    with pytest.raises(DataError, match="expecting 2"):
        decision(pl().fit(X, y), three, y)


CASES = {
    "two classes": dict(classes=2),
    "long names": dict(names=LONG),
    "many classes": dict(classes=12, n=240, spread=0.2),
    "crowded": dict(n=3000, spread=2.0),
    "other scales": dict(scale=(1e6, 1e-6)),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, monkeypatch):
    X, y = clouds(**CASES[case])
    assert_readable(decision(pl(transform="exponential-pairs").fit(X, y), X, y), monkeypatch)
