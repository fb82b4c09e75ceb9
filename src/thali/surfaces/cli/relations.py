"""The value of `--tree`: a table of options and their groups, or a tree in Newick format."""

from pathlib import Path
from typing import TYPE_CHECKING

from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from thali.trees.tree import Tree

LEAF_LENGTH = 0.1


def read_tree(path: Path, leaf_length: float | None) -> "Tree":
    """The tree that a file holds."""
    import thali
    from thali._source import read_source
    from thali.trees.sources import content_of

    source = read_source(path)
    if source.content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"(", b"[")):
        if leaf_length is not None:
            raise ArgumentError(f"{path}: a Newick tree has lengths of its own; give no leaf length with it.")
        try:
            return thali.Tree.from_newick(content_of(source))
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

    from thali._labels import as_label
    from thali.reading.table import read_table

    table = read_table(source)
    if table.shape[1] != 2:
        raise DataError(f"{path}: a tree of groups needs two columns, option and group; found {table.shape[1]}.")
    groups: dict[str, list[str]] = {}
    for row, (option, group) in enumerate(table.itertuples(index=False), start=1):
        if not as_label(option) or not as_label(group):
            raise DataError(
                f"{path}: row {row} below the header must name an option and a group; got {option!r} and {group!r}."
            )
        groups.setdefault(as_label(group), []).append(as_label(option))
    return thali.Tree.from_groups(groups, LEAF_LENGTH if leaf_length is None else leaf_length)
