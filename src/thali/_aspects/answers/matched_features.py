"""Features of different draws whose owners are nearly the same, taken for one feature; tables of
them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import between
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import Posterior

from ..draws.columns import FeatureColumns, columns_of
from .features import check_min_probability, drop_ignored_weights, find_distinct_owners

if TYPE_CHECKING:
    import pandas


# Features of different draws whose owners are nearly the same, taken for one feature --------------
#
# A feature of many objects seldom has the same owners in two draws, so that sets of owners split
# its probability into crumbs. Here the features of every draw are assigned to common ones by their
# weighted Jaccard index
#
#     J(h, p) = sum_i min(h_i, p_i) / sum_i max(h_i, p_i) = h.p / (|h| + |p| - h.p)
#
# of owners h (0 or 1) and membership p of the common feature (between 0 and 1), where it is at
# least `similar`. The first common features are those of a consensus draw; more are taken from what
# is left over; then memberships and assignments are improved in turn.


ROUNDS = 3  # of memberships and assignments
SAMPLED = 100  # draws among which the consensus draw is sought
LEADERS = 200  # patterns that are tried at a time as further features


@dataclass(frozen=True)
class Matched:
    """The common features of a posterior, the most probable first; of each its entries, one a draw
    that has it."""

    membership: np.ndarray  # (features, options) share of its draws in which an option owns it
    feature: np.ndarray  # (entries,) ascending
    draw: np.ndarray  # (entries,)
    weight: np.ndarray  # (entries,) of columns with the same owners their sum
    index: np.ndarray  # (entries,) Jaccard index of owners and membership
    n_draws: int

    def members(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The options that own a feature in at least half of its draws."""
        return [
            tuple(labels[i] for i in np.flatnonzero(row >= MEMBER).tolist())
            for row in self.membership
        ]

    @property
    def present(self) -> np.ndarray:
        """Whether a draw has the feature, bool (features, draws)."""
        found = np.zeros((len(self.membership), self.n_draws), bool)
        found[self.feature, self.draw] = True
        return found


@dataclass(frozen=True)
class _Entries:
    """Each set of owners of each draw once."""

    patterns: np.ndarray  # (patterns, options) float32 0 or 1
    pattern: np.ndarray  # (entries,)
    draw: np.ndarray  # (entries,) ascending
    weight: np.ndarray  # (entries,)
    n_draws: int


def match(
    columns: FeatureColumns, similar: float, min_probability: float, least_owners: int = 1
) -> Matched:
    """The features of `least_owners` or more, matched across draws; those less probable are left
    out."""
    entries = _entries(columns, least_owners)
    n = columns.n_options
    if not len(entries.pattern):
        empty = np.zeros(0)
        return Matched(
            np.zeros((0, n)), np.zeros(0, int), np.zeros(0, int), empty, empty, columns.n_draws
        )
    membership = entries.patterns[entries.pattern[entries.draw == _consensus_draw(entries)]]
    feature = np.zeros(0, int)
    for number in range(ROUNDS):
        feature = _assigned(entries, membership, similar)
        if number == 0:
            membership = np.concatenate(
                [membership, _leaders(entries, feature < 0, similar, min_probability)]
            )
            feature = _assigned(entries, membership, similar)
        membership = _memberships(entries, feature, len(membership))
    feature = _assigned(entries, membership, similar)
    count = np.bincount(feature[feature >= 0], minlength=len(membership))
    kept = np.flatnonzero(count >= max(1.0, min_probability * columns.n_draws))
    kept = kept[np.argsort(-count[kept], kind="stable")]
    number_of = np.full(len(membership) + 1, -1)
    number_of[kept] = np.arange(len(kept))
    feature = number_of[feature]  # -1 finds the last entry, which is -1
    order = np.lexsort((entries.draw, feature))
    order = order[feature[order] >= 0]
    membership = _memberships(entries, feature, len(kept))
    index = _index(entries.patterns[entries.pattern[order]], membership, feature[order])
    return Matched(
        membership.astype(float),
        feature[order],
        entries.draw[order],
        entries.weight[order],
        index,
        columns.n_draws,
    )


def _entries(columns: FeatureColumns, least_owners: int) -> _Entries:
    found, pattern = find_distinct_owners(columns)
    wide = columns.sizes >= least_owners
    kept, pattern = np.unique(pattern[wide], return_inverse=True)
    patterns = np.zeros((len(kept), columns.n_options), np.float32)
    for row, number in enumerate(kept.tolist()):
        patterns[row, found[number]] = 1.0
    entry, at = np.unique(columns.draw[wide] * max(len(kept), 1) + pattern, return_inverse=True)
    weight = np.bincount(at, columns.weights[wide], minlength=len(entry))
    draw, pattern = np.divmod(entry, max(len(kept), 1))
    return _Entries(patterns, pattern, draw, weight, columns.n_draws)


def _jaccard(owners: np.ndarray, membership: np.ndarray) -> np.ndarray:
    """J of every row of `owners` with every row of `membership`."""
    common = owners @ membership.T
    return common / np.maximum(owners.sum(1)[:, None] + membership.sum(1) - common, 1e-12)


def _index(owners: np.ndarray, membership: np.ndarray, feature: np.ndarray) -> np.ndarray:
    """J of each row of `owners` with the row of `membership` that it is assigned to."""
    theirs = membership[feature]
    common = np.einsum("ei,ei->e", owners, theirs)
    return (common / (owners.sum(1) + theirs.sum(1) - common)).astype(float)


def _consensus_draw(entries: _Entries) -> int:
    """Of some evenly spaced draws the one whose features resemble those of the others most."""
    drawn = np.unique(entries.draw)
    drawn = drawn[np.unique(np.linspace(0, len(drawn) - 1, SAMPLED).astype(int))]
    chosen = np.flatnonzero(np.isin(entries.draw, drawn))
    place = np.searchsorted(drawn, entries.draw[chosen])
    owners = entries.patterns[entries.pattern[chosen]]
    starts = np.searchsorted(place, np.arange(len(drawn)))
    # of each feature in each draw
    best = np.maximum.reduceat(_jaccard(owners, owners), starts, axis=1)
    total, size = np.add.reduceat(best, starts, axis=0), np.bincount(place)
    likeness = (total + total.T) / (size[:, None] + size)
    return int(drawn[np.argmax(likeness.sum(1))])


def _assigned(entries: _Entries, membership: np.ndarray, similar: float) -> np.ndarray:
    """The common feature of each entry, -1 if none is similar; within a draw the assignment of the
    largest sum of J."""
    from scipy.optimize import linear_sum_assignment

    membership = membership.astype(np.float32)
    near = _jaccard(entries.patterns, membership)
    near[near < similar - 1e-6] = 0.0
    feature = np.full(len(entries.pattern), -1)
    bounds = np.searchsorted(entries.draw, np.arange(entries.n_draws + 1))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        of_draw = near[entries.pattern[first:last]]
        used = np.flatnonzero(of_draw.any(axis=0))
        rows, found = linear_sum_assignment(of_draw[:, used], maximize=True)
        real = of_draw[rows, used[found]] > 0.0
        feature[first + rows[real]] = used[found[real]]
    return feature


def _memberships(entries: _Entries, feature: np.ndarray, features: int) -> np.ndarray:
    """The share of a feature's entries that each option owns; of a feature without any, nothing."""
    from scipy.sparse import csr_array

    here = feature >= 0
    ones = np.ones(int(here.sum()), np.float32)
    counts = csr_array(
        (ones, (feature[here], entries.pattern[here])), (features, len(entries.patterns))
    )
    number = np.bincount(feature[here], minlength=features)
    return (counts @ entries.patterns) / np.maximum(number, 1)[:, None]


def _leaders(
    entries: _Entries, left: np.ndarray, similar: float, min_probability: float
) -> np.ndarray:
    """Further features from what was left over: time and again the frequent pattern near which most
    draws have one."""
    pattern, draw = entries.pattern[left], entries.draw[left]
    leaders = []
    while len(pattern):
        distinct, at, count = np.unique(pattern, return_inverse=True, return_counts=True)
        if len(draw) < min_probability * entries.n_draws:
            break
        frequent = np.argsort(-count, kind="stable")[:LEADERS]
        spread = np.unique(np.linspace(0, len(distinct) - 1, LEADERS).astype(int))
        tried = np.union1d(frequent, spread)
        near = np.greater_equal(
            _jaccard(entries.patterns[distinct[tried]], entries.patterns[distinct]), similar - 1e-6
        )
        found = _cover(near, at, draw, min_probability * entries.n_draws)
        if not found:
            break
        leaders += [entries.patterns[distinct[tried[number]]] for number in found]
        rest = ~np.any(near[found], axis=0)[at]
        pattern, draw = pattern[rest], draw[rest]
    return np.array(leaders, np.float32).reshape(-1, entries.patterns.shape[1])


def _cover(near: np.ndarray, at: np.ndarray, draw: np.ndarray, least: float) -> list[int]:
    """Rows of `near`, greedily: each time the one near an entry of most draws, until fewer than
    `least` have any."""
    found: list[int] = []
    open_ = np.ones(len(at), bool)
    # of entries of one draw and near one row each counts, which is rarely more than one
    while True:
        support = near @ np.bincount(at[open_], minlength=near.shape[1]).astype(float)
        best = int(np.argmax(support))
        hit = near[best][at] & open_
        if len(np.unique(draw[hit])) < max(least, 1.0):
            return found
        found.append(best)
        open_ &= ~hit


SIMILAR = 0.8  # Jaccard index from which on two features are one, unless the user says otherwise
MEMBER = 0.5  # membership from which on an option is named as a member
# objects: of more of them features hardly ever have the same owners in two draws, and are matched
MAX_UNMATCHED = 30


def similar_for(n: int, wanted: float | None = None) -> float | None:
    """The Jaccard index from which on features of n objects are taken for one: that wanted, or one
    that suits n."""
    return SIMILAR if wanted is None and n > MAX_UNMATCHED else wanted


def members_in_words(members: Sequence[str], labels: Sequence[str]) -> str:
    """The members of a feature; of many objects those that lack it, where these are the fewer."""
    if len(labels) <= MAX_UNMATCHED or 2 * len(members) <= len(labels):
        return ", ".join(members)
    lacking = [label for label in labels if label not in set(members)]
    return f"all {len(labels)}" + (f" but {', '.join(lacking)}" if lacking else "")


def matched_features(posterior: Posterior, similar: Any, min_probability: Any) -> Matched:
    """The features of a posterior, matched; those that a single option owns only where the data can
    show them."""
    similar = between("similar", similar, "the minimum Jaccard index of merged features")
    least = check_min_probability(min_probability)
    return match(columns_of(posterior), similar, least, 1 if posterior.shows_single else 2)


def matched_table(posterior: Posterior, found: Matched, ci: float = INTERVAL) -> "pandas.DataFrame":
    """A row a feature, numbered from 1, the most probable first."""
    import pandas as pd

    from thali._tables import Table

    from .features import presence_convergence

    present = found.present.reshape(-1, *posterior.shape)
    bounds = np.searchsorted(found.feature, np.arange(len(found.membership) + 1))
    of_each = [slice(*ends) for ends in pairwise(bounds)]
    ends = np.array([np.quantile(found.weight[part], tails_of(ci)) for part in of_each]).reshape(
        -1, 2
    )
    columns = {
        "members": found.members(posterior.labels),
        "weight": [float(found.weight[part].mean()) for part in of_each],
        "weight_low": ends[:, 0],
        "weight_high": ends[:, 1],
        "stability": [float(found.index[part].mean()) for part in of_each],
        **presence_convergence(present),
        "probability": present.mean(axis=(1, 2)) if len(present) else [],
    }
    table = Table(columns, index=pd.RangeIndex(1, len(found.membership) + 1, name="feature"))
    return drop_ignored_weights(table, posterior)


def membership_table(posterior: Posterior, found: Matched) -> "pandas.DataFrame":
    """Options by features: the share of the draws with the feature in which the option owns it."""
    import pandas as pd

    from thali._tables import Table

    labels = pd.Index(posterior.labels, name="option")
    numbers = pd.RangeIndex(1, len(found.membership) + 1, name="feature")
    return Table(found.membership.T, index=labels, columns=numbers)
