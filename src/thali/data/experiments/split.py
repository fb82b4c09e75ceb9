"""Which tasks of a choice experiment are held out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali._labels import as_label, plural, suggest
from thali.errors import ArgumentError, DataError
from thali.inference.seeds import root

from .levels import is_whole

if TYPE_CHECKING:
    from .experiment import ChoiceExperiment


def held_tasks(data: "ChoiceExperiment", tasks: Any, random_seed: Any) -> np.ndarray:
    """Whether each task is held out: the last ones of every respondent, random ones, or those marked."""
    marked = np.asarray(tasks)
    if marked.dtype == bool and marked.shape == (data.n_tasks,):
        if marked.all() or not marked.any():
            raise DataError("tasks marks all tasks or none; both parts need at least one.")
        return marked
    number = whole("tasks", tasks, 1)
    counts = np.diff(data.first_task)
    if (counts <= number).any():
        person = data.respondents[int((counts <= number).argmax())]
        raise DataError(
            f"Respondent {person!r} has {plural(int(counts.min()), 'task')}, so that none is left to fit when "
            f"{number} are held out; choose fewer."
        )
    held = np.zeros(data.n_tasks, dtype=bool)
    rng = None if random_seed is None else np.random.default_rng(root(random_seed))
    for first, last in zip(data.first_task, data.first_task[1:], strict=False):
        own = np.arange(first, last)
        held[own[-number:] if rng is None else rng.permutation(own)[:number]] = True
    return held


def held_people(data: "ChoiceExperiment", respondents: Any, random_seed: Any) -> np.ndarray:
    """Whether each task is held out: those of random respondents, or of those listed."""
    if is_whole(respondents):
        number = whole("respondents", respondents, 1)
        people = np.random.default_rng(root(random_seed)).permutation(data.n_respondents)[:number]
    elif isinstance(respondents, str) or not hasattr(respondents, "__iter__"):
        raise ArgumentError(f"respondents must be a whole number or a list of labels; got {respondents!r}.")
    else:
        labels = list(map(as_label, respondents))
        place = {label: number for number, label in enumerate(data.respondents)}
        for label in labels:
            if label not in place:
                raise DataError(f"There is no respondent {label!r}.{suggest(label, data.respondents)}")
        people = np.array([place[label] for label in labels], dtype=np.int64)
    held = np.isin(data.respondent_of_task, people)
    if held.all() or not held.any():
        raise DataError(f"Both parts need at least one of the {plural(data.n_respondents, 'respondent')}.")
    return held
