"""Who may not use the app, and what it refuses: each attack, and what becomes of it."""

import asyncio
import csv
import io
import itertools
import json
import time
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import pytest
import uvicorn
from helpers import app_runs
from helpers.sentences import says
from starlette.testclient import TestClient
from uvicorn.server import ServerState

from thali._surfaces.app.request_guard import MAX_CONNECTIONS, Connection
from thali._surfaces.app.server import build_app
from thali._surfaces.app.study_folders import StudyFolder

HOME = "http://127.0.0.1:8000"
PAGES = ("/api/home", "/api/study/20260101-0000-00000000")


@pytest.fixture
def bare(app):
    """Whoever reaches the port."""
    return TestClient(app, base_url=HOME)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    app_runs.pause(monkeypatch, 0.0)


def all_routes(app):
    """Every address that shows or does something, with a method that it takes."""
    return [
        (
            next(iter(route.methods - {"HEAD"})),
            route.path.format(study="x", run="fit", word="tree", screen="ask"),
        )
        for route in app.app.routes
        if route.path.startswith("/api/")
    ]


def requests(secret):
    """Requests to a server with that key: group, method, path, headers, body, and the status that
    each must get."""
    key, no, home, data = {"x-thali-key": secret}, {}, "/api/home", b'{"name": "celebrities"}'
    for headers in (
        no,
        {"x-thali-key": ""},
        {"x-thali-key": "wrong"},
        {"x-thali-key": "ключ".encode()},
    ):
        yield "keys", "GET", home, headers, b"", 401
    yield "keys", "GET", f"{home}?key={secret}&x-thali-key={secret}", no, b"", 401
    yield (
        "keys",
        "GET",
        home,
        {"cookie": f"x-thali-key={secret}", "authorization": f"Bearer {secret}"},
        b"",
        401,
    )

    ours = "127.0.0.1 127.0.0.1:8000 localhost localhost:1 LOCALHOST [::1] [::1]:8000".split()
    others = (
        "evil.example evil.example:8000 127.0.0.1.evil.example localhost.evil.example 10.0.0.7"
        " 0.0.0.0 [::2] ::1"
    )
    others += " 127.0.0.2 127.1 2130706433 localhost. evil.example@localhost"
    for host in ours:
        yield "hosts", "GET", home, key | {"host": host}, b"", 200
    for host in (*others.split(), "", "127.0.0.1, evil.example"):
        yield "hosts", "GET", home, key | {"host": host}, b"", 421

    yield "origins", "GET", home, key | {"origin": HOME}, b"", 200
    others = (
        "http://evil.example http://127.0.0.1:9000 https://127.0.0.1:8000 http://127.0.0.1"
        " http://localhost:8000"
    )
    for origin in (*others.split(), "null", ""):
        yield "origins", "POST", "/api/dataset", key | {"origin": origin}, data, 403

    for site in ("same-origin", "none", "same-site", "cross-site", "x"):
        status = 200 if site in ("same-origin", "none") else 403
        # a link to the page, which shows nothing
        yield "sites", "GET", "/", {"sec-fetch-site": site}, b"", 200
        yield "sites", "GET", "/static/app.js", {"sec-fetch-site": site}, b"", status
        yield "sites", "GET", home, key | {"sec-fetch-site": site}, b"", status
        yield (
            "sites",
            "POST",
            "/api/dataset",
            key | {"sec-fetch-site": site},
            b"[]",
            status if status == 403 else 400,
        )

    up = (
        "%2e%2e ..%2f.. %2e%2e%2fguard.py ..%5cguard.py guard.py app.js/.. app.js%00 /etc/passwd ."
        " %00"
    ).split()
    for name in up:
        yield "paths", "GET", f"/static/{name}", key, b"", 404
    for name in (*up[:8], "20260101-0000-0000000g", "20260101-0000-00000000%2f.."):
        yield "paths", "GET", f"/api/study/{name}", key, b"", 404
    for path in ("//etc/passwd", "/ticket/x", "/api"):
        yield "paths", "GET", path, key, b"", 404

    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "MADE-UP"):
        yield "methods", method, "/api/dataset", key, b"", 405

    forms = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
    for form in forms:  # what a page elsewhere may send without asking
        yield "forms", "POST", "/api/dataset", {"content-type": form}, data, 401
        yield (
            "forms",
            "POST",
            "/api/dataset",
            {"content-type": form, "origin": "http://evil.example"},
            data,
            403,
        )

    for length in ("-1", "many", "1e3", "5, 5", "0x5", str(3 << 30)):
        yield "lengths", "POST", "/api/upload", key | {"content-length": length}, b"x", 413


@pytest.mark.parametrize("group", list(dict.fromkeys(group for group, *_ in requests(""))))
def test_a_request_gets_what_is_due(bare, client, group):
    for its, method, path, headers, body, status in requests(client.headers["x-thali-key"]):
        if its != group:
            continue
        found = bare.request(method, path, headers=headers, content=body)
        assert found.status_code == status, (method, path, headers)
        assert "access-control-allow-origin" not in found.headers
    assert client.studies.list_all() == []


def test_nothing_is_shown_or_done_without_the_key(app, bare):
    routes = all_routes(app)
    assert len(routes) > 15
    for method, path in routes:
        assert bare.request(method, path).status_code == 401, path


def test_an_open_server_goes_by_its_addresses_and_its_names_alone(tmp_path):
    app = build_app(tmp_path, "key", ("localhost", "0.0.0.0", "lab"), any_address=True)
    browser = TestClient(app, headers={"x-thali-key": "key"})
    for host, status in {"lab:80": 200, "10.0.0.7:80": 200, "evil.example": 421}.items():
        assert browser.get("/api/home", headers={"host": host}).status_code == status


def test_a_large_upload_is_refused_before_it_is_read(client):
    headers = {"content-length": str(3 << 30)}

    def never():
        raise AssertionError("the body was read")
        yield b""

    found = client.post("/api/upload", content=never(), headers=headers)
    assert found.status_code == 413 and "200 MB" in found.json()["problem"]


def test_a_large_upload_that_declares_nothing_is_broken_off(client, monkeypatch):
    app_runs.limit_upload(monkeypatch, 1000)
    sent = []

    def endless():
        for _ in range(100):
            sent.append(100)
            yield b"x" * 100

    assert client.post("/api/upload", content=endless()).status_code == 413
    assert list(client.studies.folder.iterdir()) == []


@pytest.mark.parametrize("more, status", [(0, 200), (1, 413)])
def test_an_upload_may_be_as_large_as_the_limit(client, childless, monkeypatch, more, status):
    app_runs.limit_upload(monkeypatch, 1000)
    for content in (b"x" * (1000 + more), iter([b"x" * 999, b"x" * (1 + more)])):
        assert client.post("/api/upload", content=content).status_code == status


def test_a_body_that_does_not_come_is_not_waited_for(app, client, monkeypatch):
    app_runs.limit_body(monkeypatch, 0.05)
    headers = [(b"host", b"127.0.0.1"), (b"x-thali-key", client.headers["x-thali-key"].encode())]
    scope = dict(type="http", method="POST", path="/api/dataset", headers=headers, query_string=b"")
    sent = []

    async def receive():
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    asyncio.run(asyncio.wait_for(app(scope, receive, send), 10))
    assert sent[0]["status"] == 408 and b"The request took too long" in sent[1]["body"]


def test_a_large_form_is_broken_off(client):
    body = json.dumps({"name": "x" * (2 << 20)})
    assert client.post("/api/dataset", content=iter([body.encode()])).status_code == 413


def test_what_is_no_form_is_refused(client):
    for body in (b"[", b"[1]", b'{"name": {"a": 1}}', b"\xff", b"[" * 200_000, b'{"a":' * 100_000):
        assert client.post("/api/dataset", content=body).status_code == 400


def test_a_zip_bomb_is_not_unpacked(client, children_here):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (64 << 20))
    page = client.page(client.drop("bomb.xlsx", packed.getvalue()))
    assert "would unpack to" in page


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd.csv",
        "/etc/cron.d/x.csv",
        "..\\..\\x.csv",
        "a\0b.csv",
        "x" * 5000 + ".csv",
        ".csv",
        "..",
        "data",
    ],
)
def test_the_name_of_an_upload_is_no_path(client, children_here, name):
    address = client.drop(name, b"winner,loser\na,b\nb,a\n")
    study = client.study(address)
    assert {path.name for path in client.studies.folder.parent.iterdir()} == {"studies"}
    assert study.data_name in ("data.csv", "data.txt")
    assert len(study.about["title"]) <= 200


@pytest.mark.parametrize(
    "study", ["..", "../x", "%2e%2e", "20260101-0000-0000000g", "20260101-0000-00000000/..", "x"]
)
def test_a_study_is_named_by_its_name_alone(client, study):
    assert client.get(f"/api/study/{study}").status_code == 404
    assert client.studies.find_study(study) is None


def test_a_folder_beside_the_studies_is_no_study(client):
    beside = StudyFolder(client.studies.folder.parent / "beside")
    beside.path.mkdir()
    beside.write("study", {"title": "a secret"})
    assert client.studies.find_study("../beside") is None


def test_no_file_but_those_of_results_is_given(client, children_here):
    address = client.go("/dataset", name="celebrities")
    (client.studies.folder / "report.html").write_text("a secret")
    assert client.post(f"/api{address}/ticket", json={"what": "../view"}).status_code == 404
    for what in (
        "fit/../study.json",
        "../study",
        "study.json",
        "fit/",
        "read/view",
        "fit/csv",
        "",
        "fit",
    ):
        assert client.post(f"/api{address}/ticket", json={"what": what}).status_code == 404


@pytest.mark.parametrize("is_linked", ["files", "folder"])
def test_a_link_in_a_folder_of_results_is_not_given(client, childless, tmp_path, is_linked):
    address = client.go("/dataset", name="celebrities")
    folder, other = client.study(address).path / "fit", tmp_path / "other"
    other.mkdir()
    for name in ("report.html", "posterior.nc", "tables.xlsx", "table.csv"):
        (other / name).write_text("a secret")
    if is_linked == "folder":
        folder.symlink_to(other)
    else:
        folder.mkdir()
        for file in other.iterdir():
            (folder / file.name).symlink_to(file)
    for kind in ("view", "report", "posterior", "xlsx", "csv"):
        assert (
            client.post(f"/api{address}/ticket", json={"what": f"fit/{kind}"}).status_code == 404
        ), kind


def test_a_path_is_no_value_of_an_option(client, children_here):
    address = client.go("/dataset", name="celebrities")
    refused = client.go(f"{address}/fit", model="elimination-by-aspects", aspects="/etc/passwd")
    says(refused, "must be one of")
    started = client.go(
        f"{address}/fit",
        model="elimination-by-aspects",
        tree="/etc/passwd",
        aspects="file",
        draws="x",
    )
    assert "integer" in started  # and the tree was left out
    assert client.post(f"/api{address}/file/..%2Fx", content=b"").status_code == 404
    assert client.post(f"/api{address}/file/nothing", content=b"").status_code == 404


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "../other.csv", "data.csv/../../x", "/dev/zero", "study.json", 5]
)
def test_a_study_has_data_in_its_own_folder_alone(client, children_here, file):
    study = client.studies.create("a title", dataset="celebrities")
    study.write("study", {"title": "a title", "created": "2026-01-01T00:00:00+00:00", "file": file})
    assert "is damaged" in client.page(f"/study/{study.name}")


def test_every_response_says_what_browsers_may_do(client, bare):
    for found in (
        bare.get("/"),
        bare.get("/static/app.css"),
        bare.get("/nothing"),
        bare.get(PAGES[0]),
        client.get(PAGES[0]),
    ):
        policy = found.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in found.headers


def test_the_page_without_a_key_says_nothing_of_anybody(client, bare, children_here):
    client.drop("of-ann.csv", b"winner,loser\nann,bob\n")
    for path in ("/", "/study/20260101-0000-00000000", "/static/app.js", "/favicon.ico"):
        shown = bare.get(path)
        assert shown.status_code == 200 and "ann" not in shown.text


def test_a_download_in_csv_holds_no_formula(client, childless):
    address = client.go("/dataset", name="celebrities")
    folder = client.study(address).path / "test"
    folder.mkdir()
    cells = [
        "=HYPERLINK(1)",
        "@SUM(1)",
        "-1+1|cmd",
        "+a",
        "\t=1",
        "-0.5",
        "+3",
        "-inf",
        "plain=",
        'a,"b"\nc',
        "",
    ]
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([["x", "y"], *([cell, "1"] for cell in cells)])
    (folder / "t.csv").write_text(table.getvalue())
    with zipfile.ZipFile(io.BytesIO(client.file(address, "test/csv").content)) as archive:
        found = list(csv.reader(io.StringIO(archive.read("t.csv").decode(), newline="")))
    assert [row[0] for row in found[1:]] == [f"'{cell}" for cell in cells[:5]] + cells[5:]


class Task:
    """An answer that is being computed."""

    def add_done_callback(self, done):
        pass


class Timer(NamedTuple):
    """What a clock calls later, unless it is cancelled."""

    cancel: Callable[[], None]


MOMENTS = itertools.count()


class Clock:
    """The loop of a server, whose time a test moves."""

    def __init__(self):
        self.later = []

    def time(self):
        return next(MOMENTS)

    def call_later(self, seconds, *what):
        self.later.append(what)
        return Timer(lambda: self.later.remove(what))

    def create_task(self, coroutine):
        coroutine.close()
        return Task()

    def pass_by(self):
        """The time until everybody looked once."""
        waiting, self.later = self.later, []
        for look, *arguments in waiting:
            look(*arguments)


class Wire:
    """What a connection sends to."""

    closed = aborted = False
    sent = b""

    def write(self, sent):
        self.sent += sent

    def get_extra_info(self, name):
        return None

    def is_closing(self):
        return self.closed

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True


def connected(state=None):
    made = Connection(
        uvicorn.Config(lambda scope: None), state or ServerState(), {}, clock := Clock()
    )
    made.connection_made(wire := Wire())
    return made, clock, wire


def test_half_a_request_is_not_waited_for():
    made, clock, wire = connected()
    made.data_received(b"GET / HTTP/1.1\r\n")
    made.data_received(b"Host: 127")
    assert not wire.closed
    clock.pass_by()
    assert wire.closed


def test_half_a_request_after_a_whole_one_is_not_waited_for():
    made, clock, wire = connected()
    made.data_received(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    for _ in range(9):  # as long as the answer takes
        clock.pass_by()
    assert not wire.closed
    made.cycle.response_complete = True
    clock.pass_by()
    assert wire.closed


def test_a_client_that_reads_nothing_is_not_waited_for():
    made, clock, wire = connected()
    made.data_received(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    made.pause_writing()
    made.resume_writing()  # it reads slowly
    for _ in range(9):
        clock.pass_by()
    assert not wire.closed
    made.pause_writing()
    clock.pass_by()
    assert wire.aborted


def test_what_is_closed_is_not_kept_open_by_a_client_that_reads_nothing():
    for closed_by_uvicorn in (True, False):
        _, clock, wire = connected()
        wire.closed = closed_by_uvicorn
        clock.pass_by()
        assert wire.closed and not wire.aborted  # the client may still read
        clock.pass_by()
        assert wire.aborted


def test_there_are_only_so_many_connections_at_once():
    state = ServerState()
    busy = [connected(state) for _ in range(MAX_CONNECTIONS)]
    for made, _, _ in busy:
        made.data_received(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    refused, _, wire = connected(state)
    assert not any(wire.closed or wire.sent for _, _, wire in busy)
    head, _, body = wire.sent.partition(b"\r\n\r\n")
    assert (
        wire.closed
        and head.startswith(b"HTTP/1.1 503 ")
        and "try again" in json.loads(body)["problem"]
    )
    for each in (refused, busy[0][0]):
        each.connection_lost(None)
    assert not connected(state)[2].closed


def test_idle_connections_make_room_for_new_ones():
    state = ServerState()
    held = [connected(state) for _ in range(MAX_CONNECTIONS)]
    held[0][0].data_received(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    new = [connected(state) for _ in range(3)]
    assert [number for number, (_, _, wire) in enumerate(held) if wire.closed] == [1, 2, 3]
    assert not any(wire.closed for _, _, wire in new)


def test_nobody_can_try_many_keys_at_once(bare, monkeypatch):
    app_runs.pause(monkeypatch, 0.2)
    began = time.monotonic()
    bare.get("/api/home")
    assert time.monotonic() - began >= 0.2
