"""What `fit` was given, as data of a kind that thali has."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thali._data.judged import Judged
from thali._data.kinds import find_data_spec
from thali._inference.warn import is_quiet, warn
from thali._late import load
from thali.errors import DataError, DataWarning


def data_of_thali(data: Any, matrix: str = "") -> Any:
    """The data, if they are of a kind that thali has; a plain matrix becomes data of the kind
    `matrix`."""
    if matrix and isinstance(data, np.ndarray | list):
        spec = find_data_spec(matrix)
        made = load(spec.cls)(data)
        if not is_quiet():
            warn(
                DataWarning(
                    f"A plain matrix was read as {type(made).__name__}(matrix), {spec.matrix}:"
                    f" {made}."
                )
            )
        return made

    if not isinstance(data, Judged) or isinstance(data, Mapping):
        raise DataError(
            f"fit requires thali data, such as PairedComparisons; got {type(data).__name__}. Wrap"
            " a count matrix as PairedComparisons(counts), a matrix of similarities as"
            " Similarities(matrix), rows of three objects, the odd one last, as Triplets(rows),"
            " or a long table of choices as Choices.from_frame(frame)."
        )
    return data
