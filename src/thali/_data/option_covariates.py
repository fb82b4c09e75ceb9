"""Covariates of options, such as price, which explain how strongly options are preferred."""

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from thali._inference.user_warnings import warn
from thali._labels import choose_number, format_plural, shorten, suggest
from thali._object_descriptions import Facts
from thali.errors import Argument, DataError, DataWarning, ModelName

from .base_classes import Frozen, build_from_fields, copy_with_fields

if TYPE_CHECKING:
    import pandas as pd


class CovariateColumns(NamedTuple):
    """Names and values of the covariates of each table row."""

    names: tuple[str, ...]
    values: np.ndarray  # (rows, covariates), of comparisons with the sign of "first over second"
    options: np.ndarray | None = None  # as in `PairCovariates`; None: all are 0
    table: "pd.DataFrame | None" = None  # as in `OptionCovariates`

    def select_rows(self, rows: np.ndarray) -> "CovariateColumns":
        """Return the covariates of the given rows."""
        return self._replace(values=self.values[rows])

    def select_columns(self, columns: list[int]) -> "CovariateColumns":
        """Return the covariates with these indices."""
        options = self.options
        if options is not None:
            options = options[:, columns]
        return CovariateColumns(
            tuple(self.names[k] for k in columns), self.values[:, columns], options, self.table
        )

    def compute_effects(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return effects on the log odds of the first option, per unit of a coefficient."""
        if self.options is None:
            return self.values
        return self.values + self.options[first] - self.options[second]

    def turn_rows(self, is_turned: np.ndarray) -> "CovariateColumns":
        """Return the covariates with the other sign in some rows."""
        values = np.where(is_turned[:, None], -self.values, self.values)
        return self._replace(values=values + 0.0)  # no negative zeros


class OptionCovariates(Frozen):
    """Covariates of options.

    Attributes
    ----------
    names : tuple of str
    options : float64 array, shape (options, covariates)
        0 for covariates of comparisons.
    table : DataFrame or None
        The columns from which covariates of options were made, one row per option.
    """

    _FIELDS = ("names", "options", "table")
    _IF_KNOWN = ("table",)

    names: tuple[str, ...]
    options: np.ndarray
    table: "pd.DataFrame | None" = None

    def __str__(self) -> str:
        return format_plural(len(self.names), "covariate")

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (("covariates", self.names),)

    @property
    def is_of_options(self) -> np.ndarray:
        """Whether each covariate describes options, not comparisons, (covariates,)."""
        return np.asarray(self.options.any(axis=0))

    @property
    def collinear(self) -> tuple[str, ...]:
        """Names of covariates of options whose effects options cannot separate; () if all can."""
        if not self.is_of_options.any():  # numpy 2.0 has no rank of an empty matrix
            return ()
        values = self.options[:, self.is_of_options]
        values = values - values.mean(axis=0)
        values = values / np.maximum(values.std(axis=0), np.finfo(float).tiny)
        if np.linalg.matrix_rank(values) == values.shape[1]:
            return ()
        return tuple(compress(self.names, self.is_of_options))

    def warn_if_collinear(self) -> None:
        """Warn of covariates of options whose effects the options cannot separate."""
        if names := self.collinear:
            warn(
                DataWarning(
                    f"The option covariates {shorten(names, 12)} are collinear, so their"
                    " effects depend on the prior; remove one of them."
                )
            )

    def refuse_options(self, model: str) -> None:
        """Raise DataError if a covariate describes options; `model` names the model."""
        if option_covariates := list(compress(self.names, self.is_of_options)):
            verb = choose_number(len(option_covariates), "describes", "describe")
            raise DataError(
                f"{shorten(option_covariates)} {verb} options, but {model} adjusts"
                " only for differences between comparisons of the same pair; fit ",
                ModelName("BradleyTerryLuce"),
                f", or remove {shorten(option_covariates)} from ",
                Argument("covariates"),
                ".",
            )

    def find_columns(self, names: Sequence[str]) -> list[int]:
        """Return the indices of these covariates; raise DataError if one is unknown."""
        if unknown_names := [name for name in names if name not in self.names]:
            raise DataError(
                f"Unknown covariate {unknown_names[0]!r}; available:"
                f" {shorten(self.names, 12)}.{suggest(unknown_names[0], self.names)}"
            )
        return [k for k, name in enumerate(self.names) if name in names]

    def of_options(self) -> "OptionCovariates | None":
        """Return the covariates that describe options; None if there are none."""
        is_of_options = self.is_of_options
        if not is_of_options.any():
            return None
        option_names = tuple(compress(self.names, is_of_options))
        return build_from_fields(
            OptionCovariates, option_names, self.options[:, is_of_options], self.table
        )

    def select_covariates(self, names: Sequence[str]) -> Self | None:
        """Keep some covariates by name; None for no names."""
        covariate_indices = self.find_columns(names)
        if not covariate_indices:
            return None
        selected_names = tuple(self.names[k] for k in covariate_indices)
        return copy_with_fields(
            self, names=selected_names, options=self.options[:, covariate_indices]
        )


def add_option_columns(
    covariates: OptionCovariates | None, columns: CovariateColumns
) -> OptionCovariates:
    """Return known covariates, those of comparisons too, and more columns of options."""
    import pandas as pd

    if covariates is None:
        return build_from_fields(OptionCovariates, columns.names, columns.values, columns.table)
    if repeated_names := [name for name in columns.names if name in covariates.names]:
        raise DataError(f"There is already a covariate {repeated_names[0]!r}; rename the column.")
    tables = [table for table in (covariates.table, columns.table) if table is not None]
    return build_from_fields(
        OptionCovariates,
        (*covariates.names, *columns.names),
        np.hstack([covariates.options, columns.values]),
        pd.concat(tables, axis=1),
    )
