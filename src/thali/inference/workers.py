"""Independent tasks over the workers of joblib: local processes, or the Dask or Ray cluster that the user has set."""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import Any

from joblib import cpu_count

MAX_DEATHS = 3  # a task is given up after its process died this many times


def run_all(function: Callable[..., Any], tasks: list[Any], cores: int | None) -> Iterator[tuple[int, Any]]:
    """Run `function(task)` for each task and yield (number of the task, result) as they finish.

    The backend and its size are those of `joblib.parallel_config`, if the user has set one; else local processes, as
    many as there are processors. If a local process dies, its task is repeated.
    """
    waiting = dict(enumerate(tasks))
    while waiting:
        try:
            for number, result in _run(function, waiting, cores):
                del waiting[number]
                yield number, result
        except BrokenExecutor:
            # All processes end when one dies, and joblib does not say whose task killed it: one of the first in line.
            # Each of them gets separate processes, so that a task that kills its process affects no other.
            for number in list(waiting)[: 2 * (cores or cpu_count())]:
                yield number, _run_alone(function, waiting.pop(number))


def _run_alone(function: Callable[..., Any], task: Any) -> Any:
    """The result of one task in a separate process, or the error if the process died repeatedly."""
    failure = None
    for _ in range(MAX_DEATHS):
        try:
            return next(iter(_run(function, {0: task}, 2)))[1]  # 1 would run it in this process
        except BrokenExecutor as error:
            failure = error
    return failure


def _run(function: Callable[..., Any], tasks: dict[int, Any], cores: int | None) -> Iterator[Any]:
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend: Any
    backend, set_by_user = get_active_backend()
    if cores is None and set_by_user is None and backend.default_n_jobs == 1:  # of a cluster: all of it
        cores = cpu_count()
    jobs = [delayed(_numbered)(function, number, task) for number, task in tasks.items()]
    settings: dict[str, Any] = {"n_jobs": cores, "batch_size": 1}
    parallel = partial(Parallel, **settings)
    if backend.supports_return_generator:
        yield from parallel(return_as="generator_unordered")(jobs)
        return
    together = effective_n_jobs(
        -1 if cores is None else cores
    )  # such a backend returns whole lists: keep each round of tasks
    for start in range(0, len(jobs), together):
        yield from parallel()(jobs[start : start + together])


def _numbered(function: Callable[..., Any], number: int, task: Any) -> tuple[int, Any]:
    return number, function(task)
