"""Pictures of the classifiers: weights and coefficients against their prior, regions of two covariates, calibration."""

import warnings

import numpy as np
import pandas as pd
import pytest
from drawn_pictures import assert_readable
from matplotlib import pyplot as plt

import thali as th
from thali import plots
from thali.errors import ArgumentError, DataError, NotFittedError

pytestmark = pytest.mark.fit

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


# the path -------------------------------------------------------------------------------------------------


def lines_of(ax):
    """Every line of weights by its colour: shapes, weights."""
    return [line for line in ax.lines if len(line.get_xdata()) > 2 or line.get_label()[:1] != "_"]


def test_every_line_is_a_weight_of_a_fit():
    X, y = clouds()
    grid = [0.5, 1.0, 1.1, 2.0]
    ax = pl().plot_path(X, y, grid)
    lines = [line for line in ax.lines if len(line.get_xdata()) == len(grid)]
    assert len(lines) == 3 * 5
    for place, a in enumerate(grid):
        wanted = np.sort(np.asarray(pl(a=a).fit(X, y).weights_).ravel())
        drawn = np.sort([line.get_ydata()[place] for line in lines])
        # Both stop where the gradient is below 1e-8 a row; weights are known far better than a pixel.
        np.testing.assert_allclose(drawn, wanted, atol=1e-5)
        np.testing.assert_allclose(lines[0].get_xdata(), grid)
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] == 0


def test_the_legend_names_the_line_it_stands_for():
    X, y = clouds()
    ax = pl().plot_path(pd.DataFrame(X, columns=["u", "v"]), y, [1.1, 2.0])
    model = pl(a=2.0).fit(pd.DataFrame(X, columns=["u", "v"]), y)
    named = {line.get_label(): line.get_ydata()[-1] for line in ax.lines if ": " in str(line.get_label())}
    assert len(named) == 7
    for name, weight in named.items():
        label, column = name.split(": ")
        assert weight == pytest.approx(model.weights_.loc[label, column], abs=1e-5)
    assert ax.get_legend().get_texts()[-1].get_text() == "8 more"


def test_posterior_means_can_be_drawn_and_the_model_stays_as_it_is():
    X, y = clouds(n=30)
    model = pl(a=1.5, random_seed=1)
    before = model.get_params()
    ax = model.plot_path(X, y, [0.5, 1.0], method="variational")
    wanted = np.asarray(th.PlackettLuceRegression(method="variational", a=0.5).fit(X, y).weights_).ravel()
    drawn = [line.get_ydata()[0] for line in ax.lines if len(line.get_xdata()) == 2 and line.get_label()[0] != "_"]
    assert set(np.round(drawn[:7], 9)) <= set(np.round(wanted, 9))
    assert model.get_params() == before and not hasattr(model, "weights_")


def test_the_transform_and_the_scale_of_the_model_are_used():
    X, y = clouds()
    ax = pl(transform=None).plot_path(np.abs(X), y, [1.0, 1.5])
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        f"c{k}: x{j}" for k in range(3) for j in range(2)
    }
    raw = pl(standardize=False).plot_path(10 * X, y, [1.2, 1.5])
    scaled = pl().plot_path(10 * X, y, [1.2, 1.5])
    assert not np.allclose(raw.lines[0].get_ydata(), scaled.lines[0].get_ydata(), atol=1e-3)


def test_the_lines_end_at_one_where_nothing_is_found_below():
    # A hundred equal columns share the only row of a class: just below a = 1 none explains as much as 1 - a rows.
    X = np.repeat([[1.0] * 100 + [0.1], [0.1] * 100 + [1.0]], [1, 9], axis=0)
    y, model = np.array(["a"] + ["b"] * 9), pl(transform=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ax = model.plot_path(X, y)
        assert ax.get_xlim()[0] == 1.0
        with pytest.raises(DataError, match="nearer to 1"):
            model.plot_path(X, y, [0.1, 1.0])


@pytest.mark.parametrize("a", [[1.0], [], [1.0, 1.0], [-1.0, 1.0], [1.0, np.inf]])
def test_a_path_needs_two_shapes(a):
    with pytest.raises(ArgumentError, match="two different numbers above 0"):
        pl().plot_path(*clouds(), a)


def logit(**arguments):
    return th.SparseMultinomialLogit(method="map", **({"eta": 5.0} | arguments))


# calibration ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [logit, pl])
def test_points_and_bars_are_those_of_the_table(make):
    X, y = clouds(n=300, spread=1.5)
    model = make().fit(X, y)
    axes, table = model.plot_calibration(X, y, 5), model.calibration(X, y, 5)
    assert [ax.get_title() for ax in axes] == ["c0", "c1", "c2"]
    for ax, (_, rows) in zip(axes, table.groupby("class"), strict=True):
        bars, *points = ax.collections
        drawn = np.sort(np.concatenate([each.get_offsets() for each in points]), axis=0)
        np.testing.assert_allclose(drawn, np.sort(rows[["predicted", "observed"]].to_numpy(), axis=0))
        ends = np.array(bars.get_segments())
        np.testing.assert_allclose(ends[:, :, 1], rows[["low", "high"]])
        np.testing.assert_allclose(ends[:, 0, 0], rows["predicted"])
        outside = [len(each.get_offsets()) for each in points if "outside" in str(each.get_label())]
        assert sum(outside) == rows["missed"].sum()


def test_the_classes_that_are_predicted_most_are_shown():
    X, y = clouds(n=300, classes=5)
    kept = ~np.isin(y, ["c1", "c3"]) | (np.arange(300) < 40)
    model = logit().fit(X, y)
    axes = plots.calibration(model, X[kept], y[kept], max_classes=3)
    assert [ax.get_title() for ax in axes] == ["c0", "c2", "c4"]
    _, given = plt.subplots(1, 5)
    assert plots.calibration(model, X, y, axes=given) == list(given)
    with pytest.raises(ArgumentError, match="`axes` must be 5, one for each class that is shown; got 4"):
        plots.calibration(model, X, y, axes=given[:4])
    with pytest.raises(ArgumentError, match="`max_classes` must be 1 or more"):
        plots.calibration(model, X, y, max_classes=0)


# the regions ----------------------------------------------------------------------------------------------


@pytest.mark.first(2)
@pytest.mark.parametrize("transform", ["exponential", "exponential-pairs"])
@pytest.mark.parametrize("scale", [(1.0, 1.0), (1e5, 1e-4)])
def test_colours_are_those_of_the_most_probable_class(transform, scale):
    X, y = clouds(scale=scale)
    model = pl(transform=transform).fit(X, y)
    ax = model.plot_decision(X, y)
    (image,) = ax.images
    pixels = image.get_array()
    assert image.origin == "lower"
    left, right, bottom, top = image.get_extent()
    points = {c.get_label(): c.get_facecolor()[0][:3] for c in ax.collections if str(c.get_label()).startswith("c")}
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
    model = th.SparseMultinomialLogit(draws=20, tune=20, chains=2, cores=1, random_seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    ax = model.plot_decision(X, y)
    assert {text.get_text() for text in ax.texts} == {"c0", "c1", "c2"}
    for text in ax.texts:
        assert model.predict([text.get_position()])[0] == text.get_text()
    edges = np.vstack([path.vertices for c in ax.collections if not c.get_label()[0] == "c" for path in c.get_paths()])
    top = np.sort(model.predict_proba(edges), axis=1)
    assert len(edges) > 100 and np.all(top[:, -1] - top[:, -2] < 0.05)


def test_a_name_is_all_inside_its_region_or_not_there():
    X, y = clouds(classes=12, n=240, spread=0.2, names=[f"class number {k}" for k in range(12)])
    model = pl(transform="exponential-pairs").fit(X, y)
    ax = model.plot_decision(X, y)
    ax.figure.canvas.draw()
    assert 3 <= len(ax.texts) < 12
    for text in ax.texts:
        box = text.get_window_extent()
        corners = ax.transData.inverted().transform(np.array([[x, y] for x in box.intervalx for y in box.intervaly]))
        assert list(model.predict(corners)) == [text.get_text()] * 4


def test_points_are_those_of_the_data():
    X, y = clouds()
    frame = pd.DataFrame(X, columns=["width of a leaf", "$height_"])
    ax = pl().fit(frame, y).plot_decision(frame, y)
    for collection in ax.collections:
        if collection.get_label() in ("c0", "c1", "c2"):
            np.testing.assert_allclose(collection.get_offsets(), X[y == collection.get_label()])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width of a leaf", "$height_")
    assert not pl().fit(frame, y).plot_decision(frame).get_legend()
    many, labels = clouds(n=6000)
    ax = pl().fit(many, labels).plot_decision(many, labels)
    drawn = [len(c.get_offsets()) for c in ax.collections if str(c.get_label()).startswith("c")]
    assert sum(drawn) == 2000


def test_axes_can_be_given():
    X, y = clouds()
    _, (left, right) = plt.subplots(1, 2)
    assert pl().plot_path(X, y, [1.0, 2.0], ax=left) is left
    assert plots.decision(pl().fit(X, y), X, y, ax=right) is right
    assert len(plt.get_fignums()) == 1


def test_what_cannot_be_drawn():
    X, y = clouds()
    with pytest.raises(NotFittedError):
        pl().plot_decision(X, y)
    three = np.column_stack([X, X[:, 0] ** 2])
    with pytest.raises(ArgumentError, match="fitted to 3; fit one to two columns"):
        pl().fit(three, y).plot_decision(three, y)
    with pytest.raises(DataError, match="90 rows and y has 89"):
        pl().fit(X, y).plot_decision(X, y[:-1])
    with pytest.raises(DataError, match="expecting 2"):
        pl().fit(X, y).plot_decision(three, y)


# both -----------------------------------------------------------------------------------------------------

CASES = {
    "two classes": dict(classes=2),
    "long names": dict(names=LONG),
    "many classes": dict(classes=12, n=240, spread=0.2),
    "crowded": dict(n=3000, spread=2.0),
    "other scales": dict(scale=(1e6, 1e-6)),
}


PICTURES = {
    "path": lambda X, y: pl(transform="exponential-pairs").plot_path(X, y),
    "decision": lambda X, y: pl(transform="exponential-pairs").fit(X, y).plot_decision(X, y),
    "calibration": lambda X, y: logit().fit(X, y).plot_calibration(X, y)[0],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.first(6)
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    X, y = clouds(**CASES[case])
    assert_readable(PICTURES[picture](X, y), monkeypatch)
