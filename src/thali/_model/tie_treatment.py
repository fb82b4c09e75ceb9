"""What models of choices make of ties and covariates."""

from typing import Any

from thali._arguments import check_allowed, is_list
from thali._data.choices.choices import build_ties_error
from thali._data.judged import Judged
from thali._data.kinds import CHOICES

CONVERSIONS = ("half", "drop")  # that leave no tie


def has_ties(data: Any) -> bool:
    """Whether neither option of some pair was chosen; data of other kinds than thali's judgements
    have no ties."""
    return isinstance(data, Judged) and data.n_ties > 0


def counted(data: Judged, ties: Any, allowed: tuple[str, ...]) -> Any:
    """The data as a model with that argument `ties` takes them."""
    ties = check_allowed("ties", ties, (None, *allowed))
    if data.n_ties and data.kind == CHOICES:
        raise build_ties_error(data)
    return data.without_ties(ties) if ties in CONVERSIONS and data.n_ties else data


def with_covariates(data: Judged, names: Any) -> Any:
    """The data with the covariates that a model with that argument `covariates` takes; None: all
    that they have."""
    return data if names is None else data.with_covariates(names if is_list(names) else [names])
