"""Findings about segments of people by what they prefer, whichever model knows what that is."""

from collections.abc import Callable
from functools import partial
from typing import Any

from thali._digits import format_number, format_percent
from thali._labels import format_plural, list_names
from thali._people.segments import Segments

from .finding import BRIEF, FULL, ON_SCREEN, SHOWN, Brief, Finding, Maker, Picture, Text
from .phrases import phrase
from .references import Cite
from .settings import AnswerSettings

_MIN_PEOPLE = 3  # people that make segments
_CLEAR = 0.5  # stability from which on people are counted by segments
SENTENCES = {
    "sizes": "{shares}: {number} by preference (stability {stability}). {how}",
    "sizes.low": "No clear segments (stability {stability}): differences between respondents are"
    " gradual, or there are too few answers. {instead}The most stable grouping would have"
    " {number}: {shares}. {how}",
    "sizes.how": "Stability is the adjusted Rand index between the segments of a draw and the final"
    " assignment (1: all draws agree; 0: chance).",
    "sizes.title": "Respondent segments, and what each prefers more than average",
    "numbers": "Stability by number of segments",
    "profiles.level": "Probability that a level is preferred to another, all else being equal (0.5:"
    " indifferent)",
    "profiles.option": "Probability that an option is preferred to another (0.5: indifferent)",
    "assignment": "Segment of each respondent",
    "methods": "Segments were formed by k-means clustering of the log odds of {what}; in every"
    " draw, each respondent belongs to the nearest centre. The number of segments (2 to 6,"
    " unless given) was chosen for the greatest stability, measured by the adjusted Rand index"
    " {source}.",
}


# key and question of a finding, and what makes it
Besides = tuple[str, str, Callable[[Any, Segments], Finding]]


SegmentsOf = Callable[[Any], Segments | None]  # of a model


def segments_once(settings: AnswerSettings, usual: Any = None) -> SegmentsOf:
    """Return what gives the segments of a model, made once for all findings; `usual`: the number of
    segments where none is asked for."""
    kept: list[Segments | None] = []

    def segments(model: Any) -> Segments | None:
        """Return the segments; None of too few people."""
        if not kept:
            kept.append(None)  # which stays where there are none, so that a fault is named once
            number = usual if settings.segments is None else settings.segments
            found = model.respondents.segments(number, settings.random_seed, settings.ci)
            if len(found.assignment) >= _MIN_PEOPLE:
                kept[0] = found
        return kept[0]

    return segments


def segment_makers(
    settings: AnswerSettings,
    segments: SegmentsOf,
    besides: tuple[Besides, ...] = (),
    instead: Text = "",
) -> tuple[Maker, ...]:
    """The makers of segments: a terminal shows those that were asked for; `besides`: what else is
    found of them, by the model; `instead`: what else there is where they cannot be told."""
    asked = settings.segments is not None
    place, first = (BRIEF, ON_SCREEN) if asked else (SHOWN, SHOWN)
    makers = (
        ("segment_sizes", "Respondent segments", first, partial(_sizes, asked, instead)),
        ("segment_profiles", "Segment profiles", place, _profiles),
        ("segment_numbers", "Number of segments", place, _numbers),
        ("segments", "Segment membership", FULL if asked else SHOWN, _assignment),
    )
    more = ((key, question, place, make) for key, question, make in besides)
    return tuple(
        Maker(key, question, where, partial(_about, segments, make))
        for key, question, where, make in (*makers, *more)
    )


def segmented(what: str) -> Text:
    """How a paper says it; `what`: whose log odds people are grouped by."""
    return phrase(SENTENCES, "methods", what=what, source=Cite("hubert1985"))


def _about(
    segments: SegmentsOf,
    make: Callable[[Any, Segments], Finding | None],
    model: Any,
    settings: AnswerSettings,
) -> Finding | None:
    """A finding about the segments, where there are any."""
    found = segments(model)
    return None if found is None else make(model, found)


def _sizes(asked: bool, instead: Text, model: Any, found: Segments) -> Finding:
    """The segments and how stable they are; those that are not clear have a picture if they were
    asked for."""
    is_clear = found.stability >= _CLEAR
    shares = list_names(
        [
            f"{format_percent(row['share'])} ({row['name']})"
            for row in found.sizes.to_dict("records")
        ]
    )
    facts: dict[str, Any] = {
        "number": format_plural(len(found), "segment"),
        "shares": shares,
        "how": SENTENCES["sizes.how"],
    }
    facts |= {"stability": format_number(found.stability)} | (
        {} if is_clear else {"instead": instead}
    )
    return Finding(
        phrase(SENTENCES, "sizes" if is_clear else "sizes.low", **facts),
        title=SENTENCES["sizes.title"],
        table=found.sizes,
        shown=found.sizes[["share", "share_low", "share_high", "respondents", "name"]],
        picture=Picture("segments", SENTENCES["sizes.title"], found) if is_clear or asked else None,
        brief=Brief("Segments"),
    )


def _profiles(model: Any, found: Segments) -> Finding:
    what = "option" if "option" in found.profiles else "level"
    return Finding(title=SENTENCES[f"profiles.{what}"], table=found.table())


def _numbers(model: Any, found: Segments) -> Finding | None:
    if len(found.by_number) < 2:
        return None
    return Finding(title=SENTENCES["numbers"], table=found.by_number)


def _assignment(model: Any, found: Segments) -> Finding:
    return Finding(title=SENTENCES["assignment"], table=found.assignment)
