"""Which options are connected by chains of comparisons, and the sentence for those that are not."""

import numpy as np

from thali._labels import shorten


def group_numbers(n_options: int, first: np.ndarray, second: np.ndarray) -> tuple[int, np.ndarray]:
    """The number of connected groups, and the group of each option."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = np.ones(len(first), dtype=np.int8)
    graph = coo_array((edges, (first, second)), shape=(n_options, n_options))
    return connected_components(graph, directed=False)


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
