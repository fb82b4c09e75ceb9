"""The picture of segments: what it shows, and that it fits."""

import numpy as np
import pytest

import thali as th
from thali._people.respondent_segments import Preferences, build_segments

pytestmark = pytest.mark.fit


def test_of_many_levels_the_distinctive_attributes_are_drawn():
    levels = [(f"attribute {i}", f"level {j}") for i in range(8) for j in range(6)]
    rng = np.random.default_rng(1)
    values = np.clip(0.5 + 0.02 * rng.normal(size=(5, 20, 48)), 0, 1)
    values[:, :10, :6] += 0.4
    found = build_segments(Preferences(tuple(levels), values, tuple(map(str, range(20)))), 2, 0)
    ax = th.plots.segments(found)[0]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert "attribute 0" in labels and len(labels) == 4 * 7
