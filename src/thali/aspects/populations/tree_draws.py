"""Draws from the posteriors of several trees, weighed for one another.

The posteriors differ by their priors alone, which have a closed form: columns with owners h arrive at rate
alpha lambda_h, so that up to what all trees share, of a draw with columns h_1, h_2, ...

    log p(draw | tree) = sum over k of log lambda[h_k] - alpha * (sum of lambda over all h),

over the patterns h that the data see. The multistate acceptance ratio combines the draws of all trees, and gives the
evidence of any further tree by importance sampling.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from thali.inference.mbar import Combined, combined_densities
from thali.inference.seeds import root
from thali.inference.threads import run_in_threads
from thali.posterior.evidence import BLOCKS
from thali.trees.tree import Tree

from ..answers.features import distinct_owners
from ..draws.columns import columns_of_chains
from ..operations import sees_single
from ..priors.phylogenetic import PhylogeneticBuffet
from ..samplers.chains import chains_of
from ..samplers.task import build_task, compile_ahead


class TreeDraws:
    """As many draws of each of the trees that were added."""

    data: Any
    chains: int
    draws: int
    found: Combined

    def __init__(self, parts: dict[str, Any], data: Any, draws: int, tune: int, chains: int, thin: int) -> None:
        self._parts, self.data = parts | {"sampler": None}, data
        self._run = {"draws": draws, "tune": tune, "thin": thin}
        self.chains, self.draws, self._blocks = chains, draws, min(BLOCKS, draws)
        self.trees: list[Tree] = []
        self._place: dict[bytes, int] = {}  # of a pattern in `_patterns`
        self._patterns: list[np.ndarray] = []
        self._counts: list[Any] = []  # of each tree, sparse (draws of all chains, patterns known then)
        self._alpha: list[np.ndarray] = []  # of each tree (draws of all chains,)
        self._seen = (True, True)  # whether the data see columns of one option, and of all
        self.found = Combined(np.zeros(1), np.zeros((chains, self._blocks, 1)))

    @property
    def sweeps(self) -> int:
        """Of all chains of one tree."""
        return self.chains * (self._run["draws"] + self._run["tune"]) * self._run["thin"]

    def parts_with(self, tree: Tree) -> dict[str, Any]:
        """The parts of the model with this tree."""
        return self._parts | {"prior": PhylogeneticBuffet(tree)}

    def add(self, tree: Tree, seed: Any, cores: int | None, progress: Any) -> None:
        """Draw from the posterior of a tree, and combine its draws with those of the others."""
        task = build_task(data=self.data, **self._run, **self.parts_with(tree))
        compile_ahead(task, progress)
        chains = chains_of(task, self.chains, root(seed))
        run_in_threads(chains, cores, progress)
        drawn = [chain.draws for chain in chains]
        columns = columns_of_chains(drawn, self.draws)
        patterns, pattern = distinct_owners(columns)
        place = np.array([self._placed(owners) for owners in patterns], int)[pattern]
        n, model = columns.n_options, task.model
        self._seen = model.lo < 2 or bool(sees_single(model.likelihood)), model.hi == n
        kept = (columns.sizes > 1) | self._seen[0]
        kept &= (columns.sizes < n) | self._seen[1]
        at = columns.draw[kept], place[kept]
        shape = columns.n_draws, len(self._patterns)
        self._counts.append(csr_array((np.ones(len(at[0])), at), shape=shape))
        self._alpha.append(np.concatenate([each.alpha[: self.draws] for each in drawn]))
        self.trees.append(tree)
        if len(self.trees) > 1:
            self.found = combined_densities(self._densities(), self._blocks)

    def _placed(self, owners: np.ndarray) -> int:
        """The number of a pattern, which may be a new one."""
        key = owners.tobytes()
        if key not in self._place:
            row = np.zeros(len(self.data.labels), bool)
            row[owners] = True
            self._place[key] = len(self._patterns)
            self._patterns.append(row)
        return self._place[key]

    def _log_priors(self, trees: Sequence[Tree]) -> np.ndarray:
        """Of all draws, tree after tree, under each of these trees (draws, trees)."""
        patterns = np.array(self._patterns).reshape(-1, len(self.data.labels))
        priors = [PhylogeneticBuffet(tree.for_labels(self.data.labels)) for tree in trees]
        rates = np.stack([prior.log_rates(patterns) for prior in priors], axis=1)
        rates[~np.isfinite(rates)] = 0.0  # patterns of no kept column
        total = np.array([prior.total_rate(*self._seen) for prior in priors])
        wide = [
            csr_array((each.data, each.indices, each.indptr), (each.shape[0], len(patterns))) for each in self._counts
        ]
        return vstack(wide) @ rates - np.concatenate(self._alpha)[:, None] * total

    def _densities(self) -> np.ndarray:
        """As `combined_densities` takes them."""
        levels = len(self.trees)
        logs = self._log_priors(self.trees).reshape(levels, self.chains, self.draws, levels)
        return logs.transpose(1, 2, 0, 3)

    def estimates(self, trees: Sequence[Tree]) -> tuple[np.ndarray, np.ndarray]:
        """Log evidence of further trees on the scale of `found.log_z`, and standard errors, by importance sampling."""
        levels = len(self.trees)
        own = self._log_priors(self.trees) - self.found.log_z
        mixture = np.logaddexp.reduce(own, axis=1) - np.log(levels)
        logs = self._log_priors(trees) - mixture[:, None]
        top = logs.max(axis=0)
        weights = np.exp(logs - top)
        of_chain = weights.reshape(levels, self.chains, self.draws, -1).sum(axis=(0, 2)) / weights.sum(axis=0)
        apart = of_chain - 1.0 / self.chains
        error = np.sqrt((apart**2).sum(axis=0) / (1.0 - 1.0 / max(self.chains, 2)))
        return top + np.log(weights.mean(axis=0)), error
