"""Joins a prior, the likelihoods of all groups and a sampler of groups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thali.data.groups import Groups
from thali.data.pairs import PairedComparisons
from thali.data.similarities import Similarities
from thali.errors import Argument, ArgumentError, DataError, InPython, Message, Setting, Value

from ...group_stacked import make_caches, stacked
from ...group_state import GroupModel
from ...samplers.chains import Task
from ...samplers.task import LEVELS, build_task
from ...state import FIXED_UNIQUE, NO_UNIQUE
from .chain import GroupTask

FREE, COMMON, SIMILAR = "free", "common", "similar"
WEIGHTS = (FREE, COMMON, SIMILAR)
MOST_TEMPERED = 10  # groups whose chains are tempered by default: of more, the time for it is better spent on draws


def check_weights(weights: Any, is_grouped: bool) -> None:
    """Raise for weights that mean nothing, or nothing for data of one group."""
    if weights not in (None, *WEIGHTS):
        one = Value("weights", FREE), ", ", Value("weights", COMMON), " or ", Value("weights", SIMILAR)
        raise ArgumentError(Argument("weights"), " must be ", *one, f"; got {weights!r}.")
    if weights is not None and not is_grouped:
        raise ArgumentError(
            Argument("weights"),
            " is for several groups of people, and these data are of one; ",
            InPython(
                "fit a mapping from the name of each group to its data, such as data.by_group(column)",
                Message("name the column of groups by ", Argument("group")),
            ),
            ", or leave it out.",
        )


def groups_of(data: Mapping[Any, Any], weights: Any) -> Any:
    """A mapping as `Groups`, or as pooled data where all groups have the same weights."""
    groups = data if isinstance(data, Groups) else Groups(data)
    if weights == COMMON and not groups.are_choices:
        one = Setting("weights", COMMON), " is for choices; of similarities fit the means of all groups"
        raise ArgumentError(*one, " (Similarities.from_subjects).")
    return groups.pooled() if weights == COMMON else groups


def build_group_task(groups: Groups, draws: int, tune: int, thin: Any, weights: Any, **parts: Any) -> GroupTask:
    """Check everything and put it into the form that the chains read."""
    if parts["sampler"] == "paper":
        raise ArgumentError(
            Setting("sampler", "paper"), " knows no groups; set ", Setting("sampler", None), ", or leave it out."
        )
    for name, data in groups.items():
        if data.covariate_names:
            raise ArgumentError(
                Argument("covariates"),
                f" of comparisons are for one group of people, and group {name!r} has them; set ",
                Setting("covariates", []),
                " to leave them out.",
            )
        try:
            parts["likelihood"].check(parts["prior"], data)
        except DataError as error:
            raise DataError(f"Group {name!r}: ", error) from None
    if parts["tempering"] in (None, "auto") and parts["prior"].learns_alpha and 1 < len(groups) <= MOST_TEMPERED:
        parts["tempering"] = LEVELS
    task = build_task(data=groups.data[0], draws=draws, tune=tune, thin=thin, **parts)
    prior: Any = task.model.weights
    if prior.shape < 1.0 and isinstance(groups.data[0], PairedComparisons):
        raise ArgumentError(
            Argument("weight_prior"), f" of groups must have a shape of 1 or more; got {prior.shape:g}."
        )
    learned = {parts["likelihood"].fixed_sigma(data) is None for data in groups.data if isinstance(data, Similarities)}
    if len(learned) > 1:
        raise DataError("Sigma is known of some groups and not of others; set ", Argument("sigma"), " for all of them.")
    each = [parts["likelihood"].compiled(data, prior) for data in groups.data]
    return joined(task, each, parts["likelihood"], weights)


def joined(task: Task, each: Sequence[tuple[Any, Callable[..., Any]]], likelihood: Any, weights: Any) -> GroupTask:
    """The task of one group for all groups; `each`: their compiled likelihoods and what makes their caches."""
    prior: Any = task.model.weights
    model = GroupModel(
        prior=task.model.prior,
        likelihood=stacked([compiled for compiled, _ in each]),
        shape=prior.shape,
        rate=prior.rate,
        unique=FIXED_UNIQUE if likelihood.unique else NO_UNIQUE,
        learn_alpha=task.model.learn_alpha,
        similar=weights == SIMILAR,
        kappa=float("nan"),
    )
    from ...samplers import groups as samplers

    return GroupTask(
        samplers.infinite_of_groups if task.prior.is_infinite else samplers.fixed_of_groups,
        model,
        task.prior,
        make_caches(each),
        task.n_options,
        task.alpha,
        task.draws,
        task.tune,
        task.thin,
        task.temperatures,
        task.lengthens,
        task.parameters,
        may_temper=task.may_temper,
    )
