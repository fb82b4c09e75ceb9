"""Posterior of several groups of respondents as an ArviZ tree, and its feature table.

The tree has the variables of one group, with the mean of the weights over groups, and in addition
the weights of each group and the quantities that depend on them. Choices depend only on ratios of
weights, so their weights are shares of the group's total.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS
from thali._inference.index_arithmetic import count_pairs
from thali._inference.numerics.weight_shares import replace_zeros
from thali._model.stored_choices import MAX_PAIRS
from thali._posterior.datatree_files import can_store_pointwise, describe_origin
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import FACTS, POPULATION, Posterior, flatten_chains
from thali.errors import Argument, ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.posterior_tree import (
    DataPart,
    KeptDraws,
    encode_features,
    select_kept_draws,
)
from .feature_table import (
    add_convergence,
    check_min_probability,
    features_table,
    find_distinct_owners,
)

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.grouped_data import GroupedData

    from ..samplers.draw_record import RecordedDraws

_DESCRIPTIONS = {
    "group_weights": "weight of a feature in each group; padded with 0",
    "group_unique_weights": "weight of the unique aspect of an option, in each group",
    "common_weights": "common weight of a feature, around which individual weights vary; padded"
    " with 0",
    "kappa": "similarity of the groups: weights are Gamma(kappa, kappa / v) around the common"
    " weight v",
    "weights": "weight of a feature, mean over groups; padded with 0",
    "unique_weights": "weight of the unique aspect of an option, mean over groups; 0 without unique"
    " aspects",
}


def build_group_posterior(
    chains: Sequence["RecordedDraws"],
    groups: "GroupedData",
    likelihood: Any,
    *,
    is_alpha_learned: bool,
    similar: bool,
    attrs: Mapping[str, object],
    are_individuals: bool = False,
) -> Posterior:
    """Build the posterior tree of several groups from the draws of all chains.

    Chains are cut to the shortest one. If groups are single respondents (`are_individuals`), who
    may be many, variables per pair and draw are stored only up to `MAX_PAIRS` pairs in total, and
    log-likelihoods per answer only if they are few.
    """

    kept_draws, group_names = select_kept_draws(chains), list(groups.names)
    shape, columns_by_group = kept_draws.shape, list_group_columns(kept_draws, range(len(groups)))
    labels = np.asarray(groups.labels, dtype=str)
    n_people = 1
    if are_individuals:
        n_people = len(groups)
    data_parts, parameter_draws = _build_group_parts(
        kept_draws, columns_by_group, groups, likelihood, n_people
    )
    columns_by_group = scale_weights(columns_by_group, data_parts, parameter_draws)
    mean_columns = average_weights(columns_by_group)
    variables = kept_draws.build_variables(sum(part.log_constant for part in data_parts), similar)
    variables |= {
        name: (("chain", "draw", "group"), np.stack(values, axis=2))
        for name, values in parameter_draws.items()
        if name in data_parts[0].descriptions  # the parts contain the others
    }
    variables |= encode_features(mean_columns, shape, count_pairs(groups.n_options) <= MAX_PAIRS)
    variables["group_weights"] = (
        ("chain", "draw", "group", "feature"),
        pad_weights(columns_by_group, shape),
    )
    variables |= _join_variables(data_parts)
    if are_individuals and FACTS[data_parts[0].kind].of_several:
        common_columns = _scale_common_weights(
            select_group_columns(kept_draws, len(groups)), [part.scale for part in data_parts]
        )
        variables["common_weights"] = (
            ("chain", "draw", "feature"),
            pad_weights([common_columns], shape)[:, :, 0],
        )
    stored_dims = {dim for dims, _ in variables.values() for dim in dims}
    coordinates = {
        "group": group_names,
        "option": labels,
        **_join_coordinates(data_parts, stored_dims),
    }
    if likelihood.unique:
        variables |= build_unique_variables(
            mean_columns, columns_by_group, shape, "group", "group_unique_weights"
        )
    datasets = kept_draws.build_groups(
        variables, coordinates, data_parts[0].descriptions | _DESCRIPTIONS
    )
    datasets |= _join_data_groups(
        kept_draws, data_parts, labels, group_names, is_alpha_learned, similar
    )
    return Posterior.from_groups(datasets, {**describe_origin(), **attrs})


def _join_data_groups(
    kept_draws: KeptDraws,
    data_parts: Sequence[DataPart],
    labels: np.ndarray,
    group_names: Sequence[str],
    is_alpha_learned: bool,
    similar: bool,
) -> "dict[str, xarray.Dataset]":
    """Return the tree's groups about the data: log-likelihoods, answers and constants."""
    datasets = {}
    if all(part.pointwise for part in data_parts):
        datasets["log_likelihood"] = join_parts(
            data_parts, "pointwise", 2, kept_draws.build_coordinates() | {"group": group_names}
        )
    datasets["observed_data"] = join_parts(data_parts, "observed", 0, {})
    constant_data = join_parts(data_parts, "constants", 0, {"option": labels, "group": group_names})
    constant_data["kind"] = data_parts[0].kind
    constant_data["learned_alpha"] = bool(is_alpha_learned)
    constant_data[POPULATION] = GROUPS
    constant_data["similar"] = bool(similar)
    datasets["constant_data"] = constant_data
    return datasets


def _build_group_parts(
    draws: KeptDraws,
    columns_by_group: Sequence[FeatureColumns],
    groups: "GroupedData",
    likelihood: Any,
    n_people: int,
) -> tuple[list[DataPart], dict[str, list[np.ndarray]]]:
    """Return each group's part of the posterior tree, and parameter draws by name."""
    n_pairs = count_pairs(groups.n_options)
    stores_pairs = n_pairs <= MAX_PAIRS and can_store_pointwise(
        n_pairs * n_people, math.prod(draws.shape)
    )

    data_parts, parameter_draws = (
        [],
        {parameter_name: [] for parameter_name in likelihood.parameters},
    )
    for g, data in enumerate(groups.data):
        flat_parameters = {}
        for parameter_name, values_by_group in parameter_draws.items():
            chain_draws = draws.stack_parameter(f"{parameter_name} {g}")
            values_by_group.append(chain_draws)
            flat_parameters[parameter_name] = chain_draws.ravel()
        data_part = likelihood.build_posterior_part(
            columns_by_group[g], flat_parameters, data, draws.shape, stores_pairs
        )
        data_parts.append(_drop_large_variables(data_part, n_people))
    return data_parts, parameter_draws


def _join_variables(data_parts: Sequence[DataPart]) -> dict[str, Any]:
    """Concatenate the variables of groups along data rows, or stack them by `group`."""
    variables, row_dims = {}, set(data_parts[0].rows)
    for name, (dims, values) in data_parts[0].variables.items():
        values_by_group = [part.variables[name][1] for part in data_parts if name in part.variables]
        # a quantity of the owners, or a parameter that all groups share
        if len(dims) == 2 or name in data_parts[0].common:
            variables[name] = dims, values
        elif row_dims & set(dims) and len(values_by_group) == len(data_parts):
            variables[name] = dims, np.concatenate(values_by_group, axis=2)
        elif not row_dims & set(dims) and name != "unique_weights":
            variables[name] = (*dims[:2], "group", *dims[2:]), np.stack(values_by_group, axis=2)
    return variables


def build_unique_variables(
    mean_columns: FeatureColumns,
    columns_by_group: Sequence[FeatureColumns],
    shape: tuple[int, int],
    dim: str,
    name: str,
) -> dict[str, Any]:
    """Return variables of unique weights: their mean, and one set per group or class."""
    weights_by_group = np.stack(
        [
            feature_columns.unique_weights.reshape(*shape, -1)
            for feature_columns in columns_by_group
        ],
        axis=2,
    )
    mean_weights = mean_columns.unique_weights.reshape(*shape, -1)
    return {
        "unique_weights": (("chain", "draw", "option"), mean_weights),
        name: (("chain", "draw", dim, "option"), weights_by_group),
    }


def _drop_large_variables(part: DataPart, n_people: int) -> DataPart:
    """Return a group's part without variables too large to store for all respondents."""
    if n_people == 1:
        return part
    variables = {
        name: (dims, values)
        for name, (dims, values) in part.variables.items()
        if name == "unique_weights" or len(dims) == 2 or values[0, 0].size * n_people <= MAX_PAIRS
    }
    n_terms = sum(values.size for _, values in part.pointwise.values())
    if can_store_pointwise(n_terms, n_people):
        return replace(part, variables=variables)
    return replace(part, variables=variables, pointwise={})


def select_group_columns(draws: KeptDraws, g: int) -> FeatureColumns:
    """Return all draws' features with the weights of group `g`."""
    return list_group_columns(draws, [g])[0]


def list_group_columns(draws: KeptDraws, groups: Sequence[int]) -> list[FeatureColumns]:
    """Return all draws' features once per group, with the group's weights."""
    chains, n_draws = draws
    owners_by_chain = []
    for chain in chains:
        n_columns = int(np.sum(chain.n_features[:n_draws]))
        n_owners = int(np.sum(chain.sizes[:n_columns]))
        owners_by_chain.append(
            (chain.n_features[:n_draws], chain.sizes[:n_columns], chain.owners[:n_owners])
        )
    n_features, sizes, owners = (
        np.concatenate(arrays) for arrays in zip(*owners_by_chain, strict=True)
    )
    columns_by_group: list[FeatureColumns] = []
    for g in groups:
        weights = np.concatenate(
            [
                chain.weights[: len(chain_sizes), g]
                for chain, (_, chain_sizes, _) in zip(chains, owners_by_chain, strict=True)
            ]
        )
        unique_weights = np.concatenate([chain.unique_weights[:n_draws, g] for chain in chains])
        if columns_by_group:
            columns_by_group.append(columns_by_group[0].replace_weights(weights, unique_weights))
        else:
            columns_by_group.append(
                FeatureColumns(n_features, weights, sizes, owners, unique_weights)
            )
    return columns_by_group


def scale_weights(
    columns_by_group: list[FeatureColumns],
    data_parts: Sequence[Any],
    parameters: dict[str, list[np.ndarray]],
) -> list[FeatureColumns]:
    """Scale each group's weights to a common unit, so that groups can be compared.

    Where only ratios of weights count, weights become shares. The `parameters` are scaled
    with them.
    """
    if not FACTS[data_parts[0].kind].of_several:
        return list(map(normalise_to_shares, columns_by_group))
    scaled_columns = list(columns_by_group)
    for g, part in enumerate(data_parts):
        if part.scale is not None:
            scaled_columns[g] = replace(
                scaled_columns[g],
                weights=scaled_columns[g].weights / part.scale[scaled_columns[g].draw],
            )
            for values in parameters.values():
                values[g] = values[g] / part.scale.reshape(values[g].shape)
    return scaled_columns


def _scale_common_weights(feature_columns: FeatureColumns, scales: Sequence[Any]) -> FeatureColumns:
    """Divide the common weights by the mean scale factor of the respondents."""
    if scales[0] is None:
        return feature_columns
    return replace(
        feature_columns,
        weights=feature_columns.weights / np.mean(scales, axis=0)[feature_columns.draw],
    )


def average_weights(columns_by_group: Sequence[FeatureColumns]) -> FeatureColumns:
    """Return the features with weights averaged over groups or classes."""
    weights, unique_weights = (
        np.mean([getattr(feature_columns, name) for feature_columns in columns_by_group], axis=0)
        for name in ("weights", "unique_weights")
    )
    return replace(columns_by_group[0], weights=weights, unique_weights=unique_weights)


def normalise_to_shares(feature_columns: FeatureColumns) -> FeatureColumns:
    """Return the features with weights divided by their sum in each draw.

    Features of all options are not counted, because choices do not depend on them.
    """
    counted_weights = feature_columns.weights * (feature_columns.sizes < feature_columns.n_options)
    total_weight = feature_columns.sum_by_draw(
        counted_weights
    ) + feature_columns.unique_weights.sum(axis=1)
    total_weight = replace_zeros(total_weight)
    weights, unique_weights = (
        feature_columns.weights / total_weight[feature_columns.draw],
        feature_columns.unique_weights / total_weight[:, None],
    )
    return FeatureColumns(
        feature_columns.n_features,
        weights,
        feature_columns.sizes,
        feature_columns.owners,
        unique_weights,
    )


def pad_weights(columns_by_group: list[FeatureColumns], shape: tuple[int, int]) -> np.ndarray:
    """Return weights of all groups, shape (n_chains, n_draws, n_groups, max_features)."""
    first_group = columns_by_group[0]
    padded_weights = np.zeros(
        (first_group.n_draws, len(columns_by_group), int(first_group.n_features.max(initial=0)))
    )
    for g, feature_columns in enumerate(columns_by_group):
        padded_weights[first_group.draw, g, first_group.slot] = feature_columns.weights
    return padded_weights.reshape(*shape, *padded_weights.shape[1:])


def _split_coordinate(name: str, coordinate: Any) -> tuple[str, Any]:
    """Return (dimension, values) of a coordinate given with or without its dimension."""
    if isinstance(coordinate, tuple):
        return coordinate[:2]
    return name, coordinate


def _join_coordinates(data_parts: Sequence[Any], stored_dims: set[str]) -> dict[str, Any]:
    """Concatenate the coordinates of groups; add each data row's group number."""
    row_dims, coordinates = set(data_parts[0].rows), {}
    for coordinate_name, coordinate in data_parts[0].coordinates.items():
        dim, _ = _split_coordinate(coordinate_name, coordinate)
        row_dim = dim.removesuffix("_number")
        if row_dim not in row_dims:
            coordinates[coordinate_name] = coordinate
        elif row_dim in stored_dims:
            values_by_group = [
                _split_coordinate(coordinate_name, part.coordinates[coordinate_name])[1]
                for part in data_parts
            ]
            coordinates[coordinate_name] = dim, np.concatenate(values_by_group)
            coordinates[f"{dim}_group"] = (
                dim,
                np.repeat(np.arange(len(data_parts)), [len(values) for values in values_by_group]),
            )
    return coordinates


def join_parts(
    data_parts: Sequence[Any], part_name: str, axis: int, coordinates: Any
) -> "xarray.Dataset":
    """Join one dataset of all groups; values that differ get a group dimension.

    Along rows of data, one group follows the other.
    """
    import xarray as xr

    part_variables, row_dims = (
        [getattr(part, part_name) for part in data_parts],
        set(data_parts[0].rows),
    )
    variables, row_counts = {}, {}
    for variable_name in [
        variable_name
        for variable_name in part_variables[0]
        if all(variable_name in part for part in part_variables)
    ]:
        dims, values = _split_variable(part_variables[0][variable_name])
        if joined_dims := row_dims & set(dims):
            group_arrays = [
                np.asarray(_split_variable(part[variable_name])[1]) for part in part_variables
            ]
            row_counts |= {
                dim: [array.shape[dims.index(dim)] for array in group_arrays] for dim in joined_dims
            }
            values = np.concatenate(group_arrays, axis=axis)
        elif len({str(_split_variable(part[variable_name])[1]) for part in part_variables}) > 1:
            dims, values = (
                ("group",),
                np.array([_split_variable(part[variable_name])[1] for part in part_variables]),
            )
        variables[variable_name] = dims, values
    row_coordinates = {}
    for variable_name, coordinate in data_parts[0].observed_coordinates.items():
        dim, _ = _split_coordinate(variable_name, coordinate)
        if dim not in row_dims:
            row_coordinates[variable_name] = coordinate
            continue
        values = [
            _split_coordinate(variable_name, part.observed_coordinates[variable_name])[1]
            for part in data_parts
        ]
        row_coordinates[variable_name] = dim, np.concatenate(values)
        row_counts[dim] = list(map(len, values))
    for dim, n_rows in row_counts.items():
        row_coordinates[f"{dim}_group"] = dim, np.repeat(np.arange(len(data_parts)), n_rows)
    return xr.Dataset(variables, {**row_coordinates, **coordinates})


def _split_variable(variable: Any) -> tuple[tuple[str, ...], Any]:
    """Return (dimensions, values) of a variable; a scalar has no dimensions."""
    if not isinstance(variable, tuple):
        return (), variable
    dims, variable_values = variable[:2]
    if isinstance(dims, str):
        dims = (dims,)
    return tuple(dims), variable_values


# Tables of groups: features with a weight in each -------------------------------------------------


MAX_COMPARED_GROUPS = 4  # with more groups, pairs of groups are not compared


def group_features_table(
    posterior: Posterior, min_probability: float, similar: Any, ci: float
) -> "pandas.DataFrame":
    """Return a table of features with one weight column per group.

    For up to four groups it has the probability that a weight is larger in one group than in
    another.
    """
    from thali._exportable_table import Table

    check_min_probability(min_probability)
    if similar is not None:
        raise ArgumentError(
            Argument("similar"),
            " requires a single group of respondents; use the model of one group with"
            " of_group(name), or of one latent class with respondents.of_class(1).",
        )
    group_names, first_group = posterior.groups, posterior.of_group(posterior.groups[0])
    shared_table = features_table(first_group, min_probability)
    weight_draws = sum_group_weights(posterior, shared_table["members"].tolist())
    index_pairs: list[tuple[int, int]] = []
    if len(group_names) <= MAX_COMPARED_GROUPS:
        index_pairs = list(combinations(range(len(group_names)), 2))
    group_pairs = {f"P({group_names[a]} > {group_names[b]})": (a, b) for a, b in index_pairs}
    table_rows = []
    for members, weights, is_present in zip(shared_table["members"], *weight_draws, strict=True):
        table_row: dict[str, Any] = {"members": members}
        present_weights = weights[:, is_present]
        for group_name, group_weights in zip(group_names, present_weights, strict=True):
            low, high = compute_interval(group_weights, ci)
            table_row |= {
                f"weight[{group_name}]": group_weights.mean(),
                f"weight_low[{group_name}]": low,
                f"weight_high[{group_name}]": high,
            }
        table_row |= {
            column: float(np.mean(present_weights[a] > present_weights[b]))
            for column, (a, b) in group_pairs.items()
        }
        table_rows.append(table_row)
    groups_table = Table({"members": []})
    if table_rows:
        groups_table = Table(table_rows)
    groups_table = groups_table.assign(
        copies=shared_table["copies"].to_numpy(), probability=shared_table["probability"].to_numpy()
    )
    groups_table = add_convergence(groups_table, first_group)
    groups_table.attrs |= {
        "groups": list(group_names),
        "compared": {
            column: [group_names[a], group_names[b]] for column, (a, b) in group_pairs.items()
        },
        "options": posterior.n_options,
        "shares": posterior.facts.of_choices,
        "interval": ci,
    }
    return groups_table


def sum_group_weights(
    posterior: Posterior, features: "list[tuple[str, ...]]"
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return each feature's weights (groups, draws), and whether each draw has it."""
    labels, feature_columns = posterior.labels, read_columns(posterior)
    group_weights = flatten_chains(posterior.group_weights)  # (draw, group, feature)
    patterns, pattern_index = find_distinct_owners(feature_columns)
    index_of_owners = {tuple(labels[i] for i in owners): k for k, owners in enumerate(patterns)}
    weights_by_feature, presence_by_feature = [], []
    for members in features:
        column_indices = np.flatnonzero(pattern_index == index_of_owners[tuple(members)])
        column_draw = feature_columns.draw[column_indices]
        total_weights = np.zeros(group_weights.shape[:2])
        np.add.at(
            total_weights,
            column_draw,
            group_weights[column_draw, :, feature_columns.slot[column_indices]],
        )
        weights_by_feature.append(total_weights.T)
        presence_by_feature.append(feature_columns.count_by_draw(column_indices) > 0)
    return weights_by_feature, presence_by_feature
