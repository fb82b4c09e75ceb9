"""Comparisons that go on from a job after any end of the process, and shards that are merged."""

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
from experiment_data import simulated
from patience import PATIENCE
from places import HELPERS
from short_comparisons import SHORT, TRIO, compare, models, stop_after
from sklearn.linear_model import LogisticRegression
from stopped_jobs import keep_parts

import thali as th
from thali.comparison.job import fits_of
from thali.comparison.merge import table_of_job
from thali.errors import ArgumentError, DataError, IncompleteWarning, InterruptedWarning, ThaliWarning
from thali.inference import jobs
from thali.inference import threads as workers
from thali.inference.parts import PartsFolder, read_parts


def merge(folders, job):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return th.merge(folders, job)


@pytest.fixture(scope="module")
def table():
    return compare()


@pytest.fixture
def often(monkeypatch):
    """Every fit is written when it is finished."""
    monkeypatch.setattr(jobs, "MIN_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "SHARE", 1e9)


@pytest.fixture
def ran(monkeypatch):
    """How many fits each comparison ran."""
    run_all, ran = workers.run_all, []
    monkeypatch.setattr(
        "thali.comparison.engine.run_all", lambda f, tasks, cores: ran.append(len(tasks)) or run_all(f, tasks, cores)
    )
    return ran


def same(a, b):
    """All but the CPU seconds."""
    pd.testing.assert_frame_equal(*(each.drop(columns="seconds", errors="ignore") for each in (a, b)), check_exact=True)
    assert a.attrs.keys() == b.attrs.keys()
    for name, value in a.attrs.items():
        assert value.equals(b.attrs[name]) if hasattr(value, "equals") else value == b.attrs[name], name


# one job --------------------------------------------------------------------------------------------------


@pytest.mark.first(3)
@pytest.mark.parametrize("fits", range(1, 6))
def test_a_stopped_comparison_goes_on(fits, table, often, ran, tmp_path):
    job = tmp_path / "job"
    same(compare(job=job), table)
    keep_parts(job, fits)
    same(compare(job=job), table)
    assert ran == [6, 6 - fits]
    same(compare(job=job, random_seed=None), table)
    assert ran == [6, 6 - fits, 0]


def test_it_is_the_same_on_four_cores(table, tmp_path, often):
    compare(job=tmp_path / "job")
    keep_parts(tmp_path / "job", 1)
    same(compare(job=tmp_path / "job", cores=4), table)


# Run in a process of its own, which has no threads when it forks. A child is killed by signal 9 just before or just
# after a file of the job is renamed into place; the same comparison then goes on from what it left behind.
KILLED = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = json.loads(sys.argv[1])
place, times, seed = json.loads(sys.argv[2])
import numpy as np
import pandas as pd
import thali as th
from stopped_jobs import killed_at_a_rename
from thali.inference import jobs

rng = np.random.default_rng(seed)
jobs.MIN_SECONDS, jobs.SHARE = 0.0, 1e9
trio = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
models = {"BTL": th.EliminationByAspects("unique"), "two": th.EliminationByAspects(2)}
how = {"draws": 40, "tune": 10, "chains": 2, "thin": 1, "random_seed": 3, "progressbar": False, "cores": 1}
whole = th.compare(models, trio, **how)
killed = 0
for number in range(times):
    folder = os.path.join(place, str(number))
    moment, late = int(rng.integers(1, 13)), bool(rng.integers(2))  # of six fits, each with two files
    killed += killed_at_a_rename(lambda: th.compare(models, trio, job=folder, **how), folder, moment, late)
    again = th.compare(models, trio, job=folder, **how)
    pd.testing.assert_frame_equal(again, whole, check_exact=True)
    pd.testing.assert_frame_equal(again.attrs["predictions"], whole.attrs["predictions"], check_exact=True)
    assert jobs.read_index(jobs.Path(folder))["ended"] and not jobs.is_running(jobs.Path(folder))
print(killed, "times killed, the same")
"""


def killed(place, times, seed):
    command = [sys.executable, "-c", KILLED, json.dumps([str(HELPERS)]), json.dumps([str(place), times, seed])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_comparison_goes_on(tmp_path):
    assert killed(tmp_path, 3, 5) == 3  # twice between the records and their index


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forty_killed_comparisons_go_on(tmp_path):
    assert killed(tmp_path, 40, 2) == 40


def test_models_may_be_added(table, ran, tmp_path):
    compare({"two": models()["two"]}, job=tmp_path / "job")
    found = compare({"two": models()["two"], "BTL": models()["BTL"]}, job=tmp_path / "job")
    assert ran == [3, 3]
    pd.testing.assert_frame_equal(found.loc[table.index], table, check_exact=True)


def test_without_a_seed_that_of_the_job_holds(tmp_path):
    job = tmp_path / "job"
    same(compare(job=job, random_seed=None), compare(job=job, random_seed=None))


@pytest.mark.parametrize("seed", [np.int64(3), np.random.SeedSequence(3), np.random.default_rng(3)])
def test_seeds_of_every_kind_are_kept(tmp_path, ran, seed):
    first = compare({"BTL": models()["BTL"]}, job=tmp_path / "job", random_seed=seed)
    same(compare({"BTL": models()["BTL"]}, job=tmp_path / "job", random_seed=None), first)
    assert ran == [3, 0]


def test_what_decides_about_no_result_may_change(tmp_path, ran):
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.arange(30) % 2
    for cores in (1, 2):
        named = {"PL": th.PlackettLuceRegression("map", a=1.5, cores=cores, random_seed=cores, progressbar=False)}
        compare(named, (X, y), folds=3, draws=None, tune=None, chains=None, thin=None, job=tmp_path / "job")
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
    with pytest.raises(DataError, match="was begun with share=0.5 of 'own', and this comparison has share=0.25; "):
        compare({"own": Own(0.25)}, _rows(), folds=3, job=tmp_path / "job")
    assert ran == [3, 0]


def test_the_job_of_a_model_is_not_that_of_its_left_out_fits(tmp_path):
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.arange(30) % 2
    named = {"logit": th.SparseMultinomialLogit(job=tmp_path / "of the model")}
    found = compare(named, (X, y), folds=2)
    assert not len(found.attrs["missing"]) and not (tmp_path / "of the model").exists()


def test_long_fits_are_written_at_once_and_short_ones_together(tmp_path):
    stamp = {"kind": "comparison", "models": {}, "settings": {}, "data": ""}
    with PartsFolder(tmp_path / "job", stamp, 1) as folder:
        folder.plan({str(number): "a" for number in range(5)}, "fits")
        held = []
        for number, seconds in enumerate([1.0, 1.0, 1.5, 4.0, 0.1]):
            folder.add(str(number), {}, seconds)
            index = jobs.read_index(folder.path)
            held.append(0 if index is None else index["place"]["done"])
        assert held == [0, 0, 3, 4, 4]
    index = jobs.read_index(folder.path)
    assert index["ended"] and index["place"]["each"] == {"a": [5, 5]} and len(index["segments"]) == 3


def test_a_full_disk_does_not_cost_the_comparison(tmp_path, table, monkeypatch, often):
    def full(path, content):
        raise DataError("No space left on device.")

    monkeypatch.setattr(jobs, "atomic_write", full)
    with pytest.warns(IncompleteWarning, match="The comparison goes on without its job.") as said:
        found = th.compare(models(), TRIO, **SHORT, job=tmp_path / "job")
    same(found, table)
    assert len([warning for warning in said if warning.category is IncompleteWarning]) == 1


def test_ctrl_c_says_what_is_kept(tmp_path, monkeypatch, ran):
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        with pytest.warns(InterruptedWarning, match="3 of 6 fits are finished.*the same call goes on from '.*job'"):
            th.compare(models(), TRIO, **SHORT, job=tmp_path / "job")
    assert jobs.read_index(tmp_path / "job")["place"]["done"] == 3
    compare(job=tmp_path / "job")
    assert ran == [3]

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("thali.comparison.engine.comparison_table", stop)  # the second Ctrl-C
    with pytest.raises(KeyboardInterrupt, match="6 of 6 fits are in '.*job'"):
        compare(job=tmp_path / "job")
    with pytest.raises(KeyboardInterrupt, match="^$"):
        compare()


class FailsOnce(th.EliminationByAspects):
    """Cannot be fitted without the pair x-y until a file is there."""

    marker = ""

    def fit(self, data, **settings):
        pairs = {(data.labels[i], data.labels[j]) for i, j in zip(data.first, data.second, strict=True)}
        if ("x", "y") not in pairs and not os.path.exists(self.marker):
            raise RuntimeError("no x-y")
        return super().fit(data, **settings)


def test_a_failed_fit_is_tried_again(tmp_path, monkeypatch, ran):
    monkeypatch.setattr(FailsOnce, "marker", str(tmp_path / "marker"))
    bad = {"bad": FailsOnce("unique")}
    whole = compare(bad, job=tmp_path / "job")
    for k in (1, 2):
        compare(bad, job=tmp_path / str(k), shard=(k, 2))
    with pytest.warns(IncompleteWarning, match=r"1 of 3 fits failed: bad without x-y \(RuntimeError: no x-y\)"):
        same(th.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged"), whole)
    (tmp_path / "marker").write_text("")
    for job in ("job", "merged"):
        assert not jobs.read_index(tmp_path / job)["ended"]
        assert not len(compare(bad, job=tmp_path / job).attrs["missing"])
        assert jobs.read_index(tmp_path / job)["ended"]
    assert ran == [3, 2, 1, 1, 1]


# shards ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "names", "n"), [(1, 5, 3), (36, 3, 4), (7, 2, 20)])
def test_shares_are_even_and_whole(parts, names, n):
    every = fits_of(map(str, range(names)), parts)
    shares = [fits_of(map(str, range(names)), parts, (k, n)) for k in range(1, n + 1)]
    assert sorted(fit for share in shares for fit in share) == sorted(every) and len(set(every)) == parts * names
    for of_model in (None, *map(str, range(names))):
        sizes = [sum(of_model in (None, name) for name, _ in share) for share in shares]
        assert max(sizes) - min(sizes) <= 1


def _choices():
    rng = np.random.default_rng(4)
    rows = [
        (number, option, int(place == 0), f"r{number % 7}")
        for number in range(40)
        for place, option in enumerate(rng.permutation(list("abcd"))[:3])
    ]
    frame = pd.DataFrame(rows, columns=["choice", "option", "chosen", "who"])
    return th.Choices.from_frame(frame, choice_id="choice", alternative="option", chosen="chosen", respondent="who")


def _experiment():
    return th.ChoiceExperiment.from_frame(simulated(people=8, tasks=4, seed=4), levels={"zoom": ["no", "yes"]})


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
    "choices": (lambda: {"BTL": th.EliminationByAspects("unique")}, _choices, {"folds": 3}),
    "people": (
        lambda: {"BTL": th.EliminationByAspects("unique")},
        _choices,
        {"leave_out": "respondent", "hold_out": np.int64(2)},
    ),
    "tasks": (lambda: {"MNL": th.MultinomialLogit()}, _experiment, {"folds": 3}),
    "respondents": (lambda: {"MNL": th.MultinomialLogit()}, _experiment, {"leave_out": "respondent"}),
    "similarities": (lambda: {"one": th.AdditiveClustering([[1], [1], [0], [0]])}, _similarities, {"folds": 3}),
    "rows": (lambda: CLASSIFIERS, _rows, {}),
    "frame": (lambda: CLASSIFIERS, lambda: _rows(frame=True), {"folds": 3}),
}


@pytest.mark.first(4)
@pytest.mark.parametrize("kind", KINDS)
def test_merged_shards_are_the_whole(kind, tmp_path, ran):
    named, data, how = KINDS[kind]
    whole = compare(named(), data(), **how)
    for k in range(1, 4):
        compare(named(), data(), **how, job=tmp_path / str(k), shard=(k, 3))
    fits = len(whole.attrs["missing"]) + whole.attrs["fits"]
    assert ran[0] == fits == sum(ran[1:])
    merged = merge([tmp_path / "3", tmp_path / "1", tmp_path / "2"], tmp_path / "merged")
    same(merged, whole)
    same(table_of_job(tmp_path / "merged"), whole)
    same(compare(named(), data(), **how, job=tmp_path / "merged"), whole)
    assert ran[-1] == 0
    same(merge([tmp_path / "3", tmp_path / "1", tmp_path / "2"], tmp_path / "merged"), whole)


def test_a_shard_can_be_empty_and_says_what_it_lacks(tmp_path, table):
    found = compare(job=tmp_path / "7", shard=(7, 7))
    assert found.attrs["fits"] == 0 and set(found.attrs["missing"]["why"]) == {"in another shard"}
    assert jobs.read_index(tmp_path / "7")["ended"] and not read_parts(tmp_path / "7").records
    for k in range(1, 7):
        compare(job=tmp_path / str(k), shard=(k, 7))
    same(merge([tmp_path / str(k) for k in range(1, 8)], tmp_path / "merged"), table)


def test_incomplete_shards_make_an_incomplete_whole(tmp_path, table, often, ran):
    for k in (1, 2):
        compare(job=tmp_path / str(k), shard=(k, 2))
    keep_parts(tmp_path / "2", 1)
    folders = [tmp_path / "1", tmp_path / "2"]
    match = "4 of 6 fits are finished and kept; not run: 'BTL without x-z', 'two without y-z'.*job='.*merged'"
    with pytest.warns(IncompleteWarning, match=match):
        found = th.merge(folders, tmp_path / "merged")
    assert (found["pairs"] == 1).all() and not jobs.read_index(tmp_path / "merged")["ended"]
    shutil.copytree(tmp_path / "merged", tmp_path / "copy")
    same(compare(job=tmp_path / "copy"), table)  # the whole runs what is missing
    same(compare(job=tmp_path / "2", shard=(2, 2)), compare(job=tmp_path / "2", shard=(2, 2)))
    same(merge(folders, tmp_path / "merged"), table)  # or its shard does
    assert ran == [3, 3, 2, 2, 0]


# refusals -------------------------------------------------------------------------------------------------


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def jobs_of_trio(tmp_path_factory):
    """The whole, its two shards, and other jobs."""
    folder = tmp_path_factory.mktemp("jobs")
    compare(job=folder / "whole")
    for k in (1, 2):
        compare(job=folder / str(k), shard=(k, 2))
    compare(job=folder / "2 of 3", shard=(2, 3))
    compare(job=folder / "other draws", shard=(2, 2), draws=41)
    compare(job=folder / "other seed", shard=(2, 2), random_seed=4)
    compare({"BTL": models()["BTL"]}, job=folder / "fewer", shard=(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        th.EliminationByAspects("unique").fit(TRIO, job=folder / "fit", **SHORT)
    return folder


OTHER_DATA = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 2, 0]], labels=["x", "y", "z"])
TWO = th.EliminationByAspects(2)
OTHERS = {
    "data": ({"data": OTHER_DATA}, "'.*whole' was begun with other data; "),
    "draws": ({"draws": 50}, "was begun with draws=40, and this comparison has draws=50; "),
    "tune": ({"tune": None}, "was begun with tune=10, and this comparison has tune=1000; "),
    "seed": ({"random_seed": 4}, "was begun with another seed; "),
    "model": (
        {"named": {"BTL": th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()), "two": TWO}},
        "is a comparison of EliminationByAspects as 'BTL', not of LatentFeatureModel; ",
    ),
    "parameter": (
        {"named": {"BTL": th.EliminationByAspects("unique", lapse=0.1), "two": TWO}},
        "was begun with lapse=None of 'BTL', and this comparison has lapse=0.1; ",
    ),
    "models": ({"named": {"BTL": models()["BTL"]}}, "was begun with the model 'two', which this comparison has not; "),
    "shard": ({"shard": (1, 2)}, "is the whole, and this comparison is shard 1/2; "),
    "whole": ({"job": "1"}, "is shard 1/2, and this comparison is the whole; "),
    "another shard": ({"job": "1", "shard": (2, 2)}, "is shard 1/2, and this comparison is shard 2/2; "),
    "fit": ({"job": "fit"}, "is a fit, not a comparison; "),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_comparison_is_refused(name, jobs_of_trio, ran):
    how, said = OTHERS[name]
    before = contents(jobs_of_trio)
    with pytest.raises(DataError, match=said) as error:
        compare(**{**how, "job": jobs_of_trio / how.get("job", "whole")})
    assert str(error.value).endswith("choose another folder, or remove this one.") and "\n" not in str(error.value)
    assert contents(jobs_of_trio) == before and not ran


def test_folds_are_part_of_a_job(tmp_path):
    compare(CLASSIFIERS, _rows(), folds=3, job=tmp_path / "job")
    with pytest.raises(DataError, match="was begun with folds=3, and this comparison has folds=2"):
        compare(CLASSIFIERS, _rows(), folds=2, job=tmp_path / "job")
    with pytest.raises(DataError, match="was begun with model=.*C=2.* of 'logistic', and this comparison has model="):
        other = {**CLASSIFIERS, "logistic": LogisticRegression(C=3)}
        compare({**CLASSIFIERS, "logistic": LogisticRegression(C=2)}, _rows(), folds=3, job=tmp_path / "other")
        compare(other, _rows(), folds=3, job=tmp_path / "other")


def test_a_job_gives_way_only_to_a_comparison_that_begins(tmp_path, ran):
    compare(CLASSIFIERS, _rows(), folds=3, job=tmp_path / "job")
    before = contents(tmp_path)
    with jobs.command_noted(None, True):
        with pytest.raises(ArgumentError, match="folds must be 2 to 40"):
            compare(CLASSIFIERS, _rows(), folds=41, job=tmp_path / "job")
        with jobs.locked(tmp_path / "job"), pytest.raises(DataError, match="is running in another process"):
            compare(CLASSIFIERS, _rows(), folds=2, job=tmp_path / "job")
        assert contents(tmp_path) == before
        compare(CLASSIFIERS, _rows(), folds=2, job=tmp_path / "job")
    assert ran == [6, 4] and read_parts(tmp_path / "job").stamp["settings"]["folds"] == 2


def test_another_version_is_refused(jobs_of_trio, monkeypatch):
    versions = {**jobs.versions(), "numpy": "9.9"}
    monkeypatch.setattr(jobs, "versions", lambda: versions)
    with pytest.raises(DataError, match="was begun with numpy .*, and this comparison has numpy 9.9, which may draw"):
        compare(job=jobs_of_trio / "whole")


@pytest.mark.parametrize("name", ["../mine", "/etc/passwd", "lock"])
@pytest.mark.parametrize("of", ["segments", "source"])
def test_a_forged_job_names_its_own_files_alone(of, name, jobs_of_trio, tmp_path):
    job = tmp_path / "job"
    shutil.copytree(jobs_of_trio / "1", job)
    (tmp_path / "mine").write_bytes(b"{}")
    index = jobs.read_index(job)
    entry = {"file": name, "sha256": hashlib.sha256(b"{}").hexdigest()}
    index[of] = [entry] if of == "segments" else entry
    (job / jobs.INDEX).write_bytes(jobs.sealed(index))
    for use in (lambda: compare(job=job, shard=(1, 2)), lambda: merge([job, jobs_of_trio / "2"], tmp_path / "merged")):
        with pytest.raises(DataError, match="are not as thali wrote them"):
            use()
    assert (tmp_path / "mine").read_bytes() == b"{}" and not (tmp_path / "merged").exists()


@pytest.mark.parametrize("damaged", ["job.json", "parts-00001.json", "source.npz"])
def test_damage_is_found(damaged, jobs_of_trio, tmp_path):
    job = tmp_path / "job"
    shutil.copytree(jobs_of_trio / "1", job)
    content = bytearray((job / damaged).read_bytes())
    content[len(content) // 2] ^= 1
    (job / damaged).write_bytes(content)
    uses = [lambda: merge([job, jobs_of_trio / "2"], tmp_path / "merged")]
    uses += [lambda: compare(job=job, shard=(1, 2))] * (damaged != "source.npz")  # which only merge reads
    for use in uses:
        with pytest.raises(DataError, match=rf"The file '.*{damaged}' of the job is damaged"):
            use()
    assert not (tmp_path / "merged").exists() and (job / damaged).read_bytes() == content


def test_folders_that_are_no_job_or_run(tmp_path, ran):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("1")
    with pytest.raises(DataError, match="is no job: it holds 'chapter.txt'"):
        compare(job=tmp_path / "thesis")
    with pytest.raises(DataError, match="must be a folder, and is a file"):
        compare(job=tmp_path / "thesis" / "chapter.txt")
    with pytest.raises(DataError, match="There is no folder"):
        compare(job=tmp_path / "absent" / "job")
    with jobs.locked(tmp_path / "running"), pytest.raises(DataError, match="is running in another process"):
        compare(job=tmp_path / "running")
    assert not ran and {path.name for path in tmp_path.rglob("*")} == {"thesis", "chapter.txt", "running", "lock"}


BAD_SHARDS = {
    "too large": ({"shard": (5, 4)}, "shard: there is no shard 5 of 4."),
    "zero": ({"shard": (0, 4)}, "shard must be a whole number of 1 or more; got 0."),
    "text": ({"shard": "1/4"}, "shard must be \\(k, n\\), the k-th of n shards; got '1/4'."),
    "no job": ({"shard": (1, 4), "job": None}, "shard needs job, the folder that keeps the fits."),
    "no seed": ({"shard": (1, 4), "random_seed": None}, "shard needs random_seed, the same for all shards."),
}


@pytest.mark.parametrize("name", BAD_SHARDS)
def test_shards_that_are_none(name, tmp_path):
    how, said = BAD_SHARDS[name]
    with pytest.raises(ArgumentError, match=said):
        compare(**{"job": tmp_path / "job", **how})
    assert not list(tmp_path.iterdir())


BAD_MERGES = {
    "missing": (["1"], "Shard 2/2 is missing; give the folder of every shard."),
    "two missing": (["2 of 3"], "Shards 1/3, 3/3 are missing; give"),
    "whole": (["1", "whole"], "The job '.*whole' is no shard of a comparison; give the folders of shards."),
    "fit": (["1", "fit"], "The job '.*fit' is a fit, which has no parts; give the folder of a comparison."),
    "absent": (["1", "absent"], "There is no job in '.*absent'; give"),
    "another division": (["1", "2 of 3"], "'.*1' is shard 1/2, and '.*2 of 3' is shard 2/3; merge shards of one"),
    "draws": (["1", "other draws"], "'.*1' was begun with draws=40, and '.*other draws' has draws=41; merge shards of"),
    "seed": (["1", "other seed"], "The shard '.*1' was begun with another seed; merge shards of one comparison."),
    "models": (["fewer", "1"], "The shard '.*1' was begun with the model 'two', which '.*fewer' has not; merge"),
    "none": ([], "There is no shard to merge"),
}


@pytest.mark.parametrize("name", BAD_MERGES)
def test_what_cannot_be_merged(name, jobs_of_trio, tmp_path):
    names, said = BAD_MERGES[name]
    before = contents(jobs_of_trio)
    with pytest.raises((DataError, ArgumentError), match=said) as error:
        merge([jobs_of_trio / each for each in names], tmp_path / "merged")
    assert "\n" not in str(error.value)
    assert contents(jobs_of_trio) == before and not list(tmp_path.iterdir())


def rewritten(source, job, change):
    """A copy of a job whose records, or stamp, were changed with their hashes."""
    shutil.copytree(source, job)
    index = jobs.read_index(job)
    file = job / index["segments"][0]["file"]
    records = json.loads(file.read_bytes())
    change(index["stamp"], records)
    file.write_bytes(json.dumps(records).encode())
    index["segments"][0]["sha256"] = jobs.hashlib.sha256(file.read_bytes()).hexdigest()
    (job / jobs.INDEX).write_bytes(jobs.sealed(index))
    return job


def test_shards_of_other_data_versions_or_scores(jobs_of_trio, tmp_path, table):
    one, two = jobs_of_trio / "1", jobs_of_trio / "2"

    def other_scores(stamp, records):
        next(iter(records.values()))["nll"] += 1e-15

    def other_seconds(stamp, records):
        next(iter(records.values()))["seconds"] += 1.0

    with pytest.raises(DataError, match="found different scores of 'BTL' for part 1; merge each shard once"):
        merge([one, two, rewritten(one, tmp_path / "changed", other_scores)], tmp_path / "merged")
    same(merge([one, two, rewritten(one, tmp_path / "later", other_seconds)], tmp_path / "twice"), table)
    data = rewritten(two, tmp_path / "data", lambda stamp, records: stamp.update(data="other"))
    with pytest.raises(DataError, match="was begun with other data; merge shards of one comparison"):
        merge([one, data], tmp_path / "merged")
    numba = rewritten(two, tmp_path / "numba", lambda stamp, records: stamp["versions"].update(numba="9.9"))
    with pytest.raises(DataError, match="has numba 9.9, which may draw otherwise; merge shards of one comparison"):
        merge([one, numba], tmp_path / "merged")
    old = [
        rewritten(each, tmp_path / f"old {each.name}", lambda stamp, records: stamp["versions"].update(thali="0.0"))
        for each in (one, two)
    ]
    with pytest.raises(DataError, match="was begun with thali 0.0, and this is "):
        merge(old, tmp_path / "merged")
    with pytest.raises(DataError, match="is shard 1/2, and this comparison is the whole"):
        merge([one, two], one)
    with pytest.raises(ArgumentError, match="jobs must be a list of folders"):
        merge(one, tmp_path / "merged")
    with jobs.locked(two), pytest.raises(DataError, match="is running in another process"):
        merge([one, two], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
