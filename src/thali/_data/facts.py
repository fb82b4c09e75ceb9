"""Facts about data that readers of a paper ask for, as text."""

from typing import Any

import numpy as np

from thali._described import Facts
from thali._digits import format_number
from thali._labels import list_names

from .people_table import list_differing_columns

MAX_LISTED = 12  # names that are written out


def format_value_range(values: np.ndarray) -> str:
    """Format minimum, maximum and median as text.

    The text is one number where they are equal.
    """
    minimum, median, maximum = float(values.min()), float(np.median(values)), float(values.max())
    if minimum == maximum:
        return format_number(minimum)
    return f"{format_number(minimum)} to {format_number(maximum)} (median {format_number(median)})"


def format_extremes(values: np.ndarray) -> str:
    """Format the minimum and maximum of integers, as one number where they are equal."""
    minimum, maximum = int(values.min()), int(values.max())
    if minimum == maximum:
        return str(minimum)
    return f"{minimum} to {maximum}"


def format_pair_share(n_pairs: int, n_options: int) -> str:
    """Format the number of compared pairs, out of all pairs of options."""
    possible = n_options * (n_options - 1) // 2
    return f"{n_pairs:,} of {possible:,} ({format_number(100 * n_pairs / possible)} %)"


def list_name_facts(title: str, names: Any) -> Facts:
    """Return one fact that lists names, or none without names."""
    if not names:
        return ()
    return ((title, list_names(names, MAX_LISTED)),)


def count_component_facts(components: list[Any]) -> Facts:
    """Return the number of unconnected groups of options, if several."""
    if len(components) == 1:
        return ()
    return (
        ("Connected groups of options", f"{len(components):,}, with no comparison between groups"),
    )


def count_respondent_facts(respondents: Any, people: Any) -> Facts:
    """Return the number of respondents and their columns, if available."""
    if not respondents:
        return ()
    columns = list_name_facts("Respondent characteristics", list_differing_columns(people))
    return ("Respondents", f"{len(respondents):,}"), *columns
