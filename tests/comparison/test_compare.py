"""Leave-one-pair-out comparison: its scores, its bookkeeping, its workers, its bad input."""

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import clusters, watched_runs
from helpers.patience import PATIENCE
from helpers.sentences import refused, said, says, warned
from helpers.short_comparisons import SHORT, TRIO, compare, models, sentences
from helpers.stopped_jobs import wait_until_stopped
from helpers.terminals import narrow
from joblib import parallel_config
from scipy import stats

import thali as th
from thali._comparison.pair_holdouts import score_answers
from thali._inference import job_folders
from thali._inference import threads_and_processes as workers
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataError,
    DataWarning,
    IncompleteWarning,
    InterruptedWarning,
    ThaliWarning,
)


def score(wins, losses, p):
    """The scores of draws of the probability of a win."""
    return score_answers(np.array([[wins, losses]]), np.stack([p, 1.0 - p], axis=-1)[:, :, None])


def table_of(names, data, results):
    """The table of made-up records, (name, pair number, record)."""
    records = {(name, pair): {"seconds": 0.0} | record for name, pair, record in results}
    named = dict.fromkeys(names, th.EliminationByAspects("unique"))
    with pytest.MonkeyPatch.context() as patch:
        watched_runs.run_fits_by(
            patch, lambda run_fit, task: task.record | records[task.name, task.part_index]
        )
        return compare(named, data)


def finished(job):
    """How many fits are in a job."""
    index = job_folders.read_index(job)
    return 0 if index is None else index["place"]["done"]


def same(a, b):
    pd.testing.assert_frame_equal(a, b, check_exact=True)
    for name in ("pairs", "predictions", "missing"):
        pd.testing.assert_frame_equal(a.attrs[name], b.attrs[name], check_exact=True)


# scores -------------------------------------------------------------------------------------------


def test_scores_are_those_of_scipy():
    draws = np.random.default_rng(0).beta(3.0, 2.0, (4, 500))
    found = score(7, 5, draws)
    assert found.predicted == pytest.approx(draws.mean(), rel=1e-14)
    assert found.nll == pytest.approx(-stats.binom.logpmf(7, 12, draws.mean()), rel=1e-12)
    assert found.log_pred == pytest.approx(
        math.log(stats.binom.pmf(7, 12, draws).mean()), rel=1e-12
    )


@pytest.mark.long
def test_the_errors_of_the_scores_are_those_of_repeated_runs():
    """400 runs of independent draws: the standard deviation of a score is its error within 4 /
    sqrt(2 x 400)."""
    rng = np.random.default_rng(1)
    runs = [score(9, 21, rng.beta(30.0, 40.0, (4, 250))) for _ in range(400)]
    for value, error in (
        ("predicted", "predicted_mcse"),
        ("nll", "nll_mcse"),
        ("log_pred", "log_pred_mcse"),
    ):
        spread = np.std([getattr(run, value) for run in runs], ddof=1)
        # the error itself rests on an effective sample size that scatters by some 5 % a run
        claimed = np.sqrt(np.mean([getattr(run, error) ** 2 for run in runs]))
        assert abs(spread / claimed - 1) < 4 / math.sqrt(800) + 0.02, (value, spread, claimed)


def test_where_the_score_is_flat_its_error_is_of_second_order():
    """At the observed proportion the first derivative vanishes, but the mean still scatters about
    it."""
    rng = np.random.default_rng(2)
    runs = [score(30, 30, rng.normal(0.5, 0.1, (4, 100)).clip(0.01, 0.99)) for _ in range(300)]
    shift = np.mean([run.nll for run in runs]) - score(30, 30, np.full((4, 100), 0.5)).nll
    claimed = np.mean([run.nll_mcse for run in runs])
    assert 0.5 * shift < claimed < 5 * shift


def test_scores_of_extreme_draws():
    assert score(3, 0, np.ones((2, 10))).nll == 0.0
    assert score(2, 1, np.ones((2, 10))).nll == math.inf
    assert score(2, 1, np.ones((2, 10))).log_pred == -math.inf
    assert score(10**6, 10**6, np.full((2, 10), 0.5)).nll == pytest.approx(
        -stats.binom.logpmf(10**6, 2 * 10**6, 0.5)
    )
    assert math.isnan(score(2, 1, np.random.default_rng(0).random((1, 10))).r_hat)
    assert math.isnan(score(2, 1, np.full((1, 1), 0.5)).nll_mcse)


# the table ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return compare()


def test_the_table_has_the_documented_shape(table):
    assert list(table.index) == ["BASE", "BTL", "two", "EMP"] and table.index.name == "model"
    assert list(table.columns) == [
        "nll", "difference", "difference_se", "nll_mcse", "mean_log_pred", "mean_log_pred_mcse", "information",
        "pairs", "r_hat",
    ]  # fmt: skip
    assert {"nll", "difference", "difference_se", "r_hat"} <= set(narrow(table).split())
    pairs = table.attrs["pairs"]
    assert list(pairs.index) == [("x", "y"), ("x", "z"), ("y", "z")] and list(
        pairs.columns
    ) == list(table.index)
    assert len(table.attrs["predictions"]) == 6 and not len(table.attrs["missing"])
    assert not table.attrs["interrupted"]


def test_the_table_is_the_mean_of_its_pairs(table):
    pairs, predictions = table.attrs["pairs"], table.attrs["predictions"]
    wins, n = [6, 2, 3], [7, 6, 4]
    for name in ("BTL", "two"):
        rows = predictions[predictions["model"] == name]
        assert list(rows["n"]) == n
        expected = [
            -stats.binom.logpmf(*three) for three in zip(wins, n, rows["predicted"], strict=True)
        ]
        np.testing.assert_allclose(pairs[name], expected, rtol=1e-12)
        assert table.loc[name, "nll_mcse"] == pytest.approx(
            np.sqrt((rows["nll_mcse"] ** 2).sum()) / 3
        )
        assert table.loc[name, "mean_log_pred"] == pytest.approx(rows["log_pred"].mean())
        assert table.loc[name, "r_hat"] == rows["r_hat"].max()
    np.testing.assert_allclose(
        pairs["BASE"], [-stats.binom.logpmf(x, k, 0.5) for x, k in zip(wins, n, strict=True)]
    )
    np.testing.assert_allclose(
        pairs["EMP"], [-stats.binom.logpmf(x, k, x / k) for x, k in zip(wins, n, strict=True)]
    )
    np.testing.assert_allclose(table["nll"], pairs.mean())
    bits = (pairs["BASE"].sum() - pairs.sum()) / (math.log(2) * 17)
    np.testing.assert_allclose(table["information"], bits)
    best = table.loc[["BTL", "two"], "nll"].idxmin()
    assert table.attrs["best"] == best and table.loc[best, "difference"] == 0
    apart = pairs["BASE"] - pairs[best]
    assert table.loc["BASE", "difference"] == pytest.approx(apart.mean())
    assert table.loc["BASE", "difference_se"] == pytest.approx(apart.std(ddof=1) / math.sqrt(3))


def test_each_prediction_is_that_of_a_fit_without_the_pair(table):
    """The seeds of the fits are the children of the one seed, pair by pair."""
    predictions = table.attrs["predictions"].set_index(["model", "a", "b"])
    budget = {key: SHORT[key] for key in ("draws", "tune", "chains", "thin", "progressbar")}
    for seed, (a, b) in zip(
        np.random.SeedSequence(3).spawn(3), [("x", "y"), ("x", "z"), ("y", "z")], strict=True
    ):
        for name, model in models().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ThaliWarning)
                model.fit(TRIO.without_pair(a, b), random_seed=seed, **budget)
            assert predictions.loc[(name, a, b), "predicted"] == pytest.approx(
                model.predict_proba([(a, b)])[0], abs=1e-14
            )


def test_reference_rows_of_the_celebrities():
    data = th.datasets.celebrities()
    nothing = [("m", pair, {"error": None, "nll": 1.0, "log_pred": -1.0}) for pair in range(36)]
    found = table_of(["m"], data, nothing)
    assert found.loc["BASE", "nll"] == pytest.approx(17.565, abs=5e-4)
    assert found.loc["EMP", "nll"] == pytest.approx(2.887, abs=5e-4)
    assert found.loc["EMP", "information"] == pytest.approx(0.0905, abs=5e-5)


def test_known_probability_without_data():
    """The pair left out is all there is to learn of it: with unique aspects alone the mean is near
    one half."""
    found = compare({"BTL": th.EliminationByAspects("unique")}, draws=4_000, thin=5)
    exact = {("x", "y"): None, ("x", "z"): None, ("y", "z"): None}
    nodes, weights = np.polynomial.legendre.leggauss(200)
    u, w = (nodes + 1) / 2, weights / 2
    # weights of three unique aspects as shares: flat on the triangle; a = u, b = (1 - u) v,
    # jacobian 1 - u
    a, v = np.meshgrid(u, u, indexing="ij")
    b = (1 - a) * v
    c = 1 - a - b
    volume = np.outer(w, w) * (1 - a)
    share = {"x": a, "y": b, "z": c}
    counts = {("x", "y"): (6, 1), ("x", "z"): (2, 4), ("y", "z"): (3, 1)}

    def p(i, j):
        return 0.99 * share[i] / (share[i] + share[j]) + 0.005

    rows = found.attrs["predictions"].set_index(["a", "b"])
    for pair in exact:
        density = volume.copy()
        for (i, j), (x, y) in counts.items():
            if (i, j) != pair:
                density *= p(i, j) ** x * (1 - p(i, j)) ** y
        expected = (density * p(*pair)).sum() / density.sum()
        row = rows.loc[pair]
        assert abs(row["predicted"] - expected) < 4.5 * row["predicted_mcse"] + 1e-4
        assert row["predicted_mcse"] < 0.01


def test_unequal_numbers_of_comparisons_share_the_information():
    data = th.PairedComparisons([[0, 90, 1], [10, 0, 1], [0, 0, 0]])
    records = [("m", pair, {"error": None, "nll": 0.5, "log_pred": -0.5}) for pair in range(3)]
    found = table_of(["m"], data, records)
    base = -(stats.binom.logpmf(90, 100, 0.5) + 2 * math.log(0.5))
    assert found.loc["m", "information"] == pytest.approx((base - 1.5) / (102 * math.log(2)))


# sentences ----------------------------------------------------------------------------------------


def made_up(scores, n=36):
    """A table from one array of scores a model."""
    data = th.PairedComparisons(
        np.triu(np.full((n + 1, n + 1), 3), 1) * (np.arange(n + 1) == 0)[:, None]
    )
    records = [
        (
            name,
            pair,
            {
                "error": "failed" if np.isnan(value) else None,
                "nll": value,
                "log_pred": -value,
                "nll_mcse": 0.0,
                "r_hat": 1.0,
                "predicted": 0.5,
            },
        )
        for name, values in scores.items()
        for pair, value in enumerate(values)
    ]
    return table_of(list(scores), data, records)


@pytest.mark.fit
def test_pairs_are_left_out_in_folds():
    """Each pair is predicted once, by a fit without it and the others of its fold."""
    data = th.datasets.celebrities().subset(["LBJ", "HW", "JU", "CY", "BB"])
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        watched_runs.run_fits_by(patch, lambda run_fit, task: seen.append(task) or run_fit(task))
        table = compare(models(), data, folds=3)
    parts = {task.part_index: set(task.part.tolist()) for task in seen}
    assert sorted(map(len, parts.values())) == [3, 3, 4] and set().union(*parts.values()) == set(
        range(10)
    )
    for task in seen:
        (train,) = task.splitter.select_training_data(task.part)
        assert train.n_pairs == 10 - len(task.part)
    assert (
        table.attrs["fits"] == 6
        and table["pairs"].eq(10).all()
        and len(table.attrs["predictions"]) == 20
    )
    assert table.attrs["part"] == "part" and table.attrs["missing"].empty


def test_an_order_within_the_noise_is_not_established():
    base, apart = np.arange(36.0), np.where(np.arange(36) % 2, 2.0, -1.6)
    sentence = sentences(made_up({"tEBA": base, "iEBA": base + apart, "BTL": base + 3.0}))
    says(
        sentence[0], "no established difference", "'tEBA' and 'iEBA'", "difference 0.200, SE 0.304"
    )
    says(sentence[1], "3.00, standard", "0.00")
    says(sentence[2], "36 pairs", "0.20, standard", "0.30")


def test_of_many_models_neighbours_and_the_best_are_told():
    scores = {f"m{k}": np.full(36, float(k)) for k in range(8)}
    orders = sentences(made_up(scores))[1]
    assert orders.count("better than") == 7 + 6
    assert "'m0' predicts better than 'm7'" in orders and "'m3' predicts better than 'm4'" in orders
    assert "'m3' predicts better than 'm5'" not in orders


def test_two_pairs_establish_less_than_many():
    alike = np.array([0.95, 1.05])
    assert (
        "No established difference (2 pairs)"
        in sentences(made_up({"a": np.zeros(2), "b": np.array([1.0, 3.0])}, 2))[1]
    )
    assert (
        "Established differences (2 pairs)"
        in sentences(made_up({"a": np.zeros(2), "b": alike}, 2))[1]
    )


def test_a_model_without_any_fit_does_not_spoil_the_sentences():
    scores = {"good": np.arange(36.0), "bad": np.arange(36.0) + 1.0, "none": np.full(36, np.nan)}
    text = sentences(made_up(scores))
    says(text[0], "'none'")
    says(text[1], "1.00, standard", "0.00")
    assert not any("nan" in sentence for sentence in text)


def test_infinite_scores_are_no_order():
    a, b = np.ones(36), np.ones(36)
    a[0] = b[0] = np.inf
    b[1] = 5.0
    sentence = sentences(made_up({"a": a, "b": b}))
    says(sentence[1], "No established difference")


def test_lapses_that_differ_are_said():
    named = {
        "a": th.EliminationByAspects("unique"),
        "b": th.EliminationByAspects("unique", lapse=0.0),
    }
    says(sentences(compare(named))[-1], "0.01, 'b'")
    choices = th.Choices.from_comparisons(TRIO)
    assert (
        "different lapse rates ('a' 0.01, 'b' 0)"
        in sentences(th.compare(named, choices, **SHORT))[-1]
    )
    same = {"a": named["a"], "b": th.EliminationByAspects("unique", lapse=0.01)}
    assert not any("lapse" in sentence for sentence in sentences(compare(same)))


def test_sentences_need_the_attributes(table):
    stripped = table.copy()
    stripped.attrs = {}
    with pytest.raises(ArgumentError, match="table from thali.compare"):
        sentences(stripped)


def test_fits_whose_chains_disagree_are_counted():
    data = th.datasets.celebrities()
    records = [
        (
            "m",
            pair,
            dict(error=None, nll=1.0, nll_mcse=0.1, log_pred=-1.0, r_hat=1.2 if pair < 2 else 1.0),
        )
        for pair in range(36)
    ]
    said(
        str(th.findings(table_of(["m"], data, records))["chains"].sentence),
        "2 of",
        "36 pairs",
        "1.200",
    )
    # whose numbers vary by processor
    with pytest.warns(ConvergenceWarning, match="chains disagree"):
        th.compare(models(), TRIO, **(SHORT | {"draws": 5, "tune": 0}))


# workers ------------------------------------------------------------------------------------------


@pytest.mark.first(1)
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_two_workers_find_the_same_table(table, backend):
    with parallel_config(backend, n_jobs=2):
        same(compare(cores=None), table)


def test_threads_leave_the_filters_of_warnings_alone():
    before = list(warnings.filters)
    with (
        parallel_config("threading", n_jobs=2),
        pytest.warns(ConvergenceWarning, match="on held-out pairs"),
    ):
        th.compare(models(), TRIO, **(SHORT | {"draws": 5, "tune": 0, "cores": None}))
    assert list(warnings.filters) == before


def test_models_are_left_as_they_are():
    named = models()
    compare(named)
    with parallel_config("threading", n_jobs=2):  # in which others may be using them
        compare(named, cores=None)
    assert not any(hasattr(model, "posterior_") for model in named.values())


class Killer:
    """Ends the process it runs in, once or always; the other tasks take their time, so that they
    die with it."""

    def __init__(self, marker, always):
        self.marker, self.always = marker, always

    def __call__(self, task):
        if task != 3:
            time.sleep(0.3)
        if task == 3 and (self.always or not self.marker.exists()):
            self.marker.write_text("")
            os.kill(os.getpid(), signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        return task * task


@pytest.mark.long  # test_forty_killed_comparisons_go_on kills whole runs
@pytest.mark.parametrize("always", [False, True])
def test_a_killed_process_loses_nothing(tmp_path, always):
    found = dict(workers.run_all(Killer(tmp_path / "killed", always), list(range(8)), 2))
    assert sorted(found) == list(range(8))
    assert {number: result for number, result in found.items() if number != 3} == {
        number: number**2 for number in range(8) if number != 3
    }
    assert isinstance(found[3], BaseException) if always else found[3] == 9


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")
@pytest.mark.parametrize("cores", [1, 2])
def test_ctrl_c_keeps_what_is_finished(tmp_path, cores):
    job = tmp_path / "job"
    code = (
        "import os, signal, sys, warnings, thali as th\nfrom thali._inference import job_folders,"
        " resumable_tasks\nif __name__ == '__main__':\n    job_folders.MIN_SECONDS = 0.0\n    add ="
        " resumable_tasks.PartsFolder.add\n    def add_and_stop(folder, *args):\n        add(folder,"
        " *args)\n        if len(folder.records) == 3:\n            os.kill(os.getpid(),"
        " signal.SIGSTOP)\n    resumable_tasks.PartsFolder.add = add_and_stop\n   "
        " warnings.simplefilter('always')\n    models = {'BTL':"
        " th.EliminationByAspects('unique')}\n    table = th.compare(models,"
        f" th.datasets.celebrities(), draws=100, tune=50,\n                       cores={cores},"
        f" random_seed=1, progressbar=False, job={str(job)!r})\n   "
        " print(int(table['pairs'].iloc[0]), len(table.attrs['missing']),"
        " table.attrs['interrupted'])\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    run = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C reaches all processes of a terminal's group, workers too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        wait_until_stopped(run)
        os.killpg(run.pid, signal.SIGINT)  # comes when the run goes on
    finally:
        os.killpg(run.pid, signal.SIGCONT)
    out, err = run.communicate(timeout=PATIENCE)
    scored, missing, interrupted = out.split()
    assert (
        int(scored) >= 3
        and int(missing) >= 1
        and int(scored) + int(missing) == 36
        and interrupted == "True"
    )
    assert "Stopped early" in err and "Still to run: " in err and repr(str(job)) in err
    # of a worker that was about to begin
    others = re.sub("Process LokyProcess.*", "", err, flags=re.DOTALL)
    assert "Traceback" not in others


@pytest.mark.long
def test_dask_workers_find_the_same_table_and_one_that_dies_loses_nothing(
    table, tmp_path, monkeypatch
):
    with clusters.dask(processes=True) as client, parallel_config("dask"):
        same(compare(cores=None), table)

        job, killed = tmp_path / "job", []
        watched_runs.write_often(monkeypatch)
        first = list(client.run(os.getpid).values())[0]
        longer = {"data": th.datasets.paris_rome(expected=True), "draws": 2_000, "thin": 10}

        def kill():
            """When two of the twelve fits are finished."""
            while finished(job) < 2:
                time.sleep(0.01)
            os.kill(first, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
            killed.append(finished(job))

        threading.Thread(target=kill, daemon=True).start()
        found = compare(cores=None, job=job, **longer)
        assert killed and killed[0] < 10
        assert first not in client.run(os.getpid).values()
    same(found, compare(**longer))


# bad input ----------------------------------------------------------------------------------------


class FailsWithoutXY(th.EliminationByAspects):
    """Cannot be fitted without the pair x-y."""

    def fit(self, data, **settings):
        if data.n_pairs < 3 and ("x", "y") not in {
            (data.labels[i], data.labels[j]) for i, j in zip(data.first, data.second, strict=True)
        }:
            raise RuntimeError("no x-y")
        return super().fit(data, **settings)


def test_a_model_that_fails_on_one_split_is_named_and_the_rest_kept(table):
    with warned(IncompleteWarning, "1 of", "6 fits", "RuntimeError"):
        found = th.compare(
            {"BTL": th.EliminationByAspects("unique"), "bad": FailsWithoutXY(2)}, TRIO, **SHORT
        )
    assert (found["pairs"] == 2).all()
    assert found.loc["BTL", "nll"] == pytest.approx(table.attrs["pairs"]["BTL"].iloc[1:].mean())
    pairs, scored = found.attrs["pairs"].iloc[1:], (TRIO.wins + TRIO.losses)[1:].sum()
    # comparisons of the pair that failed left out
    bits = (pairs["BASE"] - pairs["BTL"]).sum() / (math.log(2) * scored)
    assert found.loc["BTL", "information"] == pytest.approx(bits)
    np.testing.assert_array_equal(found.attrs["pairs"]["bad"].isna(), [True, False, False])
    np.testing.assert_array_equal(found.attrs["pairs"]["BTL"], table.attrs["pairs"]["BTL"])
    assert found.attrs["missing"].iloc[0].tolist() == ["bad", "x", "y", "RuntimeError: no x-y"]


class Hopeless(th.EliminationByAspects):
    def fit(self, data, **settings):
        raise RuntimeError("never")


def test_when_nothing_can_be_fitted_it_says_why():
    with refused(ArgumentError, "RuntimeError"):
        compare({"bad": Hopeless()})


BTL = th.EliminationByAspects("unique")
OTHER_OPTIONS = {"a": ["first"], "b": []}


@pytest.mark.parametrize(
    ("named", "data", "changed", "error", "messages"),
    [
        ({}, TRIO, {}, ArgumentError, ("`models` is empty",)),
        ([], TRIO, {}, ArgumentError, ("`models` is empty",)),
        ([BTL], TRIO, {}, ArgumentError, ("must map",)),
        (3, TRIO, {}, ArgumentError, ("must map", "got int")),
        ([("m", BTL), ("m", BTL)], TRIO, {}, ArgumentError, ("'m'",)),
        ({"BASE": BTL}, TRIO, {}, ArgumentError, ("'BASE'",)),
        ({1: BTL}, TRIO, {}, ArgumentError, ("name of a", "1")),
        ({"m": "unique"}, TRIO, {}, ArgumentError, ("'m'", "'unique'")),
        ({"m": th.EliminationByAspects}, TRIO, {}, ArgumentError, ("'m'",)),
        ({"m": th.EliminationByAspects(OTHER_OPTIONS)}, TRIO, {}, ArgumentError, ("'m'", "'a'")),
        ({"m": th.EliminationByAspects(lapse=2.0)}, TRIO, {}, ArgumentError, ("'m'", "lapse")),
        ({"m": BTL}, [[0, 1], [2, 0]], {}, DataError, ("PairedComparisons", "; got list.")),
        ({"m": BTL}, th.PairedComparisons([[0, 1], [2, 0]]), {}, DataError, ("are the only",)),
        ({"m": BTL}, TRIO, {"leave_out": "task"}, ArgumentError, ("leave_out", "'pair'", "'task'")),
        ({"m": BTL}, TRIO, {"cores": 0}, ArgumentError, ("1; got", "0")),
        ({"m": BTL}, TRIO, {"draws": 0}, ArgumentError, ("1; got", "0")),
        ({"m": BTL}, TRIO, {"random_seed": -1}, ArgumentError, ("random_seed",)),
    ],
)  # fmt: skip
def test_bad_arguments_of_compare_are_refused(named, data, changed, error, messages):
    with refused(error, *messages):
        compare(named, data, **changed)


def test_models_fitted_to_other_options_are_refused():
    fitted = th.EliminationByAspects("unique")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        fitted.fit(th.datasets.paris_rome(expected=True), draws=10, tune=0, progressbar=False)
    with refused(ArgumentError, "'m'", "'P+'", "'x'"):
        compare({"m": fitted})


def test_an_option_left_without_comparisons_is_warned_of():
    line = th.PairedComparisons.from_pairs(
        [("a", "b"), ("b", "c"), ("c", "d"), ("b", "a"), ("d", "c")]
    )
    with pytest.warns(DataWarning) as seen:
        th.compare({"m": BTL}, line, **SHORT)
    messages = str(seen[0].message)
    said(messages, "leave an option")
    said(messages, "'b-c'")
    assert len([w for w in seen if issubclass(w.category, DataWarning)]) == 1


def test_an_interrupt_before_anything_was_finished_is_an_interrupt(monkeypatch):
    watched_runs.stop_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        compare()


def test_an_interrupt_keeps_what_was_finished(monkeypatch, table):
    watched_runs.stop_after(3, monkeypatch)
    with warned(
        InterruptedWarning, "3 of", "6 fits", "'BTL' fitted without y-z", "'two' fitted without x-z"
    ):
        found = th.compare(models(), TRIO, **SHORT)
    assert (found["pairs"] == 1).all() and found.attrs["interrupted"]
    assert found.loc["BTL", "nll"] == table.attrs["pairs"]["BTL"].iloc[0]
    assert list(found.attrs["missing"]["why"]) == ["not run"] * 3
    assert len(sentences(found)) >= 2
