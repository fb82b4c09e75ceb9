"""`MultinomialLogit`, the model that users fit: equal tastes of all respondents."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed
from thali._labels import shorten
from thali._model.base import Job, Model
from thali._model.fitting_methods import Forecast
from thali._object_descriptions import Facts
from thali._people.people_argument import check_people
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import (
    EstimateWarning,
    ModelName,
    ThaliWarning,
)

from ..product_coding import (
    Coding,
    build_coding,
    build_measured_facts,
    build_unseen_remarks,
    encode_new_tasks,
    refuse_many_levels,
    refuse_weights,
    require_experiment,
)
from ..reports.logit_choice_draws import LogitChooser, LogitReports
from ..respondent_errors import draw_t_factors, estimate_errors, get_df, score_tasks
from .willingness_to_pay_space import (
    MONEY,
    PREFERENCE,
    SPACES,
    convert_covariance_to_utility,
    convert_from_logarithm,
    convert_to_amounts,
    convert_to_utility,
    differentiate_amounts,
    require_price,
)

if TYPE_CHECKING:
    import pandas as pd

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.product_encoding import Scheme
    from thali._inference.random_seeds import RandomSeed
    from thali._posterior.respondent_dependence import Dependence


_N_STEPS = 7  # typical number of Newton's steps
_N_DRAWS, _SEED = 2_000, 0  # draws of the sampling distribution of the estimate


class MultinomialLogit(LogitReports, Model):
    r"""The multinomial logit, fitted by maximum likelihood: one vector of tastes for all people.

    .. math:: P(x_j \mid X) = e^{x_j^T \beta} \Big/ \sum_{j' \in X} e^{x_{j'}^T \beta}

    Every level that the tasks show, but the first of an attribute, has a coefficient, the utility
    that it adds to that of the first.

    In willingness-to-pay space the coefficients are amounts of money, and the price p has the scale
    of utility,

    .. math:: u_j = s \, (x_j^T w - p_j), \qquad s = -\beta_p > 0, \quad w_k = -\beta_k / \beta_p.

    Parameters
    ----------
    linear : attribute or list of attributes
        Attributes whose number itself has a coefficient instead; predictions then take any number.
        Columns of more than 30 different numbers, some of them not integers, are always treated as
        numbers, unless the data list their `levels`.
    knots : dict, optional
        Attribute of numbers -> the knots where its slope changes, a list of numbers between tested
        values, or the number of knots, at quantiles of the tested values. It has a coefficient, its
        slope, in each piece, and predictions take any number.
    interactions : list of pairs of attributes, or dict of lists
        Two attributes whose columns also have coefficients for their products, such as [("price",
        "brand")] or {"price": ["brand"]}.
    constants : bool, optional
        Whether each alternative has a separate constant, by its label (a means of transport, a
        position on the screen). None: named alternatives have constants, unless an attribute
        distinguishes them; numbered alternatives have none.
    space : {"preference", "willingness-to-pay"}
        Unit of coefficients: utilities, or amounts in units of the attribute that is called a
        price, a cost, a fee or a fare. It must be treated as a number (`linear`) and has no
        interaction.
    people : {None, "adjusted", "independent"}
        Treatment of several tasks of one respondent. "adjusted": standard errors and intervals are
        for new samples of respondents, by the variance V of respondents' scores, each adjusted for
        its leverage, and by Student's t with the degrees of freedom that respondents leave (Bell &
        McCaffrey 2002). "independent": all choices are treated as choices of different respondents.
        None: "adjusted" where at least half of two respondents or more answered twice, else
        "independent".

    Attributes
    ----------
    coef_ : pandas.Series (p,)
        NaN where the data do not distinguish a coefficient from the earlier ones. In
        willingness-to-pay space the scale s replaces the price, as "scale[price]".
    covariance_ : pandas.DataFrame (p, p)
        Inverse of the negative Hessian H; with `people="adjusted"` H⁻¹VH⁻¹.
    log_likelihood_ : float
        Of all choices, natural logarithm.
    aic_, bic_ : float
        BIC counts tasks.
    converged_ : bool
        Whether Newton's method converged to a maximum.

    Raises
    ------
    DataError
        If the data are not a choice experiment, no attribute differs within a task, or an attribute
        that is not treated as a number has more than 30 levels, which the data do not list; in
        willingness-to-pay space also if demand does not fall with the price.
    ArgumentError
        If an argument names an unknown attribute, or treats one as a number whose levels are not
        numbers; with constants if alternatives have no labels; in willingness-to-pay space if no
        attribute is a price with a single slope.

    Warns
    -----
    EstimateWarning
        If the likelihood increases without bound.
    DataWarning
        If some coefficients are not identified, or a declared level is never shown.

    References
    ----------
    McFadden (1974), Conditional logit analysis of qualitative choice behavior; Train & Weeks
    (2005), Discrete choice models in preference space and willingness-to-pay space; Bell &
    McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage
    samples.

    Examples
    --------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {
    ...     "id": [1] * 8,
    ...     "task": [1, 1, 2, 2, 3, 3, 4, 4],
    ...     "choice": [1, 0] * 3 + [0, 1],
    ...     "price": [90, 150] * 4,
    ... }
    >>> model = MultinomialLogit().fit(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)))
    >>> model.coef_.round(4).to_dict()
    {'price[150]': -1.0986}
    >>> model.predict_proba(pd.DataFrame({"price": [150, 90]})).round(4).tolist()
    [0.25, 0.75]
    """

    _FINDINGS: ClassVar[str] = "thali._choice.logits.findings"
    coef_: "pd.Series"
    covariance_: "pd.DataFrame"
    log_likelihood_: float
    aic_: float
    bic_: float
    converged_: bool
    _unbounded_: tuple[str, ...]
    _scheme_: "Scheme"
    _coding_: "Coding"
    _data_: "ChoiceExperiment"
    _price_: int | None = None  # index of the scale in willingness-to-pay space
    _degrees_: np.ndarray  # (p,) degrees of freedom of each standard error
    _people_: "Dependence | None"

    def __init__(
        self,
        linear: Iterable[str] = (),
        knots: Mapping[str, Any] | None = None,
        interactions: Iterable[tuple[str, str]] = (),
        constants: bool | None = None,
        space: str = PREFERENCE,
        people: str | None = None,
    ) -> None:
        self.linear = linear
        self.knots = knots
        self.interactions = interactions
        self.constants = constants
        self.space = space
        self.people = people

    def fit(
        self, data: "ChoiceExperiment", random_seed: "RandomSeed" = None, progressbar: bool = True
    ) -> "MultinomialLogit":
        """Fit to a choice experiment.

        Parameters
        ----------
        data : ChoiceExperiment
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Not used, as nothing is random.
        progressbar : bool
            Not used, as nothing takes long.

        Returns
        -------
        MultinomialLogit
        """
        return self._run_job(self._check_fit(data))

    def _check_fit(self, data: Any) -> Job:
        """Check data and arguments; return the job of the fit."""
        import pandas as pd

        from ..logit_likelihood import (
            SECONDS_PER_CELL,
            encode_choices,
            expand_covariance,
            find_independent_columns,
            find_separating_columns,
            maximise_log_likelihood,
        )

        data = require_experiment(data, self.constants)
        check_people(self.people, has_individuals=False)
        refuse_weights(data)
        coding = build_coding(data, self.linear, self.knots, self.interactions)
        price_index = self._find_price(data, coding)
        refuse_many_levels(data, coding.linear)
        tasks = encode_choices(data, coding)
        is_independent = find_independent_columns(tasks)
        tasks = tasks._replace(matrix=tasks.matrix[:, is_independent])
        column_scales = np.abs(tasks.matrix).max(axis=0)
        scaled_tasks = tasks._replace(matrix=tasks.matrix / column_scales)

        def fit_coefficients() -> dict[str, Any]:
            """Maximise the likelihood; return the fitted attributes by name."""
            estimate = maximise_log_likelihood(scaled_tasks)
            coefficient_names = list(coding.names)
            separating_columns = find_separating_columns(scaled_tasks, estimate.beta)
            beta = np.full(len(coefficient_names), np.nan)
            beta[is_independent] = estimate.beta / column_scales
            errors = estimate_errors(
                self.people,
                data,
                estimate.hessian,
                lambda: score_tasks(data, scaled_tasks, estimate.beta),
            )
            covariance = expand_covariance(errors.covariance, is_independent, column_scales)
            n_parameters = int(is_independent.sum())
            contrasts = np.eye(len(beta))
            degrees = np.full(len(beta), np.inf)
            if price_index is not None:
                contrasts = differentiate_amounts(beta, price_index)
                price_coefficient = coefficient_names[price_index]
                beta, covariance = convert_to_amounts(
                    beta, covariance, price_index, price_coefficient
                )
                coefficient_names[price_index] = f"scale[{price_coefficient}]"
            degrees[is_independent] = errors.compute_degrees(
                contrasts[np.ix_(is_independent, is_independent)] / column_scales
            )
            coefficient_index = pd.Index(coefficient_names, name="coefficient")
            return {
                "coef_": pd.Series(beta, coefficient_index, name="coef"),
                "covariance_": pd.DataFrame(covariance, coefficient_index, coefficient_index),
                "log_likelihood_": estimate.log_likelihood,
                "aic_": 2.0 * n_parameters - 2.0 * estimate.log_likelihood,
                "bic_": float(np.log(data.n_tasks)) * n_parameters - 2.0 * estimate.log_likelihood,
                "converged_": estimate.converged,
                "_unbounded_": tuple(coefficient_index[is_independent][separating_columns]),
                "_scheme_": data.scheme,
                "_coding_": coding,
                "_data_": data,
                "_price_": price_index,
                "_degrees_": degrees,
                "_people_": errors.people,
            }

        expected_seconds = _N_STEPS * SECONDS_PER_CELL * scaled_tasks.matrix.size
        return Job(
            fit_coefficients,
            build_unseen_remarks(coding, data.levels),
            data=str(data),
            forecast=Forecast(expected_seconds, expected_seconds),
        )

    def _find_price(self, data: "ChoiceExperiment", coding: Coding) -> int | None:
        """Return the index of the price coefficient if the space is money, else None."""
        if check_allowed("space", self.space, SPACES) == MONEY:
            return coding.names.index(require_price(data, coding))
        return None

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings of unidentified or infinite coefficients."""
        from ..logit_likelihood import NOT_CONVERGED, list_unidentified_warnings

        yield from list_unidentified_warnings(self.coef_.index[self.coef_.isna().to_numpy()])
        if self._unbounded_:
            yield EstimateWarning(
                "The likelihood has no finite maximum for"
                f" {shorten(list(map(str, self._unbounded_)))} (separation): they predict the"
                " choices (almost) perfectly, so their estimates diverge. Predictions"
                " remain usable; do not interpret these estimates or their standard errors. ",
                ModelName("HierarchicalLogit"),
                " has a prior that keeps estimates finite.",
            )
        elif not self.converged_:
            yield EstimateWarning(NOT_CONVERGED)

    def _headline_facts(self) -> Facts:
        """Return (name, value) facts to show with a fit."""
        facts = (
            ("log-likelihood", f"{self.log_likelihood_:,.2f} (all choices)"),
            ("AIC", f"{self.aic_:,.2f}"),
        )
        return *facts, *build_measured_facts(self._coding_, self._scheme_)

    def summary(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Return coefficients with their standard errors.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            coef, std_error, z (their ratio), p_value (two-sided), low and high (ends of the
            interval), one row per coefficient. Test and interval are normal, or by Student's t
            with `people="adjusted"`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from ..logit_likelihood import tabulate_coefficients

        self._require_fitted()
        with np.errstate(invalid="ignore"):
            std_errors = np.sqrt(np.diag(self.covariance_))
        return tabulate_coefficients(
            self.coef_.to_numpy(), std_errors, self._degrees_, self.covariance_.index, ci
        )

    def _tastes(self) -> np.ndarray:
        """Return utility coefficients, shape (p,), 0 where not identified."""
        coef = np.nan_to_num(self.coef_.to_numpy())
        if self._price_ is None:
            return coef
        return convert_to_utility(coef, self._price_)

    def predict_proba(self, new: "pd.DataFrame | ChoiceExperiment", ci: float | None = None) -> Any:
        """Return probabilities that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over the sampling distribution of
            the estimate; None: none.

        Returns
        -------
        array (rows,)
            In the order of the rows; they sum to 1 within a task. With `ci` three arrays: the
            others contain the lower and the upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `ChoiceExperiment.encode`, or if the tasks of the fit never show a level.
        ArgumentError
            If `ci` is not a probability.
        """
        from ..logit_likelihood import choice_probabilities
        from ..reports.choice_draws import append_interval

        self._require_fitted()
        model_matrix, encoded_tasks = encode_new_tasks(self._coding_, self._scheme_, new)

        def compute_probabilities(tastes: np.ndarray) -> np.ndarray:
            """Return choice probabilities of all rows at these tastes."""
            return choice_probabilities(model_matrix @ tastes, encoded_tasks.task_of_row)

        def draw_probabilities() -> np.ndarray:
            """Return choice probabilities at draws around the estimate."""
            return np.stack(
                [compute_probabilities(tastes) for tastes in self._build_chooser().tastes[1:, 0]]
            )

        return append_interval(compute_probabilities(self._tastes()), draw_probabilities, ci)

    def _get_fit_data(self) -> "ChoiceExperiment":
        """Return the choice experiment that the model was fitted to."""
        return self._data_

    def _build_chooser(self) -> "LogitChooser":
        """Build the `Chooser` from the estimate and draws of Student's t around it."""
        self._require_fitted()
        coef = np.nan_to_num(self.coef_.to_numpy())
        coefficient_units = np.ones(len(coef))
        # draws of the log scale give the price a log-normal coefficient
        if self._price_ is not None:
            coefficient_units[self._price_] = coef[self._price_]
            coef[self._price_] = np.log(coef[self._price_])
        covariance = np.nan_to_num(self.covariance_.to_numpy()) / np.outer(
            coefficient_units, coefficient_units
        )
        rng = np.random.default_rng(_SEED)
        deviations = rng.standard_normal((_N_DRAWS, len(coef))) * draw_t_factors(
            rng, get_df(self._people_), _N_DRAWS
        )
        eigenvalues, eigenvectors = np.linalg.eigh(covariance)
        # the symmetric root does not depend on the choice of eigenvectors
        tastes = (
            coef
            + deviations @ (eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ eigenvectors.T
        )
        if self._price_ is not None:
            coef, tastes = (
                convert_from_logarithm(log_coefficients, self._price_)
                for log_coefficients in (coef, tastes)
            )
            covariance = convert_covariance_to_utility(covariance, coef, self._price_)
        equal_membership = np.ones((len(self._data_.respondents), 1))
        return LogitChooser(
            self._coding_,
            self._data_,
            np.vstack([coef, tastes])[:, None],
            np.zeros(_N_DRAWS + 1, np.int64),
            equal_membership,
            covariance=covariance,
            df=get_df(self._people_),
        )
