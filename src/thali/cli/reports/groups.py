"""The printed answer of a fit to several groups of people, of choices or of similarities."""

from typing import TYPE_CHECKING, Any

from thali.surfaces.aligned import align

from ..files import Answer
from ..judgement import judgement
from . import Fitted
from .shared import MAX_FEATURES, by_member, estimate_in, every_quantity, number_and_histogram

if TYPE_CHECKING:
    import pandas

_MAX_GROUPS = 6  # whose weights are printed side by side


def answer(fitted: Fitted, word: str) -> Answer:
    """What is printed and written of a fitted model; `word`: aspect or feature."""
    from thali.model.latent_features.answers.check import check_sentence
    from thali.plots.group_weights import MAX_GROUPS

    model = fitted.model
    summary, features = model.summary(), model.features(similar=fitted.settings.similar)
    check = model.check(fitted.settings.random_seed)
    posterior = model.posterior_["posterior"]
    number = posterior["n_features" if "n_shared_features" not in posterior else "n_shared_features"].to_numpy()
    shared = features[features["members"].map(len).between(2, posterior.sizes["option"] - 1)]
    drawn = {"trace": lambda plots: plots.trace(model)}
    if (number != number.flat[0]).any():
        drawn["n_features"] = lambda plots: plots.n_features(model)
    if len(shared) and len(model.groups_) <= MAX_GROUPS:
        drawn["group_weights"] = lambda plots: plots.group_weights(model)
    text = [
        number_and_histogram(f"Number of {word}s", number),
        _features(model, shared, word),
        _scalars(model, summary),
        check_sentence(check),
        every_quantity(summary),
        judgement(model, fitted.words),
    ]
    tables = {
        "summary": summary.rename_axis("quantity"),
        "features": by_member(features, posterior["option"].values.tolist()),
        "check": check,
    }
    return Answer("\n\n".join(text), tables, drawn)


def _features(model: Any, features: "pandas.DataFrame", word: str) -> str:
    """The features that some but not all share, with their weight in each group."""
    if not len(features):
        return f"No {word} that some share and others lack is present often enough to be listed."
    names = model.groups_[:_MAX_GROUPS]
    compared = [name for name in features.columns if str(name).startswith("P(")][:1]
    rows = [("probability", "MC error", *(f"weight {name}" for name in names), *compared, "members")]
    for row in features.head(MAX_FEATURES).to_dict("records"):
        weights = [f"{row[f'weight[{name}]']:.3f}" for name in names]
        more = [f"{row[name]:.3f}" for name in compared]
        rows.append((f"{row['probability']:.3f}", f"{row['mcse']:.3f}", *weights, *more, ", ".join(row["members"])))
    left = {len(rows[0]) - 1}
    text = f"Most probable {word}s that some share and others lack, and their weight in each group\n"
    text += align(rows, left=left)
    others = len(model.groups_) - len(names)
    return text + (f"\n({others:,} more groups are in the table of {word}s)" if others > 0 else "")


def _scalars(model: Any, summary: "pandas.DataFrame") -> str:
    lines = [f"Concentration α: {estimate_in(summary, 'alpha')}"] if "alpha" in summary.index else []
    if "kappa" in summary.index:
        lines.append(
            f"Similarity of the groups, kappa: {estimate_in(summary, 'kappa')} (large: the same weights; about 1:"
            " hardly anything in common)"
        )
    lines.append(f"Log-likelihood of all groups, no constant left out: {estimate_in(summary, 'log_likelihood')}")
    return "\n".join(lines)
