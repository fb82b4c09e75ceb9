"""How many times as long one computation takes as another, on a machine that does other things as
well."""

import time


def cpu_seconds(call):
    began = time.process_time()
    call()
    return time.process_time() - began


def time_ratio(first, second, tries=6, turns=9):
    """CPU time of `first()` over that of `second()`: the least of several tries, within which they
    take turns.

    Whatever else the machine does slows now the one and now the other; a loss of speed is in every
    try.
    """
    ratios = []
    for _ in range(tries):
        times = [(cpu_seconds(first), cpu_seconds(second)) for _ in range(turns)]
        ratios.append(min(each[0] for each in times) / min(each[1] for each in times))
    return min(ratios)
