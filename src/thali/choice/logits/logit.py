"""Choice probabilities of the logit, and its log-likelihood with two derivatives."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali.inference.optimise.newton import Concave, newton

from ..coding import Coding

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

_MAX_STEPS = 100
_SMALLEST = 1e-12  # Newton decrement a task at which the maximisation ends


class Tasks(NamedTuple):
    """Choices in the form that the likelihood reads."""

    matrix: np.ndarray  # (rows, p)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)

    @property
    def task_of_row(self) -> np.ndarray:
        """Number of the task of every row."""
        return np.repeat(np.arange(len(self.chosen_row)), np.diff(self.first_row))


class Ascent(NamedTuple):
    """The end point of Newton's method."""

    beta: np.ndarray
    log_likelihood: float  # less the ridge's part
    hessian: np.ndarray  # of that, negative, so that its inverse is the covariance of the estimates
    converged: bool


def tasks_of(data: "ChoiceExperiment", coding: Coding) -> Tasks:
    """The choices of the data in the columns of a coding."""
    matrix = coding.matrix(data.products)[data.row_product]
    return Tasks(matrix, data.first_row, data.first_row[:-1] + data.chosen)


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


class Local(NamedTuple):
    """What the likelihood looks like at one vector of tastes."""

    log_chosen: np.ndarray  # (tasks,) ln p_t(x*_t)
    score: np.ndarray  # (tasks, p) x*_t less the mean of the task
    probability: np.ndarray  # (rows,)
    spread: np.ndarray  # (rows, p) x_tj less the mean of the task


def local(tasks: Tasks, beta: np.ndarray) -> Local:
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
    return Local(u[tasks.chosen_row] - np.log(total), x[tasks.chosen_row] - means, p, x - means[number])


def information(at: Local, weight_of_row: np.ndarray | float = 1.0) -> np.ndarray:
    r"""Minus the Hessian of the log-likelihood of all tasks, each with a weight.

    .. math:: \sum_t w_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    return (at.spread * (at.probability * weight_of_row)[:, None]).T @ at.spread


def derivatives(tasks: Tasks, beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    r"""Log-likelihood of all tasks, its gradient and its negative Hessian.

    .. math::
        \ell = \sum_t \ln p_t(x^*_t), \qquad \nabla \ell = \sum_t (x^*_t - \bar x_t), \qquad
        -\nabla^2 \ell = \sum_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    at = local(tasks, beta)
    return float(at.log_chosen.sum()), at.score.sum(axis=0), information(at)


def ascend(tasks: Tasks, ridge: float = 0.0) -> Ascent:
    """Maximise the log-likelihood, less ridge/2 times the sum of squares, by Newton's method with halved steps."""
    p = tasks.matrix.shape[1]
    ridges = ridge * np.eye(p)

    def at(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = derivatives(tasks, beta)
        return float(value - 0.5 * ridge * beta @ beta), gradient - ridge * beta, hessian + ridges

    target = Concave(at, _least_squares, rounding=0.0)
    top, _, converged = newton(
        target, target.look(np.zeros(p)), _SMALLEST * len(tasks.chosen_row), last=True, most=_MAX_STEPS
    )
    return Ascent(top.where, top.value, top.information, converged)


def _least_squares(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step, the shortest one where the information is singular."""
    return np.linalg.lstsq(information, gradient, rcond=None)[0]


def independent_columns(tasks: Tasks) -> np.ndarray:
    """Whether each column is linearly independent, within tasks, of those before it, as a bool array (p,)."""
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
    return kept
