"""`thali test` and `thali design`: every classical test of paired comparisons."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from helpers.combinations import TESTS
from helpers.paired_cases import leave_one_out
from helpers.sentences import said, says

import thali as th

SQUARE = ",tea,rum,milk\ntea,,12,15\nrum,8,,4\nmilk,5,9,\n"
OTHER = ",tea,rum,milk\ntea,,5,9\nrum,9,,8\nmilk,6,7,\n"
TIES = "a,b,wins_a,wins_b,ties\ntea,milk,10,5,3\nmilk,rum,6,4,2\ntea,rum,9,3,1\n"
ASPECTS = "option,aspect\ntea,hot\nrum,hot\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, few_replicates):
    monkeypatch.chdir(tmp_path)
    league = (
        "home,away,result\n"
        + "x,y,H\nx,y,D\ny,x,A\ny,x,H\nx,z,H\nz,x,D\ny,z,A\nz,y,H\nz,y,D\nx,z,A\n" * 4
    )
    (tmp_path / "league.csv").write_text(league)
    for name, text in {
        "a.csv": SQUARE,
        "b.csv": OTHER,
        "ties.csv": TIES,
        "aspects.csv": ASPECTS,
    }.items():
        (tmp_path / name).write_text(text)
    rng = np.random.default_rng(1)
    rows = []
    for person, pair in itertools.product(
        range(24), itertools.combinations(["tea", "rum", "milk", "R&D_1"], 2)
    ):
        first, second = rng.permutation(list(pair))
        rows.append(
            (
                f"p{person}",
                "fm"[person % 2],
                first,
                second,
                rng.choice(["left", "right"], p=[0.65, 0.35]),
            )
        )
    pd.DataFrame(rows, columns=["respondent", "sex", "left", "right", "choice"]).to_csv(
        "trials.csv", index=False
    )
    return tmp_path


def trials(**known):
    return th.PairedComparisons.from_trials(pd.read_csv("trials.csv"), **known)


def square(name):
    return th.PairedComparisons(pd.read_csv(name, index_col=0).fillna(0))


def known(data):
    return {label: ["hot"] if label in ("tea", "rum") else [] for label in data.labels}


def by_likelihood(data, aspects):
    return th.EliminationByAspects(aspects, method="maximum-likelihood").fit(data)


SAME = {
    "transitivity trials.csv": lambda: th.paired.transitivity(trials()),
    "circular trials.csv": lambda: th.paired.circular_triads(trials().by_respondent()),
    "circular trials.csv --people together --test exact": lambda: th.paired.circular_triads(
        trials(), "exact"
    ),
    "agreement trials.csv --test exact": lambda: th.paired.agreement(trials(), "exact"),
    "trinary a.csv --aspects aspects.csv": lambda: th.paired.trinary_inequality(
        square("a.csv"), known(square("a.csv"))
    ),
    "likelihood-ratio trials.csv --larger aspects.csv": lambda: th.likelihood_ratio(
        *(by_likelihood(trials(), aspects) for aspects in ("unique", known(trials())))
    ),
    "wald trials.csv --contrast tea=1,rum=-1 tea=1,milk=-1": lambda: th.paired.wald_test(
        by_likelihood(trials(), "unique"), [{"tea": 1, "rum": -1}, {"tea": 1, "milk": -1}]
    ),
    "group trials.csv --group sex": lambda: th.paired.group_test(trials().by_group("sex")),
    "group_test a.csv b.csv": lambda: th.paired.group_test(
        {"a": square("a.csv"), "b": square("b.csv")}
    ),
    "order trials.csv": lambda: th.paired.order_effect(trials()),
    "order a.csv b.csv": lambda: th.paired.order_effect(square("a.csv"), square("b.csv")),
    "davidson league.csv --order": lambda: th.paired.davidson(
        pd.read_csv("league.csv"), order=True
    ),
    "thurstone trials.csv": lambda: th.paired.thurstone(trials()),
    "davidson ties.csv --samples 20 --seed 3": lambda: th.paired.davidson(
        th.PairedComparisons(
            [[0, 10, 9], [5, 0, 6], [3, 4, 0]],
            ["tea", "milk", "rum"],
            [[0, 3, 1], [3, 0, 2], [1, 2, 0]],
        ),
        samples=20,
        random_seed=3,
    ),
    "bootstrap trials.csv --samples 20 --seed 2": lambda: th.paired.bootstrap(
        trials().by_respondent(), samples=20, random_seed=2
    ),
    "parametric-bootstrap a.csv --samples 20 --seed 2": lambda: th.paired.parametric_bootstrap(
        by_likelihood(square("a.csv"), "unique"), samples=20, random_seed=2
    ),
}


@pytest.mark.first(
    3, "group trials.csv --group sex", "likelihood-ratio trials.csv --larger aspects.csv"
)
@pytest.mark.parametrize("typed", SAME)
def test_the_command_line_gives_what_python_gives(done, typed):
    result = done("test", *typed.split(), "--print", "all")
    assert result.out == f"{SAME[typed]()}\n"


def test_every_test_is_tried_and_listed(run):
    tried = {typed.split()[0].replace("group_test", "group") for typed in SAME}
    assert tried == set(TESTS)
    assert [line.split()[0] for line in run("test").out.splitlines()] == list(TESTS)


MISTAKES = {
    "thurston a.csv": "Unknown test 'thurston'; available tests: transitivity, .* Did you mean"
    " 'thurstone'?",
    "thurstone": "No data given; use thali test thurstone FILE.",
    "thurstone a.csv b.csv": "The test thurstone takes one file; got 2.",
    "thurstone a.csv --group sex": "--group applies to group, not to thurstone; remove this"
    " argument.",
    "trinary a.csv": "give its aspects with --aspects FILE.",
    "trinary a.csv --aspects no.csv": "there is no file 'no.csv'",
    "likelihood-ratio a.csv": "--larger FILE.",
    "wald a.csv": "--contrast tea=1,milk=-1.",
    "wald a.csv --contrast tea": "--contrast must be given as NAME=VALUE; got 'tea'.",
    "wald a.csv --contrast tea=x,rum=-1": "--contrast must be names with numbers, such as .*; got"
    " 'tea=x,rum=-1'.",
    "wald a.csv --contrast tea=1": "Contrast 1 sums to 1, but must sum to 0",
    "wald a.csv --contrast teo=1,rum=-1": "contains 'teo', which is not among the options. Did you"
    " mean 'tea'?",
    "group a.csv": "Give groups as a column of one file, --group COLUMN, .*; got 1 file and no"
    " column.",
    "group trials.csv --group sx": "'sx' is not a respondent column .*; available: 'sex'. Did you"
    " mean 'sex'?",
    "group a.csv --group sex": "do not identify respondents; read them again and give the name of the"
    " respondent column",
    "order a.csv": "a.csv does not show which option came first",
    "order a.csv b.csv a.csv": "takes one file of trials or two files of counts; got 3.",
    "davidson a.csv": "There are no ties",
    "davidson ties.csv --order": "do not record which option was shown first or played at home; .*"
    " 'left' and 'right'",
    "order league.csv": "--ties half, or drop all ties with --ties drop. To estimate .* thali test"
    " davidson --order.",
    "davidson ties.csv --ties half": "--ties applies to transitivity, .* not to davidson; remove"
    " this argument.",
    "transitivity ties.csv": "tie",
    "bootstrap a.csv": "do not identify respondents; .* --respondent.",
    "bootstrap trials.csv --samples 1": "samples must be an integer >= 2; got 1.",
    "circular a.csv --test approximate": "--test must be exact or asymptotic; got 'approximate'.",
    "transitivity a.csv --tables tex": "--tables applies to the files that --out writes; add --out"
    " DIR.",
    "transitivity a.csv --out out"
    " --tables pdf": "--tables must be one or more of csv, tex, md, xlsx; got 'pdf'.",
}


@pytest.mark.parametrize("typed", MISTAKES)
def test_mistakes_are_answered_in_a_sentence(refused, typed):
    error = refused("test", *typed.split())
    (sentence,) = [line for line in error.splitlines() if "error:" in line]
    assert re.search(MISTAKES[typed].replace("?", r"\?"), sentence), sentence


def test_tables_of_an_answer_are_written(run, folder):
    result = run(
        "test", "transitivity", "trials.csv", "--out", "out", "--tables", "csv,latex,md,xlsx"
    )
    assert result.code == 0 and "wrote 3 tables to the folder 'out'." in result.err
    names = ["transitivity", "transitivity-numbers", "transitivity-violations"]
    assert sorted(file.name for file in (folder / "out").iterdir()) == sorted(
        ["tables.xlsx", *(f"{name}.{ending}" for name in names for ending in ("csv", "tex", "md"))]
    )
    assert set(pd.ExcelFile(folder / "out" / "tables.xlsx").sheet_names) == set(names)
    read = pd.read_csv(folder / "out" / "transitivity.csv", index_col=0)
    assert list(read.index) == ["weak", "moderate", "strong"]
    assert "error\\_ratio" in (folder / "out" / "transitivity.tex").read_text()
    violations = (folder / "out" / "transitivity-violations.md").read_text(encoding="utf-8")
    assert ("R\\&D\\_1" in violations) == (
        "R&D_1" in (folder / "out" / "transitivity-violations.csv").read_text()
    )


def test_many_judges_are_one_paragraph_and_their_table_a_file(run, folder):
    result = run("test", "circular", "trials.csv", "--out", "out", "--print", "all")
    assert len(result.out.splitlines()) == 5 and "24 judges have " in result.out
    says(result.out, "0.05", "0.375, for")
    assert len(pd.read_csv(folder / "out" / "circular.csv")) == 24


def test_design(run, folder):
    result = run("design", "tea", "rum", "milk", "--out", "out", "--print", "all")
    assert result.code == 0 and result.out.splitlines()[1].split() == ["round", "first", "second"]
    written = pd.read_csv(folder / "out" / "design.csv")
    assert list(written.columns) == ["round", "first", "second"] and len(written) == 3
    assert len(run("design", "5", "--print", "all").out.splitlines()) == 1 + 1 + 10
    says(run("design", "tea", "rum").err, "2")


@pytest.mark.fit
def test_maximum_likelihood_is_compared(run, refused, folder):
    result = run(
        *"compare a.csv --models Bradley-Terry --method ML --out out --tables md --print"
        " all".split()
    )
    assert result.code == 0 and "wrote the table" in result.err
    nll = leave_one_out(by_likelihood(square("a.csv"), "unique"), square("a.csv"))["nll"].mean()
    row = next(line for line in result.out.splitlines() if re.match(r"Bradley-Terry +\d", line))
    assert row.split()[1] == f"{nll:.3f}"
    assert "| Bradley-Terry |" in (folder / "out" / "comparison.md").read_text(encoding="utf-8")
    said(refused("compare", "numbers", "--method", "ML"), "'numbers' contains similarities;")
