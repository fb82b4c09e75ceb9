"""Runs chains: threads in one process, each with a random stream of its own."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._random import streams
from thali.mcmc.bag import SWEEPS, Model, grown
from thali.mcmc.draws import ChainDraws
from thali.mcmc.loop import CROWDED, DONE, RECORD_FULL
from thali.mcmc.record import chain_draws, empty_record, enlarged
from thali.mcmc.start import prior_draw
from thali.mcmc.tuning import acceptance_rates, initial_tuning

SLICE = 0.1  # seconds that a chain runs between two looks at the progress bar and at Ctrl-C


@dataclass
class Task:
    """What to run: a sampler's kernel, the model, and how long."""

    kernel: Any
    model: Model
    prior: Any  # the public prior that model.prior was compiled from
    make_cache: Callable  # likelihood -> a chain's cache
    n_options: int
    alpha: float | None  # None: learned
    draws: int
    tune: int
    thin: int


class Chain:
    """One chain: its state, its record, and how far it is."""

    def __init__(self, task: Task, rng: np.random.Generator):
        self.task, self.rng = task, rng
        alpha = rng.standard_exponential() if task.alpha is None else task.alpha
        self.bag = prior_draw(rng, task.model, task.prior, task.n_options, alpha)
        self.cache = task.make_cache(task.model.likelihood)
        self.tuning = initial_tuning(task.n_options)
        self.record = empty_record(task.draws, task.n_options)
        self.total = (task.tune + task.draws) * task.thin
        self.step = 1

    @property
    def sweeps(self) -> int:
        return int(self.bag.whole[SWEEPS])

    @property
    def is_done(self) -> bool:
        return self.sweeps >= self.total and self.record.used[0] >= self.task.draws

    @property
    def draws(self) -> ChainDraws:
        """What has been recorded, and how often the random walks moved since tuning ended."""
        return chain_draws(self.record, acceptance_rates(self.tuning))

    def run_to(self, until: int) -> None:
        """Run until that many sweeps are done and recorded."""
        task = self.task
        while True:
            status = task.kernel(
                self.rng,
                task.model,
                self.cache,
                self.bag,
                self.tuning,
                self.record,
                until,
                task.tune * task.thin,
                task.thin,
            )
            if status == CROWDED:
                self.bag = grown(self.bag)
            elif status == RECORD_FULL:
                self.record = enlarged(self.record)
            else:
                assert status == DONE
                return

    def run_slice(self) -> None:
        """Run for about SLICE seconds. How the sweeps are sliced has no influence on the draws."""
        begin = time.perf_counter()
        self.run_to(min(self.total, self.sweeps + self.step))
        taken = time.perf_counter() - begin
        self.step = max(1, int(self.step * min(4.0, SLICE / max(taken, 1e-9))))


def run_chains(task: Task, chains: int, cores: int | None, random_seed, progress) -> tuple[list[ChainDraws], bool]:
    """Run the chains; returns their draws and whether Ctrl-C stopped them early.

    The same seed gives the same draws whatever `cores` is. `progress` has `note(text)` and `update(sweeps done)`.
    """
    states = [Chain(task, rng) for rng in streams(random_seed, chains)]
    interrupted = False
    try:
        if not task.kernel.is_compiled(task.model):
            progress.note("compiling, once")
        states[0].run_to(0)
        progress.note("")
        _run_in_threads(states, min(chains, cores or os.cpu_count() or 1), progress)
    except KeyboardInterrupt:
        interrupted = True
    draws = [s.draws for s in states]
    if interrupted and not any(d.alpha.size for d in draws):
        raise KeyboardInterrupt
    return draws, interrupted


def _run_in_threads(states: list[Chain], threads: int, progress) -> None:
    """Chains take turns on the threads, so that all advance alike when there are fewer threads than chains."""
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

    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
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
