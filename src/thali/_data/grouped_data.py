"""Data of several groups of respondents about the same options."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from thali._inference.user_warnings import warn
from thali._labels import (
    choose_number,
    format_label,
    format_plural,
    has_repeats,
    list_names,
    shorten,
)
from thali._object_descriptions import Facts
from thali.errors import DataError, DataWarning

from .base_classes import Judged
from .kinds import GROUPS, find_data_spec
from .report_facts import MAX_LISTED, list_name_facts


class GroupedData(Judged, Mapping[str, Any]):
    """Data of several respondent groups, one data object per group, with equal options.

    Models of groups convert the mapping that `fit` receives to this class. Nothing can be changed
    after construction.

    Parameters
    ----------
    data : mapping
        From the name of each group to its `PairedComparisons`, `Choices` or `Triplets`. Data that
        say who answered make one by `by_group` or `by_respondent`.

    Attributes
    ----------
    names : tuple of str
        Of the groups.
    labels : tuple of str
        All options, in the order in which they first appear.

    Raises
    ------
    DataError
        If there is no group, a group has no data, the groups have data of different kinds, or no
        option is in common.

    Examples
    --------
    >>> import thali as th
    >>> from thali._data.grouped_data import GroupedData
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

    _FIELDS = ("names", "data")

    population = GROUPS
    add_up = True
    names: tuple[str, ...]
    data: tuple[Any, ...]

    def __init__(self, data: Mapping[Any, Any]) -> None:
        if not isinstance(data, Mapping):
            raise DataError(
                f"Groups must be a mapping from group names to data; got {type(data).__name__}."
            )
        group_names = tuple(map(format_label, data))
        datasets = tuple(data.values())
        if not group_names:
            raise DataError(
                "The mapping of groups is empty; give a mapping from group names to data."
            )
        if has_repeats(group_names) or not all(group_names):
            raise DataError(
                f"Groups must have unique, non-empty names; got {shorten(group_names)}."
            )
        for group_name, dataset in zip(group_names, datasets, strict=True):
            if not isinstance(dataset, Judged) or not find_data_spec(dataset.kind).by_group:
                raise DataError(
                    f"Group {group_name!r} must be PairedComparisons, Choices or Triplets; got"
                    f" {type(dataset).__name__}. Omit groups without data."
                )
            if type(dataset) is not type(datasets[0]):
                raise DataError(
                    f"All groups must have the same kind of data; {group_names[0]!r} has"
                    f" {type(datasets[0]).__name__}, and {group_name!r} has"
                    f" {type(dataset).__name__}."
                )
        all_labels = tuple(dict.fromkeys(label for dataset in datasets for label in dataset.labels))
        _check_equal_covariates(group_names, datasets, all_labels)
        aligned_datasets = list(datasets)
        for k, dataset in enumerate(datasets):
            if dataset.labels != all_labels:
                aligned_datasets[k] = dataset.together([], all_labels)
        self._freeze(group_names, tuple(aligned_datasets))

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(f"Unknown group {name!r}; available groups: {shorten(self.names)}.")
        return self.data[self.names.index(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        group_count = format_plural(len(self), "group")
        options_text = format_plural(self.n_options, self.data[0].option_word)
        answer_texts = [part.answers_in_words for part in self.data]
        if len(self) > 6 and len(set(answer_texts)) == 1:
            return f"{group_count} with {answer_texts[0]} each, {options_text}"
        group_texts = [
            f"{name}: {size}" for name, size in zip(self.names, answer_texts, strict=True)
        ]
        if len(group_texts) > 6:
            group_texts = [*group_texts[:5], f"{len(group_texts) - 5:,} more"]
        return f"{group_count} ({', '.join(group_texts)}), {options_text}"

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        facts: list[Any] = [("options", self.labels)]
        if missing_texts := [f"{name}: {shorten(absent)}" for name, absent in self.missing.items()]:
            facts.append(("not judged", "; ".join(missing_texts)))
        return tuple(facts)

    def _facts(self) -> Facts:
        """Return (name, text) facts about the groups for a report."""
        missing_texts = [f"{name}: {list_names(absent)}" for name, absent in self.missing.items()]
        facts = [
            ("Groups", f"{len(self):,}: {list_names(self.names, MAX_LISTED)}"),
            *list_name_facts("Options not judged", missing_texts),
        ]
        return (*facts, *self.pooled()._facts())

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """Labels of all options."""
        return self.data[0].labels

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Kind of the data of each group, from `thali._data.kinds`."""
        return self.data[0].kind

    @property
    def are_choices(self) -> bool:  # type: ignore[override]
        """Whether the data are choices among options."""
        return self.data[0].are_choices

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
        """Names of the covariates, which all groups share."""
        return self.data[0].covariate_names

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """Options that a group did not judge, by name of the group."""
        unjudged_by_group = {name: tuple(part.never_judged) for name, part in self.items()}
        return {name: absent for name, absent in unjudged_by_group.items() if absent}

    def map_groups(self, function: Callable[[Any], Any]) -> "GroupedData":
        """Return groups with `function(data)` for the data of each group."""
        return GroupedData({name: function(part) for name, part in self.items()})

    def without_ties(self, how: str) -> "GroupedData":
        """Return the data with ties halved ("half") or dropped ("drop") in each group.

        A tie counts as half a choice of either option ("half"), or is dropped ("drop").
        """
        return self.map_groups(lambda part: part.without_ties(how) if part.n_ties else part)

    def with_covariates(self, names: Iterable[str]) -> "GroupedData":
        """Return the data of each group with only these covariates."""
        names = list(names)
        return self.map_groups(lambda part: part.with_covariates(names))

    def pooled(self) -> Any:
        """Merge the data of all groups into one data object."""
        return self.data[0].together(self.data[1:], self.labels)

    def warn_if_unusual(self) -> None:
        """Warn of options that a group did not judge or that nothing connects.

        These are options that a group did not judge or that nothing connects, and names that occur
        in several groups.
        """
        self.pooled().warn_if_unusual()
        if self.missing and len(self) <= 10:
            unjudged_text = "; ".join(
                f"{name!r} did not judge {shorten(absent)}" for name, absent in self.missing.items()
            )
            warn(
                DataWarning(
                    f"Groups judged different options: {unjudged_text}. Values for unjudged options"
                    " depend on the model and the prior."
                )
            )
        n_groups_by_name = Counter(name for part in self.data for name in part.respondents)
        if repeated_names := [name for name, n_groups in n_groups_by_name.items() if n_groups > 1]:
            verb = choose_number(len(repeated_names), "occurs", "occur")
            warn(
                DataWarning(
                    f"{format_plural(len(repeated_names), 'name')} {verb} in several groups"
                    f" ({shorten(repeated_names)}); the same name in"
                    " another group is treated as a different respondent."
                )
            )


def _check_equal_covariates(
    group_names: tuple[str, ...], datasets: tuple[Any, ...], all_labels: tuple[str, ...]
) -> None:
    """Raise DataError unless all groups have the same covariates."""
    first_dataset = datasets[0]
    for group_name, dataset in zip(group_names, datasets, strict=True):
        if dataset.covariate_names != first_dataset.covariate_names:
            first_covariates = shorten(first_dataset.covariate_names) or "none"
            group_covariates = shorten(dataset.covariate_names) or "none"
            raise DataError(
                f"Groups must have the same covariates; {group_names[0]!r} has {first_covariates},"
                f" but {group_name!r} has {group_covariates}."
            )
        if not dataset.covariate_names:
            continue
        if dataset.labels != all_labels:
            raise DataError(
                "Groups with covariates must have the same labels in the same order;"
                f" {group_name!r} has"
                f" {shorten(dataset.labels)}, but all groups together have {shorten(all_labels)}."
            )
