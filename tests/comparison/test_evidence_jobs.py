"""Comparisons by evidence that go on from a job after any end of the process."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import watched_runs
from helpers.sentences import refused, says, warned
from helpers.short_comparisons import sentences

import thali as th
from thali._inference import job_folders
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence, ThermodynamicIntegral
from thali.errors import DataError, InterruptedWarning, Message, Remedy

TRIO = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
LAPSES = (0.1, 0.2, 0.3)


def models(lapses=LAPSES):
    return {f"lapse {lapse}": th.EliminationByAspects("unique", lapse=lapse) for lapse in lapses}


def compare(lapses=LAPSES, **changed):
    how = {"by": "evidence", "random_seed": 3, "progressbar": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ConvergenceWarning)
        return th.compare(models(lapses), TRIO, **(how | changed))


class Found:
    """In place of any computation: an evidence that depends on the model and its seed, and which
    models were asked."""

    def __init__(self):
        self.asked = []
        self.stops_at = None

    def __call__(self, model, data, how):
        if model.lapse == self.stops_at:
            raise KeyboardInterrupt
        self.asked.append(model.lapse)
        rng = np.random.default_rng(how.random_seed)
        value, usable = float(-3.0 - model.lapse + rng.standard_normal()), model.lapse < 0.3
        said = ConvergenceCheck(
            usable, {"draws": 10}, Message("Repeat it with ", Remedy("draws", 40), ".")
        )
        path = pd.DataFrame(
            {"inverse_temperature": [1.0, 0.0], "log_likelihood": [-3.0, -math.inf]}
        )
        path = path.assign(
            log_likelihood_sd=rng.random(2), log_evidence=[value, 0.0], swap_rate=[0.5, math.nan]
        )
        changed = pd.DataFrame({"log_evidence": [value + 1 / 3], "std_error": [0.1]}, ["alpha x 2"])
        integral = ThermodynamicIntegral(value, 0.1, 0.2, 0.0, 0.1) if usable else None
        df = 11.0 if usable else math.inf
        return LogEvidence(
            value,
            0.1,
            df,
            said,
            rng.random(2),
            path,
            changed if how.sensitivity else None,
            integral,
        )


@pytest.fixture
def found(monkeypatch):
    watched_runs.write_often(monkeypatch)  # every model is written when it is finished
    made = Found()
    watched_runs.find_evidence_by(monkeypatch, made)
    return made


def same(a, b):
    """The tables, and all that stands behind them."""
    pd.testing.assert_frame_equal(a, b, check_exact=True)
    assert a.attrs.keys() == b.attrs.keys()
    for name, one in a.attrs["evidence"].items():
        other = b.attrs["evidence"][name]
        assert str(one) == str(other) and one.thermodynamic == other.thermodynamic
        assert one.convergence.facts == other.convergence.facts
        assert one.convergence.remedies == other.convergence.remedies
        assert (one.estimates == other.estimates).all() and one.interval() == other.interval()
        pd.testing.assert_frame_equal(one.path, other.path, check_exact=True)
    if "sensitivity" in a.attrs:
        pd.testing.assert_frame_equal(
            a.attrs["sensitivity"], b.attrs["sensitivity"], check_exact=True
        )


@pytest.mark.parametrize("sensitivity", [False, True])
def test_a_stopped_comparison_goes_on(found, tmp_path, sensitivity):
    """With the numbers of an unbroken one, without a job; finished models are not found again."""
    whole = compare(sensitivity=sensitivity)
    found.stops_at, found.asked = 0.2, []
    with warned(InterruptedWarning, "'lapse 0.2'", "'lapse 0.3'"):
        part = compare(sensitivity=sensitivity, job=tmp_path / "job")
    assert part.attrs["interrupted"] and part.loc["lapse 0.1", "probability"] == 1.0
    assert part.attrs["missing"]["why"].tolist() == ["not run", "not run"]
    says(sentences(part), "'lapse 0.2'", "'lapse 0.3'")
    found.stops_at = None
    same(compare(sensitivity=sensitivity, job=tmp_path / "job"), whole)
    assert found.asked == list(LAPSES)
    same(compare(sensitivity=sensitivity, job=tmp_path / "job", random_seed=None), whole)
    assert found.asked == list(LAPSES) and job_folders.read_index(tmp_path / "job")["ended"]


def test_a_job_goes_on_with_added_models(found, tmp_path):
    """After the others they cost nothing else; before them the seeds of those after are others,
    with or without a job."""
    compare((0.1, 0.2), job=tmp_path / "job")
    found.asked = []
    after = compare((0.1, 0.2, 0.3), job=tmp_path / "job")
    assert found.asked == [0.3]
    before = compare((0.3, 0.1, 0.2), job=tmp_path / "other")
    compare((0.1, 0.2), job=tmp_path / "third")
    found.asked = []
    same(compare((0.3, 0.1, 0.2), job=tmp_path / "third"), before)
    assert found.asked == [0.3, 0.1, 0.2]
    same(after, compare((0.1, 0.2, 0.3)))


def test_prior_odds_are_no_part_of_the_job(found, tmp_path):
    even = compare(job=tmp_path / "job")
    odds = {"lapse 0.1": 2, "lapse 0.2": 1, "lapse 0.3": 1}
    found.asked = []
    table = compare(job=tmp_path / "job", prior_odds=odds)
    assert not found.asked
    ratio = table["probability"] / even["probability"]
    assert ratio["lapse 0.1"] / ratio["lapse 0.2"] == pytest.approx(2.0)
    found.stops_at = 0.3
    with pytest.warns(InterruptedWarning):
        part = compare(prior_odds=odds)
    assert part["probability"].sum() == pytest.approx(1.0)
    assert part.attrs["prior"] == {
        "lapse 0.1": pytest.approx(2 / 3),
        "lapse 0.2": pytest.approx(1 / 3),
    }


def test_nothing_is_left_of_a_comparison_that_found_nothing(found, tmp_path):
    found.stops_at = 0.1
    with pytest.raises(KeyboardInterrupt):
        compare(job=tmp_path / "job")
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"random_seed": 4}, ("was started with",)),
        ({"draws": 999}, ("draws=1000", "draws=999")),
        ({"sensitivity": True}, ("sensitivity=False", "sensitivity=True")),
        ({"lapses": (0.1, 0.2)}, ("'lapse 0.3'",)),
        ({"by": "prediction"}, ("is a comparison",)),
    ],
)
def test_the_job_of_another_comparison_is_refused(found, tmp_path, changed, said):
    compare(job=tmp_path / "job")
    before = {path.name: path.read_bytes() for path in (tmp_path / "job").iterdir()}
    with refused(DataError, *said):
        compare(job=tmp_path / "job", **changed)
    assert {path.name: path.read_bytes() for path in (tmp_path / "job").iterdir()} == before


def test_a_model_that_fails_costs_no_other(found, tmp_path, monkeypatch):
    compare_all = dict(job=tmp_path / "job")

    def fails(model, data, how):
        if model.lapse == 0.3:
            raise DataError("the posterior has no draws.")
        return found(model, data, how)

    with monkeypatch.context() as patch:
        watched_runs.find_evidence_by(patch, fails)
        with refused(DataError, "'lapse 0.3'"):
            compare(**compare_all)
    same(compare(**compare_all), compare())
    assert found.asked == [0.1, 0.2, 0.3, *LAPSES]
