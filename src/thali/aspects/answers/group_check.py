"""The posterior predictive check of several groups of people."""

import math
from typing import TYPE_CHECKING, Any

from thali.posterior.view import Posterior

from .group_tree import tree_of_group

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas
    import xarray


def group_check_table(
    tree: "xarray.DataTree", random_seed: Any, check: "Callable[..., pandas.DataFrame]"
) -> "pandas.DataFrame":
    """The checks of all groups with a first column `group`, the worst first.

    ``attrs["p_values"]`` has the overall p-value of each group, ``attrs["p_value"]`` the smallest times their number.
    """
    import pandas as pd

    from thali._tables import Table

    tables = {name: check(tree_of_group(tree, name), random_seed) for name in Posterior(tree).groups}
    joined = pd.concat([table.assign(group=name) for name, table in tables.items()])
    joined.insert(0, "group", joined.pop("group"))
    found = Table(joined.sort_values("p_value", kind="stable", ignore_index=True))
    first = next(iter(tables.values())).attrs
    p_values = {name: float(table.attrs["p_value"]) for name, table in tables.items()}
    known = [p for p in p_values.values() if not math.isnan(p)]
    found.attrs = first | {
        "p_value": min(1.0, len(known) * min(known)) if known else math.nan,
        "p_values": p_values,
        "expected_missed": sum(table.attrs["expected_missed"] for table in tables.values()),
    }
    return found
