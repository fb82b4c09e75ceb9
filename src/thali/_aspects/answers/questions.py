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

from thali._data.kinds import BEST_WORST, CHOICES, OF_KINDS, PAIRS, TRIPLETS
from thali._inference.seeds import streams
from thali._posterior.interval import INTERVAL, TAILS
from thali._posterior.view import Posterior
from thali.errors import DataError

from ..draws.columns import columns_of
from ..draws.counts import outcomes
from ..draws.covariates import Lift, beta_of, cells_of, names_in
from ..draws.probabilities import probability_draws
from ..draws.tree import MAX_PAIRS
from ..draws.triplets import answered, parts_of, probabilities_of_draws
from ..likelihoods.best_worst import NAMED, answer_probabilities, by_option, possible_answers, rule_of
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
from .groups import tree_of_group
from .kinds_of_people import aligned_members, answers_to_pairs, as_groups

if TYPE_CHECKING:
    import pandas
    import xarray

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
    probabilities: Callable[["xarray.DataTree", np.ndarray], Probabilities]  # by some draws of a posterior

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
            yield np.arange(self.group_row[first], self.group_row[last]), slice(*self.group[[first, last]].tolist())


class Respondents(NamedTuple):
    """Respondents whose answers have the same probabilities."""

    probabilities: Probabilities
    times: Callable[[slice], np.ndarray]  # how often some questions were put to them (questions, draws or 1)


# The questions of a fit, one function a kind of data ------------------------------------------------------------------


def questions_of(tree: "xarray.DataTree", ties: bool = True) -> Questions:
    """Return what was asked; without `ties` only which option was chosen."""
    kind = Posterior(tree).data_kind
    kind = OF_KINDS.get(kind, kind)
    return _comparisons(tree, ties) if kind == PAIRS else _OF_SETS[kind](tree)


def _comparisons(tree: "xarray.DataTree", ties: bool) -> Questions:
    """A question a pair; with covariates one for each combination of them and a pair."""
    from scipy.sparse import csr_array

    constant, cells = tree["constant_data"].dataset, cells_of(tree)
    labels, first, second = (constant[name].values for name in ("option", "first", "second"))
    lapse, pair = float(constant["lapse"]), cells["pair"]
    given = ("wins", "ties", "losses") if ties and constant["has_ties"] else ("wins", "losses")
    possible, pairs = len(given), len(first)

    def probabilities(tree: "xarray.DataTree", draws: np.ndarray) -> Probabilities:
        columns, tie = columns_of(tree).take(draws), Posterior(tree).tie
        beta = beta_of(tree)[draws] if names_in(tree) else None

        def of_questions(some: slice) -> np.ndarray:
            lift = None if beta is None else Lift(beta, cells["x"][some])
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


def _choices(tree: "xarray.DataTree") -> Questions:
    """A question a set, of which each member may be chosen."""
    from scipy.sparse import eye_array

    observed, start, members, labels, lapse = tree["observed_data"].dataset, *_sets_in(tree)
    offered = np.repeat(observed["set"].values, np.diff(start))
    counts = observed["chosen"].values

    def probabilities(tree: "xarray.DataTree", draws: np.ndarray) -> Probabilities:
        columns = columns_of(tree).take(draws)
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


def _best_and_worst(tree: "xarray.DataTree") -> Questions:
    """A question a set, answered by two of its members; a row counts how often an option was named either."""
    start, members, labels, lapse = _sets_in(tree)
    answers, counts = possible_answers(start), tree["observed_data"].dataset["chosen"].values
    rows = by_option(answers, members, len(labels)).T.tocsr()
    offered = np.flatnonzero(np.diff(rows.indptr))

    def probabilities(tree: "xarray.DataTree", draws: np.ndarray) -> Probabilities:
        weights, rule = columns_of(tree).unique_weights[draws], rule_of(tree)
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


def _triplets(tree: "xarray.DataTree") -> Questions:
    """A question a set of pairs, of which one is named; a row counts how often a pair was, of all sets that hold it."""
    from scipy.sparse import csr_array

    data, labels = answered(tree), tree["posterior"].dataset["option"].values
    keys, pair = np.unique(data.first * data.n_options + data.second, return_inverse=True)

    def probabilities(tree: "xarray.DataTree", draws: np.ndarray) -> Probabilities:
        columns, constant, link, lapse = parts_of(tree)
        columns, constant = columns.take(draws), None if constant is None else constant[draws]

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


def _sets_in(tree: "xarray.DataTree") -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return where the members of each set begin, the members, the labels of all options, and the lapse."""
    constant = tree["constant_data"].dataset
    start = np.concatenate([[0], np.cumsum(constant["set_size"].values)])
    return start, constant["member"].values, constant["option"].values, float(constant["lapse"])


def _of_some(start: np.ndarray, some: slice, *places: np.ndarray) -> Any:
    """Return where some sets begin, counted from the first of them, and what stands at their places."""
    own = start[some.start : some.stop + 1]
    return own - own[0], *(each[own[0] : own[-1]] for each in places)


# Who answered ---------------------------------------------------------------------------------------------------------


def respondents_of(tree: "xarray.DataTree", asked: Questions, draws: np.ndarray) -> list[Respondents]:
    """Return all respondents together, or those of each latent class, who change from draw to draw."""
    if Posterior(tree).kinds is None:
        return [Respondents(asked.probabilities(tree, draws), lambda some: asked.times[some, None])]
    person, question, times = _answers_of_people(tree, asked)
    class_of, classes = aligned_members(tree)[draws], as_groups(tree)

    def times_of(number: int) -> Callable[[slice], np.ndarray]:
        def times_asked(some: slice) -> np.ndarray:
            here = np.flatnonzero((question >= some.start) & (question < some.stop))
            is_member = class_of[:, person[here]] == number
            found = np.zeros((some.stop - some.start, len(draws)), np.int64)
            np.add.at(found, question[here] - some.start, times[here, None] * is_member.T)
            return found

        return times_asked

    return [
        Respondents(asked.probabilities(tree_of_group(classes, name), draws), times_of(number))
        for number, name in enumerate(Posterior(classes).groups)
    ]


def _answers_of_people(tree: "xarray.DataTree", asked: Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondents, the questions that they answered, and how often."""
    constant = tree["constant_data"].dataset
    if "answer_place" not in constant:
        given = answers_to_pairs(tree)
        return given.respondent, given.cell, given.counts.sum(axis=1).astype(np.int64)
    times = tree["observed_data"].dataset["answers"].values.astype(np.int64)
    return constant["answer_respondent"].values, asked.question_of(constant["answer_place"].values), times


# The posterior predictive check, and what was observed beside what is predicted ---------------------------------------


def check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Return the rows against replicates, Multinomial(n, p) of each question and draw of p.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2); that of the whole compares
    sum (x - E x)² / E x over all rows.
    """
    # The model has seen these very data and leans towards them, so p-values gather around one half where it is true
    # (Meng 1994), and a small one says more than its size. Of 200 data sets drawn from prior and model, the overall
    # p-value lay below .05 in .5 to 1.5 %, of pairs and of sets, and those of single rows in .1 to .6 %
    # (benchmarks/check_calibration.py).
    import pandas as pd

    asked = questions_of(tree)
    _refuse_weights(asked)
    sizes, rng = tree["posterior"].sizes, streams(random_seed, 1)[0]
    draws = spaced_draws(sizes["chain"] * sizes["draw"], len(asked.counts))
    people, n = respondents_of(tree, asked, draws), asked.sums @ asked.times
    found, discrepancy = [], np.zeros((2, len(draws)))
    for rows, some in asked.blocks(slice(0, len(asked.group) - 1), len(draws) * len(people)):
        expected, replicates = _summed(asked, people, rows, some, len(draws), rng)
        observed, is_shown = asked.observed[rows, None], asked.is_shown[rows]
        discrepancy += [discrepancy_of(each, expected) for each in (observed, replicates)]
        times = n[rows[is_shown], None]
        found.append(replicated_rows(observed[is_shown], times, expected[is_shown] / times, replicates[is_shown]))
    return finished_table(pd.DataFrame(asked.names), found, discrepancy, asked.kind_of_row)


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
        " it."
    )


def predicted_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Return n, observed, predicted and its interval of each row.

    Of more than 2,000 rows those of the questions with the most answers; ``attrs["of"]`` is the number of all.
    """
    from thali._tables import Table

    asked, sizes = questions_of(tree, ties=False), tree["posterior"].sizes
    draws = np.arange(sizes["chain"] * sizes["draw"])
    people, times = respondents_of(tree, asked, draws), asked.sums @ asked.times
    shown_before = np.concatenate([[0], np.cumsum(asked.is_shown)])
    found, kept = [], []
    for groups in _most_answered(asked, np.diff(shown_before[asked.group_row])):
        for rows, some in asked.blocks(groups, len(draws) * len(people)):
            expected, _ = _summed(asked, people, rows, some, len(draws), None)
            rows, expected = rows[asked.is_shown[rows]], expected[asked.is_shown[rows]]
            p = expected / times[rows, None]
            found.append([p.mean(axis=1), *np.quantile(p, TAILS, axis=1)])
            kept.append(rows)
    rows = np.concatenate(kept)
    n = (asked.sums @ asked.answered)[rows]
    names = {name: values[shown_before[rows]].astype(object) for name, values in asked.names.items()}
    predicted = dict(zip(("predicted", "low", "high"), np.concatenate(found, axis=1), strict=True))
    with np.errstate(invalid="ignore"):  # of a pair that was always tied
        table = Table(names | {"n": n, "observed": asked.observed[rows] / n} | predicted)
    table.attrs |= {"of": int(shown_before[-1]), "interval": INTERVAL}
    return table


def _most_answered(asked: Questions, shown: np.ndarray) -> list[slice]:
    """Return the groups with the most answers, of not more than `MAX_PAIRS` shown rows, as slices in their order."""
    order = np.argsort(-np.add.reduceat(asked.answered, asked.group[:-1]), kind="stable")
    count = int((np.cumsum(shown[order]) <= MAX_PAIRS).sum())
    groups = np.sort(order[: max(1, count)])
    each = np.split(groups, np.flatnonzero(np.diff(groups) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in each]


def _summed(
    asked: Questions, people: list[Respondents], rows: np.ndarray, questions: slice, draws: int, rng: Any
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
