"""Bundled data sets, and generators of data with a known truth; nothing is downloaded."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._argument_checks import (
    check_allowed,
    check_integer,
    check_open_interval,
    check_positive,
    check_share,
)
from thali._data.pairs import PairedComparisons
from thali._data.similarities import Similarities
from thali._data.triplets import Triplets
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import shorten, suggest
from thali.errors import DataError

from .product_choices import ProductChoices as ProductChoices
from .product_choices import product_choices as product_choices

if TYPE_CHECKING:
    from thali._trees.tree import Tree


# Triplets of objects with known features ----------------------------------------------------------


class MadeTriplets(NamedTuple):
    """Triplets of n objects and the K features that generated them."""

    data: Triplets
    held_out: Triplets  # answers to other triplets, a tenth of the number in `data`
    features: np.ndarray  # (n, K) bool
    weights: np.ndarray  # (K,)


def triplets(
    n: int = 12,
    n_triplets: int = 2_000,
    random_seed: RandomSeed = None,
    *,
    n_features: int = 4,
    share_of_owners: float = 0.3,
    link: str = "exp",
    lapse: float = 0.01,
) -> MadeTriplets:
    r"""Simulate odd-one-out answers to random triplets of objects with weighted features.

    .. math::
        P(ij \mid ijk) = (1 - \varepsilon) \frac{v_{ij}}{v_{ij} + v_{ik} + v_{jk}}
        + \frac{\varepsilon}{3}, \qquad
        s_{ij} = \sum_k w_k f_{ik} f_{jk}, \qquad f_{ik} \sim \text{Bernoulli}(q), \qquad
        w_k \sim \text{Uniform}(1, 3)

    with v = exp(s), or v = s + 0.2 with the link "ratio". Features of fewer than two objects, or of
    all objects, are drawn again.

    Parameters
    ----------
    n : int
        Number of objects, at least 4.
    n_triplets : int
        Number of triplets, at least 10.
    random_seed : int, SeedSequence or Generator, optional
    n_features : int
        Number of features K, at least 1.
    share_of_owners : float between 0 and 1
        Probability q that an object has a feature.
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
    n = check_integer("n", n, 4)
    n_answers = check_integer("n_triplets", n_triplets, 10)
    K = check_integer("n_features", n_features, 1)
    q = check_open_interval(
        "share_of_owners", share_of_owners, "the share of objects that have a feature"
    )
    check_allowed("link", link, ("exp", "ratio"))
    lapse = check_share("lapse", lapse, "the probability of a random answer")
    truth_rng, *answer_rngs = spawn_generators(random_seed, 3)
    features = np.zeros((n, 0), bool)
    while features.shape[1] < K:
        owner_column = truth_rng.random((n, 1)) < q
        if 2 <= owner_column.sum() < n:
            features = np.hstack([features, owner_column])
    weights = truth_rng.uniform(1.0, 3.0, K)
    similarity = (features * weights) @ features.T
    pair_weights = similarity + 0.2
    if link == "exp":
        pair_weights = np.exp(similarity - similarity.max())
    labels = tuple(map(str, range(n)))
    data, held_out = (
        Triplets(_simulate_triplets(rng, pair_weights, size, lapse), labels)
        for rng, size in zip(answer_rngs, (n_answers, max(1, n_answers // 10)), strict=True)
    )
    return MadeTriplets(data, held_out, features, weights)


def _simulate_triplets(
    rng: np.random.Generator, pair_weights: np.ndarray, n_answers: int, lapse: float
) -> np.ndarray:
    """Simulate random triplets, with the odd one last, shape (n_answers, 3)."""
    n = len(pair_weights)
    triplets = rng.integers(0, n, (n_answers, 3))
    while (has_repeats := (np.diff(np.sort(triplets, axis=1), axis=1) == 0).any(axis=1)).any():
        triplets[has_repeats] = rng.integers(0, n, (int(has_repeats.sum()), 3))
    i, j, k = triplets.T
    # weight of each odd one
    odd_probabilities = np.stack(
        [pair_weights[j, k], pair_weights[i, k], pair_weights[i, j]], axis=1
    )
    odd_probabilities = (1.0 - lapse) * odd_probabilities / odd_probabilities.sum(
        axis=1, keepdims=True
    ) + lapse / 3.0
    odd_position = (rng.random((n_answers, 1)) > np.cumsum(odd_probabilities, axis=1)[:, :2]).sum(
        axis=1
    )
    row_indices = np.arange(n_answers)
    return np.stack(
        [
            triplets[row_indices, (odd_position + 1) % 3],
            triplets[row_indices, (odd_position + 2) % 3],
            triplets[row_indices, odd_position],
        ],
        axis=1,
    )


# Upper triangle by rows: times the row was chosen over the column, by 234 respondents.
CELEBRITIES: dict[str, tuple[int, ...]] = {
    "LBJ": (159, 163, 175, 183, 179, 173, 160, 142),
    "HW": (138, 164, 172, 160, 156, 122, 122),
    "CDG": (145, 157, 138, 140, 122, 120),
    "JU": (176, 115, 124, 86, 61),
    "CY": (77, 95, 72, 61),
    "AJF": (134, 92, 71),
    "BB": (67, 48),
    "ET": (87,),
    "SL": (),
}

# Upper triangle by rows.
NUMBERS = (
    (0.537, 0.358, 0.220, 0.248, 0.116, 0.133, 0.000, 0.097, 0.065),
    (0.688, 0.619, 0.289, 0.353, 0.166, 0.307, 0.130, 0.312),
    (0.611, 0.935, 0.262, 0.537, 0.124, 0.596, 0.111),
    (0.546, 0.528, 0.670, 0.349, 0.116, 0.711),
    (0.550, 0.573, 0.184, 0.729, 0.249),
    (0.564, 0.560, 0.262, 0.349),
    (0.541, 0.615, 0.674),
    (0.560, 0.495),
    (0.569,),
)


class Dataset(NamedTuple):
    """Name, kind, description and source of a bundled data set."""

    name: str
    kind: str
    description: str
    source: str


def celebrities() -> PairedComparisons:
    """Load choices of 234 respondents between celebrities to converse with.

    Respondents chose the celebrity with whom they would rather spend an hour of conversation.

    Three politicians: LBJ (Lyndon B. Johnson), HW (Harold Wilson), CDG (Charles de Gaulle); three
    athletes: JU (Johnny Unitas), CY (Carl Yastrzemski), AJF (A. J. Foyt); three movie stars: BB
    (Brigitte Bardot), ET (Elizabeth Taylor), SL (Sophia Loren).

    Returns
    -------
    PairedComparisons
        9 options, 36 pairs, 234 comparisons per pair.

    References
    ----------
    Rumelhart and Greeno (1971), Similarity between stimuli: an experimental test of the Luce and
    Restle choice models. Journal of Mathematical Psychology 8.

    Examples
    --------
    >>> celebrities()
    PairedComparisons(9 options, 36 pairs, 8,424 comparisons, 1 component)
    """
    choice_counts = np.zeros((9, 9))
    for i, upper_counts in enumerate(CELEBRITIES.values()):
        choice_counts[i, i + 1 :] = upper_counts
        choice_counts[i + 1 :, i] = 234 - np.array(upper_counts)
    return PairedComparisons(choice_counts, CELEBRITIES)


def numbers() -> Similarities:
    """Load judged similarities of the digits 0 to 9 as concepts, from 0 to 1.

    Returns
    -------
    Similarities
        10 objects, 45 similarities; the standard deviation of 0.05 was used by Navarro and
        Griffiths.

    References
    ----------
    Shepard, Kilpatric and Cunningham (1975), The internal representation of numbers. Cognitive
    Psychology 7; Navarro and Griffiths (2007), section 6.

    Examples
    --------
    >>> numbers()
    Similarities(10 objects, 45 similarities, sigma 0.05)
    """
    matrix = np.full((10, 10), np.nan)
    matrix[np.triu_indices(10, k=1)] = np.concatenate(NUMBERS)
    return Similarities(matrix, sigma=0.05)


def paris_rome(
    comparisons: int = 100, expected: bool = False, random_seed: RandomSeed = None
) -> PairedComparisons:
    r"""Simulate choices between trips to Paris and Rome, with (+) and without a small bonus.

    P and P+ share the aspect Paris, R and R+ share the aspect Rome, both with weight 1; P+ and R+
    share the bonus, with weight 0.01. Choices follow elimination by aspects, without lapses:

    .. math::

        p_{ij} = \frac{A_{ij}}{A_{ij} + A_{ji}}, \qquad A_{ij} = \sum_k w_k f_{ik} (1 - f_{jk})

    Parameters
    ----------
    comparisons : int
        Number of comparisons of each of the six pairs, at least 1.
    expected : bool
        True: expected counts, rounded to integers; False: binomial draws.
    random_seed : int, SeedSequence or Generator, optional
        Random seed of the draws.

    Returns
    -------
    PairedComparisons
        4 options in the order P+, P, R, R+; 6 pairs.

    Raises
    ------
    ArgumentError
        If `comparisons` is not an integer of at least 1.

    References
    ----------
    Tversky (1972), Elimination by aspects. Psychological Review 79.
    Görür, Jäkel and Rasmussen (2006), section 4.1 (their Table 1 is column over row, this is not).

    Examples
    --------
    >>> paris_rome(expected=True).counts
    array([[  0, 100,  50,  50],
           [  0,   0,  50,  50],
           [ 50,  50,   0,   0],
           [ 50,  50, 100,   0]])
    """
    comparisons = check_integer("comparisons", comparisons, 1)
    aspects = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]])  # Paris, Rome, bonus
    advantage = (aspects * (1, 1, 0.01)) @ (1 - aspects).T
    i, j = np.triu_indices(4, k=1)
    probabilities = advantage[i, j] / (advantage[i, j] + advantage[j, i])
    wins = np.rint(comparisons * probabilities)
    if not expected:
        wins = spawn_generators(random_seed, 1)[0].binomial(comparisons, probabilities)
    counts = np.zeros((4, 4))
    counts[i, j] = wins
    counts[j, i] = comparisons - wins
    return PairedComparisons(counts, ("P+", "P", "R", "R+"))


class BlockChoices(NamedTuple):
    """Choices of n options, and the K shared features that generated them."""

    data: PairedComparisons
    tree: "Tree"
    features: np.ndarray  # (n, K) bool
    weights: np.ndarray  # (K,)
    unique_weights: np.ndarray  # (n,)
    probabilities: np.ndarray  # (n, n) row over column, with lapses; 1/2 on the diagonal


def block_choices(
    groups: int = 3,
    per_group: int = 3,
    leaf_length: float = 0.1,
    alpha: float = 2.0,
    comparisons: int = 10,
    random_seed: RandomSeed = None,
    lapse: float = 0.01,
) -> BlockChoices:
    r"""Simulate choices between options in groups, whose features follow a tree.

    Features F are drawn from the phylogenetic Indian buffet process on `Tree.from_groups`; every
    option also has one unique aspect. All weights w and u are Gamma(1, 1). Of n comparisons of a
    pair

    .. math::
        x_{ij} \sim \text{Binomial}(n, \tilde p_{ij}), \qquad
        \tilde p_{ij} = (1 - \varepsilon) \frac{A_{ij}}{A_{ij} + A_{ji}}
        + \frac{\varepsilon}{2}, \qquad
        A_{ij} = u_i + \sum_k w_k f_{ik} (1 - f_{jk})

    The same seed gives the same features and weights whatever the number of comparisons.

    Parameters
    ----------
    groups, per_group : int
        Number of groups and of options per group, at least 1; at least two options in all.
    leaf_length : float in (0, 1]
        Length of the edge above each option: near 0 the members of a group share nearly all
        features, at 1 the groups have no effect.
    alpha : float above 0
        Expected number of features per option, without its unique aspect.
    comparisons : int
        Number of comparisons per pair, at least 1.
    random_seed : int, SeedSequence or Generator, optional
    lapse : float in [0, 1)
        Probability epsilon of choosing at random. The default equals the default of
        `EliminationByAspects`, so that the data follow the fitted model. The paper generates data
        without lapses and infers with lapses.

    Returns
    -------
    BlockChoices
        The data, options a1, a2, ... of group a, b1, ... of group b and so on; and the truth behind
        them: tree, features, weights, unique_weights, probabilities.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.
    DataError
        If there is only one option.

    References
    ----------
    Miller, Griffiths & Jordan (2008), section 4.

    Examples
    --------
    >>> made = block_choices(comparisons=5, random_seed=1)
    >>> made.data
    PairedComparisons(9 options, 36 pairs, 180 comparisons, 1 component)
    >>> made.tree.labels
    ('a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3')
    """
    from thali._aspects.likelihoods.elimination import Elimination
    from thali._aspects.priors.phylogenetic import PhylogeneticBuffet
    from thali._trees.tree import Tree

    groups = check_integer("groups", groups, 1)
    per_group = check_integer("per_group", per_group, 1)
    comparisons = check_integer("comparisons", comparisons, 1)
    alpha = check_positive("alpha", alpha, "the expected number of features per option")
    lapse = Elimination(lapse).lapse
    members = {
        name: [f"{name}{i + 1}" for i in range(per_group)] for name in map(_letters, range(groups))
    }
    tree = Tree.from_groups(members, leaf_length)
    truth_rng, choice_rng = spawn_generators(random_seed, 2)

    features = PhylogeneticBuffet(tree).sample(tree.n_leaves, alpha, truth_rng)
    unique_weights = truth_rng.standard_exponential(tree.n_leaves)
    weights = truth_rng.standard_exponential(features.shape[1])
    advantage = unique_weights[:, None] + (features * weights) @ (~features).T
    probabilities = (1.0 - lapse) * advantage / (advantage + advantage.T) + lapse / 2.0

    i, j = np.triu_indices(tree.n_leaves, k=1)
    counts = np.zeros(probabilities.shape)
    counts[i, j] = choice_rng.binomial(comparisons, probabilities[i, j])
    counts[j, i] = comparisons - counts[i, j]
    data = PairedComparisons(counts, tree.labels)
    return BlockChoices(data, tree, features, weights, unique_weights, probabilities)


def _letters(number: int) -> str:
    """Return a number's letters, as of columns of a spreadsheet: a, b, ..., z, aa."""
    last_letter = chr(ord("a") + number % 26)
    if number < 26:
        return last_letter
    return _letters(number // 26 - 1) + last_letter


class AdditiveSimilarities(NamedTuple):
    """Similarities of n objects, and the K features that generated them."""

    data: Similarities
    again: Similarities  # a replicate with different noise
    true: Similarities  # without noise; its sigma is None
    features: np.ndarray  # (n, K) bool
    weights: np.ndarray  # (K,)


def additive(
    n: int = 16,
    random_seed: RandomSeed = None,
    *,
    n_features: int | None = None,
    sigma: float = 0.3,
) -> AdditiveSimilarities:
    r"""Simulate similarities from shared weighted features, observed twice with noise.

    .. math::
        s_{ij} \sim \text{Normal}(t_{ij}, \sigma^2), \qquad
        t_{ij} = \sum_k w_k f_{ik} f_{jk}, \qquad
        f_{ik} \sim \text{Bernoulli}(1/2), \qquad w_k \propto \text{Uniform}(1, 3)

    The weights are scaled so that the true similarities t of all pairs have variance 1. There is no
    additive constant: the paper's generator mentions none. Features of one object or of none are
    kept. In the rare case that all t are equal, features and weights are drawn again. The same seed
    gives the same features, weights and standard noise for every sigma.

    Parameters
    ----------
    n : int
        Number of objects, at least 3.
    random_seed : int, SeedSequence or Generator, optional
    n_features : int, optional
        Number of features, at least 1; None: 2 log2 n, rounded.
    sigma : float above 0
        Standard deviation of the noise, which `data` and `again` also contain.

    Returns
    -------
    AdditiveSimilarities
        data, again, true, features, weights.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    References
    ----------
    Navarro & Griffiths (2007), section 5.

    Examples
    --------
    >>> made = additive(8, random_seed=1)
    >>> made.data
    Similarities(8 objects, 28 similarities, sigma 0.3)
    >>> made.features.shape
    (8, 6)
    """
    n = check_integer("n", n, 3)
    sigma = check_positive("sigma", sigma, "the standard deviation of the noise")
    if n_features is None:
        n_features = round(2.0 * math.log2(n))
    K = check_integer("n_features", n_features, 1)
    truth_rng, *noise_rngs = spawn_generators(random_seed, 3)
    i, j = np.triu_indices(n, k=1)
    features = weights = np.zeros(0)
    true_similarities = np.zeros(len(i))
    while np.ptp(true_similarities) < 1e-9:  # equal up to rounding
        features = truth_rng.random((n, K)) < 0.5
        weights = truth_rng.uniform(1.0, 3.0, K)
        true_similarities = (features[i] & features[j]) @ weights
    weights = weights / true_similarities.std()
    true_similarities = true_similarities / true_similarities.std()

    def table(values: np.ndarray, own_sigma: float | None) -> Similarities:
        similarity_matrix = np.full((n, n), np.nan)
        similarity_matrix[i, j] = values
        return Similarities(similarity_matrix, sigma=own_sigma)

    data, second_data = (
        table(true_similarities + sigma * noise.standard_normal(len(true_similarities)), sigma)
        for noise in noise_rngs
    )
    return AdditiveSimilarities(
        data, second_data, table(true_similarities, None), features, weights
    )


_BUNDLED: dict[str, tuple[Dataset, Callable[[], PairedComparisons | Similarities]]] = {
    record.name: (record, make)
    for record, make in (
        (
            Dataset(
                "celebrities",
                "paired comparisons",
                "9 celebrities, 36 pairs, 234 participants: with whom would you rather converse"
                " for an hour?",
                "Rumelhart and Greeno (1971)",
            ),
            celebrities,
        ),
        (
            Dataset(
                "numbers",
                "similarities",
                "10 digits, 45 pairs: how similar are the numbers 0 to 9 as concepts?",
                "Shepard, Kilpatric and Cunningham (1975)",
            ),
            numbers,
        ),
        (
            Dataset(
                "paris_rome",
                "paired comparisons",
                "4 trips, 6 pairs, 100 expected choices per pair: Paris or Rome, with or without a"
                " small bonus",
                "Tversky (1972); Görür, Jäkel and Rasmussen (2006)",
            ),
            lambda: paris_rome(expected=True),
        ),
    )
}


def catalogue() -> list[Dataset]:
    """List the bundled data sets with name, kind, description and source.

    Returns
    -------
    list of Dataset

    Examples
    --------
    >>> [record.name for record in catalogue()]
    ['celebrities', 'numbers', 'paris_rome']
    """
    return [record for record, _ in _BUNDLED.values()]


def load(name: str) -> PairedComparisons | Similarities:
    """Load a bundled data set; a generator gives the same data each time.

    Parameters
    ----------
    name : str
        One of the names in `catalogue()`.

    Returns
    -------
    PairedComparisons or Similarities

    Raises
    ------
    DataError
        If there is no data set with that name.

    Examples
    --------
    >>> load("paris_rome")
    PairedComparisons(4 options, 6 pairs, 600 comparisons, 1 component)
    """
    if name not in _BUNDLED:
        known_names = list(_BUNDLED)
        raise DataError(
            f"Unknown data set {name!r}; bundled data sets:"
            f" {shorten(known_names, 20)}.{suggest(name, known_names)}"
        )
    return _BUNDLED[name][1]()
