"""Runs every left-out fit of a comparison, whatever is left out and however it is scored, and records it."""

import json
import os
from typing import TYPE_CHECKING, Any

from thali._labels import shorten
from thali.errors import ConvergenceWarning, IncompleteWarning, InterruptedWarning
from thali.inference.progress import Progress
from thali.inference.warn import warn
from thali.inference.workers import run_all
from thali.model.saved import describe

from .checkpoint import FinishedFits, fit_key
from .left_out import LeftOutFit, clone, run
from .scorer import Scorer
from .sentences import unconverged
from .splitter import Splitter
from .table import NOT_RUN, Scores, comparison_table

if TYPE_CHECKING:
    import pandas

_MAX_NAMED = 5
_DIED = "its worker process died again and again, perhaps for want of memory; use fewer cores"


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
    checkpoint: Any = None,
    cores_of_fit: int | None = 1,
) -> "pandas.DataFrame":
    """Fit every model without each part, and make the table of their scores.

    Parameters
    ----------
    named : mapping from name to model
    splitter, scorer
        What is left out, and how its prediction is scored.
    prepared : mapping from name to prepared model
        Of models whose sampler can be compiled beforehand, so that worker processes find it on the disk.
    settings : dict
        draws, tune, chains and thin, for the fits that take them.
    hold_out, folds, cores, random_seed, progressbar, checkpoint
        As of `thali.compare`.
    cores_of_fit : int, optional
        Of each fit; more than 1 where fits run one after the other. None: as many as there are.

    Returns
    -------
    pandas.DataFrame
    """
    fields = {"model": str, splitter.part: int, "error": type(None)} | scorer.fields
    with FinishedFits(checkpoint, random_seed, fields) as kept:
        parts = splitter.parts(kept.seed, hold_out, folds)
        seeds = kept.seed.spawn(len(parts))
        is_alone = len(parts) * len(named) == 1
        of_fits = settings | {"progressbar": False, "cores": cores if is_alone else cores_of_fit}
        tasks = [  # part by part, so that an early end leaves whole parts
            LeftOutFit(name, clone(model), splitter, scorer, number, part, seed, of_fits, os.getpid())
            for number, (part, seed) in enumerate(zip(parts, seeds, strict=True))
            for name, model in named.items()
        ]
        keys = _keys(tasks, splitter.digest(), settings)
        records = kept.find_all(keys)
        interrupted = _run_waiting(tasks, records, keys, kept, prepared, 1 if is_alone else cores, progressbar)
        if interrupted and not any(records):
            raise KeyboardInterrupt
        by_fit = {(task.name, task.number): record for task, record in zip(tasks, records, strict=True)}
        table = comparison_table(Scores(splitter, scorer, parts, list(named), by_fit))
    lapses = {name: own.lapse for name, own in prepared.items() if own.lapse is not None}
    table.attrs.update(interrupted=interrupted, lapses=lapses)
    _warn(table, splitter, len(tasks), checkpoint)
    return table


def _keys(tasks: list[LeftOutFit], digest: str, settings: dict[Any, Any]) -> list[str]:
    """For each fit everything that determines it, as a short text."""
    from thali import __version__

    described = {task.name: _described(task.model) for task in tasks}
    return [
        fit_key(
            __version__,
            digest,
            described[task.name],
            settings,
            *task.splitter.identity(task.number, task.part, task.seed),
        )
        for task in tasks
    ]


def _described(model: Any) -> str:
    return json.dumps(describe(model), sort_keys=True) if hasattr(model, "get_params") else repr(model)


def _run_waiting(
    tasks: list[LeftOutFit],
    records: list[Any],
    keys: list[str],
    kept: FinishedFits,
    prepared: dict[str, Any],
    cores: int | None,
    progressbar: bool,
) -> bool:
    """Run the fits without a record, and record them; whether Ctrl-C stopped this."""
    waiting = [number for number, record in enumerate(records) if record is None]
    with Progress(progressbar, "leaving out", len(tasks), "fits") as progress:
        try:
            for name in {tasks[number].name: None for number in waiting}:
                if name in prepared:
                    prepared[name].compile(progress)
            progress.update(len(tasks) - len(waiting))
            finished = run_all(run, [tasks[number] for number in waiting], cores)
            for done, (at, result) in enumerate(finished, start=1 + len(tasks) - len(waiting)):
                number = waiting[at]
                died = isinstance(result, BaseException)
                records[number] = record = tasks[number].record | {"error": _DIED} if died else result
                if record["error"] is None:
                    kept.add(keys[number], record)
                progress.update(done)
        except KeyboardInterrupt:
            return True
    return False


def _warn(table: "pandas.DataFrame", splitter: Splitter, fits: int, checkpoint: Any) -> None:
    """What a reader of the table must know besides."""
    missing, part = table.attrs["missing"], splitter.part
    fit_names = {number: f"{row['model']} without {splitter.name(row)}" for number, row in missing.iterrows()}
    is_failed = missing["why"] != NOT_RUN
    if is_failed.any():
        failed = missing[is_failed]
        named = [f"{fit_names[row.Index]} ({row.why})" for row in failed.head(_MAX_NAMED).itertuples()]
        more = f"; and {len(failed) - _MAX_NAMED:,} more" if len(failed) > _MAX_NAMED else ""
        warn(
            IncompleteWarning(
                f"{len(failed):,} of {fits:,} fits failed: {'; '.join(named)}{more}. The other fits were kept; these "
                f"{part}s count for no model."
            )
        )
    if table.attrs["interrupted"]:
        again = f"the same call goes on from '{checkpoint}'" if checkpoint else "with checkpoint=FILE it could go on"
        waiting = [fit_names[number] for number in missing.index[~is_failed]]
        warn(
            InterruptedWarning(
                f"Stopped early; {fits - len(missing):,} of {fits:,} fits are finished and kept; not run: "
                f"{shorten(waiting, _MAX_NAMED)}. {part.capitalize()}s that not every model has finished count "
                "for none; "
                f"{again}."
            )
        )
    if sentence := unconverged(table):
        warn(ConvergenceWarning(sentence))
