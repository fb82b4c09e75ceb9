"""Boards of one judge, such as people, that the votes of other judges make more certain."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.special import expit

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.usefixtures("few_draws")]
HOW = {"judges": True, "target": "human", "progressbar": False}


def judged_votes(n_human=60, n_other=500, ties=False):
    """Votes of people and of two other judges, one sharp and one dull."""
    rng = np.random.default_rng(5)
    worths = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    rows = []
    for judge, d, n_votes in (
        ("sharp", 1.0, n_other),
        ("dull", 0.2, n_other),
        ("human", 0.8, n_human),
    ):
        first = rng.integers(5, size=n_votes)
        second = (first + rng.integers(1, 5, size=n_votes)) % 5
        wins = rng.random(n_votes) < expit(d * (worths[first] - worths[second]))
        winner = np.where(wins, "model_a", "model_b")
        if ties:
            winner = np.where(rng.random(n_votes) < 0.1, "tie", winner)
        rows += zip(
            [f"m{i}" for i in first],
            [f"m{i}" for i in second],
            winner,
            [judge] * n_votes,
            strict=True,
        )
    return pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])


def test_a_board_of_people(tmp_path):
    votes = judged_votes()
    board = th.leaderboard(votes, **HOW)
    people = th.leaderboard(votes[votes["judge"] == "human"], progressbar=False).table
    widths = [
        (table["rating_high"] - table["rating_low"]).mean() for table in (board.table, people)
    ]
    assert widths[0] < 0.95 * widths[1]
    table = board.judges()
    assert table.index.tolist() == ["sharp", "dull"]
    assert table["high"]["dull"] < 1.0 < table["high"]["sharp"]
    assert (table["log_score"] > table["log_score_chance"] - 0.01).all()
    assert table["comparisons"].tolist() == [500, 500]
    n_worth = float(board.target_sentence.split(" as much as ")[1].split()[0].replace(",", ""))
    assert 5 <= n_worth < 1000
    board.save(tmp_path / "board.nc")
    loaded = th.load(tmp_path / "board.nc")
    assert loaded.target_sentence == board.target_sentence
    finding = {each.key: each for each in th.findings(loaded)}["judges"]
    assert finding.sentence.startswith("Ratings are those of human (60 votes); the 1,000 votes of")
    assert "less discriminating" in finding.sentence
    assert "Votes are treated as independent, given" in finding.sentence


@pytest.mark.long
def test_ties_of_other_judges_do_not_move_the_board_of_people():
    """With one tie parameter for all, ratings of people were half as far apart."""
    votes = judged_votes(n_human=300, ties=True)
    is_decided = (votes["judge"] == "human") | (votes["winner"] != "tie")
    boards = [th.leaderboard(each, **HOW) for each in (votes, votes[is_decided])]
    ranges = [np.ptp(board.table["rating"]) for board in boards]
    assert ranges[1] == pytest.approx(ranges[0], rel=0.05)
    assert boards[1].tie == pytest.approx(boards[0].tie, rel=0.15)


@pytest.mark.parametrize(
    ("how", "error", "facts"),
    [
        ({"target": "people"}, DataError, ("no judge 'people'", "'human'")),
        ({"judges": False}, ArgumentError, ("`target`", "without `judges`")),
        ({"method": "maximum-likelihood"}, ArgumentError, ("judges",)),
        ({"judge_bias": True}, ArgumentError, ("`target` and `judge_bias`",)),
        ({"period": "week"}, ArgumentError, ("`target` and `period`",)),
    ],
)
def test_targets_that_cannot_be_met_are_refused(how, error, facts):
    with refused(error, *facts):
        th.leaderboard(judged_votes(n_other=20), **HOW | how)


def test_targets_without_other_judges_or_pairs_are_refused():
    votes = judged_votes(n_other=20)
    with refused(DataError, "only judge"):
        th.leaderboard(votes[votes["judge"] == "human"], **HOW)
    frame = pd.DataFrame(
        {"judge": ["human", "gpt"], "rank1": ["a", "b"], "rank2": ["b", "a"], "rank3": ["c", "c"]}
    )
    rankings = th.Choices.from_rankings(frame, respondent="judge")
    with refused(DataError, "requires paired comparisons"):
        th.leaderboard(rankings, **HOW)
