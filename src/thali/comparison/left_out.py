"""One left-out fit: a model fitted without one part of the data, and its scores for that part."""

import copy
import inspect
import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.inference.warn import without_warnings
from thali.model.registry import spec_of

from .scorer import Scorer
from .splitter import Splitter


@dataclass(frozen=True)
class LeftOutFit:
    """What to do: which model, without which part, with which seed. It travels to other processes."""

    name: str
    model: Any
    splitter: Splitter
    scorer: Scorer
    number: int  # of the part
    part: Any
    seed: np.random.SeedSequence
    settings: dict[Any, Any]  # of the fit, for the models that take them
    home: int  # the process that asks

    @property
    def record(self) -> dict[Any, Any]:
        """What a record begins with."""
        return {"model": self.name, self.splitter.part: self.number, "error": None}


def run(task: LeftOutFit) -> dict[Any, Any]:
    """Fit, predict and score: the numbers of the scorer and CPU seconds, or what went wrong under "error"."""
    began = time.process_time()
    settings = task.settings | {"random_seed": task.seed}
    try:
        with ignore_sigint(task.home), without_warnings():  # of which the comparison speaks as a whole
            model = clone(task.model, settings)  # the task's own may be in use by another thread
            model.fit(*task.splitter.train(task.part), **accepted(model.fit, _of_method(model, settings)))
            if spec_of(model) is not None and model.interrupted_:
                raise KeyboardInterrupt
            found = task.scorer.score(model, task.splitter.test(task.part))
    except Exception as error:  # one failure must not cost the other fits
        return task.record | {"error": f"{type(error).__name__}: {error}"}
    return task.record | found | {"seconds": time.process_time() - began}


def _of_method(model: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """The settings that the method of a model has, and the length of a fit that would otherwise run until it agrees."""
    if (spec := spec_of(model)) is None:
        return settings
    others = {option.name for option in spec.options} - {option.name for option in spec.options_of(model._method)}
    return model.usual_run() | {name: value for name, value in settings.items() if name not in others}


def clone(model: Any, settings: dict[Any, Any] | None = None) -> Any:
    """A model like this one, not fitted; those settings that are its parameters, as of classifiers, are changed."""
    if spec_of(model) is None:
        return copy.deepcopy(model)
    parameters = model.get_params()
    changed = {name: value for name, value in (settings or {}).items() if name in parameters}
    return type(model)(**parameters | changed)


def accepted(function: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """Those settings that a function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return settings
    return {name: value for name, value in settings.items() if name in parameters}


@contextmanager
def ignore_sigint(home: int) -> Any:
    """In a worker process Ctrl-C is for the process that asks: it keeps what is finished and ends its workers."""
    if os.getpid() == home or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
