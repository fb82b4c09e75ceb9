"""Checks and predictions of all data that are counted, made from their questions and answers alone.

The posterior predictive check, and the table of what was observed beside what is predicted, know
the kind of the data only by `questions()` of the data and by the probabilities of the answers to a
question, whoever answered.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.questions import AnswerProbabilities, Questions, draw_answers
from thali._inference.indexing import part_bounds
from thali._inference.seeds import spawn_generators
from thali._labels import shorten
from thali._posterior.interval import tails_of
from thali.errors import DataError

from .predictive_check import CHECKED, blocks, discrepancy_of, finished_table, replicated_rows

if TYPE_CHECKING:
    import pandas

MAX_ROWS = 2_000  # of a table of what was observed beside what is predicted


class AlikeRespondents(NamedTuple):
    """Respondents whose answers have the same probabilities."""

    probabilities: AnswerProbabilities
    # how often some questions were put to them (questions, draws or 1)
    times: Callable[[slice], np.ndarray]

    @classmethod
    def answering(cls, probabilities: AnswerProbabilities, times: np.ndarray) -> "AlikeRespondents":
        """Return respondents to whom questions were put so often (questions,)."""
        return cls(probabilities, lambda some: times[some, None])


# The posterior predictive check, and what was observed beside what is predicted -------------------


def check_answers(
    asked: Questions, people: list[AlikeRespondents], draws: int, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """Return the rows against replicates, Multinomial(n, p) of each question and draw of p.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2); that of the whole
    compares sum (x - E x)² / E x over all rows.
    """
    # The model has seen these very data and leans towards them, so p-values gather around one half
    # where it is true (Meng 1994), and a small one says more than its size. Of 200 data sets drawn
    # from prior and model, the overall p-value lay below .05 in .5 to 1.5 %, of pairs and of sets,
    # and those of single rows in .1 to .6 % (benchmarks/check_calibration.py).
    import pandas as pd

    rows, n, rng = asked.rows, asked.sums @ asked.times, spawn_generators(random_seed, 1)[0]
    found, discrepancy = [], np.zeros((2, draws))
    for some_rows, some in _blocks(asked, slice(0, len(rows.group) - 1), draws * len(people)):
        expected, replicates = _summed(asked, people, some_rows, some, draws, rng)
        observed, is_shown = asked.observed[some_rows, None], rows.is_shown[some_rows]
        discrepancy += [discrepancy_of(each, expected) for each in (observed, replicates)]
        times = n[some_rows[is_shown], None]
        found.append(
            replicated_rows(
                observed[is_shown], times, expected[is_shown] / times, replicates[is_shown], ci
            )
        )
    return finished_table(pd.DataFrame(rows.names), found, discrepancy, rows.kind, ci)


def _blocks(asked: Questions, groups: slice, numbers: int) -> Iterator[tuple[np.ndarray, slice]]:
    """The rows of some groups and their questions, with so many numbers for each answer."""
    group, group_row = asked.rows.group, asked.rows.group_row
    size = int(np.diff(asked.start[group]).max())
    for part in blocks(groups.stop - groups.start, numbers * size):
        first, last = groups.start + part.start, groups.start + part.stop
        first_row, end_row = group_row[[first, last]].tolist()
        yield np.arange(first_row, end_row), slice(*group[[first, last]].tolist())


def refuse_weights(asked: Questions) -> None:
    """Refuse counts that are not whole numbers."""
    row, answer = asked.rows.counted[:, asked.counts != np.floor(asked.counts)].nonzero()
    if not len(row):
        return
    weight = asked.counts[asked.counts != np.floor(asked.counts)][answer[0]]
    place = np.cumsum(asked.rows.is_shown)[row[0]] - 1
    options = (asked.rows.names[column][place] for column in CHECKED[asked.rows.kind].options)
    raise DataError(
        "The check simulates unweighted answers, but an answer about"
        f" {shorten([*map(str, options)])} has weight {weight:g}; fit unweighted counts to use"
        " the check."
    )


def predict_answers(
    asked: Questions, people: list[AlikeRespondents], draws: int, ci: float
) -> "pandas.DataFrame":
    """Return n, observed, predicted and its interval of each row.

    Of more than 2,000 rows those of the questions with the most answers; ``attrs["of"]`` is the
    number of all.
    """
    from thali._tables import Table

    is_shown, times = asked.rows.is_shown, asked.sums @ asked.times
    shown_before = part_bounds(is_shown)
    found, kept = [], []
    for groups in _most_answered(asked, np.diff(shown_before[asked.rows.group_row])):
        for rows, some in _blocks(asked, groups, draws * len(people)):
            expected, _ = _summed(asked, people, rows, some, draws, None)
            rows, expected = rows[is_shown[rows]], expected[is_shown[rows]]
            p = expected / times[rows, None]
            found.append([p.mean(axis=1), *np.quantile(p, tails_of(ci), axis=1)])
            kept.append(rows)
    rows = np.concatenate(kept)
    n = (asked.sums @ asked.totals)[rows]
    names = {
        name: values[shown_before[rows]].astype(object) for name, values in asked.rows.names.items()
    }
    predicted = dict(zip(("predicted", "low", "high"), np.concatenate(found, axis=1), strict=True))
    with np.errstate(invalid="ignore"):  # of a pair that was always tied
        table = Table(names | {"n": n, "observed": asked.observed[rows] / n} | predicted)
    table.attrs |= {"of": int(shown_before[-1]), "interval": ci}
    return table


def _most_answered(asked: Questions, shown: np.ndarray) -> list[slice]:
    """Return the groups with the most answers, of not more than `MAX_ROWS` shown rows, as slices in
    their order."""
    order = np.argsort(-np.add.reduceat(asked.totals, asked.rows.group[:-1]), kind="stable")
    count = int((np.cumsum(shown[order]) <= MAX_ROWS).sum())
    groups = np.sort(order[: max(1, count)])
    each = np.split(groups, np.flatnonzero(np.diff(groups) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in each]


def _summed(
    asked: Questions,
    people: list[AlikeRespondents],
    rows: np.ndarray,
    questions: slice,
    draws: int,
    rng: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is expected of some rows, and replicates (rows, draws), which are 0 without a
    random stream."""
    expected, replicates = np.zeros((2, len(rows), draws))
    size = int(np.diff(asked.start[questions.start : questions.stop + 1]).max())
    for part in blocks(questions.stop - questions.start, draws * len(people) * size):
        some = slice(questions.start + part.start, questions.start + part.stop)
        start = asked.start[some.start : some.stop + 1]
        of_rows = asked.rows.counted[rows][:, start[0] : start[-1]]
        for one in people:
            p, times = one.probabilities(some), one.times(some)
            expected += of_rows @ (np.repeat(times, np.diff(start), axis=0) * p.T)
            if rng is not None:
                replicates += of_rows @ draw_answers(
                    rng, times.astype(np.int64), p, start - start[0]
                )
    return expected, replicates
