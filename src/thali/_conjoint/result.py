"""`ConjointResult`, what `thali.amce` and `thali.marginal_means` return."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thali._printed_result import PrintedResult, printed_dataclass

if TYPE_CHECKING:
    import pandas



@printed_dataclass
class ConjointResult(PrintedResult):
    """Effects of the attributes of a conjoint experiment; it prints as `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per level (and group): `attribute`, `level`, `group`, `baseline` (effects only),
        `estimate` with its interval `low` to `high`, `std_error`, `df` and `p_value`.
    """

    marginal_means: "pandas.DataFrame"
    mean_differences: "pandas.DataFrame | None"
    reliability: "pandas.DataFrame | None"
    ci: float
    settings: Mapping[str, Any]
    effect_differences: "pandas.DataFrame | None" = None
    joint_test: "pandas.DataFrame | None" = None
    checks: "pandas.DataFrame | None" = None
