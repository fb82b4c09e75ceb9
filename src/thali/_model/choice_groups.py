"""What a posterior stores of choices besides draws: the data, and the coordinates of pairs and sets
of options."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import BEST_WORST, CHOICES, PAIRS

from .covariates import parts_of

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


# With more pairs of options than this nothing of each pair and draw is kept.
MAX_PAIRS = 2_000


def pair_index(first: np.ndarray, second: np.ndarray, n_options: int) -> np.ndarray:
    """Position of each pair first < second among all pairs in row-major order."""
    first, second = np.asarray(first), np.asarray(second)
    return first * (2 * n_options - first - 1) // 2 + second - first - 1


def pair_coordinates(
    dim: str, labels: np.ndarray, first: np.ndarray, second: np.ndarray
) -> dict[Any, Any]:
    """The labels of both options of each pair along a dimension."""
    return {"option_a": (dim, labels[first]), "option_b": (dim, labels[second])}


def pair_names(labels: np.ndarray) -> dict[Any, Any]:
    """Coordinates of all pairs in row-major order: `pair` is "a, b", `option_a` and `option_b` the
    two options."""
    # ArviZ labels rows by `pair` and fails at any other coordinate along the dimensions of a
    # variable: the options have a separate dimension, of the same length and order.
    first, second = np.triu_indices(len(labels), k=1)
    names = np.array(
        [f"{labels[i]}, {labels[j]}" for i, j in zip(first, second, strict=True)], dtype=str
    )
    return {"pair": names, **pair_coordinates("pair_number", labels, first, second)}


def as_counts(values: np.ndarray) -> np.ndarray:
    """Counts as integers, by which ArviZ knows discrete data; weighted ones as they are."""
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


class DataGroups(NamedTuple):
    """The data in a posterior, as `xarray.Dataset` takes them."""

    kind: str
    coefficients: np.ndarray  # of each question
    observed: dict[Any, Any]  # group observed_data
    constants: dict[Any, Any]  # group constant_data
    coordinates: dict[Any, Any]  # of both
    rows: tuple[str, ...]  # the dimensions along which data stand

    @property
    def log_constant(self) -> float:
        """What a likelihood without coefficients leaves out."""
        return float(self.coefficients.sum())


def groups_of_pairs(data: "PairedComparisons", lapse: float, has_ties: bool) -> DataGroups:
    """Return what is stored of paired comparisons."""
    labels = np.asarray(data.labels, dtype=str)
    of_pairs = np.bincount(data.cells.pair, data.questions().log_coefficients(), data.n_pairs)
    constants, names = ({}, {}) if data.covariates is None else parts_of(data.covariates)
    constants = {
        "first": ("compared_pair", data.first),
        "second": ("compared_pair", data.second),
        "losses": ("compared_pair", as_counts(data.losses)),
        "log_binomial_coefficient": ("compared_pair", of_pairs),
        "lapse": float(lapse),
        "has_ties": has_ties,
        **constants,
    }
    observed = {"wins": ("compared_pair", as_counts(data.wins))}
    observed |= {"ties": ("compared_pair", as_counts(data.tied))} if has_ties else {}
    coordinates = pair_coordinates("compared_pair", labels, data.first, data.second) | names
    return DataGroups(PAIRS, of_pairs, observed, constants, coordinates, ("compared_pair", "cell"))


def groups_of_sets(data: "Choices", lapse: float) -> DataGroups:
    """Return what is stored of choices from sets, or of the best and the worst of them."""
    labels, asked = np.asarray(data.labels, dtype=str), data.questions()
    coefficients, names = asked.log_coefficients(), set_names(data)
    kind, coordinates, rows = BEST_WORST, {"set": names}, ("set", "place", "answer")
    if data.worst is None:
        kind, rows = CHOICES, ("set", "place")
        coordinates |= {
            "offered": ("place", names[data.set_of]),
            "alternative": ("place", labels[data.members]),
        }
    constants = {
        "set_size": ("set", data.sizes),
        "member": ("place", data.members),
        "log_multinomial_coefficient": ("set", coefficients),
        "lapse": float(lapse),
    }
    observed = {"chosen": (rows[-1], as_counts(asked.counts))}
    return DataGroups(kind, coefficients, observed, constants, coordinates, rows)


def set_names(data: "Choices") -> np.ndarray:
    """Return the members of each set, between commas."""
    return np.array([", ".join(members) for members in data.sets], dtype=str)


def place_names(data: "Choices") -> dict[Any, Any]:
    """Return coordinates of the members of all sets: `place` is "a | a, b"."""
    offered, alternative = (
        set_names(data)[data.set_of],
        np.asarray(data.labels, dtype=str)[data.members],
    )
    return {
        "place": np.array(
            [f"{one} | {of}" for one, of in zip(alternative, offered, strict=True)], dtype=str
        ),
        "offered": ("place_number", offered),  # a separate dimension, as that of `option_a`
        "alternative": ("place_number", alternative),
    }


def shown_groups(data: "Choices", rule: str) -> dict[Any, Any]:
    """Return how many options were shown at once, and by which rule the best and the worst were
    chosen."""
    return {"shown_size": ("shown_set", data.sizes)} | (
        {} if data.worst is None else {"best_worst": rule}
    )
