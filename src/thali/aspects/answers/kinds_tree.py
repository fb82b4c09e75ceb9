"""Draws of kinds of people as a tree in the ArviZ schema.

It has what that of one group has, where `choice_probability` is that of a new person, and besides who is of which kind
(`kind`), and by kind the weights and what follows from them, as shares of the kind's total. The numbers of the kinds
mean nothing, and change from draw to draw: see `kinds_aligned`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIR_KINDS
from thali.errors import DataError
from thali.inference.threads import rectangle
from thali.posterior.densities import is_pointwise
from thali.posterior.store import origin, tree_of

from ..draws.columns import Columns
from ..draws.counts import log_outcome_coefficient
from ..draws.pair_coordinates import pair_index
from ..draws.probabilities import probability_blocks
from ..draws.tree import _DESCRIPTIONS, MAX_PAIRS, _dense_features, _listed_features, _stats
from .group_tree import _as_shares, _padded_weights, columns_of_group

if TYPE_CHECKING:
    import xarray

    from thali.data.pairs import PairedComparisons

    from ..samplers.draws import ChainDraws

_OF_KINDS = {
    "kind": "of which kind everybody is; the numbers mean nothing and change from draw to draw",
    "n_kinds": "kinds that somebody is of",
    "choice_probability": "probability that a new person chooses the first of a pair; lapse included",
    "kind_choice_probability": "probability that a person of each kind chooses the first of a pair; lapse included",
    "kind_weights": "weight of a feature in each kind; padded with 0",
    "kind_unique_weights": "weight of the aspect that an option has alone, in each kind",
    "weights": "weight of a feature, mean over kinds; padded with 0",
    "unique_weights": "weight of the aspect that an option has alone, mean over kinds",
    "kappa": "how similar the kinds are: weights are Gamma(kappa, kappa / v), v what they vary about",
}


def kinds_tree(
    chains: Sequence["ChainDraws"],
    data: "PairedComparisons",
    likelihood: Any,
    *,
    learned_alpha: bool,
    similar: bool,
    attrs: Mapping[str, object],
) -> "xarray.DataTree":
    """The draws of all chains as one tree; chains of different lengths are cut to a rectangle."""
    import xarray as xr

    numbers, draws = rectangle([len(chain.alpha) for chain in chains])
    if draws == 0:
        raise DataError("no draw was kept, so there is no posterior; let the fit run longer before stopping it")
    kept = [chains[number] for number in numbers]
    shape, answers = (len(kept), draws), data.answers
    assert answers is not None
    number = kept[0].unique_weights.shape[1]
    by_kind = [_as_shares(columns_of_group(kept, draws, g)) for g in range(number)]
    of = np.concatenate([chain.kinds[:draws] for chain in kept])
    sizes = (of[:, :, None] == np.arange(number)).sum(axis=1)
    labels, people = np.asarray(data.labels, dtype=str), np.asarray(answers.subjects, dtype=str)
    coefficients = log_outcome_coefficient(answers.wins, answers.tied, answers.losses)
    dense = data.n_options * (data.n_options - 1) // 2 <= MAX_PAIRS

    def over_draws(values: Any) -> Any:
        return ("chain", "draw"), np.stack([np.asarray(value)[:draws] for value in values])

    first = by_kind[0]
    part = likelihood.posterior_part(first.take(np.zeros(1, int)), {}, data, (1, 1), True)
    middle = Columns(
        first.n_features,
        np.mean([columns.weights for columns in by_kind], axis=0),
        first.sizes,
        first.owners,
        np.mean([columns.unique_weights for columns in by_kind], axis=0),
    )
    variables = {
        "n_features": over_draws([chain.n_features for chain in kept]),
        "alpha": over_draws([chain.alpha for chain in kept]),
        "log_likelihood": over_draws([chain.log_likelihood + coefficients.sum() for chain in kept]),
        **({"kappa": over_draws([chain.extra["kappa"] for chain in kept])} if similar else {}),
        "n_kinds": (("chain", "draw"), (sizes > 0).sum(axis=1).reshape(shape)),
        "kind": (("chain", "draw", "subject"), of.reshape(*shape, -1)),
        **(_dense_features(middle, shape) if dense else _listed_features(middle, shape)),
        "kind_weights": (("chain", "draw", "kind_number", "feature"), _padded_weights(by_kind, shape)),
    }
    if likelihood.unique:
        variables["unique_weights"] = (("chain", "draw", "option"), middle.unique_weights.reshape(*shape, -1))
        unique = np.stack([columns.unique_weights.reshape(*shape, -1) for columns in by_kind], axis=2)
        variables["kind_unique_weights"] = (("chain", "draw", "kind_number", "option"), unique)
    coordinates = {"chain": np.arange(shape[0]), "draw": np.arange(draws), "option": labels, "subject": people}
    pairs = {}
    if dense:
        p = np.stack([_probabilities(columns, likelihood.lapse) for columns in by_kind], axis=1)
        mixed = np.einsum("dg,dgp->dp", shares_of_new(sizes), p)
        variables["choice_probability"] = (("chain", "draw", "pair"), mixed.reshape(*shape, -1))
        named = "chain", "draw", "kind_number", "pair"
        variables["kind_choice_probability"] = (named, p.reshape(*shape, *p.shape[1:]))
        pairs = part.coordinates
    posterior = xr.Dataset(variables, {**coordinates, **pairs})
    for name, variable in posterior.data_vars.items():
        variable.attrs["description"] = (_DESCRIPTIONS | _OF_KINDS)[str(name)]
    found = {"posterior": posterior}
    if dense and is_pointwise(len(people), len(of)):
        terms = _log_of_people(p[:, :, pair_index(data.first, data.second, data.n_options)], answers, of)
        terms += np.bincount(answers.subject, coefficients, len(people))
        variable = ("chain", "draw", "subject"), terms.reshape(*shape, -1)
        found["log_likelihood"] = xr.Dataset({"answers": variable}, {**coordinates, "subject": people})
    rows = {"answer_subject": ("answer", answers.subject), "answer_pair": ("answer", answers.pair)}
    observed = {"answers": ("answer", answers.wins)}
    found["observed_data"] = xr.Dataset({**part.observed, **observed}, part.observed_coordinates)
    found["constant_data"] = xr.Dataset(
        {**part.constants, **rows, "answer_losses": ("answer", answers.losses)},
        {**part.observed_coordinates, "option": labels, "subject": people},
    )
    found["constant_data"]["kind"], found["constant_data"]["learned_alpha"] = PAIR_KINDS, bool(learned_alpha)
    found["constant_data"]["similar"], found["constant_data"]["kinds"] = bool(similar), number
    found["sample_stats"] = xr.Dataset(_stats([chain.stats for chain in kept]), {"chain": coordinates["chain"]})
    return tree_of(found, {**origin(), **attrs})


def shares_of_new(sizes: np.ndarray) -> np.ndarray:
    """The probability that a new person is of each kind, from how many people are (draw, kind)."""
    return (sizes + 1.0) / (sizes + 1.0).sum(axis=1, keepdims=True)


def _probabilities(columns: Columns, lapse: float) -> np.ndarray:
    """p of all pairs, draw by draw."""
    i, j = np.triu_indices(columns.n_options, k=1)
    found = np.empty((columns.n_draws, len(i)))
    for draws, p, _ in probability_blocks(columns, i, j, lapse):
        found[draws] = p
    return found


def _log_of_people(p: np.ndarray, answers: Any, of: np.ndarray) -> np.ndarray:
    """log of the probability of everybody's answers, of whichever kind they are, given the kinds of all others.

    `p`: of the compared pairs (draw, kind, pair). Given are the weights of all kinds too, so that the answers of people
    who are left out can be predicted by importance sampling.
    """
    from scipy.sparse import csr_array
    from scipy.special import logsumexp

    people, pairs = of.shape[1], p.shape[2]
    won, lost = (
        csr_array((times, (answers.pair, answers.subject)), (pairs, people)) for times in (answers.wins, answers.losses)
    )
    found = np.empty((len(p), people, p.shape[1]))
    with np.errstate(divide="ignore"):
        for g in range(p.shape[1]):
            own = of == g
            others = own.sum(axis=1, keepdims=True) - own
            logs = np.maximum(np.log(p[:, g]), -1e4), np.maximum(np.log1p(-p[:, g]), -1e4)
            found[:, :, g] = logs[0] @ won + logs[1] @ lost + np.log((others + 1.0) / (people - 1.0 + p.shape[1]))
    return np.asarray(logsumexp(found, axis=2))
