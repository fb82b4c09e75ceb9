"""Deliberate mistakes, each answered at the command line in its words, and in Python in Python's.

A row of the table: what is wrong · what is typed after `thali fit` · the same mistake in Python ·
what both say.
"""

import inspect
import re
from io import StringIO

import pandas as pd
import pytest
from helpers.tiny_models import fitted

import thali as th
from thali._model.registry import SPECS
from thali.errors import ThaliError

FILES = {
    "tea.csv": "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\n",
    "apart.csv": "chosen,rejected\ntea,coffee\ncoffee,tea\nmilk,water\nwater,milk\n",
    "sets.csv": "who,occasion,option,chosen\n1,1,tea,1\n1,1,milk,0\n1,1,rum,0\n2,2,tea,0\n2,2,milk,1\n"
    "2,2,rum,0\n",
    "sided.csv": ",tea,milk,rum\ntea,1,.8,.3\nmilk,.6,1,.4\nrum,.3,.4,1\n",
    "plants.csv": "len,wid,kind\n1.5,-2,moss\n30,1,fern\n2,3,moss\n28,2,fern\n",
    "one.csv": "len,wid,kind\n1.5,2,moss\n30,1,moss\n",
    "gap.csv": "len,wid,kind\n1.5,2,moss\n30,,fern\n",
    "cams.csv": "id,task,choice,price,size\n1,1,1,2,small\n1,1,0,3,large\n1,2,0,2,large\n1,2,1,3,small\n"
    "2,1,1,2,small\n2,1,0,3,large\n2,2,1,2,large\n2,2,0,3,small\n",
    "zeros.csv": "option,hot\ntea,0\ncoffee,0\nmilk,0\n",
    "short.csv": "option,hot\ntea,1\nmilk,0\n",
    "cola.csv": "option,aspect\ntea,hot\ncola,hot\n",
    "hot.csv": "option,aspect\ntea,hot\n",
    "cold.csv": "option,cold,wet\ntea,0,1\ncoffee,1,1\nmilk,1,1\n",
    "rum.csv": "option,hot\ntea,1\nmilk,1\nrum,0\n",
    "own.csv": "option,aspect\ntea,milk\n",
    "groups.csv": "option,group\ntea,hot\ncoffee,hot\nmilk,cold\n",
    "others.csv": "option,group\ntea,hot\ncoffee,hot\nrum,cold\n",
}


def frame(name):
    return pd.read_csv(StringIO(FILES[name]))


def pairs(name="tea.csv"):
    count = "count" if "count" in FILES[name] else None
    return th.PairedComparisons.from_frame(frame(name), count=count)


def sets(**columns):
    return th.Choices.from_frame(
        frame("sets.csv"), **dict(choice_id="occasion", alternative="option") | columns
    )


def cams(**columns):
    return th.ChoiceExperiment.from_frame(frame("cams.csv"), **columns)


def eba(run=None, data=None, **arguments):
    return th.EliminationByAspects(**arguments).fit(pairs() if data is None else data, **run or {})


def by_likelihood(data=None, **arguments):
    return eba(None, data, method="maximum-likelihood", **{"aspects": "unique"} | arguments)


def clusters(run=None, **arguments):
    return th.AdditiveClustering(**arguments).fit(th.datasets.numbers(), **run or {})


def classify(model, name="plants.csv", **arguments):
    table = frame(name)
    return model(**arguments).fit(table.drop(columns="kind"), table["kind"])


def plackett_luce(name="plants.csv", **arguments):
    return classify(th.PlackettLuceRegression, name, **arguments)


def classes(run=None, columns=None, **arguments):
    return th.ProductClasses(**arguments).fit(cams(**columns or {}), **run or {})


def square():
    table = pd.read_csv(StringIO(FILES["sided.csv"]), index_col=0)
    return th.Similarities(table.to_numpy(), labels=list(table.index))


def groups(name, leaf_length=0.1):
    table = frame(name).groupby("group")["option"].agg(list).to_dict()
    return th.Tree.from_groups(table, leaf_length)


LIKELIHOOD = "--method maximum-likelihood"
MAP = "plants.csv --target kind --method map"
CLASSES = "cams.csv --model product-classes"


MISTAKES = [
    # the run
    (
        "countless draws",
        f"tea.csv --draws {10**12}",
        lambda: eba({"draws": 10**12}),
        "<= 1,000,000,000",
    ),
    (
        "too many draws",
        f"tea.csv --draws {10**9}",
        lambda: eba({"draws": 10**9}),
        "do not fit into memory",
    ),
    (
        "endless thinning",
        f"tea.csv --thin {10**9}",
        lambda: eba({"thin": 10**9}),
        "sweeps per chain; the maximum",
    ),
    # elimination by aspects
    ("alpha huge", "tea.csv --alpha 1e9", lambda: eba(alpha=1e9), "implies a prior mean of"),
    (
        "alpha of known aspects",
        "tea.csv --alpha 2 --aspects unique",
        lambda: eba(alpha=2.0, aspects="unique"),
        "does not apply to given features",
    ),
    (
        "learned aspects alone, no lapse",
        "tea.csv --no-unique --lapse 0",
        lambda: eba(unique=False, lapse=0.0),
        "learned aspects can make a choice impossible",
    ),
    (
        "nobody has an aspect",
        "tea.csv --no-unique --aspects zeros.csv",
        lambda: eba(unique=False, aspects={"tea": [], "coffee": [], "milk": []}),
        "No option has any aspect",
    ),
    (
        "an option without a row",
        "tea.csv --aspects short.csv",
        lambda: eba(aspects=frame("short.csv").set_index("option")),
        "'coffee'",
    ),
    (
        "an option that is not there",
        "tea.csv --aspects cola.csv",
        lambda: eba(aspects={"tea": ["hot"], "cola": ["hot"], "coffee": [], "milk": []}),
        "the option 'cola', which is not in the data",
    ),
    (
        "an impossible choice",
        "tea.csv --no-unique --lapse 0 --aspects cold.csv",
        lambda: eba(unique=False, lapse=0.0, aspects=frame("cold.csv").set_index("option")),
        "which these aspects make impossible with",
    ),
    ("99 temperatures", "tea.csv --tempering 99", lambda: eba(tempering=99), "at most 64"),
    (
        "temperatures that fall",
        "tea.csv --tempering 4,1",
        lambda: eba(tempering=(4.0, 1.0)),
        "that starts at 1",
    ),
    (
        "unknown aspects by likelihood",
        f"tea.csv {LIKELIHOOD} --aspects ibp",
        lambda: by_likelihood(aspects="ibp"),
        "requires known aspects",
    ),
    (
        "alpha by likelihood",
        f"tea.csv {LIKELIHOOD} --alpha 2",
        lambda: by_likelihood(alpha=2.0),
        "mcmc",
    ),
    (
        "tempering by likelihood",
        f"tea.csv {LIKELIHOOD} --tempering 4",
        lambda: by_likelihood(tempering=4),
        "mcmc",
    ),
    (
        "shared aspects of sets by likelihood",
        f"sets.csv {LIKELIHOOD} --aspects rum.csv",
        lambda: by_likelihood(sets(), aspects={"tea": ["hot"], "milk": ["hot"], "rum": []}),
        "maximum likelihood requires choices between two options",
    ),
    (
        "groups by likelihood",
        f"apart.csv {LIKELIHOOD}",
        lambda: by_likelihood(pairs("apart.csv")),
        "no common scale; fit each group separately",
    ),
    (
        "weights that cannot be told apart",
        f"tea.csv {LIKELIHOOD} --aspects hot.csv",
        lambda: by_likelihood(aspects={"tea": ["hot"], "coffee": [], "milk": []}),
        "remove one of these aspects, or set",
    ),
    (
        "an aspect named like an option",
        f"tea.csv {LIKELIHOOD} --aspects own.csv",
        lambda: by_likelihood(aspects={"tea": ["milk"], "coffee": [], "milk": []}),
        "rename the aspect, or set",
    ),
    (
        "a leaf length of 2",
        "tea.csv --tree groups.csv --leaf-length 2",
        lambda: eba(aspects=groups("groups.csv", 2.0)),
        "in (0, 1]; got 2.0",
    ),
    (
        "a tree of others",
        "tea.csv --tree others.csv",
        lambda: eba(aspects=groups("others.csv")),
        "The leaves of the tree must match the options by name",
    ),
    (
        "no such column",
        "sets.csv --chosen cup",
        lambda: sets(chosen="cup"),
        "There is no column 'cup'",
    ),
    # additive clustering
    (
        "a shape of 0",
        "numbers --weight-prior 0,1",
        lambda: clusters(weight_prior=(0.0, 1.0)),
        "The shape in",
    ),
    (
        "a small shape",
        "numbers --weight-prior 0.01,1",
        lambda: clusters(weight_prior=(0.01, 1.0)),
        "for Additive",
    ),
    (
        "no such estimate",
        "numbers --estimate best",
        lambda: fitted("additive-clustering").estimate("best"),
        "map-features",
    ),
    (
        "unique features",
        "numbers --features unique",
        lambda: clusters(features="unique"),
        "'unique'",
    ),
    ("two sides", "sided.csv --model additive", square, "To average the two halves, set"),
    (
        "not the mean",
        "sided.csv --model additive --symmetrize max",
        lambda: th.Similarities([[1.0, 0.5], [0.4, 1.0]], symmetrize="max"),
        "mean",
    ),
    # covariates and classes
    (
        "the maximum needs a shape",
        MAP,
        lambda: plackett_luce(method="map"),
        "requires a number for",
    ),
    (
        "a shape of weights too large",
        f"{MAP} --a 1e9",
        lambda: plackett_luce(method="map", a=1e9),
        "must be between",
    ),
    (
        "no transform of negative numbers",
        f"{MAP} --a 1 --transform none",
        lambda: plackett_luce(method="map", a=1.0, transform=None),
        "for covariates of any sign",
    ),
    ("one class", "one.csv --target kind", lambda: plackett_luce("one.csv"), ""),
    ("an empty cell", "gap.csv --target kind", lambda: plackett_luce("gap.csv"), ""),
    # choice experiments
    (
        "no direction",
        f"{CLASSES} --monotone price=up",
        lambda: classes(monotone={"price": "up"}),
        "the direction of 'price' must be",
    ),
    (
        "no such attribute",
        f"{CLASSES} --monotone color=increasing",
        lambda: classes(monotone={"color": "increasing"}),
        "the data have no attribute 'color'",
    ),
    (
        "an attribute without order",
        f"{CLASSES} --monotone size=increasing",
        lambda: classes(monotone={"size": "increasing"}),
        "list them from worst to best with",
    ),
    ("a lapse of 1", f"{CLASSES} --lapse 1", lambda: classes(lapse=1.0), "in [0, 1); got 1.0"),
    (
        "one group of particles",
        f"{CLASSES} --method smc --chains 1",
        lambda: classes({"chains": 1}, method="smc"),
        "is a single group; use at least two",
    ),
    (
        "steps without smc",
        f"{CLASSES} --sweeps-per-step 4",
        lambda: classes({"sweeps_per_step": 4}),
        "smc",
    ),
    (
        "no such respondent",
        f"{CLASSES} --respondent who",
        lambda: classes(columns={"respondent": "who"}),
        "'who'",
    ),
    (
        "one column twice",
        f"{CLASSES} --respondent id --alternative id",
        lambda: classes(columns={"respondent": "id", "alternative": "id"}),
        "has more than one role",
    ),
    (
        "levels of nothing",
        f"{CLASSES} --levels hue=a,b",
        lambda: classes(columns={"levels": {"hue": ["a", "b"]}}),
        "'hue'",
    ),
    (
        "an undeclared level",
        f"{CLASSES} --levels size=small,huge",
        lambda: classes(columns={"levels": {"size": ["small", "huge"]}}),
        "is not one of its levels",
    ),
    (
        "bins of words",
        f"{CLASSES} --bins size=2",
        lambda: classes(columns={"bins": {"size": 2}}),
        "only numbers",
    ),
    (
        "one bin",
        f"{CLASSES} --bins price=1",
        lambda: classes(columns={"bins": {"price": 1}}),
        "must be at least 2",
    ),
    (
        "no such no-choice",
        f"{CLASSES} --none never",
        lambda: classes(columns={"none": "never"}),
        "never",
    ),
    (
        "an attribute that is a task",
        f"{CLASSES} --attributes task,price",
        lambda: classes(columns={"attributes": ["task", "price"]}),
        "cannot be an attribute",
    ),
    (
        "a line of nothing",
        "cams.csv --model multinomial-logit --linear hue",
        lambda: th.MultinomialLogit(linear=["hue"]).fit(cams()),
        "contains 'hue', which is not an attribute",
    ),
    (
        "a line of words",
        "cams.csv --model MNL --linear size",
        lambda: th.MultinomialLogit(linear=["size"]).fit(cams()),
        "is not a number; remove 'size'",
    ),
    # files
    ("no such file", "no.csv", lambda: th.read_table("no.csv"), "There is no file 'no.csv'"),
    ("a folder", ".", lambda: th.read_table("."), "is a folder"),
]
TYPED_ALONE = [  # what cannot be done in Python
    ("an option of another model", "tea.csv --sigma 1", "applies to additive-clustering"),
    (
        "an option of another named model",
        "tea.csv --model EBA --target x",
        "applies to plackett-luce and sparse-logit",
    ),
    ("draws without draws", "cams.csv --model MNL --draws 9", "not to multinomial-logit"),
    ("draws of a maximum", f"tea.csv {LIKELIHOOD} --draws 9", "applies to --method"),
    ("draws of another maximum", f"{MAP} --a 1 --chains 2", "applies to --method gibbs"),
    ("no such model", "tea.csv --model magic", "got 'magic'"),
    ("a model of Python", "tea.csv --model open", "fit it in Python"),
    ("an alias without its tree", "tea.csv --model pIBP", "with --tree"),
    ("an alias and its contrary", "tea.csv --model iEBA --aspects 3", "remove --aspects"),
    ("two aspects", "tea.csv --aspects 3 --tree groups.csv", "cannot be combined; remove one"),
    ("a leaf length without a tree", "tea.csv --leaf-length 0.5", "give its file with --tree"),
    ("no pairs", f"{CLASSES} --monotone price", "NAME=VALUE"),
    (
        "both directions",
        f"{CLASSES} --monotone price=increasing price=decreasing",
        "is given as both",
    ),
    ("bins that are none", f"{CLASSES} --bins price=few", "must be a number of bins"),
    ("no such target", "plants.csv --target colour", "got 'colour'"),
    ("no target", "plants.csv --model sparse-logit", "must name the column of classes"),
    ("no such market", f"{CLASSES} --market absent.csv", "absent.csv"),
    ("a file in place of a folder", "tea.csv --out tea.csv/results", "is a file"),
]
WORDS = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
ARGUMENTS = sorted(
    {
        name
        for spec in SPECS
        for each in (spec.load(), spec.load().fit)
        for name in inspect.signature(each).parameters
    }
    | {
        "choice_id",
        "leaf_length",
        "symmetrize",
        "levels",
        "bins",
        "none",
        "attributes",
        "kind",
        "inside",
    }
)
PYTHONIC = re.compile(
    rf"`|\b(?:{'|'.join(ARGUMENTS)})=|\b\w+_\w+\b(?!\.csv)|\b(?:True|False|None|th|thali)\b"
)


COMPARED = [
    ("folds of pairs", "tea.csv --folds 4", "exceeds the number of pairs; use at most 3"),
    (
        "nobody",
        "tea.csv --leave-out respondent",
        "name the respondent column, --respondent.",
    ),
    (
        "choices of pairs",
        "tea.csv --leave-out choice",
        "must be pair or respondent for paired comparisons; got 'choice'",
    ),
    ("no draws", "tea.csv --draws 0", ">= 1; got 0"),
    ("a lapse above 1", "tea.csv --lapse 2", "in [0, 1); got 2.0"),
    ("no such model", "tea.csv --models magic", "'magic'"),
    ("too many folds of rows", "plants.csv --target kind --folds 9", "got 9"),
]


@pytest.fixture
def check_answer(run, command_line):
    """A function that types something, and looks at the one line that answers it, in the words of
    the command line."""

    def check(words, said, command="fit"):
        result = run(command, *words.split())
        assert result.code == 2 and result.out == "" and "Traceback" not in result.err
        line = result.err.splitlines()[-1]
        assert line.startswith("thali: error: "), line
        answer = line.removeprefix("thali: error: ")
        assert said in answer, answer
        params = command_line.commands[command].params
        assert set(WORDS.findall(answer)) <= {
            word for each in params for word in (*each.opts, *each.secondary_opts)
        }, answer
        assert not PYTHONIC.search(answer), answer

    return check


@pytest.mark.parametrize(
    ("words", "said"), [row[1::2] for row in MISTAKES], ids=[row[0] for row in MISTAKES]
)
def test_a_mistake_at_the_command_line_is_answered_in_its_words(check_answer, words, said):
    check_answer(words, said)


@pytest.mark.parametrize(
    "spec", [spec for spec in SPECS if spec.options], ids=lambda spec: spec.name
)
def test_what_is_no_value_of_an_option_is_answered_by_its_word_before_a_file_is_read(
    check_answer, spec
):
    """`tests/model/test_refusals.py` has the same of the arguments in Python."""
    for option in spec.options:
        if option.check is not None:
            check_answer(f"no.csv --model {spec.name} --{option.word} -1", f"--{option.word}")


@pytest.mark.parametrize(
    ("words", "said"), [row[1:] for row in TYPED_ALONE], ids=[row[0] for row in TYPED_ALONE]
)
def test_a_mistake_that_only_the_command_line_knows(check_answer, words, said):
    check_answer(words, said)


@pytest.mark.parametrize(
    ("words", "said"), [row[1:] for row in COMPARED], ids=[row[0] for row in COMPARED]
)
def test_a_mistake_in_a_comparison_is_answered_in_its_words(check_answer, words, said):
    check_answer(words, said, "compare")


@pytest.mark.parametrize(
    ("mistake", "said"), [row[2:] for row in MISTAKES], ids=[row[0] for row in MISTAKES]
)
def test_the_same_mistake_in_python_is_answered_in_python(mistake, said):
    with pytest.raises(ThaliError) as caught:
        mistake()
    answer = str(caught.value)
    assert said in answer and "\n" not in answer
    assert not WORDS.search(answer) and "option --" not in answer, answer
