"""`thali.Tree.search`: local moves on trees by their evidence.

Moves hold a tree as its clades and their depths: the sets of leaves with an inner node of their own below the root, and
the distance of that node from the root.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import whole
from thali._labels import plural
from thali._printed import Printed
from thali.aspects.likelihoods.additive import LEARNED
from thali.aspects.models.additive import AdditiveClustering, of_data
from thali.aspects.models.base import LatentFeatures
from thali.aspects.models.elimination import EliminationByAspects
from thali.aspects.populations.evidence import constant_of, run_ladders, task_of
from thali.aspects.populations.tree_draws import TreeDraws
from thali.aspects.priors.phylogenetic import PhylogeneticBuffet
from thali.data.groups import Groups
from thali.data.judged import Judged
from thali.errors import Argument, ArgumentError, ConvergenceWarning, DataError, InterruptedWarning
from thali.inference.chains import Run, checked_run
from thali.inference.progress import Progress
from thali.inference.seeds import root
from thali.inference.warn import warn, without_warnings
from thali.model.evidence import MIN_DRAWS, USUAL, EvidenceRun, checked_evidence_run, refuse_other_fit
from thali.posterior.evidence import MAX_DEVIATION, LogEvidence, chain_deviation, standard_error_of
from thali.trees.nodes import Nodes, converged
from thali.trees.tree import Tree, frozen

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


INTERCHANGE, REGRAFT, JOIN, COLLAPSE, LENGTH = "interchange", "regraft", "join", "collapse", "length"
MIN_SHARE = 1e-3  # share of the room between parent and nearest child that a node keeps from either when lengths change

Leaves = frozenset[int]
Clades = dict[Leaves, float]  # depths


class Neighbour(NamedTuple):
    """A tree one move away."""

    move: str
    tree: Tree


def neighbours(tree: Tree, step: float) -> list[Neighbour]:
    """All trees one move away from this one, each once; the names of clades that stay are kept.

    - interchange: a child of an inner node and a sibling of that node change places (nearest-neighbour interchange;
      of a binary rooted tree with n leaves there are 2 (n - 2))
    - join: two of three or more children of a node get a node of their own, halfway down to them
    - collapse: an inner node is taken out
    - regraft: a leaf or clade leaves its node and becomes a child of another one
    - length: an inner node, or all of them, move up or down, by `step` in the logit of their place between the node
      above and the nearest one below (of all nodes, between the root and the leaves)
    """
    clades = clades_of(tree)
    found: dict[object, Neighbour] = {}
    own = key_of(clades)
    for move, changed in _changes(clades, tree.n_leaves, step):
        key = key_of(changed)
        if key != own and key not in found:
            found[key] = Neighbour(move, tree_of(changed, tree))
    return list(found.values())


def clades_of(tree: Tree) -> Clades:
    """The clades of a tree and the depths of their nodes."""
    place = {label: number for number, label in enumerate(tree.labels)}
    depth = tree.depths[tree.n_leaves :].tolist()
    members = [frozenset(place[label] for label in clade) for clade in tree.clades()]
    return dict(zip(members, depth, strict=False))


def key_of(clades: Clades) -> frozenset[tuple[Leaves, float]]:
    """What is the same for equal trees."""
    return frozenset((clade, round(depth, 9)) for clade, depth in clades.items())


def tree_of(clades: Clades, like: Tree) -> Tree:
    """The tree of these clades, with the leaves of another tree, and its names of clades that both have."""
    named = like.clades()
    nodes = Nodes([], [], [])
    top = [nodes.add(label, 0.0) for label in like.labels]  # the highest node above each leaf so far
    depth = [1.0] * like.n_leaves
    for members in [*sorted(clades, key=lambda clade: (len(clade), sorted(clade))), None]:
        leaves = sorted(members) if members is not None else range(like.n_leaves)
        below = list(dict.fromkeys(top[leaf] for leaf in leaves))
        at = 0.0 if members is None else clades[members]
        for node in below:
            nodes.lengths[node] = max(0.0, depth[node] - at)
        name = "" if members is None else named.get(frozenset(like.labels[leaf] for leaf in leaves), "")
        above = nodes.add(name, 0.0, below)
        depth.append(at)
        for leaf in leaves:
            top[leaf] = above
    return frozen(*converged(nodes))


def _changes(clades: Clades, n: int, step: float) -> Iterator[tuple[str, Clades]]:
    """Moves, and the clades after each."""
    everything = frozenset(range(n))
    inner = sorted(clades, key=lambda clade: (len(clade), sorted(clade)))
    parts = [*(frozenset([leaf]) for leaf in range(n)), *inner]
    above = {part: min((c for c in inner if part < c), key=len, default=None) for part in parts}
    children = {node: [part for part in parts if above[part] == node] for node in [*inner, None]}

    def depth(part: Leaves | None) -> float:
        return 0.0 if part is None else clades[part] if len(part) > 1 else 1.0

    for node in inner:
        parent = above[node]
        for child in children[node]:
            for sibling in children[parent]:
                if sibling != node:
                    at = depth(node)
                    lower = at if at < depth(sibling) else 0.5 * (depth(parent) + depth(sibling))
                    others = {clade: d for clade, d in clades.items() if clade != node}
                    yield INTERCHANGE, others | {(node - child) | sibling: lower}
    for node in [*inner, None]:
        if len(children[node]) > 2:
            for first, one in enumerate(children[node]):
                for other in children[node][:first]:
                    yield JOIN, clades | {one | other: 0.5 * (depth(node) + min(depth(one), depth(other)))}
    for node in inner:
        yield COLLAPSE, {clade: d for clade, d in clades.items() if clade != node}
    for part in parts:
        for target in [*inner, None]:
            if target != above[part] and not (target is not None and target <= part) and depth(target) < depth(part):
                yield REGRAFT, _regrafted(clades, part, target, everything)
    for way in (-step, step):
        for node in inner:
            low, high = depth(above[node]), min(map(depth, children[node]))
            yield (
                LENGTH,
                clades | {node: low + (high - low) * _moved((depth(node) - low) / max(high - low, 1e-12), way)},
            )
        if len(inner) > 1:
            yield LENGTH, {clade: _moved(d, way) for clade, d in clades.items()}


def _regrafted(clades: Clades, part: Leaves, target: Leaves | None, everything: Leaves) -> Clades:
    """The clades after a part has left the nodes above it and become a child of the target; None: of the root."""
    changed: Clades = {}
    for clade, depth in clades.items():
        inside = target is not None and target <= clade
        now = clade if clade <= part else clade | part if inside else clade - part
        if len(now) > 1 and (now != everything or clade == everything):
            changed[now] = max(depth, changed.get(now, 0.0))  # a node that is left with one child gives way to it
    return changed


def _moved(place: float, way: float) -> float:
    """A place in (0, 1) after a step of its logit."""
    within = min(max(place, MIN_SHARE), 1.0 - MIN_SHARE)
    return 1.0 / (1.0 + math.exp(-(math.log(within / (1.0 - within)) + way)))


# A search of trees: where it stands, and how it goes on ---------------------------------------------------------------


GAIN = 0.1  # of log evidence that a neighbour must promise, with two standard errors in its favour
STEPS = 1.0, 0.5, 0.25  # of the lengths; the search ends when no neighbour by any of them promises enough
START = "start"


class Found(NamedTuple):
    """A tree that was drawn from."""

    tree: Tree
    move: str
    origin: int  # the number of the tree that it is a neighbour of


@dataclass
class Search:
    """Where a search stands. Every tree has a seed of its own, so that a stop in between has no influence."""

    draws: TreeDraws
    how: EvidenceRun  # of the evidence of the best tree
    seed: Any
    found: list[Found] = field(default_factory=list)
    looked_at: set[Any] = field(default_factory=set)  # keys of all neighbours
    ended: bool = False  # no neighbour promises more
    evidence: tuple[int, LogEvidence] | None = None  # of the tree with that number

    @property
    def best(self) -> int:
        """The number of the tree with the greatest evidence so far."""
        return int(self.draws.found.log_z.argmax())

    def run(self, start: Tree, trees: int) -> bool:
        """Draw from so many trees, unless no neighbour promises more; returns whether Ctrl-C came first."""
        total = trees * self.draws.sweeps + self.how.chains * (self.how.draws + self.how.tune) * self.how.thin
        with Progress(self.how.progressbar, "search of trees", total, "sweeps") as progress:
            try:
                if not self.found:
                    self._add(Found(start, START, 0), progress)
                while len(self.found) < trees and not self.ended:
                    new = self._most_promising()
                    self.ended = new is None
                    if new is not None:
                        self._add(new, progress)
                if self.evidence is None or self.evidence[0] != self.best:
                    progress.note("the evidence of the best tree")
                    self.evidence = self.best, self._evidence_of(self.found[self.best].tree)
            except KeyboardInterrupt:
                if not self.found:
                    raise
                return True
        return False

    def _evidence_of(self, tree: Tree) -> LogEvidence:
        parts, data = self.draws.parts_with(tree), self.draws.data
        constant = constant_of(parts["likelihood"], [data])
        return run_ladders(task_of(parts, data, self.how), constant, self.how._replace(progressbar=False))[0]

    def _add(self, new: Found, progress: Progress) -> None:
        number = len(self.found)
        progress.note(f"tree {number + 1}, {new.move}")
        onwards = _Onwards(progress, number * self.draws.sweeps)
        self.draws.add(new.tree, root(self.seed).spawn(number + 1)[-1], self.how.cores, onwards)
        self.found.append(new)

    def _most_promising(self) -> Found | None:
        """The neighbour of the best tree that promises most; None if none promises enough."""
        best, known = self.best, {key_of(clades_of(each.tree)) for each in self.found}
        for step in STEPS:
            near = {key_of(clades_of(each.tree)): each for each in neighbours(self.found[best].tree, step)}
            new = [each for key, each in near.items() if key not in known]
            self.looked_at |= near.keys()
            if not new:
                continue
            value, error = self.draws.estimates([each.tree for each in new])
            hope = value + 2.0 * error
            first = int(hope.argmax())
            if hope[first] > self.draws.found.log_z[best] + GAIN:
                return Found(new[first].tree, new[first].move, best)
        return None


class _Onwards:
    """Progress of the chains of one tree, after those of others."""

    def __init__(self, progress: Progress, before: int) -> None:
        self._progress, self._before = progress, before

    def note(self, text: str) -> None:
        self._progress.note(text)

    def update(self, done: int) -> None:
        self._progress.update(self._before + done)


FIRST = 500  # draws, and as many before them, of each chain of the fit that gives the start
NEAREST = 0.05  # least distance of options in the dendrogram of the start, as a share of the largest
SHORTEST = 1e-6  # edge above a clade of the start; of shorter ones the clade is left out


@dataclass(frozen=True, repr=False, eq=False)
class TreeSearch(Printed):
    """What a search of trees has found; `print` shows it, `plot()` draws the best tree.

    Attributes
    ----------
    tree : Tree
        The one with the greatest evidence.
    log_evidence : LogEvidence or None
        Its own, by `log_evidence`; None if the search was stopped before.
    table : pandas.DataFrame
        A row a tree that was drawn from, the best one first, indexed by its number: move (by which it was found),
        origin (the number of the tree that was moved), clades, log_evidence with standard_error, log_bayes_factor (of
        the best tree against it) and log_bayes_factor_se, probability and probability_se (all these trees alike before
        the data).
    clades : pandas.DataFrame
        A row a clade: members, probability (of all trees with it) and in_best.
    trees : tuple of Tree
        All of them, by their numbers.
    looked_at : int
        Different trees whose evidence was estimated, be it from the draws of others.
    ended : bool
        Whether no neighbour of the best tree promises a log evidence that is greater by .1.
    usable : bool
        Whether the chains agree.
    """

    tree: Tree
    log_evidence: LogEvidence | None
    clades: "pandas.DataFrame"
    trees: tuple[Tree, ...]
    looked_at: int
    ended: bool
    usable: bool
    _search: Search = field(repr=False)

    def continue_search(self, trees: int = 30) -> "TreeSearch":
        """Go on from where the search stands, also after Ctrl-C; the end is that of one longer search.

        Parameters
        ----------
        trees : int
            How many further trees to draw from at most.

        Returns
        -------
        TreeSearch

        Raises
        ------
        ArgumentError
            If `trees` is no whole number of 1 or more.

        Warns
        -----
        InterruptedWarning, ConvergenceWarning
            As `thali.Tree.search`.
        """
        more = whole("trees", trees, 1)
        search = replace(self._search, found=list(self._search.found))
        return _finished(search, self.trees[0], len(self.trees) + more)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the best tree; see `thali.plots.tree`."""
        return self.tree.plot(ax)


def search(
    data: Any,
    start: Any = None,
    model: Any = None,
    trees: int = 30,
    draws: int = 200,
    tune: int = 200,
    chains: int = 12,
    thin: int = 5,
    cores: int | None = None,
    random_seed: Any = None,
    progressbar: bool = True,
) -> TreeSearch:
    """The search of `thali.Tree.search`, with its arguments."""
    trees = whole("trees", trees, 1)
    how = checked_evidence_run(**USUAL, cores=cores, random_seed=None, progressbar=progressbar, sensitivity=False)
    draws, chains, thin = whole("draws", draws, MIN_DRAWS), whole("chains", chains, 2), whole("thin", thin, 1)
    run = checked_run(draws, tune, chains, thin, cores, None, progressbar)
    model = _usual_model(data) if model is None else model
    if not (isinstance(model, LatentFeatures) and model._engine.has_evidence):
        raise ArgumentError(
            Argument("model"), f" must be a latent-feature model, such as EliminationByAspects(); got {model!r}."
        )
    refuse_other_fit(model, data)
    data = model._as_data(data)
    if isinstance(data, Groups):
        raise DataError("A search of trees takes the data of one group of people; give one of them.")
    if len(data.labels) < 3:
        raise DataError(f"A search of trees takes three options or more; got {len(data.labels)}.")
    if start is not None:
        if not isinstance(start, Tree):
            raise ArgumentError(Argument("start"), f" must be a Tree, or None; got {start!r}.")
        PhylogeneticBuffet(start.for_labels(data.labels))
    parts = model._evidence_parts(data)
    of_start, of_evidence, of_trees = root(random_seed).spawn(3)
    draws_of_trees = TreeDraws(parts, data, draws, run.tune, chains, thin)
    if start is None:
        start = _dendrogram(model, data, run._replace(random_seed=of_start))
    return _finished(
        Search(draws_of_trees, how._replace(random_seed=of_evidence), of_trees), start.for_labels(data.labels), trees
    )


def _usual_model(data: Any) -> Any:
    """A model for such data, whose evidence is known."""
    if isinstance(data, Judged) and not data.are_choices:
        return AdditiveClustering(sigma=LEARNED if of_data(data).lacks_sigma(data) else None)
    return EliminationByAspects()


def _dendrogram(model: Any, data: Any, run: Run) -> Tree:
    """Average linkage of the similarity of options in a fit of the model, which may be there already."""
    from scipy.cluster.hierarchy import average
    from scipy.spatial.distance import squareform

    if "_state_" not in vars(model):
        model = type(model)(**model.get_params())
        with without_warnings():
            model.fit(data, FIRST, FIRST, 4, cores=run.cores, random_seed=run.random_seed, progressbar=run.progressbar)
    distance = 1.0 - model.option_similarity().to_numpy()
    distance = np.maximum(distance, NEAREST * distance.max())
    np.fill_diagonal(distance, 0.0)
    tree = Tree.from_linkage(average(squareform(distance, checks=False)), data.labels)
    kept: dict[Any, float] = {}
    for clade, depth in sorted(clades_of(tree).items(), key=lambda item: -len(item[0])):
        if depth - max((d for other, d in kept.items() if clade < other), default=0.0) > SHORTEST:
            kept[clade] = depth
    return tree_of(kept, tree)


def _finished(search: Search, start: Tree, trees: int) -> TreeSearch:
    """Run the search, and put what it has found into words and tables."""
    interrupted = search.run(start, trees)
    found = _answer(search)
    if interrupted:
        stopped = f"The search was stopped early; {plural(len(search.found), 'tree')} were kept"
        warn(InterruptedWarning(f"{stopped}, and continue_search() goes on from there."))
    elif not found.usable:
        warn(ConvergenceWarning(found.note))
    return found


def _answer(search: Search) -> TreeSearch:
    import pandas as pd

    best, trees = search.best, [each.tree for each in search.found]
    log_z, influence = search.draws.found.log_z, search.draws.found.influence

    def error(level: np.ndarray) -> float:
        return standard_error_of(level)[0]

    anchor, evidence = search.evidence or (best, None)
    value, value_se = (evidence.value, evidence.standard_error) if evidence is not None else (math.nan, math.nan)
    probability = np.exp(log_z - log_z.max())
    probability /= probability.sum()
    mean = influence @ probability
    against = influence[..., [best]] - influence
    table = pd.DataFrame(
        {
            "move": [each.move for each in search.found],
            "origin": [each.origin for each in search.found],
            "clades": [len(tree.clades()) for tree in trees],
            "log_evidence": value + log_z - log_z[anchor],
            "standard_error": [
                math.hypot(value_se, error(influence[..., k] - influence[..., anchor])) for k in range(len(trees))
            ],
            "log_bayes_factor": log_z[best] - log_z,
            "log_bayes_factor_se": [error(against[..., k]) for k in range(len(trees))],
            "probability": probability,
            "probability_se": [error(p * (influence[..., k] - mean)) for k, p in enumerate(probability)],
        },
        index=pd.RangeIndex(len(trees), name="tree"),
    ).sort_values("log_bayes_factor", kind="stable")
    deviation = max((chain_deviation(against[..., k]) for k in range(len(trees)) if k != best), default=0.0)
    usable = deviation <= MAX_DEVIATION and (evidence is None or evidence.usable)
    return TreeSearch(
        "Search of trees by evidence",
        table,
        _sentence(search, table, deviation, evidence),
        trees[best],
        evidence,
        _clades(trees, probability, best),
        tuple(trees),
        len(search.looked_at),
        search.ended,
        usable,
        search,
    )


def _sentence(search: Search, table: "pandas.DataFrame", deviation: float, evidence: LogEvidence | None) -> str:
    """What was found, whether the search has ended, and whether the chains agree."""
    best, first = search.best, table.iloc[0]
    sentences = [
        f"Tree {best} has the greatest evidence of {plural(len(search.found), 'tree')} that were drawn from, and among "
        f"them the posterior probability {first['probability']:.2f} (standard error {first['probability_se']:.2f})."
    ]
    sentences += [
        f"None of its neighbours promises a log evidence that is greater by {GAIN:g}: the search has ended, maybe at a "
        "tree that is the best of its neighbourhood alone; another start tells."
        if search.ended
        else "The search has not ended; continue_search() goes on."
    ]
    if deviation > MAX_DEVIATION:
        sentences.append(
            f"Not usable: chains differ by up to {deviation:.1f} of their own errors (wanted: at most "
            f"{MAX_DEVIATION:g}); repeat the search with more draws and tune."
        )
    if evidence is not None and not evidence.usable:
        sentences.append(str(evidence.verdict))
    return " ".join(sentences)


def _clades(trees: list[Tree], probability: np.ndarray, best: int) -> "pandas.DataFrame":
    """The clades of all trees, with the probability of the trees that have them."""
    from thali._tables import Table

    of_clade: dict[frozenset[str], float] = {}
    for tree, p in zip(trees, probability.tolist(), strict=True):
        for clade in tree.clades():
            of_clade[clade] = of_clade.get(clade, 0.0) + p
    labels, own = trees[best].labels, trees[best].clades()
    rows = [
        {"members": tuple(label for label in labels if label in clade), "probability": p, "in_best": clade in own}
        for clade, p in sorted(of_clade.items(), key=lambda item: (-item[1], len(item[0]), sorted(item[0])))
    ]
    return Table(rows, columns=["members", "probability", "in_best"])
