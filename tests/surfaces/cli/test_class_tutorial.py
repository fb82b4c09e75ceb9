"""The tutorial of a class: its commands run one after the other, with robots as the class."""

import re
import shlex
from pathlib import Path

import pytest
from helpers.robot import Robot

PAGE = (Path(__file__).parents[3] / "docs" / "how_to" / "questionnaire.md").read_text("utf-8")
TEXT = PAGE.partition("## A class")[2].partition("\n## ")[0]
WORTHS = {"tea": 5.0, "coffee": 3.0, "milk": 1.0, "juice": 0.7, "water": 0.4, "cocoa": 0.2}


def commands():
    """The commands of thali, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("thali ")]


def written(folder):
    """The two files that the tutorial shows side by side."""
    shown = re.search(r"```text\n(drinks\.txt .*?)```", TEXT, flags=re.DOTALL)[1].splitlines()
    both = [(line[:24].strip(), line[24:].strip()) for line in shown[1:]]
    first = re.split(r"\s{2,}", shown[0])
    assert first == ["drinks.txt", "study.toml"]
    (folder / "drinks.txt").write_text("\n".join(option for option, _ in both if option))
    (folder / "study.toml").write_text("\n".join(line for _, line in both if line))


@pytest.mark.fit
@pytest.mark.long
def test_the_tutorial_runs_from_the_question_to_the_report(run, browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    make, collect, board, fit, report = commands()
    assert run(*make).out in TEXT
    (tmp_path / "answers").mkdir()
    for person in range(5):
        context = browser.new_context()
        Robot(context.new_page(), WORTHS, person).open(
            (tmp_path / "study.html").as_uri()
        ).take().hand_in(tmp_path / "answers")
        context.close()
    assert "5 respondents, 75 answers." in run(*collect).out
    assert run(*board).out.count("\n") > 6
    assert run(*fit).code == 0 and run(*report).code == 0
    assert list((tmp_path / "results").glob("*.html"))
