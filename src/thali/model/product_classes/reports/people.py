"""Which people care about the same classes."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas

    from ..design import Design
    from ..particles import Particles

_MAX_ORDERED = 400  # people up to which neighbours in the clustering are put in the best order


def shared_classes(draws: "Particles", same_sign: bool = True) -> np.ndarray:
    """Posterior mean of the number of classes that two people share."""
    people = draws.n_respondents
    shared = np.zeros((people, people))
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
        shared += owns[:, :width] @ owns[:, :width].T
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


def people_table(draws: "Particles", design: "Design", same_sign: bool = True) -> "pandas.DataFrame":
    """The matrix of `shared_classes` with labels, neighbours in the clustering beside each other."""

    from thali._tables import Table

    shared = shared_classes(draws, same_sign)
    order = clustered_order(shared)
    labels = np.asarray(design.respondents, object)[order]
    return Table(shared[np.ix_(order, order)], index=labels, columns=labels)
