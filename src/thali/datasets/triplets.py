"""Triplets of objects with features that are known."""

from typing import Any, NamedTuple

import numpy as np

from thali._arguments import between, one_of, share, whole
from thali.data.triplets import Triplets
from thali.inference.seeds import streams


class MadeTriplets(NamedTuple):
    """Triplets, and the features behind them: n objects, K features."""

    data: Triplets
    held_out: Triplets  # a tenth as many answers, to other questions of the same kind
    features: np.ndarray  # (n, K) bool
    weights: np.ndarray  # (K,)


def triplets(
    n: int = 12,
    n_triplets: int = 2_000,
    random_seed: Any = None,
    *,
    n_features: int = 4,
    share_of_owners: float = 0.3,
    link: str = "exp",
    lapse: float = 0.01,
) -> MadeTriplets:
    r"""Odd ones out of random triplets, by weighted features that two objects share.

    .. math::
        P(ij \mid ijk) = (1 - \varepsilon) \frac{v_{ij}}{v_{ij} + v_{ik} + v_{jk}} + \frac{\varepsilon}{3}, \qquad
        s_{ij} = \sum_k w_k f_{ik} f_{jk}, \qquad f_{ik} \sim \text{Bernoulli}(q), \qquad w_k \sim \text{Uniform}(1, 3)

    with v = exp(s), or v = s + 0.2 with the link "ratio". Features that fewer than two objects have, or all, are drawn
    again.

    Parameters
    ----------
    n : int
        Objects, 4 or more.
    n_triplets : int
        10 or more.
    random_seed : int, SeedSequence or Generator, optional
    n_features : int
        1 or more.
    share_of_owners : float between 0 and 1
        q.
    link : {"exp", "ratio"}
    lapse : float in [0, 1)
        The probability epsilon of naming a pair at random.

    Returns
    -------
    MadeTriplets
        data, held_out, features, weights.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    Examples
    --------
    >>> made = triplets(random_seed=1)
    >>> made.data
    Triplets(12 objects, 220 sets of 3 pairs, 2,000 answers)
    >>> made.features.shape
    (12, 4)
    """
    n, count, K = whole("n", n, 4), whole("n_triplets", n_triplets, 10), whole("n_features", n_features, 1)
    q = between("share_of_owners", share_of_owners, "the share of objects that have a feature")
    one_of("link", link, ("exp", "ratio"))
    lapse = share("lapse", lapse, "the probability of naming a pair at random")
    truth, *answers = streams(random_seed, 3)
    features = np.zeros((n, 0), bool)
    while features.shape[1] < K:
        column = truth.random((n, 1)) < q
        if 2 <= column.sum() < n:
            features = np.hstack([features, column])
    weights = truth.uniform(1.0, 3.0, K)
    similarity = (features * weights) @ features.T
    value = np.exp(similarity - similarity.max()) if link == "exp" else similarity + 0.2
    labels = tuple(map(str, range(n)))
    data, held_out = (
        Triplets(_answered(rng, value, size, lapse), labels)
        for rng, size in zip(answers, (count, max(1, count // 10)), strict=True)
    )
    return MadeTriplets(data, held_out, features, weights)


def _answered(rng: np.random.Generator, value: np.ndarray, count: int, lapse: float) -> np.ndarray:
    """Random triplets with their odd one last."""
    n = len(value)
    members = rng.integers(0, n, (count, 3))
    while (repeated := (np.diff(np.sort(members, axis=1), axis=1) == 0).any(axis=1)).any():
        members[repeated] = rng.integers(0, n, (int(repeated.sum()), 3))
    i, j, k = members.T
    p = np.stack([value[j, k], value[i, k], value[i, j]], axis=1)  # of each as the odd one
    p = (1.0 - lapse) * p / p.sum(axis=1, keepdims=True) + lapse / 3.0
    odd = (rng.random((count, 1)) > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    rows = np.arange(count)
    return np.stack([members[rows, (odd + 1) % 3], members[rows, (odd + 2) % 3], members[rows, odd]], axis=1)
