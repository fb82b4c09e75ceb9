"""What a fitted model of choices among described products must know, and figures of what it
draws."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._arguments import between
from thali._inference.indexing import space_evenly
from thali._model.table_columns import MONTE_CARLO
from thali._posterior.interval import tails_of
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas


LOGIT, FIRST_CHOICE, RANDOMISED = "logit", "first-choice", "randomised-first-choice"
RULES = (LOGIT, FIRST_CHOICE, RANDOMISED)


class ChoiceRule(NamedTuple):
    """How utilities become choices, other than in the model itself."""

    name: str = LOGIT
    scale: float = 1.0  # of all utilities
    # of each market (draws, products), added to utilities; empty: none
    constants: tuple[np.ndarray, ...] = ()


AS_FITTED = ChoiceRule()


class Effects(NamedTuple):
    """How often one level is preferred to another."""

    of_people: np.ndarray  # (people, pairs) means over draws
    of_draws: np.ndarray  # (draws, pairs) means over people
    chain: np.ndarray  # (draws,)


class Chooser:
    """People who choose, in every draw of a fitted model.

    A product is a row of cells, one an attribute: the number of its level, or the value itself of
    an attribute that the model takes as a number; NaN where the product lacks the attribute.

    Draws of an estimate (`is_estimate`) are those of its sampling distribution; the first is the
    estimate itself.
    """

    data: Any  # the design of the fit, or the whole data: scheme, respondents, tasks and products
    people: "pandas.DataFrame | None"  # what is known of the respondents
    chain: np.ndarray  # (draws,) that each draw comes from
    # (attributes,) 1, -1: later, earlier levels are preferred by assumption; else 0
    directions: np.ndarray
    is_estimate: bool = False
    search_draws: int = 200  # that a search looks at
    has_individuals: bool = True  # whether people differ
    # (draws, people, attributes) bool: what is not ignored; None: nothing is
    attends: np.ndarray | None = None

    def once(self, what: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What `make` gives, made once for each of `what`; of a generator, which goes on, again and
        again."""
        if any(isinstance(each, np.random.Generator | np.random.SeedSequence) for each in what):
            return make()
        known = vars(self).setdefault("_known", {})
        if what not in known:
            known[what] = make()
        return known[what]

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        """The products of a table, shape (rows, attributes)."""
        raise NotImplementedError

    def level_cells(self) -> list[np.ndarray]:
        """Of each attribute the cell of each of its levels; NaN for one that the fit knows nothing
        of."""
        raise NotImplementedError

    def examples(self) -> np.ndarray:
        """Products with a level of every attribute, (products, attributes); one where nothing
        depends on the rest."""
        raise NotImplementedError

    def is_linear(self, attribute: int) -> bool:
        """Whether utility is a straight line in the number of an attribute, within the tested range
        and beyond."""
        return False

    def is_number(self, attribute: int) -> bool:
        """Whether an attribute may take any number."""
        return False

    def turns(self, attribute: int) -> np.ndarray:
        """Numbers between the levels of an attribute at which utility, a line elsewhere, changes
        its slope."""
        return np.empty(0)

    def delta_covariance(self, figures: Callable[[Self], np.ndarray]) -> np.ndarray:
        """The covariance of the last axis of figures (draws, ..., figures) of an estimate, by the
        delta method."""
        raise NotImplementedError

    def thinned(self, most: int) -> Self:
        """The same with at most so many draws, evenly spaced."""
        raise NotImplementedError

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: Any,
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        """Shares (draws, products) of each market; `weights` (respondents,) or of each draw; None:
        new people."""
        # Random numbers are common to the markets.
        raise NotImplementedError

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Expected utilities of products, shape (draws, people, products), some draws at a time, in
        order."""
        raise NotImplementedError

    def expected_utilities(self, products: np.ndarray) -> np.ndarray:
        """The mean of `utilities` over all draws, or that of the estimate, shape (people,
        products)."""
        if self.is_estimate:
            return next(self.utilities(products))[0]
        blocks = ((len(block), block.sum(axis=0)) for block in self.utilities(products))
        counts, sums = zip(*blocks, strict=True)
        return np.sum(sums, axis=0) / sum(counts)

    def effects(
        self, pairs: Sequence[tuple[int, int, int]], cores: int | None, random_seed: Any
    ) -> Effects:
        """How often the last level of each triple (attribute, level, other) is preferred, ties
        counting half."""
        raise NotImplementedError

    def importance(self, cores: int | None, random_seed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Parts of choices that attributes decide, (people, attributes), and errors of their means
        over tasks."""
        raise NotImplementedError

    def errors(self, values: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """Standard errors of the figures reported for values (draws, quantities), from the chains
        of their draws."""
        raise NotImplementedError

    def spread_of_people(self, values: np.ndarray, ci: float) -> dict[str, np.ndarray]:
        """Return `respondents_low` and `respondents_high`, which hold this share of respondents, if
        these differ.

        The first axis of `values` is over respondents.
        """
        if not self.has_individuals:
            return {}
        low, high = ends(values, ci)
        return {"respondents_low": low, "respondents_high": high}

    def facts(self, ci: float) -> dict[str, Any]:
        """What the attrs of a table with intervals and errors say of both."""
        return {"interval": ci, **({} if self.is_estimate else {MONTE_CARLO: True})}


def refuse_same_tastes(chooser: Chooser) -> None:
    """Refuse results about respondents where all have the same tastes."""
    if not chooser.has_individuals:
        raise ArgumentError(
            "All respondents have the same tastes in this model; fit HierarchicalLogit() or"
            " LatentClassLogit() for results that differ between respondents."
        )


def softmax(utility: np.ndarray, axis: int = -1) -> np.ndarray:
    """exp(u_j) / Σ exp(u_k) over an axis."""
    odds = np.exp(utility - utility.max(axis=axis, keepdims=True))
    odds /= odds.sum(axis=axis, keepdims=True)
    return odds


# Means, intervals and standard errors of what was drawn, in columns that are called alike ---------


def probability_of(ci: Any) -> float:
    """The argument `ci`, checked."""
    return between("ci", ci, "the probability of an interval")


def ends(values: np.ndarray, ci: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the equal-tailed interval of values, the first axis."""
    low, high = np.quantile(values, tails_of(ci), axis=0)
    return low, high


def with_ends(found: Any, draws: Callable[[], np.ndarray], ci: float | None) -> Any:
    """What was predicted, an array or several, followed by the ends of its interval over draws
    (draws, rows)."""
    if ci is None:
        return found
    ci, several = probability_of(ci), found if isinstance(found, tuple) else (found,)
    return (*several, *ends(draws(), ci))


def centre(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """The figure that stands for values (draws, ...): the estimate, or the posterior mean."""
    return values[0] if chooser.is_estimate else values.mean(axis=0)


def ends_of_draws(
    chooser: "Chooser", values: np.ndarray, ci: float
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of values (draws, ...)."""
    return ends(values[1:] if chooser.is_estimate else values, ci)


def standard_error(by_group: np.ndarray) -> np.ndarray:
    """Standard error of the mean over groups, the last axis; NaN for a single one."""
    groups = by_group.shape[-1]
    if groups < 2:
        return np.full(by_group.shape[:-1], np.nan)
    return by_group.std(axis=-1, ddof=1) / np.sqrt(groups)


def error_between_chains(values: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Standard error of the mean of values (draws, ...) by the differences between chains."""
    return standard_error(
        np.stack([values[chain == c].mean(axis=0) for c in np.unique(chain)], axis=-1)
    )


def thinned(chain: np.ndarray, most: int) -> np.ndarray:
    """Numbers of at most this many draws, equally many of each chain, evenly spaced."""
    groups, counts = np.unique(chain, return_counts=True)
    each = max(1, most // max(len(groups), 1))
    kept = []
    for g, count in zip(groups, counts, strict=True):
        own = np.flatnonzero(chain == g)
        kept.append(own[space_evenly(count, each)])
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)
