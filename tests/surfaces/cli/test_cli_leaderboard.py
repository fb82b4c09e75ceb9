"""`thali leaderboard`."""

import json
import re

import pandas as pd
import pytest
from helpers.sentences import said, says

import thali as th

BATTLES = (
    "model_a,model_b,winner\n"
    + 6 * "A,B,model_a\nB,C,tie\nC,A,model_b\nB,A,model_a\nB,C,model_a\nC,B,model_a\n"
)
FILES = {"battles.csv": BATTLES}


@pytest.mark.fit
def test_the_table_is_that_of_python(done, folder):
    pytest.importorskip("matplotlib")
    result = done("leaderboard", "battles.csv", "--out", "results", "--print", "all")
    board = th.leaderboard(folder / "battles.csv", progressbar=False)
    assert result.out.startswith("A ranks first (probability 0.") and board.title in result.out
    assert board.note in result.out
    assert [line.split()[0] for line in result.out.splitlines()[3:6]] == list(board.table.index)
    files = (
        "check.csv check.png command.json leaderboard.csv leaderboard.json leaderboard.nc".split()
    )
    files += (
        "leaderboard.png order.csv position.csv reliability.csv votes.csv votes_by_pair.csv"
    ).split()
    assert sorted(path.name for path in (folder / "results").iterdir()) == files
    written = pd.read_csv(
        folder / "results" / "leaderboard.csv", index_col="option", dtype={"tier": str}
    )
    pd.testing.assert_frame_equal(written, pd.DataFrame(board.table))
    assert (
        json.loads((folder / "results" / "leaderboard.json").read_text())[0]["option"]
        == board.table.index[0]
    )


@pytest.mark.long
def test_a_column_of_parts_is_not_called_unused(done, folder):
    frame = pd.read_csv("battles.csv").assign(language=["en", "de"] * 18, extra=1)
    frame.to_csv("languages.csv", index=False)
    said = done("leaderboard", "languages.csv", "--by", "language").err
    assert "columns not used: 'extra'" in said


def test_options_are_arguments(done, folder):
    (folder / "other.csv").write_text(
        BATTLES.replace("model_a,model_b,winner", "x,y,z").replace("model_", "the ")
    )
    columns = ["--first", "x", "--second", "y", "--chosen", "z"]
    coding = ["--coding", "the a=first", "the b=second", "tie=tie"]
    result = done(
        "leaderboard",
        "other.csv",
        *columns,
        *coding,
        *"--ties half --method maximum-likelihood --print all".split(),
    )
    board = th.leaderboard(
        "battles.csv", ties="half", method="maximum-likelihood", progressbar=False
    )
    assert board.note in result.out and board.title in result.out


@pytest.mark.long
@pytest.mark.fit
def test_people_who_judged_more_than_once(done, refused, folder):
    frame = pd.read_csv(folder / "battles.csv").assign(person=[f"p{k % 9}" for k in range(36)])
    frame.to_csv(folder / "judged.csv", index=False)
    named = "judged.csv", "--respondent", "person"
    board = th.leaderboard(folder / "judged.csv", respondent="person", progressbar=False)
    assert (
        str(board.people.sentence) in done("leaderboard", *named, "--print", "all").out
        and board.people.by == "scores"
    )
    alone = done("leaderboard", *named, "--people", "independent", "--print", "all").out
    assert "statements about people:" not in alone
    said(
        refused("leaderboard", *named, "--people", "individuals", "--method", "laplace"),
        "--people individuals",
        "mcmc",
    )


@pytest.mark.long
@pytest.mark.fit
def test_covariates_parts_and_tomorrows_files(done, refused, folder):
    frame = pd.read_csv(folder / "battles.csv")
    frame = frame.assign(
        length=[3, 1, 0, -1] * 9, language=(["de"] * 3 + ["en"] * 2) * 7 + ["en"], row=range(36)
    )
    for name, rows in (("all", frame), ("old", frame[:24]), ("new", frame[20:])):
        rows.to_csv(folder / f"{name}.csv", index=False)
    how = "--covariate length --by language --id row --method maximum-likelihood".split()
    result = done("leaderboard", "old.csv", *how, "--out", "results", "--print", "all")
    assert {"boards.csv", "covariates.csv"} <= {
        path.name for path in (folder / "results").iterdir()
    }
    says(result.out, "if length increases by 1")
    assert "Ranked first: A in de" in result.out
    again = done("leaderboard", "results/leaderboard.nc", "new.csv", "--print", "all")
    both = done("leaderboard", "old.csv", "new.csv", *how, "--print", "all")
    left_out = " 4 answers whose identifier was already counted were excluded."
    assert left_out in again.out and again.out == both.out
    assert (
        again.out.replace(left_out, "")
        == done("leaderboard", "all.csv", *how, "--print", "all").out
    )
    error = refused("leaderboard", "results/leaderboard.nc", "new.csv", "--ties", "half")
    said(error, "--ties", "results/leaderboard.nc")
    assert (
        "B is fixed at 1200"
        in done("leaderboard", "all.csv", "--anchor-model", "B=1200", "--print", "all").out
    )
    said(refused("leaderboard", "all.csv", "--anchor-model", "Z"), "--anchor-model", "'Z'")
    assert (
        "are pooled: "
        in done("leaderboard", "all.csv", "--by", "language", "--pool", "--print", "all").out
    )
    said(refused("leaderboard", "all.csv", "--pool"), "--pool", "--by")
    assert "--by applies to files only" in refused("leaderboard", "celebrities", "--by", "language")


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["absent.csv"], ("absent.csv",)),
        (["battles.csv", "--method", "laplac"], ("--method", "'laplac'")),
        (["battles.csv", "--ties", "hlf"], ("--ties", "davidson, half, drop")),
        (["battles.csv", "--chosen", "who"], ("who",)),
        (["battles.csv", "--seed", "-1"], ("--seed",)),
        (["won.csv", "--method", "maximum-likelihood"], ("--method laplace",)),
        (["winner.csv"], ("'modle_a'", "row 3", "'model_a'")),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(refused, folder, words, facts):
    (folder / "won.csv").write_text("winner,loser\nA,B\nB,C\n")
    (folder / "winner.csv").write_text("model_a,model_b,winner\nA,B,model_a\nA,B,modle_a\n")
    error = refused("leaderboard", *words, "--out", "results")
    (line,) = [line for line in error.splitlines() if "error" in line]
    said(line, *facts)


@pytest.mark.fit
def test_judges_and_periods(done, folder):
    frame = pd.read_csv(folder / "battles.csv")
    frame = frame.assign(
        judge=[f"j{k % 4}" for k in range(36)],
        day=pd.date_range("2026-01-01", periods=36, freq="D"),
    )
    frame.to_csv(folder / "dated.csv", index=False)
    assert (
        "\nJudges\n"
        in done(
            "leaderboard", "dated.csv", "--judges", "--respondent", "judge", "--print", "all"
        ).out
    )
    result = done(
        *"leaderboard dated.csv --period month --respondent judge --out results --print all".split()
    )
    # ratings and their ends without decimals
    assert re.search(r"2026-02 +[\d,]+ +[\d,]+ to [\d,]+ ", result.out)
    assert "2026-02" in result.out and (folder / "results" / "worths_in_time.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--title", "Teas"], ("--title", "--report")),
        (["--report", "no/x.html"], ("does not exist",)),
        (["--report", "."], ("it is a",)),
    ],
)
def test_a_report_that_cannot_be_is_refused_first(refused, options, message):
    said(refused("leaderboard", "not_there.csv", *options), *message)


@pytest.mark.long
def test_what_selects_rows_or_a_kind_of_data_is_saved_and_applies_to_later_votes(done, folder):
    (folder / "picked.csv").write_text(
        "winner,loser,block\n" + "tea,milk,main\nmilk,tea,main\nrum,tea,trial\n" * 3
    )
    typed = ("--where", "block == main", "--kind", "comparisons", "--without", "block")
    done("leaderboard", "picked.csv", *typed, "--out", "picked")
    assert set(th.load("picked").table.index) == {"tea", "milk"}
    done("leaderboard", "picked/leaderboard.nc", "picked.csv", "--out", "more")
    assert th.load("more").data.n_answers == 2 * th.load("picked").data.n_answers
    done("leaderboard", "picked.csv", "--kind", "comparisons", "--by", "block")


# Scores, sides and probabilities ------------------------------------------------------------------

MARKS = [(k * 7) % 11 > 3 for k in range(60)], [(k * 5) % 7 > 2 for k in range(60)]


def write_scores(folder):
    wide = pd.DataFrame({"question_id": range(60), "gpt": MARKS[0], "qwen": MARKS[1], "yi": False})
    wide = wide.assign(task=["maths"] * 30 + ["law"] * 30, yi=wide["gpt"] & wide["qwen"])
    long = wide.melt(["question_id", "task"], var_name="model", value_name="score")
    wide.to_csv(folder / "wide.csv", index=False)
    long.to_csv(folder / "long.csv", index=False)
    pd.concat([long.assign(seed=1), long.assign(seed=2)]).to_parquet(folder / "runs.parquet")


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    "name", ["wide.csv", "runs.parquet", pytest.param("long.csv", marks=pytest.mark.long)]
)
def test_a_table_of_scores_is_a_board_of_one_screen(name, done, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    write_scores(folder)
    result = done("leaderboard", name, "--by", "task", "--out", "results")
    lines = result.out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "mean score" in result.out and "in law" in result.out and "60 items" in result.out
    assert "variation between items" in result.out and "espondent" not in result.out + result.err
    says(result.err, "the higher score wins", "items in 'question_id'")
    assert ("180 repeated scores averaged" in result.err) == (name == "runs.parquet")
    written = pd.read_csv(folder / "results" / "leaderboard.csv", index_col="option")
    means = pd.read_csv(folder / "wide.csv")[["gpt", "qwen", "yi"]].mean()
    assert written["mean_score"].to_dict() == pytest.approx(means.to_dict())
    order = pd.read_csv(folder / "results" / "order.csv")
    assert list(order) == ["option", "other", "probability", "difference", "low", "high"]
    assert "better than the column option" in done("show", "results", "order").out
    assert "mean score" in done("leaderboard", "results/leaderboard.nc").out


def test_other_commands_refuse_scores_and_name_the_board(refused, folder):
    write_scores(folder)
    for name in ("wide.csv", "long.csv"):
        for command in (["fit", name], ["compare", name], ["test", "davidson", name]):
            said(refused(*command), "thali leaderboard")
    said(refused("leaderboard", "wide.csv", "--item", "task", "--score", "gpt"), "wide.csv")
    pd.DataFrame({"age": [20, 30, 41], "height": [1.7, 1.8, 1.6]}).to_csv("people.csv", index=False)
    said(refused("leaderboard", "people.csv"), "--item", "--without")


@pytest.mark.fit
def test_sides_and_probabilities(done, refused, folder):
    result = done("leaderboard", "battles.csv")
    says(result.out, "First side", "multiplies the odds of being")
    rows = pd.read_csv("battles.csv").assign(sure=[0.9, 0.5, 0.2, 0.6, 0.7, 0.1] * 6)
    rows = rows.drop(columns="winner")
    rows.to_csv("named.csv", index=False)
    rows.rename(columns={"sure": "p_a"}).to_csv("known.csv", index=False)
    named = done("leaderboard", "named.csv", "--probability", "sure")
    assert named.out == done("leaderboard", "known.csv").out
    says(named.err, "probability that 'model_a' beats 'model_b' in 'sure'")
    order = done("leaderboard", "known.csv", "--covariate", "order").out
    assert "order increases by 1" in " ".join(order.split()) and "First side" not in order
    rows.rename(columns={"sure": "probability"}).to_csv("asked.csv", index=False)
    said(refused("leaderboard", "asked.csv"), "--probability")


def test_the_audit_is_one_screen(done, folder):
    rows = ["model_a,model_b,winner", *["A,B,model_a"] * 9, *["A,B,model_b"] * 4]
    (folder / "votes.csv").write_text("\n".join(rows) + "\n")
    printed = " ".join(done("leaderboard", "votes.csv", "--audit", "--out", "results").out.split())
    assert "Reversing 3 votes of 13 gives 'B' first place instead of 'A'" in printed
    assert "At least 3 must be reversed" in printed
    (folder / "close.csv").write_text("\n".join([*rows, *["A,B,model_b"] * 4]) + "\n")
    printed = " ".join(done("leaderboard", "close.csv", "--audit").out.split())
    assert "Reversing" in printed and "must be reversed" not in printed
    assert (folder / "results" / "leaderboard.nc").exists()
