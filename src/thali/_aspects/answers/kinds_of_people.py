"""People of latent classes: their posterior as that of groups, and predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS
from thali._inference.numerics.counts import compute_outcomes
from thali._model.option_sets import pair_indices, tabulate_outcomes
from thali._people.latent_classes import aligned_shares
from thali._posterior.view import POPULATION, Posterior, parted

from ..draws.columns import columns_of
from ..draws.covariates import Lift
from ..draws.probabilities import probability_blocks
from ..draws.tree import DataPart
from .groups import joined_parts
from .predict import AskedSets, lift_for

if TYPE_CHECKING:
    import pandas


def answers_of_people(posterior: Posterior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondents, which answer each gave, and how often."""
    fixed = posterior.fixed
    rows = fixed["answer_respondent"].values, fixed["answer_place"].values
    return *rows, posterior.observed["answers"].values


def as_groups(
    posterior: Posterior, parts: Sequence[DataPart], kept: Sequence[np.ndarray]
) -> Posterior:
    """Return the posterior of the common kinds as groups "1", "2", ..., each with its part of the
    data.

    `kept`: of each kind the places of sets that its part has.
    """
    number, order = posterior.most_classes, posterior.class_order
    drawn, shape = posterior.whole(), posterior.shape
    names = [str(g + 1) for g in range(number)]
    observed = joined_parts(parts, "observed", 0, {})
    counted = joined_parts(
        parts, "constants", 0, {"option": posterior.fixed["option"].values, "group": names}
    )
    fixed = posterior.fixed
    scalars = [name for name in fixed if not fixed[name].dims and name not in ("kinds", POPULATION)]
    counted = counted.assign({name: fixed[name] for name in scalars} | {POPULATION: GROUPS})
    data = {"observed_data": observed, "constant_data": counted}
    for name in [str(name) for name in drawn.data_vars if "kind_number" in drawn[name].dims]:
        values, dims = drawn[name].values, drawn[name].dims
        at = order.reshape(*shape, number, *[1] * (values.ndim - 3))
        values, plain = np.take_along_axis(values, at, axis=2), name.removeprefix("kind_")
        drawn = drawn.drop_vars(name)
        if dims[3:] == ("place",):  # the sets of the members of each kind
            drawn = drawn.drop_vars(plain).drop_dims(("place", "place_number"))
            drawn[plain] = (
                dims[:2] + dims[3:],
                np.concatenate([values[:, :, g, kept[g]] for g in range(number)], 2),
            )
            continue
        new = f"group_{plain}" if plain in ("weights", "unique_weights") else plain
        drawn[new] = tuple("group" if dim == "kind_number" else dim for dim in dims), values
    drawn = drawn.drop_vars(["kind", "n_classes", "respondent", "class_order"]).assign_coords(
        group=names
    )
    if "set_probability" in drawn:
        rows = {name: observed[name].values for name in ("offered", "alternative", "place_group")}
        labels = [
            f"{one} | {offered}"
            for one, offered in zip(rows["alternative"], rows["offered"], strict=True)
        ]
        drawn = drawn.assign_coords(place_group=("place", rows["place_group"]))
        drawn = drawn.assign_coords(place=np.array(labels, dtype=str))
    return Posterior.of(
        parted(drawn) | data | {"sample_stats": posterior.stats}, posterior.attributes
    )


# What a person chooses of whom only the answers of others are known: a mixture over kinds ---------


def predicted_of_new(
    posterior: Posterior, classes: Posterior, sets: Any, return_se: bool, covariates: Any
) -> Any:
    """For pairs the probability that the first is chosen; otherwise, for each set, those of its
    members.

    `classes` is the posterior as groups.
    """
    asked, lift = AskedSets(posterior, sets), lift_for(posterior, sets, covariates)
    if asked.paired:
        first, second = asked.pairs
        of_outcome = outcomes_of_new(posterior, classes, first, second, lift)
        return asked.means(
            of_outcome[..., 0] / (of_outcome[..., 0] + of_outcome[..., 2]), return_se
        )
    share = aligned_shares(posterior)
    each = [asked.probabilities(columns_of(classes.of_group(name))) for name in classes.groups]
    return asked.means(
        np.sum([share[:, g, None] * p for g, p in enumerate(each)], axis=0), return_se
    )


def outcomes_of_new(
    posterior: Posterior,
    classes: Posterior,
    first: np.ndarray,
    second: np.ndarray,
    lift: "Lift | None",
) -> np.ndarray:
    """Probabilities that a new person chooses the first of each pair, neither, and the second, draw
    by draw."""
    share, lapse = aligned_shares(posterior), posterior.lapse
    total = np.zeros((len(share), len(first), 3))
    for g, name in enumerate(classes.groups):
        own = classes.of_group(name)
        for draws, p, q in probability_blocks(columns_of(own), first, second, lapse, lift):
            nu = np.zeros(1) if own.tie is None else own.tie[draws, None]
            total[draws] += share[draws, g, None, None] * compute_outcomes(p, q, nu)
    return total


def outcomes_table_of_new(
    posterior: Posterior, classes: Posterior, pairs: Any, covariates: Any
) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b of a new person."""
    labels = posterior.labels
    first, second = pair_indices(pairs, labels, posterior.tie is not None)
    draws = outcomes_of_new(
        posterior, classes, first, second, lift_for(posterior, pairs, covariates)
    )
    return tabulate_outcomes(labels, first, second, draws.mean(axis=0))
