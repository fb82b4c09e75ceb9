"""One screen of results: how large it is, what stands first, and that its sentences say what its
tables hold."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.option_words import TYPED
from helpers.sentences import says
from helpers.short_comparisons import compare
from helpers.tiny_models import TINY, fitted, of_models

import thali as th
from thali._labels import display_width
from thali._model.finding import render_text

FILES = {
    "tea.csv": "chosen,rejected\n"
    + "tea,milk\n" * 9
    + "milk,tea\n" * 3
    + "tea,rum\n" * 8
    + "rum,milk\n" * 4,
    "votes.csv": "chosen,rejected\n"  # nothing that the model does not fit
    + "tea,milk\n" * 9
    + "milk,tea\n" * 3
    + "tea,rum\n" * 8
    + "rum,tea\n" * 4
    + "rum,milk\n" * 6
    + "milk,rum\n" * 4,
}
WORTHS = "fit tea.csv --model BTL --spread 2 --draws 500 --chains 2 --seed 3".split()
LINES = 24
LABELS = dict(short="tea", long="a name that is far too long " * 5, wide="緑茶と紅茶とコーヒー" * 9)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def show(done, tmp_path):
    """What `thali show` prints of an answer that was saved."""

    def show(answer, *words):
        if not (tmp_path / "answer.nc").exists():
            answer.save(tmp_path / "answer.nc")
        return done("show", tmp_path / "answer.nc", *words).out

    return show


@cache
def board(label, n):
    """A leaderboard of so many models with such names."""
    names, rng = [f"{label} {k}" for k in range(n)], np.random.default_rng(1)
    votes = [
        (names[i], names[j]) for i, j in (rng.choice(n, 2, replace=False) for _ in range(10 * n))
    ]
    return th.leaderboard(pd.DataFrame(votes, columns=["chosen", "rejected"]), progressbar=False)


def labels_of(text):
    """What stands in front of each part of a screen."""
    return [line.split()[0] for line in text.splitlines() if line[:1].strip()]


def is_one_screen(text, columns=80):
    """Whether a text has few and short lines, none of which is cut at its end."""
    lines = text.splitlines()
    is_cut = any(line.rstrip().endswith("…") for line in lines)
    return len(lines) <= LINES and max(map(display_width, lines)) <= columns and not is_cut


def sentences_of(model):
    """What the screen may say of each result, as one line."""
    texts = [
        each.sentence if each.brief.text is None else each.brief.text
        for each in model.findings()
        if each.brief
    ]
    return [" ".join(render_text(text, TYPED).split()) for text in texts]


# how large it is ----------------------------------------------------------------------------------


@pytest.mark.first(4, "additive-clustering, triplets")
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@of_models(TINY)
def test_every_model_has_a_screen_of_whole_sentences(name, monkeypatch, show):
    """The first words of a sentence stand on the screen only together with its last."""
    sentences = sentences_of(fitted(name))
    for columns in (80, 40, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = show(fitted(name))
        assert is_one_screen(text, columns), text
        line = " ".join(text.split())
        for sentence in sentences:
            if sentence and "--" not in sentence and sentence[:30] in line:
                assert sentence[-30:] in line, (sentence, text)
        if columns == 80:
            assert {"Chains", "Estimate", "WARNING"} & set(labels_of(text))
            assert "More" in labels_of(text) and text.index("\nMore ") > text.index("\n\n")
            assert "nan" not in text and "\0" not in text


@pytest.mark.long
@pytest.mark.fit
def test_results_that_do_not_fit_are_counted(monkeypatch, show):
    model = fitted("product-classes")
    wide, narrow = (
        monkeypatch.setenv("COLUMNS", columns) or show(model) for columns in ("120", "40")
    )
    n_missing = len(set(labels_of(wide)) - set(labels_of(narrow)))
    assert n_missing and f"{n_missing} more result" in narrow and "more result" not in wide


@pytest.mark.long
@pytest.mark.fit
def test_the_reading_sentence_is_printed_once(tmp_path):
    """Where both streams are one terminal or file, as in a notebook of commands."""
    (tmp_path / "tea.csv").write_text(FILES["tea.csv"])
    command = [sys.executable, "-m", "thali", *map(str, WORTHS)]
    both = subprocess.run(command, cwd=tmp_path, stdout=-1, stderr=subprocess.STDOUT, check=True)
    apart = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert both.stdout.count(b"tea.csv: ") == 1
    assert apart.stdout.count(b"tea.csv: ") == apart.stderr.count(b"tea.csv: ") == 1


@pytest.mark.first(2, "long-2")
@pytest.mark.fit
@pytest.mark.parametrize("n", [2, 25])
@pytest.mark.parametrize("label", LABELS)
def test_a_screen_has_24_lines_whatever_it_shows(monkeypatch, show, label, n):
    for columns in (40, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = show(board(LABELS[label], n))
        assert is_one_screen(text, min(columns, 120)), text


@pytest.mark.long
@pytest.mark.fit
def test_a_table_shows_ten_rows_and_says_how_many_more(show):
    text = show(board("tea", 25))
    rows = [
        line.split()
        for line in text.splitlines()
        if line.split()[:1] == ["tea"] and "to" in line.split()
    ]
    best = board("tea", 25).table
    assert [" ".join(row[:2]) for row in rows[-10:]] == best.index[
        :10
    ].tolist() and "... and 15 more" in text


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_a_list_of_members_that_is_cut_counts_them_all(monkeypatch, show):
    names = [f"shark {k}" for k in range(21)]
    similarities = np.random.default_rng(1).random((21, 21))
    aspects = {name: ["a group of fish"] * (k < 9) for k, name in enumerate(names)}
    model = th.AdditiveClustering(aspects)
    data = th.Similarities(similarities + similarities.T, names)
    model.fit(data, draws=50, chains=2, random_seed=1, progressbar=False)
    for columns in (80, 84, 88):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown, n_more = re.findall(r"(shark .*) and (\d+) more", show(model))[0]
        assert shown.count("shark") + int(n_more) == 9, shown


# what stands first, and what is computed ----------------------------------------------------------


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_warnings_stand_above_the_answer(show):
    model = fitted("elimination-by-aspects")  # whose chains do not agree
    labels = labels_of(show(model))
    assert labels.index("WARNING") < labels.index("Preferred") < labels.index("More")
    lines = show(model, "--quiet").splitlines()
    assert lines[0].startswith("WARNING: ") and not lines[-1].startswith("WARNING")


@pytest.mark.fit
def test_what_the_screen_does_not_show_is_not_computed(done, monkeypatch):
    asked = []
    monkeypatch.setattr(
        th.EliminationByAspects, "option_similarity", lambda model: asked.append("similarity")
    )
    done(*WORTHS)
    assert not asked


# nothing is lost ----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@of_models(TINY)
def test_a_finding_has_every_sentence_and_every_row(name, show):
    model = fitted(name)
    for found in model.findings():
        text = show(model, found.key)
        for sentence in found.format_sentences(TYPED):
            # the command spells an option as this model has it
            parts = re.split(r"--[\w-]+(?: (?:\{[^}]*\}|[^\s,;)]+))?", sentence)
            assert all(part in text for part in parts), (found.key, parts, text)
        assert found.main_table is None or len(text.splitlines()) > len(found.main_table), found.key


# every headline says what its table holds ---------------------------------------------------------


def number(value):
    """A number as sentences have it."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def probability(value):
    """A probability as sentences have it."""
    return "> 0.99" if value > 0.99 else "< 0.01" if value < 0.01 else f"{value:.2f}"


def best_of(column, words=number):
    """The row with the largest number, in words."""
    return lambda table: [str(table[column].idxmax()), words(float(table[column].max()))]


def of_ranks(table):
    return [str(table["p_1"].idxmax()), probability(table["p_1"].max())]


def of_importance(table):
    first = table.loc[table["range_share"].idxmax()]
    return [f"{first['attribute']} {100.0 * first['range_share']:.0f} %"]


def of_effects(table):
    sure = table[((table["low"] > 0.5) & ~table["at_bound"]) | (table["high"] < 0.5)]
    if not len(sure):
        return ["no level is clearly preferred"]
    row = sure.loc[(sure["effect"] - 0.5).abs().idxmax()]
    chance, ends = row["effect"], (row["low"], row["high"])
    if chance < 0.5:
        chance, ends = 1.0 - chance, (1.0 - row["high"], 1.0 - row["low"])
    return [row["level"], row["over"], *map(probability, (chance, *ends))]


def of_payments(table):
    sure = table[((table["wtp_low"] > 0) | (table["wtp_high"] < 0)) & np.isfinite(table["wtp"])]
    if not len(sure):
        return ["from 0"]
    row = sure.loc[sure["wtp"].abs().idxmax()]
    return [row["level"], number(abs(row["wtp"]))]


def of_features(table):
    if not len(table):
        return []
    sizes = table["members"].str.count("; ") + 1
    n_options = sum(
        set(table[name].unique()) <= {0, 1} and name not in ("converged", "copies")
        for name in table
    )
    named = table[(sizes > 1) & (sizes < n_options) & (table["probability"] >= 0.2)].head(3)
    return [
        fact
        for row in named.to_dict("records")
        for fact in (probability(row["probability"]), number(row["weight"]))
    ]


def largest(column):
    return lambda table: [
        *map(str, table.iloc[0][["column", "class"]]),
        number(float(table[column].iloc[0])),
    ]


HEADLINES = {
    "ranks": of_ranks,
    "utility_scale": best_of("utility"),
    "option_scores": best_of("score"),
    "attribute_importance": of_importance,
    "level_effects": of_effects,
    "willingness_to_pay": of_payments,
    "features": of_features,
    "weights": largest("weight"),
    "coef": largest("coef"),
}


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@of_models(TINY)
def test_every_headline_says_what_its_table_holds(name):
    findings = fitted(name).findings()
    for key, facts in HEADLINES.items():
        found = findings[key] if key in findings else None
        if found is not None and found.sentence:
            for fact in facts(found.table):
                assert fact in str(found.sentence), (key, fact, str(found.sentence))


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_the_first_row_of_a_screen_is_its_headline():
    found = fitted("multinomial-logit").findings()["level_effects"]
    first = found.brief.table.iloc[0]
    assert first["effect"] == max(found.table["effect"].max(), 1.0 - found.table["effect"].min())
    ranks = fitted("bradley-terry-luce").findings()["ranks"]
    assert ranks.brief.parts[0][0] == ranks.table["rank"].idxmin()
    table = compare()
    best = table.drop(index=["BASE", "EMP"])["nll"]
    sentence = str(th.findings(table)["comparison"].sentence)
    assert (
        all(name in sentence for name in best.index)
        and table.loc[best.idxmax(), "difference"] > 0.0
    )
    assert f"{table.loc[best.idxmax(), 'difference']:.3f}" in sentence
    board = th.findings(th.leaderboard(th.datasets.celebrities(), progressbar=False))["leaderboard"]
    first = board.table.iloc[0]
    assert board.table.index[0] in board.sentence and probability(first["p_1"]) in board.sentence


# the commands -------------------------------------------------------------------------------------


@pytest.mark.fit
def test_quiet_is_the_sentence_alone(done):
    found = done(*WORTHS, "--quiet", "--out", "results")
    assert len(found.out.splitlines()) == 1 and found.err == ""
    says(found.out, "tea", "most preferred")
    assert done("show", "results", "--quiet").out == found.out


@pytest.mark.long
@pytest.mark.fit
def test_what_is_printed_is_screen_all_or_refused(done, run):
    first, whole = done(*WORTHS), done(*WORTHS, "--print", "all")
    assert len(first.out.splitlines()) <= LINES < len(whole.out.splitlines())
    assert first.out.startswith("tea.csv: ") and "tea.csv: " in first.err
    refused = run(*WORTHS, "--print", "some")
    assert refused.code == 2 and not refused.out
    says(refused.err, "--print", "'some'")


@pytest.mark.fit
def test_show_prints_any_finding_whole(done, run):
    first = done(*WORTHS, "--out", "results")
    Path("text.nc").write_text("winner,loser")
    again = done("show", "results")
    assert (
        again.out.partition("\n\n")[2].partition("\nMore")[0]
        == first.out.partition("\n\n")[2].partition("\nMore")[0]
    )
    keys = [line.split()[0] for line in done("show", "results", "--list").out.splitlines()]
    assert {"ranks", "check", "summary", "convergence"} <= set(keys)
    summary = done("show", "results", "summary").out
    assert summary.count("choice_probability[") == 3 and "Preferred" not in summary
    # whose table is not printed with all others
    assert "observed" in done("show", "results", "check").out
    sentence = done("show", "results", "check", "--quiet").out
    assert sentence.count("\n") == 1 and done("show", "results", "check").out.startswith(sentence)
    for words, facts in (
        (("results", "rank"), ("'rank'", "'ranks'")),
        (("results", "ranks", "--list"), ("--list", "'ranks'")),
        (("tea.csv",), ("'tea.csv' is a table", "thali fit FILE")),
        (("text.nc",), ("text.nc", "was not written by thali")),
        (("nowhere",), ("nowhere",)),
    ):
        found = run("show", *words)
        assert found.code == 2 and not found.out
        says(found.err, *facts)


@pytest.mark.long
@pytest.mark.fit
def test_comparisons_leaderboards_tests_and_designs_are_one_screen(done):
    words = ("--models", "BTL", "--draws", "200", "--chains", "2", "--seed", "1")
    for command in (
        ("compare", "tea.csv", *words, "--out", "found"),
        ("show", "found"),
        ("leaderboard", "votes.csv"),
        ("test", "transitivity", "tea.csv"),
        ("design", "30"),
        ("design", "12", "--size", "3"),
    ):
        lines = done(*command).out.splitlines()
        assert len(lines) <= LINES and max(map(display_width, lines)) <= 80, command
        assert "--print all" in lines[-1]
        assert len(done(*command, "--quiet").out.splitlines()) == 1, command
