"""`Tree`, the class that users make: how closely options are related."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._labels import format_plural, index_labels, shorten, suggest
from thali._lazy_imports import load_method
from thali._object_descriptions import DescribedObject, Description
from thali.errors import ArgumentError, DataError

from . import newick
from .tree_nodes import (
    TreeNodes,
    check_leaf_names,
    compute_depths,
    normalize_tree,
    sort_leaves_first,
)
from .tree_parsing import build_group_nodes, read_newick, read_tree_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LENGTH_TOLERANCE = 1e-12  # lengths of equal trees may differ by this amount


class Tree(DescribedObject):
    r"""A rooted tree whose leaves are options, all at distance 1 from the root.

    Features spread down the tree: the root lacks every feature, a feature can arise along an edge
    of length t, and a node with a feature passes it on to all nodes below. Options that separate
    late, near the leaves, share most of their features.

    .. math:: P(0 \to 1 \text{ along an edge of length } t) = 1 - (1 - \pi)^t

    Make a tree with `from_groups`, `from_newick` or `star`; `plot` draws it.
    Nothing can be changed afterwards. Trees with the same leaves, inner nodes, names and lengths
    (within 1e-12) are equal, whatever the order of their leaves.

    Attributes
    ----------
    labels : tuple of str
        The leaves.
    parents : int64 array, shape (nodes,)
        The node above each: the leaves come first, in the order of `labels`, every node before its
        parent, and last the root, whose parent is -1.
    lengths : float64 array, shape (nodes,)
        Length of the edge above each node, 0 or more; 0 for the root.
    names : tuple of str
        Names of all nodes; "" where an inner node has none.

    References
    ----------
    Miller, Griffiths & Jordan (2008), The phylogenetic Indian buffet process, section 2.

    Examples
    --------
    >>> tree = Tree.from_groups(
    ...     {"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}, leaf_length=0.25
    ... )
    >>> tree
    Tree(4 leaves, 2 clades, total length 2.5)
    >>> print(tree)
    ((tea:0.25,coffee:0.25)hot:0.75,(milk:0.25,juice:0.25)cold:0.75);
    >>> tree.parents
    array([ 4,  4,  5,  5,  6,  6, -1])
    """

    labels: tuple[str, ...]
    parents: np.ndarray
    lengths: np.ndarray
    names: tuple[str, ...]

    def __init__(self) -> None:
        raise TypeError(
            "Tree cannot be constructed directly; use Tree.from_groups, Tree.from_newick or"
            " Tree.star."
        )

    @classmethod
    def from_groups(cls, groups: Mapping[Any, Iterable[Any]], leaf_length: float = 0.1) -> "Tree":
        """Build a tree of two levels: groups, and below each its members.

        Parameters
        ----------
        groups : mapping from group to its members
            Every option in one group.
        leaf_length : float in (0, 1]
            Length of the edges above the members: near 0 the members of a group share nearly all
            features, at 1 the groups mean nothing and the tree is as good as a star.

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            If a group is empty or not a list, an option has no name or occurs twice, or there are
            fewer than two.
        ArgumentError
            If `leaf_length` is outside its range.

        Examples
        --------
        >>> Tree.from_groups(
        ...     {"hot": ["tea", "coffee"], "cold": ["milk"]}, leaf_length=0.25
        ... ).to_newick()
        '((tea:0.25,coffee:0.25)hot:0.75,milk:1.0);'
        """
        return build_frozen_tree(*normalize_tree(build_group_nodes(groups, leaf_length)))

    @classmethod
    def from_newick(cls, text: str | Path, rescale: str | None = None) -> "Tree":
        """Read a tree from Newick text, or from a file.

        Lengths are divided by the common depth of the leaves. The length above the root is ignored.

        Parameters
        ----------
        text : str or pathlib.Path
            The text itself; a Path is a file that holds it, in UTF-8.
        rescale : {None, "extend"}
            "extend": where leaves are not equally deep (within a millionth), lengthen the edges
            above the shallower.

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            At a syntax error, a leaf without a name, or a length that is missing, negative or not
            finite, with the position; if leaves are fewer than two, have the same name, or are not
            equally deep; if there is no such file.
        ArgumentError
            If `rescale` is unknown.

        Examples
        --------
        >>> Tree.from_newick("((tea:1,coffee:1)hot:2,milk:3);").lengths.round(3)
        array([0.333, 0.333, 1.   , 0.667, 0.   ])
        """
        if rescale not in (None, "extend"):
            raise ArgumentError(f"`rescale` must be None or 'extend'; got {rescale!r}.")
        if isinstance(text, Path):
            file_text = read_tree_text(text)
            try:
                return cls.from_newick(file_text, rescale)
            except DataError as error:
                raise DataError(f"{text.name}: ", error) from None
        return build_frozen_tree(*normalize_tree(read_newick(text), rescale))

    @classmethod
    def star(cls, labels: Iterable[Any]) -> "Tree":
        """Build the tree in which all options are unrelated.

        All edges start at the root; as a prior it is the Indian buffet process.

        Parameters
        ----------
        labels : sequence of str

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            If labels are empty, not distinct, or fewer than two.

        Examples
        --------
        >>> Tree.star(["tea", "coffee", "milk"]).to_newick()
        '(tea:1.0,coffee:1.0,milk:1.0);'
        """
        nodes = TreeNodes([], [], [])
        leaves = [nodes.add(name, 1.0) for name in check_leaf_names(labels)]
        nodes.add("", 0.0, leaves)
        return build_frozen_tree(*normalize_tree(nodes))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels)

    @property
    def total_length(self) -> float:
        """Sum of the lengths of all edges.

        It is 1 if options share everything, and the number of options for a star.
        """
        return float(self.lengths.sum())

    @property
    def depths(self) -> np.ndarray:
        """Distance of each node from the root, shape (nodes,): 1 for the leaves."""
        return np.array(compute_depths(self.parents.tolist(), self.lengths.tolist()))

    def clades(self) -> dict[frozenset[str], str]:
        """Return the sets of options below each inner node but the root.

        The values are the names of these nodes.

        Returns
        -------
        dict from frozenset of str to str
            "" for a node without a name.

        Examples
        --------
        >>> tree = Tree.from_newick("((tea:1,coffee:1)hot:2,milk:3);")
        >>> [(sorted(members), name) for members, name in tree.clades().items()]
        [(['coffee', 'tea'], 'hot')]
        """
        node_members: list[set[str]] = [{label} for label in self.labels]
        node_members += [set() for _ in range(len(self.parents) - self.n_leaves)]
        for node, parent in enumerate(self.parents[:-1]):
            node_members[parent] |= node_members[node]
        inner_nodes = range(self.n_leaves, len(self.parents) - 1)
        return {frozenset(node_members[node]): self.names[node] for node in inner_nodes}

    def for_labels(self, labels: Iterable[Any]) -> "Tree":
        """Return the tree with its leaves in this order, such as the order of data.

        Parameters
        ----------
        labels : sequence of str
            Every leaf once.

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            If an option is not a leaf or a leaf is not an option, with the names of both.

        Examples
        --------
        >>> tree = Tree.from_newick("((tea:1,coffee:1)hot:2,milk:3);")
        >>> tree.for_labels(["milk", "coffee", "tea"]).parents
        array([ 4,  3,  3,  4, -1])
        """
        options = check_leaf_names(labels, "The options")
        if options == self.labels:
            return self
        if mismatch := _describe_mismatch(options, self.labels):
            raise DataError(f"The leaves of the tree must match the options by name; {mismatch}.")
        leaf_indices = index_labels(self.labels)
        node_order = [leaf_indices[label] for label in options] + list(
            range(self.n_leaves, len(self.parents))
        )
        node_names = [self.names[node] for node in node_order]
        # parents are inner nodes, which have not moved yet
        return build_frozen_tree(
            options,
            sort_leaves_first(
                TreeNodes(
                    node_names, self.lengths[node_order].tolist(), self.parents[node_order].tolist()
                )
            ),
        )

    def to_newick(self) -> str:
        """Format the tree as Newick text, with lengths in full precision.

        `from_newick` reads it back as an equal tree.

        Returns
        -------
        str
        """
        return newick.format_newick(self._list_nodes())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the tree; see `thali.plots.tree`.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib axes
        """
        return load_method("Tree.plot")(self, ax)

    def __str__(self) -> str:
        return self.to_newick()

    def __repr__(self) -> str:
        clades = format_plural(len(self.parents) - self.n_leaves - 1, "clade")
        return f"Tree({self.n_leaves:,} leaves, {clades}, total length {self.total_length:.4g})"

    def _description(self) -> Description:
        return Description(repr(self), text=str(self))

    def __eq__(self, other: object) -> bool:
        """Return whether nodes and edge lengths agree, in any order of the labels."""
        if not isinstance(other, Tree):
            return NotImplemented
        if len(self.names) != len(other.names) or set(self.labels) != set(other.labels):
            return False
        other = other.for_labels(self.labels)
        return (
            self.names == other.names
            and np.array_equal(self.parents, other.parents)
            and bool(np.abs(self.lengths - other.lengths).max() <= LENGTH_TOLERANCE)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError("A Tree cannot be changed; make a new one.")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name)

    def __reduce__(self) -> Any:
        # NumPy does not pickle the read-only flag, so the copy is frozen again.
        return build_frozen_tree, (self.labels, self._list_nodes())

    def _list_nodes(self) -> TreeNodes:
        """Return the tree's names, lengths and parents as `TreeNodes`."""
        return TreeNodes(list(self.names), self.lengths.tolist(), self.parents.tolist())


def build_frozen_tree(labels: tuple[str, ...], nodes: TreeNodes) -> Tree:
    """Return a read-only `Tree` of normalised nodes."""
    tree = object.__new__(Tree)
    parents = np.array(nodes.parents, dtype=np.int64)
    lengths = np.array(nodes.lengths, dtype=np.float64)
    for array in (parents, lengths):
        array.flags.writeable = False
    for field, field_value in (
        ("labels", labels),
        ("parents", parents),
        ("lengths", lengths),
        ("names", tuple(nodes.names)),
    ):
        object.__setattr__(tree, field, field_value)
    return tree


def _describe_mismatch(options: tuple[str, ...], leaves: tuple[str, ...]) -> str:
    """Return words on options without a leaf and leaves without an option."""
    # Names that were perhaps meant are suggested.
    leaf_set = set(leaves)
    option_set = set(options)
    options_without_leaf = [option for option in options if option not in leaf_set]
    unused_leaves = [leaf for leaf in leaves if leaf not in option_set]
    mismatches = []
    if options_without_leaf:
        quoted_options = []
        for option in options_without_leaf[:5]:
            quoted_option = repr(option)
            if suggestion := suggest(option, unused_leaves).strip():
                quoted_option += f" ({suggestion})"
            quoted_options.append(quoted_option)
        remainder = ""
        if len(options_without_leaf) > 5:
            remainder = f" and {len(options_without_leaf) - 5:,} more"
        mismatches.append(f"options without a leaf: {', '.join(quoted_options)}{remainder}")
    if unused_leaves:
        mismatches.append(f"leaves without an option: {shorten(unused_leaves, 5)}")
    return "; ".join(mismatches)
