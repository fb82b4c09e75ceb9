"""The label-free quantities of a latent-feature model, by which the agreement of chains is judged."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.numerics.ranks import average_ranks
from thali._posterior.convergence import Advice
from thali._posterior.view import Posterior
from thali.errors import Argument, Setting

from ..draws.columns import columns_of
from ..draws.covariates import names_in, parameter
from ..draws.probabilities import probability_draws
from ..draws.tree import pair_index
from .features import features_table, presence_of
from .groups import tree_of_group
from .kinds_of_people import of_kinds
from .options import shares_of, utility_draws
from .population import quantities_of_population
from .stored_layout import APPROXIMATE, TEMPERED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray

# With more options than this the choice probabilities are not rows of the summary.
MAX_OPTIONS = 60
# With more options than this their worths and ranks are not, either.
MAX_RANKED = 1_000
# The presence of less probable features is not a row of the summary.
MIN_PRESENT = 0.2

# Of similarities and triplets: objects whose pairs chains are judged by, how many pairs at least and at most, and
# numbers that are looked at for each of their two quantities.
MAX_JUDGED_OBJECTS, JUDGED_PAIRS, MAX_JUDGED_NUMBERS = 40, (20, 200), 1e7

# Quantities of owners, which all groups share.
SHARED = ("n_features", "n_shared_features", "alpha", "log_likelihood")

Quantities = dict[str, np.ndarray]  # (chain, draw) each
_TEMPERED_LATER = (
    " Without tempering the chains stayed in different families of features, so they were restarted with tempering."
)
_APPROXIMATE = " Draws come from a corrected Laplace approximation; to sample the posterior itself, set "
_FAMILIES = "the chains stay in different families of features, so more draws will rarely help; refit with "


def of_groups(tree: "xarray.DataTree", of_one: "Callable[[xarray.DataTree], Quantities]") -> Quantities:
    """Those that groups share, `kappa` if they are similar, and those of each group, its name in brackets first.

    Of people of whom each has weights of their own they are those of the population.
    """
    seen = Posterior(tree)
    names = seen.groups
    of_first = of_one(tree_of_group(tree, names[0]))
    in_common = {*SHARED, *map(parameter, names_in(tree))}
    shared = {name: values for name, values in of_first.items() if name in in_common or name.startswith("presence[")}
    if (kappa := seen.kappa) is not None:
        shared["kappa"] = kappa.values
    if seen.has_individuals:
        return shared | quantities_of_population(tree, MAX_OPTIONS)
    for group in names:
        for name, values in of_one(tree_of_group(tree, group)).items():
            if name not in shared and not name.startswith("presence["):
                of, bracket, rest = name.partition("[")
                shared[f"{of}[{group}]{bracket}{rest}"] = values
    return shared


def of_shared_aspects(tree: "xarray.DataTree") -> Quantities:
    """`presence[a, b, ...]` of probable shared aspects, which the choice probabilities may leave open."""
    if not tree["posterior"].dataset["n_features"].values.any():
        return {}
    return of_presence(tree, sees_single=False, sees_full=False)


def advice_of(tree: "xarray.DataTree", of_data: "Callable[[xarray.DataTree], Advice]") -> Advice:
    """Remedies for chains that disagree, where nothing else is known those for the kind of data."""
    if tree.attrs.get(APPROXIMATE):
        return Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "mcmc"), "."))
    advice = of_data(tree)
    return advice._replace(note=(_TEMPERED_LATER,)) if tree.attrs.get(TEMPERED_LATER) else advice


def of_all(tree: "xarray.DataTree", counted: str) -> Quantities:
    """Those of any data: the number of features that are counted, `alpha` if it was learned, `log_likelihood`."""
    names = [counted, *(["alpha"] if tree["constant_data"].dataset["learned_alpha"] else []), "log_likelihood"]
    return {name: tree["posterior"].dataset[name].values for name in names}


def of_pairs(tree: "xarray.DataTree") -> Quantities:
    """`tie`, `covariate[name]`, `choice_probability[a, b]` up to 60 options, `worth[a]`, `rank[a]` up to 1,000."""
    posterior, constant = tree["posterior"].dataset, tree["constant_data"].dataset
    n_options = posterior.sizes["option"]
    own = {"tie": posterior["tie"].values} if constant["has_ties"] else {}
    own |= {parameter(name): posterior["covariate"].values[..., m] for m, name in enumerate(names_in(tree))}
    if n_options > MAX_OPTIONS:
        return own | (of_options(tree) if n_options <= MAX_RANKED else {})
    first, second = constant["first"].values, constant["second"].values
    if (stored := Posterior(tree).choice_probability) is not None:
        compared = stored.values[..., pair_index(first, second, n_options)]
    else:
        found = probability_draws(columns_of(tree), first, second, float(constant["lapse"]))
        compared = found.reshape(posterior.sizes["chain"], posterior.sizes["draw"], -1)
    named = zip(constant["option_a"].values, constant["option_b"].values, strict=True)
    return own | {f"choice_probability[{a}, {b}]": compared[..., pair] for pair, (a, b) in enumerate(named)}


def of_options(tree: "xarray.DataTree") -> Quantities:
    """`worth[a]`, the share of an option in the sum of all utilities, and `rank[a]` by utility, 1 the highest."""
    posterior = tree["posterior"].dataset
    shape = posterior.sizes["chain"], posterior.sizes["draw"], -1
    utility = utility_draws(columns_of(tree)).reshape(shape)
    worth, rank = shares_of(utility), average_ranks(-utility)
    labels = posterior["option"].values
    found = {f"worth[{label}]": worth[..., i] for i, label in enumerate(labels)}
    return found | {f"rank[{label}]": rank[..., i] for i, label in enumerate(labels)}


def of_sets(tree: "xarray.DataTree") -> Quantities:
    """`set_probability[a | a, b, ...]` as far as stored; of own weights alone `worth[a]` and `rank[a]` instead."""
    posterior = tree["posterior"].dataset
    if not posterior["n_features"].values.any() and posterior.sizes["option"] <= MAX_RANKED:
        return of_options(tree)
    return of_offered(tree)


def of_offered(tree: "xarray.DataTree") -> Quantities:
    """`set_probability[a | a, b, ...]` as far as stored."""
    observed = tree["observed_data"].dataset
    if (stored := Posterior(tree).set_probability) is None:
        return {}
    chosen = stored.values
    named = zip(observed["alternative"].values, observed["offered"].values, strict=True)
    return {f"set_probability[{a} | {offered}]": chosen[..., place] for place, (a, offered) in enumerate(named)}


def of_every_pair(tree: "xarray.DataTree") -> Quantities:
    """`choice_probability[a, b]` of all pairs, as far as stored."""
    posterior = tree["posterior"].dataset
    if "choice_probability" not in posterior:
        return {}
    p = posterior["choice_probability"]
    return {f"choice_probability[{name}]": p.values[..., pair] for pair, name in enumerate(p["pair"].values)}


def of_similarities(tree: "xarray.DataTree") -> Quantities:
    """`sigma` if it was learned, `constant` if there is one, and `presence[a, b, ...]` of probable shared features."""
    posterior, constant = tree["posterior"].dataset, tree["constant_data"].dataset
    names = ["sigma"] * bool(constant["learned_sigma"]) + ["constant"] * bool(constant["has_constant"])
    return {name: posterior[name].values for name in names} | of_presence(tree, sees_single=False)


def of_triplets(tree: "xarray.DataTree") -> Quantities:
    """`constant`, as a share of the mean value of all pairs, if there is one, and `presence[a, b, ...]`."""
    return constant_share(tree) | of_answered(tree)


def of_answered(tree: "xarray.DataTree") -> Quantities:
    """`presence[a, b, ...]` of probable features that answers depend on."""
    return of_presence(tree, sees_single=False, sees_full=bool(tree["constant_data"].dataset["has_constant"]))


def constant_share(tree: "xarray.DataTree") -> Quantities:
    """The constant of triplets over the mean value of all pairs: only ratios count."""
    posterior = tree["posterior"].dataset
    if not tree["constant_data"].dataset["has_constant"]:
        return {}
    columns, constant, n = columns_of(tree), posterior["constant"].values, posterior.sizes["option"]
    shared = columns.summed(columns.weights * columns.sizes * (columns.sizes - 1)) / (n * (n - 1))
    return {"constant": constant / (constant + shared.reshape(constant.shape))}


def some_pairs(tree: "xarray.DataTree") -> tuple[np.ndarray, np.ndarray]:
    """Pairs of objects, evenly spaced, fewer of many draws."""
    sizes = tree["posterior"].sizes
    objects = spread(sizes["option"], MAX_JUDGED_OBJECTS)
    first, second = np.triu_indices(len(objects), 1)
    most = int(np.clip(MAX_JUDGED_NUMBERS / (sizes["chain"] * sizes["draw"]), *JUDGED_PAIRS))
    chosen = spread(len(first), most)
    return objects[first[chosen]], objects[second[chosen]]


def of_some_pairs(
    tree: "xarray.DataTree", name: str, draws_of: "Callable[[xarray.DataTree, np.ndarray, np.ndarray], np.ndarray]"
) -> Quantities:
    """`name[a, b]` of some pairs, of which `draws_of` gives a number in each draw (draws, pairs).

    Unlike the presence of a feature with just these owners they are there for any number of objects.
    """
    sizes, labels = tree["posterior"].sizes, tree["posterior"].dataset["option"].values
    first, second = some_pairs(tree)
    drawn = draws_of(tree, first, second).T.reshape(-1, sizes["chain"], sizes["draw"])
    named = (f"{name}[{labels[i]}, {labels[j]}]" for i, j in zip(first, second, strict=True))
    return dict(zip(named, drawn, strict=True))


def spread(number: int, most: int) -> np.ndarray:
    """Some of so many places, evenly spaced."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(int))


def of_own(tree: "xarray.DataTree") -> Quantities:
    """The parameters, and `presence[a, b, ...]` of probable features, under a likelihood of the user's own."""
    seen = Posterior(tree)
    own = {name: seen.draws[name].values for name in seen.parameters}
    return own | of_presence(tree, bool(seen.fixed["sees_single"]))


def of_presence(tree: "xarray.DataTree", sees_single: bool, sees_full: bool = True) -> Quantities:
    """`presence[a, b, ...]` of features with probability above .2, of single owners and of all only if they matter."""
    probable: Any = features_table(tree, MIN_PRESENT)["members"]
    if not sees_single:
        probable = probable[probable.map(len) > 1]  # those of a single object are drawn from the prior
    if not sees_full:
        probable = probable[probable.map(len) < tree["posterior"].sizes["option"]]
    members = probable.tolist()
    present = presence_of(tree, members)
    return {f"presence[{', '.join(owners)}]": each for owners, each in zip(members, present, strict=True)}


def temperatures_of(tree: "xarray.DataTree") -> int:
    """How many temperatures a chain had."""
    return int(tree["sample_stats"].dataset.sizes.get("level", 1))


def advice_of_choices(tree: "xarray.DataTree") -> Advice:
    """Remedies for chains of choices or triplets that disagree; known aspects leave nothing to temper."""
    if np.ptp(tree["posterior"].dataset["n_features"].values) == 0:
        return Advice()
    return _tempered(temperatures_of(tree), (Setting("tempering", 8),))


def advice_of_similarities(tree: "xarray.DataTree") -> Advice:
    """Remedies for chains of similarities that disagree."""
    return _tempered(temperatures_of(tree), (Argument("tempering"), " (", Setting("tempering", None), ")"))


def advice_of_own(tree: "xarray.DataTree") -> Advice:
    """Remedies for chains of a user's likelihood that disagree."""
    return Advice(stuck=(_FAMILIES, Setting("tempering", 8), " or more temperatures"))


def _tempered(temperatures: int, to_temper: tuple[Any, ...]) -> Advice:
    """Switch tempering on, or take more temperatures and draws."""
    from ..samplers.tempering import MAX_TEMPERATURES

    if temperatures == 1:
        return Advice(besides=(", or with ", *to_temper), stuck=(_FAMILIES, *to_temper))
    more = Setting("tempering", min(2 * temperatures, MAX_TEMPERATURES))
    stuck = (
        "the chains move too rarely between families of features; refit with ",
        more,
        f" (now {temperatures} temperatures) and ",
    )
    return Advice(stuck=stuck, longer_if_stuck=True)


def of_people(tree: "xarray.DataTree", of_new: "Callable[[xarray.DataTree], Quantities]") -> Quantities:
    """Those of kinds of people, and those of a new person up to 60 options."""
    few = tree["posterior"].sizes["option"] <= MAX_OPTIONS
    return of_kinds(tree) | (of_new(tree) if few else {})
