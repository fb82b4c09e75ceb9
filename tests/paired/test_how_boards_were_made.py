"""What a report says of a leaderboard besides its answers: data, methods, settings, references, how to repeat it."""

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.model.finding import DATA, METHODS, PAGE, STATISTICS, TEXT
from thali.paired.made import as_python, settings_of
from thali.report import report

pytestmark = pytest.mark.fit


def battles(rows=240):
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 4, (2, rows))
    second = np.where(first == second, (first + 1) % 4, second)
    winner = np.array(["model_a", "model_b", "tie"])[rng.integers(0, 3, rows)]
    frame = pd.DataFrame({"model_a": np.array(list("ABCD"))[first], "model_b": np.array(list("ABCD"))[second]})
    frame = frame.assign(winner=winner, judge=[f"j{k}" for k in rng.integers(0, 60, rows)])
    date = pd.Timestamp("2025-03-01") + pd.to_timedelta(np.arange(rows) // 4, "D")
    return frame.assign(length=rng.normal(size=rows), language=rng.choice(["de", "en"], rows), day=date.astype(str))


DATED = {"date": "day", "period": "month"}
PLAIN = [
    "Bradley & Terry (1952)",
    "Gamma(1, 1) prior on the worth",
    "rule of Davidson (1970)",
    "Laplace's approximation",
]
HOW = {
    "usual": ({}, [*PLAIN, "covariance H⁻¹VH⁻¹", "people (design effect", "central 89 % intervals"]),
    "independent": ({"people": "independent"}, ["taken for independent of each other"]),
    "estimate": ({"method": "maximum-likelihood"}, ["by maximum likelihood; standard errors are over people (Liang"]),
    "half": ({"ties": "half"}, ["A tie counted as half a win of either option."]),
    "drop": ({"ties": "drop"}, ["Ties were left out."]),
    "covariates": ({"covariates": "length"}, ["length added to the log odds of a choice", "Normal(0, 1)"]),
    "judges": ({"judges": True}, ["log d Normal(0, tau²) and a HalfNormal(0.5) prior on tau"]),
    "known judges": ({"judges": True, "judge_sd": 0.3}, ["and tau = 0.3."]),
    "periods": ({**DATED, "drift": 0.1}, ["one period (month) to the next as Normal(0, s²), with s = 0.1."]),
    "since": ({**DATED, "since": "2025-03-05"}, ["Only comparisons since 2025-03-05 counted."]),
    "parts": ({"by": "language", "pool": True}, ["boards of parts were common ones times Gamma"]),
    "lapse": ({"lapse": 0.02}, ["at random was fixed at 0.02"]),
}


def made(**how):
    columns = {"judge": "respondent"} if "date" not in how else {}
    return th.leaderboard(battles(), progressbar=False, **{new: old for old, new in columns.items()}, **how)


@pytest.mark.parametrize(("how", "said"), HOW.values(), ids=HOW.keys())
def test_a_paper_would_say_what_was_done(how, said):
    board = made(**how)
    paragraph = " ".join(th.findings(board)["methods"].sentences())
    assert all(each in paragraph for each in said)
    others = [each for name, (_, alone) in HOW.items() if name != "usual" for each in alone if each not in said]
    own = {"half", "drop", "judges", "known judges", "periods", "since", "parts", "lapse", "independent"}
    assert not [each for name in own for each in HOW[name][1] if each in others and each in paragraph]


@pytest.mark.parametrize("name", ["usual", "covariates", "periods", "parts", "lapse"])
def test_the_python_of_a_report_makes_the_same_board(name):
    board = made(**HOW[name][0])
    code = as_python(board)
    names = {"data": battles()}
    exec(code, names)
    pd.testing.assert_frame_equal(names["board"].table, board.table)


def test_settings_are_those_that_were_chosen():
    board = made(by="language", anchor_model={"A": 1100}, judges=True, random_seed=7)
    assert settings_of(board) == (
        *(("Ties", "davidson"), ("Method", "laplace"), ("Random seed", "7"), ("Judges", "yes")),
        *(("Anchor model", "A = 1100"), ("Respondent", "judge"), ("By", "language")),
    )
    assert settings_of(board.boards["de"]) == () and as_python(board.boards["de"]) == ""


def test_the_report_has_its_chapters_and_references(tmp_path):
    pytest.importorskip("matplotlib")
    battles().to_csv(tmp_path / "arena.csv", index=False)
    board = th.leaderboard(tmp_path / "arena.csv", respondent="judge", progressbar=False)
    report(board, tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text("utf-8")
    for title in ("Answers", "The data", "Methods", "For the statistician", "Settings and versions", "References"):
        assert f">{title}</h2>" in page
    assert "Leaderboard of 4 options, 6 pairs, 240 comparisons" in page and "arena.csv" in page
    assert "Davidson, R. R. (1970)" in page and "th.leaderboard(data, respondent=" in page
    assert "Intervals hold for new samples of people." in page
    th.load(_saved(board, tmp_path)).save(tmp_path / "again.nc")
    report(th.load(tmp_path / "again.nc"), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "board.html").read_bytes()


def _saved(board, folder):
    board.save(folder / "board.nc")
    return folder / "board.nc"


def test_files_that_were_added_are_named_too(tmp_path):
    for name in ("may.csv", "june.csv"):
        battles().to_csv(tmp_path / name, index=False)
    board = th.leaderboard(tmp_path / "may.csv", progressbar=False).update(tmp_path / "june.csv", progressbar=False)
    assert th.findings(board)["data"].table.loc["Files", "value"] == "may.csv and june.csv"


def test_rankings_cite_plackett_and_parts_know_only_their_data():
    rankings = th.Choices.from_rankings([["A", "B", "C"]] * 9 + [["B", "C", "A"]] * 5)
    paragraph = " ".join(th.findings(th.leaderboard(rankings, progressbar=False))["methods"].sentences())
    assert "such choices, one after another (Plackett, 1975)" in paragraph and "Davidson" not in paragraph
    found = th.findings(made(by="language").boards["de"])
    assert "methods" not in found and found["data"].sentence.startswith("The leaderboard is of 4 options")


def test_what_is_known_of_the_making_is_on_the_page_alone():
    found = th.findings(made())
    assert {each.key: each.chapter for each in found.of(PAGE)}.items() >= {
        "data": DATA,
        "methods": METHODS,
        "independence": STATISTICS,
    }.items()
    assert not {each.key for each in found.of(TEXT)} & {"data", "methods", "independence"}
    assert found["votes"].verdict is False and found["votes"].headline == "The first three are not told apart yet."
