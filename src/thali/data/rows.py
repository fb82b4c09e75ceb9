"""Rows of covariates, each of one of several classes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._described import Description
from thali._labels import plural

if TYPE_CHECKING:
    import pandas

_MAX_CLASSES = 20  # whose counts are written out


class Observations(NamedTuple):
    """Covariates and classes of the rows of a table."""

    covariates: "pandas.DataFrame"
    labels: np.ndarray
    target: str  # name of the column of classes

    @property
    def classes(self) -> dict[str, int]:
        """Each class and its rows, in the order of the labels."""
        found, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(map(str, found), counts.tolist(), strict=True))

    def __str__(self) -> str:
        classes = self.classes
        counted = [f"{name} {count:,}" for name, count in list(classes.items())[:_MAX_CLASSES]]
        more = f" and {len(classes) - _MAX_CLASSES:,} more" if len(classes) > _MAX_CLASSES else ""
        return (
            f"{plural(len(self.labels), 'row')}, {plural(self.covariates.shape[1], 'covariate')}; "
            f"{len(classes):,} classes in {self.target!r}: {', '.join(counted)}{more}"
        )

    def _description(self) -> Description:
        size = f"{len(self.covariates):,} rows of {self.covariates.shape[1]:,} covariates"
        names, classes = map(str, self.covariates.columns), map(str, dict.fromkeys(self.labels))
        facts = ("data", size), ("covariates", tuple(names)), ("classes", tuple(classes))
        return Description(type(self).__name__, facts)
