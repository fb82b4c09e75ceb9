"""Coordinate exchange (Meyer & Nachtsheim 1995): one level of one product at a time, while the design gets better."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .information import columns_of, information, with_none
from .products import Attributes

_MOST_PASSES = 30
_LEAST = 1e-9  # gain of an exchange
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
    for _ in range(_MOST_PASSES):
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
            if values[best] > value + _LEAST:
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
