"""Choice probabilities by draws of worths, and what follows from them: checks, predictions, the
next question."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import whole
from thali._data.choices import Choices
from thali._data.questions import AnswerProbabilities, slice_sets
from thali._inference.indexing import iterate_slices, part_bounds
from thali._inference.numerics.counts import compute_outcomes
from thali._inference.numerics.davidson import split_probabilities
from thali._inference.numerics.ranks import average_ranks
from thali._model.answer_checks import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.best_worst import answer_probabilities, choice_probabilities
from thali._model.covariates import coefficient_name, predictor_matrix
from thali._model.log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._model.next_question import (
    allowed_options,
    build_worth_target,
    check_goal,
    list_pairs,
    list_subsets,
    space_draws,
    tabulate_pairs,
    tabulate_sets,
)
from thali._model.option_sets import is_best_worst, pair_indices, set_indices, tabulate_outcomes
from thali._model.predictive_check import select_draws
from thali._posterior.summary import mean_errors
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.parts import HeldOutPair


FARTHEST = 700.0  # a log odds beyond it counts as much
# with more, choice probabilities, or worths, are no rows of the summary
MAX_OPTIONS, MAX_RANKED = 60, 1_000
Quantities = dict[str, np.ndarray]  # (chain, draw) each


class WorthDraws(NamedTuple):
    """Draws of log worths and of what else choices depend on, one after another."""

    labels: list[str]
    log_worths: np.ndarray  # (draws, options), with what covariates of options add
    nu: np.ndarray | None  # (draws,); None: a tie is no answer
    beta: np.ndarray  # (draws, covariates)
    covariates: tuple[str, ...]
    options: np.ndarray  # (options, covariates), 0 of covariates of comparisons
    lapse: float
    rule: str  # by which the best and the worst are chosen
    chains: int

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.log_worths)

    def take(self, draws: Any) -> "WorthDraws":
        """Return some of the draws."""
        nu = None if self.nu is None else self.nu[draws]
        return self._replace(log_worths=self.log_worths[draws], nu=nu, beta=self.beta[draws])

    @property
    def weights(self) -> np.ndarray:
        """Worths, the largest of each draw 1."""
        return np.exp(self.log_worths - self.log_worths.max(axis=1, keepdims=True))

    # Probabilities, draw by draw ------------------------------------------------------------------

    def of_pairs(self, first: Any, second: Any, x: np.ndarray | None = None) -> np.ndarray:
        """Return the probability of the first of each pair (draws, pairs); `x`: covariates (pairs,
        covariates)."""
        log_odds = self.log_worths[:, first] - self.log_worths[:, second]
        if x is not None and x.size:
            log_odds = log_odds + self.beta @ x.T
        q, _ = split_probabilities(log_odds.clip(-FARTHEST, FARTHEST))
        return (1.0 - self.lapse) * q + self.lapse / 2.0

    def of_outcomes(self, p: np.ndarray, has_ties: bool = True) -> np.ndarray:
        """Return the probabilities of the first, a tie if there may be one, and the second (draws,
        pairs, outcomes)."""
        if self.nu is None or not has_ties:
            return np.stack([p, 1.0 - p], axis=-1)
        return compute_outcomes(p, 1.0 - p, self.nu[:, None])

    def of_members(self, start: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the probability that each member of each set is chosen (draws, places)."""
        sizes, found = np.diff(start), np.empty((self.n_draws, len(members)))
        for m in np.unique(sizes).tolist():
            places = start[:-1][sizes == m, None] + np.arange(m)
            own = self.log_worths[:, members[places]]
            found[:, places] = choice_probabilities(
                np.exp(own - own.max(axis=2, keepdims=True)), self.lapse
            )
        return found

    def of_sets(self, start: np.ndarray, members: np.ndarray, has_worst: bool) -> np.ndarray:
        """Return the probability of each member, or of each ordered pair of best and worst, of each
        set."""
        if not has_worst:
            return self.of_members(start, members)
        return answer_probabilities(self.weights, start, members, self.lapse, self.rule)

    def question_probabilities(self, data: Any, has_ties: bool) -> AnswerProbabilities:
        """Return the probabilities of the answers to questions of data."""

        def of_questions(some: slice) -> np.ndarray:
            if isinstance(data, Choices):
                start, members = slice_sets(data.start, some, data.members)
                return self.of_sets(start, members, data.worst is not None)
            cells = data.cells
            p = self.of_pairs(
                cells.first[some],
                cells.second[some],
                self.of_comparisons(cells.x[some], cells, some),
            )
            return self.of_outcomes(p, has_ties).reshape(self.n_draws, -1)

        return of_questions

    def of_comparisons(self, x: np.ndarray, cells: Any, some: slice) -> np.ndarray:
        """Return covariates without those of options, whose effects log worths have."""
        return x - (self.options[cells.first[some]] - self.options[cells.second[some]])

    def values_for(self, given: Any, count: int) -> np.ndarray:
        """Return the covariates of predictions (pairs, covariates), 0 of those of options, which
        are known."""
        x = predictor_matrix(given, self.covariates, count)
        for name, values in zip(self.covariates, self.options.T, strict=True):
            if values.any() and given is not None and name in given:
                raise ArgumentError(
                    f"The covariate {name!r} describes options, so its values are already known;"
                    " do not pass it."
                )
        return x

    # What is asked for ----------------------------------------------------------------------------

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return mean probabilities of pairs, or of the members or answers of each set, and their
        errors."""
        places, paired = set_indices(sets, self.labels)
        if covariates is not None and not paired:
            raise ArgumentError(
                "Covariates require comparisons of two options; give pairs of labels, [(a, b),"
                " ...]."
            )
        if paired:
            first, second = np.array(places, np.int64).reshape(-1, 2).T
            x = self.values_for(covariates, len(places))
            parts = [
                self._summed(self.of_pairs(first[some], second[some], x[some]), return_se)
                for some in iterate_slices(max(len(places), 1), self.n_draws)
            ]
            found = np.concatenate(parts, axis=1)
        else:
            start, members = part_bounds([len(each) for each in places]), np.concatenate(places)
            found = self._summed(self.of_sets(start, members, is_best_worst(sets)), return_se)
            sizes = np.array([len(each) for each in places])
            ends = np.cumsum(sizes * (sizes - 1) if is_best_worst(sets) else sizes)[:-1]
            found = [np.split(each, ends) for each in found]
        return (found[0], found[1]) if return_se else found[0]

    def _summed(self, p: np.ndarray, return_se: bool) -> np.ndarray:
        """Return means over draws, and their Monte Carlo errors, as rows."""
        if not return_se:
            return p.mean(axis=0)[None]
        return np.stack([p.mean(axis=0), mean_errors(p.T.reshape(p.shape[1], self.chains, -1))])

    def outcomes_table(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """Return a row a pair: a, b, p_a, p_tie, p_b."""
        first, second = pair_indices(pairs, self.labels, self.nu is not None)
        x = self.values_for(covariates, len(first))
        p = self.of_outcomes(self.of_pairs(first, second, x))
        return tabulate_outcomes(self.labels, first, second, p.mean(axis=0))

    def left_out(self, part: "HeldOutPair") -> np.ndarray:
        """Return the probability of each outcome of the comparisons of a pair (chain, draw, cells,
        outcomes)."""
        count, n_outcomes = part.counts.shape
        p = self.of_pairs(
            *part.places(self.labels), self.values_for(part.known(self.covariates), count)
        )
        return self.of_outcomes(p, n_outcomes == 3).reshape(self.chains, -1, count, n_outcomes)

    def log_predictive(self, data: Any, log_weights: Any = 0.0) -> "pandas.Series":
        """Return how probable all choices of a respondent together are; `log_weights` of draws."""
        from scipy.special import logsumexp

        which, times = count_answers_by_respondent(data)
        start, members = part_bounds(data.sizes), np.concatenate(set_indices(data, self.labels)[0])
        logs = np.empty((self.n_draws, times.shape[1]))
        for draws in iterate_slices(self.n_draws, int(data.answers.sum())):
            p = self.take(draws).of_sets(start, members, is_best_worst(data))
            logs[draws] = sum_log_choices(p[:, which], times)
        weighted = logs + np.reshape(log_weights, (-1, 1))
        return tabulate_by_respondent(data, logsumexp(weighted, axis=0) - np.log(len(logs)))

    # What was observed ----------------------------------------------------------------------------

    def check(self, data: Any, random_seed: Any, ci: float) -> "pandas.DataFrame":
        """Return what was observed against replicates."""
        asked = data.questions(self.nu is not None)
        check_unweighted(asked)
        draws = select_draws(self.n_draws, len(asked.counts))
        people = [self.take(draws)._alike(data, asked, self.nu is not None)]
        return check_answers(asked, people, len(draws), random_seed, ci)

    def predictions(self, data: Any, ci: float) -> "pandas.DataFrame":
        """Return the proportions that were observed, and what is predicted of them."""
        asked = data.questions(False)
        return predict_answers(asked, [self._alike(data, asked, False)], self.n_draws, ci)

    def _alike(self, data: Any, asked: Any, has_ties: bool) -> EqualRespondents:
        """Return all respondents, who are alike."""
        return EqualRespondents.from_times(self.question_probabilities(data, has_ties), asked.times)

    def quantities(self, pairs: Any) -> Quantities:
        """Return what chains are judged by besides the spread and the log-likelihood, arrays
        (chain, draw).

        `pairs`: both options of each compared pair; None of choices from sets.
        """
        shape = self.chains, -1
        found = {} if self.nu is None else {"tie": self.nu.reshape(shape)}
        found |= {
            coefficient_name(name): each.reshape(shape)
            for name, each in zip(self.covariates, self.beta.T, strict=True)
        }
        if pairs is not None and len(self.labels) <= MAX_OPTIONS:
            p = self.of_pairs(*pairs)
            for k, (i, j) in enumerate(zip(*pairs, strict=True)):
                found[f"choice_probability[{self.labels[i]}, {self.labels[j]}]"] = p[:, k].reshape(
                    shape
                )
        elif len(self.labels) <= MAX_RANKED:
            rank = average_ranks(-self.log_worths)
            for name, values in (("log_worth", self.log_worths), ("rank", rank)):
                found |= {
                    f"{name}[{label}]": values[:, k].reshape(shape)
                    for k, label in enumerate(self.labels)
                }
        return found

    # What is best asked next ----------------------------------------------------------------------

    def next_pairs(self, n: Any, among: Any, goal: Any, random_seed: Any) -> "pandas.DataFrame":
        """Return a row a pair, in the order in which they are best asked."""
        check_goal(goal)
        rng = np.random.default_rng(random_seed)
        pairs = list_pairs(among, self.labels, rng)
        some = self.take(space_draws(self.n_draws, 3 * len(pairs)))
        p = some.of_outcomes(some.of_pairs(*pairs.T))
        target = build_worth_target(goal, some.log_worths, rng)
        return tabulate_pairs(self.labels, pairs, p, target, whole("n", n, 1), rng)

    def next_sets(
        self, size: Any, n: Any, among: Any, goal: Any, random_seed: Any
    ) -> "pandas.DataFrame":
        """Return a row a set, in the order in which they are best asked."""
        check_goal(goal)
        rng = np.random.default_rng(random_seed)
        sets = list_subsets(
            allowed_options(among, self.labels, size := whole("size", size, 2)), size, rng
        )
        some = self.take(space_draws(self.n_draws, sets.size))
        p = some.of_members(np.arange(len(sets) + 1) * size, sets.ravel())
        target = build_worth_target(goal, some.log_worths, rng)
        return tabulate_sets(self.labels, sets, p, target, whole("n", n, 1), rng)


def worths_table(draws: WorthDraws, ci: float) -> "pandas.DataFrame":
    """Return a row an option, the highest first: log_worth, sd, low, high, and share of the total
    worth."""
    import pandas as pd

    from thali._posterior.interval import tails_of
    from thali._tables import Table

    low, high = np.quantile(draws.log_worths, tails_of(ci), axis=0)
    weights = draws.weights
    mean = draws.log_worths.mean(axis=0)
    columns = {"log_worth": mean, "sd": draws.log_worths.std(axis=0), "low": low, "high": high}
    columns["share"] = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    table = Table(columns, index=pd.Index(draws.labels, name="option"))
    table.attrs["interval"] = ci
    return table.iloc[np.argsort(-mean, kind="stable")]
