"""Trees as users give them (groups, Newick), checked and converted to nodes."""

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from thali._argument_checks import is_list
from thali._input_files import Source, read_source
from thali._labels import format_label
from thali.errors import Argument, ArgumentError, DataError

from . import newick
from .tree_nodes import TreeNodes, check_leaf_names


def build_group_nodes(groups: Any, leaf_length: float) -> TreeNodes:
    """Return the nodes of a two-level tree: groups and their members."""
    if (
        isinstance(leaf_length, bool)
        or not isinstance(leaf_length, Real)
        or not 0.0 < float(leaf_length) <= 1.0
    ):
        raise ArgumentError(
            Argument("leaf_length"), f" must be a number in (0, 1]; got {leaf_length!r}."
        )
    nodes = TreeNodes([], [], [])
    length = float(leaf_length)
    below_root = []
    for group, members in _check_groups(groups):
        leaves = [nodes.add(member, length) for member in members]
        below_root.append(nodes.add(group, 1.0 - length, leaves))
    nodes.add("", 0.0, below_root)
    return nodes


def _check_groups(groups: Any) -> list[tuple[str, list[str]]]:
    """Return (group, members) pairs; raise for repeated or empty names."""
    # Raise if an option has no name or belongs to two groups.
    if not isinstance(groups, Mapping):
        raise DataError(
            "`groups` must map each group to a list of its members, such as {'hot': ['tea',"
            f" 'coffee']}}; got {type(groups).__name__}."
        )
    parsed_groups: list[tuple[str, list[str]]] = []
    group_of_member: dict[str, int] = {}
    for group_index, (key, group_members) in enumerate(groups.items()):
        group = format_label(key)
        if not is_list(group_members):
            raise DataError(
                f"Group {group!r} must be a list of its members, such as ['tea', 'coffee']; got"
                f" {group_members!r}."
            )
        members = [format_label(member) for member in group_members]
        if not members:
            raise DataError(f"Group {group!r} has no members; add some, or remove the group.")
        for member_index, member in enumerate(members):
            if not member:
                raise DataError(
                    f"Member {member_index + 1} of group {group!r} has no name; name or remove this"
                    " member."
                )
            if group_of_member.get(member) == group_index:
                raise DataError(
                    f"{member!r} is listed twice in group {group!r}; list every option once."
                )
            if member in group_of_member:
                other_group = parsed_groups[group_of_member[member]][0]
                raise DataError(
                    f"{member!r} is in two groups, {other_group!r} and {group!r}; remove it from"
                    " one of them."
                )
            group_of_member[member] = group_index
        parsed_groups.append((group, members))
    check_leaf_names(group_of_member)
    return parsed_groups


def read_newick(text: Any) -> TreeNodes:
    """Return the nodes of Newick text; raise for a file name or another type."""
    if not isinstance(text, str):
        raise DataError(
            f"`text` must be Newick text, or a pathlib.Path of a file; got {type(text).__name__}."
        )
    if text.strip() and "(" not in text:
        raise DataError(
            f"Newick text looks like '((a:0.1,b:0.1):0.9,c:1);'; got {text.strip()[:40]!r}. To"
            " read a file, pass a pathlib.Path."
        )
    return newick.parse_newick(text)


def read_tree_text(path: str | Path | Source) -> str:
    """Return the text of a UTF-8 file."""
    file_name, file_bytes = read_source(path)
    try:
        return file_bytes.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            f"{file_name}: This is not UTF-8 text; save the tree as Newick text."
        ) from None
