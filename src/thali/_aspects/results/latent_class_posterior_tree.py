"""Posterior of latent classes as a tree in the ArviZ schema.

The tree has the variables of one group, with probabilities for a new respondent, and in addition
the class of each respondent (`kind`), the weights of each class, scaled like weights of groups, and
the quantities that depend on them. Class numbers are arbitrary and change between draws;
`class_order` makes them comparable.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import KINDS
from thali._inference.index_arithmetic import count_pairs
from thali._model.stored_choices import MAX_PAIRS
from thali._people.latent_class_results import new_class_probabilities
from thali._posterior.datatree_files import build_tree, can_store_pointwise, describe_origin
from thali._posterior.posterior_tree import POPULATION

from ..draws.feature_columns import FeatureColumns
from ..draws.posterior_tree import (
    DataPart,
    KeptDraws,
    encode_features,
    select_kept_draws,
)
from .group_posterior_tree import (
    average_weights,
    build_unique_variables,
    list_group_columns,
    pad_weights,
    scale_weights,
)

if TYPE_CHECKING:
    import xarray

    from ..samplers.draw_record import RecordedDraws

MIN_LOG = -1e4  # replaces the logarithm of a probability of 0
_CLASS_DESCRIPTIONS = {
    "kind": "class of each respondent; class numbers are arbitrary and change between draws",
    "n_classes": "number of occupied classes",
    "choice_probability": "probability that a new respondent chooses the first of a pair, including"
    " lapses",
    "kind_choice_probability": "probability that a respondent of each class chooses the first of a"
    " pair, including lapses",
    "set_probability": "probability that a new respondent chooses the alternative out of those"
    " offered, including lapses",
    "kind_set_probability": "probability that a respondent of each class chooses the alternative,"
    " including lapses",
    "tie": "nu, the tie parameter, mean over the possible classes of a new respondent",
    "kind_tie": "nu, the tie parameter, in each class",
    "kind_weights": "weight of a feature in each class; padded with 0",
    "kind_unique_weights": "weight of the unique aspect of an option, in each class",
    "weights": "weight of a feature, mean over classes; padded with 0",
    "unique_weights": "weight of the unique aspect of an option, mean over classes",
    "kappa": "similarity of the classes: weights are Gamma(kappa, kappa / v) around the common"
    " weight v",
}


def build_class_tree(
    chains: Sequence["RecordedDraws"],
    data: Any,
    likelihood: Any,
    *,
    is_alpha_learned: bool,
    similar: bool,
    attrs: Mapping[str, object],
) -> "xarray.DataTree":
    """Build the posterior tree of latent classes from the draws of all chains."""
    kept_draws, questions = (
        select_kept_draws(chains),
        data.questions("tie" in likelihood.parameters),
    )
    given_answers = questions.given
    shape, n_classes = kept_draws.shape, kept_draws.chains[0].unique_weights.shape[1]
    class_draws = np.concatenate(
        kept_draws.stack_chains(chain.classes for chain in kept_draws.chains)
    )
    class_sizes = (class_draws[:, :, None] == np.arange(n_classes)).sum(axis=1)
    coordinates = {
        "option": np.asarray(data.labels, dtype=str),
        "respondent": np.asarray(given_answers.respondents, dtype=str),
    }
    log_coefficients = questions.compute_respondent_coefficients()
    stores_pairs = count_pairs(data.n_options) <= MAX_PAIRS
    class_columns = list_group_columns(kept_draws, range(n_classes))
    data_parts, class_parameters = _build_class_parts(
        kept_draws, class_columns, data, likelihood, stores_pairs
    )
    columns_by_class = scale_weights(class_columns, data_parts, class_parameters)
    mean_columns, first_part = average_weights(columns_by_class), data_parts[0]
    variables = {
        **kept_draws.build_variables(log_coefficients.sum(), similar),
        "n_classes": (("chain", "draw"), (class_sizes > 0).sum(axis=1).reshape(shape)),
        "kind": (("chain", "draw", "respondent"), class_draws.reshape(*shape, -1)),
        **encode_features(mean_columns, shape, stores_pairs),
        "kind_weights": (
            ("chain", "draw", "kind_number", "feature"),
            pad_weights(columns_by_class, shape),
        ),
    }
    if likelihood.unique:
        variables |= build_unique_variables(
            mean_columns, columns_by_class, shape, "kind_number", "kind_unique_weights"
        )
    class_shares = new_class_probabilities(class_sizes).reshape(*shape, n_classes)
    variables |= _average_variables(data_parts, class_parameters, class_shares)
    descriptions = first_part.descriptions | _CLASS_DESCRIPTIONS
    datasets = kept_draws.build_groups(
        variables, coordinates | first_part.coordinates, descriptions
    )
    log_likelihood = _build_log_likelihood(
        kept_draws, data_parts, given_answers, class_draws, log_coefficients
    )
    if log_likelihood is not None:
        datasets["log_likelihood"] = log_likelihood
    datasets |= _build_data_groups(
        first_part, given_answers, coordinates, is_alpha_learned, similar, n_classes
    )
    return build_tree(datasets, {**describe_origin(), **attrs})


def _build_data_groups(
    first_part: DataPart,
    given_answers: Any,
    coordinates: dict[str, Any],
    is_alpha_learned: bool,
    similar: bool,
    n_classes: int,
) -> "dict[str, xarray.Dataset]":
    """Return the tree's groups `observed_data` and `constant_data`."""
    import xarray as xr

    observed_data = first_part.observed | {"answers": ("given_answer", given_answers.times)}
    constant_data = first_part.constants | {
        "answer_respondent": ("given_answer", given_answers.respondent),
        "answer_place": ("given_answer", given_answers.answer),
        "kind": first_part.kind,
        POPULATION: KINDS,
        "learned_alpha": bool(is_alpha_learned),
        "similar": bool(similar),
        "kinds": n_classes,
    }
    return {
        "observed_data": xr.Dataset(observed_data, first_part.observed_coordinates),
        "constant_data": xr.Dataset(constant_data, first_part.observed_coordinates | coordinates),
    }


def _build_class_parts(
    draws: KeptDraws,
    class_columns: Sequence[FeatureColumns],
    data: Any,
    likelihood: Any,
    stores_pairs: bool,
) -> tuple[list[DataPart], dict[str, list[np.ndarray]]]:
    """Return each class's part of the posterior tree, and parameter draws by name."""
    class_parameters = {
        name: [draws.stack_parameter(f"{name} {g}") for g in range(len(class_columns))]
        for name in likelihood.parameters
    }
    data_parts = []
    for g, feature_columns in enumerate(class_columns):
        flat_parameters = {name: values[g].ravel() for name, values in class_parameters.items()}
        data_parts.append(
            likelihood.build_posterior_part(
                feature_columns, flat_parameters, data, draws.shape, stores_pairs
            )
        )
    return data_parts, class_parameters


def _average_variables(
    data_parts: Sequence[DataPart],
    class_parameters: Mapping[str, Sequence[np.ndarray]],
    shares: Any,
) -> dict[str, Any]:
    """Return variables by class, and their means over classes weighted by class size."""
    variables, first_part, tie_draws = {}, data_parts[0], None
    for name, values in class_parameters.items():
        if name in first_part.descriptions:  # the parts contain the others
            class_values = np.stack(values, axis=2)
            variables[f"kind_{name}"] = ("chain", "draw", "kind_number"), class_values
            variables[name] = ("chain", "draw"), (shares * class_values).sum(axis=2)
            if name == "tie":
                tie_draws = class_values
    for name, (dims, values) in first_part.variables.items():
        # a quantity of the owners, or a parameter that all classes share
        if len(dims) == 2 or name in first_part.common:
            variables[name] = dims, values
        elif name != "unique_weights":
            class_values = np.stack([part.variables[name][1] for part in data_parts], axis=2)
            choice_ties = None
            if name == "choice_probability":
                choice_ties = tie_draws
            variables[name] = dims, average_over_classes(shares, class_values, choice_ties)
            variables[f"kind_{name}"] = (*dims[:2], "kind_number", *dims[2:]), class_values
    return variables


def _build_log_likelihood(
    draws: KeptDraws,
    data_parts: Sequence[DataPart],
    answers: Any,
    class_draws: np.ndarray,
    coefficients: np.ndarray,
) -> "xarray.Dataset | None":
    """Return the log-likelihood of each respondent by draw; None if too many."""
    import xarray as xr
    from scipy.sparse import csr_array

    with np.errstate(divide="ignore"):  # a probability of 0
        log_probabilities = [
            np.log(part.answers()) for part in data_parts if part.answers is not None
        ]
    n_respondents = len(answers.respondents)
    if not log_probabilities or not can_store_pointwise(n_respondents, len(class_draws)):
        return None
    answer_counts = csr_array(
        (answers.times, (answers.answer, answers.respondent)),
        (log_probabilities[0].shape[1], n_respondents),
    )
    person_log_probabilities = np.stack(
        [np.maximum(log, MIN_LOG) @ answer_counts for log in log_probabilities], axis=2
    )
    log_terms = _log_person_terms(person_log_probabilities, class_draws) + coefficients
    return xr.Dataset(
        {"answers": (("chain", "draw", "respondent"), log_terms.reshape(*draws.shape, -1))},
        draws.build_coordinates() | {"respondent": np.asarray(answers.respondents, dtype=str)},
    )


def average_over_classes(
    shares: np.ndarray, probabilities: np.ndarray, ties: np.ndarray | None
) -> np.ndarray:
    """Average probabilities over classes, weighted by class size.

    `probabilities` has shape (..., classes, n). For pairs with `ties`, they are conditional
    on a choice, so classes are weighted by how often they choose.
    """
    if ties is None:
        return np.einsum("...g,...gn->...n", shares, probabilities)
    class_weights = shares[..., None] / (
        1.0 + ties[..., None] * np.sqrt(probabilities * (1.0 - probabilities))
    )
    return (class_weights * probabilities).sum(axis=-2) / class_weights.sum(axis=-2)


def _log_person_terms(log_probabilities: np.ndarray, class_draws: np.ndarray) -> np.ndarray:
    """Return log probabilities of each respondent's answers, given the others' classes."""
    # `logs` has shape (draws, respondents, classes), `class_draws` are the classes of the draws.
    # Conditional on the weights of all classes, so that importance sampling can predict the answers
    # of held-out respondents.
    from scipy.special import logsumexp

    _, n_respondents, n_classes = log_probabilities.shape
    log_joint = np.empty(log_probabilities.shape)
    for g in range(n_classes):
        is_member = class_draws == g
        n_others = is_member.sum(axis=1, keepdims=True) - is_member
        log_joint[:, :, g] = log_probabilities[:, :, g] + np.log(
            (n_others + 1.0) / (n_respondents - 1.0 + n_classes)
        )
    return np.asarray(logsumexp(log_joint, axis=2))
