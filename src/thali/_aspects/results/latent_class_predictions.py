"""Predictions for a new respondent from the posterior of latent classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._model.labelled_option_sets import pair_indices, tabulate_outcomes
from thali._people.latent_class_results import aligned_class_probabilities
from thali._posterior.posterior_tree import POPULATION, Posterior, split_draws

from ..draws.covariate_offsets import CovariateOffsets
from ..draws.feature_columns import read_columns
from ..draws.pair_probabilities import iterate_probabilities
from ..draws.posterior_tree import DataPart
from .choice_predictions import AskedSets, build_covariate_offsets
from .group_posterior_tree import join_parts

if TYPE_CHECKING:
    import pandas


def list_respondent_answers(posterior: Posterior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondent index, answer index and count of each observed answer."""
    constant_data = posterior.fixed
    answer_fields = constant_data["answer_respondent"].values, constant_data["answer_place"].values
    return *answer_fields, posterior.observed["answers"].values


def convert_classes_to_groups(
    posterior: Posterior, data_parts: Sequence[DataPart], place_indices: Sequence[np.ndarray]
) -> Posterior:
    """Return the posterior with the classes as groups named "1", "2", ...

    `data_parts` are the data of each class; `place_indices` are the set indices of each part.
    """
    n_classes, class_order = posterior.max_classes, posterior.class_order
    variables, shape = posterior.merge_draws(), posterior.shape
    class_names = [str(g + 1) for g in range(n_classes)]
    observed_data = join_parts(data_parts, "observed", 0, {})
    constant_data = join_parts(
        data_parts,
        "constants",
        0,
        {"option": posterior.fixed["option"].values, "group": class_names},
    )
    stored_constants = posterior.fixed
    scalar_names = [
        variable_name
        for variable_name in stored_constants
        if not stored_constants[variable_name].dims and variable_name not in ("kinds", POPULATION)
    ]
    constant_data = constant_data.assign(
        {variable_name: stored_constants[variable_name] for variable_name in scalar_names}
        | {POPULATION: GROUPS}
    )
    datasets = {"observed_data": observed_data, "constant_data": constant_data}
    for variable_name in [
        str(variable_name)
        for variable_name in variables.data_vars
        if "kind_number" in variables[variable_name].dims
    ]:
        values, dims = variables[variable_name].values, variables[variable_name].dims
        class_index = class_order.reshape(*shape, n_classes, *[1] * (values.ndim - 3))
        values, base_name = (
            np.take_along_axis(values, class_index, axis=2),
            variable_name.removeprefix("kind_"),
        )
        variables = variables.drop_vars(variable_name)
        if dims[3:] == ("place",):  # the sets that members of each class answered
            variables = variables.drop_vars(base_name).drop_dims(("place", "place_number"))
            variables[base_name] = (
                dims[:2] + dims[3:],
                np.concatenate([values[:, :, g, place_indices[g]] for g in range(n_classes)], 2),
            )
            continue
        if base_name in ("weights", "unique_weights"):
            base_name = f"group_{base_name}"
        variables[base_name] = (*dims[:2], "group", *dims[3:]), values
    variables = variables.drop_vars(
        ["kind", "n_classes", "respondent", "class_order"]
    ).assign_coords(group=class_names)
    if "set_probability" in variables:
        variables = _label_answers(variables, observed_data)
    return Posterior.from_groups(
        split_draws(variables) | datasets | {"sample_stats": posterior.stats}, posterior.attributes
    )


def _label_answers(variables: Any, observed_data: Any) -> Any:
    """Return the variables with answers and their groups as coordinates."""
    row_labels = {
        variable_name: observed_data[variable_name].values
        for variable_name in ("offered", "alternative", "place_group")
    }
    answer_labels = [
        f"{alternative} | {offered}"
        for alternative, offered in zip(
            row_labels["alternative"], row_labels["offered"], strict=True
        )
    ]
    variables = variables.assign_coords(place_group=("place", row_labels["place_group"]))
    return variables.assign_coords(place=np.array(answer_labels, dtype=str))


# Predictions for a new respondent: a mixture over classes -----------------------------------------


def predict_new_respondent(
    posterior: Posterior, classes: Posterior, sets: Any, return_se: bool, covariates: Any
) -> Any:
    """Return choice probabilities of a new respondent, averaged over latent classes.

    For pairs they are the probabilities of the first option; otherwise, for each set, those of its
    members. `classes` is the posterior as groups.
    """
    asked_sets, covariate_offsets = (
        AskedSets(posterior, sets),
        build_covariate_offsets(posterior, sets, covariates),
    )
    if asked_sets.paired:
        first_options, second_options = asked_sets.pairs
        outcome_probability = compute_new_outcomes(
            posterior, classes, first_options, second_options, covariate_offsets
        )
        return asked_sets.means(
            outcome_probability[..., 0]
            / (outcome_probability[..., 0] + outcome_probability[..., 2]),
            return_se,
        )
    class_shares = aligned_class_probabilities(posterior)
    class_probabilities = [
        asked_sets.probabilities(read_columns(classes.of_group(class_name)))
        for class_name in classes.groups
    ]
    return asked_sets.means(
        np.sum([class_shares[:, g, None] * p for g, p in enumerate(class_probabilities)], axis=0),
        return_se,
    )


def compute_new_outcomes(
    posterior: Posterior,
    classes: Posterior,
    first_options: np.ndarray,
    second_options: np.ndarray,
    covariate_offsets: CovariateOffsets | None,
) -> np.ndarray:
    """Return a new respondent's outcome probabilities, shape (n_draws, n_pairs, 3).

    Outcomes are the first option, a tie, and the second option.
    """
    class_shares, lapse = aligned_class_probabilities(posterior), posterior.lapse
    probabilities = np.zeros((len(class_shares), len(first_options), 3))
    for g, class_name in enumerate(classes.groups):
        class_posterior = classes.of_group(class_name)
        tie_parameter = class_posterior.tie
        if tie_parameter is None:
            tie_parameter = np.zeros(len(class_shares))
        for draw_slice, p_first, p_second in iterate_probabilities(
            read_columns(class_posterior), first_options, second_options, lapse, covariate_offsets
        ):
            outcomes = compute_win_tie_loss(p_first, p_second, tie_parameter[draw_slice, None])
            probabilities[draw_slice] += class_shares[draw_slice, g, None, None] * outcomes
    return probabilities


def new_outcomes_table(
    posterior: Posterior, classes: Posterior, pairs: Any, covariates: Any
) -> "pandas.DataFrame":
    """Return a new respondent's outcome probabilities: a, b, p_a, p_tie, p_b."""
    labels = posterior.labels
    first_options, second_options = pair_indices(pairs, labels, posterior.tie is not None)
    outcome_draws = compute_new_outcomes(
        posterior,
        classes,
        first_options,
        second_options,
        build_covariate_offsets(posterior, pairs, covariates),
    )
    return tabulate_outcomes(labels, first_options, second_options, outcome_draws.mean(axis=0))
