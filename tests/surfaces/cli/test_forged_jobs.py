"""Job folders of somebody else, sealed as if thali had written them: refused in a sentence, or
harmless."""

import copy
import hashlib
import io
import os
import shutil
import zipfile

import numpy as np
import pytest
from helpers.sentences import said, says

from thali._inference import job_folders

pytestmark = pytest.mark.fit
QUICK = ["--draws", "60", "--tune", "50", "--chains", "2", "--seed", "1"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory, command_line):
    """The folder of a fit, with its job, and a file beside it that is nobody's business."""
    place = tmp_path_factory.mktemp("forged")
    (place / "tea.csv").write_text("option,tea,milk,juice\ntea,0,7,9\nmilk,3,0,6\njuice,1,4,0\n")
    before = os.getcwd()
    os.chdir(place)
    try:
        with pytest.raises(SystemExit) as stop:
            command_line(["fit", "tea.csv", *QUICK, "--out", "results"])
        assert stop.value.code == 0
    finally:
        os.chdir(before)
    return place


@pytest.fixture
def place(honest, tmp_path, monkeypatch):
    shutil.copytree(honest, tmp_path / "place")
    (tmp_path / "place" / "victim").write_text("mine")
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


def index_of(place):
    index = job_folders.read_index(place / "results" / "job")
    index["command"]["folder"] = str(place)
    return index


def forge(place, index):
    """Write the index with a right seal."""
    (place / "results" / "job" / "job.json").write_bytes(job_folders.encode_index(index))


def outside(place):
    """Everything beside the results."""
    return {
        path.relative_to(place): path.read_bytes() if path.is_file() else None
        for path in place.rglob("*")
        if "results" not in path.relative_to(place).parts
    }


def harmless(run, place):
    """No command takes the job for another one, or touches what is beside it; True if it was
    refused."""
    before, codes = outside(place), []
    for words in (["status", "results"], ["resume", "results"]):
        os.chdir(place)  # `resume` goes where the job was begun
        found = run(*words)
        codes.append(found.code)
        if found.code:
            last = found.err.splitlines()[-1]
            assert found.code == 2 and last.startswith("thali: error: ") and last.endswith("."), (
                found.err
            )
    assert outside(place) == before
    return 2 in codes


def paths_in(held, here=()):
    """Every value of an index, by the keys that lead to it."""
    yield here
    items = (
        held.items()
        if isinstance(held, dict)
        else enumerate(held)
        if isinstance(held, list)
        else ()
    )
    for key, value in items:
        yield from paths_in(value, (*here, key))


def changed(index, path, value):
    """The index with another value there; without it if that is `...`."""
    found = copy.deepcopy(index)
    held = found
    for key in path[:-1]:
        held = held[key]
    if value is ...:
        del held[path[-1]]
    else:
        held[path[-1]] = value
    return found


NAMES = [
    "../../victim",
    "/etc/passwd",
    "../victim",
    "job.json",
    "lock",
    "",
    "state-1.npz\n",
    "..",
    "state-00001.npz/../../../victim",
]


@pytest.mark.parametrize("name", NAMES)
def test_an_index_names_files_of_its_folder_alone(run, place, name):
    index = index_of(place)
    for path in (("state", "file"), ("segments", 0, "file")):
        forged = changed(index, path, name)
        digest = hashlib.sha256(b"mine").hexdigest()
        forge(place, changed(forged, (*path[:-1], "sha256"), digest))
        assert harmless(run, place)
    assert (place / "victim").read_text() == "mine"


@pytest.mark.long
def test_a_job_replaces_no_file_by_its_report(run, place):
    index = index_of(place)
    forge(place, changed(index, ("command", "arguments", "page"), {"path": str(place / "victim")}))
    found = run("resume", "results")
    assert found.code == 0
    says(found.err, "victim")
    assert (place / "victim").read_text() == "mine" and (place / "results" / "report.html").exists()


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "more",
    [{"out": "/tmp"}, {"overwrite": True}, {"terminal": 1}, {"typed": 5}, {"page": "victim"}],
)
def test_other_arguments_are_refused(refused, place, more):
    index = index_of(place)
    arguments = index["command"]["arguments"] | more
    forge(place, changed(index, ("command", "arguments"), arguments))
    said(refused("resume", "results"), "name a thali command")


def test_links_in_a_job_are_refused(run, place):
    lock = place / "results" / "job" / "lock"
    lock.unlink()
    lock.symlink_to(place / "made")
    assert run("status", "results").code == 2 and run("resume", "results").code == 2
    assert not (place / "made").exists()


def test_draws_that_are_not_there_are_missed(refused, place):
    index = index_of(place)
    for forged in (
        changed(index, ("segments",), []),
        changed(index, ("recorded",), [10**9] * 2),
        changed(index, ("chains",), 99),
        changed(index, ("place", "draws"), 10**9),
        changed(index, ("place", "tune"), 10**9),
    ):
        forge(place, forged)
        said(refused("resume", "results"), "have been changed since")


def test_arrays_of_somebody_else_are_refused(run, place):
    index, job = index_of(place), place / "results" / "job"
    content = io.BytesIO()
    np.savez(content, **{"0/x": np.zeros(60), "1/x": np.zeros(60)})
    for path in (("state",), ("segments", 0)):
        for bytes_ in (content.getvalue(), b"PK", b""):
            entry = index["state"] if path == ("state",) else index["segments"][0]
            kept = (job / entry["file"]).read_bytes()
            (job / entry["file"]).write_bytes(bytes_)
            forge(place, changed(index, (*path, "sha256"), hashlib.sha256(bytes_).hexdigest()))
            assert harmless(run, place)
            (job / entry["file"]).write_bytes(kept)


def test_arrays_that_only_say_that_they_are_large(refused, place):
    """They would take 8 TB; or they are zeros, packed."""
    index, job = index_of(place), place / "results" / "job"
    large, packed = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(large, "w") as archive, archive.open("0/alpha.npy", "w") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        )
    np.savez_compressed(packed, **{"0/alpha": np.zeros(10**6)})
    for content in (large.getvalue(), packed.getvalue()):
        (job / index["segments"][0]["file"]).write_bytes(content)
        forge(place, changed(index, ("segments", 0, "sha256"), hashlib.sha256(content).hexdigest()))
        said(refused("resume", "results"), "have been changed since")


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[]", b"null", b"5", b'"x"', b"{}", b"{"])
def test_an_index_that_is_none(run, place, body):
    seal = hashlib.sha256(body).hexdigest().encode()
    (place / "results" / "job" / "job.json").write_bytes(body + b"\n" + seal + b"\n")
    assert harmless(run, place)


@pytest.mark.long
def test_every_value_of_an_index(run, place, honest):
    """Each taken away, and replaced by values of other kinds."""
    index = index_of(place)
    tries, refused, failed = 0, 0, []
    for path in list(paths_in(index))[1:]:
        # a fit that draws a billion times is none of an attack
        far = path[-1] in ("draws", "tune", "max-time")
        for value in (..., None, 3 if far else 10**9, "x", [None], {"path": str(place / "victim")}):
            shutil.rmtree(place / "results")
            shutil.copytree(honest / "results", place / "results")
            forge(place, changed(index, path, value))
            tries += 1
            try:
                refused += harmless(run, place)
            except (Exception, SystemExit) as error:
                failed.append((path, value, repr(error)[:300]))
    print(f"{tries} forged indexes, {refused} refused, {len(failed)} failed")
    assert not failed, "\n".join(map(str, failed))
