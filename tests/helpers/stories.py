"""A combination as a user runs it at the command line, and what there must be at its end."""

import json
import re
import shlex

import pandas as pd

import thali as th
from helpers.combinations import EVIDENCE, FITTED, POPULATIONS, TABLES
from thali._surfaces.cli.model_options import COMPARISON, LEADERBOARD

OF_TEST = {
    "trinary": ("--aspects", "two.csv"),
    "likelihood-ratio": ("--larger", "two.csv"),
    "wald": ("--contrast", "a=1,b=-1"),
    "group": ("--group", "sex"),
}
FORMATS = ("csv", "tex", "md", "xlsx")
SHORT = {  # of the options that a model has
    **{"draws": 10, "tune": 5, "thin": 1, "chains": 2, "cores": 1, "seed": 1},
    **{"sweeps_per_step": 2, "starts": 2},
}
# What is typed after an option, where the kind of option does not say it.
TYPED = {
    **dict(method="mcmc", title="Tea", pictures="svg", respondent="person", by="sex"),
    **{"id": "person", "target": "y", "chosen": "choice", "alternative": "item", "option": "item"},
    **{"anchor": "a", "anchor-model": "a=1500", "covariate": "sex", "tempering": "2"},
    **{"date": "day", "period": "day --date day", "drift": "0.1 --period day --date day"},
    **dict(
        since="2026-01-01 --date day", until="2026-01-03 --date day", judges="--respondent person"
    ),
    **{"judge-sd": "0.5 --judges --respondent person", "pool": "--by sex", "people": "adjusted"},
    **{"judge-bias": "--judges --respondent person", "price": "price --market market.csv"},
    **{"coding": "tie=missing", "segments": "2", "classes": "2", "weight-prior": "2,1"},
    **{"monotone": "price=decreasing", "signs": "price=decreasing", "priors": "spread=1"},
    **{"sigma": "0.1", "attributes": "price,brand", "levels": "brand=A,B,C", "none": "4"},
    **{"bins": "price=2", "knots": "price=2", "linear": "price", "interactions": "price=brand"},
    **dict(availability="A=0.5 --market market.csv", holdouts="'task == 4'", alternatives="1,2,3"),
    **{"objects": "item1,item2", "leave-out": "pair", "aspects": "unique", "features": "2"},
    **{"max-time": "60", "design": "design.csv", "labels": "labels.csv", "ci": "0.9"},
    **{"codes": "codes.csv", "tree": "tree.nwk", "leaf-length": "0.5 --tree tree.nwk"},
    **{"market": "market.csv", "actual": "actual.csv --market market.csv", "without": "sex"},
    **{"rule": "first-choice --market market.csv", "scale": "1 --market market.csv"},
    **{"option-covariates": "options.csv", "home": "first --away second --result chosen"},
    **{
        "away": "second --home first --result chosen",
        "result": "chosen --home first --away second",
    },
    **dict(
        best="best --worst worst", worst="worst --best best", bought="choice", kind="comparisons"
    ),
    **{"nearer": "nearer --farther farther", "farther": "farther --nearer nearer"},
    **{"first": "first --second second", "second": "second --first first"},
}
OTHER_TABLES = {
    "design.csv": "person,sex\np0,w\np1,m\np2,w\np3,m\n",
    "labels.csv": "label,text\na,Apple\nb,Bean\nc,Corn\n",
    "codes.csv": "attribute,code,level\nzoom,no,none\nzoom,yes,some\n",
    "tree.nwk": "((a:1,b:1):1,c:2);",
    "market.csv": "product,price,brand,zoom\nA,5,A,no\nB,15,B,yes\n",
    "actual.csv": "product,share\nA,0.6\nB,0.4\n",
    "options.csv": "option,size\na,1\nb,2\nc,4\n",
}
OF_FITS_ALONE = {"sweeps_per_step", "starts"}
# or those of the parser of options
ONE_SENTENCE = re.compile(r"thali: error: \S.*[.?]|Error: No such option: .*")


class Refused(Exception):
    """A command ended with 2 and one sentence; nothing was written, and nothing was computed for
    long."""


class Story:
    """What a user does with a table at the command line."""

    def __init__(self, run, folder):
        self.run, self.folder = run, folder

    def carry_out(self, combination):
        """All of it; a `Refused` with the sentence if the first command is refused."""
        if combination.table in TABLES:
            self.table = TABLES[combination.table]
            frame = self.table.make()
            is_square = combination.table == "pairs"
            if combination.command == "leaderboard" and not is_square:
                frame["day"] = [f"2026-01-0{k % 3 + 1}" for k in range(len(frame))]
            frame.to_csv(self.folder / "table.csv", index=False)
            self.columns = [*frame]
        getattr(self, f"tell_{combination.command}")(combination)

    def tell_fit(self, combination):
        name, _, method = combination.model.partition(" ")
        words = [*self.table.words, *POPULATIONS[combination.population], "--model", name]
        (options,) = (spec.select_options(method) for spec in FITTED if spec.name == name)
        words += _typed(option.word for option in options)
        words += ["--method", method] if method and combination.how != "--method" else []
        words += self.type_option(combination)
        first = self.begin(
            "fit", "table.csv", *words, "--report", "mail.html", "--tables", ",".join(FORMATS)
        )
        self.check_what_follows(first)
        assert _is_page(self.folder / "mail.html")

    def tell_compare(self, combination):
        differs = combination.population == "individuals"
        words = [*self.table.words, *(("--models", "individuals:BTL") if differs else ())]
        words += [
            *_typed(set(SHORT) - OF_FITS_ALONE),
            *(("--models", combination.model) if combination.model else ()),
        ]
        if combination.how.startswith("--"):
            words += self.type_option(combination)
        elif combination.how == EVIDENCE:
            words += ["--by", EVIDENCE]
        else:
            words += ["--leave-out", combination.how]
        first = self.begin("compare", "table.csv", *words)
        self.check_what_follows(first)

    def tell_test(self, combination):
        two = pd.DataFrame([("a", "x"), ("b", "x")], columns=["option", "aspect"])
        two.to_csv(self.folder / "two.csv", index=False)
        words = [
            *self.table.words,
            *OF_TEST.get(combination.model, ()),
        ]
        self.begin("test", combination.model, "table.csv", *words)
        self.check_files("out")

    def tell_leaderboard(self, combination):
        words = list(self.table.words)
        words += ["--method", combination.model] if combination.how != "--method" else []
        words += self.type_option(combination)
        if combination.how and not combination.how.startswith("--"):
            words += ["--ties", combination.how]
        first = self.begin("leaderboard", "table.csv", *words, "--report", "mail.html")
        self.check_what_follows(first)
        self.run_well("leaderboard", "out/leaderboard.nc", "table.csv", "--out", "more")

    def tell_design(self, combination):
        rows = [("size", "S"), ("size", "L"), ("price", "1"), ("price", "2"), ("price", "3")]
        pd.DataFrame(rows, columns=["attribute", "level"]).to_csv(
            self.folder / "attributes.csv", index=False
        )
        words = ["attributes.csv", "--tasks", 3, "--alternatives", 2, "--seed", 1]
        words = ["tea", "milk", "beer"] if combination.model == "pairs" else words
        words += ["--none"] if combination.model.endswith("none") else []
        self.begin("design", *words, "--tables", ",".join(FORMATS))
        self.check_files("out")

    def type_option(self, combination):
        """The option of a combination, with a value of its kind."""
        if not combination.how.startswith("--"):
            return []
        word = combination.how.removeprefix("--")
        for name, text in OTHER_TABLES.items():
            (self.folder / name).write_text(text)
        options = [option for spec in FITTED for option in spec.options]
        options = [each for each in (*options, *LEADERBOARD, *COMPARISON) if each.word == word]
        typed = {"where": f'"{self.columns[0]} is not missing"', **SHORT, **TYPED}
        if word not in typed:
            (option, *_) = options
            usual = [*option.words, {int: "2", float: "0.5", bool: ""}.get(option.type, word)]
            typed[word] = usual[0]
        return [combination.how, *shlex.split(str(typed[word]))]

    def begin(self, *words):
        """What the first command printed."""
        result = self.run(*words, "--out", "out")
        if result.code != 2:
            return _well(result)
        line = result.err.splitlines()[-1]
        left = sorted(path.name for path in self.folder.iterdir())
        assert not {"out", "mail.html"} & set(left), f"refused, and left {left}: {line}"
        assert not result.out and ONE_SENTENCE.fullmatch(line), line
        raise Refused(line.removeprefix("thali: ").partition(": ")[2])

    def run_well(self, *words):
        return _well(self.run(*words))

    def check_what_follows(self, first):
        """The files are complete, and all that reads them agrees."""
        self.check_files("out")
        before = _tables(self.folder / "out")
        self.run_well("report", "out")
        assert _is_page(self.folder / "out" / "report.html")
        assert self.run_well("show", "out").out
        if (self.folder / "out" / "job").exists():
            self.run_well("status", "out")
            assert self.run_well("resume", "out").out == first.out
            assert _tables(self.folder / "out") == before

    def check_files(self, name):
        """Whoever reads a file of the folder can."""
        for path in (self.folder / name).iterdir():
            if path.is_file():
                assert READ[path.suffix](path) is not False, path


def _well(result):
    assert result.code == 0, result.err
    for fault in ("could not be", "of its own"):
        assert fault not in result.err, result.err
    return result


def short_options(words):
    """Those of these options that make a run short, with what is typed after each."""
    words = set(words)
    return {word: value for word, value in SHORT.items() if word in words}


def _typed(words):
    return [word for key, value in short_options(words).items() for word in (f"--{key}", value)]


def _tables(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def _is_page(path):
    return path.read_text("utf-8").rstrip().endswith("</html>")


def _has_columns(path):
    return len(pd.read_csv(path).columns) > 0


READ = {
    ".csv": _has_columns,
    ".xlsx": pd.read_excel,
    ".tex": lambda path: path.read_text("utf-8").index("tabular"),
    ".md": lambda path: path.read_text("utf-8").index("|"),
    ".json": lambda path: json.loads(path.read_text("utf-8")),
    ".nc": th.load,
    ".svg": lambda path: path.read_text("utf-8").index("<svg"),
    ".png": lambda path: path.read_bytes().index(b"PNG"),
    ".html": _is_page,
}
