"""Warnings about covariates whose scale makes the other columns of W useless."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.errors import Clause, DataWarning, Message, Setting
from thali.inference.warn import warn

from .design import STEP

_EXPLAINED = 0.4  # share of the deviance of the class proportions
_SHARE = 0.9  # of the rows
_OUTWEIGHED = 1e-6  # sum of all other columns in a row that one column wins


@dataclass(frozen=True)
class Look:
    """Summary of rows of W; those of two blocks of rows add up."""

    rows: int
    alive: np.ndarray  # (p,): columns that are positive somewhere
    won: np.ndarray  # (p,): rows in which the column is a million times all others together

    def __add__(self, other: "Look") -> "Look":
        return Look(self.rows + other.rows, self.alive | other.alive, self.won + other.won)


def look_at(W: np.ndarray, counts: Any = None) -> Look:
    """Summarise rows of W, each divided by its maximum, with their counts."""
    counts = np.ones(len(W)) if counts is None else counts
    alive, won = np.zeros(W.shape[1], bool), np.zeros(W.shape[1])
    for start in range(0, len(W), STEP):
        part = W[start : start + STEP]
        alive |= (part > 0.0).any(axis=0)
        lone = part.sum(axis=1) - 1.0 < _OUTWEIGHED
        won += np.bincount(part[lone].argmax(axis=1), counts[start : start + STEP][lone], W.shape[1])
    return Look(int(counts.sum()), alive, won.astype(np.int64))


def warn_of_constants(matrix: np.ndarray, names: Any) -> None:
    """Warn of covariates that are the same in every row."""
    constant = np.flatnonzero(matrix.min(axis=0) == matrix.max(axis=0))
    if constant.size:
        named = ", ".join(repr(names[j]) for j in constant[:5]) + (", ..." if constant.size > 5 else "")
        warn(
            DataWarning(
                f"Covariates that are the same in every row: {named}. Their effect cannot be distinguished from "
                "that of the column of ones; leave them out."
            )
        )


def scaling_advice(transform: Any, standardize: bool) -> Message:
    """What to do about columns whose sizes are too different."""
    if transform is None:
        return Message("; scale the columns, or choose ", Setting("transform", "exponential"))
    return Message(
        "; scale the covariates", *([] if standardize else [Clause(", or set ", Setting("standardize", True))])
    )


def warn_of_poor_fit(log_likelihood: float, class_count: np.ndarray) -> None:
    """Warn of covariates that, taken as they are, hardly say more than the class proportions.

    A row's class probabilities are an average of those of the columns in which it is positive: with many of them no
    class is probable. Of the deviance that proportions leave, wine, breast cancer, digits and iris keep more than half.
    """
    n = class_count.sum()
    explained = 1.0 - log_likelihood / float((class_count * np.log(class_count / n)).sum())
    if explained < _EXPLAINED:
        warn(
            DataWarning(
                f"Covariates as they are explain {max(100 * explained, 0.0):.0f} % of what the class proportions leave "
                "open: where rows are positive in many columns, no class can be probable. Choose ",
                Setting("transform", "exponential"),
                ", or a sparse logit, which predicts better.",
            )
        )


def warn_about(look: Look, columns: Any, mend: Message) -> None:
    """Warn of columns that vanish everywhere and of a column that wins nearly every row; `mend` says what to do."""
    if len(columns) > 1 and look.won.max() > _SHARE * look.rows:
        winner = int(look.won.argmax())
        warn(
            DataWarning(
                f"Column {columns[winner]!r} of W is a million times all others together in {look.won[winner]} of "
                f"{look.rows} rows, so the other covariates hardly count",
                mend,
                ".",
            )
        )
    if not look.alive.all():
        dead = [columns[j] for j in np.flatnonzero(~look.alive)]
        named = ", ".join(map(repr, dead[:5])) + (", ..." if len(dead) > 5 else "")
        warn(
            DataWarning(
                f"{len(dead)} of {len(columns)} columns of W are zero in every row beside larger ones ({named}); "
                "the data say nothing about their weights",
                mend,
                ".",
            )
        )
