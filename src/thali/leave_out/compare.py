"""`thali.compare`: every model predicts what it was fitted without, such as each pair in turn."""

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from thali.data.check import shorten
from thali.data.choices import Choices
from thali.data.experiment import ChoiceExperiment
from thali.data.pairs import PairedComparisons
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataError,
    DataWarning,
    IncompleteWarning,
    InterruptedWarning,
    ThaliError,
)
from thali.leave_out.fit import RECORD, LeftOutFit, clone, run
from thali.leave_out.kept import Kept, data_digest, fit_key
from thali.leave_out.naming import lapses, named_models
from thali.leave_out.table import REFERENCES, comparison_table, unconverged
from thali.leave_out.workers import run_all
from thali.models.arguments import one_of, whole
from thali.models.engine import compile_ahead
from thali.models.saved import describe
from thali.progress import Progress

if TYPE_CHECKING:
    import pandas

_MOST_NAMED = 5


def compare(
    models: Mapping[str, Any] | Iterable[tuple[str, Any]],
    data: "PairedComparisons | Choices | ChoiceExperiment",
    leave_out: str | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    thin: int | None = None,
    cores: int | None = None,
    random_seed=None,
    progressbar: bool = True,
    checkpoint=None,
    hold_out: int | None = None,
    folds: int | None = None,
) -> "pandas.DataFrame":
    r"""Compare models by what they predict for choices that they have not seen.

    Of paired comparisons, every model is fitted once for each compared pair, without it, and predicts it:

    .. math::
        \text{nll} = -\frac{1}{P} \sum_{i<j} \ln \text{Binomial}(x_{ij} \mid n_{ij}, \bar p_{ij}^{(-ij)}), \qquad
        \text{information} = \frac{P (\text{nll}_\text{BASE} - \text{nll})}{\ln 2 \sum_{i<j} n_{ij}}

    Of choices out of sets every model is fitted without some choices, of a choice experiment without some tasks, or of
    either without some respondents, and predicts them; the log score is the mean of ln p(chosen) over tasks, and
    standard errors are over respondents. See `thali.leave_out.experiments.compare_experiment` for the table that this
    returns.

    The fits are independent tasks of joblib: inside ``joblib.parallel_config("dask")`` and the like they run on a
    cluster. The same seed gives the same table wherever they run.

    Parameters
    ----------
    models : mapping from name to model, or list of (name, model)
        Models of thali for paired comparisons, or anything with ``fit(data, random_seed=)`` and ``predict_proba(data)``
        for `Choices` and choice experiments; they are left as they are. "BASE" and "EMP" are taken.
    data : PairedComparisons, Choices or ChoiceExperiment
        With two compared pairs or more.
    leave_out : {"pair", "choice", "task", "respondent"}, optional
        What is left out at a time: all comparisons of a pair; of `Choices`, choices (the default) or respondents; of a
        choice experiment, tasks of everybody (the default) or respondents.
    draws, tune, chains, thin : int, optional
        Of every fit, as in `fit`. None: 1000, 1000, 4 and the model's own of paired comparisons; the model's own of
        choice experiments.
    cores : int, optional
        Fits run at once; None means as many as there are processors, or the whole of the cluster that
        ``joblib.parallel_config`` names.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    checkpoint : str or path, optional
        A file that keeps every finished fit. The same call with the same file goes on from there; models may have been
        added since.
    hold_out : int, optional
        Of choice experiments: how many tasks of every respondent, the last ones, or how many respondents or choices,
        drawn by the seed, are left out. None: a quarter of the tasks, a fifth of the respondents or choices.
    folds : int of 2 or more, optional
        Of `Choices` and choice experiments, instead of `hold_out`: so many parts, drawn by the seed, are left out in
        turn.

    Returns
    -------
    pandas.DataFrame
        One row a model, indexed by its name, between the reference rows BASE (every probability one half) and EMP (the
        observed proportions, the best that any prediction could do):

        - ``nll``: mean over the pairs of -ln Binomial(x | n, posterior mean p); ``nll_mcse`` its Monte Carlo error
        - ``information``: bits per comparison above BASE
        - ``mean_log_pred``, ``mean_log_pred_mcse``: mean over the pairs of ln of the posterior mean of
          Binomial(x | n, p)
        - ``difference``, ``difference_se``: nll minus that of the best model, and the standard error over pairs
        - ``r_hat``: largest among the predicted probabilities
        - ``pairs``: pairs that count; those that every model has finished

        ``attrs["pairs"]``: a data frame of every pair's nll, pairs (a, b) by models. ``attrs["predictions"]``: one row
        a model and pair with everything known of it. ``attrs["missing"]``: fits that failed or were not run. (pandas
        cannot join tables with such attrs: ``table.attrs.clear()`` first.)
        `thali.plots.comparison` draws the table, `thali.leave_out.table.sentences` puts it in words.

    Raises
    ------
    ArgumentError
        If there is no model, two have one name, a model does not fit the data (which names it), or an argument is
        outside its range.
    DataError
        If the data are not paired comparisons of at least two pairs, or the checkpoint cannot be used.

    Warns
    -----
    DataWarning
        If the comparisons that remain do not connect all options.
    IncompleteWarning
        If a fit failed; the others are kept, and the pair counts for no model.
    InterruptedWarning
        If Ctrl-C stopped the run; what was finished is kept.
    ConvergenceWarning
        If the chains of some fits do not agree on the pair left out.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), section 4.2 and Table 2.

    Example
    -------
    >>> import thali as th
    >>> models = {"even": th.EliminationByAspects("unique", lapse=0.9), "BTL": th.EliminationByAspects("unique")}
    >>> table = compare(models, th.datasets.celebrities(), draws=100, tune=100, cores=1, random_seed=1,
    ...                 progressbar=False)
    >>> [float(x) for x in table["nll"].round(1)]
    [17.6, 12.2, 4.7, 2.9]
    """
    if isinstance(data, ChoiceExperiment | Choices):
        from thali.leave_out.experiments import compare_experiment

        budget = {"draws": draws, "tune": tune, "chains": chains, "thin": thin}
        rest = (cores, random_seed, progressbar, checkpoint)
        return compare_experiment(models, data, leave_out, hold_out, folds, budget, *rest)
    one_of("leave_out", "pair" if leave_out is None else leave_out, ("pair",))
    if hold_out is not None or folds is not None:
        raise ArgumentError(
            "hold_out and folds are for Choices and choice experiments; of paired comparisons every pair is left out."
        )
    draws, tune, chains = (
        usual if given is None else given for given, usual in ((draws, 1000), (tune, 1000), (chains, 4))
    )
    if not isinstance(data, PairedComparisons):
        raise DataError(
            f"compare with leave_out='pair' needs PairedComparisons; got {type(data).__name__}. "
            "Wrap a count matrix as PairedComparisons(counts)."
        )
    named = named_models(models, REFERENCES, _refuse_others)
    budget: dict[str, int | None] = {
        "draws": whole("draws", draws, 1),
        "tune": whole("tune", tune, 0),
        "chains": whole("chains", chains, 1),
    }
    budget["thin"] = None if thin is None else whole("thin", thin, 1)
    cores = None if cores is None else whole("cores", cores, 1)
    prepared = [_prepared(name, model, data, draws, tune, thin) for name, model in named.items()]
    _warn_of_holes(data)

    with Kept(checkpoint, random_seed, RECORD) as kept:
        seeds = kept.seed.spawn(data.n_pairs)
        tasks = [  # pair by pair, so that an early end leaves whole pairs
            LeftOutFit(name, clone(model), data, pair, seed, budget, os.getpid())
            for pair, seed in enumerate(seeds)
            for name, model in named.items()
        ]
        keys = _keys(tasks, data_digest(data))
        records = kept.find_all(keys)
        waiting = [number for number, record in enumerate(records) if record is None]
        interrupted = False
        with Progress(progressbar, "leaving out", len(tasks), "fits") as progress:
            try:
                if waiting:
                    for task in prepared:
                        compile_ahead(task, progress)
                progress.update(len(tasks) - len(waiting))
                finished = run_all(run, [tasks[number] for number in waiting], cores)
                for done, (at, result) in enumerate(finished, start=1 + len(tasks) - len(waiting)):
                    number = waiting[at]
                    records[number] = record = _record(result, tasks[number])
                    if record["error"] is None:
                        kept.add(keys[number], record)
                    progress.update(done)
            except KeyboardInterrupt:
                interrupted = True
        if interrupted and not any(records):
            raise KeyboardInterrupt
        table = comparison_table(list(named), data, [(t.name, t.pair, r) for t, r in zip(tasks, records, strict=True)])
    table.attrs.update(interrupted=interrupted, lapses=lapses(named, data))
    _warn(table, len(tasks), interrupted, checkpoint)
    return table


def _refuse_others(name: str, model) -> None:
    """Refuse what is no model of thali for paired comparisons."""
    if isinstance(model, type) or not all(hasattr(model, part) for part in ("fit", "get_params", "_task")):
        raise ArgumentError(
            f"{name!r} must be a model of thali for paired comparisons, such as EliminationByAspects(); got {model!r}."
        )


def _prepared(name: str, model, data: PairedComparisons, draws, tune, thin):
    """What the sampler will run, so that a model that cannot be fitted is found before the others have been."""
    if hasattr(model, "posterior_"):
        options = [str(label) for label in model.posterior_["posterior"]["option"].values]
        if options != list(data.labels):
            raise ArgumentError(
                f"Model {name!r} was fitted to the options {shorten(options)}, but the data are of "
                f"{shorten(data.labels)}; compare models on the same options."
            )
    try:
        return model._task(data, draws, tune, thin)
    except ThaliError as error:
        raise type(error)(f"Model {name!r} cannot be fitted to these data: {error}") from None


def _warn_of_holes(data: PairedComparisons) -> None:
    """Say which options are told by the prior alone once a pair is left out."""
    lonely, cut, alone = [], [], set(data.never_compared)
    groups = len(data.components())
    for first, second in zip(data.first, data.second, strict=True):
        a, b = data.labels[first], data.labels[second]
        rest = data.without_pair(a, b)
        if lost := [label for label in rest.never_compared if label not in alone]:
            lonely.append(f"{' and '.join(lost)} (compared with nothing but the other of {a}-{b})")
        elif len(rest.components()) > groups:
            cut.append(f"{a}-{b}")
    said = []
    if lonely:
        said.append(f"Leaving out a pair leaves an option without comparisons: {shorten(lonely, _MOST_NAMED)}.")
    if cut:
        said.append(
            f"Leaving out a pair parts the options into groups never compared with each other: "
            f"{shorten(cut, _MOST_NAMED)}."
        )
    if said:
        warnings.warn(
            " ".join(said) + " What is predicted there is told by the prior alone.", DataWarning, stacklevel=3
        )


def _keys(tasks: list[LeftOutFit], digest: str) -> list[str]:
    """For each fit everything that determines it, as a short text."""
    from thali import __version__

    described = {task.name: json.dumps(describe(task.model), sort_keys=True) for task in tasks}
    return [
        fit_key(
            __version__,
            digest,
            described[t.name],
            t.budget,
            t.pair,
            str(t.seed.entropy),
            [int(k) for k in t.seed.spawn_key],
        )
        for t in tasks
    ]


def _record(result, task: LeftOutFit) -> dict:
    if isinstance(result, BaseException):
        error = "its worker process died again and again, perhaps for want of memory; use fewer cores"
        return {"model": task.name, "pair": task.pair, "error": error}
    return result


def _warn(table: "pandas.DataFrame", fits: int, interrupted: bool, checkpoint) -> None:
    """What a reader of the table must know besides."""
    missing = table.attrs["missing"]
    failed = missing[missing["why"] != "not run"]
    if len(failed):
        named = [f"{m.model} without {m.a}-{m.b} ({m.why})" for m in failed.head(_MOST_NAMED).itertuples()]
        more = f"; and {len(failed) - _MOST_NAMED:,} more" if len(failed) > _MOST_NAMED else ""
        warnings.warn(
            f"{len(failed):,} of {fits:,} fits failed: {'; '.join(named)}{more}. The other fits were kept; these pairs "
            "count for no model.",
            IncompleteWarning,
            stacklevel=3,
        )
    if interrupted:
        again = f"the same call goes on from '{checkpoint}'" if checkpoint else "with checkpoint=FILE it could go on"
        waiting = missing[missing["why"] == "not run"]
        named = [f"{m.model} without {m.a}-{m.b}" for m in waiting.itertuples()]
        warnings.warn(
            f"Stopped early; {fits - len(missing):,} of {fits:,} fits are finished and kept; not run: "
            f"{shorten(named, _MOST_NAMED)}. Pairs that not every model has finished count for none; {again}.",
            InterruptedWarning,
            stacklevel=3,
        )
    if sentence := unconverged(table):
        warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
