"""What each model says in a report, in terms that the page knows."""

from typing import Any, NamedTuple

from thali.errors import Message

from .document import Section


class Content(NamedTuple):
    """The parts of a report that only one model can give."""

    question: tuple[str, ...]  # what was asked, in sentences
    answer: Section
    misses: Section | None = None  # what the model does not explain
    methods: tuple[str | Message, ...] = ()  # sentences of a paper about the model, before those about its fit


def number(value: float) -> str:
    """A number in a sentence."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def probability(value: float) -> str:
    """A probability in a sentence."""
    return "above .99" if value > 0.99 else "below .01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


def listed(names: Any, most: int = 6) -> str:
    """Names in a sentence."""
    names = [str(name) for name in names]
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
