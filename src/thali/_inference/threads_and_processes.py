"""Running of chains on threads in time slices, and of tasks on processes."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from joblib import cpu_count

from .delayed_interrupt import DelayedInterrupt

if TYPE_CHECKING:
    from .markov_chains import RunMonitor
    from .progress_display import Progress


# Independent tasks over the workers of joblib: local processes, or the Dask or Ray cluster that the
# user has set


MAX_DEATHS = 3  # a task is given up after its process died this many times


def run_all(
    function: Callable[..., Any], tasks: list[Any], cores: int | None
) -> Iterator[tuple[int, Any]]:
    """Run `function(task)` on processes; yield (task index, result) as they finish.

    The backend and its size are those of `joblib.parallel_config`, if the user has set one; else
    local processes, as many as there are processors. If a local process dies, its task is repeated.
    """
    waiting_tasks = dict(enumerate(tasks))
    while waiting_tasks:
        try:
            for task_index, result in _run_over_workers(function, waiting_tasks, cores):
                del waiting_tasks[task_index]
                yield task_index, result
        except BrokenExecutor:
            # When one process dies, all end, and joblib does not report which task killed it. It
            # is one of the first tasks, so each of these runs in a separate process.
            for task_index in list(waiting_tasks)[: 2 * (cores or cpu_count())]:
                yield task_index, _run_in_process(function, waiting_tasks.pop(task_index))


def has_workers() -> bool:
    """Return whether the user configured a joblib backend with `parallel_config`."""
    from joblib.parallel import DEFAULT_BACKEND, get_active_backend, parallel_config

    backend, n_jobs = get_active_backend()
    with parallel_config(DEFAULT_BACKEND):
        default_backend, _ = get_active_backend()
    return n_jobs != 1 and (n_jobs is not None or type(backend) is not type(default_backend))


def _run_in_process(function: Callable[..., Any], task: Any) -> Any:
    """Return a task's result from its own process; retry if the process dies."""
    failure = None
    for _ in range(MAX_DEATHS):
        try:
            # on one core joblib would run the task in this process
            return next(iter(_run_over_workers(function, {0: task}, cores=2)))[1]
        except BrokenExecutor as error:
            failure = error
    return failure


def _run_over_workers(
    function: Callable[..., Any], tasks: dict[int, Any], cores: int | None
) -> Iterator[Any]:
    """Run tasks on joblib's workers; yield (task index, result)."""
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend: Any
    backend, user_n_jobs = get_active_backend()
    # a cluster without a limit is used completely
    if cores is None and user_n_jobs is None and backend.default_n_jobs == 1:
        cores = cpu_count()
    delayed_tasks = [
        delayed(run_numbered)(function, task_index, task) for task_index, task in tasks.items()
    ]
    parallel_settings: dict[str, Any] = {"n_jobs": cores, "batch_size": 1}
    make_parallel = partial(Parallel, **parallel_settings)
    if backend.supports_return_generator:
        yield from make_parallel(return_as="generator_unordered")(delayed_tasks)
        return
    # Such a backend returns complete lists only: run one round of tasks after another.
    round_size = effective_n_jobs(cores or -1)
    for first in range(0, len(delayed_tasks), round_size):
        yield from make_parallel()(delayed_tasks[first : first + round_size])


def run_numbered(function: Callable[..., Any], task_index: int, task: Any) -> tuple[int, Any]:
    """Return (task index, function(task))."""
    return task_index, function(task)


SLICE = 0.1  # seconds that a chain runs between two looks at the progress bar and at Ctrl-C


class SlicedWork:
    """Base class of work that runs in time slices, such as a chain."""

    step: int

    sweeps: int
    total: int
    is_done: bool
    step = 1  # sweeps of the next slice

    def run_until(self, until: int) -> None:
        """Run until `until` sweeps are done."""
        raise NotImplementedError

    def run_slice(self) -> None:
        """Run for about SLICE seconds."""
        start = time.perf_counter()
        self.run_until(min(self.total, self.sweeps + self.step))
        seconds = time.perf_counter() - start
        self.step = max(1, int(self.step * min(4.0, SLICE / max(seconds, 1e-9))))


def run_in_threads(
    chains: Sequence[SlicedWork], cores: int | None, progress: "Progress | RunMonitor | NoProgress"
) -> None:
    """Run all chains to their end on threads, updating progress meanwhile.

    Chains take turns on the threads, so that all advance equally if there are fewer threads than
    chains. After Ctrl-C or a failure, each chain is at the end of a slice. `progress` has
    `update(sweeps done)`.
    """
    n_threads = cores or os.cpu_count() or 1
    # repeated only if the user's handler of Ctrl-C lets the run continue
    while not all(chain.is_done for chain in chains):
        with DelayedInterrupt() as ctrl_c:
            _SliceThreads(chains).run(n_threads, ctrl_c, progress)
    progress.update(sum(chain.sweeps for chain in chains))


class _SliceThreads:
    """Threads that take turns at running waiting chains for a time slice.

    The threads themselves record what is running. `Thread.join` and `Thread.is_alive` are not
    reliable: in CPython 3.11 and 3.12 an exception inside join makes both report the end of a
    thread that still runs.
    """

    def __init__(self, chains: Sequence[SlicedWork]) -> None:
        self.states = chains
        self.waiting = deque(chain for chain in chains if not chain.is_done)
        self.running = 0  # slices
        self.is_stopped = False
        self.failures: list[BaseException] = []
        self.changed = threading.Condition()  # guards all of the above

    def run(
        self,
        n_threads: int,
        ctrl_c: DelayedInterrupt,
        progress: "Progress | RunMonitor | NoProgress",
    ) -> None:
        """Run until all chains are done, one fails, or Ctrl-C comes."""
        try:
            for _ in range(min(n_threads, len(self.waiting))):
                threading.Thread(target=self._run_slices, daemon=True).start()
            while not self._wait_until_idle(SLICE) and not ctrl_c.is_noted:
                progress.update(sum(chain.sweeps for chain in self.states))
        finally:
            with self.changed:
                self._stop()
            self._wait_until_idle(None)
        if self.failures:
            raise self.failures[0]

    def _wait_until_idle(self, seconds: float | None) -> bool:
        """Wait at most `seconds`; return whether no slice runs or waits."""
        with self.changed:
            return self.changed.wait_for(lambda: not self.running and not self.waiting, seconds)

    def _stop(self) -> None:
        """Let no other slice begin; the caller has locked `changed`."""
        self.is_stopped = True
        self.waiting.clear()

    def _run_slices(self) -> None:
        """Run slices of waiting chains until none waits, as thread target."""
        while True:
            with self.changed:
                if not self.waiting:  # every remaining chain already has a thread
                    return
                chain = self.waiting.popleft()
                self.running += 1
            failure = None
            try:
                chain.run_slice()
            except BaseException as error:  # raised in the caller's thread
                failure = error
            with self.changed:
                self.running -= 1
                if failure is not None:
                    self.failures.append(failure)
                    self._stop()
                elif not self.is_stopped and not chain.is_done:
                    self.waiting.append(chain)
                self.changed.notify()


def choose_longest_chains(draw_counts: Sequence[int]) -> tuple[list[int], int]:
    """Return the chains, and common number of draws, that keep most draws."""

    def count_draws(n_draws: int) -> tuple[int, int]:
        """Return (total draws kept, -n_draws), if chains are cut to n_draws."""
        n_chains = sum(draw_count >= n_draws for draw_count in draw_counts)
        return n_draws * n_chains, -n_draws

    n_draws = max(set(draw_counts), key=count_draws, default=0)
    return [chain for chain, draw_count in enumerate(draw_counts) if draw_count >= n_draws], n_draws


# Independent calls on threads: each has its random stream and its entry of the result -------------


class NoProgress:
    """Progress that shows nothing."""

    def update(self, n_done: int) -> None:
        """Do nothing."""


def call_in_threads(function: Callable[[int], None], n_calls: int, cores: int | None) -> None:
    """Call function(0), ..., function(n_calls - 1) on threads.

    The first is done before the others, because it may have to compile.
    """
    if n_calls:
        function(0)
    run_in_threads(
        [_SingleCall(function, call_index) for call_index in range(1, n_calls)], cores, NoProgress()
    )


@dataclass
class _SingleCall(SlicedWork):
    """One function call as `SlicedWork` of a single slice."""

    function: Callable[[int], None]
    call_index: int

    sweeps = 0
    total = 1
    is_done = False

    def run_until(self, until: int) -> None:
        """Call the function."""
        self.function(self.call_index)
        self.sweeps = 1
        self.is_done = True
