"""Comparisons and further comparisons of the same options."""

from typing import Any

from thali._labels import shorten, suggest
from thali.errors import DataError

from .pairs import PairedComparisons


def with_more(old: Any, new: Any) -> PairedComparisons:
    """All comparisons together, of the options of the old ones; who made them is forgotten."""
    import pandas as pd

    for each, which in ((old, "fitted to"), (new, "to be updated by")):
        if not isinstance(each, PairedComparisons):
            raise DataError(
                f"Paired comparisons can be updated by further ones; the model is {which} {type(each).__name__}. Fit to"
                " all the data."
            )
    if old.covariates is not None or new.covariates is not None:
        raise DataError("Comparisons with covariates cannot be updated by further ones; fit to all the data.")
    unknown = [label for label in new.labels if label not in set(old.labels)]
    if unknown:
        raise DataError(
            f"The new data have options that the model does not know, {shorten(unknown)}"
            f"{suggest(unknown[0], old.labels)}; fit to all the data."
        )
    frames = [each.to_frame().astype({"chosen": str, "rejected": str}) for each in (old, new)]
    rows = pd.concat(frames, ignore_index=True).fillna(0)
    ties = "ties" if "ties" in rows else None
    return PairedComparisons.from_frame(
        rows, chosen="chosen", rejected="rejected", count="count", ties=ties, labels=old.labels, weights=True
    )
