"""What all latent-feature models share: a prior over features joined with a likelihood of data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ConvergenceWarning, DataError, DataWarning, ThaliWarning
from thali.inference.chains import checked_run
from thali.inference.quiet import is_quiet

from ..base import Job, Sampled
from ..prepared import Prepared
from ..prior_sample import HasPriorOfData, PriorSample
from .engine import PreparedChains, build_task, run
from .likelihoods.elimination import Elimination

if TYPE_CHECKING:
    import pandas

    from thali.posterior.verdict import Advice
    from thali.trees.tree import Tree

    from .samplers.chains import Task


class LatentFeatures(Sampled, HasPriorOfData):
    """Base of the latent-feature models.

    A subclass has `_parts(data)`: prior, likelihood, weight_prior, alpha, sampler and tempering for these data; and
    `_tree()`, the tree of the prior, if it has one.
    """

    def _parts(self, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _tree(self) -> "Tree | None":
        raise NotImplementedError

    def _as_data(self, data: Any) -> Any:
        """What `fit` was given, as the engine takes it."""
        return data_of_thali(data)

    def _task(self, data: Any, draws: int, tune: int, thin: Any) -> "Task":
        """What the chains run, after every check."""
        return build_task(data=data, draws=draws, tune=tune, thin=thin, **self._parts(data))

    def fit(
        self,
        data: Any,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: Any = None,
        progressbar: bool = True,
    ) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        data : PairedComparisons, Choices or Similarities
            With a likelihood of your own, your NamedTuple.
        draws, tune : int
            States kept in each chain, and states discarded before them while step sizes adapt.
        chains : int
        thin : int, optional
            Sweeps of the sampler for each state; None means 25, with tempering 50 (of every replica).
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data cannot be used.

        Warns
        -----
        DataWarning
            If the data are unusual, such as comparisons that do not connect all options.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C ended the run; the draws so far are kept.
        """
        return self._carry_out(
            self._job(self._as_data(data), draws, tune, chains, thin, cores, random_seed, progressbar)
        )

    def prepare(
        self, data: Any, draws: int = 1000, tune: int = 1000, thin: int | None = None, **others: Any
    ) -> Prepared:
        """What `fit` would run, after every check that it makes; nothing is drawn."""
        data = self._as_data(data)
        likelihood = self._parts(data)["likelihood"]
        lapse = float(likelihood.lapse) if isinstance(likelihood, Elimination) else None
        return PreparedChains(lapse, task=self._task(data, draws, tune, thin))

    def _job(
        self, data: Any, draws: int, tune: int, chains: int, thin: Any, cores: Any, random_seed: Any, progressbar: bool
    ) -> Job:
        """The fit, checked."""
        parts = self._parts(data)
        task = build_task(data=data, draws=draws, tune=tune, thin=thin, **parts)
        checked = checked_run(draws, tune, chains, task.thin, cores, random_seed, progressbar, task.thin)

        def work() -> dict[str, Any]:
            from .answers.tree import to_datatree

            drawn, interrupted = run(task, checked)
            attrs = {"thin": task.thin, "tuning_steps": task.tune}
            learned = task.model.learn_alpha
            tree = to_datatree(drawn, data, parts["likelihood"], learned_alpha=learned, attrs=attrs, task=task)
            return {"posterior_": tree, "interrupted_": interrupted}

        if not is_quiet():
            data.warn_if_unusual()
        return Job(work, draws=checked.draws)

    def _prior_sample(self, rngs: Any, data: Any) -> PriorSample:
        from .prior_sample import sample_features

        data = self._as_data(data)
        return sample_features(self._task(data, 1, 0, None), self._parts(data)["likelihood"], data, rngs)

    def _replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        from .answers.replicates import replicates

        data = self._as_data(data)
        return replicates(self.posterior_, self._parts(data)["likelihood"], data, rng)

    def _observed(self, data: Any) -> dict[str, np.ndarray]:
        from .answers.replicates import observed_by

        data = self._as_data(data)
        if tuple(map(str, data.labels)) != tuple(map(str, self.posterior_["posterior"].dataset["option"].values)):
            return {}
        return observed_by(self.posterior_, self._parts(data)["likelihood"], data)

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
        if sentence := noise_sentence(self.posterior_):
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
        from .answers.quantities import quantities_of

        return quantities_of(self._fitted())

    def _advice(self) -> "Advice":
        from .answers.quantities import advice_of

        return advice_of(self._fitted())

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every label-free quantity.

        Rows: n_features, alpha (if learned), log_likelihood (of the whole data, no constant left out), and for choices
        choice_probability[a, b] of every compared pair (up to 60 options) or set_probability[a | a, b, ...] of every
        member of every set (up to 2,000 of them), for similarities sigma (if learned),
        constant and presence[a, b, ...], whether a draw has the feature of just these owners, of every feature with
        probability above .2, which a likelihood of your own has as well.

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

    def features(self, min_probability: float = 0.05) -> "pandas.DataFrame":
        """The features with their members, posterior probability (of at least one copy) and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.

        Returns
        -------
        pandas.DataFrame
            A row for each set of owners, the most probable first: members (labels), probability, copies (expected
            number of columns), weight (mean of their sum, if present) and its interval. Weights are comparable within
            a fit. With a tree as prior a first column `place` says where the owners stand in it: "leaf", "clade" (all
            that one inner node has below it; with its name, if it has one), "root" (all), or "across".

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .answers.features import features_table, place_in_tree

        table = features_table(self._fitted(), min_probability)
        if tree := self._tree():
            table.insert(0, "place", place_in_tree(table["members"], tree))
        return table


def data_of_thali(data: Any) -> Any:
    """The data, if they are of a kind that thali has."""
    from thali.data.choices import Choices
    from thali.data.pairs import PairedComparisons
    from thali.data.similarities import Similarities

    if not isinstance(data, PairedComparisons | Choices | Similarities):
        raise DataError(
            f"fit needs thali data, such as PairedComparisons; got {type(data).__name__}. Wrap a count matrix as "
            "PairedComparisons(counts), a matrix of similarities as Similarities(matrix), a long table of choices "
            "as Choices(frame)."
        )
    return data
