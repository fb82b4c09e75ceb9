"""What a user has of a tree, checked and turned into nodes."""

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from thali._arguments import is_list
from thali._labels import as_label
from thali._source import Source, read_source
from thali.errors import Argument, ArgumentError, DataError

from . import newick
from .nodes import ROUNDING, Nodes, leaf_names


def of_groups(groups: Any, leaf_length: Any) -> Nodes:
    """Groups below the root, and below each its members."""
    if (
        isinstance(leaf_length, bool)
        or not isinstance(leaf_length, Real)
        or not 0.0 < float(leaf_length) <= 1.0
    ):
        raise ArgumentError(
            Argument("leaf_length"), f" must be a number in (0, 1]; got {leaf_length!r}."
        )
    nodes, length = Nodes([], [], []), float(leaf_length)
    below_root = []
    for group, members in _members(groups):
        leaves = [nodes.add(member, length) for member in members]
        below_root.append(nodes.add(group, 1.0 - length, leaves))
    nodes.add("", 0.0, below_root)
    return nodes


def _members(groups: Any) -> list[tuple[str, list[str]]]:
    """Groups and their members, after checking that every option has a name and is in one group."""
    if not isinstance(groups, Mapping):
        raise DataError(
            "`groups` must map each group to a list of its members, such as {'hot': ['tea',"
            f" 'coffee']}}; got {type(groups).__name__}."
        )
    found: list[tuple[str, list[str]]] = []
    home: dict[str, int] = {}
    for number, (key, given) in enumerate(groups.items()):
        group = as_label(key)
        if not is_list(given):
            raise DataError(
                f"Group {group!r} must be a list of its members, such as ['tea', 'coffee']; got"
                f" {given!r}."
            )
        members = [as_label(member) for member in given]
        if not members:
            raise DataError(f"Group {group!r} has no members; add some, or remove the group.")
        for place, member in enumerate(members):
            if not member:
                raise DataError(
                    f"Member {place + 1} of group {group!r} has no name; name or remove this"
                    " member."
                )
            if home.get(member) == number:
                raise DataError(
                    f"{member!r} is listed twice in group {group!r}; list every option once."
                )
            if member in home:
                raise DataError(
                    f"{member!r} is in two groups, {found[home[member]][0]!r} and {group!r};"
                    " remove it from one of them."
                )
            home[member] = number
        found.append((group, members))
    leaf_names(home)
    return found


def of_newick(text: Any) -> Nodes:
    """What a Newick text describes."""
    if not isinstance(text, str):
        raise DataError(
            f"`text` must be Newick text, or a pathlib.Path of a file; got {type(text).__name__}."
        )
    if text.strip() and "(" not in text:
        raise DataError(
            f"Newick text looks like '((a:0.1,b:0.1):0.9,c:1);'; got {text.strip()[:40]!r}. For a"
            " file name, pass a pathlib.Path."
        )
    return newick.parse(text)


def content_of(path: str | Path | Source) -> str:
    """The text in a file."""
    name, content = read_source(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{name}: This is not UTF-8 text; save the tree as Newick text.") from None


def of_linkage(linkage: Any, labels: Any) -> Nodes:
    """The dendrogram of a hierarchical clustering: an edge is as long as the heights at its ends
    differ."""
    names = leaf_names(labels)
    nodes, heights = Nodes([], [], []), [0.0] * len(names)
    for name in names:
        nodes.add(name, 0.0)
    for row, (left, right, height) in enumerate(_rows(linkage, len(names))):
        joined: list[int] = []
        for cluster in (left, right):
            child = int(cluster)
            if (
                child != cluster
                or child in joined
                or not 0 <= child < len(heights)
                or nodes.parents[child] >= 0
            ):
                raise DataError(
                    f"Row {row} of the linkage joins cluster {cluster:g}, which does not exist or"
                    " was joined before; check the linkage."
                )
            joined.append(child)
        inside = max(heights[child] for child in joined)
        if height < inside * (1.0 - ROUNDING):
            raise DataError(
                f"Row {row} of the linkage has height {height:g}, below the height {inside:g} of a"
                " cluster inside it; use a method without inversions, such as 'average'."
            )
        heights.append(max(height, inside))
        for child in joined:
            nodes.lengths[child] = heights[-1] - heights[child]
        nodes.add("", 0.0, joined)
    return nodes


def _rows(linkage: Any, n: int) -> list[tuple[float, float, float]]:
    """What each row of a linkage joins, and at which height."""
    try:
        rows = np.asarray(linkage, dtype=float)
    except (TypeError, ValueError):
        raise DataError(
            f"`linkage` must be an array of numbers; got {type(linkage).__name__}."
        ) from None
    if rows.shape != (n - 1, 4):
        raise DataError(
            f"The linkage of {n} labels must have shape {(n - 1, 4)}, as returned by"
            f" scipy.cluster.hierarchy.linkage; got {rows.shape}."
        )
    rows = rows[:, :3]
    wrong = ~np.isfinite(rows).all(axis=1) | (rows[:, 2] < 0.0)
    if wrong.any():
        row = int(wrong.argmax())
        left, right, height = rows[row]
        raise DataError(
            f"Row {row} of the linkage joins {left:g} and {right:g} at height {height:g}; clusters"
            " and heights must be finite numbers >= 0."
        )
    return [(left, right, height) for left, right, height in rows.tolist()]
