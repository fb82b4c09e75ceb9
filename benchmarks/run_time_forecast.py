"""How long a sweep of every model takes, beside the forecast by which default fits are bounded.

    python benchmarks/run_time_forecast.py [--small] [--only TEXT ...] [--seconds 3]

The problems are those of `default_fits.py`. The first chain of the default fit tunes and draws for some
CPU seconds; the table has the microseconds of a sweep that were forecast, those that it took in the
second half of that time, and their ratio. The constants stand beside the forecasts:
`samplers/cost_forecast.py` of aspects, `fitting_methods.py` of the classifiers, `fit_preparation.py`
of product classes, `hierarchical_fit.py`, and `latent_class/maximum_likelihood.py` for the logit
without chains, which `latent_class_logit.py` times.
"""

import argparse
import time
from typing import Any, NamedTuple

import default_fits
import numpy as np

from thali._aspects.samplers.chains import FeatureChain
from thali._model.chain_runs import ChainFit


class Caught(Exception):
    """Carries what a fit would have run."""


def chain_of(model: Any, data: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the default fit runs, and its first chain at the start."""

    def catch(chain_fit: Any) -> Any:
        # here, because a classifier knows its classes only while it is fitted
        chains = chain_fit.build_chains(chain_fit.draws_at_first_check, np.random.SeedSequence(1))
        raise Caught(chain_fit, chains[0])

    run_to_end, ChainFit.run_to_end = ChainFit.run_to_end, catch
    try:
        default_fits.fit(model, data)
    except Caught as caught:
        return caught.args
    finally:
        ChainFit.run_to_end = run_to_end
    raise ValueError("no chains")


class Sweeps(NamedTuple):
    """Seconds of the processor for a sweep of a chain."""

    forecast: float
    taken: float

    @property
    def ratio(self) -> float:
        """What was taken, of what was forecast."""
        return self.taken / self.forecast


def measured(name: str, place: int, seconds: float = 3.0) -> Sweeps:
    """The second half of so many seconds of a chain, or all of its second half if that is over
    before."""
    problem = default_fits.PROBLEMS[name]
    sampling, chain = chain_of(problem.make(), problem.data(problem.sizes[place]))
    if chain.in_pilot:
        chain.run_until(chain.total)
        sampling.end_pilot([chain])
    chain.run_until(chain.sweeps + 1)  # compiled, or loaded
    begin, first, step = time.process_time(), chain.sweeps, 1
    half, sweep_of_half, total = begin, first, chain.total
    while (now := time.process_time()) - begin < seconds and chain.sweeps < total:
        if now - begin < seconds / 2 and chain.sweeps < total // 2:
            half, sweep_of_half = now, chain.sweeps
        chain.run_until(min(chain.sweeps + step, total))
        step = max(1, int(0.05 * (chain.sweeps - first) / max(time.process_time() - begin, 1e-9)))
    taken = (time.process_time() - half) / (chain.sweeps - sweep_of_half)
    forecast = sampling.forecast.sweep
    # of which levels that are still to come are forecast, and not there yet
    if isinstance(chain, FeatureChain):
        forecast *= len(chain.task.temperatures) / chain.task.forecast_levels()
    return Sweeps(forecast, taken)


# no sweeps, or a choice of methods
WITHOUT = ("latent-class", "multinomial", "smc", "sparse logit, rows")


def names() -> list[str]:
    """The problems whose fits are chains."""
    return [name for name in default_fits.PROBLEMS if not any(each in name for each in WITHOUT)]


def main(small: bool = False, only: tuple[str, ...] = (), seconds: float = 3.0) -> None:
    """Print a line for each model and size."""
    if small:
        only, seconds = ("Bradley",), 0.2
    print(f"{'model':<46} {'size':>14} {'forecast, us':>12} {'taken, us':>10} {'ratio':>6}")
    for name in names():
        if only and not any(each in name for each in only):
            continue
        for place, size in enumerate(default_fits.PROBLEMS[name].sizes):
            found = measured(name, place, seconds)
            words = f"{1e6 * found.forecast:12.1f} {1e6 * found.taken:10.1f} {found.ratio:6.2f}"
            print(f"{name:<46} {size!s:>14} {words}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="*", default=(), metavar="TEXT")
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    main(asked.small, tuple(asked.only), asked.seconds)
