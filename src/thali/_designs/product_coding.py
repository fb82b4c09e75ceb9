"""Attributes and products of a choice design, their coding and Fisher information."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import is_list
from thali._choice import product_coding as coding
from thali._data.experiments.attribute_levels import parse_number
from thali._data.experiments.product_encoding import HELD_OUT
from thali._inference.numerics.weight_shares import compute_shares, scale_to_maximum
from thali._labels import format_label, has_repeats, index_labels, shorten, suggest
from thali._model.answer_probability_derivatives import outer_product
from thali.errors import Argument, ArgumentError, Setting

if TYPE_CHECKING:
    from thali._choice.reports.logit_choice_draws import LogitReports


VERSION = "version"
TASK = "task"
ALTERNATIVE = "alternative"
NONE = "none"  # the alternative that is no product
DRAWS = 32  # draws of utilities that are uncertain

DIRECTIONS = {"increasing": 1, "decreasing": -1}
# prohibits each product with one of the levels of every attribute in the rule
Rule = tuple[tuple[int, frozenset[int]], ...]


class Attributes(NamedTuple):
    """Attributes with levels, and prohibited combinations."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]  # unchanged
    rules: tuple[Rule, ...]  # each prohibits some products

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each attribute."""
        return tuple(map(len, self.levels))

    def allows(self, product: Sequence[int]) -> bool:
        """Return whether a product (tuple of level numbers) is not prohibited."""
        return not any(all(product[i] in levels for i, levels in rule) for rule in self.rules)

    def name_levels(self, product: Sequence[int]) -> dict[str, Any]:
        """Return {attribute: level} of a product given as level numbers."""
        return {
            name: levels[number]
            for name, levels, number in zip(self.names, self.levels, product, strict=True)
        }

    def restore_levels(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the product with levels as the user gave them, such as 9 for "9".

        A new level is text where all levels of the attribute are text.
        """
        restored_product = dict(product)
        for name, levels in zip(self.names, self.levels, strict=True):
            label = format_label(product[name])
            if all(isinstance(level, str) for level in levels):
                restored_product[name] = label
            level_by_label = {format_label(level): level for level in levels}
            restored_product[name] = level_by_label.get(label, restored_product[name])
        return restored_product

    def all_products(self) -> Iterator[tuple[int, ...]]:
        """Yield all products that are not prohibited, as level numbers."""
        return self.iterate_products(list(map(range, self.sizes)))

    def iterate_products(
        self, orders: Sequence[Sequence[int]], leading_levels: tuple[int, ...] = ()
    ) -> Iterator[tuple[int, ...]]:
        """Yield allowed products that begin with `leading_levels`, in this order of levels."""
        if any(
            rule[-1][0] < len(leading_levels)
            and all(leading_levels[i] in level_numbers for i, level_numbers in rule)
            for rule in self.rules
        ):
            return
        if len(leading_levels) == len(orders):
            yield leading_levels
            return
        for level in orders[len(leading_levels)]:
            yield from self.iterate_products(orders, (*leading_levels, level))


def parse_attributes(attributes: Any, prohibited: Any) -> Attributes:
    """Parse the arguments `attributes` and `prohibited`."""
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
        _parse_levels(name, raw_levels)
        for name, raw_levels in zip(names, attributes.values(), strict=True)
    )
    parsed_attributes = Attributes(names, levels, _parse_rules(prohibited, names, levels))
    for i, attribute_levels in enumerate(levels):
        for level in range(len(attribute_levels)):
            level_orders: list[Sequence[int]] = list(map(range, parsed_attributes.sizes))
            level_orders[i] = [level]
            if next(parsed_attributes.iterate_products(level_orders), None) is None:
                if next(parsed_attributes.all_products(), None) is None:
                    raise ArgumentError(
                        Argument("prohibited"), " excludes every product; allow at least one."
                    )
                raise ArgumentError(
                    Argument("prohibited"),
                    f" excludes every product with {names[i]} = {attribute_levels[level]}; allow"
                    " one, or remove the level.",
                )
    return parsed_attributes


def _parse_levels(attribute: str, raw_levels: Any) -> tuple[Any, ...]:
    """Return an attribute's levels; raise unless there are two different ones."""
    levels: tuple[Any, ...] = ()
    if is_list(raw_levels):
        levels = tuple(raw_levels)
    labels = list(map(format_label, levels))
    if len(levels) < 2 or has_repeats(labels):
        raise ArgumentError(
            Argument("attributes"),
            f": {attribute!r} must be a list of at least two different levels; got {raw_levels!r}.",
        )
    return levels


def _parse_rules(
    prohibited: Any, attribute_names: tuple[str, ...], levels: tuple[tuple[Any, ...], ...]
) -> tuple[Rule, ...]:
    """Parse the argument `prohibited` to rules, (attribute index, level indices) each."""
    if isinstance(prohibited, Mapping):
        prohibited = [prohibited]
    if not isinstance(prohibited, Iterable) or isinstance(prohibited, str):
        raise _prohibition_error(prohibited)
    rules = []
    for combination in prohibited:
        if not isinstance(combination, Mapping) or not combination:
            raise _prohibition_error(combination)
        level_numbers = {}
        for name, prohibited_levels in combination.items():
            i = find_attribute("prohibited", name, attribute_names)
            if not is_list(prohibited_levels):
                prohibited_levels = [prohibited_levels]
            level_numbers[i] = frozenset(
                find_level("prohibited", attribute_names[i], level, levels[i])
                for level in prohibited_levels
            )
        rules.append(tuple(sorted(level_numbers.items())))
    return tuple(rules)


def _prohibition_error(argument: Any) -> ArgumentError:
    """Return the error for a malformed `prohibited`."""
    return ArgumentError(
        Argument("prohibited"),
        " must list combinations that no product may have, such as [{'brand': 'A', 'price': [9,"
        f" 12]}}]; got {argument!r}.",
    )


def find_attribute(argument: str, name: Any, known_names: Sequence[str]) -> int:
    """Return the index of an attribute by name; raise ArgumentError if unknown."""
    if str(name) not in known_names:
        raise ArgumentError(
            Argument(argument),
            f" contains {str(name)!r}, which is not an"
            f" attribute.{suggest(str(name), list(known_names))}",
        )
    return list(known_names).index(str(name))


def find_level(argument: str, attribute: str, level: Any, levels: Sequence[Any]) -> int:
    """Return the index of a level by label; raise ArgumentError if unknown."""
    labels = list(map(format_label, levels))
    if (label := format_label(level)) not in labels:
        raise ArgumentError(
            Argument(argument),
            f": {attribute!r} has no level {label!r}; its levels are"
            f" {shorten(labels)}.{suggest(label, labels)}",
        )
    return labels.index(label)


def parse_utilities(
    prior: Any, attribute_names: Sequence[str], levels: Sequence[Sequence[Any]], has_none: bool
) -> list[np.ndarray]:
    """Parse the argument `prior` to an array of level utilities per attribute.

    The last array is the utility of the no-choice option, if there is one.
    """
    utilities = [np.zeros(len(attribute_levels)) for attribute_levels in levels]
    if has_none:
        utilities.append(np.zeros(1))
    if prior is None:
        return utilities
    if not isinstance(prior, Mapping):
        raise ArgumentError(
            Argument("prior"),
            " must map attributes to utilities of their levels (or, for numbers, to the utility"
            " of one unit, such as {'price': -0.2}), or be a logit fitted to a pilot study; got"
            f" {prior!r}.",
        )
    for name, attribute_utilities in prior.items():
        if has_none and str(name) == NONE:
            utilities[-1] = np.array([_parse_utility(NONE, attribute_utilities)])
            continue
        i = find_attribute("prior", name, attribute_names)
        utilities[i] = _parse_level_utilities(attribute_names[i], attribute_utilities, levels[i])
    return utilities


def draw_utilities(
    prior: Any,
    prior_sd: Any,
    attribute_names: Sequence[str],
    levels: Sequence[Sequence[Any]],
    has_none: bool,
    draws: int,
) -> list[list[np.ndarray]]:
    """Draw level utilities from the prior, or from a fitted pilot model.

    A fitted pilot supplies its own draws; `prior_sd` gives normal draws; otherwise there is one
    draw, the expected utilities.
    """
    from thali._choice.reports.logit_choice_draws import LogitReports

    if isinstance(prior, LogitReports):
        if prior_sd is not None:
            raise ArgumentError(
                Argument("prior_sd"),
                " requires utilities; a fitted model provides its own uncertainty, so remove this"
                " argument.",
            )
        return _draw_pilot_utilities(prior, attribute_names, levels, has_none, draws)
    expected_utilities = parse_utilities(prior, attribute_names, levels, has_none)
    if prior_sd is None:
        return [expected_utilities]
    from scipy.special import ndtri
    from scipy.stats import qmc

    deviations = _parse_deviations(prior_sd, attribute_names, levels, has_none)
    last_columns = np.cumsum([len(sd) for sd, _ in deviations])
    uniform_points = qmc.Sobol(last_columns[-1], rng=0).random(draws).clip(1e-12, 1.0 - 1e-12)
    utility_draws = []
    for noise in ndtri(uniform_points):
        noise_by_attribute = np.split(noise, last_columns[:-1])
        utility_draws.append(
            [
                mean + basis @ (sd * part)
                for mean, (sd, basis), part in zip(
                    expected_utilities, deviations, noise_by_attribute, strict=True
                )
            ]
        )
    return utility_draws


def _parse_deviations(
    prior_sd: Any, attribute_names: Sequence[str], levels: Sequence[Sequence[Any]], has_none: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return standard deviations and basis of each attribute's utilities."""
    # The basis (levels, k) maps k independent deviations to the utilities of levels.
    known_names = list(attribute_names)
    if has_none:
        known_names.append(NONE)
    sd_of_name = prior_sd
    if not isinstance(prior_sd, Mapping):
        sd_of_name = dict.fromkeys(known_names, prior_sd)
    sd_of_attribute: dict[str, Any] = {
        known_names[find_attribute("prior_sd", name, known_names)]: attribute_sd
        for name, attribute_sd in sd_of_name.items()
    }
    deviations = []
    for name, attribute_levels in zip(attribute_names, levels, strict=True):
        attribute_sd = sd_of_attribute.get(name, 0.0)
        level_numbers = [parse_number(format_label(level)) for level in attribute_levels]
        is_single = np.ndim(attribute_sd) == 0
        has_slope = isinstance(prior_sd, Mapping) and name in sd_of_attribute
        if has_slope and is_single and None not in level_numbers:
            # the deviation of the utility of one unit
            deviations.append(
                (_parse_sd(name, [attribute_sd]), np.array(level_numbers, float)[:, None])
            )
            continue
        raw_sds = [attribute_sd] * len(attribute_levels)
        if not is_single:
            raw_sds = list(attribute_sd)
        level_sds = _parse_sd(name, raw_sds[1:])
        if len(level_sds) != len(attribute_levels) - 1:
            raise ArgumentError(
                Argument("prior_sd"),
                f" of {name!r} must have one number for each of its {len(attribute_levels)}"
                f" levels; got {attribute_sd!r}.",
            )
        deviations.append((level_sds, np.eye(len(attribute_levels))[:, 1:]))
    if has_none:
        deviations.append((_parse_sd(NONE, [sd_of_attribute.get(NONE, 0.0)]), np.ones((1, 1))))
    return deviations


def _parse_sd(attribute: str, raw_deviations: Sequence[Any]) -> np.ndarray:
    """Return standard deviations as array; raise ArgumentError unless >= 0."""
    try:
        deviations = np.array(raw_deviations, float)
    except (TypeError, ValueError):
        deviations = np.array([np.nan])
    if not (np.isfinite(deviations).all() and (deviations >= 0.0).all()):
        raise ArgumentError(
            Argument("prior_sd"),
            f" of {attribute!r} must contain numbers >= 0; got {raw_deviations!r}.",
        )
    return deviations


def _draw_pilot_utilities(
    model: "LogitReports",
    attribute_names: Sequence[str],
    levels: Sequence[Sequence[Any]],
    has_none: bool,
    draws: int,
) -> list[list[np.ndarray]]:
    """Return mean level utilities in draws of a fitted pilot model."""
    from thali._choice.reports.level_utilities import NO_CHOICE_LEVEL, compute_utility_draws

    chooser = model._get_fitted_chooser().thin(draws)
    equal_weights = np.ones(len(chooser.data.respondents))
    utility_keys, (mean_utilities,) = compute_utility_draws(chooser, equal_weights)
    # shift the thinned draws to the mean of all draws
    mean_utilities = mean_utilities + (
        model.utilities()["utility"].to_numpy() - mean_utilities.mean(axis=0)
    )
    column_of_key = index_labels(utility_keys)
    attribute_columns = []
    for name, attribute_levels in zip(attribute_names, levels, strict=True):
        attribute_keys = [(name, format_label(level)) for level in attribute_levels]
        if lost_labels := [
            label for _, label in attribute_keys if (name, label) not in column_of_key
        ]:
            raise ArgumentError(
                Argument("prior"),
                f", the fitted model, has no utility for these levels of {name!r}:"
                f" {shorten(lost_labels)}; give their utilities, or remove the levels.",
            )
        attribute_columns.append([column_of_key[key] for key in attribute_keys])
    if has_none:
        if NO_CHOICE_LEVEL not in column_of_key:
            raise ArgumentError(
                Argument("prior"),
                ", the fitted model, has no no-choice option; set ",
                Setting("none", False),
                ".",
            )
        attribute_columns.append([column_of_key[NO_CHOICE_LEVEL]])
    return [[row[columns] for columns in attribute_columns] for row in mean_utilities]


def _parse_level_utilities(
    attribute: str, attribute_utilities: Any, levels: Sequence[Any]
) -> np.ndarray:
    """Return an attribute's level utilities as array (levels,)."""
    if isinstance(attribute_utilities, Mapping):
        utilities = np.zeros(len(levels))
        for level, level_utility in attribute_utilities.items():
            utilities[find_level("prior", attribute, level, levels)] = _parse_utility(
                attribute, level_utility
            )
        return utilities
    if is_list(attribute_utilities):
        listed_utilities = np.array(
            [_parse_utility(attribute, level_utility) for level_utility in attribute_utilities]
        )
        if len(listed_utilities) != len(levels):
            raise ArgumentError(
                Argument("prior"),
                f" must have one utility for each of the {len(levels)} levels of {attribute!r}; got"
                f" {len(listed_utilities)}.",
            )
        return listed_utilities
    slope = _parse_utility(attribute, attribute_utilities)
    level_numbers = [parse_number(format_label(level)) for level in levels]
    if any(number is None for number in level_numbers):
        raise ArgumentError(
            Argument("prior"),
            f" of {attribute!r} must have one utility per level, because its levels are not"
            f" numbers; got {attribute_utilities!r}.",
        )
    return slope * np.array(level_numbers, float)


def _parse_utility(attribute: str, raw_utility: Any) -> float:
    """Return a utility as float; raise ArgumentError unless finite."""
    try:
        utility = float(raw_utility)
    except (TypeError, ValueError):
        utility = np.nan
    if not np.isfinite(utility):
        raise ArgumentError(
            Argument("prior"),
            f" of {attribute!r} must contain finite numbers; got {raw_utility!r}.",
        )
    return utility


# The information of a design about a multinomial logit, and the most that any design could have ---


def code_products(
    products: np.ndarray,
    n_levels: Sequence[int],
    has_none: bool,
    interaction_pairs: Sequence[tuple[int, int]],
) -> np.ndarray:
    """Return the design matrix of products (..., attributes), shape (..., p).

    The coding is that of `MultinomialLogit`: there is one column per level except the first. With a
    no-choice option the first column is 1 in every product (`inside`). The last columns are the
    products of the columns of each pair in `interaction_pairs`.
    """
    coded_columns = []
    if has_none:
        coded_columns.append(np.ones((*products.shape[:-1], 1)))
    main_effects = [np.eye(size)[:, 1:][products[..., i]] for i, size in enumerate(n_levels)]
    crossed_columns = [
        outer_product(main_effects[i], main_effects[j]) for i, j in interaction_pairs
    ]
    coded_columns += [
        *main_effects,
        *(columns.reshape(*columns.shape[:-2], -1) for columns in crossed_columns),
    ]
    return np.concatenate(coded_columns, axis=-1)


def parse_interactions(
    interactions: Iterable[Any], attribute_names: Sequence[str]
) -> tuple[tuple[int, int], ...]:
    """Parse the argument `interactions` to pairs of attribute indices."""
    index_pairs = []
    for pair in coding.parse_interactions(interactions):
        first_index, second_index = sorted(
            find_attribute("interactions", name, attribute_names) for name in pair
        )
        index_pairs.append((first_index, second_index))
    return tuple(index_pairs)


def parse_directions(
    directions: Mapping[str, str] | None, attribute_names: Sequence[str]
) -> np.ndarray | None:
    """Parse the argument `directions` to a sign per attribute, or None.

    1: later levels are better; -1: they are worse; 0: no direction is given.
    """
    if directions is None:
        return None
    if not isinstance(directions, Mapping):
        raise ArgumentError(
            Argument("directions"),
            " must map attributes to directions, such as {'price': 'decreasing'}; got"
            f" {directions!r}.",
        )
    signs = np.zeros(len(attribute_names), np.int64)
    for name, direction in directions.items():
        if direction not in DIRECTIONS:
            raise ArgumentError(
                Argument("directions"),
                f" of {str(name)!r} must be 'increasing' or 'decreasing'; got {direction!r}.",
            )
        signs[find_attribute("directions", name, attribute_names)] = DIRECTIONS[direction]
    return signs


def is_dominated(products: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return which products of a task are dominated by another, (..., products).

    `products` has shape (..., products, attributes). A product is dominated by another of its task
    that is better or equal in all attributes with a direction, better in one of them, and equal in
    all others.
    """
    # advantage of the second product over the first
    differences = products[..., None, :, :] - products[..., :, None, :]
    signed_differences = differences * signs
    is_better = (
        (signed_differences >= 0).all(axis=-1)
        & (signed_differences > 0).any(axis=-1)
        & ((differences == 0) | (signs != 0)).all(axis=-1)
    )
    return is_better.any(axis=-1)


def add_no_choice(matrix: np.ndarray) -> np.ndarray:
    """Append the row of the no-choice option to design matrices (..., alternatives, p)."""
    return np.concatenate([matrix, np.zeros((*matrix.shape[:-2], 1, matrix.shape[-1]))], axis=-2)


def compute_information(matrix: np.ndarray, beta: np.ndarray) -> np.ndarray:
    r"""Return the Fisher information of each task, shape (..., p, p).

    The design matrix has shape (..., alternatives, p).

    .. math:: \sum_j p_j x_j x_j^T - \bar x \bar x^T, \qquad \bar x = \sum_j p_j x_j
    """
    return _compute_choice_covariance(matrix, matrix @ beta)


def compute_informations(matrix: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return Fisher informations at D coefficient vectors, shape (D, ..., p, p)."""
    if len(betas) == 1:
        return compute_information(matrix, betas[0])[None]
    return _compute_choice_covariance(matrix[None], np.moveaxis(matrix @ betas.T, -1, 0))


def _compute_choice_covariance(matrix: np.ndarray, utilities: np.ndarray) -> np.ndarray:
    """Return X' (diag(p) - p p') X, with p the logit choice probabilities, (..., p, p)."""
    odds_terms = scale_to_maximum(utilities)
    p = compute_shares(odds_terms)
    weighted_rows = matrix * p[..., None]
    mean_rows = weighted_rows.sum(axis=-2)
    return np.swapaxes(weighted_rows, -1, -2) @ matrix - outer_product(mean_rows, mean_rows)


_MAX_PRODUCTS, _MAX_PAIRED_PRODUCTS = 20_000, 400  # to check one by one, or in all pairs


def check_identifiable_effects(
    attributes: Attributes,
    has_none: bool,
    interaction_pairs: Sequence[tuple[int, int]],
    signs: np.ndarray | None,
) -> None:
    """Raise ArgumentError if no design of allowed products identifies all effects."""
    if not attributes.rules and signs is None:
        return
    constrained_attributes = {i for rule in attributes.rules for i, _ in rule} | {
        i for pair in interaction_pairs for i in pair
    }
    if signs is not None:
        constrained_attributes |= set(np.flatnonzero(signs).tolist())
    # An attribute that varies freely has identified effects, so one of its levels represents it.
    levels = list(attributes.levels)
    for i in set(range(len(levels))) - constrained_attributes:
        levels[i] = levels[i][:1]
    varied_attributes = attributes._replace(levels=tuple(levels))
    # Products that differ in a free attribute may share a task, as may any with no choice.
    is_paired = signs is not None and not has_none and len(constrained_attributes) == len(levels)
    max_products = _MAX_PRODUCTS
    if is_paired:
        max_products = _MAX_PAIRED_PRODUCTS
    if np.prod(varied_attributes.sizes, dtype=float) > max_products:
        return
    products = np.array(list(varied_attributes.all_products()), np.int64)
    design_matrix = code_products(products, varied_attributes.sizes, has_none, interaction_pairs)
    if is_paired and signs is not None:
        first_product, second_product = np.triu_indices(len(products), k=1)
        is_allowed_pair = ~is_dominated(
            np.stack([products[first_product], products[second_product]], axis=1), signs
        ).any(axis=1)
        design_matrix = (
            design_matrix[first_product[is_allowed_pair]]
            - design_matrix[second_product[is_allowed_pair]]
        )
    elif not has_none:
        design_matrix = design_matrix - design_matrix[:1]
    check_identified_effects(
        design_matrix.T @ design_matrix, varied_attributes, has_none, interaction_pairs, is_paired
    )


def check_identified_effects(
    information: np.ndarray,
    attributes: Attributes,
    has_none: bool,
    interaction_pairs: Sequence[tuple[int, int]],
    directed: bool,
) -> None:
    """Raise ArgumentError if the information matrix leaves effects unidentified.

    `directed`: the error names the directions as the cause.
    """
    is_unknown = ~np.isfinite(compute_variances(information))
    if not is_unknown.any():
        return
    attribute_names = attributes.names
    n_levels = attributes.sizes
    effects: list[tuple[int, ...]] = []
    if has_none:
        effects.append(())
    for i, size in enumerate(n_levels):
        effects += [(i,)] * (size - 1)
    for i, j in interaction_pairs:
        effects += [(i, j)] * ((n_levels[i] - 1) * (n_levels[j] - 1))
    unknown_effects = list(
        dict.fromkeys(effect for effect, lost in zip(effects, is_unknown, strict=True) if lost)
    )
    unknown_pairs = [pair for pair in unknown_effects if len(pair) == 2]
    remedy: tuple[Any, ...] = (", or remove an attribute.",)
    effect_names = (
        "the effects of"
        f" {shorten([attribute_names[i] for effect in unknown_effects for i in effect])}"
    )
    if unknown_pairs:
        remedy = (", or remove the interaction from ", Argument("interactions"), ".")
        i, j = unknown_pairs[0]
        effect_names = f"the interaction of {attribute_names[i]!r} and {attribute_names[j]!r}"
    first_remedy = "allow more products"
    if directed:
        first_remedy = "remove a direction"
    raise ArgumentError(
        *describe_restrictions(attributes, directed),
        f", no design can identify {effect_names}; {first_remedy}",
        *remedy,
    )


def describe_restrictions(attributes: Attributes, directed: bool) -> tuple[Any, ...]:
    """Return the arguments that restrict products, as the start of an error message."""
    if not directed:
        return ("Given ", Argument("prohibited"))
    if attributes.rules:
        return ("Given ", Argument("directions"), " and ", Argument("prohibited"))
    return ("Given ", Argument("directions"))


def compute_variances(information: np.ndarray) -> np.ndarray:
    """Return the variances of estimates, shape (p,); infinite if unidentified."""
    eigenvalues, eigenvectors = np.linalg.eigh(information)
    is_informative = eigenvalues > 1e-9 * max(float(eigenvalues[-1]), 1e-300)
    variances = ((eigenvectors[:, is_informative] ** 2) / eigenvalues[is_informative]).sum(axis=1)
    return np.where((eigenvectors[:, ~is_informative] ** 2).sum(axis=1) > 1e-9, np.inf, variances)


def bound_log_determinant(sizes: Sequence[int], alternatives: np.ndarray, has_none: bool) -> float:
    r"""Return the largest possible ln det of a task's information, at zero utilities.

    Among the M products of a task an attribute has each of its L levels n_l times, as evenly as
    possible. The trace of its information in indicators is T, averaged over tasks. The logarithm of
    the determinant is concave, so the determinant is largest if all levels are equal, and over all
    attributes if they are orthogonal. With a no-choice option J = M + 1, else J = M; the option
    adds the factor M / J^2.

    .. math::

        T = \frac MJ \Big(1 - \frac1L\Big) - \frac{M^2}{J^2} \sum_l \Big(\frac{n_l}M -
        \frac1L\Big)^2, \qquad
        \det = \Big(\frac{T}{L - 1}\Big)^{L - 1} \frac1L
    """
    n_shown = alternatives + has_none
    log_bound = 0.0
    if has_none:
        log_bound = float(np.log(np.mean(alternatives / n_shown**2)))
    for n_levels in sizes:
        quotient, remainder = np.divmod(alternatives, n_levels)
        imbalance = (
            remainder * (quotient + 1) ** 2 + (n_levels - remainder) * quotient**2
        ) / alternatives**2 - 1.0 / n_levels
        trace = np.mean(
            alternatives / n_shown * (1.0 - 1.0 / n_levels)
            - (alternatives / n_shown) ** 2 * imbalance
        )
        log_bound += float((n_levels - 1) * np.log(trace / (n_levels - 1)) - np.log(n_levels))
    return log_bound
