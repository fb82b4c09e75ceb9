"""Draws of worths, and what follows from them: choice probabilities, checks, predictions."""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_integer
from thali._data.choices import Choices
from thali._data.questions import AnswerProbabilities, Questions, slice_sets
from thali._inference.index_arithmetic import argsort_descending, iterate_slices, part_bounds
from thali._inference.numerics.davidson_likelihood import split_probabilities
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._inference.numerics.ranks import average_ranks
from thali._inference.numerics.weight_shares import (
    compute_shares,
    mix_with_guess,
    scale_to_maximum,
    stack_outcomes,
)
from thali._model.best_worst_probabilities import answer_probabilities, choice_probabilities
from thali._model.covariate_effects import coefficient_name, predictor_matrix
from thali._model.labelled_option_sets import (
    is_best_worst,
    pair_indices,
    set_indices,
    split_pairs,
    tabulate_outcomes,
)
from thali._model.predicted_answers import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.predictive_check import select_draws
from thali._model.respondent_log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._posterior.summary_table import compute_mean_errors
from thali.errors import ArgumentError

from .next_question import (
    build_worth_target,
    check_goal,
    list_pairs,
    space_draws,
    tabulate_pairs,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs import PairedComparisons
    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._inference.random_seeds import RandomSeed


_SEED = 0  # of options that nobody has seen
MAX_LOG_ODDS = 700.0  # log odds are clipped here
# with more options, the summary omits choice probabilities, or worths
MAX_SUMMARY_OPTIONS = 60
MAX_RANKED_OPTIONS = 1_000
Quantities = dict[str, np.ndarray]  # (chain, draw) each


class WorthDraws(NamedTuple):
    """Draws of log worths, tie parameter and coefficients, chain after chain."""

    labels: list[str]
    log_worths: np.ndarray  # (draws, options), effects of option covariates included
    nu: np.ndarray | None  # (draws,); None: ties are not an answer
    beta: np.ndarray  # (draws, covariates)
    covariates: tuple[str, ...]
    option_covariates: np.ndarray  # (options, covariates), 0 of covariates of comparisons
    lapse: float
    rule: str  # of best-worst choices
    chains: int

    @property
    def is_of_options(self) -> np.ndarray:
        """Whether each covariate describes options, not comparisons, (covariates,)."""
        return np.asarray(self.option_covariates.any(axis=0))

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return len(self.log_worths)

    def take(self, draw_indices: np.ndarray | slice) -> "WorthDraws":
        """Return the draws with these indices."""
        selected_draws = self._replace(
            log_worths=self.log_worths[draw_indices], beta=self.beta[draw_indices]
        )
        if self.nu is None:
            return selected_draws
        return selected_draws._replace(nu=self.nu[draw_indices])

    def add_options(self, labels: list[str], x: np.ndarray, spread: np.ndarray) -> "WorthDraws":
        """Return draws with more options, which nobody has seen, given their covariates x.

        Their deviations are Normal(0, spread²), less the mean of the others, which is unknown:
        Normal(0, spread² / n).
        """
        rng = np.random.default_rng(_SEED)
        deviations = rng.standard_normal((self.n_draws, len(labels)))
        mean_deviation = rng.standard_normal((self.n_draws, 1)) / np.sqrt(len(self.labels))
        effects = self.beta @ (x - self.option_covariates.mean(axis=0)).T
        new_worths = effects + spread[:, None] * (deviations - mean_deviation)
        return self._replace(
            labels=[*self.labels, *labels],
            log_worths=np.hstack([self.log_worths, new_worths]),
            option_covariates=np.vstack([self.option_covariates, x]),
        )

    @property
    def weights(self) -> np.ndarray:
        """Worths divided by the largest of each draw, shape (n_draws, n_options)."""
        return scale_to_maximum(self.log_worths)

    # Probabilities for each draw ------------------------------------------------------------------

    def pair_probabilities(
        self, first: np.ndarray, second: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Return probabilities of the first option of each pair, (n_draws, n_pairs).

        `x`: covariates, (pairs, covariates).
        """
        log_odds = self.log_worths[:, first] - self.log_worths[:, second]
        if x is not None and x.size:
            log_odds = log_odds + self.beta @ x.T
        q, _ = split_probabilities(log_odds.clip(-MAX_LOG_ODDS, MAX_LOG_ODDS))
        return mix_with_guess(q, self.lapse)

    def outcome_probabilities(self, p: np.ndarray, has_ties: bool = True) -> np.ndarray:
        """Return probabilities of first, tie and second, (draws, pairs, outcomes)."""
        if self.nu is None or not has_ties:
            return stack_outcomes(p)
        return compute_win_tie_loss(p, 1.0 - p, self.nu[:, None])

    def member_probabilities(self, start: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return choice probabilities of all members of all sets, (draws, members)."""
        set_sizes = np.diff(start)
        p = np.empty((self.n_draws, len(members)))
        for m in np.unique(set_sizes).tolist():
            positions = start[:-1][set_sizes == m, None] + np.arange(m)
            weights = scale_to_maximum(self.log_worths[:, members[positions]])
            p[:, positions] = choice_probabilities(weights, self.lapse)
        return p

    def set_probabilities(
        self, start: np.ndarray, members: np.ndarray, has_worst: bool
    ) -> np.ndarray:
        """Return probabilities of all answers to all sets, (draws, answers).

        An answer is a member, or an ordered pair of best and worst.
        """
        if not has_worst:
            return self.member_probabilities(start, members)
        return answer_probabilities(self.weights, start, members, self.lapse, self.rule)

    def question_probabilities(
        self, data: "PairedComparisons | Choices", has_ties: bool
    ) -> AnswerProbabilities:
        """Return a function from a slice of questions to answer probabilities."""

        def compute_probabilities(questions: slice) -> np.ndarray:
            """Return answer probabilities of these questions."""
            if isinstance(data, Choices):
                start, members = slice_sets(data.start, questions, data.members)
                return self.set_probabilities(start, members, data.worst is not None)
            cells = data.cells
            p = self.pair_probabilities(
                cells.first[questions],
                cells.second[questions],
                # worths include the covariates of options
                cells.x[questions]
                - (
                    self.option_covariates[cells.first[questions]]
                    - self.option_covariates[cells.second[questions]]
                ),
            )
            return self.outcome_probabilities(p, has_ties).reshape(self.n_draws, -1)

        return compute_probabilities

    def build_covariates(self, covariates: Any, n_pairs: int) -> np.ndarray:
        """Return the user's covariates of pairs as an array, 0 for option covariates."""
        x = predictor_matrix(covariates, self.covariates, n_pairs)
        for covariate_name in compress(self.covariates, self.is_of_options):
            if covariates is not None and covariate_name in covariates:
                raise ArgumentError(
                    f"The covariate {covariate_name!r} describes options, so its values are already"
                    " known; do not pass it."
                )
        return x

    # Predictions ----------------------------------------------------------------------------------

    def predict_sets(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return mean probabilities of answers to pairs or sets, with errors on request."""
        option_indices, are_pairs = set_indices(sets, self.labels)
        if covariates is not None and not are_pairs:
            raise ArgumentError(
                "Covariates require comparisons of two options; give pairs of labels, [(a, b),"
                " ...]."
            )
        if are_pairs:
            first_options, second_options = split_pairs(option_indices)
            x = self.build_covariates(covariates, len(option_indices))
            probability_blocks = [
                self._average_draws(
                    self.pair_probabilities(first_options[pairs], second_options[pairs], x[pairs]),
                    return_se,
                )
                for pairs in iterate_slices(max(len(option_indices), 1), self.n_draws)
            ]
            averages = np.concatenate(probability_blocks, axis=1)
        else:
            n_answers = np.array([len(indices) for indices in option_indices])
            p = self.set_probabilities(
                part_bounds(n_answers), np.concatenate(option_indices), is_best_worst(sets)
            )
            if is_best_worst(sets):
                n_answers = n_answers * (n_answers - 1)
            split_points = np.cumsum(n_answers)[:-1]
            averages = [np.split(row, split_points) for row in self._average_draws(p, return_se)]
        if return_se:
            return tuple(averages)
        return averages[0]

    def _average_draws(self, p: np.ndarray, return_se: bool) -> np.ndarray:
        """Return probabilities averaged over draws, with standard errors on request."""
        if not return_se:
            return p.mean(axis=0)[None]
        return np.stack(
            [p.mean(axis=0), compute_mean_errors(p.T.reshape(p.shape[1], self.chains, -1))]
        )

    def tabulate_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """Return a table of mean outcome probabilities: a, b, p_a, p_tie, p_b."""
        first_options, second_options = pair_indices(pairs, self.labels, self.nu is not None)
        x = self.build_covariates(covariates, len(first_options))
        p = self.outcome_probabilities(self.pair_probabilities(first_options, second_options, x))
        return tabulate_outcomes(self.labels, first_options, second_options, p.mean(axis=0))

    def predict_held_out(self, held_out_pair: "HeldOutPair") -> np.ndarray:
        """Return outcome probabilities of held-out comparisons by draw."""
        n_cells, n_outcomes = held_out_pair.counts.shape
        p = self.pair_probabilities(
            *held_out_pair.find_positions(self.labels),
            self.build_covariates(held_out_pair.select_covariates(self.covariates), n_cells),
        )
        return self.outcome_probabilities(p, n_outcomes == 3).reshape(
            self.chains, -1, n_cells, n_outcomes
        )

    def log_predictive(self, data: Choices) -> "pandas.Series":
        """Return the log probability of each respondent's choices together."""
        from scipy.special import logsumexp

        answer_indices, answer_counts = count_answers_by_respondent(data)
        set_starts = part_bounds(data.sizes)
        members = np.concatenate(set_indices(data, self.labels)[0])
        log_probabilities = np.empty((self.n_draws, answer_counts.shape[1]))
        for draws in iterate_slices(self.n_draws, int(data.answers.sum())):
            p = self.take(draws).set_probabilities(set_starts, members, is_best_worst(data))
            log_probabilities[draws] = sum_log_choices(p[:, answer_indices], answer_counts)
        return tabulate_by_respondent(
            data, logsumexp(log_probabilities, axis=0) - np.log(len(log_probabilities))
        )

    # Comparison with observed answers -------------------------------------------------------------

    def check_replicates(
        self, data: "PairedComparisons | Choices", random_seed: "RandomSeed", ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed answers against posterior replicates."""
        questions = data.questions(self.nu is not None)
        check_unweighted(questions)
        draw_indices = select_draws(self.n_draws, len(questions.counts))
        respondent_groups = [
            self.take(draw_indices)._pool_respondents(data, questions, self.nu is not None)
        ]
        return check_answers(questions, respondent_groups, len(draw_indices), random_seed, ci)

    def tabulate_predictions(
        self, data: "PairedComparisons | Choices", ci: float
    ) -> "pandas.DataFrame":
        """Return a table of observed and predicted proportions."""
        questions = data.questions(False)
        return predict_answers(
            questions, [self._pool_respondents(data, questions, False)], self.n_draws, ci
        )

    def _pool_respondents(
        self, data: "PairedComparisons | Choices", questions: Questions, has_ties: bool
    ) -> EqualRespondents:
        """Return answer probabilities and counts, pooled over all respondents."""
        return EqualRespondents.from_times(
            self.question_probabilities(data, has_ties), questions.times
        )

    def get_quantities(self, pairs: Sequence[np.ndarray] | None) -> Quantities:
        """Return draws of named quantities for the convergence check, each (chains, draws).

        The spread and the log-likelihood are judged separately. `pairs`: both options of each
        compared pair; None for choices from sets.
        """
        shape = self.chains, -1
        quantities = {}
        if self.nu is not None:
            quantities["tie"] = self.nu.reshape(shape)
        for quantity_name, beta_draws in zip(self.covariates, self.beta.T, strict=True):
            quantities[coefficient_name(quantity_name)] = beta_draws.reshape(shape)
        if pairs is not None and len(self.labels) <= MAX_SUMMARY_OPTIONS:
            first, second = pairs
            p = self.pair_probabilities(first, second)
            for k, (i, j) in enumerate(zip(first, second, strict=True)):
                quantity_name = f"choice_probability[{self.labels[i]}, {self.labels[j]}]"
                quantities[quantity_name] = p[:, k].reshape(shape)
        elif len(self.labels) <= MAX_RANKED_OPTIONS:
            rank_draws = average_ranks(-self.log_worths)
            for quantity_name, option_draws in (
                ("log_worth", self.log_worths),
                ("rank", rank_draws),
            ):
                for k, label in enumerate(self.labels):
                    quantities[f"{quantity_name}[{label}]"] = option_draws[:, k].reshape(shape)
        return quantities

    # Next questions -------------------------------------------------------------------------------

    def next_pairs(
        self, n: int, among: Iterable[str] | None, goal: str, random_seed: "RandomSeed"
    ) -> "pandas.DataFrame":
        """Return a table of the most informative pairs, in the order of asking."""
        check_goal(goal)
        rng = np.random.default_rng(random_seed)
        pairs = list_pairs(among, self.labels, rng)
        spaced_draws = self.take(space_draws(self.n_draws, 3 * len(pairs)))
        p = spaced_draws.outcome_probabilities(spaced_draws.pair_probabilities(*pairs.T))
        information_target = build_worth_target(goal, spaced_draws.log_worths, rng)
        return tabulate_pairs(
            self.labels, pairs, p, information_target, check_integer("n", n, 1), rng
        )


def tabulate_worths(draws: WorthDraws, ci: float) -> "pandas.DataFrame":
    """Return a table of worths by option, highest first: log_worth, sd, low, high, share."""
    import pandas as pd

    from thali._exportable_table import Table
    from thali._posterior.posterior_interval import compute_interval

    low, high = compute_interval(draws.log_worths, ci)
    weights = draws.weights
    mean_worths = draws.log_worths.mean(axis=0)
    columns = {
        "log_worth": mean_worths,
        "sd": draws.log_worths.std(axis=0),
        "low": low,
        "high": high,
    }
    columns["share"] = compute_shares(weights).mean(axis=0)
    table = Table(columns, index=pd.Index(draws.labels, name="option"))
    table.attrs["interval"] = ci
    return table.iloc[argsort_descending(mean_worths)]
