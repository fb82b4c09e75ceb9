"""Worths of people who differ: normal log worths with one spread, or with three shared directions.

    python benchmarks/respondent_worths.py --table maxdiff-segments --engine three-directions --seed
    0

These commands make the figures of benchmarks/respondent_worths.md, but for those of the Gamma
weights that came before. One command simulates one table and fits one engine. The
calibration of that page is in tests/worths/people.

Columns of the output:

- log score: of a held-out choice (MaxDiff: the pair of best and worst; rankings: a choice of a
  second ranking), with its standard error over people;
- gap: log score of the truth minus the log score;
- r: correlation of centred individual log worths with the truth, mean over people;
- people, worths, pairs: share of 89 % intervals that contain the truth, of individual log worths,
  of population log worths, and of differences of population log worths;
- ESS: smallest effective sample size of the population's worths / that of the spread between
  people;
- CPU s: CPU seconds of four chains, one after the other, after compiling.
"""

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from effective_sample_sizes import columns, worst_ess

import thali as th
from thali._worths.people.answer_table import tabulate_answers
from thali._worths.people.chain import PeopleChain

TAILS = (0.055, 0.945)
N_DIRECTIONS = {"one-spread": 0, "three-directions": 3}
SIZE_OF_EFFECT = 0.4
MOST_DRAWS_SCORED = 2000


class Design(NamedTuple):
    """A simulated table: how many people answer what, and how they differ."""

    rule: str
    heterogeneity: str
    n_people: int
    n_options: int
    n_sets: int  # of each person
    n_held_out: int  # further sets of each person
    set_size: int
    lowest_worth: float
    highest_worth: float
    has_column: bool = False  # a column `by` with effects of +-.4


DESIGNS = {
    "maxdiff-gamma": Design("maxdiff", "gamma", 500, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-neighbours": Design("maxdiff", "neighbours", 500, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-segments": Design("maxdiff", "segments", 500, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-spreads": Design("maxdiff", "spreads", 500, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-100-segments": Design("maxdiff", "segments", 100, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-100-neighbours": Design("maxdiff", "neighbours", 100, 20, 12, 3, 5, 0.2, 5.0),
    "maxdiff-100-by": Design("maxdiff", "gamma", 100, 20, 12, 3, 5, 0.2, 5.0, has_column=True),
    "pairs": Design("order", "gamma", 60, 12, 40, 15, 2, 0.4, 2.5),
    "pairs-of-40": Design("order", "gamma", 60, 40, 16, 10, 2, 0.4, 2.5),
    "rankings": Design("order", "gamma", 200, 8, 1, 1, 8, 0.4, 2.5),
}


class Study(NamedTuple):
    """True log worths of people (N, n) and of the population (n,), and answers in the order of the
    answer."""

    rule: str
    worths: np.ndarray
    population: np.ndarray
    effects: np.ndarray  # (n,), centred
    answers: np.ndarray  # (N, sets, set size)
    held_out: np.ndarray
    x: np.ndarray | None  # (N, 1)


class Fit(NamedTuple):
    """Draws of an engine: (draws, N, n) of people; (chain, draw, n) and (chain, draw) of the
    population."""

    people: np.ndarray
    population: np.ndarray
    effects: np.ndarray | None
    spread: np.ndarray
    seconds: float


def simulate_deviations(
    rng: np.random.Generator, heterogeneity: str, n_people: int, n: int
) -> np.ndarray:
    """Simulate log deviations (N, n) of people from the common worths."""
    if heterogeneity == "gamma":
        return np.log(np.maximum(rng.gamma(2.0, 0.5, (n_people, n)), 1e-9))
    if heterogeneity == "neighbours":  # tastes for neighbouring options are correlated
        apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return rng.multivariate_normal(np.zeros(n), 0.8**2 * 0.6**apart, n_people)
    if heterogeneity == "spreads":  # people differ more about some options than about others
        return np.geomspace(0.3, 1.6, n)[rng.permutation(n)] * rng.normal(size=(n_people, n))
    segments = 0.9 * rng.normal(size=(3, n))
    return segments[rng.integers(3, size=n_people)] + 0.4 * rng.normal(size=(n_people, n))


def maxdiff_probabilities(worths: np.ndarray) -> np.ndarray:
    """Return P(best, worst), shape (..., m, m), of sets with log worths (..., m)."""
    m = worths.shape[-1]
    difference = worths[..., :, None] - worths[..., None, :]
    difference[..., range(m), range(m)] = -np.inf
    p = np.exp(difference - difference.max(axis=(-2, -1), keepdims=True))
    return p / p.sum(axis=(-2, -1), keepdims=True)


def simulate_answers(
    rng: np.random.Generator, rule: str, worths: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """Order the members of sets (N, T, m) by the answer: best first; maxdiff: best, worst,
    others."""
    v = np.take_along_axis(worths[:, None], sets, axis=2)
    if rule == "maxdiff":
        N, T, m = sets.shape
        p = maxdiff_probabilities(v).reshape(N, T, m * m)
        answer = (rng.random((N, T))[..., None] > p.cumsum(axis=2)[..., :-1]).sum(axis=2)
        is_best, is_worst = (np.arange(m) == each[..., None] for each in divmod(answer, m))
        order = np.argsort(np.where(is_best, 0, np.where(is_worst, 1, 2)), axis=2, kind="stable")
    else:
        order = np.argsort(-(v + rng.gumbel(size=v.shape)), axis=2)
    return np.take_along_axis(sets, order, axis=2)


def simulate_study(design: Design, seed: int) -> Study:
    """Simulate the truth and the answers of all people."""
    rng, N, n = np.random.default_rng(seed), design.n_people, design.n_options
    population = np.log(rng.permutation(np.geomspace(design.lowest_worth, design.highest_worth, n)))
    worths = population + simulate_deviations(rng, design.heterogeneity, N, n)
    effects, x = np.where(np.arange(n) % 2 == 0, SIZE_OF_EFFECT, -SIZE_OF_EFFECT), None
    if design.has_column:
        x = rng.normal(size=(N, 1))
        worths = worths + x * effects
    n_all = design.n_sets + design.n_held_out
    sets = rng.random((N, n_all, n)).argsort(axis=2)[:, :, : design.set_size]
    answers = simulate_answers(rng, design.rule, worths, sets)
    known, held_out = answers[:, : design.n_sets], answers[:, design.n_sets :]
    return Study(design.rule, worths, centre(population), centre(effects), known, held_out, x)


def centre(values: np.ndarray) -> np.ndarray:
    """Subtract the mean over options, the last axis."""
    return values - values.mean(axis=-1, keepdims=True)


# Engines ------------------------------------------------------------------------------------------


def fit_directions(study: Study, seed: int, n_directions: int, n_draws: int, n_tune: int) -> Fit:
    """Fit normal log worths with one spread and shared directions."""
    data, rule = read_choices(study), "reversed" if study.rule == "maxdiff" else "order"
    started = time.process_time()
    table = tabulate_answers(data, rule, 0.0, False, study.x)
    rngs = np.random.default_rng(seed + 1).spawn(4)
    chains = [PeopleChain(table, None, n_directions, n_draws, n_tune, 1, rng) for rng in rngs]
    for chain in chains:
        chain.run_until(chain.total)
    seconds = time.process_time() - started
    population, loadings, log_sds, people = (
        np.stack([getattr(chain.record, name) for chain in chains])
        for name in ("mean", "loadings", "log_sds", "worths")
    )
    apart = (centre(loadings) ** 2).sum(axis=(2, 3)) / (table.n_options - 1)
    spread = 0.5 * np.log(np.exp(2.0 * log_sds[..., 1]) + apart)
    effects = None if study.x is None else centre(population[:, :, 1])
    return Fit(
        people.reshape(-1, *study.worths.shape),
        centre(population[:, :, 0]),
        effects,
        spread,
        seconds,
    )


def read_choices(study: Study) -> th.Choices | th.PairedComparisons:
    """Read the answers as thali's data."""
    (N, n), (_, T, m) = study.worths.shape, study.answers.shape
    labels = [f"o{i}" for i in range(n)]
    rows = np.array(labels)[study.answers.reshape(-1, m)]
    person = np.repeat([f"p{p:03}" for p in range(N)], T)
    if study.rule == "maxdiff":
        frame = pd.DataFrame(np.sort(rows, axis=1), columns=[f"item{k}" for k in range(m)])
        frame["best"], frame["worst"], frame["person"] = rows[:, 0], rows[:, 1], person
        return th.Choices.from_best_worst(frame, respondent="person", labels=labels)
    if m == 2:
        frame = pd.DataFrame({"chosen": rows[:, 0], "rejected": rows[:, 1], "person": person})
        return th.PairedComparisons.from_frame(
            frame, "chosen", "rejected", respondent="person", labels=labels
        )
    frame = pd.DataFrame(rows, columns=[f"rank{k + 1}" for k in range(m)])
    frame["person"] = person
    return th.Choices.from_rankings(frame, respondent="person", labels=labels)


def fit_engine(engine: str, study: Study, seed: int, small: bool) -> Fit:
    """Fit an engine by four chains; `small` shortens them."""
    n_draws, n_tune = (400, 250) if study.rule == "maxdiff" else (500, 300)
    if small:
        n_draws, n_tune = 10, 20
    return fit_directions(study, seed, N_DIRECTIONS[engine], n_draws, n_tune)


# Scores -------------------------------------------------------------------------------------------


def log_probabilities(rule: str, worths: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return log probabilities (N, T) of answers for log worths (N, n)."""
    v = np.take_along_axis(worths[:, None], answers, axis=2)
    if rule == "maxdiff":
        return np.log(maxdiff_probabilities(v)[..., 0, 1])
    tail = np.logaddexp.accumulate(v[..., ::-1], axis=2)[..., ::-1]
    return (v - tail)[..., :-1].sum(axis=2)


def score_held_out(study: Study, people: np.ndarray) -> tuple[float, float, float]:
    """Return the log score a choice, its standard error over people, and the log score of the
    truth."""
    m, n_choices = study.held_out.shape[2], 1
    if study.rule == "order":
        n_choices = m - 1
    p = np.zeros(study.held_out.shape[:2])
    for worths in people:
        p += np.exp(log_probabilities(study.rule, worths.astype(float), study.held_out))
    logs = np.log(p / len(people)).mean(axis=1) / n_choices
    truth = log_probabilities(study.rule, study.worths, study.held_out).mean() / n_choices
    return logs.mean(), logs.std(ddof=1) / np.sqrt(len(logs)), truth


def correlate_people(worths: np.ndarray, estimate: np.ndarray) -> float:
    """Return the correlation of centred log worths (N, n) with estimates, mean over people."""
    true = centre(worths)
    return (
        (estimate * true).sum(axis=1) / np.sqrt((estimate**2).sum(axis=1) * (true**2).sum(axis=1))
    ).mean()


def measure_coverage(truth: np.ndarray, draws: np.ndarray) -> float:
    """Return the share of 89 % intervals that contain the truth; draws (draw, ...)."""
    low, high = np.quantile(draws, TAILS, axis=0)
    return ((low <= truth) & (truth <= high)).mean()


def measure_both_coverages(truth: np.ndarray, draws: np.ndarray) -> tuple[float, float]:
    """Return the coverage of centred values (n,) and of their differences; draws (chain, draw,
    n)."""
    a, b = np.triu_indices(len(truth), 1)
    flat = draws.reshape(-1, len(truth))
    return measure_coverage(truth, flat), measure_coverage(
        truth[a] - truth[b], flat[:, a] - flat[:, b]
    )


def print_scores(name: str, engine: str, seed: int, study: Study, fit: Fit) -> None:
    """Print the scores of one engine on one table."""
    people = fit.people[:: max(1, len(fit.people) // MOST_DRAWS_SCORED)]
    score, error, truth = score_held_out(study, people)
    centred = centre(people)
    r = correlate_people(study.worths, centred.mean(axis=0))
    of_people = measure_coverage(centre(study.worths), centred)
    of_worths, of_pairs = measure_both_coverages(study.population, fit.population)
    ess = (
        f"{worst_ess(columns(fit.population)):,.0f} / {worst_ess([fit.spread]):,.0f} of"
        f" {fit.spread.size:,}"
    )
    print(f"{name}, seed {seed}, {engine}")
    cells = {
        "log score": f"{score:.3f} ({error:.3f})",
        "gap": f"{truth - score:.3f}",
        "r": f"{r:.3f}",
        "people": f"{of_people:.2f}",
        "worths": f"{of_worths:.2f}",
        "pairs": f"{of_pairs:.2f}",
        "ESS": ess,
        "CPU s": f"{fit.seconds:.1f}",
    }
    print(pd.DataFrame([cells]).to_string(index=False), flush=True)
    if fit.effects is not None:
        alone, differences = measure_both_coverages(study.effects, fit.effects)
        print(
            f"effects of the column: intervals contain {alone:.2f}, of differences"
            f" {differences:.2f}"
        )


def main(
    table: str = "pairs", engine: str = "three-directions", seed: int = 0, small: bool = False
) -> None:
    """Fit one engine to one table and print its scores."""
    design = DESIGNS[table]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ThaliWarning)
        shortened = design._replace(n_people=8)
        fit = fit_engine(engine, simulate_study(shortened, seed), seed, small=True)  # compiles
        if small:
            design = shortened
        study = simulate_study(design, seed)
        if not small:
            fit = fit_engine(engine, study, seed, small=False)
    print_scores(table, engine, seed, study, fit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=DESIGNS, default="pairs")
    parser.add_argument("--engine", choices=N_DIRECTIONS, default="three-directions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="few people and draws")
    given = parser.parse_args()
    main(given.table, given.engine, given.seed, given.small)
