"""The latent-class logit: derivatives, a naive evaluation, known cases, segments that are found
again, bad input."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import SEGMENTS, camera, of_segments, simulate_experiment
from helpers.real_data import needs_data
from helpers.sentences import refused, warned

import thali as th
import thali._choice.latent_class.maximum_likelihood as fit
from thali._choice.latent_class.maximum_likelihood import (
    N_DRAWS,
    build_panel,
    climb,
    climb_by_newton,
    evaluate_parameters,
    expect_and_maximise,
    start_equal_classes,
)
from thali._choice.product_coding import build_coding
from thali._people.respondent_segments import compute_adjusted_rand_index
from thali.errors import ArgumentError, DataError, EstimateWarning

SIZES, TASTES = np.array([0.2, 0.5, 0.3]), np.random.default_rng(1).normal(size=(3, 5))


@cache
def small():
    return th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=9, n_tasks=5, seed=2))


@cache
def segments():
    frame, truth = of_segments()
    return th.ChoiceExperiment.from_frame(frame), truth


@cache
def fitted():
    return th.LatentClassLogit(3).fit(segments()[0], random_seed=1, progressbar=False)


def panel(data):
    return build_panel(data, build_coding(data))


def at(where, sizes=SIZES, tastes=TASTES):
    """The point at which classes have these sizes and tastes."""
    return evaluate_parameters(
        where, fit.start_equal_classes(where, tastes).classes._replace(sizes=sizes), tastes
    )


def test_every_pass_of_expectation_and_maximisation_gains():
    where = panel(segments()[0])
    here = at(where)
    values = [here.value]
    for _ in range(12):
        before, here = here, expect_and_maximise(where, here)
        np.testing.assert_allclose(here.sizes, before.membership.mean(axis=0), rtol=1e-12)
        values.append(here.value)
    assert np.all(np.diff(values) >= 0) and values[-1] > values[0] + 50
    summit = climb_by_newton(where, here)
    assert summit.converged and summit.parameters.value >= values[-1]
    assert np.abs(summit.gradient).max() < 1e-3 and np.linalg.eigvalsh(summit.information).min() > 0


def test_one_class_is_the_multinomial_logit():
    data = small()
    one, plain = (
        th.LatentClassLogit(1).fit(data, progressbar=False),
        th.MultinomialLogit().fit(data),
    )
    assert one.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-12)
    assert one.aic_ == pytest.approx(plain.aic_, rel=1e-12)
    np.testing.assert_allclose(one.coef_.loc[1], plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(one.covariance_, plain.covariance_, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(data), plain.predict_proba(data), atol=1e-7)
    # people count
    assert one.bic_ == pytest.approx(5 * np.log(9) - 2 * one.log_likelihood_, rel=1e-12)
    assert np.isnan(one.choice_.loc[1, "entropy_r2"])


@pytest.mark.fit
def test_three_segments_are_found_again():
    model, (_, truth) = fitted(), segments()
    assert compute_adjusted_rand_index(model.membership_.to_numpy().argmax(axis=1), truth) >= 0.9
    row = model.choice_.loc[3]
    assert row["times_found"] >= 3 and row["starts"] >= 12
    names = ["price[15]", "price[25]", "brand[B]", "brand[C]", "zoom[yes]"]
    assert list(model.coef_.columns) == names
    order = [int(model.coef_["price[25]"].argmin()), int(model.coef_["brand[B]"].argmax())]
    order.append(3 - sum(order))
    wanted = SEGMENTS[:, [0, 0, 1, 2, 3]] * [1, 2, 1, 1, 1]
    table = model.summary()
    errors = np.array(
        [[table.loc[f"class {k + 1}: {name}", "std_error"] for name in names] for k in order]
    )
    z = (model.coef_.to_numpy()[order] - wanted) / errors
    assert np.abs(z).max() < 4.5  # 15 standard normal numbers


@pytest.mark.fit  # for its time
def test_bic_and_people_left_out_choose_three():
    data = segments()[0]
    by_bic = th.LatentClassLogit(range(1, 5), "price").fit(data, random_seed=2, progressbar=False)
    assert len(by_bic.coef_) == 3 and list(by_bic.choice_.index) == [1, 2, 3, 4]
    assert np.all(np.diff(by_bic.choice_["log_likelihood"]) > 0)
    out = th.LatentClassLogit([1, 3], "price", choose="held-out", starts=3).fit(
        data, random_seed=2, progressbar=False
    )
    assert len(out.coef_) == 3 and out.choice_["held_out"].notna().all()
    assert (out.choice_["held_out"] < out.choice_["log_likelihood"]).all()
    assert out.choice_.loc[3, "log_likelihood"] == pytest.approx(
        by_bic.choice_.loc[3, "log_likelihood"], abs=0.01
    )


def test_known_people_are_predicted_by_their_classes_and_new_people_by_sizes():
    model, data = fitted(), segments()[0]
    tasks = data.take(data.respondent_of_task == 0)
    known = model.predict_proba(tasks)
    of_classes = np.exp(_matrix(model, tasks) @ model.coef_.to_numpy().T)
    task = np.repeat(np.arange(tasks.n_tasks), np.diff(tasks.first_row))
    of_classes /= np.stack([np.bincount(task, column) for column in of_classes.T], axis=1)[task]
    np.testing.assert_allclose(known, of_classes @ model.membership_.iloc[0], atol=1e-12)
    stranger = tasks.to_frame().assign(id="somebody else")
    sizes = model.respondents.classes().loc["size"].to_numpy()
    np.testing.assert_allclose(model.predict_proba(stranger), of_classes @ sizes, atol=1e-12)


def test_market_shares_are_mean_predictions():
    """Of respondents by their classes, of new people by sizes; at the maximum the two are the
    same."""
    model, data = fitted(), segments()[0]
    market = pd.DataFrame(
        {"price": [5, 15, 25], "brand": ["A", "B", "C"], "zoom": ["no", "no", "yes"]}
    )
    new = model.predict_proba(market)
    shares = model.market_shares(market, people="new")
    np.testing.assert_allclose(shares["share"], new, atol=1e-12)
    np.testing.assert_allclose(model.market_shares(market)["share"], new, atol=1e-5)
    first = pd.concat([market.assign(id=label) for label in data.respondents[:7]])
    wanted = model.predict_proba(first).reshape(7, 3).mean(axis=0)
    some = model.market_shares(market, people=list(data.respondents[:7]))
    np.testing.assert_allclose(some["share"], wanted, atol=1e-12)
    assert (shares["share_low"] < new).all() and (shares["share_high"] > new).all()


def _matrix(model, tasks):
    return build_coding(segments()[0], model.linear).encode_codes(tasks.products)[tasks.row_product]


def test_draws_spread_as_the_standard_errors_say():
    """A mean over D draws has the error sd / sqrt(D), a standard deviation about sd / sqrt(2 D)."""
    model = fitted()
    errors = np.sqrt(np.diag(model.covariance_)[2:]).reshape(3, 5)
    drawn = model._draws_.tastes
    assert np.abs((drawn.mean(axis=0) - model.coef_) / errors).to_numpy().max() < 4.5 / np.sqrt(
        N_DRAWS
    )
    assert np.abs(drawn.std(axis=0) / errors - 1).max() < 4.5 / np.sqrt(2 * N_DRAWS)


def test_choices_of_a_class_without_bound_are_said():
    """Two people always take the dear product, which no choice of theirs speaks against."""
    rows = []
    for person in range(12):
        for task in range(8):
            dear = person < 2 or task == person % 8
            product = {"id": person, "task": task}
            rows += [
                {**product, "price": 1, "choice": int(not dear)},
                {**product, "price": 2, "choice": int(dear)},
            ]
    data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows))
    with warned(EstimateWarning, "for 'class 2: price[2]'"):
        model = th.LatentClassLogit(2).fit(data, random_seed=1, progressbar=False)
    shares = model.market_shares(pd.DataFrame({"price": [1, 2]}))
    assert not model.convergence().agrees and np.isfinite(shares["share_high"]).all()


def test_rounding_does_not_choose_the_draws():
    """Directions of which as much is known have no vectors that are theirs alone."""
    noise = np.random.default_rng(1).uniform(-1.0, 1.0, (5, 5)) * np.finfo(float).eps
    information = np.diag([4.0, 4.0, 4.0, 1.0, 0.0]) + noise + noise.T
    root = fit.covariance_root(information, np.diag([0.25, 0.25, 0.25, 1.0, 9.0]))
    np.testing.assert_allclose(root, np.diag([0.5, 0.5, 0.5, 1.0, 0.0]), atol=1e-12)


def test_rounding_does_not_say_where_an_endless_climb_ends(monkeypatch):
    frame = simulate_experiment(n_respondents=8, n_tasks=4, seed=2)
    frame["choice"] = 0
    frame.loc[frame.groupby(["id", "task"])["price"].idxmin(), "choice"] = 1
    own = panel(th.ChoiceExperiment.from_frame(frame))
    start = start_equal_classes(
        own, np.random.default_rng(1).normal(size=(2, own.tasks.matrix.shape[1]))
    )
    end, rng, exact = climb(own, start), np.random.default_rng(4), fit.compute_derivatives

    def rounded(*given):
        gradient, curve = exact(*given)
        noise = np.abs(curve).max() * np.finfo(float).eps * rng.uniform(-1.0, 1.0, curve.shape)
        return gradient, curve + noise + noise.T

    monkeypatch.setattr(fit, "compute_derivatives", rounded)
    again = climb(own, start)
    # a change of the last digit is a millionth of what is added to every curvature
    np.testing.assert_allclose(
        again.parameters.tastes,
        end.parameters.tastes,
        atol=1e-5 * np.abs(end.parameters.tastes).max(),
    )
    assert np.abs(end.parameters.tastes).max() > 100.0


def test_classes_that_coincide_are_said():
    """Four tasks of eight people, who take the cheap product thrice or once: one class is likelier
    than two."""
    rows = dict(
        id=[n // 8 for n in range(64)], task=[n // 2 for n in range(64)], price=[90, 150] * 32
    )
    rows["choice"] = [1, 0, 1, 0, 1, 0, 0, 1] * 4 + [0, 1, 0, 1, 0, 1, 1, 0] * 4
    with warned(EstimateWarning, "2 classes"):
        model = th.LatentClassLogit(2).fit(
            th.ChoiceExperiment.from_frame(pd.DataFrame(rows)), random_seed=1
        )
    assert model.log_likelihood_ == pytest.approx(32 * np.log(0.5), abs=1e-6)


MISTAKES = [
    ({"classes": [2, 1.5]}, ArgumentError, ("classes", "got 1.5")),
    ({"classes": []}, ArgumentError, ("classes", "got none")),
    ({"classes": 10}, DataError, ("10 classes", "9 respondents")),
    (
        {"classes": 8, "choose": "held-out"},
        DataError,
        ("9 respondents", "5-fold cross-validation", "8 classes", "choose='bic'"),
    ),
    ({"linear": "prize"}, ArgumentError, ("linear", "contains 'prize'", "'price'")),
]


@pytest.mark.parametrize(("how", "kind", "facts"), MISTAKES)
def test_bad_arguments_and_data_are_refused(how, kind, facts):
    with refused(kind, *facts):
        th.LatentClassLogit(**how).fit(small())


@needs_data
@pytest.mark.long
def test_camera_gives_the_known_likelihood():
    """Values of this code; flexmix 2.3-18 of R finds the same of three classes
    (benchmarks/latent_class_logit.py)."""
    model = th.LatentClassLogit(3, linear="price").fit(camera(), random_seed=1, progressbar=False)
    assert model.log_likelihood_ == pytest.approx(-5420.091, abs=0.01)
    assert climb(panel(camera()), start_equal_classes(panel(camera()), np.zeros((1, 13)))).converged
