"""Check of the data argument of `fit`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thali._data.base_classes import Judged
from thali._data.kinds import find_data_spec
from thali._inference.user_warnings import is_quiet, warn
from thali._lazy_imports import load_object
from thali.errors import DataError, DataWarning


def check_data(data: Any, matrix_kind: str = "") -> Any:
    """Return the data of `fit`; convert a plain matrix, refuse foreign types.

    A numpy array or list becomes the data class of kind `matrix_kind`, with a warning.
    """
    if matrix_kind and isinstance(data, np.ndarray | list):
        spec = find_data_spec(matrix_kind)
        converted_data = load_object(spec.cls)(data)
        if not is_quiet():
            warn(
                DataWarning(
                    f"A plain matrix was read as {type(converted_data).__name__}(matrix),"
                    f" {spec.matrix}: {converted_data}."
                )
            )
        return converted_data

    if not isinstance(data, Judged) or isinstance(data, Mapping):
        raise DataError(
            f"fit requires thali data, such as PairedComparisons; got {type(data).__name__}. Wrap"
            " it first: a count matrix as PairedComparisons(counts), similarities as"
            " Similarities(matrix), triplets (odd one last) as Triplets(rows), or a long table of"
            " choices as Choices.from_frame(frame)."
        )
    return data
