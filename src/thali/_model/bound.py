"""How long a run of unknown length may be: its sweeps follow from the size of the data, and never
from a clock."""

from typing import Any, NamedTuple

from thali._inference.chains import FIRST_DRAWS, Run

from .engine import Forecast
from .sampling import MAX_DRAWS

# seconds of the processor that such a run takes at most, all chains together, where `benchmarks/`
# ran
BUDGET = 600.0
MIN_DRAWS = 100  # of each chain, and as many tuning states, in any case


class Bounded(NamedTuple):
    """A run that keeps within the budget."""

    run: Run
    thin: int  # sweeps a draw
    first_draws: int  # of each chain, at which it is looked at first
    most: int  # draws of each chain
    asked: dict[str, Any]  # what was asked for, as a job notes it
    sweep: float  # seconds of the processor

    @property
    def forecast(self) -> Forecast:
        """How long the run is expected to take."""
        a_draw = self.run.chains * self.thin * self.sweep
        return Forecast(
            a_draw * (self.run.tune + self.first_draws),
            a_draw * (self.run.tune + self.most),
            self.sweep,
        )


def share_left(sweeps: int, sweep: float) -> float:
    """The share of the budget that is left after so many sweeps, of all chains, of so many seconds
    each."""
    return 1.0 - sweeps * sweep / BUDGET


def bounded(
    run: Run,
    thin: int,
    sweep: float,
    first: int = FIRST_DRAWS,
    longest: int = MAX_DRAWS,
    share: float = 1.0,
) -> Bounded:
    """The run whose sweeps are expected to take `sweep` seconds each, as far as possible within a
    share of the budget.

    What takes too long has fewer sweeps between two draws, unless their number was asked for; if
    there are none to spare, a run of unknown length has fewer draws and tuning states. Draws that
    were asked for are made.
    """
    asked = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "thin": run.thin}
    # more of it was asked for
    sweeps, tune = int(share * BUDGET / run.chains / sweep), min(run.tune, FIRST_DRAWS)
    if run.thin is None and (tune + first) * thin > sweeps:
        thin = max(1, sweeps // (tune + first))
        run = run._replace(thin=thin)
    if run.draws is not None:
        return Bounded(run, thin, run.draws, run.draws, asked, sweep)
    length = sweeps // thin  # draws and tuning states of a chain
    if tune + first > length:
        share = length / (tune + first)
        first = max(min(first, MIN_DRAWS), int(first * share))
        if run.tune == tune:
            run = run._replace(tune=max(min(tune, MIN_DRAWS), int(tune * share)))
    return Bounded(run, thin, first, max(first, min(longest, length - run.tune)), asked, sweep)
