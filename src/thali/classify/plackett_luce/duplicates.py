"""Merges equal rows of the same class: exact, since the likelihood is a product over rows."""

from typing import Any

import numpy as np

from thali.compile.jit import compiled

_WORTH_COPYING = 0.8  # distinct rows over rows, below which fewer rows are worth a copy


@compiled
def _first_of_kind(bits: Any, codes: Any, counts: Any, table: Any, mix: Any, firsts: Any, totals: Any) -> Any:
    """Find distinct rows with an open hash table of row numbers; returns how many, in order of first appearance."""
    mask = np.uint64(len(table) - 1)
    found = 0
    for i in range(len(codes)):
        key = np.uint64(codes[i] + 1) * np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            key = (key ^ bits[i, j]) * mix[j]
            key ^= key >> np.uint64(29)
        place = key & mask
        while True:
            known = table[place]
            if known < 0:
                table[place] = found
                firsts[found] = i
                totals[found] = counts[i]
                found += 1
                break
            other = firsts[known]
            same = codes[other] == codes[i]
            j = 0
            while same and j < bits.shape[1]:
                same = bits[other, j] == bits[i, j]
                j += 1
            if same:
                totals[known] += counts[i]
                break
            place = (place + np.uint64(1)) & mask
    return found


def distinct_rows(W: Any, codes: Any, counts: Any = None) -> Any:
    """The distinct rows of W and class, and how often each occurs; the rows as they are where few are equal."""
    n = len(codes)
    counts = np.ones(n) if counts is None else np.ascontiguousarray(counts, np.float64)
    table = np.full(1 << int(2 * n).bit_length(), -1, np.int64)
    mix = np.random.default_rng(0).integers(0, 2**63, W.shape[1], np.uint64) * np.uint64(2) + np.uint64(1)
    firsts, totals = np.empty(n, np.int64), np.empty(n)
    found = _first_of_kind(W.view(np.uint64), codes, counts, table, mix, firsts, totals)
    if found > _WORTH_COPYING * n:
        return W, codes, counts
    firsts = firsts[:found]
    return np.ascontiguousarray(W[firsts]), codes[firsts], totals[:found].copy()
