"""Features by their owners: how probable they are, their weights, and in which draws they are."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import positions
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns

if TYPE_CHECKING:
    import pandas

    from thali._trees.tree import Tree


def features_table(
    posterior: Posterior, min_probability: float, ci: float = INTERVAL
) -> "pandas.DataFrame":
    """The sets of options that own a feature together, the most probable first, those that choices
    do not show last."""

    from thali._tables import Table

    checked_probability(min_probability)
    tails = tails_of(ci)
    labels, columns = posterior.labels, read_columns(posterior)
    patterns, pattern = distinct_owners(columns)
    # One entry a pattern and draw in which it occurs, in the order of the patterns.
    occurrence, at = np.unique(pattern * columns.n_draws + columns.draw, return_inverse=True)
    weight = np.bincount(at, columns.weights, minlength=len(occurrence))
    present = np.bincount(occurrence // columns.n_draws, minlength=len(patterns))
    copies = np.bincount(pattern, minlength=len(patterns))
    ends = np.cumsum(present)
    rows = []
    probable = np.flatnonzero(present >= min_probability * columns.n_draws)
    # Ties in the order of the options, so that the table does not depend on the order of the draws.
    silent = posterior.is_silent(np.array([len(pattern) for pattern in patterns], int))
    if not posterior.facts.says_silent:
        probable = probable[~silent[probable]]
    for number in sorted(
        probable, key=lambda number: (silent[number], -present[number], patterns[number].tolist())
    ):
        weights = weight[ends[number] - present[number] : ends[number]]
        rows.append(
            {
                "members": tuple(labels[option] for option in patterns[number]),
                "weight": weights.mean(),
                **dict(
                    zip(("weight_low", "weight_high"), np.quantile(weights, tails), strict=True)
                ),
                "copies": copies[number] / columns.n_draws,
                "probability": present[number] / columns.n_draws,
            }
        )
    # A narrow terminal shows the first and the last columns, and leaves out those in between.
    names = ["members", "weight", "weight_low", "weight_high", "copies", "probability"]
    return without_idle_weights(Table(rows, columns=names), posterior)


def owners_drawn(posterior: Posterior) -> dict[str, Any]:
    """What a picture of features needs besides: labels, what each has alone and whether data show
    it, a word."""
    own = posterior.unique.mean(axis=(0, 1)).tolist() if posterior.has_unique else None
    return {
        "labels": posterior.labels,
        "unique_weights": own,
        "word": posterior.facts.word,
        "sees_alone": posterior.sees_single,
    }


def without_idle_weights(table: "pandas.DataFrame", posterior: Posterior) -> "pandas.DataFrame":
    """The table without the columns of weights where a likelihood of the user's own ignores
    them."""
    return (
        table
        if posterior.sees_weights
        else table.drop(columns=["weight", "weight_low", "weight_high"])
    )


def checked_probability(min_probability: float) -> float:
    """The smallest probability of a feature that is listed."""
    if not 0 <= min_probability <= 1:
        raise ArgumentError(f"`min_probability` must be in (0, 1); got {min_probability}")
    return min_probability


def place_in_tree(owners: Any, tree: "Tree") -> list[str]:
    """Position of each set of owners in a tree."""
    clades = tree.clades()

    def place(members: Any) -> str:
        if len(members) == 1:
            return "leaf"
        if len(members) == tree.n_leaves:
            return "root"
        name = clades.get(frozenset(members))
        return "across" if name is None else f"clade {name}".strip()

    return [place(members) for members in owners]


def distinct_owners(columns: FeatureColumns) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct owner sets, and for each column the number of its set."""
    number_of: dict[bytes, int] = {}
    owners = columns.owners.astype(np.int32)
    bounds = columns.owner_offsets.tolist()
    keys = (owners[start:stop].tobytes() for start, stop in pairwise(bounds))
    numbers = np.fromiter(
        (number_of.setdefault(key, len(number_of)) for key in keys), np.int64, len(columns.sizes)
    )
    return [np.frombuffer(key, np.int32) for key in number_of], numbers


# Which draws have which feature, and how well the chains agree on it ------------------------------
#
# The log-likelihood and the number of features can look perfect although chains never move between
# families of features; only the presence of the features shows whether the chains agree.


MIN_DRAWS = 4  # of a chain, for an R-hat
MARKED = 1.05  # R-hat above which the probability of a feature is marked


def chain_column(chain: int) -> str:
    """The column of the probability of features in one chain."""
    return f"chain {chain}"


def presences(columns: FeatureColumns, patterns: list[tuple[int, ...]]) -> np.ndarray:
    """Whether each draw has at least one feature with exactly these owners."""
    found = np.zeros((len(patterns), columns.n_draws), bool)
    row_of = {np.asarray(pattern, np.int32).tobytes(): row for row, pattern in enumerate(patterns)}
    owners, bounds = columns.owners.astype(np.int32), columns.owner_offsets.tolist()
    for draw, start, stop in zip(columns.draw.tolist(), bounds[:-1], bounds[1:], strict=True):
        row = row_of.get(owners[start:stop].tobytes())
        if row is not None:
            found[row, draw] = True
    return found


def presence_of(posterior: Posterior, members: list[tuple[str, ...]]) -> np.ndarray:
    """Whether each draw has a feature with exactly these members: bool array (features, chain,
    draw)."""
    place = positions(posterior.labels)
    patterns = [tuple(sorted(place[label] for label in owners)) for owners in members]
    return presences(read_columns(posterior), patterns).reshape(-1, *posterior.shape)


def add_convergence(table: "pandas.DataFrame", posterior: Posterior) -> "pandas.DataFrame":
    """The table of features with the columns of `convergence_of` for each probability, which stays
    the last column."""
    wider = table.assign(**convergence_of(presence_of(posterior, list(table["members"]))))
    return wider.reindex(
        columns=[name for name in wider if name != "probability"] + ["probability"]
    )


def convergence_of(present: np.ndarray) -> dict[str, np.ndarray]:
    """Return `mcse`, `ess`, `r_hat`, `converged` of each probability, from presence (features,
    chain, draw).

    Where the chains do not agree on all features, each chain's own probability besides.
    """
    # NaN where all draws have the feature. With a single chain, or fewer draws than R-hat needs,
    # `converged` is False, but for a single draw, which is the best answer found: there nothing can
    # differ.
    from thali._posterior.summary import convergence, mean_errors

    draws = present.astype(float)
    ess, r_hat = convergence(draws)
    chains, of_chain = present.shape[1:]
    is_known = (chains > 1 and of_chain >= MIN_DRAWS) or chains * of_chain == 1
    settled = present.all(axis=(1, 2)) & is_known
    converged = (r_hat <= MARKED) | settled
    of_chains = {chain_column(k): share for k, share in enumerate(draws.mean(axis=2).T)}
    own = of_chains if chains > 1 and not converged.all() else {}
    return {"mcse": mean_errors(draws), "ess": ess, "r_hat": r_hat, "converged": converged, **own}
