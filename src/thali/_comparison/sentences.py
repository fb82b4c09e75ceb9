"""Sentences on which model predicts better, and on which differences are open."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.prediction_scores import mean_and_error
from thali._labels import shorten
from thali._posterior.convergence_check import HIGHEST_R_HAT
from thali.errors import Argument, ArgumentError, Message

from .holdout_schemes import SCORERS

if TYPE_CHECKING:
    import pandas

ESTABLISHED = 0.975  # quantile of t that an established difference exceeds
_MAX_ORDERS = 10
# the difference of the scores of two models, with its standard error
Difference = Callable[[str, str], tuple[float, float] | None]


def describe_comparison(table: "pandas.DataFrame") -> list[str]:
    """Return sentences on established and open differences between models.

    A difference is established if it is significant in a two-sided Student's t test over
    independent units (pairs, respondents, rows) at the level of 5 %: with 36 pairs, from 2.03
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
    >>> print(describe_comparison(table)[1])
    Established differences (10 pairs): 'BTL' predicts better than 'even' (by 11.26, standard error
    2.45).
    """
    if not {"scorer", "best", "part", "unit"} <= set(table.attrs):
        raise ArgumentError(
            "The `attrs` of the table are missing; pass the data frame that compare() returned,"
            " unchanged."
        )
    attrs = table.attrs
    scorer = SCORERS[attrs["scorer"]]
    best_model = attrs["best"]
    if best_model is None:
        return [
            f"No {attrs['part']} was completed by every model, so the models cannot be compared."
        ]
    sorted_scores: Any = table[scorer.main].dropna()
    sorted_scores = sorted_scores.sort_values(ascending=not scorer.higher, kind="stable")
    reference_names = (*scorer.before, *scorer.after)
    ranked_models = [str(name) for name in sorted_scores.index if name not in reference_names]
    unfinished_models = [
        str(name)
        for name in table.index
        if name not in reference_names and str(name) not in ranked_models
    ]
    scores = attrs[scorer.units][ranked_models].dropna()
    dependent_groups = scorer.group_units(scores.index)

    def compute_difference(a: str, b: str) -> tuple[float, float] | None:
        """Return mean difference of two models' scores, with standard error; None if missing."""
        if not np.isfinite(scores[[a, b]]).all(axis=None):
            return None
        gains = scores[a] - scores[b]
        if not scorer.higher:
            gains = -gains
        return mean_and_error(gains.to_numpy(), dependent_groups)

    n_units = len(scores)
    if dependent_groups is not None:
        n_units = len(np.unique(np.asarray(dependent_groups)))
    sentences = [
        scorer.write_headline(table, best_model),
        *scorer.write_remarks(table, ranked_models),
    ]
    if unfinished_models:
        sentences[0] = (
            f"No fit of {shorten(unfinished_models)} was completed, so no best model can be named."
        )
    elif len(ranked_models) > 1:
        sentences.insert(
            0,
            describe_best(
                ranked_models,
                compute_difference(ranked_models[0], ranked_models[1]),
                n_units,
                scorer.called,
            ),
        )
    sentences[1:1] = describe_orders(ranked_models, compute_difference, n_units, attrs["unit"])
    return sentences + describe_lapses(attrs.get("lapses", {}))


def describe_best(
    ranked: list[str], difference: tuple[float, float] | None, n_units: int, unit_nouns: str
) -> str:
    """Return a sentence on whether the best model beats the second."""
    best_model, runner_up, *_ = ranked
    difference_text = ""
    if difference is not None:
        mean, error = difference
        difference_text = f" (difference {mean:.3f}, SE {error:.3f})"
    if is_established(difference, n_units):
        return (
            f"Held-out {unit_nouns}: {best_model!r} predicts better than"
            f" {runner_up!r}{difference_text}."
        )
    return (
        f"Held-out {unit_nouns}: no established difference between {best_model!r} and"
        f" {runner_up!r}{difference_text}."
    )


def describe_lapses(lapses: dict[str, float]) -> list[str]:
    """Return a sentence if the models assume different lapse rates; else []."""
    if len(set(lapses.values())) < 2:
        return []
    lapse_texts = ", ".join(f"{name!r} {lapse:g}" for name, lapse in lapses.items())
    return [
        f"The models have different lapse rates ({lapse_texts}), which may explain part of the"
        " differences."
    ]


def describe_orders(
    ranked: list[str], compute_difference: Difference, n_units: int, unit: str
) -> list[str]:
    """Return sentences on which pairs of models differ beyond chance."""
    model_pairs = [(a, b) for k, a in enumerate(ranked) for b in ranked[k + 1 :]]
    if len(model_pairs) > _MAX_ORDERS:  # only neighbours, and the best model against the others
        model_pairs = [
            (a, b)
            for a, b in model_pairs
            if a == ranked[0] or ranked.index(b) == ranked.index(a) + 1
        ]
    if not model_pairs:
        return []
    if n_units < 2:
        return [f"A single {unit} cannot establish an order."]
    established_texts = []
    open_texts = []
    for a, b in model_pairs:
        difference = compute_difference(a, b)
        if difference is None:
            open_texts.append(
                f"{a!r} and {b!r} (infinite score: an observed outcome had probability 0)"
            )
            continue
        mean, error = difference
        n_digits = 2
        if 0.0 < error < 0.1:  # two significant digits of the error
            n_digits = 1 - math.floor(math.log10(error))
        difference_text = f"{mean:.{n_digits}f}, standard error {error:.{n_digits}f}"
        if is_established(difference, n_units):
            established_texts.append(f"{a!r} predicts better than {b!r} (by {difference_text})")
        else:
            open_texts.append(f"{a!r} and {b!r} (difference {difference_text})")
    sentences = []
    if established_texts:
        sentences.append(
            f"Established differences ({n_units} {unit}s): {'; '.join(established_texts)}."
        )
    if open_texts:
        sentences.append(f"No established difference ({n_units} {unit}s): {'; '.join(open_texts)}.")
    return sentences


def is_established(difference: tuple[float, float] | None, n_units: int) -> bool:
    """Return whether a difference exceeds 0 significantly; False for None.

    None is the difference of infinite scores.
    """
    from scipy.special import stdtrit

    if difference is None or n_units < 2:
        return False
    mean, error = difference
    return mean > 0 and mean >= float(stdtrit(n_units - 1, ESTABLISHED)) * error


def describe_disagreement(table: "pandas.DataFrame") -> str | Message:
    """Return a message on models whose chains disagree; "" if none.

    Without predictions of pairs there are no chains, and the message is "".
    """
    if "predictions" not in table.attrs:
        return ""
    main_score = SCORERS[table.attrs["scorer"]].main
    sentences = []
    for name, predictions in (
        table.attrs["predictions"].dropna(subset=main_score).groupby("model", sort=False)
    ):
        is_unconverged = predictions["r_hat"] > HIGHEST_R_HAT
        if is_unconverged.any():
            error = table.loc[name, f"{main_score}_mcse"]
            error_text = ""
            if not math.isnan(error):
                error_text = f", Monte Carlo error of {main_score} {error:.3f}"
            sentences.append(
                f"{name!r} on {is_unconverged.sum():,} of {len(predictions):,} pairs (R-hat up to"
                f" {predictions['r_hat'].max():.3f}{error_text})"
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
