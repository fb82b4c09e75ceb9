"""Posterior of individual worths: data, settings, chains and tree of draws."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import shorten
from thali._model.best_worst_probabilities import LARGEST_RANKED, RANKING, REVERSED
from thali._model.dependent_answers import build_individual_dependence
from thali._people.people_argument import (
    ADJUSTED,
    Individuals,
    unknown_respondents_error,
)
from thali._people.respondent_columns import build_covariates
from thali._posterior.draws_writer import Variable
from thali._posterior.respondent_dependence import Dependence, single_respondent_error
from thali.errors import ArgumentError, DataError, Setting

from ..population_posterior import FULL_LIKELIHOOD, TIE, WorthProblem
from .answer_table import tabulate_answers
from .chain import PeopleChain
from .gibbs_sweep import PeopleRecord

if TYPE_CHECKING:
    import xarray

    from thali._data.pairs import PairedComparisons

# with fewer respondents, worths have no shared directions; number of directions
MIN_RESPONDENTS = 100
N_DIRECTIONS = 3
_VARIABLES = {
    "log_worth": Variable(
        "population log worth of an option, with a mean of 0 over options", ("option",)
    ),
    "spread": Variable("standard deviation of population log worths"),
    "spread_of_respondents": Variable(
        "standard deviation of log worths between respondents, mean over options"
    ),
    "residual_spread": Variable(
        "standard deviation of log worths between respondents beyond the shared directions"
    ),
    "loading": Variable(
        "how log worths of respondents vary together along a shared direction",
        ("direction", "option"),
    ),
    "respondent_effect": Variable(
        "change in log worth per standard deviation of a respondent column", ("known", "option")
    ),
    "respondent_log_worth": Variable(
        "log worth of an option for a respondent, with a mean of 0 over options",
        ("respondent", "option"),
    ),
    "log_likelihood": FULL_LIKELIHOOD,
    "tie": TIE,
}


class PeopleProblem(WorthProblem):
    """Data of respondents with individual worths, and the settings of a fit."""

    variables = _VARIABLES

    def __init__(
        self,
        data: "PairedComparisons | Choices",
        lapse: float,
        has_ties: bool,
        rule: str,
        spread: float | None,
        people: Individuals,
    ) -> None:
        """Check that the data suit individual worths; tabulate answers and covariates."""
        refuse_data(data, rule, people)
        super().__init__(data, lapse, has_ties, rule, spread)
        n_respondents = len(data.respondents)
        self.known = build_covariates(people.by, data.people, n_respondents)
        self.n_directions = 0
        if n_respondents >= MIN_RESPONDENTS and data.n_options > N_DIRECTIONS:
            self.n_directions = N_DIRECTIONS
        self.table = tabulate_answers(
            self.converted_data, rule, lapse, has_ties, self.known.matrix[:, 1:]
        )

    @property
    def dependence(self) -> Dependence:
        """Note that individual worths account for repeated answers, with counts by respondent."""
        given_answers = self.single_data.questions(self.has_ties).given
        return build_individual_dependence(
            np.bincount(
                given_answers.respondent, given_answers.times, len(given_answers.respondents)
            )
        )

    def build_chain(
        self, draws: int, tune: int, thin: int, rng: np.random.Generator
    ) -> PeopleChain:
        """Build a chain with random starting values."""
        return PeopleChain(self.table, self.spread, self.n_directions, draws, tune, thin, rng)

    def build_tree_from_records(
        self, records: list[PeopleRecord], attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Build the posterior tree from the records of all chains."""
        population_means, loadings, log_sds, log_tie, log_likelihood, worths = map(
            np.stack, zip(*records, strict=True)
        )
        stored_data = self.build_data_groups()
        n = self.data.n_options
        centred_means = population_means - population_means.mean(axis=-1, keepdims=True)
        loadings = loadings - loadings.mean(axis=-1, keepdims=True)
        residual_sd = np.exp(log_sds[..., 1])
        respondent_variance = residual_sd**2 + (loadings**2).sum(axis=(2, 3)) / (n - 1)
        questions = self.single_data.questions(self.has_ties)
        log_coefficients = float(questions.compute_respondent_coefficients().sum())
        arrays = {
            "log_worth": centred_means[:, :, 0],
            "spread": np.exp(log_sds[..., 0]),
            "spread_of_respondents": np.sqrt(respondent_variance),
            "residual_spread": residual_sd,
            "log_likelihood": log_likelihood + log_coefficients,
            "respondent_log_worth": worths,
        }
        if self.has_ties:
            arrays["tie"] = np.exp(log_tie)
        coordinates: dict[Any, Any] = {
            "option": np.asarray(self.data.labels, dtype=str),
            "respondent": np.asarray(self.data.respondents, dtype=str),
        }
        if self.n_directions:
            arrays["loading"] = loadings
            coordinates["direction"] = np.arange(1, self.n_directions + 1)
        if self.known.names:
            arrays["respondent_effect"] = centred_means[:, :, 1:]
            covariate_coordinates = {
                "known": list(self.known.names),
                "respondent": coordinates["respondent"],
            }
            coordinates |= covariate_coordinates
            constants = stored_data.constants | self.known.to_variables("respondent")
            stored_data = stored_data._replace(
                constants=constants, coordinates=stored_data.coordinates | covariate_coordinates
            )
        writer = self._write_draws(arrays, coordinates, stored_data)
        return writer.build(attributes | self.dependence.attributes)


def refuse_data(data: Any, rule: str, people: Individuals) -> None:
    """Raise an error for data to which individual worths cannot be fitted.

    Raises
    ------
    DataError
        If respondents are unknown, or there is only one; for rankings with ties; for large sets
        whose best and worst choices are modelled by rankings.
    ArgumentError
        If there are covariates.
    """
    if len(data.respondents) < 2 or (isinstance(data, Choices) and (data.respondent < 0).any()):
        if len(data.respondents) == 1:
            raise single_respondent_error(people)
        raise unknown_respondents_error(people)
    if data.covariate_names:
        raise ArgumentError(
            Setting("people", people),
            f" does not support covariates, but the data have {shorten(data.covariate_names)}; set"
            " ",
            Setting("people", ADJUSTED),
            ", or leave the columns out.",
        )
    if isinstance(data, Choices) and data.n_ties:
        raise DataError(
            Setting("people", people),
            " does not support ties in rankings; set ",
            Setting("people", ADJUSTED),
            ".",
        )
    if data.worst is not None and rule == RANKING and data.sizes.max() > LARGEST_RANKED:
        raise DataError(
            Setting("best_worst", RANKING),
            f" is limited to sets of {LARGEST_RANKED} options where respondents differ, but a set"
            f" has {int(data.sizes.max())}; set ",
            Setting("best_worst", REVERSED),
            ".",
        )
