"""Every number that `thali fit` prints stands in the report that it writes, and in the files of
--out."""

import html
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
from helpers.combinations import FITTED
from helpers.experiment_data import simulate_experiment
from helpers.sentences import said, says

from thali._model.model_spec import REPORT

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

RUN = ["--draws", 12, "--tune", 8, "--thin", 1, "--chains", 2, "--seed", 7]
STUDY = [
    "--ci",
    0.97,
    *"--market market.csv --price money --availability Theirs=0.9 --holdouts".split(),
    "task == 4",
]
TODAY = [*STUDY, "--market", "one.csv", "--rule", "logit", "--scale", 0.9, "--actual", "actual.csv"]
# by the name of the spec, with what is special behind a comma; other settings than the defaults
CASES = {
    "bradley-terry-luce": [
        *"people.csv --model BTL --draws 20 --seed 7 --ci 0.8 --anchor tea".split()
    ],
    "bradley-terry-luce, people": [
        *(
            "people.csv",
            "--model",
            "BTL",
            *RUN,
            *"--people individuals --segments 2 --of respondents --anchor tea".split(),
        )
    ],
    "elimination-by-aspects": ["pairs.csv", *RUN, "--similar", 0.4],
    "elimination-by-aspects, maximum likelihood": [
        *"pairs.csv --method maximum-likelihood --ci".split(),
        0.97,
    ],
    "additive-clustering": [
        "similar.csv",
        *RUN,
        *"--similar 0.4 --estimate conditional-map --ci 0.8".split(),
    ],
    "nonnegative-dimensions": ["similar.csv", *RUN, "--model", "dimensions", "--ci", 0.8],
    "product-classes": [
        *(
            "study.csv",
            *STUDY,
            *"--chains 2 --draws 10 --tune 10 --seed 7 --similar 0.9 --segments 2 --of".split(),
            *"respondents".split(),
        )
    ],
    "multinomial-logit": ["study.csv", *STUDY],
    "multinomial-logit, shares of today": ["study.csv", *TODAY],
    "hierarchical-logit": [*("study.csv", *TODAY, *RUN, "--segments", "2", "--of", "respondents")],
    "latent-class-logit": [
        *(
            "study.csv",
            *TODAY,
            *"--classes 3 --starts 2 --seed 7 --segments 2 --of respondents".split(),
        )
    ],
    "plackett-luce": ["rows.csv", "--target", "y", *RUN, "--ci", 0.8],
    "sparse-logit": ["rows.csv", "--target", "y", *RUN, "--ci", 0.8],
}
NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*)?\.\d+(?:e[+-]\d+)?|(?<![\w.])-?\d[\d,]{5,}")
DIGITS = 3  # of a number in a report, or more


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = simulate_experiment(n_respondents=6, n_tasks=4, seed=4).rename(
        columns={"price": "money"}
    )
    study.to_csv("study.csv", index=False)
    market = dict(
        product=["Ours", "Theirs"], money=[15.0, 5.0], brand=["A", "C"], zoom=["yes", "no"]
    )
    both = [pd.DataFrame(market).assign(scenario=name) for name in ("now", "then")]
    pd.concat(both).to_csv("market.csv", index=False)
    pd.DataFrame(market).to_csv("one.csv", index=False)
    pd.DataFrame({"product": market["product"], "share": [0.7, 0.3]}).to_csv(
        "actual.csv", index=False
    )
    pd.DataFrame([[0, 3, 1], [2, 0, 4], [1, 2, 0]], list("abc"), list("abc")).to_csv("pairs.csv")
    pairs = [
        (f"p{n}", *pair, pair[(n + k) % 2])
        for n in range(4)
        for k, pair in enumerate(("ab", "ac", "bc", "ad"))
    ]
    people = pd.DataFrame(pairs, columns=["respondent", "first", "second", "chosen"])
    people.replace({"a": "tea", "b": "milk", "c": "beer", "d": "wine"}).to_csv(
        "people.csv", index=False
    )
    values = np.random.default_rng(3).random((4, 4))
    pd.DataFrame((values + values.T) / 2, list("abcd"), list("abcd")).to_csv("similar.csv")
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(rng.normal(size=(20, 2)), columns=["height", "weight"])
    rows.assign(y=np.where(rows["height"] + rng.logistic(size=20) > 0, "yes", "no")).to_csv(
        "rows.csv", index=False
    )
    return tmp_path


def numbers(text):
    """The numbers of a text that have a decimal point, or are large, each with its decimals."""
    found = []
    for match in NUMBER.findall(text.replace("−", "-")):
        mantissa, _, power = match.replace(",", "").partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(power or 0)
        found.append((match, float(match.replace(",", "")), decimals))
    return found


def missing(text, where):
    """The numbers of a text that do not stand elsewhere, with all their digits, or the three of a
    page."""
    there, values = numbers(where), []
    for shown, value, decimals in numbers(text):
        wanted = min(decimals, max(0, DIGITS - len(str(int(abs(value)))) + (abs(value) < 1)))
        near = (
            found
            for _, found, places in there
            if places >= wanted and abs(found - value) < 0.6 * 10.0**-wanted
        )
        if next(near, None) is None:
            values.append(shown)
    return sorted(set(values))


def words_of(page):
    """What a reader sees of a page, but for its pictures."""
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


@pytest.mark.first(1)
@pytest.mark.parametrize("name", CASES)
def test_what_is_printed_is_mailed(name, run, folder):
    data, *words = CASES[name]
    result = run(
        "fit",
        data,
        "--model",
        name.partition(",")[0],
        *words,
        *"--out out --report mail.html".split(),
    )
    again = run("report", "out", "-o", "again.html")
    if result.code or again.code or "could not be drawn" in result.err:
        pytest.fail(result.err + again.err)
    mailed = (folder / "mail.html").read_text("utf-8")
    if mailed != (folder / "again.html").read_text("utf-8"):
        pytest.fail("thali report DIR has other settings than the fit")
    assert not missing(result.out, words_of(mailed))


@pytest.mark.long
def test_a_report_is_called_what_its_author_says(run, refused, folder):
    cover = ("--title", "Who <b>wins</b>?", "--author", "Ann & Bob", "--question", "Which is best?")
    run(*"fit celebrities --method maximum-likelihood --out out --report mail.html".split(), *cover)
    mailed = (folder / "mail.html").read_text("utf-8")
    assert "<h1>Who &lt;b&gt;wins&lt;/b&gt;?</h1>" in mailed and "<title>Who &lt;b&gt;" in mailed
    assert "Ann &amp; Bob" in mailed and '<p class="question">Which is best?</p>' in mailed
    says(mailed, "--title", "Who &lt;b&gt;wins")  # which repeats the fit
    assert run("report", "out", "-o", "again.html").code == 0
    assert (folder / "again.html").read_text("utf-8") == mailed
    assert run("report", "out", "-o", "again.html", "--title", "Fame").code == 0
    again = (folder / "again.html").read_text("utf-8")
    assert "<h1>Fame</h1>" in again and "Ann &amp; Bob" in again
    said(
        refused("fit", "celebrities", "--method", "maximum-likelihood", "--author", "Ann"),
        "--author",
        "--report",
    )


def test_a_report_begins_with_its_data_and_the_day(run, folder):
    """It asks its question once, and folds each table under its picture."""
    run(*"fit celebrities --method maximum-likelihood --out out --report mail.html".split())
    mailed = (folder / "mail.html").read_text("utf-8")
    head = re.findall(r"<h1>(.*?)</h1>|<p class=.fact.>(.*?)</p>", mailed.partition("<main>")[0])
    assert [fact for _, fact in head[1:3]] == ["celebrities", str(date.today())]
    titles = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", mailed)
    assert len(titles) == len(set(titles)) and 'class="question"' not in mailed
    pictured = mailed.count("<figure>")
    assert pictured and len(re.findall(r"</figure>\s*<details>", mailed)) + 1 >= pictured


@pytest.mark.long
def test_a_fit_that_goes_on_mails_the_same(run, folder):
    data, *words = CASES["hierarchical-logit"]
    first = run(
        "fit",
        data,
        "--model",
        "hierarchical-logit",
        *words,
        *"--out out --report mail.html".split(),
    )
    mailed = (folder / "mail.html").read_bytes()
    (folder / "mail.html").unlink()
    assert run("resume", "out").out == first.out
    assert (folder / "mail.html").read_bytes() == mailed


def test_every_setting_of_every_answer_is_tried():
    for spec in FITTED:
        typed = {
            word
            for name, words in CASES.items()
            if name.partition(",")[0] == spec.name
            for word in words
        }
        asked = [option for option in spec.options if option.to == REPORT]
        assert {f"--{option.word}" for option in asked} <= typed


def test_a_number_that_the_report_lacks_is_found():
    assert (
        missing("0.360 of 1.5 and -2.25", "0.3604, 1.52 and -2.25, 2.25")
        == []
        == missing("12.708", "12.7")
    )
    assert missing("0.360 of 1.5 and -2.25", "0.361, 2 and 2.25") == ["-2.25", "0.360", "1.5"]
    assert words_of("<svg><text>0.36</text></svg><p>a &lt; .5</p><script>0.1</script>").split() == [
        "a",
        "<",
        ".5",
    ]
