"""`pairs`, `triplets`, `sets`: designs of option sets, by version and task."""

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer
from thali._data.column_guesses import find_option_columns
from thali._data.column_roles import column_names
from thali._data.connectivity import number_components
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import check_design_labels, format_label, format_plural
from thali.errors import Argument, ArgumentError, Message

from .product_coding import TASK, VERSION

if TYPE_CHECKING:
    import pandas

MAX_DESIGN_TASKS = 100_000  # tasks of one design, over all versions
_MAX_TRIES = 20  # attempts to connect all options, or to find a new set
_MORE_SETS = Message("; increase ", Argument("per_person"), " or ", Argument("versions"), ".")


def pairs(
    options: Any, per_person: int | None = None, versions: int = 1, random_seed: RandomSeed = None
) -> "pandas.DataFrame":
    """Build a design of option pairs: all pairs, or a balanced subset per version.

    Parameters and errors are those of `sets` with sets of two.

    Returns
    -------
    pandas.DataFrame
        One row per pair, with the columns version, task, option1 and option2.

    Examples
    --------
    >>> pairs(["tea", "milk", "juice"], random_seed=1)[["option1", "option2"]].to_numpy().tolist()
    [['juice', 'tea'], ['milk', 'juice'], ['tea', 'milk']]
    """
    return sets(options, 2, per_person, versions, random_seed)


def triplets(
    options: Any, per_person: int | None = None, versions: int = 1, random_seed: RandomSeed = None
) -> "pandas.DataFrame":
    """Build a design of triplets (odd one out): all, or a balanced subset per version.

    Parameters and errors are those of `sets` with sets of three.

    Returns
    -------
    pandas.DataFrame
        One row per triplet, with the columns version, task, option1, option2 and option3.

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
    random_seed: RandomSeed = None,
) -> "pandas.DataFrame":
    """Build a design of option sets: all sets, or a balanced subset per version.

    A subset is an incomplete block design built greedily: each set takes the options shown least
    often so far and, among these, options that rarely appeared together. Within a version all
    options are shown equally often (plus or minus one) where possible, and over all versions each
    pair of options appears together nearly equally often. No set occurs twice in a version. The
    complete design connects all options, directly or through others.

    Parameters
    ----------
    options : int or sequence of str
        Number of options, or their labels.
    size : int
        Options in a set, 2 or more.
    per_person : int, optional
        Sets that each respondent sees; by default all possible sets.
    versions : int, default 1
        Number of different subsets; each respondent answers one.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same design.

    Returns
    -------
    pandas.DataFrame
        One row per set, with the columns version, task, option1, ..., option`size`; the order of
        options in a set and the order of sets are random.

    Raises
    ------
    ArgumentError
        If there are fewer options than `size`, fewer possible sets than `per_person`, or too few
        sets to connect the options.

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

    size = check_integer("size", size, 2)
    labels = check_design_labels(options, size)
    versions = check_integer("versions", versions, 1)
    n_possible_sets = math.comb(len(labels), size)
    n_tasks = n_possible_sets
    if per_person is not None:
        n_tasks = check_integer("per_person", per_person, 1)
    if n_tasks > n_possible_sets:
        raise ArgumentError(
            Argument("per_person"),
            f" must be at most {n_possible_sets:,}, the number of possible sets; got {n_tasks:,}.",
        )
    if n_tasks * versions > MAX_DESIGN_TASKS:
        raise ArgumentError(
            f"The design would have {n_tasks * versions:,} sets, which are too many; limit"
            " them with ",
            Argument("per_person"),
            ", the number of sets per respondent.",
        )
    if n_tasks * versions * (size - 1) < len(labels) - 1:
        raise ArgumentError(
            f"{format_plural(n_tasks * versions, 'set')} of {size} options cannot connect all"
            f" {len(labels)} options",
            _MORE_SETS,
        )
    rng = spawn_generators(random_seed, 1)[0]
    if n_tasks == n_possible_sets:
        option_numbers = _draw_complete_design(len(labels), size, versions, rng)
    else:
        option_numbers = _draw_balanced_design(len(labels), size, n_tasks, versions, rng)
    label_array = np.array(labels, object)
    table = pd.DataFrame(
        label_array[option_numbers.reshape(-1, size)],
        columns=[f"option{k + 1}" for k in range(size)],
    )
    table.insert(0, TASK, np.tile(np.arange(1, n_tasks + 1), versions))
    table.insert(0, VERSION, np.repeat(np.arange(1, versions + 1), n_tasks))
    return table


def read_sets(design: Any) -> "pandas.DataFrame | None":
    """Return a design of option sets as long table; None for other designs.

    The table has one row per shown option: version, task, alternative, option.
    """
    import pandas as pd

    if not isinstance(design, pd.DataFrame):
        return None
    option_columns = find_option_columns(column_names(design))
    if len(option_columns) < 2:
        return None
    frame = design.reset_index(drop=True)
    if TASK not in frame:  # one version that all respondents answer
        frame = frame.assign(**{TASK: frame.index + 1})
    task_columns = [name for name in (VERSION, TASK) if name in frame]
    option_rows = [
        frame[task_columns].assign(alternative=k, option=frame[name].map(format_label))
        for k, name in enumerate(option_columns, start=1)
    ]
    long_table = pd.concat(option_rows).sort_values([*task_columns, "alternative"], kind="stable")
    return long_table.loc[long_table["option"] != ""].reset_index(drop=True)


def schedule_rounds(n: int) -> list[list[tuple[int, int]]]:
    """Schedule all pairs of n options in rounds, each option once per round.

    Each option is first as often as second. On a circle of an odd number of options, round r pairs
    the two neighbours of r, then the next two, and so on; an additional option is paired with r,
    and is first in every other round. David (1988), section 5.2.
    """
    n_odd = n - (n % 2 == 0)
    schedule = []
    for r in range(n_odd):
        round_pairs = [((r - k) % n_odd, (r + k) % n_odd) for k in range(1, n_odd // 2 + 1)]
        if n_odd < n and r % 2 == 0:
            round_pairs.insert(0, (n_odd, r))
        elif n_odd < n:
            round_pairs.insert(0, (r, n_odd))
        schedule.append(round_pairs)
    return schedule


def _draw_complete_design(n: int, size: int, versions: int, rng: np.random.Generator) -> np.ndarray:
    """Return all sets in random order, for each version, (versions, tasks, size)."""
    # In pairs, each option is first as often as second.
    all_sets = np.array(list(combinations(range(n), size)))
    if size > 2:
        return np.stack(
            [
                rng.permuted(all_sets[rng.permutation(len(all_sets))], axis=1)
                for _ in range(versions)
            ]
        )
    scheduled_pairs = np.array([pair for round_pairs in schedule_rounds(n) for pair in round_pairs])
    return np.stack(
        [
            rng.permutation(n)[scheduled_pairs[rng.permutation(len(scheduled_pairs))]]
            for _ in range(versions)
        ]
    )


def _draw_balanced_design(
    n: int, size: int, tasks: int, versions: int, rng: np.random.Generator
) -> np.ndarray:
    """Return balanced, connected subsets of all sets, (versions, tasks, size)."""
    for _ in range(_MAX_TRIES):
        together_counts = np.zeros((n, n), np.int64)
        design = np.stack(
            [_draw_version(n, size, tasks, together_counts, rng) for _ in range(versions)]
        )
        if number_components(n, *np.nonzero(together_counts))[0] == 1:
            return rng.permuted(design, axis=2)
    raise ArgumentError(
        f"With so few sets, some of the {n} options remain unconnected to the others", _MORE_SETS
    )


def _draw_version(
    n: int, size: int, tasks: int, together_counts: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the sets of one version, shape (tasks, size)."""
    # `together_counts` (n, n) counts over all versions how often two options share a set, and is
    # updated in place.
    times_shown = np.zeros(n, np.int64)
    version_sets: dict[tuple[int, ...], None] = {}
    while len(version_sets) < tasks:
        option_set = _choose_next_set(size, times_shown, together_counts, rng)
        for _ in range(_MAX_TRIES):
            if tuple(sorted(option_set)) not in version_sets:
                break
            option_set = _choose_next_set(
                size, times_shown + rng.integers(2, size=n), together_counts, rng
            )
        while tuple(sorted(option_set)) in version_sets:
            option_set = rng.choice(n, size, replace=False).tolist()
        version_sets[tuple(sorted(option_set))] = None
        times_shown[option_set] += 1
        together_counts[np.ix_(option_set, option_set)] += 1
    return np.array(list(version_sets))


def _choose_next_set(
    size: int, times_shown: np.ndarray, together_counts: np.ndarray, rng: np.random.Generator
) -> list[int]:
    """Choose the next set: options shown least, rarely together so far."""
    option_set: list[int] = []
    is_free = np.ones(len(times_shown), bool)
    for _ in range(size):
        times_with_chosen = together_counts[:, option_set].sum(axis=1)
        option_order = np.lexsort((rng.random(len(times_shown)), times_with_chosen, times_shown))
        option_index = int(option_order[is_free[option_order]][0])
        option_set.append(option_index)
        is_free[option_index] = False
    return option_set
