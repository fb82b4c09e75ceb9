"""Words of thali's own, and words of code, are in no text that a user reads.

A user reads the strings of the source but for docstrings (questions, sentences, headings, labels,
help, errors), the pages and translations beside it, the names of columns, and what golden files
keep of what was printed.
"""

import ast
import json
import re
from collections import Counter
from functools import cache

from helpers.places import PROJECT, TESTS

SOURCE = PROJECT / "src" / "thali"
# Words, and what is said instead.
NEVER = {
    r"everybody|everyone's own|\bnobody\b|\bsomebody\b": "all respondents, no respondent, a"
    " respondent",
    r"\bwho answered": "respondent",
    r"\bkinds? of (people|judges|respondents)": "latent classes",
    r"\bparts? (of|in) the ranges?|\bpart of ranges": "attribute importance, share of the"
    " sum of utility ranges",
    r"\btold apart|\btells? (\w+ ){0,5}apart": "distinguished, separated",
    r"\bgroups? of equals": "tier",
    r"\b(has|have) alone": "unique weight",
    r"\bverdict": "convergence",
}
ASPECTS = r"\baspects?\b"  # only where the model has them
HAVE_NO_ASPECTS = (
    "_choice",
    "_classify",
    "_designs",
    "_people",
    "_aspects/findings/additive_clustering.py",
)
HAVE_NO_ASPECTS += (
    "_aspects/models/additive_clustering.py",
    "choice.txt",
    "classify.txt",
)
# Where the word is a name that users type or that files hold: file, and a part of the text.
NAMES = {("_data/column_roles.py", " verdict ")}  # what users call the column of choices
KEY = re.compile(r"[a-z_]+(\.[\w ]+)+")  # of a sentence in a catalogue
NAMES_OF_DATA = r"(?<!\w)'[^']*'|\w+\.csv"
QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")


@cache
def texts():
    """Every text that users read, with the file that it is in."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        place, source = path.relative_to(SOURCE).as_posix(), path.read_text("utf-8")
        if is_suspect(place, source):
            found += [(place, text) for text in strings(source)]
    for path in sorted(
        path for path in SOURCE.rglob("*.*") if path.suffix in (".html", ".js", ".toml")
    ):
        source = re.sub(r"(?m)(^|\s)//.*|^#.*|<!--.*?-->|{#.*?#}", "", path.read_text("utf-8"))
        lines = QUOTED.findall(source) if path.suffix == ".js" else source.splitlines()
        found += [(path.relative_to(SOURCE).as_posix(), line) for line in lines]
    for path in sorted((TESTS / "golden").glob("*.txt")):
        lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("    ")]
        found += [(path.name, re.sub(NAMES_OF_DATA, "", line)) for line in lines]
    for tables in column_names().values():
        found += [("columns", name) for columns in tables.values() for name in columns]
    return found


def column_names():
    """The names of all columns of all findings of small models, by model and key."""
    return json.loads((TESTS / "cases" / "finding_columns.json").read_text("utf-8"))


def is_suspect(place, source):
    """Whether a file has such a word anywhere, on one line or on two; others are not parsed."""
    joined = re.sub(r'"\n\s*f?"', "", source).lower()
    return any(re.search(word, joined) for word in words_in(place))


def words_in(place):
    """The words that a file may not have."""
    return [*NEVER, *([ASPECTS] if place.startswith(HAVE_NO_ASPECTS) else [])]


def strings(source):
    """The strings of a module but for docstrings; what is filled in is `…`."""
    tree = ast.parse(source)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in node.values}
            yield "".join(
                part.value if isinstance(part, ast.Constant) else "…" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.value


def unwanted(place, text):
    """The words that a text may not have."""
    return [word for word in words_in(place) if re.search(word, text.lower())]


def is_name(place, text):
    """Whether a text is no word but a name: of a parameter, of a sentence, or what users call a
    column."""
    return KEY.fullmatch(text) or any(place == where and name in text for where, name in NAMES)


def test_no_text_has_a_word_that_users_do_not_know():
    found = [
        (place, text)
        for place, text in texts()
        if unwanted(place, text) and not is_name(place, text)
    ]
    assert found == []


def test_printed_numbers_have_a_zero_before_the_point_and_a_blank_before_per_cent():
    odd = re.compile(r"(?<![\w.)\]#/])\.\d|[\d#]%")
    assert [
        (place, text) for place, text in texts() if place.endswith(".txt") and odd.search(text)
    ] == []
    assert (
        odd.search("probability .5")
        and odd.search("89% interval")
        and not odd.search("0.5 to 0.6 (89 %)")
    )


def test_a_word_is_found_wherever_users_read_it():
    source = 'class A:\n    """everybody"""\n\n    x = f"{1} of everybody"\n'
    assert list(strings(source)) == ["… of everybody"] and unwanted("a.py", "… of everybody")
    assert not unwanted("_aspects/a.py", "an aspect") and unwanted("_choice/a.py", "an aspect")
    assert {"columns", "aspects.txt", "_surfaces/page/simulator.js"} <= {
        place for place, _ in texts()
    }


# columns ------------------------------------------------------------------------------------------


# of each of several
LABELLED = r"chain \d|class \d|dimension \d|segment \d|p_\d|p\d|\d|P\(.*\)|\w+: \w+|\w+\[\w+\]"
# squares, and columns of attributes
FREE = {"similarity", "option_similarity"}


def meanings():
    """The columns that the page of findings describes, as often as it does."""
    page = (
        (PROJECT / "docs" / "how_to" / "findings.md").read_text("utf-8").partition("## Columns")[2]
    )
    rows = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    return [name for names in rows for name in re.findall(r"\w+", names)]


def stem(name):
    """A column without what its name says of an interval or an error."""
    return re.sub(r"(?<=[a-z])_(low|high|se|mcse)$", "", name) if name not in meanings() else name


def test_every_column_has_one_meaning():
    described = Counter(meanings())
    assert set(described.values()) == {1}
    shown = {
        stem(name)
        for tables in column_names().values()
        for key, names in tables.items()
        for name in (names[:1] if key in FREE else names)
        if not re.fullmatch(LABELLED, name)
    }
    assert shown - set("abcd") == set(described) - set("ab")
