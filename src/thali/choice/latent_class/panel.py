"""The likelihood of a mixture of logits over all tasks of a person, with two derivatives."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..logit import Local, Tasks, information, local, tasks_of

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

    from ..coding import Coding


class Panel(NamedTuple):
    """Choices in the form that the likelihood reads."""

    tasks: Tasks
    first_task: np.ndarray  # (people + 1,)

    @property
    def people(self) -> int:
        """Number of people."""
        return len(self.first_task) - 1

    def of(self, wanted: np.ndarray) -> "Panel":
        """The choices of some people alone."""
        counts = np.diff(self.first_task)
        in_tasks = np.repeat(wanted, counts)
        sizes = np.diff(self.tasks.first_row)
        in_rows = np.repeat(in_tasks, sizes)
        chosen = self.tasks.chosen_row - self.tasks.first_row[:-1]
        first_row = np.concatenate([[0], np.cumsum(sizes[in_tasks])])
        tasks = Tasks(self.tasks.matrix[in_rows], first_row, first_row[:-1] + chosen[in_tasks])
        return Panel(tasks, np.concatenate([[0], np.cumsum(counts[wanted])]))


class Point(NamedTuple):
    """Parameters of K classes, and the likelihood there."""

    sizes: np.ndarray  # (K,)
    tastes: np.ndarray  # (K, p)
    value: float  # the log-likelihood of all choices
    membership: np.ndarray  # (people, K)
    at: tuple[Local, ...]  # of each class


def panel_of(data: "ChoiceExperiment", coding: "Coding") -> Panel:
    """The choices of the data in the columns of a coding."""
    return Panel(tasks_of(data, coding), data.first_task)


def point(panel: Panel, sizes: np.ndarray, tastes: np.ndarray) -> Point:
    r"""The likelihood at these parameters, and the posterior probability of everybody's classes.

    .. math::
        \ell = \sum_n \ln \sum_k \pi_k \prod_t p_{tk}(x^*_t), \qquad r_{nk} \propto \pi_k \prod_t p_{tk}(x^*_t)
    """
    at = tuple(local(panel.tasks, beta) for beta in tastes)
    logs = np.stack([np.add.reduceat(each.log_chosen, panel.first_task[:-1]) for each in at], axis=1)
    with np.errstate(divide="ignore"):
        logs = logs + np.log(sizes)
    top = logs.max(axis=1, keepdims=True)
    parts = np.exp(logs - top)
    total = parts.sum(axis=1, keepdims=True)
    return Point(sizes, tastes, float((top + np.log(total)).sum()), parts / total, at)


def derivatives(panel: Panel, where: Point) -> tuple[np.ndarray, np.ndarray]:
    r"""Gradient and information of the log odds of sizes (all but the first class) and of the tastes, class by class.

    With s_nk the score of the choices of person n as if of class k, and I_nk their information (Louis 1982)

    .. math::
        \nabla \ell = \sum_n \sum_k r_{nk} s_{nk}, \qquad
        -\nabla^2 \ell = \sum_n \Big( \sum_k r_{nk} (I_{nk} - s_{nk} s_{nk}^T) + \bar s_n \bar s_n^T \Big), \quad
        \bar s_n = \sum_k r_{nk} s_{nk}
    """
    number, p = where.tastes.shape
    r, sizes = where.membership, where.sizes
    begin = panel.first_task[:-1]
    scores = [np.add.reduceat(each.score, begin) for each in where.at]
    weight_of_row = np.repeat(np.repeat(r, np.diff(panel.first_task), axis=0), np.diff(panel.tasks.first_row), axis=0)
    of_sizes = r[:, 1:] - sizes[1:]
    mean = np.hstack([of_sizes, *(r[:, [k]] * scores[k] for k in range(number))])  # s̄ of everybody
    curve = mean.T @ mean
    log_odds = slice(0, number - 1)
    curve[log_odds, log_odds] += panel.people * (np.diag(sizes[1:]) - np.outer(sizes[1:], sizes[1:]))
    for k in range(number):
        own = slice(number - 1 + k * p, number - 1 + (k + 1) * p)
        weighted = r[:, [k]] * scores[k]
        odds = np.eye(number)[k, 1:] - sizes[1:]  # the score of the log odds in class k
        curve[own, own] += information(where.at[k], weight_of_row[:, k]) - weighted.T @ scores[k]
        curve[log_odds, log_odds] -= r[:, k].sum() * np.outer(odds, odds)
        cross = np.outer(odds, weighted.sum(axis=0))
        curve[log_odds, own] -= cross
        curve[own, log_odds] -= cross.T
    return mean.sum(axis=0), curve
