"""Predictions of held-out tasks: hit rate, log score, and shares by task."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments import ChoiceExperiment
from thali._data.prediction_scores import find_chosen_rows, mean_and_error, score_choices
from thali._inference.index_arithmetic import part_indices
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas


def tabulate_holdouts(model: Any, data: ChoiceExperiment) -> "pandas.DataFrame":
    """Tabulate observed and predicted choice shares of held-out tasks.

    The attrs contain the scores of all choices.
    """
    import pandas as pd

    from thali._exportable_table import Table

    refuse_non_choices(data)
    p = np.asarray(model.predict_proba(data), float)
    task_of_row = part_indices(data.first_row)
    p_chosen, is_hit = score_choices(p, data)
    distinct_task = _number_distinct_tasks(
        data, has_labels=data.scheme.alternative in model._get_fit_data().attributes
    )
    is_chosen = np.zeros(data.n_alternatives)
    is_chosen[find_chosen_rows(data)] = 1.0
    row_position = np.arange(data.n_alternatives) - data.first_row[:-1][task_of_row]
    row_table = pd.DataFrame(
        {
            "task": distinct_task[task_of_row],
            "place": row_position,
            "observed": is_chosen,
            "predicted": p,
        }
    )
    row_table["alternative"] = data.alternative_labels
    share_table = row_table.groupby(["task", "place"], sort=True).agg(
        alternative=("alternative", "first"),
        observed=("observed", "mean"),
        predicted=("predicted", "mean"),
        choices=("observed", "size"),
    )
    share_table["observed_se"] = np.sqrt(
        share_table["observed"] * (1.0 - share_table["observed"]) / share_table["choices"]
    )
    output_table = Table(
        share_table.reset_index().drop(columns="place").assign(task=lambda frame: frame["task"] + 1)
    )
    for score_name, task_scores in (("log_score", np.log(p_chosen)), ("hit_rate", is_hit)):
        output_table.attrs[score_name], output_table.attrs[f"{score_name}_se"] = mean_and_error(
            task_scores, data.respondent_of_task
        )
    output_table.attrs["guessing"] = float(np.mean(-np.log(np.diff(data.first_row))))
    share_errors: Any = share_table["observed"] - share_table["predicted"]
    output_table.attrs["share_error"] = float(share_errors.abs().mean())
    return output_table


def refuse_non_choices(data: Any) -> None:
    """Raise DataError unless the data are tasks with their choices."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            "Holdout tasks must be a ChoiceExperiment with known choices; got"
            f" {type(data).__name__}."
        )


def _number_distinct_tasks(data: ChoiceExperiment, has_labels: bool) -> np.ndarray:
    """Return each task's number; tasks with equal products share one."""
    # Equal tasks have the same products, and the same labels if these count, in the same order.
    number_of_products: dict[tuple[tuple[int, str], ...], int] = {}
    labels = data.alternative_labels if has_labels else [""] * data.n_alternatives
    product_and_label = list(zip(data.row_product.tolist(), labels, strict=True))
    task_bounds = zip(data.first_row[:-1], data.first_row[1:], strict=True)
    return np.array(
        [
            number_of_products.setdefault(tuple(product_and_label[a:b]), len(number_of_products))
            for a, b in task_bounds
        ]
    )
