"""The fit of the hierarchical logit: its chains, what their draws become, fitted attributes; draws
from the prior."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.chains import FIRST_DRAWS, Run
from thali._model.prior_sample import PriorSample, build_predictive_group
from thali._model.run_budget import limit_run
from thali._model.sampling import Sampling
from thali._people.columns import RespondentCovariates
from thali._posterior.view import PosteriorTree

from ..coding import Coding
from ..logit import choice_probabilities, encode_choices
from .attention import Attention
from .hierarchical_draws import TasteScale, draws_group, observed_group, reported, to_datatree

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment

    from .hierarchical_sweep import TasteChain, TastePrior

MEAN_SD = 10.0  # of a mean taste a priori
SCALE, SCALE_WITH_ATTENTION = 1.0, 0.2  # V: wide tastes leave little to tell of who ignores
# sweeps a draw: shares of who ignores what mix more slowly than tastes
THIN, THIN_WITH_ATTENTION = 2, 4
# of the tastes in the draws after which a run of unknown length is looked at first
_FIRST_BYTES = 2**29
_MIN_DRAWS = 100  # such draws of a chain
# seconds of a sweep a person, pair of columns, cell of the table
_A_PERSON, _A_PAIR, _A_CELL = 1.5e-6, 3e-9, 1.4e-8
_A_LOOK = 2e-8  # and a row and attribute that may be ignored


class FitArguments(NamedTuple):
    """What the arguments of a model say of its data."""

    coding: Coding
    scale: TasteScale
    covariates: RespondentCovariates
    attention: Attention
    prior: "TastePrior"


def sampling_of(source: "ChoiceExperiment", run: Run, parts: FitArguments) -> Sampling[Any]:
    """What a fit runs, and what it makes of the draws."""
    import xarray as xr

    from thali._inference.seeds import build_seed_sequence, spawn_generators

    from .hierarchical_sweep import TasteChain, problem_of

    coding, scale, covariates, attention, prior = parts
    people, columns = len(source.respondents), len(coding.names)
    least = THIN_WITH_ATTENTION if attention.names else THIN
    first, usual = FIRST_DRAWS, run.thin or least
    # fewer draws, further apart, where they are large; a continued fit has the same
    if run.thin is None:
        size = run.chains * people * columns * np.dtype(float).itemsize
        first = max(_MIN_DRAWS, min(FIRST_DRAWS, _FIRST_BYTES // size))
        usual = least * -(-FIRST_DRAWS // first)
    asked = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "thin": usual}
    tune = run.tune if run.thin is not None else run.tune * least // usual  # in states so far apart
    sweep = seconds_of_sweep(people, len(source.row_product), columns, len(attention.names))
    bound = limit_run(run._replace(tune=tune), usual, sweep, first)
    run, thin = bound.run._replace(thin=bound.thin), bound.thin

    @cache
    def problem() -> Any:
        tasks = encode_choices(source, coding)
        scaled = tasks._replace(matrix=tasks.matrix / coding.scale @ scale.steps)
        looking = None if attention.people is None else attention.people.matrix
        people = covariates.matrix, attention.owned, scale.price, looking
        return problem_of(scaled, source.first_task, prior, scale.sign, *people)

    def chains(draws: int, seed: np.random.SeedSequence) -> "list[TasteChain]":
        return [
            TasteChain(problem(), rng, draws, run.tune * thin, thin)
            for rng in spawn_generators(build_seed_sequence(seed).spawn(2)[0], run.chains)
        ]

    def tree(chains: "Sequence[TasteChain]") -> "xarray.DataTree":
        attrs = {"thin": thin, "tuning_steps": run.tune * thin}
        found = to_datatree(
            chains, source.respondents, coding.names, scale, covariates, attention, attrs
        )
        posterior = found["posterior"].to_dataset()
        found["posterior"] = xr.DataTree(
            posterior.assign(reported(posterior["beta"].values, source, coding))
        )
        return found

    def found(
        tree: "xarray.DataTree", chains: "Sequence[TasteChain]", seed: np.random.SeedSequence
    ) -> dict[str, Any]:
        kept = {
            "_scheme_": source.scheme,
            "_coding_": coding,
            "_scale_": scale,
            "_covariates_": covariates,
        }
        kept |= {"_respondents_": source.respondents, "_looking_": attention.people}
        return {
            "_new_people_": build_seed_sequence(seed).spawn(2)[1],
            **kept,
            **_means(tree, scale, attention),
        }

    return Sampling(
        source,
        run,
        chains,
        tree,
        found,
        settings=asked,
        first_draws=bound.first_draws,
        data_max_draws=bound.max_draws,
        forecast=bound.forecast,
    )


def seconds_of_sweep(people: int, rows: int, columns: int, ignored: int = 0) -> float:
    """Seconds of the processor that a sweep is expected to take: `benchmarks/forecast.py`."""
    return (
        people * (_A_PERSON + _A_PAIR * columns**2) + (_A_CELL * columns + _A_LOOK * ignored) * rows
    )


def _means(tree: "xarray.DataTree", scale: "TasteScale", attention: Attention) -> dict[str, Any]:
    """Posterior means, as fitted attributes."""
    import pandas

    posterior = PosteriorTree(tree).draws
    over = ["chain", "draw"]
    beta = posterior["beta"]
    tastes = (beta if scale.price < 0 else beta.copy(data=scale.coefficients(beta.values))).mean(
        over
    )
    people, names = (
        pandas.Index(tastes[dim].values, name=dim) for dim in ("respondent", "coefficient")
    )
    if scale.price >= 0:
        names = names.where(np.arange(len(names)) != scale.price, f"scale[{names[scale.price]}]")
    has_sign = np.abs(scale.steps) @ (scale.sign != 0.0) > 0.0
    of_people = tastes.mean("respondent").values
    if attention.names:  # of those who attend
        heeding = attention.heeded(posterior["attends"].values).mean(axis=(0, 1, 2))
        of_people = np.divide(of_people, heeding, out=np.zeros_like(of_people), where=heeding > 0.0)
    means = np.where(has_sign, of_people, posterior["mean"].mean(over))
    return {
        "coef_": pandas.Series(means, names, name="coef"),
        "individual_": pandas.DataFrame(tastes.values, people, names),
    }


# Draws from the prior of the hierarchical logit, and choices simulated at each of them ------------


def sample_tastes(
    parts: FitArguments, data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """The population, everybody's tastes, and a choice in each task."""
    from scipy.stats import invwishart

    coding, scale, covariates, attention, prior = parts
    tasks = encode_choices(data, coding)
    matrix, starts, task_of_row = (
        tasks.matrix / coding.scale @ scale.steps,
        tasks.first_row[:-1],
        tasks.task_of_row,
    )
    person_of_row = data.respondent_of_task[task_of_row]
    people, p = len(data.respondents), matrix.shape[1]
    names = ("mean", "covariance", "beta", "log_likelihood", "rate", "effect", "attends")
    columns = 0 if attention.people is None else len(attention.people.names)
    drawn: dict[str, list[Any]] = {name: [] for name in names}
    chosen = []
    for rng in rngs:
        mean = prior.sds(scale.sign) * rng.standard_normal((covariates.matrix.shape[1], p))
        covariance = np.reshape(
            invwishart.rvs(prior.df, prior.df * prior.scale * np.eye(p), random_state=rng), (p, p)
        )
        beta = (
            covariates.matrix @ mean
            + rng.standard_normal((people, p)) @ np.linalg.cholesky(covariance).T
        )
        beta = scale.signed(beta)
        rate = rng.random(len(attention.names))
        effect = rng.standard_normal((columns, len(rate)))
        attends = rng.random((people, len(rate))) < attention.rates(rate, effect)
        heeded = np.where(attention.heeded(attends), beta, 0.0)
        utility = (matrix * heeded[person_of_row]).sum(axis=1)
        noisy = utility + rng.gumbel(size=utility.size)  # the largest is the choice of a logit
        choice = np.array([part.argmax() for part in np.split(noisy, starts[1:])])
        terms = np.log(choice_probabilities(utility, task_of_row)[starts + choice])
        values = (mean, covariance, beta, terms.sum(), rate, effect, attends)
        for name, value in zip(drawn, values, strict=True):
            drawn[name].append(value)
        chosen.append(choice)
    group = draws_group(
        **{name: np.asarray(values)[None] for name, values in drawn.items()},
        respondents=data.respondents,
        names=coding.names,
        scale=scale,
        covariates=covariates,
        attention=attention,
    )
    group = group.assign(reported(group["beta"].values, data, coding))
    fixed = {"observed_data": observed_group(data.chosen)}
    predictive = build_predictive_group(
        fixed["observed_data"], group, {"chosen": np.array(chosen)[None]}
    )
    return PriorSample(
        group, predictive, [(data.with_fields(chosen=choice),) for choice in chosen], fixed
    )
