"""Ways to hold out data (`leave_out`), with splitter and scorer of each."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed
from thali._data.choices import Choices
from thali._data.classification_data import Observations
from thali._data.data_kind_spec import DataSpec
from thali._data.kinds import CLASSES, SPECS, get_data_kind
from thali._data.pairs import PairedComparisons
from thali._inference.user_warnings import warn
from thali._labels import format_plural, shorten
from thali._lazy_imports import load_object
from thali._people.people_argument import refuse_groups
from thali.errors import Argument, DataError, DataWarning, InPython, Message, Setting

from .choice_holdouts import ChooserSplitter
from .scorer import Scorer
from .splitter import Splitter

MAX_FITS = 20  # maximum number of fits for a comparison with every part in turn
FOLDS = 6  # folds of a comparison with more fits


class HoldoutScheme(NamedTuple):
    """A splitter class, and the scorer of its held-out parts."""

    splitter: Callable[[Any], Splitter]
    scorer: Scorer


def _build_schemes(spec: DataSpec) -> dict[str, HoldoutScheme]:
    """Return the schemes of a data kind, by value of `leave_out`."""
    schemes = {}
    for splitter_path, scorer_path in spec.ways:
        splitter_class = load_object(splitter_path)
        schemes[splitter_class.leave_out] = HoldoutScheme(
            splitter_class, load_object(scorer_path)()
        )
    return schemes


# The schemes of each kind of data, by the values of `leave_out`; the default is first.
SCHEMES: dict[str, dict[str, HoldoutScheme]] = {
    spec.kind: _build_schemes(spec) for spec in SPECS if spec.ways
}
SCORERS = {
    scheme.scorer.name: scheme.scorer for schemes in SCHEMES.values() for scheme in schemes.values()
}


def convert_data(data: Any, leave_out: str | None) -> Any:
    """Convert data for the comparison.

    Paired comparisons whose respondents are held out become choices, and observations become X and
    y. Other data are unchanged.
    """
    if isinstance(data, Observations):
        return data.covariates, data.labels
    if isinstance(data, PairedComparisons) and leave_out == ChooserSplitter.leave_out:
        return convert_to_choices(data)
    return data


def convert_to_choices(data: PairedComparisons) -> Choices:
    """Convert paired comparisons to `Choices` of the same respondents.

    Raises a DataError without respondents or with ties. Covariates of comparisons, which choices do
    not have, are dropped with a warning; those of options remain.
    """
    if data.answers is None:
        raise DataError(
            "The comparisons carry no respondent identifiers, so respondents cannot be held out;"
            " hold out pairs instead, or read the data again and name the respondent column",
            InPython("", Message(", ", Argument("respondent"))),
            ".",
        )
    if data.n_ties:
        raise DataError(
            "Leaving out respondents requires choices without ties, but the data contain"
            f" {format_plural(data.n_ties, 'tie')}. ",
            InPython(
                'Pass data.without_ties("half") or data.without_ties("drop")',
                Message("Set ", Setting("ties", "half"), " or ", Setting("ties", "drop")),
            ),
            ", or hold out pairs instead.",
        )
    choices = Choices.from_comparisons(data)
    if dropped := [name for name in data.covariate_names if name not in choices.covariate_names]:
        warn(
            DataWarning(
                "Predictions for left-out respondents do not use covariates of comparisons, so the"
                f" models ignore {shorten(dropped)}."
            )
        )
    return choices


def find_scheme(data_kind: str, leave_out: str | None = None) -> HoldoutScheme:
    """Return the scheme for data of this kind and this `leave_out`."""
    scheme_by_leave_out = SCHEMES[data_kind]
    if leave_out is None:
        return next(iter(scheme_by_leave_out.values()))
    return scheme_by_leave_out[check_allowed("leave_out", leave_out, tuple(scheme_by_leave_out))]


def count_parts(data: Any, leave_out: str | None) -> int:
    """Return how many parts are held out by default."""
    data = convert_data(data, leave_out)
    splitter = find_scheme(find_compared_kind(data), leave_out).splitter(data)
    return len(splitter.list_parts(np.random.SeedSequence(0), None, None))


def choose_n_folds(n_models: int, n_parts: int) -> int | None:
    """Return the default number of folds; None holds out every part in turn."""
    if n_parts > FOLDS and n_models * n_parts > MAX_FITS:
        return FOLDS
    return None


def is_custom_data(data: Any) -> bool:
    """Return whether the data are a NamedTuple of a custom likelihood."""
    return isinstance(data, tuple) and type(data) is not tuple


def find_compared_kind(data: Any) -> str:
    """Return the kind of the data; raise DataError for objects that cannot be compared on."""
    if type(data) is tuple and len(data) == 2:
        return CLASSES
    refuse_groups(data)
    if (data_kind := get_data_kind(data)) in SCHEMES:
        return data_kind
    raise DataError(
        "compare requires PairedComparisons, Choices, a ChoiceExperiment, Similarities, Triplets,"
        f" or (X, y) for classifiers; got {type(data).__name__}. Wrap a count matrix as"
        " PairedComparisons(counts)."
    )
