"""The classes of products that people care about: similar ones as one, in words, with their owners
and importance."""

from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import proportion
from thali._model.table_columns import MONTE_CARLO

from ...answers.chooser import standard_error

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.design import ExperimentDesign
    from thali._data.experiments.scheme import Scheme

    from ..particles import Particles


# Distinct preferences: equivalent ways to write a class are merged --------------------------------


class Patterns(NamedTuple):
    """The distinct classes of all draws, and which of them each owned class is.

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


def patterns_of(draws: "Particles", design: "ExperimentDesign") -> Patterns:
    """Merge the classes of all draws."""
    active, member, offset = draws.active.copy(), draws.member.copy(), draws.offset
    nothing = np.zeros(len(active), bool)
    if design.inside >= 0:
        # An active attribute that the no-choice option lacks already excludes that option.
        cells = slice(offset[design.inside], offset[design.inside + 1])
        both = active[:, design.inside] & (active.sum(axis=1) > 1)
        nothing = both & member[:, cells][:, 0]
        active[both, design.inside] = False
        member[both, cells] = True
    only = active.argmax(axis=1)
    flips = (active.sum(axis=1) == 1) & design.never_missing[only]
    disliked = member.copy()
    attribute_of_cell = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    own = flips[:, None] & (attribute_of_cell == only[:, None])
    disliked[own] = ~disliked[own]
    both_ways = np.concatenate([member, disliked])
    packed = np.ascontiguousarray(np.packbits(both_ways, axis=1))
    _, first, number = np.unique(
        packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    of_class = number.reshape(2, -1).T.astype(np.int64)
    of_class[nothing] = -1
    return Patterns(np.concatenate([active, active])[first], both_ways[first], of_class, flips)


# Classes of products in words: "price <= 150 & zoom = yes" ----------------------------------------


_PRODUCT, _NO_CHOICE = "any product", "no choice"


def class_name(
    active: np.ndarray,
    member: np.ndarray,
    scheme: "Scheme",
    monotone: np.ndarray,
    never_missing: np.ndarray,
) -> str:
    """What the products of a class have in common."""
    parts, begin = [], 0
    cuts = {attribute.name: attribute.cuts for attribute in scheme.attributes}
    for i, (name, levels) in enumerate(scheme.levels.items()):
        held = member[begin : begin + len(levels)]
        begin += len(levels)
        if not active[i]:
            continue
        if scheme.has_inside and i == 0:
            parts.append(_PRODUCT if held[1] else _NO_CHOICE)
        else:
            parts.append(
                f"{name}"
                f" {_levels(held, levels, cuts.get(name, ()), monotone[i] != 0, never_missing[i])}"
            )
    return " & ".join(parts) or "everything"


def _levels(
    held: np.ndarray, levels: tuple[str, ...], cuts: tuple[float, ...], ordered: bool, whole: bool
) -> str:
    """A threshold where the levels have an order and the set is one end of it, else one level, or a
    list."""
    number, last = int(held.sum()), len(levels) - 1
    at_start, at_end = bool(held[:number].all()), bool(held[last + 1 - number :].all())
    if cuts and ordered and (at_start or at_end):
        return (
            f"<= {_number(cuts[number - 1])}" if at_start else f"> {_number(cuts[last - number])}"
        )
    names = list(compress(levels, held))
    if number == 1:
        return f"= {names[0]}"
    if ordered and at_start:
        return f"<= {names[-1]}"
    if ordered and at_end:
        return f">= {names[0]}"
    if number == last and whole:
        return f"!= {next(level for level, inside in zip(levels, held, strict=True) if not inside)}"
    return f"in {{{', '.join(names)}}}"


def _number(cut: float) -> str:
    return np.format_float_positional(cut, trim="-")


# Groups of similar classes: classes that hold nearly the same products count as one ---------------


OVERLAP = "the minimum overlap of merged classes"
SIMILAR = 0.5  # overlap from which on classes count as one
_CENTRES = 2_000  # classes, the most important ones, around which groups form


def centres_of(
    patterns: Patterns, offset: np.ndarray, inside: int, weight: np.ndarray, similar: float
) -> np.ndarray:
    """The centre of every pattern's group: the heaviest one in no group yet takes in those similar
    to it, and so on."""
    centre, free = np.arange(len(weight)), np.ones(len(weight), bool)
    for k in np.argsort(-weight, kind="stable")[:_CENTRES]:
        if free[k]:
            own = free & (overlaps(patterns, offset, inside, k) >= similar)
            own[k] = True
            centre[own], free[own] = k, False
    return centre


def merged(patterns: Patterns, centre: np.ndarray) -> Patterns:
    """The patterns of the centres, with all classes of a group counted as its centre."""
    centres, of_pattern = np.unique(centre, return_inverse=True)
    of_class = np.where(patterns.of_class < 0, -1, of_pattern[patterns.of_class]).astype(np.int64)
    return patterns._replace(
        active=patterns.active[centres], member=patterns.member[centres], of_class=of_class
    )


def overlaps(patterns: Patterns, offset: np.ndarray, inside: int, k: int) -> np.ndarray:
    """|A ∩ B| / |A ∪ B| of pattern k and all others, among all combinations of levels, the
    no-choice option not one."""
    both, sizes = np.ones(len(patterns.active)), np.ones(len(patterns.active))
    for i, (first, last) in enumerate(pairwise(offset)):
        held = patterns.member[:, first + (i == inside) : last]
        both *= (held & held[k]).sum(axis=1)
        sizes *= held.sum(axis=1)
    union = sizes[k] + sizes - both
    return both / np.where(union > 0.0, union, 1.0)


# share of chains that attach to a class half of its importance or more: another seed finds it again
STABLE = 0.5
_BLOCK = 2_000_000  # owned classes that are worked on at a time


class ClassTally(NamedTuple):
    """Sums over draws and people, for each distinct class and group."""

    owners: np.ndarray  # (K, G)
    holders: np.ndarray  # (K, G)
    importance: np.ndarray  # (K, G)
    draws: np.ndarray  # (K,) in which somebody owns it
    new: np.ndarray  # (K,) sum over draws of the probability that a new person owns it


def class_table(
    draws: "Particles", design: "ExperimentDesign", cover: float = 0.8, similar: float = SIMILAR
) -> "pandas.DataFrame":
    """Groups of similar classes, the most important first, until they cover that share of the
    importance."""
    from thali._tables import Table

    cover = proportion("cover", cover, "a share of the importance")
    similar = proportion("similar", similar, OVERLAP)
    patterns = patterns_of(draws, design)
    weight = tally_of(draws, patterns).importance.sum(axis=1)
    centre = centres_of(patterns, draws.offset, design.inside, weight, similar)
    rules = np.bincount(np.unique(centre, return_inverse=True)[1], weight > 0).astype(np.int64)
    patterns = merged(patterns, centre)
    tally = tally_of(draws, patterns)
    count, people = draws.n_draws, draws.n_respondents
    groups = draws.n_groups
    cells = count / groups * people
    owners, importance = tally.owners / cells, tally.importance / cells
    mean = importance.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    order = order[mean[order] > 0]
    covered = np.cumsum(mean[order])
    shown = (
        order[: int(np.searchsorted(covered, cover * covered[-1] * (1 - 1e-12))) + 1]
        if len(order)
        else order
    )
    of_design = (design.scheme, draws.monotone, design.never_missing)
    names = [class_name(patterns.active[k], patterns.member[k], *of_design) for k in shown]
    with np.errstate(invalid="ignore", divide="ignore"):
        liked = tally.holders.sum(axis=1) / tally.owners.sum(axis=1)
    table = Table(
        {
            "product_class": names,
            "rules": rules[shown],
            "share": owners.mean(axis=1)[shown],
            "share_se": standard_error(owners)[shown],
            "share_new": tally.new[shown] / count,
            "liked": liked[shown],
            "probability": tally.draws[shown] / count,
            "stability": (importance >= 0.5 * mean[:, None]).mean(axis=1)[shown],
            "importance_se": standard_error(importance)[shown],
            "importance": mean[shown],
        }
    )
    hidden = len(order) - len(shown)
    if hidden:
        rest = order[len(shown) :]
        table.loc[len(table)] = {
            "product_class": f"other ({hidden:,} {'class' if hidden == 1 else 'classes'})",
            "rules": rules[rest].sum(),
            "importance": mean[rest].sum(),
            "importance_se": standard_error(importance[rest].sum(axis=0, keepdims=True))[0],
        }
    table.attrs.update({MONTE_CARLO: True}, draws=count, groups=groups, classes=len(order))
    return table


def tally_of(draws: "Particles", patterns: Patterns) -> ClassTally:
    """Count owners of distinct classes, and add up how much each weighs for them."""
    # The value of a class for a person is the sum over all columns that are this class of ±(θ + (1
    # - σ) a), θ plus the mean of ε; its importance is the absolute value over the sum of those of
    # all classes the person owns.
    kinds, people = len(patterns.active), draws.n_respondents
    groups = draws.n_groups
    owners, holders, importance = np.zeros((3, kinds * groups))
    in_draws = np.zeros(kinds)
    per_draw = np.diff(draws.first_owned[::people]) if people else np.zeros(draws.n_draws, np.int64)
    for first, last in _blocks(per_draw):
        key, value = _merged(draws, patterns, first, last)
        person, kind = np.divmod(key, max(kinds, 1))
        own = np.bincount(person, np.abs(value), minlength=(last - first) * people)
        share = np.abs(value) / np.where(own > 0, own, 1.0)[person]
        cell = kind * groups + draws.group[first + person // people]
        owners += np.bincount(cell, minlength=kinds * groups)
        holders += np.bincount(cell, value > 0, minlength=kinds * groups)
        importance += np.bincount(cell, share, minlength=kinds * groups)
        once = np.unique(person // people * kinds + kind)
        in_draws += np.bincount(once % max(kinds, 1), minlength=kinds)
    shape = (kinds, groups)
    sums = (owners.reshape(shape), holders.reshape(shape), importance.reshape(shape))
    return ClassTally(*sums, in_draws, _new_owners(draws, patterns))


def _blocks(sizes: np.ndarray) -> Any:
    """Ranges of draws whose owned classes fit into the memory set aside."""
    first, filled = 0, 0
    for d, size in enumerate(sizes):
        if filled and filled + size > _BLOCK:
            yield first, d
            first, filled = d, 0
        filled += size
    yield first, len(sizes)


def _merged(
    draws: "Particles", patterns: Patterns, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Distinct classes of each person and draw: (draw - first) N + person, times the number of
    kinds, plus the kind."""
    people, kinds = draws.n_respondents, len(patterns.active)
    ends = draws.first_owned[first * people : last * people + 1]
    entries = slice(ends[0], ends[-1])
    person = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    d = first + person // max(people, 1)
    c, sign = draws.first_class[d] + draws.owned_class[entries], draws.owned_sign[entries]
    size = np.exp(draws.owned_log_theta[entries]) + ((1.0 - draws.sigma) * draws.a)[d]
    # A value that is too small for a float still counts as one.
    value = np.where((sign == 1) & ~patterns.flips[c], -1.0, 1.0) * np.maximum(
        size, np.finfo(float).tiny
    )
    kind = patterns.of_class[c, sign]
    there = kind >= 0
    key, place = np.unique((person * kinds + kind)[there], return_inverse=True)
    return key, np.bincount(place, value[there], minlength=len(key))


def _new_owners(draws: "Particles", patterns: Patterns) -> np.ndarray:
    """Sum over draws of the probability that a new person owns a class of each kind."""
    kinds, people = len(patterns.active), draws.n_respondents
    draw = np.repeat(np.arange(draws.n_draws), np.diff(draws.first_class))
    owns = draws.n_owners / (draws.beta + people)
    free = np.where(
        draws.polarity < 0, (1.0 + draws.n_negative) / (2.0 + draws.n_owners), draws.polarity
    )
    same = patterns.of_class[:, 0] == patterns.of_class[:, 1]
    rows, probabilities = [], []
    for sign, decisions in enumerate((owns * (1.0 - free), owns * free)):
        decisions = np.where(same, owns if sign == 0 else 0.0, decisions)
        used = (patterns.of_class[:, sign] >= 0) & (decisions > 0)
        rows.append((draw * kinds + patterns.of_class[:, sign])[used])
        probabilities.append(decisions[used])
    cell, place = np.unique(np.concatenate(rows), return_inverse=True)
    none = np.exp(np.bincount(place, np.log1p(-np.concatenate(probabilities)), minlength=len(cell)))
    return np.bincount(cell % max(kinds, 1), 1.0 - none, minlength=kinds)
