"""What a report says of a leaderboard besides its answers: data, methods, settings, references, how
to repeat it."""

import html
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import worth_chains
from helpers.option_words import TYPED
from helpers.sentences import refused, said

import thali as th
from thali.errors import PYTHON, DataError
from thali.report import report

pytestmark = [pytest.mark.fit, pytest.mark.usefixtures("few_draws")]


def battles(rows=240):
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 4, (2, rows))
    second = np.where(first == second, (first + 1) % 4, second)
    winner = np.array(["model_a", "model_b", "tie"])[rng.integers(0, 3, rows)]
    frame = pd.DataFrame(
        {"model_a": np.array(list("ABCD"))[first], "model_b": np.array(list("ABCD"))[second]}
    )
    frame = frame.assign(winner=winner, judge=[f"j{k}" for k in rng.integers(0, 60, rows)])
    date = pd.Timestamp("2025-03-01") + pd.to_timedelta(np.arange(rows) // 4, "D")
    return frame.assign(
        length=rng.normal(size=rows), language=rng.choice(["de", "en"], rows), day=date.astype(str)
    )


DATED = {"date": "day", "period": "month"}
PLAIN = [
    "Bradley & Terry (1952)",
    "Normal(0, u²) priors, with log u ~ Normal(log 1.3, 1)",
    "rule of Davidson (1970)",
    "Laplace approximation",
]
HOW = {
    "usual": (
        {},
        [*PLAIN, "covariance H⁻¹VH⁻¹", "respondents (design effect", "central 89 % intervals"],
    ),
    "independent": ({"people": "independent"}, ["treated as independent"]),
    "estimate": (
        {"method": "maximum-likelihood"},
        ["by maximum likelihood; standard errors are clustered by respondent (Bell"],
    ),
    "half": ({"ties": "half"}, ["Each tie counted as half a win for each option."]),
    "drop": ({"ties": "drop"}, ["Ties were excluded."]),
    "covariates": (
        {"covariates": "length"},
        ["log odds of a choice were linear in each covariate (length)", "Normal(0, 1)"],
    ),
    "judges": (
        {"judges": True},
        ["log d ~ Normal(0, tau²) and a mean of 0 over judges, and a HalfNormal(0.5) prior on tau"],
    ),
    "known judges": ({"judges": True, "judge_sd": 0.3}, ["and tau = 0.3."]),
    "periods": (
        {**DATED, "drift": 0.1},
        ["successive periods (month) were Normal(0, s²), with s = 0.1."],
    ),
    "since": ({**DATED, "since": "2025-03-05"}, ["Only comparisons since 2025-03-05 were used."]),
    "parts": (
        {"by": "language", "pool": True},
        ["in each part varied around the common ones as Normal(0, s²)"],
    ),
    "spread": ({"spread": 2.0}, ["priors, with u = 2."]),
    "lapse": ({"lapse": 0.02}, ["random choice was fixed at 0.02"]),
}


def made(**how):
    columns = {"judge": "respondent"} if "date" not in how else {}
    return th.leaderboard(
        battles(), progressbar=False, **{new: old for old, new in columns.items()}, **how
    )


@pytest.mark.first(1, "covariates")
@pytest.mark.parametrize(("how", "sentence"), HOW.values(), ids=HOW.keys())
def test_a_paper_would_say_what_was_done(how, sentence):
    board = made(**how)
    paragraph = " ".join(th.findings(board)["methods"].format_sentences())
    assert all(each in paragraph for each in sentence)
    others = [
        each
        for name, (_, alone) in HOW.items()
        if name != "usual"
        for each in alone
        if each not in sentence
    ]
    own = {
        "half",
        "drop",
        "judges",
        "known judges",
        "periods",
        "since",
        "parts",
        "lapse",
        "independent",
    }
    assert not [
        each for name in own for each in HOW[name][1] if each in others and each in paragraph
    ]


def page_of(board, folder):
    """The page of a report."""
    report(board, folder / "board.html")
    return (folder / "board.html").read_text("utf-8")


def code_on(page):
    """The Python that a page ends with."""
    return html.unescape(re.search(r"<pre[^>]*>(import thali.*?)</pre>", page, re.DOTALL)[1])


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize("name", ["usual", "covariates", "periods", "parts", "lapse"])
def test_the_python_of_a_report_makes_the_same_board(name, tmp_path):
    board = made(**HOW[name][0])
    names = {"data": battles()}
    exec(code_on(page_of(board, tmp_path)), names)
    pd.testing.assert_frame_equal(names["board"].table, board.table)


@pytest.mark.long
def test_the_report_has_its_chapters_and_references(tmp_path):
    pytest.importorskip("matplotlib")
    battles().to_csv(tmp_path / "arena.csv", index=False)
    board = th.leaderboard(tmp_path / "arena.csv", respondent="judge", progressbar=False)
    page = page_of(board, tmp_path)
    for title in (
        "Results",
        "Data",
        "Methods",
        "Statistical details",
        "Settings and versions",
        "References",
    ):
        assert f">{title}</h2>" in page
    assert (
        "pairs, 240 comparisons" in page
        and "4 options" in page
        and "6 pairs" in page
        and "arena.csv" in page
    )
    assert "Davidson, R. R. (1970)" in page and "th.leaderboard(data, respondent=" in page
    assert "so they describe the population sampled" in page
    th.load(_saved(board, tmp_path)).save(tmp_path / "again.nc")
    report(th.load(tmp_path / "again.nc"), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "board.html").read_bytes()


def _saved(board, folder):
    board.save(folder / "board.nc")
    return folder / "board.nc"


@pytest.mark.long
def test_files_that_were_added_are_named_too(tmp_path):
    for name in ("may.csv", "june.csv"):
        battles().to_csv(tmp_path / name, index=False)
    board = th.leaderboard(tmp_path / "may.csv", progressbar=False).update(
        tmp_path / "june.csv", progressbar=False
    )
    said(th.findings(board)["data"].table.loc["Files", "value"], "may.csv", "june.csv")


def test_rankings_cite_plackett_and_parts_know_only_their_data():
    rankings = th.Choices.from_rankings([["A", "B", "C"]] * 9 + [["B", "C", "A"]] * 5)
    paragraph = " ".join(
        th.findings(th.leaderboard(rankings, progressbar=False))["methods"].format_sentences()
    )
    assert "Davidson" not in paragraph
    assert "1975" in paragraph
    found = th.findings(made(by="language").boards["de"])
    assert "methods" not in found
    said(found["data"].sentence, "4 options")


def test_what_is_known_of_the_making_is_on_the_page_alone(tmp_path):
    board = made()
    found = th.findings(board)
    page = page_of(board, tmp_path).replace("\n", " ")
    chapters = dict(each.split('"', 1) for each in page.split('<section class="chapter" id="')[1:])
    for chapter, sentence in (
        ("data", "Leaderboard of 4 options, 6 pairs, 240 comparisons ("),
        ("methods", "Bradley &amp; Terry (1952)"),
        ("statistical-details", "Repeated answers from the same respondents"),
    ):
        assert [name for name, text in chapters.items() if sentence in text] == [chapter]
        assert html.unescape(sentence) not in str(board)
    assert found["votes"].good is False
    said(found["votes"].headline, "top three", "not separated")


# Chains -------------------------------------------------------------------------------------------


@pytest.fixture
def differing(monkeypatch):
    return worth_chains.differing(monkeypatch)


def convergence_of(differing, place):
    """The convergence check of chains of a board with judges that differ in one quantity, or in
    none."""
    with differing(place):
        return made(judges=True, method="mcmc").convergence()


@pytest.mark.long
def test_chains_that_differ_are_told_wherever_a_board_is_read(tmp_path, differing):
    board = made(by="language")
    assert "convergence" not in th.findings(board)
    with refused(DataError, "method='mcmc'"):
        board.convergence()
    convergence = convergence_of(differing, -1)
    r_hat = f"{convergence.facts['r_hat']:.3f}"
    board = replace(board, of_chains=convergence)
    found = th.findings(board)["convergence"]
    assert found.good is False and not board.convergence().agrees
    said(found.headline, "do not agree")
    for spelled, method in ((PYTHON, "method='laplace'"), (TYPED, "--method laplace")):
        said(found.sentence.render(spelled), f"R-hat of judge_sd is {r_hat}", method)
    assert f"largest: {r_hat}" in " ".join(th.findings(board)["methods"].format_sentences())
    page = page_of(board, tmp_path)
    assert page.count("do not agree yet.") == 1 and f"R-hat of judge_sd is {r_hat}" in page
    assert str(th.load(_saved(board, tmp_path)).convergence()) == str(board.convergence())


def test_chains_of_a_part_that_differ_are_told(differing):
    board = made(by="language")
    good = convergence_of(differing, None)
    parts = {name: replace(part, of_chains=good) for name, part in board.boards.items()}
    board = replace(board, of_chains=good, boards=parts)
    assert (
        th.findings(board)["convergence"].good is True
        and not th.findings(board)["convergence"].notes
    )
    parts["de"] = replace(parts["de"], of_chains=convergence_of(differing, -1))
    found = th.findings(replace(board, boards=parts))["convergence"]
    assert found.good is False
    said(found.notes[0], "for 'de'")


NAMED = {  # by their place in what is reported
    "judges": (
        {"judges": True, "judge_bias": True, "covariates": "length"},
        {0: "log_worth[D]", 3: "log_worth[C]", 4: "tie", 6: "tie[k]", 7: "covariate[length]"}
        | {-7: "discrimination[j]", -4: "bias[length, k]", -3: "spread", -2: "judge_sd"}
        | {-1: "bias_sd"},
    ),
    "periods": (
        {"date": "day", "period": "month"},
        {0: "log_worth[D, 2025-03]", 1: "log_worth[A, 2025-03]"}
        | {-5: "log_worth[B, 2025-04]", -4: "log_worth[C, 2025-04]", -3: "tie"}
        | {-2: "spread", -1: "drift"},
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("how", NAMED)
def test_each_quantity_of_chains_has_its_name(how, differing):
    """Of chains that differ in one quantity alone, that one is named, whichever it is."""
    settings, names = NAMED[how]
    frame = battles().assign(judge=["j", "k"] * 120)
    for place, name in names.items():
        with differing(place):
            board = th.leaderboard(frame, **settings, method="mcmc", progressbar=False)
        assert board.convergence().facts["r_hat_of"] == name


def pooled_part(method):
    """The board of one of two languages, which are pooled."""
    return th.leaderboard(
        battles(), by="language", pool=True, method=method, progressbar=False
    ).boards["de"]


@pytest.mark.parametrize(
    ("place", "name"), [(-1, "part_sd"), (-2, "spread"), (-3, "common_log_worth[C]")]
)
def test_pooled_boards_by_chains_say_what_does_not_agree(place, name, differing):
    with differing(place):
        assert pooled_part("mcmc").convergence().facts["r_hat_of"] == name
