"""The app's words: each is used, and no page has words of its own."""

import re
import tomllib
from importlib.resources import files

import pytest

APP = files("thali._surfaces.app")
TEXTS = tomllib.loads((APP / "english.toml").read_text("utf-8"))
RUNS = ("fit", "compare", "evidence", "test")


@pytest.mark.parametrize("page", sorted(each.name for each in (APP / "page").iterdir()))
def test_a_page_has_no_words_of_its_own(page):
    text = (APP / "page" / page).read_text("utf-8")
    text = re.sub(
        r"{#.*?#}|{%.*?%}|{{.*?}}|<!doctype html>|<title>thali</title>", " ", text, flags=re.DOTALL
    )
    text = re.sub(r'aria-describedby="[^"]*"', " ", text)
    said = re.findall(r'(?:aria-label|alt|placeholder|title)="([^"]*)"', text)
    said.append(re.sub(r"<[^>]*>", " ", text).replace("&nbsp;", ""))
    assert {word for each in said for word in re.findall(r"[^\W\d_]+", each)} <= {"thali"}


def test_every_word_of_the_app_is_used():
    """By a page, the script, or a part of the app that names it, or its section."""
    used = "\n".join(
        (APP / "page" / each.name).read_text("utf-8") for each in (APP / "page").iterdir()
    )
    used += "\n".join(
        each.read_text("utf-8") for each in APP.iterdir() if each.name.endswith(".py")
    )
    script = (APP / "static" / "app.js").read_text("utf-8")
    by_name: dict[str, list[str] | tuple[str, ...]] = {
        "progress": RUNS,
        "ask": ["cover_title", "cover_author", "cover_question"],
        "field": ["order"],
        "evidence": ["heading", "lead", "start"],  # as of a comparison by prediction
    }
    looked_up = {
        "answers",
        "meanings",
        "labels",
        "help",
        "titles",
        "methods",
        "choices",
        "screens",
        "states",
    }
    for key in (f"{section}.{name}" for section, held in TEXTS.items() for name in held):
        section, name = key.split(".", 1)
        if section in looked_up or name in by_name.get(section, ()):
            continue
        names = (
            [f"texts.{name}"]
            if section == "script"
            else [f"{section}.{name}", f"texts.{name}", f'"{name}"']
        )
        assert any(each in (script if section == "script" else used) for each in names), key
