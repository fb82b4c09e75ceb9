"""The picture of segments: what it shows, and that it fits."""

import numpy as np
import pytest
from helpers.experiment_data import of_segments

import thali as th
from thali._people.respondent_segments import Preferences, build_segments

pytestmark = pytest.mark.fit


def test_points_are_the_profiles_of_segments():
    frame, _ = of_segments(people=30, tasks=5)
    model = th.LatentClassLogit(2, starts=4).fit(
        th.ChoiceExperiment.from_frame(frame), random_seed=1
    )
    found = model.respondents.segments(2)
    drawn = th.plots.segments(found)
    assert len(drawn) == 2
    for number, ax in enumerate(drawn, 1):
        (points,) = [line for line in ax.lines if line.get_marker() == "o"]
        wanted = found.profiles.query("segment == @number")["preferred"]
        np.testing.assert_allclose(points.get_xdata(), wanted)
        share = 100 * found.sizes.loc[number, "share"]
        assert ax.get_title("left").startswith(f"Segment {number}\n{share:.0f} % (")
    labels = [text.get_text() for text in drawn[0].get_yticklabels()]
    assert labels == ["5", "15", "25", "A", "B", "C", "no", "yes", "price", "brand", "zoom"]


def test_of_many_levels_the_distinctive_attributes_are_drawn():
    levels = [(f"attribute {i}", f"level {j}") for i in range(8) for j in range(6)]
    rng = np.random.default_rng(1)
    values = np.clip(0.5 + 0.02 * rng.normal(size=(5, 20, 48)), 0, 1)
    values[:, :10, :6] += 0.4
    found = build_segments(Preferences(tuple(levels), values, tuple(map(str, range(20)))), 2, 0)
    ax = th.plots.segments(found)[0]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert "attribute 0" in labels and len(labels) == 4 * 7
