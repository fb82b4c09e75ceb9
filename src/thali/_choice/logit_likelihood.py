"""Likelihood of conditional logit choices, its maximisation, separation and covariance."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.prediction_scores import find_chosen_rows
from thali._inference.index_arithmetic import part_indices, sum_parts
from thali._inference.maximisation import Concave, maximise_newton
from thali._labels import list_names, shorten, suggest
from thali._posterior.posterior_interval import interval_tails
from thali.errors import Argument, ArgumentError, DataError, DataWarning, InPython, one_of

from .product_coding import Coding, CodingRequest, build_coding_from_numbers

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment

_MAX_STEPS = 100
_TOLERANCE = 1e-12  # Newton decrement per task at which the maximisation ends
# seconds of likelihood and derivatives per row and column: `benchmarks/run_time_forecast.py`
SECONDS_PER_CELL = 1.25e-8


class EncodedTasks(NamedTuple):
    """Choice tasks as arrays: model matrix, task starts and chosen rows."""

    matrix: np.ndarray  # (rows, p)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)

    @property
    def task_of_row(self) -> np.ndarray:
        """Task index of every row of the model matrix."""
        return part_indices(self.first_row)


class NewtonResult(NamedTuple):
    """Where Newton's method ended: estimate, log-likelihood, information."""

    beta: np.ndarray
    log_likelihood: float  # minus the ridge penalty
    hessian: np.ndarray  # negative, so its inverse is the covariance of the estimates
    converged: bool


def encode_choices(data: "ChoiceExperiment", coding: Coding) -> EncodedTasks:
    """Return the data's tasks and choices as arrays, encoded by a coding."""
    matrix = coding.encode_codes(data.products)[data.row_product]
    return EncodedTasks(matrix, data.first_row, find_chosen_rows(data))


def choice_probabilities(utilities: np.ndarray, task_of_row: np.ndarray) -> np.ndarray:
    r"""Return each row's logit choice probability within its task, shape (rows,).

    .. math:: p_j = e^{u_j} \Big/ \sum_{j' \in X} e^{u_{j'}}
    """
    row_order = np.argsort(task_of_row, kind="stable")
    sorted_tasks = task_of_row[row_order]
    task_starts = np.flatnonzero(np.diff(sorted_tasks, prepend=-1))
    task_index = part_indices(np.append(task_starts, len(row_order)))
    u = utilities[row_order]
    e = np.exp(u - np.maximum.reduceat(u, task_starts)[task_index])
    p = np.empty_like(e)
    p[row_order] = e / np.add.reduceat(e, task_starts)[task_index]
    return p


class LocalLikelihood(NamedTuple):
    """Log-likelihood by task and its derivatives at one vector of tastes."""

    log_chosen: np.ndarray  # (tasks,) ln p_t(x*_t)
    score: np.ndarray  # (tasks, p) x*_t minus the mean of the task
    probability: np.ndarray  # (rows,)
    spread: np.ndarray  # (rows, p) x_tj minus the mean of the task


def compute_local_likelihood(tasks: EncodedTasks, beta: np.ndarray) -> LocalLikelihood:
    r"""Return the log-likelihood of every task and its derivatives.

    .. math:: \bar x_t = \sum_j p_{tj} x_{tj}, \qquad \nabla \ln p_t(x^*_t) = x^*_t - \bar x_t
    """
    x = tasks.matrix
    task_starts = tasks.first_row[:-1]
    task_index = tasks.task_of_row
    u = x @ beta
    u -= np.maximum.reduceat(u, task_starts)[task_index]
    e = np.exp(u)
    task_sums = np.add.reduceat(e, task_starts)
    p = e / task_sums[task_index]
    mean_columns = np.add.reduceat(x * p[:, None], task_starts)
    return LocalLikelihood(
        u[tasks.chosen_row] - np.log(task_sums),
        x[tasks.chosen_row] - mean_columns,
        p,
        x - mean_columns[task_index],
    )


def fisher_information(
    likelihood: LocalLikelihood, weight_of_row: np.ndarray | float = 1.0
) -> np.ndarray:
    r"""Return the negative Hessian of the weighted log-likelihood, (p, p).

    .. math:: \sum_t w_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    return (
        likelihood.spread * (likelihood.probability * weight_of_row)[:, None]
    ).T @ likelihood.spread


def log_likelihood_derivatives(
    tasks: EncodedTasks, beta: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    r"""Return log-likelihood, gradient (p,), and negative Hessian (p, p).

    .. math::
        \ell = \sum_t \ln p_t(x^*_t), \qquad \nabla \ell = \sum_t (x^*_t - \bar x_t), \qquad
        -\nabla^2 \ell = \sum_t \sum_j p_{tj} (x_{tj} - \bar x_t)(x_{tj} - \bar x_t)^T
    """
    likelihood = compute_local_likelihood(tasks, beta)
    return (
        float(likelihood.log_chosen.sum()),
        likelihood.score.sum(axis=0),
        fisher_information(likelihood),
    )


def maximise_log_likelihood(tasks: EncodedTasks, ridge: float = 0.0) -> NewtonResult:
    """Maximise the log-likelihood minus ridge / 2 times the sum of squares.

    Uses Newton's method with halved steps.
    """
    p = tasks.matrix.shape[1]
    ridge_matrix = ridge * np.eye(p)

    def evaluate_objective(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return penalised log-likelihood, gradient and information at beta."""
        log_likelihood, gradient, hessian = log_likelihood_derivatives(tasks, beta)
        return (
            float(log_likelihood - 0.5 * ridge * beta @ beta),
            gradient - ridge * beta,
            hessian + ridge_matrix,
        )

    objective = Concave(evaluate_objective, _compute_newton_step, rounding=0.0)
    maximum, _, has_converged = maximise_newton(
        objective,
        objective.evaluate(np.zeros(p)),
        _TOLERANCE * len(tasks.chosen_row),
        take_last=True,
        max_steps=_MAX_STEPS,
    )
    return NewtonResult(maximum.where, maximum.value, maximum.information, has_converged)


def _compute_newton_step(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the Newton step information^-1 gradient, the shortest if singular."""
    return np.linalg.lstsq(information, gradient, rcond=None)[0]


def find_independent_columns(tasks: EncodedTasks) -> np.ndarray:
    """Return a mask of columns linearly independent of earlier ones, (p,).

    Independence is linear and within tasks. Raises DataError if no column varies within tasks.
    """
    x = tasks.matrix
    task_starts = tasks.first_row[:-1]
    task_means = np.add.reduceat(x, task_starts) / np.diff(tasks.first_row)[:, None]
    centred_columns = x - task_means[tasks.task_of_row]
    is_independent = np.zeros(x.shape[1], dtype=bool)
    basis = np.empty((len(x), 0))
    for j in range(x.shape[1]):
        column_residual = centred_columns[:, j]
        column_norm = np.linalg.norm(x[:, j])
        for _ in range(2):  # twice, because rounding leaves a remainder
            column_residual = column_residual - basis @ (basis.T @ column_residual)
        if np.linalg.norm(column_residual) > 1e-9 * max(column_norm, 1e-300):
            is_independent[j] = True
            basis = np.column_stack([basis, column_residual / np.linalg.norm(column_residual)])
    if not is_independent.any():
        raise DataError(
            "No attribute varies within any task, so the choices contain no information about"
            " preferences; check the design."
        )
    return is_independent


def draw_logit_choices(
    beta: np.ndarray, tasks: EncodedTasks, first_task: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw choices given tastes (chain, draw, respondent, coefficient), by name."""
    chosen_positions = np.empty((*beta.shape[:2], len(tasks.chosen_row)), np.int64)
    for person, (person_first_task, next_first_task) in enumerate(pairwise(first_task)):
        for task in range(person_first_task, next_first_task):
            utility = (
                beta[:, :, person]
                @ tasks.matrix[tasks.first_row[task] : tasks.first_row[task + 1]].T
            )
            # with Gumbel errors the maximum is a logit choice
            chosen_positions[:, :, task] = (utility + rng.gumbel(size=utility.shape)).argmax(axis=2)
    return {"chosen": chosen_positions}


# Estimates: their covariance, table, and warnings -------------------------------------------------


NOT_CONVERGED = (
    "Newton's method did not converge to a maximum of the likelihood; check for attributes that"
    " are nearly collinear."
)


def expand_covariance(
    covariance: np.ndarray, is_estimated: np.ndarray, units: np.ndarray
) -> np.ndarray:
    """Return the covariance (p, p) of coefficients, NaN where not estimated.

    `covariance` belongs to the estimated coefficients times `units`.
    """
    expanded_covariance = np.full((len(is_estimated), len(is_estimated)), np.nan)
    expanded_covariance[np.ix_(is_estimated, is_estimated)] = covariance / np.outer(units, units)
    return expanded_covariance


def tabulate_coefficients(
    estimates: np.ndarray, errors: np.ndarray, df: np.ndarray, names: Any, ci: float
) -> "pandas.DataFrame":
    """Return a table of estimates, standard errors, z, p-values and intervals by Student's t."""
    from scipy.special import stdtr, stdtrit

    from thali._exportable_table import Table

    with np.errstate(invalid="ignore", divide="ignore"):
        z = estimates / errors
        half_width = stdtrit(df, interval_tails(ci)[1]) * errors
    coefficient_columns = {
        "coef": estimates,
        "std_error": errors,
        "z": z,
        "p_value": 2.0 * stdtr(df, -np.abs(z)),
        "low": estimates - half_width,
        "high": estimates + half_width,
    }
    table = Table(coefficient_columns, names).rename_axis("coefficient")
    table.attrs["interval"] = ci
    return table


def list_unidentified_warnings(names: Iterable[Any]) -> list[DataWarning]:
    """Return a list with a warning on coefficients that data do not identify."""
    coefficient_names = list(map(str, names))
    if not coefficient_names:
        return []
    return [
        DataWarning(
            f"The data do not identify the effect of {shorten(coefficient_names)}, so"
            " predictions set it to 0; some attributes are redundant given the others, so remove"
            " one of them."
        )
    ]


# Separation: a likelihood without a finite maximum ------------------------------------------------


_SEPARATION_GAP = 12.0  # difference of two utilities within a task


def find_separating_columns(tasks: EncodedTasks, beta: np.ndarray) -> np.ndarray:
    r"""Return columns along which the likelihood rises without limit (separation).

    .. math::

        \max_d \sum_i z_i^T d \quad \text{subject to} \quad z_i^T d \ge 0, \; -1 \le d \le 1, \qquad
        z_i = x^*_t - x_{tj}
    """
    u = tasks.matrix @ beta
    task_starts = tasks.first_row[:-1]
    if (
        np.maximum.reduceat(u, task_starts) - np.minimum.reduceat(u, task_starts)
    ).max() < _SEPARATION_GAP:
        return np.empty(0, dtype=np.int64)
    from scipy.optimize import linprog

    z = tasks.matrix[tasks.chosen_row][tasks.task_of_row] - tasks.matrix
    z = np.unique(z[np.any(z != 0, axis=1)], axis=0)
    z = z / np.abs(z).max(axis=0, initial=1e-300)
    solution = linprog(
        -z.sum(axis=0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=(-1.0, 1.0), method="highs"
    )
    if solution.x is None or -solution.fun < 1e-7:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.abs(solution.x) > 1e-6)


# Declared directions of attributes, and whether choices contradict them ---------------------------


DIRECTIONS = {"increasing": 1, "decreasing": -1}
# precision of a coefficient, best against worst level, to keep separated estimates finite
_RIDGE = 1.0


def parse_directions(
    argument: str, mapping: Mapping[str, str] | None, data: "ChoiceExperiment"
) -> dict[str, str]:
    """Return the user's {attribute: direction}, checked against the data."""
    from thali._data.experiments.attribute_levels import ALPHABET

    directions: dict[str, str] = {}
    for attribute, direction in _parse_pairs(argument, mapping):
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise ArgumentError(
                Argument(argument),
                f": the direction of {attribute!r} must be ",
                one_of(argument, (*DIRECTIONS,), " or "),
                f"; got {direction!r}.",
            )
        if attribute not in data.attributes:
            attributes = data.attributes
            raise ArgumentError(
                Argument(argument),
                f": the data have no attribute {attribute!r}; their attributes are"
                f" {shorten(attributes, 20)}.{suggest(attribute, attributes)}",
            )
        if directions.get(attribute, direction) != direction:
            raise ArgumentError(
                Argument(argument),
                f": {attribute!r} is given as both increasing and decreasing; choose one.",
            )
        levels = data.levels[attribute]
        if data.orders[attribute] == ALPHABET:
            raise ArgumentError(
                Argument(argument),
                f" requires an order of the levels of {attribute!r} ({shorten(levels)}); list them"
                " from worst to best with ",
                Argument("levels"),
                InPython(" when creating the data"),
                ".",
            )
        directions[attribute] = direction
    return directions


def _parse_pairs(argument: str, mapping: Mapping[str, str] | None) -> list[tuple[str, Any]]:
    """Return the user's directions as (attribute, direction) pairs."""
    if mapping is None:
        return []
    if isinstance(mapping, Mapping):
        return [(str(name), direction) for name, direction in mapping.items()]
    try:
        return [(str(name), direction) for name, direction in mapping]
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument(argument),
            ' must map attributes to directions, such as {"price": "decreasing"}; got'
            f" {mapping!r}.",
        ) from None


def encode_directions(directions: Mapping[str, str], attributes: Sequence[str]) -> np.ndarray:
    """Return 1 for increasing, -1 for decreasing and 0 for other attributes."""
    return np.array([DIRECTIONS.get(directions.get(name, ""), 0) for name in attributes], np.int8)


def compute_direction_scores(
    data: "ChoiceExperiment", attributes: tuple[str, ...]
) -> dict[str, float]:
    r"""Return {attribute: z-score of its slope} in a multinomial logit.

    A positive score means that later levels are preferred.

    .. math::

        z = \hat\beta / \operatorname{se}(\hat\beta), \qquad x = \text{level number, from 0 to 1}

    The other attributes have a coefficient for every level. The standard error is the larger of
    that of the likelihood and the sandwich estimate clustered by person.
    """
    level_ranks = {name: np.linspace(0.0, 1.0, len(data.levels[name])) for name in attributes}
    coding = build_coding_from_numbers(
        data, level_ranks, CodingRequest(dict.fromkeys(level_ranks, ()), ())
    )
    tasks = encode_choices(data, coding)
    estimate = maximise_log_likelihood(tasks, _RIDGE)
    inverse_information = np.linalg.inv(estimate.hessian)
    slope_variance = np.maximum(
        np.diag(inverse_information),
        np.diag(clustered_covariance(tasks, estimate.beta, inverse_information, data.first_task)),
    )
    z = estimate.beta / np.sqrt(slope_variance)
    return {name: float(z[coding.names.index(name)]) for name in attributes}


def clustered_covariance(
    tasks: EncodedTasks, beta: np.ndarray, inverse: np.ndarray, first_task: np.ndarray
) -> np.ndarray:
    r"""Return the sandwich covariance clustered by respondent, shape (p, p).

    `inverse` is the inverse of the information.

    .. math:: H^{-1} \Big(\sum_n g_n g_n^T\Big) H^{-1}, \qquad
        g_n = \sum_t \Big(x_{nt, \text{chosen}} - \sum_j p_{ntj} x_{ntj}\Big)
    """
    likelihood = compute_local_likelihood(tasks, beta)
    person_scores = sum_parts(likelihood.score, first_task)
    return inverse @ (person_scores.T @ person_scores) @ inverse


def describe_contradicted_directions(data: "ChoiceExperiment", monotone: Mapping[str, str]) -> str:
    """Return a sentence on directions that the choices contradict, or "".

    A contradiction is a z-score beyond 3 standard errors.
    """
    if not monotone:
        return ""
    z = compute_direction_scores(data, tuple(monotone))
    contradicted_attributes = [
        name for name, direction in monotone.items() if z[name] * DIRECTIONS[direction] < -3.0
    ]
    if not contradicted_attributes:
        return ""
    attribute_texts = list_names(
        f"{name!r} ({monotone[name]}; z = {z[name]:.1f})" for name in contradicted_attributes
    )
    return (
        "A multinomial logit of these data contradicts the direction declared for"
        f" {attribute_texts}; a"
        " model with such a restriction will find no effect. Check the order of the levels, or"
        " declare the other direction or none."
    )
