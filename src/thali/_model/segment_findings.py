"""Findings about segments (clusters) of respondents by preference, for any model with utilities."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from thali._labels import format_plural, list_names
from thali._number_format import format_number, format_percent
from thali._people.respondent_segments import Segments, describe_members

from .finding import BRIEF, FULL, ON_SCREEN, SHOWN, Brief, Finding, FindingMaker, Picture, Text
from .finding_settings import AnswerSettings
from .references import Cite
from .sentence_templates import phrase

if TYPE_CHECKING:
    from .base import Model


_MIN_PEOPLE = 3  # minimum number of respondents
_CLEAR = 0.5  # stability from which on segments are clear
SENTENCES = {
    "sizes": "Preference-based segmentation {whose} gives {number} (stability {stability}):"
    " {shares}.{how}",
    "sizes.one": "All respondents are in one segment: {shares}.",
    "sizes.low": "No clear segments (stability {stability}): differences between respondents are"
    " gradual, or there are too few answers. The most stable grouping would have {number}:"
    " {shares}.{how}{instead}",
    "sizes.how": " Stability is the mean adjusted Rand index between the segments in each draw"
    " and the final assignment (1: perfect agreement, 0: chance).",
    "sizes.title": "Segments {whose}, and what each prefers more than average",
    "sizes.caption": "Segments of respondents, and what each prefers more than average",
    "numbers": "Stability by number of segments",
    "profiles.level": "Probability that a level is preferred to another, all else being equal (0.5:"
    " indifferent)",
    "profiles.option": "Probability that an option is preferred to another (0.5: indifferent)",
    "assignment": "Segment of each respondent",
    "methods": "Segments were formed by k-means clustering of respondents on the log odds of"
    " {what}; in every draw, each respondent was assigned to the nearest centre. Unless set by the"
    " user, the number of segments (from 2 to 6) was chosen to maximise stability, measured by"
    " the adjusted Rand index {source}.",
}


# key, question and function of an additional finding
ExtraFinding = tuple[str, str, Callable[[Any, Segments], Finding]]


SegmentFunction = Callable[[Any], Segments | None]  # (model) -> segments


def make_segment_function(
    settings: AnswerSettings, default_n_segments: int | None = None
) -> SegmentFunction:
    """Return a cached function (model) -> segments; `default_n_segments`: number of segments."""
    cache: list[Segments | None] = []

    def segments(model: Any) -> Segments | None:
        """Cluster the model's respondents; None if there are too few."""
        if not cache:
            cache.append(None)  # stays None after an error, so that it is reported once
            n_segments = settings.segments
            if n_segments is None:
                n_segments = default_n_segments
            new_segments = model.respondents.segments(
                n_segments, settings.random_seed, settings.ci, settings.of
            )
            if len(new_segments.assignment) >= _MIN_PEOPLE:
                cache[0] = new_segments
        return cache[0]

    return segments


def make_segment_makers(
    settings: AnswerSettings,
    get_segments: SegmentFunction,
    extra_findings: tuple[ExtraFinding, ...] = (),
    text_if_unclear: Text = "",
) -> tuple[FindingMaker, ...]:
    """Return the makers of findings on segment sizes, profiles, stability, membership.

    A terminal shows them if segments were requested. `extra_findings` are additional findings of
    the model; `text_if_unclear` suggests alternatives if segments are not clear.
    """
    is_requested = settings.segments is not None
    sizes_place = table_place = list_place = SHOWN
    if is_requested:
        sizes_place = ON_SCREEN
        table_place = BRIEF
        list_place = FULL
    makers = (
        (
            "segment_sizes",
            "Respondent segments",
            sizes_place,
            partial(_report_sizes, is_requested, text_if_unclear),
        ),
        ("segment_profiles", "Segment profiles", table_place, _report_profiles),
        ("segment_numbers", "Number of segments", table_place, _report_stability),
        ("segments", "Segment membership", list_place, _report_membership),
    )
    extra_makers = ((key, question, table_place, make) for key, question, make in extra_findings)
    return tuple(
        FindingMaker(key, question, surfaces, partial(_report_segments, get_segments, make))
        for key, question, surfaces, make in (*makers, *extra_makers)
    )


def describe_segmentation(clustered_quantity: str) -> Text:
    """Return the sentence for a paper on clustering of `clustered_quantity`, such as log odds."""
    return phrase(SENTENCES, "methods", what=clustered_quantity, source=Cite("hubert1985"))


def _report_segments(
    get_segments: SegmentFunction,
    report: Callable[[Any, Segments], Finding | None],
    model: "Model",
    settings: AnswerSettings,
) -> Finding | None:
    """Return `report(model, segments)`; None if there are no segments."""
    segments = get_segments(model)
    if segments is None:
        return None
    return report(model, segments)


def _report_sizes(
    is_picture_requested: bool, text_if_unclear: Text, model: "Model", segments: Segments
) -> Finding:
    """Report sizes and stability of the segments."""
    is_clear = segments.stability >= _CLEAR
    whose = segments.sizes.attrs["whose"]
    picture = None
    if is_clear or is_picture_requested:
        picture = Picture("segments", SENTENCES["sizes.caption"], segments)
    sentence_key = "sizes"
    if not is_clear:
        sentence_key = "sizes.low"
    elif len(segments) == 1:
        sentence_key = "sizes.one"
    share_text = list_names(
        [
            f"{format_percent(row['share'])} ({describe_members(row['name'])})"
            for row in segments.sizes.to_dict("records")
        ]
    )
    facts = {
        "number": format_plural(len(segments), "segment"),
        "whose": whose,
        "shares": share_text,
        "stability": format_number(segments.stability),
        "instead": text_if_unclear,
    }
    return Finding(
        phrase(SENTENCES, sentence_key, how=SENTENCES["sizes.how"], **facts),
        title=str(phrase(SENTENCES, "sizes.title", whose=whose)),
        table=segments.sizes,
        shown=segments.sizes[["share", "share_low", "share_high", "respondents", "name"]],
        picture=picture,
        brief=Brief("Segments", phrase(SENTENCES, sentence_key, how="", **facts)),
    )


def _report_profiles(model: "Model", segments: Segments) -> Finding:
    """Report the mean preferences of each segment."""
    title = SENTENCES["profiles.level"]
    if "option" in segments.profiles:
        title = SENTENCES["profiles.option"]
    return Finding(title=title, table=segments.table())


def _report_stability(model: "Model", segments: Segments) -> Finding | None:
    """Report stability by number of segments; None if one number was tried."""
    if len(segments.by_number) < 2:
        return None
    return Finding(title=SENTENCES["numbers"], table=segments.by_number)


def _report_membership(model: "Model", segments: Segments) -> Finding:
    """Report the segment of each respondent, with probabilities."""
    return Finding(title=SENTENCES["assignment"], table=segments.assignment)
