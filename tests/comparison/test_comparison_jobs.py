"""Comparisons that go on from a job after any end of the process."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import watched_runs
from helpers.experiment_data import simulate_experiment
from helpers.patience import PATIENCE
from helpers.places import TESTS
from helpers.sentences import refused, warned
from helpers.short_comparisons import SHORT, TRIO, compare, models
from helpers.stopped_jobs import keep_parts
from sklearn.linear_model import LogisticRegression

import thali as th
from thali._inference import job_folders
from thali._inference.resumable_tasks import read_parts
from thali.errors import (
    ArgumentError,
    DataError,
    IncompleteWarning,
    InterruptedWarning,
    ThaliWarning,
)


@pytest.fixture(scope="module")
def table():
    return compare()


@pytest.fixture
def often(monkeypatch):
    """Every fit is written when it is finished."""
    watched_runs.write_often(monkeypatch)


@pytest.fixture
def ran(monkeypatch):
    """How many fits each comparison ran."""
    return watched_runs.count_tasks(monkeypatch)


def same(a, b):
    """All but the CPU seconds."""
    pd.testing.assert_frame_equal(
        *(each.drop(columns="seconds", errors="ignore") for each in (a, b)), check_exact=True
    )
    assert a.attrs.keys() == b.attrs.keys()
    for name, value in a.attrs.items():
        assert (
            value.equals(b.attrs[name]) if hasattr(value, "equals") else value == b.attrs[name]
        ), name


# one job ------------------------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.parametrize("fits", range(1, 6))
def test_a_stopped_comparison_goes_on(fits, table, often, ran, tmp_path):
    job = tmp_path / "job"
    same(compare(job=job), table)
    keep_parts(job, fits)
    same(compare(job=job), table)
    assert ran == [6, 6 - fits]
    same(compare(job=job, random_seed=None), table)
    assert ran == [6, 6 - fits, 0]


# Run in a process of its own, which has no threads when it forks. A child is killed by signal 9
# just before or just after a file of the job is renamed into place; the same comparison then goes
# on from what it left behind.
KILLED = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = json.loads(sys.argv[1])
place, times, seed, by = json.loads(sys.argv[2])
import numpy as np
import pandas as pd
import thali as th
from helpers.stopped_jobs import killed_at_a_rename
from thali._inference import job_folders

rng = np.random.default_rng(seed)
job_folders.MIN_SECONDS, job_folders.SHARE = 0.0, 1e9
trio = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
models = {"BTL": th.EliminationByAspects("unique"), "two": th.EliminationByAspects(2)}
how = {"draws": 40, "tune": 10, "chains": 2, "thin": 1, "random_seed": 3, "progressbar": False, "cores": 1, "by": by}
whole = th.compare(models, trio, **how)
killed = 0
for number in range(times):
    folder = os.path.join(place, str(number))
    renames = 13 if by == "prediction" else 5  # two a fit or model, and the source
    moment, late = int(rng.integers(1, renames)), bool(rng.integers(2))
    killed += killed_at_a_rename(lambda: th.compare(models, trio, job=folder, **how), folder, moment, late)
    again = th.compare(models, trio, job=folder, **how)
    pd.testing.assert_frame_equal(again, whole, check_exact=True)
    if by == "prediction":
        pd.testing.assert_frame_equal(again.attrs["predictions"], whole.attrs["predictions"], check_exact=True)
    assert job_folders.read_index(job_folders.Path(folder))["ended"] and not job_folders.is_running(job_folders.Path(folder))
print(killed, "times killed, the same")
"""


def killed(place, times, seed, by="prediction"):
    command = [
        sys.executable,
        "-c",
        KILLED,
        json.dumps([str(TESTS)]),
        json.dumps([str(place), times, seed, by]),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("by", ["prediction", "evidence"])
def test_forty_killed_comparisons_go_on(tmp_path, by):
    assert killed(tmp_path, 40, 2, by) == 40


def test_models_may_be_added(table, ran, tmp_path):
    compare({"two": models()["two"]}, job=tmp_path / "job")
    found = compare({"two": models()["two"], "BTL": models()["BTL"]}, job=tmp_path / "job")
    assert ran == [3, 3]
    pd.testing.assert_frame_equal(found.loc[table.index], table, check_exact=True)


@pytest.mark.parametrize("seed", [np.int64(3), np.random.SeedSequence(3), np.random.default_rng(3)])
def test_seeds_of_every_kind_are_kept(tmp_path, ran, seed):
    first = compare({"BTL": models()["BTL"]}, job=tmp_path / "job", random_seed=seed)
    same(compare({"BTL": models()["BTL"]}, job=tmp_path / "job", random_seed=None), first)
    assert ran == [3, 0]


def test_what_decides_about_no_result_may_change(tmp_path, ran):
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.arange(30) % 2
    for seed in (1, 2):
        named = {"PL": th.PlackettLuceRegression("map", a=1.5, random_state=seed)}
        compare(
            named,
            (X, y),
            folds=3,
            draws=None,
            tune=None,
            chains=None,
            thin=None,
            job=tmp_path / "job",
        )
    assert ran == [3, 0]


class Own:
    """A model of somebody else that says nothing of itself."""

    def __init__(self, share):
        self.share = share

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.tile([self.share, 1.0 - self.share], (len(X), 1))


def test_a_model_of_somebody_else_is_known_by_its_attributes(tmp_path, ran):
    for share in (0.5, 0.5):
        compare({"own": Own(share)}, _rows(), folds=3, job=tmp_path / "job")
    with refused(DataError, "share=0.5", "'own'", "share=0.25"):
        compare({"own": Own(0.25)}, _rows(), folds=3, job=tmp_path / "job")
    assert ran == [3, 0]


def test_a_full_disk_does_not_cost_the_comparison(tmp_path, table, monkeypatch, often):
    watched_runs.fill_disk(monkeypatch)
    with warned(IncompleteWarning, "The predictive comparison continues") as said:
        found = th.compare(models(), TRIO, **SHORT, job=tmp_path / "job")
    same(found, table)
    assert len([warning for warning in said if warning.category is IncompleteWarning]) == 1


def test_ctrl_c_says_what_is_kept(tmp_path, monkeypatch, ran):
    with monkeypatch.context() as patch:
        watched_runs.stop_after(3, patch)
        with warned(InterruptedWarning, "3 of", "6 fits", "the call to resume from", "job'"):
            th.compare(models(), TRIO, **SHORT, job=tmp_path / "job")
    assert job_folders.read_index(tmp_path / "job")["place"]["done"] == 3
    compare(job=tmp_path / "job")
    assert ran == [3]
    watched_runs.stop_at_table(monkeypatch)
    with refused(KeyboardInterrupt, "6 of", "6 fits", "job'"):
        compare(job=tmp_path / "job")
    with pytest.raises(KeyboardInterrupt, match="^$"):
        compare()


class FailsOnce(th.EliminationByAspects):
    """Cannot be fitted without the pair x-y until a file is there."""

    def fit(self, data, **settings):
        pairs = {
            (data.labels[i], data.labels[j]) for i, j in zip(data.first, data.second, strict=True)
        }
        if ("x", "y") not in pairs and not os.path.exists(os.environ["THALI_MARKER"]):
            raise RuntimeError("no x-y")
        return super().fit(data, **settings)


def test_a_failed_fit_is_tried_again(tmp_path, monkeypatch, ran):
    monkeypatch.setenv("THALI_MARKER", str(tmp_path / "marker"))
    bad = {"bad": FailsOnce("unique")}
    job = tmp_path / "job"
    with warned(IncompleteWarning, "1 of", "3 fits", "RuntimeError"):
        th.compare(bad, TRIO, **SHORT, job=job)
    (tmp_path / "marker").write_text("")
    assert not job_folders.read_index(job)["ended"]
    assert not len(compare(bad, job=job).attrs["missing"])
    assert job_folders.read_index(job)["ended"] and ran == [3, 1]


# every kind of data -------------------------------------------------------------------------------


def _choices():
    rng = np.random.default_rng(4)
    rows = [
        (number, option, int(place == 0), f"r{number % 7}")
        for number in range(40)
        for place, option in enumerate(rng.permutation(list("abcd"))[:3])
    ]
    frame = pd.DataFrame(rows, columns=["choice", "option", "chosen", "who"])
    return th.Choices.from_frame(
        frame, choice_id="choice", alternative="option", chosen="chosen", respondent="who"
    )


def _experiment():
    return th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=8, n_tasks=4, seed=4), levels={"zoom": ["no", "yes"]}
    )


def _similarities():
    values = np.random.default_rng(3).random((4, 4))
    return th.Similarities((values + values.T) / 2)


def _rows(frame=False):
    X = np.random.default_rng(2).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0.3, "moss", "fern")
    return (pd.DataFrame(X, columns=["u", "v"]), pd.Series(y)) if frame else (X, y)


CLASSIFIERS = {"PL": th.PlackettLuceRegression("map", a=1.5), "logistic": LogisticRegression()}
KINDS = {
    "pairs": (models, lambda: TRIO, {}),
    "choices": (lambda: {"BTL": th.BradleyTerryLuce()}, _choices, {"folds": 3}),
    "people": (
        lambda: {"BTL": th.BradleyTerryLuce()},
        _choices,
        {"leave_out": "respondent", "hold_out": np.int64(2)},
    ),
    "tasks": (lambda: {"MNL": th.MultinomialLogit()}, _experiment, {"folds": 3}),
    "respondents": (
        lambda: {"MNL": th.MultinomialLogit()},
        _experiment,
        {"leave_out": "respondent"},
    ),
    "similarities": (
        lambda: {"one": th.AdditiveClustering([[1], [1], [0], [0]])},
        _similarities,
        {"folds": 3},
    ),
    "rows": (lambda: CLASSIFIERS, _rows, {}),
    "frame": (lambda: CLASSIFIERS, lambda: _rows(frame=True), {"folds": 3}),
}


@pytest.mark.long
@pytest.mark.first(4)
@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_made_of_the_job_alone(kind, tmp_path, ran, done):
    named, data, how = KINDS[kind]
    whole = compare(named(), data(), **how, job=tmp_path / "job")
    shown = done("show", tmp_path, "comparison").out
    assert str(th.findings(whole)["comparison"].sentence) in shown, shown
    assert all(f"\n{name} " in shown for name in whole.index), shown
    same(compare(named(), data(), **how, job=tmp_path / "job"), whole)
    assert ran == [len(whole.attrs["missing"]) + whole.attrs["fits"], 0]


# refusals -----------------------------------------------------------------------------------------


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def jobs_of_trio(tmp_path_factory):
    """The job of a comparison, and that of a fit."""
    folder = tmp_path_factory.mktemp("jobs")
    compare(job=folder / "whole")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        th.EliminationByAspects("unique").fit(TRIO, job=folder / "fit", **SHORT)
    return folder


OTHER_DATA = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 2, 0]], labels=["x", "y", "z"])
TWO = th.EliminationByAspects(2)
OTHERS = {
    "data": ({"data": OTHER_DATA}, ("whole'", "different data")),
    "draws": ({"draws": 50}, ("draws=40", "draws=50")),
    "tune": ({"tune": None}, ("tune=10", "tune=1000")),
    "seed": ({"random_seed": 4}, ("a different seed",)),
    "model": (
        {
            "named": {
                "BTL": th.LatentFeatureModel(
                    th.priors.IndianBuffet(), th.likelihoods.Elimination()
                ),
                "two": TWO,
            }
        },
        ("EliminationByAspects", "'BTL'", "LatentFeatureModel"),
    ),
    "parameter": (
        {"named": {"BTL": th.EliminationByAspects("unique", lapse=0.1), "two": TWO}},
        ("lapse=None", "'BTL'", "lapse=0.1"),
    ),
    "models": ({"named": {"BTL": models()["BTL"]}}, ("'two'",)),
    "fit": ({"job": "fit"}, ("a fit", "a predictive comparison")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_comparison_is_refused(name, jobs_of_trio, ran):
    how, facts = OTHERS[name]
    before = contents(jobs_of_trio)
    with refused(DataError, *facts, "choose another folder") as error:
        compare(**{**how, "job": jobs_of_trio / how.get("job", "whole")})
    assert "\n" not in str(error.value)
    assert contents(jobs_of_trio) == before and not ran


def test_a_job_gives_way_only_to_a_comparison_that_begins(tmp_path, ran):
    compare(CLASSIFIERS, _rows(), folds=3, job=tmp_path / "job")
    before = contents(tmp_path)
    with job_folders.note_command(None, True):
        with pytest.raises(ArgumentError, match="`folds` must be from 2 to 40"):
            compare(CLASSIFIERS, _rows(), folds=41, job=tmp_path / "job")
        with job_folders.lock_folder(tmp_path / "job"), refused(DataError, "is running in"):
            compare(CLASSIFIERS, _rows(), folds=2, job=tmp_path / "job")
        assert contents(tmp_path) == before
        compare(CLASSIFIERS, _rows(), folds=2, job=tmp_path / "job")
    assert ran == [6, 4] and read_parts(tmp_path / "job").stamp["settings"]["folds"] == 2


def test_another_version_is_refused(jobs_of_trio, monkeypatch):
    watched_runs.claim_versions(monkeypatch, numpy="9.9")
    with pytest.raises(DataError, match=r"this predictive comparison uses numpy 9\.9"):
        compare(job=jobs_of_trio / "whole")


@pytest.mark.parametrize("name", ["../mine", "/etc/passwd", "lock"])
@pytest.mark.parametrize("of", ["segments", "source"])
def test_a_forged_job_names_its_own_files_alone(of, name, jobs_of_trio, tmp_path):
    job = tmp_path / "job"
    shutil.copytree(jobs_of_trio / "whole", job)
    (tmp_path / "mine").write_bytes(b"{}")
    index = job_folders.read_index(job)
    entry = {"file": name, "sha256": hashlib.sha256(b"{}").hexdigest()}
    index[of] = [entry] if of == "segments" else entry
    (job / job_folders.INDEX).write_bytes(job_folders.encode_index(index))
    with refused(DataError, "have been changed since"):
        compare(job=job)
    assert (tmp_path / "mine").read_bytes() == b"{}"
