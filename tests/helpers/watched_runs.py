"""Runs that a test watches, stops or cuts short: slices of chains, snapshots of jobs, fits of
comparisons, clocks.

`patch` is the `monkeypatch` of the test, or one of its contexts.
"""

import time
from types import SimpleNamespace

import pytest

import thali as th
from thali._comparison import held_out_fits
from thali._inference import job_folders, threads_and_processes
from thali._inference.threads_and_processes import SlicedWork
from thali._model import chain_runs
from thali._model.base import Model
from thali.errors import ArgumentError, DataError

PLACES = {  # what the functions below replace
    "seconds of work that may be lost": (job_folders, "MIN_SECONDS"),
    "share of the time that writing takes": (job_folders, "SHARE"),
    "seconds of a slice": (threads_and_processes, "SLICE"),
    "a slice of a chain": (SlicedWork, "run_slice"),
    "a snapshot of a fit": (job_folders.FitFolder, "write"),
    "a file of a job": (job_folders, "atomic_write"),
    "versions of libraries": (job_folders, "collect_versions"),
    "the clock": (time, "monotonic"),
    "a comparison": (th, "compare"),
    "fits of a comparison": (held_out_fits, "run_all"),
    "a fit of a comparison": (held_out_fits, "run"),
    "the table of a comparison": (held_out_fits, "build_comparison_table"),
    "the evidence of a model": (th.EliminationByAspects, "_compute_log_evidence"),
    "a fit by chains": (chain_runs.ChainFit, "run_to_end"),
    "a fit": (Model, "_run_job"),
}


def replace(patch, what, stand_in):
    """Put something in its place; returns what was there."""
    owner, name = PLACES[what]
    before = getattr(owner, name)
    patch.setattr(owner, name, stand_in)
    return before


def write_often(patch, share=1e9):
    """A job is written at every opportunity; `share`: of the running time that writing may take."""
    replace(patch, "seconds of work that may be lost", 0.0)
    replace(patch, "share of the time that writing takes", share)


def cut_slices(patch, seconds=1e-9):
    """Between two looks chains run for so long: a sweep at least."""
    replace(patch, "seconds of a slice", seconds)


def run_slices_by(patch, run):
    """`run(chain)` in place of what runs a slice of a chain, which is returned."""
    return replace(patch, "a slice of a chain", run)


def forbid_sweeps(patch):
    """No chain may run."""
    run_slices_by(patch, lambda chain: pytest.fail("it computes"))


def write_snapshots_by(patch, write):
    """`write(write_snapshot, folder, ...)` in place of what writes a snapshot of a fit."""

    def written(folder, *args, **how):
        write(write_snapshot, folder, *args, **how)

    write_snapshot = replace(patch, "a snapshot of a fit", written)


def fill_disk(patch):
    """No file of a job can be written."""

    def full(path, content):
        raise DataError("No space left on device.")

    replace(patch, "a file of a job", full)


def claim_versions(patch, **others):
    """Jobs are begun with other versions of libraries."""
    versions = job_folders.collect_versions() | others
    replace(patch, "versions of libraries", lambda: versions)


def show_times(patch, times):
    """The clock shows these seconds, one a look."""
    times = iter(times)
    replace(patch, "the clock", lambda: next(times))


def count_slices_as_time(patch, module, sweeps, seconds):
    """Each slice has so many sweeps and takes so many seconds on the clock of `module`, which is
    read between any two slices: the same run on any machine."""
    clock = SimpleNamespace(seconds=0.0, was_read=True)

    def read_clock():
        clock.was_read = True
        return clock.seconds

    def run_slice(chain):
        if not clock.was_read:
            time.sleep(0.001)
            return
        chain.run_until(min(chain.total, chain.sweeps + sweeps))
        clock.seconds += seconds
        clock.was_read = False

    run_slices_by(patch, run_slice)
    patch.setattr(module, "time", SimpleNamespace(monotonic=read_clock))


class Caught(Exception):
    """What a fit would run."""


def caught(what, place, model, data, *given, **how):
    """What a fit hands on at a place, after all its checks; nothing is drawn."""

    def catch(*handed):
        raise Caught(handed[place])

    with pytest.MonkeyPatch.context() as patch:
        replace(patch, what, catch)
        try:
            model.fit(data, *given, **how)
        except Caught as found:
            return found.args[0]
    raise AssertionError(f"It does without {what}.")


def run_of(model, data, *given, **how):
    """What the fit of a model by chains runs, with the arguments of `fit`."""
    return caught("a fit by chains", 0, model, data, *given, **how)


def without_fit(model, data, *given, **how):
    """The model after all that `fit` does but the fit itself."""
    with pytest.MonkeyPatch.context() as patch:
        replace(patch, "a fit", lambda model, job: model)
        return model.fit(data, *given, **how)


def catch_fits(patch):
    """Nothing is fitted: the models that would be, in a list that grows."""
    caught = []

    def catch(model, job):
        caught.append(model)
        raise ArgumentError("Nothing is fitted.")

    replace(patch, "a fit", catch)
    return caught


def forecast_of(model, data, *given, **how):
    """How long a fit is expected to take."""
    return caught("a fit", 1, model, data, *given, **how).forecast


def catch_comparisons(patch):
    """Nothing is compared: the models that each comparison was given, in a list that grows."""
    caught = []

    def catch(models, data, **how):
        caught.append(models)
        raise ArgumentError("Nothing is compared.")

    replace(patch, "a comparison", catch)
    return caught


def run_tasks_by(patch, run):
    """`run(run_all, function, tasks, cores)` in place of what runs the fits of a comparison."""
    run_all = replace(patch, "fits of a comparison", lambda *given: run(run_all, *given))


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

    def stopped(_, *given):  # what another replacement counts does not count here
        if not count:
            raise KeyboardInterrupt
        for done, result in enumerate(threads_and_processes.run_all(*given), start=1):
            yield result
            if done == count:
                raise KeyboardInterrupt

    run_tasks_by(patch, stopped)


def stop_at_table(patch):
    """Stop a comparison by a second Ctrl-C, while its table is made."""

    def stop(*_):
        raise KeyboardInterrupt

    replace(patch, "the table of a comparison", stop)


def run_fits_by(patch, run):
    """`run(run_fit, task)` in place of what runs a fit of a comparison."""
    run_fit = replace(patch, "a fit of a comparison", lambda task: run(run_fit, task))


def find_evidence_by(patch, find):
    """`find(model, data, how)` in place of what finds the evidence of a model of latent features;
    that is returned."""
    return replace(patch, "the evidence of a model", lambda *given: find(*given))


def shorten_comparisons(patch):
    """Models of latent features are compared in the shortest runs."""

    def shortly(*given, **how):
        if how.get("by") == "evidence":
            how |= {"draws": 10, "tune": 10, "chains": 2, "thin": 1}
        elif "draws" in how:
            how |= {"draws": 20, "tune": 20, "chains": 2, "thin": 1}
        return compare(*given, **how)

    compare = replace(patch, "a comparison", shortly)
