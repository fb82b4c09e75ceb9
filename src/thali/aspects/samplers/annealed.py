"""Chains that are annealed: the likelihood is let in little by little, so that each ends near a mode."""

from .chains import Chain
from .tempering import HOTTEST, STEP

AT_ONE = 0.2  # share of the sweeps at temperature 1, the last ones


class AnnealedChain(Chain):
    """A chain at one temperature, which falls geometrically to 1 and stays there."""

    def run_to(self, until: int) -> None:
        while self.sweeps < until:
            begun = self.sweeps // STEP * STEP  # so that slices of a run have no influence
            self.ladder.beta[0] = min(1.0, HOTTEST ** (begun / ((1.0 - AT_ONE) * self.total) - 1.0))
            self._run_kernel(min(until, begun + STEP))
        self._run_kernel(until)
