"""`choice`: search for a balanced choice design with small expected standard errors."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed, check_integer
from thali._data.experiments.attribute_levels import parse_number
from thali._inference.numerics.weight_shares import compute_shares
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import format_label, format_plural, shorten, suggest
from thali.errors import Argument, ArgumentError

from .product_coding import (
    ALTERNATIVE,
    DRAWS,
    HELD_OUT,
    NONE,
    TASK,
    VERSION,
    Attributes,
    add_no_choice,
    check_identifiable_effects,
    check_identified_effects,
    code_products,
    compute_information,
    compute_informations,
    describe_restrictions,
    draw_utilities,
    is_dominated,
    parse_attributes,
    parse_directions,
    parse_interactions,
    parse_utilities,
)

if TYPE_CHECKING:
    import pandas


# Coordinate exchange (Meyer & Nachtsheim 1995) changes one level of one product at a time, while
# the design improves


_MAX_PASSES = 30
# prior precision of each coefficient; without it rounding would be the determinant of too few tasks
_PRECISION = 1e-6
# an exchange must gain more than rounding: spacing of floats / _PRECISION * information
_MIN_GAIN = 1e-6
_MAX_PRODUCT_TRIES = 200  # products drawn until a task has no duplicates


MINIMAL = "minimal"
BALANCED = "balanced"
_OVERLAP_WEIGHT = 10.0  # weight of the squared distance from the target overlap


class DesignGoal(NamedTuple):
    """Expected coefficients, directions and overlap for which a design is searched."""

    betas: np.ndarray  # (D, p) draws of expected coefficients; D = 1 if certain
    has_none: bool = False
    n_versions: int = 1
    crossed: tuple[tuple[int, int], ...] = ()  # attributes that interact
    # (attributes,) directions by which no product may be dominated; None: any product
    signs: np.ndarray | None = None
    # (attributes,) target share of pairs with the same level; None: any
    overlap: np.ndarray | None = None

    def code_design(self, design: np.ndarray, n_levels: Sequence[int]) -> np.ndarray:
        """Return the coded design matrix of tasks, shape (..., alternatives, p)."""
        design_matrix = code_products(design, n_levels, self.has_none, self.crossed)
        if self.has_none:
            return add_no_choice(design_matrix)
        return design_matrix

    def allows(self, task: np.ndarray) -> bool:
        """Return whether no product in a task is dominated by another."""
        return self.signs is None or not is_dominated(task, self.signs).any()


class OptimalDesign(NamedTuple):
    """A design found by the search, and the value of its criterion."""

    products: np.ndarray  # (tasks, alternatives, attributes) level numbers
    value: float


def draw_design(
    attributes: Attributes,
    tasks: int,
    alternatives: int,
    goal: DesignGoal,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a random design without duplicate or dominated products in a task."""
    design = np.empty((tasks, alternatives, len(attributes.names)), np.int64)
    for task in design:
        for _ in range(_MAX_PRODUCT_TRIES):
            if _fill_task(attributes, task, goal, rng):
                break
        else:
            remedy: tuple[Any, ...] = ("remove a direction.",)
            if alternatives > 2:
                remedy = ("reduce ", Argument("alternatives"), ", or remove a direction.")
            raise ArgumentError(
                *describe_restrictions(attributes, directed=True),
                f", every task of {alternatives} products seems to contain a dominated product; ",
                *remedy,
            )
    return design


def _fill_task(
    attributes: Attributes, task: np.ndarray, goal: DesignGoal, rng: np.random.Generator
) -> bool:
    """Fill a task with random products in place; return whether that is possible."""
    task_products: set[tuple[int, ...]] = set()
    for product_index in range(len(task)):
        random_products = (
            next(
                attributes.iterate_products(
                    [rng.permutation(size).tolist() for size in attributes.sizes]
                )
            )
            for _ in range(_MAX_PRODUCT_TRIES)
        )
        for product in itertools.chain(random_products, attributes.all_products()):
            task[product_index] = product
            if product not in task_products and goal.allows(task[: product_index + 1]):
                break
        else:
            return False
        task_products.add(product)
    return True


class Balance:
    """Counts of levels per version and in tasks, with costs of imbalance."""

    def __init__(self, design: np.ndarray, sizes: Sequence[int], goal: DesignGoal) -> None:
        self.goal = goal
        self.n_versions = goal.n_versions
        version_designs = np.split(design, goal.n_versions)
        self.level_counts = [
            np.array(
                [
                    np.bincount(version_design[..., i].ravel(), minlength=size)
                    for version_design in version_designs
                ],
                float,
            )
            for i, size in enumerate(sizes)
        ]
        self.task_counts = [
            np.eye(size)[design[..., i]].sum(axis=1) for i, size in enumerate(sizes)
        ]
        tasks, alternatives, _ = design.shape
        self.n_tasks = tasks
        self.n_pairs = tasks * alternatives * (alternatives - 1) / 2.0

    def compute_costs(self) -> np.ndarray:
        """Return the imbalance cost of each attribute, shape (attributes,)."""
        return np.array(
            [
                self._compute_cost(i, level_counts, self._compute_overlap(i))
                for i, level_counts in enumerate(self.level_counts)
            ]
        )

    def propose_costs(self, i: int, task: int, old_level: int, levels: Sequence[int]) -> np.ndarray:
        """Return attribute i's cost after `old_level` in a task changes to each level."""
        version_index = task * self.n_versions // self.n_tasks
        costs = []
        for level in levels:
            level_counts = self.level_counts[i].copy()
            task_counts = self.task_counts[i][task]
            level_counts[version_index, old_level] -= 1.0
            level_counts[version_index, level] += 1.0
            costs.append(
                self._compute_cost(
                    i,
                    level_counts,
                    self._compute_overlap(i)
                    + (task_counts[level] - task_counts[old_level] + 1.0) / self.n_pairs,
                )
            )
        return np.array(costs)

    def record_exchange(self, i: int, task: int, old_level: int, new_level: int) -> None:
        """Update the counts after replacing level `old_level` by `new_level` in a task."""
        for level_counts in (
            self.level_counts[i][task * self.n_versions // self.n_tasks],
            self.task_counts[i][task],
        ):
            level_counts[old_level] -= 1.0
            level_counts[new_level] += 1.0

    def _compute_overlap(self, i: int) -> float:
        """Return the share of a task's product pairs with equal levels of attribute i."""
        return float((self.task_counts[i] * (self.task_counts[i] - 1.0)).sum() / 2.0 / self.n_pairs)

    def _compute_cost(self, i: int, level_counts: np.ndarray, overlap: float) -> float:
        """Return attribute i's imbalance cost for these level counts and overlap."""
        share_deviation = compute_shares(level_counts) - 1.0 / level_counts.shape[1]
        cost = (share_deviation**2).sum() / self.n_versions
        if self.goal.overlap is not None:
            cost += _OVERLAP_WEIGHT * (overlap - self.goal.overlap[i]) ** 2
        return float(cost)


def exchange_levels(
    attributes: Attributes, start_design: np.ndarray, goal: DesignGoal, rng: np.random.Generator
) -> OptimalDesign:
    r"""Improve a design by exchanging single levels until none improves the criterion.

    The criterion is

    .. math::

        \frac1{pD} \sum_d \ln \det I(\beta_d) - \frac1V \sum_{vil} \Big(s_{vil} - \frac1{L_i}\Big)^2
        - 10 \sum_i (o_i - o_i^*)^2, \qquad
        s_{vil} = \text{share of the products of version v with level } l
    """
    design = start_design.copy()
    n_levels = attributes.sizes
    balance = Balance(design, n_levels, goal)
    costs = balance.compute_costs()
    # (D, tasks, p, p)
    information_by_task = compute_informations(goal.code_design(design, n_levels), goal.betas)
    total_information = information_by_task.sum(axis=1)
    criterion = float(_compute_log_det(total_information[:, None])[0] - costs.sum())
    cells = [(t, j, i) for t, j, i in np.ndindex(*design.shape)]
    for _ in range(_MAX_PASSES):
        previous_criterion = criterion
        for cell_index in rng.permutation(len(cells)):
            t, j, i = cells[cell_index]
            levels = _list_allowed_levels(attributes, design[t], j, i, goal)
            if not levels:
                continue
            tasks = np.repeat(design[t][None], len(levels), axis=0)
            tasks[:, j, i] = levels
            proposed_informations = compute_informations(
                goal.code_design(tasks, n_levels), goal.betas
            )
            proposed_costs = balance.propose_costs(i, t, int(design[t, j, i]), levels)
            proposed_criteria = (
                _compute_log_det(
                    (total_information - information_by_task[:, t])[:, None] + proposed_informations
                )
                - (costs.sum() - costs[i])
                - proposed_costs
            )
            # among equally good levels, take the first
            best_level_index = int(
                (proposed_criteria > proposed_criteria.max() - _MIN_GAIN).argmax()
            )
            if proposed_criteria[best_level_index] > criterion + _MIN_GAIN:
                balance.record_exchange(i, t, int(design[t, j, i]), levels[best_level_index])
                costs[i] = proposed_costs[best_level_index]
                total_information += (
                    proposed_informations[:, best_level_index] - information_by_task[:, t]
                )
                design[t, j, i], information_by_task[:, t], criterion = (
                    levels[best_level_index],
                    proposed_informations[:, best_level_index],
                    float(proposed_criteria[best_level_index]),
                )
        if criterion - previous_criterion < _MIN_GAIN:
            break
    return OptimalDesign(design, criterion)


def _list_allowed_levels(
    attributes: Attributes, task: np.ndarray, j: int, i: int, goal: DesignGoal
) -> list[int]:
    """Return the levels that attribute i of product j may change to."""
    other_products = {
        tuple(product) for product_index, product in enumerate(task.tolist()) if product_index != j
    }
    allowed_levels = []
    changed_task = task.copy()
    for level in range(attributes.sizes[i]):
        product = task[j].tolist()
        if level == product[i]:
            continue
        product[i] = changed_task[j, i] = level
        if (
            tuple(product) not in other_products
            and attributes.allows(product)
            and goal.allows(changed_task)
        ):
            allowed_levels.append(level)
    return allowed_levels


def _compute_log_det(informations: np.ndarray) -> np.ndarray:
    """Return ln det(information) / p of designs, averaged over draws of utilities."""
    # `informations` has shape (D, C, p, p) for D draws and C designs.
    p = informations.shape[-1]
    return np.linalg.slogdet(informations + _PRECISION * np.eye(p))[1].mean(axis=0) / p


_MIN_STARTS = 5
_MAX_STARTS = 40
_MAX_POSITIONS = 2_500  # approximate number of exchangeable levels, over all starts


def choice(
    attributes: Any,
    tasks: int,
    alternatives: int,
    prohibited: Any = (),
    none: bool = False,
    prior: Any = None,
    versions: int = 1,
    random_seed: RandomSeed = None,
    interactions: Iterable[Any] = (),
    overlap: str = MINIMAL,
    directions: Mapping[str, str] | None = None,
    holdouts: Any = (),
    prior_sd: Any = None,
) -> "pandas.DataFrame":
    r"""Build a design for a choice experiment: the products of each task.

    Coordinate exchange changes one level at a time, from several random starts, while that
    increases the determinant of the information of a multinomial logit, penalised by uneven
    counts of levels within versions:

    .. math::

        \frac1p \ln \det \sum_t \Big( \sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T \Big)
        - \frac1V \sum_{vil} \Big(s_{vil} - \frac1{L_i}\Big)^2 - 10 \sum_i (o_i - o_i^*)^2

    Parameters
    ----------
    attributes : dict of lists
        Attribute -> its levels, in their natural order.
    tasks : int
        Tasks per respondent.
    alternatives : int
        Products per task, excluding the no-choice option.
    prohibited : list of dicts
        Combinations of levels that no product may have: attribute -> a level, or several, such as
        [{"brand": "A", "price": [9, 12]}].
    none : bool
        Whether each task also has a no-choice option.
    prior : dict or fitted logit, optional
        Expected utilities: attribute -> one per level (a list, or level -> utility) or, for
        numeric levels, the utility of one unit; "none" -> the utility of the no-choice option.
        None: all are 0. A logit fitted to a pilot study with these attributes and levels gives a
        Bayesian design: the log determinant is averaged over its respondents' mean utilities in 32
        draws of its posterior (or of its sampling distribution).
    versions : int
        Sets of tasks; each respondent answers one of them.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    interactions : list of pairs, optional
        Pairs of attributes that interact, such as [("brand", "price")]: the model also contains
        the products of their columns.
    overlap : str
        How often products of a task have the same level: "minimal", as rarely as the determinant
        favours; or "balanced", a share of pairs midway between the smallest possible share and the
        share in random products, which is more informative about interactions and about
        respondents who decide by one attribute.
    directions : dict, optional
        Attribute -> "increasing" or "decreasing": the levels that all respondents prefer. No
        product is then dominated by another of its task that is better or equal in all attributes
        with a direction, better in one of them, and equal in all others.
    holdouts : list, optional
        Additional tasks for all respondents, to which no model is fitted: each a table of products,
        or a list of dicts, with every attribute; numbers and levels may be new.
    prior_sd : float, or dict, optional
        Uncertainty of the utilities in `prior`: the standard deviation of each level against the
        first; or attribute -> one standard deviation, one per level, or, for numeric levels, the
        standard deviation of the utility of one unit. The criterion is then averaged over 32
        normal draws of the utilities (a Bayesian design).

    Returns
    -------
    pandas.DataFrame
        One row per alternative: version, task, alternative ("1", "2", ...; the no-choice option is
        "none", with empty cells), and the attributes, categorical in their order. After replacing
        the version by the respondent and adding a column of choices, `ChoiceExperiment.from_frame`
        reads the table. Hold-out tasks are last in every version, where a column `held_out` is 1.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, contains an unknown name, or leaves too few products,
        or if the tasks are too few for the coefficients.

    References
    ----------
    Meyer & Nachtsheim (1995), The coordinate-exchange algorithm for constructing exact optimal
    experimental designs; Huber & Zwerina (1996), The importance of utility balance in efficient
    choice designs; Sándor & Wedel (2001), Designing conjoint choice experiments using managers'
    prior beliefs; Bliemer, Rose & Hess (2008), Approximation of Bayesian efficiency in experimental
    choice designs, of draws that fill the space evenly.

    Examples
    --------
    >>> import thali as th
    >>> design = choice(
    ...     {"brand": ["A", "B"], "price": [9, 12]}, tasks=2, alternatives=2, random_seed=1
    ... )
    >>> design.shape
    (4, 5)
    >>> th.designs.check(design).d_efficiency
    1.0
    """
    tasks = check_integer("tasks", tasks, 1)
    alternatives = check_integer("alternatives", alternatives, 2)
    versions = check_integer("versions", versions, 1)
    parsed_attributes = parse_attributes(attributes, prohibited)
    if not isinstance(none, bool):
        raise ArgumentError(Argument("none"), f" must be True or False; got {none!r}.")
    utility_draws = draw_utilities(
        prior, prior_sd, parsed_attributes.names, parsed_attributes.levels, none, DRAWS
    )
    check_allowed("overlap", overlap, (MINIMAL, BALANCED))
    interaction_pairs = parse_interactions(interactions or (), parsed_attributes.names)
    signs = parse_directions(directions, parsed_attributes.names)
    if holdouts is None:
        holdouts = ()
    holdout_tasks = [
        _parse_holdout(number, task, parsed_attributes) for number, task in enumerate(holdouts, 1)
    ]
    betas = np.array([contrast_utilities(utilities, none) for utilities in utility_draws])
    n_interactions = sum(
        (parsed_attributes.sizes[i] - 1) * (parsed_attributes.sizes[j] - 1)
        for i, j in interaction_pairs
    )
    _check_task_count(parsed_attributes, tasks * versions, alternatives, none, n_interactions)
    if isinstance(prior, Mapping) and signs is not None:  # a pilot may differ by chance
        _check_directions(
            parse_utilities(prior, parsed_attributes.names, parsed_attributes.levels, none),
            parsed_attributes,
            signs,
        )
    check_identifiable_effects(parsed_attributes, none, interaction_pairs, signs)
    target_overlap = None
    if overlap == BALANCED:
        target_overlap = _compute_balanced_overlap(parsed_attributes.sizes, alternatives)
    goal = DesignGoal(
        np.hstack([betas, np.zeros((len(betas), n_interactions))]),
        none,
        versions,
        interaction_pairs,
        signs,
        target_overlap,
    )
    design = _search_design(parsed_attributes, tasks * versions, alternatives, goal, random_seed)
    return _tabulate_design(design, parsed_attributes, tasks, none, holdout_tasks)


def _search_design(
    attributes: Attributes, tasks: int, alternatives: int, goal: DesignGoal, random_seed: RandomSeed
) -> np.ndarray:
    """Return the best design of several random starts, (tasks, alternatives, attributes)."""
    # Raises if that design leaves effects unidentified.
    n_cells = tasks * alternatives * len(attributes.names)
    n_starts = int(np.clip(_MAX_POSITIONS // n_cells, _MIN_STARTS, _MAX_STARTS))
    candidates = []
    for rng in spawn_generators(random_seed, n_starts):
        random_design = draw_design(attributes, tasks, alternatives, goal, rng)
        candidates.append(exchange_levels(attributes, random_design, goal, rng))
    best_value = max(candidate.value for candidate in candidates)
    best_candidate = next(
        candidate for candidate in candidates if candidate.value > best_value - _MIN_GAIN
    )
    design_matrix = goal.code_design(best_candidate.products, attributes.sizes)
    total_information = compute_information(design_matrix, goal.betas.mean(axis=0)).sum(axis=0)
    is_directed = not attributes.rules and goal.signs is not None
    check_identified_effects(
        total_information, attributes, goal.has_none, goal.crossed, is_directed
    )
    return best_candidate.products


def _compute_balanced_overlap(sizes: Sequence[int], alternatives: int) -> np.ndarray:
    """Return each attribute's target overlap, between minimal and random overlap."""
    overlaps = []
    for n_levels in sizes:
        quotient, remainder = divmod(alternatives, n_levels)
        least_pairs = quotient * (
            (n_levels - remainder) * (quotient - 1) + remainder * (quotient + 1)
        )
        overlaps.append((least_pairs / (alternatives * (alternatives - 1)) + 1.0 / n_levels) / 2.0)
    return np.array(overlaps)


def _parse_holdout(task_number: int, task: Any, attributes: Attributes) -> list[dict[str, Any]]:
    """Check and return the products of hold-out task `task_number`."""
    rows = task
    if hasattr(task, "to_dict"):
        rows = task.to_dict("records")
    if not isinstance(rows, Iterable) or isinstance(rows, str | Mapping):
        rows = []
    rows = list(rows)
    if len(rows) < 2 or not all(isinstance(row, Mapping) for row in rows):
        raise ArgumentError(
            Argument("holdouts"),
            f": task {task_number} must be a table of at least two products; it has {len(rows)}.",
        )
    products = []
    for row in rows:
        cell_of_name = {str(name): cell for name, cell in row.items()}
        if missing_names := [
            name for name in attributes.names if format_label(cell_of_name.get(name, "")) == ""
        ]:
            raise ArgumentError(
                Argument("holdouts"),
                f": a product of task {task_number} lacks {shorten(missing_names)}; give every"
                " attribute.",
            )
        for name in cell_of_name:
            if name not in attributes.names:
                raise ArgumentError(
                    Argument("holdouts"),
                    f": task {task_number} contains {name!r}, which is not an attribute; remove"
                    " this entry.",
                )
        product = {name: cell_of_name[name] for name in attributes.names}
        _check_holdout(task_number, product, attributes)
        products.append(attributes.restore_levels(product))
    return products


def _check_holdout(task_number: int, product: Mapping[str, Any], attributes: Attributes) -> None:
    """Raise ArgumentError if a hold-out product has unknown levels or is prohibited."""
    level_numbers = []
    for name, levels in zip(attributes.names, attributes.levels, strict=True):
        labels = list(map(format_label, levels))
        label = format_label(product[name])
        if label in labels:
            level_numbers.append(labels.index(label))
            continue
        level_numbers.append(-1)
        if None in map(parse_number, (*labels, label)):
            raise ArgumentError(
                Argument("holdouts"),
                f": a product in task {task_number} has {name!r} {label!r}, a level that no other"
                f" task has; the levels are {shorten(labels)}.{suggest(label, labels)}",
            )
    if not attributes.allows(level_numbers):
        description = ", ".join(f"{name} {format_label(level)}" for name, level in product.items())
        raise ArgumentError(
            Argument("holdouts"),
            f": task {task_number} contains a product ({description}) that is excluded by ",
            Argument("prohibited"),
            "; change or allow the product.",
        )


def _check_directions(
    utilities: list[np.ndarray], attributes: Attributes, signs: np.ndarray
) -> None:
    """Raise ArgumentError if expected utilities contradict a direction."""
    for i, name in enumerate(attributes.names):
        signed_differences = np.diff(utilities[i]) * signs[i]
        if (signed_differences < 0.0).any():
            direction = "decreasing"
            if signs[i] > 0:
                direction = "increasing"
            step_index = signed_differences.argmin()
            preferred_level, lower_level = [
                format_label(level) for level in attributes.levels[i][step_index : step_index + 2]
            ][:: signs[i]]
            raise ArgumentError(
                Argument("prior"),
                f" favours {name} {preferred_level} over {lower_level}, but ",
                Argument("directions"),
                f" declare {name!r} as {direction}; change one of them.",
            )


def contrast_utilities(utilities: list[np.ndarray], has_none: bool) -> np.ndarray:
    """Return level utilities as coefficients of `code_products`, shape (p,)."""
    if not has_none:
        return np.concatenate([levels[1:] - levels[0] for levels in utilities])
    *level_utilities, no_choice = utilities
    # a product with the first level of each attribute has this advantage over the no-choice option
    any_product_utility = sum(levels[0] for levels in level_utilities) - no_choice[0]
    return np.concatenate(
        [[any_product_utility], *[levels[1:] - levels[0] for levels in level_utilities]]
    )


def _check_task_count(
    attributes: Attributes, tasks: int, alternatives: int, has_none: bool, n_interactions: int
) -> None:
    """Raise ArgumentError if tasks or products are too few for all coefficients."""
    if len(list(itertools.islice(attributes.all_products(), alternatives))) < alternatives:
        raise ArgumentError(
            Argument("alternatives"),
            f" is {alternatives}, more than the number of different products; reduce it.",
        )
    n_coefficients = sum(attributes.sizes) - len(attributes.sizes) + has_none + n_interactions
    n_contrasts = tasks * (alternatives - 1 + has_none)
    if n_contrasts < n_coefficients:
        n_required = -(-n_coefficients // (alternatives - 1 + has_none))
        raise ArgumentError(
            Argument("tasks"),
            f": {format_plural(tasks, 'task')} can identify at most"
            f" {format_plural(n_contrasts, 'coefficient')},"
            f" but there are {n_coefficients:,}; use at least {n_required} tasks, or more ",
            Argument("versions"),
            ".",
        )


def _tabulate_design(
    products: np.ndarray,
    attributes: Attributes,
    tasks: int,
    has_none: bool,
    holdouts: list[list[dict[str, Any]]],
) -> "pandas.DataFrame":
    """Tabulate the design, one row per product, by version and task."""
    import pandas as pd

    names = (VERSION, TASK, ALTERNATIVE, *attributes.names, HELD_OUT)
    columns: dict[str, Any] = {name: [] for name in names}
    for version, version_products in enumerate(products.reshape(-1, tasks, *products.shape[1:]), 1):
        version_tasks = [
            [attributes.name_levels(product) for product in task] for task in version_products
        ]
        for task_number, task in enumerate([*version_tasks, *holdouts], 1):
            product_by_alternative = {
                str(alternative): product for alternative, product in enumerate(task, 1)
            }
            if has_none:
                product_by_alternative[NONE] = dict.fromkeys(attributes.names)
            for alternative, product in product_by_alternative.items():
                cells = (
                    version,
                    task_number,
                    alternative,
                    *product.values(),
                    int(task_number > tasks),
                )
                for name, cell in zip(names, cells, strict=True):
                    columns[name].append(cell)
    for name, levels in zip(attributes.names, attributes.levels, strict=True):
        unlisted_levels = [
            cell for cell in dict.fromkeys(columns[name]) if cell not in (None, *levels)
        ]
        columns[name] = pd.Categorical(columns[name], [*levels, *unlisted_levels], ordered=True)
    if not holdouts:
        del columns[HELD_OUT]
    return pd.DataFrame(columns)
