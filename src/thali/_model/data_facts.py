"""The data of a fit, as a reader of a paper asks about them: how many, of whom, how evenly."""

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.design import ExperimentDesign
from thali._data.experiments.scheme import INSIDE
from thali._data.groups import GroupedData
from thali._data.pairs import PairedComparisons
from thali._data.people import differing_columns
from thali._data.rows import TrainingData
from thali._data.similarities import Similarities
from thali._data.triplets import Triplets
from thali._digits import number, percent

from .wording import listed

if TYPE_CHECKING:
    import pandas

    from .base import Model

Facts = tuple[tuple[str, str], ...]
_NAMED = 12  # options that are named


def described(model: "Model") -> Facts:
    """Names and values that describe what a model was fitted to."""
    data = model._data_of_fit()
    return facts_of(_Labelled(data, model) if isinstance(data, TrainingData) else data)


class _Labelled:
    """Training data of a classifier with the names of its classes and columns."""

    def __init__(self, data: TrainingData, model: Any) -> None:
        self.rows, self.classes, self.columns = len(data.row), list(model.classes_), model._column_names()
        self.counts = np.bincount(data.codes[data.row], minlength=len(self.classes))


@singledispatch
def facts_of(data: Any) -> Facts:
    """Names and values that describe data of any type; nothing where they are not known."""
    return ()


@facts_of.register
def _(data: PairedComparisons) -> Facts:
    n, counts = data.n_options, data.wins + data.losses + data.tied
    possible = n * (n - 1) // 2
    of_option = np.bincount(np.concatenate([data.first, data.second]), np.tile(counts, 2), minlength=n)
    return (
        ("Options", f"{n:,}: {listed(data.labels, _NAMED)}"),
        ("Compared pairs", f"{data.n_pairs:,} of {possible:,} ({number(100 * data.n_pairs / possible)} %)"),
        ("Comparisons", f"{data.n_comparisons:,}{_ties(data.n_ties, data.n_comparisons)}"),
        ("Comparisons per compared pair", _range(counts)),
        ("Comparisons per option", _range(of_option)),
        *_parts(data.components()),
        *_people(data.respondents, data.people),
        *(() if data.covariates is None else (("Covariates", listed(data.covariates.names, _NAMED)),)),
    )


@facts_of.register
def _(data: GroupedData) -> Facts:
    missing = [f"{name}: {listed(absent)}" for name, absent in data.missing.items()]
    return (
        ("Groups", f"{len(data):,}: {listed(data.names, _NAMED)}"),
        *((("Options not judged", listed(missing, _NAMED)),) if missing else ()),
        *(facts_of(data.pooled()) if data.add_up else ()),
    )


@facts_of.register
def _(data: Choices) -> Facts:
    sizes = np.diff(data.start)
    return (
        ("Options", f"{data.n_options:,}: {listed(data.labels, _NAMED)}"),
        ("Sets offered", f"{data.n_sets:,}, each with {_range(sizes)} options"),
        ("Choices", f"{data.n_choices:,}"),
        *_parts(data.components()),
        *_people(data.respondents, data.people),
    )


@facts_of.register
def _(data: Similarities) -> Facts:
    n = data.n_options
    possible = n * (n - 1) // 2
    known = () if data.sigma is None else (("Standard deviation supplied with the data", number(data.sigma)),)
    return (
        ("Objects", f"{n:,}: {listed(data.labels, _NAMED)}"),
        ("Measured pairs", f"{data.n_pairs:,} of {possible:,} ({number(100 * data.n_pairs / possible)} %)"),
        ("Similarities", f"{_range(data.values)}; mean {number(float(data.values.mean()))}"),
        ("Judgements per measured pair", _range(data.judgements)),
        *known,
    )


@facts_of.register
def _(data: Triplets) -> Facts:
    answers = np.add.reduceat(data.counts, data.start[:-1])
    pairs = len(np.unique(data.first * data.n_options + data.second))
    possible = data.n_options * (data.n_options - 1) // 2
    return (
        ("Objects", f"{data.n_options:,}: {listed(data.labels, _NAMED)}"),
        ("Sets", f"{data.n_sets:,}, each with {_range(data.sizes)} pairs"),
        ("Answers", f"{data.n_answers:,}"),
        ("Answers per set", _range(answers)),
        ("Pairs shown in a set", f"{pairs:,} of {possible:,} ({number(100 * pairs / possible)} %)"),
    )


@facts_of.register(ChoiceExperiment)
@facts_of.register(ExperimentDesign)
def _(data: Any) -> Facts:
    offered = np.diff(data.first_row)
    chosen = data.row_product[data.first_row[:-1] + data.chosen]
    none: Facts = ()
    if data.scheme.none:
        share = _is_none(data)[chosen].mean()
        none = (("No-choice option", f"chosen in {percent(share, 1)} of the tasks"),)
    return (
        ("Respondents", f"{len(data.respondents):,}"),
        ("Tasks per respondent", f"{_range(np.diff(data.first_task))}, {len(data.chosen):,} in total"),
        ("Alternatives per task", _range(offered)),
        ("Different products", f"{len(data.products) - int(_is_none(data).sum()):,}"),
        *none,
        *data.scheme.described(),
        *_columns_of_people(data),
    )


@facts_of.register
def _(data: _Labelled) -> Facts:
    counts = [f"{label}: {count:,}" for label, count in zip(data.classes, data.counts.tolist(), strict=True)]
    return (
        ("Rows", f"{data.rows:,}"),
        ("Covariates", f"{len(data.columns):,}: {listed(data.columns, _NAMED)}"),
        ("Rows per class", listed(counts, _NAMED)),
    )


def _range(values: np.ndarray) -> str:
    """The least, the median and the most; one number where they are the same."""
    least, middle, most = (float(value) for value in (values.min(), np.median(values), values.max()))
    return number(least) if least == most else f"{number(least)} to {number(most)} (median {number(middle)})"


def _ties(ties: float, comparisons: float) -> str:
    return f", including {ties:,} ties ({number(100 * ties / comparisons)} %)" if ties else ""


def _parts(components: list[Any]) -> Facts:
    """Groups of options that nothing links."""
    if len(components) == 1:
        return ()
    return (("Connected groups of options", f"{len(components):,}, with no comparison between groups"),)


def _people(respondents: Any, people: Any) -> Facts:
    """Who answered, where that is known."""
    differing = differing_columns(people)
    known = (("Respondent characteristics", listed(differing, _NAMED)),) if differing else ()
    return (("Respondents", f"{len(respondents):,}"), *known) if respondents else ()


def _columns_of_people(data: Any) -> Facts:
    """What is known of the respondents, and differs between them."""
    differing = differing_columns(data.people) if isinstance(data, ChoiceExperiment) else ()
    return (("Respondent characteristics", listed(differing, _NAMED)),) if differing else ()


def _is_none(data: Any) -> np.ndarray:
    """Which of the products is the no-choice option."""
    if not data.scheme.none:
        return np.zeros(len(data.products), bool)
    return data.products[:, 0] == 0 if data.scheme.has_inside else (data.products < 0).all(axis=1)


def levels_shown(data: Any) -> "pandas.DataFrame":
    """How often each level, or group of levels, was shown, and chosen where it was shown."""
    import pandas as pd

    count = len(data.products)
    shown = np.bincount(data.row_product, minlength=count)
    chosen = np.bincount(data.row_product[data.first_row[:-1] + data.chosen], minlength=count)
    rows = []
    for column, (name, (groups, of_level)) in enumerate(data.scheme.groups.items()):
        if name == INSIDE and data.scheme.has_inside:
            continue
        group = np.append(of_level, -1)[data.products[:, column]]
        for place, label in enumerate(groups):
            own = group == place
            times = int(shown[own].sum())
            rows.append((name, label, times, chosen[own].sum() / times if times else np.nan))
    return pd.DataFrame(rows, columns=["attribute", "level", "times_shown", "chosen_where_shown"])
