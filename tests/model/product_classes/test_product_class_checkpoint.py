"""A run of product classes that is killed goes on to the same end, to the last bit."""

import errno
import json
import subprocess
import sys

import numpy as np
import pytest
from places import HELPERS
from product_class_answers import problem_and_settings, settings
from product_class_cases import TP1, TP2, TP3
from thali.model.product_classes.engines.checkpoint import (
    packed_states,
    packed_streams,
    unpacked_states,
    unpacked_streams,
)

from thali.errors import ArgumentError, DataError, IncompleteWarning
from thali.inference.files import cannot_write
from thali.model.product_classes.engines import checkpoint
from thali.model.product_classes.engines.annealed import run_annealed
from thali.model.product_classes.engines.smc import run_smc
from thali.model.product_classes.problem import problem_of, target_of
from thali.model.product_classes.state import State, empty_state, workspace
from thali.model.product_classes.sweep import draw_state, sweep

# Run in a process of its own, which has no threads when it forks. A child is killed by signal 9 just before or just
# after its file number `kill` is renamed into place; what it left behind is gone on from.
KILLED = """
import json, os, signal, sys, tempfile
sys.path[:0] = json.loads(sys.argv[2])
from product_class_answers import problem_and_settings
from product_class_cases import Experiment
import numpy as np
import thali.inference.threads
from thali.model.product_classes.engines import annealed, checkpoint, smc

engine, settings, kills = json.loads(sys.argv[1])
thali.inference.threads.SLICE = 0.005
checkpoint.LEAST, checkpoint.SHARE = 0.0, 1e9
run = annealed.run_annealed if engine == "annealed" else smc.run_smc
rng = np.random.default_rng(1)
people = [[(rng.integers([3, 2, 3], size=(3, 3)).tolist(), 0) for _ in range(4)] for _ in range(6)]
data = Experiment([3, 2, 3], people)
problem, how = problem_and_settings(data, {"x0": "increasing"}, None, 1.3, engine, **settings)

def seen(fit):
    arrays = {name: value for name, value in fit.particles._asdict().items()}
    arrays |= {f"trace {name}": value for name, value in fit.trace.items()}
    arrays |= {"evidence": fit.log_evidence, "points": sum(fit.schedule_of_u, []), "told": fit.messages}
    return {name: getattr(value, "tolist", lambda value=value: value)() for name, value in arrays.items()}

whole = seen(run(problem, how, cores=2, random_seed=3))
replace = os.replace
for kill in kills:
    path = os.path.join(tempfile.mkdtemp(), "run.npz")
    child = os.fork()
    if child == 0:
        written = 0
        def replace_or_die(*names):
            global written
            if os.fspath(names[1]) != path:  # compiled code
                return replace(*names)
            written += 1
            if written == kill and kill % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*names)
            if written == kill:
                os.kill(os.getpid(), signal.SIGKILL)
        os.replace = replace_or_die
        run(problem, how, cores=2, random_seed=3, checkpoint=path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9, f"not killed at file {kill}"
    if kill == 1:
        assert not os.path.exists(path)
        continue
    again = seen(run(problem, how, cores=1, random_seed=77, resume=path))
    for name, value in whole.items():
        assert json.dumps(again[name]) == json.dumps(value), (kill, name)
    assert os.listdir(os.path.dirname(path)) == ["run.npz"]
print("the same", len(kills), "times")
"""

RUNS = {
    "smc": ("smc", {"groups": 2, "particles": 6, "sweeps_per_step": 2, "final_sweeps": 24}, [1, 2, 3, 4, 9]),
    "smc by task": ("smc", {"groups": 2, "particles": 6, "schedule": "observation", "sweeps_per_step": 2}, [3, 12, 22]),
    "annealed": ("annealed", {"groups": 3, "sweeps_per_step": 50, "final_sweeps": 2000}, [2, 3, 4, 5]),
}


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("name", RUNS)
def test_killed_and_gone_on_from(name):
    folders = json.dumps([str(HELPERS)])
    command = [sys.executable, "-c", KILLED, json.dumps(RUNS[name]), folders]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"the same {len(RUNS[name][2])} times" in done.stdout


def test_states_and_streams_are_kept_to_the_last_bit():
    """A state that is written down and read goes on as if nothing had happened, in whatever room."""
    problem = problem_of(TP3, {"x0": "increasing"})
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    for rng in rngs[:2]:
        rng.integers(5, dtype=np.int32)  # leaves half of a word behind
    target = target_of(problem, 0.3)
    states = [draw_state(rng, problem) for rng in rngs]
    states = [sweep(r, problem, target, s, workspace(problem, s), 30)[0] for r, s in zip(rngs, states, strict=True)]
    twins, twin_rngs = unpacked_states(packed_states(states), empty_state(problem)), packed_streams(rngs)
    small = unpacked_states(packed_states(states), empty_state(problem, classes=1, slots=2))
    for i, (state, rng) in enumerate(zip(states, rngs, strict=True)):
        ends = []
        for twin, stream in ((state, rng), *((t[i], unpacked_streams(twin_rngs)[i]) for t in (twins, small))):
            end, _ = sweep(stream, problem, target, twin, workspace(problem, twin), 20)
            ends.append(packed_states([end]) | {"stream": packed_streams([stream])})
        for end in ends[1:]:
            for name in ends[0]:
                if name not in ("state_slots", "state_log_eps", "state_value"):  # of which more is kept than is read
                    np.testing.assert_array_equal(ends[0][name], end[name], err_msg=name)
    assert isinstance(states[0], State)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "run.npz"
    problem, how = problem_and_settings(TP1, {"x0": "increasing"}, 2.0, 1.0, groups=2, particles=4, final_sweeps=3)
    run_smc(problem, how, random_seed=1, checkpoint=path)
    return path, problem, how


def test_a_finished_run_is_read(written):
    path, problem, how = written
    fit, again = run_smc(problem, how, random_seed=1), run_smc(problem, how, resume=path)
    np.testing.assert_array_equal(fit.particles.owned_log_theta, again.particles.owned_log_theta)
    assert fit.log_evidence == again.log_evidence and fit.messages == again.messages


def test_other_settings_and_data_are_refused(written):
    path, problem, how = written
    with pytest.raises(ArgumentError, match="written with lapse=0.0, and this fit has lapse=0.02"):
        run_smc(problem, how._replace(lapse=0.02), resume=path)
    with pytest.raises(ArgumentError, match="path='lapse', and this fit has path='logit'"):
        run_smc(problem, how, path="logit", resume=path)
    with pytest.raises(ArgumentError, match="method='smc', and this fit has method='annealed'"):
        run_annealed(problem, settings("annealed"), resume=path)
    other, _ = problem_and_settings(TP2, {}, 2.0, 1.0)
    with pytest.raises(DataError, match="other data, or other monotone attributes"):
        run_smc(other, how, resume=path)
    free, _ = problem_and_settings(TP1, {}, 2.0, 1.0)
    with pytest.raises(DataError, match="other data, or other monotone attributes"):
        run_smc(free, how, resume=path)


def test_files_that_cannot_be_used(written, tmp_path):
    path, problem, how = written
    with pytest.raises(DataError, match="There is no checkpoint"):
        run_smc(problem, how, resume=tmp_path / "nothing.npz")
    torn = tmp_path / "torn.npz"
    torn.write_bytes(path.read_bytes()[:3000])
    text = tmp_path / "text.npz"
    text.write_text("id,task")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    for file in (torn, text, tmp_path / "other.npz"):
        with pytest.raises(DataError, match="is not a checkpoint"):
            run_smc(problem, how, resume=file)
    with pytest.raises(DataError, match="is a folder"):
        run_smc(problem, how, checkpoint=tmp_path)
    with pytest.raises(DataError, match="There is no folder"):
        run_smc(problem, how, checkpoint=tmp_path / "missing" / "run.npz")


def test_a_full_disk_does_not_end_the_run(monkeypatch, tmp_path):
    def full(path, content):
        raise DataError(cannot_write(path, OSError(errno.ENOSPC, "No space left on device")))

    monkeypatch.setattr(checkpoint, "atomic_write", full)
    problem, how = problem_and_settings(TP1, {}, 2.0, 1.0, groups=2, particles=4, final_sweeps=3)
    with pytest.warns(IncompleteWarning, match="No space left on device; .* The run goes on without a checkpoint"):
        fit = run_smc(problem, how, random_seed=1, checkpoint=tmp_path / "run.npz")
    assert fit.particles.n_draws == 8 and not list(tmp_path.iterdir())


def test_writing_takes_a_small_share_of_the_time(monkeypatch, tmp_path):
    """After a file has taken a second, the next waits until that is a twentieth of the time."""
    clock = iter([100.0, 101.0])
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: next(clock))
    files = checkpoint.Checkpoint(tmp_path / "run.npz", None, problem_of(TP1), {})
    files.write({})
    assert files.next == 121.0
