"""The classes that one person owns in one draw, as reports and predictions read them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import scalar

from .choosing import holds

if TYPE_CHECKING:
    from ..particles import Particles


@scalar
def owned_by(draws: Any, d: Any, person: Any) -> Any:
    """Of the classes that a person owns in draw d: place of the first in `owned_class`, number, signs, ln θ."""
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    begin, end = draws.first_owned[d * people + person], draws.first_owned[d * people + person + 1]
    return begin, end - begin, draws.owned_sign[begin:end], draws.owned_log_theta[begin:end]


@scalar
def fill_inside(draws: Any, d: Any, begin: Any, n: Any, codes: Any, rows: Any, inside: Any) -> None:
    """Which of the first rows of `codes` belong to each of n owned classes, those from place `begin` on in draw d."""
    for o in range(n):
        c = draws.first_class[d] + draws.owned_class[begin + o]
        for row in range(rows):
            inside[o, row] = holds(draws.active, draws.member, c, draws.offset, codes, row)


@scalar
def shape_of_passing(draws: Any, d: Any) -> Any:
    """Shape of the part of a value that lasts for one occasion."""
    return (1.0 - draws.sigma[d]) * draws.a[d]


def room_for_known(draws: "Particles") -> int:
    """An upper bound on the classes that anybody owns in any draw."""
    return int(np.diff(draws.first_owned).max(initial=0)) + 1
