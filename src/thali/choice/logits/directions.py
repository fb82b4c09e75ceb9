"""Declared directions of attributes, and whether choices contradict them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import shorten, suggest
from thali.errors import Argument, ArgumentError, InPython

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

DIRECTIONS = {"increasing": 1, "decreasing": -1}
_RIDGE = 1.0  # precision of a coefficient, of the worst level against the best one: finite where choices are separated


def directions_of(argument: str, given: Any, data: "ChoiceExperiment") -> dict[str, str]:
    """An argument that maps attributes to directions, checked against the data."""
    from thali.data.experiments.levels import ALPHABET

    found: dict[str, str] = {}
    for name, direction in _pairs(argument, given):
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise ArgumentError(
                Argument(argument),
                f": the direction of {name!r} must be increasing or decreasing; got {direction!r}.",
            )
        if name not in data.attributes:
            known = data.attributes
            raise ArgumentError(
                Argument(argument),
                f": the data have no attribute {name!r}; they have {shorten(known, 20)}.{suggest(name, known)}",
            )
        if found.get(name, direction) != direction:
            raise ArgumentError(Argument(argument), f": {name!r} cannot be both increasing and decreasing; choose one.")
        levels = data.levels[name]
        if data.orders[name] == ALPHABET:
            raise ArgumentError(
                Argument(argument),
                f": the levels of {name!r} ({shorten(levels)}) have no order but the alphabet's; list them "
                "from worst to best by ",
                Argument("levels"),
                InPython(" when the data are made"),
                ".",
            )
        found[name] = direction
    return found


def _pairs(argument: str, given: Any) -> list[tuple[str, Any]]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(name), direction) for name, direction in given.items()]
    try:
        return [(str(name), direction) for name, direction in given]
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument(argument),
            f' must map attributes to directions, such as {{"price": "decreasing"}}; got {given!r}.',
        ) from None


def direction_scores(data: "ChoiceExperiment", attributes: tuple[str, ...]) -> dict[str, float]:
    r"""The z-score of each attribute of a multinomial logit: above 0 if later levels are preferred.

    .. math:: z = \hat\beta / \operatorname{se}(\hat\beta), \qquad x = \text{level number, from 0 to 1}

    The other attributes have a coefficient for every level. The standard error is the larger of that of the likelihood
    and the sandwich estimate clustered by person.
    """
    from ..coding import coding_by
    from .logit import ascend, probabilities, tasks_of

    ranks = {name: np.linspace(0.0, 1.0, len(data.levels[name])) for name in attributes}
    coding = coding_by(data, ranks)
    tasks = tasks_of(data, coding)
    found = ascend(tasks, _RIDGE)
    p = probabilities(tasks.matrix @ found.beta, tasks.task_of_row)
    expected = np.add.reduceat(p[:, None] * tasks.matrix, tasks.first_row[:-1])
    of_person = np.add.reduceat(tasks.matrix[tasks.chosen_row] - expected, data.first_task[:-1])
    inverse = np.linalg.inv(found.hessian)
    variance = np.maximum(np.diag(inverse), np.diag(inverse @ (of_person.T @ of_person) @ inverse))
    z = found.beta / np.sqrt(variance)
    return {name: float(z[coding.names.index(name)]) for name in attributes}


def contradicted_sentence(data: "ChoiceExperiment", monotone: Mapping[str, str], least: float = 3.0) -> str:
    """A sentence about directions that the choices contradict by `least` standard errors; "" if there are none."""
    if not monotone:
        return ""
    z = direction_scores(data, tuple(monotone))
    against = [name for name, way in monotone.items() if z[name] * (1 if way == "increasing" else -1) < -least]
    if not against:
        return ""
    named = ", ".join(f"{monotone[name]} {name!r} (z = {z[name]:.1f})" for name in against)
    return (
        f"The data speak against {named} in a multinomial logit; a model that allows only this direction finds no "
        "effect there. Check the order of the levels, or declare the other direction or none."
    )
