"""Market simulator's draws of product classes: classes with values from a shared table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._inference.array_dict_encoding import encode_base64, shrink_integers
from thali._inference.index_arithmetic import part_bounds, part_slice, repeat_indices
from thali._inference.numerics.weight_shares import compute_shares
from thali._people.respondent_columns import describe_respondents

from ...reports.choice_draws import select_draws
from ...reports.market_simulator import (
    MarketDraws,
    Product,
    assign_respondents,
    build_market_attributes,
    build_no_choice_product,
    describe_draws,
    hash_exponentials,
    list_first_products,
    mix_bits,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.fitted_design import ExperimentDesign

    from ..ragged_draws import Particles

MIN_DRAWS = 40
MAX_DRAWS = 200
MAX_OWNED = 150_000  # owned classes over all draws: two or three bytes each
OCCASIONS = 2_000  # of all people in a draw: the noise of a share is below .011 then
_N_TRANSIENT = 128  # transient values to choose from in each draw; a power of 2


class ClassChoiceRule(NamedTuple):
    """Classes of P respondents in D draws, compressed for a page's market simulator.

    On occasion r the o-th owned class of all draws has the value values[lasting[o]] +
    values[passing[d, h(R o + r)]], where h is a hash with even values and R is the number of
    occasions.
    """

    sizes: tuple[int, ...]  # levels of each attribute
    first_class: np.ndarray  # (D + 1,)
    # (classes, sum of (levels + 1)) bool; the last of an attribute: it is missing
    member: np.ndarray
    counts: np.ndarray  # (D, P) classes that a person owns
    # (owned,) number of the class within its draw, times 2, and 1 more if it is disliked
    owned: np.ndarray
    lasting: np.ndarray  # (owned,) uint8
    passing: np.ndarray  # (D, _ROWS) uint8
    values: np.ndarray  # (256,) float32
    occasions: int
    respondents: int

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Return shares of every market's products without lapses, (draws, products) each."""
        n_draws, n_people = self.counts.shape
        market_weights = hash_exponentials(n_draws, self.respondents)
        if weights is not None:
            market_weights = market_weights * weights
        market_weights = np.take_along_axis(
            market_weights, assign_respondents(n_draws, n_people, self.respondents), axis=1
        )
        level_columns = [self._find_level_columns(market) for market in markets]
        share_arrays = [np.empty((n_draws, len(market))) for market in markets]
        owned_bounds = part_bounds(self.counts.sum(axis=1))
        for d in range(n_draws):
            member = self.member[part_slice(self.first_class, d)]
            class_values = self._compute_class_values(
                d, int(owned_bounds[d]), int(owned_bounds[d + 1])
            )
            owned = self.owned[part_slice(owned_bounds, d)]
            for market_columns, market_shares in zip(level_columns, share_arrays, strict=True):
                inside = np.logical_and.reduce(member[:, market_columns], axis=2)
                market_shares[d] = self._count_wins(
                    inside, owned, class_values, self.counts[d], market_weights[d]
                )
        return share_arrays

    def distinguish_products(self, n_products: int) -> Self:
        """Return a rule for products that carry their number in a last entry.

        Every class contains any number.
        """
        all_members = np.ones((len(self.member), n_products + 1), bool)
        return self._replace(
            sizes=(*self.sizes, n_products), member=np.hstack([self.member, all_members])
        )

    def _find_level_columns(self, market: Sequence[Product]) -> np.ndarray:
        """Return where each product's levels are in `member`, (products, attributes)."""
        first_column = part_bounds(np.add(self.sizes, 1))[:-1]
        level_codes = [
            [size if level is None else level for size, level in zip(self.sizes, p, strict=True)]
            for p in market
        ]
        return first_column + np.array(level_codes, np.int64)

    def _compute_class_values(self, d: int, begin: int, end: int) -> np.ndarray:
        """Return values of classes owned in draw d, shape (owned classes, occasions)."""
        value_table = self.values.astype(np.float64)
        value_numbers = np.arange(begin * self.occasions, end * self.occasions, dtype=np.uint32)
        table_indices = (mix_bits(value_numbers) >> np.uint32(25)).reshape(-1, self.occasions)
        return (
            value_table[self.lasting[begin:end]][:, None]
            + value_table[self.passing[d][table_indices]]
        )

    def _count_wins(
        self,
        inside: np.ndarray,
        owned: np.ndarray,
        values: np.ndarray,
        counts: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """Return how often each product wins, by weight, over people and occasions."""
        is_dividing = np.logical_or.reduce(inside, axis=1) & ~np.logical_and.reduce(inside, axis=1)
        is_used = is_dividing[owned >> 1]
        signed_values = np.where(owned & 1, -1.0, 1.0)[is_used, None] * values[is_used]
        inside = inside[owned[is_used] >> 1]
        n_cases = len(counts) * self.occasions
        person_of_class = repeat_indices(counts)[is_used]
        case_of_value = (
            person_of_class[:, None] * self.occasions + np.arange(self.occasions)
        ).ravel()
        utility = np.stack(
            [
                # adds in the order given
                np.bincount(
                    case_of_value, (signed_values * is_inside[:, None]).ravel(), minlength=n_cases
                )
                for is_inside in inside.T
            ],
            axis=1,
        )
        is_best = utility == utility.max(axis=1, keepdims=True)
        case_weights = np.repeat(weights, self.occasions)
        with np.errstate(invalid="ignore"):
            return case_weights @ compute_shares(is_best) / case_weights.sum()

    def pack(self) -> dict[str, Any]:
        """Return the classes and values for JSON."""
        return {
            "name": "best",
            "sizes": list(self.sizes),
            "classes": encode_base64(shrink_integers(np.diff(self.first_class))),
            "member": encode_base64(np.packbits(self.member, axis=1, bitorder="little")),
            "people": int(self.counts.shape[1]),
            "respondents": self.respondents,
            "counts": encode_base64(shrink_integers(self.counts)),
            "owned": encode_base64(shrink_integers(self.owned)),
            "lasting": encode_base64(self.lasting),
            "passing": encode_base64(self.passing),
            "values": encode_base64(self.values),
            "occasions": self.occasions,
        }


def build_market_draws(
    draws: "Particles", design: "ExperimentDesign", people: "pandas.DataFrame | None"
) -> MarketDraws:
    """Build the market simulator's draws from evenly spaced posterior draws.

    With many respondents, fewer draws contain some respondents each.
    """
    classes_per_respondent = len(draws.owned_class) / draws.n_draws / draws.n_respondents
    max_draws = MAX_OWNED / max(classes_per_respondent, 1e-9) / draws.n_respondents
    draw_indices = select_draws(draws.group, int(np.clip(max_draws, MIN_DRAWS, MAX_DRAWS)))
    max_respondents = int(MAX_OWNED / max(classes_per_respondent, 1e-9) / len(draw_indices))
    n_respondents = min(draws.n_respondents, max(1, max_respondents))
    return MarketDraws(
        build_market_attributes(design, design.scheme.levels, [False] * len(design.scheme.names)),
        _build_rule(draws, draw_indices, n_respondents),
        float(draws.lapse),
        build_no_choice_product(design),
        list_first_products(design),
        describe_draws(len(draw_indices), n_respondents, draws.n_respondents),
        people=describe_respondents(people, draws.n_respondents),
    )


def _build_rule(
    draws: "Particles", draw_indices: np.ndarray, people_per_draw: int
) -> ClassChoiceRule:
    """Return the compressed classes of `people_per_draw` respondents in each of these draws."""
    n_respondents = draws.n_respondents
    owner_indices = (
        draw_indices[:, None] * n_respondents
        + assign_respondents(len(draw_indices), people_per_draw, n_respondents)
    ).ravel()
    n_owned = draws.first_owned[owner_indices + 1] - draws.first_owned[owner_indices]
    owned_indices = np.repeat(draws.first_owned[owner_indices] - part_bounds(n_owned)[:-1], n_owned)
    owned_indices += np.arange(len(owned_indices))
    classes_by_draw = [np.arange(*draws.first_class[[d, d + 1]].tolist()) for d in draw_indices]
    recorded_classes = np.concatenate(classes_by_draw)
    n_levels = np.diff(draws.offset)
    level_cells = np.insert(
        draws.member[recorded_classes], draws.offset[1:], ~draws.active[recorded_classes], axis=1
    )
    log_theta = draws.owned_log_theta[owned_indices]
    log_transient = log_transient_values(((1.0 - draws.sigma) * draws.a)[draw_indices])
    value_table = build_value_table(np.concatenate([log_theta, log_transient.ravel()]))
    return ClassChoiceRule(
        tuple(n_levels.tolist()),
        part_bounds([len(class_indices) for class_indices in classes_by_draw]),
        level_cells,
        n_owned.reshape(len(draw_indices), people_per_draw),
        2 * draws.owned_class[owned_indices] + draws.owned_sign[owned_indices],
        encode_values(value_table, log_theta),
        encode_values(value_table, log_transient),
        value_table,
        max(1, -(-OCCASIONS // people_per_draw)),
        n_respondents,
    )


def build_value_table(log_values: np.ndarray) -> np.ndarray:
    """Return 256 values at equal ratios up to the largest value.

    Values below 1e-4 of the largest are rounded up to the smallest.
    """
    largest_log_value = float(log_values.max())
    return np.exp(
        np.linspace(largest_log_value - 4.0 * np.log(10.0), largest_log_value, 256)
    ).astype(np.float32)


def encode_values(table: np.ndarray, log_values: np.ndarray) -> np.ndarray:
    """Return the index of the nearest table value, by ratio, for each log value."""
    low = np.log(table[0].astype(float))
    high = np.log(table[-1].astype(float))
    return np.clip(np.rint((log_values - low) * 255 / (high - low)), 0, 255).astype(np.uint8)


def log_transient_values(shapes: np.ndarray) -> np.ndarray:
    """Return log quantiles of Gamma(shape, 1), one row per shape."""
    from scipy.special import gammaincinv

    with np.errstate(divide="ignore"):
        return np.log(gammaincinv(shapes[:, None], (np.arange(_N_TRANSIENT) + 0.5) / _N_TRANSIENT))
