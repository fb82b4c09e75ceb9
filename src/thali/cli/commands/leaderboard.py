"""`thali leaderboard`: rank options by comparisons of two."""

from pathlib import Path
from typing import Any

from thali._labels import shorten
from thali.surfaces.aligned import align

from ..boundary import notify
from ..files import check_folder, write_all, write_pictures
from ..loading import load_pairs
from ..options import LEADERBOARD
from ..values import value_of

MOST = 30  # rows that are printed


def run_leaderboard(data_name: str, typed: dict[str, Any], out: Path | None) -> None:
    """Print the leaderboard of a file, and write it with its picture.

    Parameters
    ----------
    data_name : str
        A bundled data set or a file.
    typed : dict
        The options that were typed, by their words.
    out : Path or None
        Folder for leaderboard.csv, .json and .png.

    Raises
    ------
    ThaliError
        If the data, a name or an argument cannot be used; nothing has been written then.
    """
    from thali.paired.leaderboard import as_csv, as_json, leaderboard_of

    wanted = {each.name: value_of(each, typed[each.word]) for each in LEADERBOARD if each.word in typed}
    how = {"ties": "davidson", "method": "laplace", "random_seed": 0}
    how |= {name: wanted.pop(name) for name in how if name in wanted}
    if out is not None:
        check_folder(out)
    data, recognised = _read(data_name, wanted)
    notify(f"{data_name}: {recognised}")
    board = leaderboard_of(data, **how, progressbar=True)
    text = "\n\n".join([board.title, _table(board), *_groups(board), board.note])
    try:
        if out is not None:
            write_all(out, {"leaderboard.csv": as_csv(board), "leaderboard.json": as_json(board)})
            drawn = write_pictures(out, {"leaderboard": lambda plots: plots.leaderboard(board)})
            notify(f"wrote the table{' and the picture' * bool(drawn)} to {out}.")
    finally:  # a full disk must not cost the answer
        print(text)


def _read(data_name: str, wanted: dict[str, Any]) -> tuple[Any, str]:
    """The comparisons of that name; those of a large file in batches."""
    from thali import datasets
    from thali.reading.counting import is_large, read_counts

    if data_name not in {record.name for record in datasets.catalogue()} and is_large(data_name):
        return read_counts(data_name, True, **wanted)
    return load_pairs(data_name, wanted)


def _table(board: Any) -> str:
    rows = [("rank", "89% interval", "group", "rating", "89% interval", "comparisons", "option")]
    for option, row in board.table.head(MOST).iterrows():
        rows.append(
            (
                str(row["rank"]),
                f"{row.rank_low} to {row.rank_high}",
                row["group"],
                f"{row.rating:.0f}",
                f"{row.rating_low:.0f} to {row.rating_high:.0f}",
                f"{row.comparisons:,}",
                str(option),
            )
        )
    more = len(board.table) - MOST
    return align(rows, left={2, 6}) + (f"\n... and {more:,} more; --out DIR writes all" if more > 0 else "")


def _groups(board: Any) -> list[str]:
    """The groups of several options, one a line."""
    several = [(k, members) for k, members in enumerate(board.groups, start=1) if len(members) > 1]
    lines = [f"  {k}: {shorten(members, 8)}" for k, members in several[:MOST]]
    more = [f"  ... and {len(several) - MOST:,} more"] if len(several) > MOST else []
    return ["\n".join(["Groups that cannot be told apart", *lines, *more])] if lines else []
