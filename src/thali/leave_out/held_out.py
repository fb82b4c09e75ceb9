"""Which tasks of a choice experiment, or other choices, are left out, and one fit that predicts them."""

import inspect
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._quiet import quietly
from thali.data.check import plural
from thali.data.choices import Choices
from thali.data.experiment import ChoiceExperiment
from thali.data.experiment_split import held_tasks
from thali.errors import ArgumentError, DataError
from thali.leave_out.fit import clone, deaf_to_ctrl_c
from thali.leave_out.occasions import Occasions
from thali.models.arguments import whole

Data = ChoiceExperiment | Occasions

# What a record of a finished fit holds.
RECORD = {"model": str, "part": int, "error": type(None), "chosen": list, "hits": list, "seconds": float}
_ROUNDING = 1e-6  # by which probabilities of a task may miss 1
_TIED = 1e-12


def parts(data: Data, leave_out: str, hold_out, folds, rng: np.random.Generator) -> list[np.ndarray]:
    """The tasks that are left out at a time, as bool arrays (n_tasks,).

    Parameters
    ----------
    data : ChoiceExperiment or Occasions
    leave_out : {"task", "choice", "respondent"}
    hold_out : int, optional
        The last so many tasks of every respondent, or so many random choices or respondents. None: a quarter, a fifth.
    folds : int, optional
        So many random parts instead.
    rng : numpy.random.Generator

    Returns
    -------
    list of arrays

    Raises
    ------
    ArgumentError
        If both `hold_out` and `folds` are given, or one is too small or too large.
    DataError
        If a respondent has too few tasks, or there are too few respondents.
    """
    if hold_out is not None and folds is not None:
        raise ArgumentError("Give hold_out or folds, not both.")
    counts = np.diff(data.first_task)
    if leave_out == "respondent":
        groups = _random_groups(data.n_respondents, "respondent", hold_out, folds, rng)
        return [np.isin(data.respondent_of_task, group) for group in groups]
    if leave_out == "choice":
        groups = _random_groups(data.n_tasks, "choice", hold_out, folds, rng)
        return [np.isin(np.arange(data.n_tasks), group) for group in groups]
    assert isinstance(data, ChoiceExperiment)  # of which alone tasks are left out
    if (counts < 2).any():
        person = data.respondents[int((counts < 2).argmax())]
        raise DataError(f"Respondent {person!r} has a single task; leaving out tasks needs two of every respondent.")
    number = _parts_wanted(folds, int(counts.max()), "tasks of a respondent")
    if number is None:
        return [held_tasks(data, max(1, int(counts.min()) // 4) if hold_out is None else hold_out, None)]
    part = np.concatenate([rng.permutation(count) % number for count in counts])
    return [part == k for k in range(number)]


def _random_groups(count: int, what: str, hold_out, folds, rng: np.random.Generator) -> list[np.ndarray]:
    """The numbers of the respondents or choices that are left out at a time."""
    if count < 2:
        raise DataError(f"There is one {what}; leaving out {what}s needs two.")
    number = _parts_wanted(folds, count, f"{what}s")
    order = rng.permutation(count)
    if number is not None:
        return [order[k::number] for k in range(number)]
    wanted = max(1, count // 5) if hold_out is None else whole("hold_out", hold_out, 1)
    if wanted >= count:
        raise ArgumentError(f"hold_out={wanted} leaves none of {count} {what}s to fit.")
    return [order[:wanted]]


def _parts_wanted(folds, most: int, what: str) -> int | None:
    if folds is None:
        return None
    number = whole("folds", folds, 2)
    if number > most:
        raise ArgumentError(f"folds={number} is more than the {most} {what}.")
    return number


@dataclass(frozen=True)
class HeldOutFit:
    """What to do: which model, which tasks without it, with which seed. It travels to other processes."""

    name: str
    model: Any
    data: Data
    held: np.ndarray  # (n_tasks,) bool
    part: int  # which part is held out
    seed: np.random.SeedSequence
    settings: dict  # of `fit`, for the models whose `fit` takes them
    home: int  # the process that asks


def run(task: HeldOutFit) -> dict:
    """Fit, predict and score: the probability of every choice that was made, hits and CPU seconds, or an "error"."""
    record: dict = {"model": task.name, "part": task.part, "error": None}
    train, test = task.data.take(~task.held), task.data.take(task.held)
    model = clone(task.model)  # the task's own may be in use by another thread
    began = time.process_time()
    try:
        with deaf_to_ctrl_c(task.home), quietly():
            model.fit(given(train), random_seed=task.seed, **accepted(model.fit, task.settings))
            if getattr(model, "interrupted_", False):
                raise KeyboardInterrupt
            predicted = model.predict_proba(given(test))
            if isinstance(test, Occasions):
                predicted = test.by_alternative(predicted)
            predicted = checked(predicted, test)
    except Exception as error:  # one failure must not cost the other fits
        return record | {"error": f"{type(error).__name__}: {error}"}
    chosen, hits = scores(predicted, test)
    seconds = time.process_time() - began
    return record | {"chosen": chosen.tolist(), "hits": hits.tolist(), "seconds": seconds}


def given(part: Data) -> "ChoiceExperiment | Choices":
    """A part of the data as models take it."""
    return part.choices if isinstance(part, Occasions) else part


def accepted(function, settings: dict) -> dict:
    """Those settings that a function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return settings
    return {name: value for name, value in settings.items() if name in parameters}


def checked(predicted: Any, test: Data) -> np.ndarray:
    """The predictions, if they are probabilities of the rows that sum to 1 in every task."""
    p = np.asarray(predicted, dtype=float)
    if p.shape != (test.n_alternatives,):
        raise DataError(
            f"predict_proba must give {plural(test.n_alternatives, 'number')}, one a row; got shape {p.shape}."
        )
    sums = np.add.reduceat(p, test.first_row[:-1])
    if not (p >= 0).all() or np.abs(sums - 1.0).max() > _ROUNDING:
        raise DataError("predict_proba must give probabilities that sum to 1 in every task.")
    return p


def scores(p: np.ndarray, test: Data) -> tuple[np.ndarray, np.ndarray]:
    r"""Of every task the probability of what was chosen, and whether it is a hit.

    A hit is a choice of the most probable alternative; of m that are equally probable, 1/m of a hit.

    Parameters
    ----------
    p : array (rows,)
    test : ChoiceExperiment or Occasions

    Returns
    -------
    chosen, hits : arrays (n_tasks,)
    """
    starts = test.first_row[:-1]
    chosen = p[starts + test.chosen]
    top = np.maximum.reduceat(p, starts)
    tied = np.add.reduceat((p >= np.repeat(top, np.diff(test.first_row)) - _TIED).astype(float), starts)
    return chosen, (chosen >= top - _TIED) / tied
