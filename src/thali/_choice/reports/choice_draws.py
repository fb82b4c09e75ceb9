"""`Chooser`: choices of a fitted model's respondents at every draw; summaries over draws."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._inference.index_arithmetic import space_evenly
from thali._model.column_headings import MONTE_CARLO
from thali._posterior.posterior_interval import check_interval, compute_interval, interval_tails
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

    from .market_simulator import MarketDraws
    from .people_weights import PeopleWeights


LOGIT = "logit"
FIRST_CHOICE = "first-choice"
RANDOMISED = "randomised-first-choice"
RULES = (LOGIT, FIRST_CHOICE, RANDOMISED)


class ChoiceRule(NamedTuple):
    """Rule that turns utilities into choices: logit or first choice, scale, constants."""

    name: str = LOGIT
    scale: float = 1.0  # factor of all utilities
    # constants of each market, (draws, products), added to utilities; empty: none
    constants: tuple[np.ndarray, ...] = ()


AS_FITTED = ChoiceRule()


class LevelEffects(NamedTuple):
    """Probability that one level is preferred to another, with Monte Carlo error."""

    by_respondent: np.ndarray  # (respondents, pairs) means over draws
    by_draw: np.ndarray  # (draws, pairs) means over the respondents
    of_people: np.ndarray  # (draws, pairs) means with the drawn weights of respondents
    chain: np.ndarray  # (draws,)


class Chooser:
    """The respondents of a fitted model, and how they choose, in every posterior draw.

    A product is a row of cells, one per attribute: the code of its level, or the value itself for
    an attribute that the model treats as numeric; NaN if the product lacks the attribute.

    Draws of an estimate (`is_estimate`) come from its sampling distribution; the first draw is the
    estimate itself.
    """

    data: Any  # the design of the fit, or the complete data: scheme, respondents, tasks, products
    people: "pandas.DataFrame | None"  # columns about the respondents
    chain: np.ndarray  # (draws,) chain of each draw
    # (attributes,) 1, -1: later, earlier levels are preferred by assumption; else 0
    directions: np.ndarray
    is_estimate: bool = False
    df: float = np.inf  # degrees of freedom of Student's t, for an estimate
    demand_draws: int = 200  # draws used by demand curves
    has_individuals: bool = True  # whether respondents differ

    def compute_once(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """Return `compute()`, cached by key unless the key contains a random generator."""
        # A generator continues, so a second call must return other draws.
        if any(isinstance(part, np.random.Generator | np.random.SeedSequence) for part in key):
            return compute()
        cache = vars(self).setdefault("_cache", {})
        if key not in cache:
            cache[key] = compute()
        return cache[key]

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        """Return the products of a table as numbers, shape (rows, attributes)."""
        raise NotImplementedError

    def level_cells(self) -> list[np.ndarray]:
        """Return the encoded levels of each attribute, NaN for levels without estimates."""
        raise NotImplementedError

    def sample_products(self) -> np.ndarray:
        """Return some encoded products that have every attribute, (products, attributes).

        One product if no effect of a level depends on other attributes.
        """
        raise NotImplementedError

    def is_linear(self, attribute: int) -> bool:
        """Return whether utility is linear in an attribute, at any number."""
        return False

    def is_number(self, attribute: int) -> bool:
        """Return whether an attribute accepts numbers besides its tested levels."""
        return False

    def slope_changes(self, attribute: int) -> np.ndarray:
        """Return numbers, besides tested ones, at which the slope of utility changes."""
        return np.empty(0)

    def delta_covariance(self, compute_figures: Callable[[Self], np.ndarray]) -> np.ndarray:
        """Return the delta-method covariance of what `compute_figures` returns for a chooser.

        The covariance is over the last axis; only for an estimate.
        """
        raise NotImplementedError

    def interval_half_width(self, ci: float) -> float:
        """Return the half-width of a `ci` interval of an estimate, in standard errors."""
        from scipy.special import stdtrit

        return float(stdtrit(self.df, interval_tails(ci)[1]))

    def thin(self, max_draws: int) -> Self:
        """Return a chooser with at most `max_draws` evenly spaced draws."""
        raise NotImplementedError

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: "RandomSeed",
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        """Return choice shares of the products of each market, arrays (draws, products).

        `weights` are (respondents,) or (draws, respondents); None means new respondents.
        """
        # Random numbers are common to the markets.
        raise NotImplementedError

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Yield expected utilities of products by blocks of draws, (draws, people, products)."""
        raise NotImplementedError

    def expected_utilities(self, products: np.ndarray) -> np.ndarray:
        """Return utilities averaged over draws, shape (respondents, products)."""
        if self.is_estimate:
            return next(self.utilities(products))[0]
        sized_sums = ((len(block), block.sum(axis=0)) for block in self.utilities(products))
        draw_counts, utility_sums = zip(*sized_sums, strict=True)
        return np.sum(utility_sums, axis=0) / sum(draw_counts)

    def effects(
        self,
        pairs: Sequence[tuple[int, int, int]],
        weights: "PeopleWeights",
        cores: int | None,
        random_seed: "RandomSeed",
    ) -> LevelEffects:
        """Return how probably the last level of each pair is preferred to the first.

        Pairs are (attribute, level, other level); ties count half.
        """
        raise NotImplementedError

    def importance(
        self, cores: int | None, random_seed: "RandomSeed"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of choices that each attribute decides, by respondent, and errors.

        The errors are those of the means over tasks.
        """
        raise NotImplementedError

    def errors(self, draws: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """Return standard errors of means over draws, from values (draws, quantities)."""
        raise NotImplementedError

    def respondent_interval(self, figures: np.ndarray, ci: float) -> dict[str, np.ndarray]:
        """Return limits between which a share `ci` of respondents lies, by column.

        Empty if respondents do not differ. The first axis of `figures` is over respondents.
        """
        if not self.has_individuals:
            return {}
        low, high = compute_interval(figures, ci)
        return {"respondents_low": low, "respondents_high": high}

    def interval_attrs(self, ci: float) -> dict[str, Any]:
        """Return the `attrs` of a table, which describe its intervals and errors."""
        table_attrs: dict[str, Any] = {"interval": ci}
        if not self.is_estimate:
            table_attrs[MONTE_CARLO] = True
        return table_attrs


def refuse_same_tastes(chooser: Chooser) -> None:
    """Raise ArgumentError if the model gives all respondents the same tastes."""
    if not chooser.has_individuals:
        raise ArgumentError(
            "All respondents have the same tastes in this model; fit HierarchicalLogit() or"
            " LatentClassLogit() for results that differ between respondents."
        )


# Means, intervals and standard errors over draws --------------------------------------------------


def append_interval(predictions: Any, draws: Callable[[], np.ndarray], ci: float | None) -> Any:
    """Return predictions, followed by both interval ends over draws if `ci` is given.

    `draws` returns draws (draws, rows); without `ci` the predictions are returned unchanged.
    """
    if ci is None:
        return predictions
    ci = check_interval(ci)
    if not isinstance(predictions, tuple):
        predictions = (predictions,)
    return (*predictions, *compute_interval(draws(), ci))


def point_estimate(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """Return the maximum-likelihood estimate or posterior mean of values (draws, ...)."""
    if chooser.is_estimate:
        return values[0]
    return values.mean(axis=0)


def drop_estimate(chooser: "Chooser | MarketDraws", values: np.ndarray) -> np.ndarray:
    """Return values (draws, ...) without the estimate in the first draw, if any."""
    if chooser.is_estimate:
        return values[1:]
    return values


def estimate_interval(chooser: "Chooser", values: np.ndarray, ci: float) -> np.ndarray:
    """Return both ends of the `ci` interval of values (draws, ...)."""
    return compute_interval(drop_estimate(chooser, values), ci)


def standard_error(by_group: np.ndarray) -> np.ndarray:
    """Return the standard error of the mean over independent groups (last axis).

    NaN for a single group.
    """
    n_groups = by_group.shape[-1]
    if n_groups < 2:
        return np.full(by_group.shape[:-1], np.nan)
    return by_group.std(axis=-1, ddof=1) / np.sqrt(n_groups)


def between_chain_error(values: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Return the standard error of means over draws, from differences between chains."""
    return standard_error(
        np.stack([values[chain == c].mean(axis=0) for c in np.unique(chain)], axis=-1)
    )


def select_draws(chain: np.ndarray, max_draws: int) -> np.ndarray:
    """Return indices of at most `max_draws` evenly spaced draws, equally many per chain.

    At most `max_draws`, but at least one per chain.
    """
    chains = np.unique(chain)
    draws_per_chain = max(1, max_draws // max(len(chains), 1))
    selected_indices = [np.zeros(0, np.int64)]
    for c in chains:
        chain_draws = np.flatnonzero(chain == c)
        selected_indices.append(chain_draws[space_evenly(len(chain_draws), draws_per_chain)])
    return np.concatenate(selected_indices)
