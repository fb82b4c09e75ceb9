"""Willingness to pay against ratios of coefficients, the delta method by hand, and roots that are
searched for."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment, with_tastes
from helpers.product_class_fits import experiment, fitted, of_draws, single
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused, warned
from scipy.optimize import brentq
from scipy.stats import t as student

import thali as th
from thali._data.experiments.fitted_design import build_design
from thali.errors import ArgumentError, EstimateWarning

pytestmark = pytest.mark.fit


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=9, seed=5))


@pytest.fixture(scope="module")
def hierarchical(data):
    model = th.HierarchicalLogit(linear="price")
    with pytest.warns(th.errors.ConvergenceWarning):
        return model.fit(data, draws=60, tune=50, random_seed=1, progressbar=False)


def read_row(table, *row):
    return table.set_index(["attribute", "level", "over"]).loc[row]


def test_the_amount_is_the_ratio_with_delta_error_and_fieller_interval(data):
    """w = -b/a; by the delta method var w = var b / a^2 + b^2 var a / a^4 - 2 b cov(a, b) / a^3.

    Fieller (1954): with g = z^2 var a / a^2 and r = cov(a, b) / var a, the set is (w + g r -+ z /
    |a| sqrt(var b + 2 w cov(a, b) + w^2 var a - g (var b - r cov(a, b)))) / (1 - g).
    """
    model = th.MultinomialLogit(linear="price", people="independent").fit(data)
    table = model.willingness_to_pay("price", ci=0.95)
    a, v = model.coef_["price"], model.covariance_
    for level in ("B", "C"):
        name = f"brand[{level}]"
        b = model.coef_[name]
        row = read_row(table, "brand", level, "A")
        assert row["wtp"] == pytest.approx(-b / a, rel=1e-10)
        variance = v.loc[name, name] / a**2 + b**2 * v.loc["price", "price"] / a**4
        variance -= 2 * b * v.loc["price", name] / a**3
        assert row["wtp_se"] == pytest.approx(np.sqrt(variance), rel=1e-6)
        z, va, vb, cab = (
            1.959963985,
            v.loc["price", "price"],
            v.loc[name, name],
            v.loc["price", name],
        )
        w, g, r = -b / a, z**2 * va / a**2, cab / va
        half = z / abs(a) * np.sqrt(vb + 2 * w * cab + w**2 * va - g * (vb - r * cab))
        wanted = (w + g * r - half) / (1 - g), (w + g * r + half) / (1 - g)
        np.testing.assert_allclose([row["wtp_low"], row["wtp_high"]], wanted, rtol=1e-6)
    people = model.willingness_to_pay("price", each_person=True)
    assert len(people) == 27 and people["wtp"].nunique() == 3


def test_a_number_is_paid_for_by_the_unit(data):
    frame = simulate_experiment(n_respondents=9, seed=5).assign(
        weight=lambda f: 2.0 * (f["brand"] == "A") + 3.0 * (f["zoom"] == "yes")
    )
    data = th.ChoiceExperiment.from_frame(frame, attributes=["price", "weight"])
    model = th.MultinomialLogit(linear=["price", "weight"]).fit(data)
    row = read_row(model.willingness_to_pay("price"), "weight", "1 more", "")
    assert row["wtp"] == pytest.approx(-model.coef_["weight"] / model.coef_["price"], rel=1e-10)


def test_tested_prices_of_one_slope_are_not_tried_one_by_one(monkeypatch):
    rng = np.random.default_rng(2)
    frame = simulate_experiment(n_respondents=9, seed=5)
    frame["price"] += rng.integers(0, 9, len(frame))
    model = th.MultinomialLogit(linear="price").fit(th.ChoiceExperiment.from_frame(frame))
    chooser = model._get_fitted_chooser()
    n_products, compute = [], type(chooser).utilities

    def compute_utilities(self, products):
        n_products.append(len(products))
        return compute(self, products)

    monkeypatch.setattr(type(chooser), "utilities", compute_utilities)
    table = model.willingness_to_pay("price")
    assert max(n_products) == 2 * 2 * len(table)  # two prices, two levels
    amount = read_row(table, "zoom", "yes", "no")["wtp"]
    assert amount == pytest.approx(-model.coef_["zoom[yes]"] / model.coef_["price"], rel=1e-10)


def test_between_tested_prices_utility_is_interpolated(data):
    model = th.MultinomialLogit().fit(data)
    utility = np.array([0.0, *model.coef_.filter(like="price")])
    with warned(EstimateWarning, "tested prices (20)"):
        table = model.willingness_to_pay("price")
    for row, gain in [
        (("zoom", "yes", "no"), model.coef_["zoom[yes]"]),
        (("brand", "B", "A"), model.coef_["brand[B]"]),
    ]:

        def gap(difference, gain=gain):
            dearer, cheaper = (
                np.interp(15 + s * difference / 2, [5, 15, 25], utility) for s in (1, -1)
            )
            return gain + dearer - cheaper

        assert read_row(table, *row)["wtp"] == pytest.approx(
            brentq(gap, -20, 20, xtol=1e-12), rel=1e-8
        )


def test_knots_change_the_slope(data):
    model = th.MultinomialLogit(knots={"price": [12]}).fit(data)
    low, high = model.coef_[["price[to 12]", "price[from 12]"]]
    utility = [5 * low, 12 * low, 12 * low + 3 * high, 12 * low + 13 * high]

    def gap(difference):
        dearer, cheaper = (
            np.interp(15 + s * difference / 2, [5, 12, 15, 25], utility) for s in (1, -1)
        )
        return model.coef_["zoom[yes]"] + dearer - cheaper

    with warned(EstimateWarning, "within the range"):
        row = read_row(model.willingness_to_pay("price"), "zoom", "yes", "no")
    assert row["wtp"] == pytest.approx(brentq(gap, -20, 20))


def test_amounts_of_people_and_of_the_median_person_follow_the_draws(hierarchical, data):
    beta = hierarchical.posterior_["posterior"].dataset["beta"].values.reshape(-1, 9, 4)
    ratio = np.where(beta[..., 0] < 0, -beta[..., 3] / beta[..., 0], np.sign(beta[..., 3]) * np.inf)
    row = read_row(hierarchical.willingness_to_pay("price"), "zoom", "yes", "no")
    medians = np.sort(ratio, axis=1)[:, 4]
    # half way from the 120th of 240 to the next
    assert row["wtp"] == pytest.approx(np.sort(medians)[119:121].mean())
    people = hierarchical.willingness_to_pay("price", each_person=True)
    own = people[people["attribute"] == "zoom"]
    medians = np.median(ratio, axis=0)
    np.testing.assert_allclose(own["wtp"], np.where(np.isinf(medians), np.nan, medians))
    sides = np.where(np.isinf(medians), np.where(medians > 0.0, "above", "below"), "")
    assert own["at_limit"].tolist() == sides.tolist() and 0 < (own["at_limit"] != "").sum() < 9
    known, ends = own.dropna(subset="wtp"), own[["wtp_low", "wtp_high"]]
    assert ends.isna().any(axis=None) and not (known["wtp_low"] > known["wtp"]).any()
    assert not (known["wtp"] > known["wtp_high"]).any()
    single = hierarchical.willingness_to_pay("price", people=["p3"])
    assert read_row(single, "zoom", "yes", "no")["wtp"] == pytest.approx(own["wtp"].iloc[3])


def choices(slope, zoom=2.0, people=40):
    """Tasks of two products, whose utilities are slope x price + zoom."""
    rng, rows = np.random.default_rng(3), []
    for person in range(people):
        for task in range(8):
            price, has = rng.permutation([5, 15, 25])[:2], rng.permutation(["no", "yes"])
            chosen = np.argmax(slope * price + zoom * (has == "yes") + rng.gumbel(size=2))
            for k in range(2):
                rows.append(
                    dict(id=person, task=task, choice=int(k == chosen), price=price[k], zoom=has[k])
                )
    return th.ChoiceExperiment.from_frame(pd.DataFrame(rows))


def rejected(model, z=1.959963985):
    """The least and the largest amount that a Wald test of indifference does not reject, by
    trying."""
    names = list(model.coef_.index)
    prices = [0.0, *model.coef_.filter(like="price")]

    def is_kept(amount):
        at = [
            np.interp(15 + s * amount / 2, [5, 15, 25], unit) for s in (1, -1) for unit in np.eye(3)
        ]
        x = np.array([at[1] - at[4], at[2] - at[5], 1.0])[: len(names)]
        if len(prices) == 2:
            x = np.array([amount, 1.0])
        return (x @ model.coef_) ** 2 <= z**2 * (x @ model.covariance_.to_numpy() @ x)

    kept = [amount for amount in np.linspace(-20, 20, 801) if is_kept(amount)]
    near = np.linspace(-0.05, 0.05, 101)
    return [
        end(filter(is_kept, of_all + near)) for end, of_all in ((min, kept[0]), (max, kept[-1]))
    ]


@pytest.mark.parametrize("linear", [pytest.param((), marks=pytest.mark.long), "price"])
def test_the_interval_holds_what_a_test_does_not_reject(linear):
    model = th.MultinomialLogit(linear=linear).fit(choices(-0.25))
    wanted = rejected(model, student.ppf(0.975, model._people_.df))
    table = model.willingness_to_pay("price", ci=0.95)
    row = read_row(table, "zoom", "yes", "no")
    assert row["wtp_low"] == pytest.approx(wanted[0], abs=0.002) and row[
        "wtp_high"
    ] == pytest.approx(wanted[-1], abs=0.002)
    assert row["wtp_low"] < row["wtp"] < row["wtp_high"] and table.attrs["notes"] == ()


SENTENCES = [
    (
        -0.01,
        "price",
        r"The effect of 'price' is not clearly different from 0 \(z = {z:.1f}\), so the amounts"
        r" have no",
    ),
    (
        0.0,
        (),
        r"The effect of 'price' is not clearly different from 0 \(z = -?\d\.\d\), so the amounts"
        r" have no",
    ),
    (
        0.3,
        "price",
        r"Demand rises with 'price' \(z = {z:.1f}\), so amounts of money are meaningless; ",
    ),
    (
        -0.07,
        "price",
        r"The amount for 'zoom yes over no' exceeds every difference between tested prices \(20\),"
        r" ",
    ),
    (
        -0.07,
        (),
        r"Amounts of 20 .the range of tested prices. are lower bounds: the true amounts may be"
        r" larger\.",
    ),
]


@pytest.mark.parametrize(("slope", "linear", "sentence"), SENTENCES)
def test_what_the_data_cannot_tell_is_said(slope, linear, sentence):
    model = th.MultinomialLogit(linear=linear).fit(choices(slope))
    z = model.summary().loc["price", "z"] if linear else 0.0
    with warnings.catch_warnings(record=True) as is_warned:
        warnings.simplefilter("always", EstimateWarning)
        table = model.willingness_to_pay("price")
    assert [str(each.message) for each in is_warned] == list(table.attrs["notes"])
    assert any(re.match(sentence.format(z=z), note) for note in table.attrs["notes"])
    if slope >= -0.01:
        assert np.isposinf(table["wtp_high"]).all() and (
            linear == () or np.isneginf(table["wtp_low"]).all()
        )
    found = model.findings(price="price")["willingness_to_pay"]
    in_report = found.sentence
    assert set(table.attrs["notes"]) <= set(found.notes) and not set("inf nan".split()) & set(
        in_report.split()
    )
    assert in_report.startswith(
        "No willingness-to-pay estimate" if slope >= -0.01 and linear else "Respondents would pay "
    )
    with warnings.catch_warnings(record=True) as each:
        warnings.simplefilter("always")
        model.willingness_to_pay("price", each_person=True)
    assert len(each) == (slope >= -0.01)


@pytest.mark.parametrize(
    ("slope", "sentence"), [(0.0, "is not clearly different from 0"), (1.0, "Demand rises with")]
)
def test_draws_without_a_price_effect_are_warned_of(slope, sentence):
    """Tastes of people in 200 draws, of whose mean the interval holds 0, or lies above it."""
    data = choices(-0.1, people=5)
    tastes = np.random.default_rng(2).normal([slope, 1.0], 0.1, (200, 5, 2))
    model = with_tastes(data, tastes, linear="price")
    with pytest.warns(EstimateWarning, match=sentence):
        table = model.willingness_to_pay("price")
    assert np.isposinf(table["wtp_high"]).all() and not np.isnan(table["wtp"]).any()


def test_amounts_of_product_classes_by_hand():
    """Classes "price <= 150", value 3, and "zoom = yes", value 2: a zoom makes up for two thirds of
    the step."""
    attributes = {"price": ["100", "150", "200"], "zoom": ["no", "yes"]}
    data = experiment(people=1, attributes=attributes)
    members = [[1, 1, 0, 1, 1], [1, 1, 1, 0, 1]]
    owned = [(0, np.log(2.5)), (0, np.log(1.5))]
    # (1 - sigma) a = .5
    draws = single(owned, members=members, monotone=(0, 0), offset=(0, 3, 5), a=1.0, sigma=0.5)
    # the dearer one pays 3 (p - 150) / 50 above 150, the cheaper one nothing
    table = (
        of_draws(draws, build_design(data))
        .willingness_to_pay("price")
        .set_index(["attribute", "level"])
    )
    assert table.loc[("zoom", "yes"), "wtp"] == pytest.approx(2 * 50 * 2 / 3)


def test_monotone_classes_pay_for_what_is_better():
    with warned(EstimateWarning, "Amounts of 150"):
        table = fitted(experiment(people=12, none=True), draws=20, alpha=5.0).willingness_to_pay(
            "price"
        )
    assert set(table["attribute"]) == {"brand", "zoom", "battery"}
    assert (table.loc[table["attribute"] != "brand", "wtp"] >= 0).all()
    assert table[["wtp_low", "wtp_high"]].abs().max(axis=None) <= 150


def test_a_price_alone_pays_for_nothing(data):
    model = th.MultinomialLogit("price").fit(
        th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=4), attributes=["price"])
    )
    with refused(ArgumentError, "`price`: 'price'"):
        model.willingness_to_pay("price")


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"price": "prize"}, ("attribute 'prize'", "'price'")),
        ({"price": "brand"}, ("level 'A'", "'brand'")),
        ({"price": "price", "people": "new"}, ("new respondents",)),
        ({"price": "price", "ci": 0}, ("be in (0, 1)",)),
    ],
)
def test_bad_questions_are_refused(hierarchical, asked, facts):
    with refused(ArgumentError, *facts):
        hierarchical.willingness_to_pay(**asked)


@needs_data
def test_the_value_of_time_of_swissroute_as_published():
    """statsmodels 0.15.0: ConditionalLogit of tt, tc, hw and ch, and the delta method by hand."""
    frame = pd.read_csv(real_data("dce_swissroute/choices.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many levels
        data = th.ChoiceExperiment.from_frame(frame, attributes=["tt", "tc", "hw", "ch"])
    attributes = ["tt", "tc", "hw", "ch"]
    model = th.MultinomialLogit(linear=attributes, people="independent").fit(data)
    row = read_row(model.willingness_to_pay("tc"), "tt", "1 more", "")
    assert row["wtp"] == pytest.approx(-0.4534418738881763, rel=1e-6)
    assert row["wtp_se"] == pytest.approx(0.028529739338238543, rel=1e-6)


@needs_data
def test_travel_mode_as_published():
    """Greene, Econometric analysis: constants, terminal time and generalised cost give
    -199.9766."""
    frame = pd.read_csv(real_data("choice_travelmode/travelmode.csv"))
    frame["mode"] = frame["mode"].map({1: "air", 2: "train", 3: "bus", 4: "car"})
    roles = {"respondent": "individual", "task": "task", "alternative": "mode", "chosen": "choice"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = th.ChoiceExperiment.from_frame(
            frame.assign(task=1), **roles, attributes=["ttme", "gc"]
        )
    model = th.MultinomialLogit(linear=["ttme", "gc"], constants=True).fit(data)
    assert model.log_likelihood_ == pytest.approx(-199.9766, abs=1e-4)


def test_what_is_paid_for_a_level_over_another_is_minus_what_is_paid_the_other_way_round():
    """Also where utility falls and rises with the price, so that more than one amount makes up for
    the change."""
    rng, data = np.random.default_rng(2), choices(-0.1, people=9)
    tastes = rng.normal(size=(20, 9, 3))  # two prices over the first, and the zoom
    found = [
        with_tastes(other, tastes * sign)
        .willingness_to_pay("price", each_person=True)
        .query("attribute == 'zoom'")
        for other, sign in (
            (data, np.array([1.0, 1.0, 1.0])),
            (
                th.ChoiceExperiment.from_frame(data.to_frame(), levels={"zoom": ["yes", "no"]}),
                np.array([1.0, 1.0, -1.0]),
            ),
        )
    ]
    amounts = found[0]["wtp"].to_numpy()
    assert (amounts != 0.0).sum() >= 3
    np.testing.assert_allclose(found[1]["wtp"].to_numpy(), -amounts, rtol=1e-12)
