"""The pictures of additive clustering: what they show, and that it can be read."""

import matplotlib
import numpy as np
import pytest
import xarray as xr
from drawn_pictures import MULTIMODAL, assert_readable
from matplotlib import pyplot as plt
from similarity_columns import columns_of_sets, similarities

from thali import plots
from thali.aspects.answers.estimate import estimate
from thali.aspects.draws.similarities import similarity_draws
from thali.aspects.models.additive import AdditiveClustering
from thali.aspects.priors import IndianBuffet
from thali.data.kinds import SIMILARITIES
from thali.errors import ArgumentError
from thali.plots.overlap import _levels, _plane
from thali.posterior.interval import TAILS

COUNTRIES = "China Cuba Germany Indonesia Iraq Italy Jamaica Japan Libya Nigeria Philippines Russia Spain USA Vietnam"


def fitted(n, labels=None, draws=80, chains=2, features=5, seed=0, measured=1.0, scale=1.0, kept=True):
    """A stand-in for a fitted model: its tree and its estimates, as the pictures read them."""
    rng = np.random.default_rng(seed)
    labels = list(labels or [str(number) for number in range(n)])
    common = [tuple(rng.choice(n, min(n, 2 + k % 4), replace=False)) for k in range(features)]
    sets = [
        [(owners, scale * rng.gamma(8.0, 0.04)) for owners in common if rng.random() < 0.8]
        for _ in range(chains * draws)
    ]
    columns = columns_of_sets(sets, n)
    constant = scale * rng.gamma(9.0, 0.01, chains * draws)
    first, second = np.triu_indices(n, 1)
    everything = similarity_draws(columns, constant, first, second)
    matrix = np.full((n, n), np.nan)
    matrix[first, second] = everything.mean(0) + scale * rng.normal(0, 0.05, len(first))
    lost = rng.random(len(first)) > measured
    matrix[first[lost], second[lost]] = np.nan
    matrix[0, 1] = 0.5 * scale
    data = similarities(matrix, labels)
    names = np.array(labels)

    def ends(dim, first, second):
        return {"option_a": (dim, names[first]), "option_b": (dim, names[second])}

    shape, width = (chains, draws), max(map(len, sets))
    dense, weights = columns.dense(0, chains * draws)
    sampled = ("chain", "draw")
    posterior = {
        "constant": (sampled, constant.reshape(shape)),
        "features": ((*sampled, "feature", "option"), dense.reshape(*shape, width, n)),
        "weights": ((*sampled, "feature"), weights.reshape(*shape, width)),
        "unique_weights": ((*sampled, "option"), np.zeros((*shape, n))),
    }
    coordinates = {"option": names}
    if kept:
        posterior["similarity"] = ((*sampled, "pair"), everything.reshape(*shape, -1))
        coordinates |= ends("pair", first, second)
    observed = xr.Dataset(
        {"similarity": ("measured_pair", data.values)}, coords=ends("measured_pair", data.first, data.second)
    )
    groups = {"posterior": xr.Dataset(posterior, coordinates), "observed_data": observed}
    tree = xr.DataTree.from_dict(groups | {"constant_data": xr.Dataset({"kind": SIMILARITIES})})
    settings = {"constant": constant, "sigma": 0.05 * scale, "alpha": 0.5, "data": data, "prior": IndianBuffet()}
    model = AdditiveClustering()
    vars(model).update(posterior_=tree, data=data, everything=everything)
    vars(model)["estimate"] = lambda kind: estimate(kind, columns, **settings)
    return model


CASES = {
    "thirty": lambda: fitted(30, features=12),
    "four awkward names": lambda: fitted(4, MULTIMODAL, features=3),
    "ten digits": lambda: fitted(10, features=8),
    "sixteen countries": lambda: fitted(15, COUNTRIES.split(), features=8, seed=3),
    "two": lambda: fitted(2, features=1),
    "no features": lambda: fitted(5, features=0),
    "unmeasured pairs": lambda: fitted(12, measured=0.5),
    "another unit": lambda: fitted(10, scale=40.0),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.first(4)
@pytest.mark.parametrize("picture", [plots.similarity, plots.overlap])
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    assert_readable(picture(CASES[case]()), monkeypatch, least=2)


def test_similarities_are_means_with_intervals():
    model = fitted(10, measured=0.7, seed=1)
    ax = plots.similarity(model)
    n, data = 10, model.data
    row = {pair: at for at, pair in enumerate(zip(*np.triu_indices(n, 1), strict=True))}
    draws = model.everything[:, [row[pair] for pair in zip(data.first, data.second, strict=True)]]
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points[:, 0], draws.mean(0))
    np.testing.assert_allclose(points[:, 1], data.values)
    bars = np.array([bar[:, 0] for bar in ax.collections[0].get_segments()])
    np.testing.assert_allclose(bars, np.quantile(draws, TAILS, axis=0).T)
    share = model.estimate("expectation").variance_accounted_for()
    assert ax.get_title(loc="left") == f"variance accounted for: {100 * share:.1f} %"
    worst = np.argsort(-np.abs(data.values - draws.mean(0)))[:5]
    assert len(np.unique(np.sign((data.values - draws.mean(0))[worst]))) == 2
    first_lines = [text.get_text().split("\n")[0] for text in ax.get_legend().get_texts()]
    assert first_lines == [f"{data.first[pair]} and {data.second[pair]}" for pair in worst]
    assert ax.get_xlim() == ax.get_ylim()


def test_similarities_are_computed_where_the_draws_lack_them():
    stored, computed = (plots.similarity(fitted(6, kept=kept)) for kept in (True, False))
    for one, other in zip(stored.collections, computed.collections, strict=True):
        np.testing.assert_allclose(one.get_offsets(), other.get_offsets())
    segments = [np.array(ax.collections[0].get_segments()) for ax in (stored, computed)]
    np.testing.assert_allclose(*segments)


def test_of_very_many_pairs_some_are_shown():
    ax = plots.similarity(fitted(70, draws=5, kept=False))
    assert len(ax.collections[-1].get_offsets()) == 2_000
    assert "2,000 of 2,415 pairs" in ax.get_xlabel()


def test_equal_similarities_are_said():
    model = fitted(3, features=1)
    model.data.values[:] = 0.4
    model.posterior_["observed_data"]["similarity"].values[:] = 0.4
    assert plots.similarity(model).get_title(loc="left") == "all similarities are equal"


def inside(polygon, point):
    return matplotlib.path.Path(polygon.get_xy()).contains_point(point)


@pytest.mark.parametrize("kind", ["expectation", "joint-map"])
def test_outlines_hold_their_members(kind):
    model = fitted(12, [f"object {number}" for number in range(12)], features=6)
    found = model.estimate(kind)
    ax = plots.overlap(found, max_features=5)
    texts = {text.get_text(): text for text in ax.texts}
    assert len(ax.patches) == 5 and len(texts) == 12
    ax.figure.canvas.draw()
    for row, outline in zip(found.features.itertuples(), ax.patches, strict=False):
        for member in row.members:
            box = texts[member].get_window_extent().transformed(ax.transData.inverted())
            # the whole name, save the room above and below its letters
            for corner in [(box.x0, box.y0), (box.x1, box.y1), (box.x0, box.y1), (box.x1, box.y0)]:
                assert inside(outline, (corner[0], corner[1] * 0.7 + 0.3 * texts[member].get_position()[1]))
    widths, weights = [outline.get_linewidth() for outline in ax.patches], found.weights[:5]
    assert np.argsort(widths).tolist() == np.argsort(weights).tolist()
    keys = [text.get_text() for text in ax.get_legend().get_texts()]
    for key, row in zip(keys, found.features.itertuples(), strict=False):
        probability = f" ({row.probability:.2f})" if kind == "expectation" else ""
        words = " ".join(key.split())
        assert words == f"{row.weight:.3f}{probability} {', '.join(row.members)}"


def test_outlines_of_a_model_are_those_of_its_expectation():
    model = fitted(10)
    one, other = plots.overlap(model), plots.overlap(model.estimate("expectation"))
    for a, b in zip(one.patches, other.patches, strict=True):
        np.testing.assert_array_equal(a.get_xy(), b.get_xy())
    _, ax = plt.subplots()
    assert plots.overlap(model, ax=ax) is ax


def test_nested_features_are_nested_outlines():
    assert _levels([np.array([0, 1, 2]), np.array([0, 1]), np.array([3, 4]), np.array([2, 3, 4, 5])]) == [1, 0, 0, 2]


def test_the_plane_keeps_distances_and_its_signs():
    points = np.random.default_rng(1).normal(size=(6, 2)) * 0.1
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    similarity = 1 - distance
    np.fill_diagonal(similarity, np.nan)
    plane = _plane(similarity)
    found = np.sqrt(((plane[:, None] - plane) ** 2).sum(-1))
    np.testing.assert_allclose(found, distance, atol=1e-8)
    assert (plane[np.argmax(np.abs(plane), axis=0), [0, 1]] > 0).all()


@pytest.mark.parametrize(
    "similarity",
    [np.full((5, 5), 0.5), np.kron(np.eye(2), np.full((3, 3), 0.6)) + 0.2, np.array([[1.0, 0.3], [0.3, 1.0]])],
    ids=["all alike", "two blocks", "two objects"],
)
def test_rounding_does_not_turn_the_plane(similarity):
    # directions differ by 1e-10 or more, so that rounding by 1e-15 turns them by 1e-5 at most
    rounding = np.random.default_rng(2).uniform(-1.0, 1.0, similarity.shape) * np.finfo(float).eps
    np.testing.assert_allclose(_plane(similarity + rounding + rounding.T), _plane(similarity), atol=1e-4)


def test_what_cannot_be_drawn():
    with pytest.raises(ArgumentError, match=r"31 objects are too many .* up to 30; thali\.plots\.features shows"):
        plots.overlap(fitted(31))
    with pytest.raises(ArgumentError, match="`max_features` must be 1 or more; got 0"):
        plots.overlap(fitted(4), max_features=0)
