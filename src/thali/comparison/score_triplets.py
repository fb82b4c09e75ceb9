"""Scores of left-out triplets: the log of the probability of the pair that was named, and hits."""

from typing import Any, ClassVar

import numpy as np

from thali.model.registry import spec_of

from .score_choices import HitScorer
from .scorer import BASE, WORST
from .table import Scores

_TIED = 1e-12


class TripletScorer(HitScorer):
    """ln of the posterior mean probability of the pair that was named, and whether it was the most probable of its set;
    guessing is the reference."""

    fields: ClassVar[dict[str, type[Any]]] = {"log_score": list, "log_score_mcse": list, "hits": list, "seconds": float}
    units = "answers"
    unit = "set"
    level = "set"
    table = (
        *("log_score", "difference", "difference_se", "log_score_se", "log_score_mcse", "hit_rate", "hit_rate_se"),
        *("seconds", "answers", "sets"),
    )
    counted = "answers"
    shown = (*HitScorer.shown[:2], "log_score_mcse", *HitScorer.shown[2:])
    called = "answers"
    a_unit = "an answer"

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
        return super().frames(found) | {"log_score_mcse": found.frame("log_score_mcse").assign(**{BASE: 0.0})}

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        scores = table.attrs["answers"][table.attrs["best"]].dropna().sort_values(kind="stable").head(WORST)
        named = [f"{a} and {b} (probability {np.exp(score):.2g})" for (_, a, b), score in scores.items()]
        return [f"Least expected by {table.attrs['best']}: {'; '.join(named)}."]
