"""From covariates to W, the non-negative columns to which Plackett–Luce regression gives
weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from thali._inference.warn import warn
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    DataError,
    DataWarning,
    Message,
    Setting,
    one_of,
)

from ..input import Standardization, compute_standardization

TRANSFORMS = ("exponential", "exponential-pairs")
# larger standardised covariates, which only new rows can have, are clipped here: sums of two stay
# finite
_FAR = 1e300
STEP = 4096  # rows at a time, so that no second matrix as large as W is made


@dataclass(frozen=True)
class PlackettLuceDesign:
    """The transformation of covariates into W; stores the scale of the training data.

    W = [e^x, e^−x, 1] for "exponential", and e^±(x_a + x_b) of all pairs for "exponential-pairs";
    each row is divided by its maximum, which changes nothing in the model and keeps every number
    finite. Where covariates are standardised, those that are the same in every row of the training
    data are left out of W, and are 0 for a callable.
    """

    names: tuple[str, ...]  # of the covariates
    # "exponential", "exponential-pairs", a callable (n, d) -> (n, p) >= 0, or None: covariates >= 0
    transform: Any
    standard: Standardization | None  # mean and standard deviation of the training data
    columns: tuple[str, ...]  # of W

    @classmethod
    def fit(
        cls,
        matrix: Any,
        names: Sequence[str],
        transform: Any = "exponential",
        standardize: bool = True,
        counts: Any = None,
    ) -> "PlackettLuceDesign":
        """The design of training data."""
        check_transform(transform)
        standard = None
        if standardize and transform is not None:
            standard = compute_standardization(matrix, np.array(names, dtype=object), counts)
        return cls.of_standard(standard, names, transform, matrix[:1])

    @classmethod
    def of_standard(
        cls, standard: Standardization | None, names: Sequence[str], transform: Any, one_row: Any
    ) -> "PlackettLuceDesign":
        """The design when the scale is known already; a row is needed to see what a callable makes
        of it."""
        design = cls(tuple(names), transform, standard, ())
        if callable(transform):
            made: Any = transform(design._standardised(np.asarray(one_row, np.float64)))
            own = getattr(made, "columns", None)
            size = np.asarray(made).shape[-1] if np.ndim(made) == 2 else 0
            columns = (
                tuple(map(str, own)) if own is not None else tuple(f"w{j}" for j in range(size))
            )
        elif transform is None:
            columns = tuple(names)
        else:
            varying = (
                names
                if standard is None
                else [name for name, varies in zip(names, standard.varies, strict=True) if varies]
            )
            columns = _exponential_names(varying, transform == "exponential-pairs")
        return replace(design, columns=columns)

    def apply(self, matrix: np.ndarray, number: Any = None) -> np.ndarray:
        """W of some rows, shape (n, p), each row divided by its maximum; `number` is what errors
        call the rows."""
        if self.transform is None or callable(self.transform):
            return self._given(matrix, np.arange(len(matrix)) if number is None else number)
        W = np.empty((len(matrix), len(self.columns)))
        for start in range(0, len(matrix), STEP):
            part = W[start : start + STEP]
            self._fill_logs(matrix[start : start + STEP], part)
            np.exp(part, out=part)
        return W

    def logs(self, matrix: np.ndarray) -> np.ndarray:
        """ln W: finite where W itself is too small for a float; −inf only where it is exactly
        zero."""
        if self.transform is None or callable(self.transform):
            with np.errstate(divide="ignore"):
                return np.log(self._given(matrix, np.arange(len(matrix))))
        logs = np.empty((len(matrix), len(self.columns)))
        self._fill_logs(matrix, logs)
        return logs

    def _standardised(self, matrix: np.ndarray) -> np.ndarray:
        return matrix if self.standard is None else self.standard.apply(matrix)

    def _fill_logs(self, matrix: np.ndarray, logs: np.ndarray) -> None:
        x = np.clip(self._standardised(matrix), -_FAR, _FAR)
        if self.standard is not None:
            x = x[:, self.standard.varies]
        d = x.shape[1]
        logs[:, :d], logs[:, d : 2 * d] = x, -x
        if self.transform == "exponential-pairs":
            for place, (a, b) in enumerate(combinations(range(d), 2), start=d):
                logs[:, 2 * place] = x[:, a] + x[:, b]
                logs[:, 2 * place + 1] = -logs[:, 2 * place]
        logs[:, -1] = 0.0
        logs -= logs.max(axis=1, keepdims=True)

    def _given(self, matrix: np.ndarray, number: np.ndarray) -> np.ndarray:
        """W of inputs that are non-negative, either directly or from a user's function."""
        if self.transform is None:
            W = np.array(matrix, dtype=np.float64, order="C")
            what, mend = (
                "X",
                Message(
                    "; set ", Setting("transform", "exponential"), " for covariates of any sign"
                ),
            )
        else:
            W = np.array(self.transform(self._standardised(matrix)), dtype=np.float64, order="C")
            what, mend = "The transformed X", Message()
        if W.shape != (len(matrix), len(self.columns)) or W.shape[1] == 0:
            raise DataError(
                f"The transform returned shape {W.shape} for {len(matrix)} rows; expected"
                f" ({len(matrix)}, {len(self.columns) or 'p'}): one row per row of X, and always"
                " the same number of columns."
            )
        wrong = ~(np.isfinite(W) & (W >= 0.0))
        if wrong.any():
            row = _first(wrong.any(axis=1), number)
            column = int(np.argmax(wrong[row]))
            raise DataError(
                f"{what} is {W[row, column]:g} in row {number[row]}, column"
                f" {self.columns[column]!r}, but this transform requires finite, non-negative"
                " entries",
                mend,
                ".",
            )
        largest = W.max(axis=1, keepdims=True)
        if (empty := largest[:, 0] == 0.0).any():
            raise DataError(
                f"{what} is zero everywhere in row {number[_first(empty, number)]}, so no class"
                " can be chosen there; add a column of ones."
            )
        W /= largest
        return W


def _first(wrong: Any, number: np.ndarray) -> int:
    """The wrong row with the least number."""
    rows = np.flatnonzero(wrong)
    return int(rows[np.argmin(number[rows])])


def check_transform(transform: Any) -> None:
    """Refuse an invalid transform."""
    if transform is None or callable(transform) or transform in TRANSFORMS:
        return
    raise ArgumentError(
        Argument("transform"),
        " must be ",
        one_of("transform", TRANSFORMS),
        f", a function or None; got {transform!r}.",
    )


def _exponential_names(names: Sequence[str], pairs: bool) -> tuple[str, ...]:
    columns = [f"exp({name})" for name in names] + [f"exp(-{name})" for name in names]
    if pairs:
        for a, b in combinations(names, 2):
            columns += [f"exp({a} + {b})", f"exp(-({a} + {b}))"]
    return (*columns, "1")


# Warnings about covariates whose scale makes the other columns of W useless -----------------------


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
        won += np.bincount(
            part[lone].argmax(axis=1), counts[start : start + STEP][lone], W.shape[1]
        )
    return Look(int(counts.sum()), alive, won.astype(np.int64))


def warn_of_constants(matrix: np.ndarray, names: Any) -> None:
    """Warn of covariates that are the same in every row."""
    constant = np.flatnonzero(matrix.min(axis=0) == matrix.max(axis=0))
    if constant.size:
        named = ", ".join(repr(names[j]) for j in constant[:5]) + (
            ", ..." if constant.size > 5 else ""
        )
        warn(
            DataWarning(
                f"Constant covariates: {named}. Such an effect cannot be distinguished from the"
                " effect of the column of ones; remove every constant covariate."
            )
        )


def scaling_advice(transform: Any, standardize: bool) -> Message:
    """What to do about columns whose sizes are too different."""
    if transform is None:
        return Message("; scale the columns, or choose ", Setting("transform", "exponential"))
    return Message(
        "; scale the covariates",
        *([] if standardize else [Clause(", or set ", Setting("standardize", True))]),
    )


def warn_of_poor_fit(log_likelihood: float, class_count: np.ndarray) -> None:
    """Warn of covariates that, taken as they are, hardly say more than the class proportions.

    A row's class probabilities are an average of those of the columns in which it is positive: with
    many of them no class is probable. Of the deviance that proportions leave, wine, breast cancer,
    digits and iris keep more than half.
    """
    n = class_count.sum()
    explained = 1.0 - log_likelihood / float((class_count * np.log(class_count / n)).sum())
    if explained < _EXPLAINED:
        warn(
            DataWarning(
                f"Untransformed covariates explain only {max(100 * explained, 0.0):.0f} % of the"
                " deviance that the class proportions leave unexplained, because no class can be"
                " probable in rows that are positive in many columns. Set ",
                Setting("transform", "exponential"),
                ", or use a sparse logit, which predicts better.",
            )
        )


def warn_about(look: Look, columns: Any, mend: Message) -> None:
    """Warn of columns that vanish everywhere and of a column that wins nearly every row; `mend`
    says what to do."""
    if len(columns) > 1 and look.won.max() > _SHARE * look.rows:
        winner = int(look.won.argmax())
        warn(
            DataWarning(
                f"Column {columns[winner]!r} of W is a million times larger than all others"
                f" together in {look.won[winner]} of {look.rows} rows, so the other covariates"
                " have almost no effect",
                mend,
                ".",
            )
        )
    if not look.alive.all():
        dead = [columns[j] for j in np.flatnonzero(~look.alive)]
        named = ", ".join(map(repr, dead[:5])) + (", ..." if len(dead) > 5 else "")
        warn(
            DataWarning(
                f"In {len(dead)} of {len(columns)} columns of W ({named}), every entry is"
                " numerically zero relative to the largest entry of its row, so the data contain"
                " no information on the weights of such columns",
                mend,
                ".",
            )
        )
