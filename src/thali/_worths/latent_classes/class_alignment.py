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

from thali._inference.index_arithmetic import argsort_descending
from thali._posterior.datatree_files import build_tree, get_groups
from thali._posterior.posterior_tree import LATENT, Posterior

if TYPE_CHECKING:
    import xarray

# draws per chain that define the common classes, so that continuing a fit does not change them
N_ALIGNMENT_DRAWS = 500
N_CANDIDATES = 500  # draws that are candidates for the central partition
MAX_ROUNDS = 50  # maximum


def add_class_order(tree: "xarray.DataTree") -> "xarray.DataTree":
    """Return the posterior's tree with `class_order`, which aligns classes across draws."""
    posterior = Posterior(tree)
    memberships = posterior.members
    n_classes = posterior.max_classes
    n_chains, n_draws = posterior.shape
    first_draws = memberships.reshape(n_chains, n_draws, -1)[:, :N_ALIGNMENT_DRAWS].reshape(
        -1, memberships.shape[1]
    )
    aligned_order = match_classes(memberships, estimate_common_memberships(first_draws, n_classes))
    common_sizes = (memberships[:, :, None] == aligned_order[:, None, :]).sum(axis=(0, 1))
    aligned_order = aligned_order[:, argsort_descending(common_sizes)]
    class_order = ("chain", "draw", "class"), aligned_order.reshape(n_chains, n_draws, -1)
    latent = posterior.latent.assign(class_order=class_order)
    return build_tree(get_groups(tree) | {LATENT: latent}, tree.attrs)


def compute_same_class_probabilities(memberships: np.ndarray, n_classes: int) -> np.ndarray:
    """Return P(two respondents share a class), shape (respondents, respondents)."""
    indicators = np.concatenate([(memberships == g) for g in range(n_classes)]).astype(np.float32)
    return (indicators.T @ indicators).astype(float) / len(memberships)


def find_central_partition(memberships: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the draw's partition that is nearest to all draws, (respondents,)."""
    excess_p = compute_same_class_probabilities(memberships, n_classes) - 0.5
    candidates = memberships[
        np.unique(np.linspace(0, len(memberships) - 1, N_CANDIDATES).astype(int))
    ]
    scores = np.zeros(len(candidates))
    for g in range(n_classes):
        is_member = (candidates == g).astype(float)
        scores += np.einsum("dp,dp->d", is_member @ excess_p, is_member)
    return candidates[np.argmax(scores)]


def compute_rand_index(memberships: np.ndarray, n_classes: int) -> np.ndarray:
    """Return each draw's Rand index with the central partition, shape (draws,)."""
    n_respondents = memberships.shape[1]
    central_memberships = find_central_partition(memberships, n_classes)
    overlaps = np.stack(
        [
            [
                (memberships == g) @ (central_memberships == h).astype(float)
                for h in range(n_classes)
            ]
            for g in range(n_classes)
        ]
    )
    marginal_squares = (overlaps.sum(axis=0) ** 2).sum(axis=0) + (overlaps.sum(axis=1) ** 2).sum(
        axis=0
    )
    return 1.0 + ((overlaps**2).sum(axis=(0, 1)) - marginal_squares / 2.0) / (
        n_respondents * (n_respondents - 1) / 2.0
    )


def estimate_common_memberships(memberships: np.ndarray, n_classes: int) -> np.ndarray:
    """Return log P(aligned class) of each respondent, shape (respondents, classes)."""
    is_member = memberships[:, :, None] == np.arange(n_classes)
    log_p = np.log(
        (find_central_partition(memberships, n_classes)[:, None] == np.arange(n_classes))
        * len(memberships)
        + 1.0 / n_classes
    )
    class_order = np.full((len(memberships), n_classes), -1)
    for _ in range(MAX_ROUNDS):
        new_order = match_classes(memberships, log_p)
        if np.array_equal(new_order, class_order):
            break
        class_order = new_order
        shares = np.take_along_axis(is_member, class_order[:, None, :], axis=2).mean(axis=0)
        log_p = np.log((shares * len(memberships) + 1.0 / n_classes) / (len(memberships) + 1.0))
    return log_p


def match_classes(memberships: np.ndarray, log_p: np.ndarray) -> np.ndarray:
    """Return, in each draw, the class number of each aligned class, (draws, classes).

    `log_p` has log membership probabilities, shape (respondents, classes).
    """
    from scipy.optimize import linear_sum_assignment

    is_member = (memberships[:, :, None] == np.arange(log_p.shape[1])).astype(float)
    agreement = np.einsum("dpg,ph->dhg", is_member, log_p, optimize=True)
    return np.array([linear_sum_assignment(-draw_agreement)[1] for draw_agreement in agreement])
