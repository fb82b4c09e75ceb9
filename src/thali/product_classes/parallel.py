"""Pieces of work on threads: each has its own stream of chance and its own place for the result."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_threads(work: Callable[[int], None], count: int, cores: int | None) -> None:
    """Call work(0), ..., work(count - 1), which do not depend on each other, on that many threads.

    The first is done before the others, because it may have to compile.
    """
    if count:
        work(0)
    threads = min(count - 1, cores or os.cpu_count() or 1)
    if threads <= 1:
        for piece in range(1, count):
            work(piece)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for _ in pool.map(work, range(1, count)):
                pass
        except BaseException:  # Ctrl-C, or a fault: what has not begun never does
            pool.shutdown(wait=False, cancel_futures=True)
            raise
