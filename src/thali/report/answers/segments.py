"""Segments of the respondents, as the reports of models of choice experiments have them."""

from typing import Any

from thali._labels import plural
from thali.errors import Message
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import listed, number
from ..document import Section, Table
from .shared import picture

_FEWEST = 3  # respondents
METHOD = Message(
    "Segments were made by k-means of the log odds of how often each person prefers a level to the other levels of its"
    " attribute; in every draw each person belongs to the nearest centre; their number is the most stable from 2 to 6"
    " by the adjusted Rand index ",
    Cite("hubert1985"),
    ".",
)


def with_segments(answer: Section, model: Any, settings: Settings, k: Any = None) -> Section:
    """The answer, with the segments of the respondents: their picture and their tables."""
    if len(model._data_of_fit().respondents) < _FEWEST:
        return answer
    found = model.segments(k if settings.segments is None else settings.segments, settings.random_seed)
    shares = listed([f"{100 * row['share']:.0f} % ({row['name']})" for row in found.sizes.to_dict("records")])
    finding = (
        f"Grouped by what they prefer, the respondents make {plural(len(found), 'segment')}: {shares}. Their"
        f" stability is {number(found.stability)} (adjusted Rand index of the draws with the assignment; 1: all agree)."
    )
    tables = (
        Table("Segments: sizes, and what each prefers more than everybody", found.sizes),
        Table("Numbers of segments that were tried", found.by_number),
        Table("How often a level is preferred to another one, all else being equal (.5: indifferent)", found.table()),
        Table("The segment of each respondent", found.assignment),
    )
    return answer._replace(
        sentences=(*answer.sentences, finding),
        pictures=(*answer.pictures, picture(finding, "segments", found)),
        tables=(*answer.tables, *tables),
    )
