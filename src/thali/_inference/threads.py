"""Work on threads and processes: chains in slices short enough for Ctrl-C, tasks over joblib,
pieces of a sum."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import Any

from joblib import cpu_count

from .interrupts import held_back

# Independent tasks over the workers of joblib: local processes, or the Dask or Ray cluster that the
# user has set


MAX_DEATHS = 3  # a task is given up after its process died this many times


def run_all(
    function: Callable[..., Any], tasks: list[Any], cores: int | None
) -> Iterator[tuple[int, Any]]:
    """Run `function(task)` for each task and yield (number of the task, result) as they finish.

    The backend and its size are those of `joblib.parallel_config`, if the user has set one; else
    local processes, as many as there are processors. If a local process dies, its task is repeated.
    """
    waiting = dict(enumerate(tasks))
    while waiting:
        try:
            for number, result in _run(function, waiting, cores):
                del waiting[number]
                yield number, result
        except BrokenExecutor:
            # All processes end when one dies, and joblib does not say whose task killed it: one of
            # the first in line. Each of them gets separate processes, so that a task that kills its
            # process affects no other.
            for number in list(waiting)[: 2 * (cores or cpu_count())]:
                yield number, _run_alone(function, waiting.pop(number))


def has_workers() -> bool:
    """Return whether the user has set workers by `joblib.parallel_config`: a cluster, threads, or a
    number of them."""
    from joblib.parallel import DEFAULT_BACKEND, get_active_backend, parallel_config

    backend, n_jobs = get_active_backend()
    with parallel_config(DEFAULT_BACKEND):
        default, _ = get_active_backend()
    return n_jobs != 1 and (n_jobs is not None or type(backend) is not type(default))


def _run_alone(function: Callable[..., Any], task: Any) -> Any:
    """The result of one task in a separate process, or the error if the process died repeatedly."""
    failure = None
    for _ in range(MAX_DEATHS):
        try:
            return next(iter(_run(function, {0: task}, 2)))[1]  # 1 would run it in this process
        except BrokenExecutor as error:
            failure = error
    return failure


def _run(function: Callable[..., Any], tasks: dict[int, Any], cores: int | None) -> Iterator[Any]:
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend: Any
    backend, set_by_user = get_active_backend()
    # of a cluster: all of it
    if cores is None and set_by_user is None and backend.default_n_jobs == 1:
        cores = cpu_count()
    jobs = [delayed(run_numbered)(function, number, task) for number, task in tasks.items()]
    settings: dict[str, Any] = {"n_jobs": cores, "batch_size": 1}
    parallel = partial(Parallel, **settings)
    if backend.supports_return_generator:
        yield from parallel(return_as="generator_unordered")(jobs)
        return
    together = effective_n_jobs(
        -1 if cores is None else cores
    )  # such a backend returns whole lists: keep each round of tasks
    for start in range(0, len(jobs), together):
        yield from parallel()(jobs[start : start + together])


def run_numbered(function: Callable[..., Any], number: int, task: Any) -> tuple[int, Any]:
    return number, function(task)


SLICE = 0.1  # seconds that a chain runs between two looks at the progress bar and at Ctrl-C


class Sliced:
    """Base of a chain that runs in slices; a subclass has `sweeps` (done), `total`, `is_done` and
    `run_to(sweeps)`."""

    step: int

    sweeps: int
    total: int
    is_done: bool
    step = 1  # sweeps of the next slice

    def run_to(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        raise NotImplementedError

    def run_slice(self) -> None:
        """Run for about SLICE seconds. How the sweeps are sliced has no influence on the draws."""
        begin = time.perf_counter()
        self.run_to(min(self.total, self.sweeps + self.step))
        taken = time.perf_counter() - begin
        self.step = max(1, int(self.step * min(4.0, SLICE / max(taken, 1e-9))))


def run_in_threads(states: Sequence[Sliced], cores: int | None, progress: Any) -> None:
    """Run all chains to their end, on one thread a core and at most one thread a chain.

    Chains take turns on the threads, so that all advance equally if there are fewer threads than
    chains. After Ctrl-C or a failure, each chain is at the end of a slice. `progress` has
    `update(sweeps done)`.
    """
    threads = cores or os.cpu_count() or 1
    # more than once only where the handler of Ctrl-C lets the run go on
    while not all(s.is_done for s in states):
        with held_back() as ctrl_c:
            _Crew(states).run(threads, ctrl_c, progress)
    progress.update(sum(s.sweeps for s in states))


class _Crew:
    """Threads that run slices of chains.

    The threads themselves record what is running. `Thread.join` and `Thread.is_alive` are not
    reliable: in CPython 3.11 and 3.12 an exception inside join makes both report the end of a
    thread that still runs.
    """

    def __init__(self, states: Sequence[Sliced]) -> None:
        self.states = states
        self.waiting = deque(s for s in states if not s.is_done)
        self.running = 0  # slices
        self.is_stopped = False
        self.failures: list[BaseException] = []
        self.changed = threading.Condition()  # guards all of the above

    def run(self, threads: int, ctrl_c: held_back, progress: Any) -> None:
        """Run until all chains are done, one has failed or Ctrl-C was noted; on return no slice is
        running."""
        try:
            for _ in range(min(threads, len(self.waiting))):
                threading.Thread(target=self._work, daemon=True).start()
            while not self._has_ended(SLICE) and not ctrl_c.is_noted:
                progress.update(sum(s.sweeps for s in self.states))
        finally:
            with self.changed:
                self._stop()
            self._has_ended(None)
        if self.failures:
            raise self.failures[0]

    def _has_ended(self, seconds: float | None) -> bool:
        """Wait this long (None: no limit) until nothing is running or waiting to run; returns
        whether that is so."""
        with self.changed:
            return self.changed.wait_for(lambda: not self.running and not self.waiting, seconds)

    def _stop(self) -> None:
        """Let no further slice begin; the caller holds `changed`."""
        self.is_stopped = True
        self.waiting.clear()

    def _work(self) -> None:
        """What each thread does."""
        while True:
            with self.changed:
                if not self.waiting:  # every remaining chain already has a thread
                    return
                state = self.waiting.popleft()
                self.running += 1
            failure = None
            try:
                state.run_slice()
            except BaseException as error:  # raised in the caller's thread
                failure = error
            with self.changed:
                self.running -= 1
                if failure is not None:
                    self.failures.append(failure)
                    self._stop()
                elif not self.is_stopped and not state.is_done:
                    self.waiting.append(state)
                self.changed.notify()


def rectangle(lengths: Sequence[int]) -> tuple[list[int], int]:
    """For interrupted chains: which to keep and how many draws of each, so that the most draws are
    kept."""
    draws = max(
        set(lengths), key=lambda d: (d * sum(length >= d for length in lengths), -d), default=0
    )
    return [number for number, length in enumerate(lengths) if length >= draws], draws


# Pieces of work on threads: each has its own random stream and its own place for the result -------


class Silent:
    """Shows nothing."""

    def update(self, done: int) -> None:
        """Ignore it."""


def in_threads(work: Callable[[int], None], count: int, cores: int | None) -> None:
    """Call work(0), ..., work(count - 1), which do not depend on each other, on that many threads.

    The first is done before the others, because it may have to compile.
    """
    if count:
        work(0)
    run_in_threads([_Piece(work, number) for number in range(1, count)], cores, Silent())


class _Piece(Sliced):
    """One call."""

    sweeps, total, is_done = 0, 1, False

    def __init__(self, work: Callable[[int], None], number: int) -> None:
        self.work, self.number = work, number

    def run_to(self, until: int) -> None:
        self.work(self.number)
        self.sweeps, self.is_done = 1, True
