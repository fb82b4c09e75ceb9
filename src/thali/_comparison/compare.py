"""`thali.compare`: checks of models and arguments, then comparison by prediction or evidence."""

import copy
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from thali._argument_checks import check_allowed, check_integer
from thali._aspects.models.elimination import EliminationByAspects
from thali._aspects.models.latent_feature_model import LatentFeatureModel
from thali._data.kinds import OWN, PAIRS, find_data_spec
from thali._labels import list_names, shorten
from thali._model.evidence_arguments import USUAL, build_evidence_run
from thali._model.registry import find_spec
from thali._model.tie_and_covariate_arguments import CONVERSIONS, has_ties
from thali._people.people_argument import Individuals
from thali._worths.model import BradleyTerryLuce
from thali.errors import Argument, ArgumentError, InPython, Setting, ThaliError, prefix_errors

from .by_evidence import EVIDENCE, compare_by_evidence
from .held_out_fits import run_comparison
from .holdout_schemes import (
    convert_data,
    find_compared_kind,
    find_scheme,
    is_custom_data,
)
from .scorer import Scorer

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._data.experiments import ChoiceExperiment
    from thali._data.pairs import PairedComparisons
    from thali._data.similarities import Similarities
    from thali._inference.random_seeds import RandomSeed


# The models of a comparison, and checks that they can be compared on the data ---------------------


def check_models(models: Any, data_kind: str, scorer: Scorer) -> dict[str, Any]:
    """Return the models by name; raise ArgumentError for models of other data."""
    example = find_data_spec(data_kind).example
    models_by_name = _name_models(models, example, (*scorer.before, *scorer.after))
    for model_name, model in models_by_name.items():
        spec = find_spec(model)
        if spec is not None and data_kind not in spec.data:
            raise ArgumentError(
                f"{model_name!r} ({type(model).__name__}) requires {' or '.join(spec.data)}; these"
                f" data are {data_kind}. Remove the model."
            )
        if spec is None and (isinstance(model, type) or not scorer.accepts_model(model)):
            alternative_text = ""
            if scorer.required_methods:
                alternative_text = f", or have {list_names(scorer.required_methods)}"
            raise ArgumentError(
                f"{model_name!r} must be a thali model for {data_kind}, such as"
                f" {example}{alternative_text}; got {model!r}."
            )
    return models_by_name


def _name_models(models: Any, example: str, reserved_names: tuple[str, ...]) -> dict[str, Any]:
    """Return the models by name; raise ArgumentError for invalid or repeated names."""
    try:
        if isinstance(models, Mapping):
            models = models.items()
        named_models = [(name, model) for name, model in models]
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("models"),
            " must map names to models, or be a list of (name, model); got"
            f" {type(models).__name__}.",
        ) from None
    if not named_models:
        raise ArgumentError(
            f"`models` is empty; give at least one model, such as {{'mine': {example}}}."
        )
    models_by_name: dict[str, Any] = {}
    for name, model in named_models:
        if not isinstance(name, str) or not name.strip():
            raise ArgumentError(f"The name of a model must be a non-empty string; got {name!r}.")
        if name in reserved_names:
            raise ArgumentError(
                f"{name!r} is the name of a reference row of the table; rename the model."
            )
        if name in models_by_name:
            raise ArgumentError(f"Two models are named {name!r}; rename one.")
        models_by_name[name] = model
    return models_by_name


def add_ties(models: dict[str, Any], data: Any) -> dict[str, Any]:
    """Return copies of models that predict ties, if the data have any.

    The models predict ties even if the training data of a part have none.
    """
    if not has_ties(data):
        return models
    models_with_ties = {}
    for name, model in models.items():
        if isinstance(model, EliminationByAspects | BradleyTerryLuce):
            if model.ties in CONVERSIONS:
                raise ArgumentError(
                    f"Model {name!r} has ",
                    Setting("ties", model.ties),
                    " and does not predict ties, which the data contain; ",
                    InPython(
                        f"remove the model, or compare on data.without_ties({model.ties!r}).",
                        f"set --ties {model.ties} for all models.",
                    ),
                )
            if model.ties is None:
                model = copy.copy(model).set_params(ties="davidson")
        elif not isinstance(model, LatentFeatureModel):
            raise ArgumentError(
                f"Model {name!r} does not predict ties, which the data contain; remove the model,"
                " or compare on ",
                InPython(
                    "data.without_ties('half') or data.without_ties('drop').",
                    "--ties half or --ties drop.",
                ),
            )
        models_with_ties[name] = model
    return models_with_ties


def refuse_people(models: dict[str, Any], data_kind: str) -> None:
    """Raise ArgumentError for models of individuals, if pairs are held out."""
    for name, model in models.items():
        if data_kind == PAIRS and isinstance(getattr(model, "people", None), Individuals):
            raise ArgumentError(
                f"Model {name!r} distinguishes respondents, so the models must be"
                " compared by predictions for left-out respondents; set ",
                Setting("leave_out", "respondent"),
                ".",
            )


def prepare_models(models: dict[str, Any], data: Any, settings: dict[Any, Any]) -> dict[str, Any]:
    """Call `prepare` of each model, so that errors come before the first fit."""
    prepared_models = {}
    for model_name, model in models.items():
        if find_spec(model) is None:
            continue
        fitted_options = model._is_fitted() and model._get_fitted_labels()
        if fitted_options and fitted_options != list(data.labels):
            raise ArgumentError(
                f"Model {model_name!r} was fitted to the options {shorten(fitted_options)}, but the"
                f" data have {shorten(data.labels)}; compare models on the same options."
            )
        with prefix_errors(f"Model {model_name!r} cannot be fitted to these data", kind=ThaliError):
            prepared_models[model_name] = model.prepare(data, **settings)
    return prepared_models


def _check_evidence_models(data: Any, models: Any) -> tuple[Any, dict[str, Any]]:
    """Return converted data and models by name, for `by="evidence"`."""
    if is_custom_data(data):
        example = find_data_spec(OWN).example
        models_by_name = _name_models(models, example, ())
        for name, model in models_by_name.items():
            if not isinstance(model, LatentFeatureModel):
                raise ArgumentError(
                    f"Your own data require a model such as {example}; {name!r} is {model!r}."
                )
        return data, models_by_name
    data = convert_data(data, None)
    data_kind = find_compared_kind(data)
    return data, add_ties(check_models(models, data_kind, find_scheme(data_kind).scorer), data)


def _refuse_other_arguments(
    by: str, prediction_arguments: dict[str, Any], evidence_arguments: dict[str, Any]
) -> None:
    """Raise ArgumentError for an argument of the other kind of comparison."""
    refused_arguments = evidence_arguments
    reason: tuple[object, ...] = (" requires a comparison with ", Setting("by", EVIDENCE))
    if by == EVIDENCE:
        refused_arguments = prediction_arguments
        reason = (" applies only to model comparison by prediction",)
    for name, argument in refused_arguments.items():
        if argument is not None:
            raise ArgumentError(Argument(name), *reason, "; remove ", Argument(name), ".")


PREDICTION = "prediction"
_MIN = {"draws": 1, "tune": 0, "chains": 1, "thin": 1}


def compare(
    models: Mapping[str, Any] | Iterable[tuple[str, Any]],
    data: "PairedComparisons | Choices | ChoiceExperiment | Similarities | tuple[Any, Any]",
    leave_out: str | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    thin: int | None = None,
    cores: int | None = None,
    random_seed: "RandomSeed" = None,
    progressbar: bool = True,
    job: str | os.PathLike[str] | None = None,
    hold_out: int | None = None,
    folds: int | None = None,
    by: str = PREDICTION,
    prior_odds: Mapping[str, float] | None = None,
    sensitivity: bool = False,
) -> "pandas.DataFrame":
    r"""Compare models by their predictions of held-out data, or by their evidence.

    Every model is fitted once without each part of the data, and predicts this part. For paired
    comparisons a part is a pair:

    .. math::
        \text{nll} = -\frac{1}{P} \sum_{i<j} \ln \text{Binomial}(x_{ij} \mid n_{ij}, \bar
        p_{ij}^{(-ij)}), \qquad
        \text{information} = \frac{P (\text{nll}_\text{BASE} - \text{nll})}{\ln 2 \sum_{i<j} n_{ij}}

    For choices a part contains choices, tasks or respondents; for covariates and classes, a fold of
    rows; for similarities, one or more pairs of objects:

    .. math::
        \text{log score} = \frac1T \sum_{t} \ln \bar p_{t}(x_{t}), \qquad
        \text{log loss} = -\frac1n \sum_i \ln \bar p_i(y_i), \qquad
        \text{log score} = \frac1P \sum_{i<j} \ln \frac1S \sum_s
            \text{Normal}\Bigl(s_{ij} \mid \mu_{ij}^{(s)}, \frac{(\sigma^{(s)})^2}{n_{ij}}\Bigr)

    The fits, and the evidence of each model, are independent tasks of joblib: inside
    ``joblib.parallel_config("dask")`` and similar contexts they run on a cluster. The same seed
    gives the same table on every backend.

    Parameters
    ----------
    models : mapping from name to model, or list of (name, model)
        Models of thali for these data, with any method; or, except for similarities, objects with
        ``fit(data, random_seed=)`` (for classifiers ``fit(X, y)``) and ``predict_proba``. The
        models are not changed. The names of the reference rows, "BASE" and "EMP", are reserved.
    data : PairedComparisons, Choices, ChoiceExperiment, Similarities, Triplets or (X, y)
        X is an array or data frame with one row per observation, y contains their classes. With
        ``by="evidence"`` also the NamedTuple of a custom likelihood, for `LatentFeatureModel`.
    leave_out : {"pair", "respondent", "choice", "task", "row", "set"}, optional
        The held-out part: all comparisons or the similarity of a pair; for paired comparisons also
        all comparisons of some respondents, scored as choices with errors over respondents
        (without ties and covariates). For `Choices`: choices (the default) or respondents; for a
        choice experiment: tasks of all respondents (the default) or respondents; for (X, y): rows;
        for triplets: sets of objects.
    draws, tune, chains, thin : int, optional
        The run of each fit, for models with these arguments. None: 1000, 1000, 4 and the default of
        the model for pairs; the defaults of the model for other data.
    cores : int, optional
        Number of parallel fits; None means all processors, or the complete cluster of
        ``joblib.parallel_config``. By evidence: number of parallel chains of a model.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    job : str or path, optional
        A folder that stores the finished fits, or the evidence of finished models. After any end of
        the process the same call continues there and gives the table of an uninterrupted run.
        Models may be added (by evidence: after the others). None: nothing is stored.
    hold_out : int, optional
        Size of a single held-out part: the last tasks of every respondent in a choice experiment;
        random respondents, choices or pairs of objects. None: a quarter of the tasks, a fifth of
        the respondents or choices, every pair in turn.
    folds : int of 2 or more, optional
        Instead of `hold_out`: the number of random parts that are held out in turn. Rows are always
        held out in folds, by default 5, with each class spread evenly over them; the only row of a
        class is never held out.
    by : {"prediction", "evidence"}
        "evidence": no data are held out; the log evidence of every model is computed as by its
        method `log_evidence`, with its defaults for draws, tune, chains and thin. It requires
        latent-feature models by "mcmc", `BradleyTerryLuce` with a prior, or
        ``ProductClasses(method="smc")``.
    prior_odds : mapping from the name of every model to a number above 0, optional
        With "evidence", the prior odds of the models. None: equal odds.
    sensitivity : bool
        With "evidence", whether to compute it also under other priors, as `log_evidence` does; this
        takes two to six times as long.

    Returns
    -------
    pandas.DataFrame
        One row per model, indexed by its name. The reference row BASE is above the models: every
        probability is one half; alternatives are equally probable; the class proportions of the
        other rows, or their largest class; the same normal distribution for all similarities. For
        paired comparisons the last row is EMP, the observed proportions, whose score no prediction
        can exceed. Columns for paired comparisons:

        - ``nll``: mean over pairs of -ln Binomial(x | n, posterior mean p); ``nll_mcse`` is its
          Monte Carlo error. With ties, -ln Multinomial(x | n, p) of the three outcomes; BASE then
          gives each a third, and every model has ``ties="davidson"``
        - ``information``: bits per comparison above BASE
        - ``mean_log_pred``, ``mean_log_pred_mcse``: mean over pairs of ln of the posterior mean of
          Binomial(x | n, p)
        - ``r_hat``: the largest of the predicted probabilities; NaN for a fit without chains

        Columns for choices:

        - ``log_score``, ``log_score_se``: mean over tasks, and its standard error over respondents
          (over choices, if `Choices` do not identify respondents)
        - ``hit_rate``, ``hit_rate_se``: likewise; m tied alternatives count 1/m of a hit
        - ``together``, ``together_se``, for held-out respondents of `Choices`: log joint
          probability of all choices of a respondent (see `BradleyTerryLuce.log_predictive`),
          summed over respondents and divided by the number of choices; ``together_difference`` from
          the best model by this score. It distinguishes individual differences
          (``people=Individuals()``), which scores of single choices rarely do. Models from outside
          thali are scored as if each choice were made by another respondent. Models whose draws are
          adjusted for respondents are scored by the likelihood.

        Columns for covariates and classes:

        - ``log_loss``, ``log_loss_se``: mean over rows, and its standard error
        - ``accuracy``, ``accuracy_se``: share of rows with a correct most probable class
        - ``brier``, ``brier_se``: mean over rows of the sum over classes of squared errors of p

        Columns for similarities:

        - ``log_score``, ``log_score_se``, ``log_score_mcse``: mean over pairs, its standard and
          Monte Carlo error
        - ``squared_error``, ``squared_error_se``: mean of (similarity - posterior mean of mu)
          squared
        - ``r_hat``: the largest of the predicted mu

        Columns for all data: ``difference``, ``difference_se``, the first of these scores minus the
        score of the best model, and its standard error (for choices and classes also
        ``hit_difference``, ``accuracy_difference``); ``pairs``, ``sets``, ``tasks``, ``answers``
        and ``respondents``, or ``rows``: the number that every model has finished; for choices and
        classes ``seconds``, CPU seconds of all fits of a model.

        By evidence the columns are ``log_evidence`` (with all constants), ``std_error`` and its
        ``df``; ``probability`` and ``probability_se`` of the model given the data;
        ``log_bayes_factor`` and ``log_bayes_factor_se`` of the best model against this model, with
        the words of Kass & Raftery (1995) in ``evidence_against``; ``usable``. BASE, where every
        outcome is equally probable, has no probability. ``attrs["evidence"]`` contains the
        `LogEvidence` of each model, ``attrs["sensitivity"]`` a table by prior and model.

        ``attrs["pairs"]``, ``["tasks"]``, ``["rows"]`` or ``["similarities"]`` is a data frame of
        scores, units by models; ``attrs["predictions"]`` (of pairs) has one row per model and pair
        with all results. ``attrs["missing"]`` lists fits that failed or were not run; scores cover
        only units that every model has finished (by evidence: missing models, and why). pandas
        cannot join tables with these attrs: call ``table.attrs.clear()`` first.
        `thali.plots.comparison` draws the table of paired comparisons,
        `thali._comparison.sentences.describe_comparison` describes any table.

    Raises
    ------
    ArgumentError
        If there is no model, two models have the same name, a model does not fit the data, or an
        argument is outside its range.
    DataError
        If the data are of another kind or too few to hold some out; or if the job has other data,
        models, settings or versions, is damaged, is running, or is not a job.

    Warns
    -----
    DataWarning
        If the remaining comparisons do not connect all options; or if respondents are held out of
        comparisons with covariates, which are then ignored.
    IncompleteWarning
        If a fit failed; the other fits are kept, and the part is excluded for all models.
    InterruptedWarning
        If Ctrl-C stopped the run; finished fits are kept.
    ConvergenceWarning
        If the chains of some fits disagree on held-out pairs.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), section 4.2 and Table 2. Geisser & Eddy (1979), A predictive
    approach to model selection. Gneiting & Raftery (2007), Strictly proper scoring rules,
    prediction, and estimation. Kass & Raftery (1995), Bayes factors.

    Examples
    --------
    >>> import thali as th
    >>> models = {
    ...     "even": th.EliminationByAspects("unique", lapse=0.9),
    ...     "BTL": th.EliminationByAspects("unique"),
    ... }
    >>> data = th.datasets.celebrities().subset(["LBJ", "HW", "JU", "CY", "BB"])
    >>> table = compare(
    ...     models, data, draws=50, tune=20, thin=1, cores=1, random_seed=1, progressbar=False
    ... )
    >>> [float(x) for x in table["nll"].round(1)]
    [23.7, 17.8, 6.5, 2.9]

    Of classifiers:

    >>> X, y = [[0.1], [0.3], [0.2], [0.9], [1.1], [1.0]], ["a", "a", "a", "b", "b", "b"]
    >>> table = compare(
    ...     {"PL": th.PlackettLuceRegression(method="map", a=1.1)},
    ...     (X, y),
    ...     folds=3,
    ...     cores=1,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> table["accuracy"].to_dict()
    {'BASE': 0.5, 'PL': 1.0}

    By evidence:

    >>> models = {
    ...     "even": th.EliminationByAspects("unique", lapse=0.9),
    ...     "BTL": th.EliminationByAspects("unique"),
    ... }
    >>> table = compare(
    ...     models,
    ...     data,
    ...     by="evidence",
    ...     draws=10,
    ...     tune=20,
    ...     cores=1,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> table["evidence_against"].to_dict()
    {'BASE': 'very strong', 'even': 'very strong', 'BTL': ''}
    """
    run_lengths = {"draws": draws, "tune": tune, "chains": chains, "thin": thin}
    given_lengths = {name: number for name, number in run_lengths.items() if number is not None}
    _refuse_other_arguments(
        check_allowed("by", by, (PREDICTION, EVIDENCE)),
        {"leave_out": leave_out, "hold_out": hold_out, "folds": folds},
        {"prior_odds": prior_odds, "sensitivity": sensitivity or None},
    )
    if by == EVIDENCE:
        data, models_by_name = _check_evidence_models(data, models)
        evidence_run = build_evidence_run(
            **(USUAL | given_lengths),
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            sensitivity=sensitivity,
        )
        return compare_by_evidence(models_by_name, data, evidence_run, prior_odds, job)
    data = convert_data(data, leave_out)
    data_kind = find_compared_kind(data)
    scheme = find_scheme(data_kind, leave_out)
    models_by_name = add_ties(check_models(models, data_kind, scheme.scorer), data)
    refuse_people(models_by_name, data_kind)
    splitter = scheme.splitter(data)
    settings = splitter.default_run | {
        name: check_integer(name, number, _MIN[name]) for name, number in given_lengths.items()
    }
    if cores is not None:
        cores = check_integer("cores", cores, 1)
    prepared_models = prepare_models(models_by_name, data, settings)
    splitter.warn_about_parts()
    return run_comparison(
        models_by_name,
        splitter,
        scheme.scorer,
        prepared_models,
        settings,
        hold_out=hold_out,
        folds=folds,
        cores=cores,
        random_seed=random_seed,
        progressbar=progressbar,
        job=job,
    )
