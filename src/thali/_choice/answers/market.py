"""Whom a market asks and what it offers: tables of products with their changes; respondents with
their weights."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.roles import NO_CHOICE, simplify_name
from thali._inference.seeds import build_seed_sequence, spawn_generators
from thali._inference.warn import warn
from thali._labels import as_label, as_labelled, plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, DataWarning

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.scheme import Scheme

    from .chooser import Chooser

_NAMES = ("product", "products", "name", "label")
SCENARIO = "scenario"
_LINE = "line"  # of a file, where the index of a table has the number of each row
_FIGURES = [
    f"{name}{end}"
    for name in ("share", "before", "change", "profit")
    for end in ("", "_low", "_high")
]
# columns of the markets that the page of a report saves
_SAVED = {*_FIGURES, "respondents", "respondents_before"}


class Market(NamedTuple):
    """Products that are offered together."""

    scenario: str | None
    labels: list[str]
    table: "pandas.DataFrame"


def as_saved(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table of a file whose index has its lines, as of a page that saved it: without
    apostrophes before signs but those that attributes and levels have."""
    levels = scheme.levels

    def bare(text: Any, known: Sequence[str]) -> Any:
        return as_labelled(text) if isinstance(text, str) and text not in known else text

    frame = frame.set_axis([bare(name, scheme.names) for name in frame.columns], axis=1)
    found: Any = frame.apply(
        lambda cells: cells.map(lambda cell: bare(cell, levels.get(cells.name, ())))
    )
    return found.rename_axis(_LINE)


def markets_of(scheme: "Scheme", products: Any) -> list[Market]:
    """The markets of a table: one, or one for each value of its column "scenario"."""
    if not (hasattr(products, "columns") and hasattr(products, "index")):
        raise DataError(
            "`products` must be a data frame with one row per product and one column per"
            f" attribute; got {type(products).__name__}."
        )
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    if SCENARIO not in frame.columns or SCENARIO in scheme.names:
        return [_market(scheme, frame, None)]
    names = np.array([as_label(value) for value in frame[SCENARIO]], dtype=object)
    if (names == "").any():
        raise DataError(
            f"Column {SCENARIO!r} is empty in row {frame.index[int((names == '').argmax())]}; fill"
            " it in."
        )
    numbered = type(frame.index).__name__ == "RangeIndex" and frame.index.name != _LINE
    parts = {
        str(name): frame.loc[names == name].drop(columns=SCENARIO) for name in dict.fromkeys(names)
    }
    return [
        _market(scheme, part.reset_index(drop=True) if numbered else part, name)
        for name, part in parts.items()
    ]


def market_of(scheme: "Scheme", products: Any) -> Market:
    """The only market of a table."""
    found = markets_of(scheme, products)
    if len(found) > 1:
        raise DataError(f"The table has {len(found)} scenarios; give the products of one scenario.")
    return found[0]


def competitors_of(scheme: "Scheme", products: Any) -> "pandas.DataFrame":
    """The products that others offer: one or more."""
    if not (hasattr(products, "columns") and hasattr(products, "index")) or not len(products):
        raise DataError(
            "`competitors` must be a data frame with one row per competing product, including the"
            f" no-choice option, and one column per attribute; got {type(products).__name__}."
        )
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    return _with_none(scheme, _of_market(scheme, frame))


def _of_market(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table without columns of tasks; warns of those that are no attribute and name nothing."""
    columns = (scheme.respondent, scheme.task, scheme.chosen)
    of_tasks = [name for name in columns if name in frame.columns and name not in scheme.names]
    of_none = [name for name, _ in scheme.none]
    known = {*scheme.names, *_NAMES, SCENARIO, scheme.alternative, *of_tasks, *of_none, *_SAVED}
    if idle := [name for name in frame.columns if name not in known]:
        warn(
            DataWarning(
                "The product table has columns that are not attributes of the data and were"
                f" ignored: {shorten(idle, 12)}."
            )
        )
    return frame.drop(columns=of_tasks)


def _market(scheme: "Scheme", frame: "pandas.DataFrame", scenario: str | None) -> Market:
    """The table of products, and a label for each of them."""
    frame = _of_market(scheme, frame)
    where = "the table" if scenario is None else f"scenario {scenario!r}"
    if len(frame) < 2:
        raise DataError(f"A market requires at least two products; {where} has {len(frame)}.")
    labels = _labels(scheme, frame)
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise DataError(f"Products must have unique names; two are called {label!r}.")
    return Market(scenario, labels, _with_none(scheme, frame))


def _with_none(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table in which a row whose attributes are empty or called none is the no-choice option,
    unless marked."""
    absent = [
        (name, label)
        for name, label in scheme.none
        if name not in frame.columns and name not in scheme.names
    ]
    own = [attribute.name for attribute in scheme.attributes if attribute.name in frame.columns]
    if not absent or len(absent) < len(scheme.none) or not own:
        return frame
    empty = np.all(
        [
            [_is_nothing(as_label(value), scheme.levels[name]) for value in frame[name]]
            for name in own
        ],
        axis=0,
    )
    if not empty.any():
        return frame
    rows = [str(number) for number in range(len(frame))]
    return frame.assign(
        **{
            name: [
                label if is_none else "0" if label == "1" else f"product {row}"
                for is_none, row in pairs
            ]
            for (name, label), pairs in (
                (each, list(zip(empty, rows, strict=True))) for each in absent
            )
        }
    )


def _is_nothing(label: str, levels: Sequence[str]) -> bool:
    """Whether a cell of an attribute with these levels holds none of them, by its own word."""
    return label == "" or (label not in levels and simplify_name(label) in NO_CHOICE)


def _labels(scheme: "Scheme", frame: "pandas.DataFrame") -> list[str]:
    """What the products are called."""
    columns = (*_NAMES, scheme.alternative)
    named = [name for name in columns if name in frame.columns and name not in scheme.names]
    if not named and scheme.alternative in frame.columns:
        named = [name for name in columns if name in frame.columns]
    if named:
        return [as_label(label) for label in frame[named[0]]]
    if type(frame.index).__name__ == "RangeIndex" or frame.index.name == _LINE:
        return [str(number + 1) for number in range(len(frame))]
    return [as_label(label) for label in frame.index]


def changed(market: Market, change: Any) -> Market:
    """The market with other levels: one for all products, one for each, or one for each product
    that is named."""
    if not isinstance(change, Mapping) or not change:
        raise ArgumentError(
            '`change` must map attributes to new values, such as {"price": {"A": 150}} or'
            f' {{"price": 150}}; got {change!r}.'
        )
    frame = market.table.copy()
    for name, wanted in change.items():
        if name not in frame.columns:
            raise ArgumentError(
                f"`change` contains {name!r}, which is not an attribute of the"
                f" products.{suggest(str(name), list(frame))}"
            )
        frame[name] = _values(str(name), wanted, frame[name].astype(object).tolist(), market.labels)
    return market._replace(table=frame)


def _values(name: str, wanted: Any, values: list[Any], labels: Sequence[str]) -> list[Any]:
    """The levels of an attribute after a change."""
    if isinstance(wanted, Mapping):
        for label, value in wanted.items():
            values[place_of(as_label(label), labels, "change")] = value
        return values
    if isinstance(wanted, str) or not hasattr(wanted, "__len__"):
        return [wanted] * len(values)
    if len(wanted) != len(values):
        raise ArgumentError(
            f"`change`: {name!r} has {plural(len(wanted), 'level')} for"
            f" {plural(len(values), 'product')}; give one level per product."
        )
    return list(wanted)


def place_of(label: str, labels: Sequence[str], argument: str) -> int:
    """Which of the products has that name."""
    if label not in labels:
        raise ArgumentError(
            Argument(argument),
            f": there is no product {label!r}; the products are"
            f" {shorten(labels, 12)}.{suggest(label, labels)}",
        )
    return list(labels).index(label)


# Whose choices are asked for: the market that respondents represent, with weights; these
# respondents; or new people


NEW, RESPONDENTS = "new", "respondents"


class MarketWeights(NamedTuple):
    """Weights of the respondents, 0 for those who are not asked for, and whose shares they give;
    None: new people."""

    plain: np.ndarray | None  # (respondents,)
    drawn: np.ndarray | None  # the same, or (draws, respondents) of the market that they represent
    whose: str


def draw_market_weights(
    chooser: "Chooser", people: Any, respondent_weights: Any, random_seed: Any
) -> MarketWeights:
    """Draw the weights of respondents in their market by the Bayesian bootstrap; those of named
    ones are fixed."""
    plain = weights_of(chooser, people, respondent_weights)
    if plain is None:
        return MarketWeights(None, None, "among new respondents")
    counted = plural(int(np.count_nonzero(plain)), "respondent")
    is_query = isinstance(people, str) and people != RESPONDENTS
    if not (people is None or is_query or callable(people) or np.asarray(people).dtype == bool):
        return MarketWeights(plain, plain, f"of {counted}")
    drawn = plain
    if chooser.has_individuals:
        drawn = plain * draw_exponentials(len(chooser.chain), len(plain), random_seed)
        drawn[: chooser.is_estimate] = plain  # the estimate itself
    return MarketWeights(plain, drawn, f"in the market represented by {counted}")


def draw_exponentials(draws: int, respondents: int, random_seed: Any) -> np.ndarray:
    """Draw standard exponential numbers, shape (draws, respondents), in a stream that nothing else
    uses."""
    return spawn_generators(build_seed_sequence(random_seed).spawn(1)[0], 1)[
        0
    ].standard_exponential((draws, respondents))


def is_all(people: Any) -> bool:
    """Return whether all respondents are asked for."""
    return people is None or isinstance(people, str) and people == RESPONDENTS


def weights_of(chooser: "Chooser", people: Any, respondent_weights: Any) -> np.ndarray | None:
    """The weight of each respondent, 0 for those who are not asked for; None: new people."""
    if isinstance(people, str) and people == NEW:
        if respondent_weights is not None:
            raise ArgumentError(
                Argument("respondent_weights"),
                " does not apply to new respondents; remove ",
                Argument("respondent_weights"),
                ".",
            )
        return None
    weights = np.ones(len(chooser.data.respondents))
    if respondent_weights is not None:
        weights = _checked_weights(chooser, respondent_weights)
    weights = np.where(respondents_of(chooser, people), weights, 0.0)
    if not weights.any():
        raise ArgumentError(
            Argument("people"),
            " selects only respondents with weight 0; widen the filter or change the weights.",
        )
    if not chooser.has_individuals and not (is_all(people) and respondent_weights is None):
        warn(
            DataWarning(
                Argument("respondent_weights" if is_all(people) else "people"),
                " has no effect, because all respondents have the same tastes in this model; fit"
                " the tasks of these respondents separately, or use a hierarchical logit or latent"
                " classes.",
            )
        )
    return weights


def respondents_of(chooser: "Chooser", people: Any) -> np.ndarray:
    """Whether each respondent is asked for; None, "respondents": all are."""
    if is_all(people):
        return np.ones(len(chooser.data.respondents), bool)
    chosen = _chosen(chooser, people)
    if not chosen.any():
        raise ArgumentError(Argument("people"), " selects no respondents; widen the filter.")
    return chosen


def _checked_weights(chooser: "Chooser", given: Any) -> np.ndarray:
    respondents, name = chooser.data.respondents, Argument("respondent_weights")
    if isinstance(given, str):
        given = _column(chooser, given, name)
    if isinstance(given, Mapping) or hasattr(given, "index") and hasattr(given, "items"):
        named = {as_label(label): value for label, value in given.items()}
        absent = [label for label in respondents if label not in named]
        if absent:
            raise ArgumentError(
                name, f" lacks {shorten(absent)}; give one weight per respondent, 0 to exclude one."
            )
        given = [named[label] for label in respondents]
    try:
        weights = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, f" must be numbers, one per respondent; got {given!r}.") from None
    if weights.shape != (len(respondents),):
        count = weights.shape[0] if weights.ndim == 1 else weights.shape
        raise ArgumentError(
            name,
            f" must have one number per respondent ({plural(len(respondents), 'respondent')}); got"
            f" {count}.",
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
        raise ArgumentError(
            name,
            f" must be finite numbers >= 0; respondent {respondents[bad]!r} has {weights[bad]:g}.",
        )
    if not weights.any():
        raise ArgumentError(name, " are all 0; give at least one respondent a positive weight.")
    return weights


def _chosen(chooser: "Chooser", people: Any) -> np.ndarray:
    """Whether each respondent is asked for: by a query, a function of the table of people, a mask,
    or names."""
    respondents = chooser.data.respondents
    if isinstance(people, str):
        return _by_query(chooser, people)
    if isinstance(people, Callable):
        people = people(_table(chooser))
    mask = np.asarray(people)
    if mask.dtype == bool:
        if mask.shape != (len(respondents),):
            raise ArgumentError(
                Argument("people"),
                " must have one True or False per respondent"
                f" ({plural(len(respondents), 'respondent')}); got"
                f" {len(mask) if mask.ndim else 1}.",
            )
        return mask
    if mask.ndim != 1:
        raise ArgumentError(
            Argument("people"),
            " must be None, 'respondents', 'new', a query of respondent columns, a function of"
            f" their table, a list of True and False, or a list of respondents; got {people!r}.",
        )
    wanted = [as_label(label) for label in mask]
    known = set(respondents)
    for label in wanted:
        if label not in known:
            raise ArgumentError(
                Argument("people"),
                f": there is no respondent {label!r}.{suggest(label, respondents)}",
            )
    return np.isin(np.asarray(respondents, object), wanted)


def _by_query(chooser: "Chooser", query: str) -> np.ndarray:
    table = _table(chooser)
    try:
        found = np.asarray(table.eval(query))
    except Exception as error:  # pandas raises whatever Python does
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is not a valid condition on the respondent columns"
            f" ({shorten([*map(str, table.columns)]) or 'none'}): {error}. Write a condition such"
            " as 'age > 40', or 'new'.",
        ) from None
    if found.dtype != bool or found.shape != (len(table),):
        raise ArgumentError(
            Argument("people"),
            f" is {query!r}, which is not True or False for each respondent; write a condition"
            " such as 'age > 40'.",
        )
    return found


def _table(chooser: "Chooser") -> "pandas.DataFrame":
    """What is known of people, a row a respondent."""
    import pandas

    if chooser.people is not None:
        return chooser.people
    return pandas.DataFrame(index=pandas.Index(chooser.data.respondents, name="respondent"))


def _column(chooser: "Chooser", name: str, argument: Argument) -> np.ndarray:
    table = _table(chooser)
    if name not in table.columns:
        columns = [*map(str, table.columns)]
        raise ArgumentError(
            argument,
            f" contains {name!r}, which is not a respondent column; available:"
            f" {shorten(columns) or 'none'}.{suggest(name, columns)}",
        )
    return table[name].to_numpy()
