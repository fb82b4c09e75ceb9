"""Simulated markets: the share of people who would choose each product, before and after a change."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._jit import allocating
from thali._labels import as_label, plural, suggest
from thali.errors import ArgumentError, DataError
from thali.inference.numerics.decisions import poisson
from thali.inference.numerics.gamma_tails import log_gamma_draw
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from ..prior import draw_sign
from .choosing import add_winners, draw_values, holds, separating
from .class_table import standard_error
from .holdings import fill_inside, owned_by, room_for_known, shape_of_passing
from .new_respondents import draw_class

if TYPE_CHECKING:
    import pandas

    from ..design import Design
    from ..particles import Particles

_OCCASIONS = 4_000  # of all people in a draw: the noise of a share is below .008 then
_NEWCOMERS = 10  # for each respondent: their variance is a tenth of the sampling variance of the respondents
_NAMES = ("product", "products", "name", "label")


@allocating
def add_shares(
    rng: np.random.Generator, draws: Any, d: Any, codes: Any, first_row: Any, repeats: Any, room: Any, total: Any
) -> None:
    """Add to `total`, for each product of each market, how often it is chosen by all people in draw d.

    Market m offers the rows first_row[m], ..., first_row[m + 1] - 1 of `codes`; on an occasion a person's values are
    the same in all markets.
    """
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    rows = codes.shape[0]
    inside = np.empty((room, rows), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = shape_of_passing(draws, d)
    for person in range(people):
        begin, n, sign, log_theta = owned_by(draws, d, person)
        fill_inside(draws, d, begin, n, codes, rows, inside)
        matter = separating(inside, n, 0, rows, chosen)
        for _ in range(repeats):
            draw_values(rng, log_theta, shape, chosen, matter, log_value)
            for m in range(first_row.shape[0] - 1):
                add_winners(inside, sign, chosen, matter, log_value, value, first_row[m], first_row[m + 1], 1.0, total)


@allocating
def add_population(
    rng: np.random.Generator, draws: Any, d: Any, newcomers: Any, codes: Any, first_row: Any, room: Any, total: Any
) -> None:
    """As `add_shares`, for new people who join those of draw d one after the other, one occasion each.

    Each draws from the prior given everybody before; the more of them there are, the closer their shares are to those
    of one population that the people of the data are a sample of.
    """
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    first, rows = draws.first_class[d], codes.shape[0]
    n_classes = draws.first_class[d + 1] - first
    owners, negative = np.empty(room, np.int64), np.empty(room, np.int64)
    polarity, held = np.empty(room, np.int64), np.empty((room, rows), np.bool_)
    for c in range(n_classes):
        owners[c], negative[c] = draws.n_owners[first + c], draws.n_negative[first + c]
        polarity[c] = draws.polarity[first + c]
        for row in range(rows):
            held[c, row] = holds(draws.active, draws.member, first + c, draws.offset, codes, row)
    inside = np.empty((room, rows), np.bool_)
    chosen, order = np.empty(room, np.int64), np.empty(draws.monotone.shape[0], np.int64)
    sign, log_theta = np.empty(room, np.int8), np.empty(room)
    log_value, value = np.empty(room), np.empty(room)
    active = np.empty((1, draws.monotone.shape[0]), np.bool_)
    member = np.empty((1, draws.member.shape[1]), np.bool_)
    lasting, passing = draws.sigma[d] * draws.a[d], shape_of_passing(draws, d)
    for present in range(people, people + newcomers):
        own = poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + present))
        for c in range(n_classes, min(n_classes + own, room)):
            polarity[c] = draw_class(rng, draws.offset, draws.monotone, order, active, member, 0)
            owners[c], negative[c] = 0, 0
            for row in range(rows):
                held[c, row] = holds(active, member, 0, draws.offset, codes, row)
        n, others = 0, n_classes
        n_classes = min(n_classes + own, room)
        for c in range(n_classes):
            if c < others and rng.random() * (draws.beta + present) >= owners[c]:
                continue
            sign[n] = draw_sign(rng, polarity[c], owners[c], negative[c])
            owners[c] += 1
            negative[c] += sign[n]
            log_theta[n] = log_gamma_draw(rng, lasting)
            for row in range(rows):
                inside[n, row] = held[c, row]
            n += 1
        matter = separating(inside, n, 0, rows, chosen)
        draw_values(rng, log_theta, passing, chosen, matter, log_value)
        for m in range(first_row.shape[0] - 1):
            add_winners(inside, sign, chosen, matter, log_value, value, first_row[m], first_row[m + 1], 1.0, total)


def room_for_newcomers(draws: "Particles", newcomers: int) -> int:
    """An upper bound on the classes after this many people joined: all existing classes, and a bound on new ones."""
    present = draws.beta + draws.n_respondents
    harmonic = 1.0 / present + math.log1p(newcomers / present)  # above the sum of 1 / (present + i), i < newcomers
    mean = float(draws.alpha.max(initial=0.0)) * draws.beta * harmonic
    most = int((draws.first_class[1:] - draws.first_class[:-1]).max(initial=0))
    return most + int(mean + 20.0 * math.sqrt(mean)) + 64


def share_draws(
    draws: "Particles",
    markets: list[np.ndarray],
    *,
    new: bool = False,
    cores: int | None = None,
    random_seed: Any = 0,
) -> list[np.ndarray]:
    """Shares of the products of several markets in every draw."""
    codes = np.ascontiguousarray(np.concatenate(markets), np.int64)
    first_row = np.concatenate([[0], np.cumsum([len(market) for market in markets])]).astype(np.int64)
    rngs = streams(random_seed, draws.n_draws)
    total = np.zeros((draws.n_draws, len(codes)))
    newcomers = max(_OCCASIONS, _NEWCOMERS * draws.n_respondents)
    repeats = max(1, -(-_OCCASIONS // draws.n_respondents))
    room = room_for_newcomers(draws, newcomers) if new else room_for_known(draws)

    def work(d: int) -> None:
        if new:
            add_population(rngs[d], draws, d, newcomers, codes, first_row, room, total[d])
        else:
            add_shares(rngs[d], draws, d, codes, first_row, repeats, room, total[d])

    in_threads(work, draws.n_draws, cores)
    total /= newcomers if new else draws.n_respondents * repeats
    alternatives = np.repeat(np.diff(first_row), np.diff(first_row))
    total = (1.0 - draws.lapse) * total + draws.lapse / alternatives
    return np.split(total, first_row[1:-1], axis=1)


def market_shares(
    draws: "Particles",
    design: "Design",
    products: "pandas.DataFrame",
    change: Mapping[str, Any] | None = None,
    *,
    each_draw: bool = False,
    new: bool = False,
    cores: int | None = None,
    random_seed: Any = 0,
) -> "pandas.DataFrame":
    """Posterior of the share of every product, and of its change.

    Parameters and result are those of `ProductClasses.market_shares`.
    """
    import pandas as pd

    from thali._tables import Table

    frame, labels = named_market(design, products)
    markets = [codes_of(design, frame)]
    if change is not None:
        markets.append(codes_of(design, _changed(frame, labels, change)))
    found = share_draws(draws, markets, new=new, cores=cores, random_seed=random_seed)
    named = {"share": found[0]}
    if change is not None:
        named |= {"after": found[1], "change": found[1] - found[0]}
    if each_draw:
        tables = {
            name: pd.DataFrame(values, columns=pd.Index(labels, name="product")) for name, values in named.items()
        }
        return pd.concat(tables, axis=1).rename_axis(index="draw")
    columns = {name: values.mean(axis=0) for name, values in named.items()}
    for name, values in named.items():
        columns |= _spread(name, values, draws.group)
    return Table(columns, index=pd.Index(labels, name="product"))


def _spread(name: str, values: np.ndarray, group: np.ndarray) -> dict[str, np.ndarray]:
    """The interval of a share, and the standard error of its mean."""
    from thali.posterior.interval import TAILS

    low, high = np.quantile(values, TAILS, axis=0)
    by_group = np.stack([values[group == g].mean(axis=0) for g in np.unique(group)], axis=-1)
    return {f"{name}_lb": low, f"{name}_ub": high, f"{name}_se": standard_error(by_group)}


def named_market(design: "Design", products: Any) -> tuple["pandas.DataFrame", list[str]]:
    """The table of products, and a label for each of them."""
    if not (hasattr(products, "columns") and hasattr(products, "index")):
        raise DataError(
            f"products must be a data frame with a row for each product and a column for each attribute; got "
            f"{type(products).__name__}."
        )
    scheme = design.scheme
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    drop = [name for name in (scheme.respondent, scheme.task, scheme.chosen) if name in frame.columns]
    frame = frame.drop(columns=[name for name in drop if name not in design.attributes])
    if len(frame) < 2:
        raise DataError(f"A market needs two products or more; the table has {len(frame)}.")
    named = [name for name in (*_NAMES, scheme.alternative) if name in frame.columns and name not in design.attributes]
    if named:
        labels = [as_label(label) for label in frame[named[0]]]
    elif type(products.index).__name__ == "RangeIndex":
        labels = [str(number + 1) for number in range(len(frame))]
    else:
        labels = [as_label(label) for label in frame.index]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise DataError(f"Products must have different names; two are called {label!r}.")
    return frame, labels


def codes_of(design: "Design", frame: "pandas.DataFrame") -> np.ndarray:
    """Level numbers of products, as the data have them."""
    return design.scheme.encode(frame, design.respondents).products


def _changed(frame: "pandas.DataFrame", labels: list[str], change: Any) -> "pandas.DataFrame":
    """The table with other levels: one for all products, one for each, or one for each product that is named."""
    if not isinstance(change, Mapping) or not change:
        raise ArgumentError(
            'change must say which attributes become what, such as {"price": {"A": 150}} or {"price": 150}; got '
            f"{change!r}."
        )
    frame = frame.copy()
    for name, wanted in change.items():
        if name not in frame.columns:
            raise ArgumentError(f"change: the products have no attribute {name!r}.{suggest(str(name), list(frame))}")
        values = frame[name].astype(object).tolist()
        if isinstance(wanted, Mapping):
            for label, value in wanted.items():
                if as_label(label) not in labels:
                    raise ArgumentError(
                        f"change: there is no product {as_label(label)!r}; there are {', '.join(labels)}."
                    )
                values[labels.index(as_label(label))] = value
        elif isinstance(wanted, str) or not hasattr(wanted, "__len__"):
            values = [wanted] * len(values)
        elif len(wanted) == len(values):
            values = list(wanted)
        else:
            raise ArgumentError(
                f"change: {name!r} has {plural(len(wanted), 'level')} for {plural(len(values), 'product')}; give one "
                "for each product."
            )
        frame[name] = values
    return frame
