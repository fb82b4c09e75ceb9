"""Audit of a leaderboard: how many votes, which voters and which rules its first place rests on."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from thali._data.pairs import PairedComparisons
from thali._data.respondent_answers import name_respondents
from thali._labels import format_plural, shorten, simplify_number
from thali._number_format import format_percent
from thali._object_descriptions import Description
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

if TYPE_CHECKING:
    from .leaderboard_result import Leaderboard

_MAX_STEPS = 50
_TOLERANCE = 1e-10
_ROUNDING = 1e-8
_MIN_SPREAD = 0.3  # of log worths, for their prior
_N_RIVALS = 5  # options whose way to first place is searched
_N_INFLUENTIAL = 200  # voters who are left out one by one: those who could change the most
_MAX_TRIAD_OPTIONS = 150


@printed_dataclass
class LeaderboardAudit(PrintedResult):
    """What the first place of a leaderboard rests on; it prints as `table` with sentences.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per `check`: `result`, a number, and `bound` or expectation, where there is one.
        "votes turned": turned votes that take away first place (an upper bound, from a greedy
        search), with the proved lower bound. "voters": voters (or items) without whom another
        option is first. "ties dropped": 1 if another option is first without ties, else 0.
        "circular triads": their share, with its expectation. "repeated votes": votes of a voter
        on a pair that the same voter had judged before. "rapid votes": those within a second of
        the previous one, if the table has times in seconds.
    note : str
        The same in sentences.
    """

    def _description(self) -> Description:
        """Return the title and the sentences."""
        return Description(self.title, text=self.note)


class _Votes:
    """Worths that are most probable given wins, and their answer to turned votes."""

    def __init__(self, wins: np.ndarray, spread: float, start: np.ndarray | None = None) -> None:
        self.wins = wins
        self.spread = spread
        self.worths = np.zeros(len(wins)) if start is None else start
        totals = wins + wins.T
        for _ in range(_MAX_STEPS):
            p = expit(self.worths[:, None] - self.worths)
            score = wins.sum(axis=1) - (totals * p).sum(axis=1) - self.worths / spread**2
            conductances = totals * p * p.T
            information = np.diag(conductances.sum(axis=1) + 1.0 / spread**2) - conductances
            self.inverse = np.linalg.inv(information)
            step = self.inverse @ score
            self.worths = self.worths + step / max(1.0, np.abs(step).max())
            if np.abs(step).max() < _TOLERANCE:
                break

    def is_first(self, option: int) -> bool:
        """Return whether no other option is above this one; equal worths differ by rounding."""
        return bool(self.worths[option] >= self.worths.max() - _ROUNDING)

    def measure_influence(self, leader: int, rival: int) -> np.ndarray:
        """Return how much a turned vote of row over column moves the rival towards the leader."""
        pull = self.inverse[rival] - self.inverse[leader]
        return pull - pull[:, None]


def audit_leaderboard(board: "Leaderboard") -> LeaderboardAudit:
    """Check the first place of a leaderboard of comparisons; see `Leaderboard.audit`."""
    import pandas as pd

    data = board.data
    if not isinstance(data, PairedComparisons) or board.effects is not None:
        raise DataError(
            "Only leaderboards of comparisons of two options, without covariates, can be audited."
        )
    spread = max(float(np.log(board.table["worth"]).std()), _MIN_SPREAD)
    choices = data.counts
    wins = data.without_ties("half").counts
    votes = _Votes(wins, spread)
    leader = int(votes.worths.argmax())
    first = data.labels[leader]
    n_votes = float(wins.sum())
    n_turned, winner = _search_turned_votes(votes, leader, choices)
    n_needed = _bound_turned_votes(wins, choices, leader)
    rows = [("votes turned", float(n_turned), float(n_needed))]
    sentences = [
        f"Reversing {format_plural(n_turned, 'vote')} of {n_votes:,.0f} gives"
        f" {data.labels[winner]!r} first place instead of {first!r} (found by a greedy search)."
    ]
    if n_needed > 1:
        sentences.append(f"At least {n_needed:,} must be reversed.")
    if n_turned < 0:
        sentences = [f"No set of reversed votes that was tried moves {first!r} from first place."]
    if first != board.table.index[0]:
        sentences.append(
            "These counts treat each tie as half a win for each option; the leaderboard, which"
            f" models ties differently, ranks {board.table.index[0]!r} first."
        )
    if data.answers is not None:
        word = name_respondents(data.answers)
        decisive = _find_decisive_voters(data, votes, leader)
        rows.append(("voters", float(len(decisive)), np.nan))
        text = f"{first!r} stays first if any single {word} is omitted."
        if decisive:
            text = (
                f"Another option is first without {shorten(decisive)} ({word}s were omitted one at"
                " a time)."
            )
        sentences.append(text)
    if data.n_ties:
        without_ties = _Votes(choices, spread)
        is_kept = without_ties.is_first(leader)
        rows.append(("ties dropped", float(not is_kept), np.nan))
        option = first
        if not is_kept:
            option = data.labels[int(without_ties.worths.argmax())]
        sentences.append(
            f"If ties are dropped, {option!r} is first; the other checks count each tie as half a"
            " win."
        )
    if (triads := _count_circular_triads(wins, votes.worths)) is not None:
        rows.append(("circular triads", *triads))
        sentences.append(
            f"{format_percent(triads[0], 1)} of the triads of options are circular by majority;"
            f" {format_percent(triads[1], 1)} are expected given these worths."
        )
    if data.answers is not None and data.answers.scores is None:
        given = data.answers.wins + data.answers.losses + data.answers.tied
        n_repeated = float(np.maximum(given - 1.0, 0.0).sum())
        rows.append(("repeated votes", n_repeated, np.nan))
        sentences.append(
            f"{format_percent(n_repeated / given.sum(), 1)} of the votes repeat a pair that the"
            " same respondent had already judged."
        )
        if data.answers.rapid is not None:
            n_rapid = simplify_number(float(data.answers.rapid.sum()))
            rows.append(("rapid votes", n_rapid, np.nan))
            sentences.append(
                f"{format_plural(n_rapid, 'vote')} followed the respondent's previous vote on that"
                " pair within one second."
            )
    table = pd.DataFrame(rows, columns=["check", "result", "bound"]).set_index("check")
    return LeaderboardAudit(
        title=f"Audit of the first place of {first}", table=table, note="\n".join(sentences)
    )


def _search_turned_votes(votes: _Votes, leader: int, choices: np.ndarray) -> tuple[int, int]:
    """Return the fewest turned votes found that give another option first place, and the option."""
    rivals = [int(k) for k in np.argsort(-votes.worths) if k != leader][:_N_RIVALS]
    best = -1
    winner = leader
    for rival in rivals:
        current = votes
        left = choices.copy()
        n_turned = 0
        while current.is_first(leader):
            influence = np.where(left >= 1.0, current.measure_influence(leader, rival), -np.inf)
            over, under = np.unravel_index(int(influence.argmax()), influence.shape)
            if not influence[over, under] > 0.0 or 0 <= best <= n_turned:
                n_turned = -1
                break
            gap = current.worths[leader] - current.worths[rival]
            n = int(np.clip(gap / influence[over, under] / 2, 1, left[over, under]))
            wins = current.wins.copy()
            wins[over, under] -= n
            wins[under, over] += n
            left[over, under] -= n
            n_turned += n
            current = _Votes(wins, votes.spread, current.worths)
        if n_turned >= 0 and (best < 0 or n_turned < best):
            best = n_turned
            winner = int(current.worths.argmax())
    return best, winner


def _bound_turned_votes(wins: np.ndarray, choices: np.ndarray, leader: int) -> int:
    """Return a number of votes of which fewer cannot take away first place."""
    # Where a rival is at least level with the leader, their score equations differ by at most the
    # comparisons that the leader has more of with each other option. A turned vote changes the
    # difference of wins by 2 if it was between the two, else by at most 1.
    totals = wins + wins.T
    needed = math.inf
    for rival in range(len(wins)):
        if rival == leader:
            continue
        more = np.maximum(totals[leader] - totals[rival], 0.0)
        more[[leader, rival]] = 0.0
        lead = wins[leader].sum() - wins[rival].sum() - more.sum()
        direct = min(choices[leader, rival], max(lead, 0.0) / 2.0)
        needed = min(
            needed, math.ceil(direct - 1e-9) + math.ceil(max(lead - 2 * direct, 0.0) - 1e-9)
        )
    return max(int(needed), 1)


def _find_decisive_voters(data: PairedComparisons, votes: _Votes, leader: int) -> list[str]:
    """Return the respondents without whom another option is first."""
    answers = data.answers
    assert answers is not None
    half_ties = 0.5 * answers.tied
    shares = answers.wins + half_ties, answers.losses + half_ties
    first = data.first[answers.pair]
    second = data.second[answers.pair]
    p = expit(votes.worths[first] - votes.worths[second])
    scores = np.zeros((len(answers.respondents), data.n_options))
    surprise = shares[0] - (shares[0] + shares[1]) * p
    np.add.at(scores, (answers.respondent, first), surprise)
    np.add.at(scores, (answers.respondent, second), -surprise)
    moves = -scores @ votes.inverse
    gaps = votes.worths[leader] + moves[:, [leader]] - votes.worths - moves
    gaps[:, leader] = np.inf
    decisive = []
    for k in np.argsort(gaps.min(axis=1))[:_N_INFLUENTIAL]:
        rows = answers.respondent == k
        wins = votes.wins.copy()
        np.subtract.at(wins, (first[rows], second[rows]), shares[0][rows])
        np.subtract.at(wins, (second[rows], first[rows]), shares[1][rows])
        if not _Votes(wins, votes.spread, votes.worths).is_first(leader):
            decisive.append(answers.respondents[k])
    return decisive


def _iterate_triads(n: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the triads of options, those of each first option together."""
    for first in range(n - 2):
        second, third = np.triu_indices(n - first - 1, 1)
        yield np.full(len(second), first), second + first + 1, third + first + 1


def _count_circular_triads(wins: np.ndarray, worths: np.ndarray) -> tuple[float, float] | None:
    """Return the share of circular triads by majority, and its expectation; None without triads."""
    from scipy.stats import binom

    kept = np.argsort(-(wins + wins.T).sum(axis=1), kind="stable")[:_MAX_TRIAD_OPTIONS]
    wins = wins[np.ix_(kept, kept)]
    worths = worths[kept]
    totals = np.rint(wins + wins.T)
    p = expit(worths[:, None] - worths)
    # the probability that the row has the majority, given that one of the two has it
    above = binom.sf(np.floor(totals / 2), totals, p)
    above = above / np.maximum(above + above.T, 1e-300)
    leads = wins > wins.T
    has_majority = (totals > 0) & (wins != wins.T)
    n_circular = n_triads = expected = 0.0
    for a, b, c in _iterate_triads(len(wins)):
        counts = has_majority[a, b] & has_majority[b, c] & has_majority[a, c]
        a = a[counts]
        b = b[counts]
        c = c[counts]
        n_triads += len(a)
        n_circular += float(((leads[a, b] == leads[b, c]) & (leads[a, b] != leads[a, c])).sum())
        expected += float((above[a, b] * above[b, c] * above[c, a]).sum())
        expected += float((above[b, a] * above[c, b] * above[a, c]).sum())
    if n_triads == 0:
        return None
    return n_circular / n_triads, expected / n_triads
