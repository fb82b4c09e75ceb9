"""Results of a posterior: base class of all data kinds.

Results of one kind of data have modules of their own; `result_classes` lists them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.questions import AnswerProbabilities, Questions
from thali._model.predicted_answers import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.predictive_check import select_draws
from thali._model.rank_table import tabulate_ranks
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.posterior_tree import Posterior
from thali.errors import Setting

from ..draws.feature_columns import read_columns
from . import summary_quantities
from .data_kind_checks import requires_choices_error
from .feature_table import add_convergence, features_table
from .matched_features import MatchedFeatures, matched_features_table
from .option_tables import compute_utilities
from .saved_posterior_layout import TEMPERED_LATER
from .summary_quantities import (
    STUCK_CHAINS,
    Quantities,
    presence_quantities,
    weight_quantities,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.base_classes import Judged
    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._inference.random_seeds import RandomSeed

_RESTART_NOTE = (
    " Without tempering the chains stayed in different sets of features, so they were"
    " restarted with tempering."
)


@dataclass
class PosteriorResults:
    """Base of results for one kind of data; unavailable results raise ArgumentError."""

    posterior: Posterior

    def quantities(self) -> Quantities:
        """Return draws of all summary rows, by name, each of shape (n_chains, n_draws)."""
        posterior = self.posterior
        draws_by_name = self.count_features()
        if posterior.learned_alpha:
            draws_by_name["alpha"] = posterior.alpha
        return (
            draws_by_name
            | {"log_likelihood": posterior.log_likelihood}
            | self._get_kind_quantities()
        )

    def count_features(self) -> Quantities:
        """Return draws of the number of features that affect the data, by row name."""
        return {"n_features": self.posterior.n_features}

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of the summary rows that this kind of data has, by name."""
        raise NotImplementedError

    def table_quantities(self) -> Quantities:
        """Return draws of checked quantities that are not rows of the summary."""
        return weight_quantities(self.posterior)

    def advice(self) -> Advice:
        """Return remedies for chains that disagree, with a note on restarted chains."""
        attributes = self.posterior.attributes
        advice = self.suggest_remedies()
        if attributes.get(TEMPERED_LATER):
            return advice._replace(note=(_RESTART_NOTE,))
        return advice

    def suggest_remedies(self) -> Advice:
        """Return remedies for chains that disagree, for this kind of data."""
        return summary_quantities.advise_choices(self.posterior)

    def check(self, random_seed: "RandomSeed", ci: float) -> "pandas.DataFrame":
        """Return a posterior predictive check: observed responses against replicates."""
        data = self.data()
        ties = self.posterior.has_ties
        questions = data.questions(ties)
        check_unweighted(questions)
        draws = select_draws(self.posterior.n_draws, len(questions.counts))
        return check_answers(
            questions,
            self._predict_respondents(data, questions, draws, ties),
            len(draws),
            random_seed,
            ci,
        )

    def predictions(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a table of observed proportions and their posterior predictions."""
        data = self.data()
        draws = np.arange(self.posterior.n_draws)
        questions = data.questions(False)
        return predict_answers(
            questions, self._predict_respondents(data, questions, draws, False), len(draws), ci
        )

    def _predict_respondents(
        self, data: "Judged", questions: Questions, draws: np.ndarray, ties: bool
    ) -> list[EqualRespondents]:
        """Return the respondents of the questions, whose answer probabilities are equal."""
        return [
            EqualRespondents.from_times(
                self.answer_probabilities(data, draws, ties), questions.times
            )
        ]

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """Return a function from a slice of questions to answer probabilities at `draws`."""
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """Labels of the options that data of a comparison must share; [] if there are none."""
        return self.posterior.labels

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the comparison covariates that the fit used."""
        return self.posterior.covariates

    def covariate_effects(self, ci: float) -> "pandas.DataFrame":
        """Return a table of covariates' effects on the log odds of the first option, per unit."""
        from thali._model.covariate_effects import tabulate_effects

        return tabulate_effects(self.covariates, self.posterior.coefficients, ci)

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return choice probabilities of each set, and Monte Carlo errors if `return_se`."""
        raise requires_choices_error(self.posterior, "predict_proba")

    def predict_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """Return win, tie and loss probabilities, one row per pair."""
        raise requires_choices_error(self.posterior, "predict_outcomes")

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return the log probability of all choices of each respondent together."""
        raise requires_choices_error(self.posterior, "log_predictive")

    def predict_held_out(self, held_out: "HeldOutPair") -> Any:
        """Raise an error: only subclasses for choices or similarities predict held-out data."""
        raise requires_choices_error(self.posterior, "A prediction of held-out data")

    def features(
        self,
        min_probability: float,
        similar: float | None,
        match_features: Callable[[float, float], MatchedFeatures],
        ci: float,
    ) -> "pandas.DataFrame":
        """Return a table of probable features and their weights.

        With `similar`, the table lists the features that `match_features` finds.
        """
        if similar is None:
            return add_convergence(
                features_table(self.posterior, min_probability, ci), self.posterior
            )
        return matched_features_table(self.posterior, match_features(similar, min_probability), ci)

    def ranks(self, every_rank: bool, ci: float) -> "pandas.DataFrame":
        """Return a table of option ranks by utility, 1 the highest.

        It has the probability of the first rank, or with `every_rank` of all.
        """
        return tabulate_ranks(
            compute_utilities(read_columns(self.posterior)), self.posterior.labels, every_rank, ci
        )

    def data(self) -> Any:
        """Return the fitted data as far as the posterior stores them."""
        raise NotImplementedError


class CustomDataResults(PosteriorResults):
    """Results of a posterior with a user-defined likelihood."""

    def check(self, random_seed: "RandomSeed", ci: float) -> "pandas.DataFrame":
        """Raise: checks require choices, not data of a user-defined likelihood."""
        raise requires_choices_error(self.posterior, "check")

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of the likelihood's parameters and of feature presence, by name."""
        return self.posterior.parameters | presence_quantities(self.posterior)

    def suggest_remedies(self) -> Advice:
        """Return remedies for chains that disagree, for a user-defined likelihood."""
        return Advice(stuck=(STUCK_CHAINS, Setting("tempering", 8), " or more temperatures"))
