"""The pictures of any latent-feature model, of similarities: what they leave out, mark and add."""

from functools import cache

import numpy as np
import pytest
from helpers.additive_fits import made_up
from helpers.drawn_pictures import LONG, MULTIMODAL, assert_readable

from thali import plots

PICTURES = ("features", "n_features", "trace")
SPLIT = {0: (1, 2, 3)}  # a feature that one chain always has and the others never
CASES = {
    "forty long names": lambda: made_up(40, LONG, draws=40, common=((0, 1, 2),), kept_by=SPLIT),
    "nine": lambda: made_up(9, common=((0, 1, 2), (3, 4, 5), (6, 7, 8)), beside=3.0),
    "awkward names": lambda: made_up(4, MULTIMODAL),
    "four": lambda: made_up(4, kept_by=SPLIT),
    "nothing varies": lambda: made_up(3, common=(), beside=0.0, sigma=0.1, alpha=1.0, constant=False),
    "singles alone": lambda: made_up(3, common=((0,), (1,)), beside=0.0),
    "one chain, one draw": lambda: made_up(3, draws=1, chains=1),
}


@cache
def case_of(name):
    return CASES[name]()


@pytest.mark.filterwarnings("error")
@pytest.mark.first(len(PICTURES))
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    axes = np.ravel(getattr(plots, picture)(case_of(case)))
    assert "own" not in assert_readable(axes[0], monkeypatch, least=3)


def test_the_matrix_leaves_single_owners_out_and_marks_what_is_not_settled():
    model = made_up(4, common=((0, 1), (2,)), beside=0.0, kept_by=SPLIT)
    table = model.features()
    assert [(0, 1), (1, 2, 3)] == sorted((tuple(map(int, m)) for m in table["members"]), key=len)
    ax = plots.features(model)
    expected = [f"{p:.2f}" + "*" * (not converged) for p, converged in table[["probability", "converged"]].values]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == expected
    assert sum(name.endswith("*") for name in expected) == 1
    assert ax.get_xlabel() == "probability of the feature\n(*: chains disagree)"
    converged = plots.features(made_up(4, beside=0.0))
    assert converged.get_xlabel() == "probability of the feature"
    assert plots.features(CASES["singles alone"]()).get_xlabel() == "no probable feature"


def test_bars_count_shared_features_and_points_all():
    model = made_up(4, beside=2.0)
    ax = plots.n_features(model)[0]
    posterior = model.posterior_["posterior"]
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    for drawn, name in ((bars, "n_shared_features"), (dict(np.transpose(ax.lines[0].get_data())), "n_features")):
        draws = posterior[name].values
        assert drawn == pytest.approx({value: (draws == value).mean() for value in np.unique(draws)})
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "shared by two or more objects",
        "all, including those of only one object",
    ]
    assert f"mean {posterior['n_shared_features'].values.mean():.3g}," in ax.get_title()


@pytest.mark.parametrize(
    ("settings", "beside"),
    [
        ({}, ["concentration\nα", "standard\ndeviation σ", "additive\nconstant"]),
        ({"alpha": 1.0}, ["standard\ndeviation σ", "additive\nconstant"]),
        ({"alpha": 1.0, "sigma": 0.1}, ["additive\nconstant"]),
        ({"alpha": 1.0, "data_sigma": 0.1, "constant": False}, []),
    ],
)
def test_traces_of_sigma_and_constant_where_they_vary(settings, beside):
    model = made_up(4, **settings)
    axes = plots.trace(model)
    assert [ax.get_ylabel() for ax in axes][2:] == beside
    if beside:
        name = "sigma" if beside[-1].endswith("σ") else "constant"
        np.testing.assert_array_equal(
            [line.get_ydata() for line in axes[-1].lines], model.posterior_["posterior"][name]
        )
