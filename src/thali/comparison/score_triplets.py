"""Scores of left-out triplets: the log of the probability of the pair that was named, and hits."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.model.registry import spec_of

from .scorer import BASE, Scorer
from .table import Scores

if TYPE_CHECKING:
    import pandas

_TIED = 1e-12
_WORST = 3


class TripletScorer(Scorer):
    """ln of the posterior mean probability of the pair that was named, and whether it was the most probable of its set;
    guessing is the reference."""

    fields: ClassVar[dict[str, type[Any]]] = {"log_score": list, "log_score_mcse": list, "hits": list, "seconds": float}
    main: ClassVar[str] = "log_score"
    units: ClassVar[str] = "answers"
    unit: ClassVar[str] = "set"

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        named = np.repeat(np.arange(len(test.counts)), test.counts.astype(np.int64))
        if spec_of(model) is None:  # of somebody else
            found = np.concatenate([np.asarray(each, float) for each in model.predict_proba(test)])
            errors = np.zeros(len(found))
        else:
            found, errors = (np.concatenate(each) for each in model.predict_proba(test, return_se=True))
        best = np.repeat(np.maximum.reduceat(found, test.start[:-1]), test.sizes)
        is_best = found >= best - _TIED
        share = is_best / np.repeat(np.add.reduceat(is_best.astype(float), test.start[:-1]), test.sizes)
        with np.errstate(divide="ignore"):
            log_score = np.log(found[named])
        return {
            "log_score": log_score.tolist(),
            "log_score_mcse": (errors[named] / found[named]).tolist(),
            "hits": share[named].tolist(),
        }

    def frames(self, found: Scores) -> dict[str, Any]:
        score, hits, error = (found.frame(name) for name in ("log_score", "hits", "log_score_mcse"))
        sizes = found.observed("sizes")
        score[BASE], hits[BASE], error[BASE] = -np.log(sizes), 1.0 / sizes, 0.0
        return {"log_score": score, "hits": hits, "log_score_mcse": error}

    def columns(self, found: Scores) -> dict[str, Any]:
        log_score, log_score_se = found.means("log_score")
        difference, difference_se = found.differences("log_score")
        hit_rate, hit_rate_se = found.means("hits")
        index = found.counted("log_score").index
        return {
            "log_score": log_score,
            "difference": difference,
            "difference_se": difference_se,
            "log_score_se": log_score_se,
            "log_score_mcse": found.monte_carlo("log_score_mcse"),
            "hit_rate": hit_rate,
            "hit_rate_se": hit_rate_se,
            "seconds": found.seconds(),
            "answers": len(index),
            "sets": index.get_level_values("set").nunique(),
        }

    def attrs(self, found: Scores) -> dict[str, Any]:
        return {"hits": found.frames["hits"]}

    def groups(self, index: "pandas.Index") -> Iterable[Any] | None:
        return index.get_level_values("set")

    def headline(self, table: Any, best: str) -> str:
        row, base = table.loc[best], table.loc[BASE]
        return (
            f"{best} predicts the answers left out best: log score {row['log_score']:.3f} an answer (guessing has "
            f"{base['log_score']:.3f}), {100 * row['hit_rate']:.1f} % hits."
        )

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        scores = table.attrs["answers"][table.attrs["best"]].dropna().sort_values(kind="stable").head(_WORST)
        named = [f"{a} and {b} (probability {np.exp(score):.2g})" for (_, a, b), score in scores.items()]
        return [f"Least expected by {table.attrs['best']}: {'; '.join(named)}."]
