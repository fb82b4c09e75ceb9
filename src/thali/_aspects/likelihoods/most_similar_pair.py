"""The most similar pair out of a set of pairs: triplets, and forced choices out of larger sets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thali._arguments import check_allowed, check_share
from thali._data.triplets import Triplets
from thali.errors import DataError

from ..weight_priors import EXPONENTIAL
from .pair_set_operations import compiled_answers
from .second_order import second_order

EXP, RATIO = "exp", "ratio"
LINKS = (EXP, RATIO)


@dataclass(frozen=True)
class MostSimilarPair:
    r"""Of a set S of pairs people name the most similar one, the likelier the more weight its
    objects share.

    .. math::
        P(ij \mid S) = (1 - \varepsilon) \frac{v_{ij}}{\sum_{ab \in S} v_{ab}}
        + \frac{\varepsilon}{|S|}, \qquad
        s_{ij} = \sum_k w_k f_{ik} f_{jk}

    With the link "exp", v = exp(s): a feature that all objects own cancels, as a constant would,
    and the data tell the scale of the weights. With the link "ratio", v = s + c, where the constant
    c has the prior of the weights, and only ratios of weights and constant matter. Features of a
    single object touch no answer.

    Parameters
    ----------
    link : {"exp", "ratio"}
    lapse : float in [0, 1)
        The probability epsilon of naming a pair at random.

    Raises
    ------
    ArgumentError
        If there is no such link, or lapse lies outside [0, 1).

    References
    ----------
    Zheng, Pereira, Baker & Hebart (2019), Revealing interpretable object representations from human
    behavior (the link "exp"); Navarro & Griffiths (2007), section 6.

    Examples
    --------
    >>> from thali.likelihoods import MostSimilarPair
    >>> MostSimilarPair(lapse=0.02)
    MostSimilarPair(link='exp', lapse=0.02)
    """

    link: str = EXP
    lapse: float = 0.01

    unique = False  # no object has a fixed unique feature
    takes_signed_weights = False
    # of the weight prior: for smaller shapes a difference of sums loses tiny weights
    least_shape: ClassVar[float] = 0.5
    tempers = False
    common_parameters: ClassVar[tuple[str, ...]] = ()  # of several groups of people
    # the likelihood with which chains of many objects find their start
    approximate: ClassVar[Callable[..., tuple[Any, Any, float]]] = staticmethod(second_order)

    def __post_init__(self) -> None:
        check_allowed("link", self.link, LINKS)
        check_share("lapse", self.lapse, "the probability of choosing a pair at random")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what is drawn besides features and weights."""
        return ("constant",) if self.link == RATIO else ()

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind."""
        if not isinstance(data, Triplets):
            raise DataError(
                f"MostSimilarPair requires Triplets; got {type(data).__name__}. For similarities"
                " use thali.likelihoods.Additive."
            )

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        """The likelihood of the answers, as the samplers read it, and a function that makes a
        chain's cache.

        `weights` is the Gamma prior of weights and constant.
        """
        return compiled_answers(
            data, self.link == RATIO, float(self.lapse), float(weights.shape), float(weights.rate)
        )

    def held_to(self, data: Any) -> "MostSimilarPair":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(
        self, data: Any, weights: Any, rng: np.random.Generator
    ) -> dict[str, float]:
        """Parameters other than features and weights, from their prior: the constant, if there is
        one."""
        return {"constant": weights.random(rng, 1)[0]} if self.link == RATIO else {}

    def log_prior_of_parameters(self, own: Any, data: Any, weights: Any) -> dict[str, np.ndarray]:
        """Log prior density of the constant, if there is one, draw by draw."""
        return {"constant": weights.log_density(own["constant"])} if self.link == RATIO else {}

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Every set is answered as often as in the data: Multinomial(n, P)."""
        from ..draws.triplets import compute_triplet_probabilities
        from .new_data import new_answers

        constant = np.array([parameters.get("constant", 0.0)])
        p = compute_triplet_probabilities(
            columns, constant, data.start, data.first, data.second, self.link, self.lapse
        )[0]
        sums = np.add.reduceat(p, data.start[:-1])
        return new_answers(data, p / np.repeat(sums, data.sizes), False, rng)

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """What draws say about the data, for the posterior tree."""
        from ..draws.triplets import build_triplets_part

        return build_triplets_part(
            columns, extra.get("constant"), data, shape, dense, link=self.link, lapse=self.lapse
        )
