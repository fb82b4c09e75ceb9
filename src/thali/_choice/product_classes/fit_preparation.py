"""Before a fit of product classes: defaults, run time forecasts and checks of the data."""

import math
from typing import TYPE_CHECKING

import numpy as np

from thali._data.prediction_scores import find_chosen_rows
from thali._inference.index_arithmetic import repeat_indices
from thali.errors import DataError, Message, Setting

from ..logit_likelihood import encode_directions
from .ragged_draws import choose_spacing

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._posterior.convergence_check import ConvergenceCheck

THIN, TUNE, CHAINS = 16, 250, 4  # of method="mcmc", by default
FIRST_DRAWS, MAX_DRAWS = 125, 8_000  # of each chain: at the first look, and at most
LOOK_DRAWS = 1_000  # draws of each chain whose shares and effects are simulated, over all looks
_MIN_LOOK_DRAWS = 250  # minimum draws of a chain at a look after the first
_MIN_GROWTH, _MAX_GROWTH = 1.5, 8.0  # factors by which draws grow between looks
GROUPS, PARTICLES, SWEEPS_PER_STEP = 8, 64, 80  # of method="smc", by default
# simulated per draw over all respondents, for its shares of levels and effects
OCCASIONS = 2_000
_MAX_NAMED = 3  # dominated choices written out


# Run time of a fit: a run of unknown length stays within the budget -------------------------------


# Seconds of a sweep for each product that was not chosen and each class; the fixed cost of such a
# product equals that of _FIXED_COST_CLASSES classes.
SECONDS_PER_CLASS = 1.25e-8
_FIXED_COST_CLASSES = 26.0
USUAL_CLASSES = 10.0  # classes of a draw, assumed before the first draw
SECONDS_PER_ALTERNATIVE = 6e-8  # seconds of a recorded draw for each product and simulated occasion
# steps of particles = _STEPS (nats / _NATS) ^ _POWER, from observed runs
_STEPS = 20.0
_NATS = 198.0
_POWER = 0.58


def estimate_sweep_seconds(data: "ChoiceExperiment", classes: float = USUAL_CLASSES) -> float:
    """Return the expected CPU seconds of one sweep of a chain or particle."""
    return (
        SECONDS_PER_CLASS * (_FIXED_COST_CLASSES + classes) * (len(data.row_product) - data.n_tasks)
    )


def estimate_draw_seconds(data: "ChoiceExperiment") -> float:
    """Return the expected CPU seconds to simulate the reports of one draw."""
    n_pairs = sum(len(levels) - 1 for levels in data.levels.values())  # each level and the first
    rows_per_draw = len(data.row_product) / data.n_tasks * max(OCCASIONS, 2 * data.n_tasks)
    return SECONDS_PER_ALTERNATIVE * (
        rows_per_draw + 2 * n_pairs * max(OCCASIONS, data.n_respondents)
    )


def estimate_steps(sizes: np.ndarray) -> float:
    """Return the expected number of tempering steps, given the sizes of tasks."""
    return _STEPS * (max(float(np.log(sizes).sum()), 1.0) / _NATS) ** _POWER


def schedule_next_look(draws: int, convergence: "ConvergenceCheck") -> int:
    """Return how many draws per chain to make until the next convergence check."""
    n_target = draws * min(max(convergence.facts.get("longer", 2.0), _MIN_GROWTH), _MAX_GROWTH)
    spacing = choose_spacing(int(n_target))
    return max(math.ceil(n_target / spacing), _MIN_LOOK_DRAWS) * spacing


# Data without information, and choices that only a lapse explains ---------------------------------


def refuse_uninformative(data: "ChoiceExperiment") -> None:
    """Raise DataError for a single task, or tasks with identical alternatives."""
    if data.n_tasks < 2:
        raise DataError(
            "Product classes require at least two tasks across all respondents; got one."
        )
    products = data.products[data.row_product]
    first_products = np.repeat(products[data.first_row[:-1]], np.diff(data.first_row), axis=0)
    if (products == first_products).all():
        raise DataError(
            "The alternatives of each task are identical, so choices contain no information on"
            " preferences; pass the columns in which they differ as attributes."
        )


def find_dominated_choices(data: "ChoiceExperiment", monotone: dict[str, str]) -> np.ndarray:
    """Return indices of tasks in which another product dominates the chosen one.

    Another alternative is better in a monotone attribute, worse in none, and equal otherwise.
    """
    direction = encode_directions(monotone, data.attributes)
    products = data.products[data.row_product]
    task_sizes = np.diff(data.first_row)
    chosen_products = np.repeat(products[find_chosen_rows(data)], task_sizes, axis=0)
    # A missing level equals only a missing level: it is neither better nor worse than others.
    advantage = np.where(
        (products < 0) | (chosen_products < 0),
        np.where(products == chosen_products, 0, -1),
        direction * (products - chosen_products),
    )
    advantage[:, direction == 0] = np.where(products == chosen_products, 0, -1)[:, direction == 0]
    dominates = (advantage >= 0).all(axis=1) & (advantage > 0).any(axis=1)
    return np.unique(repeat_indices(task_sizes)[dominates])


def describe_dominated_choices(
    data: "ChoiceExperiment", monotone: dict[str, str]
) -> "Message | str":
    """Return a warning about choices of dominated products, or "".

    Only ties or lapses explain such choices.
    """
    task_indices = find_dominated_choices(data, monotone)
    if not len(task_indices):
        return ""
    respondent_of_task = data.respondent_of_task
    examples = [
        f"task {str(data.task_labels[t])!r} of respondent"
        f" {data.respondents[respondent_of_task[t]]!r}"
        for t in task_indices[:_MAX_NAMED]
    ]
    others_text = ""
    if len(task_indices) > _MAX_NAMED:
        others_text = f" and {len(task_indices) - _MAX_NAMED:,} more"
    return Message(
        f"A dominated alternative was chosen ({', '.join(examples)}{others_text}): another"
        " alternative is at least as good on every attribute and better on a monotone one. With ",
        Setting("lapse", 0),
        ", the model must treat these respondents as indifferent between the two, which hides most"
        " of their preferences; set ",
        Setting("lapse", 0.02),
        ".",
    )
