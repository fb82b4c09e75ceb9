"""What is known of tiny choice experiments, and how draws of an engine are held against it.

The numbers of TP1 to TP3 come from 10^8 independent draws from the prior, weighted by the
likelihood.
"""

import math
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from helpers.product_class_cases import TP1, TP2, TP3, Experiment
from thali._choice.product_classes.ragged_draws import Particles
from thali._choice.product_classes.reports.choice_probabilities import estimate_row_probabilities
from thali._choice.product_classes.samplers.mcmc import build_chains, build_engine_result
from thali._choice.product_classes.samplers.smc import run_smc
from thali._choice.product_classes.samplers.stored_draws import slice_draws
from thali._choice.product_classes.state import build_class_problem
from thali._inference.markov_chains import Run
from thali._inference.threads_and_processes import run_in_threads

SLACK = 3e-4  # of the table: values were floored at 1e-300 there
FUNCTIONALS = (
    "K",
    "K^2",
    "person 1 owns nothing",
    "classes of person 1",
    "shared by 1 and 2",
    "negative classes of 1",
    "classes with polarity",
    "a",
    "sigma",
    "sum theta of 1",
)
PREDICTED = ("p(x1) 1", "p(x2) 1", "p(x3) 1", "p(x1) new", "p(x2) new", "p(x3) new")
# name: data, monotone attributes, alpha, beta, products to predict, log evidence, (value, standard
# error) of the others
ANSWERS = {
    "TP1": (
        (TP1, {"x0": "increasing"}, 2.0, 1.0, [(1, 0), (1, 1), (0, 2)], (-6.0309, 0.0007)),
        [
            (1.4294, 0.0015),
            (3.7058, 0.0094),
            (0.30854, 0.00023),
            (1.1611, 0.0011),
            (0.2858, 0.0008),
            (0.6178, 0.0007),
            (0.6139, 0.0007),
            (0.9896, 0.0007),
            (0.49269, 0.00021),
            (0.5546, 0.0012),
            (0.65988, 0.00025),
            (0.20976, 0.00019),
            (0.13042, 0.00011),
            (0.43746, 0.00032),
            (0.37711, 0.00029),
            (0.18549, 0.00018),
        ],
    ),
    "TP2": (
        (TP2, {}, 1.5, 0.5, [(0,), (1,), (2,)], (-1.91165, 0.00017)),
        [
            (1.96474, 0.00030),
            (5.9226, 0.0018),
            (0.25162, 0.00007),
            (1.44736, 0.00027),
            (0.92995, 0.00024),
            (0.72368, 0.00020),
            (0.0, 0.0),
            (0.99802, 0.00021),
            (0.50002, 0.00006),
            (0.72003, 0.00036),
            (0.51577, 0.00009),
            (0.15910, 0.00005),
            (0.32531, 0.00008),
            (0.33612, 0.00007),
            (0.35888, 0.00009),
            (0.30513, 0.00007),
        ],
    ),
    "TP3": (
        (
            TP3,
            {"x0": "increasing", "x1": "increasing"},
            2.0,
            2.0,
            [(2, 0), (0, 1), (-1, -1)],
            (-3.11084, 0.00023),
        ),
        [
            (2.69737, 0.00038),
            (9.7327, 0.0029),
            (0.22200, 0.00008),
            (1.53720, 0.00031),
            (0.33551, 0.00014),
            (1.04384, 0.00024),
            (2.69737, 0.00038),
            (0.99784, 0.00022),
            (0.50152, 0.00007),
            (0.77110, 0.00046),
            (0.46164, 0.00006),
            (0.15635, 0.00004),
            (0.38206, 0.00006),
            (0.36579, 0.00009),
            (0.32210, 0.00008),
            (0.31216, 0.00006),
        ],
    ),
}


class Plan(NamedTuple):
    """How long and wide a fit to a tiny problem is."""

    method: str = "smc"
    lapse: float = 0.0
    groups: int = 24
    particles: int = 32
    sweeps_per_step: int = 5
    draws: int = 200
    tune: int = 40
    thin: int = 4

    @property
    def run(self) -> Run:
        draws = self.particles if self.method == "smc" else self.draws
        return Run(draws, self.tune, self.groups, self.thin, None, None, False)


def problem_of_case(name):
    """The compiled problem of a row of the table."""
    data, monotone, alpha, beta, *_ = ANSWERS[name][0]
    return build_class_problem(data, monotone, alpha, beta)


def functionals(draws: Particles) -> np.ndarray:
    """The quantities of FUNCTIONALS of every draw, shape (functionals, draws)."""
    people, count = draws.n_respondents, draws.n_draws
    rows = np.zeros((len(FUNCTIONALS), count))
    owned = np.diff(draws.first_owned).reshape(count, people)
    rows[0] = np.diff(draws.first_class)
    rows[1] = rows[0] ** 2
    rows[2], rows[3] = owned[:, 0] == 0, owned[:, 0]
    unit = np.repeat(np.arange(count * people), np.diff(draws.first_owned))
    draw, person = unit // people, unit % people
    first = person == 0
    name = draw * (draws.owned_class.max(initial=0) + 1) + draws.owned_class
    shared = first & np.isin(name, name[person == 1])
    values = np.exp(draws.owned_log_theta)
    for row, which, weight in ((4, shared, 1.0), (5, first, draws.owned_sign), (9, first, values)):
        rows[row] = np.bincount(draw[which], np.broadcast_to(weight, len(draw))[which], count)
    ordered = np.repeat(np.arange(count), np.diff(draws.first_class))[draws.polarity >= 0]
    rows[6] = np.bincount(ordered, minlength=count)
    rows[7], rows[8] = draws.a, draws.sigma
    return rows


def probabilities_of_parts(*arguments, by_draw=False, repeats=None, cores=None, random_seed=0):
    """Return the probability of each row in its task: a row for each chain, or for each draw."""
    how = {"by_draw": by_draw, "repeats": repeats, "cores": cores, "random_seed": random_seed}
    return estimate_row_probabilities(*arguments, **how)


def choice_probabilities(*arguments, **how):
    """Return the probability of each row in its task, the mean of all draws."""
    return probabilities_of_parts(*arguments, **how).mean(axis=0)


def predicted(draws: Particles, products, seed: int) -> np.ndarray:
    """Probabilities of the products for person 1 and for a new one; groups with the same seed err
    alike."""
    rows = np.arange(len(products))
    ends = np.array([0, len(products)])
    twice = [
        np.concatenate([rows, rows]),
        np.array([*ends, 2 * len(products)]),
        np.array([0, 1, 2]),
    ]
    return choice_probabilities(
        draws, np.array(products), *twice, np.array([0, -1]), cores=1, repeats=8, random_seed=seed
    )


def of_group(draws: Particles, group: int) -> Particles:
    """The draws of one group, which stand together."""
    begin, end = np.flatnonzero(draws.group == group)[[0, -1]]
    return slice_draws(draws, int(begin), int(end) + 1)


def z_scores(by_group: np.ndarray, answers, floor: np.ndarray) -> np.ndarray:
    """Difference to the answers, less the slack, over the combined error; groups in columns.

    The error is that between groups, or that of `floor` if it is greater: skewed quantities have
    their smallest error where they are smallest.
    """
    value, error = np.array(answers).T
    groups = by_group.shape[1]
    own = np.maximum(by_group.std(axis=1, ddof=1) / math.sqrt(groups), floor)
    off = np.maximum(np.abs(by_group.mean(axis=1) - value) - SLACK, 0.0)
    return off / np.sqrt(own**2 + error**2 + 1e-30)


def scores(fit, answers, independent: int) -> np.ndarray:
    """z of all functionals of a fit; `independent` is the most independent draws that it can stand
    for."""
    rows = functionals(fit.particles)
    groups = int(fit.particles.group.max()) + 1
    floor = rows.std(axis=1) / math.sqrt(independent)
    return z_scores(rows.reshape(len(rows), groups, -1).mean(axis=2), answers[: len(rows)], floor)


def evidence_score(
    log_evidence: float, relative_error: float, answer: float, error: float = 0.0
) -> float:
    """z of the evidence itself, whose estimate is without bias, not of its logarithm."""
    ratio = math.exp(log_evidence - answer)
    off = max(abs(ratio - 1.0) - SLACK, 0.0)
    return off / math.sqrt((ratio * relative_error) ** 2 + error**2 + 1e-30)


def binary(people: int, tasks: int, alternatives: int, worse=(), extra=0) -> Experiment:
    """One attribute with two levels; in every task one product is better and chosen, but once by
    the people `worse`; and `extra` people who have no say."""
    products = [(1,)] + [(0,)] * (alternatives - 1)
    own = [[(products, int(n in worse and t == 0)) for t in range(tasks)] for n in range(people)]
    return Experiment([2], own + [[(products, 1)]] * extra)


def closed_form(people, tasks, alternatives, alpha, beta, lapse=0.0, worse=()):
    """Of `binary`: log evidence, the mean number of classes where lapse is 0, P(a person owns
    nothing) of everybody.

    Whoever owns a class prefers the better product, whoever owns none is indifferent, and so many
    given people own nothing with probability exp(−α Σ β / (β + i)).
    """
    with localcontext(prec=60):  # the terms alternate in sign, and nearly cancel
        alpha, beta, lapse = (Decimal(str(number)) for number in (alpha, beta, lapse))
        nobody, miss = Decimal(alternatives) ** -tasks, lapse / alternatives
        hit = 1 - lapse + miss
        owner = [hit ** (tasks - 1) * miss if i in worse else hit**tasks for i in range(people)]
        none = [
            (-alpha * sum(beta / (beta + i) for i in range(j))).exp() for j in range(people + 1)
        ]
        left = [alpha * sum(beta / (beta + i) for i in range(j, people)) for j in range(people + 1)]

        def total(owner, weights):
            e = [Decimal(1)]
            for b in owner:
                e = [x * b + y * (nobody - b) for x, y in zip([*e, 0], [0, *e], strict=True)]
            return sum(x * p * w for x, p, w in zip(e, none, weights, strict=True))

        ones = [1] * (people + 1)
        evidence = total(owner, ones)
        empty = [
            total([0 if j == i else b for j, b in enumerate(owner)], ones) / evidence
            for i in range(people)
        ]
        return float(evidence.ln()), float(total(owner, left) / evidence), list(map(float, empty))


class Silent:
    """No progress is shown; Ctrl-C comes once every chain has done so many sweeps."""

    def __init__(self, chains, until=math.inf):
        self.chains, self.until = chains, until

    def update(self, done):
        if min(chain.sweeps for chain in self.chains) >= self.until:
            raise KeyboardInterrupt


def run_plan(problem, plan, cores=None, random_seed=None):
    """The fit of an engine that has run to its end."""
    run = plan.run._replace(cores=cores)
    if plan.method == "smc":
        return run_smc(problem, plan.lapse, run, plan.sweeps_per_step, random_seed)
    chains = build_chains(problem, plan.lapse, run, plan.draws, random_seed)
    run_in_threads(chains, cores, Silent(chains))
    return build_engine_result(chains)
