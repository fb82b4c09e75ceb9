"""Additive clustering of people of whom each has weights of their own: data, summary, what is
stored, refusals."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.all_drawn import all_drawn
from helpers.dependence_attributes import dependence_of
from helpers.sentences import refused, said

import thali as th
from thali._posterior import datatree_files
from thali.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
RUN = {"draws": 4, "tune": 1, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
LABELS = ["a", "b", "c", "d"]


def judges(people=3, labels=LABELS):
    rng = np.random.default_rng(1)
    first, second = np.triu_indices(len(labels), 1)
    found = {}
    for person in range(people):
        matrix = np.full((len(labels), len(labels)), np.nan)
        matrix[first, second] = matrix[second, first] = rng.random(len(first)) + (first == 0) * (
            second == 1
        )
        found[f"p{person}"] = th.Similarities(matrix, labels)
    return found


def odd_ones(people=3, labels=LABELS):
    rows = [(f"p{k % people}", *LABELS[:3], LABELS[k % 3]) for k in range(9)]
    rows += [(f"p{k % people}", *LABELS[1:], LABELS[1 + k % 2]) for k in range(6)]
    frame = pd.DataFrame(rows, columns=["respondent", "object1", "object2", "object3", "odd"])
    return th.Triplets.from_frame(frame, respondent="respondent", labels=labels)


def fitted(data, by=(), **more):
    return th.AdditiveClustering(people=th.people.Individuals(by), **more).fit(data, **RUN)


KINDS = [(judges, {"sigma": 0.2}), (odd_ones, {}), (odd_ones, {"link": "ratio"})]


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(("data", "more"), KINDS)
def test_the_summary_is_of_the_population(data, more, uncompiled, tmp_path):
    model = fitted(data(), features=np.array([[1, 0], [1, 1], [0, 1], [0, 0]]), **more)
    seen = all_drawn(model.posterior_)
    assert dependence_of(model).model == "individuals"
    assert seen["common_weights"].dims == ("chain", "draw", "feature")
    rows = model.summary()
    assert {"kappa", "weight[a, b]", "weight[b, c]"} <= set(rows.index)
    assert not any("p0" in name for name in rows.index)
    known = dict(zip(map(tuple, model.features()["members"]), range(2), strict=True))
    assert rows.loc["weight[a, b]", "mean"] > 0.0 and set(known) == {("a", "b"), ("b", "c")}
    slot = 0 if seen["features"].values[0, 0, 0, 0] else 1
    drawn = seen["common_weights"].values[..., slot]
    assert rows.loc["weight[a, b]", "mean"] == pytest.approx(drawn.mean())
    model.save(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(th.load(tmp_path / "fit.nc").summary(), rows)


@pytest.mark.fit
def test_the_weight_of_a_feature_that_a_draw_lacks_is_0(uncompiled):
    model = fitted(judges(), sigma=0.2, alpha=2.0)
    seen = all_drawn(model.posterior_)
    found = {
        name: values
        for name, values in model._get_quantities().items()
        if name.startswith("weight[")
    }
    for name, values in found.items():
        members = np.isin(LABELS, name.removeprefix("weight[").removesuffix("]").split(", "))
        own = (seen["features"].values == members).all(axis=-1)
        np.testing.assert_allclose(
            values, np.where(own, seen["common_weights"].values, 0.0).sum(axis=-1)
        )
    assert found and min(values.min() for values in found.values()) == 0.0


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("data", [judges, odd_ones])
def test_what_is_large_of_many_people_is_left_out_and_answers_stay(data, uncompiled, monkeypatch):
    """No similarities of more than 2,000 pairs of all people together, and no more likelihoods than
    the limit."""
    more = {"sigma": 0.2} if data is judges else {}
    labels = [*LABELS, *(f"o{k}" for k in range(34))]  # of 703 pairs
    features = np.eye(38, 2) + np.eye(38, 2, -1)
    few, many = (fitted(data(people, labels), features=features, **more) for people in (2, 3))
    assert (
        "similarity" in few.posterior_["posterior"]
        and "similarity" not in many.posterior_["posterior"]
    )
    assert all("log_likelihood" in model.posterior_.children for model in (few, many))
    assert many.summary().index.tolist() == few.summary().index.tolist()
    assert len(many.of_group("p1").features()) == len(few.of_group("p1").features()) == 2
    assert list(many.check(random_seed=1)) == list(few.check(random_seed=1))
    monkeypatch.setattr(datatree_files, "MAX_POINTWISE", 10)
    assert "log_likelihood" not in fitted(data(), **more).posterior_.children


def judged_by(ages):
    """A list of what people of these ages say of four objects."""
    rows = [
        (f"p{k}", age, a, b, value)
        for k, (age, own) in enumerate(zip(ages, judges(len(ages)).values(), strict=True))
        for a, b, value in own.to_frame(long=True).itertuples(index=False)
    ]
    return th.Similarities.from_frame(
        pd.DataFrame(rows, columns=["judge", "age", "first", "second", "similarity"])
    )


@pytest.mark.long
@pytest.mark.fit
def test_weights_of_judges_depend_on_what_is_known_of_them(uncompiled, tmp_path):
    data = judged_by([20, 40, 60])
    features = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    model = fitted(data, ["age"], features=features, sigma=0.2)
    x = (np.array([20, 40, 60]) - 40) / np.std([20, 40, 60])
    np.testing.assert_allclose(model.posterior_["constant_data"]["known_of_people"].values[:, 0], x)
    table = model.respondents.effects()
    assert list(table.index) == [("age", "a, b"), ("age", "b, c")]
    slopes = model.posterior_["latent_features"]["slopes"].values.reshape(-1, 2)
    np.testing.assert_allclose(
        sorted(table["mean"]), sorted(slopes.mean(axis=0) / np.std([20, 40, 60]))
    )
    model.save(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(th.load(tmp_path / "fit.nc").respondents.effects(), table)
    latent = model.posterior_["latent_features"].to_dataset()
    latent["slopes"] = latent["slopes"] + 5.0
    model.posterior_["latent_features"] = xr.DataTree(latent)
    said(model.findings()["respondent_effects"].sentence, "a, b", "age")


@pytest.mark.unit
def test_people_are_refused_where_nothing_is_known_of_them():
    model = th.AdditiveClustering(people=th.people.Individuals())
    with refused(DataError, "the respondent of each answer"):
        model.fit(judges()["p0"])
    with refused(DataError, "answers are from one"):
        model.fit({"p0": judges()["p0"]})
    with refused(DataError, "answers are from one"):
        model.fit(odd_ones(people=1))
