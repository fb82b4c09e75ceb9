"""`LatentClassLogit`, the model that users fit, and its tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed, check_integer
from thali._data.experiments import ChoiceExperiment
from thali._inference.index_arithmetic import space_evenly
from thali._inference.random_seeds import RandomSeed, build_seed_sequence, format_seed_setting
from thali._labels import format_plural, list_names
from thali._model.base import Job, Model
from thali._number_format import format_percent
from thali._object_descriptions import Facts
from thali._people.people_argument import check_people
from thali._people.respondent_columns import build_covariates, list_column_names
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import (
    Argument,
    EstimateWarning,
    ModelName,
    Setting,
    ThaliWarning,
)

from ..product_coding import (
    Coding,
    build_coding,
    build_measured_facts,
    build_unseen_remarks,
    encode_new_tasks,
    refuse_many_levels,
    require_experiment,
)
from ..reports.level_preferences import estimate_taste_preferences
from ..reports.logit_choice_draws import LogitChooser, LogitReports
from ..reports.predictive_check import ChoiceModelCheck
from ..respondent_errors import get_df
from .class_probabilities import ClassesByColumns
from .maximum_likelihood import (
    BIC,
    HELD_OUT,
    N_DRAWS,
    N_FOLDS,
    ClassDraws,
    ClassFit,
    build_fitted_attributes,
    build_panel,
    check_numbers,
    choose_number,
    fit_numbers,
    forecast_fits,
    limit_starts,
    scale_columns,
)

if TYPE_CHECKING:
    import pandas as pd

    from thali._data.experiments.product_encoding import Scheme
    from thali._inference.progress_display import Progress
    from thali._people.respondent_columns import RespondentCovariates
    from thali._people.respondent_segments import Preferences
    from thali._posterior.respondent_dependence import Dependence

    from .respondent_results import ClassRespondents

CRITERIA = (BIC, HELD_OUT)


class LatentClassLogit(LogitReports, Model, ChoiceModelCheck):
    r"""The latent-class logit: a few classes of people, each with separate tastes.

    .. math::
        P(x^*_{n1}, x^*_{n2}, \dots) = \sum_{k=1}^K \pi_k \prod_t
        e^{x_{nt}^{*T} \beta_k} \Big/ \sum_{j} e^{x_{ntj}^T \beta_k}

    The likelihood multiplies all tasks of a person, since a person has one class. It has several
    maxima: expectation and maximisation (EM) starts at the tastes of random people, Newton's method
    completes the climb, and the best of many starts is kept. Columns are coded as by
    `MultinomialLogit`. With `by` the class of person n depends on columns z of people, which have
    coefficients in addition to the constant of each class except the first,

    .. math:: \pi_{nk} = e^{z_n^T \gamma_k} \Big/ \sum_l e^{z_n^T \gamma_l}, \qquad \gamma_1 = 0.

    Parameters
    ----------
    classes : int, or several
        K; several numbers, such as range(1, 7), to choose from.
    linear : attribute or list of attributes
        Attributes whose number itself has a coefficient instead; predictions then take any number.
    knots, interactions, constants : optional
        As for `MultinomialLogit`.
    by : column or list of columns, optional
        Columns of `data.people`, such as ["age", "sex"], that predict the class of a person; labels
        are columns of 0 and 1.
    choose : {"bic", "held-out"}
        The criterion for K: BIC, with the number of people as n, or the log-likelihood of held-out
        people in five folds.
    starts : int, optional
        None: until three starts have found the best maximum, at least 4 for each class and at most
        40, or fewer if these would take more than ten minutes of CPU time.
    people : {None, "adjusted", "independent"}
        As for `MultinomialLogit`. The likelihood of a class multiplies all tasks of a person, so
        "independent" is correct if the classes are; "adjusted" does not assume it.

    Attributes
    ----------
    coef_ : pandas.DataFrame (K, p)
        NaN where the data do not distinguish a coefficient from the earlier ones.
    covariance_ : pandas.DataFrame
        Inverse of the observed information (negative Hessian) of the log odds of all classes except
        the first, with their columns class by class, and of the K p coefficients; with
        `people="adjusted"` over respondents.
    membership_ : pandas.DataFrame (respondents, K)
        Posterior probability of each respondent's class.
    choice_ : pandas.DataFrame
        One row per number of classes: log_likelihood, parameters, aic, bic, held_out, entropy_r2
        (1: membership is certain for all people), smallest (size of a class), starts and
        times_found, the number of starts that found the best maximum.
    log_likelihood_ : float
        The log-likelihood of all choices, natural logarithm.
    aic_, bic_ : float

    Raises
    ------
    DataError
        If the data are not a choice experiment, no attribute differs within a task, or classes
        outnumber respondents.
    ArgumentError
        If an argument is outside its range.

    Warns
    -----
    EstimateWarning
        If a coefficient has no bound, or only one start found the best maximum.
    DataWarning
        If some coefficients are not identified, or a declared level is never shown.

    References
    ----------
    Kamakura & Russell (1989), A probabilistic choice model for market segmentation and elasticity
    structure; Dayton & Macready (1988), Concomitant-variable latent-class models, of `by`; Louis
    (1982), Finding the observed information matrix when using the EM algorithm.

    Examples
    --------
    >>> import pandas as pd
    >>> import thali as th
    >>> cheap, dear = (
    ...     [1, 0] * 7 + [0, 1],
    ...     [0, 1] * 7 + [1, 0],
    ... )  # eight tasks each of six people, and of four
    >>> rows = {
    ...     "id": [n // 16 for n in range(160)],
    ...     "task": [n // 2 for n in range(160)],
    ...     "price": [90, 150] * 80,
    ...     "choice": cheap * 6 + dear * 4,
    ... }
    >>> data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows))
    >>> model = LatentClassLogit(2).fit(data, random_seed=1, progressbar=False)
    >>> model.respondents.classes().loc["size"].round(3).tolist()
    [0.6, 0.4]
    >>> model.coef_["price[150]"].round(2).tolist()
    [-1.95, 1.95]
    """

    _FINDINGS: ClassVar[str] = "thali._choice.latent_class.findings"

    _n_classes_: int
    _sizes_: "pd.Series"
    coef_: "pd.DataFrame"
    # missing in files of models without columns of people
    _membership_coef_: "pd.DataFrame | None" = None
    covariance_: "pd.DataFrame"
    membership_: "pd.DataFrame"
    choice_: "pd.DataFrame"
    log_likelihood_: float
    aic_: float
    bic_: float
    _converged_: bool
    _unbounded_: tuple[str, ...]
    _scheme_: "Scheme"
    _coding_: "Coding"
    _draws_: "ClassDraws"
    _data_: "ChoiceExperiment"
    _seed_: np.random.SeedSequence
    _degrees_: np.ndarray  # degrees of freedom of each standard error
    _people_: "Dependence | None"
    _covariates_: "RespondentCovariates | None" = None
    _expected_: np.ndarray | None = None  # (respondents, K) by their columns

    def __init__(
        self,
        classes: Any = 3,
        linear: Iterable[str] = (),
        knots: Mapping[str, Any] | None = None,
        interactions: Iterable[tuple[str, str]] = (),
        constants: bool | None = None,
        by: str | Sequence[str] | None = None,
        choose: str = "bic",
        starts: int | None = None,
        people: str | None = None,
    ) -> None:
        self.classes = classes
        self.linear = linear
        self.knots = knots
        self.interactions = interactions
        self.constants = constants
        self.by = by
        self.choose = choose
        self.starts = starts
        self.people = people

    def fit(
        self, data: "ChoiceExperiment", random_seed: RandomSeed = None, progressbar: bool = True
    ) -> "LatentClassLogit":
        """Fit to a choice experiment.

        Parameters
        ----------
        data : ChoiceExperiment
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one. It is the seed of the
            starts, of the parts of people that are left out, and of the draws that intervals come
            from.
        progressbar : bool
            Whether to show how far the run is.

        Returns
        -------
        LatentClassLogit
        """
        return self._run_job(self._check_fit(data, random_seed, progressbar))

    def _check_fit(
        self, data: Any, random_seed: RandomSeed = None, progressbar: bool = True
    ) -> Job:
        """Check data and arguments; return the job of the fit."""
        from ..logit_likelihood import find_independent_columns

        data = require_experiment(data, self.constants)
        check_people(self.people, has_individuals=False)
        choose = check_allowed("choose", self.choose, CRITERIA)
        class_numbers = check_numbers(self.classes, choose, data.n_respondents)
        starts = self.starts
        if starts is not None:
            starts = check_integer("starts", starts, 1)
        seed = build_seed_sequence(random_seed)
        coding = build_coding(data, self.linear, self.knots, self.interactions)
        refuse_many_levels(data, coding.linear)
        covariates = build_covariates(self.by, data.people, data.n_respondents)
        panel = build_panel(data, coding, covariates.matrix)
        is_kept = find_independent_columns(panel.tasks)
        panel, column_scales = scale_columns(panel, is_kept)
        starts_by_budget = limit_starts(panel, class_numbers, choose, starts)
        n_starts = sum(map(starts_by_budget.min_starts, class_numbers))
        if choose == HELD_OUT:
            n_starts *= 1 + N_FOLDS

        def fit_classes() -> dict[str, Any]:
            """Fit all numbers of classes; return the fitted attributes by name."""
            with _build_fit_progress(progressbar, n_starts) as progress:
                progress.update(0)
                start_counter = count(1)
                fits_by_number = fit_numbers(
                    panel,
                    class_numbers,
                    choose,
                    starts_by_budget,
                    seed,
                    lambda: progress.update(min(next(start_counter), n_starts)),
                )
            n_classes = choose_number(fits_by_number, choose)
            fitted_attributes = build_fitted_attributes(
                fits_by_number[n_classes],
                panel,
                data,
                coding,
                is_kept,
                column_scales,
                covariates,
                self.people,
                seed,
            )
            criteria_table = tabulate_numbers(fits_by_number)
            return {
                "_n_classes_": n_classes,
                "choice_": criteria_table,
                "_seed_": seed,
                **fitted_attributes,
            }

        forecast = forecast_fits(panel, class_numbers, choose, starts_by_budget)
        return Job(
            fit_classes,
            build_unseen_remarks(coding, data.levels),
            data=str(data),
            forecast=forecast,
        )

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings: identification, diverging estimates, superfluous classes, convergence."""
        from ..logit_likelihood import NOT_CONVERGED, list_unidentified_warnings

        yield from list_unidentified_warnings(self.coef_.columns[self.coef_.isna().any()])
        if self._has_equal_classes():
            yield EstimateWarning(
                f"The choices do not support {self._n_classes_} classes: some classes are identical"
                " or empty. Reduce ",
                Argument("classes"),
                ".",
            )
        else:
            n_per_class = 1
            if self._covariates_ is not None:
                n_per_class = self._covariates_.matrix.shape[1]
            n_membership_parameters = (self._n_classes_ - 1) * n_per_class
            membership_names = self.covariance_.index[:n_membership_parameters]
            infinite_tastes = [name for name in self._unbounded_ if name not in membership_names]
            if infinite_tastes:
                yield EstimateWarning(
                    "The likelihood has no finite maximum for"
                    f" {list_names(map(repr, infinite_tastes))} (separation): they predict"
                    " choices in the class almost perfectly, so their estimates diverge."
                    " Predictions remain usable; do not interpret these"
                    " estimates or their standard errors. Use fewer classes, or ",
                    ModelName("HierarchicalLogit"),
                    ", which has a prior.",
                )
            infinite_odds = [name for name in self._unbounded_ if name in membership_names]
            if infinite_odds:
                yield EstimateWarning(
                    f"The estimates of {list_names(map(repr, infinite_odds))} diverge: the"
                    " respondent"
                    " columns predict class membership almost perfectly. Classes and predictions"
                    " can be used, but these estimates and standard errors cannot; use fewer"
                    " classes, or remove a column from ",
                    Argument("by"),
                    ".",
                )
        choice_row = self.choice_.loc[self._n_classes_]
        if choice_row["times_found"] == 1 and choice_row["starts"] > 1:
            yield EstimateWarning(
                f"Only one of {int(choice_row['starts'])} starts reached the best maximum, so"
                " there may"
                " be a better maximum; use more starts, such as ",
                Setting("starts", 4 * int(choice_row["starts"])),
                ", or fewer classes.",
            )
        if not self._converged_:
            yield EstimateWarning(NOT_CONVERGED)

    def _has_equal_classes(self) -> bool:
        """Return whether two classes have the same tastes, or one is empty."""
        tastes = self.coef_.to_numpy()
        class_pairs = [(k, j) for k in range(len(tastes)) for j in range(k)]
        is_equal = any(
            np.allclose(tastes[k], tastes[j], rtol=1e-3, atol=1e-6, equal_nan=True)
            for k, j in class_pairs
        )
        return is_equal or bool((self._sizes_ < 1e-6).any())

    def _headline_facts(self) -> Facts:
        """Return (name, value) facts to show with a fit."""
        choice_row = self.choice_.loc[self._n_classes_]
        times_text = (
            f"reached from {int(choice_row['times_found'])} of"
            f" {format_plural(int(choice_row['starts']), 'start')}"
        )
        size_texts = ", ".join(format_percent(size) for size in self._sizes_)
        log_likelihood = (
            f"{self.log_likelihood_:,.2f} (all choices; {times_text}), BIC {self.bic_:,.2f}"
        )
        classes_fact = "classes", f"{self._n_classes_} ({size_texts} of respondents)"
        return (
            classes_fact,
            ("log-likelihood", log_likelihood),
            *build_measured_facts(self._coding_, self._scheme_),
        )

    def _get_run_settings(self) -> dict[str, Any]:
        """Return the random seed by which the fit can be repeated."""
        self._require_fitted()
        return format_seed_setting(self._seed_)

    def _get_fit_data(self) -> "ChoiceExperiment":
        """Return the choice experiment that the model was fitted to."""
        return self._data_

    def summary(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Return sizes and coefficients of all classes with their standard errors.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            coef, std_error, z (their ratio; none for a size), p_value (two-sided), low and high
            (ends of the interval), as of `MultinomialLogit`. Rows "class 1: size", "class 1:
            price[150]" and so on, the largest class first. With `by` the last rows are "log odds of
            class 2", for people with average columns, "log odds of class 2: age" and so on.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        self._require_fitted()
        log_odds = np.empty(0)
        if self._membership_coef_ is not None:
            log_odds = self._membership_coef_.to_numpy()[1:].ravel()
        return tabulate_summary(
            self._sizes_,
            self.coef_,
            self.covariance_,
            self._size_errors(),
            log_odds,
            get_df(self._people_),
            self._degrees_,
            ci,
        )

    def _size_errors(self) -> np.ndarray:
        """Return standard errors of the class sizes, shape (K,)."""
        class_probabilities = self._sizes_.to_numpy()[None]
        covariate_matrix = np.ones((1, 1))
        covariate_units = np.ones(1)
        if self._covariates_ is not None and self._expected_ is not None:
            class_probabilities = self._expected_
            covariate_matrix = self._covariates_.matrix
            covariate_units = np.append(covariate_units, self._covariates_.sd)
        covariate_units = np.tile(covariate_units, self._n_classes_ - 1)
        covariance = self.covariance_.to_numpy()[: len(covariate_units), : len(covariate_units)]
        return compute_size_errors(
            class_probabilities,
            covariate_matrix,
            covariance * np.outer(covariate_units, covariate_units),
        )

    @property
    def respondents(self) -> "ClassRespondents":
        """Results about the respondents and their classes.

        Returns
        -------
        ClassRespondents
            `.classes()`, the size and the coefficients of each class; `.effects()` of the columns
            `by` on the odds of classes; `.individuals()`, the utilities of each respondent;
            `.segments(k)`; `.reach(products, size, top)`, the product lines that reach most
            respondents.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .respondent_results import ClassRespondents

        self._require_fitted()
        return ClassRespondents(self)

    def predict_proba(self, new: "pd.DataFrame | ChoiceExperiment", ci: float | None = None) -> Any:
        r"""Return probabilities that each alternative of new tasks is chosen.

        .. math:: \sum_k r_{nk} p_{k}(x_j), \qquad r_{nk} = \pi_k \text{ for a new person}

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number. A
            respondent of the fit has individual class probabilities; for a new person they are
            predicted from columns, if the model has `by` and the new tasks have these columns, else
            they are the class sizes.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over the sampling distribution of
            the classes' tastes at fixed class probabilities; None: none.

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
            As `ChoiceExperiment.encode`, if the tasks of the fit never show a level, or if a column
            of new people has no number where the respondents have numbers.
        ArgumentError
            If `ci` is not a probability.
        """
        from ..logit_likelihood import choice_probabilities
        from ..reports.choice_draws import append_interval

        self._require_fitted()
        matrix, encoded_tasks = encode_new_tasks(
            self._coding_, self._scheme_, new, self._data_.respondents
        )
        membership_of_row = np.vstack([self.membership_.to_numpy(), self._sizes_.to_numpy()])[
            encoded_tasks.respondent_of_row
        ]
        is_new = encoded_tasks.respondent_of_row < 0
        if is_new.any() and (membership_columns := self._read_membership_columns(new)) is not None:
            covariate_coding = build_covariates(
                self.by, self._data_.people, self._data_.n_respondents
            )
            covariates = covariate_coding.standardise_rows(membership_columns.loc[is_new])
            is_complete = ~np.isnan(covariates).any(axis=1)
            predicted_classes = ClassesByColumns(self._class_log_odds(), covariates[is_complete])
            membership_of_row[np.flatnonzero(is_new)[is_complete]] = predicted_classes.probabilities

        def compute_probabilities(tastes: np.ndarray) -> np.ndarray:
            """Return choice probabilities of all rows at these tastes."""
            p = choice_probabilities(matrix @ tastes.T, encoded_tasks.task_of_row)
            return (p * membership_of_row).sum(axis=1)

        return append_interval(
            compute_probabilities(np.nan_to_num(self.coef_.to_numpy())),
            lambda: np.stack([compute_probabilities(tastes) for tastes in self._draws_.tastes]),
            ci,
        )

    def _class_log_odds(self) -> np.ndarray:
        """Return log odds of classes by respondents' standardised columns."""
        assert self._membership_coef_ is not None and self._covariates_ is not None
        return self._membership_coef_.to_numpy() * np.append(1.0, self._covariates_.sd)

    def _read_membership_columns(
        self, new_tasks: "pd.DataFrame | ChoiceExperiment"
    ) -> "pd.DataFrame | None":
        """Return the columns `by` for rows of new tasks; None if absent."""
        if self._covariates_ is None:
            return None
        column_names = list(list_column_names(self.by))
        if isinstance(new_tasks, ChoiceExperiment):
            if new_tasks.people is None or not set(column_names) <= set(
                map(str, new_tasks.people.columns)
            ):
                return None
            person_of_row = np.repeat(new_tasks.respondent_of_task, np.diff(new_tasks.first_row))
            return new_tasks.people.loc[:, column_names].iloc[person_of_row].reset_index(drop=True)
        table = new_tasks.set_axis([str(name) for name in new_tasks.columns], axis=1)
        if not set(column_names) <= set(table.columns):
            return None
        return table.loc[:, column_names].reset_index(drop=True)

    def _simulate_choices(
        self, max_draws: int, rng: np.random.Generator
    ) -> "tuple[ChoiceExperiment, np.ndarray]":
        """Return the data, and choices simulated at up to `max_draws` draws."""
        from ..logit_likelihood import draw_logit_choices, encode_choices

        self._require_fitted()
        draw_indices = space_evenly(len(self._draws_.sizes), max_draws)
        tastes = self._individual_draws()[draw_indices]
        replicates = draw_logit_choices(
            tastes[None], encode_choices(self._data_, self._coding_), self._data_.first_task, rng
        )
        return self._data_, replicates["chosen"][0]

    def _build_chooser(self) -> "LogitChooser":
        """Build the `Chooser` from class tastes and respondents' memberships."""
        self._require_fitted()
        draws = self._draws_
        n_odds = len(self.covariance_) - self.coef_.size
        tastes = np.concatenate([np.nan_to_num(self.coef_.to_numpy())[None], draws.tastes])
        size_draws = np.vstack([self._sizes_, draws.sizes])
        return LogitChooser(
            self._coding_,
            self._data_,
            tastes,
            np.zeros(N_DRAWS + 1, np.int64),
            self.membership_.to_numpy(),
            lambda draws, rng: (tastes[draws], size_draws[draws]),
            covariance=np.nan_to_num(self.covariance_.to_numpy()[n_odds:, n_odds:]),
            respondent_classes=np.concatenate([draws.of_people[:1], draws.of_people]),
            df=get_df(self._people_),
        )

    def _preferences(self) -> "Preferences":
        """Return each respondent's preferences between levels in every draw."""
        self._require_fitted()
        return estimate_taste_preferences(self._individual_draws(), self._coding_, self._data_)

    def _individual_draws(self) -> np.ndarray:
        """Return tastes of all respondents by draw, (draws, respondents, p)."""
        draws = self._draws_
        return draws.tastes[np.arange(len(draws.sizes))[:, None], draws.of_people]


def _build_fit_progress(progressbar: bool, n_starts: int) -> "Progress":
    """Return the progress display of a fit, which warns of a long duration."""
    from thali._inference.progress_display import Progress, build_duration_warning

    warn_of_duration = build_duration_warning(
        "This fit",
        "fewer numbers of ",
        Argument("classes"),
        ", or fewer ",
        Argument("starts"),
    )
    return Progress(progressbar, "fitting", n_starts, "starts", warn_of_duration)


# Tables of a fitted latent-class logit ------------------------------------------------------------


def compute_size_errors(
    class_probabilities: np.ndarray, covariate_matrix: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    r"""Return standard errors of class sizes by the delta method.

    .. math:: \partial \pi_{nk} / \partial \gamma_j = \pi_{nk} (1[k = j] - \pi_{nj}) z_n
    """
    n_classes = class_probabilities.shape[1]
    # (people, K, K - 1)
    derivatives = (
        class_probabilities[:, :, None]
        * (np.eye(n_classes) - class_probabilities[:, None])[:, :, 1:]
    )
    slopes = np.einsum("nkj,nq->kjq", derivatives, covariate_matrix).reshape(n_classes, -1) / len(
        class_probabilities
    )
    return np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", slopes, covariance, slopes), 0.0))


def tabulate_summary(
    sizes: "pd.Series",
    coef: "pd.DataFrame",
    covariance: "pd.DataFrame",
    size_errors: np.ndarray,
    odds: np.ndarray,
    size_df: float,
    degrees: np.ndarray,
    ci: float,
) -> "pd.DataFrame":
    """Return a table of sizes, coefficients and log odds with standard errors."""
    from ..logit_likelihood import tabulate_coefficients

    column_names = ["size", *coef.columns]
    row_names = [f"class {label}: {name}" for label in sizes.index for name in column_names]
    with np.errstate(invalid="ignore"):
        all_errors = np.sqrt(np.diag(covariance.to_numpy()))
    coef_errors = all_errors[-coef.size :].reshape(coef.shape)
    estimates = np.append(np.column_stack([sizes, coef]), odds)
    std_errors = np.append(np.column_stack([size_errors, coef_errors]), all_errors[: len(odds)])
    coef_degrees = degrees[-coef.size :].reshape(coef.shape)
    degrees = np.append(
        np.column_stack([np.full(len(sizes), size_df), coef_degrees]), degrees[: len(odds)]
    )
    table = tabulate_coefficients(
        estimates, std_errors, degrees, [*row_names, *covariance.index[: len(odds)]], ci
    )
    size_rows = table.index[: len(row_names) : len(column_names)]
    table.loc[size_rows, ["z", "p_value"]] = np.nan
    table.loc[size_rows, ["low", "high"]] = table.loc[size_rows, ["low", "high"]].clip(0.0, 1.0)
    return table


def tabulate_numbers(fits_by_number: "dict[int, ClassFit]") -> "pd.DataFrame":
    """Return a table of information criteria, one row per number of classes."""
    import pandas as pd

    criteria_rows = [
        {
            "log_likelihood": fit.log_likelihood,
            "parameters": fit.n_parameters,
            "aic": fit.aic,
            "bic": fit.bic,
            "held_out": fit.held_out,
            "entropy_r2": fit.entropy_r2,
            "smallest": float(fit.best.summit.parameters.sizes.min()),
            "starts": fit.best.starts,
            "times_found": fit.best.times_found,
        }
        for fit in fits_by_number.values()
    ]
    return pd.DataFrame(criteria_rows, pd.Index(list(fits_by_number), name="classes"))
