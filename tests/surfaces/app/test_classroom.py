"""A class: who may take part and who may look, and what becomes of whatever else is sent."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest
import uvicorn
from starlette.testclient import TestClient

from thali.errors import DataError
from thali.field.live import ASKED_FILE, FILE, planned_to_serve
from thali.surfaces.app import classroom as module
from thali.surfaces.app import guard, start
from thali.surfaces.app.classroom import classroom
from thali.surfaces.app.guard import LOCAL, MAX_CONNECTIONS, MAX_FORM, Connection

KEY, CODE, HOME = "the-key", "abc234", "http://127.0.0.1:8000"
TRIALS = {"practice": 0, "each": 15}
DRINKS = ["tea", "coffee", "milk", "juice", "water", "cocoa"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(guard, "_PAUSE", 0.0)
    monkeypatch.setattr(module, "_PAUSE", 0.0)


@pytest.fixture
def app(tmp_path):
    return made(tmp_path)


def made(folder, **study):
    planned = planned_to_serve(DRINKS, None, "Drinks", study)
    return classroom(planned, folder, CODE, KEY, LOCAL, False, f"{HOME}/")


@pytest.fixture
def bare(app):
    """Whoever reaches the port."""
    return TestClient(app, base_url=HOME, follow_redirects=False)


def message(person="ann", answers=(), wants=4):
    held = [{"number": n, "shown": list(shown), "pick": pick, "time": 800} for n, shown, pick in answers]
    sent = {"person": person, "seed": 7, "started": "2026", "facts": {}, "waiting": []}
    return sent | {"answers": held, "wants": wants}


@pytest.mark.unit
def test_who_has_the_code_answers_and_who_has_the_key_looks(bare, tmp_path):
    page = bare.get(f"/{CODE}")
    assert page.status_code == 200 and '"live":15' in page.text and "connect-src 'self'" in page.text
    shown = bare.post(f"/{CODE}/answers", json=message()).json()["questions"][0]
    found = bare.post(f"/{CODE}/answers", json=message(answers=[(1, shown, 0)])).json()
    assert found["kept"] == 1 and len(found["questions"]) == 4
    key = {"x-thali-key": KEY}
    standing = bare.get("/api/standing", headers=key).json()
    assert {name: standing[name] for name in ("people", "answers", "whole", "seen", "code", "rows")} == {
        "people": 1,
        "answers": 1,
        "whole": 0,
        "seen": 0,
        "code": CODE,
        "rows": [],
    }
    assert bare.get("/api/answers.csv", headers=key).content == (tmp_path / FILE).read_bytes()


@pytest.mark.unit
def test_without_the_code_nothing_is_asked_and_nothing_is_taken(bare, tmp_path):
    for wrong in ("", "abc23", "abc2345", "ABC23X", "%00", "ключик", "teacher2"):
        joined = bare.get("/", params={"code": wrong})
        assert joined.status_code == 404 and "is not the code" in joined.text, wrong
        if wrong:
            assert bare.get(f"/{wrong}").headers.get("location") == "/?code=", wrong
            assert bare.post(f"/{wrong}/answers", json=message(answers=[(1, (0, 1), 0)])).status_code == 404, wrong
    assert "is not the code" not in bare.get("/").text
    assert bare.get("/", params={"code": " ABC234 "}).headers["location"] == f"/{CODE}"
    assert not (tmp_path / FILE).exists()


@pytest.mark.unit
def test_a_wrong_code_costs_a_second(bare, monkeypatch):
    monkeypatch.setattr(module, "_PAUSE", 0.2)
    for ask in (lambda: bare.get("/?code=x"), lambda: bare.get("/x"), lambda: bare.post("/x/answers", json={})):
        begin = time.monotonic()
        ask()
        assert time.monotonic() - begin >= 0.2


@pytest.mark.unit
def test_without_the_key_nothing_is_shown(bare):
    bare.post(f"/{CODE}/answers", json=message("a-name-of-somebody", [(1, (0, 1), 0)]))
    assert "a-name-of-somebody" not in bare.get("/teacher").text and CODE not in bare.get("/teacher").text
    for path in ("/api/standing", "/api/answers.csv"):
        for headers in ({}, {"x-thali-key": ""}, {"x-thali-key": CODE}, {"cookie": f"x-thali-key={KEY}"}):
            found = bare.get(path, headers=headers)
            assert found.status_code == 401 and "thali field serve printed for you alone" in found.json()["problem"]
        assert bare.get(f"{path}?key={KEY}").status_code == 401


@pytest.mark.unit
def test_other_names_and_other_pages_are_refused(bare, tmp_path):
    address, sent = f"/{CODE}/answers", message(answers=[(1, (0, 1), 0)])
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "0.0.0.0", "10.0.0.7", ""):
        assert bare.post(address, json=sent, headers={"host": host}).status_code == 421, host
        assert bare.get(f"/{CODE}", headers={"host": host}).status_code == 421, host
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9000", "https://127.0.0.1:8000"):
        assert bare.post(address, json=sent, headers={"origin": origin}).status_code == 403, origin
    for site in ("cross-site", "same-site"):
        assert bare.post(address, json=sent, headers={"sec-fetch-site": site}).status_code == 403
        assert bare.get("/api/standing", headers={"sec-fetch-site": site, "x-thali-key": KEY}).status_code == 403
        assert bare.get(f"/{CODE}", headers={"sec-fetch-site": site}).status_code == 200  # a link on the board
        assert bare.get("/", headers={"sec-fetch-site": site}).status_code == 200
    assert not (tmp_path / FILE).exists()
    for path in ("/", f"/{CODE}", "/teacher"):
        assert "frame-ancestors 'none'" in bare.get(path).headers["content-security-policy"]


@pytest.mark.unit
def test_whatever_else_is_sent_gets_a_sentence_and_leaves_nothing(bare, tmp_path):
    address = f"/{CODE}/answers"
    bodies = (b"", b"{", b"[" * 100_000, b"\xff", b"[]", b"null", b"1e400", b'{"person": "\\ud800"}', b"NaN", b'"x"')
    for body in bodies:
        found = bare.post(address, content=body)
        assert found.status_code == 400 and found.json()["problem"], body[:20]
    assert bare.post(address, content=b" " * (MAX_FORM + 1)).status_code == 413
    assert bare.post(address, content=iter([b" " * 2**16] * 17)).status_code == 413  # nothing declared
    many = message(answers=[(1, (0, 1), 0)] * 10_000)
    assert bare.post(address, json=many).status_code == 400
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        assert bare.request(method, address).status_code == 405
    for path in ("/static/%2e%2e%2fclassroom.py", "/static/..%2fguard.py", "/a/b/c"):
        assert bare.get(path).status_code == 404, path
    assert not (tmp_path / FILE).exists()


@pytest.mark.unit
def test_somebody_who_posts_without_end_has_as_many_answers_as_everybody(bare, tmp_path):
    questions, refused = [], 0
    for begin in range(0, 90, 3):
        questions += bare.post(f"/{CODE}/answers", json=message()).json().get("questions", [])
        answers = [(1 + (begin + k) % 15, questions[(begin + k) % len(questions)], 0) for k in range(3)]
        found = bare.post(f"/{CODE}/answers", json=message(answers=answers, wants=0))
        refused += found.status_code == 400
        assert found.json().get("kept", 0) <= 15
    assert len((tmp_path / FILE).read_text().splitlines()) <= 16 and refused
    assert len((tmp_path / ASKED_FILE).read_text().splitlines()) <= 15


@pytest.mark.unit
def test_one_address_takes_no_room_from_others(tmp_path, monkeypatch):
    """By a script, with a new name each time."""
    monkeypatch.setattr("thali.field.live.MAX_OF_ADDRESS", 2)
    app = made(tmp_path)
    one, other = (TestClient(app, base_url=HOME, client=(host, 5000)) for host in ("10.0.0.7", "10.0.0.8"))
    found = [one.post(f"/{CODE}/answers", json=message(f"p{k}")) for k in range(4)]
    assert [each.status_code for each in found] == [200, 200, 429, 429]
    assert found[2].json()["problem"] == "2 people take part from 10.0.0.7, and there is no room for more."
    assert other.post(f"/{CODE}/answers", json=message("ann")).status_code == 200
    assert one.post(f"/{CODE}/answers", json=message("p0")).status_code == 200
    here = TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))
    assert {here.post(f"/{CODE}/answers", json=message(f"q{k}")).status_code for k in range(4)} == {200}


@pytest.mark.unit
def test_a_disk_that_is_full_is_said_and_the_answer_can_come_again(bare, monkeypatch):
    (shown,) = bare.post(f"/{CODE}/answers", json=message(wants=1)).json()["questions"]
    sent = message(answers=[(1, shown, 0)])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("thali.field.live.os.fsync", full)
        refused = bare.post(f"/{CODE}/answers", json=sent)
    assert (refused.status_code, refused.json()["problem"]) == (507, "No space left on device.")
    assert bare.post(f"/{CODE}/answers", json=sent).json()["kept"] == 1


@pytest.mark.unit
def test_the_pages_speak_the_language_of_the_study(tmp_path):
    bare = TestClient(made(tmp_path, language="de"), base_url=HOME)
    assert '<html lang="de">' in bare.get("/teacher").text and "Rangliste" in bare.get("/teacher").text
    assert "Der Code der Klasse" in bare.get("/").text and "Was ist Ihnen lieber?" in bare.get(f"/{CODE}").text


@pytest.mark.unit
def test_a_fit_that_fails_is_said_and_questions_go_on(tmp_path, monkeypatch):
    def broken(self):
        raise RuntimeError("no kernel")

    monkeypatch.setattr("thali.field.live.Live.fit", broken)
    monkeypatch.setattr(module, "_TICK", 0.01)
    with TestClient(made(tmp_path), base_url=HOME) as bare:
        for _ in range(200):
            if found := bare.get("/api/standing", headers={"x-thali-key": KEY}).json()["trouble"]:
                break
            time.sleep(0.01)
        assert found == "RuntimeError: no kernel"
        assert len(bare.post(f"/{CODE}/answers", json=message()).json()["questions"]) == 4


@pytest.mark.unit
def test_a_folder_remembers_its_code_and_is_served_by_one(tmp_path):
    with start.Held.of(tmp_path / "new") as held:
        held.write(8765, TRIALS, False)
        with pytest.raises(DataError, match="is being served already"), start.Held.of(tmp_path / "new"):
            pass
    with start.Held.of(tmp_path / "new") as again:
        assert (again.code, again.key, again.port) == (held.code, held.key, 8765)
    assert ((tmp_path / "new" / ".class.json").stat().st_mode & 0o077) == 0
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="Cannot use the folder"), start.Held.of(tmp_path / "file"):
        pass
    codes = {start._letters(6) for _ in range(50)}
    assert len(codes) == 50 and not set("".join(codes)) & set("l01o")


@pytest.mark.unit
@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", "[" * 100_000, '"x"', '{"code": 7, "key": null, "port": "x"}', '{"port": 99999}']
)
def test_a_folder_whose_memory_is_damaged_is_served_again(damage, tmp_path):
    (tmp_path / ".class.json").write_text(damage)
    with start.Held.of(tmp_path) as held:
        assert held.port == 0
        held.write(8765, TRIALS, True)
    with start.Held.of(tmp_path) as again:
        assert (again.code, again.key, again.port) == (held.code, held.key, 8765) and len(held.code) == 6
    assert ((tmp_path / ".class.json").stat().st_mode & 0o077) == 0


@pytest.mark.unit
def test_a_class_that_has_begun_keeps_its_numbers_of_trials(tmp_path):
    with start.Held.of(tmp_path) as held:
        held.write(8765, TRIALS, False)
    for other, told in (({"practice": 1}, "had 0 practice trials, this one has 1"), ({"each": 8}, "had 15 questions")):
        with start.Held.of(tmp_path) as held, pytest.raises(DataError, match=told):
            held.write(8765, TRIALS | other, True)
    with start.Held.of(tmp_path) as held:
        held.write(8765, TRIALS | {"each": 8}, False)  # nobody has answered


# A server that listens ------------------------------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path):
    """The address of a class that is served, and its folder."""
    listening = start._listening("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(made(tmp_path), http=Connection, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield port, tmp_path
    server.should_exit = True
    thread.join(10)
    listening.close()


def post(connection, sent):
    connection.request("POST", f"/{CODE}/answers", json.dumps(sent), {"content-type": "application/json"})
    found = connection.getresponse()
    return found.status, json.loads(found.read())


@pytest.mark.fit
def test_forty_people_at_once_lose_nothing_and_wait_for_no_fit(served):
    """Everybody answers three questions, sends some answers twice, while fits run."""
    port, folder = served
    began = threading.Barrier(40)

    def person(k):
        connection, slowest = HTTPConnection("127.0.0.1", port, timeout=30), 0.0
        began.wait()
        waiting = []
        for number in (1, 2, 3):
            if not waiting:
                waiting = post(connection, message(f"p{k}"))[1]["questions"]
            sent = message(f"p{k}", [(number, waiting.pop(0), 0)], wants=0)
            for _ in range(1 + number % 2):
                begin = time.monotonic()
                status, found = post(connection, sent)
                slowest = max(slowest, time.monotonic() - begin)
                assert (status, found["kept"]) == (200, number)
        connection.close()
        return slowest

    with ThreadPoolExecutor(40) as pool:
        slowest = list(pool.map(person, range(40)))
    lines = (folder / FILE).read_text().splitlines()
    assert len(lines) == len(set(lines)) == 121
    assert max(slowest) < 20.0


@pytest.mark.unit
def test_more_telephones_than_connections_are_answered(served):
    """Each keeps what it has open, as browsers do."""
    port, _ = served
    held = [HTTPConnection("127.0.0.1", port, timeout=10) for _ in range(MAX_CONNECTIONS + 40)]
    assert {post(each, message(f"p{k}"))[0] for k, each in enumerate(held)} == {200}
    for each in held:
        each.close()


@pytest.mark.unit
def test_a_request_that_never_ends_keeps_nobody_out(served):
    port, _ = served
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
    for each in idle:
        each.sendall(f"POST /{CODE}/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n".encode())
    assert post(HTTPConnection("127.0.0.1", port, timeout=10), message())[0] == 200
    for each in idle:
        each.close()
