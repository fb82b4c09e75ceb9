"""Pictures of people of whom each has worths of their own: what they show, and that it fits."""

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.sentences import says
from helpers.tiny_models import fitted

import thali as th
from thali._people.respondent_segments import Preferences, build_segments

RNG = np.random.default_rng(2)


def test_a_dot_is_a_person_and_a_diamond_the_population():
    model = fitted("bradley-terry-luce, individuals")
    ax = model.plot("individuals")
    table = model.respondents.individuals()
    population = model.scores()["score"].sort_values(ascending=False)
    options = [text.get_text() for text in ax.get_yticklabels()]
    assert options == list(population.index)
    *people, diamonds = ax.collections[: len(options)], ax.collections[len(options) + 1]
    for row, (option, drawn) in enumerate(zip(options, *people, strict=True)):
        offsets = np.asarray(drawn.get_offsets())
        np.testing.assert_allclose(offsets[:, 0], table["mean"].xs(option, level="option"))
        assert (np.abs(offsets[:, 1] - row) < 0.5).all()
    np.testing.assert_allclose(np.asarray(diamonds.get_offsets())[:, 0], population)


@pytest.mark.rendered
def test_hundreds_of_people_stay_in_their_rows(monkeypatch):
    shares = RNG.dirichlet(np.full(41, 0.5), 300)
    names = [
        [f"p{n}" for n in range(300)],
        [f"an option with quite a long name, number {k}" for k in range(41)],
    ]
    rows = pd.MultiIndex.from_product(names, names=["respondent", "option"])
    ax = th.plots.individuals(pd.DataFrame({"mean": shares.ravel()}, rows))
    assert len(ax.get_yticklabels()) == 40  # of 41 those that are preferred
    for row, drawn in enumerate(ax.collections):
        assert (np.abs(np.asarray(drawn.get_offsets())[:, 1] - row) < 0.5).all()
    assert_readable(ax, monkeypatch)


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
