"""Which columns of a table hold rankings: a column a rank, a column an option, or a row for each option of a "
"ranking."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import as_label, shorten
from thali.errors import Argument, DataError

from ..columns import column
from ..roles import COUNT, OPTION, RANK, RESPONDENT, TASK, by_plain_name, plain

if TYPE_CHECKING:
    import pandas as pd

RANKS, OPTIONS, LONG = "ranks", "options", "long"
SHAPES = (RANKS, OPTIONS, LONG)
_GROUP = TASK.but(vague=f"{TASK.vague} race event ranker list")
_STEMS = {*RANK.sure, "choice", "pref", "preference", "top", "wahl", "choix", "favourite", "favorite"}
_ORDINALS = tuple(
    tuple(map(plain, text.split()))
    for text in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "best secondbest thirdbest fourthbest",
        " ".join(["1st", "2nd", "3rd", *(f"{k}th" for k in range(4, 100))]),
        "erste zweite dritte vierte fünfte sechste",
        "premier deuxième troisième quatrième cinquième",
        "primero segundo tercero cuarto quinto",
    )
)
_NUMBERED = re.compile(r"([^\d]*)(\d{1,9})")
_MAX_COLUMNS = 60  # columns among which those that hold ranks are looked for


class RankingColumns(NamedTuple):
    """The columns of rankings."""

    shape: str  # RANKS: a column a rank, which holds an option; OPTIONS: a column an option; LONG: a row an option
    columns: tuple[str, ...]  # of ranks or options; of a long table those of the option and of the rank
    subject: str | None
    group: str | None  # which ranking a row of a long table belongs to
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.columns, self.subject, self.group, self.count}


def ranking_columns(frame: "pd.DataFrame", given: Mapping[str, str | None]) -> RankingColumns | None:
    """The columns of rankings by their names, or by what they hold; None if there are none.

    `given`: the names known of option, rank, subject and count.
    """
    names = [str(name) for name in frame.columns]
    own = by_plain_name(names)
    subject = given.get("subject") or RESPONDENT.among(own)
    count = given.get("count") or COUNT.among(own)
    rest = [name for name in names if name not in (subject, count)]
    rank = given.get("rank") or next(
        (own[n] for n in own if n in RANK.sure or (n.endswith("rank") and own[n] in rest)), None
    )
    option = given.get("option") or OPTION.among(own)
    if rank is not None and option is not None:
        group = _GROUP.among(own, (rank, option, subject))
        return RankingColumns(LONG, (option, rank), subject, group, count)
    if columns := _by_rank(rest):
        return RankingColumns(RANKS, tuple(columns), subject, None, count)
    if columns := _of_options(frame, rest):
        return RankingColumns(OPTIONS, tuple(columns), subject, None, count)
    return None


def the_ranking_columns(frame: "pd.DataFrame", layout: str | None, given: Mapping[str, str | None]) -> RankingColumns:
    """The columns of rankings, in that layout if one is named."""
    for name in given.values():
        if name is not None:
            column(frame, name)
    found = ranking_columns(frame, given)
    if layout in (RANKS, OPTIONS) and (found is None or found.shape != layout):
        taken = {name for name in given.values() if name is not None}
        columns = tuple(str(name) for name in frame.columns if name not in taken)
        found = RankingColumns(layout, columns, given.get("subject"), None, given.get("count"))
    if found is None or layout not in (None, found.shape):
        raise DataError(
            f"The columns {shorten([str(name) for name in frame.columns], 12)} hold no rankings: neither a column a "
            "rank (rank1, rank2 or 1st, 2nd) nor a column an option with its rank, nor an option and a rank; name "
            "the last two by ",
            Argument("option"),
            " and ",
            Argument("rank"),
            ".",
        )
    return found


def _by_rank(names: list[str]) -> list[str]:
    """Columns called rank1, rank2, ...; 1st, 2nd, ...; first choice, second choice, ...; "1", "2", ... are no names."""
    stems: dict[str, list[str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(plain(name))
        if found and found[1] in _STEMS and int(found[2]) == len(stems.setdefault(found[1], [])) + 1:
            stems[found[1]].append(name)
    own = by_plain_name(names)
    for ordinals in _ORDINALS:
        for ending in ("", "choice", "place", "rank", "preference", "wahl", "choix"):
            listed = []
            for word in ordinals:
                if word + ending not in own:
                    break
                listed.append(own[word + ending])
            stems[f"{ordinals[0]} {ending}"] = listed
    longest = max(stems.values(), key=len, default=[])
    return longest if len(longest) > 1 and not (len(longest) == 2 and plain(longest[0]) in ("first", "best")) else []


def _of_options(frame: "pd.DataFrame", names: list[str]) -> list[str]:
    """The longest run of columns in whose rows stand the ranks 1, 2, ..., if that is so in most rows."""
    import pandas as pd

    names = [name for name in names if pd.api.types.is_numeric_dtype(frame[name].dtype)][:_MAX_COLUMNS]
    if len(names) < 3 or not len(frame):
        return []
    ranks = np.nan_to_num(frame[names].to_numpy(dtype=float))
    for width in range(len(names), 2, -1):
        for start in range(len(names) - width + 1):
            part = ranks[:, start : start + width]
            if part.max() <= width and part.min() >= 0 and is_ranking(part).mean() > 0.5:
                return names[start : start + width]
    return []


def is_ranking(ranks: np.ndarray) -> np.ndarray:
    """Whether each row holds the ranks 1, 2, ..., m of some options and 0 for the others, with m at least 2."""
    ordered = np.sort(ranks, axis=1)
    ranked = (ranks > 0).sum(axis=1)
    expected = np.arange(1, ranks.shape[1] + 1) - (ranks.shape[1] - ranked)[:, None]
    return (np.where(expected > 0, expected, 0) == ordered).all(axis=1) & (ranked > 1)


def shown(columns: RankingColumns) -> str:
    """The columns in words."""
    first, last = columns.columns[0], columns.columns[-1]
    if columns.shape == LONG:
        return f"one option of a ranking a row, {first!r} at {last!r}"
    what = "one column a rank" if columns.shape == RANKS else "one column an option, which holds its rank"
    return f"one ranking a row, {what}, {first!r} to {last!r}"


def ranked_labels(frame: "pd.DataFrame", columns: tuple[str, ...]) -> list[list[str]]:
    """The texts of these columns, by column."""
    return [[as_label(value) for value in frame[name]] for name in columns]
