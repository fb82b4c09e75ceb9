"""What is known of comparisons besides their options: the position of an option, the judge, how
long a text is."""

import re
from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._described import Facts
from thali._labels import as_label, plural, shorten, suggest
from thali.errors import Argument, DataError, ModelName

from ..answers import Answers, RowRespondents
from ..checks import refuse_extremes
from ..columns import encode_column, get_column
from ..judged import Frozen
from ..roles import column_names

if TYPE_CHECKING:
    import pandas as pd

_SEEN = 0.005  # log odds, below which odds are 1.00
ORDER = "order"  # the covariate that is 1 for the option shown first, or at home


class CovariateColumns(NamedTuple):
    """Covariates of the rows of a table."""

    names: tuple[str, ...]
    values: np.ndarray  # (rows, covariates), of comparisons with the sign of "first over second"


class CovariateCells(NamedTuple):
    """Comparisons of pairs, a cell for each pair, or for each pair and different values of
    covariates."""

    pair: np.ndarray  # (cells,) place among the compared pairs
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    # (cells, covariates): what they add to the log odds of the first, per unit of a coefficient
    x: np.ndarray
    answers: Answers | None  # the counts by person; its pairs are cells


class PairCovariates(Frozen):
    """Comparisons divided by covariates: a cell is a pair with the same values of all of them.

    Attributes
    ----------
    names : tuple of str
    pair : int64 array, shape (cells,)
        Place among the compared pairs, ascending.
    values : float64 array, shape (cells, covariates)
        Of the comparisons, with the sign of "first of the pair over its second"; 0 for covariates
        of options.
    options : float64 array, shape (options, covariates)
        Of the options; 0 for covariates of comparisons. A cell has the sum of its value and of the
        difference between the first of the pair and its second.
    wins, losses, tied : float64 arrays, shape (cells,)
        As in `PairedComparisons`.
    answers : Answers or None
        The same counts by person; its pairs are cells.
    """

    _FIELDS = ("names", "pair", "values", "options", "wins", "losses", "tied", "answers")

    names: tuple[str, ...]
    pair: np.ndarray
    values: np.ndarray
    options: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    answers: Answers | None

    def __str__(self) -> str:
        return plural(len(self.names), "covariate")

    def _details(self) -> Facts:
        return (("covariates", self.names),)

    @property
    def is_of_options(self) -> np.ndarray:
        """Which covariates describe options."""
        return np.asarray(self.options.any(axis=0))

    def refuse_options(self, model: str) -> None:
        """Raise DataError for covariates of options, which that model does not have."""
        if names := list(compress(self.names, self.is_of_options)):
            raise DataError(
                f"{shorten(names)} describe{'s' * (len(names) == 1)} options, but {model} adjusts"
                " only for differences between comparisons of the same pair; fit ",
                ModelName("BradleyTerryLuce"),
                f", or remove {shorten(names)} from ",
                Argument("covariates"),
                ".",
            )

    def units(self, effects: Sequence[float]) -> list[float]:
        """How much more of each covariate its effect is said of: 1, or where the odds of one more
        round to 1, the power of ten just below its standard deviation."""
        times = self.wins + self.losses + self.tied
        found = []
        for effect, values in zip(effects, self.values.T, strict=True):
            sd = float(
                np.sqrt(
                    np.average((values - np.average(values, weights=times)) ** 2, weights=times)
                )
            )
            is_seen = abs(effect) >= _SEEN or sd <= 1.0
            found.append(1.0 if is_seen else float(f"1e{np.floor(np.log10(sd)):.0f}"))
        return found

    @classmethod
    def of_rows(
        cls,
        rows: CovariateColumns,
        n_options: int,
        pair: np.ndarray,
        won: np.ndarray,
        counts: np.ndarray,
        tied: np.ndarray,
        who: RowRespondents | None,
    ) -> "PairCovariates":
        """Added up from rows, whose values have the sign of the pair; `won`: whether its first was
        chosen."""
        names, values = rows
        cells, cell = _added_up(
            pair,
            values + 0.0,
            np.zeros((n_options, len(names))),
            (counts * won, counts * ~won, tied),
        )
        answers = None if who is None else Answers.of_rows(who, cell, won, counts, tied)
        return cls._from_fields(names, *cells, answers)

    def of_pairs(
        self, kept: np.ndarray, place: np.ndarray, turned: np.ndarray, options: np.ndarray
    ) -> "PairCovariates | None":
        """The cells of some of the pairs: which stay, their new places, and which of them have
        their sides exchanged.

        `options`: positions of the options that stay. None if there is no such cell.
        """
        rows = kept[self.pair]
        if not rows.any():
            return None
        other = turned[self.pair]
        values = np.where(other[:, None], -self.values, self.values) + 0.0
        sides = (
            np.where(other, self.losses, self.wins),
            np.where(other, self.wins, self.losses),
            self.tied,
        )
        there = np.flatnonzero(rows)
        there = there[np.lexsort((*values[there].T[::-1], place[self.pair[there]]))]
        arrays = (
            place[self.pair[there]],
            values[there],
            self.options[options],
            *(each[there] for each in sides),
        )
        number = np.zeros(len(rows), np.int64)
        number[there] = np.arange(len(there))
        answers = None if self.answers is None else self.answers.of_pairs(rows, number, other)
        return self._from_fields(self.names, *arrays, answers)

    def of_names(self, names: Sequence[str]) -> "PairCovariates | None":
        """The cells that some of the covariates make; None for none of them."""
        if unknown := [name for name in names if name not in self.names]:
            raise DataError(
                f"Unknown covariate {unknown[0]!r}; available:"
                f" {shorten(self.names, 12)}.{suggest(unknown[0], self.names)}"
            )
        if not names:
            return None
        kept = [k for k, name in enumerate(self.names) if name in names]
        counts = self.wins, self.losses, self.tied
        cells, place = _added_up(self.pair, self.values[:, kept], self.options[:, kept], counts)
        answers = None if self.answers is None else self.answers.merged(place)
        return self._from_fields(tuple(self.names[k] for k in kept), *cells, answers)

    def of_respondents(self, members: np.ndarray, pairs: np.ndarray) -> "PairCovariates":
        """The cells of the answers of some people, by their places; `pairs` are those that they
        compared."""
        assert self.answers is not None
        answers, cells = self.answers.of_respondents(members)
        pair = np.searchsorted(pairs, self.pair[cells])
        sums = [
            np.bincount(answers.pair, each, len(cells))
            for each in (answers.wins, answers.losses, answers.tied)
        ]
        return self._from_fields(self.names, pair, self.values[cells], self.options, *sums, answers)

    def without_ties(self, share: float) -> "PairCovariates | None":
        """The same where a tie counts that share of a choice of either side; None if nothing is
        left."""
        wins, losses = self.wins + share * self.tied, self.losses + share * self.tied
        kept = wins + losses > 0
        if not kept.any():
            return None
        answers = None if self.answers is None else self.answers.without_ties(share)
        if answers is not None:
            answers = answers.of_pairs(kept, np.cumsum(kept) - 1, np.zeros(len(kept), bool))
        arrays = (
            self.pair[kept],
            self.values[kept],
            self.options,
            wins[kept],
            losses[kept],
            0.0 * wins[kept],
        )
        return self._from_fields(self.names, *arrays, answers)

    def together(
        self, every: "Sequence[PairCovariates]", pairs: Sequence[np.ndarray]
    ) -> "PairCovariates":
        """The cells of all, of which these are the first; `pairs`: the new places of the pairs of
        each."""
        pair = np.concatenate([place[each.pair] for each, place in zip(every, pairs, strict=True)])
        values = np.concatenate([each.values for each in every])
        counts = [
            np.concatenate([getattr(each, side) for each in every])
            for side in ("wins", "losses", "tied")
        ]
        return self._from_fields(self.names, *_added_up(pair, values, self.options, counts)[0], None)

    def with_counts(
        self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray
    ) -> "PairCovariates":
        """The same cells with other counts, of nobody that is known."""
        return self._from_fields(
            self.names, self.pair, self.values, self.options, wins, losses, tied, None
        )


def _added_up(
    pair: np.ndarray, values: np.ndarray, options: np.ndarray, counts: Sequence[np.ndarray]
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The arrays of the cells that rows make, with sums of their counts, and the cell of each
    row."""
    found, cell = np.unique(np.column_stack([pair, values]), axis=0, return_inverse=True)
    cell = cell.ravel()
    sums = [np.bincount(cell, each, len(found)) for each in counts]
    return (found[:, 0].astype(np.int64), found[:, 1:].copy(), options, *sums), cell


def covariate_columns(
    frame: "pd.DataFrame", names: Sequence[str], sides: tuple[str, str] | None, used: Sequence[str]
) -> CovariateColumns:
    """The columns as covariates: numbers as they are, other columns as indicators of all categories
    but the first.

    `sides`: the columns of the first option and of the second; None: these are covariates of
    options. "order", unless there is a column of that name, is 1 in every row. What two columns
    hold of either side (length_a, length_b) is the difference between the first and the second.
    """
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise DataError("No covariate is named; name at least one column.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"The covariate {twice[0]!r} is named twice; name it once.")
    found: dict[str, np.ndarray] = {}
    columns = column_names(frame)
    for name in names:
        if name == ORDER and ORDER not in columns and sides is not None:
            found[ORDER] = np.ones(len(frame))
            continue
        both = (
            None
            if sides is None
            else of_both_sides(name, [each for each in columns if each not in used], sides)
        )
        if both is not None:
            found |= _differences(frame, *both)
            continue
        values = get_column(frame, name)
        if name in used:
            raise DataError(
                f"Column {name!r} contains the options or the outcome and cannot be a covariate;"
                " name another column."
            )
        found |= _numbers(values, frame) if _is_number(values) else _indicators(frame, name)
    for name, values in found.items():
        refuse_extremes(values, f"number of the covariate {name!r}")
    return CovariateColumns(tuple(found), np.column_stack(list(found.values())))


def option_columns(frame: "pd.DataFrame", labels: Sequence[str]) -> CovariateColumns:
    """Covariates of options: all columns of a table whose index holds the labels, as arrays
    (options, covariates)."""
    place = {as_label(label): k for k, label in enumerate(frame.index)}
    if lacking := [label for label in labels if label not in place]:
        raise DataError(
            f"The option covariates have no row for {shorten(lacking)}; the index of the table"
            f" must contain the labels, but it starts with {shorten(list(place), 3)}."
        )
    return covariate_columns(
        frame.iloc[[place[label] for label in labels]], column_names(frame), None, ()
    )


# Covariates that two columns hold, one of either side ---------------------------------------------


_SIDES = (("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"), ("home", "away"))


def columns_of_covariates(
    names: Sequence[str] | None, columns: Sequence[str], sides: tuple[str, str]
) -> list[str]:
    """The columns of a table that hold these covariates."""
    found: dict[str, None] = {}
    for name in names or ():
        found |= dict.fromkeys(
            of_both_sides(name, columns, sides) or ([name] if name in columns else [])
        )
    return list(found)


def of_both_sides(
    name: str, columns: Sequence[str], sides: tuple[str, str]
) -> tuple[str, str] | None:
    """The columns that hold a covariate of the first and of the second option; None if it is not so
    divided.

    Named is either of the two, or both of them without what tells them apart.

    Examples
    --------
    >>> columns = ["model_a", "model_b", "length_a", "length_b", "turns"]
    >>> [
    ...     of_both_sides(name, columns, ("model_a", "model_b"))
    ...     for name in ("length", "length_b", "turns")
    ... ]
    [('length_a', 'length_b'), ('length_a', 'length_b'), None]
    """
    for one in columns:
        for stem, mark, of_other in _without_side(one):
            other = next(
                (each for each in columns if (stem, of_other, mark) in _without_side(each)), None
            )
            if (
                other is None
                or one in sides
                or name not in (one, other, stem)
                or (name == stem and stem in columns)
            ):
                continue
            of_first, of_second = ({each for _, each, _ in _without_side(side)} for side in sides)
            is_second = of_other in of_first or mark in of_second
            # what is left is not called so
            if not (is_second or mark in of_first or of_other in of_second):
                is_second = any(mark == pair[1] for pair in _SIDES)
            return (other, one) if is_second else (one, other)
    return None


def _without_side(column: str) -> list[tuple[str, str, str]]:
    """What a name is without a word for a side, that word, and the word for the other side, for
    each such word."""
    found, words = [], re.split(r"([ _.\-]+)", column)
    for k in range(0, len(words), 2):
        rest = [*words[: max(k - 1, 0)], *words[k + 1 if k else 2 :]]
        for pair in _SIDES:
            if words[k].lower() in pair and rest:
                own = words[k].lower()
                found.append(("".join(rest), own, pair[1 - pair.index(own)]))
    return found


def _differences(frame: "pd.DataFrame", first: str, second: str) -> dict[str, np.ndarray]:
    """What a column of numbers holds of the first side, less what another holds of the second."""
    sides = get_column(frame, first), get_column(frame, second)
    for values in sides:
        if not _is_number(values):
            raise DataError(
                f"{first!r} and {second!r} describe the two sides, so their difference requires"
                f" numbers, but {values.name!r} contains {values.iloc[0]!r}. Rename one of them if"
                " it describes the whole comparison."
            )
    difference: pd.Series = sides[0] - sides[1]
    return _numbers(difference.rename(f"{first} - {second}"), frame)


def _is_number(values: "pd.Series") -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(values.dtype)


def _numbers(values: "pd.Series", frame: "pd.DataFrame") -> dict[str, np.ndarray]:
    """A column of numbers."""
    numbers = values.to_numpy(float, na_value=np.nan)
    if (gaps := np.flatnonzero(~np.isfinite(numbers))).size:
        what = "empty" if np.isnan(numbers[gaps[0]]) else "infinite"
        raise DataError(
            f"The covariate {values.name!r} is {what} in row {frame.index[gaps[0]]}; enter a"
            " number, or remove the row."
        )
    if np.ptp(numbers) == 0.0:
        raise _constant(str(values.name), f"{numbers[0]:g}")
    return {str(values.name): numbers}


def _indicators(frame: "pd.DataFrame", name: str) -> dict[str, np.ndarray]:
    """A column of categories: for each but the first in the alphabet, or in their order, in which
    rows it stands."""
    import pandas as pd

    codes, levels = encode_column(frame, name)
    if not isinstance(frame[name].dtype, pd.CategoricalDtype):
        order = np.argsort(np.argsort(levels))
        codes, levels = order[codes], sorted(levels)
    there = np.unique(codes)
    if len(there) == 1:
        raise _constant(name, repr(levels[there[0]]))
    if len(there) == len(frame) and len(there) > 2:
        raise DataError(
            f"The covariate {name!r} has a different category in each of its {len(frame):,} rows:"
            f" {shorten(levels, 3)}; give numbers, or categories that repeat."
        )
    return {f"{name}={levels[code]}": (codes == code).astype(float) for code in there[1:]}


def _constant(name: str, value: str) -> DataError:
    return DataError(
        f"The covariate {name!r} is {value} in every row, so it has no effect to estimate; remove"
        f" the covariate, or use {ORDER!r} for the effect of being first."
    )
