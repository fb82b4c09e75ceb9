"""Chains of independent draws, which run, are stored and go on like those of any sampler."""

import copy
from typing import Any

import numpy as np

from .chains import RowChain

BLOCK = 250  # draws made together, always so many, so that a draw does not depend on where a run was sliced


class IndependentDraws(RowChain):
    """Base of such a chain; a subclass has `record`, `_block(rng)`, and sets no state of its own."""

    _PARTS = ("sweeps",)

    def __init__(self, draws: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.total, self.sweeps = draws, 0
        self._made: Any = None  # the block in which the chain is

    @property
    def recorded(self) -> int:
        return self.sweeps

    def _block(self, rng: np.random.Generator) -> Any:
        """The `BLOCK` draws of a block, whose stream begins there, in the form of `record`."""
        raise NotImplementedError

    def run_to(self, until: int) -> None:
        """Make the draws up to this one."""
        while self.sweeps < until:
            begin = self.sweeps % BLOCK
            if begin == 0 or self._made is None:  # a chain that was stored within a block makes it once more
                self._after = copy.deepcopy(self.rng)
                self._made = self._block(self._after)
            end = min(BLOCK, begin + until - self.sweeps)
            rows = slice(self.sweeps, self.sweeps + end - begin)
            for kept, drawn in zip(self.record, self._made, strict=True):
                kept[rows] = drawn[begin:end]
            self.sweeps = rows.stop
            if end == BLOCK:
                self.rng = self._after
