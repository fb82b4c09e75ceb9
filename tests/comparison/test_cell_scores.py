"""Scores of left-out pairs whose comparisons have covariates."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.paired_cases import leave_one_out
from scipy.stats import binom

import thali as th
from thali._comparison.pair_holdouts import score_answers

ML = {"method": "maximum-likelihood"}


@pytest.mark.parametrize("counts", [[5.0, 3.0], [5.0, 2.0, 3.0]])
def test_two_equal_cells_are_scored_as_one(counts):
    p = np.random.default_rng(1).uniform(0.2, 0.8, (2, 50))
    outcomes = [p, 1 - p] if len(counts) == 2 else [0.8 * p, 0.2 + 0 * p, 0.8 * (1 - p)]
    draws = np.stack(outcomes, axis=-1)[:, :, None]
    one, halves = score_answers(np.array([counts]), draws), np.array([counts, counts]) / 2
    two = score_answers(halves, np.repeat(draws, 2, axis=2))
    for name in ("predicted", "predicted_mcse", "nll", "log_pred", "log_pred_mcse", "r_hat"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))


def test_equal_probabilities_of_cells_are_scored_as_the_pair():
    counts = np.array([[3.0, 1.0], [2.0, 4.0]])
    found = score_answers(counts, np.full((1, 4, 2, 2), [0.7, 0.3]))
    assert found.nll == pytest.approx(
        -binom.logpmf(5, 10, 0.7)
    ) and found.predicted == pytest.approx(0.7)
    apart = score_answers(counts, np.broadcast_to([[0.7, 0.3], [0.4, 0.6]], (1, 4, 2, 2)))
    expected = (
        math.log(math.comb(10, 5))
        + 3 * math.log(0.7)
        + math.log(0.3)
        + 2 * math.log(0.4)
        + 4 * math.log(0.6)
    )
    assert apart.nll == pytest.approx(-expected) and apart.log_pred == pytest.approx(expected)
    assert apart.predicted == pytest.approx(0.4 * 0.7 + 0.6 * 0.4)


def test_the_order_is_worth_its_coefficient_where_it_decides():
    rng, rows = np.random.default_rng(2), []
    worth = dict(zip("tuvw", (4.0, 2.0, 1.0, 0.5), strict=True))
    for _ in range(300):
        a, b = rng.permutation(list(worth))[:2]
        odds = math.exp(1.5) * worth[a] / worth[b]
        rows.append((a, b, "left" if rng.random() < odds / (1 + odds) else "right"))
    frame = pd.DataFrame(rows, columns=["left", "right", "chosen"])
    data = th.PairedComparisons.from_trials(frame, covariates=["order"])
    models = {
        "with": th.EliminationByAspects("unique", **ML),
        "without": th.EliminationByAspects("unique", covariates=[], **ML),
    }
    found = th.compare(models, data, random_seed=1, progressbar=False)
    alone = leave_one_out(models["with"], data)
    assert found.loc["with", "nll"] == pytest.approx(alone["nll"].mean())
    assert (
        found.loc["without", "nll"] - found.loc["with", "nll"]
        > 3 * found.loc["without", "difference_se"]
    )
    games = th.PairedComparisons.from_trials(frame)
    plain = th.compare({"without": models["without"]}, games, random_seed=1, progressbar=False)
    assert found.loc["without", "nll"] == pytest.approx(plain.loc["without", "nll"])
    assert found.loc["EMP", "nll"] == pytest.approx(plain.loc["EMP", "nll"])
