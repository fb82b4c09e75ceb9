"""Trees over options: which of them are related, and how closely."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._described import Described, Description
from thali._labels import plural, positions, shorten, suggest
from thali._late import carried_out_by
from thali.errors import ArgumentError, DataError

from . import newick
from .nodes import Nodes, children, converged, depths, leaf_names, numbered, postorder
from .sources import content_of, of_groups, of_linkage, of_newick

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A tree drawn in plain characters -----------------------------------------------------------------


WIDTH = 50  # characters from the root to the leaves


def drawing(tree: Nodes) -> str:
    """The tree, root at the left, one line a leaf, edges to scale, with the names of inner nodes
    where they fit."""
    below = children(tree.parents)
    order = postorder(below)
    column = np.rint(np.array(depths(tree.parents, tree.lengths)) * WIDTH).astype(int)
    leaves = [node for node in order if not below[node]]
    row = positions(leaves)
    for node in order:
        if below[node]:
            row[node] = row[below[node][0]]

    lines = np.full((len(leaves), WIDTH + 1), " ")
    goes_down = np.zeros(lines.shape, dtype=bool)
    branches = np.zeros(lines.shape, dtype=bool)
    for node, parent in enumerate(tree.parents[:-1]):
        edge = lines[row[node], column[parent] + 1 : column[node] + (not below[node])]
        edge[:] = "-"
        name = f" {' '.join(tree.names[node].split())} "
        if below[node] and len(name) > 2 and len(edge) >= len(name) + 2:
            edge[1 : len(name) + 1] = list(name)
        goes_down[row[parent] : row[node], column[parent]] = True
        branches[row[node], column[parent]] = True
    # Where a node lies in the column of its parent the two look like one, as they would in any
    # picture so coarse.
    comes_down = np.roll(goes_down, 1, axis=0)
    lines[goes_down] = "|"
    lines[branches] = "-"
    lines[branches & comes_down] = "`"
    lines[branches & goes_down] = "+"
    return "\n".join(
        f"{''.join(line)} {' '.join(tree.names[leaf].split())}"
        for line, leaf in zip(lines, leaves, strict=True)
    )


SAME_LENGTH = 1e-12  # lengths of equal trees may differ by so much


class Tree(Described):
    r"""A rooted tree whose leaves are options, all of them at distance 1 from the root.

    Features spread down the tree: the root lacks a feature, what lacks it comes to have it along an
    edge of length t, and what has it passes it on to all below. Options that part late, near the
    leaves, share most of their features.

    .. math:: P(0 \to 1 \text{ along an edge of length } t) = 1 - (1 - \pi)^t

    Make a tree with `from_groups`, `from_newick`, `from_linkage` or `star`; `print` draws it.
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
    +- hot -------------------------------+------------ tea
    |                                     `------------ coffee
    `- cold ------------------------------+------------ milk
                                          `------------ juice
    >>> tree.parents
    array([ 4,  4,  5,  5,  6,  6, -1])
    """

    labels: tuple[str, ...]
    parents: np.ndarray
    lengths: np.ndarray
    names: tuple[str, ...]

    def __init__(self) -> None:
        raise TypeError(
            "Tree cannot be constructed directly; use Tree.from_groups, Tree.from_newick,"
            " Tree.from_linkage or Tree.star."
        )

    @classmethod
    def from_groups(cls, groups: Mapping[Any, Iterable[Any]], leaf_length: float = 0.1) -> "Tree":
        """A tree of two levels: groups below the root, and below each its members.

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
        return frozen(*converged(of_groups(groups, leaf_length)))

    @classmethod
    def from_newick(cls, text: str | Path, rescale: str | None = None) -> "Tree":
        """A tree from Newick text, or from a file of it.

        Lengths are divided by the common depth of the leaves. The length above the root is left
        out.

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
            content = content_of(text)
            try:
                return cls.from_newick(content, rescale)
            except DataError as error:
                raise DataError(f"{text.name}: ", error) from None
        return frozen(*converged(of_newick(text), rescale))

    @classmethod
    def from_linkage(cls, linkage: Any, labels: Iterable[Any]) -> "Tree":
        """The dendrogram of a hierarchical clustering, its heights divided by that of the root.

        Parameters
        ----------
        linkage : array, shape (options - 1, 4)
            As `scipy.cluster.hierarchy.linkage` returns it.
        labels : sequence of str
            Names of the options, in the order of the clustered rows.

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            If the shape does not fit the labels, labels are empty or not distinct, a row joins what
            is not there, or its height is not finite, negative, or below that of a cluster inside
            it.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import linkage
        >>> Tree.from_linkage(
        ...     linkage([[0.0], [1.0], [5.0]], "complete"), ["tea", "coffee", "milk"]
        ... ).to_newick()
        '((tea:0.2,coffee:0.2):0.8,milk:1.0);'
        """
        return frozen(*converged(of_linkage(linkage, labels)))

    @classmethod
    def star(cls, labels: Iterable[Any]) -> "Tree":
        """The tree in which all options part at the root, unrelated; as a prior it is the Indian
        buffet process.

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
        nodes = Nodes([], [], [])
        leaves = [nodes.add(name, 1.0) for name in leaf_names(labels)]
        nodes.add("", 0.0, leaves)
        return frozen(*converged(nodes))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels)

    @property
    def total_length(self) -> float:
        """Sum of the lengths of all edges: 1 for options that share everything, their number for a
        star."""
        return float(self.lengths.sum())

    @property
    def depths(self) -> np.ndarray:
        """Distance of each node from the root, shape (nodes,): 1 for the leaves."""
        return np.array(depths(self.parents.tolist(), self.lengths.tolist()))

    def clades(self) -> dict[frozenset[str], str]:
        """The sets of options that have an inner node of their own, other than the root, and the
        names of these nodes.

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
        below: list[set[str]] = [{label} for label in self.labels]
        below += [set() for _ in range(len(self.parents) - self.n_leaves)]
        for node, parent in enumerate(self.parents[:-1]):
            below[parent] |= below[node]
        inner = range(self.n_leaves, len(self.parents) - 1)
        return {frozenset(below[node]): self.names[node] for node in inner}

    def for_labels(self, labels: Iterable[Any]) -> "Tree":
        """The same tree with its leaves in this order, such as that of some data.

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
        options = leaf_names(labels, "The options")
        if options == self.labels:
            return self
        if mismatch := _unmatched(options, self.labels):
            raise DataError(
                f"The leaves of the tree must have the names of the options; {mismatch}."
            )
        place = positions(self.labels)
        order = [place[label] for label in options] + list(range(self.n_leaves, len(self.parents)))
        names = [self.names[node] for node in order]
        # parents are inner nodes, which have not moved yet
        return frozen(
            options,
            numbered(Nodes(names, self.lengths[order].tolist(), self.parents[order].tolist())),
        )

    def to_newick(self) -> str:
        """The tree as Newick text, with lengths in full precision; `from_newick` reads it back as
        an equal tree.

        Returns
        -------
        str
        """
        return newick.write(self._nodes())

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
        return carried_out_by("Tree.plot")(self, ax)

    def __str__(self) -> str:
        return drawing(self._nodes())

    def __repr__(self) -> str:
        clades = plural(len(self.parents) - self.n_leaves - 1, "clade")
        return f"Tree({self.n_leaves:,} leaves, {clades}, total length {self.total_length:.4g})"

    def _description(self) -> Description:
        return Description(repr(self), text=str(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if len(self.names) != len(other.names) or set(self.labels) != set(other.labels):
            return False
        other = other.for_labels(self.labels)
        return (
            self.names == other.names
            and np.array_equal(self.parents, other.parents)
            and bool(np.abs(self.lengths - other.lengths).max() <= SAME_LENGTH)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError("A Tree cannot be changed; make a new one.")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name)

    def __reduce__(self) -> Any:
        # NumPy does not pickle the read-only flag, so the copy is frozen again.
        return frozen, (self.labels, self._nodes())

    def _nodes(self) -> Nodes:
        return Nodes(list(self.names), self.lengths.tolist(), self.parents.tolist())


def frozen(labels: tuple[str, ...], nodes: Nodes) -> Tree:
    """The tree of nodes that are settled."""
    tree = object.__new__(Tree)
    parents, lengths = (
        np.array(nodes.parents, dtype=np.int64),
        np.array(nodes.lengths, dtype=np.float64),
    )
    for array in (parents, lengths):
        array.flags.writeable = False
    for name, value in (
        ("labels", labels),
        ("parents", parents),
        ("lengths", lengths),
        ("names", tuple(nodes.names)),
    ):
        object.__setattr__(tree, name, value)
    return tree


def _unmatched(options: tuple[str, ...], leaves: tuple[str, ...]) -> str:
    """Which options are not leaves, with the names that were perhaps meant, and which leaves are
    not options."""
    known, wanted = set(leaves), set(options)
    lacking = [option for option in options if option not in known]
    spare = [leaf for leaf in leaves if leaf not in wanted]
    mismatches = []
    if lacking:
        meant = [suggest(option, spare).strip() for option in lacking[:5]]
        named = [
            f"{option!r} ({near})" if near else repr(option)
            for option, near in zip(lacking, meant, strict=False)
        ]
        more = f" and {len(lacking) - 5:,} more" if len(lacking) > 5 else ""
        mismatches.append(f"options without a leaf: {', '.join(named)}{more}")
    if spare:
        mismatches.append(f"leaves without an option: {shorten(spare, 5)}")
    return "; ".join(mismatches)
