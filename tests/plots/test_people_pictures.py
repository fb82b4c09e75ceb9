"""Pictures of people of whom each has worths of their own: what they show, and that it fits."""

import numpy as np
import pytest
from helpers.sentences import says

import thali as th
from thali._people.respondent_segments import Preferences, build_segments

RNG = np.random.default_rng(2)


@pytest.mark.unit
def test_segments_are_drawn_by_their_options():
    values = np.full((4, 8, 40), 0.5)
    values[:, :4, :3], values[:, 4:, 3:6] = 0.9, 0.8
    found = build_segments(
        Preferences(tuple((f"o{k}",) for k in range(40)), values, tuple("abcdefgh")), 2, 0
    )
    ax = th.plots.segments(found)[0]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    # those in which segments differ most
    assert labels[:6] == [f"o{k}" for k in range(6)] and len(labels) == 28
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    wanted = found.profiles.query("segment == 1").set_index("option")["preferred"].loc[labels]
    np.testing.assert_allclose(points.get_xdata(), wanted)
    says(ax.figure.get_supxlabel(), "probability that the")
