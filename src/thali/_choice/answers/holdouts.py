"""Predictions of held-out tasks: hit rate, log score, and shares by task."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments import ChoiceExperiment
from thali._data.prediction_scores import find_chosen_rows, mean_and_error, score_choices
from thali._inference.index_arithmetic import part_indices
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas


def tabulate_holdouts(model: Any, data: Any) -> "pandas.DataFrame":
    """Tabulate observed and predicted choice shares of held-out tasks.

    The attrs contain the scores of all choices.
    """
    import pandas as pd

    from thali._exportable_table import Table

    refuse_non_choices(data)
    p = np.asarray(model.predict_proba(data), float)
    tasks = part_indices(data.first_row)
    p_chosen, hits = score_choices(p, data)
    task_of = _number_distinct_tasks(
        data, has_labels=data.scheme.alternative in model._get_fit_data().attributes
    )
    is_chosen = np.zeros(data.n_alternatives)
    is_chosen[find_chosen_rows(data)] = 1.0
    position = np.arange(data.n_alternatives) - data.first_row[:-1][tasks]
    rows = pd.DataFrame(
        {"task": task_of[tasks], "place": position, "observed": is_chosen, "predicted": p}
    )
    rows["alternative"] = data.alternative_labels
    table = rows.groupby(["task", "place"], sort=True).agg(
        alternative=("alternative", "first"),
        observed=("observed", "mean"),
        predicted=("predicted", "mean"),
        choices=("observed", "size"),
    )
    table["observed_se"] = np.sqrt(table["observed"] * (1.0 - table["observed"]) / table["choices"])
    output_table = Table(
        table.reset_index().drop(columns="place").assign(task=lambda frame: frame["task"] + 1)
    )
    for name, scores in (("log_score", np.log(p_chosen)), ("hit_rate", hits)):
        output_table.attrs[name], output_table.attrs[f"{name}_se"] = mean_and_error(
            scores, data.respondent_of_task
        )
    output_table.attrs["guessing"] = float(np.mean(-np.log(np.diff(data.first_row))))
    differences: Any = table["observed"] - table["predicted"]
    output_table.attrs["share_error"] = float(differences.abs().mean())
    return output_table


def refuse_non_choices(data: Any) -> None:
    """Raise DataError unless the data are tasks with their choices."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            "Holdout tasks must be a ChoiceExperiment with known choices; got"
            f" {type(data).__name__}."
        )


def _number_distinct_tasks(data: ChoiceExperiment, has_labels: bool) -> np.ndarray:
    """Return the number of each task, where tasks with equal products share one."""
    # Equal tasks have the same products, and the same labels if these count, in the same order.
    numbers: dict[tuple[tuple[int, str], ...], int] = {}
    labels = data.alternative_labels if has_labels else [""] * data.n_alternatives
    rows = list(zip(data.row_product.tolist(), labels, strict=True))
    ends = zip(data.first_row[:-1], data.first_row[1:], strict=True)
    return np.array([numbers.setdefault(tuple(rows[a:b]), len(numbers)) for a, b in ends])
