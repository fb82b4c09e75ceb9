"""Number of draws of a run without a fixed length, within a budget of CPU time.

It depends on the size of the data, not on a clock.
"""

from typing import Any, NamedTuple

from thali._inference.chains import FIRST_DRAWS, Run

from .engine import Forecast
from .sampling import MAX_DRAWS

# maximum CPU seconds of such a run, all chains together, on the machine of `benchmarks/`
BUDGET = 600.0
MIN_DRAWS = 100  # per chain, in any case, and the same number of warm-up draws


class BudgetedRun(NamedTuple):
    """Run settings within the budget of CPU seconds."""

    run: Run
    thin: int  # sweeps per draw
    first_draws: int  # per chain, at the first convergence check
    max_draws: int  # per chain
    settings: dict[str, Any]  # as requested, for the record of a job
    sweep: float  # CPU seconds

    @property
    def forecast(self) -> Forecast:
        """Forecast CPU seconds of the run."""
        seconds = self.run.chains * self.thin * self.sweep
        return Forecast(
            seconds * (self.run.tune + self.first_draws),
            seconds * (self.run.tune + self.max_draws),
            self.sweep,
        )


def remaining_budget(sweeps: int, sweep: float) -> float:
    """Return the share of the CPU budget left after sweeps of `sweep` seconds each."""
    return 1.0 - sweeps * sweep / BUDGET


def limit_run(
    run: Run,
    thin: int,
    sweep: float,
    first_draws: int = FIRST_DRAWS,
    share: float = 1.0,
) -> BudgetedRun:
    """Reduce thinning, warm-up and draws of a run to a share of the CPU budget.

    A slow run has fewer sweeps per draw unless `thin` was set. If one sweep per draw is still too
    slow, a run without a fixed length has fewer draws and warm-up draws. Requested numbers of draws
    are kept.
    """
    settings = run.lengths
    # a longer warm-up was requested
    sweeps = int(share * BUDGET / run.chains / sweep)
    tune = min(run.tune, FIRST_DRAWS)
    if run.thin is None and (tune + first_draws) * thin > sweeps:
        thin = max(1, sweeps // (tune + first_draws))
        run = run._replace(thin=thin)
    if run.draws is not None:
        return BudgetedRun(run, thin, run.draws, run.draws, settings, sweep)
    length = sweeps // thin  # draws and tuning states of a chain
    if tune + first_draws > length:
        share = length / (tune + first_draws)
        first_draws = max(min(first_draws, MIN_DRAWS), int(first_draws * share))
        if run.tune == tune:
            run = run._replace(tune=max(min(tune, MIN_DRAWS), int(tune * share)))
    return BudgetedRun(
        run, thin, first_draws, max(first_draws, min(MAX_DRAWS, length - run.tune)), settings, sweep
    )
