"""Shares, demand, level effects and importance of every model of choice experiments, against slow
computations."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import of_segments, with_tastes
from helpers.market_studies import MARKET
from helpers.product_class_fits import MONOTONE, drawn, experiment, fitted, of_draws, single
from helpers.sentences import refused, said, warned

import thali as th
from thali._choice.logits.hierarchical_draws import compute_monitored_effects
from thali._choice.product_coding import build_coding
from thali._choice.reports.market_simulator import MarketDraws
from thali._choice.reports.market_tables import parse_markets, restore_saved_table
from thali._data.experiments.fitted_design import ExperimentDesign
from thali._data.experiments.product_encoding import Attribute, Scheme
from thali._labels import escape_formula, unescape_formula
from thali._people.respondent_columns import MarketRespondents, RespondentColumn
from thali.errors import ArgumentError, DataError, DataWarning

pytestmark = pytest.mark.fit


def predict_by_respondent(model, data, market=MARKET):
    """The predicted probabilities of every respondent, (respondents, products)."""
    rows = pd.concat(
        [market.drop(columns="product").assign(id=who, task=1) for who in data.respondents]
    )
    return model.predict_proba(rows).reshape(-1, len(market))


# shares -------------------------------------------------------------------------------------------


def test_shares_of_the_multinomial_logit_are_its_predictions(data):
    multinomial = th.MultinomialLogit(linear="price", people="independent").fit(data)
    p = multinomial.predict_proba(MARKET.drop(columns="product"))
    table = multinomial.market_shares(MARKET)
    np.testing.assert_allclose(table["share"], p, rtol=1e-12)
    np.testing.assert_allclose(
        multinomial.market_shares(MARKET, people="new")["share"], p, rtol=1e-12
    )
    # the delta method: dp_j / d beta = p_j (x_j - sum_k p_k x_k); 2,000 draws of a share that is
    # nearly linear
    named = [name.rstrip("]").split("[") for name in multinomial.coef_.index]
    x = np.column_stack(
        [MARKET[a] == level[0] if level else MARKET[a].astype(float) for a, *level in named]
    )
    slopes = p[:, None] * (x - p @ x)
    errors = np.sqrt(np.diag(slopes @ multinomial.covariance_.to_numpy() @ slopes.T))
    np.testing.assert_allclose(table["share_se"], errors, rtol=0.12)


def test_shares_are_means_over_people_by_weight(hierarchical, data):
    p = predict_by_respondent(hierarchical, data)
    these = {"people": "respondents"}
    np.testing.assert_allclose(
        hierarchical.market_shares(MARKET, **these)["share"], p.mean(axis=0), rtol=1e-9
    )
    weights = np.arange(8.0)
    wanted = weights @ p / weights.sum()
    by_label = dict(zip(data.respondents, weights, strict=True))
    for given in (weights, list(weights), by_label, pd.Series(by_label)):
        found = hierarchical.market_shares(MARKET, respondent_weights=given, **these)["share"]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    ages = np.arange(20.0, 60.0, 5.0)
    by_column = hierarchical.market_shares(MARKET, respondent_weights="age", **these)["share"]
    np.testing.assert_allclose(by_column, ages @ p / ages.sum(), rtol=1e-9)


def test_people_are_chosen_by_name_query_mask_or_function(hierarchical, data):
    p = predict_by_respondent(hierarchical, data)[5:].mean(axis=0)
    named = hierarchical.market_shares(MARKET, people=["p5", "p6", "p7"])
    np.testing.assert_allclose(named["share"], p, rtol=1e-9)
    assert named.attrs["whose"] == "of 3 respondents"
    found = [
        hierarchical.market_shares(MARKET, people=people)
        for people in ("age > 42", np.arange(8) > 4, lambda table: table["age"] > 42)
    ]
    for table in found:  # the market of such people
        np.testing.assert_array_equal(table, found[0])
        said(table.attrs["whose"], "estimated from 3 respondents")
        np.testing.assert_allclose(table["share"], p, atol=5 * (0.25 / 3 / 160) ** 0.5)


def test_shares_of_new_people_are_those_of_the_population(hierarchical):
    """By 200 people of each draw with random numbers of their own: their noise is below .5 /
    sqrt(200 x 160) each."""
    posterior = hierarchical.posterior_["posterior"].dataset
    mean, covariance = posterior["mean"].values, posterior["covariance"].values
    rng, x = np.random.default_rng(1), np.array([[5, 0, 0, 0], [15, 1, 0, 1], [25, 0, 1, 1]])
    shares = []
    for m, s in zip(mean.reshape(-1, 4), covariance.reshape(-1, 4, 4), strict=True):
        odds = np.exp(rng.multivariate_normal(m, s, 200) @ x.T)
        shares.append((odds / odds.sum(axis=1, keepdims=True)).mean(axis=0))
    table = hierarchical.market_shares(MARKET, people="new")
    # what 1,024 quasi-random people in common add is below that of as many random ones, .5 /
    # sqrt(1024)
    np.testing.assert_allclose(table["share"], np.mean(shares, axis=0), rtol=0, atol=0.02)
    assert (table["share_high"] - table["share_low"]).min() > 0.02


def test_weights_of_product_classes():
    model = fitted(experiment(), draws=20, alpha=3.0)
    levels = dict(
        price=["100", "200"], brand=["Aika", "Bora"], zoom=["no", "yes"], battery=["4 h", "8 h"]
    )
    market = pd.DataFrame(levels)
    rows = pd.concat([market.assign(id=f"p{n}", task=1) for n in range(8)])
    p = model.predict_proba(rows, repeats=500).reshape(8, 2)
    # 4,000 occasions at each of 40 draws, and 20,000 of each person
    error = 4.5 * 0.5 * np.sqrt(2 / 160_000 + 2 / 20_000)
    weights = np.array([3.0, 1, 0, 0, 0, 0, 0, 0])
    found = model.market_shares(market, respondent_weights=weights)["share"]
    assert np.abs(found - weights @ p / 4).max() < error
    found = model.market_shares(market, people=["p0"])["share"]
    assert np.abs(found - p[0]).max() < error


def test_scenarios_are_markets_side_by_side(multinomial):
    other = MARKET.assign(price=[25, 15, 5])
    both = pd.concat(
        [MARKET.assign(scenario="now"), other.assign(scenario="later").head(2)], ignore_index=True
    )
    table = multinomial.market_shares(both, change={"price": 15})
    assert list(table.index.names) == ["scenario", "product"] and len(table) == 5
    single = multinomial.market_shares(MARKET, change={"price": 15})
    np.testing.assert_allclose(table.loc["now"], single)
    np.testing.assert_allclose(
        table.loc["later"], multinomial.market_shares(other.head(2), change={"price": 15})
    )


# amounts beyond the tested prices
@pytest.mark.filterwarnings("ignore::thali.errors.EstimateWarning")
def test_the_ends_of_intervals_are_called_as_in_every_table(hierarchical):
    """`low` and `high` of the one estimate, else NAME_low and NAME_high of the column NAME, or of
    people."""
    tables = {
        (): hierarchical.level_effects(ci=0.5),
        ("range_share",): hierarchical.attribute_importance(ci=0.5),
        ("wtp",): hierarchical.willingness_to_pay("price", ci=0.5),
        ("share", "after", "change"): hierarchical.market_shares(
            MARKET, change={"price": 5}, ci=0.5
        ),
        ("share",): hierarchical.demand("price", "B", [10, 20], MARKET, ci=0.5),
    }
    for estimates, table in tables.items():
        ends = [f"{name}_{end}" for name in estimates for end in ("low", "high")] or ["low", "high"]
        people = ["respondents_low", "respondents_high"] * (
            estimates in ((), ("range_share",), ("wtp",))
        )
        assert [
            name for name in table if name.endswith(("low", "high", "lb", "ub"))
        ] == ends + people
        assert set(estimates) <= set(table) and table.attrs["interval"] == 0.5
        for low, high in zip(ends[::2], ends[1::2], strict=True):
            assert (table[high].dropna() >= table[low].dropna()).all()
    own = hierarchical.willingness_to_pay("price", each_person=True, ci=0.5)
    assert (
        list(own)[-4:] == ["wtp", "wtp_low", "wtp_high", "at_limit"]
        and own.attrs["interval"] == 0.5
    )


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"people": "age > 400"}, ("`people` selects no",)),
        ({"people": "edge > 4"}, ("'age'",)),
        ({"people": "age + 1"}, ("each respondent",)),
        ({"people": ["p1", "q1"]}, ("there is no respondent 'q1'",)),
        ({"people": [True, False]}, ("8 respondents", "got 2")),
        ({"people": 7}, ("'respondents'", "'new'")),
        ({"respondent_weights": [1, 2]}, ("8 respondents", "got 2")),
        ({"respondent_weights": [1] * 7 + [-1]}, (">= 0; respondent 'p7' has -1",)),
        ({"respondent_weights": [0] * 8}, ("are all 0",)),
        ({"respondent_weights": {"p0": 1}}, ("lacks 'p1', 'p2'",)),
        ({"respondent_weights": "weight"}, ("column; available",)),
        ({"respondent_weights": [1] * 8, "people": "new"}, ("does not apply to new respondents",)),
        ({"people": ["p1"], "respondent_weights": [1] + [0] * 7}, ("respondents with weight",)),
        ({"ci": 95}, ("be in (0, 1); got 95",)),
        ({"change": {"price": {"D": 5}}}, ("no product 'D'",)),
    ],
)
def test_bad_questions_are_refused(multinomial, asked, facts):
    with refused(ArgumentError, *facts) as error:
        multinomial.market_shares(MARKET, **asked)
    assert "\n" not in str(error.value)


def test_bad_markets_and_demands(multinomial):
    for market, sentence in [
        (MARKET.head(1), "two products; the table has 1"),
        (MARKET.assign(product="A"), "two are called 'A'"),
        (MARKET.assign(brand="D"), "'D', which is not one of its levels"),
        (MARKET.assign(scenario=["a", "a", "b"]), "scenario 'b' has 1"),
        (MARKET.assign(scenario=["a", "a", None]), "'scenario' is empty in row 2"),
    ]:
        with pytest.raises(DataError, match=sentence):
            multinomial.market_shares(market)
    with refused(ArgumentError, "no product 'Z'"):
        multinomial.demand("price", "Z", [1], MARKET)
    two = pd.concat([MARKET.assign(scenario="a"), MARKET.assign(scenario="b")])
    with refused(DataError, "has 2 scenarios"):
        multinomial.demand("price", "A", [5], two)


# level effects and importance ---------------------------------------------------------------------


def test_level_effects_of_logits(hierarchical):
    beta = hierarchical.posterior_["posterior"].dataset["beta"].values.reshape(-1, 8, 4)
    table = hierarchical.level_effects().set_index(["attribute", "level", "over"])
    for row, step in [(("brand", "C", "B"), [0, -1, 1, 0]), (("price", "25", "5"), [20, 0, 0, 0])]:
        p = 1 / (1 + np.exp(-beta @ np.array(step)))
        assert table.loc[row, "effect"] == pytest.approx(p.mean())
        np.testing.assert_allclose(
            table.loc[row, ["respondents_low", "respondents_high"]].astype(float),
            np.quantile(p.mean(0), [0.055, 0.945]),
        )
    people = hierarchical.level_effects(each_person=True)
    assert len(people) == 8 * len(table) and list(people)[0] == "respondent"
    zoom = people.loc[people["attribute"] == "zoom", "effect"].mean()
    assert zoom == pytest.approx(table.loc[("zoom", "yes", "no"), "effect"])


@pytest.mark.parametrize("interactions", [(), [("brand", "zoom")]])
def test_effects_of_the_summary_are_those_of_the_table_of_levels(interactions):
    """A product over none is one of those that were shown, and two levels are compared in all of
    these."""
    data, draws = build_choices_with_none(ORDERS[0]), (2, 6)
    coding = build_coding(data, interactions=interactions)
    tastes = np.random.default_rng(3).normal(size=(12, 8, len(coding.names)))
    table = with_tastes(data, tastes, interactions=interactions).level_effects()
    named = (table["attribute"] + ": " + table["level"] + " over " + table["over"]).tolist()
    effects = compute_monitored_effects(tastes.reshape(*draws, *tastes.shape[1:]), data, coding)[
        "effect"
    ].mean(("chain", "draw"))
    wanted = table["effect"].set_axis(named)[effects["level_pair"].values]
    np.testing.assert_allclose(effects, wanted, rtol=1e-12)
    assert len({*effects.values.round(9)}) == effects.size


def test_the_part_of_choices_is_that_of_slow_predictions(multinomial, hierarchical, data):
    """All alternatives of a task are given one level, which cancels in a logit."""
    frame = data.to_frame()
    for model in (multinomial, hierarchical):
        table = model.attribute_importance().set_index("attribute")
        base = model.predict_proba(frame)
        for name, level in (("price", 15), ("brand", "B"), ("zoom", "no")):
            gap = np.abs(model.predict_proba(frame.assign(**{name: level})) - base)
            wanted = (
                0.5 * pd.Series(gap).groupby([frame["id"], frame["task"]], sort=False).sum().mean()
            )
            assert table.loc[name, "importance"] == pytest.approx(wanted, rel=1e-6)


def test_range_shares_are_those_of_the_utilities(hierarchical):
    beta = hierarchical.posterior_["posterior"].dataset["beta"].values.reshape(-1, 8, 4)
    brand = np.concatenate([np.zeros_like(beta[..., :1]), beta[..., 1:3]], axis=-1)
    ranges = np.stack(
        [20 * np.abs(beta[..., 0]), np.ptp(brand, axis=-1), np.abs(beta[..., 3])], axis=-1
    )
    shares = ranges / ranges.sum(axis=-1, keepdims=True)
    table = (
        hierarchical.attribute_importance().set_index("attribute").loc[["price", "brand", "zoom"]]
    )
    np.testing.assert_allclose(table["range_share"], shares.mean(axis=(0, 1)), rtol=1e-9)
    assert table["range_share"].sum() == pytest.approx(1.0)
    people = hierarchical.attribute_importance(each_person=True).pivot(
        index="respondent", columns="attribute", values="range_share"
    )
    np.testing.assert_allclose(people[["price", "brand", "zoom"]], shares.mean(axis=0), rtol=1e-9)


def expected_utility(draws, d, person, product):
    """Of a product to a person in a draw, class by class."""
    entries = range(draws.first_owned[2 * d + person], draws.first_owned[2 * d + person + 1])
    utility = 0.0
    for e in entries:
        c = draws.first_class[d] + draws.owned_class[e]
        inside = all(
            not draws.active[c, i] or draws.member[c, draws.offset[i] + int(x)]
            for i, x in enumerate(product)
        )
        value = np.exp(draws.owned_log_theta[e]) + (1 - draws.sigma[d]) * draws.a[d]
        utility += inside * (-value if draws.owned_sign[e] else value)
    return utility


def test_range_shares_of_product_classes():
    """Against expected utilities that are added up class by class, of every product with each level
    in turn."""
    data = experiment(people=2, tasks=1, none=True)
    model = fitted(data, MONOTONE, draws=3, alpha=4.0)
    table = model.attribute_importance().set_index("attribute")
    assert table["range_share"].sum() == pytest.approx(1.0) and np.isnan(
        table.loc["inside", "range_share"]
    )
    draws, design = drawn(data, MONOTONE, draws=3, alpha=4.0)
    offered = design.products[design.row_product]
    offered = offered[offered[:, 0] != 0]
    assert 2 <= len(offered) <= 8  # of more, some are taken
    names = list(design.scheme.names[1:])
    shares = np.zeros((draws.n_draws, 2, len(names)))
    for d, person in np.ndindex(draws.n_draws, 2):
        for i, name in enumerate(names, 1):
            for product in offered:
                levels = [
                    [*product[:i], k, *product[i + 1 :]]
                    for k in range(len(design.scheme.levels[name]))
                ]
                shares[d, person, i - 1] += np.ptp(
                    [expected_utility(draws, d, person, each) for each in levels]
                )
        shares[d, person] /= shares[d, person].sum() or np.nan
    wanted = np.nanmean(np.nanmean(shares, axis=1), axis=0)
    np.testing.assert_allclose(table.loc[names, "range_share"], wanted, rtol=1e-9)


SOME_BRANDS = [("A", 5), ("B", 9), ("none", None)]
ORDERS = (
    {"price": ["5", "15", "25"], "brand": ["A", "B", "C"], "zoom": ["no", "yes"]},
    {"price": ["25", "5", "15"], "brand": ["C", "A", "B"], "zoom": ["yes", "no"]},
)


def build_choices_with_none(levels):
    """Choices among three products and nothing, with the levels of the attributes in some order."""
    frame = of_segments(people=8, tasks=6, none=True)[0]
    return th.ChoiceExperiment.from_frame(frame, levels=levels, none={"brand": "none"})


@pytest.mark.parametrize("interactions", [(), [("brand", "zoom")]])
def test_importance_does_not_depend_on_the_order_of_levels(interactions):
    tables = []
    for levels in ORDERS:
        model = th.MultinomialLogit(interactions=interactions).fit(build_choices_with_none(levels))
        table = model.attribute_importance().set_index("attribute")
        assert list(table)[0] == "range_share" and table.index[-1] == "inside"
        assert table["range_share"].iloc[:-1].is_monotonic_decreasing and np.isnan(
            table["range_share"].iloc[-1]
        )
        tables.append(table[["range_share", "importance"]])
    # two maxima by Newton's method
    pd.testing.assert_frame_equal(*tables, check_frame_type=False, rtol=1e-7)


def test_products_that_all_lack_something_are_put_together_of_levels_that_there_are():
    """Of two classes, "red" and "s", with half of the weight each, though no product has both
    attributes."""
    attributes = (
        Attribute("colour", ("red", "blue"), "given"),
        Attribute("size", ("s", "m"), "given"),
    )
    scheme = Scheme("id", "task", None, "choice", attributes)
    products = np.array([[0, -1], [-1, 0], [1, -1], [-1, 1]])
    rows, ends = np.arange(4), np.array([0, 2, 4])
    the_design = ExperimentDesign(
        scheme, ("p0",), products, np.array([0, 2]), ends, rows, np.zeros(2, np.int64)
    )
    draws = single(
        [(0, 0.0), (0, 0.0)],
        members=[[1, 0, 1, 1], [1, 1, 1, 0]],
        monotone=(0, 0),
        offset=(0, 2, 4),
    )
    assert of_draws(draws, the_design).attribute_importance()["range_share"].tolist() == [0.5, 0.5]


def test_copies_say_the_same_and_a_new_fit_has_its_own_effects(data):
    model = th.MultinomialLogit(linear="price").fit(data)
    effects = model.level_effects()
    again = pickle.loads(pickle.dumps(model))  # with findings, too, which hold what no pickle can
    assert model.findings().keys()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).level_effects(), effects)
    pd.testing.assert_frame_equal(again.level_effects(), effects)
    model.fit(data.take(np.arange(10)))
    assert not model.level_effects().equals(effects)


def test_figures_that_a_page_saves_beside_a_market_are_no_idle_columns(multinomial, recwarn):
    saved = MARKET.assign(share=0.3, share_low=0.2, share_high=0.4, respondents="all")
    pd.testing.assert_frame_equal(
        multinomial.market_shares(saved), multinomial.market_shares(MARKET)
    )
    assert not recwarn.list
    with warned(DataWarning, "'colour'"):
        multinomial.market_shares(saved.assign(colour="red"))


@pytest.mark.unit
def test_labels_that_a_page_saves_with_an_apostrophe_are_read_without():
    assert [
        unescape_formula(escape_formula(label))
        for label in ("+5 GB", "-A", "=1", "'tis", "tea", "-3")
    ] == [*("+5 GB", "-A", "=1", "'tis", "tea", "-3")]


@pytest.mark.unit
def test_a_market_of_a_file_has_a_row_of_none_and_errors_with_its_lines():
    rows = [
        ("p", k // 3, k % 3, int(k % 3 == k // 3 % 3), *cells)
        for k, cells in enumerate(6 * SOME_BRANDS)
    ]
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "brand", "price"])
    scheme = th.ChoiceExperiment.from_frame(frame, none=2).scheme
    for word in ("none", "keine", ""):
        market = pd.DataFrame({"brand": ["A", "B", word], "price": [5, 9, None]}, index=[3, 4, 7])
        (found,) = parse_markets(scheme, restore_saved_table(scheme, market))
        assert found.labels == ["1", "2", "3"] and scheme.encode(found.table).products[
            :, 0
        ].tolist() == [1, 1, 0]
    for columns in ({}, {"scenario": ["x", "x", "x"]}):
        wrong = market.assign(brand=["A", "B", "Bb"], **columns)
        with refused(DataError, "Attribute 'brand'", "row 7", "'Bb'"):
            scheme.encode(parse_markets(scheme, restore_saved_table(scheme, wrong))[0].table)


@pytest.mark.unit
def test_segments_of_a_report_have_a_name_that_no_column_has():
    codes = np.zeros(2, np.uint8)
    known = MarketRespondents(2, (RespondentColumn("segment", ("old", "new"), codes),), (), (), ())
    draws = MarketDraws((), None, 0.0, (None, None), (), "draws", people=known)
    found = draws.add_people_column("segment", ("1: A",), codes)
    assert [column.name for column in found.people.columns] == ["segment", "segment of this report"]
    names = [
        column.name
        for column in found.add_people_column("segment", ("1: A",), codes).people.columns
    ]
    assert len(set(names)) == 3
