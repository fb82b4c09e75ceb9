"""Pictures of the classifiers: coefficients against their prior, calibration."""

import numpy as np
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.sentences import refused
from matplotlib import pyplot as plt

import thali as th
from thali import plots
from thali.errors import ArgumentError

pytestmark = pytest.mark.fit

LONG = ["a rather long name of $class_0", "another rather long name, of class number one", "short"]


def simulate_points(n=90, classes=3, names=None, spread=0.6, scale=(1.0, 1.0), seed=2):
    """Simulate points around the corners of a polygon."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    angles = 2 * np.pi * codes / classes
    X = 2 * np.column_stack([np.cos(angles), np.sin(angles)]) + spread * rng.normal(size=(n, 2))
    names = [f"c{k}" for k in range(classes)] if names is None else names
    return X * scale, np.array(names)[codes]


def build_plackett_luce(**arguments):
    return th.PlackettLuceRegression(**({"method": "map", "a": 1.1} | arguments))


def build_sparse_logit(**arguments):
    return th.SparseMultinomialLogit(method="map", **({"eta": 5.0} | arguments))


# calibration --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [build_sparse_logit, build_plackett_luce])
def test_points_and_bars_are_those_of_the_table(make):
    X, y = simulate_points(n=300, spread=1.5)
    model = make().fit(X, y)
    axes, table = plots.calibration(model.calibration(X, y, 5)), model.calibration(X, y, 5)
    assert [ax.get_title() for ax in axes] == ["c0", "c1", "c2"]
    for ax, (_, rows) in zip(axes, table.groupby("class"), strict=True):
        bars, *points = ax.collections
        drawn = np.sort(np.concatenate([each.get_offsets() for each in points]), axis=0)
        np.testing.assert_allclose(
            drawn, np.sort(rows[["predicted", "observed"]].to_numpy(), axis=0)
        )
        ends = np.array(bars.get_segments())
        np.testing.assert_allclose(ends[:, :, 1], rows[["low", "high"]])
        np.testing.assert_allclose(ends[:, 0, 0], rows["predicted"])
        outside = [len(each.get_offsets()) for each in points if "outside" in str(each.get_label())]
        assert sum(outside) == rows["missed"].sum()


def test_the_classes_that_are_predicted_most_are_shown():
    X, y = simulate_points(n=300, classes=5)
    kept = ~np.isin(y, ["c1", "c3"]) | (np.arange(300) < 40)
    model = build_sparse_logit().fit(X, y)
    axes = plots.calibration(model.calibration(X[kept], y[kept]), max_classes=3)
    assert [ax.get_title() for ax in axes] == ["c0", "c2", "c4"]
    _, given = plt.subplots(1, 5)
    table = model.calibration(X, y)
    assert plots.calibration(table, given) == list(given)
    with refused(ArgumentError, "`ax`", "5); got", "got 4"):
        plots.calibration(table, given[:4])
    with refused(ArgumentError, "`max_classes`", "1"):
        plots.calibration(table, max_classes=0)


# both ---------------------------------------------------------------------------------------------

CASES = {
    "two classes": dict(classes=2),
    "long names": dict(names=LONG),
    "many classes": dict(classes=12, n=240, spread=0.2),
    "crowded": dict(n=3000, spread=2.0),
    "other scales": dict(scale=(1e6, 1e-6)),
}


PICTURES = {
    "calibration": lambda X, y: plots.calibration(build_sparse_logit().fit(X, y).calibration(X, y))[
        0
    ]
}


@pytest.mark.long
@pytest.mark.filterwarnings("error")
@pytest.mark.first(6)
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    X, y = simulate_points(**CASES[case])
    assert_readable(PICTURES[picture](X, y), monkeypatch)
