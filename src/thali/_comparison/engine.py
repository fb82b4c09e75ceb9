"""Runs every left-out fit of a comparison, whatever is left out and however it is scored, and
records it."""

import copy
import inspect
import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.parts import Batch, Record
from thali._inference.progress import Progress, build_duration_warning
from thali._inference.threads import run_all
from thali._inference.warn import silence_warnings, warn
from thali._labels import listed
from thali._model.registry import spec_of
from thali._model.saved import packed
from thali._model.spec import MODEL
from thali.errors import (
    Argument,
    ConvergenceWarning,
    Fact,
    IncompleteWarning,
    InPython,
    InterruptedWarning,
)

from .job import BY_PREDICTION, Fit, fits_of, key_of, opened_job
from .scorer import Scorer
from .sentences import unconverged
from .splitter import Splitter
from .table import NOT_RUN, ScoreTable, comparison_table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class LeftOutFit:
    """What to do: which model, without which part, with which seed. It travels to other
    processes."""

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
    """Fit, predict and score: the numbers of the scorer and CPU seconds, or what went wrong under
    "error"."""
    began = time.process_time()
    settings = task.settings | {"random_seed": task.seed}
    try:
        # of which the comparison speaks as a whole
        with ignore_sigint(task.home), silence_warnings():
            model = clone(task.model, settings)  # the task's own may be in use by another thread
            model.fit(
                *task.splitter.train(task.part), **accepted(model.fit, _of_method(model, settings))
            )
            if spec_of(model) is not None and model._interrupted_:
                raise KeyboardInterrupt
            found = task.scorer.score(model, task.splitter.test(task.part))
    except Exception as error:  # one failure must not cost the other fits
        return task.record | {"error": f"{type(error).__name__}: {error}"}
    return task.record | found | {"seconds": time.process_time() - began}


def _of_method(model: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """The settings that the method of a model has, and the length of a fit that would otherwise run
    until it agrees."""
    if (spec := spec_of(model)) is None:
        return settings
    others = {option.name for option in spec.options} - {
        option.name for option in spec.options_of(model._method)
    }
    return model._usual_run() | {
        name: value for name, value in settings.items() if name not in others
    }


def clone(model: Any, settings: dict[Any, Any]) -> Any:
    """Return a model like this one, not fitted, with those settings that its constructor takes, as
    of classifiers."""
    if (spec := spec_of(model)) is None:
        return copy.deepcopy(model)
    of_model = [option for option in spec.options if option.to == MODEL and option.name in settings]
    return type(model)(
        **model.get_params() | {option.passed: settings[option.name] for option in of_model}
    )


def accepted(function: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """Those settings that a function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return settings
    return {name: value for name, value in settings.items() if name in parameters}


@contextmanager
def ignore_sigint(home: int) -> Any:
    """In a worker process Ctrl-C is for the process that asks: it keeps what is finished and ends
    its workers."""
    if os.getpid() == home or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# Runs every left-out fit of a comparison, whatever is left out and however it is scored, and
# records it


_MAX_NAMED = 5
_DIED = "its worker process crashed repeatedly, possibly for lack of memory; use fewer cores"


def run_comparison(
    named: dict[str, Any],
    splitter: Splitter,
    scorer: Scorer,
    prepared: dict[str, Any],
    settings: dict[Any, Any],
    *,
    hold_out: int | None,
    folds: int | None,
    cores: int | None,
    random_seed: Any,
    progressbar: bool,
    job: Any = None,
    cores_of_fit: int | None = 1,
) -> "pandas.DataFrame":
    """Fit every model without each part, and make the table of their scores."""
    lapses = {name: own.lapse for name, own in prepared.items() if own.lapse is not None}
    budget = {name: settings.get(name) for name in ("draws", "tune", "chains", "thin")}
    way = {"leave_out": splitter.leave_out, "hold_out": hold_out, "folds": folds}
    if folds is not None:
        splitter.part = Splitter.part  # which may be one pair otherwise
    # raises errors before a job is touched
    splitter.parts(np.random.SeedSequence(0), hold_out, folds)
    source = packed({"data": splitter.data, "lapses": lapses})
    of_job = (job, BY_PREDICTION, named, way | budget, splitter.data, random_seed, source)
    with opened_job(*of_job) as (folder, seed):
        parts = splitter.parts(seed, hold_out, folds)
        seeds = seed.spawn(len(parts))
        fits = fits_of(named, len(parts))
        is_alone = len(fits) == 1
        of_fits = settings | {
            "progressbar": False,
            "job": None,
            "cores": cores if is_alone else cores_of_fit,
        }
        tasks = [  # part by part, so that an early end leaves whole parts
            LeftOutFit(
                name, clone(model, {}), splitter, scorer, number, part, seed, of_fits, os.getpid()
            )
            for number, (part, seed) in enumerate(zip(parts, seeds, strict=True))
            for name, model in named.items()
        ]
        if folder is not None:
            folder.plan({key_of(fit): fit[0] for fit in fits}, "fits")
        batch = Batch(tasks, lambda task: key_of((task.name, task.number)), run, _record_of, folder)
        quicker = "fewer ", Argument("draws"), ", or fewer ", Argument("folds")
        progress = Progress(
            progressbar,
            "leaving out",
            len(tasks),
            "fits",
            build_duration_warning("This comparison", *quicker),
        )

        def compile_first(waiting: list[LeftOutFit]) -> None:
            for name in {task.name: None for task in waiting}:
                if name in prepared:
                    prepared[name].compile(progress)

        interrupted = batch.finish(
            progress,
            lambda record: record.get("seconds", 0.0),
            lambda run, waiting: run_all(run, waiting, 1 if is_alone else cores),
            compile_first,
        )
        records: dict[Fit, Record | None] = {fit: batch.records.get(key_of(fit)) for fit in fits}
        if interrupted and not any(records.values()):
            raise KeyboardInterrupt
        table = comparison_table(ScoreTable(splitter, scorer, parts, list(named), records))
    table.attrs.update(interrupted=interrupted, lapses=lapses)
    go_on = InPython("set job=FOLDER to be able to resume", "add --out DIR to be able to resume")
    warn_of(table, splitter, go_on if job is None else f"repeat the call to resume from '{job}'")
    return table


def _record_of(task: LeftOutFit, given: Any) -> Record:
    """What a fit left, or that its process died."""
    return task.record | {"error": _DIED} if isinstance(given, BaseException) else given


def warn_of(table: "pandas.DataFrame", splitter: Splitter, go_on: str | Fact) -> None:
    """What a reader of the table must know besides."""
    part = splitter.part
    missing = table.attrs["missing"]
    fits = table.attrs["fits"]
    fit_names = {
        number: f"{row['model']!r} fitted without {splitter.name(row)}"
        for number, row in missing.iterrows()
    }
    is_failed = missing["why"] != NOT_RUN
    if is_failed.any():
        failed = missing[is_failed]
        named = [
            f"{fit_names[row.Index]} ({row.why})" for row in failed.head(_MAX_NAMED).itertuples()
        ]
        more = f"; and {len(failed) - _MAX_NAMED:,} more" if len(failed) > _MAX_NAMED else ""
        warn(
            IncompleteWarning(
                f"{len(failed):,} of {fits:,} fits failed: {'; '.join(named)}{more}. The other"
                f" fits were kept, but every {part} of a failed fit is excluded from the"
                " comparison for all models."
            )
        )
    if waiting := [fit_names[number] for number in missing.index[~is_failed]]:
        stopped = "Stopped early: " if table.attrs["interrupted"] else ""
        kind = InterruptedWarning if table.attrs["interrupted"] else IncompleteWarning
        warn(
            kind(
                f"{stopped}{fits - len(missing):,} of {fits:,} fits are finished. Not run:"
                f" {listed(waiting, _MAX_NAMED)}. {part.capitalize()}s not finished for all models"
                " are excluded; ",
                go_on,
                ".",
            )
        )
    if sentence := unconverged(table):
        warn(ConvergenceWarning(sentence))
