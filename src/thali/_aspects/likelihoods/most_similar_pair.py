"""Choices of the most similar pair of a set: triplets and larger sets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed, check_share
from thali._data.triplets import Triplets
from thali._inference.index_arithmetic import sum_parts
from thali.errors import DataError

from ..weight_priors import EXPONENTIAL, GammaWeights, NormalWeights
from .most_similar_pair_kernels import make_pair_set_cache
from .most_similar_pair_probabilities import arrange_pair_sets
from .triplet_normal_approximation import approximate_answers

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns
    from ..priors.prior_from_argument import FeaturePrior


EXP = "exp"
RATIO = "ratio"
LINKS = (EXP, RATIO)


@dataclass(frozen=True)
class MostSimilarPair:
    r"""Likelihood of choices of the most similar pair: the pair that shares most weight.

    .. math::
        P(ij \mid S) = (1 - \varepsilon) \frac{v_{ij}}{\sum_{ab \in S} v_{ab}}
        + \frac{\varepsilon}{|S|}, \qquad
        s_{ij} = \sum_k w_k f_{ik} f_{jk}

    With the link "exp", v = exp(s): a feature that all objects own cancels, as would a constant,
    and the data determine the scale of the weights. With the link "ratio", v = s + c, where the
    constant c has the prior of the weights, and the answers depend only on ratios of weights and
    constant. Features of a single object do not affect the answers.

    Parameters
    ----------
    link : {"exp", "ratio"}
    lapse : float in [0, 1)
        The probability epsilon of choosing a pair at random.

    Raises
    ------
    ArgumentError
        If the link is unknown, or lapse is outside [0, 1).

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
    # minimum shape of the weight prior: with smaller shapes a difference of sums loses tiny weights
    min_shape: ClassVar[float] = 0.5
    needs_tempering = False
    # chains of many objects find their start with this approximate likelihood
    approximate: ClassVar[Callable[..., tuple[Any, Any, float]]] = staticmethod(approximate_answers)

    def __post_init__(self) -> None:
        check_allowed("link", self.link, LINKS)
        check_share("lapse", self.lapse, "the probability of choosing a pair at random")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of parameters that are drawn in addition to features and weights."""
        if self.link == RATIO:
            return ("constant",)
        return ()

    def check(self, prior: "FeaturePrior", data: Any) -> None:
        """Raise DataError unless the data are `Triplets`."""
        if not isinstance(data, Triplets):
            raise DataError(
                f"MostSimilarPair requires Triplets; got {type(data).__name__}. For similarities"
                " use thali.likelihoods.Additive."
            )

    def compiled(self, data: Triplets, weights: GammaWeights = EXPONENTIAL) -> Any:
        """Return answers as kernels read them, and a function that makes a chain's cache.

        `weights` is the Gamma prior of weights and constant.
        """
        sets = arrange_pair_sets(
            data, self.link == RATIO, float(self.lapse), float(weights.shape), float(weights.rate)
        )
        return sets, make_pair_set_cache

    def sample_prior_parameters(
        self, data: Triplets, weights: GammaWeights | NormalWeights, rng: np.random.Generator
    ) -> dict[str, float]:
        """Sample the constant, if there is one, from its prior."""
        return {name: weights.random(rng, 1)[0] for name in self.parameters}

    def log_parameter_prior(
        self, draws: Mapping[str, np.ndarray], data: Triplets, weights: GammaWeights | NormalWeights
    ) -> dict[str, np.ndarray]:
        """Return the log prior density of the constant per draw, if there is one."""
        return {name: weights.log_density(draws[name]) for name in self.parameters}

    def simulate_data(
        self,
        feature_columns: "FeatureColumns",
        parameters: Mapping[str, float],
        data: Triplets,
        rng: np.random.Generator,
    ) -> Any:
        """Simulate answers to the same sets, Multinomial(n, P)."""
        from ..draws.posterior_tree import simulate_answers
        from ..draws.triplet_probabilities import compute_triplet_probabilities

        constant = np.array([parameters.get("constant", 0.0)])
        answer_probabilities = compute_triplet_probabilities(
            feature_columns, constant, data.start, data.first, data.second, self.link, self.lapse
        )[0]
        set_sums = sum_parts(answer_probabilities, data.start)
        return simulate_answers(
            data, answer_probabilities / np.repeat(set_sums, data.sizes), False, rng
        )

    def build_posterior_part(
        self,
        feature_columns: "FeatureColumns",
        extra: dict[str, np.ndarray],
        data: Triplets,
        shape: tuple[int, int],
        dense: bool,
    ) -> Any:
        """Build the part of the posterior tree about triplets from all draws."""
        from ..draws.triplet_probabilities import build_triplets_part

        return build_triplets_part(
            feature_columns,
            extra.get("constant"),
            data,
            shape,
            dense,
            link=self.link,
            lapse=self.lapse,
        )
