"""Choice probabilities of the logit, its log-likelihood and where that is largest, and what it says
of directions."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.optimise import Concave, maximise_newton
from thali._labels import listed, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, InPython, one_of

from .coding import Coding, coding_by

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

_MAX_STEPS = 100
_SMALLEST = 1e-12  # Newton decrement a task at which the maximisation ends
# seconds of the likelihood and its derivatives for each row and column: `benchmarks/forecast.py`
A_CELL = 1.25e-8


class EncodedTasks(NamedTuple):
    """Choices in the form that the likelihood reads."""

    matrix: np.ndarray  # (rows, p)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)

    @property
    def task_of_row(self) -> np.ndarray:
        """Number of the task of every row."""
        return np.repeat(np.arange(len(self.chosen_row)), np.diff(self.first_row))


class NewtonResult(NamedTuple):
    """The end point of Newton's method."""

    beta: np.ndarray
    log_likelihood: float  # less the ridge's part
    hessian: np.ndarray  # of that, negative, so that its inverse is the covariance of the estimates
    converged: bool


def tasks_of(data: "ChoiceExperiment", coding: Coding) -> EncodedTasks:
    """The choices of the data in the columns of a coding."""
    matrix = coding.matrix(data.products)[data.row_product]
    return EncodedTasks(matrix, data.first_row, data.first_row[:-1] + data.chosen)


def probabilities(utilities: np.ndarray, task_of_row: np.ndarray) -> np.ndarray:
    r"""Probability that each row is chosen in its task.

    .. math:: p_j = e^{u_j} \Big/ \sum_{j' \in X} e^{u_{j'}}
    """
    order = np.argsort(task_of_row, kind="stable")
    sorted_tasks = task_of_row[order]
    starts = np.flatnonzero(np.diff(sorted_tasks, prepend=-1))
    number = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    u = utilities[order]
    e = np.exp(u - np.maximum.reduceat(u, starts)[number])
    result = np.empty_like(e)
    result[order] = e / np.add.reduceat(e, starts)[number]
    return result


class LocalLikelihood(NamedTuple):
    """What the likelihood looks like at one vector of tastes."""

    log_chosen: np.ndarray  # (tasks,) ln p_t(x*_t)
    score: np.ndarray  # (tasks, p) x*_t less the mean of the task
    probability: np.ndarray  # (rows,)
    spread: np.ndarray  # (rows, p) x_tj less the mean of the task


def local(tasks: EncodedTasks, beta: np.ndarray) -> LocalLikelihood:
    r"""The log-likelihood of every task and its derivatives.

    .. math:: \bar x_t = \sum_j p_{tj} x_{tj}, \qquad \nabla \ln p_t(x^*_t) = x^*_t - \bar x_t
    """
    x, starts, number = tasks.matrix, tasks.first_row[:-1], tasks.task_of_row
    u = x @ beta
    u -= np.maximum.reduceat(u, starts)[number]
    e = np.exp(u)
    total = np.add.reduceat(e, starts)
    p = e / total[number]
    means = np.add.reduceat(x * p[:, None], starts)
    return LocalLikelihood(
        u[tasks.chosen_row] - np.log(total), x[tasks.chosen_row] - means, p, x - means[number]
    )


def information(at: LocalLikelihood, weight_of_row: np.ndarray | float = 1.0) -> np.ndarray:
    r"""Minus the Hessian of the log-likelihood of all tasks, each with a weight.

    .. math:: \sum_t w_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    return (at.spread * (at.probability * weight_of_row)[:, None]).T @ at.spread


def derivatives(tasks: EncodedTasks, beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    r"""Log-likelihood of all tasks, its gradient and its negative Hessian.

    .. math::
        \ell = \sum_t \ln p_t(x^*_t), \qquad \nabla \ell = \sum_t (x^*_t - \bar x_t), \qquad
        -\nabla^2 \ell = \sum_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    at = local(tasks, beta)
    return float(at.log_chosen.sum()), at.score.sum(axis=0), information(at)


def ascend(tasks: EncodedTasks, ridge: float = 0.0) -> NewtonResult:
    """Maximise the log-likelihood, less ridge/2 times the sum of squares, by Newton's method with
    halved steps."""
    p = tasks.matrix.shape[1]
    ridges = ridge * np.eye(p)

    def at(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = derivatives(tasks, beta)
        return float(value - 0.5 * ridge * beta @ beta), gradient - ridge * beta, hessian + ridges

    target = Concave(at, _least_squares, rounding=0.0)
    top, _, converged = maximise_newton(
        target,
        target.evaluate(np.zeros(p)),
        _SMALLEST * len(tasks.chosen_row),
        take_last=True,
        max_steps=_MAX_STEPS,
    )
    return NewtonResult(top.where, top.value, top.information, converged)


def _least_squares(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step, the shortest one where the information is singular."""
    return np.linalg.lstsq(information, gradient, rcond=None)[0]


def independent_columns(tasks: EncodedTasks) -> np.ndarray:
    """Whether each column is linearly independent, within tasks, of those before it, as a bool
    array (p,).

    Raises a DataError if none is.
    """
    x, starts = tasks.matrix, tasks.first_row[:-1]
    means = np.add.reduceat(x, starts) / np.diff(tasks.first_row)[:, None]
    within = x - means[tasks.task_of_row]
    kept = np.zeros(x.shape[1], dtype=bool)
    basis = np.empty((len(x), 0))
    for j in range(x.shape[1]):
        rest = within[:, j]
        size = np.linalg.norm(x[:, j])
        for _ in range(2):  # twice, because rounding leaves a remainder
            rest = rest - basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > 1e-9 * max(size, 1e-300):
            kept[j] = True
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    if not kept.any():
        raise DataError(
            "No attribute varies within a task, so the choices contain no information on tastes;"
            " check the design."
        )
    return kept


def drawn_choices(
    beta: np.ndarray, tasks: EncodedTasks, first_task: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """A choice in every task at every draw of tastes (chain, draw, respondent, coefficient)."""
    chosen = np.empty((*beta.shape[:2], len(tasks.chosen_row)), np.int64)
    for person, (first, end) in enumerate(pairwise(first_task)):
        for task in range(first, end):
            utility = (
                beta[:, :, person]
                @ tasks.matrix[tasks.first_row[task] : tasks.first_row[task + 1]].T
            )
            # the choice of a logit
            chosen[:, :, task] = (utility + rng.gumbel(size=utility.shape)).argmax(axis=2)
    return {"chosen": chosen}


# Whether the likelihood of a logit has a finite maximum -------------------------------------------


_SUSPICIOUS = 12.0  # difference of two utilities within a task


def separating_columns(tasks: EncodedTasks, beta: np.ndarray) -> np.ndarray:
    r"""Columns along which the likelihood rises without end.

    .. math::

        \max_d \sum_i z_i^T d \quad \text{subject to} \quad z_i^T d \ge 0, \; -1 \le d \le 1, \qquad
        z_i = x^*_t - x_{tj}
    """
    u = tasks.matrix @ beta
    starts = tasks.first_row[:-1]
    if (np.maximum.reduceat(u, starts) - np.minimum.reduceat(u, starts)).max() < _SUSPICIOUS:
        return np.empty(0, dtype=np.int64)
    from scipy.optimize import linprog

    z = tasks.matrix[tasks.chosen_row][tasks.task_of_row] - tasks.matrix
    z = np.unique(z[np.any(z != 0, axis=1)], axis=0)
    z = z / np.abs(z).max(axis=0, initial=1e-300)
    found = linprog(
        -z.sum(axis=0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=(-1.0, 1.0), method="highs"
    )
    if found.x is None or -found.fun < 1e-7:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.abs(found.x) > 1e-6)


# Declared directions of attributes, and whether choices contradict them ---------------------------


DIRECTIONS = {"increasing": 1, "decreasing": -1}
# precision of a coefficient, of the worst level against the best one: finite where choices are
# separated
_RIDGE = 1.0


def directions_of(argument: str, given: Any, data: "ChoiceExperiment") -> dict[str, str]:
    """An argument that maps attributes to directions, checked against the data."""
    from thali._data.experiments.levels import ALPHABET

    found: dict[str, str] = {}
    for name, direction in _pairs(argument, given):
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise ArgumentError(
                Argument(argument),
                f": the direction of {name!r} must be ",
                one_of(argument, (*DIRECTIONS,), " or "),
                f"; got {direction!r}.",
            )
        if name not in data.attributes:
            known = data.attributes
            raise ArgumentError(
                Argument(argument),
                f": the data have no attribute {name!r}; their attributes are"
                f" {shorten(known, 20)}.{suggest(name, known)}",
            )
        if found.get(name, direction) != direction:
            raise ArgumentError(
                Argument(argument),
                f": {name!r} is given as both increasing and decreasing; choose one.",
            )
        levels = data.levels[name]
        if data.orders[name] == ALPHABET:
            raise ArgumentError(
                Argument(argument),
                f": the levels of {name!r} ({shorten(levels)}) were sorted alphabetically; list"
                " them from worst to best with ",
                Argument("levels"),
                InPython(" when creating the data"),
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
            ' must map attributes to directions, such as {"price": "decreasing"}; got'
            f" {given!r}.",
        ) from None


def direction_scores(data: "ChoiceExperiment", attributes: tuple[str, ...]) -> dict[str, float]:
    r"""The z-score of each attribute of a multinomial logit: above 0 if later levels are preferred.

    .. math::

        z = \hat\beta / \operatorname{se}(\hat\beta), \qquad x = \text{level number, from 0 to 1}

    The other attributes have a coefficient for every level. The standard error is the larger of
    that of the likelihood and the sandwich estimate clustered by person.
    """
    ranks = {name: np.linspace(0.0, 1.0, len(data.levels[name])) for name in attributes}
    coding = coding_by(data, ranks)
    tasks = tasks_of(data, coding)
    found = ascend(tasks, _RIDGE)
    inverse = np.linalg.inv(found.hessian)
    variance = np.maximum(
        np.diag(inverse), np.diag(clustered(tasks, found.beta, inverse, data.first_task))
    )
    z = found.beta / np.sqrt(variance)
    return {name: float(z[coding.names.index(name)]) for name in attributes}


def clustered(
    tasks: Any, beta: np.ndarray, inverse: np.ndarray, first_task: np.ndarray
) -> np.ndarray:
    r"""The sandwich estimate of a covariance, clustered by person; `inverse`: that of the
    information.

    .. math:: H^{-1} \Big(\sum_n g_n g_n^T\Big) H^{-1}, \qquad
        g_n = \sum_t \Big(x_{nt, \text{chosen}} - \sum_j p_{ntj} x_{ntj}\Big)
    """
    p = probabilities(tasks.matrix @ beta, tasks.task_of_row)
    expected = np.add.reduceat(p[:, None] * tasks.matrix, tasks.first_row[:-1])
    of_person = np.add.reduceat(tasks.matrix[tasks.chosen_row] - expected, first_task[:-1])
    return inverse @ (of_person.T @ of_person) @ inverse


def contradicted_sentence(data: "ChoiceExperiment", monotone: Mapping[str, str]) -> str:
    """A sentence about directions that the choices contradict by 3 standard errors; "" if there are
    none."""
    if not monotone:
        return ""
    z = direction_scores(data, tuple(monotone))
    against = [
        name
        for name, way in monotone.items()
        if z[name] * (1 if way == "increasing" else -1) < -3.0
    ]
    if not against:
        return ""
    named = listed(f"{name!r} ({monotone[name]}; z = {z[name]:.1f})" for name in against)
    return (
        f"A multinomial logit of these data contradicts the direction declared for {named}; a"
        " model with such a restriction will find no effect. Check the order of the levels, or"
        " declare the other direction or none."
    )
