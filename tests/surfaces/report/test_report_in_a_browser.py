"""Reports in Chromium: nothing is loaded, nothing runs, everybody can read them, on a phone as on a
desk."""

import csv
import io
import pathlib
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.chromium import watched
from helpers.experiment_data import simulate_experiment
from helpers.hostile import HOSTILE
from helpers.markets import market_of
from helpers.product_class_fits import experiment, fitted
from helpers.sentences import said, says
from helpers.tiny_models import TINY

import thali as th
import thali._choice.reports.market_simulator as simulator
from thali._choice.reports.logit_choice_draws import (
    AttributeCoding,
    RespondentClasses,
    round_tastes,
)
from thali._choice.reports.market_simulator import (
    FIRST_CHOICE,
    MarketAttribute,
    MarketDraws,
    OpeningMarket,
    ShareSettings,
)
from thali._model.finding import Finding
from thali._people.respondent_columns import describe_respondents
from thali._surfaces.html_report import Chapter, Document, build_section, render_document
from thali.errors import PYTHON
from thali.report import report

pytestmark = [
    pytest.mark.long,
    pytest.mark.rendered,
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
]

TAILS = 0.055, 0.945
ATTACKS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "x" * 5000,
    "东京, ελιά\nand more",
)


@cache
def results():
    """A model of each kind, one whose labels attack, a comparison and a test."""
    found = {name: tiny.build_fitted() for name, tiny in TINY.items()}
    data = th.PairedComparisons(
        [[0, 3, 1, 2], [2, 0, 4, 1], [1, 2, 0, 2], [1, 1, 3, 0]], labels=ATTACKS
    )
    ml = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    run = {"draws": 20, "tune": 10, "chains": 2, "random_seed": 1, "progressbar": False}
    found["attacks"] = th.EliminationByAspects("unique").fit(data, **run)
    found["attacks by likelihood"] = ml
    found["comparison"] = th.compare({ATTACKS[0]: ml}, data, cores=1, progressbar=False)
    found["test"] = th.paired.transitivity(data)
    return found


@pytest.mark.parametrize("name", [*TINY, "attacks", "attacks by likelihood", "comparison", "test"])
@pytest.mark.parametrize("width", [1200, 820, 390])
def test_everybody_can_read_it(browser, tmp_path, name, width):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    file = tmp_path / "report.html"
    report(results()[name], file)
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        sentence, asked = watched(page)
        page.goto(file.as_uri())
        assert sentence == [] and asked == [file.as_uri()]
        wide = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide[0] <= wide[1]
        assert [fault["id"] for fault in axe.run(page)["violations"]] == []
        page.close()


# the market simulator -----------------------------------------------------------------------------


def logits(prices=(1.0, 2.5, 4.0)):
    """A market of people with random tastes for a brand and a price, which may be any number."""
    levels = (("A", "B", "C"), tuple(f"{price:g}" for price in prices))
    columns = [
        AttributeCoding(np.vstack([np.eye(3)[:, 1:], [0.0, 0.0]])),
        AttributeCoding(np.zeros((4, 1)), np.array(prices)),
    ]
    tastes = np.random.default_rng(2).normal([0.5, 1.0, -1.0], [0.5, 0.5, 0.2], (30, 9, 3))
    attributes = (
        MarketAttribute("brand", levels[0], None, may_lack=True),
        MarketAttribute("price", levels[1], prices, takes_any=True),
    )
    return MarketDraws(
        attributes,
        round_tastes(columns, tastes),
        0.0,
        (None, None),
        ((0, 1.0), (2, 4.0)),
        "30 draws",
    )


def fitted_logit():
    """A market of an estimate, with a number in pieces whose slopes hang on the brand."""
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=20))
    return market_of(
        th.MultinomialLogit(knots={"price": [12]}, interactions=[("price", "brand")]).fit(data)
    )


def classes(none, labels=None):
    """A market of product classes, with draws from the prior."""
    data = experiment(none=none)
    if labels:
        frame = data.to_frame().rename(columns={"zoom": labels[0]})
        named = dict(zip(frame["brand"].cat.categories, labels[1:], strict=False))
        data = th.ChoiceExperiment.from_frame(
            frame.assign(brand=[named[level] for level in frame["brand"]])
        )
        return market_of(fitted(data, {}, alpha=3.0, draws=20))
    return market_of(fitted(data, alpha=3.0, draws=20))


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens the simulator of some draws of a market; no page may say a word, or ask
    for anything."""
    heard, pages = [], []

    def open_it(draws, offered=None, **settings):
        file = tmp_path / "simulator.html"
        offered = offered or simulator.build_opening_market(draws)
        section = build_section(
            simulator.build_simulator_finding(draws, offered, price="price"), PYTHON
        )._replace(title="Market simulator")
        file.write_text(
            render_document(
                Document("Simulator", "", (), None, (), (Chapter("Answers", (section,)),), "")
            ),
            "utf-8",
        )
        context = browser.new_context(**settings)
        page = context.new_page()
        pages.append(context)
        heard.append(watched(page))
        page.goto(file.as_uri())
        assert heard[-1] == ([], [file.as_uri()])
        return page

    yield open_it
    assert [sentence for sentence, _ in heard if sentence] == [] and {
        len(asked) for _, asked in heard
    } <= {1}
    for context in pages:
        context.close()


def rows_of(page):
    return list(csv.DictReader(io.StringIO(page.input_value("#market-csv"))))


def choose(page, draws, market):
    """Make the products of the page, the first ones, those of a market."""
    while page.locator("fieldset.product").count() < len(market):
        page.click("#market-add")
    while page.locator("fieldset.product").count() > len(market):
        page.locator("fieldset.product button").last.click()
    for place, product in enumerate(market):
        card = page.locator("fieldset.product").nth(place)
        for i, (attribute, level) in enumerate(zip(draws.attributes, product, strict=True)):
            control = card.locator(f"[id$='-{i}'][id^=market-level]")
            if attribute.takes_any:
                control.fill(str(level))
                control.blur()
            elif attribute.fixed is None:
                control.select_option(index=len(attribute.levels) if level is None else level)


def interval(values):
    return [values.mean(axis=0), *np.quantile(values, TAILS, axis=0)]


def test_a_market_that_was_asked_for_has_its_names(opened):
    draws = classes(none=True)
    asked = {"Ours <1>": (1, 0, 0, 0, 2), "Theirs": (1, 3, 2, 1, 0)}
    page = opened(draws, OpeningMarket("the one that was asked for", asked, None))
    wanted = draws.summarize(draws.shares([list(asked.values())])[0], TAILS)
    assert [row["product"] for row in rows_of(page)] == list(asked) and not page.is_checked(
        "#market-none"
    )
    np.testing.assert_allclose(
        [float(row["share"]) for row in rows_of(page)], wanted[0], rtol=0, atol=1e-6
    )
    page.set_checked("#market-none", True)
    page.click("#market-add")
    assert [row["product"] for row in rows_of(page)] == [*asked, "Product C", "none of them"]


@pytest.mark.parametrize("kind", ["classes", "classes with none", "logits", "fitted logit"])
def test_shares_are_those_of_the_model_and_so_are_changes(opened, kind):
    made = {"logits": logits, "fitted logit": fitted_logit}
    draws = made[kind]() if kind in made else classes("none" in kind)
    page = opened(draws)
    if kind == "logits":
        markets = [[(1, 1.75), (2, 3.2)], [(1, 2.25), (2, 3.2), (None, 1.0), (0, 4.0)]]
    elif kind == "fitted logit":
        markets = [[(5.0, 1, 0), (17.5, 0, 1)], [(11.0, 0, 0), (22.0, 1, 1), (25.0, 2, 1)]]
    else:
        inside = (1,) if draws.none else ()
        products = [
            (0, 0, 0, 2),
            (3, 2, 1, 0),
            (1, 1, 1, 1),
            (2, 0, 0, 1),
            (0, 0, 0, 2),
            (3, 1, 0, 0),
            (0, 2, 1, 2),
        ]
        products = [(*inside, *product) for product in products]
        markets = [products[:2], products, products[3:6], products[1:2] * 2]
    kept = None  # the market of before, in which people may choose none where they may now
    for market in markets:
        choose(page, draws, market)
        for none in [True, False] if draws.none else [False]:
            if draws.none:
                page.set_checked("#market-none", none)
            asked = [*market, *([draws.none] if none else [])]
            values = draws.shares([asked])[0]
            rows = [row for row in rows_of(page) if row["share"]]
            found = [
                [float(row[name]) for row in rows] for name in ("share", "share_low", "share_high")
            ]
            np.testing.assert_allclose(found, draws.summarize(values, TAILS), rtol=0, atol=1e-6)
            if kept is not None:
                before = draws.shares([[*kept, *([draws.none] if none else [])]])[0]
                both = min(len(market), len(kept))
                found = [
                    [float(r[name]) for r in rows[:both]]
                    for name in ("change", "change_low", "change_high")
                ]
                wanted = draws.summarize(values[:, :both] - before[:, :both], TAILS)
                np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
        if kept is None:
            page.click("#market-pin")
            kept = market
    page.click("#market-forget")
    assert "change" not in rows_of(page)[0]


@pytest.mark.parametrize(
    "kind, how",
    [
        ("logits", ShareSettings(scale=0.5, actual={"A": 0.2, "B": 0.5, "no": 0.3})),
        ("logits", ShareSettings(rule=FIRST_CHOICE, availability={"B": 0.25, "no": 0.5})),
        (
            "fitted logit",
            ShareSettings(scale=1.5, availability={"A": 0.8}, actual={"A": 0.3, "B": 0.7}),
        ),
        ("classes with none", ShareSettings(availability={"A": 0.3, "B": 0.6})),
    ],
)
def test_shares_as_they_were_asked_for_are_those_of_the_model(opened, kind, how):
    draws = (
        {"logits": logits, "fitted logit": fitted_logit}[kind]()
        if kind in ("logits", "fitted logit")
        else classes(True)
    )
    first = [draws.first_task[0], draws.first_task[-1]]
    has_none = draws.none is not None
    draws, offered, notes = simulator.apply_share_settings(
        draws,
        OpeningMarket("asked", dict(zip("AB", first, strict=True)), "no" if has_none else None),
        how,
    )
    page = opened(draws, offered)
    market = list(offered.products.values())
    cheaper = dict(zip("AB", market, strict=True))
    place = next(i for i, attribute in enumerate(draws.attributes) if attribute.fixed is None)
    level = 1 if first[0][place] != 1 else 0
    for step in ("as asked for", "a level changes", "a product is added"):
        if step == "a level changes":
            page.click("#market-pin")
            control = page.locator(f"fieldset.product [id$='-{place}'][id^=market-level]").first
            if draws.attributes[place].takes_any:
                control.fill(str(level))
            else:
                control.select_option(index=level)
            market[0] = (*market[0][:place], level, *market[0][place + 1 :])
        if step == "a product is added":
            page.click("#market-add")
            market.append(market[-1])
        values = draws.shares([[*market, *([draws.none] if has_none else [])]])[0]
        rows = [row for row in rows_of(page) if row["share"]]
        found = [
            [float(row[name]) for row in rows] for name in ("share", "share_low", "share_high")
        ]
        np.testing.assert_allclose(found, draws.summarize(values, TAILS), rtol=0, atol=1e-6)
        if step == "as asked for" and how.actual is not None:
            np.testing.assert_allclose(
                found[0], [how.actual[name] for name in how.actual], atol=2e-6
            )
        if step == "a level changes":
            before = draws.shares([[*cheaper.values(), *([draws.none] if has_none else [])]])[0]
            found = [
                [float(row[name]) for row in rows]
                for name in ("change", "change_low", "change_high")
            ]
            np.testing.assert_allclose(
                found, draws.summarize(values - before, TAILS), rtol=0, atol=1e-6
            )
    assert notes


def some_people(kind):
    """A market whose people have columns, of each kind: their table, and the draws."""
    if kind == "classes":
        table = pd.DataFrame(
            {"sex": ["w", "m", None, "w", "m", "w", "w", "m"], "weight": np.arange(8) % 5 / 2}
        )
        return table, classes(False)._replace(people=describe_respondents(table, 8))
    number = {"thinned": 40, "kinds": 300}.get(kind, 9)
    table = pd.DataFrame(
        {"sex": np.resize(["w", "m", "w", "w", None], number), "weight": np.arange(number) % 5 / 2}
    )
    draws = logits()
    if kind == "logits":
        return table, draws._replace(people=describe_respondents(table, number))
    # draws of 9, and a value of one person, whom four of five draws do not hold
    if kind == "thinned":
        table["rare"] = np.where(np.arange(number) == 7, "only", "many")
        rule = draws.rule._replace(respondents=number)
        return table, draws._replace(rule=rule, people=describe_respondents(table, number))
    rng = np.random.default_rng(5)
    kinds = RespondentClasses(
        rng.dirichlet(np.ones(9), number).astype(np.float32), rng.integers(9, size=(29, number))
    )
    people = describe_respondents(table, number, tuple(f"class {k + 1}" for k in range(9)))
    rule = draws.rule._replace(respondents=number, respondent_classes=kinds)
    return table, draws._replace(rule=rule, is_estimate=True, people=people)


@pytest.mark.parametrize("kind", ["classes", "logits", "thinned", "kinds"])
def test_shares_of_some_people_with_weights_are_those_of_the_model(opened, kind):
    table, draws = some_people(kind)
    number, page = len(table), opened(draws)
    market = [*draws.first_task, *([draws.none] if draws.none else [])]
    sexes = {
        f"{sex} (sex), {(table['sex'] == sex).sum()}": (table["sex"] == sex).to_numpy(float)
        for sex in "wm"
    }
    sexes[f"(missing) (sex), {table['sex'].isna().sum()}"] = table["sex"].isna().to_numpy(float)
    if kind == "thinned":
        sexes["only (rare), 1"] = (table["rare"] == "only").to_numpy(float)
    for group, has in {f"all {number} respondents": np.ones(number), **sexes}.items():
        page.select_option("#market-people", label=group)
        for weight in ("equal weights", "weight"):
            page.select_option("#market-weights", label=weight)
            weights = has * (table["weight"].to_numpy() if weight == "weight" else 1.0)
            rows = rows_of(page)
            found = [
                [float(row[name]) for row in rows] for name in ("share", "share_low", "share_high")
            ]
            wanted = draws.summarize(draws.shares([market], weights)[0], TAILS)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
            who = group if group.startswith("all ") else f"{group} of {number} respondents"
            who += ", weighted by weight" * (weight == "weight")
            assert {row["respondents"] for row in rows} == {
                who
            } and "respondents_before" not in rows[0]
            assert page.inner_text("#market-table caption") == f"Predicted shares in %: {who}"
            assert who in page.text_content("#market-status")


def test_shares_of_a_class_of_people(opened):
    table, draws = some_people("kinds")
    page = opened(draws)
    market = [*draws.first_task, draws.none]
    part = 100 * draws.rule.respondent_classes.membership[:, 2].mean()
    page.select_option("#market-weights", label="weight")
    page.select_option("#market-people", label=f"class 3, {part:.0f} % of 300 respondents")
    alone = draws._replace(
        rule=draws.rule._replace(
            codes=draws.rule.codes[:, [2]], respondent_classes=None, respondents=1
        )
    )
    wanted = draws.summarize(alone.shares([market])[0], TAILS)
    found = [
        [float(row[name]) for row in rows_of(page)] for name in ("share", "share_low", "share_high")
    ]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    assert page.is_disabled("#market-weights") and "weighted" not in page.inner_text(
        "#market-table caption"
    )


def test_every_market_is_saved_as_one_table(opened):
    """The first, those kept, and the one that stands, each with its shares, as a table of
    scenarios."""
    table, draws = some_people("logits")
    page = opened(draws)
    page.click("#market-pin")  # the same as the first
    page.locator("input[type=number]").first.fill("3.5")
    page.click("#market-pin")
    page.select_option("#market-people", label="w (sex), 6")
    with page.expect_download() as saved:
        page.click("#market-every-button")
    found = pd.read_csv(io.StringIO(pathlib.Path(saved.value.path()).read_text("utf-8")))
    first = [*draws.first_task, draws.none]
    second = [(first[0][0], 3.5, *first[0][2:]), *first[1:]]
    women = (table["sex"] == "w").to_numpy(float)
    wanted = [draws.shares([first])[0], draws.shares([second])[0], draws.shares([second], women)[0]]
    wanted = np.concatenate([np.transpose(draws.summarize(each, TAILS)) for each in wanted])
    np.testing.assert_allclose(
        found[["share", "share_low", "share_high"]], wanted, rtol=0, atol=1e-6
    )
    assert found["scenario"].tolist() == [1] * len(first) + [2] * len(first) + [3] * len(first)
    assert found["price"].dropna().iloc[0] == first[0][1] and 3.5 in set(found["price"])
    assert found["respondents"].unique().tolist() == [
        "all 9 respondents",
        "w (sex), 6 of 9 respondents",
    ]
    assert "3 markets" in page.text_content("#market-status") and "change" not in found


def test_before_keeps_its_own_people_until_these_are_asked(opened):
    table, draws = some_people("logits")
    page = opened(draws, permissions=["clipboard-read", "clipboard-write"])
    market = [list(product) for product in draws.first_task]
    old = draws.shares([[*map(tuple, market), draws.none]])[0]
    women = (table["sex"] == "w").to_numpy(float)
    page.click("#market-pin")
    assert page.is_hidden("#market-same") and "before: " not in page.inner_text("#market-key")
    page.select_option("#market-people", label="w (sex), 6")
    market[0][1] = 3.5
    page.locator("input[type=number]").first.fill("3.5")
    asked = [*map(tuple, market), draws.none]
    now = draws.shares([asked], women)[0]
    caption = "Predicted shares in %: w (sex), 6 of 9 respondents; before: all 9 respondents"
    assert page.inner_text("#market-table caption") == caption
    assert page.locator("#market-key span:not(.swatch)").all_inner_texts() == [
        "before: all respondents",
        "now: w",
    ]
    says(page.inner_text("#market-volume"), "9 respondents")

    def changes():
        return [
            [float(row[name]) for row in rows_of(page)]
            for name in ("change", "change_low", "change_high")
        ]

    np.testing.assert_allclose(changes(), draws.summarize(now - old, TAILS), rtol=0, atol=1e-6)
    assert {(row["respondents"], row["respondents_before"]) for row in rows_of(page)} == {
        ("w (sex), 6 of 9 respondents", "all 9 respondents")
    }
    with page.expect_download() as saved:
        page.click("#market-picture-button")
    drawn = pathlib.Path(saved.value.path()).read_text("utf-8")
    assert ">Before: all 9 respondents<" in drawn and ">Now: w (sex), 6 of 9 respondents<" in drawn
    page.click("#market-copy-button")
    page.locator("#market-status", has_text="copied").wait_for(state="attached")
    assert "w (sex), 6 of 9 respondents\tall 9 respondents" not in page.input_value("#market-csv")
    says(page.evaluate("navigator.clipboard.readText()"), "6 of", "9 respondents")
    page.click("#market-same")
    same = draws.shares([[*map(tuple, draws.first_task), draws.none]], women)[0]
    np.testing.assert_allclose(changes(), draws.summarize(now - same, TAILS), rtol=0, atol=1e-6)
    said(page.inner_text("#market-table caption"), "6 of", "9 respondents")
    assert page.is_hidden("#market-same") and page.inner_text("#market-volume").startswith("Gained")
    page.locator("#market-demand[aria-busy=false]").wait_for()
    places = page.locator("#market-demand-table tbody tr").all_inner_texts()
    (at_two,) = [line.split() for line in places if line.split()[0] == "2.5"]
    found = draws.shares([[(asked[0][0], 2.5), *asked[1:]]], women)[0][:, 0]
    low, high = np.quantile(found, TAILS)
    assert at_two[1:] == [
        f"{100 * found.mean():.1f}",
        f"{100 * low:.1f}",
        "to",
        f"{100 * high:.1f}",
    ]
    assert "6 of 9 respondents" in page.inner_text("#market-demand-table caption")
    assert "6 of 9 respondents" in page.inner_text("#market-demand-finding")


def test_whom_no_draw_holds_is_not_offered_and_who_is_partly_held_is_said(opened):
    draws = logits()
    table = pd.DataFrame(
        {"sex": np.resize(["w", "m"], 540), "rare": np.where(np.arange(540) == 1, "never", "often")}
    )
    rule = draws.rule._replace(respondents=540)  # 30 draws of 9 hold 270 of them, every other
    page = opened(draws._replace(rule=rule, people=describe_respondents(table, 540)))
    offered = page.locator("#market-people option").all_inner_texts()
    everyone = "all 540 respondents, 270 of them on this page"
    assert offered == [everyone, "w (sex), 270", "often (rare), 539"]
    assert page.inner_text("#market-table caption") == f"Predicted shares in %: {everyone}"
    page.select_option("#market-people", label="often (rare), 539")
    sentence = "often (rare), 539 of 540 respondents, 270 of them on this page"
    assert page.inner_text("#market-table caption") == f"Predicted shares in %: {sentence}"


def test_nobody_has_a_weight_above_zero(opened):
    table, draws = some_people("logits")
    table = table.assign(weight=np.where(table["sex"] == "m", 0.0, 2.0) * np.arange(1, 10))
    page = opened(draws._replace(people=describe_respondents(table, 9)))
    page.select_option("#market-weights", label="weight")
    assert page.inner_text("#market-whom-word") == ""
    page.select_option("#market-people", label="m (sex), 2")
    says(page.inner_text("#market-whom-word"), "0")
    assert (
        rows_of(page)[0]["respondents"] == "m (sex), 2 of 9 respondents"
        and page.input_value("#market-weights") == ""
    )
    page.select_option("#market-people", label="w (sex), 6")
    assert page.inner_text("#market-whom-word") == ""


def test_demand_is_the_share_at_each_number(opened):
    draws = classes(True)
    page = opened(draws)
    products = [(1, 2, 0, 1, 0), (1, 0, 1, 0, 2), (1, 3, 2, 1, 1)]
    choose(page, draws, products)
    page.locator("#market-demand[aria-busy=false]").wait_for()
    page.select_option("#market-demand-product", label="Product B")
    cells = page.locator("#market-demand-table tbody tr")
    for price in range(4):
        market = [products[0], (1, price, 1, 0, 2), products[2], draws.none]
        mean, low, high = (100 * value[1] for value in interval(draws.shares([market])[0]))
        shown = cells.nth(price).inner_text().split()
        assert shown == [str(100 + 50 * price), f"{mean:.1f}", f"{low:.1f}", "to", f"{high:.1f}"]
    finding = page.locator("#market-demand-picture title").text_content()
    says(finding, "Share of Product")
    assert "at 250" in finding
    assert page.locator("#market-demand-picture circle").count() == 4


def test_the_simulator_is_used_with_the_keyboard_and_says_what_it_does(opened):
    draws = classes(True)
    page = opened(draws)
    page.locator("fieldset.product select").first.focus()
    sentence = set()
    for key, price in (("End", "250"), ("Home", "100")):
        page.keyboard.press(key)
        assert rows_of(page)[0]["price"] == price
        sentence.add(page.locator("#market-status").text_content())
    assert len(sentence) == 2
    page.focus("#market-add")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("<b>Ours</b>")
    page.keyboard.press("Tab")
    assert [row["product"] for row in rows_of(page)][-2:] == ["<b>Ours</b>", "none of them"]
    page.focus("#market-pin")
    page.keyboard.press("Enter")
    assert {row["change"] for row in rows_of(page)} == {"0.000000"}
    page.locator("fieldset.product button").last.focus()
    page.keyboard.press("Space")
    gone = rows_of(page)[-1]
    assert (gone["product"], gone["share"]) == ("<b>Ours</b>", "") and float(
        gone["change"]
    ) == -float(gone["before"])
    assert page.evaluate("document.activeElement.id") == "market-add"
    for _ in range(9):
        page.locator("#market-add").click(force=True)
    assert page.locator("fieldset.product").count() == 8 and page.is_disabled("#market-add")


def test_shares_move_while_typing_and_numbers_outside_the_tested_ones_have_a_word(opened):
    draws = logits()
    page = opened(draws)
    price, word = page.locator("input[type=number]").first, page.locator(".word").first
    market = [list(product) for product in draws.first_task]
    for typed, sentence in (
        ("9", "Outside the tested range (1 to 4)"),
        ("-3", "check the sign"),
        ("", "Not a number"),
        ("2.2", ""),
    ):
        price.fill(typed)  # and does not leave the field
        if typed:
            market[0][1] = float(typed)
        told = word.inner_text()
        assert price.input_value() == typed and sentence in told and bool(sentence) == bool(told)
        assert price.get_attribute("aria-invalid") == str(not typed).lower()
        asked = [*(tuple(product) for product in market), draws.none]
        wanted = draws.shares([asked])[0].mean(axis=0)
        found = [float(row["share"]) for row in rows_of(page)]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    page.locator("#market-demand[aria-busy=false]").wait_for()
    assert page.locator("#market-demand-picture circle").count() == 9
    *ticks, _ = page.locator("#market-demand-picture text[text-anchor=middle]").all_text_contents()
    assert ticks == ["1", "2.5", "4"]  # those that were shown, not what lies between


@pytest.mark.parametrize(
    ("prices", "asked"),
    [
        # not 10.615
        ((9.99, 12.49, 14.99), "9.99 10.62 11.24 11.87 12.49 13.12 13.74 14.37 14.99"),
        ((10.0, 12.0, 15.0), "10 10.6 11.3 11.9 12 12.5 13.1 13.8 14.4 15"),
        ((200.0, 1000.0), "200 300 400 500 600 700 800 900 1000"),
    ],
)
def test_prices_between_those_that_were_shown_have_no_more_decimals_than_they_need(
    opened, prices, asked
):
    page = opened(logits(prices))
    page.locator("#market-demand[aria-busy=false]").wait_for()
    found = page.locator("#market-demand-table tbody tr > :first-child").all_inner_texts()
    assert found == asked.split()


def test_the_table_is_copied(opened):
    page = opened(classes(False), permissions=["clipboard-read", "clipboard-write"])
    page.click("#market-copy-button")
    page.locator("#market-status", has_text="copied").wait_for(state="attached")
    copied = list(
        csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()")), delimiter="\t")
    )
    assert copied == list(csv.reader(io.StringIO(page.input_value("#market-csv"))))
    with page.expect_download() as saved:
        page.click("#market-picture-button")
    drawn = pathlib.Path(saved.value.path()).read_text("utf-8")
    assert (
        drawn.startswith("<svg ")
        and drawn.count("<text") == 2 * len(rows_of(page))
        and "Product A" in drawn
    )


def test_what_a_market_earns_and_whom_a_change_costs(opened):
    draws = logits()
    page = opened(draws)
    page.click("#market-pin")
    page.locator("[id^=market-cost]").first.fill("0.5")
    price = page.locator("input[type=number]").first
    price.fill("3.5")
    market = [list(product) for product in draws.first_task]
    before = draws.shares([[*map(tuple, market), draws.none]])[0]
    market[0][1] = 3.5
    now = draws.shares([[*map(tuple, market), draws.none]])[0]
    row = rows_of(page)[0]
    found = [float(row[name]) for name in ("profit", "profit_low", "profit_high")]
    np.testing.assert_allclose(
        found, [100 * 3.0 * value[0] for value in interval(now)], rtol=0, atol=1e-4
    )
    assert rows_of(page)[1]["profit"] == "" and "profit per 100 choices" in page.inner_text(
        "#market-table thead"
    )
    moved = 100 * (now - before).mean(axis=0)
    sentence = page.inner_text("#market-volume")
    gained, _, lost = sentence.removeprefix("Gained, in points: ").partition(". Lost: ")
    names = ["Product A", "Product B", "none of them"]
    for name, change in zip(names, moved.tolist(), strict=True):
        assert f"{name} {'+' if change > 0 else '−'}{abs(change):.1f}" in (
            gained if change > 0 else lost
        )


def test_without_a_script_the_first_market_is_shown(opened):
    page = opened(classes(True), java_script_enabled=False)
    text = page.inner_text("#market")
    assert (
        "allows scripts" in text
        and "Product A" in text
        and "Add a product" not in text
        and "Demand" not in text
    )


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("labels", [None, ATTACKS, ATTACKS[::-1]])
def test_everybody_can_use_the_simulator(opened, width, scheme, labels):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    names = labels or ["sex", "weight", "w", "m"]
    people = describe_respondents(
        pd.DataFrame({names[0]: np.resize(names[2:], 8), names[1]: np.arange(8.0)}), 8
    )
    page = opened(
        classes(False, labels)._replace(people=people),
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
    )
    page.click("#market-pin")
    page.click("#market-add")
    page.select_option("#market-people", index=1)
    page.select_option("#market-weights", index=1)
    assert [fault["id"] for fault in axe.run(page)["violations"]] == []
    wide = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide[0] <= wide[1]
    page.emulate_media(media="print")
    assert (
        page.locator("#market-add").is_hidden()
        and page.locator("fieldset.product").first.is_visible()
    )
    assert (
        page.locator("#market-whom").is_hidden()
        and page.locator("#market-demand-product").is_hidden()
    )
    assert (
        page.locator("#market-table").is_visible()
        and page.locator("input[id^=market-cost]").first.is_hidden()
    )
    page.locator("input[id^=market-cost]").first.evaluate("(cost) => { cost.value = 3; }")
    assert page.locator("input[id^=market-cost]").first.is_visible()


def test_a_phone_shows_the_picture_of_the_answer_whole(browser):
    page = browser.new_page(viewport={"width": 360, "height": 900})
    page.set_content(render_document(Document("Answer", "", (), None, (), (), "")))
    for width in (320, 480, 760):
        page.evaluate(
            """(width) => {
            document.querySelector("main").innerHTML =
                `<section class="lead"><div class="drawn"><svg width="${width}" height="200"></svg></div></section>`;
        }""",
            width,
        )
        drawn = page.evaluate(
            "(({scrollWidth, clientWidth}) => [scrollWidth,"
            " clientWidth])(document.querySelector('.drawn'))"
        )
        shown = page.locator("svg").bounding_box()["width"]
        assert drawn[0] <= drawn[1] and 300 < shown <= min(width, drawn[1])
    shades = page.locator(".drawn").evaluate(
        "(node) => getComputedStyle(node).backgroundAttachment"
    )
    # of which a wide picture hides none at its cut side
    assert shades.startswith("local, local, scroll, scroll")
    page.close()


def test_folded_tables_are_printed_whole(browser):
    table = pd.DataFrame({"x": np.arange(40.0)})
    section = build_section(Finding("A sentence.", title="Rows", table=table), PYTHON)._replace(
        title="Rows"
    )
    page = browser.new_page()
    page.set_content(
        render_document(Document("Rows", "", (), None, (), (Chapter("Answers", (section,)),), ""))
    )
    seen = "[...document.querySelectorAll('details td')].map((cell) => cell.checkVisibility())"
    assert set(page.evaluate(seen)) == {False}
    page.emulate_media(media="print")
    assert page.evaluate(seen) == [True] * page.locator("details tbody tr").count() != []
    page.close()


# a mailed report of a study whose every word is hostile -------------------------------------------


def of_hostile_people(model):
    """A study with these words for respondents, alternatives, attributes, levels and the columns of
    people, fitted."""
    frame, words = (
        simulate_experiment(n_respondents=12, n_tasks=4, seed=4),
        np.array(HOSTILE, dtype=object),
    )
    own = {
        name: f"{words[k]} {name}"
        for k, name in enumerate(("id", "task", "alt", "brand", "zoom", "price"))
    }
    brands = dict(zip("ABC", words[[1, 5, 8]], strict=True))
    people = {f"p{k}": f"{words[k]} {k}" for k in range(12)}
    frame = frame.assign(
        id=frame["id"].map(people),
        alt=words[frame["alt"].to_numpy() + 9],
        brand=frame["brand"].map(brands),
        zoom=frame["zoom"].map({"no": words[6], "yes": words[15]}),
    ).rename(columns=own)
    person = frame[own["id"]].str.rpartition(" ")[2].astype(int)
    # columns of people
    frame = frame.assign(**{words[2]: person, words[7]: words[[5, 13]][person % 2]})
    named = dict(respondent=own["id"], task=own["task"], alternative=own["alt"], chosen="choice")
    data = th.ChoiceExperiment.from_frame(
        frame, **named, attributes=[own[name] for name in ("brand", "zoom", "price")]
    )
    how = {"random_seed": 1, "progressbar": False}
    if model == "logit":
        return th.MultinomialLogit().fit(data)
    if model == "hierarchical logit":
        about = [words[2], words[7]]
        return th.HierarchicalLogit(by=about).fit(data, draws=40, tune=40, chains=2, thin=1, **how)
    return th.ProductClasses().fit(data, chains=2, draws=35, tune=20, thin=4, **how)


@pytest.mark.parametrize("model", ["logit", "hierarchical logit", "product classes"])
def test_a_mailed_study_of_hostile_words_runs_nothing(browser, tmp_path, model):
    """Whatever its reader touches; the simulator answers, and what it copies holds no formula."""
    report(of_hostile_people(model), file := tmp_path / "report.html")
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sentence, asked = watched(page)
    page.goto(file.as_uri())
    before = page.locator("#market-bars").inner_text()
    rows = rows_of(page)
    choices = page.locator("fieldset.product select").all()
    for place, control in enumerate(choices):
        control.select_option(index=place % control.locator("option").count())
        control.hover()
    for place, word in enumerate((HOSTILE[5], HOSTILE[4])):
        page.locator("input[id^=market-name]").nth(place).fill(word)
        page.locator("input[id^=market-name]").nth(place).blur()
    for control in page.locator("#market-whom select:visible").all():
        for place in reversed(range(control.locator("option").count())):
            control.select_option(index=place)
    page.click("#market-pin")
    page.click("#market-add")
    if model != "logit":
        page.select_option("#market-people", label=f"{HOSTILE[5]} ({HOSTILE[7]}), 6")
    page.locator("#market-demand[aria-busy=false]").wait_for()
    assert page.locator("#market-bars").inner_text() != before and rows_of(page) != rows
    touched = page.evaluate("""() => {
        const all = [...document.querySelectorAll("*")];
        for (const one of all)
            for (const name of ["mouseover", "focus", "load", "error"]) one.dispatchEvent(new Event(name));
        return {
            elements: all.length,
            handlers: all.flatMap((one) => [...one.attributes]).filter((a) => a.name.startsWith("on")).length,
            scripts: [...document.scripts].filter((one) => one.type !== "application/json").length,
            foreign: all.filter((one) => ["IFRAME", "OBJECT", "EMBED", "BASE", "IMG"].includes(one.tagName)).length,
            links: [...document.links].map((one) => one.href).filter((href) => href.startsWith("javascript:")).length,
        };
    }""")
    honest = {"handlers": 0, "scripts": 1, "foreign": 0, "links": 0}
    assert touched.pop("elements") > 100 and touched == honest
    page.click("#market-copy-button")
    page.locator("#market-status", has_text="copied").wait_for(state="attached")
    copied = list(
        csv.reader(
            io.StringIO(page.evaluate("navigator.clipboard.readText()"), newline=""), delimiter="\t"
        )
    )
    formulas = [
        cell
        for row in copied
        for cell in row
        if cell[:1] in set("=+-@\t\r") and not is_number(cell)
    ]
    whose = [row[copied[0].index("respondents")] for row in copied[1:]] if model != "logit" else []
    assert all(cell.startswith(f"'{HOSTILE[5]} (") for cell in whose)
    assert len(copied) > 3 and formulas == [] and f"'{HOSTILE[5]}" in [row[0] for row in copied]
    assert (sentence, asked) == ([], [file.as_uri()]) and page.evaluate("window.ran") is None
    page.pdf(path=tmp_path / "printed.pdf")
    context.close()
    print(f"{model}: {len(HOSTILE)} hostile words, {len(choices)} choices, nothing ran")


def is_number(text):
    """Whether a spreadsheet takes the text for a number."""
    try:
        return bool(float(text) or True)
    except ValueError:
        return False
