"""Elimination by aspects on paired comparisons."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thali._arguments import one_of
from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._labels import shorten
from thali._model.best_worst import LARGEST, RANKING, REVERSED, RULES
from thali._model.covariates import parameter
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..draws.covariates import coefficients
from ..priors.given import Given
from ..weight_priors import EXPONENTIAL
from .best_worst_sets import compiled_best_worst
from .elimination_sets import IMPOSSIBLE, check_sets, compiled_sets
from .luce_sets import compiled_luce_sets
from .pair_operations import compiled_pairs

# Below this shape of the weight prior some weights are so much smaller than others that a difference of sums loses
# them: pairs are then evaluated as sets of two, without sums that are kept.
SHAPE_OF_SUMS = 0.5


@dataclass(frozen=True)
class Elimination:
    r"""Elimination by aspects: a chooser picks an aspect at random, the heavier the likelier, and drops every option
    without it; between two options only the aspects that one has and the other lacks decide:

    .. math::
        p_{ij} = \frac{A_{ij}}{A_{ij} + A_{ji}}, \qquad A_{ij} = \sum_k w_k f_{ik} (1 - f_{jk}), \qquad
        \tilde p_{ij} = (1 - \varepsilon) p_{ij} + \varepsilon / 2

    and the choices of a pair are binomial with probability :math:`\tilde p_{ij}`. Two options that no
    aspect distinguishes are chosen equally often. Out of a larger set one aspect after the other eliminates options,
    until one is left: see `thali.likelihoods.elimination_probabilities`.

    With ties (Davidson 1970) neither option of a pair may be chosen:

    .. math::
        r = \nu \sqrt{\tilde p_{ij} \tilde p_{ji}}, \qquad
        P(i) = \frac{\tilde p_{ij}}{1 + r}, \quad P(\text{tie}) = \frac{r}{1 + r}, \quad
        P(j) = \frac{\tilde p_{ji}}{1 + r}, \qquad \nu \sim \mathrm{Gamma}(1, 1)

    so that p̃ is the probability of i where one of the two is chosen.

    With covariates x of a comparison, with the sign of "i over j", such as 1 where i was shown first, else -1:

    .. math::
        \tilde p_{ij} = (1 - \varepsilon)\, \mathrm{logistic}\Bigl(\ln \frac{A_{ij}}{A_{ji}} + x'\beta\Bigr)
        + \frac{\varepsilon}{2}, \qquad \beta_m \sim \mathrm{Normal}(0, 1)

    Where people name the best b and the worst w of a set S of m options that share no aspect, either the probabilities
    of all rankings that begin with b and end with w are summed (m up to 6), each choice of which may lapse, or they
    choose the ordered pair that differs most:

    .. math::
        P(b, w \mid S) = (1 - \varepsilon) \frac{u_b / u_w}{\sum_{i \neq j} u_i / u_j}
        + \frac{\varepsilon}{m (m - 1)}

    Parameters
    ----------
    lapse : float in [0, 1)
        The probability epsilon of choosing at random.
    unique : bool
        Whether every option also owns one fixed aspect alone, which is not among the columns of f.
    ties : bool
        Whether there are ties, for pairs only.
    shared : bool
        Whether f has columns. Without any, unique aspects alone are left, the rule is Luce's, and no recursion is
        needed for larger sets.
    best_worst : {"ranking", "reversed"}
        The rule by which best and worst are chosen; "reversed" is that of the formula above.
    covariates : tuple of str
        The names of the covariates that the comparisons have, for pairs only.

    Raises
    ------
    ArgumentError
        If lapse lies outside [0, 1), or there is no such rule.

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1 and 2. Davidson (1970), On extending the Bradley-Terry model
    to accommodate ties in paired comparison experiments. Marley & Louviere (2005), Some probabilistic models of best,
    worst, and best-worst choices.

    Examples
    --------
    >>> from thali.likelihoods import Elimination
    >>> Elimination(lapse=0.02)
    Elimination(lapse=0.02, unique=True, ties=False, shared=True, best_worst='ranking', covariates=())
    """

    lapse: float = 0.01
    unique: bool = True
    ties: bool = False
    shared: bool = True
    best_worst: str = RANKING
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
        one_of("best_worst", self.best_worst, RULES)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Stored with the draws in addition to features and weights: nu, the parameter of ties, and the coefficients of
        covariates."""
        return (*(("tie",) if self.ties else ()), *map(parameter, self.covariates))

    @property
    def common_parameters(self) -> tuple[str, ...]:
        """Those of them that several groups of people have in common."""
        return tuple(map(parameter, self.covariates))

    @property
    def tempers(self) -> bool:
        """Whether chains need it: without unique aspects, choices between some families of aspects are nearly
        impossible."""
        return not self.unique

    def in_form(self, data: Any) -> Any:
        """The data in the form in which their likelihood is computed fastest."""
        return as_pairs(data, self.best_worst)

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind or with ties that are not expected, and ArgumentError for aspects
        that leave nothing to learn, or make a choice impossible without lapses."""
        data = self.in_form(data)
        if not isinstance(data, PairedComparisons | Choices):
            raise DataError(
                f"Elimination by aspects requires PairedComparisons or Choices; got {type(data).__name__}."
                + (" For similarities use AdditiveClustering." if hasattr(data, "values") else "")
            )
        if isinstance(data, Choices):
            if self.ties:
                raise DataError("Ties require paired comparisons; remove the ties from choices from larger sets.")
            if data.worst is not None:
                self._check_answers(data)
            elif self.shared:
                check_sets(data, None if self.unique or not isinstance(prior, Given) else prior.matrix, self.lapse)
        elif not self.ties:
            data.refuse_ties()
        self._check_covariates(data)
        if not self.shared and not (self.unique and isinstance(prior, Given) and prior.matrix.shape[1] == 0):
            raise ArgumentError("Elimination(shared=False) supports only unique aspects; use Given(np.zeros((N, 0))).")
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
            raise ArgumentError("No option has any aspect; add aspects, or set ", Setting("unique", True), ".")
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
                    f"{data.labels[chosen[p]]!r} was chosen over {data.labels[rejected[p]]!r}, which these aspects"
                    " make ",
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
                "Covariates require comparisons of two options; remove the covariates for choices from larger sets."
            )
        if names != self.covariates:
            raise DataError(
                f"The comparisons have {f'the covariates {shorten(names)}' if names else 'no covariates'}, but the"
                f" likelihood expects {shorten(self.covariates) or 'none'}; set Elimination(covariates={names!r})."
            )

    def _check_answers(self, data: Choices) -> None:
        """Raise for best-worst choices that the rule, or shared aspects, do not say anything about."""
        wide = int(data.sizes.argmax())
        size, members = int(data.sizes[wide]), shorten(data.sets[wide])
        if self.shared:
            raise DataError(
                f"Best and worst were chosen from {members}, but with shared aspects best-worst choices"
                f" {'are limited to sets of three options' if size > 3 else 'must be modelled as rankings'}; set ",
                Setting("aspects", "unique"),
                *((f" for sets of {size} options",) if size > 3 else (", or ", Setting("best_worst", RANKING))),
                ".",
            )
        if self.best_worst == RANKING and size > LARGEST:
            raise DataError(
                f"Best and worst were chosen from {size} options ({members}), but the likelihood sums over all"
                f" rankings, which is limited to {LARGEST} options; set ",
                Setting("best_worst", REVERSED),
                ".",
            )

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        """The likelihood of choices, as the samplers read it, and a function that makes a chain's cache.

        `weights` is the Gamma prior of the weights.
        """
        data = self.in_form(data)
        if weights.shape < SHAPE_OF_SUMS and isinstance(data, PairedComparisons):
            if self.ties or self.covariates:
                what = "ties" if self.ties else "covariates"
                raise ArgumentError(
                    Argument("weight_prior"), f" must have shape >= {SHAPE_OF_SUMS:g} for data with {what}."
                )
            data = Choices.from_comparisons(data)
        if isinstance(data, Choices) and data.worst is not None:
            return compiled_best_worst(data, self.lapse, self.best_worst)
        if isinstance(data, Choices):
            return compiled_sets(data, self.lapse) if self.shared else compiled_luce_sets(data, self.lapse)
        return compiled_pairs(data, float(self.lapse), self.unique, self.ties)

    def held_to(self, data: Any) -> "Elimination":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(self, data: Any, weights: Any, rng: np.random.Generator) -> dict[str, float]:
        """Parameters other than features and weights, from their prior: that of ties, and coefficients."""
        tie = {"tie": rng.standard_exponential()} if self.ties else {}
        return tie | {parameter(name): rng.standard_normal() for name in self.covariates}

    def log_prior_of_parameters(self, own: Any, data: Any, weights: Any) -> dict[str, np.ndarray]:
        """Log prior densities of the parameters other than features and weights, draw by draw: of ties, and of all
        coefficients."""
        tie = {"tie": -own["tie"]} if self.ties else {}
        if not self.covariates:
            return tie
        squares = (coefficients(own, self.covariates) ** 2).sum(axis=-1)
        return tie | {"covariate": -0.5 * (squares + len(self.covariates) * math.log(2.0 * math.pi))}

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Choices of the same design, drawn at one draw's aspects."""
        from .answer_draws import choice_answers, comparison_answers
        from .new_data import new_answers

        data = self.in_form(data)
        if isinstance(data, Choices):
            answers = choice_answers(columns, data, self.lapse, self.best_worst)
            return new_answers(data, answers(slice(0, data.n_sets))[0], False, rng)
        beta = coefficients(parameters, self.covariates) if self.covariates else None
        tie = np.atleast_1d(parameters["tie"]) if self.ties else None
        p = comparison_answers(columns, data, self.lapse, tie, beta)(slice(0, len(data.cells.pair)))[0]
        new = new_answers(data, p, self.ties, rng)
        observed = {"wins": new.data.wins} | ({"ties": new.data.tied} if self.ties else {})
        return new._replace(observed=observed)

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """What draws say about the data, for the posterior tree."""
        from .choice_parts import as_shown, choices_part, sets_part

        shown, data = data, self.in_form(data)
        if isinstance(data, Choices):
            part = sets_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique, rule=self.best_worst)
        else:
            own = {"tie": extra.get("tie"), "beta": coefficients(extra, self.covariates) if self.covariates else None}
            part = choices_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique, **own)
        return as_shown(part, shown, self.best_worst) if isinstance(shown, Choices) else part


def as_pairs(data: Any, best_worst: str = RANKING) -> Any:
    """Choices out of pairs as paired comparisons, best and worst of three as rankings: the same, but faster."""
    data = as_choices(data, best_worst)
    return data.to_comparisons() if isinstance(data, Choices) and data.worst is None and data.is_paired else data


def as_choices(data: Any, best_worst: str) -> Any:
    """Best and worst of three at most become rankings, if that is the rule."""
    ranked = isinstance(data, Choices) and data.worst is not None and best_worst == RANKING and data.sizes.max() <= 3
    return data.as_rankings() if ranked else data
