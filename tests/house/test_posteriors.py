"""The reference posteriors: files that belong together, chains that agree, and answers that other
samplers find."""

import json
import re
import zipfile
from importlib import import_module

import numpy as np
import pytest
from helpers.places import PROJECT
from scipy.stats import t

FOLDER = PROJECT / "posteriors"
README = (FOLDER / "README.md").read_text("utf-8")


@pytest.fixture
def program(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


def json_of(path):
    """A file of the collection."""
    return json.loads((FOLDER / path).read_text("utf-8"))


def test_every_pair_has_its_files_and_they_belong_together(program):
    make, pairs = program("make"), program("pairs").PAIRS
    assert len(pairs) >= 24
    for name, pair in pairs.items():
        posterior = json_of(f"posteriors/{name}.json")
        assert (posterior["data_name"], posterior["model_name"]) == (pair.data, pair.model)
        assert (
            json_of(f"data/info/{pair.data}.info.json")["data_file"]
            == f"data/data/{pair.data}.json"
        )
        model = json_of(f"models/info/{pair.model}.info.json")
        program_file = model["model_implementations"]["thali"]["model_code"]
        assert (FOLDER / program_file).is_file() and model["description"]
        assert json_of(f"data/data/{pair.data}.json")
        assert make.is_finished(pair), (
            f"{name} is not that of its present data, model and run: python posteriors/make.py"
        )


def test_no_file_is_of_no_pair(program):
    pairs = program("pairs").PAIRS
    summaries = "reference_posteriors/summary_statistics/functionals"
    kept = {
        "posteriors": set(pairs),
        f"{summaries}/functionals": set(pairs),
        f"{summaries}/info": {f"{name}.info" for name in pairs},
        "data/data": {pair.data for pair in pairs.values()},
        "models/info": {f"{pair.model}.info" for pair in pairs.values()},
    }
    for folder, names in kept.items():
        assert {path.stem for path in (FOLDER / folder).glob("*.json")} == names
    assert {path.stem for path in (FOLDER / "models/thali").glob("*.py")} == {
        pair.model for pair in pairs.values()
    }


def test_every_reference_has_ten_chains_that_agree(program):
    make, functionals = program("make"), program("functionals")
    for name in program("pairs").PAIRS:
        found, info = make.reference(name), json.loads(make.info_file(name).read_text("utf-8"))
        names, diagnostics = found["names"], info["diagnostics"]
        assert len(set(names)) == len(names) > 0
        assert diagnostics["diagnostic_information"]["names"] == names
        columns = set(found) - {"names"}
        assert columns == {"mean", "mcse_mean", "sd", "mcse_sd"} | {
            f"quantile_{level:g}" for level in make.QUANTILES
        }
        for values in [*(found[column] for column in columns), diagnostics["r_hat"]]:
            assert len(values) == len(names) and np.isfinite(values).all(), name
        assert diagnostics["nchains"] >= 10 and all(info["checks_made"].values()), name
        assert (
            max(diagnostics["r_hat"]) <= 1.01
            and min(diagnostics["effective_sample_size_bulk"]) >= 1000
        ), name
        assert (
            np.diff([found[f"quantile_{level:g}"] for level in make.QUANTILES], axis=0) >= 0
        ).all()
        posterior = json_of(f"posteriors/{name}.json")
        assert sum(posterior["dimensions"].values()) == len(names)
        assert posterior["functionals"] == {
            key: functionals.MEANINGS[key] for key in posterior["dimensions"]
        }


def test_the_data_are_those_that_the_program_makes(program):
    for name, made in program("sets").SETS.items():
        assert json_of(f"data/data/{name}.json") == json.loads(json.dumps(made())), name


def test_a_client_of_posteriordb_finds_the_data():
    """It opens an archive with one file beside the name that the information has, and reads
    JSON."""
    for path in sorted((FOLDER / "data" / "info").glob("*.info.json")):
        data_file = json.loads(path.read_text("utf-8"))["data_file"]
        with zipfile.ZipFile(FOLDER / f"{data_file}.zip") as archive:
            (name,) = archive.namelist()
            assert json.loads(archive.read(name)) == json_of(data_file)


def test_the_collection_is_small():
    assert (
        sum(
            path.stat().st_size
            for path in FOLDER.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        )
        < 3_000_000
    )


# Of aspects by sums, of judges and seasons by quadrature (tests/aspects/worths has the same).
EXACT = [
    ("two_options-buffet_alpha_2", "n_features", 3.1737),
    ("two_judges-luce_judges", "choice_probability[a, b]", 0.67521),
    ("two_judges-luce_judges", "log_discrimination[p]", 0.24903),
    ("two_judges-luce_judges", "log_discrimination[q]", -0.24903),
    ("two_judges-luce_judges", "judge_sd", 0.46388),
    ("three_seasons-luce_in_time", "probability_in_time[a, b, 1]", 0.61928),
    ("three_seasons-luce_in_time", "probability_in_time[a, b, 2]", 0.46242),
    ("three_seasons-luce_in_time", "probability_in_time[a, b, 3]", 0.26033),
    ("three_seasons-luce_in_time", "drift", 0.6394),
]


@pytest.mark.parametrize(("name", "functional", "exact"), EXACT)
def test_the_reference_is_the_exact_value(program, name, functional, exact):
    found = program("make").reference(name)
    place = found["names"].index(functional)
    # rounding of the exact value
    assert abs(found["mean"][place] - exact) < 4 * found["mcse_mean"][place] + 5e-5


@pytest.mark.long
@pytest.mark.fit
def test_the_sampler_of_the_readme_agrees(monkeypatch, capsys):
    """It has no line in common with those of thali."""
    monkeypatch.chdir(PROJECT)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    spoken = {}
    exec(code, spoken)
    assert len(spoken["z"]) == 6
    # errors from ninety batches, six differences
    assert np.abs(spoken["z"]).max() < t(89).isf(1e-5 / (2 * 6))
    assert capsys.readouterr().out


@pytest.mark.fit
@pytest.mark.parametrize("name", ["paris_rome-bradley_terry", "two_options-buffet_alpha_2"])
def test_a_fresh_run_agrees(program, name):
    z, limit = program("check").differences(name)
    assert max(map(abs, z.values())) < limit, z


@pytest.mark.study
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize(
    "name", [path.stem for path in sorted((FOLDER / "posteriors").glob("*.json"))]
)
def test_a_fresh_run_of_each_agrees(program, name):
    z, limit = program("check").differences(name)
    assert max(map(abs, z.values())) < limit, z
