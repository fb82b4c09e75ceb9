"""The number of features in a fit, and the paths of its chains."""

from typing import TYPE_CHECKING, Any

from thali._plots._style import COLOURS, create_axes, hide_spines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def number_of_features(model: Any) -> "Axes":
    """Draw the posterior probability of each number of features."""
    table = model.findings()["n_features"].table
    (ax,) = create_axes(4.2, 3.2)
    ax.bar(table.index, table["probability"], width=0.9, color=COLOURS[0])
    ax.set(xlabel="number of features", ylabel="posterior probability")
    ax.locator_params(axis="x", integer=True)
    hide_spines(ax)
    return ax


def traces(model: Any) -> "list[Axes]":
    """Draw the log-likelihood, the number of features and the concentration of every draw."""
    posterior = model.posterior_["posterior"]
    names = [name for name in ("log_likelihood", "n_features", "alpha") if name in posterior]
    axes = create_axes(8.0, 0.5 + 1.6 * len(names), rows=len(names))
    for ax, name in zip(axes, names, strict=True):
        ax.plot(posterior[name].T, linewidth=0.6, alpha=0.8)
        ax.set_title(name.replace("_", " "), loc="left", fontsize=9)
        hide_spines(ax)
    axes[-1].set_xlabel("draw")
    return axes
