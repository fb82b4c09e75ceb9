"""People of kinds that nobody knows: the kinds made comparable, and their tables, predictions and checks."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import GROUPED, OF_KINDS, PAIRS
from thali._posterior.interval import TAILS
from thali._posterior.store import tree_of
from thali._posterior.summary import mean_errors
from thali._posterior.view import Posterior, parted

from ..draws.columns import columns_of
from ..draws.counts import outcomes
from ..draws.covariates import DIMENSION, Lift, cells_of, names_in
from ..draws.probabilities import probability_blocks
from ..likelihoods.best_worst import rule_of
from .class_order import agreement, class_order, members, number_of_classes, together
from .groups import tree_of_group
from .kinds_tree import shares_of_new
from .predict import (
    has_answers,
    lift_for,
    out_of_sets,
    places_of,
    table_of_outcomes,
    tied_places,
)

if TYPE_CHECKING:
    import pandas
    import xarray


def aligned_members(tree: "xarray.DataTree") -> np.ndarray:
    """Of which common kind everybody is, from 0 (draw, person)."""
    return np.take_along_axis(np.argsort(class_order(tree), axis=1), members(tree).astype(int), axis=1)


def memberships(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a person is of each common kind (person, kind)."""
    of = aligned_members(tree)
    return np.stack([(of == g).mean(axis=0) for g in range(number_of_classes(tree))], axis=1)


def as_groups(tree: "xarray.DataTree") -> "xarray.DataTree":
    """The posterior of the common kinds as groups "1", "2", ..., each with the data of its likely members."""
    if Posterior(tree).kinds is None:
        return tree
    number, order = number_of_classes(tree), class_order(tree)
    posterior = Posterior(tree).whole()
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    names = [str(g + 1) for g in range(number)]
    kept, data = _data_of_members(tree, memberships(tree).argmax(axis=1), names)
    for name in [str(name) for name in posterior.data_vars if "kind_number" in posterior[name].dims]:
        values, dims = posterior[name].values, posterior[name].dims
        at = order.reshape(*shape, number, *[1] * (values.ndim - 3))
        values, plain = np.take_along_axis(values, at, axis=2), name.removeprefix("kind_")
        posterior = posterior.drop_vars(name)
        if dims[3:] == ("place",):  # the sets of the members of each kind
            posterior = posterior.drop_vars(plain).drop_dims(("place", "place_number"))
            posterior[plain] = dims[:2] + dims[3:], np.concatenate([values[:, :, g, kept[g]] for g in range(number)], 2)
            continue
        new = f"group_{plain}" if plain in ("weights", "unique_weights") else plain
        posterior[new] = tuple("group" if dim == "kind_number" else dim for dim in dims), values
    posterior = posterior.drop_vars(["kind", "n_classes", "respondent", "class_order"]).assign_coords(group=names)
    if "set_probability" in posterior:
        rows = {name: data["observed_data"][name].values for name in ("offered", "alternative", "place_group")}
        labels = [f"{one} | {offered}" for one, offered in zip(rows["alternative"], rows["offered"], strict=True)]
        posterior = posterior.assign_coords(place_group=("place", rows["place_group"]))
        posterior = posterior.assign_coords(place=np.array(labels, dtype=str))
    found = parted(posterior) | data
    return tree_of(found | {"sample_stats": tree["sample_stats"].to_dataset()}, tree.attrs)


def _data_of_members(
    tree: "xarray.DataTree", kind: np.ndarray, names: list[str]
) -> tuple[list[np.ndarray], dict[str, Any]]:
    """The answers of the people of each kind, one kind after the other; and of sets the places of each."""
    constant = tree["constant_data"].to_dataset()
    of_data = OF_KINDS[Posterior(tree).data_kind]
    kept, observed, counted = (_pairs_of if of_data == PAIRS else _sets_of)(tree, kind, names)
    scalars = [name for name in constant if not constant[name].dims and name not in ("kind", "kinds")]
    counted = counted.assign({name: constant[name] for name in scalars})
    counted["kind"] = GROUPED[of_data]
    return kept, {"observed_data": observed, "constant_data": counted}


class OfPeople(NamedTuple):
    """How often everybody chose either option of a pair, or a cell, or neither; a row a person and cell."""

    respondent: np.ndarray
    cell: np.ndarray
    counts: np.ndarray  # (rows, outcomes): wins, ties, losses


def answers_to_pairs(tree: "xarray.DataTree") -> OfPeople:
    """What a posterior holds of everybody's answers to pairs."""
    constant, wins = tree["constant_data"].dataset, tree["observed_data"].dataset["answers"].values
    ties = constant["answer_ties"].values if "answer_ties" in constant else np.zeros_like(wins)
    cell = constant["answer_cell" if names_in(tree) else "answer_pair"].values
    counts = np.stack([wins, ties, constant["answer_losses"].values], axis=1)
    return OfPeople(constant["answer_respondent"].values, cell, counts)


def _pairs_of(tree: "xarray.DataTree", kind: np.ndarray, names: list[str]) -> tuple[list[np.ndarray], Any, Any]:
    """The comparisons of the members of each kind."""
    import xarray as xr

    constant, given, cells = tree["constant_data"].to_dataset(), answers_to_pairs(tree), cells_of(tree)
    by_cell = np.zeros((len(names), len(cells["pair"]), 3))
    np.add.at(by_cell, (kind[given.respondent], given.cell), given.counts)
    first_cell = np.searchsorted(cells["pair"], np.arange(constant.sizes["compared_pair"]))
    by_pair = np.add.reduceat(by_cell, first_cell, axis=1)
    group, pair = np.nonzero(by_pair.sum(axis=2))
    wins, ties, losses = (_whole(each) for each in by_pair[group, pair].T)
    rows: dict[str, Any] = {"compared_pair_group": ("compared_pair", group)}
    rows |= {name: ("compared_pair", constant[name].values[pair]) for name in ("option_a", "option_b")}
    counted: dict[str, Any] = {name: ("compared_pair", constant[name].values[pair]) for name in ("first", "second")}
    counted["losses"] = "compared_pair", losses
    counted["log_binomial_coefficient"] = "compared_pair", np.zeros(len(pair))
    observed = {"wins": ("compared_pair", wins)}
    observed |= {"ties": ("compared_pair", ties)} if constant["has_ties"] else {}
    if names_in(tree):
        of, cell = np.nonzero(by_cell.sum(axis=2))
        place = np.empty(by_pair.shape[:2], np.int64)  # of each pair among those of its kind
        place[group, pair] = np.arange(len(pair)) - np.searchsorted(group, group)
        counted |= {"cell_pair": ("cell", place[of, cells["pair"][cell]])}
        counted |= {f"cell_{name}": ("cell", by_cell[of, cell, k]) for k, name in enumerate(("wins", "ties", "losses"))}
        counted["covariate_values"] = ("cell", DIMENSION), cells["x"][cell]
        counted["option_values"] = constant["option_values"]
        rows |= {"cell_group": ("cell", of), DIMENSION: constant[DIMENSION].values}
    coordinates = {**rows, "option": constant["option"].values, "group": names}
    return [], xr.Dataset(observed, {name: rows[name] for name in list(rows)[:3]}), xr.Dataset(counted, coordinates)


def _sets_of(tree: "xarray.DataTree", kind: np.ndarray, names: list[str]) -> tuple[list[np.ndarray], Any, Any]:
    """The choices of the members of each kind, out of the sets out of which one of them chose."""
    import xarray as xr

    constant, observed = tree["constant_data"].to_dataset(), tree["observed_data"].to_dataset()
    sizes, times = constant["set_size"].values, observed["answers"].values
    (of,) = map(str, observed["chosen"].dims)  # along which the possible answers stand: the places, or best and worst
    at_place = np.repeat(np.arange(len(sizes)), sizes)
    set_of = at_place if of == "place" else np.repeat(np.arange(len(sizes)), sizes * (sizes - 1))
    of_answer, answer = kind[constant["answer_respondent"].values], constant["answer_place"].values
    counts = [np.bincount(answer, times * (of_answer == g), len(set_of)) for g in range(len(names))]
    sets = [np.flatnonzero(np.bincount(set_of, each, len(sizes))) for each in counts]
    along = {"set": sets, "place": [np.flatnonzero(np.isin(at_place, each)) for each in sets]}
    along[of] = [np.flatnonzero(np.isin(set_of, each)) for each in sets]
    rows: dict[str, Any] = {
        f"{dim}_group": (dim, np.repeat(np.arange(len(names)), [len(each) for each in kept]))
        for dim, kept in along.items()
    }
    own: dict[str, Any] = {}
    for dim, at in ((dim, np.concatenate(kept)) for dim, kept in along.items()):
        rows |= {str(name): (dim, each.values[at]) for name, each in observed.coords.items() if each.dims == (dim,)}
        own |= {str(name): (dim, each.values[at]) for name, each in constant.data_vars.items() if each.dims == (dim,)}
    own["log_multinomial_coefficient"] = "set", np.zeros(len(own["set_size"][1]))
    chosen = np.concatenate([each[own] for each, own in zip(counts, along[of], strict=True)])
    counted = xr.Dataset(own, {**rows, "option": constant["option"].values, "group": names})
    return along["place"], xr.Dataset({"chosen": (of, _whole(chosen))}, rows), counted


def _whole(values: np.ndarray) -> np.ndarray:
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


# Tables of kinds of people whose members are not known ----------------------------------------------------------------


def people_in(tree: "xarray.DataTree") -> list[str]:
    """The names of the people."""
    return [str(name) for name in tree["posterior"].dataset["respondent"].values]


def same_class_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The probability that two people are of the same kind, people by people."""
    import pandas as pd

    from thali._tables import Table

    people = pd.Index(people_in(tree), name="respondent")
    return Table(together(members(tree), number_of_classes(tree)), index=people, columns=people.rename("other"))


def sizes_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The kinds, the largest first, and how many people are of each."""
    import pandas as pd

    from thali._tables import Table

    of, number, people = aligned_members(tree), number_of_classes(tree), np.array(people_in(tree))
    likely = memberships(tree).argmax(axis=1)
    rows = []
    for g in range(number):
        count = (of == g).sum(axis=1)
        shares = {"sample": _of_sample(count, len(people)), "population": _of_all(count, len(people), number)}
        row = {f"{whose}_{name}": value for whose, own in shares.items() for name, value in own.items()}
        rows.append(row | {"occupied": float(np.mean(count > 0)), "respondents": tuple(people[likely == g].tolist())})
    table = Table(rows, index=pd.RangeIndex(1, number + 1, name="latent_class"))
    occupied = tree["posterior"].dataset["n_classes"].values.ravel()
    table.attrs["n_classes"] = {count: float(np.mean(occupied == count)) for count in range(1, number + 1)}
    return table


def _of_sample(count: np.ndarray, people: int) -> dict[str, float]:
    """Mean and interval of the share of those who answered, of whom so many are of a kind in each draw."""
    share = count / people
    low, high = np.quantile(share, TAILS)
    return {"share": float(share.mean()), "share_low": float(low), "share_high": float(high)}


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
    return {"share": float(weight @ (a / (a + b))), "share_low": found[0], "share_high": found[1]}


def assignment_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Of which kind everybody most probably is."""
    import pandas as pd

    from thali._tables import Table

    p = memberships(tree)
    likely = p.argmax(axis=1)
    columns = {"latent_class": likely + 1, "probability": p.max(axis=1)}
    columns |= {f"P({g + 1})": p[:, g] for g in range(p.shape[1])}
    return Table(columns, index=pd.Index(people_in(tree), name="respondent"))


def of_kinds(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """Label-free quantities: `kappa`, and of several classes `n_classes`, `class_share[1]`, ..., `class_agreement`."""
    seen, number = Posterior(tree), number_of_classes(tree)
    posterior = seen.draws
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    found = {} if seen.kappa is None else {"kappa": seen.kappa.values}
    if number == 1:
        return found
    of = members(tree)
    sizes = -np.sort(-np.stack([(of == g).mean(axis=1) for g in range(number)], axis=1), axis=1)
    found["n_classes"] = posterior["n_classes"].values
    found |= {f"class_share[{rank + 1}]": sizes[:, rank].reshape(shape) for rank in range(number)}
    return found | ({"class_agreement": agreement(of, number).reshape(shape)} if of.shape[1] > 1 else {})


# What a person chooses of whom only the answers of others are known: a mixture over kinds -----------------------------


def predicted_of_new(tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
    """For pairs the probability that the first is chosen; otherwise, for each set, those of its members."""
    places, paired = places_of(sets, [str(x) for x in tree["posterior"].dataset["option"].values])
    lift = lift_for(tree, sets, covariates)
    if paired:
        first, second = np.array(places, np.int64).reshape(-1, 2).T
        of_outcome = outcomes_of_new(tree, first, second, lift)
        draws = of_outcome[..., 0] / (of_outcome[..., 0] + of_outcome[..., 2])
        ends = np.zeros(0, np.int64)
    else:
        rule, answers = rule_of(tree), has_answers(sets)
        ends = out_of_sets(columns_of(tree), places, answers, 0.0, rule)[1][1:-1]

        def of_kind(columns: Any, lapse: float) -> np.ndarray:
            return out_of_sets(columns, places, answers, lapse, rule)[0](slice(0, columns.n_draws))

        draws = new_person_draws(tree, of_kind)
    p, chains = draws.mean(axis=0), tree["posterior"].sizes["chain"]
    found = p if paired else np.split(p, ends)
    if not return_se:
        return found
    errors = mean_errors(draws.T.reshape(draws.shape[1], chains, -1))
    return found, errors if paired else np.split(errors, ends)


def outcomes_of_new(tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray, lift: "Lift | None") -> np.ndarray:
    """Probabilities that a new person chooses the first of each pair, neither, and the second, draw by draw."""
    share, lapse, groups = aligned_shares(tree), float(tree["constant_data"].dataset["lapse"]), as_groups(tree)
    total = np.zeros((len(share), len(first), 3))
    for g, name in enumerate(Posterior(groups).groups):
        own = tree_of_group(groups, name)
        tie = Posterior(own).tie
        for draws, p, q in probability_blocks(columns_of(own), first, second, lapse, lift):
            nu = np.zeros(1) if tie is None else tie[draws, None]
            total[draws] += share[draws, g, None, None] * outcomes(p, q, nu)
    return total


def outcomes_table_of_new(tree: "xarray.DataTree", pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b of a new person."""
    labels = [str(x) for x in tree["posterior"].dataset["option"].values]
    first, second = tied_places(pairs, labels, Posterior(tree).tie is not None)
    draws = outcomes_of_new(tree, first, second, lift_for(tree, pairs, covariates))
    return table_of_outcomes(labels, first, second, draws.mean(axis=0))


def new_person_draws(tree: "xarray.DataTree", of_kind: "Callable[[Any, float], np.ndarray]") -> np.ndarray:
    """Probabilities of what a new person chooses, draw by draw; `of_kind`: of the columns of a kind, and lapse."""
    share, lapse = aligned_shares(tree), float(tree["constant_data"].dataset["lapse"])
    groups = as_groups(tree)
    each = [of_kind(columns_of(tree_of_group(groups, name)), lapse) for name in Posterior(groups).groups]
    return np.sum([share[:, g, None] * p for g, p in enumerate(each)], axis=0)


def aligned_shares(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a new person is of each common kind (draw, kind)."""
    of, number = members(tree), number_of_classes(tree)
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, class_order(tree), axis=1))
