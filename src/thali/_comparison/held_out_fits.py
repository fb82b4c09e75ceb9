"""Running of all fits of a comparison, with any splitter and scorer."""

import copy
import inspect
import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.progress import Progress, build_duration_warning
from thali._inference.task_jobs import Batch, Record
from thali._inference.threads import run_all
from thali._inference.warn import silence_warnings, warn
from thali._labels import list_names
from thali._model.model_files import encode_arrays
from thali._model.registry import find_spec
from thali._model.spec import MODEL
from thali.errors import (
    Argument,
    ConvergenceWarning,
    Fact,
    IncompleteWarning,
    InterruptedWarning,
)

from .job_folder import BY_PREDICTION, advise_resuming, format_fit_key, list_fits, open_job
from .score_table import NOT_RUN, build_comparison_table
from .scorer import Scorer
from .sentences import describe_disagreement
from .splitter import Splitter

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class HeldOutFit:
    """One fit of a comparison: model, held-out part, seed."""

    name: str
    model: Any
    splitter: Splitter
    scorer: Scorer
    part_index: int  # of the part
    part: Any
    seed: np.random.SeedSequence
    settings: dict[Any, Any]  # settings of the fit, for models with these settings
    home: int  # the id of the main process

    @property
    def record(self) -> dict[Any, Any]:
        """Model name and part, which begin the fit's record."""
        return {"model": self.name, self.splitter.part: self.part_index, "error": None}


def run(task: HeldOutFit) -> dict[Any, Any]:
    """Fit a model without the held-out part; return the scores of its predictions."""
    began = time.process_time()
    settings = task.settings | {"random_seed": task.seed}
    try:
        # the comparison warns once for all fits
        with ignore_sigint(task.home), silence_warnings():
            model = clone(task.model, settings)  # another thread may use the model of the task
            arguments = select_arguments(model.fit, _select_settings(model, settings))
            model.fit(*task.splitter.select_training_data(task.part), **arguments)
            if find_spec(model) is not None and model._interrupted_:
                raise KeyboardInterrupt
            scores = task.scorer.score(model, task.splitter.select_held_out_data(task.part))
    except Exception as error:  # a failure must not end the other fits
        return task.record | {"error": f"{type(error).__name__}: {error}"}
    return task.record | scores | {"seconds": time.process_time() - began}


def _select_settings(model: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """Return the run settings that the model's method takes, with a fixed length."""
    if (spec := find_spec(model)) is None:
        return settings
    method_names = {option.name for option in spec.select_options(model._method)}
    unused = {option.name for option in spec.options} - method_names
    used = {name: setting for name, setting in settings.items() if name not in unused}
    return model._get_comparison_run() | used


def clone(model: Any, settings: dict[Any, Any]) -> Any:
    """Return an unfitted copy of a model, with those settings that its constructor takes."""
    if (spec := find_spec(model)) is None:
        return copy.deepcopy(model)
    parameters = model.get_params()
    for option in spec.options:
        if option.to == MODEL and option.name in settings:
            parameters[option.target] = settings[option.name]
    return type(model)(**parameters)


def select_arguments(function: Any, settings: dict[Any, Any]) -> dict[Any, Any]:
    """Return the settings that are parameters of the function."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return settings
    return {name: value for name, value in settings.items() if name in parameters}


@contextmanager
def ignore_sigint(home: int) -> Any:
    """Ignore Ctrl-C within this block, in worker processes."""
    if os.getpid() == home or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


_MAX_NAMED = 5
_DIED = "its worker process crashed repeatedly, possibly for lack of memory; use fewer cores"


def run_comparison(
    models: dict[str, Any],
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
    """Fit every model without each part; return the table of scores.

    Fits run in parallel on `cores`, each on `cores_of_fit`; a single fit has all `cores`.
    """
    lapses = {name: model.lapse for name, model in prepared.items() if model.lapse is not None}
    budget = {name: settings.get(name) for name in ("draws", "tune", "chains", "thin")}
    split_settings = {"leave_out": splitter.leave_out, "hold_out": hold_out, "folds": folds}
    if folds is not None:
        splitter.part = Splitter.part  # without folds a part may be one pair
    # raise errors before the job folder is created
    splitter.list_parts(np.random.SeedSequence(0), hold_out, folds)
    source = encode_arrays({"data": splitter.data, "lapses": lapses})
    with open_job(
        job, BY_PREDICTION, models, split_settings | budget, splitter.data, random_seed, source
    ) as (folder, seed):
        parts = splitter.list_parts(seed, hold_out, folds)
        fits = list_fits(models, len(parts))
        if len(fits) == 1:
            cores_of_fit = cores
            cores = 1
        fit_settings = settings | {"progressbar": False, "job": None, "cores": cores_of_fit}
        tasks = []  # part by part, so that an interrupted run has complete parts
        seeds = seed.spawn(len(parts))
        for part_index, (part, part_seed) in enumerate(zip(parts, seeds, strict=True)):
            for name, model in models.items():
                held_out = (part_index, part, part_seed)
                fit = HeldOutFit(
                    name, clone(model, {}), splitter, scorer, *held_out, fit_settings, os.getpid()
                )
                tasks.append(fit)
        if folder is not None:
            folder.plan({format_fit_key(fit_key): fit_key[0] for fit_key in fits}, "fits")
        batch = Batch(tasks, _format_task_key, run, _make_record, folder)
        progress = _build_progress(progressbar, len(tasks))
        interrupted = batch.finish(
            progress,
            lambda record: record.get("seconds", 0.0),
            lambda run, waiting: run_all(run, waiting, cores),
            partial(_compile_models, prepared, progress),
        )
        if interrupted and not batch.records:
            raise KeyboardInterrupt
        table = build_comparison_table(splitter, scorer, parts, list(models), batch.records)
    table.attrs.update(interrupted=interrupted, lapses=lapses)
    warn_about_fits(table, splitter, advise_resuming(job))
    return table


def _format_task_key(task: HeldOutFit) -> str:
    """Return the name of a fit in the job folder."""
    return format_fit_key((task.name, task.part_index))


def _build_progress(progressbar: bool, n_fits: int) -> Progress:
    """Build the progress bar of all fits, which warns of long comparisons."""
    duration_warning = build_duration_warning(
        "This comparison", "fewer ", Argument("draws"), ", or fewer ", Argument("folds")
    )
    return Progress(progressbar, "leaving out", n_fits, "fits", duration_warning)


def _compile_models(
    prepared: dict[str, Any], progress: Progress, waiting: list[HeldOutFit]
) -> None:
    """Compile the kernels of models that wait, so that workers load them from disk."""
    for name in {task.name: None for task in waiting}:
        if name in prepared:
            prepared[name].compile(progress)


def _make_record(task: HeldOutFit, outcome: Any) -> Record:
    """Return a fit's record; of a process that died, its error."""
    if isinstance(outcome, BaseException):
        return task.record | {"error": _DIED}
    return outcome


def warn_about_fits(
    table: "pandas.DataFrame", splitter: Splitter, resume_advice: str | Fact
) -> None:
    """Warn about fits that failed, and about chains that disagree."""
    part = splitter.part
    missing = table.attrs["missing"]
    n_fits = table.attrs["fits"]
    fit_names = {
        number: f"{row['model']!r} fitted without {splitter.name_part(row)}"
        for number, row in missing.iterrows()
    }
    is_failed = missing["why"] != NOT_RUN
    if is_failed.any():
        failed = missing[is_failed]
        clauses = [
            f"{fit_names[row.Index]} ({row.why})" for row in failed.head(_MAX_NAMED).itertuples()
        ]
        if len(failed) > _MAX_NAMED:
            clauses.append(f"and {len(failed) - _MAX_NAMED:,} more")
        warn(
            IncompleteWarning(
                f"{len(failed):,} of {n_fits:,} fits failed: {'; '.join(clauses)}. The other"
                f" fits were kept, but every {part} of a failed fit is excluded from the"
                " comparison for all models."
            )
        )
    if waiting := [fit_names[number] for number in missing.index[~is_failed]]:
        prefix = ""
        category = IncompleteWarning
        if table.attrs["interrupted"]:
            prefix = "Stopped early: "
            category = InterruptedWarning
        warn(
            category(
                f"{prefix}{n_fits - len(missing):,} of {n_fits:,} fits are finished. Not run:"
                f" {list_names(waiting, _MAX_NAMED)}. {part.capitalize()}s not finished for all"
                " models are excluded; ",
                resume_advice,
                ".",
            )
        )
    if sentence := describe_disagreement(table):
        warn(ConvergenceWarning(sentence))
