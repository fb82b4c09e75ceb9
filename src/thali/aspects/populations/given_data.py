"""What `fit` was given, as data of a kind that thali has."""

from typing import Any

import numpy as np

from thali.errors import DataError, DataWarning
from thali.inference.quiet import is_quiet
from thali.inference.warn import warn


def data_of_thali(data: Any, matrix: str = "") -> Any:
    """The data, if they are of a kind that thali has; a plain matrix becomes the kind of that name."""
    from thali.data.choices import Choices
    from thali.data.pairs import PairedComparisons
    from thali.data.similarities import Similarities
    from thali.data.triplets import Triplets

    if matrix and isinstance(data, np.ndarray | list):
        kind, how = {
            "PairedComparisons": (PairedComparisons, "times the row was chosen over the column"),
            "Similarities": (Similarities, "how similar row and column are"),
        }[matrix]
        made = kind(data)
        if not is_quiet():
            warn(DataWarning(f"A plain matrix was given; it is taken for {matrix}(matrix), {how}: {made}."))
        return made

    if not isinstance(data, PairedComparisons | Choices | Similarities | Triplets):
        raise DataError(
            f"fit needs thali data, such as PairedComparisons; got {type(data).__name__}. Wrap a count matrix as "
            "PairedComparisons(counts), a matrix of similarities as Similarities(matrix), rows of three objects, the "
            "odd one last, as Triplets(rows), a long table of choices as Choices(frame)."
        )
    return data
