"""The pictures of any latent-feature model, of similarities: what they leave out, mark and add."""

from functools import cache

import numpy as np
import pytest
from helpers.additive_fits import made_up
from helpers.drawn_pictures import LONG, MULTIMODAL, assert_readable

from thali import plots

PICTURES = {
    "features": lambda model: model.features(),
    "n_features": lambda model: model.findings()["n_features"].table,
    "trace": lambda model: model._get_quantities(),
}
SPLIT = {0: (1, 2, 3)}  # a feature that one chain always has and the others never
CASES = {
    "forty long names": lambda: made_up(40, LONG, draws=40, common=((0, 1, 2),), kept_by=SPLIT),
    "nine": lambda: made_up(9, common=((0, 1, 2), (3, 4, 5), (6, 7, 8)), beside=3.0),
    "awkward names": lambda: made_up(4, MULTIMODAL),
    "four": lambda: made_up(4, kept_by=SPLIT),
    "nothing varies": lambda: made_up(
        3, common=(), beside=0.0, sigma=0.1, alpha=1.0, constant=False
    ),
    "singles alone": lambda: made_up(3, common=((0,), (1,)), beside=0.0),
    "one chain, one draw": lambda: made_up(3, draws=1, chains=1),
}


@cache
def build_case(name):
    return CASES[name]()


@pytest.mark.filterwarnings("error")
@pytest.mark.first(len(PICTURES))
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, picture, monkeypatch):
    table = PICTURES[picture](build_case(case))
    if table is None:  # where the number of features is always the same
        assert np.ptp(build_case(case).posterior_["posterior"]["n_shared_features"].values) == 0
        return
    axes = np.ravel(getattr(plots, picture)(table))
    assert "alone" not in assert_readable(axes[0], monkeypatch, least=3)


def test_the_matrix_omits_single_owners_and_marks_disagreement():
    model = made_up(4, common=((0, 1), (2,)), beside=0.0, kept_by=SPLIT)
    table = model.features()
    assert [(0, 1), (1, 2, 3)] == sorted((tuple(map(int, m)) for m in table["members"]), key=len)
    ax = plots.features(table)
    expected = [
        f"{p:.2f}" + "*" * (not converged)
        for p, converged in table[["probability", "converged"]].values
    ]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == expected
    assert sum(name.endswith("*") for name in expected) == 1
    assert ax.get_xlabel() == "probability of the feature\n(*: chains disagree)"
    converged = plots.features(made_up(4, beside=0.0).features())
    assert converged.get_xlabel() == "probability of the feature"
    assert (
        plots.features(CASES["singles alone"]().features()).get_xlabel()
        == "no probable feature is shared"
    )


def test_bars_count_shared_features():
    model = made_up(4, beside=2.0)
    ax = plots.n_features(model.findings()["n_features"].table)
    draws = model.posterior_["posterior"]["n_shared_features"].values
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    assert bars == pytest.approx({value: (draws == value).mean() for value in np.unique(draws)})
    assert f"mean {draws.mean():.3g}," in ax.get_title()
