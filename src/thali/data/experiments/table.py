"""A choice experiment written out as a long table."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .levels import ALPHABET
from .scheme import INSIDE, Attribute

if TYPE_CHECKING:
    import pandas as pd

    from .experiment import ChoiceExperiment


def long_table(data: "ChoiceExperiment") -> "pd.DataFrame":
    """One row an alternative, under the names that the columns had when the data were read.

    Parameters
    ----------
    data : ChoiceExperiment

    Returns
    -------
    DataFrame
    """
    import pandas as pd

    scheme = data.scheme
    task = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    chosen = np.zeros(data.n_alternatives, dtype=np.int64)
    chosen[data.first_row[:-1] + data.chosen] = 1
    table: dict[Any, Any] = {
        scheme.respondent: np.array(data.respondents, dtype=object)[data.respondent_of_task[task]],
        scheme.task: data.task_labels[task].astype(object),
    }
    if scheme.alternative is not None:
        table[scheme.alternative] = data.alternative_labels.astype(object)
    table[scheme.chosen] = chosen
    codes = dict(zip(data.attributes, data.products[data.row_product].T, strict=True))
    is_none = _is_none(data, codes)
    labels = dict(scheme.none)
    for attribute in scheme.attributes:
        table[attribute.name] = _cells(attribute, codes[attribute.name], is_none, labels.get(attribute.name))
    for name, label in scheme.none:
        if name not in table:
            table[name] = (
                np.where(is_none, label, "0").astype(np.int64) if label == "1" else np.where(is_none, label, "")
            )
    return pd.DataFrame(table)


def _is_none(data: "ChoiceExperiment", codes: dict[str, np.ndarray]) -> np.ndarray:
    """Whether each row is the no-choice option: without "inside", what lacks every attribute."""
    if not data.has_none:
        return np.zeros(data.n_alternatives, dtype=bool)
    if data.scheme.has_inside:
        return codes[INSIDE] == 0
    return np.all([column < 0 for column in codes.values()], axis=0)


def _cells(attribute: Attribute, codes: np.ndarray, is_none: np.ndarray, label: str | None) -> "pd.Categorical":
    """A categorical column; rows of the no-choice option are empty, or hold the label that marks it."""
    import pandas as pd

    words = [word for word in attribute.missing[:1] if word]
    extra = list(dict.fromkeys([*words, *([label] if label else [])]))
    texts = np.array([*attribute.levels, None], dtype=object)[codes]
    if words:
        texts[(codes < 0) & ~is_none] = words[0]
    texts[is_none] = label
    return pd.Categorical(texts, [*attribute.levels, *extra], ordered=attribute.order != ALPHABET)
