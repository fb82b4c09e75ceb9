"""The posterior predictive check of best-worst choices: how often was each option named?"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import DataError
from thali.inference.seeds import streams

from ..draws.columns import columns_of
from ..likelihoods.best_worst import Answers, answer_probabilities, possible_answers, rule_of
from .check import blocks, finished_table, replicated_rows, spaced
from .check_sets import discrepancy_of
from .checked import ANSWER

if TYPE_CHECKING:
    import pandas
    import xarray


class NamedOptions(NamedTuple):
    """How often options were named, rows: each that was offered as the best, then each as the worst."""

    labels: list[str]
    named: list[str]  # of NAMED
    observed: np.ndarray  # (rows,) times
    n: np.ndarray  # (rows,) times offered
    probability: np.ndarray  # (rows, draws)
    replicates: np.ndarray  # (rows, draws); 0 without a random stream


def named_options(tree: "xarray.DataTree", rng: np.random.Generator | None) -> NamedOptions:
    """What the data say of each option, and the draws, from so many of these as can be replicated."""
    constant, counts = tree["constant_data"].to_dataset(), tree["observed_data"].dataset["chosen"].values
    sizes, members, labels = constant["set_size"].values, constant["member"].values, constant["option"].values
    start = np.concatenate([[0], np.cumsum(sizes)])
    answers, columns = possible_answers(start), spaced(columns_of(tree), len(counts))
    totals = np.add.reduceat(counts, answers.start[:-1])
    observed = by_option(answers, members, len(labels)).T @ counts
    offered = np.tile(np.bincount(members, np.repeat(totals, sizes), len(labels)), 2)
    expected, replicates = np.zeros((2, len(observed), columns.n_draws))
    for sets in blocks(len(sizes), columns.n_draws * int(answers.sizes.max())):
        first = start[sets.start : sets.stop + 1]
        part = members[first[0] : first[-1]]
        p = answer_probabilities(
            columns.unique_weights, first - first[0], part, float(constant["lapse"]), rule_of(tree)
        )
        of_part = possible_answers(first - first[0])
        sums, n = by_option(of_part, part, len(labels)).T, totals[sets]
        expected += sums @ (np.repeat(n, of_part.sizes) * p).T
        if rng is not None:
            parts = np.split(p, of_part.start[1:-1], axis=1)
            drawn = [rng.multinomial(k, each) for k, each in zip(n, parts, strict=True)]
            replicates += sums @ np.concatenate(drawn, axis=1).T
    rows = np.flatnonzero(offered > 0)
    return NamedOptions(
        np.tile(labels, 2)[rows].tolist(),
        np.repeat(NAMED, len(labels))[rows].tolist(),
        observed[rows],
        offered[rows],
        expected[rows] / offered[rows, None],
        replicates[rows],
    )


def best_worst_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Compare how often each option was the best, and the worst, with replicates that the fitted model draws.

    For every draw best and worst of every set are drawn as often as they were asked for, and counted by option, because
    a set is seldom offered twice. The discrepancy is sum (x - E)² / E over these counts.
    """
    import pandas as pd

    counts = tree["observed_data"].dataset["chosen"].values
    if (counts != np.floor(counts)).any():
        raise DataError(
            "The check needs whole numbers of choices, of which it draws replicates, and these are weighted. Fit "
            "unweighted counts to use it."
        )
    found = named_options(tree, streams(random_seed, 1)[0])
    x, n = found.observed[:, None], found.n[:, None]
    rows = [replicated_rows(x, n, found.probability, found.replicates)]
    discrepancy = np.array([discrepancy_of(each, n, found.probability) for each in (x, found.replicates)])
    return finished_table(pd.DataFrame({"option": found.labels, "named": found.named}), rows, discrepancy, ANSWER)


def by_option(answers: Answers, members: np.ndarray, n_options: int) -> Any:
    """A sparse matrix that sums values of answers to those of each option as the best, then of each as the worst."""
    from scipy.sparse import csr_array

    rows = np.tile(np.arange(len(answers.best)), 2)
    columns = np.concatenate([members[answers.best], n_options + members[answers.worst]])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(answers.best), 2 * n_options))


NAMED = ("best", "worst")
