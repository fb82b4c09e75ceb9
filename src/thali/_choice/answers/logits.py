"""What every logit answers, by people whose tastes are known draw by draw: their choices, and their
markets."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.experiments.scheme import INSIDE
from thali._inference.arrays import encode_base64, shrink_integers
from thali._inference.seeds import spawn_generators
from thali._labels import plural
from thali._model.engine import PreparedFit
from thali._model.requirements import mark_as_setup
from thali._people.respondent_columns import MarketRespondents, describe_respondents

from .chooser import (
    AS_FITTED,
    LOGIT,
    RANDOMISED,
    ChoiceRule,
    Chooser,
    LevelEffects,
    between_chain_error,
    select_draws,
    softmax,
)
from .effects import choice_change, select_products, select_tasks
from .methods import MarketAnswers
from .simulator import (
    MAX_PRODUCTS,
    MarketDraws,
    Product,
    attributes_of,
    hash_exponentials,
    held,
    none_of,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment

    from ..coding import Coding

_BLOCK = 2**21  # utilities computed at a time
_NEW = 1_024  # about so many new people are drawn in each draw
_OCCASIONS = 2**14  # of all people together, on which errors of products are drawn
_MAX_EXAMPLES = 16  # products over which utilities with interactions are averaged
_MAX_DIFFERENCES = 256  # between two levels, as products have them, over which choices are averaged
# draws, and people in all draws, for importance
_MIN_DRAWS, _IMPORTANCE_DRAWS, _PEOPLE_DRAWS = 40, 400, 400_000
_STEP = 1e-4  # of the delta method, in standard errors

# (numbers of draws, generator): tastes of new people in these draws (draws, M, p); weights (M,) or
# (draws, M), sum 1
Population = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]


class LogitChooser(Chooser):
    r"""People of K kinds, whose tastes are known in each of D draws.

    .. math::

        P_d(j \mid X) = \sum_k m_k \frac{e^{x_j^T \beta_{dk}}}{\sum_{j' \in X} e^{x_{j'}^T
        \beta_{dk}}}
    """

    coding: "Coding"
    data: "ChoiceExperiment"
    tastes: np.ndarray
    chain: np.ndarray
    membership: np.ndarray | None
    population: Population | None
    covariance: np.ndarray | None
    directions: np.ndarray
    is_estimate: bool
    has_individuals: bool

    def __init__(
        self,
        coding: "Coding",
        data: "ChoiceExperiment",
        tastes: np.ndarray,  # (D, K, p)
        chain: np.ndarray,  # (D,) from which each draw comes; those of a chain follow each other
        # (respondents, K), rows sum to 1; None: kinds are respondents
        membership: np.ndarray | None = None,
        population: Population | None = None,  # None: as the respondents are
        # (K p, K p) of the estimate, the first draw; None: of a posterior
        covariance: np.ndarray | None = None,
        # (D, respondents) of an estimate, but for the first draw; None: membership
        kinds: np.ndarray | None = None,
        # (attributes,) which order of levels each was made to keep
        directions: np.ndarray | None = None,
    ) -> None:
        self.coding, self.data, self.tastes, self.chain = coding, data, tastes, chain
        self.membership, self.population, self.covariance = membership, population, covariance
        self.kinds = kinds
        self.is_estimate = covariance is not None
        self.people: pandas.DataFrame | None = data.people
        self.directions = (
            np.zeros(len(data.attributes), np.int64) if directions is None else directions
        )
        self.has_individuals = membership is None or membership.shape[1] > 1
        self._draws = np.arange(len(tastes))  # their numbers among all that the model has

    def cells(self, table: "pandas.DataFrame") -> np.ndarray:
        from ..coding import read_task_cells

        return read_task_cells(self.coding, self.data.scheme, table, self.data.respondents)[0]

    def level_cells(self) -> list[np.ndarray]:
        found = []
        for name, part, seen in zip(
            self.data.levels, self.coding.parts, self.coding.seen, strict=True
        ):
            own = np.arange(len(seen) - 1, dtype=float) if part.numbers is None else part.numbers
            cells = np.full(len(own), np.nan)
            known = self.data.scheme.compared(name, np.flatnonzero(seen[:-1]))
            cells[known] = own[known]
            found.append(cells)
        return found

    def sample_products(self) -> np.ndarray:
        return self._products(_MAX_EXAMPLES if self.coding.crossed else 1)

    def _products(self, most: int) -> np.ndarray:
        """Some products of the data, with a level of every attribute."""
        return select_products(
            self.data, self.coding.convert_codes(self.data.products)[self.data.row_product], most
        )

    def is_linear(self, attribute: int) -> bool:
        part = self.coding.parts[attribute]
        return part.numbers is not None and not part.knots

    def is_number(self, attribute: int) -> bool:
        return self.coding.parts[attribute].numbers is not None

    def slope_changes(self, attribute: int) -> np.ndarray:
        return np.array(self.coding.parts[attribute].knots, float)

    def delta_covariance(self, figures: Callable[[Self], np.ndarray]) -> np.ndarray:
        assert self.covariance is not None
        tastes = self.tastes[0].ravel()
        errors = np.sqrt(np.diag(self.covariance))
        steps = _STEP * np.where(errors > 0.0, errors, 1.0)
        moved = np.concatenate([tastes + np.diag(steps), tastes - np.diag(steps)])
        up, down = np.split(figures(self._with(moved.reshape(-1, *self.tastes.shape[1:]))), 2)
        with np.errstate(invalid="ignore"):  # infinite figures
            slopes = np.moveaxis((up - down), 0, -1) / (2.0 * steps)
            return np.einsum("...ai,ij,...bj->...ab", slopes, self.covariance, slopes)

    def thin(self, most: int) -> Self:
        kept = select_draws(self.chain, most)
        if self.is_estimate:
            kept = np.unique(np.append(0, kept))
        if len(kept) == len(self.chain):
            return self
        found = self._with(self.tastes[kept])
        found.chain, found._draws = self.chain[kept], self._draws[kept]
        found.attends = None if self.attends is None else self.attends[kept]
        found.kinds = None if self.kinds is None else self.kinds[kept]
        return found

    def _with(self, tastes: np.ndarray) -> Self:
        """The same people with other tastes."""
        found = copy(self)
        vars(found).pop("_cache", None)
        found.tastes, found.kinds = tastes, None
        return found

    def _weights_of_kinds(self, weights: np.ndarray) -> np.ndarray:
        """The weight of each kind in each draw (draws, kinds), of weights (..., respondents) that
        sum to 1."""
        if self.membership is None:
            return np.broadcast_to(weights, self.tastes.shape[:2])
        if self.kinds is None:
            return np.broadcast_to(weights @ self.membership, self.tastes.shape[:2])
        return RespondentClasses(self.membership, self.kinds[1:]).weights(
            np.broadcast_to(weights, self.kinds.shape)
        )

    def shares(
        self,
        markets: Sequence[np.ndarray],
        weights: np.ndarray | None,
        cores: int | None,
        random_seed: Any,
        rule: ChoiceRule = AS_FITTED,
    ) -> list[np.ndarray]:
        cells = np.concatenate(markets)
        matrix = rule.scale * self.coding.encode_cells(cells)
        ends = np.cumsum([0, *(len(market) for market in markets)])
        found = np.empty((len(self.tastes), len(matrix)))
        kinds = self.tastes.shape[1] if weights is not None or self.population is None else _NEW
        several = rule.name == RANDOMISED
        errors = (
            self._errors_of_products(cells, kinds, random_seed)
            if several
            else np.zeros((1, 1, len(cells)))
        )
        for draws, tastes, weight in self._tastes_by(
            weights, len(matrix) * errors.shape[1], random_seed
        ):
            utility = (matrix @ self._slopes(tastes).T).reshape(len(matrix), *tastes.shape[:2])
            for place, (first, last) in enumerate(pairwise(ends)):
                own = utility[first:last]
                if rule.constants:
                    own = own + rule.constants[place][draws].T[:, :, None]
                if rule.name == LOGIT:
                    p = softmax(own, axis=0)
                else:
                    of_people = _of_people(errors, own.shape[2])[:, :, first:last].transpose(
                        2, 0, 1
                    )
                    p = _best(own[..., None] + of_people[:, None]).mean(axis=-1)
                found[draws, first:last] = np.einsum("jdk,dk->dj", p, weight)
        return np.split(found, ends[1:-1], axis=1)

    def _errors_of_products(self, cells: np.ndarray, kinds: int, random_seed: Any) -> np.ndarray:
        """Normal errors (kinds, occasions, products) of variance π²/6: sums of those of the levels
        of each product."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        named = [k for k, name in enumerate(self.data.attributes) if name != INSIDE]
        _, same = np.unique(np.nan_to_num(cells, nan=-np.inf), axis=0, return_inverse=True)
        places, number = [], 0
        for attribute in named:
            own = cells[:, attribute]
            _, place = np.unique(own, return_inverse=True)
            lacks = np.isnan(own)
            # shared with the same product alone
            place[lacks] = place.max(initial=0) + 1 + same.ravel()[lacks]
            places.append(number + np.unique(place, return_inverse=True)[1])
            number = int(places[-1].max()) + 1
        each = max(1, -(-_OCCASIONS // kinds))
        shift = spawn_generators(random_seed, 2)[1].random(number)
        points = qmc.Sobol(number, scramble=False).random_base2((kinds * each - 1).bit_length())[
            : kinds * each
        ]
        normal = ndtri(np.clip((points + shift) % 1.0, 1e-12, 1.0 - 1e-12))
        found = np.zeros((kinds * each, len(cells)))
        for place in places:
            found += normal[:, place]
        return (found * (np.pi / np.sqrt(6.0 * max(len(named), 1)))).reshape(kinds, each, -1)

    def _tastes_by(
        self, weights: np.ndarray | None, rows: int, random_seed: Any
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Some draws at a time, the tastes of kinds of people in them, and the weights of the kinds
        (draws, kinds)."""
        if weights is None and self.population is not None:
            rng = spawn_generators(random_seed, 1)[0]
            for draws in _blocks(len(self.tastes), _NEW * rows):
                # the same people in every draw
                tastes, weight = self.population(self._draws[draws], deepcopy(rng))
                yield draws, tastes, np.broadcast_to(weight, tastes.shape[:2])
            return
        of_people = np.ones(len(self.data.respondents)) if weights is None else weights
        weight = self._weights_of_kinds(of_people / of_people.sum(axis=-1, keepdims=True))
        for draws in _blocks(len(self.tastes), self.tastes.shape[1] * rows):
            yield draws, self.tastes[draws], weight[draws]

    def utilities(self, products: np.ndarray) -> Iterator[np.ndarray]:
        matrix = self.coding.encode_cells(products)
        people = self.tastes.shape[1] if self.membership is None else len(self.membership)
        for draws in _blocks(len(self.tastes), people * len(matrix)):
            utility = self.tastes[draws] @ matrix.T
            if self.membership is None or not self.has_individuals:
                yield utility
                continue
            mixed = np.einsum("nk,dkj->dnj", self.membership, utility)
            if self.kinds is not None:
                later = slice(1 if draws.start == 0 else 0, None)
                own = self.kinds[draws][later].astype(np.int64)
                mixed[later] = np.take_along_axis(utility[later], own[:, :, None], axis=1)
            yield mixed

    def _slopes(self, tastes: np.ndarray) -> np.ndarray:
        """The tastes (..., p) of draws and people, one below the other."""
        return tastes.reshape(-1, len(self.coding.names))

    def expected_utilities(self, products: np.ndarray) -> np.ndarray:
        if self.is_estimate:
            return super().expected_utilities(products)
        return self.tastes.mean(axis=0) @ self.coding.encode_cells(products).T

    def effects(
        self, pairs: Sequence[tuple[int, int, int]], cores: int | None, random_seed: Any
    ) -> LevelEffects:
        people, (number, kinds) = len(self.data.respondents), self.tastes.shape[:2]
        mean = self._weights_of_kinds(np.full(people, 1.0 / people))
        found = list(level_differences(self.coding, self.data, pairs))
        rows = np.concatenate([differences for differences, _ in found])
        weight = np.concatenate([own for _, own in found])[:, None]
        first = np.cumsum([0, *(len(own) for _, own in found[:-1])])
        whole, of_draws = np.zeros((len(pairs), kinds)), np.empty((number, len(pairs)))
        for draws in _blocks(number, kinds * len(rows)):
            tastes = self.tastes[draws]
            odds = rows @ self._slopes(tastes).T  # one matrix for all pairs
            with np.errstate(over="ignore"):
                # against it; a fifth of the time of SciPy's expit
                np.exp(np.negative(odds, out=odds), out=odds)
            preferred = weight / (1.0 + odds)
            by_pair = np.add.reduceat(preferred, first, axis=0).reshape(
                len(pairs), len(tastes), kinds
            )
            of_draws[draws] = np.einsum("qdk,dk->dq", by_pair, mean[draws])
            if not self.is_estimate:
                whole += by_pair.sum(axis=1) / number
            elif draws.start == 0:
                whole = by_pair[:, 0]
        return LevelEffects(
            whole.T if self.membership is None else self.membership @ whole.T, of_draws, self.chain
        )

    def importance(self, cores: int | None, random_seed: Any) -> tuple[np.ndarray, np.ndarray]:
        fewer = self.thin(
            max(_MIN_DRAWS, min(_IMPORTANCE_DRAWS, _PEOPLE_DRAWS // len(self.data.respondents)))
        )
        groups = (
            np.arange(len(fewer.chain))
            if self.is_estimate
            else np.unique(fewer.chain, return_inverse=True)[1]
        )
        people, attributes = len(self.data.respondents), len(self.data.attributes)
        pooled, by_group = (
            np.zeros((people, attributes)),
            np.zeros((people, attributes, int(groups.max()) + 1)),
        )
        tasks = np.zeros(people)
        for person in range(people):
            rows, first_row = select_tasks(self.data, person)
            p = fewer._with_and_without(person, rows, first_row)  # (draws, 1 + attributes, rows)
            tasks[person] = len(first_row) - 1
            pooled[person] = choice_change(p[0] if self.is_estimate else p.mean(axis=0), first_row)
            if self.is_estimate:
                by_group[person] = choice_change(p, first_row).T
            else:
                by_group[person] = np.stack(
                    [
                        choice_change(p[groups == g].mean(axis=0), first_row)
                        for g in range(by_group.shape[2])
                    ],
                    axis=1,
                )
        of_groups = np.tensordot(tasks / tasks.sum(), by_group, axes=1)  # (attributes, groups)
        if self.is_estimate:
            return pooled, of_groups[:, 1:].std(axis=1, ddof=1)
        return pooled, between_chain_error(of_groups.T, np.arange(of_groups.shape[1]))

    def _with_and_without(self, person: int, rows: np.ndarray, first_row: np.ndarray) -> np.ndarray:
        """A person's choices, and those with each attribute alike everywhere, shape (draws, 1 +
        attributes, rows)."""
        own = self.coding.convert_codes(self.data.products)[rows]
        every = [own]
        weights: list[list[tuple[int, float]]] = [[(0, 1.0)]]
        for attribute in range(own.shape[1]):
            alike = self._alike_in(attribute, own)
            weights.append([(len(every) + k, weight) for k, (_, weight) in enumerate(alike)])
            every += [products for products, _ in alike]
        matrix = self.coding.encode_cells(np.concatenate(every))
        tastes, mix = self._tastes_of(person)
        # draws last, whose sums are quick
        u = (matrix @ self._slopes(tastes).T).reshape(len(every), len(rows), -1)
        p = np.concatenate([softmax(u[:, a:b], axis=1) for a, b in pairwise(first_row)], axis=1)
        if mix.shape[1] > 1:
            p = np.einsum("vrdk,dk->vrd", p.reshape(*p.shape[:2], *mix.shape), mix)
        summed = np.stack([sum(weight * p[k] for k, weight in each) for each in weights])
        return np.moveaxis(summed, -1, 0)

    def _alike_in(self, attribute: int, own: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Alternatives that all have one level of an attribute, and how often: as often as the data
        have that level."""
        # Those that lack the attribute go on to lack it, so that levels count from no level in
        # particular. They are alike in "inside" if the no-choice option is a product, each of some
        # of the data in turn.
        if self.data.scheme.has_inside and attribute == 0:
            nothing, some = own[:, :1] == 0, self._products(_MAX_EXAMPLES)
            return [(np.where(nothing, product, own), 1.0 / len(some)) for product in some]
        cells = self.coding.convert_codes(self.data.products)[self.data.row_product, attribute]
        missing = np.isnan(cells)
        levels, counts = np.unique(cells[~missing], return_counts=True)
        if not (self.coding.crossed or missing.any()):  # nothing depends on which level it is
            levels, counts = levels[:1], counts[:1]
        elif self.data.attributes[attribute] in self.data.scheme.measured:
            levels = np.quantile(cells[~missing], (np.arange(_MAX_EXAMPLES) + 0.5) / _MAX_EXAMPLES)
            counts = np.ones(_MAX_EXAMPLES)
        found = []
        for level, share in zip(levels, counts / counts.sum(), strict=True):
            same = own.copy()
            same[~np.isnan(own[:, attribute]), attribute] = level
            found.append((same, float(share)))
        return found

    def _tastes_of(self, person: int) -> tuple[np.ndarray, np.ndarray]:
        """Tastes (draws, kinds, p) of the kinds that a person may be of, and how far (draws, kinds)
        the person is."""
        if self.membership is None:
            return self.tastes[:, person : person + 1], np.ones((len(self.tastes), 1))
        return self.tastes, self._weights_of_kinds(np.eye(1, len(self.membership), person)[0])

    def errors(self, values: np.ndarray, chain: np.ndarray) -> np.ndarray:
        from thali._posterior.summary import mean_errors

        if self.is_estimate:
            return values[1:].std(axis=0, ddof=1)
        chains = len(np.unique(chain))
        return mean_errors(np.moveaxis(values.reshape(chains, -1, values.shape[1]), 2, 0))


def level_differences(
    coding: "Coding", data: "ChoiceExperiment", pairs: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each pair the columns of the one less those of the other, all else as in the data, and
    weights.

    Where attributes interact these are others in other products: beside numbers that no two
    products share, as many as there are products. Of many, those that are near to each other become
    one.
    """
    products, counts = coding.convert_codes(data.products), np.bincount(data.row_product)
    numbers = [part.numbers for part in coding.parts]
    for attribute, *levels in pairs:
        own = numbers[attribute]
        first, second = (float(level) if own is None else own[level] for level in levels)
        inside = data.scheme.has_inside and attribute == 0
        there = products[:, 0] == 1 if inside else ~np.isnan(products[:, attribute])
        one, two = products[there], products[there]
        one[:, attribute], two[:, attribute] = second, first
        if inside:  # the no-choice option lacks all else
            (one if levels[1] == 0 else two)[:, 1:] = np.nan
        rows, place = np.unique(
            coding.encode_cells(one) - coding.encode_cells(two), axis=0, return_inverse=True
        )
        weight = np.bincount(place.ravel(), counts[there])
        if len(rows) > _MAX_DIFFERENCES:
            rows, weight = means_of_neighbours(rows, weight, _MAX_DIFFERENCES)
        yield rows, weight / weight.sum()


def means_of_neighbours(
    rows: np.ndarray, weight: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means of rows that are near to each other, about so many, and their weights.

    Rows are halved, each half is, and so on, at the middle of the column in which they are furthest
    apart.
    """
    scaled = rows / np.where((spread := rows.std(axis=0)) > 0.0, spread, 1.0)
    parts = [np.arange(len(rows))]
    while 2 * len(parts) <= most:
        halves = []
        for part in parts:
            widest = np.ptp(scaled[part], axis=0).argmax()
            halves += np.array_split(part[np.argsort(scaled[part, widest], kind="stable")], 2)
        parts = [half for half in halves if len(half)]
    of_parts = np.array([weight[part].sum() for part in parts])
    means = np.array([weight[part] @ rows[part] for part in parts]) / of_parts[:, None]
    return means, of_parts


def _best(utility: np.ndarray) -> np.ndarray:
    """1 for the largest utility over the first axis, which ties share."""
    best = utility == utility.max(axis=0)
    return best / best.sum(axis=0)


def _of_people(errors: np.ndarray, kinds: int) -> np.ndarray:
    """Errors of as many kinds of people."""
    return errors if len(errors) == 1 else errors[np.arange(kinds) % len(errors)]


def _blocks(draws: int, size: int) -> Iterator[slice]:
    """Ranges of draws with a bounded number of utilities, so many for each draw."""
    step = max(1, _BLOCK // max(size, 1))
    for first in range(0, draws, step):
        yield slice(first, min(first + step, draws))


# What every logit answers about markets, by its people and their tastes ---------------------------


class LogitAnswers(MarketAnswers):
    """The answers of a logit. A subclass has `_chooser`, and `_checked`."""

    _checked: Any  # (data): what it makes of them before the fit

    @mark_as_setup
    def prepare(self, data: Any, **settings: Any) -> PreparedFit:
        """A fit to these data, after every check of them that it makes; nothing is fitted."""
        self._checked(data)
        return PreparedFit()

    def _chooser(self) -> "LogitChooser":
        raise NotImplementedError

    def _get_market_draws(self) -> "MarketDraws":
        return market_draws(self._chooser())


# A fit of a logit as the draws of a market: some draws and people, and their tastes ---------------


MIN_DRAWS, MAX_DRAWS = 40, 500
# coefficients of all people in all draws: two bytes each; the kind of a person takes one
MAX_TASTES = 400_000


def market_draws(chooser: "LogitChooser") -> MarketDraws:
    """Evenly spaced draws with everybody, or, of many people, fewer draws with some people each."""
    data = chooser.data
    everybody, number, p = len(data.respondents), chooser.tastes.shape[1], len(chooser.coding.names)
    each = number * p + (0 if chooser.kinds is None else everybody // 2)
    fewer = chooser.thin(int(np.clip(MAX_TASTES // each, MIN_DRAWS, MAX_DRAWS)))
    tastes, draws, kinds = fewer.tastes, len(fewer.tastes), None
    some = ""
    if chooser.membership is None:
        some = ", each with all respondents"
        people = max(1, min(number, MAX_TASTES // (draws * p)))
        if people < number:
            tastes = np.take_along_axis(tastes, held(draws, people, number)[:, :, None], axis=1)
            some = (
                f", each with {people:,} of {number:,} respondents, so intervals are slightly"
                " too wide"
            )
    elif chooser.has_individuals:
        assert fewer.kinds is not None
        kinds = RespondentClasses(chooser.membership.astype(np.float32), fewer.kinds[1:])
    of = "the sampling distribution of the estimate" if chooser.is_estimate else "the posterior"
    columns = tuple(
        AttributeColumns(
            part.table[np.append(seen[:-1], True)], part.numbers is not None, part.knots
        )
        for part, seen in zip(chooser.coding.parts, chooser.coding.seen, strict=True)
    )
    known = {
        name: tuple(compress(levels, seen[:-1]))
        for (name, levels), seen in zip(data.levels.items(), chooser.coding.seen, strict=True)
    }
    return MarketDraws(
        attributes_of(data, known, [part.numbers is not None for part in chooser.coding.parts]),
        logit_tastes(
            columns, tastes, chooser.coding.crossed, number if kinds is None else everybody, kinds
        ),
        0.0,
        none_of(data),
        _first_task(chooser),
        f"{plural(draws - chooser.is_estimate, 'draw')} of {of}{some}",
        chooser.is_estimate,
        _people(chooser),
    )


def _people(chooser: "LogitChooser") -> MarketRespondents | None:
    """What is known of people who differ, and their kinds."""
    if not chooser.has_individuals:
        return None
    classes = 0 if chooser.membership is None else chooser.membership.shape[1]
    return describe_respondents(
        chooser.people,
        len(chooser.data.respondents),
        tuple(f"class {k + 1}" for k in range(classes)),
    )


def _first_task(chooser: "LogitChooser") -> tuple[Product, ...]:
    """The products of the first task, without the no-choice option."""
    data, none = chooser.data, none_of(chooser.data)
    found = []
    for row in data.products[data.row_product[: data.first_row[1]]].tolist():
        if tuple(None if code < 0 else code for code in row) == none:
            continue
        cells: list[float | None] = []
        for code, part, seen in zip(row, chooser.coding.parts, chooser.coding.seen, strict=True):
            if code < 0:
                cells.append(None)
            else:
                cells.append(
                    float(part.numbers[code])
                    if part.numbers is not None
                    else int(seen[:code].sum())
                )
        found.append(tuple(cells))
    return tuple(found[:MAX_PRODUCTS])


# The rule of logits: the tastes of people in each draw, and what columns a product has ------------


_LARGEST = 32_767


class AttributeColumns(NamedTuple):
    """The columns of the model matrix that stand for one attribute."""

    table: np.ndarray  # (levels + 1, columns) of each level; the last row: the attribute is missing
    # whether the first columns are the number itself, whatever it is, piece by piece
    is_number: bool
    knots: tuple[float, ...] = ()  # where a piece ends and the next begins


class RespondentClasses(NamedTuple):
    """Of which kind each respondent is: in the first draw, an estimate, by parts, in the others of
    one."""

    membership: np.ndarray  # (respondents, kinds) float32
    of_draws: np.ndarray  # (D - 1, respondents)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """The weights of the kinds (D, kinds) by those of the respondents (D, respondents)."""
        kinds = range(self.membership.shape[1])
        later = np.stack(
            [np.einsum("dn,dn->d", self.of_draws == kind, weights[1:]) for kind in kinds], axis=1
        )
        return np.vstack([weights[0] @ self.membership.astype(float), later])


class LogitTastes(NamedTuple):
    """Tastes of P people, or kinds of people, in D draws, as whole multiples of a step for each
    coefficient."""

    columns: tuple[AttributeColumns, ...]
    codes: np.ndarray  # (D, P, p) int16
    steps: np.ndarray  # (p,)
    crossed: tuple[tuple[int, int], ...]  # further columns: the products of two of those above
    respondents: int
    kinds: RespondentClasses | None = None  # None: each of the P is a respondent
    # (D, products told apart), which are added to utilities; None: there are none
    constants: np.ndarray | None = None
    takes_first: bool = False  # whether everybody takes the product of the highest utility

    def telling_apart(self, products: int) -> Self:
        """The same for products whose last cell is their number, of so many, or None."""
        return self._replace(
            columns=(*self.columns, AttributeColumns(np.zeros((products + 1, 0)), False))
        )

    def changed(self, scale: float, takes_first: bool, constants: np.ndarray | None = None) -> Self:
        """The same with another scale of utilities, rule and constants (D, products told apart)."""
        return self._replace(steps=self.steps * scale, takes_first=takes_first, constants=constants)

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without
        lapses."""
        tastes, weight = self.codes * self.steps, self._weights(weights)[:, None]
        return [
            (weight @ self._chosen(tastes @ self.matrix(market).T, market))[:, 0]
            for market in markets
        ]

    def _chosen(self, utility: np.ndarray, market: Sequence[Product]) -> np.ndarray:
        """The choices among the products of a market by their utilities, both (D, P, products)."""
        if self.takes_first:
            return np.moveaxis(_best(np.moveaxis(utility, -1, 0)), 0, -1)
        if self.constants is not None:
            known = np.hstack([self.constants, np.zeros((len(self.constants), 1))])
            utility = (
                utility
                + known[:, None, [-1 if own[-1] is None else int(own[-1]) for own in market]]
            )
        return softmax(utility)

    def _weights(self, weights: np.ndarray | None) -> np.ndarray:
        """The part of each of the P in each draw; NaN in a draw that holds nobody with a weight."""
        draws, people = self.codes.shape[:2]
        each = hash_exponentials(draws, self.respondents)
        each[: self.kinds is not None] = 1.0  # the estimate
        each *= 1.0 if weights is None else weights
        each = (
            np.take_along_axis(each, held(draws, people, self.respondents), axis=1)
            if self.kinds is None
            else self.kinds.weights(each)
        )
        with np.errstate(invalid="ignore"):
            return each / each.sum(axis=1, keepdims=True)

    def matrix(self, market: Sequence[Product]) -> np.ndarray:
        """The model matrix of the products, shape (products, p)."""
        single = np.array(
            [np.concatenate(list(map(_row, self.columns, product))) for product in market]
        )
        one, other = np.reshape(self.crossed, (-1, 2)).astype(np.int64).T
        return np.hstack([single, single[:, one] * single[:, other]])

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON."""
        kinds = self.kinds
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "respondents": self.respondents,
            "membership": None if kinds is None else encode_base64(kinds.membership),
            "kinds": None if kinds is None else encode_base64(shrink_integers(kinds.of_draws)),
            "columns": [
                {"table": part.table.tolist(), "is_number": part.is_number, "knots": part.knots}
                for part in self.columns
            ],
            "crossed": self.crossed,
            "codes": encode_base64(self.codes),
            "steps": self.steps.tolist(),
            "constants": None
            if self.constants is None
            else encode_base64(self.constants.astype(np.float32)),
            "takes_first": self.takes_first,
        }


def logit_tastes(
    columns: Sequence[AttributeColumns],
    tastes: np.ndarray,
    crossed: Sequence[tuple[int, int]] = (),
    respondents: int | None = None,
    kinds: RespondentClasses | None = None,
) -> LogitTastes:
    """The rule for tastes (draws, people, coefficients), each rounded to a 32,767th of its
    largest."""
    largest = np.abs(tastes).max(axis=(0, 1))
    steps = np.where(largest > 0.0, largest, 1.0) / _LARGEST
    codes = np.rint(tastes / steps).astype(np.int16)
    return LogitTastes(
        tuple(columns), codes, steps, tuple(crossed), respondents or tastes.shape[1], kinds
    )


def _row(part: AttributeColumns, level: float | None) -> np.ndarray:
    """The columns of one attribute for a level, a number, or None."""
    if level is None:
        return part.table[-1]
    if part.is_number:
        from ..coding import split_at_knots

        (own,) = split_at_knots(np.array([level]), part.knots)
        return np.concatenate([own, np.zeros(part.table.shape[1] - len(own))])
    return part.table[int(level)]
