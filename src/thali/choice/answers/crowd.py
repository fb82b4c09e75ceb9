"""Whose choices are asked for: all respondents, some of them, with weights, or new people."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label, plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataWarning
from thali.inference.warn import warn

if TYPE_CHECKING:
    from .chooser import Chooser

NEW = "new"


def weights_of(chooser: "Chooser", people: Any, respondent_weights: Any) -> np.ndarray | None:
    """The weight of each respondent, 0 for those who are not asked for; None: new people.

    Raises
    ------
    ArgumentError
        If `people` is no filter or leaves nobody, or weights are negative, all zero, or of the wrong number.

    Warns
    -----
    DataWarning
        If there are any, and everybody has the same tastes.
    """
    if isinstance(people, str) and people == NEW:
        if respondent_weights is not None:
            raise ArgumentError(
                Argument("respondent_weights"), " belong to the respondents; leave them out with people='new'."
            )
        return None
    weights = np.ones(len(chooser.data.respondents))
    if respondent_weights is not None:
        weights = _checked_weights(chooser, respondent_weights)
    if people is not None:
        weights = np.where(respondents_of(chooser, people), weights, 0.0)
        if not weights.any():
            raise ArgumentError(
                Argument("people"),
                " leaves only respondents whose weight is 0; widen the filter or change their weights.",
            )
    if not chooser.has_individuals and not (people is None and respondent_weights is None):
        warn(
            DataWarning(
                Argument("people" if people is not None else "respondent_weights"),
                " changes nothing, because everybody has the same tastes in this model; fit the tasks of these people "
                "alone, or a hierarchical logit, or classes of people.",
            )
        )
    return weights


def respondents_of(chooser: "Chooser", people: Any) -> np.ndarray:
    """Whether each respondent is asked for; None: all are."""
    if people is None:
        return np.ones(len(chooser.data.respondents), bool)
    chosen = _chosen(chooser, people)
    if not chosen.any():
        raise ArgumentError(Argument("people"), " leaves nobody; widen the filter.")
    return chosen


def _checked_weights(chooser: "Chooser", given: Any) -> np.ndarray:
    respondents, name = chooser.data.respondents, Argument("respondent_weights")
    if isinstance(given, str):
        given = _column(chooser, given, name)
    if isinstance(given, Mapping) or hasattr(given, "index") and hasattr(given, "items"):
        named = {as_label(label): value for label, value in given.items()}
        absent = [label for label in respondents if label not in named]
        if absent:
            raise ArgumentError(
                name, f" have none for {shorten(absent)}; give one for each respondent, 0 for one who does not count."
            )
        given = [named[label] for label in respondents]
    try:
        weights = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, f" must be numbers, one for each respondent; got {given!r}.") from None
    if weights.shape != (len(respondents),):
        count = weights.shape[0] if weights.ndim == 1 else weights.shape
        raise ArgumentError(
            name, f" must be one number for each of the {plural(len(respondents), 'respondent')}; got {count}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
        raise ArgumentError(
            name, f" must be finite numbers of 0 or more; that of respondent {respondents[bad]!r} is {weights[bad]:g}."
        )
    if not weights.any():
        raise ArgumentError(name, " are all 0; give at least one respondent a weight above 0.")
    return weights


def _chosen(chooser: "Chooser", people: Any) -> np.ndarray:
    """Whether each respondent is asked for: by a query, a function of the table of people, a mask, or names."""
    respondents = chooser.data.respondents
    if isinstance(people, str):
        return _by_query(chooser, people)
    if isinstance(people, Callable):
        people = people(_table(chooser))
    mask = np.asarray(people)
    if mask.dtype == bool:
        if mask.shape != (len(respondents),):
            raise ArgumentError(
                Argument("people"),
                f" must be True or False for each of the {plural(len(respondents), 'respondent')}; got "
                f"{len(mask) if mask.ndim else 1}.",
            )
        return mask
    if mask.ndim != 1:
        raise ArgumentError(
            Argument("people"),
            " must be None, 'new', a query of the columns of people, a function of their table, a list of True and "
            f"False, or a list of respondents; got {people!r}.",
        )
    wanted = [as_label(label) for label in mask]
    known = set(respondents)
    for label in wanted:
        if label not in known:
            raise ArgumentError(Argument("people"), f": there is no respondent {label!r}.{suggest(label, respondents)}")
    return np.isin(np.asarray(respondents, object), wanted)


def _by_query(chooser: "Chooser", query: str) -> np.ndarray:
    table = _table(chooser)
    try:
        found = np.asarray(table.eval(query))
    except Exception as error:  # pandas raises whatever Python does
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is no query of the columns of people ({shorten([*map(str, table.columns)])}); "
            f"write one such as 'age > 40', or 'new': {error}.",
        ) from None
    if found.dtype != bool or found.shape != (len(table),):
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is not True or False for each respondent; write 'age > 40'.",
        )
    return found


def _table(chooser: "Chooser") -> Any:
    """What is known of people, a row a respondent."""
    import pandas

    if chooser.people is not None:
        return chooser.people
    return pandas.DataFrame(index=pandas.Index(chooser.data.respondents, name="respondent"))


def _column(chooser: "Chooser", name: str, argument: Argument) -> Any:
    table = _table(chooser)
    if name not in table.columns:
        raise ArgumentError(
            argument,
            f" names {name!r}, which is no column of people; they have {shorten([*map(str, table.columns)]) or 'none'}."
            f"{suggest(name, [*map(str, table.columns)])}",
        )
    return table[name].to_numpy()
