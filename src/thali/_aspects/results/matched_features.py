"""Features matched across draws if their owners are nearly the same, and their tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thali._argument_checks import check_open_interval
from thali._inference.index_arithmetic import argsort_descending
from thali._model.pair_quantities import space_indices
from thali._posterior.posterior_interval import INTERVAL, compute_interval
from thali._posterior.posterior_tree import Posterior

from ..draws.feature_columns import FeatureColumns, read_columns
from .feature_table import check_min_probability, drop_ignored_weights, find_distinct_owners

if TYPE_CHECKING:
    import pandas


# Features of many objects rarely have exactly the same owners in two draws, which would split their
# probability among many owner sets. Therefore the features of every draw are assigned to common
# features by the weighted Jaccard index
#
#     J(h, p) = sum_i min(h_i, p_i) / sum_i max(h_i, p_i) = h.p / (|h| + |p| - h.p)
#
# of owners h (0 or 1) and membership p of the common feature (between 0 and 1), if it is at least
# `similar`. The common features start as the features of a consensus draw, and leaders among the
# unassigned entries are added; then memberships and assignments are updated in turn.


ROUNDS = 3  # updates of memberships and assignments
CONSENSUS_DRAWS = 100  # draws among which the consensus draw is searched
MAX_TRIED_PATTERNS = 200  # patterns that are tried in parallel as additional features


@dataclass(frozen=True)
class MatchedFeatures:
    """Features matched across draws, the most probable first.

    A feature has one entry per draw that contains it.
    """

    membership: np.ndarray  # (features, options) share of its draws in which an option owns it
    feature: np.ndarray  # (entries,) ascending
    draw: np.ndarray  # (entries,)
    weight: np.ndarray  # (entries,) sum over columns with the same owners
    index: np.ndarray  # (entries,) Jaccard index of owners and membership
    n_draws: int

    def members(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the labels of the options that own each feature in half its draws."""
        return [
            tuple(labels[i] for i in np.flatnonzero(row >= MIN_MEMBERSHIP).tolist())
            for row in self.membership
        ]

    @property
    def present(self) -> np.ndarray:
        """Whether each draw has each feature, shape (n_features, n_draws)."""
        is_present = np.zeros((len(self.membership), self.n_draws), bool)
        is_present[self.feature, self.draw] = True
        return is_present


@dataclass(frozen=True)
class FeatureEntries:
    """The distinct features (sets of owners) of every draw, with summed weights."""

    patterns: np.ndarray  # (patterns, options) float32 0 or 1
    pattern: np.ndarray  # (entries,)
    draw: np.ndarray  # (entries,) ascending
    weight: np.ndarray  # (entries,)
    n_draws: int


def match_columns(
    feature_columns: FeatureColumns, similar: float, min_probability: float, min_owners: int = 1
) -> MatchedFeatures:
    """Match features with nearly equal owners across draws, by their Jaccard index.

    Features below `min_probability` are omitted.
    """
    feature_entries = _collect_entries(feature_columns, min_owners)
    n_objects = feature_columns.n_options
    if not len(feature_entries.pattern):
        no_values = np.zeros(0)
        return MatchedFeatures(
            np.zeros((0, n_objects)),
            np.zeros(0, int),
            np.zeros(0, int),
            no_values,
            no_values,
            feature_columns.n_draws,
        )
    membership = feature_entries.patterns[
        feature_entries.pattern[feature_entries.draw == _find_consensus_draw(feature_entries)]
    ]
    feature_index = np.zeros(0, int)
    for k in range(ROUNDS):
        feature_index = _assign_entries(feature_entries, membership, similar)
        if k == 0:
            membership = np.concatenate(
                [
                    membership,
                    _find_leaders(feature_entries, feature_index < 0, similar, min_probability),
                ]
            )
            feature_index = _assign_entries(feature_entries, membership, similar)
        membership = _compute_memberships(feature_entries, feature_index, len(membership))
    feature_index = _assign_entries(feature_entries, membership, similar)
    n_entries = np.bincount(feature_index[feature_index >= 0], minlength=len(membership))
    feature_indices = np.flatnonzero(
        n_entries >= max(1.0, min_probability * feature_columns.n_draws)
    )
    feature_indices = feature_indices[argsort_descending(n_entries[feature_indices])]
    new_feature_index = np.full(len(membership) + 1, -1)
    new_feature_index[feature_indices] = np.arange(len(feature_indices))
    feature_index = new_feature_index[feature_index]  # index -1 selects the last entry, which is -1
    entry_order = np.lexsort((feature_entries.draw, feature_index))
    entry_order = entry_order[feature_index[entry_order] >= 0]
    membership = _compute_memberships(feature_entries, feature_index, len(feature_indices))
    jaccard_index = _compute_entry_jaccard(
        feature_entries.patterns[feature_entries.pattern[entry_order]],
        membership,
        feature_index[entry_order],
    )
    return MatchedFeatures(
        membership.astype(float),
        feature_index[entry_order],
        feature_entries.draw[entry_order],
        feature_entries.weight[entry_order],
        jaccard_index,
        feature_columns.n_draws,
    )


def _collect_entries(feature_columns: FeatureColumns, min_owners: int) -> FeatureEntries:
    """Collect the distinct owner sets of each draw, with the sum of their weights."""
    owner_sets, pattern_index = find_distinct_owners(feature_columns)
    is_large = feature_columns.sizes >= min_owners
    set_indices, pattern_index = np.unique(pattern_index[is_large], return_inverse=True)
    patterns = np.zeros((len(set_indices), feature_columns.n_options), np.float32)
    for set_row, set_index in enumerate(set_indices.tolist()):
        patterns[set_row, owner_sets[set_index]] = 1.0
    entry_keys, entry_index = np.unique(
        feature_columns.draw[is_large] * max(len(set_indices), 1) + pattern_index,
        return_inverse=True,
    )
    entry_weights = np.bincount(
        entry_index, feature_columns.weights[is_large], minlength=len(entry_keys)
    )
    draw, pattern_index = np.divmod(entry_keys, max(len(set_indices), 1))
    return FeatureEntries(patterns, pattern_index, draw, entry_weights, feature_columns.n_draws)


def _compute_jaccard(owners: np.ndarray, membership: np.ndarray) -> np.ndarray:
    """Return Jaccard indices of every owner set with every matched feature."""
    n_common = owners @ membership.T
    return n_common / np.maximum(owners.sum(1)[:, None] + membership.sum(1) - n_common, 1e-12)


def _compute_entry_jaccard(
    owners: np.ndarray, membership: np.ndarray, feature_index: np.ndarray
) -> np.ndarray:
    """Return the Jaccard index of each owner set with its assigned feature."""
    assigned_membership = membership[feature_index]
    n_common = np.einsum("ei,ei->e", owners, assigned_membership)
    return (n_common / (owners.sum(1) + assigned_membership.sum(1) - n_common)).astype(float)


def _find_consensus_draw(entries: FeatureEntries) -> int:
    """Return the draw whose features have the largest Jaccard indices with other draws."""
    # Up to 100 evenly spaced draws are compared.
    candidate_draws = np.unique(entries.draw)
    candidate_draws = candidate_draws[space_indices(len(candidate_draws), CONSENSUS_DRAWS)]
    entry_indices = np.flatnonzero(np.isin(entries.draw, candidate_draws))
    draw_index = np.searchsorted(candidate_draws, entries.draw[entry_indices])
    owners = entries.patterns[entries.pattern[entry_indices]]
    draw_starts = np.searchsorted(draw_index, np.arange(len(candidate_draws)))
    # the largest J of each feature with a feature of each draw
    max_jaccard = np.maximum.reduceat(_compute_jaccard(owners, owners), draw_starts, axis=1)
    summed_jaccard = np.add.reduceat(max_jaccard, draw_starts, axis=0)
    n_features = np.bincount(draw_index)
    likeness = (summed_jaccard + summed_jaccard.T) / (n_features[:, None] + n_features)
    return int(candidate_draws[np.argmax(likeness.sum(1))])


def _assign_entries(entries: FeatureEntries, membership: np.ndarray, similar: float) -> np.ndarray:
    """Return each owner set's matched feature in its draw; -1 if none is similar."""
    # Within a draw, the assignment has the largest sum of J.
    from scipy.optimize import linear_sum_assignment

    membership = membership.astype(np.float32)
    jaccard = _compute_jaccard(entries.patterns, membership)
    jaccard[jaccard < similar - 1e-6] = 0.0
    feature_index = np.full(len(entries.pattern), -1)
    draw_bounds = np.searchsorted(entries.draw, np.arange(entries.n_draws + 1))
    for first_entry, stop_entry in zip(
        draw_bounds[:-1].tolist(), draw_bounds[1:].tolist(), strict=True
    ):
        draw_jaccard = jaccard[entries.pattern[first_entry:stop_entry]]
        candidates = np.flatnonzero(draw_jaccard.any(axis=0))
        entry_rows, candidate_columns = linear_sum_assignment(
            draw_jaccard[:, candidates], maximize=True
        )
        is_similar = draw_jaccard[entry_rows, candidates[candidate_columns]] > 0.0
        feature_index[first_entry + entry_rows[is_similar]] = candidates[
            candidate_columns[is_similar]
        ]
    return feature_index


def _compute_memberships(
    entries: FeatureEntries, feature_index: np.ndarray, n_features: int
) -> np.ndarray:
    """Return in which share of a matched feature's draws each option owns it."""
    # A feature without entries has membership 0.
    from scipy.sparse import csr_array

    is_assigned = feature_index >= 0
    ones = np.ones(int(is_assigned.sum()), np.float32)
    pattern_counts = csr_array(
        (ones, (feature_index[is_assigned], entries.pattern[is_assigned])),
        (n_features, len(entries.patterns)),
    )
    n_entries = np.bincount(feature_index[is_assigned], minlength=n_features)
    return (pattern_counts @ entries.patterns) / np.maximum(n_entries, 1)[:, None]


def _find_leaders(
    entries: FeatureEntries, is_unassigned: np.ndarray, similar: float, min_probability: float
) -> np.ndarray:
    """Return owner sets that start new features among the unassigned ones."""
    # Frequent patterns are tried repeatedly, and the pattern similar to entries of most draws is
    # selected.
    pattern_index = entries.pattern[is_unassigned]
    entry_draws = entries.draw[is_unassigned]
    leader_patterns = []
    while len(pattern_index):
        distinct_patterns, distinct_index, n_entries = np.unique(
            pattern_index, return_inverse=True, return_counts=True
        )
        if len(entry_draws) < min_probability * entries.n_draws:
            break
        frequent_patterns = argsort_descending(n_entries)[:MAX_TRIED_PATTERNS]
        spaced_patterns = space_indices(len(distinct_patterns), MAX_TRIED_PATTERNS)
        candidates = np.union1d(frequent_patterns, spaced_patterns)
        is_similar = np.greater_equal(
            _compute_jaccard(
                entries.patterns[distinct_patterns[candidates]], entries.patterns[distinct_patterns]
            ),
            similar - 1e-6,
        )
        selected_candidates = _cover_draws(
            is_similar, distinct_index, entry_draws, min_probability * entries.n_draws
        )
        if not selected_candidates:
            break
        leader_patterns += [
            entries.patterns[distinct_patterns[candidates[k]]] for k in selected_candidates
        ]
        is_uncovered = ~np.any(is_similar[selected_candidates], axis=0)[distinct_index]
        pattern_index = pattern_index[is_uncovered]
        entry_draws = entry_draws[is_uncovered]
    return np.array(leader_patterns, np.float32).reshape(-1, entries.patterns.shape[1])


def _cover_draws(
    is_similar: np.ndarray, pattern_index: np.ndarray, draw: np.ndarray, min_draws: float
) -> list[int]:
    """Greedily choose owner sets, each similar to sets of `min_draws` more draws."""
    selected_candidates: list[int] = []
    is_uncovered = np.ones(len(pattern_index), bool)
    # all entries of a draw that are similar to a row count, which is rarely more than one
    while True:
        n_similar_draws = is_similar @ np.bincount(
            pattern_index[is_uncovered], minlength=is_similar.shape[1]
        ).astype(float)
        best_candidate = int(np.argmax(n_similar_draws))
        is_newly_covered = is_similar[best_candidate][pattern_index] & is_uncovered
        if len(np.unique(draw[is_newly_covered])) < max(min_draws, 1.0):
            return selected_candidates
        selected_candidates.append(best_candidate)
        is_uncovered &= ~is_newly_covered


DEFAULT_SIMILAR = 0.8  # default of the minimum Jaccard index of merged features
MIN_MEMBERSHIP = 0.5  # minimum membership of the options that are listed as members
# With more objects than this, features rarely have equal owners in two draws and are matched.
MAX_UNMATCHED = 30


def choose_similar(n: int, given_similar: float | None = None) -> float | None:
    """Return the minimum Jaccard index of features that merge; None for no merging.

    It is `given_similar` if that is given.
    """
    if given_similar is None and n > MAX_UNMATCHED:
        return DEFAULT_SIMILAR
    return given_similar


def format_members(members: Sequence[str], labels: Sequence[str]) -> str:
    """Format a feature's members as text; "all but ..." if non-members are fewer."""
    if len(labels) <= MAX_UNMATCHED or 2 * len(members) <= len(labels):
        return ", ".join(members)
    non_members = [label for label in labels if label not in set(members)]
    if not non_members:
        return f"all {len(labels)}"
    return f"all {len(labels)} but {', '.join(non_members)}"


def match_posterior(
    posterior: Posterior, similar: float, min_probability: float
) -> MatchedFeatures:
    """Match the features of a posterior across draws, with checked settings.

    Features of a single owner are included only if the data depend on them.
    """
    similar = check_open_interval(
        "similar", similar, "the minimum Jaccard index of merged features"
    )
    check_min_probability(min_probability)
    min_owners = 2
    if posterior.shows_single:
        min_owners = 1
    return match_columns(read_columns(posterior), similar, min_probability, min_owners)


def matched_features_table(
    posterior: Posterior, matched: MatchedFeatures, ci: float = INTERVAL
) -> "pandas.DataFrame":
    """Return a table of matched features, numbered from 1, most probable first."""
    import pandas as pd

    from thali._exportable_table import Table

    from .feature_table import presence_convergence

    presence = matched.present.reshape(-1, *posterior.shape)
    entry_bounds = np.searchsorted(matched.feature, np.arange(len(matched.membership) + 1))
    entry_slices = [slice(start, stop) for start, stop in pairwise(entry_bounds)]
    intervals = np.array(
        [compute_interval(matched.weight[entries], ci) for entries in entry_slices]
    ).reshape(-1, 2)
    table_columns = {
        "members": matched.members(posterior.labels),
        "weight": [float(matched.weight[entries].mean()) for entries in entry_slices],
        "weight_low": intervals[:, 0],
        "weight_high": intervals[:, 1],
        "stability": [float(matched.index[entries].mean()) for entries in entry_slices],
        **presence_convergence(presence),
        "probability": presence.mean(axis=(1, 2)),
    }
    features_table = Table(
        table_columns, index=pd.RangeIndex(1, len(matched.membership) + 1, name="feature")
    )
    return drop_ignored_weights(features_table, posterior)


def membership_table(posterior: Posterior, matched: MatchedFeatures) -> "pandas.DataFrame":
    """Return memberships of options (rows) in matched features (columns)."""
    import pandas as pd

    from thali._exportable_table import Table

    labels = pd.Index(posterior.labels, name="option")
    feature_numbers = pd.RangeIndex(1, len(matched.membership) + 1, name="feature")
    return Table(matched.membership.T, index=labels, columns=feature_numbers)
