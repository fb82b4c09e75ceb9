"""People of kinds that nobody knows: the kinds made comparable, and their tables, predictions and
checks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS
from thali._inference.numerics.counts import outcomes
from thali._model.asked_sets import table_of_outcomes, tied_places
from thali._posterior.interval import tails_of
from thali._posterior.view import POPULATION, Posterior, parted

from ..draws.columns import columns_of
from ..draws.covariates import Lift
from ..draws.probabilities import probability_blocks
from ..draws.tree import DataPart
from .class_order import agreement, together
from .groups import joined_parts
from .kinds_tree import shares_of_new
from .predict import AskedSets, lift_for

if TYPE_CHECKING:
    import pandas


def aligned_members(posterior: Posterior) -> np.ndarray:
    """Of which common kind everybody is, from 0 (draw, person)."""
    return np.take_along_axis(
        np.argsort(posterior.class_order, axis=1), posterior.members.astype(int), axis=1
    )


def memberships(posterior: Posterior) -> np.ndarray:
    """The probability that a person is of each common kind (person, kind)."""
    of = aligned_members(posterior)
    return np.stack([(of == g).mean(axis=0) for g in range(posterior.most_classes)], axis=1)


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


# Tables of kinds of people whose members are not known --------------------------------------------


def same_class_table(posterior: Posterior) -> "pandas.DataFrame":
    """The probability that two people are of the same kind, people by people."""
    import pandas as pd

    from thali._tables import Table

    people = pd.Index(posterior.respondents, name="respondent")
    return Table(
        together(posterior.members, posterior.most_classes),
        index=people,
        columns=people.rename("other"),
    )


def sizes_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """The kinds, the largest first, and how many people are of each."""
    import pandas as pd

    from thali._tables import Table

    of, number, people = (
        aligned_members(posterior),
        posterior.most_classes,
        np.array(posterior.respondents),
    )
    likely = memberships(posterior).argmax(axis=1)
    rows = []
    for g in range(number):
        count = (of == g).sum(axis=1)
        sample = _sample_share(count, len(people), ci)
        population = _population_share(count, len(people), number, ci)
        respondents = tuple(people[likely == g].tolist())
        rows.append((*sample, *population, np.mean(count > 0), respondents))
    ends = "share", "share_low", "share_high"
    columns = [f"{whose}_{name}" for whose in ("sample", "population") for name in ends]
    table = Table(
        rows,
        pd.RangeIndex(1, number + 1, name="latent_class"),
        [*columns, "occupied", "respondents"],
    )
    occupied = posterior.n_classes.ravel()
    table.attrs["interval"] = ci
    table.attrs["n_classes"] = {
        count: float(np.mean(occupied == count)) for count in range(1, number + 1)
    }
    return table


def _sample_share(count: np.ndarray, people: int, ci: float) -> tuple[float, float, float]:
    """Return mean and interval of the share of those who answered, of whom so many are of a kind in
    each draw."""
    share = count / people
    low, high = np.quantile(share, tails_of(ci))
    return share.mean(), low, high


def _population_share(
    count: np.ndarray, people: int, kinds: int, ci: float
) -> tuple[float, float, float]:
    """Return mean and interval of the share of the population: a mixture over draws of Beta(1 +
    n_g, G - 1 + N - n_g)."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    if kinds == 1:
        return 1.0, 1.0, 1.0
    n, times = np.unique(count, return_counts=True)
    weight, a, b = times / times.sum(), 1.0 + n, kinds - 1.0 + people - n
    found = []
    for p in tails_of(ci):
        ends = betaincinv(a, b, p)
        low, high = ends.min(), ends.max()
        if low < high:
            low = brentq(lambda x, p=p: weight @ betainc(a, b, x) - p, low, high)
        found.append(low)
    return weight @ (a / (a + b)), found[0], found[1]


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
    """Label-free quantities: `kappa`, and of several classes `n_classes`, `class_share[1]`, ...,
    `class_agreement`."""
    number, shape = posterior.most_classes, posterior.shape
    found = {} if posterior.kappa is None else {"kappa": posterior.kappa}
    if number == 1:
        return found
    of = posterior.members
    sizes = -np.sort(-np.stack([(of == g).mean(axis=1) for g in range(number)], axis=1), axis=1)
    found["n_classes"] = posterior.n_classes
    found |= {f"class_share[{rank + 1}]": sizes[:, rank].reshape(shape) for rank in range(number)}
    return found | (
        {"class_agreement": agreement(of, number).reshape(shape)} if of.shape[1] > 1 else {}
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
            total[draws] += share[draws, g, None, None] * outcomes(p, q, nu)
    return total


def outcomes_table_of_new(
    posterior: Posterior, classes: Posterior, pairs: Any, covariates: Any
) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b of a new person."""
    labels = posterior.labels
    first, second = tied_places(pairs, labels, posterior.tie is not None)
    draws = outcomes_of_new(
        posterior, classes, first, second, lift_for(posterior, pairs, covariates)
    )
    return table_of_outcomes(labels, first, second, draws.mean(axis=0))


def aligned_shares(posterior: Posterior) -> np.ndarray:
    """The probability that a new person is of each common kind (draw, kind)."""
    of, number = posterior.members, posterior.most_classes
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, posterior.class_order, axis=1))
