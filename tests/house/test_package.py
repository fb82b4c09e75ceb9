import contextlib
import doctest
import io
import re
import subprocess
import sys
import tempfile
import warnings
from functools import partialmethod
from importlib import import_module, metadata
from pathlib import Path

import pytest
from helpers.patience import PATIENCE
from helpers.places import PROJECT

import thali
from thali.errors import ThaliWarning

PACKAGE = Path(thali.__file__).parent
HEAVY = "numba scipy sklearn xarray arviz_base arviz_stats matplotlib pandas rich".split()


def python(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "statement", ["import thali", "import thali._surfaces.cli", "import thali.errors"]
)
def test_importing_loads_nothing_heavy(statement):
    loaded = python(f"import sys; {statement}; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


# What no fit loads, as it takes longer than the fit.
NEVER = "arviz_base arviz_stats click h5netcdf h5py jinja2 matplotlib netCDF4 sklearn typer".split()
NEVER += [
    f"scipy.{part}"
    for part in ("fft", "interpolate", "optimize", "signal", "sparse", "spatial", "stats")
]
SHORT = "draws=4, tune=2, thin=1, chains=2, cores=1, random_seed=1, progressbar=False"
SHORT_FITS = {
    "pairs": f"th.EliminationByAspects().fit(th.datasets.celebrities(), {SHORT})",
    "pairs of many options": "th.EliminationByAspects('unique').fit("
    # ranks are rows of the summary
    f"th.PairedComparisons(np.eye(61, k=1) + np.eye(61, k=-1)), {SHORT})",
    "maximum likelihood": "th.EliminationByAspects('unique', method='maximum-likelihood',"
    " lapse=0.0).fit(th.datasets.celebrities())",
    "similarities": f"th.AdditiveClustering().fit(th.datasets.numbers(), {SHORT})",
    "rows": "th.PlackettLuceRegression(draws=8, tune=4, chains=2, random_state=1).fit("
    "np.eye(6)[:, :3] + 0.1, ['a', 'b'] * 3, progressbar=False)",
    "independent draws": "th.BradleyTerryLuce().fit(th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1,"
    " 2, 0]]), draws=8, chains=2, random_seed=1, progressbar=False)",
}


@pytest.mark.fit
def test_a_fit_loads_only_what_it_needs():
    """Without Dask, which xarray loads where it is installed, and with the samplers as Python,
    without the compiler.

    One process makes all of the fits, one after the other, and says after each what is loaded.
    """
    code = "import os, sys; os.environ['NUMBA_DISABLE_JIT'] = '1'; sys.modules['dask'] = None\n"
    code += "import numpy as np, thali as th, warnings; warnings.simplefilter('ignore')\n"
    said = python(
        code + "".join(f"{fit}; print(*sys.modules)\n" for fit in SHORT_FITS.values())
    ).splitlines()
    for name, loaded in zip(SHORT_FITS, map(str.split, said), strict=True):
        assert "thali._model.base" in loaded
        # of comparisons with judges
        needed = {"scipy.sparse"} if name == "independent draws" else set()
        assert not (set(NEVER) - needed) & set(loaded), name


def test_importing_takes_a_tenth_of_a_second_at_most():
    # CPU time, one of several: the budget is that of the package, not of a busy machine. Measured:
    # a thousandth.
    code = (
        "import numpy, time; began = time.process_time(); import thali;"
        " print(time.process_time() - began)"
    )
    assert any(float(python(code)) <= 0.1 for _ in range(5))


def test_help_takes_half_a_second_at_most():
    """By the time of an import of NumPy in the same process, a tenth of a second; about as much was
    measured."""

    def share():
        code = (
            "import sys, time; began = time.process_time(); import numpy; ours ="
            " time.process_time()\n"
        )
        code += "sys.argv = ['thali', '--help']\n"
        code += "from thali._surfaces.cli import main\ntry: main()\nexcept SystemExit: pass\n"
        printed = python(code + "print((time.process_time() - ours) / (ours - began))").splitlines()
        assert printed[0].startswith("Usage: thali")
        return float(printed[-1])

    assert any(share() <= 4.0 for _ in range(5))


def test_the_command_line_leaves_its_memory_to_the_system():
    # runs last
    code = "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 1000))\n"
    code += "sys.argv = ['thali', 'fit', '--help']\nfrom thali._surfaces.cli import main\nmain()"
    assert python(code).splitlines()[-1] == "True"


def test_every_public_name_loads():
    assert set(thali.__all__) <= set(dir(thali))
    for name in thali.__all__:
        assert getattr(thali, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        thali.no_such_name  # noqa: B018
    with pytest.raises(
        AttributeError,
        match=r"No thali attribute 'EliminationByAspect'\. Did .* 'EliminationByAspects'",
    ):
        thali.EliminationByAspect  # noqa: B018


def test_what_is_installed_is_what_is_imported():
    assert metadata.version("thali") == thali.__version__
    commands = metadata.entry_points(group="console_scripts", name="thali")
    assert {command.value for command in commands} == {"thali._surfaces.cli:main"}
    assert (PACKAGE / "py.typed").exists()


def modules_with_examples():
    for file in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in file.read_text(encoding="utf-8"):
            parts = ["thali", *file.relative_to(PACKAGE).with_suffix("").parts]
            yield ".".join(part for part in parts if part != "__init__")


@pytest.mark.usefixtures("few_draws", "few_replicates")
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")  # examples are short runs
@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples_in_docstrings(name, tmp_path, monkeypatch, pictures):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    messages = io.StringIO()
    with contextlib.redirect_stdout(messages):
        failed, tried = doctest.testmod(
            import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
    assert failed == 0, messages.getvalue()
    assert tried > 0


def readme():
    return (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_readme_installs_and_runs_in_two_lines():
    assert (
        "\npython3 -m venv .venv && .venv/bin/pip install . && .venv/bin/thali fit celebrities\n"
        in readme()
    )
    assert (
        "\npython3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/python -m pytest\n"
        in readme()
    )


WITH_FEATURES = thali.EliminationByAspects, thali.AdditiveClustering, thali.LatentFeatureModel


def test_the_readme_runs(monkeypatch, tmp_path, in_plain_python):
    """All of it, but for the length of the fits."""
    run, short = thali.compare, {"draws": 40, "tune": 20, "thin": 1, "chains": 2, "cores": 1}
    for owner, name, quick in (
        (thali, "compare", lambda *models, **settings: run(*models, **(settings | short))),
        *((model, "fit", partialmethod(model.fit, draws=300, tune=200)) for model in WITH_FEATURES),
        (thali.ProductClasses, "fit", partialmethod(thali.ProductClasses.fit, draws=20, tune=10)),
    ):
        monkeypatch.setattr(owner, name, quick)
    in_plain_python("GivenColumns", "Sets")  # sixty sweeps a fit
    monkeypatch.chdir(tmp_path)  # it writes jobs
    blocks = re.findall(r"```python\n(.*?)```", readme(), re.DOTALL)
    assert blocks
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        for block in blocks:
            exec(compile(block, "README.md", "exec"), names)
    assert 0.55 < names["model"].predict_proba([("LBJ", "SL")])[0] < 0.68


def test_the_docstring_of_plots_lists_every_picture():
    listed = [line.split()[0] for line in thali.plots.__doc__.splitlines() if "   " in line]
    assert sorted(listed) == sorted(thali.plots.__all__)
