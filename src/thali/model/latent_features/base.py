"""What all latent-feature models share: a prior over features joined with a likelihood of data."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._labels import suggest
from thali.errors import ArgumentError, ConvergenceWarning, DataError, DataWarning, ThaliWarning
from thali.inference.chains import Run, checked_run, kept_of
from thali.inference.quiet import is_quiet
from thali.inference.warn import warn
from thali.posterior.view import Posterior

from ..base import Job
from ..prepared import Prepared
from ..prior_sample import HasPriorOfData, PriorSample
from ..sampling import Sampling
from .answers.stored_layout import STARTED_ANEW
from .engine import LEVELS, PreparedChains
from .evidence import LatentFeatureEvidence
from .likelihoods.elimination import Elimination
from .option_answers import OptionAnswers
from .population import One, Population
from .samplers.chains import chains_of, end_pilot
from .samplers.pilot import SWEEPS

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.posterior.stacking import Stacked
    from thali.posterior.verdict import Advice
    from thali.trees.tree import Tree

    from .answers.matching import Matched
    from .samplers.chains import Chain


class LatentFeatures(OptionAnswers, LatentFeatureEvidence, HasPriorOfData):
    """Base of the latent-feature models.

    A subclass has `_parts(data)`: prior, likelihood, weight_prior, alpha, sampler and tempering for these data; and
    `_tree()`, the tree of the prior, if it has one.
    """

    _matrix: ClassVar[str] = ""  # the kind of data that a plain matrix is taken for
    _FINDINGS: ClassVar[str] = "thali.model.latent_features.findings.open"

    def _parts(self, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _tree(self) -> "Tree | None":
        raise NotImplementedError

    def _population(self, data: Any) -> Population:
        """Of which people the data are, as `fit` takes them or as `_as_data` makes them."""
        return One()

    def _as_data(self, data: Any) -> Any:
        """What `fit` was given, as the engine takes it."""
        return self._population(data).data(data, partial(data_of_thali, matrix=self._matrix))

    def _task(self, data: Any, draws: int, tune: int, thin: Any) -> Any:
        """What the chains run, after every check."""
        return self._task_of(data, draws, tune, thin, self._parts(data))

    def _task_of(self, data: Any, draws: int, tune: int, thin: Any, parts: dict[str, Any]) -> Any:
        """What the chains run with these parts: a `Task`, or a `GroupTask` of groups of people."""
        return self._population(data).task(data, draws, tune, thin, parts)

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
            States kept in each chain. None draws until every row of `summary` has an R-hat of at most 1.01 and an
            effective sample size of at least 400; it looks at them after 1,000, 2,000, 4,000, ... draws, and stops at
            64,000 or 2 GB. Where the chains stay in different families of features, so that more draws would not help,
            the run starts anew with ``tempering=8``, unless the model says how it tempers.
        tune : int
            States of each chain that are discarded first, while step sizes adapt.
        chains : int
        thin : int, optional
            Sweeps of the sampler for each state. None chooses as many as neighbouring states remember, seen in the
            first 400 sweeps: 25 at most, and 25 with less than 400 states to tune; with tempering 50 (of every
            replica).
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same call goes on from it
            after the process was killed, and gives the draws of an unbroken run; with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn. If half of them pass in tuning, the chains
            start anew with less of it, and a warning says so.

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
        data = self._as_data(data)
        run = checked_run(draws, tune, chains, thin, cores, random_seed, progressbar, job, max_time)
        sampling = self._sampling(data, run)
        if not is_quiet():
            data.warn_if_unusual()
        return self._carry_out(self._job_of(sampling, str(data)))

    def prepare(
        self, data: Any, draws: int = 1000, tune: int = 1000, thin: int | None = None, **others: Any
    ) -> Prepared:
        """What `fit` would run, after every check that it makes; nothing is drawn."""
        data = self._as_data(data)
        likelihood = self._parts(data)["likelihood"]
        lapse = float(likelihood.lapse) if isinstance(likelihood, Elimination) else None
        return PreparedChains(lapse, task=self._task(data, draws, tune, thin))

    def _sampling(self, source: Any, run: Run) -> Sampling[Any]:
        return self._sampling_of(source, run, self._parts(source))

    def _sampling_of(self, source: Any, run: Run, parts: dict[str, Any], anew: bool = False) -> Sampling[Any]:
        """The run of these parts; `anew`: chains without tempering stayed apart."""
        task = self._task_of(source, run.least_draws, run.tune, run.thin, parts)
        task.pilot = SWEEPS if run.thin is None and len(task.temperatures) == 1 and run.tune >= SWEEPS else 0

        tempered = parts | {"tempering": LEVELS}

        def tree(chains: Sequence["Chain"]) -> "xarray.DataTree":
            attrs = {"thin": chains[0].thin, "tuning_steps": task.tune, STARTED_ANEW: int(anew)}
            numbers, count = kept_of(chains)
            draws = [chains[number].draws_before(chains[number].first + count) for number in numbers]
            return self._population(source).tree(draws, source, parts, task, attrs)

        return Sampling(
            source=source,
            run=run,
            chains=lambda draws, seed: chains_of(replace(task, draws=draws), run.chains, seed),
            tree=tree,
            found=lambda tree, chains, seed: {},
            end_pilot=end_pilot,
            is_compiled=task.kernel.is_compiled(task.model),
            tempered=partial(self._sampling_of, source, run, tempered, True) if task.may_temper else None,
        )

    def _prior_sample(self, rngs: Any, data: Any) -> PriorSample:
        data = self._as_data(data)
        return self._population(data).prior_sample(data, self._parts(data), rngs)

    def _replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        data = self._as_data(data)
        return self._population(data).replicates(self.posterior_, data, self._parts(data), rng)

    def _observed(self, data: Any) -> dict[str, np.ndarray]:
        data = self._as_data(data)
        return self._population(data).observed(self.posterior_, data, self._parts(data))

    def _restore(self, found: dict[str, Any], path: object) -> None:
        from .answers.stored_layout import check_layout

        check_layout(found["posterior_"], path)
        super()._restore(found, path)

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        from .answers.noise import noise_sentence
        from .answers.swaps import swap_sentence

        yield from super()._outcome(job)
        if sentence := swap_sentence(self.posterior_):
            yield ConvergenceWarning(sentence)
        if sentence := noise_sentence(self.posterior_, "sigma_scores_" in vars(self)):
            yield DataWarning(sentence)

    def quantities(self) -> dict[str, np.ndarray]:
        """The quantities whose agreement between chains means something: those of the summary, draw by draw.

        Returns
        -------
        dict of arrays (chain, draw)
            By the names of the rows of `summary`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .answers.data_answers import answers_of

        return answers_of(self._fitted()).quantities(self._fitted())

    def _judged_rows(self) -> "pandas.DataFrame":
        """Besides the rows of the summary those of probable aspects."""
        import pandas as pd

        from thali.posterior.summary import summary_table

        from .answers.data_answers import answers_of

        summary = self.summary()
        if not (more := answers_of(self._fitted()).judged_besides(self._fitted())):
            return summary
        judged = pd.concat([summary, summary_table(more)])
        judged.attrs.update(summary.attrs)
        return judged

    def _advice(self) -> "Advice":
        from .answers.data_answers import answers_of

        return answers_of(self._fitted()).advice(self._fitted())

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every label-free quantity.

        Rows: n_features (of similarities n_shared_features, those of two owners or more), alpha (if learned),
        log_likelihood (of the whole data, no constant left out), and for choices tie (nu, if there are ties),
        choice_probability[a, b] of every compared pair (up to 60 options; above, up to 1,000, worth[a], the share of an
        option in the sum of all utilities, and rank[a]) or set_probability[a | a, b, ...] of every member of every set
        (up to 2,000 of them; worth[a] and rank[a] where options share nothing), for similarities sigma (if learned),
        constant and presence[a, b, ...], whether a draw has the feature of just these owners, of every feature with
        probability above .2, which a likelihood of your own has as well. Of kinds of people choice_probability is that
        of a new person, and besides there are kappa (if they are similar), n_kinds (how many are occupied),
        kind_share[1], ... (the share of those who answered in the largest kind of a draw, ...) and kind_agreement (the
        share of pairs of people of whom a draw says as the most typical one whether they are of the same kind).

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        return super().summary()

    def features(self, min_probability: float = 0.05, similar: float | None = None) -> "pandas.DataFrame":
        """The features with their members, posterior probability (of at least one copy) and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.
        similar : float between 0 and 1, optional
            None: features are one if they have exactly the same owners. A number such as 0.8: features of different
            draws are matched if their owners are similar, as they should be where a feature has dozens of owners. The
            features of each draw are assigned to common ones by the weighted Jaccard index of their owners and the
            common feature's membership, where it is at least this number; the first common features are those of a
            consensus draw.

        Returns
        -------
        pandas.DataFrame
            A row for each set of owners, the most probable first, but of choices last those that these do not show (all
            options own them, or one that has an own weight besides): members (labels), weight (mean of their sum, if
            present) and its interval, copies (expected number of columns), and of the probability its Monte Carlo
            standard error `mcse`, effective sample size `ess`, `r_hat` and `converged` (False where R-hat exceeds 1.05:
            the chains do not agree on it), then probability itself. Weights are comparable within a fit; they are left
            out where a likelihood of your own ignores them. With a tree as prior a first column `place` says where the
            owners stand in it: "leaf", "clade" (all that one inner node has below it; with its name, if it has one),
            "root" (all), or "across". Matched features are numbered from 1 and
            have as members the options with a membership of .5 or more (see `membership`), and `stability`, the mean
            Jaccard index of the owners in each draw and the membership; their probability is that a draw has the
            feature. Of several groups of people (or kinds, which are matched across draws) the weight and its interval
            are those of each (``weight[women]``, ``weight_low[women]``, ...), of choices as share of the group's total,
            and of up to four groups ``P(women > men)`` says how surely it is larger in one.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability or similar is out of its range.
        """
        from .answers.data_answers import answers_of
        from .answers.features import owners_drawn, place_in_tree

        tree = self._fitted()
        table = answers_of(tree).features(tree, min_probability, similar, self._matched)
        table.attrs |= owners_drawn(tree)
        if prior_tree := self._tree():
            table.insert(0, "place", place_in_tree(table["members"], prior_tree))
        return table

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
            Options by features, numbered as the rows of ``features(min_probability, similar)``: the share of the draws
            with the feature in which the option owns it. `thali.plots.membership` draws it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If min_probability or similar is out of its range.
        """
        from .answers.features import word_of
        from .answers.matched_features import matched_table, membership_table

        found = self._matched(similar, min_probability)
        table = membership_table(self._fitted(), found)
        features = matched_table(self._fitted(), found)
        names = [name for name in ("probability", "weight", "converged") if name in features]
        table.attrs |= {name: features[name].tolist() for name in names} | {"word": word_of(self._fitted())}
        return table

    def stacked(self) -> "Stacked":
        """Weights of the chains by which their mixture predicts best, where they stay in different families.

        Chains that do not mix, however long they run, still predict, and some better than others. Their weights
        maximise the leave-one-out predictive density of the mixture. It is for predictions, and no posterior: the
        verdict on the fit stays what it is. Of chains that agree the weights mean nothing.

        Returns
        -------
        Stacked
            With `weights`, `log_score`, `log_scores` of each chain, and `mean(variable)`, a prediction of the mixture.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there is a single chain or draw, or the posterior holds no log-likelihood of each observation.

        References
        ----------
        Yao, Vehtari & Gelman (2022), Stacking for non-mixing Bayesian computations.
        """
        from thali.posterior.stacking import stacked_of

        sizes = self._fitted()["posterior"].sizes
        if sizes["chain"] < 2 or sizes["draw"] < 2:
            raise ArgumentError("Stacking needs two chains or more, of two draws or more; fit again with more.")
        if (logs := self._log_likelihood()) is None:
            raise ArgumentError(
                "Stacking needs the log-likelihood of each observation, which this posterior does not hold (above 2,000"
                " pairs it is left out)."
            )
        return stacked_of(self._fitted(), logs)

    def _log_likelihood(self) -> "np.ndarray | None":
        """Of each observation (chain, draw, observation); None if it is not known."""
        from .answers.data_answers import answers_of

        return answers_of(self._fitted()).pointwise(self._fitted())

    @property
    def groups_(self) -> tuple[str, ...]:
        """The names of the groups of people that the model was fitted to; () if it was to one."""
        return Posterior(self._fitted()).groups

    def of_group(self, name: Any) -> Self:
        """The fitted model of one group, which answers whatever a model of one group does: check, ranks, pictures.

        Parameters
        ----------
        name : str
            Of a group.

        Returns
        -------
        model
            Its weights are those of this group, and its features those of all groups. Weights of choices are shares of
            the group's total. It cannot go on drawing. A model with ``weights="common"`` is the same of each group.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there is no such group.
        """
        from .answers.group_tree import tree_of_group

        name = str(name)
        if self.groups_ and name not in self.groups_:
            known = ", ".join(map(repr, self.groups_[:10])) + (", ..." if len(self.groups_) > 10 else "")
            raise ArgumentError(f"There is no group {name!r}; the groups are {known}.{suggest(name, self.groups_)}")
        return self._of_part(tree_of_group(self._fitted(), name), f"group {name}")

    def _of_part(self, tree: "xarray.DataTree", what: str) -> Self:
        """The model with the posterior of some of the people, which cannot go on drawing."""
        made = copy.copy(self)
        vars(made).pop("_state_", None)
        vars(made).pop("_summarised", None)
        made.posterior_ = tree
        made.fitted_to_ = f"{self.fitted_to_}; {what}"
        return made

    def _matched(self, similar: float, min_probability: float) -> "Matched":
        """The matched features; the last ones are kept."""
        from .answers.matched_features import matched_features

        wanted = similar, min_probability
        kept = vars(self).get("_last_matched", (None, None, None))
        if kept[0] is not self._fitted() or kept[1] != wanted:
            kept = self._last_matched = self._fitted(), wanted, matched_features(self._fitted(), *wanted)
        return kept[2]


def data_of_thali(data: Any, matrix: str = "") -> Any:
    """The data, if they are of a kind that thali has; a plain matrix becomes the kind of that name."""
    from thali.data.choices import Choices
    from thali.data.pairs import PairedComparisons
    from thali.data.similarities import Similarities
    from thali.data.triplets import Triplets

    if matrix and isinstance(data, np.ndarray | list):
        kind, how = {
            "PairedComparisons": (PairedComparisons, "times the row was chosen over the column"),
            "Similarities": (Similarities, "how similar row and column are"),
        }[matrix]
        made = kind(data)
        if not is_quiet():
            warn(DataWarning(f"A plain matrix was given; it is taken for {matrix}(matrix), {how}: {made}."))
        return made

    if not isinstance(data, PairedComparisons | Choices | Similarities | Triplets):
        raise DataError(
            f"fit needs thali data, such as PairedComparisons; got {type(data).__name__}. Wrap a count matrix as "
            "PairedComparisons(counts), a matrix of similarities as Similarities(matrix), rows of three objects, the "
            "odd one last, as Triplets(rows), a long table of choices as Choices(frame)."
        )
    return data
