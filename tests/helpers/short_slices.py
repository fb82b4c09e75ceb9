"""Runs that look up often: chains in short slices, jobs that are written after every slice, and a
clock of looks."""

from contextlib import contextmanager

import pytest

from thali._inference import job_folders, markov_chains, threads_and_processes


@contextmanager
def short_slices(seconds=1e-3):
    """Run chains in slices of so many seconds, after each of which a job is written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(threads_and_processes, "SLICE", seconds)
        patched.setattr(job_folders, "MIN_SECONDS", 0.0)
        patched.setattr(job_folders, "SHARE", 1e9)
        yield


@contextmanager
def stopped_after(writes):
    """Stop the fit, as Ctrl-C does, when its job has been written so many times."""
    write, left = job_folders.FitFolder.write, writes

    def write_and_stop(self, *args):
        nonlocal left
        write(self, *args)
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job_folders.FitFolder, "write", write_and_stop)
        yield


@contextmanager
def a_second_a_look():
    """Replace the clock by one that is a second later whenever a fit looks at it; gives how often
    that was."""
    looks = []

    def look():
        looks.append(None)
        return float(len(looks))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(markov_chains.time, "monotonic", look)
        yield looks
