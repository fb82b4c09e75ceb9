"""Alignment of latent classes across draws, whose numbers are arbitrary.

The labels of classes are arbitrary and change between draws and chains. The classes of every draw
are assigned to common classes so that the memberships of all respondents agree best (Stephens
2000): the assignment maximises the sum over respondents of the log probability of their common
class. This probability is an average over the first draws of all chains, alternating with the
assignment; it starts at the draw whose partition is nearest to all others (Dahl 2006). Common
classes are ordered by size.
"""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import argsort_descending
from thali._posterior.view import LATENT, Posterior

if TYPE_CHECKING:
    import xarray

# draws per chain that define the common classes, so that continuing a fit does not change them
N_ALIGNMENT_DRAWS = 500
N_CANDIDATES = 500  # draws that are candidates for the central partition
MAX_ROUNDS = 50  # maximum


def add_class_order(tree: "xarray.DataTree") -> "xarray.DataTree":
    """Return the posterior's tree with `class_order`, which aligns classes across draws."""
    posterior = Posterior(tree)
    members, n_classes, (chains, draws) = posterior.members, posterior.max_classes, posterior.shape
    first_draws = members.reshape(chains, draws, -1)[:, :N_ALIGNMENT_DRAWS].reshape(
        -1, members.shape[1]
    )
    order = match_classes(members, common_memberships(first_draws, n_classes))
    sizes_of_common = (members[:, :, None] == order[:, None, :]).sum(axis=(0, 1))
    order = order[:, argsort_descending(sizes_of_common)]
    class_order = ("chain", "draw", "class"), order.reshape(chains, draws, -1)
    return posterior.replace_groups({LATENT: posterior.latent.assign(class_order=class_order)}).tree


def share_by_class(members: np.ndarray, n_classes: int, axis: int) -> np.ndarray:
    """Return the share of members in each class along `axis`; classes last."""
    return np.stack([(members == g).mean(axis=axis) for g in range(n_classes)], axis=-1)


def same_class_probabilities(members: np.ndarray, n_classes: int) -> np.ndarray:
    """Return P(two respondents share a class), shape (respondents, respondents)."""
    stacked = np.concatenate([(members == g) for g in range(n_classes)]).astype(np.float32)
    return (stacked.T @ stacked).astype(float) / len(members)


def central_partition(members: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the draw's partition that is nearest to all draws, (respondents,)."""
    excess = same_class_probabilities(members, n_classes) - 0.5
    candidates = members[np.unique(np.linspace(0, len(members) - 1, N_CANDIDATES).astype(int))]
    score = np.zeros(len(candidates))
    for g in range(n_classes):
        is_member = (candidates == g).astype(float)
        score += np.einsum("dp,dp->d", is_member @ excess, is_member)
    return candidates[np.argmax(score)]


def rand_index(members: np.ndarray, n_classes: int) -> np.ndarray:
    """Return each draw's Rand index with the central partition, shape (draws,)."""
    n_respondents = members.shape[1]
    central = central_partition(members, n_classes)
    overlaps = np.stack(
        [
            [(members == g) @ (central == h).astype(float) for h in range(n_classes)]
            for g in range(n_classes)
        ]
    )
    marginal_squares = (overlaps.sum(axis=0) ** 2).sum(axis=0) + (overlaps.sum(axis=1) ** 2).sum(
        axis=0
    )
    return 1.0 + ((overlaps**2).sum(axis=(0, 1)) - marginal_squares / 2.0) / (
        n_respondents * (n_respondents - 1) / 2.0
    )


def common_memberships(members: np.ndarray, n_classes: int) -> np.ndarray:
    """Return log P(aligned class) of each respondent, shape (respondents, classes)."""
    is_member = members[:, :, None] == np.arange(n_classes)
    log_p = np.log(
        (central_partition(members, n_classes)[:, None] == np.arange(n_classes)) * len(members)
        + 1.0 / n_classes
    )
    order = np.full((len(members), n_classes), -1)
    for _ in range(MAX_ROUNDS):
        new_order = match_classes(members, log_p)
        if np.array_equal(new_order, order):
            break
        order = new_order
        shares = np.take_along_axis(is_member, order[:, None, :], axis=2).mean(axis=0)
        log_p = np.log((shares * len(members) + 1.0 / n_classes) / (len(members) + 1.0))
    return log_p


def match_classes(members: np.ndarray, log_p: np.ndarray) -> np.ndarray:
    """Return, in each draw, the class number of each aligned class, (draws, classes).

    `log_p` has log membership probabilities, shape (respondents, classes).
    """
    from scipy.optimize import linear_sum_assignment

    is_member = (members[:, :, None] == np.arange(log_p.shape[1])).astype(float)
    agreement = np.einsum("dpg,ph->dhg", is_member, log_p, optimize=True)
    return np.array([linear_sum_assignment(-draw_agreement)[1] for draw_agreement in agreement])
