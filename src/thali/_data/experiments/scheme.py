"""How rows of a table become products: which columns, which levels in which order, which rows are
the no-choice option.

A model keeps the scheme of the data it was fitted to, and reads the tasks that it is to predict by
it.
"""

import os.path
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import places_among, positions
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..columns import get_column, rename_as_text
from ..kinds import INSIDE, INSIDE_LEVELS
from ..roles import ALTERNATIVE, simplify_name
from .levels import (
    ALPHABET,
    ANY_NUMBER,
    BINS,
    MEASURED,
    as_number,
    bin_codes,
    by_value,
    distinct_texts,
    landmarks,
    level_codes,
    numbers_of,
    quarters,
    row_texts,
    short_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

    from .experiment import ChoiceExperiment


# a column of designs: 1 in tasks that everybody has and no model is fitted to
HELD_OUT = "held_out"
MANY_NAMES = 30  # of alternatives, of which each would have a constant
_SHOWN = 8  # levels written out by `describe`

Where = Callable[[int], str]


class Attribute(NamedTuple):
    """An attribute of products: its levels in natural order, how that order came about, cut points
    if it is binned."""

    name: str
    levels: tuple[str, ...]
    order: str
    cuts: tuple[float, ...] = ()
    # words that say that a product has no such attribute; "" is an empty cell
    missing: tuple[str, ...] = ()


class Encoded(NamedTuple):
    """Rows of new tasks."""

    task_of_row: np.ndarray  # (rows,) int64, 0, 1, ... in order of first appearance
    respondent_of_row: np.ndarray  # (rows,) int64 among the known respondents; -1: a new person
    products: np.ndarray  # (rows, attributes) int64 level numbers, -1: missing


class SchemeTasks:
    """Tasks whose products are encoded by a scheme of their own, as a `ChoiceExperiment` holds
    them."""

    scheme: "Scheme"
    respondents: tuple[str, ...]
    first_task: np.ndarray  # (respondents + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    row_product: np.ndarray  # (rows,)
    products: np.ndarray  # (products, attributes)


@dataclass(frozen=True)
class Scheme:
    """Columns, attributes, and the no-choice option.

    Attributes
    ----------
    respondent, task, chosen : str
        Names of columns.
    alternative : str or None
        None where the table had no such column.
    attributes : tuple of Attribute
        Without "inside".
    none : tuple of (column, label)
        A row that holds all of these is the no-choice option; empty where there is none.
    has_inside : bool
        Whether the attribute "inside" comes before the others.
    """

    respondent: str
    task: str
    alternative: str | None
    chosen: str
    attributes: tuple[Attribute, ...]
    none: tuple[tuple[str, str], ...] = ()
    has_inside: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes, "inside" first if there is one."""
        return (INSIDE,) * self.has_inside + tuple(attribute.name for attribute in self.attributes)

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Attribute -> its levels in natural order."""
        inside = {INSIDE: INSIDE_LEVELS} if self.has_inside else {}
        return inside | {attribute.name: attribute.levels for attribute in self.attributes}

    @property
    def measured(self) -> tuple[str, ...]:
        """Attributes of many numbers, which models take as numbers."""
        return tuple(attribute.name for attribute in self.attributes if attribute.order == MEASURED)

    @property
    def groups(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Attribute -> names of groups of its levels, and the group of each: a level alone, or a
        quarter of many."""
        return {
            name: quarters(own) if name in self.measured else (own, np.arange(len(own)))
            for name, own in self.levels.items()
        }

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Attribute -> what tables call its levels: measured ones have fewer digits."""
        return {
            name: short_numbers(own) if name in self.measured else own
            for name, own in self.levels.items()
        }

    def compared(self, name: str, levels: np.ndarray) -> np.ndarray:
        """Those of some levels of an attribute, by their numbers, that are compared with each
        other."""
        return landmarks(levels) if name in self.measured and len(levels) else levels

    def to_dict(self) -> dict[Any, Any]:
        """The scheme as text, numbers, lists and mappings, as JSON holds them."""
        return asdict(self) | {"attributes": [attribute._asdict() for attribute in self.attributes]}

    @classmethod
    def from_dict(cls, found: dict[Any, Any]) -> "Scheme":
        """The scheme that `to_dict` wrote."""
        attributes = tuple(
            Attribute(
                a["name"], tuple(a["levels"]), a["order"], tuple(a["cuts"]), tuple(a["missing"])
            )
            for a in found["attributes"]
        )
        none = tuple((name, label) for name, label in found["none"])
        return cls(**(found | {"attributes": attributes, "none": none}))

    def products(self, frame: "pd.DataFrame", where: Where) -> np.ndarray:
        """Level numbers of each row, shape (rows, attributes); -1: missing. `where(row)` names a
        row in an error."""
        is_none = none_rows(frame, self.none)
        codes = [np.where(is_none, 0, 1)] if self.has_inside else []
        for attribute in self.attributes:
            codes.append(codes_of(get_column(frame, attribute.name), attribute, is_none, where))
        return (
            np.column_stack(codes).astype(np.int64)
            if codes
            else np.empty((len(frame), 0), np.int64)
        )

    def with_numbers(self, names: Sequence[str], new: "pd.DataFrame | SchemeTasks") -> "Scheme":
        """The scheme in which the numbers that new tasks hold in the named attributes are levels
        after its own."""
        wider = []
        for attribute in self.attributes:
            if attribute.name in names:
                texts: Sequence[str] = ()
                if isinstance(new, SchemeTasks):
                    texts = new.scheme.levels.get(attribute.name, ())
                elif places := [
                    k
                    for k, own in enumerate(getattr(new, "columns", ()))
                    if str(own) == attribute.name
                ]:
                    texts = distinct_texts(new.iloc[:, places[0]])[1]
                known = {*attribute.levels, *attribute.missing}
                more = tuple(
                    text for text in texts if text not in known and as_number(text) is not None
                )
                attribute = attribute._replace(levels=attribute.levels + more, order=ANY_NUMBER)
            wider.append(attribute)
        return replace(self, attributes=tuple(wider))

    def encode(self, new: "pd.DataFrame | SchemeTasks", respondents: Sequence[str] = ()) -> Encoded:
        """Rows of new tasks; see `ChoiceExperiment.encode`."""
        if isinstance(new, SchemeTasks):
            return self._encode_tasks(new, respondents)
        if not (hasattr(new, "columns") and hasattr(new, "index")):
            raise DataError(
                "New tasks must be a ChoiceExperiment or a pandas DataFrame; got"
                f" {type(new).__name__}."
            )
        frame = rename_as_text(new)
        if not len(frame):
            raise DataError("The table of new tasks has no rows; give at least one alternative.")
        person = (
            row_texts(get_column(frame, self.respondent)) if self.respondent in frame.columns else None
        )
        task = row_texts(get_column(frame, self.task)) if self.task in frame.columns else None
        where = _place(frame, person, task)
        for texts, name in ((person, self.respondent), (task, self.task)):
            if texts is not None and (texts == "").any():
                row = int((texts == "").argmax())
                raise DataError(
                    f"A label is missing in row {frame.index[row]}, column {name!r}; fill it in."
                )
        nobody = np.zeros(len(frame), dtype=np.int64)
        task_of_row = first_appearance(
            nobody if person is None else person, nobody if task is None else task
        )
        # of an attribute some may share one
        label = None if self.alternative in self.names else self.alternative
        if label is not None and label in frame.columns:
            refuse_twice(row_texts(get_column(frame, label)), task_of_row, where)
        numbers = nobody - 1 if person is None else places_among(person, respondents)
        return Encoded(task_of_row, numbers, self.products(frame, where))

    def _encode_tasks(self, data: SchemeTasks, respondents: Sequence[str]) -> Encoded:
        tasks = np.repeat(np.arange(len(data.first_row) - 1), np.diff(data.first_row))
        person = np.repeat(places_among(data.respondents, respondents), np.diff(data.first_task))
        return Encoded(tasks, person[tasks], self._relabelled(data)[data.row_product])

    def _relabelled(self, data: SchemeTasks) -> np.ndarray:
        """The products of other data in the level numbers of this scheme."""
        levels, theirs, names = self.levels, data.scheme.levels, data.scheme.names
        if levels == theirs and self.names == names:
            return data.products
        result = np.full((len(data.products), len(levels)), -1, dtype=np.int64)
        for place, name in enumerate(self.names):
            if name == INSIDE and not data.scheme.none:  # nobody could choose nothing
                result[:, place] = INSIDE_LEVELS.index(INSIDE)
                continue
            if name not in theirs:
                raise DataError(
                    f"The new tasks lack the attribute {name!r}, which the model was fitted with;"
                    " add it."
                )
            codes = data.products[:, names.index(name)]
            own = positions(levels[name])
            numbers = np.array(
                [*(own.get(label, -2) for label in theirs[name]), -1], dtype=np.int64
            )
            result[:, place] = numbers[codes]
            if (result[:, place] == -2).any():
                label = theirs[name][codes[int((result[:, place] == -2).argmax())]]
                raise DataError(
                    f"Attribute {name!r} of the new tasks is {label!r}, which did not occur when"
                    " the model was fitted; declare it with ",
                    Argument("levels"),
                    " and refit.",
                )
        return result

    def described(self) -> tuple[tuple[str, str], ...]:
        """The name of each attribute, and its levels in natural order."""
        inside = [Attribute(INSIDE, INSIDE_LEVELS, ALPHABET)] if self.has_inside else []
        return tuple(
            (attribute.name, _levels(attribute)) for attribute in (*inside, *self.attributes)
        )


def _levels(attribute: Attribute) -> str:
    levels = attribute.levels
    if attribute.order == MEASURED:
        shown = short_numbers(levels)
        return f"a number, {shown[0]} to {shown[-1]} ({len(levels):,} different values)"
    shown = list(levels) if len(levels) <= _SHOWN else [*levels[:3], "...", *levels[-2:]]
    text = (", " if attribute.order in (ALPHABET, BINS) else " < ").join(shown)
    count = f" ({len(levels)} levels)" if len(levels) > _SHOWN else ""
    return text + count


def codes_of(
    series: "pd.Series", attribute: Attribute, is_none: np.ndarray, where: Where
) -> np.ndarray:
    """Level numbers of one attribute in each row; -1: missing, as in every row of the no-choice
    option."""
    codes, texts = distinct_texts(series)
    missing = is_none | np.isin(
        codes, [k for k, text in enumerate(texts) if text in attribute.missing]
    )
    present = np.flatnonzero(~missing)
    result = np.full(len(codes), -1, dtype=np.int64)

    def at(row: int) -> str:
        return where(int(present[row]))

    if attribute.cuts:
        parts = (attribute.cuts, attribute.levels, at)
        result[present] = bin_codes(attribute.name, codes[present], texts, *parts)
    else:
        if attribute.order == ANY_NUMBER:
            numbers_of(attribute.name, texts, codes[present], at, "the model treats it as numeric")
        result[present] = level_codes(attribute.name, codes[present], texts, attribute.levels, at)
    return result


def none_rows(frame: "pd.DataFrame", none: tuple[tuple[str, str], ...]) -> np.ndarray:
    """Whether each row is the no-choice option; in a table without those columns none is."""
    if not none or any(name not in frame.columns for name, _ in none):
        return np.zeros(len(frame), dtype=bool)
    found = np.ones(len(frame), dtype=bool)
    for name, label in none:
        codes, texts = distinct_texts(get_column(frame, name))
        found &= np.array(
            [text == label or (label == "1" and text in ("True", "true")) for text in texts]
        )[codes]
    return found


def refuse_twice(labels: np.ndarray, task_of_row: np.ndarray, where: Where) -> None:
    """Refuse a task in which two rows are the same alternative."""
    import pandas as pd

    again = pd.DataFrame({"task": task_of_row, "alternative": labels}).duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        raise DataError(
            f"Alternative {labels[row]!r} {where(row)} is listed twice; remove a row, or number"
            " the alternatives."
        )


def first_appearance(person: np.ndarray, task: np.ndarray) -> np.ndarray:
    """Numbers of (respondent, task) in order of first appearance."""
    import pandas as pd

    both = pd.factorize(person)[0] * (len(task) + 1) + pd.factorize(task)[0]
    return pd.factorize(both)[0].astype(np.int64)


def _place(frame: "pd.DataFrame", person: np.ndarray | None, task: np.ndarray | None) -> Where:
    def where(row: int) -> str:
        parts = [f"task {task[row]!r}"] if task is not None else []
        parts += [f"respondent {person[row]!r}"] if person is not None else []
        return f"in {' of '.join(parts)}" if parts else f"in row {frame.index[row]}"

    return where


# The alternative's label as an attribute of its own, for experiments whose alternatives have names
# or places


def _rows_and_none(data: "ChoiceExperiment") -> tuple[np.ndarray, Any]:
    """Return the levels of each row, and whether it is the no-choice option."""
    levels, scheme = data.products[data.row_product], data.scheme
    if not scheme.none:
        return levels, np.zeros(len(levels), bool)
    return levels, levels[:, 0] == 0 if scheme.has_inside else (levels < 0).all(axis=1)


def why_no_constants(data: "ChoiceExperiment") -> str:
    """Say why alternatives have no constants unless they are asked for; "" where names tell them
    apart."""
    rows, is_none = _rows_and_none(data)
    found, label = np.unique(data.alternative_labels[~is_none].astype(str), return_inverse=True)
    if data.scheme.alternative is None or not 1 < len(found) <= MANY_NAMES:
        return "the alternatives have no names, only one, or too many"
    start = os.path.commonprefix(found.tolist())
    longest = max(len(name) - len(start) for name in found)
    lettered = longest < 2 and (not start[-1:].isalpha() or simplify_name(start) in ALTERNATIVE.synonyms)
    if lettered or any(letter.isdigit() for name in found for letter in name):
        return "the alternatives are numbered"
    told = []  # of each attribute whether labels tell its level, and its level the label
    for levels, attribute in zip(
        rows[~is_none, int(data.scheme.has_inside) :].T, data.scheme.attributes, strict=True
    ):
        pairs = len(np.unique(levels * len(found) + label))
        told.append(
            (pairs == len(found), attribute.order == ALPHABET and pairs == len(np.unique(levels)))
        )
    if all(of_label for of_label, _ in told) or any(of_level for _, of_level in told):
        return "the attributes distinguish the alternatives"
    return ""


def with_constants(data: "ChoiceExperiment") -> "ChoiceExperiment":
    """The data with the column of alternatives as their last attribute, which the no-choice option
    lacks.

    Data that have it already are returned as they are.
    """
    scheme, why = data.scheme, Setting("constants", True)
    if scheme.alternative is None:
        raise ArgumentError(
            why,
            " requires labels of the alternatives, but no column of labels was given; name it with"
            " ",
            Argument("alternative"),
            ".",
        )
    if scheme.alternative in scheme.names:
        return data
    old, is_none = _rows_and_none(data)
    found = sorted(set(data.alternative_labels[~is_none].tolist()))
    if len(found) < 2:
        raise ArgumentError(
            why, f" requires at least two labels; all alternatives are {found[0]!r}."
        )
    levels, order = by_value(found)
    codes = places_among(data.alternative_labels, levels)
    codes[is_none] = -1
    products, row_product = np.unique(np.column_stack([old, codes]), axis=0, return_inverse=True)
    attributes = (*scheme.attributes, Attribute(scheme.alternative, levels, order))
    changed = {
        "scheme": replace(scheme, attributes=attributes),
        "products": products,
        "row_product": row_product.ravel().astype(np.int64),
    }
    return data.with_fields(**changed)
