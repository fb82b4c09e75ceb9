"""The method of worths of latent classes: chains of classes and memberships."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._people.class_order import with_class_order
from thali._people.columns import no_covariates
from thali._people.latent_classes import label_free_quantities, memberships
from thali.errors import ArgumentError

from ..density import LOG_SPREAD_MEAN, LOG_SPREAD_SD, TIE_SD
from ..people.engine import IndividualsEngine
from ..posterior import WorthProblem
from ..predictions import Quantities, WorthDraws
from .draws import (
    WorthClassDraws,
    draw_new_respondents,
    read_class_draws,
    read_respondent_draws,
    stack_classes,
)
from .problem import WorthClassProblem
from .respondents import WorthClasses
from .sweep import ClassRecord

if TYPE_CHECKING:
    import pandas


def draw_record(problem: WorthClassProblem, rngs: Sequence[np.random.Generator]) -> ClassRecord:
    """Draw memberships and the worths of all classes from the prior, once with each generator."""
    n_classes, n, rows = problem.n_classes, problem.data.n_options, []
    for rng in rngs:
        log_s = LOG_SPREAD_MEAN + LOG_SPREAD_SD * rng.standard_normal()
        if problem.spread is not None:
            log_s = np.log(problem.spread)
        mean, log_sigma = np.zeros(n), log_s
        if problem.is_similar:
            mean, log_sigma = np.exp(log_s) * rng.standard_normal(n), np.log(abs(rng.normal()))
        worths = mean + np.exp(log_sigma) * rng.standard_normal((n_classes, n))
        worths -= worths.mean(axis=1, keepdims=True)
        shares = rng.dirichlet(np.ones(n_classes))
        class_of = rng.choice(n_classes, len(problem.data.respondents), p=shares)
        log_tie = TIE_SD * rng.standard_normal() * problem.has_ties
        rows.append((class_of, worths, np.array([log_s, log_sigma, 0.0]), log_tie, 0.0))
    return ClassRecord(*(np.array(values) for values in zip(*rows, strict=True)))


class ClassesEngine(IndividualsEngine):
    """Chains of the worths of latent classes, and of who is in which."""

    findings = "thali._worths.classes.findings"
    completed = staticmethod(with_class_order)
    read_respondents = staticmethod(read_respondent_draws)
    draw_record = staticmethod(draw_record)

    def classes_of(self, model: Any) -> WorthClassDraws:
        """Return the draws of classes."""
        return model._compute_once("classes", lambda: read_class_draws(model._view))

    def respondents(self, model: Any) -> WorthClasses:
        """Return the results about respondents."""
        return WorthClasses(model)

    def means_of(self, model: Any, respondent: Any = None) -> WorthDraws:
        """Return what predictions are means over: new respondents of the population."""
        if respondent is not None:
            raise no_covariates()
        return draw_new_respondents(self.draws_of(model), self.classes_of(model))

    def quantities(self, model: Any) -> Quantities:
        draws = model._view.draws
        names = [name for name in ("spread_of_respondents", "spread_of_classes") if name in draws]
        found = {name: draws[name].values for name in names}
        return found | label_free_quantities(model._view) | model._draws.quantities(None)

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        stacked, log_weights = stack_classes(model._draws, self.classes_of(model))
        return stacked.log_predictive(choices, log_weights)

    def part_of_class(self, model: Any, number: int) -> tuple[Any, WorthDraws]:
        """Return the data of the likely members of a class, numbered from 1, and its draws."""
        problem: WorthProblem = model._problem(model._get_fit_data())
        asked = problem.single.questions(problem.has_ties)
        is_member = memberships(model._view).argmax(axis=1) == number - 1
        if not is_member.any():
            raise ArgumentError(
                f"No respondent is most probably in class {number}, so it has no model; see"
                " respondents.classes()."
            )
        times = asked.given.times * is_member[asked.given.respondent]
        counts = np.bincount(asked.given.answer, times, len(asked.counts))
        drawn = self.classes_of(model).worths[:, number - 1]
        return problem.single.with_answers(counts), model._draws._replace(log_worths=drawn)


CLASSES = ClassesEngine()
