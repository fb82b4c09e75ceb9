"""What every scorer answers: how good a prediction is, and the columns of the table."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._model.registry import spec_of

if TYPE_CHECKING:
    import pandas

    from .table import ScoreTable

BASE = "BASE"  # the reference row that knows nothing of what distinguishes the units
WORST = 3  # predictions that are named
DIFFERENCE = "to best: difference from the log score of the best model"  # of legends


class Scorer(ABC):
    """Scores of the units of one kind of data.

    `fields` are what `score` returns, and what a record of a finished fit holds: a number, or a
    list with one number a unit. The others describe the table: `main` is the score by which models
    are ordered, `higher` whether more of it is better, `units` the name in `attrs` of the frame of
    every unit's main score.
    """

    fields: ClassVar[dict[str, type[Any]]]
    main: ClassVar[str]
    higher: ClassVar[bool] = True
    units: ClassVar[str]
    unit: ClassVar[str]  # what independent units are called, in the singular
    # the level of the index that names them; None: each unit is independent
    level: ClassVar[str | None] = None
    before: ClassVar[tuple[str, ...]] = (BASE,)  # reference rows above the models, and below them
    after: ClassVar[tuple[str, ...]] = ()
    # methods of a model of somebody else; (): none
    own_models: tuple[str, ...] = ("fit", "predict_proba")

    table: ClassVar[tuple[str, ...]]  # the columns of the table, in their order
    # columns of differences from the best model, by frame, besides `main`
    differences: ClassVar[dict[str, str]] = {}
    counted: ClassVar[str]  # the column that counts the units that every model has finished
    further: ClassVar[dict[str, str]] = {}  # names in `attrs` of further frames
    predicted: ClassVar[tuple[str, ...]] = ()  # fields of every unit in `attrs["predictions"]`
    shown: ClassVar[tuple[str, ...]]  # the columns that a reader wants to see
    called: ClassVar[str]  # what units are called in sentences, in the plural
    # what the columns that are shown mean; {unit} is what is left out together
    legend: ClassVar[str]

    def __init__(self, of_groups: bool = False) -> None:
        self.name: str = ("Group" if of_groups else "") + type(self).__name__
        if of_groups and self.own_models:  # a model of somebody else gives the model of each group
            self.own_models = ("fit", "of_group")

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """The scores of a fitted model for the part that a splitter tests it on; of groups one
        after the other."""
        if not isinstance(test, Mapping):
            return self.score_one(model, test)
        has_groups = spec_of(model) is not None or "of_group" in self.own_models
        each = [
            self.score_one(model.of_group(name) if has_groups else model, part)
            for name, part in test.items()
        ]
        return {
            name: [value for found in each for value in found[name]]
            if self.fields[name] is list
            else each[0][name]
            for name in each[0]
        }

    @abstractmethod
    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        """The scores of a fitted model for a part of data that are not of groups."""

    @abstractmethod
    def frames(self, found: "ScoreTable") -> "dict[str, pandas.DataFrame]":
        """The score of every unit by every model and reference row, by the name of the column of
        its mean; `main` among them. The names of Monte Carlo errors end with _mcse."""

    @abstractmethod
    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        """What the best model achieves, in a sentence."""

    def columns(self, found: "ScoreTable") -> dict[str, Any]:
        """The columns of the table."""
        every = self.every_column(found)
        return {name: every[name] for name in self.table}

    def every_column(self, found: "ScoreTable") -> dict[str, Any]:
        """Whatever a table may tell, by the name of the column."""
        columns: dict[str, Any] = {self.counted: int(found.counts.sum())}
        for name in found.frames:
            if name.endswith("_mcse"):
                columns[name] = found.monte_carlo(name)
            else:
                columns[name], columns[f"{name}_se"] = found.means(name)
        for frame, name in ({self.main: "difference"} | self.differences).items():
            columns[name], columns[f"{name}_se"] = found.differences_from(found.best, frame)
        if "seconds" in self.table:
            columns["seconds"] = found.seconds()
        if "r_hat" in self.table:
            columns["r_hat"] = found.frame("r_hat").max()
        if self.level:
            columns[f"{self.level}s"] = (
                found.counted(self.main).index.get_level_values(self.level).nunique()
            )
        return columns

    def attrs(self, found: "ScoreTable") -> dict[str, Any]:
        """What else belongs into `attrs`."""
        frames = {name: found.frames[frame] for name, frame in self.further.items()}
        if self.predicted:
            frames["predictions"] = found.predictions(self.predicted, **self.observed(found))
        return frames

    def observed(self, found: "ScoreTable") -> dict[str, np.ndarray]:
        """What `attrs["predictions"]` holds of every unit besides predictions."""
        return {}

    def groups(self, index: "pandas.Index") -> Iterable[Any] | None:
        """To which independent unit each row of the frames belongs; None: each is its own."""
        return index.get_level_values(self.level) if self.level else None

    def takes(self, model: Any) -> bool:
        """Whether a model that is not of thali has the methods that are needed of one."""
        return bool(self.own_models) and all(
            callable(getattr(model, name, None)) for name in self.own_models
        )

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """What else a reader should know, in sentences, such as what the best model predicts worst;
        models come the best first."""
        predictions, best = table.attrs["predictions"], table.attrs["best"]
        of_best = predictions[(predictions["model"] == best) & predictions[self.main].notna()]
        worst = of_best.sort_values(self.main, ascending=self.higher, kind="stable").head(WORST)
        return [
            f"Worst predictions of {best!r}: {'; '.join(map(self.prediction, worst.itertuples()))}."
        ]

    def prediction(self, row: Any) -> str:
        """A row of `attrs["predictions"]` in words."""
        raise NotImplementedError

    def impossible(self, table: "pandas.DataFrame", ranked: list[str], event: str) -> list[str]:
        """A sentence about every model that predicted probability 0 for what was observed."""
        scores = table.attrs[self.units][ranked].dropna()
        zeros = {name: int(np.isinf(scores[name]).sum()) for name in ranked}
        return [
            f"{name!r} assigned probability 0 to {event.format(count=count, n=len(scores))}."
            for name, count in zeros.items()
            if count
        ]
