"""Draws of the estimates by their covariance, and the class of everybody in each."""

from typing import NamedTuple

import numpy as np

from .climb import Summit
from .panel import Panel, point

DRAWS = 200
_LEAST = 1e-2  # information on a direction below which the data say nothing: it is held at its estimate


class ClassDraws(NamedTuple):
    """D draws of sizes and tastes, in the units of the attributes, and a class of everybody in each."""

    sizes: np.ndarray  # (D, K)
    tastes: np.ndarray  # (D, K, p)
    of_people: np.ndarray  # (D, people) uint8


def root_of_covariance(information: np.ndarray) -> np.ndarray:
    """A matrix whose product with its transpose is the covariance, without directions that have no information."""
    values, vectors = np.linalg.eigh(information)
    kept = values > _LEAST
    return vectors[:, kept] / np.sqrt(values[kept])


def open_parameters(information: np.ndarray) -> np.ndarray:
    """Numbers of the parameters of which a tenth or more lies in directions without information."""
    values, vectors = np.linalg.eigh(information)
    return np.flatnonzero((vectors[:, values <= _LEAST] ** 2).sum(axis=1) > 0.1)


def class_draws(panel: Panel, summit: Summit, scale: np.ndarray, rng: np.random.Generator) -> ClassDraws:
    """Draws from the normal distribution about the maximum, then classes from their probabilities given the choices."""
    number, p = summit.where.tastes.shape
    root = root_of_covariance(summit.information)
    sizes, tastes, of_people = [], [], []
    for noise in rng.normal(size=(DRAWS, root.shape[1])):
        step = root @ noise
        odds = summit.where.sizes * np.exp(np.concatenate([[0.0], step[: number - 1]]))
        sizes.append(odds / odds.sum())
        tastes.append(summit.where.tastes + step[number - 1 :].reshape(number, p))
        cumulated = point(panel, sizes[-1], tastes[-1]).membership.cumsum(axis=1)
        of_people.append((cumulated[:, :-1] < rng.random((panel.people, 1))).sum(axis=1))
    return ClassDraws(np.array(sizes), np.array(tastes) / scale, np.array(of_people).astype(np.uint8))
