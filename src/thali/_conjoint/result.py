"""`ConjointResult`, what `thali.amce` and `thali.marginal_means` return."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._inference.checksummed_files import atomic_write, is_intact
from thali._inference.replaced_files import check_replaced
from thali._labels import format_plural
from thali._printed_result import PrintedResult, printed_dataclass

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from thali._model.finding import Findings

PAPERS = ("hainmueller2014", "leeper2020", "clayton2023", "bell2002", "pustejovsky2018")


@printed_dataclass
class ConjointResult(PrintedResult):
    """Estimates from a conjoint experiment; it prints as `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        The effects (`thali.amce`) or the marginal means: one row per `attribute` and `level`, and
        per `group` where there are subgroups. `baseline` is the level to which effects compare;
        `estimate` has the interval `low` to `high`, the standard error `std_error` with `df`
        degrees of freedom, and the `p_value` of no effect. Marginal means have the number of
        `profiles` instead. With repeated tasks, `corrected` is the estimate without measurement
        error, with `corrected_low`, `corrected_high` and `corrected_se`. NaN: the data do not
        identify the estimate.
    marginal_means : pandas.DataFrame
        Mean outcome of the profiles with each level.
    effect_differences, mean_differences : pandas.DataFrame or None
        Differences of each `group` to the group `reference`; None without subgroups.
    joint_test : pandas.DataFrame or None
        F test that all effects are equal in all groups: `statistic`, `df`, `df_residual`,
        `p_value`; None without subgroups.
    reliability : pandas.DataFrame or None
        `reliability`, the share of `respondents` who chose the same profile twice; `tau`, the
        probability of a swapped answer, with its standard error `tau_se`. None without repeated
        tasks.
    checks : pandas.DataFrame or None
        One row per check of the design: `result` in words, `p_value`. None for marginal means.
    ci : float
        The probability of intervals.
    settings : mapping
        Settings, and the numbers of respondents, tasks and profiles.
    """

    marginal_means: "pandas.DataFrame"
    mean_differences: "pandas.DataFrame | None"
    reliability: "pandas.DataFrame | None"
    ci: float
    settings: Mapping[str, Any]
    effect_differences: "pandas.DataFrame | None" = None
    joint_test: "pandas.DataFrame | None" = None
    checks: "pandas.DataFrame | None" = None

    def __post_init__(self) -> None:
        """Store the interval probability in the attributes of the tables."""
        super().__post_init__()
        for table in (
            self.table,
            self.marginal_means,
            self.effect_differences,
            self.mean_differences,
        ):
            if table is not None:
                table.attrs["interval"] = self.ci

    @property
    def has_effects(self) -> bool:
        """Whether `table` contains effects, not marginal means."""
        return self.checks is not None

    @property
    def size(self) -> str:
        """Text with the numbers of respondents, tasks (if they had several) and profiles."""
        nouns = ["respondent", "task", "profile"]
        if self.settings["n_tasks"] == self.settings["n_respondents"]:
            nouns.remove("task")
        return ", ".join(format_plural(self.settings[f"n_{noun}s"], noun) for noun in nouns)

    def findings(self) -> "Findings":
        """Return the results as `Findings`: sentences, tables, pictures and checks.

        Returns
        -------
        Findings
        """
        from .findings import build_conjoint_findings

        return build_conjoint_findings(self)

    def plot(self, ax: "Axes | None" = None) -> Any:
        """Draw the estimates of `table` with their intervals; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib axes
        """
        return self.findings()[0].plot(ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a netCDF file, which `thali.load` reads.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        DataError
            If the file cannot be written, or exists and is not such a file.
        """
        from thali._model.model_files import encode_result

        check_replaced(Path(path), is_own=is_intact)
        atomic_write(Path(path), encode_result(self))
