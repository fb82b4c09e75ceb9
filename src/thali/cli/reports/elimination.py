"""The printed answer of a fit to choices between two options or more."""

import math
from typing import TYPE_CHECKING, Any

from thali.errors import DataError
from thali.model.settings import Settings
from thali.posterior.interval import interval_name
from thali.surfaces.aligned import align

from ..files import Answer, drawn, without_empty
from ..judgement import judgement
from . import Fitted, groups, kinds
from .shared import (
    MAX_FEATURES,
    and_others,
    by_member,
    estimate_in,
    every_quantity,
    features_table,
    matched_as,
    membership_in,
    not_agreed,
    number_and_histogram,
    tree_likeness,
)

if TYPE_CHECKING:
    import pandas


def prepare(fitted: Fitted) -> Settings:
    """Nothing to refuse."""
    return fitted.settings


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.model.latent_features.answers.check import check_sentence
    from thali.model.latent_features.answers.kinds_aligned import is_of_kinds

    model = fitted.model
    if model.groups_:
        return groups.answer(fitted, "aspect")
    if is_of_kinds(model.posterior_):
        return kinds.answer(fitted)
    similar = fitted.settings.similar
    summary, features, ranks = model.summary(), model.features(similar=similar), model.ranks(every_rank=True)
    try:
        check = model.check(fitted.settings.random_seed)
        checked, table, picture = check_sentence(check), {"check": check}, {}
        if not math.isnan(check.attrs["p_value"]):  # else every interval is as wide as the picture
            picture = {"check": lambda plots: plots.check(check)}
    except DataError as error:  # of fractional counts, which must not cost the rest of the answer
        checked, table, picture = error.render(fitted.words), {}, {}
    return Answer(
        text=report(model, summary, features, checked, ranks, judgement(model, fitted.words)),
        tables={
            "summary": summary.rename_axis("quantity"),
            "features": by_member(features, model.posterior_["posterior"]["option"].values.tolist()),
            "unique_weights": model.unique_weights(),
            "ranks": ranks,
            **({"covariates": model.covariate_effects()} if model.covariates_ else {}),
            **membership_in(model, similar),
            **table,
        },
        pictures=without_empty(drawn(model, fitted.spec), model.posterior_) | picture,
    )


def report(
    model: Any,
    summary: "pandas.DataFrame",
    features: "pandas.DataFrame",
    checked: str,
    ranks: "pandas.DataFrame",
    judged: str,
) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    model : EliminationByAspects
        A fitted model.
    summary, features : pandas.DataFrame
        Its `summary()` and `features()`.
    checked : str
        What its `check()` says, or why there is none.
    ranks : pandas.DataFrame
        Its `ranks()`.
    judged : str
        Whether the chains agree.

    Returns
    -------
    str
        Lines without a final line break: the number of aspects, the most probable aspects, covariates, α, the
        log-likelihood and the lapse, which observed proportions the model misses, every row of the summary with its
        R-hat and effective sample sizes, and whether they are good enough.
    """
    title = "Number of latent aspects" + (" besides each option's own" if model.unique else "")
    return "\n\n".join(
        [
            number_and_histogram(title, model.posterior_["posterior"]["n_features"].to_numpy()),
            _aspects(model, features),
            _unique_weights(model),
            _ranks(ranks),
            *([_covariates(model)] if model.covariates_ else []),
            _scalars(model, summary),
            checked,
            every_quantity(summary),
            judged,
        ]
    )


def _aspects(model, features) -> str:
    if not len(features):
        return "No latent aspect is present often enough to be listed."
    text = f"Most probable aspects, their weights and the options that have them{matched_as(features)}\n"
    labels = model.posterior_["posterior"]["option"].values.tolist()
    text += features_table(features, "aspect", labels)
    if "place" in features:
        text += "\n" + tree_likeness(model.posterior_, model.aspects, "aspect", "options")
    text += and_others(features) + not_agreed(features)
    if features["members"].head(MAX_FEATURES).map(len).isin([1, len(labels)]).any():
        text += (
            "\nNote: choices tell nothing of an aspect that all options have, and of the aspects of one"
            " option alone only the sum."
        )
    return text


def _unique_weights(model) -> str:
    table = model.unique_weights()
    rows = [("weight", interval_name(), "share", "option")]
    for option, row in table.sort_values("weight", ascending=False).head(MAX_FEATURES).iterrows():
        interval = f"{row.weight_low:.3f} to {row.weight_high:.3f}"
        rows.append((f"{row.weight:.3f}", interval, f"{row.share:.3f}", str(option)))
    text = "Weight of what each option has alone, and its share of their sum\n" + align(rows, left={3})
    return text + (f"\n... and {len(table) - MAX_FEATURES:,} more" if len(table) > MAX_FEATURES else "")


def _ranks(table) -> str:
    rows = [("rank", interval_name(), "P(best)", "option")]
    for option, row in table.head(MAX_FEATURES).iterrows():
        rows.append((f"{row['rank']:.2f}", f"{row.rank_low:g} to {row.rank_high:g}", f"{row.p_1:.3f}", str(option)))
    text = "Rank of the options by the weight of all their aspects\n" + align(rows, left={3})
    return text + (f"\n... and {len(table) - MAX_FEATURES:,} more" if len(table) > MAX_FEATURES else "")


def _covariates(model) -> str:
    rows = [("coefficient", interval_name(), "P(> 0)", "odds", "covariate")]
    for name, row in model.covariate_effects().iterrows():
        interval = f"{row.low:.3g} to {row.high:.3g}"
        rows.append((f"{row['mean']:.3g}", interval, f"{row.above_0:.3f}", f"x {row.odds:.3g}", str(name)))
    title = "What a unit of each covariate adds to the log odds of the first of two options, and multiplies its odds by"
    text = f"{title}\n{align(rows, left={4})}"
    zero = "Choice probabilities are of comparisons whose covariates are 0; those of options are part of their weights."
    return f"{text}\n{zero}"


def _scalars(model, summary) -> str:
    lines = [f"Concentration α: {estimate_in(summary, 'alpha')}"] if "alpha" in summary.index else []
    if "tie" in summary.index:
        lines.append(
            f"Ties: nu is {estimate_in(summary, 'tie')}; between equal options a comparison ends in a tie with "
            "probability nu / (2 + nu)"
        )
    likelihood = estimate_in(summary, "log_likelihood")
    lines.append(f"Log-likelihood of all the data, no constant left out: {likelihood}")
    lines.append(f"Lapse, the probability of a blind choice, fixed at {model.lapse_:g}")
    return "\n".join(lines)
