"""Plot of the posterior distribution of the number of features."""

from typing import TYPE_CHECKING

from thali._number_format import format_number

from ._fonts import picture
from ._style import COLOURS, ensure_axes, format_interval_name, hide_spines

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("probability", made_by="findings()['n_features']", attrs=("word",))
def n_features(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the posterior probability of each number of features.

    The title contains mean and interval.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "n_features" of a fitted model.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Fig. 1.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(alpha=1.0).fit(
    ...     th.datasets.paris_rome(expected=True),
    ...     draws=500,
    ...     tune=500,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> n_features(model.findings()["n_features"].table).get_xlabel()
    'number of aspects'
    """
    ax = ensure_axes(ax, 4.2, 3.2)
    feature_numbers = table.index.to_numpy()
    ax.bar(feature_numbers, table["probability"], width=0.9, color=COLOURS[0])
    ax.set(
        xlim=(feature_numbers.min() - 1, feature_numbers.max() + 1), ylabel="posterior probability"
    )
    ax.set_xlabel(f"number of {table.attrs['word']}s")
    ax.locator_params(axis="x", integer=True)
    low, high = table.attrs["low_high"]
    interval_name = format_interval_name(table)
    ax.set_title(
        f"mean {format_number(table.attrs['mean'])}, {interval_name} {format_number(low)} to"
        f" {format_number(high)}",
        fontsize=10,
    )
    hide_spines(ax)
    return ax
