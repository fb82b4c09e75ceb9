"""Which people care about the same classes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError

from ...answers.market import respondents_of

if TYPE_CHECKING:
    import pandas

    from ..particles import Particles
    from .chooser import ClassChooser

MAX_PEOPLE = 4_000  # whose table takes 128 MB, and as much to sort it
_MAX_ORDERED = 400  # people up to which neighbours in the clustering are put in the best order


def shared_classes(draws: "Particles", same_sign: bool = True, asked: np.ndarray | None = None) -> np.ndarray:
    """Posterior mean of the number of classes that two of the people asked for share; None: of all."""
    people = draws.n_respondents
    asked = np.arange(people) if asked is None else asked
    shared = np.zeros((len(asked), len(asked)))
    most = int(np.diff(draws.first_class).max(initial=0)) * (2 if same_sign else 1)
    owns = np.zeros((people, most), np.float32)
    for d in range(draws.n_draws):
        ends = draws.first_owned[d * people : (d + 1) * people + 1]
        person = np.repeat(np.arange(people), np.diff(ends))
        column = draws.owned_class[ends[0] : ends[-1]]
        if same_sign:
            column = 2 * column + draws.owned_sign[ends[0] : ends[-1]]
        owns[:] = 0.0
        owns[person, column] = 1.0
        width = int(column.max(initial=-1)) + 1
        own = owns[asked, :width]
        shared += own @ own.T
    return shared / max(draws.n_draws, 1)


def clustered_order(shared: np.ndarray) -> np.ndarray:
    """Order of people in which those who share classes are neighbours, by average linkage.

    The distance of two people is 1 - shared / sqrt(own number x own number).
    """
    people = len(shared)
    if people < 3:
        return np.arange(people)
    from scipy.cluster.hierarchy import leaves_list, linkage

    own = np.sqrt(np.maximum(np.diag(shared), 1e-12))
    distance = np.clip(1.0 - shared / own[:, None] / own, 0.0, None)
    tree = linkage(distance[np.triu_indices(people, 1)], "average", optimal_ordering=people <= _MAX_ORDERED)
    return leaves_list(tree)


def people_table(chooser: "ClassChooser", same_sign: bool, people: Any) -> "pandas.DataFrame":
    """The matrix of `shared_classes` with labels, neighbours in the clustering beside each other."""
    from thali._tables import Table

    asked = np.flatnonzero(respondents_of(chooser, people))
    if len(asked) > MAX_PEOPLE:
        raise ArgumentError(
            f"A table of every two of {len(asked):,} people would not be read by anybody, and takes "
            f"{len(asked) ** 2 * 8 / 1e9:.1f} GB; choose up to {MAX_PEOPLE:,} of them by ",
            Argument("people"),
            ".",
        )
    shared = shared_classes(chooser.draws, same_sign, asked)
    order = clustered_order(shared)
    labels = np.asarray(chooser.data.respondents, object)[asked[order]]
    return Table(shared[np.ix_(order, order)], index=labels, columns=labels)
