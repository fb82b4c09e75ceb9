"""Worths of people who differ: one spread or three shared directions beside today's Gamma weights.

    python benchmarks/worths_of_people.py --table maxdiff-segments --engine three-directions --seed 0
    python benchmarks/worths_of_people.py --check
    python benchmarks/worths_of_people.py --calibrate 50 --directions 2

These commands make the figures of docs/house/worths_of_people.md, by the sampler in worths_of_people_sampler.py. One
command simulates one table and fits one engine. "today" is `EliminationByAspects("unique", people=Individuals())`.

Columns of the output:

- log score: of a held-out choice (MaxDiff: the pair of best and worst; rankings: a choice of a second ranking), with
  its standard error over people;
- gap: log score of the truth minus the log score;
- r: correlation of centred individual log worths with the truth, mean over people;
- people, worths, pairs: share of 89 % intervals that contain the truth, of individual log worths, of population log
  worths, and of differences of population log worths;
- ESS: smallest effective sample size of the population's worths / that of the spread between people (today: kappa);
- CPU s: CPU seconds of four chains, one after the other, after compiling.

`--check` compares slopes and curvatures of one person's likelihood with differences and enumeration, and draws for two
options and two people with quadrature; differences above 4.5 standard errors fail. `--calibrate` simulates truths and
data sets from the prior and prints how many 89 % intervals contain the truth, with the p-value of the ranks
(Kolmogorov-Smirnov).
"""

import argparse
import itertools
import math
import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kstest
from worths_of_people_sampler import (
    EFFECT_SD,
    Draws,
    add_person_curvature,
    build_table,
    compute_person_slope,
    draw_chains,
)
from yields import columns, mean_and_error, worst_ess

import thali as th

TAILS = (0.055, 0.945)
N_DIRECTIONS = {"one-spread": 0, "three-directions": 3}
SIZE_OF_EFFECT = 0.4
MOST_DRAWS_SCORED = 2000
MOST_STANDARD_ERRORS = 4.5
LARGEST_ERROR = 1e-5  # of a slope, a sum of probabilities, a curvature; the integral of a ranking is good to 1e-6


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
    """True log worths of people (N, n) and of the population (n,), and answers in the order of the answer."""

    rule: str
    worths: np.ndarray
    population: np.ndarray
    effects: np.ndarray  # (n,), centred
    answers: np.ndarray  # (N, sets, set size)
    held_out: np.ndarray
    x: np.ndarray | None  # (N, 1)


class Fit(NamedTuple):
    """Draws of an engine: (draws, N, n) of people; (chain, draw, n) and (chain, draw) of the population."""

    people: np.ndarray
    population: np.ndarray
    effects: np.ndarray | None
    spread: np.ndarray
    lapse: float
    seconds: float


def simulate_deviations(rng: np.random.Generator, heterogeneity: str, n_people: int, n: int) -> np.ndarray:
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


def simulate_answers(rng: np.random.Generator, rule: str, worths: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Order the members of sets (N, T, m) by the answer: best first; maxdiff: best, worst, others."""
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


# Engines -------------------------------------------------------------------------------------------------------------


def fit_directions(study: Study, seed: int, n_directions: int, n_draws: int, n_tune: int) -> Fit:
    """Fit normal log worths with one spread and shared directions."""
    started = time.process_time()
    table = build_table(study.answers, study.worths.shape[1], study.rule, columns=study.x)
    draws = draw_chains(table, seed + 1, n_directions, n_draws, n_tune)
    seconds = time.process_time() - started
    effects = None if study.x is None else centre(draws.mean[:, :, 1])
    people = draws.u.reshape(-1, *study.worths.shape)
    return Fit(people, centre(draws.mean[:, :, 0]), effects, np.log(draws.spread), 0.0, seconds)


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
        return th.PairedComparisons.from_frame(frame, "chosen", "rejected", respondent="person", labels=labels)
    frame = pd.DataFrame(rows, columns=[f"rank{k + 1}" for k in range(m)])
    frame["person"] = person
    return th.Choices.from_rankings(frame, respondent="person", labels=labels)


def fit_today(study: Study, **settings: int) -> Fit:
    """Fit individual Gamma weights about common ones."""
    data = read_choices(study)
    started = time.process_time()
    if study.rule == "maxdiff":
        model = th.EliminationByAspects("unique", people=th.people.Individuals(), best_worst="reversed")
    else:
        model = th.EliminationByAspects("unique", people=th.people.Individuals(), lapse=0.0)
    model.fit(data, random_seed=1, progressbar=False, cores=1, **settings)
    seconds = time.process_time() - started
    posterior = model.posterior_["posterior"].dataset
    order = np.argsort([int(str(label)[1:]) for label in posterior["option"].values])
    weights = posterior["group_unique_weights"].values
    people = np.log(weights.reshape(-1, *study.worths.shape))[..., order]
    population = centre(np.log(posterior["common_worth"].values))[..., order]
    return Fit(people, population, None, posterior["kappa"].values, model.lapse_, seconds)


def fit_engine(engine: str, study: Study, seed: int, small: bool) -> Fit:
    """Fit an engine by four chains; `small` shortens them."""
    if engine == "today":
        settings = {} if study.rule == "maxdiff" else {"draws": 400, "tune": 400, "thin": 2}
        return fit_today(study, **({"draws": 10, "tune": 10, "thin": 1} if small else settings))
    n_draws, n_tune = (400, 250) if study.rule == "maxdiff" else (500, 300)
    if small:
        n_draws, n_tune = 10, 20
    return fit_directions(study, seed, N_DIRECTIONS[engine], n_draws, n_tune)


# Scores --------------------------------------------------------------------------------------------------------------


def log_probabilities(rule: str, worths: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return log probabilities (N, T) of answers for log worths (N, n)."""
    v = np.take_along_axis(worths[:, None], answers, axis=2)
    if rule == "maxdiff":
        return np.log(maxdiff_probabilities(v)[..., 0, 1])
    tail = np.logaddexp.accumulate(v[..., ::-1], axis=2)[..., ::-1]
    return (v - tail)[..., :-1].sum(axis=2)


def score_held_out(study: Study, people: np.ndarray, lapse: float) -> tuple[float, float, float]:
    """Return the log score a choice, its standard error over people, and the log score of the truth."""
    m, n_choices = study.held_out.shape[2], 1
    if study.rule == "order":
        n_choices = m - 1
    p = np.zeros(study.held_out.shape[:2])
    for worths in people:
        p += (1 - lapse) * np.exp(log_probabilities(study.rule, worths.astype(float), study.held_out))
    if lapse > 0.0:  # of maxdiff alone
        p += len(people) * lapse / (m * (m - 1))
    logs = np.log(p / len(people)).mean(axis=1) / n_choices
    truth = log_probabilities(study.rule, study.worths, study.held_out).mean() / n_choices
    return logs.mean(), logs.std(ddof=1) / np.sqrt(len(logs)), truth


def correlate_people(worths: np.ndarray, estimate: np.ndarray) -> float:
    """Return the correlation of centred log worths (N, n) with estimates, mean over people."""
    true = centre(worths)
    return ((estimate * true).sum(axis=1) / np.sqrt((estimate**2).sum(axis=1) * (true**2).sum(axis=1))).mean()


def measure_coverage(truth: np.ndarray, draws: np.ndarray) -> float:
    """Return the share of 89 % intervals that contain the truth; draws (draw, ...)."""
    low, high = np.quantile(draws, TAILS, axis=0)
    return ((low <= truth) & (truth <= high)).mean()


def measure_both_coverages(truth: np.ndarray, draws: np.ndarray) -> tuple[float, float]:
    """Return the coverage of centred values (n,) and of their differences; draws (chain, draw, n)."""
    a, b = np.triu_indices(len(truth), 1)
    flat = draws.reshape(-1, len(truth))
    return measure_coverage(truth, flat), measure_coverage(truth[a] - truth[b], flat[:, a] - flat[:, b])


def print_scores(name: str, engine: str, seed: int, study: Study, fit: Fit) -> None:
    """Print the scores of one engine on one table."""
    people = fit.people[:: max(1, len(fit.people) // MOST_DRAWS_SCORED)]
    score, error, truth = score_held_out(study, people, fit.lapse)
    centred = centre(people)
    r = correlate_people(study.worths, centred.mean(axis=0))
    of_people = measure_coverage(centre(study.worths), centred)
    of_worths, of_pairs = measure_both_coverages(study.population, fit.population)
    ess = f"{worst_ess(columns(fit.population)):,.0f} / {worst_ess([fit.spread]):,.0f} of {fit.spread.size:,}"
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
        print(f"effects of the column: intervals contain {alone:.2f}, of differences {differences:.2f}")


# Checks --------------------------------------------------------------------------------------------------------------


def list_answers(rule: str, depth: int) -> list[tuple[int, ...]]:
    """List all answers about a set of four; orders of equal first members are one answer."""
    if rule == "order":
        orders = itertools.permutations(range(4))
        return [order for order in orders if sorted(order[depth:]) == list(order[depth:])]
    pairs = itertools.permutations(range(4), 2)
    return [(best, worst, *sorted({0, 1, 2, 3} - {best, worst})) for best, worst in pairs]


def check_likelihood(rule: str, lapse: float, depth: int) -> bool:
    """Print errors of slopes, probabilities and (without a lapse) curvature; returns whether they are small."""
    u = 2.0 * np.random.default_rng(0).normal(size=4)
    space = np.zeros(4), np.zeros(4), np.zeros(5)
    total, slope_error, curvature, squares = 0.0, 0.0, np.zeros(16), np.zeros((4, 4))
    for answer in list_answers(rule, depth):
        table, g, bend = build_table([[answer]], 4, rule, lapse, depth), np.zeros(4), np.zeros(16)
        p = math.exp(compute_person_slope(table, 0, u, g, *space))
        above = [compute_person_slope(table, 0, u + step, np.zeros(4), *space) for step in 1e-5 * np.eye(4)]
        below = [compute_person_slope(table, 0, u - step, np.zeros(4), *space) for step in 1e-5 * np.eye(4)]
        slope_error = max(slope_error, abs(np.subtract(above, below) / 2e-5 - g).max())
        add_person_curvature(table, 0, u, bend)
        total, curvature, squares = total + p, curvature + p * bend, squares + p * np.outer(g, g)
    errors = [slope_error, abs(total - 1.0)]
    if lapse == 0.0 and rule != "ranking":
        errors.append(abs(curvature - squares.ravel()).max())
    print(f"{rule:8s} depth {depth} lapse {lapse:.2f}: errors", *(f"{error:.0e}" for error in errors))
    return max(errors) < LARGEST_ERROR


def integrate_two_people(wins: tuple[int, int], n_answers: int) -> dict[str, float]:
    """Integrate over log sigma, log s and the population's difference; `wins` of option 1, by person."""
    x, weight = np.polynomial.legendre.leggauss(400)
    own, own_weight = 40.0 * x, 40.0 * weight  # a person's difference of log worths
    node, node_weight = np.polynomial.hermite.hermgauss(40)
    difference, log_s = np.linspace(-30.0, 30.0, 1201), np.linspace(math.log(1.3) - 6.0, math.log(1.3) + 5.0, 111)
    variance = 2.0 * np.exp(2.0 * log_s)[:, None]
    prior = np.exp(-0.5 * (log_s[:, None] - math.log(1.3)) ** 2 - difference**2 / (2.0 * variance)) / np.sqrt(variance)

    def likelihoods(values: np.ndarray) -> list[np.ndarray]:
        return [np.exp(-k * np.logaddexp(0, -values) - (n_answers - k) * np.logaddexp(0, values)) for k in wins]

    sums = np.zeros(6)
    for log_sigma in np.linspace(-9.0, 2.0, 111):
        sigma = math.exp(log_sigma)
        if sigma * math.sqrt(2.0) < 0.25:
            nodes = difference[:, None] + 2.0 * sigma * node
            each = [p @ node_weight / math.sqrt(math.pi) for p in likelihoods(nodes)]
        else:
            exponent = -((own - difference[:, None]) ** 2) / (4.0 * sigma**2)
            normal = np.exp(exponent) / math.sqrt(4.0 * math.pi * sigma**2)
            each = [normal @ (p * own_weight) for p in likelihoods(own)]
        density = prior * (each[0] * each[1]) * sigma * math.exp(-0.5 * sigma**2)
        mass = density.sum()
        first, second = (density * difference).sum(), (density * difference**2).sum()
        sums += mass, first, second, mass * log_sigma, mass * sigma, (density.sum(axis=1) * log_s).sum()
    names = "E(M1 - M2)", "E(M1 - M2)^2", "E log sigma", "E sigma", "E log s"
    return dict(zip(names, sums[1:] / sums[0], strict=True))


def check_two_people(wins: tuple[int, int], n_answers: int) -> bool:
    """Print exact means, means of draws and standard errors; returns whether they agree."""
    exact = integrate_two_people(wins, n_answers)
    answers = [[(0, 1)] * k + [(1, 0)] * (n_answers - k) for k in wins]
    draws = draw_chains(build_table(answers, 2, "order"), 3, 0, 2500, 400, 4)
    difference = draws.mean[:, :, 0, 0] - draws.mean[:, :, 0, 1]
    values = difference, difference**2, np.log(draws.sigma), draws.sigma, np.log(draws.s)
    print(f"option 1 chosen {wins[0]} of {n_answers}, {wins[1]} of {n_answers}: exact, mean of draws (standard error)")
    largest = 0.0
    for (name, expected), each in zip(exact.items(), values, strict=True):
        mean, error = mean_and_error(each)
        largest = max(largest, abs(mean - expected) / error)
        print(f"  {name:13s} {expected:8.4f} {mean:8.4f} ({error:.4f})")
    print(f"  largest distance {largest:.1f} standard errors")
    return largest < MOST_STANDARD_ERRORS


def check_sampler() -> int:
    """Run all checks; returns the number of failures."""
    cases = [("order", 0.0, 3), ("order", 0.0, 1), ("order", 0.05, 3), ("maxdiff", 0.0, 3), ("maxdiff", 0.05, 3)]
    agree = [check_likelihood(*case) for case in [*cases, ("ranking", 0.0, 3)]]
    agree += [check_two_people((3, 1), 4), check_two_people((9, 2), 10)]
    print(f"failed: {agree.count(False)} of {len(agree)}")
    return agree.count(False)


def rank_truth(rng: np.random.Generator, index: int, n_directions: int) -> list[float]:
    """Draw a truth and data from the prior; returns the shares of draws below the truth, by quantity."""
    N, n, T = 8, 5, 6
    s, sigma, direction_sd = 1.3 * np.exp(rng.normal()), abs(rng.normal()), abs(rng.normal())
    population, x = s * rng.normal(size=n), rng.normal(size=(N, 1))
    effects, W = EFFECT_SD * rng.normal(size=n), direction_sd * rng.normal(size=(n_directions, n))
    worths = population + x * effects + rng.normal(size=(N, n_directions)) @ W + sigma * rng.normal(size=(N, n))
    rule, m = (("order", 2), ("maxdiff", 4), ("order", 5), ("maxdiff", 3))[index % 4]
    answers = simulate_answers(rng, rule, worths, rng.random((N, T, n)).argsort(axis=2)[:, :, :m])
    draws: Draws = draw_chains(build_table(answers, n, rule, columns=x), index, n_directions, 60, 200, 9, 2)
    spread = np.sqrt(sigma**2 + (centre(W) ** 2).sum() / (n - 1))
    mean, u, true = centre(draws.mean), draws.u, centre(worths)
    pairs = [(draws.sigma, sigma), (draws.s, s), (draws.spread, spread)]
    pairs += [(mean[:, :, 0, 0], centre(population)[0]), (mean[:, :, 1, 1], centre(effects)[1])]
    pairs += [(u[:, :, 0, 2], true[0, 2]), (u[:, :, N - 1, 0], true[N - 1, 0])]
    return [(values < truth).mean() for values, truth in pairs]


def calibrate(n_data_sets: int, n_directions: int, seed: int) -> None:
    """Print coverage of 89 % intervals and p-values of ranks over data sets drawn from the prior."""
    rng = np.random.default_rng(seed)
    ranks = np.array([rank_truth(rng, index, n_directions) for index in range(n_data_sets)])
    names = "sigma", "s", "spread", "population worth", "effect", "individual worth", "another individual worth"
    for name, each in zip(names, ranks.T, strict=True):
        coverage = ((each > TAILS[0]) & (each < TAILS[1])).mean()
        print(f"{name:24s} intervals contain {coverage:.2f}, p {kstest(each, 'uniform').pvalue:.3f}")


def main(table: str = "pairs", engine: str = "three-directions", seed: int = 0, small: bool = False) -> None:
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=DESIGNS, default="pairs")
    parser.add_argument("--engine", choices=("today", *N_DIRECTIONS), default="three-directions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="few people and draws")
    parser.add_argument("--check", action="store_true", help="check the sampler against exact values")
    parser.add_argument("--calibrate", type=int, metavar="SETS", help="data sets drawn from the prior")
    parser.add_argument("--directions", type=int, default=0, help="of --calibrate [0]")
    given = parser.parse_args()
    if given.engine == "today" and DESIGNS[given.table].has_column:
        parser.error("today's engine takes no columns; choose another engine for this table")
    if given.check:
        raise SystemExit(check_sampler())
    if given.calibrate:
        calibrate(given.calibrate, given.directions, given.seed)
    else:
        main(given.table, given.engine, given.seed, given.small)
