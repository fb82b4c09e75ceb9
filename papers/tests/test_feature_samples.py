"""Single draws of features: what the picture shows, and that nothing written overlaps."""

import types

import numpy as np
import pytest
from helpers.additive_fits import made_up
from helpers.drawn_pictures import CELEBRITIES, assert_readable
from helpers.posterior_cases import chain, comparisons, features_of, tree_of

from papers.plots.feature_samples import feature_samples

pytestmark = pytest.mark.usefixtures("pictures")

LONG = [f"${number}_{{ to $9: option with a name of some sixty characters" for number in range(40)]


def fitted(n_options, labels=None, draws=40, chains=2, unique=True, **draw):
    data = comparisons(n_options, labels=labels)
    drawn = [
        chain(n_options, draws=draws, seed=seed, unique=unique, **draw) for seed in range(chains)
    ]
    return types.SimpleNamespace(posterior_=tree_of(drawn, data, unique=unique), chains=drawn)


CASES = {
    "samples of four": lambda: feature_samples(fitted(4, ["P+", "P", "R", "R+"])),
    "samples of nine": lambda: feature_samples(fitted(9, CELEBRITIES, mean_features=11.0), draws=4),
    "samples of forty": lambda: feature_samples(fitted(40, LONG, mean_features=10.0)),
    "samples of a hundred": lambda: feature_samples(fitted(100, draws=3)),
    "samples of nothing": lambda: feature_samples(
        fitted(2, unique=False, mean_features=0.0), draws=1
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_and_none_overlaps(case, monkeypatch):
    assert_readable(CASES[case]()[0], monkeypatch, least=3, smallest=6)


def matrices(ax):
    """The blocks of a panel as arrays, NaN where no weight is."""
    meshes = [np.ma.asarray(mesh.get_array()).filled(np.nan) for mesh in ax.collections]
    return [mesh.reshape(len(mesh), -1) for mesh in meshes]


@pytest.mark.parametrize("unique", [True, False])
def test_samples_are_the_draws_they_are_said_to_be(unique):
    model = fitted(5, labels=list("abcde"), unique=unique, mean_features=6.0)
    axes = feature_samples(model, draws=7, random_seed=3)
    assert len(axes) == 7
    titles = [ax.get_title(loc="left") for ax in axes]
    assert len(set(titles)) == 7
    for ax, title in zip(axes, titles, strict=True):
        words = title.replace(":", "").split()
        draw, number = int(words[1]), int(words[4])
        drawn = model.chains[number]
        features = sorted(list(features_of(drawn))[draw], key=lambda feature: -feature[1])
        assert title == f"draw {draw} of chain {number}: {len(features)} aspect" + "s" * (
            len(features) != 1
        )
        own = drawn.unique_weights[draw]
        largest = max([weight for _, weight in features] + own.tolist())
        expected = np.full((5, len(features)), np.nan)
        for column, (owners, weight) in enumerate(features):
            expected[list(owners), column] = weight / largest
        blocks = matrices(ax)
        assert len(blocks) == unique + (len(features) > 0)
        if features:
            np.testing.assert_allclose(blocks[-1], expected, rtol=1e-15)
        if unique:
            np.testing.assert_allclose(
                blocks[0], np.where(np.eye(5) > 0, own / largest, np.nan), rtol=1e-15
            )
        assert all(mesh.get_clim() == (0.0, 1.0) for mesh in ax.collections)
        assert ax.yaxis_inverted()  # the first option is at the top, as the rows of the arrays


def test_samples_show_shared_features_on_one_scale_of_weight():
    model = made_up(4, draws=3, chains=1, beside=4.0)
    posterior = model.posterior_["latent_features"]
    owned = posterior["features"].values[0].sum(-1)
    weights = np.where(owned > 1, posterior["weights"].values[0], 0.0)
    axes = feature_samples(model, draws=3)
    for draw, ax in enumerate(axes):
        count = int((owned[draw] > 1).sum())
        assert (
            ax.get_title(loc="left")
            == f"draw {draw} of chain 0: {count} shared feature{'s' * (count != 1)}"
        )
        cells = np.ma.asarray(ax.collections[0].get_array()).filled(0.0)
        assert cells.size == 4 * count
        assert cells.max() == pytest.approx(weights[draw].max() / weights.max())
    bar = axes[0].figure.axes[-1]
    assert bar.get_ylabel() == "weight" and bar.get_ylim() == pytest.approx((0, weights.max()))
