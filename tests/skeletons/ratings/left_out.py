"""What is left out of ratings, and how its prediction is scored."""

from typing import Any

import numpy as np

from thali._comparison.pair_holdouts import GaussianScorer
from thali._comparison.splitter import Splitter

from .data import Ratings


class Answers(Splitter):
    """Leaves out random ratings; a part is a mask of them."""

    leave_out = block_noun = "rating"
    data: Ratings

    @property
    def block_of_unit(self) -> np.ndarray:
        return np.arange(len(self.data.values))

    def get_observed(self) -> dict[str, np.ndarray]:
        return {"values": self.data.values, "judgements": np.ones(len(self.data.values))}

    def select_training_data(self, part: np.ndarray) -> tuple[Ratings]:
        return (self.data.take(~part),)

    def select_held_out_data(self, part: np.ndarray) -> Ratings:
        return self.data.take(part)

    def build_unit_index(self, units: np.ndarray) -> Any:
        import pandas as pd

        names = [self.data.labels[k] for k in self.data.object[units]]
        return pd.MultiIndex.from_arrays([units, names], names=["rating", "object"])


class RatingScorer(GaussianScorer):
    """ln of the posterior mean of the normal density of each rating; whoever scores otherwise
    derives from `Scorer`."""

    counted = "ratings"
    table = (
        "log_score",
        "difference",
        "difference_se",
        "squared_error",
        "squared_error_se",
        "ratings",
        "r_hat",
    )
    units, unit, called = "ratings", "rating", "ratings"
    legend = "log score: mean log predictive density of the ratings, larger is better."

    def write_headline(self, table: Any, best: str) -> str:
        return (
            f"{best} predicts held-out ratings best: log score"
            f" {table.loc[best, 'log_score']:.3f} per rating."
        )

    def format_prediction(self, row: Any) -> str:
        return f"{row.object} (observed {row.observed:.2f}, predicted {row.predicted:.2f})"
