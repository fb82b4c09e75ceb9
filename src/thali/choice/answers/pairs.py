"""Which levels of an attribute are compared with which."""

from collections.abc import Sequence

import numpy as np

_MAX_PAIRED = 8  # up to this many levels, all pairs are compared


def level_pairs(cells: Sequence[np.ndarray], directions: np.ndarray) -> list[tuple[int, int, int]]:
    """(attribute, level, other level): every pair of up to eight levels, else neighbours, and the last and the first.

    The second is the better one of an attribute with a direction, else the later one. Levels without a cell are left
    out.
    """
    pairs = []
    for i, own_cells in enumerate(cells):
        known = np.flatnonzero(~np.isnan(own_cells)).tolist()
        own = [(a, b) for place, b in enumerate(known) for a in known[:place]]
        if len(known) > _MAX_PAIRED:
            own = [*zip(known, known[1:], strict=False), (known[0], known[-1])]
            own.sort(key=lambda pair: (pair[1], pair[0]))
        pairs += [(i, b, a) if directions[i] < 0 else (i, a, b) for a, b in own]
    return pairs
