"""The columns of the tables of findings: how each is headed, its unit, and which column holds its error."""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas

_ENDS = {"_lb": "_low", "_ub": "_high"}
_ARVIZ = re.compile(r"^eti\d+(_lb|_ub)$")


class Column(NamedTuple):
    """What there is to know of a column."""

    heading: str = ""  # "": its name
    unit: str = ""
    error: str = ""  # the column of its standard or Monte Carlo error


PROBABILITY, WEIGHT, UTILITY = "probability", "of the total weight, or relative weight", "utility"
COLUMNS = {
    "mean": Column(error="mcse_mean"),
    "probability": Column(unit=PROBABILITY, error="mcse"),
    "mcse": Column("MC error"),
    "mcse_mean": Column("MC error"),
    "ess_bulk": Column("ess_bulk", "draws"),
    "ess_tail": Column("ess_tail", "draws"),
    "r_hat": Column("r_hat"),
    "weight": Column(unit="weight"),
    "share": Column(unit="share", error="se"),
    "rank": Column(unit="rank, 1 the best"),
    "p_1": Column("P(best)", PROBABILITY),
    "above_0": Column("P(> 0)", PROBABILITY),
    "odds": Column(unit="factor of the odds"),
    "observed": Column(unit="proportion or similarity"),
    "predicted": Column(unit="as observed"),
    "p_value": Column("p", PROBABILITY),
    "utility": Column(unit="utility", error="std_error"),
    "estimate": Column(error="std_error"),
    "std_error": Column("std. error"),
    "se": Column("std. error"),
    "effect": Column("preferred", PROBABILITY),
    "importance": Column("part of choices", "share", "se"),
    "range_share": Column("part of ranges", "share"),
    "wtp": Column("amount", "units of the price", "wtp_se"),
    "wtp_se": Column("std. error", "units of the price"),
    "share_se": Column("std. error", "share"),
}


def described(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table of a finding: intervals named `low` and `high`, and units and errors in `attrs["columns"]`."""
    renamed = table.rename(columns={name: _plain_end(name) for name in table.columns if isinstance(name, str)})
    names = [str(name) for name in renamed.columns]
    known = {name: COLUMNS[name] for name in names if name in COLUMNS}
    renamed.attrs = table.attrs | {
        "columns": {
            name: {"unit": column.unit, "error": column.error if column.error in names else ""}
            for name, column in known.items()
        }
    }
    return renamed


def _plain_end(name: str) -> str:
    """An end of an interval as findings call it: ArviZ calls it after the probability."""
    if found := _ARVIZ.match(name):
        return _ENDS[found[1]].removeprefix("_")
    return name


def heading(name: str) -> str:
    """How a column is headed."""
    known = COLUMNS.get(name)
    return known.heading if known is not None and known.heading else name.replace("_", " ")
