"""Objects on a plane: what the picture shows, and that it can be read."""

import matplotlib
import numpy as np
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.drawn_similarities import CASES, fitted

from papers.plots.feature_outlines import _levels, _plane, overlap
from thali.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("pictures")


@pytest.mark.filterwarnings("error")
@pytest.mark.first(4)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, monkeypatch):
    assert_readable(overlap(CASES[case]()), monkeypatch, least=2)


def inside(polygon, point):
    return matplotlib.path.Path(polygon.get_xy()).contains_point(point)


@pytest.mark.parametrize("kind", ["expectation", "joint-map"])
def test_outlines_hold_their_members(kind):
    model = fitted(12, [f"object {number}" for number in range(12)], features=6)
    found = model.estimate(kind)
    ax = overlap(found, max_features=5)
    texts = {text.get_text(): text for text in ax.texts}
    assert len(ax.patches) == 5 and len(texts) == 12
    ax.figure.canvas.draw()
    for row, outline in zip(found.features.itertuples(), ax.patches, strict=False):
        for member in row.members:
            box = texts[member].get_window_extent().transformed(ax.transData.inverted())
            # the whole name, save the room above and below its letters
            for corner in [(box.x0, box.y0), (box.x1, box.y1), (box.x0, box.y1), (box.x1, box.y0)]:
                assert inside(
                    outline, (corner[0], corner[1] * 0.7 + 0.3 * texts[member].get_position()[1])
                )
    widths, weights = [outline.get_linewidth() for outline in ax.patches], found.weights[:5]
    assert np.argsort(widths).tolist() == np.argsort(weights).tolist()
    keys = [text.get_text() for text in ax.get_legend().get_texts()]
    for key, row in zip(keys, found.features.itertuples(), strict=False):
        probability = f" ({row.probability:.2f})" if kind == "expectation" else ""
        words = " ".join(key.split())
        assert words == f"{row.weight:.3f}{probability} {', '.join(row.members)}"


def test_nested_features_are_nested_outlines():
    assert _levels(
        [np.array([0, 1, 2]), np.array([0, 1]), np.array([3, 4]), np.array([2, 3, 4, 5])]
    ) == [1, 0, 0, 2]


def test_the_plane_keeps_distances_and_its_signs():
    points = np.random.default_rng(1).normal(size=(6, 2)) * 0.1
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    similarity = 1 - distance
    np.fill_diagonal(similarity, np.nan)
    plane = _plane(similarity)
    found = np.sqrt(((plane[:, None] - plane) ** 2).sum(-1))
    np.testing.assert_allclose(found, distance, atol=1e-8)
    assert (plane[np.argmax(np.abs(plane), axis=0), [0, 1]] > 0).all()


def test_what_cannot_be_drawn():
    with pytest.raises(
        ArgumentError, match=r"31 objects are too many .* up to 30; thali\.plots\.features shows"
    ):
        overlap(fitted(31))
    with pytest.raises(ArgumentError, match="`max_features` must be 1 or more; got 0"):
        overlap(fitted(4), max_features=0)
