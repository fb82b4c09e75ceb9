"""The share of similarities and answers that is not noise, against known noise and own counts."""

import math

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali._data.noise_ceiling import estimate_reliability, predict_from_other_answers


def predict_naively(counts, start):
    """Each answer in turn against the others to its question."""
    hits = total = 0
    for first, last in zip(start[:-1], start[1:], strict=True):
        answers = np.repeat(np.arange(last - first), counts[first:last].astype(int))
        if len(answers) < 2:
            continue
        for k, answer in enumerate(answers):
            times = np.bincount(np.delete(answers, k), minlength=last - first)
            best = np.flatnonzero(times == times.max())
            hits += (answer in best) / len(best)
            total += 1
    return (hits / total if total else math.nan), total


@pytest.mark.parametrize("seed", range(5))
def test_answers_are_predicted_by_the_others(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 40)
    counts = rng.poisson(1.2, sizes.sum()).astype(float)
    start = np.concatenate([[0], np.cumsum(sizes)])
    assert predict_from_other_answers(counts, start) == pytest.approx(
        predict_naively(counts, start)
    )


def test_questions_that_were_asked_once_have_no_bound():
    hits, number = predict_from_other_answers(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 2, 4]))
    assert math.isnan(hits) and number == 0


def judge(noise, people=40, seed=0):
    """Similarities by respondent with known noise, and the reliability of their means."""
    rng, objects = np.random.default_rng(seed), 12
    truth = np.triu(rng.random((objects, objects)), 1)
    labels = [f"o{k}" for k in range(objects)]
    matrices = {}
    for person in range(people):
        judged = np.triu(truth + noise * rng.normal(size=truth.shape), 1)
        matrices[f"p{person}"] = pd.DataFrame(judged + judged.T, labels, labels)
    variance = truth[np.triu_indices(objects, 1)].var()
    return matrices, variance / (variance + noise**2 / people)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_halves_of_respondents_and_their_deviation_give_the_reliability(noise):
    found = []
    for seed in range(6):
        matrices, expected = judge(noise, seed=seed)
        data = th.Similarities.from_respondents(matrices, sigma="deviation")
        alone = th.Similarities(
            data.matrix, data.labels, sigma=data.sigma, judgements=np.full((12, 12), 40)
        )
        found.append((estimate_reliability(data), estimate_reliability(alone)))
    np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=0.05)
    assert any("not noise" in name.casefold() for name, _ in data._facts())


@pytest.mark.fit
def test_the_bound_stands_beside_the_variance_accounted_for():
    matrices, _ = judge(1.0)
    data = th.Similarities.from_respondents(matrices, sigma="deviation")
    model = th.AdditiveClustering().fit(
        data, draws=40, tune=20, chains=2, random_seed=1, progressbar=False
    )
    sentence = str(model.findings()["estimate"].sentence)
    share = 100.0 * estimate_reliability(data)
    assert f"an estimated {share:.1f} % of this variance is not noise" in sentence
