"""The posterior predictive check of people whose kinds are not known."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.seeds import streams
from thali.posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.probabilities import probability_draws
from .check import blocks, discrepancy_of, finished_table, replicated_rows, spaced_draws, whole_counts
from .checked import PAIR
from .group_tree import tree_of_group
from .kinds_aligned import aligned_members, as_groups

if TYPE_CHECKING:
    import pandas
    import xarray


def kinds_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """As `pair_check_table`, where in every draw each person answers as the kind that the draw says.

    x_rep = sum over kinds of Binomial(n_g, p_g), n_g answers by those who are of kind g in the draw
    """
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
