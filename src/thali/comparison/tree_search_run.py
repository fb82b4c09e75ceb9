"""A search of trees: where it stands, and how it goes on."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thali.aspects.populations.evidence import constant_of, run_ladders, task_of
from thali.aspects.populations.tree_draws import TreeDraws
from thali.inference.progress import Progress
from thali.inference.seeds import root
from thali.model.evidence import EvidenceRun
from thali.posterior.evidence import LogEvidence
from thali.trees.moves import clades_of, key_of, neighbours
from thali.trees.tree import Tree

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
