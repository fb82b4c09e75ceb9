"""The log evidence of a latent-feature model: the method of every such model."""

from typing import Any

from thali.errors import ArgumentError, ConvergenceWarning
from thali.inference.warn import warn
from thali.posterior.evidence import LogEvidence

from ..evidence import EvidenceRun, HasLogEvidence, checked_evidence_run
from ..sampling import refuse_changed
from .population import Population


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
        combined by the multistate acceptance ratio. The draws of the fit play no part. Of several groups of people the
        data are those of all groups; a fit with ``weights="common"`` is one to the pooled data, and `thali.compare`
        takes the probability of the data of each group there, too.

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
            Whether to find the evidence under other priors, too, which takes two to six times as long, of one group of
            people: the rate of the Gamma prior of alpha (if it is learned), the shape of that of the weights, their
            mean where more than proportions of weights counts, and of similarities the mean of the prior of sigma
            squared (if sigma is learned), each halved and doubled.

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
        ...     data, draws=200, tune=100, random_seed=1, progressbar=False
        ... )
        >>> found = model.log_evidence(draws=200, random_seed=1, progressbar=False)
        >>> low, high = found.interval(0.999)
        >>> bool(low < -1.609 < high)  # the logarithm of 4 B(4, 2) = 1/5
        True
        """
        self._fitted()
        how = checked_evidence_run(draws, tune, chains, thin, cores, random_seed, progressbar, sensitivity)
        self._refuse_unfinished()
        if "_state_" not in vars(self):
            raise ArgumentError("The evidence needs the data of the fit, and this model has none; fit it to them.")
        refuse_changed(self)
        data = self._data_of_fit()
        found = self._population(data).evidence(data, self._evidence_parts(data), how)
        if not found.usable:
            warn(ConvergenceWarning(found.verdict.message))
        return found

    def _evidence_parts(self, data: Any) -> dict[str, Any]:
        """The parts whose evidence is meant."""
        return self._parts(data)

    def _population(self, data: Any) -> Population:
        raise NotImplementedError

    def _evidence_of(self, data: Any, how: EvidenceRun) -> LogEvidence:
        return self._population(data).evidence_of(self, data, how)
