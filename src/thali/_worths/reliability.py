"""Reliability of worths, as comparative judgement reports it: squared correlation with truth."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.finding import Finding
from thali._number_format import format_probability
from thali._posterior.posterior_interval import compute_interval, describe_interval

from .laplace_approximation import find_mode
from .posterior_density import Density, Spreads

if TYPE_CHECKING:
    import pandas


_MEASURES = {
    "separation": "separation reliability {r:.2f} (from posterior variances)",
    "split_half_judges": "split-half reliability {r:.2f} (judges split in halves, Spearman-Brown"
    " corrected)",
    "split_half_items": "split-half reliability {r:.2f} (items split in halves, Spearman-Brown"
    " corrected)",
    "split_half_comparisons": "split-half reliability {r:.2f} (comparisons split in halves,"
    " Spearman-Brown corrected)",
}
_N_SPLITS = 20
MAX_ROWS, _MAX_COORDINATES = 100_000, 500  # with more, splits take longer than the fit


def compute_squared_correlations(log_worths: np.ndarray) -> np.ndarray:
    """Return squared correlations of mean log worths with each draw, (n_draws,).

    `log_worths` is (draws, options).
    """
    centred_worths = log_worths - log_worths.mean(axis=1, keepdims=True)
    mean_worths = centred_worths.mean(axis=0)
    squared_scales = (centred_worths**2).sum(axis=1) * (mean_worths @ mean_worths)
    return (centred_worths @ mean_worths) ** 2 / np.maximum(squared_scales, 1e-300)


def separation_reliability(log_worths: np.ndarray) -> float:
    r"""Return the scale separation reliability (SSR) of posterior means.

    With posterior means m, which are shrunk, and posterior variances v it is

    .. math:: \operatorname{Var}(m) / (\operatorname{Var}(m) + \bar v)
    """
    centred_worths = log_worths - log_worths.mean(axis=1, keepdims=True)
    variance_of_means = centred_worths.mean(axis=0).var()
    mean_variance = centred_worths.var(axis=0).mean()
    return float(variance_of_means / max(variance_of_means + mean_variance, 1e-300))


def estimate_split_half(
    density: Density,
    spreads: Spreads,
    start: np.ndarray,
    rng: np.random.Generator,
    judge_of_row: np.ndarray | None = None,
) -> float:
    """Return split-half reliability: correlation of two random halves, Spearman-Brown.

    It is the median of 20 splits, at fixed standard deviations; a correlation below 0 is reported
    unchanged. `judge_of_row`: the judge of each row, to split by; None: each answer falls in
    either half. `start`: first point of searches for modes.
    """
    reliabilities = []
    for _ in range(_N_SPLITS):
        if judge_of_row is None:
            halves = density.split_answers(rng)
        else:
            n_judges = int(judge_of_row.max()) + 1
            is_first = (rng.permutation(n_judges) < n_judges // 2)[judge_of_row]
            halves = density.raise_to_power(is_first), density.raise_to_power(~is_first)
        first_worths, second_worths = (
            density.centre_worths(find_mode(half, spreads, start).point[density.worths])
            for half in halves
        )
        first_worths = first_worths[-density.n_options :]
        second_worths = second_worths[-density.n_options :]
        correlation = float(first_worths @ second_worths) / max(
            float(np.sqrt((first_worths @ first_worths) * (second_worths @ second_worths))), 1e-300
        )
        if correlation > 0.0:
            correlation = 2.0 * correlation / (1.0 + correlation)
        reliabilities.append(correlation)
    return float(np.median(reliabilities))


def estimate_split_halves(
    source: Any,
    density: Density,
    judge_of_row: np.ndarray | None,
    random_seed: RandomSeed,
    judge_word: str = "judge",
) -> dict[str, float]:
    """Return split-half reliabilities by name; {} if there are too many rows.

    `source.marginal`: the lattice, which a model builds only here.
    """
    if density.n_rows > MAX_ROWS or density.size > _MAX_COORDINATES:
        return {}
    (rng,) = spawn_generators(random_seed, 1)
    spreads, mode = source.marginal.best
    split_unit = f"{judge_word}s"
    if judge_of_row is None:
        split_unit = "comparisons"
    return {
        f"split_half_{split_unit}": estimate_split_half(
            density, spreads, mode.point, rng, judge_of_row
        )
    }


def tabulate_reliability(
    log_worths: np.ndarray, split_half_reliabilities: dict[str, float], ci: float
) -> "pandas.DataFrame":
    """Return a table of reliability measures with intervals, one row each.

    `log_worths` is (draws, options); `split_half_reliabilities` come from `estimate_split_halves`.
    """
    import pandas as pd

    squared_correlations = compute_squared_correlations(log_worths)
    measure_rows = {
        "r_squared": (squared_correlations.mean(), *compute_interval(squared_correlations, ci))
    }
    for measure_name, estimate in (
        {"separation": separation_reliability(log_worths)} | split_half_reliabilities
    ).items():
        measure_rows[measure_name] = estimate, np.nan, np.nan
    table = pd.DataFrame.from_dict(
        measure_rows, orient="index", columns=["reliability", "low", "high"]
    )
    table.attrs["interval"] = ci
    return table.rename_axis("measure")


def describe_reliability(table: "pandas.DataFrame", estimates_noun: str) -> Finding:
    """Return the finding about a reliability table; `estimates_noun` is their noun."""
    r_squared, low, high = map(format_probability, table.loc["r_squared"].tolist())
    other_measures = [
        template.format(r=table.loc[key, "reliability"])
        for key, template in _MEASURES.items()
        if key in table.index
    ]
    return Finding(
        f"Reliability, the squared correlation of {estimates_noun} with true worths: {r_squared}"
        f" ({describe_interval(table.attrs['interval'])} {low} to {high}).",
        title="Reliability",
        table=table,
        notes=(f"For comparison: {'; '.join(other_measures)}.",),
    )
