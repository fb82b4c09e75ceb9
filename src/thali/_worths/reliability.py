"""Reliability, as comparative judgement reports it: how well estimates agree with the worths
themselves."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import probability
from thali._inference.seeds import spawn_generators
from thali._model.finding import Finding
from thali._posterior.interval import interval_name, tails_of

from .density import Density, Spreads
from .laplace import highest

if TYPE_CHECKING:
    import pandas

_MEASURES = {
    "separation": "separation reliability (from posterior variances)",
    "split_half_judges": "split halves by judges (Spearman-Brown)",
    "split_half_comparisons": "split halves by comparisons (Spearman-Brown)",
}
_SPLITS = 20
_MOST_ROWS, _MOST_COORDINATES = 100_000, 500  # above, splits take longer than the fit


def squared_correlations(log_worths: np.ndarray) -> np.ndarray:
    """Return the squared correlation of posterior means with each draw, from draws (draws, options)
    of log worths."""
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    scale = (centred**2).sum(axis=1) * (means @ means)
    return (centred @ means) ** 2 / np.maximum(scale, 1e-300)


def separation(log_worths: np.ndarray) -> float:
    r"""Return the scale separation reliability of posterior means m with posterior variances v,
    which are shrunk:

    .. math:: \operatorname{Var}(m) / (\operatorname{Var}(m) + \bar v)
    """
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    between, within = centred.mean(axis=0).var(), centred.var(axis=0).mean()
    return float(between / max(between + within, 1e-300))


def split_half(
    density: Density,
    spreads: Spreads,
    start: np.ndarray,
    rng: np.random.Generator,
    judge: np.ndarray | None = None,
) -> float:
    """Return the reliability of estimates by the correlation of those from random halves (Spearman
    and Brown).

    It is the median of 20 splits, at known standard deviations; a correlation below 0 is reported
    unchanged. `judge`: of each row, by whom answers are split; None: each answer falls in either
    half. `start`: a point from which modes are found.
    """
    found = []
    for _ in range(_SPLITS):
        if judge is None:
            halves = density.split_answers(rng)
        else:
            count = int(judge.max()) + 1
            is_first = (rng.permutation(count) < count // 2)[judge]
            halves = density.raise_to_power(is_first), density.raise_to_power(~is_first)
        one, other = (
            density.centre_worths(highest(each, spreads, start).point[density.worths])
            for each in halves
        )
        one, other = one[-density.n_options :], other[-density.n_options :]
        r = float(one @ other) / max(float(np.sqrt((one @ one) * (other @ other))), 1e-300)
        found.append(2.0 * r / (1.0 + r) if r > 0.0 else r)
    return float(np.median(found))


def split_halves(
    source: Any, density: Density, judge: np.ndarray | None, random_seed: Any
) -> dict[str, float]:
    """Return the reliability by random halves under the name of what is split; nothing where there
    are many rows.

    `source.marginal`: the lattice, which a model makes here alone.
    """
    if density.n_rows > _MOST_ROWS or density.size > _MOST_COORDINATES:
        return {}
    (rng,) = spawn_generators(random_seed, 1)
    spreads, mode = source.marginal.best
    name = "split_half_comparisons" if judge is None else "split_half_judges"
    return {name: split_half(density, spreads, mode.point, rng, judge)}


def reliability_table(
    log_worths: np.ndarray, halves: dict[str, float], ci: float
) -> "pandas.DataFrame":
    """Return a row a measure, from draws (draws, options) of log worths and what `split_halves`
    returns."""
    import pandas as pd

    squared = squared_correlations(log_worths)
    found = {"r_squared": (squared.mean(), *np.quantile(squared, tails_of(ci)))}
    for name, value in ({"separation": separation(log_worths)} | halves).items():
        found[name] = value, np.nan, np.nan
    table = pd.DataFrame.from_dict(found, orient="index", columns=["reliability", "low", "high"])
    table.attrs["interval"] = ci
    return table.rename_axis("measure")


def reliability_finding(table: "pandas.DataFrame", estimates: str) -> Finding:
    """Return what such a table says, of estimates by their name."""
    value, low, high = (probability(each) for each in table.loc["r_squared"].tolist())
    sentence = f"Reliability, the squared correlation of {estimates} with true worths: {value} "
    sentence += f"({interval_name(table.attrs['interval'])} {low} to {high})."
    others = [
        f"{name} {table.loc[key, 'reliability']:.2f}"
        for key, name in _MEASURES.items()
        if key in table.index
    ]
    return Finding(
        sentence, title="Reliability", table=table, notes=(f"For comparison: {', '.join(others)}.",)
    )
