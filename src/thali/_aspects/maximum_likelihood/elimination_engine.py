"""The `maximum-likelihood` method of elimination by aspects: fits, predictions and tables."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import PAIRS
from thali._inference.markov_chains import Run
from thali._inference.numerics.weight_shares import stack_outcomes
from thali._labels import format_plural
from thali._model.base import Job, Model
from thali._model.fitting_methods import Engine, PreparedFit, check_method_arguments
from thali._model.tie_and_covariate_arguments import (
    CONVERSIONS,
    has_ties,
    select_covariates,
    treat_ties,
)
from thali._object_descriptions import Facts
from thali._people.people_argument import check_people_of_features, refuse_groups
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import Argument, ArgumentError, InPython, Setting, ThaliWarning

from ..spec import ELIMINATION

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._data.pairs.data_subsets import HeldOutPair

    from ..models.elimination import EliminationByAspects
    from .estimates import Estimates

NAME = "maximum-likelihood"


class AspectLikelihoodEngine(Engine):
    """Fits weights of given aspects by maximum likelihood, from several starts."""

    findings = "thali._aspects.findings.maximum_likelihood"

    def build_job(
        self, model: "EliminationByAspects", data: "PairedComparisons | Choices", run: Run
    ) -> Job:
        """Check data and arguments of a fit; return its job."""
        from thali._model.data_argument_check import check_data

        from .fit import estimate

        _check_arguments(model, run._asdict(), data)
        seed = run.random_seed
        if seed is None:
            seed = 0
        data = _treat_ties(model, check_data(data, PAIRS))
        lapse = _choose_lapse(model)
        return Job(
            lambda: {
                "_estimates_": estimate(
                    data,
                    model.aspects,
                    model.unique,
                    lapse,
                    has_ties(data),
                    random_seed=seed,
                    people=model.people,
                )
            },
            data=str(data),
        )

    def prepare(
        self, model: "EliminationByAspects", data: "PairedComparisons | Choices"
    ) -> PreparedFit:
        """Check data and arguments of a fit without running it; return a PreparedFit."""
        from ..likelihoods.elimination import convert_to_pairs
        from .fit import check_aspects

        _check_arguments(model, {}, data)
        comparisons: Any = convert_to_pairs(_treat_ties(model, data))
        check_aspects(
            comparisons, model.aspects, model.unique, _choose_lapse(model), has_ties(comparisons)
        )
        return PreparedFit(_choose_lapse(model))

    def list_warnings(self, model: "EliminationByAspects", job: Job) -> Iterator[ThaliWarning]:
        """Return warnings of a fit whose likelihood grows without bound."""
        from .fit import warn_unbounded

        yield from warn_unbounded(get_aspect_estimates(model))

    def list_facts(self, model: "EliminationByAspects") -> Facts:
        """Return (name, text) facts about the fit for reports, such as its log-likelihood."""
        estimates = get_aspect_estimates(model)
        error_facts = ()
        tie_facts = ()
        if estimates.tie is not None:
            tie_text = f"nu {estimates.tie:.4g} (standard error {estimates.tie_std_error:.2g})"
            tie_facts = (("ties", tie_text),)
        if estimates.clusters is not None and estimates.is_over_people:
            error_facts = (
                (
                    "standard errors",
                    f"clustered by respondent ({estimates.clusters.n_respondents:,})",
                ),
            )
        return (
            *error_facts,
            (
                "log-likelihood",
                f"{estimates.log_likelihood:,.2f} (all comparisons, including"
                f" {estimates.coefficients})",
            ),
            *tie_facts,
            (
                "deviance",
                f"G² {estimates.deviance:,.2f} on {format_plural(estimates.df, 'degree')} of"
                " freedom",
            ),
        )

    def summary(self, model: "EliminationByAspects", ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a table of aspect weights with standard errors and tests."""
        estimates = get_aspect_estimates(model)
        weights_table = estimates.table(ci)
        for name in (
            "lapse",
            "log_likelihood",
            "deviance",
            "df",
            "p_value",
            "pearson",
            "aic",
            "bic",
        ):
            weights_table.attrs[name] = getattr(estimates, name)
        if estimates.tie is not None:
            weights_table.attrs |= {"tie": estimates.tie, "tie_std_error": estimates.tie_std_error}
        return weights_table

    def get_results(self, model: "EliminationByAspects") -> "EstimateResults":
        """Return the results of the estimates."""
        return EstimateResults(model, get_aspect_estimates(model))


MAXIMUM_LIKELIHOOD = AspectLikelihoodEngine()


def get_aspect_estimates(model: "EliminationByAspects") -> "Estimates":
    """Return the estimates of a fit by this method; raise before `fit`."""
    model._require_fitted()
    return model._estimates_


def require_choice_estimates(model: "EliminationByAspects", result_name: str) -> "Estimates":
    """Return the estimates of a model of choices; raise if it has ties."""
    estimates = require_estimates(model, result_name)
    if not estimates.is_of_choices:
        raise ArgumentError(
            InPython(result_name, "This result"),
            " requires choices between two options; the model was fitted to comparisons with ties.",
        )
    return estimates


def require_estimates(model: "EliminationByAspects", result_name: str) -> "Estimates":
    """Return the estimates of a maximum-likelihood fit; raise for other models."""
    if not (isinstance(model, Model) and model._engine is MAXIMUM_LIKELIHOOD):
        raise ArgumentError(
            f"{result_name} requires EliminationByAspects fitted by maximum likelihood; got"
            f" {model!r}."
        )
    return get_aspect_estimates(model)


def _check_arguments(
    model: "EliminationByAspects",
    fit_arguments: Mapping[str, Any],
    data: "PairedComparisons | Choices",
) -> None:
    """Raise ArgumentError for arguments of `fit` that only chains use."""
    check_people_of_features(model.people)
    refuse_groups(data)
    arguments = dict(inspect.signature(type(model).fit).parameters) | model._get_parameters()
    defaults = {name: argument.default for name, argument in arguments.items()}
    given_values = model.get_params() | dict(fit_arguments)
    check_method_arguments(ELIMINATION, NAME, given_values, defaults)
    if fit_arguments.get("job") is not None:
        required_setting = Setting("method", "mcmc")
        requested_setting = Setting("method", NAME)
        raise ArgumentError(
            Argument("job"),
            " requires ",
            required_setting,
            "; got ",
            requested_setting,
            ". Remove ",
            Argument("job"),
            ".",
        )


def _treat_ties(model: "EliminationByAspects", data: "PairedComparisons | Choices") -> Any:
    """Return the data with ties converted or kept by `model.ties`, and selected covariates."""
    return select_covariates(
        treat_ties(data, model.ties, ("davidson", *CONVERSIONS)), model.covariates
    )


def _choose_lapse(model: "EliminationByAspects") -> float:
    """Return the argument `lapse`; 0 if it is None."""
    if model.lapse is None:
        return 0.0
    return model.lapse


@dataclass
class EstimateResults:
    """Predictions at the estimates, and effects of covariates."""

    model: "EliminationByAspects"
    estimates: "Estimates"
    labels = ()  # a comparison fits the weights of all options of its data

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the comparison covariates that the fit used."""
        return self.estimates.data.covariate_names

    def covariate_effects(self, ci: float) -> "pandas.DataFrame":
        """Return a table of covariates' effects on the log odds of the first option, per unit."""
        from .fit import covariate_table

        return covariate_table(self.estimates, ci)

    def predict_proba(
        self,
        sets: Any,
        return_se: bool = False,
        covariates: Any = None,
    ) -> "np.ndarray | list[np.ndarray]":
        """Return choice probabilities at the estimates, including lapses."""
        from thali._model.labelled_option_sets import is_best_worst, set_indices

        estimates = self.estimates
        if return_se or is_best_worst(sets):
            self.model._require_posterior()
        options_by_set, are_pairs = set_indices(sets, list(estimates.data.labels))
        if are_pairs:
            first_options, second_options = np.array(options_by_set).T
            return estimates.probabilities(
                first_options,
                second_options,
                self._build_predictors(covariates, len(options_by_set)),
            )
        if covariates is not None:
            raise ArgumentError(
                "Covariates require comparisons of two options; give pairs of labels, [(a, b),"
                " ...]."
            )
        return [estimates.set_probabilities(members) for members in options_by_set]

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return the joint log probability of each respondent's choices, at the estimates."""
        from thali._model.respondent_log_predictive import (
            count_answers_by_respondent,
            sum_log_choices,
            tabulate_by_respondent,
        )

        answer_indices, choice_counts = count_answers_by_respondent(choices)
        choice_probabilities = np.concatenate(self.predict_proba(choices))[answer_indices]
        return tabulate_by_respondent(
            choices, sum_log_choices(choice_probabilities[None], choice_counts)[0]
        )

    def predict_outcomes(self, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
        """Return probabilities of win, tie and loss for each pair, at the estimates."""
        from thali._inference.numerics.davidson_ties import compute_win_tie_loss
        from thali._model.labelled_option_sets import pair_indices, tabulate_outcomes

        estimates = self.estimates
        labels = list(estimates.data.labels)
        first_options, second_options = pair_indices(
            pairs, labels, estimates.tie is not None or self.model.ties == "davidson"
        )
        first_probabilities = estimates.probabilities(
            first_options,
            second_options,
            self._build_predictors(covariates, len(first_options)),
        )
        return tabulate_outcomes(
            labels,
            first_options,
            second_options,
            compute_win_tie_loss(
                first_probabilities, 1.0 - first_probabilities, estimates.tie or 0.0
            ),
        )

    def predict_held_out(self, part: "HeldOutPair") -> np.ndarray:
        """Return outcome probabilities of a held-out pair, shape (n_cells, n_outcomes)."""
        pairs = [part.pair] * len(part.counts)
        covariates = part.select_covariates(self.covariates) or None
        if part.counts.shape[1] == 3:
            return self.predict_outcomes(pairs, covariates)[["p_a", "p_tie", "p_b"]].to_numpy()
        first_probabilities = np.asarray(self.predict_proba(pairs, False, covariates))
        return stack_outcomes(first_probabilities)

    def _build_predictors(self, covariates: Any, n_comparisons: int) -> np.ndarray:
        """Return covariates of predicted comparisons, shape (n_comparisons, n_covariates)."""
        from thali._model.covariate_effects import predictor_matrix

        return predictor_matrix(covariates, self.covariates, n_comparisons)
