"""A study for jsPsych, of npm, in Chromium: a robot takes it, and thali reads what it and jsPsych
hand in."""

import base64
import csv
import hashlib
import io
import re
import shutil
import subprocess

import numpy as np
import pytest
from helpers.chromium import watched
from helpers.hostile import HOSTILE, LABELS
from helpers.patience import PATIENCE

import thali as th
from thali._reading.layout_recognition import read_data

pytestmark = [pytest.mark.fit, pytest.mark.long]
DRINKS = ["tea", "coffee", "milk", "juice"]
EXTRAS = {
    "pairs": dict(
        no_preference=True, catch=[{"options": ["tea", "mud"], "answer": "tea"}], language="de"
    ),
    "best": {"practice": [{"options": ["tea", "milk", "mud"]}], "breaks": 2, "size": 3},
    "best-worst": {"size": 3},
    "dual": {"dual": True},
}
KINDS = ("pairs", "best", "best-worst", "ranking", "odd-one-out", "ratings", "choice", "dual")
STUDY = {
    "consent": "Do you agree?",
    "questions": [
        {"name": "age", "ask": "How old are you?", "kind": "number", "least": 16, "most": 99},
        {"name": "sex", "ask": "Sex?", "choices": ["f", "m"]},
    ],
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """What the page loads, as npm has it: name of the file -> its content."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    folder = tmp_path_factory.mktemp("npm")
    names = {file: "/".join(file.split("/")[: 1 + file.startswith("@")]) for file in loaded()}
    install = [
        npm,
        *"install --ignore-scripts --no-audit --no-fund --fetch-retries=0 --prefix".split(),
        str(folder),
    ]
    done = subprocess.run([*install, *set(names.values())], capture_output=True, timeout=PATIENCE)
    if done.returncode:
        pytest.skip("npm gives no jsPsych here")
    found = {}
    for file, name in names.items():
        package = name.rpartition("@")[0]
        found[file] = (folder / "node_modules" / (package + file.removeprefix(name))).read_bytes()
    return found


class Person:
    """Answers by chance, and remembers the texts of the buttons and which of them it pressed."""

    def __init__(self, browser, packages, seed=0):
        self.rng, self.given = np.random.default_rng(seed), []
        self.page = browser.new_page()
        self.said, self.asked = watched(self.page)

        def load(route):
            file = route.request.url.removeprefix("https://unpkg.com/")
            kind = "text/css" if file.endswith("css") else "text/javascript"
            allowed = {"Access-Control-Allow-Origin": "*"}
            route.fulfill(body=packages[file], content_type=kind, headers=allowed)

        self.page.route("https://unpkg.com/**", load)

    def take(self, address, facts=("33", "f")):
        """Answer from the first page to the last."""
        page = self.page
        page.goto(address)
        buttons = page.locator("#jspsych-html-button-response-btngroup button:enabled")
        for _ in range(200):
            page.locator("#save, #jspsych-survey-html-form").or_(buttons).first.wait_for(
                timeout=60_000
            )
            if page.locator("#save").count():
                return self
            if page.locator("#jspsych-survey-html-form").count():
                page.fill("#question-0", facts[0])
                page.locator("input[type=radio]").nth(["f", "m"].index(facts[1])).check()
                page.click("#jspsych-survey-html-form-next")
                continue
            texts = buttons.all_inner_texts()
            title = (
                page.locator("h1").first.inner_text(timeout=5000)
                if page.locator("h1").count()
                else ""
            )
            # to go on, and to agree
            if len(texts) == 1 or title in ("Before you begin", "Bevor Sie beginnen"):
                buttons.first.click()
                continue
            place = int(self.rng.integers(len(texts)))
            self.given.append((title, texts, place, page.locator(".two > div").all_inner_texts()))
            buttons.nth(place).click()
            page.wait_for_function("document.querySelectorAll('button:enabled').length === 0")
        raise AssertionError("no end")

    def hand_in(self, folder):
        """The file that the page hands in."""
        with self.page.expect_download() as saved:
            self.page.click("#save")
        path = folder / saved.value.suggested_filename
        saved.value.save_as(path)
        return path


def design_of(kind):
    if kind in ("choice", "dual"):
        return th.designs.choice(
            {"brand": ["A", "B"], "price": [1, 2, 3]}, 4, 2, none=True, random_seed=1
        )
    return DRINKS


def loaded():
    """What every page of a study loads, with its digest."""
    found = {}
    for kind in KINDS:
        asked = "choice" if kind == "dual" else kind
        page = th.field.export(design_of(kind), kind=asked, study=EXTRAS.get(kind, {}))
        tags = re.findall(r'(?:src|href)="https://unpkg.com/(.*?)" integrity="sha384-(.*?)"', page)
        found |= dict(tags)
    return found


def test_what_the_page_loads_is_what_npm_has(packages):
    for file, digest in loaded().items():
        assert base64.b64encode(hashlib.sha384(packages[file]).digest()).decode() == digest, file


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_runs_in_jspsych(browser, packages, tmp_path, kind):
    asked = "choice" if kind == "dual" else kind
    study = STUDY | EXTRAS.get(kind, {})
    th.field.export(design_of(kind), tmp_path / "study.html", asked, "A study", study=study)
    person = Person(browser, packages).take((tmp_path / "study.html").as_uri())
    assert person.said == [] and len(person.asked) == 1 + len(packages)
    (folder := tmp_path / "answers").mkdir()
    file = person.hand_in(folder)
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"), newline="")))
    expected = [answer_of(kind, given) for given in trials_in(kind, person.given)]
    assert [tuple(row[name] for name in answers_of(kind)) for row in rows] == expected
    assert {(row["age"], row["sex"]) for row in rows} == {("33", "f")}
    assert all(int(row["rt"]) >= 250 for row in rows)
    check(folder)
    (raw := tmp_path / "raw").mkdir()  # what jsPsych itself would save
    (raw / "data.csv").write_text(person.page.evaluate("jsPsych.data.get().csv()"))
    check(raw)
    assert len(th.field.collect(raw).answers) == len(th.field.collect(folder).answers)
    person.page.close()


def check(folder):
    """The folder is joined and read without an option."""
    found = th.field.collect(folder)
    assert found.table["answered"].tolist() == found.table["planned"].tolist()
    found.answers.to_csv(folder.parent / "answers.csv", index=False)
    assert read_data(folder.parent / "answers.csv")[0] is not None


def answers_of(kind):
    """The columns of answers."""
    names = {
        "pairs": "chosen",
        "best": "best",
        "odd-one-out": "odd",
        "ratings": "similarity",
        "dual": "choice preferred",
    }
    ranks = " ".join(f"rank{k + 1}" for k in range(len(DRINKS)))
    return ({"best-worst": "best worst", "ranking": ranks, "choice": "choice"} | names)[
        kind
    ].split()


def trials_in(kind, given):
    """The questions of each trial."""
    found = []
    for each in given:
        further = {"best-worst": "least" in each[0], "dual": "actually" in each[0]}.get(kind, False)
        further = further or kind == "ranking" and len(each[1]) < len(DRINKS)
        found[-1].append(each) if further else found.append([each])
    return found


def answer_of(kind, questions):
    """What a row must hold."""
    picked = [texts[place] for _, texts, place, _ in questions]
    if kind == "pairs":
        return ("no preference" if picked[0] == "Beide gleich" else picked[0],)
    if kind == "ranking":
        return (*picked, next(text for text in questions[-1][1] if text != picked[-1]))
    if kind in ("choice", "dual"):
        place = questions[0][2]
        preferred = "none" if place == 2 else str(place + 1)
        return (
            (preferred,)
            if kind == "choice"
            else ("none" if picked[1:] == ["No"] else preferred, preferred)
        )
    return tuple(picked)


def test_hostile_words_run_nothing_in_jspsych(browser, packages, tmp_path):
    study = {
        "instructions": HOSTILE[0],
        "thanks": HOSTILE[2],
        "words": {"question": HOSTILE[3]},
        "per_person": 6,
    }
    study["questions"] = [
        {"name": "a", "ask": HOSTILE[5]},
        {"name": "b", "ask": HOSTILE[4], "choices": list(HOSTILE[:2])},
    ]
    th.field.export(HOSTILE, tmp_path / "study.html", title=HOSTILE[0], study=study)
    person = Person(browser, packages)
    address = (tmp_path / "study.html").as_uri() + "?person=<img src=x onerror=alert(1)>"
    person.take(address, facts=(HOSTILE[0], "f"))
    assert person.said == [] and len(person.asked) == 1 + len(packages)
    assert (
        person.page.evaluate("window.ran") is None
        and person.page.locator("img, iframe, a:not(#save)").count() == 0
    )
    rows = list(
        csv.DictReader(io.StringIO(person.hand_in(tmp_path).read_text("utf-8-sig"), newline=""))
    )
    assert {row["chosen"] for row in rows} <= LABELS and len(rows) == 6
    person.page.close()
