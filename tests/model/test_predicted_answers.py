"""Observed and predicted answers of several kinds of respondents, row by row and draw by draw."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.stats import binom

import thali as th
from thali._inference import index_arithmetic
from thali._model import predicted_answers
from thali._model.predicted_answers import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali.errors import DataError

OPTIONS = list("abcde")
SETS = {"abc": (9, 4, 2), "ab": (5, 6), "bcde": (1, 2, 3, 4), "ae": (0, 7), "cde": (8, 0, 3)}


def choices(counts=SETS, weights=False):
    """Choices from sets, with the count of each option."""
    rows = [
        (f"{offered}.{k}", name, int(j == k), count)
        for offered, counted in counts.items()
        for k, count in enumerate(counted)
        for j, name in enumerate(offered)
    ]
    frame = pd.DataFrame(rows, columns=["choice_id", "alternative", "chosen", "count"])
    return th.Choices(frame, labels=OPTIONS, weights=weights)


def comparisons():
    """Comparisons with ties, whose second options have rows that are not shown."""
    counts = {"ab": (5, 3, 2), "ac": (0, 4, 1), "bc": (6, 2, 0), "cd": (3, 3, 3)}
    rows = [
        (*pair, answer)
        for pair, times in counts.items()
        for answer, number in zip((*pair, "tie"), times, strict=True)
        for _ in range(number)
    ]
    frame = pd.DataFrame(rows, columns=["first", "second", "chosen"])
    return th.PairedComparisons.from_trials(frame)


def split_respondents(questions, n_draws, seed=0):
    """Two groups of respondents with probabilities by draw, who were asked all questions."""
    rng = np.random.default_rng(seed)
    first_times = rng.integers(0, questions.times.astype(int) + 1).astype(float)
    groups = []
    for times in (first_times, questions.times - first_times):
        p = rng.gamma(1.0, size=(n_draws, len(questions.counts)))
        p /= questions.sum_by_question(p)[:, questions.question]

        def probabilities(block, p=p):
            return p[:, questions.start[block.start] : questions.start[block.stop]]

        groups.append((p, times, EqualRespondents.from_times(probabilities, times)))
    return groups


def expect_rows(questions, groups, n_draws):
    """Expected count of each row in each draw, answer by answer."""
    counted = questions.rows.counted.toarray()
    expected = np.zeros((len(counted), n_draws))
    for row, answers in enumerate(counted):
        for answer in np.flatnonzero(answers):
            for p, times, _ in groups:
                expected[row] += times[questions.question[answer]] * p[:, answer]
    return expected


@pytest.mark.parametrize("block", [2**21, 30, 1])
@pytest.mark.parametrize("make", [choices, comparisons])
def test_predictions_are_sums_over_respondents(make, block, monkeypatch):
    monkeypatch.setattr(index_arithmetic, "BLOCK", block)
    questions = make().questions()
    groups = split_respondents(questions, 12)
    table = predict_answers(questions, [group for *_, group in groups], 12, 0.5)
    expected, rows = expect_rows(questions, groups, 12), questions.rows
    shown = np.flatnonzero(rows.is_shown)
    assert len(table) == len(shown) and table.attrs == {"of": len(shown), "interval": 0.5}
    for k, row in enumerate(shown):
        asked = {int(questions.question[a]) for a in rows.counted[[row]].indices}
        proportions = expected[row] / sum(questions.times[q] for q in asked)
        found = table.iloc[k]
        assert found["n"] == sum(questions.totals[q] for q in asked)
        assert found["observed"] == pytest.approx(questions.observed[row] / found["n"])
        assert found["predicted"] == pytest.approx(proportions.mean(), rel=1e-12)
        ends = np.quantile(proportions, (0.25, 0.75))
        np.testing.assert_allclose(found[["low", "high"]].astype(float), ends, rtol=1e-12)
    for name, labels in rows.names.items():
        assert table[name].tolist() == labels.tolist()


def test_of_many_rows_those_with_most_answers_stay(monkeypatch):
    questions = choices().questions()
    groups = [group for *_, group in split_respondents(questions, 6)]
    whole = predict_answers(questions, groups, 6, 0.89)
    # answers: 15 to abc, 11 to ab, 10 to bcde, 7 to ae, 11 to cde
    for limit, offered in (
        (16, "abc ab cde bcde ae"),
        (13, "abc ab cde bcde"),
        (12, "abc ab cde bcde"),
        (11, "abc ab cde"),
        (8, "abc ab cde"),
        (7, "abc ab"),
        (5, "abc ab"),
        (4, "abc"),
        (1, "abc"),
    ):
        monkeypatch.setattr(predicted_answers, "MAX_ROWS", limit)
        table = predict_answers(questions, groups, 6, 0.89)
        sets = {", ".join(each) for each in offered.split()}
        expected = whole[whole["offered"].isin(sets)].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            table.reset_index(drop=True), expected, check_frame_type=False
        )
        assert table.attrs["of"] == len(whole)


DRAWS = 4_000


@pytest.mark.parametrize("block", [2**21, 40_000])
def test_simulated_answers_are_those_of_each_respondent(block, monkeypatch):
    """Of an option of a pair they are the sum of two binomial variables."""
    monkeypatch.setattr(index_arithmetic, "BLOCK", block)
    counts = {"ab": (50, 30), "ae": (10, 60), "cd": (20, 20)}
    questions = choices(counts).questions()
    shares = np.array([0.8, 0.3, 0.5]), np.array([0.4, 0.1, 0.9])
    groups, times = [], (np.array([30.0, 50.0, 40.0]), np.array([50.0, 20.0, 0.0]))
    for share, n_answers in zip(shares, times, strict=True):
        p = np.tile(np.column_stack([share, 1.0 - share]).ravel(), (DRAWS, 1))

        def probabilities(block, p=p):
            return p[:, 2 * block.start : 2 * block.stop]

        groups.append(EqualRespondents.from_times(probabilities, n_answers))
    table = check_answers(questions, groups, DRAWS, 1, 0.5).set_index(["offered", "alternative"])
    names = questions.rows.names
    for row, key in enumerate(zip(names["offered"], names["alternative"], strict=True)):
        pair, is_second = divmod(row, 2)
        found, n = table.loc[key], int(times[0][pair] + times[1][pair])
        p = [abs(is_second - share[pair]) for share in shares]
        parts = [
            binom.pmf(np.arange(n + 1), int(n_answers[pair]), q)
            for q, n_answers in zip(p, times, strict=True)
        ]
        cumulative = np.cumsum(np.convolve(*parts)[: n + 1])
        mean = sum(q * n_answers[pair] for q, n_answers in zip(p, times, strict=True)) / n
        assert (found["n"], found["predicted"]) == (n, pytest.approx(mean, rel=1e-9))
        x = int(questions.observed[row])
        assert found["observed"] == x / n
        # five standard errors of a share of the draws
        slack = 2.5 / np.sqrt(DRAWS)
        for end, tail in (("low", 0.25), ("high", 0.75)):
            least, most = np.searchsorted(cumulative, [tail - slack, tail + slack])
            assert least <= round(found[end] * n) <= most
        middle = (cumulative[x] + cumulative[x - 1]) / 2
        assert found["p_value"] == pytest.approx(2 * min(middle, 1 - middle), abs=2 * slack)
    assert table.attrs["draws"] == DRAWS and table.attrs["interval"] == 0.5


@pytest.mark.parametrize("block", [2**21, 64, 1])
def test_what_is_certain_is_simulated_without_chance(block, monkeypatch):
    """Where the model is certain of what was answered, all is as expected."""
    monkeypatch.setattr(index_arithmetic, "BLOCK", block)  # all questions, two or one at a time
    counts = {"ab": (6, 0), "ae": (0, 4), "abc": (0, 0, 5), "bcde": (0, 7, 0, 0)}
    questions = choices(counts).questions()
    p = np.tile(questions.counts > 0.0, (8, 1)).astype(float)
    group = EqualRespondents.from_times(
        lambda block: p[:, questions.start[block.start] : questions.start[block.stop]],
        questions.times,
    )
    table = check_answers(questions, [group], 8, 0, 0.89)
    assert len(table) == 11 and sorted(table["n"]) == [4] * 2 + [5] * 3 + [6] * 2 + [7] * 4
    assert (table["observed"] == table["predicted"]).all() and (table["p_value"] == 1.0).all()
    assert (table[["low", "high"]].to_numpy() == table[["observed"]].to_numpy()).all()
    assert table.attrs["p_value"] == 0.5


def test_weighted_answers_are_not_simulated():
    check_unweighted(choices().questions())
    for counts, facts in (
        ({"abc": (1.0, 2.5, 1.0), "ab": (1.0, 3.0)}, ("'b'", "weight 2.5")),
        ({"abc": (1.5, 2.5, 1.0), "ab": (1.0, 0.25)}, ("'b'", "weight 0.25")),
    ):
        weighted = choices(counts, weights=True).questions()
        with refused(DataError, *facts):
            check_unweighted(weighted)
