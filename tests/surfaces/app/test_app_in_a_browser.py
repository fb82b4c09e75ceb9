"""The app as people use it: a real server, real children, a real browser."""

import base64
import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import chromium
from helpers.patience import PATIENCE

from thali._surfaces.app.study_folders import Studies

pytestmark = [pytest.mark.fit, pytest.mark.rendered]

ATTACKS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 5000)
PAIRS = (
    "winner,loser,times\ntea,milk,30\nmilk,tea,11\ntea,beer,22\nbeer,milk,25\nmilk,beer,12\n"
    "beer,tea,13\n"
)
SQUARE = ",tea,milk,beer,wine\ntea,1,.7,.1,.2\nmilk,.7,1,.2,.1\nbeer,.1,.2,1,.8\nwine,.2,.1,.8,1\n"
RANKING = "person,1st,2nd,3rd\n" + "".join(
    f"p{k},{','.join(('tea', 'milk', 'beer') if k % 3 else ('beer', 'tea', 'milk'))}\n"
    for k in range(12)
)
TRIPLETS = "left,middle,right,odd\n" + "".join(
    f"{a},{b},{c},{odd}\n" * 6
    for a, b, c, odd in (
        ("tea", "milk", "beer", "beer"),
        ("wine", "tea", "milk", "wine"),
        ("beer", "tea", "wine", "tea"),
        ("milk", "wine", "beer", "milk"),
    )
)
EXPERIMENT = "respondent,task,alternative,chosen,price,size\n" + "".join(
    f"r{r},{t},{a},{int(a == (t + r) % 2)},{1 + (t + a * r) % 3},{'SL'[(t + r + a) % 2]}\n"
    for r in range(6)
    for t in range(6)
    for a in range(2)
)
WIDTHS = (1200, 820, 390)
SCREENSHOTS = os.environ.get("THALI_SCREENSHOTS")  # a folder, for whoever wants to look


class Server:
    """`thali app`, and what it printed."""

    def __init__(self, folder, *options):
        command = [
            sys.executable,
            *"-m thali app --no-browser --folder".split(),
            str(folder),
            *options,
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        self.address = re.search(r"http\S+", self.process.stdout.readline())[0]

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def folder(tmp_path):
    """Of studies; children that are left are ended."""
    found = tmp_path / "studies"
    yield found
    for file in found.glob("*/*.process.json"):
        if not (file.parent / file.name.replace(".process.", ".end.")).exists():
            try:
                os.kill(int(re.search(r"\d+", file.read_text())[0]), signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.fixture
def start(folder):
    """Start a server; it ends with the test."""
    begun = []

    def started():
        begun.append(Server(folder))
        return begun[-1]

    yield started
    for each in begun:
        each.kill()


@pytest.fixture
def server(start):
    return start()


class User:
    """Somebody before the screen, who sees what goes wrong."""

    def __init__(self, browser, server):
        seen = {"width": WIDTHS[0], "height": 900}
        self.page = browser.new_page(viewport=seen, accept_downloads=True)
        self.page.set_default_timeout(1000.0 * PATIENCE / 6)  # a text that is missing
        self.home = server.address.partition("#")[0]
        self.said, self.asked, self.looks = [], [], 0
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self.answer)
        self.page.goto(server.address)
        self.page.locator(".drop").wait_for()

    def answer(self, dialog):
        if dialog.type != "confirm":
            self.said.append(dialog.message)
        dialog.accept()

    def heading(self, name, **more):
        self.page.get_by_role("heading", name=name, **more).first.wait_for()

    def sees(self, text):
        self.page.locator("main").get_by_text(text).locator("visible=true").first.wait_for()

    def drop(self, name, content):
        self.page.locator("#upload").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
        )
        self.heading("How the table was read")

    def click(self, name):
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def ask(self):
        """Go on from what was read to the question."""
        self.page.get_by_role("link", name="Looks right: continue").click()
        self.heading("What do you want to know?")

    def option(self, label):
        """A field among those that are folded."""
        folded = self.page.locator("details", has_text="More options").first
        if folded.get_attribute("open") is None:
            folded.locator("summary").click()
        return self.page.get_by_label(label, exact=True).locator("visible=true")

    def screen(self, name, among="This study"):
        """Another screen of the study."""
        self.page.get_by_role("navigation", name=among).get_by_role(
            "link", name=name, exact=True
        ).click()
        self.page.locator(".screens a[aria-current]", has_text=re.compile(f"^{name}$")).wait_for()

    def report(self):
        """The text of the report, once it is there."""
        frame = self.page.frame_locator("iframe[title=Report]")
        frame.get_by_role("heading", level=1).first.wait_for()
        return frame.locator("body").inner_text()

    def look(self, name="", widths=WIDTHS[:1], schemes=("light",)):
        """Nothing is wrong with the page, at these widths."""
        assert self.said == []
        assert [
            url for url in self.asked if not url.startswith((self.home, "data:", "blob:"))
        ] == []
        for width in widths:
            for scheme in schemes:
                self.page.set_viewport_size({"width": width, "height": 900})
                self.page.emulate_media(color_scheme=scheme)
                if SCREENSHOTS and name:
                    file = Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png"
                    self.page.screenshot(path=file, full_page=True)
                wide = self.page.evaluate(
                    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
                )
                assert wide[0] <= wide[1], (name, width)
                assert chromium.faults(self.page) == [], (name, width, scheme)
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 900})


@pytest.fixture
def user(browser, server):
    return User(browser, server)


def everywhere(user, name):
    user.look(name, WIDTHS, ("light", "dark"))


@pytest.mark.long
def test_from_a_file_to_its_report(user):
    user.look()
    user.drop("drinks.csv", PAIRS)
    assert "The table contains paired comparisons" in user.page.inner_text("main")
    user.look()
    user.ask()
    user.option("Method").select_option("maximum-likelihood")
    user.click("Fit the model")
    assert "tea" in user.report()
    tall, window = user.page.evaluate(
        "[document.querySelector('iframe').clientHeight, innerHeight]"
    )
    assert (
        tall > 0.7 * window
        and user.page.evaluate("document.documentElement.scrollHeight") <= window
    )
    with user.page.expect_download() as sent:
        user.click("Download the report")
    assert Path(sent.value.path()).read_text().startswith("<!doctype html>")
    user.look()


def focused(user):
    """The name of the field that has the focus, and what its part of the page says."""
    return user.page.evaluate(
        "[document.activeElement.name, document.activeElement.closest('.field')?.innerText || '']"
    )


@pytest.mark.long
def test_a_study_is_mended_compared_and_taken_along(user):
    user.drop("drinks.csv", PAIRS)
    user.ask()
    user.option("Random choices (lapse rate)").fill("2")
    user.click("Fit the model")
    user.sees("the probability of a random choice, must be")
    name, said = focused(user)
    assert name == "lapse" and "must be" in said
    user.said.clear()  # the browser's console names the answer 400
    everywhere(user, "fault-at-once")
    user.option("Random choices (lapse rate)").fill("")
    user.option("Method").select_option("maximum-likelihood")
    user.option("Aspects").select_option("ibp")
    user.click("Fit the model")
    user.sees("Maximum likelihood requires known aspects")
    name, said = focused(user)
    assert name == "aspects" and "Maximum likelihood requires" in said
    assert "finished" not in user.page.locator("body").inner_text()
    everywhere(user, "fault-of-a-fit")
    user.option("Aspects").select_option("unique")
    user.click("Fit the model")
    user.report()
    user.screen("Compare")
    for box in ("Bradley-Terry-Luce", "shared aspects", "three shared aspects"):
        user.page.get_by_label(box, exact=True).first.uncheck()
    user.click("Compare models")
    user.sees("has no model selected")
    assert focused(user)[0] == "models"
    user.said.clear()
    everywhere(user, "compare")
    user.screen("Files")
    everywhere(user, "results-of-a-study")
    with user.page.expect_download() as sent:
        user.click("Download the folder")
    assert (
        sent.value.suggested_filename.endswith(".zip")
        and Path(sent.value.path()).stat().st_size > 10_000
    )
    user.look()


@pytest.mark.long
@pytest.mark.parametrize(
    "name, content, options",
    [
        ("pairs", PAIRS, {}),
        ("square", SQUARE, {"Error standard deviation of the similarities": "0.1"}),
        ("ranking", RANKING, {}),
        ("triplets", TRIPLETS, {}),
        ("experiment", EXPERIMENT, {}),
    ],
)
def test_the_whole_path(user, name, content, options):
    everywhere(user, "home")
    user.drop(f"{name}.csv", content)
    if name == "experiment":
        everywhere(user, "experiment-read")
        user.ask()
        user.page.get_by_label("Product classes").check()
        assert user.option("Method").count() == 1
        user.page.locator("select[data-of=price]").locator("visible=true").select_option(
            "less is better"
        )
        everywhere(user, "experiment-classes")
        user.page.get_by_label("Multinomial logit").check()
    everywhere(user, f"{name}-setup")
    if name != "experiment":
        user.ask()
        user.option("Draws per chain").fill("1000")
        everywhere(user, f"{name}-options")
    for label, value in options.items():
        user.option(label).select_option("=other")
        user.page.get_by_label(f"{label}, custom").fill(value)
    user.click("Fit the model")
    assert "tea" in user.report() or name == "experiment"
    everywhere(user, f"{name}-results")
    if name == "square":
        user.screen("More draws")
        everywhere(user, "more-draws")
        user.page.get_by_label("Total draws per chain").fill("3000")
        user.click("Continue")
        user.heading("Fitting")
        assert "3,000" in user.report()
    if name == "pairs":
        user.screen("Tests")
        user.page.get_by_label("Question").select_option("transitivity")
        user.click("Result")
        user.page.frame_locator("iframe[title='Result of the test']").get_by_role(
            "heading"
        ).first.wait_for()
        user.screen("Compare")
        user.click("Compare models")
        user.page.frame_locator("iframe[title='Comparison report']").get_by_role(
            "heading"
        ).first.wait_for()
        everywhere(user, f"{name}-compared")
        user.screen("Files")
        everywhere(user, f"{name}-files")
        for button in ("Tables for Excel", "Tables as CSV", "Posterior (netCDF)"):
            with user.page.expect_download() as sent:
                user.click(button)
            assert Path(sent.value.path()).stat().st_size > 500


def begin_long_fit(user, draws):
    user.click("Use celebrities")
    user.heading("How the table was read")
    user.ask()
    user.option("Draws per chain").fill(str(draws))
    user.click("Fit the model")
    user.sees(re.compile(" of .* sweeps"))


@pytest.mark.long
def test_stopping_keeps_what_there_is(user):
    begin_long_fit(user, 100_000)
    user.sees(re.compile("about .* left"))
    everywhere(user, "running")
    user.click("Stop and keep the draws")
    assert "draws" in user.report()
    assert "stopped early" in user.page.inner_text("main")
    everywhere(user, "stopped")


@pytest.mark.long
def test_killing_the_server_costs_nothing(browser, start, folder):
    first = start()
    user = User(browser, first)
    begin_long_fit(user, 20_000)
    first.kill()
    user.sees("The app is not responding")
    user.page.close()
    again = User(browser, start())
    assert "running" in again.page.inner_text("main")
    again.page.get_by_role("link", name="celebrities").click()
    again.sees(re.compile(" of .* sweeps"))
    (process,) = folder.glob("*/fit.process.json")
    os.kill(int(re.search(r"\d+", process.read_text())[0]), signal.SIGKILL)
    again.heading("The fit was stopped")
    everywhere(again, "killed")
    again.click("Continue")
    again.heading("Fitting")
    assert "20,000" in again.report()


SCRIPT = """
const say = (text) => {
  const line = document.createElement("p");
  line.textContent = text;
  document.body.append(line);
};
say("the simulator runs");
try { parent.document.title; say("reached the app"); } catch { say("kept from the app"); }
try { localStorage.getItem("thali-key"); say("read the key"); } catch { say("kept from the key"); }
fetch("/api/home").then(() => say("asked the app"), () => say("kept from the network"));
"""


@pytest.mark.long
def test_a_report_runs_its_own_script_which_reaches_nothing(browser, server, folder):
    study = Studies(folder).create("a study", dataset="celebrities")
    for name, content in {
        "reading": {"kind": "paired comparisons"},
        "fit": {"model": "elimination-by-aspects", "typed": {}, "paths": [], "has_cores": True},
        "fit.end": {"code": 0},
    }.items():
        study.write(name, content)
    hashed = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hashed}'"
    (study.path / "fit").mkdir()
    (study.path / "fit" / "report.html").write_text(
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}"><body><h2>The answer</h2>'
        f"<script>{SCRIPT}</script><script>say('another script runs')</script>"
    )
    user = User(browser, server)
    user.page.get_by_role("link", name="a study").click()
    frame = user.page.frame_locator("iframe[title=Report]")
    frame.get_by_text("kept from the network").wait_for()
    said = frame.locator("p").all_inner_texts()
    assert said == [
        "the simulator runs",
        "kept from the app",
        "kept from the key",
        "kept from the network",
    ]
    with user.page.expect_popup() as opened:
        user.click("Open in a new tab")
    opened.value.get_by_text("kept from the network").wait_for()
    said = opened.value.locator("p").all_inner_texts()
    assert "the simulator runs" in said and not {"read the key", "asked the app"} & set(said)


@pytest.mark.long
def test_labels_that_attack_stay_labels(user):
    cells = ['"' + attack.replace('"', '""') + '"' for attack in ATTACKS]
    rows = [f"{a},{b}" for a in cells for b in cells if a != b]
    user.drop(f"{ATTACKS[0]}{ATTACKS[1]}.csv", "winner,loser\n" + "\n".join(rows))
    everywhere(user, "attack-setup")
    user.ask()
    everywhere(user, "attack-question")
    user.option("Method").select_option("maximum-likelihood")
    user.click("Fit the model")
    user.report()
    everywhere(user, "attack-results")
    user.page.goto(user.home)
    user.heading("What do people choose")
    everywhere(user, "attack-home")


@pytest.mark.long
def test_the_keyboard_is_enough(user):
    user.page.keyboard.press("Tab")
    assert user.page.evaluate("document.activeElement.className") == "skip"
    for _ in range(12):
        user.page.keyboard.press("Tab")
        if user.page.evaluate("document.activeElement.textContent").startswith("Use celebrities"):
            break
    user.page.keyboard.press("Enter")
    user.heading("How the table was read")
    assert user.page.evaluate("document.activeElement.tagName") == "H1"
    user.page.get_by_role("link", name="Looks right: continue").focus()
    user.page.keyboard.press("Enter")
    user.heading("What do you want to know?")
    user.page.locator("input[name=model]:checked").focus()
    user.page.keyboard.press("ArrowUp")
    button = user.page.get_by_role("button", name="Fit the model", exact=True)
    for _ in range(10):
        user.page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    user.page.keyboard.press("Enter")
    user.report()


@pytest.mark.long
def test_a_stranger_sees_a_question_for_the_key(browser, server):
    page = browser.new_page()
    page.goto(server.address.partition("#")[0])
    page.get_by_role("heading", name="Enter your key").wait_for()
    assert chromium.faults(page) == []
    page.get_by_label("Key or password").fill("wrong")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("This key is not valid").wait_for()
    page.get_by_label("Key or password").fill(server.address.partition("#key=")[2])
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="What do people choose").wait_for()
