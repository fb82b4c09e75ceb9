"""Boards of parts that borrow strength from each other: their worths vary about common ones."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.pairs import PairedComparisons
from thali._inference.seeds import spawn_generators
from thali._labels import shorten
from thali._posterior.interval import interval_tails
from thali.errors import Argument, ArgumentError, DataError, Setting

from .counted import listed
from .estimates import DRAWS, WorthEstimates
from .worths import WorthsRequest, agreement_of

if TYPE_CHECKING:
    from thali._worths.group_density import GroupDensity


def check_pool(pool: Any, by: Any, asked: WorthsRequest) -> None:
    """Refuse what pooling says nothing of."""
    if not pool:
        return
    columns = listed(by)
    if len(columns) != 1:
        got = "none" if not columns else shorten(columns)
        raise ArgumentError(
            Argument("pool"),
            " requires subsets defined by a single column of ",
            Argument("by"),
            f"; got {got}.",
        )
    if not asked.is_plain:
        besides = Argument("judges" if asked.judges else "period")
        raise ArgumentError(Argument("pool"), " cannot be combined with ", besides, "; remove one.")
    if asked.has_individuals:
        besides = Setting("people", asked.people)
        raise ArgumentError(Argument("pool"), " cannot be combined with ", besides, "; remove one.")
    if not asked.has_prior:
        raise ArgumentError(
            Argument("pool"),
            " requires a prior on the differences between subsets, which this method lacks; set ",
            Setting("method", "laplace"),
            " or ",
            Setting("method", "mcmc"),
            ".",
        )


class Pooled(NamedTuple):
    """What is known of the worths of each part."""

    parts: dict[str, WorthEstimates]
    sentence: str  # how much parts differ


def pooled(
    parts: Mapping[str, PairedComparisons],
    whole: PairedComparisons,
    asked: WorthsRequest,
    power: float,
    progressbar: bool,
) -> Pooled:
    """The draws of all parts; `whole` holds the comparisons of all, the likelihood is raised to a
    power."""
    from thali._worths.chains import run_chains
    from thali._worths.laplace import Marginal
    from thali._worths.posterior_sample import sample_posterior

    density = _density(parts, whole, power, asked.lapse)
    marginal, chains = Marginal(density, asked.spread), None
    if asked.method == "mcmc":
        drawn = run_chains(marginal, asked.random_seed, progressbar)
        points, spreads = drawn.points, drawn.spreads
        names = whole.labels, list(parts), (), whole.covariate_names
        common = [f"common_log_worth[{label}]" for label in whole.labels]
        chains = agreement_of(
            drawn.reported, marginal, *names, others=common, spreads=("spread", "", "part_sd", "")
        )
    else:
        (rng,) = spawn_generators(asked.random_seed, 1)
        points, spreads = sample_posterior(marginal, rng, DRAWS)
    worths, modes = (
        density.worths_by_period(points),
        density.worths_by_period(marginal.mean_mode[:, None])[..., 0],
    )
    nu, beta = np.exp(points[density.nu]).ravel(), points[density.beta].T
    place, found = {label: k for k, label in enumerate(whole.labels)}, {}
    for own, highest, (name, part) in zip(worths, modes, parts.items(), strict=True):
        options = [place[label] for label in part.labels]
        log_worths = own[options].T
        has_ties = nu if part.n_ties else np.zeros(0)
        log_worths -= log_worths.mean(axis=1, keepdims=True)
        found[name] = WorthEstimates(log_worths, highest[options], has_ties, beta, of_chains=chains)
    low, high = np.quantile(spreads.drift, interval_tails(asked.ci))
    sentence = (
        "Leaderboards of the parts are pooled: log worths vary between parts by a standard"
        f" deviation of {spreads.drift.mean():.2g} ({low:.2g} to {high:.2g})."
    )
    return Pooled(found, sentence)


def _density(
    parts: Mapping[str, PairedComparisons], whole: PairedComparisons, power: float, lapse: float
) -> "GroupDensity":
    """The density that the comparisons of all parts leave."""
    from thali._worths.density import DistinctComparisons
    from thali._worths.group_density import GroupDensity

    place, names = {label: k for k, label in enumerate(whole.labels)}, whole.covariate_names
    rows: list[tuple[np.ndarray, ...]] = []
    for number, (value, part) in enumerate(parts.items()):
        if part.covariate_names != names:
            raise DataError(
                f"The covariates of {value!r} are {shorten(part.covariate_names)}, but all subsets"
                f" together have {shorten(names)}; ",
                Argument("pool"),
                " requires the same covariates, so use numbers, or categories that occur in every"
                " subset.",
            )
        cells, own = part.cells, np.array([place[label] for label in part.labels])
        counts = (power * each for each in (cells.wins, cells.losses, cells.tied))
        rows.append(
            (own[cells.first], own[cells.second], np.full(len(cells.x), number), cells.x, *counts)
        )
    first, second, part_of, x, wins, losses, tied = (
        np.concatenate(each) for each in zip(*rows, strict=True)
    )
    made = DistinctComparisons(
        first, second, part_of, 0 * part_of, x, wins, losses, tied, lapse, bool(whole.n_ties)
    )
    return GroupDensity(made, whole.n_options, len(parts))
