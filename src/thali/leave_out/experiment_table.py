"""The table of a comparison on a choice experiment, and what it establishes in plain sentences."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError
from thali.leave_out.table import orders, unlike_lapses

if TYPE_CHECKING:
    import pandas

    from thali.data.experiment import ChoiceExperiment
    from thali.leave_out.occasions import Occasions

REFERENCE = "BASE"  # every alternative of a task equally probable


def experiment_table(
    names: list[str], data: "ChoiceExperiment | Occasions", parts: list[np.ndarray], results: list, leave_out: str
) -> "pandas.DataFrame":
    """The table that `thali.compare` returns for a choice experiment.

    Parameters
    ----------
    names : list of str
        Of the models.
    data : ChoiceExperiment or Occasions
    parts : list of bool arrays (n_tasks,)
        The tasks that were left out at a time.
    results : list of (name, part number, record)
        A record holds what `held_out.run` returns, or what went wrong under "error"; None is a fit that was not run.
    leave_out : {"task", "choice", "respondent"}

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ArgumentError
        If no fit of any model succeeded.
    """
    import pandas as pd

    missing = [
        {"model": name, "part": part, "why": "not run" if record is None else record["error"]}
        for name, part, record in results
        if record is None or record["error"]
    ]
    if len(missing) == len(results):
        raise ArgumentError(f"No fit succeeded; the first failed with: {missing[0]['why']}")
    tasks = np.concatenate([np.flatnonzero(part) for part in parts])
    order = [REFERENCE, *names]
    index = pd.MultiIndex.from_arrays(
        [np.array(data.respondents)[data.respondent_of_task[tasks]], data.task_labels[tasks]],
        names=["respondent", "task"],
    )
    scores: Any = pd.DataFrame(np.nan, index=index, columns=pd.Index(order, name="model"))
    hits: Any = scores.copy()
    seconds = pd.Series(np.nan, index=order)
    sizes = np.diff(data.first_row)[tasks]
    scores[REFERENCE], hits[REFERENCE] = -np.log(sizes), 1.0 / sizes
    ends = np.cumsum([0, *(int(part.sum()) for part in parts)])
    for name, part, record in results:
        if record is None or record["error"]:
            continue
        rows = slice(ends[part], ends[part + 1])
        with np.errstate(divide="ignore"):  # a probability of 0
            scores.iloc[rows, order.index(name)] = np.log(record["chosen"])
        hits.iloc[rows, order.index(name)] = record["hits"]
        seconds[name] = np.nansum([seconds[name], record["seconds"]])
    started = [name for name in names if scores[name].notna().any()]
    counts = scores[started].notna().all(axis=1).to_numpy()
    table = _columns(scores[counts], hits[counts], started)
    table["seconds"] = seconds
    table["tasks"] = int(counts.sum())
    table["respondents"] = scores[counts].index.get_level_values("respondent").nunique()
    table.attrs.update(
        tasks=scores,
        hits=hits,
        missing=pd.DataFrame(missing, columns=["model", "part", "why"]),
        best=table.loc[started, "log_score"].idxmax() if counts.any() else None,
        leave_out=leave_out,
        unit="respondent" if getattr(data, "told_apart", True) else "choice",
    )
    return table


def _columns(scores: Any, hits: Any, started: list[str]) -> "pandas.DataFrame":
    import pandas as pd

    table = pd.DataFrame(index=scores.columns)
    best = scores[started].mean().idxmax() if len(scores) else None
    people = scores.index.get_level_values("respondent")
    for column, values in (("log_score", scores), ("hit_rate", hits)):
        found = {name: mean_and_error(values[name].to_numpy(), people) for name in values}
        table[column] = [found[name][0] for name in table.index]
        table[f"{column}_se"] = [found[name][1] for name in table.index]
    for column, values in (("difference", scores), ("hit_difference", hits)):
        found = {
            name: (math.nan, math.nan)
            if best is None
            else mean_and_error(_differences(values[name], values[best]), people)
            for name in values
        }
        table[column] = [found[name][0] for name in table.index]
        table[f"{column}_se"] = [found[name][1] for name in table.index]
    return table


def _differences(values: "pandas.Series", others: "pandas.Series") -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (values - others).to_numpy()


def mean_and_error(values: np.ndarray, people) -> tuple[float, float]:
    r"""Mean over tasks, and its standard error when tasks of the same respondent may depend on each other.

    .. math::
        m = \sum_n S_n \Big/ \sum_n T_n, \qquad
        \text{se}^2 = \frac{N}{N - 1} \sum_n (S_n - m T_n)^2 \Big/ \Big(\sum_n T_n\Big)^2

    with S_n the sum over the T_n tasks of respondent n.

    Parameters
    ----------
    values : array (tasks,)
    people : sequence (tasks,)
        Who each task is of.

    Returns
    -------
    mean, error : float
        The error is NaN with fewer than two respondents, or an infinite value.

    References
    ----------
    Cochran (1977), Sampling techniques, section 6.3 (ratio of two means).

    Example
    -------
    >>> mean_and_error(np.array([1.0, 1.0, 0.0, 0.0]), ["a", "a", "b", "b"])
    (0.5, 0.5)
    """
    if not len(values):
        return math.nan, math.nan
    _, number = np.unique(np.asarray(people), return_inverse=True)
    mean = float(values.mean())
    n = int(number.max()) + 1
    if n < 2 or not math.isfinite(mean):
        return mean, math.nan
    off = np.bincount(number, values - mean)
    return mean, float(math.sqrt(n / (n - 1) * (off**2).sum()) / len(values))


def sentences_of_tasks(table: "pandas.DataFrame") -> list[str]:
    """What a comparison on a choice experiment establishes, and what it does not.

    Parameters
    ----------
    table : pandas.DataFrame
        As `thali.compare` returns it.

    Returns
    -------
    list of str
        The best model, the orders that the respondents establish and those that they do not, probabilities of 0, and
        lapses that differ.
    """
    best, n = table.attrs["best"], int(table["respondents"].iloc[0])
    what = "choices of new respondents" if table.attrs["leave_out"] == "respondent" else "choices left out"
    if best is None:
        return ["No part was finished by every model, so nothing can be compared."]
    row = table.loc[best]
    said = [
        f"{best} predicts the {what} best: log score {row['log_score']:.3f} a choice (guessing has "
        f"{table.loc[REFERENCE, 'log_score']:.3f}), {100 * row['hit_rate']:.1f} % hits."
    ]
    by_score: Any = table["log_score"].dropna()
    ranked = [str(name) for name in by_score.sort_values(ascending=False, kind="stable").index if name != REFERENCE]
    scores = table.attrs["tasks"][ranked].dropna()
    people = scores.index.get_level_values("respondent")

    def difference(a: str, b: str) -> tuple[float, float] | None:
        if not np.isfinite(scores[[a, b]]).all(axis=None):
            return None
        return mean_and_error((scores[a] - scores[b]).to_numpy(), people)

    said += orders(ranked, difference, n, table.attrs["unit"])
    for name in ranked:
        if zeros := int(np.isneginf(scores[name]).sum()):
            said.append(f"{name} gave probability 0 to {zeros:,} of the {len(scores):,} choices made.")
    return said + unlike_lapses(table.attrs.get("lapses", {}))
