"""What a reader of a paper asks about data, in words: how many, of whom, how evenly."""

from typing import Any

import numpy as np

from thali._described import Facts
from thali._digits import number
from thali._labels import listed

from .people import differing_columns

MAX_LISTED = 12  # names that are written out


def value_range(values: np.ndarray) -> str:
    """Return the least, the median and the most in words; one number where they are equal."""
    least, middle, most = (
        float(value) for value in (values.min(), np.median(values), values.max())
    )
    return (
        number(least)
        if least == most
        else f"{number(least)} to {number(most)} (median {number(middle)})"
    )


def share_of_pairs(n_pairs: int, n_options: int) -> str:
    """Return how many of all pairs of options, in words."""
    possible = n_options * (n_options - 1) // 2
    return f"{n_pairs:,} of {possible:,} ({number(100 * n_pairs / possible)} %)"


def named_facts(title: str, names: Any) -> Facts:
    """Return one fact that lists names; none where there are no names."""
    return ((title, listed(names, MAX_LISTED)),) if names else ()


def component_facts(components: list[Any]) -> Facts:
    """Return the number of groups of options that nothing links, if there are several."""
    if len(components) == 1:
        return ()
    return (
        ("Connected groups of options", f"{len(components):,}, with no comparison between groups"),
    )


def respondent_facts(respondents: Any, people: Any) -> Facts:
    """Return the number of respondents and their columns, where they are known."""
    if not respondents:
        return ()
    columns = named_facts("Respondent characteristics", differing_columns(people))
    return ("Respondents", f"{len(respondents):,}"), *columns
