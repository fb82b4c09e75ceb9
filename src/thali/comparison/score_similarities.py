"""Scores of left-out similarities: their predictive density, and squared errors."""

import math
from typing import Any, ClassVar

import numpy as np

from .scorer import BASE, Scorer
from .scores import mcse, r_hat
from .table import Scores


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
    main = "log_score"
    units = "similarities"
    unit = "pair"
    table = (
        *("log_score", "difference", "difference_se", "log_score_se", "log_score_mcse"),
        *("squared_error_se", "squared_error", "pairs", "r_hat"),
    )
    counted = "pairs"
    kept: ClassVar[dict[str, str]] = {"squared_errors": "squared_error"}
    predicted = ("predicted", "predicted_mcse", "log_score", "log_score_mcse", "r_hat")
    shown = ("log_score", "log_score_se", "log_score_mcse", "squared_error", "difference", "difference_se", "r_hat")
    called = "similarities"
    own_models = ()  # predictive densities need the draws of a model of thali

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        mu, sigma = model.predict_left_out(test)
        densities = -0.5 * ((test.values - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2.0 * math.pi)
        top = densities.max(axis=(0, 1))
        likelihood = np.exp(densities - top)
        mean = likelihood.mean(axis=(0, 1))
        each = range(test.n_pairs)
        return {
            "log_score": (top + np.log(mean)).tolist(),
            "log_score_mcse": [mcse(likelihood[..., k]) / float(mean[k]) for k in each],
            "predicted": mu.mean(axis=(0, 1)).tolist(),
            "predicted_mcse": [mcse(mu[..., k]) for k in each],
            "r_hat": [r_hat(mu[..., k]) for k in each],
        }

    def frames(self, found: Scores) -> dict[str, Any]:
        score, predicted = found.frame("log_score"), found.frame("predicted")
        data = found.splitter.observed()
        base = [constant_score(data["values"], data["judgements"], units) for units in found.units]
        score[BASE], predicted[BASE] = np.concatenate(base, axis=1)
        error = found.frame("log_score_mcse").assign(**{BASE: 0.0})
        squared = predicted.sub(found.observed("values"), axis=0) ** 2
        return {"log_score": score, "log_score_mcse": error, "squared_error": squared}

    def observed(self, found: Scores) -> dict[str, np.ndarray]:
        return {"observed": found.observed("values")}

    def headline(self, table: Any, best: str) -> str:
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
