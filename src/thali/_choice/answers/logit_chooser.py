"""`Chooser` of logit models, with tastes given at every draw; draws for market simulators."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.experiments.product_encoding import INSIDE
from thali._inference.array_dict_encoding import encode_base64, shrink_integers
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import compute_shares, replace_zeros, softmax
from thali._inference.random_seeds import spawn_generators
from thali._labels import format_plural
from thali._model.fitting_methods import PreparedFit
from thali._model.method_requirements import mark_as_setup
from thali._people.respondent_columns import MarketRespondents, describe_respondents

from ..coding import AttributeCoding, encode_attribute_cells, read_task_cells
from .chooser import (
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
from .effects import choice_change, select_products, select_tasks
from .market_answers import MarketAnswers
from .simulator import (
    MarketDraws,
    Product,
    assign_respondents,
    build_market_attributes,
    build_no_choice_product,
    describe_draw_respondents,
    hash_exponentials,
    list_first_products,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment

    from ..coding import Coding

_N_NEWCOMERS = 1_024  # new respondents drawn in each draw, approximately
_OCCASIONS = 2**14  # occasions of all respondents, on which errors of products are drawn
_MAX_EXAMPLES = 16  # products over which utilities with interactions are averaged
_MAX_DIFFERENCES = 256  # differences between two levels over which choices are averaged
# draws, and respondents times draws, for importance
_MIN_DRAWS, _IMPORTANCE_DRAWS, _PEOPLE_DRAWS = 40, 400, 400_000
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
        for name, part, is_shown in zip(
            self.data.levels, self.coding.parts, self.coding.seen, strict=True
        ):
            codes = self.data.scheme.select_compared_levels(name, np.flatnonzero(is_shown[:-1]))
            cells = np.full(len(is_shown) - 1, np.nan)
            cells[codes] = codes
            if part.numbers is not None:
                cells[codes] = part.numbers[codes]
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
        part = self.coding.parts[attribute]
        return part.numbers is not None and not part.knots

    def is_number(self, attribute: int) -> bool:
        """Return whether an attribute accepts numbers besides its tested levels."""
        return self.coding.parts[attribute].numbers is not None

    def slope_changes(self, attribute: int) -> np.ndarray:
        """Return numbers, besides tested ones, at which the slope of utility changes."""
        return np.array(self.coding.parts[attribute].knots, float)

    def delta_covariance(self, figures: Callable[[Self], np.ndarray]) -> np.ndarray:
        """Return the delta-method covariance of what `figures` computes from a chooser."""
        assert self.covariance is not None
        tastes = self.tastes[0].ravel()
        errors = np.sqrt(np.diag(self.covariance))
        steps = _STEP * replace_zeros(errors)
        moved = np.concatenate([tastes + np.diag(steps), tastes - np.diag(steps)])
        up, down = np.split(figures(self._copy_with(moved.reshape(-1, *self.tastes.shape[1:]))), 2)
        with np.errstate(invalid="ignore"):  # infinite figures
            slopes = np.moveaxis((up - down), 0, -1) / (2.0 * steps)
            return np.einsum("...ai,ij,...bj->...ab", slopes, self.covariance, slopes)

    def thin(self, max_draws: int) -> Self:
        """Return a chooser with at most `max_draws` evenly spaced draws."""
        draw_indices = select_draws(self.chain, max_draws)
        if self.is_estimate:
            draw_indices = np.unique(np.append(0, draw_indices))
        if len(draw_indices) == len(self.chain):
            return self
        chooser = self._copy_with(self.tastes[draw_indices])
        chooser.chain, chooser._draws = self.chain[draw_indices], self._draws[draw_indices]
        if self.attends is not None:
            chooser.attends = self.attends[draw_indices]
        if self.respondent_classes is not None:
            chooser.respondent_classes = self.respondent_classes[draw_indices]
        return chooser

    def _copy_with(self, tastes: np.ndarray) -> Self:
        """Return a copy of the chooser with these tastes and no classes of respondents."""
        chooser = copy(self)
        vars(chooser).pop("_cache", None)
        chooser.tastes, chooser.respondent_classes = tastes, None
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
        random_seed: Any,
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        """Return choice shares of the products of each market, arrays (draws, products)."""
        cells = np.concatenate(markets)
        matrix = rule.scale * self.coding.encode_cells(cells)
        ends = np.cumsum([0, *(len(market) for market in markets)])
        all_shares = np.empty((len(self.tastes), len(matrix)))
        errors = np.zeros((1, 1, len(cells)))
        if rule.name == RANDOMISED:
            n_classes = self.tastes.shape[1]
            if weights is None and self.population is not None:
                n_classes = _N_NEWCOMERS
            errors = self._draw_product_errors(cells, n_classes, random_seed)
        for draws, tastes, weight in self._iterate_tastes(
            weights, len(matrix) * errors.shape[1], random_seed
        ):
            utility = (matrix @ self._stack_tastes(tastes).T).reshape(
                len(matrix), *tastes.shape[:2]
            )
            for market_index, (start, stop) in enumerate(pairwise(ends)):
                market_utility = utility[start:stop]
                if rule.constants:
                    market_utility = (
                        market_utility + rule.constants[market_index][draws].T[:, :, None]
                    )
                if rule.name == LOGIT:
                    p = softmax(market_utility, axis=0)
                else:
                    # the errors of classes repeat if there are more classes
                    error_indices = np.arange(tastes.shape[1]) % len(errors)
                    class_errors = errors[error_indices, :, start:stop].transpose(2, 0, 1)
                    p = _split_wins(market_utility[..., None] + class_errors[:, None]).mean(axis=-1)
                all_shares[draws, start:stop] = np.einsum("jdk,dk->dj", p, weight)
        return np.split(all_shares, ends[1:-1], axis=1)

    def _draw_product_errors(
        self, cells: np.ndarray, n_classes: int, random_seed: Any
    ) -> np.ndarray:
        """Draw normal errors of products, variance pi²/6, (classes, occasions, products)."""
        # The error of a product is the sum of the errors of its levels.
        from scipy.special import ndtri
        from scipy.stats import qmc

        real_attributes = [k for k, name in enumerate(self.data.attributes) if name != INSIDE]
        _, product_index = np.unique(np.nan_to_num(cells, nan=-np.inf), axis=0, return_inverse=True)
        error_indices, n_errors = [], 0
        for attribute in real_attributes:
            column = cells[:, attribute]
            _, error_index = np.unique(column, return_inverse=True)
            lacks = np.isnan(column)
            # shared with the same product alone
            error_index[lacks] = error_index.max(initial=0) + 1 + product_index.ravel()[lacks]
            error_indices.append(n_errors + np.unique(error_index, return_inverse=True)[1])
            n_errors = int(error_indices[-1].max()) + 1
        n_occasions = max(1, -(-_OCCASIONS // n_classes))
        shift = spawn_generators(random_seed, 2)[1].random(n_errors)
        points = qmc.Sobol(n_errors, scramble=False).random_base2(
            (n_classes * n_occasions - 1).bit_length()
        )[: n_classes * n_occasions]
        normal = ndtri(np.clip((points + shift) % 1.0, 1e-12, 1.0 - 1e-12))
        errors = np.zeros((n_classes * n_occasions, len(cells)))
        for error_index in error_indices:
            errors += normal[:, error_index]
        return (errors * (np.pi / np.sqrt(6.0 * max(len(real_attributes), 1)))).reshape(
            n_classes, n_occasions, -1
        )

    def _iterate_tastes(
        self, weights: np.ndarray | None, rows: int, random_seed: Any
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of draws: their tastes, and class weights (draws, K)."""
        if weights is None and self.population is not None:
            rng = spawn_generators(random_seed, 1)[0]
            for draws in iterate_slices(len(self.tastes), _N_NEWCOMERS * rows):
                # the same new respondents in every draw
                tastes, weight = self.population(self._draws[draws], deepcopy(rng))
                yield draws, tastes, np.broadcast_to(weight, tastes.shape[:2])
            return
        if weights is None:
            weights = np.ones(len(self.data.respondents))
        weight = self._compute_class_weights(compute_shares(weights))
        for draws in iterate_slices(len(self.tastes), self.tastes.shape[1] * rows):
            yield draws, self.tastes[draws], weight[draws]

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        """Yield expected utilities of products by blocks of draws, (draws, people, products)."""
        matrix = self.coding.encode_cells(products)
        for draws in iterate_slices(len(self.tastes), len(self.data.respondents) * len(matrix)):
            utility = self.tastes[draws] @ matrix.T
            if self.membership is None or not self.has_individuals:
                yield utility
                continue
            mixed = np.einsum("nk,dkj->dnj", self.membership, utility)
            if self.respondent_classes is not None:
                classes = self.respondent_classes[draws].astype(np.int64)[:, :, None]
                drawn_utility = np.take_along_axis(utility, classes, axis=1)
                if draws.start == 0:  # the estimate
                    drawn_utility[0] = mixed[0]
                mixed = drawn_utility
            yield mixed

    def _stack_tastes(self, tastes: np.ndarray) -> np.ndarray:
        """Reshape tastes (..., p) to (n_draws * n_classes, p)."""
        return tastes.reshape(-1, len(self.coding.names))

    def expected_utilities(self, products: np.ndarray) -> np.ndarray:
        """Return utilities averaged over draws, shape (respondents, products)."""
        if self.is_estimate:
            return super().expected_utilities(products)
        return self.tastes.mean(axis=0) @ self.coding.encode_cells(products).T

    def effects(
        self, pairs: Sequence[tuple[int, int, int]], cores: int | None, random_seed: Any
    ) -> LevelEffects:
        """Return the probability that the last level of each pair is preferred to the first."""
        people, (n_draws, n_classes) = len(self.data.respondents), self.tastes.shape[:2]
        mean = self._compute_class_weights(np.full(people, 1.0 / people))
        differences_by_pair = list(iterate_level_differences(self.coding, self.data, pairs))
        rows = np.concatenate([differences for differences, _ in differences_by_pair])
        weight = np.concatenate([weights for _, weights in differences_by_pair])[:, None]
        first_row = np.cumsum([0, *(len(weights) for _, weights in differences_by_pair[:-1])])
        by_class, by_draw = np.zeros((len(pairs), n_classes)), np.empty((n_draws, len(pairs)))
        for draws in iterate_slices(n_draws, n_classes * len(rows)):
            tastes = self.tastes[draws]
            odds = rows @ self._stack_tastes(tastes).T  # one matrix for all pairs
            with np.errstate(over="ignore"):
                # odds against; takes a fifth of the time of SciPy's expit
                np.exp(np.negative(odds, out=odds), out=odds)
            preferred = weight / (1.0 + odds)
            by_pair = np.add.reduceat(preferred, first_row, axis=0).reshape(
                len(pairs), len(tastes), n_classes
            )
            by_draw[draws] = np.einsum("qdk,dk->dq", by_pair, mean[draws])
            if not self.is_estimate:
                by_class += by_pair.sum(axis=1) / n_draws
            elif draws.start == 0:
                by_class = by_pair[:, 0]
        by_respondent = by_class.T
        if self.membership is not None:
            by_respondent = self.membership @ by_respondent
        return LevelEffects(by_respondent, by_draw, self.chain)

    def importance(self, cores: int | None, random_seed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of choices that each attribute decides, by respondent, and errors."""
        fewer = self.thin(
            max(_MIN_DRAWS, min(_IMPORTANCE_DRAWS, _PEOPLE_DRAWS // len(self.data.respondents)))
        )
        chains = np.unique(fewer.chain)
        pooled, by_group = [], []  # groups are the draws of an estimate, otherwise chains
        tasks = np.zeros(len(self.data.respondents))
        for person in range(len(tasks)):
            rows, first_row = select_tasks(self.data, person)
            p = fewer._compute_equalised_probabilities(
                person, rows, first_row
            )  # (draws, 1 + attributes, rows)
            tasks[person] = len(first_row) - 1
            pooled.append(choice_change(point_estimate(self, p), first_row))
            if not self.is_estimate:
                p = np.stack([p[fewer.chain == c].mean(axis=0) for c in chains])
            by_group.append(choice_change(p, first_row))
        # (groups, attributes)
        by_group_mean = np.tensordot(compute_shares(tasks), by_group, axes=1)
        if self.is_estimate:
            return np.array(pooled), by_group_mean[1:].std(axis=0, ddof=1)
        return np.array(pooled), standard_error(by_group_mean.T)

    def _compute_equalised_probabilities(
        self, person: int, rows: np.ndarray, first_row: np.ndarray
    ) -> np.ndarray:
        """Return choice probabilities as shown, and with each attribute made equal."""
        # Shape (draws, 1 + attributes, rows).
        observed = self.coding.convert_codes(self.data.products)[rows]
        variants = [observed]
        weights: list[list[tuple[int, float]]] = [[(0, 1.0)]]
        for attribute in range(observed.shape[1]):
            equalised = self._equalise_attribute(attribute, observed)
            weights.append([(len(variants) + k, weight) for k, (_, weight) in enumerate(equalised)])
            variants += [products for products, _ in equalised]
        matrix = self.coding.encode_cells(np.concatenate(variants))
        tastes, mix = self._get_person_tastes(person)
        # sums are fast if draws are the last axis
        u = (matrix @ self._stack_tastes(tastes).T).reshape(len(variants), len(rows), -1)
        p = np.concatenate([softmax(u[:, a:b], axis=1) for a, b in pairwise(first_row)], axis=1)
        if mix.shape[1] > 1:
            p = np.einsum("vrdk,dk->vrd", p.reshape(*p.shape[:2], *mix.shape), mix)
        summed = np.stack(
            [sum(weight * p[k] for k, weight in variant_weights) for variant_weights in weights]
        )
        return np.moveaxis(summed, -1, 0)

    def _equalise_attribute(
        self, attribute: int, observed: np.ndarray
    ) -> list[tuple[np.ndarray, float]]:
        """Return the alternatives with one level of an attribute for all, with weights."""
        # The weight is the frequency of the level in the data.
        # Alternatives that lack the attribute continue to lack it, so no level is a reference.
        # Alternatives are equal in "inside" if the no-choice option is replaced by a product, by
        # some products of the data in turn.
        if self.data.scheme.has_inside and attribute == 0:
            is_no_choice, substitutes = observed[:, :1] == 0, self._select_products(_MAX_EXAMPLES)
            weight = 1.0 / len(substitutes)
            return [(np.where(is_no_choice, product, observed), weight) for product in substitutes]
        cells = self.coding.convert_codes(self.data.products)[self.data.row_product, attribute]
        missing = np.isnan(cells)
        levels, counts = np.unique(cells[~missing], return_counts=True)
        if not (self.coding.crossed or missing.any()):  # any level gives the same choices
            levels, counts = levels[:1], counts[:1]
        elif self.data.attributes[attribute] in self.data.scheme.measured:
            levels = np.quantile(cells[~missing], (np.arange(_MAX_EXAMPLES) + 0.5) / _MAX_EXAMPLES)
            counts = np.ones(_MAX_EXAMPLES)
        equalised = []
        for level, share in zip(levels, compute_shares(counts), strict=True):
            changed = observed.copy()
            changed[~np.isnan(observed[:, attribute]), attribute] = level
            equalised.append((changed, float(share)))
        return equalised

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
        chains = len(np.unique(chain))
        return compute_mean_errors(np.moveaxis(draws.reshape(chains, -1, draws.shape[1]), 2, 0))


def iterate_level_differences(
    coding: "Coding", data: "ChoiceExperiment", pairs: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield differences in model-matrix columns between two levels, and weights.

    Other attributes have the values of the data's products. Without interactions the differences
    are equal; with them there are up to one per product, and near ones are merged.
    """
    products, counts = coding.convert_codes(data.products), np.bincount(data.row_product)
    for attribute, *levels in pairs:
        is_inside = data.scheme.has_inside and attribute == 0
        has_attribute = ~np.isnan(products[:, attribute])
        if is_inside:
            has_attribute = products[:, 0] == 1
        matrices = []
        for level in levels:
            cells = products[has_attribute]
            cells[:, attribute] = level
            if (level_numbers := coding.parts[attribute].numbers) is not None:
                cells[:, attribute] = level_numbers[level]
            if is_inside and level == 0:  # the no-choice option lacks all else
                cells[:, 1:] = np.nan
            matrices.append(coding.encode_cells(cells))
        rows, group = np.unique(matrices[1] - matrices[0], axis=0, return_inverse=True)
        weight = np.bincount(group.ravel(), counts[has_attribute])
        if len(rows) > _MAX_DIFFERENCES:
            rows, weight = merge_neighbours(rows, weight, _MAX_DIFFERENCES)
        yield rows, compute_shares(weight)


def merge_neighbours(
    rows: np.ndarray, weight: np.ndarray, max_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge similar rows into about `max_rows` weighted means; return means, weights.

    Rows are halved repeatedly at the middle of the column with the largest range.
    """
    scaled = rows / np.where((spread := rows.std(axis=0)) > 0.0, spread, 1.0)
    parts = [np.arange(len(rows))]
    while 2 * len(parts) <= max_rows:
        halves = []
        for part in parts:
            widest = np.ptp(scaled[part], axis=0).argmax()
            halves += np.array_split(part[np.argsort(scaled[part, widest], kind="stable")], 2)
        parts = [half for half in halves if len(half)]
    part_weights = np.array([weight[part].sum() for part in parts])
    means = np.array([weight[part] @ rows[part] for part in parts]) / part_weights[:, None]
    return means, part_weights


def _split_wins(utility: np.ndarray) -> np.ndarray:
    """Return 1 for the largest utility of each column, 1/m for m ties, else 0."""
    best = utility == utility.max(axis=0)
    return best / best.sum(axis=0)


# Reports on markets that every logit has ----------------------------------------------------------


class LogitReports(MarketAnswers):
    """Reports that all logit models share; subclasses define `_build_chooser` and `_check_fit`."""

    _check_fit: Any  # (data) -> anything: checks the data before the fit

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


MIN_DRAWS, MAX_DRAWS = 40, 500
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
    fewer = chooser.thin(int(np.clip(MAX_TASTES // size_per_draw, MIN_DRAWS, MAX_DRAWS)))
    tastes, draws, classes = fewer.tastes, len(fewer.tastes), None
    n_respondents, respondent_phrase = n_classes, ""
    if chooser.membership is None:
        people = max(1, min(n_classes, MAX_TASTES // (draws * p)))
        respondent_phrase = f", {describe_draw_respondents(people, n_classes)}"
        if people < n_classes:
            tastes = np.take_along_axis(
                tastes, assign_respondents(draws, people, n_classes)[:, :, None], axis=1
            )
    elif chooser.has_individuals:
        assert fewer.respondent_classes is not None
        n_respondents = len(data.respondents)
        classes = RespondentClasses(
            chooser.membership.astype(np.float32), fewer.respondent_classes[1:]
        )
    source = "the posterior"
    if chooser.is_estimate:
        source = "the sampling distribution of the estimate"
    parts, shown_levels = [], {}
    for (attribute, levels), part, is_shown in zip(
        data.levels.items(), chooser.coding.parts, chooser.coding.seen, strict=True
    ):
        parts.append(part._replace(table=part.table[np.append(is_shown[:-1], True)]))
        shown_levels[attribute] = tuple(compress(levels, is_shown[:-1]))
    return MarketDraws(
        build_market_attributes(data, shown_levels, [part.numbers is not None for part in parts]),
        round_tastes(parts, tastes, chooser.coding.crossed, n_respondents, classes),
        0.0,
        build_no_choice_product(data),
        _list_first_products(chooser),
        f"{format_plural(draws - chooser.is_estimate, 'draw')} of {source}{respondent_phrase}",
        chooser.is_estimate,
        _build_market_people(chooser),
    )


def _build_market_people(chooser: "LogitChooser") -> MarketRespondents | None:
    """Return respondents' columns and classes for the simulator; None if tastes are equal."""
    if not chooser.has_individuals:
        return None
    classes: tuple[str, ...] = ()
    if chooser.membership is not None:
        classes = tuple(f"class {k + 1}" for k in range(chooser.membership.shape[1]))
    return describe_respondents(chooser.people, len(chooser.data.respondents), classes)


def _list_first_products(chooser: "LogitChooser") -> tuple[Product, ...]:
    """Return the products of the first task, without the no-choice option."""
    parts, shown = chooser.coding.parts, chooser.coding.seen
    return tuple(
        tuple(map(_convert_code, product, parts, shown))
        for product in list_first_products(chooser.data)
    )


def _convert_code(code: float | None, part: AttributeCoding, is_shown: np.ndarray) -> float | None:
    """Return a level code as a number, or as its index among shown levels; keep None."""
    if code is None:
        return None
    if part.numbers is not None:
        return float(part.numbers[int(code)])
    return int(is_shown[: int(code)].sum())


# The rule of logits: tastes in each draw, and columns of products ---------------------------------


_MAX_CODE = 32_767


class RespondentClasses(NamedTuple):
    """Each respondent's class probabilities (first draw) and one class per further draw."""

    membership: np.ndarray  # (respondents, K) float32
    by_draw: np.ndarray  # (D - 1, respondents)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Return weights of classes (D, K), given weights of respondents (D, respondents)."""
        classes = range(self.membership.shape[1])
        by_draw = np.stack(
            [np.einsum("dn,dn->d", self.by_draw == k, weights[1:]) for k in classes], axis=1
        )
        return np.vstack([weights[0] @ self.membership.astype(float), by_draw])


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
        tastes, weight = self.codes * self.steps, self._compute_shares(weights)[:, None]
        return [
            (weight @ self._choice_probabilities(tastes @ self.encode_market(market).T, market))[
                :, 0
            ]
            for market in markets
        ]

    def _choice_probabilities(self, utility: np.ndarray, market: Sequence[Product]) -> np.ndarray:
        """Return probabilities from utilities: softmax, or 1 for the best product."""
        if self.takes_first:
            return np.moveaxis(_split_wins(np.moveaxis(utility, -1, 0)), 0, -1)
        if self.constants is not None:
            constants = np.hstack([self.constants, np.zeros((len(self.constants), 1))])
            numbers = [product[-1] for product in market]
            numbers = [-1 if number is None else int(number) for number in numbers]
            utility = utility + constants[:, None, numbers]
        return softmax(utility)

    def _compute_shares(self, weights: np.ndarray | None) -> np.ndarray:
        """Return the weight of each of the P respondents or classes by draw, (D, P)."""
        # NaN in a draw without respondents of positive weight.
        draws, people = self.codes.shape[:2]
        shares = hash_exponentials(draws, self.respondents)
        shares[: self.respondent_classes is not None] = 1.0  # the estimate
        if weights is not None:
            shares *= weights
        if self.respondent_classes is None:
            respondents = assign_respondents(draws, people, self.respondents)
            shares = np.take_along_axis(shares, respondents, axis=1)
        else:
            shares = self.respondent_classes.weights(shares)
        with np.errstate(invalid="ignore"):
            return compute_shares(shares)

    def encode_market(self, market: Sequence[Product]) -> np.ndarray:
        """Return the model matrix of the products, shape (products, p)."""
        return encode_attribute_cells(self.parts, self.crossed, np.array(market, float))

    def pack(self) -> dict[str, Any]:
        """Return the tastes and the choice rule as values for JSON."""
        membership = kinds = constants = None
        if self.respondent_classes is not None:
            membership = encode_base64(self.respondent_classes.membership)
            kinds = encode_base64(shrink_integers(self.respondent_classes.by_draw))
        if self.constants is not None:
            constants = encode_base64(self.constants.astype(np.float32))
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "respondents": self.respondents,
            "membership": membership,
            "kinds": kinds,
            "columns": [
                {
                    "table": part.table.tolist(),
                    "is_number": part.numbers is not None,
                    "knots": part.knots,
                }
                for part in self.parts
            ],
            "crossed": self.crossed,
            "codes": encode_base64(self.codes),
            "steps": self.steps.tolist(),
            "constants": constants,
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
    largest = np.abs(tastes).max(axis=(0, 1))
    steps = replace_zeros(largest) / _MAX_CODE
    codes = np.rint(tastes / steps).astype(np.int16)
    return LogitTastes(
        tuple(parts),
        codes,
        steps,
        tuple(crossed),
        respondents or tastes.shape[1],
        respondent_classes,
    )
