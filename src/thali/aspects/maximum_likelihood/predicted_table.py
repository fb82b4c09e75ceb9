"""How often each option was chosen, beside how often an estimate says that it is."""

from typing import TYPE_CHECKING

import numpy as np

from ..answers.check_by_data import NAMED, by_option
from ..draws.tree import MAX_PAIRS
from ..likelihoods.best_worst import possible_answers
from .best_worst_problem import BestWorstProblem
from .estimates import Estimates
from .residual_table import residual_table

if TYPE_CHECKING:
    import pandas


def estimated_predictions(found: Estimates) -> "pandas.DataFrame":
    """The same as `predictions_table`, of a fit without draws: the columns of residuals but these, or options."""
    if isinstance(found.pose, BestWorstProblem):
        return _of_options(found.pose, found)
    table = residual_table(found, "deviance").drop(columns="residual")
    rows = len(table)
    table = table.nlargest(MAX_PAIRS, "n") if rows > MAX_PAIRS else table
    table.attrs |= {"of": rows}
    return table


def _of_options(pose: BestWorstProblem, found: Estimates) -> "pandas.DataFrame":
    """How often each option was the best, and the worst, of the times that it was offered."""
    from thali._tables import Table

    answers, n = possible_answers(pose.start), len(found.known.labels)
    sums = by_option(answers, pose.members, n).T
    offered = np.tile(np.bincount(pose.members, np.repeat(pose.totals, np.diff(pose.start)), n), 2)
    rows = np.flatnonzero(offered > 0)
    expected = (sums @ (np.repeat(pose.totals, answers.sizes) * found.fitted()))[rows] / offered[rows]
    labels = np.tile(np.array(found.known.labels, object), 2)[rows]
    named = np.repeat(np.array(NAMED, object), n)[rows]
    observed = (sums @ pose.counts)[rows] / offered[rows]
    table = Table({"option": labels, "named": named, "n": offered[rows], "observed": observed, "predicted": expected})
    table.attrs |= {"of": len(rows)}
    return table
