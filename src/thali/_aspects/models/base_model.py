"""The base of all latent-feature models: a prior over features and a likelihood."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._inference.markov_chains import FIRST_DRAWS, Run
from thali._inference.user_warnings import warn
from thali._model.data_argument_check import check_data
from thali._model.evidence_arguments import EvidenceRun, build_evidence_run
from thali._model.fitting_methods import Engine, PreparedFit
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.method_requirements import mark_as_setup, require_draws, requires
from thali._model.simulated_data import PriorSample
from thali._people.people_argument import refuse_groups
from thali._posterior.log_evidence import LogEvidence
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError, ConvergenceWarning, Setting

from ..samplers.sampling_task import PreparedChains, build_task
from ..simulation import build_observed, sample_prior_features, simulate_replicates
from .sampling_engine import FEATURE_SAMPLING

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._data.similarities import Similarities
    from thali._inference.random_seeds import RandomSeed
    from thali._posterior.convergence_check import Advice
    from thali._posterior.respondent_dependence import Dependence
    from thali._trees.tree import Tree

    from ..results.matched_features import MatchedFeatures
    from ..results.posterior_results import PosteriorResults


class LatentFeatures(MarkovChainModel):
    """Base of the latent-feature models: fits, draws, summaries and features.

    A subclass defines `_build_task_arguments(data)`: prior, likelihood, weight_prior, alpha and
    tempering for these data; and `_get_prior_tree()`, the tree of the prior, if it has one.
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": FEATURE_SAMPLING}
    _matrix: ClassVar[str] = ""  # the data kind of a plain matrix
    _FINDINGS: ClassVar[str] = "thali._aspects.findings.latent_feature_model"
    _VIEW = Posterior

    @property
    def _data_results(self) -> "PosteriorResults":
        """Results for the data kind of the fit, built once."""
        from ..results.result_classes import load_results

        posterior = self._view
        return self._compute_once("answers", lambda: load_results(posterior))

    @property
    def _results(self) -> Any:
        """Results of the fitting method: of draws, or of estimates."""
        if self._engine.draws:
            return self._data_results
        return self._engine.get_results(self)

    def _build_task_arguments(self, data: Any) -> dict[str, Any]:
        """Return arguments of the sampling task: prior, likelihood, weight prior and others."""
        raise NotImplementedError

    def _build_prepare_arguments(self, data: Any) -> dict[str, Any]:
        """Return arguments of the sampling task that `prepare` checks."""
        return self._build_task_arguments(data)

    def _build_evidence_arguments(self, data: Any) -> dict[str, Any]:
        """Return arguments of the sampling task whose evidence is estimated."""
        return self._build_task_arguments(data)

    def _name_given_features(self, labels: Sequence[str]) -> dict[frozenset[str], str]:
        """Return the names of given features by the labels of their owners; {} if not given."""
        return {}

    def _get_prior_tree(self) -> "Tree | None":
        """Return the phylogenetic tree given as features, or None."""
        raise NotImplementedError

    def _choose_dependence(self, data: Any, task_arguments: dict[str, Any]) -> "Dependence | None":
        """Return None: no correction for repeated answers of a respondent, unless overridden."""
        return None

    def _convert_data(self, data: Any) -> Any:
        """Return the data of `fit` as models store them."""
        refuse_groups(data)
        return check_data(data, matrix_kind=self._matrix)

    def fit(
        self,
        data: Any,
        draws: int | None = None,
        tune: int = 1000,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: "RandomSeed" = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> Any:
        """Fit the model by its method: draw from the posterior, or estimate one point.

        Parameters
        ----------
        data : PairedComparisons, Choices, Similarities or Triplets
            With a custom likelihood, its NamedTuple.
        draws : int, optional
            States kept in each chain. None draws until every number with an R-hat has one of at
            most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,
            2,000, 4,000, ... draws, and stops at 64,000 or 2 GB. Of similarities and triplets what
            is predicted of pairs and the features that they share count, too. Tempered chains are
            looked at from 500 draws on. Where the chains stay in different families of features, so
            that more draws would not help, the run starts again with ``tempering=8``, unless the
            model says how it tempers or more than half of the CPU time that a fit without ``draws``
            may take is used.
        tune : int
            States of each chain that are discarded first, while step sizes adapt.
        chains : int
            Independent chains.
        thin : int, optional
            Sweeps of the sampler for each state. None chooses, in the first 400 sweeps of tuning,
            the fewest with which half of the draws are effective: 25 at most, so many that there
            are 400 sweeps of tuning, and 25 with less than 16 states to tune. With tempering 50 (of
            every replica) where `draws` are given or levels are annealed, otherwise between 10 and
            that.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the
            draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same fit
            goes on from it after the process was killed, and gives the draws of an unbroken run;
            with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn. If half of them pass in
            tuning, the chains start again with less of it, and a warning says so.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data cannot be used, or the job is damaged, is in use, or is another fit.

        Warns
        -----
        DataWarning
            If the data are unusual, such as comparisons that do not connect all options.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        run = Run(
            draws=draws,
            tune=tune,
            chains=chains,
            thin=thin,
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            job=job,
            max_time=max_time,
        )
        return self._run_job(self._build_job(data, run))

    @mark_as_setup
    def prepare(
        self, data: Any, draws: int = 1000, tune: int = 1000, thin: int | None = None, **others: Any
    ) -> PreparedFit:
        """Check a fit and return its sampling task, without drawing."""
        if not self._engine.draws:
            return self._engine.prepare(self, data)
        data = self._convert_data(data)
        task_arguments = self._build_prepare_arguments(data)
        task = build_task(
            data=data, draws=draws or FIRST_DRAWS, tune=tune, thin=thin, **task_arguments
        )
        lapse = None
        if data.are_choices:
            lapse = float(task_arguments["likelihood"].lapse)
        return PreparedChains(lapse, task=task)

    def _choose_arguments(self, data: Any, run: Run) -> dict[str, Any]:
        """Choose arguments by the data; return fitted attributes that describe the choice."""
        return {}

    def _suggest_faster_setting(self, data: Any) -> Setting | None:
        """Return the setting that makes a fit faster; None by default."""
        return None

    def _sample_prior(self, rngs: Sequence[np.random.Generator], data: Any) -> PriorSample:
        """Draw features, parameters and data from the prior, once per generator."""
        data = self._convert_data(data)
        task_arguments = self._build_task_arguments(data)
        task = build_task(data=data, draws=1, tune=0, thin=None, **task_arguments)
        return sample_prior_features(task, task_arguments["likelihood"], data, rngs)

    def _simulate_replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        """Simulate data of the same design at every posterior draw."""
        data = self._convert_data(data)
        likelihood = self._build_task_arguments(data)["likelihood"]
        return simulate_replicates(self._view, likelihood, data, rng)

    def _build_observed(self, data: Any) -> dict[str, np.ndarray]:
        """Return these data as arrays named as in `observed_data`."""
        data = self._convert_data(data)
        return build_observed(self._view, self._build_task_arguments(data)["likelihood"], data)

    def _compute_log_evidence(self, data: Any, run: EvidenceRun) -> LogEvidence:
        """Estimate the log evidence of the model for these data."""
        from ..samplers.tempered_evidence import estimate_evidence

        data = self._convert_data(data)
        return estimate_evidence(self._build_evidence_arguments(data), data, run)

    def _get_fitted_labels(self) -> list[str]:
        """Return the labels of the fitted options; [] if unavailable."""
        return self._results.labels

    def _restore(self, fitted_attributes: dict[str, Any], path: object) -> None:
        """Set fitted attributes from a file, after a check of the posterior's layout."""
        from ..results.saved_posterior_layout import check_layout

        if self._engine.draws:
            check_layout(fitted_attributes["posterior_"], path)
        super()._restore(fitted_attributes, path)

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return the draws of all summary rows, by name."""
        return self._data_results.quantities()

    def _get_further_checked_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of weights, presence and pairs that are checked, by row name."""
        return self._data_results.table_quantities()

    def _get_advice(self) -> "Advice":
        """Return the remedy for chains that disagree, by the kind of data."""
        return self._data_results.advice()

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return mean, sd, interval, Monte Carlo error, ESS and R-hat of label-free quantities.

        Rows: n_features (for similarities n_shared_features, with at least two owners), alpha (if
        learned), log_likelihood (of the full data, including constants), and for choices tie (nu,
        if there are ties), choice_probability[a, b] of every compared pair (up to 60 options; with
        up to 1,000 options worth[a], the share of an option in the sum of all utilities, and
        rank[a]) or set_probability[a | a, b, ...] of every member of every set (up to 2,000 of
        them; worth[a] and rank[a] if options share no feature), for similarities sigma (if
        learned), constant and presence[a, b, ...], whether a draw has the feature with exactly
        these owners, for every feature with probability > 0.2; custom likelihoods have presence
        too.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
            ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return super().summary(ci)

    @requires(require_draws)
    def features(
        self, min_probability: float = 0.05, similar: float | None = None, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        """Return the features with members, posterior probability and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features with a smaller probability are omitted.
        similar : float between 0 and 1, optional
            None: features are merged if they have exactly the same owners. A number such as 0.8:
            features of different draws are matched if their owners are similar, which suits
            features with dozens of owners. The features of each draw are assigned to common
            features by the weighted Jaccard index of their owners and the common feature's
            membership, if it is at least this number; the first common features come from a
            consensus draw.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per set of owners, the most probable first; for choices, features that are not
            identified come last (all options own them, or one option that also has a unique
            weight). Columns: members (labels), weight (mean of their sum, if present) and its
            interval, copies (expected number of columns), and for the probability its Monte Carlo
            standard error `mcse`; effective sample size `ess` and `r_hat` of the probability, or of
            the weight of a feature that every draw has (both NaN for a probability of at most 0.2
            and for features that are not identified, which the convergence check omits);
            `converged` (False if R-hat of the probability exceeds 1.05: the chains disagree), its
            value in each chain (``chain 0``, ...) if the chains disagree on any feature, then
            probability. Weights are comparable within a
            fit; they are omitted if a custom likelihood ignores them. With a tree as prior, a first
            column `place` gives the position of the owners: "leaf", "clade" (all leaves below one
            inner node; with its name, if it has one), "root" (all), or "across". Matched features
            are numbered from 1; their members are the options with a membership >= 0.5 (see
            `membership`), `stability` is the mean Jaccard index of the owners in each draw and the
            membership, their probability is that a draw has the feature, and `ess` and `r_hat` are
            missing.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability, similar or ci is out of its range.
        """
        from ..results.feature_table import (
            feature_plot_inputs,
            insert_diagnostics,
            locate_in_tree,
        )

        features_table = self._data_results.features(
            min_probability, similar, self._match_features, ci
        )
        if similar is None:
            insert_diagnostics(features_table, self._select_convergence_rows())
        features_table.attrs |= feature_plot_inputs(self._view) | {"interval": ci}
        if prior_tree := self._get_prior_tree():
            features_table.insert(0, "place", locate_in_tree(features_table["members"], prior_tree))
        return features_table

    @requires(require_draws)
    def membership(self, similar: float = 0.8, min_probability: float = 0.05) -> "pandas.DataFrame":
        """Return the membership of each option in features matched across draws.

        Parameters
        ----------
        similar : float between 0 and 1
            Smallest Jaccard index at which features are merged, as in `features`.
        min_probability : float in [0, 1]
            Features with a smaller probability are omitted.

        Returns
        -------
        pandas.DataFrame
            Options by features, numbered as the rows of ``features(min_probability, similar)``:
            among draws with the feature, the share in which the option owns it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability or similar is out of its range.
        """
        from ..results.matched_features import matched_features_table, membership_table

        matched = self._match_features(similar, min_probability)
        memberships = membership_table(self._view, matched)
        features = matched_features_table(self._view, matched)
        column_names = [name for name in ("probability", "weight", "converged") if name in features]
        memberships.attrs |= {name: features[name].tolist() for name in column_names} | {
            "word": self._view.facts.word
        }
        return memberships

    @requires(require_draws)
    def option_similarity(self) -> "pandas.DataFrame":
        r"""Return the posterior mean share of weight that each two options have in common.

        .. math:: E \Bigl[ \sum_k w_k f_{ik} f_{jk} \Big/ \tfrac12 (U_i + U_j) \Bigr]

        where U is the total weight of an option, including its unique weight. Features of all
        options are omitted, and 0 / 0 is 0. For similarities and triplets, features of a single
        object, which do not affect the data, are also omitted.

        Returns
        -------
        pandas.DataFrame
            Options by options, between 0 (nothing in common) and 1 (everything), and 1 on the
            diagonal.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there are more than 1,000 options.

        References
        ----------
        Görür, Jäkel & Rasmussen (2006), section 5.
        """
        from ..results.option_tables import similarity_table

        return similarity_table(self._view)

    def _predict_left_out(self, part: "HeldOutPair | Similarities") -> Any:
        """Return every draw's prediction of data that were held out of the fit."""
        return self._results.predict_held_out(part)

    @requires(require_draws)
    def log_evidence(
        self,
        draws: int = 1000,
        tune: int = 200,
        chains: int = 12,
        thin: int = 5,
        cores: int | None = None,
        random_seed: "RandomSeed" = None,
        progressbar: bool = True,
        sensitivity: bool = False,
    ) -> LogEvidence:
        r"""Estimate the log evidence (marginal likelihood) for the data of the fit.

        .. math::

            \log p(\text{data}) = \log \int p(\text{data} \mid Z, w, \theta)\, dP(Z, w, \alpha,
            \theta)

        Separate chains run at temperatures from the posterior down to the prior, and neighbours
        swap states; at infinite temperature every state is an independent draw from the prior. The
        draws at all temperatures are combined by the multistate acceptance ratio. The draws of the
        fit are not used.

        Parameters
        ----------
        draws : int of 10 or more
            Draws of each chain at every temperature. The standard error decreases with their square
            root.
        tune : int
            Warm-up draws per chain (discarded).
        chains : int
            Independent chains, each with all temperatures, whose estimates give the standard error.
            It is at least the standard error from blocks of successive draws, which alone is used
            with fewer than 12 chains.
        thin : int
            Sweeps per draw.
        cores : int, optional
            Threads; None means the number of processors. Does not affect the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool
        sensitivity : bool
            Whether to estimate the evidence under other priors too; this takes two to six times the
            time. Each of these is halved and doubled: the rate of
            the Gamma prior of alpha (if learned), the shape of the prior of weights, their mean
            unless only proportions of weights affect the likelihood, and for similarities the mean
            of the prior of sigma squared (if sigma is learned).

        Returns
        -------
        LogEvidence
            `.value`, `.standard_error`, `.df`, `.interval()`, `.usable`, `.convergence`, `.path`
            (one row per temperature), and `.sensitivity`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an argument is outside its range, the fit was stopped early, parameters were changed
            after it, a prior cannot be drawn from, or sigma was chosen by cross-validation.
        DataError
            If the data were changed after the fit, or no draw from the prior allows them.

        Warns
        -----
        ConvergenceWarning
            If the value is not usable.

        References
        ----------
        Shirts & Chodera (2008), Statistically optimal analysis of samples from multiple equilibrium
        states.

        Examples
        --------
        >>> import thali as th
        >>> data = th.PairedComparisons([[0, 3], [1, 0]])
        >>> model = th.EliminationByAspects("unique", lapse=0).fit(
        ...     data, draws=50, tune=50, random_seed=1, progressbar=False
        ... )
        >>> evidence = model.log_evidence(draws=50, tune=50, random_seed=1, progressbar=False)
        >>> low, high = evidence.interval(0.999)
        >>> bool(low < -1.609 < high)  # the logarithm of 4 B(4, 2) = 1/5
        True
        """
        from ..samplers.tempered_evidence import estimate_evidence

        run_settings = build_evidence_run(
            draws, tune, chains, thin, cores, random_seed, progressbar, sensitivity
        )
        self._check_finished()
        if "_state_" not in vars(self):
            raise ArgumentError(
                "The evidence requires the data of the fit, which this model lacks; fit the model"
                " again."
            )
        self._check_unchanged()
        data = self._get_fit_data()
        evidence = estimate_evidence(self._build_evidence_arguments(data), data, run_settings)
        if not evidence.usable:
            warn(ConvergenceWarning(evidence.convergence.message))
        return evidence

    def _match_features(self, similar: float, min_probability: float) -> "MatchedFeatures":
        """Return the features matched across draws, cached by setting."""
        from ..results.matched_features import match_posterior

        return self._compute_once(
            ("matched", similar, min_probability),
            lambda: match_posterior(self._view, similar, min_probability),
        )
