"""What to tell of similarities that the default priors are not made for."""

from typing import TYPE_CHECKING

import numpy as np

from thali.data.check import shorten
from thali.data.suspicious import alike_labels

if TYPE_CHECKING:
    from thali.data.similarity import Similarities


def sentences(data: "Similarities", lowest_diagonal: bool) -> list[str]:
    """One message for each thing that is unusual."""
    values = data.values
    said = []
    if lowest_diagonal:
        said.append(
            "The diagonal is the smallest number of every row, as in a table of dissimilarities; if it is one, use "
            "Similarities.from_dissimilarities."
        )
    if np.all(values == values[0]):
        which = f"All {len(values):,} similarities are" if len(values) > 1 else "The only similarity is"
        said.append(f"{which} {values[0]:g}: variance accounted for is undefined.")
    if (mean := values.mean()) < 0:
        said.append(
            f"The mean similarity is {mean:.3g}, but the additive constant and the weights cannot be negative; add a "
            "constant to all similarities, or use Similarities.from_dissimilarities if these are dissimilarities."
        )
    if alone := data.never_measured:
        whose = "its" if len(alone) == 1 else "their"
        said.append(f"{shorten(alone)}: no similarity was measured; {whose} features are told by the prior alone.")
    if alike := alike_labels(data.labels):
        said.append(alike)
    return said
