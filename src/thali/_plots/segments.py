"""Segments of people: how large they are, and what each prefers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thali._digits import percent
from thali._posterior.interval import interval_name

from ._fonts import picture
from ._style import (
    COLOURS,
    divide_rows,
    grouped_rows,
    hide_spines,
    interval_of,
    label_width,
    name_grouped_rows,
    new_axes,
    short,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_LEVELS = 28  # in the picture; of more, those in which segments differ most
_WIDTH, _NAME = 1.75, 24  # inches of a segment, letters in a line of its name


@picture(made_by="respondents.segments()", has="profiles")
def segments(found: Any, ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw what the people of each segment prefer, beside everybody.

    A column is a segment, with its size and what distinguishes it. A point is how often its people
    prefer the level to another one of the attribute, all else being equal, or the option to another
    one; the short grey line is everybody, and the dashed one indifference. The line through a point
    is the interval over draws.

    Parameters
    ----------
    found : Segments
        What `respondents.segments()` of a fitted model returned.
    ax : sequence of matplotlib axes, optional
        Where to draw, one a segment; a new figure if None.

    Returns
    -------
    list of matplotlib axes
        One a segment.
    """
    profiles = found.profiles
    if is_of_options := "option" in profiles:
        profiles = profiles.rename(columns={"option": "level"}).assign(attribute="")
    attributes, levels = _shown(profiles)
    places, heads = grouped_rows(attributes)
    names = [] if is_of_options else short(list(dict.fromkeys(attributes)))
    labels = _short_levels(attributes, levels)
    tall = max(places[-1] + 0.16, 1.0)
    wide = label_width([*labels, *(f"{name} " for name in names)])
    wrapped = list(map(_wrapped, found.sizes["name"]))
    lines = 1 + max(name.count("\n") for name in wrapped)
    if ax is None:
        ax = new_axes(wide + _WIDTH * len(found), 1.0 + 0.16 * lines + tall, 1, len(found))
    drawn = list(ax)
    wanted = list(zip(attributes, levels, strict=True))
    for number, (panel, (segment, row)) in enumerate(
        zip(drawn, found.sizes.to_dict("index").items(), strict=True)
    ):
        own = (
            profiles.loc[profiles["segment"] == segment]
            .set_index(["attribute", "level"])
            .loc[wanted]
        )
        colour = COLOURS[number % len(COLOURS)]
        panel.axvline(0.5, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
        panel.hlines(
            places,
            own["all_respondents"],
            own["preferred"],
            color=colour,
            alpha=0.35,
            linewidth=4.0,
            zorder=1,
        )
        panel.vlines(
            own["all_respondents"],
            places - 0.08,
            places + 0.08,
            color="0.35",
            linewidth=1.6,
            zorder=2,
        )
        panel.hlines(
            places,
            own["preferred_low"],
            own["preferred_high"],
            color=colour,
            linewidth=1.4,
            zorder=3,
        )
        panel.plot(
            own["preferred"],
            places,
            "o",
            color=colour,
            markersize=5,
            markeredgecolor="white",
            zorder=4,
            label="segment",
        )
        divide_rows(panel, heads)
        interval = f"{100 * row['share_low']:.0f} to {percent(row['share_high'])}"
        title = f"Segment {segment}\n{percent(row['share'])} ({interval})"
        panel.set_title(
            title, fontsize=10, fontweight="bold", color=colour, loc="left", pad=6 + 12 * lines
        )
        panel.text(
            0.0,
            1.0,
            wrapped[number],
            transform=panel.transAxes,
            fontsize=8,
            va="bottom",
            parse_math=False,
        )
        panel.set(xlim=(-0.03, 1.03), ylim=(tall, 0))
        panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        panel.tick_params(axis="y", length=0)
        hide_spines(panel, "left")
        panel.set_yticks([*places, *heads], [""] * (len(places) + len(heads)))
    first = drawn[0]
    name_grouped_rows(first, places, labels, heads, names)
    figure = first.figure
    what, interval = (
        "option" if is_of_options else "level",
        interval_name(interval_of(found.profiles)),
    )
    figure.supxlabel(
        f"probability that the {what} is preferred to another\n(grey: all respondents; line:"
        f" {interval}; percentages: shares of respondents)",
        fontsize=9,
    )
    return drawn


def _shown(profiles: "pandas.DataFrame") -> tuple[list[str], list[str]]:
    """The levels that are drawn: all, or those of the attributes, or the options, in which segments
    differ most."""
    far = (profiles["preferred"] - profiles["all_respondents"]).abs()
    if not profiles["attribute"].iloc[0]:
        differences: Any = far.groupby(profiles["level"], sort=False).max()
        most = differences.nlargest(_MAX_LEVELS).index
        options = [option for option in profiles["level"].unique() if option in most]
        return [""] * len(options), options
    levels: dict[str, list[str]] = {}
    differs: dict[str, float] = {}
    for attribute, level, own in zip(
        profiles["attribute"], profiles["level"], far.tolist(), strict=True
    ):
        of_attribute = levels.setdefault(attribute, [])
        of_attribute += [level] * (level not in of_attribute)
        differs[attribute] = max(differs.get(attribute, 0.0), own)
    kept: set[str] = set()
    for attribute in sorted(differs, key=lambda name: -differs[name]):
        if not kept or sum(len(levels[name]) for name in (*kept, attribute)) <= _MAX_LEVELS:
            kept.add(attribute)
    shown = [
        (attribute, level)
        for attribute, own in levels.items()
        if attribute in kept
        for level in own
    ]
    return [attribute for attribute, _ in shown], [level for _, level in shown]


def _short_levels(attributes: list[str], levels: list[str]) -> list[str]:
    """Labels of levels, cut so that two of one attribute differ."""
    found: list[str] = []
    for attribute in dict.fromkeys(attributes):
        found += short(
            [level for name, level in zip(attributes, levels, strict=True) if name == attribute]
        )
    return found


def _wrapped(name: str) -> str:
    """A name in two lines at most."""
    import textwrap

    return "\n".join(textwrap.wrap(name, _NAME, max_lines=2, placeholder=" …"))
