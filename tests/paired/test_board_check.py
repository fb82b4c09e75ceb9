"""The check of boards: what was observed beside what worths predict."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said
from scipy.special import expit, softmax

import thali as th
from thali._paired.check import check_votes
from thali._paired.estimates import drawn_of
from thali._paired.scale import WorthScale
from thali._paired.worths import WorthsRequest

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
    assert (table["high"] - table["low"]).mean() < 0.7 * (bad.of_check["high"] - bad.of_check["low"]).mean()


def test_half_ties_have_no_check():
    data = th.PairedComparisons([[0, 3, 4], [2, 0, 1], [1, 1, 0]], ties=[[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    board = th.leaderboard(data, ties="half", **QUIET)
    found = th.findings(board)["check"]
    assert found.table is None and found.brief is None
    said(found.sentence, "weight 3.5")


def checked(data, **asked):
    """The check and the draws, of a board with those requests."""
    people = None if asked else "independent"
    request = WorthsRequest(random_seed=1, people=people, lapse=0.02, **asked)
    drawn = drawn_of(request.of(data), request, WorthScale(), False)
    return check_votes(drawn), drawn


def games(seed):
    """Votes of judges in two seasons, with a covariate; some are ties."""
    rng = np.random.default_rng(seed)
    sides = np.array([rng.choice(4, 2, replace=False) for _ in range(300)])
    columns = {"left": sides[:, 0], "right": sides[:, 1], "judge": rng.choice(list("abc"), 300)}
    frame = pd.DataFrame(columns | {"season": rng.integers(1, 3, 300), "length": rng.integers(-1, 2, 300)})
    winner = rng.choice(["left", "right", "tie"], 300)
    frame["winner"] = np.where(winner == "tie", "tie", np.where(winner == "left", frame["left"], frame["right"]))
    return frame.astype({"left": str, "right": str, "winner": str})


@pytest.mark.parametrize("asked", [{}, {"judges": True}, {"period": "season"}, {"judges": True, "period": "season"}])
def test_what_is_predicted_of_pairs(asked):
    """The mean probability of all votes on a pair, whoever gave them and when, with the covariate."""
    dates = {"date": "season"} if "period" in asked else {}
    names = {"first": "left", "second": "right", "chosen": "winner", "respondent": "judge", "covariates": ["length"]}
    table, drawn = checked(th.PairedComparisons.from_trials(games(1), **names | dates), **asked)
    rows, points = drawn.pose.density.rows, drawn.points[:, ::4][:, :1000]
    at, worths = rows.period * 4, points[drawn.pose.density.worths]
    logs = worths[at + rows.first] - worths[at + rows.second]
    if asked.get("judges"):
        logs = np.exp(drawn.pose.density.log_discriminations(points))[rows.judge] * logs
    p = expit(logs + rows.x @ points[drawn.pose.density.beta])
    nu = np.exp(points[drawn.pose.density.nu])
    tied = nu * np.sqrt(p * (1.0 - p))
    p = (0.98 * p + 0.01) if not rows.has_ties else p
    assert len(table) == 12 and table["n"].sum() == 2 * 300
    for first, second in combinations(range(4), 2):
        own = (rows.first == first) & (rows.second == second)
        mine = table[(table["a"] == str(first)) & (table["b"] == str(second))].set_index("tied")
        expected = rows.total[own] @ (tied / (1.0 + tied))[own] / rows.total[own].sum()
        assert mine.loc[True, "predicted"] == pytest.approx(expected.mean(), abs=0.01)
        assert mine.loc[True, "observed"] == rows.tied[own].sum() / rows.total[own].sum()
        assert mine.loc[False, "observed"] == rows.wins[own].sum() / rows.total[own].sum()


@pytest.mark.parametrize("judges", [False, True])
def test_what_is_predicted_of_sets(judges):
    rng = np.random.default_rng(2)
    sets = [sorted(rng.choice(4, 3, replace=False).tolist()) for _ in range(80)]
    rows = [(f"t{k}", "ab"[k % 2], str(option), option == each[0]) for k, each in enumerate(sets) for option in each]
    frame = pd.DataFrame(rows, columns=["task", "judge", "option", "chosen"])
    data = th.Choices.from_frame(frame, choice_id="task", alternative="option", chosen="chosen", respondent="judge")
    table, drawn = checked(data, **({"judges": True} if judges else {}))
    logs = drawn.points[drawn.pose.density.worths]
    sharpness = np.exp(drawn.pose.density.log_discriminations(drawn.points)) if judges else np.ones((2, logs.shape[1]))
    for row in table.itertuples():
        members = [int(each) for each in row.offered.replace(",", " ").replace("'", "").split() if each.isdigit()]
        times = np.array([sum(each == members for each in sets[k::2]) for k in range(2)])
        each = [softmax(d * logs[members], axis=0)[members.index(int(row.alternative))].mean() for d in sharpness]
        assert row.n == times.sum()
        assert row.predicted == pytest.approx(times @ (0.98 * np.array(each) + 0.02 / 3) / times.sum(), abs=0.01)
