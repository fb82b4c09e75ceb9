"""What the first place of a board rests on, against brute force on boards of five models."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import thali as th
from thali._paired.leaderboard_audit import _bound_turned_votes, _search_turned_votes, _Votes

MODELS = list("ABCDE")
WORTHS = np.array([1.0, 0.8, 0.3, 0.0, -0.5])
SPREAD = 1.0
PAIRS = list(itertools.permutations(range(5), 2))


def draw_wins(rng, n_votes, is_balanced=False):
    """Return counts of the row over the column."""
    wins = np.zeros((5, 5))
    for k in range(n_votes):
        if is_balanced:
            a, b = PAIRS[k % 20]
        else:
            a, b = rng.choice(5, 2, replace=False)
        if rng.random() > 1 / (1 + np.exp(WORTHS[b] - WORTHS[a])):
            a, b = b, a
        wins[a, b] += 1
    return wins


def most_probable(wins):
    """Return the worths by another way: a general minimiser."""

    def minus_log_posterior(u):
        return (wins * np.logaddexp(0.0, u - u[:, None])).sum() + (u**2).sum() / (2 * SPREAD**2)

    return minimize(minus_log_posterior, np.zeros(5), tol=1e-12).x


def test_worths_are_the_most_probable_ones():
    wins = draw_wins(np.random.default_rng(1), 60)
    np.testing.assert_allclose(_Votes(wins, SPREAD).worths, most_probable(wins), atol=1e-4)


def turn_by_brute_force(wins, leader, limit=3):
    """Return the fewest turned votes that change the first place; None beyond the limit."""
    for n in range(1, limit + 1):
        for turned in itertools.combinations_with_replacement(PAIRS, n):
            left = wins.copy()
            for a, b in turned:
                left[a, b] -= 1
            if left.min() < 0:
                continue
            for a, b in turned:
                left[b, a] += 1
            if not _Votes(left, SPREAD).is_first(leader):
                return n
    return None


@pytest.mark.parametrize("is_balanced", [True, False])
def test_turned_votes_against_brute_force(is_balanced):
    n_exact = n_found = 0
    for seed in range(6):
        wins = draw_wins(np.random.default_rng(seed), 40, is_balanced)
        votes = _Votes(wins, SPREAD)
        leader = int(votes.worths.argmax())
        fewest = turn_by_brute_force(wins, leader, 2)
        upper, winner = _search_turned_votes(votes, leader, wins)
        lower = _bound_turned_votes(wins, wins, leader)
        assert winner != leader
        assert lower <= upper
        if fewest is None:
            assert upper > 2
            continue
        n_found += 1
        n_exact += upper == fewest
        assert lower <= fewest <= upper
    assert n_found > 2
    assert n_exact >= n_found - 1


def test_the_bound_is_sharp_for_two_models():
    wins = np.array([[0.0, 9.0], [4.0, 0.0]])
    votes = _Votes(wins, SPREAD)
    assert _search_turned_votes(votes, 0, wins) == (3, 1)
    assert _bound_turned_votes(wins, wins, 0) == 3


def draw_votes(n_judges=6, n_votes=10):
    """Return a table of votes of judges, some of them ties."""
    rng = np.random.default_rng(14)
    rows = []
    for judge in range(n_judges):
        for _ in range(n_votes):
            a, b = rng.choice(5, 2, replace=False)
            won = rng.random() < 1 / (1 + np.exp(WORTHS[b] - WORTHS[a]))
            verdict = "tie" if rng.random() < 0.1 else ["model_b", "model_a"][int(won)]
            rows.append((f"judge {judge}", MODELS[a], MODELS[b], verdict))
    return pd.DataFrame(rows, columns=["judge", "model_a", "model_b", "winner"])


def count_wins(frame):
    """Return wins with ties counted half."""
    wins = np.zeros((5, 5))
    for row in frame.itertuples():
        a, b = MODELS.index(row.model_a), MODELS.index(row.model_b)
        share = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[row.winner]
        wins[a, b] += share
        wins[b, a] += 1.0 - share
    return wins


@pytest.fixture(scope="module")
def votes():
    return draw_votes()


@pytest.fixture(scope="module")
def audit(votes):
    return th.leaderboard(votes, progressbar=False).audit()


def test_each_voter_is_left_out(votes, audit):
    leaders = {
        judge: MODELS[most_probable(count_wins(votes[votes["judge"] != judge])).argmax()]
        for judge in votes["judge"].unique()
    }
    first = MODELS[most_probable(count_wins(votes)).argmax()]
    decisive = [judge for judge, leader in leaders.items() if leader != first]
    assert decisive, "another seed has a voter who decides"
    assert audit.table.loc["voters", "result"] == len(decisive)
    assert all(repr(judge) in audit.note for judge in decisive)


def test_circular_triads_are_counted(votes, audit):
    wins = count_wins(votes)
    circular = triads = 0
    for a, b, c in itertools.combinations(range(5), 3):
        signs = [np.sign(wins[x, y] - wins[y, x]) for x, y in ((a, b), (b, c), (c, a))]
        if all(signs):
            triads += 1
            circular += abs(sum(signs)) == 3
    assert audit.table.loc["circular triads", "result"] == pytest.approx(circular / triads)
    assert 0 < audit.table.loc["circular triads", "bound"] < 0.25


def test_repeated_votes_are_counted(votes, audit):
    pairs = votes[["model_a", "model_b"]].apply(lambda row: "".join(sorted(row)), axis=1)
    n_repeated = pd.DataFrame({"judge": votes["judge"], "pair": pairs}).duplicated().sum()
    assert audit.table.loc["repeated votes", "result"] == n_repeated


def timed_votes(rng, n=400):
    """Votes of few voters in few seconds, in which many repeat a pair at once."""
    sides = np.array([rng.permutation(3)[:2] for _ in range(n)])
    return pd.DataFrame(
        {
            "model_a": np.array(MODELS)[sides[:, 0]],
            "model_b": np.array(MODELS)[sides[:, 1]],
            "winner": rng.choice(["model_a", "model_b", "tie"], n),
            "judge": rng.choice(["ann", "bob", "cy"], n),
            "tstamp": 1.7e9 + np.round(rng.uniform(0, 300, n), 2),
        }
    )


def count_rapid(votes):
    """Votes with another of the same voter and pair at most a second before, one by one."""
    groups = {}
    for vote in votes.itertuples():
        groups.setdefault((vote.judge, *sorted((vote.model_a, vote.model_b))), []).append(
            vote.tstamp
        )
    return sum(
        any(0 <= own - other <= 1 for k, other in enumerate(times) if (other, k) < (own, j))
        for times in groups.values()
        for j, own in enumerate(times)
    )


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "write",
    [
        lambda seconds: seconds,
        lambda seconds: (seconds * 1000).round().astype("int64"),
        lambda seconds: pd.to_datetime(seconds, unit="s").astype(str),
        lambda seconds: pd.to_datetime(seconds, unit="s"),
    ],
    ids=["seconds", "milliseconds", "text", "times"],
)
def test_rapid_votes_are_counted(write):
    votes = timed_votes(np.random.default_rng(5))
    expected = count_rapid(votes)
    assert 20 < expected < 200
    written = votes.assign(tstamp=write(votes["tstamp"]))
    audit = th.leaderboard(written).audit()
    assert audit.table.loc["rapid votes", "result"] == expected
    assert f"{expected} votes followed the respondent's previous vote on that pair" in audit.note


def test_rapid_votes_stay_when_data_are_merged_or_become_fewer():
    votes = timed_votes(np.random.default_rng(6))
    later = votes.assign(tstamp=votes["tstamp"] + 1e6)
    data = th.read(votes).with_more(th.read(later))
    assert data.answers.rapid.sum() == 2 * count_rapid(votes)
    pair = votes[votes[["model_a", "model_b"]].isin(MODELS[:2]).all(axis=1)]
    assert th.read(votes).subset(MODELS[:2]).answers.rapid.sum() == count_rapid(pair)


@pytest.mark.first(1, "1200")
@pytest.mark.parametrize(
    "times", ["2024-05-31", "2024-05-31 12:30", "soon", 1200, 1.7e9 // 60 * 60]
)
def test_times_without_seconds_are_no_times(times):
    votes = timed_votes(np.random.default_rng(7)).assign(tstamp=times)
    assert "rapid votes" not in th.leaderboard(votes).audit().table.index


def test_dropped_ties_are_named_as_the_exception(audit):
    assert "is first; the other checks count each tie as half a win." in audit.note


def test_it_prints_sentences_and_is_a_finding(audit):
    assert str(audit).startswith("Audit of the first place of ")
    assert "Reversing" in str(audit)
    assert th.findings(audit)[0].table is not None


def test_boards_of_sets_are_refused():
    rankings = th.Choices.from_rankings([list("ABC"), list("BAC"), list("CAB")] * 4)
    with pytest.raises(th.errors.DataError, match="comparisons of two options"):
        th.leaderboard(rankings, progressbar=False).audit()
