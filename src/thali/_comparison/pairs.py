"""Paired comparisons, similarities and triplets: what is left out, and how predictions of pairs are
scored."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._data.groups import GroupedData
from thali._data.pairs import PairedComparisons
from thali._data.pairs.parts import LeftPair
from thali._data.similarities import Similarities
from thali._inference.numerics.counts import log_normal_density, log_outcome_coefficients
from thali._inference.warn import warn
from thali._labels import listed, shorten
from thali._model.registry import spec_of
from thali._posterior.summary import MIN_DRAWS, bulk_and_r_hat, mean_mcse
from thali.errors import DataError, DataWarning

from .scorer import BASE, DIFFERENCE, Scorer
from .splitter import USUAL, Splitter, lost_group
from .table import ScoreTable

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Score:
    """The scores of one left-out pair; natural logarithms, binomial coefficients included."""

    predicted: float  # posterior mean of the probability that the first option is chosen
    predicted_mcse: float  # its Monte Carlo standard error
    nll: float  # -ln Binomial(wins | n, predicted)
    nll_mcse: float
    log_pred: float  # ln of the posterior mean of Binomial(wins | n, p)
    log_pred_mcse: float
    r_hat: float  # of the probability; NaN for a single chain


def score_answers(counts: np.ndarray, draws: np.ndarray) -> Score:
    r"""Score draws of the probabilities of outcomes (chain, draw, cells, outcomes) against counts
    (cells, outcomes).

    .. math::
        \text{nll} = -\ln \binom{n}{x} - \sum_{c, o} x_{co} \ln \bar p_{co}, \qquad
        \text{log\_pred} = \ln \frac{1}{S} \sum_s \binom{n}{x} \prod_{c, o} p_{sco}^{x_{co}}

    The coefficient is that of the pair as a whole, so that models with covariates, without, and the
    observed proportions of the pair have scores that can be compared. The Monte Carlo error of nll
    is that of the mean carried through its first derivative, and of a single cell through the
    second.

    Examples
    --------
    >>> import numpy as np
    >>> halves = score_answers(np.array([[3, 1]]), np.full((4, 100, 1, 2), 0.5))
    >>> round(halves.nll, 4), round(halves.log_pred, 4), halves.nll_mcse
    (1.3863, -1.3863, 0.0)
    """
    from scipy.special import xlogy

    coefficient = float(log_outcome_coefficients(counts.sum(axis=0)))
    mean, by_outcome = (
        draws.mean(axis=(0, 1)),
        np.moveaxis(draws, -1, 0) @ (counts.sum(axis=1) / counts.sum()),
    )
    is_given = (counts > 0) & (mean > 0.0)
    slopes = np.divide(counts, mean, out=np.zeros_like(mean), where=is_given)
    bend = 0.0
    if len(counts) == 1:
        bends = np.divide(counts, mean**2, out=np.zeros_like(mean), where=is_given)
        bend = float(bends[0] @ np.square([mcse(each) for each in by_outcome]))
    with np.errstate(divide="ignore"):  # a probability of 0 or 1, without lapses
        log_pred, log_pred_mcse = log_mean(coefficient + xlogy(counts, draws).sum(axis=(2, 3)))
        return Score(
            predicted=float(by_outcome[0].mean()),
            predicted_mcse=mcse(by_outcome[0]),
            nll=-coefficient - float(xlogy(counts, mean).sum()),
            nll_mcse=float(np.hypot(mcse((draws * slopes).sum(axis=(2, 3))), bend / np.sqrt(2.0))),
            log_pred=log_pred,
            log_pred_mcse=log_pred_mcse,
            r_hat=float(np.fmax.reduce([r_hat(each) for each in by_outcome[:-1]])),
        )


def log_mean(logs: np.ndarray) -> tuple[float, float]:
    """The ln of the mean of what draws (chain, draw) are the ln of, and its Monte Carlo standard
    error."""
    top = float(np.max(logs))
    likelihood = np.exp(logs - top) if np.isfinite(top) else np.zeros_like(logs)
    average = float(np.mean(likelihood))
    return top + float(np.log(average)), mcse(likelihood) / average if average else np.nan


def mcse(draws: np.ndarray) -> float:
    """Monte Carlo standard error of the mean of draws (chain, draw); NaN for fewer than 4 draws a
    chain."""
    if draws.shape[1] < MIN_DRAWS:
        return np.nan
    return 0.0 if np.ptp(draws) == 0 else float(mean_mcse(draws[None])[0])


def r_hat(draws: np.ndarray) -> float:
    """R-hat of draws (chain, draw); NaN where there is none."""
    return np.nan if np.ptp(draws) == 0 else float(bulk_and_r_hat(draws[None])[1][0])


# Paired comparisons, similarities and triplets: what is left out, and how predictions of pairs are
# scored


_MAX_NAMED = 5


class EachPair(Splitter):
    """Leaves out every pair in turn, or random ones together."""

    leave_out = "pair"
    usual = USUAL

    @classmethod
    def drawn(
        cls, count: int, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        if hold_out is not None or folds is not None:
            return super().drawn(count, seed, hold_out, folds)
        if count < 2:
            raise DataError(
                f"The data have only one {cls.what}; holding out pairs requires at least two."
            )
        return list(np.arange(count)[:, None])

    @classmethod
    def drawn_of_groups(
        cls,
        counts: dict[str, int],
        seed: np.random.SeedSequence,
        hold_out: int | None,
        folds: int | None,
    ) -> list[np.ndarray]:
        found = super().drawn_of_groups(counts, seed, hold_out, folds)
        for numbers in found:
            if lost := lost_group(counts, numbers):
                raise DataError(
                    f"One held-out part would contain all pairs of group {lost!r}; hold out fewer"
                    " pairs at a time."
                )
        return found

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.data.n_pairs)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        return pair_index(self.data, units)


class PairSplitter(EachPair):
    """Leaves out all comparisons of every pair in turn, or of random pairs together; a part is
    numbers of pairs."""

    what = part = "pair"
    alone = "compared only one pair:"
    data: PairedComparisons
    has_ties: bool

    def __init__(self, data: PairedComparisons) -> None:
        super().__init__(data)
        self.has_ties = bool(data.n_ties)

    @classmethod
    def of_groups(cls, groups: GroupedData) -> Mapping[str, Self]:
        """All are scored alike: with ties if any group has some."""
        found = super().of_groups(groups)
        for each in found.values():
            each.has_ties = any(other.n_ties for other in groups.data)
        return found

    def part_of(self, numbers: np.ndarray) -> np.ndarray:
        return numbers

    def observed(self) -> dict[str, np.ndarray]:
        return {name: getattr(self.data, name) for name in ("wins", "losses", "tied")}

    def options(self, pair: int) -> tuple[str, str]:
        """Labels of a pair."""
        return self.data.labels[self.data.first[pair]], self.data.labels[self.data.second[pair]]

    def train(self, part: np.ndarray) -> tuple[PairedComparisons]:
        rest = self.data
        for pair in part:
            rest = rest.without_pair(*self.options(pair))
        return (rest,)

    def test(self, part: np.ndarray) -> list[LeftPair]:
        return list(map(self._left_pair, part))

    def _left_pair(self, pair: int) -> LeftPair:
        """Return the comparisons of a pair, as models predict them."""
        own, asked = self.data.covariates, self.data.questions(self.has_ties)
        rows = np.flatnonzero(self.data.cells.pair == pair)
        counts = asked.counts.reshape(len(asked.sizes), -1)[rows]
        if own is None or own.is_of_options.all():
            return LeftPair(self.options(pair), counts)
        values = {
            name: own.values[rows, m]
            for m, name in enumerate(own.names)
            if not own.is_of_options[m]
        }
        return LeftPair(self.options(pair), counts, values)

    def units(self, part: np.ndarray) -> np.ndarray:
        return part

    def place(self, number: int) -> dict[str, Any]:
        if self.part == Splitter.part:
            return super().place(number)
        return dict(zip("ab", self.options(number), strict=True))

    def name(self, place: Mapping[Any, Any]) -> str:
        return super().name(place) if self.part == Splitter.part else f"{place['a']}-{place['b']}"

    def warn(self) -> None:
        """Warn of options that no comparison connects to the others once a pair is left out."""
        lonely, cut, alone = [], [], set(self.data.never_judged)
        groups = len(self.data.components())
        for part in range(self.data.n_pairs):
            (rest,), name = self.train(np.array([part])), "-".join(self.options(part))
            if lost := [label for label in rest.never_judged if label not in alone]:
                lonely.append(f"{shorten(lost)} (compared only in the pair {name!r})")
            elif len(rest.components()) > groups:
                cut.append(name)
        found = []
        if lonely:
            found.append(
                "Holding out a pair leaves an option without comparisons:"
                f" {listed(lonely, _MAX_NAMED)}."
            )
        if cut:
            found.append(
                "The only connection between two groups of options is held out with"
                f" {shorten(cut, _MAX_NAMED)}."
            )
        if found:
            message = " ".join(found) + " Predictions for these pairs depend only on the prior."
            warn(DataWarning(message))


def pair_index(data: Any, units: np.ndarray) -> "pandas.MultiIndex":
    """The labels of measured or compared pairs, as the index of a table."""
    import pandas as pd

    sides = ([data.labels[k] for k in side[units]] for side in (data.first, data.second))
    return pd.MultiIndex.from_arrays(list(sides), names=["a", "b"])


class ObjectPairs(EachPair):
    """Leaves out every measured pair of objects in turn, or random parts of them; a part is a mask
    of pairs."""

    what = "measured pair"
    alone = "judged only one pair:"
    data: Similarities

    def observed(self) -> dict[str, np.ndarray]:
        return {"values": self.data.values, "judgements": self.data.judgements}


# Scores of left-out pairs: the log-likelihood of counts, and the predictive density of similarities


EMP = "EMP"  # the observed proportions, the best that any prediction could do


class BinomialScorer(Scorer):
    """-ln Binomial(x | n, p) of every pair, under the posterior mean of p and as the posterior mean
    of the score; with ties -ln Multinomial(x | n, p) of the three outcomes."""

    fields: ClassVar[dict[str, type[Any]]] = {field.name: list for field in fields(Score)}
    main: ClassVar[str] = "nll"
    higher = False
    units: ClassVar[str] = "pairs"
    unit: ClassVar[str] = "pair"
    after: ClassVar[tuple[str, ...]] = (EMP,)
    table: ClassVar[tuple[str, ...]] = (
        *("nll", "difference", "difference_se", "nll_mcse", "mean_log_pred", "mean_log_pred_mcse"),
        *("information", "pairs", "r_hat"),
    )
    counted: ClassVar[str] = "pairs"
    predicted: ClassVar[tuple[str, ...]] = (
        *("predicted", "predicted_mcse", "nll", "nll_mcse", "log_pred", "log_pred_mcse", "r_hat"),
    )
    shown: ClassVar[tuple[str, ...]] = (
        *("nll", "nll_mcse", "information", "mean_log_pred", "mean_log_pred_mcse"),
        *("difference", "difference_se", "r_hat"),
    )
    called: ClassVar[str] = "pairs"
    legend: ClassVar[str] = (
        "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better;"
        " bits: information per comparison relative to guessing; log pred.: mean log posterior"
        " mean of the binomial; to best: score minus that of the best model, with its standard"
        " error over pairs."
    )

    def score_one(self, model: Any, test: list[LeftPair]) -> dict[str, Any]:
        scores = [asdict(self._score_pair(model, pair)) for pair in test]
        return {name: [each[name] for each in scores] for name in self.fields}

    def _score_pair(self, model: Any, test: LeftPair) -> Score:
        """Return the scores of one pair."""
        p = (
            outcomes_of_somebody(model, test)
            if spec_of(model) is None
            else model._predict_left_out(test)
        )
        if p.ndim == 2:  # of an estimate, such as that of maximum likelihood
            # as many equal draws as an error can be computed of
            p = np.broadcast_to(p, (1, MIN_DRAWS, *p.shape))
        return score_answers(test.counts, p)

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        from scipy.special import xlogy

        nll, log_pred = found.frame("nll"), found.frame("log_pred")
        sides = ("wins", "tied", "losses") if found.observed("tied").any() else ("wins", "losses")
        counts = np.column_stack([found.observed(name) for name in sides])
        observed = counts / counts.sum(axis=1, keepdims=True)
        for name, p in ((BASE, np.full_like(observed, 1 / len(sides))), (EMP, observed)):
            nll[name] = -log_outcome_coefficients(counts) - xlogy(counts, p).sum(axis=1)
            log_pred[name] = -nll[name]
        error, of_log = (
            found.frame(name).assign(**{BASE: 0.0, EMP: 0.0})
            for name in ("nll_mcse", "log_pred_mcse")
        )
        return {
            "nll": nll,
            "mean_log_pred": log_pred,
            "nll_mcse": error,
            "mean_log_pred_mcse": of_log,
        }

    def every_column(self, found: ScoreTable) -> dict[str, Any]:
        nll, n = found.counted("nll"), _comparisons(found)[found.counts]
        with np.errstate(invalid="ignore"):
            bits = (nll[BASE].sum() - nll.sum(skipna=False)) / (math.log(2) * n.sum())
        return super().every_column(found) | {"information": bits}

    def observed(self, found: ScoreTable) -> dict[str, np.ndarray]:
        n, tied = _comparisons(found), found.observed("tied")
        ties = {"observed_tie": tied / n} if tied.any() else {}
        return {"n": n, "observed": found.observed("wins") / n, **ties}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        return (
            f"{best!r} predicts held-out pairs best: {table.loc[best, 'nll']:.3f} nats per pair"
            f" (observed proportions: {table.loc[EMP, 'nll']:.3f}, guessing:"
            f" {table.loc[BASE, 'nll']:.3f})."
        )

    def prediction(self, row: Any) -> str:
        # of the people who compared the pair, if there are several
        group = row._asdict().get("group")
        pair = f"{row.a} over {row.b}" + (f" by {group}" if group else "")
        return (
            f"{pair} (observed {row.observed:.2f}, predicted {row.predicted:.2f}, nll"
            f" {row.nll:.1f})"
        )


def _comparisons(found: ScoreTable) -> np.ndarray:
    """How many comparisons there are of each pair."""
    return found.observed("wins") + found.observed("losses") + found.observed("tied")


def outcomes_of_somebody(model: Any, part: LeftPair) -> np.ndarray:
    """Probabilities (cells, outcomes) by a model of somebody else, which knows neither covariates
    nor ties."""
    p = np.asarray(model.predict_proba([part.pair] * len(part.counts)), float)
    return np.stack([p, 1.0 - p], axis=-1)


class GaussianScorer(Scorer):
    """ln of the posterior mean of Normal(s | mu, sigma^2 / judgements), and (s - posterior mean of
    mu)^2.

    The reference takes every similarity for a draw from the same normal distribution, that of the
    other parts.
    """

    fields: ClassVar[dict[str, type[Any]]] = {
        "log_score": list,
        "log_score_mcse": list,
        "predicted": list,
        "predicted_mcse": list,
        "r_hat": list,
    }
    main: ClassVar[str] = "log_score"
    units: ClassVar[str] = "similarities"
    unit: ClassVar[str] = "pair"
    table: ClassVar[tuple[str, ...]] = (
        *("log_score", "difference", "difference_se", "log_score_se", "log_score_mcse"),
        *("squared_error_se", "squared_error", "pairs", "r_hat"),
    )
    counted: ClassVar[str] = "pairs"
    further: ClassVar[dict[str, str]] = {"squared_errors": "squared_error"}
    predicted: ClassVar[tuple[str, ...]] = (
        "predicted",
        "predicted_mcse",
        "log_score",
        "log_score_mcse",
        "r_hat",
    )
    shown: ClassVar[tuple[str, ...]] = (
        *("log_score", "log_score_se", "log_score_mcse", "squared_error"),
        *("difference", "difference_se", "r_hat"),
    )
    called: ClassVar[str] = "similarities"
    legend: ClassVar[str] = (
        "log score: mean log predictive density over pairs of objects, larger is better; sq."
        f" error: mean squared error of predicted similarities; {DIFFERENCE}. BASE: one normal"
        " distribution for all pairs."
    )
    own_models: tuple[str, ...] = ()  # predictive densities need the draws of a model of thali

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        mu, sigma = model._predict_left_out(test)
        densities = log_normal_density(test.values, mu, sigma)
        top = densities.max(axis=(0, 1))
        likelihood = np.exp(densities - top)
        mean = likelihood.mean(axis=(0, 1))
        each = range(len(test.values))
        return {
            "log_score": (top + np.log(mean)).tolist(),
            "log_score_mcse": [mcse(likelihood[..., k]) / float(mean[k]) for k in each],
            "predicted": mu.mean(axis=(0, 1)).tolist(),
            "predicted_mcse": [mcse(mu[..., k]) for k in each],
            "r_hat": [r_hat(mu[..., k]) for k in each],
        }

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        score, predicted = found.frame("log_score"), found.frame("predicted")
        data = found.splitter.observed()
        base = [constant_score(data["values"], data["judgements"], units) for units in found.units]
        score[BASE], predicted[BASE] = np.concatenate(base, axis=1)
        error = found.frame("log_score_mcse").assign(**{BASE: 0.0})
        squared = predicted.sub(found.observed("values"), axis=0) ** 2
        return {"log_score": score, "log_score_mcse": error, "squared_error": squared}

    def observed(self, found: ScoreTable) -> dict[str, np.ndarray]:
        return {"observed": found.observed("values")}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        row, base = table.loc[best], table.loc[BASE]
        return (
            f"{best!r} predicts held-out similarities best: log score {row['log_score']:.3f} per"
            f" pair (one distribution for all: {base['log_score']:.3f}), root mean squared error"
            f" {math.sqrt(row['squared_error']):.3f} ({math.sqrt(base['squared_error']):.3f})."
        )

    def prediction(self, row: Any) -> str:
        return f"{row.a} and {row.b} (observed {row.observed:.2f}, predicted {row.predicted:.2f})"


def constant_score(
    values: np.ndarray, judgements: np.ndarray, left_out: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log score and prediction of each left-out similarity, if all were draws from the same normal
    distribution."""
    train = np.ones(len(values), bool)
    train[left_out] = False
    n = judgements[train]
    mean = float(np.average(values[train], weights=n))
    variance = (
        float((n * (values[train] - mean) ** 2).sum()) / max(len(n) - 1, 1) / judgements[left_out]
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # similarities that are all the same
        log_score = -0.5 * (
            (values[left_out] - mean) ** 2 / variance + np.log(2.0 * np.pi * variance)
        )
    return log_score, np.full(len(left_out), mean)
