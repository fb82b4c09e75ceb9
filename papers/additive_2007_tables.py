"""The figures of Navarro & Griffiths (2007), tables of a fit beside them, and what the two say."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._comparison.pair_holdouts import compute_mcse
from thali._data.similarities import Similarities
from thali._posterior.summary_table import compute_diagnostics

if TYPE_CHECKING:
    import pandas


# Figures of Navarro & Griffiths (2007, section 6): numbers, countries and letters, and the length
# of each run here


PAPER = "Navarro & Griffiths (2007)"
# the paper states alpha only for the numbers, and does not state the prior of weights
ALPHA, RATE = 0.5, 10.0
ESTIMATORS = {
    "conditional-map": "conditional MAP",
    "map-features": "MAP features",
    "joint-map": "joint MAP",
    "expectation": "expectation",
}


class Printed(NamedTuple):
    """A feature in the paper's tables, and its probability in a longer run."""

    probability: float
    weight: float  # mean over the draws that have it
    long_run: float  # probability that an independent implementation found by tempering, 8 chains
    long_run_error: float


class Design(NamedTuple):
    """One data set."""

    name: str
    table: str
    features: dict[tuple[str, ...], Printed]
    constant: float
    sigma: float
    explained: float  # variance accounted for, %
    above: float  # features more probable than this are listed, the paper's aside
    modal: float  # number of features; NaN: not given
    shares: dict[tuple[int, int], float]  # probability that the number of features is in this range
    # a probability, and how many features have a larger one
    more_probable: tuple[float, int] | None
    draws: tuple[int, int, int]  # small, standard, full
    thin: int

    @property
    def labels(self) -> list[str]:
        """All objects; each is in some feature of the paper's tables of numbers and countries."""
        if self.name == "additive-letters":
            return [chr(ord("A") + number) for number in range(26)]
        return sorted({label for members in self.features for label in members})


NUMBERS = Design(
    name="additive-numbers",
    table="Table 1(b)",
    features={
        ("3", "6", "9"): Printed(0.79, 0.326, 0.747, 0.013),
        ("2", "4", "8"): Printed(0.70, 0.385, 0.656, 0.016),
        ("0", "1", "2"): Printed(0.69, 0.266, 0.809, 0.005),
        ("2", "3", "4", "5", "6"): Printed(0.59, 0.240, 0.624, 0.017),
        ("6", "7", "8", "9"): Printed(0.57, 0.262, 0.587, 0.017),
        ("0", "1", "2", "3", "4"): Printed(0.42, 0.173, 0.446, 0.009),
        ("2", "4", "6", "8"): Printed(0.41, 0.387, 0.379, 0.017),
        ("1", "3", "5", "7", "9"): Printed(0.40, 0.223, 0.360, 0.017),
        ("4", "5", "6", "7", "8"): Printed(0.34, 0.181, 0.333, 0.017),
        ("7", "8", "9"): Printed(0.26, 0.293, 0.353, 0.016),
    },
    constant=0.075,
    sigma=0.05,
    explained=97.4,
    above=0.25,
    modal=11,
    shares={(11, 11): 0.272, (9, 13): 0.926},
    more_probable=None,
    draws=(100, 5_000, 20_000),
    thin=100,
)
COUNTRIES = Design(
    name="additive-countries",
    table="Table 2",
    features={
        ("Germany", "Italy", "Spain"): Printed(1.00, 0.593, 0.9999, 0.0001),
        ("China", "Indonesia", "Japan", "Philippines", "Vietnam"): Printed(
            1.00, 0.421, 1.0, 0.0001
        ),
        ("China", "Germany", "Japan", "Russia", "USA"): Printed(0.99, 0.267, 0.9926, 0.0002),
        ("Nigeria", "Zimbabwe"): Printed(0.62, 0.467, 0.694, 0.009),
        ("Cuba", "Iraq", "Jamaica", "Libya", "Nigeria", "Zimbabwe"): Printed(
            0.52, 0.209, 0.593, 0.010
        ),
        ("Iraq", "Libya"): Printed(0.36, 0.373, 0.420, 0.004),
        ("Iraq", "Libya", "Nigeria", "Zimbabwe"): Printed(0.33, 0.299, 0.258, 0.007),
        ("Indonesia", "Philippines"): Printed(0.25, 0.311, 0.246, 0.002),
    },
    constant=0.035,
    sigma=0.1,
    explained=85.4,
    above=0.15,
    modal=8,
    shares={},
    more_probable=(0.25, 8),
    draws=(100, 4_000, 20_000),
    thin=50,
)
LETTERS = Design(
    name="additive-letters",
    table="Table 3",
    features={
        ("M", "N", "W"): Printed(1.00, 0.686, 1.0, 0.0005),
        ("I", "L", "T"): Printed(0.99, 0.341, 0.9998, 0.0005),
        ("C", "G"): Printed(0.99, 0.623, 1.0, 0.0005),
        ("D", "O", "Q"): Printed(0.99, 0.321, 0.996, 0.002),
        ("P", "R"): Printed(0.99, 0.465, 1.0, 0.0005),
        ("E", "F"): Printed(0.99, 0.653, 1.0, 0.0005),
        ("E", "H"): Printed(0.99, 0.322, 0.997, 0.001),
        ("K", "X"): Printed(0.99, 0.427, 0.991, 0.002),
        ("B", "G", "R"): Printed(0.98, 0.226, 0.999, 0.001),
        ("C", "J", "U"): Printed(0.92, 0.225, 0.963, 0.004),
    },
    constant=0.003,
    sigma=0.05,
    explained=89.2,
    above=0.5,
    modal=np.nan,
    shares={},
    more_probable=(0.9, 10),
    draws=(100, 2_500, 10_000),
    thin=50,
)
LETTERS_CONSTANT = 0.03  # what Table 3 must mean

CONSTANT = "additive constant"
BEYOND = 8  # this many features of a single object, Poisson(alpha), are practically impossible


def feature_table(design: Design, model: AdditiveClustering) -> "pandas.DataFrame":
    """The paper's features and whatever else is probable here, the additive constant last.

    `members` are the labels of each; the rest is to be shown.
    """
    import pandas as pd

    found = model.features(min_probability=design.above)
    further = [tuple(sorted(members)) for members in found["members"]]
    listed = [*design.features, *(members for members in further if members not in design.features)]
    weights = weight_draws(model.posterior_["latent_features"].dataset, listed)
    present = (weights > 0).astype(float)
    rows = []
    for members, weight, there, r_hat in zip(
        listed, weights, present, compute_diagnostics(present)[1], strict=True
    ):
        paper = design.features.get(members)
        probability = there.mean()
        mean = weight.sum() / there.sum() if probability else np.nan
        rows.append(
            {
                "members": members,
                "feature": " ".join(members),
                "prob., paper": paper.probability if paper else np.nan,
                "prob.": probability,
                "error of prob.": compute_mcse(there),
                "weight, paper": paper.weight if paper else np.nan,
                "weight": mean,
                "error of weight": compute_mcse((weight - mean) * there) / probability
                if probability
                else np.nan,
                "R-hat of prob.": r_hat,
            }
        )
    constant = model.posterior_["posterior"]["constant"].values
    last = {
        "members": (),
        "feature": CONSTANT,
        "prob., paper": 1.0,
        "prob.": 1.0,
        "weight, paper": design.constant,
    }
    return pd.DataFrame(
        [*rows, last | {"weight": constant.mean(), "error of weight": compute_mcse(constant)}]
    )


def weight_draws(posterior: Any, features: list[tuple[str, ...]]) -> np.ndarray:
    """Weight of each feature in each draw, of copies their sum, 0 where it is absent: (features,
    chain, draw)."""
    options, owners, weights = (
        posterior["option"].values,
        posterior["features"].values,
        posterior["weights"].values,
    )
    return np.stack(
        [
            np.where((owners == np.isin(options, members)).all(axis=-1), weights, 0.0).sum(-1)
            for members in features
        ]
    )


def quantity_table(design: Design, model: AdditiveClustering) -> "pandas.DataFrame":
    """What the paper says in words."""
    import pandas as pd

    posterior = model.posterior_["posterior"].dataset
    shared = posterior["n_shared_features"].values
    of_number = probabilities_of_numbers(shared)
    rows: list[tuple[Any, ...]] = [
        ("most probable number of features", design.modal, float(most_probable(of_number)), np.nan)
    ]
    for (low, high), paper in design.shares.items():
        what = (
            f"probability of {low} features"
            if low == high
            else f"probability of {low} to {high} features"
        )
        share = of_number[..., low : high + 1].sum(axis=-1)
        rows.append((what, paper, share.mean(), compute_mcse(share)))
    rows.append(
        (
            "mean number of features of two objects or more",
            np.nan,
            shared.mean(),
            compute_mcse(shared.astype(float)),
        )
    )
    if design.more_probable:
        least, count = design.more_probable
        number = len(model.features(least))
        rows.append((f"features with a probability above {least}", count, float(number), np.nan))
    rows.append(
        (
            "variance that the expectation accounts for, %",
            design.explained,
            *variance_explained(model),
        )
    )
    return pd.DataFrame(rows, columns=["quantity", "paper", "here", "error"])


def probabilities_of_numbers(shared: np.ndarray) -> np.ndarray:
    """Of each number of features, 0 and up, given how many two objects or more share: a further
    axis.

    The features of a single object are Poisson(alpha) whatever the data, so that they need not be
    counted.
    """
    from scipy.stats import poisson

    return poisson.pmf(np.arange(shared.max() + BEYOND) - shared[..., None], ALPHA)


def most_probable(of_number: np.ndarray) -> int:
    """The number of features with the largest mean over draws."""
    return int(np.argmax(of_number.mean(axis=(0, 1))))


def number_table(model: AdditiveClustering) -> "pandas.DataFrame":
    """Fig. 4: how probable each number of features is."""
    import pandas as pd

    shared = model.posterior_["posterior"].dataset["n_shared_features"].values
    of_number = probabilities_of_numbers(shared)
    is_number = (shared[..., None] == np.arange(of_number.shape[-1])).astype(float)
    rows = [
        {
            "features": number,
            "all": of_number[..., number].mean(),
            "error of all": compute_mcse(of_number[..., number]),
            "of two objects or more": is_number[..., number].mean(),
            "error of those": compute_mcse(is_number[..., number]),
        }
        for number in range(of_number.shape[-1])
        if max(of_number[..., number].mean(), is_number[..., number].mean()) >= 0.001
    ]
    return pd.DataFrame(rows)


def variance_explained(model: AdditiveClustering) -> tuple[float, float]:
    """By the posterior mean of the similarities, %, and its Monte Carlo error to first order."""
    estimate = model.estimate("expectation")
    upper = np.triu_indices(len(estimate.observed), 1)
    observed, fitted = estimate.observed[upper], estimate.similarity.to_numpy()[upper]
    slope = 2.0 * (observed - fitted) / np.sum((observed - observed.mean()) ** 2)
    draws = model.posterior_["posterior"].dataset["similarity"].values
    return 100.0 * estimate.variance_accounted_for(), 100.0 * compute_mcse(draws @ slope)


def estimator_table(model: AdditiveClustering) -> "pandas.DataFrame":
    """How many features each of the four estimators has, and how well it fits."""
    import pandas as pd

    rows = []
    for kind, name in ESTIMATORS.items():
        estimate, is_mean = model.estimate(kind), kind == "expectation"
        rows.append(
            {
                "estimator": name,
                "features": "all that occur" if is_mean else str(len(estimate.features)),
                "variance accounted for, %": 100.0 * estimate.variance_accounted_for(),
                "error": variance_explained(model)[1] if is_mean else np.nan,
                "constant": estimate.constant,
            }
        )
    return pd.DataFrame(rows)


def weight_table(model: AdditiveClustering) -> "pandas.DataFrame":
    """The features of the four estimators with their weights; of the expectation those that it
    lists."""
    import pandas as pd

    weights: dict[tuple[str, ...], dict[str, float]] = {}
    for kind in ("expectation", *ESTIMATORS):
        for row in model.estimate(kind).features.to_dict("records"):
            weights.setdefault(row["members"], {})[ESTIMATORS[kind]] = row["weight"]
    rows = [{"feature": " ".join(members)} | of_kind for members, of_kind in weights.items()]
    return pd.DataFrame(rows, columns=["feature", *ESTIMATORS.values()])


def repeats_table(
    features: Any, quantities: Any, repeats: list[dict[Any, Any]]
) -> "pandas.DataFrame":
    """Results of repetitions of the paper's protocol, beside the paper and the long run."""
    import pandas as pd

    found = np.array([run["probability"] for run in repeats])
    rows = [
        (row["feature"], row["prob., paper"], row["prob."], low, high)
        for row, low, high in zip(
            features.to_dict("records")[:-1], found.min(axis=0), found.max(axis=0), strict=True
        )
    ]
    for row in quantities.to_dict("records"):
        of_runs = [run["quantities"][row["quantity"]] for run in repeats]
        rows.append((row["quantity"], row["paper"], row["here"], min(of_runs), max(of_runs)))
    names = ["feature or quantity", "paper", "long run", "lowest repeat", "highest repeat"]
    return pd.DataFrame(rows, columns=names)


# What is remarked below the tables ----------------------------------------------------------------


def remarks(design: Design, model: AdditiveClustering, table: Any) -> list[str]:
    """Differences between the tables and the paper's."""
    unstated = "" if design.name == "additive-numbers" else " and, for these data, alpha"
    sentences = [
        f"The paper does not state its Gamma prior of the weights{unstated}; shape 1, rate"
        f" {RATE:g} and alpha {ALPHA} come nearest to its tables. sigma = {design.sigma} as"
        " printed. Each pair is counted once (by eq. 1 it would count twice), and the constant"
        " has the prior of the weights.",
        _on_features(design, table),
        _on_number(design, model),
        _on_listed(model),
        _on_convergence(model),
    ]
    if sentence := _on_long_run(design, table):
        sentences.append(sentence)
    return sentences


def _on_features(design: Design, table: Any) -> str:
    printed = table[table["weight, paper"].notna() & (table["feature"] != CONSTANT)]
    off = (printed["prob."] - printed["prob., paper"]).abs()
    # the paper's figures are rounded
    agree = int((off <= 0.005 + 2 * printed["error of prob."]).sum())
    heavier = (printed["weight"] - printed["weight, paper"]).abs()
    constant = table.iloc[-1]
    sentence = (
        f"{design.table}: {agree} of {len(printed)} probabilities agree with the paper's within"
        f" rounding and two Monte Carlo errors, the largest difference being {off.max():.2f}"
        f" ({printed.loc[off.idxmax(), 'feature']}); weights differ by {heavier.max():.3f} at most"
        f" ({printed.loc[heavier.idxmax(), 'feature']}), the constant is {constant['weight']:.3f}"
        f" (paper: {design.constant})."
    )
    least = min(feature.probability for feature in design.features.values())
    omitted = table[
        table["prob., paper"].isna() & (table["prob."] - 2 * table["error of prob."] > least)
    ]
    if len(omitted):
        listed = ", ".join(
            f"{row['feature']} ({row['prob.']:.2f})" for row in omitted.to_dict("records")
        )
        sentence += (
            f" Here more probable than the paper's last ({least}), but not in its table: {listed}."
        )
    return sentence


def _on_number(design: Design, model: AdditiveClustering) -> str:
    of_number = probabilities_of_numbers(
        model.posterior_["posterior"].dataset["n_shared_features"].values
    )
    share = of_number.mean(axis=(0, 1))
    first, second = np.argsort(-share)[:2]
    paper = (
        "" if np.isnan(design.modal) else f" The paper has {design.modal:g} as the most probable."
    )
    return (
        f"Fig. 4: {first} features have probability {share[first]:.3f}, {second} have"
        f" {share[second]:.3f} (errors {compute_mcse(of_number[..., first]):.3f} and"
        f" {compute_mcse(of_number[..., second]):.3f}), those of a single object counted, of which there"
        f" are Poisson({ALPHA}) whatever the data.{paper}"
    )


def _on_listed(model: AdditiveClustering) -> str:
    """The share of the fit due to the listed features."""
    estimate = model.estimate("expectation")
    table = estimate.features
    owners = np.array(
        [np.isin(estimate.similarity.index, members) for members in table["members"]], float
    )
    alone = (
        estimate.constant
        + (owners.T * (table["probability"] * table["weight"]).to_numpy()) @ owners
    )
    of_listed = dataclasses.replace(estimate, similarity=estimate.similarity * 0.0 + alone)
    return (
        "The expectation sums over all features that occur: it accounts for"
        f" {variance_explained(model)[0]:.1f} % of the variance, its {len(table)} listed features"
        f" alone for {100 * of_listed.variance_accounted_for():.1f} %."
    )


def _on_convergence(model: AdditiveClustering) -> str:
    """The agreement of the chains, in the worst quantity."""
    summary: Any = model.summary()
    if not summary["r_hat"].notna().any():
        return "There are too few draws to tell whether the chains agree."
    worst, least = summary["r_hat"].idxmax(), summary["ess_bulk"].idxmin()
    posterior = model.posterior_["posterior"].sizes
    return (
        f"The {posterior['chain']} tempered chains of {posterior['draw']:,} draws: R-hat is at"
        f" most {summary['r_hat'].max():.3f} ({worst}), the effective sample size at least"
        f" {summary['ess_bulk'].min():,.0f} ({least})."
    )


def _on_long_run(design: Design, table: Any) -> str:
    """Empty where there are too few draws for errors."""
    known = np.array(
        [(feature.long_run, feature.long_run_error) for feature in design.features.values()]
    )
    here = table.iloc[: len(known)]
    off = np.abs(here["prob."].to_numpy() - known[:, 0])
    errors = off / np.hypot(np.maximum(here["error of prob."].to_numpy(), 5e-4), known[:, 1])
    if not np.isfinite(errors).all():
        return ""
    return (
        "A longer run of an independent implementation gives these probabilities too: the largest"
        f" difference is {off.max():.3f}, or {errors.max():.1f} standard errors."
    )


def on_repeats(table: Any, repeats: list[dict[Any, Any]]) -> str:
    """Whether the paper's protocol gives the same answer twice."""
    found = np.array([run["probability"] for run in repeats])
    spread = np.ptp(found, axis=0)
    widest = int(np.argmax(spread))
    of_features = np.nanmax([run["r_hat"] for run in repeats])
    of_whole = np.nanmax([run["r_hat of the whole"] for run in repeats])
    sentence = (
        f"The paper's own sampler and protocol, run {len(repeats)} times, gives"
        f" {table['feature'].iloc[widest]} a probability of {found[:, widest].min():.2f} to"
        f" {found[:, widest].max():.2f}. R-hat of the number of features and of the log-likelihood"
        f" is at most {of_whole:.3f}, R-hat of the presence of a feature up to "
        + (f"{of_features:.2f}" if of_features < 100 else "more than 100")
    )
    if spread[widest] <= 0.1:
        return (
            f"{sentence}: the feature probabilities are reproducible to within"
            f" {spread[widest]:.2f}."
        )
    return (
        f"{sentence}: chains stay long in one family of features, so that these probabilities"
        " cannot be expected to agree with the paper's any better."
    )


def explained_by_print(design: Design, data: Similarities, constant: float) -> float:
    """Variance, in %, that the printed features and weights account for with that constant."""
    fitted = np.full(len(data.values), constant)
    for members, printed in design.features.items():
        owners = np.isin(data.labels, members)
        fitted += printed.probability * printed.weight * (owners[data.first] & owners[data.second])
    left, total = (
        np.sum((data.values - fitted) ** 2),
        np.sum((data.values - data.values.mean()) ** 2),
    )
    return float(100.0 * (1.0 - left / total))
