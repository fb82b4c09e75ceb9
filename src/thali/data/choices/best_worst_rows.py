"""Rows of choices, among them those that say what was best and what was worst."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import plural, short_number, shorten
from thali.errors import DataError

from .long import Occasions

if TYPE_CHECKING:
    import pandas as pd

    from .choices import Choices


def rankings_of_answers(data: "Choices") -> Occasions:
    """The choices of which best and worst of two or three options consist: that of the best, and that of the rest."""
    if data.worst is None:
        raise DataError("These are not best-worst choices, but choices of one option; they need not be made rankings.")
    if (largest := int(data.sizes.max())) > 3:
        raise DataError(
            f"Best and worst of {largest} options do not say how the others rank; only those of two or three are "
            "rankings."
        )
    which = data.set_of[data.choice]
    row, place = places_of_rows(data)
    rest = (data.sizes[which] == 3)[row] & (place != data.choice[row])
    places = np.concatenate([place, place[rest]])
    rows = np.concatenate([row, row[rest]])
    occasion = np.concatenate([row, len(which) + np.unique(row[rest], return_inverse=True)[1]])
    best = np.concatenate([place == data.choice[row], (place != data.worst[row])[rest]])
    return Occasions(
        data.labels,
        occasion,
        data.members[places],
        best,
        np.ones(len(rows), bool),
        data.respondents,
        data.respondent[rows],
        data.times[rows],
        lambda _: "a ranking",
        data.people,
    )


def places_of_rows(data: "Choices") -> tuple[np.ndarray, np.ndarray]:
    """For each row all members of its set: the row, and the place in `members`."""
    which = data.set_of[data.choice]
    size = data.sizes[which]
    row = np.repeat(np.arange(which.size), size)
    return row, np.arange(row.size) - np.repeat(np.cumsum(size) - size, size) + data.start[which][row]


def long_table(data: "Choices") -> "pd.DataFrame":
    """A row for each member of the set of each row of the data."""
    import pandas as pd

    row, place = places_of_rows(data)
    whole = bool(np.all(data.times == np.floor(data.times)))
    chosen = (place == data.choice[row]).astype(np.int64)
    table = {
        "choice_id": row + 1,
        "alternative": pd.Categorical.from_codes(data.members[place], pd.Index(data.labels)),
        **({"chosen": chosen} if data.worst is None else {"best": chosen}),
        **({} if data.worst is None else {"worst": (place == data.worst[row]).astype(np.int64)}),
        "count": (data.times.astype(np.int64) if whole else data.times)[row],
    }
    if data.respondents:
        table["respondent"] = pd.Categorical.from_codes(data.respondent[row], pd.Index(data.respondents))
    return pd.DataFrame(table)


def example_of(data: "Choices") -> str:
    """The commonest best and worst in words."""
    assert data.worst is not None
    row = int(data.times.argmax())
    set_ = int(data.set_of[data.choice[row]])
    best, worst = (data.labels[data.members[place[row]]] for place in (data.choice, data.worst))
    same = (data.choice == data.choice[row]) & (data.worst == data.worst[row])
    total = data.counts[data.start[set_] : data.start[set_ + 1]].sum()
    said = plural(short_number(data.times[same].sum()), "time")
    return f"{best!r} best and {worst!r} worst out of {shorten(data.sets[set_])} {said} of {short_number(total):,}"
