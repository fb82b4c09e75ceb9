"""What a user gives of a design (attributes, products, expected utilities), checked, and the
information of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import is_list
from thali._data.experiments.scheme import HELD_OUT
from thali._labels import as_label, positions, shorten, suggest
from thali.errors import Argument, ArgumentError, Setting

VERSION, TASK, ALTERNATIVE = "version", "task", "alternative"
NONE = "none"  # the alternative that is no product
DRAWS = 32  # of utilities that are uncertain

DIRECTIONS = {"increasing": 1, "decreasing": -1}
# a product is prohibited that has one of the levels of every attribute
Rule = tuple[tuple[int, frozenset[int]], ...]


class Attributes(NamedTuple):
    """What products are made of."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]  # as they were given
    rules: tuple[Rule, ...]  # which products are prohibited

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each attribute."""
        return tuple(map(len, self.levels))

    def allows(self, product: Sequence[int]) -> bool:
        """Whether a product, level numbers, may be shown."""
        return not any(all(product[i] in levels for i, levels in rule) for rule in self.rules)

    def products(self, orders: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
        """All products that may be shown, level by level in these orders."""
        return self._beginning_with((), orders)

    def _beginning_with(
        self, first: tuple[int, ...], orders: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, ...]]:
        if any(
            rule[-1][0] < len(first) and all(first[i] in own for i, own in rule)
            for rule in self.rules
        ):
            return
        if len(first) == len(orders):
            yield first
            return
        for level in orders[len(first)]:
            yield from self._beginning_with((*first, level), orders)


def attributes_of(attributes: Any, prohibited: Any) -> Attributes:
    """The attributes of a design, once every level can be shown."""
    if not isinstance(attributes, Mapping) or not attributes:
        raise ArgumentError(
            Argument("attributes"),
            " must map each attribute to its levels, such as {'price': [9, 12]}; got"
            f" {attributes!r}.",
        )
    names = tuple(map(str, attributes))
    for name in names:
        if name in (VERSION, TASK, ALTERNATIVE, HELD_OUT):
            raise ArgumentError(
                Argument("attributes"),
                f": {name!r} is the name of a column in every design; rename the attribute.",
            )
    levels = tuple(
        _levels_of(name, given) for name, given in zip(names, attributes.values(), strict=True)
    )
    found = Attributes(names, levels, _rules_of(prohibited, names, levels))
    for i, own in enumerate(levels):
        for level in range(len(own)):
            orders = [[level] if j == i else range(size) for j, size in enumerate(found.sizes)]
            if next(found.products(orders), None) is None:
                if next(found.products(list(map(range, found.sizes))), None) is None:
                    raise ArgumentError(
                        Argument("prohibited"), " excludes every product; allow at least one."
                    )
                raise ArgumentError(
                    Argument("prohibited"),
                    f" excludes every product with {names[i]} = {own[level]}; allow one, or remove"
                    " the level.",
                )
    return found


def _levels_of(name: str, given: Any) -> tuple[Any, ...]:
    levels = tuple(given) if is_list(given) else ()
    labels = list(map(as_label, levels))
    if len(levels) < 2 or len(set(labels)) < len(labels):
        raise ArgumentError(
            Argument("attributes"),
            f": {name!r} must be a list of at least two different levels; got {given!r}.",
        )
    return levels


def _rules_of(
    prohibited: Any, names: tuple[str, ...], levels: tuple[tuple[Any, ...], ...]
) -> tuple[Rule, ...]:
    if isinstance(prohibited, Mapping):
        prohibited = [prohibited]
    if not isinstance(prohibited, Iterable) or isinstance(prohibited, str):
        raise _no_rule(prohibited)
    return tuple(_rule_of(each, names, levels) for each in prohibited)


def _rule_of(given: Any, names: tuple[str, ...], levels: tuple[tuple[Any, ...], ...]) -> Rule:
    if not isinstance(given, Mapping) or not given:
        raise _no_rule(given)
    found = {}
    for name, wanted in given.items():
        i = place_of("prohibited", name, names)
        several = is_list(wanted)
        found[i] = frozenset(
            level_of("prohibited", names[i], each, levels[i])
            for each in (wanted if several else [wanted])
        )
    return tuple(sorted(found.items()))


def _no_rule(given: Any) -> ArgumentError:
    return ArgumentError(
        Argument("prohibited"),
        " must list combinations that no product may have, such as [{'brand': 'A', 'price': [9,"
        f" 12]}}]; got {given!r}.",
    )


def place_of(argument: str, name: Any, names: Sequence[str]) -> int:
    """The number of an attribute that an argument names."""
    if str(name) not in names:
        raise ArgumentError(
            Argument(argument),
            f" contains {str(name)!r}, which is not an attribute.{suggest(str(name), list(names))}",
        )
    return list(names).index(str(name))


def level_of(argument: str, name: str, level: Any, levels: Sequence[Any]) -> int:
    """The number of a level that an argument names."""
    labels = list(map(as_label, levels))
    if (label := as_label(level)) not in labels:
        raise ArgumentError(
            Argument(argument),
            f": {name!r} has no level {label!r}; its levels are"
            f" {shorten(labels)}.{suggest(label, labels)}",
        )
    return labels.index(label)


def utilities_of(
    prior: Any, names: Sequence[str], levels: Sequence[Sequence[Any]], has_none: bool
) -> list[np.ndarray]:
    """The expected utility of every level of every attribute; last that of the no-choice option, if
    there is one."""
    found = [np.zeros(len(own)) for own in levels] + [np.zeros(1)] * has_none
    if prior is None:
        return found
    if not isinstance(prior, Mapping):
        raise ArgumentError(
            Argument("prior"),
            " must map attributes to utilities of their levels (or, for numbers, to the utility"
            " of one unit, such as {'price': -0.2}), or be a logit fitted to a pilot study; got"
            f" {prior!r}.",
        )
    for name, given in prior.items():
        if has_none and str(name) == NONE:
            found[-1] = np.array([_utility(NONE, given)])
            continue
        i = place_of("prior", name, names)
        found[i] = _of_levels(names[i], given, levels[i])
    return found


def prior_draws(
    prior: Any,
    prior_sd: Any,
    names: Sequence[str],
    levels: Sequence[Sequence[Any]],
    has_none: bool,
    draws: int,
) -> list[list[np.ndarray]]:
    """Utilities as `utilities_of` gives them, several times where they are uncertain: of a fitted
    pilot, or normal."""
    from thali._choice.answers.logits import LogitAnswers

    if isinstance(prior, LogitAnswers):
        if prior_sd is not None:
            raise ArgumentError(
                Argument("prior_sd"),
                " requires utilities; a fitted model provides its own uncertainty, so remove the"
                " standard deviations.",
            )
        return _of_pilot(prior, names, levels, has_none, draws)
    expected = utilities_of(prior, names, levels, has_none)
    if prior_sd is None:
        return [expected]
    from scipy.special import ndtri
    from scipy.stats import qmc

    sds = _spreads(prior_sd, names, levels, has_none)
    points = (
        qmc.Sobol(sum(len(own) for own, _ in sds), rng=0).random(draws).clip(1e-12, 1.0 - 1e-12)
    )
    found = []
    for noise in ndtri(points):
        parts = np.split(noise, np.cumsum([len(own) for own, _ in sds])[:-1])
        found.append(
            [
                mean + own @ (sd * part)
                for mean, (sd, own), part in zip(expected, sds, parts, strict=True)
            ]
        )
    return found


def _spreads(
    given: Any, names: Sequence[str], levels: Sequence[Sequence[Any]], has_none: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each attribute standard deviations, and what each of them adds to the utilities of its
    levels."""
    from thali._data.experiments.levels import as_number

    wanted: Any = (
        given if isinstance(given, Mapping) else dict.fromkeys([*names, *[NONE] * has_none], given)
    )
    known = [*names, *[NONE] * has_none]
    by_name: dict[str, Any] = {
        known[place_of("prior_sd", name, known)]: value for name, value in wanted.items()
    }
    found = []
    for name, own in zip(names, levels, strict=True):
        value, numbers = by_name.get(name, 0.0), [as_number(as_label(level)) for level in own]
        slope = (
            isinstance(given, Mapping)
            and np.ndim(value) == 0
            and None not in numbers
            and name in by_name
        )
        if slope:  # of one more of a number, as its utility
            found.append((_sd(name, [value]), np.array(numbers, float)[:, None]))
            continue
        each = _sd(name, [value] * (len(own) - 1) if np.ndim(value) == 0 else list(value)[1:])
        if len(each) != len(own) - 1:
            raise ArgumentError(
                Argument("prior_sd"),
                f" of {name!r} must have one number for each of its {len(own)} levels; got"
                f" {value!r}.",
            )
        found.append((each, np.eye(len(own))[:, 1:]))
    return [*found, *[(_sd(NONE, [by_name.get(NONE, 0.0)]), np.ones((1, 1)))] * has_none]


def _sd(name: str, values: Sequence[Any]) -> np.ndarray:
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise ArgumentError(
            Argument("prior_sd"), f" of {name!r} must be numbers >= 0; got {values!r}."
        )
    return found


def _of_pilot(
    model: Any, names: Sequence[str], levels: Sequence[Sequence[Any]], has_none: bool, draws: int
) -> list[list[np.ndarray]]:
    """The mean utilities of people in draws of a fitted model, by the names of attributes and
    levels."""
    from thali._choice.answers.utilities import NOTHING, utility_draws

    known, of_draws = utility_draws(model._people_of_fit().thinned(draws))
    # of all draws
    of_draws = of_draws + (model.utilities()["utility"].to_numpy() - of_draws.mean(axis=0))
    place = positions(known)
    columns = []
    for name, own in zip(names, levels, strict=True):
        keys = [(name, as_label(level)) for level in own]
        if lost := [level for key, level in zip(keys, own, strict=True) if key not in place]:
            raise ArgumentError(
                Argument("prior"),
                f", the fitted model, has no utility for these levels of {name!r}:"
                f" {shorten([as_label(level) for level in lost])}; give their utilities, or remove"
                " the levels.",
            )
        columns.append([place[key] for key in keys])
    if has_none:
        if NOTHING not in place:
            raise ArgumentError(
                Argument("prior"),
                ", the fitted model, has no no-choice option; set ",
                Setting("none", False),
                ".",
            )
        columns.append([place[NOTHING]])
    return [[row[own] for own in columns] for row in of_draws]


def _of_levels(name: str, given: Any, levels: Sequence[Any]) -> np.ndarray:
    if isinstance(given, Mapping):
        found = np.zeros(len(levels))
        for level, value in given.items():
            found[level_of("prior", name, level, levels)] = _utility(name, value)
        return found
    if is_list(given):
        values = np.array([_utility(name, value) for value in given])
        if len(values) != len(levels):
            raise ArgumentError(
                Argument("prior"),
                f" must have one utility for each of the {len(levels)} levels of {name!r}; got"
                f" {len(values)}.",
            )
        return values
    from thali._data.experiments.levels import as_number

    slope, numbers = _utility(name, given), [as_number(as_label(level)) for level in levels]
    if any(number is None for number in numbers):
        raise ArgumentError(
            Argument("prior"),
            f" of {name!r} must have one utility per level, because its levels are not numbers;"
            f" got {given!r}.",
        )
    return slope * np.array(numbers, dtype=float)


def _utility(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ArgumentError(
            Argument("prior"), f" of {name!r} must be finite numbers; got {value!r}."
        )
    return number


# The information of a design about a multinomial logit, and the most that any design could have ---


def columns_of(
    products: np.ndarray,
    sizes: Sequence[int],
    has_none: bool,
    crossed: Sequence[tuple[int, int]] = (),
) -> np.ndarray:
    """Products (..., attributes) in the coding of `MultinomialLogit`: a column for each level but
    the first.

    With a no-choice option the first column is 1 in every product (`inside`). Last stand the
    products of the columns of attributes that are `crossed`.
    """
    parts = [np.ones((*products.shape[:-1], 1))] * has_none
    single = [np.eye(size)[:, 1:][products[..., i]] for i, size in enumerate(sizes)]
    both = [single[i][..., :, None] * single[j][..., None, :] for i, j in crossed]
    parts += [*single, *(each.reshape(*each.shape[:-2], -1) for each in both)]
    return np.concatenate(parts, axis=-1)


def crossed_of(interactions: Any, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The pairs of attributes, by their numbers, whose levels are wanted together."""
    found = []
    for pair in interactions:
        two = tuple(pair) if is_list(pair) else ()
        places = sorted({place_of("interactions", name, names) for name in two})
        if len(two) != 2 or len(places) != 2:
            raise ArgumentError(
                Argument("interactions"),
                f" must list pairs of attributes, such as [('brand', 'price')]; got {pair!r}.",
            )
        found.append((places[0], places[1]))
    return tuple(dict.fromkeys(found))


def signs_of(directions: Any, names: Sequence[str]) -> np.ndarray:
    """1 where later levels of an attribute are better, -1 where they are worse, 0 where nothing is
    known."""
    if not isinstance(directions, Mapping):
        raise ArgumentError(
            Argument("directions"),
            " must map attributes to directions, such as {'price': 'decreasing'}; got"
            f" {directions!r}.",
        )
    found = np.zeros(len(names), np.int64)
    for name, way in directions.items():
        if way not in DIRECTIONS:
            raise ArgumentError(
                Argument("directions"),
                f" of {str(name)!r} must be 'increasing' or 'decreasing'; got {way!r}.",
            )
        found[place_of("directions", name, names)] = DIRECTIONS[way]
    return found


def is_dominated(products: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Whether each product of tasks (..., products, attributes) is worse than another in what has a
    direction alone."""
    gain = products[..., None, :, :] - products[..., :, None, :]  # of the second over the first
    signed = gain * signs
    better = (
        (signed >= 0).all(axis=-1)
        & (signed > 0).any(axis=-1)
        & ((gain == 0) | (signs != 0)).all(axis=-1)
    )
    return better.any(axis=-1)


def with_none(matrix: np.ndarray) -> np.ndarray:
    """Tasks (..., alternatives, p) with the no-choice option as a further alternative."""
    return np.concatenate([matrix, np.zeros((*matrix.shape[:-2], 1, matrix.shape[-1]))], axis=-2)


def information(matrix: np.ndarray, beta: np.ndarray) -> np.ndarray:
    r"""Information of a choice in each task (..., alternatives, p), shape (..., p, p).

    .. math:: \sum_j p_j x_j x_j^T - \bar x \bar x^T, \qquad \bar x = \sum_j p_j x_j
    """
    return _information(matrix, matrix @ beta)


def informations(matrix: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """The same for each of several coefficients (D, p), shape (D, ..., p, p)."""
    if len(betas) == 1:
        return information(matrix, betas[0])[None]
    return _information(matrix[None], np.moveaxis(matrix @ betas.T, -1, 0))


def _information(matrix: np.ndarray, utility: np.ndarray) -> np.ndarray:
    odds = np.exp(utility - utility.max(axis=-1, keepdims=True))
    p = odds / odds.sum(axis=-1, keepdims=True)
    weighted = matrix * p[..., None]
    mean = weighted.sum(axis=-2)
    return np.swapaxes(weighted, -1, -2) @ matrix - mean[..., :, None] * mean[..., None, :]


_MOST_PRODUCTS, _MOST_PAIRED = 20_000, 400  # of which all, or all pairs, are looked at


def refuse_untold(
    attributes: Attributes,
    has_none: bool,
    crossed: Sequence[tuple[int, int]],
    signs: np.ndarray | None,
) -> None:
    """Refuse effects that no design tells apart, whatever tasks it has of the products that are
    allowed."""
    concerned = {i for rule in attributes.rules for i, _ in rule} | {
        i for pair in crossed for i in pair
    }
    concerned |= set() if signs is None else set(np.flatnonzero(signs).tolist())
    if not attributes.rules and signs is None:
        return
    # An attribute that varies freely beside these has effects that are told: one of its levels
    # stands for it.
    levels = tuple(own if i in concerned else own[:1] for i, own in enumerate(attributes.levels))
    bound = attributes._replace(levels=levels)
    # Two products that differ in a free attribute may always stand together, as may each with the
    # no-choice option.
    paired = signs is not None and not has_none and len(concerned) == len(levels)
    if np.prod(bound.sizes, dtype=float) > (_MOST_PAIRED if paired else _MOST_PRODUCTS):
        return
    products = np.array(list(bound.products(list(map(range, bound.sizes)))), np.int64)
    matrix = columns_of(products, bound.sizes, has_none, crossed)
    if paired and signs is not None:
        one, other = np.triu_indices(len(products), k=1)
        allowed = ~is_dominated(np.stack([products[one], products[other]], axis=1), signs).any(
            axis=1
        )
        matrix = matrix[one[allowed]] - matrix[other[allowed]]
    elif not has_none:
        matrix = matrix - matrix[:1]
    refuse_unknown(matrix.T @ matrix, bound, has_none, crossed, paired)


def refuse_unknown(
    total: np.ndarray,
    attributes: Attributes,
    has_none: bool,
    crossed: Sequence[tuple[int, int]],
    directed: bool,
) -> None:
    """Refuse effects that the information leaves unknown, `directed`: by what directions leave."""
    is_unknown = ~np.isfinite(variances(total))
    if not is_unknown.any():
        return
    names, sizes = attributes.names, attributes.sizes
    of_pairs = [(pair, (sizes[pair[0]] - 1) * (sizes[pair[1]] - 1)) for pair in crossed]
    effects = [(), *[(i,) for i, size in enumerate(sizes) for _ in range(size - 1)]][not has_none :]
    effects += [pair for pair, number in of_pairs for _ in range(number)]
    unknown = list(
        dict.fromkeys(effect for effect, lost in zip(effects, is_unknown, strict=True) if lost)
    )
    both = [pair for pair in unknown if len(pair) == 2]
    if both:
        what = f"the interaction of {names[both[0][0]]!r} and {names[both[0][1]]!r}"
    else:
        what = f"the effects of {shorten([names[i] for effect in unknown for i in effect])}"
    raise ArgumentError(
        *leaving(attributes, directed),
        f" {'tasks' if directed else 'products'} that do not identify {what}; ",
        "remove a direction" if directed else "allow more products",
        *(
            (", or remove the interaction from ", Argument("interactions"), ".")
            if both
            else (", or remove an attribute.",)
        ),
    )


def leaving(attributes: Attributes, directed: bool) -> tuple[Any, ...]:
    """Which arguments leave so little, as the beginning of an error."""
    if not directed:
        return (Argument("prohibited"), " leaves")
    prohibited = (" and ", Argument("prohibited")) if attributes.rules else ()
    return (Argument("directions"), *prohibited, " leave")


def variances(information: np.ndarray) -> np.ndarray:
    """Variances of estimates, infinite for what the information does not tell apart."""
    values, vectors = np.linalg.eigh(information)
    informative = values > 1e-9 * max(float(values[-1]), 1e-300)
    found = ((vectors[:, informative] ** 2) / values[informative]).sum(axis=1)
    return np.where((vectors[:, ~informative] ** 2).sum(axis=1) > 1e-9, np.inf, found)


def log_bound(sizes: Sequence[int], alternatives: np.ndarray, has_none: bool) -> float:
    r"""The log determinant of the information a task that no design exceeds where all utilities are
    0.

    Among the M products of a task an attribute has each of its L levels n_l times, as evenly as can
    be. The trace of its information in indicators is T, averaged over tasks. The determinant is
    largest if all levels are alike, since its logarithm is concave, and that of all attributes if
    they are orthogonal. With a no-choice option J = M + 1, else J = M; the option adds the factor M
    / J^2.

    .. math::

        T = \frac MJ \Big(1 - \frac1L\Big) - \frac{M^2}{J^2} \sum_l \Big(\frac{n_l}M -
        \frac1L\Big)^2, \qquad
        \det = \Big(\frac{T}{L - 1}\Big)^{L - 1} \frac1L
    """
    shown = alternatives + has_none
    total = float(np.log(np.mean(alternatives / shown**2))) if has_none else 0.0
    for size in sizes:
        even, more = np.divmod(alternatives, size)
        uneven = (more * (even + 1) ** 2 + (size - more) * even**2) / alternatives**2 - 1.0 / size
        trace = np.mean(
            alternatives / shown * (1.0 - 1.0 / size) - (alternatives / shown) ** 2 * uneven
        )
        total += float((size - 1) * np.log(trace / (size - 1)) - np.log(size))
    return total
