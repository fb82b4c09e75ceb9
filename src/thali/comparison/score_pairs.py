"""Scores of left-out paired comparisons: the log-likelihood of the counts, binomial, or with ties multinomial."""

import math
from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np

from thali.model.latent_features.answers.binomial import log_binomial
from thali.model.latent_features.answers.predict import pair_draws
from thali.model.latent_features.answers.ties import log_multinomial, outcomes

from .leave_pairs import LeftCells
from .scorer import BASE, Scorer
from .scores import Score, cell_score, point_score, score, tied_score
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

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        pair, wins, losses, tied, cells = test
        posterior = getattr(model, "posterior_", None)
        if cells is not None:
            return asdict(cell_score(cells.counts, _of_cells(model, posterior, pair, cells)))
        if tied is not None:
            if posterior is None:
                at = model.predict_outcomes([pair]).iloc[0]
                draws = np.broadcast_to([at["p_a"], at["p_tie"], at["p_b"]], (1, 4, 3))
            else:
                p, nu = pair_draws(posterior, pair)[..., 0], posterior["posterior"].dataset["tie"].values
                draws = outcomes(p, 1.0 - p, nu)
            return asdict(tied_score(np.array([wins, tied, losses]), draws))
        if posterior is None:  # of an estimate, such as that of maximum likelihood
            return asdict(point_score(wins, losses, float(model.predict_proba([pair])[0])))
        return asdict(score(wins, losses, pair_draws(posterior, pair)[..., 0]))

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


def _of_cells(model: Any, posterior: Any, pair: tuple[str, str], cells: LeftCells) -> np.ndarray:
    """Probabilities of the outcomes of a pair for the covariates of its cells (chain, draw, cells, outcomes)."""
    known, count = getattr(model, "covariates_", ()), len(cells.counts)
    given = {name: values for name, values in cells.values.items() if name in known}
    if posterior is not None:
        p = pair_draws(posterior, pair, given, count)
        if cells.counts.shape[1] == 2:
            return np.stack([p, 1.0 - p], axis=-1)
        return outcomes(p, 1.0 - p, posterior["posterior"].dataset["tie"].values[..., None])
    arguments = {"covariates": given} if given else {}
    if cells.counts.shape[1] == 2:
        p = np.asarray(model.predict_proba([pair] * count, **arguments))
        found = np.stack([p, 1.0 - p], axis=-1)
    else:
        found = model.predict_outcomes([pair] * count, **arguments)[["p_a", "p_tie", "p_b"]].to_numpy()
    return np.broadcast_to(found, (1, 4, *found.shape))  # as many equal draws as an error can be computed of
