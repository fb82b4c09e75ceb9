"""`thali fit` of the logits: the tables of a market study, as printed and as written."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import said, says

import thali as th

pytestmark = pytest.mark.fit

MARKET = {"product": ["A", "B"], "price": [7.5, 25], "brand": ["A", "B"], "zoom": ["no", "yes"]}


@pytest.fixture(autouse=True)
def tables(folder):
    simulate_experiment(n_respondents=12).to_csv("sim.csv", index=False)
    pd.DataFrame(MARKET).to_csv("market.csv", index=False)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--knots", "price=9"], ("--knots", "'price'")),
        (["--interactions", "price=size"], ("--interactions", "'size'")),
        (["--price", "brand"], ("--price", "'A'", "'brand'")),
        (["--price", "cost"], ("--price", "'cost'")),
        (["--ci", 95], ("--ci", "(0, 1)", "1")),
        (["--market", "market.csv"], ("'7.5'",)),
    ],
)
def test_bad_words(refused, words, sentence):
    said(refused("fit", "sim.csv", "--model", "MNL", *words), *sentence)


def test_a_wide_table_whose_columns_stand_in_several_orders(run, refused):
    rows = dict(ID=np.repeat([1, 2], 12), A_AV=1, C_AV=1, B_AV=1, CHOICE=[1, 2, 3, 3, 2, 1] * 4)
    prices = {f"{label}_PRICE": [10 * k, 20, 30, 15] * 6 for k, label in enumerate("ABC", 1)}
    pd.DataFrame(rows | prices).to_csv("wide.csv", index=False)
    words = ["fit", "wide.csv", "--model", "MNL", "--linear", "PRICE"]
    said(refused(*words), "--alternatives")
    result = run(*words, "--alternatives", "A,B,C", "--print", "all")
    assert result.code == 0 and "2 respondents, 24 tasks of 3 alternatives" in result.out


def test_a_sign_that_the_choices_contradict(done):
    quick = "--draws 12 --tune 30 --thin 5 --chains 2 --seed 1 --linear price".split()
    result = done(
        "fit", "sim.csv", "--model", "HB", *quick, "--signs", "price=increasing", "--print", "all"
    )
    says(result.out, "inf: respondents who")
    effects = re.findall(r"^price .* (0\.\d+) +0\.\d+ to", result.out, re.MULTILINE)
    assert all(float(end) < 0.6 for end in effects)
    assert ("In rows marked 'at bound', the constraint (increasing price)" in result.out) == (
        "at bound" in result.out
    )


@pytest.mark.long
def test_tastes_depend_on_what_people_are_and_on_the_priors(done, refused):
    rows = simulate_experiment(n_respondents=12)
    rows.assign(age=rows["id"].str[1:].astype(int) + 20).to_csv("aged.csv", index=False)
    words = "fit aged.csv --model HB --linear price --draws 12 --tune 30 --chains 2 --seed 1"
    done(*words.split(), *"--by age --priors scale=0.7 --out found".split())
    model = th.load("found/posterior.nc")
    assert (model.by, model.priors) == (["age"], {"scale": 0.7})
    assert "mean[price] per age" in model.population().index
    sentence = "--priors, the prior scale, must be a positive finite number"
    assert sentence in refused(*words.split(), "--priors", "scale=0")


def test_shares_of_today(done, refused):
    words = ["fit", "sim.csv", "--model", "MNL", "--linear", "price", "--market", "market.csv"]
    pd.DataFrame({"product": ["A", "B"], "share": [0.7, 0.3]}).to_csv("actual.csv", index=False)
    result = done(*words, *"--actual actual.csv --out found --tables xlsx --print all".split())
    assert re.search(r"^A +0.700 ", result.out, re.MULTILINE)
    assert {"summary", "utilities", "demand"} <= set(
        pd.read_excel("found/tables.xlsx", sheet_name=None)
    )
    shares = done(
        *words, "--scale", 0.5, "--availability", "A=0.5", "--rule", "logit", "--print", "all"
    ).out
    expected = th.MultinomialLogit(linear="price").fit(
        th.ChoiceExperiment.from_frame(pd.read_csv("sim.csv"))
    )
    table = expected.market_shares(pd.DataFrame(MARKET), scale=0.5, availability={"A": 0.5})
    assert re.search(rf"^B +{table.loc['B', 'share']:.3f} ", shares, re.MULTILINE)
    pd.DataFrame({"product": ["A", "B"], "share": [0.7, 0.2]}).to_csv("actual.csv", index=False)
    said(refused(*words, "--actual", "actual.csv"), "--actual", "1", "0.9")
    pd.DataFrame({"product": ["A", "Z"], "share": [0.7, 0.3]}).to_csv("actual.csv", index=False)
    said(refused(*words, "--actual", "actual.csv"), "--actual", "'Z'")
    pd.DataFrame({"product": ["A", "B"], "share": [0, 1]}).to_csv("actual.csv", index=False)
    said(refused(*words, "--actual", "actual.csv"), "--actual", "'A'")
    said(refused(*words, "--availability", "A=2"), "--availability", "'A'")
    pd.DataFrame({"product": ["A", "B"], "share": ["much", "little"]}).to_csv(
        "actual.csv", index=False
    )
    said(refused(*words, "--actual", "actual.csv"), "actual.csv")
    said(refused(*words, "--scale", "-1"), "--scale")
    said(refused(*words, "--availability", "A=often"), "--availability", "'A'")
    said(refused(*words[:6], "--scale", 2), "--scale", "--market")


def test_tasks_held_out_are_left_out_and_predicted(done, refused):
    every = pd.read_csv("sim.csv")
    condition = ["--holdouts", "task == 1"]
    result = done(
        "fit", "sim.csv", "--model", "MNL", "--linear", "price", *condition, "--out", "found"
    )
    parts = [
        th.ChoiceExperiment.from_frame(every[(every["task"] == 1) == is_held])
        for is_held in (False, True)
    ]
    scores = th.MultinomialLogit(linear="price").fit(parts[0]).holdouts(parts[1])
    assert (
        f"log score {scores.attrs['log_score']:.3f} per choice" in result.out
        and "held out where task == 1" in result.err
    )
    np.testing.assert_allclose(pd.read_csv("found/holdouts.csv")["predicted"], scores["predicted"])
    assert "selects no rows" in refused(
        "fit", "sim.csv", "--model", "MNL", "--holdouts", "task == 99"
    )


@pytest.mark.long
def test_a_fit_with_a_seed_prints_what_its_model_computes(done):
    """The seed is of the draws alone; tasks that were held out are on the screen."""
    words = "fit sim.csv --model hierarchical-logit --linear price --draws 20 --tune 20 --seed 5"
    screen = done(*words.split(), "--holdouts", "task == 1", "--out", "found").out
    assert "Holdout tasks:" in screen
    table = th.load("found").willingness_to_pay("price")
    written = pd.read_csv("found/willingness_to_pay.csv")
    np.testing.assert_allclose(written["wtp_low"], table["wtp_low"], rtol=1e-12)


def _score(text):
    """The log score of the choices held out, and that of guessing."""
    return tuple(
        map(
            float,
            re.search(
                r"log score (\S+) per choice.*compared with (\S+) for guessing", text
            ).groups(),
        )
    )


@pytest.fixture
def fixed():
    """Choices whose first task is the same for everybody, and has one brand alone."""
    table = pd.read_csv("sim.csv")
    for column, values in (
        ("price", [5, 15, 25]),
        ("brand", ["A"] * 3),
        ("zoom", ["no", "yes", "no"]),
    ):
        table.loc[table["task"] == 1, column] = values * 12
    table.to_csv("fixed.csv", index=False)
    return table


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("words", "bins", "given"),
    [(["--constants"], None, {"constants": True}), (["--bins", "price=2"], {"price": 2}, {})],
)
def test_tasks_held_out_have_the_attributes_and_bins_of_the_fit(done, fixed, words, bins, given):
    result = done(
        *"fit fixed.csv --model MNL".split(),
        *words,
        "--holdouts",
        "task == 1",
        *"--out found --print all".split(),
    )
    training, held = (part for _, part in fixed.groupby(fixed["task"] == 1))
    model = th.MultinomialLogit(**given).fit(th.ChoiceExperiment.from_frame(training, bins=bins))
    score = np.log(model.predict_proba(held)[held["choice"] == 1]).mean()
    assert _score(result.out) == pytest.approx((score, -np.log(3)), abs=6e-4)
    done("report", "found")
    with open("found/report.html", encoding="utf-8") as file:
        assert _score(file.read()) == _score(result.out)


@pytest.mark.parametrize("words", [[], ["--none", "none"]])
def test_tasks_held_out_without_the_option_of_none(done, fixed, words):
    others = fixed[fixed["task"] != 1]
    offered = others[["id", "task"]].drop_duplicates().assign(alt="none", choice=0)
    table = pd.concat([fixed.assign(alt=fixed["alt"].astype(str)), offered]).reset_index(drop=True)
    taken = table["task"] == 2
    table.loc[taken, "choice"] = (table.loc[taken, "alt"] == "none").astype(int)
    table.to_csv("none.csv", index=False)
    result = done(
        *"fit none.csv --model MNL --linear price".split(),
        *words,
        "--holdouts",
        "task == 1",
        "--print",
        "all",
    )
    assert "no-choice option" in result.err and _score(result.out)[1] == pytest.approx(
        -np.log(3), abs=6e-4
    )


def test_an_option_of_none_that_nobody_takes_in_tasks_held_out_was_there(done):
    names = [f"{name}_{k}" for k in (1, 2) for name in ("price", "size")]
    table = pd.DataFrame(np.random.default_rng(1).integers(1, 4, size=(40, 4)), columns=names)
    table = table.assign(
        respondent=np.repeat(range(10), 4), task=np.tile(range(1, 5), 10), choice=np.arange(40) % 3
    )
    table.loc[table["task"] == 1, "choice"] = 1
    table.to_csv("wide.csv", index=False)
    result = done(
        *"fit wide.csv --model MNL --none 0 --holdouts".split(), "task == 1", "--print", "all"
    )
    assert _score(result.out)[1] == pytest.approx(-np.log(3), abs=6e-4)


def test_an_option_of_none_that_is_taken_in_tasks_held_out_alone_was_offered_in_all(done):
    names = [f"{name}_{k}" for k in (1, 2) for name in ("price", "size")]
    table = pd.DataFrame(np.random.default_rng(1).integers(1, 4, size=(40, 4)), columns=names)
    table = table.assign(
        id=np.repeat(range(10), 4), task=np.tile(range(1, 5), 10), choice=1 + np.arange(40) % 2
    )
    table.loc[(table["task"] == 1) & (table["id"] < 4), "choice"] = 0
    table.to_csv("wide.csv", index=False)
    result = done(
        *"fit wide.csv --model MNL --none 0 --holdouts".split(), "task == 1", "--print", "all"
    )
    says(result.err, "30 tasks of 3 alternatives")
    assert "no finite maximum" in result.err
    assert _score(result.out)[1] == pytest.approx(-np.log(3), abs=6e-4)


def test_a_task_of_a_person_with_a_label_is_not_cut_in_two(refused):
    pd.DataFrame({"name": ["p0"], "label": ["Ann"]}).to_csv("labels.csv", index=False)
    assert "p0" in set(pd.read_csv("sim.csv")["id"])
    words = ("fit", "sim.csv", "--model", "MNL", "--labels", "labels.csv", "--holdouts")
    said(refused(*words, "id == p0 and price == 5"), "must be true in")


def test_conditions_of_tasks_held_out_that_do_not_fit(refused):
    words = ("fit", "sim.csv", "--model", "MNL", "--holdouts")
    said(refused(*words, "tsk == 1"), "--holdouts", "1", "'tsk'")
    said(refused(*words, "task = 1"), "--holdouts", "'task = 1'")
    said(refused(*words, "price == 5"), "--holdouts", "5) must")


@pytest.mark.long
def test_a_report_without_the_table_leaves_out_tasks_held_out(done):
    done(
        *"fit sim.csv --model MNL --linear price --holdouts".split(),
        "task == 1",
        *"--out found --print all".split(),
    )
    os.rename("sim.csv", "moved.csv")
    result = done("report", "found")
    says(result.err, "holdout tasks were skipped")
    assert "sim.csv" in result.err
    with open("found/report.html", encoding="utf-8") as file:
        assert "for guessing" not in file.read()
