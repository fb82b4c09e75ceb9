"""Elimination by aspects on paired comparisons."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import Argument, ArgumentError, DataError, Setting

from .. import operations
from ..priors.given import Given
from ..state import COLUMNS, columns_born, scratch, sum_of_weights
from .elimination_sets import check_sets, compiled_sets
from .pair_blocks import (
    PairCache,
    Pairs,
    PairsWithoutUnique,
    empty_cache,
    fill,
    lay_out,
    may_be_empty,
    row_apply,
    row_columns,
    row_delta,
    scale_sides,
    total,
    update_transposed,
)

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

    least_shape = 0.1  # of the weight prior: below it weights may be too small for floating-point numbers
    parameters = ()  # stored with the draws in addition to features and weights

    def __post_init__(self) -> None:
        if not (isinstance(self.lapse, int | float | np.number) and 0.0 <= self.lapse < 1.0):
            raise ArgumentError(
                Argument("lapse"),
                f" is the probability of choosing at random and must lie in [0, 1); got {self.lapse!r}.",
            )

    @property
    def tempers(self) -> bool:
        """Whether chains need it: without unique aspects, choices between some families of aspects are nearly
        impossible."""
        return not self.unique

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind or with ties, and ArgumentError for aspects that leave nothing to
        learn, or make a choice impossible without lapses."""
        data = as_pairs(data)
        if not isinstance(data, PairedComparisons | Choices):
            raise DataError(
                f"Elimination by aspects needs PairedComparisons or Choices; got {type(data).__name__}."
                + (" Use AdditiveClustering for similarities." if hasattr(data, "values") else "")
            )
        if isinstance(data, Choices):
            check_sets(data, None if self.unique or not isinstance(prior, Given) else prior.matrix, self.lapse)
        else:
            data.refuse_ties()
        if self.unique:
            return
        if not isinstance(prior, Given):
            if self.lapse == 0.0:
                raise ArgumentError(
                    Argument("lapse"),
                    " must be above 0 with ",
                    Setting("unique", False),
                    ", because aspects that are learned can make a choice impossible.",
                )
            return
        owns = prior.matrix
        if not owns.any():
            raise ArgumentError("No option has any aspect; name some aspects, or set ", Setting("unique", True), ".")
        if self.lapse > 0.0 or isinstance(data, Choices):
            return
        for chosen, rejected, counts in ((data.first, data.second, data.wins), (data.second, data.first, data.losses)):
            favours = (owns[chosen] & ~owns[rejected]).any(1)
            undecided = ~(owns[chosen] ^ owns[rejected]).any(1)
            for p in np.flatnonzero((counts > 0) & ~favours & ~undecided):
                raise ArgumentError(
                    f"{data.labels[chosen[p]]!r} was chosen over {data.labels[rejected[p]]!r}, which these aspects "
                    "make impossible with ",
                    Setting("lapse", 0),
                    "; set ",
                    Argument("lapse"),
                    " above 0, or ",
                    Setting("unique", True),
                    ".",
                )

    def compiled(self, data: Any, shape: float = 1.0, rate: float = 1.0) -> Any:
        """The likelihood of choices, as the samplers read it, and a function that makes a chain's cache.

        `shape` and `rate` are those of the Gamma prior of the weights.
        """
        data = as_pairs(data)
        if shape < SHAPE_OF_SUMS and isinstance(data, PairedComparisons):
            data = Choices.from_comparisons(data)
        if isinstance(data, Choices):
            return compiled_sets(data, self.lapse)
        counts = data.first, data.second, data.wins, data.losses
        return lay_out(data.n_options, *counts, float(self.lapse), self.unique), empty_cache

    def held_to(self, data: Any) -> "Elimination":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(self, data: Any, shape: float, rate: float, rng: np.random.Generator) -> dict[str, float]:
        """Parameters other than features and weights, from their prior: none."""
        return {}

    def log_prior_of_parameters(self, own: Any, data: Any, shape: float, rate: float) -> dict[str, np.ndarray]:
        """Log prior densities of the parameters other than features and weights, draw by draw: there are none."""
        return {}

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Choices of the same design, drawn at one draw's aspects."""
        from .new_data import new_choices, new_pairs

        data = as_pairs(data)
        if isinstance(data, Choices):
            return new_choices(columns, data, self.lapse, rng)
        return new_pairs(columns, data, self.lapse, rng)

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """What draws say about the data, for the posterior tree."""
        from ..answers.choices import choices_part

        data = as_pairs(data)
        if isinstance(data, Choices):
            from ..answers.choice_sets import sets_part

            return sets_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique)
        return choices_part(columns, data, shape, dense, lapse=self.lapse, unique=self.unique)


def as_pairs(data: Any) -> Any:
    """Choices out of pairs only become paired comparisons: the same likelihood, much faster."""
    return data.to_comparisons() if isinstance(data, Choices) and data.is_paired else data


# How the changes that moves make look to a pair (i, j): i joins h with weight w, own += w - w z[j], other -= w z[j];
# the weight of h grows by d, own += d - d z[j] for the rows in h, or other += d z[j] for the rows outside, whichever
# are fewer; compensated changes, both sides -= d z[j]. The numbers of columns on the sides change likewise, but not by
# the unique weights that compensate, and not by a change of a weight alone.
SAME = (0.0, 0.0, 0.0, 0.0)


@operations.sees_full.register(Pairs)
@operations.sees_full.register(PairsWithoutUnique)
def _sees_full(pairs: Any) -> Any:
    return False


@operations.cache_at.register(Pairs)
@operations.cache_at.register(PairsWithoutUnique)
def _cache_at(pairs: Any, caches: Any, t: Any) -> Any:
    return PairCache(caches.block[t], caches.real[t])


@operations.is_scale_free.register(Pairs)
@operations.is_scale_free.register(PairsWithoutUnique)
def _is_scale_free(pairs: Any) -> Any:
    return True


@operations.delta_own.register(Pairs)
@operations.delta_own.register(PairsWithoutUnique)
def _delta_own(pairs: Any, c: Any, b: Any, i: Any, d: Any, columns: Any) -> Any:
    return row_delta(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), (columns, 0.0, 0.0, 0.0))


@operations.apply_own.register(Pairs)
@operations.apply_own.register(PairsWithoutUnique)
def _apply_own(pairs: Any, c: Any, b: Any, i: Any, d: Any, columns: Any) -> None:
    row_apply(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), (columns, 0.0, 0.0, 0.0))
    update_transposed(pairs, c, i)


@operations.delta_member.register(Pairs)
@operations.delta_member.register(PairsWithoutUnique)
def _delta_member(pairs: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    g = 1.0 if d > 0.0 else -1.0
    return row_delta(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))


@operations.apply_member.register(Pairs)
@operations.apply_member.register(PairsWithoutUnique)
def _apply_member(pairs: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    g = 1.0 if d > 0.0 else -1.0
    row_apply(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))
    update_transposed(pairs, c, i)


@operations.delta_weight.register(Pairs)
@operations.delta_weight.register(PairsWithoutUnique)
def _delta_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    n = b.Z.shape[1] - 1
    side = 1.0 if 2 * m <= n else 0.0
    x, y = d * side, d * (1.0 - side)
    g, h = columns_born(b, k, d) * side, columns_born(b, k, d) * (1.0 - side)
    change = 0.0
    for i in range(n):
        if b.Z[k, i] == side:
            change += row_delta(pairs, c, b, k, i, (x, -x, 0.0, y), (g, -g, 0.0, h))
    return change


@operations.apply_weight.register(Pairs)
@operations.apply_weight.register(PairsWithoutUnique)
def _apply_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    n = b.Z.shape[1] - 1
    side = 1.0 if 2 * m <= n else 0.0
    x, y = d * side, d * (1.0 - side)
    g, h = columns_born(b, k, d) * side, columns_born(b, k, d) * (1.0 - side)
    for i in range(n):
        if b.Z[k, i] == side:
            row_apply(pairs, c, b, k, i, (x, -x, 0.0, y), (g, -g, 0.0, h))
            update_transposed(pairs, c, i)


@operations.delta_compensated_member.register(Pairs)
@operations.delta_compensated_member.register(PairsWithoutUnique)
def _delta_compensated_member(pairs: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> Any:
    g = 1.0 if d > 0.0 else -1.0
    return row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))


@operations.apply_compensated_member.register(Pairs)
@operations.apply_compensated_member.register(PairsWithoutUnique)
def _apply_compensated_member(pairs: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    g = 1.0 if d > 0.0 else -1.0
    row_apply(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
    update_transposed(pairs, c, i)


@operations.delta_compensated_weight.register(Pairs)
@operations.delta_compensated_weight.register(PairsWithoutUnique)
def _delta_compensated_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            change += row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), SAME)
    return 0.5 * change  # every pair of owners was met from both sides


@operations.apply_compensated_weight.register(Pairs)
@operations.apply_compensated_weight.register(PairsWithoutUnique)
def _apply_compensated_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            row_apply(pairs, c, b, k, i, (0.0, -d, 0.0, -d), SAME)


@operations.apply_transfer.register(Pairs)
@operations.apply_transfer.register(PairsWithoutUnique)
def _apply_transfer(pairs: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    # as by default; in addition column k is added to, or removed from, the side of `other` against owners of neither
    rest = k if d > 0.0 else scratch(b)
    g = 1.0 if d > 0.0 else -1.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            row_apply(pairs, c, b, rest, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
            if may_be_empty(pairs):
                row_columns(pairs, c, b, rest, i, g, -g)
                row_columns(pairs, c, b, other, i, 0.0, -g)
            update_transposed(pairs, c, i)


@operations.apply_copies.register(Pairs)
@operations.apply_copies.register(PairsWithoutUnique)
def _apply_copies(pairs: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    if may_be_empty(pairs):
        for i in range(b.Z.shape[1] - 1):
            if b.Z[k, i] != 0.0:
                row_columns(pairs, c, b, k, i, extra, -extra)
                update_transposed(pairs, c, i)


@operations.apply_scale.register(Pairs)
@operations.apply_scale.register(PairsWithoutUnique)
def _apply_scale(pairs: Any, c: Any, b: Any, factor: Any) -> None:
    if scale_sides(pairs, c, factor, sum_of_weights(b)):
        fill(pairs, c, b, b.whole[COLUMNS])


@operations.rebuild.register(Pairs)
@operations.rebuild.register(PairsWithoutUnique)
def _rebuild(pairs: Any, c: Any, b: Any) -> None:
    fill(pairs, c, b, b.whole[COLUMNS])


@operations.log_likelihood.register(Pairs)
@operations.log_likelihood.register(PairsWithoutUnique)
def _log_likelihood(pairs: Any, c: Any, b: Any) -> Any:
    return total(pairs, c)
