"""What a fit of product classes is asked for and takes, before anything runs."""

import math
from typing import TYPE_CHECKING

import numpy as np

from thali.errors import DataError, Message, Setting

from ..logit import DIRECTIONS
from .particles import spacing

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._posterior.convergence import ConvergenceCheck

THIN, TUNE, CHAINS = 16, 250, 4  # of method="mcmc", by default
FIRST_DRAWS, LONGEST = 125, 8_000  # of each chain: at the first look, and at most
LOOKS = 1_000  # draws of each chain whose shares and effects are found, at all looks together
_HALF_FULL = 250  # draws of a chain that a look has at least, after the first
_LEAST_JUMP, _MOST_JUMP = 1.5, 8.0  # times as many draws as at the last look
GROUPS, PARTICLES, SWEEPS_PER_STEP = 8, 64, 80  # of method="smc", by default
# of all respondents in a draw, from which its shares of levels and effects are found
OCCASIONS = 2_000
_MAX_NAMED = 3  # dominated choices written out


# How long a fit takes: a run of unknown length keeps within the budget ----------------------------


# Seconds of a sweep for each product that was not chosen and each class; all else costs as much as
# so many classes.
A_CLASS, _AS_CLASSES = 1.25e-8, 26.0
USUAL_CLASSES = 10.0  # of a draw, before there is one
A_WINNER = 6e-8  # seconds of a recorded draw for each product that is looked at on an occasion
# of particles: so many steps for choices of so many nats, from observed runs
_STEPS, _NATS, _POWER = 20.0, 198.0, 0.58


def seconds_of_sweep(data: "ChoiceExperiment", classes: float = USUAL_CLASSES) -> float:
    """Return the seconds of the processor that a sweep of a chain, or of a particle, is expected to
    take."""
    return A_CLASS * (_AS_CLASSES + classes) * (len(data.row_product) - data.n_tasks)


def seconds_of_draw(data: "ChoiceExperiment") -> float:
    """Return the seconds of the processor in which shares of levels and effects of a draw are
    found."""
    pairs = sum(len(levels) - 1 for levels in data.levels.values())  # each level and the first
    looked_at = len(data.row_product) / data.n_tasks * max(OCCASIONS, 2 * data.n_tasks)
    return A_WINNER * (looked_at + 2 * pairs * max(OCCASIONS, data.n_respondents))


def expected_steps(sizes: np.ndarray) -> float:
    """Return the expected steps of particles to the posterior of tasks with so many
    alternatives."""
    return _STEPS * (max(float(np.log(sizes).sum()), 1.0) / _NATS) ** _POWER


def next_look(draws: int, convergence: "ConvergenceCheck") -> int:
    """Return after how many draws of each chain to look again, by the factor that the convergence
    check lacks."""
    wanted = draws * min(max(convergence.facts.get("longer", 2.0), _LEAST_JUMP), _MOST_JUMP)
    step = spacing(int(wanted))
    return max(math.ceil(wanted / step), _HALF_FULL) * step


# What no fit can learn from, and choices that only a lapse explains -------------------------------


def refuse_uninformative(data: "ChoiceExperiment") -> None:
    """Raise DataError for a single task, or for tasks whose alternatives are all the same."""
    if data.n_tasks < 2:
        raise DataError(
            "Product classes require at least two tasks; got one. Add tasks or respondents."
        )
    products = data.products[data.row_product]
    firsts = np.repeat(products[data.first_row[:-1]], np.diff(data.first_row), axis=0)
    if (products == firsts).all():
        raise DataError(
            "The alternatives of each task are identical, so choices contain no information on"
            " preferences; pass the columns in which they differ as attributes."
        )


def dominated_choices(data: "ChoiceExperiment", monotone: dict[str, str]) -> np.ndarray:
    """Tasks in which another alternative is better in a monotone attribute, worse in none, and
    equal otherwise."""
    direction = np.array([DIRECTIONS.get(monotone.get(name, ""), 0) for name in data.attributes])
    products = data.products[data.row_product]
    sizes = np.diff(data.first_row)
    best = np.repeat(products[data.first_row[:-1] + data.chosen], sizes, axis=0)
    # A missing level equals only a missing level: it is neither better nor worse than others.
    ahead = np.where(
        (products < 0) | (best < 0),
        np.where(products == best, 0, -1),
        direction * (products - best),
    )
    ahead[:, direction == 0] = np.where(products == best, 0, -1)[:, direction == 0]
    dominates = (ahead >= 0).all(axis=1) & (ahead > 0).any(axis=1)
    return np.unique(np.repeat(np.arange(data.n_tasks), sizes)[dominates])


def dominated_sentence(data: "ChoiceExperiment", monotone: dict[str, str]) -> "Message | str":
    """A sentence about choices of dominated alternatives, which only ties or lapses explain; "" if
    there are none."""
    tasks = dominated_choices(data, monotone)
    if not len(tasks):
        return ""
    person = data.respondent_of_task
    named = [
        f"task {str(data.task_labels[t])!r} of respondent {data.respondents[person[t]]!r}"
        for t in tasks[:_MAX_NAMED]
    ]
    more = f" and {len(tasks) - _MAX_NAMED:,} more" if len(tasks) > _MAX_NAMED else ""
    return Message(
        f"A dominated alternative was chosen ({', '.join(named)}{more}): another alternative is at"
        " least as good in every respect and better in a monotone attribute. With ",
        Setting("lapse", 0),
        " such respondents must be indifferent between the two, which hides much of what they care"
        " about. Set ",
        Setting("lapse", 0.02),
        ".",
    )
