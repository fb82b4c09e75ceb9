"""Simulated markets: the share of people who would choose each product, before and after a change."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import allocating
from thali.inference.numerics.decisions import poisson
from thali.inference.numerics.gamma_tails import log_gamma_draw
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from ..prior import draw_sign
from .choosing import (
    add_winners,
    draw_class,
    draw_values,
    fill_inside,
    holds,
    owned_by,
    room_for_known,
    separating,
    shape_of_passing,
)

if TYPE_CHECKING:
    from ..particles import Particles

_OCCASIONS = 4_000  # of all people in a draw: the noise of a share is below .008 then
_NEWCOMERS = 10  # for each respondent: their variance is a tenth of the sampling variance of the respondents


@allocating
def add_shares(
    rng: np.random.Generator,
    draws: Any,
    d: Any,
    weights: Any,
    codes: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to `total`, for each product of each market, how often it is chosen by all people in draw d, by weight.

    Market m offers the rows first_row[m], ..., first_row[m + 1] - 1 of `codes`; on an occasion a person's values are
    the same in all markets. People without weight are left out.
    """
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    rows = codes.shape[0]
    inside = np.empty((room, rows), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = shape_of_passing(draws, d)
    for person in range(people):
        if weights[person] == 0.0:
            continue
        begin, n, sign, log_theta = owned_by(draws, d, person)
        fill_inside(draws, d, begin, n, codes, rows, inside)
        matter = separating(inside, n, 0, rows, chosen)
        for _ in range(repeats):
            draw_values(rng, log_theta, shape, chosen, matter, log_value)
            for m in range(first_row.shape[0] - 1):
                first, last = first_row[m], first_row[m + 1]
                add_winners(inside, sign, chosen, matter, log_value, value, first, last, weights[person], total)


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
    weights: np.ndarray | None,
    cores: int | None = None,
    random_seed: Any = 0,
) -> list[np.ndarray]:
    """Shares of the products of several markets in every draw, by the weights of respondents; None: of new people."""
    codes = np.ascontiguousarray(np.concatenate(markets), np.int64)
    first_row = np.concatenate([[0], np.cumsum([len(market) for market in markets])]).astype(np.int64)
    rngs = streams(random_seed, draws.n_draws)
    total = np.zeros((draws.n_draws, len(codes)))
    newcomers = max(_OCCASIONS, _NEWCOMERS * draws.n_respondents)
    repeats = 1 if weights is None else max(1, -(-_OCCASIONS // np.count_nonzero(weights)))
    room = room_for_newcomers(draws, newcomers) if weights is None else room_for_known(draws)

    def work(d: int) -> None:
        if weights is None:
            add_population(rngs[d], draws, d, newcomers, codes, first_row, room, total[d])
        else:
            add_shares(rngs[d], draws, d, weights, codes, first_row, repeats, room, total[d])

    in_threads(work, draws.n_draws, cores)
    total /= newcomers if weights is None else weights.sum() * repeats
    alternatives = np.repeat(np.diff(first_row), np.diff(first_row))
    total = (1.0 - draws.lapse) * total + draws.lapse / alternatives
    return np.split(total, first_row[1:-1], axis=1)
