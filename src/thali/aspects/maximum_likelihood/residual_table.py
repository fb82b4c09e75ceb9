"""Observed against fitted proportions, as a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices

from ..likelihoods.best_worst import possible_answers
from .estimates import Estimates

if TYPE_CHECKING:
    import pandas

OUTCOMES = ("a", "tie", "b")
OF_OPTIONS = ("a", "b", "alternative", "best", "worst")  # columns that hold labels of options


def residual_table(found: Estimates, kind: str) -> "pandas.DataFrame":
    """One row a pair, or a pair with its covariates; with ties three, one an outcome; out of sets one a member of a
    set, or an answer."""
    from thali._tables import Table

    data, pose = found.data, found.pose
    n = np.repeat(pose.totals, pose.sizes)
    numbers = {"n": n.astype(np.int64) if found.is_whole else n, "observed": pose.counts / n}
    numbers |= {"predicted": found.fitted(), "residual": found.residuals(kind)}
    labels = np.array(data.labels, dtype=object)
    if isinstance(data, Choices) and data.worst is not None:
        answers = possible_answers(data.start)
        best, worst = (labels[data.members[each]] for each in (answers.best, answers.worst))
        offered = np.repeat(np.array([", ".join(members) for members in data.sets], dtype=object), answers.sizes)
        return Table({"best": best, "worst": worst, "offered": offered} | numbers)
    if isinstance(data, Choices):
        offered = np.array([", ".join(members) for members in data.sets], dtype=object)[data.set_of]
        return Table({"alternative": labels[data.members], "offered": offered} | numbers)
    cells, count = data.cells, len(data.cells.pair)
    names = () if data.covariates is None else data.covariates.names
    of_cells = {"a": labels[cells.first], "b": labels[cells.second]} | dict(zip(names, cells.x.T, strict=True))
    if found.is_of_choices:
        numbers = {name: values[::2] if len(values) > count else values for name, values in numbers.items()}
        return Table(of_cells | numbers)
    of_outcomes = {name: np.repeat(values, 3) for name, values in of_cells.items()}
    return Table(of_outcomes | {"outcome": np.tile(np.array(OUTCOMES, object), count)} | numbers)


def named_row(row: Mapping[Any, Any], shown: Mapping[str, str] | None = None) -> str:
    """What a row of the table is of in words, with other names for the options if they are given."""
    names = shown or {}

    def name(column: str) -> str:
        return str(names.get(row[column], row[column]))

    if "best" in row:
        return f"{name('best')} best and {name('worst')} worst of {row['offered']}"
    if "offered" in row:
        return f"{name('alternative')} of {row['offered']}"
    a, b = name("a"), name("b")
    return {"a": f"{a} over {b}", "b": f"{b} over {a}", "tie": f"{a} and {b} tied"}[row.get("outcome", "a")]
