"""How often each option was chosen, beside how often the posterior says that it is: n, observed, predicted, interval.

Of more than 2,000 rows those with the most choices are given; ``attrs["of"]`` is the number of all.
"""

from typing import TYPE_CHECKING

import numpy as np

from thali.posterior.interval import INTERVAL, TAILS

from ..draws.columns import columns_of
from ..draws.tree import MAX_PAIRS
from ..likelihoods.set_draws import set_probability_draws
from .cells_to_check import compared_draws
from .check_best_worst import named_options

if TYPE_CHECKING:
    import pandas
    import xarray


def of_pairs(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row a compared pair (a, b: how often a was chosen)."""
    from thali._tables import Table

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    wins = observed["wins"].values
    n = wins + constant["losses"].values
    drawn = np.sort(np.argsort(-n, kind="stable")[:MAX_PAIRS])
    labels = constant["option"].values.astype(object)
    a, b = (labels[constant[name].values[drawn]] for name in ("first", "second"))
    numbers = {"n": n[drawn], "observed": wins[drawn] / n[drawn]} | _predicted(compared_draws(tree, drawn))
    return _with_all(Table({"a": a, "b": b} | numbers), len(wins))


def of_sets(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row a member of an offered set (alternative, offered)."""
    from thali._tables import Table

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    counts, sizes, members = observed["chosen"].values, constant["set_size"].values, constant["member"].values
    which = np.repeat(np.arange(len(sizes)), sizes)
    n = np.bincount(which, weights=counts)
    order = np.argsort(-n, kind="stable")
    sets = np.sort(order[: max(1, int((np.cumsum(sizes[order]) <= MAX_PAIRS).sum()))])
    drawn = np.flatnonzero(np.isin(which, sets))
    start = np.concatenate([[0], np.cumsum(sizes[sets])])
    draws = set_probability_draws(columns_of(tree), start, members[drawn], float(constant["lapse"]))
    total = n[which[drawn]]
    chosen = {
        "alternative": constant["option"].values.astype(object)[members[drawn]],
        "offered": observed["set"].values.astype(object)[which[drawn]],
    }
    return _with_all(Table(chosen | {"n": total, "observed": counts[drawn] / total} | _predicted(draws)), len(members))


def of_options(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """One row an option that may be named as the best or as the worst (option, named)."""
    from thali._tables import Table

    found = named_options(tree, None)
    numbers = {"n": found.n, "observed": found.observed / found.n} | _predicted(found.probability.T)
    return _with_all(Table({"option": found.labels, "named": found.named} | numbers), len(found.labels))


def _predicted(draws: np.ndarray) -> dict[str, np.ndarray]:
    """Mean and interval of probabilities (draws, rows)."""
    low, high = np.quantile(draws, TAILS, axis=0)
    return {"predicted": draws.mean(axis=0), "low": low, "high": high}


def _with_all(table: "pandas.DataFrame", number: int) -> "pandas.DataFrame":
    """The table, which says how many rows there would be."""
    table.attrs |= {"of": number, "interval": INTERVAL}
    return table
