"""From the rows of choice occasions to distinct sets with counts."""

from typing import Any

import numpy as np

from thali.errors import DataError

from .choice_table import Occasions

Arrays = tuple[Any, ...]  # start, members, respondent, choice, times, worst


def aggregated(rows: Occasions) -> Arrays:
    """Check every occasion, and count: the distinct sets, and who chose what out of which set how often.

    Returns
    -------
    start : (sets + 1,) set v has the members start[v] to start[v + 1] - 1; small sets first
    members : (places,) options, ascending in a set
    respondent, choice, times : for each distinct row: who (-1: not told), the place of what was chosen, how often
    worst : for each distinct row the place of the worst; None where only one was chosen
    """
    order = np.lexsort((rows.alternative, rows.occasion))
    occasion, alternative = rows.occasion[order], rows.alternative[order]
    chosen, available, count = rows.chosen[order], rows.available[order], rows.count[order]
    twice = (np.diff(occasion) == 0) & (np.diff(alternative) == 0)
    if twice.any():
        k = int(twice.argmax())
        raise DataError(
            f"{rows.labels[alternative[k]]!r} is listed twice in {rows.name(occasion[k])}; remove one of the rows."
        )
    if (absent := chosen & ~available).any():
        k = int(absent.argmax())
        raise DataError(
            f"{rows.labels[alternative[k]]!r} was chosen in {rows.name(occasion[k])}, where it was not available; mend "
            "one of the two columns."
        )
    number = int(occasion[-1]) + 1
    wins = np.bincount(occasion[chosen], minlength=number)
    if (wrong := wins != 1).any():
        k = int(wrong.argmax())
        what = "No alternative is" if wins[k] == 0 else f"{wins[k]} alternatives are"
        raise DataError(f"{what} chosen in {rows.name(k)}; exactly one must be. Mend the occasion or remove it.")
    lone = np.bincount(occasion[available], minlength=number) < 2
    if lone.any():
        raise DataError(
            f"There is one alternative in {rows.name(int(lone.argmax()))}, so that nothing was chosen; remove the "
            "occasion."
        )
    counts = np.zeros(number)
    counts[occasion[chosen]] = count[chosen]
    if not counts.any():
        raise DataError("There is not a single choice; every count is 0.")
    respondent = np.empty(number, np.int64)
    respondent[rows.occasion] = rows.respondent
    marked = [chosen[available]] + ([] if rows.worst is None else [rows.worst[order][available]])
    return counted_answers(occasion[available], alternative[available], marked, respondent, counts)


def counted_answers(occasion: Any, alternative: Any, marked: list[Any], respondent: Any, counts: Any) -> Arrays:
    """The distinct sets, and who chose what how often, as `aggregated`, of occasions whose alternatives ascend.

    All of a size at a time, so that an occasion is a row of an array; `marked`: the best, and the worst.
    """
    kept = counts[occasion] > 0
    occasion, alternative, marked = occasion[kept], alternative[kept], [each[kept] for each in marked]
    size = np.bincount(occasion, minlength=counts.size)
    sizes, members, rows = [], [], []
    places = 0
    for m in np.unique(size[size > 0]).tolist():
        of_size = size[occasion] == m
        sets, which = np.unique(alternative[of_size].reshape(-1, m), axis=0, return_inverse=True)
        first = places + m * which.ravel()
        rows.append((occasion[of_size][::m], *(first + each[of_size].reshape(-1, m).argmax(1) for each in marked)))
        sizes += [m] * len(sets)
        members.append(sets.ravel())
        places += sets.size
    who, *answers = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    key = respondent[who] + 1
    for answer in answers:
        key = key * places + answer
    keys, at = np.unique(key, return_inverse=True)
    times = np.bincount(at, weights=counts[who])
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    worst = None
    if len(answers) > 1:
        keys, worst = keys // places, keys % places
    return start, np.concatenate(members).astype(np.int64), keys // places - 1, keys % places, times, worst
