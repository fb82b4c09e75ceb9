"""Runs of Markov chains for a fit: start, continue, lengthen until the chains agree."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from thali._inference.array_dict_encoding import (
    Arrays,
    add_prefix,
    decode_npz,
    encode_npz,
    select_prefix,
)
from thali._inference.job_folders import FitFolder, Snapshot, refuse_altered_job
from thali._inference.markov_chains import (
    FIRST_DRAWS,
    Chain,
    Run,
    RunMonitor,
    TimeIsUp,
    TimeLimit,
    TuningIsLong,
    choose_recorded_chains,
    run_chains,
)
from thali._inference.progress_display import Progress, format_duration
from thali._inference.random_seeds import build_seed_sequence
from thali._inference.user_warnings import is_quiet, warn
from thali._posterior.datatree_files import append_draws, select_first_draws
from thali.errors import (
    ArgumentError,
    EstimateWarning,
    LongRunWarning,
    Message,
    Setting,
)

from .fitting_methods import Forecast, Job
from .model_files import compute_digest, describe_model

if TYPE_CHECKING:
    import xarray

    from thali._posterior.convergence_check import ConvergenceCheck

    from .base import Model
    from .markov_chain_model import MarkovChainModel

# effective sample size of every summary row at which a run without a fixed length ends
SUFFICIENT_ESS = 400
MAX_DRAWS = 64_000  # per chain of such a run
MAX_BYTES = 2 * 10**9  # of the draws of such a run, all chains together
# maximum CPU seconds of such a run, forecast from the size of the data, not by a clock; all chains
# together, on the machine of `benchmarks/`
BUDGET = 600.0
MIN_DRAWS = 100  # per chain, in any case, and the same number of warm-up draws


AnyChain = TypeVar("AnyChain", bound=Chain)


class Continuation(NamedTuple):
    """State that `continue_fit` needs: data, run settings, chain states."""

    source: Any  # checked data of the fit; None in a file that cannot store them
    digest: str  # of the data
    parameters: dict[str, Any]  # of the model at the time of the fit
    run: Run
    draws: int  # per chain, in the posterior
    first: int  # number of the first draw in `states`, if there are any
    tempered: bool  # whether the run restarted with tempering
    # bytes of an npz file: the state of each chain, and its draws if the posterior lacks some
    states: np.ndarray


class _ChainStart(NamedTuple):
    """States, and earlier draws, with which chains are started."""

    states: list[Arrays]
    draws: list[Arrays] | None  # of each chain from number `first` on; None: no draws
    first: int  # number of earlier draws, which are in the posterior
    is_of_other_data: bool = False  # whether the states belong to a fit to other data


class ChainFit(ABC, Generic[AnyChain]):
    """A fit by Markov chains; this class owns the loop, a subclass is one fitting method.

    `run_to_end` starts the chains, runs them in threads until they have all their draws or the time
    is up, stores them in a job folder, and builds the posterior. If the number of draws is not
    fixed, it checks convergence and lengthens or tempers the chains until they agree.

    A new method must provide

    - `prepare`: reads model and data, and sets `run` to the lengths that the data allow;
    - `build_chains`: returns chains for a number of draws, each at its start;
    - `build_tree`: returns the posterior of the recorded draws.

    The other methods have defaults: `build_attributes` (fitted attributes besides the posterior),
    `complete_tree`, `end_pilot`, `temper`, `count_draws`, `read_draws`, `format_status`,
    `measure_speedup` and `choose_next_check`.
    """

    is_compiled: bool = False  # whether the kernels need no compilation
    faster: Setting | None = None  # a faster method of the model
    forecast: Forecast | None = None  # run time; None: unknown
    # draws per chain at the first convergence check; None: FIRST_DRAWS
    first_draws: int | None = None
    max_draws: int | None = None  # of a run without a fixed length; None: MAX_DRAWS
    # draws per chain that the size of the data allows; None: `max_draws`
    data_max_draws: int | None = None
    folder: FitFolder | None = None
    is_tempered: bool = False  # whether the chains restarted with tempering
    n_sweeps_before: int = 0  # sweeps of all chains before the restart with tempering
    is_shortened: bool = False  # whether the warm-up is shorter than requested

    def __init__(
        self, model: "MarkovChainModel", source: Any, run: Run, inputs: Any = None
    ) -> None:
        """Prepare the fit of a model to checked data; nothing is drawn."""
        self.model = model
        self.source = source
        self.inputs = inputs  # data and arguments as the model prepared them for this method
        self.run = run
        # settings of the run in the record of its job
        self.job_settings: dict[str, Any] = run.lengths
        self.limit = TimeLimit(run.max_time)
        self.prepare(run)

    # What a method provides

    @abstractmethod
    def prepare(self, run: Run) -> None:
        """Read model and data, and set `run` to the lengths that the data allow.

        It is called again with a shorter warm-up if the time limit requires it.
        """

    @abstractmethod
    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> Sequence[AnyChain]:
        """Return chains with room for `draws` draws, each at its start."""

    @abstractmethod
    def build_tree(self, chains: Sequence[AnyChain]) -> "xarray.DataTree":
        """Return the posterior of the recorded draws."""

    def build_attributes(
        self, tree: "xarray.DataTree", chains: Sequence[AnyChain]
    ) -> dict[str, Any]:
        """Return fitted attributes other than the posterior, by name."""
        return {}

    def complete_tree(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """Add quantities that depend on all draws together, at the end of the fit."""
        return tree

    def end_pilot(self, chains: Sequence[AnyChain]) -> None:
        """Choose the sweeps per draw once all chains have run their pilot."""

    def temper(self, n_sweeps: int) -> bool:
        """Prepare tempered chains, in the budget that `n_sweeps` sweeps of all chains leave.

        Return False if the chains are tempered already or cannot be.
        """
        return False

    def count_draws(self, tree: "xarray.DataTree") -> int:
        """Return the number of draws per chain that a posterior was built from."""
        return tree["posterior"].sizes["draw"]

    def read_draws(self, tree: "xarray.DataTree") -> list[Arrays] | None:
        """Return the draws of a posterior for `Chain.adopt_draws`, by chain.

        None: the posterior stores all draws, and later draws are appended to it.
        """
        return None

    def format_status(self, chains: Sequence[AnyChain]) -> str:
        """Return a text to show next to the progress bar."""
        return ""

    def measure_speedup(self, chains: Sequence[AnyChain]) -> float:
        """Return the factor by which draws are faster than `data_max_draws` assumes."""
        return 1.0

    def choose_next_check(self, draws: int, convergence: "ConvergenceCheck") -> int:
        """Return the draws per chain at the convergence check after this one."""
        return 2 * draws

    # The lengths of a run

    def set_lengths(
        self,
        run: Run,
        thin: int,
        sweep_seconds: float,
        first_draws: int = FIRST_DRAWS,
        budget_share: float = 1.0,
    ) -> "BudgetedRun":
        """Set the lengths and the forecast of a run within a share of the CPU budget."""
        budgeted_run = limit_run(run, thin, sweep_seconds, first_draws, budget_share)
        self.run = budgeted_run.run._replace(random_seed=self.run.random_seed)
        self.first_draws = budgeted_run.first_draws
        self.data_max_draws = budgeted_run.max_draws
        self.forecast = budgeted_run.forecast
        return budgeted_run

    @property
    def max_open_draws(self) -> int:
        """Maximum draws per chain of a run without a fixed length, whatever the data."""
        if self.max_draws is None:
            return MAX_DRAWS
        return self.max_draws

    @property
    def draws_at_first_check(self) -> int:
        """Draws per chain before the first convergence check of a fit to these data."""
        if self.first_draws and self.run.draws is None:
            return self.first_draws
        return self.run.requested_or_first_draws

    def count_allowed_draws(self, chains: Sequence[AnyChain] = ()) -> int:
        """Return maximum draws per chain of a run without fixed length, for these data."""
        max_draws = self.max_open_draws
        if self.data_max_draws is not None:
            tune = self.run.tune
            speedup = 1.0
            if chains:
                speedup = self.measure_speedup(chains)
            max_draws = min(max_draws, int((tune + self.data_max_draws) * speedup) - tune)
        return max(self.draws_at_first_check, max_draws)

    # The loop

    def build_job(self, data: str, remarks: Sequence[str | Message] = ()) -> Job:
        """Return the `Job` that runs this fit; `data` describes the size of the data."""
        return Job(self.run_to_end, remarks, self.run.draws, data, self.forecast)

    def run_to_end(self) -> dict[str, Any]:
        """Run the fit, from its job folder if any; return the fitted attributes."""
        with open_fit_folder(self.model, self.job_settings, self.source, self.run) as (
            self.folder,
            seed,
        ):
            self.run = self.run._replace(random_seed=seed)
            chain_start = None
            target_draws = 0
            if self.folder is not None and self.folder.snapshot is not None:
                chain_start = self._resume(self.folder, self.folder.snapshot)
                target_draws = self.folder.snapshot.position["draws"]
            attributes, chains = self.run_until_done(
                max(self.draws_at_first_check, target_draws), chain_start
            )
        return self._add_continuation(
            attributes, chains, compute_digest(self.source), get_model_parameters(self.model)
        )

    def continue_from(
        self, state: Continuation, posterior: "xarray.DataTree", total_draws: int
    ) -> dict[str, Any]:
        """Draw more after a finished fit; return the fitted attributes of the longer fit."""
        chain_start = _load_start(state)
        if state.tempered:
            self.restore_tempering()
        draws_by_chain = self.read_draws(posterior)
        if draws_by_chain is not None:
            chain_start = _ChainStart(chain_start.states, chain_start.draws or draws_by_chain, 0)
        attributes, chains = self.run_until_done(
            total_draws, chain_start, select_first_draws(posterior, chain_start.first)
        )
        return self._add_continuation(attributes, chains, state.digest, state.parameters)

    def update_from(self, state: Continuation, draws: int) -> dict[str, Any]:
        """Draw from other data, with chains started where the fit of `state` ended."""
        chain_start = _ChainStart(_load_start(state).states, None, 0, is_of_other_data=True)
        if state.tempered:
            self.restore_tempering()
        attributes, chains = self.run_until_done(draws, chain_start)
        return self._add_continuation(
            attributes, chains, compute_digest(self.source), state.parameters
        )

    def _resume(self, folder: FitFolder, snapshot: Snapshot) -> _ChainStart:
        """Set the lengths and tempering of a stored run; return the states of its chains."""
        position = snapshot.position
        with refuse_altered_job(folder.path):
            self._check_position(position)
        if "tune" in position:
            self.is_shortened = True
            self.prepare(self.run._replace(tune=position["tune"]))
        if position["tempered"]:
            self.restore_tempering(position.get("spent", 0))
        return _ChainStart(snapshot.states, snapshot.draws, 0)

    def _check_position(self, position: dict[str, Any]) -> None:
        """Raise ValueError if a stored job has more draws than its settings allow."""
        max_draws = self.run.draws
        if max_draws is None:
            max_draws = max(self.draws_at_first_check, self.max_open_draws)
        if position["draws"] > max_draws or not 0 <= position.get("tune", 0) <= self.run.tune:
            raise ValueError("more draws or tuning than the settings allow")

    def restore_tempering(self, n_sweeps: int = 0) -> None:
        """Temper the chains of a run that restarted with tempering, if they can be."""
        self.is_tempered = True
        self.n_sweeps_before = n_sweeps
        self.temper(n_sweeps)

    def run_until_done(
        self, target: int, start: _ChainStart | None, earlier: "xarray.DataTree | None" = None
    ) -> tuple[dict[str, Any], Sequence[AnyChain]]:
        """Run to `target` draws per chain; without a fixed length, until the chains agree.

        `earlier` has the draws of the posterior before this run. The result is the fitted
        attributes and the finished chains.
        """
        try:
            return self._run_looks(target, start, earlier)
        except TimeIsUp:
            faster_text: tuple[Any, ...] = ()
            if self.faster:
                faster_text = (", or choose a faster method: ", self.faster)
            raise ArgumentError(
                Setting("max_time", self.run.max_time),
                " was reached before the first draw; allow more time",
                *faster_text,
                ".",
            ) from None

    def _run_looks(
        self, target: int, start: _ChainStart | None, earlier: "xarray.DataTree | None"
    ) -> tuple[dict[str, Any], Sequence[AnyChain]]:
        """Run from one convergence check to the next; raise TimeIsUp if there is no draw."""
        chains = self._start_chains(target, start)
        had_ended = self._has_ended(chains)
        warn_if_long = None
        if self.run.max_time is None and not is_quiet():
            warn_if_long = self._warn_long_run
        n_sweeps_planned = sum(chain.total for chain in chains)
        with Progress(
            self.run.progressbar, "sampling", n_sweeps_planned, report_seconds=warn_if_long
        ) as progress:
            self.limit.may_be_long = start is not None or self.run.tune == 0
            try:
                monitor, is_interrupted = self._run_with_pilot(chains, progress, target)
            except TuningIsLong:
                chains = self._restart_with_short_warmup(chains, progress, target)
                monitor, is_interrupted = self._run_with_pilot(chains, progress, target)
            self.limit.may_be_long = True
            while True:
                tree = self._append_tree(chains, earlier)
                attributes = {
                    "posterior_": tree,
                    "_interrupted_": is_interrupted,
                    **self.build_attributes(tree, chains),
                }
                next_run = None
                if not is_interrupted and self.run.draws is None:
                    next_run = self._plan_next_run(attributes, chains, target, progress)
                if not had_ended or next_run is not None:
                    monitor.finish(next_run is None and not is_interrupted)
                if next_run is None:
                    return attributes | {"posterior_": self.complete_tree(tree)}, chains
                target, start = next_run
                if start is None and self.folder is not None:
                    self.folder.restart()
                finished_chains = chains
                chains = self._start_chains(target, start)
                progress.set_total(sum(chain.total for chain in chains))
                try:
                    monitor, is_interrupted = self._run_with_pilot(chains, progress, target)
                except (KeyboardInterrupt, TimeIsUp):
                    if start is not None:
                        raise
                    # tempered chains have no draw yet: the draws before the restart are kept
                    self.is_tempered = False
                    attributes |= {"posterior_": self.complete_tree(tree), "_interrupted_": True}
                    return attributes, finished_chains

    def _plan_next_run(
        self,
        attributes: dict[str, Any],
        chains: Sequence[AnyChain],
        target: int,
        progress: Progress,
    ) -> tuple[int, _ChainStart | None] | None:
        """Return the next number of draws and start of the chains; None if the fit is finished."""
        model = copy.copy(self.model)
        vars(model).update(attributes)
        convergence = model._check_chains()
        if self._is_settled(convergence):
            return None
        n_sweeps = sum(chain.sweeps for chain in chains)
        if _is_stuck(convergence) and self.temper(n_sweeps):
            progress.note("the chains are in different modes: restarting with tempering")
            self.is_tempered = True
            self.n_sweeps_before = n_sweeps
            return self.draws_at_first_check, None  # new chains
        if not self._may_double(chains, target):
            return None
        progress.note(f"after {target:,} draws per chain the chains do not agree yet")
        next_target = min(
            self.choose_next_check(target, convergence), self.count_allowed_draws(chains)
        )
        return next_target, _ChainStart(
            [chain.pack_state() for chain in chains],
            [chain.read_draws(0, chain.recorded) for chain in chains],
            0,
        )

    def _has_ended(self, chains: Sequence[AnyChain]) -> bool:
        """Return whether the job folder already contains the finished run."""
        if self.folder is None or self.folder.snapshot is None:
            return False
        return self.folder.snapshot.has_ended and all(chain.is_done for chain in chains)

    def _append_tree(
        self, chains: Sequence[AnyChain], earlier: "xarray.DataTree | None"
    ) -> "xarray.DataTree":
        """Build the posterior from these chains, appended to the draws of an earlier fit if any."""
        if earlier is None:
            return self.build_tree(chains)
        if choose_recorded_chains(chains)[1] == 0:  # stopped before the next draw
            return earlier
        return append_draws(earlier, self.build_tree(chains))

    def _run_with_pilot(
        self, chains: Sequence[AnyChain], progress: Progress, target: int
    ) -> tuple[RunMonitor, bool]:
        """Run a pilot if needed, then the chains; return monitor and "was stopped early"."""
        if chains[0].in_pilot:
            self._run_chains(chains, self._build_monitor(chains, progress, target))
            self.end_pilot(chains)
            progress.set_total(sum(chain.total for chain in chains))
        monitor = self._build_monitor(chains, progress, target)
        return monitor, self._run_chains(chains, monitor)

    def _restart_with_short_warmup(
        self, chains: Sequence[AnyChain], progress: Progress, target: int
    ) -> Sequence[AnyChain]:
        """Restart the chains with a warm-up of about a quarter of the time limit."""
        slowest = min(chains, key=lambda chain: chain.sweeps)
        sweeps_per_draw = slowest.run_total / (self.run.tune + target)
        tune = int(slowest.sweeps / sweeps_per_draw / 2)
        warn(
            EstimateWarning(
                "Half of ",
                Setting("max_time", self.run.max_time),
                f" has passed, but the chains are still warming up. They restart with {tune:,}"
                f" warm-up draws instead of {self.run.tune:,}. For better results, allow more"
                " time.",
            )
        )
        progress.note("warm-up takes too long: restarting with a shorter warm-up")
        self.limit.may_be_long = True
        self.is_shortened = True
        self.prepare(self.run._replace(tune=tune))
        if self.is_tempered:
            self.temper(self.n_sweeps_before)
        if self.folder is not None:
            self.folder.restart()
        chains = self._start_chains(target, None)
        progress.set_total(sum(chain.total for chain in chains))
        return chains

    def _warn_long_run(self, seconds: float) -> None:
        """Warn that the run will take long, and name faster options."""
        run = self.run
        if run.draws is None:
            first_draws = self.draws_at_first_check
            max_draws = self.count_allowed_draws(self.chains)
            max_seconds = seconds * (run.tune + max_draws) / (run.tune + first_draws)
            longest_run_text = ""
            if format_duration(max_seconds) != format_duration(seconds):
                longest_run_text = (
                    f", and up to {format_duration(max_seconds)} if the chains agree late"
                )
            fewer_draws: Any = Setting("draws", max(1, first_draws // 4))
        else:
            longest_run_text = ""
            fewer_draws = "fewer draws"
        option_parts = [fewer_draws]
        if self.faster:
            option_parts = [self.faster, ", or ", fewer_draws]
        warn(
            LongRunWarning(
                f"This fit takes about {format_duration(seconds)}{longest_run_text}. Faster"
                " options: ",
                *option_parts,
                ".",
            )
        )

    def _build_monitor(
        self, chains: Sequence[AnyChain], progress: Progress, target: int
    ) -> RunMonitor:
        """Build the monitor that shows progress and saves states of the run."""
        run_position: dict[str, int] = {"draws": target, "tempered": self.is_tempered}
        if self.is_tempered:
            run_position["spent"] = self.n_sweeps_before
        if self.is_shortened:
            run_position["tune"] = self.run.tune
        return RunMonitor(
            chains, progress, self.folder, self.limit, run_position, self.format_status
        )

    def _run_chains(self, chains: Sequence[AnyChain], monitor: RunMonitor) -> bool:
        """Run the chains to their end; return whether they were stopped early."""
        try:
            return run_chains(chains, self.run.cores, monitor, self.is_compiled)
        except TuningIsLong:
            raise
        except (KeyboardInterrupt, TimeIsUp):
            monitor.finish(False)
            raise

    def _add_continuation(
        self,
        attributes: dict[str, Any],
        chains: Sequence[AnyChain],
        digest: str,
        parameters: dict[str, Any],
    ) -> dict[str, Any]:
        """Add the state that `continue_fit` needs to the attributes of the finished fit."""
        n_draws = self.count_draws(attributes["posterior_"])
        has_all_draws = all(chain.recorded == n_draws for chain in chains)
        arrays: Arrays = {}
        for k, chain in enumerate(chains):
            arrays |= add_prefix(f"{k}/state/", chain.pack_state())
            if not has_all_draws:
                arrays |= add_prefix(f"{k}/draws/", chain.read_draws(chain.first, chain.recorded))
        first_draw = n_draws
        if not has_all_draws:
            first_draw = chains[0].first
        continuation = Continuation(
            self.source,
            digest,
            parameters,
            self.run._replace(job=None),
            n_draws,
            first_draw,
            self.is_tempered,
            np.frombuffer(encode_npz(arrays), np.uint8),
        )
        return attributes | {"_state_": continuation}

    def _start_chains(self, target: int, start: _ChainStart | None) -> Sequence[AnyChain]:
        """Build chains with room for `target` draws, in the states of `start` if given."""
        self.chains = chains = self.build_chains(target, self.run.random_seed)
        if start is None:
            return chains
        job_guard: Any = nullcontext()
        if self.folder is not None:
            job_guard = refuse_altered_job(self.folder.path)
        with job_guard:
            for k, chain in enumerate(chains):
                if start.is_of_other_data:
                    chain.warm_start(start.states[k])
                    continue
                chain.restore_state(start.states[k])
                if start.first:
                    chain.skip_draws(start.first)
                if start.draws and (start.draws[k] or chain.recorded > chain.first):
                    chain.adopt_draws(start.draws[k])
                if self.folder is not None and chain.recorded != self.folder.recorded[k]:
                    raise ValueError("a state after other draws than those of the job")
        return chains

    def _is_settled(self, convergence: "ConvergenceCheck") -> bool:
        """Return whether the chains agree and effective sample sizes suffice."""
        return (convergence.agrees or self.run.chains == 1) and convergence.facts.get(
            "ess", math.inf
        ) >= SUFFICIENT_ESS

    def _may_double(self, chains: Sequence[AnyChain], target: int) -> bool:
        """Return whether twice the draws fit the limits of draws and memory."""
        n_bytes = sum(
            array.nbytes
            for chain in chains
            for array in chain.read_draws(0, chain.recorded).values()
        )
        return target < self.count_allowed_draws(chains) and 2 * n_bytes <= MAX_BYTES


def _is_stuck(convergence: "ConvergenceCheck") -> bool:
    """Return whether the chains disagree so much that a longer run cannot help."""
    facts = convergence.facts
    return facts.get("disagree", False) and (
        facts["apart"] or facts["longer"] * facts["draws"] > MAX_DRAWS
    )


def get_model_parameters(model: "Model") -> dict[str, Any]:
    """Return the constructor arguments of a model, without draws, seed and the like."""
    run_parameters = (*Run._fields, "random_state")
    return {
        name: value
        for name, value in describe_model(model)["parameters"].items()
        if name not in run_parameters
    }


def _load_start(state: Continuation) -> _ChainStart:
    """Return chain states and draws stored at the end of a fit."""
    arrays = decode_npz(state.states.tobytes())
    arrays_by_chain = [select_prefix(f"{k}/", arrays) for k in range(state.run.chains)]
    states = [select_prefix("state/", arrays_of_chain) for arrays_of_chain in arrays_by_chain]
    draws_by_chain = [
        select_prefix("draws/", arrays_of_chain) for arrays_of_chain in arrays_by_chain
    ]
    if not any(draws_by_chain):
        draws_by_chain = None
    return _ChainStart(states, draws_by_chain, state.first)


@contextmanager
def open_fit_folder(
    model: "Model", settings: dict[str, Any], data: Any, run: Run
) -> Iterator[tuple[FitFolder | None, np.random.SeedSequence]]:
    """Open the job folder of a fit, if requested; yield it and the seed."""
    if run.job is None:
        yield None, build_seed_sequence(run.random_seed)
        return
    model_records = {
        "": {"class": describe_model(model)["class"], "parameters": get_model_parameters(model)}
    }
    job_record = {
        "kind": "fit",
        "models": model_records,
        "settings": settings,
        "data": compute_digest(data),
    }
    with FitFolder(run.job, job_record, run.random_seed) as folder:
        yield folder, folder.seed


# Length of a run without a fixed length, computed from the size of the data ----------------------


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


def remaining_budget(sweeps: int, sweep_seconds: float) -> float:
    """Return the share of the CPU budget left after sweeps of `sweep_seconds` seconds each."""
    return 1.0 - sweeps * sweep_seconds / BUDGET


def limit_run(
    run: Run,
    thin: int,
    sweep_seconds: float,
    first_draws: int = FIRST_DRAWS,
    budget_share: float = 1.0,
) -> BudgetedRun:
    """Reduce thinning, warm-up and draws of a run to a share of the CPU budget.

    A slow run has fewer sweeps per draw unless `thin` was set. If one sweep per draw is still too
    slow, a run without a fixed length has fewer draws and warm-up draws. Requested numbers of draws
    are kept.
    """
    requested_lengths = run.lengths
    # a longer warm-up was requested
    sweeps_per_chain = int(budget_share * BUDGET / run.chains / sweep_seconds)
    tune = min(run.tune, FIRST_DRAWS)
    if run.thin is None and (tune + first_draws) * thin > sweeps_per_chain:
        thin = max(1, sweeps_per_chain // (tune + first_draws))
        run = run._replace(thin=thin)
    if run.draws is not None:
        return BudgetedRun(run, thin, run.draws, run.draws, requested_lengths, sweep_seconds)
    chain_length = sweeps_per_chain // thin  # draws and tuning states of a chain
    if tune + first_draws > chain_length:
        budget_share = chain_length / (tune + first_draws)
        first_draws = max(min(first_draws, MIN_DRAWS), int(first_draws * budget_share))
        if run.tune == tune:
            run = run._replace(tune=max(min(tune, MIN_DRAWS), int(tune * budget_share)))
    return BudgetedRun(
        run,
        thin,
        first_draws,
        max(first_draws, min(MAX_DRAWS, chain_length - run.tune)),
        requested_lengths,
        sweep_seconds,
    )
