"""Sentences about answers: numbers and names in them, and templates that facts fill."""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

import numpy as np

from thali._posterior.interval import TAILS, interval_name
from thali.errors import Fact, Message


def number(value: float) -> str:
    """A number in a sentence."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def factor(value: float) -> str:
    """A factor of odds in a sentence: near 1 two digits of how far it is from 1.

    Examples
    --------
    >>> factor(1.000873), factor(0.5), factor(1.0)
    ('1.00087', '0.5', '1')
    """
    return f"{1.0 + float(f'{value - 1.0:.2g}'):.10g}" if abs(value - 1.0) < 0.1 else number(value)


def probability(value: float) -> str:
    """A probability in a sentence."""
    return "above .99" if value > 0.99 else "below .01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


def listed(names: Iterable[Any], most: int = 6) -> str:
    """Names in a sentence."""
    names = [str(name) for name in names]
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def estimate(draws: np.ndarray) -> str:
    """Mean and interval of draws in a sentence."""
    low, high = np.quantile(draws, TAILS)
    return f"{number(float(draws.mean()))} ({interval_name()} {number(low)} to {number(high)})"


def phrase(sentences: Mapping[str, str], key: str, /, **facts: Any) -> str | Message:
    """The sentence of that key with its facts; a message where one of them is spelled differently by each reader.

    Examples
    --------
    >>> phrase({"best": "{option} is the best ({p})."}, "best", option="tea", p=".97")
    'tea is the best (.97).'
    """
    parts: list[Any] = []
    for text, name, _, _ in Formatter().parse(sentences[key]):
        parts += [text] if name is None else [text, facts[name]]
    return Message(*parts) if any(isinstance(part, Fact) for part in parts) else "".join(map(str, parts))
