"""Tables that look like something else: read as what they are, or asked about."""

import io
import json
import re
import unicodedata
import warnings
import xml.dom.minidom
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned
from helpers.tiny_models import TINY

import thali as th
import thali._data.kinds as kinds
import thali._reading.layout_recognition as recognise
from thali._input_files import Source
from thali._labels import format_label
from thali._object_descriptions import Description, format_html, format_text
from thali._reading.table_files import RawTable, read_table
from thali._reading.text_cells import complete_triangle
from thali.errors import DataError, DataWarning
from thali.report import report

ASKED = r"may mean 1000 or 1; write counts as integers"
SHAPES = {  # in which a number stands for {}
    "list": "winner;loser;n\na;b;{}\nb;a;12\n",
    "pairs": "a;b;a_over_b;b_over_a\nA;B;{};5\nA;C;4;7\nB;C;6;8\n",
    "square": ";a;b;c\na;0;{};3\nb;12;0;4\nc;3;4;0\n",
    "wins": "row;col;wins;losses\nA;B;{};5\nA;C;4;7\n",
    "triplets": "anchor;nearer;farther;n\na;b;c;{}\nb;a;c;2\n",
    "rankings": "1st;2nd;3rd;n\na;b;c;{}\nb;a;c;2\n",
    "trials": "left;right;chosen;count\ntea;milk;tea;{}\nmilk;tea;tea;2\n",
}


def taken(text, name="x.csv"):
    return recognise.read_data(Source(name, text.encode() if isinstance(text, str) else text))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("number", ["1.000", "1,000"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_thousand_is_never_one(shape, number, separator):
    with pytest.raises(DataError, match=ASKED):
        taken(SHAPES[shape].format(number).replace(";", separator))


@pytest.mark.parametrize("number", ["1.000", "1,000"])
def test_a_thousand_of_a_workbook_is_never_one(number):
    table = pd.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"], "n": [number, "12"]})
    table.to_excel(file := io.BytesIO(), index=False)
    with pytest.raises(DataError, match=ASKED):
        taken(file.getvalue(), "x.xlsx")
    with pytest.raises(DataError, match=ASKED):  # from Python, too
        th.PairedComparisons.from_frame(read_table(Source("x.xlsx", file.getvalue())))


def test_rows_without_cells_are_no_triangle():
    for table in (pd.DataFrame({"a": ["1", None]}), pd.DataFrame({"a": [None, None, None]})):
        with pytest.raises(DataError):
            th.read(table)
    assert complete_triangle([(1, ["tea"]), (2, ["", ""])]) is None


def test_a_misspelt_winner_is_named_beside_its_loser():
    table = pd.DataFrame({"winer": ["tea", "rum", "tea"], "loser": ["rum", "tea", "rum"]})
    with pytest.raises(DataError, match="'winner'"):
        th.read(table)
    data = th.read(table, chosen="winer")
    assert data.counts[data.labels.index("tea"), data.labels.index("rum")] == 2.0


def test_numbers_with_three_decimals_are_numbers():
    """Where commas separate cells; where weights are meant; where nothing is counted."""
    assert "1 comparison" in taken("winner,loser,n\na,b,1.000\n")[1]
    assert "a total weight of 1.25" in taken("winner;loser;weight\na;b;1,000\nb;a;0,250\n")[1]
    frame = read_table(Source("x.csv", b"kind;width\nmoss;1,000\nfern;12,000\n"))
    assert frame["width"].tolist() == [1.0, 12.0]


@pytest.mark.parametrize("header", ["i,j,k", "I,J,K", "i,j,odd", "i,j,k,odd_one_out"])
def test_triplets_are_no_comparisons(header):
    rows = ["a,b,c", "b,c,a", "a,c,b"]
    rows = [f"{row},{row[-1]}" for row in rows] if header.count(",") == 3 else rows
    text = "\n".join([header, *rows, ""])
    if header.count(",") == 3:
        assert isinstance(taken(text)[0], th.Triplets)
        return
    with refused(DataError, "known layout") as asked:
        taken(text)
    assert "--" not in str(asked.value)
    columns = header.split(",")
    data, _ = recognise.read_data(Source("x.csv", text.encode()), odd=columns[2], objects=columns)
    assert str(data) == str(th.Triplets([row.split(",") for row in rows]))
    assert "odd one out" in (th.Triplets.__doc__ or "")


def test_the_odd_one_out_may_be_the_last_of_three():
    """What the message asks for is enough."""
    data, _ = recognise.read_data(Source("x.csv", b"i,j,k\na,b,c\nb,c,a\n"), odd="k")
    assert isinstance(data, th.Triplets) and data.labels == ("a", "b", "c")


SPELLINGS = {
    "composed": ("caf\u00e9", "cafe\u0301"),
    "non-breaking": ("green tea", "green\u00a0tea"),
    "narrow": ("green tea", "green\u202ftea"),
    "zero width": ("tea", "te\u200ba"),
    "mark": ("tea", "\ufefftea"),
}
TABLES = {
    "list": "winner,loser\n{0},milk\nmilk,{1}\n",
    "trials": "left,right,chosen\n{0},milk,{1}\nmilk,{1},{0}\n",
    "rankings": "1st,2nd\n{0},milk\nmilk,{1}\n",
    "choices": "obsID,alt,choice\n1,{0},1\n1,milk,0\n2,{1},0\n2,milk,1\n",
    "similarities": "first,second,similarity\n{0},milk,0.3\njuice,{1},0.4\njuice,milk,0.5\n",
    "triplets": "anchor,nearer,farther\n{0},milk,juice\nmilk,{1},juice\n",
    "square": ",{0},milk\n{1},0,3\nmilk,2,0\n",
}


@pytest.mark.first(18)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_labels_that_look_the_same_are_one(table, spelling):
    usual, other = SPELLINGS[spelling]
    with warned(DataWarning, "labels that look"):
        data, _ = taken(TABLES[table].format(usual, other))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected, _ = taken(TABLES[table].format(usual, usual))
    assert data.labels == expected.labels and usual in data.labels


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_labels_of_constructors_that_look_the_same_are_one(spelling):
    usual, other = SPELLINGS[spelling]
    with warned(DataWarning, "labels that look"):
        assert th.PairedComparisons.from_pairs([(usual, "milk"), ("milk", other)]).n_pairs == 1
    with warned(DataWarning, "labels that look"):
        assert th.Triplets([(usual, "milk", "juice"), (other, "juice", "milk")]).labels == (
            usual,
            "milk",
            "juice",
        )
    with pytest.warns(DataWarning), refused(DataError, "must be unique"):
        th.Similarities(np.eye(2), labels=[usual, other])


def test_labels_that_differ_stay_two():
    """Joiners belong to words of several scripts, and capitals to names."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in (
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u8336",
            "th\u00e9",
            "\U0001f468\u200d\U0001f469",
        ):
            assert format_label(f" {text} ") == text == unicodedata.normalize("NFC", text)


@pytest.mark.fit
@pytest.mark.first(1)
@pytest.mark.parametrize("separator", ["\t", ";", ",", "|"])
def test_a_line_may_be_longer_than_a_cell(separator):
    """As of many genes; the first line alone is longer than what csv takes for one cell."""
    names = [f"ENSG{k:011d}" for k in range(9_000)]
    rows = [
        separator.join(["class", *names]),
        *(separator.join(["ab"[k % 2], *["1"] * 9_000]) for k in range(3)),
    ]
    frame = read_table(Source("genes", "\n".join(rows).encode()))
    assert frame.shape == (3, 9_001) and list(frame.columns[1:]) == names
    quoted = (
        "\n".join(['"class"', "a", "b"]).replace('"class"', separator.join(['"class"', *names]))
        + "\n"
    )
    with refused(DataError, "cell"):
        read_table(Source("genes", quoted.encode()))


def test_an_index_without_a_name_is_a_column_without_a_name():
    frame = pd.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"], "": [1, 2]}, index=["x", "y"])
    frame.to_parquet(file := io.BytesIO())
    assert "2 comparisons" in taken(file.getvalue(), "x.parquet")[1]
    assert list(read_table(Source("x", file.getvalue())).columns) == [
        "column 1",
        "winner",
        "loser",
        "column 4",
    ]


def test_durations_are_no_counts():
    frame = pd.DataFrame(
        dict(winner=["a", "b"], loser=["b", "a"], n=pd.to_timedelta(["1h", "2h"]).as_unit("ns"))
    )
    frame.to_parquet(file := io.BytesIO())
    with refused(DataError, "which is not a real number"):
        taken(file.getvalue(), "x.parquet")
    assert format_label(np.timedelta64(1, "h")) == "1 hours"


def test_a_large_number_is_not_a_position():
    with refused(DataError, "1000000000", "row 0"):
        th.Triplets([(0, 1, 10**9)])
    assert len(th.Triplets([(0, 1, 999)]).labels) == 1000
    with refused(DataError, ">= 0"):
        th.Triplets([(0, 1, -1)])


def test_levels_that_each_task_has_once_are_no_ranks(tmp_path):
    """Of three products with the levels 1, 2, 3 in some order in every task, as in designs without
    overlap."""
    rows = ["p,1,A,B,B,1,3,2,1", "p,2,B,A,B,3,2,1,2", "q,1,A,B,A,2,1,3,3", "q,2,B,A,B,3,1,2,none"]
    table = "person,task,brand_1,brand_2,brand_3,price_1,price_2,price_3,choice\n" + "\n".join(rows)
    (tmp_path / "tasks.csv").write_text(table)
    data, how = recognise.read_data(tmp_path / "tasks.csv")
    assert isinstance(data, th.ChoiceExperiment) and "2 respondents, 4 tasks" in how
    (tmp_path / "ranks.csv").write_text(
        "person,tea,milk,water,choice\np,1,3,2,tea\nq,3,2,1,water\nr,2,1,3,milk\n"
    )
    assert "ranking" in recognise.read_data(tmp_path / "ranks.csv")[1]


@pytest.mark.parametrize("best", ["item1", "1"])
def test_ranks_beside_the_best_are_ranks(best):
    """The best names a column, or holds a rank: no options are called 1, 2, 3."""
    text = (
        f"person,item1,item2,item3,best\np,1,2,3,{best}\nq,3,1,2,{best.replace('item1', 'item2')}\n"
    )
    data, how = taken(text)
    assert set(data.labels) == {"item1", "item2", "item3"} and "ranking" in how
    rows = "p,tea,milk,water,tea\nq,milk,tea,water,milk\n"
    assert "ranking" in taken("person,rank1,rank2,rank3,best\n" + rows)[1]


def test_ratings_of_which_the_best_names_a_column_are_refused():
    with pytest.raises(DataError):
        taken("person,a,b,c,best\np,5,3,1,a\nq,2,5,4,b\nr,1,1,5,c\n")


def test_trial_version_and_questions_may_hold_names_of_options():
    sets = [order for order in permutations("12345", 3)]
    rows = [f"p,{k % 5 + 1},2,{','.join(row)},{row[1]},{row[0]}" for k, row in enumerate(sets)]
    rows += [f"q,{k % 5 + 1},3,{','.join(row)},{row[1]},1" for k, row in enumerate(sets)]
    data = taken("person,trial,version,option1,option2,option3,best,favourite\n" + "\n".join(rows))[
        0
    ]
    assert isinstance(data, th.Choices) and data.times.sum() == 120


@pytest.mark.parametrize("answers", [("best", "worst"), ("odd",)])
def test_options_that_are_numbers_are_no_ranks(answers):
    """Each stands once in every row, as ranks would; but another column says what was chosen of
    them."""
    rows = [(f"p{k}", *order) for k in range(3) for order in permutations(["1", "2", "3"])]
    names = (
        ["object1", "object2", "object3"]
        if answers == ("odd",)
        else ["option1", "option2", "option3"]
    )
    frame = pd.DataFrame(rows, columns=["person", *names]).assign(
        **{answers[0]: [row[1] for row in rows]}
    )
    frame = frame if answers == ("odd",) else frame.assign(worst=[row[2] for row in rows])
    assert recognise.recognise(RawTable(frame, "the table")).kind == (
        kinds.TRIPLETS if answers == ("odd",) else kinds.CHOICES
    )


# Words such as null and NA: options where an option is so called, else no answer, which is counted


WORDS = ["null", "None", "NA", "nan", "NULL", "-"]
# {} is the option that is so called, ! an answer that none is; the last row is not used
OF_WORDS = {
    "trials": (
        "left,right,chosen\n{},tea,{}\ntea,milk,milk\nmilk,{},{}\ntea,milk,!\n",
        "1 row without an answer",
    ),
    "best-worst": (
        "a1,a2,a3,best,worst\n{},tea,milk,{},tea\ntea,{},milk,milk,{}\ntea,{},milk,!,tea\n",
        "1 row without",
    ),
    "best": (
        "a1,a2,a3,best\n{},tea,milk,{}\ntea,{},milk,milk\ntea,{},milk,!\n",
        "1 row without an answer",
    ),
    "triplets": (
        "a,b,c,odd\n{},tea,milk,{}\ntea,milk,{},milk\ntea,{},milk,!\n",
        "1 row without an answer",
    ),
    "wide pairs": ("tea > {},tea > milk\n{},milk\ntea,tea\n!,!\n", "1 row without an answer"),
    "choices": (
        "task,alternative,chosen\n1,{},{}\n1,tea,{}\n2,tea,tea\n2,{},tea\n3,tea,!\n3,{},!\n",
        "2 rows without",
    ),
    "rankings": ("id,rank1,rank2\n1,{},tea\n2,tea,{}\n3,,\n", "1 ranking without an answer"),
}


@pytest.mark.first(21)
@pytest.mark.parametrize("shape", OF_WORDS)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_the_option_so_called_and_else_no_answer(shape, word):
    text, omitted = OF_WORDS[shape]
    other = "NaN" if word != "NaN" else "NA"
    data, sentence = taken(text.replace("{}", word).replace("!", other))
    plain, _ = taken(text.replace("{}", "Zimt").replace("!", other))
    assert word in data.labels and f"; {omitted}" in sentence
    assert str(data) == str(plain) and [
        each.replace("Zimt", word) for each in plain.labels
    ] == list(data.labels)
    assert np.array_equal(data.counts, plain.counts)


def test_a_word_among_numbers_is_an_option_if_other_columns_say_so():
    data, _ = taken("left,right,chosen\nNA,1,NA\n3,NA,NA\n1,3,1\nNA,1,1\n")
    assert dict(zip(data.labels, data.counts.sum(1).tolist(), strict=True)) == {
        "NA": 2,
        "1": 2,
        "3": 0,
    }


def test_a_word_among_sets_of_numbers_is_asked_about():
    with refused(DataError, "'NA'", "column 'best'"):
        taken("a1,a2,a3,best,worst\nNA,4,5,NA,4\n3,4,5,3,4\n")


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA, pd.NaT, "", "null"])
def test_data_frames_warn_of_rows_without_an_answer(empty):
    rows = dict(left=["tea", "NA", "tea"], right=["NA", "tea", "NA"], chosen=["NA", "NA", empty])
    with warned(DataWarning, "1 row"):
        data = th.PairedComparisons.from_trials(pd.DataFrame(rows, dtype=object))
    assert data.n_comparisons == 2 and data.counts[data.labels.index("NA")].sum() == 2


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_cell_too_long_is_called_so(separator):
    text = f"winner,loser\n{'A' * 200_000},B C\nB C,D\n".replace(",", separator)
    with refused(DataError, "Line 2", "131,072 characters"):
        taken(text)


# Characters that steer a terminal or that no page may hold: escaped where text enters, and on every
# surface


STEERING = ["\x1b[31m", "\x01", "\x7f", "\x9b31m", "\u202e", "\u2066", "\ud800", "\uffff", "\r"]


@pytest.mark.parametrize("letters", STEERING)
def test_labels_have_no_characters_that_steer(letters):
    names = [f"A{letters}x", "Ax", f"{letters}C"]
    rows = [(a, b) for a in names for b in names if a != b]
    text = "".join(json.dumps({"winner": a, "loser": b, letters: 1}) + "\n" for a, b in rows)
    escaped = letters.encode("unicode_escape").decode()
    data, sentence = taken(text, "x.jsonl")
    frame = pd.DataFrame(np.array(rows, dtype=object), columns=["winner", "loser"], dtype=object)
    expected = {f"A{escaped}x", "Ax", f"{escaped}C"}
    for each in (
        data,
        th.PairedComparisons.from_frame(frame),
        th.PairedComparisons.from_pairs(rows),
    ):
        assert set(each.labels) == expected
    for shown in (
        format_text(Description(f"a{letters}b")),
        format_html(Description(f"a{letters}b")),
    ):
        assert letters not in shown and (escaped in shown or letters == "\r")
    assert sentence.isprintable()


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore:Glyph", "ignore::thali.errors.ConvergenceWarning")
def test_pictures_are_well_formed_whatever_their_words_hold(tmp_path):
    """Those of a file that somebody else wrote."""

    def renamed(group):
        places = {"option", "option_a", "option_b"} & {*group.coords}
        names = {
            place: [f"{label}\x01 \x9b\u202e b" for label in group[place].values]
            for place in places
        }
        return group.assign_coords(names)

    model = TINY["bradley-terry-luce"].build_fitted()
    model.posterior_ = model.posterior_.map_over_datasets(renamed)
    report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    pictures = re.findall(r"<svg\b.*?</svg>", page, re.DOTALL)
    assert pictures and any("\\x01" in svg for svg in pictures)
    for svg in pictures:
        assert xml.dom.minidom.parseString(svg) and "\x01" not in svg


@pytest.mark.parametrize(
    "words", [("Most appealing", "Least appealing"), ("likemost", "likeleast")]
)
def test_the_least_is_not_forgotten(words):
    rows = ["1,a,b,c,a,c", "1,b,c,a,a,b", "2,c,a,b,b,c", "2,a,c,b,a,c"]
    data = taken("\n".join(["id,Item 1,Item 2,Item 3,{},{}".format(*words), *rows]))[0]
    worst = data.members[data.worst]
    assert [data.labels[k] for k in worst].count("c") == 3


def test_kilograms_are_no_counts():
    header = "participant,weight,option1,option2,choice\n"
    rows = [f"{k // 4},{60.5 + k // 4},tea,rum,{'tea' if k % 3 else 'rum'}" for k in range(12)]
    with refused(DataError, "'weight'", "60.5 to 62.5", "body weights or", "count", "without"):
        th.read(table := read_table(Source("x.csv", (header + "\n".join(rows)).encode())))
    assert th.read(table, without="weight").n_comparisons == 12
    assert th.read(table, count="weight").counts.sum() == 738.0
    # weights around one, and tables of totals
    assert th.read(table.assign(weight=table["weight"] % 2)).counts.sum() == 10.0
    assert th.read(table.drop(columns="participant")).counts.sum() == 738.0


@pytest.mark.parametrize("name", ["frequency", "times", "n", "weight"])
@pytest.mark.parametrize("is_list", [False, True])
def test_a_property_of_what_was_compared_is_no_count(name, is_list):
    """A respondent has equal rows but for the number, the frequency of a tone or a weight."""
    pairs = [("tea", "rum"), ("rum", "ale"), ("tea", "ale")]
    rows = [(who, *pair, pair[0], n) for who in "xy" for pair in pairs for n in (220, 440)]
    frame = pd.DataFrame(rows, columns=["subject", "left", "right", "choice", name])
    frame["rt"] = [512, 611] * 6
    if is_list:
        names = {"left": "winner", "right": "loser"}
        frame = frame.rename(columns=names).drop(columns="choice")
    with pytest.raises(DataError, match=f"{name!r}.*`count`.*without=.'{name}'"):
        th.read(frame)
    assert th.read(frame, without=name).n_comparisons == 12
    assert th.read(frame, count=name).n_comparisons == 3960
    if name == "weight":
        return
    # numbers of answers in each session
    sessions = frame.assign(session=[1, 2] * 6)
    assert th.read(sessions).n_comparisons == 3960
    assert th.read(frame.drop(columns="subject")).n_comparisons == 3960
    assert th.read(frame.replace({name: {220: 1}})).n_comparisons == 6 * 441


def test_options_that_occur_once_are_refused():
    rows = [f"good answer {k},bad answer {k},m{k % 3},m{(k + 1) % 3}" for k in range(20)]
    text = "\n".join(["chosen,rejected,good,bad", *rows])
    with refused(DataError, "'chosen'", "'rejected'", "occurs once", "models"):
        taken(text)
    data = recognise.read_data(Source("x.csv", text.encode()), chosen="good", rejected="bad")[0]
    assert data.labels == ("m0", "m1", "m2")
    assert taken("\n".join(text.splitlines()[:20]))[0].n_comparisons == 19


def test_a_rank_that_is_named_is_read_beside_others():
    cells = dict(judge=["x", "y"], s1Id=["a", "b"], s1rank=[1, 2], s2Id=["b", "c"], s2rank=[2, 1])
    assert th.read(pd.DataFrame(cells)).n_options == 3
    with refused(DataError, "no option is ranked above another"):
        th.read(pd.DataFrame(cells), rank="s1rank", option="s1Id")


def test_columns_to_drop_may_be_one_text():
    text = b"winner,loser,note\na,b,x\nb,a,y\n"
    data, sentence = recognise.read_data(Source("x.csv", text), without="note")
    assert data.n_comparisons == 2 and "columns omitted as requested: 'note'" in sentence


EMPTY = {"Unnamed: 3": [np.nan] * 3, "Unnamed: 4": [np.nan] * 3}
BESIDE_EMPTY = {
    "trials": dict(left="abc", right="bca", choice=["left", "right", "left"]),
    "games": dict(home="abc", away="bca", result="HAD"),
    "rankings": dict(rank1="abc", rank2="bca", rank3="cab"),
    "triplets": dict(object1="abc", object2="bca", object3="cab", odd="abb"),
}


@pytest.mark.parametrize("columns", BESIDE_EMPTY.values(), ids=BESIDE_EMPTY)
def test_empty_columns_are_no_pairs(columns):
    frame = pd.DataFrame({name: [*cells] for name, cells in columns.items()})
    data = th.read(frame.assign(**EMPTY))
    assert data == th.read(frame)
    assert "columns not used: 'Unnamed: 3' and 'Unnamed: 4'" in data.read_as


@pytest.mark.parametrize("respondent", [{}, {"participant": [1, 1, 2, 2]}])
def test_identifiers_of_both_sides_are_no_respondents(respondent):
    sides = dict(left=list("abac"), right=list("bccb"), left_id=[1, 2, 1, 3], right_id=[2, 3, 3, 2])
    answers = ["left", "right", "left", "left"]
    data = th.read(pd.DataFrame({**respondent, **sides, "response": answers}))
    assert data.n_comparisons == 4 and len(data.respondents) == 2 * len(respondent)
    assert "columns not used: 'left_id' and 'right_id'" in data.read_as


def test_forfeited_games_are_no_answers():
    data, sentence = taken("Weiß;Schwarz;Ergebnis\nA;B;½:½\nB;C;1:0\nC;A;+:-\n")
    assert data.n_comparisons == 2 and "1 row without an answer ('+:-') dropped" in sentence


# Ranks of several groups of items ------------------------------------------------------------------


def ranked_in_groups():
    """Rows of ranks: each respondent puts items into two groups, and ranks those of each group."""
    rng = np.random.default_rng(1)
    for k in range(20):
        is_first = rng.random(5) < [0.8, 0.3, 0.3, 0.3, 0.8]
        order = rng.permutation(5)
        cells = [f"R_{k}"]
        for group in (is_first, ~is_first):
            places = np.cumsum(group[order])
            cells += [str(places[order == j][0]) if group[j] else "" for j in range(5)]
        yield ",".join(cells)


@pytest.mark.parametrize("name", ["Q5_{}_{}_RANK", "Q{}_{}", "group{}.item{}"])
@pytest.mark.parametrize("groups", ["01", "12"])
def test_ranks_of_several_groups_are_no_single_ranking(name, groups):
    names = [name.format(group, item) for group in groups for item in range(1, 6)]
    rows = [",".join(["ResponseId", *names]), *ranked_in_groups()]
    source = Source("x.csv", "\n".join(rows).encode())
    with refused(DataError, *map(repr, names), f"without={names[5:]}"):
        recognise.read_data(source)
    with pytest.raises(DataError, match="Options are ranked"):
        th.Choices.from_rankings(read_table(source))
    data, _ = recognise.read_data(source, without=names[5:])
    assert data.labels == tuple(names[:5]) and data.n_choices > 20


def test_ratings_beside_ranks_of_the_same_items_are_no_second_ranking():
    ratings = ["4,4,5", "1,2,2", "5,1,1", "3,3,2", "1,1,1", "2,5,5"]
    rows = [f"{a},{b}" for a, b in zip(["1,2,3", "3,1,2", "2,3,1"] * 2, ratings, strict=True)]
    data, _ = taken("\n".join(["Q1_1,Q1_2,Q1_3,Q2_1,Q2_2,Q2_3", *rows, ""]))
    assert data.labels == ("Q1_1", "Q1_2", "Q1_3") and data.n_choices == 12


# The odd or the best one of three things ----------------------------------------------------------

THREE = ["tea,rum,gin,{}", "rum,gin,ale,{}", "tea,ale,rum,{}", "gin,tea,ale,{}"]


def three(stem, answer, question="", places=False, marks="123"):
    """Four sets of three, of which the second one was chosen."""
    header = ",".join(
        [*(stem + mark for mark in marks), answer, "rt", *(["q"] if question else [])]
    )
    ending = ",812" + (f",{question}" if question else "")
    rows = [row.format("2" if places else row.split(",")[1]) + ending for row in THREE]
    return "\n".join([header, *rows, ""])


STEMS = ["image", "Image_", "img", "stim", "photo", "word", "object", "Bild "]
ANSWERS = ["choice", "response", "key_resp.keys"]


@pytest.mark.parametrize("places", [False, True])
@pytest.mark.parametrize(("stem", "answer"), list(zip(STEMS, ANSWERS * 3, strict=False)))
def test_the_one_chosen_of_three_things_may_be_the_odd_one(stem, answer, places):
    text = three(stem, answer, places=places)
    if "." in answer:
        text = text.replace("rt", "trials.thisN")
    with pytest.raises(recognise.RecognitionError, match=answer) as asked:
        taken(text)
    assert set(asked.value.kinds) == {kinds.CHOICES, kinds.TRIPLETS}
    source = Source("x.csv", text.encode())
    best, _ = recognise.read_data(source, kind="choices")
    odd, _ = recognise.read_data(source, kind="triplets")
    assert best == recognise.read_data(source, chosen=answer)[0]
    assert odd == recognise.read_data(source, odd=answer)[0] == taken(three(stem, "odd"))[0]
    assert best == taken(three(stem, "best", places=places))[0]
    assert best.labels[best.members[best.choice[0]]] == "rum"


@pytest.mark.parametrize(
    ("answer", "question", "kind"),
    [
        ("choice", "Which image do you prefer?", th.Choices),
        ("choice", "Welches Bild gefällt Ihnen?", th.Choices),
        ("preferred", "", th.Choices),
        ("best", "", th.Choices),
        ("choice", "Which is the odd one out?", th.Triplets),
        ("response", "odd_one_out", th.Triplets),
        ("choice", "Was passt hier nicht?", th.Triplets),
        ("Passt nicht", "", th.Triplets),
        ("odd_resp", "", th.Triplets),
    ],
)
def test_words_say_whether_the_odd_or_the_best_one_was_chosen(answer, question, kind):
    for stem, places in (("image", True), ("img", False), ("photo", True)):
        assert isinstance(taken(three(stem, answer, question, places))[0], kind)
    with pytest.raises(DataError, match="`kind='choices'` or `kind='triplets'`"):
        taken(three("img", "choice", "odd or preferred"))


def test_a_new_word_for_the_chosen_of_three_things_is_asked_about():
    text = three("Bild ", "Fremdling", places=True)
    with refused(DataError, "'Bild 1'", "`odd` or `chosen`"):
        taken(text)
    source = Source("x.csv", text.encode())
    assert isinstance(recognise.read_data(source, odd="Fremdling")[0], th.Triplets)
    assert isinstance(recognise.read_data(source, chosen="Fremdling")[0], th.Choices)


@pytest.mark.parametrize("answer", ["most_different", "intruder", "doesnt_belong", "Least similar"])
@pytest.mark.parametrize(("stem", "marks"), [("item", "123"), ("", "ABC"), ("option_", "abc")])
def test_a_name_of_the_answer_says_that_the_odd_one_was_chosen(answer, stem, marks):
    data = taken(three(stem, answer, marks=marks))[0]
    assert data == taken(three("image", "odd"))[0] and isinstance(data, th.Triplets)
    source = Source("x.csv", three(stem, answer, marks=marks).encode())
    assert isinstance(recognise.read_data(source, chosen=answer)[0], th.Choices)


@pytest.mark.parametrize(
    "columns",
    ["left_img,middle_img,right_img", "img_left,img_center,img_right", "img_A,img_B,img_C"],
)
def test_the_odd_one_may_be_named_by_its_position(columns):
    first, second, third = (re.sub("_?img_?", "", name) for name in columns.split(","))
    rows = ["tea,rum,gin,{2}", "rum,gin,ale,{0}", "tea,ale,rum,{1}", "gin,tea,ale,{2}"]
    rows = [row.format(first, second, third.upper()) for row in rows]
    text = "\n".join([f"{columns},odd_response", *rows, ""])
    right = "a,b,c,odd\ntea,rum,gin,gin\nrum,gin,ale,rum\ntea,ale,rum,ale\ngin,tea,ale,ale\n"
    assert taken(text)[0] == taken(right)[0]
    source = Source("x.csv", text.encode())
    named = {"objects": columns.split(","), "odd": "odd_response"}
    assert recognise.read_data(source, **named)[0] == taken(right)[0]
    source = Source("x.csv", text.replace("odd_response", "choice").encode())
    assert recognise.read_data(source, odd="choice")[0] == taken(right)[0]
    if columns.startswith("img"):
        with pytest.raises(recognise.RecognitionError, match="'choices'` or `kind='triplets'`"):
            recognise.read_data(source)
        assert recognise.read_data(source, kind="triplets")[0] == taken(right)[0]
    with pytest.raises(DataError, match="column 'odd_response'"):
        taken(text.replace(f",{first}\n", ",img\n"))


@pytest.mark.parametrize("answer", ["odd_one_out", "isOdd"])
@pytest.mark.parametrize("place", ["", "position"])
def test_a_mark_of_the_odd_one_is_no_choice(answer, place):
    header = f"subject,trial,object,{place or 'shown'},{answer}"
    rows = [
        f"{who},{trial},{name},{k + 1},{int(k == (who + trial) % 3)}"
        for who in (1, 2)
        for trial, row in enumerate(THREE)
        for k, name in enumerate(row.split(",")[:3])
    ]
    text = "\n".join([header, *rows, ""])
    for kind in (None, "triplets"):
        with refused(DataError, "one row per set", f"{answer!r} is yes or no"):
            recognise.read_data(Source("x.csv", text.encode()), kind=kind)
    with refused(DataError):
        taken(text.replace("subject,", "x,"))
    text = text.replace("object", "item")
    chosen, _ = recognise.read_data(Source("x.csv", text.encode()), chosen=answer)
    assert chosen == taken(text.replace(answer, "chosen"))[0]


def test_rows_of_options_and_answers_are_no_card_sorts():
    text = three("", "guess", marks="ABC")
    with refused(DataError, "'A', 'B' and 'C'", "give its name with `odd`"):
        taken(text)
    assert recognise.read_data(Source("x.csv", text.encode()), odd="guess")[0].n_answers == 4
    sets = ["tea | rum | gin,gin,rum", "ale | gin | tea,tea,ale", "rum | ale | tea,rum,tea"]
    rows = [f"{k},{sets[k % 3]},{sets[(k + 1) % 3]},{sets[(k * k) % 3]}" for k in range(6)]
    texts = [
        "\n".join([",".join(["id", *(names.format(k) for k in (1, 2, 3))]), *rows, ""])
        for names in ("S{0}_shown,S{0}_best,S{0}_worst", "S{0}_items,S{0}_top,S{0}_bottom")
    ]
    with refused(DataError, "several sets", "'S3_shown'", "one row per set"):
        taken(texts[0])
    with pytest.raises(recognise.RecognitionError, match="known layout"):
        taken(texts[1])
    shown = texts[0].replace("_shown", "_a,S{0}_b,S{0}_c").replace(" | ", ",")
    for k in (1, 2, 3):
        shown = shown.replace("{0}", str(k), 2)
    with refused(DataError, "several sets", "'S3_a'", "one row per set"):
        taken(shown)
    answers = ",".join(f"{name}_{k}" for k in (1, 2, 3) for name in ("Most", "Least"))
    rows = [f"{k},tea,{('gin', 'ale')[k % 2]},rum,ale,gin,tea" for k in range(6)]
    with refused(DataError, "several sets", "'Most_1' and 'Least_1'", "`design`"):
        taken("\n".join([f"id,{answers}", *rows, ""]))
    rows = [f"{k},tea,rum,gin,tea,{('gin', 'rum')[k % 2]},rum,gin" for k in range(6)]
    for traits in ("best_{0},worst_{0}", "{0}_pos,{0}_neg"):
        header = ",".join(["id,item_a,item_b,item_c", *map(traits.format, ("taste", "price"))])
        with refused(DataError, "several traits: 'taste' and 'price'", "`trait`"):
            taken("\n".join([header, *rows, ""]))
    pairs = "tea,rum,rum,tea/gin,ale,gin,gin/rum,gin,rum,gin/ale,tea,ale,tea/tea,gin,gin,gin"
    for sides in ("left,right", "photo_a,photo_b"):
        text = f"id,{sides},first_click,final_click\n" + "\n".join(
            f"{k},{row}" for k, row in enumerate(pairs.split("/"))
        )
        with pytest.raises(DataError, match=r"'first_click' and 'final_click'\?\); if .* `chosen`"):
            taken(text)
        data = recognise.read_data(Source("x.csv", text.encode()), chosen="final_click")[0]
        assert isinstance(data, th.PairedComparisons) and data.n_comparisons == 5


@pytest.mark.parametrize("stem", ["item", "option", "product", "concept"])
def test_the_best_of_three_options_is_not_asked_about(stem):
    assert isinstance(taken(three(stem, "choice", places=True))[0], th.Choices)


# The rejected one of two options ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "code"), [("BBA", "side"), (["imgB", "imgB", "imgA"], "side"), ("yzz", "label")]
)
@pytest.mark.parametrize(
    "name",
    "loser rejected less_preferred worse not_chosen unselected Verlierer perdant leastLiked"
    " dislikes hated which_to_drop inferior schlechter évité".split(),
)
def test_the_one_that_lost_is_not_counted_as_the_winner(name, cells, code):
    columns = {"imgA": list("xxz"), "imgB": list("yzy"), name: list(cells), "judge": [1, 1, 2]}
    frame = pd.DataFrame(columns)
    for named in ({}, {"rejected": name}):
        data = th.read(frame, **named)
        assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"x": 2, "y": 1, "z": 0}
        assert f"rejected {code} in {name!r}" in data.read_as
    data = th.read(frame.rename(columns={name: "outcome"}))
    assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"x": 0, "y": 1, "z": 2}


LESS = (
    "Which face is LESS attractive?",
    "Welches Bild gefällt Ihnen weniger?",
    "like least?",
    "worst",
)


@pytest.mark.parametrize("less", LESS)
@pytest.mark.parametrize("more", ["Which face is MORE attractive?", "best"])
def test_a_question_for_the_less_preferred_is_asked_about(less, more):
    pairs = pd.DataFrame({"left": list("xxzx"), "right": list("yzyy"), "choice": list("xxyy")})
    frame = pairs.assign(subject=[1, 1, 2, 2], question=less)
    with refused(DataError, "'question'", less, "rejected='choice'", "chosen='choice'"):
        th.read(frame)
    data = th.read(frame, rejected="choice")
    assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"x": 1, "y": 1, "z": 2}
    chosen = th.read(frame, chosen="choice"), th.read(frame.assign(question=more))
    assert chosen[0].counts.tolist() == chosen[1].counts.tolist() == data.counts.T.tolist()
    mixed = frame.assign(question=[less, more] * 2)
    if (less == "worst") == (more == "best"):
        with refused(DataError, "'question'", "`where`"):
            th.read(mixed)
    prompts = [f"Which is less than {k}?" for k in range(40)]
    frame = pd.concat([pairs] * 10, ignore_index=True).assign(prompt=prompts)
    assert th.read(frame).n_comparisons == 40


def test_best_and_worst_in_two_rows_are_not_both_the_best():
    rows = "a,b,c,a/a,b,c,c/b,c,d,b/b,c,d,d/a,b,d,a/a,b,d,b/a,c,d,a/a,c,d,d".split("/")
    rows = [f"{1 + k // 4},{1 + k // 2},{('best', 'worst')[k % 2]},{r}" for k, r in enumerate(rows)]
    table = "\n".join(["id,trial,type,opt1,opt2,opt3,response", *rows])
    with refused(DataError, "'type'", "'worst'", "`where`", "two columns"):
        taken(table)
    assert th.read(pd.read_csv(io.StringIO(table)), where="type == 'best'").n_answers == 4


def test_the_rejected_of_other_tables_is_no_choice():
    rows = "1,1,10,s,20,m,1/1,2,20,m,30,s,2/2,1,30,s,10,m,2/2,2,10,m,20,s,1".replace("/", "\n")
    with pytest.raises(DataError, match="lacks a column with the chosen"):
        taken(f"id,task,price_1,size_1,price_2,size_2,least_preferred\n{rows}\n")
    with pytest.raises(DataError, match="'left' or 'right' was chosen"):
        taken("target,left,right,less_similar\na,b,c,left\na,c,d,right\nb,c,d,left\n")
    data = th.read(pd.DataFrame({"winner": ["a", "a"], "loser": ["b", "c"]}), rejected="loser")
    assert data.counts.sum(1).tolist() == [2, 0, 0]


@pytest.mark.parametrize("levels", [["s", "m", "l"], ["s"]])  # of experiments, and of options
@pytest.mark.parametrize("name", ["rejected", "not_chosen", "disliked"])
def test_a_mark_of_the_rejected_is_no_choice(name, levels):
    rows = pd.DataFrame({"id": np.repeat(range(6), 8), "task": np.tile(np.repeat(range(4), 2), 6)})
    rows = rows.assign(item=np.tile(["tea", "rum"], 24), size=np.resize(levels, 48))
    rows = rows.assign(**{name: np.resize([1, 0, 0, 1, 0, 1], 48)})
    with pytest.raises(DataError, match="lacks a column with 1 for the chosen"):
        th.read(rows)
    assert "choices in 'picked'" in th.read(rows.rename(columns={name: "picked"})).read_as


# All attributes of a series are used ---------------------------------------------------------------


@pytest.mark.parametrize("answer", ["RES", "result", "winner"])
@pytest.mark.parametrize("names", ["price_{0},size_{0}", "size{0},price{0}"])
def test_no_attribute_is_read_as_the_options_beside_others(answer, names):
    header = ",".join(["id,task", *(names.format(k) for k in (1, 2)), answer])
    rows = "1,1,10,s,20,m,1/1,2,20,m,30,s,2/2,1,30,s,10,m,2/2,2,10,m,20,s,1".replace("/", "\n")
    if names[0] == "s":
        rows = re.sub(r"(\d0),(\w)", r"\2,\1", rows)
    data = taken(f"{header}\n{rows}\n")[0]
    assert sorted(data.attributes) == ["price", "size"] and data.n_tasks == 4
    games = "A,B,3,5,1/A,C,4,2,2/B,C,1,1,1/D,A,3,2,2/E,B,1,2,1".replace("/", "\n")
    data = taken(f"club_1,club_2,shots_1,shots_2,{answer}\n{games}\n")[0]
    assert data.labels == ("A", "B", "C", "D", "E") and data.n_comparisons == 5


@pytest.mark.parametrize("has_attributes", [True, False])
def test_of_two_alternatives_none_is_the_worst(has_attributes):
    frame = pd.DataFrame({"id": [1] * 4 + [2] * 4, "task": [1, 1, 2, 2] * 2, "alt": list("tm") * 4})
    if has_attributes:
        frame = frame.assign(alt=[1, 2] * 4, price=[10, 20, 30, 10] * 2, size=list("smms") * 2)
    data = th.read(frame.assign(choice=[1, -1, -1, 1, -1, 1, 1, -1]))
    assert isinstance(data, th.ChoiceExperiment if has_attributes else th.Choices)
    assert data == th.read(frame.assign(choice=[1, 0, 0, 1, 0, 1, 1, 0]))


@pytest.mark.parametrize("sides", [("Aff", "Neg"), ("pro", "contra"), ("A", "B")])
def test_columns_called_like_the_alternatives_may_contain_options(sides):
    first, second = sides
    rows = [("tea", "rum", 3, 1, first), ("rum", "gin", 2, 1, second), ("gin", "tea", 1, 2, second)]
    names = [first, second, f"{first}_points", f"{second}_points", "decision"]
    frame = pd.DataFrame(rows, columns=names).assign(judge=[1, 2, 2])
    with pytest.raises(DataError, match="`kind='experiment'`|are called like the alternatives"):
        th.read(frame)
    data = th.read(frame, first=first, second=second, chosen="decision")
    assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"tea": 2, "rum": 0, "gin": 1}
    assert th.read(frame, without=[first, second]).attributes == ("points",)


# Picks from menus ----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["buy", "choice", "selected"])
@pytest.mark.parametrize("name", ["{}_{}", "{1}.{0}"])
def test_picks_of_several_products_are_no_single_choice(word, name):
    items = ["burger", "fries", "drink"]
    picks = [name.format(word, item) for item in items]
    header = ["id", "task", *(name.format("price", item) for item in items), *picks]
    rows = ["1,1,3,2,2,0,1,1", "1,2,2,2,3,1,1,0", "2,1,3,3,2,1,0,0", "2,2,2,3,3,0,0,1"]
    source = Source("x.csv", "\n".join([",".join(header), *rows, ""]).encode())
    for named in ({}, {"chosen": picks[0]}):
        with refused(DataError, *map(repr, picks), "mark a pick of each product") as asked:
            recognise.read_data(source, **named)
        assert "none=" not in str(asked.value)


# What the page of shapes says works ----------------------------------------------------------------

GAMES = "1,Hull,1/1,Stoke,0/2,Stoke,1/2,Leeds,0/3,Leeds,0/3,Hull,1".split("/")


@pytest.mark.parametrize("header", ["task,item,chosen", "game,team,won", "match,club,victory"])
@pytest.mark.parametrize("more", [(), ("participantid", "side", "position")])
def test_the_columns_of_a_long_table_of_choices_can_be_named(header, more):
    named = dict(zip(("task", "alternative", "chosen"), header.split(","), strict=True))
    cells = [
        ",".join(["", str(100 * (1 + k % 2)), "blue", "team"][: len(more) + 1]) for k in range(6)
    ]
    rows = [f"{game}{cells[k]}" for k, game in enumerate(GAMES)]
    source = Source("x.csv", "\n".join([",".join([header, *more]), *rows, ""]).encode())
    for kind in (None, "choices"):
        data, sentence = recognise.read_data(source, kind=kind, **named)
        assert isinstance(data, th.Choices) and data.n_choices == 3 and not data.respondents
        assert f"choice sets in {named['task']!r}" in sentence
        chosen = [data.labels[data.members[k]] for k in data.choice]
        assert sorted(chosen) == ["Hull", "Hull", "Stoke"]


def test_the_task_of_marks_of_best_and_worst_can_be_named():
    rows = "1,a,1,0/1,b,0,0/1,c,0,1/2,a,0,1/2,b,1,0/2,c,0,0".replace("/", "\n")
    data = taken(f"task,item,best,worst\n{rows}\n")[0]
    for header in ("task,item,best,worst", "block,item,best,worst"):
        source = Source("x.csv", f"{header}\n{rows}\n".encode())
        assert recognise.read_data(source, task=header.split(",")[0])[0] == data


def best_worst_rows():
    keys = {"id": np.repeat(range(4), 15), "task": np.tile(np.repeat(range(5), 3), 4)}
    best = np.resize([0, 0, 1, 1, 0, 0, 0, 1, 0], 60)
    return pd.DataFrame(keys | {"best": best, "worst": np.roll(best.reshape(20, 3), 1, 1).ravel()})


@pytest.mark.parametrize("labels", ["123", "ABC"])
def test_best_and_worst_products_are_no_best_and_worst_numbers(labels):
    frame = best_worst_rows().assign(alt=np.resize([*labels], 60))
    frame = frame.assign(price=np.resize([1, 2, 4, 8], 60), size=np.resize([*"smlls"], 60))
    with refused(DataError, "'alt' numbers products", "'best' marks the best", "`chosen`"):
        th.read(frame)
    data = th.read(frame, chosen="best")
    assert data.attributes == ("price", "size") and data.n_tasks == 20
    numbers = th.read(frame, best="best", worst="worst")
    assert numbers == th.read(frame.drop(columns=["price", "size"])) and len(numbers.labels) == 3
    # what differs between options alone, and what was measured
    prices = frame["alt"].map(dict(zip(labels, (3, 1, 2), strict=True)))
    frame = frame.drop(columns="size").assign(price=prices, position=np.resize([1, 3, 2], 60))
    assert isinstance(th.read(frame.assign(rt=range(60))), th.Choices)


@pytest.mark.parametrize("name", ["position", "place", "rank"])
def test_positions_beside_marks_of_the_best_are_no_ranks(name):
    frame = best_worst_rows().assign(item=np.resize([*"abcde"], 60))
    shown = frame.assign(**{name: np.resize([1, 2, 3], 60)})
    assert th.read(shown) == th.read(frame)
    order = frame["best"] + 2 * (1 - frame["best"] - frame["worst"]) + 3 * frame["worst"]
    with pytest.raises(DataError, match="ranking per row.* or as choices from sets"):
        th.read(frame.assign(**{name: order}))


# Cards in the rows of a sort -----------------------------------------------------------------------


@pytest.mark.parametrize("groups", ["123", ("fruity", "bitter", "roasty")])
@pytest.mark.parametrize("judge", ["J{}", "Judge {}", "panelist_{}"])
def test_groups_of_judges_may_be_a_sort_of_cards(groups, judge):
    rows = ["Lager,0,1,0,1", "Pils,0,1,0,2", "Stout,2,2,1,0", "Porter,2,2,0,0", "Wheat,1,1,0,1"]
    for k, group in enumerate(groups):
        rows = [row.replace(f",{k}", f",{group} ") for row in rows] if group.isalpha() else rows
    if not groups[0].isalpha():
        rows = [row.translate(str.maketrans("012", "123")) for row in rows]
    text = "\n".join([",".join(["Beer", *(judge.format(k) for k in range(4))]), *rows, ""])
    with pytest.raises(DataError, match="name this column with `card`"):
        taken(text)
    data, _ = recognise.read_data(Source("x.csv", text.encode()), card="Beer")
    together = dict(zip(zip(data.first, data.second, strict=True), data.values, strict=True))
    assert data.labels[:2] == ("Lager", "Pils") and together[0, 1] == 0.75


# Lists of similarities with other names ------------------------------------------------------------


def test_what_names_the_columns_of_a_list_of_similarities():
    pairs = [f"{a},{b},{abs(ord(a) - ord(b))}" for a in "xyz" for b in "xyz"]
    text = "\n".join(["Var1,Var2,value", *pairs, ""])
    with refused(DataError, "called 'similarity' or 'distance'", "'Var1'"):
        taken(text)
    with pytest.raises(DataError, match="dissimilarities="):
        taken(text.replace("value", "distance"))
    text = "stim1_name,stim2_name,rating\nx,y,2\nx,z,4\ny,z,1\n"
    with refused(DataError, "`first`, `second`, `similarity`", "dissimilarities="):
        recognise.read_data(Source("x.csv", text.encode()), similarity="rating")
    named = {"first": "stim1_name", "second": "stim2_name", "similarity": "rating"}
    data, _ = recognise.read_data(Source("x.csv", text.encode()), **named)
    assert data.values.tolist() == [2, 4, 1]


def test_a_square_with_a_column_before_its_labels_is_no_other_table():
    text = "ROWTYPE_,VARNAME_,tea,rum,ale\nPROX,tea,0,3,2\nPROX,rum,3,0,1\nPROX,ale,2,1,0\n"
    with refused(DataError, "square matrix", "drop 'ROWTYPE_'"):
        taken(text)
    data, _ = recognise.read_data(
        Source("x.csv", text.encode()), without=["ROWTYPE_"], dissimilarities="linear"
    )
    assert data.labels == ("tea", "rum", "ale")


# Plain tables that a rule for others must leave alone ----------------------------------------------


def test_categories_and_missing_labels_are_compared_as_texts():
    pairs = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "winner": ["x", "z"]})
    assert th.read(pairs.astype("category")).n_comparisons == 2
    games = pd.DataFrame({"home": ["x", "y"], "away": ["y", None], "home_goals": [1, 2]})
    with refused(DataError, "row 1", "'away'"):
        th.read(games.assign(away_goals=[0, 1]).convert_dtypes())


def test_a_first_line_of_words_is_no_line_of_labels():
    triangle = ",A,B,C,D\nA,NA,NA,NA,NA\nB,1,NA,NA,NA\nC,3,2,NA,NA\nD,4,5,6,NA\n"
    file = Source("x.csv", triangle.encode())
    assert recognise.read_data(file, kind="similarities")[0].n_pairs == 6
    rankings = "tea,rum,ale\nfirst,second,third\n" + "2,1,3\n3,2,1\n" * 4
    assert taken(rankings)[0].n_answers == 2 * 9


def test_none_is_a_level_of_a_single_attribute():
    levels = [("none", "1 year", "2 years")[k % 3] for k in range(36)]
    table = pd.DataFrame({"respondent": np.repeat(range(3), 12), "task": np.arange(36) // 3 % 4})
    table = table.assign(warranty=levels, price=10, choice=[1, 0, 0, 0, 1, 0] * 6)
    assert "no-choice" not in str(th.read(table))


@pytest.mark.parametrize("who", ["participant", "judge"])
def test_numbers_of_rankings_are_no_respondents(who):
    table = pd.DataFrame({who: np.repeat(range(6), 2), "id": range(1, 13)})
    table = table.assign(rank1=list("abc" * 4), rank2=list("bca" * 4), rank3=list("cab" * 4))
    assert len(th.read(table).respondents) == 6


def test_standings_of_players_are_no_rankings():
    players = pd.DataFrame({"player_1": list("abca"), "player_2": list("bcae")})
    with refused(DataError, "do not match any known layout"):
        th.read(players.assign(rank_1=[1, 5, 9, 1], rank_2=[5, 9, 1, 12]))


def test_a_frame_without_rows_is_refused():
    with refused(DataError, "no rows"):
        th.read(pd.DataFrame({"winner": ["a"], "loser": ["b"]}).iloc[:0])


# Codes that are no places of alternatives ----------------------------------------------------------

OF_TWO = (
    "id,task,price_{0},size_{0},price_{1},size_{1},choice\n1,1,10,s,20,m,{3}\n1,2,20,m,30,s,{2}\n"
)
OF_TWO += "2,1,30,s,10,m,{3}\n2,2,10,m,20,s,{2}\n"
LEFT_RIGHT = "subj,left,right,choice\n1,tea,rum,1\n1,ale,rum,{0}\n2,tea,ale,-1\n2,rum,ale,{0}\n"


@pytest.mark.parametrize(
    ("code", "sides"), [("-1", "12"), ("-1", ("left", "right")), ("-2", "AB"), ("99", "AB")]
)
def test_codes_of_missing_answers_are_no_places(code, sides):
    text = OF_TWO.format(*sides, "1", "2") + f"3,1,10,s,20,m,{code}\n"
    with refused(DataError, repr(code), "row 6", f"none={code!r}", "where="):
        taken(text)
    source = Source("x.csv", text.encode())
    expected, _ = taken(OF_TWO.format(*sides, "1", "2"))
    assert recognise.read_data(source, where=f"choice != {code!r}")[0] == expected
    assert recognise.read_data(source, none=code)[0].has_none


@pytest.mark.parametrize(
    ("sides", "order"), [("12", "12"), ("AB", "BA"), (("left", "right"), ("left", "right"))]
)
def test_signs_do_not_say_which_of_two_alternatives_was_chosen(sides, order):
    text = OF_TWO.format(*sides, "-1", "1")
    with refused(DataError, "'-1'", "row 3", "alternatives"):
        taken(text)
    places = OF_TWO.format(*sides, "1", "2")
    data, expected = (
        recognise.read_data(Source("x.csv", each.encode()), alternatives=[*order])[0]
        for each in (text, places)
    )
    assert data == expected


def test_a_sign_is_no_second_and_may_be_the_left():
    with refused(DataError, "'-1'", "row 4", "coding"):
        taken(LEFT_RIGHT.format(2))
    with refused(DataError, "'-2'", "row 3", "coding"):  # a scale from -2 to 2
        taken(LEFT_RIGHT.format(-2) + "2,tea,rum,2\n")
    source = Source("x.csv", LEFT_RIGHT.format(2).encode())
    assert recognise.read_data(source, coding={"-1": "missing"})[0].n_comparisons == 3
    for code in (1, 0):
        with refused(DataError, "-1", "'left'", "coding"):
            taken(LEFT_RIGHT.format(code))
    source = Source("x.csv", LEFT_RIGHT.format(1).encode())
    data, _ = recognise.read_data(source, coding={"-1": "first", "1": "second"})
    assert data.counts[data.labels.index("tea")].sum() == 1.0


# Columns that are called counts ---------------------------------------------------------------------

TRIALS_OF = "judge,left,right,chosen,{0}\nj1,tea,rum,tea,{1}\nj1,rum,ale,rum,{2}\n"
TRIALS_OF += "j2,tea,ale,tea,{3}\nj2,ale,rum,rum,{4}\n"
SETS_OF = "id,set,item1,item2,item3,best,worst,{0}\n1,1,a,b,c,a,c,{1}\n1,2,b,c,d,b,d,{2}\n"
SETS_OF += "2,1,a,c,d,a,d,{3}\n2,2,a,b,c,b,c,{4}\n"
RANKS_OF = "id,a,b,c,{0}\n1,1,2,3,{1}\n2,2,1,3,{2}\n3,1,3,2,{3}\n4,1,2,3,{4}\n"


@pytest.mark.parametrize(
    "table", [TRIALS_OF, SETS_OF, RANKS_OF], ids=["trials", "sets", "rankings"]
)
@pytest.mark.parametrize("cells", [("times", 12, 45, 7, 31), ("n", 1, 2, 3, 4), ("N", *[24] * 4)])
def test_measures_and_numbers_of_answers_are_no_counts(table, cells):
    name, *numbers = cells
    source = Source("x.csv", table.format(*cells).encode())
    with refused(DataError, repr(name), "count", f"without=[{name!r}]"):
        recognise.read_data(source)
    single, _ = recognise.read_data(source, without=[name])
    counted, _ = recognise.read_data(source, count=name)
    assert single == taken(table.format(name, 1, 1, 1, 1))[0]
    assert counted.n_answers / single.n_answers == sum(numbers) / 4


@pytest.mark.parametrize("name", ["Time (s)", "Time_s", "time [s]"])
def test_seconds_are_no_plural(name):
    sentence = taken(TRIALS_OF.format(name, 12, 45, 7, 31))[1]
    assert "4 comparisons" in sentence and f"columns not used: {name!r}" in sentence


def test_counts_are_numbers_and_those_of_zero_are_told():
    for cells, name in product((("yes", "no"), ("True", "False"), ("x", "")), ("count", "valid")):
        source = Source("x.csv", TRIALS_OF.format(name, *cells, *cells).encode())
        with refused(DataError, repr(name), "yes and no", "`where`", f"without=[{name!r}]"):
            recognise.read_data(source, count=name)
        selected = {"where": f"{name} == {cells[0]}", "without": [name]}
        assert recognise.read_data(source, **selected)[0].n_answers == 2
    with refused(DataError, "'count'", "yes and no"):
        taken(TRIALS_OF.format("count", "yes", "no", "yes", "no"))
    sides = TRIALS_OF.format("n", 3, 0, 2, 5)
    sentence = taken("\n".join(row.partition(",")[2] for row in sides.splitlines()))[1]
    assert "10 comparisons" in sentence and "1 row with a count of 0" in sentence


@pytest.mark.parametrize("row", ["j1,tea,rum,rum,4", "j2,tea,ale,ale,4"])
def test_counts_of_both_answers_of_a_respondent_are_counts(row):
    sentence = taken(TRIALS_OF.format("n", 3, 8, 2, 5) + row)[1]
    assert "22 comparisons" in sentence and "counts in 'n'" in sentence


# Rankings beside other columns, and ballots of one option -------------------------------------------


@pytest.mark.parametrize("place", [1, 3, 5])
def test_a_mark_beside_complete_rankings_is_no_option(place):
    ranks = ["1234", "2134", "1324", "1243", "2143", "3124", "1234", "4123"]
    rows = [[*"abcd"], *map(list, ranks)]
    marks = ["owner", *"01001001"]
    for row, mark in zip(rows, marks, strict=True):
        row.insert(place - 1, mark)
    data, sentence = taken("\n".join(map(",".join, rows)))
    assert data.labels == tuple("abcd") and "8 rankings of 4 options" in sentence
    assert data.people is not None and "owner" in data.people


def test_ballots_are_counted_not_rows():
    rows = ["a,b,c,10", "b,a,,8", "a,,,50", "c,b,a,5", ",,,2"]
    source = Source("x.csv", "\n".join(["1st choice,2nd choice,3rd choice,Count", *rows]).encode())
    sentence = recognise.read_data(source)[1]
    for fact in ("23 rankings of 3", "8 incomplete", "52 rankings without", "50 with a single"):
        assert fact in sentence
    assert "unranked='worse'" in sentence
    sentence = recognise.read_data(source, unranked="worse")[1]
    assert "73 rankings of 3" in sentence and "2 rankings without an answer" in sentence


# Numbers with a mark of thousands --------------------------------------------------------------------

FEES = "id;task;alt;fee;choice\n1;1;1;{0};1\n1;1;2;{1};0\n1;2;1;{2};0\n1;2;2;{1};1\n2;1;1;{0};1\n"
FEES += "2;1;2;{2};0\n2;2;1;{1};1\n2;2;2;{2};0\n"


@pytest.mark.parametrize(
    ("separator", "fees", "levels"),
    [
        (";", ("500", "1.000", "2.500"), ("500", "1000", "2500")),
        ("\t", ("500", "1,000", "2,505"), ("500", "1000", "2505")),
        (",", ("500", "1.000", "2.500"), ("500", "1000", "2500")),
        (";", ("1.255", "2.375", "500"), ("1.255", "2.375", "500")),
        (";", ("0,500", "1,000", "2,500"), ("0.5", "1", "2.5")),
    ],
)
def test_thousands_beside_hundreds_are_no_decimals(separator, fees, levels):
    data, sentence = taken(FEES.format(*fees).replace(";", separator))
    assert data.levels["fee"] == levels and "read as" not in sentence


def test_numbers_that_may_be_thousands_are_told():
    data, sentence = taken(FEES.format("50", "1.000", "2.500"))
    assert data.levels["fee"] == ("1", "2.5", "50")
    assert "'1.000' in column 'fee' read as 1" in sentence


# Codes of missing answers among numbers ---------------------------------------------------------------

CODED = {
    "similarity": "id,object1,object2,similarity\n1,a,b,7\n1,a,c,1\n1,b,c,2\n2,a,b,{0}\n2,a,c,2\n",
    "price": "id,task,alt,price,choice\n1,1,1,10,1\n1,1,2,20,0\n1,2,1,{0},0\n1,2,2,10,1\n"
    "2,1,1,20,0\n2,1,2,10,1\n2,2,1,10,1\n2,2,2,20,0\n",
    "home_goals": "home,away,home_goals,away_goals\na,b,2,1\nb,c,0,2\nc,a,{0},{0}\na,c,3,1\n",
}


@pytest.mark.parametrize(
    ("column", "code"),
    [("similarity", 999), ("similarity", -9), ("price", -99), ("price", 999), ("home_goals", -1)],
)
def test_codes_of_missing_answers_are_asked_about(column, code):
    source = Source("x.csv", CODED[column].format(code).encode())
    with refused(DataError, repr(column), str(code), "where="):
        recognise.read_data(source)
    left_out = recognise.read_data(source, where=f"{column!r} != {str(code)!r}")[1]
    assert "rows kept" in left_out
    if column != "home_goals":  # both columns are named one after the other
        assert "rows kept" in recognise.read_data(source, where=f"{column!r} >= -99")[1]


@pytest.mark.parametrize(
    ("column", "number"), [("similarity", 9), ("price", 99), ("price", -1), ("home_goals", 99)]
)
def test_numbers_that_may_be_numbers_are_not_asked_about(column, number):
    text = CODED[column].format(number)
    if column == "price" and number == 99:  # a level as frequent as others
        text = text.replace(",20,0", ",99,0", 1)
    if column == "price" and number == -1:  # effects
        text = text.replace("10,", "1,").replace("20,", "0,")
    if column == "home_goals":  # points
        text = (
            text.replace("b,2,1", "b,78,81").replace("c,3,1", "c,90,88").replace("c,0,2", "c,70,72")
        )
    assert taken(text)


@pytest.mark.parametrize("sides", [("left", "right"), ("Links", "Rechts"), ("first", "second")])
def test_the_side_of_an_option_may_decide_which_was_chosen(sides):
    frame = pd.DataFrame({"who": [1, 1, 2, 2], "item_a": list("tgrt"), "item_b": list("rtgg")})
    frame = frame.assign(a_was=[sides[k] for k in (0, 1, 1, 0)])
    frame = frame.assign(choice=[sides[k] for k in (0, 0, 1, 1)])
    with refused(DataError, "'a_was' may show on which side 'item_a' was", "without=['a_was']"):
        th.read(frame)
    data = th.read(frame, without="a_was")
    assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"t": 1, "g": 3, "r": 0}
    data = th.read(frame.assign(choice=list("ttrg")))
    assert dict(zip(data.labels, data.counts.sum(1), strict=True)) == {"t": 2, "g": 1, "r": 1}
    # columns of sides, and a constant
    named = {"item_a": sides[0], "item_b": sides[1]}
    assert th.read(frame.rename(columns=named)).n_comparisons == 4
    assert th.read(frame.assign(a_was=sides[0])).n_comparisons == 4


@pytest.mark.parametrize("block", ["wave", "session", "block"])
def test_two_waves_of_wide_tasks_are_no_long_tasks(block):
    rows = [
        (who, wave, task, 10 + wave * task, 20 - who * wave, "xy"[task % 2], "yx"[wave % 2], answer)
        for who in range(5)
        for wave in (1, 2)
        for task in range(4)
        for answer in [1 + (who + wave + task) % 2]
    ]
    names = ["id", block, "task", "price_1", "price_2", "brand_1", "brand_2", "choice"]
    frame = pd.DataFrame(rows, columns=names)
    with refused(DataError, f"'{block}' and 'task' and give its name with `task`"):
        th.read(frame)
    tasks = frame[block].astype(str) + " " + frame["task"].astype(str)
    assert th.read(frame.assign(task=tasks)).n_tasks == len(frame)


@pytest.mark.parametrize("question", ["How different are these?", "Wie unähnlich sind die beiden?"])
def test_a_question_says_that_ratings_are_dissimilarities(question):
    rows = [(k, *pair, 3 + k) for k in (1, 2) for pair in permutations("abc", 2)]
    frame = pd.DataFrame(rows, columns=["id", "item1", "item2", "rating"]).assign(text=question)
    with pytest.raises(DataError, match="'rating' may be a dissimilarity.*='linear'.*`similarity`"):
        th.read(frame)
    assert "converted from dissimilarities" in th.read(frame, dissimilarities="linear").read_as
    similar = th.read(frame, similarity="rating")
    assert similar == th.read(frame.assign(text="How similar are these?"))
    assert similar == th.read(frame.rename(columns={"rating": "similarity"}))


@pytest.mark.parametrize(
    "name", ["cosine_distance", "Distance (cm)", "DOD", "Unähnlichkeit", "value"]
)
def test_a_distance_by_another_name_is_no_similarity(name):
    pairs = product("abcd", repeat=2) if name == "value" else permutations("abcd", 2)
    rows = [(first, second, abs(ord(first) - ord(second))) for first, second in pairs]
    frame = pd.DataFrame(rows, columns=["item1", "item2", name])
    for options in ({}, {"kind": "similarities"}, {"similarity": name}):
        with pytest.raises(DataError, match=f"{re.escape(name)}.*`dissimilarities='linear'`"):
            th.read(frame, **options)
    distances = th.read(frame, dissimilarities="linear")
    assert distances.values[distances.first == 0].tolist() == [2, 1, 0]
    if name not in ("Unähnlichkeit", "value"):
        both = frame.assign(cosine_similarity=4 - frame[name])
        assert "'cosine_similarity' of" in th.read(both).read_as
        assert th.read(both, dissimilarities="linear") == distances
        margins = frame.set_axis(["team1", "team2", "goal_difference"], axis=1)
        margins["goal_difference"] -= 2
        with pytest.raises(DataError, match="'team1' or 'team2' was chosen"):
            th.read(margins)


def test_a_slider_between_two_pictures_may_be_a_similarity():
    rows = [(first, second, 20 + 30 * (first < second)) for first, second in permutations("abc", 2)]
    frame = pd.DataFrame(rows, columns=["img1", "img2", "response"]).assign(subject="s1", rt=900)
    with refused(DataError, "'response'", "'50'", "similarities, set `kind='similarities'`"):
        th.read(frame)
    assert th.read(frame, kind="similarities").values.tolist() == [35, 35, 35]
    welcome = pd.DataFrame({"img1": [None], "img2": [None], "response": [0]})
    with pytest.raises(DataError, match="label is missing"):
        th.read(pd.concat([welcome, frame]), kind="similarities")


def test_codes_of_choices_in_a_column_per_respondent_are_no_ratings():
    frame = pd.DataFrame({"item1": list("aab"), "item2": list("bcc"), "rater1": [1, 2, 1]})
    frame = frame.assign(rater2=[1, 1, 2], rater3=[2, 1, 1])
    with refused(DataError, "'item1' or 'item2' was chosen", "kind='similarities'"):
        th.read(frame)
    assert isinstance(th.read(frame, kind="similarities"), th.Similarities)
    answers = frame.melt(["item1", "item2"], var_name="respondent", value_name="choice")
    assert th.read(answers).n_comparisons == 9
    assert isinstance(th.read(frame.replace(2, 5)), th.Similarities)
    with_ties = frame.assign(rater3=[0, 1, 0])
    for source, second in ((with_ties, 2), (with_ties.replace(2, -1), -1)):
        with refused(DataError, "'item1' or 'item2' was chosen", "kind='similarities'"):
            th.read(source)
        with refused(DataError, "no column contains the items"):  # nor pairs in prefmod's order
            th.leaderboard(source, progressbar=False)
        with refused(DataError, "may be in 'item1' and 'item2'", "one row per answer", "'choice'"):
            th.leaderboard(source.assign(q=list("xyz")), item="q", progressbar=False)
        answers = source.melt(["item1", "item2"], var_name="respondent", value_name="choice")
        coding = {0: "tie", 1: "first", second: "second"}
        assert th.read(answers, coding=coding).n_ties == 2


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        (("coder1", "coder2"), "final"),
        (("annotator_1", "annotator_2"), "gold"),
        (("item1", "item2"), "choice"),
    ],
)
def test_labels_of_two_coders_are_no_comparisons(names, answer):
    rows = ["jjj", "ppp", "fff", "jpj", "sss", "fpp", "fff", "sjj"]
    frame = pd.DataFrame(map(list, rows), columns=[*names, answer]).assign(text=range(8))
    facts = ("equal in 62 %", f"`first={names[0]!r}`", f"`second={names[1]!r}`")
    with refused(DataError, *facts):
        th.read(frame)
    data = th.read(frame, first=names[0], second=names[1])
    assert data.n_comparisons == 3 and "5 rows of an option with itself" in data.read_as
    assert th.read(frame.drop(index=[0, 1, 2, 4])).n_comparisons == 3


@pytest.mark.parametrize("name", ["reference", "Standard"])
@pytest.mark.parametrize("answer", ["response", "loser"])
def test_what_matches_a_reference_is_no_preference(name, answer):
    rows = [("old", "old", "new", "left"), ("new", "old", "new", "right"), ("old", "new", "old")]
    frame = pd.DataFrame(rows, columns=[name, "left", "right", "response"]).fillna("right")
    if answer == "loser":
        frame = frame.rename(columns={"left": "winner", "right": "loser"}).drop(columns="response")
    with refused(DataError, repr(name), "duo-trio", f"`without=[{name!r}]`"):
        th.read(frame)
    assert th.read(frame, without=name).n_comparisons == 3
    assert th.read(frame.assign(**{name: "old"})).n_comparisons == 3  # the usual product
    assert th.read(frame.rename(columns={name: "correct"})).n_comparisons == 3


COUNTED = "tea,milk,7/milk,tea,3/tea,rum,9/rum,tea,1/milk,rum,6/rum,milk,4".replace("/", "\n")


@pytest.mark.parametrize("header", ["winner,loser,n", "Var1,Var2,Freq", "pick,rejected,times"])
def test_naming_the_columns_of_a_list_keeps_its_counts(header):
    frame = pd.read_csv(io.StringIO(f"{header}\n{COUNTED}"))
    winner, loser, count = frame.columns
    data = th.read(frame, chosen=winner, rejected=loser)
    assert data.n_comparisons == 30
    assert data == th.read(frame, chosen=winner, rejected=loser, count=count)
    with refused(DataError, "several ways", "'count'"):
        th.read(frame.assign(count=1), chosen=winner, rejected=loser)


VOTES = ["Number of ballots", "No. of votes", "Total votes", "Voter count", "Frequency (n)"]
VOTES += [
    "Anzahl Stimmen",
    "Nombre de bulletins",
    "Número de votos",
    "Votes cast",
    "votes",
]


@pytest.mark.parametrize("name", VOTES)
def test_numbers_of_votes_are_counts_under_any_name(name):
    rows = "17,tea,milk,rum\n9,milk,rum,tea\n5,rum,tea,milk"
    text = f"{name},1st choice,2nd choice,3rd choice\n{rows}"
    frame = pd.read_csv(io.StringIO(text))
    assert th.read(frame).n_choices == 62 and repr(name) in th.read(frame).read_as
    texts = frame.iloc[:, 1:].agg(" > ".join, axis=1)
    assert th.read(frame[[name]].assign(ranking=texts)).n_choices == 62
    # of a list they may be those of both options
    listed = pd.read_csv(io.StringIO(f"chosen,rejected,{name}\n{COUNTED}"))
    assert th.read(listed).n_comparisons == 6 and "not used" in th.read(listed).read_as


def test_the_sum_of_ranks_is_no_count():
    frame = pd.DataFrame({"tea": [1, 2, 1], "milk": [2, 1, 3], "rum": [3, 3, 2], "Total": 6})
    assert th.read(frame).n_choices == 6


@pytest.mark.parametrize("header", ["model_a,model_b,win_rate", "a,b,p_a", "winner,loser,share"])
def test_a_probability_counts_as_often_as_it_is_named_to(header):
    text = f"{header},n\nx,y,0.8,100\ny,z,0.6,200\nx,z,0.9,300\n"
    named = {} if "p_a" in header else {"probability": header.split(",")[2]}
    data, sentence = recognise.read_data(Source("x.csv", text.encode()), count="n", **named)
    assert np.allclose([data.wins, data.losses], [[80, 270, 120], [20, 30, 80]])
    assert "counts in 'n'" in sentence and "not used" not in sentence


@pytest.mark.parametrize("name", ["Rank {0}", "{1} choice"])
def test_counts_of_ranks_are_no_labels(name):
    names = [name.format(k, ordinal) for k, ordinal in enumerate(["1st", "2nd", "3rd"], 1)]
    counts = [[119, 112, 71], [101, 124, 60], [77, 59, 123], [33, 35, 76]]
    frame = pd.DataFrame(counts, columns=names).assign(Candidate=["Lee", "Khan", "Jones", "Smith"])
    with refused(DataError, "may count how often each 'Candidate'"):
        th.read(frame)
    assert len(th.read(frame, respondent="Candidate").labels) == 12
    labels = pd.DataFrame([[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2]], columns=names)
    assert len(th.read(labels.assign(Candidate=frame["Candidate"])).labels) == 3


@pytest.mark.parametrize("cells", ["ABBC", ["a", "b", "b", "error"], ["m", "g", "g", "?"]])
@pytest.mark.parametrize("names", [("human", "gpt4"), ("verdict_ba", "verdict_ab")])
def test_a_second_answer_with_an_unknown_cell_is_asked_about(cells, names):
    frame = pd.DataFrame({"model_a": list("mgrm"), "model_b": list("rmgg"), "q": range(4)})
    answers = pd.DataFrame({names[0]: [*cells[:3], cells[0]], names[1]: [*cells]})
    with refused(DataError, f"('{names[0]}' and '{names[1]}'?)", "`chosen`"):
        th.read(frame.join(answers))
    assert th.read(frame.join(answers), chosen=names[0]).n_comparisons == 4
    trait = pd.Series(["A", "P", "Q", "Q"], name="topic")
    assert th.read(frame.join([answers[names[0]], trait])).n_comparisons == 4


@pytest.mark.parametrize(
    "name",
    ["Jitter ↓", "Jitter (lower is better)", "lower_better", "LPIPS", "AbsRel", "HD95", "DER"]
    + ["Bits per byte", "Toxicity", "Hallucination rate", "Peak memory (GB)", "CO₂ (kg)"],
)
def test_low_measures_of_models_are_asked_about(name):
    frame = pd.DataFrame({"Model": [*"pqrs"], "MMLU": [88, 87, 85, 84], name: [1, 2, 3, 4]})
    with pytest.raises(DataError, match="the lower may be better"):
        th.leaderboard(frame, progressbar=False)


@pytest.mark.parametrize(
    "name",
    ["Average rank", "Std. dev.", "SD", "Macro avg", "Geo. mean", "p-value", "Time (s)"]
    + ["Params (M)", "Rank", "# wins"],
)
def test_rows_of_summaries_are_asked_about(name):
    frame = pd.DataFrame(
        {"dataset": ["d1", "d2", name], "gpt": [0.7, 0.8, 1], "phi": [0.6, 0.9, 2]}
    )
    with pytest.raises(DataError, match="such rows with `where`"):
        th.leaderboard(frame, item="dataset", progressbar=False)


# Several answers in one row ----------------------------------------------------------------------


def test_two_rankings_of_each_row_are_asked_about():
    ranks = pd.DataFrame([*permutations([1, 2, 3])], columns=[*"ABC"])
    frame = ranks.add_prefix("pre_").join(ranks[::-1].reset_index(drop=True).add_prefix("post_"))
    with refused(DataError, "ranked in 'pre_A', 'pre_B' and 'pre_C' and in 'post_A'", "without"):
        th.read(frame)
    assert th.read(frame, without=[*frame.columns[3:]]).n_choices == 12
    shown = frame.rename(columns=lambda name: name.replace("post", "order"))
    assert th.read(shown).labels == th.read(frame.iloc[:, :3]).labels


def test_several_triplets_in_a_row_are_asked_about():
    columns = ["t1_a", "t1_b", "t1_c", "t1_odd", "t2_a", "t2_b", "t2_c", "t2_odd"]
    frame = pd.DataFrame([list("abccabda"), list("abdbacdd")], columns=columns)
    with refused(DataError, "'t1_odd' and 't2_odd'", "one row per triplet", "without"):
        th.read(frame)
    assert th.read(frame, without=columns[4:]).n_answers == 2


@pytest.mark.parametrize("stem", ["Q", "pair"])
def test_a_pair_with_one_chosen_label_is_asked_about(stem):
    answers = {"dog,cat": "dcd", "dog,cow": "ddo", "dog,bus": "ddd", "cat,cow": "coc"}
    cells = list(map(list, (answers | {"cat,bus": "bcb", "cow,bus": "obo"}).values()))
    frame = pd.DataFrame(dict(zip([f"{stem}{k}" for k in range(1, 7)], cells, strict=True)))
    frame = frame.replace({"d": "dog", "c": "cat", "o": "cow", "b": "bus"})
    with refused(DataError, f"'{stem}3'", f"without=['{stem}3']"):
        th.read(frame)
    assert th.read(frame, without=[f"{stem}3"]).n_comparisons == 15
    assert th.read(frame.assign(**{f"{stem}3": ["m", "f", "f"]})).n_comparisons == 15
    pairs = ["dog > cat", "dog > cow", "dog > bus", "cat > cow", "cat > bus", "cow > bus"]
    assert th.read(frame.set_axis(pairs, axis=1)).n_comparisons == 18


def test_numbers_of_the_trials_of_each_respondent_are_no_counts():
    cells = {"left": list("abcacb") * 2, "right": list("bcabac") * 2, "choice": list("abcaab") * 2}
    frame = pd.DataFrame({"subject": np.repeat([1, 2, 3], 4), "n": [1, 2, 3, 4] * 3} | cells)
    with refused(DataError, "'n' numbers the answers of each 'subject'", "count", "without=['n']"):
        th.read(frame)
    assert th.read(frame, without="n").n_comparisons == 12
    assert th.read(frame, count="n").n_comparisons == 30
    assert th.read(frame.assign(n=[1, 2, 2, 4] * 3), count="n").n_comparisons == 27
