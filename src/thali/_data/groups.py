"""Several groups of people who judged the same options: a mapping from the name of a group to its
data."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from thali._described import Facts
from thali._inference.warn import warn
from thali._labels import as_label, listed, plural, shorten
from thali.errors import DataError, DataWarning

from .facts import MAX_LISTED, named_facts
from .judged import Judged
from .kinds import GROUPS, spec_of_kind

if TYPE_CHECKING:
    import pandas as pd


class GroupedData(Judged, Mapping[str, Any]):
    """Data of several groups, whose options are put into one order; a group may lack some of the
    options.

    It is what models of groups make of the mapping that `fit` is given. Nothing can be changed
    after construction.

    Parameters
    ----------
    data : mapping
        From the name of each group to its `PairedComparisons`, `Choices`, `Similarities` or
        `Triplets`. Data that say who answered make one by `by_respondent`, and but for similarities
        by `by_group`.
    people : DataFrame, optional
        Where every group is a person: a row for each, by their names.

    Attributes
    ----------
    names : tuple of str
        Of the groups.
    labels : tuple of str
        All options, in the order in which they first appear.
    people : DataFrame or None
        Where every group is a person: what is known of them, a row each.

    Raises
    ------
    DataError
        If there is no group, a group has no data, the groups have data of different kinds, no
        option is in common, or `people` has not one row for each group.

    Examples
    --------
    >>> import thali as th
    >>> from thali._data.groups import GroupedData
    >>> women = th.PairedComparisons([[0, 7], [3, 0]], labels=["tea", "milk"])
    >>> men = th.PairedComparisons([[0, 2], [4, 0]], labels=["milk", "coffee"])
    >>> groups = GroupedData({"women": women, "men": men})
    >>> groups
    GroupedData(2 groups (women: 10 comparisons, men: 6 comparisons), 3 options)
    >>> groups["men"].labels
    ('tea', 'milk', 'coffee')
    >>> groups.missing
    {'women': ('coffee',), 'men': ('tea',)}
    """

    _FIELDS = ("names", "data", "people")
    _IF_KNOWN = "people"

    population = GROUPS
    names: tuple[str, ...]
    data: tuple[Any, ...]

    def __init__(self, data: Mapping[Any, Any], people: "pd.DataFrame | None" = None) -> None:
        if not isinstance(data, Mapping):
            raise DataError(
                f"Groups must be a mapping from group names to data; got {type(data).__name__}."
            )
        names, parts = tuple(map(as_label, data)), tuple(data.values())
        if not names:
            raise DataError(
                "The mapping of groups is empty; give a mapping from group names to data."
            )
        if len(set(names)) < len(names) or not all(names):
            raise DataError(f"Groups must have unique, non-empty names; got {shorten(names)}.")
        for name, part in zip(names, parts, strict=True):
            if not isinstance(part, Judged) or not spec_of_kind(part.kind).by_group:
                raise DataError(
                    f"Group {name!r} must be PairedComparisons, Choices, Similarities or Triplets;"
                    f" got {type(part).__name__}. Omit groups without data."
                )
            if type(part) is not type(parts[0]):
                raise DataError(
                    f"All groups must have the same kind of data; {names[0]!r} has"
                    f" {type(parts[0]).__name__}, and {name!r} has {type(part).__name__}."
                )
        labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
        _refuse_other_covariates(names, parts, labels)
        parts = tuple(
            part if part.labels == labels else part.together([], labels) for part in parts
        )
        self._freeze(names, parts, None if people is None else _rows_of(people, names))

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(f"Unknown group {name!r}; available groups: {shorten(self.names)}.")
        return self.data[self.names.index(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return self.in_words(plural(len(self), "group"))

    def in_words(self, several: str) -> str:
        """What they are, such as "3 groups", which, and of how many options; not which if many are
        of the same size."""
        options = plural(self.n_options, self.data[0].option_word)
        answers = [part.answers_in_words for part in self.data]
        if len(self) > 6 and len(set(answers)) == 1:
            return f"{several} with {answers[0]} each, {options}"
        sizes = [f"{name}: {size}" for name, size in zip(self.names, answers, strict=True)]
        shown = sizes if len(sizes) <= 6 else [*sizes[:5], f"{len(sizes) - 5:,} more"]
        return f"{several} ({', '.join(shown)}), {options}"

    def _details(self) -> Facts:
        missing = tuple(f"{name}: {shorten(absent)}" for name, absent in self.missing.items())
        return (
            ("options", self.labels),
            *((("not judged", "; ".join(missing)),) if missing else ()),
        )

    def _facts(self) -> Facts:
        missing = [f"{name}: {listed(absent)}" for name, absent in self.missing.items()]
        return (
            ("Groups", f"{len(self):,}: {listed(self.names, MAX_LISTED)}"),
            *named_facts("Options not judged", missing),
            *(self.pooled()._facts() if self.add_up else ()),
        )

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """All options."""
        return self.data[0].labels

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Of the data of each group, of `thali._data.kinds`."""
        return self.data[0].kind

    @property
    def are_choices(self) -> bool:  # type: ignore[override]
        """Whether they have chosen."""
        return self.data[0].are_choices

    @property
    def add_up(self) -> bool:  # type: ignore[override]
        """Whether the answers of several groups add up."""
        return self.data[0].add_up

    @property
    def n_answers(self) -> int | float:
        """Number of answers of all groups; their total weight when counts are fractional."""
        return sum(part.n_answers for part in self.data)

    @property
    def n_ties(self) -> int | float:
        """Number of ties in all groups; their total weight when counts are fractional."""
        return sum(part.n_ties for part in self.data)

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Of the covariates of the answers, which all groups have."""
        return self.data[0].covariate_names

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """The options that a group did not judge, of groups that lack some."""
        found = {name: tuple(part.never_judged) for name, part in self.items()}
        return {name: absent for name, absent in found.items() if absent}

    def mapped(self, function: Callable[[Any], Any]) -> "GroupedData":
        """The groups with what a function makes of the data of each."""
        return GroupedData({name: function(part) for name, part in self.items()}, self.people)

    def without_ties(self, how: str) -> "GroupedData":
        """The groups without ties, each of which counts "half" a choice of either option, or is
        left out ("drop")."""
        return self.mapped(lambda part: part.without_ties(how) if part.n_ties else part)

    def with_covariates(self, names: Iterable[str]) -> "GroupedData":
        """The groups with some of the covariates of each."""
        names = list(names)
        return self.mapped(lambda part: part.with_covariates(names))

    def pooled(self) -> Any:
        """The comparisons or choices of all groups together.

        Raises
        ------
        DataError
            If the data are similarities, of which a mean is another datum: see
            `Similarities.from_respondents`.
        """
        return self.data[0].together(self.data[1:], self.labels)

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of options that a group did not judge, or that nothing
        connects at all, and of people in several groups."""
        if self.add_up:
            self.pooled().warn_if_unusual()
        if self.missing and len(self) <= 10:
            unjudged = "; ".join(
                f"{name!r} did not judge {shorten(absent)}" for name, absent in self.missing.items()
            )
            warn(
                DataWarning(
                    f"Groups judged different options: {unjudged}. Values for unjudged options"
                    " depend on the model and the prior."
                )
            )
        times = Counter(name for part in self.data for name in part.respondents)
        if twice := [name for name, number in times.items() if number > 1]:
            who = plural(len(twice), "name") + (" occurs" if len(twice) == 1 else " occur")
            warn(
                DataWarning(
                    f"{who} in several groups ({shorten(twice)}); the same name in another group"
                    " is treated as another respondent."
                )
            )


def _rows_of(people: Any, names: tuple[str, ...]) -> "pd.DataFrame":
    """The rows of these people, in their order."""
    import pandas as pd

    if not isinstance(people, pd.DataFrame):
        raise DataError(
            f"`people` must be a table with one row per group; got {type(people).__name__}."
        )
    rows = list(map(as_label, people.index))
    if absent := [name for name in names if name not in rows]:
        has = f"its rows are {shorten(rows)}" if rows else "it has no rows"
        raise DataError(
            f"`people` must have a row named after each group; {has}, so there is no row for"
            f" {absent[0]!r}."
        )
    if len(set(rows)) < len(rows):
        twice = next(name for name in rows if rows.count(name) > 1)
        raise DataError(f"`people` must have one row per group; {twice!r} has {rows.count(twice)}.")
    return people.set_axis(pd.Index(rows, name=people.index.name)).loc[list(names)]


def _refuse_other_covariates(
    names: tuple[str, ...], parts: tuple[Any, ...], labels: tuple[str, ...]
) -> None:
    """Raise for groups whose comparisons have not the same covariates, or do not have them for all
    options."""
    first = parts[0]
    for name, part in zip(names, parts, strict=True):
        if part.covariate_names != first.covariate_names:
            has, other = (shorten(each.covariate_names) or "none" for each in (first, part))
            raise DataError(
                f"Groups must have the same covariates; {names[0]!r} has {has}, but {name!r} has"
                f" {other}."
            )
        if not part.covariate_names:
            continue
        if part.labels != labels:
            raise DataError(
                f"Groups with covariates must have the same labels in the same order; {name!r} has"
                f" {shorten(part.labels)}, but all groups together have {shorten(labels)}."
            )
