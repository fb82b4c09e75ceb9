"""The printed answer of a fit to people whose kinds are not known."""

from typing import TYPE_CHECKING, Any

from thali.posterior.interval import interval_name
from thali.surfaces.aligned import align

from ..files import Answer
from ..judgement import judgement
from . import Fitted
from .shared import by_member, estimate_in, every_quantity, number_and_histogram

if TYPE_CHECKING:
    import pandas

_FAVOURITES = 3


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.model.latent_features.answers.check import check_sentence
    from thali.plots.group_weights import MAX_GROUPS

    model = fitted.model
    summary, features, sizes = model.summary(), model.features(similar=fitted.settings.similar), model.kind_sizes()
    check, ranks = model.check(fitted.settings.random_seed), _ranks(model, len(sizes))
    posterior = model.posterior_["posterior"]
    number = posterior["n_features"].to_numpy()
    shared = features[features["members"].map(len).between(2, posterior.sizes["option"] - 1)]
    drawn = {"same_kind": lambda plots: plots.same_kind(model), "trace": lambda plots: plots.trace(model)}
    if (number != number.flat[0]).any():
        drawn["n_features"] = lambda plots: plots.n_features(model)
    if len(shared) and 1 < len(sizes) <= MAX_GROUPS:
        drawn["group_weights"] = lambda plots: plots.group_weights(model)
    text = [
        _kinds(sizes, ranks),
        number_and_histogram("Number of aspects", number),
        _scalars(summary),
        check_sentence(check),
        every_quantity(summary),
        judgement(model, fitted.words),
    ]
    tables = {
        "summary": summary.rename_axis("quantity"),
        "features": by_member(features, posterior["option"].values.tolist()),
        "kinds": sizes.assign(people=sizes["people"].map("; ".join)),
        "assignment": model.assignment(),
        "same_kind": model.same_kind(),
        "ranks": ranks,
        "check": check,
    }
    return Answer("\n\n".join(text), tables, drawn)


def _ranks(model: Any, number: int) -> "pandas.DataFrame":
    """The ranks of the options for each kind, one kind after the other."""
    import pandas as pd

    each = [model.of_kind(kind).ranks(every_rank=True).reset_index().assign(kind=kind) for kind in range(1, number + 1)]
    joined = pd.concat(each, ignore_index=True)
    joined.insert(0, "kind", joined.pop("kind"))
    return joined.set_index("kind")


def _kinds(sizes: "pandas.DataFrame", ranks: "pandas.DataFrame") -> str:
    """The kinds, how many people are of each, in the sample and in all, and which options come first for them."""
    interval = interval_name()
    rows = [("kind", "of sample", interval, "of population", interval, "P(occupied)", "people", "best ranks")]
    for kind, row in sizes.iterrows():
        liked = ranks.loc[[kind], "option"].head(_FAVOURITES).astype(str)
        sample, population = (
            (f"{row[f'{whose}_share']:.3f}", f"{row[f'{whose}_low']:.3f} to {row[f'{whose}_high']:.3f}")
            for whose in ("sample", "population")
        )
        occupied, likely = f"{row['occupied']:.3f}", str(len(row["people"]))
        rows.append((str(kind), *sample, *population, occupied, likely, ", ".join(liked)))
    title = (
        "Kinds of people, the largest first: their share of those who answered and of the population that these are a\n"
        "sample of, how many people most probably are of each, and the options with the best mean ranks"
    )
    return f"{title}\n{align(rows, left={7})}"


def _scalars(summary: "pandas.DataFrame") -> str:
    lines = []
    if "n_kinds" in summary.index:
        lines += [
            f"Kinds that somebody is of: {estimate_in(summary, 'n_kinds')}",
            "Pairs of people of whom a draw says as the most typical one whether they are of the same kind: "
            + estimate_in(summary, "kind_agreement"),
        ]
    if "alpha" in summary.index:
        lines.append(f"Concentration α: {estimate_in(summary, 'alpha')}")
    if "kappa" in summary.index:
        lines.append(f"Similarity of the kinds, kappa: {estimate_in(summary, 'kappa')} (large: the same weights)")
    lines.append(f"Log-likelihood of all people, no constant left out: {estimate_in(summary, 'log_likelihood')}")
    return "\n".join(lines)
