"""TURF analysis: product lines that reach the most respondents."""

from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.numerics.weight_shares import softmax
from thali._inference.user_warnings import warn
from thali._people.turf_reach import select_reach_draws, tabulate_best_sets
from thali.errors import Argument, ArgumentError, DataWarning

from .choice_draws import Chooser, drop_estimate, refuse_same_tastes
from .market_tables import parse_single_market
from .people_weights import NEW, select_respondents

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


def tabulate_reach(
    chooser: Chooser,
    products: "pandas.DataFrame",
    size: int,
    top: int,
    people: Any,
    random_seed: "RandomSeed",
    ci: float,
) -> "pandas.DataFrame":
    """Tabulate the product lines that reach the most respondents, best first."""
    refuse_same_tastes(chooser)
    if isinstance(people, str) and people == NEW:
        raise ArgumentError(
            Argument("people"),
            " must be 'respondents' for reach, because its intervals are for the population; got"
            " 'new'.",
        )
    market = parse_single_market(chooser.data.scheme, products)
    cells = chooser.cells(market.table)
    is_selected = select_respondents(chooser, people)
    is_no_choice = np.zeros(len(cells), bool)
    if chooser.data.scheme.has_inside:
        is_no_choice = cells[:, 0] == 0
        if not is_no_choice.any():
            warn(
                DataWarning(
                    "Respondents were offered a no-choice option, but the market has no row for"
                    " it. A product therefore counts as reaching every respondent who would choose"
                    " it more often than by chance, even those who would rather buy nothing. Add a"
                    " no-choice row."
                )
            )
    thinned_chooser = chooser.thin(
        len(select_reach_draws(len(chooser.chain), int(is_selected.sum()), len(cells)))
    )
    reached_blocks = []
    for utility in thinned_chooser.utilities(cells):
        selected_utilities = utility[:, is_selected]
        if is_no_choice.any():
            reached_blocks.append(
                selected_utilities[:, :, ~is_no_choice] > selected_utilities[:, :, is_no_choice]
            )
        else:
            reached_blocks.append(softmax(selected_utilities) > 1.0 / len(cells))
    is_reached = drop_estimate(thinned_chooser, np.concatenate(reached_blocks))
    product_labels = list(compress(market.labels, ~is_no_choice))
    return tabulate_best_sets(is_reached, product_labels, size, top, random_seed, ci)
