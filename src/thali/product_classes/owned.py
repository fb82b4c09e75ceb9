"""What one person owns in one draw, as reports and predictions read it."""

from typing import TYPE_CHECKING

import numpy as np

from thali._jit import scalar
from thali.product_classes.choosing import holds

if TYPE_CHECKING:
    import pandas

    from thali.product_classes.particles import Particles
    from thali.product_classes.study import Study


@scalar
def owned_by(draws, d, person):
    """Of the classes that a person owns in draw d: place of the first in `owned_class`, number, signs, ln θ."""
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    begin, end = draws.first_owned[d * people + person], draws.first_owned[d * people + person + 1]
    return begin, end - begin, draws.owned_sign[begin:end], draws.owned_log_theta[begin:end]


@scalar
def fill_inside(draws, d, begin, n, codes, rows, inside):
    """Which of the first rows of `codes` belong to each of n owned classes, those from place `begin` on in draw d."""
    for o in range(n):
        c = draws.first_class[d] + draws.owned_class[begin + o]
        for row in range(rows):
            inside[o, row] = holds(draws.active, draws.member, c, draws.offset, codes, row)


@scalar
def shape_of_passing(draws, d):
    """Shape of the part of a value that lasts for one occasion."""
    return (1.0 - draws.sigma[d]) * draws.a[d]


def room_for_known(draws: "Particles") -> int:
    """More classes than anybody owns in any draw."""
    return int(np.diff(draws.first_owned).max(initial=0)) + 1


def table_of_people(study: "Study", values: np.ndarray, columns) -> "pandas.DataFrame":
    """One row a respondent."""
    import pandas as pd

    return pd.DataFrame(values, pd.Index(study.respondents, name="respondent"), columns)


def spread_over_people(values: np.ndarray) -> dict[str, np.ndarray]:
    """The columns `people_lb` and `people_ub`: what holds 89 % of people (rows)."""
    from thali.posterior.interval import TAILS

    low, high = np.quantile(values, TAILS, axis=0)
    return {"people_lb": low, "people_ub": high}
