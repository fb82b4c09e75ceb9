"""ArviZ as pip installs it, on each Python at hand, in an environment of its own: its functions
work on every model."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from helpers.places import PROJECT

pytestmark = pytest.mark.long

# What needs densities that the draws of a model do not give (worths of people have neither those of
# answers nor of the prior), or one replicate a log likelihood: a triplet has
# three, a set of which the best and the worst were chosen has two.
NO_DENSITIES = {"loo", "plot_loo_pit", "psense_summary"}
OF_PRIORS = {"plot_ppc of the prior", "plot_ppc_dist of the prior", "psense_summary"}
WITHOUT = {
    "nonnegative-dimensions": OF_PRIORS,
    "nonnegative-dimensions, triplets": OF_PRIORS | {"plot_loo_pit"},
    "product-classes": NO_DENSITIES,
    "bradley-terry-luce, individuals": NO_DENSITIES,
    "bradley-terry-luce, aged individuals": NO_DENSITIES,
    "bradley-terry-luce, best and worst individuals": NO_DENSITIES,
    "elimination-by-aspects, choices": {"plot_loo_pit"},
    "additive-clustering, triplets": {"plot_loo_pit"},
    "bradley-terry-luce, best and worst": {"plot_loo_pit"},
}
# The largest of its few draws are alike, which ArviZ 1 refuses.
MAY_LACK = {"nonnegative-dimensions, triplets": {"loo"}}
# On ArviZ's own example these want groups that it lacks.
LACKS = {"psense_summary"}


def interpreter(version):
    """The path of a Python of this version; None if there is none that runs."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = shutil.which(f"python{version}")
    asked = found and subprocess.run(
        [found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True
    )
    return asked.stdout.strip() if asked and asked.returncode == 0 else None


@pytest.mark.parametrize(("version", "arviz"), [("3.11", "0."), ("3.13", "1.")])
def test_the_functions_of_arviz_work_on_every_model(version, arviz, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", PROJECT, "arviz", "pytest"], check=True
    )
    command = [python, "-m", "helpers.arviz_functions"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "tests")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["version"].startswith(arviz)
    example = result["found"].pop("example")
    assert {name for name, error in example.items() if error} <= LACKS
    for model, outcomes in result["found"].items():
        failed = {name: error for name, error in outcomes.items() if error}
        wanted = WITHOUT.get(model, set()) & set(outcomes)
        assert set(failed) - MAY_LACK.get(model, set()) == wanted, (model, failed)
