"""The likelihood with weights integrated out: one weight exactly, several against known
posteriors."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import gammaln

from thali._aspects.results.feature_set_search import (
    FeatureTerms,
    log_evidence,
    log_feature_gain,
    maximise_weights,
)
from thali.priors import IndianBuffet

PRINTED = [
    ((1, 0.3, 0.01, 1, 1), 2.819485884),
    ((6, 2.5, 0.01, 1, 1), 49.387973706),
    ((3, -0.4, 0.0025, 1, 10), -2.871115940),
    ((10, -3, 0.0025, 1, 10), -4.798504186),
    ((45, 20, 0.09, 1, 1), 46.750906089),
    ((1, 0.3, 0.01, 2, 4), 3.422431387),
    ((6, 2.5, 0.01, 2, 4), 50.031464309),
    ((3, -0.4, 0.0025, 2, 10), -5.776533766),
    ((45, 20, 0.09, 2, 4), 47.376067291),
    ((6, 2.5, 0.01, 1.5, 4), 49.903646466),
]


def by_quadrature(z, shape):
    """log of the integral of t^(shape - 1) exp(z t - t^2 / 2) / Gamma(shape), the peak of t^shape
    ... taken out."""
    mode = (
        0.5 * (z + math.hypot(z, 2 * math.sqrt(shape)))
        if z > 0
        else 2 * shape / (math.hypot(z, 2 * shape**0.5) - z)
    )

    def log_integrand(t):
        return (shape - 1) * math.log(t) + z * t - t * t / 2

    top, width = log_integrand(mode), mode / math.sqrt(shape + mode**2)
    ends = [0.0] + [max(mode + k * width, 0.0) for k in (-10, -3, -1, 0, 1, 3, 10, 50)]
    parts = [
        quad(
            lambda t: math.exp(log_integrand(t) - top) if t > 0 else 0.0,
            a,
            b,
            epsabs=0,
            epsrel=1e-11,
        )[0]
        for a, b in zip(ends[:-1], ends[1:], strict=True)
        if b > a
    ]
    return top + math.log(sum(parts)) - gammaln(shape)


@pytest.mark.parametrize(("arguments", "value"), PRINTED)
def test_feature_gains_equal_known_values(arguments, value):
    assert float(log_feature_gain(*arguments)) == pytest.approx(value, abs=1e-8)


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("shape", [1.0, 1.5, 2.0, 3.0, 7.0])
def test_gains_against_quadrature_in_the_tails(shape):
    z = np.array(
        [-200, -51, -49, -26, -24, -8, -3, -0.5, 0, 0.5, 2, 4.99, 5.01, 8, 9, 12, 30, 200.0]
    )
    # with rate 1e-9 and sigma = 1, B = z sqrt(A)
    found = log_feature_gain(4.0, 2 * z + 1e-9, 1.0, shape, 1e-9) - shape * (
        math.log(1e-9) - math.log(2.0)
    )
    expected = [by_quadrature(each, shape) for each in z]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


def test_gains_are_finite_everywhere_and_nothing_without_pairs():
    A, B = np.array([0.0, 1.0, 1.0, 1e6, 1.0]), np.array([0.0, 1e9, -1e9, 0.0, 0.0])
    for shape in (1.0, 2.0, 3.3):
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            gain = log_feature_gain(A, B, 1e-6, shape, 10.0)
        assert gain[0] == 0 and np.isfinite(gain).all()
    mixed = log_feature_gain(3.0, 0.4, 0.01, np.array([1.0, 1.5, 2.0]), 2.0)
    np.testing.assert_array_equal(
        mixed, [float(log_feature_gain(3.0, 0.4, 0.01, s, 2.0)) for s in (1.0, 1.5, 2.0)]
    )


FIRST, SECOND, VALUES = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.80, 0.30, 0.45])
ALL = (0, 1, 2)
# shape, rate, log evidence of the model, p(F | S); sigma .1, alpha 1
POSTERIORS = [
    (
        1.0,
        1.0,
        -2.645821,
        {((0, 1),): 0.740781, ((0, 1), ALL): 0.092585, ((0, 1), (1, 2)): 0.054777, (): 0.046521},
    ),
    (1.0, 1.0, -2.645821, {((0, 1), (0, 2)): 0.010338, (ALL,): 0.007960}),
    (
        2.0,
        4.0,
        -1.400834,
        {((0, 1),): 0.744538, ((0, 1), ALL): 0.096327, ((0, 1), (1, 2)): 0.069869, (): 0.023476},
    ),
    (
        1.0,
        10.0,
        -3.453652,
        {((0, 1), ALL): 0.253135, ((0, 1),): 0.202769, ((0, 1), (1, 2), ALL): 0.050340},
    ),
    (1.0, 10.0, -3.453652, {((0, 1), (1, 2)): 0.046248}),
]


def terms_of(
    features, constant=True, n=3, first=FIRST, second=SECOND, values=VALUES, judgements=None
):
    copies = Counter([*features, *[tuple(range(n))] * constant])
    owners = np.array([[i in members for i in range(n)] for members in copies], bool).reshape(
        1, -1, n
    )
    judgements = np.ones(len(values)) if judgements is None else judgements
    return FeatureTerms.compute(
        owners, np.array([list(copies.values())], float), first, second, values, judgements
    )


@pytest.mark.parametrize(("shape", "rate", "evidence", "posterior"), POSTERIORS)
def test_sets_of_features_have_their_known_probability(shape, rate, evidence, posterior):
    for features, expected in posterior.items():
        terms = terms_of(features)
        matrix = np.array([[i in members for members in features] for i in range(3)]).reshape(3, -1)
        log_p = (
            IndianBuffet().log_prob_shared(matrix, 1.0) + log_evidence(terms, 0.01, shape, rate)[0]
        )
        exact = terms.copies.shape[1] <= 2
        # six digits are printed, of the evidence too; three weights are integrated approximately
        assert math.exp(log_p - evidence) == pytest.approx(
            expected, rel=2e-6 if exact else 0.025, abs=6e-7
        )


@pytest.mark.parametrize(
    ("shape", "rate", "expected"), [(1.0, 1.0, -1.3017473), (2.0, 4.0, -0.0171378)]
)
def test_evidence_of_known_features(shape, rate, expected):
    assert log_evidence(terms_of([(0, 1), ALL]), 0.01, shape, rate)[0] == pytest.approx(
        expected, abs=6e-8
    )


@pytest.mark.parametrize("features", [[], [(0, 1)], [(0, 1), (0, 2), ALL]])
def test_a_mean_of_judgements_says_what_they_all_say(features):
    """Judgements that are all equal, one by one and as a mean, whose density has another
    constant."""
    number, sigma2 = np.array([3, 1, 2]), 0.03
    every = [np.repeat(a, number) for a in (FIRST, SECOND, VALUES)]
    one_by_one = terms_of(features, first=every[0], second=every[1], values=every[2])
    means = terms_of(features, judgements=number.astype(float))
    apart = 0.5 * np.log(number).sum() + 0.5 * (number - 1).sum() * math.log(2 * math.pi * sigma2)
    gained = log_evidence(means, sigma2, 2.0, 4.0) - log_evidence(one_by_one, sigma2, 2.0, 4.0)
    assert gained == pytest.approx(apart, rel=1e-12)
    assert maximise_weights(means, sigma2, 2.0, 4.0) == pytest.approx(
        maximise_weights(one_by_one, sigma2, 2.0, 4.0)
    )


@pytest.mark.parametrize("features", [[], [(0, 1)], [(0, 1), (0, 2), ALL]])
def test_judgements_of_little_weight(features):
    """A thousandth of a judgement with a thousandth of the variance is as good as one."""
    few = terms_of(features, judgements=np.full(3, 1e-3))
    assert log_evidence(few, 1e-5, 2.0, 4.0) == pytest.approx(
        log_evidence(terms_of(features), 0.01, 2.0, 4.0)
    )


def test_evidence_without_features_is_the_normal_likelihood():
    likelihood = -0.5 * VALUES @ VALUES / 0.04 - 1.5 * math.log(2 * math.pi * 0.04)
    assert log_evidence(terms_of([], constant=False), 0.04, 1.0, 1.0)[0] == pytest.approx(
        likelihood, rel=1e-14
    )


@pytest.mark.fit
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (1.0, 10.0), (2.5, 4.0)])
def test_evidence_of_many_weights_against_importance_sampling(shape, rate):
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(6, 1)
    features = [(0, 1, 2), (2, 3), (3, 4, 5), (0, 1, 2)]
    terms = terms_of(features, n=6, first=first, second=second, values=rng.gamma(4.0, 0.1, 15))
    sigma2, d, draws = 0.02, 4, 400_000
    mode = maximise_weights(terms, sigma2, shape + 1.0, rate)[0]
    # log weights from a t distribution with 4 degrees of freedom about the mode
    hessian = terms.gram[0] * np.outer(mode, mode) / sigma2 + np.diag(terms.copies[0] * shape)
    root = np.linalg.cholesky(np.linalg.inv(hessian))
    normal, scale = rng.standard_normal((draws, d)), rng.chisquare(4, draws) / 4
    u = np.log(mode) + (normal / np.sqrt(scale)[:, None]) @ root.T
    log_q = (
        gammaln((4 + d) / 2)
        - gammaln(2)
        - 0.5 * d * math.log(4 * math.pi)
        - np.log(np.diag(root)).sum()
    )
    log_q = log_q - 0.5 * (4 + d) * np.log1p((normal**2).sum(1) / scale / 4)
    w, s = np.exp(u), terms.copies[0] * shape
    log_p = _log_likelihood(terms, w, sigma2)
    log_p = log_p + (s * (np.log(rate) + u) - rate * w - gammaln(s)).sum(1)
    ratio = np.exp(log_p - log_q - (log_p - log_q).max())
    found = math.log(ratio.mean()) + (log_p - log_q).max()
    error = ratio.std() / ratio.mean() / math.sqrt(draws)
    # the approximation is good to some hundredths; without its correction it is .1 off
    assert log_evidence(terms, sigma2, shape, rate)[0] == pytest.approx(found, abs=0.05 + 5 * error)


def _log_likelihood(terms, weights, sigma2):
    fit = weights @ terms.sums[0] - 0.5 * np.einsum("dk,kl,dl->d", weights, terms.gram[0], weights)
    return (fit - 0.5 * terms.squares) / sigma2 - 0.5 * terms.n_pairs * math.log(
        2 * math.pi * sigma2
    )


def test_terms_count_measured_pairs_only():
    terms = terms_of(
        [(0, 1), (1, 2)],
        first=np.array([0, 1]),
        second=np.array([2, 2]),
        values=np.array([0.3, 0.45]),
    )
    np.testing.assert_array_equal(terms.gram[0], [[0, 0, 0], [0, 1, 1], [0, 1, 2]])
    np.testing.assert_allclose(terms.sums[0], [0, 0.45, 0.75])
    # of the feature that no measured pair shares only the prior is left
    assert maximise_weights(terms, 0.01, 3.0, 4.0)[0, 0] == pytest.approx(0.5)
    assert maximise_weights(terms, 0.01, 1.0, 4.0)[0, 0] == 0.0


@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_the_most_probable_weights_are_a_maximum(shape):
    rng = np.random.default_rng(2)
    first, second = np.triu_indices(7, 1)
    features = [tuple(np.flatnonzero(rng.random(7) < 0.5)) for _ in range(12)]
    features = [members for members in dict.fromkeys(features) if 2 <= len(members) < 7][:5]
    values = rng.gamma(2.0, 0.2, 21)
    terms = terms_of(features, n=7, first=first, second=second, values=values)
    sigma2, rate = 0.01, 3.0
    found = maximise_weights(terms, sigma2, shape, rate)[0]
    inside = np.array([[i in members for i in range(7)] for members in [*features, range(7)]])
    inside = (inside[:, first] & inside[:, second]).astype(float)

    def value(w):
        tilt = (shape - 1) * np.log(w).sum() if shape > 1 else 0.0
        return 0.5 * ((values - w @ inside) ** 2).sum() / sigma2 + rate * w.sum() - tilt

    bounds = [(1e-12 if shape > 1 else 0.0, None)] * len(found)
    best = minimize(
        value, np.full(len(found), 0.3), bounds=bounds, options={"ftol": 1e-15, "maxiter": 5000}
    )
    assert value(found) <= best.fun + 1e-8 * abs(best.fun)
    # the conditions for a maximum: no slope where a weight is above 0, downhill where it is 0
    gradient = (values - found @ inside) @ inside.T / sigma2 - rate
    if shape > 1:
        gradient = gradient + (shape - 1) / found
    # a move of 1e-10 of each of the weights changes a slope by less than this
    free = found > 0
    steepest = 21 * len(found) / sigma2 + (shape - 1) / found[free].min() ** 2
    assert np.abs(gradient[free]).max() < 1e-10 * steepest
    assert (gradient[~free] <= 0).all()
