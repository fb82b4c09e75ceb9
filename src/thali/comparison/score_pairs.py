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
_WORST = 3
_NUMBERS = ("predicted", "predicted_mcse", "nll", "nll_mcse", "log_pred", "log_pred_mcse", "r_hat")


class BinomialScorer(Scorer):
    """-ln Binomial(x | n, p) of every pair, under the posterior mean of p and as the posterior mean of the score; with
    ties -ln Multinomial(x | n, p) of the three outcomes."""

    fields: ClassVar[dict[str, type[Any]]] = {field.name: float for field in fields(Score)}
    main: ClassVar[str] = "nll"
    higher: ClassVar[bool] = False
    units: ClassVar[str] = "pairs"
    unit: ClassVar[str] = "pair"
    after: ClassVar[tuple[str, ...]] = (EMP,)

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
        errors = {name: found.frame(name).assign(**{BASE: 0.0, EMP: 0.0}) for name in ("nll_mcse", "log_pred_mcse")}
        return {"nll": nll, "log_pred": log_pred, **errors}

    def columns(self, found: Scores) -> dict[str, Any]:
        nll, n = found.counted("nll"), int(found.counts.sum())
        total = _comparisons(found)[found.counts]
        with np.errstate(invalid="ignore"):
            bits = (nll[BASE].sum() - nll.sum(skipna=False)) / (math.log(2) * total.sum())
        difference, difference_se = found.differences("nll")
        return {
            "nll": found.means("nll")[0],
            "difference": difference,
            "difference_se": difference_se,
            "nll_mcse": found.monte_carlo("nll_mcse"),
            "mean_log_pred": found.means("log_pred")[0],
            "mean_log_pred_mcse": found.monte_carlo("log_pred_mcse"),
            "information": bits,
            "pairs": n,
            "r_hat": found.frame("r_hat").max(),
        }

    def attrs(self, found: Scores) -> dict[str, Any]:
        n, tied = _comparisons(found), found.observed("tied")
        ties = {"observed_tie": tied / n} if tied.any() else {}
        return {"predictions": found.predictions(_NUMBERS, n=n, observed=found.observed("wins") / n, **ties)}

    def headline(self, table: Any, best: str) -> str:
        return (
            f"{best} predicts the pairs left out best: {table.loc[best, 'nll']:.3f} nats a pair, where the observed "
            f"proportions would have {table.loc[EMP, 'nll']:.3f} and guessing {table.loc[BASE, 'nll']:.3f}."
        )

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        predictions, best = table.attrs["predictions"], table.attrs["best"]
        of_best = predictions[(predictions["model"] == best) & predictions["nll"].notna()]
        of_best = of_best.sort_values("nll", ascending=False, kind="stable")
        named = [
            f"{_named(row)} (observed {row.observed:.2f}, predicted {row.predicted:.2f}, nll {row.nll:.1f})"
            for row in of_best.head(_WORST).itertuples()
        ]
        return [f"Worst predicted by {best}: {'; '.join(named)}."]


def _comparisons(found: Scores) -> np.ndarray:
    """How many comparisons there are of each pair."""
    return found.observed("wins") + found.observed("losses") + found.observed("tied")


def _named(row: Any) -> str:
    """A pair that was left out, and the group of people that compared it if there are several."""
    group = row._asdict().get("group")
    return f"{row.a} over {row.b}" + (f" by {group}" if group else "")


def outcomes_of_somebody(model: Any, part: LeftPair) -> np.ndarray:
    """Probabilities (cells, outcomes) by a model of somebody else, which knows neither covariates nor ties."""
    p = np.asarray(model.predict_proba([part.pair] * len(part.counts)), float)
    return np.stack([p, 1.0 - p], axis=-1)
