"""The engine of elimination by aspects with known aspects by maximum likelihood: its fit, and what
it answers."""

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import PAIRS
from thali._described import Facts
from thali._labels import format_plural
from thali._model.base import Job, Model
from thali._model.engine import Engine, PreparedFit, check_method_arguments
from thali._model.tie_treatment import CONVERSIONS, has_ties, select_covariates, treat_ties
from thali._people.populations import INDEPENDENT, check_people
from thali._posterior.interval import INTERVAL
from thali.errors import Argument, ArgumentError, InPython, Setting, ThaliWarning

from ..spec import ELIMINATION

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.parts import HeldOutPair

    from .estimates import Estimates

NAME = "maximum-likelihood"


class MaximumLikelihood(Engine):
    """Newton's method in log-weights, from several starts; `_estimates_`."""

    findings = "thali._aspects.findings.maximum_likelihood"

    def job(self, model: Any, data: Any, asked: Mapping[str, Any]) -> Job:
        """The fit, checked; `asked` are the arguments of `fit`."""
        from thali._model.data_argument import check_data

        from .fit import estimate

        _refuse_others(model, asked, data)
        seed = 0 if asked["random_seed"] is None else asked["random_seed"]
        data = _counted(model, check_data(data, PAIRS))
        settings = model.aspects, model.unique, _lapse(model), has_ties(data)
        return Job(
            lambda: {"_estimates_": estimate(data, *settings, random_seed=seed)}, data=str(data)
        )

    def prepare(self, model: Any, data: Any, asked: Mapping[str, Any]) -> PreparedFit:
        """What `fit` would run, after the checks of the aspects that it makes."""
        from ..likelihoods.elimination import convert_to_pairs
        from .fit import checked_aspects

        _refuse_others(model, {}, data)
        choices: Any = convert_to_pairs(_counted(model, data))
        checked_aspects(choices, model.aspects, model.unique, _lapse(model), has_ties(choices))
        return PreparedFit(_lapse(model))

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        from .fit import vanishing

        yield from vanishing(model._estimates_)

    def facts(self, model: Any) -> Facts:
        found = _estimates(model)
        over = ()
        if found.clusters is not None and found.is_over_people:
            over = (
                ("standard errors", f"clustered by respondent ({found.clusters.n_respondents:,})"),
            )
        return (
            *over,
            (
                "log-likelihood",
                f"{found.log_likelihood:,.2f} (all comparisons, including {found.coefficients})",
            ),
            *(
                ()
                if found.tie is None
                else (("ties", f"nu {found.tie:.4g} (standard error {found.tie_std_error:.2g})"),)
            ),
            (
                "deviance",
                f"G² {found.deviance:,.2f} on {format_plural(found.df, 'degree')} of freedom",
            ),
        )

    def data_of_fit(self, model: Any) -> Any:
        return model._estimates_.data

    def options_of_fit(self, model: Any) -> list[str]:
        """None are known: a comparison fits the weights of whatever options its data have."""
        return []

    def summary(self, model: Any, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The weights and their tests."""
        found = _estimates(model)
        table = found.table(ci)
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
            table.attrs[name] = getattr(found, name)
        if found.tie is not None:
            table.attrs |= {"tie": found.tie, "tie_std_error": found.tie_std_error}
        return table

    def covariates(self, model: Any) -> tuple[str, ...]:
        """The covariates that the fit used."""
        from .fit import own_names

        return own_names(_estimates(model).data)

    def covariate_effects(self, model: Any, ci: float) -> "pandas.DataFrame":
        """By how much a unit of each covariate changes the log odds."""
        from .fit import covariate_table

        return covariate_table(_estimates(model), ci)

    def predict_proba(
        self, model: Any, sets: Any, return_se: bool = False, covariates: Any = None
    ) -> "np.ndarray | list[np.ndarray]":
        """Choice probabilities at the estimates, lapse included."""
        from thali._model.option_sets import is_best_worst, set_indices

        found = _estimates(model)
        if return_se or is_best_worst(sets):
            model._require_posterior()
        places, paired = set_indices(sets, list(found.data.labels))
        if paired:
            first, second = np.array(places).T
            return found.probabilities(first, second, _values(found, covariates, len(places)))
        if covariates is not None:
            raise ArgumentError(
                "Covariates require comparisons of two options; give pairs of labels, [(a, b),"
                " ...]."
            )
        return [found.set_probabilities(each) for each in places]

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        """How probable all choices of a person together are, at the estimates."""
        from thali._model.log_predictive import (
            count_answers_by_respondent,
            sum_log_choices,
            tabulate_by_respondent,
        )

        which, times = count_answers_by_respondent(choices)
        p = np.concatenate(self.predict_proba(model, choices))[which]
        return tabulate_by_respondent(choices, sum_log_choices(p[None], times)[0])

    def predict_outcomes(
        self, model: Any, pairs: Any, covariates: Any = None
    ) -> "pandas.DataFrame":
        """Probabilities of the three outcomes of comparisons that may end in a tie, at the
        estimates."""
        from thali._inference.numerics.counts import compute_outcomes
        from thali._model.option_sets import pair_indices, tabulate_outcomes

        found = _estimates(model)
        labels = list(found.data.labels)
        first, second = pair_indices(
            pairs, labels, found.tie is not None or model.ties == "davidson"
        )
        p = found.probabilities(first, second, _values(found, covariates, len(first)))
        return tabulate_outcomes(
            labels, first, second, compute_outcomes(p, 1.0 - p, found.tie or 0.0)
        )

    def predict_left_out(self, model: Any, part: "HeldOutPair") -> np.ndarray:
        """The probability of each outcome of every comparison of a pair, at the estimates (cells,
        outcomes)."""
        pairs, given = [part.pair] * len(part.counts), part.known(self.covariates(model)) or None
        if part.counts.shape[1] == 3:
            return self.predict_outcomes(model, pairs, given)[["p_a", "p_tie", "p_b"]].to_numpy()
        p = np.asarray(self.predict_proba(model, pairs, False, given))
        return np.stack([p, 1.0 - p], axis=-1)


MAXIMUM_LIKELIHOOD = MaximumLikelihood()


def _estimates(model: Any) -> "Estimates":
    """The estimates of a fit by this method."""
    model._require_fitted()
    return model._estimates_


def estimates_of_choices(model: Any, what: str) -> "Estimates":
    """The same of a model of one of two options chosen, without ties."""
    found = estimates_of(model, what)
    if not found.is_of_choices:
        raise ArgumentError(
            InPython(what, "This result"),
            " requires choices between two options; the model was fitted to comparisons with ties.",
        )
    return found


def estimates_of(model: Any, what: str) -> "Estimates":
    """The estimates of a model fitted by maximum likelihood; an ArgumentError names what needs them
    otherwise."""
    if not is_by_maximum_likelihood(model):
        raise ArgumentError(
            f"{what} requires EliminationByAspects fitted by maximum likelihood; got {model!r}."
        )
    return _estimates(model)


def is_by_maximum_likelihood(model: Any) -> bool:
    """Whether the method of a model is maximum likelihood."""
    return isinstance(model, Model) and model._engine is MAXIMUM_LIKELIHOOD


def _refuse_others(model: Any, asked: Mapping[str, Any], data: Any) -> None:
    """Refuse what belongs to chains."""
    check_people(model.people, data=data)
    arguments = dict(inspect.signature(type(model).fit).parameters) | model._get_parameters()
    usual = {name: argument.default for name, argument in arguments.items()}
    given = model.get_params() | dict(asked)
    if model.people == INDEPENDENT:  # as maximum likelihood takes answers to be
        given["people"] = usual["people"]
    check_method_arguments(ELIMINATION, NAME, given, usual)
    if asked.get("job") is not None:
        needed, got = Setting("method", "mcmc"), Setting("method", NAME)
        raise ArgumentError(
            Argument("job"), " requires ", needed, "; got ", got, ". Remove ", Argument("job"), "."
        )


def _counted(model: Any, data: Any) -> Any:
    """The data as the arguments `ties` and `covariates` take them."""
    return select_covariates(
        treat_ties(data, model.ties, ("davidson", *CONVERSIONS)), model.covariates
    )


def _lapse(model: Any) -> float:
    """The lapse that `fit` uses."""
    return 0.0 if model.lapse is None else model.lapse


def _values(found: "Estimates", covariates: Any, count: int) -> np.ndarray:
    """The covariates of so many predicted comparisons."""
    from thali._model.covariates import predictor_matrix

    from .fit import own_names

    return predictor_matrix(covariates, own_names(found.data), count)
