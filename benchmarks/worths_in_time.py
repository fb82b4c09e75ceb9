"""Worths in time beside Elo and Glicko-2: the log score of the battles of the next period.

    python benchmarks/worths_in_time.py [--small] [--seeds 5] [--elote PYTHON]

20 options whose log worths change by a random walk, or not at all, 300 battles in each of 20
periods. From the sixth period on each method sees all periods before and predicts the next: the
posterior of a leaderboard in time by "laplace", with one more step of the walk; one without
periods; Elo (K = 32 and 8, after each battle); Glicko-2 (Glickman 2013, Example of the Glicko-2
system: RD 350, volatility .06, tau .5, period by period), whose expected score allows for both
deviations. PYTHON is that of an environment with elote (`pip install elote`), whose ratings are
updated after each battle, those of Glicko with one time a period. Printed: the mean log probability
of a battle, less that of guesses.
"""

import argparse
import json
import math
import subprocess
import time

import numpy as np
import pandas as pd
from scipy.special import expit

from thali._data.pairs import PairedComparisons
from thali._paired.leaderboard_posterior import BoardSettings, build_worth_problem
from thali._worths.laplace_approximation import Marginal

# periods that are seen before the first prediction; points of a unit of Glicko-2
FIRST, SCALE = 5, 173.7178


def simulated(
    rng: np.random.Generator, options: int, periods: int, each: int, drift: float
) -> pd.DataFrame:
    """The battles of all periods."""
    worth, frames = rng.normal(size=options), []
    for t in range(periods):
        first = rng.integers(0, options, each)
        second = (first + rng.integers(1, options, each)) % options
        won = rng.random(each) < expit(worth[first] - worth[second])
        frames.append(pd.DataFrame({"first": first, "second": second, "won": won, "t": t}))
        worth = worth + drift * rng.normal(size=options)
    return pd.concat(frames, ignore_index=True)


def of_posterior(seen: pd.DataFrame, new: pd.DataFrame, in_time: bool) -> np.ndarray:
    """Probabilities of the first, with a walk in time or without."""
    frame = seen.assign(chosen=np.where(seen["won"], seen["first"], seen["second"]))
    columns = {"date": "t"} if in_time else {}
    data = PairedComparisons.from_trials(
        frame, first="first", second="second", chosen="chosen", **columns
    )
    density = build_worth_problem(data, BoardSettings(period="t" if in_time else None)).density
    rng = np.random.default_rng(1)
    points, (_, _, log_drift, _) = Marginal(density).draw_points(rng, 1000)
    worths = points[density.worths].reshape(density.n_periods, density.n_options, -1)[-1]
    worths = worths + (np.exp(log_drift) * rng.normal(size=worths.shape) if in_time else 0.0)
    place = np.array([data.labels.index(str(k)) for k in range(density.n_options)])
    return expit(worths[place[new["first"]]] - worths[place[new["second"]]]).mean(axis=1)


class Elo:
    """Ratings after each battle."""

    def __init__(self, options: int, k: float) -> None:
        self.rating, self.k = np.zeros(options), k

    def predict(self, new: pd.DataFrame) -> np.ndarray:
        return 1.0 / (
            1.0 + 10.0 ** ((self.rating[new["second"]] - self.rating[new["first"]]) / 400.0)
        )

    def learn(self, battles: pd.DataFrame) -> None:
        for i, j, won in battles[["first", "second", "won"]].itertuples(index=False):
            change = self.k * (
                won - 1.0 / (1.0 + 10.0 ** ((self.rating[j] - self.rating[i]) / 400.0))
            )
            self.rating[i] += change
            self.rating[j] -= change


class Glicko2:
    """Ratings after each period."""

    def __init__(self, options: int, tau: float = 0.5) -> None:
        self.mu, self.phi, self.sigma = (
            np.zeros(options),
            np.full(options, 350.0 / SCALE),
            np.full(options, 0.06),
        )
        self.tau = tau

    def predict(self, new: pd.DataFrame) -> np.ndarray:
        i, j = new["first"], new["second"]
        both = _g(np.hypot(self.phi[i], self.phi[j]))
        return expit(both * (self.mu[i] - self.mu[j]))

    def learn(self, battles: pd.DataFrame) -> None:
        sides = battles["first"].to_numpy(), battles["second"].to_numpy()
        own, other = np.concatenate(sides), np.concatenate(sides[::-1])
        score = np.concatenate([battles["won"], ~battles["won"]]).astype(float)
        g = _g(self.phi[other])
        expected = expit(g * (self.mu[own] - self.mu[other]))
        n = len(self.mu)
        information = np.bincount(own, g**2 * expected * (1.0 - expected), n)
        surprise = np.bincount(own, g * (score - expected), n)
        for k in range(n):
            if information[k] > 0.0:
                v = 1.0 / information[k]
                self.sigma[k] = _volatility(
                    v * surprise[k], self.phi[k], v, self.sigma[k], self.tau
                )
            self.phi[k] = math.hypot(self.phi[k], self.sigma[k])
            self.phi[k] = 1.0 / math.sqrt(self.phi[k] ** -2 + information[k])
            self.mu[k] += self.phi[k] ** 2 * surprise[k]


def _g(phi: np.ndarray) -> np.ndarray:
    return 1.0 / np.sqrt(1.0 + 3.0 * phi**2 / math.pi**2)


def _volatility(delta: float, phi: float, v: float, sigma: float, tau: float) -> float:
    """Step 5 of the procedure, by the Illinois algorithm."""
    a = math.log(sigma**2)

    def f(x: float) -> float:
        e = math.exp(x)
        return e * (delta**2 - phi**2 - v - e) / (2.0 * (phi**2 + v + e) ** 2) - (x - a) / tau**2

    low, high = a, math.log(delta**2 - phi**2 - v) if delta**2 > phi**2 + v else a - tau
    while delta**2 <= phi**2 + v and f(high) < 0.0:
        high -= tau
    at_low, at_high = f(low), f(high)
    while abs(high - low) > 1e-6:
        new = low + (low - high) * at_low / (at_high - at_low)
        at_new = f(new)
        if at_new * at_high <= 0.0:
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = new, at_new
    return math.exp(low / 2.0)


_ELOTE = """
import datetime, json, sys
import elote
options, periods = json.load(sys.stdin)
KINDS = {"Elo": elote.EloCompetitor, "Glicko": elote.GlickoCompetitor, "Glicko-2": elote.Glicko2Competitor,
         "TrueSkill": elote.TrueSkillCompetitor}
found = {}
for name, kind in KINDS.items():
    timed = name.startswith("Glicko")
    begin = datetime.datetime(2026, 1, 1)
    players = [kind(initial_time=begin) if timed else kind() for _ in range(options)]
    found[name] = []
    for t, battles in enumerate(periods):
        found[name].append([players[i].expected_score(players[j]) for i, j, _ in battles])
        for i, j, won in battles:
            winner, loser = (players[i], players[j]) if won else (players[j], players[i])
            if timed:
                winner.beat(loser, match_time=begin + datetime.timedelta(days=t + 1))
            else:
                winner.beat(loser)
print(json.dumps(found))
"""


def of_elote(python: str, battles: pd.DataFrame, options: int) -> dict[str, list[list[float]]]:
    """Probabilities of the first of each battle before its period, by elote's ratings."""
    periods = [
        each[["first", "second", "won"]].astype(int).to_numpy().tolist()
        for _, each in battles.groupby("t")
    ]
    given = json.dumps([options, periods])
    done = subprocess.run(
        [python, "-c", _ELOTE], input=given, capture_output=True, text=True, check=True
    )
    return {f"elote's {name}": each for name, each in json.loads(done.stdout).items()}


def scores(battles: pd.DataFrame, options: int, elote: str = "") -> dict[str, float]:
    """The mean log probability of the battles of the next period, less that of guesses, by
    method."""
    others = of_elote(elote, battles, options) if elote else {}
    running = {
        "Elo, K = 32": Elo(options, 32.0),
        "Elo, K = 8": Elo(options, 8.0),
        "Glicko-2": Glicko2(options),
    }
    found: dict[str, list[np.ndarray]] = {}
    for t in range(battles["t"].max() + 1):
        new = battles[battles["t"] == t]
        if t >= FIRST:
            seen = battles[battles["t"] < t]
            predicted = {name: each.predict(new) for name, each in running.items()}
            predicted |= {name: np.array(each[t]) for name, each in others.items()}
            predicted["leaderboard in time"] = of_posterior(seen, new, True)
            predicted["leaderboard without time"] = of_posterior(seen, new, False)
            for name, p in predicted.items():
                found.setdefault(name, []).append(
                    np.log(np.where(new["won"], p, 1.0 - p)) + math.log(2.0)
                )
        for each in running.values():
            each.learn(new)
    return {name: float(np.concatenate(each).mean()) for name, each in found.items()}


def main(small: bool = False, seeds: int = 5, elote: str = "") -> None:
    seeds, size = (1, (6, 7, 60)) if small else (seeds, (20, 20, 300))
    for drift in (0.0, 0.1, 0.3):
        begin = time.process_time()
        rows = [
            scores(simulated(np.random.default_rng(k), *size, drift), size[0], elote)
            for k in range(seeds)
        ]
        found = pd.DataFrame(rows)
        best = found.mean().drop("leaderboard in time").idxmax()
        gain = found["leaderboard in time"] - found[best]
        print(
            f"drift {drift}, {seeds} seeds, {time.process_time() - begin:.0f} CPU s; log score"
            " above chance:"
        )
        print(
            "; ".join(
                f"{name} {value:.4f}"
                for name, value in found.mean().sort_values(ascending=False).items()
            )
        )
        print(
            f"leaderboard in time less {best}: {gain.mean():.4f}, smallest {gain.min():.4f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--elote", default="", metavar="PYTHON")
    asked = parser.parse_args()
    main(asked.small, asked.seeds, asked.elote)
