"""Jobs as they were at an earlier moment, and work that is killed while it writes one."""

import os
import signal
import sys

from thali._inference import job_folders


def killed_at_a_rename(work, folder, moment, late):
    """Run `work()` in a child process, and kill it by signal 9 at the rename of that number in the
    job's folder: just before, or if `late` just after; returns whether it was killed before its
    end."""
    child = os.fork()
    if child == 0:
        replace, renamed = os.replace, 0

        def replace_or_die(*names):
            nonlocal renamed
            if os.path.dirname(os.fspath(names[1])) != folder:  # compiled code
                return replace(*names)
            renamed += 1
            if renamed == moment and not late:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*names)
            if renamed == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = replace_or_die
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def wait_until_stopped(process):
    """Wait for a child process that stops itself by SIGSTOP: it is alive then, and as far as it
    wanted to be."""
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), "it ended before it stopped"


# The command line, which stops itself when so many draws of every chain are in its job.
_STOPPING = """
import os, signal
from thali._inference import job_folders, threads_and_processes
job_folders.MIN_SECONDS, job_folders.SHARE, threads_and_processes.SLICE = 0.0, 1e9, 1e-3
write = job_folders.FitFolder.write
def write_and_stop(self, states, draws, recorded, *rest, **how):
    write(self, states, draws, recorded, *rest, **how)
    if min(recorded) >= DRAWS:
        job_folders.FitFolder.write = write
        os.kill(os.getpid(), signal.SIGSTOP)
job_folders.FitFolder.write = write_and_stop
from thali._surfaces.cli import main
main()
"""


def command_that_stops(draws, *words):
    """The words of a command that stops itself when so many draws of every chain are in its job."""
    return [sys.executable, "-c", _STOPPING.replace("DRAWS", str(draws)), *map(str, words)]


def keep_parts(job, segments):
    """Leave the first so many files of records, as if the process had been killed then; each holds
    one record."""
    index = job_folders.read_index(job)
    index["segments"], index["ended"] = index["segments"][:segments], False
    (job / job_folders.INDEX).write_bytes(job_folders.encode_index(index))
