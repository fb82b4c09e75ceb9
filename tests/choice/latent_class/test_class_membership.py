"""Classes that depend on columns of people: derivatives, a slow oracle, another maximiser,
predictions, bad input."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import of_segments, simulate_experiment
from helpers.naive.choice_models import choice_probability, latent_class_log_likelihood
from helpers.sentences import refused, said, warned
from scipy.optimize import minimize

import thali as th
from thali._choice.latent_class.maximum_likelihood import (
    apply_step,
    build_panel,
    compute_derivatives,
    evaluate_parameters,
    start_equal_classes,
)
from thali._choice.product_coding import build_coding
from thali._people.respondent_columns import build_covariates
from thali.errors import ArgumentError, DataError, DataWarning, EstimateWarning

TASTES = np.random.default_rng(1).normal(size=(3, 5))
ODDS = np.vstack([np.zeros(3), np.random.default_rng(2).normal(size=(2, 3))])


@cache
def small():
    """Nine people of whom age and sex are known."""
    rows = simulate_experiment(n_respondents=9, n_tasks=5, seed=2)
    person = rows["id"].astype("category").cat.codes
    age, sex = 20 + 7 * person % 40, np.where(person % 3 == 0, "m", "w")
    return th.ChoiceExperiment.from_frame(
        rows.assign(age=age, sex=sex), attributes=["price", "brand", "zoom"]
    )


@cache
def by_age(people=90, tasks=10, seed=0):
    """People of three segments, the older the likelier of the second."""
    rows, segment = of_segments(people, tasks, seed)
    rng = np.random.default_rng(seed + 1)
    age = 40 + 12 * (segment == 1) + rng.normal(scale=8, size=people).round()
    known = pd.DataFrame(
        {"id": [f"p{n}" for n in range(people)], "age": age, "sex": rng.choice(["m", "w"], people)}
    )
    rows = rows.merge(known, on="id")
    return th.ChoiceExperiment.from_frame(rows, attributes=["price", "brand", "zoom"])


@cache
def fitted():
    model = th.LatentClassLogit(3, "price", by=["age", "sex"])
    return model.fit(by_age(), random_seed=1, progressbar=False)


def panel(data, columns=("age", "sex"), linear=()):
    return build_panel(
        data,
        build_coding(data, linear),
        build_covariates(columns, data.people, data.n_respondents).matrix,
    )


def at(where, **classes):
    """The point at which classes have these odds, or these sizes."""
    return evaluate_parameters(
        where, start_equal_classes(where, TASTES).classes._replace(**classes), TASTES
    )


def tasks_of_people(data, linear=()):
    """For each person the (alternatives, chosen) of every task."""
    matrix = build_coding(data, linear).encode_codes(data.products)[data.row_product]
    own = [
        (matrix[data.first_row[t] : data.first_row[t + 1]], data.chosen[t])
        for t in range(data.n_tasks)
    ]
    return [own[data.first_task[n] : data.first_task[n + 1]] for n in range(data.n_respondents)]


@pytest.mark.fit
def test_columns_that_tell_the_class_leave_its_odds_open():
    """Two segments far from each other, and a column that says who is of which."""
    rows, segment = of_segments(40, 12, 3)
    rows = rows.merge(
        pd.DataFrame({"id": [f"p{n}" for n in range(40)], "side": np.where(segment == 1, "b", "a")})
    )
    data = th.ChoiceExperiment.from_frame(rows, attributes=["price", "brand", "zoom"])
    with pytest.warns(EstimateWarning) as caught:
        th.LatentClassLogit(2, "price", by=["side"]).fit(data, random_seed=1, progressbar=False)
    notes = [each.message for each in caught if "diverge" in str(each.message)]
    assert len(notes) == 1 and str(notes[0]).count("log odds of class") == 2
    said(notes[0], "'log odds of class", "side[b]")


def test_the_likelihood_is_the_naive_one():
    where = panel(small())
    logs = np.exp(where.covariates @ ODDS.T)
    expected = logs / logs.sum(axis=1, keepdims=True)
    found = at(where, odds=ODDS)
    naive = latent_class_log_likelihood(tasks_of_people(small()), expected, TASTES)
    assert found.value == pytest.approx(naive, rel=1e-12)
    assert found.sizes == pytest.approx(expected.mean(axis=0), rel=1e-12)


def test_gradient_and_information_are_finite_differences():
    """Central differences of step h of the value (gradient), and of the gradient (information)."""
    where, h = panel(small()), 1e-5
    here = at(where, odds=ODDS)
    gradient, information = compute_derivatives(where, here)
    assert len(gradient) == 2 * 3 + 3 * 5
    for j, step in enumerate(h * np.eye(len(gradient))):
        up, down = (evaluate_parameters(where, *apply_step(here, sign * step)) for sign in (1, -1))
        assert gradient[j] == pytest.approx((up.value - down.value) / (2 * h), abs=1e-6)
        change = compute_derivatives(where, up)[0] - compute_derivatives(where, down)[0]
        np.testing.assert_allclose(information[j], -change / (2 * h), atol=1e-6)


def test_without_columns_the_odds_are_those_of_sizes():
    alone, by_columns = build_panel(small(), build_coding(small())), panel(small())
    sizes, constants = np.array([0.2, 0.5, 0.3]), [0, 3, *range(6, 21)]
    odds = np.log(sizes / sizes[0])[:, None]
    one, other = at(alone, sizes=sizes), at(by_columns, odds=np.hstack([odds, np.zeros((3, 2))]))
    assert one.value == pytest.approx(other.value, rel=1e-13)
    (gradient, information), (longer, larger) = (
        compute_derivatives(alone, one),
        compute_derivatives(by_columns, other),
    )
    np.testing.assert_allclose(longer[constants], gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        larger[np.ix_(constants, constants)], information, rtol=1e-9, atol=1e-9
    )


@pytest.mark.fit
def test_another_maximiser_finds_the_same():
    """SciPy's BFGS on the naive likelihood, written with arrays, from a point nearby."""
    model, data = fitted(), by_age()
    z = build_covariates(["age", "sex"], data.people, data.n_respondents)
    matrix = build_coding(data, "price").encode_codes(data.products)[data.row_product]
    person, starts = data.respondent_of_task, data.first_row[:-1]
    sizes = np.diff(data.first_row)

    def minus(theta):
        odds, tastes = np.vstack([np.zeros(3), theta[:6].reshape(2, 3)]), theta[6:].reshape(3, -1)
        prior = z.matrix @ odds.T
        prior -= np.logaddexp.reduce(prior, axis=1)[:, None]
        u = matrix @ tastes.T
        log_sum = np.log(np.add.reduceat(np.exp(u), starts))
        of_task = u[starts + data.chosen] - log_sum
        of_person = np.add.reduceat(of_task, data.first_task[:-1])
        return -np.logaddexp.reduce(prior + of_person, axis=1).sum()

    assert len(person) == len(sizes)
    scale = np.append(1.0, z.sd)
    start = np.concatenate(
        [(model._membership_coef_.to_numpy()[1:] * scale).ravel(), model.coef_.to_numpy().ravel()]
    )
    units = np.concatenate([np.ones(6), np.tile([0.1, 1.0, 1.0, 1.0], 3)])
    moved = start / units + np.random.default_rng(0).normal(scale=0.05, size=len(start))
    found = minimize(lambda x: minus(x * units), moved, method="BFGS", options={"gtol": 1e-5})
    assert -found.fun == pytest.approx(model.log_likelihood_, abs=1e-6)
    np.testing.assert_allclose(found.x * units, start, atol=2e-4)
    assert model.bic_ == pytest.approx((6 + 12) * np.log(90) - 2 * model.log_likelihood_)


def test_who_is_of_which_class_is_found_again():
    """The odds of the segment that likes brand B rise with age, by 12 / 64 a year; nothing hangs on
    sex."""
    model = fitted()
    order = int(model.coef_["brand[B]"].to_numpy().argmax())
    log_odds = model._membership_coef_["age"].to_numpy()
    assert log_odds[order] - np.delete(log_odds, order).max() > 0.08
    table = model.respondents.effects(ci=0.95).set_index(["latent_class", "column"])
    assert len(table) == 4 and table["p_value"].min() < 1e-2
    assert table["odds"].to_numpy() == pytest.approx(np.exp(table["log_odds"].to_numpy()))
    summary = model.summary()
    assert summary.loc["log odds of class 2: age", "coef"] == pytest.approx(
        model._membership_coef_.loc[2, "age"]
    )
    assert summary.loc["log odds of class 2: age", "std_error"] == pytest.approx(
        table.loc[(2, "age"), "std_error"]
    )
    assert "age" in str(model.findings()["class_odds"].sentence)


def test_errors_of_sizes_are_those_of_draws():
    """By the delta method, and by draws of the estimates: D of them have the error sd / sqrt(2
    D)."""
    model = fitted()
    errors = model.respondents.classes().loc["size_se"].to_numpy()
    drawn = model._draws_.sizes.std(axis=0)
    # curvature
    assert np.abs(drawn / errors - 1).max() < 4.5 / np.sqrt(2 * len(model._draws_.sizes)) + 0.1


def test_new_people_are_predicted_by_their_columns():
    model, data = fitted(), by_age()
    sizes = model.respondents.classes().loc["size"].to_numpy()
    tasks = (
        data.take(data.respondent_of_task == 0)
        .to_frame()
        .drop(columns=["age", "sex"], errors="ignore")
    )
    known = model.predict_proba(tasks)
    somebody = tasks.assign(id="somebody else")
    assert model.predict_proba(somebody) != pytest.approx(known, abs=1e-3)
    of_classes = [
        [
            choice_probability(rows, j, beta)
            for rows, _ in tasks_of_people(data, "price")[0]
            for j in range(len(rows))
        ]
        for beta in model.coef_.to_numpy()
    ]
    np.testing.assert_allclose(
        model.predict_proba(somebody), sizes @ np.array(of_classes), atol=1e-12
    )
    z = np.append(
        1.0, (np.array([70, 1.0]) - [data.people["age"].mean(), (data.people["sex"] == "w").mean()])
    )
    odds = np.exp(model._membership_coef_.to_numpy() @ z)
    old = model.predict_proba(somebody.assign(age=70, sex="w"))
    np.testing.assert_allclose(old, odds / odds.sum() @ np.array(of_classes), atol=1e-12)
    # a table with somebody known, and somebody new
    both = pd.concat([tasks, somebody.assign(age=70, sex="w")])
    np.testing.assert_allclose(
        model.predict_proba(both.fillna({"age": 1, "sex": "m"})), [*known, *old], atol=1e-12
    )
    experiment = th.ChoiceExperiment.from_frame(
        somebody.assign(age=70, sex="w"), attributes=["price", "brand", "zoom"]
    )
    np.testing.assert_allclose(model.predict_proba(experiment), old, atol=1e-12)
    with warned(DataWarning, "Column 'sex'", "'x'", "'m'", "'w'"):
        nobody = model.predict_proba(
            pd.concat([somebody.assign(age=70, sex="x"), somebody.assign(id="w", age=70, sex="w")])
        )
    np.testing.assert_allclose(nobody, [*(sizes @ np.array(of_classes)), *old], atol=1e-12)
    for wrong, sentence in (
        (
            {"age": "old", "sex": "w"},
            "Column 'age' was numeric in the fitted data, but contains 'old' for the new"
            " respondents",
        ),
        ({"age": None, "sex": "w"}, "Column 'age' of new respondents is missing in 30 rows"),
    ):
        with pytest.raises(DataError, match=sentence):
            model.predict_proba(somebody.assign(**wrong))


def test_columns_that_say_nothing():
    with refused(ArgumentError, "contains 'aeg'"):
        th.LatentClassLogit(2, by=["aeg"]).fit(small())
    with refused(ArgumentError, "no predictors of class membership"):
        th.LatentClassLogit(1).fit(small(), progressbar=False).respondents.effects()
    # nothing depends on them
    one = th.LatentClassLogit(1, by="age").fit(small(), progressbar=False)
    assert len(one.respondents.effects()) == 0 and one.log_likelihood_ == pytest.approx(
        th.MultinomialLogit().fit(small()).log_likelihood_
    )


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_people_left_out_are_predicted_by_their_columns():
    data = by_age(60, 8)
    models = [
        th.LatentClassLogit([1, 3], "price", by=given, choose="held-out", starts=3).fit(
            data, random_seed=2, progressbar=False
        )
        for given in (None, "age")
    ]
    plain, aged = (model.choice_.loc[3, "held_out"] for model in models)
    assert models[1].choice_.loc[1, "held_out"] == pytest.approx(
        models[0].choice_.loc[1, "held_out"]
    )
    assert plain != pytest.approx(aged, abs=0.1)


@pytest.mark.long
def test_intervals_of_class_effects_cover_the_truth():
    """Of 30 data sets the true effect of age, 12 / 64 a year, lies in nominal 89 % intervals but by
    binomial chance."""
    held = []
    for seed in range(30):
        model = th.LatentClassLogit(3, "price", by="age", starts=3)
        model.fit(by_age(150, 10, seed=100 + seed), random_seed=1, progressbar=False)
        order = int(model.coef_["brand[B]"].to_numpy().argmax())
        if order > 0:  # the largest class is another one, with which it is compared
            low, high = np.log(
                model.respondents.effects()
                .set_index("latent_class")
                .loc[order + 1, ["low", "high"]]
                .to_numpy(float)
            )
            held.append(low <= 12 / 64 <= high)
    assert len(held) > 20 and np.mean(held) > 0.89 - 3.7 * np.sqrt(0.1 / len(held))
