"""What all latent-feature models share: a prior over features joined with a likelihood of data."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._model.chain_model import MarkovChainModel
from thali._model.data_argument import check_data
from thali._model.engine import Engine, PreparedFit
from thali._model.evidence import EvidenceRun, build_evidence_run
from thali._model.group_models import MultiGroupModel
from thali._model.prior_sample import PriorSample
from thali._model.requirements import mark_as_setup, require_draws, requires
from thali._posterior.evidence import LogEvidence
from thali._posterior.interval import INTERVAL
from thali._posterior.view import Posterior
from thali.errors import Setting

from ..populations.one import One, Population
from .engines import BY_CHAINS

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.parts import HeldOutPair
    from thali._data.similarities import Similarities
    from thali._posterior.convergence import Advice
    from thali._posterior.dependence import Dependence
    from thali._trees.tree import Tree

    from ..answers.matched_features import MatchedFeatures
    from ..answers.posterior_results import PosteriorResults


class LatentFeatures(MultiGroupModel, MarkovChainModel):
    """Base of the latent-feature models.

    A subclass has `_parts(data)`: prior, likelihood, weight_prior, alpha and tempering for these
    data; and `_tree()`, the tree of the prior, if it has one.
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": BY_CHAINS}
    _matrix: ClassVar[str] = ""  # the kind of data that a plain matrix is taken for
    _FINDINGS: ClassVar[str] = "thali._aspects.findings.open"
    _VIEW = Posterior

    @property
    def _data_answers(self) -> "PosteriorResults":
        """What is answered because of the data and the people, made once."""
        from ..answers.registry import load_results

        posterior = self._view
        return self._compute_once("answers", lambda: load_results(posterior))

    def _parts(self, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _parts_to_prepare(self, data: Any) -> dict[str, Any]:
        """The parts that checks beforehand need."""
        return self._parts(data)

    def _evidence_parts(self, data: Any) -> dict[str, Any]:
        """The parts whose evidence is meant."""
        return self._parts(data)

    def _tree(self) -> "Tree | None":
        raise NotImplementedError

    def _population(self, data: Any) -> Population:
        """Of which people the data are, as `fit` takes them or as `_convert_data` makes them."""
        return One()

    def _dependence(self, data: Any, parts: dict[str, Any]) -> "Dependence | None":
        """What a fit by chains of these parts makes of people; None where nobody knows who
        answered."""
        return None

    def _convert_data(self, data: Any) -> Any:
        """What `fit` was given, as the engine takes it."""
        return self._population(data).data(data, partial(check_data, matrix=self._matrix))

    def fit(
        self,
        data: Any,
        draws: int | None = None,
        tune: int = 1000,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: Any = None,
        progressbar: bool = True,
        job: Any = None,
        max_time: float | None = None,
    ) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        data : PairedComparisons, Choices, Similarities or Triplets
            With a likelihood of your own, your NamedTuple.
        draws : int, optional
            States kept in each chain. None draws until every row of `summary` has an R-hat of at
            most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,
            2,000, 4,000, ... draws, and stops at 64,000 or 2 GB. Of similarities and triplets what
            is predicted of pairs and the features that they share count, too. Tempered chains are
            looked at from 500 draws on; of many people with ``people=Individuals()`` there are
            fewer draws, further apart. Where the chains stay in different families of features, so
            that more draws would not help, the run starts again with ``tempering=8``, unless the
            model says how it tempers or more than half of the time is over.
        tune : int
            States of each chain that are discarded first, while step sizes adapt.
        chains : int
            Independent chains.
        thin : int, optional
            Sweeps of the sampler for each state. None chooses, in the first 400 sweeps of tuning,
            the fewest with which half of the draws are effective: 25 at most, so many that there
            are 400 sweeps of tuning, and 25 with less than 16 states to tune. With tempering 50 (of
            every replica; of groups 10) where `draws` are given or levels are annealed, otherwise
            between 10 and that.
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
        run = {
            "draws": draws,
            "tune": tune,
            "chains": chains,
            "thin": thin,
            "cores": cores,
            "random_seed": random_seed,
        }
        run |= {"progressbar": progressbar, "job": job, "max_time": max_time}
        return self._run_job(self._engine.job(self, data, run))

    @mark_as_setup
    def prepare(
        self, data: Any, draws: int = 1000, tune: int = 1000, thin: int | None = None, **others: Any
    ) -> PreparedFit:
        """What `fit` would run, after every check that it makes; nothing is drawn."""
        return self._engine.prepare(self, data, {"draws": draws, "tune": tune, "thin": thin})

    def _quicker(self, data: Any) -> Setting | None:
        """A method that takes less time for these data."""
        return None

    def _sample_prior(self, rngs: Any, data: Any) -> PriorSample:
        data = self._convert_data(data)
        return self._population(data).prior_sample(data, self._parts(data), rngs)

    def _simulate_replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        data = self._convert_data(data)
        return self._population(data).replicates(self._view, data, self._parts(data), rng)

    def _build_observed(self, data: Any) -> dict[str, np.ndarray]:
        data = self._convert_data(data)
        return self._population(data).observed(self._view, data, self._parts(data))

    def _compute_log_evidence(self, data: Any, how: EvidenceRun) -> LogEvidence:
        return self._population(data).evidence_of(self, data, how)

    def _get_fit_options(self) -> list[str]:
        """The options of the fit, where they are known."""
        return self._engine.options_of_fit(self)

    def _restore(self, found: dict[str, Any], path: object) -> None:
        from ..answers.stored_layout import check_layout

        if self._engine.draws:
            check_layout(found["posterior_"], path)
        super()._restore(found, path)

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """The quantities whose agreement between chains means something: those of the summary, draw
        by draw."""
        return self._data_answers.quantities()

    def _select_convergence_rows(self) -> "pandas.DataFrame":
        """The rows of the summary that chains are judged by, and what they are judged by besides;
        made once."""
        return self._compute_once("judged", self._judge)

    def _judge(self) -> "pandas.DataFrame":
        """The same, made anew."""
        import pandas as pd

        from thali._posterior.summary import summary_table

        summary, answers = self.summary(), self._data_answers
        judged: Any = summary[[answers.is_agreement_row(name) for name in summary.index]]
        if more := answers.agreement_quantities():
            judged = pd.concat([judged, summary_table(more)])
        judged.attrs.update(summary.attrs)
        return judged

    def _get_advice(self) -> "Advice":
        return self._data_answers.advice()

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every label-free
        quantity.

        Rows: n_features (of similarities n_shared_features, those of two owners or more), alpha (if
        learned), log_likelihood (of the whole data, no constant left out), and for choices tie (nu,
        if there are ties), choice_probability[a, b] of every compared pair (up to 60 options;
        above, up to 1,000, worth[a], the share of an option in the sum of all utilities, and
        rank[a]) or set_probability[a | a, b, ...] of every member of every set (up to 2,000 of
        them; worth[a] and rank[a] where options share nothing), for similarities sigma (if
        learned), constant and presence[a, b, ...], whether a draw has the feature of just these
        owners, of every feature with probability above .2, which a likelihood of your own has as
        well. Of latent classes probabilities are those of a new person, and besides there are kappa
        (if they are similar), n_classes (how many are occupied), class_share[1], ... (the share of
        those who answered in the largest class of a draw, ...) and class_agreement (the share of
        pairs of people of whom a draw says as the most typical one whether they are in the same
        class).

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
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
        """The features with their members, posterior probability (of at least one copy) and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.
        similar : float between 0 and 1, optional
            None: features are one if they have exactly the same owners. A number such as 0.8:
            features of different draws are matched if their owners are similar, as they should be
            where a feature has dozens of owners. The features of each draw are assigned to common
            ones by the weighted Jaccard index of their owners and the common feature's membership,
            where it is at least this number; the first common features are those of a consensus
            draw.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            A row for each set of owners, the most probable first, but of choices last those that
            these do not show (all options own them, or one that has an own weight besides): members
            (labels), weight (mean of their sum, if present) and its interval, copies (expected
            number of columns), and of the probability its Monte Carlo standard error `mcse`,
            effective sample size `ess`, `r_hat` and `converged` (False where R-hat exceeds 1.05:
            the chains do not agree on it), of each chain (``chain 0``, ...) where the chains do not
            agree on all, then probability itself. Weights are comparable within a fit; they are
            left out where a likelihood of your own ignores them. With a tree as prior a first
            column `place` says where the owners stand in it: "leaf", "clade" (all that one inner
            node has below it; with its name, if it has one), "root" (all), or "across". Matched
            features are numbered from 1 and have as members the options with a membership of .5 or
            more (see `membership`), and `stability`, the mean Jaccard index of the owners in each
            draw and the membership; their probability is that a draw has the feature. Of several
            groups of people (or latent classes, which are matched across draws) the weight and its
            interval are those of each (``weight[women]``, ``weight_low[women]``, ...), of choices
            as share of the group's total, and of up to four groups ``P(women > men)`` says how
            surely it is larger in one.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability, similar or ci is out of its range.
        """
        from ..answers.features import feature_plot_inputs, locate_in_tree

        table = self._data_answers.features(min_probability, similar, self._matched, ci)
        table.attrs |= feature_plot_inputs(self._view) | {"interval": ci}
        if prior_tree := self._tree():
            table.insert(0, "place", locate_in_tree(table["members"], prior_tree))
        return table

    @requires(require_draws)
    def membership(self, similar: float = 0.8, min_probability: float = 0.05) -> "pandas.DataFrame":
        """Which options own the features that were matched across draws, and how surely.

        Parameters
        ----------
        similar : float between 0 and 1
            Jaccard index from which on features are taken for one, as in `features`.
        min_probability : float in [0, 1]
            Features less probable than this are left out.

        Returns
        -------
        pandas.DataFrame
            Options by features, numbered as the rows of ``features(min_probability, similar)``: the
            share of the draws with the feature in which the option owns it.
            `thali.plots.membership` draws it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability or similar is out of its range.
        """
        from ..answers.matched_features import matched_features_table, membership_table

        found = self._matched(similar, min_probability)
        table = membership_table(self._view, found)
        features = matched_features_table(self._view, found)
        names = [name for name in ("probability", "weight", "converged") if name in features]
        table.attrs |= {name: features[name].tolist() for name in names} | {
            "word": self._view.facts.word
        }
        return table

    @requires(require_draws)
    def option_similarity(self) -> "pandas.DataFrame":
        r"""How much of what options have they share, two at a time: the posterior mean of the
        shared part.

        .. math:: E \Bigl[ \sum_k w_k f_{ik} f_{jk} \Big/ \tfrac12 (U_i + U_j) \Bigr]

        where U is the weight of all that an option has, its unique weight included. Features that
        all options own are left out, and 0 / 0 counts as 0. Of similarities and triplets features
        of a single object, which do not touch the data, are left out as well.

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
        from ..answers.option_tables import similarity_table

        return similarity_table(self._view)

    def _predict_left_out(self, part: "HeldOutPair | Similarities") -> Any:
        """Return what every draw predicts for data that the model was fitted without."""
        return self._engine.predict_left_out(self, part)

    @requires(require_draws)
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

        .. math::

            \log p(\text{data}) = \log \int p(\text{data} \mid Z, w, \theta)\, dP(Z, w, \alpha,
            \theta)

        Chains of their own run at temperatures from the posterior down to the prior, and neighbours
        swap states; at infinite temperature every state is an independent draw from the prior. The
        draws at all temperatures are combined by the multistate acceptance ratio. The draws of the
        fit play no part. Of several groups of people the data are those of all groups; a fit with
        ``people=Groups("common")`` is one to the pooled data, and `thali.compare` takes the
        probability of the data of each group there, too. Of latent classes they are the answers of
        everybody, with the constant of the answers of all together, as of people who are alike.

        Parameters
        ----------
        draws : int of 10 or more
            Of each chain at every temperature. The standard error falls with their square root.
        tune : int
            Draws before them that are dropped.
        chains : int
            Independent chains, each with all temperatures, whose estimates give the standard error;
            it is at least that between blocks of successive draws, from which alone it comes of
            fewer than 12.
        thin : int
            Sweeps for each draw.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool
        sensitivity : bool
            Whether to find the evidence under other priors, too, which takes two to six times as
            long, of one group of people: the rate of the Gamma prior of alpha (if it is learned),
            the shape of that of the weights, their mean where more than proportions of weights
            counts, and of similarities the mean of the prior of sigma squared (if sigma is
            learned), each halved and doubled.

        Returns
        -------
        LogEvidence
            `.value`, `.standard_error`, `.df`, `.interval()`, `.usable`, `.convergence`, `.path` (a
            row a temperature), and `.sensitivity`.

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
        >>> found = model.log_evidence(draws=50, tune=50, random_seed=1, progressbar=False)
        >>> low, high = found.interval(0.999)
        >>> bool(low < -1.609 < high)  # the logarithm of 4 B(4, 2) = 1/5
        True
        """
        from ..populations.evidence import evidence_of_fit

        how = build_evidence_run(
            draws, tune, chains, thin, cores, random_seed, progressbar, sensitivity
        )
        return evidence_of_fit(self, how)

    def _copy_for_group(self, name: str) -> Self:
        return self._copy_with_posterior(self._view.of_group(name).tree, f"group {name}")

    def _matched(self, similar: float, min_probability: float) -> "MatchedFeatures":
        """The matched features, made once."""
        from ..answers.matched_features import match_posterior

        wanted = similar, min_probability
        return self._compute_once(
            ("matched", *wanted), lambda: match_posterior(self._view, *wanted)
        )
