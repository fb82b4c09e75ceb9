"""What was asked, which answers were possible, and how often each was given: one form of all data that are counted.

A comparison has two possible answers, or three where it may be tied; a set of options one for each of them, or one for
each ordered pair of them, the best and the worst; a set of pairs one for each pair. The posterior predictive check, and
the table of what was observed beside what is predicted, are made from this form alone, whoever answered.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import BEST_WORST, CHOICES, PAIRS, TRIPLETS
from thali._inference.seeds import streams
from thali._model.best_worst import NAMED, answer_probabilities, by_option, possible_answers, rule_of
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior
from thali.errors import DataError

from ..draws.columns import columns_of
from ..draws.counts import outcomes
from ..draws.covariates import Lift, cells_of
from ..draws.probabilities import probability_draws
from ..draws.tree import MAX_PAIRS
from ..draws.triplets import answered, probabilities_of_draws
from ..likelihoods.set_draws import set_probability_draws
from .check import (
    ANSWER,
    CHECKED,
    MEMBER,
    MOST_SIMILAR,
    PAIR,
    TIED,
    blocks,
    discrepancy_of,
    finished_table,
    replicated_rows,
    spaced_draws,
)
from .kinds_of_people import aligned_members, answers_to_pairs, as_groups

if TYPE_CHECKING:
    import pandas

Probabilities = Callable[[slice], np.ndarray]  # of the answers to some questions: (draws, answers)


@dataclass(frozen=True)
class Questions:
    """Questions with their possible answers, and the rows of a table in which these are counted."""

    start: np.ndarray  # (questions + 1,): the answers to question q are start[q] to start[q + 1] - 1
    counts: np.ndarray  # (answers,) how often each was given
    times: np.ndarray  # (questions,) how often each was put
    rows: Any  # sparse (rows, answers): 1 where an answer is counted in a row
    is_shown: np.ndarray  # (rows,) bool; what follows from other rows is not
    names: dict[str, np.ndarray]  # the columns that name the rows that are shown
    group: np.ndarray  # (groups + 1,) where the questions of a group begin: no row counts answers of two groups
    group_row: np.ndarray  # (groups + 1,) where its rows begin
    kind_of_row: str  # of `check.CHECKED`
    probabilities: Callable[[Posterior, np.ndarray], Probabilities]  # by some draws of a posterior

    @cached_property
    def observed(self) -> np.ndarray:
        """How often the answers of each row were given."""
        return self.rows @ self.counts

    @cached_property
    def sums(self) -> Any:
        """A sparse matrix (rows, questions) with 1 where an answer to a question is counted in a row."""
        from scipy.sparse import csr_array

        places = np.arange(len(self.counts))
        question = csr_array((np.ones(len(places)), (places, self.question_of(places))))
        return (self.rows @ question).astype(bool).astype(float)

    @cached_property
    def answered(self) -> np.ndarray:
        """How often each question was answered."""
        return np.add.reduceat(self.counts, self.start[:-1])

    def question_of(self, answers: np.ndarray) -> np.ndarray:
        """The question to which each of these answers belongs."""
        return np.searchsorted(self.start, answers, side="right") - 1

    def blocks(self, groups: slice, numbers: int) -> Iterator[tuple[np.ndarray, slice]]:
        """The rows of some groups and their questions, with so many numbers for each answer."""
        size = int(np.diff(self.start[self.group]).max())
        for part in blocks(groups.stop - groups.start, numbers * size):
            first, last = groups.start + part.start, groups.start + part.stop
            first_row, end_row = self.group_row[[first, last]].tolist()
            yield np.arange(first_row, end_row), slice(*self.group[[first, last]].tolist())


class AlikeRespondents(NamedTuple):
    """Respondents whose answers have the same probabilities."""

    probabilities: Probabilities
    times: Callable[[slice], np.ndarray]  # how often some questions were put to them (questions, draws or 1)


# The questions of a fit, one function a kind of data ------------------------------------------------------------------


def questions_of(posterior: Posterior, ties: bool = True) -> Questions:
    """Return what was asked; without `ties` only which option was chosen."""
    kind = posterior.kind_of_one
    return _comparisons(posterior, ties) if kind == PAIRS else _OF_SETS[kind](posterior)


def _comparisons(posterior: Posterior, ties: bool) -> Questions:
    """A question a pair; with covariates one for each combination of them and a pair."""
    from scipy.sparse import csr_array

    cells, labels, (first, second) = cells_of(posterior), np.array(posterior.labels), posterior.pairs
    lapse, pair = posterior.lapse, cells["pair"]
    given = ("wins", "ties", "losses") if ties and posterior.has_ties else ("wins", "losses")
    possible, pairs = len(given), len(first)

    def probabilities(posterior: Posterior, draws: np.ndarray) -> Probabilities:
        columns, tie = columns_of(posterior).take(draws), posterior.tie
        beta = posterior.coefficients[draws]

        def of_questions(some: slice) -> np.ndarray:
            lift = Lift(beta, cells["x"][some]) if beta.shape[1] else None
            p = probability_draws(columns, first[pair[some]], second[pair[some]], lapse, lift)
            if possible == 2 or tie is None:
                return np.stack([p, 1.0 - p], axis=-1).reshape(len(p), -1)
            return outcomes(p, 1.0 - p, tie[draws, None]).reshape(len(p), -1)

        return of_questions

    row = (possible * pair[:, None] + np.arange(possible)).ravel()
    shown = np.repeat(np.arange(pairs), possible - 1)
    names = {"a": labels[first[shown]], "b": labels[second[shown]]}
    if possible == 3:
        names["tied"] = np.tile([False, True], pairs)
    return Questions(
        start=possible * np.arange(len(pair) + 1),
        counts=np.stack([cells[name] for name in given], axis=1).ravel(),
        times=cells["wins"] + cells["ties"] + cells["losses"],
        rows=csr_array((np.ones(len(row)), (row, np.arange(len(row)))), shape=(possible * pairs, len(row))),
        is_shown=np.tile(np.arange(possible) < possible - 1, pairs),
        names=names,
        group=np.searchsorted(pair, np.arange(pairs + 1)),
        group_row=possible * np.arange(pairs + 1),
        kind_of_row=PAIR if possible == 2 else TIED,
        probabilities=probabilities,
    )


def _choices(posterior: Posterior) -> Questions:
    """A question a set, of which each member may be chosen."""
    from scipy.sparse import eye_array

    start, members, labels, lapse = _sets_in(posterior)
    offered, counts = np.repeat(posterior.observed["set"].values, np.diff(start)), posterior.chosen

    def probabilities(posterior: Posterior, draws: np.ndarray) -> Probabilities:
        columns = columns_of(posterior).take(draws)
        return lambda some: set_probability_draws(columns, *_of_some(start, some, members), lapse=lapse)

    return Questions(
        start=start,
        counts=counts,
        times=np.add.reduceat(counts, start[:-1]),
        rows=eye_array(len(members), format="csr"),
        is_shown=np.ones(len(members), bool),
        names={"alternative": labels[members], "offered": offered},
        group=np.arange(len(start)),
        group_row=start,
        kind_of_row=MEMBER,
        probabilities=probabilities,
    )


def _best_and_worst(posterior: Posterior) -> Questions:
    """A question a set, answered by two of its members; a row counts how often an option was named either."""
    start, members, labels, lapse = _sets_in(posterior)
    answers, counts = possible_answers(start), posterior.chosen
    rows = by_option(answers, members, len(labels)).T.tocsr()
    offered = np.flatnonzero(np.diff(rows.indptr))

    def probabilities(posterior: Posterior, draws: np.ndarray) -> Probabilities:
        weights, rule = columns_of(posterior).unique_weights[draws], rule_of(posterior)
        return lambda some: answer_probabilities(weights, *_of_some(start, some, members), lapse=lapse, rule=rule)

    return Questions(
        start=answers.start,
        counts=counts,
        times=np.add.reduceat(counts, answers.start[:-1]),
        rows=rows[offered],
        is_shown=np.ones(len(offered), bool),
        names={"option": np.tile(labels, 2)[offered], "named": np.repeat(NAMED, len(labels))[offered]},
        group=np.array([0, len(start) - 1]),
        group_row=np.array([0, len(offered)]),
        kind_of_row=ANSWER,
        probabilities=probabilities,
    )


def _triplets(posterior: Posterior) -> Questions:
    """A question a set of pairs, of which one is named; a row counts how often a pair was, of all sets that hold it."""
    from scipy.sparse import csr_array

    data, labels = answered(posterior), np.array(posterior.labels)
    keys, pair = np.unique(data.first * data.n_options + data.second, return_inverse=True)

    def probabilities(posterior: Posterior, draws: np.ndarray) -> Probabilities:
        columns, link, lapse = columns_of(posterior).take(draws), posterior.link, posterior.lapse
        constant = None if posterior.constant is None else posterior.constant[draws]

        def of_questions(some: slice) -> np.ndarray:
            start, first, second = _of_some(data.start, some, data.first, data.second)
            p = probabilities_of_draws(columns, constant, start, first, second, link, lapse)
            return p / np.repeat(np.add.reduceat(p, start[:-1], axis=1), np.diff(start), axis=1)

        return of_questions

    sides = {"a": labels[keys // data.n_options], "b": labels[keys % data.n_options]}
    return Questions(
        start=data.start,
        counts=data.counts,
        times=np.add.reduceat(data.counts, data.start[:-1]),
        rows=csr_array((np.ones(len(pair)), (pair, np.arange(len(pair)))), shape=(len(keys), len(pair))),
        is_shown=np.ones(len(keys), bool),
        names=sides | {"sets": np.bincount(pair)},
        group=np.array([0, data.n_sets]),
        group_row=np.array([0, len(keys)]),
        kind_of_row=MOST_SIMILAR,
        probabilities=probabilities,
    )


_OF_SETS = {CHOICES: _choices, BEST_WORST: _best_and_worst, TRIPLETS: _triplets}


def _sets_in(posterior: Posterior) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return where the members of each set begin, the members, the labels of all options, and the lapse."""
    return posterior.set_start, posterior.fixed["member"].values, np.array(posterior.labels), posterior.lapse


def _of_some(start: np.ndarray, some: slice, *places: np.ndarray) -> Any:
    """Return where some sets begin, counted from the first of them, and what stands at their places."""
    own = start[some.start : some.stop + 1]
    return own - own[0], *(each[own[0] : own[-1]] for each in places)


# Who answered ---------------------------------------------------------------------------------------------------------


def respondents_of(posterior: Posterior, asked: Questions, draws: np.ndarray) -> list[AlikeRespondents]:
    """Return all respondents together, or those of each latent class, who change from draw to draw."""
    if not posterior.has_classes:
        return [AlikeRespondents(asked.probabilities(posterior, draws), lambda some: asked.times[some, None])]
    person, question, times = _answers_of_people(posterior, asked)
    class_of, classes = aligned_members(posterior)[draws], as_groups(posterior)

    def times_of(number: int) -> Callable[[slice], np.ndarray]:
        def times_asked(some: slice) -> np.ndarray:
            here = np.flatnonzero((question >= some.start) & (question < some.stop))
            is_member = class_of[:, person[here]] == number
            found = np.zeros((some.stop - some.start, len(draws)), np.int64)
            np.add.at(found, question[here] - some.start, times[here, None] * is_member.T)
            return found

        return times_asked

    return [
        AlikeRespondents(asked.probabilities(classes.of_group(name), draws), times_of(number))
        for number, name in enumerate(classes.groups)
    ]


def _answers_of_people(posterior: Posterior, asked: Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondents, the questions that they answered, and how often."""
    constant = posterior.fixed
    if "answer_place" not in constant:
        given = answers_to_pairs(posterior)
        return given.respondent, given.cell, given.counts.sum(axis=1).astype(np.int64)
    times = posterior.observed["answers"].values.astype(np.int64)
    return constant["answer_respondent"].values, asked.question_of(constant["answer_place"].values), times


# The posterior predictive check, and what was observed beside what is predicted ---------------------------------------


def check_table(posterior: Posterior, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Return the rows against replicates, Multinomial(n, p) of each question and draw of p.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2); that of the whole compares
    sum (x - E x)² / E x over all rows.
    """
    # The model has seen these very data and leans towards them, so p-values gather around one half where it is true
    # (Meng 1994), and a small one says more than its size. Of 200 data sets drawn from prior and model, the overall
    # p-value lay below .05 in .5 to 1.5 %, of pairs and of sets, and those of single rows in .1 to .6 %
    # (benchmarks/check_calibration.py).
    import pandas as pd

    asked = questions_of(posterior)
    _refuse_weights(asked)
    draws, rng = spaced_draws(posterior.n_draws, len(asked.counts)), streams(random_seed, 1)[0]
    people, n = respondents_of(posterior, asked, draws), asked.sums @ asked.times
    found, discrepancy = [], np.zeros((2, len(draws)))
    for rows, some in asked.blocks(slice(0, len(asked.group) - 1), len(draws) * len(people)):
        expected, replicates = _summed(asked, people, rows, some, len(draws), rng)
        observed, is_shown = asked.observed[rows, None], asked.is_shown[rows]
        discrepancy += [discrepancy_of(each, expected) for each in (observed, replicates)]
        times = n[rows[is_shown], None]
        found.append(replicated_rows(observed[is_shown], times, expected[is_shown] / times, replicates[is_shown], ci))
    return finished_table(pd.DataFrame(asked.names), found, discrepancy, asked.kind_of_row, ci)


def _refuse_weights(asked: Questions) -> None:
    """Refuse counts that are not whole numbers."""
    row, answer = asked.rows[:, asked.counts != np.floor(asked.counts)].nonzero()
    if not len(row):
        return
    weight = asked.counts[asked.counts != np.floor(asked.counts)][answer[0]]
    place = np.cumsum(asked.is_shown)[row[0]] - 1
    options = (asked.names[column][place] for column in CHECKED[asked.kind_of_row].options)
    raise DataError(
        "The check simulates integer numbers of answers, but an answer about"
        f" {' and '.join(repr(str(option)) for option in options)} has weight {weight:g}; fit unweighted counts to use"
        " the check."
    )


def predicted_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return n, observed, predicted and its interval of each row.

    Of more than 2,000 rows those of the questions with the most answers; ``attrs["of"]`` is the number of all.
    """
    from thali._tables import Table

    asked, draws = questions_of(posterior, ties=False), np.arange(posterior.n_draws)
    people, times = respondents_of(posterior, asked, draws), asked.sums @ asked.times
    shown_before = np.concatenate([[0], np.cumsum(asked.is_shown)])
    found, kept = [], []
    for groups in _most_answered(asked, np.diff(shown_before[asked.group_row])):
        for rows, some in asked.blocks(groups, len(draws) * len(people)):
            expected, _ = _summed(asked, people, rows, some, len(draws), None)
            rows, expected = rows[asked.is_shown[rows]], expected[asked.is_shown[rows]]
            p = expected / times[rows, None]
            found.append([p.mean(axis=1), *np.quantile(p, tails_of(ci), axis=1)])
            kept.append(rows)
    rows = np.concatenate(kept)
    n = (asked.sums @ asked.answered)[rows]
    names = {name: values[shown_before[rows]].astype(object) for name, values in asked.names.items()}
    predicted = dict(zip(("predicted", "low", "high"), np.concatenate(found, axis=1), strict=True))
    with np.errstate(invalid="ignore"):  # of a pair that was always tied
        table = Table(names | {"n": n, "observed": asked.observed[rows] / n} | predicted)
    table.attrs |= {"of": int(shown_before[-1]), "interval": ci}
    return table


def _most_answered(asked: Questions, shown: np.ndarray) -> list[slice]:
    """Return the groups with the most answers, of not more than `MAX_PAIRS` shown rows, as slices in their order."""
    order = np.argsort(-np.add.reduceat(asked.answered, asked.group[:-1]), kind="stable")
    count = int((np.cumsum(shown[order]) <= MAX_PAIRS).sum())
    groups = np.sort(order[: max(1, count)])
    each = np.split(groups, np.flatnonzero(np.diff(groups) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in each]


def _summed(
    asked: Questions, people: list[AlikeRespondents], rows: np.ndarray, questions: slice, draws: int, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is expected of some rows, and replicates (rows, draws), which are 0 without a random stream."""
    expected, replicates = np.zeros((2, len(rows), draws))
    size = int(np.diff(asked.start[questions.start : questions.stop + 1]).max())
    for part in blocks(questions.stop - questions.start, draws * len(people) * size):
        some = slice(questions.start + part.start, questions.start + part.stop)
        start = asked.start[some.start : some.stop + 1]
        of_rows = asked.rows[rows][:, start[0] : start[-1]]
        for one in people:
            p, times = one.probabilities(some), one.times(some)
            expected += of_rows @ (np.repeat(times, np.diff(start), axis=0) * p.T)
            if rng is not None:
                replicates += of_rows @ _drawn(rng, times.astype(np.int64), p, start - start[0])
    return expected, replicates


def _drawn(rng: np.random.Generator, times: np.ndarray, p: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return replicates of the answers to some questions (answers, draws): with the draws last, in one order."""
    sizes = np.diff(start)
    if (sizes == sizes[0]).all():
        by_question = np.moveaxis(p.T.reshape(len(sizes), sizes[0], -1), 1, 2)
        return np.moveaxis(rng.multinomial(times, by_question), 2, 1).reshape(p.shape[1], -1)
    each = zip(times, np.split(p, start[1:-1], axis=1), strict=True)
    return np.concatenate([rng.multinomial(n, of_question).T for n, of_question in each])
