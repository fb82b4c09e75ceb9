"""Table of a comparison, computed from the records of its fits."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from thali._data.prediction_scores import mean_and_error
from thali._exportable_table import Table
from thali._inference.index_arithmetic import repeat_indices
from thali._inference.resumable_tasks import Record, is_finished
from thali.errors import ArgumentError

from .job_folder import format_fit_key, list_fits
from .scorer import Scorer
from .splitter import Splitter

NOT_RUN = "not run"


class ScoreTable:
    """Scores of all held-out units by all models, as data frames.

    Parameters
    ----------
    splitter : Splitter
    scorer : Scorer
    parts : list
        The held-out parts.
    names : list of str
        The names of the models.
    records : mapping from the key of a fit in its job to its record
        A record with an "error" is treated as missing.
    """

    names: list[str]
    parts: list[Any]
    records: dict[Any, Any]
    scorer: "Scorer"
    units: list[np.ndarray]
    unit_numbers: np.ndarray
    part_sizes: list[int]
    index: Any  # of units
    row_order: list[str]
    frames: dict[str, Any]
    started_models: list[str]
    is_complete: np.ndarray
    best: str | None

    def __init__(
        self,
        splitter: Splitter,
        scorer: Scorer,
        parts: list[Any],
        model_names: list[str],
        records: Mapping[str, Record],
    ) -> None:
        self.splitter: Any = splitter
        self.scorer = scorer
        self.parts = parts
        self.names = model_names
        self.records = {
            fit: records.get(format_fit_key(fit)) for fit in list_fits(model_names, len(parts))
        }
        self.units = [splitter.list_units(part) for part in parts]
        self.unit_numbers = np.concatenate(self.units)
        self.part_sizes = [len(units) for units in self.units]
        self.index = splitter.build_unit_index(self.unit_numbers)
        self.row_order = [*scorer.before, *model_names, *scorer.after]
        self.frames = {
            name: frame[self.row_order] for name, frame in scorer.build_score_frames(self).items()
        }
        main_frame = self.frames[scorer.main]
        self.started_models = [name for name in model_names if main_frame[name].notna().any()]
        self.is_complete = main_frame[self.started_models].notna().all(axis=1).to_numpy()
        self.best = self.find_best(scorer.main)

    def build_score_frame(self, field: str) -> pd.DataFrame:
        """Return one score as data frame (units, models); NaN if a fit is missing."""
        scores = np.full((len(self.names), len(self.unit_numbers)), np.nan)
        part_bounds = np.cumsum([0, *self.part_sizes])
        for model_index, name in enumerate(self.names):
            for part_index, (first_unit, next_unit) in enumerate(
                zip(part_bounds, part_bounds[1:], strict=False)
            ):
                record = self.records[name, part_index]
                if is_finished(record):
                    scores[model_index, first_unit:next_unit] = record.get(field, np.nan)
        return pd.DataFrame(scores.T, index=self.index, columns=pd.Index(self.names, name="model"))

    def get_observed(self, field: str) -> np.ndarray:
        """Return observed values `field` of every unit, in the table's order."""
        return self.splitter.get_observed()[field][self.unit_numbers]

    def find_best(self, frame_name: str) -> str | None:
        """Return the model with the best mean score; None without complete units."""
        scores = self.select_complete_units(frame_name)
        if not len(scores) or not self.started_models:
            return None
        mean_scores = scores[self.started_models].mean()
        if self.scorer.higher:
            return str(mean_scores.idxmax())
        return str(mean_scores.idxmin())

    def select_complete_units(self, frame_name: str) -> Any:
        """Return a frame's rows (units) that every started model has scored."""
        return self.frames[frame_name][self.is_complete]

    def compute_means(self, frame_name: str) -> tuple[Any, Any]:
        """Return each model's mean score, and its standard error."""
        return self._compute_means(self.select_complete_units(frame_name))

    def compute_differences(self, best_model: str | None, frame_name: str) -> tuple[Any, Any]:
        """Return mean score differences from the best model, and standard errors."""
        if best_model is None:
            return math.nan, math.nan
        scores = self.select_complete_units(frame_name)
        with np.errstate(invalid="ignore"):  # two infinite scores
            return self._compute_means(scores.sub(scores[best_model], axis=0))

    def compute_monte_carlo_error(self, frame_name: str) -> Any:
        """Return the Monte Carlo error of mean scores."""
        unit_errors = self.select_complete_units(frame_name)
        if not len(unit_errors):
            return math.nan
        return np.sqrt((unit_errors**2).sum(skipna=False)) / len(unit_errors)

    def sum_seconds(self) -> pd.Series:
        """Return each model's total CPU seconds of finished fits."""
        seconds_by_model: dict[str, float] = {}
        for (name, _), record in self.records.items():
            if is_finished(record):
                seconds_by_model[name] = seconds_by_model.get(name, 0.0) + record["seconds"]
        return pd.Series(seconds_by_model)

    def list_part_indices(self) -> pd.Series:
        """Return the held-out part of each unit."""
        return pd.Series(repeat_indices(self.part_sizes), index=self.index)

    def tabulate_predictions(self, fields: tuple[str, ...], **observed: np.ndarray) -> pd.DataFrame:
        """Return a table of predictions, one row per model and unit."""
        frames = {field: self.build_score_frame(field) for field in fields}
        model_tables = []
        for name in self.names:
            score_columns = {field: frame[name].to_numpy() for field, frame in frames.items()}
            table = self.index.to_frame(index=False).assign(**observed, **score_columns)
            table.insert(0, "model", name)
            model_tables.append(table)
        return pd.concat(model_tables, ignore_index=True)

    def list_missing(self) -> pd.DataFrame:
        """Return a table of fits that failed or were not run, and why."""
        rows = []
        for (name, part_index), record in self.records.items():
            if not is_finished(record):
                reason = NOT_RUN
                if record is not None:
                    reason = record["error"]
                rows.append({"model": name, **self.splitter.locate_part(part_index), "why": reason})
        return pd.DataFrame(rows, columns=["model", *self.splitter.locate_part(0), "why"])

    def _compute_means(self, scores: pd.DataFrame) -> tuple[Any, Any]:
        """Return means and standard errors of a frame's columns."""
        dependent_groups = self.scorer.group_units(scores.index)
        means = {}
        standard_errors = {}
        for name in scores:
            means[name], standard_errors[name] = mean_and_error(
                scores[name].to_numpy(), dependent_groups
            )
        return pd.Series(means, dtype=float), pd.Series(standard_errors, dtype=float)


def build_comparison_table(
    splitter: Splitter,
    scorer: Scorer,
    parts: list[Any],
    model_names: list[str],
    records: Mapping[str, Record],
) -> pd.DataFrame:
    """Build the table of `thali.compare` from the records of all fits."""
    score_table = ScoreTable(splitter, scorer, parts, model_names, records)
    missing_fits = score_table.list_missing()
    failure_reasons = [why for why in missing_fits["why"] if why != NOT_RUN]
    if failure_reasons and len(missing_fits) == len(score_table.records):
        raise ArgumentError(f"No fit succeeded; the first failed with {failure_reasons[0]}")
    table = Table(index=pd.Index(score_table.row_order, name="model"))
    columns = scorer.compute_columns(score_table)
    for column in scorer.table:
        table[column] = columns[column]
    table.attrs.update(
        {
            scorer.units: score_table.frames[scorer.main],
            "missing": missing_fits,
            "best": score_table.best,
            "scorer": scorer.name,
        },
        part=splitter.part_noun,
        units=len(score_table.unit_numbers),
        fits=len(score_table.records),
        unit=scorer.unit,
    )
    table.attrs.update(scorer.build_attrs(score_table))
    return table
