"""`thali.compare` for choice experiments and choices out of sets: every model predicts what it was fitted without."""

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices
from thali.data.experiment import ChoiceExperiment
from thali.errors import ArgumentError, DataError, IncompleteWarning, InterruptedWarning
from thali.leave_out.experiment_table import REFERENCE, experiment_table
from thali.leave_out.fit import clone
from thali.leave_out.held_out import RECORD, Data, HeldOutFit, parts, run
from thali.leave_out.kept import Kept, experiment_digest, fit_key
from thali.leave_out.naming import lapses, named_models
from thali.leave_out.occasions import Occasions
from thali.leave_out.workers import run_all
from thali.models.arguments import one_of, whole
from thali.models.saved import describe
from thali.progress import Progress

if TYPE_CHECKING:
    import pandas

_LEAST = {"draws": 1, "tune": 0, "chains": 1, "thin": 1}


def compare_experiment(
    models: Any,
    data: ChoiceExperiment | Choices,
    leave_out: str | None,
    hold_out: int | None,
    folds: int | None,
    budget: dict,
    cores: int | None,
    random_seed,
    progressbar: bool,
    checkpoint,
) -> "pandas.DataFrame":
    r"""Compare models by what they predict for tasks, choices or respondents that they were fitted without.

    .. math::
        \text{log score} = \frac1T \sum_{nt} \ln \bar p_{nt}(x^*_{nt}), \qquad
        \text{hit rate} = \frac1T \sum_{nt} 1\{x^*_{nt} = \arg\max_x \bar p_{nt}(x)\}

    Parameters
    ----------
    models, data, leave_out, hold_out, folds, cores, random_seed, progressbar, checkpoint
        As of `thali.compare`.
    budget : dict
        draws, tune, chains and thin, passed on to the fits that take them; None: the model's own.

    Returns
    -------
    pandas.DataFrame
        One row a model, indexed by its name, below the reference row BASE (all alternatives equally probable):

        - ``log_score``, ``log_score_se``: mean over tasks, and its standard error over respondents (over choices, where
          `Choices` do not tell who chose)
        - ``hit_rate``, ``hit_rate_se``: likewise; of m alternatives equally probable, 1/m of a hit
        - ``difference``, ``difference_se``: log score minus that of the best model, paired
        - ``hit_difference``, ``hit_difference_se``: likewise
        - ``seconds``: CPU seconds of all its fits
        - ``tasks``, ``respondents``: those that count; parts that every model has finished

        ``attrs["tasks"]``: every task's ln p, (respondent, task) by models; ``attrs["hits"]``: likewise.
        ``attrs["missing"]``: fits that failed or were not run. `thali.leave_out.table.sentences` puts it in words.

    Raises
    ------
    ArgumentError
        If there is no model, two have one name, one is none, or an argument is outside its range.
    DataError
        If respondents have too few tasks, or the checkpoint cannot be used.

    Warns
    -----
    IncompleteWarning
        If a fit failed; the others are kept.
    InterruptedWarning
        If Ctrl-C stopped the run; what was finished is kept.

    References
    ----------
    Geisser & Eddy (1979), A predictive approach to model selection; Rossi, Allenby & McCulloch (2005), section 6.

    Example
    -------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1] * 6 + [2] * 6, "task": [1, 1, 2, 2, 3, 3] * 2, "choice": [1, 0] * 3 + [0, 1, 1, 0, 1, 0],
    ...         "price": [90, 150] * 6}
    >>> data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows))
    >>> table = th.compare({"logit": th.MultinomialLogit()}, data, cores=1, progressbar=False)
    >>> table["log_score"].round(3).to_dict()
    {'BASE': -0.693, 'logit': -0.288}
    """
    each = "choice" if isinstance(data, Choices) else "task"
    leave_out = one_of("leave_out", each if leave_out is None else leave_out, (each, "respondent"))
    named = named_models(models, (REFERENCE,), _refuse_others)
    tasks_of: Data = Occasions(data) if isinstance(data, Choices) else data
    if leave_out == "respondent" and isinstance(tasks_of, Occasions) and not tasks_of.told_apart:
        raise DataError("The choices do not say who made them; leave out choices, or name the column of respondents.")
    settings = {name: whole(name, value, _LEAST[name]) for name, value in budget.items() if value is not None}
    cores = None if cores is None else whole("cores", cores, 1)
    with Kept(checkpoint, random_seed, RECORD) as kept:
        chance, *_ = kept.seed.spawn(1)
        held = parts(tasks_of, leave_out, hold_out, folds, np.random.default_rng(chance))
        seeds = kept.seed.spawn(len(held))
        alone = len(held) * len(named) == 1
        settings |= {"progressbar": False, "cores": cores if alone else 1}
        tasks = [  # part by part, so that an early end leaves whole parts
            HeldOutFit(name, clone(model), tasks_of, part, number, seed, settings, os.getpid())
            for number, (part, seed) in enumerate(zip(held, seeds, strict=True))
            for name, model in named.items()
        ]
        digest = tasks_of.digest() if isinstance(tasks_of, Occasions) else experiment_digest(tasks_of)
        keys = _keys(tasks, digest, leave_out)
        records = kept.find_all(keys)
        interrupted = _run_waiting(tasks, records, keys, kept, 1 if alone else cores, progressbar)
        if interrupted and not any(records):
            raise KeyboardInterrupt
        results = [(t.name, t.part, record) for t, record in zip(tasks, records, strict=True)]
        table = experiment_table(list(named), tasks_of, held, results, leave_out)
    table.attrs.update(interrupted=interrupted, lapses=lapses(named, data))
    _warn(table, len(tasks), interrupted, checkpoint)
    return table


def _refuse_others(name: str, model) -> None:
    if isinstance(model, type) or not all(callable(getattr(model, part, None)) for part in ("fit", "predict_proba")):
        raise ArgumentError(
            f"{name!r} must be a model of such choices, such as HierarchicalLogit() of choice experiments, with fit "
            f"and predict_proba; got {model!r}."
        )


def _keys(tasks: list[HeldOutFit], digest: str, leave_out: str) -> list[str]:
    """For each fit everything that determines it, as a short text."""
    from thali import __version__

    keys = []
    for task in tasks:
        model = (
            json.dumps(describe(task.model), sort_keys=True) if hasattr(task.model, "get_params") else repr(task.model)
        )
        budget = {name: value for name, value in task.settings.items() if name not in ("cores", "progressbar")}
        seed = [str(task.seed.entropy), [int(k) for k in task.seed.spawn_key]]
        held = np.packbits(task.held).tobytes().hex()
        keys.append(fit_key(__version__, digest, model, budget, leave_out, held, seed))
    return keys


def _run_waiting(tasks, records: list, keys: list[str], kept: Kept, cores: int | None, progressbar: bool) -> bool:
    """Run the fits without a record, and record them; whether Ctrl-C stopped this."""
    waiting = [number for number, record in enumerate(records) if record is None]
    with Progress(progressbar, "leaving out", len(tasks), "fits") as progress:
        try:
            progress.update(len(tasks) - len(waiting))
            finished = run_all(run, [tasks[number] for number in waiting], cores)
            for done, (at, result) in enumerate(finished, start=1 + len(tasks) - len(waiting)):
                number = waiting[at]
                records[number] = record = _record(result, tasks[number])
                if record["error"] is None:
                    kept.add(keys[number], record)
                progress.update(done)
        except KeyboardInterrupt:
            return True
    return False


def _record(result, task: HeldOutFit) -> dict:
    if isinstance(result, BaseException):
        error = "its worker process died again and again, perhaps for want of memory; use fewer cores"
        return {"model": task.name, "part": task.part, "error": error}
    return result


def _warn(table: "pandas.DataFrame", fits: int, interrupted: bool, checkpoint) -> None:
    missing = table.attrs["missing"]
    failed = missing[missing["why"] != "not run"]
    if len(failed):
        named = "; ".join(f"{m.model} without part {m.part + 1} ({m.why})" for m in failed.head(5).itertuples())
        more = f"; and {len(failed) - 5:,} more" if len(failed) > 5 else ""
        warnings.warn(
            f"{len(failed):,} of {fits:,} fits failed: {named}{more}. The other fits were kept.",
            IncompleteWarning,
            stacklevel=4,
        )
    if interrupted:
        again = f"the same call goes on from '{checkpoint}'" if checkpoint else "with checkpoint=FILE it could go on"
        warnings.warn(
            f"Stopped early; {fits - len(missing):,} of {fits:,} fits are finished and kept. Parts that not every "
            f"model has finished count for none; {again}.",
            InterruptedWarning,
            stacklevel=4,
        )
