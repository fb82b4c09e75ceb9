"""How well a fit predicts tasks that it has not seen: hits and log score by person, shares by task."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.experiments import ChoiceExperiment
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas

_TIED = 1e-12


def holdouts(model: Any, data: Any) -> "pandas.DataFrame":
    """Observed and predicted shares of every alternative of every different task, and the scores of all."""
    import pandas as pd

    from thali._tables import Table

    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            f"Tasks held out must be a ChoiceExperiment, whose choices are known; got {type(data).__name__}."
        )
    p = np.asarray(model.predict_proba(data), float)
    tasks = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    chosen = data.first_row[:-1] + data.chosen
    largest = np.maximum.reduceat(p, data.first_row[:-1])
    best = p >= largest[tasks] * (1.0 - _TIED)
    hits = best[chosen] / np.add.reduceat(best, data.first_row[:-1])  # ties share a hit
    frame = pd.DataFrame({"person": data.respondent_of_task, "score": np.log(p[chosen]), "hit": hits})
    by_person = frame.groupby("person").agg(["sum", "count"])
    task_of = _different(data)
    picked = np.zeros(data.n_alternatives)
    picked[chosen] = 1.0
    place = np.arange(data.n_alternatives) - data.first_row[:-1][tasks]
    rows = pd.DataFrame({"task": task_of[tasks], "place": place, "observed": picked, "predicted": p})
    rows["alternative"] = data.alternative_labels
    table = rows.groupby(["task", "place"], sort=True).agg(
        alternative=("alternative", "first"),
        observed=("observed", "mean"),
        predicted=("predicted", "mean"),
        choices=("observed", "size"),
    )
    table["observed_se"] = np.sqrt(table["observed"] * (1.0 - table["observed"]) / table["choices"])
    found = Table(table.reset_index().drop(columns="place").assign(task=lambda each: each["task"] + 1))
    for name, column in (("log_score", "score"), ("hit_rate", "hit")):
        found.attrs[name], found.attrs[f"{name}_se"] = _mean(by_person[column])
    found.attrs["guessing"] = float(np.mean(-np.log(np.diff(data.first_row))))
    found.attrs["share_error"] = float((table["observed"] - table["predicted"]).abs().mean())
    return found


def _mean(by_person: "pandas.DataFrame") -> tuple[float, float]:
    """The mean over tasks, and its error by the differences between people (a ratio of sums)."""
    total, count = by_person["sum"].to_numpy(float), by_person["count"].to_numpy(float)
    mean, people = total.sum() / count.sum(), len(total)
    if people < 2:
        return float(mean), float("nan")
    apart = total - mean * count
    return float(mean), float(np.sqrt(people / (people - 1.0) * (apart**2).sum()) / count.sum())


def _different(data: ChoiceExperiment) -> np.ndarray:
    """The number of each task among those that offer the same products in the same order, by first appearance."""
    known: dict[tuple[int, ...], int] = {}
    ends = zip(data.first_row[:-1], data.first_row[1:], strict=True)
    return np.array([known.setdefault(tuple(data.row_product[a:b].tolist()), len(known)) for a, b in ends])
