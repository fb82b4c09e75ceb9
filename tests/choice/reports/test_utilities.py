"""Utilities of levels, raw and as zero-centred differences, and demand of every product: against
own sums."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import of_segments, simulate_experiment
from helpers.sentences import refused, says

import thali as th
from thali.errors import ArgumentError

pytestmark = pytest.mark.fit

MARKET = pd.DataFrame(
    {"product": ["A", "B"], "price": [5, 15], "brand": ["A", "B"], "zoom": ["no", "yes"]}
)
LEVELS = {"price": ["5", "15", "25"], "brand": ["A", "B", "C"], "zoom": ["no", "yes"]}
QUICK = {"draws": 40, "tune": 30, "random_seed": 1, "progressbar": False}


def centre_coefficients(tastes, none=None):
    """Levels centred within their attributes, of a mapping of coefficients; the first levels are
    0."""
    found = {}
    for attribute, levels in LEVELS.items():
        if attribute == "price":
            u = np.array([tastes["price"] * float(level) for level in levels])
        else:
            u = np.array([tastes.get(f"{attribute}[{level}]", 0.0) for level in levels])
        found |= {
            f"{attribute}: {level}": value
            for level, value in zip(levels, u - u.mean(), strict=True)
        }
    if none is not None:
        means = [
            tastes["price"] * 15.0,
            (tastes["brand[B]"] + tastes["brand[C]"]) / 3,
            tastes["zoom[yes]"] / 2,
        ]
        found["inside: none"] = -tastes["inside"] - sum(means)
    return found


def ranges(found):
    """The mean range over attributes."""
    own = {}
    for name, value in found.items():
        own.setdefault(name.partition(":")[0], []).append(value)
    return np.mean([max(values) - min(values) for name, values in own.items() if name != "inside"])


def test_utilities_of_everybody_are_those_of_the_coefficients(data):
    model = th.MultinomialLogit(linear="price").fit(data)
    table = model.utilities(ci=0.5)
    own = centre_coefficients(model.coef_.to_dict())
    names = [f"{row['attribute']}: {row['level']}" for row in table.to_dict("records")]
    assert names == list(own) and table.attrs["interval"] == 0.5
    np.testing.assert_allclose(table["utility"], list(own.values()), atol=1e-12)
    np.testing.assert_allclose(
        table["zero_centred"], np.array(list(own.values())) * 100 / ranges(own), atol=1e-9
    )
    assert "respondents_sd" not in table and (table["low"] <= table["utility"]).all()
    with refused(ArgumentError, "same tastes"):
        _ = model.respondents
    one = th.LatentClassLogit(1, linear="price").fit(data, progressbar=False)
    for values in one.respondents.individuals().to_numpy():
        np.testing.assert_allclose(values, list(own.values()), atol=1e-6)


def test_utilities_of_each_person_are_those_of_posterior_means(hierarchical):
    raw, scaled = (
        hierarchical.respondents.individuals(zero_centred=each) for each in (False, True)
    )
    for person, tastes in hierarchical.individual_.iterrows():
        own = centre_coefficients(tastes.to_dict())
        assert list(raw) == list(own) and raw.index.name == "respondent"
        np.testing.assert_allclose(raw.loc[person], list(own.values()), atol=1e-12)
        np.testing.assert_allclose(
            scaled.loc[person], np.array(list(own.values())) * 100 / ranges(own), atol=1e-9
        )
        assert ranges(scaled.loc[person].to_dict()) == pytest.approx(100.0)
    table = hierarchical.utilities()
    np.testing.assert_allclose(table["utility"], raw.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(table["respondents_sd"], raw.std(axis=0, ddof=0), atol=1e-12)
    np.testing.assert_allclose(table["zero_centred_sd"], scaled.std(axis=0, ddof=0), atol=1e-9)


def test_choosing_nothing_is_scaled_like_the_levels():
    frame, _ = of_segments(people=20, tasks=6, none=True)
    frame.loc[frame["brand"] == "none", ["price", "brand", "zoom"]] = None
    data = th.ChoiceExperiment.from_frame(frame.replace({"brand": {None: np.nan}}), none="4")
    model = th.MultinomialLogit(linear="price").fit(data)
    table = model.utilities().set_index(["attribute", "level"])
    own = centre_coefficients(model.coef_.to_dict(), none=True)
    assert table["utility"].loc[("inside", "none")] == pytest.approx(own["inside: none"], abs=1e-9)
    scaled = table["zero_centred"].loc[("inside", "none")]
    assert scaled == pytest.approx(own["inside: none"] * 100 / ranges(own), abs=1e-7)


def test_people_of_classes_have_utilities_mixed_by_their_membership(data):
    model = th.LatentClassLogit(2, linear="price").fit(data, random_seed=1)
    raw = model.respondents.individuals()
    of_class = [
        list(centre_coefficients(tastes.to_dict()).values()) for _, tastes in model.coef_.iterrows()
    ]
    np.testing.assert_allclose(raw, model.membership_.to_numpy() @ np.array(of_class), atol=1e-9)


def test_demand_of_every_product_is_that_of_each(hierarchical):
    found = hierarchical.findings(market=MARKET)["demand"]
    for product, own in found.table.groupby("product"):
        alone = hierarchical.demand("price", product, [5.0, 15.0, 25.0], MARKET)
        np.testing.assert_allclose(own[list(alone)].to_numpy(float), alone.to_numpy(float))
    says(str(found.sentence), "most sensitive to its own price")


def test_how_utilities_become_shares_is_a_setting_of_findings(hierarchical):
    actual = {"A": 0.7, "B": 0.3}
    found = hierarchical.findings(market=MARKET, actual=actual)
    np.testing.assert_allclose(found["market_shares"].table["share"], [0.7, 0.3], atol=1e-7)
    assert "treated as known" in str(found["market_shares"].notes[-1])
    of_first = hierarchical.demand("price", "A", [5.0, 15.0, 25.0], MARKET, actual=actual)["share"]
    np.testing.assert_allclose(found["demand"].table["share"][:3], of_first, atol=1e-9)
    scaled = hierarchical.findings(market=MARKET, scale=0.5, availability={"A": 0.5})[
        "market_shares"
    ].table
    expected = hierarchical.market_shares(MARKET, scale=0.5, availability={"A": 0.5})
    assert scaled["share"].tolist() == expected["share"].tolist()
    with refused(ArgumentError, "scale"):
        hierarchical.findings(scale=0.5)
    with refused(ArgumentError, "`actual` shares must"):
        hierarchical.findings(market=MARKET, actual={"A": 0.7, "B": 0.5})


@pytest.mark.long
def test_files_of_many_people_hold_fewer_digits(tmp_path):
    """Of two million tastes and more."""
    frame = simulate_experiment(n_respondents=900, n_tasks=4, seed=3)
    data = th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand", "zoom"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.HierarchicalLogit(linear="price").fit(
            data, **(QUICK | {"draws": 150, "chains": 4})
        )
        model.save(tmp_path / "small.nc")
        again = th.load(tmp_path / "small.nc")
        before, after = (each.posterior_["posterior"]["beta"].values for each in (model, again))
        assert after.dtype == float and 0 < np.abs(after / before - 1).max() <= 2.0**-10
        assert (
            "log_likelihood" in model.posterior_.children
            and "log_likelihood" not in again.posterior_.children
        )
        shares, others = (each.market_shares(MARKET) for each in (model, again))
        assert ((shares["share"] - others["share"]).abs() < shares["share_se"]).all()
        longer = again.continue_fit(4, progressbar=False)
        assert longer.posterior_["posterior"].sizes["draw"] == 154
        assert longer.utilities()["utility"].notna().all()
