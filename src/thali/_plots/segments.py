"""Plot of segments of respondents: sizes and preferences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thali._number_format import format_percent

from ._fonts import picture
from ._style import (
    COLOURS,
    create_axes,
    draw_row_dividers,
    format_interval_name,
    label_grouped_rows,
    label_rows,
    measure_label_width,
    place_grouped_rows,
    shorten_labels,
    wrap_name,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from matplotlib.axes import Axes

    from thali._people.respondent_segments import Segments

_MAX_LEVELS = 28  # with more levels, only levels where segments differ most
_SEGMENT_WIDTH, _LINE_LENGTH = 1.75, 24  # inches per segment, characters per line


@picture(made_by="respondents.segments()", has="profiles")
def segments(found: "Segments", ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the preferences of each segment, compared with all respondents.

    A column is a segment, with its size and its distinguishing features. A point is the probability
    that its respondents prefer the level to another level of the attribute, all else being equal,
    or the option to another option; the short grey line is the value of all respondents, and the
    dashed line indifference. The line through a point is the interval over draws.

    Parameters
    ----------
    found : Segments
        The result that `respondents.segments()` of a fitted model returns.
    ax : sequence of matplotlib axes, optional
        Axes to draw in, one per segment; None creates a new figure.

    Returns
    -------
    list of matplotlib axes
        One per segment.
    """
    profiles = found.profiles
    if is_of_options := "option" in profiles:
        profiles = profiles.rename(columns={"option": "level"}).assign(attribute="")
    attributes, levels = _select_levels(profiles)
    y, heading_y = place_grouped_rows(attributes)
    headings = []
    row_noun = "option"
    if not is_of_options:
        headings = shorten_labels(list(dict.fromkeys(attributes)))
        row_noun = "level"
    level_labels = _shorten_levels(attributes, levels)
    height = max(y[-1] + 0.16, 1.0)
    labels_width = measure_label_width([*level_labels, *(f"{name} " for name in headings)])
    wrapped_names = [wrap_name(name, _LINE_LENGTH, 2) for name in found.sizes["name"]]
    n_title_lines = 1 + max(name.count("\n") for name in wrapped_names)
    if ax is None:
        ax = create_axes(
            labels_width + _SEGMENT_WIDTH * len(found),
            1.0 + 0.16 * n_title_lines + height,
            1,
            len(found),
        )
    panels = list(ax)
    level_keys = list(zip(attributes, levels, strict=True))
    for panel_index, (panel, (segment, segment_row)) in enumerate(
        zip(panels, found.sizes.to_dict("index").items(), strict=True)
    ):
        profile = (
            profiles.loc[profiles["segment"] == segment]
            .set_index(["attribute", "level"])
            .loc[level_keys]
        )
        colour = COLOURS[panel_index % len(COLOURS)]
        _draw_profile(panel, profile, y, colour)
        draw_row_dividers(panel, heading_y)
        _write_title(panel, segment, segment_row, colour, n_title_lines)
        panel.set(xlim=(-0.03, 1.03), ylim=(height, 0))
        panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        label_rows(panel, [*y, *heading_y], [""] * (len(y) + len(heading_y)))
    left_panel = panels[0]
    label_grouped_rows(left_panel, y, level_labels, heading_y, headings)
    figure = left_panel.figure
    interval = format_interval_name(found.profiles)
    figure.supxlabel(
        f"probability that the {row_noun} is preferred to another\n(grey: all respondents; line:"
        f" {interval}; percentages: shares of respondents)",
        fontsize=9,
    )
    return panels


def _draw_profile(panel: "Axes", profile: "pandas.DataFrame", y: "np.ndarray", colour: str) -> None:
    """Draw one segment's preferences, with lines to those of all respondents."""
    all_respondents = profile["all_respondents"]
    preferred = profile["preferred"]
    panel.axvline(0.5, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    panel.hlines(y, all_respondents, preferred, color=colour, alpha=0.35, linewidth=4.0, zorder=1)
    panel.vlines(all_respondents, y - 0.08, y + 0.08, color="0.35", linewidth=1.6, zorder=2)
    low = profile["preferred_low"]
    high = profile["preferred_high"]
    panel.hlines(y, low, high, color=colour, linewidth=1.4, zorder=3)
    panel.plot(
        preferred,
        y,
        "o",
        color=colour,
        markersize=5,
        markeredgecolor="white",
        zorder=4,
        label="segment",
    )


def _write_title(
    panel: "Axes", segment: int | str, segment_row: dict[str, Any], colour: str, n_title_lines: int
) -> None:
    """Write a segment's number, share and name above its panel."""
    interval = (
        f"{100 * segment_row['share_low']:.0f} to {format_percent(segment_row['share_high'])}"
    )
    title = f"Segment {segment}\n{format_percent(segment_row['share'])} ({interval})"
    panel.set_title(
        title,
        fontsize=10,
        fontweight="bold",
        color=colour,
        loc="left",
        pad=6 + 12 * n_title_lines,
    )
    panel.text(
        0.0,
        1.0,
        wrap_name(segment_row["name"], _LINE_LENGTH, 2),
        transform=panel.transAxes,
        fontsize=8,
        va="bottom",
        parse_math=False,
    )


def _select_levels(profiles: "pandas.DataFrame") -> tuple[list[str], list[str]]:
    """Return attributes and levels to draw: all, or where segments differ most."""
    distances = (profiles["preferred"] - profiles["all_respondents"]).abs()
    if not profiles["attribute"].iloc[0]:
        max_differences: Any = distances.groupby(profiles["level"], sort=False).max()
        selected_levels = max_differences.nlargest(_MAX_LEVELS).index
        options = [option for option in profiles["level"].unique() if option in selected_levels]
        return [""] * len(options), options
    levels: dict[str, list[str]] = {}
    max_difference_by_attribute: dict[str, float] = {}
    for attribute, level, difference in zip(
        profiles["attribute"], profiles["level"], distances.tolist(), strict=True
    ):
        attribute_levels = levels.setdefault(attribute, [])
        if level not in attribute_levels:
            attribute_levels.append(level)
        max_difference_by_attribute[attribute] = max(
            max_difference_by_attribute.get(attribute, 0.0), difference
        )
    selected_attributes: set[str] = set()
    for attribute in sorted(
        max_difference_by_attribute, key=lambda name: -max_difference_by_attribute[name]
    ):
        if (
            not selected_attributes
            or sum(len(levels[name]) for name in (*selected_attributes, attribute)) <= _MAX_LEVELS
        ):
            selected_attributes.add(attribute)
    level_keys = [
        (attribute, level)
        for attribute, attribute_levels in levels.items()
        if attribute in selected_attributes
        for level in attribute_levels
    ]
    return [attribute for attribute, _ in level_keys], [level for _, level in level_keys]


def _shorten_levels(attributes: list[str], levels: list[str]) -> list[str]:
    """Return shortened level labels that remain distinct within an attribute."""
    labels: list[str] = []
    for attribute in dict.fromkeys(attributes):
        labels += shorten_labels(
            [level for name, level in zip(attributes, levels, strict=True) if name == attribute]
        )
    return labels
