"""Elimination by aspects on paired comparisons."""

from dataclasses import dataclass

import numpy as np

from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError
from thali.likelihoods.elimination_sets import check_sets, compiled_sets
from thali.likelihoods.tiles import (
    LANES,
    OTHER,
    OWN,
    PairCache,
    Pairs,
    empty_cache,
    fill,
    lay_out,
    row_apply,
    row_delta,
    row_mirror,
    total,
)
from thali.mcmc import verbs
from thali.mcmc.bag import COLUMNS
from thali.priors.given import Given

# A side's weight counts as at least this much, times the prior mean of a weight, so that two empty sides give
# probability 1/2. With unique aspects a side is never empty, and weights are practically never that small. Without
# them the floor must lie above what rounding leaves behind when a side is emptied: below 1e-12 after 200 sweeps.
FLOOR_WITH_UNIQUE, FLOOR_WITHOUT = 1e-14, 1e-9


@dataclass(frozen=True)
class Elimination:
    r"""Elimination by aspects: a chooser picks an aspect at random, the heavier the likelier, and drops every option
    without it; between two options only the aspects that one has and the other lacks decide:

    .. math::
        p_{ij} = \frac{A_{ij}}{A_{ij} + A_{ji}}, \qquad A_{ij} = \sum_k w_k f_{ik} (1 - f_{jk}), \qquad
        \tilde p_{ij} = (1 - \varepsilon) p_{ij} + \varepsilon / 2

    and the choices of a pair are binomial with probability :math:`\tilde p_{ij}`. Two options that no aspect tells
    apart are chosen equally often. Out of a larger set one aspect after the other eliminates, until one option is left:
    see `thali.likelihoods.elimination_probabilities`.

    Parameters
    ----------
    lapse : float in [0, 1)
        The probability epsilon of choosing at random.
    unique : bool
        Whether every option also owns one fixed aspect alone, which is not among the columns of f.

    Raises
    ------
    ArgumentError
        If lapse lies outside [0, 1).

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1 and 2.

    Examples
    --------
    >>> from thali.likelihoods import Elimination
    >>> Elimination(lapse=0.02)
    Elimination(lapse=0.02, unique=True)
    """

    lapse: float = 0.01
    unique: bool = True

    tempers = False
    parameters = ()  # what draws hold besides features and weights

    def __post_init__(self):
        if not (isinstance(self.lapse, int | float | np.number) and 0.0 <= self.lapse < 1.0):
            raise ArgumentError(
                f"lapse is the probability of choosing at random and must lie in [0, 1); got {self.lapse!r}."
            )

    def check(self, prior, data) -> None:
        """Raise DataError for data of another kind, and ArgumentError for aspects that leave nothing to learn, or make
        a choice impossible without lapses."""
        data = as_pairs(data)
        if not isinstance(data, PairedComparisons | Choices):
            raise DataError(
                f"Elimination by aspects needs PairedComparisons or Choices; got {type(data).__name__}."
                + (" Use AdditiveClustering for similarities." if hasattr(data, "values") else "")
            )
        if isinstance(data, Choices):
            check_sets(data, None if self.unique or not isinstance(prior, Given) else prior.matrix, self.lapse)
        if self.unique:
            return
        if not isinstance(prior, Given):
            if self.lapse == 0.0:
                raise ArgumentError(
                    "lapse must be above 0 when unique is False, because aspects that are learned can make a choice "
                    "impossible."
                )
            return
        owns = prior.matrix
        if not owns.any():
            raise ArgumentError("No option has any aspect; name some aspects, or set unique=True.")
        if self.lapse > 0.0 or isinstance(data, Choices):
            return
        for chosen, rejected, counts in ((data.first, data.second, data.wins), (data.second, data.first, data.losses)):
            favours = (owns[chosen] & ~owns[rejected]).any(1)
            undecided = ~(owns[chosen] ^ owns[rejected]).any(1)
            for p in np.flatnonzero((counts > 0) & ~favours & ~undecided):
                raise ArgumentError(
                    f"{data.labels[chosen[p]]!r} was chosen over {data.labels[rejected[p]]!r}, which these aspects "
                    "make impossible with lapse=0; set lapse above 0 or unique=True."
                )

    def compiled(self, data, shape: float = 1.0, rate: float = 1.0):
        """The likelihood of choices, as the samplers read it, and a function that makes a chain's cache.

        `shape` and `rate` are those of the Gamma prior of the weights.
        """
        data = as_pairs(data)
        if isinstance(data, Choices):
            return compiled_sets(data, self.lapse)
        floor = shape / rate * (FLOOR_WITH_UNIQUE if self.unique else FLOOR_WITHOUT)
        pairs = lay_out(data.n_options, data.first, data.second, data.wins, data.losses, float(self.lapse), floor)
        return pairs, empty_cache

    def held_to(self, data) -> "Elimination":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(self, data, shape: float, rate: float, rng) -> dict[str, float]:
        """Parameters besides features and weights, from their prior: none."""
        return {}

    def new_data(self, columns, parameters, data, rng):
        """Choices of the same design, drawn at one draw's aspects."""
        from thali.likelihoods.new_data import new_choices, new_pairs

        data = as_pairs(data)
        if isinstance(data, Choices):
            return new_choices(columns, data, self.lapse, rng)
        return new_pairs(columns, data, self.lapse, rng)

    def posterior_part(self, columns, extra, data, shape, dense):
        """What draws say about the data, for the posterior tree."""
        from thali.posterior.choices import choices_part

        data = as_pairs(data)
        if isinstance(data, Choices):
            from thali.posterior.choice_sets import sets_part

            return sets_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique)
        return choices_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique)


def as_pairs(data):
    """Choices out of nothing but pairs as paired comparisons, whose likelihood is the same and much quicker."""
    return data.to_comparisons() if isinstance(data, Choices) and data.is_paired else data


# How the changes that moves make look to a pair (i, j): i joins h with weight w, own += w - w z[j], other -= w z[j];
# the weight of h grows by d, own += d - d z[j] for the rows in h, or other += d z[j] for the rows outside, whichever
# are fewer; pool and carve, both sides -= d z[j].


@verbs.sees_full.register(Pairs)
def _sees_full(pairs):
    return False


@verbs.cache_at.register(Pairs)
def _cache_at(pairs, caches, t):
    return PairCache(caches.tile[t])


@verbs.is_scale_free.register(Pairs)
def _is_scale_free(pairs):
    return True


@verbs.delta_own.register(Pairs)
def _delta_own(pairs, c, b, i, d):
    return row_delta(pairs, c, b, 0, i, d, 0.0, 0.0, 0.0)


@verbs.apply_own.register(Pairs)
def _apply_own(pairs, c, b, i, d):
    row_apply(pairs, c, b, 0, i, d, 0.0, 0.0, 0.0)
    row_mirror(pairs, c, i)


@verbs.delta_member.register(Pairs)
def _delta_member(pairs, c, b, k, i, d):
    return row_delta(pairs, c, b, k, i, d, -d, 0.0, -d)


@verbs.apply_member.register(Pairs)
def _apply_member(pairs, c, b, k, i, d):
    row_apply(pairs, c, b, k, i, d, -d, 0.0, -d)
    row_mirror(pairs, c, i)


@verbs.delta_weight.register(Pairs)
def _delta_weight(pairs, c, b, k, m, d):
    n = b.Z.shape[1] - 1
    side = 1.0 if 2 * m <= n else 0.0
    change = 0.0
    for i in range(n):
        if b.Z[k, i] == side:
            change += row_delta(pairs, c, b, k, i, d * side, -d * side, 0.0, d * (1.0 - side))
    return change


@verbs.apply_weight.register(Pairs)
def _apply_weight(pairs, c, b, k, m, d):
    n = b.Z.shape[1] - 1
    side = 1.0 if 2 * m <= n else 0.0
    for i in range(n):
        if b.Z[k, i] == side:
            row_apply(pairs, c, b, k, i, d * side, -d * side, 0.0, d * (1.0 - side))
            row_mirror(pairs, c, i)


@verbs.delta_pool.register(Pairs)
def _delta_pool(pairs, c, b, i, k, d):
    return row_delta(pairs, c, b, k, i, 0.0, -d, 0.0, -d)


@verbs.apply_pool.register(Pairs)
def _apply_pool(pairs, c, b, i, k, d):
    row_apply(pairs, c, b, k, i, 0.0, -d, 0.0, -d)
    row_mirror(pairs, c, i)


@verbs.delta_carve.register(Pairs)
def _delta_carve(pairs, c, b, k, m, d):
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            change += row_delta(pairs, c, b, k, i, 0.0, -d, 0.0, -d)
    return 0.5 * change  # every pair of owners was met from both sides


@verbs.apply_carve.register(Pairs)
def _apply_carve(pairs, c, b, k, m, d):
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            row_apply(pairs, c, b, k, i, 0.0, -d, 0.0, -d)


@verbs.apply_scale.register(Pairs)
def _apply_scale(pairs, c, b, factor):
    for v in range(c.tile.shape[0]):
        for t in range(LANES):
            c.tile[v, OWN + t] *= factor
            c.tile[v, OTHER + t] *= factor


@verbs.rebuild.register(Pairs)
def _rebuild(pairs, c, b):
    fill(pairs, c, b, b.whole[COLUMNS])


@verbs.log_likelihood.register(Pairs)
def _log_likelihood(pairs, c, b):
    return total(pairs, c)
