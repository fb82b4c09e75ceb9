"""Runs chains: threads in one process, each with a random stream of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._random import streams
from thali._threads import Sliced, run_in_threads
from thali.mcmc.bag import SWEEPS, Model, capacity, grown, replica, resized, stack
from thali.mcmc.draws import ChainDraws
from thali.mcmc.loop import CROWDED, DONE, RECORD_FULL
from thali.mcmc.record import chain_draws, empty_record, enlarged
from thali.mcmc.start import prior_draw
from thali.mcmc.tempering import ladder, narrow_gaps, trade_rates
from thali.mcmc.tuning import acceptance_rates, initial_tuning, tuning_at
from thali.mcmc.verbs import cache_at


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
    temperatures: tuple[float, ...] = (1.0,)  # of the replicas, from 1 upwards
    lengthens: bool = False  # whether rungs are added to the ladder while tuning
    parameters: tuple[str, ...] = ()  # names of the likelihood's own


class Chain(Sliced):
    """One chain: its state, its record, and how far it is."""

    def __init__(self, task: Task, rng: np.random.Generator):
        self.task, self.rng = task, rng
        self.ladder = ladder(task.temperatures)
        bags = []
        for _ in task.temperatures:
            alpha = rng.standard_exponential() if task.alpha is None else task.alpha
            bags.append(prior_draw(rng, task.model, task.prior, task.n_options, alpha))
        room = max(capacity(b) for b in bags)
        self.bags = stack([b if capacity(b) == room else resized(b, room) for b in bags])
        self.caches = stack([task.make_cache(task.model.likelihood) for _ in bags])
        self.tunings = stack([initial_tuning(task.n_options) for _ in bags])
        self.record = empty_record(task.draws, task.n_options, len(task.parameters))
        self.total = (task.tune + task.draws) * task.thin
        self.counts = counts_anew(task.tune * task.thin, len(task.temperatures) > 1, task.lengthens)

    @property
    def bag(self):
        """The bag at temperature 1: views."""
        return replica(self.bags, self.ladder.at[0])

    @property
    def cache(self):
        """The likelihood's cache at temperature 1: views."""
        return cache_at(self.task.model.likelihood, self.caches, self.ladder.at[0])

    @property
    def sweeps(self) -> int:
        return int(self.bags.whole[0, SWEEPS])

    @property
    def is_done(self) -> bool:
        return self.sweeps >= self.total and self.record.used[0] >= self.task.draws

    @property
    def draws(self) -> ChainDraws:
        """What has been recorded, and how often random walks and trades were accepted since tuning ended."""
        stats: dict[str, Any] = acceptance_rates(tuning_at(self.tunings, 0))
        if self.ladder.heat.size > 1:
            stats |= {"temperature": 1.0 / self.ladder.heat, "swap_rate": trade_rates(self.ladder)}
        return chain_draws(self.record, self.task.parameters, stats)

    def run_to(self, until: int) -> None:
        """Run until that many sweeps of every replica are done and recorded."""
        while self.counts and self.counts[0][0] <= until:
            sweep, mends = self.counts.pop(0)
            self._run_kernel(sweep)
            if mends:
                self._lengthen()
            self.ladder.tried[:] = self.ladder.accepted[:] = 0.0
        self._run_kernel(until)

    def _lengthen(self) -> None:
        """A further rung, half-way up, in every gap across which too few trades were accepted.

        Its replica begins as a copy of the one below the gap.
        """
        gaps = narrow_gaps(self.ladder)
        if not gaps.size:
            return
        below = self.ladder.at[gaps]
        heat = self.ladder.heat
        new = np.arange(heat.size, heat.size + gaps.size)
        self.ladder = ladder(1.0 / np.insert(heat, gaps + 1, np.sqrt(heat[gaps] * heat[gaps + 1])))._replace(
            at=np.insert(self.ladder.at, gaps + 1, new)
        )

        def with_copies(states, chosen):
            return type(states)(*(np.concatenate([a, a[chosen]]) for a in states))

        def with_rungs(states):  # step sizes belong to rungs, not to replicas
            return type(states)(*(np.insert(a, gaps + 1, a[gaps], axis=0) for a in states))

        self.bags, self.caches = with_copies(self.bags, below), with_copies(self.caches, below)
        self.tunings = with_rungs(self.tunings)

    def _run_kernel(self, until: int) -> None:
        task = self.task
        while True:
            status = task.kernel(
                self.rng,
                task.model,
                self.caches,
                self.bags,
                self.tunings,
                self.ladder,
                self.record,
                until,
                task.tune * task.thin,
                task.thin,
            )
            if status == CROWDED:
                self.bags = grown(self.bags)
            elif status == RECORD_FULL:
                self.record = enlarged(self.record)
            else:
                assert status == DONE
                return


def counts_anew(tune: int, tempers: bool, lengthens: bool) -> list[tuple[int, bool]]:
    """The sweeps after which trades are counted anew, and whether the ladder is lengthened there.

    The first quarter of tuning is left to replicas that are still on their way; a longer ladder then has a quarter to
    settle.
    """
    if not tempers:
        return []
    eighths = [(tune * eighth // 8, lengthens and eighth > 2) for eighth in range(2, 7)]
    return [*eighths, (tune, False)]


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
        run_in_threads(states, cores, progress)
    except KeyboardInterrupt:
        interrupted = True
    draws = [s.draws for s in states]
    if interrupted and not any(d.alpha.size for d in draws):
        raise KeyboardInterrupt
    return draws, interrupted
