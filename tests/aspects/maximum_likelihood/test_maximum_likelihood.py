"""Elimination by aspects by maximum likelihood: the figures of the specification, and what they
rest on."""

import copy

import numpy as np
import pandas as pd
import pytest
from helpers.paired_cases import (
    DRUGS,
    PORK,
    TREE,
    leave_one_out,
    log_likelihood,
    maximised,
    risks,
    rng,
    sets_of,
    shared,
    total,
)
from helpers.sentences import refused, warned
from scipy.optimize import minimize

import thali as th
from thali.errors import ArgumentError, DataError, EstimateWarning, NotFittedError

pytestmark = pytest.mark.usefixtures("few_replicates")

BTL = [0.228726, 0.140315, 0.109930, 0.072072, 0.044211, 0.074776, 0.060647, 0.113305, 0.156018]
OF_TREE = [0.226879, 0.122885, 0.089104, 0.040909, 0.016542, 0.040720, 0.037214, 0.094460, 0.145198]
OF_TREE += [0.072678, 0.055579, 0.057830]
SCALE = [0.218308, 0.142520, 0.117903, 0.070319, 0.052559, 0.070181, 0.069265, 0.110985, 0.147961]
ROUNDED = 1.5e-6  # the last digit of the figures above, and the optimiser that found them


@pytest.fixture(scope="module")
def btl():
    return maximised()


@pytest.fixture(scope="module")
def tree():
    return maximised(TREE)


def test_celebrities_give_the_published_likelihoods_and_weights(btl, tree):
    assert btl.maximum_likelihood.log_likelihood() == pytest.approx(-143.0394949464, abs=1e-9)
    assert tree.maximum_likelihood.log_likelihood() == pytest.approx(-119.0140192221, abs=1e-9)
    assert [
        btl.maximum_likelihood.deviance(),
        btl.maximum_likelihood.pearson(),
        btl.maximum_likelihood.aic(),
        btl.maximum_likelihood.bic(),
    ] == pytest.approx([78.2172, 77.2470, 302.0790, 314.7471], abs=5e-5)
    assert [
        tree.maximum_likelihood.deviance(),
        tree.maximum_likelihood.pearson(),
        tree.maximum_likelihood.aic(),
        tree.maximum_likelihood.bic(),
    ] == pytest.approx([30.1663, 30.0482, 260.0280, 277.4467], abs=5e-5)
    assert (btl.maximum_likelihood.df(), tree.maximum_likelihood.df()) == (28, 25)
    assert (
        btl.maximum_likelihood.log_likelihood() + btl.maximum_likelihood.deviance() / 2
        == pytest.approx(-103.9308908984, abs=1e-9)
    )
    np.testing.assert_allclose(btl.maximum_likelihood.weights(), BTL, atol=ROUNDED, rtol=0)
    np.testing.assert_allclose(btl.maximum_likelihood.utility_scale(), BTL, atol=ROUNDED, rtol=0)
    np.testing.assert_allclose(tree.maximum_likelihood.weights(), OF_TREE, atol=ROUNDED, rtol=0)
    np.testing.assert_allclose(tree.maximum_likelihood.utility_scale(), SCALE, atol=ROUNDED, rtol=0)
    assert list(tree.maximum_likelihood.weights().index) == [
        *th.datasets.celebrities().labels,
        "politician",
        "athlete",
        "star",
    ]
    assert tree.maximum_likelihood.weights().sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.fit
def test_celebrities_give_the_published_likelihoods_with_lapses():
    assert maximised(lapse=0.01).maximum_likelihood.log_likelihood() == pytest.approx(
        -142.86096, abs=5e-6
    )
    assert maximised(TREE, lapse=0.01).maximum_likelihood.log_likelihood() == pytest.approx(
        -118.98963, abs=5e-6
    )


@pytest.mark.fit
def test_the_lapse_is_that_of_the_method(btl):
    """R's packages eba and psychotools have no lapses: G² 30.60 of drugs, where lapses of .01 would
    give 27.24."""
    drugs = th.EliminationByAspects("unique", method="maximum-likelihood").fit(risks())
    assert (
        drugs.maximum_likelihood.deviance() == pytest.approx(30.60, abs=0.005)
        and drugs.maximum_likelihood.df() == 10
    )
    assert maximised(data=risks(), lapse=0.01).maximum_likelihood.deviance() == pytest.approx(
        27.24, abs=0.005
    )
    data = th.datasets.celebrities()
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    assert (
        model.lapse is None
        and model.get_params()["lapse"] is None
        and model.summary().attrs["lapse"] == 0.0
    )
    assert (
        model.maximum_likelihood.log_likelihood() == btl.maximum_likelihood.log_likelihood()
        and model.summary().attrs["lapse"] == 0.0
    )
    assert (
        th.EliminationByAspects("unique", lapse=0.02, method="maximum-likelihood")
        .fit(data)
        .summary()
        .attrs["lapse"]
        == 0.02
    )
    drawn = th.EliminationByAspects("unique")
    with refused(NotFittedError, "been fitted yet"):
        drawn.summary()
    drawn.fit(data, draws=2, tune=0, chains=2, random_seed=1, progressbar=False)
    assert drawn.lapse is None and drawn._view.lapse == 0.01


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_leaving_one_pair_out_gives_the_published_score(btl, tree):
    assert leave_one_out(btl, th.datasets.celebrities())["nll"].mean() == pytest.approx(
        4.6720, abs=5e-5
    )
    left_out = leave_one_out(tree, th.datasets.celebrities())
    assert left_out["nll"].mean() == pytest.approx(3.9308, abs=5e-5)
    one = maximised(TREE, th.datasets.celebrities().without_pair("JU", "SL"))
    row = left_out[(left_out["a"] == "JU") & (left_out["b"] == "SL")].iloc[0]
    assert row["predicted"] == pytest.approx(one.predict_proba([("JU", "SL")])[0], abs=1e-12)


@pytest.mark.fit
def test_a_weight_on_the_boundary_is_zero():
    # Members of the group {a, b} split each other's votes less, not more, than without a shared
    # aspect.
    utilities = {"a": 1.0, "b": 2.0, "c": 1.5, "d": 3.0}
    n, labels = 200, list(utilities)
    u = np.array(list(utilities.values()))
    p = u[:, None] / (u[:, None] + u)
    p[0, 1], p[1, 0] = 0.42, 0.58  # closer to one half than 1/3
    counts = np.round(n * p)
    np.fill_diagonal(counts, 0)
    data = th.PairedComparisons(counts, labels)
    groups = {"a": ["group"], "b": ["group"], "c": [], "d": []}
    model, without = maximised(groups, data), maximised("unique", data)
    assert model.maximum_likelihood.weights()["group"] == 0.0
    assert np.isnan(model.maximum_likelihood.standard_errors()["group"])
    assert model.maximum_likelihood.log_likelihood() == pytest.approx(
        without.maximum_likelihood.log_likelihood(), abs=1e-9
    )
    np.testing.assert_allclose(
        model.maximum_likelihood.weights()[labels], without.maximum_likelihood.weights(), atol=1e-8
    )
    np.testing.assert_allclose(
        model.maximum_likelihood.standard_errors()[labels],
        without.maximum_likelihood.standard_errors(),
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        model.maximum_likelihood.utility_covariance(),
        without.maximum_likelihood.utility_covariance(),
        atol=1e-10,
    )
    assert model.maximum_likelihood.deviance() == pytest.approx(
        without.maximum_likelihood.deviance(), abs=1e-7
    )
    assert model.maximum_likelihood.df() == without.maximum_likelihood.df() - 1
    # The derivative by the weight itself is negative there, so that no positive one fits better.
    sets = sets_of(groups, labels)
    known = model.maximum_likelihood.weights().to_dict()
    at_zero, beside = (log_likelihood(data.counts, sets, known | {"group": g}) for g in (0.0, 1e-4))
    assert beside < at_zero
    # The other way round the group has weight.
    p[0, 1], p[1, 0] = 0.2, 0.8
    counts = np.round(n * p)
    np.fill_diagonal(counts, 0)
    assert (
        maximised(groups, th.PairedComparisons(counts, labels)).maximum_likelihood.weights()[
            "group"
        ]
        > 0.01
    )


def test_never_chosen_is_weight_zero():
    data = th.PairedComparisons([[0, 5, 9], [4, 0, 9], [0, 0, 0]], ["a", "b", "c"])
    model = maximised(data=data)
    np.testing.assert_allclose(model.maximum_likelihood.weights(), [5 / 9, 4 / 9, 0], atol=1e-9)
    assert model.predict_proba([("a", "c"), ("c", "b")]).tolist() == [1.0, 0.0]
    assert model.maximum_likelihood.deviance() == pytest.approx(0.0, abs=1e-9)
    assert model.maximum_likelihood.standard_errors()["a"] == pytest.approx(
        np.sqrt(5 * 4 / 9**3), rel=1e-6
    )


def test_weights_that_shrink_for_ever_are_told():
    single = shared(PORK[0])
    with warned(EstimateWarning, "'C'", "'Cp'"):
        model = maximised(data=single)
    assert model.maximum_likelihood.weights().to_dict() == {"C": 0.0, "Cp": 0.0, "CP": 1.0}
    assert model.maximum_likelihood.deviance() == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(
        model.predict_proba([("CP", "Cp"), ("CP", "C"), ("Cp", "C")]), 1.0, atol=1e-8
    )
    # a always beats b and c, which beat each other 3 : 2; only their ratio says so.
    with pytest.warns(EstimateWarning):
        model = maximised(
            data=th.PairedComparisons([[0, 9, 9], [0, 0, 3], [0, 2, 0]], ["a", "b", "c"])
        )
    assert model.predict_proba([("b", "c")])[0] == pytest.approx(0.6, abs=1e-9)
    assert model.maximum_likelihood.log_likelihood() == pytest.approx(
        np.log(10 * 0.6**3 * 0.4**2), abs=1e-8
    )


@pytest.mark.fit
def test_several_maxima_are_told_apart():
    """From where it starts, a climb may end in a lower maximum; the best of several is kept."""
    data = shared("drugrisk_male31")
    found = maximised(DRUGS, data, lapse=0.01)._estimates_
    pose, nothing = found.problem, np.zeros(0)

    def loss(logs):
        weights = np.exp(logs)
        return -pose.terms(weights, nothing).sum(), -pose.compute_derivatives(
            weights, nothing
        ).gradient

    others = [minimize(loss, rng(seed).normal(0, 3, 8), jac=True).fun for seed in range(15)]
    assert found.maximum.value >= max(-np.array(others)) - 1e-8


@pytest.mark.parametrize(
    "aspects, unique, sentence",
    [
        ({"a": ["x"], "b": [], "c": [], "d": []}, True, ("'a'", "'x'")),
        ({"a": ["x", "y"], "b": ["x", "y"], "c": [], "d": []}, True, ("'x'", "'y'")),
        ({who: ["x"] for who in "abcd"}, True, ("'x'",)),
        ({"a": ["x"], "b": ["y"], "c": ["z"], "d": ["z"]}, False, ("choices can tell",)),
    ],
)
def test_weights_that_nothing_tells_apart_are_named(aspects, unique, sentence):
    counts = np.where(np.eye(4), 0, 5)
    error = (ArgumentError, DataError)
    if not unique:
        # a, b and the pair c, d: the weight of z is told, but c and d are alike; nothing to object
        # to.
        model = maximised(aspects, th.PairedComparisons(counts, list("abcd")), unique=False)
        np.testing.assert_allclose(model.maximum_likelihood.weights(), 1 / 3, atol=1e-9)
        assert model.predict_proba([("c", "d")])[0] == 0.5
        return
    with refused(error, *sentence):
        maximised(aspects, th.PairedComparisons(counts, list("abcd")), unique=unique)


def test_weights_that_these_pairs_do_not_tell_are_named():
    data = th.PairedComparisons.from_pairs([("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")])
    with refused(DataError, "2 groups", "('a' and 'b')", "('c' and 'd')"):
        maximised(data=data)
    counts = np.where(np.eye(4), 0, 5)
    # then nothing sets a against b, and their shared aspect against their own
    counts[0, 1] = counts[1, 0] = 0
    with refused(DataError, "'a'", "'b'", "'x'"):
        maximised(
            {"a": ["x"], "b": ["x"], "c": [], "d": []}, th.PairedComparisons(counts, list("abcd"))
        )


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"aspects": "ibp"}, ("to be inferred from the data",)),
        ({"aspects": 3}, ("to be inferred from the data",)),
        ({"aspects": th.Tree.star(["a", "b"])}, ("to be inferred from the data",)),
        ({"aspects": {**TREE, "LBJ": ["HW"]}}, ("'HW'",)),
        ({"alpha": 1.0}, ("alpha", "method='mcmc'")),
        ({"lapse": 1.0}, ("lapse",)),
    ],
)
def test_bad_arguments_are_refused(arguments, sentence):
    arguments = {"aspects": "unique", "method": "maximum-likelihood"} | arguments
    with refused(ArgumentError, *sentence):
        th.EliminationByAspects(**arguments).fit(th.datasets.celebrities())


def test_unidentified_aspects_are_refused():
    with refused(ArgumentError, "'a'", "'b'"):
        counts = np.where(np.eye(3), 0, 5)
        maximised(
            {"a": ["x"], "b": ["x", "y"], "c": []},
            th.PairedComparisons(counts, list("abc")),
            unique=False,
        )


@pytest.mark.fit
def test_likelihood_ratio_of_nested_models_as_published(btl, tree):
    test = th.likelihood_ratio(btl, tree)
    assert test.statistic == pytest.approx(48.051, abs=5e-4)
    assert test.df == 3
    assert test.p_value == pytest.approx(2.1e-10, rel=0.02)
    assert "on 3 df" in str(test)
    for pair, sentence in [
        ((tree, btl), ("'politician'", "the order")),
        ((btl, btl), ("same aspects",)),
        ((btl, maximised(TREE, lapse=0.01)), ("lapse rates", "0 and 0.01")),
        (
            (btl, maximised(TREE, th.datasets.celebrities().without_pair("JU", "SL"))),
            ("different data",),
        ),
        ((btl, "tree"), ("EliminationByAspects", "maximum likelihood")),
    ]:
        with refused(ArgumentError, *sentence):
            th.likelihood_ratio(*pair)
    with refused(NotFittedError, "EliminationByAspects"):
        th.likelihood_ratio(
            btl, th.EliminationByAspects(aspects="btl", method="maximum-likelihood")
        )


@pytest.mark.fit
def test_answers_by_matrix_frame_and_mapping_agree(tree):
    data = th.datasets.celebrities()
    matrix = np.array(
        [[group in TREE[who] for group in ("politician", "athlete", "star")] for who in data.labels]
    )
    frame = pd.DataFrame(matrix, index=data.labels, columns=["politician", "athlete", "star"]).iloc[
        ::-1
    ]
    for aspects in (matrix, frame, {who: TREE[who] for who in reversed(data.labels)}):
        np.testing.assert_allclose(
            maximised(aspects).maximum_likelihood.weights(),
            tree.maximum_likelihood.weights(),
            atol=1e-10,
        )
    assert list(maximised(matrix).maximum_likelihood.weights().index[-3:]) == [
        "aspect 1",
        "aspect 2",
        "aspect 3",
    ]
    # As R lists them: every option's own aspect among the given ones.
    listed = {who: [who, *TREE[who]] for who in data.labels}
    one_part = maximised(listed, unique=False)
    np.testing.assert_allclose(
        one_part.maximum_likelihood.weights()[tree.maximum_likelihood.weights().index],
        tree.maximum_likelihood.weights(),
        atol=1e-10,
    )


def test_intervals_and_residuals_follow_their_definitions(tree):
    table = tree.summary()
    assert list(table.columns) == ["weight", "std_error", "z", "p_value", "low", "high"]
    for ci, reach in ((0.89, 1.598193), (0.95, 1.959964)):
        wide = tree.summary(ci=ci)
        shared = wide[wide["z"].notna()]
        half = reach * shared["std_error"]
        np.testing.assert_allclose(
            shared["low"], (shared["weight"] - half).clip(lower=0.0), rtol=1e-6
        )
        np.testing.assert_allclose(
            shared["high"], (shared["weight"] + half).clip(upper=1.0), rtol=1e-6
        )
        assert wide.attrs["interval"] == ci
    with refused(ArgumentError, "ci", "be in (0, 1)"):
        tree.summary(ci=95)
    assert table.attrs["deviance"] == tree.maximum_likelihood.deviance()
    own = table.index.isin(
        tree.maximum_likelihood.utility_scale().index
    )  # whose weights no hypothesis makes zero
    assert table.loc[own, ["z", "p_value"]].isna().all(axis=None) and not table.loc[
        ~own
    ].isna().any(axis=None)
    np.testing.assert_allclose(table.loc[~own, "z"], (table["weight"] / table["std_error"])[~own])
    for kind, total_of_squares in (
        ("deviance", tree.maximum_likelihood.deviance()),
        ("pearson", tree.maximum_likelihood.pearson()),
    ):
        found = tree.maximum_likelihood.residuals(kind)
        assert (found["residual"] ** 2).sum() == pytest.approx(total_of_squares, abs=1e-8)
        assert (np.sign(found["residual"]) == np.sign(found["observed"] - found["predicted"])).all()
        np.testing.assert_allclose(
            found["predicted"],
            tree.predict_proba(list(zip(found["a"], found["b"], strict=True))),
            atol=1e-14,
        )
    with refused(ArgumentError, "kind"):
        tree.maximum_likelihood.residuals("raw")


@pytest.mark.long
@pytest.mark.fit
def test_intervals_of_unique_weights_are_inside_0_and_1_and_symmetric_in_log_odds():
    # the first has nearly all of the weight
    counts = [[0, 20, 20, 19], [1, 0, 10, 12], [0, 8, 0, 9], [1, 6, 10, 0]]
    table = (
        th.EliminationByAspects("unique", method="maximum-likelihood")
        .fit(th.PairedComparisons(counts))
        .summary()
    )
    weight, error = table["weight"], table["std_error"]
    assert (weight + 1.598193 * error).max() > 1.0  # which symmetric ends of the weight are not
    ends = table[["low", "high"]].to_numpy()
    assert ((ends > 0.0) & (ends < 1.0)).all()
    half = 1.598193 * error / (weight * (1.0 - weight))
    log_odds = np.log(ends / (1.0 - ends)) - np.log(weight / (1.0 - weight)).to_numpy()[:, None]
    np.testing.assert_allclose(log_odds, np.column_stack([-half, half]), rtol=1e-6)


@pytest.mark.fit
def test_it_is_a_method_of_elimination_by_aspects(tree):
    assert type(tree) is th.EliminationByAspects and not hasattr(tree, "posterior_")
    for ask in (
        lambda: tree.features(),
        lambda: tree.ranks(),
        lambda: tree.check(),
        lambda: tree.log_evidence(),
    ):
        with refused(ArgumentError, "method='mcmc'", "require `method='mcmc'`"):
            ask()
    with refused(ArgumentError, "got `method='maximum-likelihood'`"):
        tree.predict_proba([("LBJ", "HW")], return_se=True)
    with refused(ArgumentError, "method='maximum-likelihood'"):
        tree.sample_prior(th.datasets.celebrities())
    with refused(ArgumentError, "cannot be changed"):
        copy.copy(tree).set_params(method="mcmc")
    drawn = th.EliminationByAspects("unique").fit(
        th.datasets.celebrities(), draws=2, tune=0, chains=2, random_seed=1, progressbar=False
    )
    assert not hasattr(drawn, "maximum_likelihood")
    for ask in (
        lambda: drawn.maximum_likelihood.weights(),
        lambda: drawn.maximum_likelihood.fit_test(),
        lambda: drawn.maximum_likelihood.residuals(),
    ):
        with refused(NotFittedError, "method='maximum-likelihood'", "got `method='mcmc'`"):
            ask()
    changed = th.EliminationByAspects("unique").set_params(method="maximum-likelihood")
    assert changed.fit(th.datasets.celebrities()).maximum_likelihood.df() > 0
    assert (
        tree.convergence().agrees
        and str(tree.convergence()) == "Converged to a maximum of the likelihood."
    )


@pytest.mark.parametrize("wrong", [{"alpha": 1.0}, {"tempering": [1, 2]}])
def test_arguments_of_chains_are_refused_with_every_name_of_the_method(wrong):
    for method in ("maximum-likelihood", "ML"):
        model = th.EliminationByAspects("unique", method=method, **wrong)
        for ask in (model.fit, model.prepare):
            with refused(ArgumentError, next(iter(wrong)), "method='mcmc'"):
                ask(th.datasets.celebrities())


@pytest.mark.parametrize(
    "wrong",
    [
        {"draws": 9},
        {"tune": 9},
        {"chains": 2},
        {"thin": 2},
        {"cores": 1},
        {"job": "folder"},
        {"max_time": 9.0},
    ],
)
def test_settings_of_runs_of_chains_are_refused(wrong):
    model = th.EliminationByAspects("unique", method="maximum-likelihood")
    with refused(ArgumentError, next(iter(wrong)), "method='mcmc'"):
        model.fit(th.datasets.celebrities(), **wrong)


@pytest.mark.fit
def test_fractional_counts_and_never_compared_pairs():
    data = th.paired.half_wins(total(PORK), np.ones((3, 3)) - np.eye(3))
    model = maximised(data=data)
    assert (data.wins % 1 != 0).any() and np.isfinite(model.maximum_likelihood.log_likelihood())
    # Three options and two pairs: the weights are known in closed form.
    chain = th.PairedComparisons([[0, 6, 0], [2, 0, 5], [0, 5, 0]], list("abc"))
    np.testing.assert_allclose(
        maximised(data=chain).maximum_likelihood.weights(), np.array([3, 1, 1]) / 5, atol=1e-12
    )


def test_choices_between_pairs_are_paired_comparisons():
    data = th.datasets.celebrities()
    fitted = th.EliminationByAspects("unique", lapse=0.0, method="maximum-likelihood").fit(
        th.Choices.from_comparisons(data)
    )
    assert fitted.maximum_likelihood.log_likelihood() == pytest.approx(-143.0394949464)


def test_larger_sets_are_predicted():
    fitted = th.EliminationByAspects("unique", lapse=0.1, method="maximum-likelihood").fit(
        th.datasets.celebrities()
    )
    u = fitted.maximum_likelihood.weights()
    (found,) = fitted.predict_proba([["LBJ", "HW", "CDG"]])
    assert found == pytest.approx(
        0.9 * u[["LBJ", "HW", "CDG"]].to_numpy() / u[["LBJ", "HW", "CDG"]].sum() + 0.1 / 3
    )
    pair = [["LBJ", "HW"]]
    assert (
        fitted.predict_proba(th.Choices.from_comparisons(th.datasets.celebrities()))[0][0]
        == fitted.predict_proba(pair)[0]
    )
    triple = th.Choices(
        pd.DataFrame({"task": [1, 1, 1], "alt": ["a", "b", "c"], "choice": [1, 0, 0]})
    )
    with refused(DataError, "'a'", "'b'", "'c'", "choices from 3"):
        maximised({"a": ["x"], "b": ["x"], "c": []}, triple)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounding_does_not_choose_among_equal_maxima(seed, monkeypatch):
    """Two options that are chosen as often may share any part of their weight: the equal start
    decides."""
    data = th.PairedComparisons(5 * (np.ones((4, 4), int) - np.eye(4, dtype=int)), list("abcd"))
    model = th.EliminationByAspects(np.array([[1], [1], [0], [0]]), method="maximum-likelihood")
    found = model.fit(data, random_seed=1).maximum_likelihood.weights()
    problem = type(model._estimates_.problem)
    rng, exact = np.random.default_rng(seed), problem.terms

    def rounded(*given):
        values = exact(*given)
        return values * (1.0 + 8.0 * np.finfo(float).eps * rng.uniform(-1.0, 1.0, values.shape))

    monkeypatch.setattr(problem, "terms", rounded)
    # where the likelihood is flat, a step is rounding / 1e-10
    np.testing.assert_allclose(
        model.fit(data, random_seed=1).maximum_likelihood.weights(), found, atol=1e-5
    )
