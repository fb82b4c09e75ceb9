"""The evidence so far, step by step, of every group of particles."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def evidence_path(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the log evidence so far against the steps of tempering, one line a group, and their mean.

    Lines that spread show that the evidence is not established. If the lapse, which falls from 1, was recorded, marks
    above the picture give its value.

    Parameters
    ----------
    model : ProductClasses
        Fitted.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If the fit did not follow the evidence.
    """
    from thali.choice.product_classes.posterior import trace_of

    model._fitted()
    trace = trace_of(model.posterior_)
    if "log_evidence" not in trace or not np.isfinite(trace["log_evidence"]).any():
        raise ArgumentError("This fit did not follow the evidence; fit with method='smc'.")
    paths = np.atleast_2d(trace["log_evidence"])
    steps = np.arange(1, paths.shape[1] + 1)
    ax = new_axes(6.4, 3.8)[0] if ax is None else ax
    for number, path in enumerate(paths):
        label = "" if number else ("each group" if len(paths) > 1 else "the group")
        ax.plot(steps, path, color=COLOURS[5], linewidth=1.1, alpha=0.9, zorder=1, label=label)
    if len(paths) > 1:
        ax.plot(steps, paths.mean(axis=0), color="black", linewidth=1.8, zorder=2, label="mean")
    ax.set(xlabel="step", ylabel="log evidence so far", xlim=(steps[0], max(steps[-1], 2)))
    ax.locator_params(axis="x", integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="best")
    if "lapse" in trace:
        _mark_lapse(ax, steps, np.atleast_2d(trace["lapse"]).mean(axis=0))
    sd = model.evidence_sd_
    if np.isfinite(model.log_evidence_):
        found = f"log evidence {model.log_evidence_:.1f} ± {model.log_evidence_se_:.1f}; sd between groups {sd:.1f}"
        usable = "" if sd <= 1 else ", not usable"
        ax.set_title(found + usable, fontsize=9, loc="left", pad=24 if "lapse" in trace else None)
    return ax


def _mark_lapse(ax: "Axes", steps: np.ndarray, lapse: np.ndarray) -> None:
    """An axis above with the lapse at some steps."""
    marks = np.unique(np.linspace(0, len(steps) - 1, min(6, len(steps))).round().astype(int))
    above = ax.secondary_xaxis("top")
    above.set_xticks(steps[marks], [f"{lapse[mark]:.2g}" for mark in marks], fontsize=8)
    above.set_xlabel("lapse", fontsize=8, labelpad=2)
    above.spines["top"].set_visible(False)
    above.tick_params(length=2, pad=1)
