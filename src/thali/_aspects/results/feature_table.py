"""Table of features by their sets of owners: probabilities, weights and convergence."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import index_labels
from thali._posterior.posterior_interval import INTERVAL, interval_tails
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._trees.tree import Tree


def features_table(
    posterior: Posterior, min_probability: float, ci: float = INTERVAL
) -> "pandas.DataFrame":
    """Return a table of features, one row per owner set, the most probable first.

    Sets that choices do not show come last.
    """

    from thali._exportable_table import Table

    check_min_probability(min_probability)
    quantile_levels = interval_tails(ci)
    labels = posterior.labels
    feature_columns = read_columns(posterior)
    pattern_weights = sum_pattern_weights(feature_columns)
    patterns = pattern_weights.patterns
    n_present = pattern_weights.n_present
    table_rows = []
    probable_patterns = np.flatnonzero(n_present >= min_probability * feature_columns.n_draws)
    # ties in the order of the options, so that the table does not depend on the order of draws
    is_silent = posterior.is_silent(
        np.array([len(pattern_index) for pattern_index in patterns], int)
    )
    if not posterior.facts.says_silent:
        probable_patterns = probable_patterns[~is_silent[probable_patterns]]
    for k in sorted(
        probable_patterns, key=lambda k: (is_silent[k], -n_present[k], patterns[k].tolist())
    ):
        weights = pattern_weights.select(k)
        table_rows.append(
            {
                "members": tuple(labels[option] for option in patterns[k]),
                "weight": weights.mean(),
                **dict(
                    zip(
                        ("weight_low", "weight_high"),
                        np.quantile(weights, quantile_levels),
                        strict=True,
                    )
                ),
                "copies": pattern_weights.n_copies[k] / feature_columns.n_draws,
                "probability": n_present[k] / feature_columns.n_draws,
            }
        )
    # the probability is last, because a narrow terminal omits the columns in the middle
    column_names = ["members", "weight", "weight_low", "weight_high", "copies", "probability"]
    return drop_ignored_weights(Table(table_rows, columns=column_names), posterior)


def feature_plot_inputs(posterior: Posterior) -> dict[str, Any]:
    """Return labels, unique weights and other inputs of a feature plot, by name.

    They are the labels, the unique weights (None without), the feature's word, and whether the data
    depend on features of one owner.
    """
    unique_weights = None
    if posterior.has_unique:
        unique_weights = posterior.unique.mean(axis=(0, 1)).tolist()
    return {
        "labels": posterior.labels,
        "unique_weights": unique_weights,
        "word": posterior.facts.word,
        "sees_alone": posterior.sees_single,
    }


def drop_ignored_weights(table: "pandas.DataFrame", posterior: Posterior) -> "pandas.DataFrame":
    """Return the feature table without weights if the user's likelihood ignores them."""
    if posterior.sees_weights:
        return table
    return table.drop(columns=["weight", "weight_low", "weight_high"])


def check_min_probability(min_probability: float) -> None:
    """Raise ArgumentError unless `min_probability` is between 0 and 1."""
    if not 0 <= min_probability <= 1:
        raise ArgumentError(f"`min_probability` must be in (0, 1); got {min_probability}")


def locate_in_tree(owners: Iterable[Collection[str]], tree: "Tree") -> list[str]:
    """Return "leaf", "root", "clade NAME" or "across" for each set of owners."""
    clade_names = tree.clades()

    def describe_position(members: Collection[str]) -> str:
        """Return the position of one set of owners in the tree."""
        if len(members) == 1:
            return "leaf"
        if len(members) == tree.n_leaves:
            return "root"
        clade_name = clade_names.get(frozenset(members))
        if clade_name is None:
            return "across"
        return f"clade {clade_name}".strip()

    return [describe_position(members) for members in owners]


def find_distinct_owners(feature_columns: FeatureColumns) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the distinct owner sets, and the set index of each column."""
    index_of_key: dict[bytes, int] = {}
    owners = feature_columns.owners.astype(np.int32)
    owner_bounds = feature_columns.owner_offsets.tolist()
    owner_keys = (owners[start:stop].tobytes() for start, stop in pairwise(owner_bounds))
    set_index = np.fromiter(
        (index_of_key.setdefault(key, len(index_of_key)) for key in owner_keys),
        np.int64,
        len(feature_columns.sizes),
    )
    return [np.frombuffer(key, np.int32) for key in index_of_key], set_index


class PatternWeights(NamedTuple):
    """Weights of each distinct owner set in the draws that have it."""

    patterns: list[np.ndarray]  # the options of each owner set
    n_present: np.ndarray  # draws with each set
    n_copies: np.ndarray  # columns of each set, in all draws
    weights: np.ndarray  # summed over copies, by set and draw
    ends: np.ndarray  # where the weights of each set end

    def select(self, k: int | np.integer) -> np.ndarray:
        """Return the weights of one owner set, in the order of its draws."""
        return self.weights[self.ends[k] - self.n_present[k] : self.ends[k]]


def sum_pattern_weights(feature_columns: FeatureColumns) -> PatternWeights:
    """Sum the weights of equal features in each draw."""
    patterns, pattern_index = find_distinct_owners(feature_columns)
    # one entry per pattern and draw that contains it, in the order of the patterns
    pattern_draw_keys, entry_index = np.unique(
        pattern_index * feature_columns.n_draws + feature_columns.draw, return_inverse=True
    )
    n_present = np.bincount(pattern_draw_keys // feature_columns.n_draws, minlength=len(patterns))
    return PatternWeights(
        patterns,
        n_present,
        np.bincount(pattern_index, minlength=len(patterns)),
        np.bincount(entry_index, feature_columns.weights, minlength=len(pattern_draw_keys)),
        np.cumsum(n_present),
    )


def add_named_weights(
    tree: "xarray.DataTree", name_by_members: Mapping[frozenset[str], str]
) -> "xarray.DataTree":
    """Return the tree with the weights of given features, by name, in the group `posterior`."""
    import xarray as xr

    posterior = Posterior(tree)
    weights = sum_pattern_weights(read_columns(posterior))
    names = [
        name_by_members[frozenset(posterior.labels[option] for option in pattern)]
        for pattern in weights.patterns
    ]
    draws_by_name = [weights.select(k).reshape(posterior.shape) for k in range(len(names))]
    variable = xr.DataArray(
        np.stack(draws_by_name, axis=-1),
        dims=("chain", "draw", "feature_name"),
        coords={"feature_name": names},
        attrs={"description": "weight of each given feature, by its name"},
    )
    tree["posterior"] = tree["posterior"].to_dataset().assign(feature_weight=variable)
    return tree


def name_presence_row(members: Sequence[str]) -> str:
    """Return the name of the checked presence of a feature with these members."""
    return f"presence[{', '.join(members)}]"


def name_weight_row(members: Sequence[str]) -> str:
    """Return the name of the checked weight of a feature that every draw has."""
    return f"weight[{', '.join(members)}]"


# Presence of features in draws, and its convergence -----------------------------------------------
#
# The log-likelihood and the number of features can look perfect although chains never move between
# families of features; only the presence of the features shows whether the chains agree.


MIN_CHAIN_DRAWS = 4  # draws per chain that an R-hat needs
MAX_R_HAT = 1.05  # R-hat above which a feature has not converged


def format_chain_column(chain: int) -> str:
    """Return the table column that contains feature probabilities of one chain."""
    return f"chain {chain}"


def find_pattern_presence(
    feature_columns: FeatureColumns, patterns: list[tuple[int, ...]]
) -> np.ndarray:
    """Return whether each draw has each owner pattern, bool (patterns, draws)."""
    is_present = np.zeros((len(patterns), feature_columns.n_draws), bool)
    row_of_pattern = {
        np.asarray(pattern, np.int32).tobytes(): pattern_row
        for pattern_row, pattern in enumerate(patterns)
    }
    owners = feature_columns.owners.astype(np.int32)
    owner_bounds = feature_columns.owner_offsets.tolist()
    for draw, start, stop in zip(
        feature_columns.draw.tolist(), owner_bounds[:-1], owner_bounds[1:], strict=True
    ):
        pattern_row = row_of_pattern.get(owners[start:stop].tobytes())
        if pattern_row is not None:
            is_present[pattern_row, draw] = True
    return is_present


def find_presence(posterior: Posterior, members: list[tuple[str, ...]]) -> np.ndarray:
    """Return whether each draw has a feature with exactly these members."""
    index_of_label = index_labels(posterior.labels)
    patterns = [tuple(sorted(index_of_label[label] for label in owners)) for owners in members]
    return find_pattern_presence(read_columns(posterior), patterns).reshape(-1, *posterior.shape)


def add_convergence(table: "pandas.DataFrame", posterior: Posterior) -> "pandas.DataFrame":
    """Return a feature table with the MCSE and `converged` of each feature's presence.

    `probability` remains the last column.
    """
    wider_table = table.assign(
        **presence_convergence(find_presence(posterior, list(table["members"])))
    )
    return wider_table.reindex(
        columns=[name for name in wider_table if name != "probability"] + ["probability"]
    )


def presence_convergence(is_present: np.ndarray) -> dict[str, np.ndarray]:
    """Return `mcse` and `converged` per feature from its presence.

    `is_present` has shape (features, chains, draws). If the chains disagree on a feature, the
    probabilities in each chain are added.
    """
    # With a single chain, or too few draws for R-hat, `converged` is False. A single draw is a
    # point estimate: nothing can differ.
    from thali._posterior.summary_table import compute_diagnostics, compute_mean_errors

    presence_draws = is_present.astype(float)
    _, r_hat = compute_diagnostics(presence_draws)
    n_chains, n_draws = is_present.shape[1:]
    has_r_hat = (n_chains > 1 and n_draws >= MIN_CHAIN_DRAWS) or n_chains * n_draws == 1
    is_constant = is_present.all(axis=(1, 2)) & has_r_hat
    converged = (r_hat <= MAX_R_HAT) | is_constant
    table_columns = {
        "mcse": compute_mean_errors(presence_draws),
        "converged": converged,
    }
    if n_chains > 1 and not converged.all():
        table_columns |= {
            format_chain_column(k): probability
            for k, probability in enumerate(presence_draws.mean(axis=2).T)
        }
    return table_columns


def insert_diagnostics(table: "pandas.DataFrame", checked_rows: "pandas.DataFrame") -> None:
    """Insert ESS and R-hat of each feature's weight or presence; NaN if it is not checked."""
    row_names = []
    for members in table["members"]:
        weight_row = name_weight_row(members)
        if weight_row in checked_rows.index:
            row_names.append(weight_row)
        else:
            row_names.append(name_presence_row(members))
    position = list(table).index("converged")
    for name, row_column in (("r_hat", "r_hat"), ("ess", "ess_bulk")):
        table.insert(position, name, checked_rows[row_column].reindex(row_names).tolist())
