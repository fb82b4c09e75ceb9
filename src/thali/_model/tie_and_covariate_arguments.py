"""Ties and covariates of choice data, as the arguments `ties` and `covariates` request."""

from typing import Any

from thali._argument_checks import check_allowed, is_list
from thali._data.base_classes import Judged
from thali._data.choices.choices import build_ties_error
from thali._data.kinds import CHOICES

CONVERSIONS = ("half", "drop")  # treatments after which no ties remain


def has_ties(data: Judged) -> bool:
    """Return whether any response is a tie."""
    return isinstance(data, Judged) and data.n_ties > 0


def treat_ties(data: Judged, ties: str | None, allowed: tuple[str, ...]) -> Any:
    """Return the data with ties kept, halved or dropped, as `ties` requests."""
    ties = check_allowed("ties", ties, (None, *allowed))
    if data.n_ties and data.kind == CHOICES:
        raise build_ties_error(data)
    if ties in CONVERSIONS and data.n_ties:
        return data.without_ties(ties)
    return data


def select_covariates(data: Judged, names: Any) -> Any:
    """Return the data with only the named covariates; None: all."""
    if names is None:
        return data
    if not is_list(names):
        names = [names]
    return data.with_covariates(names)
