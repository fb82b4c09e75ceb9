"""Samplers that are compiled with a user's functions are kept on disk, as long as nothing that they
use has changed."""

import math
import subprocess
import sys

import numpy as np
import pytest
from helpers.patience import PATIENCE

from thali._compile.jit import constants_digest

LEAK = 0.05
TABLE = np.array([1.0, 2.0])


def helper(x):
    return x + LEAK


def uses(data, i):
    return helper(math.log(data.x[i])) + TABLE[0]


class Other:
    value = 1.0


def uses_a_class(data, i):
    return Other.value


def uses_a_module(data, i):
    return subprocess.x


def test_the_hash_is_that_of_all_that_is_compiled_in(monkeypatch):
    first = constants_digest(uses)
    assert first and first == constants_digest(uses)
    for name, value in (("LEAK", 0.06), ("TABLE", np.array([1.0, 2.5])), ("helper", lambda x: x)):
        with monkeypatch.context() as patch:
            patch.setitem(globals(), name, value)
            assert constants_digest(uses) not in ("", first)
    assert constants_digest(uses) == first


def test_values_around_a_function_count():
    def make(scale):
        return lambda data: scale * data.x[0]

    assert constants_digest(make(1.0)) == constants_digest(make(1.0)) != constants_digest(make(2.0))


@pytest.mark.parametrize("function", [uses_a_class, uses_a_module])
def test_a_function_that_may_change_unseen_has_no_hash(function):
    assert constants_digest(function) == ""


SCRIPT = """
import sys, time
from typing import NamedTuple
import numpy as np, thali as th
class Ratings(NamedTuple):
    rating: np.ndarray
    base: float
    labels: tuple
HALF = float(sys.argv[1])
def log_likelihood(data, features, weights):
    return -HALF * np.sum((data.rating - data.base - features @ weights) ** 2)
data = Ratings(np.array([0.5, 2.0, 1.0]), 0.0, ("a", "b", "c"))
likelihood = th.likelihoods.Custom(log_likelihood, parameters={"base": th.likelihoods.Normal()})
model = th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood)
task = model.prepare(data, 4, 4, 1).task
print(task.kernel.is_compiled(task.model))
model.fit(data, draws=4, tune=4, thin=1, chains=1, random_seed=1, progressbar=False)
print(model.posterior_["posterior"]["base"].values.tolist())
"""


@pytest.mark.long
def test_a_later_session_compiles_nothing(tmp_path):
    (tmp_path / "study.py").write_text(SCRIPT)

    def run(half):
        command = [sys.executable, "-W", "ignore", str(tmp_path / "study.py"), half]
        env = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first, again, other = run("0.5"), run("0.5"), run("2.0")
    assert first[0] == "False" and again == ["True", first[1]]
    assert other[0] == "False" and other[1] != first[1]
