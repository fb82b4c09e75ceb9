"""Table of a leaderboard from draws of worths: ranks, ratings and tiers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._data.number_checks import convert_whole_counts
from thali._inference.numerics.ranks import sort_descending
from thali._inference.numerics.weight_shares import softmax
from thali._labels import choose_number, format_plural, list_names
from thali._number_format import format_probability
from thali._posterior.effects_with_certain_sign import CERTAIN
from thali._posterior.posterior_interval import (
    compute_discrete_interval,
    compute_interval,
    describe_interval,
    interval_tails,
)

from .elo_scale import SCALE, WorthScale
from .leaderboard_result import MEAN_SCORE, Leaderboard
from .vote_counts import Judgements
from .worth_estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

# numbers from which intervals of differences are computed, and the fewest draws of each
_MAX_DIFFERENCES = 20_000_000
_MIN_DRAWS = 400

# Tiers of options that are not separated ----------------------------------------------------------


def order_probabilities(rank_draws: np.ndarray) -> np.ndarray:
    """Return the probability that row ranks above column, from ranks (draws, options)."""
    n_draws, n = rank_draws.shape
    rank_draws = np.ascontiguousarray(rank_draws.T, dtype=np.int32)
    p_above = np.zeros((n, n))
    for i in range(n - 1):
        p_above[i, i + 1 :] = (
            np.count_nonzero(rank_draws[i + 1 :] > rank_draws[i], axis=1) / n_draws
        )
    return p_above + np.tril(1.0 - p_above.T, -1)


def find_tiers(order: np.ndarray) -> list[list[int]]:
    """Return tiers, best first: options share one if no order is certain.

    Examples
    --------
    >>> find_tiers(np.array([[0, 0.9, 0.99], [0.1, 0, 0.9], [0.01, 0.1, 0]]))
    [[0, 1], [1, 2]]
    """
    n = len(order)
    is_alike = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(is_alike, True)
    covered_bits = [0] * n  # per option a bit for each option with which it shares a tier
    alike_bits = [
        int.from_bytes(row.tobytes(), "little")
        for row in np.packbits(is_alike, axis=1, bitorder="little")
    ]
    tiers = []
    for i in range(n):
        for j in (np.flatnonzero(is_alike[i, i:]) + i).tolist():
            if covered_bits[i] >> j & 1:
                continue
            members = sorted({i, j})
            common_bits = alike_bits[i] & alike_bits[j]
            candidates = np.flatnonzero(is_alike[i] & is_alike[j])
            for candidate in candidates[
                np.abs(2 * candidates - i - j).argsort(kind="stable")
            ].tolist():
                # the nearest option to the two that is alike to all members
                if common_bits >> candidate & 1 and candidate not in (i, j):
                    members.append(candidate)
                    common_bits &= alike_bits[candidate]
            tier_bits = sum(1 << member for member in members)
            for member in members:
                covered_bits[member] |= tier_bits
            tiers.append(sorted(members))
    return sorted(tiers)


def number_tiers(tiers: list[list[int]], n: int) -> list[str]:
    """Return each option's tier numbers as text, such as "2-4, 7".

    Examples
    --------
    >>> number_tiers([[0, 1], [1, 2]], 3)
    ['1', '1-2', '2']
    """
    tier_number = np.repeat(np.arange(1, len(tiers) + 1), [len(members) for members in tiers])
    option_index = np.concatenate(tiers)
    numbers_by_option = np.split(
        tier_number[np.argsort(option_index, kind="stable")],
        np.cumsum(np.bincount(option_index, minlength=n))[:-1],
    )
    return [", ".join(_format_runs(numbers)) for numbers in numbers_by_option]


def _format_runs(numbers: np.ndarray) -> list[str]:
    """Return numbers as text, with runs of consecutive ones as ranges."""
    run_starts = np.flatnonzero(np.diff(numbers, prepend=-1) > 1)
    run_ends = numbers[np.append(run_starts[1:], len(numbers)) - 1].tolist()
    run_texts = [f"{a}-{b}" for a, b in zip(numbers[run_starts].tolist(), run_ends, strict=True)]
    for run_index in np.flatnonzero(numbers[run_starts] == run_ends):
        run_texts[run_index] = str(run_ends[run_index])
    return run_texts


# The table ----------------------------------------------------------------------------------------


def build_board(
    data: Judgements, estimates: WorthEstimates, scale: WorthScale, ci: float
) -> Leaderboard:
    """Build the `Leaderboard` from draws or estimates of worths."""
    import pandas as pd

    log_worths, mean_log_worths = (
        scale.subtract_anchor(worth_rows, data.labels)
        for worth_rows in (estimates.log_worths, estimates.monotone_means)
    )
    order_indices = sort_descending(estimates.modes)
    log_worths = log_worths[:, order_indices]
    mean_log_worths = mean_log_worths[order_indices]
    rank_draws = np.argsort(np.argsort(-log_worths, axis=1, kind="stable"), axis=1) + 1
    p_above = order_probabilities(rank_draws)
    tiers = find_tiers(p_above)
    worths = softmax(log_worths)
    outcome_counts = _count_outcomes(data)
    option_names = np.array(data.labels, dtype=object)[order_indices]
    labels = pd.Index(option_names, name="option")
    rank_low, rank_high = compute_discrete_interval(rank_draws, ci).astype(int)
    rating_low, rating_high = scale.compute_ratings(compute_interval(log_worths, ci))
    board_columns: dict[str, Any] = {
        "rank": np.arange(1, len(p_above) + 1),
        "rank_low": rank_low,
        "rank_high": rank_high,
        "p_1": (rank_draws == 1).mean(axis=0),
        "tier": number_tiers(tiers, len(p_above)),
        "rating": scale.compute_ratings(mean_log_worths),
        "rating_low": rating_low,
        "rating_high": rating_high,
    }
    if estimates.without is not None:
        board_columns |= _rate_without_covariates(estimates.without, scale, data, order_indices)
    if estimates.estimate is None:
        board_columns["worth"] = worths.mean(axis=0)
    else:
        board_columns["worth"] = softmax(mean_log_worths)
    board_columns["worth_low"], board_columns["worth_high"] = compute_interval(worths, ci)
    if data.scores is not None:
        summary = _summarise_scores(data.scores, ci)
        for name, values in zip(MEAN_SCORE, summary, strict=True):
            board_columns[name] = np.asarray(values)[order_indices]
    for name, counts in outcome_counts.items():
        board_columns[name] = convert_whole_counts(counts[order_indices])
    judged_worths = estimates.judged
    anchor_text = "."
    if judged_worths.in_time is None:
        anchor_text = f"; {scale.sentence}."
    note = _describe_table(data, outcome_counts, estimates.mean_nu, anchor_text, ci)
    return Leaderboard(
        title=f"Leaderboard: {data}",
        table=pd.DataFrame(board_columns, index=labels),
        note=f"{note} {judged_worths.note}".rstrip(),
        order=pd.DataFrame(p_above, labels, labels),
        groups=tuple(tuple(option_names[members].tolist()) for members in tiers),
        tie=estimates.mean_nu,
        data=data,
        effects=_tabulate_effects(data, estimates, ci),
        people=estimates.people,
        of_judges=judged_worths.judges,
        in_time=judged_worths.in_time,
        target_sentence=judged_worths.target_sentence,
        of_chains=estimates.of_chains,
        ci=ci,
    )


def tabulate_differences(board: Leaderboard, log_worths: np.ndarray) -> "pandas.DataFrame":
    """Return the difference of log worths of each pair of options, with its interval.

    `log_worths`, (draws, options), are in the order of the data.
    """
    import pandas as pd

    labels = board.table.index
    n = len(labels)
    above, below = np.triu_indices(n, 1)
    n_draws = int(np.clip(_MAX_DIFFERENCES // len(above), _MIN_DRAWS, len(log_worths)))
    draws = log_worths[np.arange(n_draws) * len(log_worths) // n_draws]
    draws = draws.T[[board.data.labels.index(label) for label in labels]]
    limits = [compute_interval(draws[i] - draws[i + 1 :], board.ci, axis=1) for i in range(n - 1)]
    log_worths_shown = board.table["rating"].to_numpy() * np.log(10.0) / SCALE
    low, high = np.concatenate(limits, axis=1)
    return pd.DataFrame(
        {
            "probability": board.order.to_numpy()[above, below],
            "difference": log_worths_shown[above] - log_worths_shown[below],
            "low": low,
            "high": high,
        },
        index=pd.MultiIndex.from_arrays([labels[above], labels[below]], names=["option", "other"]),
    )


def _summarise_scores(scores: np.ndarray, ci: float) -> list[Any]:
    """Return the mean score of each option and its interval for new items, each (options,)."""
    import pandas as pd
    from scipy.special import betaincinv, stdtrit

    # Student's t over items; for scores of 0 and 1 a proportion with Jeffreys' prior
    table = pd.DataFrame(scores)
    n = table.count()
    means = table.mean()
    errors = table.sem()
    is_mark = table.isin([0.0, 1.0, np.nan]).all()
    return [means] + [
        np.where(
            is_mark,
            betaincinv(n * means + 0.5, n * (1.0 - means) + 0.5, tail),
            means + stdtrit(n - 1, tail) * errors,
        )
        for tail in interval_tails(ci)
    ]


def _rate_without_covariates(
    estimates: WorthEstimates, scale: WorthScale, data: Judgements, order_indices: np.ndarray
) -> dict[str, np.ndarray]:
    """Return ranks and ratings without control for covariates, by column."""
    ranks = np.argsort(sort_descending(estimates.modes)) + 1
    log_worths = scale.subtract_anchor(estimates.monotone_means, data.labels)
    return {
        "rank_without": ranks[order_indices],
        "rating_without": scale.compute_ratings(log_worths[order_indices]),
    }


def _tabulate_effects(
    data: Judgements, estimates: WorthEstimates, ci: float
) -> "pandas.DataFrame | None":
    """Return a table of covariate effects; None without covariates."""
    import pandas as pd

    if data.covariates is None:
        return None
    low, high = compute_interval(estimates.beta, ci)
    covariate_index = pd.Index(data.covariates.names, name="covariate")
    return pd.DataFrame(
        {"effect": estimates.effects, "low": low, "high": high}, index=covariate_index
    )


def _count_outcomes(data: Judgements) -> dict[str, np.ndarray]:
    """Return how often each option was compared, chosen, rejected or tied."""
    # For best and worst: best, worst, and neither.
    n = data.n_options
    if isinstance(data, Choices):
        set_indices, member_index = list_row_members(data)
        n_chosen = np.bincount(
            data.members[member_index],
            data.times[set_indices] * data.are_chosen(set_indices, member_index),
            n,
        )
        n_not_chosen = (
            np.bincount(data.members[member_index], data.times[set_indices], n) - n_chosen
        )
        n_worst = n_not_chosen
        if data.worst is not None:
            n_worst = np.bincount(data.members[data.worst], data.times, n)
        n_ties = n_not_chosen - n_worst
    else:
        n_chosen, n_worst, n_ties = (
            np.bincount(data.first, chosen_counts, n) + np.bincount(data.second, rejected_counts, n)
            for chosen_counts, rejected_counts in (
                (data.wins, data.losses),
                (data.losses, data.wins),
                (data.tied, data.tied),
            )
        )
    return {
        "comparisons": n_chosen + n_worst + n_ties,
        "wins": n_chosen,
        "losses": n_worst,
        "ties": n_ties,
    }


def _describe_table(
    data: Judgements,
    outcome_counts: dict[str, np.ndarray],
    nu: float,
    anchor_text: str,
    ci: float,
) -> str:
    """Return sentences that explain the table's columns and prior-driven options."""
    sentences = [
        f"Intervals are central {describe_interval(ci)}s. Two options share a tier if neither"
        " ranks"
        f" higher than the other with probability ≥ {CERTAIN:g}. A difference of {SCALE:g} rating"
        f" points means odds of 10 to 1{anchor_text}"
    ]
    if not np.isnan(nu):
        sentences.append(
            f"Two equal options tie with probability {format_probability(nu / (2 + nu))}."
        )
    option_names = np.array(data.labels, dtype=object)
    is_never_beaten = outcome_counts["losses"] + outcome_counts["ties"] == 0
    is_never_chosen = outcome_counts["wins"] + outcome_counts["ties"] == 0
    for participle, is_extreme in (
        ("beaten", is_never_beaten & ~is_never_chosen),
        ("chosen", is_never_chosen & ~is_never_beaten),
    ):
        if is_extreme.any():
            auxiliary = choose_number(is_extreme.sum(), "was", "were")
            sentences.append(
                f"{list_names(option_names[is_extreme].tolist())} {auxiliary} never {participle},"
                " so the size of"
                " the gap depends on the prior."
            )
    if len(data.components()) > 1:
        sentences.append(
            f"The options form {format_plural(len(data.components()), 'group')} that were never"
            " compared with each other."
        )
    return " ".join(sentences)
