"""The label-free quantities of a latent-feature model, by which the agreement of chains is
judged."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thali._inference.numerics.ranks import average_ranks
from thali._model.covariates import coefficient_name
from thali._model.stored_choices import pair_index
from thali._posterior.convergence import Advice
from thali._posterior.view import Posterior
from thali.errors import Setting

from ..draws.columns import columns_of
from ..draws.probabilities import probability_draws
from .features import features_table, presence_of
from .options import shares_of, utility_draws
from .population import quantities_of_population

# With more options than this the choice probabilities are not rows of the summary.
MAX_OPTIONS = 60
# With more options than this their worths and ranks are not, either.
MAX_RANKED = 1_000
# The presence of less probable features is not a row of the summary.
MIN_PRESENT = 0.2

# Quantities of owners, which all groups share.
SHARED = ("n_features", "n_shared_features", "alpha", "log_likelihood")

Quantities = dict[str, np.ndarray]  # (chain, draw) each
_FAMILIES = (
    "the chains stay in different sets of features, so more draws will rarely help; refit with "
)


def _shared(posterior: Posterior, of_first: Quantities) -> Quantities:
    """Those of the first group that all groups share, and `kappa` if they are similar."""
    in_common = {*SHARED, *map(coefficient_name, posterior.covariates)}
    shared = {
        name: values
        for name, values in of_first.items()
        if name in in_common or name.startswith("presence[")
    }
    return shared if posterior.kappa is None else shared | {"kappa": posterior.kappa}


def of_everybody(posterior: Posterior, of_first: Quantities) -> Quantities:
    """Those that people share who have weights of their own, and those of the population."""
    return _shared(posterior, of_first) | quantities_of_population(posterior, MAX_OPTIONS)


def of_groups(posterior: Posterior, each: Mapping[str, Quantities]) -> Quantities:
    """Those that groups share, and those of each group, its name in brackets first."""
    shared = _shared(posterior, each[posterior.groups[0]])
    for group, own in each.items():
        for name, values in own.items():
            if name not in shared and not name.startswith("presence["):
                of, bracket, rest = name.partition("[")
                shared[f"{of}[{group}]{bracket}{rest}"] = values
    return shared


def of_shared_aspects(posterior: Posterior) -> Quantities:
    """`presence[a, b, ...]` of probable shared aspects, which the choice probabilities may leave
    open."""
    if not posterior.n_features.any():
        return {}
    return of_presence(posterior, sees_single=False, sees_full=False)


def of_pairs(posterior: Posterior) -> Quantities:
    """`tie`, `covariate[name]`, `choice_probability[a, b]` up to 60 options, `worth[a]`, `rank[a]`
    up to 1,000."""
    labels, shape, (first, second) = posterior.labels, posterior.shape, posterior.pairs
    own = {"tie": posterior.tie.reshape(shape)} if posterior.has_ties else {}
    slopes = posterior.coefficients.T.reshape(-1, *shape)
    own |= {
        coefficient_name(name): each
        for name, each in zip(posterior.covariates, slopes, strict=True)
    }
    if len(labels) > MAX_OPTIONS:
        return own | (of_options(posterior) if len(labels) <= MAX_RANKED else {})
    if (stored := posterior.choice_probability) is not None:
        compared = stored[..., pair_index(first, second, len(labels))]
    else:
        found = probability_draws(columns_of(posterior), first, second, posterior.lapse)
        compared = found.reshape(*shape, -1)
    named = enumerate(zip(first, second, strict=True))
    return own | {
        f"choice_probability[{labels[i]}, {labels[j]}]": compared[..., pair]
        for pair, (i, j) in named
    }


def of_options(posterior: Posterior) -> Quantities:
    """`worth[a]`, the share of an option in the sum of all utilities, and `rank[a]` by utility, 1
    the highest."""
    labels, utility = (
        posterior.labels,
        utility_draws(columns_of(posterior)).reshape(*posterior.shape, -1),
    )
    worth, rank = shares_of(utility), average_ranks(-utility)
    found = {f"worth[{label}]": worth[..., i] for i, label in enumerate(labels)}
    return found | {f"rank[{label}]": rank[..., i] for i, label in enumerate(labels)}


def of_offered(posterior: Posterior) -> Quantities:
    """`set_probability[a | a, b, ...]` as far as stored."""
    if (chosen := posterior.set_probability) is None:
        return {}
    named = enumerate(posterior.places)
    return {
        f"set_probability[{a} | {offered}]": chosen[..., place] for place, (a, offered) in named
    }


def of_own(posterior: Posterior) -> Quantities:
    """The parameters, and `presence[a, b, ...]` of probable features, under a likelihood of the
    user's own."""
    return posterior.parameters | of_presence(posterior, posterior.sees_single)


def of_presence(posterior: Posterior, sees_single: bool, sees_full: bool = True) -> Quantities:
    """`presence[a, b, ...]` of features with probability above .2, of single owners and of all only
    if they matter."""
    probable: Any = features_table(posterior, MIN_PRESENT)["members"]
    if not sees_single:
        # those of a single object are drawn from the prior
        probable = probable[probable.map(len) > 1]
    if not sees_full:
        probable = probable[probable.map(len) < posterior.n_options]
    members = probable.tolist()
    present = presence_of(posterior, members)
    return {
        f"presence[{', '.join(owners)}]": each
        for owners, each in zip(members, present, strict=True)
    }


def temperatures_of(posterior: Posterior) -> int:
    """How many temperatures a chain had."""
    return int(posterior.stats.sizes.get("level", 1))


def advice_of_choices(posterior: Posterior) -> Advice:
    """Remedies for chains of choices or triplets that disagree; known aspects leave nothing to
    temper."""
    if np.ptp(posterior.n_features) == 0:
        return Advice()
    return tempered(temperatures_of(posterior), (Setting("tempering", 8),))


def advice_of_own(posterior: Posterior) -> Advice:
    """Remedies for chains of a user's likelihood that disagree."""
    return Advice(stuck=(_FAMILIES, Setting("tempering", 8), " or more temperatures"))


def tempered(temperatures: int, to_temper: tuple[Any, ...]) -> Advice:
    """Switch tempering on, or take more temperatures and draws."""
    from ..samplers.tempering import MAX_TEMPERATURES

    if temperatures == 1:
        return Advice(besides=(", or with ", *to_temper), stuck=(_FAMILIES, *to_temper))
    more = Setting("tempering", min(2 * temperatures, MAX_TEMPERATURES))
    stuck = (
        "the chains move too rarely between alternative sets of features; refit with ",
        more,
        f" (now {temperatures} temperatures) and ",
    )
    return Advice(stuck=stuck, longer_if_stuck=True)
