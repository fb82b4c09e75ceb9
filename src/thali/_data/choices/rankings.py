"""Reading rankings from lists and tables, and converting them to successive choices."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import (
    find_first,
    part_bounds,
    part_positions,
    repeat_indices,
)
from thali._labels import (
    find_label_indices,
    format_label,
    format_plural,
    shorten,
    simplify_number,
)
from thali.errors import Argument, Clause, DataError, Message, Setting

from ..column_readers import (
    add_note,
    check_columns,
    choose_labels,
    describe_cells,
    describe_columns,
    encode_column,
    find_filled_cells,
    get_column,
    is_row_number,
    iterate_distinct_cells,
    list_texts,
    note_omission,
    number_labelled_sets,
    read_counts,
)
from ..column_roles import (
    BEST,
    CHOSEN_OF_TWO,
    COUNT,
    OPTION,
    RANK,
    RESPONDENT,
    RESULT,
    TASK,
    column_names,
    find_named_columns,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from ..number_checks import check_numbers
from ..respondent_answers import (
    RowRespondents,
    read_any_respondents,
    treat_rows_as_respondents,
)
from ..respondent_table import build_people_table
from .long_and_wide_tables import RawOccasions, read_occasion_counts

if TYPE_CHECKING:
    import pandas as pd

# followed by a number: names of unknown respondents, who are different people in other data
NAMELESS = "ranking "


def _name_rankings(n_rankings: int) -> tuple[str, ...]:
    """Return ("ranking 1", "ranking 2", ...) as names of unknown respondents."""
    return tuple([f"{NAMELESS}{k + 1}" for k in range(n_rankings)])


# Columns of rankings: one column per rank, one column per option, or one row per ranked option


RANKS = "ranks"
OPTIONS = "options"
LONG = "long"
TEXT = "text"
SHAPES = (RANKS, OPTIONS, LONG, TEXT)
# separators in rankings as text: between options, and between tied options
BEFORE = ">"
TIED = " = "
# separators of options in lists, the best first, and names of columns with such lists
_LISTED = (",", ";", "|", " ")
_NAMES_OF_LISTS = "ranking rankings rank ranks ranked order rankorder rang".split()
_RANKING = re.compile(r"[^<>=]*[^<>=\s-]\s*(?:[>=][^<>=]*[^<>=\s-]\s*)+")
_COUNT = COUNT.but(vague="votes vote number")
_GROUP = TASK.but(
    vague=f"{TASK.vague} race raceid event eventid ranker list vote voteid ballot ballotid"
    " rankingid tournament tournamentid heat heatid"
)
RANK_STEMS = {
    *RANK.sure,
    *"choice pref preference top wahl wunsch choix favourite favorite".split(),
}
_ORDINALS = tuple(
    tuple(map(simplify_name, text.split()))
    for text in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "best secondbest thirdbest fourthbest",
        " ".join(["1st", "2nd", "3rd", *(f"{k}th" for k in range(4, 100))]),
        "erste zweite dritte vierte fünfte sechste",
        "erst zweit dritt viert fünft sechst",
        "premier deuxième troisième quatrième cinquième",
        "primero segundo tercero cuarto quinto",
    )
)
_NUMBERED = re.compile(r"([^\d]*)(\d{1,9})")
# columns of one question in surveys, such as toppings[1] or Rank the toppings [Ham]
_BRACKETED = re.compile(r"(.*?)\s*\[(.+)\]\s*")
_ENDINGS = ("", "choice", "place", "rank", "preference", "wahl", "wunsch", "choix")
# {"secondchoice": ("firstchoice", 2), ...}: the first name of each series, and the rank
_RANK_BY_NAME = {
    ordinal + ending: (ordinals[0] + ending, rank)
    for ordinals in _ORDINALS
    for ending in _ENDINGS
    for rank, ordinal in enumerate(ordinals, start=1)
}
_STEMS = "|".join(sorted(RANK_STEMS, key=len, reverse=True))
_NUMBERED_RANK = re.compile(rf"(?:{_STEMS})?([0-9]{{1,3}})(?:{'|'.join(_ENDINGS)})")
# the place before a label, as in 1. tea, 2. milk, or behind it, as in milk (2), tea (1)
_ORDINAL_ENDING = "(?:st|nd|rd|th)?"
_PLACE = re.compile(
    r"(?:^|[\s,;|]+)[\"'(#]?(\d{1,3})"
    rf"(?:{_ORDINAL_ENDING}[\"']?\s*[.):=-]+(?!\d)|(?<=#\d)|(?<=#\d\d))\s*"
)
_PLACE_BEHIND = re.compile(rf"\s*[:=(]\s*#?(\d{{1,3}}){_ORDINAL_ENDING}\)?(?:$|[\s,;|]+)")
_WITH_PLACE = re.compile(rf"[(#]?(\d{{1,3}}){_ORDINAL_ENDING}\s*[.):=](?!\d)")
_CUT_LABEL = re.compile(r"[\[{]\s*[\"'\[{]|.*[\[{][^\]}]*$")  # of nested lists
_THEN = re.compile("^(?:(?:and|then) )+")
_QUOTED = re.compile(r"^(['\"])(.+)\1$")
_TIED_PLACE = re.compile(r"[t=](\d{1,9})|(\d{1,9})=")  # such as T2 and 2= in sports
_MEAN_RANK = re.compile(r"\d{1,9}\.\d+")
_UNFINISHED = "dnf dsq dq disq otl cut mc mdf wd ret nc r".split()  # these share the last place
_UNSTARTED = "dns dnq dnp".split()  # these have no place
_LAST = 10**9
_MAX_COLUMNS = 60  # columns that are searched for ranks


class RankingColumns(NamedTuple):
    """Names and layout of the columns of a table of rankings."""

    # RANKS: one column per rank, with options; OPTIONS: one column per option, with ranks; LONG:
    # one row per option; TEXT: a column of rankings such as "a > b = c"
    shape: str
    # columns of ranks or options; in a long table the option and the rank
    columns: tuple[str, ...]
    respondent: str | None
    group: str | None  # the ranking of each row of a long table
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        return {*self.columns, self.respondent, self.group, self.count}


def find_ranking_columns(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None], unranked: str
) -> RankingColumns | None:
    """Find the columns of rankings by names or cells; None if there are none.

    `named_columns` are the known names of option, rank, respondent and count. If unnamed options
    are worse, an empty column is an option without ranks.
    """
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    respondent_column, count_column = find_named_columns(
        name_by_simplified, named_columns, (RESPONDENT, COUNT)
    )
    count_columns = list(
        _COUNT.find_possible_columns(name_by_simplified, (respondent_column, count_column))
    )
    if count_column is None:
        numeric_columns = (name for name in count_columns if has_numbers(frame[name]))
        count_column = next(
            (name for name in numeric_columns if not is_row_number(get_column(frame, name))), None
        )
    role_columns = (respondent_column, count_column, BEST.find_column(name_by_simplified))
    other_columns = [name for name in all_columns if name not in role_columns]
    rank_columns = (
        name
        for plain_name, name in name_by_simplified.items()
        if (plain_name in RANK.sure or (plain_name.endswith("rank") and name in other_columns))
        and not all(isinstance(_parse_rank(c), str) for c in frame[name].unique())
    )
    is_doubtful = partial(_is_doubtful_rank, has_judges=respondent_column is not None)
    rank_column = named_columns.get("rank") or min(rank_columns, key=is_doubtful, default=None)
    (option_column,) = find_named_columns(name_by_simplified, named_columns, (OPTION,))
    ranking_column = _GROUP.find_column(
        name_by_simplified, (rank_column, option_column, respondent_column)
    )
    group_column = ranking_column or respondent_column
    if rank_column is not None and option_column is None and group_column is not None:
        option_column = _find_ranked_option(frame, rank_column, group_column)
    if option_column is None and named_columns.get("rank") is None:
        found_columns = _find_ranked_groups(frame, other_columns)
        if found_columns is not None:
            option_column, rank_column, ranking_column = found_columns
    if rank_column is not None and option_column is not None:
        keys = [name for name in (respondent_column, ranking_column) if name is not None]
        if count_column is not None and named_columns.get("count") is None and keys:
            is_varied = frame.groupby(keys)[count_column].nunique().to_numpy() > 1
            # it describes the options, and is no count with a mistake in a few rows
            if is_varied.mean() > 0.5 or (count_column in count_columns and is_varied.any()):
                count_column = None
        if simplify_name(count_column or "") == "number":  # of a race or a car
            count_column = named_columns.get("count")
        return RankingColumns(
            LONG, (option_column, rank_column), respondent_column, ranking_column, count_column
        )
    shape, columns = _find_row_columns(frame, other_columns, unranked)
    if not columns:
        return None
    return RankingColumns(shape, tuple(columns), respondent_column, None, count_column)


def _is_doubtful_rank(name: str, has_judges: bool = False) -> bool:
    """Return whether a column may contain places at a start or on a screen, and no final ranks."""
    plain_name = simplify_name(name)
    # judges see options in positions, but places of a race are ranks
    is_place = plain_name in RANK.sure and not has_judges
    return not (is_place or plain_name.startswith(("rank", "rang", "final")))


def _find_row_columns(
    frame: "pd.DataFrame", names: list[str], unranked: str
) -> tuple[str, list[str]]:
    """Return the layout and the columns of rankings, one per row; without any, no columns."""
    if columns := _match_rank_columns(frame, names):
        return RANKS, columns
    columns, doubtful_columns = find_rank_block(frame, names, unranked == WORSE)
    if columns and not doubtful_columns:
        return OPTIONS, columns
    text_columns = [name for name in names if _find_text_separator(name, get_column(frame, name))]
    return TEXT, text_columns * (len(text_columns) == 1)


def _find_ranked_option(frame: "pd.DataFrame", rank: str, group: str) -> str | None:
    """Return the first identifier, or only column of texts, that is once in several rankings."""
    if _find_text_separator(rank, frame[rank]):
        return None
    candidates = [
        name
        for name in column_names(frame)
        if name not in (rank, group)
        and not frame[name].is_unique
        and not frame.duplicated([group, name]).any()
    ]
    for name in candidates:
        if list_name_words(name)[-1:] == ["id"]:
            return name
    text_columns = [name for name in candidates if not has_numbers(frame[name])]
    if len(text_columns) != 1:
        return None
    return text_columns[0]


_PLACE_WORDS = {*RANK.synonyms, "finish", "finishing", "finished", "placing", "placement"}
# words in the names of positions before the contest
_START_WORDS = set("draw grid start starting post lane row gate seed".split())
_POSITION = r"\d{1,2}(?!\d)|(?<![A-Z])[A-Z](?![A-Za-z])|(?<![A-Za-z])[a-z](?![A-Za-z])"
_NAME_OF_POSITION = re.compile(rf"(.*)(?<!\d)({_POSITION})(\D*)")


def spread_ranked_cells(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with a column of ranks per option, if cells name the ranked options.

    In columns such as system1Id, system1rank, system2Id, ... or item_A, rank_A, item_B, ... each
    row names its options.
    """
    import pandas as pd

    names_by_series = _list_numbered_series(frame)
    matches = [
        (rank_names, option_names)
        for series, rank_names in names_by_series.items()
        if len(rank_names) > 1
        and _is_called_place(" ".join(series))
        and _have_numbers(frame, rank_names.values())
        for option_names in names_by_series.values()
        if option_names.keys() == rank_names.keys()
        and not any(has_numbers(frame[name]) for name in option_names.values())
    ]
    if not matches:
        return frame
    (rank_names, option_names), *other_matches = matches
    if any(names is not option_names for _, names in other_matches):
        return frame
    refuse_several_ranks([list(names.values()) for names, _ in matches])
    parts: list[Any] = [
        frame.set_index(option_name, append=True)[rank_names[position]]
        for position, option_name in option_names.items()
    ]
    ranks: Any = pd.concat(parts).rename_axis(index=["row", "option"])
    ranks = ranks[ranks.index.get_level_values("option").notna()]
    if not ranks.index.is_unique:
        return frame
    others = frame.drop(columns=[*rank_names.values(), *option_names.values()])
    # ranks among more options than a row has, such as 1 and 3, if they are all that it says
    if ranks.between(1, _MAX_GAPPED).all() and not (
        any(len(names) > 1 for names in _list_numbered_series(others).values())
        or any(role.find_column(map_plain_names(others)) for role in (CHOSEN_OF_TWO, RESULT))
    ):
        places = ranks.groupby("row").rank(method="min")
        has_gaps = (places != ranks).any()
        if has_gaps and ranks.groupby("option").nunique().max() == 1:  # of standings
            return frame
        ranks = places
    return others.join(ranks.unstack("option"))


_MAX_GAPPED = 20  # higher ranks are of all players of a sport, say


def _list_numbered_series(frame: "pd.DataFrame") -> dict[tuple[str, str], dict[str, str]]:
    """Return {(text before, text after): {position: name}} of the columns with a position."""
    names_by_series: dict[tuple[str, str], dict[str, str]] = {}
    for name in column_names(frame):
        if (name_match := _NAME_OF_POSITION.fullmatch(name)) is not None:
            stem, position, ending = name_match.groups()
            names_by_series.setdefault((stem, ending), {})[position.upper()] = name
    return names_by_series


def _is_called_place(name: str) -> bool:
    """Return whether a column's name is that of ranks, and not of positions at the start."""
    words = {*list_name_words(name), simplify_name(name)}
    return not words.isdisjoint(_PLACE_WORDS) and words.isdisjoint(_START_WORDS)


def _have_numbers(frame: "pd.DataFrame", names: Iterable[str]) -> bool:
    """Return whether all these columns contain numbers."""
    return all(has_numbers(frame[name]) for name in names)


def refuse_several_ranks(rank_columns: list[list[str]]) -> None:
    """Raise DataError if options are ranked more than once, such as for several traits."""
    first_columns, *other_columns = rank_columns or [()]
    if other_columns:
        raise DataError(
            f"Options are ranked in {shorten(first_columns)} and in {shorten(other_columns[0])}."
            " Keep one of these rankings; to keep the first, drop the others with ",
            Setting("without", [name for columns in other_columns for name in columns]),
            ".",
        )


def _find_ranked_groups(frame: "pd.DataFrame", names: list[str]) -> tuple[str, str, str] | None:
    """Return the columns of options, ranks and rankings, if places rank all groups; else None."""
    # an option is at most once in a group, such as a race; equal places share the first
    for rank in sorted(names, key=_is_doubtful_rank):
        if not _is_called_place(rank) or not has_numbers(frame[rank]):
            continue
        for group in names:
            groups: Any = frame.groupby(group)[rank]
            is_key = group != rank and (groups.nunique() > 1).mean() > 0.5
            if not is_key or not (groups.rank(method="min") == frame[rank]).all():
                continue
            option = _find_ranked_option(frame, rank, group)
            if option is not None:
                return option, rank, group
    return None


def _find_text_separator(column_name: str, column: Any) -> str:
    """Return the separator in texts such as "a > b = c" or "a, b, c"; else ""."""

    if has_numbers(column):
        return ""
    is_named_ranking = simplify_name(column_name) in _NAMES_OF_LISTS
    for distinct_cells in iterate_distinct_cells(column):
        cell_texts = [text for text in map(format_label, distinct_cells) if text]
        are_rankings = all(map(_RANKING.fullmatch, cell_texts))
        separators = [s for s in _LISTED if is_named_ranking or _may_separate(s, cell_texts)]
        if not separators and not are_rankings:
            return ""
    if are_rankings and any(BEFORE in text for text in cell_texts):
        return BEFORE
    if len(cell_texts) < 2:
        return ""
    for separator in separators:
        label_lists = [_split_list(text, separator) for text in cell_texts]
        all_labels = {label for labels in label_lists for label in labels}
        n_labels = [len({*labels}) for labels in label_lists]
        # lists of all options, or lists of some of them in a column called ranking
        is_complete = {*n_labels} == {len(all_labels)}
        is_partial = (
            is_named_ranking
            and separator != " "
            and min(n_labels) > 1 < sum(n_labels) / len(all_labels)
        )
        if n_labels == list(map(len, label_lists)) and (is_complete or is_partial):
            return separator
    return ""


def _may_separate(separator: str, cell_texts: list[str]) -> bool:
    """Return whether the first two texts may be lists of the same labels."""
    if len(cell_texts) < 2:
        return True
    first_labels, second_labels = (_split_list(text, separator) for text in cell_texts[:2])
    return {*first_labels} == {*second_labels} and len(first_labels) > 2


def _split_list(text: str, separator: str) -> list[str]:
    """Split a text at a separator into labels, without brackets, quotes and numbers of places."""
    if text[:1] + text[-1:] in ("[]", "{}"):
        text = text[1:-1]
    labels = _split_places(text)
    if not labels or separator == TIED.strip():
        # a form ends each label, also the last, with the separator
        labels = text.strip().removesuffix(separator).split(separator)
        labels = [_THEN.sub("", label.strip()) for label in labels]
    return [_QUOTED.sub(r"\2", label) for label in labels]


def _split_places(text: str) -> list[str]:
    """Return the labels beside the places 1, 2, ... in a text, the best first; else []."""
    text = text.strip(" \t\n,;|")
    start, *cells = _PLACE.split(text)
    pairs = [*zip(map(int, cells[::2]), cells[1::2], strict=True)]
    if start:
        *cells, end = _PLACE_BEHIND.split(text)
        if end or re.search("[,;|]", "".join(cells[::2])):
            return []
        pairs = sorted(zip(map(int, cells[1::2]), cells[::2], strict=True))
    labels = [label for _, label in pairs]
    is_counted = [place for place, _ in pairs] == [*range(1, len(pairs) + 1)]
    if not is_counted or len({*labels}) < max(len(labels), 2):
        return []
    return labels


def _split_ranking(text: str, separator: str = BEFORE) -> list[list[str]]:
    """Split "a > b = c" into [["a"], ["b", "c"]], the best first."""
    if not text:
        return []
    if separator != BEFORE:
        return [[label] for label in _split_list(text, separator)]
    return [_split_list(group, TIED.strip()) for group in text.split(BEFORE)]


def _refuse_cut_labels(ranking: list[list[str]], place: str) -> None:
    """Raise DataError if labels of a ranking contain parts of nested lists, or their places."""
    labels = [group[0] for group in ranking]
    places = [int(match[1]) for match in map(_WITH_PLACE.match, labels) if match]
    is_counted = places == [*range(1, len(labels) + 1)]
    if len(labels) > 1 and (_CUT_LABEL.match(labels[0]) or is_counted):
        raise DataError(
            f"The ranking in {place} contains {labels[0]!r}, which is not a label alone; expected"
            " labels such as 'tea, milk, rum', the best first. Remove ranks, brackets and names of"
            " lists."
        )


def require_ranking_columns(
    frame: "pd.DataFrame",
    layout: str | None,
    named_columns: Mapping[str, str | None],
    unranked: str,
) -> RankingColumns:
    """Find the columns of rankings in a given or any layout; raise if there are none."""
    check_columns(frame, named_columns.values())
    columns_found = find_ranking_columns(frame, named_columns, unranked)
    if layout in (RANKS, OPTIONS) and (columns_found is None or columns_found.shape != layout):
        used_names = named_columns.values()
        other_columns = tuple(name for name in column_names(frame) if name not in used_names)
        columns_found = RankingColumns(
            layout, other_columns, named_columns.get("respondent"), None, named_columns.get("count")
        )
    if columns_found is None or layout not in (None, columns_found.shape):
        raise DataError(
            f"No rankings were found in {shorten(column_names(frame), 12)}. Expected one column per"
            " rank ('rank1', 'rank2'), one column of ranks per option, one column of texts such as"
            " 'a > b = c', or one option and its rank per row (columns given by ",
            Argument("option"),
            " and ",
            Argument("rank"),
            ").",
        )
    if columns_found.shape == OPTIONS:
        _refuse_rank_groups(frame, columns_found.columns)
    return columns_found


def _refuse_rank_groups(frame: "pd.DataFrame", columns: tuple[str, ...]) -> None:
    """Raise DataError if items are ranked in several groups: Q5_0_1, Q5_0_2, Q5_1_1, Q5_1_2."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for (stem, ending), names in _list_numbered_series(frame).items():
        if _have_numbers(frame, names.values()):
            key = (re.sub(r"\d", "", stem), ending, *names)
            groups.setdefault(key, []).append([*names.values()])
    for rank_columns in groups.values():
        if columns[0] in chain(*rank_columns):
            refuse_several_ranks([c for c in rank_columns if _are_ranks(frame[c])])


def _are_ranks(frame: Any) -> bool:
    """Return whether most rows contain the ranks 1, ..., m, where m may be 0."""
    ranks = np.nan_to_num(frame.to_numpy(float))
    is_strict = is_ranking(ranks)
    return bool(is_strict.any() and (is_strict | (ranks.sum(axis=1) <= 1)).mean() > 0.5)


def _match_rank_columns(frame: "pd.DataFrame", names: list[str]) -> list[str]:
    """Return columns named by rank (rank1, rank2; 1st, 2nd), in the order of rank."""
    # Plain numbers are not names of ranks.
    numbered_by_stem: dict[tuple[str, str], dict[int, str]] = {}
    worded_by_stem: dict[tuple[str, str], dict[int, str]] = {}
    for column_name in names:
        bracket_match = _BRACKETED.fullmatch(column_name)
        question, text = bracket_match.groups() if bracket_match else ("", column_name)
        simplified_name = simplify_name(text)
        number_match = _NUMBERED.fullmatch(simplified_name)
        if number_match and (
            number_match[1] in RANK_STEMS or (bracket_match and not number_match[1])
        ):
            numbered_columns = numbered_by_stem.setdefault((question, number_match[1]), {})
            numbered_columns.setdefault(int(number_match[2]), column_name)
        if simplified_name in _RANK_BY_NAME:
            stem, rank = _RANK_BY_NAME[simplified_name]
            worded_by_stem.setdefault((question, stem), {})[rank] = column_name
    # numbers in brackets may also number ratings
    candidate_series = [
        columns
        for (_, stem), column_by_rank in (numbered_by_stem | worded_by_stem).items()
        if len(columns := _list_first_ranks(column_by_rank)) > 1
        and (stem or _share_of_distinct_rows(frame, columns) == 1.0)
    ]
    longest_series = max(candidate_series, key=len, default=[])
    if not longest_series:
        return _find_worded_ranks(frame, names)
    # two sides
    if len(longest_series) == 2 and simplify_name(longest_series[0]) in ("first", "best"):
        return []
    return longest_series


def _list_first_ranks(column_by_rank: dict[int, str]) -> list[str]:
    """Return the columns of the ranks 1, 2, ..., up to the first rank without a column."""
    return [column_by_rank[rank] for rank in takewhile(column_by_rank.__contains__, count(1))]


_ORDINAL = r"[^\W\d_]+|\d+(?:st|nd|rd|th|\.)"
_WORDED_RANK = re.compile(
    rf"(?<![^\W_])(?=((?:(?:{_ORDINAL})[\s_]*(?:{_STEMS})|(?:{_STEMS})[\W_]*\d+)(?![^\W_])"
    r"|^\d+\.$))",  # the German 1., 2., 3.
    re.I,
)


def _find_worded_ranks(frame: "pd.DataFrame", names: list[str]) -> list[str]:
    """Return columns that differ in a rank, by rank: Mayor 1st choice, Mayor 2nd choice."""
    # Their cells are texts, several columns have the same, and few rows have one twice.
    columns_by_question: dict[str, dict[int, str]] = {}
    for name in names:
        for match in _WORDED_RANK.finditer(name):
            if isinstance(rank := _parse_rank(match[1]), int):
                question = name[: match.start()] + name[match.end(1) :]
                columns_by_question.setdefault(question, {})[rank] = name
    rankings = [
        columns
        for column_by_rank in columns_by_question.values()
        if len(columns := _list_first_ranks(column_by_rank)) > 2
        and not _have_numbers(frame, columns)
        and _share_of_distinct_rows(frame, columns) > 0.5
    ]
    refuse_several_ranks(rankings)
    return next(iter(rankings), [])


BLANK_RANKS = set("undervote overvote skipped blank (blank) exhausted abstain spoiled".split())
NO_PREFERENCES = {"none", "nopreference", "nofurtherpreference"}


def _share_of_distinct_rows(frame: "pd.DataFrame", columns: list[str]) -> float:
    """Return the share of rows without repeated labels; 0 if no rows share labels."""
    import pandas as pd

    cells = _read_ranked_labels(frame, tuple(columns))
    codes, texts = pd.factorize(cells.ravel())
    is_label = np.array(
        [simplify_name(text) not in {"", *BLANK_RANKS, *NO_PREFERENCES} for text in texts], bool
    )
    # cells without a label are -1, -2, ..., so that they differ
    label_rows = np.where(is_label[codes].reshape(cells.shape), codes.reshape(cells.shape), -1)
    label_rows -= np.where(label_rows < 0, np.arange(len(columns)), 0)
    is_repeated = (np.diff(np.sort(label_rows, axis=1), axis=1) == 0).any(axis=1)
    n_distinct = int((~is_repeated).sum())
    return n_distinct / max(len(cells), 1) * bool(is_label.sum() < (label_rows >= 0).sum())


def find_rank_block(
    frame: "pd.DataFrame", columns: list[str], accepts_empty: bool = False
) -> tuple[list[str], list[str]]:
    """Return the longest run of columns whose rows contain the ranks 1, 2, ...

    Also return other columns of such numbers if the run may be due to chance.
    """
    columns = [name for name in columns if _may_be_ranks(frame[name], accepts_empty)]
    columns = columns[:_MAX_COLUMNS]
    if len(columns) < 3 or not len(frame):
        return [], []
    ranks = np.nan_to_num(_parse_ranks(frame[columns]).to_numpy(float))
    is_mark = ((ranks == 0) | (ranks == 1)).all(axis=0) & ranks.any(axis=0)
    if is_mark.any():  # of a trait of the respondents, if the others are complete rankings
        names = [name for name, mark in zip(columns, is_mark, strict=True) if not mark]
        block, others = find_rank_block(frame, names, accepts_empty)
        cells = np.sort(_parse_ranks(frame[block]).to_numpy(float))
        if block and (cells == np.arange(1, len(block) + 1)).all(axis=1).mean() > _MOST_ROWS:
            return block, others
    for run in _iterate_possible_runs(ranks):
        rank_block = _place_unfinished_last(ranks[:, run])
        if rank_block.max() > rank_block.shape[1] or rank_block.min() < 0:
            continue
        is_strict = is_ranking(rank_block)
        if is_strict.mean() > 0.5 or _are_tied_ranks(rank_block) or _are_mean_ranks(rank_block):
            is_low = ((ranks <= rank_block.max()) | (ranks == _LAST)).all(axis=0)
            is_low[run] = False
            others = []
            is_first = np.unique(rank_block, axis=0, return_index=True)[1]
            if _may_be_chance(is_strict[is_first]):
                others = [name for name, low in zip(columns, is_low, strict=True) if low]
            return columns[run], others
    return [], []


def _iterate_possible_runs(ranks: np.ndarray) -> Iterator[slice]:
    """Yield the runs of three or more columns that may contain rankings, the widest first."""
    # In most rankings without ties, and in all with mean ranks of ties, number and sum of the ranks
    # agree; in other rankings with ties, the first rows are such rankings.
    ranks_of_finished = np.where((ranks > 0) & (ranks < _LAST), ranks, 0)
    totals = [
        np.pad(np.cumsum(cells, axis=1), ((0, 0), (1, 0)))
        for cells in (ranks > 0, ranks_of_finished, ranks == _LAST)
    ]
    for width in range(ranks.shape[1], 2, -1):
        n_ranked, rank_sum, n_last = (total[:, width:] - total[:, :-width] for total in totals)
        has_rank_sum = (n_ranked > 1) & (abs(2 * rank_sum - n_ranked * (n_ranked + 1)) < 0.5)
        for start, share in enumerate((has_rank_sum | (n_last > 0)).mean(axis=0)):
            run = slice(start, start + width)
            first_ranks = _place_unfinished_last(ranks[:_FIRST_RANKINGS, run])
            is_tied_ranking = is_ranking(first_ranks, True)
            if (ranks[:, run] > 2).any():
                is_tied_ranking |= first_ranks.max(axis=1) == 1
            if share > 0.5 or is_tied_ranking.all():
                yield run


_FIRST_RANKINGS = 50


def _place_unfinished_last(ranks: np.ndarray) -> np.ndarray:
    """Return ranks whose unfinished options are after the last finished one of the row."""
    n_finished = ((ranks > 0) & (ranks < _LAST)).sum(axis=1, keepdims=True)
    return np.where(ranks == _LAST, n_finished + 1, ranks)


_MOST_ROWS = 0.9  # share of complete rankings beside a column of marks
_MISSING_CODES = (99, 9, 999, 98, 88, -1, -9, -99)


def find_missing_rank(frame: Any, names: list[str]) -> tuple[str, int] | None:
    """Return the first cell (column, code) without which the columns are ranks; else None."""
    for code in _MISSING_CODES:
        coded_columns = [name for name in names if (frame[name] == code).any()]
        if len(coded_columns) < 2:
            continue
        columns, doubtful_columns = find_rank_block(frame.mask(frame == code), names)
        if {*coded_columns} <= {*columns} and not doubtful_columns:
            return coded_columns[0], code
    return None


def _are_tied_ranks(ranks: np.ndarray) -> bool:
    """Return whether all rows are rankings, with ties, or equal first ranks."""
    is_tied_ranking = is_ranking(ranks, True)
    # columns of 1 and 2 are often answers to several questions
    has_first_ranks_only = (ranks.max(axis=1) == 1) & (ranks.max() > 2)
    return bool(is_tied_ranking.any() and (is_tied_ranking | has_first_ranks_only).all())


def _are_mean_ranks(ranks: np.ndarray) -> bool:
    """Return whether all rows are rankings where ties have the mean of their ranks."""
    # rows may lack options, marked by 0, if some ranks are fractions
    is_ranked = ranks > 0
    if not is_ranked.all() and ((ranks % 1 == 0).all() or (is_ranked.sum(axis=1) < 2).any()):
        return False
    is_lower = (ranks[:, :, None] > ranks[:, None, :]) & is_ranked[:, None, :]
    is_equal = ranks[:, :, None] == ranks[:, None, :]
    mean_ranks = is_lower.sum(axis=2) + (is_equal.sum(axis=2) + 1) / 2
    return bool((mean_ranks == ranks)[is_ranked].all())


def _may_be_chance(is_ranking: np.ndarray) -> bool:
    """Return whether this number of rankings is to be expected among ratings from 1 to 3."""
    n_rows = len(is_ranking)
    n_rankings = int(is_ranking.sum())
    return math.comb(n_rows, n_rankings) * _CHANCE**n_rankings > _MAX_CHANCE


_CHANCE = 6 / 27  # probability that three ratings from 1 to 3 all differ
_MAX_CHANCE = 1e-3


def _may_be_ranks(column: Any, accepts_empty: bool) -> bool:
    """Return whether all cells are numbers or ordinals such as "1st choice", or empty."""
    cells = column.dropna()
    if not len(cells):
        return accepts_empty
    return has_numbers(column) or all(
        len(distinct_cells) <= _MAX_COLUMNS
        and all(isinstance(c, str) and _parse_rank(c) is not c for c in distinct_cells)
        for distinct_cells in iterate_distinct_cells(cells)
    )


def is_ranking(ranks: np.ndarray, has_ties: bool = False) -> np.ndarray:
    """Return whether each row consists of the ranks 1, ..., m (m >= 2) and zeros.

    With ties the ranks are 1, 2, 2, 4, and not all equal.
    """
    sorted_ranks = np.sort(ranks, axis=1)
    n_ranked = (ranks > 0).sum(axis=1)
    expected_ranks = np.arange(1, ranks.shape[1] + 1) - (ranks.shape[1] - n_ranked)[:, None]
    is_expected = np.where(expected_ranks > 0, expected_ranks, 0) == sorted_ranks
    if has_ties:
        is_expected[:, 1:] |= (expected_ranks[:, 1:] > 1) & (
            sorted_ranks[:, 1:] == sorted_ranks[:, :-1]
        )
        n_ranked = n_ranked * (sorted_ranks[:, -1] > 1)
    return is_expected.all(axis=1) & (n_ranked > 1)


def describe_layout(columns: RankingColumns) -> str:
    """Describe in words how a table's columns contain rankings."""
    first_column = columns.columns[0]
    last_column = columns.columns[-1]
    if columns.shape == LONG:
        layout = f"one option of a ranking per row, option in {first_column!r}"
        if columns.group is not None:
            layout += f", ranking in {columns.group!r}"
        return f"{layout}, rank in {last_column!r}"
    if columns.shape == TEXT:
        return f"one ranking per row, as text in {first_column!r}"
    layout = "one column of ranks per option"
    if columns.shape == RANKS:
        layout = "one column per rank"
    return f"one ranking per row, {layout} ({first_column!r} to {last_column!r})"


PADDING = "0"  # fills the ranks after the last choice in some programs' tables


def _read_ranked_labels(frame: "pd.DataFrame", columns: tuple[str, ...]) -> np.ndarray:
    """Return each row's labels, by rank, (rows, columns); zeros after the last choice are empty."""
    cells = np.array([list_texts(frame, name) for name in columns], object).T
    unpadded_cells = np.where(_mark_trailing((cells == "") | (cells == PADDING)), "", cells)
    if (unpadded_cells == PADDING).any() or not (unpadded_cells != "").any():
        return cells  # an option
    return unpadded_cells


def _mark_trailing(is_blank: np.ndarray) -> np.ndarray:
    """Return which blank cells have only blank cells after them in their row."""
    return np.logical_and.accumulate(is_blank[:, ::-1], axis=1)[:, ::-1]


MAX_SHOWN = 1 << 26  # total number of options shown in all choices
WORSE, ABSENT = "worse", "absent"  # meanings of an option that a ranking does not name


class Rankings(NamedTuple):
    """Rankings as arrays of option indices and ranks, with counts and respondents."""

    labels: tuple[str, ...]
    sizes: np.ndarray  # (rankings,) number of options that each names
    # options of all rankings in turn, the best first, and their ascending ranks
    options: np.ndarray
    ranks: np.ndarray
    name: Any  # describes a ranking, by its number, in errors
    count: np.ndarray  # type: ignore[override]
    respondents: RowRespondents  # of the rankings

    @property
    def is_group_start(self) -> np.ndarray:
        """Whether each option is the first of its rank in its ranking."""
        ranking = repeat_indices(self.sizes)
        is_start = np.ones(len(ranking), bool)
        is_start[1:] = (np.diff(ranking) != 0) | (np.diff(self.ranks) != 0)
        return is_start

    @property
    def n_groups(self) -> np.ndarray:
        """Number of different ranks of each ranking."""
        return np.bincount(
            repeat_indices(self.sizes)[self.is_group_start], minlength=len(self.sizes)
        )


def read_ranking_list(rankings: Iterable[Any], labels: Iterable[Any] | None) -> Rankings:
    """Encode rankings given as sequences of labels, the best first."""
    tied_groups = [_read_sequence(k, ranking) for k, ranking in enumerate(rankings)]
    if not tied_groups:
        raise DataError("The list is empty; give at least one ranking.")
    n_rankings = len(tied_groups)
    return Rankings(
        *_encode_rankings(*_join_groups(tied_groups), labels, _describe_ranking),
        _describe_ranking,
        np.ones(n_rankings),
        RowRespondents(_name_rankings(n_rankings), np.arange(n_rankings), None),
    )


def _describe_ranking(ranking_number: int) -> str:
    """Return "ranking N" for an error message, N counted from 1."""
    return f"ranking {ranking_number + 1}"


def _read_sequence(ranking_number: int, ranking: Any) -> list[list[str]]:
    """Convert one ranking to groups of tied labels, the best first."""
    if isinstance(ranking, str) and _RANKING.fullmatch(ranking):
        return _split_ranking(ranking)
    if isinstance(ranking, str) or not isinstance(ranking, Sequence | np.ndarray):
        raise DataError(
            "Each ranking must be a list of options, best first, or a text such as 'a > b = c';"
            f" ranking {ranking_number + 1} is {ranking!r}."
        )
    tied_groups = []
    for entry in ranking:
        if not isinstance(entry, list | tuple | set):
            entry = [entry]
        tied_groups.append(list(map(format_label, entry)))
    return tied_groups


def read_ranking_frame(
    frame: "pd.DataFrame",
    columns: RankingColumns,
    labels: Iterable[Any] | None,
    weights: bool,
    unranked: str,
) -> Rankings:
    """Read rankings from a table with these columns.

    A ranking with count 0 only adds its options to the labels.
    """
    if columns.shape == LONG:
        return _read_long_rankings(frame, columns, labels, weights)

    def describe_row(ranking_number: int) -> str:
        """Describe a ranking by its table row, for an error message."""
        return f"row {frame.index[ranking_number]}"

    ranking_counts = read_counts(frame, columns.count, weights)
    if unranked == ABSENT:
        frame = frame.loc[ranking_counts > 0]
        ranking_counts = ranking_counts[ranking_counts > 0]
    if columns.shape == RANKS:
        cells = _read_ranked_labels(frame, columns.columns)
        is_after_last = _mark_trailing(cells == "")
        _refuse_gaps((cells == "") & ~is_after_last, columns.columns, describe_row)
        named_cells = cells[~is_after_last].tolist()
        groups_by_cell = {cell: cell.split(TIED) for cell in {*named_cells}}
        encoded_rankings = _encode_rankings(
            (~is_after_last).sum(axis=1),
            [groups_by_cell[cell] for cell in named_cells],
            labels,
            describe_row,
        )
    elif columns.shape == TEXT:
        (text_column,) = columns.columns
        ranking_texts = list_texts(frame, text_column)
        separator = _find_text_separator(text_column, frame[text_column]) or BEFORE
        rankings = [_split_ranking(text, separator) for text in ranking_texts]
        for row, ranking in enumerate(rankings):
            _refuse_cut_labels(ranking, f"{describe_row(row)}, column {text_column!r}")
        encoded_rankings = _encode_rankings(*_join_groups(rankings), labels, describe_row)
    else:
        option_labels = _strip_question(columns.columns)
        rank_rows = _read_ranks(frame, columns.columns)
        _refuse_zeros((rank_rows == 0).sum(axis=1))
        row_indices, options = np.indices(rank_rows.shape).reshape(2, -1)
        ranked_options = _sort_by_rank(
            row_indices, options, rank_rows.ravel(), option_labels, describe_row
        )
        encoded_rankings = (option_labels, *ranked_options)
    row_respondents = RowRespondents((), np.full(len(frame), -1), None)
    if columns.respondent is not None:
        index, names = encode_column(frame, columns.respondent)
        people = build_people_table(frame, columns.used, index, names)
        row_respondents = RowRespondents(names, index, people)
    elif columns.count is None:
        names = _name_rankings(len(frame))
        row_respondents = treat_rows_as_respondents(frame, columns.used, names)
    return Rankings(*encoded_rankings, describe_row, ranking_counts, row_respondents)


def _refuse_gaps(
    is_gap: np.ndarray, columns: tuple[str, ...], describe_row: Callable[[int], str]
) -> None:
    """Raise DataError if a row has an empty cell before the last label."""
    if (row := find_first(is_gap.any(axis=1))) is not None:
        raise DataError(
            f"There is no option at {columns[is_gap[row].argmax()]!r} in {describe_row(row)},"
            " although later ranks have one; fill it in or move the later options up."
        )


def _strip_question(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return "Ham" for columns such as "Rank the toppings [Ham]"; else the names."""
    bracket_matches = [_BRACKETED.fullmatch(name) for name in columns]
    if None in bracket_matches or len({match and match[1] for match in bracket_matches}) > 1:
        return tuple(map(format_label, columns))
    return tuple(match[2] for match in bracket_matches if match)


def _parse_ranks(frame: Any) -> Any:
    """Return the table with ordinals such as "1st choice" replaced by numbers."""
    parsed_columns = {
        name: column.map({cell: _parse_rank(cell) for cell in find_filled_cells(column)})
        for name, column in frame.items()
        if column.dtype.kind not in "iuf"
    }
    return frame.assign(**parsed_columns)


def _parse_rank(cell: Any) -> Any:
    """Return the number in "1st choice", "T2" or "DNF"; other cells unchanged."""
    if not isinstance(cell, str):
        return cell
    if _MEAN_RANK.fullmatch(cell):
        return float(cell)
    plain_text = simplify_name(cell)
    if plain_text in _UNFINISHED:
        return _LAST
    if plain_text in _UNSTARTED:
        return math.nan
    if place := _TIED_PLACE.fullmatch(plain_text):
        return int(place[1] or place[2])
    if plain_text in _RANK_BY_NAME:
        return _RANK_BY_NAME[plain_text][1]
    if place := _NUMBERED_RANK.fullmatch(plain_text):
        return int(place[1])
    return cell


def _read_ranks(frame: "pd.DataFrame", columns: tuple[str, ...]) -> np.ndarray:
    """Read a table of ranks (rows, options); NaN or 0 where an option is unranked."""
    cell_frame = frame.loc[:, list(columns)]
    _note_unfinished(cell_frame)
    parsed_frame = _parse_ranks(cell_frame)
    cells = parsed_frame.to_numpy()
    if cells.dtype.kind not in "biuf":
        cells = parsed_frame.to_numpy(object)
    ranks = check_numbers(cells, describe_cells(frame.index, columns), "rank")
    return ranks.reshape(cells.shape)


def _note_unfinished(cell_frame: "pd.DataFrame") -> None:
    """Note the ranks such as DNF and DNS, and what they mean."""
    n_by_cell: Counter[Any] = Counter()
    for _, column in cell_frame.items():
        if not has_numbers(column):
            n_by_cell.update(column.tolist())
    texts = [cell for cell in n_by_cell if isinstance(cell, str)]
    for marks, meaning in ((_UNFINISHED, "ranked last"), (_UNSTARTED, "not ranked")):
        marked_texts = [text for text in texts if simplify_name(text) in marks]
        if marked_texts:
            n_marked = sum(n_by_cell[text] for text in marked_texts)
            add_note(
                f"{format_plural(n_marked, 'option')} with"
                f" {shorten(sorted(marked_texts))} {meaning}"
            )


def _refuse_zeros(n_zeros: np.ndarray) -> None:
    """Raise DataError if every ranking has one rank 0, which is ambiguous."""
    if len(n_zeros) and (n_zeros == 1).all():
        raise DataError(
            "Every ranking has a rank 0, but ranks start at 1 for the best option. If 0 means"
            " best, add 1 to all ranks; if 0 means not ranked, leave these cells empty."
        )


def _sort_by_rank(
    ranking_index: np.ndarray,
    options: np.ndarray,
    ranks: np.ndarray,
    option_labels: tuple[str, ...],
    describe_ranking: Callable[[int], str],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sizes, options and ranks of rankings, the best first; raise for invalid ranks."""
    # `ranking_index` is the ranking of each entry, in ascending order.
    n_rankings = ranking_index.max(initial=-1) + 1
    order = np.lexsort((ranks, ranking_index))
    order = order[np.nan_to_num(ranks[order]) != 0]
    sorted_ranks = ranks[order]
    rankings = ranking_index[order]
    # tied options may have the mean of their ranks
    is_tied = np.zeros(len(order) + 1, bool)
    is_tied[1:-1] = (np.diff(rankings) == 0) & (np.diff(sorted_ranks) == 0)
    is_fractional = (sorted_ranks != np.floor(sorted_ranks)) & ~(is_tied[1:] | is_tied[:-1])
    invalid_entries = order[(sorted_ranks < 0) | is_fractional]
    if invalid_entries.size:
        entry = invalid_entries.min()
        raise DataError(
            f"{option_labels[options[entry]]!r} has rank {ranks[entry]:g} in"
            f" {describe_ranking(ranking_index[entry])}; ranks must be integers starting at 1 for"
            " the best."
        )
    return np.bincount(rankings, minlength=n_rankings), options[order], sorted_ranks


def _describe_long_ranking(
    frame: "pd.DataFrame", key_columns: list[str], first_rows: np.ndarray, ranking_number: int
) -> str:
    """Describe a ranking by respondent and group, for an error message."""
    row = first_rows[ranking_number]
    cells = [f"{column} {format_label(frame[column].iloc[row])!r}" for column in key_columns]
    if not cells:
        return "the ranking"
    return f"the ranking of {' and '.join(cells)}"


def _read_long_rankings(
    frame: "pd.DataFrame", columns: RankingColumns, labels: Iterable[Any] | None, weights: bool
) -> Rankings:
    """Read rankings from a long table, one row per ranked option."""
    option_column, rank_column = columns.columns
    option_index, option_labels = encode_column(frame, option_column, labels)
    key_columns = list(filter(None, (columns.respondent, columns.group)))
    first_rows, ranking_index = number_labelled_sets(frame, key_columns)
    rank_values = _read_ranks(frame, (rank_column,)).ravel()
    describe_ranking = partial(_describe_long_ranking, frame, key_columns, first_rows)
    sorted_rows = np.lexsort((option_index, ranking_index))
    is_repeated = (
        (np.diff(ranking_index[sorted_rows]) == 0)
        & (np.diff(option_index[sorted_rows]) == 0)
        & ~np.isnan(rank_values[sorted_rows[:-1]])
    )
    if is_repeated.any():
        row = int(sorted_rows[1:][is_repeated].min())
        raise DataError(
            f"{option_labels[option_index[row]]!r} is listed twice in"
            f" {describe_ranking(ranking_index[row])}, the second time in row"
            f" {frame.index[row]}",
            _suggest_ranking(frame, [*key_columns, option_column], columns),
            ".",
        )
    _refuse_zeros(np.bincount(ranking_index[rank_values == 0], minlength=len(first_rows)))
    ranked_options = _sort_by_rank(
        ranking_index[sorted_rows],
        option_index[sorted_rows],
        rank_values[sorted_rows],
        option_labels,
        describe_ranking,
    )
    row_respondents = read_any_respondents(frame, columns.respondent, columns.used)
    ranking_counts = read_occasion_counts(
        frame, columns.count, weights, ranking_index, describe_ranking
    )[first_rows]
    return Rankings(
        option_labels,
        *ranked_options,
        describe_ranking,
        ranking_counts,
        row_respondents.select_rows(first_rows),
    )


def _suggest_ranking(
    frame: "pd.DataFrame", key_columns: list[str], columns: RankingColumns
) -> Clause:
    """Return advice on several rankings: of respondents, of a trait each, or numbered."""
    for name in column_names(frame):
        if name in columns.used or frame.duplicated([*key_columns, name]).any():
            continue
        has_sets = frame.duplicated([*key_columns[:-1], name], keep=False).all()
        if has_sets and (columns.group or (columns.respondent and has_numbers(frame[name]))):
            names = " and ".join(map(repr, filter(None, (columns.group, name))))
            return Clause(f"; if {name!r} numbers the rankings, write {names} in a column 'task'")
        if columns.group is not None:
            continue
        if columns.respondent is None and not frame[name].is_unique:
            argument = Setting("respondent", name)
            return Clause(f"; if {name!r} contains the respondents, set ", argument)
        if has_numbers(frame[name]):
            continue
        condition = f"{name!r} == {format_label(frame[name].iloc[0])!r}"
        return Clause(f"; to read the rankings of one {name!r}, set ", Setting("where", condition))
    return Clause("; if there are several rankings, number them in a column 'task'")


def _join_groups(rankings: list[list[list[str]]]) -> tuple[np.ndarray, list[list[str]]]:
    """Return the number of groups of tied labels of each ranking, and all groups in turn."""
    return np.array(list(map(len, rankings)), np.int64), list(chain(*rankings))


def _encode_rankings(
    n_groups: np.ndarray,
    groups: list[list[str]],
    labels: Iterable[Any] | None,
    describe_ranking: Callable[[int], str],
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Encode rankings of labels as sizes, option indices and ranks; return all labels first."""
    # `n_groups` are the numbers of groups of tied labels of each ranking.
    import pandas as pd

    group_index = repeat_indices(list(map(len, groups)))
    ranking_index = repeat_indices(n_groups)[group_index]
    codes, texts = pd.factorize(np.array(list(chain(*groups)), object))
    all_labels = choose_labels(labels, texts)
    options = find_label_indices(texts, all_labels)[codes]
    keys = ranking_index * len(all_labels) + options
    is_wrong = np.ones(len(keys), bool)  # repeated
    is_wrong[np.unique(keys, return_index=True)[1]] = False
    is_wrong |= options < 0
    if (k := find_first(is_wrong)) is not None:
        label = texts[codes[k]]
        place = describe_ranking(ranking_index[k])
        if options[k] < 0:
            raise DataError(f"{label!r} in {place} is not in `labels`, {shorten(all_labels)}.")
        raise DataError(f"{label!r} occurs twice in {place}; rank each option once.")
    sizes = np.bincount(ranking_index, minlength=len(n_groups))
    return all_labels, sizes, options, part_positions(n_groups)[group_index]


def mark_empty(rankings: Rankings, unranked: str) -> np.ndarray:
    """Return whether each ranking orders no two options."""
    min_ranked = 0
    if unranked == WORSE:  # fewer options are before the others
        min_ranked = len(rankings.labels)
    return (rankings.n_groups < 2) & ((rankings.sizes == 0) | (rankings.sizes >= min_ranked))


def note_empty(rankings: Rankings, unranked: str) -> None:
    """Note the rankings that order no two options, and that those of one option can be used."""
    is_empty = mark_empty(rankings, unranked)
    note_omission(simplify_number(rankings.count[is_empty].sum()), noun="ranking")
    n_single = simplify_number(rankings.count[is_empty & (rankings.sizes == 1)].sum())
    if n_single:
        add_note(
            Message(
                f"of these, {n_single:,} with a single option, which ranks above all others with ",
                Setting("unranked", WORSE),
            )
        )


def convert_rankings(rankings: Rankings, unranked: str) -> RawOccasions:
    """Convert rankings to successive choices: the best of all, then of the rest."""
    _check_memory(rankings, unranked)
    n_options = len(rankings.labels)
    ranking_index = repeat_indices(rankings.sizes)
    group_starts = np.flatnonzero(rankings.is_group_start)
    ranking_of_group = ranking_index[group_starts]
    group_sizes = np.diff(group_starts, append=len(ranking_index))
    # the options of each ranking from the best on, then those that it does not name
    sizes = rankings.sizes
    options = rankings.options
    if unranked == WORSE:
        sizes = np.where(sizes > 0, n_options, 0)
        is_unnamed = np.repeat(sizes[:, None] > 0, n_options, axis=1)
        is_unnamed[ranking_index, options] = False
        unnamed_ranking, unnamed_option = np.nonzero(is_unnamed)
        order = np.argsort(np.concatenate([ranking_index, unnamed_ranking]), kind="stable")
        options = np.concatenate([options, unnamed_option])[order]
    bounds = part_bounds(sizes)
    starts = bounds[ranking_of_group] + part_positions(rankings.sizes)[group_starts]
    n_offered = bounds[ranking_of_group + 1] - starts
    is_choice = (n_offered > group_sizes) & (rankings.count[ranking_of_group] != 0)
    if not is_choice.any():
        n_rankings = format_plural(len(rankings.sizes), "ranking")
        raise DataError(
            f"In {n_rankings}, no option is ranked above another; each ranking must order at least"
            " two options."
        )
    n_offered = n_offered[is_choice]
    occasion = repeat_indices(n_offered)
    positions = part_positions(n_offered)
    ranking_of_row = ranking_of_group[is_choice][occasion]
    return RawOccasions(
        rankings.labels,
        occasion,
        options[starts[is_choice][occasion] + positions],
        positions < group_sizes[is_choice][occasion],
        rankings.respondents.select_rows(ranking_of_row),
        rankings.count[ranking_of_row],
        lambda _: "a ranking",
        has_ties=True,
    )


def _check_memory(rankings: Rankings, unranked: str) -> None:
    """Raise DataError if the choices from these rankings would not fit in memory."""
    # A ranking of 10,000 options is 10,000 choices from 5,000 options on average.
    n_named = rankings.sizes
    n_shown = (n_named * (n_named + 1) // 2).sum()
    if unranked == WORSE:
        n_shown += (n_named * (len(rankings.labels) - n_named)).sum()
    if n_shown > MAX_SHOWN:
        raise DataError(
            f"The longest ranking has {n_named.max():,} options; written as successive choices,"
            f" these rankings would take {n_shown:,} rows, which do not fit into memory. Truncate"
            " the rankings."
        )


def describe_rankings(rankings: Rankings, columns: RankingColumns, unranked: str) -> str:
    """Return a sentence on number, layout and unranked options of the rankings read."""
    description = describe_layout(columns) + describe_columns(columns.count, columns.respondent)
    counts = rankings.count * ~mark_empty(rankings, unranked)
    n_rankings = format_plural(simplify_number(counts.sum()), "ranking")
    description += f"; {n_rankings} of {len(rankings.labels):,} options"
    is_incomplete = rankings.sizes < len(rankings.labels)
    if n_incomplete := simplify_number(counts[is_incomplete].sum()):
        treatment_text = "were not offered"
        if unranked == WORSE:
            treatment_text = "were offered and rank below all others"
        description += (
            f"; {format_plural(n_incomplete, 'incomplete ranking')}, whose missing options"
            f" {treatment_text}"
        )
    if n_tied := counts[rankings.n_groups < rankings.sizes].sum():
        description += f"; {format_plural(simplify_number(n_tied), 'ranking')} with ties"
    return description
