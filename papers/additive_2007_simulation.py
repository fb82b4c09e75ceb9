"""Navarro & Griffiths (2007), section 5: features recovered from simulated similarities; Figs. 2
and 3."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali import datasets
from thali._aspects.draws.feature_columns import read_columns
from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._aspects.priors.indian_buffet import IndianBuffet
from thali._aspects.results.feature_set_search import find_feature_sets
from thali._inference.progress_display import Progress
from thali._plots._style import COLOURS, create_axes
from thali.errors import ConvergenceWarning, EstimateWarning, InterruptedWarning

from .additive_2007_tables import ESTIMATORS, PAPER
from .reproduction_entry import Entry, Reproduction, Settings, finished_parts
from .samplers import use_published_sampler

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


_MARKERS = "os^D"


def traces_picture(chains: Mapping[int, np.ndarray], block: int) -> "Sequence[Axes]":
    """Fig. 2: log posterior of single chains (chains, blocks of draws) above the mean of the
    tempered ones, by n."""
    axes = create_axes(3.6 * len(chains), 3.2, 1, len(chains))
    for ax, (n, values) in zip(axes, chains.items(), strict=True):
        ax.axhline(
            0.0, color="0.2", linestyle="--", linewidth=1.2, label="tempered chains, mean", zorder=3
        )
        draws = block * (np.arange(values.shape[1]) + 0.5)
        for number, chain in enumerate(values):
            label = "single chains" if number == 0 else None
            ax.plot(draws, chain, color=COLOURS[0], linewidth=0.9, alpha=0.7, label=label)
        ax.set_title(f"n = {n}", fontsize=10)
        ax.set_xlabel("draw")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("log posterior, nats, relative")
    axes[0].legend(frameon=False, fontsize=8)
    return axes


def numbers_picture(
    counts: Mapping[int, list[list[int]]], paper: Mapping[int, int]
) -> "Sequence[Axes]":
    """Fig. 3(a): posterior of the number of features, a line a data set, by n; true number and the
    paper's mode."""
    axes = create_axes(3.6 * len(counts), 3.2, 1, len(counts))
    for ax, (n, data_sets) in zip(axes, counts.items(), strict=True):
        for number, row in enumerate(data_sets):
            share = np.array(row) / np.sum(row)
            seen = np.flatnonzero(share)
            label = "a data set" if number == 0 else None
            ax.plot(
                seen,
                share[seen],
                color=COLOURS[0],
                linewidth=0.9,
                marker="o",
                markersize=3,
                alpha=0.7,
                label=label,
            )
        ax.axvline(
            round(2 * np.log2(n)),
            color=COLOURS[1],
            linestyle="--",
            linewidth=1.2,
            label="true number",
        )
        if n in paper:
            ax.axvline(
                paper[n],
                color="0.4",
                linestyle=":",
                linewidth=1.5,
                label="most probable in the paper",
            )
        ax.set_title(f"n = {n}", fontsize=10)
        ax.set_xlabel("features of two objects or more")
        ax.locator_params(axis="x", integer=True)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("posterior probability")
    axes[-1].legend(frameon=False, fontsize=8, loc="upper right")
    return axes


def explained_picture(
    values: Mapping[int, np.ndarray], targets: Sequence[str], estimators: Sequence[str]
) -> "Sequence[Axes]":
    """Fig. 3(b): variance accounted for (data sets, estimators, targets) by n, with the error over
    data sets."""
    axes = create_axes(3.4 * len(targets), 3.4, 1, len(targets))
    places = np.arange(len(values))
    for target, (ax, symbol) in enumerate(zip(axes, targets, strict=True)):
        for kind, name in enumerate(estimators):
            of_kind = [found[:, kind, target] for found in values.values()]
            mean = [found.mean() for found in of_kind]
            error = [
                found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
                for found in of_kind
            ]
            aside = places + 0.12 * (kind - (len(estimators) - 1) / 2)
            style = {
                "color": COLOURS[kind],
                "marker": _MARKERS[kind],
                "markersize": 4,
                "capsize": 2,
                "label": name,
            }
            ax.errorbar(aside, mean, error, linewidth=0.9, **style)
        ax.set_xticks(places, [str(n) for n in values])
        ax.set(xlabel="objects", title=f"target {symbol}")
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("variance accounted for, %")
    axes[-1].legend(frameon=False, fontsize=8)
    return axes


def reconstructed_picture(firsts: Mapping[int, dict[Any, Any]]) -> "Sequence[Axes]":
    """Observed and true similarities of the first data set of each n against those of the
    expectation."""
    axes = create_axes(3.4 * len(firsts), 3.6, 1, len(firsts))
    for ax, (n, first) in zip(axes, firsts.items(), strict=True):
        fitted = np.array(first["fitted"])
        for colour, marker, name in zip(COLOURS, "ox", ("observed", "true"), strict=False):
            ax.scatter(
                fitted,
                first[name],
                s=10,
                color=colour,
                marker=marker,
                linewidth=0.8,
                alpha=0.7,
                label=name,
            )
        ends = [min(fitted.min(), *first["observed"]), max(fitted.max(), *first["observed"])]
        ax.plot(ends, ends, color="0.5", linewidth=0.8, zorder=1)
        ax.set(xlabel="fitted by the expectation", title=f"n = {n}")
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("similarity")
    axes[0].legend(frameon=False, fontsize=8)
    return axes


# The study ----------------------------------------------------------------------------------------


ALPHA = 2.0
RATE, BROAD = 1.0, 0.1  # of the weight prior, shape 1, which the paper does not state
TARGETS = {"observed": "S_o", "again": "S_n", "true": "S_t"}
FAR = (5.0, 15.0)  # nats below the best
BLOCK = 20  # draws that are averaged in the picture of the chains

# What the text says; Fig. 3(b) is a plot.
PAPER_MODAL = {8: 3, 16: 7, 32: 10}
PAPER_EXPLAINED = "about 90 / 90 / 100"  # all four estimators for n = 32
PAPER_FAILED = {32: 0.5}


class Size(NamedTuple):
    """How much to run."""

    data_sets: Mapping[int, int]  # of each number of objects
    tempered: Mapping[str, int]  # budget of the tempered chains
    single: Mapping[str, int]  # of the paper's: burn-in 1000, 1000 draws, lag 10, 10 chains
    rates: tuple[float, ...] = (RATE,)


_TEMPERED = {"draws": 300, "tune": 300, "thin": 50, "chains": 3}
_PROTOCOL = {"draws": 1000, "tune": 100, "thin": 10, "chains": 10}
SIZES = {
    "small": Size(
        {8: 2, 16: 2},
        {"draws": 60, "tune": 40, "thin": 50, "chains": 2},
        {"draws": 100, "tune": 20, "thin": 10, "chains": 4},
    ),
    "standard": Size({8: 12, 16: 12, 32: 8}, _TEMPERED, _PROTOCOL),
    "full": Size(
        {8: 20, 16: 20, 32: 10}, _TEMPERED | {"draws": 800, "tune": 400}, _PROTOCOL, (RATE, BROAD)
    ),
}


def simulation(settings: Settings) -> Reproduction:
    """Figs. 2 and 3: the number of features, the four estimators, and chains that miss the mode."""
    size = SIZES[settings.size]
    records, interrupted = _all_records(settings, size)
    if not records:
        raise KeyboardInterrupt
    return Reproduction(_tables(records), _remarks(records), _pictures(records), interrupted)


# one data set -------------------------------------------------------------------------------------


def _all_records(settings: Settings, size: Size) -> tuple[list[dict[Any, Any]], bool]:
    """The results of each finished data set and prior."""
    cells = [
        (rate, n, number)
        for rate in size.rates
        for n, count in size.data_sets.items()
        for number in range(count)
    ]

    def start(progress: Progress) -> None:
        for model, budget in (
            (_model(RATE), size.tempered),
            (use_published_sampler(_model(RATE)), size.single),
        ):
            model.prepare(datasets.additive(8, 0).data, 1, 1, budget["thin"]).compile(progress)

    parts = {" ".join(map(str, cell)): partial(_record, settings, size, *cell) for cell in cells}
    with warnings.catch_warnings():
        # the tables show them
        for warning in (ConvergenceWarning, InterruptedWarning, EstimateWarning):
            warnings.simplefilter("ignore", warning)
        determined_by = {"tempered": dict(size.tempered), "single": dict(size.single)}
        return finished_parts(
            settings, "data-sets", determined_by, None, parts, ("fitting", "data sets"), start
        )


def _model(rate: float) -> AdditiveClustering:
    return AdditiveClustering(alpha=ALPHA, weight_prior=(1.0, rate))  # sigma is that of the data


def _record(
    settings: Settings, size: Size, rate: float, n: int, number: int
) -> dict[Any, Any] | None:
    """The results for one data set; None if Ctrl-C came. The data do not depend on the prior."""
    seeds = np.random.SeedSequence(settings.random_seed, spawn_key=(n, number)).spawn(3)
    made = datasets.additive(n, seeds[0])
    shared = {"cores": settings.cores, "progressbar": False}
    model = _model(rate).fit(made.data, **size.tempered, random_seed=seeds[1], **shared)
    if model._interrupted_:
        return None
    posterior = model.posterior_["posterior"].dataset
    estimates = {
        kind: model.estimate(kind) for kind in (ESTIMATORS if rate == RATE else ["expectation"])
    }
    targets = dict(zip(TARGETS, (made.data, made.again, made.true), strict=True))
    found = {
        "n": n,
        "number": number,
        "rate": rate,
        "numbers": np.bincount(posterior["n_shared_features"].values.ravel()).tolist(),
        "with singles": int(np.argmax(np.bincount(posterior["n_features"].values.ravel()))),
        "r_hat": float(model.summary()["r_hat"].to_dict()["log_likelihood"]),
        "explained": {
            kind: {
                name: 100 * estimate.variance_accounted_for(target)
                for name, target in targets.items()
            }
            for kind, estimate in estimates.items()
        },
    }
    if rate != RATE:
        return found
    single = use_published_sampler(_model(rate)).fit(
        made.data, **size.single, random_seed=seeds[2], **shared
    )
    if single._interrupted_:
        return None
    traces, tempered = log_posterior(single, rate), log_posterior(model, rate)
    ends = traces[:, traces.shape[1] // 2 :].mean(axis=1)
    best = max(ends.max(), tempered.mean(axis=1).max())
    found["below"] = (best - ends).tolist()
    if number == 0:
        blocks = (
            traces[:, : traces.shape[1] // BLOCK * BLOCK]
            .reshape(len(traces), -1, BLOCK)
            .mean(axis=-1)
        )
        fitted = estimates["expectation"].similarity.to_numpy()[made.data.first, made.data.second]
        found |= {"traces": (blocks - tempered.mean()).tolist(), "fitted": fitted.tolist()}
        found |= {name: target.values.tolist() for name, target in targets.items()}
    return found


def log_posterior(model: AdditiveClustering, rate: float) -> np.ndarray:
    """Log-likelihood, log prior of the features of two objects or more, of their weights and the
    constant.

    Returned is (chain, draw). Features of a single object are left out: they only add noise.
    """
    posterior = model.posterior_["posterior"].dataset
    sets = find_feature_sets(read_columns(model._view), posterior.sizes["option"])
    prior = np.array(
        [IndianBuffet().log_prob_shared(sets.matrix(k), ALPHA) for k in range(len(sets.counts))]
    )
    shape = posterior["constant"].shape
    weights = np.bincount(sets.draw, sets.weights, minlength=len(sets.of_draw)).reshape(shape)
    number = sets.sizes[sets.of_draw].reshape(shape)
    density = (number + 1) * np.log(rate) - rate * (weights + posterior["constant"].values)
    return posterior["log_likelihood"].values + prior[sets.of_draw].reshape(shape) + density


# tables and remarks -------------------------------------------------------------------------------


def _groups(records: list[dict[Any, Any]]) -> Iterator[tuple[float, int, list[dict[Any, Any]]]]:
    """The records of each prior and number of objects."""
    for rate, n in dict.fromkeys((record["rate"], record["n"]) for record in records):
        yield rate, n, [record for record in records if (record["rate"], record["n"]) == (rate, n)]


def _explained(group: list[dict[Any, Any]]) -> np.ndarray:
    """Variance accounted for, %: data sets, estimators, targets."""
    return np.array(
        [
            [[of_kind[name] for name in TARGETS] for of_kind in record["explained"].values()]
            for record in group
        ]
    )


def _tables(records: list[dict[Any, Any]]) -> "dict[str, pandas.DataFrame]":
    import pandas as pd

    of_numbers = [_number_row(rate, n, group) for rate, n, group in _groups(records)]
    explained, differences, chains = [], [], []
    for rate, n, group in _groups(records):
        values = _explained(group)
        for kind, called in enumerate(group[0]["explained"]):
            name = ESTIMATORS[called] + (f", Gamma(1, {rate:g})" if rate != RATE else "")
            row: dict[str, Any] = {"objects": n, "data sets": len(group), "estimator": name}
            for target, symbol in enumerate(TARGETS.values()):
                row |= {
                    symbol: values[:, kind, target].mean(),
                    f"sd of {symbol}": _sd(values[:, kind, target]),
                }
            explained.append(row | {"paper": PAPER_EXPLAINED if n == 32 else "-"})
        if rate != RATE:
            continue
        for kind, name in enumerate(list(ESTIMATORS.values())[:-1]):
            row = {"objects": n, "expectation minus": name}
            for target, symbol in enumerate(TARGETS.values()):
                difference = values[:, -1, target] - values[:, kind, target]
                row |= {symbol: difference.mean(), f"error of {symbol}": _error(difference)}
            differences.append(row)
        chains.append(_chain_row(n, group))
    return {
        "Fig. 3(a): number of features m of two objects or more": pd.DataFrame(of_numbers),
        "Fig. 3(b): variance accounted for, %, in observed, new and true"
        " similarities": pd.DataFrame(explained),
        "Differences on the same data sets, %; errors over data sets": pd.DataFrame(differences),
        "Fig. 2: single chains of the paper's sampler that end far below the best": pd.DataFrame(
            chains
        ),
    }


def _sd(values: np.ndarray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def _error(values: np.ndarray) -> float:
    return _sd(values) / np.sqrt(len(values))


def _modal(record: dict[Any, Any]) -> int:
    return int(np.argmax(record["numbers"]))


def _number_row(rate: float, n: int, group: list[dict[Any, Any]]) -> dict[Any, Any]:
    modal, counts = np.unique([_modal(record) for record in group], return_counts=True)
    return {
        "rate of weights": rate,
        "objects": n,
        "data sets": len(group),
        "true": round(2 * np.log2(n)),
        "prior mean with singles": ALPHA * float(np.sum(1 / np.arange(1, n + 1))),
        "most probable, paper": PAPER_MODAL.get(n, np.nan),
        "most probable": float(np.mean([_modal(record) for record in group])),
        "error": _error(np.array([_modal(record) for record in group])),
        "how often each": ", ".join(
            f"{m}: {count}" for m, count in zip(modal, counts, strict=True)
        ),
        "with singles": float(np.mean([record["with singles"] for record in group])),
        "largest R-hat": max(record["r_hat"] for record in group),
    }


def _chain_row(n: int, group: list[dict[Any, Any]]) -> dict[Any, Any]:
    below = np.array([record["below"] for record in group])
    row: dict[str, Any] = {"objects": n, "chains": below.size}
    for far in FAR:
        share = (below > far).mean(axis=1)
        row |= {f"> {far:g} nats below": share.mean(), f"error of > {far:g}": _error(share)}
    return row | {
        "failed, paper": PAPER_FAILED.get(n, np.nan),
        "median, nats below": float(np.median(below)),
    }


def _remarks(records: list[dict[Any, Any]]) -> list[str]:
    groups = [(n, group) for rate, n, group in _groups(records) if rate == RATE]
    return [
        f"sigma = .3 and alpha = {ALPHA:g} as in the paper, which does not state its prior of the"
        f" weights; it is Gamma(1, {RATE:g}) here. The paper shows one data set of each size, here"
        " are several: differences between estimators are smaller than between data sets, so that"
        " those on the same data are what counts. sd is over data sets. With 10 % noise the ideal"
        " is about 90, 90 and 100 %.",
        _on_numbers(records),
        *_on_fewest(groups),
        *_on_estimators(groups),
        *_on_chains(groups),
        "Log posterior of a chain: log-likelihood + log prior of the features of two objects or"
        " more, of their weights and of the constant, averaged over the second half of the draws;"
        " the best is the highest of the single and of the tempered chains of that data set.",
    ]


def _on_numbers(records: list[dict[Any, Any]]) -> str:
    parts = []
    for rate in dict.fromkeys(record["rate"] for record in records):
        of_rate = [(n, group) for other, n, group in _groups(records) if other == rate]
        means = ", ".join(
            f"{np.mean([_modal(r) for r in group]):.1f} (n = {n})" for n, group in of_rate
        )
        parts.append(f"with Gamma(1, {rate:g}) {means}")
    paper = ", ".join(f"{m} (n = {n})" for n, m in PAPER_MODAL.items())
    sentence = (
        f"Fig. 3(a): the most probable m is on average {'; '.join(parts)}; the paper has {paper}."
    )
    if BROAD in (record["rate"] for record in records):
        return (
            f"{sentence} How many features are found hangs on how broad the prior of the weights"
            " is."
        )
    return (
        f"{sentence} The number hangs on the prior of the weights: --full fits with a broader"
        " one too, Gamma(1, .1)."
    )


def _on_estimators(groups: list[tuple[int, list[dict[Any, Any]]]]) -> list[str]:
    """Where the expectation is better beyond the 95 % interval over data sets."""
    from scipy.stats import t as student

    parts = []
    for target, symbol in enumerate(TARGETS.values()):
        if symbol == "S_o":
            continue
        better, not_best = [], []
        for n, group in groups:
            values = _explained(group)[..., target]
            if values.mean(axis=0).argmax() != len(ESTIMATORS) - 1:
                not_best.append(str(n))
            for kind, name in enumerate(list(ESTIMATORS.values())[:-1]):
                difference = values[:, -1] - values[:, kind]
                if len(group) > 1 and difference.mean() > student.ppf(
                    0.975, len(group) - 1
                ) * _error(difference):
                    better.append(f"{name} (n = {n})")
        best = "at every n" if not not_best else f"but for n = {', '.join(not_best)}"
        parts.append(
            f"Fig. 3(b), {symbol}: the expectation has the highest mean {best}; it is better,"
            " beyond the 95 % interval over data sets, than"
            f" {', '.join(better) or 'none of the others'}. The paper finds it best, the others"
            " much alike."
        )
    return parts


def _on_fewest(groups: list[tuple[int, list[dict[Any, Any]]]]) -> list[str]:
    return [
        "n = 8: by the paper 3 features account for 79 % of its S_o; here the MAP features"
        " account for"
        f" {_explained(group)[:, list(ESTIMATORS).index('map-features'), 0].mean():.0f} % on"
        " average."
        for n, group in groups
        if n == 8
    ]


def _on_chains(groups: list[tuple[int, list[dict[Any, Any]]]]) -> list[str]:
    share = {
        n: np.mean([np.array(record["below"]) > FAR[0] for record in group]) for n, group in groups
    }
    parts = []
    if 16 in share:
        parts.append(
            "Fig. 2: the paper calls its chains for n = 16 visually indistinguishable; here"
            f" {100 * share[16]:.0f} % end more than {FAR[0]:g} nats below the best."
        )
    if 32 in share:
        parts.append(
            f"n = 32: the paper dropped 5 of 10 chains; here {100 * share[32]:.0f} % end more than"
            f" {FAR[0]:g} nats below the best. The tables rest on tempered chains, none of which"
            " is dropped."
        )
    return parts


# pictures -----------------------------------------------------------------------------------------


def _pictures(records: list[dict[Any, Any]]) -> dict[str, Callable[[], Any]]:
    groups = {n: group for rate, n, group in _groups(records) if rate == RATE}
    firsts = {n: group[0] for n, group in groups.items()}
    explained = {n: _explained(group) for n, group in groups.items()}
    numbers = {n: [record["numbers"] for record in group] for n, group in groups.items()}
    return {
        "figure-2": lambda: traces_picture(
            {n: np.array(first["traces"]) for n, first in firsts.items()}, BLOCK
        ),
        "figure-3a": lambda: numbers_picture(numbers, PAPER_MODAL),
        "figure-3b": lambda: explained_picture(
            explained, list(TARGETS.values()), list(ESTIMATORS.values())
        ),
        "reconstructed": lambda: reconstructed_picture(firsts),
    }


ENTRIES = (
    Entry(
        "additive-simulation",
        PAPER,
        "Section 5, Figs. 2 and 3: features recovered from simulated similarities",
        {"small": "seconds", "standard": "four minutes", "full": "half an hour"},
        simulation,
    ),
)
