"""What is said of kinds of people whose members are not known."""

from typing import TYPE_CHECKING

import numpy as np

from thali.posterior.interval import TAILS
from thali.posterior.view import Posterior

from .kinds_aligned import (
    agreement,
    aligned_members,
    members,
    memberships,
    number_of_kinds,
    together,
)

if TYPE_CHECKING:
    import pandas
    import xarray


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
    """Mean and interval of the share of the population.

    Given the kinds of a draw, shares that have a flat Dirichlet prior are Dirichlet(1 + n_1, ..., 1 + n_G), and that of
    one of G kinds is Beta(1 + n_g, G - 1 + N - n_g); the posterior is the mixture of these over the draws.
    """
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
    """Label-free quantities: `kappa`; where there may be two kinds or more `n_kinds`, `kind_share[1]`, the share of
    people in the largest kind of a draw, `kind_share[2]` in the second, ..., and `kind_agreement`, the share of pairs
    of people of whom a draw says as the most typical one whether they are of the same kind."""
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
