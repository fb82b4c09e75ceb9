"""`choice`: a balanced design with little error."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import one_of, whole
from thali._data.experiments.levels import as_number
from thali._inference.seeds import spawn_generators
from thali._labels import as_label, plural, shorten, suggest
from thali.errors import Argument, ArgumentError

from .products import (
    ALTERNATIVE,
    DRAWS,
    HELD_OUT,
    NONE,
    TASK,
    VERSION,
    Attributes,
    attributes_of,
    columns_of,
    crossed_of,
    information,
    informations,
    is_dominated,
    leaving,
    prior_draws,
    refuse_unknown,
    refuse_untold,
    signs_of,
    utilities_of,
    with_none,
)

if TYPE_CHECKING:
    import pandas


# Coordinate exchange (Meyer & Nachtsheim 1995): one level of one product at a time, while the
# design gets better


_MAX_PASSES = 30
# of a prior of each coefficient, without which rounding would be the determinant of too few tasks
_PRECISION = 1e-6
# gain of an exchange, above what rounding changes: spacing of floats / _PRECISION * information
_MIN_GAIN = 1e-6
_TRIES = 200  # products drawn until a task has no two alike


MINIMAL, BALANCED = "minimal", "balanced"
_OVERLAP = 10.0  # weight of the squared distance of the overlap from the one that is wanted


class DesignGoal(NamedTuple):
    """What a design is to be good for."""

    betas: np.ndarray  # (D, p) expected coefficients, in draws of them where they are uncertain
    has_none: bool = False
    versions: int = 1
    crossed: tuple[tuple[int, int], ...] = ()  # attributes whose levels are wanted together
    # (attributes,) by which no product may be worse than another of its task
    signs: np.ndarray | None = None
    # (attributes,) the share of pairs of a task that are alike; None: any
    overlap: np.ndarray | None = None

    def matrix(self, design: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
        """The columns of tasks (..., alternatives, attributes)."""
        matrix = columns_of(design, sizes, self.has_none, self.crossed)
        return with_none(matrix) if self.has_none else matrix

    def allows(self, task: np.ndarray) -> bool:
        """Whether no product of a task is worse than another of it."""
        return self.signs is None or not is_dominated(task, self.signs).any()


class OptimalDesign(NamedTuple):
    """A design and what is maximised."""

    products: np.ndarray  # (tasks, alternatives, attributes) level numbers
    value: float


def random_design(
    attributes: Attributes,
    tasks: int,
    alternatives: int,
    wanted: DesignGoal,
    rng: np.random.Generator,
) -> np.ndarray:
    """Products at random, no two alike in a task, and none worse than another."""
    found = np.empty((tasks, alternatives, len(attributes.names)), np.int64)
    for task in found:
        for _ in range(_TRIES):
            if _filled(attributes, task, wanted, rng):
                break
        else:
            fewer = ("reduce ", Argument("alternatives"), ", or ") if alternatives > 2 else ()
            raise ArgumentError(
                *leaving(attributes, directed=True),
                f" no task of {alternatives} products in which none is dominated; ",
                *fewer,
                "remove a direction.",
            )
    return found


def _filled(
    attributes: Attributes, task: np.ndarray, wanted: DesignGoal, rng: np.random.Generator
) -> bool:
    """Fill a task at random; whether that was possible."""
    shown: set[tuple[int, ...]] = set()
    for place in range(len(task)):
        for _ in range(_TRIES):
            product = next(
                attributes.products([rng.permutation(size).tolist() for size in attributes.sizes])
            )
            task[place] = product
            if product not in shown and wanted.allows(task[: place + 1]):
                break
        else:
            for product in attributes.products(list(map(range, attributes.sizes))):
                task[place] = product
                if product not in shown and wanted.allows(task[: place + 1]):
                    break
            else:
                return False
        shown.add(product)
    return True


class Balance:
    """How often levels are shown, version by version, and how often two products of a task have the
    same."""

    def __init__(self, design: np.ndarray, sizes: Sequence[int], wanted: DesignGoal) -> None:
        self.wanted, self.versions = wanted, wanted.versions
        parts = np.split(design, wanted.versions)
        self.shown = [
            np.array([np.bincount(part[..., i].ravel(), minlength=size) for part in parts], float)
            for i, size in enumerate(sizes)
        ]
        self.in_task = [np.eye(size)[design[..., i]].sum(axis=1) for i, size in enumerate(sizes)]
        tasks, alternatives, _ = design.shape
        self.tasks, self.pairs = tasks, tasks * alternatives * (alternatives - 1) / 2.0

    def cost(self) -> np.ndarray:
        """What every attribute costs."""
        return np.array([self._cost(i, own, self._alike(i)) for i, own in enumerate(self.shown)])

    def costs_after(self, i: int, task: int, old: int, levels: Sequence[int]) -> np.ndarray:
        """What an attribute costs after one product of a task has each of some levels in place of
        its old one."""
        version = task * self.versions // self.tasks
        found = []
        for level in levels:
            shown, in_task = self.shown[i].copy(), self.in_task[i][task]
            shown[version, old] -= 1.0
            shown[version, level] += 1.0
            found.append(
                self._cost(
                    i, shown, self._alike(i) + (in_task[level] - in_task[old] + 1.0) / self.pairs
                )
            )
        return np.array(found)

    def exchange(self, i: int, task: int, old: int, level: int) -> None:
        """Show another level."""
        for counts in (self.shown[i][task * self.versions // self.tasks], self.in_task[i][task]):
            counts[old] -= 1.0
            counts[level] += 1.0

    def _alike(self, i: int) -> float:
        """The share of the pairs of products of a task that have the same level."""
        return float((self.in_task[i] * (self.in_task[i] - 1.0)).sum() / 2.0 / self.pairs)

    def _cost(self, i: int, shown: np.ndarray, alike: float) -> float:
        share = shown / shown.sum(axis=1, keepdims=True) - 1.0 / shown.shape[1]
        apart = 0.0 if self.wanted.overlap is None else alike - self.wanted.overlap[i]
        return float((share**2).sum() / self.versions + _OVERLAP * apart**2)


def exchanged(
    attributes: Attributes, start: np.ndarray, wanted: DesignGoal, rng: np.random.Generator
) -> OptimalDesign:
    r"""Exchange levels while that increases

    .. math::

        \frac1{pD} \sum_d \ln \det I(\beta_d) - \frac1V \sum_{vil} \Big(s_{vil} - \frac1{L_i}\Big)^2
        - 10 \sum_i (o_i - o_i^*)^2, \qquad
        s_{vil} = \text{share of the products of version v with level } l
    """
    design, sizes = start.copy(), attributes.sizes
    balance = Balance(design, sizes, wanted)
    costs = balance.cost()
    parts = informations(wanted.matrix(design, sizes), wanted.betas)  # (D, tasks, p, p)
    total = parts.sum(axis=1)
    value = float(_log_det(total[:, None])[0] - costs.sum())
    places = [(t, j, i) for t, j, i in np.ndindex(*design.shape)]
    for _ in range(_MAX_PASSES):
        before = value
        for number in rng.permutation(len(places)):
            t, j, i = places[number]
            levels = _possible(attributes, design[t], j, i, wanted)
            if not levels:
                continue
            tasks = np.repeat(design[t][None], len(levels), axis=0)
            tasks[:, j, i] = levels
            changed = informations(wanted.matrix(tasks, sizes), wanted.betas)
            after = balance.costs_after(i, t, int(design[t, j, i]), levels)
            values = (
                _log_det((total - parts[:, t])[:, None] + changed)
                - (costs.sum() - costs[i])
                - after
            )
            # of levels that are as good the first
            best = int((values > values.max() - _MIN_GAIN).argmax())
            if values[best] > value + _MIN_GAIN:
                balance.exchange(i, t, int(design[t, j, i]), levels[best])
                costs[i] = after[best]
                total += changed[:, best] - parts[:, t]
                design[t, j, i], parts[:, t], value = (
                    levels[best],
                    changed[:, best],
                    float(values[best]),
                )
        if value - before < _MIN_GAIN:
            break
    return OptimalDesign(design, value)


def _possible(
    attributes: Attributes, task: np.ndarray, j: int, i: int, wanted: DesignGoal
) -> list[int]:
    """Levels that attribute i of alternative j may have instead of its own."""
    shown = {tuple(product) for place, product in enumerate(task.tolist()) if place != j}
    found, after = [], task.copy()
    for level in range(attributes.sizes[i]):
        product = task[j].tolist()
        if level == product[i]:
            continue
        product[i] = after[j, i] = level
        if tuple(product) not in shown and attributes.allows(product) and wanted.allows(after):
            found.append(level)
    return found


def _log_det(informations: np.ndarray) -> np.ndarray:
    """Return the log determinants of informations (D, C, p, p), divided by p, mean over draws."""
    p = informations.shape[-1]
    return np.linalg.slogdet(informations + _PRECISION * np.eye(p))[1].mean(axis=0) / p


_MIN_STARTS, _MAX_STARTS = 5, 40  # starts
_EXCHANGES = 2_500  # places of all starts together, about


def choice(
    attributes: Any,
    tasks: int,
    alternatives: int,
    prohibited: Any = (),
    none: bool = False,
    prior: Any = None,
    versions: int = 1,
    random_seed: Any = None,
    interactions: Any = (),
    overlap: str = MINIMAL,
    directions: Any = None,
    holdouts: Any = (),
    prior_sd: Any = None,
) -> "pandas.DataFrame":
    r"""A design of a choice experiment: which products stand together in each task.

    Levels are exchanged one at a time, from several random starts, while that makes the determinant
    of the information of a multinomial logit larger or levels more evenly shown within every
    version (coordinate exchange):

    .. math::

        \frac1p \ln \det \sum_t \Big( \sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T \Big)
        - \frac1V \sum_{vil} \Big(s_{vil} - \frac1{L_i}\Big)^2 - 10 \sum_i (o_i - o_i^*)^2

    Parameters
    ----------
    attributes : dict of lists
        Attribute -> its levels, in their natural order.
    tasks : int
        That each person answers.
    alternatives : int
        Products in a task, the no-choice option not counted.
    prohibited : list of dicts
        What no product may have together: attribute -> a level, or several, such as [{"brand": "A",
        "price": [9, 12]}].
    none : bool
        Whether each task has a no-choice option, too.
    prior : dict or fitted logit, optional
        Utilities that are expected: attribute -> one for each level (a list, or level -> utility),
        or, of numbers, the utility of one more; "none" -> that of the no-choice option. None: all
        are 0. A logit that was fitted to a pilot, with these attributes and levels: the mean
        utilities of its people in 32 draws of its posterior (or of its sampling distribution), over
        which the log determinant is averaged: a Bayesian design.
    versions : int
        Sets of tasks; each person answers one of them.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    interactions : list of pairs, optional
        Attributes whose levels are to be told together, such as [("brand", "price")]: the model has
        the products of their columns, too.
    overlap : str
        How often products of a task have the same level: "minimal", as seldom as serves the
        determinant; or "balanced", a share of the pairs half way between the least possible and
        that of products at random, which tells more of interactions and of people who decide by one
        attribute.
    directions : dict, optional
        Attribute -> "increasing" or "decreasing": which levels everybody prefers. No product is
        then worse than another of its task: as good in no attribute with a direction, better in
        none, and the same in all others.
    holdouts : list, optional
        Tasks that everybody has beside these, and no model is fitted to: each a table of products,
        or a list of dicts, with every attribute; its numbers and levels need not be among the
        others.
    prior_sd : float, or dict, optional
        How uncertain the utilities in `prior` are: the standard deviation of each against the first
        level; or attribute -> that, one for each level, or, of numbers, of the utility of one more.
        The design is then good on average over 32 normal draws of them, a Bayesian design.

    Returns
    -------
    pandas.DataFrame
        One row an alternative: version, task, alternative ("1", "2", ...; the no-choice option is
        "none", and its cells are empty), and the attributes, categorical in their order. With a
        column of respondents in place of that of versions, and one of choices,
        `ChoiceExperiment.from_frame` reads it. With hold-out tasks, which stand last in every
        version, a column `held_out` is 1 there.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, names what is not there, leaves too few products, or if
        the tasks are too few for the coefficients.

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
    tasks, alternatives = whole("tasks", tasks, 1), whole("alternatives", alternatives, 2)
    versions = whole("versions", versions, 1)
    given = attributes_of(attributes, prohibited)
    if not isinstance(none, bool):
        raise ArgumentError(Argument("none"), f" must be True or False; got {none!r}.")
    drawn = prior_draws(prior, prior_sd, given.names, given.levels, none, DRAWS)
    one_of("overlap", overlap, (MINIMAL, BALANCED))
    crossed = crossed_of(interactions or (), given.names)
    signs = None if directions is None else signs_of(directions, given.names)
    fixed = [
        _holdout(number, task, given)
        for number, task in enumerate(() if holdouts is None else holdouts, 1)
    ]
    betas = np.array([coefficients(utilities, none) for utilities in drawn])
    more = sum((given.sizes[i] - 1) * (given.sizes[j] - 1) for i, j in crossed)
    _refuse_few(given, tasks * versions, alternatives, none, more)
    if isinstance(prior, Mapping) and signs is not None:  # a pilot may differ by chance
        _refuse_against_directions(
            utilities_of(prior, given.names, given.levels, none), given, signs
        )
    refuse_untold(given, none, crossed, signs)
    target = _balanced_overlap(given.sizes, alternatives) if overlap == BALANCED else None
    wanted = DesignGoal(
        np.hstack([betas, np.zeros((len(betas), more))]), none, versions, crossed, signs, target
    )
    places = tasks * versions * alternatives * len(given.names)
    found = [
        exchanged(
            given, random_design(given, tasks * versions, alternatives, wanted, rng), wanted, rng
        )
        for rng in spawn_generators(
            random_seed, int(np.clip(_EXCHANGES // places, _MIN_STARTS, _MAX_STARTS))
        )
    ]
    largest = max(each.value for each in found)
    best = next(each for each in found if each.value > largest - _MIN_GAIN)
    total = information(wanted.matrix(best.products, given.sizes), wanted.betas.mean(axis=0)).sum(
        axis=0
    )
    refuse_unknown(total, given, none, crossed, directed=not given.rules and signs is not None)
    return _table(best.products, given, tasks, none, fixed)


def _balanced_overlap(sizes: Sequence[int], alternatives: int) -> np.ndarray:
    """Half way between the least share of pairs of a task that are alike and that of products at
    random."""
    found = []
    for size in sizes:
        even, more = divmod(alternatives, size)
        alike = (size - more) * even * (even - 1) + more * (even + 1) * even
        found.append((alike / (alternatives * (alternatives - 1)) + 1.0 / size) / 2.0)
    return np.array(found)


def _holdout(number: int, given: Any, attributes: Attributes) -> list[dict[str, Any]]:
    """The products of a task that is held out."""
    rows = given.to_dict("records") if hasattr(given, "to_dict") else given
    rows = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, str | Mapping) else []
    if len(rows) < 2 or not all(isinstance(row, Mapping) for row in rows):
        raise ArgumentError(
            Argument("holdouts"),
            f": task {number} must be a table of at least two products; it has {len(rows)}.",
        )
    found = []
    for row in rows:
        named = {str(name): value for name, value in row.items()}
        if absent := [name for name in attributes.names if as_label(named.get(name, "")) == ""]:
            raise ArgumentError(
                Argument("holdouts"),
                f": a product of task {number} lacks {shorten(absent)}; give every attribute.",
            )
        if idle := [name for name in named if name not in attributes.names]:
            raise ArgumentError(
                Argument("holdouts"),
                f": task {number} contains {idle[0]!r}, which is not an attribute; remove this"
                " entry.",
            )
        found.append({name: named[name] for name in attributes.names})
        _refuse_holdout(number, found[-1], attributes)
    return found


def _refuse_holdout(number: int, product: Mapping[str, Any], attributes: Attributes) -> None:
    """Refuse a product with a label that no fit could know, or that may not be shown."""
    known = []
    for name, levels in zip(attributes.names, attributes.levels, strict=True):
        labels, label = list(map(as_label, levels)), as_label(product[name])
        known.append(labels.index(label) if label in labels else -1)
        if label not in labels and (None in map(as_number, labels) or as_number(label) is None):
            raise ArgumentError(
                Argument("holdouts"),
                f": a product in task {number} has {name!r} {label!r}, a level that no other task"
                f" has; the levels are {shorten(labels)}.{suggest(label, labels)}",
            )
    if not attributes.allows(known):
        shown = ", ".join(f"{name} {as_label(value)}" for name, value in product.items())
        raise ArgumentError(
            Argument("holdouts"),
            f": task {number} contains a product ({shown}) that is excluded by ",
            Argument("prohibited"),
            "; change or allow the product.",
        )


def _refuse_against_directions(
    utilities: list[np.ndarray], given: Attributes, signs: np.ndarray
) -> None:
    """Refuse utilities that are expected to go the other way than a direction says."""
    for i, name in enumerate(given.names):
        steps = np.diff(utilities[i]) * signs[i]
        if (steps < 0.0).any():
            way = "increasing" if signs[i] > 0 else "decreasing"
            place = int(steps.argmin())
            better, worse = [as_label(level) for level in given.levels[i][place : place + 2]][
                :: signs[i]
            ]
            raise ArgumentError(
                Argument("prior"),
                f" favours {name} {better} over {worse}, but ",
                Argument("directions"),
                f" declare {name!r} as {way}; change one of them.",
            )


def coefficients(utilities: list[np.ndarray], has_none: bool) -> np.ndarray:
    """Utilities of levels in the coding of `columns_of`."""
    of_levels = utilities[:-1] if has_none else utilities
    found = [own[1:] - own[0] for own in of_levels]
    if has_none:  # a product has the first level of each attribute where nothing is added
        found = [np.array([sum(own[0] for own in of_levels) - utilities[-1][0]]), *found]
    return np.concatenate(found)


def _refuse_few(
    attributes: Attributes, tasks: int, alternatives: int, has_none: bool, crossed: int
) -> None:
    """Refuse tasks that cannot have different products, or cannot tell all coefficients."""
    products = attributes.products(list(map(range, attributes.sizes)))
    if sum(1 for _, _ in zip(range(alternatives), products, strict=False)) < alternatives:
        raise ArgumentError(
            Argument("alternatives"),
            f" is {alternatives}, more than the number of different products; choose fewer.",
        )
    wanted = sum(attributes.sizes) - len(attributes.sizes) + has_none + crossed
    contrasts = tasks * (alternatives - 1 + has_none)
    if contrasts < wanted:
        fewest = -(-wanted // (alternatives - 1 + has_none))
        raise ArgumentError(
            Argument("tasks"),
            f": {plural(tasks, 'task')} can identify at most {plural(contrasts, 'coefficient')},"
            f" but there are {wanted:,}; use at least {fewest} tasks, or more ",
            Argument("versions"),
            ".",
        )


def _table(
    products: np.ndarray,
    attributes: Attributes,
    tasks: int,
    has_none: bool,
    holdouts: list[list[dict[str, Any]]],
) -> "pandas.DataFrame":
    """The design as a table, each version and task in turn, and in each version the tasks held
    out."""
    import pandas as pd

    number, alternatives, _ = products.shape
    labels = [*map(str, range(1, alternatives + 1)), *[NONE] * has_none]
    codes = np.concatenate(
        [products, np.full((number, int(has_none), products.shape[2]), -1)], axis=1
    )
    place = np.repeat(np.arange(number), len(labels))
    columns: dict[str, Any] = {
        VERSION: place // tasks + 1,
        TASK: place % tasks + 1,
        ALTERNATIVE: labels * number,
    }
    for i, (name, levels) in enumerate(zip(attributes.names, attributes.levels, strict=True)):
        columns[name] = pd.Categorical.from_codes(codes[..., i].ravel(), list(levels), ordered=True)
    table = pd.DataFrame(columns)
    if not holdouts:
        return table
    rows = []
    for version, (at, task) in combinations(
        range(1, number // tasks + 1), enumerate(holdouts, tasks + 1)
    ):
        where = {VERSION: version, TASK: at}
        rows += [
            {**where, ALTERNATIVE: str(place), **product} for place, product in enumerate(task, 1)
        ]
        rows += [{**where, ALTERNATIVE: NONE}] * has_none
    fixed = pd.DataFrame(rows)
    for name, levels in zip(attributes.names, attributes.levels, strict=True):
        known = {as_label(level): level for level in levels}
        # as those of a table that was read
        in_words = all(isinstance(level, str) for level in levels)
        cells = [
            as_label(value) if in_words and as_label(value) else value for value in fixed[name]
        ]
        own = [known.get(as_label(value), value) if value == value else None for value in cells]
        further = [
            value for value in dict.fromkeys(own) if value is not None and value not in levels
        ]
        fixed[name] = pd.Categorical(own, [*levels, *further], ordered=True)
        table[name] = table[name].cat.add_categories(further)
    both = pd.concat(
        [table.assign(**{HELD_OUT: 0}), fixed.assign(**{HELD_OUT: 1})], ignore_index=True
    )
    return both.sort_values([VERSION, TASK], kind="stable", ignore_index=True)
