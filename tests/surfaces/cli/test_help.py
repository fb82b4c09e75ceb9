"""Help of one screen: nothing is cut off, every option in it exists, and the rest is one word
away."""

import re

import pytest

BRIEF = ("fit", "compare", "leaderboard", "test", "design")


@pytest.fixture(autouse=True)
def of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_plain_help_is_one_screen(run, command_line):
    every = command_line.commands
    below = [("cache", name) for name in every["cache"].commands]
    for words in [*((name,) for name in every), *below]:
        lines = run(*words, "--help").out.splitlines()
        assert len(lines) <= 45 and max(map(len, lines)) <= 80, words
        assert not any(line.startswith("  ") and line.endswith("...") for line in lines), words


@pytest.mark.parametrize("name", BRIEF)
def test_what_plain_help_names_is_an_option_and_the_rest_is_shown_on_demand(
    run, command_line, name
):
    known = {word for param in command_line.commands[name].params for word in param.opts}
    brief, whole = run(name, "--help").out, run(name, "--help-all").out
    assert set(re.findall(r"(?<![\w-])--[a-z-]+[a-z]", brief)) <= known | {"--help"}
    assert f"{name} --help-all" in brief
    assert known - {"--help"} <= set(re.findall(r"--[a-z-]*[a-z]", whole)) | {
        "data",
        "options",
        "name",
    }


def test_a_line_about_an_option_is_short_and_none_is_wrapped(run):
    for name in BRIEF:
        body = run(name, "--help").out.split("\n\n", 2)[2]
        assert not [line for line in body.splitlines() if line.startswith("     ")], name


def test_help_begins_with_three_examples(run):
    assert len(re.findall(r"^  thali (?:fit|leaderboard) ", run("--help").out, re.MULTILINE)) == 3


def test_help_for_a_table_shows_its_options(run, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text(",a,b,c\na,1,.5,.2\nb,.5,1,.1\nc,.2,.1,1\n")
    said = run("fit", path, "--help").out
    assert "additive-clustering" in said and "--sigma" in said and "--aspects" not in said


def test_help_for_a_table_that_is_not_there_is_a_sentence(run):
    result = run("fit", "nothing.csv", "--help")
    assert result.code == 2 and "nothing.csv" in result.err and not result.out
