"""Additive clustering: features from a matrix of similarities, or from triplets; how it chooses
sigma."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._arguments import check_allowed
from thali._data.kinds import GROUPS, SIMILARITIES, TRIPLETS
from thali._inference.chains import Run, TimeIsUp, TimeLimit
from thali._inference.numerics.counts import log_normal_density
from thali._inference.progress import Progress
from thali._inference.warn import silence_warnings, warn
from thali._labels import shorten
from thali._model.design_effects import choose_chain_dependence
from thali._model.engine import Engine
from thali._model.model_files import compute_digest
from thali._model.requirements import requires
from thali._model.sampling import Sampling, get_model_parameters
from thali._model.settings import AnswerSettings
from thali._model.spec import MODEL
from thali._people.populations import ADJUSTED, Groups, Individuals, check_people
from thali._posterior.dependence import Dependence
from thali._trees.tree import Tree
from thali.errors import Argument, ArgumentError, DataWarning, Setting

from ..answers.data_kind_checks import require_data_kind
from ..draws.similarities import measured_similarities
from ..likelihoods.additive import (
    DEFAULT_WEIGHT_PRIOR,
    LEARNED,
    Additive,
    choose_weight_prior,
    mean_inverse_judgements,
)
from ..likelihoods.most_similar_pair import EXP, MostSimilarPair
from ..likelihoods.residuals import CONSTANT, VARIANCE
from ..populations.one import Population
from ..populations.populations import population_of
from ..priors.feature_argument import build_feature_prior
from ..samplers.chains import FeatureChain
from ..samplers.task import build_task
from ..spec import ADDITIVE, OPEN
from ..state import COLUMNS
from .additive_answers import AdditiveAnswers
from .engines import BY_CHAINS
from .point import ANNEALING, feature_scores

if TYPE_CHECKING:
    import pandas

    from ..answers.estimate import Estimate
    from .feature_respondents import FeatureRespondents


# Choose the standard deviation of similarities by how well similarities that are left out are
# predicted
#
# A learned sigma falls until features explain the noise: any set of objects may have a feature, so
# that enough of them fit whatever was measured. Similarities that are left out show it. Each of
# several parts of the pairs is left out in turn, and one untempered chain goes through falling
# values of sigma, an annealing, so that every value starts from the features of a larger one.


# Of the standard deviation of the similarities, for a typical number of judgements.
SHARES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
MIN_PAIRS = 10  # measured, to leave some out
MAX_PAIRS_OF_PARTS = 500  # of more of them fewer parts are left out
PARTS, FEW_PARTS = 10, 5
# sweeps at each value, states that predict, and sweeps between these
BURN_IN, STATES, BETWEEN = 200, 100, 5
# values in a row that predict worse than the best, after which smaller ones are not tried
WORSE = 2


def can_choose(data: Any) -> bool:
    """Whether there are enough similarities, and not all the same."""
    return data.n_pairs >= MIN_PAIRS and float(np.ptp(data.values)) > 0.0


def sigma_scores(
    data: Any, parts: dict[str, Any], show_progress: bool, max_time: float | None
) -> "pandas.Series":
    r"""The mean log score of a similarity that was left out, by sigma, from the largest value down.

    .. math::

        \frac1P \sum_{ij} \log \frac1T \sum_t \mathrm{Normal}(s_{ij} \mid \mu_{ij}^{(t)}, \sigma^2 /
        n_{ij})
    """
    # The runs are short, so each score is averaged with those of its neighbours, in the proportions
    # 1:2:1. After `max_time` seconds `TimeIsUp` is raised.
    import pandas as pd

    rng = np.random.default_rng(0)  # a fixed stream: the choice is a function of data and prior
    number = PARTS if data.n_pairs <= MAX_PAIRS_OF_PARTS else FEW_PARTS
    part = rng.permutation(data.n_pairs) % min(number, data.n_pairs)
    spread = float(np.std(data.values)) / math.sqrt(mean_inverse_judgements(data))
    chains = [
        (_chain(data.take(part != k), parts, spread, rng.spawn(1)[0]), data.take(part == k))
        for k in np.unique(part)
    ]
    found: dict[float, float] = {}
    since_best, limit = 0, TimeLimit(max_time)
    with Progress(show_progress, "choosing sigma", len(SHARES) * len(chains), "runs") as progress:
        progress.note("compiling, once")
        for share in SHARES:
            sigma, total = share * spread, 0.0
            for chain, left_out in chains:
                total += _log_score(chain, left_out, sigma)
                progress.update(len(found) * len(chains))
                limit.check()
            since_best = (
                0
                if total / data.n_pairs > max(found.values(), default=-math.inf)
                else since_best + 1
            )
            found[sigma] = total / data.n_pairs
            if since_best == WORSE:
                break
    return pd.Series(
        smooth_scores(list(found.values())), list(found), name="log_score"
    ).rename_axis("sigma")


def smooth_scores(scores: list[float]) -> np.ndarray:
    """Each number averaged with its neighbours; the first and the last count as their own
    neighbours."""
    padded = np.concatenate([scores[:1], scores, scores[-1:]])
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


def _chain(
    data: Any, parts: dict[str, Any], sigma: float, rng: np.random.Generator
) -> FeatureChain:
    likelihood = Additive(sigma, parts["likelihood"].constant)
    settings = {name: parts[name] for name in ("prior", "weight_prior", "alpha")}
    with silence_warnings():
        task = build_task(
            data=data,
            likelihood=likelihood,
            draws=1,
            tune=10**7,
            thin=1,
            tempering=False,
            **settings,
        )
    return FeatureChain(task, rng)


def _log_score(chain: FeatureChain, left_out: Any, sigma: float) -> float:
    """The sum over the left-out similarities, after a burn-in at this sigma."""
    from scipy.special import logsumexp

    chain.caches.real[:, VARIANCE] = sigma**2
    chain.run_until(chain.sweeps + BURN_IN)
    mu = np.empty((STATES, left_out.n_pairs))
    for number in range(STATES):
        chain.run_until(chain.sweeps + BETWEEN)
        b = chain.state
        columns = int(b.whole[COLUMNS])
        Z, w = b.Z[:columns], b.w[:columns]
        mu[number] = chain.cache.real[CONSTANT] + w @ (Z[:, left_out.first] * Z[:, left_out.second])
    deviation = sigma / np.sqrt(left_out.judgements)
    logs = log_normal_density(left_out.values, mu, deviation)
    return float(np.asarray(logsumexp(logs, axis=0)).sum()) - left_out.n_pairs * math.log(STATES)


# What additive clustering makes of each kind of data: the likelihood, and the usual prior of
# weights


class SimilarityRules:
    """Similarities of one group of people or of several; whatever else was given is refused by the
    likelihood."""

    kind: ClassVar[str] = SIMILARITIES  # for which the options are
    are_estimated: ClassVar[bool] = True

    def __init__(self, data: Any) -> None:
        self.parts = dict(data) if data.population == GROUPS else {"": data}

    @property
    def has_estimates(self) -> bool:
        """Whether there are estimates in addition to posterior means."""
        return self.are_estimated and "" in self.parts

    @property
    def in_words(self) -> str:
        """What the data are."""
        return self.kind if "" in self.parts else f"{self.kind} of several groups"

    def likelihood(self, model: "AdditiveClustering") -> Any:
        """The likelihood with the arguments of the model, of which sigma may be unknown."""
        lacking = [name for name, part in self.parts.items() if part.sigma is None]
        if model.sigma is not None or not 0 < len(lacking) < len(self.parts):
            return Additive(model.sigma, bool(model.constant))
        warn(
            DataWarning(
                "`sigma` is estimated for every group, because it was not given for"
                f" {shorten(lacking)}."
            )
        )
        return Additive(LEARNED, bool(model.constant))

    def weight_prior(self) -> tuple[float, float]:
        """Shape and rate of the Gamma prior of weights, unless the user gives one."""
        return min(map(choose_weight_prior, self.parts.values()))

    def lacks_sigma(self) -> bool:
        """Whether sigma is needed, could be chosen by cross-validation, and is not known of the
        data."""
        return "" in self.parts and self.parts[""].sigma is None


class TripletRules(SimilarityRules):
    """Which pair of a set is the most similar."""

    kind = TRIPLETS
    are_estimated = False

    def likelihood(self, model: "AdditiveClustering") -> Any:
        return MostSimilarPair(model.link, model.lapse)

    def weight_prior(self) -> tuple[float, float]:
        return 1.0, 1.0

    def lacks_sigma(self) -> bool:
        return False


class RefusedRules(SimilarityRules):
    """Data that the likelihood refuses."""

    def __init__(self, data: Any) -> None:
        self.parts = {"": data}

    def likelihood(self, model: "AdditiveClustering") -> Any:
        return Additive(model.sigma, bool(model.constant))

    def weight_prior(self) -> tuple[float, float]:
        return DEFAULT_WEIGHT_PRIOR

    def lacks_sigma(self) -> bool:
        return False


_RULES: dict[str | None, type[SimilarityRules]] = {
    SIMILARITIES: SimilarityRules,
    TRIPLETS: TripletRules,
}


def rules_for(data: Any) -> SimilarityRules:
    """What is made of these data; None: of a fit whose data are not kept."""
    if data is None:
        return RefusedRules(data)
    return _RULES.get(data.kind, RefusedRules)(data)


LAPSE = 0.01


def similarities(model: Any, name: str) -> None:
    """Require draws of similarities of one group of respondents."""
    require_data_kind(SIMILARITIES, model._view, name)


def learned_sigma(model: Any, name: str) -> None:
    """Require draws of similarities, of one group of respondents or several."""
    if model._view.sigma is None:
        similarities(model, name)


def individual_weights(model: Any, name: str) -> None:
    """Require individual weights of features."""
    from ..answers.individuals import require_individual_weights

    require_individual_weights(model._view, name)


class AdditiveClustering(AdditiveAnswers):
    r"""Infer the features behind judgements of similarity, how many there are, and how much each
    weighs.

    The similarity of objects i and j is a constant plus the weights of the features that both have:

    .. math:: s_{ij} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2 / n_{ij}), \qquad
        \mu_{ij} = w_0 + \sum_k w_k f_{ik} f_{jk}

    where s_ij is the mean of n_ij judgements (`Similarities.judgements`; 1 if nothing is known of
    them). Of `Triplets` it decides which pair of a set S is called the most similar:

    .. math::

        P(ij \mid S) = (1 - \varepsilon) \frac{v_{ij}}{\sum_{ab \in S} v_{ab}}
        + \frac{\varepsilon}{|S|},
        \qquad v_{ij} = \exp \sum_k w_k f_{ik} f_{jk} \; \text{or} \; w_0 + \sum_k w_k f_{ik} f_{jk}

    Parameters
    ----------
    features : "ibp", int, Tree, matrix or mapping
        "ibp": any number of features, with the Indian buffet process as prior. A number K: K
        features whose owners are learned. A `Tree`: any number, which objects that it says are
        related share more readily. A matrix of 0 and 1 (objects by features) or a mapping from each
        label to its list of features: known features whose weights are learned.
    sigma : float above 0, or "learned", optional
        Standard deviation of a similarity about its mean, of one judgement where numbers of them
        are known. None: that of the data (`Similarities.sigma`) if they have one, otherwise the one
        that predicts similarities left out best, in a cross-validation of a few seconds before the
        fit (`sigma_scores_`; of fewer than ten similarities, and for known features, it is
        learned). "learned": with the prior sigma^2 ~ InverseGamma(2, 0.02 times the variance of the
        similarities, divided by the mean of 1 / n_ij); features may then explain the noise as well.
    alpha : float above 0, optional
        Concentration of the prior over features; None learns it under a Gamma(1, 1) prior.
    weight_prior : (shape, rate), shape at least 1 (of triplets .5), rate above 0, optional
        Of the Gamma distribution of every weight and of the constant. None: shape 1 and, as mean, a
        tenth of the largest similarity in absolute value; (1, 1) of triplets. For similarities c
        times as large take a rate c times as small.
    constant : bool
        Whether there is an additive constant; of similarities alone, like `sigma`.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which trade places, so
        that it does not stay in one family of features. None, "auto": 8 to start with, as long as
        features are learned. False, "off": one temperature. A number: so many temperatures up to 10
        to start with; more are added while tuning, until neighbours trade often enough. A sequence,
        rising from 1: these temperatures. Of triplets None is one temperature, unless chains stay
        apart.
    method : {"mcmc", "map"}
        "mcmc": draws from the posterior. "map": one set of features in seconds, the most probable
        that several annealed runs found (five for each of the chains of `fit`; of triplets two, and
        one from 40 objects on), with the weights that suit it best, or of triplets those of the
        most probable state; there are no probabilities, `posterior_` has a single draw, and the
        convergence check says how many runs found it.
    link : {"exp", "ratio"}
        How triplets depend on what objects share: "exp" is the softmax of the shared weights, whose
        scale the data tell; with "ratio" only ratios of weights and constant count.
    lapse : float in [0, 1)
        Of triplets, the probability epsilon of naming a pair at random.
    people : {"independent", "adjusted"}, Individuals or Groups of `thali.people`, optional
        How respondents differ, where the data contain who answered: `Triplets`, and `Similarities`
        of `from_respondents` and of lists with a column of who judged. "independent" (None): as
        many answers as of different respondents; `convergence` reports how many times too narrow
        intervals are. "adjusted": the likelihood is raised to the power 1 / max(1, design effect),
        which also lowers the number of features; the effect is that of the features that are given,
        or that annealed runs find to be the most probable. `Individuals`: each respondent has
        individual weights about common ones (of similarities also a constant and a sigma),
        individual differences (INDCLUS); the summary is of the population. It also takes a mapping
        from each respondent to their data. `Groups`: `fit` takes a mapping from each group to its
        `Similarities` or its `Triplets`; groups share features, and each has a constant and a
        sigma. The last three need method "mcmc".

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    sigma_scores_ : pandas.Series
        If sigma was chosen by cross-validation: by sigma the mean log score of a similarity that
        was left out.

    References
    ----------
    Shepard & Arabie (1979); Carroll & Arabie (1983) for groups; Navarro & Griffiths (2007), eq. 1
    to 5. Their prior on the weights, which the paper does not state, is Gamma(1, 10) in all
    likelihood, and alpha 0.5.

    Examples
    --------
    >>> import thali as th
    >>> model = th.AdditiveClustering(sigma=0.05, alpha=0.5)
    >>> model = model.fit(
    ...     th.datasets.numbers(), draws=20, tune=40, random_seed=1, progressbar=False
    ... )
    >>> round(model.estimate().variance_accounted_for(), 2)
    0.97
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = {"mcmc": BY_CHAINS, "map": ANNEALING}
    _matrix: ClassVar[str] = SIMILARITIES
    _FINDINGS: ClassVar[str] = "thali._aspects.findings.additive"

    sigma_scores_: "pandas.Series"

    def __init__(
        self,
        features: Any = "ibp",
        sigma: Any = None,
        alpha: Any = None,
        weight_prior: Any = None,
        constant: bool = True,
        tempering: Any = None,
        method: str = "mcmc",
        link: str = EXP,
        lapse: float = LAPSE,
        people: Any = None,
    ) -> None:
        # the method `features` of a fitted model has the name of this argument, which is kept under
        # another
        self._features = features
        self.sigma = sigma
        self.alpha = alpha
        self.weight_prior = weight_prior
        self.constant = constant
        self.tempering = tempering
        self.method = method
        self.link = link
        self.lapse = lapse
        self.people = people

    _ATTRIBUTE_OF_ARGUMENT = {"features": "_features"}

    def _complete_settings(self, data: Any, settings: AnswerSettings) -> AnswerSettings:
        """The settings; another estimate than the usual one is refused for data that have no
        other."""
        if settings.kind != AnswerSettings().kind and not (rules := rules_for(data)).has_estimates:
            raise ArgumentError(
                Argument("kind"),
                f" requires {SIMILARITIES} of a single group; these data are {rules.in_words}."
                " Remove ",
                Argument("kind"),
                ".",
            )
        return settings

    def _population(self, data: Any) -> Population:
        return population_of(data, self.people)

    def _dependence(self, data: Any, parts: dict[str, Any]) -> Dependence | None:
        return choose_chain_dependence(self.people, data, partial(feature_scores, data, parts))

    def _convert_data(self, data: Any) -> Any:
        check_people(self.people, (Individuals, Groups), data)
        return self._population(data).checked(super()._convert_data(data))

    def _parts(self, data: Any) -> dict[Any, Any]:
        parts = self._parts_but_sigma(data)
        if self._chooses_sigma(data):
            parts["likelihood"] = Additive(self._chosen_sigma(data), bool(self.constant))
        return parts

    def _parts_but_sigma(self, data: Any) -> dict[Any, Any]:
        """The parts, with a learned sigma where one is to be chosen."""
        check_allowed("constant", self.constant, (True, False))
        rules = rules_for(data)
        self._refuse_others(rules.kind)
        return {
            "prior": build_feature_prior("features", self._features, data.labels, words=("ibp",)),
            "likelihood": rules.likelihood(self),
            "weight_prior": self._weight_prior_for(data),
            "alpha": self.alpha,
            "tempering": self.tempering,
        }

    def _refuse_others(self, kind: str) -> None:
        """Refuse arguments that are for the other kind of data."""
        usual = self._get_parameters()
        for option in ADDITIVE.options:
            if (
                option.to == MODEL
                and not option.applies_to(kind)
                and getattr(self, option.name) != usual[option.name].default
            ):
                wanted = " or ".join(option.data)
                raise ArgumentError(
                    Argument(option.name),
                    f" requires {wanted}; these data are {kind}. Remove ",
                    Argument(option.name),
                    ".",
                )

    def _weight_prior_for(self, data: Any) -> Any:
        """The prior of the weights for these data; data of another kind are refused elsewhere."""
        return rules_for(data).weight_prior() if self.weight_prior is None else self.weight_prior

    def _evidence_parts(self, data: Any) -> dict[Any, Any]:
        if self._chooses_sigma(data):
            sigma = (
                Argument("sigma"),
                " was chosen by cross-validation of the same data; set a number or ",
            )
            raise ArgumentError(
                *sigma, Setting("sigma", LEARNED), " before computing the evidence."
            )
        return self._parts(data)

    def _chooses_sigma(self, data: Any) -> bool:
        """Whether sigma is chosen by cross-validation."""
        if self.sigma is not None or not rules_for(data).lacks_sigma():
            return False
        return can_choose(data) and self._parts_but_sigma(data)["prior"].learns_alpha

    def _chosen_sigma(
        self, data: Any, show_progress: bool = False, max_time: float | None = None
    ) -> float:
        """The sigma that predicts similarities left out best; that of the fit, if it was to these
        data."""
        if self._was_fitted_to(data):
            return float(self._view.sigma[0])  # which all draws have
        kept = vars(self).get("_sigma_choice", (None, None, None))
        if kept[0] is not data or kept[1] != get_model_parameters(self):
            try:
                scores = sigma_scores(data, self._parts_but_sigma(data), show_progress, max_time)
            except TimeIsUp:
                raise ArgumentError(
                    Setting("max_time", max_time),
                    " was reached while choosing sigma by cross-validation; allow more time, or"
                    " give ",
                    Argument("sigma"),
                    ".",
                ) from None
            kept = self._sigma_choice = data, get_model_parameters(self), scores
        return float(kept[2].index[int(kept[2].to_numpy().argmax())])

    def _was_fitted_to(self, data: Any) -> bool:
        """Whether there is a fit of these parameters to these data."""
        if "_state_" not in vars(self) or self._state_.parameters != get_model_parameters(self):
            return False
        return self._state_.digest == compute_digest(data)

    @property
    @requires(individual_weights)
    def respondents(self) -> "FeatureRespondents":
        """Results about the respondents of a fit with ``people=Individuals()``.

        Returns
        -------
        FeatureRespondents
            `.individuals()`, the weight of each feature for each respondent; `.effects()` of the
            columns `by`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was not fitted with ``people=Individuals()``.
        """
        from .feature_respondents import FeatureRespondents

        return FeatureRespondents(self)

    @property
    @requires(learned_sigma)
    def sigma_(self) -> float:
        """The standard deviation of a similarity that the fit used; the posterior mean of a learned
        one."""
        return float(self._view.sigma.mean())

    @property
    def weight_prior_(self) -> tuple[float, float]:
        """Shape and rate of the Gamma prior of weights and constant that the fit used."""
        return self._weight_prior_for(self._data_answers.data())

    def _parts_to_prepare(self, data: Any) -> dict[Any, Any]:
        """The parts, of which no sigma has been chosen."""
        return self._parts_but_sigma(data)

    def _build_sampling(self, source: Any, run: Run) -> Sampling[Any]:
        if not self._chooses_sigma(source) or self._was_fitted_to(source):
            return super()._build_sampling(source, run)
        build_task(
            data=source,
            draws=run.min_draws,
            tune=run.tune,
            thin=run.thin,
            **self._parts_but_sigma(source),
        )
        self._chosen_sigma(source, run.progressbar, run.max_time)
        scores = self._sigma_choice[2]
        sampling = super()._build_sampling(source, run)
        return replace(
            sampling, build_attributes=lambda tree, chains, seed: {"sigma_scores_": scores}
        )

    def _quicker(self, data: Any) -> Setting | None:
        if isinstance(self.people, Individuals):
            return Setting("people", ADJUSTED)
        return Setting("method", "map") if "" in rules_for(data).parts else None

    def _copy_with_fixed_prior(self, data: Any) -> Any:
        return OPEN.load()(**self._parts(data))._copy_with_fixed_prior(data)

    def _tree(self) -> Tree | None:
        return self._features if isinstance(self._features, Tree) else None

    @requires(similarities)
    def estimate(self, kind: str = "expectation") -> "Estimate":
        """One answer in place of a whole posterior: features, weights, and the similarities that
        they fit.

        Features of a single object are left out: they do not touch the similarities.

        Parameters
        ----------
        kind : {"expectation", "map-features", "conditional-map", "joint-map"}
            "expectation": every feature with its probability and mean weight; the fitted
            similarities are their posterior mean, the best guess of a new matrix. "map-features":
            the most probable set of features, with the weights that suit it best.
            "conditional-map": the best set and weights among those with the most probable number of
            features. "joint-map": the best among all, which is ill-posed for weight priors of high
            rate.

        Returns
        -------
        Estimate
            With `features`, `weights`, `constant`, `similarity` and
            `variance_accounted_for(target=None)`.

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
        from ..answers.estimate import ESTIMATORS, estimate_features
        from ..draws.columns import columns_of

        check_allowed("kind", kind, ESTIMATORS)
        posterior = self._view

        def make() -> "Estimate":
            data = measured_similarities(posterior)
            parts = self._parts_but_sigma(data)
            return estimate_features(
                kind,
                columns_of(posterior),
                constant=posterior.constant,
                sigma=posterior.sigma,
                alpha=posterior.alpha.ravel(),
                data=data,
                prior=parts["prior"].for_labels(data.labels) if self._tree() else parts["prior"],
                weight_prior=parts["weight_prior"],
                with_constant=bool(self.constant),
            )

        return self._compute_once(("estimate", kind), make)
