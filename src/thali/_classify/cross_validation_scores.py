"""Cross-validation scores of held-out rows: errors and log losses."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas

STOPPED = "stopped by Ctrl-C"


class Scores(NamedTuple):
    """Errors and log losses of held-out rows, by the model and by class frequencies.

    Class frequencies are computed from the other folds.
    """

    fold: np.ndarray
    errors: np.ndarray  # whether the most probable class was wrong
    losses: np.ndarray  # -ln probability of the class
    base_errors: np.ndarray
    base_losses: np.ndarray
    folds: int  # requested
    seed: int = 0  # for the folds
    fault: str = ""  # reason for missing folds

    @property
    def done(self) -> int:
        """Number of finished folds."""
        return len(np.unique(self.fold))

    def table(self) -> "pandas.DataFrame":
        """Return a table of mean scores, one row per fold."""
        import pandas as pd

        columns = {
            "error_rate": self.errors,
            "majority_error_rate": self.base_errors,
            "log_loss": self.losses,
            "proportions_log_loss": self.base_losses,
        }
        table = pd.DataFrame({"fold": self.fold, "rows": 1, **columns})
        return table.groupby("fold").agg({"rows": "sum"} | dict.fromkeys(columns, "mean"))
