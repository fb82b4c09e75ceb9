"""Observed against fitted proportions, as a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices

from ..latent_features.likelihoods.best_worst import possible_answers
from .estimates import Estimates

if TYPE_CHECKING:
    import pandas

OUTCOMES = ("a", "tie", "b")


def residual_table(found: Estimates, kind: str) -> "pandas.DataFrame":
    """One row a pair; with ties three, one an outcome; out of sets one a member of a set, or an answer."""
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
    if found.is_of_choices:
        numbers = {name: values[::2] if len(values) > data.n_pairs else values for name, values in numbers.items()}
        return Table({"a": labels[data.first], "b": labels[data.second]} | numbers)
    sides = {"a": np.repeat(labels[data.first], 3), "b": np.repeat(labels[data.second], 3)}
    return Table(sides | {"outcome": np.tile(np.array(OUTCOMES, object), data.n_pairs)} | numbers)


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
