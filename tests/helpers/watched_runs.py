"""Runs that a test watches, stops or cuts short: slices of chains, snapshots of jobs, fits of comparisons, clocks.

`patch` is the `monkeypatch` of the test, or one of its contexts.
"""

import time

import pytest

from thali._aspects.models.base import LatentFeatures
from thali._comparison import compare, engine
from thali._inference import jobs, threads
from thali._inference.threads import Sliced
from thali.errors import DataError


def write_often(patch, share=1e9):
    """A job is written at every opportunity; `share`: of the running time that writing may take."""
    patch.setattr(jobs, "MIN_SECONDS", 0.0)
    patch.setattr(jobs, "SHARE", share)


def cut_slices(patch, seconds=1e-9):
    """Between two looks chains run for so long: a sweep at least."""
    patch.setattr(threads, "SLICE", seconds)


def run_slices_by(patch, run):
    """`run(chain)` in place of what runs a slice of a chain, which is returned."""
    run_slice = Sliced.run_slice
    patch.setattr(Sliced, "run_slice", run)
    return run_slice


def forbid_sweeps(patch):
    """No chain may run."""
    run_slices_by(patch, lambda chain: pytest.fail("it computes"))


def write_snapshots_by(patch, write):
    """`write(write_snapshot, folder, ...)` in place of what writes a snapshot of a fit."""
    write_snapshot = jobs.FitFolder.write
    patch.setattr(jobs.FitFolder, "write", lambda folder, *args, **how: write(write_snapshot, folder, *args, **how))


def fill_disk(patch):
    """No file of a job can be written."""

    def full(path, content):
        raise DataError("No space left on device.")

    patch.setattr(jobs, "atomic_write", full)


def claim_versions(patch, **others):
    """Jobs are begun with other versions of libraries."""
    versions = jobs.versions() | others
    patch.setattr(jobs, "versions", lambda: versions)


def show_times(patch, times):
    """The clock shows these seconds, one a look."""
    times = iter(times)
    patch.setattr(time, "monotonic", lambda: next(times))


def run_tasks_by(patch, run):
    """`run(run_all, function, tasks, cores)` in place of what runs the fits of a comparison."""
    run_all = threads.run_all
    patch.setattr(engine, "run_all", lambda *given: run(run_all, *given))


def count_tasks(patch):
    """How many fits each comparison runs from now on: a list that grows."""
    ran = []

    def run(run_all, function, tasks, cores):
        ran.append(len(tasks))
        return run_all(function, tasks, cores)

    run_tasks_by(patch, run)
    return ran


def stop_after(count, patch):
    """Stop a comparison by Ctrl-C when so many of its fits are finished."""

    def stopped(run_all, *given):
        if not count:
            raise KeyboardInterrupt
        for done, result in enumerate(run_all(*given), start=1):
            yield result
            if done == count:
                raise KeyboardInterrupt

    run_tasks_by(patch, stopped)


def stop_at_table(patch):
    """Stop a comparison by a second Ctrl-C, while its table is made."""

    def stop(*_):
        raise KeyboardInterrupt

    patch.setattr(engine, "comparison_table", stop)


def run_fits_by(patch, run):
    """`run(run_fit, task)` in place of what runs a fit of a comparison."""
    run_fit = engine.run
    patch.setattr(engine, "run", lambda task: run(run_fit, task))


def find_evidence_by(patch, find):
    """`find(model, data, how)` in place of what finds the evidence of a model of latent features; that is returned."""
    found = LatentFeatures._evidence_of
    patch.setattr(LatentFeatures, "_evidence_of", lambda *given: find(*given))
    return found


def shorten_evidence(patch):
    """The evidence is found in the shortest runs."""
    patch.setattr(compare, "USUAL", {"draws": 10, "tune": 10, "chains": 2, "thin": 1})
