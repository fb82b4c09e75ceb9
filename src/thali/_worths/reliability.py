"""Reliability of worths, as comparative judgement reports it: squared correlation with truth."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.random_seeds import spawn_generators
from thali._model.finding import Finding
from thali._number_format import format_probability
from thali._posterior.posterior_interval import compute_interval, describe_interval

from .density import Density, Spreads
from .laplace import find_mode

if TYPE_CHECKING:
    import pandas

_MEASURES = {
    "separation": "separation reliability (from posterior variances)",
    "split_half_judges": "split halves by judges (Spearman-Brown)",
    "split_half_comparisons": "split halves by comparisons (Spearman-Brown)",
}
_N_SPLITS = 20
_MAX_ROWS, _MAX_COORDINATES = 100_000, 500  # with more, splits take longer than the fit


def compute_squared_correlations(log_worths: np.ndarray) -> np.ndarray:
    """Return squared correlations of mean log worths with each draw, (n_draws,).

    `log_worths` is (draws, options).
    """
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    scale = (centred**2).sum(axis=1) * (means @ means)
    return (centred @ means) ** 2 / np.maximum(scale, 1e-300)


def separation_reliability(log_worths: np.ndarray) -> float:
    r"""Return the scale separation reliability (SSR) of posterior means.

    With posterior means m, which are shrunk, and posterior variances v it is

    .. math:: \operatorname{Var}(m) / (\operatorname{Var}(m) + \bar v)
    """
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    between, within = centred.mean(axis=0).var(), centred.var(axis=0).mean()
    return float(between / max(between + within, 1e-300))


def estimate_split_half(
    density: Density,
    spreads: Spreads,
    start: np.ndarray,
    rng: np.random.Generator,
    judge: np.ndarray | None = None,
) -> float:
    """Return split-half reliability: correlation of two random halves, Spearman-Brown.

    It is the median of 20 splits, at fixed standard deviations; a correlation below 0 is reported
    unchanged. `judge`: the judge of each row, to split by; None: each answer falls in
    either half. `start`: first point of searches for modes.
    """
    reliabilities = []
    for _ in range(_N_SPLITS):
        if judge is None:
            halves = density.split_answers(rng)
        else:
            n_judges = int(judge.max()) + 1
            is_first = (rng.permutation(n_judges) < n_judges // 2)[judge]
            halves = density.raise_to_power(is_first), density.raise_to_power(~is_first)
        x, y = (
            density.centre_worths(find_mode(half, spreads, start).point[density.worths])
            for half in halves
        )
        x, y = x[-density.n_options :], y[-density.n_options :]
        r = float(x @ y) / max(float(np.sqrt((x @ x) * (y @ y))), 1e-300)
        if r > 0.0:
            r = 2.0 * r / (1.0 + r)
        reliabilities.append(r)
    return float(np.median(reliabilities))


def estimate_split_halves(
    source: Any, density: Density, judge: np.ndarray | None, random_seed: Any
) -> dict[str, float]:
    """Return split-half reliabilities by name; {} if there are too many rows.

    `source.marginal`: the lattice, which a model builds only here.
    """
    if density.n_rows > _MAX_ROWS or density.size > _MAX_COORDINATES:
        return {}
    (rng,) = spawn_generators(random_seed, 1)
    spreads, mode = source.marginal.best
    unit = "judges"
    if judge is None:
        unit = "comparisons"
    return {f"split_half_{unit}": estimate_split_half(density, spreads, mode.point, rng, judge)}


def tabulate_reliability(
    log_worths: np.ndarray, halves: dict[str, float], ci: float
) -> "pandas.DataFrame":
    """Return a table of reliability measures with intervals, one row each.

    `log_worths` is (draws, options); `halves` come from `estimate_split_halves`.
    """
    import pandas as pd

    squared = compute_squared_correlations(log_worths)
    rows = {"r_squared": (squared.mean(), *compute_interval(squared, ci))}
    for name, estimate in ({"separation": separation_reliability(log_worths)} | halves).items():
        rows[name] = estimate, np.nan, np.nan
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["reliability", "low", "high"])
    table.attrs["interval"] = ci
    return table.rename_axis("measure")


def describe_reliability(table: "pandas.DataFrame", estimates: str) -> Finding:
    """Return the finding about a reliability table; `estimates` is their noun."""
    r_squared, low, high = map(format_probability, table.loc["r_squared"].tolist())
    sentence = f"Reliability, the squared correlation of {estimates} with true worths: {r_squared} "
    sentence += f"({describe_interval(table.attrs['interval'])} {low} to {high})."
    comparisons = [
        f"{name} {table.loc[key, 'reliability']:.2f}"
        for key, name in _MEASURES.items()
        if key in table.index
    ]
    return Finding(
        sentence,
        title="Reliability",
        table=table,
        notes=(f"For comparison: {', '.join(comparisons)}.",),
    )
