"""The fit of a latent-class logit.

The likelihood of a mixture over all tasks of a person, one of its maxima, the best of many starts,
the number of classes, and what a fit leaves."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integers
from thali._inference.indexing import part_bounds
from thali._inference.numerics.ranks import sort_descending
from thali._inference.optimise import Slope, Target, maximise_newton
from thali._inference.seeds import build_seed_sequence, spawn_generators
from thali._labels import format_plural
from thali._model.engine import Forecast
from thali._model.run_budget import BUDGET
from thali.errors import Argument, DataError, Setting

from ..logit import (
    SECONDS_PER_CELL,
    EncodedTasks,
    LocalLikelihood,
    compute_local_likelihood,
    encode_choices,
    fisher_information,
    maximise_log_likelihood,
)
from .membership import Membership, alike

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._people.respondent_columns import RespondentCovariates

    from ..coding import Coding


class Panel(NamedTuple):
    """Choices in the form that the likelihood reads."""

    tasks: EncodedTasks
    first_task: np.ndarray  # (people + 1,)
    covariates: np.ndarray  # (people, q) of people, on which their class depends; the first is 1

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
        first_row = part_bounds(sizes[in_tasks])
        tasks = EncodedTasks(
            self.tasks.matrix[in_rows], first_row, first_row[:-1] + chosen[in_tasks]
        )
        return Panel(tasks, part_bounds(counts[wanted]), self.covariates[wanted])


class ClassParameters(NamedTuple):
    """Parameters of K classes, and the likelihood there."""

    classes: Membership  # before the choices
    tastes: np.ndarray  # (K, p)
    value: float  # the log-likelihood of all choices
    membership: np.ndarray  # (people, K)
    at: tuple[LocalLikelihood, ...]  # of each class

    @property
    def sizes(self) -> np.ndarray:
        """The share of people in each class (K,)."""
        return self.classes.sizes


def panel_of(
    data: "ChoiceExperiment", coding: "Coding", covariates: np.ndarray | None = None
) -> Panel:
    """The choices of the data in the columns of a coding."""
    people = np.ones((data.n_respondents, 1)) if covariates is None else covariates
    return Panel(encode_choices(data, coding), data.first_task, people)


def scaled(panel: Panel, kept: np.ndarray) -> tuple[Panel, np.ndarray]:
    """The choices by some of the columns, each of which has 1 as its largest number; and what they
    were divided by."""
    matrix = panel.tasks.matrix[:, kept]
    scale = np.abs(matrix).max(axis=0)
    return panel._replace(tasks=panel.tasks._replace(matrix=matrix / scale)), scale


def point(panel: Panel, classes: Membership, tastes: np.ndarray) -> ClassParameters:
    r"""The likelihood at these parameters, and the posterior probability of everybody's classes.

    .. math::
        \ell = \sum_n \ln \sum_k \pi_{nk} \prod_t p_{tk}(x^*_t), \qquad
        r_{nk} \propto \pi_{nk} \prod_t p_{tk}(x^*_t)
    """
    at = tuple(compute_local_likelihood(panel.tasks, beta) for beta in tastes)
    logs = np.stack(
        [np.add.reduceat(each.log_chosen, panel.first_task[:-1]) for each in at], axis=1
    )
    with np.errstate(divide="ignore"):
        logs = logs + np.log(classes.expected)
    top = logs.max(axis=1, keepdims=True)
    parts = np.exp(logs - top)
    total = parts.sum(axis=1, keepdims=True)
    return ClassParameters(classes, tastes, float((top + np.log(total)).sum()), parts / total, at)


def derivatives(panel: Panel, where: ClassParameters) -> tuple[np.ndarray, np.ndarray]:
    r"""Gradient and information of the log odds (of all but the first class) and of the tastes,
    class by class.

    With s_nk the score of the class and the choices of person n as if of class k, and I_nk their
    information (Louis 1982)

    .. math::
        \nabla \ell = \sum_n \sum_k r_{nk} s_{nk}, \qquad
        -\nabla^2 \ell = \sum_n \Big( \sum_k r_{nk} (I_{nk} - s_{nk} s_{nk}^T)
        + \bar s_n \bar s_n^T \Big), \quad
        \bar s_n = \sum_k r_{nk} s_{nk}
    """
    number, p = where.tastes.shape
    r, classes = where.membership, where.classes
    begin = panel.first_task[:-1]
    scores = [np.add.reduceat(each.score, begin) for each in where.at]
    weight_of_row = np.repeat(
        np.repeat(r, np.diff(panel.first_task), axis=0), np.diff(panel.tasks.first_row), axis=0
    )
    # s̄ of everybody
    mean = np.hstack([classes.scores(r), *(r[:, [k]] * scores[k] for k in range(number))])
    curve = mean.T @ mean
    odds = slice(0, classes.coordinates)
    classes.add_information(curve[odds, odds], r)
    for k in range(number):
        own = slice(odds.stop + k * p, odds.stop + (k + 1) * p)
        weighted = r[:, [k]] * scores[k]
        curve[own, own] += (
            fisher_information(where.at[k], weight_of_row[:, k]) - weighted.T @ scores[k]
        )
        cross = classes.cross(k, weighted)
        curve[odds, own] -= cross
        curve[own, odds] -= cross.T
    return mean.sum(axis=0), curve


# One maximum of the likelihood: expectation and maximisation, then Newton's method in all
# parameters at once


_ROUGH = 1e-3  # gain a person at which Newton's method takes over
_MAX_PASSES, _MAX_STEPS = 200, 300
_GAIN = 1e-9  # no step that promises less is taken
# of the largest curvature, a million times its rounding: directions that bend less are climbed
# slowly
_SURE = 1e-10
_LONGEST = 5.0  # change of a parameter in one step


class Summit(NamedTuple):
    """The end point of a climb."""

    where: ClassParameters
    gradient: np.ndarray  # of the log odds, and of the tastes
    information: np.ndarray
    converged: bool


def equal_classes(panel: Panel, tastes: np.ndarray) -> ClassParameters:
    """Classes of equal size with these tastes (K, p)."""
    return point(panel, alike(len(tastes), panel.covariates), tastes)


def climb(panel: Panel, here: ClassParameters) -> Summit:
    """Climb from some classes."""
    for _ in range(_MAX_PASSES):
        before, here = here.value, expect_and_maximise(panel, here)
        if here.value - before < _ROUGH * panel.people:
            break
    return to_summit(panel, here)


def expect_and_maximise(panel: Panel, here: ClassParameters) -> ClassParameters:
    """New sizes or log odds, and a Newton step of the tastes, shortened until the likelihood does
    not fall."""
    in_tasks = np.repeat(here.membership, np.diff(panel.first_task), axis=0)
    in_rows = np.repeat(in_tasks, np.diff(panel.tasks.first_row), axis=0)
    steps = np.zeros_like(here.tastes)
    for k, at in enumerate(here.at):
        curve = fisher_information(at, in_rows[:, k])
        steps[k] = np.linalg.lstsq(curve, in_tasks[:, k] @ at.score, rcond=_SURE)[0]
    classes, length = here.classes.towards(here.membership), 1.0
    while length > 1e-3:
        there = point(panel, classes(length), here.tastes + length * steps)
        if there.value >= here.value:
            return there
        length *= 0.5
    return point(panel, classes(length), here.tastes)


class _Classes(Target[ClassParameters]):
    """The likelihood by the log odds and the tastes, class by class."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def move_point(self, here: ClassParameters, change: np.ndarray) -> ClassParameters:
        return point(self._panel, *stepped(here, change))

    def slope(self, here: ClassParameters) -> Slope:
        gradient, curve = derivatives(self._panel, here)
        metric = np.abs(np.diag(curve))
        floor = _SURE * metric.max() * np.eye(len(curve))
        return Slope(gradient, curve + floor, metric + 1e-8 * metric.max())


def stepped(here: ClassParameters, change: np.ndarray) -> tuple[Membership, np.ndarray]:
    """Classes and tastes after a change of their coordinates."""
    count = here.classes.coordinates
    return here.classes.move_point(change[:count]), here.tastes + change[count:].reshape(
        here.tastes.shape
    )


def to_summit(panel: Panel, here: ClassParameters) -> Summit:
    """Damped Newton steps, until none promises a gain."""
    top, _, converged = maximise_newton(
        _Classes(panel),
        here,
        _GAIN,
        take_last=True,
        damping=1e-3,
        max_change=_LONGEST,
        max_steps=_MAX_STEPS,
    )
    return Summit(top, *derivatives(panel, top), converged)


def by_size(panel: Panel, summit: Summit) -> Summit:
    """The same maximum with the largest class first."""
    order = sort_descending(summit.where.sizes)
    where = point(panel, summit.where.classes.in_order(order), summit.where.tastes[order])
    return Summit(where, *derivatives(panel, where), summit.converged)


# The best maximum of many starts, and how often it was found --------------------------------------


SAME = 0.01  # log-likelihoods closer than this are one maximum
TIMES_FOUND = 3  # times that the best maximum is to be found
# starts for each class at least, and in all at most, where their number is not given
_MIN_STARTS, MAX_STARTS = 4, 40
RIDGE = 1.0  # precision of the tastes of the one person at whom a class begins


class BestMaximum(NamedTuple):
    """The best maximum."""

    summit: Summit
    starts: int
    times_found: int


class Starts(NamedTuple):
    """How often a climb begins."""

    asked: int | None  # None: until the best maximum was found three times
    most: int = MAX_STARTS  # if none were asked for

    def least(self, number: int) -> int:
        """Of so many classes, if the best maximum is found at once."""
        return 1 if number == 1 else self.asked or min(_MIN_STARTS * number, self.most)


def best_of_starts(
    panel: Panel,
    number: int,
    starts: Starts,
    random_seed: Any,
    done: Callable[[], None] = lambda: None,
) -> BestMaximum:
    """The best maximum with so many classes; `done` is called after each start."""
    if number == 1:
        best = climb(panel, equal_classes(panel, np.zeros((1, panel.tasks.matrix.shape[1]))))
        done()
        return BestMaximum(best, 1, 1)
    best, values = None, []
    for rng in spawn_generators(random_seed, starts.asked or starts.most):
        found = climb(panel, equal_classes(panel, _start(panel, number, rng)))
        done()
        values.append(found.where.value)
        if best is None or found.where.value > best.where.value:
            best = found
        if (
            starts.asked is None
            and len(values) >= _MIN_STARTS * number
            and _times_found(values) >= TIMES_FOUND
        ):
            break
    assert best is not None
    return BestMaximum(by_size(panel, best), len(values), _times_found(values))


def _times_found(values: list[float]) -> int:
    return int((np.array(values) > max(values) - SAME).sum())


def _start(panel: Panel, number: int, rng: np.random.Generator) -> np.ndarray:
    """The tastes of as many random people, shape (K, p)."""
    chosen = rng.choice(panel.people, number, replace=False)
    return np.stack(
        [
            maximise_log_likelihood(panel.of(np.arange(panel.people) == person).tasks, RIDGE).beta
            for person in chosen
        ]
    )


# How long that takes, and how many starts keep within the budget ----------------------------------


POINTS = 20  # at which a climb looks at the likelihood of every class
LEAST_STARTS = 2  # in any case


def _seconds(panel: Panel, classes: float) -> float:
    """Seconds of the processor that climbs of so many classes in all are expected to take."""
    return POINTS * SECONDS_PER_CELL * classes * panel.tasks.matrix.size


def _folds(choose: str) -> float:
    """How many fits to all people the fits with a number of classes are as long as."""
    return 1.0 + (FOLDS - 1.0) * (choose == HELD_OUT)


def starts_within_budget(
    panel: Panel, numbers: tuple[int, ...], choose: str, asked: int | None
) -> Starts:
    """The starts that were asked for, else so many that the fits with all numbers of classes keep
    within the budget."""
    most = int(BUDGET / (_folds(choose) * _seconds(panel, sum(numbers))))
    return Starts(asked, max(LEAST_STARTS, min(MAX_STARTS, most)))


def forecast_of(panel: Panel, numbers: tuple[int, ...], choose: str, starts: Starts) -> Forecast:
    """How long the fits with all numbers of classes are expected to take, and the draws."""
    least, most = (
        _folds(choose) * _seconds(panel, sum(number * of(number) for number in numbers))
        + _seconds(panel, max(numbers)) * DRAWS / POINTS
        for of in (starts.least, lambda number: 1 if number == 1 else starts.asked or starts.most)
    )
    return Forecast(least, most)


# Fits with several numbers of classes, and which of them is chosen: by BIC, or by people who were
# left out


FOLDS = 5  # of people, each left out once
BIC, HELD_OUT = "bic", "held-out"


def numbers_of(classes: Any, choose: str, people: int) -> tuple[int, ...]:
    """The numbers of classes that are to be tried."""
    numbers = check_integers("classes", classes, 1)
    if max(numbers) > people:
        raise DataError(
            f"{max(numbers):,} classes are too many for {format_plural(people, 'respondent')};"
            " reduce ",
            Argument("classes"),
            ".",
        )
    left = people - -(-people // FOLDS)
    if choose == HELD_OUT and (people < FOLDS or max(numbers) > left):
        raise DataError(
            f"{format_plural(people, 'respondent')} are too few for {FOLDS}-fold cross-validation"
            f" of {max(numbers):,} classes; set ",
            Setting("choose", BIC),
            ".",
        )
    return numbers


class ClassFit(NamedTuple):
    """The best maximum with K classes, and how K is judged."""

    best: BestMaximum
    parameters: int
    # log-likelihood of all people, each by a fit without them; NaN where BIC chooses
    held_out: float

    @property
    def log_likelihood(self) -> float:
        """Of all choices."""
        return self.best.summit.where.value

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion; people are the independent observations."""
        people = len(self.best.summit.where.membership)
        return float(np.log(people)) * self.parameters - 2.0 * self.log_likelihood

    @property
    def entropy_r2(self) -> float:
        r"""How clearly people belong to one class: 1 for certain, 0 for evenly; NaN for a single
        class.

        .. math:: 1 - \sum_n \sum_k -r_{nk} \ln r_{nk} \Big/ (N \ln K)
        """
        r = self.best.summit.where.membership
        if r.shape[1] == 1:
            return float("nan")
        return float(
            1.0 + (r * np.log(np.maximum(r, 1e-300))).sum() / (len(r) * np.log(r.shape[1]))
        )


def fits(
    panel: Panel,
    numbers: tuple[int, ...],
    choose: str,
    starts: Starts,
    random_seed: Any,
    done: Callable[[], None],
) -> dict[int, ClassFit]:
    """The fit with each number of classes; `done` is called after each start."""
    # the second, of one class, is that of the draws
    seeds = build_seed_sequence(random_seed).spawn(max(numbers) + 1)
    by_fold = np.random.default_rng(seeds[0]).permutation(panel.people) % FOLDS
    found = {}
    for number in numbers:
        best = best_of_starts(panel, number, starts, seeds[number], done)
        held_out = float("nan")
        if choose == HELD_OUT:
            of_fold = partial(
                _left_out, panel, number=number, starts=starts, seed=seeds[number], done=done
            )
            held_out = sum(of_fold(by_fold == fold) for fold in range(FOLDS))
        parameters = best.summit.where.classes.coordinates + best.summit.where.tastes.size
        found[number] = ClassFit(best, parameters, held_out)
    return found


def chosen(found: dict[int, ClassFit], choose: str) -> int:
    """The number of classes that is best by the criterion."""
    if choose == BIC:
        return min(found, key=lambda number: found[number].bic)
    return max(found, key=lambda number: found[number].held_out)


def _left_out(
    panel: Panel, out: np.ndarray, number: int, starts: Starts, seed: Any, done: Callable[[], None]
) -> float:
    """The log-likelihood of some people by a fit to the others."""
    where = best_of_starts(panel.of(~out), number, starts, seed, done).summit.where
    left = panel.of(out)
    return point(left, where.classes.of(left.covariates), where.tastes).value


# What a fit leaves: estimates in the units of the attributes, with their covariance, and draws of
# them


def fitted_attributes(
    fit: ClassFit,
    panel: Panel,
    data: "ChoiceExperiment",
    coding: "Coding",
    kept: np.ndarray,
    scale: np.ndarray,
    covariates: "RespondentCovariates",
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """What a fit leaves, in the units of the attributes and of the columns of people."""
    import pandas as pd

    summit = fit.best.summit
    where, number, p = summit.where, len(summit.where.tastes), len(kept)
    columns = [CONSTANT, *covariates.names]
    of_people = np.append(1.0, covariates.sd)
    labels = pd.Index(np.arange(1, number + 1), name="latent_class")
    names = pd.Index(coding.names, name="coefficient")
    tastes = np.full((number, p), np.nan)
    tastes[:, kept] = where.tastes / scale
    of_odds = ["", *(f": {name}" for name in covariates.names)]
    odds = [f"{_ODDS} {k}{name}" for k in labels[1:] for name in of_odds]
    parameters = pd.Index(odds + [f"class {k}: {name}" for k in labels for name in names])
    free = np.concatenate([np.ones(len(odds), bool), np.tile(kept, number)])
    units = np.concatenate([np.tile(of_people, number - 1), np.tile(scale, number)])
    covariance = np.full((len(free), len(free)), np.nan)
    covariance[np.ix_(free, free)] = np.linalg.pinv(summit.information, hermitian=True) / np.outer(
        units, units
    )
    drawn = class_draws(panel, summit, scale, spawn_generators(seed, 2)[1])
    every = np.zeros((*drawn.tastes.shape[:2], p))
    every[:, :, kept] = drawn.tastes
    people = pd.Index(data.respondents, name="respondent")
    return {
        "_sizes_": pd.Series(where.sizes, labels, name="size"),
        "coef_": pd.DataFrame(tastes, labels, names),
        "_membership_coef_": pd.DataFrame(
            where.classes.odds / of_people, labels, pd.Index(columns, name="column")
        )
        if covariates.names
        else None,
        "covariance_": pd.DataFrame(covariance, parameters, parameters),
        "membership_": pd.DataFrame(where.membership, people, labels),
        "log_likelihood_": where.value,
        "aic_": fit.aic,
        "bic_": fit.bic,
        "_converged_": summit.converged,
        "_unbounded_": tuple(parameters[free][open_parameters(summit.information)]),
        "_scheme_": data.scheme,
        "_coding_": coding,
        "_covariates_": covariates if covariates.names else None,
        "_expected_": where.classes.expected if covariates.names else None,
        "_draws_": ClassDraws(drawn.sizes, every, drawn.of_people),
        "_data_": data,
    }


def drawn_choices(panel: Panel, where: ClassParameters, rng: np.random.Generator) -> Panel:
    """The same tasks with choices of people whose class is drawn."""
    expected = np.broadcast_to(where.classes.expected, (panel.people, len(where.tastes)))
    own = (expected.cumsum(axis=1)[:, :-1] < rng.random((panel.people, 1))).sum(axis=1)
    tasks, person = panel.tasks, np.repeat(np.arange(panel.people), np.diff(panel.first_task))
    of_row = own[person][tasks.task_of_row]
    utility = np.einsum("rp,rp->r", tasks.matrix, where.tastes[of_row]) + rng.gumbel(
        size=len(tasks.matrix)
    )
    best = np.maximum.reduceat(utility, tasks.first_row[:-1])
    return panel._replace(
        tasks=tasks._replace(chosen_row=np.flatnonzero(utility == best[tasks.task_of_row]))
    )


# Draws of the estimates by their covariance, and the class of everybody in each -------------------


CONSTANT = "constant"  # the log odds of people with average columns
DRAWS = 200
_ODDS = "log odds of class"
# information on a direction below which the data say nothing: it is held at its estimate
_MIN_INFORMATION = 1e-2


class ClassDraws(NamedTuple):
    """D draws of sizes and tastes, in the units of the attributes, and a class of everybody in
    each."""

    sizes: np.ndarray  # (D, K)
    tastes: np.ndarray  # (D, K, p)
    of_people: np.ndarray  # (D, people) uint8


def root_of_covariance(information: np.ndarray) -> np.ndarray:
    """Return the symmetric root of the covariance, without directions that have no information."""
    values, vectors = np.linalg.eigh(information)
    kept = values > _MIN_INFORMATION
    # whichever vectors these are
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T


def open_parameters(information: np.ndarray) -> np.ndarray:
    """Numbers of the parameters of which a tenth or more lies in directions without information."""
    values, vectors = np.linalg.eigh(information)
    return np.flatnonzero((vectors[:, values <= _MIN_INFORMATION] ** 2).sum(axis=1) > 0.1)


def class_draws(
    panel: Panel, summit: Summit, scale: np.ndarray, rng: np.random.Generator
) -> ClassDraws:
    """Draws from the normal distribution about the maximum, then classes from their probabilities
    given the choices."""
    root = root_of_covariance(summit.information)
    sizes, tastes, of_people = [], [], []
    for noise in rng.normal(size=(DRAWS, root.shape[1])):
        there = point(panel, *stepped(summit.where, root @ noise))
        sizes.append(there.sizes)
        tastes.append(there.tastes)
        cumulated = there.membership.cumsum(axis=1)
        of_people.append((cumulated[:, :-1] < rng.random((panel.people, 1))).sum(axis=1))
    return ClassDraws(
        np.array(sizes), np.array(tastes) / scale, np.array(of_people).astype(np.uint8)
    )
