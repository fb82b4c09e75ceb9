"""Which draws have which feature, and how well the chains agree on it.

The log-likelihood and the number of features can look perfect although chains never move between families of
features; only the presence of the features shows whether the chains agree.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..draws.columns import Columns, columns_of

if TYPE_CHECKING:
    import pandas
    import xarray

MIN_DRAWS = 4  # of a chain, for an R-hat
MARKED = 1.05  # R-hat above which the probability of a feature is marked


def presences(columns: Columns, patterns: list[tuple[int, ...]]) -> np.ndarray:
    """Whether each draw has at least one feature with exactly these owners."""
    found = np.zeros((len(patterns), columns.n_draws), bool)
    row_of = {np.asarray(pattern, np.int32).tobytes(): row for row, pattern in enumerate(patterns)}
    owners, bounds = columns.owners.astype(np.int32), columns.first_owner.tolist()
    for draw, start, stop in zip(columns.draw.tolist(), bounds[:-1], bounds[1:], strict=True):
        row = row_of.get(owners[start:stop].tobytes())
        if row is not None:
            found[row, draw] = True
    return found


def presence_of(tree: "xarray.DataTree", members: list[tuple[str, ...]]) -> np.ndarray:
    """Whether each draw has a feature with exactly these members: bool array (features, chain, draw)."""
    posterior = tree["posterior"].to_dataset()
    place = {label: option for option, label in enumerate(posterior["option"].values.tolist())}
    patterns = [tuple(sorted(place[label] for label in owners)) for owners in members]
    return presences(columns_of(tree), patterns).reshape(-1, posterior.sizes["chain"], posterior.sizes["draw"])


def add_convergence(table: "pandas.DataFrame", tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The table of features with the columns of `convergence_of` for each probability, which stays the last column."""
    wider = table.assign(**convergence_of(presence_of(tree, list(table["members"]))))
    return wider.reindex(columns=[name for name in wider if name != "probability"] + ["probability"])


def convergence_of(present: np.ndarray) -> dict[str, np.ndarray]:
    """How surely the probability of each feature is known, from its presence (features, chain, draw).

    `mcse`, its Monte Carlo standard error; `ess` and `r_hat`, NaN where all draws have the feature; `converged`,
    whether R-hat is small. With a single chain, or fewer draws than R-hat needs, `converged` is False, but for a single
    draw, which is the best answer found: there nothing can differ.
    """
    from thali.posterior.summary import convergence, mean_errors

    draws = present.astype(float)
    ess, r_hat = convergence(draws)
    chains, of_chain = present.shape[1:]
    is_known = (chains > 1 and of_chain >= MIN_DRAWS) or chains * of_chain == 1
    settled = present.all(axis=(1, 2)) & is_known
    return {"mcse": mean_errors(draws), "ess": ess, "r_hat": r_hat, "converged": (r_hat <= MARKED) | settled}
