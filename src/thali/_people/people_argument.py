"""Values of the argument `people=`: individuals, latent classes, groups."""

from collections.abc import Mapping, Sized
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from thali._argument_checks import check_allowed, check_integer
from thali._labels import format_plural
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT
from thali.errors import Argument, ArgumentError, DataError, InPython, Message, Setting, Value

from .respondent_columns import list_column_names

FREE, SIMILAR, COMMON = "free", "similar", "common"  # weights of groups or classes
MAX_CLASSES = 20


class _Heterogeneity:
    """Base class of values of `people=`."""

    usage: ClassVar[str]  # at the command line

    def _list_arguments(self) -> dict[str, Any]:
        """Return the constructor arguments that differ from their defaults."""
        instance: Any = self
        return {
            field.name: argument
            for field in fields(instance)
            if (argument := getattr(self, field.name)) != field.default
        }

    def __repr__(self) -> str:
        arguments = ", ".join(
            f"{name}={argument!r}" for name, argument in self._list_arguments().items()
        )
        return f"{type(self).__name__}({arguments})"

    @property
    def typed(self) -> str:
        """The value as typed after --people, such as "classes:3"."""
        words = [self.usage.partition(":")[0]]
        for name, argument in self._list_arguments().items():
            if name != "by":
                words.append(str(argument))
        return ":".join(words)


@dataclass(frozen=True, repr=False)
class Individuals(_Heterogeneity):
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

    usage = "individuals"

    by: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", list_column_names(self.by))


@dataclass(frozen=True, repr=False)
class LatentClasses(_Heterogeneity):
    r"""Value of `people=`: respondents are in latent classes with different log worths.

    .. math:: P(z_n = g) = \pi_g, \qquad \pi \sim \mathrm{Dirichlet}(1, \dots, 1)

    The class of a respondent is z.

    Parameters
    ----------
    classes : int from 1 to 20
        The largest number of classes. Classes may stay empty.
    weights : {"free", "similar"}
        "free": each class has independent worths. "similar": worths of the classes vary about
        common ones, as of `Groups`.

    Raises
    ------
    ArgumentError
        If an argument is out of its range.

    References
    ----------
    Stephens (2000), Dealing with label switching in mixture models.

    Examples
    --------
    >>> import thali as th
    >>> th.people.LatentClasses(3)
    LatentClasses(classes=3)
    """

    usage = "classes:K"

    classes: int
    weights: Literal["free", "similar"] = "free"

    def __post_init__(self) -> None:
        if check_integer("classes", self.classes, 1) > MAX_CLASSES:
            raise ArgumentError(
                Argument("classes"), f" must be at most {MAX_CLASSES}; got {self.classes}."
            )
        check_allowed("weights", self.weights, (FREE, SIMILAR))


@dataclass(frozen=True, repr=False)
class Groups(_Heterogeneity):
    """Value of `people=`: known groups of respondents, as in the mapping passed to `fit`.

    In `BradleyTerryLuce` each group has log worths. "free" ones are independent with a common
    spread, "similar" ones are Normal about common ones. Models of features pool groups of "common"
    weights.

    Parameters
    ----------
    weights : {"free", "similar", "common"}
        "free": each group has independent worths. "similar": worths vary about common ones, as
        little as the data allow; also for many groups with few answers each. "common": all groups
        have the same worths, or the same features and weights, as if all respondents were one.

    Raises
    ------
    ArgumentError
        If `weights` is another word.

    Examples
    --------
    >>> import thali as th
    >>> women = th.PairedComparisons([[0, 7], [3, 0]], labels=["tea", "milk"])
    >>> men = th.PairedComparisons([[0, 2], [6, 0]], labels=["tea", "milk"])
    >>> model = th.BradleyTerryLuce(people=th.people.Groups("similar"))
    >>> model = model.fit(
    ...     {"women": women, "men": men}, draws=50, tune=50, random_seed=1, progressbar=False
    ... )
    >>> bool(model.of_group("women").predict_proba([("tea", "milk")])[0] > 0.5)
    True
    """

    usage = "groups:WEIGHTS"

    weights: Literal["free", "similar", "common"] = "free"

    def __post_init__(self) -> None:
        check_allowed("weights", self.weights, (FREE, SIMILAR, COMMON))


def parse_people(typed: str) -> Any:
    """Convert a text typed after --people to the value of `people`.

    Examples
    --------
    >>> [
    ...     parse_people(typed)
    ...     for typed in ("adjusted", "individuals", "classes:4", "groups:similar")
    ... ]
    ['adjusted', Individuals(), LatentClasses(classes=4), Groups(weights='similar')]
    """
    parts: list[Any] = typed.split(":")
    kind_word, *arguments = parts
    if typed == "individuals":
        return Individuals()
    if typed == "groups":
        return Groups()
    if kind_word == "groups" and len(arguments) == 1:
        return Groups(arguments[0])
    if kind_word == "classes" and 0 < len(arguments) < 3 and arguments[0].isdecimal():
        return LatentClasses(int(arguments[0]), *arguments[1:])
    check_people(typed)
    return typed


# Errors shared by all models ----------------------------------------------------------------------

WORDS = (INDEPENDENT, ADJUSTED)


def check_people(
    people: Any, supported: tuple[Any, ...] = (Individuals, LatentClasses, Groups), data: Any = None
) -> None:
    """Raise ArgumentError if this value of `people` is not supported.

    Also raise for groups in the data without `Groups`. `supported` are the classes that the model
    supports.
    """
    if not (_is_word(people) or isinstance(people, supported)):
        python_values = [f"thali.people.{cls.__name__}(...)" for cls in supported]
        raise _unsupported_people_error(people, python_values, [cls.usage for cls in supported])
    if isinstance(data, Mapping) and not isinstance(people, Groups | Individuals):
        raise unexpected_groups_error(data, Groups())


def check_equal_respondents(people: Any, data: Any) -> None:
    """Raise ArgumentError for `people` of unequal weights, as models of features require.

    Also raise for groups in the data unless these have common weights.
    """
    pooled = Groups(COMMON)
    if not (_is_word(people) or people == pooled):
        raise _unsupported_people_error(
            people,
            [f"thali.people.{pooled!r}"],
            [],
            " If respondents differ, fit each group separately; for choices, BradleyTerryLuce can"
            " estimate worths by individual, latent class or group.",
        )
    if isinstance(data, Mapping) and people != pooled:
        raise unexpected_groups_error(data, pooled)


def _is_word(people: Any) -> bool:
    """Return whether `people` is None or one of the words."""
    return people is None or (isinstance(people, str) and people in WORDS)


def _unsupported_people_error(
    people: Any, python_values: list[str], typed_values: list[str], remedy: str = ""
) -> ArgumentError:
    """Return the error that lists the words and values of `people` that a model supports."""
    people_text: Any = repr(people)
    if isinstance(people, _Heterogeneity):
        people_text = Value("people", people)
    return ArgumentError(
        Argument("people"),
        " must be one of ",
        InPython(
            ", ".join([*map(repr, (None, *WORDS)), *python_values]),
            ", ".join([*WORDS, *typed_values]),
        ),
        "; got ",
        people_text,
        f".{remedy}",
    )


def unexpected_groups_error(data: Mapping[Any, Any], groups: Groups) -> DataError:
    """Return the error that data of several groups need a value of `people` such as `groups`."""
    return DataError(
        f"The data are divided into {format_plural(len(data), 'group')}; set ",
        Setting("people", groups),
        ", or fit the data of a single group.",
    )


def check_not_groups(people: Any) -> None:
    """Raise ArgumentError for `Groups` with data of one group."""
    if isinstance(people, Groups):
        raise DataError(
            Setting("people", people),
            " requires data divided into groups; ",
            InPython(
                "fit a mapping from group names to data, such as data.by_group(column).",
                Message("give the name of the column of groups with ", Argument("group"), "."),
            ),
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
        f" requires individual {individual} or latent classes; refit with ",
        Setting("people", Individuals()),
        " or ",
        Setting("people", LatentClasses(2)),
        ".",
    )


def check_enough_respondents(people: LatentClasses, respondents: Sized) -> None:
    """Raise DataError for more latent classes than respondents."""
    if people.classes > len(respondents):
        raise ArgumentError(
            Setting("people", people),
            f" has more classes than there are respondents ({len(respondents):,}).",
        )
