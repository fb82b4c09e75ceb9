"""Chains of any model: how long they run, and one runner for all."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from thali._arguments import refuse_endless, whole

from .threads import Sliced, run_in_threads


class Run(NamedTuple):
    """How chains run: the arguments of `fit` that all models share, checked."""

    draws: int
    tune: int
    chains: int
    thin: int
    cores: int | None
    random_seed: Any
    progressbar: bool

    @property
    def sweeps(self) -> int:
        """Of all chains together."""
        return self.chains * (self.tune + self.draws) * self.thin


def checked_run(
    draws: int, tune: int, chains: int, thin: Any, cores: Any, random_seed: Any, progressbar: bool, usual_thin: int
) -> Run:
    """The arguments of `fit`, each within its range; `usual_thin` is what `thin=None` stands for."""
    draws, tune, chains = whole("draws", draws, 1), whole("tune", tune, 0), whole("chains", chains, 1)
    thin = usual_thin if thin is None else whole("thin", thin, 1)
    refuse_endless(draws, tune, chains, thin)
    cores = cores if cores is None else whole("cores", cores, 1)
    return Run(draws, tune, chains, thin, cores, random_seed, bool(progressbar))


class Chain(Sliced):
    """Base of a chain; a subclass has `recorded` in addition to what `Sliced` requires."""

    @property
    def recorded(self) -> int:
        """Draws recorded so far."""
        raise NotImplementedError


class FixedChain(Chain):
    """Base of a chain that records a draw every `thin` sweeps after `tune` draws' worth of them."""

    thin: int
    tune: int

    def __init__(self, draws: int, tune: int, thin: int) -> None:
        self.tune, self.thin = tune * thin, thin
        self.total = (tune + draws) * thin
        self.sweeps = 0

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total

    @property
    def recorded(self) -> int:
        return max(0, self.sweeps - self.tune) // self.thin


def run_chains(chains: Sequence[Chain], cores: int | None, progress: Any, is_compiled: bool = False) -> bool:
    """Run all chains to their end; returns whether Ctrl-C stopped them early, with at least a draw to show.

    `progress` has `note(text)` and `update(sweeps done)`.
    """
    try:
        if not is_compiled:
            progress.note("compiling, once")
        chains[0].run_to(0)
        progress.note("")
        run_in_threads(chains, cores, progress)
    except KeyboardInterrupt:
        if not any(chain.recorded for chain in chains):
            raise
        return True
    return False
