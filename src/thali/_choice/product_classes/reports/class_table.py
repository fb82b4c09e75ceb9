"""Table of product classes, with similar ones merged, their owners and importance."""

from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_proportion
from thali._inference.index_arithmetic import argsort_descending, part_indices, part_slice
from thali._inference.numerics.weight_shares import replace_zeros
from thali._labels import choose_number
from thali._model.column_headings import MONTE_CARLO

from ...reports.choice_draws import standard_error

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._data.experiments.product_encoding import Scheme

    from ..ragged_draws import Particles


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
    active = draws.active.copy()
    member = draws.member.copy()
    offset = draws.offset
    is_empty = np.zeros(len(active), bool)
    if design.inside >= 0:
        # An active attribute that the no-choice option lacks already excludes that option.
        inside_cells = part_slice(offset, design.inside)
        has_redundant_inside = active[:, design.inside] & (active.sum(axis=1) > 1)
        is_empty = has_redundant_inside & member[:, inside_cells][:, 0]
        active[has_redundant_inside, design.inside] = False
        member[has_redundant_inside, inside_cells] = True
    first_active = active.argmax(axis=1)
    has_flip = (active.sum(axis=1) == 1) & design.never_missing[first_active]
    disliked_members = member.copy()
    attribute_of_cell = part_indices(offset)
    complement_cells = has_flip[:, None] & (attribute_of_cell == first_active[:, None])
    disliked_members[complement_cells] = ~disliked_members[complement_cells]
    both_ways = np.concatenate([member, disliked_members])
    packed_bits = np.ascontiguousarray(np.packbits(both_ways, axis=1))
    _, first_index, pattern_index = np.unique(
        packed_bits.view(f"V{packed_bits.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    pattern_of_class = pattern_index.reshape(2, -1).T.astype(np.int64)
    pattern_of_class[is_empty] = -1
    return ClassPatterns(
        np.concatenate([active, active])[first_index],
        both_ways[first_index],
        pattern_of_class,
        has_flip,
    )


# Descriptions of classes: "price <= 150 & zoom = yes" ---------------------------------------------


_PRODUCT = "any product"
_NO_CHOICE = "no choice"


def format_class_name(
    active: np.ndarray,
    member: np.ndarray,
    scheme: "Scheme",
    monotone: np.ndarray,
    never_missing: np.ndarray,
) -> str:
    """Return words for the properties that products of a class share."""
    property_texts = []
    first_cell = 0
    cuts_by_attribute = {attribute.name: attribute.cuts for attribute in scheme.attributes}
    for i, (attribute_name, levels) in enumerate(scheme.levels.items()):
        is_included = member[first_cell : first_cell + len(levels)]
        first_cell += len(levels)
        if not active[i]:
            continue
        if scheme.has_inside and i == 0 and is_included[1]:
            property_texts.append(_PRODUCT)
        elif scheme.has_inside and i == 0:
            property_texts.append(_NO_CHOICE)
        else:
            level_set = _format_level_set(
                is_included,
                levels,
                cuts_by_attribute.get(attribute_name, ()),
                monotone[i] != 0,
                never_missing[i],
            )
            property_texts.append(f"{attribute_name} {level_set}")
    return " & ".join(property_texts) or "everything"


def _format_level_set(
    included: np.ndarray,
    levels: tuple[str, ...],
    cuts: tuple[float, ...],
    ordered: bool,
    never_missing: bool,
) -> str:
    """Return words for the included levels: a threshold, a level or a list."""
    # It is a threshold if the levels are ordered and the set is one end of them.
    n_included = int(included.sum())
    last_index = len(levels) - 1
    at_start = ordered and included[:n_included].all()
    at_end = ordered and included[last_index + 1 - n_included :].all()
    if cuts and at_start:
        return f"<= {_format_cut(cuts[n_included - 1])}"
    if cuts and at_end:
        return f"> {_format_cut(cuts[last_index - n_included])}"
    level_names = list(compress(levels, included))
    if n_included == 1:
        return f"= {level_names[0]}"
    if at_start:
        return f"<= {level_names[-1]}"
    if at_end:
        return f">= {level_names[0]}"
    if n_included == last_index and never_missing:
        return f"!= {levels[int(included.argmin())]}"
    return f"in {{{', '.join(level_names)}}}"


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
    centre = np.arange(len(weight))
    is_ungrouped = np.ones(len(weight), bool)
    for k in argsort_descending(weight)[:_MAX_CENTRES]:
        if is_ungrouped[k]:
            is_member = is_ungrouped & (
                compute_overlaps(patterns, offset, inside_index, k) >= min_overlap
            )
            is_member[k] = True
            centre[is_member] = k
            is_ungrouped[is_member] = False
    return centre


def merge_groups(patterns: ClassPatterns, centre: np.ndarray) -> ClassPatterns:
    """Return the central classes only, with others assigned to their centre."""
    central_patterns, group_of_pattern = np.unique(centre, return_inverse=True)
    group_of_class = np.where(
        patterns.of_class < 0, -1, group_of_pattern[patterns.of_class]
    ).astype(np.int64)
    return patterns._replace(
        active=patterns.active[central_patterns],
        member=patterns.member[central_patterns],
        of_class=group_of_class,
    )


def compute_overlaps(
    patterns: ClassPatterns, offset: np.ndarray, inside_index: int, k: int
) -> np.ndarray:
    """Return the Jaccard overlap of distinct class k with all others.

    Counted among all combinations of levels, without the no-choice option.
    """
    n_common = np.ones(len(patterns.active))
    n_products = np.ones(len(patterns.active))
    for i, (first_cell, stop_cell) in enumerate(pairwise(offset)):
        is_included = patterns.member[:, first_cell + (i == inside_index) : stop_cell]
        n_common *= (is_included & is_included[k]).sum(axis=1)
        n_products *= is_included.sum(axis=1)
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
    total_importance = tally_owners(draws, patterns).importance.sum(axis=1)
    centre = group_similar_classes(patterns, draws.offset, design.inside, total_importance, similar)
    n_merged = np.bincount(np.unique(centre, return_inverse=True)[1], total_importance > 0).astype(
        np.int64
    )
    patterns = merge_groups(patterns, centre)
    tally = tally_owners(draws, patterns)
    n_draws = draws.n_draws
    n_people = draws.n_respondents
    n_groups = draws.n_groups
    respondents_per_group = n_draws / n_groups * n_people
    owners = tally.owners / respondents_per_group
    importance = tally.importance / respondents_per_group
    mean_importance = importance.mean(axis=1)
    importance_order = argsort_descending(mean_importance)
    importance_order = importance_order[mean_importance[importance_order] > 0]
    shown_order = importance_order[: _count_shown_classes(mean_importance[importance_order], cover)]
    class_names = [
        format_class_name(
            patterns.active[k],
            patterns.member[k],
            design.scheme,
            draws.monotone,
            design.never_missing,
        )
        for k in shown_order
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        share_liked = tally.likers.sum(axis=1) / tally.owners.sum(axis=1)
    table = Table(
        {
            "product_class": class_names,
            "rules": n_merged[shown_order],
            "share": owners.mean(axis=1)[shown_order],
            "share_se": standard_error(owners)[shown_order],
            "share_new": tally.new[shown_order] / n_draws,
            "liked": share_liked[shown_order],
            "probability": tally.draws[shown_order] / n_draws,
            "stability": (importance >= 0.5 * mean_importance[:, None]).mean(axis=1)[shown_order],
            "importance_se": standard_error(importance)[shown_order],
            "importance": mean_importance[shown_order],
        }
    )
    hidden_order = importance_order[len(shown_order) :]
    if len(hidden_order):
        noun = choose_number(len(hidden_order), "class", "classes")
        table.loc[len(table)] = {
            "product_class": f"other ({len(hidden_order):,} {noun})",
            "rules": n_merged[hidden_order].sum(),
            "importance": mean_importance[hidden_order].sum(),
            "importance_se": standard_error(importance[hidden_order].sum(axis=0, keepdims=True))[0],
        }
    table.attrs.update(
        {MONTE_CARLO: True}, draws=n_draws, groups=n_groups, classes=len(importance_order)
    )
    return table


def _count_shown_classes(sorted_importance: np.ndarray, cover: float) -> int:
    """Return the number of classes, most important first, up to share `cover`."""
    if len(sorted_importance) == 0:
        return 0
    cumulative_importance = np.cumsum(sorted_importance)
    covered_importance = cover * cumulative_importance[-1] * (1 - 1e-12)
    return int(np.searchsorted(cumulative_importance, covered_importance)) + 1


def tally_owners(draws: "Particles", patterns: ClassPatterns) -> ClassTally:
    """Count owners of each distinct class, and sum its importance."""
    # The value of a class for a respondent sums ±(θ + (1 - σ) a), θ plus the mean of ε, over all
    # columns that are this class; its importance is the absolute value divided by the sum over all
    # classes of the respondent.
    n_patterns = len(patterns.active)
    n_people = draws.n_respondents
    n_groups = draws.n_groups
    owners, likers, importance = np.zeros((3, n_patterns * n_groups))
    in_draws = np.zeros(n_patterns)
    n_owned_by_draw = np.zeros(draws.n_draws, np.int64)
    if n_people:
        n_owned_by_draw = np.diff(draws.first_owned[::n_people])
    for first_draw, stop_draw in _split_draws(n_owned_by_draw):
        owner_keys, class_values = _sum_class_values(draws, patterns, first_draw, stop_draw)
        owner_indices, pattern_indices = np.divmod(owner_keys, max(n_patterns, 1))
        total_value = np.bincount(
            owner_indices, np.abs(class_values), minlength=(stop_draw - first_draw) * n_people
        )
        value_shares = np.abs(class_values) / replace_zeros(total_value)[owner_indices]
        cell_indices = (
            pattern_indices * n_groups + draws.group[first_draw + owner_indices // n_people]
        )
        owners += np.bincount(cell_indices, minlength=n_patterns * n_groups)
        likers += np.bincount(cell_indices, class_values > 0, minlength=n_patterns * n_groups)
        importance += np.bincount(cell_indices, value_shares, minlength=n_patterns * n_groups)
        draw_pattern = np.unique(owner_indices // n_people * n_patterns + pattern_indices)
        in_draws += np.bincount(draw_pattern % max(n_patterns, 1), minlength=n_patterns)
    shape = (n_patterns, n_groups)
    return ClassTally(
        owners.reshape(shape),
        likers.reshape(shape),
        importance.reshape(shape),
        in_draws,
        _sum_newcomer_probabilities(draws, patterns),
    )


def _split_draws(sizes: np.ndarray) -> Any:
    """Yield ranges of draws with a bounded number of owned classes."""
    first_draw = 0
    n_filled = 0
    for d, n_owned in enumerate(sizes):
        if n_filled and n_filled + n_owned > _BLOCK_SIZE:
            yield first_draw, d
            first_draw = d
            n_filled = 0
        n_filled += n_owned
    yield first_draw, len(sizes)


def _sum_class_values(
    draws: "Particles", patterns: ClassPatterns, start: int, stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (draw, respondent, class) keys and summed values of owned classes."""
    # A key is ((draw - first) N + respondent) K + pattern.
    n_people = draws.n_respondents
    n_patterns = len(patterns.active)
    owned_bounds = draws.first_owned[start * n_people : stop * n_people + 1]
    owned_slice = slice(owned_bounds[0], owned_bounds[-1])
    owner_of_entry = part_indices(owned_bounds)
    draw_of_entry = start + owner_of_entry // max(n_people, 1)
    class_of_entry = draws.first_class[draw_of_entry] + draws.owned_class[owned_slice]
    sign_of_entry = draws.owned_sign[owned_slice]
    value_sizes = (
        np.exp(draws.owned_log_theta[owned_slice]) + ((1.0 - draws.sigma) * draws.a)[draw_of_entry]
    )
    # A value that is too small for a float still has a sign.
    signed_values = np.where(
        (sign_of_entry == 1) & ~patterns.flips[class_of_entry], -1.0, 1.0
    ) * np.maximum(value_sizes, np.finfo(float).tiny)
    pattern_of_entry = patterns.of_class[class_of_entry, sign_of_entry]
    is_possible = pattern_of_entry >= 0
    unique_keys, key_index = np.unique(
        (owner_of_entry * n_patterns + pattern_of_entry)[is_possible], return_inverse=True
    )
    return unique_keys, np.bincount(
        key_index, signed_values[is_possible], minlength=len(unique_keys)
    )


def _sum_newcomer_probabilities(draws: "Particles", patterns: ClassPatterns) -> np.ndarray:
    """Return summed probabilities that a new respondent owns each class."""
    n_patterns = len(patterns.active)
    n_people = draws.n_respondents
    draw_of_class = part_indices(draws.first_class)
    p_owns = draws.n_owners / (draws.beta + n_people)
    p_likes = np.where(
        draws.polarity < 0, (1.0 + draws.n_negative) / (2.0 + draws.n_owners), draws.polarity
    )
    is_symmetric = patterns.of_class[:, 0] == patterns.of_class[:, 1]
    key_blocks = []
    probabilities = []
    p_likes = np.where(is_symmetric, 0.0, p_likes)
    for sign, owner_probability in enumerate((p_owns * (1.0 - p_likes), p_owns * p_likes)):
        is_used = (patterns.of_class[:, sign] >= 0) & (owner_probability > 0)
        key_blocks.append((draw_of_class * n_patterns + patterns.of_class[:, sign])[is_used])
        probabilities.append(owner_probability[is_used])
    unique_cells, cell_index = np.unique(np.concatenate(key_blocks), return_inverse=True)
    p_none = np.exp(
        np.bincount(
            cell_index, np.log1p(-np.concatenate(probabilities)), minlength=len(unique_cells)
        )
    )
    return np.bincount(unique_cells % max(n_patterns, 1), 1.0 - p_none, minlength=n_patterns)
