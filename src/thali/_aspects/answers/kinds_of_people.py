"""People of kinds that nobody knows: the kinds made comparable, and their tables, predictions and checks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import GROUPS, PAIRS
from thali._inference.numerics.counts import outcomes
from thali._model.asked_sets import table_of_outcomes, tied_places
from thali._posterior.interval import tails_of
from thali._posterior.view import COVARIATE, POPULATION, Posterior, parted

from ..draws.columns import columns_of
from ..draws.covariates import Lift, cells_of
from ..draws.probabilities import probability_blocks
from .class_order import agreement, together
from .kinds_tree import shares_of_new
from .predict import AskedSets, lift_for

if TYPE_CHECKING:
    import pandas


def aligned_members(posterior: Posterior) -> np.ndarray:
    """Of which common kind everybody is, from 0 (draw, person)."""
    return np.take_along_axis(np.argsort(posterior.class_order, axis=1), posterior.members.astype(int), axis=1)


def memberships(posterior: Posterior) -> np.ndarray:
    """The probability that a person is of each common kind (person, kind)."""
    of = aligned_members(posterior)
    return np.stack([(of == g).mean(axis=0) for g in range(posterior.most_classes)], axis=1)


def as_groups(posterior: Posterior) -> Posterior:
    """The posterior of the common kinds as groups "1", "2", ..., each with the data of its likely members."""
    if not posterior.has_classes:
        return posterior
    number, order = posterior.most_classes, posterior.class_order
    drawn, shape = posterior.whole(), posterior.shape
    names = [str(g + 1) for g in range(number)]
    kept, observed, counted = _data_of_members(posterior, memberships(posterior).argmax(axis=1), names)
    data = {"observed_data": observed, "constant_data": counted}
    for name in [str(name) for name in drawn.data_vars if "kind_number" in drawn[name].dims]:
        values, dims = drawn[name].values, drawn[name].dims
        at = order.reshape(*shape, number, *[1] * (values.ndim - 3))
        values, plain = np.take_along_axis(values, at, axis=2), name.removeprefix("kind_")
        drawn = drawn.drop_vars(name)
        if dims[3:] == ("place",):  # the sets of the members of each kind
            drawn = drawn.drop_vars(plain).drop_dims(("place", "place_number"))
            drawn[plain] = dims[:2] + dims[3:], np.concatenate([values[:, :, g, kept[g]] for g in range(number)], 2)
            continue
        new = f"group_{plain}" if plain in ("weights", "unique_weights") else plain
        drawn[new] = tuple("group" if dim == "kind_number" else dim for dim in dims), values
    drawn = drawn.drop_vars(["kind", "n_classes", "respondent", "class_order"]).assign_coords(group=names)
    if "set_probability" in drawn:
        rows = {name: observed[name].values for name in ("offered", "alternative", "place_group")}
        labels = [f"{one} | {offered}" for one, offered in zip(rows["alternative"], rows["offered"], strict=True)]
        drawn = drawn.assign_coords(place_group=("place", rows["place_group"]))
        drawn = drawn.assign_coords(place=np.array(labels, dtype=str))
    return Posterior.of(parted(drawn) | data | {"sample_stats": posterior.stats}, posterior.attributes)


def _data_of_members(posterior: Posterior, kind: np.ndarray, names: list[str]) -> tuple[list[np.ndarray], Any, Any]:
    """The answers of the people of each kind, one kind after the other; and of sets the places of each."""
    constant, of_one = posterior.fixed, posterior.data_kind
    kept, observed, counted = (_pairs_of if of_one == PAIRS else _sets_of)(posterior, kind, names)
    scalars = [name for name in constant if not constant[name].dims and name not in ("kind", "kinds", POPULATION)]
    counted = counted.assign({name: constant[name] for name in scalars})
    return kept, observed, counted.assign({"kind": of_one, POPULATION: GROUPS})


class RespondentCounts(NamedTuple):
    """How often everybody chose either option of a pair, or a cell, or neither; a row a person and cell."""

    respondent: np.ndarray
    cell: np.ndarray
    counts: np.ndarray  # (rows, outcomes): wins, ties, losses


def answers_to_pairs(posterior: Posterior) -> RespondentCounts:
    """What a posterior holds of everybody's answers to pairs."""
    constant, wins = posterior.fixed, posterior.observed["answers"].values
    ties = constant["answer_ties"].values if "answer_ties" in constant else np.zeros_like(wins)
    cell = constant["answer_cell" if posterior.covariates else "answer_pair"].values
    counts = np.stack([wins, ties, constant["answer_losses"].values], axis=1)
    return RespondentCounts(constant["answer_respondent"].values, cell, counts)


def _pairs_of(posterior: Posterior, kind: np.ndarray, names: list[str]) -> tuple[list[np.ndarray], Any, Any]:
    """The comparisons of the members of each kind."""
    import xarray as xr

    constant, given, cells = posterior.fixed, answers_to_pairs(posterior), cells_of(posterior)
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
    if posterior.covariates:
        of, cell = np.nonzero(by_cell.sum(axis=2))
        place = np.empty(by_pair.shape[:2], np.int64)  # of each pair among those of its kind
        place[group, pair] = np.arange(len(pair)) - np.searchsorted(group, group)
        counted |= {"cell_pair": ("cell", place[of, cells["pair"][cell]])}
        counted |= {f"cell_{name}": ("cell", by_cell[of, cell, k]) for k, name in enumerate(("wins", "ties", "losses"))}
        counted["covariate_values"] = ("cell", COVARIATE), cells["x"][cell]
        counted["option_values"] = constant["option_values"]
        rows |= {"cell_group": ("cell", of), COVARIATE: constant[COVARIATE].values}
    coordinates = {**rows, "option": constant["option"].values, "group": names}
    return [], xr.Dataset(observed, {name: rows[name] for name in list(rows)[:3]}), xr.Dataset(counted, coordinates)


def _sets_of(posterior: Posterior, kind: np.ndarray, names: list[str]) -> tuple[list[np.ndarray], Any, Any]:
    """The choices of the members of each kind, out of the sets out of which one of them chose."""
    import xarray as xr

    constant, observed = posterior.fixed, posterior.observed
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


def same_class_table(posterior: Posterior) -> "pandas.DataFrame":
    """The probability that two people are of the same kind, people by people."""
    import pandas as pd

    from thali._tables import Table

    people = pd.Index(posterior.respondents, name="respondent")
    return Table(together(posterior.members, posterior.most_classes), index=people, columns=people.rename("other"))


def sizes_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """The kinds, the largest first, and how many people are of each."""
    import pandas as pd

    from thali._tables import Table

    of, number, people = aligned_members(posterior), posterior.most_classes, np.array(posterior.respondents)
    likely = memberships(posterior).argmax(axis=1)
    rows = []
    for g in range(number):
        count = (of == g).sum(axis=1)
        shares = {"sample": _of_sample(count, len(people), ci), "population": _of_all(count, len(people), number, ci)}
        row = {f"{whose}_{name}": value for whose, own in shares.items() for name, value in own.items()}
        rows.append(row | {"occupied": float(np.mean(count > 0)), "respondents": tuple(people[likely == g].tolist())})
    table = Table(rows, index=pd.RangeIndex(1, number + 1, name="latent_class"))
    occupied = posterior.n_classes.ravel()
    table.attrs["interval"] = ci
    table.attrs["n_classes"] = {count: float(np.mean(occupied == count)) for count in range(1, number + 1)}
    return table


def _of_sample(count: np.ndarray, people: int, ci: float) -> dict[str, float]:
    """Mean and interval of the share of those who answered, of whom so many are of a kind in each draw."""
    share = count / people
    low, high = np.quantile(share, tails_of(ci))
    return {"share": float(share.mean()), "share_low": float(low), "share_high": float(high)}


def _of_all(count: np.ndarray, people: int, kinds: int, ci: float) -> dict[str, float]:
    """Mean and interval of the share of the population: a mixture over draws of Beta(1 + n_g, G - 1 + N - n_g)."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    if kinds == 1:
        return {"share": 1.0, "low": 1.0, "high": 1.0}
    n, times = np.unique(count, return_counts=True)
    weight, a, b = times / times.sum(), 1.0 + n, kinds - 1.0 + people - n
    found = []
    for p in tails_of(ci):
        ends = betaincinv(a, b, p)
        low, high = float(ends.min()), float(ends.max())
        found.append(low if low == high else brentq(lambda x, p=p: weight @ betainc(a, b, x) - p, low, high))
    return {"share": float(weight @ (a / (a + b))), "share_low": found[0], "share_high": found[1]}


def assignment_table(posterior: Posterior) -> "pandas.DataFrame":
    """Of which kind everybody most probably is."""
    import pandas as pd

    from thali._tables import Table

    p = memberships(posterior)
    likely = p.argmax(axis=1)
    columns = {"latent_class": likely + 1, "probability": p.max(axis=1)}
    columns |= {f"P({g + 1})": p[:, g] for g in range(p.shape[1])}
    return Table(columns, index=pd.Index(posterior.respondents, name="respondent"))


def of_kinds(posterior: Posterior) -> dict[str, np.ndarray]:
    """Label-free quantities: `kappa`, and of several classes `n_classes`, `class_share[1]`, ..., `class_agreement`."""
    number, shape = posterior.most_classes, posterior.shape
    found = {} if posterior.kappa is None else {"kappa": posterior.kappa}
    if number == 1:
        return found
    of = posterior.members
    sizes = -np.sort(-np.stack([(of == g).mean(axis=1) for g in range(number)], axis=1), axis=1)
    found["n_classes"] = posterior.n_classes
    found |= {f"class_share[{rank + 1}]": sizes[:, rank].reshape(shape) for rank in range(number)}
    return found | ({"class_agreement": agreement(of, number).reshape(shape)} if of.shape[1] > 1 else {})


# What a person chooses of whom only the answers of others are known: a mixture over kinds -----------------------------


def predicted_of_new(posterior: Posterior, classes: Posterior, sets: Any, return_se: bool, covariates: Any) -> Any:
    """For pairs the probability that the first is chosen; otherwise, for each set, those of its members.

    `classes` is the posterior as groups.
    """
    asked, lift = AskedSets(posterior, sets), lift_for(posterior, sets, covariates)
    if asked.paired:
        first, second = asked.pairs
        of_outcome = outcomes_of_new(posterior, classes, first, second, lift)
        return asked.means(of_outcome[..., 0] / (of_outcome[..., 0] + of_outcome[..., 2]), return_se)
    share = aligned_shares(posterior)
    each = [asked.probabilities(columns_of(classes.of_group(name))) for name in classes.groups]
    return asked.means(np.sum([share[:, g, None] * p for g, p in enumerate(each)], axis=0), return_se)


def outcomes_of_new(
    posterior: Posterior, classes: Posterior, first: np.ndarray, second: np.ndarray, lift: "Lift | None"
) -> np.ndarray:
    """Probabilities that a new person chooses the first of each pair, neither, and the second, draw by draw."""
    share, lapse = aligned_shares(posterior), posterior.lapse
    total = np.zeros((len(share), len(first), 3))
    for g, name in enumerate(classes.groups):
        own = classes.of_group(name)
        for draws, p, q in probability_blocks(columns_of(own), first, second, lapse, lift):
            nu = np.zeros(1) if own.tie is None else own.tie[draws, None]
            total[draws] += share[draws, g, None, None] * outcomes(p, q, nu)
    return total


def outcomes_table_of_new(posterior: Posterior, classes: Posterior, pairs: Any, covariates: Any) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b of a new person."""
    labels = posterior.labels
    first, second = tied_places(pairs, labels, posterior.tie is not None)
    draws = outcomes_of_new(posterior, classes, first, second, lift_for(posterior, pairs, covariates))
    return table_of_outcomes(labels, first, second, draws.mean(axis=0))


def aligned_shares(posterior: Posterior) -> np.ndarray:
    """The probability that a new person is of each common kind (draw, kind)."""
    of, number = posterior.members, posterior.most_classes
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, posterior.class_order, axis=1))
