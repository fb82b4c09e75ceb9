"""Which options are connected by chains of comparisons, and the sentence for those that are not."""

import numpy as np

from thali._labels import shorten


def group_numbers(n_options: int, first: np.ndarray, second: np.ndarray) -> tuple[int, np.ndarray]:
    """The number of connected groups, and the group of each option; groups are in the order of their first options.

    SciPy's function for this takes a fifth of a second to load, which every fit would wait for.
    """
    root = np.arange(n_options)  # an option of the same group with a lower number, or the option itself
    while True:
        one, other = root[first], root[second]
        apart = one != other
        if not apart.any():
            break
        first, second, one, other = first[apart], second[apart], one[apart], other[apart]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while (root[root] != root).any():
            root = root[root]
    found, group = np.unique(root, return_inverse=True)
    return len(found), group


def disconnected(groups: list[list[str]], never_compared: list[str], most: int = 4) -> str:
    """What to tell of options that no chain of comparisons connects; "" when all are connected."""
    compared = [group for group in groups if len(group) > 1]
    said = []
    if len(compared) > 1:
        names = "; ".join(f"({shorten(group)})" for group in compared[:most])
        names += f"; and {len(compared) - most:,} more" if len(compared) > most else ""
        said.append(
            f"The options fall into {len(compared):,} groups never compared with each other: {names}. "
            "Choices between groups are told by the prior alone."
        )
    if never_compared:
        was, their = ("was", "its") if len(never_compared) == 1 else ("were", "their")
        said.append(f"{shorten(never_compared)} {was} never compared: {their} choices are told by the prior alone.")
    return " ".join(said)
