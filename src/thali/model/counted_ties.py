"""What models of choices make of ties."""

from typing import Any

from thali._arguments import one_of
from thali.data.groups import Groups
from thali.data.pairs import PairedComparisons

CONVERSIONS = ("half", "drop")  # that leave no tie


def has_ties(data: Any) -> bool:
    """Whether neither option of some pair was chosen, in some group of people if there are several."""
    if isinstance(data, Groups):
        return any(map(has_ties, data.data))
    return isinstance(data, PairedComparisons) and data.n_ties > 0


def counted(data: Any, ties: Any, allowed: tuple[str, ...]) -> Any:
    """The data as a model with that argument `ties` takes them."""
    if isinstance(data, Groups):
        return data.mapped(lambda each: counted(each, ties, allowed))
    ties = one_of("ties", ties, (None, *allowed))
    return data.without_ties(ties) if ties in CONVERSIONS and has_ties(data) else data
