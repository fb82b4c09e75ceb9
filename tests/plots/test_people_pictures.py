"""Pictures of people of whom each has weights of their own: what they show, and that it fits."""

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.people_fits import compared, of_people
from helpers.sentences import refused, says

import thali as th
from thali._people.respondent_segments import Preferences, build_segments
from thali.errors import ArgumentError

pytestmark = pytest.mark.unit
RNG = np.random.default_rng(2)
UNIQUE, COMMON = RNG.gamma(2.0, 1.0, (30, 5, 4)), RNG.gamma(5.0, [1.0, 4.0, 2.0, 3.0], (30, 4))


def test_a_dot_is_a_person_and_a_diamond_the_population():
    model = of_people(compared(5), UNIQUE, common=COMMON)
    ax = model.plot("individuals")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["milk", "wine", "beer", "tea"]
    table = model.respondents.individuals()
    *people, diamonds = ax.collections[:4], ax.collections[5]
    for row, (option, drawn) in enumerate(
        zip(["milk", "wine", "beer", "tea"], *people, strict=True)
    ):
        offsets = np.asarray(drawn.get_offsets())
        np.testing.assert_allclose(offsets[:, 0], table["mean"].xs(option, level="option"))
        assert (np.abs(offsets[:, 1] - row) < 0.5).all()
    shares = (COMMON / COMMON.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(np.asarray(diamonds.get_offsets())[:, 0], np.sort(shares)[::-1])
    np.testing.assert_allclose(np.asarray(diamonds.get_offsets())[0, 0], shares[1])


@pytest.mark.fit
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


def test_weights_of_features_are_not_drawn():
    rows = pd.MultiIndex.from_product(
        [["p0", "p1"], ["a, b", "b, c"]], names=["respondent", "feature"]
    )
    with refused(ArgumentError, "individual shares of"):
        th.plots.individuals(pd.DataFrame({"mean": [0.3, 0.7, 0.4, 0.6]}, rows))


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
