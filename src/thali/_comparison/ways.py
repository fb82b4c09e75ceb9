"""What can be left out of each kind of data, and how its prediction is scored: Splitter x
Scorer."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.groups import GroupedData
from thali._data.kinds import CLASSES, GROUPS, SPECS, DataForm, form_of
from thali._data.pairs import PairedComparisons
from thali._data.rows import Observations
from thali._data.spec import DataSpec
from thali._inference.warn import warn
from thali._labels import plural, shorten
from thali._late import load
from thali.errors import Argument, DataError, DataWarning, InPython, Message, Setting

from .choices import Choosers
from .scorer import Scorer
from .splitter import Grouped, Splitter

MAX_FITS = 20  # of a comparison that leaves out every part in turn
FOLDS = 6  # of a comparison of more fits


class Way(NamedTuple):
    """What is left out, and how its prediction is scored."""

    splitter: Callable[[Any], Splitter]
    scorer: Scorer


def _ways_of(spec: DataSpec, by_groups: bool) -> dict[str, Way]:
    """The ways of a kind of data, or of several groups of such data, by the values of
    `leave_out`."""
    found = {}
    for splitter, scorer in ((load(splitter), load(scorer)) for splitter, scorer in spec.ways):
        made = (
            Way(partial(Grouped, splitter), scorer(True)) if by_groups else Way(splitter, scorer())
        )
        found[splitter.leave_out] = made
    return found


# Of each kind of data the ways by the values of `leave_out`, the usual one first.
WAYS: dict[DataForm, dict[str, Way]] = {
    DataForm(spec.kind): _ways_of(spec, False) for spec in SPECS if spec.ways
}
WAYS |= {DataForm(spec.kind, GROUPS): _ways_of(spec, True) for spec in SPECS if spec.by_group}
SCORERS = {way.scorer.name: way.scorer for ways in WAYS.values() for way in ways.values()}


def as_left_out(data: Any, leave_out: str | None) -> tuple[Any, str | None]:
    """Paired comparisons of which people are left out as choices of respondents, a mapping as
    groups of people; other data as they are; of observations X and y.
    """
    if isinstance(data, Observations):
        return (data.covariates, data.labels), leave_out
    if isinstance(data, Mapping):
        groups = data if isinstance(data, GroupedData) else GroupedData(data)
        of_people = leave_out == Choosers.leave_out and isinstance(
            groups.data[0], PairedComparisons
        )
        return (
            (groups.mapped(choices_of_people), Choosers.leave_out)
            if of_people
            else (groups, leave_out)
        )
    if not isinstance(data, PairedComparisons) or leave_out != Choosers.leave_out:
        return data, leave_out
    return choices_of_people(data), Choosers.leave_out


def choices_of_people(data: PairedComparisons) -> Choices:
    """Paired comparisons as choices of those who answered; a DataError if they do not say who, or
    there are ties.

    Covariates of comparisons, which choices do not have, are left out with a warning.
    """
    if data.answers is None:
        raise DataError(
            "The comparisons do not identify respondents; hold out pairs instead, or read them"
            " again and name the column of respondents",
            InPython("", Message(", ", Argument("respondent"))),
            ".",
        )
    if data.n_ties:
        raise DataError(
            "Leaving out respondents requires choices without ties, but the data contain"
            f" {plural(data.n_ties, 'tie')}. ",
            InPython(
                'Pass data.without_ties("half") or data.without_ties("drop")',
                Message("Set ", Setting("ties", "half"), " or ", Setting("ties", "drop")),
            ),
            ", or hold out pairs instead.",
        )
    if data.covariate_names:
        named = shorten(data.covariate_names)
        warn(
            DataWarning(
                "Predictions for left-out respondents do not use covariates, so the models ignore"
                f" {named}."
            )
        )
    return Choices.from_comparisons(data)


def usual_way(form: DataForm) -> Way:
    """What is left out unless the user says otherwise."""
    return next(iter(WAYS[form].values()))


def parts_of(data: Any, leave_out: str | None) -> int:
    """Return how many parts are left out in turn, unless a number of folds is asked for."""
    data, leave_out = as_left_out(data, leave_out)
    form = compared_form(data)
    way = usual_way(form) if leave_out is None else WAYS[form][leave_out]
    return len(way.splitter(data).parts(np.random.SeedSequence(0), None, None))


def proportionate_folds(n_models: int, n_parts: int) -> int | None:
    """Return the folds of a comparison of so many fits; None: few enough to leave out every part in
    turn."""
    return FOLDS if n_parts > FOLDS and n_models * n_parts > MAX_FITS else None


def is_own(data: Any) -> bool:
    """Whether the data are those of a likelihood of the user: a NamedTuple."""
    return isinstance(data, tuple) and type(data) is not tuple


def compared_form(data: Any) -> DataForm:
    """Return the form of the data that a comparison is given; a DataError for what has none."""
    if type(data) is tuple and len(data) == 2:
        return DataForm(CLASSES)
    if (form := form_of(data)) in WAYS:
        return form
    raise DataError(
        "compare requires PairedComparisons, Choices, a ChoiceExperiment, Similarities, Triplets,"
        f" or (X, y) for classifiers; got {type(data).__name__}. Wrap a count matrix as"
        " PairedComparisons(counts)."
    )
