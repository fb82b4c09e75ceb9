"""Sentence templates filled with numbers and names."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

import numpy as np

from thali._number_format import format_number
from thali._posterior.posterior_interval import compute_interval, describe_interval
from thali.errors import Fact, Message


def format_estimate(draws: np.ndarray, ci: float) -> str:
    """Format draws as "mean (low to high)"."""
    low, high = compute_interval(draws, ci, axis=None)
    return (
        f"{format_number(draws.mean())} ({describe_interval(ci)} {format_number(low)} to"
        f" {format_number(high)})"
    )


def phrase(sentences: Mapping[str, str], key: str, /, **facts: Any) -> str | Message:
    """Return the sentence template with this key, filled with the facts.

    It is a message if a fact is formatted differently by each interface.

    Examples
    --------
    >>> phrase({"best": "{option} is the best ({p})."}, "best", option="tea", p="0.97")
    'tea is the best (0.97).'
    """
    parts: list[Any] = []
    for text, name, _, _ in Formatter().parse(sentences[key]):
        parts.append(text)
        if name is not None:
            parts.append(facts[name])
    if any(isinstance(part, Fact) for part in parts):
        return Message(*parts)
    return "".join(map(str, parts))
