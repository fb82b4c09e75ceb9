"""Checks of the arguments of `ProductClasses`, all before anything runs."""

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.data.check import shorten, suggest
from thali.errors import ArgumentError
from thali.models.arguments import one_of, positive, whole

if TYPE_CHECKING:
    from thali.data.experiment import ChoiceExperiment

METHODS = ("annealed", "smc")
SCHEDULES = ("all", "individual", "observation")
STARTS = ("fixed", "prior")
SAMPLERS = ("recommended", "paper")
DIRECTIONS = {"increasing": 1, "decreasing": -1}
_FINAL_SWEEPS = {"annealed": 600, "smc": 60}
_MOST_NAMED = 3  # dominated choices written out


class Plan(NamedTuple):
    """How a fit runs, every default filled in."""

    method: str
    lapse: float
    alpha: float | None  # None is learned
    beta: float
    groups: int
    particles: int | None  # in each group; 1 of annealed chains; None leaves it to the number of people
    sweeps_per_step: int
    final_sweeps: int
    schedule: str
    start: str
    sampler: str


def plan_of(model: Any) -> Plan:
    """The plan that a model's arguments say.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, or the method has too few groups or particles.
    """
    method = one_of("method", model.method, METHODS)
    lapse = model.lapse
    if isinstance(lapse, bool) or not isinstance(lapse, numbers.Real) or not 0.0 <= float(lapse) < 1.0:
        raise ArgumentError(f"lapse is the probability of a blind choice and must be in [0, 1); got {lapse!r}.")
    alpha = model.alpha
    if alpha is not None:
        alpha = positive("alpha", alpha, "the expected number of classes that a person uses")
    schedule = one_of("schedule", model.schedule, SCHEDULES)
    if method == "annealed" and schedule != "all":
        raise ArgumentError(f"schedule={schedule!r} belongs to method='smc'; annealed chains take all tasks at once.")
    final = _FINAL_SWEEPS[method] if model.final_sweeps is None else model.final_sweeps
    return Plan(
        method=method,
        lapse=float(lapse),
        alpha=alpha,
        beta=positive("beta", model.beta, "the second parameter of the Indian buffet process"),
        groups=_groups(method, model.groups),
        particles=_particles(method, model.particles),
        sweeps_per_step=whole("sweeps_per_step", model.sweeps_per_step, 1),
        final_sweeps=whole("final_sweeps", final, 1 if method == "annealed" else 0),
        schedule=schedule,
        start=one_of("start", model.start, STARTS),
        sampler=one_of("sampler", model.sampler or "recommended", SAMPLERS),
    )


def _groups(method: str, groups: Any) -> int:
    groups = whole("groups", groups, 1)
    if method == "smc" and groups < 2:
        raise ArgumentError(
            "method='smc' needs 2 groups of particles or more, from whose differences errors are told; got groups=1."
        )
    return groups


def _particles(method: str, particles: Any) -> int | None:
    if method == "annealed":
        if particles not in (None, 1):
            raise ArgumentError(
                f"particles belongs to method='smc'; each annealed chain is one (leave particles at None, and raise "
                f"groups for more chains); got {particles!r}."
            )
        return 1
    particles = None if particles is None else whole("particles", particles, 1)
    if particles is not None and particles < 2:
        raise ArgumentError("method='smc' needs 2 particles in each group or more; got particles=1.")
    return particles


def monotone_of(monotone: Any, data: "ChoiceExperiment") -> dict[str, str]:
    """Directions of the monotone attributes, checked against the data.

    Parameters
    ----------
    monotone : None, mapping, or sequence of pairs
        Attribute -> "increasing" (later levels are better) or "decreasing".
    data : ChoiceExperiment

    Returns
    -------
    dict

    Raises
    ------
    ArgumentError
        If an attribute is not in the data or its levels have no order, or a direction is none or contradicts another.
    """
    from thali.data.experiment_levels import ALPHABET

    found: dict[str, str] = {}
    for name, direction in _pairs(monotone):
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise ArgumentError(
                f"monotone: the direction of {name!r} must be 'increasing' or 'decreasing'; got {direction!r}."
            )
        if name not in data.attributes:
            known = data.attributes
            raise ArgumentError(
                f"monotone: the data have no attribute {name!r}; they have {shorten(known, 20)}.{suggest(name, known)}"
            )
        if found.get(name, direction) != direction:
            raise ArgumentError(f"monotone: {name!r} cannot be both increasing and decreasing; choose one.")
        levels = data.levels[name]
        if data.orders[name] == ALPHABET:
            raise ArgumentError(
                f"monotone: the levels of {name!r} ({shorten(levels)}) have no order but the alphabet's; list them "
                "from worst to best by levels= when the data are made."
            )
        found[name] = direction
    return found


def _pairs(monotone: Any) -> list[tuple[str, Any]]:
    if monotone is None:
        return []
    if isinstance(monotone, Mapping):
        return [(str(name), direction) for name, direction in monotone.items()]
    try:
        return [(str(name), direction) for name, direction in monotone]
    except (TypeError, ValueError):
        raise ArgumentError(
            f'monotone must map attributes to directions, such as {{"price": "decreasing"}}; got {monotone!r}.'
        ) from None


def dominated_choices(data: "ChoiceExperiment", monotone: dict[str, str]) -> np.ndarray:
    """Tasks in which another alternative is better in a monotone attribute, worse in none, and equal otherwise.

    Returns
    -------
    int array
        Numbers of tasks.
    """
    direction = np.array([DIRECTIONS.get(monotone.get(name, ""), 0) for name in data.attributes])
    products = data.products[data.row_product]
    sizes = np.diff(data.first_row)
    best = np.repeat(products[data.first_row[:-1] + data.chosen], sizes, axis=0)
    # Missing equals missing alone: what lacks an attribute is neither better nor worse in it.
    ahead = np.where((products < 0) | (best < 0), np.where(products == best, 0, -1), direction * (products - best))
    ahead[:, direction == 0] = np.where(products == best, 0, -1)[:, direction == 0]
    dominates = (ahead >= 0).all(axis=1) & (ahead > 0).any(axis=1)
    return np.unique(np.repeat(np.arange(data.n_tasks), sizes)[dominates])


def dominated_sentence(data: "ChoiceExperiment", monotone: dict[str, str]) -> str:
    """What to know before a fit without lapse of choices that no preferences of this model explain; "" if all is well.

    A dominated alternative can only be chosen where it ties with the better one.
    """
    tasks = dominated_choices(data, monotone)
    if not len(tasks):
        return ""
    person = data.respondent_of_task
    named = [
        f"task {str(data.task_labels[t])!r} of respondent {data.respondents[person[t]]!r}" for t in tasks[:_MOST_NAMED]
    ]
    more = f" and {len(tasks) - _MOST_NAMED:,} more" if len(tasks) > _MOST_NAMED else ""
    return (
        f"In {', '.join(named)}{more} the chosen alternative is no better than another one in any respect and worse in "
        "a monotone attribute; with lapse=0 these respondents can only be indifferent between the two, so that much of "
        "what they care about goes unseen. Set lapse=0.02."
    )
