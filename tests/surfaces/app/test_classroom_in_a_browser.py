"""A class in Chromium: robots take part while the connection comes and goes, and a page shows what they say."""

import csv
import io
import json
import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import uvicorn
from chromium import faults, watched
from hostile import HOSTILE
from robot import Interrupted, Robot

from thali.field.live import FILE, planned_to_serve
from thali.surfaces.app import start
from thali.surfaces.app.classroom import classroom
from thali.surfaces.app.guard import LOCAL, Connection

pytestmark = [pytest.mark.fit, pytest.mark.rendered]

KEY, CODE = "the-key", "abc234"
WORTHS = {"tea": 9.0, "coffee": 3.0, "milk": 1.0, "juice": 0.3, "water": 0.1, "cocoa": 0.03}
QUESTIONS = [{"name": "age", "ask": "How old are you?", "kind": "number"}]


class Room:
    """A class that is served: its address, its folder, and a server that can go and come back."""

    def __init__(self, folder, kind="pairs", options=tuple(WORTHS), **study):
        self.folder, self.asked = folder, (list(options), kind, "Drinks", study)
        self.port = 0

    def serve(self):
        """Begin, at the same port as before."""
        self._listening = start._listening("127.0.0.1", self.port)
        self.port = self._listening.getsockname()[1]
        app = classroom(planned_to_serve(*self.asked), self.folder, CODE, KEY, LOCAL, False, self.address)
        settings = uvicorn.Config(app, http=Connection, log_level="error", ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(settings)
        sockets = {"sockets": [self._listening]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, daemon=True)
        self._thread.start()

    def close(self):
        """End."""
        self._server.should_exit = True
        self._thread.join(20)
        self._listening.close()

    @contextmanager
    def open(self):
        """Serve meanwhile."""
        self.serve()
        try:
            yield self
        finally:
            self.close()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def rows(self):
        return list(csv.DictReader(io.StringIO((self.folder / FILE).read_text(), newline="")))


def held(robot, rows):
    """Whether the rows of one person are what the robot remembers."""
    assert [(row["left"], row["right"]) for row in rows] == [tuple(labels) for labels, _ in robot.given]
    assert [row["chosen"] for row in rows] == [labels[place] for labels, place in robot.given]


def wait_for(page, where, text):
    """Wait until it says so."""
    page.locator(where, has_text=text).wait_for(timeout=30_000)


def arrived(page):
    wait_for(page, "#status", re.compile("arrived|angekommen"))


def test_a_class_answers_and_its_page_shows_it(browser, tmp_path):
    """From the code to the leaderboard: nobody says more than presses, and nothing breaks a policy."""
    with Room(
        tmp_path, practice=[{"options": ["tea", "milk"]}], questions=QUESTIONS, breaks=5, per_person=8
    ).open() as room:
        context = browser.new_context(viewport={"width": 390, "height": 780})
        page = context.new_page()
        said, asked = watched(page)
        robot = Robot(page, WORTHS, 1, facts=["33"], hurried=False).open(room.address)
        page.fill("#code", CODE.upper())
        page.keyboard.press("Enter")
        page.wait_for_url(f"{room.address}{CODE}")
        robot.take(300)
        arrived(page)
        assert not page.locator("#hand-over").is_visible()
        found = room.rows()
        assert (
            len(found) == 8
            and {row["age"] for row in found} == {"33"}
            and {row["trial"] for row in found} == {str(k) for k in range(2, 10)}
        )
        robot.given.pop(0)  # practice
        held(robot, found)
        teacher = browser.new_page()
        also, _ = watched(teacher)
        teacher.goto(f"{room.address}teacher#key={KEY}")
        teacher.wait_for_selector("#board tbody tr", timeout=30_000)
        assert KEY not in teacher.url and teacher.locator("#code").inner_text() == CODE
        assert [teacher.locator(f"#{name}").inner_text() for name in ("people", "answers", "whole")] == ["1", "8", "1"]
        wait_for(teacher, "#seen", "From 8 answers.")
        assert sorted(teacher.locator("#board tbody th").all_inner_texts()) == sorted(WORTHS)
        with teacher.expect_download() as saved:
            teacher.click("#save")
        assert saved.value.path().read_bytes() == (tmp_path / FILE).read_bytes()
        assert said == also == [] and all(each.startswith(room.address) for each in asked)


class Restarting(Interrupted):
    """Whose server goes away and comes back now and then, beside all else; without a connection nothing is loaded."""

    def __init__(self, page, room, seed, **settings):
        super().__init__(page, WORTHS, seed, hurried=False, **settings)
        self.room = room

    def before_each(self):
        """Perhaps an interruption, and perhaps another server."""
        if self.rng.random() < 0.6:
            self.page.context.set_offline(False)
        if self.rng.random() < 0.15:
            self.happened.append("server")
            self.room.close()
            time.sleep(0.2)
            self.room.serve()
        super().before_each()

    def offline(self):
        """The connection is lost for some answers."""
        self.page.context.set_offline(True)

    def open(self, address):
        """With a connection."""
        self.page.context.set_offline(False)
        return super().open(address)

    def reload(self):
        """With a connection."""
        self.page.context.set_offline(False)
        super().reload()

    def back(self):
        """With a connection."""
        self.page.context.set_offline(False)
        super().back()

    def away(self):
        """With a connection."""
        self.page.context.set_offline(False)
        super().away()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_interruptions_and_a_server_that_goes_lose_and_double_nothing(browser, tmp_path, seed):
    with Room(tmp_path).open() as room:
        context = browser.new_context()
        robot = Restarting(context.new_page(), room, seed, chance=0.5)
        robot.open(f"{room.address}{CODE}").take(600, between=lambda robot: revived(context, robot))
        context.set_offline(False)
        arrived(robot.page)
        assert len(robot.happened) > 3, robot.happened
        held(robot, room.rows())


def revived(context, robot):
    """Where nothing is left in hand, the connection is back."""
    if robot.page.locator("#waiting").count():
        context.set_offline(False)


@pytest.mark.long
def test_without_a_connection_answers_stay_and_go_when_it_is_back(browser, tmp_path):
    with Room(tmp_path).open() as room:
        context = browser.new_context()
        robot = Robot(context.new_page(), WORTHS, 1, hurried=False).open(f"{room.address}{CODE}")
        robot.take(3)
        robot.page.wait_for_timeout(500)
        before = len(room.rows())
        context.set_offline(True)
        while not robot.page.locator("#waiting").count():  # what is in hand is asked
            robot.take(1)
        wait_for(robot.page, "#waiting", "no connection")
        assert len(robot.given) == before + 4 and len(room.rows()) == before
        context.set_offline(False)
        robot.page.wait_for_selector(".trial", timeout=30_000)
        robot.take(300)
        arrived(robot.page)
        held(robot, room.rows())


@pytest.mark.long
def test_who_stops_and_who_is_next_on_the_same_device(browser, tmp_path):
    """The answers of somebody who left without a connection go when somebody else begins."""
    with Room(tmp_path).open() as room:
        context = browser.new_context()
        page = context.new_page()
        robot = Robot(page, WORTHS, 1, hurried=False).open(f"{room.address}{CODE}")
        robot.take(4)
        robot.page.wait_for_timeout(500)
        context.set_offline(True)
        robot.take(2)
        robot.press("#stop")
        robot.ready()
        wait_for(page, "#status", "could not be sent")
        assert page.locator("#hand-over").is_visible()
        robot.hand_in(tmp_path.parent)
        robot.press("#another")
        context.set_offline(False)
        first, robot = robot, Robot(page, WORTHS, 2, hurried=False)
        robot.take(300)
        arrived(page)
        for _ in range(100):
            if len(room.rows()) == len(first.given) + 15:
                break
            time.sleep(0.1)
        people = {row["person"] for row in room.rows()}
        parts = [[row for row in room.rows() if row["person"] == person] for person in people]
        one, other = sorted(parts, key=len)
        held(first, sorted(one, key=lambda row: int(row["trial"])))
        held(robot, other)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["best", "odd-one-out"])
def test_other_kinds_by_keyboard(browser, tmp_path, kind):
    with Room(tmp_path, kind, per_person=8, language="de").open() as room:
        robot = Robot(browser.new_context().new_page(), WORTHS, 1, "keyboard", hurried=False)
        robot.open(f"{room.address}{CODE}").take(300)
        arrived(robot.page)
        rows, stem, answered = room.rows(), *{"best": ("option", "best"), "odd-one-out": ("object", "odd")}[kind]
        shown = [[row[name] for name in row if name.startswith(stem)] for row in rows]
        assert shown == [labels for labels, _ in robot.given]
        assert [row[answered] for row in rows] == [labels[place] for labels, place in robot.given]
        teacher = browser.new_page()
        teacher.goto(f"{room.address}teacher#key={KEY}")
        teacher.wait_for_selector("#board tbody tr", timeout=30_000)
        assert (
            teacher.locator("#about").inner_text()
            == {"best": "Rangliste", "odd-one-out": "Was sich am ähnlichsten ist"}[kind]
        )


@pytest.mark.long
def test_axe_finds_nothing_in_any_width_and_nothing_is_cut_off(browser, tmp_path):
    options = ["שלום עולם", "a" * 60, "tea & <b>milk</b>", "c", "d"]
    with Room(tmp_path, options=options).open() as room:
        robot = Robot(browser.new_context().new_page(), dict.fromkeys(options, 1.0), 1, hurried=False)
        robot.open(f"{room.address}{CODE}").take(300)
        arrived(robot.page)
        for width in (320, 768, 1280):
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
                page = context.new_page()
                for path in ("", "?code=x", CODE, "teacher", f"teacher#key={KEY}"):
                    page.goto("about:blank")
                    page.goto(room.address + path)
                    page.wait_for_timeout(300)
                    if "#" in path:
                        page.wait_for_selector("#board tbody tr", timeout=30_000)
                    assert faults(page) == [], (width, scheme, path)
                    assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, path)
                context.close()


@pytest.mark.long
def test_hostile_options_and_names_run_nothing(browser, tmp_path):
    options = [str(text) for text in HOSTILE][:12]
    with Room(tmp_path, options=options).open() as room:
        context = browser.new_context()
        page = context.new_page()
        said, asked = watched(page)
        robot = Robot(page, {}, 1, hurried=False)
        robot.worth = lambda label: 1.0
        robot.open(f"{room.address}{CODE}?person=%3Cimg%20src=x%20onerror=alert(1)%3E").take(300)
        arrived(page)
        teacher = context.new_page()
        also, others = watched(teacher)
        teacher.goto(f"{room.address}teacher#key={KEY}")
        teacher.wait_for_selector("#board tbody tr", timeout=30_000)
        assert said == also == [] and all(each.startswith(room.address) for each in (*asked, *others))
        assert len(teacher.locator("#board tbody tr").all()) == len(options)


EVIL = """<!doctype html><title>x</title><iframe name=i src="{address}"></iframe>
<form id=f target=i method=post enctype=text/plain action="{address}/answers"><input name='{begin}' value='"}}'></form>
<script>
const tell = (what) => document.title += what + ";";
async function tried(what, address, options) {{
  try {{
    tell(what + (await fetch(address, options)).status);
  }} catch {{
    tell(what + "refused");
  }}
}}
(async () => {{
  const method = "POST", body = {sent};
  for (const mode of ["cors", "no-cors"]) await tried(mode, "{address}/answers", {{method, mode, body}});
  await tried("read", "{standing}", {{headers: {{"X-Thali-Key": "{key}"}}}});
  document.getElementById("f").submit();
  setTimeout(() => tell("end"), 1500);
}})();
</script>"""


@pytest.mark.long
def test_another_site_takes_no_part_and_frames_nothing(browser, tmp_path):
    """A page elsewhere that knows the code and the key."""
    answer = {"number": 1, "shown": [0, 1], "pick": 0, "time": 1}
    person = {"person": "eve", "seed": 1, "started": "", "facts": {}, "waiting": [], "wants": 0}
    sent = json.dumps(person | {"answers": [answer]})
    with Room(tmp_path).open() as room, ThreadingHTTPServer(("127.0.0.1", 0), Evil) as server:
        facts = {"address": f"{room.address}{CODE}", "standing": f"{room.address}api/standing", "key": KEY}
        server.page = EVIL.format(**facts, sent=json.dumps(sent), begin=f'{sent[:-1]}, "x": "').encode()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://localhost:{server.server_port}/")
        page.wait_for_function("document.title.includes('end')", timeout=20_000)
        assert page.title() == "xcorsrefused;no-corsrefused;readrefused;end;"
        assert all(not frame.locator("#study").count() for frame in page.frames[1:])
        server.shutdown()
    assert not (tmp_path / FILE).exists()


class Evil(BaseHTTPRequestHandler):
    """Another site."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, *_):
        """Say nothing."""
