"""Questionnaires in Chromium: a robot takes them, whatever happens on the way, and thali reads what
it hands in."""

import csv
import io
from functools import partial

import pytest
from helpers.chromium import faults, watched
from helpers.hostile import HOSTILE, LABELS
from helpers.robot import Interrupted, Robot
from helpers.sentences import said

import thali as th
from thali._reading.layout_recognition import read_data

pytestmark = pytest.mark.fit

WORTHS = dict(tea=5.0, coffee=3.0, milk=1.0, juice=0.7, water=0.4, cocoa=0.2, mud=1e-9)
DRINKS = list(WORTHS)[:6]
TASTES = {"brand": {"A": 1.0, "B": 0.0}, "price": {"1": 1.0, "2": 0.5, "3": 0.0}, "none": 0.0}
QUESTIONS = [
    {"name": "age", "ask": "How old are you?", "kind": "number", "least": 16, "most": 99},
    {"name": "sex", "ask": "Sex?", "choices": ["f", "m"]},
    {"name": "remark", "ask": "Anything else?", "required": False},
]
FACTS = ("33", "f", "=1+1")
EXTRAS = {
    "pairs": dict(
        no_preference=True, catch=[{"options": ["tea", "mud"], "answer": "tea"}], language="de"
    ),
    "best": {"practice": [{"options": ["tea", "milk", "mud"]}], "breaks": 2},
    "best-worst": {"catch": [{"options": ["tea", "milk", "mud"], "answer": "tea"}]},
    "odd-one-out": {"per_person": 6, "breaks": 4},
    "ratings": {"practice": [{"options": ["tea", "milk"]}], "per_person": 6},
    "choice": {"practice": [{"products": [{"brand": "A", "price": n} for n in (1, 2, 3)]}]},
    "dual": {"dual": True},
}
KINDS = ("pairs", "best", "best-worst", "ranking", "odd-one-out", "ratings", "choice", "dual")


def made(kind, path, **study):
    """A study of that kind, with consent, instructions and questions."""
    texts = dict(consent="We ask.\n\nDo you agree?", instructions="Choose.", questions=QUESTIONS)
    design = DRINKS
    if kind in ("choice", "dual"):
        design = th.designs.choice(
            {"brand": ["A", "B"], "price": [1, 2, 3]}, 4, 3, none=True, random_seed=1
        )
    asked = "choice" if kind == "dual" else kind
    th.field.questionnaire(
        design, path, asked, f"Study of {kind}", study=texts | EXTRAS.get(kind, {}) | study
    )
    return path.as_uri()


def worths(kind):
    return TASTES if kind in ("choice", "dual") else WORTHS


def handed_in(file):
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"), newline="")))


def answers_in(kind, rows):
    """What a file says was shown and answered, trial by trial, as the robot remembers it."""
    found = []
    for row in rows:
        shown = [
            row[name]
            for stem in ("left right", "option", "shown", "object", "first second")
            for name in (stem.split() if " " in stem else [f"{stem}{k}" for k in range(1, 9)])
            if row.get(name)
        ]
        if kind in ("pairs", "best"):
            found.append((shown, shown.index(row["chosen" if kind == "pairs" else "best"])))
        elif kind == "best-worst":
            found.append((shown, (shown.index(row["best"]), shown.index(row["worst"]))))
        elif kind == "ranking":
            found.append(
                (shown, tuple(shown.index(row[f"rank{k + 1}"]) for k in range(len(shown))))
            )
        elif kind == "odd-one-out":
            found.append((shown, shown.index(row["odd"])))
        elif kind == "ratings":
            found.append((shown, int(row["similarity"])))
        else:
            products = [
                {name: row[f"{name}_{k}"] for name in ("brand", "price")} for k in (1, 2, 3)
            ]
            found.append((products, 3 if row["choice"] == "none" else int(row["choice"]) - 1))
    return found


@pytest.mark.long
def test_options_alone_are_asked_and_read(browser, tmp_path):
    """The thinnest path, in real time: options, page, person, folder, table."""
    th.field.questionnaire(DRINKS[:3], tmp_path / "study.html")
    page = browser.new_page()
    sentence, asked = watched(page)
    robot = Robot(page, WORTHS, hurried=False).open((tmp_path / "study.html").as_uri())
    robot.press("#main button.main")
    assert page.evaluate("localStorage.length") == 1  # nothing before the start, all of it after
    (folder := tmp_path / "answers").mkdir()
    file = robot.take().hand_in(folder)
    assert (sentence, asked) == ([], [(tmp_path / "study.html").as_uri()])
    rows = handed_in(file)
    assert answers_in("pairs", rows) == robot.given and len(rows) == 3
    assert all(int(row["rt"]) >= 250 for row in rows) and [row["trial"] for row in rows] == [
        "1",
        "2",
        "3",
    ]
    th.field.collect(folder).answers.to_csv(tmp_path / "answers.csv", index=False)
    assert (
        "3 options, 3 pairs, 3 comparisons, 1 respondent" in read_data(tmp_path / "answers.csv")[1]
    )
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("device", ["phone", "desk", "keyboard"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_robot_takes_a_study(browser, tmp_path, kind, device):
    """Every page of it is one that everybody can use; what it hands in is what it answered, and
    thali reads it."""
    phone = {
        "viewport": {"width": 320, "height": 640},
        "has_touch": True,
        "is_mobile": True,
        "color_scheme": "dark",
    }
    context = browser.new_context(
        **(phone if device == "phone" else {"viewport": {"width": 1280, "height": 800}})
    )
    page = context.new_page()
    sentence, asked = watched(page)
    how = {"phone": "click", "desk": "double", "keyboard": "keyboard"}[device]
    robot = Robot(page, worths(kind), 3, how, FACTS).open(made(kind, tmp_path / "study.html"))
    seen = set()

    def look(_):
        title = page.locator("h1").inner_text()
        if title not in seen:
            seen.add(title)
            robot.ready()
            assert faults(page) == []
            wide = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            assert wide[0] <= wide[1]
            focused = page.evaluate("document.activeElement.tagName")
            # whose second click focuses what lies there now
            assert focused in ("BODY", "H1") or how == "double"

    (folder := tmp_path / "answers").mkdir()
    rows = handed_in(robot.take(between=look).hand_in(folder))
    look(None)
    assert len(seen) >= 5 and sentence == [] and len(asked) == 1
    assert answers_in(kind, rows) == robot.given
    assert {(row["age"], row["sex"], row["remark"]) for row in rows} == {("33", "f", "'=1+1")}
    collected = th.field.collect(folder)
    assert collected.table["answered"].tolist() == collected.table["planned"].tolist()
    collected.answers.to_csv(tmp_path / "answers.csv", index=False)
    assert read_data(tmp_path / "answers.csv")[0] is not None
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_interruptions_lose_and_double_nothing(browser, tmp_path, kind):
    """In real time, since a page that comes back by the button of the browser has lost a clock that
    was moved."""
    context = browser.new_context()
    study = (
        {"per_person": 8}
        if kind in ("best", "best-worst", "odd-one-out", "pairs", "ratings")
        else {}
    )
    robot = Interrupted(context.new_page(), worths(kind), 5, facts=FACTS, chance=0.5, hurried=False)
    robot.open(made(kind, tmp_path / "study.html", **study))
    rows = handed_in(robot.take().hand_in(tmp_path))
    assert answers_in(kind, rows) == robot.given
    assert len({row["person"] for row in rows}) == 1 and len(robot.happened) >= 2
    context.close()


@pytest.mark.long
def test_two_tabs_are_one_person(browser, tmp_path):
    context, address = (
        browser.new_context(),
        made("ranking", tmp_path / "study.html", questions=[], consent=""),
    )
    robots = [Robot(context.new_page(), WORTHS, hurried=False).open(address) for _ in range(2)]
    robots[0].press("#main button.main")
    for place in (2, 0):
        robots[0].option(place)
    first, second = (
        robot.page.evaluate("localStorage.getItem(localStorage.key(0))") for robot in robots
    )
    assert first == second and robots[1].shown() == robots[0].shown()
    for place in (1, 3, 4):  # of the trial as the other tab left it
        robots[1].option(place)
    labels = robots[1].shown()
    robots[1].press("#next")
    robots[0].press("#hand-over button.main")  # and the other is at the end
    rows = handed_in(robots[1].hand_in(tmp_path))
    assert len(rows) == 1 and [rows[0][f"rank{k}"] for k in (1, 2, 3)] == [
        labels[2],
        labels[0],
        labels[1],
    ]
    context.close()


@pytest.mark.long
def test_a_seed_decides_everything(browser, tmp_path):
    address = made("best-worst", tmp_path / "study.html")
    orders = []
    for drawn in (7, 7, 8):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(f"crypto.getRandomValues = (numbers) => numbers.fill({drawn})")
        robot = Robot(page, WORTHS, facts=FACTS).open(address)
        rows = handed_in(robot.take().hand_in(tmp_path))
        assert {row["seed"] for row in rows} == {str(drawn)}
        orders.append([shown for shown, _ in robot.given])
        context.close()
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.long
def test_who_refuses_leaves_nothing_and_who_stops_keeps_all(browser, tmp_path):
    page = browser.new_page()
    careless = WORTHS | {"mud": 1e9}  # for whom the right answer of the catch trial is wrong
    robot = Robot(page, careless, facts=FACTS).open(
        made("pairs", tmp_path / "study.html", per_person=6)
    )
    robot.press("#main button:not(.main)")
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert page.locator("button:visible").count() == 0
    page.reload()
    robot.take(5)
    assert len(robot.given) == 2
    robot.press("#stop")
    rows = handed_in(robot.hand_in(tmp_path))
    assert answers_in("pairs", rows) == robot.given and {row["trials_planned"] for row in rows} == {
        "6"
    }
    robot.press("#main > button")  # go on answering
    robot.take()
    assert sorted(row["passed"] for row in handed_in(robot.hand_in(tmp_path))) == [
        "",
        "",
        "",
        "",
        "",
        "",
        "0",
    ]
    before = {row["person"] for row in rows}
    robot.press("#main button.quiet")  # the next person
    robot.given = []
    rows = handed_in(robot.take().hand_in(tmp_path))
    assert answers_in("pairs", rows) == robot.given and not before & {row["person"] for row in rows}
    page.close()


@pytest.mark.long
def test_answers_that_cannot_be_sent_stay_and_are_offered(browser, tmp_path):
    post = "https://example.test/answers?key=1"
    page = browser.new_page()
    bodies, ways = (
        [],
        [lambda route: route.abort(), lambda route: route.fulfill(status=500, headers=ALLOW)],
    )

    def receive(route):
        if ways:
            return ways.pop(0)(route)
        bodies.append(route.request.post_data)
        return route.fulfill(status=200, headers=ALLOW)

    page.route(
        "**/*", lambda route: receive(route) if route.request.url == post else route.continue_()
    )
    robot = Robot(page, WORTHS, facts=FACTS).open(
        made("ranking", tmp_path / "study.html", post=post)
    )
    robot.take(6)
    status = page.locator("#status")
    for is_saved in (False, True):
        page.locator("#status", has_text="could not").wait_for()
        assert page.locator("#another").is_visible() == is_saved, (
            "the next person waits until the answers are safe"
        )
        assert len(handed_in(robot.hand_in(tmp_path))) == 1
        robot.press("#again")
    page.locator("#status", has_text="received").wait_for()
    assert page.locator("#another").is_visible()
    assert page.locator("#hand-over").is_hidden() and page.locator("#again").is_hidden()
    page.reload()
    assert "received" in status.inner_text() and len(bodies) == 1
    assert (
        answers_in("ranking", list(csv.DictReader(io.StringIO(bodies[0], newline=""))))
        == robot.given
    )
    blocked = page.evaluate("fetch('https://elsewhere.test/x').then(() => 'went', () => 'blocked')")
    assert blocked == "blocked"
    page.close()


ALLOW = {"Access-Control-Allow-Origin": "*"}


@pytest.mark.long
def test_the_next_person_is_sent_though_the_last_one_is_on_the_way(browser, tmp_path):
    post, page, bodies, waiting = "https://example.test/answers", browser.new_page(), [], []

    def receive(route):
        bodies.append(route.request.post_data)
        if len(bodies) == 1:
            return waiting.append(route)
        return route.fulfill(status=200, headers=ALLOW)

    page.route(
        "**/*", lambda route: receive(route) if route.request.url == post else route.continue_()
    )
    robot = Robot(page, WORTHS, facts=FACTS).open(
        made("ranking", tmp_path / "study.html", post=post)
    )
    robot.take(6)
    while not waiting:
        page.wait_for_timeout(50)
    # as where the answers were saved meanwhile
    page.evaluate("document.getElementById('another').hidden = false")
    robot.press("#another")
    waiting[0].fulfill(status=200, headers=ALLOW)
    robot.take(6)
    page.locator("#status", has_text="received").wait_for()
    people = {next(csv.DictReader(io.StringIO(body, newline="")))["person"] for body in bodies}
    assert len(bodies) == len(people) == 2
    page.close()


@pytest.mark.long
def test_hostile_words_run_nothing(browser, tmp_path):
    study = {
        "instructions": HOSTILE[0],
        "consent": HOSTILE[1],
        "thanks": HOSTILE[2],
        "words": {"question": HOSTILE[3], "start": HOSTILE[4]},
        "questions": [
            {"name": "a", "ask": HOSTILE[5], "choices": list(HOSTILE[:4])},
            {"name": "b", "ask": HOSTILE[6]},
        ],
        "per_person": 12,
    }
    th.field.questionnaire(HOSTILE, tmp_path / "study.html", title=HOSTILE[0], study=study)
    page = browser.new_page()
    sentence, asked = watched(page)
    robot = Robot(page, dict.fromkeys(HOSTILE, 1.0), facts=("", HOSTILE[0]))
    robot.fill = partial(fill_first, robot)
    robot.open((tmp_path / "study.html").as_uri() + "?person=<img src=x onerror=alert(1)>").take()
    rows = handed_in(robot.hand_in(tmp_path))
    assert sentence == [] and len(asked) == 1 and len(rows) == 12
    assert {row["chosen"] for row in rows} <= LABELS
    assert page.locator("img, iframe, a").count() == 0 and page.evaluate("window.ran") is None
    page.close()


@pytest.mark.long
def test_another_site_reads_and_steers_nothing(browser, tmp_path):
    """A page that holds a study in a frame, after somebody has answered a part of it."""
    th.field.questionnaire(DRINKS[:3], tmp_path / "study.html")
    context = browser.new_context()
    page = context.new_page()
    html = {"study.test": (tmp_path / "study.html").read_text("utf-8")}
    html["evil.test"] = "<iframe id=a src=https://study.test/></iframe>"

    def serve(route):
        host = route.request.url.split("/")[2]
        route.fulfill(body=html[host], content_type="text/html; charset=utf-8")

    context.route("https://*.test/**", serve)
    robot = Robot(page, WORTHS, hurried=False).open("https://study.test/")
    robot.take(2)
    kept = page.evaluate("localStorage.getItem(localStorage.key(0))")
    other = context.new_page()
    other.goto("https://evil.test/")
    other.frame_locator("#a").locator("h1").wait_for()
    tries = [
        "frames[0].document.body.innerText",
        "frames[0].localStorage.length",
        "frames[0].eval('1')",
    ]
    for attempt in tries:
        assert (
            other.evaluate(
                f"() => {{ try {{ return String({attempt}); }} catch {{ return 'blocked'; }} }}"
            )
            == "blocked"
        )
    assert other.evaluate("localStorage.length") == 0
    other.evaluate("frames[0].postMessage({rows: [], picks: [0]}, '*')")
    assert page.evaluate("localStorage.getItem(localStorage.key(0))") == kept
    context.close()


def fill_first(robot):
    """The first choice and a hostile text."""
    robot.ready()
    robot.page.locator("input[type=radio]").first.check()
    robot.page.fill("#question-1", robot.facts[1])
    robot.press("#main button.main")


@pytest.mark.long
def test_questions_about_the_person_are_checked(browser, tmp_path):
    page = browser.new_page()
    robot = Robot(page, WORTHS, facts=FACTS).open(
        made("ranking", tmp_path / "study.html", person="asked")
    )
    robot.take(2)
    robot.press("#main button.main")
    assert page.locator(".fault:not(:empty)").count() == 3
    assert page.evaluate("document.activeElement.id") == "question-0"
    page.fill("#question-0", "Ann")
    page.fill("#question-1", "1234")
    page.reload()  # what was typed is kept
    assert page.input_value("#question-1") == "1234"
    page.fill("#question-0", "Ann")
    page.locator("input[value=m]").check()
    robot.press("#main button.main")
    said(page.locator(".fault:not(:empty)").inner_text(), "16", "99")
    page.fill("#question-1", "33,5")
    robot.press("#main button.main")
    rows = handed_in(robot.take().hand_in(tmp_path))
    assert (rows[0]["person"], rows[0]["age"], rows[0]["sex"]) == ("Ann", "33.5", "m")
    page.close()
