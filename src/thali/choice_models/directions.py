"""Whether choices speak against a direction that an attribute is declared to have."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thali.data.experiment import ChoiceExperiment

_RIDGE = 1.0  # precision of a coefficient, of the worst level against the best one: finite where choices are separated


def direction_scores(data: "ChoiceExperiment", attributes: tuple[str, ...]) -> dict[str, float]:
    r"""For each attribute z of a multinomial logit: above 0 if later levels are liked better.

    .. math:: z = \hat\beta / \operatorname{se}(\hat\beta), \qquad x = \text{level number, from 0 to 1}

    The other attributes have a coefficient for every level. The standard error is the larger of that of the likelihood
    and of that which takes the tasks of a person together (the sandwich).

    Parameters
    ----------
    data : ChoiceExperiment
    attributes : tuple of str

    Returns
    -------
    dict from str to float

    References
    ----------
    White (1982), Maximum likelihood estimation of misspecified models.

    Example
    -------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1] * 8, "task": [1, 1, 2, 2, 3, 3, 4, 4], "choice": [1, 0] * 3 + [0, 1], "price": [90, 150] * 4}
    >>> scores = direction_scores(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)), ("price",))
    >>> round(scores["price"], 2)
    -0.7
    """
    from thali.choice_models.coding import coding_by
    from thali.choice_models.logit import climb, probabilities, tasks_of

    ranks = {name: np.linspace(0.0, 1.0, len(data.levels[name])) for name in attributes}
    coding = coding_by(data, ranks)
    tasks = tasks_of(data, coding)
    found = climb(tasks, _RIDGE)
    p = probabilities(tasks.matrix @ found.beta, tasks.task_of_row)
    expected = np.add.reduceat(p[:, None] * tasks.matrix, tasks.first_row[:-1])
    of_person = np.add.reduceat(tasks.matrix[tasks.chosen_row] - expected, data.first_task[:-1])
    inverse = np.linalg.inv(found.hessian + _RIDGE * np.eye(len(found.beta)))
    variance = np.maximum(np.diag(inverse), np.diag(inverse @ (of_person.T @ of_person) @ inverse))
    z = found.beta / np.sqrt(variance)
    return {name: float(z[coding.names.index(name)]) for name in attributes}


def contradicted_sentence(data: "ChoiceExperiment", monotone: Mapping[str, str], least: float = 3.0) -> str:
    """What to know of directions that the choices speak against, by `least` standard errors; "" if there are none."""
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
