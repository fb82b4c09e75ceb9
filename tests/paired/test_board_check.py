"""The check of boards: what was observed beside what worths predict."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said
from scipy.special import expit, softmax

import thali as th

pytestmark = pytest.mark.fit
QUIET = {"progressbar": False, "random_seed": 1}


def counts_of(probability, n=6, each=30):
    """Each pair judged so often, with the probability of the first of i < j."""
    rng, counts = np.random.default_rng(1), np.zeros((n, n), int)
    for i, j in combinations(range(n), 2):
        counts[i, j] = rng.binomial(each, probability(i, j))
        counts[j, i] = each - counts[i, j]
    return th.PairedComparisons(counts)


def of_worths(i, j):
    return expit(0.3 * (j - i))


def in_a_circle(i, j):
    return (0.5, 0.85, 0.15)[(j - i) % 3]


@pytest.mark.long
def test_misfit_is_said_and_saved(tmp_path):
    good, bad = (th.leaderboard(counts_of(each), **QUIET) for each in (of_worths, in_a_circle))
    found = th.findings(good)["check"]
    assert found.good and found.brief is None and found.table["missed"].mean() < 0.3
    bad.save(tmp_path / "board.nc")
    for board in (bad, th.load(tmp_path / "board.nc")):
        found = th.findings(board)["check"]
        assert found.good is False and found.table["missed"].mean() > 0.5
        said(found.sentence, "of 15 observed", "89 %")
    table = th.leaderboard(counts_of(in_a_circle), ci=0.5, **QUIET).of_check
    assert (table["high"] - table["low"]).mean() < 0.7 * (
        bad.of_check["high"] - bad.of_check["low"]
    ).mean()


def test_half_ties_have_no_check():
    data = th.PairedComparisons(
        [[0, 3, 4], [2, 0, 1], [1, 1, 0]], ties=[[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    )
    board = th.leaderboard(data, ties="half", **QUIET)
    found = th.findings(board)["check"]
    assert found.table is None and found.brief is None
    said(found.sentence, "weight 3.5")


def games(seed):
    """Votes of judges who differ, in two seasons, with a covariate; some are ties."""
    rng = np.random.default_rng(seed)
    sides = np.array([rng.choice(4, 2, replace=False) for _ in range(600)])
    judge, season, length = (
        rng.integers(0, 3, 600),
        rng.integers(0, 2, 600),
        rng.integers(-1, 2, 600),
    )
    worths = np.array([[0.0, 0.5, 1.0, 1.5], [0.6, 0.1, 1.4, 0.9]])[season[:, None], sides]
    p = expit(np.array([0.3, 1.0, 2.0])[judge] * (worths[:, 0] - worths[:, 1]) + 0.5 * length)
    chosen = sides[np.arange(600), (rng.random(600) > p).astype(int)].astype(str)
    frame = pd.DataFrame(
        {"left": sides[:, 0], "right": sides[:, 1], "judge": np.array(list("abc"))[judge]}
    )
    frame = frame.assign(
        season=season + 1, length=length, winner=np.where(rng.random(600) < 0.2, "tie", chosen)
    )
    return frame.astype({"left": str, "right": str})


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize(
    "asked", [{}, {"judges": True, "period": "season"}, {"judges": True}, {"period": "season"}]
)
def test_predicted_proportions_of_pairs_are_at_the_estimates(asked):
    """The probability at the estimates, on the average of all votes on a pair, whoever gave them
    and when."""
    frame = games(1)
    names = dict(
        first="left", second="right", chosen="winner", respondent="judge", covariates=["length"]
    )
    board = th.leaderboard(
        frame, people=None if asked else "independent", lapse=0.02, **names, **asked, **QUIET
    )
    methods = " ".join(th.findings(board)["methods"].format_sentences())
    assert ("successive periods (season)" in methods) == ("period" in asked)
    ratings = pd.concat(dict.fromkeys("12", board.table["rating"]))
    if "period" in asked:
        ratings = board.worths_in_time().set_index(["period", "option"])["rating"]
    seasons = frame["season"].astype(str)
    left, right = (
        ratings.loc[pd.MultiIndex.from_arrays([seasons, frame[side]])] for side in ("left", "right")
    )
    logs = (left.to_numpy() - right.to_numpy()) * np.log(10.0) / 400.0
    if "judges" in asked:
        logs *= board.judges().loc[frame["judge"], "discrimination"].to_numpy()
    p = (
        0.98 * expit(logs + frame["length"] * board.covariate_effects().loc["length", "effect"])
        + 0.01
    )
    ratio = board.tie * np.sqrt(p * (1.0 - p))
    table = board.of_check.set_index(["a", "b", "tied"])
    assert len(table) == 12 and table["n"].sum() == 2 * 600
    for a, b in combinations("0123", 2):
        is_first, is_second = (
            (frame["left"] == x) & (frame["right"] == y) for x, y in ((a, b), (b, a))
        )
        votes = frame["winner"][is_first | is_second]
        of_a = pd.concat([(p / (1.0 + ratio))[is_first], ((1.0 - p) / (1.0 + ratio))[is_second]])
        of_ties = (ratio / (1.0 + ratio))[is_first | is_second]
        for tied, expected, outcome in ((False, of_a, a), (True, of_ties, "tie")):
            row = table.loc[(a, b, tied)]
            assert row["predicted"] == pytest.approx(expected.mean(), abs=0.01)
            assert row["observed"] == pytest.approx((votes == outcome).mean())


@pytest.mark.long
@pytest.mark.parametrize("judges", [False, True])
def test_predicted_proportions_of_sets_are_at_the_estimates(judges):
    rng = np.random.default_rng(2)
    sets = [sorted(rng.choice(4, 3, replace=False).tolist()) for _ in range(240)]
    chosen = [
        each[(3.0 * k % 2 * np.array(each) + rng.gumbel(size=3)).argmax()]
        for k, each in enumerate(sets)
    ]
    rows = [(k, "ab"[k % 2], str(x), x == chosen[k]) for k, each in enumerate(sets) for x in each]
    frame = pd.DataFrame(rows, columns=["task", "judge", "option", "chosen"])
    data = th.Choices.from_frame(
        frame, choice_id="task", alternative="option", chosen="chosen", respondent="judge"
    )
    board = th.leaderboard(
        data, judges=judges, people=None if judges else "independent", lapse=0.02, **QUIET
    )
    logs = board.table["rating"].sort_index().to_numpy() * np.log(10.0) / 400.0
    sharpness = board.judges()["discrimination"][["a", "b"]] if judges else [1.0, 1.0]
    for row in board.of_check.itertuples():
        members = [int(each) for each in "0123" if each in row.offered]
        times = np.array([sum(each == members for each in sets[k::2]) for k in range(2)])
        each = [softmax(d * logs[members])[members.index(int(row.alternative))] for d in sharpness]
        assert row.n == times.sum()
        assert row.predicted == pytest.approx(
            times @ (0.98 * np.array(each) + 0.02 / 3) / times.sum(), abs=0.015
        )
