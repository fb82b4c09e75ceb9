"""`pairs`, `triplets`, `sets`: which options to show together, and to whom."""

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali._data.connectivity import group_numbers
from thali._data.described_columns import shown_columns
from thali._data.roles import column_names
from thali._inference.seeds import spawn_generators
from thali._labels import as_label, labels_of_design, plural
from thali.errors import Argument, ArgumentError, Message

from .products import TASK, VERSION

if TYPE_CHECKING:
    import pandas

MOST_TASKS = 100_000  # of a design
_TRIES = 20  # designs until one is connected
_MORE_SETS = Message("; increase ", Argument("per_person"), " or ", Argument("versions"), ".")


def pairs(
    options: Any, per_person: int | None = None, versions: int = 1, random_seed: Any = None
) -> "pandas.DataFrame":
    """Pairs of options: all of them, or a balanced part for each person.

    Parameters and errors are those of `sets` with sets of two.

    Returns
    -------
    pandas.DataFrame
        A row a pair, with the columns version, task, option1 and option2.

    Examples
    --------
    >>> pairs(["tea", "milk", "juice"], random_seed=1)[["option1", "option2"]].to_numpy().tolist()
    [['juice', 'tea'], ['milk', 'juice'], ['tea', 'milk']]
    """
    return sets(options, 2, per_person, versions, random_seed)


def triplets(
    options: Any, per_person: int | None = None, versions: int = 1, random_seed: Any = None
) -> "pandas.DataFrame":
    """Sets of three objects, to ask which is the odd one out: all of them, or a balanced part for
    each person.

    Parameters and errors are those of `sets` with sets of three.

    Returns
    -------
    pandas.DataFrame
        A row a triplet, with the columns version, task, option1, option2 and option3.

    Examples
    --------
    >>> len(triplets(6, random_seed=1))
    20
    """
    return sets(options, 3, per_person, versions, random_seed)


def sets(
    options: Any,
    size: int,
    per_person: int | None = None,
    versions: int = 1,
    random_seed: Any = None,
) -> "pandas.DataFrame":
    """Sets of options of one size: all of them, or a balanced part for each person.

    A part is an incomplete block design found greedily: each set takes the options that were shown
    least, and among them those that were seldom shown together. Within a version the options are
    shown equally often, give or take one, as far as that is possible, and over all versions pairs
    of options are together nearly equally often. No set is twice in a version. All options are
    compared, if only through others, within the design as a whole.

    Parameters
    ----------
    options : int or sequence of str
        How many, or their labels.
    size : int
        Options in a set, 2 or more.
    per_person : int, optional
        Sets that each person sees; by default all that there are.
    versions : int, default 1
        Different parts; each person answers one.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same design.

    Returns
    -------
    pandas.DataFrame
        A row a set, with the columns version, task, option1, ..., option`size`; the place of
        options in a set and the order of sets are random.

    Raises
    ------
    ArgumentError
        If there are fewer options than a set has, or not so many sets, or if so few sets cannot
        connect the options.

    References
    ----------
    Louviere, Flynn & Marley (2015), Best-Worst Scaling, chapter 2.

    Examples
    --------
    >>> design = sets(["a", "b", "c", "d", "e", "f"], 3, per_person=4, random_seed=1)
    >>> design.filter(like="option").stack().value_counts().unique().tolist()
    [2]
    """
    import pandas as pd

    size = whole("size", size, 2)
    labels = labels_of_design(options, size)
    versions = whole("versions", versions, 1)
    every = math.comb(len(labels), size)
    tasks = every if per_person is None else whole("per_person", per_person, 1)
    if tasks > every:
        raise ArgumentError(
            Argument("per_person"),
            f" must be at most {every:,}, the number of all sets; got {tasks:,}.",
        )
    if tasks * versions > MOST_TASKS:
        raise ArgumentError(
            f"The design would have {tasks * versions:,} sets, too many for one design; limit them"
            " with ",
            Argument("per_person"),
            ", the number of sets per respondent.",
        )
    if tasks * versions * (size - 1) < len(labels) - 1:
        raise ArgumentError(
            f"{plural(tasks * versions, 'set')} of {size} options cannot connect all {len(labels)}"
            " options",
            _MORE_SETS,
        )
    rng = spawn_generators(random_seed, 1)[0]
    found = (
        _complete(len(labels), size, versions, rng)
        if tasks == every
        else _parts(len(labels), size, tasks, versions, rng)
    )
    names = np.array(labels, dtype=object)
    table = pd.DataFrame(
        names[found.reshape(-1, size)], columns=[f"option{k + 1}" for k in range(size)]
    )
    table.insert(0, TASK, np.tile(np.arange(1, tasks + 1), versions))
    table.insert(0, VERSION, np.repeat(np.arange(1, versions + 1), tasks))
    return table


def sets_in(design: Any) -> "pandas.DataFrame | None":
    """A design of pairs or sets with a row an option: version, task, alternative, option; None:
    another design."""
    import pandas as pd

    if not isinstance(design, pd.DataFrame):
        return None
    shown = shown_columns(column_names(design))
    if len(shown) < 2:
        return None
    frame = design.reset_index(drop=True)
    if TASK not in frame:  # all of one person
        frame = frame.assign(**{TASK: frame.index + 1})
    keys = [name for name in (VERSION, TASK) if name in frame]
    parts = [
        frame[keys].assign(alternative=k, option=frame[name].map(as_label))
        for k, name in enumerate(shown, start=1)
    ]
    long = pd.concat(parts).sort_values([*keys, "alternative"], kind="stable")
    return long.loc[long["option"] != ""].reset_index(drop=True)


def rounds(n: int) -> list[list[tuple[int, int]]]:
    """All pairs of n options in rounds, in each of which no option is twice; all are first as often
    as second.

    On a circle of an odd number, round r pairs the two neighbours of r, then theirs; an additional
    option is paired with r itself, and is first in every other round. David (1988), section 5.2.
    """
    m = n - (n % 2 == 0)
    found = []
    for r in range(m):
        last = [] if m == n else [(m, r) if r % 2 == 0 else (r, m)]
        found.append(last + [((r - k) % m, (r + k) % m) for k in range(1, m // 2 + 1)])
    return found


def _complete(n: int, size: int, versions: int, rng: np.random.Generator) -> np.ndarray:
    """All sets in random order, once a version: (versions, tasks, size); of pairs each option is as
    often first."""
    every = np.array(list(combinations(range(n), size)))
    if size > 2:
        return np.stack(
            [rng.permuted(every[rng.permutation(len(every))], axis=1) for _ in range(versions)]
        )
    pairs = np.array([pair for each in rounds(n) for pair in each])
    return np.stack(
        [rng.permutation(n)[pairs[rng.permutation(len(pairs))]] for _ in range(versions)]
    )


def _parts(n: int, size: int, tasks: int, versions: int, rng: np.random.Generator) -> np.ndarray:
    """Some of the sets, balanced and connected: (versions, tasks, size)."""
    for _ in range(_TRIES):
        together = np.zeros((n, n), np.int64)
        found = np.stack([_version(n, size, tasks, together, rng) for _ in range(versions)])
        if group_numbers(n, *np.nonzero(together))[0] == 1:
            return rng.permuted(found, axis=2)
    raise ArgumentError(
        f"So few sets leave some of the {n} options unconnected to the others", _MORE_SETS
    )


def _version(
    n: int, size: int, tasks: int, together: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The sets of one person; `together` counts over all versions how often two options were in a
    set."""
    shown = np.zeros(n, np.int64)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < tasks:
        chosen = _next_set(size, shown, together, rng)
        for _ in range(_TRIES):
            if tuple(sorted(chosen)) not in found:
                break
            chosen = _next_set(size, shown + rng.integers(2, size=n), together, rng)
        while tuple(sorted(chosen)) in found:
            chosen = rng.choice(n, size, replace=False).tolist()
        found[tuple(sorted(chosen))] = None
        shown[chosen] += 1
        together[np.ix_(chosen, chosen)] += 1
    return np.array(list(found))


def _next_set(
    size: int, shown: np.ndarray, together: np.ndarray, rng: np.random.Generator
) -> list[int]:
    """Options that were shown least, of which few were together."""
    chosen: list[int] = []
    free = np.ones(len(shown), bool)
    for _ in range(size):
        with_these = together[:, chosen].sum(axis=1)
        order = np.lexsort((rng.random(len(shown)), with_these, shown))
        place = int(order[free[order]][0])
        chosen.append(place)
        free[place] = False
    return chosen
