"""Segments of the respondents, beside the answer of any model that has them."""

from typing import Any

from thali.posterior.interval import interval_name

from ..files import Answer
from ..text import align
from . import Fitted

_LONGEST = 60  # letters of a name


def refuse(fitted: Fitted) -> None:
    """Before the fit: refuse more segments than respondents."""
    from thali.model.choice_segments.segments import numbers_of_segments

    if fitted.settings.segments is not None:
        numbers_of_segments(fitted.settings.segments, fitted.data.n_respondents, "segments")


def with_segments(answer: Answer, fitted: Fitted) -> Answer:
    """The answer, with the segments that were asked for."""
    settings = fitted.settings
    if settings.segments is None:
        return answer
    found = fitted.model.segments(settings.segments, random_seed=settings.random_seed)
    tables = {
        "segments": found.assignment,
        "segment_sizes": found.sizes,
        "segment_profiles": found.table(),
    }
    pictures = {"segments": lambda plots: plots.segments(found)}
    return answer._replace(
        text=f"{answer.text}\n\n{_printed(found)}",
        tables=answer.tables | tables,
        pictures=answer.pictures | pictures,
    )


def _printed(found: Any) -> str:
    """Sizes and profiles in words and numbers."""
    rows: list[tuple[str, ...]] = [("segment", "share", interval_name(), "people", "prefers, more than everybody")]
    for number, row in found.sizes.to_dict("index").items():
        interval = f"{row['share_low']:.3f} to {row['share_high']:.3f}"
        rows.append((str(number), f"{row['share']:.3f}", interval, str(row["people"]), row["name"]))
    profiles: list[tuple[str, ...]] = [tuple(map(str, found.table().columns))]
    for row in found.table().to_numpy():
        profiles.append((*(str(cell)[:_LONGEST] for cell in row[:2]), *(f"{value:.2f}" for value in row[2:])))
    parts = [
        "Segments of the respondents\n" + align(rows, left={0, 4}),
        "How often a level is preferred to another one, all else being equal (.5: indifferent)\n"
        + align(profiles, left={0, 1}),
    ]
    if len(found.by_number) > 1:
        tried: list[tuple[str, ...]] = [("segments", "stability", "explained", "smallest")]
        for number, row in found.by_number.to_dict("index").items():
            tried.append((str(number), *(f"{row[name]:.2f}" for name in ("stability", "explained", "smallest"))))
        parts.append("Numbers of segments that were tried\n" + align(tried, left={0}))
    parts.append(
        f"Stability {found.stability:.2f}: adjusted Rand index of the segments of a draw with the assignment (1: all"
        " draws agree; 0: as chance does)."
    )
    return "\n\n".join(parts)
