"""How much of similarities and of answers about them is not noise: the bound of any model."""

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .respondent_answers import JudgedValues
    from .similarities import Similarities

_N_SPLITS = 20
_MIN_PAIRS = 3  # pairs that both halves judged


def estimate_reliability(data: "Similarities") -> float:
    """Return the share of the variance of similarities that is not noise; NaN if unknown."""
    if data.answers is not None and len(data.answers.respondents) > 1:
        return _estimate_by_halves(data.answers)
    if data.sigma is None or np.ptp(data.values) == 0.0:
        return math.nan
    noise_share = np.mean(data.sigma**2 / data.judgements) / data.values.var(ddof=1)
    return max(0.0, 1.0 - float(noise_share))


def _estimate_by_halves(answers: "JudgedValues") -> float:
    """Return the reliability of mean similarities by random halves of the respondents."""
    # Spearman-Brown: 2 r / (1 + r) with the mean correlation r of the halves' means by pair; NaN if
    # halves have too few pairs in common.
    n_pairs = int(answers.pair.max()) + 1
    n_respondents = len(answers.respondents)
    rng = np.random.default_rng(0)
    correlations = []
    for _ in range(_N_SPLITS):
        is_first_half = rng.permutation(n_respondents) < n_respondents // 2
        means = []
        for is_half in (is_first_half, ~is_first_half):
            is_answer = is_half[answers.respondent]
            counts, sums = (
                np.bincount(answers.pair[is_answer], weights, n_pairs)
                for weights in (None, answers.values[is_answer])
            )
            with np.errstate(invalid="ignore"):
                means.append(sums / counts)
        is_judged = np.isfinite(means[0]) & np.isfinite(means[1])
        if is_judged.sum() >= _MIN_PAIRS and all(np.ptp(mean[is_judged]) > 0.0 for mean in means):
            correlations.append(np.corrcoef(means[0][is_judged], means[1][is_judged])[0, 1])
    if not correlations:
        return math.nan
    r = float(np.mean(correlations))
    return max(0.0, 2.0 * r / (1.0 + r))


def predict_from_other_answers(counts: np.ndarray, start: np.ndarray) -> tuple[float, int]:
    """Return how often an answer is the most frequent one of the others, and of how many answers.

    `counts` are the times of each possible answer, `start` the first answer of each question.
    Equally frequent answers count in parts; questions with one answer do not count. NaN without
    repeated questions.
    """
    question = np.repeat(np.arange(len(start) - 1), np.diff(start))
    n_answers = np.bincount(question, counts)
    most = np.maximum.reduceat(counts, start[:-1])
    is_most = counts == most[question]
    other_counts = np.where(is_most, -1.0, counts)
    second = np.maximum.reduceat(other_counts, start[:-1])
    n_second = np.bincount(question, other_counts == second[question])
    # only an answer given more often than every other one is predicted by the others
    lead = np.where(np.bincount(question, is_most) == 1, most - 1.0 - second, -1.0)
    p_hit = np.select([lead > 0.0, lead == 0.0], [1.0, 1.0 / (1.0 + n_second)], 0.0)
    is_repeated = n_answers >= 2.0
    total = float(n_answers[is_repeated].sum())
    if total == 0.0:
        return math.nan, 0
    return float((most * p_hit)[is_repeated].sum() / total), int(total)
