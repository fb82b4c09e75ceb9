"""The fit of a model by chains: fresh, from a job, or beyond its end; for a given length, or until
the chains agree."""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from thali._inference.arrays import Arrays, add_prefix, decode_npz, encode_npz, select_prefix
from thali._inference.chains import (
    Chain,
    Run,
    RunMonitor,
    TimeIsUp,
    TimeLimit,
    TuningIsLong,
    choose_recorded_chains,
    run_chains,
)
from thali._inference.jobs import FitFolder, Snapshot, refuse_altered_job
from thali._inference.progress import Progress, format_duration
from thali._inference.seeds import build_seed_sequence
from thali._inference.warn import is_quiet, warn
from thali._posterior.store import appended, first_draws
from thali.errors import (
    Argument,
    ArgumentError,
    DataError,
    EstimateWarning,
    LongRunWarning,
    Setting,
)

from .model_files import describe, digest_of

if TYPE_CHECKING:
    import xarray

    from thali._posterior.convergence import ConvergenceCheck

    from .base import Model
    from .chain_model import RunByChains
    from .engine import Forecast

# effective draws of every row of the summary, at which a run of unknown length ends
SUFFICIENT_ESS = 400
MAX_DRAWS = 64_000  # of each chain of such a run
MAX_BYTES = 2 * 10**9  # of its draws, all chains together


AnyChain = TypeVar("AnyChain", bound=Chain)


@dataclass(frozen=True)
class Sampling(Generic[AnyChain]):
    """What a fit by chains runs, and what it makes of their draws, once arguments and data have
    been checked."""

    source: Any  # the data, as `RunByChains._sampling` takes them
    run: Run
    # of so many draws, each at its start
    chains: Callable[[int, np.random.SeedSequence], Sequence[AnyChain]]
    # the posterior, of the draws in their records
    tree: Callable[[Sequence[AnyChain]], "xarray.DataTree"]
    # attributes
    found: Callable[["xarray.DataTree", Sequence[AnyChain], np.random.SeedSequence], dict[str, Any]]
    # The posterior of a fit that ends, with what follows from all of its draws together.
    completed: Callable[["xarray.DataTree"], "xarray.DataTree"] = lambda tree: tree
    # once all have run their pilot
    end_pilot: Callable[[Sequence[AnyChain]], None] = lambda chains: None
    is_compiled: bool = False
    # The same with tempering, within what so many sweeps of all chains have left; None where it has
    # or may have none.
    tempered: "Callable[[int], Sampling[Any] | None]" = lambda sweeps: None
    # of the run, as its job notes them; None: those that all models share
    settings: dict[str, Any] | None = None
    # of a posterior
    length: Callable[["xarray.DataTree"], int] = lambda tree: tree["posterior"].sizes["draw"]
    # The draws in a posterior, as chains adopt them; None: they stay there, and later ones are
    # appended.
    draws_in: Callable[["xarray.DataTree"], list[Arrays]] | None = None
    status: Callable[[Sequence[AnyChain]], str] = lambda chains: ""  # shown while they run
    most: int | None = None  # longest run of unknown length; None: MAX_DRAWS
    # of each chain, at which one is looked at first; None: FIRST_DRAWS
    first_draws: int | None = None
    quicker: Setting | None = None  # a method of the model that takes less time
    # the draws of each chain that the size of the data allows; None: as many as `longest`
    bound: int | None = None
    forecast: "Forecast | None" = None  # how long it takes; None: not known before
    # How many times shorter draws are than `bound` reckons with, once a pilot has told, and columns
    # have been counted.
    shortened: Callable[[Sequence[AnyChain]], float] = lambda chains: 1.0
    # The draws of each chain at the next look, after so many and their convergence check.
    next_look: "Callable[[int, ConvergenceCheck], int]" = lambda draws, convergence: 2 * draws

    @property
    def longest(self) -> int:
        """The most draws of each chain of a run of unknown length, whatever its data."""
        return MAX_DRAWS if self.most is None else self.most

    def allowed(self, chains: Sequence[AnyChain] = ()) -> int:
        """The most draws of each chain of a run of unknown length to these data."""
        most = self.longest
        if self.bound is not None:
            tune, times = self.run.tune, self.shortened(chains) if chains else 1.0
            most = min(most, int((tune + self.bound) * times) - tune)
        return max(self.min_draws, most)

    @property
    def min_draws(self) -> int:
        """The draws of each chain that are made in any case."""
        return (
            self.first_draws if self.first_draws and self.run.draws is None else self.run.min_draws
        )


class Continuation(NamedTuple):
    """What a fit leaves for `continue_fit`: its data, its run, and the state of its chains."""

    source: Any  # data as `RunByChains._sampling` takes them; None in a file that cannot hold them
    digest: str  # of the data
    parameters: dict[str, Any]  # of the model at the time of the fit
    run: Run
    draws: int  # of each chain in the posterior
    first: int  # draws of the posterior after which those in `states` begin, if there are any
    tempered: bool  # whether the run began again with tempering
    # bytes of an npz file: the state of each chain, and its draws where the posterior lacks some
    states: np.ndarray


class _Start(NamedTuple):
    """Where chains go on from."""

    states: list[Arrays]
    draws: list[Arrays] | None  # of each chain from number `first` on; None: there are none
    first: int  # earlier draws, which are in the posterior
    is_of_other_data: bool = False  # whether the states are those of a fit to other data


def sampled(model: "RunByChains", sampling: Sampling[Any]) -> dict[str, Any]:
    """Carry out a fit; returns the fitted attributes."""
    run = sampling.run
    settings = sampling.settings
    if settings is None:
        settings = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "thin": run.thin}
    with opened_job(model, settings, sampling.source, run) as (folder, seed):
        start, place = None, {"draws": 0, "tempered": False}
        if folder is not None and folder.snapshot is not None:
            with refuse_altered_job(folder.path):
                _refuse_endless(folder.snapshot, sampling)
            start, place = (
                _Start(folder.snapshot.states, folder.snapshot.draws, 0),
                folder.snapshot.position,
            )
        shortened = "tune" in place  # its time has shortened the tuning
        if shortened:
            run = run._replace(tune=place["tune"])
            sampling = model._sampling(sampling.source, run)
        target = max(sampling.min_draws, place["draws"])
        work = _Work(
            model,
            sampling,
            run._replace(random_seed=seed),
            folder,
            place["tempered"],
            place.get("spent", 0),
        )
        work.shortened = shortened
        tree, attributes, chains = work.carry_out(target, start)
    left = digest_of(sampling.source), parameters_of(model)
    return attributes | {"_state_": work.continuation(chains, tree, *left)}


def _refuse_endless(found: Snapshot, sampling: Sampling[Any]) -> None:
    """Refuse a job that would run on after the draws that its settings allow; no fit leaves such a
    one."""
    run = sampling.run
    most = max(sampling.min_draws, sampling.longest) if run.draws is None else run.draws
    if found.position["draws"] > most or not 0 <= found.position.get("tune", 0) <= run.tune:
        raise ValueError("more draws or tuning than the settings allow")


def refuse_changed(model: "RunByChains") -> None:
    """Refuse to go on with a fit whose data or parameters are not those of the model any more."""
    was = model._state_
    if was.source is None:
        raise DataError(
            "This model was loaded from a file, which cannot contain your own data and functions;"
            " fit it again."
        )
    now = parameters_of(model)
    for name, value in was.parameters.items():
        if now[name] != value:
            raise ArgumentError(
                Argument(name),
                " was changed after the fit, so the fit cannot be continued; fit again.",
            )
    if digest_of(was.source) != was.digest:
        raise DataError(
            "The data were changed after the fit, so the fit cannot be continued; fit again."
        )


def continued(model: "RunByChains", how: Run) -> dict[str, Any]:
    """Go on with a fit; returns the fitted attributes of the longer one."""
    was = model._state_
    assert how.draws is not None
    draws = was.draws + how.draws
    run = was.run._replace(
        draws=draws, cores=how.cores, progressbar=how.progressbar, max_time=how.max_time
    )
    start, sampling = _stored(was), model._sampling(was.source, run)
    if sampling.draws_in is not None:
        found = start.draws if start.draws is not None else sampling.draws_in(model.posterior_)
        start = _Start(start.states, found, 0)
    work = _Work(model, sampling, run, None, was.tempered)
    tree, attributes, chains = work.carry_out(
        draws, start, first_draws(model.posterior_, start.first)
    )
    return attributes | {"_state_": work.continuation(chains, tree, was.digest, was.parameters)}


def updated(model: "RunByChains", source: Any, how: Run) -> dict[str, Any]:
    """A fit to a little more data than the last, whose chains begin where those of the last one
    ended."""
    was = model._state_
    run = was.run._replace(
        draws=how.draws, tune=how.tune, cores=how.cores, progressbar=how.progressbar, max_time=None
    )
    start = _Start(_stored(was).states, None, 0, is_of_other_data=True)
    work = _Work(model, model._sampling(source, run), run, None, was.tempered)
    assert how.draws is not None
    tree, attributes, chains = work.carry_out(how.draws, start)
    return attributes | {
        "_state_": work.continuation(chains, tree, digest_of(source), was.parameters)
    }


class _Work:
    """A fit while it runs."""

    def __init__(
        self,
        model: "RunByChains",
        sampling: Sampling[Any],
        run: Run,
        folder: FitFolder | None,
        tempered: bool,
        spent: int = 0,
    ) -> None:
        self.model, self.run, self.folder, self.tempered = model, run, folder, tempered
        self.spent = spent  # sweeps of all chains before they began again with tempering
        self.sampling = (sampling.tempered(spent) if tempered else None) or sampling
        self.limit = TimeLimit(run.max_time)
        self.shortened = False  # whether there is less tuning than was asked for

    def carry_out(
        self, target: int, start: _Start | None, earlier: "xarray.DataTree | None" = None
    ) -> tuple["xarray.DataTree", dict[str, Any], Sequence[Chain]]:
        """Run to `target` draws a chain, and further if the run has no fixed length; `earlier` has
        the draws before."""
        chains = self._begun(target, start)
        was_ended = (
            self.folder is not None
            and self.folder.snapshot is not None
            and self.folder.snapshot.has_ended
        )
        was_ended = was_ended and all(chain.is_done for chain in chains)
        say = self._say_long if self.run.max_time is None and not is_quiet() else None
        total = sum(chain.total for chain in chains)
        with Progress(self.run.progressbar, "sampling", total, report_seconds=say) as progress:
            self.limit.may_be_long = start is not None or self.run.tune == 0
            try:
                watch, interrupted = self._run_from_start(chains, progress, target)
            except TuningIsLong:
                chains = self._with_less_tuning(chains, progress, target)
                watch, interrupted = self._run_from_start(chains, progress, target)
            self.limit.may_be_long = True
            while True:
                # stopped before another draw
                if earlier is not None and choose_recorded_chains(chains)[1] == 0:
                    tree = earlier
                else:
                    tree = self.sampling.tree(chains)
                    tree = tree if earlier is None else appended(earlier, tree)
                attributes = {
                    "posterior_": tree,
                    "_interrupted_": interrupted,
                    **self.sampling.found(tree, chains, self.run.random_seed),
                }
                convergence = (
                    None
                    if interrupted or self.run.draws is not None
                    else self._convergence(attributes)
                )
                swept = sum(chain.sweeps for chain in chains)
                tempered = (
                    self.sampling.tempered(swept)
                    if convergence is not None and _is_stuck(convergence)
                    else None
                )
                ends = convergence is None or self._is_settled(convergence)
                ends = ends or (tempered is None and not self._may_double(chains, target))
                if not was_ended or not ends:
                    watch.finish(ends and not interrupted)
                if ends or convergence is None:
                    tree = self.sampling.completed(tree)
                    return tree, attributes | {"posterior_": tree}, chains
                if tempered is None:
                    progress.note(f"after {target:,} draws per chain the chains do not agree yet")
                    target = min(
                        self.sampling.next_look(target, convergence), self.sampling.allowed(chains)
                    )
                    chains = self._begun(target, _start_of(chains))
                else:
                    progress.note("the chains are in different modes: restarting with tempering")
                    self.sampling, self.tempered, self.spent = tempered, True, swept
                    target = self.sampling.min_draws
                    if self.folder is not None:
                        self.folder.restart()
                    chains = self._begun(target, None)
                progress.set_total(sum(chain.total for chain in chains))
                watch, interrupted = self._run_from_start(chains, progress, target)

    def _run_from_start(
        self, chains: Sequence[Chain], progress: Progress, target: int
    ) -> tuple[RunMonitor, bool]:
        """Run chains, which may stop in a pilot to be looked at together; returns whether they were
        stopped early."""
        if chains[0].in_pilot:
            self._run(chains, self._watch(chains, progress, target))
            self.sampling.end_pilot(chains)
            progress.set_total(sum(chain.total for chain in chains))
        watch = self._watch(chains, progress, target)
        return watch, self._run(chains, watch)

    def _with_less_tuning(
        self, chains: Sequence[Chain], progress: Progress, target: int
    ) -> Sequence[Chain]:
        """The chains at their start again, with as much tuning as takes about a quarter of the time
        of the run."""
        slowest = min(chains, key=lambda chain: chain.sweeps)
        a_draw = slowest.run_total / (self.run.tune + target)  # sweeps
        tune = int(slowest.sweeps / a_draw / 2)
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
        sampling = self.model._sampling(self.sampling.source, self.run)
        self.sampling = (sampling.tempered(self.spent) if self.tempered else None) or sampling
        if self.folder is not None:
            self.folder.restart()
        chains = self._begun(target, None)
        progress.set_total(sum(chain.total for chain in chains))
        return chains

    def _say_long(self, seconds: float) -> None:
        """Warn that the run takes so many seconds, and of what is quicker."""
        run, sampling = self.run, self.sampling
        if run.draws is None:
            draws, least = sampling.allowed(self.chains), sampling.min_draws
            most = seconds * (run.tune + draws) / (run.tune + least)
            until = (
                f", and up to {format_duration(most)} if the chains agree late"
                if format_duration(most) != format_duration(seconds)
                else ""
            )
            fewer: Any = Setting("draws", max(1, least // 4))
        else:
            until, fewer = "", "fewer draws"
        quicker = (sampling.quicker, ", or ", fewer) if sampling.quicker else (fewer,)
        warn(
            LongRunWarning(
                f"This fit takes about {format_duration(seconds)}{until}. Faster options: ",
                *quicker,
                ".",
            )
        )

    def _watch(self, chains: Sequence[Chain], progress: Progress, target: int) -> RunMonitor:
        place: dict[str, int] = {"draws": target, "tempered": self.tempered}
        place |= {"spent": self.spent} if self.tempered else {}
        place |= {"tune": self.run.tune} if self.shortened else {}
        return RunMonitor(chains, progress, self.folder, self.limit, place, self.sampling.status)

    def _run(self, chains: Sequence[Chain], watch: RunMonitor) -> bool:
        """Run the chains; returns whether they were stopped early."""
        try:
            return run_chains(chains, self.run.cores, watch, self.sampling.is_compiled)
        except KeyboardInterrupt:
            watch.finish(False)
            raise
        except TuningIsLong:
            raise
        except TimeIsUp:
            watch.finish(False)
            quicker = self.sampling.quicker
            ways: Any = (", or choose a faster method: ", quicker) if quicker else ()
            raise ArgumentError(
                Setting("max_time", self.run.max_time),
                " was reached before the first draw; allow more time",
                *ways,
                ".",
            ) from None

    def continuation(
        self,
        chains: Sequence[Chain],
        tree: "xarray.DataTree",
        digest: str,
        parameters: dict[str, Any],
    ) -> Continuation:
        """What the fit leaves."""
        draws = self.sampling.length(tree)
        whole = all(chain.recorded == draws for chain in chains)
        arrays: Arrays = {}
        for k, chain in enumerate(chains):
            arrays |= add_prefix(f"{k}/state/", chain.pack_state())
            if not whole:
                arrays |= add_prefix(f"{k}/draws/", chain.read_draws(chain.first, chain.recorded))
        states = np.frombuffer(encode_npz(arrays), np.uint8)
        run, first = self.run._replace(job=None), draws if whole else chains[0].first
        return Continuation(
            self.sampling.source, digest, parameters, run, draws, first, self.tempered, states
        )

    def _begun(self, target: int, start: _Start | None) -> Sequence[Chain]:
        """The chains, with room for so many draws, where they start."""
        self.chains = chains = self.sampling.chains(target, self.run.random_seed)
        if start is None:
            return chains
        with nullcontext() if self.folder is None else refuse_altered_job(self.folder.path):
            for k, chain in enumerate(chains):
                if start.is_of_other_data:
                    chain.warm_start(start.states[k])
                    continue
                chain.restore(start.states[k])
                if start.first:
                    chain.skip(start.first)
                if start.draws and (start.draws[k] or chain.recorded > chain.first):
                    chain.adopt(start.draws[k])
                if self.folder is not None and chain.recorded != self.folder.recorded[k]:
                    raise ValueError("a state after other draws than those of the job")
        return chains

    def _convergence(self, attributes: dict[str, Any]) -> "ConvergenceCheck":
        """The convergence check of a fit that ends here."""
        model = copy.copy(self.model)
        vars(model).update(attributes)
        return model._engine.agreement(model)

    def _is_settled(self, convergence: "ConvergenceCheck") -> bool:
        """Whether every row of the summary says that the chains agree and are long enough."""
        return (convergence.agrees or self.run.chains == 1) and convergence.facts.get(
            "ess", math.inf
        ) >= SUFFICIENT_ESS

    def _may_double(self, chains: Sequence[Chain], target: int) -> bool:
        size = sum(
            array.nbytes
            for chain in chains
            for array in chain.read_draws(0, chain.recorded).values()
        )
        return target < self.sampling.allowed(chains) and 2 * size <= MAX_BYTES


def _is_stuck(convergence: "ConvergenceCheck") -> bool:
    """Whether the chains disagree so much that no run within the bounds should do."""
    facts = convergence.facts
    disagree = facts.get("disagree", False)
    return disagree and (facts["apart"] or facts["longer"] * facts["draws"] > MAX_DRAWS)


def _start_of(chains: Sequence[Chain]) -> _Start:
    """Where these chains are."""
    return _Start(
        [chain.pack_state() for chain in chains],
        [chain.read_draws(0, chain.recorded) for chain in chains],
        0,
    )


def parameters_of(model: "Model") -> dict[str, Any]:
    """The parameters of a model but those of its run, which have a place of their own."""
    of_run = (*Run._fields, "random_state")
    return {
        name: value for name, value in describe(model)["parameters"].items() if name not in of_run
    }


def _stored(was: Continuation) -> _Start:
    """Where the chains of a fit were at its end."""
    arrays = decode_npz(was.states.tobytes())
    of_chains = [select_prefix(f"{k}/", arrays) for k in range(was.run.chains)]
    draws = [select_prefix("draws/", each) for each in of_chains]
    return _Start(
        [select_prefix("state/", each) for each in of_chains],
        draws if any(draws) else None,
        was.first,
    )


@contextmanager
def opened_job(
    model: "Model", settings: dict[str, Any], data: Any, run: Run
) -> Iterator[tuple[FitFolder | None, np.random.SeedSequence]]:
    """The folder of a fit, if it has one, and its seed, which is that of the job where none was
    given."""
    if run.job is None:
        yield None, build_seed_sequence(run.random_seed)
        return
    models = {"": {"class": describe(model)["class"], "parameters": parameters_of(model)}}
    stamp = {"kind": "fit", "models": models, "settings": settings, "data": digest_of(data)}
    with FitFolder(run.job, stamp, run.random_seed) as folder:
        yield folder, folder.seed
