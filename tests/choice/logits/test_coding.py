"""Columns of the model matrix: numbers and their pieces, products of columns, constants of
alternatives."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused, warned

import thali as th
from thali._choice.logit_likelihood import EncodedTasks, maximise_log_likelihood
from thali._choice.product_coding import build_coding
from thali._data.experiments.product_encoding import add_constants
from thali.errors import ArgumentError, DataError, DataWarning


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment())


def test_pieces_of_a_number(data):
    frame = simulate_experiment(n_respondents=4).assign(
        price=lambda f: f["price"] + 6 * (f["alt"] == 2)
    )
    data = th.ChoiceExperiment.from_frame(frame)
    coding = build_coding(data, knots={"price": [12, 18]})
    assert coding.names[:3] == ("price[to 12]", "price[12 to 18]", "price[from 18]")
    products = data.products[data.row_product]
    x = frame["price"].to_numpy()
    wanted = np.column_stack([np.minimum(x, 12), np.clip(x - 12, 0, 6), np.maximum(x - 18, 0)])
    np.testing.assert_array_equal(coding.encode_codes(products)[:, :3], wanted)
    np.testing.assert_allclose(
        coding.scale[:3], coding.encode_codes(data.products)[:, :3].std(axis=0)
    )


def test_a_number_between_and_beyond_the_tested_ones(data):
    model = th.MultinomialLogit(knots={"price": [15]}).fit(data)
    low, high = model.coef_.iloc[:2]
    for prices, gap in [((10, 20), 5 * low + 5 * high), ((3, 28), 12 * low + 13 * high)]:
        rows = pd.DataFrame({"price": prices, "brand": "A", "zoom": "no"})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            p = model.predict_proba(rows)
        assert p[1] == pytest.approx(1 / (1 + np.exp(-gap)), rel=1e-10)
        assert len(caught) == (prices == (3, 28))
    with warned(DataWarning, "'price'", "28, outside", "25") as messages:
        model.predict_proba(rows)
    assert messages[0].filename == __file__


def test_interactions_are_products_of_columns(data):
    coding = build_coding(data, "price", interactions=[("price", "brand"), ("brand", "zoom")])
    assert coding.names[4:] == (
        "price:brand[B]",
        "price:brand[C]",
        "brand[B]:zoom[yes]",
        "brand[C]:zoom[yes]",
    )
    x = coding.encode_codes(data.products)
    np.testing.assert_array_equal(x[:, 4:], x[:, [0, 0, 1, 2]] * x[:, [1, 2, 3, 3]])
    np.testing.assert_allclose(
        coding.scale, [coding.scale[0], 1, 1, 1, coding.scale[0], coding.scale[0], 1, 1]
    )


def test_tasks_held_out_differ_by_their_labels():
    """Of the same products in the same places with other labels of alternatives two tasks are
    made."""
    frame = simulate_experiment(n_respondents=20)
    frame["alt"] = frame["alt"].map({1: "bus", 2: "car", 3: "train"})
    model = th.MultinomialLogit("price", constants=True).fit(th.ChoiceExperiment.from_frame(frame))
    one = frame[
        (frame["id"] == frame["id"].iloc[0]) & (frame["task"] == frame["task"].iloc[0])
    ].assign(id=1)
    other = one.assign(id=2, alt=one["alt"].map({"bus": "car", "car": "bus", "train": "train"}))
    levels = {name: sorted(frame[name].unique()) for name in ("price", "brand", "zoom")}
    held = th.ChoiceExperiment.from_frame(pd.concat([one, other]), levels=levels)
    assert model.holdouts(held)["task"].max() == 2


def test_the_no_choice_option_has_no_label():
    frame = simulate_experiment(n_respondents=10)
    frame["alt"] = frame["alt"].map({1: "left", 2: "right", 3: "none"})
    data = th.ChoiceExperiment.from_frame(frame, none="none")
    model = th.MultinomialLogit("price", constants=True).fit(data)
    assert list(model.coef_.index) == [
        "inside",
        "price",
        "brand[B]",
        "brand[C]",
        "zoom[yes]",
        "alt[right]",
    ]
    # nor has it a place, where each row has a number
    frame = simulate_experiment(n_respondents=10).astype({"brand": object})
    frame.loc[frame["alt"] == frame["task"] % 3 + 1, "brand"] = "none"
    data = add_constants(th.ChoiceExperiment.from_frame(frame, none={"brand": "none"}))
    assert data.levels["alt"] == ("1", "2", "3")
    assert (data.products[data.products[:, 0] == 0, 1:] == -1).all()


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"linear": "brand"}, ("linear", "contains 'brand'", "level 'A'")),
        ({"knots": {"brand": 1}}, ("level 'A'",)),
        ({"knots": {"prize": 1}}, ("knots", "contains 'prize'", "'price'")),
        ({"knots": {"price": [5]}}, ("25", "between its lowest")),
        ({"knots": {"price": [20, 10]}}, ("increasing numbers",)),
        ({"knots": {"price": [12, 16]}}, ("15", "25")),
        ({"knots": {"price": 2}}, ("got 2",)),
        ({"knots": {"price": "many"}}, ("got 'many'",)),
        ({"interactions": [("price",)]}, ("`interactions` must be pairs",)),
        ({"interactions": [("price", "price")]}, ("the same attribute",)),
        ({"interactions": [("price", "zoom"), ("zoom", "price")]}, ("twice",)),
        ({"interactions": [("price", "size")]}, ("`interactions` contains 'size'",)),
    ],
)
def test_bad_arguments_are_refused(data, asked, facts):
    for model in (th.MultinomialLogit, th.HierarchicalLogit):
        with refused(ArgumentError, *facts):
            model(**asked).fit(data)


def test_constants_need_labels():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=3).drop(columns="alt"))
    with refused(ArgumentError, "give its name with `alternative`"):
        th.MultinomialLogit(constants=True).fit(data)


def swissmetro(**columns):
    """A table of that shape: a row a task, columns in several orders, a car that may be absent and
    has no headway."""
    rng, n = np.random.default_rng(1), 240
    frame = pd.DataFrame(
        {"ID": np.repeat(np.arange(n // 6), 6), "AGE": np.repeat(rng.integers(1, 5, n // 6), 6)}
    )
    frame["TRAIN_AV"], frame["CAR_AV"], frame["SM_AV"] = 1, rng.integers(0, 2, n), 1
    for mode in ("TRAIN", "SM", "CAR"):
        frame[f"{mode}_TT"], frame[f"{mode}_CO"] = (
            rng.choice([60, 120, 180], n),
            rng.choice([20, 50, 90], n),
        )
    frame["TRAIN_HE"], frame["SM_HE"] = rng.choice([30, 60], n), rng.choice([10, 20], n)
    frame["CHOICE"] = np.where(frame["CAR_AV"] == 1, rng.integers(1, 4, n), rng.integers(1, 3, n))
    return frame.assign(**columns)


ORDER = ["TRAIN", "SM", "CAR"]


def test_a_table_of_the_shape_of_swissmetro_is_read_and_fitted():
    frame = swissmetro()
    data = th.ChoiceExperiment.from_wide(frame, respondent="ID", alternatives=ORDER)
    assert (data.n_tasks, data.n_respondents) == (240, 40) and list(data.people.columns) == ["AGE"]
    assert data.n_alternatives == 480 + frame["CAR_AV"].sum()
    chosen = data.alternative_labels[data.first_row[:-1] + data.chosen]
    assert chosen.tolist() == [ORDER[k - 1] for k in frame["CHOICE"]]
    model = th.MultinomialLogit(["TT", "CO", "HE"], constants=True).fit(data)
    assert list(model.coef_.index) == ["TT", "CO", "HE", "alternative[SM]", "alternative[TRAIN]"]
    # by hand, row by row of the wide table
    rows, chosen_rows, ends = [], [], [0]
    for row in frame.to_dict("records"):
        offered = [mode for mode in ORDER if row[f"{mode}_AV"]]
        rows += [
            (row[f"{m}_TT"], row[f"{m}_CO"], row.get(f"{m}_HE", 0), m == "SM", m == "TRAIN")
            for m in offered
        ]
        chosen_rows.append(ends[-1] + offered.index(ORDER[row["CHOICE"] - 1]))
        ends.append(len(rows))
    found = maximise_log_likelihood(
        EncodedTasks(np.array(rows, float), np.array(ends), np.array(chosen_rows))
    )
    np.testing.assert_allclose(model.coef_, found.beta, rtol=1e-6, atol=1e-9)
    market = pd.DataFrame(
        dict(alternative=ORDER, TT=[120, 60, 90], CO=[50, 60, 70], HE=[30, 10, "(lacks it)"])
    )
    u = np.array([[120, 50, 30, 0, 1], [60, 60, 10, 1, 0], [90, 70, 0, 0, 0]]) @ found.beta
    np.testing.assert_allclose(
        model.market_shares(market)["share"], np.exp(u) / np.exp(u).sum(), rtol=1e-6
    )
    with refused(DataError, "'HE'"):
        model.market_shares(market.assign(HE=30))


def test_swissmetro_is_numbered_in_the_order_in_which_the_chosen_was_available():
    frame = swissmetro()
    data = th.ChoiceExperiment.from_wide(frame, respondent="ID")
    chosen = data.alternative_labels[data.first_row[:-1] + data.chosen]
    assert chosen.tolist() == [ORDER[k - 1] for k in frame["CHOICE"]]
    with refused(DataError, "'TRAIN'", "'CAR'", "'SM'", "`alternatives`"):
        th.ChoiceExperiment.from_wide(frame.assign(CAR_AV=1), respondent="ID")
    absent = swissmetro(CAR_AV=0, CHOICE=3)
    with refused(DataError, "'CAR'", "row 0"):
        th.ChoiceExperiment.from_wide(absent, respondent="ID", alternatives=ORDER)
