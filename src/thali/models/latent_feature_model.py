"""The open combination of a prior over features and a likelihood."""

import json
import warnings
from typing import TYPE_CHECKING

import numpy as np

from thali._quiet import is_quiet
from thali.errors import ConvergenceWarning, DataError, DataWarning, InterruptedWarning, NotFittedError
from thali.models.engine import as_prior, build_task, run
from thali.models.prior_sample import PriorSample, SampledFromData

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.mcmc.chains import Task
    from thali.tree import Tree


class LatentFeatureModel(SampledFromData):
    r"""Any prior over features joined with any likelihood.

    .. math:: P(Z, w \mid \text{data}) \propto P(\text{data} \mid Z, w)\, P(Z)\, \prod_k p(w_k)

    Parameters
    ----------
    prior : one of `thali.priors`, or a Tree
        Over the binary matrix Z, options by features. A `Tree` stands for the phylogenetic Indian buffet process on it.
    likelihood : one of `thali.likelihoods`
        `thali.likelihoods.Custom` makes one of your own functions.
    weight_prior : (shape, rate), both above 0
        Of the Gamma distribution of every weight. The sampler is fastest with shape 1; for other shapes features of a
        single option are sampled like any others, without the moves that need exponential weights.
    alpha : float above 0, optional
        Concentration of the prior; None learns it under a Gamma(1, 1) prior.
    sampler : {None, "recommended", "paper"}
        "paper" is the published Algorithm 1 (Görür, Jäkel & Rasmussen 2006), or with a tree the sampler of Miller,
        Griffiths & Jordan (2008, section 3), with a valid scan, for reproduction only:
        its truncation of new features biases their number downwards. For `Additive` it is that of Navarro & Griffiths
        (2007).
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which trade places, so that it does not
        stay in one family of features. None, "auto": 8 to start with for similarities and for elimination
        without unique aspects, as long as features are learned; one otherwise.
        False, "off": one temperature. A number: so many temperatures up to 10 to start with; more are added while
        tuning, until neighbours trade often enough. A sequence, rising from 1: these temperatures.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006); Griffiths & Ghahramani (2005).

    Examples
    --------
    >>> import thali as th
    >>> model = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination(lapse=0.01))
    >>> model = model.fit(th.datasets.paris_rome(expected=True), draws=50, tune=50, random_seed=1, progressbar=False)
    >>> model.posterior_["posterior"].sizes["chain"]
    4
    """

    def __init__(self, prior, likelihood, weight_prior=(1.0, 1.0), alpha=None, sampler=None, tempering=None):
        self.prior = prior
        self.likelihood = likelihood
        self.weight_prior = weight_prior
        self.alpha = alpha
        self.sampler = sampler
        self.tempering = tempering

    def _parts(self, data) -> dict:
        """Prior, likelihood and the settings of the sampler for these data."""
        names = ("likelihood", "weight_prior", "alpha", "sampler", "tempering")
        return {"prior": as_prior(self.prior)} | {name: getattr(self, name) for name in names}

    def _tree(self) -> "Tree | None":
        """The tree of the prior, if it has one."""
        return getattr(as_prior(self.prior), "tree", None)

    def _task(self, data, draws, tune, thin) -> "Task":
        """What the chains run, after every check."""
        return build_task(data=data, draws=draws, tune=tune, thin=thin, **self._parts(data))

    def fit(
        self,
        data,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed=None,
        progressbar: bool = True,
    ):
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
        data = self._as_data(data)
        if getattr(self, "method", None) == "maximum-likelihood":
            self._maximise(data, random_seed)  # type: ignore[attr-defined]
            return self
        parts = self._parts(data)
        task = self._task(data, draws, tune, thin)
        if not is_quiet():
            data.warn_if_unusual(stacklevel=3)
        try:
            chain_draws, interrupted = run(task, chains, cores, random_seed, progressbar)
        except OverflowError as error:  # of the scratch space for large sets of options
            if not hasattr(data, "sizes"):
                raise
            raise DataError(f"{error} The largest set has {data.sizes.max()} options.") from None
        self._keep(chain_draws, data, task, parts)
        self.interrupted_ = interrupted
        if is_quiet():
            return self
        if interrupted:
            kept = self.posterior_["posterior"].sizes["draw"]
            warnings.warn(
                f"Stopped early; {kept} of {draws} draws a chain were kept.", InterruptedWarning, stacklevel=2
            )
        self._warn_of_the_outcome()
        return self

    def _as_data(self, data):
        """The data, those of one's own likelihood as models take them."""
        if observed := getattr(getattr(self, "likelihood", None), "observed", None):
            data = observed(data)
        if not hasattr(data, "n_options"):
            raise DataError(
                f"fit needs thali data, such as PairedComparisons; got {type(data).__name__}. Wrap a count matrix as "
                "PairedComparisons(counts), a matrix of similarities as Similarities(matrix), a long table of choices "
                "as Choices(frame)."
            )
        return data

    def _prior_sample(self, rngs, data) -> PriorSample:
        from thali.models.prior_of_features import sample_features

        data = self._as_data(data)
        return sample_features(self._task(data, 1, 0, None), self._parts(data)["likelihood"], data, rngs)

    def _held_to(self, data) -> "LatentFeatureModel":
        data = self._as_data(data)
        parts = self._parts(data)
        return LatentFeatureModel(**parts | {"likelihood": parts["likelihood"].held_to(data)})

    def _keep(self, chain_draws, data, task, parts) -> None:
        from thali.posterior.store import to_datatree

        self.posterior_ = to_datatree(
            chain_draws,
            data,
            parts["likelihood"],
            learned_alpha=task.model.learn_alpha,
            attrs={"thali_model": json.dumps(self._description()), "thin": task.thin, "tuning_steps": task.tune},
        )

    def _warn_of_the_outcome(self) -> None:
        from thali.posterior.noise import noise_sentence
        from thali.posterior.summary import verdict
        from thali.posterior.trades import trade_sentence

        agree, sentence = verdict(self.summary())
        if not agree:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
        if sentence := trade_sentence(self.posterior_):
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
        if sentence := noise_sentence(self.posterior_):
            warnings.warn(sentence, DataWarning, stacklevel=3)

    def _fitted(self) -> "xarray.DataTree":
        if not hasattr(self, "posterior_"):
            raise NotFittedError(f"This {type(self).__name__} has not been fitted yet; call fit(data) first.")
        return self.posterior_

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
        from thali.posterior.summary import summarise

        tree = self._fitted()
        if getattr(self, "_summarised", (None, None))[0] is not tree:
            self._summarised = tree, summarise(tree)
        return self._summarised[1].copy()

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
        from thali.posterior.features import features_table, place_in_tree

        table = features_table(self._fitted(), min_probability)
        if tree := self._tree():
            table.insert(0, "place", place_in_tree(table["members"], tree))
        return table

    def unique_weights(self) -> "pandas.DataFrame":
        """The weight that each option has alone: its unique aspect, and every feature that no other option owns.

        Returns
        -------
        pandas.DataFrame
            One row an option: weight, weight_low, weight_high, and share, the weight divided by the sum over options.
            With `aspects="unique"` the shares are the scale values of the Bradley-Terry-Luce model.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.kind import of_choices
        from thali.posterior.unique import unique_weights_table

        return unique_weights_table(of_choices(self._fitted(), "unique_weights"))

    def ranks(self) -> "pandas.DataFrame":
        """The posterior of each option's rank by utility, the weight of all its aspects.

        .. math:: U_i = u_i + \\sum_k w_k f_{ik}

        Of two options the one with the higher utility is chosen over the other more often than not.

        Returns
        -------
        pandas.DataFrame
            One row an option, the best first: rank (posterior mean; 1 is the best), rank_low and rank_high (its 89 %
            interval), and p_1, p_2, ..., the probability of each rank. `thali.plots.ranks` draws the table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to similarities.
        """
        from thali.posterior.kind import of_choices
        from thali.posterior.ranks import ranks_table

        return ranks_table(of_choices(self._fitted(), "ranks"))

    def predict_proba(self, sets) -> "np.ndarray | list[np.ndarray]":
        """Posterior mean choice probabilities, lapse included.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            Of pairs alone: the probability that a is chosen over b. Of larger sets, or `Choices`: for each set the
            probabilities of its members, in their order.

        Raises
        ------
        ArgumentError
            If a label is unknown, or an entry is not two different options or more.
        """
        from thali.posterior.columns import columns_of
        from thali.posterior.kind import of_choices
        from thali.posterior.predict import predicted

        tree = of_choices(self._fitted(), "predict_proba")
        labels = [str(x) for x in tree["posterior"].dataset["option"].values]
        return predicted(columns_of(tree), labels, sets, float(tree["constant_data"].dataset["lapse"]))

    def check(self, random_seed=None) -> "pandas.DataFrame":
        """Posterior predictive check: which observed proportions does the model miss?

        Each compared pair is replicated once a draw, Binomial(n, p), or each set that was offered, Multinomial(n, p),
        and the observed proportion is held against the replicates. `thali.plots.check` draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair (a, b), or a member of a set (alternative, offered), the worst first: n, observed
            (proportion in which a, or the alternative, was chosen), predicted (posterior mean), low and high (the 89 %
            interval of the replicated proportion), p_value (two-sided) and missed (whether observed lies outside the
            interval). ``attrs["p_value"]`` is that of all pairs together (chi-square discrepancy; NaN where n is below
            2 on average, of which the check says nothing). Where the model is true it is conservative: below .05
            in .5 to 1.5 % of simulated data sets.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the counts are fractional.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
        """
        from thali.posterior.check import check_table
        from thali.posterior.kind import of_choices

        return check_table(of_choices(self._fitted(), "check"), random_seed)

    def save(self, path) -> None:
        """Write the model and its posterior to one netCDF file; `thali.load` reads it back.

        Parameters
        ----------
        path : str or path
            A file that exists is replaced, at the end and in one step.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.store import save

        save(self._fitted(), path)

    def _description(self) -> dict:
        """What `thali.load` needs to make the model again."""
        from thali.models.saved import describe

        return describe(self)
