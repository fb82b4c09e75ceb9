"""What a report says of a leaderboard besides its answers: data, methods, settings, references, how to repeat it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.option_words import TYPED
from helpers.sentences import refused, said

import thali as th
import thali._aspects.worths.chains as chains
from thali._aspects.worths.laplace import Marginal
from thali._model.finding import DATA, METHODS, PAGE, STATISTICS, TEXT
from thali._paired.counted import judgements_of
from thali._paired.made import as_python, settings_of
from thali._paired.pooled import pooled
from thali._paired.worths import BY_CHAINS, Asked, agreement_of, posed
from thali._posterior.verdict import verdict_of
from thali.errors import PYTHON, DataError
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
    "usual": ({}, [*PLAIN, "covariance H⁻¹VH⁻¹", "respondents (design effect", "central 89 % intervals"]),
    "independent": ({"people": "independent"}, ["taken for independent of each other"]),
    "estimate": (
        {"method": "maximum-likelihood"},
        ["by maximum likelihood; standard errors are over respondents (Bell"],
    ),
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


@pytest.mark.parametrize(("how", "sentence"), HOW.values(), ids=HOW.keys())
def test_a_paper_would_say_what_was_done(how, sentence):
    board = made(**how)
    paragraph = " ".join(th.findings(board)["methods"].sentences())
    assert all(each in paragraph for each in sentence)
    others = [each for name, (_, alone) in HOW.items() if name != "usual" for each in alone if each not in sentence]
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
    assert "pairs, 240 comparisons" in page and "4 options" in page and "6 pairs" in page and "arena.csv" in page
    assert "Davidson, R. R. (1970)" in page and "th.leaderboard(data, respondent=" in page
    assert "samples of people" in page
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
    said(th.findings(board)["data"].table.loc["Files", "value"], "may.csv", "june.csv")


def test_rankings_cite_plackett_and_parts_know_only_their_data():
    rankings = th.Choices.from_rankings([["A", "B", "C"]] * 9 + [["B", "C", "A"]] * 5)
    paragraph = " ".join(th.findings(th.leaderboard(rankings, progressbar=False))["methods"].sentences())
    assert "Davidson" not in paragraph
    assert "1975" in paragraph
    found = th.findings(made(by="language").boards["de"])
    assert "methods" not in found
    said(found["data"].sentence, "4 options")


def test_what_is_known_of_the_making_is_on_the_page_alone():
    found = th.findings(made())
    assert {each.key: each.chapter for each in found.of(PAGE)}.items() >= {
        "data": DATA,
        "methods": METHODS,
        "independence": STATISTICS,
    }.items()
    assert not {each.key for each in found.of(TEXT)} & {"data", "methods", "independence"}
    assert found["votes"].verdict is False
    said(found["votes"].headline, "told apart yet")


# Chains ---------------------------------------------------------------------------------------------------------------


def differing(row):
    """The verdict on chains that differ in one of many quantities."""
    rows = {
        name: {"sd": 1.0, "r_hat": 1.3 if name == row else 1.0, "ess_bulk": 900.0, "ess_tail": 900.0} for name in ROWS
    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.attrs.update(chains=4, draws=20_000)
    return verdict_of(frame, BY_CHAINS)


ROWS = ("log_worth[A]", "judge_sd")


def test_chains_that_differ_are_told_wherever_a_board_is_read(tmp_path):
    board = made(by="language")
    assert "verdict" not in th.findings(board)
    with refused(DataError, "method='mcmc'"):
        board.verdict()
    board = replace(board, of_chains=differing("judge_sd"))
    found = th.findings(board)["verdict"]
    assert found.verdict is False and not board.verdict().agrees
    said(found.headline, "do not agree")
    sentence = "R-hat of judge_sd is 1.300 (wanted: at most 1.01); {} needs no chains."
    assert sentence.format("method='laplace'") in found.sentence.render(PYTHON)
    assert sentence.format("--method laplace") in found.sentence.render(TYPED)
    assert "the largest: 1.300" in " ".join(th.findings(board)["methods"].sentences())
    report(board, tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text("utf-8")
    assert page.count("do not agree yet.") == 1 and "R-hat of judge_sd is 1.300" in page
    assert str(th.load(_saved(board, tmp_path)).verdict()) == str(board.verdict())


def test_chains_of_a_part_that_differ_are_told():
    board = made(by="language")
    good = differing(None)
    parts = {name: replace(part, of_chains=good) for name, part in board.boards.items()}
    board = replace(board, of_chains=good, boards=parts)
    assert th.findings(board)["verdict"].verdict is True and not th.findings(board)["verdict"].notes
    parts["de"] = replace(parts["de"], of_chains=differing("judge_sd"))
    found = th.findings(replace(board, boards=parts))["verdict"]
    assert found.verdict is False
    said(found.notes[0], "agree yet: de")


NAMED = {
    "judges": (
        {"judges": True, "judge_bias": True, "covariates": "length"},
        ["log_worth[D]", "log_worth[A]", "log_worth[B]", "log_worth[C]", "tie", "covariate[length]"],
        ["discrimination[j]", "discrimination[k]", "bias[length, j]", "bias[length, k]", "judge_sd", "bias_sd"],
    ),
    "periods": (
        {"date": "day", "period": "month"},
        ["log_worth[D, 2025-03]", "log_worth[A, 2025-03]"],
        ["log_worth[B, 2025-04]", "log_worth[C, 2025-04]", "tie", "drift"],
    ),
}


@pytest.mark.parametrize("how", NAMED)
def test_each_quantity_of_chains_has_its_name(how):
    """Of chains that differ in one quantity alone, that one is named, whichever it is."""
    settings, first, last = NAMED[how]
    frame = battles().assign(judge=["j", "k"] * 120)
    board = th.leaderboard(frame, **settings, progressbar=False)
    asked = Asked(**{name: value for name, value in board.made.settings.items() if name in Asked._fields})
    pose = posed(asked.of(judgements_of(board.made.counted.data)), asked, 0.0)
    marginal = Marginal(pose.density)
    points, logs = np.zeros((pose.density.size, 2, 4)), np.zeros((len(marginal.learned), 2, 4))
    count = len(chains.reported(pose.density, points, logs))
    rng = np.random.default_rng(1)
    for place, name in [*enumerate(first), *((count - back, name) for back, name in enumerate(last[::-1], start=1))]:
        reported = rng.standard_normal((count, 4, 50))
        reported[place, 0] += 9.0
        verdict = agreement_of(
            reported, marginal, board.data.labels, pose.periods, pose.judges, board.data.covariate_names
        )
        assert verdict.facts["r_hat_of"] == name


def pooled_part(method):
    """The board of one of two languages, which are pooled."""
    frame = battles()
    parts = {name: th.PairedComparisons.from_trials(part) for name, part in frame.groupby("language")}
    return pooled(parts, th.PairedComparisons.from_trials(frame), 1.0, method, 0.0, 1, False).parts["de"]


@pytest.mark.long
def test_pooled_boards_by_chains_agree_with_the_approximation():
    found = pooled_part("mcmc")
    assert found.of_chains.agrees
    np.testing.assert_allclose(found.middle, pooled_part("laplace").middle, atol=0.05)


def test_pooled_boards_by_chains_say_what_does_not_agree(monkeypatch):
    limits.lower_in(chains, monkeypatch, R_HAT=10.0, ESS=1.0)  # the first run is short
    run, drawn = chains.run, []

    def kept(*given, **named):
        if not drawn:
            drawn.append(run(*given, **named))
            return drawn[0]
        reported = np.random.default_rng(1).standard_normal((len(drawn[0].reported), 4, 50))
        reported[-len(drawn), 0] += 9.0
        drawn.append(drawn[0]._replace(reported=reported))
        return drawn[-1]

    monkeypatch.setattr(chains, "run", kept)
    _, again, last = (pooled_part("mcmc") for _ in range(3))
    assert again.of_chains.facts["r_hat_of"] == "part_sd"
    assert (
        last.of_chains.facts["r_hat_of"]
        == f"common_log_worth[{th.PairedComparisons.from_trials(battles()).labels[-1]}]"
    )
