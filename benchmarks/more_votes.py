"""Are there enough votes? Whether boards of more votes tell the first three apart as often as is
forecast.

    python benchmarks/more_votes.py [--repeats 300] [--small]

Six options, 600 votes with ties. A truth is drawn from the posterior, further votes from it, on all
pairs or on those of the first three, and a leaderboard is made of all of them; printed is how often
it tells the three apart, beside `more_votes()` of the board of the first 600.
"""

import argparse
from itertools import combinations

import numpy as np

import thali as th
from thali._paired.elo_scale import WorthScale
from thali._paired.leaderboard_posterior import BoardSettings
from thali._paired.leaderboard_table import CERTAIN
from thali._paired.worth_estimates import estimate_worths

WORTHS, NU, VOTES = np.array([0.5, 0.35, 0.1, -0.1, -0.3, -0.5]), 0.3, 600
LABELS = list("ABCDEF")
PAIRS = list(combinations(range(6), 2))


def counts(
    rng: np.random.Generator, worths: np.ndarray, nu: float, votes: int, pairs: list
) -> np.ndarray:
    """Choices, row over column, and ties, of votes on these pairs."""
    found = np.zeros((2, 6, 6))
    for (i, j), number in zip(
        pairs, rng.multinomial(votes, np.full(len(pairs), 1 / len(pairs))), strict=True
    ):
        odds = np.array(
            [np.exp((worths[i] - worths[j]) / 2), np.exp((worths[j] - worths[i]) / 2), nu]
        )
        won, lost, tied = rng.multinomial(number, odds / odds.sum())
        found[0, i, j], found[0, j, i], found[1, i, j], found[1, j, i] = won, lost, tied, tied
    return found


def board_of(found: np.ndarray):
    """The leaderboard of counts."""
    return th.leaderboard(th.PairedComparisons(found[0], LABELS, ties=found[1]), progressbar=False)


def main(small: bool = False, repeats: int = 300) -> None:
    repeats, numbers = (4, (300,)) if small else (repeats, (300, 1000, 5000))
    rng = np.random.default_rng(5)
    begun = counts(rng, WORTHS, NU, VOTES, PAIRS)
    board = board_of(begun)
    first = [LABELS.index(label) for label in board.table.index[:3]]
    drawn = estimate_worths(board.data, BoardSettings(random_seed=1), WorthScale(), False)
    for way, pairs in (("as_so_far", PAIRS), ("among_these", list(combinations(sorted(first), 2)))):
        for number in numbers:
            told = 0
            for _ in range(repeats):
                k = rng.integers(len(drawn.nu))
                order = board_of(
                    begun + counts(rng, drawn.log_worths[k], drawn.nu[k], number, pairs)
                ).order
                order = order.loc[LABELS, LABELS].to_numpy()[np.ix_(first, first)]
                told += bool((np.maximum(order, order.T)[np.triu_indices(3, 1)] >= CERTAIN).all())
            forecast = board.more_votes().loc[number, way]
            print(
                f"{way}, {number:,} more: told apart {told / repeats:.3f}, forecast {forecast:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    main(asked.small, asked.repeats)
