"""Independent tasks over the workers of joblib: local processes, or the Dask or Ray cluster that the user has set."""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any

# A task is given up when the pool of local processes has died so many times in a row without finishing anything.
MOST_DEATHS = 3


def run_all(function: Callable, tasks: list, cores: int | None) -> Iterator[tuple[int, Any]]:
    """Run `function(task)` for each task and yield (number of the task, result) as they finish.

    The backend and its size are those of `joblib.parallel_config`, if the user has set one; else local processes, as
    many as there are processors. Where a local process dies, what it was doing is done again.

    Parameters
    ----------
    function : callable, importable or picklable
    tasks : list
        Each picklable.
    cores : int, optional
        Tasks run at once; None leaves it to the backend.

    Yields
    ------
    number, result
        The result is the `BrokenExecutor` error itself for tasks whose process died `MOST_DEATHS` times.
    """
    waiting = dict(enumerate(tasks))
    deaths = 0
    while waiting:
        try:
            for number, result in _run(function, waiting, cores):
                del waiting[number]
                deaths = 0
                yield number, result
        except BrokenExecutor as error:
            deaths += 1
            if deaths == MOST_DEATHS:
                for number in waiting:
                    yield number, error
                return


def _run(function: Callable, tasks: dict[int, Any], cores: int | None) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, cpu_count, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, set_by_user = get_active_backend()
    if cores is None and set_by_user is None and backend.default_n_jobs == 1:  # of a cluster: all of it
        cores = cpu_count()
    jobs = [delayed(_numbered)(function, number, task) for number, task in tasks.items()]
    if backend.supports_return_generator:
        yield from Parallel(n_jobs=cores, batch_size=1, return_as="generator_unordered")(jobs)
        return
    together = effective_n_jobs(cores)  # such a backend hands back whole lists: keep each round of tasks
    for start in range(0, len(jobs), together):
        yield from Parallel(n_jobs=cores, batch_size=1)(jobs[start : start + together])


def _numbered(function: Callable, number: int, task: Any) -> tuple[int, Any]:
    return number, function(task)
