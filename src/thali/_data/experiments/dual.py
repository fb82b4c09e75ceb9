r"""Dual-response none: which product, and then whether it would be bought at all.

Somebody with utilities :math:`U_j = u_j + \varepsilon_j` and :math:`U_0` of buying nothing takes
the best product, and buys it if it is better than nothing. How good the best of several products
with Gumbel errors is does not depend on which it is, so that

.. math::
    P(j, \text{bought}) = \frac{e^{u_j}}{e^{u_0} + \sum_k e^{u_k}}, \qquad
    P(j, \text{not bought}) = \frac{e^{u_0}}{e^{u_0}
    + \sum_k e^{u_k}} \frac{e^{u_j}}{\sum_k e^{u_k}},

the probabilities of a logit for a choice with nothing among the alternatives and, if that was
taken, for the choice among the products alone: nothing first, then j, as in a ranking (Beggs,
Cardell & Hausman 1981, Assessing the potential demand for electric cars). So the answers are tasks
as all others. The question is that of Brazell et al. (2006), The no-choice option and dual response
choice designs.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label
from thali.errors import Argument, ArgumentError, DataError

from ..columns import NO, YES, get_column
from .levels import row_texts

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "none"
ALTERNATIVES = "alternative"  # where the table had no column of them
FORCED = "forced"
BOUGHT = "thali bought"  # the second answers in a table that was made of a wide one


def refuse_both(none: Any, bought: str | None) -> None:
    """Refuse a no-choice option beside the question whether the product would be bought."""
    if none is not None and bought is not None:
        raise ArgumentError(
            Argument("bought"),
            " already marks tasks in which nothing would be bought; remove ",
            Argument("none"),
            ".",
        )


def with_nothing(
    frame: "pd.DataFrame",
    task: np.ndarray,
    picked: np.ndarray,
    columns: tuple[str, str | None, str],
    bought: str,
) -> tuple["pd.DataFrame", str]:
    """The table with nothing as an alternative of each task, and those not bought once more without
    it; its column.

    `task` is the number of the task of each row, `picked` whether it was chosen; `columns` those of
    tasks, alternatives and choices.
    """
    import pandas as pd

    name, alternative, chosen = columns
    answers = row_texts(get_column(frame, bought))
    _refuse_unclear(answers, task, frame, name, bought)
    is_bought = np.isin([text.casefold() for text in answers], list(YES))
    if alternative is None:
        alternative = ALTERNATIVES
        place = pd.Series(task).groupby(task).cumcount() + 1
        frame = frame.assign(**{alternative: place.to_numpy()})
    labels = frame[alternative].map(as_label)
    if NOTHING in set(labels):
        raise DataError(
            f"An alternative is already called {NOTHING!r}, the name used with ",
            Argument("bought"),
            "; rename the alternative.",
        )
    tasks = frame[name].map(as_label)
    frame = frame.drop(columns=bought).assign(
        **{alternative: labels, name: tasks, chosen: (picked & is_bought) * 1}
    )
    first = np.unique(task, return_index=True)[1]
    nothing = frame.iloc[first].assign(**{alternative: NOTHING, chosen: (~is_bought[first]) * 1})
    forced = frame.assign(**{chosen: picked * 1, name: tasks + _ending(set(tasks))})[~is_bought]
    every = np.concatenate([task, task[first], task[~is_bought]])
    part = np.repeat([0, 0, 1], [len(task), len(first), int((~is_bought).sum())])
    table = pd.concat([frame, nothing, forced], ignore_index=True)
    return table.iloc[np.lexsort([part, every])].reset_index(drop=True), alternative


def _ending(labels: set[str]) -> str:
    """What the tasks that are repeated end in, such that none is called like another one."""
    ending = f" ({FORCED})"
    while any(label.endswith(ending) for label in labels):
        ending += "'"
    return ending


def _refuse_unclear(
    answers: np.ndarray, task: np.ndarray, frame: "pd.DataFrame", name: str, bought: str
) -> None:
    """Refuse an answer that is neither yes nor no, or not the same in all rows of a task."""
    known = np.isin([text.casefold() for text in answers], [*YES, *NO])
    first = np.unique(task, return_index=True)[1]
    differs = answers != answers[first][np.unique(task, return_inverse=True)[1]]
    if known.all() and not differs.any():
        return
    row = int((~known | differs).argmax())
    what = f"is {answers[row]!r}" if answers[row] else "is empty"
    what = what if not known[row] else "differs between rows"
    raise DataError(
        f"Column {bought!r} {what} in task {as_label(frame[name].iloc[row])!r}; it must be 1 (or"
        " yes) in all rows of a task whose product would be bought, and 0 in all other tasks."
    )
