"""Additive clustering: features from a matrix of similarities, or from triplets."""

from typing import TYPE_CHECKING, Any, ClassVar

from thali._arguments import one_of
from thali.errors import Argument, ArgumentError
from thali.trees.tree import Tree

from .feature_argument import names_of, prior_of
from .likelihoods.additive import Additive
from .likelihoods.most_similar_pair import EXP, MostSimilarPair
from .model import LatentFeatureModel
from .triplet_answers import TripletAnswers

if TYPE_CHECKING:
    import pandas

    from .answers.estimate import Estimate


LAPSE = 0.01


class AdditiveClustering(TripletAnswers):
    r"""Infer the features behind judgements of similarity, how many there are, and how much each weighs.

    The similarity of objects i and j is a constant plus the weights of the features that both have:

    .. math:: s_{ij} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2 / n_{ij}), \qquad
        \mu_{ij} = w_0 + \sum_k w_k f_{ik} f_{jk}

    where s_ij is the mean of n_ij judgements (`Similarities.judgements`; 1 if nothing is known of them). Of `Triplets`
    it decides which pair of a set S is called the most similar:

    .. math:: P(ij \mid S) = (1 - \varepsilon) \frac{v_{ij}}{\sum_{ab \in S} v_{ab}} + \frac{\varepsilon}{|S|},
        \qquad v_{ij} = \exp \sum_k w_k f_{ik} f_{jk} \; \text{or} \; w_0 + \sum_k w_k f_{ik} f_{jk}

    Parameters
    ----------
    features : "ibp", int, Tree, matrix or mapping
        "ibp": any number of features, with the Indian buffet process as prior. A number K: K features whose owners are
        learned. A `Tree`: any number, which objects that it says are related share more readily. A matrix of 0 and 1
        (objects by features) or a mapping from each label to its list of features: known features whose weights are
        learned.
    sigma : float above 0, optional
        Standard deviation of a similarity about its mean, of one judgement where numbers of them are known. None: that
        of the data (`Similarities.sigma`) if they have one, otherwise it is learned with the prior sigma^2 ~
        InverseGamma(2, 0.02 times the variance of the similarities, divided by the mean of 1 / n_ij).
    alpha : float above 0, optional
        Concentration of the prior over features; None learns it under a Gamma(1, 1) prior.
    weight_prior : (shape, rate), shape at least 1 (of triplets .5), rate above 0, optional
        Of the Gamma distribution of every weight and of the constant. None: (1, 10) of similarities, (1, 1) of
        triplets. The former, mean 0.1, is meant for similarities of about 0 to 1: for similarities c times as large
        take a rate c times as small.
    constant : bool
        Whether there is an additive constant; of similarities alone, like `sigma`.
    sampler : {None, "recommended", "paper"}
        "recommended" is parallel tempering of exact conditional draws. "paper" is the published Gibbs and Metropolis
        sampler with a valid scan, which on data with several families of features stays in one of them.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which trade places, so that it does not
        stay in one family of features. None, "auto": 8 to start with, as long as features are learned.
        False, "off": one temperature. A number: so many temperatures up to 10 to start with; more are added while
        tuning, until neighbours trade often enough. A sequence, rising from 1: these temperatures. Of triplets None
        is one temperature, unless chains stay apart.
    link : {"exp", "ratio"}
        How triplets depend on what objects share: "exp" is the softmax of the shared weights, whose scale the data
        tell; with "ratio" only ratios of weights and constant count.
    lapse : float in [0, 1)
        Of triplets, the probability epsilon of naming a pair at random.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    References
    ----------
    Shepard & Arabie (1979); Navarro & Griffiths (2007), eq. 1 to 5. Their prior on the weights, which the paper does
    not state, is Gamma(1, 10) in all likelihood, and alpha 0.5.

    Examples
    --------
    >>> import thali as th
    >>> model = th.AdditiveClustering(sigma=0.05, alpha=0.5)
    >>> model = model.fit(th.datasets.numbers(), draws=100, tune=100, random_seed=1, progressbar=False)
    >>> round(model.estimate().variance_accounted_for(), 2)
    0.97
    """

    _matrix: ClassVar[str] = "Similarities"

    def __init__(
        self,
        features: Any = "ibp",
        sigma: Any = None,
        alpha: Any = None,
        weight_prior: Any = None,
        constant: bool = True,
        sampler: Any = None,
        tempering: Any = None,
        link: str = EXP,
        lapse: float = LAPSE,
    ) -> None:
        # the method `features` of a fitted model has the name of this argument, which is kept under another
        self._features = features
        self.sigma = sigma
        self.alpha = alpha
        self.weight_prior = weight_prior
        self.constant = constant
        self.sampler = sampler
        self.tempering = tempering
        self.link = link
        self.lapse = lapse

    _kept_as = {"features": "_features"}

    def _parts(self, data: Any) -> dict[Any, Any]:
        from thali.data.triplets import Triplets

        one_of("constant", self.constant, (True, False))
        of_triplets = isinstance(data, Triplets)
        self._refuse_others(of_triplets)
        likelihood: Any = Additive(self.sigma, bool(self.constant))
        return {
            "prior": prior_of("features", self._features, data.labels, words=("ibp",)),
            "likelihood": MostSimilarPair(self.link, self.lapse) if of_triplets else likelihood,
            "weight_prior": self._weight_prior(of_triplets),
            "alpha": self.alpha,
            "sampler": self.sampler,
            "tempering": self.tempering,
        }

    def _refuse_others(self, of_triplets: bool) -> None:
        """Refuse arguments that are for the other kind of data."""
        for name, usual, is_for_triplets in (
            ("sigma", None, False),
            ("constant", True, False),
            ("link", EXP, True),
            ("lapse", LAPSE, True),
        ):
            if getattr(self, name) != usual and is_for_triplets != of_triplets:
                wanted, got = ("triplets", "similarities") if is_for_triplets else ("similarities", "triplets")
                raise ArgumentError(Argument(name), f" is for {wanted}, and these data are {got}; leave it out.")

    def _weight_prior(self, of_triplets: bool) -> Any:
        """Shape and rate, those for the kind of data unless others are given."""
        return self.weight_prior or ((1.0, 1.0) if of_triplets else (1.0, 10.0))

    def _held_to(self, data: Any) -> LatentFeatureModel:
        return LatentFeatureModel(**self._parts(data))._held_to(data)

    def _tree(self) -> Tree | None:
        return self._features if isinstance(self._features, Tree) else None

    def features(self, min_probability: float = 0.05) -> "pandas.DataFrame":
        """The features with their members, posterior probability (of at least one copy), weight, and convergence.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`, with the effective sample size `ess` and `r_hat` of each probability, and
            `converged`: False where R-hat exceeds 1.05, so that the probability is not to be relied on. Features that
            were given by name have a first column `feature`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .answers.presence import add_convergence

        table = add_convergence(super().features(min_probability), self._fitted())
        if names := names_of(self._features, self._fitted()["posterior"].dataset["option"].values):
            table.insert(0, "feature", [names[frozenset(members)] for members in table["members"]])
        return table

    def estimate(self, kind: str = "expectation") -> "Estimate":
        """One answer in place of a whole posterior: features, weights, and the similarities that they fit.

        Features of a single object are left out: they do not touch the similarities.

        Parameters
        ----------
        kind : {"expectation", "map-features", "conditional-map", "joint-map"}
            "expectation": every feature with its probability and mean weight; the fitted similarities are their
            posterior mean, the best guess of a new matrix. "map-features": the most probable set of features, with the
            weights that suit it best. "conditional-map": the best set and weights among those with the most probable
            number of features. "joint-map": the best among all, which is ill-posed for weight priors of high rate.

        Returns
        -------
        Estimate
            With `features`, `weights`, `constant`, `similarity` and `variance_accounted_for(target=None)`.

        Raises
        ------
        ArgumentError
            For another kind.
        NotFittedError
            Before `fit`.

        References
        ----------
        Navarro & Griffiths (2007), section 4, eq. 8 to 13.
        """
        from .answers.columns import columns_of
        from .answers.estimators import KINDS, estimate
        from .answers.kind import of_similarities
        from .answers.similarities import measured_similarities

        one_of("kind", kind, KINDS)
        tree = of_similarities(self._fitted(), "estimate")
        if (kept := getattr(self, "_estimates", (None, {})))[0] is not tree:
            kept = self._estimates = tree, {}
        if kind not in kept[1]:
            posterior = tree["posterior"].dataset
            data = measured_similarities(tree)
            draws: dict[Any, Any] = {name: posterior[name].values.ravel() for name in ("constant", "sigma", "alpha")}
            parts = self._parts(data)
            prior = parts["prior"].for_labels(data.labels) if self._tree() else parts["prior"]
            kept[1][kind] = estimate(
                kind,
                columns_of(tree),
                **draws,
                data=data,
                prior=prior,
                weight_prior=parts["weight_prior"],
                with_constant=bool(self.constant),
            )
        return kept[1][kind]
