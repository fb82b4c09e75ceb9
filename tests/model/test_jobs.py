"""Fits that go on: from a job after any end of the process, from a fitted model, and until the
chains agree."""

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from helpers import watched_runs
from helpers.interrupted_fits import KINDS, draws_of, fitted
from helpers.patience import PATIENCE
from helpers.places import TESTS
from helpers.problems import random_comparisons
from helpers.sentences import refused, warned

import thali as th
from thali._inference import job_folders, markov_chains
from thali._inference.array_dict_encoding import decode_npz, encode_npz
from thali._inference.threads_and_processes import _SingleCall
from thali._model import chain_runs
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataError,
    EstimateWarning,
    IncompleteWarning,
    InterruptedWarning,
    ThaliWarning,
)

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

SIZE = {"product classes": 40, "particles": 6, "tempered": 50}
COMPILED_EACH_TIME = "own likelihood"  # which takes half a minute
# of kernels that few tests need
LONG = (COMPILED_EACH_TIME, "triplets")
EVERY = [pytest.param(kind, marks=[pytest.mark.long] * (kind in LONG)) for kind in KINDS]
CHAINS = [kind for kind in EVERY if kind.values[0] != "particles"]


def size_of(kind):
    return SIZE.get(kind, 60)


_WHOLE = {}


def whole(kind):
    """The draws of the unbroken fit without a job."""
    if kind not in _WHOLE:
        _WHOLE[kind] = draws_of(fitted(kind, size_of(kind)))
    return _WHOLE[kind]


def same(model, kind):
    """To the last digit."""
    found = draws_of(model)
    assert found.keys() == whole(kind).keys()
    for name, values in whole(kind).items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.fixture
def often(monkeypatch):
    """Snapshots at every opportunity, of which there are many."""
    watched_runs.write_often(monkeypatch)
    watched_runs.cut_slices(monkeypatch, 1e-3)


@pytest.fixture
def writes(monkeypatch):
    """The snapshots that were written; a function in `then` is called after each."""
    written = []

    def counted(write, folder, *args, **how):
        write(folder, *args, **how)
        written.append(folder.path)
        counted.then(len(written))

    counted.then = lambda number: None
    watched_runs.write_snapshots_by(monkeypatch, counted)
    return written, counted


def run_pieces_alone(patch):
    """What is computed of the draws in threads runs, and no chain."""

    def run_piece(work):
        is_recorded = isinstance(work, _SingleCall) or work.action.__name__ == "record_particle"
        assert is_recorded, "it runs"
        run_slice(work)

    run_slice = watched_runs.run_slices_by(patch, run_piece)


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", EVERY)
def test_a_job_goes_on_from_any_snapshot(kind, often, writes, tmp_path):
    """When it is written has no influence on the draws, on any number of cores; a finished one runs
    no more."""
    written, hook = writes
    same(fitted(kind, size_of(kind), job=tmp_path / "whole", cores=4), kind)
    assert len(written) > 1
    for number in {1, len(written) // 2}:
        written.clear()

        def stop(count, number=number):
            if count == number:
                raise KeyboardInterrupt

        hook.then = stop
        job = tmp_path / str(number)
        with suppress(KeyboardInterrupt):  # it may also end a run that has draws to show
            fitted(kind, size_of(kind), job=job, cores=1)
        hook.then = lambda count: None
        same(fitted(kind, size_of(kind), job=job, cores=4), kind)
    with pytest.MonkeyPatch.context() as patch:
        run_pieces_alone(patch)
        same(fitted(kind, size_of(kind), job=tmp_path / "whole"), kind)


# Run in a process of its own, which has no threads when it forks. A child is killed by signal 9
# just before or just after a file of the job is renamed into place; the same fit then goes on from
# what it left behind.
KILLED = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[1])
place, kind, size, times, seed = json.loads(sys.argv[2])
import numpy as np
from helpers import watched_runs
from helpers.interrupted_fits import draws_of, fitted
from helpers.stopped_jobs import killed_at_a_rename
from thali._inference import job_folders, threads_and_processes

rng = np.random.default_rng(seed)
job_folders.MIN_SECONDS, job_folders.SHARE, threads_and_processes.SLICE = 0.0, 1e9, 1e-3
whole = draws_of(fitted(kind, size, cores=1))
killed = 0
for number in range(times):
    folder = os.path.join(place, str(number))
    moment, late = int(rng.integers(1, 12)), bool(rng.integers(2))
    killed += killed_at_a_rename(lambda: fitted(kind, size, job=folder, cores=2), folder, moment, late)
    again = draws_of(fitted(kind, size, job=folder, cores=1))
    for name, value in whole.items():
        np.testing.assert_array_equal(again[name], value, err_msg=f"{number} {name}")
print(killed, "times killed, the same")
"""


def killed(place, kind, times, seed):
    told = json.dumps([str(place), kind, size_of(kind), times, seed])
    command = [sys.executable, "-c", KILLED, json.dumps([str(TESTS)]), told]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.first(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", ["pairs", "product classes", "particles"])
def test_a_killed_job_goes_on(kind, tmp_path):
    assert killed(tmp_path, kind, 3, 1)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_killed_jobs_go_on(kind, tmp_path):
    assert killed(tmp_path, kind, 11, 2) > 5


@pytest.mark.long
@pytest.mark.parametrize("kind", CHAINS)
def test_a_continued_fit_is_a_longer_one(kind, tmp_path):
    size = size_of(kind)
    same(fitted(kind, 23).continue_fit(size - 23, progressbar=False), kind)
    model = fitted(kind, 23)
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    if kind == COMPILED_EACH_TIME:
        with pytest.raises(DataError, match="cannot contain your own data"):
            again.continue_fit(5)
        return
    same(again.continue_fit(size - 23, progressbar=False, cores=1), kind)
    again.save(tmp_path / "model.nc")
    assert again.summary().equals(fitted(kind, size).summary())


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", CHAINS)
def test_a_continued_fit_may_be_stopped_and_go_on(kind, monkeypatch):
    """Its earlier draws are in the posterior, the later ones of each chain are not all."""
    watched_runs.cut_slices(monkeypatch)

    def stopped_after(slices, model, draws):
        left = [slices]

        def counted(chain):
            run_slice(chain)
            if isinstance(chain, _SingleCall):  # of the draws, once the chains have stopped
                return
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            run_slice = watched_runs.run_slices_by(patch, counted)
            model.continue_fit(draws, cores=1, progressbar=False)
        assert not left[0]
        return model

    model = fitted(kind, 13)
    had = 13
    for slices in (1, 20, 21):
        stopped_after(slices, model, size_of(kind) - had)
        now = model.posterior_["posterior"].sizes["draw"]
        assert had <= now < size_of(kind)
        had = now
    assert had > 13
    same(model.continue_fit(size_of(kind) - had, progressbar=False), kind)


QUICK = {"tune": 50, "chains": 2, "random_seed": 1, "progressbar": False}


def test_a_longer_run_goes_on_with_a_job(tmp_path):
    data, job = random_comparisons(5, 5), tmp_path / "job"
    th.EliminationByAspects("unique").fit(data, draws=30, job=job, **QUICK)
    longer = th.EliminationByAspects("unique").fit(data, draws=50, job=job, **QUICK)
    once = th.EliminationByAspects("unique").fit(data, draws=50, **QUICK)
    np.testing.assert_array_equal(*(draws_of(model)["unique_weights"] for model in (longer, once)))
    assert job_folders.read_index(job)["stamp"]["settings"]["draws"] == 50


def test_a_run_until_chains_agree_goes_on_to_more_draws(tmp_path):
    data, job, how = random_comparisons(5, 5), tmp_path / "job", {**QUICK, "chains": 4}
    found = th.EliminationByAspects("unique").fit(data, job=job, **how)
    draws = found.posterior_["posterior"].sizes["draw"]
    with refused(DataError, "draws=None"):
        th.EliminationByAspects("unique").fit(data, draws=draws - 1, job=job, **how)
    longer = th.EliminationByAspects("unique").fit(data, draws=draws + 50, job=job, **how)
    once = th.EliminationByAspects("unique").fit(data, draws=draws + 50, **how)
    np.testing.assert_array_equal(*(draws_of(model)["unique_weights"] for model in (longer, once)))


def test_a_run_without_a_seed_keeps_that_of_its_job(tmp_path):
    how = {**QUICK, "random_seed": None, "job": tmp_path / "job"}
    one, two = (
        th.EliminationByAspects("unique").fit(random_comparisons(5, 5), 20, **how) for _ in range(2)
    )
    np.testing.assert_array_equal(draws_of(one)["unique_weights"], draws_of(two)["unique_weights"])


def bound_runs(monkeypatch, **limits):
    """Runs of unknown length end at these limits of `thali._model.chain_runs`."""
    for name, value in limits.items():
        monkeypatch.setattr(chain_runs, name, value)


def test_until_the_chains_agree(monkeypatch, tmp_path):
    """The draws are those of a run of that length; a job that was killed in the second round ends
    alike."""
    bound_runs(monkeypatch, SUFFICIENT_ESS=6000)
    data, how = random_comparisons(5, 5), {**QUICK, "chains": 4}
    found = th.EliminationByAspects("unique").fit(data, **how)
    draws = found.posterior_["posterior"].sizes["draw"]
    assert (
        draws in (2000, 4000)
        and found.convergence().agrees
        and found.convergence().facts["ess"] >= 6000
    )
    once = th.EliminationByAspects("unique").fit(data, draws=draws, **how)
    np.testing.assert_array_equal(
        draws_of(found)["choice_probability"], draws_of(once)["choice_probability"]
    )
    shorter = th.EliminationByAspects("unique").fit(data, draws=draws // 2, **how)
    assert shorter.convergence().facts["ess"] < 6000 or not shorter.convergence().agrees

    aims = []
    start_chains = chain_runs.ChainFit._start_chains

    def killed(self, target, start):
        aims.append(target)
        if len(aims) == 2:
            raise MemoryError
        return start_chains(self, target, start)

    with monkeypatch.context() as patch:
        patch.setattr(chain_runs.ChainFit, "_start_chains", killed)
        with pytest.raises(MemoryError):
            th.EliminationByAspects("unique").fit(data, job=tmp_path / "job", **how)
    again = th.EliminationByAspects("unique").fit(data, job=tmp_path / "job", **how)
    np.testing.assert_array_equal(
        draws_of(found)["choice_probability"], draws_of(again)["choice_probability"]
    )


@pytest.mark.long
def test_chains_that_stay_apart_start_anew_with_tempering(monkeypatch, often, tmp_path):
    """Of the draws before nothing is left, in the job neither; what goes on with the fit tempers,
    too."""
    counts = [[0, 96, 1319, 35], [2904, 0, 2902, 33], [1681, 98, 0, 33], [2965, 2967, 2967, 0]]
    data, how = (
        th.PairedComparisons(counts),
        {"tune": 50, "thin": 5, "random_seed": 1, "progressbar": False},
    )
    bound_runs(monkeypatch, MAX_DRAWS=4000)
    assert not th.EliminationByAspects().fit(data, draws=1000, **how).convergence().agrees
    model = th.EliminationByAspects().fit(data, **how)
    draws = model.posterior_["posterior"].sizes["draw"]
    assert model.posterior_["sample_stats"].sizes["level"] >= 8
    assert "so they were restarted" in str(model.convergence())
    tempered = th.EliminationByAspects(tempering=8).fit(data, draws=draws, **how)
    longer = th.EliminationByAspects(tempering=8).fit(data, draws=draws + 50, **how)

    def same(one, other):
        for name, values in draws_of(other).items():
            np.testing.assert_array_equal(draws_of(one)[name], values, err_msg=name)

    same(model, tempered)
    job, restart = tmp_path / "job", job_folders.FitFolder.restart
    for moment in ("before", "after"):  # the first snapshot of the new run

        def stop(folder, moment=moment):
            if moment == "before":
                raise MemoryError
            restart(folder)
            write = folder.write

            def write_and_stop(*args, **more):
                write(*args, **more)
                raise MemoryError

            folder.write = write_and_stop

        with monkeypatch.context() as patch, pytest.raises(MemoryError):
            patch.setattr(job_folders.FitFolder, "restart", stop)
            th.EliminationByAspects().fit(data, job=job, **how)
    assert job_folders.read_index(job)["place"]["tempered"]
    segments = [entry["file"] for entry in job_folders.read_index(job)["segments"]]
    assert sorted(path.name for path in job.glob("draws-*")) == segments
    again = th.EliminationByAspects().fit(data, job=job, **how)
    same(again, tempered)
    again.save(tmp_path / "model.nc")
    same(th.load(tmp_path / "model.nc").continue_fit(50, progressbar=False), longer)
    for setting in ({"tempering": False}, {"aspects": "unique"}):
        model = th.EliminationByAspects(**setting)
        assert not watched_runs.run_of(model, data, tune=50, thin=5).temper(0)


def test_particles_cannot_go_on():
    with refused(ArgumentError, "method='smc'"):
        fitted("particles", 2).continue_fit(5)


def test_a_run_ends_at_its_bounds(monkeypatch):
    bound_runs(monkeypatch, SUFFICIENT_ESS=10**9, MAX_DRAWS=2000)
    model = th.EliminationByAspects("unique").fit(random_comparisons(5, 5), **QUICK)
    assert model.posterior_["posterior"].sizes["draw"] == 2000
    bound_runs(monkeypatch, MAX_BYTES=1)
    model = th.EliminationByAspects("unique").fit(random_comparisons(5, 5), **QUICK)
    assert model.posterior_["posterior"].sizes["draw"] == 1000


def test_max_time_stops_a_fit_and_keeps_its_draws(tmp_path, monkeypatch):
    watched_runs.count_slices_as_time(monkeypatch, markov_chains, sweeps=1000, seconds=0.1)
    data, job, alone = random_comparisons(5, 5), tmp_path / "job", QUICK | {"chains": 1, "thin": 20}
    with pytest.warns(InterruptedWarning, match="Stopped early"):
        model = th.EliminationByAspects("unique").fit(
            data, draws=10**5, job=job, max_time=0.2, **alone
        )
    had = model.posterior_["posterior"].sizes["draw"]
    assert 0 < had < 10**5
    with refused(ArgumentError, "max_time=1e-09"):
        th.EliminationByAspects("unique").fit(
            data, draws=10**5, max_time=1e-9, **{**QUICK, "tune": 10**7}
        )
    with refused(ArgumentError, "method='map'"):
        similar = th.datasets.additive(5, 1).data
        th.AdditiveClustering().fit(similar, draws=10**5, max_time=1e-9, **{**QUICK, "tune": 10**7})
    with pytest.warns(InterruptedWarning):
        more = th.EliminationByAspects("unique").fit(
            data, draws=10**5, job=job, max_time=0.2, **alone
        )
    assert more.posterior_["posterior"].sizes["draw"] > had


def test_tuning_that_takes_too_long_is_shortened(tmp_path, monkeypatch):
    watched_runs.count_slices_as_time(monkeypatch, markov_chains, sweeps=300, seconds=0.1)
    data, job = random_comparisons(5, 5), tmp_path / "job"
    # of several, one may be kept alone
    long = {"draws": 10**5, "job": job, **QUICK, "tune": 3 * 10**7, "chains": 1}
    with pytest.warns(EstimateWarning, match=r"max_time=3\.0` .* 30,000,000") as sentence:
        model = th.EliminationByAspects("unique").fit(data, max_time=3.0, **long)
    assert any(isinstance(each.message, InterruptedWarning) for each in sentence)
    had, tune = model.posterior_["posterior"].sizes["draw"], model._get_run_settings()["tune"]
    assert had > 0 and 0 < tune < 10**7
    with pytest.warns(InterruptedWarning) as sentence:  # the job goes on as it was
        more = th.EliminationByAspects("unique").fit(data, max_time=0.5, **long)
    assert not any(isinstance(each.message, EstimateWarning) for each in sentence)
    assert (
        more.posterior_["posterior"].sizes["draw"] > had
        and more._get_run_settings()["tune"] == tune
    )
    first = more.posterior_["posterior"]["log_likelihood"].values[:, :had]
    np.testing.assert_array_equal(first, model.posterior_["posterior"]["log_likelihood"].values)


def test_the_time_of_a_run_begins_when_its_chains_do(monkeypatch):
    """What is compiled before does not count."""
    watched_runs.show_times(monkeypatch, [100.0, 101.0, 102.0])
    limit = markov_chains.TimeLimit(1.5)
    limit.check()
    limit.check()
    with pytest.raises(markov_chains.TimeIsUp):
        limit.check()


@pytest.fixture(scope="module")
def job_of_pairs(tmp_path_factory):
    job = tmp_path_factory.mktemp("jobs") / "job"
    fit_there(job)
    return job


def fit_there(job, data=None, model=None, **how):
    model = th.EliminationByAspects("unique") if model is None else model
    return model.fit(
        random_comparisons(5, 5) if data is None else data,
        **{"draws": 20, "job": job, **QUICK, **how},
    )


STAMP = {"kind": "fit", "models": {}, "settings": {}, "data": ""}
OTHERS = {
    "fewer draws": ({"draws": 10}, ("draws=20", "draws=10")),
    "until they agree": ({"draws": None}, ("draws=20", "draws=None")),
    "tune": ({"tune": 60}, ("tune=50", "tune=60")),
    "chains": ({"chains": 3}, ("chains=2", "chains=3")),
    "thin": ({"thin": 3}, ("thin=3",)),
    "seed": ({"random_seed": 2}, ("a different seed",)),
    "data": ({"data": random_comparisons(5, 6)}, ("different data",)),
    "parameter": (
        {"model": th.EliminationByAspects("unique", lapse=0.1)},
        ("lapse=None", "lapse=0.1"),
    ),
    "model": (
        {"model": th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination())},
        ("EliminationByAspects", "LatentFeatureModel"),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_fit_is_refused(name, job_of_pairs, monkeypatch):
    before = {path.name: path.read_bytes() for path in job_of_pairs.iterdir()}
    how, facts = OTHERS[name]
    watched_runs.forbid_sweeps(monkeypatch)
    with refused(DataError, *facts, "choose another folder") as error:
        fit_there(job_of_pairs, **how)
    assert "\n" not in str(error.value)
    assert before == {path.name: path.read_bytes() for path in job_of_pairs.iterdir()}


def test_another_version_is_refused(job_of_pairs, monkeypatch):
    watched_runs.claim_versions(monkeypatch, numba="9.9")
    with pytest.raises(DataError, match=r"this fit uses numba 9\.9"):
        fit_there(job_of_pairs)


@pytest.mark.parametrize("damaged", ["job.json", "draws", "state"])
def test_a_damaged_or_missing_file_of_a_job_is_refused(damaged, tmp_path):
    fit_there(tmp_path / "job")
    (file,) = [path for path in (tmp_path / "job").iterdir() if path.name.startswith(damaged)]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with refused(DataError, "The file '", "' of the"):
        fit_there(tmp_path / "job")
    file.unlink()
    if damaged != "job.json":
        with pytest.raises(DataError, match="is damaged or missing"):
            fit_there(tmp_path / "job")


@pytest.mark.parametrize("kind", ["pairs", "sparse logit", "hierarchical logit"])
def test_draws_that_are_not_there_are_missed(kind, tmp_path):
    """With the right hashes: none, and one in place of each, which would be repeated."""
    job = tmp_path / "job"
    fitted(kind, 60, job=job)
    index = job_folders.read_index(job)
    (entry,) = index["segments"]
    draws = decode_npz((job / entry["file"]).read_bytes())
    content = encode_npz({name: array[:1] for name, array in draws.items()})
    (job / "draws-00099.npz").write_bytes(content)
    short = {"file": "draws-00099.npz", "sha256": hashlib.sha256(content).hexdigest()}
    for segments in ([], [short]):
        (job / job_folders.INDEX).write_bytes(
            job_folders.encode_index(index | {"segments": segments})
        )
        with refused(DataError, "have been changed since"):
            fitted(kind, 60, job=job)


def test_folders_that_are_no_job(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("1")
    with refused(DataError, "'chapter.txt'"):
        fit_there(tmp_path / "thesis")
    with refused(DataError, "must be a"):
        fit_there(tmp_path / "thesis" / "chapter.txt")
    with pytest.raises(DataError, match="The folder"):
        fit_there(tmp_path / "absent" / "job")
    assert [path.name for path in tmp_path.rglob("*")] == ["thesis", "chapter.txt"]


def test_a_job_has_one_writer(tmp_path):
    with job_folders.FitFolder(tmp_path / "job", STAMP, None):
        assert job_folders.is_running(tmp_path / "job")
        for overwrite in (False, True):
            with job_folders.note_command(None, overwrite), refused(DataError, "is running in"):
                fit_there(tmp_path / "job")
        assert job_folders.is_running(tmp_path / "job")
    assert not (tmp_path / "job").exists()  # nothing was written


def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    watched_runs.fill_disk(monkeypatch)
    with warned(IncompleteWarning, "No space left"):
        model = fit_there(tmp_path / "job")
    assert model.posterior_["posterior"].sizes["draw"] == 20


def test_snapshots_take_a_small_share_of_the_time(tmp_path, monkeypatch):
    """After one has taken a second, the next waits until that is a twentieth of the time."""
    watched_runs.show_times(monkeypatch, [0.0, 100.0, 101.0, 120.0, 121.5])
    folder = job_folders.FitFolder(tmp_path / "job", STAMP, 1)
    folder.write([], [], [], {})
    assert not folder.is_due() and folder.is_due()
    folder.close()


def test_fits_that_cannot_be_continued_are_refused(tmp_path):
    model = th.EliminationByAspects("unique")
    model = fit_there(None)
    with refused(ArgumentError, "1; got"):
        model.continue_fit(0)
    model.lapse = 0.2
    with refused(ArgumentError, "`lapse` was changed"):
        model.continue_fit(10)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    logit = th.SparseMultinomialLogit(
        draws=20, tune=20, chains=2, random_state=1, standardize=False
    ).fit(X, y)
    logit._state_.source.matrix[3] += 1.0
    with refused(DataError, "The data were"):
        logit.continue_fit(10)


def test_the_code_of_a_likelihood_is_part_of_its_job(tmp_path):
    def one(data, features, weights):
        return -0.5 * np.sum((data.rating - features @ weights) ** 2)

    def two(data, features, weights):
        return -0.6 * np.sum((data.rating - features @ weights) ** 2)

    two.__name__ = "one"
    from thali._model.model_files import describe_model

    models = [
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Custom(each))
        for each in (one, two)
    ]
    assert describe_model(models[0]) != describe_model(models[1])


def test_warnings_are_those_of_the_whole(tmp_path):
    with pytest.warns(ThaliWarning):
        fit_there(tmp_path / "job", draws=5)
    with pytest.warns(ConvergenceWarning):
        fit_there(tmp_path / "job", draws=5)
