"""The choices of people who own classes, as the answers about markets ask for them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali.errors import Argument, ArgumentError

from ...answers.chooser import (
    AS_FITTED,
    ChoiceRule,
    Chooser,
    Effects,
    error_between_chains,
    thinned,
)
from ...answers.effects import some_products
from ..engines.fit import slice_draws
from ..particles import Particles, concatenate_draws

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.design import ExperimentDesign

# products over which utilities are averaged, as the value of a level hangs on the other attributes
_MAX_EXAMPLES = 8


class ClassChooser(Chooser):
    """People and the classes that they own."""

    search_draws = 24  # with 4,000 occasions each

    draws: Particles
    data: "ExperimentDesign"
    people: "pandas.DataFrame | None"
    chain: np.ndarray
    directions: np.ndarray

    def __init__(
        self, draws: "Particles", design: "ExperimentDesign", people: "pandas.DataFrame | None"
    ) -> None:
        self.draws, self.data, self.people = draws, design, people
        self.chain, self.directions = draws.group, draws.monotone

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        codes = self.data.scheme.encode(table, self.data.respondents).products
        return np.where(codes < 0, np.nan, codes)

    def level_cells(self) -> list[np.ndarray]:
        return [np.arange(float(len(levels))) for levels in self.data.scheme.levels.values()]

    def examples(self) -> np.ndarray:
        codes = self.data.products[self.data.row_product]
        return some_products(self.data, np.where(codes < 0, np.nan, codes), _MAX_EXAMPLES)

    def thinned(self, most: int) -> Self:
        kept = thinned(self.chain, most)
        if len(kept) == len(self.chain):
            return self
        some = concatenate_draws([slice_draws(self.draws, d, d + 1) for d in kept.tolist()])
        return type(self)(some, self.data, self.people)

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: Any,
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        from .predict import share_draws

        if rule is not AS_FITTED:
            raise ArgumentError(
                "In a model of product classes respondents choose the product with the highest sum"
                " of values; it has no utilities for ",
                Argument("rule"),
                ", ",
                Argument("scale"),
                " or ",
                Argument("actual"),
                ". Remove these arguments, or fit a logit.",
            )
        return share_draws(
            self.draws, [_codes(cells) for cells in markets], weights, cores, random_seed
        )

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Sums of signed values, of which the part that passes has its mean (1 - σ) a."""
        from scipy import sparse

        draws, codes, offset = self.draws, _codes(products), self.draws.offset[:-1]
        present, column = codes >= 0, offset + np.maximum(codes, 0)
        people = draws.n_respondents
        for d in range(draws.n_draws):
            classes = slice(*draws.first_class[d : d + 2])
            member, active = draws.member[classes], draws.active[classes]
            held = np.logical_and.reduce(member[:, column] & present | ~active[:, None], axis=2)
            ends = draws.first_owned[d * people : (d + 1) * people + 1]
            own = slice(ends[0], ends[-1])
            value = np.exp(draws.owned_log_theta[own]) + (1.0 - draws.sigma[d]) * draws.a[d]
            signed = np.where(draws.owned_sign[own] == 1, -value, value)
            owns = sparse.csr_array(
                (signed, draws.owned_class[own], ends - ends[0]), (people, len(held))
            )
            yield (owns @ held.astype(float))[None]

    def effects(
        self, pairs: Sequence[tuple[int, int, int]], cores: int | None, random_seed: Any
    ) -> Effects:
        from .effects import level_effects

        return level_effects(self.draws, self.data, pairs, cores, random_seed)

    def importance(self, cores: int | None, random_seed: Any) -> tuple[np.ndarray, np.ndarray]:
        from .effects import attribute_importance

        return attribute_importance(self.draws, self.data, cores, random_seed)

    def errors(self, values: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return error_between_chains(values, chain)


def _codes(cells: np.ndarray) -> np.ndarray:
    """Level numbers; -1: missing."""
    return np.where(np.isnan(cells), -1, cells).astype(np.int64)
