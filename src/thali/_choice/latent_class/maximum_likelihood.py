"""Maximum-likelihood fit of a latent-class logit: EM and Newton climbs, starts, criteria.

The likelihood of a mixture over all tasks of a person, one of its maxima, the best of many starts,
the number of classes, and fitted attributes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_integers
from thali._inference.index_arithmetic import part_bounds, sum_parts
from thali._inference.maximisation import Slope, Target, maximise_newton
from thali._inference.numerics.ranks import sort_descending
from thali._inference.random_seeds import RandomSeed, build_seed_sequence, spawn_generators
from thali._labels import format_plural
from thali._model.chain_runs import BUDGET
from thali._model.fitting_methods import Forecast
from thali.errors import Argument, DataError, Setting

from ..logit_likelihood import (
    SECONDS_PER_CELL,
    EncodedTasks,
    LocalLikelihood,
    compute_local_likelihood,
    encode_choices,
    expand_covariance,
    fisher_information,
    maximise_log_likelihood,
)
from ..respondent_errors import draw_t_factors, estimate_errors, get_df, score_people
from .class_probabilities import ClassesByColumns, Membership, build_equal_classes

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._people.respondent_columns import RespondentCovariates

    from ..product_coding import Coding


class ChoicePanel(NamedTuple):
    """Encoded choices of all respondents, with their covariates."""

    tasks: EncodedTasks
    first_task: np.ndarray  # (people + 1,)
    covariates: np.ndarray  # (people, q) predictors of classes; the first is 1

    @property
    def n_people(self) -> int:
        """Number of respondents in the panel."""
        return len(self.first_task) - 1

    def select_people(self, is_selected: np.ndarray) -> "ChoicePanel":
        """Return the panel of the selected respondents."""
        task_counts = np.diff(self.first_task)
        is_selected_task = np.repeat(is_selected, task_counts)
        task_sizes = np.diff(self.tasks.first_row)
        is_selected_row = np.repeat(is_selected_task, task_sizes)
        chosen_positions = self.tasks.chosen_row - self.tasks.first_row[:-1]
        first_row = part_bounds(task_sizes[is_selected_task])
        tasks = EncodedTasks(
            self.tasks.matrix[is_selected_row],
            first_row,
            first_row[:-1] + chosen_positions[is_selected_task],
        )
        return ChoicePanel(
            tasks, part_bounds(task_counts[is_selected]), self.covariates[is_selected]
        )


class ClassParameters(NamedTuple):
    """Sizes and tastes of K classes, with likelihood and posterior memberships."""

    classes: Membership  # prior probabilities
    tastes: np.ndarray  # (K, p)
    value: float  # the log-likelihood of all choices
    membership: np.ndarray  # (people, K) posterior probabilities
    local_likelihoods: tuple[LocalLikelihood, ...]  # for each class

    @property
    def sizes(self) -> np.ndarray:
        """Share of respondents in each class, shape (K,)."""
        return self.classes.sizes


def build_panel(
    data: "ChoiceExperiment", coding: "Coding", covariates: np.ndarray | None = None
) -> ChoicePanel:
    """Return the data's choices as a `ChoicePanel`, encoded by a coding."""
    if covariates is None:
        covariates = np.ones((data.n_respondents, 1))
    return ChoicePanel(encode_choices(data, coding), data.first_task, covariates)


def scale_columns(panel: ChoicePanel, is_kept: np.ndarray) -> tuple[ChoicePanel, np.ndarray]:
    """Return the kept columns, scaled to a maximum of 1, and their scales."""
    matrix = panel.tasks.matrix[:, is_kept]
    column_scales = np.abs(matrix).max(axis=0)
    return panel._replace(tasks=panel.tasks._replace(matrix=matrix / column_scales)), column_scales


def evaluate_parameters(
    panel: ChoicePanel, classes: Membership, tastes: np.ndarray
) -> ClassParameters:
    r"""Return class parameters with their likelihood and posterior memberships.

    .. math::
        \ell = \sum_n \ln \sum_k \pi_{nk} \prod_t p_{tk}(x^*_t), \qquad
        r_{nk} \propto \pi_{nk} \prod_t p_{tk}(x^*_t)
    """
    local_likelihoods = tuple(compute_local_likelihood(panel.tasks, beta) for beta in tastes)
    log_joint = np.stack(
        [sum_parts(likelihood.log_chosen, panel.first_task) for likelihood in local_likelihoods],
        axis=1,
    )
    with np.errstate(divide="ignore"):
        log_joint = log_joint + np.log(classes.probabilities)
    largest_log_joint = log_joint.max(axis=1, keepdims=True)
    relative_joint = np.exp(log_joint - largest_log_joint)
    joint_sums = relative_joint.sum(axis=1, keepdims=True)
    return ClassParameters(
        classes,
        tastes,
        float((largest_log_joint + np.log(joint_sums)).sum()),
        relative_joint / joint_sums,
        local_likelihoods,
    )


def compute_derivatives(
    panel: ChoicePanel, parameters: ClassParameters
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return gradient and information matrix by the classes' log odds and tastes.

    The log odds exclude the first class. With s_nk the score of the class and
    the choices of person n as a member of class k, and I_nk their information (Louis 1982)

    .. math::
        \nabla \ell = \sum_n \sum_k r_{nk} s_{nk}, \qquad
        -\nabla^2 \ell = \sum_n \Big( \sum_k r_{nk} (I_{nk} - s_{nk} s_{nk}^T)
        + \bar s_n \bar s_n^T \Big), \quad
        \bar s_n = \sum_k r_{nk} s_{nk}
    """
    n_classes, p = parameters.tastes.shape
    r = parameters.membership
    classes = parameters.classes
    first_task = panel.first_task[:-1]
    scores = [
        np.add.reduceat(likelihood.score, first_task) for likelihood in parameters.local_likelihoods
    ]
    weight_of_row = np.repeat(
        np.repeat(r, np.diff(panel.first_task), axis=0), np.diff(panel.tasks.first_row), axis=0
    )
    # s̄ of all people
    mean_scores = np.hstack([classes.scores(r), *(r[:, [k]] * scores[k] for k in range(n_classes))])
    information = mean_scores.T @ mean_scores
    odds_block = slice(0, classes.n_coordinates)
    classes.add_information(information[odds_block, odds_block], r)
    for k in range(n_classes):
        class_block = slice(odds_block.stop + k * p, odds_block.stop + (k + 1) * p)
        weighted_scores = r[:, [k]] * scores[k]
        information[class_block, class_block] += (
            fisher_information(parameters.local_likelihoods[k], weight_of_row[:, k])
            - weighted_scores.T @ scores[k]
        )
        cross_terms = classes.cross_product(k, weighted_scores)
        information[odds_block, class_block] -= cross_terms
        information[class_block, odds_block] -= cross_terms.T
    return mean_scores.sum(axis=0), information


_PEOPLE_BLOCK = 100  # people who are selected together


def differentiate_by_person(
    panel: ChoicePanel, parameters: ClassParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient (people, P) and information (people, P, P) of each person's choices."""
    derivatives = []
    # blocks first, because each selection copies a part of the whole panel
    everybody = np.arange(panel.n_people)
    for block_number in np.unique(everybody // _PEOPLE_BLOCK):
        block = panel.select_people(everybody // _PEOPLE_BLOCK == block_number)
        for person in range(block.n_people):
            choices = block.select_people(np.arange(block.n_people) == person)
            classes = parameters.classes.with_covariates(choices.covariates)
            likelihood = evaluate_parameters(choices, classes, parameters.tastes)
            derivatives.append(compute_derivatives(choices, likelihood))
    gradients, informations = zip(*derivatives, strict=True)
    return np.array(gradients), np.array(informations)


# One maximum of the likelihood: expectation and maximisation, then Newton's method in all
# parameters jointly


_EM_GAIN = 1e-3  # gain per person below which Newton's method takes over
_MAX_PASSES = 200
_MAX_STEPS = 300
_LAST_GAIN = 1e-9  # smallest promised gain of a step
# floor of curvatures relative to the largest, a million times its rounding
_RELATIVE_FLOOR = 1e-10
_MAX_CHANGE = 5.0  # largest change of a parameter in one step


class LocalMaximum(NamedTuple):
    """Local maximum of the likelihood: parameters, gradient, information."""

    parameters: ClassParameters
    gradient: np.ndarray  # of the log odds, and of the tastes
    information: np.ndarray
    converged: bool


def start_equal_classes(panel: ChoicePanel, tastes: np.ndarray) -> ClassParameters:
    """Evaluate classes of equal size with tastes (K, p)."""
    return evaluate_parameters(panel, build_equal_classes(len(tastes), panel.covariates), tastes)


def climb(panel: ChoicePanel, parameters: ClassParameters) -> LocalMaximum:
    """Return the local maximum of the likelihood reached from these classes."""
    for _ in range(_MAX_PASSES):
        previous_value = parameters.value
        parameters = expect_and_maximise(panel, parameters)
        if parameters.value - previous_value < _EM_GAIN * panel.n_people:
            break
    return climb_by_newton(panel, parameters)


def expect_and_maximise(panel: ChoicePanel, parameters: ClassParameters) -> ClassParameters:
    """Return parameters after one EM step: class sizes (or class odds), and tastes.

    The step is shortened until the likelihood does not fall.
    """
    task_weights = np.repeat(parameters.membership, np.diff(panel.first_task), axis=0)
    row_weights = np.repeat(task_weights, np.diff(panel.tasks.first_row), axis=0)
    taste_steps = np.zeros_like(parameters.tastes)
    for k, likelihood in enumerate(parameters.local_likelihoods):
        information = fisher_information(likelihood, row_weights[:, k])
        taste_steps[k] = np.linalg.lstsq(
            information, task_weights[:, k] @ likelihood.score, rcond=_RELATIVE_FLOOR
        )[0]
    propose_classes = parameters.classes.propose_step(parameters.membership)
    step_length = 1.0
    while step_length > 1e-3:
        proposal = evaluate_parameters(
            panel, propose_classes(step_length), parameters.tastes + step_length * taste_steps
        )
        if proposal.value >= parameters.value:
            return proposal
        step_length *= 0.5
    return evaluate_parameters(panel, propose_classes(step_length), parameters.tastes)


@dataclass
class _ClassTarget(Target[ClassParameters]):
    """Log-likelihood of class log odds and tastes, for Newton climbs."""

    panel: ChoicePanel

    def move_point(self, point: ClassParameters, change: np.ndarray) -> ClassParameters:
        """Return class parameters after adding `change` to class log odds and tastes."""
        return evaluate_parameters(self.panel, *apply_step(point, change))

    def slope(self, point: ClassParameters) -> Slope:
        """Return gradient and negative Hessian at these parameters."""
        gradient, information = compute_derivatives(self.panel, point)
        metric = np.abs(np.diag(information))
        metric_floor = _RELATIVE_FLOOR * metric.max() * np.eye(len(information))
        return Slope(gradient, information + metric_floor, metric + 1e-8 * metric.max())


def apply_step(parameters: ClassParameters, change: np.ndarray) -> tuple[Membership, np.ndarray]:
    """Return class sizes (or odds) and tastes after adding `change` to them."""
    n_odds = parameters.classes.n_coordinates
    return parameters.classes.move_point(change[:n_odds]), parameters.tastes + change[
        n_odds:
    ].reshape(parameters.tastes.shape)


def climb_by_newton(panel: ChoicePanel, parameters: ClassParameters) -> LocalMaximum:
    """Return the local maximum reached by damped Newton steps."""
    summit_point, _, has_converged = maximise_newton(
        _ClassTarget(panel),
        parameters,
        _LAST_GAIN,
        take_last=True,
        damping=1e-3,
        max_change=_MAX_CHANGE,
        max_steps=_MAX_STEPS,
    )
    return LocalMaximum(summit_point, *compute_derivatives(panel, summit_point), has_converged)


def sort_classes(panel: ChoicePanel, summit: LocalMaximum) -> LocalMaximum:
    """Sort the classes of a maximum by size, the largest first."""
    class_order = sort_descending(summit.parameters.sizes)
    parameters = evaluate_parameters(
        panel, summit.parameters.classes.reorder(class_order), summit.parameters.tastes[class_order]
    )
    return LocalMaximum(parameters, *compute_derivatives(panel, parameters), summit.converged)


# The best maximum of many starts, and how many starts found it ------------------------------------


SAME_MAXIMUM = 0.01  # log-likelihoods closer than this belong to the same maximum
MIN_TIMES_FOUND = 3  # starts that must find the best maximum
# default starts: at least for each class, and at most in total
_MIN_STARTS = 4
MAX_STARTS = 40
_RIDGE = 1.0  # precision of the tastes of one person, where a class starts


class BestMaximum(NamedTuple):
    """The best maximum of several starts, and the number of starts that found it."""

    summit: LocalMaximum
    starts: int
    times_found: int


class StartRange(NamedTuple):
    """Range for the number of random starts of a climb."""

    n_starts: int | None  # None: until three starts found the best maximum
    limit: int  # used if `n_starts` is None

    def min_starts(self, number: int) -> int:
        """Return the smallest number of starts for this number of classes."""
        if number == 1:
            return 1
        return self.n_starts or min(_MIN_STARTS * number, self.limit)

    def max_starts(self, number: int) -> int:
        """Return the largest number of starts for this number of classes."""
        if number == 1:
            return 1
        return self.n_starts or self.limit


def find_best_maximum(
    panel: ChoicePanel,
    n_classes: int,
    starts: StartRange,
    random_seed: RandomSeed,
    report_start: Callable[[], None],
) -> BestMaximum:
    """Return the best maximum for a number of classes, over random starts.

    `report_start` is called after each start.
    """
    if n_classes == 1:
        best_summit = climb(
            panel, start_equal_classes(panel, np.zeros((1, panel.tasks.matrix.shape[1])))
        )
        report_start()
        return BestMaximum(best_summit, 1, 1)
    best_summit = None
    log_likelihoods = []
    for rng in spawn_generators(random_seed, starts.n_starts or starts.limit):
        summit = climb(panel, start_equal_classes(panel, _draw_start(panel, n_classes, rng)))
        report_start()
        log_likelihoods.append(summit.parameters.value)
        if best_summit is None or summit.parameters.value > best_summit.parameters.value:
            best_summit = summit
        if (
            starts.n_starts is None
            and len(log_likelihoods) >= _MIN_STARTS * n_classes
            and _count_best(log_likelihoods) >= MIN_TIMES_FOUND
        ):
            break
    assert best_summit is not None
    return BestMaximum(
        sort_classes(panel, best_summit), len(log_likelihoods), _count_best(log_likelihoods)
    )


def _count_best(log_likelihoods: list[float]) -> int:
    """Count the starts that reached the best log-likelihood."""
    return int((np.array(log_likelihoods) > max(log_likelihoods) - SAME_MAXIMUM).sum())


def _draw_start(panel: ChoicePanel, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Return starting tastes (K, p), estimated for random respondents."""
    start_people = rng.choice(panel.n_people, n_classes, replace=False)
    return np.stack(
        [
            maximise_log_likelihood(
                panel.select_people(np.arange(panel.n_people) == person).tasks, _RIDGE
            ).beta
            for person in start_people
        ]
    )


# Run time, and the number of starts within the budget ---------------------------------------------


N_CLIMB_POINTS = 28  # evaluations of the likelihood of every class in a climb
MIN_STARTS_IN_BUDGET = 2  # even beyond the budget


def _estimate_seconds(panel: ChoicePanel, classes: float) -> float:
    """Return the expected CPU seconds of climbs with this total number of classes."""
    return N_CLIMB_POINTS * SECONDS_PER_CELL * classes * panel.tasks.matrix.size


def _count_fits(choose: str) -> float:
    """Return how many full fits comparing class numbers costs (folds if held out)."""
    if choose == HELD_OUT:
        return float(N_FOLDS)
    return 1.0


def limit_starts(
    panel: ChoicePanel, numbers: tuple[int, ...], choose: str, n_starts: int | None
) -> StartRange:
    """Return the user's number of starts, and the number that the run time permits."""
    max_starts = int(BUDGET / (_count_fits(choose) * _estimate_seconds(panel, sum(numbers))))
    return StartRange(n_starts, max(MIN_STARTS_IN_BUDGET, min(MAX_STARTS, max_starts)))


def forecast_fits(
    panel: ChoicePanel, numbers: tuple[int, ...], choose: str, starts: StartRange
) -> Forecast:
    """Forecast the run time of the fits with all numbers of classes."""
    shortest_seconds, longest_seconds = (
        _count_fits(choose)
        * _estimate_seconds(panel, sum(number * count_starts(number) for number in numbers))
        + _estimate_seconds(panel, max(numbers)) * N_DRAWS / N_CLIMB_POINTS
        for count_starts in (starts.min_starts, starts.max_starts)
    )
    return Forecast(shortest_seconds, longest_seconds)


# Fits with several numbers of classes, and the choice by BIC or by held-out people ----------------


N_FOLDS = 5  # of people, each held out once
BIC = "bic"
HELD_OUT = "held-out"


def check_numbers(classes: Any, choose: str, n_people: int) -> tuple[int, ...]:
    """Return the numbers of classes to try; raise ArgumentError if invalid."""
    class_numbers = check_integers("classes", classes, 1)
    if max(class_numbers) > n_people:
        raise DataError(
            f"{max(class_numbers):,} classes are too many for"
            f" {format_plural(n_people, 'respondent')};"
            " reduce ",
            Argument("classes"),
            ".",
        )
    n_training_people = n_people - -(-n_people // N_FOLDS)
    if choose == HELD_OUT and (n_people < N_FOLDS or max(class_numbers) > n_training_people):
        raise DataError(
            f"{format_plural(n_people, 'respondent')} are too few for {N_FOLDS}-fold"
            f" cross-validation of {max(class_numbers):,} classes; set ",
            Setting("choose", BIC),
            ".",
        )
    return class_numbers


class ClassFit(NamedTuple):
    """Best maximum with K classes, with its information criteria."""

    best: BestMaximum
    n_parameters: int
    # log-likelihood of all people, each held out from the fit; NaN if BIC chooses
    held_out: float

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of all choices at the maximum."""
        return self.best.summit.parameters.value

    @property
    def aic(self) -> float:
        """Akaike information criterion."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Bayesian information criterion, n being the number of respondents."""
        n_people = len(self.best.summit.parameters.membership)
        return float(np.log(n_people)) * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def entropy_r2(self) -> float:
        r"""Separation of classes: 1 for certain membership, 0 for even; NaN for one class.

        .. math:: 1 - \sum_n \sum_k -r_{nk} \ln r_{nk} \Big/ (N \ln K)
        """
        r = self.best.summit.parameters.membership
        if r.shape[1] == 1:
            return float("nan")
        return float(
            1.0 + (r * np.log(np.maximum(r, 1e-300))).sum() / (len(r) * np.log(r.shape[1]))
        )


def fit_numbers(
    panel: ChoicePanel,
    numbers: tuple[int, ...],
    choose: str,
    starts: StartRange,
    random_seed: RandomSeed,
    report_start: Callable[[], None],
) -> dict[int, ClassFit]:
    """Return {number of classes: fit} for each number to try.

    `report_start` is called after each start.
    """
    # the second seed, which one class does not use, belongs to the draws
    seeds = build_seed_sequence(random_seed).spawn(max(numbers) + 1)
    fold_of_person = np.random.default_rng(seeds[0]).permutation(panel.n_people) % N_FOLDS
    fits_by_number = {}
    for n_classes in numbers:
        best_maximum = find_best_maximum(panel, n_classes, starts, seeds[n_classes], report_start)
        held_out_score = float("nan")
        if choose == HELD_OUT:
            score_fold = partial(
                _score_held_out,
                panel,
                n_classes=n_classes,
                starts=starts,
                seed=seeds[n_classes],
                report_start=report_start,
            )
            held_out_score = sum(score_fold(fold_of_person == fold) for fold in range(N_FOLDS))
        n_parameters = (
            best_maximum.summit.parameters.classes.n_coordinates
            + best_maximum.summit.parameters.tastes.size
        )
        fits_by_number[n_classes] = ClassFit(best_maximum, n_parameters, held_out_score)
    return fits_by_number


def choose_number(fits_by_number: dict[int, ClassFit], choose: str) -> int:
    """Return the number of classes that the criterion `choose` prefers."""
    if choose == BIC:
        return min(fits_by_number, key=lambda number: fits_by_number[number].bic)
    return max(fits_by_number, key=lambda number: fits_by_number[number].held_out)


def _score_held_out(
    panel: ChoicePanel,
    is_held_out: np.ndarray,
    n_classes: int,
    starts: StartRange,
    seed: np.random.SeedSequence,
    report_start: Callable[[], None],
) -> float:
    """Return the log-likelihood of held-out respondents under a fit to the others."""
    parameters = find_best_maximum(
        panel.select_people(~is_held_out), n_classes, starts, seed, report_start
    ).summit.parameters
    held_out_panel = panel.select_people(is_held_out)
    return evaluate_parameters(
        held_out_panel,
        parameters.classes.with_covariates(held_out_panel.covariates),
        parameters.tastes,
    ).value


# Fitted attributes: estimates in the units of the attributes, their covariance, and draws ---------


def build_fitted_attributes(
    fit: ClassFit,
    panel: ChoicePanel,
    data: "ChoiceExperiment",
    coding: "Coding",
    is_kept: np.ndarray,
    scale: np.ndarray,
    covariates: "RespondentCovariates",
    people: str | None,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the fitted attributes by name, in the units of the data."""
    import pandas as pd

    summit = fit.best.summit
    parameters = summit.parameters
    n_classes = len(summit.parameters.tastes)
    p = len(is_kept)
    fitted_covariates = membership_coef = expected_probabilities = None
    column_units = np.append(1.0, covariates.sd)
    class_labels = pd.Index(np.arange(1, n_classes + 1), name="latent_class")
    if covariates.names:
        assert isinstance(parameters.classes, ClassesByColumns)
        membership_coef = _tabulate_membership_coefficients(
            parameters.classes.odds / column_units, class_labels, covariates.names
        )
        fitted_covariates = covariates
        expected_probabilities = parameters.classes.probabilities
    coefficient_names = pd.Index(coding.names, name="coefficient")
    tastes = np.full((n_classes, p), np.nan)
    tastes[:, is_kept] = parameters.tastes / scale
    odds_suffixes = ["", *(f": {name}" for name in covariates.names)]
    odds_names = [f"{_ODDS_NAME} {k}{name}" for k in class_labels[1:] for name in odds_suffixes]
    parameter_names = pd.Index(
        odds_names + [f"class {k}: {name}" for k in class_labels for name in coefficient_names]
    )
    is_estimated = np.concatenate([np.ones(len(odds_names), bool), np.tile(is_kept, n_classes)])
    parameter_units = np.concatenate(
        [np.tile(column_units, n_classes - 1), np.tile(scale, n_classes)]
    )
    errors = estimate_errors(
        people,
        data,
        summit.information,
        lambda: score_people(*differentiate_by_person(panel, parameters), summit.information),
    )
    covariance = expand_covariance(errors.covariance, is_estimated, parameter_units)
    degrees = np.full(len(is_estimated), np.inf)
    degrees[is_estimated] = errors.compute_degrees(np.eye(len(summit.information)))
    root = covariance_root(summit.information, errors.covariance)
    class_draws = draw_classes(
        panel, summit, root, get_df(errors.people), scale, spawn_generators(seed, 2)[1]
    )
    all_tastes = np.zeros((*class_draws.tastes.shape[:2], p))
    all_tastes[:, :, is_kept] = class_draws.tastes
    respondent_index = pd.Index(data.respondents, name="respondent")
    return {
        "_sizes_": pd.Series(parameters.sizes, class_labels, name="size"),
        "coef_": pd.DataFrame(tastes, class_labels, coefficient_names),
        "_membership_coef_": membership_coef,
        "covariance_": pd.DataFrame(covariance, parameter_names, parameter_names),
        "_degrees_": degrees,
        "_people_": errors.people,
        "membership_": pd.DataFrame(parameters.membership, respondent_index, class_labels),
        "log_likelihood_": parameters.value,
        "aic_": fit.aic,
        "bic_": fit.bic,
        "_converged_": summit.converged,
        "_unbounded_": tuple(
            parameter_names[is_estimated][find_open_parameters(summit.information)]
        ),
        "_scheme_": data.scheme,
        "_coding_": coding,
        "_covariates_": fitted_covariates,
        "_expected_": expected_probabilities,
        "_draws_": ClassDraws(class_draws.sizes, all_tastes, class_draws.of_people),
        "_data_": data,
    }


def _tabulate_membership_coefficients(
    coefficients: np.ndarray, class_labels: "pandas.Index", covariate_names: Sequence[str]
) -> "pandas.DataFrame":
    """Return a table of the coefficients of membership, a row for each class."""
    import pandas as pd

    column_names = pd.Index([CONSTANT_NAME, *covariate_names], name="column")
    return pd.DataFrame(coefficients, class_labels, column_names)


# Draws of the estimates by their covariance, each with the class of all people --------------------


CONSTANT_NAME = "constant"  # the log odds of people with average columns
N_DRAWS = 200
_ODDS_NAME = "log odds of class"
# directions with less information are fixed at their estimates
_MIN_INFORMATION = 1e-2


class ClassDraws(NamedTuple):
    """D draws of class sizes, tastes and memberships around the estimate."""

    sizes: np.ndarray  # (D, K)
    tastes: np.ndarray  # (D, K, p)
    of_people: np.ndarray  # (D, people) uint8


def covariance_root(information: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return a square root of the covariance, 0 in uninformed directions."""
    eigenvalues, eigenvectors = np.linalg.eigh(information)
    informed_directions = eigenvectors[:, eigenvalues > _MIN_INFORMATION]
    variances, rotation = np.linalg.eigh(informed_directions.T @ covariance @ informed_directions)
    directions = informed_directions @ rotation
    # the symmetric root does not depend on the choice of eigenvectors
    return (directions * np.sqrt(np.maximum(variances, 0.0))) @ directions.T


def find_open_parameters(information: np.ndarray) -> np.ndarray:
    """Return indices of parameters that the data hardly determine."""
    eigenvalues, eigenvectors = np.linalg.eigh(information)
    return np.flatnonzero((eigenvectors[:, eigenvalues <= _MIN_INFORMATION] ** 2).sum(axis=1) > 0.1)


def draw_classes(
    panel: ChoicePanel,
    summit: LocalMaximum,
    square_root: np.ndarray,
    df: float,
    scale: np.ndarray,
    rng: np.random.Generator,
) -> ClassDraws:
    """Draw sizes and tastes by Student's t with a root of their covariance, then memberships."""
    size_draws = []
    taste_draws = []
    classes_of_people = []
    all_noise = rng.normal(size=(N_DRAWS, square_root.shape[1]))
    for noise in all_noise * draw_t_factors(rng, df, N_DRAWS):
        drawn_parameters = evaluate_parameters(
            panel, *apply_step(summit.parameters, square_root @ noise)
        )
        size_draws.append(drawn_parameters.sizes)
        taste_draws.append(drawn_parameters.tastes)
        cumulative_membership = drawn_parameters.membership.cumsum(axis=1)
        classes_of_people.append(
            (cumulative_membership[:, :-1] < rng.random((panel.n_people, 1))).sum(axis=1)
        )
    return ClassDraws(
        np.array(size_draws),
        np.array(taste_draws) / scale,
        np.array(classes_of_people).astype(np.uint8),
    )
