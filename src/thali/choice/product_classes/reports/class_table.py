"""The classes of products that people care about: the share of owners and the importance of each."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import proportion

from ...answers.chooser import standard_error
from .class_groups import OVERLAP, SIMILAR, centres_of, merged
from .class_names import class_name
from .class_patterns import Patterns, patterns_of

if TYPE_CHECKING:
    import pandas

    from thali.data.experiments.design import Design

    from ..particles import Particles

STABLE = 0.5  # share of chains that attach to a class half of its importance or more: another seed finds it again
_BLOCK = 2_000_000  # owned classes that are worked on at a time


class Tally(NamedTuple):
    """Sums over draws and people, for each distinct class and group."""

    owners: np.ndarray  # (K, G)
    holders: np.ndarray  # (K, G)
    importance: np.ndarray  # (K, G)
    draws: np.ndarray  # (K,) in which somebody owns it
    new: np.ndarray  # (K,) sum over draws of the probability that a new person owns it


def class_table(
    draws: "Particles", design: "Design", cover: float = 0.8, similar: float = SIMILAR
) -> "pandas.DataFrame":
    """Groups of similar classes, the most important first, until they cover that share of the importance."""
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
    groups = int(draws.group.max(initial=0)) + 1
    cells = count / groups * people
    owners, importance = tally.owners / cells, tally.importance / cells
    mean = importance.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    order = order[mean[order] > 0]
    covered = np.cumsum(mean[order])
    shown = order[: int(np.searchsorted(covered, cover * covered[-1] * (1 - 1e-12))) + 1] if len(order) else order
    of_design = (design.scheme, draws.monotone, design.never_missing)
    names = [class_name(patterns.active[k], patterns.member[k], *of_design) for k in shown]
    with np.errstate(invalid="ignore", divide="ignore"):
        liked = tally.holders.sum(axis=1) / tally.owners.sum(axis=1)
    table = Table(
        {
            "class": names,
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
            "class": f"other ({hidden:,} {'class' if hidden == 1 else 'classes'})",
            "rules": rules[rest].sum(),
            "importance": mean[rest].sum(),
            "importance_se": standard_error(importance[rest].sum(axis=0, keepdims=True))[0],
        }
    table.attrs.update(draws=count, groups=groups, classes=len(order))
    return table


def tally_of(draws: "Particles", patterns: Patterns) -> Tally:
    """Count owners of distinct classes, and add up how much each weighs for them.

    The value of a class for a person is the sum over all columns that are this class of ±(θ + (1 - σ) a), θ plus the
    mean of ε; its importance is the absolute value over the sum of those of all classes the person owns.
    """
    kinds, people = len(patterns.active), draws.n_respondents
    groups = int(draws.group.max(initial=0)) + 1
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
    return Tally(*sums, in_draws, _new_owners(draws, patterns))


def _blocks(sizes: np.ndarray) -> Any:
    """Ranges of draws whose owned classes fit into the memory set aside."""
    first, filled = 0, 0
    for d, size in enumerate(sizes):
        if filled and filled + size > _BLOCK:
            yield first, d
            first, filled = d, 0
        filled += size
    yield first, len(sizes)


def _merged(draws: "Particles", patterns: Patterns, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct classes of each person and draw: (draw - first) N + person, times the number of kinds, plus the kind."""
    people, kinds = draws.n_respondents, len(patterns.active)
    ends = draws.first_owned[first * people : last * people + 1]
    entries = slice(ends[0], ends[-1])
    person = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    d = first + person // max(people, 1)
    c, sign = draws.first_class[d] + draws.owned_class[entries], draws.owned_sign[entries]
    size = np.exp(draws.owned_log_theta[entries]) + ((1.0 - draws.sigma) * draws.a)[d]
    # A value that is too small for a float still counts as one.
    value = np.where((sign == 1) & ~patterns.flips[c], -1.0, 1.0) * np.maximum(size, np.finfo(float).tiny)
    kind = patterns.of_class[c, sign]
    there = kind >= 0
    key, place = np.unique((person * kinds + kind)[there], return_inverse=True)
    return key, np.bincount(place, value[there], minlength=len(key))


def _new_owners(draws: "Particles", patterns: Patterns) -> np.ndarray:
    """Sum over draws of the probability that a new person owns a class of each kind."""
    kinds, people = len(patterns.active), draws.n_respondents
    draw = np.repeat(np.arange(draws.n_draws), np.diff(draws.first_class))
    owns = draws.n_owners / (draws.beta + people)
    free = np.where(draws.polarity < 0, (1.0 + draws.n_negative) / (2.0 + draws.n_owners), draws.polarity)
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
