"""Elimination by aspects with aspects that are learned or given."""

from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError, NotFittedError
from thali.likelihoods.elimination import Elimination
from thali.maximum_likelihood.model import MaximumLikelihoodAnswers
from thali.models.arguments import one_of
from thali.models.feature_argument import names_of, prior_of
from thali.models.latent_feature_model import LatentFeatureModel
from thali.tree import Tree

if TYPE_CHECKING:
    import pandas


class EliminationByAspects(MaximumLikelihoodAnswers, LatentFeatureModel):
    r"""Infer the aspects behind choices between options, two or more at a time.

    Option i is chosen over option j with probability

    .. math::
        \tilde p_{ij} = (1 - \varepsilon) \frac{A_{ij}}{A_{ij} + A_{ji}} + \frac{\varepsilon}{2}, \qquad
        A_{ij} = u_i + \sum_k w_k f_{ik} (1 - f_{jk})

    where f says who owns which aspect, w are the aspects' weights and u those of the unique aspects. All weights are
    Gamma(1, 1) a priori; only their ratios matter for choice. Out of a larger set (`Choices`) one aspect after the
    other eliminates options: see `thali.likelihoods.elimination_probabilities`.

    Parameters
    ----------
    aspects : "ibp", "unique", int, Tree, matrix or mapping
        "ibp": any number of aspects, with the Indian buffet process as prior. "unique": none but the unique ones, the
        Bradley-Terry-Luce model. A number K: K aspects whose owners are learned. A `Tree`: any number, which options
        that it says are related share more readily (the phylogenetic Indian buffet process). A matrix of 0 and 1
        (options by aspects) or a mapping from each label to its list of aspects: known aspects whose weights are
        learned.
    unique : bool
        Whether every option also has one fixed aspect of its own.
    lapse : float in [0, 1), optional
        Probability epsilon of choosing at random. None: .01 with method "mcmc", 0 with "maximum-likelihood".
    alpha : float above 0, optional
        Concentration of the prior over aspects; None learns it under a Gamma(1, 1) prior.
    method : {"mcmc", "maximum-likelihood"}
        "maximum-likelihood": the weights of known aspects without a prior, in milliseconds, as R's package eba
        estimates them. Of the arguments of `fit` only data and random_seed (of the starts) then matter.
    sampler : {None, "recommended", "paper"}
        "paper" is the published Algorithm 1, or with a tree the sampler of Miller, Griffiths & Jordan (2008, section
        3), with a valid scan, for reproduction only: its truncation of new features
        biases their number downwards.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which trade places, so that it does not
        stay in one family of aspects. None, "auto": 8 to start with if unique=False and aspects are learned, because
        chains get stuck there; one otherwise.
        False, "off": one temperature. A number: so many temperatures up to 10 to start with; more are added while
        tuning, until neighbours trade often enough. A sequence, rising from 1: these temperatures.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    lapse_ : float
        After `fit`: the lapse that was used.
    weights_, standard_errors_, utility_scale_, utility_covariance_ : pandas.Series, the last a DataFrame
        After maximum likelihood: the weights (they sum to 1; unique aspects first) and their standard errors; the
        utility of each option, the sum of the weights of its aspects (normalised), with its covariance.
    log_likelihood_, deviance_, df_, p_value_, pearson_, aic_, bic_ : float
        After maximum likelihood, binomial coefficients included; the deviance G² is against the saturated model.

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1, 2, 4 and 5; Wickelmaier & Schmid (2004) for the estimates
    by maximum likelihood.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(aspects="unique")
    >>> model = model.fit(th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False)
    >>> bool(0.6 < model.predict_proba([("LBJ", "HW")])[0] < 0.7)
    True
    >>> model = th.EliminationByAspects(aspects="unique", method="maximum-likelihood")
    >>> model.fit(th.datasets.celebrities()).weights_.head(3).round(4).to_dict()
    {'LBJ': 0.2287, 'HW': 0.1403, 'CDG': 0.1099}
    """

    def __init__(
        self, aspects: Any = "ibp", unique=True, lapse=None, alpha=None, method="mcmc", sampler=None, tempering=None
    ):
        self.aspects = aspects
        self.unique = unique
        self.lapse = lapse
        self.alpha = alpha
        self.method = method
        self.sampler = sampler
        self.tempering = tempering

    def _parts(self, data) -> dict:
        if one_of("method", self.method, ("mcmc", "maximum-likelihood")) != "mcmc":
            raise ArgumentError(
                "This needs a model with method='mcmc'; one of method='maximum-likelihood' is fitted with fit(data) "
                "and leaves pairs out with leave_one_out()."
            )
        one_of("unique", self.unique, (True, False))
        prior = prior_of("aspects", self.aspects, data.labels, words=("ibp", "unique"))
        likelihood = Elimination(self._lapse(), unique=bool(self.unique))
        return {
            "prior": prior,
            "likelihood": likelihood,
            "weight_prior": (1.0, 1.0),
            "alpha": self.alpha,
            "sampler": self.sampler,
            "tempering": self.tempering,
        }

    def _lapse(self) -> float:
        """The lapse that `fit` uses."""
        if self.lapse is not None:
            return self.lapse
        return 0.0 if self.method == "maximum-likelihood" else Elimination.lapse

    @property
    def lapse_(self) -> float:
        """The probability of choosing at random that the fit used."""
        if "estimates_" in self.__dict__:
            return self.estimates_.lapse
        if "posterior_" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} has not been fitted yet; call fit(data) first.")
        return float(self.posterior_["constant_data"].dataset["lapse"])

    def _tree(self) -> Tree | None:
        return self.aspects if isinstance(self.aspects, Tree) else None

    def features(self, min_probability: float = 0.05) -> "pandas.DataFrame":
        """The aspects with their members, posterior probability (of at least one copy) and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Aspects less probable than this are left out.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`; aspects that were given by name have a first column `aspect`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        table = super().features(min_probability)
        if names := names_of(self.aspects, self._fitted()["posterior"].dataset["option"].values):
            table.insert(0, "aspect", [names[frozenset(members)] for members in table["members"]])
        return table
