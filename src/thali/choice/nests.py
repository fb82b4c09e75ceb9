r"""Nests of alternatives, whose utilities share a part that no attribute explains: the nested logit.

.. math::
    P(j) = P(j \mid m) P(m), \qquad P(j \mid m) = e^{V_j / \lambda_m - I_m}, \qquad
    P(m) = \frac{e^{\lambda_m I_m}}{\sum_l e^{\lambda_l I_l}}, \qquad I_m = \ln \sum_{j \in m} e^{V_j / \lambda_m}

An alternative without a nest is one by itself, with λ = 1 (McFadden 1978; in the form that agrees with the maximisation
of utility for every 0 < λ ≤ 1, Train 2009, section 4.2).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, plural, shorten, suggest
from thali.data.experiments.scheme import with_constants
from thali.errors import Argument, ArgumentError, DataError
from thali.inference.optimise import Slope, Target, newton

from .logit import Tasks

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

_STARTS = (1.0, 0.5)  # dissimilarities from which the likelihood, which may have several maxima, is climbed
_GAIN = 1e-10  # no step that promises less is taken
_LONGEST = 5.0  # change of a parameter in one step
_MAX_STEPS = 200


class Nesting(NamedTuple):
    """Which alternatives are in which nest."""

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]  # labels of alternatives
    place: int  # of their attribute
    of_label: tuple[int, ...]  # (labels + 1,) the nest of each label, -1: none; the last: no label

    def of(self, cells: np.ndarray) -> np.ndarray:
        """The nest of each product (rows, attributes), -1: none."""
        labels = cells[:, self.place]
        return np.array(self.of_label)[np.where(np.isnan(labels), -1, labels).astype(np.int64)]


# The argument ---------------------------------------------------------------------------------------------------------


def labelled(data: "ChoiceExperiment", constants: bool, nests: Any) -> "ChoiceExperiment":
    """The data in which the label of the alternative is an attribute, if a model needs it."""
    if constants:
        return with_constants(data)
    return data if nests is None else with_constants(data, Argument("nests"))


def nesting_of(nests: Any, data: "ChoiceExperiment") -> Nesting:
    """The argument `nests`, checked against data whose labels of alternatives are an attribute."""
    scheme, name = data.scheme, Argument("nests")
    if not isinstance(nests, Mapping) or not nests:
        raise ArgumentError(
            name, f" must map names to lists of alternatives, such as {{'public': ['train', 'bus']}}; got {nests!r}."
        )
    known, nest_of = scheme.levels[str(scheme.alternative)], dict[str, str]()
    for nest, members in nests.items():
        if isinstance(members, str) or not hasattr(members, "__iter__"):
            raise ArgumentError(name, f": {nest!r} must list its alternatives; got {members!r}.")
        labels = [as_label(label) for label in members]
        for label in labels:
            if label not in known:
                raise ArgumentError(
                    name,
                    f": there is no alternative {label!r} for {nest!r}; there are {shorten(known, 12)}, each but the "
                    f"no-choice option.{suggest(label, known)}",
                )
            if label in nest_of:
                where = f"in {nest_of[label]!r} and {nest!r}" if nest_of[label] != nest else f"twice in {nest!r}"
                raise ArgumentError(name, f": {label!r} is {where}; each alternative has one nest.")
            nest_of[label] = nest
        if len(labels) < 2:
            raise ArgumentError(
                name,
                f": {nest!r} has {plural(len(labels), 'alternative')}, and choices say nothing of what one alone "
                "shares; leave it out, since an alternative without a nest is one by itself.",
            )
    names = tuple(map(str, nests))
    numbers = {label: list(nests).index(nest) for label, nest in nest_of.items()}
    found = Nesting(
        names,
        tuple(tuple(as_label(label) for label in members) for members in nests.values()),
        data.attributes.index(str(scheme.alternative)),
        (*(numbers.get(label, -1) for label in known), -1),
    )
    _refuse_unseen(found, data)
    return found


def _refuse_unseen(nesting: Nesting, data: "ChoiceExperiment") -> None:
    """Refuse a nest of which no task offers two alternatives, or of which all tasks that do offer nothing else."""
    nest_of_row = np.array(nesting.of_label)[data.products[data.row_product, nesting.place]]
    for number, name in enumerate(nesting.names):
        inside = np.add.reduceat((nest_of_row == number).astype(np.int64), data.first_row[:-1])
        if (inside < 2).all():
            raise DataError(
                f"No task offers two alternatives of the nest {name!r}, so that nothing shows how alike they are; "
                "leave it out of ",
                Argument("nests"),
                ".",
            )
        if (inside == np.diff(data.first_row))[inside >= 2].all():
            raise DataError(
                f"Every task with two alternatives of the nest {name!r} offers no other alternative, so that its "
                "dissimilarity cannot be told from the scale of utility; leave one out of ",
                Argument("nests"),
                ".",
            )


# Choices --------------------------------------------------------------------------------------------------------------


def nested_utilities(utility: np.ndarray, nests: np.ndarray, dissimilarity: np.ndarray) -> np.ndarray:
    r"""Utilities (products, ...) of a market whose odds are the choices among nested products.

    .. math:: V_j / \lambda_m + (\lambda_m - 1) I_m

    `nests` (products,), -1: none; `dissimilarity` (..., nests).
    """
    found = np.array(utility)
    for nest in np.unique(nests[nests >= 0]):
        own, dissimilar = nests == nest, dissimilarity[..., nest]
        scaled = utility[own] / dissimilar
        top = scaled.max(axis=0)
        found[own] = scaled + (dissimilar - 1.0) * (top + np.log(np.exp(scaled - top).sum(axis=0)))
    return found


def nested_rows(
    utility: np.ndarray, task_of_row: np.ndarray, nests: np.ndarray, dissimilarity: np.ndarray
) -> np.ndarray:
    """The same for the rows of many tasks; `dissimilarity` (nests,)."""
    found, inside = utility.copy(), nests >= 0
    own = dissimilarity[nests[inside]]
    scaled = utility[inside] / own
    _, group = np.unique(np.column_stack([task_of_row[inside], nests[inside]]), axis=0, return_inverse=True)
    group = group.ravel()
    top = np.full(group.max(initial=-1) + 1, -np.inf)
    np.maximum.at(top, group, scaled)
    value = top + np.log(np.bincount(group, np.exp(scaled - top[group])))
    found[inside] = scaled + (own - 1.0) * value[group]
    return found


# The likelihood -------------------------------------------------------------------------------------------------------


class NestedTasks(NamedTuple):
    """Choices whose alternatives stand nest by nest within a task."""

    tasks: Tasks
    first_row: np.ndarray  # (groups + 1,) of each group, the alternatives of a task that share a nest
    first_group: np.ndarray  # (tasks + 1,)
    nest: np.ndarray  # (groups,) -1: an alternative alone
    number: int  # of nests


def by_nests(tasks: Tasks, nest_of_row: np.ndarray, number: int) -> NestedTasks:
    """The same choices with the rows of each task in the order of their nests."""
    rows, task = len(nest_of_row), tasks.task_of_row
    key = np.where(nest_of_row >= 0, nest_of_row, number + np.arange(rows))
    order = np.lexsort([key, task])
    place = np.empty(rows, np.int64)
    place[order] = np.arange(rows)
    begins = np.flatnonzero(np.diff(task[order], prepend=-1) | np.diff(key[order], prepend=-1))
    counts = np.bincount(task[order][begins], minlength=len(tasks.chosen_row))
    return NestedTasks(
        Tasks(tasks.matrix[order], tasks.first_row, place[tasks.chosen_row]),
        np.append(begins, rows),
        np.concatenate([[0], np.cumsum(counts)]),
        nest_of_row[order][begins],
        number,
    )


class NestedLocal(NamedTuple):
    """The log-likelihood at one point, and its derivatives by tastes and logarithms of dissimilarities."""

    beta: np.ndarray  # (p,)
    log_dissimilarity: np.ndarray  # (nests,)
    value: float
    gradient: np.ndarray  # (p + nests,)
    information: np.ndarray  # minus the Hessian


def derivatives(nested: NestedTasks, beta: np.ndarray, log_dissimilarity: np.ndarray) -> NestedLocal:
    r"""Log-likelihood of all tasks, its gradient and its negative Hessian.

    With z_j = (x_j, -V_j/λ_m at the place of λ_m), means and covariances C within a nest by P(j | m), the value
    η_m = λ_m I_m of a nest and its gradient g_m = z̄_m + (0, I_m), the score of a task is

    .. math:: (z_c - \bar z_m) / \lambda_m + g_m - \bar g, \qquad \bar g = \sum_l P(l) g_l,

    and minus its Hessian by β and λ

    .. math::
        (\lambda_m^{-2} - \lambda_m^{-1}) C_m + \sum_l P(l) \big(C_l / \lambda_l + (g_l - \bar g)(g_l - \bar g)^T\big)
        - D, \qquad D_{\beta \lambda_m} = -(x_c - \bar x_m) / \lambda_m^2, \quad
        D_{\lambda_m \lambda_m} = 2 (V_c - \bar V_m) / \lambda_m^3.
    """
    x, chosen, begin, first_group = nested.tasks.matrix, nested.tasks.chosen_row, nested.first_row, nested.first_group
    p, number = x.shape[1], nested.number
    dissimilarity = np.exp(log_dissimilarity)
    scale = np.append(dissimilarity, 1.0)[nested.nest]  # of each group
    in_group = np.repeat(np.arange(len(nested.nest)), np.diff(begin))
    in_task = np.repeat(np.arange(len(chosen)), np.diff(first_group))
    utility = x @ beta
    scaled = utility / scale[in_group]
    inclusive = _log_sums(scaled, begin, in_group)
    within = np.exp(scaled - inclusive[in_group])
    worth = scale * inclusive
    total = _log_sums(worth, first_group, in_task)
    of_group = np.exp(worth - total[in_task])
    group = in_group[chosen]

    z = np.zeros((len(x), p + number + 1))  # the last column is for alternatives alone
    z[:, :p] = x
    z[np.arange(len(x)), np.where(nested.nest < 0, number, nested.nest)[in_group] + p] = -scaled
    mean = np.add.reduceat(z * within[:, None], begin[:-1])
    z -= mean[in_group]
    slope = mean
    slope[np.arange(len(slope)), np.where(nested.nest < 0, number, nested.nest) + p] += inclusive
    z, slope = z[:, :-1], slope[:, :-1]
    expected = np.add.reduceat(slope * of_group[:, None], first_group[:-1])
    apart = slope - expected[in_task]
    score = z[chosen] / scale[group][:, None] + apart[group]

    weight = of_group / scale
    weight[group] += 1.0 / scale[group] ** 2 - 1.0 / scale[group]
    information = (z * (within * weight[in_group])[:, None]).T @ z + (apart * of_group[:, None]).T @ apart
    gradient = score.sum(axis=0)
    for nest in range(number):
        own = chosen[nested.nest[group] == nest]
        more, less = z[own, :p].sum(axis=0) / dissimilarity[nest] ** 2, z[own, p + nest].sum()
        information[:p, p + nest] += more
        information[p + nest, :p] += more
        information[p + nest, p + nest] += 2.0 * less / dissimilarity[nest] ** 2  # z holds -V/λ
    units = np.concatenate([np.ones(p), dissimilarity])  # from λ to its logarithm
    gradient *= units
    information *= np.outer(units, units)
    information[np.arange(p, p + number), np.arange(p, p + number)] -= gradient[p:]
    value = float((scaled[chosen] - inclusive[group] + worth[group] - total).sum())
    return NestedLocal(beta, log_dissimilarity, value, gradient, information)


def _log_sums(values: np.ndarray, begin: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of exponentials of each range of values."""
    top = np.maximum.reduceat(values, begin[:-1])
    return top + np.log(np.add.reduceat(np.exp(values - top[number]), begin[:-1]))


class _Nested(Target[NestedLocal]):
    """The likelihood by tastes and logarithms of dissimilarities."""

    def __init__(self, nested: NestedTasks) -> None:
        self._nested = nested

    def moved(self, here: NestedLocal, change: np.ndarray) -> NestedLocal:
        p = len(here.beta)
        with np.errstate(over="ignore", invalid="ignore"):
            return derivatives(self._nested, here.beta + change[:p], here.log_dissimilarity + change[p:])

    def slope(self, here: NestedLocal) -> Slope:
        metric = np.abs(np.diag(here.information))
        return Slope(here.gradient, here.information, metric + 1e-8 * metric.max())


def climb(nested: NestedTasks, beta: np.ndarray) -> tuple[NestedLocal, bool]:
    """The best maximum found from the tastes of the plain logit, and whether Newton's method settled there."""
    best, settled = None, False
    for start in _STARTS:
        here = derivatives(nested, beta, np.full(nested.number, np.log(start)))
        top, _, converged = newton(
            _Nested(nested), here, _GAIN, last=True, damping=1e-3, longest=_LONGEST, most=_MAX_STEPS
        )
        if best is None or top.value > best.value:
            best, settled = top, converged
    assert best is not None
    return best, settled
