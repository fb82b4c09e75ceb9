"""Values of the argument `people=`: two words, and individual worths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thali._labels import format_plural
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT, INDIVIDUALS
from thali.errors import Argument, ArgumentError, DataError, InPython, Message, Setting, Value

from .respondent_columns import list_column_names


@dataclass(frozen=True, repr=False)
class Individuals:
    r"""Value of `people=`: each respondent has individual log worths, around common ones.

    .. math::

        u_p = M' x_p + W' f_p + d_p, \qquad d_{pi} \sim \mathrm{Normal}(0, \sigma^2), \quad
        f_{pk} \sim \mathrm{Normal}(0, 1)

    The log worths of respondent p are u; x contains 1 and the covariates of the respondent, in
    standard deviations about their means. M, W and sigma are learned. Results describe the
    population. `respondents` of the fitted model describes each respondent.

    Parameters
    ----------
    by : list of str
        Columns of the table of respondents on which worths depend, numbers or labels. The first
        label has no coefficient, each other label has one.

    Raises
    ------
    ArgumentError
        If `by` is not a list of columns.

    Examples
    --------
    >>> import thali as th
    >>> th.people.Individuals(by=["age"])
    Individuals(by=('age',))
    """

    by: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", list_column_names(self.by))

    def __repr__(self) -> str:
        argument_text = f"by={self.by!r}" if self.by else ""
        return f"Individuals({argument_text})"


# Errors shared by all models ----------------------------------------------------------------------

WORDS = (INDEPENDENT, ADJUSTED)


def check_people(people: Any, has_individuals: bool = True, remedy: str = "") -> None:
    """Raise ArgumentError unless `people` is a word or, if supported, individual parameters."""
    if people is None or (isinstance(people, str) and people in WORDS):
        return
    python_values = list(map(repr, (None, *WORDS)))
    typed_values: list[str] = list(WORDS)
    people_text: Any = repr(people)
    if isinstance(people, Individuals):
        people_text = Value("people", people)
        if has_individuals:
            return
    if has_individuals:
        python_values.append("thali.people.Individuals(...)")
        typed_values.append(INDIVIDUALS)
    raise ArgumentError(
        Argument("people"),
        " must be one of ",
        InPython(", ".join(python_values), ", ".join(typed_values)),
        "; got ",
        people_text,
        f".{remedy}",
    )


def check_people_of_features(people: Any) -> None:
    """Raise ArgumentError unless `people` is a word, as models of features require."""
    check_people(
        people,
        False,
        " If respondents differ, fit each group separately; for choices, BradleyTerryLuce can"
        " estimate individual worths.",
    )


def refuse_groups(data: Any) -> None:
    """Raise DataError for a mapping from groups of respondents to their data."""
    if isinstance(data, Mapping):
        raise DataError(
            f"The data are divided into {format_plural(len(data), 'group')}; fit each group"
            " separately."
        )


def unknown_respondents_error(people: Any) -> DataError:
    """Return the error that `people` needs data that identify respondents."""
    return DataError(
        Setting("people", people),
        " requires data that say which respondent gave each answer; read the data again and give"
        " the name of the respondent column",
        InPython("", Message(" with ", Argument("respondent"))),
        ".",
    )


def chains_required_error(people: Any, method: str) -> ArgumentError:
    """Return the error that `people` needs a method with chains."""
    return ArgumentError(
        Setting("people", people),
        " requires ",
        Setting("method", "mcmc"),
        "; got ",
        Setting("method", method),
        ".",
    )


def individuals_required_error() -> ArgumentError:
    """Return the error that `by` needs `people=Individuals()`."""
    return ArgumentError(Argument("by"), " requires ", Setting("people", Individuals()), ".")


def respondents_required_error(argument: str, individual: str) -> ArgumentError:
    """Return the error that a result needs a fit that distinguishes respondents."""
    return ArgumentError(
        Argument(argument),
        f" requires individual {individual}; refit with ",
        Setting("people", Individuals()),
        ".",
    )
