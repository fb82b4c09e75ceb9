"""Scores of options against their definition, one option at a time."""

import math

import numpy as np
import pytest
from helpers.sentences import refused

from thali._model.option_scores import (
    ScoreScale,
    anchor_index,
    compute_anchored_scores,
    compute_sum_scaled_scores,
    score_draws,
    tabulate_scores,
)
from thali.errors import ArgumentError

WORTHS = np.random.default_rng(0).gamma(2.0, size=(50, 4))
LABELS = ["tea", "milk", "rum", "none"]


def scores_by_definition(worths, size):
    """P(choice) from a set whose other options are average, as shares of 100."""
    logs = [math.log(worth) for worth in worths]
    centre = sum(logs) / len(logs)
    odds = [math.exp(log - centre) for log in logs]
    p = [each / (each + size - 1) for each in odds]
    return [100 * each / sum(p) for each in p]


def anchored_by_definition(worths, size, anchor):
    """P(choice) from a set whose other options are the anchor, of which the anchor has 1 / size."""
    odds = [worth / worths[anchor] for worth in worths]
    return [100 * size * each / (each + size - 1) for each in odds]


@pytest.mark.parametrize("size", [2, 3.5])
def test_scores_are_those_of_the_definition(size):
    expected = [scores_by_definition(row, size) for row in WORTHS]
    np.testing.assert_allclose(compute_sum_scaled_scores(WORTHS, size), expected, rtol=1e-12)
    blocks = compute_sum_scaled_scores(WORTHS.reshape(2, 25, 4), size)
    np.testing.assert_allclose(blocks.reshape(50, 4), expected, rtol=1e-12)
    np.testing.assert_allclose(ScoreScale(size).compute_scores(WORTHS), expected, rtol=1e-12)
    expected = [anchored_by_definition(row, size, 3) for row in WORTHS]
    np.testing.assert_allclose(compute_anchored_scores(WORTHS, size, 3), expected, rtol=1e-12)
    np.testing.assert_allclose(ScoreScale(size, 3).compute_scores(WORTHS), expected, rtol=1e-12)


def test_worths_without_a_logarithm_and_beyond_all_numbers_have_finite_scores():
    worths = np.array([[0.0, 1.0, 2.0], [1e-300, 1.0, 2.0], [1e-290, 1e300, 1.0]])
    scores = compute_sum_scaled_scores(worths, 3)
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_allclose(scores.sum(axis=1), 100.0, rtol=1e-12)
    assert compute_anchored_scores(worths, 3, 0)[2].tolist() == [100.0, 300.0, 300.0]


def test_draws_are_averaged_and_compared_with_the_anchor():
    found = score_draws(WORTHS, ScoreScale(3, 1))
    np.testing.assert_array_equal(found.mean, found.draws.mean(axis=0))
    expected = [np.mean([row[k] > row[1] for row in WORTHS]) for k in range(4)]
    assert found.above.tolist() == expected and expected[1] == 0.0
    assert np.isnan(score_draws(WORTHS, ScoreScale(3)).above).all()


def test_tables_have_a_row_for_each_group_and_option():
    scale = ScoreScale(3, 3)
    groups = {"f": score_draws(WORTHS, scale), "m": score_draws(WORTHS[:20] ** 2, scale)}
    table = tabulate_scores(groups, LABELS, scale, "sex", 0.5)
    assert table.columns.tolist() == ["score", "low", "high", "above_none"]
    assert table.index.tolist() == [(sex, label) for sex in "fm" for label in LABELS]
    assert table.index.names == ["sex", "option"]
    for sex, scores in groups.items():
        rows = table.loc[sex]
        assert rows["score"].tolist() == scores.mean.tolist()
        assert rows["above_none"].tolist() == scores.above.tolist()
        ends = np.quantile(scores.draws, (0.25, 0.75), axis=0)
        np.testing.assert_allclose(rows[["low", "high"]].to_numpy().T, ends, rtol=1e-12)
    assert table.attrs == {"interval": 0.5, "set_size": 3, "none": "none"}
    table = tabulate_scores(
        {None: score_draws(WORTHS, ScoreScale(3))}, LABELS, ScoreScale(3), None, 0.5
    )
    assert table.index.tolist() == LABELS and table.index.name == "option"
    assert table.columns.tolist() == ["score", "low", "high"]
    assert table.attrs == {"interval": 0.5, "set_size": 3}


def test_the_anchor_is_one_of_the_options():
    assert anchor_index("rum", LABELS) == 2 and anchor_index(3, ["1", "3"]) == 1
    for anchor, facts in (("rom", ("none", "'rom'", "'rum'")), ("x", ("'x'", "'tea'", "'none'"))):
        with refused(ArgumentError, *facts):
            anchor_index(anchor, LABELS)
