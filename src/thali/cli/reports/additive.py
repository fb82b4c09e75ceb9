"""The printed answer of additive clustering: of a fit to similarities, or to triplets."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import plural
from thali.errors import Argument, ArgumentError
from thali.model.settings import Settings
from thali.report.answers.additive import CONSTANT, ESTIMATES, POINTLESS
from thali.surfaces.aligned import align

from ..files import Answer, drawn, without_empty
from ..judgement import judgement
from . import Fitted, groups
from .shared import (
    and_others,
    by_member,
    estimate_in,
    estimate_of,
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

    from thali.model.latent_features.answers.estimators import Estimate


def prepare(fitted: Fitted) -> Settings:
    """Refuse another estimate than the usual one of data that have no other."""
    from thali.data.kinds import SIMILARITIES, TRIPLETS
    from thali.data.triplets import Triplets

    if fitted.settings.kind != Settings().kind and isinstance(fitted.data, Triplets):
        raise ArgumentError(Argument("kind"), f" is for {SIMILARITIES}, and these data are {TRIPLETS}; leave it out.")
    return fitted.settings


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.data.kinds import TRIPLETS
    from thali.model.latent_features.answers.check import check_sentence
    from thali.model.latent_features.answers.kind import kind_of
    from thali.plots.overlap import MAX_OBJECTS

    model = fitted.model
    if model.method == "map":
        return _answer_of_point(fitted)
    if kind_of(model.posterior_) == TRIPLETS:
        return _answer_of_triplets(fitted)
    if model.groups_:
        return groups.answer(fitted, "feature")
    check = model.check(fitted.settings.random_seed)
    estimate = model.estimate(fitted.settings.kind)
    similar = _similar(fitted)
    summary, features = model.summary(), model.features(similar=similar)
    pictures = without_empty(drawn(model, fitted.spec), model.posterior_)
    pictures["check"] = lambda plots: plots.check(check)
    if len(estimate.features) and len(estimate.similarity) <= MAX_OBJECTS:
        pictures["overlap"] = lambda plots: plots.overlap(estimate)
    return Answer(
        text=report(fitted, summary, features, estimate, check_sentence(check)),
        tables={
            "summary": summary.rename_axis("quantity"),
            "features": by_member(features, estimate.similarity.index.tolist()),
            "estimate": _with_constant(estimate, model.constant),
            "similarity": estimate.similarity.rename_axis("object"),
            "check": check,
            **membership_in(model, similar),
        },
        pictures=pictures,
    )


def _similar(fitted: Fitted) -> float | None:
    """From which Jaccard index on features of different draws are taken for one."""
    from thali.model.latent_features.answers.matched_features import similar_for

    return similar_for(fitted.model.posterior_["posterior"].sizes["option"], fitted.settings.similar)


def _answer_of_triplets(fitted: Fitted) -> Answer:
    """The same of a fit to triplets, which has no estimate of similarities but a check."""
    from thali.model.latent_features.answers.check import check_sentence
    from thali.model.latent_features.answers.pair_coordinates import pair_index
    from thali.model.latent_features.answers.tree import MAX_PAIRS

    model = fitted.model
    similar = _similar(fitted)
    summary, features = model.summary(), model.features(similar=similar)
    check = model.check(fitted.settings.random_seed)
    labels = list(map(str, model.posterior_["posterior"]["option"].values))
    few = pair_index(np.array([len(labels) - 2]), np.array([len(labels) - 1]), len(labels))[0] < MAX_PAIRS
    ranks = {"pairs": model.pair_ranks()} if few else {}
    posterior = model.posterior_["posterior"]
    text = [
        number_and_histogram("Number of features that answers depend on", posterior["n_shared_features"].to_numpy()),
        _features(model, features),
        *([_most_similar(ranks["pairs"])] if ranks else []),
        check_sentence(check),
        "\n".join(filter(None, [_concentration(model, summary), _lapse(model), _likelihood(summary)])),
        every_quantity(summary),
        _swaps(fitted),
        judgement(model, fitted.words),
    ]
    pictures = {name: draw for name, draw in drawn(model, fitted.spec).items() if name != "similarity"}
    pictures["check"] = lambda plots: plots.check(check)
    return Answer(
        "\n\n".join(text),
        {
            "summary": summary.rename_axis("quantity"),
            "features": by_member(features, labels),
            "check": check,
            **ranks,
            **membership_in(model, similar),
        },
        without_empty(pictures, model.posterior_),
    )


def _answer_of_point(fitted: Fitted) -> Answer:
    """The same of the most probable set of features alone, which has no intervals and nothing to check."""
    from thali.data.kinds import TRIPLETS
    from thali.model.latent_features.answers.kind import kind_of
    from thali.model.latent_features.answers.matched_features import members_in_words

    model = fitted.model
    table = model.features().drop(columns=POINTLESS, errors="ignore")
    labels = list(map(str, model.posterior_["posterior"]["option"].values))
    rows = [
        ("weight", "members"),
        *((f"{w:.3f}", members_in_words(m, labels)) for w, m in zip(table.weight, table.members, strict=True)),
    ]
    posterior = model.posterior_["posterior"].dataset
    said = [f"Log-likelihood of the data, natural logarithm: {float(posterior['log_likelihood'].mean()):.3f}"]
    if kind_of(model.posterior_) != TRIPLETS:
        constant = [f"Additive constant: {float(posterior['constant'].mean()):.3f}"] if model.constant else []
        share = 100 * model.estimate().variance_accounted_for()
        said = [*constant, f"Variance accounted for: {share:.1f} %", _deviation(model, model.summary()), *said]
    pictures = drawn(model, fitted.spec)
    return Answer(
        "\n\n".join(
            [
                f"The most probable set of features that was found has {plural(len(table), 'feature')} of two objects"
                f" or more\n{align(rows, left={1})}",
                "\n".join(said),
                judgement(model, fitted.words),
            ]
        ),
        {"features": by_member(table, labels)},
        without_empty({"features": pictures["features"]}, model.posterior_),
    )


def _most_similar(ranks: "pandas.DataFrame") -> str:
    """The pairs that are most similar, and least."""
    named = [f"{a} and {b}" for a, b in zip(ranks["a"], ranks["b"], strict=True)]
    if len(named) < 7:
        return f"Pairs, the most similar first: {'; '.join(named)}"
    return f"Most similar pairs: {'; '.join(named[:3])}; least similar: {'; '.join(named[-3:])}"


def _lapse(model) -> str:
    rule = {"exp": "exp of the shared weight", "ratio": "shared weight and a constant"}[model.link]
    return f"Value of a pair: {rule} (--link {model.link}); lapse: {model.lapse:g}, fixed"


def _likelihood(summary: "pandas.DataFrame") -> str:
    return f"Log-likelihood of all answers, natural logarithm: {estimate_in(summary, 'log_likelihood')}"


def _with_constant(estimate, has_constant: bool) -> "pandas.DataFrame":
    """The features of an estimate and, as the last row, the additive constant."""
    labels = estimate.similarity.index.tolist()
    table = by_member(estimate.features, labels)
    table.insert(0, "term", "feature")
    if has_constant:
        last = {"term": "constant", "members": CONSTANT, "probability": 1.0, "weight": float(estimate.constant)}
        missing = dict.fromkeys(estimate.features.columns, float("nan"))
        table.loc[len(table)] = [(missing | last).get(str(column), 1) for column in table.columns]
    return table


def report(
    fitted: Fitted, summary: "pandas.DataFrame", features: "pandas.DataFrame", estimate: "Estimate", checked: str
) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    fitted : Fitted
    summary, features : pandas.DataFrame
        Its `summary()` and `features()`.
    estimate : Estimate
        One of its estimates.
    checked : str
        What its `check()` says.

    Returns
    -------
    str
        Lines without a final line break: the number of features, the most probable features and which of their
        probabilities are not settled, the estimate, which similarities the model misses, α, σ, the prior of the weights
        and the log-likelihood, how the temperatures traded, every row of the summary with its R-hat and effective
        sample sizes, and whether they are good enough.
    """
    model = fitted.model
    return "\n\n".join(
        [
            _number_of_features(model),
            _features(model, features),
            f"{ESTIMATES[estimate.kind]}\n{estimate}",
            checked,
            _scalars(model, summary),
            every_quantity(summary),
            _swaps(fitted),
            judgement(model, fitted.words),
        ]
    )


def _number_of_features(model) -> str:
    posterior = model.posterior_["posterior"]
    text = number_and_histogram("Number of features with two owners or more", posterior["n_shared_features"].to_numpy())
    every = posterior["n_features"].to_numpy()
    counted = f"{every[0, 0]} in every draw" if (every == every[0, 0]).all() else estimate_of(every)
    return f"{text}\nNumber of all features, those of a single object included: {counted}"


def _features(model, features) -> str:
    if not len(features):
        return "No feature that objects share is present often enough to be listed."
    text = f"Most probable features, their weights and the objects that have them{matched_as(features)}\n"
    text += features_table(features, "feature", model.posterior_["posterior"]["option"].values.tolist())
    text += and_others(features)
    if "place" in features:
        text += "\n" + tree_likeness(model.posterior_, model.get_params()["features"], "feature", "objects")
    text += not_agreed(features)
    posterior = model.posterior_["posterior"].dataset
    if "sigma" in posterior and (posterior["n_features"] > posterior["n_shared_features"]).any():
        text += "\nNote: similarities tell nothing of a feature of a single object; such are left out here."
    return text


def _scalars(model, summary) -> str:
    lines = [_concentration(model, summary), _deviation(model, summary), _weight_prior(model)]
    likelihood = estimate_in(summary, "log_likelihood")
    lines.append(f"Log-likelihood of all the data, the logarithm of a density: {likelihood}")
    return "\n".join(line for line in lines if line)


def _concentration(model, summary) -> str:
    if "alpha" in summary.index:
        return f"Concentration α: {estimate_in(summary, 'alpha')}"
    return "" if model.alpha is None else f"Concentration α: {model.alpha:g}, fixed"


def _deviation(model, summary) -> str:
    from thali.model.latent_features.answers.similarities import judgements_of

    several = bool((judgements_of(model.posterior_) != 1).any())
    if "sigma" in summary.index:
        from thali.model.latent_features.likelihoods.additive import VARIANCE_SHAPE, VARIANCE_SHARE

        found = f"{estimate_in(summary, 'sigma')}, learned with the prior σ² ~ InverseGamma({VARIANCE_SHAPE:g},"
        found += f" {VARIANCE_SHARE:g} times the variance of the similarities"
        found += ", divided by the mean of 1 / judgements)" if several else ")"
    elif "sigma_scores_" in vars(model):
        found = f"{model.sigma_:.3g}, which of {len(model.sigma_scores_)} values predicts similarities left out best"
        found += " (--sigma gives another, --sigma learned learns it)"
    elif model.sigma is not None:
        found = f"{model.sigma:g}, fixed"
    else:
        found = f"{float(model.posterior_['posterior']['sigma'][0, 0]):.3g}, that of the data"
    return f"Standard deviation σ of {'one judgement' if several else 'a similarity'}: {found}"


def _weight_prior(model) -> str:
    shape, rate = model.weight_prior_
    whose = "each weight and of the constant" if model.constant else "each weight"
    return (
        f"Prior of {whose}: Gamma(shape {shape:g}, rate {rate:.3g}), with mean {shape / rate:.3g} on the scale of the"
        " similarities; for similarities c times as large take a rate c times as small (--weight-prior)"
    )


def _swaps(fitted: Fitted) -> str:
    from thali.model.latent_features.answers.swaps import swap_sentence

    model = fitted.model
    stats = model.posterior_["sample_stats"].to_dataset()
    if "temperature" not in stats:
        return "The chains were not tempered."
    temperature, rates = stats["temperature"].to_numpy(), stats["swap_rate"].to_numpy()
    levels = np.isfinite(temperature).sum(axis=1)
    number = f"{levels.min()}" if np.ptp(levels) == 0 else f"{levels.min()} to {levels.max()}"
    text = f"Tempered: {number} temperatures from 1 to {np.nanmax(temperature):g}"
    if not np.isfinite(rates).any():
        return f"{text}; the fit was too short to tell how often neighbours traded places."
    text += f"; neighbours traded places in {100 * np.nanmin(rates):.0f} % of the trials or more."
    wrong = swap_sentence(model.posterior_)
    return text if wrong is None else f"{text}\nWARNING: {wrong.render(fitted.words)}"
