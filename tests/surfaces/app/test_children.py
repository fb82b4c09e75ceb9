"""Processes of the app: what they import, and that a stop ends them wherever they are."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import app_runs
from helpers.patience import PATIENCE
from helpers.sentences import said, says

import thali._surfaces.app.background_runs as runs
import thali._surfaces.app.child_process as child
from thali._surfaces.app.background_runs import Runs
from thali._surfaces.app.study_folders import FIT, READ, Studies

pytestmark = pytest.mark.fit
PAIRS = "winner,loser\n" + "".join(
    f"{a},{b}\n" for a, b in ("ab", "bc", "ac", "ca", "ba") for _ in range(6)
)
ASKED = {
    "model": "elimination-by-aspects",
    "typed": {"draws": 300_000, "seed": 1},
    "paths": [],
    "has_cores": True,
}
PLANTED = "raise ImportError('this file was run')\n"


def waited_for(happened):
    """What it gives, as soon as that is true."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()) and time.monotonic() < end:
        time.sleep(0.02)
    assert found, "it never happened"
    return found


@pytest.fixture
def among_planted_files(tmp_path, monkeypatch):
    """The folder where people are: files in it are called as modules of Python and of the app."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in ("random", "statistics", "secrets", "typer", "numpy", "json", "thali"):
        (folder / f"{name}.py").write_text(PLANTED)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.long
def test_no_file_of_the_folder_is_run_by_a_child(tmp_path, among_planted_files):
    study = Studies(tmp_path / "studies").create("celebrities", dataset="celebrities")
    study.write(READ, {})
    Runs(Studies(tmp_path / "studies")).read_data(study)
    assert study.read("reading")["kind"] == "paired comparisons"
    assert "was run" not in study.read_log(READ)


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux", reason="the memory of a process is limited on Linux alone"
)
def test_a_table_that_needs_too_much_memory_is_refused(tmp_path):
    study = Studies(tmp_path).create("large.csv", file="data.csv")
    (study.path / "data.csv").write_text("winner,loser\n" + "tea,milk\n" * 3_000_000)
    study.write(READ, {})
    limited = (
        "import sys; from thali._surfaces.app import child_process as child;"
        " child.MEMORY_TO_READ = 1 << 28; child.main(*sys.argv[1:])"
    )
    subprocess.run(
        [sys.executable, "-c", limited, READ, str(study.path), "1"], timeout=PATIENCE, check=True
    )
    said(study.read("read.end")["message"], "The table does not fit")


@pytest.mark.long
def test_no_file_of_the_folder_is_run_by_a_worker_of_a_comparison(among_planted_files):
    (among_planted_files / "t.csv").write_text(PAIRS)
    # as the script `thali` has it
    command = "import sys; sys.path.pop(0); from thali._surfaces.cli import main; main()"
    words = (
        "compare t.csv --models unique,1 --draws 20 --tune 5 --chains 1 --cores 2 --seed 1".split()
    )
    done = subprocess.run(
        [sys.executable, "-c", command, *words], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0 and "was run" not in done.stderr, done.stderr


def test_a_child_that_dies_says_why(client, monkeypatch):
    def dies(self, study, name):
        (study.path / f"{name}.log").write_text("Traceback\nImportError: planted\n")
        return subprocess.Popen(["true"])

    app_runs.begin_by(monkeypatch, dies)
    page = client.page(client.drop("table.csv", b"winner,loser\na,b\n"))
    says(page, "ImportError")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a script as a browser")
def test_the_key_is_in_no_list_of_processes(tmp_path):
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(
        '#!/bin/sh\npage="${1#file://}"\n(ls -l "$page"; echo "$@"; cat "$page")'
        f" >{told}.new\nmv {told}.new {told}\n"
    )
    browser.chmod(0o700)
    command = [sys.executable, "-m", "thali", "app", "--folder", str(tmp_path / "studies")]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"BROWSER": f"{browser} %s"}
    )
    try:
        assert server.stdout is not None
        address = re.search(r"http\S+", server.stdout.readline())[0]
        waited_for(told.exists)
        rights, argument, content = told.read_text().split("\n", 2)
        assert rights.startswith("-rw-------") and argument.startswith("file:///")
        assert address.partition("key=")[2] not in argument and f"url={address}" in content
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0
        assert not Path(argument.removeprefix("file://")).exists()
    finally:
        server.kill()
        server.wait()


def study_to_fit(folder):
    study = Studies(folder).create("pairs", file="data.csv")
    (study.path / "data.csv").write_text(PAIRS)
    study.write(FIT, ASKED)
    return study


# A child whose fit is sent SIGTERM where an exception would be lost, as in an import or a function
# that Python calls.
LOST = """
import os, signal, sys, time
from thali._surfaces.app import child_process as child

class Lost:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000): pass

def fit(study, terminal, cores):
    sys.path.insert(0, str(study.path))
    import imported
    print("the stop was lost", flush=True)

child.RUN_FUNCTIONS["fit"] = fit
child.main("fit", sys.argv[1], "1")
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there")
@pytest.mark.parametrize("where", ["an import", "a finaliser", "a lock"])
def test_a_stop_is_never_lost(tmp_path, where):
    study = study_to_fit(tmp_path)
    here = {
        "an import": "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(9)\nexcept"
        " BaseException: pass\n",
        "a finaliser": "from __main__ import Lost\nLost()\n",
        "a lock": "import threading\nthreading.Timer(0.2, os.kill, [os.getpid(),"
        f" signal.SIGTERM]).start()\ntry:\n    threading.Event().wait({PATIENCE})\nexcept"
        " BaseException: pass\n",
    }
    (study.path / "imported.py").write_text(f"import os, signal, time\n{here[where]}")
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(study.path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "lost" not in done.stdout, done.stdout
    assert study.read("fit.end").get("code") == 130, done.stderr


def stopped_after(folder, seconds):
    """A fit that is stopped so many seconds after it holds its lock: how it ended."""
    study = study_to_fit(folder)
    children = Runs(Studies(folder), slots=1)
    children.queue(study, FIT)
    child = children.children[study.name, FIT]
    waited_for((study.path / "fit.process.json").exists)
    time.sleep(seconds)
    children.stop(study, FIT)
    child.wait(PATIENCE)
    assert children.find_state(study, FIT) in (runs.ENDED, runs.STOPPED)
    was_killed = children.find_state(study, FIT) == runs.STOPPED
    return runs.read_end(study, FIT) | dict(
        was_killed=was_killed, seconds=seconds, log=study.read_log(FIT)
    )


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there")
@pytest.mark.parametrize(
    ("index", "is_reported"),
    [
        (None, False),
        ({"recorded": []}, False),
        ({"recorded": [0, 0]}, False),
        ({"recorded": [0, 3]}, True),
    ],
)
def test_a_stop_before_the_first_draw_is_a_stop(tmp_path, monkeypatch, index, is_reported):
    """Of a job that holds tuning alone there is nothing to report, and the fit was stopped, not
    refused."""
    reported = []

    def fit(model, data, **run):
        reported.append(run)
        raise KeyboardInterrupt

    app_runs.claim_index(monkeypatch, index)
    app_runs.fit_by(monkeypatch, fit)
    monkeypatch.chdir(tmp_path)
    study = Studies(tmp_path).create("x", dataset="celebrities")
    study.write(FIT, ASKED)
    assert child.carry_out(FIT, child.report_stopped_fit, study, 1)["code"] == 130
    assert bool(reported) == is_reported


@pytest.mark.long
def test_what_was_drawn_before_a_stop_is_shown(tmp_path):
    """The stop comes while nothing is drawn: the process begins anew, and reports the job."""
    study = study_to_fit(tmp_path)
    children = Runs(Studies(tmp_path), slots=1)
    children.queue(study, FIT)
    waited_for((study.path / FIT / "job" / "job.json").exists)
    children.stop(study, FIT)
    children.children[study.name, FIT].wait(PATIENCE)
    assert study.read("fit.end")["code"] == 130
    assert (study.path / FIT / "report.html").exists()


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there")
def test_stops_in_the_first_seconds(tmp_path):
    """28 fits, each stopped at another moment: all end, none goes on drawing, none blocks the
    next."""
    rng, ends = np.random.default_rng(3), []
    for number, seconds in enumerate(rng.uniform(0, 6, 28)):
        ends.append(stopped_after(tmp_path / str(number), seconds))
    failed = [end for end in ends if end["code"] != 130 and not end["was_killed"]]
    print(
        f"{len(ends)} stops, {sum(end['was_killed'] for end in ends)} before the handler,"
        f" {len(failed)} failed"
    )
    assert not failed


def own_address():
    """The address of this computer in its network; None if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return probe.getsockname()[0]
        except OSError:
            return None


def asked(address, key="", host=None):
    """The status of the start page's request at an address."""
    place, port = address
    connection = http.client.HTTPConnection(place, port, timeout=PATIENCE)
    connection.request(
        "GET", "/api/home", headers={"x-thali-key": key} | ({"Host": host} if host else {})
    )
    with connection.getresponse() as response:
        return response.status


@pytest.mark.long
def test_an_open_server_wants_its_password_on_every_interface(tmp_path):
    command = [sys.executable, *"-u -m thali app --host 0.0.0.0 --folder".split(), str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        sentence = [server.stdout.readline() for _ in range(4)]
        port = int(re.search(r"http://0\.0\.0\.0:(\d+)/\n", sentence[2])[1])
        password = sentence[3].removeprefix("password: ").strip()
        assert (
            len(password) == 19
            and password == password.lower()
            and not {"l", "0", "1", "o"} & set(password)
        )
        for place in {"127.0.0.1", own_address() or "127.0.0.1"}:
            found = [
                asked((place, port), *how)
                for how in (("",), ("x",), (password, "evil.example"), (password,))
            ]
            assert found == [401, 401, 421, 200]
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def served(folder):
    """A real server: its place, its key and its process."""
    command = [sys.executable, *"-u -m thali app --no-browser --folder".split(), str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        place, port, key = re.search(
            r"http://(\S+):(\d+)/#key=(\S+)", server.stdout.readline()
        ).groups()
        yield (place, int(port)), key, server.pid
    finally:
        server.kill()
        server.wait()


@pytest.mark.long
def test_half_sent_requests_are_closed(tmp_path):
    """300 at once, to a real server, which holds 128 and closes the oldest; it answers at once."""
    with served(tmp_path) as (place, key, _):
        waiting = [socket.create_connection(place, PATIENCE) for _ in range(300)]
        for each in waiting:
            each.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
        assert asked(place, key) == 200
        left = [each for each in waiting if has_more(each)]
        print(f"{len(waiting)} half-sent requests, {len(left)} not closed")
        assert not left
        for each in waiting:
            each.close()


def has_more(connection):
    """Whether the server sends something rather than closing the connection."""
    try:
        return connection.recv(1000) != b""
    except ConnectionResetError:
        return False


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="open files of a process are listed there")
def test_clients_that_read_nothing_are_closed(tmp_path):
    """100 clients ask for megabytes of pages each and read none; the server frees all of them."""
    with served(tmp_path) as (place, key, process):

        def count_files():
            return len(os.listdir(f"/proc/{process}/fd"))

        before = count_files()
        waiting = []
        for _ in range(100):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(place)
            connection.setblocking(False)
            connection.send(b"GET /static/app.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400)
            waiting.append(connection)
        assert asked(place, key) == 200
        assert count_files() > before + 90
        waited_for(lambda: count_files() < before + 10)
        assert asked(place, key) == 200


def test_queued_runs_start_once(tmp_path, monkeypatch):
    """Requests and the clock of the server start runs at the same time."""
    started = []

    def begin(self, study, name):
        started.append(study.name)
        time.sleep(0.05)
        study.remove(f"{name}.queued")

    app_runs.begin_by(monkeypatch, begin)
    studies = [study_to_fit(tmp_path) for _ in range(3)]
    children = Runs(Studies(tmp_path), slots=9)
    for study in studies:
        (study.path / "fit.queued").touch()
    askers = [threading.Thread(target=children.start_queued_runs) for _ in range(5)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(started) == sorted(study.name for study in studies)
