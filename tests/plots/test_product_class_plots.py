"""Pictures of product classes: what they show, and that nothing lies on anything else."""

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.product_class_fits import ATTRIBUTES, experiment, fitted
from matplotlib import pyplot

from thali import plots
from thali.errors import ArgumentError

LONG = {
    "price of the whole package incl. delivery": [
        f"{price}.90 Euro per month" for price in (99, 149, 199, 249, 299)
    ],
    "manufacturer": [
        "Aika Electronics International",
        "Bora",
        "Cilo",
        "Dorn & Söhne GmbH (refurbished)",
    ],
    "zoom": ["no", "yes"],
    "battery": ["4 h", "8 h", "12 h"],
    "colour_$x$": ["red", "green_1", "blue"],
    "wifi": ["no", "yes"],
    "weight": ["heavy", "light"],
    "warranty": ["1 y", "2 y", "3 y", "5 y"],
    "screen": ["small", "large"],
}
DIRECTIONS = {
    "price of the whole package incl. delivery": "decreasing",
    "zoom": "increasing",
    "warranty": "increasing",
}


@pytest.fixture(scope="module", params=["four", "nine"])
def model(request):
    if request.param == "four":
        return fitted(draws=10, groups=3, alpha=4.0)
    data = experiment(people=45, attributes=LONG, none=True)
    return fitted(data, DIRECTIONS, draws=10, groups=3, alpha=4.0)


def list_attributes(model):
    """Return the levels of each attribute in the data of a model."""
    return LONG if "wifi" in set(model.level_effects()["attribute"]) else ATTRIBUTES


def build_market(data):
    names = ["A", "B", "the new one with a name that is much too long for a picture"]
    rows = [
        {name: levels[(3 * k + 1) % len(levels)] for name, levels in data.items()} for k in range(3)
    ]
    return pd.DataFrame(rows, index=names)


@pytest.mark.first(1)
@pytest.mark.fit
def test_level_effects_are_drawn_by_attribute(model, monkeypatch):
    table = model.level_effects()
    ax = plots.level_effects(table)
    assert_readable(ax, monkeypatch)
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    shown = points.get_xdata()
    assert set(np.round(shown, 12)) <= set(np.round(table["effect"], 12))
    labels = [text.get_text() for text in ax.get_yticklabels()]
    counts = table.groupby("attribute", sort=False).size()
    # of an attribute with n levels all pairs up to three levels, else n - 1
    levels = list_attributes(model)
    wanted = sum(size if size <= 3 else len(levels[name]) - 1 for name, size in counts.items())
    assert len(shown) == wanted and len(labels) == wanted + len(counts)
    assert len({label for label in labels if " over " in label}) == len(
        {*labels} - {*labels[wanted:]}
    )
    again = plots.level_effects(table, pyplot.figure().add_subplot())
    np.testing.assert_array_equal(
        [line for line in again.lines if line.get_marker() == "o"][0].get_xdata(), shown
    )


@pytest.mark.first(1)
@pytest.mark.fit
def test_attribute_importance_is_drawn(model, monkeypatch):
    table = model.attribute_importance()
    ax = plots.attribute_importance(table)
    assert_readable(ax, monkeypatch)
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], table["range_share"].fillna(0.0)
    )
    assert [f"{100 * part:.0f} %" for part in table["importance"]] == [
        text.get_text() for text in ax.texts[1:]
    ]


@pytest.mark.first(1)
@pytest.mark.fit
def test_market_shares_are_drawn_with_changes(model, monkeypatch):
    data = list_attributes(model)
    products = build_market(data)
    table = model.market_shares(products)
    ax = plots.market_shares(table)
    assert_readable(ax, monkeypatch)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["share"])
    several = pd.concat(
        [products.assign(scenario=name) for name in ("now", "then")], ignore_index=True
    )
    ax = plots.market_shares(model.market_shares(several, ci=0.975))
    assert (
        ax.get_yticklabels()[0].get_text().startswith("now: ")
        and "97.5 % interval" in ax.get_xlabel()
    )
    first = next(iter(data))
    changed = model.market_shares(products, change={first: data[first][0]})
    ax = plots.market_shares(changed)
    assert_readable(ax, monkeypatch)
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches],
        np.concatenate([changed["share"], changed["after"]]),
    )
    written = [text.get_text() for text in ax.texts][1:]
    for text, change in zip(written, changed["change"], strict=True):
        assert float(text.split(" ")[0].replace("−", "-")) == pytest.approx(100 * change, abs=0.051)
    with pytest.raises(ArgumentError, match="requires 'share', 'share_low' and 'share_high'"):
        plots.market_shares(pd.DataFrame({"x": [1]}))


@pytest.mark.first(1)
@pytest.mark.fit
def test_demand_and_willingness_to_pay(model, monkeypatch):
    data = list_attributes(model)
    first, products = next(iter(data)), build_market(data)
    table = model.demand(first, products.index[-1], data[first], products)
    if data is ATTRIBUTES:
        assert table["price"].tolist() == [100.0, 150.0, 200.0, 250.0]
        pay = model.willingness_to_pay("price")
        ax = plots.willingness_to_pay(pay)
        assert_readable(ax, monkeypatch)
        assert [text.get_text() for text in ax.get_yticklabels()][-1] == "battery: 12 h over 4 h"
        low, high = ax.get_xlim()
        beyond = pay.assign(respondents_high=np.inf, wtp_high=np.inf)
        ax = plots.willingness_to_pay(beyond)  # what has no end leaves the picture
        assert_readable(ax, monkeypatch)
        assert np.isfinite(ax.get_xlim()).all() and len(ax.lines[-2].get_xdata()) == len(pay)
        endless = pay.drop(columns=["respondents_low", "respondents_high"]).assign(
            wtp=np.inf, wtp_low=-np.inf, wtp_high=np.inf
        )
        ax = plots.willingness_to_pay(endless)
        assert (
            ax.get_xlim() == (-1.0, 1.0)
            and [len(line.get_xdata()) for line in ax.lines[1:3]] == [len(pay)] * 2
        )
    with pytest.raises(ArgumentError, match="requires 'attribute', 'level', 'over', 'wtp'"):
        plots.willingness_to_pay(table)
