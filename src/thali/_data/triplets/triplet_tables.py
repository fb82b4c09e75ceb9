"""Reading questions "which pair is the most similar?" and their answers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first, part_bounds
from thali._labels import (
    check_labels,
    find_label_indices,
    format_label,
    format_plural,
    index_labels,
    shorten,
    suggest,
)
from thali.errors import Argument, DataError

from ..column_readers import (
    choose_labels,
    count_from_one,
    describe_cells,
    describe_columns,
    encode_texts,
    find_label_positions,
    get_column,
    number_distinct_rows,
    number_pairs,
    parse_position,
    read_counts,
    refuse_empty,
)
from ..column_roles import (
    ANCHOR,
    COUNT,
    FARTHER,
    NEARER,
    ODD,
    RESPONDENT,
    SIMILAR_TWO,
    find_column_pairs,
    find_named_columns,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from ..number_checks import are_integers, check_counts
from ..respondent_answers import ChosenPlaces, RowRespondents

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, str]
RowDescriber = Callable[[int], str]  # describes a row
MAX_OBJECTS = 2**31  # the key of a pair must fit into 64 bits


class TripletQuestions(NamedTuple):
    """Questions with equally many pairs: pair numbers, chosen pair, counts."""

    pairs: np.ndarray  # (questions, m) int64: first * n + second of each pair, first < second
    chosen: np.ndarray  # (questions,) index of the chosen pair
    times: np.ndarray  # (questions,)


def build_set_questions(
    n: int,
    members: np.ndarray,
    first_positions: np.ndarray,
    second_positions: np.ndarray,
    times: np.ndarray,
) -> TripletQuestions:
    """Build questions from sets of objects (questions, size) and the chosen pair.

    Each set contains all pairs of its objects; the chosen pair has the positions (first, second).
    """
    i, j = np.triu_indices(members.shape[1], k=1)
    pair_indices = np.zeros((members.shape[1],) * 2, np.int64)
    pair_indices[i, j] = pair_indices[j, i] = np.arange(len(i))
    return TripletQuestions(
        number_pairs(n, members[:, i], members[:, j]),
        pair_indices[first_positions, second_positions],
        times,
    )


def check_distinct_objects(
    members: np.ndarray, labels: Sequence[str], describe: RowDescriber
) -> None:
    """Raise DataError if a set contains the same object twice."""
    sorted_members = np.sort(members, axis=1)
    if (k := find_first((np.diff(sorted_members, axis=1) == 0).any(axis=1))) is not None:
        repeated_object = sorted_members[k][1:][np.diff(sorted_members[k]) == 0][0]
        raise DataError(
            f"{labels[repeated_object]!r} is listed twice {describe(k)}; give different objects,"
            " or remove the row."
        )


def build_triplet_fields(
    labels: tuple[str, ...],
    questions_by_size: list[TripletQuestions],
    row_respondents: RowRespondents | None = None,
) -> tuple[Any, ...]:
    """Sum the answers of all questions to the fields of `Triplets`."""
    set_fields, answer_positions = _sum_questions(len(labels), questions_by_size)
    answers = None
    if row_respondents is not None:
        times = np.concatenate([part.times for part in questions_by_size])
        is_asked = times > 0
        answers = ChosenPlaces.from_rows(
            row_respondents.select_rows(is_asked), np.concatenate(answer_positions), times[is_asked]
        )
    return labels, *set_fields, answers


def _sum_questions(
    n: int, parts: Iterable[TripletQuestions]
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], list]:
    """Sum answers to equal sets, fewest pairs first; also return each answer's position."""
    # the sums are (start, first, second, counts); positions are by part
    set_sizes = []
    pair_keys = []
    answer_counts = []
    answer_positions = []
    n_places = 0
    for questions in sorted(parts, key=lambda part: part.pairs.shape[1]):
        is_asked = questions.times > 0
        if not is_asked.any():
            continue
        pairs = questions.pairs[is_asked]
        chosen_index = questions.chosen[is_asked]
        n_pairs = questions.pairs.shape[1]
        sort_order = np.argsort(pairs, axis=1, kind="stable")
        pairs = np.take_along_axis(pairs, sort_order, axis=1)
        chosen_position = (sort_order == chosen_index[:, None]).argmax(axis=1)
        set_index, first_rows = number_distinct_rows(pairs.T)
        set_sizes.append(np.full(len(first_rows), n_pairs))
        pair_keys.append(pairs[first_rows].ravel())
        answer_counts.append(
            np.bincount(
                set_index * n_pairs + chosen_position,
                questions.times[is_asked],
                n_pairs * len(first_rows),
            )
        )
        answer_positions.append(n_places + set_index * n_pairs + chosen_position)
        n_places += n_pairs * len(first_rows)
    if not set_sizes:
        raise DataError("There are no answers; give at least one answered question.")
    start = part_bounds(np.concatenate(set_sizes))
    all_pair_keys = np.concatenate(pair_keys)
    return (
        start,
        all_pair_keys // n,
        all_pair_keys % n,
        np.concatenate(answer_counts),
    ), answer_positions


def check_question_names(
    questions: TripletQuestions, names: np.ndarray, labels: Sequence[str], describe: RowDescriber
) -> None:
    """Raise DataError if answers with the same question name have different sets."""
    row_by_name: dict[Any, int] = {}
    sets = np.sort(questions.pairs, axis=1).tolist()
    for row, question_name in enumerate(names.tolist()):
        first_row = row_by_name.setdefault(question_name, row)
        if sets[first_row] != sets[row]:
            raise DataError(
                f"Question {question_name!r} has different sets of"
                f" objects: {_describe_objects(sets[first_row], labels)} {describe(first_row)},"
                f" {_describe_objects(sets[row], labels)} {describe(row)}; use different names for"
                " different questions."
            )


def _describe_objects(pair_keys: Iterable[int], labels: Sequence[str]) -> str:
    """Return the labels of the objects in these pairs, for an error message."""
    objects = sorted(
        {object_index for key in pair_keys for object_index in divmod(key, len(labels))}
    )
    return f"({shorten([labels[i] for i in objects])})"


def encode_objects(
    columns: Sequence["pd.Series"], labels: Iterable[Any] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Encode columns of object names as indices (rows, columns); return labels too."""
    import pandas as pd

    refuse_empty(columns[0], "questions")
    column_names = [str(column.name) for column in columns]
    # integers are compared much faster as such
    cell_type: Any = object
    if all(column.dtype.kind in "iu" for column in columns):
        cell_type = None
    cells = np.stack([column.to_numpy(cell_type) for column in columns], axis=1).ravel()
    codes, cell_texts = encode_texts(pd.Series(cells))
    object_labels = choose_labels(labels, filter(None, cell_texts))
    describe_cell = describe_cells(columns[0].index, column_names)
    object_indices = find_label_positions(
        codes, cell_texts, object_labels, describe_cell, "The name of an object"
    )
    return object_indices.reshape(-1, len(columns)), object_labels


def read_objects(
    array: np.ndarray, labels: Iterable[Any] | None, counts: Iterable[float] | None
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """Convert rows of objects (names or indices) to indices; return labels and counts.

    Return the indices, the labels, and the number of times of each row.
    """
    members, object_labels = _encode_array(array, labels)
    check_distinct_objects(members, object_labels, describe_row)
    return members, object_labels, read_times(counts, len(array))


def _encode_array(
    array: np.ndarray, labels: Iterable[Any] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Encode an array of object names or indices as indices; return labels too."""
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and are_integers(array)):
        object_indices = array.astype(np.int64)
        if labels is not None:
            labels = check_labels(labels)
        _check_object_numbers(object_indices, labels)
        return object_indices, labels or tuple(map(str, range(int(object_indices.max()) + 1)))
    if array.dtype.kind == "f":
        raise DataError(
            "`triplets` contains non-integer numbers; give positions or names of objects. For a"
            " table of similarities, use Similarities(matrix)."
        )
    import pandas as pd

    row_index = pd.RangeIndex(len(array))
    return encode_objects(
        [pd.Series(column, row_index, name=k) for k, column in enumerate(array.T)], labels
    )


def _check_object_numbers(object_numbers: np.ndarray, labels: tuple[str, ...] | None) -> None:
    """Raise DataError unless indices are valid for the labels, or small without labels."""
    n_allowed = min(MAX_OBJECTS, 10 * object_numbers.size + 1000)
    if labels is not None:
        n_allowed = len(labels)
    is_wrong = (object_numbers < 0) | (object_numbers >= n_allowed)
    if not is_wrong.any():
        return
    invalid_number = int(object_numbers[is_wrong][0])
    allowed_text = ">= 0"
    if labels is not None:
        allowed_text = f"positions in `labels`, from 0 to {n_allowed - 1}"
    elif invalid_number >= n_allowed:
        allowed_text = (
            f"positions, which range from 0 to {n_allowed - 1} for this many answers; give IDs as"
            " strings"
        )
    wrong_row = int(is_wrong.any(axis=1).argmax())
    raise DataError(
        f"{invalid_number} {describe_row(wrong_row)} is not a valid object number; object numbers"
        f" are {allowed_text}."
    )


def read_times(counts: Iterable[float] | None, n_rows: int) -> np.ndarray:
    """Return the count of each row as floats; 1 if not given."""
    if counts is None:
        return np.ones(n_rows)
    times = check_counts(counts, describe_row)
    if times.shape != (n_rows,):
        raise DataError(
            f"`counts` must have one number per row; got {len(times):,} for"
            f" {format_plural(n_rows, 'row')}."
        )
    return times


def check_three_columns(triplets: Any) -> np.ndarray:
    """Return triplets as array (rows, 3); raise DataError for other shapes."""
    if hasattr(triplets, "columns"):
        raise DataError(
            "`triplets` is a table with column names; read it with Triplets.from_frame."
        )
    try:
        rows: Any = np.asarray(triplets)
    except ValueError:  # rows of several lengths
        rows = np.empty((0,))
    if rows.ndim == 2 and rows.shape[1] == 3 and len(rows):
        if rows.dtype.kind in "US":
            rows = rows.astype(object)
        return rows
    hint_text = ""
    if rows.ndim == 2 and rows.shape[1] > 3:
        hint_text = " For larger sets, use Triplets.from_sets(sets, chosen)."
    if rows.ndim == 2 and rows.shape[0] == rows.shape[1] and len(rows):
        hint_text = " For a square table of similarities, use Similarities(matrix)."
    raise DataError(
        "`triplets` must have one row (i, j, k) per question, with k the odd one out; got shape"
        f" {rows.shape}.{hint_text}"
    )


def read_responses(responses: Iterable[Any], n_rows: int) -> np.ndarray:
    """Return whether each response names the nearer object, shape (rows,)."""
    response_array = np.asarray(responses)
    if response_array.shape != (n_rows,):
        raise DataError(
            Argument("responses"),
            f" must have one entry per question; got shape {response_array.shape} for"
            f" {format_plural(n_rows, 'question')}.",
        )
    if response_array.dtype == bool:
        return response_array
    if (
        response_array.dtype.kind not in "iuf"
        or not np.isfinite(response_array).all()
        or (response_array == 0).any()
    ):
        raise DataError(
            Argument("responses"),
            " must be True or positive where `nearer` was chosen, and False or negative where"
            " `farther` was chosen.",
        )
    return response_array > 0


def describe_row(k: int) -> str:
    """Return "in row k" for an error message about an array."""
    return f"in row {k}"


def read_sets(
    sets: Iterable[Iterable[Any]],
    chosen: Iterable[Iterable[Any]],
    labels: Iterable[Any] | None,
    counts: Iterable[float] | None,
) -> tuple[tuple[str, ...], list[TripletQuestions]]:
    """Read sets and chosen pairs; return labels, and questions by set size."""
    pairs_by_set = [list_pairs(number, members) for number, members in enumerate(sets)]
    chosen_pairs = [tuple(map(format_label, pair)) for pair in chosen]
    if len(chosen_pairs) != len(pairs_by_set):
        raise DataError(
            f"Each set requires one chosen pair; got {format_plural(len(pairs_by_set), 'set')}"
            f" and {format_plural(len(chosen_pairs), 'chosen pair')}."
        )
    object_labels = choose_labels(
        labels, [name for pairs in pairs_by_set for pair in pairs for name in pair]
    )
    label_indices = index_labels(object_labels)
    n = len(object_labels)
    times = read_times(counts, len(pairs_by_set))
    questions_by_size = []
    for n_pairs in sorted({len(pairs) for pairs in pairs_by_set}):
        set_indices = [k for k, pairs in enumerate(pairs_by_set) if len(pairs) == n_pairs]
        pair_keys = np.array(
            [
                [_compute_pair_key(label_indices, n, pair, k) for pair in pairs_by_set[k]]
                for k in set_indices
            ],
            np.int64,
        )
        chosen_keys = np.array(
            [_compute_pair_key(label_indices, n, chosen_pairs[k], k) for k in set_indices], np.int64
        )
        is_repeated = (np.diff(np.sort(pair_keys, axis=1), axis=1) == 0).any(axis=1)
        if (k := find_first(is_repeated)) is not None:
            raise DataError(
                f"The same pair is listed twice {describe_row(set_indices[k])}; remove one."
            )
        is_chosen = pair_keys == chosen_keys[:, None]
        if (k := find_first(~is_chosen.any(axis=1))) is not None:
            raise DataError(
                f"The pair {chosen_pairs[set_indices[k]]} {describe_row(set_indices[k])} is not in"
                " its set; correct the pair or the set."
            )
        questions_by_size.append(
            TripletQuestions(pair_keys, is_chosen.argmax(axis=1), times[set_indices])
        )
    return object_labels, questions_by_size


def list_pairs(set_number: int, members: Iterable[Any]) -> list[Pair]:
    """Return the pairs of a set given as objects or pairs; errors name `set_number`."""
    entries = list(members)
    if entries and all(isinstance(entry, tuple | list) for entry in entries):
        if len(entries) < 2 or any(len(entry) != 2 for entry in entries):
            raise DataError(
                f"Set {set_number} must contain at least two pairs (a, b) or three objects."
            )
        pairs = [(format_label(a), format_label(b)) for a, b in entries]
    else:
        object_labels = [format_label(entry) for entry in entries]
        if len(object_labels) < 3:
            raise DataError(
                f"Set {set_number} has {format_plural(len(object_labels), 'object')}; choosing the"
                " most similar pair requires at least three."
            )
        if repeated_names := [n for k, n in enumerate(object_labels) if n in object_labels[:k]]:
            raise DataError(
                f"Set {set_number} contains {repeated_names[0]!r} twice; name each object only"
                " once."
            )
        pairs = list(combinations(object_labels, 2))
    for a, b in pairs:
        if a == b or not a or not b:
            raise DataError(
                f"Set {set_number} contains the pair ({a!r}, {b!r}); pairs must be two different"
                " objects with names."
            )
    return pairs


def _compute_pair_key(
    label_indices: dict[str, int], n_objects: int, pair: tuple[str, ...], row_index: int
) -> int:
    """Return the number of a row's chosen pair; raise DataError if invalid."""
    if len(pair) != 2:
        raise DataError(f"The chosen pair {describe_row(row_index)} is {pair}; give two objects.")
    for name in pair:
        if name not in label_indices:
            raise DataError(
                f"{name!r} {describe_row(row_index)} is not an object in the"
                f" sets.{suggest(name, list(label_indices))}"
            )
    first, second = sorted(label_indices[name] for name in pair)
    return first * n_objects + second


# Tables of triplets: the columns of objects and of answers


# columns of the odd one out of image1, image2, image3, as in THINGS
ODD_BY_PLACE = ("choice", "chosen", "response", "answer", "keyresp")
OBJECTS = (
    *"object image item stimulus stim concept word picture thing option face img photo pic".split(),
    *"sound pos position objekt objet objeto bild foto wort mot".split(),
    "",
)
_PREFERRED = ("item", "concept", "option", "")  # the best of these is asked for
LETTERS = tuple(
    tuple(words.split())
    for words in (
        "a b c",
        "i j k",
        "first second third",
        "left middle right",
        "left center right",
        "left centre right",
        "links mitte rechts",
        "gauche milieu droite",
        "izquierda centro derecha",
    )
)
EXPECTED = (
    "three objects per row, in columns such as 'object1', 'object2', 'object3' and 'odd', or"
    " 'anchor', 'nearer' and 'farther'"
)


class TripletColumns(NamedTuple):
    """Names of the columns of a table of triplets."""

    objects: tuple[str, ...]  # the objects of a set; or anchor, nearer, farther
    odd: str | None = None
    chosen: tuple[str, str] | None = None
    count: str | None = None  # type: ignore[override]
    question: str | None = None
    who: str | None = None  # the respondents
    nearer: str | None = None  # which of the last two objects is nearer to the first

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        answers = (self.odd, self.nearer, *(self.chosen or ()))
        return {*self.objects, *answers, self.count, self.question, self.who}

    def __str__(self) -> str:
        count_text = describe_columns(self.count, None)
        if self.odd is None and self.chosen is None:
            anchor, nearer, farther = self.objects
            relation = f"{nearer!r} closer to {anchor!r} than {farther!r}"
            if self.nearer is not None:
                sides_text = f"{nearer!r} and {farther!r}"
                relation = f"{self.nearer!r} contains which of {sides_text} is closer to {anchor!r}"
            return f"one question per row, {relation}{count_text}"
        object_range = f"{self.objects[0]!r} to {self.objects[-1]!r}"
        if self.odd is not None:
            return f"one triplet per row in {object_range}, odd one out in {self.odd!r}{count_text}"
        first_column, second_column = self.chosen or ("", "")
        return (
            f"one set per row in {object_range}, most similar pair in {first_column!r} and"
            f" {second_column!r}{count_text}"
        )


def find_triplet_columns(
    names: list[str], named_columns: Mapping[str, Any] | None
) -> TripletColumns | None:
    """Find the columns of three objects and the answer; None for other tables."""
    named_columns = {
        name: value for name, value in (named_columns or {}).items() if value is not None
    }
    if isinstance(objects := named_columns.get("objects"), str):
        raise DataError(
            Argument("objects"),
            f" must be a list of three or more columns; got the string {objects!r}. Divide cells"
            " that contain several objects into one column per object.",
        )
    name_by_simplified = map_plain_names(names)
    count_column = named_columns.get("count") or COUNT.find_column(name_by_simplified)
    columns = _find_role_columns(name_by_simplified, named_columns, count_column)
    if columns is None:
        return None
    columns = columns._replace(count=count_column, question=named_columns.get("question"))
    respondent_column = named_columns.get("respondent") or next(
        RESPONDENT.find_certain_columns(name_by_simplified, columns.used), None
    )
    return columns._replace(who=respondent_column)


def _find_role_columns(
    name_by_simplified: dict[str, str], named_columns: dict[str, Any], count_column: str | None
) -> TripletColumns | None:
    """Find the columns of an anchor and two objects, or of a set and the answer; else None."""
    if "anchor" in named_columns or not {"objects", "odd", "chosen"} & set(named_columns):
        role_columns = find_named_columns(
            name_by_simplified, named_columns, (ANCHOR, NEARER, FARTHER)
        )
        if None not in role_columns:
            return TripletColumns(tuple(role_columns))
    odd_column = named_columns.get("odd") or ODD.find_column(name_by_simplified)
    chosen_columns = named_columns.get("chosen")
    if not chosen_columns and "odd" not in named_columns:
        chosen_columns = next(iter(find_column_pairs(name_by_simplified, SIMILAR_TWO)), None)
    used_names = {
        simplify_name(name)
        for name in (odd_column, count_column, *(chosen_columns or ()))
        if name is not None
    }
    candidates = [
        {short: name for short, name in name_by_simplified.items() if short not in used_names}
    ]
    if "odd" in named_columns:  # it may be one of the three
        candidates.append(
            {short: name for short, name in name_by_simplified.items() if name != count_column}
        )
    if odd_column is not None and chosen_columns is None:  # or the third object
        candidates += [{f"{stem}3": odd_column} | name_by_simplified for stem in OBJECTS]
    object_columns = named_columns.get("objects") or next(
        filter(None, map(_find_series, candidates)), ()
    )
    if (
        object_columns
        and odd_column is None
        and chosen_columns is None
        and are_stimuli(object_columns)
    ):
        odd_column = next(
            (name_by_simplified[name] for name in ODD_BY_PLACE if name in name_by_simplified), None
        )
    if not object_columns or (odd_column is None) == (chosen_columns is None):
        return None
    if chosen_columns is not None:
        chosen_columns = (chosen_columns[0], chosen_columns[1])
    return TripletColumns(tuple(object_columns), odd_column, chosen_columns)


def are_stimuli(columns: Sequence[str]) -> bool:
    """Return whether columns contain three things, of which the odd or the best one is chosen."""
    stem = commonprefix(list(map(simplify_name, columns)))
    return len(columns) == 3 and stem in OBJECTS and stem not in _PREFERRED


def find_incomplete_columns(names: list[str]) -> tuple[tuple[str, ...], str | None]:
    """Return three columns of objects, and the odd-one-out column or None."""
    name_by_simplified = map_plain_names(names)
    odd_column = ODD.find_column(name_by_simplified)
    object_columns = _find_series(
        {short: name for short, name in name_by_simplified.items() if short not in ODD.sure}
    )
    if len(object_columns) != 3:
        object_columns = ()
    return object_columns, odd_column


def _find_series(name_by_simplified: Mapping[str, str]) -> tuple[str, ...]:
    """Return three or more columns numbered, or named a, b, c."""
    for stem in OBJECTS:
        column_by_number = {
            int(m[1]): name
            for short, name in name_by_simplified.items()
            if (m := re.fullmatch(rf"{stem}(\d{{1,2}})", short))
        }
        first_number = min(column_by_number, default=1)
        if (
            len(column_by_number) > 2
            and first_number <= 1
            and max(column_by_number) == first_number + len(column_by_number) - 1
        ):
            return tuple(column_by_number[k] for k in sorted(column_by_number))
    for letters in LETTERS:
        for stem, order in product(OBJECTS, ("{0}{1}", "{1}{0}")):
            names = [order.format(stem, letter) for letter in letters]
            if all(name in name_by_simplified for name in names):
                return tuple(name_by_simplified[name] for name in names)
    return ()


def read_answers(
    frame: "pd.DataFrame", columns: TripletColumns, labels: Iterable[Any] | None, weights: bool
) -> tuple[tuple[str, ...], TripletQuestions]:
    """Read the questions and answers in a table of triplets; return labels too."""
    object_columns = [get_column(frame, name) for name in columns.objects]

    def describe_table_row(row: int) -> str:
        """Describe a table row for an error message."""
        return f"in row {frame.index[row]}"

    members, object_labels = encode_objects(object_columns, labels)
    check_distinct_objects(members, object_labels, describe_table_row)
    times = read_counts(frame, columns.count, weights)
    n = len(object_labels)
    if columns.odd is not None:
        if members.shape[1] != 3:
            raise DataError(
                f"An odd one out requires three objects, but {len(object_columns)} columns contain"
                f" objects ({shorten(columns.objects)}). Give the names of the two columns with the"
                " chosen pair instead."
            )
        odd_index = _find_named_object(frame, columns.odd, members, object_labels, columns.objects)
        questions = build_set_questions(n, members, (odd_index + 1) % 3, (odd_index + 2) % 3, times)
    elif columns.chosen is not None:
        first_positions, second_positions = (
            _find_named_object(frame, name, members, object_labels, columns.objects)
            for name in columns.chosen
        )
        if (k := find_first(first_positions == second_positions)) is not None:
            name = object_labels[members[k, first_positions[k]]]
            raise DataError(
                f"The two chosen objects {describe_table_row(k)} are both {name!r}; give a pair."
            )
        questions = build_set_questions(n, members, first_positions, second_positions, times)
    else:
        questions = build_anchored_questions(n, members, times)
    if columns.question is not None:
        question_names = get_column(frame, columns.question).to_numpy(object)
        check_question_names(questions, question_names, object_labels, describe_table_row)
    return object_labels, questions


def build_anchored_questions(n: int, members: np.ndarray, times: np.ndarray) -> TripletQuestions:
    """Build questions from rows (anchor, nearer object, farther object).

    The chosen pair is the anchor and the nearer object.
    """
    pairs = np.stack([number_pairs(n, members[:, 0], members[:, k]) for k in (1, 2)], axis=1)
    return TripletQuestions(pairs, np.zeros(len(members), np.int64), times)


def _find_named_object(
    frame: "pd.DataFrame",
    answer_column: str,
    members: np.ndarray,
    object_labels: Sequence[str],
    object_columns: Sequence[str],
) -> np.ndarray:
    """Return which of its row's objects each answer cell names."""
    # A cell contains a label, the name of a column, its number, or a number from 1.
    if answer_column in object_columns:
        return np.full(len(members), list(object_columns).index(answer_column))
    codes, cell_texts = encode_texts(get_column(frame, answer_column))
    label_index = find_label_indices(cell_texts, object_labels)[codes]
    is_named = members == label_index[:, None]
    if is_named.any(axis=1).all():
        return is_named.argmax(axis=1)
    words_by_column = [{*list_name_words(column)} for column in object_columns]
    shared_words = set.intersection(*words_by_column)
    index_by_column = {
        word: k
        for k, column in enumerate(object_columns)
        for word in (*words_by_column[k] - shared_words, simplify_name(column))
    }
    if object_columns[0].endswith("0") and "0" in cell_texts:  # numbers of columns
        index_by_column |= {str(k): k for k in range(len(object_columns))}
    index_by_name = [index_by_column.get(simplify_name(text), -1) for text in cell_texts]
    position_texts = count_from_one(cell_texts, object_columns)
    index_by_number = [parse_position(text, len(object_columns)) for text in position_texts]
    for indices in (np.array(index_by_name)[codes], np.array(index_by_number)[codes]):
        if (indices >= 0).all():
            return indices
    k = (~is_named.any(axis=1)).argmax()
    problem = "is empty, but must contain one"
    if cell_text := cell_texts[codes[k]]:
        problem = f"contains {cell_text!r}, which is not one"
    shown_labels: list[Any] = [object_labels[i] for i in members[k]]
    shown_objects = shorten(shown_labels)
    raise DataError(
        f"Row {frame.index[k]}, column {answer_column!r}, {problem} of the objects shown,"
        f" {shown_objects}; correct or remove the row."
    )
