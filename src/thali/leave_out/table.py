"""The table of a comparison, and what it establishes in plain sentences."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError
from thali.posterior.binomial import log_binomial
from thali.posterior.summary import HIGHEST_R_HAT

if TYPE_CHECKING:
    import pandas

    from thali.data.pairs import PairedComparisons

REFERENCES = ("BASE", "EMP")  # every probability one half; the observed proportions
ESTABLISHED = 0.975  # probability below which chance must leave a difference
_MOST_ORDERS = 10
_WORST = 3


def comparison_table(names: list[str], data: "PairedComparisons", results: list) -> "pandas.DataFrame":
    """The table that `thali.compare` returns.

    Parameters
    ----------
    names : list of str
        Of the models.
    data : PairedComparisons
    results : list of (name, pair number, record)
        A record holds the fields of a `Score`, or what went wrong under "error"; None is a fit that was not run.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ArgumentError
        If no fit of any model succeeded.
    """
    import pandas as pd

    predictions: Any = _predictions(names, data, results)
    missing = predictions[predictions["why"] != ""]
    if predictions["nll"].isna().all():
        raise ArgumentError(f"No fit succeeded; the first failed with: {missing['why'].iloc[0]}")
    order = [REFERENCES[0], *names, REFERENCES[1]]
    pairs: Any = _by_pair(predictions, "nll", data, names)
    wins, losses, total = data.wins, data.losses, data.wins + data.losses
    pairs[REFERENCES[0]] = -log_binomial(wins, losses, 0.5)
    pairs[REFERENCES[1]] = -log_binomial(wins, losses, wins / total)
    pairs = pairs[order]
    started = [name for name in names if pairs[name].notna().any()]
    counts = pairs[started].notna().all(axis=1).to_numpy()
    scored, n = pairs[counts], int(counts.sum())

    table = pd.DataFrame(index=pd.Index(order, name="model"))
    nothing = {name: pd.Series(0.0, index=pairs.index) for name in REFERENCES}

    def mean_error(column):
        errors: Any = _by_pair(predictions, column, data, names).assign(**nothing)[order][counts]
        return np.sqrt((errors**2).sum(skipna=False)) / n

    log_pred: Any = _by_pair(predictions, "log_pred", data, names).assign(**{name: -pairs[name] for name in REFERENCES})
    table["nll"] = scored.mean(skipna=False)
    table["nll_mcse"] = mean_error("nll_mcse")
    table["information"] = (scored["BASE"].sum() - scored.sum(skipna=False)) / (math.log(2) * total[counts].sum())
    table["mean_log_pred"] = log_pred[order][counts].mean(skipna=False)
    table["mean_log_pred_mcse"] = mean_error("log_pred_mcse")
    best = table.loc[started, "nll"].idxmin() if n else None
    differences = scored.sub(scored[best], axis=0) if n else scored
    table["difference"] = differences.mean(skipna=False)
    table["difference_se"] = differences.std(skipna=False) / math.sqrt(n) if n > 1 else np.nan
    table["r_hat"] = predictions.groupby("model")["r_hat"].max().reindex(order)
    table["pairs"] = n
    table.attrs.update(
        pairs=pairs, predictions=predictions.drop(columns="why"), missing=missing[["model", "a", "b", "why"]], best=best
    )
    return table


def _predictions(names: list[str], data: "PairedComparisons", results: list) -> "pandas.DataFrame":
    """One row a model and left-out pair, models in the order given."""
    import pandas as pd

    rows = []
    for name, pair, record in sorted(results, key=lambda result: names.index(result[0])):
        n = data.wins[pair] + data.losses[pair]
        record = {"error": "not run"} if record is None else record
        numbers = ("predicted", "predicted_mcse", "nll", "nll_mcse", "log_pred", "log_pred_mcse", "r_hat")
        rows.append(
            {
                "model": name,
                "a": data.labels[data.first[pair]],
                "b": data.labels[data.second[pair]],
                "n": n,
                "observed": data.wins[pair] / n,
                **{number: record.get(number, np.nan) for number in numbers},
                "why": record["error"] or "",
            }
        )
    return pd.DataFrame(rows)


def _by_pair(predictions, column: str, data: "PairedComparisons", names: list[str]) -> "pandas.DataFrame":
    """One column of the predictions, pairs (a, b) by models."""
    import pandas as pd

    pairs = pd.MultiIndex.from_arrays(
        [[data.labels[k] for k in data.first], [data.labels[k] for k in data.second]], names=["a", "b"]
    )
    blocks = predictions[column].to_numpy(float).reshape(len(names), len(pairs))
    return pd.DataFrame(blocks.T, index=pairs, columns=pd.Index(names, name="model"))


def sentences(table: "pandas.DataFrame") -> list[str]:
    """What a comparison establishes, and what it does not.

    A difference counts as established when Student's t test over pairs says so at the level of 5 %, both sides counted:
    with 36 pairs, from 2.03 standard errors on.

    Parameters
    ----------
    table : pandas.DataFrame
        As `thali.compare` returns it.

    Returns
    -------
    list of str
        The best model, the orders that the pairs establish and those that they do not, the worst predicted pairs,
        and lapses that differ.

    Raises
    ------
    ArgumentError
        If the table has lost its attrs.

    Example
    -------
    >>> import thali as th
    >>> models = {"even": th.EliminationByAspects("unique", lapse=0.9), "BTL": th.EliminationByAspects("unique")}
    >>> table = th.compare(models, th.datasets.celebrities(), draws=100, tune=100, cores=1, random_seed=1,
    ...                    progressbar=False)
    >>> print(sentences(table)[1])
    Established by 36 pairs: BTL predicts better than even (by 7.53, standard error 1.31).
    """
    if "hits" in table.attrs:
        from thali.leave_out.experiment_table import sentences_of_tasks

        return sentences_of_tasks(table)
    if not {"pairs", "best", "predictions"} <= set(table.attrs):
        raise ArgumentError("The table lacks its attrs; pass the data frame that compare() returned, unchanged.")
    best, n = table.attrs["best"], int(table["pairs"].iloc[0])
    if best is None:
        return ["No pair was finished by every model, so nothing can be compared."]
    said = [
        f"{best} predicts the pairs left out best: {table.loc[best, 'nll']:.3f} nats a pair, where the observed "
        f"proportions would have {table.loc['EMP', 'nll']:.3f} and guessing {table.loc['BASE', 'nll']:.3f}."
    ]
    said += _orders(table, n)
    said += _worst(table)
    return said + unlike_lapses(table.attrs.get("lapses", {}))


def unlike_lapses(found: dict[str, float]) -> list[str]:
    """A sentence if the models have different lapses."""
    if len(set(found.values())) < 2:
        return []
    named = ", ".join(f"{name} {lapse:g}" for name, lapse in found.items())
    return [f"The models have different lapses: {named}; part of a difference may be theirs."]


def _orders(table, n: int) -> list[str]:
    """The orders of two models that the pairs establish, and those that they do not."""
    ranked = [name for name in table["nll"].dropna().sort_values(kind="stable").index if name not in REFERENCES]
    pairs = table.attrs["pairs"][ranked].dropna()

    def difference(a: str, b: str) -> tuple[float, float] | None:
        if not np.isfinite(pairs[[a, b]]).all(axis=None):
            return None
        found = pairs[b] - pairs[a]
        return found.mean(), found.std() / math.sqrt(n)

    return orders(ranked, difference, n, "pair")


def orders(
    ranked: list[str], difference: Callable[[str, str], tuple[float, float] | None], n: int, unit: str
) -> list[str]:
    """The orders of two models that n units establish, and those that they do not.

    Parameters
    ----------
    ranked : list of str
        Models, the best first.
    difference : callable
        By how much the first of two models is better, and the standard error; None where a score is infinite.
    n : int
        Independent units, such as pairs or respondents.
    unit : str
        What they are, in the singular.

    Returns
    -------
    list of str
    """
    from scipy.special import stdtrit

    couples = [(a, b) for k, a in enumerate(ranked) for b in ranked[k + 1 :]]
    if len(couples) > _MOST_ORDERS:  # neighbours, and the best against the others
        couples = [(a, b) for a, b in couples if a == ranked[0] or ranked.index(b) == ranked.index(a) + 1]
    if not couples:
        return []
    if n < 2:
        return [f"One {unit} establishes no order."]
    established, open_ = [], []
    enough = float(stdtrit(n - 1, ESTABLISHED))
    for a, b in couples:
        found = difference(a, b)
        if found is None:
            open_.append(f"{a} and {b} (an infinite score: a choice that was made had probability 0)")
            continue
        mean, error = found
        digits = 2 if not 0.0 < error < 0.1 else 1 - math.floor(math.log10(error))  # two of the error
        by = f"(by {mean:.{digits}f}, standard error {error:.{digits}f})"
        if mean >= enough * error and mean > 0:
            established.append(f"{a} predicts better than {b} {by}")
        else:
            open_.append(f"{a} and {b} {by}")
    said = [f"Established by {n} {unit}s: {'; '.join(established)}."] if established else []
    return said + ([f"Not established by {n} {unit}s is the order of {'; '.join(open_)}."] if open_ else [])


def _worst(table) -> list[str]:
    """The pairs that the best model predicts worst."""
    predictions, best = table.attrs["predictions"], table.attrs["best"]
    of_best = predictions[(predictions["model"] == best) & predictions["nll"].notna()]
    of_best = of_best.sort_values("nll", ascending=False, kind="stable")
    named = [
        f"{row.a} over {row.b} (observed {row.observed:.2f}, predicted {row.predicted:.2f}, nll {row.nll:.1f})"
        for row in of_best.head(_WORST).itertuples()
    ]
    return [f"Worst predicted by {best}: {'; '.join(named)}."]


def unconverged(table: "pandas.DataFrame") -> str:
    """Whose chains do not agree on the pair left out, in a sentence; "" when all do."""
    said = []
    for name, rows in table.attrs["predictions"].dropna(subset="nll").groupby("model", sort=False):
        wrong = rows["r_hat"] > HIGHEST_R_HAT
        if wrong.any():
            score = (
                ""
                if math.isnan(table.loc[name, "nll"])
                else f", Monte Carlo error of nll {table.loc[name, 'nll_mcse']:.3f}"
            )
            said.append(
                f"{name} in {wrong.sum():,} of {len(rows):,} fits (R-hat up to {rows['r_hat'].max():.3f}{score})"
            )
    if not said:
        return ""
    return (
        f"Chains do not agree on the pair left out: {'; '.join(said)}; wanted is an R-hat of at most {HIGHEST_R_HAT}. "
        "Compare again with more draws and tune, or live with that error."
    )
