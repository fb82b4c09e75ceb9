"""Groups of options that cannot be told apart."""

import numpy as np

CERTAIN = 0.95  # probability of an order from which on two options are told apart


def orders(rank: np.ndarray) -> np.ndarray:
    """The probability that the row stands above the column, from draws of ranks (draws, options) without ties."""
    draws, n = rank.shape
    rank = np.ascontiguousarray(rank.T, dtype=np.int32)
    found = np.zeros((n, n))
    for i in range(n - 1):
        found[i, i + 1 :] = np.count_nonzero(rank[i + 1 :] > rank[i], axis=1) / draws
    return found + np.tril(1.0 - found.T, -1)


def groups(order: np.ndarray) -> list[list[int]]:
    """Groups of options, the best first, so that two are in one group together if and only if no order is certain.

    Parameters
    ----------
    order : ndarray, shape (options, options)
        The probability that the row stands above the column; options from the best to the worst.

    Returns
    -------
    list of lists of int
        Each in the order of the options; an option may be in several, as being told apart is no equivalence.

    Examples
    --------
    >>> groups(np.array([[0, 0.9, 0.99], [0.1, 0, 0.9], [0.01, 0.1, 0]]))
    [[0, 1], [1, 2]]
    """
    n = len(order)
    alike = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(alike, True)
    covered = np.zeros((n, n), bool)
    found = []
    for i in range(n):
        for j in np.flatnonzero(alike[i, i:] & ~covered[i, i:]) + i:
            if covered[i, j]:
                continue
            members, room = [i, int(j)] if j > i else [i], alike[i] & alike[j]
            room[members] = False
            while room.any():  # the nearest to the two that is like all members
                candidates = np.flatnonzero(room)
                nearest = int(candidates[np.abs(2 * candidates - i - j).argmin()])
                members.append(nearest)
                room &= alike[nearest]
                room[nearest] = False
            covered[np.ix_(members, members)] = True
            found.append(sorted(members))
    return sorted(found)


def numbered(found: list[list[int]], n: int) -> list[str]:
    """For each option the numbers of its groups, from 1, such as "2-4, 7".

    Examples
    --------
    >>> numbered([[0, 1], [1, 2]], 3)
    ['1', '1-2', '2']
    """
    own: list[list[int]] = [[] for _ in range(n)]
    for number, members in enumerate(found, start=1):
        for member in members:
            own[member].append(number)
    return [", ".join(_runs(numbers)) for numbers in own]


def _runs(numbers: list[int]) -> list[str]:
    """Numbers in words, neighbours together."""
    begin = [k for k, number in enumerate(numbers) if k == 0 or numbers[k - 1] != number - 1]
    ends = [*(k - 1 for k in begin[1:]), len(numbers) - 1]
    return [str(numbers[a]) if a == b else f"{numbers[a]}-{numbers[b]}" for a, b in zip(begin, ends, strict=True)]
