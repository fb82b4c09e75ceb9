"""Base classes of all data objects: read-only fields, and one interface to answers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from thali._labels import choose_number, shorten, simplify_number, suggest
from thali._object_descriptions import DescribedObject, Description, Facts
from thali.errors import Argument, DataError, InPython, Message

if TYPE_CHECKING:
    import pandas as pd

    from .pairs import PairedComparisons
    from .questions import Questions


class Frozen(DescribedObject):
    """Base class of read-only data with a few fields."""

    _FIELDS: ClassVar[tuple[str, ...]]
    # fields that are stored only if they are not None; the class attribute is None
    _IF_KNOWN: ClassVar[tuple[str, ...]] = ()
    read_as: str = ""  # description of how `thali.read` read the data
    scores: np.ndarray | None = None  # of options on items, for comparisons of scores

    def _freeze(self, *values: Any) -> Self:
        """Set the fields in the order of `_FIELDS`, omitted ones to None, arrays read-only."""
        for name, field_value in zip_longest(self._FIELDS, values):
            if isinstance(field_value, np.ndarray):
                field_value.flags.writeable = False
            object.__setattr__(self, name, field_value)
        # files and digests contain no field that is None
        for name in self._IF_KNOWN:
            if getattr(self, name) is None:
                vars(self).pop(name)
        return self

    def _description(self) -> Description:
        """Return what `print` and notebooks show: size and details of the data."""
        return Description(type(self).__name__, (("data", str(self)), *self._details()))

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        raise NotImplementedError

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        raise DataError(
            f"{type(self).__name__} objects cannot be converted to arrays; use their attributes"
            " and tables."
        )

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; build new data instead.")

    def __delattr__(self, name: str) -> None:
        setattr(self, name, None)  # refused as well

    def __reduce__(self) -> Any:
        # NumPy does not pickle the read-only flag, so the copy is frozen once more
        return build_from_fields, (type(self), *(getattr(self, name) for name in self._FIELDS))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        field_pairs = [
            (getattr(self, name), getattr(other, name))
            for name in self._FIELDS
            if not name.startswith("_")
        ]
        return all(_are_equal_fields(a, b) for a, b in field_pairs)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]


Data = TypeVar("Data", bound=Frozen)


def build_from_fields(cls: type[Data], *values: Any) -> Data:
    """Build data from the values of `_FIELDS`, in this order, without checks."""
    return cls.__new__(cls)._freeze(*values)


def copy_with_fields(data: Data, **changed: Any) -> Data:
    """Return a copy of the data with new values of the named fields."""
    fields = {name: getattr(data, name) for name in data._FIELDS} | changed
    return build_from_fields(type(data), *fields.values())


def _are_equal_fields(value: Any, other_value: Any) -> bool:
    """Return whether two field values (arrays, tables, texts, ...) are equal."""
    if value is None or other_value is None:
        return value is other_value
    if isinstance(value, np.ndarray):
        return np.array_equal(value, other_value)
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return value.equals(other_value)
    return value == other_value


# The interface of all judgements of options -------------------------------------------------------


_NO_COVARIATES = "Covariates require comparisons or choices of options; remove them."


class Judged(Frozen):
    """Base class of data with answers about labelled options or objects.

    A kind without some property returns its neutral value.
    """

    kind: ClassVar[str]  # from `thali._data.kinds`
    respondents: tuple[str, ...] = ()  # names of the respondents; () if unknown
    option_word: ClassVar[str] = "option"
    are_choices: ClassVar[bool] = False
    add_up: ClassVar[bool] = False  # over people, so that tables may name respondents
    _ANSWER: ClassVar[tuple[str, str]] = ("answer", "answers")
    labels: tuple[str, ...]
    people: "pd.DataFrame | None" = None  # columns that describe respondents, one row each
    covariates: Any = None  # of comparisons and of options
    dates: Any = None  # when comparisons were made
    worst: np.ndarray | None = None  # see `Choices`, for best-worst choices
    # comparisons with the first option shown first; see `PairedComparisons`
    forward: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def n_options(self) -> int:
        """Number of options, including those without any answer."""
        return len(self.labels)

    @property
    def n_answers(self) -> int | float:
        """Number of answers; their total weight when counts are fractional."""
        raise NotImplementedError

    @property
    def answers_in_words(self) -> str:
        """Number of answers as text, such as "10 comparisons"."""
        return f"{simplify_number(self.n_answers):,} {choose_number(self.n_answers, *self._ANSWER)}"

    @property
    def word_for_answers(self) -> str:
        """Plural noun for the answers, such as "comparisons"."""
        return self._ANSWER[1]

    @property
    def never_judged(self) -> list[str]:
        """Labels of the options without any answer."""
        return []

    def _list_absent_labels(self, *judged_indices: np.ndarray) -> list[str]:
        """Return labels of options whose index is in none of these arrays."""
        is_absent = np.ones(self.n_options, bool)
        for indices in judged_indices:
            is_absent[indices] = False
        return [self.labels[k] for k in np.flatnonzero(is_absent)]

    @property
    def n_ties(self) -> int | float:
        """Number of ties; their total weight when counts are fractional."""
        return 0

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Names of the covariates; empty if there are none."""
        if self.covariates is None:
            return ()
        return self.covariates.names

    def questions(self, ties: bool | None = None) -> "Questions | None":
        """Return questions, possible answers and counts; None if answers are not counted.

        `ties`: whether a tie is an answer; None: if there are any.
        """
        return None

    def _facts(self) -> Facts:
        """Return (name, text) facts about the data for a report."""
        return ()

    def example(self) -> str:
        """Describe one answer in words; "" if there is none."""
        return ""

    def by_respondent(self, /) -> Mapping[str, Self]:
        """Return the data of each respondent by name; DataError if respondents are unknown."""
        raise DataError(
            f"{type(self).__name__} do not identify respondents; read them again and give the name"
            " of the respondent column",
            InPython("", Message(" with ", Argument("respondent"))),
            ".",
        )

    def by_group(self, column: str, /) -> Mapping[str, Self]:
        """Return the data of each group in `column` of `people`; DataError for kinds without
        groups.

        Raise a DataError for data that are not divided into groups, such as similarities, which are
        means over the people of a group.
        """
        raise DataError(
            f"{type(self).__name__} cannot be divided into groups; read the rows of each group"
            " separately."
        )

    def to_comparisons(self) -> "PairedComparisons":
        """Convert the answers to `PairedComparisons`; raise DataError if impossible."""
        raise DataError(explain_unpaired_data(self))

    def without_ties(self, how: str, /) -> Self:
        """Return the data with ties halved or dropped, as `how` requests.

        A tie counts as half a choice of either option ("half"), or is dropped ("drop").
        """
        return self

    def with_covariates(self, names: Iterable[str], /) -> Self:
        """Return the data with only these covariates; raise DataError if unknown."""
        if list(names):
            raise DataError(_NO_COVARIATES)
        return self

    def with_option_covariates(self, frame: Any, /) -> Self:
        """Return the data with covariates of options added; else raise DataError."""
        raise DataError(_NO_COVARIATES)

    def together(self, others: Sequence[Any], /) -> Self:
        """Merge several data objects with the options of the first.

        Respondents are kept if all know them.
        """
        raise NotImplementedError


class JudgedByPeople(Judged):
    """Base class of data whose respondents may be known."""

    _DATA_WORD: ClassVar[str]  # plural noun, such as "triplets"
    answers: Any

    def require_answers(self) -> Any:
        """Return the answers of each respondent; raise DataError if unknown."""
        if self.answers is None:
            raise DataError(
                f"These {self._DATA_WORD} do not identify respondents; read them again and give"
                " the name of the respondent column",
                InPython("", Message(", ", Argument("respondent"))),
                ".",
            )
        return self.answers

    @property
    def respondents(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the respondents; empty if unknown."""
        if self.answers is None:
            return ()
        return self.answers.respondents

    @property
    def people(self) -> "pd.DataFrame | None":  # type: ignore[override]
        """Table of respondents' characteristics, one row each; None if there are none."""
        if self.answers is None or self.answers.people is None:
            return None
        return self.answers.people.copy()


def merge_new_data(old_data: Judged, new_data: Judged) -> Any:
    """Return the old data with the answers of new data added.

    Respondents are kept if both know them.
    """
    for data, origin in ((old_data, "this model was fitted to"), (new_data, "the new data are")):
        if not isinstance(data, Judged) or not data.are_choices or data.worst is not None:
            raise DataError(
                "Only models fitted to paired comparisons or single choices (not best-worst"
                f" choices) can be updated with new data; {origin}"
                f" {type(data).__name__}. Refit the model to all the data instead."
            )
    if type(old_data) is not type(new_data):
        raise DataError(
            f"The model was fitted to {type(old_data).__name__}, but the new data are"
            f" {type(new_data).__name__}; refit the model to all the data."
        )
    unknown_labels = [label for label in new_data.labels if label not in set(old_data.labels)]
    if unknown_labels:
        raise DataError(
            f"The new data contain options that were not in the fitted data:"
            f" {shorten(unknown_labels)}; refit the model to data that include"
            f" them.{suggest(unknown_labels[0], old_data.labels)}"
        )
    if old_data.covariate_names or new_data.covariate_names:
        raise DataError(
            "A model with covariates cannot be updated with new data; refit it to all the data."
        )
    return old_data.together([new_data])


def explain_unpaired_data(data: Judged) -> str:
    """Return the error sentence that the data are not paired comparisons."""
    return (
        "This analysis requires PairedComparisons, or a square table of counts (row chosen over"
        f" column); got {type(data).__name__}."
    )
