r"""Approximation of triplet answers by normal similarities (second-order Taylor expansion).

The expansion is around equally similar pairs. With the link "exp", the derivative with respect to
s_p of the log-probability of an answer from a set of m pairs is 1{p is chosen} - 1 / m, and minus
the expected second derivative is I = 1 / m (1 - 1 / m); mixed derivatives are omitted. Summed over
the answers whose sets contain p, the log-likelihood equals that of a similarity

.. math::

    y_p = \frac{\sum 1\{p\} - 1 / m}{\sum I} \sim \mathrm{Normal}(s_p
    + \mathrm{constant}, 1 / \textstyle\sum I)

With the link "ratio", s is replaced by s / c. A sweep takes as long as a sweep for similarities,
whatever the number of answers.
"""

import numpy as np

from thali._inference.index_arithmetic import sum_parts

from ..weight_priors import GammaWeights
from .additive import VARIANCE_SHAPE
from .most_similar_pair_probabilities import AnsweredPairSets
from .similarity_residuals import Judgements, arrange_square

# added to every y, which then is >= 0 like the constant, because sets have at least two pairs
SIMILARITY_SHIFT = 2.0


def approximate_answers(sets: AnsweredPairSets) -> tuple[Judgements, GammaWeights, float]:
    """Return similarities that approximate triplet answers, their weight prior, a factor.

    Return the similarities, the prior of their weights, and the factor from these weights to the
    weights of answers.
    """
    # the prior mean of the constant, where chains start
    weight_unit = 1.0
    if sets.is_ratio:
        weight_unit = sets.shape / sets.rate
    shape = max(sets.shape, 1.0)
    weight_prior = GammaWeights(shape, weight_unit * sets.rate * shape / sets.shape)
    n_pairs = len(sets.lower)
    set_sizes = np.diff(sets.start)
    n_answers = sum_parts(sets.times, sets.start)
    expected_counts = np.repeat(n_answers / set_sizes, set_sizes)
    pair_scores = np.bincount(sets.pair, weights=sets.times - expected_counts, minlength=n_pairs)
    pair_information = np.bincount(
        sets.pair,
        weights=expected_counts * (1.0 - 1.0 / np.repeat(set_sizes, set_sizes)),
        minlength=n_pairs,
    )
    values, judgement_counts, shares = (
        arrange_square(len(sets.pair_start) - 1, sets.lower, sets.upper, entries)
        for entries in (
            SIMILARITY_SHIFT + pair_scores / pair_information,
            pair_information,
            1.0 / pair_information,
        )
    )
    judgements = Judgements(
        values,
        judgement_counts,
        shares,
        pairs=float(n_pairs),
        total=float(pair_information.sum()),
        single=False,
        complete=False,
        shape=weight_prior.shape,
        rate=weight_prior.rate,
        has_constant=True,
        learns_variance=False,
        variance=1.0,
        prior_shape=VARIANCE_SHAPE,
        prior_scale=1.0,
    )
    return judgements, weight_prior, weight_unit
