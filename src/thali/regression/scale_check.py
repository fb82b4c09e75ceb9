"""Warnings about covariates whose scale leaves nothing for the other columns of W to explain."""

import warnings
from dataclasses import dataclass

import numpy as np

from thali.errors import DataWarning

_STEP = 4096
_SHARE = 0.9  # of the rows
_OUTWEIGHED = 1e-6  # what all other columns together have in a row that one column wins


@dataclass(frozen=True)
class Look:
    """What rows of W look like; those of two blocks of rows add up.

    Attributes
    ----------
    rows : int
    alive : array of bool, shape (p,)
        Columns that are positive somewhere.
    won : array of int, shape (p,)
        Rows in which this column is a million times all others together.
    """

    rows: int
    alive: np.ndarray
    won: np.ndarray

    def __add__(self, other: "Look") -> "Look":
        return Look(self.rows + other.rows, self.alive | other.alive, self.won + other.won)


def look_at(W: np.ndarray, counts=None) -> Look:
    """Look at rows of W, each divided by its maximum, and each counted so often."""
    counts = np.ones(len(W)) if counts is None else counts
    alive, won = np.zeros(W.shape[1], bool), np.zeros(W.shape[1])
    for start in range(0, len(W), _STEP):
        part = W[start : start + _STEP]
        alive |= (part > 0.0).any(axis=0)
        lone = part.sum(axis=1) - 1.0 < _OUTWEIGHED
        won += np.bincount(part[lone].argmax(axis=1), counts[start : start + _STEP][lone], W.shape[1])
    return Look(int(counts.sum()), alive, won.astype(np.int64))


def warn_of_constants(matrix: np.ndarray, names, stacklevel: int) -> None:
    """Warn of covariates that are the same in every row."""
    constant = np.flatnonzero(matrix.min(axis=0) == matrix.max(axis=0))
    if constant.size:
        named = ", ".join(repr(names[j]) for j in constant[:5]) + (", ..." if constant.size > 5 else "")
        warnings.warn(
            f"Covariates that are the same in every row: {named}. What they add cannot be told from the column "
            "of ones; leave them out.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def scaling_advice(transform, standardize: bool) -> str:
    """What to do about columns whose sizes are too different."""
    if transform is None:
        return "; scale the columns, or choose transform='exponential'"
    return "; scale the covariates" if standardize else "; pass standardize=True or scale the covariates"


def warn_about(look: Look, columns, mend: str, stacklevel: int) -> None:
    """Warn of columns that vanish everywhere and of a column that wins nearly every row; `mend` says what to do."""
    if len(columns) > 1 and look.won.max() > _SHARE * look.rows:
        winner = int(look.won.argmax())
        warnings.warn(
            f"Column {columns[winner]!r} of W is a million times all others together in {look.won[winner]} of "
            f"{look.rows} rows, so the other covariates hardly count{mend}.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )
    if not look.alive.all():
        dead = [columns[j] for j in np.flatnonzero(~look.alive)]
        named = ", ".join(map(repr, dead[:5])) + (", ..." if len(dead) > 5 else "")
        warnings.warn(
            f"{len(dead)} of {len(columns)} columns of W are zero in every row beside larger ones ({named}); the data "
            f"say nothing about their weights{mend}.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )
