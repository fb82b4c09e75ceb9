"""`Chooser` of logit models, with tastes given at every draw; draws for market simulators."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.experiments.product_encoding import INSIDE
from thali._inference.array_dict_encoding import encode_base64, shrink_integers
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import compute_shares, replace_zeros, softmax
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.fitting_methods import PreparedFit
from thali._model.method_requirements import mark_as_setup
from thali._people.respondent_columns import MarketRespondents, describe_respondents
from thali.errors import Message

from ..product_coding import (
    AttributeCoding,
    describe_constants,
    encode_attribute_cells,
    read_task_cells,
)
from .choice_draws import (
    AS_FITTED,
    LOGIT,
    RANDOMISED,
    ChoiceRule,
    Chooser,
    LevelEffects,
    point_estimate,
    select_draws,
    standard_error,
)
from .level_effects import compute_choice_change, select_products, select_tasks
from .market_methods import MarketMethods
from .market_simulator import (
    MarketDraws,
    Product,
    assign_respondents,
    build_market_attributes,
    build_no_choice_product,
    describe_draws,
    hash_exponentials,
    list_first_products,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment

    from ..product_coding import Coding
    from .people_weights import PeopleWeights

_N_NEWCOMERS = 1_024  # new respondents drawn in each draw, approximately
_OCCASIONS = 2**14  # occasions of all respondents, on which errors of products are drawn
_MAX_EXAMPLES = 16  # products over which utilities with interactions are averaged
_MAX_DIFFERENCES = 256  # differences between two levels over which choices are averaged
# draws, and respondents times draws, for importance
_MIN_DRAWS = 40
_IMPORTANCE_DRAWS = 400
_PEOPLE_DRAWS = 400_000
_STEP = 1e-4  # of the delta method, in standard errors

# (draw indices, generator) -> tastes of new respondents (draws, M, p); weights (M,) or (draws, M),
# sum 1
Population = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass
class LogitChooser(Chooser):
    r"""Respondents of a logit with K classes or individuals, tastes given in D draws.

    .. math::

        P_d(j \mid X) = \sum_k m_k \frac{e^{x_j^T \beta_{dk}}}{\sum_{j' \in X} e^{x_{j'}^T
        \beta_{dk}}}
    """

    coding: "Coding"
    data: "ChoiceExperiment"
    tastes: np.ndarray  # (D, K, p)
    chain: np.ndarray  # (D,) chain of each draw; draws of a chain are contiguous
    # (respondents, K), rows sum to 1; None: each respondent is a class
    membership: np.ndarray | None = None
    population: Population | None = None  # None: new respondents equal those of the data
    # (K p, K p) of the estimate, the first draw; None: draws of a posterior
    covariance: np.ndarray | None = None
    df: float = np.inf  # degrees of freedom of the covariance
    # (D, respondents) class in each draw but the first, of an estimate; None: membership
    respondent_classes: np.ndarray | None = None
    # (attributes,) declared order of the levels of each attribute
    directions: Any = None

    def __post_init__(self) -> None:
        self.is_estimate = self.covariance is not None
        self.people: pandas.DataFrame | None = self.data.people
        if self.directions is None:
            self.directions = np.zeros(len(self.data.attributes), np.int64)
        self.has_individuals = self.membership is None or self.membership.shape[1] > 1
        self._draws = np.arange(len(self.tastes))  # indices among all draws of the model

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        """Return the products of a table as numbers, shape (rows, attributes)."""
        return read_task_cells(self.coding, self.data.scheme, table, self.data.respondents)[0]

    def level_cells(self) -> list[np.ndarray]:
        """Return the encoded levels of each attribute, NaN for levels without estimates."""
        cells_by_attribute = []
        for attribute, attribute_coding, is_shown in zip(
            self.data.levels, self.coding.parts, self.coding.seen, strict=True
        ):
            level_codes = self.data.scheme.select_compared_levels(
                attribute, np.flatnonzero(is_shown[:-1])
            )
            cells = np.full(len(is_shown) - 1, np.nan)
            cells[level_codes] = level_codes
            if attribute_coding.numbers is not None:
                cells[level_codes] = attribute_coding.numbers[level_codes]
            cells_by_attribute.append(cells)
        return cells_by_attribute

    def sample_products(self) -> np.ndarray:
        """Return some encoded products that have every attribute."""
        if self.coding.crossed:
            return self._select_products(_MAX_EXAMPLES)
        return self._select_products(1)

    def _select_products(self, max_products: int) -> np.ndarray:
        """Return some encoded products of the data that have every attribute."""
        return select_products(
            self.data,
            self.coding.convert_codes(self.data.products)[self.data.row_product],
            max_products,
        )

    def is_linear(self, attribute: int) -> bool:
        """Return whether utility is linear in an attribute, at any number."""
        attribute_coding = self.coding.parts[attribute]
        return attribute_coding.numbers is not None and not attribute_coding.knots

    def is_number(self, attribute: int) -> bool:
        """Return whether an attribute accepts numbers besides its tested levels."""
        return self.coding.parts[attribute].numbers is not None

    def slope_changes(self, attribute: int) -> np.ndarray:
        """Return numbers, besides tested ones, at which the slope of utility changes."""
        return np.array(self.coding.parts[attribute].knots, float)

    def delta_covariance(self, compute_figures: Callable[[Self], np.ndarray]) -> np.ndarray:
        """Return the delta-method covariance of what `compute_figures` returns for a chooser."""
        assert self.covariance is not None
        tastes = self.tastes[0].ravel()
        variances = np.diag(self.covariance)
        # negative where the likelihood has no maximum
        std_errors = np.sqrt(np.where(variances < 0.0, np.nan, variances))
        taste_steps = _STEP * replace_zeros(std_errors)
        moved_tastes = np.concatenate(
            [tastes + np.diag(taste_steps), tastes - np.diag(taste_steps)]
        )
        upper_figures, lower_figures = np.split(
            compute_figures(self._copy_with(moved_tastes.reshape(-1, *self.tastes.shape[1:]))), 2
        )
        with np.errstate(invalid="ignore"):  # infinite figures
            slopes = np.moveaxis((upper_figures - lower_figures), 0, -1) / (2.0 * taste_steps)
            return np.einsum("...ai,ij,...bj->...ab", slopes, self.covariance, slopes)

    def thin(self, max_draws: int) -> Self:
        """Return a chooser with at most `max_draws` evenly spaced draws."""
        draw_indices = select_draws(self.chain, max_draws)
        if self.is_estimate:
            draw_indices = np.unique(np.append(0, draw_indices))
        if len(draw_indices) == len(self.chain):
            return self
        chooser = self._copy_with(self.tastes[draw_indices])
        chooser.chain = self.chain[draw_indices]
        chooser._draws = self._draws[draw_indices]
        if self.respondent_classes is not None:
            chooser.respondent_classes = self.respondent_classes[draw_indices]
        return chooser

    def _copy_with(self, tastes: np.ndarray) -> Self:
        """Return a copy with other tastes and without classes of respondents."""
        chooser = copy(self)
        vars(chooser).pop("_cache", None)
        chooser.tastes = tastes
        chooser.respondent_classes = None
        return chooser

    def _compute_class_weights(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight of each class by draw, (D, K), from weights of respondents."""
        if self.membership is None:
            return np.broadcast_to(weights, self.tastes.shape[:2])
        if self.respondent_classes is None:
            return np.broadcast_to(weights @ self.membership, self.tastes.shape[:2])
        return RespondentClasses(self.membership, self.respondent_classes[1:]).weights(
            np.broadcast_to(weights, self.respondent_classes.shape)
        )

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: RandomSeed,
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        """Return choice shares of the products of each market, arrays (draws, products)."""
        product_cells = np.concatenate(markets)
        model_matrix = rule.scale * self.coding.encode_cells(product_cells)
        market_bounds = np.cumsum([0, *(len(market) for market in markets)])
        all_shares = np.empty((len(self.tastes), len(model_matrix)))
        product_errors = np.zeros((1, 1, len(product_cells)))
        if rule.name == RANDOMISED:
            n_classes = self.tastes.shape[1]
            if weights is None and self.population is not None:
                n_classes = _N_NEWCOMERS
            product_errors = self._draw_product_errors(product_cells, n_classes, random_seed)
        for draw_slice, taste_block, class_weights in self._iterate_tastes(
            weights, len(model_matrix) * product_errors.shape[1], random_seed
        ):
            utility = (model_matrix @ self._stack_tastes(taste_block).T).reshape(
                len(model_matrix), *taste_block.shape[:2]
            )
            for market_index, (first_product, next_product) in enumerate(pairwise(market_bounds)):
                market_utility = utility[first_product:next_product]
                if rule.constants:
                    market_utility = (
                        market_utility + rule.constants[market_index][draw_slice].T[:, :, None]
                    )
                if rule.name == LOGIT:
                    p = softmax(market_utility, axis=0)
                else:
                    # the errors of classes repeat if there are more classes
                    error_indices = np.arange(taste_block.shape[1]) % len(product_errors)
                    class_errors = product_errors[
                        error_indices, :, first_product:next_product
                    ].transpose(2, 0, 1)
                    p = _split_wins(market_utility[..., None] + class_errors[:, None]).mean(axis=-1)
                all_shares[draw_slice, first_product:next_product] = np.einsum(
                    "jdk,dk->dj", p, class_weights
                )
        return np.split(all_shares, market_bounds[1:-1], axis=1)

    def _draw_product_errors(
        self, cells: np.ndarray, n_classes: int, random_seed: RandomSeed
    ) -> np.ndarray:
        """Draw normal errors of products, variance pi²/6, (classes, occasions, products)."""
        # The error of a product is the sum of the errors of its levels.
        from scipy.special import ndtri
        from scipy.stats import qmc

        real_attributes = [k for k, name in enumerate(self.data.attributes) if name != INSIDE]
        _, product_index = np.unique(np.nan_to_num(cells, nan=-np.inf), axis=0, return_inverse=True)
        error_indices = []
        n_errors = 0
        for attribute in real_attributes:
            attribute_cells = cells[:, attribute]
            _, error_index = np.unique(attribute_cells, return_inverse=True)
            is_lacking = np.isnan(attribute_cells)
            # shared with the same product alone
            error_index[is_lacking] = (
                error_index.max(initial=0) + 1 + product_index.ravel()[is_lacking]
            )
            error_indices.append(n_errors + np.unique(error_index, return_inverse=True)[1])
            n_errors = int(error_indices[-1].max()) + 1
        n_occasions = max(1, -(-_OCCASIONS // n_classes))
        random_shift = spawn_generators(random_seed, 2)[1].random(n_errors)
        sobol_points = qmc.Sobol(n_errors, scramble=False).random_base2(
            (n_classes * n_occasions - 1).bit_length()
        )[: n_classes * n_occasions]
        normal_draws = ndtri(np.clip((sobol_points + random_shift) % 1.0, 1e-12, 1.0 - 1e-12))
        summed_errors = np.zeros((n_classes * n_occasions, len(cells)))
        for error_index in error_indices:
            summed_errors += normal_draws[:, error_index]
        return (summed_errors * (np.pi / np.sqrt(6.0 * max(len(real_attributes), 1)))).reshape(
            n_classes, n_occasions, -1
        )

    def _iterate_tastes(
        self, weights: np.ndarray | None, n_rows: int, random_seed: RandomSeed
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of draws: their tastes, and class weights (draws, K)."""
        if weights is None and self.population is not None:
            rng = spawn_generators(random_seed, 1)[0]
            for draw_slice in iterate_slices(len(self.tastes), _N_NEWCOMERS * n_rows):
                # the same new respondents in every draw
                tastes, class_weights = self.population(self._draws[draw_slice], deepcopy(rng))
                yield draw_slice, tastes, np.broadcast_to(class_weights, tastes.shape[:2])
            return
        if weights is None:
            weights = np.ones(len(self.data.respondents))
        class_weights = self._compute_class_weights(compute_shares(weights))
        for draw_slice in iterate_slices(len(self.tastes), self.tastes.shape[1] * n_rows):
            yield draw_slice, self.tastes[draw_slice], class_weights[draw_slice]

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Yield expected utilities of products by blocks of draws, (draws, people, products)."""
        model_matrix = self.coding.encode_cells(products)
        for draw_slice in iterate_slices(
            len(self.tastes), len(self.data.respondents) * len(model_matrix)
        ):
            utility = self.tastes[draw_slice] @ model_matrix.T
            if self.membership is None or not self.has_individuals:
                yield utility
                continue
            mean_utility = np.einsum("nk,dkj->dnj", self.membership, utility)
            if self.respondent_classes is not None:
                class_indices = self.respondent_classes[draw_slice].astype(np.int64)[:, :, None]
                drawn_utility = np.take_along_axis(utility, class_indices, axis=1)
                if draw_slice.start == 0:  # the estimate
                    drawn_utility[0] = mean_utility[0]
                mean_utility = drawn_utility
            yield mean_utility

    def _stack_tastes(self, tastes: np.ndarray) -> np.ndarray:
        """Reshape tastes (..., p) to (n_draws * n_classes, p)."""
        return tastes.reshape(-1, len(self.coding.names))

    def expected_utilities(self, products: np.ndarray) -> np.ndarray:
        """Return utilities averaged over draws, shape (respondents, products)."""
        if self.is_estimate:
            return super().expected_utilities(products)
        return self.tastes.mean(axis=0) @ self.coding.encode_cells(products).T

    def effects(
        self,
        pairs: Sequence[tuple[int, int, int]],
        weights: "PeopleWeights",
        cores: int | None,
        random_seed: RandomSeed,
    ) -> LevelEffects:
        """Return how probably the last level of each pair is preferred to the first."""
        n_draws, n_classes = self.tastes.shape[:2]
        class_weights = self._compute_class_weights(compute_shares(weights.plain))
        drawn_class_weights = self._compute_class_weights(compute_shares(weights.drawn))
        differences_by_pair = list(iterate_level_differences(self.coding, self.data, pairs))
        difference_rows = np.concatenate([differences for differences, _ in differences_by_pair])
        row_weights = np.concatenate([weights for _, weights in differences_by_pair])[:, None]
        pair_starts = np.cumsum([0, *(len(weights) for _, weights in differences_by_pair[:-1])])
        by_class = np.zeros((len(pairs), n_classes))
        by_draw, of_people = np.empty((2, n_draws, len(pairs)))
        for draw_slice in iterate_slices(n_draws, n_classes * len(difference_rows)):
            taste_block = self.tastes[draw_slice]
            # one matrix for all pairs
            log_odds = difference_rows @ self._stack_tastes(taste_block).T
            with np.errstate(over="ignore"):
                # odds against; takes a fifth of the time of SciPy's expit
                np.exp(np.negative(log_odds, out=log_odds), out=log_odds)
            weighted_p = row_weights / (1.0 + log_odds)
            pair_preference = np.add.reduceat(weighted_p, pair_starts, axis=0).reshape(
                len(pairs), len(taste_block), n_classes
            )
            by_draw[draw_slice] = np.einsum(
                "qdk,dk->dq", pair_preference, class_weights[draw_slice]
            )
            of_people[draw_slice] = np.einsum(
                "qdk,dk->dq", pair_preference, drawn_class_weights[draw_slice]
            )
            if not self.is_estimate:
                by_class += pair_preference.sum(axis=1) / n_draws
            elif draw_slice.start == 0:
                by_class = pair_preference[:, 0]
        by_respondent = by_class.T
        if self.membership is not None:
            by_respondent = self.membership @ by_respondent
        return LevelEffects(by_respondent, by_draw, of_people, self.chain)

    def importance(
        self, cores: int | None, random_seed: RandomSeed
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of choices that each attribute decides, by respondent, and errors."""
        thinned_chooser = self.thin(
            max(_MIN_DRAWS, min(_IMPORTANCE_DRAWS, _PEOPLE_DRAWS // len(self.data.respondents)))
        )
        chain_numbers = np.unique(thinned_chooser.chain)
        # groups are the draws of an estimate, otherwise chains
        pooled_changes = []
        group_changes = []
        n_tasks = np.zeros(len(self.data.respondents))
        for person in range(len(n_tasks)):
            row_indices, first_row = select_tasks(self.data, person)
            # (draws, 1 + attributes, rows)
            p = thinned_chooser._compute_equalised_probabilities(person, row_indices, first_row)
            n_tasks[person] = len(first_row) - 1
            pooled_changes.append(compute_choice_change(point_estimate(self, p), first_row))
            if not self.is_estimate:
                p = np.stack([p[thinned_chooser.chain == c].mean(axis=0) for c in chain_numbers])
            group_changes.append(compute_choice_change(p, first_row))
        # (groups, attributes)
        mean_by_group = np.tensordot(compute_shares(n_tasks), group_changes, axes=1)
        if self.is_estimate:
            return np.array(pooled_changes), mean_by_group[1:].std(axis=0, ddof=1)
        return np.array(pooled_changes), standard_error(mean_by_group.T)

    def _compute_equalised_probabilities(
        self, person: int, rows: np.ndarray, first_row: np.ndarray
    ) -> np.ndarray:
        """Return choice probabilities as shown, and with each attribute made equal."""
        # Shape (draws, 1 + attributes, rows).
        observed_cells = self.coding.convert_codes(self.data.products)[rows]
        variants = [observed_cells]
        variant_weights_by_set: list[list[tuple[int, float]]] = [[(0, 1.0)]]
        for attribute in range(observed_cells.shape[1]):
            equalised_variants = self._equalise_attribute(attribute, observed_cells)
            variant_weights_by_set.append(
                [(len(variants) + k, weight) for k, (_, weight) in enumerate(equalised_variants)]
            )
            variants += [products for products, _ in equalised_variants]
        model_matrix = self.coding.encode_cells(np.concatenate(variants))
        tastes, class_weights = self._get_person_tastes(person)
        # sums are fast if draws are the last axis
        u = (model_matrix @ self._stack_tastes(tastes).T).reshape(len(variants), len(rows), -1)
        p = np.concatenate([softmax(u[:, a:b], axis=1) for a, b in pairwise(first_row)], axis=1)
        if class_weights.shape[1] > 1:
            p = np.einsum(
                "vrdk,dk->vrd", p.reshape(*p.shape[:2], *class_weights.shape), class_weights
            )
        weighted_sums = np.stack(
            [
                sum(weight * p[k] for k, weight in variant_weights)
                for variant_weights in variant_weights_by_set
            ]
        )
        return np.moveaxis(weighted_sums, -1, 0)

    def _equalise_attribute(
        self, attribute: int, observed_cells: np.ndarray
    ) -> list[tuple[np.ndarray, float]]:
        """Return the alternatives with one level of an attribute for all, with weights."""
        # The weight is the frequency of the level in the data.
        # Alternatives that lack the attribute continue to lack it, so no level is a reference.
        # Alternatives are equal in "inside" if the no-choice option is replaced by a product, by
        # some products of the data in turn.
        if self.data.scheme.has_inside and attribute == 0:
            is_no_choice = observed_cells[:, :1] == 0
            substitutes = self._select_products(_MAX_EXAMPLES)
            substitute_weight = 1.0 / len(substitutes)
            return [
                (np.where(is_no_choice, product, observed_cells), substitute_weight)
                for product in substitutes
            ]
        attribute_cells = self.coding.convert_codes(self.data.products)[
            self.data.row_product, attribute
        ]
        is_missing = np.isnan(attribute_cells)
        level_values, level_counts = np.unique(attribute_cells[~is_missing], return_counts=True)
        if not (self.coding.crossed or is_missing.any()):  # any level gives the same choices
            level_values = level_values[:1]
            level_counts = level_counts[:1]
        elif self.data.attributes[attribute] in self.data.scheme.measured:
            level_values = np.quantile(
                attribute_cells[~is_missing], (np.arange(_MAX_EXAMPLES) + 0.5) / _MAX_EXAMPLES
            )
            level_counts = np.ones(_MAX_EXAMPLES)
        equalised_variants = []
        for level, level_share in zip(level_values, compute_shares(level_counts), strict=True):
            changed_cells = observed_cells.copy()
            changed_cells[~np.isnan(observed_cells[:, attribute]), attribute] = level
            equalised_variants.append((changed_cells, float(level_share)))
        return equalised_variants

    def _get_person_tastes(self, person: int) -> tuple[np.ndarray, np.ndarray]:
        """Return tastes (D, K, p) and class weights (D, K) of one respondent."""
        if self.membership is None:
            return self.tastes[:, person : person + 1], np.ones((len(self.tastes), 1))
        return self.tastes, self._compute_class_weights(np.eye(1, len(self.membership), person)[0])

    def errors(self, draws: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """Return standard errors of means over draws, from values (draws, quantities)."""
        from thali._posterior.summary_table import compute_mean_errors

        if self.is_estimate:
            return draws[1:].std(axis=0, ddof=1)
        n_chains = len(np.unique(chain))
        return compute_mean_errors(np.moveaxis(draws.reshape(n_chains, -1, draws.shape[1]), 2, 0))


def iterate_level_differences(
    coding: "Coding", data: "ChoiceExperiment", pairs: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield differences in model-matrix columns between two levels, and weights.

    Other attributes have the values of the data's products. Without interactions the differences
    are equal; with them there are up to one per product, and near ones are merged.
    """
    products = coding.convert_codes(data.products)
    times_shown = np.bincount(data.row_product)
    for attribute, *compared_levels in pairs:
        is_inside = data.scheme.has_inside and attribute == 0
        has_attribute = ~np.isnan(products[:, attribute])
        if is_inside:
            has_attribute = products[:, 0] == 1
        matrices = []
        for level in compared_levels:
            cells = products[has_attribute]
            cells[:, attribute] = level
            if (level_numbers := coding.parts[attribute].numbers) is not None:
                cells[:, attribute] = level_numbers[level]
            if is_inside and level == 0:  # the no-choice option lacks all else
                cells[:, 1:] = np.nan
            matrices.append(coding.encode_cells(cells))
        distinct_differences, difference_index = np.unique(
            matrices[1] - matrices[0], axis=0, return_inverse=True
        )
        difference_weights = np.bincount(difference_index.ravel(), times_shown[has_attribute])
        if len(distinct_differences) > _MAX_DIFFERENCES:
            distinct_differences, difference_weights = merge_neighbours(
                distinct_differences, difference_weights, _MAX_DIFFERENCES
            )
        yield distinct_differences, compute_shares(difference_weights)


def merge_neighbours(
    rows: np.ndarray, row_weights: np.ndarray, max_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge similar rows into about `max_rows` weighted means; return means, weights.

    Rows are halved repeatedly at the middle of the column with the largest range.
    """
    scaled_rows = rows / np.where((column_sds := rows.std(axis=0)) > 0.0, column_sds, 1.0)
    row_groups = [np.arange(len(rows))]
    while 2 * len(row_groups) <= max_rows:
        half_groups = []
        for row_group in row_groups:
            widest_column = np.ptp(scaled_rows[row_group], axis=0).argmax()
            half_groups += np.array_split(
                row_group[np.argsort(scaled_rows[row_group, widest_column], kind="stable")], 2
            )
        row_groups = [half for half in half_groups if len(half)]
    group_weights = np.array([row_weights[row_group].sum() for row_group in row_groups])
    group_means = (
        np.array([row_weights[row_group] @ rows[row_group] for row_group in row_groups])
        / group_weights[:, None]
    )
    return group_means, group_weights


def _split_wins(utility: np.ndarray) -> np.ndarray:
    """Return 1 for each column's largest utility (1/m for m ties), else 0."""
    is_best = utility == utility.max(axis=0)
    return is_best / is_best.sum(axis=0)


# Reports on markets that every logit has ----------------------------------------------------------


class LogitReports(MarketMethods):
    """Reports that all logit models share; subclasses define `_build_chooser` and `_check_fit`."""

    _check_fit: Any  # (data) -> anything: checks the data before the fit

    @classmethod
    def _describe_use(cls, data: Any, arguments: Mapping[str, Any]) -> Message:
        """Return whether alternatives have constants, and how to change that."""
        return describe_constants(data, arguments.get("constants"))

    @mark_as_setup
    def prepare(self, data: Any, **settings: Any) -> PreparedFit:
        """Check the data of a fit, without fitting; return an empty PreparedFit."""
        self._check_fit(data)
        return PreparedFit()

    def _build_chooser(self) -> "LogitChooser":
        """Build the `Chooser` of the fitted respondents; subclasses define it."""
        raise NotImplementedError

    def _get_market_draws(self) -> "MarketDraws":
        """Return tastes and products for the market simulator of a page."""
        return build_logit_market_draws(self._build_chooser())


# A fit of a logit as the draws of a market: some draws and respondents, and their tastes ----------


MIN_DRAWS = 40
MAX_DRAWS = 500
# coefficients of all respondents in all draws: two bytes each; the class of a respondent takes one
MAX_TASTES = 400_000


def build_logit_market_draws(chooser: "LogitChooser") -> MarketDraws:
    """Build the market simulator's draws from evenly spaced posterior draws.

    With many respondents, fewer draws contain some respondents each.
    """
    data = chooser.data
    n_classes, p = chooser.tastes.shape[1:]
    size_per_draw = n_classes * p
    if chooser.respondent_classes is not None:
        size_per_draw += len(data.respondents) // 2
    thinned_chooser = chooser.thin(int(np.clip(MAX_TASTES // size_per_draw, MIN_DRAWS, MAX_DRAWS)))
    tastes = thinned_chooser.tastes
    n_draws = len(thinned_chooser.tastes)
    respondent_classes = None
    n_respondents = n_classes
    size = (
        f"computed from the estimate, and their intervals from {n_draws - 1:,} draws from its"
        " sampling distribution"
    )
    if chooser.membership is None:
        people_per_draw = max(1, min(n_classes, MAX_TASTES // (n_draws * p)))
        size = describe_draws(n_draws, people_per_draw, n_classes)
        if people_per_draw < n_classes:
            tastes = np.take_along_axis(
                tastes, assign_respondents(n_draws, people_per_draw, n_classes)[:, :, None], axis=1
            )
    elif chooser.has_individuals:
        assert thinned_chooser.respondent_classes is not None
        n_respondents = len(data.respondents)
        respondent_classes = RespondentClasses(
            chooser.membership.astype(np.float32), thinned_chooser.respondent_classes[1:]
        )
    attribute_codings = []
    shown_levels = {}
    for (attribute, levels), attribute_coding, is_shown in zip(
        data.levels.items(), chooser.coding.parts, chooser.coding.seen, strict=True
    ):
        attribute_codings.append(
            attribute_coding._replace(table=attribute_coding.table[np.append(is_shown[:-1], True)])
        )
        shown_levels[attribute] = tuple(compress(levels, is_shown[:-1]))
    return MarketDraws(
        build_market_attributes(
            data,
            shown_levels,
            [attribute_coding.numbers is not None for attribute_coding in attribute_codings],
        ),
        round_tastes(
            attribute_codings, tastes, chooser.coding.crossed, n_respondents, respondent_classes
        ),
        0.0,
        build_no_choice_product(data),
        _list_first_products(chooser),
        size,
        chooser.is_estimate,
        _build_market_people(chooser),
    )


def _build_market_people(chooser: "LogitChooser") -> MarketRespondents | None:
    """Return respondents' columns and classes for the simulator; None if tastes are equal."""
    if not chooser.has_individuals:
        return None
    class_labels: tuple[str, ...] = ()
    if chooser.membership is not None:
        class_labels = tuple(f"class {k + 1}" for k in range(chooser.membership.shape[1]))
    return describe_respondents(chooser.people, len(chooser.data.respondents), class_labels)


def _list_first_products(chooser: "LogitChooser") -> tuple[Product, ...]:
    """Return the products of the first task, without the no-choice option."""
    attribute_codings = chooser.coding.parts
    shown_levels = chooser.coding.seen
    return tuple(
        tuple(map(_convert_code, product, attribute_codings, shown_levels))
        for product in list_first_products(chooser.data)
    )


def _convert_code(
    code: float | None, attribute_coding: AttributeCoding, is_shown: np.ndarray
) -> float | None:
    """Return a level code as number, or as index among shown levels; None stays."""
    if code is None:
        return None
    if attribute_coding.numbers is not None:
        return float(attribute_coding.numbers[int(code)])
    return int(is_shown[: int(code)].sum())


# The rule of logits: tastes in each draw, and columns of products ---------------------------------


_MAX_CODE = 32_767


class RespondentClasses(NamedTuple):
    """Each respondent's class probabilities (first draw) and one class per further draw."""

    membership: np.ndarray  # (respondents, K) float32
    by_draw: np.ndarray  # (D - 1, respondents)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Return weights of classes (D, K), given weights of respondents (D, respondents)."""
        class_numbers = range(self.membership.shape[1])
        class_weights = np.stack(
            [np.einsum("dn,dn->d", self.by_draw == k, weights[1:]) for k in class_numbers], axis=1
        )
        return np.vstack([weights[0] @ self.membership.astype(float), class_weights])


class LogitTastes(NamedTuple):
    """Tastes of P respondents or classes in D draws, stored as integers times steps."""

    parts: tuple[AttributeCoding, ...]  # columns of each attribute, for shown levels
    codes: np.ndarray  # (D, P, p) int16
    steps: np.ndarray  # (p,)
    crossed: tuple[tuple[int, int], ...]  # additional columns: products of two columns
    respondents: int
    respondent_classes: RespondentClasses | None = None  # None: each of the P is a respondent
    # (D, numbered products), added to utilities; None: no constants
    constants: np.ndarray | None = None
    takes_first: bool = False  # whether respondents choose the product with the highest utility

    def distinguish_products(self, n_products: int) -> Self:
        """Return tastes for products that carry their number in an extra last entry."""
        return self._replace(parts=(*self.parts, AttributeCoding(np.zeros((n_products + 1, 0)))))

    def adjust(self, scale: float, takes_first: bool) -> Self:
        """Return tastes multiplied by `scale`, with logit or first-choice rule."""
        return self._replace(steps=self.steps * scale, takes_first=takes_first)

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Return shares of every market's products without lapses, (draws, products) each."""
        tastes = self.codes * self.steps
        class_weights = self._compute_shares(weights)[:, None]
        return [
            (
                class_weights
                @ self._choice_probabilities(tastes @ self.encode_market(market).T, market)
            )[:, 0]
            for market in markets
        ]

    def _choice_probabilities(self, utility: np.ndarray, market: Sequence[Product]) -> np.ndarray:
        """Return probabilities from utilities: softmax, or 1 for the best product."""
        if self.takes_first:
            return np.moveaxis(_split_wins(np.moveaxis(utility, -1, 0)), 0, -1)
        if self.constants is not None:
            constants = np.hstack([self.constants, np.zeros((len(self.constants), 1))])
            product_numbers = [product[-1] for product in market]
            product_numbers = [-1 if number is None else int(number) for number in product_numbers]
            utility = utility + constants[:, None, product_numbers]
        return softmax(utility)

    def _compute_shares(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the weight of each respondent or class by draw, (D, P)."""
        # NaN in a draw without respondents of positive weight.
        n_draws, n_people = self.codes.shape[:2]
        exponential_weights = hash_exponentials(n_draws, self.respondents)
        exponential_weights[: self.respondent_classes is not None] = 1.0  # the estimate
        if weights is not None:
            exponential_weights *= weights
        if self.respondent_classes is None:
            respondent_indices = assign_respondents(n_draws, n_people, self.respondents)
            exponential_weights = np.take_along_axis(
                exponential_weights, respondent_indices, axis=1
            )
        else:
            exponential_weights = self.respondent_classes.weights(exponential_weights)
        with np.errstate(invalid="ignore"):
            return compute_shares(exponential_weights)

    def encode_market(self, market: Sequence[Product]) -> np.ndarray:
        """Return the model matrix of the products, shape (products, p)."""
        return encode_attribute_cells(self.parts, self.crossed, np.array(market, float))

    def pack(self) -> dict[str, Any]:
        """Return the tastes and the choice rule as values for JSON."""
        packed_membership = packed_classes = packed_constants = None
        if self.respondent_classes is not None:
            packed_membership = encode_base64(self.respondent_classes.membership)
            packed_classes = encode_base64(shrink_integers(self.respondent_classes.by_draw))
        if self.constants is not None:
            packed_constants = encode_base64(self.constants.astype(np.float32))
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "respondents": self.respondents,
            "membership": packed_membership,
            "kinds": packed_classes,
            "columns": [
                {
                    "table": attribute_coding.table.tolist(),
                    "is_number": attribute_coding.numbers is not None,
                    "knots": attribute_coding.knots,
                }
                for attribute_coding in self.parts
            ],
            "crossed": self.crossed,
            "codes": encode_base64(self.codes),
            "steps": self.steps.tolist(),
            "constants": packed_constants,
            "takes_first": self.takes_first,
        }


def round_tastes(
    parts: Sequence[AttributeCoding],
    tastes: np.ndarray,
    crossed: Sequence[tuple[int, int]] = (),
    respondents: int | None = None,
    respondent_classes: RespondentClasses | None = None,
) -> LogitTastes:
    """Round tastes (draws, respondents, coefficients) to multiples of a step.

    Each coefficient is rounded to a 32,767th of its largest value.
    """
    largest_tastes = np.abs(tastes).max(axis=(0, 1))
    rounding_steps = replace_zeros(largest_tastes) / _MAX_CODE
    taste_codes = np.rint(tastes / rounding_steps).astype(np.int16)
    return LogitTastes(
        tuple(parts),
        taste_codes,
        rounding_steps,
        tuple(crossed),
        respondents or tastes.shape[1],
        respondent_classes,
    )
