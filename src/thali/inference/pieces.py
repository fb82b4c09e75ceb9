"""Pieces of work on threads: each has its own random stream and its own place for the result."""

from collections.abc import Callable

from .threads import Sliced, run_in_threads


class Silent:
    """Shows nothing."""

    def update(self, done: int) -> None:
        """Ignore it."""


def in_threads(work: Callable[[int], None], count: int, cores: int | None) -> None:
    """Call work(0), ..., work(count - 1), which do not depend on each other, on that many threads.

    The first is done before the others, because it may have to compile.
    """
    if count:
        work(0)
    run_in_threads([_Piece(work, number) for number in range(1, count)], cores, Silent())


class _Piece(Sliced):
    """One call."""

    sweeps, total, is_done = 0, 1, False

    def __init__(self, work: Callable[[int], None], number: int) -> None:
        self.work, self.number = work, number

    def run_to(self, until: int) -> None:
        self.work(self.number)
        self.sweeps, self.is_done = 1, True
