"""Reports: of every model, of comparisons and tests; safe, whole, and the same each time."""

import base64
import hashlib
import io
import json
import re
from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.elimination_fits import FakeModel
from helpers.markets import market_of, offered
from helpers.places import PROJECT
from helpers.product_class_fits import experiment
from helpers.product_class_fits import fitted as holding
from helpers.sentences import refused, said, says
from helpers.tiny_models import TINY, fitted
from PIL import Image

import thali as th
from thali._choice.reports.market_simulator import build_opening_market, build_simulator_finding
from thali._surfaces.html_report import (
    Chapter,
    Document,
    _reduce_colours,
    build_section,
    render_document,
)
from thali.errors import PYTHON, ArgumentError, DataError, NotFittedError
from thali.report import report

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline';{} base-uri 'none';"
    " form-action 'none'"
)
MAX_ROWS = 1000  # of a table on a page
ATTACKS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "x" * 5000)


class Page(HTMLParser):
    """The elements of a page, its text, and the names inside it."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.ids, self.links, self.texts, self.policy = [], [], [], [], ""
        self.scripts, self.inside = {"text/javascript": [], "application/json": []}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [
            found[name]
            for name in ("src", "href", "xlink:href", "srcset", "action")
            if name in found
        ]
        assert not [name for name in found if name.startswith("on")]
        self.inside = found.get("type", "text/javascript") if tag == "script" else None
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]

    def handle_data(self, data):
        (self.texts if self.inside is None else self.scripts[self.inside]).append(data)

    def handle_endtag(self, tag):
        self.inside = None


def page_of(what, folder):
    file = folder / "report.html"
    report(what, file)
    return looked_at(file.read_text("utf-8"))


def looked_at(text):
    assert len(text) < 1_000_000 and '"Segoe UI"' in text  # the style as it was written
    page = Page(text)
    ours = page.scripts["text/javascript"]
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in ours
    ]
    assert page.policy == POLICY.format(
        "".join(f" script-src 'sha256-{digest}';" for digest in digests)
    )
    assert page.elements.count("script") == 2 * len(digests)
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert len(set(page.ids)) == len(page.ids)
    # by which a reader who sees no page goes through it
    headings = re.findall(r"<h[23][^>]*>(.*?)</h[23]>", text)
    assert len(set(headings)) == len(headings)
    inside = {link.removeprefix("#") for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    return page, text


_PAGES = {}


def page_once(name, folder):
    """The page of a model, made by the first test that asks for it."""
    if name not in _PAGES:
        _PAGES[name] = page_of(fitted(name), folder)
    return _PAGES[name]


@pytest.mark.first(2)
@pytest.mark.parametrize("name", TINY)
def test_every_model_has_a_report(name, tmp_path):
    model = fitted(name)
    page, _ = page_once(name, tmp_path)
    sentence = " ".join(" ".join(page.texts).split())
    assert model._fitted_to_ in sentence and str(model.convergence()) in sentence
    light = (
        "The chains agree."
        if "chains" in model.convergence().facts
        else "The estimation converged."
    )
    assert (light in sentence) == model.convergence().agrees
    light = model.findings()["convergence"].headline
    assert light in sentence[: sentence.index("Settings and versions")]  # of the list of chapters
    chapters = (
        "answer",
        "results",
        "data",
        "methods",
        "statistical-details",
        "settings-and-versions",
    )
    order = [page.ids.index(name) for name in chapters]
    assert order == sorted(order)
    assert "Methods text" in sentence


@pytest.mark.long
@pytest.mark.rendered
@pytest.mark.parametrize(
    "name",
    [
        name if name == "multinomial-logit" else pytest.param(name, marks=pytest.mark.long)
        for name in TINY
    ],
)
def test_a_report_is_the_same_each_time(name, tmp_path):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        fitted(name).report(page)
    assert pages[0].read_text("utf-8") == pages[1].read_text("utf-8")


@pytest.mark.parametrize(
    "settings", [{"method": "map", "a": 1.0}, {"method": "variational", "random_state": 1}]
)
def test_classifiers_without_draws_have_reports(settings, tmp_path):
    X, y = TINY["plackett-luce"].data()
    page, _ = page_of(th.PlackettLuceRegression(**settings).fit(X, y), tmp_path)
    assert "How sure" not in " ".join(page.texts) and "height" in " ".join(page.texts)


@pytest.mark.long
def test_the_command_repeats_the_fit(tmp_path):
    model = th.EliminationByAspects("unique")
    run = {"draws": 20, "tune": 10, "chains": 2, "random_seed": 7}
    data = th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc"))
    model.fit(data, progressbar=False, **run)
    code = "model.fit(data, draws=20, tune=10, chains=2, random_seed=7)"
    assert code in " ".join(page_of(model, tmp_path)[0].texts)
    assert model._get_run_settings() == run


def test_a_seed_is_shown_as_it_is_typed(tmp_path):
    model = th.EliminationByAspects("unique")
    data = th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc"))
    model.fit(data, draws=20, tune=10, chains=2, random_seed=1234567, progressbar=False)
    texts = page_of(model, tmp_path)[0].texts
    assert "1234567" in texts and "1,234,567" not in " ".join(texts)


@pytest.mark.parametrize("seed", [(), ("--seed", 1234567)])
def test_a_command_in_a_report_gives_the_same_draws(run, tmp_path, seed):
    words = ("fit", "celebrities", "--model", "BTL", "--draws", 20, *seed)
    run(*words, "--report", tmp_path / "page.html")
    (again,) = re.findall(r"--seed (\d+)", (tmp_path / "page.html").read_text("utf-8"))
    assert not seed or again == "1234567"


@pytest.mark.rendered
def test_no_name_becomes_markup(tmp_path):
    data = th.PairedComparisons(
        [[0, 3, 1, 2], [2, 0, 4, 1], [1, 2, 0, 2], [1, 1, 3, 0]], labels=ATTACKS
    )
    model = th.EliminationByAspects("unique").fit(
        data, draws=20, tune=10, chains=2, random_seed=1, progressbar=False
    )
    page, text = page_of(model, tmp_path)
    assert "&lt;script&gt;alert(1)" in text and "{{ 7 * 7 }}" in text
    assert "img" not in page.elements or 'alt="' in text


def test_what_has_no_report_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        th.EliminationByAspects().report(tmp_path / "x.html")
    with refused(ArgumentError, "findings requires"):
        report(pd.DataFrame({"a": [1]}), tmp_path / "x.html")
    with pytest.raises(DataError, match="does not exist"):
        fitted("multinomial-logit").report(tmp_path / "nowhere" / "x.html")
    assert not list(tmp_path.iterdir())


def test_long_tables_are_folded_and_bounded(tmp_path):
    result = th.paired.transitivity(th.datasets.celebrities())
    vars(result)["table"] = pd.DataFrame({"value": range(MAX_ROWS + 5)})
    page, text = page_of(result, tmp_path)
    assert "details" in page.elements and f"first {MAX_ROWS:,} of {MAX_ROWS + 5:,} rows" in text
    others = sum(1 + len(table) for name, table in result.tables().items() if name != "table")
    assert text.count("<tr>") == MAX_ROWS + 1 + others


def test_numbers_are_those_that_people_read(tmp_path):
    result = th.paired.transitivity(th.datasets.celebrities())
    values = [0.12345, 12345.6, 1e-5, float("nan"), 3, True, ("a", "b")]
    vars(result)["table"] = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    _, text = page_of(result, tmp_path)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text.partition("<table")[2].partition("</table>")[0])
    assert [each for each in cells if each not in "0123456" or each == "3"][-7:] == [
        "0.123",
        "12,346",
        "0.000",
        "–",
        "3",
        "yes",
        "a, b",
    ]


def test_every_work_that_is_cited_stands_in_the_bibliography():
    sources = "".join(path.read_text("utf-8") for path in (PROJECT / "src/thali").rglob("*.py"))
    calls = re.findall(r"\bCite\(([^)]*)\)", sources)
    entries = (PROJECT / "src/thali/_surfaces/references.bib").read_text("utf-8")
    cited = {key for call in calls for key in re.findall(r'"(\w+)"', call)}
    assert len(cited) > 20 and cited <= set(re.findall(r"^@\w+{(\w+),", entries, re.MULTILINE))


def test_references_are_those_that_are_cited(tmp_path):
    """Once each, in the order of the alphabet."""
    page, _ = page_once("elimination-by-aspects, maximum likelihood", tmp_path)
    text = " ".join(" ".join(page.texts).split())
    works = ("Bradley, R. A.", "Luce, R. D.", "Tversky, A. (")
    places = [text.index(each) for each in works if text.count(each) == 1]
    assert len(places) > 1 and places == sorted(places) and "Miller, K. T." not in text


@pytest.mark.long
def test_a_report_of_ties_says_by_which_rule_they_were_modelled(tmp_path):
    data = th.PairedComparisons(
        [[0, 4, 3], [2, 0, 5], [3, 1, 0]], ties=[[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    )
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    page, _ = page_of(model, tmp_path)
    says("".join(page.texts), "1970", "Ties were modelled")
    says("".join(page.texts), "On extending the")


def told(aspects=(), likely=0.5):
    """A model that finds these aspects, (members, probability, weight), and that option a is the
    best so likely."""

    class Told(FakeModel):
        def features(self, *given, **how):
            members, probability, weight = zip(*aspects, strict=True)
            found = dict(members=members, probability=probability, weight=weight, converged=True)
            return pd.DataFrame(found).rename_axis("aspect")

        def ranks(self, *given, **how):
            p = [likely, 1 - likely, 0.0, 0.0]
            ranks = {"rank": [1.0, 2.0, 3.0, 4.0], "rank_low": 1.0, "rank_high": 4.0, "p_1": p}
            table = pd.DataFrame(ranks, index=pd.Index(list("abcd"), name="option"))
            table.attrs["interval"] = 0.89
            return table

    counts = np.triu(np.full((4, 4), 3), 1) + np.tril(np.ones((4, 4), int), -1)
    return Told().fit(th.PairedComparisons(counts, labels=list("abcd")), draws=20, chains=2)


def of_aspects(*aspects):
    return str(told(aspects).findings()["features"].sentence)


def test_aspects_of_one_are_not_called_shared():
    assert "0.90" not in of_aspects((("a",), 0.9, 1.0))


def test_an_answer_that_says_little_leaves_the_first_screen_to_the_next(tmp_path):
    for aspects, key in (((("a", "b"), 0.9, 1.0),), "features"), (((("a",), 0.9, 1.0),), "ranks"):
        model = told(aspects, likely=0.96)
        _, text = page_of(model, tmp_path)
        answer = text[text.index('id="answer"') : text.index('id="results"')]
        assert str(model.findings()[key].sentence) in unescape(answer)


def test_aspects_that_are_hardly_there_are_not_named():
    sentence = of_aspects((("a", "b"), 0.9, 1.2345), (("a", "b", "c"), 0.19, 2.0))
    assert (
        "a and b (probability 0.90" in sentence and "1.23" in sentence and "c" not in sentence[30:]
    )
    says(of_aspects((("a", "b"), 0.999, 123.4)), "> 0.99", "123")


def test_aspects_that_are_rather_there_and_not_named_are_counted():
    members = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("a", "b", "c"), ("b", "d")]
    aspects = list(zip(members, (1.0, 1.0, 0.99, 0.98, 0.5, 0.4), [1.0] * 6, strict=True))
    says(of_aspects(*aspects), "0.99", "2 others")
    assert "others" not in of_aspects(*aspects[:3])


def of_one(section):
    """A report of nothing but that section."""
    return Document("Simulator", "", (), None, (), (Chapter("Answers", (section,)),), "")


def first_market(draws):
    """The finding of the market of the first task."""
    return build_simulator_finding(draws, build_opening_market(draws))


def simulator_of(model):
    """The page of the simulator alone, and what its script reads."""
    page, text = looked_at(
        render_document(of_one(build_section(first_market(market_of(model)), PYTHON)))
    )
    (data,) = page.scripts["application/json"]
    assert not set("<>&") & set(data)
    return page, text, json.loads(data)


@pytest.mark.first(1)
@pytest.mark.parametrize("none", [False, True])
def test_the_simulator_begins_with_the_shares_of_the_first_task(none):
    model = holding(experiment(none=none), alpha=3.0, draws=20)
    page, text, found = simulator_of(model)
    market = market_of(model)
    assert [levels for _, levels in found["products"]] == [
        list(product) for product in market.first_task
    ]
    assert "noscript" in page.elements and found["offers_none"] == none
    assert found["lapse"] == 0.02 and (found["none"] is not None) == none
    shares = market.shares([[*market.first_task, *([market.none] if none else [])]])[0].mean(axis=0)
    shown = re.findall(r'<th scope="row" class="text">(.*?)</th><td>([\d.]+)</td>', text)
    names = ["Product A", "Product B", "Product C", "Product D"][: len(market.first_task)]
    assert [name for name, _ in shown] == [*names, *(["none of them"] if none else [])]
    np.testing.assert_allclose(
        [float(share) for _, share in shown], 100 * shares, rtol=0, atol=0.0501
    )
    assert text == simulator_of(model)[1]


def test_the_simulator_begins_with_the_market_that_was_asked_for(tmp_path):
    model = holding(experiment(none=True), alpha=3.0, draws=20)
    levels = experiment(none=True).scheme.levels
    chosen = {name: [own[0], own[-1]] for name, own in levels.items() if name != "inside"}
    market = pd.DataFrame(chosen | {"product": ["Ours <1>", "Theirs"]})
    draws = market_of(model)
    found = offered(model, market)
    ends = [
        (1, *(last * (len(own) - 1) for name, own in levels.items() if name != "inside"))
        for last in (0, 1)
    ]
    assert found.products == dict(zip(market["product"], ends, strict=True)) and found.none is None
    with_none = pd.DataFrame(
        {name: [*own, own[0]] for name, own in chosen.items()} | {"alt": ["x", "y", "none"]}
    )
    found = offered(model, with_none)
    assert list(found.products) == ["x", "y"] and found.none == "none"
    both = pd.concat(
        [market.assign(scenario="now"), market.assign(scenario="then")], ignore_index=True
    )
    section = build_section(build_simulator_finding(draws, offered(model, both), 0.95), PYTHON)
    assert "scenario now" in section.sentences[0] and section.simulator.interval == "95 % interval"
    _, text = looked_at(render_document(of_one(section)))
    assert "Ours &lt;1&gt;" in text and json.loads(section.simulator.data)["offers_none"] is False
    low, high = np.quantile(draws.shares([ends])[0][:, 0], [0.025, 0.975])
    assert (section.simulator.shares[0].low, section.simulator.shares[0].high) == (
        f"{100 * low:.1f}",
        f"{100 * high:.1f}",
    )


def test_no_level_becomes_markup_in_the_simulator():
    frame = experiment().to_frame()
    levels = dict(zip(frame["brand"].cat.categories, ATTACKS, strict=False))
    frame["brand"] = [levels[level] for level in frame["brand"]]
    data = th.ChoiceExperiment.from_frame(frame.rename(columns={"zoom": ATTACKS[0]}))
    _, _, found = simulator_of(holding(data, {}))
    attributes = {attribute["name"]: attribute["levels"] for attribute in found["attributes"]}
    assert sorted(attributes["brand"]) == sorted(ATTACKS[:3]) and ATTACKS[0] in attributes


def of_people(**columns):
    """A model of people who have these columns, a cell each."""
    frame = experiment(people=16).to_frame()
    person = frame["id"].astype(str).str[1:].astype(int)
    frame = frame.assign(**{name: [cells[k] for k in person] for name, cells in columns.items()})
    return holding(
        type(experiment()).from_frame(frame, attributes=["price", "brand", "zoom", "battery"]), {}
    )


def test_the_simulator_has_the_columns_of_people_that_tell_them_apart():
    people = {
        "sex": ["w", "m"] * 8,
        ATTACKS[0]: [ATTACKS[1], "__proto__"] * 8,
        "weight": list(range(16)),
    }
    page, text, found = simulator_of(
        of_people(**people, town=[f"town {n}" for n in range(16)], wave=["1"] * 16)
    )
    assert [column["name"] for column in found["people"]["columns"]] == ["sex", ATTACKS[0]]
    assert found["people"]["columns"][1]["values"] == sorted([ATTACKS[1], "__proto__"])
    assert [weight["name"] for weight in found["people"]["weights"]] == ["weight"]
    says(" ".join(page.texts), "'town'", "12 different")
    assert "market-people" in page.ids and len(found["people"]["columns"][0]["codes"]["data"]) < 30
    page, _, found = simulator_of(of_people(wave=["1"] * 16))
    assert found["people"] is None and "cannot be filtered" not in " ".join(page.texts)


def test_the_list_of_chapters_names_the_simulator():
    section = build_section(first_market(market_of(of_people(sex=["w", "m"] * 8))), PYTHON)
    page, _ = looked_at(render_document(of_one(section._replace(title="Market simulator"))))
    assert (
        page.links[-2:] == ["#answers", "#answers-0"]
        and "#answers-0" not in looked_at(render_document(of_one(section)))[0].links
    )


def test_only_models_of_choice_experiments_have_a_simulator():
    assert (
        market_of(th.AdditiveClustering()) is None and market_of(th.EliminationByAspects()) is None
    )


class Ratings(NamedTuple):
    """A rating of each option."""

    rating: np.ndarray
    labels: list


def log_likelihood(data, features, weights):
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


def test_the_kind_of_data_decides_about_the_check(uncompiled):
    run = {"draws": 6, "tune": 4, "chains": 2, "random_seed": 1, "progressbar": False}
    prior, data = th.priors.FiniteFeatures(1), Ratings(np.array([0.5, 1.0, 2.0]), ["a", "b", "c"])
    own = th.LatentFeatureModel(prior, th.likelihoods.Custom(log_likelihood)).fit(data, **run)
    assert "user-defined likelihood" in str(own.findings()["check"].sentence)
    assert "observed proportion" in fitted("latent-feature-model").findings()["check"].sentence
    (similar,) = TINY["additive-clustering"].data()
    given = [[1], [1], [0], [0]]
    model = th.LatentFeatureModel(
        th.priors.Given(given), th.likelihoods.Additive(0.1), weight_prior=(1.0, 2.0)
    )
    model.fit(similar, **run)
    explained = float(re.search(r"-?[\d.]+(?= %)", str(model.findings()["check"].sentence))[0])
    same = th.AdditiveClustering(given, sigma=0.1, weight_prior=(1.0, 2.0)).fit(similar, **run)
    assert explained == pytest.approx(
        100 * same.estimate("expectation").variance_accounted_for(), abs=0.06
    )


def test_pictures_of_many_points_keep_their_colours():
    rng, colours = (
        np.random.default_rng(1),
        np.array([[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167]]),
    )
    pixels = np.full((400, 800, 3), 255, np.uint8)
    pixels[rng.integers(400, size=40_000), rng.integers(800, size=40_000)] = colours[
        rng.integers(4, size=40_000)
    ]
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="png")
    small = _reduce_colours(content.getvalue())
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(small)).convert("RGB")), pixels)
    assert len(small) < len(content.getvalue())


# directions ---------------------------------------------------------------------------------------


def of_effects(table):
    """What is said of a model whose levels have these effects."""

    class Told(th.ProductClasses):
        def level_effects(self, *given, **how):
            return table.assign(std_error=0.01)

    return str(holding(model=Told({"price": "decreasing"})).findings()["level_effects"].sentence)


def test_a_preference_is_named_where_its_interval_leaves_indifference():
    names = ["attribute", "level", "over", "effect", "low", "high", "at_bound"]
    rows = [
        ("price", "1", "2", 0.95, 0.6, 1.0, True),
        ("brand", "A", "B", 0.9, 0.45, 0.99, False),
        ("brand", "A", "C", 0.2, 0.1, 0.3, False),
        ("zoom", "yes", "no", 0.7, 0.6, 0.8, False),
    ]
    table = pd.DataFrame(rows, columns=names)
    table.attrs |= {"interval": 0.89, "whose": "of 9 respondents"}
    wanted = "Strongest preference of 9 respondents: all else being equal, a respondent prefers brand C over A with probability 0.80 (89 % interval 0.70 to 0.90)."
    assert of_effects(table) == wanted
    rest = table.iloc[:2]
    said(of_effects(rest), "89 %", ".5")


def test_an_option_is_the_best_where_that_is_probable():
    def sentence(likely):
        return str(told(((("a", "b"), 0.9, 1.0),), likely).findings()["ranks"].sentence)

    said(sentence(0.96), "a", "0.96")
    said(sentence(0.9), "0.90", "0.10", "most preferred option is uncertain")
