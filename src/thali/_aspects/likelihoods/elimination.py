"""Elimination by aspects on paired comparisons."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._labels import shorten
from thali._model.covariates import coefficient_name
from thali.errors import Argument, ArgumentError, DataError, ModelName, Setting

from ..draws.covariate_lifts import stack_coefficients
from ..priors.given import Given
from ..weight_priors import EXPONENTIAL
from .elimination_sets import IMPOSSIBLE, check_sets, compiled_sets
from .pair_operations import compiled_pairs

# Below this shape of the weight prior some weights are so much smaller than others that a
# difference of sums loses them: pairs are then evaluated as sets of two, without sums that are
# kept.
SHAPE_OF_SUMS = 0.5
RANKED = 3  # options of a set whose best and worst are a ranking


@dataclass(frozen=True)
class Elimination:
    r"""Elimination by aspects: a chooser picks an aspect at random, the heavier the likelier, and
    drops every option without it; between two options only the aspects that one has and the other
    lacks decide:

    .. math::
        p_{ij} = \frac{A_{ij}}{A_{ij} + A_{ji}}, \qquad
        A_{ij} = \sum_k w_k f_{ik} (1 - f_{jk}), \qquad
        \tilde p_{ij} = (1 - \varepsilon) p_{ij} + \varepsilon / 2

    and the choices of a pair are binomial with probability :math:`\tilde p_{ij}`. Two options that
    no aspect distinguishes are chosen equally often. Out of a larger set one aspect after the other
    eliminates options, until one is left: see `thali.likelihoods.elimination_probabilities`.

    With ties (Davidson 1970) neither option of a pair may be chosen:

    .. math::
        r = \nu \sqrt{\tilde p_{ij} \tilde p_{ji}}, \qquad
        P(i) = \frac{\tilde p_{ij}}{1 + r}, \quad P(\text{tie}) = \frac{r}{1 + r}, \quad
        P(j) = \frac{\tilde p_{ji}}{1 + r}, \qquad \nu \sim \mathrm{Gamma}(1, 1)

    so that p̃ is the probability of i where one of the two is chosen.

    With covariates x of a comparison, with the sign of "i over j", such as 1 where i was shown
    first, else -1:

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
        Whether every option also owns one fixed aspect alone, which is not among the columns of f.
    ties : bool
        Whether there are ties, for pairs only.
    covariates : tuple of str
        The names of the covariates that the comparisons have, for pairs only.

    Raises
    ------
    ArgumentError
        If lapse lies outside [0, 1).

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
    # of the weight prior: below it weights may be too small for floating-point numbers
    least_shape: ClassVar[float] = 0.1
    approximate = None  # chains need no other likelihood to find their start

    def __post_init__(self) -> None:
        if not (isinstance(self.lapse, int | float | np.number) and 0.0 <= self.lapse < 1.0):
            raise ArgumentError(
                Argument("lapse"),
                f", the probability of a random choice, must be in [0, 1); got {self.lapse!r}.",
            )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Stored with the draws in addition to features and weights: nu, the parameter of ties, and
        the coefficients of covariates."""
        return (*(("tie",) if self.ties else ()), *map(coefficient_name, self.covariates))

    @property
    def common_parameters(self) -> tuple[str, ...]:
        """Those of them that several groups of people have in common."""
        return tuple(map(coefficient_name, self.covariates))

    @property
    def tempers(self) -> bool:
        """Whether chains need it: without unique aspects, choices between some families of aspects
        are nearly impossible."""
        return not self.unique

    def in_form(self, data: Any) -> Any:
        """The data in the form in which their likelihood is computed fastest."""
        return as_pairs(data)

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind or with ties that are not expected, and
        ArgumentError for aspects that leave nothing to learn, or make a choice impossible without
        lapses."""
        data = self.in_form(data)
        if not isinstance(data, PairedComparisons | Choices):
            raise DataError(
                "Elimination by aspects requires PairedComparisons or Choices; got"
                f" {type(data).__name__}."
                + (" For similarities use AdditiveClustering." if hasattr(data, "values") else "")
            )
        if isinstance(data, Choices):
            if self.ties:
                raise DataError(
                    "Ties require paired comparisons; remove the ties from choices from larger"
                    " sets."
                )
            check_sets(
                data,
                None if self.unique or not isinstance(prior, Given) else prior.matrix,
                self.lapse,
            )
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
        owns = prior.matrix
        if not owns.any():
            raise ArgumentError(
                "No option has any aspect; add aspects, or set ", Setting("unique", True), "."
            )
        if self.lapse > 0.0 or isinstance(data, Choices):
            return
        for chosen, rejected, counts in (
            (data.first, data.second, data.wins + data.tied),
            (data.second, data.first, data.losses + data.tied),
        ):
            favours = (owns[chosen] & ~owns[rejected]).any(1)
            undecided = ~(owns[chosen] ^ owns[rejected]).any(1)
            for p in np.flatnonzero((counts > 0) & ~favours & ~undecided):
                raise ArgumentError(
                    f"{data.labels[chosen[p]]!r} was chosen over {data.labels[rejected[p]]!r},"
                    " which these aspects make ",
                    IMPOSSIBLE,
                )

    def _check_covariates(self, data: "PairedComparisons | Choices") -> None:
        """Raise for covariates other than those of the data, or of options."""
        own = data.covariates if isinstance(data, PairedComparisons) else None
        names = () if own is None else own.names
        if own is not None:
            own.refuse_options("elimination by aspects")
        if self.covariates and not isinstance(data, PairedComparisons):
            raise DataError(
                "Covariates require comparisons of two options; remove the covariates for choices"
                " from larger sets."
            )
        if names != self.covariates:
            raise DataError(
                "The comparisons have"
                f" {f'the covariates {shorten(names)}' if names else 'no covariates'}, but the"
                f" likelihood expects {shorten(self.covariates) or 'none'}; set"
                f" Elimination(covariates={names!r})."
            )

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        """The likelihood of choices, as the samplers read it, and a function that makes a chain's
        cache.

        `weights` is the Gamma prior of the weights.
        """
        data = self.in_form(data)
        if weights.shape < SHAPE_OF_SUMS and isinstance(data, PairedComparisons):
            if self.ties or self.covariates:
                what = "ties" if self.ties else "covariates"
                raise ArgumentError(
                    Argument("weight_prior"),
                    f" must have shape >= {SHAPE_OF_SUMS:g} for data with {what}.",
                )
            data = Choices.from_comparisons(data)
        if isinstance(data, Choices):
            return compiled_sets(data, self.lapse)
        return compiled_pairs(data, float(self.lapse), self.unique, self.ties)

    def held_to(self, data: Any) -> "Elimination":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(
        self, data: Any, weights: Any, rng: np.random.Generator
    ) -> dict[str, float]:
        """Parameters other than features and weights, from their prior: that of ties, and
        coefficients."""
        tie = {"tie": rng.standard_exponential()} if self.ties else {}
        return tie | {coefficient_name(name): rng.standard_normal() for name in self.covariates}

    def log_prior_of_parameters(self, own: Any, data: Any, weights: Any) -> dict[str, np.ndarray]:
        """Log prior densities of the parameters other than features and weights, draw by draw: of
        ties, and of all coefficients."""
        tie = {"tie": -own["tie"]} if self.ties else {}
        if not self.covariates:
            return tie
        squares = (stack_coefficients(own, self.covariates) ** 2).sum(axis=-1)
        return tie | {
            "covariate": -0.5 * (squares + len(self.covariates) * math.log(2.0 * math.pi))
        }

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Choices of the same design, drawn at one draw's aspects."""
        from .answer_draws import choice_answers, comparison_answers
        from .new_data import new_answers

        data = self.in_form(data)
        if isinstance(data, Choices):
            answers = choice_answers(columns, data, self.lapse)
            return new_answers(data, answers(slice(0, data.n_sets))[0], False, rng)
        beta = stack_coefficients(parameters, self.covariates) if self.covariates else None
        tie = np.atleast_1d(parameters["tie"]) if self.ties else None
        p = comparison_answers(columns, data, self.lapse, tie, beta)(
            slice(0, len(data.cells.pair))
        )[0]
        new = new_answers(data, p, self.ties, rng)
        observed = {"wins": new.data.wins} | ({"ties": new.data.tied} if self.ties else {})
        return new._replace(observed=observed)

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """What draws say about the data, for the posterior tree."""
        from .choice_parts import choices_part, sets_part

        data = self.in_form(data)
        if isinstance(data, Choices):
            return sets_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique)
        own = {
            "tie": extra.get("tie"),
            "beta": stack_coefficients(extra, self.covariates) if self.covariates else None,
        }
        return choices_part(
            columns, data, shape, dense, lapse=self.lapse, unique=self.unique, **own
        )


def as_pairs(data: Any) -> Any:
    """Choices out of pairs as paired comparisons, best and worst of three as rankings: the same,
    but faster."""
    data = as_choices(data)
    return data.to_comparisons() if isinstance(data, Choices) and data.is_paired else data


def as_choices(data: Any) -> Any:
    """Best and worst as rankings; a DataError for those of more than three options."""
    if not isinstance(data, Choices) or data.worst is None:
        return data
    wide = int(data.sizes.argmax())
    if data.sizes[wide] > RANKED:
        raise DataError(
            f"Best and worst were chosen from {data.sizes[wide]} options"
            f" ({shorten(data.sets[wide])}), but elimination by aspects is limited to {RANKED},"
            " whose best and worst are a ranking; fit ",
            ModelName("BradleyTerryLuce"),
            ".",
        )
    return data.as_rankings()


def refuse_sets(data: Any) -> None:
    """Raise for choices from more than two options, of which unique aspects alone are worths."""
    if isinstance(data, Choices):
        wide = int(data.sizes.argmax())
        raise DataError(
            f"The data contain choices from {data.sizes[wide]} options"
            f" ({shorten(data.sets[wide])}), but unique aspects alone require choices between two"
            " options; fit ",
            ModelName("BradleyTerryLuce"),
            ".",
        )
