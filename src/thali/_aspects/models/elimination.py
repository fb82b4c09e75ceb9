"""Elimination by aspects, with aspects that are learned or given."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from thali._argument_checks import check_allowed
from thali._data.kinds import PAIRS
from thali._model.fitting_methods import Engine
from thali._model.method_requirements import require_maximum_likelihood, requires
from thali._model.tie_and_covariate_arguments import (
    CONVERSIONS,
    has_ties,
    select_covariates,
    treat_ties,
)
from thali._people.people_argument import check_people_of_features
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.respondent_dependence import Dependence
from thali._trees.tree import Tree

from ..dependent_choices import choice_dependence
from ..likelihoods.elimination import Elimination, require_pairs
from ..maximum_likelihood.elimination_engine import MAXIMUM_LIKELIHOOD
from ..maximum_likelihood.elimination_results import AspectEstimates
from ..priors.given_features import Given
from ..priors.prior_from_argument import (
    build_feature_prior,
    insert_feature_names,
    name_given_features,
)
from .choice_result_methods import ChoiceAnswers
from .sampling_engine import FEATURE_SAMPLING

if TYPE_CHECKING:
    import pandas

    from ..maximum_likelihood.estimates import Estimates

    pass


class EliminationByAspects(ChoiceAnswers):
    r"""Infer the aspects behind choices between options, two or more at a time.

    Option i is chosen over option j with probability

    .. math::
        \tilde p_{ij} = (1 - \varepsilon) \frac{A_{ij}}{A_{ij} + A_{ji}}
        + \frac{\varepsilon}{2}, \qquad
        A_{ij} = u_i + \sum_k w_k f_{ik} (1 - f_{jk})

    where f is 1 if an option owns an aspect, w are the weights of aspects and u the weights of
    unique aspects. All weights are Gamma(1, 1) a priori; only their ratios affect choices. From a
    larger set (`Choices`) one aspect after the other eliminates options: see
    `thali.likelihoods.elimination_probabilities`. The best and the worst of up to three options are
    a ranking; `BradleyTerryLuce` takes larger sets.

    Parameters
    ----------
    aspects : "ibp", "unique", int, Tree, matrix or mapping
        "ibp" ("iEBA"): any number of aspects, with the Indian buffet process as prior. "unique"
        ("BTL", "Bradley-Terry", "Luce"): only unique aspects, the Bradley-Terry-Luce model of
        pairs. A number K: K aspects whose owners are learned. A `Tree`: any number of aspects,
        which options that are close on the tree share more readily (the phylogenetic Indian buffet
        process). A matrix of 0/1 (options by aspects) or a mapping from each label to its list of
        aspects: given aspects whose weights are learned.
    unique : bool
        Whether every option also has one fixed unique aspect.
    lapse : float in [0, 1), optional
        Probability epsilon of choosing at random. None: 0.01 with method "mcmc", 0 with
        "maximum-likelihood".
    alpha : float above 0, optional
        Concentration of the prior over aspects; None learns it under a Gamma(1, 1) prior.
    method : {"mcmc", "maximum-likelihood"}
        "maximum-likelihood" ("ML"): the weights of given aspects without a prior, in milliseconds,
        as in R's package eba, for choices between two options. `fit` then takes a random_seed, for
        starting points, and no other setting of a run.
    tempering : {None, "auto"}, {False, "off"}, int or sequence of float
        Parallel tempering: each chain runs replicas at several temperatures, which are swapped, so
        that it does not stay in one family of aspects. None, "auto": 8 temperatures at the start if
        aspects are learned and unique=False, because chains get stuck there; otherwise one. False,
        "off": one temperature. A number: this number of temperatures up to 10 at the start; more
        are added during tuning, until neighbours are swapped often enough. A sequence increasing
        from 1: these temperatures.
    ties : {None, "davidson", "half", "drop"}
        Treatment of ties, in which neither option of a pair was chosen (`PairedComparisons.ties`).
        "davidson": a third outcome with the probability r / (1 + r), where r is nu times the square
        root of p̃ (1 - p̃) and nu is learned under a Gamma(1, 1) prior; p̃ is then the probability
        of the first option given that one of the two is chosen. "half": half a choice of either
        option. "drop": ignore them. None: "davidson" if there are ties.
    covariates : list of str, optional
        Covariates of comparisons in the model, among the covariates of the data
        (`PairedComparisons.from_trials`, `with_order`): log odds of elimination + x'beta, then the
        lapse and the ties, where every coefficient has a Normal(0, 1) prior. None: all. Covariates
        of options require `BradleyTerryLuce`.
    people : {"independent", "adjusted"}, optional
        How repeated answers of a respondent count, if the data have respondents. "independent":
        answers are treated as given by different respondents. "adjusted": intervals are for new
        samples of respondents; the likelihood is raised to the power 1 / max(1, design effect),
        which also reduces the number of aspects. Where respondents differ, use `BradleyTerryLuce`.
        None: "independent"; `convergence` reports by which factor intervals are then too narrow. By
        maximum likelihood, "adjusted" clusters standard errors by respondent, and
        `std_error_independent` is the error for independent answers; None: "adjusted" where at
        least half of two respondents or more answered twice.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        After `fit`: the draws in the ArviZ schema.

    References
    ----------
    Tversky (1972); Görür, Jäkel & Rasmussen (2006), eq. 1, 2, 4 and 5; Davidson (1970) for ties. Of
    maximum likelihood: Wickelmaier & Schmid (2004), A Matlab function to estimate choice model
    parameters from paired-comparison data; Bell & McCaffrey (2002), Bias reduction in standard
    errors for linear regression with multi-stage samples; Rao & Scott (1984), On chi-squared tests
    for multiway contingency tables.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(aspects="unique")
    >>> model = model.fit(
    ...     th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False
    ... )
    >>> bool(0.6 < model.predict_proba([("LBJ", "HW")])[0] < 0.7)
    True
    >>> model = th.EliminationByAspects(aspects="unique", method="maximum-likelihood")
    >>> model = model.fit(th.datasets.celebrities())
    >>> model.maximum_likelihood.weights().head(3).round(4).to_dict()
    {'LBJ': 0.2287, 'HW': 0.1403, 'CDG': 0.1099}
    """

    _estimates_: "Estimates"  # of maximum likelihood

    _matrix: ClassVar[str] = PAIRS
    _IS_METHOD_FIXED: ClassVar[bool] = True
    _FINDINGS: ClassVar[str] = "thali._aspects.findings.elimination"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {
        "mcmc": FEATURE_SAMPLING,
        "maximum-likelihood": MAXIMUM_LIKELIHOOD,
    }

    def __init__(
        self,
        aspects: Any = "ibp",
        unique: bool = True,
        lapse: float | None = None,
        alpha: float | None = None,
        method: str = "mcmc",
        tempering: str | Sequence[float] | None = None,
        ties: str | None = None,
        covariates: Iterable[str] | None = None,
        people: Any = None,
    ) -> None:
        self.aspects = aspects
        self.unique = unique
        self.lapse = lapse
        self.alpha = alpha
        self.method = method
        self.tempering = tempering
        self.ties = ties
        self.covariates = covariates
        self.people = people

    def _convert_data(self, data: Any) -> Any:
        """Return the data of `fit` with ties converted or kept, and selected covariates."""
        check_people_of_features(self.people)
        data = treat_ties(super()._convert_data(data), self.ties, ("davidson", *CONVERSIONS))
        return select_covariates(data, self.covariates)

    def _choose_dependence(self, data: Any, task_arguments: dict[str, Any]) -> Dependence | None:
        """Return the correction for respondents' repeated answers; None without correction."""
        return choice_dependence(self.people, data, task_arguments)

    def _build_task_arguments(self, data: Any) -> dict[str, Any]:
        """Check the model's arguments and return those of the sampling task."""
        check_allowed("unique", self.unique, (True, False))
        prior = build_feature_prior("aspects", self.aspects, data.labels, words=("ibp", "unique"))
        lapse = Elimination.lapse
        if self.lapse is not None:
            lapse = self.lapse
        models_ties = self.ties == "davidson" or (self.ties is None and has_ties(data))
        likelihood = Elimination(lapse, bool(self.unique), models_ties, data.covariate_names)
        if self.unique and isinstance(prior, Given) and prior.matrix.shape[1] == 0:
            require_pairs(likelihood.convert_data(data))
        return {
            "prior": prior,
            "likelihood": likelihood,
            "weight_prior": (1.0, 1.0),
            "alpha": self.alpha,
            "tempering": self.tempering,
        }

    @property
    @requires(require_maximum_likelihood)
    def maximum_likelihood(self) -> AspectEstimates:
        """Results available only with ``method="maximum-likelihood"``, which leaves no draws.

        `weights()` (they sum to 1; unique aspects first), `standard_errors()`; `utility_scale()`
        (for each option the sum of the weights of its aspects, normalised), `utility_covariance()`;
        `log_likelihood()` (multinomial coefficients included), `aic()`, `bic()`, `deviance()` (G²,
        against the saturated model), `df()`, `p_value()`, `pearson()`, `fit_test()`; `residuals()`;
        `tie()`, `tie_std_error()` (the parameter nu of ties; None if a tie is not an outcome).

        If the data have respondents, errors are over respondents, whose answers need not be
        independent of each other (Bell & McCaffrey 2002); so are tests of fit if there are at least
        five more respondents than free weights (Rao & Scott 1984).

        Raises
        ------
        NotFittedError
            Before `fit`, and after a fit by another method.
        """
        return AspectEstimates(self)

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a summary of draws as of `LatentFeatureModel`, or of weights with tests.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            With draws as `LatentFeatureModel.summary`. By maximum likelihood one row per aspect:
            weight, std_error, z and p_value (Wald test that the weight is zero; missing for unique
            aspects, whose weights are positive if an option was ever chosen), low and high (the
            interval: for a unique weight symmetric in its log odds, for a shared weight symmetric
            in the weight, cut at 0 and 1); if errors are over respondents (by Student's t),
            std_error_independent is the error for independent choices. ``attrs`` contains interval
            (`ci`), lapse, log_likelihood, deviance, df, p_value, pearson, aic and bic, with ties
            also tie and tie_std_error.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return super().summary(ci)

    def _get_prior_tree(self) -> Tree | None:
        """Return the tree given as `aspects`, or None."""
        if isinstance(self.aspects, Tree):
            return self.aspects
        return None

    def _name_given_features(self, labels: Sequence[str]) -> dict[frozenset[str], str]:
        """Return the names of given aspects by the labels of their owners."""
        return name_given_features(self.aspects, labels)

    def features(
        self, min_probability: float = 0.05, similar: float | None = None, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        """Return the aspects with members, posterior probability and weight.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Aspects with a smaller probability are omitted.
        similar : float between 0 and 1, optional
            Smallest Jaccard index at which aspects of different draws are merged, such as 0.8; None
            merges only aspects with exactly the same owners.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`; aspects that were given by name have a first column
            `aspect` (unless `similar` is given).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        aspects_table = super().features(min_probability, similar, ci)
        if similar is None:
            name_by_members = self._name_given_features(self._view.labels)
            insert_feature_names(aspects_table, "aspect", name_by_members)
        return aspects_table
