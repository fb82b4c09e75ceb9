"""Attributes of many levels: floats are numbers, and said to be; whole numbers and labels are
refused, or listed."""

import warnings

import numpy as np
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused
from scipy.special import expit

import thali as th
from thali._choice.logits.hierarchical_draws import compute_monitored_effects
from thali._choice.product_coding import build_coding
from thali._choice.reports.logit_choice_draws import iterate_level_differences, merge_neighbours
from thali.errors import DataError

MODELS = {
    "multinomial": th.MultinomialLogit,
    "latent class": lambda **how: th.LatentClassLogit(classes=2, starts=1, **how),
    "hierarchical": th.HierarchicalLogit,
}


def frame(values=None):
    """A study of 6 people whose price takes 144 values."""
    rows = simulate_experiment(n_respondents=6, seed=3)
    price = 5 + np.random.default_rng(1).permutation(len(rows)) / 7.0
    return rows.assign(price=price if values is None else values)


DATA = th.ChoiceExperiment.from_frame(frame())


def fitted(make, data=DATA, **how):
    more = {"draws": 20, "tune": 5, "chains": 2, "thin": 1} if make is th.HierarchicalLogit else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(**how).fit(data, random_seed=1, progressbar=False, **more)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_floats_are_linear_by_default_and_said(make, request):
    if make is th.HierarchicalLogit:
        request.getfixturevalue("uncompiled")
    model, named = fitted(make), fitted(make, linear="price")
    assert np.asarray(model.coef_).tolist() == np.asarray(named.coef_).tolist()
    assert sum(str(name).startswith("price") for name in model._coding_.names) == 1
    assert "taken as numbers" in str(model) and "'price'" in str(model)
    assert len(model.predict_proba(frame().iloc[:4].assign(price=[5.01, 6.02, 7.03, 25.0]))) == 4
    effects = model.level_effects()
    assert (effects["attribute"] == "price").sum() == 10  # of five values that stand for all
    assert effects.loc[effects["attribute"] == "price", "over"].iloc[0] == "5"
    assert set(model.attribute_importance()["attribute"]) == set(DATA.attributes)
    linear = fitted(
        make, th.ChoiceExperiment.from_frame(frame(np.arange(144) % 30)), linear="price"
    )
    assert "taken as numbers" not in str(linear)


@pytest.mark.fit
def test_listed_levels_have_a_coefficient_each():
    values = np.arange(144) % 36 + 0.5
    data = th.ChoiceExperiment.from_frame(frame(values), levels={"price": np.arange(36) + 0.5})
    model = fitted(th.MultinomialLogit, data)
    assert sum(name.startswith("price[") for name in model.coef_.index) == 35


@pytest.mark.fit
def test_a_summary_looks_at_groups_and_landmarks():
    coding = build_coding(DATA)
    beta = np.random.default_rng(0).normal(size=(1, 2, 6, len(coding.names))) / 10
    found = compute_monitored_effects(beta, DATA, coding)
    shares = [
        name for name in found["share"]["product_level"].values.tolist() if name.startswith("price")
    ]
    assert shares == [f"price={name}" for name in DATA.scheme.groups["price"][0][1:]]
    pairs = [
        name for name in found["effect"]["level_pair"].values.tolist() if name.startswith("price")
    ]
    assert len(pairs) == 4 and pairs[0].endswith(" over 5")
    # each share is the sum of the shares of its levels
    matrix, groups = (
        coding.encode_codes(DATA.products)[DATA.row_product],
        DATA.scheme.groups["price"][1],
    )
    total = np.zeros(4)
    for task, person in enumerate(DATA.respondent_of_task):
        rows = slice(DATA.first_row[task], DATA.first_row[task + 1])
        p = np.exp(matrix[rows] @ beta[0, 0, person])
        np.add.at(total, groups[DATA.products[DATA.row_product[rows], 0]], p / p.sum())
    np.testing.assert_allclose(
        found["share"].values[0, 0, :3], total[1:] / DATA.n_tasks, rtol=1e-12
    )


WHOLE = np.arange(144) % 31
SHOPS = [f"shop {k:03d}" for k in WHOLE]
REFUSED = {
    "whole": (WHOLE, ("Attribute 'price'", "31 levels", "at most 30 are allowed")),
    "labels": (SHOPS, ("Attribute 'price'", "31 levels", "'shop 000'", "'shop 001'")),
}


@pytest.mark.unit
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(("values", "facts"), REFUSED.values(), ids=REFUSED)
def test_other_attributes_of_many_levels_are_refused(make, values, facts):
    with refused(DataError, *facts):
        make().fit(th.ChoiceExperiment.from_frame(frame(values)))


@pytest.mark.unit
@pytest.mark.parametrize("values", [None, WHOLE, SHOPS])
def test_product_classes_need_levels(values):
    data = th.ChoiceExperiment.from_frame(frame(values))
    with refused(DataError, "Attribute 'price'") as caught:
        th.ProductClasses().fit(data)
    assert "linear" not in str(caught.value)
    with pytest.raises(DataError):
        th.ProductClasses().prepare(data)
    th.ProductClasses().prepare(th.ChoiceExperiment.from_frame(frame(), bins={"price": 4}))


@pytest.mark.unit
@pytest.mark.parametrize("how", [{"linear": "price"}, {"knots": {"price": 2}}])
def test_whole_numbers_that_are_taken_as_such_are_not_refused(how):
    model = fitted(th.MultinomialLogit, th.ChoiceExperiment.from_frame(frame(WHOLE)), **how)
    assert model.converged_
    effects = model.level_effects()
    of_price = effects.loc[effects["attribute"] == "price"]
    assert [{*pair} for pair in of_price[["level", "over"]].to_numpy()] == [{"0", "30"}]


def test_of_many_products_the_levels_are_compared_on_neighbours_of_them():
    """Two numbers that no two products share, and on which hangs what a brand is worth; against a
    sum over all."""
    rng, rows = np.random.default_rng(1), simulate_experiment(n_respondents=30, n_tasks=12, seed=3)
    rows = rows.assign(price=rng.uniform(5, 25, len(rows)), weight=rng.uniform(1, 2, len(rows)))
    data = th.ChoiceExperiment.from_frame(rows, attributes=["price", "brand", "weight"])
    interactions = [("price", "brand"), ("weight", "brand")]
    coding = build_coding(data, ["price", "weight"], interactions=interactions)
    ((few, weight),) = iterate_level_differences(
        coding, data, [(data.attributes.index("brand"), 0, 1)]
    )
    assert len(few) == 256
    brand, taste = data.attributes.index("brand"), rng.normal(size=len(coding.names))
    one, other = (coding.convert_codes(data.products)[data.row_product] for _ in range(2))
    one[:, brand], other[:, brand] = 1.0, 0.0
    utility = (coding.encode_cells(one) - coding.encode_cells(other)) @ taste
    assert utility.std() > 1.0
    assert weight @ (few @ taste) == pytest.approx(utility.mean(), abs=1e-12)
    assert weight @ expit(few @ taste) == pytest.approx(expit(utility).mean(), abs=2e-4)


def test_means_of_neighbours_keep_the_mean():
    rng = np.random.default_rng(2)
    rows, weight = rng.normal(size=(900, 3)), rng.integers(1, 4, 900).astype(float)
    few, own = merge_neighbours(rows, weight, 64)
    assert len(few) == 64 and own.sum() == weight.sum()
    np.testing.assert_allclose(own @ few, weight @ rows, atol=1e-9)
