"""Which lines of products reach most people."""

from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label
from thali._people.reach import draws_held, reach_table
from thali.errors import Argument, ArgumentError, DataWarning

from .chooser import Chooser, refuse_same_tastes, softmax
from .market import NEW, market_of, respondents_of

if TYPE_CHECKING:
    import pandas


def reach(
    chooser: Chooser,
    products: "pandas.DataFrame",
    size: Any,
    top: Any,
    people: Any,
    random_seed: Any,
    ci: float,
) -> "pandas.DataFrame":
    """The lines that reach most respondents, the best first."""
    refuse_same_tastes(chooser)
    if isinstance(people, str) and people == NEW:
        raise ArgumentError(
            Argument("people"),
            " must be 'respondents' for reach, because its intervals are for the population; got"
            " 'new'.",
        )
    market = market_of(chooser.data.scheme, products)
    cells = chooser.cells(market.table)
    asked = respondents_of(chooser, people)
    nothing = np.zeros(len(cells), bool)
    if chooser.data.scheme.has_inside:
        nothing = cells[:, 0] == 0
        if not nothing.any():
            warn(
                DataWarning(
                    "Respondents were offered a no-choice option, but the market has no row for"
                    " it. A product therefore counts as reaching every respondent who would choose"
                    " it more often than by chance, even those who would rather buy nothing. Add a"
                    " no-choice row."
                )
            )
    fewer = chooser.thinned(len(draws_held(len(chooser.chain), int(asked.sum()), len(cells))))
    found = []
    for utility in fewer.utilities(cells):
        own = utility[:, asked]
        if nothing.any():
            found.append(own[:, :, ~nothing] > own[:, :, nothing])
        else:
            found.append(softmax(own) > 1.0 / len(cells))
    truths = np.concatenate(found)
    if fewer.is_estimate:
        truths = truths[1:]
    labels = [as_label(label) for label in compress(market.labels, ~nothing)]
    return reach_table(truths, labels, size, top, random_seed, ci)
