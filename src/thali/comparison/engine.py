"""Runs every left-out fit of a comparison, whatever is left out and however it is scored, and records it."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import shorten
from thali.errors import ConvergenceWarning, Fact, IncompleteWarning, InPython, InterruptedWarning
from thali.inference.parts import Batch, Record
from thali.inference.progress import Progress
from thali.inference.threads import run_all
from thali.inference.warn import warn
from thali.model.saved import packed

from .job import BY_PREDICTION, ELSEWHERE, Fit, Shard, fits_of, key_of, opened_job
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
    job: Any = None,
    shard: Shard | None = None,
    cores_of_fit: int | None = 1,
) -> "pandas.DataFrame":
    """Fit every model without each part, and make the table of their scores."""
    lapses = {name: own.lapse for name, own in prepared.items() if own.lapse is not None}
    budget = {name: settings.get(name) for name in ("draws", "tune", "chains", "thin")}
    way = {"leave_out": splitter.leave_out, "hold_out": hold_out, "folds": folds}
    splitter.parts(np.random.SeedSequence(0), hold_out, folds)  # raises errors before a job is touched
    source = packed({"data": splitter.data, "lapses": lapses})
    of_job = (job, BY_PREDICTION, named, way | budget, splitter.data, random_seed, shard, source)
    with opened_job(*of_job) as (folder, seed):
        parts = splitter.parts(seed, hold_out, folds)
        seeds = seed.spawn(len(parts))
        own = set(fits_of(named, len(parts), shard))
        is_alone = len(own) == 1
        of_fits = settings | {"progressbar": False, "job": None, "cores": cores if is_alone else cores_of_fit}
        tasks = [  # part by part, so that an early end leaves whole parts
            LeftOutFit(name, clone(model), splitter, scorer, number, part, seed, of_fits, os.getpid())
            for number, (part, seed) in enumerate(zip(parts, seeds, strict=True))
            for name, model in named.items()
            if (name, number) in own
        ]
        every = fits_of(named, len(parts))
        if folder is not None:
            folder.plan({key_of(fit): fit[0] for fit in every if fit in own}, "fits")
        batch = Batch(tasks, lambda task: key_of((task.name, task.number)), run, _record_of, folder)
        progress = Progress(progressbar, "leaving out", len(tasks), "fits")

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
        records: dict[Fit, Record | None] = {fit: {"error": ELSEWHERE} for fit in every}
        records |= {fit: batch.records.get(key_of(fit)) for fit in own}
        if interrupted and not any(records[fit] for fit in own):
            raise KeyboardInterrupt
        table = comparison_table(Scores(splitter, scorer, parts, list(named), records))
    table.attrs.update(interrupted=interrupted, lapses=lapses)
    kept = InPython("with job=FOLDER it could go on", "with --out DIR it could go on")
    warn_of(table, splitter, kept if job is None else f"the same call goes on from '{job}'")
    return table


def _record_of(task: LeftOutFit, given: Any) -> Record:
    """What a fit left, or that its process died."""
    return task.record | {"error": _DIED} if isinstance(given, BaseException) else given


def warn_of(table: "pandas.DataFrame", splitter: Splitter, go_on: str | Fact) -> None:
    """What a reader of the table must know besides."""
    part = splitter.part
    missing = table.attrs["missing"]
    missing = missing[missing["why"] != ELSEWHERE]
    fits = table.attrs["fits"]
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
    if waiting := [fit_names[number] for number in missing.index[~is_failed]]:
        stopped = "Stopped early; " if table.attrs["interrupted"] else ""
        kind = InterruptedWarning if table.attrs["interrupted"] else IncompleteWarning
        warn(
            kind(
                f"{stopped}{fits - len(missing):,} of {fits:,} fits are finished and kept; not run: "
                f"{shorten(waiting, _MAX_NAMED)}. {part.capitalize()}s that not every model has finished count "
                "for none; ",
                go_on,
                ".",
            )
        )
    if sentence := unconverged(table):
        warn(ConvergenceWarning(sentence))
