"""Posterior of worths of latent classes: data, settings, chains and tree of draws."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._people.people_argument import SIMILAR, LatentClasses, check_enough_respondents
from thali._posterior.draws_writer import Variable
from thali._posterior.posterior_tree import MEMBERS, flatten_chains

from ..people.answer_table import tabulate_answers
from ..people.individual_posterior import refuse_data
from ..population_posterior import FULL_LIKELIHOOD, TIE, WorthProblem
from .chain import WorthClassChain, list_all_options
from .gibbs_sweep import ClassRecord
from .respondent_results import new_class_probabilities

if TYPE_CHECKING:
    import xarray

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons

_VARIABLES = {
    "log_worth": Variable(
        "log worth of an option, mean over the possible classes of a new respondent", ("option",)
    ),
    "spread": Variable(
        "standard deviation of log worths; of similar classes that of the common ones"
    ),
    "spread_of_respondents": Variable(
        "standard deviation of log worths between new respondents, mean over options"
    ),
    "spread_of_classes": Variable(
        "standard deviation of log worths of classes around the common ones"
    ),
    "log_likelihood": Variable(f"{FULL_LIKELIHOOD.description}; given classes"),
    "n_classes": Variable("number of occupied classes"),
    MEMBERS: Variable(
        "class of each respondent; class numbers are arbitrary and change between draws",
        ("respondent",),
    ),
    "kind_log_worth": Variable(
        "log worth of an option in each class, with a mean of 0 over options",
        ("kind_number", "option"),
    ),
    "tie": TIE,
}


class WorthClassProblem(WorthProblem):
    """Data of respondents in latent classes, and the settings of a fit."""

    variables = _VARIABLES
    record_class: ClassVar[type[Any]] = ClassRecord

    def __init__(
        self,
        data: "PairedComparisons | Choices",
        lapse: float,
        has_ties: bool,
        rule: str,
        spread: float | None,
        people: LatentClasses,
    ) -> None:
        """Check that the data suit latent classes; tabulate answers by respondent."""
        refuse_data(data, rule, people)
        check_enough_respondents(people, data.respondents)
        super().__init__(data, lapse, has_ties, rule, spread)
        self.n_classes = people.classes
        self.is_similar = people.weights == SIMILAR
        self.table = list_all_options(tabulate_answers(self.converted_data, rule, lapse, has_ties))

    def build_chain(
        self, draws: int, tune: int, thin: int, rng: np.random.Generator
    ) -> WorthClassChain:
        """Build a chain with random starting values."""
        return WorthClassChain(
            self.table, self.n_classes, self.is_similar, self.spread, draws, tune, thin, rng
        )

    def build_tree_from_records(
        self, records: list[ClassRecord], attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Build the posterior tree from the records of all chains."""
        class_of, worths, log_sds, log_tie, log_likelihood = map(
            np.stack, zip(*records, strict=True)
        )
        n = self.data.n_options
        class_sizes = (class_of[..., None] == np.arange(self.n_classes)).sum(axis=2)
        class_shares = new_class_probabilities(flatten_chains(class_sizes)).reshape(
            class_sizes.shape
        )
        mean_worths = np.einsum("...g,...gi->...i", class_shares, worths)
        squared_deviations = (worths - mean_worths[:, :, None]) ** 2
        respondent_variance = np.einsum("...g,...gi->...", class_shares, squared_deviations) / (
            n - 1
        )
        arrays = {
            "log_worth": mean_worths,
            "spread": np.exp(log_sds[..., 0]),
            "spread_of_respondents": np.sqrt(respondent_variance),
            "log_likelihood": log_likelihood + self.respondent_coefficients,
            "n_classes": (class_sizes > 0).sum(axis=2),
            MEMBERS: class_of,
            "kind_log_worth": worths,
        }
        if self.is_similar:
            arrays["spread_of_classes"] = np.exp(log_sds[..., 1])
        coordinates = {"respondent": np.asarray(self.data.respondents, dtype=str)}
        stored_data = self.build_data_groups()
        constants = stored_data.constants | {"kinds": self.n_classes}
        stored_data = stored_data._replace(constants=constants)
        return self.build_tree_from_arrays(arrays, coordinates, log_tie, stored_data, attributes)
