"""Pooled leaderboards of parts, whose worths vary around common worths."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._data.pairs import PairedComparisons
from thali._inference.random_seeds import build_generator
from thali._labels import shorten
from thali._posterior.posterior_interval import compute_interval
from thali.errors import Argument, ArgumentError, DataError, Setting

from .leaderboard_posterior import BoardSettings, check_worth_chains
from .vote_counts import list_names_argument
from .worth_estimates import DRAWS, WorthEstimates

if TYPE_CHECKING:
    from thali._worths.posterior_density import GroupDensity


def check_pool(settings: BoardSettings, by: str | Sequence[str] | None) -> None:
    """Raise ArgumentError for settings that cannot be combined with pooling."""
    if not settings.pool:
        return
    part_columns = list_names_argument(by)
    if len(part_columns) != 1:
        columns_text = shorten(part_columns) or "none"
        raise ArgumentError(
            Argument("pool"),
            " requires a single column in ",
            Argument("by"),
            f"; got {columns_text}.",
        )
    for conflicting_argument, is_set in (
        (Argument("judges"), settings.judges),
        (Argument("period"), settings.period is not None),
        (Setting("people", settings.people), settings.has_individuals),
    ):
        if is_set:
            raise ArgumentError(
                Argument("pool"), " cannot be combined with ", conflicting_argument, "; remove one."
            )
    if not settings.has_prior:
        raise ArgumentError(
            Argument("pool"),
            " requires a prior on the differences between subsets, which this method lacks; set ",
            Setting("method", "laplace"),
            " or ",
            Setting("method", "mcmc"),
            ".",
        )


class PooledWorths(NamedTuple):
    """Worths of each part of the votes, shrunk to worths that parts share."""

    parts: dict[str, WorthEstimates]
    sentence: str  # describes differences between parts


def pool_worths(
    parts: Mapping[str, PairedComparisons],
    all_data: PairedComparisons,
    settings: BoardSettings,
    power: float,
    progressbar: bool,
) -> PooledWorths:
    """Return pooled estimates of each part's worths, from joint draws.

    `all_data` has the comparisons of all parts; the likelihood is raised to `power`.
    """
    from thali._worths.hamiltonian_chains import run_chains
    from thali._worths.laplace_approximation import Marginal
    from thali._worths.posterior_sample import sample_posterior

    density = _build_group_density(parts, all_data, power, settings.lapse)
    marginal = Marginal(density, settings.spread)
    chain_check = None
    if settings.method == "mcmc":
        chain_draws = run_chains(marginal, settings.random_seed, progressbar)
        points = chain_draws.points
        spreads = chain_draws.spreads
        common_quantities = [f"common_log_worth[{label}]" for label in all_data.labels]
        chain_check = check_worth_chains(
            chain_draws.reported,
            marginal,
            all_data.labels,
            list(parts),
            (),
            all_data.covariate_names,
            other_names=common_quantities,
            spreads=("spread", "", "part_sd", ""),
        )
    else:
        points, spreads = sample_posterior(marginal, build_generator(settings.random_seed), DRAWS)
    worths = density.worths_by_period(points)
    mode_worths = density.worths_by_period(marginal.mean_mode[:, None])[..., 0]
    nu = np.exp(points[density.nu]).ravel()
    beta = points[density.beta].T
    option_index = {label: k for k, label in enumerate(all_data.labels)}
    estimates_by_part = {}
    for part_worths, part_modes, (part_name, part_data) in zip(
        worths, mode_worths, parts.items(), strict=True
    ):
        option_indices = [option_index[label] for label in part_data.labels]
        log_worths = part_worths[option_indices].T
        log_worths -= log_worths.mean(axis=1, keepdims=True)
        part_nu = np.zeros(0)
        if part_data.n_ties:
            part_nu = nu
        estimates_by_part[part_name] = WorthEstimates(
            log_worths, part_modes[option_indices], part_nu, beta, of_chains=chain_check
        )
    low, high = compute_interval(spreads.drift, settings.ci, axis=None)
    sentence = (
        "Leaderboards of the parts are pooled: log worths vary between parts by a standard"
        f" deviation of {spreads.drift.mean():.2g} ({low:.2g} to {high:.2g})."
    )
    return PooledWorths(estimates_by_part, sentence)


def _build_group_density(
    parts: Mapping[str, PairedComparisons], all_data: PairedComparisons, power: float, lapse: float
) -> "GroupDensity":
    """Build the joint density of all parts' comparisons."""
    from thali._worths.posterior_density import DistinctComparisons, GroupDensity

    option_index = {label: k for k, label in enumerate(all_data.labels)}
    covariate_names = all_data.covariate_names
    row_blocks: list[tuple[np.ndarray, ...]] = []
    for part_number, (part_name, part_data) in enumerate(parts.items()):
        if part_data.covariate_names != covariate_names:
            raise DataError(
                f"Subset {part_name!r} has the covariates {shorten(part_data.covariate_names)}, but"
                f" all subsets together have {shorten(covariate_names)}; ",
                Argument("pool"),
                " requires numeric covariates, or categories that occur in every subset.",
            )
        cells = part_data.cells
        option_indices = np.array([option_index[label] for label in part_data.labels])
        weighted_counts = (power * column for column in (cells.wins, cells.losses, cells.tied))
        row_blocks.append(
            (
                option_indices[cells.first],
                option_indices[cells.second],
                np.full(len(cells.x), part_number),
                cells.x,
                *weighted_counts,
            )
        )
    first_options, second_options, part_indices, x, wins, losses, ties = (
        np.concatenate(column) for column in zip(*row_blocks, strict=True)
    )
    comparisons = DistinctComparisons(
        first_options,
        second_options,
        part_indices,
        0 * part_indices,
        x,
        wins,
        losses,
        ties,
        lapse,
        bool(all_data.n_ties),
    )
    return GroupDensity(comparisons, all_data.n_options, len(parts))
