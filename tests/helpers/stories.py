"""A combination as a user runs it at the command line, and what there must be at its end."""

import json
import re

import pandas as pd

import thali as th
from helpers.combinations import EVIDENCE, POPULATIONS, TABLES
from thali._surfaces.cli.models import TYPED
from thali._surfaces.cli.options import COMPARED, by_word

OF_TEST = {
    "trinary": ("--aspects", "two.csv"),
    "likelihood-ratio": ("--larger", "two.csv"),
    "wald": ("--contrast", "a=1,b=-1"),
}
FORMATS = ("csv", "tex", "md", "xlsx")
SHORT = {  # of the options that a model has
    **{"draws": 10, "tune": 5, "thin": 1, "chains": 2, "cores": 1, "seed": 1},
    **{"sweeps_per_step": 2, "starts": 2, "folds": 2},
}
ONE_SENTENCE = re.compile(r"thali: error: \S.*[.?]|Error: No such option: .*")  # or those of the parser of options


class Refused(Exception):
    """A command ended with 2 and one sentence; nothing was written, and nothing was computed for long."""


class Story:
    """What a user does with a table at the command line."""

    def __init__(self, run, folder):
        self._run, self._folder = run, folder

    def carry_out(self, combination):
        """All of it; a `Refused` with the sentence if the first command is refused."""
        if combination.table in TABLES:
            self._table = TABLES[combination.table]
            self._table.make().to_csv(self._folder / "table.csv", index=False)
        getattr(self, f"_{combination.command}")(combination)

    def _fit(self, combination):
        name, _, method = combination.model.partition(" ")
        words = [*self._table.words, *POPULATIONS[combination.population], "--model", name]
        (options,) = (spec.options_of(method) for spec in TYPED if spec.name == name)
        words += _typed(options)
        words += ["--method", method] if method else []
        first = self._begun("fit", "table.csv", *words, "--report", "mail.html", "--tables", ",".join(FORMATS))
        self._goes_on(first)
        assert _is_page(self._folder / "mail.html")

    def _compare(self, combination):
        people = combination.population
        words = [
            *self._table.words,
            *(("--models", "classes:1,classes:2") if people == "kinds" else POPULATIONS[people]),
        ]
        words += [
            *_typed(by_word()[word][0][1] for word in COMPARED),
            *(("--models", combination.model) if combination.model else ()),
        ]
        words += ["--by", EVIDENCE] if combination.how == EVIDENCE else ["--leave-out", combination.how]
        first = self._begun("compare", "table.csv", *words)
        self._goes_on(first)

    def _test(self, combination):
        two = pd.DataFrame([("a", "x"), ("b", "x")], columns=["option", "aspect"])
        two.to_csv(self._folder / "two.csv", index=False)
        words = [*self._table.words, *POPULATIONS[combination.population], *OF_TEST.get(combination.model, ())]
        self._begun("test", combination.model, "table.csv", *words)
        self._complete("out")

    def _leaderboard(self, combination):
        words = [*self._table.words, "--method", combination.model]
        words += ["--ties", combination.how] if combination.how else []
        self._begun("leaderboard", "table.csv", *words)
        self._complete("out")

    def _design(self, combination):
        rows = [("size", "S"), ("size", "L"), ("price", "1"), ("price", "2"), ("price", "3")]
        pd.DataFrame(rows, columns=["attribute", "level"]).to_csv(self._folder / "attributes.csv", index=False)
        words = ["attributes.csv", "--tasks", 3, "--alternatives", 2, "--seed", 1]
        words = ["tea", "milk", "beer"] if combination.model == "pairs" else words
        words += ["--none"] if combination.model.endswith("none") else []
        self._begun("design", *words, "--tables", ",".join(FORMATS))
        self._complete("out")

    def _begun(self, *words):
        """What the first command printed."""
        result = self._run(*words, "--out", "out")
        if result.code != 2:
            return _well(result)
        line = result.err.splitlines()[-1]
        left = sorted(path.name for path in self._folder.iterdir())
        assert not {"out", "mail.html"} & set(left), f"refused, and left {left}: {line}"
        assert not result.out and ONE_SENTENCE.fullmatch(line), line
        raise Refused(line.removeprefix("thali: ").partition(": ")[2])

    def _well(self, *words):
        return _well(self._run(*words))

    def _goes_on(self, first):
        """The files are complete, and all that reads them agrees."""
        self._complete("out")
        before = _tables(self._folder / "out")
        self._well("report", "out")
        assert _is_page(self._folder / "out" / "report.html")
        if (self._folder / "out" / "job").exists():
            self._well("status", "out")
            assert self._well("resume", "out").out == first.out
            assert _tables(self._folder / "out") == before

    def _complete(self, name):
        """Whoever reads a file of the folder can."""
        for path in (self._folder / name).iterdir():
            if path.is_file():
                assert READ[path.suffix](path) is not False, path


def _well(result):
    assert result.code == 0, result.err
    for fault in ("could not be", "of its own"):
        assert fault not in result.err, result.err
    return result


def short_options(options):
    """Those options that make a run short, with what is typed after each."""
    words = {option.word for option in options}
    return {word: value for word, value in SHORT.items() if word in words}


def _typed(options):
    return [word for key, value in short_options(options).items() for word in (f"--{key}", value)]


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
    ".png": lambda path: path.read_bytes().index(b"PNG"),
    ".html": _is_page,
}
