"""Groups of people: their draws as a tree in the ArviZ schema, the tree of one group, and their
tables.

The tree has what that of one group has, with the mean of the weights over groups, and besides by
group the weights and what follows from them. Weights of choices, of which only ratios count, are
shares of the group's total.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS
from thali._model.stored_choices import MAX_PAIRS
from thali._posterior.densities import is_pointwise
from thali._posterior.interval import tails_of
from thali._posterior.store import origin
from thali._posterior.view import FACTS, POPULATION, Posterior, flat
from thali.errors import Argument, ArgumentError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.tree import DataPart, KeptDraws, kept_draws, stored_features
from .features import add_convergence, checked_probability, distinct_owners, features_table

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.groups import GroupedData

    from ..samplers.draw_record import ChainDraws

_OF_GROUPS = {
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


def group_posterior(
    chains: Sequence["ChainDraws"],
    groups: "GroupedData",
    likelihood: Any,
    *,
    learned_alpha: bool,
    similar: bool,
    attrs: Mapping[str, object],
    persons: bool = False,
) -> Posterior:
    """The posterior of the draws of all chains; chains of different lengths are cut to a rectangle.

    Of `persons`, who may be many, nothing of each pair and draw is kept above `MAX_PAIRS` pairs of
    all together, and no log-likelihoods of each answer and draw where these are too many.
    """

    kept = kept_draws(chains)
    shape, by_group = kept.shape, columns_of_groups(kept, range(len(groups)))
    sampled = kept.coordinates() | {"group": list(groups.names)}
    labels = np.asarray(groups.labels, dtype=str)
    pairs = groups.n_options * (groups.n_options - 1) // 2
    dense, people = pairs <= MAX_PAIRS, len(groups) if persons else 1
    of_pairs = dense and is_pointwise(pairs * people, math.prod(shape))

    parts, extra = [], {name: [] for name in likelihood.parameters}
    for g, data in enumerate(groups.data):
        own = {name: kept.parameter(f"{name} {g}") for name in extra}
        for name, values in own.items():
            extra[name].append(values)
        flat = {name: values.ravel() for name, values in own.items()}
        parts.append(
            _kept_of(likelihood.posterior_part(by_group[g], flat, data, shape, of_pairs), people)
        )
    by_group = comparable_weights(by_group, parts, extra)
    middle = mean_over(by_group)
    variables = {
        **kept.variables(sum(part.log_constant for part in parts)),
        **({"kappa": (("chain", "draw"), kept.parameter("kappa"))} if similar else {}),
        **{
            name: (("chain", "draw", "group"), np.stack(values, axis=2))
            for name, values in extra.items()
            if name in parts[0].descriptions  # others stand in the parts
        },
        **stored_features(middle, shape, dense),
        "group_weights": (("chain", "draw", "group", "feature"), _padded_weights(by_group, shape)),
    }
    rows = set(parts[0].rows)
    for name, (dims, values) in parts[0].variables.items():
        each = [part.variables[name][1] for part in parts if name in part.variables]
        # of the owners, or a parameter, which all groups share
        if len(dims) == 2 or name in parts[0].common:
            variables[name] = dims, values
        elif rows & set(dims) and len(each) == len(parts):
            variables[name] = dims, np.concatenate(each, axis=2)
        elif not rows & set(dims) and name != "unique_weights":
            variables[name] = (*dims[:2], "group", *dims[2:]), np.stack(each, axis=2)
    if persons and FACTS[parts[0].kind].of_several:
        common = _common_columns(
            columns_of_group(kept, len(groups)), [part.scale for part in parts]
        )
        variables["common_weights"] = (
            ("chain", "draw", "feature"),
            _padded_weights([common], shape)[:, :, 0],
        )
    stored = {dim for dims, _ in variables.values() for dim in dims}
    coordinates = _coordinates(parts, stored)
    if likelihood.unique:
        variables |= unique_variables(middle, by_group, shape, "group", "group_unique_weights")
    descriptions = parts[0].descriptions | _OF_GROUPS
    found = kept.groups(variables, sampled | {"option": labels, **coordinates}, descriptions)
    if all(part.pointwise for part in parts):
        found["log_likelihood"] = joined_parts(parts, "pointwise", 2, sampled)
    found["observed_data"] = joined_parts(parts, "observed", 0, {})
    constant = joined_parts(parts, "constants", 0, {"option": labels, "group": list(groups.names)})
    constant["kind"], constant["learned_alpha"] = parts[0].kind, bool(learned_alpha)
    constant[POPULATION] = GROUPS
    constant["similar"] = bool(similar)
    found["constant_data"] = constant
    return Posterior.of(found, {**origin(), **attrs})


def unique_variables(
    middle: FeatureColumns,
    each: Sequence[FeatureColumns],
    shape: tuple[int, int],
    dim: str,
    name: str,
) -> dict[str, Any]:
    """Return the variables of the weights of unique aspects: their mean, and those of each group or
    class."""
    of_each = np.stack([columns.unique_weights.reshape(*shape, -1) for columns in each], axis=2)
    mean = middle.unique_weights.reshape(*shape, -1)
    return {
        "unique_weights": (("chain", "draw", "option"), mean),
        name: (("chain", "draw", dim, "option"), of_each),
    }


def _kept_of(part: DataPart, people: int) -> DataPart:
    """The part of one of so many people without what is too large of all of them."""
    if people == 1:
        return part
    kept = {
        name: (dims, values)
        for name, (dims, values) in part.variables.items()
        if name == "unique_weights" or len(dims) == 2 or values[0, 0].size * people <= MAX_PAIRS
    }
    pointwise = is_pointwise(sum(values.size for _, values in part.pointwise.values()), people)
    return replace(part, variables=kept, pointwise=part.pointwise if pointwise else {})


def columns_of_group(kept: KeptDraws, g: int) -> FeatureColumns:
    """The columns of one group, with its weights."""
    return columns_of_groups(kept, [g])[0]


def columns_of_groups(kept: KeptDraws, groups: Sequence[int]) -> list[FeatureColumns]:
    """The columns of some groups, each with its weights; they have the rest in common."""
    chains, draws = kept
    owned = []
    for chain in chains:
        columns = int(np.sum(chain.n_features[:draws]))
        owners = int(np.sum(chain.sizes[:columns]))
        owned.append((chain.n_features[:draws], chain.sizes[:columns], chain.owners[:owners]))
    n_features, sizes, owners = (np.concatenate(arrays) for arrays in zip(*owned, strict=True))
    found: list[FeatureColumns] = []
    for g in groups:
        weights = np.concatenate(
            [chain.weights[: len(own), g] for chain, (_, own, _) in zip(chains, owned, strict=True)]
        )
        unique = np.concatenate([chain.unique_weights[:draws, g] for chain in chains])
        made = (
            found[0].reweighted(weights, unique)
            if found
            else FeatureColumns(n_features, weights, sizes, owners, unique)
        )
        found.append(made)
    return found


def comparable_weights(
    by_group: list[FeatureColumns], parts: Sequence[Any], extra: dict[str, list[np.ndarray]]
) -> list[FeatureColumns]:
    """The columns of groups with weights that can be compared: shares, where only ratios of them
    count; the parameters in `extra` change with them."""
    if not FACTS[parts[0].kind].of_several:
        return list(map(_as_shares, by_group))
    found = list(by_group)
    for g, part in enumerate(parts):
        if part.scale is not None:
            found[g] = replace(found[g], weights=found[g].weights / part.scale[found[g].draw])
            for values in extra.values():
                values[g] = values[g] / part.scale.reshape(values[g].shape)
    return found


def _common_columns(columns: FeatureColumns, scales: Sequence[Any]) -> FeatureColumns:
    """The columns with what everybody's weights vary about, over the mean of their scales where
    only ratios count."""
    if scales[0] is None:
        return columns
    return replace(columns, weights=columns.weights / np.mean(scales, axis=0)[columns.draw])


def mean_over(by_group: Sequence[FeatureColumns]) -> FeatureColumns:
    """The columns with the mean weights of groups or kinds."""
    weights, unique = (
        np.mean([getattr(columns, name) for columns in by_group], axis=0)
        for name in ("weights", "unique_weights")
    )
    return replace(by_group[0], weights=weights, unique_weights=unique)


def _as_shares(columns: FeatureColumns) -> FeatureColumns:
    """Weights over the sum of all that choices depend on: features of all options are not
    counted."""
    seen = columns.weights * (columns.sizes < columns.n_options)
    total = columns.summed(seen) + columns.unique_weights.sum(axis=1)
    total = np.where(total > 0.0, total, 1.0)
    weights, unique = columns.weights / total[columns.draw], columns.unique_weights / total[:, None]
    return FeatureColumns(columns.n_features, weights, columns.sizes, columns.owners, unique)


def _padded_weights(by_group: list[FeatureColumns], shape: tuple[int, int]) -> np.ndarray:
    """The weights of all groups (chain, draw, group, feature)."""
    first = by_group[0]
    padded = np.zeros((first.n_draws, len(by_group), int(first.n_features.max(initial=0))))
    for g, columns in enumerate(by_group):
        padded[first.draw, g, first.slot] = columns.weights
    return padded.reshape(*shape, *padded.shape[1:])


def _placed(name: str, coordinate: Any) -> tuple[str, Any]:
    """The dimension and the values of a coordinate."""
    return coordinate[:2] if isinstance(coordinate, tuple) else (name, coordinate)


def _coordinates(parts: Sequence[Any], stored: set[str]) -> dict[str, Any]:
    """The coordinates of the variables of all groups; along data one group after the other, with
    its number."""
    rows, found = set(parts[0].rows), {}
    for name, value in parts[0].coordinates.items():
        dim, _ = _placed(name, value)
        of_rows = dim.removesuffix("_number")
        if of_rows not in rows:
            found[name] = value
        elif of_rows in stored:
            each = [_placed(name, part.coordinates[name])[1] for part in parts]
            found[name] = dim, np.concatenate(each)
            found[f"{dim}_group"] = (
                dim,
                np.repeat(np.arange(len(parts)), [len(values) for values in each]),
            )
    return found


def joined_parts(parts: Sequence[Any], what: str, axis: int, coordinates: Any) -> "xarray.Dataset":
    """What all groups' parts hold: of rows one group after the other, of the rest by group where
    they differ."""
    import xarray as xr

    each, of_rows = [getattr(part, what) for part in parts], set(parts[0].rows)
    variables, lengths = {}, {}
    for name in [name for name in each[0] if all(name in part for part in each)]:
        dims, values = _pair(each[0][name])
        if here := of_rows & set(dims):
            arrays = [np.asarray(_pair(part[name])[1]) for part in each]
            lengths |= {dim: [array.shape[dims.index(dim)] for array in arrays] for dim in here}
            values = np.concatenate(arrays, axis=axis)
        elif len({str(_pair(part[name])[1]) for part in each}) > 1:
            dims, values = (("group",), np.array([_pair(part[name])[1] for part in each]))
        variables[name] = dims, values
    rows = {}
    for name, value in parts[0].observed_coordinates.items():
        dim, _ = _placed(name, value)
        if dim not in of_rows:
            rows[name] = value
            continue
        values = [_placed(name, part.observed_coordinates[name])[1] for part in parts]
        rows[name] = dim, np.concatenate(values)
        lengths[dim] = [len(each) for each in values]
    for dim, numbers in lengths.items():
        rows[f"{dim}_group"] = dim, np.repeat(np.arange(len(parts)), numbers)
    return xr.Dataset(variables, {**rows, **coordinates})


def _pair(value: Any) -> tuple[tuple[str, ...], Any]:
    """Dimensions and values, as a dataset takes them."""
    if isinstance(value, tuple):
        dims, values = value[:2]
        return ((dims,) if isinstance(dims, str) else tuple(dims)), values
    return (), value


# Tables of groups of people: features with a weight in each ---------------------------------------


MAX_COMPARED = 4  # groups, of which every two are compared feature by feature


def group_features_table(
    posterior: Posterior, min_probability: float, similar: Any, ci: float
) -> "pandas.DataFrame":
    """The features with a weight in each group, and for every two of up to four groups which weighs
    more."""
    from thali._tables import Table

    checked_probability(min_probability)
    if similar is not None:
        raise ArgumentError(
            Argument("similar"),
            " requires a single group of respondents; use the model of one group with"
            " of_group(name), or of one latent class with respondents.of_class(1).",
        )
    names, one = posterior.groups, posterior.of_group(posterior.groups[0])
    table = features_table(one, min_probability)
    drawn = group_weight_draws(posterior, table["members"].tolist())
    pairs = list(combinations(range(len(names)), 2)) if len(names) <= MAX_COMPARED else []
    compared = {f"P({names[a]} > {names[b]})": (a, b) for a, b in pairs}
    rows = []
    for members, weights, present in zip(table["members"], *drawn, strict=True):
        row: dict[str, Any] = {"members": members}
        there = weights[:, present]
        for name, values in zip(names, there, strict=True):
            low, high = np.quantile(values, tails_of(ci))
            row |= {
                f"weight[{name}]": values.mean(),
                f"weight_low[{name}]": low,
                f"weight_high[{name}]": high,
            }
        row |= {column: float(np.mean(there[a] > there[b])) for column, (a, b) in compared.items()}
        rows.append(row)
    found = Table(rows, columns=None if rows else ["members"])
    found = found.assign(
        copies=table["copies"].to_numpy(), probability=table["probability"].to_numpy()
    )
    found = add_convergence(found, one)
    found.attrs |= {
        "groups": list(names),
        "compared": {column: [names[a], names[b]] for column, (a, b) in compared.items()},
        "options": posterior.n_options,
        "shares": posterior.facts.of_choices,
        "interval": ci,
    }
    return found


def group_weight_draws(
    posterior: Posterior, features: "list[tuple[str, ...]]"
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of each feature the sum of the weights of its copies (group, draw), and in which draws it
    is."""
    labels, columns = posterior.labels, columns_of(posterior)
    of_groups = flat(posterior.group_weights)  # (draw, group, feature)
    patterns, pattern = distinct_owners(columns)
    number_of = {tuple(labels[i] for i in owners): number for number, owners in enumerate(patterns)}
    weights, present = [], []
    for members in features:
        own = np.flatnonzero(pattern == number_of[tuple(members)])
        draw = columns.draw[own]
        summed = np.zeros(of_groups.shape[:2])
        np.add.at(summed, draw, of_groups[draw, :, columns.slot[own]])
        weights.append(summed.T)
        present.append(np.bincount(draw, minlength=columns.n_draws) > 0)
    return weights, present
