"""The method that fits worths of latent classes by Markov chains."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ..people.estimation_method import IndividualResults, IndividualsEngine, RespondentFit
from ..people.respondent_draws import RespondentDraws
from ..population_posterior import WorthProblem
from ..posterior_density import TIE_SD
from ..spread_prior import draw_log_spread
from ..worth_draws import Quantities, WorthDraws
from .class_alignment import add_class_order
from .class_draws import (
    WorthClassDraws,
    draw_new_respondents,
    read_class_draws,
    read_respondent_draws,
    stack_classes,
)
from .class_posterior import WorthClassProblem
from .gibbs_sweep import ClassRecord
from .respondent_results import WorthClasses, list_label_free_quantities, membership_probabilities

if TYPE_CHECKING:
    import pandas
    import xarray

    from ..model import BradleyTerryLuce


def sample_class_record(
    problem: WorthClassProblem, rngs: Sequence[np.random.Generator]
) -> ClassRecord:
    """Sample class worths and memberships from the prior, once per generator."""
    n_classes = problem.n_classes
    n = problem.data.n_options
    record_rows = []
    for rng in rngs:
        log_s = draw_log_spread(rng)
        if problem.spread is not None:
            log_s = np.log(problem.spread)
        common_worths = np.zeros(n)
        log_sigma = log_s
        if problem.is_similar:
            common_worths = np.exp(log_s) * rng.standard_normal(n)
            log_sigma = np.log(abs(rng.normal()))
        worths = common_worths + np.exp(log_sigma) * rng.standard_normal((n_classes, n))
        worths -= worths.mean(axis=1, keepdims=True)
        class_shares = rng.dirichlet(np.ones(n_classes))
        class_of = rng.choice(n_classes, len(problem.data.respondents), p=class_shares)
        log_tie = TIE_SD * rng.standard_normal()
        if not problem.has_ties:
            log_tie = 0.0
        record_rows.append((class_of, worths, np.array([log_s, log_sigma, 0.0]), log_tie, 0.0))
    return ClassRecord(*(np.array(arrays) for arrays in zip(*record_rows, strict=True)))


class WorthClassFit(RespondentFit):
    """Fit of the worths of latent classes by Markov chains."""

    def complete_tree(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """Add an order of classes that agrees between draws."""
        return add_class_order(tree)


class ClassResults(IndividualResults):
    """Results of a fit of latent classes; predictions are for new respondents."""

    @cached_property
    def class_draws(self) -> WorthClassDraws:
        """Draws of class sizes, worths and memberships."""
        return read_class_draws(self.posterior)

    @cached_property
    def respondent_draws(self) -> RespondentDraws:
        """Draws of all respondents' worths, those of their classes."""
        return read_respondent_draws(self.posterior)

    @cached_property
    def prediction_draws(self) -> WorthDraws:
        """Draws of new respondents, over which predictions are averaged."""
        return draw_new_respondents(self.draws, self.class_draws)

    def describe_respondents(self, model: "BradleyTerryLuce") -> WorthClasses:
        """Return the results about respondents and their latent classes."""
        return WorthClasses(model)

    def get_quantities(self) -> Quantities:
        """Return draws of the summary rows, by name."""
        draws = self.posterior.draws
        spread_names = [
            name for name in ("spread_of_respondents", "spread_of_classes") if name in draws
        ]
        quantities = {name: draws[name].values for name in spread_names}
        return (
            quantities
            | list_label_free_quantities(self.posterior)
            | self.draws.get_quantities(None)
        )

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return log predictive probability of each new respondent's choices, over classes."""
        class_worths, log_weights = stack_classes(self.draws, self.class_draws)
        return class_worths.log_predictive(choices, log_weights)

    def select_class(self, problem: WorthProblem, class_number: int) -> tuple[Any, WorthDraws]:
        """Return data of a class's probable members, and the draws of its worths."""
        questions = problem.single_data.questions(problem.has_ties)
        is_member = membership_probabilities(self.posterior).argmax(axis=1) == class_number - 1
        if not is_member.any():
            raise ArgumentError(
                f"Class {class_number} is not the most probable class of any respondent, so it has"
                " no model; see respondents.classes()."
            )
        member_times = questions.given.times * is_member[questions.given.respondent]
        answer_counts = np.bincount(questions.given.answer, member_times, len(questions.counts))
        class_worths = self.class_draws.worths[:, class_number - 1]
        return problem.single_data.with_answers(answer_counts), self.draws._replace(
            log_worths=class_worths
        )


class ClassesEngine(IndividualsEngine):
    """Fits worths of latent classes by chains."""

    findings = "thali._worths.latent_classes.findings"
    problem_class = WorthClassProblem
    fit_class = WorthClassFit
    results_class = ClassResults
    draw_record = staticmethod(sample_class_record)


CLASSES = ClassesEngine()
