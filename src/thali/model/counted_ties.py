"""What models of choices make of ties and covariates."""

from typing import Any

from thali._arguments import one_of
from thali.data.pairs import PairedComparisons
from thali.errors import DataError

CONVERSIONS = ("half", "drop")  # that leave no tie


def has_ties(data: Any) -> bool:
    """Whether neither option of some pair was chosen."""
    return isinstance(data, PairedComparisons) and data.n_ties > 0


def counted(data: Any, ties: Any, allowed: tuple[str, ...]) -> Any:
    """The data as a model with that argument `ties` takes them."""
    ties = one_of("ties", ties, (None, *allowed))
    return data.without_ties(ties) if ties in CONVERSIONS and has_ties(data) else data


def with_covariates(data: Any, names: Any) -> Any:
    """The data with the covariates that a model with that argument `covariates` takes; None: all that they have."""
    if names is None:
        return data
    names = [names] if isinstance(names, str) else list(names)
    if isinstance(data, PairedComparisons):
        return data.with_covariates(names)
    if names:
        raise DataError("Covariates are for comparisons of two options; choices out of larger sets have none.")
    return data


def covariate_names(data: Any) -> tuple[str, ...]:
    """Of the covariates that the data have."""
    own = data.covariates if isinstance(data, PairedComparisons) else None
    return () if own is None else own.names
