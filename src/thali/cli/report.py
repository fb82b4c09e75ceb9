"""The printed answer of a fit: plain text, aligned, nothing cut off."""

import re
from typing import TYPE_CHECKING

from thali.cli.text import align, number

if TYPE_CHECKING:
    import pandas

_MOST_FEATURES = 20
_BAR_WIDTH = 40


def report(model, summary: "pandas.DataFrame", features: "pandas.DataFrame", check: "pandas.DataFrame") -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    model : EliminationByAspects
        A fitted model.
    summary, features, check : pandas.DataFrame
        Its `summary()`, `features()` and `check()`.

    Returns
    -------
    str
        Lines without a final line break: the number of aspects, the most probable aspects, α and the
        log-likelihood, which observed proportions the model misses, every row of the summary with its R-hat and
        effective sample sizes, and whether they are good enough.
    """
    from thali.posterior.check import check_sentence
    from thali.posterior.summary import verdict

    good_enough, sentence = verdict(summary)
    sentence = re.sub(r"draws=([\d,]+)", lambda m: f"--draws {m[1]} --tune {m[1]}", sentence)
    sentence = sentence.replace(", and raise tune likewise", "").replace("chains=4", "--chains 4")
    sentence = sentence.replace("look at them with plots.trace", "look at trace.png (--out)")
    return "\n\n".join(
        [
            _number_of_aspects(model, summary),
            _aspects(model, features),
            _unique_weights(model),
            _scalars(summary),
            check_sentence(check),
            "Every quantity, its Monte Carlo error, and how well the chains agree on it\n" + _table(summary),
            sentence if good_enough else f"WARNING: {sentence}",
        ]
    )


def _number_of_aspects(model, summary) -> str:
    from thali.posterior.summary import text_histogram

    number = model.posterior_["posterior"]["n_features"].to_numpy().ravel()
    title = "Number of latent aspects" + (" besides each option's own" if model.unique else "")
    if (number == number[0]).all():
        return f"{title}: {number[0]} in every draw"
    return f"{title}: {_estimate(summary, 'n_features')}\n{text_histogram(number, _BAR_WIDTH)}"


def _aspects(model, features) -> str:
    if not len(features):
        return "No latent aspect is present often enough to be listed."
    placed = "place" in features
    rows = [("probability", "weight", _interval_name(), *(["place"] if placed else []), "members")]
    shown = features.head(_MOST_FEATURES)
    for row in shown.itertuples():
        interval = f"{row.weight_low:.3f} to {row.weight_high:.3f}"
        members = (f"{row.aspect}: " if "aspect" in features else "") + ", ".join(row.members)
        place = [row.place] if placed else []
        rows.append((f"{row.probability:.3f}", f"{row.weight:.3f}", interval, *place, members))
    text = "Most probable aspects, their weights and the options that have them\n" + align(rows, left={3, 4})
    if placed:
        text += "\n" + _tree_likeness(model)
    if len(features) > len(shown):
        text += f"\n... and {len(features) - len(shown):,} less probable ones"
    n_options = model.posterior_["posterior"].sizes["option"]
    if shown["members"].map(len).isin([1, n_options]).any():
        text += (
            "\nNote: choices tell nothing of an aspect that all options have, and of the aspects of one"
            " option alone only the sum."
        )
    return text


def _tree_likeness(model) -> str:
    """How many of the aspects that some but not all options share keep to the tree."""
    table = model.features(min_probability=0.0)
    shared = table[~table["place"].isin(["leaf", "root"])]
    total, clades = shared["copies"].sum(), shared["copies"][shared["place"] != "across"].sum()
    if total == 0.0:
        return "No aspect is shared by some options and not by all."
    return (
        f"Of {total:.2f} aspects (posterior mean) that some options share and others lack, {clades:.2f} are those of a "
        f"clade of the tree and {total - clades:.2f} cut across it."
    )


def _unique_weights(model) -> str:
    table = model.unique_weights()
    rows = [("weight", _interval_name(), "share", "option")]
    for option, row in table.sort_values("weight", ascending=False).head(_MOST_FEATURES).iterrows():
        interval = f"{row.weight_low:.3f} to {row.weight_high:.3f}"
        rows.append((f"{row.weight:.3f}", interval, f"{row.share:.3f}", str(option)))
    text = "Weight of what each option has alone, and its share of their sum\n" + align(rows, left={3})
    return text + (f"\n... and {len(table) - _MOST_FEATURES:,} more" if len(table) > _MOST_FEATURES else "")


def _scalars(summary) -> str:
    lines = [f"Concentration α: {_estimate(summary, 'alpha')}"] if "alpha" in summary.index else []
    likelihood = _estimate(summary, "log_likelihood")
    lines.append(f"Log-likelihood of all the data, binomial coefficients included: {likelihood}")
    return "\n".join(lines)


def _estimate(summary, name: str) -> str:
    from thali.posterior.interval import INTERVAL_COLUMNS

    mean, low, high = (round(summary.loc[name, column], 3) for column in ("mean", *INTERVAL_COLUMNS))
    return f"{mean:g} ({_interval_name()} {low:g} to {high:g})"


def _interval_name() -> str:
    from thali.posterior.interval import INTERVAL

    return f"{100 * INTERVAL:g} % interval"


def _table(summary) -> str:
    rows = [("", *summary.columns)]
    for name, values in zip(summary.index, summary.to_numpy(), strict=True):
        rows.append((name, *map(number, summary.columns, values)))
    return align(rows, left={0})
