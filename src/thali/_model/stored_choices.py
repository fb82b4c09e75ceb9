"""Choice data as variables of a posterior, and labels of pairs and sets."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import BEST_WORST, CHOICES, PAIRS

from .covariate_effects import store_covariates, store_option_covariates

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


# With more pairs of options, quantities per pair and draw are not stored.
MAX_PAIRS = 2_000


def pair_index(first_option: np.ndarray, second_option: np.ndarray, n_options: int) -> np.ndarray:
    """Return the number of each pair of options in the list of all pairs.

    The list is row-major.
    """
    first_option = np.asarray(first_option)
    second_option = np.asarray(second_option)
    return first_option * (2 * n_options - first_option - 1) // 2 + second_option - first_option - 1


def pair_coordinates(
    dimension: str, labels: np.ndarray, first_options: np.ndarray, second_options: np.ndarray
) -> dict[Any, Any]:
    """Return xarray coordinates with both option labels of each pair along `dimension`."""
    return {
        "option_a": (dimension, labels[first_options]),
        "option_b": (dimension, labels[second_options]),
    }


def all_pair_coordinates(labels: np.ndarray) -> dict[Any, Any]:
    """Return xarray coordinates of all option pairs, in row-major order.

    `pair` is "a, b"; `option_a` and `option_b` are the two options.
    """
    # ArviZ labels rows by `pair` and fails for other coordinates along dimensions of a variable, so
    # the options have a separate dimension of the same length and order.
    first_options, second_options = np.triu_indices(len(labels), k=1)
    pair_names = np.array(
        [f"{labels[i]}, {labels[j]}" for i, j in zip(first_options, second_options, strict=True)],
        dtype=str,
    )
    return {
        "pair": pair_names,
        **pair_coordinates("pair_number", labels, first_options, second_options),
    }


def convert_counts(counts: np.ndarray) -> np.ndarray:
    """Convert integer-valued counts to int, which ArviZ treats as discrete."""
    integers = counts.astype(np.int64)
    if np.array_equal(integers, counts):
        return integers
    return counts


class StoredData(NamedTuple):
    """Data to store with a posterior: observed, constant, coordinates."""

    kind: str
    coefficients: np.ndarray  # per question
    observed: dict[Any, Any]  # group observed_data
    constants: dict[Any, Any]  # group constant_data
    coordinates: dict[Any, Any]  # of both groups

    @property
    def log_constant(self) -> float:
        """Sum of log multinomial coefficients, which the stored likelihood lacks."""
        return float(self.coefficients.sum())


def store_pairs(data: "PairedComparisons", lapse: float, has_ties: bool) -> StoredData:
    """Return counts of paired comparisons as data to store in a posterior."""
    labels = np.asarray(data.labels, dtype=str)
    log_coefficients = np.bincount(
        data.cells.pair, data.questions().log_coefficients(), data.n_pairs
    )
    constants = {
        "first": ("compared_pair", data.first),
        "second": ("compared_pair", data.second),
        "losses": ("compared_pair", convert_counts(data.losses)),
        "log_binomial_coefficient": ("compared_pair", log_coefficients),
        "lapse": float(lapse),
        "has_ties": has_ties,
    }
    observed = {"wins": ("compared_pair", convert_counts(data.wins))}
    if has_ties:
        observed["ties"] = ("compared_pair", convert_counts(data.tied))
    coordinates = pair_coordinates("compared_pair", labels, data.first, data.second)
    if data.covariates is not None:
        covariate_variables, covariate_names = store_covariates(data.covariates)
        constants |= covariate_variables
        coordinates |= covariate_names
    return StoredData(PAIRS, log_coefficients, observed, constants, coordinates)


def store_sets(data: "Choices", lapse: float) -> StoredData:
    """Return choices from sets, or best-worst choices, as data to store in a posterior."""
    labels = np.asarray(data.labels, dtype=str)
    questions = data.questions()
    coefficients = questions.log_coefficients()
    set_names = join_set_members(data)
    data_kind = BEST_WORST
    answer_dimension = "answer"
    coordinates = {"set": set_names}
    if data.worst is None:
        data_kind = CHOICES
        answer_dimension = "place"
        coordinates |= {
            "offered": ("place", set_names[data.set_of]),
            "alternative": ("place", labels[data.members]),
        }
    constants = {
        "set_size": ("set", data.sizes),
        "member": ("place", data.members),
        "log_multinomial_coefficient": ("set", coefficients),
        "lapse": float(lapse),
    }
    if data.covariates is not None:
        covariate_variables, covariate_names = store_option_covariates(data.covariates)
        constants |= covariate_variables
        coordinates |= covariate_names
    observed = {"chosen": (answer_dimension, convert_counts(questions.counts))}
    return StoredData(data_kind, coefficients, observed, constants, coordinates)


def join_set_members(data: "Choices") -> np.ndarray:
    """Return a text for each set: its option labels, joined by commas."""
    return np.array([", ".join(members) for members in data.sets], dtype=str)


def member_coordinates(data: "Choices") -> dict[Any, Any]:
    """Return coordinates of the members of all sets, such as "a | a, b"."""
    offered = join_set_members(data)[data.set_of]
    alternative = np.asarray(data.labels, dtype=str)[data.members]
    member_names = [
        f"{member} | {set_name}" for member, set_name in zip(alternative, offered, strict=True)
    ]
    return {
        "place": np.array(member_names, dtype=str),
        "offered": ("place_number", offered),  # a separate dimension, as that of `option_a`
        "alternative": ("place_number", alternative),
    }


def set_size_variables(data: "Choices", rule: str) -> dict[Any, Any]:
    """Return variables to store: size of each set, rule of best and worst."""
    variables: dict[Any, Any] = {"shown_size": ("shown_set", data.sizes)}
    if data.worst is not None:
        variables["best_worst"] = rule
    return variables
