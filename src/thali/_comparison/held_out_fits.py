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

from thali._inference.progress_display import Progress, build_duration_warning
from thali._inference.resumable_tasks import Batch, Record
from thali._inference.threads_and_processes import run_all
from thali._inference.user_warnings import silence_warnings, warn
from thali._labels import list_names
from thali._model.model_files import encode_arrays
from thali._model.model_spec import MODEL
from thali._model.registry import find_spec
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

    from thali._inference.random_seeds import RandomSeed
    from thali._model.base import Model


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
    main_process: int  # the id of the main process

    @property
    def record(self) -> dict[Any, Any]:
        """Model name and part, which begin the fit's record."""
        return {"model": self.name, self.splitter.part_noun: self.part_index, "error": None}


def run(task: HeldOutFit) -> dict[Any, Any]:
    """Fit a model without the held-out part; return the scores of its predictions."""
    start_seconds = time.process_time()
    settings = task.settings | {"random_seed": task.seed}
    try:
        # the comparison warns once for all fits
        with ignore_sigint(task.main_process), silence_warnings():
            model = clone(task.model, settings)  # another thread may use the model of the task
            # other keywords of a pipeline are those of its steps
            parameters = inspect.signature(model.fit).parameters
            fit_arguments = {
                name: value
                for name, value in _select_settings(model, settings).items()
                if name in parameters
            }
            model.fit(*task.splitter.select_training_data(task.part), **fit_arguments)
            if find_spec(model) is not None and model._interrupted_:
                raise KeyboardInterrupt
            scores = task.scorer.score(model, task.splitter.select_held_out_data(task.part))
    except Exception as error:  # a failure must not end the other fits
        return task.record | {"error": f"{type(error).__name__}: {error}"}
    return task.record | scores | {"seconds": time.process_time() - start_seconds}


def _select_settings(model: "Model", settings: dict[Any, Any]) -> dict[Any, Any]:
    """Return the run settings that the model's method takes, with a fixed length."""
    if (spec := find_spec(model)) is None:
        return settings
    method_names = {option.name for option in spec.select_options(model._method)}
    unused_names = {option.name for option in spec.options} - method_names
    method_settings = {
        name: setting for name, setting in settings.items() if name not in unused_names
    }
    return model._get_comparison_run() | method_settings


def clone(model: "Model", settings: dict[Any, Any]) -> Any:
    """Return an unfitted copy of a model, with those settings that its constructor takes."""
    if (spec := find_spec(model)) is None:
        return copy.deepcopy(model)
    parameters = model.get_params()
    for option in spec.options:
        if option.to == MODEL and option.name in settings:
            parameters[option.target] = settings[option.name]
    return type(model)(**parameters)


@contextmanager
def ignore_sigint(main_process: int) -> Any:
    """Ignore Ctrl-C within this block, in worker processes."""
    if os.getpid() == main_process or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)


_MAX_NAMED = 3
_DIED = "its worker process crashed repeatedly, possibly for lack of memory; use fewer cores"


def run_comparison(
    models: dict[str, Any],
    splitter: Splitter,
    scorer: Scorer,
    prepared_models: dict[str, Any],
    settings: dict[Any, Any],
    *,
    hold_out: int | None,
    folds: int | None,
    cores: int | None,
    random_seed: "RandomSeed",
    progressbar: bool,
    job: str | os.PathLike[str] | None = None,
    cores_of_fit: int | None = 1,
) -> "pandas.DataFrame":
    """Fit every model without each part; return the table of scores.

    Fits run in parallel on `cores`, each on `cores_of_fit`; a single fit has all `cores`.
    """
    lapse_by_model = {
        name: model.lapse for name, model in prepared_models.items() if model.lapse is not None
    }
    run_lengths = {name: settings.get(name) for name in ("draws", "tune", "chains", "thin")}
    split_settings = {"leave_out": splitter.leave_out, "hold_out": hold_out, "folds": folds}
    if folds is not None:
        splitter.part_noun = Splitter.part_noun  # without folds a part may be one pair
    # raise errors before the job folder is created
    splitter.list_parts(np.random.SeedSequence(0), hold_out, folds)
    encoded_source = encode_arrays({"data": splitter.data, "lapses": lapse_by_model})
    with open_job(
        job,
        BY_PREDICTION,
        models,
        split_settings | run_lengths,
        splitter.data,
        random_seed,
        encoded_source,
    ) as (folder, seed):
        parts = splitter.list_parts(seed, hold_out, folds)
        fit_keys = list_fits(models, len(parts))
        if len(fit_keys) == 1:
            cores_of_fit = cores
            cores = 1
        tasks = _list_held_out_fits(models, splitter, scorer, parts, seed, settings, cores_of_fit)
        if folder is not None:
            folder.plan(
                {format_fit_key(held_out_fit): held_out_fit[0] for held_out_fit in fit_keys}, "fits"
            )
        batch = Batch(
            tasks, lambda fit: format_fit_key((fit.name, fit.part_index)), run, _make_record, folder
        )
        duration_warning = build_duration_warning(
            "This comparison", "fewer ", Argument("draws"), ", or fewer ", Argument("folds")
        )
        progress = Progress(progressbar, "leaving out", len(tasks), "fits", duration_warning)
        is_interrupted = batch.finish(
            progress,
            lambda record: record.get("seconds", 0.0),
            lambda run, waiting: run_all(run, waiting, cores),
            partial(_compile_models, prepared_models, progress),
        )
        if is_interrupted and not batch.records:
            raise KeyboardInterrupt
        table = build_comparison_table(splitter, scorer, parts, list(models), batch.records)
    table.attrs.update(interrupted=is_interrupted, lapses=lapse_by_model)
    warn_about_fits(table, splitter, advise_resuming(job))
    return table


def _list_held_out_fits(
    models: dict[str, Any],
    splitter: Splitter,
    scorer: Scorer,
    parts: Any,
    seed: np.random.SeedSequence,
    settings: dict[str, Any],
    cores_of_fit: int | None,
) -> list[HeldOutFit]:
    """Return all fits of a comparison, with their seeds."""
    fit_settings = settings | {"progressbar": False, "job": None, "cores": cores_of_fit}
    tasks = []  # part by part, so that an interrupted run has complete parts
    seeds = seed.spawn(len(parts))
    for part_index, (part, part_seed) in enumerate(zip(parts, seeds, strict=True)):
        for name, model in models.items():
            held_out_fit = HeldOutFit(
                name,
                clone(model, {}),
                splitter,
                scorer,
                part_index,
                part,
                part_seed,
                fit_settings,
                os.getpid(),
            )
            tasks.append(held_out_fit)
    return tasks


def _compile_models(
    prepared_models: dict[str, Any], progress: Progress, pending_fits: list[HeldOutFit]
) -> None:
    """Compile the kernels of models still to be fitted; workers load them from disk."""
    for name in {task.name: None for task in pending_fits}:
        if name in prepared_models:
            prepared_models[name].compile(progress)


def _make_record(task: HeldOutFit, outcome: Any) -> Record:
    """Return a fit's record, or a record of the error if its process died."""
    if isinstance(outcome, BaseException):
        return task.record | {"error": _DIED}
    return outcome


def warn_about_fits(
    table: "pandas.DataFrame", splitter: Splitter, resume_advice: str | Fact
) -> None:
    """Warn about fits that failed, and about chains that disagree."""
    part_noun = splitter.part_noun
    missing_fits = table.attrs["missing"]
    n_fits = table.attrs["fits"]
    fit_names = {
        number: f"{row['model']!r} fitted without {splitter.name_part(row)}"
        for number, row in missing_fits.iterrows()
    }
    is_failed = missing_fits["why"] != NOT_RUN
    if is_failed.any():
        failed_fits = missing_fits[is_failed]
        failure_texts = [
            f"{fit_names[row.Index]} ({row.why})"
            for row in failed_fits.head(_MAX_NAMED).itertuples()
        ]
        if len(failed_fits) > _MAX_NAMED:
            failure_texts.append(f"and {len(failed_fits) - _MAX_NAMED:,} more")
        warn(
            IncompleteWarning(
                f"{len(failed_fits):,} of {n_fits:,} fits failed: {'; '.join(failure_texts)}. The"
                f" other fits were kept, but every {part_noun} for which a fit failed is excluded"
                " from the comparison for all models."
            )
        )
    if pending_names := [fit_names[number] for number in missing_fits.index[~is_failed]]:
        sentence_start = ""
        category = IncompleteWarning
        if table.attrs["interrupted"]:
            sentence_start = "Stopped early: "
            category = InterruptedWarning
        warn(
            category(
                f"{sentence_start}{n_fits - len(missing_fits):,} of {n_fits:,} fits are finished."
                f" Still to run: {list_names(pending_names, _MAX_NAMED)}. {part_noun.capitalize()}s"
                " not finished for all models are excluded; ",
                resume_advice,
                ".",
            )
        )
    if sentence := describe_disagreement(table):
        warn(ConvergenceWarning(sentence))
