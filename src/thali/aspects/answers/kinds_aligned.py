"""The numbers of kinds of people made comparable across draws.

Which kind is called the first is arbitrary, and changes from draw to draw and from chain to chain. The kinds of every
draw are assigned to common ones so that the memberships of all people agree best (Stephens 2000): the sum over people
of the log probability that they are of the common kind, averaged over all draws, is maximal, in turns with the average.
It begins at the draw whose partition is nearest to all others (Dahl 2006). Common kinds are ordered by size.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIR_GROUPS
from thali.posterior.store import tree_of
from thali.posterior.view import Posterior

if TYPE_CHECKING:
    import xarray

TRIED = 500  # draws among which the nearest to all others is looked for
TURNS = 50  # at most


def number_of_kinds(tree: "xarray.DataTree") -> int:
    """How many kinds there may be."""
    return int(tree["constant_data"].dataset["kinds"])


def members(tree: "xarray.DataTree") -> np.ndarray:
    """Of which kind everybody is, by the numbers of each draw (draw, person)."""
    of = tree["posterior"].dataset["kind"].values
    return of.reshape(-1, of.shape[-1])


def together(of: np.ndarray, number: int) -> np.ndarray:
    """The share of draws in which two people are of the same kind (person, person)."""
    stacked = np.concatenate([(of == g) for g in range(number)]).astype(np.float32)
    return (stacked.T @ stacked).astype(float) / len(of)


def nearest(of: np.ndarray, number: int) -> np.ndarray:
    """The partition of the draw that is nearest to those of all: least squares of being together."""
    excess = together(of, number) - 0.5
    tried = of[np.unique(np.linspace(0, len(of) - 1, TRIED).astype(int))]
    score = np.zeros(len(tried))
    for g in range(number):
        own = (tried == g).astype(float)
        score += np.einsum("dp,dp->d", own @ excess, own)
    return tried[int(np.argmax(score))]


def agreement(of: np.ndarray, number: int) -> np.ndarray:
    """The share of pairs of people of whom a draw says as `nearest` whether they are of the same kind (draw,)."""
    people, middle = of.shape[1], nearest(of, number)
    common = np.stack([[(of == g) @ (middle == h).astype(float) for h in range(number)] for g in range(number)])
    sides = (common.sum(axis=0) ** 2).sum(axis=0) + (common.sum(axis=1) ** 2).sum(axis=0)
    return 1.0 + ((common**2).sum(axis=(0, 1)) - sides / 2.0) / (people * (people - 1) / 2.0)


def order_of_kinds(of: np.ndarray, number: int) -> np.ndarray:
    """The number, in each draw, of the kind that is the first, second, ... of the common ones (draw, kind)."""
    from scipy.optimize import linear_sum_assignment

    owns = of[:, :, None] == np.arange(number)  # (draw, person, kind)
    common = (nearest(of, number)[:, None] == np.arange(number)).astype(float)
    order = np.tile(np.arange(number), (len(of), 1))
    for turn in range(TURNS):
        logs = np.log((common * len(of) + 1.0 / number) / (len(of) + 1.0)) if turn else common
        agree = np.einsum("dpg,ph->dhg", owns, logs, optimize=True)
        found = np.array([linear_sum_assignment(-each)[1] for each in agree])
        if turn and np.array_equal(found, order):
            break
        order = found
        common = np.take_along_axis(owns, order[:, None, :], axis=2).mean(axis=0)
    return order[:, np.argsort(-common.sum(axis=0), kind="stable")]


def aligned_members(tree: "xarray.DataTree") -> np.ndarray:
    """Of which common kind everybody is, from 0 (draw, person)."""
    of, number = members(tree), number_of_kinds(tree)
    return np.take_along_axis(np.argsort(order_of_kinds(of, number), axis=1), of.astype(int), axis=1)


def memberships(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a person is of each common kind (person, kind)."""
    of = aligned_members(tree)
    return np.stack([(of == g).mean(axis=0) for g in range(number_of_kinds(tree))], axis=1)


def as_groups(tree: "xarray.DataTree") -> "xarray.DataTree":
    """The posterior of the common kinds as groups of people, "1", "2", ..., the largest first; others as they are.

    The data of each are the comparisons of those who are most probably of it.
    """
    if Posterior(tree).kinds is None:
        return tree
    of, number = members(tree), number_of_kinds(tree)
    order = order_of_kinds(of, number)
    stored = tree["posterior"].to_dataset()
    shape = stored.sizes["chain"], stored.sizes["draw"]
    dropped = [name for name in ("choice_probability", "kind", "n_kinds") if name in stored]
    posterior = stored.drop_vars(dropped)
    for name in ("kind_weights", "kind_unique_weights", "kind_choice_probability"):
        if name in posterior:
            values, dims = posterior[name].values, posterior[name].dims
            at = order.reshape(*shape, number, *[1] * (values.ndim - 3))
            sorted_ = np.take_along_axis(values, at, axis=2)
            new = name.removeprefix("kind_") if name.endswith("probability") else f"group_{name.removeprefix('kind_')}"
            posterior = posterior.drop_vars(name)
            posterior[new] = tuple("group" if dim == "kind_number" else dim for dim in dims), sorted_
    names = [str(g + 1) for g in range(number)]
    posterior = posterior.drop_vars("subject").assign_coords(group=names)
    found = {"posterior": posterior, **_data_of_members(tree, memberships(tree).argmax(axis=1), names)}
    return tree_of(found | {"sample_stats": tree["sample_stats"].to_dataset()}, tree.attrs)


def _data_of_members(tree: "xarray.DataTree", kind: np.ndarray, names: list[str]) -> dict[str, Any]:
    """The comparisons of the people of each kind, one kind after the other."""
    import xarray as xr

    constant, observed = tree["constant_data"].to_dataset(), tree["observed_data"].to_dataset()
    pairs, of_answer = constant.sizes["compared_pair"], kind[constant["answer_subject"].values]
    wins, losses = (
        np.stack(
            [np.bincount(constant["answer_pair"].values, times * (of_answer == g), pairs) for g in range(len(names))]
        )
        for times in (observed["answers"].values, constant["answer_losses"].values)
    )
    group, pair = np.nonzero(wins + losses)
    rows = {"compared_pair_group": ("compared_pair", group)}
    rows |= {name: ("compared_pair", constant[name].values[pair]) for name in ("option_a", "option_b")}
    by_pair = {name: ("compared_pair", constant[name].values[pair]) for name in ("first", "second")}
    by_pair["losses"] = "compared_pair", _whole(losses[group, pair])
    by_pair["log_binomial_coefficient"] = "compared_pair", np.zeros(len(pair))
    scalars = {name: constant[name] for name in ("lapse", "unique", "has_ties", "learned_alpha", "similar")}
    counted = xr.Dataset({**by_pair, **scalars}, {**rows, "option": constant["option"].values, "group": names})
    counted["kind"] = PAIR_GROUPS
    return {
        "observed_data": xr.Dataset({"wins": ("compared_pair", _whole(wins[group, pair]))}, rows),
        "constant_data": counted,
    }


def _whole(values: np.ndarray) -> np.ndarray:
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values
