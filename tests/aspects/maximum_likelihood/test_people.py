"""Standard errors and tests over people, against gradients, the bootstrap, and simulated answers
that depend."""

import numpy as np
import pandas as pd
import pytest
from helpers.naive import respondent_scores as naive_scores
from helpers.paired_cases import maximised
from helpers.sentences import refused, said
from scipy.sparse import eye_array
from scipy.special import chdtrc, ndtri
from scipy.stats import f as fisher
from scipy.stats import t as student

import thali as th
from thali._model.cluster_robust_variance import RespondentScores, inverse_root
from thali.errors import ArgumentError, DataError

OPTIONS = list("ABCDE")
FIRST, SECOND = np.triu_indices(5, 1)


def answers(people=40, alike=0.6, seed=0, ties=False):
    """A row a person and pair: each person's answers share a normal deviation of every option."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-0.7, 0.7, 5)
    p = 1.0 / (1.0 + np.exp(worth[SECOND] - worth[FIRST]))
    own = rng.normal(size=(people, 5))
    lean = np.sqrt(alike / 2) * (own[:, FIRST] - own[:, SECOND]) + np.sqrt(1 - alike) * rng.normal(
        size=(people, 10)
    )
    won = np.where(lean < ndtri(p), "first", "second")
    if ties:
        won[rng.random(won.shape) < 0.2] = "tie"
    who, pair = (part.ravel() for part in np.indices(won.shape))
    names = np.array(OPTIONS)
    rows = dict(
        respondent=who, first=names[FIRST][pair], second=names[SECOND][pair], chosen=won.ravel()
    )
    return pd.DataFrame(rows).assign(sex=np.where(who % 2, "f", "m"))


def comparisons(**settings):
    return th.PairedComparisons.from_trials(answers(**settings), respondent="respondent")


ASPECTS = {"A": ["x"], "B": ["x", "y"], "C": ["y"], "D": [], "E": []}
CASES = {
    "pairs": (comparisons, {}),
    "aspects and lapse": (comparisons, {"aspects": ASPECTS, "lapse": 0.05}),
    "ties": (lambda: comparisons(ties=True), {"ties": "davidson", "lapse": 0.02}),
}


@pytest.mark.parametrize("name", CASES)
def test_scores_are_the_gradients_of_each_person(name):
    make, settings = CASES[name]
    data = make()
    found = maximised(data=data, **settings)._estimates_
    rng = np.random.default_rng(2)
    weights, beta = (
        rng.gamma(1.0, size=len(found.weights)),
        0.3 * rng.normal(size=len(found.maximum.beta)),
    )
    clusters = found.clusters
    each = found.problem.compute_scores(clusters.tally, weights, beta)
    np.testing.assert_allclose(
        each.sum(axis=0),
        found.problem.compute_derivatives(weights, beta).gradient,
        rtol=1e-9,
        atol=1e-9,
    )
    point, step = np.concatenate([np.log(weights), beta]), 1e-6
    for person in (0, clusters.n_respondents - 1):
        counts = clusters.tally[[person]].toarray()[0]
        numeric = []
        for k in range(len(point)):
            up, down = point.copy(), point.copy()
            up[k] += step
            down[k] -= step
            ends = [
                np.log(found.problem.probabilities(np.exp(z[: len(weights)]), z[len(weights) :]))
                for z in (up, down)
            ]
            numeric.append(counts @ (ends[0] - ends[1]) / (2 * step))
        np.testing.assert_allclose(each[person], numeric, atol=1e-6)


def test_the_covariance_is_the_sandwich():
    """The weights of the Bradley-Terry model by hand, with the last logarithm fixed at 0."""
    data = comparisons()
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    log_worth = np.log(model.maximum_likelihood.weights().to_numpy())[:-1] - np.log(
        model.maximum_likelihood.weights()["E"]
    )
    design = np.zeros((10, 4))
    for pair, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
        design[pair, i] = 1.0
        if j < 4:
            design[pair, j] = -1.0
    p = 1.0 / (1.0 + np.exp(-design @ log_worth))
    bread = np.linalg.inv((design * (40 * p * (1 - p))[:, None]).T @ design)
    each = np.stack([(one.wins - p) @ design for one in data.by_respondent().values()])
    covariance = bread @ (40 / 39 * each.T @ each) @ bread
    w = model.maximum_likelihood.weights().to_numpy()
    jacobian = (np.diag(w) - np.outer(w, w))[:, :4]
    np.testing.assert_allclose(
        model.maximum_likelihood.standard_errors() ** 2,
        np.diag(jacobian @ covariance @ jacobian.T),
        rtol=2e-5,
    )  # a series
    table = model.summary(ci=0.95)
    log_odds = np.log(table[["weight", "high"]] / (1.0 - table[["weight", "high"]]))
    reach = (log_odds["high"] - log_odds["weight"]) / (table["std_error"] / (w * (1.0 - w)))
    # Student's t with 39 degrees of freedom
    np.testing.assert_allclose(reach, 2.0226909, rtol=1e-6)
    independent = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        th.PairedComparisons(data.counts, data.labels)
    )
    np.testing.assert_allclose(
        table["std_error_independent"], independent.maximum_likelihood.standard_errors(), rtol=1e-9
    )
    assert (
        "std_error_independent" not in independent.summary()
        and (table["std_error"].iloc[1:4].to_numpy() > 0).all()
    )


@pytest.mark.fit
def test_standard_errors_and_tests_of_unequal_respondents():
    """The Bradley-Terry model by hand: covariance, degrees of freedom of each weight, and of two
    contrasts together."""
    frame = pd.concat([answers(people=12), *[answers(people=3, seed=5)] * 6])
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        th.PairedComparisons.from_trials(frame, respondent="respondent")
    )
    found, w = model._estimates_, model.maximum_likelihood.weights().to_numpy()
    pose, tally = found.problem, found.clusters.tally
    gradients = pose.compute_scores(eye_array(tally.shape[1], format="csr"), w, np.zeros(0))
    parts = naive_scores.informations(tally.toarray(), pose.sizes, found.fitted(), gradients)
    curvature, jacobian = parts.sum(axis=0), np.diag(w) - np.outer(w, w)
    covariance = jacobian @ naive_scores.sandwich(curvature, parts, tally @ gradients) @ jacobian.T
    np.testing.assert_allclose(
        model.maximum_likelihood.standard_errors() ** 2, np.diag(covariance), rtol=1e-6
    )
    degrees = naive_scores.degrees_of_freedom(curvature, parts, tally @ gradients, jacobian)
    assert found.error_df == pytest.approx(np.median(degrees), rel=1e-6) and found.error_df < 8.0
    one = th.paired.wald_test(model, {"A": 1, "B": -1})
    contrast = jacobian[0] - jacobian[1]
    df = naive_scores.degrees_of_freedom(curvature, parts, tally @ gradients, [contrast])[0]
    z = (w[0] - w[1]) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert one.p_value == pytest.approx(2 * student.sf(abs(z), df), rel=1e-6)
    assert one.table["p_value"].iloc[0] == pytest.approx(one.p_value, rel=1e-9)
    # the covariance of two contrasts as a Wishart matrix, by simulated scores with the variances of
    # independent answers
    scores, rng = (
        RespondentScores(pose, tally, w, np.zeros(0), inverse_root(curvature, 1e-9)),
        np.random.default_rng(1),
    )
    half = inverse_root(curvature, 1e-9)
    both = np.stack([contrast, jacobian[0] - jacobian[2]])
    side = half.T @ both.T
    basis = side @ np.linalg.inv(np.linalg.cholesky(side.T @ side)).T
    leverages = np.array([half.T @ part @ half for part in parts])
    roots = np.array([np.linalg.cholesky(m + 1e-12 * np.eye(len(m))) for m in leverages])
    stretch = np.array([naive_scores.power(np.eye(len(m)) - m, -0.5) for m in leverages])
    entries = []
    for _ in range(4_000):
        e = np.einsum("srq,sq->sr", roots, rng.normal(size=(len(parts), len(half.T))))
        z = np.einsum("srq,sq->sr", stretch, e - leverages @ e.sum(axis=0)) @ basis
        entries.append((z.T @ z).ravel())
    df = scores.degrees_of_freedom(both.T[None])[0]
    assert df == pytest.approx(6.0 / np.var(entries, axis=0).sum(), rel=0.1)  # four standard errors
    fewer = th.paired.wald_test(model, [{"A": 1, "B": -1}, {"A": 1, "C": -1}])
    assert fewer.p_value == pytest.approx(
        fisher.sf(fewer.statistic * (df - 1) / (2 * df), 2, df - 1), rel=1e-6
    )


def test_more_contrasts_than_degrees_of_freedom_are_refused():
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        comparisons(people=4, seed=2)
    )
    with refused(ArgumentError, "4 contrasts", "3 degrees"):
        th.paired.wald_test(model, [{"A": 1, other: -1} for other in "BCDE"])


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_the_test_of_fit_holds_its_size_though_answers_depend():
    """At 5 % of 60 sets: 3 expected; more than 9 or a mean p far from a half has a probability
    below .001."""
    over_people, design = [], []
    for seed in range(60):
        found = maximised(data=comparisons(people=40, alike=0.8, seed=100 + seed))._estimates_
        effect = found.design_effect()
        over_people.append(effect.p_value(found.deviance))
        design.append(effect.mean)
    assert 0.35 < np.mean(over_people) < 0.68 and np.sum(np.array(over_people) < 0.05) <= 9
    assert np.mean(design) < 0.8  # the tests of independent answers would say nothing


@pytest.mark.fit
def test_nested_models_differ_by_a_sum_of_chi_squares():
    data = comparisons(people=60)
    small = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    large = th.EliminationByAspects(ASPECTS, method="maximum-likelihood").fit(data)
    found = th.likelihood_ratio(small, large)
    assert (
        f"p = {found.p_value:.3f}, adjusted for clustering by respondent (60 respondents)"
        in found.note
    )
    effect = small._estimates_.design_effect(large._estimates_)
    assert found.p_value == pytest.approx(chdtrc(effect.df, found.statistic / effect.scale))
    # every person answering the same twice doubles the statistic and the effect, and changes no
    # decision
    twice = pd.concat([answers(people=60)] * 2)
    data = th.PairedComparisons.from_trials(twice, respondent="respondent")
    again = [
        th.EliminationByAspects(a, method="maximum-likelihood").fit(data)
        for a in ("unique", ASPECTS)
    ]
    assert th.likelihood_ratio(*again).statistic == pytest.approx(2 * found.statistic, rel=1e-5)
    assert th.likelihood_ratio(*again).p_value == pytest.approx(found.p_value, rel=1e-4)
    assert again[0].maximum_likelihood.fit_test().p_value == pytest.approx(
        small.maximum_likelihood.fit_test().p_value, rel=1e-5
    )
    np.testing.assert_allclose(
        again[0].maximum_likelihood.standard_errors(),
        small.maximum_likelihood.standard_errors(),
        rtol=1e-6,
    )


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.EstimateWarning")
def test_weights_of_zero_do_not_make_a_larger_model_significant():
    """Where no option shares an aspect, and the larger model has weights at the limit of 0."""
    zeros = 0
    for seed in range(12):
        data = th.PairedComparisons.from_trials(answers(20, 0.0, seed), respondent="respondent")
        small, large = (
            th.EliminationByAspects(aspects, method="maximum-likelihood").fit(data)
            for aspects in ("unique", ASPECTS)
        )
        zeros += (large._estimates_.weights == 0.0).any()
        # about 1, since all answers are independent
        assert 0.2 < small._estimates_.design_effect(large._estimates_).mean < 4.0, seed
    assert zeros > 3


@pytest.mark.fit  # for its time
@pytest.mark.usefixtures("few_replicates")
def test_few_people_are_said_to_be_few():
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        comparisons(people=8)
    )
    said(model.findings()["weights"].notes[-1], "9 respondents", "5 more")
    assert (
        model.maximum_likelihood.fit_test().n_respondents == 0
        and "std_error_independent" in model.summary()
    )
    assert "clustered by respondent (8)" in str(model)
    enough = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        comparisons(people=9)
    )
    assert enough.maximum_likelihood.fit_test(samples=19).n_respondents == 9
    said(enough.findings()["independence"].sentence, "9 respondents", "8 degrees of freedom")


def test_people_stay_in_choices_and_back():
    data = comparisons(people=12)
    choices = th.Choices.from_comparisons(data)
    assert (
        choices.respondents == data.respondents and choices.to_comparisons().answers == data.answers
    )
    assert data != choices.to_comparisons()  # which do not say what was first
    assert list(choices.to_comparisons().people.columns) == ["sex"]
    models = [
        th.EliminationByAspects("unique", method="maximum-likelihood").fit(each)
        for each in (data, choices)
    ]
    pd.testing.assert_series_equal(
        models[0].maximum_likelihood.standard_errors(),
        models[1].maximum_likelihood.standard_errors(),
    )


def test_people_independent_ignores_who_answered():
    data = comparisons(people=20)
    model, adjusted = (
        th.EliminationByAspects("unique", method="maximum-likelihood", people=people).fit(data)
        for people in ("independent", "adjusted")
    )
    unknown = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        th.PairedComparisons(data.counts, data.labels)
    )
    pd.testing.assert_frame_equal(model.summary(), unknown.summary())
    assert "independence" not in unknown.findings().keys()
    assert (
        model._estimates_.fit_test().n_respondents
        == 0
        < adjusted._estimates_.fit_test().n_respondents
    )
    effect = adjusted._estimates_.people.effect
    assert model._estimates_.people.effect == effect > 1.1
    said(model.findings()["independence"].sentence, "too narrow", "people='adjusted'")
    said(adjusted.findings()["independence"].sentence, "200 answers", f"effect {effect:.2g}")
    with refused(DataError, "people='adjusted'", "respondent"):
        adjusted.fit(th.PairedComparisons(data.counts, data.labels))
    with refused(ArgumentError, "people", "Individuals"):
        adjusted.set_params(people=th.people.Individuals()).fit(data)


@pytest.mark.fit
def test_a_likelihood_ratio_is_shown_beside_that_of_independent_answers():
    models = [
        th.EliminationByAspects(a, method="maximum-likelihood").fit(comparisons(people=60))
        for a in ("unique", ASPECTS)
    ]
    found = th.likelihood_ratio(*models)
    plain = chdtrc(found.df, found.statistic)
    assert found.independent_p_value == pytest.approx(plain) != found.p_value
    said(
        found.note,
        "clustering by respondent (60 respondents)",
        f"{plain:.3f} if all answers were independent",
    )
    models = [
        model.set_params(people="independent").fit(comparisons(people=60)) for model in models
    ]
    found = th.likelihood_ratio(*models)
    assert found.p_value == found.independent_p_value == pytest.approx(plain)
    said(found.note, "answers of each respondent are treated as independent")
