"""Base class of scorers, which score predictions of held-out data."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    import pandas

    from thali._model.base import Model

    from .score_table import ScoreTable

BASE = "BASE"  # the reference row, which predicts the same for all units
WORST = 3  # number of the worst predictions that are listed
DIFFERENCE = "to best: difference from the log score of the best model"  # of legends


class Scorer(ABC):
    """Base class of scores of predictions for one kind of held-out units.

    The attributes describe the table: `main` is the score that orders the models, `higher` whether
    larger scores are better, `units` the name in `attrs` of the frame of the main score of each
    unit.
    """

    main: ClassVar[str]
    higher: ClassVar[bool] = True
    units: ClassVar[str]
    unit: ClassVar[str]  # the noun for an independent unit
    # the level of the index with independent units; None: each unit is independent
    level: ClassVar[str | None] = None
    before: ClassVar[tuple[str, ...]] = (BASE,)  # reference rows above the models, and below them
    after: ClassVar[tuple[str, ...]] = ()
    # required methods of models from outside thali; (): no such models
    required_methods: tuple[str, ...] = ("fit", "predict_proba")

    table: ClassVar[tuple[str, ...]]  # the columns of the table, in their order
    # columns of differences from the best model, by frame, in addition to `main`
    differences: ClassVar[dict[str, str]] = {}
    counted: ClassVar[str]  # the column that counts the units that every model has finished
    extra_frames: ClassVar[dict[str, str]] = {}  # names in `attrs` of additional frames
    predicted: ClassVar[tuple[str, ...]] = ()  # fields of every unit in `attrs["predictions"]`
    shown: ClassVar[tuple[str, ...]]  # the columns that are printed
    called: ClassVar[str]  # the plural noun for units in sentences
    # the meaning of the printed columns; {unit} is the noun for an independent unit
    legend: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the scorer in the table's attributes."""
        return type(self).__name__

    @abstractmethod
    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return {score name: one number per unit} of a fitted model's predictions."""

    @abstractmethod
    def build_score_frames(self, score_table: "ScoreTable") -> "dict[str, pandas.DataFrame]":
        """Return data frames of scores (units, models and references), by name.

        The column contains the mean of the frame. One of the names is `main`; the names of Monte
        Carlo errors end with _mcse.
        """

    @abstractmethod
    def write_headline(self, table: "pandas.DataFrame", best: str) -> str:
        """Return the sentence on the score of the best model."""

    def compute_columns(self, score_table: "ScoreTable") -> dict[str, Any]:
        """Return the columns that the comparison's table may have, by name."""
        columns: dict[str, Any] = {self.counted: int(score_table.is_complete.sum())}
        for column_name in score_table.frames:
            if column_name.endswith("_mcse"):
                columns[column_name] = score_table.compute_monte_carlo_error(column_name)
            else:
                columns[column_name], columns[f"{column_name}_se"] = score_table.compute_means(
                    column_name
                )
        for frame_name, column_name in ({self.main: "difference"} | self.differences).items():
            columns[column_name], columns[f"{column_name}_se"] = score_table.compute_differences(
                score_table.best, frame_name
            )
        if "seconds" in self.table:
            columns["seconds"] = score_table.sum_seconds()
        if "r_hat" in self.table:
            columns["r_hat"] = score_table.build_score_frame("r_hat").max()
        if self.level:
            columns[f"{self.level}s"] = (
                score_table.select_complete_units(self.main)
                .index.get_level_values(self.level)
                .nunique()
            )
        return columns

    def build_attrs(self, score_table: "ScoreTable") -> dict[str, Any]:
        """Return entries to add to the table's `attrs`."""
        frames = {name: score_table.frames[frame] for name, frame in self.extra_frames.items()}
        if self.predicted:
            frames["predictions"] = score_table.tabulate_predictions(
                self.predicted, **self.get_observed(score_table)
            )
        return frames

    def get_observed(self, score_table: "ScoreTable") -> dict[str, np.ndarray]:
        """Return observed values of every unit, for the table of predictions."""
        return {}

    def group_units(self, index: "pandas.Index") -> Iterable[Any] | None:
        """Return the group of dependent units of each row; None if all are independent."""
        if self.level:
            return index.get_level_values(self.level)
        return None

    def accepts_model(self, model: "Model") -> bool:
        """Return whether a model outside thali has the methods to be scored."""
        return bool(self.required_methods) and all(
            callable(getattr(model, name, None)) for name in self.required_methods
        )

    def write_remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """Return additional sentences, such as on the worst predictions.

        `ranked` lists the models, the best first.
        """
        predictions = table.attrs["predictions"]
        best = table.attrs["best"]
        best_predictions = predictions[
            (predictions["model"] == best) & predictions[self.main].notna()
        ]
        worst_predictions = best_predictions.sort_values(
            self.main, ascending=self.higher, kind="stable"
        ).head(WORST)
        prediction_texts = "; ".join(map(self.format_prediction, worst_predictions.itertuples()))
        return [f"Worst predictions of {best!r}: {prediction_texts}."]

    def format_prediction(self, row: Any) -> str:
        """Return one unit with its prediction as text."""
        raise NotImplementedError

    def describe_impossible(
        self, table: "pandas.DataFrame", ranked: list[str], event: str
    ) -> list[str]:
        """Return a sentence per model that predicted an observed event with probability 0."""
        scores = table.attrs[self.units][ranked].dropna()
        n_impossible = {name: int(np.isinf(scores[name]).sum()) for name in ranked}
        return [
            f"{name!r} assigned probability 0 to {event.format(count=count, n=len(scores))}."
            for name, count in n_impossible.items()
            if count
        ]
