"""How often everybody prefers each level to the others of its attribute, draw by draw, by simulation."""

from typing import TYPE_CHECKING

import numpy as np

from thali.inference.pieces import in_threads
from thali.inference.seeds import streams
from thali.people.segments import Preferences

from ...answers.chooser import thinned
from ...answers.segments import by_levels, draws_kept, pairs_of_levels
from .choosing import room_for_known
from .effects import add_effects

if TYPE_CHECKING:
    from thali.data.experiments.design import Design

    from ..particles import Particles

_PREFERENCE_OCCASIONS = 30  # of a person in a draw, whose error is .09 at most
_SEED = 0


def preferences_of(draws: "Particles", design: "Design", cores: int | None = None) -> Preferences:
    """Preferences of the respondents at some draws, equally many of each chain."""
    sizes = [len(levels) for levels in design.scheme.levels.values()]
    pairs = pairs_of_levels(sizes)
    attribute, first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    of_attribute = np.searchsorted(attribute, np.arange(len(sizes) + 1)).astype(np.int64)
    kept = thinned(draws.group, len(draws_kept(draws.n_draws, draws.n_respondents, sum(sizes))))
    rngs, room = streams(_SEED, len(kept)), room_for_known(draws)
    values = np.zeros((len(kept), draws.n_respondents, sum(sizes)))

    def work(place: int) -> None:
        own = np.zeros((draws.n_respondents, len(pairs)), np.int64)
        parts = (design.products, design.row_product, design.inside, first, second, of_attribute)
        add_effects(rngs[place], draws, int(kept[place]), *parts, _PREFERENCE_OCCASIONS, room, own)
        values[place] = by_levels(own.T / (2.0 * _PREFERENCE_OCCASIONS), sizes, own.shape[:1])

    in_threads(work, len(kept), cores)
    named = tuple((name, level) for name, levels in design.scheme.levels.items() for level in levels)
    return Preferences(named, values, tuple(design.respondents))
