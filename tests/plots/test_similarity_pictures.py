"""The picture of similarities: what it shows, and that it can be read."""

import numpy as np
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.drawn_similarities import CASES, fitted


@pytest.mark.filterwarnings("error")
@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_inside_the_figure_and_none_overlaps(case, monkeypatch):
    assert_readable(CASES[case]().findings()["similarity"].plot(), monkeypatch, least=2)


def test_similarities_are_means_with_intervals():
    model = fitted(10, measured=0.7, seed=1)
    ax = model.findings()["similarity"].plot()
    n, data = 10, model.data
    row = {pair: at for at, pair in enumerate(zip(*np.triu_indices(n, 1), strict=True))}
    draws = model.everything[:, [row[pair] for pair in zip(data.first, data.second, strict=True)]]
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points[:, 0], draws.mean(0))
    np.testing.assert_allclose(points[:, 1], data.values)
    bars = np.array([bar[:, 0] for bar in ax.collections[0].get_segments()])
    np.testing.assert_allclose(bars, np.quantile(draws, (0.055, 0.945), axis=0).T)
    share = model.estimate("expectation").variance_accounted_for()
    assert ax.get_title(loc="left") == f"variance accounted for: {100 * share:.1f} %"
    worst = np.argsort(-np.abs(data.values - draws.mean(0)))[:5]
    assert len(np.unique(np.sign((data.values - draws.mean(0))[worst]))) == 2
    first_lines = [text.get_text().split("\n")[0] for text in ax.get_legend().get_texts()]
    assert first_lines == [f"{data.first[pair]} and {data.second[pair]}" for pair in worst]
    assert ax.get_xlim() == ax.get_ylim()


@pytest.mark.long
def test_similarities_are_computed_where_the_draws_lack_them():
    stored, computed = (
        fitted(6, kept=kept).findings()["similarity"].plot() for kept in (True, False)
    )
    for one, other in zip(stored.collections, computed.collections, strict=True):
        np.testing.assert_allclose(one.get_offsets(), other.get_offsets())
    segments = [np.array(ax.collections[0].get_segments()) for ax in (stored, computed)]
    np.testing.assert_allclose(*segments)


def test_of_very_many_pairs_some_are_shown():
    ax = fitted(70, draws=5, kept=False).findings()["similarity"].plot()
    assert len(ax.collections[-1].get_offsets()) == 2_000
    assert "2,000 of 2,415 pairs" in ax.get_xlabel()


def test_equal_similarities_are_reported():
    model = fitted(3, features=1)
    model.data.values[:] = 0.4
    model.posterior_["observed_data"]["similarity"].values[:] = 0.4
    assert (
        model.findings()["similarity"].plot().get_title(loc="left") == "all similarities are equal"
    )
