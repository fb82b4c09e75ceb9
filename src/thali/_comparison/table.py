"""The table of a comparison, made of the records of its fits and the columns of a scorer."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.scores import mean_and_error
from thali._inference.parts import is_finished
from thali.errors import ArgumentError

from .scorer import Scorer
from .splitter import Splitter

if TYPE_CHECKING:
    import pandas

NOT_RUN = "not run"


class ScoreTable:
    """The scores of all units by all models: what the columns of a table are made of.

    Parameters
    ----------
    splitter : Splitter
    scorer : Scorer
    parts : list
        What was left out at a time.
    names : list of str
        Of the models.
    records : mapping from (name, number of the part) to record
        None, or one with an "error", counts as missing.
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
        records: dict[Any, Any],
    ) -> None:
        self.splitter: Any = splitter
        self.scorer, self.parts, self.names, self.records = scorer, parts, names, records
        self.units = [splitter.units(part) for part in parts]
        self.numbers = np.concatenate(self.units)
        self.sizes = [len(each) for each in self.units]
        self.index = splitter.labels(self.numbers)
        self.order = [*scorer.before, *names, *scorer.after]
        self.frames = {name: frame[self.order] for name, frame in scorer.frames(self).items()}
        main = self.frames[scorer.main]
        self.started = [name for name in names if main[name].notna().any()]
        self.counts = main[self.started].notna().all(axis=1).to_numpy()
        self.best = self.best_by(scorer.main)

    def frame(self, field: str) -> "pandas.DataFrame":
        """One field of the records, units by models; NaN where a fit is missing."""
        import pandas as pd

        values = np.full((len(self.names), len(self.numbers)), np.nan)
        ends = np.cumsum([0, *self.sizes])
        for row, name in enumerate(self.names):
            for part, (start, stop) in enumerate(zip(ends, ends[1:], strict=False)):
                record = self.records[name, part]
                if record is not None and is_finished(record):
                    values[row, start:stop] = record.get(field, np.nan)
        return pd.DataFrame(values.T, index=self.index, columns=pd.Index(self.names, name="model"))

    def observed(self, what: str) -> np.ndarray:
        """What a splitter knows of every unit, in the order of the table of units."""
        return self.splitter.observed()[what][self.numbers]

    def best_by(self, frame: str) -> str | None:
        """The model whose mean is the best; None where no unit counts."""
        values = self.counted(frame)
        means = [values[name].mean() for name in self.started] if len(values) else []
        pick = np.argmax if self.scorer.higher else np.argmin
        return self.started[int(pick(means))] if means else None

    def counted(self, frame: str) -> Any:
        """The units of a frame that every model has finished."""
        return self.frames[frame][self.counts]

    def means(self, frame: str) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The mean over units of each row of the table, and its standard error."""
        values = self.counted(frame)
        return self._columns({name: values[name].to_numpy() for name in self.order}, values.index)

    def differences_from(
        self, best: str | None, frame: str
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The same of the differences from a model."""
        values = self.counted(frame)
        if best is None:
            return dict.fromkeys(self.order, math.nan), dict.fromkeys(self.order, math.nan)
        with np.errstate(invalid="ignore"):  # two infinite scores
            differences = {name: (values[name] - values[best]).to_numpy() for name in self.order}
        return self._columns(differences, values.index)

    def monte_carlo(self, frame: str) -> Any:
        """The Monte Carlo error of a mean whose units have these errors."""
        errors = self.counted(frame)
        return np.sqrt((errors**2).sum(skipna=False)) / len(errors) if len(errors) else math.nan

    def seconds(self) -> dict[str, float]:
        """CPU seconds of all fits of each model."""
        spent = {
            name: [
                record["seconds"]
                for (model, _), record in self.records.items()
                if model == name and is_finished(record)
            ]
            for name in self.names
        }
        return {name: float(np.sum(values)) for name, values in spent.items() if values}

    def part_of_unit(self) -> "pandas.Series":
        """The number of the part that each unit belongs to."""
        import pandas as pd

        return pd.Series(np.repeat(np.arange(len(self.parts)), self.sizes), index=self.index)

    def predictions(self, fields: tuple[str, ...], **observed: np.ndarray) -> "pandas.DataFrame":
        """One row a model and unit, models in the order given: labels, what was observed, and these
        fields."""
        import pandas as pd

        frames = {field: self.frame(field) for field in fields}
        tables = [
            self.index.to_frame(index=False)
            .assign(
                **observed, **{field: frame[name].to_numpy() for field, frame in frames.items()}
            )
            .pipe(lambda table, name=name: table.assign(model=name)[["model", *table.columns]])
            for name in self.names
        ]
        return pd.concat(tables, ignore_index=True)

    def missing(self) -> "pandas.DataFrame":
        """The fits that failed or were not run, and why."""
        import pandas as pd

        rows = [
            {
                "model": name,
                **self.splitter.place(part),
                "why": NOT_RUN if record is None else record["error"],
            }
            for (name, part), record in sorted(
                self.records.items(), key=lambda item: self.names.index(item[0][0])
            )
            if not is_finished(record)
        ]
        return pd.DataFrame(rows, columns=["model", *self.splitter.place(0), "why"])

    def _columns(
        self, values: dict[str, np.ndarray], index: "pandas.Index"
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        groups = self.scorer.groups(index)
        found = {name: mean_and_error(each, groups) for name, each in values.items()}
        return {name: mean for name, (mean, _) in found.items()}, {
            name: error for name, (_, error) in found.items()
        }


def comparison_table(found: ScoreTable) -> "pandas.DataFrame":
    """The table that `thali.compare` returns."""
    import pandas as pd

    from thali._tables import Table

    missing = found.missing()
    failed = [why for why in missing["why"] if why != NOT_RUN]
    if failed and len(missing) == len(found.records):
        raise ArgumentError(f"No fit succeeded; the first failed with {failed[0]}")
    scorer = found.scorer
    table = Table(index=pd.Index(found.order, name="model"))
    for name, values in scorer.columns(found).items():
        table[name] = pd.Series(values) if isinstance(values, dict) else values
    table.attrs.update(
        {
            scorer.units: found.frames[scorer.main],
            "missing": missing,
            "best": found.best,
            "scorer": scorer.name,
        },
        part=found.splitter.part,
        units=len(found.numbers),
        fits=len(found.records),
        unit=scorer.unit,
    )
    table.attrs.update(scorer.attrs(found))
    return table
