"""Pictures like Figs. 2 and 3 of Navarro & Griffiths (2007)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.plots._style import COLOURS, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^D"


def traces(chains: Mapping[int, np.ndarray], block: int) -> "Sequence[Axes]":
    """Fig. 2: log posterior of single chains (chains, blocks of draws) above the mean of the tempered ones, by n."""
    axes = new_axes(3.6 * len(chains), 3.2, 1, len(chains))
    for ax, (n, values) in zip(axes, chains.items(), strict=True):
        ax.axhline(0.0, color="0.2", linestyle="--", linewidth=1.2, label="tempered chains, mean", zorder=3)
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


def numbers(counts: Mapping[int, list[list[int]]], paper: Mapping[int, int]) -> "Sequence[Axes]":
    """Fig. 3(a): posterior of the number of features, a line a data set, by n; true number and the paper's mode."""
    axes = new_axes(3.6 * len(counts), 3.2, 1, len(counts))
    for ax, (n, data_sets) in zip(axes, counts.items(), strict=True):
        for number, row in enumerate(data_sets):
            share = np.array(row) / np.sum(row)
            seen = np.flatnonzero(share)
            label = "a data set" if number == 0 else None
            ax.plot(
                seen, share[seen], color=COLOURS[0], linewidth=0.9, marker="o", markersize=3, alpha=0.7, label=label
            )
        ax.axvline(round(2 * np.log2(n)), color=COLOURS[1], linestyle="--", linewidth=1.2, label="true number")
        if n in paper:
            ax.axvline(paper[n], color="0.4", linestyle=":", linewidth=1.5, label="most probable in the paper")
        ax.set_title(f"n = {n}", fontsize=10)
        ax.set_xlabel("features of two objects or more")
        ax.locator_params(axis="x", integer=True)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("posterior probability")
    axes[-1].legend(frameon=False, fontsize=8, loc="upper right")
    return axes


def explained(values: Mapping[int, np.ndarray], targets: Sequence[str], estimators: Sequence[str]) -> "Sequence[Axes]":
    """Fig. 3(b): variance accounted for (data sets, estimators, targets) by n, with the error over data sets."""
    axes = new_axes(3.4 * len(targets), 3.4, 1, len(targets))
    places = np.arange(len(values))
    for target, (ax, symbol) in enumerate(zip(axes, targets, strict=True)):
        for kind, name in enumerate(estimators):
            of_kind = [found[:, kind, target] for found in values.values()]
            mean = [found.mean() for found in of_kind]
            error = [found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan for found in of_kind]
            aside = places + 0.12 * (kind - (len(estimators) - 1) / 2)
            style = {"color": COLOURS[kind], "marker": _MARKERS[kind], "markersize": 4, "capsize": 2, "label": name}
            ax.errorbar(aside, mean, error, linewidth=0.9, **style)
        ax.set_xticks(places, [str(n) for n in values])
        ax.set(xlabel="objects", title=f"target {symbol}")
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("variance accounted for, %")
    axes[-1].legend(frameon=False, fontsize=8)
    return axes


def reconstructed(firsts: Mapping[int, dict[Any, Any]]) -> "Sequence[Axes]":
    """Observed and true similarities of the first data set of each n against those of the expectation."""
    axes = new_axes(3.4 * len(firsts), 3.6, 1, len(firsts))
    for ax, (n, first) in zip(axes, firsts.items(), strict=True):
        fitted = np.array(first["fitted"])
        for colour, marker, name in zip(COLOURS, "ox", ("observed", "true"), strict=False):
            ax.scatter(fitted, first[name], s=10, color=colour, marker=marker, linewidth=0.8, alpha=0.7, label=name)
        ends = [min(fitted.min(), *first["observed"]), max(fitted.max(), *first["observed"])]
        ax.plot(ends, ends, color="0.5", linewidth=0.8, zorder=1)
        ax.set(xlabel="fitted by the expectation", title=f"n = {n}")
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("similarity")
    axes[0].legend(frameon=False, fontsize=8)
    return axes
