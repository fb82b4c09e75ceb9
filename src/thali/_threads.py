"""Chains as threads in one process, which look up often enough for a progress bar and for Ctrl-C."""

import os
import threading
import time
from collections import deque
from collections.abc import Sequence

SLICE = 0.1  # seconds that a chain runs between two looks at the progress bar and at Ctrl-C


class Sliced:
    """Base of a chain that runs in slices; a subclass has `sweeps` (done), `total`, `is_done` and `run_to(sweeps)`."""

    sweeps: int
    total: int
    is_done: bool
    step = 1  # sweeps of the next slice

    def run_to(self, until: int) -> None:
        """Run until that many sweeps are done and recorded."""
        raise NotImplementedError

    def run_slice(self) -> None:
        """Run for about SLICE seconds. How the sweeps are sliced has no influence on the draws."""
        begin = time.perf_counter()
        self.run_to(min(self.total, self.sweeps + self.step))
        taken = time.perf_counter() - begin
        self.step = max(1, int(self.step * min(4.0, SLICE / max(taken, 1e-9))))


def run_in_threads(states: Sequence[Sliced], cores: int | None, progress) -> None:
    """Run all to their end, on one thread a core, and no more threads than chains.

    Chains take turns on the threads, so that all advance alike when there are fewer threads than chains.
    `progress` has `update(sweeps done)`.
    """
    waiting = deque(states)
    stop = threading.Event()
    failures: list[BaseException] = []

    def work():
        while not stop.is_set():
            try:
                state = waiting.popleft()
            except IndexError:  # every chain that is left has a thread already
                return
            try:
                state.run_slice()
            except BaseException as failure:  # handed to the caller's thread below
                failures.append(failure)
                stop.set()
                return
            if not state.is_done:
                waiting.append(state)

    workers = [
        threading.Thread(target=work, daemon=True) for _ in range(min(len(states), cores or os.cpu_count() or 1))
    ]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(SLICE)
                progress.update(sum(s.sweeps for s in states))
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    progress.update(sum(s.sweeps for s in states))
    if failures:
        raise failures[0]


def rectangle(lengths: Sequence[int]) -> tuple[list[int], int]:
    """Of chains that were interrupted: which to keep, and how many draws of each, so that most draws are kept.

    Example
    -------
    >>> rectangle([50, 40, 45, 10])
    ([0, 1, 2], 40)
    """
    draws = max(set(lengths), key=lambda d: (d * sum(length >= d for length in lengths), -d), default=0)
    return [number for number, length in enumerate(lengths) if length >= draws], draws
