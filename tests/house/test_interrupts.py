"""Ctrl-C at any moment: what comes back is whole sweeps, and nothing runs on behind it."""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest
from helpers import watched_runs
from helpers.ctrl_c import pressed
from helpers.interrupted_fits import KINDS, draws_of, fitted
from helpers.patience import PATIENCE
from helpers.sentences import refused

from thali._choice.product_classes.state import (
    FREE,
    HOLES,
    MUTE,
    NEXT_OWNED,
    NEXT_OWNER,
    OWNERS,
    PENDING,
    PERSON,
    VISITED,
)
from thali._inference import job_folders
from thali._inference.array_dict_encoding import decode_npz, encode_npz
from thali._inference.threads_and_processes import (
    SlicedWork,
    _SingleCall,
    call_in_threads,
    run_in_threads,
)
from thali.errors import DataError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")


class Slow(SlicedWork):
    """A chain whose state is torn while a slice runs."""

    total = 10_000

    def __init__(self, seconds=0.2):
        self.seconds, self.sweeps, self.is_torn = seconds, 0, False
        self.has_begun, self.may_end = threading.Event(), None

    @property
    def is_done(self):
        return self.sweeps >= self.total

    def run_until(self, until):
        self.is_torn = True
        self.has_begun.set()
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.001)
        if self.may_end is not None:
            self.may_end.wait(PATIENCE)
        self.sweeps = until
        self.is_torn = False


class Silent:
    def update(self, done): ...


@pytest.mark.parametrize(
    "moments", [(0.05,), (0.3,), (0.05, 0.1, 0.15), tuple(np.arange(1, 100) / 500)]
)
def test_ctrl_c_waits_for_the_end_of_every_slice(moments):
    """Once, again while it waits, and a key that is held down."""
    chains = [Slow(0.5), Slow(), Slow()]
    with pytest.raises(KeyboardInterrupt), pressed(*moments, after=chains[0].has_begun) as keys:
        chains[0].may_end = keys.last
        run_in_threads(chains, 2, Silent())
    done = [chain.sweeps for chain in chains]
    assert not any(chain.is_torn for chain in chains)
    time.sleep(0.6)
    assert done == [chain.sweeps for chain in chains]


def test_a_failure_waits_for_the_end_of_every_slice():
    class Failing(Slow):
        def run_until(self, until):
            raise ZeroDivisionError

    chains = [Slow(), Failing()]
    with pytest.raises(ZeroDivisionError):
        run_in_threads(chains, 2, Silent())
    assert not chains[0].is_torn and chains[0].sweeps == 1


def test_a_handler_of_ones_own_may_let_the_run_go_on():
    """As that of asyncio does at the first Ctrl-C."""
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    chains = [Slow(), Slow()]
    for chain in chains:
        chain.total = 3
    timer = threading.Timer(
        0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    try:
        timer.start()
        run_in_threads(chains, 2, Silent())
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert calls == [1] and all(chain.is_done for chain in chains)


def test_pieces_of_work_are_whole():
    states, inside = Counter(), threading.Event()

    def work(number):
        states["begun"] += 1
        if number:  # the first is done by the caller's thread
            inside.set()
        time.sleep(0.1)
        states["ended"] += 1

    with pytest.raises(KeyboardInterrupt), pressed(0.02, after=inside):
        call_in_threads(work, 100, 1)
    assert states["begun"] == states["ended"] < 100


PRESSED_WHILE_A_CALL_BEGINS = """
import ctypes, signal
import numpy as np
from thali._compile.jit import compiled, kernel
from thali._aspects.priors.given_features import GivenColumns

def roll(rng, model):
    return rng.random()

entry, model = {entry}(roll), GivenColumns(3)
rng, cast = np.random.default_rng(1), ctypes.cast
is_same = entry(rng, model) == np.random.default_rng(1).random()

def pressed(*arguments):  # Numba casts the functions of a random generator that it hands over
    ctypes.cast = cast
    signal.raise_signal(signal.SIGINT)
    return cast(*arguments)

ctypes.cast = pressed
try:
    entry(rng, model)
except KeyboardInterrupt:
    print("stopped", is_same)
"""


@pytest.mark.first(1)
@pytest.mark.parametrize("entry", ["kernel", "compiled"])
def test_ctrl_c_while_a_compiled_call_begins_is_no_crash(entry):
    """An exception within `ctypes.cast`, which Numba does not look at, would be a segmentation
    fault."""
    words = [sys.executable, "-c", PRESSED_WHILE_A_CALL_BEGINS.format(entry=entry)]
    child = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert (child.returncode, child.stdout) == (0, "stopped True\n"), child.stderr


def test_nothing_is_held_back_in_a_thread():
    found = []
    thread = threading.Thread(
        target=call_in_threads, args=(lambda _: found.append(signal.getsignal(signal.SIGINT)), 3, 1)
    )
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)] * 3


# every kind of model ------------------------------------------------------------------------------


class Slices:
    """How many slices are running; those that are when Ctrl-C comes take long, so that nobody
    misses them."""

    def __init__(self, run_slice):
        self.run_slice, self.is_pressed = run_slice, threading.Event()
        self.begun, self.ended, self.lock = 0, 0, threading.Lock()

    def run(self, chain):
        with self.lock:
            self.begun += 1
        self.run_slice(chain)
        # of the draws of a fit that was stopped
        if self.is_pressed.is_set() and not isinstance(chain, _SingleCall):
            time.sleep(0.5)
        with self.lock:
            self.ended += 1


@pytest.fixture
def slices(monkeypatch):
    found = Slices(watched_runs.run_slices_by(monkeypatch, lambda chain: found.run(chain)))
    return found


def stopped_fit(slices, moment, kind, **how):
    """A fit that was stopped at a moment, or earlier if it had ended by then; None if it had
    nothing to keep."""
    while True:
        model = None
        with contextlib.suppress(KeyboardInterrupt), pressed(moment) as keys:
            slices.is_pressed = keys.first
            model = fitted(kind, cores=1, **how)
        assert slices.begun == slices.ended
        if model is None or model._interrupted_:
            return model
        moment /= 2


def is_beginning(draws, whole) -> bool:
    """Whether each chain has the first draws of one of the unbroken run; those far behind others
    are left out."""
    chains = [
        {name: v[chain] for name, v in draws.items()}
        for chain in range(len(draws["log_likelihood"]))
    ]
    count = draws["log_likelihood"].shape[1]

    def same(a, chain):
        return all(
            np.array_equal(a[name], whole[name][chain, :count], equal_nan=True) for name in a
        )

    return all(any(same(a, chain) for chain in range(len(whole["log_likelihood"]))) for a in chains)


def stop_at(kind, moments, slices, monkeypatch):
    """Stop fits of a kind at those moments, as shares of its time; returns how many of them had
    drawn something."""
    watched_runs.cut_slices(monkeypatch, 0.01)
    fitted(kind, 20)  # compiles
    begin = time.monotonic()
    whole = draws_of(fitted(kind, cores=1))
    lasts = time.monotonic() - begin
    stopped = 0
    for moment in moments:
        model = stopped_fit(slices, moment * lasts, kind)
        if model is not None:
            assert is_beginning(draws_of(model), whole)
            stopped += 1
    return stopped


CHAINS = [kind for kind in KINDS if kind != "particles"]


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["pairs", "sparse logit", "hierarchical logit"])
def test_what_a_stopped_fit_drew_is_the_beginning_of_the_unbroken_one(kind, slices, monkeypatch):
    stop_at(kind, [0.4, 0.7], slices, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("kind", CHAINS)
def test_stopped_at_twenty_random_moments(kind, slices, monkeypatch):
    moments, stopped = np.random.default_rng(5), 0
    # on a busy machine a moment may lie before the first draw or behind the last
    for _ in range(4):
        at = moments.random(20)
        if kind == "own likelihood":  # most of its time goes into compiling what the user wrote
            at = 0.8 + 0.2 * at
        stopped += stop_at(kind, at, slices, monkeypatch)
        if stopped > 2:
            break
    assert stopped > 2


# product classes, which go on from a job ----------------------------------------------------------

RESUMED = ["product classes", "particles"]


def resumed_after(kind, moments, slices, monkeypatch, folder, size=None):
    """Stop fits at those moments and resume them; returns how many had left a snapshot on the
    way."""
    watched_runs.cut_slices(monkeypatch, 0.01)
    watched_runs.write_often(monkeypatch, share=0.05)
    begin = time.monotonic()
    # may have compiled, so that a longer time is measured
    whole = draws_of(fitted(kind, size, cores=2))
    lasts = time.monotonic() - begin
    begin = time.monotonic()
    fitted(kind, size, cores=1)
    lasts = min(lasts, time.monotonic() - begin)
    resumed = 0
    for number, moment in enumerate(moments):
        job = folder / str(number)
        model = stopped_fit(slices, moment * lasts, kind, job=job, size=size)
        if model is not None and not any(
            message.startswith("Stopped") for message in model._messages_
        ):  # else: other lapse
            assert is_beginning(draws_of(model), whole)
        if (job / job_folders.INDEX).exists():
            again = draws_of(fitted(kind, size, cores=2, job=job))
            assert all(np.array_equal(again[name], whole[name], equal_nan=True) for name in whole)
            resumed += 1
    return resumed


@pytest.mark.long
@pytest.mark.parametrize("kind", RESUMED)
def test_resumed_after_twenty_random_moments(kind, slices, monkeypatch, tmp_path):
    assert (
        resumed_after(kind, np.random.default_rng(6).random(20), slices, monkeypatch, tmp_path) > 4
    )


def visited(arrays, first):
    arrays[f"{first}state_whole"][0, VISITED] = 3


def pending(arrays, first):
    arrays[f"{first}state_whole"][0, PENDING] = 1


def holes(arrays, first):
    arrays[f"{first}state_whole"][0, HOLES] += 1


def free_list(arrays, first):
    arrays[f"{first}state_whole"][0, FREE] = used(arrays, first)[0]


def owners(arrays, first):
    arrays[f"{first}state_classes"][0, OWNERS] += 1


def circle(arrays, first):
    slot = used(arrays, first)[0]
    arrays[f"{first}state_slots"][slot, NEXT_OWNER] = slot


def nowhere(arrays, first):
    arrays[f"{first}state_slots"][used(arrays, first)[0], NEXT_OWNED] = 10**9


def muted(arrays, first):
    arrays[f"{first}state_slots"][used(arrays, first)[0], MUTE] = 1


def not_a_number(arrays, first):
    arrays[f"{first}state_real"][0, 0] = np.nan


def used(arrays, first):
    """Features of the first state that somebody owns."""
    return np.flatnonzero(
        arrays[f"{first}state_slots"][: arrays[f"{first}state_end_slots"][1], PERSON] >= 0
    )


def write_state(job, arrays):
    """As a fit would have written it, so that all hashes are right and the state alone is wrong."""
    index = job_folders.read_index(job)
    content = encode_npz(arrays)
    (job / index["state"]["file"]).write_bytes(content)
    index["state"]["sha256"] = hashlib.sha256(content).hexdigest()
    (job / job_folders.INDEX).write_bytes(job_folders.encode_index(index))


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", RESUMED)
def test_a_torn_state_is_refused(kind, tmp_path):
    job = tmp_path / "job"
    size = 40 if kind != "particles" else 3
    fitted(kind, size, job=job)
    whole = decode_npz((job / job_folders.read_index(job)["state"]["file"]).read_bytes())
    groups = ["0/"] if kind == "particles" else ["0/", "1/", "2/"]
    first = next(group for group in groups if used(whole, group).size)
    for tear in (visited, pending, holes, free_list, owners, circle, nowhere, muted, not_a_number):
        arrays = {name: array.copy() for name, array in whole.items()}
        tear(arrays, first)
        write_state(job, arrays)
        with refused(DataError, "stored fit", "cannot be resumed"):
            fitted(kind, size, job=job)
    write_state(job, whole)
    fitted(kind, size, job=job)
