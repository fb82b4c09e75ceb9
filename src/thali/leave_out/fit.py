"""One left-out fit: a model fitted without one pair, and its score for that pair."""

import copy
import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from thali._quiet import quietly
from thali.data.pairs import PairedComparisons
from thali.leave_out.scores import Score, score
from thali.posterior.columns import columns_of
from thali.posterior.probabilities import probability_draws

# What a record of a finished fit holds.
RECORD = {"model": str, "pair": int, "error": type(None)} | {field.name: float for field in fields(Score)}


@dataclass(frozen=True)
class LeftOutFit:
    """What to do: which model, without which pair, with which seed. It travels to other processes."""

    name: str
    model: Any
    data: PairedComparisons
    pair: int  # its number among the compared pairs
    seed: np.random.SeedSequence
    budget: dict  # draws, tune, chains, thin
    home: int  # the process that asks

    @property
    def options(self) -> tuple[str, str]:
        """Labels of the pair."""
        return self.data.labels[self.data.first[self.pair]], self.data.labels[self.data.second[self.pair]]


def run(task: LeftOutFit) -> dict:
    """Fit, score, and say how it went: the numbers of a `Score`, or what went wrong under "error"."""
    record: dict = {"model": task.name, "pair": task.pair, "error": None}
    data, budget = task.data, task.budget
    model = clone(task.model)  # the task's own may be in use by another thread
    try:
        with deaf_to_ctrl_c(task.home), quietly():  # of convergence and connection the comparison speaks as a whole
            model.fit(data.without_pair(*task.options), random_seed=task.seed, cores=1, progressbar=False, **budget)
        if model.interrupted_:
            raise KeyboardInterrupt
        tree = model.posterior_
        pair = slice(task.pair, task.pair + 1)
        lapse = float(tree["constant_data"].dataset["lapse"])
        draws = probability_draws(columns_of(tree), data.first[pair], data.second[pair], lapse)
        found = score(float(data.wins[task.pair]), float(data.losses[task.pair]), draws.reshape(-1, budget["draws"]))
    except Exception as error:  # one failure must not cost the other fits
        return record | {"error": f"{type(error).__name__}: {error}"}
    return record | asdict(found)


def clone(model):
    """A model of the same class with the same parameters, not fitted; a copy of one that does not tell them."""
    if not hasattr(model, "get_params"):
        return copy.deepcopy(model)
    return type(model)(**model.get_params())


@contextmanager
def deaf_to_ctrl_c(home: int):
    """In a worker process Ctrl-C is for the process that asks: it keeps what is finished and ends its workers."""
    if os.getpid() == home or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
