"""What all data objects share: they cannot be changed; and what judgements of options say, under
one name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._described import Described, Description, Facts
from thali._labels import shorten, suggest
from thali.errors import Argument, DataError, InPython, Message

from .kinds import ONE

if TYPE_CHECKING:
    import pandas as pd

    from .pairs import PairedComparisons
    from .questions import Questions


class Frozen(Described):
    """Data made of a few fields, of which arrays are read-only."""

    _FIELDS: ClassVar[tuple[str, ...]]
    # a field that is kept only where it is known, and None by its class otherwise
    _IF_KNOWN: ClassVar[str] = ""
    read_as: str = ""  # how `thali.read` read it

    @classmethod
    def _made_of(cls, *values: Any) -> Self:
        """The data with these fields, in the order of `_FIELDS`."""
        return cls.__new__(cls)._freeze(*values)

    def _freeze(self, *values: Any) -> Self:
        for name, value in zip(self._FIELDS, values, strict=True):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        # files and digests hold what is known alone
        if self._IF_KNOWN and getattr(self, self._IF_KNOWN) is None:
            vars(self).pop(self._IF_KNOWN)
        return self

    def _description(self) -> Description:
        return Description(type(self).__name__, (("data", str(self)), *self._details()))

    def _details(self) -> Facts:
        """What a notebook shows of the data besides their size."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise DataError(
            f"{type(self).__name__} cannot be converted to an array; use its attributes and tables."
        )

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; build new data instead.")

    def __delattr__(self, name: str) -> None:
        setattr(self, name, None)  # refused as well

    def __reduce__(self) -> Any:
        # NumPy does not pickle the read-only flag, so the copy is frozen once more
        return type(self)._made_of, tuple(getattr(self, name) for name in self._FIELDS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        fields = [
            (getattr(self, name), getattr(other, name))
            for name in self._FIELDS
            if not name.startswith("_")
        ]
        return all(_same(a, b) for a, b in fields)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple | str | int | float | Frozen):
        return a == b
    import pandas as pd

    return a.equals(b) if isinstance(a, pd.DataFrame) else a == b


# What every kind of judgement of options says of itself, under one name ---------------------------


_NO_COVARIATES = (
    "Covariates require comparisons of two options; remove them for choices from larger sets."
)


class Judged(Frozen):
    """Answers about options or objects that have labels; a kind without the thing answers with the
    neutral value."""

    kind: ClassVar[str]  # of data, of `thali._data.kinds`
    population: ClassVar[str] = ONE  # GROUPS: of several groups of respondents
    respondents: tuple[str, ...] = ()  # the names of those who answered; () if unknown
    option_word: ClassVar[str] = "option"
    are_choices: ClassVar[bool] = False
    add_up: ClassVar[bool] = False  # over people, so that tables may say who gave them
    _ANSWER: ClassVar[tuple[str, str]] = ("answer", "answers")
    labels: tuple[str, ...]
    people: "pd.DataFrame | None" = None  # what is known of those who answered: a row a person
    covariates: Any = None  # of comparisons of two
    dates: Any = None  # when comparisons were made
    worst: np.ndarray | None = None  # of best-worst choices, as `Choices` has it
    # which of two options was shown first, as `PairedComparisons` has it
    forward: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def n_options(self) -> int:
        """Number of options, those never judged included."""
        return len(self.labels)

    @property
    def n_answers(self) -> int | float:
        """Number of answers; their total weight when counts are fractional."""
        raise NotImplementedError

    @property
    def answers_in_words(self) -> str:
        """How many answers there are, with their name: "10 comparisons"."""
        return f"{self.n_answers:,} {self._ANSWER[self.n_answers != 1]}"

    @property
    def word_for_answers(self) -> str:
        """What several answers are called: "comparisons"."""
        return self._ANSWER[1]

    @property
    def never_judged(self) -> list[str]:
        """Labels of the options without a single answer."""
        return []

    def _besides(self, *judged: np.ndarray) -> list[str]:
        """Labels of the options that are in none of these arrays of positions."""
        never = np.ones(self.n_options, bool)
        for places in judged:
            never[places] = False
        return [self.labels[k] for k in np.flatnonzero(never)]

    @property
    def n_ties(self) -> int | float:
        """Number of answers that are ties; their total weight when counts are fractional."""
        return 0

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Of the covariates of the answers."""
        return ()

    def questions(self, ties: bool | None = None) -> "Questions | None":
        """Return what was asked and answered how often; None where that is not counted.

        `ties`: whether a tie is an answer; None: if there are any.
        """
        return None

    def _facts(self) -> Facts:
        """Names and values that describe the data, as a report lists them."""
        return ()

    def example(self) -> str:
        """One answer in words; "" where there is none."""
        return ""

    def by_respondent(self, /) -> Mapping[str, Self]:
        """The answers of each person; a DataError if the data do not say who answered."""
        raise DataError(
            f"{type(self).__name__} do not identify respondents; ",
            InPython(
                "give a mapping from each respondent to their data.",
                Message("name their column with ", Argument("group"), "."),
            ),
        )

    def by_group(self, column: str, /) -> Mapping[str, Self]:
        """The answers of each group of people, by a column of `people`; a DataError of data whose
        groups are given apart, as of similarities, which are means over the people of a group."""
        raise DataError(
            f"{type(self).__name__} are not divided into groups; give a mapping from group names"
            " to data."
        )

    def to_comparisons(self) -> "PairedComparisons":
        """The same answers as paired comparisons; a DataError if they are none."""
        raise DataError(not_pairs(self))

    def without_ties(self, how: str, /) -> Self:
        """The same answers for whatever knows choices alone: a tie counts "half" a choice of either
        option, or none."""
        return self

    def with_covariates(self, names: Iterable[str], /) -> Self:
        """The same answers with some of their covariates; a DataError if they have none of that
        name."""
        if list(names):
            raise DataError(_NO_COVARIATES)
        return self

    def with_option_covariates(self, frame: Any, /) -> Self:
        """The same answers with covariates of the options; a DataError if they are no comparisons
        of two options."""
        raise DataError(_NO_COVARIATES)

    def together(self, others: Sequence[Any], labels: tuple[str, ...], /) -> Self:
        """The answers of all, of these options, and who gave them if all know it. A DataError if
        they do not add up."""
        raise NotImplementedError


class JudgedByPeople(Judged):
    """Answers of which it may be known who gave them."""

    answers: Any

    @property
    def respondents(self) -> tuple[str, ...]:  # type: ignore[override]
        """Who answered; empty if the data do not say."""
        return () if self.answers is None else self.answers.respondents

    @property
    def people(self) -> "pd.DataFrame | None":  # type: ignore[override]
        """What is known of those who answered: a row a person; None if nothing is."""
        return None if self.answers is None else self.answers.people


def with_more(old: Any, new: Any) -> Any:
    """All comparisons or choices together, of the options of the old ones; who made them is kept if
    both know it."""
    for each, which in ((old, "the model was fitted to"), (new, "got")):
        if not isinstance(each, Judged) or not each.are_choices or each.worst is not None:
            raise DataError(
                f"Only paired comparisons and choices from sets can be updated; {which}"
                f" {type(each).__name__}. Fit all data together instead."
            )
    if type(old) is not type(new):
        kinds = f"{type(old).__name__}, but the update has {type(new).__name__}"
        raise DataError(f"The model was fitted to {kinds}; fit all data together.")
    unknown = [label for label in new.labels if label not in set(old.labels)]
    if unknown:
        raise DataError(
            "The new data contain options that the model was not fitted to:"
            f" {shorten(unknown)}; fit all data together.{suggest(unknown[0], old.labels)}"
        )
    if old.covariate_names or new.covariate_names:
        raise DataError(
            "A fit with covariates cannot be updated with new comparisons; fit all data together."
        )
    return old.together([new], old.labels)


def not_pairs(data: Any) -> str:
    """The sentence where something else than paired comparisons was given."""
    needed = "This requires PairedComparisons, or a square table of counts (row chosen over column)"
    return f"{needed}; got {type(data).__name__}."
