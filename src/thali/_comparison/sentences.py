"""What a comparison establishes, and what it does not, in plain sentences."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.scores import mean_and_error
from thali._labels import shorten
from thali._posterior.convergence import HIGHEST_R_HAT
from thali.errors import Argument, ArgumentError, Message

from .ways import SCORERS

if TYPE_CHECKING:
    import pandas

ESTABLISHED = 0.975  # probability below which chance must leave a difference
_MAX_ORDERS = 10
# of the scores of two models, with its standard error
Difference = Callable[[str, str], tuple[float, float] | None]


def sentences(table: "pandas.DataFrame") -> list[str]:
    """What a comparison establishes, and what it does not.

    A difference counts as established when Student's t test over independent units (pairs,
    respondents, rows) says so at the level of 5 %, both sides counted: with 36 pairs, from 2.03
    standard errors on.

    Examples
    --------
    >>> import thali as th
    >>> models = {
    ...     "even": th.EliminationByAspects("unique", lapse=0.9),
    ...     "BTL": th.EliminationByAspects("unique"),
    ... }
    >>> data = th.datasets.celebrities().subset(["LBJ", "HW", "JU", "CY", "BB"])
    >>> table = th.compare(
    ...     models, data, draws=100, tune=100, thin=1, cores=1, random_seed=1, progressbar=False
    ... )
    >>> print(sentences(table)[1])
    Established differences (10 pairs): 'BTL' predicts better than 'even' (by 11.26, standard error
    2.45).
    """
    if not {"scorer", "best", "part", "unit"} <= set(table.attrs):
        raise ArgumentError(
            "The `attrs` of the table are missing; pass the data frame that compare() returned,"
            " unchanged."
        )
    attrs = table.attrs
    scorer, best = SCORERS[attrs["scorer"]], attrs["best"]
    if best is None:
        return [
            f"No {attrs['part']} was completed by every model, so the models cannot be compared."
        ]
    by_score: Any = table[scorer.main].dropna()
    by_score = by_score.sort_values(ascending=not scorer.higher, kind="stable")
    references = (*scorer.before, *scorer.after)
    ranked = [str(name) for name in by_score.index if name not in references]
    without = [
        str(name) for name in table.index if name not in references and str(name) not in ranked
    ]
    scores = attrs[scorer.units][ranked].dropna()
    groups = scorer.groups(scores.index)

    def difference(a: str, b: str) -> tuple[float, float] | None:
        if not np.isfinite(scores[[a, b]]).all(axis=None):
            return None
        gains = scores[a] - scores[b] if scorer.higher else scores[b] - scores[a]
        return mean_and_error(gains.to_numpy(), groups)

    n = len(scores) if groups is None else len(np.unique(np.asarray(groups)))
    sentences = [scorer.headline(table, best), *scorer.remarks(table, ranked)]
    if without:
        sentences[0] = f"No fit of {shorten(without)} was completed, so no model is named as best."
    elif len(ranked) > 1:
        sentences.insert(
            0, who_predicts_best(ranked, difference(ranked[0], ranked[1]), n, scorer.called)
        )
    sentences[1:1] = orders(ranked, difference, n, attrs["unit"])
    return sentences + unlike_lapses(attrs.get("lapses", {}))


def who_predicts_best(
    ranked: list[str], found: tuple[float, float] | None, n: int, called: str
) -> str:
    """Return whether the best model predicts better than the next one, and by how much."""
    best, second, *_ = ranked
    by = "" if found is None else " (difference {:.3f}, SE {:.3f})".format(*found)
    if is_established(found, n):
        return f"Held-out {called}: {best!r} predicts better than {second!r}{by}."
    return f"Held-out {called}: no established difference between {best!r} and {second!r}{by}."


def unlike_lapses(found: dict[str, float]) -> list[str]:
    """A sentence if the models have different lapses."""
    if len(set(found.values())) < 2:
        return []
    named = ", ".join(f"{name!r} {lapse:g}" for name, lapse in found.items())
    return [
        f"The models have different lapse rates ({named}), which may explain part of the"
        " differences."
    ]


def orders(ranked: list[str], difference: Difference, n: int, unit: str) -> list[str]:
    """The orders of two models that n units establish, and those that they do not."""
    couples = [(a, b) for k, a in enumerate(ranked) for b in ranked[k + 1 :]]
    if len(couples) > _MAX_ORDERS:  # neighbours, and the best against the others
        couples = [
            (a, b) for a, b in couples if a == ranked[0] or ranked.index(b) == ranked.index(a) + 1
        ]
    if not couples:
        return []
    if n < 2:
        return [f"A single {unit} cannot establish an order."]
    established, open_ = [], []
    for a, b in couples:
        found = difference(a, b)
        if found is None:
            open_.append(f"{a!r} and {b!r} (infinite score: an observed outcome had probability 0)")
            continue
        mean, error = found
        # two of the error
        digits = 2 if not 0.0 < error < 0.1 else 1 - math.floor(math.log10(error))
        by = f"(by {mean:.{digits}f}, standard error {error:.{digits}f})"
        if is_established(found, n):
            established.append(f"{a!r} predicts better than {b!r} {by}")
        else:
            open_.append(f"{a!r} and {b!r} {by}")
    sentences = (
        [f"Established differences ({n} {unit}s): {'; '.join(established)}."] if established else []
    )
    return sentences + (
        [f"Order not established ({n} {unit}s): {'; '.join(open_)}."] if open_ else []
    )


def is_established(difference: tuple[float, float] | None, n: int) -> bool:
    """Whether n units say that a difference, with its standard error, is above 0; None: a score is
    infinite."""
    from scipy.special import stdtrit

    if difference is None or n < 2:
        return False
    mean, error = difference
    return mean > 0 and mean >= float(stdtrit(n - 1, ESTABLISHED)) * error


def unconverged(table: "pandas.DataFrame") -> str | Message:
    """Whose chains do not agree on pairs left out, in a sentence; "" where they do, or where chains
    are not kept."""
    if "predictions" not in table.attrs:
        return ""
    main = SCORERS[table.attrs["scorer"]].main
    sentences = []
    for name, rows in table.attrs["predictions"].dropna(subset=main).groupby("model", sort=False):
        wrong = rows["r_hat"] > HIGHEST_R_HAT
        if wrong.any():
            error = table.loc[name, f"{main}_mcse"]
            score = "" if math.isnan(error) else f", Monte Carlo error of {main} {error:.3f}"
            sentences.append(
                f"{name!r} on {wrong.sum():,} of {len(rows):,} pairs (R-hat up to"
                f" {rows['r_hat'].max():.3f}{score})"
            )
    if not sentences:
        return ""
    return Message(
        f"The chains disagree (R-hat above {HIGHEST_R_HAT}) on held-out pairs:"
        f" {'; '.join(sentences)}. Repeat the comparison with more ",
        Argument("draws"),
        " and ",
        Argument("tune"),
        ", or accept the Monte Carlo error.",
    )
