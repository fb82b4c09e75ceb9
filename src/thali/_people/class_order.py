"""Latent classes made comparable: which class of a draw is the first, second, ... of the common
ones.

Which class is called the first is arbitrary, and changes from draw to draw and from chain to chain.
The classes of every draw are assigned to common ones so that the memberships of all people agree
best (Stephens 2000): the sum over people of the log probability that they are of the common class
is maximal. That probability is an average over the first draws of all chains, found in turns with
their assignment, and begins at the draw whose partition is nearest to those of all (Dahl 2006).
Common classes are ordered by size.
"""

from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.view import LATENT, Posterior

if TYPE_CHECKING:
    import xarray

# draws of each chain from which the common classes are found: more draws of a fit leave these as
# they were
FIRST = 500
TRIED = 500  # draws among which the nearest to all others is looked for
TURNS = 50  # at most


def with_class_order(tree: "xarray.DataTree") -> "xarray.DataTree":
    """Return the tree with the order of the classes of every draw."""
    posterior = Posterior(tree)
    of, number, (chains, draws) = posterior.members, posterior.most_classes, posterior.shape
    first = of.reshape(chains, draws, -1)[:, :FIRST].reshape(-1, of.shape[1])
    order = order_of_classes(of, common_memberships(first, number))
    sizes_of_common = (of[:, :, None] == order[:, None, :]).sum(axis=(0, 1))
    order = order[:, np.argsort(-sizes_of_common, kind="stable")]
    kept = ("chain", "draw", "class"), order.reshape(chains, draws, -1)
    return posterior.replaced({LATENT: posterior.latent.assign(class_order=kept)}).tree


def together(of: np.ndarray, number: int) -> np.ndarray:
    """Return the share of draws in which two people are of the same class (person, person)."""
    stacked = np.concatenate([(of == g) for g in range(number)]).astype(np.float32)
    return (stacked.T @ stacked).astype(float) / len(of)


def nearest(of: np.ndarray, number: int) -> np.ndarray:
    """Return the partition of the draw that is nearest to those of all: least squares of being
    together."""
    excess = together(of, number) - 0.5
    tried = of[np.unique(np.linspace(0, len(of) - 1, TRIED).astype(int))]
    score = np.zeros(len(tried))
    for g in range(number):
        own = (tried == g).astype(float)
        score += np.einsum("dp,dp->d", own @ excess, own)
    return tried[int(np.argmax(score))]


def agreement(of: np.ndarray, number: int) -> np.ndarray:
    """Return the share of pairs of people whom a draw puts together, or apart, as `nearest` does
    (draw,)."""
    people, middle = of.shape[1], nearest(of, number)
    common = np.stack(
        [[(of == g) @ (middle == h).astype(float) for h in range(number)] for g in range(number)]
    )
    sides = (common.sum(axis=0) ** 2).sum(axis=0) + (common.sum(axis=1) ** 2).sum(axis=0)
    return 1.0 + ((common**2).sum(axis=(0, 1)) - sides / 2.0) / (people * (people - 1) / 2.0)


def common_memberships(of: np.ndarray, number: int) -> np.ndarray:
    """Return the log probability that each respondent is in each common class (respondent,
    class)."""
    owns = of[:, :, None] == np.arange(number)
    common = np.log((nearest(of, number)[:, None] == np.arange(number)) * len(of) + 1.0 / number)
    order = np.full((len(of), number), -1)
    for _ in range(TURNS):
        found = order_of_classes(of, common)
        if np.array_equal(found, order):
            break
        order = found
        shares = np.take_along_axis(owns, order[:, None, :], axis=2).mean(axis=0)
        common = np.log((shares * len(of) + 1.0 / number) / (len(of) + 1.0))
    return common


def order_of_classes(of: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Return the classes of each draw in the order of the common ones with such log memberships
    (draw, class)."""
    from scipy.optimize import linear_sum_assignment

    owns = (of[:, :, None] == np.arange(common.shape[1])).astype(float)
    agree = np.einsum("dpg,ph->dhg", owns, common, optimize=True)
    return np.array([linear_sum_assignment(-each)[1] for each in agree])
