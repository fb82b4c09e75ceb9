"""What a table says of the people who answered: the columns that are constant within each of them."""

from typing import TYPE_CHECKING

import numpy as np

from thali._described import Facts

if TYPE_CHECKING:
    import pandas as pd


def people_table(
    frame: "pd.DataFrame", number: np.ndarray, names: tuple[str, ...], title: str = "subject"
) -> "pd.DataFrame | None":
    """A row a person, with the columns that are constant within each; None if there are none."""
    import pandas as pd

    first = np.zeros(len(names), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    constant = []
    for name in frame.columns:
        codes, _ = pd.factorize(frame[name])
        if np.array_equal(codes, codes[first][number]):
            constant.append(name)
    if not constant:
        return None
    return frame.loc[:, constant].iloc[first].set_axis(pd.Index(names, name=title))


def column_facts(people: "pd.DataFrame | None") -> Facts:
    """What a notebook shows of the columns that describe people."""
    return () if people is None else (("columns of people", tuple(map(str, people.columns))),)
