"""The posterior of worths of respondents who differ: data, settings and the tree of draws."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.choices import Choices
from thali._labels import shorten
from thali._model.best_worst import LARGEST_RANKED, RANKING, REVERSED
from thali._model.design_effects import describe_individuals
from thali._people.columns import covariates_of
from thali._people.populations import ADJUSTED, Individuals, unknown_respondents
from thali._posterior.dependence import Dependence, of_one_person
from thali.errors import ArgumentError, DataError, Setting

from ..posterior import WorthProblem
from .answers import tabulate_answers
from .chain import PeopleChain
from .sweep import PeopleRecord

if TYPE_CHECKING:
    import xarray

# from so many respondents on, worths vary along so many shared directions
MIN_RESPONDENTS, N_DIRECTIONS = 100, 3
_DESCRIPTIONS = {
    "log_worth": "population log worth of an option, with a mean of 0 over options",
    "spread": "standard deviation of population log worths",
    "spread_of_respondents": "standard deviation of log worths between respondents, mean over"
    " options",
    "residual_spread": "standard deviation of log worths between respondents beyond the shared"
    " directions",
    "loading": "how log worths of respondents vary together along a shared direction",
    "respondent_effect": "change in log worth per standard deviation of a respondent column",
    "respondent_log_worth": "log worth of an option for a respondent, with a mean of 0 over"
    " options",
    "log_likelihood": "full data set, natural logarithm, including constants such as binomial"
    " coefficients",
    "tie": "nu, the tie parameter",
}


class PeopleProblem(WorthProblem):
    """Data of respondents with individual worths, and the settings of a model."""

    descriptions = _DESCRIPTIONS
    record: ClassVar[type[Any]] = PeopleRecord

    def __init__(
        self,
        data: Any,
        lapse: float,
        has_ties: bool,
        rule: str,
        spread: float | None,
        people: Individuals,
    ) -> None:
        refuse_data(data, rule, people)
        super().__init__(data, lapse, has_ties, rule, spread)
        n_respondents = len(data.respondents)
        self.known = covariates_of(people.by, data.people, n_respondents)
        self.n_directions = (
            N_DIRECTIONS
            if n_respondents >= MIN_RESPONDENTS and data.n_options > N_DIRECTIONS
            else 0
        )
        self.table = tabulate_answers(self.in_form, rule, lapse, has_ties, self.known.matrix[:, 1:])

    @property
    def dependence(self) -> Dependence:
        """Describe what the model makes of several answers of a respondent."""
        given = self.single.questions(self.has_ties).given
        return describe_individuals(
            np.bincount(given.respondent, given.times, len(given.respondents))
        )

    def chain(self, draws: int, tune: int, thin: int, rng: np.random.Generator) -> PeopleChain:
        """Return a chain at its start."""
        settings = self.table, self.spread, self.n_directions, draws, tune, thin
        return PeopleChain(*settings, rng)

    def tree_of_records(
        self, records: list[PeopleRecord], attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Return the draws of several chains as a tree."""
        mean, loadings, log_sds, log_tie, log_likelihood, worths = map(
            np.stack, zip(*records, strict=True)
        )
        stored, n = self.groups(), self.data.n_options
        centred = mean - mean.mean(axis=-1, keepdims=True)
        loadings = loadings - loadings.mean(axis=-1, keepdims=True)
        residual = np.exp(log_sds[..., 1])
        variance = residual**2 + (loadings**2).sum(axis=(2, 3)) / (n - 1)
        each = "chain", "draw"
        variables: dict[Any, Any] = {
            "log_worth": ((*each, "option"), centred[:, :, 0]),
            "spread": (each, np.exp(log_sds[..., 0])),
            "spread_of_respondents": (each, np.sqrt(variance)),
            "residual_spread": (each, residual),
            "log_likelihood": (each, log_likelihood + self._log_coefficient()),
            "respondent_log_worth": ((*each, "respondent", "option"), worths),
        }
        coordinates: dict[Any, Any] = {"respondent": np.asarray(self.data.respondents, dtype=str)}
        if self.n_directions:
            variables["loading"] = (*each, "direction", "option"), loadings
            coordinates["direction"] = np.arange(1, self.n_directions + 1)
        if self.known.names:
            variables["respondent_effect"] = (*each, "known", "option"), centred[:, :, 1:]
            known = {"known": list(self.known.names), "respondent": coordinates["respondent"]}
            coordinates |= known
            constants = stored.constants | self.known.stored("respondent")
            stored = stored._replace(constants=constants, coordinates=stored.coordinates | known)
        attributes = attributes | self.dependence.attributes
        return self.tree_of_variables(variables, coordinates, log_tie, stored, attributes)

    def _log_coefficient(self) -> float:
        """Return the sum of the logarithms of multinomial coefficients of the answers of each
        respondent."""
        return float(self.single.questions(self.has_ties).compute_respondent_coefficients().sum())


def refuse_data(data: Any, rule: str, people: Any) -> None:
    """Refuse data that worths of respondents who differ cannot be fitted to.

    Raises
    ------
    DataError
        If respondents are unknown, or there is one; of rankings with ties; of larger sets whose
        best and worst are to be those of a ranking.
    ArgumentError
        If there are covariates.
    """
    if len(data.respondents) < 2 or (isinstance(data, Choices) and (data.respondent < 0).any()):
        raise of_one_person(people) if len(data.respondents) == 1 else unknown_respondents(people)
    refuse_answers(data, rule, people)


def refuse_answers(data: Any, rule: str, people: Any, instead: Any = ADJUSTED) -> None:
    """Refuse answers that the likelihood of a person has no form for, as `refuse_data` says;
    `instead` are the people that the sentence names."""
    if data.covariate_names:
        raise ArgumentError(
            Setting("people", people),
            f" does not support covariates, but the data have {shorten(data.covariate_names)}; set"
            " ",
            Setting("people", instead),
            ", or leave the columns out.",
        )
    if isinstance(data, Choices) and data.n_ties:
        raise DataError(
            Setting("people", people),
            " does not support ties in rankings; set ",
            Setting("people", instead),
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
