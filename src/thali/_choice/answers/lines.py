"""Which lines of products reach most people."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label
from thali._people.reach import draws_held, reach_table
from thali.errors import Argument, ArgumentError, DataWarning

from .chooser import Chooser, softmax
from .market import NEW, market_of, respondents_of

if TYPE_CHECKING:
    import pandas


def reach(
    chooser: Chooser, products: "pandas.DataFrame", size: Any, top: Any, people: Any, random_seed: Any
) -> "pandas.DataFrame":
    """The lines that reach most respondents, the best first."""
    if not chooser.has_individuals:
        raise ArgumentError(
            "Everybody has the same tastes in this model, so that a line reaches all or nobody; fit a hierarchical "
            "logit, or classes of people."
        )
    if isinstance(people, str) and people == NEW:
        raise ArgumentError(
            Argument("people"), " must be among the respondents for a reach, whose intervals are of the population."
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
                    "People could choose none of the products, and the market has no row for that: a product now "
                    "reaches whoever would choose it out of all of them more often than by chance. Add the row."
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
    labels = [as_label(label) for label, is_none in zip(market.labels, nothing, strict=True) if not is_none]
    return reach_table(truths, labels, size, top, random_seed)
