"""Runs of Markov chains for a fit: start, continue, lengthen until the chains agree."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
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
    Argument,
    ArgumentError,
    DataError,
    EstimateWarning,
    LongRunWarning,
    Setting,
)

from .fitting_methods import Forecast
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


@dataclass(frozen=True)
class Sampling(Generic[AnyChain]):
    """Chains for checked data, and functions that turn their draws into a posterior."""

    source: Any  # the data, as `MarkovChainModel._build_sampling` takes them
    run: Run
    # builds chains for a number of draws, each at its start
    chains: Callable[[int, np.random.SeedSequence], Sequence[AnyChain]]
    # returns the posterior of the recorded draws
    tree: Callable[[Sequence[AnyChain]], "xarray.DataTree"]
    # returns other fitted attributes
    build_attributes: Callable[
        ["xarray.DataTree", Sequence[AnyChain], np.random.SeedSequence], dict[str, Any]
    ]
    # Adds quantities that depend on all draws together, at the end of a fit.
    complete_tree: Callable[["xarray.DataTree"], "xarray.DataTree"] = lambda tree: tree
    # called once all chains have run their pilot
    end_pilot: Callable[[Sequence[AnyChain]], None] = lambda chains: None
    is_compiled: bool = False
    # Returns the sampling with tempering, within the budget left after so many sweeps of all
    # chains; None if it is tempered already or cannot be.
    with_tempering: "Callable[[int], Sampling[Any] | None]" = lambda sweeps: None
    # settings of the run in the record of its job; None: the settings that all models share
    settings: dict[str, Any] | None = None
    # returns the number of draws per chain of a posterior
    count_draws: Callable[["xarray.DataTree"], int] = lambda tree: tree["posterior"].sizes["draw"]
    # Reads draws from a posterior for `Chain.adopt_draws`; None: later draws are appended to the
    # posterior.
    read_draws: Callable[["xarray.DataTree"], list[Arrays]] | None = None
    status: Callable[[Sequence[AnyChain]], str] = lambda chains: ""  # shown during the run
    max_draws: int | None = None  # longest run without a fixed length; None: MAX_DRAWS
    # per chain, at the first convergence check; None: FIRST_DRAWS
    first_draws: int | None = None
    faster: Setting | None = None  # a faster method of the model
    # draws per chain that the size of the data allows; None: `max_draws`
    data_max_draws: int | None = None
    forecast: Forecast | None = None  # run time; None: unknown
    # Factor by which draws are faster than `data_max_draws` assumes, known after a pilot.
    measure_speedup: Callable[[Sequence[AnyChain]], float] = lambda chains: 1.0
    # Returns the draws per chain at the next convergence check.
    choose_next_check: "Callable[[int, ConvergenceCheck], int]" = lambda draws, convergence: (
        2 * draws
    )

    @property
    def max_open_draws(self) -> int:
        """Maximum draws per chain of a run without a fixed length, whatever the data."""
        if self.max_draws is None:
            return MAX_DRAWS
        return self.max_draws

    def count_allowed_draws(self, chains: Sequence[AnyChain] = ()) -> int:
        """Return maximum draws per chain of a run without fixed length, for these data."""
        max_draws = self.max_open_draws
        if self.data_max_draws is not None:
            tune = self.run.tune
            speedup = 1.0
            if chains:
                speedup = self.measure_speedup(chains)
            max_draws = min(max_draws, int((tune + self.data_max_draws) * speedup) - tune)
        return max(self.min_draws, max_draws)

    @property
    def min_draws(self) -> int:
        """Draws per chain before the first convergence check."""
        if self.first_draws and self.run.draws is None:
            return self.first_draws
        return self.run.min_draws


class Continuation(NamedTuple):
    """State that `continue_fit` needs: data, run settings, chain states."""

    source: Any  # data of `_build_sampling`; None in a file that cannot store them
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


def run_sampling(model: "MarkovChainModel", sampling: Sampling[Any]) -> dict[str, Any]:
    """Run the chains of a fit, from its job folder if any; return fitted attributes."""
    run = sampling.run
    recorded_settings = sampling.settings
    if recorded_settings is None:
        recorded_settings = run.lengths
    with open_fit_folder(model, recorded_settings, sampling.source, run) as (folder, seed):
        chain_start = None
        run_position = {"draws": 0, "tempered": False}
        if folder is not None and folder.snapshot is not None:
            with refuse_altered_job(folder.path):
                _check_position(folder.snapshot, sampling)
            chain_start = _ChainStart(folder.snapshot.states, folder.snapshot.draws, 0)
            run_position = folder.snapshot.position
        is_shortened = "tune" in run_position  # the time limit has shortened the warm-up
        if is_shortened:
            run = run._replace(tune=run_position["tune"])
            sampling = model._build_sampling(sampling.source, run)
        target_draws = max(sampling.min_draws, run_position["draws"])
        running_fit = RunningFit(
            model,
            sampling,
            run._replace(random_seed=seed),
            folder,
            run_position["tempered"],
            run_position.get("spent", 0),
        )
        running_fit.shortened = is_shortened
        tree, attributes, chains = running_fit.run_until_done(target_draws, chain_start)
    continuation = running_fit.build_continuation(
        chains, tree, compute_digest(sampling.source), get_model_parameters(model)
    )
    return attributes | {"_state_": continuation}


def _check_position(snapshot: Snapshot, sampling: Sampling[Any]) -> None:
    """Raise ValueError if a stored job has more draws than its settings allow."""
    run_settings = sampling.run
    max_draws = run_settings.draws
    if max_draws is None:
        max_draws = max(sampling.min_draws, sampling.max_open_draws)
    if (
        snapshot.position["draws"] > max_draws
        or not 0 <= snapshot.position.get("tune", 0) <= run_settings.tune
    ):
        raise ValueError("more draws or tuning than the settings allow")


def check_unchanged(model: "MarkovChainModel") -> None:
    """Raise if data or parameters were changed after the fit."""
    continuation = model._state_
    if continuation.source is None:
        raise DataError(
            "This model was loaded from a file, which cannot contain your own data and functions;"
            " fit it again."
        )
    parameters = get_model_parameters(model)
    for name, value in continuation.parameters.items():
        if parameters[name] != value:
            raise ArgumentError(
                Argument(name),
                " was changed after the fit, so the fit cannot be continued; fit again.",
            )
    if compute_digest(continuation.source) != continuation.digest:
        raise DataError(
            "The data were changed after the fit, so the fit cannot be continued; fit again."
        )


def continue_sampling(model: "MarkovChainModel", additional_run: Run) -> dict[str, Any]:
    """Draw more after a finished fit; return the fitted attributes of the longer fit."""
    continuation = model._state_
    assert additional_run.draws is not None
    total_draws = continuation.draws + additional_run.draws
    run = continuation.run._replace(
        draws=total_draws,
        cores=additional_run.cores,
        progressbar=additional_run.progressbar,
        max_time=additional_run.max_time,
    )
    chain_start = _load_start(continuation)
    sampling = model._build_sampling(continuation.source, run)
    if sampling.read_draws is not None:
        draws_by_chain = chain_start.draws
        if draws_by_chain is None:
            draws_by_chain = sampling.read_draws(model.posterior_)
        chain_start = _ChainStart(chain_start.states, draws_by_chain, 0)
    running_fit = RunningFit(model, sampling, run, None, continuation.tempered)
    tree, attributes, chains = running_fit.run_until_done(
        total_draws, chain_start, select_first_draws(model.posterior_, chain_start.first)
    )
    return attributes | {
        "_state_": running_fit.build_continuation(
            chains, tree, continuation.digest, continuation.parameters
        )
    }


def update_sampling(model: "MarkovChainModel", source: Any, update_run: Run) -> dict[str, Any]:
    """Refit to slightly more data, with chains started where the last fit ended."""
    continuation = model._state_
    run = continuation.run._replace(
        draws=update_run.draws,
        tune=update_run.tune,
        cores=update_run.cores,
        progressbar=update_run.progressbar,
        max_time=None,
    )
    chain_start = _ChainStart(_load_start(continuation).states, None, 0, is_of_other_data=True)
    running_fit = RunningFit(
        model, model._build_sampling(source, run), run, None, continuation.tempered
    )
    assert update_run.draws is not None
    tree, attributes, chains = running_fit.run_until_done(update_run.draws, chain_start)
    return attributes | {
        "_state_": running_fit.build_continuation(
            chains, tree, compute_digest(source), continuation.parameters
        )
    }


@dataclass
class RunningFit:
    """The chains of a fit while they run, with time limit and job folder."""

    model: "MarkovChainModel"
    sampling: Sampling[Any]
    run: Run
    folder: FitFolder | None
    tempered: bool
    spent: int = 0  # sweeps of all chains before the restart with tempering
    shortened: bool = False  # whether the warm-up is shorter than requested

    def __post_init__(self) -> None:
        self._temper()
        self.limit = TimeLimit(self.run.max_time)

    def _temper(self) -> None:
        """Replace the sampling of a tempered fit by tempered sampling, if there is one."""
        if self.tempered:
            self.sampling = self.sampling.with_tempering(self.spent) or self.sampling

    def run_until_done(
        self, target: int, start: _ChainStart | None, earlier: "xarray.DataTree | None" = None
    ) -> tuple["xarray.DataTree", dict[str, Any], Sequence[Chain]]:
        """Run to `target` draws per chain; without a fixed length, until the chains agree.

        `earlier` has the draws of the posterior before this run.
        """
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
                tree = self._build_tree(chains, earlier)
                attributes = {
                    "posterior_": tree,
                    "_interrupted_": is_interrupted,
                    **self.sampling.build_attributes(tree, chains, self.run.random_seed),
                }
                convergence = None
                if not is_interrupted and self.run.draws is None:
                    convergence = self._check_convergence(attributes)
                n_sweeps = sum(chain.sweeps for chain in chains)
                tempered_sampling = None
                if convergence is not None and _is_stuck(convergence):
                    tempered_sampling = self.sampling.with_tempering(n_sweeps)
                is_last = convergence is None or self._is_settled(convergence)
                is_last = is_last or (
                    tempered_sampling is None and not self._may_double(chains, target)
                )
                if not had_ended or not is_last:
                    monitor.finish(is_last and not is_interrupted)
                if is_last or convergence is None:
                    tree = self.sampling.complete_tree(tree)
                    return tree, attributes | {"posterior_": tree}, chains
                if tempered_sampling is None:
                    progress.note(f"after {target:,} draws per chain the chains do not agree yet")
                    target = min(
                        self.sampling.choose_next_check(target, convergence),
                        self.sampling.count_allowed_draws(chains),
                    )
                    chains = self._start_chains(target, _build_start(chains))
                else:
                    progress.note("the chains are in different modes: restarting with tempering")
                    self.sampling, self.tempered, self.spent = tempered_sampling, True, n_sweeps
                    target = self.sampling.min_draws
                    if self.folder is not None:
                        self.folder.restart()
                    chains = self._start_chains(target, None)
                progress.set_total(sum(chain.total for chain in chains))
                monitor, is_interrupted = self._run_with_pilot(chains, progress, target)

    def _has_ended(self, chains: Sequence[Chain]) -> bool:
        """Return whether the job folder already contains the finished run."""
        if self.folder is None or self.folder.snapshot is None:
            return False
        return self.folder.snapshot.has_ended and all(chain.is_done for chain in chains)

    def _build_tree(
        self, chains: Sequence[Chain], earlier: "xarray.DataTree | None"
    ) -> "xarray.DataTree":
        """Build the posterior from these chains, appended to the draws of an earlier fit if any."""
        if earlier is None:
            return self.sampling.tree(chains)
        if choose_recorded_chains(chains)[1] == 0:  # stopped before the next draw
            return earlier
        return append_draws(earlier, self.sampling.tree(chains))

    def _run_with_pilot(
        self, chains: Sequence[Chain], progress: Progress, target: int
    ) -> tuple[RunMonitor, bool]:
        """Run a pilot if needed, then the chains; return monitor and "was stopped early"."""
        if chains[0].in_pilot:
            self._run(chains, self._build_monitor(chains, progress, target))
            self.sampling.end_pilot(chains)
            progress.set_total(sum(chain.total for chain in chains))
        monitor = self._build_monitor(chains, progress, target)
        return monitor, self._run(chains, monitor)

    def _restart_with_short_warmup(
        self, chains: Sequence[Chain], progress: Progress, target: int
    ) -> Sequence[Chain]:
        """Restart the chains with a warm-up of about a quarter of the time limit."""
        slowest = min(chains, key=lambda chain: chain.sweeps)
        sweeps_per_draw = slowest.run_total / (self.run.tune + target)  # sweeps
        tune = int(slowest.sweeps / sweeps_per_draw / 2)
        warn(
            EstimateWarning(
                "Half of ",
                Setting("max_time", self.run.max_time),
                f" has passed, but the chains are still warming up. They start again with {tune:,}"
                f" warm-up draws instead of {self.run.tune:,}. For better results, allow more"
                " time.",
            )
        )
        progress.note("warm-up takes too long: restarting with a shorter warm-up")
        self.limit.may_be_long = self.shortened = True
        self.run = self.run._replace(tune=tune)
        self.sampling = self.model._build_sampling(self.sampling.source, self.run)
        self._temper()
        if self.folder is not None:
            self.folder.restart()
        chains = self._start_chains(target, None)
        progress.set_total(sum(chain.total for chain in chains))
        return chains

    def _warn_long_run(self, seconds: float) -> None:
        """Warn that the run will take long, and name faster options."""
        run = self.run
        sampling = self.sampling
        if run.draws is None:
            max_draws = sampling.count_allowed_draws(self.chains)
            min_draws = sampling.min_draws
            max_seconds = seconds * (run.tune + max_draws) / (run.tune + min_draws)
            longest_run_text = ""
            if format_duration(max_seconds) != format_duration(seconds):
                longest_run_text = (
                    f", and up to {format_duration(max_seconds)} if the chains agree late"
                )
            fewer_draws: Any = Setting("draws", max(1, min_draws // 4))
        else:
            longest_run_text, fewer_draws = "", "fewer draws"
        option_parts = [fewer_draws]
        if sampling.faster:
            option_parts = [sampling.faster, ", or ", fewer_draws]
        warn(
            LongRunWarning(
                f"This fit takes about {format_duration(seconds)}{longest_run_text}. Faster"
                " options: ",
                *option_parts,
                ".",
            )
        )

    def _build_monitor(
        self, chains: Sequence[Chain], progress: Progress, target: int
    ) -> RunMonitor:
        """Build the monitor that shows progress and saves states of the run."""
        run_position: dict[str, int] = {"draws": target, "tempered": self.tempered}
        if self.tempered:
            run_position["spent"] = self.spent
        if self.shortened:
            run_position["tune"] = self.run.tune
        return RunMonitor(
            chains, progress, self.folder, self.limit, run_position, self.sampling.status
        )

    def _run(self, chains: Sequence[Chain], monitor: RunMonitor) -> bool:
        """Run the chains to their end; return whether they were stopped early."""
        try:
            return run_chains(chains, self.run.cores, monitor, self.sampling.is_compiled)
        except KeyboardInterrupt:
            monitor.finish(False)
            raise
        except TuningIsLong:
            raise
        except TimeIsUp:
            monitor.finish(False)
            faster_text: tuple[Any, ...] = ()
            if self.sampling.faster:
                faster_text = (", or choose a faster method: ", self.sampling.faster)
            raise ArgumentError(
                Setting("max_time", self.run.max_time),
                " was reached before the first draw; allow more time",
                *faster_text,
                ".",
            ) from None

    def build_continuation(
        self,
        chains: Sequence[Chain],
        tree: "xarray.DataTree",
        digest: str,
        parameters: dict[str, Any],
    ) -> Continuation:
        """Build the state that `continue_fit` needs from the finished chains."""
        n_draws = self.sampling.count_draws(tree)
        has_all_draws = all(chain.recorded == n_draws for chain in chains)
        arrays: Arrays = {}
        for k, chain in enumerate(chains):
            arrays |= add_prefix(f"{k}/state/", chain.pack_state())
            if not has_all_draws:
                arrays |= add_prefix(f"{k}/draws/", chain.read_draws(chain.first, chain.recorded))
        states = np.frombuffer(encode_npz(arrays), np.uint8)
        run = self.run._replace(job=None)
        first_draw = n_draws
        if not has_all_draws:
            first_draw = chains[0].first
        return Continuation(
            self.sampling.source,
            digest,
            parameters,
            run,
            n_draws,
            first_draw,
            self.tempered,
            states,
        )

    def _start_chains(self, target: int, start: _ChainStart | None) -> Sequence[Chain]:
        """Build chains with room for `target` draws, in the states of `start` if given."""
        self.chains = chains = self.sampling.chains(target, self.run.random_seed)
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

    def _check_convergence(self, attributes: dict[str, Any]) -> "ConvergenceCheck":
        """Return the convergence check of the fit with these attributes."""
        model = copy.copy(self.model)
        vars(model).update(attributes)
        return model._engine.check_chains(model)

    def _is_settled(self, convergence: "ConvergenceCheck") -> bool:
        """Return whether the chains agree and effective sample sizes suffice."""
        return (convergence.agrees or self.run.chains == 1) and convergence.facts.get(
            "ess", math.inf
        ) >= SUFFICIENT_ESS

    def _may_double(self, chains: Sequence[Chain], target: int) -> bool:
        """Return whether twice the draws fit the limits of draws and memory."""
        n_bytes = sum(
            array.nbytes
            for chain in chains
            for array in chain.read_draws(0, chain.recorded).values()
        )
        return target < self.sampling.count_allowed_draws(chains) and 2 * n_bytes <= MAX_BYTES


def _is_stuck(convergence: "ConvergenceCheck") -> bool:
    """Return whether the chains disagree so much that a longer run cannot help."""
    facts = convergence.facts
    return facts.get("disagree", False) and (
        facts["apart"] or facts["longer"] * facts["draws"] > MAX_DRAWS
    )


def _build_start(chains: Sequence[Chain]) -> _ChainStart:
    """Return the current states and draws of chains, to start longer ones."""
    return _ChainStart(
        [chain.pack_state() for chain in chains],
        [chain.read_draws(0, chain.recorded) for chain in chains],
        0,
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
