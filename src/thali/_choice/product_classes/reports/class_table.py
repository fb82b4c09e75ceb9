"""Table of product classes, with similar ones merged, their owners and importance."""

from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_proportion
from thali._inference.index_arithmetic import argsort_descending, part_indices, part_slice
from thali._inference.numerics.weight_shares import replace_zeros
from thali._labels import choose_number
from thali._model.column_headings import MONTE_CARLO

from ...answers.chooser import standard_error

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._data.experiments.product_encoding import Scheme

    from ..particles import Particles


# Distinct preferences: equivalent classes are merged ----------------------------------------------


class ClassPatterns(NamedTuple):
    """Distinct classes among all draws, and which of them each recorded class is.

    A disliked class with one active attribute that no product lacks equals its complement, liked:
    both give the same differences of utility. A class of products that also requires the no-choice
    option is empty.
    """

    active: np.ndarray  # (K, L) bool
    member: np.ndarray  # (K, levels) bool
    # (classes, 2) int64: row of `active` for owners who like it, who dislike it; -1: no product
    of_class: np.ndarray
    # (classes,) bool: whether a class that is disliked is written as one that is liked
    flips: np.ndarray


def merge_equivalent_classes(draws: "Particles", design: "ExperimentDesign") -> ClassPatterns:
    """Find the distinct classes among all draws, merging equivalent ones."""
    active, member, offset = draws.active.copy(), draws.member.copy(), draws.offset
    is_empty = np.zeros(len(active), bool)
    if design.inside >= 0:
        # An active attribute that the no-choice option lacks already excludes that option.
        cells = part_slice(offset, design.inside)
        has_redundant_inside = active[:, design.inside] & (active.sum(axis=1) > 1)
        is_empty = has_redundant_inside & member[:, cells][:, 0]
        active[has_redundant_inside, design.inside] = False
        member[has_redundant_inside, cells] = True
    only = active.argmax(axis=1)
    flips = (active.sum(axis=1) == 1) & design.never_missing[only]
    disliked = member.copy()
    attribute_of_cell = part_indices(offset)
    complement_cells = flips[:, None] & (attribute_of_cell == only[:, None])
    disliked[complement_cells] = ~disliked[complement_cells]
    both_ways = np.concatenate([member, disliked])
    packed = np.ascontiguousarray(np.packbits(both_ways, axis=1))
    _, first_index, pattern_index = np.unique(
        packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    of_class = pattern_index.reshape(2, -1).T.astype(np.int64)
    of_class[is_empty] = -1
    return ClassPatterns(
        np.concatenate([active, active])[first_index], both_ways[first_index], of_class, flips
    )


# Descriptions of classes: "price <= 150 & zoom = yes" ---------------------------------------------


_PRODUCT, _NO_CHOICE = "any product", "no choice"


def format_class_name(
    active: np.ndarray,
    member: np.ndarray,
    scheme: "Scheme",
    monotone: np.ndarray,
    never_missing: np.ndarray,
) -> str:
    """Return words for the properties that products of a class share."""
    parts, begin = [], 0
    cuts = {attribute.name: attribute.cuts for attribute in scheme.attributes}
    for i, (name, levels) in enumerate(scheme.levels.items()):
        included = member[begin : begin + len(levels)]
        begin += len(levels)
        if not active[i]:
            continue
        if scheme.has_inside and i == 0 and included[1]:
            parts.append(_PRODUCT)
        elif scheme.has_inside and i == 0:
            parts.append(_NO_CHOICE)
        else:
            level_set = _format_level_set(
                included, levels, cuts.get(name, ()), monotone[i] != 0, never_missing[i]
            )
            parts.append(f"{name} {level_set}")
    return " & ".join(parts) or "everything"


def _format_level_set(
    included: np.ndarray,
    levels: tuple[str, ...],
    cuts: tuple[float, ...],
    ordered: bool,
    never_missing: bool,
) -> str:
    """Return words for the included levels: a threshold, a level or a list."""
    # It is a threshold if the levels are ordered and the set is one end of them.
    n_included, last_index = int(included.sum()), len(levels) - 1
    at_start = ordered and included[:n_included].all()
    at_end = ordered and included[last_index + 1 - n_included :].all()
    if cuts and at_start:
        return f"<= {_format_cut(cuts[n_included - 1])}"
    if cuts and at_end:
        return f"> {_format_cut(cuts[last_index - n_included])}"
    names = list(compress(levels, included))
    if n_included == 1:
        return f"= {names[0]}"
    if at_start:
        return f"<= {names[-1]}"
    if at_end:
        return f">= {names[0]}"
    if n_included == last_index and never_missing:
        return f"!= {levels[int(included.argmin())]}"
    return f"in {{{', '.join(names)}}}"


def _format_cut(cut: float) -> str:
    """Return a threshold between levels as a plain decimal number."""
    return np.format_float_positional(cut, trim="-")


# Groups of similar classes, which contain nearly the same products --------------------------------


OVERLAP_MEANING = "the minimum overlap of merged classes"
MIN_OVERLAP = 0.5  # default minimum overlap of merged classes
_MAX_CENTRES = 2_000  # number of most important classes around which groups can form


def group_similar_classes(
    patterns: ClassPatterns,
    offset: np.ndarray,
    inside_index: int,
    weight: np.ndarray,
    min_overlap: float,
) -> np.ndarray:
    """Return, for each distinct class, the central class of its similar group, (K,).

    The most important pattern without a group takes in similar ones without a group, and so on.
    """
    centre, free = np.arange(len(weight)), np.ones(len(weight), bool)
    for k in argsort_descending(weight)[:_MAX_CENTRES]:
        if free[k]:
            members = free & (compute_overlaps(patterns, offset, inside_index, k) >= min_overlap)
            members[k] = True
            centre[members], free[members] = k, False
    return centre


def merge_groups(patterns: ClassPatterns, centre: np.ndarray) -> ClassPatterns:
    """Return the central classes only, with others assigned to their centre."""
    centres, of_pattern = np.unique(centre, return_inverse=True)
    of_class = np.where(patterns.of_class < 0, -1, of_pattern[patterns.of_class]).astype(np.int64)
    return patterns._replace(
        active=patterns.active[centres], member=patterns.member[centres], of_class=of_class
    )


def compute_overlaps(
    patterns: ClassPatterns, offset: np.ndarray, inside_index: int, k: int
) -> np.ndarray:
    """Return the Jaccard overlap of distinct class k with all others.

    Counted among all combinations of levels, without the no-choice option.
    """
    n_common, n_products = np.ones(len(patterns.active)), np.ones(len(patterns.active))
    for i, (start, stop) in enumerate(pairwise(offset)):
        included = patterns.member[:, start + (i == inside_index) : stop]
        n_common *= (included & included[k]).sum(axis=1)
        n_products *= included.sum(axis=1)
    n_union = n_products[k] + n_products - n_common
    return n_common / replace_zeros(n_union)


# share of chains with at least half of the class's importance: another seed will find it again
STABLE = 0.5
_BLOCK_SIZE = 2_000_000  # owned classes processed at a time


class ClassTally(NamedTuple):
    """Owners, likers and importance of each distinct class, summed by group of draws."""

    owners: np.ndarray  # (K, G)
    likers: np.ndarray  # (K, G) owners who like it
    importance: np.ndarray  # (K, G)
    draws: np.ndarray  # (K,) draws with an owner
    new: np.ndarray  # (K,) sum over draws of the probability that a new respondent owns it


def build_class_table(
    draws: "Particles", design: "ExperimentDesign", cover: float = 0.8, similar: float = MIN_OVERLAP
) -> "pandas.DataFrame":
    """Build the table of classes, most important first, up to share `cover`."""
    from thali._exportable_table import Table

    cover = check_proportion("cover", cover, "a share of the importance")
    similar = check_proportion("similar", similar, OVERLAP_MEANING)
    patterns = merge_equivalent_classes(draws, design)
    weight = tally_owners(draws, patterns).importance.sum(axis=1)
    centre = group_similar_classes(patterns, draws.offset, design.inside, weight, similar)
    rules = np.bincount(np.unique(centre, return_inverse=True)[1], weight > 0).astype(np.int64)
    patterns = merge_groups(patterns, centre)
    tally = tally_owners(draws, patterns)
    count, people = draws.n_draws, draws.n_respondents
    groups = draws.n_groups
    cells = count / groups * people
    owners, importance = tally.owners / cells, tally.importance / cells
    mean = importance.mean(axis=1)
    order = argsort_descending(mean)
    order = order[mean[order] > 0]
    covered = np.cumsum(mean[order])
    shown_order = order
    if len(order):
        n_shown = int(np.searchsorted(covered, cover * covered[-1] * (1 - 1e-12))) + 1
        shown_order = order[:n_shown]
    of_design = (design.scheme, draws.monotone, design.never_missing)
    names = [
        format_class_name(patterns.active[k], patterns.member[k], *of_design) for k in shown_order
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        liked = tally.likers.sum(axis=1) / tally.owners.sum(axis=1)
    table = Table(
        {
            "product_class": names,
            "rules": rules[shown_order],
            "share": owners.mean(axis=1)[shown_order],
            "share_se": standard_error(owners)[shown_order],
            "share_new": tally.new[shown_order] / count,
            "liked": liked[shown_order],
            "probability": tally.draws[shown_order] / count,
            "stability": (importance >= 0.5 * mean[:, None]).mean(axis=1)[shown_order],
            "importance_se": standard_error(importance)[shown_order],
            "importance": mean[shown_order],
        }
    )
    hidden_order = order[len(shown_order) :]
    if len(hidden_order):
        noun = choose_number(len(hidden_order), "class", "classes")
        table.loc[len(table)] = {
            "product_class": f"other ({len(hidden_order):,} {noun})",
            "rules": rules[hidden_order].sum(),
            "importance": mean[hidden_order].sum(),
            "importance_se": standard_error(importance[hidden_order].sum(axis=0, keepdims=True))[0],
        }
    table.attrs.update({MONTE_CARLO: True}, draws=count, groups=groups, classes=len(order))
    return table


def tally_owners(draws: "Particles", patterns: ClassPatterns) -> ClassTally:
    """Count owners of each distinct class, and sum its importance."""
    # The value of a class for a respondent sums ±(θ + (1 - σ) a), θ plus the mean of ε, over all
    # columns that are this class; its importance is the absolute value divided by the sum over all
    # classes of the respondent.
    n_patterns, n_people = len(patterns.active), draws.n_respondents
    groups = draws.n_groups
    owners, likers, importance = np.zeros((3, n_patterns * groups))
    in_draws = np.zeros(n_patterns)
    per_draw = np.zeros(draws.n_draws, np.int64)
    if n_people:
        per_draw = np.diff(draws.first_owned[::n_people])
    for start, stop in _split_draws(per_draw):
        key, value = _sum_class_values(draws, patterns, start, stop)
        person, pattern = np.divmod(key, max(n_patterns, 1))
        total_value = np.bincount(person, np.abs(value), minlength=(stop - start) * n_people)
        share = np.abs(value) / replace_zeros(total_value)[person]
        cell = pattern * groups + draws.group[start + person // n_people]
        owners += np.bincount(cell, minlength=n_patterns * groups)
        likers += np.bincount(cell, value > 0, minlength=n_patterns * groups)
        importance += np.bincount(cell, share, minlength=n_patterns * groups)
        draw_pattern = np.unique(person // n_people * n_patterns + pattern)
        in_draws += np.bincount(draw_pattern % max(n_patterns, 1), minlength=n_patterns)
    shape = (n_patterns, groups)
    return ClassTally(
        owners.reshape(shape),
        likers.reshape(shape),
        importance.reshape(shape),
        in_draws,
        _sum_newcomer_probabilities(draws, patterns),
    )


def _split_draws(sizes: np.ndarray) -> Any:
    """Yield ranges of draws with a bounded number of owned classes."""
    start, filled = 0, 0
    for d, size in enumerate(sizes):
        if filled and filled + size > _BLOCK_SIZE:
            yield start, d
            start, filled = d, 0
        filled += size
    yield start, len(sizes)


def _sum_class_values(
    draws: "Particles", patterns: ClassPatterns, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (draw, respondent, class) keys and summed values of owned classes."""
    # A key is ((draw - first) N + respondent) K + pattern.
    n_people, n_patterns = draws.n_respondents, len(patterns.active)
    ends = draws.first_owned[start * n_people : stop * n_people + 1]
    entries = slice(ends[0], ends[-1])
    person = part_indices(ends)
    d = start + person // max(n_people, 1)
    c, sign = draws.first_class[d] + draws.owned_class[entries], draws.owned_sign[entries]
    size = np.exp(draws.owned_log_theta[entries]) + ((1.0 - draws.sigma) * draws.a)[d]
    # A value that is too small for a float still has a sign.
    value = np.where((sign == 1) & ~patterns.flips[c], -1.0, 1.0) * np.maximum(
        size, np.finfo(float).tiny
    )
    pattern = patterns.of_class[c, sign]
    is_possible = pattern >= 0
    key, key_index = np.unique((person * n_patterns + pattern)[is_possible], return_inverse=True)
    return key, np.bincount(key_index, value[is_possible], minlength=len(key))


def _sum_newcomer_probabilities(draws: "Particles", patterns: ClassPatterns) -> np.ndarray:
    """Return summed probabilities that a new respondent owns each class."""
    n_patterns, n_people = len(patterns.active), draws.n_respondents
    draw = part_indices(draws.first_class)
    owns = draws.n_owners / (draws.beta + n_people)
    free = np.where(
        draws.polarity < 0, (1.0 + draws.n_negative) / (2.0 + draws.n_owners), draws.polarity
    )
    is_symmetric = patterns.of_class[:, 0] == patterns.of_class[:, 1]
    rows, probabilities = [], []
    free = np.where(is_symmetric, 0.0, free)
    for sign, owner_probability in enumerate((owns * (1.0 - free), owns * free)):
        is_used = (patterns.of_class[:, sign] >= 0) & (owner_probability > 0)
        rows.append((draw * n_patterns + patterns.of_class[:, sign])[is_used])
        probabilities.append(owner_probability[is_used])
    cell, cell_index = np.unique(np.concatenate(rows), return_inverse=True)
    p_none = np.exp(
        np.bincount(cell_index, np.log1p(-np.concatenate(probabilities)), minlength=len(cell))
    )
    return np.bincount(cell % max(n_patterns, 1), 1.0 - p_none, minlength=n_patterns)
