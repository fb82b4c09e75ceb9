"""Facts about data, as (name, text) pairs, for reports and papers."""

from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import count_pairs
from thali._labels import list_names
from thali._number_format import format_number
from thali._object_descriptions import Facts

from .respondent_table import list_differing_columns

if TYPE_CHECKING:
    import pandas as pd


MAX_LISTED = 12  # names that are written out


def format_value_range(values: np.ndarray) -> str:
    """Format "minimum to maximum (median)", or one number if all are equal.

    The text is one number where they are equal.
    """
    minimum = float(values.min())
    median = float(np.median(values))
    maximum = float(values.max())
    if minimum == maximum:
        return format_number(minimum)
    return f"{format_number(minimum)} to {format_number(maximum)} (median {format_number(median)})"


def format_extremes(values: np.ndarray) -> str:
    """Format integers as "minimum to maximum", or one number if all are equal."""
    minimum = int(values.min())
    maximum = int(values.max())
    if minimum == maximum:
        return str(minimum)
    return f"{minimum} to {maximum}"


def format_pair_share(n_pairs: int, n_options: int) -> str:
    """Format "compared pairs of all pairs (per cent)"."""
    n_possible = count_pairs(n_options)
    return f"{n_pairs:,} of {n_possible:,} ({format_number(100 * n_pairs / n_possible)} %)"


def list_name_facts(title: str, names: Iterable[str]) -> Facts:
    """Return one (title, names) fact; () without names."""
    if not names:
        return ()
    return ((title, list_names(names, MAX_LISTED)),)


def count_component_facts(components: list[Any]) -> Facts:
    """Return a fact on the number of unconnected option groups; () if one."""
    if len(components) == 1:
        return ()
    return (
        ("Connected groups of options", f"{len(components):,}, with no comparison between groups"),
    )


def count_respondent_facts(
    respondents: Sized, people: "pd.DataFrame | None", unit: str = "respondent"
) -> Facts:
    """Return facts on the number of respondents and their columns; () if unknown."""
    if not respondents:
        return ()
    columns = list_name_facts("Respondent characteristics", list_differing_columns(people))
    return (f"{unit.capitalize()}s", f"{len(respondents):,}"), *columns
