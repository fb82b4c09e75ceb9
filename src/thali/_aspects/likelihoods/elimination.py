"""Elimination by aspects on paired comparisons and choices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.log_densities import LOG_2PI
from thali._labels import shorten
from thali._model.covariate_effects import coefficient_name
from thali.errors import Argument, ArgumentError, DataError, ModelName, Setting

from ..draws.covariate_offsets import stack_coefficients
from ..priors.given_features import Given
from ..weight_priors import EXPONENTIAL, GammaWeights, NormalWeights
from .choice_set_kernels import (
    IMPOSSIBLE_CHOICE,
    build_set_data,
    check_possible_choices,
    check_set_sizes,
)
from .compared_pair_kernels import build_pair_data

if TYPE_CHECKING:
    from thali._data.base_classes import Judged

    from ..draws.feature_columns import FeatureColumns
    from ..priors.prior_from_argument import FeaturePrior


# Below this shape of the weight prior, some weights are so much smaller than others that a
# difference of sums loses them. Pairs are then evaluated as sets of two, without stored sums.
MIN_SHAPE_OF_SUMS = 0.5
MAX_RANKED_OPTIONS = 3  # best and worst of a set of up to this size are a ranking


@dataclass(frozen=True)
class Elimination:
    r"""Elimination by aspects, with lapses, ties and covariates of comparisons.

    A chooser selects an aspect at random, with probability proportional to its weight, and drops
    every option without it. Between two options, only the aspects of exactly one of them decide:

    .. math::
        p_{ij} = \frac{A_{ij}}{A_{ij} + A_{ji}}, \qquad
        A_{ij} = \sum_k w_k f_{ik} (1 - f_{jk}), \qquad
        \tilde p_{ij} = (1 - \varepsilon) p_{ij} + \varepsilon / 2

    and the choices of a pair are binomial with probability :math:`\tilde p_{ij}`. Two options that
    no aspect distinguishes are chosen equally often. In a larger set, one aspect after the other
    eliminates options until one is left: see `thali.likelihoods.elimination_probabilities`.

    With ties (Davidson 1970) neither option of a pair may be chosen:

    .. math::
        r = \nu \sqrt{\tilde p_{ij} \tilde p_{ji}}, \qquad
        P(i) = \frac{\tilde p_{ij}}{1 + r}, \quad P(\text{tie}) = \frac{r}{1 + r}, \quad
        P(j) = \frac{\tilde p_{ji}}{1 + r}, \qquad \nu \sim \mathrm{Gamma}(1, 1)

    so that p̃ is the probability of i given that one of the two is chosen.

    With covariates x of a comparison, with the sign of "i over j", such as 1 if i was shown first,
    else -1:

    .. math::
        \tilde p_{ij} = (1 - \varepsilon)\, \mathrm{logistic}\Bigl(\ln \frac{A_{ij}}{A_{ji}}
        + x'\beta\Bigr)
        + \frac{\varepsilon}{2}, \qquad \beta_m \sim \mathrm{Normal}(0, 1)

    The best and the worst of up to three options are a ranking of them.

    Parameters
    ----------
    lapse : float in [0, 1)
        The probability epsilon of choosing at random.
    unique : bool
        Whether every option also has one unique aspect, which is not among the columns of f.
    ties : bool
        Whether there are ties, for pairs only.
    covariates : tuple of str
        The names of the covariates that the comparisons have, for pairs only.

    Raises
    ------
    ArgumentError
        If lapse is outside [0, 1).

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1 and 2. Davidson (1970), On extending the
    Bradley-Terry model to accommodate ties in paired comparison experiments.

    Examples
    --------
    >>> from thali.likelihoods import Elimination
    >>> Elimination(lapse=0.02)
    Elimination(lapse=0.02, unique=True, ties=False, covariates=())
    """

    lapse: float = 0.01
    unique: bool = True
    ties: bool = False
    covariates: tuple[str, ...] = ()

    takes_signed_weights = False
    # minimum shape of the weight prior: below it weights may be too small for floats
    min_shape: ClassVar[float] = 0.1
    approximate = None  # chains need no other likelihood to find their start

    def __post_init__(self) -> None:
        if not (isinstance(self.lapse, int | float | np.number) and 0.0 <= self.lapse < 1.0):
            raise ArgumentError(
                Argument("lapse"),
                f", the probability of a random choice, must be in [0, 1); got {self.lapse!r}.",
            )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of learned parameters besides weights: tie parameter and coefficients."""
        coefficient_names = tuple(map(coefficient_name, self.covariates))
        if self.ties:
            return ("tie", *coefficient_names)
        return coefficient_names

    @property
    def needs_tempering(self) -> bool:
        """Whether chains need several temperatures by default.

        Without unique aspects, choices between some families of aspects are nearly impossible.
        """
        return not self.unique

    def convert_data(self, data: "Judged") -> Any:
        """Return the data in the form (pairs, sets or rankings) with the fastest likelihood."""
        return convert_to_pairs(data)

    def check(self, prior: "FeaturePrior", data: Any) -> None:
        """Raise DataError for data or given aspects that rule out the likelihood.

        DataError: data of another kind, or with unexpected ties. ArgumentError: aspects that leave
        nothing to learn, or make a choice impossible without lapses.
        """
        data = self.convert_data(data)
        if not isinstance(data, PairedComparisons | Choices):
            model_hint = ""
            if hasattr(data, "values"):
                model_hint = " For similarities use AdditiveClustering."
            raise DataError(
                "Elimination by aspects requires PairedComparisons or Choices; got"
                f" {type(data).__name__}.{model_hint}"
            )
        if isinstance(data, Choices):
            if self.ties:
                raise DataError(
                    "Ties require paired comparisons; remove the ties from choices from larger"
                    " sets."
                )
            check_set_sizes(data)
            if isinstance(prior, Given) and not self.unique and self.lapse == 0.0:
                check_possible_choices(data, prior.matrix)
        elif not self.ties:
            data.refuse_ties()
        self._check_covariates(data)
        if self.unique:
            return
        if not isinstance(prior, Given):
            if self.lapse == 0.0:
                raise ArgumentError(
                    Argument("lapse"),
                    " must be positive with ",
                    Setting("unique", False),
                    ", because learned aspects can make a choice impossible.",
                )
            return
        ownership = prior.matrix
        if not ownership.any():
            raise ArgumentError(
                "No option has any aspect; add aspects, or set ", Setting("unique", True), "."
            )
        if self.lapse > 0.0 or isinstance(data, Choices):
            return
        for chosen, rejected, n_chosen in (
            (data.first, data.second, data.wins + data.tied),
            (data.second, data.first, data.losses + data.tied),
        ):
            is_favoured = (ownership[chosen] & ~ownership[rejected]).any(1)
            is_undecided = ~(ownership[chosen] ^ ownership[rejected]).any(1)
            for pair in np.flatnonzero((n_chosen > 0) & ~is_favoured & ~is_undecided):
                raise ArgumentError(
                    f"{data.labels[chosen[pair]]!r} was chosen over"
                    f" {data.labels[rejected[pair]]!r}, which these aspects make ",
                    IMPOSSIBLE_CHOICE,
                )

    def _check_covariates(self, data: "PairedComparisons | Choices") -> None:
        """Raise DataError for covariates of options, or other than the expected ones."""
        if data.covariates is not None:
            data.covariates.refuse_options("elimination by aspects")
        if not isinstance(data, PairedComparisons):
            if self.covariates:
                raise DataError(
                    "Covariates require comparisons of two options; remove the covariates for"
                    " choices from larger sets."
                )
            return
        expected_names = ()
        described_names = "no covariates"
        if data.covariates is not None:
            expected_names = data.covariates.names
            described_names = f"the covariates {shorten(expected_names)}"
        if expected_names != self.covariates:
            raise DataError(
                f"The comparisons have {described_names}, but the likelihood expects"
                f" {shorten(self.covariates) or 'none'}; set"
                f" Elimination(covariates={expected_names!r})."
            )

    def compiled(
        self, data: PairedComparisons | Choices, weights: GammaWeights = EXPONENTIAL
    ) -> Any:
        """Return choices as kernels read them, and a function that makes a chain's cache.

        `weights` is the Gamma prior of the weights.
        """
        data = self.convert_data(data)
        if weights.shape < MIN_SHAPE_OF_SUMS and isinstance(data, PairedComparisons):
            if self.ties or self.covariates:
                feature_name = "covariates"
                if self.ties:
                    feature_name = "ties"
                raise ArgumentError(
                    Argument("weight_prior"),
                    f" must have shape >= {MIN_SHAPE_OF_SUMS:g} for data with {feature_name}.",
                )
            data = Choices.from_comparisons(data)
        if isinstance(data, Choices):
            return build_set_data(data, self.lapse)
        return build_pair_data(data, float(self.lapse), self.unique, self.ties)

    def sample_prior_parameters(
        self,
        data: PairedComparisons | Choices,
        weights: GammaWeights | NormalWeights,
        rng: np.random.Generator,
    ) -> dict[str, float]:
        """Sample the tie parameter and the coefficients from their priors."""
        parameter_draws = {}
        if self.ties:
            parameter_draws["tie"] = rng.standard_exponential()
        return parameter_draws | {
            coefficient_name(name): rng.standard_normal() for name in self.covariates
        }

    def log_parameter_prior(
        self,
        draws: Mapping[str, np.ndarray],
        data: PairedComparisons | Choices,
        weights: GammaWeights | NormalWeights,
    ) -> dict[str, np.ndarray]:
        """Return log prior densities of the tie parameter and the coefficients, per draw."""
        log_densities = {}
        if self.ties:
            log_densities["tie"] = -draws["tie"]
        if self.covariates:
            squared_coefficients = (stack_coefficients(draws, self.covariates) ** 2).sum(axis=-1)
            log_densities["covariate"] = -0.5 * (
                squared_coefficients + len(self.covariates) * LOG_2PI
            )
        return log_densities

    def simulate_data(
        self,
        feature_columns: "FeatureColumns",
        parameters: Mapping[str, float],
        data: PairedComparisons | Choices,
        rng: np.random.Generator,
    ) -> Any:
        """Simulate choices of the same design at one draw's aspects."""
        from ..draws.posterior_tree import simulate_answers
        from .answer_probabilities import build_choice_probabilities, build_comparison_probabilities

        data = self.convert_data(data)
        if isinstance(data, Choices):
            compute_probabilities = build_choice_probabilities(feature_columns, data, self.lapse)
            return simulate_answers(
                data, compute_probabilities(slice(0, data.n_sets))[0], False, rng
            )
        tie = None
        if self.ties:
            tie = np.atleast_1d(parameters["tie"])
        outcome_probabilities = build_comparison_probabilities(
            feature_columns, data, self.lapse, tie, self._stack_coefficients(parameters)
        )(slice(0, len(data.cells.pair)))[0]
        simulated_answers = simulate_answers(data, outcome_probabilities, self.ties, rng)
        observed_arrays = {"wins": simulated_answers.data.wins}
        if self.ties:
            observed_arrays["ties"] = simulated_answers.data.tied
        return simulated_answers._replace(observed=observed_arrays)

    def _stack_coefficients(self, parameters: Mapping[str, Any]) -> np.ndarray | None:
        """Return the draws of the coefficients of covariates; None without covariates."""
        if not self.covariates:
            return None
        return stack_coefficients(parameters, self.covariates)

    def build_posterior_part(
        self,
        feature_columns: "FeatureColumns",
        extra: dict[str, np.ndarray],
        data: PairedComparisons | Choices,
        shape: tuple[int, int],
        dense: bool,
    ) -> Any:
        """Build the part of the posterior tree about choices from all draws."""
        from .choice_posterior_parts import build_pairs_part, build_sets_part

        data = self.convert_data(data)
        if isinstance(data, Choices):
            return build_sets_part(
                feature_columns, data, shape, dense, lapse=self.lapse, has_unique=self.unique
            )
        return build_pairs_part(
            feature_columns,
            data,
            shape,
            dense,
            lapse=self.lapse,
            has_unique=self.unique,
            tie=extra.get("tie"),
            beta=self._stack_coefficients(extra),
        )


def convert_to_pairs(data: "Judged") -> Any:
    """Convert choices from pairs to comparisons, and best-worst triples to rankings.

    The likelihood is the same, but faster.
    """
    data = convert_to_rankings(data)
    if isinstance(data, Choices) and data.is_paired:
        return data.to_comparisons()
    return data


def convert_to_rankings(data: "Judged") -> Any:
    """Convert best-worst choices to rankings; raise DataError above three options."""
    if not isinstance(data, Choices) or data.worst is None:
        return data
    largest_set = int(data.sizes.argmax())
    if data.sizes[largest_set] > MAX_RANKED_OPTIONS:
        raise DataError(
            f"Best and worst were chosen from {data.sizes[largest_set]} options"
            f" ({shorten(data.sets[largest_set])}), but elimination by aspects can be fitted"
            f" only to sets of at most {MAX_RANKED_OPTIONS}, in which best and worst determine the"
            " full ranking; fit ",
            ModelName("BradleyTerryLuce"),
            " instead.",
        )
    return data.as_rankings()


def require_pairs(data: "Judged") -> None:
    """Raise DataError for choices from sets of more than two options.

    With unique aspects alone, they require the Bradley-Terry-Luce model.
    """
    if isinstance(data, Choices):
        largest_set = int(data.sizes.argmax())
        raise DataError(
            f"Some choices are from a set of {data.sizes[largest_set]} options"
            f" ({shorten(data.sets[largest_set])}), but unique aspects alone describe only"
            " choices between two; fit ",
            ModelName("BradleyTerryLuce"),
            ".",
        )
