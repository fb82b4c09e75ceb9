"""`choice`: a balanced design with little error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import whole
from thali._labels import plural
from thali.errors import Argument, ArgumentError
from thali.inference.seeds import streams

from .products import (
    ALTERNATIVE,
    NONE,
    TASK,
    VERSION,
    Attributes,
    attributes_of,
    columns_of,
    information,
    utilities_of,
    with_none,
)

if TYPE_CHECKING:
    import pandas


# Coordinate exchange (Meyer & Nachtsheim 1995): one level of one product at a time, while the design gets better ------


_MAX_PASSES = 30
_MIN_GAIN = 1e-9  # gain of an exchange
_TRIES = 200  # products drawn until a task has no two alike


class Found(NamedTuple):
    """A design and what is maximised."""

    products: np.ndarray  # (tasks, alternatives, attributes) level numbers
    value: float


def random_design(attributes: Attributes, tasks: int, alternatives: int, rng: np.random.Generator) -> np.ndarray:
    """Products at random, no two alike in a task."""
    found = np.empty((tasks, alternatives, len(attributes.names)), np.int64)
    for task in found:
        shown: set[tuple[int, ...]] = set()
        for place in range(alternatives):
            for _ in range(_TRIES):
                product = next(attributes.products([rng.permutation(size).tolist() for size in attributes.sizes]))
                if product not in shown:
                    break
            else:
                product = next(
                    each for each in attributes.products(list(map(range, attributes.sizes))) if each not in shown
                )
            shown.add(product)
            task[place] = product
    return found


def exchanged(
    attributes: Attributes, start: np.ndarray, beta: np.ndarray, has_none: bool, rng: np.random.Generator
) -> Found:
    r"""Exchange levels while that increases

    .. math:: \frac1p \ln \det I - \sum_{il} \Big(s_{il} - \frac1{L_i}\Big)^2, \qquad
        s_{il} = \text{share of the products that have level } l
    """
    design, sizes = start.copy(), attributes.sizes
    counts = [np.bincount(design[..., i].ravel(), minlength=size).astype(float) for i, size in enumerate(sizes)]
    parts = information(_matrix(design, sizes, has_none), beta)
    total = parts.sum(axis=0)
    value = _value(total[None], counts)[0]
    places = [(t, j, i) for t, j, i in np.ndindex(*design.shape)]
    for _ in range(_MAX_PASSES):
        before = value
        for number in rng.permutation(len(places)):
            t, j, i = places[number]
            levels = _possible(attributes, design[t], j, i)
            if not levels:
                continue
            tasks = np.repeat(design[t][None], len(levels), axis=0)
            tasks[:, j, i] = levels
            changed = information(_matrix(tasks, sizes, has_none), beta)
            values = _value(total - parts[t] + changed, counts, (i, int(design[t, j, i]), levels))
            best = int(values.argmax())
            if values[best] > value + _MIN_GAIN:
                counts[i][design[t, j, i]] -= 1
                counts[i][levels[best]] += 1
                total += changed[best] - parts[t]
                design[t, j, i], parts[t], value = levels[best], changed[best], float(values[best])
        if value - before < 1e-6:
            break
    return Found(design, value)


def _matrix(design: np.ndarray, sizes: Sequence[int], has_none: bool) -> np.ndarray:
    matrix = columns_of(design, sizes, has_none)
    return with_none(matrix) if has_none else matrix


def _possible(attributes: Attributes, task: np.ndarray, j: int, i: int) -> list[int]:
    """Levels that attribute i of alternative j may have instead of its own."""
    shown = {tuple(product) for place, product in enumerate(task.tolist()) if place != j}
    found = []
    for level in range(attributes.sizes[i]):
        product = task[j].tolist()
        if level == product[i]:
            continue
        product[i] = level
        if tuple(product) not in shown and attributes.allows(product):
            found.append(level)
    return found


def _value(
    informations: np.ndarray, counts: list[np.ndarray], move: tuple[int, int, list[int]] | None = None
) -> np.ndarray:
    """What is maximised, for informations (C, p, p) after one level is exchanged for each of C others."""
    sign, log_det = np.linalg.slogdet(informations)
    log_det = np.where(sign > 0, log_det, -1e6) / informations.shape[-1]
    uneven = np.array([((own / own.sum() - 1.0 / len(own)) ** 2).sum() for own in counts])
    if move is None:
        return log_det - uneven.sum()
    i, old, levels = move
    changed = np.repeat(counts[i][None], len(levels), axis=0)
    changed[:, old] -= 1.0
    changed[np.arange(len(levels)), levels] += 1.0
    share = changed / counts[i].sum() - 1.0 / len(counts[i])
    return log_det - (uneven.sum() - uneven[i]) - (share**2).sum(axis=1)


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
) -> "pandas.DataFrame":
    r"""A design of a choice experiment: which products stand together in each task.

    Levels are exchanged one at a time, from several random starts, while that makes the determinant of the information
    of a multinomial logit larger or levels more evenly shown (coordinate exchange):

    .. math:: \frac1p \ln \det \sum_t \Big( \sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T \Big)
        - \sum_{il} \Big(s_{il} - \frac1{L_i}\Big)^2

    Parameters
    ----------
    attributes : dict of lists
        Attribute -> its levels, in their natural order.
    tasks : int
        That each person answers.
    alternatives : int
        Products in a task, the no-choice option not counted.
    prohibited : list of dicts
        What no product may have together: attribute -> a level, or several, such as [{"brand": "A", "price": [9, 12]}].
    none : bool
        Whether each task has a no-choice option, too.
    prior : dict, optional
        Utilities that are expected: attribute -> one for each level (a list, or level -> utility), or, of numbers, the
        utility of one more; "none" -> that of the no-choice option. None: all are 0.
    versions : int
        Sets of tasks; each person answers one of them.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    pandas.DataFrame
        One row an alternative: version, task, alternative ("1", "2", ...; the no-choice option is "none", and its cells
        are empty), and the attributes, categorical in their order. With a column of respondents in place of that of
        versions, and one of choices, `ChoiceExperiment.from_frame` reads it.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, names what is not there, leaves too few products, or if the tasks are too
        few for the coefficients.

    References
    ----------
    Meyer & Nachtsheim (1995), The coordinate-exchange algorithm for constructing exact optimal experimental designs;
    Huber & Zwerina (1996), The importance of utility balance in efficient choice designs.

    Examples
    --------
    >>> import thali as th
    >>> design = choice({"brand": ["A", "B"], "price": [9, 12]}, tasks=2, alternatives=2, random_seed=1)
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
    utilities = utilities_of(prior, given.names, given.levels, none)
    _refuse_few(given, tasks * versions, alternatives, none)
    beta = coefficients(utilities, none)
    places = tasks * versions * alternatives * len(given.names)
    found = [
        exchanged(given, random_design(given, tasks * versions, alternatives, rng), beta, none, rng)
        for rng in streams(random_seed, int(np.clip(_EXCHANGES // places, _MIN_STARTS, _MAX_STARTS)))
    ]
    best = max(found, key=lambda each: each.value)
    matrix = columns_of(best.products, given.sizes, none)
    total = information(with_none(matrix) if none else matrix, beta).sum(axis=0)
    if np.linalg.matrix_rank(total) < len(total):
        raise ArgumentError(
            Argument("prohibited"),
            " leaves products that cannot tell the effects of all levels apart; allow more, or leave an attribute out.",
        )
    return _table(best.products, given, tasks, none)


def coefficients(utilities: list[np.ndarray], has_none: bool) -> np.ndarray:
    """Utilities of levels in the coding of `columns_of`."""
    of_levels = utilities[:-1] if has_none else utilities
    found = [own[1:] - own[0] for own in of_levels]
    if has_none:  # a product has the first level of each attribute where nothing is added
        found = [np.array([sum(own[0] for own in of_levels) - utilities[-1][0]]), *found]
    return np.concatenate(found)


def _refuse_few(attributes: Attributes, tasks: int, alternatives: int, has_none: bool) -> None:
    """Refuse tasks that cannot have different products, or cannot tell all coefficients."""
    products = attributes.products(list(map(range, attributes.sizes)))
    if sum(1 for _, _ in zip(range(alternatives), products, strict=False)) < alternatives:
        raise ArgumentError(
            Argument("alternatives"),
            f" is {alternatives}, which is more than there are different products; ask for fewer.",
        )
    wanted = sum(attributes.sizes) - len(attributes.sizes) + has_none
    contrasts = tasks * (alternatives - 1 + has_none)
    if contrasts < wanted:
        fewest = -(-wanted // (alternatives - 1 + has_none))
        raise ArgumentError(
            Argument("tasks"),
            f": {plural(tasks, 'task')} in all tell {plural(contrasts, 'number')} at most, and there are "
            f"{plural(wanted, 'coefficient')}; ask for {fewest} tasks or more, or for more ",
            Argument("versions"),
            ".",
        )


def _table(products: np.ndarray, attributes: Attributes, tasks: int, has_none: bool) -> "pandas.DataFrame":
    """The design as a table, each version and task in turn."""
    import pandas as pd

    number, alternatives, _ = products.shape
    labels = [*map(str, range(1, alternatives + 1)), *[NONE] * has_none]
    codes = np.concatenate([products, np.full((number, int(has_none), products.shape[2]), -1)], axis=1)
    place = np.repeat(np.arange(number), len(labels))
    columns: dict[str, Any] = {VERSION: place // tasks + 1, TASK: place % tasks + 1, ALTERNATIVE: labels * number}
    for i, (name, levels) in enumerate(zip(attributes.names, attributes.levels, strict=True)):
        columns[name] = pd.Categorical.from_codes(codes[..., i].ravel(), list(levels), ordered=True)
    return pd.DataFrame(columns)
