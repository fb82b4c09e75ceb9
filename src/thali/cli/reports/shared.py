"""What the printed answers of all models share: plain text, aligned, nothing cut off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import in_a_column
from thali.posterior.interval import INTERVAL_COLUMNS, TAILS, interval_name
from thali.surfaces.aligned import align

if TYPE_CHECKING:
    import pandas

MAX_FEATURES = 20
_BAR_WIDTH = 40


def number_and_histogram(title: str, draws: np.ndarray) -> str:
    """The posterior of a whole number: mean and interval, and a bar for each value."""
    from thali.posterior.histogram import text_histogram

    draws = draws.ravel()
    if (draws == draws[0]).all():
        return f"{title}: {draws[0]} in every draw"
    return f"{title}: {estimate_of(draws)}\n{text_histogram(draws, _BAR_WIDTH)}"


def features_table(features: "pandas.DataFrame", name: str, labels: Sequence[str]) -> str:
    """The first rows of a table of features, aligned; probabilities on which the chains do not agree bear an asterisk.

    Parameters
    ----------
    features : pandas.DataFrame
        As `features()` of a model returns it.
    name : str
        The column with the names of given features, if there is one.
    labels : sequence of str
        Of all options.
    """
    from thali.model.latent_features.answers.matched_features import members_in_words

    placed = "place" in features
    rows = [("probability", "MC error", "weight", interval_name(), *(["place"] if placed else []), "members")]
    agreed = features["converged"].to_numpy()
    asterisks = [""] * len(features) if agreed.all() else [" " if each else "*" for each in agreed]
    for row, asterisk in zip(features.head(MAX_FEATURES).to_dict("records"), asterisks, strict=False):
        interval = f"{row['weight_low']:.3f} to {row['weight_high']:.3f}"
        members = (f"{row[name]}: " if name in features else "") + members_in_words(row["members"], labels)
        place = [row["place"]] if placed else []
        probability = f"{row['probability']:.3f}{asterisk}", f"{row['mcse']:.3f}"
        rows.append((*probability, f"{row['weight']:.3f}", interval, *place, members))
    return align(rows, left={4, 5})


def matched_as(features: "pandas.DataFrame") -> str:
    """What is said of a table of matched features in its heading; nothing of other tables."""
    if "stability" not in features:
        return ""
    return " in half of its draws or more\n(features of different draws with similar owners are taken for one)"


def membership_in(model: Any, similar: float | None) -> dict[str, Any]:
    """The table of memberships that is written where features were matched."""
    return {} if similar is None else {"membership": model.membership(similar=similar)}


def by_member(features: "pandas.DataFrame", labels: Sequence[str]) -> "pandas.DataFrame":
    """A table of features as it is written: members in one column, and a column of 0 and 1 for each of these labels."""
    import pandas as pd

    taken = set(features.columns)
    has = {
        f"{label} (member)" if label in taken else label: [int(label in members) for members in features["members"]]
        for label in labels
    }
    joined = features.assign(members=features["members"].map("; ".join))
    return pd.concat([joined, pd.DataFrame(has, index=features.index)], axis=1)


def and_others(features: "pandas.DataFrame") -> str:
    """A line for the rows that `features_table` leaves out, if there are any."""
    hidden = len(features) - MAX_FEATURES
    return f"\n... and {hidden:,} less probable ones" if hidden > 0 else ""


def not_agreed(features: "pandas.DataFrame") -> str:
    """A line about the asterisks of `features_table`, if there are any."""
    from thali.model.latent_features.answers.presence import MARKED

    if features["converged"].to_numpy()[:MAX_FEATURES].all():
        return ""
    return (
        f"\n* The chains do not agree on this probability (R-hat above {MARKED}); another seed may well give another."
    )


def tree_likeness(posterior: Any, tree: Any, name: str, of: str) -> str:
    """How many of the features (called so, of options called so) that some but not all share keep to the tree."""
    from thali.model.latent_features.answers.features import features_table, place_in_tree

    table = features_table(posterior, 0.0)
    place = np.array(place_in_tree(table["members"], tree), dtype=object)
    copies = table["copies"].to_numpy()
    total, across = copies[(place != "leaf") & (place != "root")].sum(), copies[place == "across"].sum()
    if total == 0.0:
        return f"No {name} is shared by some {of} and not by all."
    return (
        f"Of {total:.2f} {name}s (posterior mean) that some {of} share and others lack, {total - across:.2f} are "
        f"those of a clade of the tree and {across:.2f} cut across it."
    )


def every_quantity(summary: "pandas.DataFrame") -> str:
    """The whole summary."""
    rows = [("", *summary.columns)]
    for name, values in zip(summary.index, summary.to_numpy(), strict=True):
        rows.append((name, *map(in_a_column, summary.columns, values)))
    return "Every quantity, its Monte Carlo error, and how well the chains agree on it\n" + align(rows, left={0})


def estimate_in(summary: "pandas.DataFrame", name: str) -> str:
    """Mean and interval of a row of the summary."""
    return _estimate(*(float(summary.loc[name, column]) for column in ("mean", *INTERVAL_COLUMNS)))


def estimate_of(draws: np.ndarray) -> str:
    """Mean and interval of draws."""
    return _estimate(float(draws.mean()), *np.quantile(draws, TAILS).tolist())


def _estimate(*values: float) -> str:
    mean, low, high = (round(value, 3) for value in values)
    return f"{mean:g} ({interval_name()} {low:g} to {high:g})"
