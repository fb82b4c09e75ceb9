r"""Dual-response none: after each choice, the respondent states whether they would buy it.

A respondent with utilities :math:`U_j = u_j + \varepsilon_j` and :math:`U_0` of buying nothing
takes the best product, and buys it if it is better than nothing. How good the best of several
products with Gumbel errors is does not depend on which it is, so that

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label
from thali.errors import Argument, ArgumentError, DataError

from ..column_readers import NO, YES, describe_content, get_column, read_row_texts
from .product_encoding import number_positions

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "none"
ALTERNATIVES = "alternative"  # where the table had no column of them
FORCED = "forced"
BOUGHT = "thali bought"  # the second answers in a table that was made of a wide one


def check_single_none(none: str | Mapping[str, Any] | None, bought: str | None) -> None:
    """Raise ArgumentError if both a no-choice option and the column `bought` are given."""
    if none is not None and bought is not None:
        raise ArgumentError(
            Argument("bought"),
            " already marks tasks in which nothing would be bought; remove ",
            Argument("none"),
            ".",
        )


def add_no_choice(
    frame: "pd.DataFrame",
    task: np.ndarray,
    picked: np.ndarray,
    columns: tuple[str, str | None, str],
    bought: str,
) -> tuple["pd.DataFrame", str]:
    """Add a no-choice row to each task; return the table and its alternatives' column.

    Tasks without a purchase are repeated without that row. `task` is the task of each row, and
    `picked` whether it was chosen; `columns` are the columns of tasks, alternatives and choices.
    """
    import pandas as pd

    task_column, alternative_column, chosen_column = columns
    is_bought = _read_purchases(frame, bought, task, task_column)
    if alternative_column is None:
        alternative_column = ALTERNATIVES
        frame = frame.assign(**{alternative_column: number_positions(task)})
    alternative_labels = frame[alternative_column].map(format_label)
    if NOTHING in set(alternative_labels):
        raise DataError(
            f"An alternative is already called {NOTHING!r}, the name used with ",
            Argument("bought"),
            "; rename the alternative.",
        )
    task_labels = frame[task_column].map(format_label)
    frame = frame.drop(columns=bought).assign(
        **{
            alternative_column: alternative_labels,
            task_column: task_labels,
            chosen_column: (picked & is_bought) * 1,
        }
    )
    first_rows = np.unique(task, return_index=True)[1]
    no_choice_rows = frame.iloc[first_rows].assign(
        **{alternative_column: NOTHING, chosen_column: (~is_bought[first_rows]) * 1}
    )
    forced_choice_rows = frame.assign(
        **{chosen_column: picked * 1, task_column: task_labels + _choose_suffix(set(task_labels))}
    )[~is_bought]
    task_of_row = np.concatenate([task, task[first_rows], task[~is_bought]])
    order_in_task = np.repeat([0, 0, 1], [len(task), len(first_rows), int((~is_bought).sum())])
    all_rows = pd.concat([frame, no_choice_rows, forced_choice_rows], ignore_index=True)
    return all_rows.iloc[np.lexsort([order_in_task, task_of_row])].reset_index(
        drop=True
    ), alternative_column


def _choose_suffix(task_labels: set[str]) -> str:
    """Return a suffix that no task name ends with, for repeated tasks."""
    ending = f" ({FORCED})"
    while any(label.endswith(ending) for label in task_labels):
        ending += "'"
    return ending


def _read_purchases(
    frame: "pd.DataFrame", bought_column: str, task: np.ndarray, task_column: str
) -> np.ndarray:
    """Return which rows answer yes; raise DataError for other words or unequal rows of a task."""
    # `task` numbers the tasks in order of first appearance
    answers = read_row_texts(get_column(frame, bought_column))
    words = [text.casefold() for text in answers]
    is_known = np.isin(words, [*YES, *NO])
    first_rows = np.unique(task, return_index=True)[1]
    is_different = answers != answers[first_rows][task]
    if (wrong_row := find_first(~is_known | is_different)) is None:
        return np.isin(words, [*YES])
    problem = "differs between rows"
    if not is_known[wrong_row]:
        problem = describe_content(answers[wrong_row])
    raise DataError(
        f"Column {bought_column!r} {problem} in task"
        f" {format_label(frame[task_column].iloc[wrong_row])!r}; it must be 1 (or"
        " yes) in all rows of a task whose chosen product would be bought, and 0 in all other"
        " tasks."
    )
