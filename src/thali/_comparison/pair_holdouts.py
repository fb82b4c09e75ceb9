"""Splitters and scorers of paired comparisons and similarities."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.pairs import PairedComparisons
from thali._data.pairs.data_subsets import HeldOutPair
from thali._data.similarities import Similarities
from thali._inference.numerics.log_densities import log_normal_density, log_outcome_coefficients
from thali._inference.numerics.weight_shares import compute_shares, stack_outcomes
from thali._inference.user_warnings import warn
from thali._labels import list_names, shorten
from thali._model.registry import find_spec
from thali._posterior.summary_table import MIN_DRAWS, compute_ess_and_r_hat, compute_mean_mcse
from thali.errors import DataError, DataWarning

from .score_table import ScoreTable
from .scorer import BASE, DIFFERENCE, Scorer
from .splitter import USUAL, Splitter

if TYPE_CHECKING:
    import pandas


class Score(NamedTuple):
    """Scores of one held-out pair, in natural logarithms."""

    predicted: float  # posterior mean of the probability that the first option is chosen
    predicted_mcse: float  # its Monte Carlo standard error
    nll: float  # -ln Binomial(wins | n, predicted)
    nll_mcse: float
    log_pred: float  # ln of the posterior mean of Binomial(wins | n, p)
    log_pred_mcse: float
    r_hat: float  # of the probability; NaN for a single chain


def score_answers(counts: np.ndarray, draws: np.ndarray) -> Score:
    r"""Score predicted outcome probabilities of one pair against its counts.

    `draws` has shape (chain, draw, cells, outcomes), `counts` (cells, outcomes).

    .. math::
        \text{nll} = -\ln \binom{n}{x} - \sum_{c, o} x_{co} \ln \bar p_{co}, \qquad
        \text{log\_pred} = \ln \frac{1}{S} \sum_s \binom{n}{x} \prod_{c, o} p_{sco}^{x_{co}}

    The coefficient belongs to the complete pair, so that scores of models with and without
    covariates and of observed proportions are comparable. The Monte Carlo error of nll is the error
    of the mean times the first derivative; for a single cell also times the second.

    Examples
    --------
    >>> import numpy as np
    >>> halves = score_answers(np.array([[3, 1]]), np.full((4, 100, 1, 2), 0.5))
    >>> round(halves.nll, 4), round(halves.log_pred, 4), halves.nll_mcse
    (1.3863, -1.3863, 0.0)
    """
    from scipy.special import xlogy

    log_coefficient = float(log_outcome_coefficients(counts.sum(axis=0)))
    mean_probabilities = draws.mean(axis=(0, 1))
    outcome_draws = np.moveaxis(draws, -1, 0) @ (counts.sum(axis=1) / counts.sum())
    is_given = (counts > 0) & (mean_probabilities > 0.0)
    slopes = np.divide(
        counts, mean_probabilities, out=np.zeros_like(mean_probabilities), where=is_given
    )
    curvature_error = 0.0
    if len(counts) == 1:
        curvatures = np.divide(
            counts, mean_probabilities**2, out=np.zeros_like(mean_probabilities), where=is_given
        )
        curvature_error = float(
            curvatures[0] @ np.square([compute_mcse(outcome) for outcome in outcome_draws])
        )
    with np.errstate(divide="ignore"):  # a probability of 0 or 1, without lapses
        log_pred, log_pred_mcse = compute_log_mean(
            log_coefficient + xlogy(counts, draws).sum(axis=(2, 3))
        )
        return Score(
            predicted=float(outcome_draws[0].mean()),
            predicted_mcse=compute_mcse(outcome_draws[0]),
            nll=-log_coefficient - float(xlogy(counts, mean_probabilities).sum()),
            nll_mcse=float(
                np.hypot(
                    compute_mcse((draws * slopes).sum(axis=(2, 3))), curvature_error / np.sqrt(2.0)
                )
            ),
            log_pred=log_pred,
            log_pred_mcse=log_pred_mcse,
            r_hat=float(np.fmax.reduce([compute_r_hat(outcome) for outcome in outcome_draws[:-1]])),
        )


def compute_log_mean(logs: np.ndarray) -> tuple[float, float]:
    """Return ln mean(exp(logs)) over (chain, draw), and its Monte Carlo error."""
    max_log = float(np.max(logs))
    if max_log == -np.inf:
        return max_log, np.nan
    scaled_values = np.exp(logs - max_log)
    scaled_mean = float(np.mean(scaled_values))
    return max_log + float(np.log(scaled_mean)), compute_mcse(scaled_values) / scaled_mean


def compute_mcse(draws: np.ndarray) -> float:
    """Return the Monte Carlo standard error of the mean of draws (chain, draw).

    NaN for fewer than 4 draws per chain.
    """
    if draws.shape[1] < MIN_DRAWS:
        return np.nan
    if np.ptp(draws) == 0:
        return 0.0
    return float(compute_mean_mcse(draws[None])[0])


def compute_r_hat(draws: np.ndarray) -> float:
    """Return R-hat of draws (chain, draw); NaN if they are constant."""
    if np.ptp(draws) == 0:
        return np.nan
    return float(compute_ess_and_r_hat(draws[None])[1][0])


# Splitters of pairs -------------------------------------------------------------------------------


_MAX_NAMED = 5


class PairwiseSplitter(Splitter):
    """Base class of splitters that hold out each pair in turn, or random pairs."""

    leave_out = "pair"
    default_run = USUAL

    def draw_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """Return one pair for each part, or random pairs if requested."""
        if hold_out is not None or folds is not None:
            return super().draw_parts(seed, hold_out, folds)
        if self.count < 2:
            raise DataError(
                f"The data have only one {self.block_noun}; holding out pairs requires at least"
                " two."
            )
        return list(np.arange(self.count)[:, None])

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of each pair: a pair is its own block."""
        return np.arange(self.data.n_pairs)

    def build_unit_index(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Return both labels of these pairs, as table index."""
        import pandas as pd

        label_columns = (
            [self.data.labels[k] for k in side[units]]
            for side in (self.data.first, self.data.second)
        )
        return pd.MultiIndex.from_arrays(list(label_columns), names=["a", "b"])


class PairSplitter(PairwiseSplitter):
    """Splitter that holds out pairs of options, with all their comparisons."""

    block_noun = part_noun = "pair"
    data: PairedComparisons
    has_ties: bool

    def __init__(self, data: PairedComparisons) -> None:
        super().__init__(data)
        self.has_ties = bool(data.n_ties)

    def build_part(self, blocks: np.ndarray) -> np.ndarray:
        """Return the numbers of the pairs to hold out."""
        return blocks

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return wins, losses and ties of each pair."""
        return {name: getattr(self.data, name) for name in ("wins", "losses", "tied")}

    def options(self, pair: int) -> tuple[str, str]:
        """Return both option labels of pair number `pair`."""
        return self.data.labels[self.data.first[pair]], self.data.labels[self.data.second[pair]]

    def select_training_data(self, part: np.ndarray) -> tuple[PairedComparisons]:
        """Return the comparisons without the pairs of a part, as arguments of `fit`."""
        data = self.data
        for pair in part:
            data = data.without_pair(*self.options(pair))
        return (data,)

    def select_held_out_data(self, part: np.ndarray) -> list[HeldOutPair]:
        """Return all comparisons of each held-out pair."""
        return list(map(self._left_pair, part))

    def _left_pair(self, pair: int) -> HeldOutPair:
        """Return all comparisons of one held-out pair, for prediction."""
        covariates = self.data.covariates
        questions = self.data.questions(self.has_ties)
        cell_rows = np.flatnonzero(self.data.cells.pair == pair)
        outcome_counts = questions.counts.reshape(len(questions.sizes), -1)[cell_rows]
        if covariates is None or covariates.is_of_options.all():
            return HeldOutPair(self.options(pair), outcome_counts)
        covariate_columns = {
            name: covariates.values[cell_rows, m]
            for m, name in enumerate(covariates.names)
            if not covariates.is_of_options[m]
        }
        return HeldOutPair(self.options(pair), outcome_counts, covariate_columns)

    def list_units(self, part: np.ndarray) -> np.ndarray:
        """Return the numbers of the held-out pairs."""
        return part

    def locate_part(self, part_number: int) -> dict[str, Any]:
        """Return {"a": label, "b": label} of a part's only pair."""
        if self.part_noun == Splitter.part_noun:
            return super().locate_part(part_number)
        return dict(zip("ab", self.options(part_number), strict=True))

    def name_part(self, part_columns: Mapping[Any, Any]) -> str:
        """Return the name of a part: "a-b" if it is one pair."""
        if self.part_noun == Splitter.part_noun:
            return super().name_part(part_columns)
        return f"{part_columns['a']}-{part_columns['b']}"

    def warn_about_parts(self) -> None:
        """Warn of options that are disconnected if some pair is held out."""
        isolation_texts = []
        bridge_names = []
        never_judged = set(self.data.never_judged)
        n_components = len(self.data.components())
        for pair in range(self.data.n_pairs):
            (data,) = self.select_training_data(np.array([pair]))
            name = "-".join(self.options(pair))
            if isolated_options := [
                label for label in data.never_judged if label not in never_judged
            ]:
                isolation_texts.append(
                    f"{shorten(isolated_options)} (compared only in the pair {name!r})"
                )
            elif len(data.components()) > n_components:
                bridge_names.append(name)
        sentences = []
        if isolation_texts:
            sentences.append(
                "Holding out one pair can leave an option without comparisons:"
                f" {list_names(isolation_texts, _MAX_NAMED)}."
            )
        if bridge_names:
            sentences.append(
                "Holding out one pair can remove the only connection between two groups of"
                f" options: {shorten(bridge_names, _MAX_NAMED)}."
            )
        if sentences:
            sentences.append("Predictions for these pairs depend only on the prior.")
            warn(DataWarning(" ".join(sentences)))


class ObjectPairSplitter(PairwiseSplitter):
    """Splitter that holds out pairs of objects of similarities; a part is a mask of pairs."""

    block_noun = "measured pair"
    data: Similarities

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return similarity and number of judgements of each pair."""
        return {"values": self.data.values, "judgements": self.data.judgements}


# Scores of held-out pairs: log-likelihood of counts, and predictive density of similarities
# --------


EMP = "EMP"  # the observed proportions, whose score no prediction can exceed


class BinomialScorer(Scorer):
    """Scores each pair by -ln Binomial(counts) and by log predictive probability.

    With ties the three outcomes have the score -ln Multinomial(x | n, p).
    """

    main = "nll"
    higher = False
    units = "pairs"
    unit = "pair"
    after = (EMP,)
    table = (
        "nll",
        "difference",
        "difference_se",
        "nll_mcse",
        "mean_log_pred",
        "mean_log_pred_mcse",
        "information",
        "pairs",
        "r_hat",
    )
    counted = "pairs"
    predicted = (
        "predicted",
        "predicted_mcse",
        "nll",
        "nll_mcse",
        "log_pred",
        "log_pred_mcse",
        "r_hat",
    )
    shown = (
        "nll",
        "nll_mcse",
        "information",
        "mean_log_pred",
        "mean_log_pred_mcse",
        "difference",
        "difference_se",
        "r_hat",
    )
    called = "pairs"
    legend = (
        "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better;"
        " bits: information per comparison relative to guessing; log pred.: mean log posterior"
        " mean of the binomial; to best: score minus that of the best model, with its standard"
        " error over pairs."
    )

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return the scores of each held-out pair, by name of the score."""
        scores = [self._score_pair(model, pair)._asdict() for pair in test]
        return {name: [pair_scores[name] for pair_scores in scores] for name in scores[0]}

    def _score_pair(self, model: Any, pair: HeldOutPair) -> Score:
        """Predict one held-out pair with a fitted model; return its scores."""
        if find_spec(model) is None:
            probabilities = predict_outcomes(model, pair)
        else:
            probabilities = model._predict_left_out(pair)
        if probabilities.ndim == 2:  # an estimate without draws is treated as equal draws
            probabilities = np.broadcast_to(probabilities, (1, MIN_DRAWS, *probabilities.shape))
        return score_answers(pair.counts, probabilities)

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return the scores of all pairs by models, guessing and observed shares."""
        from scipy.special import xlogy

        nll = score_table.build_score_frame("nll")
        log_pred = score_table.build_score_frame("log_pred")
        outcomes = ("wins", "losses")
        if score_table.get_observed("tied").any():
            outcomes = ("wins", "tied", "losses")
        outcome_counts = np.column_stack([score_table.get_observed(name) for name in outcomes])
        observed_shares = compute_shares(outcome_counts)
        for name, probabilities in (
            (BASE, np.full_like(observed_shares, 1 / len(outcomes))),
            (EMP, observed_shares),
        ):
            nll[name] = -log_outcome_coefficients(outcome_counts) - xlogy(
                outcome_counts, probabilities
            ).sum(axis=1)
            log_pred[name] = -nll[name]
        no_error = {BASE: 0.0, EMP: 0.0}
        return {
            "nll": nll,
            "mean_log_pred": log_pred,
            "nll_mcse": score_table.build_score_frame("nll_mcse").assign(**no_error),
            "mean_log_pred_mcse": score_table.build_score_frame("log_pred_mcse").assign(**no_error),
        }

    def compute_columns(self, score_table: ScoreTable) -> dict[str, Any]:
        """Return the table's columns, with information in bits per comparison."""
        nll = score_table.select_complete_units("nll")
        n_comparisons = _count_comparisons(score_table)[score_table.is_complete]
        with np.errstate(invalid="ignore"):
            bits = (nll[BASE].sum() - nll.sum(skipna=False)) / (math.log(2) * n_comparisons.sum())
        return super().compute_columns(score_table) | {"information": bits}

    def get_observed(self, score_table: ScoreTable) -> dict[str, np.ndarray]:
        """Return number of comparisons and observed share of each pair."""
        n_comparisons = _count_comparisons(score_table)
        n_tied = score_table.get_observed("tied")
        observed_columns = {
            "n": n_comparisons,
            "observed": score_table.get_observed("wins") / n_comparisons,
        }
        if n_tied.any():
            observed_columns["observed_tie"] = n_tied / n_comparisons
        return observed_columns

    def write_headline(self, table: "pandas.DataFrame", best: str) -> str:
        """Return the sentence on the best model's score per pair."""
        return (
            f"{best!r} predicts held-out pairs best: {table.loc[best, 'nll']:.3f} nats per pair"
            f" (observed proportions: {table.loc[EMP, 'nll']:.3f}, guessing:"
            f" {table.loc[BASE, 'nll']:.3f})."
        )

    def format_prediction(self, row: Any) -> str:
        """Return a pair with its observed and predicted share, as text."""
        pair_text = f"{row.a} over {row.b}"
        return (
            f"{pair_text} (observed {row.observed:.2f}, predicted {row.predicted:.2f}, nll"
            f" {row.nll:.1f})"
        )


def _count_comparisons(score_table: ScoreTable) -> np.ndarray:
    """Return the number of comparisons of each held-out pair, with ties."""
    return (
        score_table.get_observed("wins")
        + score_table.get_observed("losses")
        + score_table.get_observed("tied")
    )


def predict_outcomes(model: Any, pair: HeldOutPair) -> np.ndarray:
    """Return P(first), P(second) of a pair by a model outside thali, (cells, 2)."""
    probabilities = np.asarray(model.predict_proba([pair.pair] * len(pair.counts)), float)
    return stack_outcomes(probabilities)


class GaussianScorer(Scorer):
    """Scores each similarity by its log predictive density and squared error.

    The reference predicts the normal distribution of the other parts for every similarity.
    """

    main = "log_score"
    units = "similarities"
    unit = "pair"
    table = (
        "log_score",
        "difference",
        "difference_se",
        "log_score_se",
        "log_score_mcse",
        "squared_error_se",
        "squared_error",
        "pairs",
        "r_hat",
    )
    counted = "pairs"
    extra_frames = {"squared_errors": "squared_error"}
    predicted = (
        "predicted",
        "predicted_mcse",
        "log_score",
        "log_score_mcse",
        "r_hat",
    )
    shown = (
        "log_score",
        "log_score_se",
        "log_score_mcse",
        "squared_error",
        "difference",
        "difference_se",
        "r_hat",
    )
    called = "similarities"
    legend = (
        "log score: mean log predictive density over pairs of objects, larger is better; sq."
        f" error: mean squared error of predicted similarities; {DIFFERENCE}. BASE: one normal"
        " distribution for all pairs."
    )
    required_methods: tuple[
        str, ...
    ] = ()  # predictive densities need the draws of a model of thali

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return log density, prediction and R-hat of each held-out similarity."""
        mu, sigma = model._predict_left_out(test)
        log_densities = log_normal_density(test.values, mu, sigma)
        max_densities = log_densities.max(axis=(0, 1))
        scaled_densities = np.exp(log_densities - max_densities)
        scaled_means = scaled_densities.mean(axis=(0, 1))
        pair_indices = range(len(test.values))
        return {
            "log_score": (max_densities + np.log(scaled_means)).tolist(),
            "log_score_mcse": [
                compute_mcse(scaled_densities[..., k]) / float(scaled_means[k])
                for k in pair_indices
            ],
            "predicted": mu.mean(axis=(0, 1)).tolist(),
            "predicted_mcse": [compute_mcse(mu[..., k]) for k in pair_indices],
            "r_hat": [compute_r_hat(mu[..., k]) for k in pair_indices],
        }

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return log scores and squared errors of all similarities, with a constant reference."""
        log_scores = score_table.build_score_frame("log_score")
        predicted_frame = score_table.build_score_frame("predicted")
        similarities = score_table.splitter.get_observed()["values"]
        judgements = score_table.splitter.get_observed()["judgements"]
        reference_scores = []
        for units in score_table.units:  # scored by the normal distribution of the others
            is_training = np.ones(len(similarities), bool)
            is_training[units] = False
            training_judgements = judgements[is_training]
            training_mean = np.average(similarities[is_training], weights=training_judgements)
            sum_of_squares = (
                training_judgements * (similarities[is_training] - training_mean) ** 2
            ).sum()
            variance = sum_of_squares / max(len(training_judgements) - 1, 1) / judgements[units]
            with np.errstate(divide="ignore", invalid="ignore"):  # equal similarities
                log_score = -0.5 * (
                    (similarities[units] - training_mean) ** 2 / variance
                    + np.log(2.0 * np.pi * variance)
                )
            reference_scores.append((log_score, np.full(len(units), training_mean)))
        log_scores[BASE], predicted_frame[BASE] = np.concatenate(reference_scores, axis=1)
        error_frame = score_table.build_score_frame("log_score_mcse").assign(**{BASE: 0.0})
        squared_errors = predicted_frame.sub(score_table.get_observed("values"), axis=0) ** 2
        return {
            "log_score": log_scores,
            "log_score_mcse": error_frame,
            "squared_error": squared_errors,
        }

    def get_observed(self, score_table: ScoreTable) -> dict[str, np.ndarray]:
        """Return the observed similarity of each pair."""
        return {"observed": score_table.get_observed("values")}

    def write_headline(self, table: "pandas.DataFrame", best: str) -> str:
        """Return the sentence on log score and error of the best model."""
        best_row = table.loc[best]
        guessing_row = table.loc[BASE]
        return (
            f"{best!r} predicts held-out similarities best: log score {best_row['log_score']:.3f}"
            f" per pair (one distribution for all: {guessing_row['log_score']:.3f}), root mean"
            f" squared error {math.sqrt(best_row['squared_error']):.3f}"
            f" ({math.sqrt(guessing_row['squared_error']):.3f})."
        )

    def format_prediction(self, row: Any) -> str:
        """Return a pair with its observed and predicted similarity, as text."""
        return f"{row.a} and {row.b} (observed {row.observed:.2f}, predicted {row.predicted:.2f})"
