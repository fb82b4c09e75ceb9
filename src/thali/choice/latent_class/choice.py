"""Fits with several numbers of classes, and which of them is chosen: by BIC, or by people who were left out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import several_whole
from thali._labels import plural
from thali.errors import Argument, DataError, Setting
from thali.inference.seeds import root

from .panel import Panel, point
from .starts import Best, best_of_starts

FOLDS = 5  # of people, each left out once
BIC, HELD_OUT = "bic", "held-out"


def numbers_of(classes: Any, choose: str, people: int) -> tuple[int, ...]:
    """The numbers of classes that are to be tried."""
    numbers = several_whole("classes", classes, 1)
    if max(numbers) > people:
        raise DataError(
            f"{max(numbers):,} classes are more than the {plural(people, 'respondent')}; ask for fewer by ",
            Argument("classes"),
            ".",
        )
    left = people - -(-people // FOLDS)
    if choose == HELD_OUT and (people < FOLDS or max(numbers) > left):
        raise DataError(
            f"{plural(people, 'respondent')} are too few to be left out in {FOLDS} parts and fitted by "
            f"{max(numbers):,} classes; set ",
            Setting("choose", BIC),
            ".",
        )
    return numbers


class Fit(NamedTuple):
    """The best maximum with K classes, and how K is judged."""

    best: Best
    parameters: int
    held_out: float  # log-likelihood of all people, each by a fit without them; NaN where BIC chooses

    @property
    def log_likelihood(self) -> float:
        """Of all choices."""
        return self.best.summit.where.value

    @property
    def people(self) -> int:
        """Number of people."""
        return len(self.best.summit.where.membership)

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2.0 * self.parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion; people are the independent observations."""
        return float(np.log(self.people)) * self.parameters - 2.0 * self.log_likelihood

    @property
    def entropy_r2(self) -> float:
        r"""How clearly people belong to one class: 1 for certain, 0 for evenly; NaN for a single class.

        .. math:: 1 - \sum_n \sum_k -r_{nk} \ln r_{nk} \Big/ (N \ln K)
        """
        r = self.best.summit.where.membership
        if r.shape[1] == 1:
            return float("nan")
        return float(1.0 + (r * np.log(np.maximum(r, 1e-300))).sum() / (len(r) * np.log(r.shape[1])))


def fits(
    panel: Panel,
    numbers: tuple[int, ...],
    choose: str,
    starts: int | None,
    random_seed: Any,
    done: Callable[[], None],
) -> dict[int, Fit]:
    """The fit with each number of classes; `done` is called after each."""
    seeds = root(random_seed).spawn(max(numbers) + 1)  # the second, of one class, is that of the draws
    by_fold = np.random.default_rng(seeds[0]).permutation(panel.people) % FOLDS
    found = {}
    for number in numbers:
        best = best_of_starts(panel, number, starts, seeds[number])
        held_out = float("nan")
        if choose == HELD_OUT:
            held_out = sum(_left_out(panel, by_fold == fold, number, starts, seeds[number]) for fold in range(FOLDS))
        parameters = number - 1 + best.summit.where.tastes.size
        found[number] = Fit(best, parameters, held_out)
        done()
    return found


def chosen(found: dict[int, Fit], choose: str) -> int:
    """The number of classes that is best by the criterion."""
    if choose == BIC:
        return min(found, key=lambda number: found[number].bic)
    return max(found, key=lambda number: found[number].held_out)


def _left_out(panel: Panel, out: np.ndarray, number: int, starts: int | None, seed: Any) -> float:
    """The log-likelihood of some people by a fit to the others."""
    where = best_of_starts(panel.of(~out), number, starts, seed).summit.where
    return point(panel.of(out), where.sizes, where.tastes).value
