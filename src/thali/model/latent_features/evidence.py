"""The log evidence of a latent-feature model, by chains that are tempered from the posterior down to the prior."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ConvergenceWarning, DataError
from thali.inference.progress import Progress
from thali.inference.seeds import root
from thali.inference.threads import run_in_threads
from thali.inference.warn import warn
from thali.posterior.evidence import LogEvidence, along_temperatures

from ..evidence import EvidenceRun, HasLogEvidence, checked_evidence_run
from ..sampling import refuse_changed
from .answers.columns import columns_of_chains
from .engine import build_task, compile_ahead
from .samplers.prior_ladder import PriorLadder, first_ladder, on_ladder, placed

if TYPE_CHECKING:
    from .samplers.chains import Task

LOOKED_AT = 200  # draws from the prior, by which the temperatures of the pilot are placed
PILOTS, SHARE = 4, 5  # chains by which those of the run are placed; a fifth of its draws


class LatentFeatureEvidence(HasLogEvidence):
    """The method `log_evidence` of every latent-feature model."""

    def _parts(self, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    def log_evidence(
        self,
        draws: int = 1000,
        tune: int = 200,
        chains: int = 12,
        thin: int = 5,
        cores: int | None = None,
        random_seed: Any = None,
        progressbar: bool = True,
        sensitivity: bool = False,
    ) -> LogEvidence:
        r"""The log evidence (marginal likelihood) of the model for the data of the fit.

        .. math:: \log p(\text{data}) = \log \int p(\text{data} \mid Z, w, \theta)\, dP(Z, w, \alpha, \theta)

        Chains of their own run at temperatures from the posterior down to the prior, and neighbours swap states; at
        infinite temperature every state is an independent draw from the prior. The draws at all temperatures are
        combined by the multistate acceptance ratio. The draws of the fit play no part.

        Parameters
        ----------
        draws : int of 10 or more
            Of each chain at every temperature. The standard error falls with their square root.
        tune : int
            Draws before them that are dropped.
        chains : int
            Independent chains, each with all temperatures, whose estimates give the standard error; it is at least that
            between blocks of successive draws, from which alone it comes of fewer than 12.
        thin : int
            Sweeps for each draw.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool
        sensitivity : bool
            Whether to find the evidence under other priors, too, which takes two to six times as long: the rate of the
            Gamma prior of alpha (if it is learned), the shape of that of the weights, their mean where more than
            proportions of weights counts, and of similarities the mean of the prior of sigma squared (if sigma is
            learned), each halved and doubled.

        Returns
        -------
        LogEvidence
            `.value`, `.standard_error`, `.df`, `.interval()`, `.usable`, `.verdict`, `.path` (a row a temperature), and
            `.sensitivity`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an argument is outside its range, the fit was stopped early, parameters were changed after it, a prior
            cannot be drawn from, or sigma was chosen by cross-validation.
        DataError
            If the data were changed after the fit, or no draw from the prior allows them.

        Warns
        -----
        ConvergenceWarning
            If the value is not usable.

        References
        ----------
        Shirts & Chodera (2008), Statistically optimal analysis of samples from multiple equilibrium states.

        Examples
        --------
        >>> import thali as th
        >>> data = th.PairedComparisons([[0, 3], [1, 0]])
        >>> model = th.EliminationByAspects("unique", lapse=0).fit(
        ...     data, draws=100, tune=100, random_seed=1, progressbar=False
        ... )
        >>> found = model.log_evidence(draws=200, random_seed=1, progressbar=False)
        >>> low, high = found.interval(0.999)
        >>> bool(low < -1.609 < high)  # the logarithm of 4 B(4, 2) = 1/5
        True
        """
        self._fitted()
        how = checked_evidence_run(draws, tune, chains, thin, cores, random_seed, progressbar, sensitivity)
        self._refuse_unfinished()
        refuse_changed(self)
        found = self._evidence_of(self._data_of_fit(), how)
        if not found.usable:
            warn(ConvergenceWarning(found.verdict.message))
        return found

    def _evidence_parts(self, data: Any) -> dict[str, Any]:
        """The parts whose evidence is meant."""
        return self._parts(data)

    def _evidence_of(self, data: Any, how: EvidenceRun) -> LogEvidence:
        from .evidence_sensitivity import sensitivity_of

        data = self._as_data(data)
        parts = self._evidence_parts(data)
        task = task_of(parts, data, how)
        found, ladders = run_ladders(task, parts, data, how)
        return (
            replace(found, sensitivity=sensitivity_of(found, ladders, parts, data, how)) if how.sensitivity else found
        )


def task_of(parts: dict[str, Any], data: Any, how: EvidenceRun) -> "Task":
    """What the chains run, after every check; the sampler is the recommended one."""
    of_run = {"draws": how.draws, "tune": how.tune, "thin": how.thin}
    task = build_task(data=data, **of_run, **parts | {"sampler": None, "tempering": False})
    # refuses a prior that is a density alone, which may be improper
    parts["likelihood"].prior_parameters(data, task.model.weights, np.random.default_rng(0))
    return task


def run_ladders(
    task: "Task", parts: dict[str, Any], data: Any, how: EvidenceRun
) -> tuple[LogEvidence, list[PriorLadder]]:
    """Place the temperatures, run the chains, and combine their draws."""
    seeds = root(how.random_seed).spawn(3)
    total = how.chains * (task.tune + task.draws) * task.thin
    with Progress(how.progressbar, "log evidence", total, "sweeps") as progress:
        compile_ahead(task, progress)
        beta = _levels(task, how, seeds, progress)
        ladders = on_ladder(task, beta, how.chains, seeds[2])
        run_in_threads(ladders, how.cores, progress)
        progress.note("combining the draws of all temperatures")
        swaps = [np.sum([getattr(each.ladder, name) for each in ladders], axis=0) for name in ("accepted", "tried")]
        rates = swaps[0] / np.maximum(swaps[1], 1.0)
        return along_temperatures(beta, _energies(ladders), rates, _constant(ladders[0], parts, data)), ladders


def _levels(task: "Task", how: EvidenceRun, seeds: Sequence[Any], progress: Progress) -> np.ndarray:
    """Inverse temperatures from 1 to 0, placed by short runs."""

    def energies(draws: int, tune: int, beta: np.ndarray, chains: int, seed: Any) -> np.ndarray:
        short = on_ladder(replace(task, draws=draws, tune=tune, thin=1), beta, chains, seed)
        progress.note("placing the temperatures")
        run_in_threads(short, how.cores, _Quiet())
        return _energies(short)

    of_prior = energies(LOOKED_AT, 0, np.array([1.0, 0.0]), 1, seeds[0])[0, :, -1]
    if not np.isfinite(of_prior).any():
        raise DataError(
            f"None of {LOOKED_AT} draws from the prior gives the data a likelihood above 0, so their evidence cannot "
            "be found; check the likelihood, or take priors that suit the data."
        )
    beta, draws = first_ladder(of_prior), max(LOOKED_AT, how.draws // SHARE)
    return placed(beta, energies(draws, draws, beta, PILOTS, seeds[1]))


class _Quiet:
    """Shows nothing."""

    def update(self, done: int) -> None:
        pass


def _energies(ladders: Sequence[PriorLadder]) -> np.ndarray:
    """Log-likelihoods (chains, draws, temperatures)."""
    return np.stack([each.energies for each in ladders])


def _constant(ladder: PriorLadder, parts: dict[str, Any], data: Any) -> float:
    """What the log-likelihood of the samplers leaves out."""
    drawn = ladder.draws_before(1)
    columns = columns_of_chains([drawn], 1)
    return parts["likelihood"].posterior_part(columns, drawn.extra, data, (1, 1), False).log_constant
