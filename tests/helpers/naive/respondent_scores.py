"""The variance of estimates over respondents without their leverage, respondent by respondent:
slow, and plain."""

import numpy as np


def power(matrix, exponent, least=1e-9):
    """A power of a symmetric matrix, 0 in directions without a value."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > least * values.max()
    return (vectors[:, kept] * values[kept] ** exponent) @ vectors[:, kept].T


def adjusted_scores(curvature, informations, scores):
    """z of each respondent, in the coordinates of the symmetric root of the curvature:
    (respondents, parameters)."""
    root, one = power(curvature, -0.5), np.eye(len(curvature))
    return np.array(
        [
            power(one - root @ m @ root, -0.5) @ root @ g
            for m, g in zip(informations, scores, strict=True)
        ]
    )


def sandwich(curvature, informations, scores):
    """The covariance of the estimates."""
    root = power(curvature, -0.5)
    z = adjusted_scores(curvature, informations, scores)
    return root @ z.T @ z @ root


def degrees_of_freedom(curvature, informations, scores, contrasts):
    """Those of the variance of each contrast, from the covariances of all pairs of scores: the
    harmonic mean of those of independent answers and of answers with equal correlations. The
    correlation is the one at which the mean design effect is the observed one."""
    whole = power(sum(informations), -0.5)
    shares = np.array([np.trace(whole @ m @ whole) for m in informations])
    shares /= shares.sum()
    covariance = sandwich(curvature, informations, scores)
    rank = np.linalg.matrix_rank(whole)
    effect = np.trace(sum(informations) @ covariance) / rank
    correlation = max(0.0, effect - 1.0) / (shares**2).sum()
    pairs = [
        [_degrees(curvature, informations, contrast, phi) for phi in (0.0, correlation)]
        for contrast in contrasts
    ]
    return np.array([2.0 / (1.0 / a + 1.0 / b) for a, b in pairs])


def _direction(curvature, informations, contrast):
    root = power(curvature, -0.5)
    b = root @ contrast
    return b / np.sqrt(b @ root @ sum(informations) @ root @ b)


def _degrees(curvature, informations, contrast, correlation):
    root, one = power(curvature, -0.5), np.eye(len(curvature))
    b = _direction(curvature, informations, contrast)
    leverages = [root @ each @ root for each in informations]
    x = np.array([b @ m @ b for m in leverages])
    pulls = [power(one - m, -0.5) @ m @ b for m in leverages]
    k = 1.0 + correlation * x
    trace, squares = 0.0, 0.0
    for s, p in enumerate(pulls):
        for t, q in enumerate(pulls):
            both = -(k[s] + k[t] - (k * x).sum()) * (p @ q)
            if s == t:
                both += k[s] * (x[s] + p @ p)
                trace += both
            squares += both**2
    return trace**2 / squares


def outcome_gradients(log_probabilities, point, step=1e-5):
    """Numerical derivatives of the log probability of every outcome: (outcomes, parameters)."""
    steps = step * np.eye(len(point))
    ends = [(log_probabilities(point + each), log_probabilities(point - each)) for each in steps]
    return np.stack([(up - down) / (2 * step) for up, down in ends], axis=1)


def informations(tally, sizes, p, gradients):
    """What each respondent's answers were expected to say: (respondents, parameters,
    parameters)."""
    question, found = np.repeat(np.arange(len(sizes)), sizes), []
    for counts in tally:
        asked = np.bincount(question, counts)[question]
        found.append((gradients.T * (asked * p)) @ gradients)
    return np.array(found)
