"""Scores of left-out pairs: the log-likelihood of counts, and the predictive density of similarities."""

import math
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.aspects.draws.counts import log_binomial, log_multinomial
from thali.data.pairs.left_out import LeftPair
from thali.model.registry import spec_of
from thali.posterior.diagnostics import MIN_DRAWS

from .scorer import BASE, DIFFERENCE, Scorer
from .scores import Score, cell_score, mcse, r_hat, score, tied_score
from .table import Scores

if TYPE_CHECKING:
    import pandas

EMP = "EMP"  # the observed proportions, the best that any prediction could do


class BinomialScorer(Scorer):
    """-ln Binomial(x | n, p) of every pair, under the posterior mean of p and as the posterior mean of the score; with
    ties -ln Multinomial(x | n, p) of the three outcomes."""

    fields: ClassVar[dict[str, type[Any]]] = {field.name: float for field in fields(Score)}
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
        "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better; bits: information per"
        " comparison above guessing; log pred.: mean of the log of the posterior mean of the binomial; to best: score"
        " minus that of the best model, with its standard error over pairs."
    )

    def score_one(self, model: Any, test: LeftPair) -> dict[str, Any]:
        p = outcomes_of_somebody(model, test) if spec_of(model) is None else model.predict_left_out(test)
        if p.ndim == 2:  # of an estimate, such as that of maximum likelihood
            p = np.broadcast_to(p, (1, MIN_DRAWS, *p.shape))  # as many equal draws as an error can be computed of
        if test.covariates is not None:
            return asdict(cell_score(test.counts, p))
        ((wins, *tied, losses),) = test.counts
        return asdict(tied_score(test.counts[0], p[..., 0, :]) if tied else score(wins, losses, p[..., 0, 0]))

    def frames(self, found: Scores) -> "dict[str, pandas.DataFrame]":
        wins, losses, tied = (found.observed(name) for name in ("wins", "losses", "tied"))
        nll, log_pred = found.frame("nll"), found.frame("log_pred")
        n = wins + tied + losses
        for name in (BASE, EMP):
            if tied.any():
                observed = np.stack([wins, tied, losses], axis=-1) / n[:, None]
                p = np.full_like(observed, 1 / 3) if name == BASE else observed
                nll[name] = -log_multinomial(wins, tied, losses, p)
            else:
                nll[name] = -log_binomial(wins, losses, 0.5 if name == BASE else wins / n)
            log_pred[name] = -nll[name]
        error, of_log = (found.frame(name).assign(**{BASE: 0.0, EMP: 0.0}) for name in ("nll_mcse", "log_pred_mcse"))
        return {"nll": nll, "mean_log_pred": log_pred, "nll_mcse": error, "mean_log_pred_mcse": of_log}

    def every_column(self, found: Scores) -> dict[str, Any]:
        nll, n = found.counted("nll"), _comparisons(found)[found.counts]
        with np.errstate(invalid="ignore"):
            bits = (nll[BASE].sum() - nll.sum(skipna=False)) / (math.log(2) * n.sum())
        return super().every_column(found) | {"information": bits}

    def observed(self, found: Scores) -> dict[str, np.ndarray]:
        n, tied = _comparisons(found), found.observed("tied")
        ties = {"observed_tie": tied / n} if tied.any() else {}
        return {"n": n, "observed": found.observed("wins") / n, **ties}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        return (
            f"{best} predicts the pairs left out best: {table.loc[best, 'nll']:.3f} nats a pair, where the observed "
            f"proportions would have {table.loc[EMP, 'nll']:.3f} and guessing {table.loc[BASE, 'nll']:.3f}."
        )

    def prediction(self, row: Any) -> str:
        group = row._asdict().get("group")  # of the people who compared the pair, if there are several
        pair = f"{row.a} over {row.b}" + (f" by {group}" if group else "")
        return f"{pair} (observed {row.observed:.2f}, predicted {row.predicted:.2f}, nll {row.nll:.1f})"


def _comparisons(found: Scores) -> np.ndarray:
    """How many comparisons there are of each pair."""
    return found.observed("wins") + found.observed("losses") + found.observed("tied")


def outcomes_of_somebody(model: Any, part: LeftPair) -> np.ndarray:
    """Probabilities (cells, outcomes) by a model of somebody else, which knows neither covariates nor ties."""
    p = np.asarray(model.predict_proba([part.pair] * len(part.counts)), float)
    return np.stack([p, 1.0 - p], axis=-1)


class GaussianScorer(Scorer):
    """ln of the posterior mean of Normal(s | mu, sigma^2 / judgements), and (s - posterior mean of mu)^2.

    The reference takes every similarity for a draw from the same normal distribution, that of the other parts.
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
    kept: ClassVar[dict[str, str]] = {"squared_errors": "squared_error"}
    predicted: ClassVar[tuple[str, ...]] = ("predicted", "predicted_mcse", "log_score", "log_score_mcse", "r_hat")
    shown: ClassVar[tuple[str, ...]] = (
        *("log_score", "log_score_se", "log_score_mcse", "squared_error"),
        *("difference", "difference_se", "r_hat"),
    )
    called: ClassVar[str] = "similarities"
    legend: ClassVar[str] = (
        "log score: mean over pairs of objects of the log of the predictive density, larger is better; sq. error: mean"
        f" squared distance of similarities from their predictions; {DIFFERENCE}. BASE: one normal distribution for"
        " all."
    )
    own_models: tuple[str, ...] = ()  # predictive densities need the draws of a model of thali

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        mu, sigma = model.predict_left_out(test)
        densities = -0.5 * ((test.values - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2.0 * math.pi)
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

    def frames(self, found: Scores) -> "dict[str, pandas.DataFrame]":
        score, predicted = found.frame("log_score"), found.frame("predicted")
        data = found.splitter.observed()
        base = [constant_score(data["values"], data["judgements"], units) for units in found.units]
        score[BASE], predicted[BASE] = np.concatenate(base, axis=1)
        error = found.frame("log_score_mcse").assign(**{BASE: 0.0})
        squared = predicted.sub(found.observed("values"), axis=0) ** 2
        return {"log_score": score, "log_score_mcse": error, "squared_error": squared}

    def observed(self, found: Scores) -> dict[str, np.ndarray]:
        return {"observed": found.observed("values")}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        row, base = table.loc[best], table.loc[BASE]
        return (
            f"{best} predicts the similarities left out best: log score {row['log_score']:.3f} a pair (one distribution"
            f" for all has {base['log_score']:.3f}), root mean squared error {math.sqrt(row['squared_error']):.3f} "
            f"({math.sqrt(base['squared_error']):.3f})."
        )

    def prediction(self, row: Any) -> str:
        return f"{row.a} and {row.b} (observed {row.observed:.2f}, predicted {row.predicted:.2f})"


def constant_score(values: np.ndarray, judgements: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log score and prediction of each left-out similarity, if all were draws from the same normal distribution."""
    train = np.ones(len(values), bool)
    train[left_out] = False
    n = judgements[train]
    mean = float(np.average(values[train], weights=n))
    variance = float((n * (values[train] - mean) ** 2).sum()) / max(len(n) - 1, 1) / judgements[left_out]
    with np.errstate(divide="ignore", invalid="ignore"):  # similarities that are all the same
        log_score = -0.5 * ((values[left_out] - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    return log_score, np.full(len(left_out), mean)
