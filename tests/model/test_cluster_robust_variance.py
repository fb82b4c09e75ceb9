"""Variances over respondents of small problems, against loops over respondents."""

import numpy as np
import pytest
from helpers.naive import respondent_scores as naive
from scipy.sparse import csr_array
from scipy.stats import chi2

from thali._model import cluster_robust_variance
from thali._model.answers_by_respondent import AnswersByRespondent
from thali._model.cluster_robust_variance import (
    AnswerScores,
    RespondentScores,
    RespondentVariance,
    ScoreVariance,
    compute_score_variance,
    expect_answers,
    inverse_root,
    raise_improbable_variance,
)
from thali._posterior.respondent_dependence import Dependence

POINT = np.ones(1), np.zeros(0)  # weights and coefficients, which these problems need not know


class KnownScores(AnswerScores):
    """Scores of outcomes at one point, which is asked for as weights and coefficients."""

    def compute_derivatives(self, weights, beta):
        assert weights is POINT[0] and beta is POINT[1]
        return super().compute_derivatives(weights, beta)

    def compute_scores(self, tally, weights, beta):
        assert weights is POINT[0] and beta is POINT[1]
        return super().compute_scores(tally, weights, beta)

    def expect_outcomes(self, tally, weights, beta):
        assert weights is POINT[0] and beta is POINT[1]
        return super().expect_outcomes(tally, weights, beta)


class Study:
    """Choices of respondents among the answers to questions, by a logit with known coefficients."""

    def __init__(self, n_answers, sizes=(3, 2, 4, 3), n_parameters=3, seed=0):
        rng = np.random.default_rng(seed)
        self.sizes, x = np.array(sizes), rng.normal(size=(sum(sizes), n_parameters))
        question = np.repeat(np.arange(len(sizes)), sizes)
        weights = np.exp(x @ rng.normal(size=n_parameters))
        self.p = weights / np.bincount(question, weights)[question]
        means = np.array([self.p[question == q] @ x[question == q] for q in range(len(sizes))])
        self.gradients = x - means[question]
        self.tally = np.zeros((len(n_answers), len(x)))
        for s, number in enumerate(n_answers):
            # a respondent of one answer is asked one of the questions in turn
            asked = rng.integers(len(sizes), size=number) if number > 1 else [s % len(sizes)]
            for q in asked:
                answers = np.flatnonzero(question == q)
                self.tally[s, rng.choice(answers, p=self.p[answers])] += 1.0
        self.informations = naive.informations(self.tally, self.sizes, self.p, self.gradients)
        self.scores = self.tally @ self.gradients
        self.information = self.informations.sum(axis=0)
        self.problem = KnownScores(
            csr_array(self.gradients),
            self.p,
            self.sizes,
            self.scores.sum(axis=0),
            -self.information,
        )

    def with_prior(self, precision=0.5):
        """Return the curvature with a prior, its root, and scores in the coordinates of the root."""
        curvature = self.information + precision * np.eye(len(self.information))
        root = inverse_root(curvature, 1e-9)
        tally = csr_array(self.tally)
        return curvature, root, RespondentScores(self.problem, tally, *POINT, root)


# respondents with few and with many answers, of whom one has most of the information
STUDIES = {
    "few": (Study([3, 4, 2, 9, 5]), 1e-3),
    "one of much": (Study([60, *[3] * 30], seed=1), 1e-3),
    "light": (Study([5] * 60, seed=2), 1e-3),
}
BLOCKS = [2**21, 40, 7]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", STUDIES)
def test_variances_are_those_of_a_loop_over_respondents(name, block, monkeypatch):
    monkeypatch.setattr(cluster_robust_variance, "BLOCK", block)
    study, tolerance = STUDIES[name]
    curvature, root, scores = study.with_prior()
    z = naive.adjusted_scores(curvature, study.informations, study.scores)
    whole = naive.power(curvature, -0.5)
    np.testing.assert_allclose(scores.correct_scores() @ root.T, z @ whole, rtol=1e-10, atol=1e-12)
    found = scores.variance
    expected = naive.sandwich(curvature, study.informations, study.scores)
    np.testing.assert_allclose(root @ found.variance @ root.T, expected, rtol=tolerance, atol=1e-5)
    pull = np.linalg.solve(study.information, study.scores.sum(axis=0))
    about_pull = study.scores - np.array([each @ pull for each in study.informations])
    expected = naive.sandwich(curvature, study.informations, about_pull)
    np.testing.assert_allclose(
        root @ found.about_pull @ root.T, expected, rtol=tolerance, atol=1e-5
    )
    leverages = np.array([np.trace(whole @ each @ whole) for each in study.informations])
    assert found.share == pytest.approx(leverages.max() / leverages.sum(), rel=1e-12)
    assert found.concentration == pytest.approx(
        (leverages**2).sum() / leverages.sum() ** 2, rel=1e-12
    )
    trace = np.trace(
        np.linalg.solve(study.information, curvature @ root @ found.variance @ root.T @ curvature)
    )
    assert (found.rank, found.trace) == (3, pytest.approx(trace, rel=1e-9))
    assert found.design_effect == pytest.approx(trace / 3, rel=1e-9)
    expected = max(0.0, trace / 3 - 1.0) / found.concentration
    assert found.correlation == pytest.approx(expected, rel=1e-9)


def test_light_leverages_take_as_many_terms_as_four_digits_need():
    for n_answers in (4, 12, 40):
        study = Study([n_answers] * 400, seed=3)
        curvature, root, scores = study.with_prior()
        expected = naive.sandwich(curvature, study.informations, study.scores)
        np.testing.assert_allclose(
            root @ scores.variance.variance @ root.T, expected, rtol=1e-4, atol=1e-9
        )


def wishart_degrees(study, curvature, contrasts):
    """Degrees of freedom of the covariance matrix of q contrasts, by loops over all pairs."""
    root, one = naive.power(curvature, -0.5), np.eye(len(curvature))
    b = root @ contrasts
    values, vectors = np.linalg.eigh(b.T @ root @ study.information @ root @ b)
    b = b @ vectors / np.sqrt(values)
    leverages = [root @ each @ root for each in study.informations]
    pulls = [naive.power(one - m, -0.5) @ m @ b for m in leverages]
    variance = 0.0
    for s, p in enumerate(pulls):
        for t, other in enumerate(pulls):
            matrix = b.T @ leverages[s] @ b if s == t else p.T @ other
            variance += np.trace(matrix) ** 2 + np.trace(matrix @ matrix)
    q = contrasts.shape[1]
    return q * (q + 1) / variance


CONTRASTS = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, 1.0], [2.0, 0.1, -0.3]])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["few", "one of much"])
def test_degrees_of_freedom_are_those_of_a_loop_over_pairs_of_respondents(name, block, monkeypatch):
    monkeypatch.setattr(cluster_robust_variance, "BLOCK", block)
    study, tolerance = STUDIES[name]
    curvature, _, scores = study.with_prior(1e-9)
    found = scores.degrees_of_freedom(CONTRASTS[..., None])
    expected = naive.degrees_of_freedom(curvature, study.informations, study.scores, CONTRASTS)
    np.testing.assert_allclose(found, np.fmax(expected, 1.0), rtol=tolerance)
    curvature, _, scores = study.with_prior()
    found = scores.degrees_of_freedom(CONTRASTS[..., None], is_correlated=False)
    expected = [naive._degrees(curvature, study.informations, each, 0.0) for each in CONTRASTS]
    np.testing.assert_allclose(found, np.fmax(expected, 1.0), rtol=1e-9)
    for pair in (CONTRASTS[:2].T, CONTRASTS[1:].T):
        found = scores.degrees_of_freedom(pair[None])
        expected = wishart_degrees(study, curvature, pair)
        assert found == pytest.approx(max(expected, 1.0), rel=1e-9)


def test_respondents_with_fewer_answers_than_contrasts():
    study = Study([1] * 24, sizes=(2, 2, 2, 2), seed=4)
    curvature, _, scores = study.with_prior()
    found = scores.degrees_of_freedom(CONTRASTS.T[None])
    assert found == pytest.approx(wishart_degrees(study, curvature, CONTRASTS.T), rel=1e-9)


def test_many_respondents_have_no_covariances_between_their_scores(monkeypatch):
    monkeypatch.setattr(cluster_robust_variance, "MANY_RESPONDENTS", 5)
    study, _ = STUDIES["few"]
    curvature, _, scores = study.with_prior()
    root = naive.power(curvature, -0.5)
    shares = []
    for contrast in CONTRASTS:
        b = naive._direction(curvature, study.informations, contrast)
        shares.append([b @ root @ each @ root @ b for each in study.informations])
    phi = scores.variance.correlation
    expected = []
    for x in np.array(shares):
        inverse = [(((1 + k * x) * x) ** 2).sum() / ((1 + k * x) @ x) ** 2 for k in (0.0, phi)]
        expected.append(1.0 / np.mean(inverse))
    np.testing.assert_allclose(scores.degrees_of_freedom(CONTRASTS[..., None]), expected, rtol=1e-9)
    monkeypatch.setattr(cluster_robust_variance, "MANY_RESPONDENTS", 6)
    assert (scores.degrees_of_freedom(CONTRASTS[..., None]) != expected).all()


def test_a_contrast_without_information_has_no_degrees_and_one_respondent_has_one():
    study = Study([6])
    _, _, scores = study.with_prior(0.0)
    unknown = np.zeros((1, 3, 1))
    assert scores.degrees_of_freedom(CONTRASTS[..., None]).tolist() == [1.0, 1.0, 1.0]
    assert scores.degrees_of_freedom(unknown)[0] == 1.0
    assert scores.variance.share == pytest.approx(1.0)


def test_a_likelihood_that_curves_up_has_no_maximum():
    study, _ = STUDIES["few"]
    _, root, scores = study.with_prior()
    assert scores.has_maximum
    for share, has_maximum in ((0.5e-6, True), (2e-6, False)):
        values = np.array([1.0, 2.0, -2.0 * share])
        problem = study.problem._replace(hessian=-np.diag(values))
        curved = RespondentScores(problem, csr_array(study.tally), *POINT, np.eye(len(root)))
        assert curved.has_maximum == has_maximum


def test_the_root_of_an_inverse_leaves_out_directions_without_information():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    matrix = turn @ np.diag([4.0, 1.0, 1e-3]) @ turn.T
    for min_share, inverse in ((1e-4, [0.25, 1.0, 1e3]), (1e-3, [0.25, 1.0, 0.0])):
        root = inverse_root(matrix, min_share)
        assert root.shape == (3, np.count_nonzero(inverse))
        np.testing.assert_allclose(root @ root.T, turn @ np.diag(inverse) @ turn.T, atol=1e-9)
    assert inverse_root(np.zeros((2, 2)), 1e-9).shape == (2, 0)


@pytest.mark.parametrize(("per_contrast", "independent"), [(0.5, 1.0), (3.0, 1.0), (0.5, 2.5)])
def test_variances_below_a_percentile_of_chi_square_are_raised(per_contrast, independent):
    df = 6.0
    limit = independent * chi2.ppf(0.01, df) / df
    about_pull = np.diag([0.99 * limit, 1.01 * limit, 0.5 * limit])
    variance = np.diag([0.01, 0.01, 9.0])
    found = raise_improbable_variance(
        ScoreVariance(variance, about_pull, 0.1, 1.0, 3, 1.0), df, per_contrast, independent
    )
    least = independent * min(1.0, per_contrast) ** 3
    np.testing.assert_allclose(found, np.diag([max(least, 0.01), 0.01, 9.0]), atol=1e-12)
    found = raise_improbable_variance(
        ScoreVariance(variance, 0.5 * limit * np.eye(3), 0.1, 1.0, 3, 1.0),
        df,
        per_contrast,
        independent,
    )
    np.testing.assert_allclose(found, np.diag([independent, independent, 9.0]), atol=1e-12)


def test_the_variance_of_respondents_widens_deviations():
    study, _ = STUDIES["few"]
    _, root, scores = study.with_prior()
    degrees = np.array([7.0, 3.0, 4.0])
    found = RespondentVariance(scores.variance, root, degrees, 0.5, 1.0)
    assert found.df == 4.0
    widened = found.matrix() @ root @ root.T @ found.matrix().T
    np.testing.assert_allclose(widened, root @ found.score_covariance @ root.T, atol=1e-10)
    expected = raise_improbable_variance(scores.variance, 4.0, 0.5, 1.0)
    np.testing.assert_array_equal(found.score_covariance, expected)
    assert found.expand_degrees(3, 5).tolist() == [7.0, 3.0, 4.0, 4.0, 4.0]
    assert found.expand_degrees(4, 5).tolist() == [4.0] * 5
    said = found.describe(Dependence("adjusted", "", 5, 23.0, 9.0, 1.2))
    assert (said.by, said.df, said.share) == ("scores", 4.0, scores.variance.share)


def test_scores_are_whitened_by_their_own_information():
    study, _ = STUDIES["few"]
    clusters = AnswersByRespondent(csr_array(study.tally))
    found = compute_score_variance(study.problem, clusters, *POINT)
    _, _, scores = study.with_prior(0.0)
    np.testing.assert_allclose(
        np.sort(np.linalg.eigvalsh(found.variance)),
        np.sort(np.linalg.eigvalsh(scores.variance.variance)),
        rtol=1e-9,
    )
    assert found.design_effect == pytest.approx(np.trace(found.variance) / 3, rel=1e-9)
    empty = found._replace(rank=0)
    assert np.isnan(empty.design_effect) and empty.correlation == 0.0


def test_expected_answers_are_as_many_as_were_asked():
    tally = csr_array(np.array([[2.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 3.0]]))
    p = np.array([0.25, 0.75, 0.5, 0.3, 0.2])
    expected = expect_answers(tally, np.array([2, 3]), p).toarray()
    np.testing.assert_allclose(expected, [[0.5, 1.5, 0.5, 0.3, 0.2], [0, 0, 1.5, 0.9, 0.6]])
