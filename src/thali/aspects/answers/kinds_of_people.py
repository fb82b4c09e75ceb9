"""People of kinds that nobody knows: their draws as a tree, the kinds made comparable, and their tables.

The tree has what that of one group has, where `choice_probability` is that of a new person, and besides who is of which
kind (`kind`), and by kind the weights and what follows from them, as shares of the kind's total. The numbers of the
kinds mean nothing, and change from draw to draw; `order_of_kinds` makes them comparable.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIR_GROUPS, PAIR_KINDS
from thali.errors import ArgumentError, DataError
from thali.inference.seeds import streams
from thali.inference.threads import rectangle
from thali.posterior.densities import is_pointwise
from thali.posterior.interval import TAILS
from thali.posterior.store import origin, tree_of
from thali.posterior.summary import mean_errors
from thali.posterior.view import Posterior

from ..draws.columns import Columns, columns_of
from ..draws.counts import log_outcome_coefficient
from ..draws.probabilities import probability_blocks, probability_draws
from ..draws.tree import _DESCRIPTIONS, MAX_PAIRS, _dense_features, _listed_features, _stats, pair_index
from .check import PAIR, blocks, discrepancy_of, finished_table, replicated_rows, spaced_draws, whole_counts
from .groups import _as_shares, _padded_weights, columns_of_group, tree_of_group
from .predict import places_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.data.pairs import PairedComparisons

    from ..samplers.record import ChainDraws

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
    pairs, p = {}, None
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
    if p is not None and is_pointwise(len(people), len(of)):
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
    """log probability of everybody's answers given the kinds of all others; `p` (draw, kind, compared pair)."""
    # Given are the weights of all kinds too, so that the answers of people who are left out can be predicted by
    # importance sampling.
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


# The numbers of kinds of people made comparable across draws ----------------------------------------------------------
#
# Which kind is called the first is arbitrary, and changes from draw to draw and from chain to chain. The kinds of
# every draw are assigned to common ones so that the memberships of all people agree best (Stephens 2000): the sum
# over people of the log probability that they are of the common kind, averaged over all draws, is maximal, in turns
# with the average. It begins at the draw whose partition is nearest to all others (Dahl 2006). Common kinds are
# ordered by size.


TRIED = 500  # draws among which the nearest to all others is looked for
TURNS = 50  # at most


def number_of_kinds(tree: "xarray.DataTree") -> int:
    """How many kinds there may be."""
    return int(tree["constant_data"].dataset["kinds"])


def members(tree: "xarray.DataTree") -> np.ndarray:
    """Of which kind everybody is, by the numbers of each draw (draw, person)."""
    of = tree["posterior"].dataset["kind"].values
    return of.reshape(-1, of.shape[-1])


def together(of: np.ndarray, number: int) -> np.ndarray:
    """The share of draws in which two people are of the same kind (person, person)."""
    stacked = np.concatenate([(of == g) for g in range(number)]).astype(np.float32)
    return (stacked.T @ stacked).astype(float) / len(of)


def nearest(of: np.ndarray, number: int) -> np.ndarray:
    """The partition of the draw that is nearest to those of all: least squares of being together."""
    excess = together(of, number) - 0.5
    tried = of[np.unique(np.linspace(0, len(of) - 1, TRIED).astype(int))]
    score = np.zeros(len(tried))
    for g in range(number):
        own = (tried == g).astype(float)
        score += np.einsum("dp,dp->d", own @ excess, own)
    return tried[int(np.argmax(score))]


def agreement(of: np.ndarray, number: int) -> np.ndarray:
    """The share of pairs of people of whom a draw says as `nearest` whether they are of the same kind (draw,)."""
    people, middle = of.shape[1], nearest(of, number)
    common = np.stack([[(of == g) @ (middle == h).astype(float) for h in range(number)] for g in range(number)])
    sides = (common.sum(axis=0) ** 2).sum(axis=0) + (common.sum(axis=1) ** 2).sum(axis=0)
    return 1.0 + ((common**2).sum(axis=(0, 1)) - sides / 2.0) / (people * (people - 1) / 2.0)


def order_of_kinds(of: np.ndarray, number: int) -> np.ndarray:
    """The number, in each draw, of the kind that is the first, second, ... of the common ones (draw, kind)."""
    from scipy.optimize import linear_sum_assignment

    owns = of[:, :, None] == np.arange(number)  # (draw, person, kind)
    common = (nearest(of, number)[:, None] == np.arange(number)).astype(float)
    order = np.tile(np.arange(number), (len(of), 1))
    for turn in range(TURNS):
        logs = np.log((common * len(of) + 1.0 / number) / (len(of) + 1.0)) if turn else common
        agree = np.einsum("dpg,ph->dhg", owns, logs, optimize=True)
        found = np.array([linear_sum_assignment(-each)[1] for each in agree])
        if turn and np.array_equal(found, order):
            break
        order = found
        common = np.take_along_axis(owns, order[:, None, :], axis=2).mean(axis=0)
    return order[:, np.argsort(-common.sum(axis=0), kind="stable")]


def aligned_members(tree: "xarray.DataTree") -> np.ndarray:
    """Of which common kind everybody is, from 0 (draw, person)."""
    of, number = members(tree), number_of_kinds(tree)
    return np.take_along_axis(np.argsort(order_of_kinds(of, number), axis=1), of.astype(int), axis=1)


def memberships(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a person is of each common kind (person, kind)."""
    of = aligned_members(tree)
    return np.stack([(of == g).mean(axis=0) for g in range(number_of_kinds(tree))], axis=1)


def as_groups(tree: "xarray.DataTree") -> "xarray.DataTree":
    """The posterior of the common kinds as groups "1", "2", ..., each with the data of its likely members."""
    if Posterior(tree).kinds is None:
        return tree
    of, number = members(tree), number_of_kinds(tree)
    order = order_of_kinds(of, number)
    stored = tree["posterior"].to_dataset()
    shape = stored.sizes["chain"], stored.sizes["draw"]
    dropped = [name for name in ("choice_probability", "kind", "n_kinds") if name in stored]
    posterior = stored.drop_vars(dropped)
    for name in ("kind_weights", "kind_unique_weights", "kind_choice_probability"):
        if name in posterior:
            values, dims = posterior[name].values, posterior[name].dims
            at = order.reshape(*shape, number, *[1] * (values.ndim - 3))
            sorted_ = np.take_along_axis(values, at, axis=2)
            new = name.removeprefix("kind_") if name.endswith("probability") else f"group_{name.removeprefix('kind_')}"
            posterior = posterior.drop_vars(name)
            posterior[new] = tuple("group" if dim == "kind_number" else dim for dim in dims), sorted_
    names = [str(g + 1) for g in range(number)]
    posterior = posterior.drop_vars("subject").assign_coords(group=names)
    found = {"posterior": posterior, **_data_of_members(tree, memberships(tree).argmax(axis=1), names)}
    return tree_of(found | {"sample_stats": tree["sample_stats"].to_dataset()}, tree.attrs)


def _data_of_members(tree: "xarray.DataTree", kind: np.ndarray, names: list[str]) -> dict[str, Any]:
    """The comparisons of the people of each kind, one kind after the other."""
    import xarray as xr

    constant, observed = tree["constant_data"].to_dataset(), tree["observed_data"].to_dataset()
    pairs, of_answer = constant.sizes["compared_pair"], kind[constant["answer_subject"].values]
    wins, losses = (
        np.stack(
            [np.bincount(constant["answer_pair"].values, times * (of_answer == g), pairs) for g in range(len(names))]
        )
        for times in (observed["answers"].values, constant["answer_losses"].values)
    )
    group, pair = np.nonzero(wins + losses)
    rows = {"compared_pair_group": ("compared_pair", group)}
    rows |= {name: ("compared_pair", constant[name].values[pair]) for name in ("option_a", "option_b")}
    by_pair = {name: ("compared_pair", constant[name].values[pair]) for name in ("first", "second")}
    by_pair["losses"] = "compared_pair", _whole(losses[group, pair])
    by_pair["log_binomial_coefficient"] = "compared_pair", np.zeros(len(pair))
    scalars = {name: constant[name] for name in ("lapse", "unique", "has_ties", "learned_alpha", "similar")}
    counted = xr.Dataset({**by_pair, **scalars}, {**rows, "option": constant["option"].values, "group": names})
    counted["kind"] = PAIR_GROUPS
    return {
        "observed_data": xr.Dataset({"wins": ("compared_pair", _whole(wins[group, pair]))}, rows),
        "constant_data": counted,
    }


def _whole(values: np.ndarray) -> np.ndarray:
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


# Tables of kinds of people whose members are not known ----------------------------------------------------------------


def people_in(tree: "xarray.DataTree") -> list[str]:
    """The names of the people."""
    return [str(name) for name in tree["posterior"].dataset["subject"].values]


def same_kind_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The probability that two people are of the same kind, people by people."""
    import pandas as pd

    from thali._tables import Table

    people = pd.Index(people_in(tree), name="subject")
    return Table(together(members(tree), number_of_kinds(tree)), index=people, columns=people.rename("other"))


def sizes_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The kinds, the largest first, and how many people are of each."""
    import pandas as pd

    from thali._tables import Table

    of, number, people = aligned_members(tree), number_of_kinds(tree), np.array(people_in(tree))
    likely = memberships(tree).argmax(axis=1)
    rows = []
    for g in range(number):
        count = (of == g).sum(axis=1)
        shares = {"sample": _of_sample(count, len(people)), "population": _of_all(count, len(people), number)}
        row = {f"{whose}_{name}": value for whose, own in shares.items() for name, value in own.items()}
        rows.append(row | {"occupied": float(np.mean(count > 0)), "people": tuple(people[likely == g].tolist())})
    table = Table(rows, index=pd.RangeIndex(1, number + 1, name="kind"))
    occupied = tree["posterior"].dataset["n_kinds"].values.ravel()
    table.attrs["n_kinds"] = {count: float(np.mean(occupied == count)) for count in range(1, number + 1)}
    return table


def _of_sample(count: np.ndarray, people: int) -> dict[str, float]:
    """Mean and interval of the share of those who answered, of whom so many are of a kind in each draw."""
    share = count / people
    low, high = np.quantile(share, TAILS)
    return {"share": float(share.mean()), "low": float(low), "high": float(high)}


def _of_all(count: np.ndarray, people: int, kinds: int) -> dict[str, float]:
    """Mean and interval of the share of the population: a mixture over draws of Beta(1 + n_g, G - 1 + N - n_g)."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    if kinds == 1:
        return {"share": 1.0, "low": 1.0, "high": 1.0}
    n, times = np.unique(count, return_counts=True)
    weight, a, b = times / times.sum(), 1.0 + n, kinds - 1.0 + people - n
    found = []
    for p in TAILS:
        ends = betaincinv(a, b, p)
        low, high = float(ends.min()), float(ends.max())
        found.append(low if low == high else brentq(lambda x, p=p: weight @ betainc(a, b, x) - p, low, high))
    return {"share": float(weight @ (a / (a + b))), "low": found[0], "high": found[1]}


def assignment_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Of which kind everybody most probably is."""
    import pandas as pd

    from thali._tables import Table

    p = memberships(tree)
    likely = p.argmax(axis=1)
    columns = {"kind": likely + 1, "probability": p.max(axis=1)}
    columns |= {f"P({g + 1})": p[:, g] for g in range(p.shape[1])}
    return Table(columns, index=pd.Index(people_in(tree), name="subject"))


def of_kinds(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """Label-free quantities: `kappa`, and of two kinds or more `n_kinds`, `kind_share[1]`, ..., `kind_agreement`."""
    seen, number = Posterior(tree), number_of_kinds(tree)
    posterior = seen.draws
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    found = {} if seen.kappa is None else {"kappa": seen.kappa.values}
    if number == 1:
        return found
    of = members(tree)
    sizes = -np.sort(-np.stack([(of == g).mean(axis=1) for g in range(number)], axis=1), axis=1)
    found["n_kinds"] = posterior["n_kinds"].values
    found |= {f"kind_share[{rank + 1}]": sizes[:, rank].reshape(shape) for rank in range(number)}
    return found | ({"kind_agreement": agreement(of, number).reshape(shape)} if of.shape[1] > 1 else {})


# What a person chooses of whom only the answers of others are known: a mixture over kinds -----------------------------


def predicted_of_new(tree: "xarray.DataTree", sets: Any, return_se: bool) -> Any:
    """For pairs the probability that the first is chosen; of `Choices` out of pairs those of both."""
    places, paired = places_of(sets, [str(x) for x in tree["posterior"].dataset["option"].values])
    if any(len(each) != 2 for each in places):
        raise ArgumentError(
            "Of kinds of people pairs are predicted; for larger sets ask the model of a kind, of_kind(1)."
        )
    first, second = np.array(places, np.int64).reshape(-1, 2).T
    draws = new_person_draws(tree, first, second)
    p, chains = draws.mean(axis=0), tree["posterior"].sizes["chain"]

    def as_asked(values: np.ndarray, others: np.ndarray) -> Any:
        return values if paired else list(np.stack([values, others], axis=1))

    found = as_asked(p, 1.0 - p)
    if not return_se:
        return found
    errors = mean_errors(draws.T.reshape(len(first), chains, -1))
    return found, as_asked(errors, errors)


def new_person_draws(tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The probability that a new person chooses the first of each pair, draw by draw."""
    share, lapse = aligned_shares(tree), float(tree["constant_data"].dataset["lapse"])
    groups, found = as_groups(tree), np.zeros((len(share), len(first)))
    for g, name in enumerate(Posterior(groups).groups):
        found += share[:, g, None] * probability_draws(columns_of(tree_of_group(groups, name)), first, second, lapse)
    return found


def aligned_shares(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a new person is of each common kind (draw, kind)."""
    of, number = members(tree), number_of_kinds(tree)
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, order_of_kinds(of, number), axis=1))


# The posterior predictive check of people whose kinds are not known ---------------------------------------------------


def kinds_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """As `pair_check_table`; x_rep is the sum over kinds of Binomial(n_g, p_g), n_g answers by those of kind g."""
    import pandas as pd

    constant = tree["constant_data"].to_dataset()
    labels, first, second = constant["option"].values, constant["first"].values, constant["second"].values
    wins, losses = whole_counts(tree, labels[first], labels[second])
    of, groups = aligned_members(tree), as_groups(tree)
    draws = spaced_draws(len(of), len(first))
    of, rng = of[draws], streams(random_seed, 1)[0]
    subject, pair = constant["answer_subject"].values, constant["answer_pair"].values
    times = (tree["observed_data"].dataset["answers"].values + constant["answer_losses"].values).astype(np.int64)
    each = [columns_of(tree_of_group(groups, name)).take(draws) for name in Posterior(groups).groups]
    rows, discrepancy = [], np.zeros((2, len(draws)))
    for pairs in blocks(len(first), len(draws) * len(each)):
        here = np.flatnonzero((pair >= pairs.start) & (pair < pairs.stop))
        x, n = wins[pairs, None], (wins + losses)[pairs, None]
        replicates, expected = np.zeros((2, len(x), len(draws)))
        variance = np.zeros_like(expected)
        for g, columns in enumerate(each):
            by = np.zeros((len(x), len(draws)), np.int64)
            np.add.at(by, pair[here] - pairs.start, times[here, None] * (of[:, subject[here]] == g).T)
            p = probability_draws(columns, first[pairs], second[pairs], float(constant["lapse"])).T
            replicates += rng.binomial(by, p)
            expected += by * p
            variance += by * p * (1.0 - p)
        rows.append(replicated_rows(x, n, expected / n, replicates))
        discrepancy += [discrepancy_of(x, expected, variance), discrepancy_of(replicates, expected, variance)]
    named = pd.DataFrame({"a": labels[first].tolist(), "b": labels[second].tolist()})
    return finished_table(named, rows, discrepancy, PAIR)
