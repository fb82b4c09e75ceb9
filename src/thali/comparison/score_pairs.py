"""Scores of left-out paired comparisons: the log-likelihood of the counts, binomial, or with ties multinomial."""

import math
from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np

from thali.data.left_out import LeftPair
from thali.model.latent_features.answers.binomial import log_binomial
from thali.model.latent_features.answers.ties import log_multinomial
from thali.model.registry import spec_of
from thali.posterior.diagnostics import LEAST_DRAWS

from .scorer import BASE, Scorer
from .scores import Score, cell_score, score, tied_score
from .table import Scores

EMP = "EMP"  # the observed proportions, the best that any prediction could do


class BinomialScorer(Scorer):
    """-ln Binomial(x | n, p) of every pair, under the posterior mean of p and as the posterior mean of the score; with
    ties -ln Multinomial(x | n, p) of the three outcomes."""

    fields: ClassVar[dict[str, type[Any]]] = {field.name: float for field in fields(Score)}
    main = "nll"
    higher = False
    units = "pairs"
    unit = "pair"
    after = (EMP,)
    table = (
        *("nll", "difference", "difference_se", "nll_mcse", "mean_log_pred", "mean_log_pred_mcse"),
        *("information", "pairs", "r_hat"),
    )
    counted = "pairs"
    predicted = ("predicted", "predicted_mcse", "nll", "nll_mcse", "log_pred", "log_pred_mcse", "r_hat")
    shown = (
        *("nll", "nll_mcse", "information", "mean_log_pred", "mean_log_pred_mcse"),
        *("difference", "difference_se", "r_hat"),
    )
    called = "pairs"

    def score_one(self, model: Any, test: LeftPair) -> dict[Any, Any]:
        p = outcomes_of_somebody(model, test) if spec_of(model) is None else model.predict_left_out(test)
        if p.ndim == 2:  # of an estimate, such as that of maximum likelihood
            p = np.broadcast_to(p, (1, LEAST_DRAWS, *p.shape))  # as many equal draws as an error can be computed of
        if test.covariates is not None:
            return asdict(cell_score(test.counts, p))
        ((wins, *tied, losses),) = test.counts
        return asdict(tied_score(test.counts[0], p[..., 0, :]) if tied else score(wins, losses, p[..., 0, 0]))

    def frames(self, found: Scores) -> dict[str, Any]:
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

    def headline(self, table: Any, best: str) -> str:
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
