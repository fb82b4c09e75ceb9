"""Intervals of every table of a study are the population's: each draw has weights of a Bayesian
bootstrap, checked against own sums; or the respondents' own."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

from thali._people.population_weights import draw_exponentials
from thali.errors import ArgumentError

pytestmark = pytest.mark.fit

PEOPLE, DRAWS = 8, 160
POPULATION, SAMPLE = "in the population (estimated from 8 respondents)", "of 8 respondents"
TAILS = [0.055, 0.945]


def read_tastes(model):
    """Coefficients (draws, people) by name, in the order of chains."""
    beta = model.posterior_["posterior"]["beta"].stack(row=["chain", "draw"])
    return {str(name): beta.sel(coefficient=name).T.values for name in beta["coefficient"].values}


def weigh(values, seed):
    """Means (draws,) of values (draws, people) with the weights of this seed, draw by draw."""
    weights = draw_exponentials(*values.shape, seed)
    return np.array([w @ v / w.sum() for w, v in zip(weights, values, strict=True)])


def read_row(table, **keys):
    chosen = np.logical_and.reduce([table[name].astype(str) == key for name, key in keys.items()])
    return table[chosen].iloc[0]


def own_figures(model):
    """Each table's figure of one row, by draw and respondent: effect, utility, range share."""
    tastes = read_tastes(model)
    zoom, brands = tastes["zoom[yes]"], (tastes["brand[B]"], tastes["brand[C]"])
    utilities = np.stack([0.0 * zoom, *brands])
    ranges = {
        "zoom": np.abs(zoom),
        "brand": utilities.max(axis=0) - utilities.min(axis=0),
        "price": 20.0 * np.abs(tastes["price"]),
    }
    return {
        "effect": 1.0 / (1.0 + np.exp(-zoom)),
        "utility": zoom / 2.0,
        "importance": ranges["zoom"] / sum(ranges.values()),
    }


def tabulate(model, **asked):
    effects = read_row(model.level_effects(**asked), attribute="zoom", level="yes")
    utilities = read_row(model.utilities(**asked), attribute="zoom", level="yes")
    importance = read_row(model.attribute_importance(**asked), attribute="zoom")
    importance = importance[["range_share", "range_share_low", "range_share_high"]]
    return {
        "effect": effects[["effect", "low", "high"]].astype(float).to_numpy(),
        "utility": utilities[["utility", "low", "high"]].astype(float).to_numpy(),
        "importance": importance.astype(float).to_numpy(),
    }


@pytest.mark.parametrize("seed", [0, 5])
def test_intervals_of_levels_and_attributes_have_the_weights_of_a_bootstrap(hierarchical, seed):
    found = tabulate(hierarchical, random_seed=seed)
    own = tabulate(hierarchical, random_seed=seed, people="respondents")
    for name, values in own_figures(hierarchical).items():
        of_people, of_respondents = weigh(values, seed), values.mean(axis=1)
        ends = np.quantile(of_people, TAILS)
        np.testing.assert_allclose(found[name], [values.mean(), *ends], rtol=1e-9, err_msg=name)
        ends = np.quantile(of_respondents, TAILS)
        np.testing.assert_allclose(own[name], [values.mean(), *ends], rtol=1e-9, err_msg=name)


def test_the_amount_of_the_median_person_is_that_of_the_population(hierarchical):
    tastes = read_tastes(hierarchical)
    price, zoom = tastes["price"], tastes["zoom[yes]"]
    with np.errstate(divide="ignore"):
        amounts = np.where(price < 0, -zoom / price, np.sign(zoom) * np.inf)
    middle = np.median(np.sort(amounts)[:, (PEOPLE - 1) // 2 : PEOPLE // 2 + 1].mean(axis=1))
    probability_below = [np.mean(amounts[:, person] < middle) for person in range(PEOPLE)]
    medians = []
    for amount, weights in zip(amounts, draw_exponentials(DRAWS, PEOPLE, 2), strict=True):
        level = 0.5 + np.mean(probability_below) - np.average(probability_below, weights=weights)
        medians.append(np.sort(amount)[int(np.ceil(level * PEOPLE)) - 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row = read_row(hierarchical.willingness_to_pay("price", random_seed=2), attribute="zoom")
    assert np.isfinite(row["wtp_low"])
    ends = np.quantile(medians, TAILS, method="averaged_inverted_cdf")
    np.testing.assert_allclose(row[["wtp_low", "wtp_high"]].astype(float), ends, rtol=1e-9)


def test_sizes_of_segments_are_those_of_the_population(hierarchical):
    own = hierarchical.respondents.segments(2, people="respondents")
    found = hierarchical.respondents.segments(2)
    for name in ("share", "respondents", "name"):
        pd.testing.assert_series_equal(found.sizes[name], own.sizes[name])
    widths = (table.share_high - table.share_low for table in (found.sizes, own.sizes))
    wide, narrow = (float(width.iloc[0]) for width in widths)
    assert wide > max(narrow, 0.3)
    assert found.sizes.attrs["whose"] == POPULATION
    assert own.sizes.attrs["whose"] == SAMPLE


def test_known_segments_have_the_interval_of_a_binomial_share():
    """Two kinds of people whom nobody could confuse: the share is Dirichlet by the weights."""
    from scipy.stats import beta

    from thali._people.respondent_segments import Preferences, build_segments

    people, first = 60, 20
    values = np.full((100, people, 2), 0.1)
    values[:, :first, 0] = values[:, first:, 1] = 0.9
    names = tuple(map(str, range(people)))
    shares = []
    for seed in range(20):
        sizes = build_segments(Preferences((("a",), ("b",)), values, names), 2, seed).sizes
        assert sizes["share"].tolist() == pytest.approx([2 / 3, 1 / 3])
        shares.append(sizes.loc[2, ["share_low", "share_high"]].astype(float))
    low, high = np.mean(shares, axis=0)
    expected = beta(first, people - first).ppf(TAILS)
    np.testing.assert_allclose([low, high], expected, atol=0.012)


def test_the_choice_of_people_is_a_setting_of_findings(hierarchical):
    found = {of: hierarchical.findings(of=of) for of in (None, "respondents")}
    for of, whose in ((None, POPULATION), ("respondents", SAMPLE)):
        for key in ("level_effects", "attribute_importance", "utilities"):
            assert found[of][key].table.attrs["whose"] == whose
            assert whose in str(found[of][key].title)
        assert whose in str(found[of]["level_effects"].sentence)
    wide, narrow = (found[of]["level_effects"].table for of in (None, "respondents"))
    assert ((wide.high - wide.low) > (narrow.high - narrow.low)).mean() > 0.5


def test_tables_have_no_new_respondents(hierarchical):
    for table in (
        hierarchical.level_effects,
        hierarchical.utilities,
        hierarchical.attribute_importance,
    ):
        with refused(ArgumentError, "new respondents"):
            table(people="new")
    with refused(ArgumentError, "'respondents'"):
        hierarchical.respondents.segments(2, people="everybody")
