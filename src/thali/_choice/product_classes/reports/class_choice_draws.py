"""`Chooser` of product classes, by which market reports simulate choices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from thali.errors import Argument, ArgumentError

from ...reports.choice_draws import (
    AS_FITTED,
    ChoiceRule,
    Chooser,
    LevelEffects,
    between_chain_error,
    select_draws,
)
from ...reports.level_effects import select_products
from ..ragged_draws import Particles, concatenate_draws
from ..samplers.stored_draws import slice_draws

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._inference.random_seeds import RandomSeed

    from ...reports.people_weights import PeopleWeights

# products over which utilities are averaged, as the value of a level depends on other attributes
_MAX_SAMPLE_PRODUCTS = 8


@dataclass
class ClassChooser(Chooser):
    """Respondents and the product classes that they own, in every draw."""

    demand_draws = 24  # with 4,000 occasions each

    draws: Particles
    data: "ExperimentDesign"
    people: "pandas.DataFrame | None"

    def __post_init__(self) -> None:
        self.chain = self.draws.group
        self.directions = self.draws.monotone

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        """Return level codes of products, NaN if missing, shape (products, attributes)."""
        codes = self.data.scheme.encode(table, self.data.respondents).products
        return np.where(codes < 0, np.nan, codes)

    def level_cells(self) -> list[np.ndarray]:
        """Return the codes of all levels of each attribute."""
        return [np.arange(float(len(levels))) for levels in self.data.scheme.levels.values()]

    def sample_products(self) -> np.ndarray:
        """Return codes of some products of the design."""
        codes = self.data.products[self.data.row_product]
        return select_products(self.data, np.where(codes < 0, np.nan, codes), _MAX_SAMPLE_PRODUCTS)

    def thin(self, max_draws: int) -> Self:
        """Return a chooser with at most this many draws, equally many per chain."""
        draw_indices = select_draws(self.chain, max_draws)
        if len(draw_indices) == len(self.chain):
            return self
        thinned_draws = concatenate_draws(
            [slice_draws(self.draws, d, d + 1) for d in draw_indices.tolist()]
        )
        return type(self)(thinned_draws, self.data, self.people)

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: "RandomSeed",
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        """Return the shares of the products of each market in every draw."""
        from .choice_probabilities import simulate_share_draws

        if rule != AS_FITTED:
            raise ArgumentError(
                "In a model of product classes, respondents choose the product with the highest"
                " sum of values; it has no utilities for ",
                Argument("rule"),
                ", ",
                Argument("scale"),
                " or ",
                Argument("actual"),
                ". Remove these arguments, or fit a logit.",
            )
        return simulate_share_draws(
            self.draws,
            [_convert_to_codes(cells) for cells in markets],
            weights,
            cores,
            random_seed,
        )

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Yield sums of signed values per draw, shape (1, respondents, products).

        The transient share of a value is replaced by its mean (1 - σ) a.
        """
        from scipy import sparse

        draws = self.draws
        codes = _convert_to_codes(products)
        offset = self.draws.offset[:-1]
        is_present = codes >= 0
        level_columns = offset + np.maximum(codes, 0)
        n_people = draws.n_respondents
        for d in range(draws.n_draws):
            class_slice = slice(*draws.first_class[d : d + 2])
            member = draws.member[class_slice]
            active = draws.active[class_slice]
            is_in_class = np.logical_and.reduce(
                member[:, level_columns] & is_present | ~active[:, None], axis=2
            )
            owned_bounds = draws.first_owned[d * n_people : (d + 1) * n_people + 1]
            owned_slice = slice(owned_bounds[0], owned_bounds[-1])
            class_values = (
                np.exp(draws.owned_log_theta[owned_slice]) + (1.0 - draws.sigma[d]) * draws.a[d]
            )
            signed_values = np.where(
                draws.owned_sign[owned_slice] == 1, -class_values, class_values
            )
            ownership = sparse.csr_array(
                (signed_values, draws.owned_class[owned_slice], owned_bounds - owned_bounds[0]),
                (n_people, len(is_in_class)),
            )
            yield (ownership @ is_in_class.astype(float))[None]

    def effects(
        self,
        pairs: Sequence[tuple[int, int, int]],
        weights: "PeopleWeights",
        cores: int | None,
        random_seed: "RandomSeed",
    ) -> LevelEffects:
        """Return level effects of these pairs of levels."""
        from .level_effects import estimate_level_effects

        return estimate_level_effects(self.draws, self.data, pairs, weights, cores, random_seed)

    def importance(
        self, cores: int | None, random_seed: "RandomSeed"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return attribute importance per respondent, and errors of the means."""
        from .level_effects import estimate_attribute_importance

        return estimate_attribute_importance(self.draws, self.data, cores, random_seed)

    def errors(self, draws: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """Return Monte Carlo errors of means, from differences between chains."""
        return between_chain_error(draws, chain)


def _convert_to_codes(cells: np.ndarray) -> np.ndarray:
    """Return cells as level codes, -1 if missing."""
    return np.where(np.isnan(cells), -1, cells).astype(np.int64)
