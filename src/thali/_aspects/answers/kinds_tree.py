"""People of kinds that nobody knows: their draws as a tree.

The tree has what that of one group has, where probabilities are those of a new person, and besides
who is of which kind (`kind`), and by kind the weights, comparable as those of groups, and what
follows from them. The numbers of the kinds mean nothing, and change from draw to draw;
`class_order` makes them comparable.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import KINDS
from thali._model.stored_choices import MAX_PAIRS
from thali._people.latent_classes import shares_of_new
from thali._posterior.densities import is_pointwise
from thali._posterior.store import origin, tree_of
from thali._posterior.view import POPULATION

from ..draws.tree import kept_draws, stored_features
from .groups import (
    _padded_weights,
    columns_of_groups,
    comparable_weights,
    mean_over,
    unique_variables,
)

if TYPE_CHECKING:
    import xarray

    from ..samplers.draw_record import ChainDraws

LEAST = -1e4  # stands for the logarithm of a probability of 0
_OF_KINDS = {
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


def kinds_tree(
    chains: Sequence["ChainDraws"],
    data: Any,
    likelihood: Any,
    *,
    learned_alpha: bool,
    similar: bool,
    attrs: Mapping[str, object],
) -> "xarray.DataTree":
    """The draws of all chains as one tree; chains of different lengths are cut to a rectangle."""
    import xarray as xr
    from scipy.sparse import csr_array

    kept, asked = kept_draws(chains), data.questions("tie" in likelihood.parameters)
    given = asked.given
    shape, number = kept.shape, kept.chains[0].unique_weights.shape[1]
    of = np.concatenate(kept.stacked(chain.kinds for chain in kept.chains))
    sizes = (of[:, :, None] == np.arange(number)).sum(axis=1)
    labels, people = np.asarray(data.labels, dtype=str), np.asarray(given.respondents, dtype=str)
    coefficients = asked.compute_respondent_coefficients()
    dense = data.n_options * (data.n_options - 1) // 2 <= MAX_PAIRS

    raw, parts = columns_of_groups(kept, range(number)), []
    own = {
        name: [kept.parameter(f"{name} {g}") for g in range(number)]
        for name in likelihood.parameters
    }
    for g, columns in enumerate(raw):
        flat = {name: values[g].ravel() for name, values in own.items()}
        parts.append(likelihood.posterior_part(columns, flat, data, shape, dense))
    by_kind = comparable_weights(raw, parts, own)
    middle, part = mean_over(by_kind), parts[0]
    variables = {
        **kept.variables(coefficients.sum()),
        **({"kappa": (("chain", "draw"), kept.parameter("kappa"))} if similar else {}),
        "n_classes": (("chain", "draw"), (sizes > 0).sum(axis=1).reshape(shape)),
        "kind": (("chain", "draw", "respondent"), of.reshape(*shape, -1)),
        **stored_features(middle, shape, dense),
        "kind_weights": (
            ("chain", "draw", "kind_number", "feature"),
            _padded_weights(by_kind, shape),
        ),
    }
    if likelihood.unique:
        variables |= unique_variables(middle, by_kind, shape, "kind_number", "kind_unique_weights")
    shares = shares_of_new(sizes).reshape(*shape, number)
    for name, values in own.items():
        if name in part.descriptions:  # others stand in the parts
            each = np.stack(values, axis=2)
            variables[f"kind_{name}"] = ("chain", "draw", "kind_number"), each
            variables[name] = ("chain", "draw"), (shares * each).sum(axis=2)
    ties = variables["kind_tie"][1] if "kind_tie" in variables else None
    for name, (dims, values) in part.variables.items():
        # of the owners, or a parameter, which all kinds share
        if len(dims) == 2 or name in part.common:
            variables[name] = dims, values
        elif name != "unique_weights":
            each = np.stack([other.variables[name][1] for other in parts], axis=2)
            variables[name] = (
                dims,
                mixed(shares, each, ties if name == "choice_probability" else None),
            )
            variables[f"kind_{name}"] = (*dims[:2], "kind_number", *dims[2:]), each
    coordinates = {"option": labels, "respondent": people}
    descriptions = part.descriptions | _OF_KINDS
    found = kept.groups(variables, coordinates | part.coordinates, descriptions)
    with np.errstate(divide="ignore"):  # a probability of 0
        logs = [np.log(each.answers()) for each in parts if each.answers is not None]
    if logs and is_pointwise(len(people), len(of)):
        times = csr_array(
            (given.times, (given.answer, given.respondent)), (logs[0].shape[1], len(people))
        )
        by_person = np.stack([np.maximum(each, LEAST) @ times for each in logs], axis=2)
        terms = _log_of_people(by_person, of) + coefficients
        variable = ("chain", "draw", "respondent"), terms.reshape(*shape, -1)
        found["log_likelihood"] = xr.Dataset(
            {"answers": variable}, kept.coordinates() | {"respondent": people}
        )
    observed = part.observed | {"answers": ("given_answer", given.times)}
    found["observed_data"] = xr.Dataset(observed, part.observed_coordinates)
    rows = {"answer_respondent": given.respondent, "answer_place": given.answer}
    constants = part.constants | {name: ("given_answer", each) for name, each in rows.items()}
    found["constant_data"] = xr.Dataset(
        constants, {**part.observed_coordinates, "option": labels, "respondent": people}
    )
    stored = {
        "kind": part.kind,
        POPULATION: KINDS,
        "learned_alpha": bool(learned_alpha),
        "similar": bool(similar),
    }
    found["constant_data"] = found["constant_data"].assign(stored | {"kinds": number})
    return tree_of(found, {**origin(), **attrs})


def mixed(shares: np.ndarray, each: np.ndarray, ties: np.ndarray | None) -> np.ndarray:
    """The mean over classes (..., kinds), by shares, of probabilities (..., kinds, n); of pairs
    that may be tied those that the first is chosen if one is, which weigh as often as that happens
    in a kind."""
    if ties is None:
        return np.einsum("...g,...gn->...n", shares, each)
    weights = shares[..., None] / (1.0 + ties[..., None] * np.sqrt(each * (1.0 - each)))
    return (weights * each).sum(axis=-2) / weights.sum(axis=-2)


def _log_of_people(logs: np.ndarray, of: np.ndarray) -> np.ndarray:
    """log probability of everybody's answers given the kinds of all others, from that by kind
    (draw, person, kind)."""
    # Given are the weights of all kinds too, so that the answers of people who are left out can be
    # predicted by importance sampling.
    from scipy.special import logsumexp

    _, people, kinds = logs.shape
    found = np.empty(logs.shape)
    for g in range(kinds):
        own = of == g
        others = own.sum(axis=1, keepdims=True) - own
        found[:, :, g] = logs[:, :, g] + np.log((others + 1.0) / (people - 1.0 + kinds))
    return np.asarray(logsumexp(found, axis=2))
