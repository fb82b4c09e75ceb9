"""MaxDiff of many people: everybody with own worths, beside everybody alike, a hierarchical logit
and the truth.

    python benchmarks/maxdiff.py [--people 500] [--seed 0] [--small]

People name the best and the worst of 12 sets of five out of 20 options, and of three more sets,
which are left out. Their weights are Gamma(2, 2) times common ones ("gamma"), or log-normal about
them, with correlations of neighbouring options ("normal", which is what the hierarchical logit
takes them for). The logit is bayesm's `rhierMnlRwMixture` with one component and its default prior
(R; it is left out where Rscript is not here), 10,000 sweeps, of which every tenth is kept and the
first quarter dropped: the best and the worst are two choices, by exp(utility) and by exp(-utility)
out of all five; predictions have the worst out of the rest. "log score" is that of the best and the
worst of a set left out (out of 20 answers: -2.996 by chance), with its standard error over people;
"correlation" that of everybody's log weights with the truth, mean over people.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from bayesm_peer import fit_bayesm, has_bayesm

import thali as th

SETS, LEFT_OUT, SIZE, OPTIONS = 12, 3, 5, 20
LABELS = [f"o{i}" for i in range(OPTIONS)]


class Study(NamedTuple):
    """What people answered, by person and set: sets (people, sets, 5); the best and the worst as
    places in these."""

    weights: np.ndarray  # (people, options), the truth
    sets: np.ndarray
    best: np.ndarray
    worst: np.ndarray

    def part(self, some: slice) -> "Study":
        return Study(self.weights, self.sets[:, some], self.best[:, some], self.worst[:, some])

    def data(self) -> th.Choices:
        people, sets = self.best.shape
        rows, at = self.sets.reshape(-1, SIZE), np.arange(people * sets)
        frame = pd.DataFrame({f"item{k}": [f"o{i}" for i in rows[:, k]] for k in range(SIZE)})
        frame["best"], frame["worst"] = (
            [f"o{i}" for i in rows[at, each.ravel()]] for each in (self.best, self.worst)
        )
        frame["person"] = np.repeat([f"p{n}" for n in range(people)], sets)
        return th.Choices.from_best_worst(frame, respondent="person", labels=LABELS)


def simulated(people: int, kind: str, seed: int) -> Study:
    """Answers by the maximum difference, P(b, w) proportional to v_b / v_w."""
    rng = np.random.default_rng(seed)
    common = rng.permutation(np.geomspace(0.2, 5.0, OPTIONS))
    if kind == "gamma":
        own = rng.gamma(2.0, 0.5, (people, OPTIONS))
    else:
        apart = np.abs(np.subtract.outer(np.arange(OPTIONS), np.arange(OPTIONS)))
        own = np.exp(rng.multivariate_normal(np.zeros(OPTIONS), 0.8**2 * 0.6**apart, people))
    weights = np.maximum(common * own, 1e-6)
    sets = rng.random((people, SETS + LEFT_OUT, OPTIONS)).argsort(axis=2)[:, :, :SIZE]
    v = np.take_along_axis(weights[:, None], sets, axis=2)
    p = of_answers(v).reshape(people, -1, SIZE * SIZE)
    answer = (rng.random(p.shape[:2])[..., None] > p.cumsum(axis=2)[..., :-1]).sum(axis=2)
    return Study(weights, sets, answer // SIZE, answer % SIZE)


def of_answers(v: np.ndarray) -> np.ndarray:
    """P(best, worst) by the maximum difference, from the weights in the last axis."""
    odds = v[..., :, None] / v[..., None, :]
    odds[..., range(SIZE), range(SIZE)] = 0.0
    return odds / odds.sum(axis=(-2, -1), keepdims=True)


def of_two_choices(v: np.ndarray) -> np.ndarray:
    """P(best, worst) of the best out of all, then the worst out of the rest."""
    inverse = 1.0 / v
    rest = inverse.sum(axis=-1, keepdims=True) - inverse
    p = (v / v.sum(axis=-1, keepdims=True))[..., :, None] * (
        inverse[..., None, :] / rest[..., :, None]
    )
    p[..., range(SIZE), range(SIZE)] = 0.0
    return p


class Score:
    """Sums over draws of everybody's weights."""

    def __init__(self, study: Study, probability: Callable[[np.ndarray], np.ndarray]) -> None:
        self.study, self.probability = study, probability
        self.draws, self.p, self.log = 0, np.zeros(study.best.shape), np.zeros(study.weights.shape)

    def add(self, weights: np.ndarray) -> None:
        """A draw (people, options)."""
        study = self.study
        p = self.probability(np.take_along_axis(weights[:, None], study.sets, axis=2))
        n, t = np.ogrid[: p.shape[0], : p.shape[1]]
        self.p += p[n, t, study.best, study.worst]
        self.log += np.log(weights)
        self.draws += 1

    def row(self, name: str, seconds: float, more: str = "") -> None:
        """Print the log score and the correlation with the truth."""
        logs = np.log(self.p / self.draws).mean(axis=1)
        found, true = (
            each - each.mean(axis=1, keepdims=True)
            for each in (self.log, np.log(self.study.weights))
        )
        r = (found * true).sum(axis=1) / np.sqrt((found**2).sum(axis=1) * (true**2).sum(axis=1))
        error = logs.std(ddof=1) / np.sqrt(len(logs))
        print(
            f"{name:34s} {seconds:6.0f}   {logs.mean():.3f} ({error:.3f})   {r.mean():.3f}  "
            f" {more}",
            flush=True,
        )


def of_thali(known: Study, left_out: Study, people: Any) -> None:
    started = time.process_time()
    model = th.BradleyTerryLuce(best_worst="reversed", people=people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.LongRunWarning)
        model.fit(known.data(), random_seed=1, progressbar=False)
    seconds = time.process_time() - started
    posterior, score = model.posterior_["posterior"].dataset, Score(left_out, of_answers)
    name = "log_worth" if people is None else "respondent_log_worth"
    for draw in posterior[name].values.reshape(-1, *posterior[name].shape[2:]):
        score.add(np.broadcast_to(np.exp(draw), left_out.weights.shape))
    r_hat = model.summary()["r_hat"].max()
    more = f"R-hat {r_hat:.3f}, {posterior.sizes['draw']} draws a chain"
    if people is not None:
        spread = posterior["spread_of_respondents"]
        more += f", spread between people {float(spread.mean()):.2f} ({float(spread.std()):.2f})"
    score.row("everybody alike" if people is None else "everybody with own worths", seconds, more)


def of_bayesm(known: Study, left_out: Study, sweeps: int) -> None:
    """The best is chosen by exp(utility), the worst by exp(-utility), each out of all; the utility
    of the last is 0."""
    people, sets = known.best.shape
    x = np.eye(OPTIONS)[known.sets][..., :-1]  # (people, sets, 5, columns)
    both = np.stack([x, -x], axis=2).reshape(-1, OPTIONS - 1)
    chosen = np.stack([known.best, known.worst], axis=2).ravel()
    found, score = (
        fit_bayesm(both, chosen, np.full(people, 2 * sets), SIZE, (sweeps, 1)),
        Score(left_out, of_two_choices),
    )
    for draw in found.beta:
        score.add(np.exp(np.hstack([draw.T, np.zeros((people, 1))])))
    score.row("bayesm", found.seconds, f"{sweeps} sweeps")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    people, sweeps = (20, 100) if given.small else (given.people, 10_000)
    for kind in ("gamma",) if given.small else ("gamma", "normal"):
        study = simulated(people, kind, given.seed)
        known, left_out = study.part(slice(SETS)), study.part(slice(SETS, None))
        print(f"{people} people, weights {kind}\n{'':34s}  CPU s   log score        correlation")
        of_thali(known, left_out, th.people.Individuals())
        of_thali(known, left_out, None)
        if has_bayesm():
            of_bayesm(known, left_out, sweeps)
        truth = Score(left_out, of_answers)
        truth.add(study.weights)
        truth.row("the truth", 0.0)


if __name__ == "__main__":
    main()
