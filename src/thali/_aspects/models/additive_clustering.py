"""Additive clustering of similarities or triplets, and its choice of sigma."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed
from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._inference.markov_chains import Run, TimeIsUp, TimeLimit
from thali._inference.numerics.log_densities import log_normal_density
from thali._inference.progress_display import Progress
from thali._inference.user_warnings import silence_warnings
from thali._model.chain_runs import get_model_parameters
from thali._model.dependent_answers import choose_chain_dependence
from thali._model.finding_settings import AnswerSettings
from thali._model.fitting_methods import Engine
from thali._model.method_requirements import requires
from thali._model.model_files import compute_digest
from thali._model.model_spec import MODEL
from thali._people.people_argument import check_people_of_features
from thali._posterior.respondent_dependence import Dependence
from thali._trees.tree import Tree
from thali.errors import Argument, ArgumentError, Setting

from ..chain_state import COLUMNS
from ..draws.fitted_similarities import read_similarities
from ..likelihoods.additive import (
    DEFAULT_WEIGHT_PRIOR,
    LEARNED,
    Additive,
    choose_weight_prior,
    mean_inverse_judgements,
)
from ..likelihoods.most_similar_pair import EXP, MostSimilarPair
from ..likelihoods.similarity_residuals import CONSTANT, VARIANCE
from ..priors.prior_from_argument import build_feature_prior, name_given_features
from ..results.data_kind_checks import require_data_kind
from ..samplers.chains import FeatureChain
from ..samplers.sampling_task import build_task
from ..spec import ADDITIVE
from .additive_result_methods import AdditiveAnswers
from .annealing import ANNEALING, estimate_score_variance
from .sampling_engine import FEATURE_SAMPLING

if TYPE_CHECKING:
    import pandas

    from thali._posterior.convergence_check import ConvergenceCheck

    from ..results.point_estimate import Estimate


# The choice of the standard deviation of similarities by cross-validation
#
# A learned sigma decreases until features explain the noise: any set of objects may have a feature,
# so that enough features fit any measurement. Held-out similarities reveal it. Each of several
# parts of the pairs is held out in turn, and one untempered chain runs through decreasing values of
# sigma, an annealing, so that every value starts from the features of a larger one.


# candidates, as shares of the standard deviation of the similarities for typical judgements
SIGMA_SHARES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
MIN_SCORED_PAIRS = 10  # measured pairs required for cross-validation
MAX_PAIRS_MANY_PARTS = 500  # above this number of pairs the number of parts is smaller
N_PARTS = 10
N_FEW_PARTS = 5
# sweeps at each value, states that predict, and sweeps between these
BURN_IN = 200
STATES = 100
SWEEPS_BETWEEN = 5
# consecutive values that predict worse than the best, after which the search stops
MAX_WORSE = 2


def score_sigmas(
    data: Any, task_arguments: dict[str, Any], show_progress: bool, max_time: float | None
) -> "pandas.Series":
    r"""Return the mean log score of held-out similarities for each candidate sigma.

    .. math::

        \frac1P \sum_{ij} \log \frac1T \sum_t \mathrm{Normal}(s_{ij} \mid \mu_{ij}^{(t)}, \sigma^2 /
        n_{ij})
    """
    # The runs are short, so each score is averaged with its neighbours, in the proportions 1:2:1.
    # After `max_time` seconds `TimeIsUp` is raised.
    import pandas as pd

    rng = np.random.default_rng(0)  # a fixed stream: the choice is a function of data and prior
    n_parts = N_PARTS
    if data.n_pairs > MAX_PAIRS_MANY_PARTS:
        n_parts = N_FEW_PARTS
    part_of_pair = rng.permutation(data.n_pairs) % min(n_parts, data.n_pairs)
    max_sigma = float(np.std(data.values)) / math.sqrt(mean_inverse_judgements(data))
    chain_splits = [
        (
            _build_chain(data.take(part_of_pair != k), task_arguments, max_sigma, rng.spawn(1)[0]),
            data.take(part_of_pair == k),
        )
        for k in np.unique(part_of_pair)
    ]
    scores: dict[float, float] = {}
    n_worse = 0
    time_limit = TimeLimit(max_time)
    with Progress(
        show_progress, "choosing sigma", len(SIGMA_SHARES) * len(chain_splits), "runs"
    ) as progress:
        progress.note("compiling, once")
        for sigma_share in SIGMA_SHARES:
            sigma = sigma_share * max_sigma
            total_score = 0.0
            for chain, held_out in chain_splits:
                total_score += _score_held_out(chain, held_out, sigma)
                progress.update(len(scores) * len(chain_splits))
                time_limit.check()
            n_worse += 1
            if total_score / data.n_pairs > max(scores.values(), default=-math.inf):
                n_worse = 0
            scores[sigma] = total_score / data.n_pairs
            if n_worse == MAX_WORSE:
                break
    return pd.Series(
        smooth_scores(list(scores.values())), list(scores), name="log_score"
    ).rename_axis("sigma")


def smooth_scores(scores: list[float]) -> np.ndarray:
    """Return each score averaged with its neighbours in the list."""
    padded_scores = np.concatenate([scores[:1], scores, scores[-1:]])
    return 0.25 * padded_scores[:-2] + 0.5 * padded_scores[1:-1] + 0.25 * padded_scores[2:]


def _build_chain(
    data: Any, task_arguments: dict[str, Any], sigma: float, rng: np.random.Generator
) -> FeatureChain:
    """Build a chain of the sampler with sigma fixed at this value."""
    likelihood = Additive(sigma, task_arguments["likelihood"].constant)
    fixed_arguments = {name: task_arguments[name] for name in ("prior", "weight_prior", "alpha")}
    with silence_warnings():
        task = build_task(
            data=data,
            likelihood=likelihood,
            draws=1,
            tune=10**7,
            thin=1,
            tempering=False,
            **fixed_arguments,
        )
    return FeatureChain(task, rng)


def _score_held_out(chain: FeatureChain, held_out: Any, sigma: float) -> float:
    """Return the summed log score of held-out similarities over a chain's draws."""
    from scipy.special import logsumexp

    chain.caches.real[:, VARIANCE] = sigma**2
    chain.run_until(chain.sweeps + BURN_IN)
    mu = np.empty((STATES, held_out.n_pairs))
    for state_index in range(STATES):
        chain.run_until(chain.sweeps + SWEEPS_BETWEEN)
        b = chain.state
        n_columns = int(b.whole[COLUMNS])
        Z = b.Z[:n_columns]
        w = b.w[:n_columns]
        mu[state_index] = chain.cache.real[CONSTANT] + w @ (
            Z[:, held_out.first] * Z[:, held_out.second]
        )
    residual_sd = sigma / np.sqrt(held_out.judgements)
    log_densities = log_normal_density(held_out.values, mu, residual_sd)
    return float(np.asarray(logsumexp(log_densities, axis=0)).sum()) - held_out.n_pairs * math.log(
        STATES
    )


# Rules of additive clustering for each data kind: the likelihood, and the default prior of weights


class SimilarityRules:
    """What an AdditiveClustering model does with similarities: likelihood, priors, sigma."""

    kind: ClassVar[str] = SIMILARITIES  # data kind that arguments are checked for
    are_estimated: ClassVar[bool] = True

    def likelihood(self, model: "AdditiveClustering") -> Any:
        """Return the likelihood of similarities with the model's arguments."""
        return Additive(model.sigma, bool(model.constant))

    def weight_prior(self, data: Any) -> tuple[float, float]:
        """Return shape and rate of the default Gamma prior of the weights."""
        return choose_weight_prior(data)

    def lacks_sigma(self, data: Any) -> bool:
        """Return whether sigma is not given and can be cross-validated."""
        return data.sigma is None


class TripletRules(SimilarityRules):
    """What an AdditiveClustering model does with triplets."""

    kind = TRIPLETS
    are_estimated = False

    def likelihood(self, model: "AdditiveClustering") -> Any:
        """Return the likelihood of triplets with the model's arguments."""
        return MostSimilarPair(model.link, model.lapse)

    def weight_prior(self, data: Any) -> tuple[float, float]:
        """Return shape and rate of the default Gamma prior of the weights."""
        return 1.0, 1.0

    def lacks_sigma(self, data: Any) -> bool:
        """Return False: the likelihood of triplets has no noise sigma."""
        return False


class OtherDataRules(SimilarityRules):
    """Defaults of AdditiveClustering for data of other kinds, which its likelihood rejects."""

    def likelihood(self, model: "AdditiveClustering") -> Any:
        """Return the likelihood of similarities, which rejects these data."""
        return Additive(model.sigma, bool(model.constant))

    def weight_prior(self, data: Any) -> tuple[float, float]:
        """Return shape and rate of the fallback Gamma prior of the weights."""
        return DEFAULT_WEIGHT_PRIOR

    def lacks_sigma(self, data: Any) -> bool:
        """Return False: no sigma is chosen for data of other kinds."""
        return False


_RULES: dict[str | None, type[SimilarityRules]] = {
    SIMILARITIES: SimilarityRules,
    TRIPLETS: TripletRules,
}


def choose_rules(data: Any) -> SimilarityRules:
    """Return the rules for similarities, triplets or other data."""
    if data is None:
        return OtherDataRules()
    return _RULES.get(data.kind, OtherDataRules)()


LAPSE = 0.01


class AdditiveClustering(AdditiveAnswers):
    r"""Infer the features behind judgements of similarity, with their number and weights.

    The similarity of objects i and j is a constant plus the weights of the features that both have:

    .. math:: s_{ij} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2 / n_{ij}), \qquad
        \mu_{ij} = w_0 + \sum_k w_k f_{ik} f_{jk}

    where s_ij is the mean of n_ij judgements (`Similarities.judgements`; 1 if unknown). For
    `Triplets` it determines which pair of a set S is called the most similar:

    .. math::

        P(ij \mid S) = (1 - \varepsilon) \frac{v_{ij}}{\sum_{ab \in S} v_{ab}}
        + \frac{\varepsilon}{|S|},
        \qquad v_{ij} = \exp \sum_k w_k f_{ik} f_{jk} \; \text{or} \; w_0 + \sum_k w_k f_{ik} f_{jk}

    Parameters
    ----------
    features : "ibp", int, Tree, matrix or mapping
        "ibp": any number of features, with the Indian buffet process as prior. A number K: K
        features whose owners are learned. A `Tree`: any number of features, which objects that are
        close on the tree share more readily. A matrix of 0 and 1 (objects by features) or a mapping
        from each label to its list of features: given features whose weights are learned.
    sigma : float above 0, or "learned", optional
        Standard deviation of a similarity around its mean, for one judgement if numbers of
        judgements are given. None: the sigma of the data (`Similarities.sigma`) if they have one,
        otherwise the value that best predicts held-out similarities, in a cross-validation of a few
        seconds before the fit (`sigma_scores_`; with fewer than ten similarities, and for given
        features, it is learned). "learned": with the prior sigma^2 ~ InverseGamma(2, 0.02 times the
        variance of the similarities, divided by the mean of 1 / n_ij); features may then explain
        the noise as well.
    alpha : float above 0, optional
        Concentration of the prior over features; None learns it under a Gamma(1, 1) prior.
    weight_prior : (shape, rate), shape at least 1 (for triplets 0.5), rate above 0, optional
        Gamma distribution of every weight and of the constant. None: shape 1 and, as mean, a tenth
        of the largest similarity in absolute value; (1, 1) for triplets. If similarities are
        multiplied by c, divide the rate by c.
    constant : bool
        Whether there is an additive constant; only for similarities, like `sigma`.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which are swapped, so
        that it does not stay in one family of features. None, "auto": 8 temperatures at the start,
        if features are learned. False, "off": one temperature. A number: this number of
        temperatures up to 10 at the start; more are added during tuning, until neighbours are
        swapped often enough. A sequence increasing from 1: these temperatures. For triplets None is
        one temperature, unless chains disagree.
    method : {"mcmc", "map"}
        "mcmc": draws from the posterior. "map": one set of features in seconds, the most probable
        set of several annealed runs (five for each of the chains of `fit`; for triplets two, and
        one with at least 40 objects), with its most probable weights, or for triplets the weights
        of the most probable state; probabilities are not available, `posterior_` has a single draw,
        and the convergence check reports how many runs found the set.
    link : {"exp", "ratio"}
        Choice rule for triplets: "exp" is the softmax of the shared weights, whose scale is
        identified; with "ratio" only ratios of weights and constant affect the answers.
    lapse : float in [0, 1)
        For triplets, the probability epsilon of naming a pair at random.
    people : {"independent", "adjusted"}, optional
        How repeated answers of a respondent count, if the data have respondents: `Triplets`, and
        `Similarities` from `from_respondents` and from lists with a respondent column.
        "independent" (None): answers are treated as given by different respondents; `convergence`
        reports by which factor intervals are too narrow. "adjusted": the likelihood is raised to
        the power 1 / max(1, design effect), which also reduces the number of features; the design
        effect is estimated for the given features, or for the most probable features of annealed
        runs. It requires method "mcmc".

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.
    sigma_scores_ : pandas.Series
        If sigma was chosen by cross-validation: the mean log score of held-out similarities, by
        sigma.

    References
    ----------
    Shepard & Arabie (1979); Navarro & Griffiths (2007), eq. 1 to 5. Their prior on the weights,
    which the paper does not state, is Gamma(1, 10) in all likelihood, and alpha 0.5.

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

    _ENGINES: ClassVar[Mapping[str, Engine]] = {"mcmc": FEATURE_SAMPLING, "map": ANNEALING}
    _matrix: ClassVar[str] = SIMILARITIES
    _FINDINGS: ClassVar[str] = "thali._aspects.findings.additive_clustering"

    sigma_scores_: "pandas.Series"

    def __init__(
        self,
        features: Any = "ibp",
        sigma: Any = None,
        alpha: float | None = None,
        weight_prior: tuple[float, float] | None = None,
        constant: bool = True,
        tempering: str | Sequence[float] | None = None,
        method: str = "mcmc",
        link: str = EXP,
        lapse: float = LAPSE,
        people: Any = None,
    ) -> None:
        # the method `features` has the name of this argument, so the attribute has another name
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
        """Return report settings; raise for estimates these data do not have."""
        if (
            settings.estimator != AnswerSettings().estimator
            and not choose_rules(data).are_estimated
        ):
            raise ArgumentError(
                Argument("estimator"),
                f" requires {SIMILARITIES}; these data are {data.kind}. Remove ",
                Argument("estimator"),
                ".",
            )
        return settings

    def _choose_dependence(self, data: Any, task_arguments: dict[str, Any]) -> Dependence | None:
        """Return the correction for respondents' repeated answers; None without correction."""
        return choose_chain_dependence(
            self.people, data, partial(estimate_score_variance, data, task_arguments)
        )

    def _convert_data(self, data: Any) -> Any:
        """Return the data of `fit` as models store them; raise for other `people`."""
        check_people_of_features(self.people)
        return super()._convert_data(data)

    def _build_task_arguments(self, data: Any) -> dict[Any, Any]:
        """Return arguments of the sampling task; cross-validate sigma if it is None."""
        task_arguments = self._build_arguments_before_sigma(data)
        if self._needs_sigma_choice(data):
            task_arguments["likelihood"] = Additive(self._choose_sigma(data), bool(self.constant))
        return task_arguments

    def _build_arguments_before_sigma(self, data: Any) -> dict[Any, Any]:
        """Return arguments of the sampling task before sigma is cross-validated."""
        check_allowed("constant", self.constant, (True, False))
        rules = choose_rules(data)
        self._check_argument_kinds(rules.kind)
        return {
            "prior": build_feature_prior("features", self._features, data.labels, words=("ibp",)),
            "likelihood": rules.likelihood(self),
            "weight_prior": self._choose_weight_prior(data),
            "alpha": self.alpha,
            "tempering": self.tempering,
        }

    def _check_argument_kinds(self, kind: str) -> None:
        """Raise ArgumentError for arguments that apply to the other data kind only."""
        given_parameters = self._get_parameters()
        for option in ADDITIVE.options:
            if (
                option.to == MODEL
                and not option.applies_to(kind)
                and getattr(self, option.name) != given_parameters[option.name].default
            ):
                data_kinds = " or ".join(option.data)
                raise ArgumentError(
                    Argument(option.name),
                    f" requires {data_kinds}; these data are {kind}. Remove ",
                    Argument(option.name),
                    ".",
                )

    def _check_convergence(self) -> "ConvergenceCheck":
        """Return the check of the chains, or how many annealed runs reached the best point."""
        from ..results.fit_quality_messages import build_point_check

        if self._engine.is_point:
            return build_point_check(self._view)
        return super()._check_convergence()

    def _choose_weight_prior(self, data: Any) -> Any:
        """Return shape and rate of the weights' Gamma prior for these data."""
        if self.weight_prior is None:
            return choose_rules(data).weight_prior(data)
        return self.weight_prior

    def _build_evidence_arguments(self, data: Any) -> dict[Any, Any]:
        """Return arguments of the evidence's sampling task; raise if data chose sigma."""
        if self._needs_sigma_choice(data):
            raise ArgumentError(
                Argument("sigma"),
                " was chosen by cross-validation of the same data; set a number or ",
                Setting("sigma", LEARNED),
                " before computing the evidence.",
            )
        return self._build_task_arguments(data)

    def _needs_sigma_choice(self, data: Any) -> bool:
        """Return whether sigma must be chosen by cross-validation."""
        if self.sigma is not None or not choose_rules(data).lacks_sigma(data):
            return False
        return (
            # enough similarities, not all equal
            data.n_pairs >= MIN_SCORED_PAIRS
            and float(np.ptp(data.values)) > 0.0
            and self._build_arguments_before_sigma(data)["prior"].learns_alpha
        )

    def _choose_sigma(
        self, data: Any, show_progress: bool = False, max_time: float | None = None
    ) -> float:
        """Return the sigma that best predicts held-out similarities, or that of the fit."""
        if self._matches_fit(data):
            return float(self._view.sigma[0])  # equal in all draws
        stored_choice = vars(self).get("_sigma_choice", (None, None, None))
        if stored_choice[0] is not data or stored_choice[1] != get_model_parameters(self):
            try:
                sigma_scores = score_sigmas(
                    data, self._build_arguments_before_sigma(data), show_progress, max_time
                )
            except TimeIsUp:
                raise ArgumentError(
                    Setting("max_time", max_time),
                    " was reached while choosing sigma by cross-validation; allow more time, or"
                    " give ",
                    Argument("sigma"),
                    ".",
                ) from None
            stored_choice = self._sigma_choice = data, get_model_parameters(self), sigma_scores
        return float(stored_choice[2].index[int(stored_choice[2].to_numpy().argmax())])

    def _matches_fit(self, data: Any) -> bool:
        """Return whether the fitted model has the present parameters and these data."""
        if "_state_" not in vars(self) or self._state_.parameters != get_model_parameters(self):
            return False
        return self._state_.digest == compute_digest(data)

    def _require_similarities(self, answer_name: str) -> None:
        """Raise ArgumentError unless draws of similarities exist."""
        require_data_kind(SIMILARITIES, self._view, answer_name)

    @property
    @requires(_require_similarities)
    def sigma_(self) -> float:
        """Standard deviation of a similarity in the fit; the posterior mean of a learned one."""
        return float(self._view.sigma.mean())

    @property
    def weight_prior_(self) -> tuple[float, float]:
        """Shape and rate of the Gamma prior of weights and constant in the fit."""
        return self._choose_weight_prior(self._data_results.data())

    def _build_prepare_arguments(self, data: Any) -> dict[Any, Any]:
        """Return the arguments of the sampling task, without a choice of sigma."""
        return self._build_arguments_before_sigma(data)

    def _choose_arguments(self, data: Any, run: Run) -> dict[str, Any]:
        """Cross-validate sigma if it is None; return the scores as a fitted attribute."""
        if not self._needs_sigma_choice(data) or self._matches_fit(data):
            return {}
        # all other arguments are checked before the cross-validation, which takes long
        build_task(
            data=data,
            draws=run.requested_or_first_draws,
            tune=run.tune,
            thin=run.thin,
            **self._build_arguments_before_sigma(data),
        )
        self._choose_sigma(data, run.progressbar, run.max_time)
        return {"sigma_scores_": self._sigma_choice[2]}

    def _suggest_faster_setting(self, data: Any) -> Setting | None:
        """Return the setting that makes a fit faster; None if there is none."""
        return Setting("method", "map")

    def _name_given_features(self, labels: Sequence[str]) -> dict[frozenset[str], str]:
        """Return the names of given features by the labels of their owners."""
        return name_given_features(self._features, labels)

    def _get_prior_tree(self) -> Tree | None:
        """Return the tree given as `features`, or None."""
        if isinstance(self._features, Tree):
            return self._features
        return None

    @requires(_require_similarities)
    def estimate(self, estimator: str = "expectation") -> "Estimate":
        """Estimate one set of features, their weights and the fitted similarities.

        Features of a single object are omitted: they do not affect the similarities.

        Parameters
        ----------
        estimator : {"expectation", "map-features", "conditional-map", "joint-map"}
            "expectation": every feature with its probability and mean weight; the fitted
            similarities are their posterior mean, the best prediction of a new matrix.
            "map-features": the most probable set of features, with its most probable weights.
            "conditional-map": the best set and weights with the most probable number of features.
            "joint-map": the best set and weights of all, which is ill-posed for weight priors of
            high rate.

        Returns
        -------
        Estimate
            With `features`, `weights`, `constant`, `similarity` and
            `variance_accounted_for(target=None)`.

        Raises
        ------
        ArgumentError
            For any other estimator.
        NotFittedError
            Before `fit`.

        References
        ----------
        Navarro & Griffiths (2007), section 4, eq. 8 to 13.
        """
        from ..draws.feature_columns import read_columns
        from ..results.point_estimate import ESTIMATORS, estimate_features

        check_allowed("estimator", estimator, ESTIMATORS)
        posterior = self._view

        def compute_estimate() -> "Estimate":
            """Return the estimate by this estimator from all draws."""
            data = read_similarities(posterior)
            task_arguments = self._build_arguments_before_sigma(data)
            prior = task_arguments["prior"]
            if self._get_prior_tree():
                prior = prior.for_labels(data.labels)
            return estimate_features(
                estimator,
                read_columns(posterior),
                constant=posterior.constant,
                sigma=posterior.sigma,
                alpha=posterior.alpha.ravel(),
                data=data,
                prior=prior,
                weight_prior=task_arguments["weight_prior"],
                with_constant=bool(self.constant),
            )

        return self._compute_once(("estimate", estimator), compute_estimate)
