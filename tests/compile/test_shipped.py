"""Compiled code shipped with the library is used where it runs, and nowhere else."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import sentences
from helpers.compiled_code import claim_features, keep_code_in
from helpers.patience import PATIENCE
from helpers.places import PROJECT, TESTS
from helpers.rolling import RIGHT, rolled
from helpers.sentences import says, warned

import thali
from thali._compile import USED, compiled_code_files, processor_types
from thali._model.registry import SPECS
from thali._testing import small_models
from thali._testing.small_models import SMALL_MODELS
from thali.errors import ArgumentError, IncompleteWarning

LEVEL = small_models.find_processor_level()
ROLL = (
    "from helpers.rolling import rolled; from thali._compile import USED; print(*rolled(), *USED)"
)

pytestmark = pytest.mark.skipif(
    processor_types.explain_incompatibility(LEVEL) != "", reason="this processor is older"
)


def in_another_process(code, **changes):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | changes
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(thali.__file__).parents[1]), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What `thali cache build` leaves of one kernel, and what that kernel did."""
    folder = tmp_path_factory.mktemp("built")
    value, hits, target = in_another_process(ROLL, **small_models.build_environment(LEVEL, folder))
    assert (int(value), hits, target) == (RIGHT, "0", LEVEL)
    (file,) = folder.rglob(f"*{compiled_code_files.SUFFIX}")
    return file


@pytest.fixture
def came(built, tmp_path, monkeypatch):
    """The file of that kernel as if it had come with the library, and nothing else that is
    compiled."""
    file = tmp_path / "kernels" / built.parent.name / built.name
    file.parent.mkdir(parents=True)
    file.write_bytes(built.read_bytes())
    monkeypatch.setattr(compiled_code_files, "SHIPPED", tmp_path / "kernels")
    keep_code_in(monkeypatch, tmp_path / "own")
    used = set(USED)
    USED.clear()
    yield file
    compiled_code_files.find_shipped.cache_clear()
    USED.clear()
    USED.update(used)


def own_files(came):
    return list((came.parents[2] / "own").rglob(f"*{compiled_code_files.SUFFIX}"))


def test_shipped_code_is_used_and_named_by_cache_info(came, run):
    assert rolled() == (RIGHT, 1) and {LEVEL} == USED and not own_files(came)
    said = run("cache", "info").out
    assert f"1 files, 0.0 MB shipped with thali, compiled for {LEVEL}\n" in said
    workflow = (PROJECT / ".github/workflows/release.yml").read_text("utf-8")
    assert re.search("cache info . grep '(.+)'", workflow)[1] in said


def test_a_posterior_names_the_processor(came):
    from thali._posterior.datatree_files import describe_origin

    assert "compiled_for" not in describe_origin()
    rolled()
    assert describe_origin()["compiled_for"] == LEVEL


@pytest.mark.parametrize(
    "damage", ["a bit", "half of it", "empty", "of another name", "everybody may write to it"]
)
def test_damaged_or_foreign_shipped_code_is_compiled_again(damage, came):
    content = came.read_bytes()
    if damage == "of another name":
        content = compiled_code_files.encode_entry(1, "another")
    elif damage == "a bit":
        content = content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]
    elif damage in ("half of it", "empty"):
        content = content[: len(content) // 2 if damage == "half of it" else 0]
    elif os.name == "posix":
        came.chmod(0o666)
    else:
        pytest.skip("Windows has no such permissions")
    came.write_bytes(content)
    with warned(IncompleteWarning, "shipped with", "' is damaged"):
        assert rolled() == (RIGHT, 0)
    assert came.read_bytes() == content and len(own_files(came)) == 1
    assert rolled() == (RIGHT, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("numba-", "numba-9"),
        ("numba-", "numba-0.0."),
        (sys.platform, "beos"),
        (sys.implementation.cache_tag, "pypy"),
    ],
    ids=["a later numba", "an earlier numba", "another system", "another Python"],
)
def test_shipped_code_for_another_version_or_platform_is_not_used(old, new, came):
    other = came.parent.with_name(came.parent.name.replace(old, new, 1))
    came.parent.rename(other)
    with pytest.warns(
        IncompleteWarning,
        match=f"not used, because it is for {other.name[6:]}, but this machine is .*numba",
    ):
        assert rolled() == (RIGHT, 0)
    says(compiled_code_files.cache_info().shipped, "shipped with thali")


def test_features_that_the_processor_lacks_are_named(came, monkeypatch):
    if not processor_types.LEVELS[LEVEL].features:
        pytest.skip("every processor of this kind has it")
    lacking = sorted(processor_types.LEVELS[LEVEL].features)[-1]
    claim_features(monkeypatch, processor_types.LEVELS[LEVEL].features - {lacking})
    with pytest.warns(
        IncompleteWarning, match=f"not used, because this processor lacks {lacking}; compiling here"
    ):
        assert rolled() == (RIGHT, 0)
    assert {processor_types.find_native_tag()} == USED


@pytest.mark.long
def test_the_most_demanding_level_that_runs_is_used(came, monkeypatch):
    if platform.machine().lower() not in processor_types.X86:
        pytest.skip("one level for all")
    for level in ("x86-64-v2", "x86-64-v4"):
        (came.parents[1] / came.parent.name.replace(LEVEL, level)).mkdir()
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        claim_features(monkeypatch, processor_types.LEVELS[level].features)
        compiled_code_files.find_shipped.cache_clear()
        folder = compiled_code_files.find_shipped().folder
        assert folder is not None and folder.target == level


@pytest.mark.long
def test_code_for_the_processor_named_by_the_environment_is_compiled(came):
    """NUMBA_CPU_NAME may name a lesser processor than the level, which no code of the level may run
    on."""
    code = "from pathlib import Path; import sys, warnings; from thali._compile import compiled_code_files\n"
    code += f"compiled_code_files.SHIPPED = Path({str(came.parents[1])!r}); warnings.simplefilter('error')\n"
    own = {"NUMBA_CACHE_DIR": str(came.parents[2] / "own")}
    assert in_another_process(code + ROLL, **own) == [str(RIGHT), "1", LEVEL]
    code = code.replace("'error'", "'ignore'")
    least = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert in_another_process(code + ROLL, **own, **least) == [str(RIGHT), "0", "generic"]


# what is built ------------------------------------------------------------------------------------


def test_every_model_and_every_method_has_its_smallest_problem():
    for spec in SPECS:
        rows = small_models.list_cases([spec.name])
        assert rows[0] == spec.name, spec.name
        special = {part.replace(" ", "-") for row in rows for part in row.split(", ")[1:]}
        compiled = [method for method in spec.methods if method != "auto"]
        assert set(compiled[1:]) <= special, spec.name  # the first has the name of the model alone
    assert set(small_models.list_cases([])) == set(SMALL_MODELS)


def test_a_level_that_does_not_exist_or_does_not_run_is_refused(tmp_path, monkeypatch):
    with sentences.refused(ArgumentError, "target", "'x86-64'"):
        small_models.build_environment("x86-64", tmp_path)
    claim_features(monkeypatch, ())
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with sentences.refused(ArgumentError, "64"):
        small_models.build_environment("x86-64-v2", tmp_path)
    with pytest.raises(ArgumentError, match="because this processor is x86_64"):
        small_models.build_environment("apple-m1", tmp_path)


def test_the_command_line_builds_and_warms(tmp_path, monkeypatch, run):
    asked = []

    def fit_in_processes(names, cores, environment=None):
        asked.append((names, environment))
        yield from (
            small_models.CompiledCase(name, "no room" if "map" in name else "") for name in names
        )

    monkeypatch.setattr(small_models, "fit_in_processes", fit_in_processes)
    keep_code_in(monkeypatch, tmp_path / "own")
    done = run("cache", "build", "multinomial_logit", "--out", tmp_path / "out")
    assert (
        done.code == 0
        and done.out.startswith("0 files, 0.0 MB\n")
        and done.out.rstrip().endswith(LEVEL)
    )
    assert run("cache", "warm", "HB").code == 0
    assert [names for names, _ in asked] == [
        ["multinomial-logit", "multinomial-logit, amounts"],
        ["hierarchical-logit", "hierarchical-logit, amounts"],
    ]
    assert asked[0][1]["NUMBA_CPU_NAME"] == LEVEL and asked[1][1] is None
    done = run("cache", "warm", "plackett-luce")
    assert done.code == 1 and done.err.splitlines() == [
        "thali: error: plackett-luce, map: no room",
        "thali: 1 of 3 models could not be compiled.",
    ]
    for word, said in (
        ("hb2", "MODEL must be elimination-by-aspects, "),
        ("davidson", "is a test, not a model; use thali test"),
    ):
        refused = run("cache", "warm", word)
        assert refused.code == 2 and said in refused.err and "--model" not in refused.err
    (tmp_path / "file").write_text("")
    assert "--out must be a folder" in run("cache", "build", "--out", tmp_path / "file").err


@pytest.mark.long
def test_a_row_is_fitted_in_its_own_process_and_kept(tmp_path):
    """The whole way, of the quickest to compile; the second time everything is found."""
    environment = small_models.build_environment(LEVEL, tmp_path)
    for _ in range(2):
        assert list(
            small_models.fit_in_processes(["plackett-luce, variational"], 1, environment)
        ) == [small_models.CompiledCase("plackett-luce, variational", "")]
        files = {
            file: file.stat().st_mtime_ns
            for file in tmp_path.rglob(f"*{compiled_code_files.SUFFIX}")
        }
        assert files and files == {
            file: file.stat().st_mtime_ns
            for file in tmp_path.rglob(f"*{compiled_code_files.SUFFIX}")
        }
