"""What every kind of judgement of options says of itself, under one name."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from thali._labels import shorten, suggest
from thali.errors import DataError

from .frozen import Frozen

if TYPE_CHECKING:
    import pandas as pd

    from .pairs import PairedComparisons


class Tally(NamedTuple):
    """How often each possible answer was given."""

    start: np.ndarray  # (questions + 1,): question v has the answers start[v] to start[v + 1] - 1
    counts: np.ndarray  # (answers,)


class Judged(Frozen):
    """Answers about options, or objects, with labels; a kind of data without the thing answers with the neutral value.

    Attributes
    ----------
    kind : str
        Of the data, of `thali.data.kinds`.
    option_word : str
        What one of them is called: option or object.
    """

    kind: ClassVar[str]
    option_word: ClassVar[str] = "option"
    _ANSWER: ClassVar[tuple[str, str]] = ("answer", "answers")
    are_counted: ClassVar[bool] = True  # so that the answers of several people add up
    tell_people: ClassVar[bool] = False  # if their table does: `by_subject` and `by_group` are known
    labels: tuple[str, ...]
    people: "pd.DataFrame | None" = None  # what is known of those who answered: a row a person

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
    def never_judged(self) -> list[str]:
        """Labels of the options without a single answer."""
        return []

    @property
    def n_ties(self) -> int | float:
        """Number of answers that are ties; their total weight when counts are fractional."""
        return 0

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Of the covariates of the answers."""
        return ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """Who answered; empty if the data do not say."""
        return ()

    @property
    def takes_more(self) -> bool:
        """Whether further answers can be added: `plus` is known."""
        return False

    @property
    def tally(self) -> "Tally | None":
        """How often each possible answer to each question was given; None where answers are not counted."""
        return None

    def example(self) -> str:
        """One answer in words; "" where none can be said."""
        return ""

    def by_subject(self, /) -> dict[str, Self]:
        """The answers of each person; a DataError if the data do not say who answered."""
        raise DataError(f"{type(self).__name__} do not say who answered.")

    def by_group(self, column: str, /) -> dict[str, Self]:
        """The answers of each group of people, by a column of `people`; a DataError as `by_subject`."""
        raise DataError(f"{type(self).__name__} do not say who answered.")

    def to_comparisons(self) -> "PairedComparisons":
        """The same answers as paired comparisons; a DataError if they are none."""
        raise DataError(not_pairs(self))

    def without_ties(self, how: str, /) -> Self:
        """The same answers for whatever knows choices alone: a tie counts "half" a choice of either option, or none."""
        return self

    def with_covariates(self, names: Iterable[str], /) -> Self:
        """The same answers with some of their covariates; a DataError if they have none of that name."""
        if list(names):
            raise _without_covariates()
        return self

    def with_option_covariates(self, frame: "pd.DataFrame", /) -> Self:
        """The same answers with covariates of the options; a DataError if they are no comparisons of two options."""
        raise _without_covariates()

    def over_labels(self, labels: tuple[str, ...], /) -> Self:
        """The same answers with these options, all of their own among them; who answered is forgotten."""
        raise NotImplementedError

    def together(self, others: Sequence[Any], /) -> Self:
        """The answers of all, which have the same options; who answered is forgotten. A DataError if they do not add
        up."""
        raise NotImplementedError

    def plus(self, new: Any, /) -> Self:
        """The same and further answers about options of the same labels, who answered forgotten."""
        raise NotImplementedError

    def to_square(self) -> "pd.DataFrame":
        """A square table, which `read_table` reads back."""
        raise NotImplementedError

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of what models do not expect; they call this at fit."""
        raise NotImplementedError


def with_more(old: Any, new: Any) -> Any:
    """All comparisons or choices together, of the options of the old ones; who made them is forgotten."""
    for each, which in ((old, "fitted to"), (new, "to be updated by")):
        if not isinstance(each, Judged) or not each.takes_more:
            raise DataError(
                "Paired comparisons or choices out of sets can be updated by further ones; the model is "
                f"{which} {type(each).__name__}. Fit to all the data."
            )
    if type(old) is not type(new):
        kinds = f"{type(old).__name__}, and is to be updated by {type(new).__name__}"
        raise DataError(f"The model is fitted to {kinds}; fit to all the data.")
    unknown = [label for label in new.labels if label not in set(old.labels)]
    if unknown:
        raise DataError(
            f"The new data have options that the model does not know, {shorten(unknown)}"
            f"{suggest(unknown[0], old.labels)}; fit to all the data."
        )
    return old.plus(new)


def _without_covariates() -> DataError:
    """The error where covariates are asked of data that have none."""
    return DataError("Covariates are for comparisons of two options; choices out of larger sets have none.")


def not_pairs(data: Any) -> str:
    """The sentence where something else than paired comparisons was given."""
    return (
        "This needs PairedComparisons, or a square table of counts (row chosen over column); got "
        f"{type(data).__name__}."
    )
