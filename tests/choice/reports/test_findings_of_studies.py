"""Findings of choice experiments: their order, their settings, and one that fails."""

import base64
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.option_words import TYPED
from helpers.sentences import refused, said

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.fit

MARKET = pd.DataFrame(
    {"product": ["A", "B"], "price": [5, 15], "brand": ["A", "B"], "zoom": ["no", "yes"]}
)
MARKET = MARKET.set_index("product")


@pytest.fixture(scope="module")
def classes(data):
    return th.LatentClassLogit(2, linear="price").fit(data, random_seed=1)


def test_the_sentence_of_a_market_tells_the_winner_of_each_scenario(multinomial):
    both = pd.concat(
        [
            MARKET.reset_index().assign(scenario=name, price=[5, price])
            for name, price in (("now", 25), ("cut", 5))
        ]
    )
    found = multinomial.findings(market=both)["market_shares"]
    shares = multinomial.market_shares(both).reset_index()
    for scenario, told in (("now", "in scenario now: "), ("cut", "In scenario cut, ")):
        best = shares[shares["scenario"] == scenario].sort_values("share").iloc[-1]
        assert (
            told in found.sentence
            and f"{100 * best['share']:.0f} %" in found.sentence.partition(told)[2]
        )
        assert best["product"] in found.sentence
    assert not found.notes


def test_shares_that_are_the_same_as_written_have_no_first(data):
    shares = pd.DataFrame(
        {"share": [0.385, 0.23, 0.3854], "share_low": 0.35, "share_high": 0.42}, index=list("ABC")
    )
    shares.attrs["whose"] = "of the respondents"

    class Told(th.MultinomialLogit):
        def market_shares(self, *given, **how):
            return self.shares.rename_axis("product")

    model = Told(linear="price").fit(data)
    model.shares = shares
    told = str(model.findings(market=MARKET)["market_shares"].sentence)
    assert told.endswith(", followed by B (23 %).")
    said(told, "39 %")
    model.shares = shares.iloc[1:]
    said(str(model.findings(market=MARKET.copy())["market_shares"].sentence), "39 %")


@pytest.mark.parametrize("name", ["Price (EUR)", "Att 3 - Price", "tariff"])
def test_a_price_has_a_unit_or_a_note_says_how_to_name_it(name):
    frame = simulate_experiment(n_respondents=8, seed=3).rename(columns={"price": name})
    data = th.ChoiceExperiment.from_frame(frame, attributes=[name, "brand", "zoom"])
    found = th.MultinomialLogit(linear=name).fit(data).findings()
    assert ("willingness_to_pay" in found) == (name != "tariff")
    notes = [str(note) for note in found["level_effects"].notes]
    assert len(notes) == (name == "tariff")
    for note in notes:
        said(note, "price='tariff'", "willingness to pay")


def test_a_market_without_the_option_of_none_says_so():
    rows = []
    for k, (task, products) in enumerate(
        simulate_experiment(n_respondents=8, seed=3).groupby(["id", "task"], sort=False)
    ):
        none = {"id": task[0], "task": task[1], "alt": 4, "choice": int(k % 4 == 3)}
        rows += [
            products.assign(choice=0 if k % 4 == 3 else products["choice"]),
            pd.DataFrame([none]),
        ]
    data = th.ChoiceExperiment.from_frame(
        pd.concat(rows), attributes=["price", "brand", "zoom"], none="4"
    )
    model = th.MultinomialLogit(linear="price").fit(data)
    assert "included a no-choice option" in str(
        model.findings(market=MARKET)["market_shares"].notes[0]
    )
    (column, label), *_ = data.scheme.none
    offered = pd.concat([MARKET.reset_index(), pd.DataFrame([{"product": "none"}])]).assign(
        **{column: ["1", "2", label]}
    )
    assert not model.findings(market=offered)["market_shares"].notes


def test_keys_are_in_the_order_of_questions(multinomial, classes):
    study = ["attribute_importance", "level_effects", "utilities", "willingness_to_pay", "market"]
    close = ["check", "summary", "data", "levels"]
    end = ["methods", "independence", "convergence"]
    assert multinomial.findings().keys() == ["asked", *study, *close, *end]
    segments = ["segment_sizes", "segment_profiles", "segments"]
    people = ["individual_level_effects", "individual_importance", "individual_willingness_to_pay"]
    people += ["individual_utilities", "individual_zero_centred"]
    middle = [*study, *segments, *close, "membership", *people]
    assert classes.findings(segments=2).keys() == [
        "asked",
        "classes",
        "numbers_of_classes",
        *middle,
        *end,
    ]


def test_a_market_is_asked_for_after_a_look_without_one(multinomial):
    assert "market_shares" not in multinomial.findings()
    found = multinomial.findings(market=MARKET)
    expected = multinomial.market_shares(MARKET)
    assert found["market_shares"].table["share"].tolist() == expected["share"].tolist()
    assert multinomial.findings(market=MARKET) is found


def test_settings_are_used(multinomial, classes):
    narrow, wide = (multinomial.findings(ci=ci)["level_effects"].table for ci in (0.5, 0.95))
    assert (narrow["low"] > wide["low"]).all() and (narrow["high"] < wide["high"]).all()
    assert len(classes.findings(segments=2)["segment_sizes"].table) == 2
    said(multinomial.findings()["willingness_to_pay"].title, "Willingness to pay")


@pytest.mark.parametrize(
    ("given", "kind", "facts"),
    [
        ({"price": "brand"}, ArgumentError, ("level 'A'", "'brand'")),
        ({"price": "cost"}, ArgumentError, ("attribute 'cost'",)),
        ({"market": MARKET.assign(brand="Z")}, DataError, ("'Z'",)),
        ({"market": MARKET.iloc[:1]}, DataError, ("least two products",)),
        ({"segments": 99}, DataError, ("99 segments", "8 respondents")),
        ({"similar": 0.5}, ArgumentError, ("'similar'",)),
    ],
)
def test_what_cannot_be_answered_is_refused_at_once(classes, given, kind, facts):
    with refused(kind, *facts):
        classes.findings(**given)


def test_columns_have_their_errors(multinomial):
    found = multinomial.findings(market=MARKET)

    def errors(key):
        """The column of the error of each column that has one."""
        columns = found[key].table.attrs["columns"]
        return {name: each["error"] for name, each in columns.items() if each["error"]}

    assert errors("market_shares") == {"share": "share_se"}
    assert errors("level_effects") == {"effect": "std_error"}
    assert errors("attribute_importance") == {
        "range_share": "range_share_se",
        "importance": "std_error",
    }
    assert errors("willingness_to_pay") == {"wtp": "wtp_se"}


def test_segments_that_are_not_clear_name_the_model_that_looks_for_classes():
    frame = simulate_experiment(n_respondents=8, seed=3).assign(choice=0)
    frame.loc[
        frame.groupby(["id", "task"], sort=False).sample(1, random_state=5).index, "choice"
    ] = 1  # by chance
    data = th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand", "zoom"])
    quick = {"draws": 40, "tune": 40, "chains": 1, "random_seed": 1, "progressbar": False}
    with warnings.catch_warnings(action="ignore"):
        looking = th.HierarchicalLogit(linear="price").fit(data, **quick)
    classes = th.LatentClassLogit(2, linear="price").fit(data, random_seed=1)
    sentence, own = (
        model.findings(segments=2, random_seed=1)["segment_sizes"].sentence
        for model in (looking, classes)
    )
    assert "LatentClassLogit estimates" in str(sentence)
    assert "latent-class-logit estimates" in sentence.render(TYPED)
    assert "too few answers. The most" in str(own)


def test_the_simulator_asks_the_segments_that_the_report_has(classes, multinomial):
    found = classes.findings(segments=2, random_seed=3)
    segments = classes.respondents.segments(2, random_seed=3)
    column = json.loads(found["market"].widget.data)["people"]["columns"][-1]
    assert column["name"] == "segment"
    assert column["values"] == [f"{k}: {name}" for k, name in segments.sizes["name"].items()]
    codes = np.frombuffer(base64.b64decode(column["codes"]["data"]), np.uint8)
    assert (codes + 1).tolist() == segments.assignment["segment"].tolist()
    assert found["segments"].table.equals(segments.assignment)
    assert json.loads(multinomial.findings()["market"].widget.data)["people"] is None
