"""Table of a comparison, computed from the records of its fits."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choice_scores import mean_and_error
from thali._inference.indexing import repeat_indices
from thali._inference.task_jobs import Record, is_finished
from thali.errors import ArgumentError

from .job_folder import format_fit_key, list_fits
from .scorer import Scorer
from .splitter import Splitter

if TYPE_CHECKING:
    import pandas

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
    numbers: np.ndarray
    sizes: list[int]
    index: Any  # of units
    order: list[str]
    frames: dict[str, Any]
    started: list[str]
    counts: np.ndarray
    best: str | None

    def __init__(
        self,
        splitter: Splitter,
        scorer: Scorer,
        parts: list[Any],
        names: list[str],
        records: Mapping[str, Record],
    ) -> None:
        self.splitter: Any = splitter
        self.scorer, self.parts, self.names = scorer, parts, names
        self.records = {
            fit: records.get(format_fit_key(fit)) for fit in list_fits(names, len(parts))
        }
        self.units = [splitter.list_units(part) for part in parts]
        self.numbers = np.concatenate(self.units)
        self.sizes = [len(units) for units in self.units]
        self.index = splitter.build_unit_index(self.numbers)
        self.order = [*scorer.before, *names, *scorer.after]
        self.frames = {
            name: frame[self.order] for name, frame in scorer.build_score_frames(self).items()
        }
        main = self.frames[scorer.main]
        self.started = [name for name in names if main[name].notna().any()]
        self.counts = main[self.started].notna().all(axis=1).to_numpy()
        self.best = self.find_best(scorer.main)

    def build_score_frame(self, field: str) -> "pandas.DataFrame":
        """Return one score as data frame (units, models); NaN if a fit is missing."""
        import pandas as pd

        scores = np.full((len(self.names), len(self.numbers)), np.nan)
        ends = np.cumsum([0, *self.sizes])
        for row, name in enumerate(self.names):
            for part, (start, stop) in enumerate(zip(ends, ends[1:], strict=False)):
                record = self.records[name, part]
                if is_finished(record):
                    scores[row, start:stop] = record.get(field, np.nan)
        return pd.DataFrame(scores.T, index=self.index, columns=pd.Index(self.names, name="model"))

    def get_observed(self, name: str) -> np.ndarray:
        """Return observed values `name` of every unit, in the table's order."""
        return self.splitter.get_observed()[name][self.numbers]

    def find_best(self, frame: str) -> str | None:
        """Return the model with the best mean score; None without complete units."""
        scores = self.select_complete_units(frame)
        if not len(scores) or not self.started:
            return None
        means = scores[self.started].mean()
        if self.scorer.higher:
            return str(means.idxmax())
        return str(means.idxmin())

    def select_complete_units(self, frame: str) -> Any:
        """Return a frame's rows (units) that every started model has scored."""
        return self.frames[frame][self.counts]

    def compute_means(self, frame: str) -> tuple[Any, Any]:
        """Return each model's mean score, and its standard error."""
        return self._compute_means(self.select_complete_units(frame))

    def compute_differences(self, best: str | None, frame: str) -> tuple[Any, Any]:
        """Return mean score differences from the model `best`, and standard errors."""
        if best is None:
            return math.nan, math.nan
        scores = self.select_complete_units(frame)
        with np.errstate(invalid="ignore"):  # two infinite scores
            return self._compute_means(scores.sub(scores[best], axis=0))

    def compute_monte_carlo_error(self, frame: str) -> Any:
        """Return the Monte Carlo error of mean scores."""
        errors = self.select_complete_units(frame)
        if not len(errors):
            return math.nan
        return np.sqrt((errors**2).sum(skipna=False)) / len(errors)

    def sum_seconds(self) -> "pandas.Series":
        """Return each model's total CPU seconds of finished fits."""
        import pandas as pd

        seconds: dict[str, float] = {}
        for (name, _), record in self.records.items():
            if is_finished(record):
                seconds[name] = seconds.get(name, 0.0) + record["seconds"]
        return pd.Series(seconds)

    def list_part_indices(self) -> "pandas.Series":
        """Return the held-out part of each unit."""
        import pandas as pd

        return pd.Series(repeat_indices(self.sizes), index=self.index)

    def tabulate_predictions(
        self, fields: tuple[str, ...], **observed: np.ndarray
    ) -> "pandas.DataFrame":
        """Return a table of predictions, one row per model and unit."""
        import pandas as pd

        frames = {field: self.build_score_frame(field) for field in fields}
        tables = []
        for name in self.names:
            columns = {field: frame[name].to_numpy() for field, frame in frames.items()}
            table = self.index.to_frame(index=False).assign(**observed, **columns)
            table.insert(0, "model", name)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def list_missing(self) -> "pandas.DataFrame":
        """Return a table of fits that failed or were not run, and why."""
        import pandas as pd

        rows = []
        for (name, part), record in self.records.items():
            if not is_finished(record):
                why = NOT_RUN
                if record is not None:
                    why = record["error"]
                rows.append({"model": name, **self.splitter.locate_part(part), "why": why})
        return pd.DataFrame(rows, columns=["model", *self.splitter.locate_part(0), "why"])

    def _compute_means(self, scores: "pandas.DataFrame") -> tuple[Any, Any]:
        """Return means and standard errors of a frame's columns."""
        import pandas as pd

        groups = self.scorer.group_units(scores.index)
        means, errors = {}, {}
        for name in scores:
            means[name], errors[name] = mean_and_error(scores[name].to_numpy(), groups)
        return pd.Series(means, dtype=float), pd.Series(errors, dtype=float)


def build_comparison_table(
    splitter: Splitter,
    scorer: Scorer,
    parts: list[Any],
    names: list[str],
    records: Mapping[str, Record],
) -> "pandas.DataFrame":
    """Build the table of `thali.compare` from the records of all fits."""
    import pandas as pd

    from thali._result_table import Table

    score_table = ScoreTable(splitter, scorer, parts, names, records)
    missing = score_table.list_missing()
    failed = [why for why in missing["why"] if why != NOT_RUN]
    if failed and len(missing) == len(score_table.records):
        raise ArgumentError(f"No fit succeeded; the first failed with {failed[0]}")
    table = Table(index=pd.Index(score_table.order, name="model"))
    columns = scorer.compute_columns(score_table)
    for name in scorer.table:
        table[name] = columns[name]
    table.attrs.update(
        {
            scorer.units: score_table.frames[scorer.main],
            "missing": missing,
            "best": score_table.best,
            "scorer": scorer.name,
        },
        part=splitter.part,
        units=len(score_table.numbers),
        fits=len(score_table.records),
        unit=scorer.unit,
    )
    table.attrs.update(scorer.build_attrs(score_table))
    return table
