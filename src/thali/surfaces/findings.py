"""`thali.findings`: the findings of any answer."""

from typing import Any

import pandas

from thali._printed import Printed
from thali.comparison import findings as of_comparison
from thali.errors import ArgumentError
from thali.model import printed_findings
from thali.model.base import Model
from thali.model.finding import Findings
from thali.paired import findings as of_leaderboard
from thali.paired.leaderboard import Leaderboard


def findings(answer: Any, **settings: Any) -> Findings:
    """What an answer says, as data: a sentence, a table and a picture for each question that a reader may have.

    Parameters
    ----------
    answer : fitted model, table of thali.compare, leaderboard, or result of a function of thali.paired or thali.designs
    **settings
        Of a fitted model: see its `findings`.

    Returns
    -------
    Findings
        A sequence in the order of a reader's questions; ``["comparison"]`` gives the finding of that key.

    Raises
    ------
    ArgumentError
        If there are no findings of such a thing, or settings of something else than a model.

    Examples
    --------
    >>> import thali as th
    >>> findings(th.paired.transitivity(th.datasets.celebrities())).keys()[0]
    'table'
    """
    if isinstance(answer, Model):
        return answer.findings(**settings)
    if settings:
        raise ArgumentError(
            f"Settings belong to fitted models; {type(answer).__name__} has none, and got {', '.join(settings)}."
        )
    if isinstance(answer, Leaderboard):
        return of_leaderboard.findings_of(answer)
    if isinstance(answer, Printed):
        return printed_findings.findings_of(answer)
    if isinstance(answer, pandas.DataFrame) and {"scorer", "by"} & set(answer.attrs):
        return of_comparison.findings_of(answer)
    raise ArgumentError(
        "There are findings of fitted models, tables of thali.compare, leaderboards, and results of thali.paired and"
        f" thali.designs; got {type(answer).__name__}."
    )
