"""Comparisons or choices, and further ones of the same options."""

from typing import Any

from thali._labels import shorten, suggest
from thali.errors import DataError

from .choices import Choices
from .pairs import PairedComparisons


def with_more(old: Any, new: Any) -> PairedComparisons | Choices:
    """All comparisons or choices together, of the options of the old ones; who made them is forgotten."""
    for each, which in ((old, "fitted to"), (new, "to be updated by")):
        if not isinstance(each, PairedComparisons | Choices) or (isinstance(each, Choices) and each.worst is not None):
            raise DataError(
                "Paired comparisons or choices out of sets can be updated by further ones; the model is "
                f"{which} {type(each).__name__}. Fit to all the data."
            )
    if type(old) is not type(new):
        kinds = f"{type(old).__name__}, and is to be updated by {type(new).__name__}"
        raise DataError(f"The model is fitted to {kinds}; fit to all the data.")
    unknown = [label for label in new.labels if label not in set(old.labels)]
    if unknown:
        raise DataError(
            f"The new data have options that the model does not know, {shorten(unknown)}"
            f"{suggest(unknown[0], old.labels)}; fit to all the data."
        )
    return more_pairs(old, new) if isinstance(old, PairedComparisons) else more_choices(old, new)


def more_choices(old: Choices, new: Choices) -> Choices:
    """All choices out of sets."""
    import pandas as pd

    frames = [each.to_frame().astype({"alternative": str}) for each in (old, new)]
    frames[1]["choice_id"] += frames[0]["choice_id"].max()
    rows = pd.concat(frames, ignore_index=True)
    return Choices(rows, "choice_id", "alternative", "chosen", count="count", labels=old.labels, weights=True)


def more_pairs(old: PairedComparisons, new: PairedComparisons) -> PairedComparisons:
    """All paired comparisons."""
    import pandas as pd

    if old.covariates is not None or new.covariates is not None:
        raise DataError("Comparisons with covariates cannot be updated by further ones; fit to all the data.")
    frames = [each.to_frame().astype({"chosen": str, "rejected": str}) for each in (old, new)]
    rows = pd.concat(frames, ignore_index=True).fillna(0)
    ties = "ties" if "ties" in rows else None
    return PairedComparisons.from_frame(
        rows, chosen="chosen", rejected="rejected", count="count", ties=ties, labels=old.labels, weights=True
    )
