"""`thali.compare`: every model predicts what it was fitted without."""

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from thali._arguments import one_of, whole
from thali._aspects.models.elimination import EliminationByAspects
from thali._aspects.models.open import LatentFeatureModel
from thali._data.kinds import OWN, PAIRS, DataForm, spec_of_kind
from thali._labels import listed, shorten
from thali._model.counted_ties import CONVERSIONS, has_ties
from thali._model.evidence import USUAL, checked_evidence_run
from thali._model.registry import spec_of
from thali._people.populations import Individuals, LatentClasses
from thali._worths.model import BradleyTerryLuce
from thali.errors import Argument, ArgumentError, InPython, Setting, ThaliError

from .by_evidence import EVIDENCE, compare_by_evidence
from .engine import run_comparison
from .scorer import Scorer
from .ways import WAYS, as_left_out, compared_form, is_own, usual_way

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._data.experiments import ChoiceExperiment
    from thali._data.pairs import PairedComparisons
    from thali._data.similarities import Similarities


# The models that a comparison is given, by name, and whether they can be compared on these data ---


def named_models(models: Any, form: DataForm, scorer: Scorer) -> dict[str, Any]:
    """The models by name, each name once."""
    example = spec_of_kind(form.kind).example
    named = _by_name(models, example, (*scorer.before, *scorer.after))
    for name, model in named.items():
        _refuse_others(name, model, form, example, scorer)
    return named


def models_of_own_data(models: Any) -> dict[str, Any]:
    """The models by name, for data of a likelihood of the user."""
    example = spec_of_kind(OWN).example
    named = _by_name(models, example, ())
    for name, model in named.items():
        if not isinstance(model, LatentFeatureModel):
            raise ArgumentError(
                f"Your own data require a model such as {example}; {name!r} is {model!r}."
            )
    return named


def _by_name(models: Any, example: str, taken: tuple[str, ...]) -> dict[str, Any]:
    """The models by name, after checking the names."""
    try:
        items = (
            list(models.items())
            if isinstance(models, Mapping)
            else [(name, model) for name, model in models]
        )
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("models"),
            " must map names to models, or be a list of (name, model); got"
            f" {type(models).__name__}.",
        ) from None
    if not items:
        raise ArgumentError(
            f"`models` is empty; give at least one model, such as {{'mine': {example}}}."
        )
    named: dict[str, Any] = {}
    for name, model in items:
        if not isinstance(name, str) or not name.strip():
            raise ArgumentError(f"The name of a model must be a non-empty string; got {name!r}.")
        if name in taken:
            raise ArgumentError(
                f"{name!r} is the name of a reference row of the table; rename the model."
            )
        if name in named:
            raise ArgumentError(f"Two models are named {name!r}; rename one.")
        named[name] = model
    return named


def _refuse_others(name: str, model: Any, form: DataForm, example: str, scorer: Scorer) -> None:
    """Refuse what is no model for this kind of data."""
    spec = spec_of(model)
    if spec is not None and form.kind not in spec.data:
        raise ArgumentError(
            f"{name!r} ({type(model).__name__}) requires {' or '.join(spec.data)}; these data are"
            f" {form}. Remove the model."
        )
    if spec is None and (isinstance(model, type) or not scorer.takes(model)):
        alternative = f", or have {listed(scorer.own_models)}" if scorer.own_models else ""
        raise ArgumentError(
            f"{name!r} must be a thali model for {form}, such as {example}{alternative}; got"
            f" {model!r}."
        )


def with_ties(named: dict[str, Any], data: Any) -> dict[str, Any]:
    """The models as they are compared on these data: with ties each predicts three outcomes, even
    where the pairs that are left have none.
    """
    if not has_ties(data):
        return named
    found = {}
    for name, model in named.items():
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
        found[name] = model
    return found


_TELLS = {LatentClasses: "latent classes", Individuals: "respondents"}  # what a model tells apart


def refuse_people(named: dict[str, Any], form: DataForm) -> None:
    """Refuse models of latent classes or individuals where pairs are left out; the error names the
    model."""
    for name, model in named.items():
        if form != DataForm(PAIRS):
            continue
        tells = _TELLS.get(type(getattr(model, "people", None)), "")
        if tells:
            raise ArgumentError(
                f"Model {name!r} distinguishes {tells}, so the models must be compared by"
                " predictions for left-out respondents; set ",
                Setting("leave_out", "respondent"),
                ".",
            )


def prepared_models(named: dict[str, Any], data: Any, settings: dict[Any, Any]) -> dict[str, Any]:
    """What those models will run that can be checked beforehand, so that one that cannot be fitted
    is found first."""
    found = {}
    for name, model in named.items():
        if spec_of(model) is None:
            continue
        _refuse_other_options(name, model, data)
        try:
            found[name] = model.prepare(data, **settings)
        except ThaliError as error:
            raise type(error)(f"Model {name!r} cannot be fitted to these data: ", error) from None
    return found


def _refuse_other_options(name: str, model: Any, data: Any) -> None:
    """Refuse a model that was fitted to other options."""
    options = model._options_of_fit() if model._is_fitted() else []
    if options and options != list(data.labels):
        raise ArgumentError(
            f"Model {name!r} was fitted to the options {shorten(options)}, but the data have"
            f" {shorten(data.labels)}; compare models on the same options."
        )


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
    random_seed: Any = None,
    progressbar: bool = True,
    job: Any = None,
    hold_out: int | None = None,
    folds: int | None = None,
    by: str = PREDICTION,
    prior_odds: Mapping[str, float] | None = None,
    sensitivity: bool = False,
) -> "pandas.DataFrame":
    r"""Compare models by what they predict for what they have not seen, or by their evidence.

    Every model is fitted once without each part of the data, and predicts it. Of paired comparisons
    a part is a pair:

    .. math::
        \text{nll} = -\frac{1}{P} \sum_{i<j} \ln \text{Binomial}(x_{ij} \mid n_{ij}, \bar
        p_{ij}^{(-ij)}), \qquad
        \text{information} = \frac{P (\text{nll}_\text{BASE} - \text{nll})}{\ln 2 \sum_{i<j} n_{ij}}

    and of several groups of people the comparisons that one group made of one pair, or people,
    choices or pairs of objects of their groups; of choices some choices, tasks or respondents, of
    covariates and classes a fold of rows, of similarities a pair of objects or some of them:

    .. math::
        \text{log score} = \frac1T \sum_{t} \ln \bar p_{t}(x_{t}), \qquad
        \text{log loss} = -\frac1n \sum_i \ln \bar p_i(y_i), \qquad
        \text{log score} = \frac1P \sum_{i<j} \ln \frac1S \sum_s
            \text{Normal}\Bigl(s_{ij} \mid \mu_{ij}^{(s)}, \frac{(\sigma^{(s)})^2}{n_{ij}}\Bigr)

    The fits are independent tasks of joblib: inside ``joblib.parallel_config("dask")`` and the like
    they run on a cluster, as does the evidence of each model. The same seed gives the same table
    wherever they run.

    Parameters
    ----------
    models : mapping from name to model, or list of (name, model)
        Models of thali for such data, fitted by whichever method; or, but for similarities,
        anything with ``fit(data, random_seed=)`` (of classifiers ``fit(X, y)``) and
        ``predict_proba``. They are left as they are. The names of the reference rows, "BASE" and
        "EMP", are taken.
    data : PairedComparisons, Choices, ChoiceExperiment, Similarities, (X, y), or a mapping
        A mapping from groups of people to their comparisons, choices or similarities; X an array or
        data frame with a row an observation, y their classes. With ``by="evidence"`` also the
        NamedTuple of a likelihood of your own, for models that are `LatentFeatureModel`.
    leave_out : {"pair", "respondent", "choice", "task", "row"}, optional
        What is left out at a time: all comparisons of a pair, or the similarity of a pair of
        objects; all comparisons of some respondents, which are then scored as choices of
        respondents, with errors over people (without ties and covariates); of `Choices`, choices
        (the default) or respondents; of a choice experiment, tasks of everybody (the default) or
        respondents; rows of (X, y).
    draws, tune, chains, thin : int, optional
        Of every fit, for models that have them. None: 1000, 1000, 4 and the model's own of pairs;
        the model's own of other data.
    cores : int, optional
        Fits run at once; None means as many as there are processors, or the whole of the cluster
        that ``joblib.parallel_config`` names. By evidence: chains of a model run at once.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    job : str or path, optional
        A folder that keeps the finished fits, or the evidence of finished models. The same call
        goes on from there after any end of the process, and gives the table of an unbroken run;
        models may have been added since, by evidence after the others. None: nothing is kept.
    hold_out : int, optional
        How many are left out once: of a choice experiment the last tasks of every respondent;
        respondents, choices or pairs of objects, drawn by the seed. None: a quarter of the tasks, a
        fifth of the respondents or choices, every pair in turn.
    folds : int of 2 or more, optional
        Instead of `hold_out`: so many parts, drawn by the seed, are left out in turn. Rows are
        always left out in folds, 5 unless said otherwise, with each class spread evenly over them;
        the only row of a class is never left out.
    by : {"prediction", "evidence"}
        "evidence": nothing is left out; the log evidence of every model is found as by its method
        `log_evidence`, whose defaults draws, tune, chains and thin have then. Of latent-feature
        models and ``ProductClasses(method="smc")``.
    prior_odds : mapping from the name of every model to a number above 0, optional
        With "evidence", how probable each model is before the data. None: all alike.
    sensitivity : bool
        With "evidence", whether it is found under other priors, too, as by `log_evidence`; two to
        six times as long.

    Returns
    -------
    pandas.DataFrame
        One row a model, indexed by its name. The reference row BASE stands above them: every
        probability one half; every alternative equally probable; the class proportions of the other
        rows, and the largest class; the same normal distribution for all similarities. Below those
        of paired comparisons stands EMP, the observed proportions, the best that any prediction
        could do. Columns of paired comparisons:

        - ``nll``: mean over the pairs of -ln Binomial(x | n, posterior mean p); ``nll_mcse`` its
          Monte Carlo error; where there are ties, -ln Multinomial(x | n, p) of the three outcomes,
          of which BASE gives each a third, and every model has ``ties="davidson"``
        - ``information``: bits per comparison above BASE
        - ``mean_log_pred``, ``mean_log_pred_mcse``: mean over the pairs of ln of the posterior mean
          of Binomial(x | n, p)
        - ``r_hat``: largest among the predicted probabilities; NaN for a fit without chains

        Of choices:

        - ``log_score``, ``log_score_se``: mean over tasks, and its standard error over respondents
          (over choices, where `Choices` do not tell who chose)
        - ``hit_rate``, ``hit_rate_se``: likewise; of m alternatives equally probable, 1/m of a hit
        - ``together``, ``together_se``, of `Choices` whose respondents are left out: ln of the
          probability of all choices of a respondent together (see
          `EliminationByAspects.log_predictive`), summed over respondents and divided by the number
          of choices; ``together_difference`` from the best by this score. It tells models of latent
          classes apart, and of people who differ (``people=Individuals()``), which single choices
          hardly do; models of somebody else are scored as if each choice were made by another
          respondent. Models whose draws are adjusted for people are scored by the likelihood
          itself.

        Of covariates and classes:

        - ``log_loss``, ``log_loss_se``: mean over rows, and its standard error
        - ``accuracy``, ``accuracy_se``: share of rows whose most probable class is theirs
        - ``brier``, ``brier_se``: mean of the sum over classes of (p - 1 for the class of the row,
          else 0) squared

        Of similarities:

        - ``log_score``, ``log_score_se``, ``log_score_mcse``: mean over pairs, its standard and
          Monte Carlo error
        - ``squared_error``, ``squared_error_se``: mean of (similarity - posterior mean of mu)
          squared
        - ``r_hat``: largest among the predicted mu

        Of all: ``difference``, ``difference_se``, the first of these scores minus that of the best
        model, and its standard error (of choices and classes also ``hit_difference``,
        ``accuracy_difference``); ``pairs``, ``tasks`` and ``respondents``, or ``rows``: those that
        count, because every model has finished them; of choices and classes ``seconds``, CPU
        seconds of all fits of a model.

        By evidence the columns are ``log_evidence`` (no constant left out), ``std_error`` and its
        ``df``;
    ``probability`` and ``probability_se``, of the model given the data; ``log_bayes_factor`` and
    ``log_bayes_factor_se``, of the best model against this one, with the words of Kass & Raftery
    (1995) in ``evidence_against``; ``usable``. BASE, where every outcome is equally probable, has
    no probability. ``attrs["evidence"]`` holds the `LogEvidence` of each model,
    ``attrs["sensitivity"]`` a table by prior and model.

    ``attrs["pairs"]``, ``["tasks"]``, ``["rows"]`` or ``["similarities"]``: a data frame of the
    score of each, by
        models; ``attrs["predictions"]`` (of pairs): one row a model and pair with everything known
        of it. ``attrs["missing"]``: fits that failed or were not run; a row counts only what is
        finished for every model (by evidence: models, and why they are missing). (pandas cannot
        join tables with such attrs: ``table.attrs.clear()`` first.) `thali.plots.comparison` draws
        the table of paired comparisons, `thali._comparison.sentences.sentences` puts any table in
        words.

    Raises
    ------
    ArgumentError
        If there is no model, two have one name, a model does not fit the data (which names it), or
        an argument is outside its range.
    DataError
        If the data are of no such kind or too few to leave some out; or if the job is of other
        data, models, settings or versions, is damaged, is running, or is no job.

    Warns
    -----
    DataWarning
        If the comparisons that remain do not connect all options; or people are left out of
        comparisons with covariates, which then do not count.
    IncompleteWarning
        If a fit failed; the others are kept, and the part counts for no model.
    InterruptedWarning
        If Ctrl-C stopped the run; what was finished is kept.
    ConvergenceWarning
        If the chains of some fits do not agree on pairs left out.

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
    if one_of("by", by, (PREDICTION, EVIDENCE)) == EVIDENCE:
        for name, value in (
            ("leave_out", leave_out),
            ("hold_out", hold_out),
            ("folds", folds),
        ):
            if value is not None:
                raise ArgumentError(
                    Argument(name),
                    " applies to comparisons by prediction only; remove ",
                    Argument(name),
                    ".",
                )
        if is_own(data):
            named = models_of_own_data(models)
        else:
            data, _ = as_left_out(data, None)
            form = compared_form(data)
            named = with_ties(named_models(models, form, usual_way(form).scorer), data)
        given = {"draws": draws, "tune": tune, "chains": chains, "thin": thin}
        budget = USUAL | {name: value for name, value in given.items() if value is not None}
        how = checked_evidence_run(
            **budget,
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            sensitivity=sensitivity,
        )
        return compare_by_evidence(named, data, how, prior_odds, job)
    for name, is_given in (("prior_odds", prior_odds is not None), ("sensitivity", sensitivity)):
        if is_given:
            raise ArgumentError(
                Argument(name),
                " requires a comparison with ",
                Setting("by", EVIDENCE),
                "; remove ",
                Argument(name),
                ".",
            )
    data, leave_out = as_left_out(data, leave_out)
    form = compared_form(data)
    way = (
        usual_way(form)
        if leave_out is None
        else WAYS[form][one_of("leave_out", leave_out, tuple(WAYS[form]))]
    )
    named = with_ties(named_models(models, form, way.scorer), data)
    refuse_people(named, form)
    splitter = way.splitter(data)
    given = {"draws": draws, "tune": tune, "chains": chains, "thin": thin}
    budget = {
        name: whole(name, value, _MIN[name]) for name, value in given.items() if value is not None
    }
    settings = splitter.usual | budget
    cores = None if cores is None else whole("cores", cores, 1)
    prepared = prepared_models(named, data, settings)
    splitter.warn()
    return run_comparison(
        named,
        splitter,
        way.scorer,
        prepared,
        settings,
        hold_out=hold_out,
        folds=folds,
        cores=cores,
        random_seed=random_seed,
        progressbar=progressbar,
        job=job,
    )
