"""How well a fit predicts tasks that it has not seen: hits and log score by person, shares by
task."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments import ChoiceExperiment
from thali._data.scores import mean_and_error, score_choices
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas


def holdouts(model: Any, data: Any) -> "pandas.DataFrame":
    """Observed and predicted shares of every alternative of every different task, and the scores of
    all."""
    import pandas as pd

    from thali._tables import Table

    refuse_other_than_choices(data)
    p = np.asarray(model.predict_proba(data), float)
    tasks = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    of_chosen, hits = score_choices(p, data)
    task_of = _different(
        data, has_labels=data.scheme.alternative in model._get_fit_data().attributes
    )
    picked = np.zeros(data.n_alternatives)
    picked[data.first_row[:-1] + data.chosen] = 1.0
    place = np.arange(data.n_alternatives) - data.first_row[:-1][tasks]
    rows = pd.DataFrame(
        {"task": task_of[tasks], "place": place, "observed": picked, "predicted": p}
    )
    rows["alternative"] = data.alternative_labels
    table = rows.groupby(["task", "place"], sort=True).agg(
        alternative=("alternative", "first"),
        observed=("observed", "mean"),
        predicted=("predicted", "mean"),
        choices=("observed", "size"),
    )
    table["observed_se"] = np.sqrt(table["observed"] * (1.0 - table["observed"]) / table["choices"])
    found = Table(
        table.reset_index().drop(columns="place").assign(task=lambda each: each["task"] + 1)
    )
    for name, values in (("log_score", np.log(of_chosen)), ("hit_rate", hits)):
        found.attrs[name], found.attrs[f"{name}_se"] = mean_and_error(
            values, data.respondent_of_task
        )
    found.attrs["guessing"] = float(np.mean(-np.log(np.diff(data.first_row))))
    away: Any = table["observed"] - table["predicted"]
    found.attrs["share_error"] = float(away.abs().mean())
    return found


def refuse_other_than_choices(data: Any) -> None:
    """Raise an error unless these are tasks with their choices."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            "Holdout tasks must be a ChoiceExperiment with known choices; got"
            f" {type(data).__name__}."
        )


def _different(data: ChoiceExperiment, has_labels: bool) -> np.ndarray:
    """The number of each task among those with the same products, and labels, if they count, in the
    same order."""
    known: dict[tuple[tuple[int, str], ...], int] = {}
    labels = data.alternative_labels if has_labels else [""] * data.n_alternatives
    rows = list(zip(data.row_product.tolist(), labels, strict=True))
    ends = zip(data.first_row[:-1], data.first_row[1:], strict=True)
    return np.array([known.setdefault(tuple(rows[a:b]), len(known)) for a, b in ends])
