"""Covariates of people, on which the mean tastes of the hierarchical logit depend."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError

if TYPE_CHECKING:
    import pandas as pd

    from thali.data.experiments import ChoiceExperiment


class Covariates(NamedTuple):
    """Numbers that describe people: standardised, so that the prior does not depend on their units."""

    names: tuple[str, ...]  # (q - 1,), such as "age", "sex[male]"
    matrix: np.ndarray  # (respondents, q): 1, and the covariates less their means, divided by their sds
    sd: np.ndarray  # (q - 1,)


def covariates_of(respondents: Any, data: "ChoiceExperiment") -> Covariates:
    """The columns of `data.people` that are named: numbers as they are, of labels a column for each but the first."""
    names, columns = [], []
    for name in _names(respondents):
        if data.people is None:
            raise DataError(
                "The data say nothing of people, so that ",
                Argument("respondents"),
                f" cannot name {name!r}; add a column to the table that is the same in all rows of a respondent.",
            )
        if name not in data.people.columns:
            known = [str(column) for column in data.people.columns]
            raise ArgumentError(
                Argument("respondents"),
                f" names {name!r}, which is no column of people; they have {shorten(known, 20)}.{suggest(name, known)}",
            )
        for label, values in _columns(name, data.people.loc[:, name]):
            names.append(label)
            columns.append(values)
    people = len(data.respondents)
    matrix = np.array(columns, float).reshape(len(columns), people).T
    sd = matrix.std(axis=0)
    standard = (matrix - matrix.mean(axis=0)) / sd
    if np.linalg.matrix_rank(np.column_stack([np.ones(people), standard])) < 1 + len(names):
        raise DataError(
            Argument("respondents"),
            f": {plural(len(names), 'covariate')} of {plural(people, 'respondent')} determine each other, so that "
            "their effects cannot be told apart; leave one out.",
        )
    return Covariates(tuple(names), np.column_stack([np.ones(people), standard]), sd)


def _names(respondents: Any) -> tuple[str, ...]:
    """The argument `respondents` as names of columns."""
    if respondents is None:
        return ()
    if isinstance(respondents, str):
        return (respondents,)
    if not isinstance(respondents, Iterable):
        raise ArgumentError(
            Argument("respondents"), f" must be a list of columns of `data.people`; got {respondents!r}."
        )
    return tuple(dict.fromkeys(str(name) for name in respondents))


def _columns(name: str, column: "pd.Series") -> list[tuple[str, np.ndarray]]:
    """The covariates of a column of people, with their names."""
    import pandas as pd

    gaps = int(column.isna().sum())
    if gaps:
        raise DataError(
            Argument("respondents"),
            f": {name!r} is missing for {gaps} of {plural(len(column), 'respondent')}; fill the gaps, or leave out "
            "these people or the covariate.",
        )
    if column.nunique() < 2:
        raise DataError(
            Argument("respondents"),
            f": {name!r} is {str(column.iloc[0])!r} for everybody, which explains nothing; leave it out.",
        )
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return [(name, column.to_numpy(float))]
    labels = sorted({str(label) for label in column})
    return [(f"{name}[{label}]", (column.astype(str) == label).to_numpy(float)) for label in labels[1:]]
