"""Weights of the respondents whom a table describes: their population, or themselves."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import divide_positive
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural, shorten, suggest
from thali._people.population_weights import (
    RESPONDENTS,
    describe_population,
    describe_sample,
    draw_exponentials,
)
from thali.errors import Argument, ArgumentError, DataWarning

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

    from .choice_draws import Chooser

NEW = "new"


class PeopleWeights(NamedTuple):
    """Weights of the respondents of a table, by draw and on average; None for new ones."""

    plain: Any  # (respondents,)
    drawn: Any  # the same, or (draws, respondents) by the Bayesian bootstrap
    whose: str  # description of the respondents


def draw_table_weights(
    chooser: "Chooser", people: Any, respondent_weights: Any = None, random_seed: "RandomSeed" = 0
) -> PeopleWeights:
    """Draw weights of respondents as `draw_people_weights`; refuse new respondents."""
    if isinstance(people, str) and people == NEW:
        raise ArgumentError(
            Argument("people"),
            ": the model has no table of new respondents; omit ",
            Argument("people"),
            " for the population that the respondents represent.",
        )
    return draw_people_weights(chooser, people, respondent_weights, random_seed)


def draw_people_weights(
    chooser: "Chooser", people: Any, respondent_weights: Any, random_seed: "RandomSeed"
) -> PeopleWeights:
    """Draw weights of respondents in their population by the Bayesian bootstrap.

    Weights of respondents given by name are fixed.
    """
    mean_weights = compute_weights(chooser, people, respondent_weights)
    if mean_weights is None:
        return PeopleWeights(None, None, "among new respondents")
    n_respondents = int(np.count_nonzero(mean_weights))
    is_query = isinstance(people, str) and people != RESPONDENTS
    if not (people is None or is_query or callable(people) or np.asarray(people).dtype == bool):
        return PeopleWeights(mean_weights, mean_weights, describe_sample(n_respondents))
    drawn_weights = mean_weights
    if chooser.has_individuals:
        drawn_weights = mean_weights * draw_exponentials(
            len(chooser.chain), len(mean_weights), random_seed
        )
        drawn_weights[: chooser.is_estimate] = mean_weights  # the estimate itself
    return PeopleWeights(mean_weights, drawn_weights, describe_population(n_respondents))


def average_over_people(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean over respondents (second axis), ignoring NaN.

    `weights` are (respondents,) or (draws, respondents). All respondents have the same values if
    the axis has one element.
    """
    if values.shape[1] == 1:
        return values[:, 0]
    weights = np.broadcast_to(weights, values.shape[:2])
    is_present = ~np.isnan(values)
    sums = np.einsum("dn,dn...->d...", weights, np.where(is_present, values, 0.0))
    total_weights = np.einsum("dn,dn...->d...", weights, is_present.astype(float))
    return divide_positive(sums, total_weights, np.nan)


def selects_all(people: Any) -> bool:
    """Return whether the argument `people` selects all fitted respondents."""
    return people is None or isinstance(people, str) and people == RESPONDENTS


def compute_weights(chooser: "Chooser", people: Any, respondent_weights: Any) -> np.ndarray | None:
    """Return the market weight of each respondent; None for new respondents.

    The weight is 0 for respondents who are not selected.
    """
    if isinstance(people, str) and people == NEW:
        if respondent_weights is not None:
            raise ArgumentError(
                Argument("respondent_weights"),
                " does not apply to new respondents; remove ",
                Argument("respondent_weights"),
                ".",
            )
        return None
    weights = np.ones(len(chooser.data.respondents))
    if respondent_weights is not None:
        weights = _parse_weights(chooser, respondent_weights)
    weights = np.where(select_respondents(chooser, people), weights, 0.0)
    if not weights.any():
        raise ArgumentError(
            Argument("people"),
            " selects only respondents with weight 0; widen the filter or change the weights.",
        )
    argument = "people"
    if selects_all(people):
        argument = "respondent_weights"
    if not (chooser.has_individuals or selects_all(people) and respondent_weights is None):
        weights[:] = 1.0  # else the choice of tasks would change the importance
        warn(
            DataWarning(
                Argument(argument),
                " has no effect on these predictions, because the model predicts the same for every"
                " respondent; fit the tasks of these respondents separately, or use a hierarchical"
                " logit or latent classes.",
            )
        )
    return weights


def select_respondents(chooser: "Chooser", people: Any) -> np.ndarray:
    """Return a mask of the respondents that the argument `people` selects."""
    if selects_all(people):
        return np.ones(len(chooser.data.respondents), bool)
    is_selected = _parse_selection(chooser, people)
    if not is_selected.any():
        raise ArgumentError(Argument("people"), " selects no respondents; widen the filter.")
    return is_selected


def _parse_weights(chooser: "Chooser", weights_argument: Any) -> np.ndarray:
    """Return the user's weights of all respondents as an array, checked."""
    respondents = chooser.data.respondents
    name = Argument("respondent_weights")
    if isinstance(weights_argument, str):
        weights_argument = _get_respondent_column(chooser, weights_argument, name)
    if (
        isinstance(weights_argument, Mapping)
        or hasattr(weights_argument, "index")
        and hasattr(weights_argument, "items")
    ):
        weight_by_label = {format_label(label): value for label, value in weights_argument.items()}
        unweighted_respondents = [label for label in respondents if label not in weight_by_label]
        if unweighted_respondents:
            raise ArgumentError(
                name,
                f" lacks {shorten(unweighted_respondents)}; give one weight per respondent, 0 to"
                " exclude one.",
            )
        weights_argument = [weight_by_label[label] for label in respondents]
    try:
        weights = np.asarray(weights_argument, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            name, f" must contain numbers, one per respondent; got {weights_argument!r}."
        ) from None
    if weights.shape != (len(respondents),):
        weights_shape = weights.shape
        if weights.ndim == 1:
            weights_shape = weights.size
        raise ArgumentError(
            name,
            " must have one number per respondent"
            f" ({format_plural(len(respondents), 'respondent')}); got {weights_shape}.",
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        n = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
        raise ArgumentError(
            name,
            f" must contain finite numbers >= 0; respondent {respondents[n]!r} has {weights[n]:g}.",
        )
    if not weights.any():
        raise ArgumentError(name, " are all 0; give at least one respondent a positive weight.")
    return weights


def _parse_selection(chooser: "Chooser", people: Any) -> np.ndarray:
    """Return a mask of the respondents that a query or a list selects."""
    # The selection is a query, a function of the respondent table, a mask, or names.
    respondents = chooser.data.respondents
    if isinstance(people, str):
        return _evaluate_query(chooser, people)
    if isinstance(people, Callable):
        people = people(_get_respondent_table(chooser))
    selection = np.asarray(people)
    if selection.dtype == bool:
        if selection.shape != (len(respondents),):
            raise ArgumentError(
                Argument("people"),
                " must have one True or False per respondent"
                f" ({format_plural(len(respondents), 'respondent')}); got"
                f" {len(np.atleast_1d(selection))}.",
            )
        return selection
    if selection.ndim != 1:
        raise ArgumentError(
            Argument("people"),
            " must be None, 'respondents', 'new', a query of respondent columns, a function of"
            f" their table, a list of True and False, or a list of respondents; got {people!r}.",
        )
    respondent_labels = [format_label(label) for label in selection]
    unknown_labels = set(respondent_labels) - set(respondents)
    for label in respondent_labels:
        if label in unknown_labels:
            raise ArgumentError(
                Argument("people"),
                f": there is no respondent {label!r}.{suggest(label, respondents)}",
            )
    return np.isin(np.asarray(respondents, object), respondent_labels)


def _evaluate_query(chooser: "Chooser", query: str) -> np.ndarray:
    """Return a mask of respondents whose columns satisfy a pandas query."""
    table = _get_respondent_table(chooser)
    try:
        is_selected = np.asarray(table.eval(query))
    except Exception as error:  # pandas raises whatever Python does
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is not a valid condition on the respondent columns"
            f" ({shorten([*map(str, table.columns)]) or 'none'}): {error}. Write a condition such"
            " as 'age > 40', or 'new'.",
        ) from None
    if is_selected.dtype != bool or is_selected.shape != (len(table),):
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is not True or False for each respondent; write a condition"
            " such as 'age > 40'.",
        )
    return is_selected


def _get_respondent_table(chooser: "Chooser") -> "pandas.DataFrame":
    """Return the table of columns about respondents, one row each."""
    import pandas

    if chooser.people is not None:
        return chooser.people
    return pandas.DataFrame(index=pandas.Index(chooser.data.respondents, name="respondent"))


def _get_respondent_column(chooser: "Chooser", name: str, argument: Argument) -> np.ndarray:
    """Return one column about respondents; raise ArgumentError without it."""
    table = _get_respondent_table(chooser)
    if name not in table.columns:
        column_names = [*map(str, table.columns)]
        raise ArgumentError(
            argument,
            f" contains {name!r}, which is not a respondent column; available:"
            f" {shorten(column_names) or 'none'}.{suggest(name, column_names)}",
        )
    return table[name].to_numpy()
